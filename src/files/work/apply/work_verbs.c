/* SPDX-License-Identifier: MIT */
/* files/work/apply/work_verbs.c - diff and discard: verbs without a journal. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void layer_end(struct layer **l) { layer_free(*l); }
#define AUTO_LAYER(name, init) __attribute__((cleanup(layer_end))) struct layer *name = (init)

static bool touches_many(const struct entries *v)
{
        for (size_t i = 1; i < v->n; i++)
                if (v->v[i].door != v->v[0].door)
                        return true;
        return false;
}

int work_diff(const struct work_look *look, size_t *ret_count, struct err *e)
{
        static int (*const forms[])(struct shower *, struct err *) = { [WORK_TEXT] = show_diffs,
                                                                       [WORK_STAT] = show_stat,
                                                                       [WORK_NAMES] = show_names,
                                                                       [WORK_JSON] = show_json };
        AUTO_ENTRIES(v);
        AUTO_LAYER(l, layer_open(look->cx, look->run, LAYER_WAITING, e));
        if (l) {
                l->progress = look->progress;
                l->progress_ctx = look->progress_ctx;
        }

        if (!l || scan_sealed(l, &v, e) < 0 || scan_torn(l, &v, e) < 0 ||
            paths_all_found(l, &v, look->paths, e) < 0 || paths_all_found(l, &v, look->theirs, e) < 0 ||
            find_renames(l, &v, e) < 0)
                return -1;

        struct shower s = { .l = l, .v = &v, .look = look, .many = touches_many(&v) };
        *ret_count = v.n;
        return show_end(&s, (look->theirs ? show_theirs : forms[look->form])(&s, e), e);
}

/* Part of it was applied and part is pending: only the pending part is discarded. The files stay, because
 * an undo puts the entries that it reverts among them. */
static int discard_rest(struct layer *l, struct err *e)
{
        AUTO_BUF(no_records);
        l->durable = true;
        if (base_write(l, &no_records, e) < 0)
                return -1;
        l->state = LAYER_APPLIED;
        return layer_write(l, e) < 0 ? -1 : 1;
}

/* An apply that can neither be finished nor taken back: its journal holds the only copy of what it replaced,
 * so the overlay leaves the list and nothing is removed. */
static int give_up(struct layer *l, struct err *e)
{
        char kept[WORK_RUN_MAX + 8];
        (void) snprintf(kept, sizeof kept, ".kept-%s", l->run);
        if (renameat(l->store, l->run, l->store, kept) < 0)
                return layer_cannot(e, "putting aside the overlay", l->run);
        return 2;
}

int work_discard(const struct work_undo *u, char *ret_run, struct err *e)
{
        struct timespec when;
        char found[WORK_RUN_MAX];
        AUTO_FD(store, layer_store(u->cx, e));
        bool there = store >= 0 && layer_find(store, u->run, LAYER_ONE, found, e) == 0;
        AUTO_LAYER(l, there ? layer_take(store, found, e) : NULL);
        int r = l ? journal_recover(u->cx, l, e) : -1;
        if (l)
                (void) snprintf(ret_run, WORK_RUN_MAX, "%s", l->run);
        if (l && r < 0) {
                r = give_up(l, e);
        } else if (r == 0) {
                r = l->state != LAYER_APPLIED && journal_landed(l, &when) ? discard_rest(l, e)
                                                                          : layer_remove(l, e);
        }

        return u->json ? outcome_discard(u, l, r, e) : r;
}

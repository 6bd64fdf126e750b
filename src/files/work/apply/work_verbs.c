/* SPDX-License-Identifier: MIT */
/* files/work/apply/work_verbs.c - diff, list, discard and fork: the verbs without a journal. */
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

/* ---- list ---- */

struct row {
        char run[WORK_RUN_MAX];
        const char *state;
        time_t start;
        char host[512], box[128];
        size_t entries, flagged, doors;
};

static int newest_first(const void *a, const void *b)
{
        const struct row *x = a, *y = b;
        return x->start != y->start ? (x->start > y->start ? -1 : 1) : strcmp(y->run, x->run);
}

/* Returns false if it does not exist (any more). */
static bool fill_row(const struct cordon_context *cx, int store, const char *run, struct row *r)
{
        struct err why;
        AUTO_ENTRIES(v);
        *r = (struct row){ 0 };
        (void) snprintf(r->run, sizeof r->run, "%s", run);
        AUTO_LAYER(l, layer_take(store, run, &why));
        r->state = "stuck"; /* any other verb reports why */
        if (!l) {
                if (why.sys == EBUSY || why.sys == EPROTONOSUPPORT)
                        r->state = why.sys == EBUSY ? "running" : "later"; /* of a later cordon */
                return why.code != ERR_GONE;
        }

        l->durable = true;
        r->start = l->start.tv_sec;
        if (journal_recover(cx, l, &why) < 0)
                return true;

        static const char *const states[] = {
                [LAYER_OPEN] = "killed", [LAYER_SEALED] = "waiting", [LAYER_APPLIED] = "applied"
        };

        r->state = states[l->state];
        r->doors = l->door_count;
        (void) str_inert(span_str(l->door_count ? l->doors[0].host : ""), r->host, sizeof r->host);
        (void) str_inert(span_str(l->box ? l->box : ""), r->box, sizeof r->box);
        if (l->state != LAYER_APPLIED &&
            (l->state == LAYER_OPEN ? seal(l, &v, &why) : scan_sealed(l, &v, &why)) == 0) {
                r->entries = v.n;
                r->flagged = v.flagged;
        }

        return true;
}

static void put_row(const struct row *r, bool json, struct buf *out)
{
        if (!json) {
                char when[32] = "-";
                struct tm tm;
                if (r->start && localtime_r(&r->start, &tm))
                        (void) strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
                buf_printf(out, "%-34s %-8s %-19s %7zu %7zu  %s%s\n", r->run, r->state, when, r->entries,
                           r->flagged, r->host, r->doors > 1 ? " ..." : "");
                return;
        }

        buf_puts(out, "{\"run\":");
        buf_json(out, span_str(r->run));
        buf_printf(out,
                   ",\"state\":\"%s\",\"start\":%lld,\"entries\":%zu,\"flagged\":%zu,\"doors\":%zu,\"box\":",
                   r->state, (long long) r->start, r->entries, r->flagged, r->doors);
        buf_json(out, span_str(r->box));
        buf_member(out, "host", r->host);
        buf_putc(out, '}');
}

int work_list(const struct cordon_context *cx, bool json, work_sink *sink, void *ctx, struct err *e)
{
        AUTO_BUF(out);
        AUTO_NAMES(names);
        AUTO_FD(store, layer_store(cx, e));
        if (store < 0)
                return -1;

        if (tree_names(store, &names) < 0)
                return err_set(e, ERR_IO, errno, "listing the overlays: %s", strerror(errno));

        struct row *rows = calloc(names.n + 1, sizeof *rows);
        size_t n = 0;
        for (size_t i = 0; rows && i < names.n; i++)
                n += names.v[i][0] != '.' && fill_row(cx, store, names.v[i], &rows[n]);

        if (rows && n > 1)
                qsort(rows, n, sizeof *rows, newest_first);

        if (json)
                buf_putc(&out, '[');
        else if (n > 0)
                buf_printf(&out, "%-34s %-8s %-19s %7s %7s  %s\n", "RUN", "STATE", "START", "ENTRIES",
                           "FLAGGED", "DOOR");

        for (size_t i = 0; i < n; i++) {
                if (json && i)
                        buf_putc(&out, ',');
                put_row(&rows[i], json, &out);
        }

        if (json)
                buf_puts(&out, "]\n");

        bool bad = !rows || out.failed;
        free(rows);
        if (bad)
                return err_set(e, ERR_MEMORY, 0, "no memory for the list");

        if (out.n > 0 && sink)
                sink(ctx, out.p, out.n);

        return 0;
}

/* ---- discard, fork ---- */

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

int work_discard(const struct work_undo *u, char *ret_run, struct err *e)
{
        struct timespec when;
        char found[WORK_RUN_MAX];
        AUTO_FD(store, layer_store(u->cx, e));
        bool there = store >= 0 && layer_find(store, u->run, LAYER_ONE, found, e) == 0;
        AUTO_LAYER(l, there ? layer_take(store, found, e) : NULL);
        int r = l ? journal_recover(u->cx, l, e) : -1;
        if (r == 0) {
                (void) snprintf(ret_run, WORK_RUN_MAX, "%s", l->run);
                r = l->state != LAYER_APPLIED && journal_landed(l, &when) ? discard_rest(l, e)
                                                                          : layer_remove(l, e);
        }

        return u->json ? outcome_discard(u, l, r, e) : r;
}

int work_find(const struct cordon_context *cx, const char *run, char *ret_run, struct err *e)
{
        AUTO_FD(store, layer_store(cx, e));
        return store < 0 ? -1 : layer_find(store, run, LAYER_WAITING, ret_run, e);
}

static int fork_into(const struct layer *from, struct layer *to, struct err *e)
{
        to->keep = to->durable = true;
        to->state = from->state;
        to->start = from->start;
        to->box = from->box ? arena_str(&to->mem, from->box) : NULL;
        to->policy = from->policy ? arena_str(&to->mem, from->policy) : NULL;
        for (size_t i = 0; i < from->ask_count; i++)
                to->asks = layer_append(to, to->asks, &to->ask_count, from->asks[i]);

        for (size_t i = 0; i < from->people_count; i++)
                to->people = layer_append(to, to->people, &to->people_count, from->people[i]);

        for (size_t i = 0; i < from->other_count; i++)
                to->others = layer_append(to, to->others, &to->other_count, from->others[i]);

        for (size_t i = 0; i < from->door_count; i++) {
                const struct work_door *d = &from->doors[i];
                struct work_door *c = &to->doors[to->door_count++];
                *c = (struct work_door){ .host = arena_str(&to->mem, d->host),
                                         .dev = d->dev,
                                         .uuid = d->uuid,
                                         .ino = d->ino,
                                         .is_dir = d->is_dir,
                                         .in_dev = d->in_dev,
                                         .in_ino = d->in_ino,
                                         .in_uuid = d->in_uuid,
                                         .name = d->name ? arena_str(&to->mem, d->name) : NULL,
                                         .top = d->top };
                for (size_t k = 0; k < d->guard_count; k++)
                        c->guards = layer_append(to, c->guards, &c->guard_count, d->guards[k]);
                for (size_t k = 0; k < d->stub_count; k++)
                        c->stubs = layer_append(to, c->stubs, &c->stub_count, d->stubs[k]);
                for (size_t k = 0; k < d->other_count; k++)
                        c->others = layer_append(to, c->others, &c->other_count, d->others[k]);
                char name[32];
                (void) snprintf(name, sizeof name, "door-%zu", i);
                AUTO_FD(dir, layer_door_dir(from, i));
                bool bad = dir < 0 || mkdirat(to->dir, name, 0700) < 0;
                AUTO_FD(made, bad ? -1 : layer_door_dir(to, i));
                if (made < 0 ||
                    copy_tree(dir, d->is_dir ? "upper" : "file", made, d->is_dir ? "upper" : "file", true) <
                            0 ||
                    (d->is_dir && mkdirat(made, "work", 0700) < 0))
                        return err_set(e, ERR_IO, errno, "copying the overlay of %s: %s", d->host,
                                       strerror(errno));
        }

        if ((copy_node(from->dir, "base", to->dir, "base", false) < 0 && errno != ENOENT) ||
            (copy_node(from->dir, "closed", to->dir, "closed", false) < 0 && errno != ENOENT))
                return err_set(e, ERR_IO, errno, "copying the overlay %s: %s", from->run, strerror(errno));

        return layer_write(to, e);
}

/* `from` is freed. */
static int fork_layer(const struct cordon_context *cx, struct layer *taken, const char *new_run,
                      char *ret_run, struct err *e)
{
        AUTO_LAYER(from, taken);
        if (!from)
                return -1;

        if (from->state == LAYER_APPLIED)
                return err_set(e, ERR_USAGE, 0, "the overlay %s has been applied: nothing is left to copy",
                               from->run);

        AUTO_LAYER(to, layer_new(cx, new_run, e));
        if (!to)
                return -1;

        if (fork_into(from, to, e) < 0) {
                struct err none;
                (void) layer_remove(to, &none);
                return -1;
        }

        (void) snprintf(ret_run, WORK_RUN_MAX, "%s", to->run);
        return 0;
}

int work_fork(const struct cordon_context *cx, const char *run, const char *new_run, char *ret_run,
              struct err *e)
{
        return fork_layer(cx, layer_open(cx, run, LAYER_WAITING, e), new_run, ret_run, e);
}

int work_fork_running(const struct cordon_context *cx, const char *run, const char *new_run, struct err *e)
{
        char same[WORK_RUN_MAX];
        AUTO_FD(store, layer_store(cx, e));
        return store < 0 ? -1 : fork_layer(cx, layer_look(store, run, e), new_run, same, e);
}

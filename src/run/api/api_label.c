/* SPDX-License-Identifier: MIT */
/* run/api/api_label.c - the label that a run begins with: of the doors that it is handed, and of the files
 * behind them. */
#include "base/store/store.h"
#include "effect/label/label.h"
#include "effect/stamp/stamp.h"
#include "run/api/internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct label api_label_most(const struct cordon_box *b)
{
        struct label most = policy_label_most(b->policy->checked);
        label_join(&most, &b->c.label);
        for (unsigned i = 0; i < b->c.shut_count; i++)
                label_join(&most, &b->c.shut[i].label);
        return most;
}

/* Bytes to a socket of the host, or to who connects to the box, are not held one by one: such a door must be
 * fit for all that the run may come to read. */
static int check_spills(const struct cordon_box *b, struct err *e)
{
        const struct checked_policy *c = b->policy->checked;
        struct label most = api_label_most(b);
        char at[256], text[LABEL_TEXT_MAX];
        const struct door *d = policy_label_spills(c, &most);
        if (!d)
                return 0;

        (void) err_set(e, ERR_POLICY, 0, "%s: this door does not accept what the run may read: %.120s",
                       policy_place(&d->at, at, sizeof at), label_text(&most, text));
        return err_hint(e, "use `accepts %.120s` behind it, or leave one of the two out", text);
}

int api_label(struct cordon_box *b, struct err *e)
{
        return box_label_in(&b->c, &b->c.label, &b->c.label_index, e) < 0 ? -1 : check_spills(b, e);
}

/* ---- an apply: the label of an overlay goes on to what was changed ---- */

enum { EACH_MAX = 256 };

int api_label_apply_begin(struct api_label_apply *a, const struct cordon_context *cx, const char *run,
                          const char *host, struct err *e)
{
        char state[STORE_PATH_MAX], path[STORE_PATH_MAX + WORK_RUN_MAX + 8], real[PATH_MAX];
        struct stamp_index x;
        if (stamp_read(cx, &x, e) < 0)
                return -1;

        (void) snprintf(path, sizeof path, "%s/work/%s", store_path(cx, state, e) < 0 ? "" : state, run);
        a->cx = cx;
        a->label = stamp_own(&x, realpath(path, real) ? real : path);
        a->before = stamp_own(&x, host);
        a->count = 0;
        (void) snprintf(a->run, sizeof a->run, "%s", run);
        stamp_done(&x);
        if (label_is_empty(&a->label))
                return 0;

        /* The whole tree until each file has its own: a crash in between leaves too much, never too little.
         */
        (void) snprintf(a->host, sizeof a->host, "%s", host);
        if (stamp_add(cx, host, &a->label, run, e) < 0)
                return -1;
        box_label_tell(cx);
        return 0;
}

void api_label_apply_one(struct api_label_apply *a, const char *host, const char *path)
{
        struct err ignored;
        struct stat st;
        if (label_is_empty(&a->label) || lstat(path, &st) < 0)
                return;

        /* In the index it would be the label of all below it, also of what is not the run's. */
        if (S_ISDIR(st.st_mode) && stamp_change_attribute(path, &a->label, false))
                return;

        if (a->count < EACH_MAX && stamp_add(a->cx, path, &a->label, a->run, &ignored) == 0) {
                a->count++;
                return;
        }

        a->count = EACH_MAX + 1; /* the trees keep it, and what is moved out of them */
        (void) stamp_change_attribute(path, &a->label, false);
        if (strcmp(a->host, host) == 0)
                return;
        (void) snprintf(a->host, sizeof a->host, "%s", host);
        (void) stamp_add(a->cx, host, &a->label, a->run, &ignored);
}

void api_label_apply_end(struct api_label_apply *a)
{
        struct err ignored;
        struct label only = a->label;
        if (label_is_empty(&a->label) || a->count > EACH_MAX)
                return; /* the tree keeps it */
        label_drop(&only, &a->before);
        (void) stamp_drop(a->cx, a->host, &only, &ignored);
}

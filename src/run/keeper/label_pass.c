/* SPDX-License-Identifier: MIT */
/* run/keeper/label_pass.c - what is kept of a run, in its overlay or in its output, and files that the keeper
 * makes for it: they have the label of the run, and pass it on. */
#include "base/fd.h"
#include "base/store/store.h"
#include "effect/stamp/stamp.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

int box_label_pass(const struct cordon_context *cx, const char *kind, const char *run, int fd, struct err *e)
{
        char state[STORE_PATH_MAX], path[PATH_MAX];
        struct stamp_index x;
        if (store_path(cx, state, e) < 0 || stamp_read(cx, &x, e) < 0)
                return -1;

        (void) snprintf(path, sizeof path, "%s/%s/%s", state, kind, run);
        struct label l = stamp_own(&x, path);
        stamp_done(&x);
        return label_is_empty(&l) || stamp_add_file(cx, fd, &l, run, e) >= 0 ? 0 : -1;
}

void box_label_forget(const struct cordon_context *cx, const char *kind, const char *run)
{
        char state[STORE_PATH_MAX], path[PATH_MAX];
        struct err none;
        if (store_path(cx, state, &none) == 0 &&
            (size_t) snprintf(path, sizeof path, "%s/%s/%s", state, kind, run) < sizeof path)
                stamp_forget(cx, path);
}

int keeper_label_new(const struct run *run, int dir, const char *name, struct err *e)
{
        char path[PATH_MAX];
        size_t n = fd_path(dir, path, sizeof path) == 0 ? strlen(path) : sizeof path;
        if (label_is_empty(&run->r.label))
                return 0;
        if (n + strlen(name) + 2 > sizeof path)
                return err_set(e, ERR_IO, ENAMETOOLONG, "the path of %s is too long for its label", name);
        (void) snprintf(path + n, sizeof path - n, "/%s", name);
        return stamp_add(run->c->cx, path, &run->r.label, run->r.run, e);
}

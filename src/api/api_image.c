/* SPDX-License-Identifier: MIT */
/* api/api_image.c - the image behind a policy's `root` line. */
#include "api/internal.h"
#include "base/fd.h"
#include "base/str.h"
#include "store/store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Files that no box sees, or no box sees whole, must not be in the tree, nor the tree in the state directory.
 */
static int judge_tree(const struct cordon_box *b, const char *real, struct err *e)
{
        char state[STORE_PATH_MAX], key[VAULT_KEY_PATH], at[PATH_MAX];
        struct err none;
        bool whole = strcmp(real, "/") == 0 || (b->policy->home[0] && path_under(b->policy->home, real)) ||
                     (realpath(b->policy->home, at) && path_under(at, real));
        bool own = store_path(b->policy->cx, state, &none) == 0 &&
                   (path_under(state, real) || path_under(real, state) ||
                    (realpath(state, at) && (path_under(at, real) || path_under(real, at))));
        own = own || (vault_key_file(b->policy->cx, key) == 0 && path_under(key, real));
        if (!whole && !own)
                return 0;

        char place[256];
        (void) err_set(e, ERR_DOOR, 0, "%s: %s is no image: it holds %s",
                       policy_place(policy_root_place(b->policy->checked), place, sizeof place), real,
                       whole ? "your home" : "cordon's own state");
        return err_hint(e, "name a directory with nothing but the files of the image");
}

static int open_tree(struct cordon_box *b, const char *path, struct err *e)
{
        struct image m;
        if (image_look(path, &m, e) < 0)
                return -1;

        m.plan.may_have_sockets = true;
        if (judge_tree(b, m.plan.dir, e) < 0) {
                image_done(&m);
                return -1;
        }

        b->image = m;
        b->has_image = true;
        return 0;
}

int api_image_open(struct cordon_box *b, struct err *e)
{
        const char *ref = policy_root(b->policy->checked);
        struct stat st;
        char place[256];
        if (!ref || b->has_image)
                return 0;

        if (ref[0] == '/' && stat(ref, &st) == 0 && S_ISDIR(st.st_mode))
                return open_tree(b, ref, e);

        return err_set(e, ERR_DOOR, 0, "%s: there is no image %s",
                       policy_place(policy_root_place(b->policy->checked), place, sizeof place), ref);
}

/* SPDX-License-Identifier: MIT */
/* run/api/api_image.c - the image behind a policy's `root` line. */
#include "base/fd.h"
#include "base/store/store.h"
#include "base/str.h"
#include "run/api/internal.h"

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
        whole = whole || policy_holds_secrets(real);
        bool own = store_path(b->policy->cx, state, &none) == 0 &&
                   (path_under(state, real) || path_under(real, state) ||
                    (realpath(state, at) && (path_under(at, real) || path_under(real, at))));
        own = own || (vault_key_file(b->policy->cx, key) == 0 && path_under(key, real));
        if (!whole && !own)
                return 0;

        char place[256];
        (void) err_set(e, ERR_DOOR, 0, "%s: %s is no image: it holds %s",
                       policy_place(policy_root_place(b->policy->checked), place, sizeof place), real,
                       whole ? "your home, keys or passwords" : "cordon's own state");
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

static bool is_layout(const char *dir)
{
        char path[PATH_MAX];
        struct stat st;
        return (size_t) snprintf(path, sizeof path, "%s/oci-layout", dir) < sizeof path &&
               stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool api_is_tree(const char *ref)
{
        struct stat st;
        return ref[0] == '/' && stat(ref, &st) == 0 && S_ISDIR(st.st_mode) && !is_layout(ref);
}

bool api_image_key(const struct image_store *s, const char *ref, char ret_key[65])
{
        static const char mark[] = "sha256:";
        if (strncmp(ref, mark, sizeof mark - 1) == 0)
                return image_find(s, ref + sizeof mark - 1, ret_key);
        return image_ref_get(s, ref, ret_key);
}

static int not_stored(const struct cordon_box *b, const char *ref, struct err *e)
{
        char place[256], key[65];
        (void) policy_place(policy_root_place(b->policy->checked), place, sizeof place);
        if (ref[0] == '/' && !image_identity(ref, key))
                return err_set(e, ERR_DOOR, ENOENT, "%s: there is no image %s", place, ref);

        (void) err_set(e, ERR_DOOR, 0, "%s: the image %s is not unpacked yet", place, ref);
        return err_hint(e, "cordon image add %s", ref);
}

/* Of the store: unpacking is not a part of a start, which never waits. */
static int open_stored(struct cordon_box *b, const char *ref, struct err *e)
{
        struct image_store s;
        char key[65];
        if (image_store_open(b->policy->cx, &s, e) < 0)
                return -1;

        int r = api_image_key(&s, ref, key) ? image_use(&s, key, &b->image, e) : 0;
        image_store_done(&s);
        b->has_image = r > 0;
        if (r == 0 && b->judges_only &&
            image_identity(ref, key)) { /* the doors are judged, and the image is not looked at */
                b->image = (struct image){ .use = -1, .plan.dir = "/" };
                b->has_image = true;
                return 0;
        }

        return r > 0 ? 0 : r == 0 ? not_stored(b, ref, e) : -1;
}

int api_image_open(struct cordon_box *b, struct err *e)
{
        const char *ref = policy_root(b->policy->checked);
        if (!ref || b->has_image)
                return 0;
        return api_is_tree(ref) ? open_tree(b, ref, e) : open_stored(b, ref, e);
}

int api_image_is_there(const struct cordon_box *b, struct err *e)
{
        const char *ref = policy_root(b->policy->checked);
        return b->has_image && strcmp(b->image.plan.dir, "/") != 0 ? 0 : not_stored(b, ref, e);
}

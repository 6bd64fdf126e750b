/* SPDX-License-Identifier: MIT */
/* image/image.h - images as box roots: unpacked trees, and the store that keeps them.
 *
 *     STATE/images/KEY/root/      the tree, read-only for every box
 *     STATE/images/KEY/meta.json  its defaults and counts
 *     STATE/images/KEY.lock       held shared by boxes that use it, exclusively while it is made or removed
 *     STATE/images/new-KEY/       being unpacked: removed by the next process that gets the lock
 *     STATE/images/ref-HASH       what a name, or an unchanged archive, was unpacked to
 *
 * KEY is the SHA-256 over the digests of the image's configuration and layers, all of them computed here. A
 * tree is moved to its name when it is complete and synchronized. */
#pragma once
#include "base/arena.h"
#include "base/err.h"
#include "plan/plan.h"

enum {
        IMAGE_TOPS_MAX = 512,     /* entries at the top of an image: each is a mount of the box */
        IMAGE_PASSWD_MAX = 65536, /* bytes of its /etc/passwd */
};

/* An image in use by one box, or being looked at. */
struct image {
        struct arena mem; /* everything that `plan` and `argv` point to */
        struct plan_image plan;
        const char *const *argv; /* the command that it names; NULL: none */
        char key[65];            /* in the store; "": a directory of the caller's */
        int use;                 /* the shared lock, or -1 */
};

void image_done(struct image *m);

/* image_look.c: what the plan has to know of the tree at `dir`, an absolute path. Follows no symlink out of
 * it. */
int image_look(const char *dir, struct image *ret, struct err *e);

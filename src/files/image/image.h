/* SPDX-License-Identifier: MIT */
/* files/image/image.h - images as box roots: unpacked trees, and the store that keeps them.
 *
 *     STATE/images/KEY/root/      the tree, read-only for every box
 *     STATE/images/KEY/meta.json  its defaults and counts; boxes that use the image hold a shared lock on it
 *     STATE/images/new/           being unpacked or removed: the next process that gets the lock clears it
 *     STATE/images/lock           held by the one process that adds or removes
 *     STATE/images/ref-HASH       the key that a name, or an unchanged archive, was unpacked to
 *
 * KEY is the SHA-256 over the digests of the image's configuration and layers, all of them computed here. A
 * tree is moved to its name when it is complete and synchronized. */
#pragma once
#include "base/arena.h"
#include "base/context/context.h"
#include "base/err.h"
#include "wall/plan/plan.h"

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

/* ---- image_store.c ---- */
struct image_store {
        int dir;
        char path[3200];
};
#define IMAGE_STORE_NONE ((struct image_store){ .dir = -1 })
int image_store_open(const struct cordon_context *cx, struct image_store *ret, struct err *e);
void image_store_done(struct image_store *s);
/* One process at a time adds or removes: waits for the lock, and removes what a killed one left. Returns the
 * lock's descriptor, or -1. */
int image_store_lock(const struct image_store *s, struct err *e);
/* Under the lock: removes what is unfinished. */
void image_store_clear(const struct image_store *s);
/* 1: in use from here on, until image_done(); 0: the store does not have it; -1 on error. */
int image_use(const struct image_store *s, const char key[65], struct image *ret, struct err *e);
/* The key that begins with `hex`; false: none, or several. */
bool image_find(const struct image_store *s, const char *hex, char ret_key[65]);
/* The keys, sorted; the caller frees. */
char (*image_keys(const struct image_store *s, size_t *ret_count))[65];
/* Under the lock. 1: removed; 0: a box uses it; -1 on error. */
int image_remove(const struct image_store *s, const char key[65], struct err *e);
/* Under the lock: moves STATE/images/new/image, complete, to its key. */
int image_publish(const struct image_store *s, const char key[65], struct err *e);
/* Does a box use the image of this meta.json? */
bool image_is_locked(int meta);
/* A descriptor of its meta.json, or -1. */
int image_meta_open(const struct image_store *s, const char key[65]);

/* ---- image_refs.c: names and archives that lead to images ---- */
struct image_ref {
        char key[65];
        char text[4096]; /* the name or path */
};
/* The identity of the bytes behind a path, or of a name: changed bytes have another one. False: nothing is
 * there. */
bool image_identity(const char *ref, char ret_hash[65]);
bool image_ref_get(const struct image_store *s, const char *ref, char ret_key[65]);
int image_ref_put(const struct image_store *s, const char *ref, const char key[65], struct err *e);
/* Calls `each` with every reference that still leads to its image; removes the others if told to. */
void image_refs_each(const struct image_store *s, bool remove_stale,
                     void (*each)(void *ctx, const struct image_ref *r), void *ctx);

/* ---- image_meta.c: meta.json, written by us from what cordon-unpack reported ---- */
enum { IMAGE_META_MAX = 4 << 20, IMAGE_TEXTS_MAX = 512 };
int image_meta_read(int fd, struct image *m, struct err *e);

/* SPDX-License-Identifier: MIT */
/* files/image/unpack/image_unpack.h - the parts of cordon-unpack: archives and layers that nobody trusts,
 * read in a box that has one file to read and one directory to write.
 *
 * Reading is pull: a source delivers bytes, the tar reader entries, layer.c applies them. Only tree.c and
 * layer.c touch the tree, by directory descriptors, component by component. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "files/image/tree_remove.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
        UNPACK_PATH = 4096,           /* a name in an archive, with its NUL */
        UNPACK_DEPTH = 128,           /* directories above an entry */
        UNPACK_ENTRIES = 1000000,     /* headers of all layers together, those of long names included */
        UNPACK_LAYERS = 127,          /* as many as other engines take */
        UNPACK_EXTENDED = 1 << 20,    /* bytes of one extended (pax) header */
        UNPACK_JSON = 4 << 20,        /* bytes of a manifest or configuration */
        UNPACK_OUTER = 8192,          /* files of an archive of an image */
        UNPACK_RATIO = 100,           /* of unpacked to packed bytes, beyond the first */
        UNPACK_RATIO_FROM = 256 << 20 /* so many */
};
#define UNPACK_BYTES (UINT64_C(64) << 30) /* of all files of an image */

/* ---- tar_header.c: pure ---- */
enum tar_type {
        TAR_NONE = 0, /* the end of the archive */
        TAR_FILE,
        TAR_HARD_LINK,
        TAR_SYMLINK,
        TAR_DIRECTORY,
        TAR_DEVICE,
        TAR_FIFO,
        TAR_PAX,        /* extended header of the next entry */
        TAR_PAX_GLOBAL, /* of all that follow: ignored */
        TAR_LONG_NAME,  /* GNU: the name of the next entry */
        TAR_LONG_LINK,
        TAR_SPARSE, /* GNU: refused */
        TAR_UNKNOWN
};
enum { TAR_BLOCK = 512 };
struct tar_header {
        enum tar_type type;
        uint64_t size, mtime;
        unsigned mode;
        uint64_t uid, gid;
        char name[260], link[104];
};
/* Returns 0, or -1 with the reason in *ret_why. A block of zeroes is TAR_NONE. */
int tar_header_parse(const uint8_t block[TAR_BLOCK], struct tar_header *ret, const char **ret_why);

/* ---- tar_reader.c ---- */
struct unpack_source {
        /* Up to n bytes: less only at the end. Returns the count, or -1 with *e set. */
        ssize_t (*get)(void *ctx, void *p, size_t n, struct err *e);
        /* Moves on without delivering; NULL: bytes are read and dropped. */
        int (*skip)(void *ctx, uint64_t n, struct err *e);
        void *ctx;
};
struct tar_entry {
        enum tar_type type; /* FILE ... FIFO */
        const char *name, *link;
        uint64_t size, mtime;
        unsigned mode;
        bool owned;      /* by another user or group than 0 */
        unsigned xattrs; /* extended attributes, which are not kept */
};
struct tar_reader {
        struct unpack_source in;
        uint64_t left, pad; /* of the present entry: data, and the rest of its last block */
        uint64_t headers;
        struct tar_entry entry;
        char name[UNPACK_PATH], link[UNPACK_PATH];
        bool has_name, has_link, has_size, has_mtime, sparse, has_owner;
        uint64_t pax_size, pax_mtime;
};
/* 1: the next entry, valid until the next call; 0: the end; -1 on error. */
int tar_next(struct tar_reader *t, struct tar_entry *ret, struct err *e);
/* Data of the present file; 0 at its end. */
ssize_t tar_data(struct tar_reader *t, void *p, size_t n, struct err *e);

/* ---- entry_name.c: pure ---- */
enum entry_verdict {
        ENTRY_REFUSED = 0,
        ENTRY_KEPT,
        ENTRY_ROOT,     /* the root directory itself */
        ENTRY_LEFT_OUT, /* below /dev, /proc or /sys, of which every box has its own; or an aufs note */
        ENTRY_WHITEOUT, /* removes `last` of the layers below */
        ENTRY_OPAQUE    /* removes all entries of `parent` that are of the layers below */
};
struct entry_name {
        char parent[UNPACK_PATH]; /* relative, "" for the root; no empty, `.` or `..` component */
        char last[256];
        const char *why; /* of ENTRY_REFUSED */
};
enum entry_verdict entry_name_judge(const char *raw, struct entry_name *ret);

/* ---- stream.c: a layer, decompressed and hashed on both sides ---- */
enum stream_form { STREAM_PLAIN = 0, STREAM_GZIP, STREAM_ZSTD };
struct stream;
/* `size` bytes of fd from `offset`. */
struct stream *stream_new(int fd, uint64_t offset, uint64_t size, enum stream_form form, struct err *e);
ssize_t stream_get(void *stream, void *p, size_t n, struct err *e);
/* Reads the rest, and gives both digests. */
int stream_end(struct stream *s, char ret_packed[65], char ret_plain[65], struct err *e);
void stream_free(struct stream *s);
enum stream_form stream_form_of(const uint8_t *first, size_t n);

/* ---- tree.c: the tree that is written ---- */
struct tree {
        int root;
        int at[UNPACK_DEPTH + 1]; /* the directories of `parent`, the root first */
        size_t depth;
        char parent[UNPACK_PATH]; /* cached; stays valid until something is removed or linked */
        bool cached;
};
void tree_begin(struct tree *t, int root);
/* Opens a directory by its path below the root, creating what is missing. Symlinks are followed inside the
 * root only. Returns a descriptor that stays the tree's, or -1 with *e set. */
int tree_open(struct tree *t, const char *path, bool create, struct err *e);
void tree_forget(struct tree *t);

/* ---- layer.c ---- */
struct unpack_counts {
        uint64_t entries, headers, bytes;
        uint64_t devices, fifos, setid, owners, xattrs, left_out;
};
/* Applies one layer to the tree. */
int layer_apply(struct unpack_source in, struct tree *t, struct unpack_counts *c, struct err *e);

/* ---- outer.c: an archive of an image, or an OCI layout ---- */
struct outer_region {
        char file[256]; /* below the layout; "": the archive itself */
        uint64_t offset, size;
};
struct outer;
struct outer *outer_open(const char *path, struct err *e);
void outer_free(struct outer *o);
bool outer_find(const struct outer *o, const char *name, struct outer_region *ret);
/* The bytes of a small file, and their SHA-256; the caller frees. NULL with *e set. */
char *outer_read(const struct outer *o, const char *name, size_t *ret_n, char ret_sha256[65], struct err *e);
/* The first bytes. */
size_t outer_peek(const struct outer *o, const struct outer_region *r, uint8_t *p, size_t n);

/* ---- manifest.c: the parts of the image that it holds, as JSON for the caller ---- */
int manifest_describe(const struct outer *o, struct buf *out, struct err *e);

/* ---- accounts.c: "user[:group]" of the image, by its own files ---- */
int accounts_find(int root, const char *user, uint32_t *ret_uid, uint32_t *ret_gid);

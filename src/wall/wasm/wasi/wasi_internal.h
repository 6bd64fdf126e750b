/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_internal.h - the table of calls, the table of descriptors, and access to the guest's
 * memory.
 *
 * Every number in a call is hostile: memory is reached by wasi_at() only, and descriptors by wasi_file(). */
#pragma once
#include "wall/wasm/wasi/wasi.h"
#include "wall/wasm/wasi/wasi_abi.h"

#include <stdbool.h>
#include <sys/stat.h>

struct wasi_file {
        bool used;
        int fd;
        uint8_t type;            /* enum wasi_filetype */
        bool writable;           /* directory: what is in it may change */
        const char *preopen;     /* its name, or NULL */
        const char *const *only; /* directory: the names that exist; NULL: all */
        uint64_t rights, inheriting;
};

struct wasi_row;
struct wasi_bound {
        struct wasi *w;
        const struct wasi_row *row;
};

enum { WASI_CALLS = 46 };

struct wasi {
        struct wasi_config c;
        struct wasi_file files[WASI_FILES];
        struct wasi_bound bound[WASI_CALLS];
        uint32_t exit_code;
};

/* One call: its arguments, and the file of the first if that is a descriptor. */
struct wasi_call {
        struct wasi *w;
        struct wasm_instance *inst;
        const uint64_t *a;
        struct wasi_file *file;
        bool ends; /* proc_exit: the program is over */
};

enum wasi_takes {
        WASI_NO_FD = 0,
        WASI_ANY_FD,
        WASI_FILE_FD, /* a directory is the wrong descriptor */
        WASI_DIR_FD
};

struct wasi_row {
        const char *name, *signature;
        enum wasi_errno (*call)(struct wasi_call *c);
        enum wasi_takes takes; /* what the first argument is */
        uint64_t right;        /* that its descriptor needs */
};
extern const struct wasi_row wasi_rows[WASI_CALLS];

/* Runs one row. Returns its errno. */
enum wasi_errno wasi_dispatch(struct wasi_call *c, const struct wasi_row *row);

/* ---- guest memory ---- */

static inline uint32_t wasi_u32(const struct wasi_call *c, unsigned i) { return (uint32_t) c->a[i]; }

static inline void *wasi_at(const struct wasi_call *c, uint32_t addr, uint64_t n)
{
        return wasm_memory_at(c->inst, addr, n);
}

/* Little-endian, at any alignment. */
uint64_t wasi_get(const uint8_t *p, unsigned bytes);
void wasi_put(uint8_t *p, unsigned bytes, uint64_t value);
/* Writes a result. */
enum wasi_errno wasi_store(const struct wasi_call *c, uint32_t addr, unsigned bytes, uint64_t value);

/* The buffers at `addr`; the number of them is at most WASI_IOVS. */
struct iovec;
enum wasi_errno wasi_iovs(const struct wasi_call *c, uint32_t addr, uint32_t n, struct iovec *ret);

/* ---- errors, descriptors ---- */

enum wasi_errno wasi_errno(int sys);
/* The errno of a call that returned `r`: success unless it is negative. */
enum wasi_errno wasi_result(long r);

/* Does what fstat() does, which in some C libraries is a call by name: the filter allows those only with a
 * door. */
int wasi_fstat(int fd, struct stat *ret);

struct wasi_file *wasi_file(struct wasi *w, uint32_t fd);
/* Whether it is open, of that kind, and has these rights. */
enum wasi_errno wasi_file_check(const struct wasi_file *f, enum wasi_takes takes, uint64_t right);
/* Takes over `f->fd` and stores the lowest free number. Closes it if all are taken. */
enum wasi_errno wasi_file_add(struct wasi *w, const struct wasi_file *f, uint32_t *ret);
enum wasi_filetype wasi_type_of(const struct stat *st);
/* Fills in type and rights of an open descriptor. */
enum wasi_errno wasi_file_init(struct wasi_file *f, int fd);

/* ---- paths ---- */

enum { WASI_PATH_MAX = 4096, WASI_DEPTH = 128, WASI_LINKS = 40 };

/* A resolved path: a name in a directory below the door. It is not followed if it is a symlink. */
struct wasi_path {
        int dir; /* of the stack, or the door's own */
        char name[256];
        bool must_be_dir;      /* a slash follows it */
        int stack[WASI_DEPTH]; /* directories on the way, from the door on */
        unsigned depth;
        char rest[2 * WASI_PATH_MAX]; /* what is still to be looked up */
};

/* Finds the directory of `path` (guest memory) below `f`. No component leads out: neither `..` nor a symlink.
 * With `follow` the last component is followed too. wasi_path_done() follows in each case. */
enum wasi_errno wasi_path_find(const struct wasi_call *c, const struct wasi_file *f, const uint32_t at[2],
                               bool follow, struct wasi_path *ret);
void wasi_path_done(struct wasi_path *p);

/* ---- the calls ---- */

#define WASI_CALL(name) enum wasi_errno wasi_##name(struct wasi_call *c)
#define ROW(name, ...)  WASI_CALL(name);
#include "wall/wasm/wasi/wasi_rows.inc"

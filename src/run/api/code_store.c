/* SPDX-License-Identifier: MIT */
/* run/api/code_store.c - compiled code of modules in the state directory, which no box sees.
 *
 * The name of an entry says which files it was made of: the engine and the module, by their inodes and times.
 * Its head holds the digest of the module, which the engine compares with what it runs. Entries are written
 * here and nowhere else, whole, and never changed. */
#include "run/api/code_store.h"

#include "base/fd.h"
#include "base/hash.h"
#include "base/store/store.h"
#include "wall/plan/plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_ENTRIES = 64, MOST_BYTES = 256 << 20 };
static const char folder[] = "code";

static void add_file(struct sha256 *h, const struct stat *st)
{
        const uint64_t facts[] = { st->st_dev,
                                   st->st_ino,
                                   (uint64_t) st->st_size,
                                   (uint64_t) st->st_mtim.tv_sec,
                                   (uint64_t) st->st_mtim.tv_nsec,
                                   (uint64_t) st->st_ctim.tv_sec,
                                   (uint64_t) st->st_ctim.tv_nsec };
        sha256_add(h, facts, sizeof facts);
}

int code_name(const struct cordon_context *cx, const char *engine, const char *module, char ret[CODE_NAME])
{
        struct stat of_engine, of_module;
        struct sha256 h;
        if (stat(engine, &of_engine) < 0 || stat(module, &of_module) < 0 || !S_ISREG(of_module.st_mode) ||
            of_module.st_size < CODE_LEAST_MODULE)
                return -1;

        sha256_init(&h);
        sha256_add(&h, CORDON_VERSION, sizeof CORDON_VERSION);
        sha256_add(&h, cx->tenant.tag, strlen(cx->tenant.tag));
        add_file(&h, &of_engine);
        add_file(&h, &of_module);
        sha256_end_hex(&h, ret);
        return 0;
}

/* Written by this user, and by no other. */
static bool is_ours(const struct stat *st)
{
        return S_ISREG(st->st_mode) && st->st_uid == geteuid() && !(st->st_mode & 022) && st->st_nlink == 1;
}

bool code_find(const struct cordon_context *cx, const char *name, char ret_path[CODE_PATH])
{
        char state[STORE_PATH_MAX];
        struct err ignored;
        struct stat st;
        if (store_path(cx, state, &ignored) < 0)
                return false;

        (void) snprintf(ret_path, CODE_PATH, "%s/%s/%s", state, folder, name);
        if (lstat(ret_path, &st) < 0 || !is_ours(&st))
                return false;

        /* Both directories are this user's alone. */
        AUTO_FD(dir, store_open(cx, &ignored));
        AUTO_FD(code, dir < 0 ? -1 : store_dir(dir, folder, &ignored));
        return code >= 0;
}

struct entry {
        char name[CODE_NAME + 32];
        struct timespec at;
        off_t bytes;
};

static int newest_first(const void *a, const void *b)
{
        const struct timespec *x = &((const struct entry *) a)->at, *y = &((const struct entry *) b)->at;
        if (x->tv_sec != y->tv_sec)
                return x->tv_sec < y->tv_sec ? 1 : -1;
        return x->tv_nsec < y->tv_nsec ? 1 : x->tv_nsec > y->tv_nsec ? -1 : 0;
}

static void remove_over(int dir, struct entry *v, size_t n)
{
        off_t bytes = 0;
        qsort(v, n, sizeof *v, newest_first);
        for (size_t i = 0; i < n; i++) {
                bytes += v[i].bytes;
                if (i >= MOST_ENTRIES || bytes > MOST_BYTES)
                        (void) unlinkat(dir, v[i].name, 0);
        }
}

/* The oldest go. */
static void prune_store(int dir)
{
        enum { SEEN = 4 * MOST_ENTRIES };
        struct entry *v = calloc(SEEN, sizeof *v);
        int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = copy < 0 || !v ? NULL : fdopendir(copy);
        size_t n = 0;
        const struct dirent *x;
        struct stat st;
        while (d && n < SEEN && (x = readdir(d))) {
                if (fstatat(dir, x->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
                    strlen(x->d_name) >= sizeof v->name)
                        continue;
                (void) snprintf(v[n].name, sizeof v->name, "%s", x->d_name);
                v[n].at = st.st_mtim;
                v[n++].bytes = st.st_size;
        }

        if (d)
                remove_over(dir, v, n);
        if (d)
                (void) closedir(d);
        else if (copy >= 0)
                (void) close(copy);
        free(v);
}

/* Whether what the box printed is code, and of this module. */
static bool is_code_of(struct span code, const char *digest)
{
        static const char magic[16] = CODE_FILE_MAGIC;
        return code.n > CODE_FILE_DIGEST + 65 && memcmp(code.p, magic, sizeof magic) == 0 &&
               memcmp(code.p + CODE_FILE_DIGEST, digest, 65) == 0;
}

static int write_entry(int dir, const char *name, struct span code)
{
        char fresh[CODE_NAME + 32];
        (void) snprintf(fresh, sizeof fresh, "new.%d.%.16s", (int) getpid(), name);
        AUTO_FD(fd, openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
        if (fd < 0)
                return -1;

        /* Any user may read it: that of the box is another. Its directory is closed. */
        if (fchmod(fd, 0644) == 0 && fd_write_all(fd, code.p, code.n) == 0 &&
            renameat(dir, fresh, dir, name) == 0)
                return 0;

        (void) unlinkat(dir, fresh, 0);
        return -1;
}

int code_keep(const struct cordon_context *cx, const struct code_entry *x, struct err *e)
{
        if (!is_code_of(x->code, x->digest))
                return err_set(e, ERR_EXEC, 0, "this is not the code of the module");

        AUTO_FD(state, store_open(cx, e));
        AUTO_FD(dir, state < 0 ? -1 : store_dir(state, folder, e));
        if (dir < 0)
                return -1;

        if (write_entry(dir, x->name, x->code) < 0)
                return err_set(e, ERR_IO, errno, "the code cannot be kept: %s", strerror(errno));

        prune_store(dir);
        return 0;
}

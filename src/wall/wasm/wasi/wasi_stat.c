/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_stat.c - attributes of descriptors and files. */
#include "wall/wasm/wasi/wasi_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- descriptors ---- */

static const struct {
        unsigned wasi;
        int flag;
} fdflags[] = {
        { WASI_APPEND, O_APPEND }, { WASI_NONBLOCK, O_NONBLOCK }, { WASI_DSYNC, O_DSYNC },
        { WASI_RSYNC, O_RSYNC },   { WASI_SYNC, O_SYNC },
};
enum { FDFLAGS = sizeof fdflags / sizeof *fdflags };

static unsigned flags_of(int fd)
{
        int flags = fcntl(fd, F_GETFL);
        unsigned wasi = 0;
        for (size_t i = 0; flags >= 0 && i < FDFLAGS; i++)
                if ((flags & fdflags[i].flag) == fdflags[i].flag)
                        wasi |= fdflags[i].wasi;
        return wasi;
}

WASI_CALL(fd_fdstat_get)
{
        uint8_t *p = wasi_at(c, wasi_u32(c, 1), WASI_FDSTAT_SIZE);
        if (!p)
                return WASI_FAULT;

        (void) memset(p, 0, WASI_FDSTAT_SIZE);
        wasi_put(p, 1, c->file->type);
        wasi_put(p + 2, 2, flags_of(c->file->fd));
        wasi_put(p + 8, 8, c->file->rights);
        wasi_put(p + 16, 8, c->file->inheriting);
        return WASI_SUCCESS;
}

/* The kernel changes two of them on an open file. */
WASI_CALL(fd_fdstat_set_flags)
{
        uint32_t wanted = wasi_u32(c, 1), can = WASI_APPEND | WASI_NONBLOCK;
        int flags = fcntl(c->file->fd, F_GETFL);
        if (flags < 0)
                return wasi_errno(errno);

        if ((wanted & ~can) != (flags_of(c->file->fd) & ~can))
                return WASI_NOTSUP;

        flags &= ~(O_APPEND | O_NONBLOCK);
        flags |= (wanted & WASI_APPEND ? O_APPEND : 0) | (wanted & WASI_NONBLOCK ? O_NONBLOCK : 0);
        return wasi_result(fcntl(c->file->fd, F_SETFL, flags));
}

/* Rights are given up, never taken. */
WASI_CALL(fd_fdstat_set_rights)
{
        if (c->a[1] & ~c->file->rights || c->a[2] & ~c->file->inheriting)
                return WASI_NOTCAPABLE;

        c->file->rights = c->a[1];
        c->file->inheriting = c->a[2];
        return WASI_SUCCESS;
}

WASI_CALL(fd_prestat_get)
{
        uint8_t *p = wasi_at(c, wasi_u32(c, 1), WASI_PRESTAT_SIZE);
        if (!c->file->preopen)
                return WASI_BADF;

        if (!p)
                return WASI_FAULT;

        wasi_put(p, 4, 0); /* a directory: there is nothing else */
        wasi_put(p + 4, 4, strlen(c->file->preopen));
        return WASI_SUCCESS;
}

WASI_CALL(fd_prestat_dir_name)
{
        if (!c->file->preopen)
                return WASI_BADF;

        size_t n = strlen(c->file->preopen);
        if (wasi_u32(c, 2) < n)
                return WASI_NAMETOOLONG;

        void *p = wasi_at(c, wasi_u32(c, 1), n);
        if (!p)
                return WASI_FAULT;

        (void) memcpy(p, c->file->preopen, n);
        return WASI_SUCCESS;
}

/* ---- files ---- */

static uint64_t to_nanoseconds(const struct timespec *t)
{
        return (uint64_t) t->tv_sec * 1000000000 + (uint64_t) t->tv_nsec;
}

static enum wasi_errno put_stat(const struct wasi_call *c, uint32_t at, const struct stat *st)
{
        uint8_t *p = wasi_at(c, at, WASI_FILESTAT_SIZE);
        if (!p)
                return WASI_FAULT;

        wasi_put(p, 8, st->st_dev);
        wasi_put(p + 8, 8, st->st_ino);
        wasi_put(p + 16, 8, wasi_type_of(st));
        wasi_put(p + 24, 8, st->st_nlink);
        wasi_put(p + 32, 8, (uint64_t) st->st_size);
        wasi_put(p + 40, 8, to_nanoseconds(&st->st_atim));
        wasi_put(p + 48, 8, to_nanoseconds(&st->st_mtim));
        wasi_put(p + 56, 8, to_nanoseconds(&st->st_ctim));
        return WASI_SUCCESS;
}

WASI_CALL(fd_filestat_get)
{
        struct stat st;
        return wasi_fstat(c->file->fd, &st) < 0 ? wasi_errno(errno) : put_stat(c, wasi_u32(c, 1), &st);
}

WASI_CALL(fd_filestat_set_size)
{
        if (c->a[1] > INT64_MAX)
                return WASI_INVAL;

        return wasi_result(ftruncate(c->file->fd, (off_t) c->a[1]));
}

static struct timespec time_of(uint64_t ns, bool set, bool now)
{
        if (!set)
                return (struct timespec){ .tv_nsec = now ? UTIME_NOW : UTIME_OMIT };

        return (struct timespec){ (time_t) (ns / 1000000000), (long) (ns % 1000000000) };
}

/* The times in arguments `first` and the next, by the flags in the one after. */
static bool times_of(const struct wasi_call *c, unsigned first, struct timespec ret[2])
{
        uint32_t f = wasi_u32(c, first + 2), all = WASI_ATIM | WASI_ATIM_NOW | WASI_MTIM | WASI_MTIM_NOW;
        if (f & ~all || (f & WASI_ATIM && f & WASI_ATIM_NOW) || (f & WASI_MTIM && f & WASI_MTIM_NOW))
                return false;

        ret[0] = time_of(c->a[first], f & WASI_ATIM, f & WASI_ATIM_NOW);
        ret[1] = time_of(c->a[first + 1], f & WASI_MTIM, f & WASI_MTIM_NOW);
        return true;
}

WASI_CALL(fd_filestat_set_times)
{
        struct timespec t[2];
        return times_of(c, 1, t) ? wasi_result(futimens(c->file->fd, t)) : WASI_INVAL;
}

/* Finds the directory of a path first, then the name in it. */
static enum wasi_errno of_path(const struct wasi_call *c, struct wasi_path *p)
{
        const uint32_t at[] = { wasi_u32(c, 2), wasi_u32(c, 3) };
        return wasi_path_find(c, c->file, at, wasi_u32(c, 1) & WASI_SYMLINK_FOLLOW, p);
}

WASI_CALL(path_filestat_get)
{
        struct wasi_path p;
        struct stat st;
        enum wasi_errno r = of_path(c, &p);
        if (!r)
                r = wasi_result(fstatat(p.dir, p.name, &st, AT_SYMLINK_NOFOLLOW));

        if (!r && p.must_be_dir && !S_ISDIR(st.st_mode))
                r = WASI_NOTDIR;

        wasi_path_done(&p);
        return r ? r : put_stat(c, wasi_u32(c, 4), &st);
}

WASI_CALL(path_filestat_set_times)
{
        struct wasi_path p;
        struct timespec t[2];
        if (!times_of(c, 4, t))
                return WASI_INVAL;

        enum wasi_errno r = of_path(c, &p);
        if (!r && !c->file->writable)
                r = WASI_ROFS;

        if (!r)
                r = wasi_result(utimensat(p.dir, p.name, t, AT_SYMLINK_NOFOLLOW));

        wasi_path_done(&p);
        return r;
}

/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_open.c - opens files and directories below a door, and lists directories. */
#include "wall/wasm/wasi/wasi_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- path_open ---- */

static int open_flags(const struct wasi_call *c)
{
        static const struct {
                unsigned wasi;
                int flag;
        } oflags[] = { { WASI_CREAT, O_CREAT },
                       { WASI_O_DIRECTORY, O_DIRECTORY },
                       { WASI_EXCL, O_EXCL },
                       { WASI_TRUNC, O_TRUNC } },
          fdflags[] = { { WASI_APPEND, O_APPEND },
                        { WASI_NONBLOCK, O_NONBLOCK },
                        { WASI_DSYNC, O_DSYNC },
                        { WASI_RSYNC, O_RSYNC },
                        { WASI_SYNC, O_SYNC } };
        int flags = O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;

        for (size_t i = 0; i < sizeof oflags / sizeof *oflags; i++)
                flags |= wasi_u32(c, 4) & oflags[i].wasi ? oflags[i].flag : 0;

        for (size_t i = 0; i < sizeof fdflags / sizeof *fdflags; i++)
                flags |= wasi_u32(c, 7) & fdflags[i].wasi ? fdflags[i].flag : 0;

        bool reads = c->a[5] & WASI_RIGHT(FD_READ), writes = c->a[5] & WASI_RIGHT(FD_WRITE);
        return flags | (writes ? (reads ? O_RDWR : O_WRONLY) : O_RDONLY);
}

/* Refuses what the door and its rights forbid, before anything is looked up. */
static enum wasi_errno check_open(const struct wasi_call *c, int flags)
{
        const struct wasi_file *dir = c->file;
        uint64_t need = (flags & O_CREAT ? WASI_RIGHT(PATH_CREATE_FILE) : 0) |
                        (flags & O_TRUNC ? WASI_RIGHT(PATH_FILESTAT_SET_SIZE) : 0);
        if (wasi_u32(c, 4) & ~(uint32_t) (WASI_CREAT | WASI_O_DIRECTORY | WASI_EXCL | WASI_TRUNC) ||
            (flags & O_CREAT && flags & O_DIRECTORY))
                return WASI_INVAL;

        if (need & ~dir->rights)
                return WASI_NOTCAPABLE;

        uint64_t moves = c->a[5] & (WASI_RIGHT(FD_READ) | WASI_RIGHT(FD_WRITE));
        return moves & ~dir->inheriting ? WASI_NOTCAPABLE : WASI_SUCCESS;
}

static bool changes(int flags) { return flags & (O_CREAT | O_TRUNC) || (flags & O_ACCMODE) != O_RDONLY; }

static int open_found(const struct wasi_call *c, const struct wasi_path *p, int flags)
{
        if (c->file->only) /* its names exist, and no others */
                flags &= ~O_CREAT;

        /* A file that is only there is opened also through a door that cannot be written. */
        if (!c->file->writable && changes(flags)) {
                errno = EROFS;
                return -1;
        }

        if (p->must_be_dir && flags & O_CREAT) {
                errno = EISDIR;
                return -1;
        }

        return openat(p->dir, p->name, flags | (p->must_be_dir ? O_DIRECTORY : 0), 0666);
}

static enum wasi_errno add_opened(struct wasi_call *c, int fd, const struct wasi_path *p)
{
        struct wasi_file f;
        enum wasi_errno r = wasi_file_init(&f, fd);
        if (r) {
                (void) close(fd);
                return r;
        }

        const struct wasi_file *dir = c->file;
        f.writable = dir->writable;
        f.only = p->depth == 0 && f.type == WASI_DIRECTORY ? dir->only : NULL;
        f.rights &= dir->inheriting & c->a[5];
        f.inheriting &= c->a[6] ? dir->inheriting & c->a[6] : dir->inheriting;
        if (!f.writable)
                f.rights &= ~WASI_RIGHT(FD_FILESTAT_SET_TIMES);

        uint32_t number;
        r = wasi_file_add(c->w, &f, &number);
        return r ? r : wasi_store(c, wasi_u32(c, 8), 4, number);
}

WASI_CALL(path_open)
{
        int flags = open_flags(c);
        enum wasi_errno r = check_open(c, flags);
        if (r)
                return r;

        if (!wasi_at(c, wasi_u32(c, 8), 4))
                return WASI_FAULT;

        struct wasi_path p;
        const uint32_t at[] = { wasi_u32(c, 2), wasi_u32(c, 3) };
        r = wasi_path_find(c, c->file, at, wasi_u32(c, 1) & WASI_SYMLINK_FOLLOW, &p);
        int fd = r ? -1 : open_found(c, &p, flags);
        if (!r)
                r = fd < 0 ? wasi_errno(errno) : add_opened(c, fd, &p);

        wasi_path_done(&p);
        return r;
}

/* ---- fd_readdir ---- */

struct listing {
        uint8_t *p;
        uint32_t n, used;
};

static bool put_bytes(struct listing *l, const void *p, size_t n)
{
        uint32_t left = l->n - l->used, k = n < left ? (uint32_t) n : left;
        (void) memcpy(l->p + l->used, p, k);
        l->used += k;
        return l->used < l->n;
}

static uint8_t type_of(uint8_t d_type)
{
        static const uint8_t types[] = {
                [DT_BLK] = WASI_BLOCK_DEVICE, [DT_CHR] = WASI_CHARACTER_DEVICE, [DT_DIR] = WASI_DIRECTORY,
                [DT_REG] = WASI_REGULAR_FILE, [DT_LNK] = WASI_SYMBOLIC_LINK,    [DT_SOCK] = WASI_SOCKET_STREAM
        };
        return d_type < sizeof types ? types[d_type] : WASI_UNKNOWN;
}

/* Returns false when the guest's buffer is full: the last entry may be cut. */
static bool put_entry(struct listing *l, const struct dirent64 *d)
{
        uint8_t head[WASI_DIRENT_SIZE] = { 0 };
        size_t n = strlen(d->d_name);
        wasi_put(head, 8, (uint64_t) d->d_off);
        wasi_put(head + 8, 8, d->d_ino);
        wasi_put(head + 16, 4, n);
        wasi_put(head + 20, 1, type_of(d->d_type));
        return put_bytes(l, head, sizeof head) && put_bytes(l, d->d_name, n);
}

static bool is_listed(const struct wasi_file *f, const char *name)
{
        if (!f->only || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return true;

        for (const char *const *x = f->only; *x; x++)
                if (strcmp(*x, name) == 0)
                        return true;
        return false;
}

/* The cookie of an entry is the kernel's position after it. */
WASI_CALL(fd_readdir)
{
        _Alignas(struct dirent64) char raw[8192];
        struct listing l = { wasi_at(c, wasi_u32(c, 1), wasi_u32(c, 2)), wasi_u32(c, 2), 0 };
        if (!l.p && l.n)
                return WASI_FAULT;

        if (c->a[3] > INT64_MAX || lseek(c->file->fd, (off_t) c->a[3], SEEK_SET) < 0)
                return WASI_INVAL;

        bool room = l.n > 0;
        while (room) {
                long n = syscall(SYS_getdents64, c->file->fd, raw, sizeof raw);
                if (n < 0)
                        return wasi_errno(errno);
                if (n == 0)
                        break;
                for (long i = 0; room && i < n;) {
                        const struct dirent64 *d = (const void *) (raw + i);
                        i += d->d_reclen;
                        if (is_listed(c->file, d->d_name))
                                room = put_entry(&l, d);
                }
        }

        return wasi_store(c, wasi_u32(c, 4), 4, l.used);
}

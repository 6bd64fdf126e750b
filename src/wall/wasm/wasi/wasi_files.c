/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_files.c - the module's descriptors. */
#include "base/fd.h"
#include "wall/wasm/wasi/wasi_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define R(name) WASI_RIGHT(name)

static const uint64_t file_rights = R(FD_DATASYNC) | R(FD_READ) | R(FD_SEEK) | R(FDSTAT_SET_FLAGS) |
                                    R(FD_SYNC) | R(FD_TELL) | R(FD_WRITE) | R(FD_ADVISE) | R(FD_ALLOCATE) |
                                    R(FD_FILESTAT_GET) | R(FD_FILESTAT_SET_SIZE) | R(FD_FILESTAT_SET_TIMES) |
                                    R(POLL_FD_READWRITE);
static const uint64_t write_rights = R(FD_WRITE) | R(FD_ALLOCATE) | R(FD_FILESTAT_SET_SIZE);
static const uint64_t stream_rights = R(FD_READ) | R(FD_WRITE) | R(FDSTAT_SET_FLAGS) | R(FD_FILESTAT_GET) |
                                      R(POLL_FD_READWRITE) | R(SOCK_SHUTDOWN) | R(SOCK_ACCEPT);
static const uint64_t dir_rights =
        R(FD_SYNC) | R(FD_DATASYNC) | R(FDSTAT_SET_FLAGS) | R(PATH_CREATE_DIRECTORY) | R(PATH_CREATE_FILE) |
        R(PATH_LINK_SOURCE) | R(PATH_LINK_TARGET) | R(PATH_OPEN) | R(FD_READDIR) | R(PATH_READLINK) |
        R(PATH_RENAME_SOURCE) | R(PATH_RENAME_TARGET) | R(PATH_FILESTAT_GET) | R(PATH_FILESTAT_SET_SIZE) |
        R(PATH_FILESTAT_SET_TIMES) | R(FD_FILESTAT_GET) | R(FD_FILESTAT_SET_TIMES) | R(PATH_SYMLINK) |
        R(PATH_REMOVE_DIRECTORY) | R(PATH_UNLINK_FILE);
static const uint64_t dir_inheriting = (R(_COUNT) - 1) & ~(R(SOCK_SHUTDOWN) | R(SOCK_ACCEPT));

enum wasi_filetype wasi_type_of(const struct stat *st)
{
        switch (st->st_mode & S_IFMT) {
        case S_IFREG:
                return WASI_REGULAR_FILE;
        case S_IFDIR:
                return WASI_DIRECTORY;
        case S_IFLNK:
                return WASI_SYMBOLIC_LINK;
        case S_IFCHR:
                return WASI_CHARACTER_DEVICE;
        case S_IFBLK:
                return WASI_BLOCK_DEVICE;
        case S_IFSOCK:
                return WASI_SOCKET_STREAM;
        }
        return WASI_UNKNOWN;
}

static uint64_t rights_of(int fd, enum wasi_filetype type)
{
        uint64_t rights = type == WASI_REGULAR_FILE ? file_rights : stream_rights;
        if (type == WASI_DIRECTORY)
                return dir_rights;

        /* C libraries take a character device that cannot seek for a terminal. */
        if (type == WASI_CHARACTER_DEVICE && !isatty(fd))
                rights |= R(FD_SEEK) | R(FD_TELL);

        int mode = fcntl(fd, F_GETFL) & O_ACCMODE;
        if (mode == O_RDONLY)
                rights &= ~write_rights;
        if (mode == O_WRONLY)
                rights &= ~R(FD_READ);
        return rights;
}

int wasi_fstat(int fd, struct stat *ret) { return (int) syscall(SYS_fstat, fd, ret); }

enum wasi_errno wasi_file_init(struct wasi_file *f, int fd)
{
        struct stat st;
        if (wasi_fstat(fd, &st) < 0)
                return wasi_errno(errno);

        *f = (struct wasi_file){ .used = true, .fd = fd, .type = (uint8_t) wasi_type_of(&st) };
        int kind = 0;
        if (f->type == WASI_SOCKET_STREAM &&
            getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &(socklen_t){ sizeof kind }) == 0 &&
            kind == SOCK_DGRAM)
                f->type = WASI_SOCKET_DGRAM;

        f->rights = rights_of(fd, f->type);
        f->inheriting = f->type == WASI_DIRECTORY ? dir_inheriting : 0;
        return WASI_SUCCESS;
}

struct wasi_file *wasi_file(struct wasi *w, uint32_t fd)
{
        return fd < WASI_FILES && w->files[fd].used ? &w->files[fd] : NULL;
}

enum wasi_errno wasi_file_add(struct wasi *w, const struct wasi_file *f, uint32_t *ret)
{
        for (uint32_t i = 0; i < WASI_FILES; i++) {
                if (w->files[i].used)
                        continue;
                w->files[i] = *f;
                *ret = i;
                return WASI_SUCCESS;
        }

        (void) close(f->fd);
        return WASI_MFILE;
}

enum wasi_errno wasi_file_check(const struct wasi_file *f, enum wasi_takes takes, uint64_t right)
{
        if (!f || (takes == WASI_FILE_FD && f->type == WASI_DIRECTORY))
                return WASI_BADF;

        if (takes == WASI_DIR_FD && f->type != WASI_DIRECTORY)
                return WASI_NOTDIR;

        return right & ~f->rights ? WASI_NOTCAPABLE : WASI_SUCCESS;
}

static int add_file(struct wasi *w, const struct wasi_file *f, struct err *e)
{
        uint32_t at;
        if (wasi_file_add(w, f, &at) != WASI_SUCCESS)
                return err_set(e, ERR_LIMIT, 0, "more than %d doors and handles", WASI_FILES - 3);

        return (int) at;
}

int wasi_open_door(struct wasi *w, const struct wasi_door *d, struct err *e)
{
        return add_file(w,
                        &(struct wasi_file){ .used = true,
                                             .fd = d->fd,
                                             .type = WASI_DIRECTORY,
                                             .writable = d->writable,
                                             .preopen = d->name,
                                             .only = d->only,
                                             .rights = dir_rights,
                                             .inheriting = dir_inheriting },
                        e);
}

int wasi_open_handle(struct wasi *w, int fd, struct err *e)
{
        struct wasi_file f;
        if (wasi_file_init(&f, fd) != WASI_SUCCESS)
                return err_set(e, ERR_IO, errno, "descriptor %d is not open", fd);

        return add_file(w, &f, e);
}

struct wasi *wasi_new(const struct wasi_config *c, struct err *e)
{
        struct wasi *w = calloc(1, sizeof *w);
        if (!w) {
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the program's descriptors");
                return NULL;
        }

        w->c = *c;
        for (int i = 0; i < 3; i++)
                (void) wasi_file_init(&w->files[i], i); /* a closed one stays closed */
        return w;
}

void wasi_set_args(struct wasi *w, const char *const *argv) { w->c.argv = argv; }

void wasi_free(struct wasi *w)
{
        for (unsigned i = 3; w && i < WASI_FILES; i++)
                if (w->files[i].used)
                        (void) close(w->files[i].fd);
        free(w);
}

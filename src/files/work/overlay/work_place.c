/* SPDX-License-Identifier: MIT */
/* files/work/overlay/work_place.c - where overlays lie: STATE/work; or what a symlink of that name leads to,
 * made where the state directory is on a filesystem that cannot hold the upper part of an overlay, as that of
 * a container, NFS and 9p cannot. */
#include "base/fd.h"
#include "base/store/store.h"
#include "files/work/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool cannot_hold(int dir)
{
        static const unsigned kinds[] = { 0x794c7630 /* overlayfs */,
                                          0x65735546 /* FUSE */,
                                          0x6969 /* NFS */,
                                          0x01021997 /* 9p */,
                                          0xff534d42 /* CIFS */,
                                          0xfe534d42 /* SMB 2 */,
                                          0x517b,
                                          /* SMB */ 0x00c36400 /* Ceph */ };
        struct statfs fs;
        for (size_t i = 0; fstatfs(dir, &fs) == 0 && i < sizeof kinds / sizeof *kinds; i++)
                if ((unsigned) fs.f_type == kinds[i])
                        return true;
        return false;
}

/* SAFETY: everyone may make names there: store_dir() takes only a directory of our own that is closed. */
static int open_in(const char *place, char *path, size_t cap)
{
        struct err none;
        char name[32];
        (void) snprintf(name, sizeof name, "cordon-work-%u", (unsigned) geteuid());
        (void) snprintf(path, cap, "%s/%s", place, name);
        AUTO_FD(at, open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        AUTO_FD(dir, at < 0 || cannot_hold(at) ? -1 : store_dir(at, name, &none));
        return dir >= 0 && faccessat(dir, ".", W_OK, AT_EACCESS) == 0 ? TAKE_FD(dir) : -1;
}

static int open_elsewhere(const struct cordon_context *cx, char *path, size_t cap)
{
        const char *const places[] = { "/var/tmp", context_path(cx, "XDG_RUNTIME_DIR"), "/dev/shm" };
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                int fd = places[i] ? open_in(places[i], path, cap) : -1;
                if (fd >= 0)
                        return fd;
        }

        return -1;
}

/* The target of the link may be gone since the last start of the machine: then it is made again. */
static int open_linked(int state)
{
        char path[WORK_PLACE_MAX], *slash;
        struct err none;
        ssize_t n = readlinkat(state, "work", path, sizeof path - 1);
        path[n > 0 ? n : 0] = '\0';
        if (n <= 0 || path[0] != '/' || (slash = strrchr(path, '/')) == path)
                return -1;

        *slash = '\0';
        AUTO_FD(at, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        return at < 0 ? -1 : store_dir(at, slash + 1, &none);
}

/* An overlay that was made there before, by an edit door of one file, stays. */
static int move_out(const struct cordon_context *cx, int state)
{
        char path[WORK_PLACE_MAX];
        AUTO_FD(fd, open_elsewhere(cx, path, sizeof path));
        if (fd < 0 || (unlinkat(state, "work", AT_REMOVEDIR) < 0 && errno != ENOENT) ||
            symlinkat(path, state, "work") < 0)
                return -1;
        return TAKE_FD(fd);
}

int layer_store(const struct cordon_context *cx, struct err *e)
{
        struct stat st;
        AUTO_FD(state, store_open(cx, e));
        if (state < 0)
                return -1;

        /* SAFETY: where none is needed, a link is none of ours, and refused. */
        if (!cannot_hold(state))
                return store_dir(state, "work", e);

        bool linked = fstatat(state, "work", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
        int fd = linked ? open_linked(state) : move_out(cx, state);
        if (fd < 0 && linked && unlinkat(state, "work", 0) == 0)
                fd = move_out(cx, state);
        if (fd >= 0)
                return fd;
        return store_dir(state, "work", e);
}

bool work_elsewhere(const struct cordon_context *cx, char ret[WORK_PLACE_MAX])
{
        struct err none;
        AUTO_FD(state, store_open(cx, &none));
        ssize_t n =
                state < 0 || !cannot_hold(state) ? -1 : readlinkat(state, "work", ret, WORK_PLACE_MAX - 1);
        ret[n > 0 ? n : 0] = '\0';
        return n > 0;
}

enum work_holding work_can_hold(const struct cordon_context *cx, char ret[WORK_PLACE_MAX])
{
        struct err none;
        ret[0] = '\0';
        AUTO_FD(state, store_open(cx, &none));
        AUTO_FD(elsewhere, state >= 0 && cannot_hold(state) ? open_elsewhere(cx, ret, WORK_PLACE_MAX) : -1);
        return state < 0 || !cannot_hold(state) ? WORK_HOLDS
               : elsewhere >= 0                 ? WORK_HOLDS_ELSEWHERE
                                                : WORK_HOLDS_NOT;
}

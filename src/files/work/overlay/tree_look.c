/* SPDX-License-Identifier: MIT */
/* files/work/overlay/tree_look.c - stats and opens entries of untrusted trees: beneath a descriptor, through
 * no symlink, across no mount. A FIFO, socket or device is never opened: a name is opened with O_PATH first,
 * checked, and only then reopened through that descriptor as a file. */
#include "base/fd.h"
#include "base/hash.h"
#include "base/vec.h"
#include "files/work/internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { CHUNK = 128 * 1024, XATTR_MAX = 65536, HOLE_LARGE = 256 << 20 };
#define OFF_MAX INT64_MAX
/* <linux/fs.h> and <xfs/xfs_fs.h> of later or other packages. */
#define GET_FS_UUID  _IOR(0x15, 0, uint8_t[17])
#define XFS_GEOMETRY _IOR('X', 100, struct xfs_geometry)
enum { XFS_MAGIC = 0x58465342 };
struct xfs_geometry { /* xfs_fsop_geom_v1 */
        uint32_t sizes[7];
        uint32_t pad;
        uint64_t blocks[4];
        uint8_t uuid[16];
        uint32_t more[8];
};

static int open_beneath(int dir, const char *path, uint64_t flags)
{
        return fd_open2(dir, path[0] ? path : ".", flags | O_NOFOLLOW,
                        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
}

int tree_dir(int dir, const char *path) { return open_beneath(dir, path, O_RDONLY | O_DIRECTORY); }

int tree_place(int dir, const char *path)
{
        int fd = tree_dir(dir, path);
        return fd < 0 && errno == EACCES ? open_beneath(dir, path, O_PATH | O_DIRECTORY) : fd;
}

uint64_t tree_fsid(int fd)
{
        struct statfs fs;
        struct stat st;
        uint64_t id = 0;
        if (fstatfs(fd, &fs) == 0)
                memcpy(&id, &fs.f_fsid, sizeof id < sizeof fs.f_fsid ? sizeof id : sizeof fs.f_fsid);
        return id || fstat(fd, &st) < 0 ? id : st.st_dev;
}

/* The first 64 bits of a filesystem's UUID; 0: it has none, or the kernel (before 6.9) does not report it.
 * On older kernels XFS has its own ioctl for it. */
static uint64_t uuid_of(int fd)
{
        struct {
                uint8_t len, uuid[16];
        } id = { 0 };

        struct xfs_geometry geometry = { 0 };
        struct statfs fs;
        uint64_t first = 0;
        if (ioctl(fd, (int) GET_FS_UUID, &id) == 0 && id.len == sizeof id.uuid)
                memcpy(&first, id.uuid, sizeof first);
        else if (fstatfs(fd, &fs) == 0 && fs.f_type == XFS_MAGIC &&
                 ioctl(fd, (int) XFS_GEOMETRY, &geometry) == 0)
                memcpy(&first, geometry.uuid, sizeof first);

        return first;
}

uint64_t tree_uuid(int fd)
{
        struct stat st;
        bool opens = fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
        AUTO_FD(open, opens ? fd_reopen(fd, O_RDONLY | O_NONBLOCK | O_NOCTTY) : -1);
        return open < 0 ? 0 : uuid_of(open);
}

bool tree_is_on(int fd, uint64_t fsid, uint64_t uuid)
{
        return tree_fsid(fd) == fsid || (uuid && tree_uuid(fd) == uuid);
}

int tree_parent(int dir, const char *path, const char **ret_last)
{
        const char *slash = strrchr(path, '/');
        char parent[WORK_PATH_MAX];
        *ret_last = slash ? slash + 1 : path;
        size_t n = slash ? (size_t) (slash - path) : 0;
        if (n >= sizeof parent) {
                errno = ENAMETOOLONG;
                return -1;
        }

        memcpy(parent, path, n);
        parent[n] = '\0';
        return tree_place(dir, parent);
}

static void fill_node(const struct stat *st, struct node *n)
{
        *n = (struct node){ .kind = S_ISREG(st->st_mode)   ? NODE_FILE
                                    : S_ISDIR(st->st_mode) ? NODE_DIR
                                    : S_ISLNK(st->st_mode) ? NODE_LINK
                                                           : NODE_OTHER,
                            .whiteout = S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0),
                            .mode = st->st_mode & 07777,
                            .uid = st->st_uid,
                            .gid = st->st_gid,
                            .size = (uint64_t) st->st_size,
                            .dev = st->st_dev,
                            .ino = st->st_ino,
                            .blocks = (uint64_t) st->st_blocks,
                            .links = st->st_nlink,
                            .mtime = st->st_mtim,
                            .ctime = st->st_ctim };
}

bool tree_is_missing(int sys) { return sys == ENOENT || sys == ENOTDIR || sys == ELOOP; }

int tree_look(int dir, const char *name, struct node *ret)
{
        struct stat st;
        *ret = (struct node){ 0 };
        if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
        fill_node(&st, ret);
        return 0;
}

static int mode_by_place(int place, mode_t mode)
{
        char name[48];
        (void) snprintf(name, sizeof name, "/proc/self/fd/%d", place);
        return chmod(name, mode);
}

int tree_set_mode(int dir, const char *name, mode_t mode)
{
        AUTO_FD(place, open_beneath(dir, name, O_PATH));
        return place < 0 ? -1 : mode_by_place(place, mode);
}

int tree_file(int dir, const char *name, bool own, struct node *ret_node)
{
        AUTO_FD(place, open_beneath(dir, name, O_PATH));
        return place < 0 ? -1 : tree_file_at(place, own, ret_node);
}

int tree_file_at(int place, bool own, struct node *ret_node)
{
        struct stat st;
        if (fstat(place, &st) < 0)
                return -1;

        if (!S_ISREG(st.st_mode)) {
                errno = EINVAL;
                return -1;
        }

        int fd = fd_reopen(place, O_RDONLY | O_NOCTTY);
        if (fd < 0 && errno == EACCES && own && mode_by_place(place, (st.st_mode & 07777) | 0400) == 0) {
                fd = fd_reopen(place, O_RDONLY | O_NOCTTY);
                (void) mode_by_place(place, st.st_mode & 07777);
        }

        if (fd >= 0 && ret_node)
                fill_node(&st, ret_node);

        return fd;
}

int tree_open_place(int place, mode_t mode)
{
        return mode_by_place(place, (mode & 07777) | 0700) < 0 ? -1
                                                               : fd_reopen(place, O_RDONLY | O_DIRECTORY);
}

int tree_own_dir(int dir, const char *name, mode_t *ret_mode)
{
        AUTO_FD(place, open_beneath(dir, name, O_PATH | O_DIRECTORY));
        struct stat st;
        *ret_mode = 0;
        if (place < 0 || fstat(place, &st) < 0)
                return -1;

        bool closed = (st.st_mode & 0700) != 0700;
        if (closed && geteuid() != 0 && mode_by_place(place, (st.st_mode & 07777) | 0700) == 0)
                *ret_mode = (st.st_mode & 07777) | S_IFDIR;

        int fd = fd_reopen(place, O_RDONLY | O_DIRECTORY);
        if (fd < 0 && *ret_mode) { /* the only place that closes it again */
                int sys = errno;
                (void) mode_by_place(place, st.st_mode & 07777);
                *ret_mode = 0;
                errno = sys;
        }

        return fd;
}

void tree_dir_end(int fd, mode_t mode)
{
        if (mode && fd >= 0)
                (void) fchmod(fd, mode & 07777);
}

ssize_t tree_link(int dir, const char *name, char *buf, size_t cap)
{
        ssize_t n = readlinkat(dir, name, buf, cap);
        if (n >= 0 && (size_t) n >= cap) {
                errno = ENAMETOOLONG;
                return -1;
        }

        if (n >= 0)
                buf[n] = '\0';

        return n;
}

/* For a large file the CPU features are checked: that pays from about a megabyte on. */
static void hurry_on(uint64_t done)
{
        static bool asked; /* harmless if repeated */
        if (done < 1u << 20 || __atomic_exchange_n(&asked, true, __ATOMIC_RELAXED))
                return;
        (void) hash_use_hardware();
}

static int digest_file(int fd, char ret_hex[65])
{
        char chunk[CHUNK];
        uint64_t done = 0;
        struct sha256 s;

        sha256_init(&s);
        for (;;) {
                ssize_t n = read(fd, chunk, sizeof chunk);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -1;
                if (n == 0)
                        break;
                sha256_add(&s, chunk, (size_t) n);
                hurry_on(done += (uint64_t) n);
        }

        sha256_end_hex(&s, ret_hex);
        return 0;
}

/* The start of the data from `at` on; OFF_MAX: none. A filesystem without holes has data everywhere. */
static off_t next_data(int fd, off_t at)
{
        off_t data = lseek(fd, at, SEEK_DATA);
        return data >= 0 ? data : errno == ENXIO ? OFF_MAX : at;
}

/* Reads up to `cap` bytes; -1 on error. */
static ssize_t read_at(int fd, char *buf, size_t cap, off_t at)
{
        return lseek(fd, at, SEEK_SET) < 0 ? -1 : fd_read_all(fd, buf, cap);
}

/* A file with large holes is hashed by its non-zero blocks and their offsets: reading all zeros would take
 * longer than any real file of its disk usage. */
static int digest_sparse(int fd, uint64_t size, char ret_hex[65])
{
        enum { BLOCK = 4096 };
        static const char zeros[BLOCK];
        char chunk[CHUNK], hex[65];
        struct sha256 s;

        sha256_init(&s);
        sha256_add(&s, &size, sizeof size);
        for (off_t at = 0; (at = next_data(fd, at)) != OFF_MAX;) {
                at -= at % BLOCK;
                ssize_t n = read_at(fd, chunk, sizeof chunk, at);
                if (n < 0)
                        return -1;
                for (ssize_t i = 0; i < n; i += BLOCK) {
                        size_t k = n - i < BLOCK ? (size_t) (n - i) : BLOCK;
                        const uint64_t place = (uint64_t) (at + i);
                        if (memcmp(chunk + i, zeros, k) == 0)
                                continue;
                        sha256_add(&s, &place, sizeof place);
                        sha256_add(&s, chunk + i, k);
                }
                if (n < (ssize_t) sizeof chunk)
                        break;
                at += n;
        }

        sha256_end_hex(&s, hex);
        (void) snprintf(ret_hex, 65, TREE_SPARSE "%.57s", hex);
        return 0;
}

static int digest_content(int fd, const struct node *n, char ret_hex[65])
{
        const uint64_t on_disk = n->blocks * 512, hole = n->size > on_disk ? n->size - on_disk : 0;
        return hole >= HOLE_LARGE ? digest_sparse(fd, n->size, ret_hex) : digest_file(fd, ret_hex);
}

int tree_digest(int dir, const char *name, const struct node *n, bool own, char ret_hex[65])
{
        ret_hex[0] = '\0';
        if (n->kind == NODE_LINK) {
                char target[WORK_PATH_MAX];
                ssize_t k = tree_link(dir, name, target, sizeof target);
                if (k < 0)
                        return -1;
                sha256_hex(span_of(target, (size_t) k), ret_hex);
        } else if (n->kind == NODE_FILE) {
                struct node opened;
                AUTO_FD(fd, tree_file(dir, name, own, &opened));
                if (fd < 0 && (errno == EACCES || errno == EPERM)) {
                        memcpy(ret_hex, "-", 2);
                        return 0;
                }
                if (fd >= 0 && (opened.ino != n->ino || opened.dev != n->dev)) {
                        memcpy(ret_hex, "!", 2);
                        return 0;
                }
                return fd < 0 ? -1 : digest_content(fd, &opened, ret_hex);
        }

        return 0;
}

bool tree_same_content(int a, int b)
{
        char x[CHUNK / 2], y[CHUNK / 2];
        struct stat sa, sb;
        if (fstat(a, &sa) < 0 || fstat(b, &sb) < 0 || sa.st_size != sb.st_size)
                return false;

        for (off_t at = 0;;) {
                off_t da = next_data(a, at), db = next_data(b, at);
                at = da < db ? da : db; /* before it both have a hole */
                if (at == OFF_MAX)
                        return true;
                ssize_t n = read_at(a, x, sizeof x, at), m = read_at(b, y, sizeof y, at);
                if (n < 0 || n != m || memcmp(x, y, (size_t) n) != 0)
                        return false;
                if (n < (ssize_t) sizeof x)
                        return true;
                at += n;
        }
}

/* ---- names ---- */

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *) a, *(char *const *) b); }

static int add_name(struct names *to, size_t *cap, const char *name)
{
        if (vec_room((void **) &to->v, to->n, cap, sizeof *to->v) < 0)
                return -1;

        char *kept = arena_str(&to->mem, name);
        if (!kept)
                return -1;

        to->v[to->n++] = kept;
        return 0;
}

int tree_names(int dir, struct names *ret)
{
        size_t cap = 0;
        int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = own < 0 ? NULL : fdopendir(own);
        if (!d) {
                if (own >= 0)
                        (void) close(own);
                return -1;
        }

        errno = 0;
        int bad = 0;
        for (const struct dirent *x; !bad && (x = readdir(d)); errno = 0)
                if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0 &&
                    (ret->n >= WORK_ENTRIES_MAX || add_name(ret, &cap, x->d_name) < 0))
                        bad = ENOMEM;

        bad = bad ? bad : errno;
        (void) closedir(d);
        if (bad) {
                errno = bad;
                return -1;
        }

        if (ret->n > 1)
                qsort(ret->v, ret->n, sizeof *ret->v, by_bytes);

        return 0;
}

void names_done(struct names *n)
{
        free(n->v);
        arena_done(&n->mem);
        *n = (struct names){ 0 };
}

bool names_have(const struct names *n, const char *name)
{
        return n->n > 0 && bsearch(&name, n->v, n->n, sizeof *n->v, by_bytes) != NULL;
}

/* ---- extended attributes ---- */

/* The attributes that an apply copies: the user's own, and ACLs. */
static bool is_ours(const char *name)
{
        if (strcmp(name, "system.posix_acl_access") == 0 || strcmp(name, "system.posix_acl_default") == 0)
                return true;
        return strncmp(name, "user.", 5) == 0 && strncmp(name, "user.overlay.", 13) != 0 &&
               strcmp(name, WORK_ORIGIN) != 0;
}

/* All names, each NUL-terminated; the caller frees. NULL: none, or not supported by the filesystem. -1:
 * unknown, which is different. */
static int list_xattrs(int fd, char **ret, size_t *ret_n)
{
        char *list = malloc(XATTR_MAX);
        ssize_t n = list ? flistxattr(fd, list, XATTR_MAX) : -1;
        int sys = errno;

        *ret = n > 0 ? list : NULL;

        *ret_n = n > 0 ? (size_t) n : 0;

        if (n <= 0)
                free(list);

        errno = sys;
        return n >= 0 || (list && sys == ENOTSUP) ? 0 : -1;
}

/* Every attribute of ours that `a` has, `b` has with the same value. */
static bool xattr_within(int a, int b, char *va, char *vb)
{
        size_t n;
        char *list;
        bool same = list_xattrs(a, &list, &n) == 0;

        for (size_t at = 0; same && at < n; at += strlen(list + at) + 1) {
                if (!is_ours(list + at))
                        continue;
                ssize_t k = fgetxattr(a, list + at, va, XATTR_MAX);
                same = k >= 0 && fgetxattr(b, list + at, vb, XATTR_MAX) == k &&
                       memcmp(va, vb, (size_t) k) == 0;
        }

        free(list);
        return same;
}

bool xattr_same(int a, int b)
{
        char *va = malloc(XATTR_MAX), *vb = malloc(XATTR_MAX);
        bool same = va && vb && xattr_within(a, b, va, vb) && xattr_within(b, a, vb, va);
        free(va);
        free(vb);
        return same;
}

bool xattr_gives_access(int dir, int than)
{
        static const char list[] = "system.posix_acl_default";
        char a[4096], b[4096];
        ssize_t k = fgetxattr(dir, list, a, sizeof a);
        if (k <= 0)
                return k < 0 && errno == ERANGE;
        return fgetxattr(than, list, b, sizeof b) != k || memcmp(a, b, (size_t) k) != 0;
}

int xattr_copy(int from, int to)
{
        size_t n;
        char *list, *value = malloc(XATTR_MAX);
        int bad = list_xattrs(from, &list, &n) < 0 || !value ? -1 : 0;

        for (size_t at = 0; !bad && at < n; at += strlen(list + at) + 1) {
                ssize_t k = is_ours(list + at) ? fgetxattr(from, list + at, value, XATTR_MAX) : -1;
                if (k >= 0)
                        bad = fsetxattr(to, list + at, value, (size_t) k, 0);
        }

        free(list);
        free(value);
        return bad;
}

bool tree_is_masked(int dir, const char *name, const struct node *n)
{
        char path[NAME_MAX + 48];
        if (n->whiteout)
                return true;
        (void) snprintf(path, sizeof path, "/proc/self/fd/%d/%s", dir, name);
        return lgetxattr(path, "user.overlay.whiteout", NULL, 0) >= 0;
}

bool xattr_hides_below(int place)
{
        char name[48], value[2];
        (void) snprintf(name, sizeof name, "/proc/self/fd/%d", place);
        return getxattr(name, "user.overlay.opaque", value, sizeof value) == 1 && value[0] == 'x';
}

bool xattr_is_opaque(int dir)
{
        char value[4];
        return fgetxattr(dir, "user.overlay.opaque", value, sizeof value) >= 1 && value[0] == 'y';
}

int xattr_set_opaque(int dir, bool opaque)
{
        if (opaque)
                return fsetxattr(dir, "user.overlay.opaque", "y", 1, 0);
        return fremovexattr(dir, "user.overlay.opaque") < 0 && errno != ENODATA ? -1 : 0;
}

int tree_whiteout(int dir, const char *name) { return mknodat(dir, name, S_IFCHR, makedev(0, 0)); }

int xattr_drop_overlay(int fd)
{
        size_t n;
        char *list;
        int bad = list_xattrs(fd, &list, &n);

        for (size_t at = 0; !bad && at < n; at += strlen(list + at) + 1)
                if (strncmp(list + at, "user.overlay.", 13) == 0)
                        bad = fremovexattr(fd, list + at);

        free(list);
        return bad;
}

int xattr_mirror(int from, int to)
{
        size_t n;
        char *list, none[1];
        if (list_xattrs(to, &list, &n) < 0)
                return -1;

        for (size_t at = 0; at < n; at += strlen(list + at) + 1)
                if (is_ours(list + at) && fgetxattr(from, list + at, none, 0) < 0)
                        (void) fremovexattr(to, list + at);

        free(list);
        return xattr_copy(from, to);
}

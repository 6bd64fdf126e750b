/* SPDX-License-Identifier: MIT */
/* effect/stamp/stamp.c - the label of a path, by the index and the attributes of the file. */
#include "base/fd.h"
#include "base/str.h"
#include "effect/stamp/stamp_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *const attributes[] = { "trusted.cordon.label", "user.cordon.label" };

/* A name of /proc/self/fd is a link to a file that is open; others are resolved already. */
static int open_nofollow(const char *path)
{
        return strncmp(path, "/proc/self/fd/", 14) == 0 ? 0 : AT_SYMLINK_NOFOLLOW;
}

void stamp_identify(const char *path, struct stamp *s)
{
        struct statx st;
        s->dev = s->ino = s->born_ns = 0;
        if (syscall(SYS_statx, AT_FDCWD, path, open_nofollow(path), STATX_INO | STATX_BTIME, &st) < 0)
                return;

        s->dev = (uint64_t) st.stx_dev_major << 32 | st.stx_dev_minor;
        s->ino = st.stx_ino;
        if (st.stx_mask & STATX_BTIME)
                s->born_ns = (uint64_t) st.stx_btime.tv_sec * 1000000000u + st.stx_btime.tv_nsec;
}

/* Only root has the first one: others are told that it does not exist. */
static size_t first_attribute(void) { return geteuid() == 0 ? 0 : 1; }

/* Most files have no attribute of ours: one call says so. */
static bool may_have_attribute(const char *path, bool follow)
{
        char names[4096];
        ssize_t n = (follow ? listxattr : llistxattr)(path, names, sizeof names);
        return n < 0 ? errno == ERANGE : n > 0 && memmem(names, (size_t) n, "cordon.label", 12);
}

/* Shut now, it can be opened by a box. */
static bool is_ours(const char *path)
{
        struct stat st;
        return stat(path, &st) == 0 && st.st_uid == geteuid();
}

/* Text that is not a label is the worst one. No attribute, or a filesystem without any: no label. */
static struct label read_attributes(const char *path, bool follow)
{
        struct label l = { 0 };
        if (!may_have_attribute(path, follow))
                return l;

        for (size_t i = first_attribute(); i < sizeof attributes / sizeof *attributes; i++) {
                char text[LABEL_TEXT_MAX];
                ssize_t n = (follow ? getxattr : lgetxattr)(path, attributes[i], text, sizeof text - 1);
                if (n < 0 && errno != ERANGE && !(errno == EACCES && is_ours(path)))
                        continue;
                text[n < 0 ? 0 : n] = '\0';
                struct label by = n < 0 ? label_worst() : label_of(text);
                label_join(&l, &by);
        }
        return l;
}

struct label stamp_attribute(const char *path) { return read_attributes(path, !open_nofollow(path)); }

struct label stamp_behind(const struct stamp_index *x, const char *path)
{
        char real[PATH_MAX];
        if (x->n == 0)
                return read_attributes(path, true);
        return stamp_label(x, realpath(path, real) ? real : path);
}

static bool write_attributes(const char *path, const struct label *l)
{
        char text[LABEL_TEXT_MAX];
        bool written = false;
        int no = open_nofollow(path);
        size_t n = strlen(label_text(l, text));
        for (size_t i = first_attribute(); i < sizeof attributes / sizeof *attributes; i++)
                if (n == 0)
                        written |= (no ? lremovexattr : removexattr)(path, attributes[i]) == 0;
                else
                        written |= (no ? lsetxattr : setxattr)(path, attributes[i], text, n, 0) == 0;
        return written;
}

static bool change_label(const char *path, const struct label *l, bool drop)
{
        struct label had = stamp_attribute(path), own = had;
        if (drop)
                label_drop(&own, l);
        else
                label_join(&own, l);
        return label_equal(&own, &had) || write_attributes(path, &own);
}

bool stamp_change_attribute(const char *path, const struct label *l, bool drop)
{
        const mode_t needs = S_IRUSR | S_IWUSR;
        struct stat st;
        char at[32];
        if (geteuid() == 0)
                return change_label(path, l, drop);

        AUTO_FD(fd, open(path, O_PATH | O_CLOEXEC | (open_nofollow(path) ? O_NOFOLLOW : 0)));
        if (fd < 0 || fstat(fd, &st) < 0)
                return false;

        (void) snprintf(at, sizeof at, "/proc/self/fd/%d", fd);
        bool opens = st.st_uid == geteuid() && (st.st_mode & needs) != needs && !S_ISLNK(st.st_mode) &&
                     chmod(at, (st.st_mode & 07777) | needs) == 0;
        bool changed = change_label(S_ISLNK(st.st_mode) ? path : at, l, drop);
        if (opens)
                (void) chmod(at, st.st_mode & 07777);
        return changed;
}

bool stamp_is_same_file(const struct stamp *a, const struct stamp *b)
{
        return a->ino != 0 && a->ino == b->ino && a->dev == b->dev && a->born_ns == b->born_ns;
}

bool stamp_pipe(int fd, char ret[STAMP_PIPE_MAX])
{
        struct stat st;
        char boot[40] = ""; /* a pipe's number is one of this boot */
        ret[0] = '\0';
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
                return false;

        (void) fd_get(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof boot);
        (void) snprintf(ret, STAMP_PIPE_MAX, "%llx:%llu@%s", (unsigned long long) st.st_dev,
                        (unsigned long long) st.st_ino, boot);
        return true;
}

bool stamp_place(int fd, char ret[PATH_MAX])
{
        struct stat st;
        char pipe[STAMP_PIPE_MAX];
        ret[0] = '\0';
        if (fd < 0 || fstat(fd, &st) < 0)
                return false;

        if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISBLK(st.st_mode) && !S_ISDIR(st.st_mode))
                return false;

        if (fd_path(fd, ret, PATH_MAX) == 0 && ret[0] == '/')
                return true;

        if (!stamp_pipe(fd, pipe))
                return false;
        (void) snprintf(ret, PATH_MAX, "%s%s", stamp_pipe_prefix, pipe);
        return true;
}

struct label stamp_of_file(const struct stamp_index *x, int fd)
{
        char place[PATH_MAX], at[32];
        struct label l = { 0 };
        if (!stamp_place(fd, place))
                return l;

        if (place[0] != '/')
                return stamp_named(x, place);

        (void) snprintf(at, sizeof at, "/proc/self/fd/%d", fd);
        struct label own = stamp_attribute(at); /* also of a file that lost its name */
        l = stamp_label(x, place);
        label_join(&l, &own);
        return l;
}

/* The index is asked for the path itself or its file, for what is above and below it too, or for its name
 * alone. */
enum scope { SCOPE_OWN, SCOPE_AROUND, SCOPE_NAME };

struct label stamp_same_file(const struct stamp_index *x, const char *path)
{
        struct stamp here;
        struct label l = { 0 };
        stamp_identify(path, &here);
        for (size_t i = 0; i < x->n; i++)
                if (stamp_is_same_file(&x->v[i], &here))
                        label_join(&l, &x->v[i].label);
        return l;
}

static void join_same_file(const struct stamp_index *x, const char *path, struct label *l)
{
        struct label by = stamp_same_file(x, path);
        label_join(l, &by);
}

static struct label index_label(const struct stamp_index *x, const char *path, enum scope scope)
{
        char up[PATH_MAX];
        struct label l = { 0 };
        for (size_t i = 0; i < x->n; i++) {
                const struct stamp *s = &x->v[i];
                if (scope == SCOPE_OWN ? strcmp(s->path, path) == 0
                                       : path_under(path, s->path) || path_under(s->path, path))
                        label_join(&l, &s->label);
        }

        if (x->n > 0 && scope != SCOPE_NAME)
                join_same_file(x, path, &l);

        /* A directory above that has another name by now. */
        for (size_t n = str_parent(path, strlen(path)); x->n > 0 && scope == SCOPE_AROUND && n > 0;
             n = str_parent(path, n)) {
                (void) snprintf(up, sizeof up, "%.*s", (int) n, path);
                join_same_file(x, up, &l);
        }

        return l;
}

struct label stamp_indexed(const struct stamp_index *x, const char *path)
{
        return index_label(x, path, SCOPE_OWN);
}
struct label stamp_named(const struct stamp_index *x, const char *path)
{
        return index_label(x, path, SCOPE_NAME);
}

struct label stamp_label(const struct stamp_index *x, const char *path)
{
        struct label l = stamp_attribute(path), by = index_label(x, path, SCOPE_AROUND);
        label_join(&l, &by);
        return l;
}

struct label stamp_own(const struct stamp_index *x, const char *path)
{
        struct label l = stamp_attribute(path), by = stamp_indexed(x, path);
        label_join(&l, &by);
        return l;
}

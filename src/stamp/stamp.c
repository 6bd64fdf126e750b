/* SPDX-License-Identifier: MIT */
/* stamp/stamp.c - the label of a path, by the index and the attributes of the file. */
#include "base/str.h"
#include "stamp/stamp_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *const attributes[] = { "trusted.cordon.label", "user.cordon.label" };

/* A name of /proc/self/fd is a link to a file that is open; others are resolved already. */
static int nofollow(const char *path)
{
        return strncmp(path, "/proc/self/fd/", 14) == 0 ? 0 : AT_SYMLINK_NOFOLLOW;
}

void stamp_identify(const char *path, struct stamp *s)
{
        struct statx st;
        s->dev = s->ino = s->born_ns = 0;
        if (syscall(SYS_statx, AT_FDCWD, path, nofollow(path), STATX_INO | STATX_BTIME, &st) < 0)
                return;

        s->dev = (uint64_t) st.stx_dev_major << 32 | st.stx_dev_minor;
        s->ino = st.stx_ino;
        if (st.stx_mask & STATX_BTIME)
                s->born_ns = (uint64_t) st.stx_btime.tv_sec * 1000000000u + st.stx_btime.tv_nsec;
}

/* What is not a label is the worst one. No attribute, or a filesystem without any: none. */
static struct label attribute_of(const char *path)
{
        struct label l = { 0 };
        for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
                char text[LABEL_TEXT_MAX];
                ssize_t n = lgetxattr(path, attributes[i], text, sizeof text - 1);
                if (n < 0 && errno != ERANGE)
                        continue;
                text[n < 0 ? 0 : n] = '\0';
                struct label by = n < 0 ? label_worst() : label_of(text);
                label_join(&l, &by);
        }
        return l;
}

bool stamp_write_attribute(const char *path, const struct label *l)
{
        char text[LABEL_TEXT_MAX];
        bool written = false;
        size_t n = strlen(label_text(l, text));
        for (size_t i = geteuid() == 0 ? 0 : 1; i < sizeof attributes / sizeof *attributes; i++)
                if (n == 0)
                        (void) lremovexattr(path, attributes[i]);
                else
                        written |=
                                (nofollow(path) ? lsetxattr : setxattr)(path, attributes[i], text, n, 0) == 0;
        return written;
}

bool stamp_is_same_file(const struct stamp *a, const struct stamp *b)
{
        return a->ino != 0 && a->ino == b->ino && a->dev == b->dev && a->born_ns == b->born_ns;
}

struct label stamp_label(const struct stamp_index *x, const char *path)
{
        struct stamp here;
        struct label l = attribute_of(path);
        stamp_identify(path, &here);
        for (size_t i = 0; i < x->n; i++) {
                const struct stamp *s = &x->v[i];
                if (path_under(path, s->path) || path_under(s->path, path) || stamp_is_same_file(s, &here))
                        label_join(&l, &s->label);
        }
        return l;
}

struct label stamp_own(const struct stamp_index *x, const char *path)
{
        struct label l = attribute_of(path), by = stamp_indexed(x, path);
        label_join(&l, &by);
        return l;
}

struct label stamp_indexed(const struct stamp_index *x, const char *path)
{
        struct stamp here;
        struct label l = { 0 };
        stamp_identify(path, &here);
        for (size_t i = 0; i < x->n; i++)
                if (strcmp(x->v[i].path, path) == 0 || stamp_is_same_file(&x->v[i], &here))
                        label_join(&l, &x->v[i].label);
        return l;
}

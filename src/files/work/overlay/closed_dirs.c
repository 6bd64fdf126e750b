/* SPDX-License-Identifier: MIT */
/* files/work/overlay/closed_dirs.c - directories of the host that the caller may not search, list or write.
 * Their entries are held back and reported, and the rest is applied. An apply never changes the mode of
 * one, because a kill in between would leave it open. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The effective ids decide. If the kernel cannot answer: no; then the step itself fails, and everything is
 * reverted. */
static bool is_denied(int dir, const char *name, int how)
{
        return syscall(SYS_faccessat2, dir, name, how, AT_EACCESS | AT_SYMLINK_NOFOLLOW) < 0 &&
               errno == EACCES;
}

static const char *parent_of(struct entries *v, const char *path)
{
        const char *slash = strrchr(path, '/');
        return slash ? arena_copy(&v->mem, span_of(path, (size_t) (slash - path))) : ".";
}

/* A new name needs a writable directory; moving a directory elsewhere also writes its "..". */
static const char *what_keeps(struct entries *v, const struct entry *x, const struct sides *s)
{
        const char *name;
        bool in_place = x->now.kind == NODE_DIR && !(x->what & (WHAT_ADDED | WHAT_TYPE));
        bool goes = x->what & (WHAT_DELETED | WHAT_TYPE) && x->old.kind == NODE_DIR;
        AUTO_FD(parent, side_lower(s, x->path, &name));
        if (parent < 0)
                return errno == EACCES ? parent_of(v, x->path) : NULL;

        if (is_denied(parent, ".", in_place ? X_OK : W_OK | X_OK))
                return parent_of(v, x->path);

        return goes && is_denied(parent, name, W_OK) ? x->path : NULL;
}

int shut_mark(const struct layer *l, struct entries *v, struct err *e)
{
        struct sides s;
        for (size_t i = 0; i < v->n;) {
                unsigned door = v->v[i].door;
                if (sides_open(l, door, &s, e) < 0)
                        return -1;
                for (; i < v->n && v->v[i].door == door; i++)
                        if (!v->v[i].shut)
                                v->v[i].shut = what_keeps(v, &v->v[i], &s);
                sides_close(&s);
        }

        return v->mem.failed ? err_set(e, ERR_MEMORY, 0, "no memory for the changes") : 0;
}

const char *shut_words(const struct layer *l, struct entries *v, const struct entry *x)
{
        AUTO_BUF(out);
        char shown[WORK_PATH_MAX];
        const struct work_door *d = &l->doors[x->door];

        buf_printf(&out, "%s", str_inert(span_str(d->host), shown, sizeof shown));
        if (strcmp(x->shut, ".") != 0)
                buf_printf(&out, "/%s", str_inert(span_str(x->shut), shown, sizeof shown));

        buf_puts(&out, " is closed to you: open it (chmod u+rwx), then apply again");
        const char *kept = arena_str(&v->mem, buf_str(&out));
        return kept ? kept : "its directory is closed to you";
}

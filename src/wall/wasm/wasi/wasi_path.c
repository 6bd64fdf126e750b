/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_path.c - from a door and a path to a directory below it and a name.
 *
 * One component at a time, each opened with O_NOFOLLOW below the last. A `..` goes back to the directory that
 * was opened before; a symlink is read and its text looked up in its place. So nothing leads above the door,
 * whatever is renamed meanwhile. openat2() would do the same, but no box has it: the mode of a new file is
 * behind a pointer, where a filter cannot see the setuid bit. */
#include "base/str.h"
#include "wall/wasm/wasi/wasi_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { ENTER = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
enum { MORE = -1 }; /* no errno: the path goes on */

struct walk {
        const struct wasi_file *door;
        struct wasi_path *p;
        unsigned links;
        bool follow;
};

/* The next component, moved from `rest` to `name`. */
struct part {
        bool last, slash;
};

static int next_part(struct wasi_path *p, struct part *ret)
{
        size_t n = strcspn(p->rest, "/"), skip = strspn(p->rest + n, "/");
        if (n >= sizeof p->name)
                return WASI_NAMETOOLONG;

        (void) memcpy(p->name, p->rest, n);
        p->name[n] = '\0';
        ret->slash = skip > 0;
        ret->last = p->rest[n + skip] == '\0';
        (void) memmove(p->rest, p->rest + n + skip, strlen(p->rest + n + skip) + 1);
        return MORE;
}

static void use_top(struct walk *k) { k->p->dir = k->p->depth ? k->p->stack[k->p->depth - 1] : k->door->fd; }

static int end_at_directory(struct wasi_path *p)
{
        (void) memcpy(p->name, ".", 2);
        p->must_be_dir = true;
        return WASI_SUCCESS;
}

static int go_up(struct walk *k, const struct part *a)
{
        if (k->p->depth == 0)
                return WASI_PERM;

        (void) close(k->p->stack[--k->p->depth]);
        use_top(k);
        return a->last ? end_at_directory(k->p) : MORE;
}

/* Puts the target of the symlink in front of the rest. */
static int go_through(struct walk *k, const char *target, const struct part *a)
{
        struct wasi_path *p = k->p;
        size_t n = strlen(target), rest = strlen(p->rest);
        if (++k->links > WASI_LINKS)
                return WASI_LOOP;

        if (n == 0)
                return WASI_NOENT;

        if (target[0] == '/')
                return WASI_PERM;

        if (n + 1 + rest >= sizeof p->rest)
                return WASI_NAMETOOLONG;

        size_t slash = a->slash ? 1 : 0;
        (void) memmove(p->rest + n + slash, p->rest, rest + 1);
        (void) memcpy(p->rest, target, n);
        if (slash)
                p->rest[n] = '/';
        return MORE;
}

static int go_through_link(struct walk *k, const struct part *a, enum wasi_errno otherwise)
{
        char target[WASI_PATH_MAX];
        ssize_t n = readlinkat(k->p->dir, k->p->name, target, sizeof target);
        if (n < 0)
                return (int) (errno == EINVAL || errno == ENOENT ? otherwise : wasi_errno(errno));

        if ((size_t) n == sizeof target)
                return WASI_NAMETOOLONG;

        target[n] = '\0';
        return go_through(k, target, a);
}

static int go_down(struct walk *k, const struct part *a)
{
        if (k->p->depth == WASI_DEPTH)
                return WASI_NAMETOOLONG;

        int fd = openat(k->p->dir, k->p->name, ENTER);
        if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
                return go_through_link(k, a, WASI_NOTDIR);

        if (fd < 0)
                return (int) wasi_errno(errno);

        k->p->stack[k->p->depth++] = fd;
        use_top(k);
        return MORE;
}

static bool exists_here(const struct walk *k)
{
        if (!k->door->only || k->p->depth > 0)
                return true;

        for (const char *const *x = k->door->only; *x; x++)
                if (strcmp(*x, k->p->name) == 0)
                        return true;
        return false;
}

static int go_on(struct walk *k)
{
        struct wasi_path *p = k->p;
        struct part a;
        int r = next_part(p, &a);
        if (r != MORE)
                return r;

        if (strcmp(p->name, ".") == 0)
                return a.last ? end_at_directory(p) : MORE;

        if (strcmp(p->name, "..") == 0)
                return go_up(k, &a);

        if (!exists_here(k))
                return WASI_NOENT;

        if (!a.last)
                return go_down(k, &a);

        p->must_be_dir = a.slash;
        return k->follow ? go_through_link(k, &a, WASI_SUCCESS) : WASI_SUCCESS;
}

/* Copies the path out of the guest's memory. */
static enum wasi_errno take_path(const struct wasi_call *c, const uint32_t at[2], struct wasi_path *p)
{
        const char *text = wasi_at(c, at[0], at[1]);
        if (at[1] >= WASI_PATH_MAX)
                return WASI_NAMETOOLONG;

        if (!text && at[1])
                return WASI_FAULT;

        if (at[1] == 0)
                return WASI_NOENT;

        if (memchr(text, '\0', at[1]))
                return WASI_INVAL;

        if (!str_is_utf8(span_of(text, at[1])))
                return WASI_ILSEQ;

        if (text[0] == '/')
                return WASI_PERM;

        (void) memcpy(p->rest, text, at[1]);
        p->rest[at[1]] = '\0';
        return WASI_SUCCESS;
}

enum wasi_errno wasi_path_find(const struct wasi_call *c, const struct wasi_file *f, const uint32_t at[2],
                               bool follow, struct wasi_path *ret)
{
        struct walk k = { .door = f, .p = ret, .follow = follow };
        ret->depth = 0;
        ret->dir = f->fd;
        ret->must_be_dir = false;

        enum wasi_errno r = take_path(c, at, ret);
        if (r)
                return r;

        int end;
        do
                end = go_on(&k);
        while (end == MORE);

        return (enum wasi_errno) end;
}

void wasi_path_done(struct wasi_path *p)
{
        while (p->depth > 0)
                (void) close(p->stack[--p->depth]);
}

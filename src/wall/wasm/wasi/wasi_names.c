/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_names.c - makes, moves and removes names below a door. */
#include "wall/wasm/wasi/wasi_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Finds a name that is to change. */
static enum wasi_errno find_path(const struct wasi_call *c, const struct wasi_file *f, unsigned arg,
                                 struct wasi_path *p)
{
        const uint32_t at[] = { wasi_u32(c, arg), wasi_u32(c, arg + 1) };
        enum wasi_errno r = wasi_path_find(c, f, at, false, p);
        if (r)
                return r;

        return f->writable && !f->only ? WASI_SUCCESS : WASI_ROFS;
}

/* The second directory of a call with two. */
static enum wasi_errno second_dir(const struct wasi_call *c, unsigned arg, uint64_t right,
                                  const struct wasi_file **ret)
{
        *ret = wasi_file(c->w, wasi_u32(c, arg));
        return wasi_file_check(*ret, WASI_DIR_FD, right);
}

/* A slash after a name that is no directory. */
static enum wasi_errno check_slash(const struct wasi_path *p)
{
        struct stat st;
        if (!p->must_be_dir)
                return WASI_SUCCESS;

        if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return wasi_errno(errno);

        return S_ISDIR(st.st_mode) ? WASI_SUCCESS : WASI_NOTDIR;
}

static int make_dir(int dir, const char *name) { return mkdirat(dir, name, 0777); }
static int remove_dir(int dir, const char *name) { return unlinkat(dir, name, AT_REMOVEDIR); }
static int remove_file(int dir, const char *name) { return unlinkat(dir, name, 0); }

static enum wasi_errno change_name(const struct wasi_call *c, int (*change)(int, const char *))
{
        struct wasi_path p;
        enum wasi_errno r = find_path(c, c->file, 1, &p);
        if (!r && change == remove_file)
                r = check_slash(&p);

        if (!r)
                r = wasi_result(change(p.dir, p.name));

        wasi_path_done(&p);
        return r;
}

WASI_CALL(path_create_directory) { return change_name(c, make_dir); }
WASI_CALL(path_remove_directory) { return change_name(c, remove_dir); }
WASI_CALL(path_unlink_file) { return change_name(c, remove_file); }

/* A symlink leads nowhere for the module if it leads out, but other programs may follow it: its text has to
 * stay relative. */
WASI_CALL(path_symlink)
{
        char target[WASI_PATH_MAX];
        struct wasi_path p;
        const struct wasi_file *dir;
        uint32_t n = wasi_u32(c, 1);
        const char *text = wasi_at(c, wasi_u32(c, 0), n);
        enum wasi_errno r = second_dir(c, 2, WASI_RIGHT(PATH_SYMLINK), &dir);
        if (r)
                return r;

        if (!text && n)
                return WASI_FAULT;

        if (n == 0 || n >= sizeof target || memchr(text, '\0', n))
                return n == 0 ? WASI_NOENT : n >= sizeof target ? WASI_NAMETOOLONG : WASI_INVAL;

        if (text[0] == '/')
                return WASI_PERM;

        (void) memcpy(target, text, n);
        target[n] = '\0';
        r = find_path(c, dir, 3, &p);
        if (!r && p.must_be_dir)
                r = check_slash(&p) == WASI_NOENT ? WASI_NOENT : WASI_EXIST;

        if (!r)
                r = wasi_result(symlinkat(target, p.dir, p.name));

        wasi_path_done(&p);
        return r;
}

WASI_CALL(path_readlink)
{
        struct wasi_path p;
        uint32_t room = wasi_u32(c, 4);
        char *out = wasi_at(c, wasi_u32(c, 3), room), none;
        if (!out && room)
                return WASI_FAULT;

        const uint32_t at[] = { wasi_u32(c, 1), wasi_u32(c, 2) };
        enum wasi_errno r = wasi_path_find(c, c->file, at, false, &p);
        ssize_t n = r ? -1 : readlinkat(p.dir, p.name, room ? out : &none, room ? room : 1);
        if (!r && n < 0)
                r = wasi_errno(errno);

        wasi_path_done(&p);
        return r ? r : wasi_store(c, wasi_u32(c, 5), 4, room ? (uint64_t) n : 0);
}

WASI_CALL(path_rename)
{
        struct wasi_path from, to;
        const struct wasi_file *dir;
        enum wasi_errno r = second_dir(c, 3, WASI_RIGHT(PATH_RENAME_TARGET), &dir);
        if (r)
                return r;

        r = find_path(c, c->file, 1, &from);
        enum wasi_errno second = find_path(c, dir, 4, &to);
        if (!r)
                r = second;

        if (!r)
                r = check_slash(&from);

        if (!r && to.must_be_dir) { /* a file cannot get the name of a directory */
                from.must_be_dir = true;
                r = check_slash(&from);
        }

        if (!r)
                r = wasi_result(renameat(from.dir, from.name, to.dir, to.name));

        wasi_path_done(&from);
        wasi_path_done(&to);
        return r;
}

/* A symlink is linked itself: to follow it is not supported. */
WASI_CALL(path_link)
{
        struct wasi_path from, to;
        const struct wasi_file *dir;
        enum wasi_errno r = second_dir(c, 4, WASI_RIGHT(PATH_LINK_TARGET), &dir);
        if (r)
                return r;

        if (wasi_u32(c, 1) & WASI_SYMLINK_FOLLOW)
                return WASI_INVAL;

        r = find_path(c, c->file, 2, &from);
        enum wasi_errno second = find_path(c, dir, 5, &to);
        if (!r)
                r = second;

        if (!r && (from.must_be_dir || to.must_be_dir))
                r = check_slash(&from) ? check_slash(&from) : WASI_NOENT;

        if (!r)
                r = wasi_result(linkat(from.dir, from.name, to.dir, to.name, 0));

        wasi_path_done(&from);
        wasi_path_done(&to);
        return r;
}

/* SPDX-License-Identifier: MIT */
/* base/store/store.c - finds, creates and checks the state directory. Never: follows a symlink below it, uses
 * a directory of another user. */
#include "base/store/store.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "//a/./b/" becomes "/a/b"; rejects "..", whose meaning depends on symlinks. */
static bool clean_path(char *path)
{
        char *to = path;
        const char *from = path;
        while (*from) {
                from += strspn(from, "/");
                size_t n = strcspn(from, "/");
                if (n == 2 && from[0] == '.' && from[1] == '.')
                        return false;
                if (n > 0 && !(n == 1 && from[0] == '.')) {
                        *to++ = '/';
                        memmove(to, from, n);
                        to += n;
                }
                from += n;
        }

        *to = '\0';
        return to > path;
}

/* A user who sets CORDON_STATE would not find data that was put elsewhere, so a relative one is refused.
 * XDG_STATE_HOME and HOME have other uses as well: relative ones are ignored, as their specification
 * requires. */
static int refuse_relative(const char *own, struct err *e)
{
        (void) err_set(e, ERR_HOST, 0, "CORDON_STATE is %s, which is not an absolute path", own);
        return err_hint(e, "let it begin with /, or unset it");
}

static const char *own_variable(const struct cordon_context *cx)
{
        const char *own = context_get(cx, "CORDON_STATE");
        return own && own[0] ? own : NULL;
}

int store_path(const struct cordon_context *cx, char ret_path[STORE_PATH_MAX], struct err *e)
{
        const char *own = own_variable(cx);
        const char *xdg = context_path(cx, "XDG_STATE_HOME");
        const char *home = context_path(cx, "HOME");
        int n = -1;

        if (own && own[0] != '/')
                return refuse_relative(own, e);

        if (own)
                n = snprintf(ret_path, STORE_PATH_MAX, "%s", own);
        else if (geteuid() == 0)
                n = snprintf(ret_path, STORE_PATH_MAX, "/var/lib/cordon");
        else if (xdg)
                n = snprintf(ret_path, STORE_PATH_MAX, "%s/cordon", xdg);
        else if (home)
                n = snprintf(ret_path, STORE_PATH_MAX, "%s/.local/state/cordon", home);

        if (n > 0 && n < STORE_PATH_MAX && clean_path(ret_path))
                return 0;

        (void) err_set(e, ERR_HOST, 0, "no directory for cordon's state");
        return err_hint(e, "set HOME, XDG_STATE_HOME or CORDON_STATE to an absolute path without ..");
}

int store_variable(const struct cordon_context *cx, struct err *e)
{
        char path[STORE_PATH_MAX];
        return own_variable(cx) ? store_path(cx, path, e) : 0;
}

static int refuse_store(const char *name, int sys, struct err *e)
{
        (void) err_set(e, ERR_IO, sys, "the state directory %s cannot be used: %s", name, strerror(sys));
        if (sys == ENOSPC || sys == EDQUOT || sys == EROFS)
                return err_hint(e, "make room on its disk, or make it writable; CORDON_STATE names another");
        return err_hint(
                e, "it must belong to you and be closed to others (chmod 700); CORDON_STATE names another");
}

static int checked_store(int fd, const char *name, struct err *e)
{
        AUTO_FD(dir, fd);
        struct stat st;
        if (dir < 0 || fstat(dir, &st) < 0)
                return refuse_store(name, errno, e);

        if (st.st_uid != geteuid() || st.st_mode & 077)
                return refuse_store(name, EPERM, e);

        return TAKE_FD(dir);
}

int store_dir(int parent, const char *name, struct err *e)
{
        if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
                return refuse_store(name, errno, e);
        return checked_store(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), name, e);
}

int store_open(const struct cordon_context *cx, struct err *e)
{
        char path[STORE_PATH_MAX];
        if (store_path(cx, path, e) < 0)
                return -1;

        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
                if (fd_make_parents(AT_FDCWD, path) < 0 || (mkdir(path, 0700) < 0 && errno != EEXIST))
                        return refuse_store(path, errno, e);
                fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        }

        return checked_store(fd, path, e);
}

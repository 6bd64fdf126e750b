/* SPDX-License-Identifier: MIT */
/* base/host/program.c - finds the cordon programs that a run may need (the egress broker, the ledger's
 * sealer). They are separate because they link libraries that the start path must not. */
#include "base/fd.h"
#include "base/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if __has_include("base/host/libexec.h")
#include "base/host/libexec.h" /* set by the build, from the prefix */
#else
#define CORDON_LIBEXEC "/usr/local/libexec/cordon"
#endif

/* True for a program that no other account can change than root, the caller, and the owner of this program:
 * in a user namespace without root, that is nobody for all of root's. */
static bool is_ours(const char *path)
{
        struct stat st, own;
        if (stat(path, &st) < 0 || stat("/proc/self/exe", &own) < 0)
                return false;

        bool owned = st.st_uid == 0 || st.st_uid == geteuid() || st.st_uid == own.st_uid;
        return owned && S_ISREG(st.st_mode) && !(st.st_mode & 022) && access(path, X_OK) == 0;
}

/* `foreign`: the first that exists but fails is_ours(). */
static bool found_program(const char *dir, const char *below, const char *name, char *ret, size_t cap,
                          char foreign[PATH_MAX])
{
        int n = snprintf(ret, cap, "%s%s/%s", dir, below, name);
        if (n <= 0 || (size_t) n >= cap)
                return false;

        if (is_ours(ret))
                return true;

        if (!foreign[0] && access(ret, F_OK) == 0)
                (void) snprintf(foreign, PATH_MAX, "%s", ret);

        return false;
}

int host_program(const struct cordon_context *cx, const char *name, char *ret_path, size_t cap, struct err *e)
{
        char here[PATH_MAX], foreign[PATH_MAX] = "";
        const char *named = context_get(cx, "CORDON_LIBEXEC");
        if (named && found_program(named, "", name, ret_path, cap, foreign))
                return 0;

        ssize_t n = named ? -1 : readlink("/proc/self/exe", here, sizeof here - 1);
        if (n > 0) {
                here[n] = '\0';
                *strrchr(here, '/') = '\0';
                if (found_program(here, "/../libexec/cordon", name, ret_path, cap, foreign))
                        return 0;
        }

        if (!named && found_program(CORDON_LIBEXEC, "", name, ret_path, cap, foreign))
                return 0;

        if (foreign[0]) {
                (void) err_set(e, ERR_HOST, EPERM,
                               "%s belongs neither to root nor to you, or others can change it", foreign);
                return err_hint(e, "let CORDON_LIBEXEC name a directory with a copy of yours");
        }

        (void) err_set(e, ERR_HOST, ENOENT, "the program %s is not installed", name);
        return err_hint(e, "`make install` puts it into %s; CORDON_LIBEXEC names another directory",
                        CORDON_LIBEXEC);
}

bool host_self(char *ret, size_t cap)
{
        const char *started_by = program_invocation_name;
        ssize_t n = readlink("/proc/self/exe", ret, cap - 1);
        if (n <= 0 || (size_t) n >= cap - 1)
                return false;

        ret[n] = '\0';
        bool other = strncmp(strrchr(ret, '/'), "/cordon-", 8) == 0;
        if (other && started_by[0] == '/' && strlen(started_by) < cap)
                memcpy(ret, started_by, strlen(started_by) + 1);
        return true;
}

/* Its note is in the first page of the file. Between two steps of an installation it may be another's. */
static bool is_of_our_version(const char *path)
{
        char page[4096];
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC));
        ssize_t n = fd < 0 ? -1 : pread(fd, page, sizeof page, 0);
        return n > 0 && memmem(page, (size_t) n, host_is_own_init, strlen(host_is_own_init) + 1);
}

/* The small program starts faster than one that is its own init: it has a twentieth of the relocations. */
int host_init_program(const struct cordon_context *cx, char *ret_path, size_t cap, struct err *e)
{
        struct err ignored = { 0 };
        int r = host_program(cx, HOST_INIT_PROGRAM, ret_path, cap, host_is_own_init ? &ignored : e);
        if (!host_is_own_init || (r == 0 && is_of_our_version(ret_path)))
                return r;

        (void) snprintf(ret_path, cap, "/proc/self/exe");
        return 0;
}

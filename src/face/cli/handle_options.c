/* SPDX-License-Identifier: MIT */
/* face/cli/handle_options.c - the files of handles. An `in` file is only read. An `out` file is written with
 * O_TMPFILE and linked at the end, so that a run that fails or is killed leaves the old file unchanged and
 * no partial new one. */
#include "face/cli/handle_options.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_handles_add(struct cli_handles *h, const char *value)
{
        const char *eq = strchr(value, '=');
        size_t n = eq ? (size_t) (eq - value) : 0;
        if (n == 0 || n >= sizeof h->at[0].name || !eq[1] || h->count == CLI_HANDLES_MAX)
                return cli_usage("--handle takes NAME=FILE"), -1;

        if (strcmp(eq + 1, "-") == 0) {
                (void) cli_problem("--handle %s would be a file called -", value);
                return cli_hint(
                               "standard input is called /dev/stdin, standard output /dev/stdout, and such a "
                               "file ./-"),
                       -1;
        }

        memcpy(h->at[h->count].name, value, n);
        h->at[h->count].path = eq + 1;
        h->at[h->count].dir = -1;
        h->at[h->count++].fd = -1;
        return 0;
}

static const char *last_of(const char *path)
{
        const char *slash = strrchr(path, '/');
        return slash ? slash + 1 : path;
}

/* SAFETY: resolved once, before the box starts. It may be behind a `write` door: by name, the box could
 * redirect it until the file is linked (TOCTOU). */
static int open_directory_of(const char *path)
{
        char dir[4096] = ".";
        size_t n = (size_t) (last_of(path) - path);
        if (n >= sizeof dir) {
                errno = ENAMETOOLONG;
                return -1;
        }

        if (n > 0) {
                memcpy(dir, path, n);
                dir[n] = '\0';
        }

        return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* As for a door below the workspace (lint W131): any process that can write there chose its target. `fd`:
 * its directory, or itself. */
static void tell_where_it_leads(const char *path, int fd)
{
        char work[4096], whole[4096], real[4096], shown[1024];
        if (fd_path(fd, real, sizeof real) < 0 || !getcwd(work, sizeof work) ||
            !path_join(work, path, whole, sizeof whole))
                return;

        if (path_under(whole, work) && !path_under(real, work))
                cli_note("note: %s leads out of the workspace by a link, to %s", path,
                         str_inert(span_str(real), shown, sizeof shown));
}

/* A user without read permission on the old file must not read the new one. Never wider: a box may have
 * set the mode. */
static void narrow(int fd, const struct stat *old)
{
        struct stat st;
        if (S_ISREG(old->st_mode) && fstat(fd, &st) == 0)
                (void) !fchmod(fd, st.st_mode & 0777 & (old->st_mode | S_IRUSR | S_IWUSR));
}

/* A device is written directly, and so is the target of a magic link (/proc/self/fd): its name cannot be
 * replaced, and earlier output to that file stays. An existing file is replaced only at the end, and so is
 * a symlink: an earlier box may have put it there to redirect the output of a later one to a disk or a
 * file of the host. */
static int open_out(struct cli_handles *h, unsigned i)
{
        struct stat st = { .st_mode = 0 };
        const char *path = h->at[i].path;
        if (path_is_kernels(path))
                return fd_open_named(AT_FDCWD, path, O_WRONLY | O_APPEND);

        if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
                return fd_open_named(AT_FDCWD, path, O_WRONLY | O_NOFOLLOW);

        int dir = h->at[i].dir = open_directory_of(path);
        if (dir >= 0 && !h->quiet)
                tell_where_it_leads(path, dir);

        int fd = dir < 0 ? -1 : openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
        h->at[i].unnamed = fd >= 0;
        if (fd >= 0)
                narrow(fd, &st);

        if (dir >= 0 && fd < 0 &&
            (errno == EOPNOTSUPP || errno == EISDIR)) /* a filesystem without O_TMPFILE */
                fd = fd_open_named(dir, last_of(path), O_WRONLY | O_CREAT | O_NOFOLLOW);

        return fd;
}

/* A symlink is also not followed for reading: an earlier box could show the next one a file that no door
 * opens. */
static int open_in(const struct cli_handles *h, const char *path)
{
        if (path_is_kernels(path))
                return fd_open_named(AT_FDCWD, path, O_RDONLY);
        int fd = fd_open_named(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW);
        if (fd >= 0 && !h->quiet)
                tell_where_it_leads(path, fd);
        return fd;
}

/* Its whole path: the target of a symlink is relative to the symlink's directory. */
static void hint_of_link(const char *path, cordon_error *e)
{
        char target[PATH_MAX], shown[200];
        if (realpath(path, target))
                (void) snprintf(e->hint, sizeof e->hint, "if you mean what it leads to, name that: %.150s",
                                str_inert(span_str(target), shown, sizeof shown));
        else
                (void) snprintf(e->hint, sizeof e->hint, "its target does not exist");
}

/* The reason, and a hint. */
static int not_opened(const char *name, const char *path, bool in, cordon_error *e)
{
        char shown[200];
        struct stat st;
        int sys = errno;

        (void) str_inert(span_str(path), shown, sizeof shown);
        if (in && sys == ELOOP && lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
                (void) cli_fail(e, ERR_DOOR, sys,
                                "--handle %s=%s: it is a symbolic link, and a box may have made it", name,
                                shown);
                hint_of_link(path, e);
                return -1;
        }

        (void) cli_fail(e, ERR_DOOR, sys == FD_PIPE_REFUSED ? 0 : sys, "--handle %s=%s: %s", name, shown,
                        cli_not_opened(sys));
        if (sys == FD_PIPE_REFUSED)
                (void) snprintf(e->hint, sizeof e->hint,
                                "if it is yours, open it yourself: --handle %s=/dev/fd/9 9%c%.100s", name,
                                in ? '<' : '>', shown);
        else if (sys == ENOENT)
                (void) snprintf(e->hint, sizeof e->hint, "%s",
                                in ? "an `in` handle is a file that is there"
                                   : "the directory of an `out` handle must be there");

        return -1;
}

int cli_handles_open(struct cli_handles *h, cordon_policy *p, cordon_box *b, cordon_error *e)
{
        for (unsigned i = 0; i < h->count; i++) {
                const char *name = h->at[i].name, *path = h->at[i].path;
                int way = cordon_policy_handle(p, name, e);
                if (way == 0) {
                        (void) cli_fail(e, ERR_USAGE, 0, "the policy has no handle %s", name);
                        (void) snprintf(e->hint, sizeof e->hint, "add --in %s or --out %s", name, name);
                }
                if (way <= 0)
                        return -1;
                h->at[i].fd = way == 1 ? open_in(h, path) : open_out(h, i);
                if (h->at[i].fd < 0)
                        return not_opened(name, path, way == 1, e);
                if (cordon_box_handle(b, name, h->at[i].fd) < 0)
                        return cli_fail(e, ERR_USAGE, 0, "more than %d handles", CLI_HANDLES_MAX);
        }

        return 0;
}

/* linkat() does not replace, so an existing name is replaced by rename() from a name beside it. */
static int name_file(int fd, int dir, const char *name)
{
        char beside[4200];
        if (fd_link(fd, dir, name) == 0)
                return 0;

        if (errno != EEXIST)
                return -1;

        (void) snprintf(beside, sizeof beside, "%s.cordon-%d", name, (int) getpid());
        if (fd_link(fd, dir, beside) < 0)
                return -1;

        if (renameat(dir, beside, dir, name) == 0)
                return 0;

        int sys = errno;
        (void) unlinkat(dir, beside, 0);
        errno = sys;
        return -1;
}

/* The box may have moved the directory: then the file is in it, and not at the path that the user expects. */
static bool is_there(int fd, const char *path)
{
        struct stat own, named;
        return fstat(fd, &own) == 0 && stat(path, &named) == 0 && own.st_dev == named.st_dev &&
               own.st_ino == named.st_ino;
}

/* Without O_TMPFILE the old file was overwritten: it may have been longer. */
static int cut_rest(int fd)
{
        off_t n = lseek(fd, 0, SEEK_CUR);
        return n < 0 ? -1 : ftruncate(fd, n);
}

/* Returns NULL, or the error. */
static const char *publish_one(struct cli_handles *h, unsigned i)
{
        bool over = !h->at[i].unnamed && h->at[i].dir >= 0;
        if (over && cut_rest(h->at[i].fd) < 0)
                return strerror(errno);

        if (!h->at[i].unnamed)
                return NULL;

        cordon_error e = { 0 };
        if (name_file(h->at[i].fd, h->at[i].dir, last_of(h->at[i].path)) < 0)
                return strerror(errno);

        if (!is_there(h->at[i].fd, h->at[i].path))
                return "its directory was moved while the box ran";

        return cordon_label_stamp(cli_context(), h->at[i].path, NULL, &e) < 0 ? "its label cannot be kept"
                                                                              : NULL;
}

int cli_handles_publish(struct cli_handles *h, cordon_error *e)
{
        for (unsigned i = 0; i < h->count; i++) {
                errno = 0;
                const char *wrong = publish_one(h, i);
                char shown[200];
                if (wrong)
                        return cli_fail(e, ERR_IO, errno, "the handle %s was not written to %s: %s",
                                        h->at[i].name,
                                        str_inert(span_str(h->at[i].path), shown, sizeof shown), wrong);
        }

        return 0;
}

int cli_out_file(const char *path, const char *text, size_t len)
{
        struct cli_handles h = { .count = 1 };
        h.at[0].path = path;
        h.at[0].dir = -1;
        AUTO_FD(fd, open_out(&h, 0));
        AUTO_FD(dir, h.at[0].dir);
        h.at[0].fd = fd;
        const char *wrong =
                fd < 0 || fd_write_all(fd, text, len) < 0 ? cli_not_opened(errno) : publish_one(&h, 0);
        return wrong ? (void) cli_usage("%s: %s", path, wrong), -1 : 0;
}

/* SPDX-License-Identifier: MIT */
/* cli/handles.c - an `in` file is only read. An `out` file is written without a name (O_TMPFILE) and named at
 * the end, so that a run that fails, or is killed, leaves the old file as it was and no half of a new one. */
#include "cli/handles.h"
#include "base/fd.h"
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_handles_add(struct cli_handles *h, const char *value)
{
        const char *eq = strchr(value, '=');
        size_t n = eq ? (size_t) (eq - value) : 0;
        if (n == 0 || n >= sizeof h->at[0].name || !eq[1] || h->count == CLI_HANDLES_MAX)
                return cli_usage("--handle takes NAME=FILE"), -1;
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

/* SAFETY: looked up once, before the box starts. It may lie behind a `write` door: by its name, the box could
 * have it lead elsewhere until the file gets its own. */
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

/* Where no box can have put a link: /dev/stdout and its like are links. Doors may lie in /dev/shm. */
static bool is_kernels(const char *path)
{
        return (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0) ||
               strncmp(path, "/proc/", 6) == 0;
}

/* A device, pipe or socket is written as it is, and so is whatever a link of the kernel's leads to: its name
 * is nobody's to take, and what was said to a file of that name before stays. A file that is there is
 * replaced only at the end, and so is a link: an earlier box may have put it there, to have what a later one
 * writes land on a disk or in a file of the host. */
static int open_out(struct cli_handles *h, unsigned i)
{
        struct stat st;
        const char *path = h->at[i].path;
        if (is_kernels(path))
                return open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
        if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
                return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
        int dir = h->at[i].dir = open_directory_of(path);
        int fd = dir < 0 ? -1 : openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
        h->at[i].unnamed = fd >= 0;
        if (dir >= 0 && fd < 0 &&
            (errno == EOPNOTSUPP || errno == EISDIR)) /* a filesystem without nameless files */
                fd = openat(dir, last_of(path), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0666);
        return fd;
}

/* Nor is a link to read followed: an earlier box could show the next one what no door does. */
static int open_in(const char *path)
{
        return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_kernels(path) ? 0 : O_NOFOLLOW));
}

static int not_opened(const char *path)
{
        char target[4096];
        int sys = errno;
        ssize_t n = sys == ELOOP ? readlink(path, target, sizeof target - 1) : -1;
        if (n <= 0)
                return cli_usage("--handle %s: %s", path, strerror(sys)), -1;
        target[n] = '\0';
        (void) cli_problem("--handle %s: it is a symbolic link, and a box may have made it", path);
        (void) cli_hint("if you mean what it leads to, name that: %s", target);
        return -1;
}

int cli_handles_open(struct cli_handles *h, cordon_policy *p, cordon_box *b)
{
        for (unsigned i = 0; i < h->count; i++) {
                cordon_error e = { 0 };
                int way = cordon_policy_handle(p, h->at[i].name, &e);
                if (way < 0)
                        return cli_error(&e), -1;
                if (way == 0) {
                        (void) cli_problem("the policy has no handle %s", h->at[i].name);
                        (void) cli_hint("add --in %s or --out %s", h->at[i].name, h->at[i].name);
                        return -1;
                }
                h->at[i].fd = way == 1 ? open_in(h->at[i].path) : open_out(h, i);
                if (h->at[i].fd < 0)
                        return not_opened(h->at[i].path);
                if (cordon_box_handle(b, h->at[i].name, h->at[i].fd) < 0)
                        return cli_usage("more than %d handles", CLI_HANDLES_MAX), -1;
        }
        return 0;
}

/* linkat() replaces nothing, so a name that is taken is taken over by rename from one beside it. */
static int name_file(int fd, int dir, const char *name)
{
        char self[48], beside[4200];
        (void) snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
        if (linkat(AT_FDCWD, self, dir, name, AT_SYMLINK_FOLLOW) == 0)
                return 0;
        if (errno != EEXIST)
                return -1;
        (void) snprintf(beside, sizeof beside, "%s.cordon-%d", name, (int) getpid());
        if (linkat(AT_FDCWD, self, dir, beside, AT_SYMLINK_FOLLOW) < 0)
                return -1;
        if (renameat(dir, beside, dir, name) == 0)
                return 0;
        int sys = errno;
        (void) unlinkat(dir, beside, 0);
        errno = sys;
        return -1;
}

/* The box may have moved the directory: then the file is in it, and not where somebody will look for it. */
static bool is_there(int fd, const char *path)
{
        struct stat own, named;
        return fstat(fd, &own) == 0 && stat(path, &named) == 0 && own.st_dev == named.st_dev &&
               own.st_ino == named.st_ino;
}

/* Where files must have names, the old one was written over: it may have been longer. */
static int cut_rest(int fd)
{
        off_t n = lseek(fd, 0, SEEK_CUR);
        return n < 0 ? -1 : ftruncate(fd, n);
}

int cli_handles_publish(struct cli_handles *h)
{
        for (unsigned i = 0; i < h->count; i++) {
                const char *path = h->at[i].path;
                if (!h->at[i].unnamed && h->at[i].dir >= 0 && cut_rest(h->at[i].fd) < 0)
                        return cli_usage("%s: %s", path, strerror(errno)), -1;
                if (!h->at[i].unnamed)
                        continue;
                if (name_file(h->at[i].fd, h->at[i].dir, last_of(path)) < 0)
                        return cli_usage("%s: %s", path, strerror(errno)), -1;
                if (!is_there(h->at[i].fd, path))
                        return cli_usage("%s: its directory was moved while the box ran", path), -1;
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
        if (fd < 0 || fd_write_all(fd, text, len) < 0)
                return cli_usage("%s: %s", path, strerror(errno)), -1;
        return cli_handles_publish(&h);
}

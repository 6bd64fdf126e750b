/* SPDX-License-Identifier: MIT */
/* face/cli/agent_look.c - reads and writes parts of an agent's state, which a hostile run may have left in
 * any form. Never: follows a symlink, opens anything but files and directories. */
#include "face/cli/agent_look.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 32, FILE_MOST = 8 << 20, ENTRIES_MOST = 200000 };

struct look {
        const struct cli_part *parts;
        struct cli_items *out;
        int home;
        unsigned entries;
};

/* An entry of our own, whatever mode a box gave it. Returns -1 with errno. */
static int open_own(int dir, const char *name, mode_t type, int flags)
{
        char self[64];
        struct stat st;
        AUTO_FD(at, openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (at < 0 || fstat(at, &st) < 0)
                return -1;

        mode_t needed = type == S_IFDIR ? 0700 : 0600;
        if ((st.st_mode & S_IFMT) != type) {
                errno = ENOTDIR;
                return -1;
        }

        (void) snprintf(self, sizeof self, "/proc/self/fd/%d", at);
        if ((st.st_mode & needed) != needed)
                (void) chmod(self, (st.st_mode & 07777) | needed);
        return open(self, flags | O_CLOEXEC | O_NONBLOCK);
}

/* ---- removing ---- */

static void remove_below(int dir, const char *name, unsigned depth)
{
        if (unlinkat(dir, name, 0) == 0 || depth > 4 * DEEPEST)
                return;

        int fd = open_own(dir, name, S_IFDIR, O_RDONLY | O_DIRECTORY);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        for (struct dirent *x; d && (x = readdir(d));)
                if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0)
                        remove_below(dirfd(d), x->d_name, depth + 1);
        if (d)
                (void) closedir(d);
        (void) unlinkat(dir, name, AT_REMOVEDIR);
}

/* It first leaves the state at once, whatever its size and modes. */
static int remove_entry(int home, int dir, const char *name)
{
        static unsigned count;
        char gone[64];
        if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
                return 0;

        (void) snprintf(gone, sizeof gone, ".gone.%d.%u", (int) getpid(), count++);
        if (renameat(dir, name, home, gone) < 0)
                return -1;

        remove_below(home, gone, 0);
        return 0;
}

/* ---- reading ---- */

static void take_file(struct look *l, const struct cli_part *p, bool itself, int fd, const char *path)
{
        struct stat st;
        AUTO_BUF(value);
        AUTO_BUF(text);
        if (fstat(fd, &st) < 0 || cli_read(fd, FILE_MOST, &text) < 0) {
                l->out->failed = true;
                return;
        }

        bool members = itself && (p->kind == PART_MEMBERS || p->kind == PART_ALL_BUT) && st.st_nlink == 1;
        if (!members || !cli_members_add(p, path, buf_span(&text), l->out)) {
                cli_file_put(buf_span(&text), (struct cli_file){ (st.st_mode & 0111) != 0, st.st_nlink > 1 },
                             &value);
                cli_items_set(l->out, path, buf_str(&value));
        }

        l->out->failed |= value.failed;
}

static void take(struct look *l, const struct cli_part *p, bool itself, int dir, const char *name,
                 const char *path, const struct stat *st)
{
        AUTO_BUF(value);
        char target[PATH_MAX];
        AUTO_FD(fd, S_ISREG(st->st_mode) ? open_own(dir, name, S_IFREG, O_RDONLY) : -1);
        ssize_t n = S_ISLNK(st->st_mode) ? readlinkat(dir, name, target, sizeof target) : -1;
        if (fd >= 0) {
                take_file(l, p, itself, fd, path);
                return;
        }

        if (n > 0 && (size_t) n < sizeof target && str_is_utf8(span_of(target, (size_t) n))) {
                buf_puts(&value, "{\"link\":");
                buf_json(&value, span_of(target, (size_t) n));
                buf_putc(&value, '}');
        } else {
                buf_puts(&value, "{\"other\":true}");
        }

        cli_items_set(l->out, path, buf_str(&value));
}

static bool names_code(const char *name)
{
        static const char *const ends[] = { ".sh", ".py", ".js",   ".mjs", ".cjs",
                                            ".ts", ".so", ".node", ".wasm" };
        size_t n = strlen(name);
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
                size_t k = strlen(ends[i]);
                if (n > k && strcmp(name + n - k, ends[i]) == 0)
                        return true;
        }

        return false;
}

static bool is_held(const struct look *l, const struct cli_part *p, bool itself, const char *path,
                    const struct stat *st)
{
        if (!p) /* where a directory above a part should be */
                return cli_part_is_below(l->parts, path);
        if (p->kind == PART_KEPT)
                return itself && cli_part_is_below(l->parts, path);
        if (p->kind == PART_CODE)
                return names_code(path) || (S_ISREG(st->st_mode) && st->st_mode & 0111);
        return true;
}

static void look_below(struct look *l, int fd, const char *path, unsigned depth);

static void look_at(struct look *l, int dir, const char *name, const char *path, unsigned depth)
{
        struct stat st;
        bool itself = false;
        const struct cli_part *p = cli_part_of(l->parts, path, &itself);
        if (l->entries++ > ENTRIES_MOST || depth > DEEPEST) {
                l->out->failed = true;
                return;
        }

        bool kept = p && p->kind == PART_KEPT && !cli_part_is_below(l->parts, path);
        if (kept || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return;

        if (p && p->kind == PART_DROPPED)
                l->out->failed |= remove_entry(l->home, dir, name) < 0;
        else if (S_ISDIR(st.st_mode))
                look_below(l, open_own(dir, name, S_IFDIR, O_RDONLY | O_DIRECTORY), path, depth);
        else if (is_held(l, p, itself, path, &st))
                take(l, p, itself, dir, name, path, &st);
}

static void look_below(struct look *l, int fd, const char *path, unsigned depth)
{
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d) /* what cannot be seen is not accepted */
                l->out->failed = true;

        for (struct dirent *x; d && !l->out->failed && (x = readdir(d));) {
                AUTO_BUF(inner);
                if (strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0)
                        continue;
                buf_printf(&inner, "%s/%s", path, x->d_name);
                if (inner.failed || inner.n >= PATH_MAX)
                        l->out->failed = true;
                else
                        look_at(l, dirfd(d), x->d_name, buf_str(&inner), depth + 1);
        }

        if (d)
                (void) closedir(d);
}

/* The directory that holds the last component; -1 with errno. */
static int open_parent(int home, const char *path, bool make, const char **ret_last)
{
        char name[NAME_MAX + 1];
        int dir = dup(home);
        for (size_t n; dir >= 0 && path[n = strcspn(path, "/")]; path += n + 1) {
                (void) snprintf(name, sizeof name, "%.*s", (int) n, path);
                if (make)
                        (void) mkdirat(dir, name, 0700);
                int next = open_own(dir, name, S_IFDIR, O_RDONLY | O_DIRECTORY);
                int sys = errno;
                (void) close(dir);
                errno = sys;
                dir = next;
        }

        *ret_last = path;
        return dir;
}

void cli_look(const struct cli_part *parts, const char *const *roots, int home, struct cli_items *ret)
{
        struct look l = { .parts = parts, .out = ret, .home = home };
        for (; *roots; roots++) {
                const char *last;
                AUTO_FD(parent, open_parent(home, *roots, false, &last));
                look_below(&l, parent < 0 ? -1 : open_own(parent, last, S_IFDIR, O_RDONLY | O_DIRECTORY),
                           *roots, 0);
        }
}

/* ---- writing ---- */

static int write_file(int dir, const char *name, struct span bytes, mode_t mode)
{
        static const char temporary[] = ".cordon.new";
        (void) unlinkat(dir, temporary, 0);
        AUTO_FD(fd, openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
        if (fd < 0 || fd_write_all(fd, bytes.p, bytes.n) < 0 || renameat(dir, temporary, dir, name) < 0)
                return -1;
        return 0;
}

int cli_put_back(int home, const char *path, const char *value)
{
        const char *last;
        struct cli_file is = { 0 };
        AUTO_BUF(bytes);
        AUTO_BUF(target);
        AUTO_FD(dir, open_parent(home, path, value != NULL, &last));
        if (dir < 0)
                return value ? -1 : 0; /* without a directory there is nothing to remove */

        if (remove_entry(home, dir, last) < 0)
                return -1;
        if (!value)
                return 0;
        if (cli_link_read(value, &target))
                return symlinkat(buf_str(&target), dir, last);
        if (cli_file_read(value, &is, &bytes) < 0)
                return -1;
        return write_file(dir, last, buf_span(&bytes), is.run ? 0700 : 0600);
}

int cli_put_members(int home, const char *path, const struct cli_items *is, const struct cli_items *want)
{
        const char *last;
        AUTO_BUF(out);
        AUTO_FD(dir, open_parent(home, path, true, &last));
        if (dir < 0)
                return -1;

        AUTO_FD(fd, open_own(dir, last, S_IFREG, O_RDONLY));
        AUTO_BUF(text);
        bool read = fd >= 0 && cli_read(fd, FILE_MOST, &text) == 0 && text.n > 0;
        cli_members_merge(path, read ? buf_span(&text) : span_str("{}"), is, want, &out);
        if (out.failed || (fd < 0 && remove_entry(home, dir, last) < 0))
                return -1;
        return write_file(dir, last, buf_span(&out), 0600);
}

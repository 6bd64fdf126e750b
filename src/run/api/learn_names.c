/* SPDX-License-Identifier: MIT */
/* run/api/learn_names.c - finds another name of a file in the usual directories of keys and tokens. A symlink
 * that a project contains is followed by name; a hard link leads nowhere, and only its inode number
 * identifies it. Also finds keys and tokens in a directory that is to be opened. */
#include "base/arena.h"
#include "base/fd.h"
#include "base/str.h"
#include "policy/policy.h"
#include "run/api/teacher.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Below the home directory; "" is itself. */
static const char *const places[] = { "",       ".ssh",      ".gnupg",         ".aws",       ".azure",
                                      ".kube",  ".docker",   ".config/gcloud", ".config/gh", ".config/git",
                                      ".cargo", ".composer", ".password-store" };
enum { LOOKED_AT_MOST = 4096 };

static bool name_in(const char *dir, const struct stat *st, char *ret, size_t cap)
{
        DIR *d = opendir(dir);
        bool found = false;
        unsigned left = LOOKED_AT_MOST;
        for (const struct dirent *x; d && !found && left-- > 0 && (x = readdir(d));) {
                struct stat other;
                found = x->d_ino == st->st_ino &&
                        fstatat(dirfd(d), x->d_name, &other, AT_SYMLINK_NOFOLLOW) == 0 &&
                        other.st_dev == st->st_dev && other.st_ino == st->st_ino &&
                        snprintf(ret, cap, "%s/%s", dir, x->d_name) < (int) cap;
        }

        if (d)
                (void) closedir(d);

        return found;
}

bool teacher_other_name(const char *home, const char *path, char *ret, size_t cap)
{
        struct stat st;
        char dir[PATH_MAX];
        if (!home || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink < 2)
                return false;

        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
                if (snprintf(dir, sizeof dir, "%s%s%s", home, places[i][0] ? "/" : "", places[i]) <
                            (int) sizeof dir &&
                    name_in(dir, &st, ret, cap) && policy_secret_reason(ret))
                        return true;

        return false;
}

/* ---- files below ---- */

/* How private keys begin, whatever their file is called. */
static const struct {
        const char *begin, *has;
} heads[] = { { "-----BEGIN ", "PRIVATE KEY" },
              { "PuTTY-User-Key-File-", "" },
              { "untrusted comment: ", "secret key" },
              { "", "AGE-SECRET-KEY-" } };

static bool begins_as_key(int dir, const char *name)
{
        char text[256];
        AUTO_FD(fd, openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return false;

        ssize_t n = read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
                if (strncmp(text, heads[i].begin, strlen(heads[i].begin)) == 0 && strstr(text, heads[i].has))
                        return true;

        return false;
}

bool teacher_holds_key(void *ctx, const char *path)
{
        (void) ctx;
        return begins_as_key(AT_FDCWD, path);
}

bool teacher_agreed(void *ctx, const char *path)
{
        const struct teacher *t = ctx;
        for (const char *const *p = t->o->read; p && *p; p++)
                if (path_under(path, *p))
                        return true;
        return false;
}

enum { NAMES_MOST = 32768, READ_MOST = 2048, DEPTH_MOST = 32, FOUND_MOST = 1024 };

struct search {
        struct arena mem;
        char path[PATH_MAX];
        size_t top;             /* the start of its relative part */
        unsigned left, to_read; /* names; files whose beginning is read */
        const char *found[FOUND_MOST];
        size_t count;
};

static void search_in(struct search *s, int dir, size_t n, unsigned depth);

/* Links are not followed: behind a door they lead nowhere. Of git's own files there are many, and none has
 * such a name. */
static void search_entry(struct search *s, int dir, const struct dirent *x, size_t n, unsigned depth)
{
        size_t len = strlen(x->d_name);
        if (n + 1 + len >= sizeof s->path)
                return;

        s->path[n] = '/';
        memcpy(s->path + n + 1, x->d_name, len + 1);
        bool read = x->d_type == DT_REG && s->to_read > 0;
        s->to_read -= read;
        bool secret = policy_secret_reason(s->path) || (read && begins_as_key(dir, x->d_name));
        const char *kept = secret ? arena_str(&s->mem, s->path + s->top) : NULL;
        if (kept && s->count < FOUND_MOST)
                s->found[s->count++] = kept;

        if (kept || depth == DEPTH_MOST || (x->d_type != DT_DIR && x->d_type != DT_UNKNOWN) ||
            strcmp(x->d_name, ".git") == 0)
                return;

        AUTO_FD(below, openat(dir, x->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (below >= 0)
                search_in(s, below, n + 1 + len, depth + 1);
}

static void search_in(struct search *s, int dir, size_t n, unsigned depth)
{
        int own = fcntl(dir, F_DUPFD_CLOEXEC, 0);
        DIR *d = own < 0 ? NULL : fdopendir(own);
        if (!d) {
                fd_close(&own);
                return;
        }

        for (const struct dirent *x; s->left > 0 && (x = readdir(d));) {
                if (strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0)
                        continue;
                s->left--;
                search_entry(s, dirfd(d), x, n, depth);
        }

        (void) closedir(d);
}

static int by_name(const void *a, const void *b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

bool teacher_secrets(void *ctx, const char *dir, void (*each)(void *to, const char *below), void *to)
{
        struct search *s = calloc(1, sizeof *s);
        size_t n = strlen(dir);
        (void) ctx;
        AUTO_FD(top, open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (s && top >= 0 && n < sizeof s->path) {
                memcpy(s->path, dir, n + 1);
                s->top = n + 1;
                s->left = NAMES_MOST;
                s->to_read = READ_MOST;
                search_in(s, top, n, 0);
                if (s->count > 1)
                        qsort(s->found, s->count, sizeof *s->found, by_name);
                for (size_t i = 0; i < s->count; i++)
                        each(to, s->found[i]);
        }

        bool whole = s && !s->mem.failed;
        if (s)
                arena_done(&s->mem);

        free(s);
        return whole;
}

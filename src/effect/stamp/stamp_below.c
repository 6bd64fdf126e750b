/* SPDX-License-Identifier: MIT */
/* effect/stamp/stamp_below.c - labels of files that came below a directory on the host: copies that kept
 * their attribute, and what was moved there with a directory above it. Where no file has a label none is
 * looked for. */
#include "effect/stamp/stamp_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, INODE_BITS = 1 << 14, ATTRIBUTES_MAX = 1000 };

struct below {
        const struct stamp_index *x;
        struct label label;
        unsigned left, seen, depth;
        dev_t dev; /* mounts below it are not entered */
        char path[PATH_MAX];
        uint64_t inodes[INODE_BITS / 64]; /* those that the index may have */
};

static bool may_be_indexed(const struct below *b, uint64_t ino)
{
        return b->inodes[ino % INODE_BITS / 64] >> ino % 64 & 1;
}

static void look_at(struct below *b, const struct dirent *d)
{
        struct label l = { 0 };
        if (may_be_indexed(b, d->d_ino))
                l = stamp_own(b->x, b->path);
        else if (b->seen++ < ATTRIBUTES_MAX) /* a call for each, and a start does not wait for many */
                l = stamp_attribute(b->path);
        label_join(&b->label, &l);
}

static void look_below(struct below *b, size_t n);

static void look_at_entry(struct below *b, size_t n, const struct dirent *d)
{
        int k = snprintf(b->path + n, sizeof b->path - n, "/%s", d->d_name);
        if (k > 0 && (size_t) k < sizeof b->path - n) {
                look_at(b, d);
                if ((d->d_type == DT_DIR || d->d_type == DT_UNKNOWN) && b->depth < DEPTH_MAX)
                        look_below(b, n + (size_t) k);
        }
        b->path[n] = '\0';
}

static void look_below(struct below *b, size_t n)
{
        struct stat st;
        int fd = open(b->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        DIR *dir = fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == b->dev ? fdopendir(fd) : NULL;
        if (!dir) {
                if (fd >= 0)
                        (void) close(fd);
                return;
        }

        b->depth++;
        for (const struct dirent *d; b->left > 0 && (d = readdir(dir));) {
                if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
                        continue;
                b->left--;
                look_at_entry(b, n, d);
        }
        b->depth--;
        (void) closedir(dir);
}

struct label stamp_below(const struct stamp_index *x, const char *dir, unsigned *left)
{
        struct stat st;
        struct below b = { .x = x, .left = *left };
        size_t n = strlen(dir);
        if (x->n == 0 || n >= sizeof b.path || lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
                return b.label;

        for (size_t i = 0; i < x->n; i++)
                b.inodes[x->v[i].ino % INODE_BITS / 64] |= UINT64_C(1) << x->v[i].ino % 64;
        b.dev = st.st_dev;
        memcpy(b.path, dir, n + 1);
        look_below(&b, n == 1 ? 0 : n); /* "/" */
        *left = b.left;
        return b.label;
}

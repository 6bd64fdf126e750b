/* SPDX-License-Identifier: MIT */
/* files/image/image_store.c - the store of unpacked images: finds, locks, publishes and removes them. */
#include "base/dir.h"
#include "base/fd.h"
#include "base/store/store.h"
#include "base/vec.h"
#include "files/image/image.h"
#include "files/image/tree_remove.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

static bool is_key(const char *name) { return strspn(name, "0123456789abcdef") == 64 && name[64] == '\0'; }

int image_store_open(const struct cordon_context *cx, struct image_store *ret, struct err *e)
{
        char state[STORE_PATH_MAX];
        *ret = IMAGE_STORE_NONE;
        AUTO_FD(parent, store_path(cx, state, e) < 0 ? -1 : store_open(cx, e));
        if (parent < 0)
                return -1;

        (void) snprintf(ret->path, sizeof ret->path, "%s/images", state);
        ret->dir = store_dir(parent, "images", e);
        return ret->dir < 0 ? -1 : 0;
}

void image_store_done(struct image_store *s) { fd_close(&s->dir); }

/* Others hold it for an instant only, unless they use the image as well. */
static bool take_lock(int fd, int how)
{
        int r;
        while ((r = flock(fd, how)) < 0 && errno == EINTR)
                ;
        return r == 0;
}

int image_store_lock(const struct image_store *s, struct err *e)
{
        AUTO_FD(fd, openat(s->dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || !take_lock(fd, LOCK_EX) || tree_remove(s->dir, "new") < 0)
                return err_set(e, ERR_IO, errno, "locking the store of images: %s", strerror(errno));

        return TAKE_FD(fd);
}

void image_store_clear(const struct image_store *s) { (void) tree_remove(s->dir, "new"); }

int image_meta_open(const struct image_store *s, const char key[65])
{
        AUTO_FD(dir, openat(s->dir, key, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        return dir < 0 ? -1 : openat(dir, "meta.json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

/* A file that is still the one of its name: the image may have been removed before we got the lock. */
static bool is_current(const struct image_store *s, const char key[65], int fd)
{
        struct stat mine, now;
        AUTO_FD(again, image_meta_open(s, key));
        return again >= 0 && fstat(fd, &mine) == 0 && fstat(again, &now) == 0 && mine.st_ino == now.st_ino &&
               mine.st_dev == now.st_dev;
}

int image_use(const struct image_store *s, const char key[65], struct image *ret, struct err *e)
{
        char dir[4096];
        AUTO_FD(fd, image_meta_open(s, key));
        if (fd < 0 || !take_lock(fd, LOCK_SH) || !is_current(s, key, fd))
                return 0;

        (void) snprintf(dir, sizeof dir, "%s/%s/root", s->path, key);
        if (image_look(dir, ret, e) < 0)
                return -1;

        if (image_meta_read(fd, ret, e) < 0) {
                image_done(ret);
                return -1;
        }

        (void) snprintf(ret->key, sizeof ret->key, "%s", key);
        ret->use = TAKE_FD(fd);
        return 1;
}

bool image_is_locked(int meta)
{
        if (flock(meta, LOCK_EX | LOCK_NB) < 0)
                return errno == EWOULDBLOCK;

        (void) flock(meta, LOCK_UN);
        return false;
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

char (*image_keys(const struct image_store *s, size_t *ret_count))[65]
{
        char(*v)[65] = NULL;
        size_t n = 0, cap = 0;
        DIR_LIST(list, 8192);
        AUTO_FD(dir, openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        while (dir >= 0 && dir_more(&list, dir) > 0)
                for (const struct dir_entry *d; (d = dir_next(&list));) {
                        if (!is_key(d->name))
                                continue;
                        if (vec_room((void **) &v, n, &cap, sizeof *v) < 0)
                                break;
                        memcpy(v[n++], d->name, 65);
                }

        if (n > 0)
                qsort(v, n, sizeof *v, by_text);

        *ret_count = n;
        return v;
}

bool image_find(const struct image_store *s, const char *hex, char ret_key[65])
{
        size_t n, hits = 0, len = strlen(hex);
        char(*v)[65] = image_keys(s, &n);
        for (size_t i = 0; i < n; i++)
                if (len >= 6 && strncmp(v[i], hex, len) == 0) {
                        memcpy(ret_key, v[i], 65);
                        hits++;
                }

        free(v);
        return hits == 1;
}

int image_remove(const struct image_store *s, const char key[65], struct err *e)
{
        AUTO_FD(fd, image_meta_open(s, key));
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
                return 0;

        /* One step out of the way, so that no start finds half of it. */
        int r = renameat(s->dir, key, s->dir, "new");
        fd_close(&fd);
        if (r < 0 || tree_remove(s->dir, "new") < 0)
                return err_set(e, ERR_IO, errno, "removing the image %.12s: %s", key, strerror(errno));

        return 1;
}

/* Everything of it is on the disk before it has its name. */
int image_publish(const struct image_store *s, const char key[65], struct err *e)
{
        AUTO_FD(fresh, openat(s->dir, "new", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (fresh < 0 || syncfs(fresh) < 0 || renameat(fresh, "image", s->dir, key) < 0 || fsync(s->dir) < 0)
                return err_set(e, ERR_IO, errno, "keeping the image: %s", strerror(errno));
        return 0;
}

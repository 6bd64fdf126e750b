/* SPDX-License-Identifier: MIT */
/* files/image/image_refs.c - which image a name, an archive or a layout was unpacked to. A path counts as
 * long as its file has the same inode, size and times; an archive that changed is unpacked again. */
#include "base/dir.h"
#include "base/fd.h"
#include "base/hash.h"
#include "files/image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A layout is known by its index: blobs never change under their names. */
static bool look_at_ref(const char *ref, struct stat *ret)
{
        char index[4200];
        if (stat(ref, ret) < 0 || !S_ISDIR(ret->st_mode))
                return ret->st_mode && S_ISREG(ret->st_mode);
        (void) snprintf(index, sizeof index, "%s/index.json", ref);
        return stat(index, ret) == 0 && S_ISREG(ret->st_mode);
}

bool image_identity(const char *ref, char ret_hash[65])
{
        char text[4600];
        struct stat st = { 0 };
        int n;
        if (ref[0] != '/')
                n = snprintf(text, sizeof text, "name %s", ref);
        else if (look_at_ref(ref, &st))
                n = snprintf(text, sizeof text, "file %llu %llu %lld %lld.%09ld %lld.%09ld %s",
                             (unsigned long long) st.st_dev, (unsigned long long) st.st_ino,
                             (long long) st.st_size, (long long) st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                             (long long) st.st_ctim.tv_sec, st.st_ctim.tv_nsec, ref);
        else
                return false;

        if (n < 0 || (size_t) n >= sizeof text)
                return false;

        sha256_hex(span_str(text), ret_hash);
        return true;
}

static bool ref_name(const char *ref, char ret[80])
{
        char hash[65];
        if (!image_identity(ref, hash))
                return false;
        (void) snprintf(ret, 80, "ref-%s", hash);
        return true;
}

/* KEY, a newline, the reference, a newline. */
static bool read_ref(const struct image_store *s, const char *name, struct image_ref *ret)
{
        char text[sizeof ret->key + sizeof ret->text + 2];
        AUTO_FD(fd, openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        ssize_t n = fd < 0 ? -1 : fd_read_all(fd, text, sizeof text - 1);
        if (n < 67 || text[64] != '\n' || text[n - 1] != '\n' || n - 65 > (ssize_t) sizeof ret->text)
                return false;

        memcpy(ret->key, text, 64);
        ret->key[64] = '\0';
        memcpy(ret->text, text + 65, (size_t) n - 66);
        ret->text[n - 66] = '\0';
        return strspn(ret->key, "0123456789abcdef") == 64;
}

bool image_ref_get(const struct image_store *s, const char *ref, char ret_key[65])
{
        char name[80];
        struct image_ref r;
        if (!ref_name(ref, name) || !read_ref(s, name, &r) || strcmp(r.text, ref) != 0)
                return false;
        memcpy(ret_key, r.key, 65);
        return true;
}

int image_ref_put(const struct image_store *s, const char *ref, const char key[65], struct err *e)
{
        char name[80], text[65 + 4096 + 2];
        int n = snprintf(text, sizeof text, "%s\n%s\n", key, ref);
        if (!ref_name(ref, name) || n < 0 || (size_t) n >= sizeof text)
                return 0; /* it changed or went away meanwhile: the next start looks again */

        AUTO_FD(fd, openat(s->dir, "new-ref", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || fd_write_all(fd, text, (size_t) n) < 0 || fsync(fd) < 0 ||
            renameat(s->dir, "new-ref", s->dir, name) < 0)
                return err_set(e, ERR_IO, errno, "keeping the name of the image: %s", strerror(errno));

        return 0;
}

void image_refs_each(const struct image_store *s, bool remove_stale,
                     void (*each)(void *ctx, const struct image_ref *r), void *ctx)
{
        DIR_LIST(list, 8192);
        AUTO_FD(dir, openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        while (dir >= 0 && dir_more(&list, dir) > 0)
                for (const struct dir_entry *d; (d = dir_next(&list));) {
                        char now[80];
                        struct image_ref r;
                        struct stat st;
                        if (strncmp(d->name, "ref-", 4) != 0)
                                continue;
                        bool holds = read_ref(s, d->name, &r) && ref_name(r.text, now) &&
                                     strcmp(now, d->name) == 0 &&
                                     fstatat(s->dir, r.key, &st, AT_SYMLINK_NOFOLLOW) == 0;
                        if (holds)
                                each(ctx, &r);
                        else if (remove_stale)
                                (void) unlinkat(s->dir, d->name, 0);
                }
}

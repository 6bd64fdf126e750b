/* SPDX-License-Identifier: MIT */
/* run/keeper/box_names.c - a requested name belongs to one running box of its user. Held by a lock on one
 * byte of a file in the state directory, at the offset of the name's hash: the kernel decides between two
 * concurrent requests, a killed keeper's lock is released, no file is left for each name, and no other user
 * can open the file. An abstract socket would not do: any process can bind one. */
#include "base/fd.h"
#include "base/hash.h"
#include "base/store/store.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static off_t place_of(const char *name)
{
        struct sha256 s;
        uint8_t digest[32];
        uint64_t at = 0;

        sha256_init(&s);
        sha256_add(&s, name, strlen(name));
        sha256_end(&s, digest);
        memcpy(&at, digest, sizeof at);
        return (off_t) (at >> 2);
}

/* An open file description lock, not one of the process: two boxes of one program are distinguished as well.
 */
static int set_lock(int fd, short type, const char *name)
{
        struct flock f = { .l_type = type, .l_whence = SEEK_SET, .l_start = place_of(name), .l_len = 1 };
        return fcntl(fd, F_OFD_SETLK, &f);
}

static int cannot_name(const char *name, struct err *e)
{
        (void) err_in(e, "the name %s cannot be kept for this box", name);
        return e->hint[0] ? -1
                          : err_hint(e, "leave out --name, or let CORDON_STATE name a directory of yours");
}

int names_claim(struct box *b, struct err *e)
{
        const char *name = b->c.name;
        if (!name[0])
                return 0;

        AUTO_FD(dir, store_open(b->c.cx, e));
        if (dir < 0)
                return cannot_name(name, e);

        AUTO_FD(fd, openat(dir, "names", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd >= 0 && set_lock(fd, F_WRLCK, name) == 0) {
                b->name_lock = TAKE_FD(fd);
                return 0;
        }

        if (fd < 0 || (errno != EAGAIN && errno != EACCES)) {
                (void) err_set(e, ERR_IO, errno, "locking `names` in the state directory: %s",
                               strerror(errno));
                return cannot_name(name, e);
        }

        (void) err_set(e, ERR_USAGE, 0, "a running box is already named %s", name);
        return err_hint(e, "`cordon stop %s` ends it; or give this one another name", name);
}

/* ---- boxes of this state, by their run ---- */

/* Creates nothing: where nothing is kept no label is either. */
int names_open(const struct cordon_context *cx)
{
        char state[STORE_PATH_MAX];
        struct err none;
        AUTO_FD(dir, store_path(cx, state, &none) < 0 ? -1 : open(state, O_PATH | O_DIRECTORY | O_CLOEXEC));
        return dir < 0 ? -1 : openat(dir, "names", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

void names_run(struct box *b)
{
        if (b->name_lock < 0)
                b->name_lock = names_open(b->c.cx);
        if (b->name_lock >= 0)
                (void) set_lock(b->name_lock, F_RDLCK, b->run.r.run);
}

bool names_has_run(int names, const char *run)
{
        struct flock f = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place_of(run), .l_len = 1 };
        return fcntl(names, F_OFD_GETLK, &f) == 0 && f.l_type != F_UNLCK;
}

/* Unlocked by word: a child of the caller's may hold a copy of the descriptor. */
void names_release(struct box *b)
{
        if (b->name_lock >= 0)
                (void) set_lock(b->name_lock, F_UNLCK, b->run.r.name);
        fd_close(&b->name_lock);
}

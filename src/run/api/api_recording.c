/* SPDX-License-Identifier: MIT */
/* run/api/api_recording.c - `--record FILE`: the destination is checked before the box starts, so that a long
 * run does not fail at the end. */
#include "base/fd.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static bool sees_requests(const struct cordon_box *b)
{
        for (const struct door *d = NULL; (d = policy_door_of(b->policy->checked, DOOR_NET, d));)
                if (d->net.form != NET_HOST_PORT)
                        return true;
        return false;
}

static const char *last_of(const char *path)
{
        const char *slash = strrchr(path, '/');
        return slash ? slash + 1 : path;
}

static int open_dir(const char *path)
{
        char dir[4096] = ".";
        size_t n = (size_t) (last_of(path) - path);
        if (n > 0 && n < sizeof dir) {
                memcpy(dir, path, n);
                dir[n] = '\0';
        }

        return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int refuse_recording(const struct cordon_box *b, struct err *e)
{
        if (b->c.stage == POLICY_STAGE_MOCK) {
                (void) err_set(e, ERR_USAGE, 0,
                               "nothing leaves in the stage mock, so nothing can be recorded");
                return err_hint(e,
                                "--record FILE with --stage live or test; then --stage mock --answers FILE");
        }

        if (!sees_requests(b)) {
                (void) err_set(e, ERR_USAGE, 0, "no door sees requests, so nothing can be recorded");
                return err_hint(e, "use a URL door: net https://host/** instead of net host:443");
        }

        return 0;
}

void api_recording_done(struct cordon_box *b)
{
        fd_close(&b->c.recording.fd);
        fd_close(&b->c.recording.dir);
}

int api_recording(struct cordon_box *b, struct err *e)
{
        struct stat st;
        if (!b->record_file)
                return 0;

        if (refuse_recording(b, e) < 0)
                return -1;

        struct box_recording *r = &b->c.recording;
        const char *name = last_of(b->record_file);
        api_recording_done(b); /* of a start that failed */
        r->dir = open_dir(b->record_file);
        if (r->dir >= 0 && fstatat(r->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
                (void) err_set(e, ERR_USAGE, EEXIST, "%s is there already", b->record_file);
                return err_hint(e, "what was recorded is never written over: move it, or name another file");
        }

        r->fd = r->dir < 0 || !name[0] ? -1 : openat(r->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
        r->name = r->fd >= 0 ? name : NULL;
        if (r->fd >= 0)
                return 0;

        (void) err_set(e, ERR_IO, errno, "%s cannot be made: %s", b->record_file, strerror(errno));
        if (errno == EOPNOTSUPP)
                (void) err_hint(e, "this filesystem holds no file without a name: record into another one");

        return -1;
}

/* SPDX-License-Identifier: MIT */
/* run/keeper/fixture_file.c - names the file of recorded exchanges when the run is over, and only if it is
 * complete. Until then it has no name: a killed keeper leaves nothing behind. */
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int fail_recording(const struct run *run, const char *why, struct err *e)
{
        return err_set(e, ERR_IO, errno, "the recording could not be kept in %s: %s", run->c->recording.name,
                       why);
}

int recording_finish(struct run *run, struct err *e)
{
        const struct box_recording *r = &run->c->recording;
        if (!r->name || !run->up || run->r.out.end == CORDON_FAILED)
                return 0;

        if (run->box->broker.record_failed) {
                errno = (int) run->box->broker.record_failed;
                return fail_recording(run, strerror(errno), e);
        }

        if (run->r.broker != BROKER_DONE)
                return fail_recording(run, "the broker ended before the box", e);

        if (keeper_label_new(run, r->dir, r->name, e) < 0)
                return -1;

        /* Never over an existing file: tests may rely on earlier recordings. */
        if (fsync(r->fd) < 0 || fd_link(r->fd, r->dir, r->name) < 0)
                return fail_recording(run, strerror(errno), e);

        return 0;
}

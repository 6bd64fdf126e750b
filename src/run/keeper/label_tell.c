/* SPDX-License-Identifier: MIT */
/* run/keeper/label_tell.c - who has changed labels of files tells the running boxes of its state directory,
 * which look at them again (label_live.c), and waits for them. */
#include "base/clock.h"
#include "base/fd.h"
#include "run/keeper/internal.h"

enum { ANSWER_MS = 5000, TELL_MS = 1000 };

void keeper_label_tell(struct box *b)
{
        registry_tell(b->c.cx, &b->told);
        if (b->run.up) /* its payload runs: nobody waits */
                registry_told_done(&b->told);
}

int starting_told(struct box *b, struct err *e)
{
        int fd = registry_told_next(&b->told);
        if (fd < 0) {
                registry_told_done(&b->told);
                return 1;
        }

        if (keeper_waits_too_long(b, ANSWER_MS)) {
                (void) err_set(e, ERR_USAGE, 0,
                               "a running box does not answer, and may read what this one writes");
                return err_hint(e, "`cordon ps` lists them; continue or stop the one that is suspended");
        }
        keeper_wait_for(b, fd, POLLIN);
        return 0;
}

void box_label_tell(const struct cordon_context *cx)
{
        struct told told = { 0 };
        uint64_t until = clock_mono_ns() + TELL_MS * UINT64_C(1000000), now = 0;
        registry_tell(cx, &told);
        for (int fd; (fd = registry_told_next(&told)) >= 0 && (now = clock_mono_ns()) < until;)
                (void) fd_await(fd, POLLIN, (unsigned) ((until - now) / 1000000) + 1);
        registry_told_done(&told);
}

/* SPDX-License-Identifier: MIT */
/* wall/linux/sample/sample_still.c - has anybody in the box run since the last look? Who has not used a
 * nanosecond has made no process, opened no file and touched no page: then there is nothing to look for, and
 * an idle box costs next to nothing. Never: allocates, opens anything. */
#include "wall/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* All threads of a process; also of one that nobody has waited for yet. */
static uint64_t used_ns(clockid_t process)
{
        struct timespec t;
        if (clock_gettime(process, &t) < 0)
                return UINT64_MAX; /* it is gone */
        return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static void note_process(void *ctx, int proc, const char *pid)
{
        (void) proc;
        struct wall_still *s = ctx;
        if (strcmp(pid, "1") == 0)
                return; /* init: us */

        struct wall_still_process p = { 0 };
        s->known = s->known && s->count < STILL_MAX &&
                   clock_getcpuclockid((pid_t) strtol(pid, NULL, 10), &p.clock) == 0;
        if (!s->known)
                return;

        p.used_ns = used_ns(p.clock);
        s->at[s->count++] = p;
}

static void count_process(void *ctx, int proc, const char *pid)
{
        (void) proc;
        *(unsigned *) ctx += strcmp(pid, "1") != 0;
}

/* A process that is made while we list them runs after its parent's time was noted, or is listed itself; or,
 * where numbers began anew, has a smaller one than its parent and is neither. The second list has it. */
void wall_still_note(struct wall_still *s, const struct wall_init *w)
{
        unsigned again = 0;
        s->count = s->skipped = 0;
        s->known = true;
        if (wall_each_process(w, note_process, s) < 0 || !s->known ||
            wall_each_process(w, count_process, &again) < 0 || again != s->count)
                s->known = false;
}

/* Not for ever: the kernel can make a process larger by itself (huge pages). */
bool wall_is_still(struct wall_still *s)
{
        if (!s->known || s->skipped == STILL_LOOKS)
                return false;

        for (unsigned i = 0; i < s->count; i++)
                if (s->at[i].used_ns == UINT64_MAX || used_ns(s->at[i].clock) != s->at[i].used_ns)
                        return false;

        s->skipped++;
        return true;
}

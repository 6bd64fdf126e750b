/* SPDX-License-Identifier: MIT */
/* wall/linux/sample/sample_still.c - has any process of the box run since the last sample? A process that has
 * not used a nanosecond has created no process, opened no file and touched no page: then nothing needs a
 * sample, and an idle box costs next to nothing. Never: allocates, opens a file. */
#include "wall/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* All threads of a process, including a zombie's. */
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

/* A process that is created during the listing runs after its parent's time was noted, or is listed itself;
 * or, if pids wrapped around, has a smaller pid than its parent and is neither. The second listing has it. */
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

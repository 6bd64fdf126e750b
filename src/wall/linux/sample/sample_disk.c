/* SPDX-License-Identifier: MIT */
/* wall/linux/sample/sample_disk.c - are removed files of edit doors, or private ones on the host, larger than
 * the disk limit? The keeper counts files that have names in an overlay. The rest is searched when the disk
 * lost as much as could be the box's doing. Never: allocates. */
#include "wall/internal.h"

#include <sys/statfs.h>

enum { HIDING_LOOKS = 5 };

static uint64_t disk_free(const struct wall_init *w)
{
        struct statfs fs;
        const struct plan *p = w->plan;
        if (w->s->own_dir && statfs(w->s->own_dir, &fs) == 0)
                return (uint64_t) fs.f_bfree * (uint64_t) fs.f_bsize;
        for (size_t i = 0; p->edits && i < p->step_count; i++)
                if (p->steps[i].kind == STEP_EDIT && statfs(p->steps[i].path, &fs) == 0)
                        return (uint64_t) fs.f_bfree * (uint64_t) fs.f_bsize;
        return 0;
}

void wall_disk_begin(struct wall_init *w) { w->disk.free = disk_free(w); }

/* SAFETY: a removed file that is held by a message on its way, or by a mapping alone, has no descriptor that
 * would show its size. A box that holds files so for several looks, while the disk has lost more than its
 * limit, is taken to have them there. */
bool wall_over_disk(struct wall_init *w)
{
        uint64_t most = w->plan->limits.value[LIMIT_DISK], now = disk_free(w);
        bool hides = false, lost = w->disk.free > now && w->disk.free - now > most;
        uint64_t removed = lost ? wall_sample_deleted(w, &hides) : 0;
        w->disk.hiding = hides ? w->disk.hiding + 1 : 0;
        return removed > most || w->disk.hiding >= HIDING_LOOKS;
}

/* SPDX-License-Identifier: MIT */
/* face/serve/trouble.c - writes that fail, and a disk that is nearly full: told once to the operator, and in
 * the health and metrics of the server as long as it lasts. */
#include "base/clock.h"
#include "face/serve/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

enum { LOOK_S = 5 };

void trouble_tell(struct server *s, const char *what, int sys)
{
        struct trouble *t = &s->trouble;
        AUTO_BUF(line);
        (void) snprintf(t->what, sizeof t->what, "%s cannot be stored: %s", what, strerror(sys));
        buf_printf(&line, "degraded: %s", t->what);
        if (!t->sys)
                serve_log(s, LOG_WARN, buf_str(&line));
        t->since_s = t->sys ? t->since_s : (uint64_t) clock_wall_s();
        t->sys = sys;
        t->failed++;
        t->again_ns = clock_mono_ns() + LOOK_S * 1000000000ull;
}

void trouble_over(struct server *s)
{
        struct trouble *t = &s->trouble;
        if (t->sys)
                serve_log(s, LOG_INFO, "well again: what is written is stored");
        t->sys = 0;
        t->again_ns = 0;
}

/* What is left on the disk of the operator's directory; 0 in both: it cannot be asked. */
static void look(const struct server *s, struct disk *ret)
{
        struct statvfs v;
        if (fstatvfs(s->config, &v) < 0)
                return;
        ret->size = v.f_blocks * (uint64_t) v.f_frsize;
        ret->left = v.f_bavail * (uint64_t) v.f_frsize;
        ret->files = v.f_files && !v.f_favail;
}

/* Each turn: now and then, whether there is room again. */
bool trouble_step(struct server *s)
{
        enum { NEARLY = 16 << 20, PARTS = 50 };
        uint64_t now = clock_mono_ns();
        if (now < s->disk.again_ns)
                return false;

        bool was = s->disk.low;
        s->disk.again_ns = now + LOOK_S * 1000000000ull;
        look(s, &s->disk);
        s->disk.low = s->disk.size &&
                      (s->disk.left < (s->disk.size / PARTS < NEARLY ? s->disk.size / PARTS : NEARLY) ||
                       s->disk.files);
        if (s->disk.low && !was)
                serve_log(s, LOG_WARN, "degraded: the disk of the server's directory is nearly full");
        if (!s->disk.low && s->trouble.sys == 0 && was)
                serve_log(s, LOG_INFO, "well again: the disk has room");
        if (!s->disk.low && (s->trouble.sys == ENOSPC || s->trouble.sys == EDQUOT))
                trouble_over(s);
        return true;
}

const char *trouble_why(const struct server *s)
{
        return s->trouble.sys ? s->trouble.what : s->disk.low ? "the disk is nearly full" : NULL;
}

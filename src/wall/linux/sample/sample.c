/* SPDX-License-Identifier: MIT */
/* wall/linux/sample/sample.c - sums up the resources of the processes of a box (process_tree.c), read from
 * /proc, if no control group counts. Weaker than a group: it sees only processes that exist at the time of a
 * sample. Never: allocates. */
#include "base/fd.h"
#include "base/str.h"
#include "wall/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

/* Field `n` (1-based, as proc(5) counts) of a stat line; fields are counted from after the last ')', because
 * the name in front of it is the payload's to choose. */
uint64_t wall_stat_field(const char *stat, unsigned n)
{
        const char *at = strrchr(stat, ')');
        if (!at)
                return 0;
        for (unsigned i = 2; i < n && at; i++)
                at = strchr(at + 1, ' ');
        return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* "\nKEY:   123 kB" of a status file, in bytes. A name that the payload chose has no newline there: the
 * kernel writes it as \\n. */
static uint64_t status_bytes(const char *status, const char *key)
{
        const char *at = strstr(status, key);
        return at ? strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

struct living {
        const char *pid;
        char at[64]; /* below /proc; "" while none was found */
};

/* The letter of the state comes first: Z and X are the dead. */
static bool is_dead(const char *stat)
{
        const char *at = strrchr(stat, ')');
        return !at || strchr("ZX", at[1] ? at[2] : '\0');
}

static void note_living(void *ctx, int tasks, const char *tid)
{
        struct living *l = ctx;
        char name[64], text[4096];
        (void) snprintf(name, sizeof name, "%.20s/stat", tid);
        if (l->at[0] == '\0' && fd_get(tasks, name, text, sizeof text) > 0 && !is_dead(text))
                (void) snprintf(l->at, sizeof l->at, "%.20s/task/%.20s", l->pid, tid);
}

/* SAFETY: a process whose first thread has ended shows no memory, though its others have all of it: then one
 * of those is asked. */
static void find_living(int proc, const char *stat, struct living *l)
{
        char name[48];
        if (!is_dead(stat)) {
                (void) snprintf(l->at, sizeof l->at, "%.20s", l->pid);
                return;
        }

        (void) snprintf(name, sizeof name, "%.20s/task", l->pid);
        AUTO_FD(tasks, openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (tasks >= 0 && wall_stat_field(stat, 20) > 1)
                (void) wall_each_number(tasks, note_living, l);
}

/* The lines of a status file about memory. SAFETY: a line before them lists every group of the account and
 * can be long: it is skipped. The kernel makes the whole text at the first read: a process that ended between
 * two reads would have memory in the one and no shared memory in the other, and that would count twice. */
static int read_memory(int proc, const char *name, char *text, size_t cap)
{
        static const char first[] = "\nVm";
        const size_t len = sizeof first - 1;
        AUTO_FD(fd, openat(proc, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        size_t kept = 0;

        for (ssize_t n; fd >= 0 && (n = fd_read_all(fd, text + kept, cap - 1 - kept)) > 0;) {
                size_t have = kept + (size_t) n;
                text[have] = '\0';
                const char *at = strstr(text, first);
                kept = at ? strlen(at) : have < len ? have : len - 1; /* which may be the beginning of it */
                memmove(text, text + have - kept, kept);
        }

        text[kept] = '\0';
        return kept >= len ? 0 : -1;
}

static void add_memory(struct wall_sample *s, int proc, const char *living)
{
        char name[96], text[4096];
        (void) snprintf(name, sizeof name, "%s/status", living);
        if (read_memory(proc, name, text, sizeof text) < 0)
                return;

        s->shmem += status_bytes(text, "\nRssShmem:");
        s->rss += status_bytes(text, "\nVmRSS:");
        s->rss += status_bytes(text, "\nVmPTE:"); /* only there a read of an empty file takes memory */
        s->rss += status_bytes(text, "\nVmSwap:");
        s->rss += status_bytes(text, "\nHugetlbPages:"); /* of a hugetlbfs behind a door */
}

static void add_process(void *ctx, int proc, const char *pid)
{
        struct wall_sample *s = ctx;
        char name[64], text[4096];
        if (strcmp(pid, "1") == 0)
                return; /* init: us */

        (void) snprintf(name, sizeof name, "%.20s/stat", pid);
        if (fd_get(proc, name, text, sizeof text) < 0)
                return; /* it ended in between */

        long hz = sysconf(_SC_CLK_TCK);
        uint64_t ticks = 0;
        for (unsigned f = 14; f <= 17;
             f++) /* utime stime cutime cstime: includes children that were waited for */
                ticks += wall_stat_field(text, f);

        s->cpu_ns += ticks * (1000000000u / (uint64_t) hz);
        s->tasks += wall_stat_field(text, 20);
        struct living l = { .pid = pid };
        find_living(proc, text, &l);
        if (l.at[0])
                add_memory(s, proc, l.at);
}

/* The size of PID/fd is the number of open descriptors since Linux 6.2, and 0 before. */
static void count_files(void *ctx, int proc, const char *pid)
{
        uint64_t *most = ctx;
        char name[64];
        struct stat st;
        (void) snprintf(name, sizeof name, "%.20s/fd", pid);
        if (strcmp(pid, "1") != 0 && fstatat(proc, name, &st, 0) == 0 && (uint64_t) st.st_size > *most)
                *most = (uint64_t) st.st_size;
}

uint64_t wall_sample_files(const struct wall_init *w)
{
        uint64_t most = 0;
        (void) wall_each_process(w, count_files, &most);
        return most;
}

int wall_sample(const struct wall_init *w, struct wall_sample *ret)
{
        *ret = (struct wall_sample){ 0 };
        return wall_each_process(w, add_process, ret);
}

/* Are removed files of edit doors, or private ones on the host, larger than the disk limit? The keeper counts
 * files that have names in an overlay. The rest is searched when the disk lost as much as could be the box's
 * doing. */
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

/* Has any process of the box run since the last sample? A process that has not used a nanosecond has created
 * no process, opened no file and touched no page: then nothing needs a sample, and an idle box costs next to
 * nothing. Never: opens a file. */

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

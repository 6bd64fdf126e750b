/* SPDX-License-Identifier: MIT */
/* wall/linux/sample/sample_shared.c - memory of a box that is in no process's account: unnamed files (memfd)
 * and SysV segments. Sampled only if no control group counts, and for a tenth of the time. Also files of edit
 * doors that were unlinked and are open: on disk, and in no tree. Never: allocates, opens or stats any file
 * but these and memfds (a stat of another file behind a door could wait for the program that serves it).
 *
 * Not counted: bytes in pipes (in sockets: sample_sockets.c), extended attributes of memfds, a file that is
 * in flight through a socket or mapped and then closed, and a shared mapping whose process is gone. A control
 * group counts these. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { REST = 10 }; /* times as long as a look took */

static bool is_handle(const struct wall_shared *s, uint64_t ino)
{
        for (unsigned i = 0; i < s->handle_count; i++)
                if (s->handles[i] == ino)
                        return true;
        return false;
}

/* True the first time. When the table is full, every time: counting twice is better than not at all. */
static bool is_new(struct wall_shared *s, uint64_t ino)
{
        for (unsigned i = 0; i < SHARED_SEEN_MAX; i++) {
                uint64_t *at = &s->seen[(ino * 2654435761u + i) % SHARED_SEEN_MAX];
                if (*at == ino)
                        return false;
                if (*at == 0) {
                        *at = ino;
                        s->seen_any = true;
                        return true;
                }
                if (i == 64)
                        break;
        }

        return true;
}

static uint64_t file_bytes(struct wall_shared *s, int dir, const char *name)
{
        struct stat st;
        if (fstatat(dir, name, &st, 0) < 0 || st.st_blocks == 0 || is_handle(s, st.st_ino))
                return 0;

        return is_new(s, st.st_ino) ? (uint64_t) st.st_blocks * 512 : 0;
}

struct looking {
        struct wall_shared *s;
        uint64_t scratch;              /* its device: files there have a limit of their own */
        const struct wall_init *edits; /* not NULL: only removed files of its edit doors are looked for */
        uint64_t bytes;
        bool hides;   /* files may be held by a message or a mapping alone */
        pid_t thread; /* whose descriptors were read last */
};

static const char removed[] = " (deleted)";
enum { REMOVED_LEN = sizeof removed - 1 };

static bool is_of_edit(const struct wall_init *w, const char *path)
{
        const struct plan *p = w->plan;
        if (w->s->own_dir && path_under(path, w->s->own_dir))
                return true;

        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_EDIT && path_under(path, p->steps[i].path))
                        return true;
        return false;
}

/* The former name tells; a process that gives another file such a name gets that counted. */
static bool is_removed_edit(const struct wall_init *w, char *target)
{
        size_t n = strlen(target);
        if (n <= REMOVED_LEN || strcmp(target + n - REMOVED_LEN, removed) != 0)
                return false;

        target[n - REMOVED_LEN] = '\0';
        return is_of_edit(w, target);
}

/* "scm_fds: N": descriptors in the queue of a socket, or of connections that wait to be accepted. */
static bool has_in_flight(int dir, const char *name)
{
        static const char key[] = "scm_fds:";
        char info[48], text[1024];
        (void) snprintf(info, sizeof info, "../fdinfo/%.20s", name);
        const char *at = fd_get(dir, info, text, sizeof text) > 0 ? strstr(text, key) : NULL;
        return at && strtoul(at + sizeof key - 1, NULL, 10) > 0;
}

/* A line of maps can have any length: its end is matched as it comes, its beginning kept. */
static bool maps_removed(const struct wall_init *w, int tasks, const char *tid)
{
        char name[32], block[4096], line[PATH_MAX + 128];
        size_t n = 0, matched = 0;
        (void) snprintf(name, sizeof name, "%.20s/maps", tid);
        AUTO_FD(maps, openat(tasks, name, O_RDONLY | O_CLOEXEC));
        for (ssize_t got; maps >= 0 && (got = read(maps, block, sizeof block)) > 0;)
                for (ssize_t i = 0; i < got; i++) {
                        if (block[i] != '\n') {
                                bool next = matched < REMOVED_LEN && block[i] == removed[matched];
                                matched = next ? matched + 1 : block[i] == removed[0];
                                n += n < sizeof line - 1;
                                line[n - 1] = block[i];
                                continue;
                        }
                        line[n] = '\0';
                        const char *path = strchr(line, '/');
                        if (matched == REMOVED_LEN && path && is_of_edit(w, path))
                                return true;
                        n = matched = 0;
                }

        return false;
}

/* SAFETY: a path that exceeds PATH_MAX has no name here at all, and a box can create one. Such a file is
 * inspected as far as that needs no answer of another process. */
static bool is_removed_unnamed(const struct looking *l, int dir, const char *name)
{
        enum { DONT_SYNC = 0x4000 };
        struct stat st;
        return errno == ENAMETOOLONG && fstatat(dir, name, &st, DONT_SYNC) == 0 && S_ISREG(st.st_mode) &&
               st.st_nlink == 0 && st.st_dev != l->scratch;
}

static void look_for_removed(struct looking *l, int dir, const char *name)
{
        static const char socket[] = "socket:";
        char target[PATH_MAX] = "";
        bool named = readlinkat(dir, name, target, sizeof target - 1) > 0;
        if (strncmp(target, socket, sizeof socket - 1) == 0)
                l->hides = l->hides || has_in_flight(dir, name);
        else if (named ? is_removed_edit(l->edits, target) : is_removed_unnamed(l, dir, name))
                l->bytes += file_bytes(l->s, dir, name);
}

static void look_for_memory(struct looking *l, int dir, const char *name)
{
        static const char file[] = "/memfd:";
        char target[32] = "";
        if (readlinkat(dir, name, target, sizeof target - 1) > 0 && strncmp(target, file, strlen(file)) == 0)
                l->bytes += file_bytes(l->s, dir, name);
}

static void look_at_descriptor(void *ctx, int dir, const char *name)
{
        struct looking *l = ctx;
        if (l->edits)
                look_for_removed(l, dir, name);
        else
                look_for_memory(l, dir, name);
}

/* SAFETY: a thread can have a descriptor table of its own, and the first thread none any more. If kcmp()
 * shows that two threads share one, one is inspected; without CONFIG_KCMP both are. */
static void look_at_thread(void *ctx, int tasks, const char *tid)
{
        struct looking *l = ctx;
        char name[32];
        pid_t thread = (pid_t) strtol(tid, NULL, 10);
        if (l->thread && syscall(SYS_kcmp, l->thread, thread, KCMP_FILES, 0, 0) == 0)
                return;

        l->thread = thread;
        l->hides = l->hides || (l->edits && maps_removed(l->edits, tasks, tid));
        (void) snprintf(name, sizeof name, "%.20s/fd", tid);
        AUTO_FD(dir, openat(tasks, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (dir >= 0)
                (void) wall_each_number(dir, look_at_descriptor, l);
}

static void look_at_process(void *ctx, int proc, const char *pid)
{
        struct looking *l = ctx;
        char name[32];
        (void) snprintf(name, sizeof name, "%.20s/task", pid);
        AUTO_FD(tasks, openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        l->thread = 0;
        if (tasks >= 0)
                (void) wall_each_number(tasks, look_at_thread, l);
}

static uint64_t segment_bytes(const struct wall_init *w)
{
        struct shm_info info;
        if (!wall_has(w->plan->wall, WALL_OWN_ROOT))
                return 0; /* the host's: the filter lets the box make none */
        if (shmctl(0, SHM_INFO, (struct shmid_ds *) (void *) &info) < 0)
                return 0;
        return (uint64_t) (info.shm_rss + info.shm_swp) * (uint64_t) sysconf(_SC_PAGESIZE);
}

/* Input handles were filled by the keeper and are sealed. Output handles are filled by the box: that is its
 * memory, as a group would count it. */
void wall_shared_begin(struct wall_init *w)
{
        for (unsigned i = 0; i < w->s->io->handle_count && i < w->plan->handle_count; i++) {
                struct stat st;
                if (!w->plan->handles[i].out && fstat(w->handles[i], &st) == 0)
                        w->shared.handles[w->shared.handle_count++] = st.st_ino;
        }
}

static void look_at_all(struct wall_init *w, struct looking *l)
{
        if (l->s->seen_any)
                memset(l->s->seen, 0, sizeof l->s->seen);
        l->s->seen_any = false;
        (void) wall_each_process(w, look_at_process, l);
}

uint64_t wall_sample_deleted(struct wall_init *w, bool *ret_hides)
{
        struct looking l = { .s = &w->shared, .edits = w, .scratch = w->scratch_dev };
        look_at_all(w, &l);
        *ret_hides = l.hides;
        return l.bytes;
}

uint64_t wall_sample_shared(struct wall_init *w)
{
        struct wall_shared *s = &w->shared;
        uint64_t now = clock_mono_ns();
        if (now >= s->next_ns) {
                struct looking l = { .s = s };
                s->looked_ns = now;
                look_at_all(w, &l);
                s->file_bytes = l.bytes;
                s->next_ns = now + (clock_mono_ns() - now) * (1 + REST);
        }

        return s->file_bytes + segment_bytes(w);
}

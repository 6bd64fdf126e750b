/* SPDX-License-Identifier: MIT */
/* run/keeper/stream/logs.c - the newest output of a detached box: requested from its keeper while it runs,
 * kept for afterwards.
 *
 *   STATE/logs/RUN    `cordon-ledger 1 BYTES NAME`, a newline, then the last of BYTES that the box wrote
 *
 * A file gets its name when it is complete, at the end of the run; a keeper that is killed leaves none.
 * Never: follows a symlink, keeps more than LOGS_KEPT of them, holds up the end of a run for the disk. */
#include "base/fd.h"
#include "base/limits.h"
#include "base/shell.h"
#include "base/store/store.h"
#include "base/str.h"
#include "base/vec.h"
#include "run/keeper/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOGS_KEPT = 64, HEAD_MAX = 256, LOOK_MS = 100 };

static int open_logs(const struct cordon_context *cx, struct err *e)
{
        AUTO_FD(state, store_open(cx, e));
        return state < 0 ? -1 : store_dir(state, "logs", e);
}

/* While the box runs: the newest, in memory. */
void logs_add(struct run *run, const void *p, size_t n)
{
        run->log_total += n;
        if (run->log.n + n > LOG_MAX) { /* keep the newer half */
                size_t drop = run->log.n > LOG_MAX / 2 ? run->log.n - LOG_MAX / 2 : 0;
                memmove(run->log.p, run->log.p + drop, run->log.n - drop);
                run->log.n -= drop;
        }

        buf_add(&run->log, p, n > LOG_MAX / 2 ? LOG_MAX / 2 : n);
}

/* ---- kept output ---- */

struct kept {
        char run[64], name[NAME_MAX_BYTES];
        int64_t ended_ns;
        uint64_t bytes; /* that it wrote, of which the file has the last */
        off_t at;       /* where they begin */
};

/* "cordon-ledger 1 BYTES NAME"; a file of a later version is not ours. */
static bool read_head(const char *head, struct kept *k)
{
        static const char mark[] = "cordon-ledger 1 ";
        char *end;
        if (strncmp(head, mark, strlen(mark)) != 0)
                return false;
        k->bytes = strtoull(head + strlen(mark), &end, 10);
        return *end == ' ' && snprintf(k->name, sizeof k->name, "%s", end + 1) < (int) sizeof k->name;
}

/* A file of ours, and not a symlink, FIFO or file of another user in its place. */
static int open_kept(int dir, const char *run, struct kept *k)
{
        char head[HEAD_MAX];
        struct stat st;
        AUTO_FD(fd, openat(dir, run, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
            st.st_size > LOG_MAX + HEAD_MAX)
                return -1;

        ssize_t n = pread(fd, head, sizeof head - 1, 0);
        char *nl = n > 0 ? memchr(head, '\n', (size_t) n) : NULL;
        if (!nl)
                return -1;

        *nl = '\0';
        *k = (struct kept){ .ended_ns = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec,
                            .at = nl + 1 - head };

        (void) snprintf(k->run, sizeof k->run, "%s", run);
        return read_head(head, k) ? TAKE_FD(fd) : -1;
}

struct kept_list {
        struct kept *v;
        size_t n, cap;
};

static void list_done(struct kept_list *l) { free(l->v); }
#define AUTO_KEPT(name) __attribute__((cleanup(list_done))) struct kept_list name = { 0 }

static void list_add(struct kept_list *l, const struct kept *k)
{
        if (vec_room((void **) &l->v, l->n, &l->cap, sizeof *l->v) < 0)
                return; /* a file that is not listed is neither shown nor removed */

        l->v[l->n++] = *k;
}

static int newest_first(const void *a, const void *b)
{
        const struct kept *x = a, *y = b;
        return x->ended_ns != y->ended_ns ? (x->ended_ns > y->ended_ns ? -1 : 1) : strcmp(y->run, x->run);
}

static void list_kept(int logs, struct kept_list *l)
{
        int own = openat(logs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = own < 0 ? NULL : fdopendir(own);
        if (!d) {
                fd_close(&own);
                return;
        }

        for (const struct dirent *x; (x = readdir(d));) {
                struct kept k;
                AUTO_FD(fd, str_is_run(x->d_name) ? open_kept(logs, x->d_name, &k) : -1);
                if (fd >= 0)
                        list_add(l, &k);
        }

        (void) closedir(d);
        if (l->n > 1)
                qsort(l->v, l->n, sizeof *l->v, newest_first);
}

/* ---- keeping ---- */

static int write_kept(int fd, const struct run *run)
{
        char head[HEAD_MAX];
        int n = snprintf(head, sizeof head, "cordon-ledger 1 %" PRIu64 " %s\n", run->log_total, run->r.name);
        if (n < 0 || (size_t) n >= sizeof head || fd_write_all(fd, head, (size_t) n) < 0)
                return -1;
        return run->log.n ? fd_write_all(fd, run->log.p, run->log.n) : 0;
}

/* If the filesystem does not support O_TMPFILE, the file has its own name from the beginning. */
static void write_named(int logs, const struct run *run)
{
        AUTO_FD(fd, openat(logs, run->r.run, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd >= 0 && write_kept(fd, run) < 0)
                (void) unlinkat(logs, run->r.run, 0);
}

static bool remove_kept(const struct cordon_context *cx, int logs, const char *run)
{
        if (unlinkat(logs, run, 0) < 0)
                return false;
        box_label_forget(cx, "logs", run);
        return true;
}

/* A failure to keep it does not change the end: the box is over, and no reader waits. */
void logs_keep(const struct run *run)
{
        struct err none;
        AUTO_KEPT(all);
        AUTO_FD(logs, run->log.failed ? -1 : open_logs(run->c->cx, &none));
        if (logs < 0)
                return;

        AUTO_FD(fd, openat(logs, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
        if (fd < 0)
                write_named(logs, run);
        else if (write_kept(fd, run) == 0)
                (void) !fd_link(fd, logs, run->r.run);

        list_kept(logs, &all);
        for (size_t i = LOGS_KEPT; i < all.n; i++)
                if (strcmp(all.v[i].run, run->r.run) !=
                    0) /* by a clock that was set back ours is the oldest */
                        (void) remove_kept(run->c->cx, logs, all.v[i].run);
}

void box_logs_forget(const struct cordon_context *cx, const char *run)
{
        struct err none;
        AUTO_FD(logs, str_is_run(run) ? open_logs(cx, &none) : -1);
        if (logs >= 0)
                (void) remove_kept(cx, logs, run);
}

size_t box_logs_prune(const struct cordon_context *cx, int64_t before_ns)
{
        struct err none;
        size_t count = 0;
        AUTO_KEPT(all);
        AUTO_FD(logs, open_logs(cx, &none));
        if (logs >= 0)
                list_kept(logs, &all);

        for (size_t i = 0; i < all.n; i++)
                count += all.v[i].ended_ns < before_ns && remove_kept(cx, logs, all.v[i].run);

        return count;
}

/* ---- reading ---- */

static int no_such(const char *which, struct err *e)
{
        AUTO_BUF(word);
        buf_shell(&word, which);
        (void) err_set(e, ERR_GONE, 0, "no box named %s", which);
        return err_hint(e,
                        "`cordon ps` lists running boxes; output is kept for the newest %d that were started "
                        "with --detach; for one that has ended, `cordon ledger --%s %s`",
                        LOGS_KEPT, str_is_run(which) ? "run" : "box", buf_str(&word));
}

/* By its name, the newest; by the beginning of its id, the only one. */
static int find_kept(int logs, const char *which, char ret_run[64], struct err *e)
{
        size_t matches = 0;
        AUTO_KEPT(all);
        list_kept(logs, &all);
        for (size_t i = 0; i < all.n; i++) {
                bool named = strcmp(all.v[i].name, which) == 0;
                if (!named && strncmp(all.v[i].run, which, strlen(which)) != 0)
                        continue;
                if (matches++ == 0)
                        memcpy(ret_run, all.v[i].run, sizeof all.v[i].run);
                if (named)
                        return 0;
        }

        if (matches > 1)
                return err_set(e, ERR_USAGE, 0, "%zu boxes answer to %s: give more of the id", matches,
                               which);

        return matches ? 0 : no_such(which, e);
}

/* A reader of output: where it goes, and the file that has its label by then. */
struct reader {
        const struct cordon_context *cx;
        const struct box_sink *to;
        int label_fd; /* or -1 */
};

static int pass_label(const struct reader *r, const char *run, struct err *e)
{
        return r->label_fd < 0 ? 0 : box_label_pass(r->cx, "logs", run, r->label_fd, e);
}

/* The kept output after `position`. */
static int give_kept(int logs, const char *run, int32_t position, const struct reader *out, struct err *e)
{
        struct kept k;
        char chunk[65536];
        struct stat st;
        AUTO_FD(fd, open_kept(logs, run, &k));
        if (fd < 0 && position >= 0) {
                (void) err_set(e, ERR_GONE, 0, "the box %s is gone, and what it said last with it", run);
                return err_hint(e, "its keeper was killed; `cordon ledger --run %s` has what is known", run);
        }

        if (fd < 0)
                return no_such(run, e);

        if (fstat(fd, &st) < 0)
                return err_set(e, ERR_IO, errno, "reading the output of %s: %s", run, strerror(errno));

        uint64_t has = (uint64_t) (st.st_size - k.at), fresh = has;
        if (position >= 0 && ((k.bytes - (uint64_t) position) & LOG_POSITION) < has)
                fresh = (k.bytes - (uint64_t) position) & LOG_POSITION;

        if (pass_label(out, run, e) < 0)
                return -1;

        (void) lseek(fd, k.at + (off_t) (has - fresh), SEEK_SET);
        for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0;)
                out->to->put(out->to->ctx, chunk, (size_t) n);

        return 0;
}

/* A keeper that is busy ending has put the file there already. */
static bool is_kept(const struct cordon_context *cx, const char *run)
{
        struct err none;
        struct kept k;
        AUTO_FD(logs, open_logs(cx, &none));
        AUTO_FD(fd, logs < 0 ? -1 : open_kept(logs, run, &k));
        return fd >= 0;
}

/* 1: it is over, if it ever was; *position is how far we came. */
static int give_live(const char *run, bool follow, int32_t *position, const struct reader *to, struct err *e)
{
        do {
                AUTO_BUF(out);
                int no = registry_logs(run, position, &out);
                if (no == REGISTRY_GONE || (no == REGISTRY_SILENT && is_kept(to->cx, run)))
                        return 1;
                if (no == REGISTRY_SILENT && !follow)
                        return err_set(e, ERR_GONE, 0, "the box %s did not answer", run);
                if (no == REGISTRY_REFUSED)
                        return err_set(e, ERR_USAGE, EPERM, "the box %s: %s", run, buf_str(&out));
                if (no == REGISTRY_NOT_KEPT) {
                        (void) err_set(e, ERR_USAGE, 0, "the box %s was not started with --detach", run);
                        return err_hint(e, "its output goes where it was started");
                }
                if (out.n > 0 && pass_label(to, run, e) < 0)
                        return -1;
                if (out.n > 0)
                        to->to->put(to->to->ctx, out.p, out.n);
                if (follow)
                        (void) poll(NULL, 0, LOOK_MS);
        } while (follow);

        return 0;
}

int box_logs(const struct cordon_context *cx, const char *which, bool follow, const struct box_sink *to,
             int label_fd, struct err *e)
{
        const struct reader reader = { cx, to, label_fd };
        char run[64];
        int32_t position = -1;
        int r = registry_find(which, run, e);
        if (r < 0)
                return -1;

        bool runs = r == 0;
        if (runs && (r = give_live(run, follow, &position, &reader, e)) != 1)
                return r;

        AUTO_FD(logs, open_logs(cx, e));
        if (logs < 0 || (!runs && find_kept(logs, which, run, e) < 0))
                return -1;

        return give_kept(logs, run, position, &reader, e);
}

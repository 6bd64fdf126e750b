/* SPDX-License-Identifier: MIT */
/* selftest/wall_report.c - `cordon selftest walls`: each wall, whether it is available here, its cost,
 * measured now, and the attacks that it does not stop. A wall is available only if a box behind it starts. */
#include "base/buf.h"
#include "base/fd.h"
#include "selftest/selftest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Commands of the wall that runs modules only, as files. modules_remove() follows in each case. */
struct modules {
        char dir[64], quick[96], idle[96];
};

/* (module (func (export "_start"))) */
static const unsigned char quick[] = {
        0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x04, 0x01, 0x60,
        0x00, 0x00, 0x03, 0x02, 0x01, 0x00, 0x07, 0x0a, 0x01, 0x06, 0x5f, 0x73,
        0x74, 0x61, 0x72, 0x74, 0x00, 0x00, 0x0a, 0x04, 0x01, 0x02, 0x00, 0x0b
};

/* One subscription of poll_oneoff to the monotonic clock, nine seconds from now. */
static const unsigned char sleeps[] = {
        0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x0c, 0x02, 0x60, 0x04, 0x7f, 0x7f, 0x7f,
        0x7f, 0x01, 0x7f, 0x60, 0x00, 0x00, 0x02, 0x26, 0x01, 0x16, 0x77, 0x61, 0x73, 0x69, 0x5f, 0x73,
        0x6e, 0x61, 0x70, 0x73, 0x68, 0x6f, 0x74, 0x5f, 0x70, 0x72, 0x65, 0x76, 0x69, 0x65, 0x77, 0x31,
        0x0b, 0x70, 0x6f, 0x6c, 0x6c, 0x5f, 0x6f, 0x6e, 0x65, 0x6f, 0x66, 0x66, 0x00, 0x00, 0x03, 0x02,
        0x01, 0x01, 0x05, 0x03, 0x01, 0x00, 0x01, 0x07, 0x0a, 0x01, 0x06, 0x5f, 0x73, 0x74, 0x61, 0x72,
        0x74, 0x00, 0x01, 0x0a, 0x11, 0x01, 0x0f, 0x00, 0x41, 0x00, 0x41, 0xc0, 0x00, 0x41, 0x01, 0x41,
        0x80, 0x01, 0x10, 0x00, 0x1a, 0x0b, 0x0b, 0x11, 0x02, 0x00, 0x41, 0x10, 0x0b, 0x01, 0x01, 0x00,
        0x41, 0x18, 0x0b, 0x05, 0x00, 0x1a, 0x71, 0x18, 0x02
};

static int put_file(const char *path, const unsigned char *bytes, size_t n)
{
        AUTO_FD(fd, open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
        return fd < 0 ? -1 : fd_write_all(fd, bytes, n);
}

static int modules_make(struct modules *m)
{
        (void) snprintf(m->dir, sizeof m->dir, "/tmp/cordon-selftest.XXXXXX");
        if (!mkdtemp(m->dir)) {
                m->dir[0] = '\0';
                return -1;
        }

        (void) snprintf(m->quick, sizeof m->quick, "%s/true.wasm", m->dir);
        (void) snprintf(m->idle, sizeof m->idle, "%s/sleep.wasm", m->dir);
        return put_file(m->quick, quick, sizeof quick) < 0 ? -1 : put_file(m->idle, sleeps, sizeof sleeps);
}

static void modules_remove(struct modules *m)
{
        if (!m->dir[0])
                return;

        (void) unlink(m->quick);
        (void) unlink(m->idle);
        (void) rmdir(m->dir);
}

enum { RUNS = 21, RUNS_MAX = 1000, FAMILY_MAX = 64, PATIENCE = 200, TICK_NS = 10000000 };

/* From the weakest and cheapest on. */
static const struct {
        const char *name, *what;
        const char *const *gaps; /* beside those of every wall; or NULL */
        bool modules;            /* its command is a module */
} rows[] = {
        { "process", "Landlock and the filter of calls around a process of this host", gaps_process_wall,
          false },
        { "namespace", "a root, processes, network and ids of its own, behind the same filter", NULL, false },
        { "wasm", "a program compiled to WebAssembly, which makes no system call itself", gaps_wasm_wall,
          true },
        { "vm", "a kernel of its own, behind the processor's virtualisation", NULL, false },
};
enum { ROWS = sizeof rows / sizeof *rows };

struct wall {
        bool here, groups;
        char why[400]; /* not here */
        uint64_t start_ns[RUNS_MAX];
        unsigned count;
        int64_t memory; /* bytes; -1: unknown */
};

struct walls {
        struct wall *v;
        long runs;
        bool json;
        char picked[16]; /* by `wall auto` */
        struct modules modules;
};

static int set_runs(void *ctx, const char *value)
{
        return cli_number("-n", value, 1, RUNS_MAX, &((struct walls *) ctx)->runs);
}

const struct cli_option walls_options[] = {
        { "runs", 'n', "RUNS", "starts of each wall (default 21)", set_runs },
        { "json", 0, NULL, "one object, for programs", CLI_FLAG(struct walls, json) },
        { 0 },
};

/* ---- starts ---- */

/* Neither recorded nor observed: that is not part of a wall. */
static int drive_box(cordon_box *box, const char *command, cordon_error *e)
{
        const char *argv[] = { command, NULL };
        if (cordon_box_command(box, argv) < 0 || cordon_box_set(box, CORDON_SINGLE_THREAD, "1") < 0 ||
            cordon_box_set(box, CORDON_LEDGER, "off") < 0 || cordon_box_set(box, CORDON_OBSERVE, "off") < 0)
                return -1;

        cordon_box_on_output(box, cli_ignore_output, NULL);
        if (cordon_box_start(box, e) < 0)
                return -1;

        while (cordon_box_wait(box, -1) == 0)
                ;

        const cordon_error *failed = cordon_box_result(box)->error;
        if (failed)
                *e = *failed;

        return failed ? -1 : 0;
}

/* A box behind this wall with this command; `see` gets its result. */
static int start_once(const char *const start[2], void (*see)(void *ctx, const cordon_result *r), void *ctx,
                      cordon_error *e)
{
        cordon_policy *p = cli_policy_new();
        int r = p ? cordon_policy_add(p, "wall", start[0], e) : -1;
        cordon_box *box = r == 0 ? cli_box_new(p) : NULL;
        r = box ? drive_box(box, start[1], e) : -1;
        if (r == 0)
                see(ctx, cordon_box_result(box));

        cordon_box_free(box);
        cordon_policy_free(p);
        return r;
}

static void see_start(void *ctx, const cordon_result *r)
{
        struct wall *w = ctx;
        w->groups = r->groups != 0;
        if (w->count < RUNS_MAX)
                w->start_ns[w->count++] = r->start_ns;
}

static void see_wall(void *ctx, const cordon_result *r)
{
        (void) snprintf(ctx, sizeof((struct walls *) 0)->picked, "%s", r->wall);
}

static int once_of(const struct walls *s, size_t i, struct wall *w, cordon_error *e)
{
        const char *const start[] = { rows[i].name, rows[i].modules ? s->modules.quick : "true" };
        return start_once(start, see_start, w, e);
}

static void try_wall(const struct walls *s, size_t i)
{
        struct wall *w = &s->v[i];
        cordon_error e = { 0 };
        w->here = once_of(s, i, w, &e) == 0;
        w->count = 0; /* the first one warms up */
        if (!w->here)
                (void) snprintf(w->why, sizeof w->why, "%.390s",
                                e.what[0] ? e.what : "it could not be tried");
}

/* In turn, so that whatever else this machine does falls on all of them. */
static void measure_starts(struct walls *s)
{
        cordon_error ignored;
        const struct timespec pause = { 0, 2000000 };
        for (long r = 0; r < s->runs; r++)
                for (size_t i = 0; i < ROWS; i++) {
                        size_t k = r % 2 ? ROWS - 1 - i : i;
                        if (!s->v[k].here)
                                continue;
                        (void) nanosleep(&pause, NULL);
                        (void) once_of(s, k, &s->v[k], &ignored);
                }
}

static int by_value(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
        return x < y ? -1 : x > y;
}

static double median_us(struct wall *w)
{
        if (w->count == 0)
                return 0;
        qsort(w->start_ns, w->count, sizeof *w->start_ns, by_value);
        const uint64_t *middle = w->start_ns + w->count / 2;
        return (double) *middle / 1e3;
}

/* ---- memory of an idle box: keeper, janitor and init; the command itself is left out ---- */

struct family {
        pid_t pid[FAMILY_MAX];
        size_t n;
};

static pid_t parent_of(pid_t pid)
{
        char name[64], text[512];
        (void) snprintf(name, sizeof name, "/proc/%d/stat", (int) pid);
        if (fd_get(AT_FDCWD, name, text, sizeof text) < 0)
                return 0;
        const char *after = strrchr(text, ')'); /* ") S 123 ...": the state, and the parent */
        return after && strlen(after) > 4 ? (pid_t) strtol(after + 4, NULL, 10) : 0;
}

static bool has_process(const struct family *f, pid_t pid)
{
        for (size_t i = 0; i < f->n; i++)
                if (f->pid[i] == pid)
                        return true;
        return false;
}

/* `first`, and all below it. A child may have a smaller number: until nothing is new. */
static void find_family(pid_t first, struct family *f)
{
        f->n = 0;
        f->pid[f->n++] = first;
        for (size_t before = 0; before != f->n;) {
                before = f->n;
                DIR *d = opendir("/proc");
                for (struct dirent *x; d && (x = readdir(d));) {
                        pid_t pid = (pid_t) strtol(x->d_name, NULL, 10);
                        if (pid > 1 && f->n < FAMILY_MAX && !has_process(f, pid) &&
                            has_process(f, parent_of(pid)))
                                f->pid[f->n++] = pid;
                }
                if (d)
                        (void) closedir(d);
        }
}

static bool is_command(pid_t pid)
{
        char name[64], comm[32] = "";
        (void) snprintf(name, sizeof name, "/proc/%d/comm", (int) pid);
        (void) fd_get(AT_FDCWD, name, comm, sizeof comm);
        return strncmp(comm, "sleep", 5) == 0 || strncmp(comm, "engine", 6) == 0;
}

/* The proportional share; -1: this account may not read it. */
static int64_t share_of(pid_t pid)
{
        char name[64], text[2048];
        (void) snprintf(name, sizeof name, "/proc/%d/smaps_rollup", (int) pid);
        if (fd_get(AT_FDCWD, name, text, sizeof text) < 0)
                return -1;

        const char *at = strstr(text, "\nPss:");
        errno = ESRCH; /* it has ended */
        return at ? (int64_t) strtoll(at + 5, NULL, 10) * 1024 : -1;
}

static int64_t share_of_all(const struct family *f)
{
        int64_t sum = 0;
        bool idle = false;
        for (size_t i = 0; i < f->n; i++) {
                if (is_command(f->pid[i])) {
                        idle = true;
                        continue;
                }
                int64_t n = share_of(f->pid[i]);
                if (n < 0)
                        return errno == EACCES || errno == EPERM ? -1 : 0; /* a helper went meanwhile */
                sum += n;
        }

        return idle ? sum : 0; /* 0: not up yet */
}

static int64_t weigh_box(pid_t keeper)
{
        const struct timespec tick = { 0, TICK_NS };
        int64_t sum = 0;
        for (int i = 0; i < PATIENCE && sum == 0; i++) {
                struct family f;
                (void) nanosleep(&tick, NULL);
                find_family(keeper, &f);
                sum = share_of_all(&f);
        }

        return sum > 0 ? sum : -1;
}

static int64_t measure_memory(const struct walls *s, size_t row)
{
        extern char **environ;
        const char *cordon = selftest_cordon();
        const char *sleep = rows[row].modules ? s->modules.idle : "sleep";
        const char *argv[] = { cordon,   "run", "-q", "--ledger", "off", "--wall", rows[row].name,
                               "--time", "10s", "--", sleep,      "9",   NULL };
        posix_spawn_file_actions_t fa;
        pid_t pid;
        if (posix_spawn_file_actions_init(&fa) != 0)
                return -1;

        for (int i = 0; i < 3; i++)
                (void) posix_spawn_file_actions_addopen(&fa, i, "/dev/null", O_RDWR, 0);

        int bad = posix_spawn(&pid, cordon, &fa, NULL, (char *const *) (uintptr_t) argv, environ);
        (void) posix_spawn_file_actions_destroy(&fa);
        if (bad)
                return -1;

        int64_t bytes = weigh_box(pid);
        (void) kill(pid, SIGTERM);
        (void) waitpid(pid, NULL, 0);
        return bytes;
}

/* ---- output ---- */

static void put_row(struct wall *w, size_t i, struct buf *o)
{
        buf_printf(o, "%-10s ", rows[i].name);
        if (w->here)
                buf_printf(o, "%9.0f", median_us(w));
        else
                buf_printf(o, "%9s", "-");

        if (w->here && w->memory >= 0)
                buf_printf(o, " %9lld", (long long) w->memory / 1024);
        else
                buf_printf(o, " %9s", "-");

        buf_printf(o, "  %s%s%s\n", rows[i].what, w->here ? "" : "; not here: ", w->why);
}

/* An ordinary user may not look into processes that have another id or dump nothing. */
static const char *memory_why(const struct wall *w)
{
        return w->here && w->memory < 0 ? "this account cannot read the memory of a box's processes" : "";
}

static void put_list(const char *const *list, struct buf *o)
{
        for (; list && *list; list++)
                buf_printf(o, "  %s\n", *list);
}

static void put_text(struct walls *s, struct buf *o)
{
        bool any_here = false, groups = true;
        buf_printf(o, "%-10s %9s %9s\n", "wall", "start us", "memory K");
        for (size_t i = 0; i < ROWS; i++) {
                put_row(&s->v[i], i, o);
                any_here |= s->v[i].here;
                groups &= !s->v[i].here || s->v[i].groups;
        }

        for (size_t i = 0; i < ROWS; i++)
                if (memory_why(&s->v[i])[0]) {
                        buf_printf(o, "\nNo memory: %s.\n", memory_why(&s->v[i]));
                        break;
                }

        if (s->picked[0])
                buf_printf(o, "\n`wall auto` raises the %s wall here.\n", s->picked);

        if (!any_here)
                buf_puts(o, "\nNo wall can be raised here: nothing is started; `cordon doctor` tells what to "
                            "mend.\n");

        for (size_t i = 0; i < ROWS; i++)
                if (s->v[i].here && rows[i].gaps) {
                        buf_printf(o, "\nThe %s wall does not stop:\n", rows[i].name);
                        put_list(rows[i].gaps, o);
                }

        buf_puts(o, "\nNo wall here stops:\n");
        put_list(gaps_always, o);
        if (any_here && !groups)
                put_list(gaps_no_group, o);
}

static void put_json_list(const char *const *list, bool *first, struct buf *o)
{
        for (; list && *list; list++) {
                buf_puts(o, *first ? "" : ",");
                *first = false;
                buf_json(o, span_str(*list));
        }
}

static void put_json_row(struct wall *w, size_t i, struct buf *o)
{
        bool first = true;
        buf_printf(o, "%s{\"wall\":\"%s\",\"what\":\"%s\",\"here\":%s,\"why\":", i ? "," : "", rows[i].name,
                   rows[i].what, w->here ? "true" : "false");
        buf_json(o, span_str(w->why));
        if (!w->here) {
                buf_puts(o, ",\"start_us\":null,\"memory\":null,\"does_not_stop\":null}");
                return;
        }

        buf_printf(o, ",\"start_us\":%.1f,\"runs\":%u,\"memory\":", median_us(w), w->count);
        if (w->memory >= 0)
                buf_printf(o, "%lld", (long long) w->memory);
        else
                buf_puts(o, "null");

        buf_printf(o, ",\"memory_why\":\"%s\"", memory_why(w));
        buf_printf(o, ",\"groups\":%s,\"does_not_stop\":[", w->groups ? "true" : "false");
        put_json_list(rows[i].gaps, &first, o);
        put_json_list(w->groups ? NULL : gaps_no_group, &first, o);
        put_json_list(gaps_always, &first, o);
        buf_puts(o, "]}");
}

static void put_json(struct walls *s, struct buf *o)
{
        buf_printf(o, "{\"auto\":\"%s\",\"walls\":[", s->picked);
        for (size_t i = 0; i < ROWS; i++)
                put_json_row(&s->v[i], i, o);
        buf_puts(o, "]}\n");
}

int verb_walls(int argc, char **argv)
{
        struct walls s = { .runs = RUNS };
        cordon_error ignored = { 0 };
        AUTO_BUF(out);
        int at = cli_options(argc, argv, cli_verb_find("selftest walls"), &s, NULL);
        if (at < 0)
                return EXIT_CORDON;

        if (at < argc)
                return cli_usage("walls takes no word such as %s; `cordon run --wall NAME` raises one",
                                 argv[at]);

        s.v = calloc(ROWS, sizeof *s.v);
        if (!s.v)
                return cli_usage("no memory");

        (void) modules_make(&s.modules); /* if it fails, the wall that needs them says what is missing */
        for (size_t i = 0; i < ROWS; i++)
                try_wall(&s, i);

        const char *const any[] = { "auto", "true" };
        (void) start_once(any, see_wall, s.picked, &ignored);
        measure_starts(&s);
        for (size_t i = 0; i < ROWS; i++)
                s.v[i].memory = s.v[i].here ? measure_memory(&s, i) : -1;

        modules_remove(&s.modules);
        (s.json ? put_json : put_text)(&s, &out);
        free(s.v);
        int bad = cli_put(&out);
        return bad ? bad : s.picked[0] ? 0 : 1;
}

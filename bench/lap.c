/* SPDX-License-Identifier: MIT */
/* bench/lap.c - times commands side by side: every round runs each command once, so that what disturbs the
 * machine disturbs all of them alike. A round begins when the machine is quiet, and is thrown away and run
 * again when the machine is busy at its end (both within a budget of seconds). Its order is shuffled, and one
 * run before it is not counted: who comes first after a pause pays for cold caches and sleeping cores.
 * Called by bench/run: lap [-c] [-i] [-n ROUNDS] [-p PAUSE_US] [-g GATE_SECONDS] [-o TSV] [-e NAME=VALUE]...
 * < rows -e sets a variable of the commands, which have three others. -c takes processor time, user and
 * system of all that a command started, in place of time. -i also prints the median of the rounds' own
 * ratios, and between which two it lies 95 times of 100: what a figure of one part in a hundred needs, where
 * two runs of one command differ by ten. A row is one line of tab-separated words: who, label of the row it
 * is compared with, label, command... who   self; user: ids 65533, dropped before timing; v1: root, cgroup v2
 * hidden (crun refuses hybrid hosts) Never: fails on a figure. A command that does not run here is printed
 * with its own reason. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROWS_MAX = 64, WORDS_MAX = 64, WARM_UP = 2, USER_ID = 65533 };
enum { SETTLE_US = 20000, WINDOW_US = 40000, BUSY_TICKS = 2, REASON_MAX = 160 };
enum who { WHO_SELF, WHO_USER, WHO_V1, WHO__COUNT };
static const char *const who_names[WHO__COUNT] = { "self", "user", "v1" };

struct row {
        enum who who;
        int processor; /* its time counts */
        char *base, *label;
        char *argv[WORDS_MAX + 1];
        char reason[REASON_MAX]; /* why it is not measured; empty: it is */
        uint64_t *ns;
        double low, mid, high; /* of its rounds' ratios to those of its base */
};

/* One process for each account: the ids are dropped once, before anything is timed. */
struct worker {
        pid_t pid;
        int ask, answer;
};

struct answer {
        uint64_t ns;
        int status; /* of waitpid; -1: did not start */
};

struct lap {
        struct row rows[ROWS_MAX];
        unsigned count;
        long rounds, pause_us, gate_s, discarded, noisy, waited_ms;
        const char *tsv;
        int errors; /* memfd: standard error of the newest command */
        int processor, intervals;
        struct worker workers[WHO__COUNT];
};

static void die(const char *what)
{
        (void) fprintf(stderr, "lap: %s: %s\n", what, strerror(errno));
        exit(1);
}

static uint64_t now_ns(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * 1000000000U + (uint64_t) t.tv_nsec;
}

/* --- the quiet gate --- */

/* Ticks in which any processor was not idle. */
static long busy_ticks(void)
{
        long user = 0, nice = 0, sys = 0, irq = 0, soft = 0, steal = 0;
        FILE *f = fopen("/proc/stat", "re");
        if (!f)
                return 0;
        if (fscanf(f, "cpu %ld %ld %ld %*d %*d %ld %ld %ld", &user, &nice, &sys, &irq, &soft, &steal) != 6)
                user = 0;
        (void) fclose(f);
        return user + nice + sys + irq + soft + steal;
}

/* Nothing of ours runs in the window, so what is busy in it is somebody else. */
static int is_quiet(void)
{
        (void) usleep(SETTLE_US);
        long before = busy_ticks();
        (void) usleep(WINDOW_US);
        return busy_ticks() - before < BUSY_TICKS;
}

/* Waits for quiet while the budget lasts. */
static int gate(struct lap *l)
{
        for (;;) {
                uint64_t t = now_ns();
                if (is_quiet())
                        return 1;
                if (l->waited_ms >= l->gate_s * 1000)
                        return 0;
                l->waited_ms += (long) ((now_ns() - t) / 1000000);
        }
}

/* --- one command --- */

static uint64_t spent_ns(const struct rusage *u)
{
        return (uint64_t) (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000U +
               (uint64_t) (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000U;
}

static char *given[4];
static unsigned given_count;

static struct answer once(const struct row *r, int errors)
{
        char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                              "HOME=/",
                              "LANG=C.UTF-8",
                              given[0],
                              given[1],
                              given[2],
                              given[3],
                              NULL };
        struct answer a = { 0, -1 };
        struct rusage used = { 0 };
        posix_spawn_file_actions_t fa;
        pid_t pid;
        (void) posix_spawn_file_actions_init(&fa);
        (void) posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
        (void) posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
        (void) posix_spawn_file_actions_adddup2(&fa, errors, 2);
        uint64_t t = now_ns();
        int bad = posix_spawn(&pid, r->argv[0], &fa, NULL, r->argv, env);
        if (!bad)
                (void) wait4(pid, &a.status, 0, &used);
        a.ns = r->processor ? spent_ns(&used) : now_ns() - t;
        (void) posix_spawn_file_actions_destroy(&fa);
        errno = bad;
        return a;
}

static void become(enum who who)
{
        if (who == WHO_USER && geteuid() == 0 &&
            (setgroups(0, NULL) < 0 || setresgid(USER_ID, USER_ID, USER_ID) < 0 ||
             setresuid(USER_ID, USER_ID, USER_ID) < 0))
                die("dropping ids");
        if (who == WHO_V1 && unshare(CLONE_NEWNS) == 0 &&
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
                (void) umount2("/sys/fs/cgroup/unified", MNT_DETACH);
}

static _Noreturn void work(const struct lap *l, enum who who, int ask, int answer)
{
        unsigned i;
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        become(who);
        while (read(ask, &i, sizeof i) == (ssize_t) sizeof i) {
                (void) ftruncate(l->errors, 0);
                (void) lseek(l->errors, 0, SEEK_SET);
                struct answer a = once(&l->rows[i], l->errors);
                if (write(answer, &a, sizeof a) != (ssize_t) sizeof a)
                        break;
        }
        _exit(0);
}

static void hire(struct lap *l, enum who who)
{
        int ask[2], answer[2];
        if (pipe2(ask, O_CLOEXEC) < 0 || pipe2(answer, O_CLOEXEC) < 0)
                die("pipe");
        pid_t pid = fork();
        if (pid < 0)
                die("fork");
        if (pid == 0) {
                (void) close(ask[1]);
                work(l, who, ask[0], answer[1]);
        }
        (void) close(ask[0]);
        (void) close(answer[1]);
        l->workers[who] = (struct worker){ pid, ask[1], answer[0] };
}

static struct answer measure(struct lap *l, unsigned i)
{
        struct answer a;
        struct worker *w = &l->workers[l->rows[i].who];
        if (w->pid == 0)
                hire(l, l->rows[i].who);
        if (write(w->ask, &i, sizeof i) != (ssize_t) sizeof i ||
            read(w->answer, &a, sizeof a) != (ssize_t) sizeof a)
                die("worker");
        return a;
}

/* The last line the command wrote on standard error is its reason. */
static void set_reason(const struct lap *l, struct row *r, struct answer a)
{
        char text[4096];
        ssize_t n = pread(l->errors, text, sizeof text - 1, 0);
        text[n > 0 ? n : 0] = '\0';
        for (char *p = text; *p; p++)
                if (*p != '\n' && (*p < ' ' || *p > '~'))
                        *p = '?';
        char *line = strtok(text, "\n");
        if (line)
                (void) snprintf(r->reason, sizeof r->reason, "%s", line);
        else
                (void) snprintf(r->reason, sizeof r->reason,
                                a.status == -1 ? "%s is not installed" : "%s failed", r->argv[0]);
}

/* --- rounds --- */

static void warm_up(struct lap *l)
{
        for (int round = 0; round < WARM_UP; round++)
                for (unsigned i = 0; i < l->count; i++) {
                        struct row *r = &l->rows[i];
                        struct answer a = { 0, 0 };
                        if (!*r->reason)
                                a = measure(l, i);
                        if (a.status)
                                set_reason(l, r, a);
                }
}

/* The same orders in every bench: rand() is never seeded. */
static void shuffle(unsigned *order, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                order[i] = i;
        for (unsigned i = n; i > 1; i--) {
                unsigned other = (unsigned) rand() % i, kept = order[i - 1];
                order[i - 1] = order[other];
                order[other] = kept;
        }
}

static void run_round(struct lap *l, long round)
{
        unsigned order[ROWS_MAX] = { 0 };
        shuffle(order, l->count);
        if (!*l->rows[order[0]].reason)
                (void) measure(l, order[0]);
        for (unsigned i = 0; i < l->count; i++) {
                struct row *r = &l->rows[order[i]];
                if (*r->reason)
                        continue;
                if (l->pause_us)
                        (void) usleep((useconds_t) l->pause_us);
                struct answer a = measure(l, order[i]);
                r->ns[round] = a.ns;
                if (a.status)
                        set_reason(l, r, a);
        }
}

static void run_rounds(struct lap *l)
{
        for (long round = 0; round < l->rounds; round++) {
                int quiet = l->gate_s == 0 || gate(l);
                uint64_t t = now_ns();
                run_round(l, round);
                if (l->gate_s == 0)
                        continue;
                if (is_quiet() && quiet)
                        continue;
                if (l->waited_ms < l->gate_s * 1000) {
                        l->waited_ms += (long) ((now_ns() - t) / 1000000);
                        l->discarded++;
                        round--;
                } else {
                        l->noisy++;
                }
        }
}

/* --- the table --- */

static int by_ratio(const void *a, const void *b)
{
        double x = *(const double *) a, y = *(const double *) b;
        return x < y ? -1 : x > y;
}

/* The ranks between which the median of all rounds that could be lies, 95 times of 100: n/2 +- 0.98 sqrt(n).
 */
static void compare_rounds(const struct lap *l, struct row *r, const struct row *base)
{
        double *ratio = calloc((size_t) l->rounds, sizeof *ratio);
        if (!ratio)
                die("memory");
        for (long i = 0; i < l->rounds; i++)
                ratio[i] = (double) r->ns[i] / (double) base->ns[i];
        qsort(ratio, (size_t) l->rounds, sizeof *ratio, by_ratio);
        double n = (double) l->rounds, around = 0.98 * sqrt(n);
        long from = (long) (n / 2 - around), to = (long) (n / 2 + around);
        r->low = ratio[from < 0 ? 0 : from];
        r->mid = ratio[l->rounds / 2];
        r->high = ratio[to < l->rounds ? to : l->rounds - 1];
        free(ratio);
}

static int by_value(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
        return x < y ? -1 : x > y;
}

static double at_us(const struct lap *l, const struct row *r, double share)
{
        return (double) r->ns[(size_t) ((double) (l->rounds - 1) * share + 0.5)] / 1e3;
}

static const struct row *find(const struct lap *l, const char *label)
{
        for (unsigned i = 0; i < l->count; i++)
                if (strcmp(l->rows[i].label, label) == 0 && !*l->rows[i].reason)
                        return &l->rows[i];
        return NULL;
}

static void print_row(const struct lap *l, const struct row *r, FILE *tsv)
{
        if (*r->reason) {
                (void) printf("  %-50s not measured: %s\n", r->label, r->reason);
                return;
        }
        const struct row *base = find(l, r->base);
        double median = at_us(l, r, 0.5);
        (void) printf("  %-50s %9.0f %9.0f %9.0f", r->label, at_us(l, r, 0.1), median, at_us(l, r, 0.99));
        if (base)
                (void) printf(" %8.2fx", median / at_us(l, base, 0.5));
        if (base && l->intervals && base != r)
                (void) printf("   round by round %.3fx (%.3f to %.3f)", r->mid, r->low, r->high);
        (void) printf("\n");
        double sum = 0;
        for (long i = 0; i < l->rounds; i++)
                sum += (double) r->ns[i] / 1e3;
        if (tsv)
                (void) fprintf(tsv, "%s\t%ld\t%.1f\t%.1f\t%.1f\n", r->label, l->rounds, median,
                               at_us(l, r, 0.99), sum);
}

static void print_table(struct lap *l)
{
        FILE *tsv = l->tsv ? fopen(l->tsv, "we") : NULL;
        for (unsigned i = 0; i < l->count; i++) {
                const struct row *base = find(l, l->rows[i].base);
                if (base && !*l->rows[i].reason)
                        compare_rounds(l, &l->rows[i], base);
        }
        for (unsigned i = 0; i < l->count; i++)
                qsort(l->rows[i].ns, (size_t) l->rounds, sizeof(uint64_t), by_value);
        (void) printf("  %-50s %9s %9s %9s %9s\n", "", "p10 us", "median us",
                      l->rounds < 100 ? "worst us" : "p99 us", "ratio");
        for (unsigned i = 0; i < l->count; i++)
                print_row(l, &l->rows[i], tsv);
        (void) printf("  (%ld runs each, interleaved", l->rounds);
        if (l->gate_s)
                (void) printf("; waited %ld s for quiet, %ld rounds run again, %ld kept although others used "
                              "the CPU",
                              l->waited_ms / 1000, l->discarded, l->noisy);
        (void) printf(")\n");
        if (tsv)
                (void) fclose(tsv);
}

/* --- rows in --- */

static void add_row(struct lap *l, char *line)
{
        char *words[WORDS_MAX + 4] = { 0 };
        unsigned n = 0;
        for (char *w = strsep(&line, "\t"); w && n < WORDS_MAX + 3; w = strsep(&line, "\t"))
                words[n++] = w;
        if (n < 4 || l->count == ROWS_MAX) {
                errno = EINVAL;
                die("row");
        }
        struct row *r = &l->rows[l->count++];
        for (int w = 0; w < WHO__COUNT; w++)
                if (strcmp(words[0], who_names[w]) == 0)
                        r->who = (enum who) w;
        r->base = words[1];
        r->label = words[2];
        for (unsigned i = 3; i < n; i++)
                r->argv[i - 3] = words[i];
        r->processor = l->processor;
        if (!(r->ns = calloc((size_t) l->rounds, sizeof *r->ns)))
                die("memory");
}

int main(int argc, char **argv)
{
        static struct lap l = { .rounds = 100, .pause_us = 2000, .gate_s = 20 };
        for (int c; (c = getopt(argc, argv, "cin:p:g:o:e:")) != -1;)
                switch (c) {
                case 'c':
                        l.processor = 1;
                        break;
                case 'i':
                        l.intervals = 1;
                        break;
                case 'n':
                        l.rounds = strtol(optarg, NULL, 10);
                        break;
                case 'p':
                        l.pause_us = strtol(optarg, NULL, 10);
                        break;
                case 'g':
                        l.gate_s = strtol(optarg, NULL, 10);
                        break;
                case 'e':
                        if (given_count < sizeof given / sizeof *given)
                                given[given_count++] = optarg;
                        break;
                case 'o':
                        l.tsv = optarg;
                        break;
                default:
                        return 2;
                }
        if (l.rounds < 1)
                l.rounds = 1;
        if ((l.errors = memfd_create("errors", MFD_CLOEXEC)) < 0)
                die("memfd");
        char *line = NULL;
        size_t room = 0;
        for (ssize_t n; (n = getline(&line, &room, stdin)) > 0; line = NULL, room = 0) {
                if (line[n - 1] == '\n')
                        line[n - 1] = '\0';
                add_row(&l, line);
        }
        warm_up(&l);
        run_rounds(&l);
        print_table(&l);
        return 0;
}

/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/one_loop.c - many boxes from one loop in one thread, as a program of somebody else drives
 * them. Sees cordon.h and nothing else of ours. */
#include "library.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BOXES = 200, AT_ONCE = 64, QUICK = 20, UP = 40, EVENTS = 16 };

struct job {
        int kind, number;
        cordon_policy *policy;
        cordon_box *box;
        double due; /* -1: not before its descriptor is readable */
        int over, failed_at_once, prodded;
        int end, code; /* of its result */
        char limit[16], what[400];
        struct heard heard;
};

static int loop = -1;

static void use_all_descriptors(void)
{
        struct rlimit files;
        if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
                files.rlim_cur = files.rlim_max;
                (void) setrlimit(RLIMIT_NOFILE, &files);
        }
        loop = epoll_create1(EPOLL_CLOEXEC);
}

static void add(cordon_policy *p, const char *word, const char *arg)
{
        cordon_error e;
        if (cordon_policy_add(p, word, arg, &e) < 0) {
                expect(0, "policy: %s %s: %s", word, arg, e.what);
                exit(1);
        }
}

static void keep_result(struct job *j)
{
        const cordon_result *r = cordon_box_result(j->box);
        j->over = 1;
        j->end = (int) r->end;
        j->code = r->code;
        (void) snprintf(j->limit, sizeof j->limit, "%s", r->limit);
        (void) snprintf(j->what, sizeof j->what, "%s", r->error ? r->error->what : "");
}

static void job_free(struct job *j)
{
        cordon_box_free(j->box);
        cordon_policy_free(j->policy);
        j->box = NULL;
        j->policy = NULL;
}

static void job_new(struct job *j, const char *const *argv)
{
        j->policy = cordon_policy_new(test_context());
        j->box = cordon_box_new(j->policy);
        if (!j->box || cordon_box_command(j->box, argv) < 0) {
                expect(0, "a box: no memory");
                exit(1);
        }
        cordon_box_on_output(j->box, hear, &j->heard);
}

/* The rest of the start happens in the loop. */
static void job_begin(struct job *j)
{
        cordon_error e;
        struct epoll_event ev = { .events = EPOLLIN, .data = { .ptr = j } };
        if (cordon_box_start_async(j->box, &e) < 0) {
                j->failed_at_once = 1;
                keep_result(j);
                return;
        }
        int fd = cordon_box_fd(j->box);
        if (fd < 0 || epoll_ctl(loop, EPOLL_CTL_ADD, fd, &ev) < 0)
                expect(0, "its descriptor: %s", strerror(errno));
        if (cordon_box_fd(j->box) != fd)
                expect(0, "the descriptor of a box stays the same");
        j->due = 0;
}

static void job_step(struct job *j)
{
        if (cordon_box_step(j->box) == 1) {
                keep_result(j);
                return;
        }
        int ms = cordon_box_next_ms(j->box);
        j->due = ms < 0 ? -1 : now_ms() + ms;
}

/* One turn of the loop over all of them; `prod` may do something to a box that was stepped. */
static void turn(struct job *jobs, int count, void (*prod)(struct job *))
{
        struct epoll_event ev[EVENTS];
        double first = -1, now = now_ms();
        int live = 0;
        for (int i = 0; i < count; i++) {
                int runs = jobs[i].box && !jobs[i].over;
                live += runs;
                if (runs && jobs[i].due >= 0 && (first < 0 || jobs[i].due < first))
                        first = jobs[i].due;
        }
        if (live == 0)
                return;
        int n = epoll_wait(loop, ev, EVENTS, first < 0 ? -1 : first <= now ? 0 : (int) (first - now) + 1);
        for (int i = 0; i < n; i++)
                ((struct job *) ev[i].data.ptr)->due = 0;
        now = now_ms();
        for (int i = 0; i < count; i++) {
                struct job *j = &jobs[i];
                if (!j->box || j->over || j->due < 0 || j->due > now)
                        continue;
                job_step(j);
                if (!j->over && prod)
                        prod(j);
        }
}

static unsigned threads(void)
{
        unsigned n = 0;
        DIR *d = opendir("/proc/self/task");
        for (const struct dirent *x; d && (x = readdir(d));)
                n += x->d_name[0] != '.';
        if (d)
                (void) closedir(d);
        return n;
}

static long resident_kb(void)
{
        long size = 0, pages = 0;
        FILE *f = fopen("/proc/self/statm", "re");
        if (f && fscanf(f, "%ld %ld", &size, &pages) != 2)
                pages = 0;
        if (f)
                (void) fclose(f);
        return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* ---- two hundred boxes of all kinds ---- */

enum {
        KIND_EXIT,
        KIND_SIGNAL,
        KIND_MUCH,
        KIND_OUTPUT,
        KIND_TIME,
        KIND_NO_PROGRAM,
        KIND_NO_DOOR,
        KIND_KILLED,
        KIND_KILLED_EARLY,
        KIND_TERM,
        KINDS
};

static const struct {
        const char *script, *limit;
        int end, code; /* -1: its number, modulo 50 */
        const char *limit_hit;
        size_t bytes; /* of its output; 0: whatever */
} kinds[KINDS] = {
        [KIND_EXIT] = { "echo here; exit $0", NULL, CORDON_EXITED, -1, "", 5 },
        [KIND_SIGNAL] = { "kill -9 $$", NULL, CORDON_SIGNALED, 9, "", 0 },
        [KIND_MUCH] = { "i=0; while [ $i -lt 3000 ]; do echo "
                        "0123456789012345678901234567890123456789012345678"
                        "901234567890123456789012345678901234567890123456789; i=$((i + 1)); done",
                        NULL, CORDON_EXITED, 0, "", 303000 },
        [KIND_OUTPUT] = { "while :; do echo 01234567890123456789012345678901234567890123456789; done",
                          "output 64K", CORDON_LIMIT, 0, "output", 65536 },
        [KIND_TIME] = { "sleep 600", "time 300ms", CORDON_LIMIT, 0, "time", 0 },
        [KIND_NO_PROGRAM] = { NULL, NULL, CORDON_NOT_STARTED, 0, "", 0 },
        [KIND_NO_DOOR] = { "exit 0", NULL, CORDON_FAILED, 0, "", 0 },
        [KIND_KILLED] = { "sleep 600", NULL, CORDON_SIGNALED, 9, "", 0 },
        [KIND_KILLED_EARLY] = { "sleep 600", NULL, CORDON_SIGNALED, 9, "", 0 },
        [KIND_TERM] = { "trap 'exit 7' TERM; echo set; sleep 600 & wait", NULL, CORDON_EXITED, 7, "", 4 },
};

static void begin_kind(struct job *j)
{
        char number[16];
        const char *missing[] = { "/no/such/program", NULL };
        const char *argv[] = { "sh", "-c", kinds[j->kind].script, number, NULL };
        (void) snprintf(number, sizeof number, "%d", j->number % 50);
        job_new(j, j->kind == KIND_NO_PROGRAM ? missing : argv);
        add(j->policy, "run", "sh");
        add(j->policy, "run", "sleep");
        if (kinds[j->kind].limit)
                add(j->policy, "limit", kinds[j->kind].limit);
        if (j->kind == KIND_NO_DOOR)
                add(j->policy, "read", "/no/such/door");
        job_begin(j);
        if (j->kind == KIND_KILLED_EARLY)
                cordon_box_kill(j->box);
}

static void prod_kind(struct job *j)
{
        int ready =
                j->kind == KIND_KILLED ? cordon_box_is_up(j->box) : j->kind == KIND_TERM && j->heard.total;
        if (!ready || j->prodded)
                return;
        j->prodded = 1;
        if (j->kind == KIND_TERM)
                cordon_box_signal(j->box, SIGTERM);
        else
                cordon_box_kill(j->box);
        j->due = 0;
}

static int is_right(const struct job *j)
{
        int code = kinds[j->kind].code < 0 ? j->number % 50 : kinds[j->kind].code;
        int right = j->end == kinds[j->kind].end && (j->code == code || j->end == CORDON_LIMIT) &&
                    strcmp(j->limit, kinds[j->kind].limit_hit) == 0 &&
                    (kinds[j->kind].bytes == 0 || kinds[j->kind].bytes == j->heard.total) &&
                    j->failed_at_once == (j->kind == KIND_NO_DOOR);
        static int told;
        if (!right && told++ < 5)
                (void) printf("# box %d of kind %d: end %d code %d limit \"%s\" %zu bytes: %s\n", j->number,
                              j->kind, j->end, j->code, j->limit, j->heard.total, j->what);
        return right;
}

static void run_mixed(void)
{
        int begun = 0, over = 0, right = 0, most = 0;
        unsigned before = descriptors(), at_most_threads = 1;
        use_all_descriptors();
        struct job *jobs = calloc(BOXES, sizeof *jobs);
        while (over < BOXES) {
                for (; begun < BOXES && begun - over < AT_ONCE; begun++) {
                        jobs[begun].kind = begun % KINDS;
                        jobs[begun].number = begun;
                        begin_kind(&jobs[begun]);
                }
                most = begun - over > most ? begun - over : most;
                turn(jobs, begun, prod_kind);
                at_most_threads = threads() > at_most_threads ? threads() : at_most_threads;
                over = 0;
                for (int i = 0; i < begun; i++) {
                        over += jobs[i].over;
                        if (jobs[i].over)
                                job_free(&jobs[i]);
                }
        }
        for (int i = 0; i < BOXES; i++)
                right += is_right(&jobs[i]);
        expect(right == BOXES, "%d of %d boxes ended as they should", right, BOXES);
        expect(most > AT_ONCE / 2 && most <= AT_ONCE, "many at once, and no more than asked for (%d)", most);
        expect(at_most_threads == 1, "in one thread (%u)", at_most_threads);
        (void) close(loop);
        free(jobs);
        nothing_left(before, "afterwards");
}

/* ---- some that take long hold up nobody ---- */

/* Every child that is there now and was not among `known`; how many. */
static int new_children(pid_t *known, int count, int most)
{
        char path[64];
        long pid;
        int n = count;
        (void) snprintf(path, sizeof path, "/proc/self/task/%d/children", (int) getpid());
        FILE *f = fopen(path, "re");
        while (f && fscanf(f, "%ld", &pid) == 1 && n < most) {
                int old = 0;
                for (int i = 0; i < count; i++)
                        old |= known[i] == (pid_t) pid;
                if (!old)
                        known[n++] = (pid_t) pid;
        }
        if (f)
                (void) fclose(f);
        return n;
}

static void quick_ones(struct job *jobs, int count, struct job *slow, int slow_count)
{
        static const char *const argv[] = { "sh", "-c", "echo quick", NULL };
        for (int i = 0; i < count; i++) {
                job_new(&jobs[i], argv);
                job_begin(&jobs[i]);
        }
        for (int over = 0; over < count;) {
                turn(slow, slow_count + count, NULL); /* they stand in one array */
                over = 0;
                for (int i = 0; i < count; i++)
                        over += jobs[i].over;
        }
}

static void run_held(void)
{
        enum { STOPPED, STARVED, UNREAD, SLOW, ALL = SLOW + QUICK };
        static const char *const scripts[] = { "read x; echo got $x", "read x <&3; echo got $x",
                                               "i=0; while [ $i -lt 4000 ]; do echo "
                                               "0123456789012345678901234567890123456789012345678; "
                                               "i=$((i + 1)); done >&3; echo written" };
        int go[2], in[2], out[2], right = 0;
        unsigned before = descriptors();
        pid_t children[64];
        use_all_descriptors();
        struct job *jobs = calloc(ALL, sizeof *jobs);
        if (pipe2(go, O_CLOEXEC) < 0 || pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
                exit(1);

        for (int i = 0; i < SLOW; i++) {
                const char *argv[] = { "sh", "-c", scripts[i], NULL };
                job_new(&jobs[i], argv);
                jobs[i].number = i;
        }
        cordon_box_stdio(jobs[STOPPED].box, 0, go[0]);
        add(jobs[STARVED].policy, "in", "doc");
        (void) cordon_box_handle(jobs[STARVED].box, "doc", in[0]);
        add(jobs[UNREAD].policy, "out", "res");
        (void) cordon_box_handle(jobs[UNREAD].box, "res", out[1]);

        /* The first one's processes are stopped in the middle of its start. */
        int known = new_children(children, 0, 64);
        job_begin(&jobs[STOPPED]);
        int stopped = new_children(children, known, 64);
        for (int i = known; i < stopped; i++)
                (void) kill(children[i], SIGSTOP);
        expect(stopped > known, "there is something to stop (%d)", stopped - known);
        job_begin(&jobs[STARVED]);
        job_begin(&jobs[UNREAD]);

        /* Until the last one has nothing left to do but to hand over what nobody takes. */
        while (jobs[UNREAD].heard.total == 0)
                turn(jobs, SLOW, NULL);
        quick_ones(jobs + SLOW, QUICK, jobs, SLOW);
        for (int i = SLOW; i < ALL; i++)
                right += jobs[i].end == CORDON_EXITED && jobs[i].code == 0 && jobs[i].heard.total == 6;
        expect(right == QUICK, "%d of %d boxes ended beside those", right, QUICK);
        expect(!jobs[STOPPED].over, "a box whose processes are stopped was not waited for");
        expect(!jobs[STARVED].over, "nor one whose input has not come");
        expect(!jobs[UNREAD].over, "nor one whose output nobody reads");

        /* And when what they wait for comes, each ends as any other. */
        char bytes[65536];
        size_t taken = 0;
        for (int i = known; i < stopped; i++)
                (void) kill(children[i], SIGCONT);
        (void) !write(go[1], "on\n", 3);
        (void) !write(in[1], "in\n", 3);
        (void) close(in[1]);
        (void) fcntl(out[0], F_SETFL, O_NONBLOCK);
        while (!jobs[STOPPED].over || !jobs[STARVED].over || !jobs[UNREAD].over) {
                ssize_t n = read(out[0], bytes, sizeof bytes);
                taken += n > 0 ? (size_t) n : 0;
                turn(jobs, ALL, NULL);
        }
        for (ssize_t n; (n = read(out[0], bytes, sizeof bytes)) > 0;)
                taken += (size_t) n;
        expect(strcmp(jobs[STOPPED].heard.text[1], "got on\n") == 0, "the stopped one went on (%s)",
               jobs[STOPPED].what);
        expect(strcmp(jobs[STARVED].heard.text[1], "got in\n") == 0, "the starved one was fed (%s)",
               jobs[STARVED].what);
        expect(taken == 200000, "the unread one handed over all (%zu, %s)", taken, jobs[UNREAD].what);
        for (int i = 0; i < ALL; i++)
                job_free(&jobs[i]);
        int *const mine[] = { &go[0], &go[1], &in[0], &out[0], &out[1], &loop };
        for (size_t i = 0; i < sizeof mine / sizeof *mine; i++)
                (void) close(*mine[i]);
        free(jobs);
        nothing_left(before, "afterwards");
}

/* A box with a credential, whose vault waits for its passphrase. The script that calls us has made it. */
static void run_locked(void)
{
        static const char *const argv[] = { "sh", "-c", "test -n \"$TOKEN\" && echo opened", NULL };
        char fd[16];
        int words[2], right = 0;
        unsigned before = descriptors();
        use_all_descriptors();
        struct job *jobs = calloc(1 + QUICK, sizeof *jobs);
        if (pipe2(words, O_CLOEXEC) < 0)
                exit(1);
        (void) snprintf(fd, sizeof fd, "%d", words[0]);
        job_new(jobs, argv);
        add(jobs->policy, "net", "https://api.example.com/** with tok");
        (void) cordon_box_set(jobs->box, CORDON_PASSPHRASE_FD, fd);
        job_begin(jobs);
        quick_ones(jobs + 1, QUICK, jobs, 1);
        for (int i = 1; i <= QUICK; i++)
                right += jobs[i].end == CORDON_EXITED && jobs[i].heard.total == 6;
        expect(right == QUICK, "%d of %d boxes ended beside it", right, QUICK);
        expect(!jobs->over && !cordon_box_is_up(jobs->box), "a vault that is not open was not waited for");
        (void) !write(words[1], "open sesame", 11);
        (void) close(words[1]);
        while (!jobs->over)
                turn(jobs, 1, NULL);
        expect(strcmp(jobs->heard.text[1], "opened\n") == 0, "and its box ran when it was open (%s)",
               jobs->what);
        for (int i = 0; i <= QUICK; i++)
                job_free(&jobs[i]);
        (void) close(words[0]);
        (void) close(loop);
        free(jobs);
        nothing_left(before, "afterwards");
}

/* ---- what one costs, and the end of the program that keeps them ---- */

static void all_up(struct job *jobs)
{
        static const char *const argv[] = { "sleep", "600", NULL };
        for (int i = 0; i < UP; i++) {
                job_new(&jobs[i], argv);
                job_begin(&jobs[i]);
        }
        for (int up = 0; up < UP;) {
                turn(jobs, UP, NULL);
                up = 0;
                for (int i = 0; i < UP; i++)
                        up += jobs[i].over || cordon_box_is_up(jobs[i].box);
        }
}

static void run_cost(void)
{
        unsigned before = descriptors(), over = 0;
        use_all_descriptors();
        struct job *jobs = calloc(UP, sizeof *jobs);
        long kb = resident_kb();
        all_up(jobs);
        unsigned each = (descriptors() - before) / UP;
        long each_kb = (resident_kb() - kb) / UP;
        (void) printf("# a box costs its keeper %u descriptors and %ld KB\n", each, each_kb);
        expect(each <= 24, "a box costs no more than 24 descriptors (%u)", each);
        expect(each_kb <= 200, "and 200 KB (%ld)", each_kb);
        for (int i = 0; i < UP; i++) {
                over += (unsigned) jobs[i].over;
                job_free(&jobs[i]); /* while they run */
        }
        expect(over == 0, "all of them ran");
        (void) close(loop);
        free(jobs);
        nothing_left(before, "after all were let go of");
}

/* Says when they are up; somebody else ends us. */
static void run_until_killed(void)
{
        use_all_descriptors();
        struct job *jobs = calloc(UP, sizeof *jobs);
        all_up(jobs);
        (void) printf("up\n");
        (void) fflush(stdout);
        for (;;)
                turn(jobs, UP, NULL);
}

int main(int argc, char **argv)
{
        static const struct library_case cases[] = {
                { "mixed", run_mixed }, { "held", run_held }, { "locked", run_locked }, { "cost", run_cost }
        };
        if (argc > 1 && strcmp(argv[1], "until-killed") == 0)
                run_until_killed();
        return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
}

/* SPDX-License-Identifier: MIT */
/* library_habits.c - habits of programs that a library must live with: signals, closed streams, copies,
 * threads. `library_habits CASE`. See library.h. */
#include "library.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

/* A payload that closes its input while we write to it. */
static void case_sigpipe(void)
{
        struct heard h;
        cordon_policy *p = policy_of(NULL);
        int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        cordon_box *b = box_of(p, "exec 0<&-; echo deaf; sleep 0.2", &h);
        cordon_box_stdio(b, 0, zero);
        (void) signal(SIGPIPE, SIG_DFL);
        if (started(b)) {
                const cordon_result *r = wait_for(b);
                expect(r->end == CORDON_EXITED && strcmp(h.text[1], "deaf\n") == 0,
                       "a payload that closes its input does not kill us by SIGPIPE");
        }
        cordon_box_free(b);
        (void) close(zero);
        cordon_policy_free(p);
}

/* A caller whose files may not grow: the ledger soon cannot, and its boxes come to their own end. */
static void case_growth(void)
{
        struct heard h;
        struct rlimit before, little;
        cordon_policy *p = policy_of(NULL);
        int good = 0, told = 0;
        (void) getrlimit(RLIMIT_FSIZE, &before);
        little = before;
        little.rlim_cur = 2000;
        (void) signal(SIGXFSZ, SIG_DFL);
        (void) setrlimit(RLIMIT_FSIZE, &little);
        for (int i = 0; i < 5; i++) {
                cordon_error e;
                cordon_box *b = box_of(p, "exit 5", &h);
                const cordon_result *r = cordon_box_start(b, &e) == 0 ? wait_for(b) : NULL;
                good += r && r->end == CORDON_EXITED && r->code == 5;
                char *json = r ? cordon_box_result_json(b) : NULL;
                told += json && strstr(json, "File too large") != NULL;
                cordon_free(json);
                cordon_box_free(b);
        }
        (void) setrlimit(RLIMIT_FSIZE, &before);
        expect(good == 5, "a ledger that may not grow ends neither a box nor its caller (%d of 5)", good);
        expect(told > 0, "and the result tells of it");
        sigset_t pending;
        (void) sigpending(&pending);
        expect(!sigismember(&pending, SIGXFSZ), "no signal is left of it");
        cordon_policy_free(p);
}

static void case_callers(void)
{
        struct heard h;
        cordon_policy *p = policy_of(NULL);
        cordon_box *b;
        (void) signal(SIGCHLD, SIG_IGN);
        b = box_of(p, "exit 5", &h);
        if (started(b)) {
                const cordon_result *r = wait_for(b);
                expect(r->end == CORDON_EXITED && r->code == 5,
                       "a caller that ignores SIGCHLD gets the right end (end %d code %d)", r->end, r->code);
        }
        cordon_box_free(b);
        (void) signal(SIGCHLD, SIG_DFL);

        sigset_t all, old, before, now;
        (void) sigfillset(&all);
        (void) pthread_sigmask(SIG_SETMASK, &all, &old);
        (void) pthread_sigmask(SIG_SETMASK, NULL, &before);
        b = box_of(p, "kill -TERM $$; echo lived", &h);
        if (started(b)) {
                const cordon_result *r = wait_for(b);
                expect(r->end == CORDON_SIGNALED && r->code == SIGTERM,
                       "the caller's signal mask is not the payload's (end %d code %d, %s)", r->end, r->code,
                       h.text[1]);
        }
        (void) pthread_sigmask(SIG_SETMASK, NULL, &now);
        expect(memcmp(&now, &before, 8) == 0, "and is as it was");
        (void) pthread_sigmask(SIG_SETMASK, &old, NULL);
        cordon_box_free(b);

        (void) fflush(stdout);
        int kept = dup(1);
        (void) close(0);
        (void) close(1);
        (void) close(2);
        b = box_of(p, "echo still; echo here >&2; exit 6", &h);
        cordon_error e;
        int good = cordon_box_start(b, &e) == 0;
        const cordon_result *r = good ? wait_for(b) : cordon_box_result(b);
        good = good && r->end == CORDON_EXITED && r->code == 6 && strcmp(h.text[1], "still\n") == 0 &&
               strcmp(h.text[2], "here\n") == 0;
        cordon_box_free(b);
        (void) open("/dev/null", O_RDWR);
        (void) dup2(kept, 1);
        (void) dup2(kept, 2);
        (void) close(kept);
        expect(good, "a caller without standard streams gets the right end");
        cordon_policy_free(p);
}

/* The program is killed; a copy that it had forked lives on, and has every descriptor that it had. */
static void killed_with_a_copy(const char *script, int tell)
{
        cordon_policy *p = policy_of(NULL);
        cordon_box *b = box_of(p, script, NULL);
        if (!started(b))
                _exit(1);
        for (double end = now_ms() + 500; now_ms() < end;)
                (void) cordon_box_wait(b, 20);
        pid_t copy = fork();
        if (copy == 0) {
                (void) sleep(30);
                _exit(0);
        }
        (void) !write(tell, &copy, sizeof copy);
        (void) usleep(300000); /* nobody listens to the box */
        (void) kill(getpid(), SIGKILL);
}

static void end_with_program(const char *script, const char *what)
{
        int line[2];
        pid_t copy = -1, got;
        if (pipe(line) < 0)
                return;
        pid_t program = fork();
        if (program == 0)
                killed_with_a_copy(script, line[1]);
        (void) close(line[1]);
        (void) !read(line[0], &copy, sizeof copy);
        (void) close(line[0]);
        double end = now_ms() + 10000;
        unsigned left = 1;
        while (copy > 0 && left && now_ms() < end) { /* what it leaves comes to us */
                while ((got = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
                        ;
                left = 0;
                char text[256] = "", name[64];
                (void) snprintf(name, sizeof name, "/proc/self/task/%d/children", (int) getpid());
                FILE *f = fopen(name, "r");
                if (f && !fgets(text, sizeof text, f))
                        text[0] = '\0';
                if (f)
                        (void) fclose(f);
                for (char *at = text, *next; (got = (pid_t) strtol(at, &next, 10)) > 0 && next != at;
                     at = next)
                        left += got != copy;
                (void) usleep(20000);
        }
        expect(copy > 0 && left == 0, "%s: nothing of it is left while a copy of the program lives (%u)",
               what, left);
        if (copy > 0)
                (void) kill(copy, SIGKILL);
        while (waitpid(-1, NULL, __WALL) > 0)
                ;
}

static void case_copies(void)
{
        (void) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        end_with_program("sleep 300", "a box");
        end_with_program("while :; do unshare -U true; done 2>/dev/null", "a box that is refused much");
}

/* Do all of a child's standard streams lead to /dev/null? One that cannot be looked at is not blamed. */
static int streams_are_null(pid_t pid)
{
        for (int i = 0; i < 3; i++) {
                char name[48], to[16] = "";
                (void) snprintf(name, sizeof name, "/proc/%d/fd/%d", (int) pid, i);
                if (readlink(name, to, sizeof to - 1) < 0 ? errno != EACCES : strcmp(to, "/dev/null") != 0)
                        return 0;
        }
        return 1;
}

static int is_broker(pid_t pid)
{
        char name[48], comm[32] = "";
        (void) snprintf(name, sizeof name, "/proc/%d/comm", (int) pid);
        FILE *f = fopen(name, "re");
        int yes = f && fgets(comm, sizeof comm, f) && strcmp(comm, "cordon-egress\n") == 0;
        if (f)
                (void) fclose(f);
        return yes;
}

/* Of a caller that has none itself. */
static void case_broker_streams(void)
{
        cordon_error e;
        int brokers = 0, good = 0;
        long pid;
        cordon_policy *p = policy_of(NULL);
        (void) cordon_policy_add(p, "net", "cordon.invalid:443", &e);
        (void) fflush(stdout);
        int kept = fcntl(1, F_DUPFD_CLOEXEC, 10);
        (void) close(0);
        (void) close(1);
        (void) close(2);
        cordon_box *b = box_of(p, "sleep 1", NULL);
        int up = cordon_box_start(b, &e) == 0;
        FILE *f = fopen("/proc/thread-self/children", "re");
        while (up && f && fscanf(f, "%ld", &pid) == 1)
                if (is_broker((pid_t) pid)) {
                        brokers++;
                        good += streams_are_null((pid_t) pid);
                }
        if (f)
                (void) fclose(f);
        if (up)
                (void) wait_for(b);
        cordon_box_free(b);
        (void) open("/dev/null", O_RDWR);
        (void) dup2(kept, 1);
        (void) dup2(kept, 2);
        (void) close(kept);
        expect(up && brokers == 1 && good == 1, "the broker has standard streams all the same (%d of %d)",
               good, brokers);
        cordon_policy_free(p);
}

/* A timer whose handler does nothing, as profilers have: what waits is interrupted again and again. */
static void tick(int sig) { (void) sig; }

static void set_timer(long us)
{
        struct sigaction on_tick = { .sa_handler = tick };
        struct itimerval every = { { 0, us }, { 0, us } };
        (void) sigaction(SIGALRM, &on_tick, NULL);
        (void) setitimer(ITIMER_REAL, &every, NULL);
}

static void case_signals(void)
{
        cordon_error e;
        struct heard h;
        int calm = -1, busy = -1;
        cordon_policy *p = policy_of("time 60s");
        cordon_free(cordon_doctor(test_context(), 0, &calm));
        set_timer(1000);
        char *text = cordon_doctor(test_context(), 0, &busy);
        expect(text && busy == calm && !strstr(text, "killed by signal 9"),
               "the doctor finds the same in a program with a timer (%d, not %d)", busy, calm);
        cordon_free(text);
        expect(cordon_policy_add(p, "net", "cordon.invalid:443", &e) == 0, "a net door can be had");
        for (unsigned i = 0; i < 5; i++) {
                cordon_box *b = box_of(p, "exit 7", &h);
                if (started(b))
                        expect(wait_for(b)->code == 7, "box %u of a program with a timer starts and ends", i);
                cordon_box_free(b);
        }
        set_timer(0);
        cordon_policy_free(p);
}

/* Each thread has a file of its own behind an edit door, and sees its own changes of it. */
struct editor {
        pthread_t thread;
        unsigned id, wrong;
        char dir[32], why[200];
};

static void put_text(void *ctx, const void *data, size_t len) { hear(ctx, 1, data, len); }

static void look_at_layer(struct editor *x, const char *layer)
{
        for (unsigned i = 0; i < 20; i++) {
                struct heard diff = { 0 };
                char old[16], new[16];
                size_t entries = 0;
                cordon_error e = { 0 };
                (void) snprintf(old, sizeof old, "-old %u\n", x->id);
                (void) snprintf(new, sizeof new, "+new %u\n", x->id);
                if (cordon_work_diff(
                            test_context(),
                            &(cordon_work_diff_options){ .run = layer, .out = put_text, .out_ctx = &diff },
                            &entries, &e) == 0 &&
                    entries == 1 && strstr(diff.text[1], old) && strstr(diff.text[1], new))
                        continue;
                x->wrong++;
                (void) snprintf(x->why, sizeof x->why, "%.80s: %.100s", e.what, diff.text[1]);
        }
}

static void *edit(void *arg)
{
        struct editor *x = arg;
        char path[64], script[96], dropped[64];
        cordon_error e = { 0 };
        (void) snprintf(path, sizeof path, "%s/file-%u", x->dir, x->id);
        (void) snprintf(script, sizeof script, "echo new %u >%s", x->id, path);
        FILE *f = fopen(path, "we");
        if (f) {
                (void) fprintf(f, "old %u\n", x->id);
                (void) fclose(f);
        }
        cordon_policy *p = policy_of("time 60s");
        (void) cordon_policy_add(p, "edit", path, &e);
        for (unsigned i = 0; i < 10; i++) {
                cordon_box *b = box_of(p, script, NULL);
                const cordon_result *r = cordon_box_start(b, &e) == 0 ? wait_for(b) : cordon_box_result(b);
                if (r->work[0])
                        look_at_layer(x, r->work);
                else
                        x->wrong++;
                if (r->work[0])
                        (void) cordon_work_discard(test_context(), r->work, 0, NULL, NULL, dropped, &e);
                cordon_box_free(b);
        }
        (void) unlink(path);
        cordon_policy_free(p);
        return NULL;
}

static void case_edits(void)
{
        enum { EDITORS = 8 };
        struct editor x[EDITORS];
        char dir[32] = "/tmp/library.XXXXXX";
        unsigned fds = descriptors();
        expect(mkdtemp(dir) != NULL, "a directory can be made");
        for (unsigned i = 0; i < EDITORS; i++) {
                x[i] = (struct editor){ .id = i };
                memcpy(x[i].dir, dir, sizeof dir);
                (void) pthread_create(&x[i].thread, NULL, edit, &x[i]);
        }
        for (unsigned i = 0; i < EDITORS; i++) {
                (void) pthread_join(x[i].thread, NULL);
                expect(x[i].wrong == 0, "thread %u of %d sees the changes of its own file (%u wrong: %s)", i,
                       EDITORS, x[i].wrong, x[i].why);
        }
        (void) rmdir(dir);
        nothing_left(fds, "after edits");
}

/* Nobody listens: what is done to a layer is done all the same. */
static void case_unheard(void)
{
        char dir[32] = "/tmp/library.XXXXXX", path[64], script[96], dropped[64];
        size_t entries = 0;
        cordon_error e = { 0 };
        cordon_work_outcome done = { 0 };
        expect(mkdtemp(dir) != NULL, "a directory can be made");
        (void) snprintf(path, sizeof path, "%s/new", dir);
        (void) snprintf(script, sizeof script, "echo new >%s", path);
        cordon_policy *p = policy_of("time 60s");
        (void) cordon_policy_add(p, "edit", dir, &e);
        cordon_box *b = box_of(p, script, NULL);
        if (started(b)) {
                const char *run = wait_for(b)->work;
                const cordon_work_apply_options all = { .run = run, .json = 1 };
                expect(cordon_work_list(test_context(), 1, NULL, NULL, &e) == 0,
                       "layers are listed to nobody");
                expect(cordon_work_diff(test_context(),
                                        &(cordon_work_diff_options){ .run = run, .form = CORDON_WORK_JSON },
                                        &entries, &e) == 0 &&
                               entries == 1,
                       "changes are counted (%zu)", entries);
                expect(cordon_work_apply(test_context(), &all, &done, &e) == 0 && done.applied == 1 &&
                               access(path, F_OK) == 0,
                       "they are applied (%s)", e.what);
                expect(cordon_work_undo(test_context(), &(cordon_work_undo_options){ .run = run, .json = 1 },
                                        &done, &e) == 0 &&
                               access(path, F_OK) < 0,
                       "and taken back (%s)", e.what);
                expect(cordon_work_discard(test_context(), run, 1, NULL, NULL, dropped, &e) == 0,
                       "and thrown away (%s)", e.what);
        }
        cordon_box_free(b);
        b = box_of(p, "echo heard by nobody; sleep 60", NULL);
        (void) cordon_box_set(b, CORDON_KEEP_OUTPUT, "1");
        if (started(b)) {
                char run[64];
                (void) snprintf(run, sizeof run, "%s", cordon_box_run_id(b));
                for (int i = 0; i < 50 && cordon_box_wait(b, 10) == 0; i++)
                        ;
                cordon_box_kill(b);
                (void) wait_for(b);
                expect(cordon_logs(test_context(), run, 0, NULL, NULL, -1, &e) == 0,
                       "output is read by nobody (%s)", e.what);
        }
        cordon_box_free(b);
        cordon_policy_free(p);
        (void) rmdir(dir);
}

/* A start that fails, and is tried again with the same box. */
static void case_again(void)
{
        const char *argv[] = { "true", NULL };
        unsigned before = descriptors(), first = 0;
        cordon_error e = { 0 };
        cordon_policy *p = policy_of(NULL);
        (void) cordon_policy_add(p, "net", "https://cordon.invalid/** GET", &e);
        (void) cordon_policy_add(p, "read", "/no/such/door", &e);
        cordon_box *b = cordon_box_new(p);
        (void) cordon_box_command(b, argv);
        (void) cordon_box_set(b, CORDON_RECORD, "/tmp/library-record-that-is-not-made");
        for (unsigned i = 0; i < 3; i++) {
                memset(&e, 0, sizeof e);
                expect(cordon_box_start(b, &e) < 0 && strstr(e.what, "/no/such/door"),
                       "start %u fails for the door (%s)", i, e.what);
                first = i == 0 ? descriptors() : first;
        }
        expect(descriptors() == first, "another try holds no more descriptors (%u, then %u)", first,
               descriptors());
        cordon_box_free(b);
        cordon_policy_free(p);
        nothing_left(before, "after starts that failed");
}

static void note_end(void *ctx, const char *json, const char *line)
{
        (void) line;
        struct heard *h = ctx;
        hear(h, 1, json, strlen(json));
}

/* A box that is dropped while it runs: who reads the ledger must not take it for one that still does. */
static void case_dropped(void)
{
        struct heard h;
        cordon_error e = { 0 };
        uint64_t cursor = 0;
        int out[2];
        cordon_policy *p = policy_of(NULL);
        (void) cordon_policy_add(p, "out", "made", &e);
        cordon_box *b = box_of(p, "echo made >$CORDON_OUT_MADE; echo ready; sleep 30", &h);
        if (pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0 || cordon_box_handle(b, "made", out[1]) < 0)
                return;
        if (started(b)) {
                char run[64], byte;
                while (h.total == 0 && cordon_box_wait(b, 1000) == 0)
                        ;
                (void) snprintf(run, sizeof run, "%s", cordon_box_run_id(b));
                cordon_box_free(b);
                memset(&h, 0, sizeof h);
                const cordon_log_filter f = { .run = run, .kind = "end" };
                (void) cordon_log_each(test_context(), &f, &cursor, note_end, &h, &e);
                expect(strstr(h.text[1], "\"result\":\"signaled 9\"") != NULL,
                       "a box that is freed while it runs has an end in the ledger (%s%s)", h.text[1],
                       e.what);
                expect(read(out[0], &byte, 1) < 0 && errno == EAGAIN, "and hands nothing over");
        }
        (void) close(out[0]);
        (void) close(out[1]);
        cordon_policy_free(p);
}

int main(int argc, char **argv)
{
        static const struct library_case cases[] = { { "sigpipe", case_sigpipe },
                                                     { "growth", case_growth },
                                                     { "callers", case_callers },
                                                     { "copies", case_copies },
                                                     { "broker-streams", case_broker_streams },
                                                     { "signals", case_signals },
                                                     { "edits", case_edits },
                                                     { "unheard", case_unheard },
                                                     { "again", case_again },
                                                     { "dropped", case_dropped } };
        return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
}

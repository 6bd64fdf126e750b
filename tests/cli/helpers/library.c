/* SPDX-License-Identifier: MIT */
/* library.c - a program of somebody else that uses libcordon: `library CASE`. See library.h. */
#include "library.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 8, BOXES = 20 };

/* ---- cases ---- */

struct worker {
        pthread_t thread;
        unsigned id, wrong;
        char why[160];
};

static void *work(void *arg)
{
        struct worker *w = arg;
        cordon_policy *p = policy_of("time 60s");
        for (unsigned i = 0; i < BOXES; i++) {
                char script[96], want[32];
                struct heard h;
                (void) snprintf(script, sizeof script, "echo thread %u box %u; echo err >&2; exit %u", w->id,
                                i, w->id * BOXES + i);
                (void) snprintf(want, sizeof want, "thread %u box %u\n", w->id, i);
                cordon_box *b = box_of(p, script, &h);
                cordon_error e;
                if (cordon_box_start(b, &e) < 0) {
                        w->wrong++;
                        (void) snprintf(w->why, sizeof w->why, "%.150s", e.what);
                } else {
                        const cordon_result *r = wait_for(b);
                        if (r->end != CORDON_EXITED || r->code != (int) (w->id * BOXES + i) ||
                            strcmp(h.text[1], want) != 0 || strcmp(h.text[2], "err\n") != 0 || !r->attested) {
                                w->wrong++;
                                (void) snprintf(w->why, sizeof w->why, "end %d code %d, heard %.60s", r->end,
                                                r->code, h.text[1]);
                        }
                }
                cordon_box_free(b);
        }
        cordon_policy_free(p);
        return NULL;
}

static void case_threads(void)
{
        struct worker w[THREADS];
        unsigned fds = descriptors();
        for (unsigned i = 0; i < THREADS; i++) {
                w[i] = (struct worker){ .id = i };
                (void) pthread_create(&w[i].thread, NULL, work, &w[i]);
        }
        for (unsigned i = 0; i < THREADS; i++) {
                (void) pthread_join(w[i].thread, NULL);
                expect(w[i].wrong == 0,
                       "thread %u of %d: %d boxes have the right end, code and output (%u wrong: %s)", i,
                       THREADS, BOXES, w[i].wrong, w[i].why);
        }
        nothing_left(fds, "after threads");
}

static void case_output(void)
{
        struct heard h;
        cordon_policy *p = policy_of(NULL);
        cordon_box *b = box_of(p, "echo out; echo err >&2; head -c 1000000 /dev/zero", &h);
        if (started(b)) {
                const cordon_result *r = wait_for(b);
                expect(strncmp(h.text[1], "out\n", 4) == 0, "stream 1 is the output");
                expect(strcmp(h.text[2], "err\n") == 0, "stream 2 is the errors");
                expect(h.total == 1000008, "a million bytes arrive whole (%zu)", h.total);
                expect(r->output_bytes == 1000008, "and are counted (%llu)",
                       (unsigned long long) r->output_bytes);
        }
        cordon_box_free(b);
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) == 0) {
                b = box_of(p, "tr a-z A-Z", &h);
                (void) !write(ends[1], "shout", 5);
                (void) close(ends[1]);
                cordon_box_stdio(b, 0, ends[0]);
                if (started(b)) {
                        (void) wait_for(b);
                        expect(strcmp(h.text[1], "SHOUT") == 0,
                               "input comes from a descriptor that stays ours");
                }
                cordon_box_free(b);
                expect(fcntl(ends[0], F_GETFD) >= 0, "and is still open afterwards");
                (void) close(ends[0]);
        }
        b = box_of(p, "cat; ls -l /proc/self/fd | wc -l", &h);
        if (started(b)) {
                (void) wait_for(b);
                expect(h.len[1] > 0, "without a descriptor the input is empty, not ours");
        }
        cordon_box_free(b);
        cordon_policy_free(p);
}

static void case_errors(void)
{
        cordon_error e;
        cordon_policy *p = policy_of(NULL);
        memset(&e, 0, sizeof e);
        expect(cordon_policy_add(p, "raed", "/usr", &e) < 0, "an unknown word is an error");
        expect(e.code != 0 && strcmp(cordon_error_name(e.code), "?") != 0, "with a code that has a name (%s)",
               cordon_error_name(e.code));
        expect(strstr(e.what, "raed") != NULL, "a sentence (%s)", e.what);
        expect(strstr(e.hint, "read") != NULL, "and the nearest right word (%s)", e.hint);
        expect(cordon_policy_add(p, "limit", "time never", &e) < 0, "a wrong limit is an error (%s)", e.what);
        char deep[5000];
        memset(deep, 'a', sizeof deep);
        deep[0] = deep[100] = '/';
        deep[sizeof deep - 1] = '\0';
        expect(cordon_policy_roots(p, deep, NULL, &e) < 0 && cordon_policy_roots(p, NULL, deep, &e) < 0,
               "a root that is too long is an error, and not cut (%s)", e.what);
        cordon_policy_free(p);

        p = policy_of(NULL);
        expect(cordon_policy_add(p, "read", "/no/such/door", &e) == 0,
               "a door is looked at when the box starts");
        cordon_box *b = box_of(p, "true", NULL);
        expect(cordon_box_wait(b, 0) == -1, "a box that was not started cannot be waited for");
        memset(&e, 0, sizeof e);
        expect(cordon_box_start(b, &e) < 0 && strstr(e.what, "/no/such/door"),
               "a missing door stops the start (%s)", e.what);
        const cordon_result *r = cordon_box_result(b);
        expect(r && r->limit && r->wall, "the result of a box that never was has strings, not NULL");
        expect(r && r->absent && !r->absent[0], "and lists that end");
        expect(r->end == CORDON_FAILED && r->error && strcmp(r->error->what, e.what) == 0,
               "and tells why (%d)", r->end);
        expect(cordon_result_status(r) == 125, "with status 125 (%d)", cordon_result_status(r));
        cordon_box_free(b);
        cordon_policy_free(p);

        p = policy_of(NULL);
        b = cordon_box_new(p);
        const char *argv[] = { "no-such-program", NULL };
        (void) cordon_box_command(b, argv);
        if (started(b)) {
                r = wait_for(b);
                expect(r->end == CORDON_NOT_STARTED, "a missing program is NOT_STARTED (%d)", r->end);
                expect(r->error && r->error->sys == ENOENT && strstr(r->error->what, "no-such-program"),
                       "with its error (%s)", r->error ? r->error->what : "none");
                expect(cordon_result_status(r) == 127, "and status 127 (%d)", cordon_result_status(r));
        }
        expect(cordon_box_start(b, &e) < 0, "a box starts once (%s)", e.what);
        cordon_box_free(b);
        b = cordon_box_new(p);
        memset(&e, 0, sizeof e);
        expect(cordon_box_start(b, &e) < 0 && e.what[0], "a box without a command does not start (%s)",
               e.what);
        cordon_box_free(b);
        expect(cordon_inspect("no-such-box", &e) == NULL && e.what[0],
               "a box that does not run cannot be inspected (%s)", e.what);
        cordon_box_free(NULL);
        cordon_policy_free(NULL);
        cordon_free(NULL);
        cordon_policy_free(p);
}

static void *start_and_leave(void *box)
{
        cordon_error e;
        return cordon_box_start(box, &e) == 0 ? box : NULL;
}

static void case_thread_ends(void)
{
        struct heard h;
        unsigned fds = descriptors();
        cordon_policy *p = policy_of(NULL);
        cordon_box *b = box_of(p, "sleep 0.5; echo alive", &h);
        pthread_t t;
        void *good = NULL;
        (void) pthread_create(&t, NULL, start_and_leave, b);
        (void) pthread_join(t, &good);
        expect(good != NULL, "a thread starts a box and ends");
        if (good) {
                const cordon_result *r = wait_for(b);
                expect(r->end == CORDON_EXITED && r->code == 0,
                       "the box goes on in another thread (end %d code %d)", r->end, r->code);
                expect(strcmp(h.text[1], "alive\n") == 0, "to its own end");
        }
        cordon_box_free(b);
        b = box_of(p, "sleep 0.5; echo alive", &h);
        int up = started(b);
        cordon_policy *q = policy_of(NULL);
        cordon_box *other = box_of(q, "true", NULL);
        (void) pthread_create(&t, NULL, start_and_leave, other);
        (void) pthread_join(t, &good);
        cordon_box_free(other);
        cordon_policy_free(q);
        if (up) {
                const cordon_result *r = wait_for(b);
                expect(r->end == CORDON_EXITED && strcmp(h.text[1], "alive\n") == 0,
                       "a thread that ends with its own box harms no other");
        }
        cordon_box_free(b);
        cordon_policy_free(p);
        nothing_left(fds, "after ended threads");
}

static void limit_ends(const char *limit, const char *name, const char *script)
{
        struct heard h;
        cordon_policy *p = policy_of(limit);
        cordon_box *b = box_of(p, script, &h);
        if (started(b)) {
                const cordon_result *r = wait_for(b);
                if (!r->groups &&
                    strcmp(name, "memory") == 0) { /* an rlimit: the program hears of it before we do */
                        expect(cordon_result_status(r) != 0,
                               "limit %s without control groups at least fails the payload", limit);
                        cordon_box_free(b);
                        cordon_policy_free(p);
                        return;
                }
                expect(r->end == CORDON_LIMIT && strcmp(r->limit, name) == 0,
                       "limit %s ends it and is named (end %d, %s)", limit, r->end, r->limit);
                expect(cordon_result_status(r) == 124, "limit %s gives status 124 (%d)", name,
                       cordon_result_status(r));
                expect(strcmp(name, "output") != 0 || r->output_truncated,
                       "limit %s says that output was cut", name);
                char *json = cordon_box_result_json(b);
                expect(json && strstr(json, "\"end\":\"limit\"") && strstr(json, name),
                       "limit %s is in the JSON", name);
                cordon_free(json);
        }
        cordon_box_free(b);
        cordon_policy_free(p);
}

static void case_limits(void)
{
        limit_ends("time 300ms", "time", "sleep 20");
        limit_ends("output 10K", "output", "while :; do echo too much; done");
        limit_ends("cpu 300ms", "cpu", "while :; do :; done");
        limit_ends("memory 64M", "memory",
                   "exec python3 -c 'x = []\nwhile True: x.append(bytearray(1 << 20))'");
}

static int memory_file(const char *text)
{
        int fd = memfd_create("host", MFD_CLOEXEC);
        if (fd >= 0 && text)
                (void) !pwrite(fd, text, strlen(text), 0);
        return fd;
}

static void case_handles(void)
{
        struct heard h;
        cordon_error e;
        cordon_policy *p = policy_of(NULL);
        expect(cordon_policy_add(p, "in", "letter max 1K", &e) == 0 &&
                       cordon_policy_add(p, "out", "answer max 16", &e) == 0,
               "handles are doors");
        cordon_box *b = box_of(
                p, "tr a-z A-Z <$CORDON_IN_LETTER >$CORDON_OUT_ANSWER; echo changed >>$CORDON_IN_LETTER", &h);
        int in = memory_file("dear box"), out = memory_file(NULL);
        (void) cordon_box_handle(b, "letter", in);
        (void) cordon_box_handle(b, "answer", out);
        if (started(b))
                (void) wait_for(b);
        char text[64] = "";
        ssize_t n = pread(out, text, sizeof text - 1, 0);
        expect(n <= 0, "an out handle of a bad end brings nothing (%s)", text);
        cordon_box_free(b);
        n = pread(in, text, sizeof text - 1, 0);
        expect(n == 8, "an in handle cannot be written");

        b = box_of(p, "tr a-z A-Z <$CORDON_IN_LETTER >$CORDON_OUT_ANSWER", &h);
        (void) lseek(in, 0, SEEK_SET);
        (void) cordon_box_handle(b, "letter", in);
        (void) cordon_box_handle(b, "answer", out);
        if (started(b)) {
                const cordon_result *r = wait_for(b);
                memset(text, 0, sizeof text);
                (void) pread(out, text, sizeof text - 1, 0);
                expect(r->end == CORDON_EXITED && strcmp(text, "DEAR BOX") == 0,
                       "bytes go in and come out (%s)", text);
        }
        cordon_box_free(b);

        b = box_of(p, "head -c 17 /dev/zero >$CORDON_OUT_ANSWER", &h);
        (void) lseek(in, 0, SEEK_SET);
        (void) ftruncate(out, 0);
        (void) cordon_box_handle(b, "letter", in);
        (void) cordon_box_handle(b, "answer", out);
        if (started(b)) {
                const cordon_result *r = wait_for(b);
                expect(r->end == CORDON_FAILED && r->error && strstr(r->error->what, "answer"),
                       "an answer over its cap fails (%s)", r->error ? r->error->what : "it did not");
                expect(lseek(out, 0, SEEK_END) == 0, "and nothing of it is written");
        }
        cordon_box_free(b);
        b = box_of(p, "true", &h);
        expect(cordon_box_start(b, &e) < 0 && strstr(e.what, "letter"),
               "a handle that is not connected stops the start (%s)", e.what);
        cordon_box_free(b);
        (void) close(in);
        (void) close(out);
        cordon_policy_free(p);
}

static void kill_it(void *ctx, int stream, const void *data, size_t len)
{
        (void) stream;
        (void) data;
        (void) len;
        cordon_box_kill(ctx);
}

static void case_kill(void)
{
        unsigned fds = descriptors();
        cordon_policy *p = policy_of(NULL);
        cordon_box *victim = box_of(p, "sleep 300", NULL), *killer = box_of(p, "echo now", NULL);
        cordon_box_on_output(killer, kill_it, victim);
        double began = now_ms();
        if (started(victim) && started(killer)) {
                const cordon_result *r = wait_for(killer);
                expect(r->end == CORDON_EXITED && r->code == 0,
                       "a callback that kills another box ends well itself");
                r = wait_for(victim);
                expect(r->end == CORDON_SIGNALED && r->code == SIGKILL,
                       "the other box was killed (end %d code %d)", r->end, r->code);
        }
        cordon_box_free(victim);
        cordon_box_free(killer);

        /* Often, because what it says may come before word that it runs. */
        unsigned killed = 0;
        for (unsigned i = 0; i < 10; i++) {
                cordon_box *self = box_of(p, "echo me; sleep 300", NULL);
                cordon_box_on_output(self, kill_it, self);
                if (started(self)) {
                        const cordon_result *r = wait_for(self);
                        killed += r->end == CORDON_SIGNALED && r->code == SIGKILL;
                }
                cordon_box_free(self);
        }
        expect(killed == 10, "a callback may kill its own box (%u of 10)", killed);

        cordon_box *freed = box_of(p, "sleep 300", NULL);
        (void) started(freed);
        cordon_box_free(freed);
        struct heard h;
        cordon_box *asked =
                box_of(p, "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.05; done", &h);
        if (started(asked)) {
                while (h.len[1] == 0 && cordon_box_wait(asked, -1) == 0)
                        ;
                cordon_box_signal(asked, SIGTERM);
                const cordon_result *r = wait_for(asked);
                expect(r->end == CORDON_EXITED && r->code == 3,
                       "a signal reaches the payload (end %d code %d)", r->end, r->code);
        }
        cordon_box_free(asked);
        static const int soon[] = { 1, 63, 64 }; /* the first and the last that there are */
        for (size_t i = 0; i < sizeof soon / sizeof *soon; i++) {
                cordon_box *early = box_of(p, "sleep 300", NULL);
                cordon_box_signal(early, soon[i]);
                if (started(early)) {
                        const cordon_result *r = wait_for(early);
                        expect(r->end == CORDON_SIGNALED && r->code == soon[i],
                               "signal %d reaches a box that comes later (end %d code %d)", soon[i], r->end,
                               r->code);
                }
                cordon_box_free(early);
        }
        expect(now_ms() - began < 100000, "none of them ran to its end");
        cordon_policy_free(p);
        nothing_left(fds, "after kills");
}

static char named[40]; /* of this process alone: names of boxes are everybody's on a machine */

static void count_named(void *ctx, const char *json)
{
        if (strstr(json, named))
                ++*(int *) ctx;
}

static void *stop_by_name(void *unused)
{
        cordon_error e;
        (void) unused;
        for (int i = 0; i < 200; i++) {
                if (cordon_stop(named, SIGTERM, &e) == 0)
                        return (void *) "stopped";
                struct timespec pause = { 0, 20000000 };
                (void) nanosleep(&pause, NULL);
        }
        return NULL;
}

static atomic_bool listed;

static void *list_named(void *count)
{
        cordon_error e;
        (void) cordon_list(count_named, count, &e);
        listed = true;
        return NULL;
}

static void case_registry(void)
{
        cordon_policy *p = policy_of("time 20s");
        cordon_box *b = box_of(p, "sleep 30", NULL);
        (void) snprintf(named, sizeof named, "library-named-%d", (int) getpid());
        (void) cordon_box_set(b, CORDON_NAME, named);
        if (started(b)) {
                int count = 0;
                void *stopped = NULL;
                pthread_t list, stop;
                cordon_error e = { 0 };
                cordon_box *second = box_of(p, "true", NULL);
                (void) cordon_box_set(second, CORDON_NAME, named);
                expect(cordon_box_start(second, &e) < 0 && strstr(e.what, named) &&
                               strstr(e.what, " already"),
                       "a second box of that name does not start (%s)", e.what);
                (void) pthread_create(&list, NULL, list_named, &count);
                for (int i = 0; i < 1000 && !listed; i++) /* whoever is asked must be at work to answer */
                        (void) cordon_box_wait(b, 10);
                (void) pthread_join(list, NULL);
                expect(count == 1, "another thread sees it in the list (%d)", count);
                (void) pthread_create(&stop, NULL, stop_by_name, NULL);
                const cordon_result *r = wait_for(b);
                (void) pthread_join(stop, &stopped);
                expect(stopped != NULL, "and stops it by name");
                expect(r->end == CORDON_SIGNALED && r->code == SIGTERM, "which is a SIGTERM (end %d code %d)",
                       r->end, r->code);
                expect(strlen(cordon_box_run_id(b)) > 8, "a run has an id (%s)", cordon_box_run_id(b));
                expect(started(second), "when it is over, the second one starts");
                (void) wait_for(second);
                cordon_box_free(second);
        }
        cordon_box_free(b);
        cordon_policy_free(p);
}

static void case_policy(void)
{
        cordon_error e;
        cordon_policy *p = policy_of(NULL), *q = policy_of(NULL);
        int allowed = -1, order = -1;
        char *text = cordon_policy_why(p, "read /root/.ssh/id_rsa", 0, &allowed, &e);
        expect(text && allowed == 0, "why: no door, no key");
        cordon_free(text);
        text = cordon_policy_why(p, "read /usr/bin/sh", 1, &allowed, &e);
        expect(text && allowed == 1 && text[0] == '{', "why: program files, as JSON");
        cordon_free(text);
        (void) cordon_policy_add(q, "read", "/srv", &e);
        text = cordon_policy_diff(p, q, &order, &e);
        expect(text && order == 1, "diff: one door more is wider (%d)", order);
        cordon_free(text);
        for (int v = CORDON_VIEW_DOORS; v <= CORDON_VIEW_NOTES_JSON; v++) {
                text = cordon_policy_view(q, (cordon_view) v, &e);
                expect(text != NULL, "view %d is a text", v);
                cordon_free(text);
        }
        const char *word, *synopsis, *help;
        size_t words = 0;
        while (cordon_word_help(words, &word, &synopsis, &help))
                words++;
        expect(words > 8, "the words of the language can be listed (%zu)", words);
        expect(cordon_stock_name(0) && cordon_stock_text(cordon_stock_name(0)) &&
                       !cordon_stock_text("no/such"),
               "stock policies have texts");
        struct heard h;
        cordon_box *b = box_of(p, "true", &h);
        text = cordon_box_plan(b, &e);
        expect(text && strstr(text, "wall namespace"), "a plan can be printed without a start");
        cordon_free(text);
        cordon_box_free(b);
        cordon_policy_free(p);
        cordon_policy_free(q);
}

static double median_start(cordon_policy *p)
{
        double best[9];
        for (int i = 0; i < 9; i++) {
                cordon_box *b = box_of(p, ":", NULL);
                double began = now_ms();
                if (!started(b) || wait_for(b)->end != CORDON_EXITED)
                        expect(0, "a start beside much memory");
                double took = now_ms() - began;
                cordon_box_free(b);
                int at = i;
                for (; at > 0 && best[at - 1] > took; at--)
                        best[at] = best[at - 1];
                best[at] = took;
        }
        return best[4];
}

static void case_large(void)
{
        enum { MANY = 300 };
        cordon_policy *p = policy_of(NULL);
        double small = median_start(p);
        size_t n = (size_t) MANY << 20;
        char *m = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        expect(m != MAP_FAILED, "%d MB can be had", MANY);
        if (m == MAP_FAILED)
                return;
        memset(m, 1, n);
        double large = median_start(p);
        (void) printf("# note: `sh -c :` in a box, median of 9: %.1f ms from a small program, %.1f ms with "
                      "%d MB touched\n",
                      small, large, MANY);
        struct heard h;
        cordon_box *b = box_of(p, "grep -i vmrss /proc/self/status", &h);
        if (started(b)) {
                const cordon_result *r = wait_for(b);
                expect(r->memory_peak < ((uint64_t) 100 << 20),
                       "the caller's memory is not counted as the box's (%llu)",
                       (unsigned long long) r->memory_peak);
        }
        cordon_box_free(b);
        cordon_policy_free(p);
        p = policy_of("memory 64M");
        b = box_of(p, "sleep 0.5; echo enough", &h);
        if (started(b)) {
                const cordon_result *r = wait_for(b);
                expect(r->end == CORDON_EXITED, "nor does it hit the box's memory limit (end %d, limit %s)",
                       r->end, r->limit);
        }
        cordon_box_free(b);
        expect(m[n - 1] == 1, "a program with %d MB starts boxes", MANY);
        (void) munmap(m, n);
        cordon_policy_free(p);
}

int main(int argc, char **argv)
{
        static const struct library_case cases[] = {
                { "threads", case_threads }, { "output", case_output },
                { "errors", case_errors },   { "thread-ends", case_thread_ends },
                { "limits", case_limits },   { "handles", case_handles },
                { "kill", case_kill },       { "registry", case_registry },
                { "policy", case_policy },   { "large", case_large }
        };
        return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
}

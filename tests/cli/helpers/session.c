/* SPDX-License-Identifier: MIT */
/* session.c - sessions as a program of somebody else uses them: many runs in one box. Prints `ok NAME` and
 * `not ok NAME` lines for t9012-session.sh. */
#include "library.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static cordon_box *session_of(cordon_policy *p)
{
        cordon_error e = { 0 };
        cordon_box *s = cordon_box_new(p);
        int r = cordon_session_start(s, &e);
        while (r == 0 && !cordon_box_is_up(s) && cordon_box_wait(s, -1) == 0)
                ;
        expect(cordon_box_is_up(s), "a session comes up (%s)",
               r < 0                         ? e.what
               : cordon_box_result(s)->error ? cordon_box_result(s)->error->what
                                             : "");
        if (!cordon_box_is_up(s))
                exit(1);
        return s;
}

static cordon_box *run_in(cordon_box *s, const char *script, struct heard *h)
{
        const char *argv[] = { "sh", "-c", script, NULL };
        cordon_box *b = cordon_session_run(s);
        *h = (struct heard){ 0 };
        (void) cordon_box_command(b, argv);
        cordon_box_on_output(b, hear, h);
        return b;
}

/* Runs it to its end, and returns its status. */
static int status_of(cordon_box *s, const char *script, struct heard *h)
{
        cordon_error e = { 0 };
        cordon_box *b = run_in(s, script, h);
        if (cordon_box_start(b, &e) < 0) {
                (void) snprintf(h->text[2], sizeof h->text[2], "%s", e.what);
                cordon_box_free(b);
                return -1;
        }

        while (cordon_box_wait(b, -1) == 0)
                ;
        int status = cordon_result_status(cordon_box_result(b));
        cordon_box_free(b);
        return status;
}

static void end_session(cordon_box *s)
{
        cordon_session_end(s);
        while (cordon_box_wait(s, -1) == 0)
                ;
        const cordon_result *r = cordon_box_result(s);
        expect(r->end == CORDON_EXITED && r->code == 0, "a session ends in order (%d %d)", r->end, r->code);
}

static void test_runs(void)
{
        struct heard h;
        cordon_policy *p = policy_of("time 60s");
        cordon_box *s = session_of(p);
        expect(status_of(s, "echo one; exit 3", &h) == 3 && strcmp(h.text[1], "one\n") == 0,
               "a run has its status and its output (%s)", h.text[2]);
        expect(status_of(s, "echo kept >/tmp/file; echo err >&2", &h) == 0 && strcmp(h.text[2], "err\n") == 0,
               "standard error is apart");
        expect(status_of(s, "cat /tmp/file", &h) == 0 && strcmp(h.text[1], "kept\n") == 0,
               "files stay from run to run");
        expect(status_of(s, "sleep 100 & echo $! >/tmp/pid", &h) == 0, "a run leaves a process behind");
        expect(status_of(s, "kill -0 $(cat /tmp/pid) && kill $(cat /tmp/pid)", &h) == 0,
               "which the next one finds (%s)", h.text[2]);
        expect(status_of(s, "kill -9 $$", &h) == 137, "a signal ends one run");
        expect(status_of(s, "true", &h) == 0, "and not the session");
        for (unsigned i = 0; i < 20; i++)
                if (status_of(s, "exit 7", &h) != 7)
                        expect(0, "run %u of 20", i);
        expect(1, "20 runs");
        end_session(s);
        expect(status_of(s, "true", &h) < 0, "a session that is over takes no run (%s)", h.text[2]);
        cordon_box_free(s);
        cordon_policy_free(p);
}

/* Side by side, driven from one loop. */
static void test_beside(void)
{
        enum { RUNS = 8 };
        struct heard h[RUNS];
        cordon_box *b[RUNS];
        cordon_error e = { 0 };
        cordon_policy *p = policy_of("time 60s");
        cordon_box *s = session_of(p);
        unsigned good = 0;
        for (unsigned i = 0; i < RUNS; i++) {
                char script[96];
                (void) snprintf(script, sizeof script,
                                "echo begin %u; while [ ! -e /tmp/go ]; do sleep 0.01; done; exit %u", i, i);
                b[i] = run_in(s, script, &h[i]);
                good += cordon_box_start_async(b[i], &e) == 0;
        }
        expect(good == RUNS, "runs start side by side (%s)", e.what);
        for (unsigned i = 0; i < RUNS; i++)
                while (h[i].len[1] == 0 && cordon_box_wait(b[i], 1000) == 0)
                        ;
        struct heard last;
        expect(status_of(s, "touch /tmp/go", &last) == 0, "another run lets them go");
        good = 0;
        for (unsigned i = 0; i < RUNS; i++) {
                while (cordon_box_wait(b[i], -1) == 0)
                        ;
                good += cordon_result_status(cordon_box_result(b[i])) == (int) i;
                cordon_box_free(b[i]);
        }
        expect(good == RUNS, "each ends with its own status (%u)", good);
        cordon_box_free(s);
        cordon_policy_free(p);
}

static int denials_of(cordon_box *s, const char *script, const char *path)
{
        struct heard h;
        cordon_error e = { 0 };
        cordon_box *b = run_in(s, script, &h);
        int found = -1;
        if (cordon_box_start(b, &e) == 0) {
                while (cordon_box_wait(b, -1) == 0)
                        ;
                const cordon_result *r = cordon_box_result(b);
                found = 0;
                for (size_t i = 0; i < r->denial_count; i++)
                        found += strstr(r->denials[i].what, path) != NULL;
        }
        cordon_box_free(b);
        return found;
}

static void test_results(void)
{
        struct heard h;
        cordon_policy *p = policy_of("time 2s output 64K");
        cordon_box *s = session_of(p);
        expect(denials_of(s, "cat /etc/shadow", "/etc/shadow") == 1, "a run reports what was denied to it");
        expect(denials_of(s, "true", "/etc/shadow") == 0, "and not what was denied to another");
        expect(denials_of(s, "cat /etc/shadow", "/etc/shadow") == 1, "the same again is reported again");
        expect(status_of(s, "sleep 60", &h) == 124, "the time limit is of one run");
        expect(status_of(s, "yes", &h) == 124, "so is the output limit");
        expect(status_of(s, "echo on", &h) == 0 && strcmp(h.text[1], "on\n") == 0, "the session goes on");
        expect(status_of(s, "no-such-program-here", &h) == 127, "a missing program is the run's failure");
        const char *none[] = { "/no/such/program", NULL };
        cordon_error e = { 0 };
        cordon_box *b = cordon_session_run(s);
        (void) cordon_box_command(b, none);
        int r = cordon_box_start(b, &e);
        while (r == 0 && cordon_box_wait(b, -1) == 0)
                ;
        expect(r < 0 || cordon_box_result(b)->end == CORDON_NOT_STARTED, "also without a shell (%d %d)", r,
               cordon_box_result(b)->end);
        cordon_box_free(b);
        expect(status_of(s, "true", &h) == 0, "and the session goes on");
        cordon_box_free(s);
        cordon_policy_free(p);
}

static void test_ends(void)
{
        struct heard h;
        cordon_error e = { 0 };
        cordon_policy *p = policy_of("time 60s");
        cordon_box *s = session_of(p), *b = run_in(s, "sleep 100", &h);
        expect(cordon_box_start(b, &e) == 0, "a long run starts (%s)", e.what);
        cordon_box_signal(b, SIGTERM);
        while (cordon_box_wait(b, -1) == 0)
                ;
        expect(cordon_result_status(cordon_box_result(b)) == 143, "a signal reaches one run");
        cordon_box_free(b);

        b = run_in(s, "sleep 100", &h);
        (void) cordon_box_start(b, &e);
        cordon_box_kill(b);
        while (cordon_box_wait(b, -1) == 0)
                ;
        expect(cordon_result_status(cordon_box_result(b)) == 137, "a run can be killed");
        cordon_box_free(b);

        b = run_in(s, "sleep 100", &h);
        (void) cordon_box_start(b, &e);
        cordon_box_free(b);
        expect(status_of(s, "true", &h) == 0, "a run that is freed harms nothing");

        b = run_in(s, "sleep 100", &h);
        (void) cordon_box_start(b, &e);
        cordon_session_end(s);
        while (cordon_box_wait(b, -1) == 0)
                ;
        expect(cordon_result_status(cordon_box_result(b)) == 137, "the end of a session ends its runs (%d)",
               cordon_result_status(cordon_box_result(b)));
        cordon_box_free(b);
        while (cordon_box_wait(s, -1) == 0)
                ;
        cordon_box_free(s);

        s = cordon_box_new(p);
        (void) cordon_box_set(s, CORDON_SESSION_IDLE, "200ms");
        int r = cordon_session_start(s, &e);
        while (r == 0 && cordon_box_wait(s, -1) == 0)
                ;
        expect(cordon_box_result(s)->end == CORDON_EXITED, "an idle session ends by itself");
        cordon_box_free(s);
        cordon_policy_free(p);
}

int main(void)
{
        unsigned fds = descriptors();
        test_runs();
        test_beside();
        test_results();
        test_ends();
        expect(descriptors() == fds, "no descriptor is left (%u, not %u)", descriptors(), fds);
        return 0;
}

/* SPDX-License-Identifier: MIT */
/* Checks by a process that waits for them: a service that is gone, or is for other checks, gets nothing; a
 * process that dies denies what it had. */
#include "base/fd.h"
#include "harness.h"
#include "output/process.h"
#include "run/api/checks_ready.h"

#include <sys/socket.h>
#include <sys/wait.h>

static const struct api_check_what as_json = { .form = HANDLE_JSON, .max = 1 << 20, .links = true };

/* What the process does with its socket. */
typedef void process(int line);

static void dies(int line) { (void) line; }

static void read_all(int line)
{
        static char packet[OUTPUT_PACKET];
        while (recv(line, packet, sizeof packet, 0) > 0)
                ;
}

static void dies_late(int line)
{
        read_all(line);
        CHECK_INT(send(line, "dpassed", 7, 0), 7);
}

static void passes(int line)
{
        static const char verdict[] = "v{\"ok\":true}";
        dies_late(line);
        CHECK_INT(send(line, verdict, sizeof verdict - 1, 0), sizeof verdict - 1);
}

/* Writes before it has read, more than a socket holds. */
static void echoes(int line)
{
        static char packet[OUTPUT_PACKET];
        ssize_t n;
        while ((n = recv(line, packet + 1, sizeof packet - 1, 0)) > 0) {
                packet[0] = OUTPUT_DATA;
                if (send(line, packet, (size_t) n + 1, 0) < 0)
                        return;
        }
        (void) send(line, "v{}", 3, 0);
}

/* A service for one check. */
static pid_t serve(int line, process *how)
{
        pid_t pid = fork();
        if (pid != 0)
                return pid;

        struct output_ask a;
        int ends[2];
        if (wire_take(line, &output_ask_form, &a, NULL) != 1 || wire_pair(ends) < 0)
                _exit(1);

        struct output_line answer = { .number = a.number };
        if (wire_put(line, &output_line_form, &answer, ends[0]) < 0)
                _exit(1);
        (void) close(ends[0]);
        how(ends[1]);
        _exit(test_failures != 0);
}

struct outcome {
        bool ran;
        struct buf passed, report;
};

static void check(process *how, const struct api_check_what *what, struct span in, struct outcome *ret)
{
        int ends[2], status = -1;
        *ret = (struct outcome){ 0 };
        if (wire_pair(ends) < 0)
                return;

        pid_t pid = how ? serve(ends[1], how) : -1;
        (void) close(ends[1]);
        struct api_checks *a = api_checks_new(ends[0], &as_json);
        api_checks_ask(a);
        ret->ran = api_checks_run(a, what, in, &ret->passed, &ret->report);
        if (how && what == &as_json)
                CHECK(!api_checks_run(a, what, in, &ret->passed, &ret->report)); /* none was asked for */
        api_checks_free(a);
        if (pid > 0)
                (void) waitpid(pid, &status, 0);
}

static void done(struct outcome *o)
{
        buf_done(&o->passed);
        buf_done(&o->report);
}

static void test_checks_ready__a_verdict_passes(void)
{
        struct outcome o;
        check(passes, &as_json, span_str("x"), &o);
        CHECK(o.ran);
        CHECK_STR(buf_str(&o.passed), "passed");
        CHECK_STR(buf_str(&o.report), "{\"ok\":true}");
        done(&o);
}

static void test_checks_ready__a_process_that_dies_denies(void)
{
        process *const how[] = { dies, dies_late };
        for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
                struct outcome o;
                check(how[i], &as_json, span_str("x"), &o);
                CHECK(o.ran);
                CHECK_INT(o.report.n, 0);
                done(&o);
        }
}

static void test_checks_ready__others_get_nothing(void)
{
        struct api_check_what other = as_json;
        struct outcome o;
        other.verbatim = true;
        check(dies, &other, span_str("x"), &o);
        CHECK(!o.ran);
        done(&o);

        check(NULL, &as_json, span_str("x"), &o); /* the service is gone */
        CHECK(!o.ran);
        done(&o);
}

static void test_checks_ready__both_directions_move(void)
{
        enum { LONG = 3 << 20 };
        char *text = calloc(1, LONG);
        struct outcome o;
        CHECK(text != NULL);
        check(echoes, &as_json, span_of(text, text ? LONG : 0), &o);
        CHECK_INT(o.passed.n, LONG);
        CHECK_STR(buf_str(&o.report), "{}");
        done(&o);
        free(text);
}

static const struct test_case cases[] = {
        CASE(test_checks_ready__a_verdict_passes),
        CASE(test_checks_ready__a_process_that_dies_denies),
        CASE(test_checks_ready__others_get_nothing),
        CASE(test_checks_ready__both_directions_move),
};
TEST_MAIN(cases)

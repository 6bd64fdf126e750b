/* SPDX-License-Identifier: MIT */
/* Twenty small workflows: each is written into a ledger as a keeper would, with the graph that it must give
 * beside it; the graph built from the records alone must be that one, edge for edge. */
#include "base/fd.h"
#include "harness.h"
#include "ledger/write/append.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

static char place[64];
static int dir;

static void fresh(void)
{
        (void) snprintf(place, sizeof place, "/tmp/cordon-test.XXXXXX");
        CHECK(mkdtemp(place) != NULL);
        dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void sweep(void)
{
        (void) unlinkat(dir, "segments/00000001.seg", 0);
        (void) unlinkat(dir, "segments", AT_REMOVEDIR);
        (void) unlinkat(dir, "head", 0);
        (void) close(dir);
        (void) rmdir(place);
}

/* One record in a few words: "RUN.NAME kind door digest pipe in out <parents..." */
struct step {
        const char *run, *name;
        enum ledger_kind kind;
        enum ledger_phase phase;
        const char *door, *digest, *pipe, *in, *out;
        const char *parents[4];
};
struct workflow {
        const char *what;
        struct step steps[12];
        const char *edges[16]; /* "cause>effect link" */
};

#define S(r)                                                                                                 \
        {                                                                                                    \
                r, "start", LEDGER_START, LEDGER_BEGIN, NULL, NULL, NULL, NULL, NULL, { NULL }               \
        }
#define E(r, ...)                                                                                            \
        {                                                                                                    \
                r, "end", LEDGER_END, LEDGER_OVER, NULL, NULL, NULL, NULL, NULL, { __VA_ARGS__ }             \
        }
#define OUT(r, n, d, p, ...)                                                                                 \
        {                                                                                                    \
                r, n, LEDGER_OUTPUT, LEDGER_OUTCOME, "stdout", d, p, NULL, NULL, { __VA_ARGS__ }             \
        }
#define STDIN(r, n, d, p, ...)                                                                               \
        {                                                                                                    \
                r, n, LEDGER_HANDLE, LEDGER_OUTCOME, "stdin", d, p, NULL, NULL, { __VA_ARGS__ }              \
        }
#define IN(r, n, d, ...)                                                                                     \
        {                                                                                                    \
                r, n, LEDGER_HANDLE, LEDGER_OUTCOME, "in doc", d, NULL, NULL, NULL, { __VA_ARGS__ }          \
        }
#define HOUT(r, n, d, ...)                                                                                   \
        {                                                                                                    \
                r, n, LEDGER_HANDLE, LEDGER_OUTCOME, "out pdf", d, NULL, NULL, NULL, { __VA_ARGS__ }         \
        }
#define REC(r, n, k, p, ...)                                                                                 \
        {                                                                                                    \
                r, n, k, p, NULL, NULL, NULL, NULL, NULL, { __VA_ARGS__ }                                    \
        }
#define T1 "00-11111111111111111111111111111111-aaaaaaaaaaaaaaaa-01"
#define T2 "00-11111111111111111111111111111111-bbbbbbbbbbbbbbbb-01"

static const struct workflow workflows[] = {
        { "a run alone", { S("a"), E("a", "a.start") }, { "a.start>a.end parent" } },
        { "output",
          { S("a"), OUT("a", "1", "d1", NULL, "a.start"), E("a", "a.start") },
          { "a.start>a.1 parent", "a.start>a.end parent" } },
        { "a denial",
          { S("a"), REC("a", "1", LEDGER_NET, LEDGER_DENIED, "a.start") },
          { "a.start>a.1 parent" } },
        { "two runs that have nothing to do with each other",
          { S("a"), S("b"), OUT("a", "1", "d1", NULL, "a.start"), STDIN("b", "1", "d2", NULL, "b.start") },
          { "a.start>a.1 parent", "b.start>b.1 parent" } },
        { "a file written, then read",
          { S("a"), OUT("a", "1", "d1", NULL, "a.start"), S("b"), STDIN("b", "1", "d1", NULL, "b.start") },
          { "a.start>a.1 parent", "b.start>b.1 parent", "a.1>b.1 bytes" } },
        { "read before it was written",
          { S("b"), STDIN("b", "1", "d1", NULL, "b.start"), S("a"), OUT("a", "1", "d1", NULL, "a.start") },
          { "b.start>b.1 parent", "a.start>a.1 parent" } },
        { "the newest version counts",
          { S("a"), OUT("a", "1", "d1", NULL, "a.start"), S("b"), OUT("b", "1", "d1", NULL, "b.start"),
            S("c"), STDIN("c", "1", "d1", NULL, "c.start") },
          { "a.start>a.1 parent", "b.start>b.1 parent", "c.start>c.1 parent", "b.1>c.1 bytes" } },
        { "a run's own bytes are no cause of it",
          { S("a"), OUT("a", "1", "d1", NULL, "a.start"), STDIN("a", "2", "d1", NULL, "a.start") },
          { "a.start>a.1 parent", "a.start>a.2 parent" } },
        { "handles: out of one, into another",
          { S("a"), HOUT("a", "1", "d1", "a.start"), S("b"), IN("b", "1", "d1", "b.start") },
          { "a.start>a.1 parent", "b.start>b.1 parent", "a.1>b.1 bytes" } },
        { "an origin on the file itself",
          { S("a"), HOUT("a", "1", "d1", "a.start"), S("b"), IN("b", "1", "d2", "b.start", "a.1") },
          { "a.start>a.1 parent", "b.start>b.1 parent", "a.1>b.1 parent" } },
        { "origin and bytes are one edge",
          { S("a"), HOUT("a", "1", "d1", "a.start"), S("b"), IN("b", "1", "d1", "b.start", "a.1") },
          { "a.start>a.1 parent", "b.start>b.1 parent", "a.1>b.1 parent" } },
        { "a pipe, writer first",
          { S("a"), S("b"), OUT("a", "1", NULL, "p1", "a.start"), STDIN("b", "1", NULL, "p1", "b.start") },
          { "a.start>a.1 parent", "b.start>b.1 parent", "a.1>b.1 pipe" } },
        { "a pipe, reader first",
          { S("a"), S("b"), STDIN("b", "1", NULL, "p1", "b.start"), OUT("a", "1", NULL, "p1", "a.start") },
          { "a.start>a.1 parent", "b.start>b.1 parent", "a.1>b.1 pipe" } },
        { "inputs cause outputs",
          { S("a"), STDIN("a", "1", "d1", NULL, "a.start"), OUT("a", "2", "d2", NULL, "a.start", "a.1") },
          { "a.start>a.1 parent", "a.start>a.2 parent", "a.1>a.2 parent" } },
        { "three in a row",
          { S("a"), OUT("a", "1", "d1", NULL, "a.start"), S("b"), STDIN("b", "1", "d1", NULL, "b.start"),
            OUT("b", "2", "d2", NULL, "b.start", "b.1"), S("c"), STDIN("c", "1", "d2", NULL, "c.start") },
          { "a.start>a.1 parent", "b.start>b.1 parent", "a.1>b.1 bytes", "b.start>b.2 parent",
            "b.1>b.2 parent", "c.start>c.1 parent", "b.2>c.1 bytes" } },
        { "one cause, two effects",
          { S("a"), OUT("a", "1", "d1", NULL, "a.start"), S("b"), STDIN("b", "1", "d1", NULL, "b.start"),
            S("c"), STDIN("c", "1", "d1", NULL, "c.start") },
          { "a.start>a.1 parent", "b.start>b.1 parent", "a.1>b.1 bytes", "c.start>c.1 parent",
            "a.1>c.1 bytes" } },
        { "a trace context handed on",
          { { "a", "start", LEDGER_START, LEDGER_BEGIN, NULL, NULL, NULL, NULL, T1, { NULL } },
            { "b", "start", LEDGER_START, LEDGER_BEGIN, NULL, NULL, NULL, T1, T2, { NULL } } },
          { "a.start>b.start trace" } },
        { "a request, its credential, its reply",
          { S("a"), REC("a", "e1", LEDGER_CREDENTIAL, LEDGER_CREDENTIALED, "a.start"),
            REC("a", "e2", LEDGER_REQUEST, LEDGER_INTENT, "a.start", "a.e1"),
            REC("a", "e3", LEDGER_REQUEST, LEDGER_OUTCOME, "a.e2"),
            REC("r", "1", LEDGER_REPLY, LEDGER_CLAIM, "a.e2") },
          { "a.start>a.e1 parent", "a.start>a.e2 parent", "a.e1>a.e2 parent", "a.e2>a.e3 parent",
            "a.e2>r.1 parent" } },
        { "--in-from",
          { S("a"),
            E("a", "a.start"),
            { "b", "start", LEDGER_START, LEDGER_BEGIN, NULL, NULL, NULL, NULL, NULL, { "a.end" } } },
          { "a.start>a.end parent", "a.end>b.start parent" } },
        { "the ticket, the file, the refused request",
          { S("t"), OUT("t", "1", "ticket", NULL, "t.start"), S("g"),
            STDIN("g", "1", "ticket", NULL, "g.start"),
            REC("g", "2", LEDGER_FILE, LEDGER_DENIED, "g.start", "g.1"),
            REC("g", "3", LEDGER_NET, LEDGER_DENIED, "g.start", "g.1") },
          { "t.start>t.1 parent", "g.start>g.1 parent", "t.1>g.1 bytes", "g.start>g.2 parent",
            "g.1>g.2 parent", "g.start>g.3 parent", "g.1>g.3 parent" } },
        { "a parent that nobody knows",
          { { "a", "start", LEDGER_START, LEDGER_BEGIN, NULL, NULL, NULL, NULL, NULL, { "gone.end" } } },
          { NULL } },
        { "nothing is joined by emptiness",
          { S("a"), OUT("a", "1", "", NULL, "a.start"), S("b"), STDIN("b", "1", "", NULL, "b.start") },
          { "a.start>a.1 parent", "b.start>b.1 parent" } },
};
enum { WORKFLOWS = sizeof workflows / sizeof *workflows };

static void write_step(const struct step *s)
{
        struct err e;
        struct ledger *l = ledger_open_at(dir, s->run, "", &e);
        struct ledger_record r = ledger_record_of(s->kind, s->phase);
        r.name = s->name;
        r.door = s->door;
        r.digest = s->digest;
        r.bytes = s->digest && s->digest[0] ? 5 : 0;
        r.trace_in = s->in;
        r.trace_out = s->out;
        ledger_more_text(&r, "pipe", s->pipe);
        for (; r.parent_count < 4 && s->parents[r.parent_count]; r.parent_count++)
                r.parents[r.parent_count] = s->parents[r.parent_count];
        CHECK_INT(ledger_append(l, &r, true, NULL, &e), 0);
        ledger_close(l);
}

static void edge_text(const struct ledger_log *l, const struct ledger_edge *x, char *ret, size_t cap)
{
        struct ledger_view a, b;
        CHECK_INT(ledger_log_view(l, x->cause, &a), 0);
        CHECK_INT(ledger_log_view(l, x->effect, &b), 0);
        (void) snprintf(ret, cap, "%.*s>%.*s %s", (int) a.id.n, (const char *) a.id.p, (int) b.id.n,
                        (const char *) b.id.p, ledger_link_name(x->link));
}

static void check_workflow(const struct workflow *w)
{
        struct err e;
        size_t n, want = 0;
        fresh();
        for (const struct step *s = w->steps; s->run; s++)
                write_step(s);
        struct ledger_log *l = ledger_log_open(dir, &e);
        struct ledger_graph *g = ledger_graph_new(l, &e);
        const struct ledger_edge *edges = ledger_graph_edges(g, &n);
        while (w->edges[want])
                want++;
        if (n != want)
                printf("# %s:\n", w->what);
        CHECK_INT(n, want);
        for (size_t i = 0; i < n; i++) {
                char text[160];
                bool known = false;
                edge_text(l, &edges[i], text, sizeof text);
                for (size_t k = 0; k < want; k++)
                        known = known || strcmp(text, w->edges[k]) == 0;
                if (!known)
                        printf("# %s: an edge that nobody scripted: %s\n", w->what, text);
                CHECK(known);
        }
        ledger_graph_free(g);
        ledger_log_free(l);
        sweep();
}

static void test_graph__equals_the_scripted_one_for_twenty_workflows(void)
{
        CHECK(WORKFLOWS >= 20);
        for (size_t i = 0; i < WORKFLOWS; i++)
                check_workflow(&workflows[i]);
}

static void test_graph__clocks_only_rise_along_causes(void)
{
        struct err e;
        size_t n;
        for (size_t i = 0; i < WORKFLOWS; i++) {
                fresh();
                for (const struct step *s = workflows[i].steps; s->run; s++)
                        write_step(s);
                struct ledger_log *l = ledger_log_open(dir, &e);
                struct ledger_graph *g = ledger_graph_new(l, &e);
                const struct ledger_edge *x = ledger_graph_edges(g, &n);
                for (size_t k = 0; k < n; k++) {
                        struct ledger_view a, b;
                        (void) ledger_log_view(l, x[k].cause, &a);
                        (void) ledger_log_view(l, x[k].effect, &b);
                        CHECK(a.clock < b.clock || x[k].link == LINK_PIPE);
                }
                ledger_graph_free(g);
                ledger_log_free(l);
                sweep();
        }
}

/* A record that came with another host's clock pushes ours on: merged by clock, no effect stands before its
 * cause. */
static void test_graph__a_clock_from_elsewhere_is_passed_on(void)
{
        struct err e;
        struct ledger_view v;
        fresh();
        struct ledger *l = ledger_open_at(dir, "a", "", &e);
        struct ledger_record r = ledger_record_of(LEDGER_REPLY, LEDGER_CLAIM);
        r.clock_seen = 1000;
        CHECK_INT(ledger_append(l, &r, true, NULL, &e), 0);
        r.clock_seen = 0;
        CHECK_INT(ledger_append(l, &r, true, NULL, &e), 0);
        ledger_close(l);
        struct ledger_log *log = ledger_log_open(dir, &e);
        CHECK_INT(ledger_log_view(log, 0, &v), 0);
        CHECK_INT(v.clock, 1001);
        CHECK_INT(ledger_log_view(log, 1, &v), 0);
        CHECK_INT(v.clock, 1002);
        ledger_log_free(log);
        sweep();
}

static void test_graph__trace_walks_back_and_forward(void)
{
        struct err e;
        AUTO_BUF(out);
        fresh();
        for (const struct step *s = workflows[14].steps; s->run; s++)
                write_step(s);
        struct ledger_log *l = ledger_log_open(dir, &e);
        CHECK_INT(ledger_trace(l, "c.1", LEDGER_BACK, false, &out, &e), 0);
        CHECK(strstr(buf_str(&out), "a.1  output") != NULL);
        CHECK(strstr(buf_str(&out), "effects:") == NULL);
        out.n = 0;
        CHECK_INT(ledger_trace(l, "a.1", LEDGER_FORWARD, true, &out, &e), 0);
        CHECK(strstr(buf_str(&out), "\"id\":\"c.1\"") != NULL);
        CHECK_INT(ledger_trace(l, "nobody.1", LEDGER_BACK, false, &out, &e), -1);
        CHECK(strstr(e.what, "no record") != NULL);
        ledger_log_free(l);
        sweep();
}

/* c.1 <- c.2 <- ... <- c.<n> */
static void write_chain(unsigned n)
{
        struct err e;
        struct ledger *l = ledger_open_at(dir, "c", "", &e);
        char name[16], parent[32] = "";
        for (unsigned i = 1; i <= n; i++) {
                struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_OUTCOME);
                (void) snprintf(name, sizeof name, "%u", i);
                r.name = name;
                if (i > 1)
                        r.parents[r.parent_count++] = parent;
                CHECK_INT(ledger_append(l, &r, i == n, NULL, &e), 0);
                (void) snprintf(parent, sizeof parent, "c.%u", i);
        }
        ledger_close(l);
}

static void check_cut(const struct ledger_log *l, const char *from, unsigned ways, const char *said)
{
        struct err e;
        AUTO_BUF(text);
        AUTO_BUF(json);
        char cut[60];
        CHECK_INT(ledger_trace(l, from, ways, false, &text, &e), 0);
        CHECK_INT(ledger_trace(l, from, ways, true, &json, &e), 0);
        if (!said) {
                CHECK(strstr(buf_str(&text), "cut here") == NULL);
                CHECK(strstr(buf_str(&json), "\"cut\"") == NULL);
                return;
        }
        (void) snprintf(cut, sizeof cut, "\"link\":\"parent\",\"cut\":\"%s\"}]\n", strrchr(said, ' ') + 1);
        CHECK(strstr(buf_str(&json), cut) != NULL);
        (void) snprintf(cut, sizeof cut, "64 steps deep: cordon ledger trace %s goes on\n", said);
        CHECK(strstr(buf_str(&text), cut) != NULL);
}

static void test_graph__a_trace_that_is_cut_says_where(void)
{
        struct err e;
        fresh();
        write_chain(66);
        struct ledger_log *l = ledger_log_open(dir, &e);
        check_cut(l, "c.66", LEDGER_BACK, "--back c.2");
        check_cut(l, "c.1", LEDGER_FORWARD, "--forward c.65");
        check_cut(l, "c.65", LEDGER_BACK, NULL); /* 64 steps, and nothing is left out */
        check_cut(l, "c.2", LEDGER_FORWARD, NULL);
        ledger_log_free(l);
        sweep();
}

static void write_reached(struct ledger *l, unsigned target, enum ledger_reach reach)
{
        struct err e;
        struct ledger_record r = ledger_record_of(LEDGER_REQUEST, LEDGER_OUTCOME);
        char text[32];
        (void) snprintf(text, sizeof text, "host%u.example:443", target);
        r.target = text;
        r.reach = reach;
        CHECK_INT(ledger_append(l, &r, false, NULL, &e), 0);
}

/* Each target once, those reached most often first, and of too many it is said that there are more. */
static void test_graph__reached_counts_each_target_once_up_to_4096(void)
{
        struct err e;
        AUTO_BUF(out);
        size_t rows = 0;
        fresh();
        struct ledger *w = ledger_open_at(dir, "a", "", &e);
        for (unsigned i = 0; i < 4095; i++)
                write_reached(w, i, LEDGER_REACH_NAMED);
        write_reached(w, 7, LEDGER_REACH_NAMED);
        write_reached(w, 7, LEDGER_REACH_PUBLIC); /* further: a row of its own */
        ledger_close(w);
        struct ledger_log *l = ledger_log_open(dir, &e);
        ledger_reached(l, true, &out);
        for (const char *at = buf_str(&out); (at = strchr(at, '\n')); at++)
                rows++;
        CHECK_INT(rows, 4096);
        CHECK(strstr(buf_str(&out), "{\"reach\":\"public\",\"target\":\"host7.example:443\"") ==
              buf_str(&out));
        CHECK(strstr(buf_str(&out), "\"target\":\"host7.example:443\",\"touches\":[],\"effects\":2,") !=
              NULL);
        CHECK(strstr(buf_str(&out), "\"more\"") == NULL);
        ledger_log_free(l);

        w = ledger_open_at(dir, "a", "", &e);
        write_reached(w, 5000, LEDGER_REACH_NAMED);
        ledger_close(w);
        out.n = 0;
        l = ledger_log_open(dir, &e);
        ledger_reached(l, true, &out);
        CHECK(strstr(buf_str(&out), "{\"more\":true}\n") != NULL);
        CHECK(strstr(buf_str(&out), "host5000.") == NULL);
        ledger_log_free(l);
        sweep();
}

/* The wall clock of this test, which stands before the C library's: days pass by adding them. */
static time_t days;
int clock_gettime(clockid_t c, struct timespec *ret)
{
        long r = syscall(SYS_clock_gettime, c, ret);
        if (c == CLOCK_REALTIME)
                ret->tv_sec += days * 86400;
        return (int) r;
}

/* One record of a machine that was started `boots` times. */
static void write_at(unsigned boots, const char *run, const char *name, enum ledger_phase phase,
                     const char *parent)
{
        struct err e;
        struct ledger *l = ledger_open_at(dir, run, "", &e);
        CHECK(l != NULL);
        (void) snprintf(l->boot, sizeof l->boot, "%08u-0000-4000-8000-000000000000", boots);
        struct ledger_record r = ledger_record_of(LEDGER_REQUEST, phase);
        r.name = name;
        r.target = "POST https://builds.example/job";
        if (parent)
                r.parents[r.parent_count++] = parent;
        CHECK_INT(ledger_append(l, &r, true, NULL, &e), 0);
        ledger_close(l);
}

static void test_graph__an_answer_after_days_and_restarts_finds_its_cause(void)
{
        struct err e;
        struct ledger_view v;
        AUTO_BUF(out);
        fresh();
        days = 0;
        write_at(1, "a", "q1", LEDGER_INTENT, NULL);
        days = 3;
        write_at(2, "b", "1", LEDGER_OUTCOME, NULL);
        days = 7;
        write_at(3, "reply", "1", LEDGER_OUTCOME, "a.q1");
        days = 0;
        struct ledger_log *l = ledger_log_open(dir, &e);
        CHECK_INT(ledger_log_count(l), 3);
        CHECK_INT(ledger_log_view(l, 0, &v), 0);
        int64_t asked = v.time_us;
        CHECK(!v.unknown);
        CHECK_INT(ledger_log_view(l, 2, &v), 0);
        CHECK_INT((v.time_us - asked) / 86400000000, 7);
        CHECK_INT(ledger_trace(l, "a.q1", LEDGER_FORWARD, false, &out, &e), 0);
        CHECK(strstr(buf_str(&out), "reply.1") != NULL);
        CHECK(strstr(buf_str(&out), "b.1") == NULL);
        ledger_log_free(l);
        sweep();
}

static void test_graph__an_intent_without_outcome_is_unknown(void)
{
        struct err e;
        struct ledger_view v;
        AUTO_BUF(out);
        const struct ledger_filter f = { .kind = "unknown" };
        fresh();
        write_at(1, "a", "q1", LEDGER_INTENT, NULL);
        write_at(1, "a", "q2", LEDGER_INTENT, NULL);
        write_at(1, "a", "r2", LEDGER_OUTCOME, "a.q2");
        struct ledger_log *l = ledger_log_open(dir, &e);
        CHECK_INT(ledger_log_view(l, 0, &v), 0);
        CHECK(v.unknown && ledger_matches(&f, &v));
        ledger_line(&v, &out);
        CHECK(strstr(buf_str(&out), "[outcome unknown]") != NULL);
        CHECK_INT(ledger_log_view(l, 1, &v), 0);
        CHECK(!v.unknown && !ledger_matches(&f, &v));
        ledger_log_free(l);
        sweep();
}

static const struct test_case cases[] = {
        CASE(test_graph__equals_the_scripted_one_for_twenty_workflows),
        CASE(test_graph__clocks_only_rise_along_causes),
        CASE(test_graph__a_clock_from_elsewhere_is_passed_on),
        CASE(test_graph__trace_walks_back_and_forward),
        CASE(test_graph__a_trace_that_is_cut_says_where),
        CASE(test_graph__reached_counts_each_target_once_up_to_4096),
        CASE(test_graph__an_answer_after_days_and_restarts_finds_its_cause),
        CASE(test_graph__an_intent_without_outcome_is_unknown),
};
TEST_MAIN(cases)

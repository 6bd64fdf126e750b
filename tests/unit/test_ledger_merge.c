/* SPDX-License-Identifier: MIT */
/* Several ledgers as one: whatever the clocks say, no effect stands before its cause, and it does not matter
 * in which order the ledgers are given. Ledgers are made in memory here, so that clocks and causes can be as
 * wrong as an enemy likes. */
#include "base/buf.h"
#include "harness.h"
#include "ledger/internal.h"

#include <stdlib.h>

/* Under sanitizers every step takes twenty times as long, and a twentieth of them finds as much. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
enum { GRAPHS = 30, MANY = 5000 };
#else
enum { GRAPHS = 600, MANY = 100000 };
#endif

enum { HOSTS_MAX = 4 };
static const char *const host_names[HOSTS_MAX] = { "host/a", "host/b", "host/c", "host/d" };

/* ---- ledgers in memory ---- */

struct host {
        struct buf text; /* every record, one after the other */
        size_t *ends, count;
        int64_t clock, skew;
};

static void host_add(struct host *h, const char *json)
{
        buf_puts(&h->text, json);
        h->ends = realloc(h->ends, (h->count + 1) * sizeof *h->ends);
        h->ends[h->count++] = h->text.n;
}

static void host_done(struct host *h)
{
        buf_done(&h->text);
        free(h->ends);
        *h = (struct host){ 0 };
}

static struct ledger_log *log_of(const struct host *h)
{
        struct ledger_log *l = calloc(1, sizeof *l);
        l->at = calloc(h->count + 1, sizeof *l->at);
        l->answered = answered_new();
        for (size_t i = 0, from = 0; i < h->count; from = h->ends[i++])
                l->at[l->count++] = span_of(h->text.p + from, h->ends[i] - from);
        return l;
}

/* Merged, given in the order of `turn`. */
static struct ledger_log *merged(const struct host *hosts, size_t n, const unsigned *turn)
{
        struct ledger_log *logs[HOSTS_MAX];
        const char *names[HOSTS_MAX];
        struct err e;
        for (size_t i = 0; i < n; i++) {
                logs[i] = log_of(&hosts[turn[i]]);
                names[i] = host_names[turn[i]];
        }
        struct ledger_log *l = ledger_log_merge(logs, names, n, &e);
        CHECK(l != NULL);
        return l;
}

static const unsigned straight[] = { 0, 1, 2, 3 }, other[] = { 2, 0, 1 }, pair_swapped[] = { 1, 0 };

static void ids_of(const struct ledger_log *l, struct buf *out)
{
        struct ledger_view v;
        for (uint64_t i = 0; i < ledger_log_count(l); i++)
                if (ledger_log_view(l, i, &v) == 0) {
                        buf_add(out, v.id.p, v.id.n);
                        buf_putc(out, ' ');
                }
}

static int64_t place_of(const struct ledger_log *l, const char *id)
{
        struct ledger_view v;
        for (uint64_t i = 0; i < ledger_log_count(l); i++)
                if (ledger_log_view(l, i, &v) == 0 && span_is(v.id, id))
                        return (int64_t) i;
        return -1;
}

/* ---- random causes ---- */

static uint64_t state;
static uint64_t below(uint64_t n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state % n;
}

struct made {
        unsigned host;
        int64_t clock;
        char id[24];
        unsigned parents[3], parent_count;
};
enum { MADE_MAX = 120 };

/* As it happened: each may be caused by whatever was before it, on any host. Clocks pass on by chance only.
 */
static void happen(struct host *hosts, size_t n, struct made *all, unsigned count)
{
        for (unsigned i = 0; i < count; i++) {
                struct made *m = &all[i];
                char json[512], parents[128] = "";
                size_t at = 0;
                m->host = (unsigned) below(n);
                m->parent_count = i ? (unsigned) below(4) : 0;
                struct host *h = &hosts[m->host];
                (void) snprintf(m->id, sizeof m->id, "%c.n%u", 'a' + (int) m->host, i);
                for (unsigned k = 0; k < m->parent_count; k++) {
                        m->parents[k] = (unsigned) below(i);
                        const struct made *p = &all[m->parents[k]];
                        at += (size_t) snprintf(parents + at, sizeof parents - at, "%s\"%s\"", k ? "," : "",
                                                p->id);
                        if (below(3) == 0 && p->clock > h->clock)
                                h->clock = p->clock;
                }
                h->clock += 1 + (int64_t) (below(10) == 0 ? below(1000) : 0);
                m->clock = h->clock;
                (void) snprintf(json, sizeof json,
                                "{\"clock\":%lld,\"id\":\"%s\",\"kind\":\"file\",\"parents\":[%s],\"phase\":"
                                "\"claim\","
                                "\"run\":\"%c\",\"time\":%lld,\"v\":1}",
                                (long long) m->clock, m->id, parents, 'a' + (int) m->host,
                                (long long) (1000 * i + h->skew));
                host_add(h, json);
        }
}

static void check_round(unsigned round)
{
        struct host hosts[HOSTS_MAX] = { 0 };
        struct made all[MADE_MAX];
        size_t n = 2 + round % 3;
        int64_t place[MADE_MAX], last[HOSTS_MAX] = { -1, -1, -1, -1 };
        unsigned wrong = 0, turn[HOSTS_MAX];
        for (size_t i = 0; i < n; i++)
                hosts[i].skew = (int64_t) below(2000000) - 1000000;
        happen(hosts, n, all, MADE_MAX);
        struct ledger_log *l = merged(hosts, n, straight);
        CHECK_INT(ledger_log_count(l), MADE_MAX);
        for (unsigned i = 0; i < MADE_MAX; i++) {
                place[i] = place_of(l, all[i].id);
                wrong += place[i] < 0;
                for (unsigned k = 0; k < all[i].parent_count; k++)
                        wrong += place[all[i].parents[k]] >= place[i];
                wrong += last[all[i].host] >= place[i]; /* each ledger's own order stays */
                last[all[i].host] = place[i];
        }
        CHECK_INT(wrong, 0);
        for (unsigned i = 0; i < n; i++) /* turned, and every second time mirrored */
                turn[i] = round & 1 ? (unsigned) ((i + round) % n) : (unsigned) ((n - 1 - i + round) % n);
        struct ledger_log *again = merged(hosts, n, turn);
        AUTO_BUF(one);
        AUTO_BUF(two);
        ids_of(l, &one);
        ids_of(again, &two);
        CHECK(strcmp(buf_str(&one), buf_str(&two)) == 0);
        ledger_log_free(l);
        ledger_log_free(again);
        for (size_t i = 0; i < n; i++)
                host_done(&hosts[i]);
}

static void test_merge__no_effect_stands_before_its_cause_in_any_of_600_random_graphs(void)
{
        for (unsigned round = 0; round < GRAPHS; round++) {
                state = 0x9e3779b97f4a7c15 + round;
                check_round(round);
        }
}

/* ---- scripted ---- */

struct line {
        unsigned host;
        const char *json;
};

static struct ledger_log *script(struct host *hosts, const struct line *lines, size_t count, size_t n,
                                 const unsigned *turn)
{
        for (size_t i = 0; i < n; i++)
                host_done(&hosts[i]);
        for (size_t i = 0; i < count; i++)
                host_add(&hosts[lines[i].host], lines[i].json);
        return merged(hosts, n, turn);
}

#define R(clock, id, parents, time)                                                                          \
        "{\"clock\":" #clock ",\"id\":\"" id "\",\"kind\":\"file\",\"parents\":[" parents                    \
        "],\"phase\":\"claim\",\"run\":\"r" id "\",\"time\":" #time ",\"v\":1}"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void check_order(const char *what, const struct line *lines, size_t count, const char *want)
{
        struct host hosts[HOSTS_MAX] = { 0 };
        size_t n = 0;
        for (size_t i = 0; i < count; i++)
                n = lines[i].host >= n ? lines[i].host + 1 : n;
        for (int way = 0; way < 2; way++) {
                AUTO_BUF(got);
                struct ledger_log *l = script(hosts, lines, count, n,
                                              way == 0 ? straight
                                              : n == 2 ? pair_swapped
                                                       : other);
                ids_of(l, &got);
                if (strcmp(buf_str(&got), want) != 0)
                        printf("# %s\n", what);
                CHECK_STR(buf_str(&got), want);
                ledger_log_free(l);
        }
        for (size_t i = 0; i < n; i++)
                host_done(&hosts[i]);
}

static void test_merge__clock_then_time_then_ledger_decide_where_no_cause_does(void)
{
        static const struct line clock[] = { { 0, R(5, "a1", "", 10) }, { 1, R(4, "b1", "", 99) } };
        static const struct line time[] = { { 0, R(5, "a1", "", 99) }, { 1, R(5, "b1", "", 10) } };
        static const struct line ledger[] = { { 1, R(5, "b1", "", 10) }, { 0, R(5, "a1", "", 10) } };
        check_order("clock", clock, COUNT(clock), "b1 a1 ");
        check_order("time", time, COUNT(time), "b1 a1 ");
        check_order("ledger", ledger, COUNT(ledger), "a1 b1 ");
}

static void test_merge__a_cause_elsewhere_holds_up_all_that_its_ledger_wrote_later(void)
{
        static const struct line late[] = { { 0, R(1, "a1", "", 1) },   { 0, R(2, "a2", "\"b2\"", 2) },
                                            { 0, R(3, "a3", "", 3) },   { 1, R(900, "b1", "", 1) },
                                            { 1, R(901, "b2", "", 2) }, { 1, R(902, "b3", "", 3) } };
        check_order("late", late, COUNT(late), "a1 b1 b2 a2 a3 b3 ");
}

static void test_merge__a_lost_cause_is_said_and_not_guessed(void)
{
        static const struct line lines[] = { { 0, R(1, "a1", "\"gone.end\"", 1) },
                                             { 1, R(2, "b1", "\"a1\"", 2) } };
        struct host hosts[HOSTS_MAX] = { 0 };
        struct ledger_view v;
        struct err e;
        AUTO_BUF(out);
        struct ledger_log *l = script(hosts, lines, COUNT(lines), 2, straight);
        CHECK_INT(ledger_log_view(l, 0, &v), 0);
        CHECK(v.lost_cause);
        ledger_line(&v, &out);
        CHECK(strstr(buf_str(&out), "host/a  a1") != NULL);
        CHECK(strstr(buf_str(&out), "its cause is not in these ledgers") != NULL);
        CHECK_INT(ledger_log_view(l, 1, &v), 0);
        CHECK(!v.lost_cause);
        out.n = 0;
        CHECK_INT(ledger_trace(l, "b1", LEDGER_BACK, false, &out, &e), 0);
        CHECK(strstr(buf_str(&out), "gone.end: its cause is not in these ledgers") != NULL);
        out.n = 0;
        CHECK_INT(ledger_trace(l, "b1", LEDGER_BACK, true, &out, &e), 0);
        CHECK(strstr(buf_str(&out), "\"lost\":\"gone.end\"") != NULL);
        CHECK(strstr(buf_str(&out), "\"ledger\":\"host/a\"") != NULL);
        ledger_log_free(l);
        host_done(&hosts[0]);
        host_done(&hosts[1]);
}

static void test_merge__a_circle_ends_is_said_and_holds_up_nobody_else(void)
{
        static const struct line lines[] = {
                { 0, R(1, "a1", "\"b1\"", 1) }, { 0, R(2, "a2", "", 2) },
                { 1, R(1, "b1", "\"c1\"", 1) }, { 1, R(2, "b2", "", 2) },
                { 2, R(1, "c1", "\"a1\"", 1) }, { 2, R(2, "c2", "\"c1\"", 2) },
        };
        struct host hosts[HOSTS_MAX] = { 0 };
        struct ledger_log *l = script(hosts, lines, COUNT(lines), 3, straight);
        static const char *const in[] = { "a1", "b1", "c1" }, *const out[] = { "a2", "b2", "c2" };
        struct ledger_view v;
        CHECK_INT(ledger_log_count(l), 6);
        for (size_t i = 0; i < 3; i++) {
                CHECK(ledger_log_view(l, (uint64_t) place_of(l, in[i]), &v) == 0 && v.in_circle);
                CHECK(ledger_log_view(l, (uint64_t) place_of(l, out[i]), &v) == 0 && !v.in_circle);
        }
        ledger_log_free(l);
        for (size_t i = 0; i < 3; i++)
                host_done(&hosts[i]);
        check_order("circle", lines, COUNT(lines), "a1 b1 c1 a2 b2 c2 ");
}

/* An id that somebody else took as well: one's own counts first, and else each of them may be meant. */
static void test_merge__an_id_that_two_ledgers_hold_leads_to_both(void)
{
        static const struct line lines[] = { { 0, R(1, "x", "", 1) },
                                             { 1, R(1, "x", "", 1) },
                                             { 2, R(9, "c1", "\"x\"", 9) },
                                             { 0, R(9, "a1", "\"x\"", 9) } };
        struct host hosts[HOSTS_MAX] = { 0 };
        struct err e;
        size_t n, to_a = 0, to_c = 0;
        struct ledger_log *l = script(hosts, lines, COUNT(lines), 3, straight);
        struct ledger_graph *g = ledger_graph_new(l, &e);
        const struct ledger_edge *x = ledger_graph_edges(g, &n);
        for (size_t i = 0; i < n; i++) {
                struct ledger_view v, cause;
                CHECK_INT(ledger_log_view(l, x[i].effect, &v), 0);
                CHECK_INT(ledger_log_view(l, x[i].cause, &cause), 0);
                to_c += span_is(v.id, "c1");
                to_a += span_is(v.id, "a1") && span_is(cause.ledger, "host/a");
        }
        CHECK_INT(n, 3);
        CHECK_INT(to_c, 2);
        CHECK_INT(to_a, 1);
        ledger_graph_free(g);
        ledger_log_free(l);
        for (size_t i = 0; i < 3; i++)
                host_done(&hosts[i]);
}

#define OUTPUT(clock, id, digest, time)                                                                      \
        "{\"bytes\":5,\"clock\":" #clock ",\"digest\":\"" digest "\",\"door\":\"stdout\",\"id\":\"" id       \
        "\",\"kind\":\"output\",\"phase\":\"outcome\",\"run\":\"r" id "\",\"time\":" #time ",\"v\":1}"
#define INPUT(clock, id, digest, time)                                                                       \
        "{\"bytes\":5,\"clock\":" #clock ",\"digest\":\"" digest "\",\"door\":\"stdin\",\"id\":\"" id        \
        "\",\"kind\":\"handle\",\"phase\":\"outcome\",\"run\":\"r" id "\",\"time\":" #time ",\"v\":1}"
#define TRACED(clock, id, way, time)                                                                         \
        "{\"clock\":" #clock ",\"id\":\"" id "\",\"kind\":\"start\",\"phase\":\"start\",\"run\":\"r" id      \
        "\",\"time\":" #time ",\"trace\":{\"" way                                                            \
        "\":\"00-11111111111111111111111111111111-aaaaaaaaaaaaaaaa-01\"},\"v\":1}"

static void check_link(const struct line *lines, size_t count, const char *effect, const char *want)
{
        struct host hosts[HOSTS_MAX] = { 0 };
        struct err e;
        AUTO_BUF(out);
        struct ledger_log *l = script(hosts, lines, count, 2, straight);
        CHECK_INT(ledger_trace(l, effect, LEDGER_BACK, false, &out, &e), 0);
        if (!strstr(buf_str(&out), want))
                printf("# no \"%s\" in: %s\n", want, buf_str(&out));
        CHECK(strstr(buf_str(&out), want) != NULL);
        ledger_log_free(l);
        host_done(&hosts[0]);
        host_done(&hosts[1]);
}

static void test_merge__bytes_pipes_and_traces_lead_from_one_ledger_to_another(void)
{
        /* The reader's clock is far behind the writer's: by clock alone he would have read too early. */
        static const struct line bytes[] = { { 0, INPUT(3, "a1", "sha256:77", 20) },
                                             { 1, OUTPUT(900, "b1", "sha256:77", 10) } };
        static const struct line own[] = { { 0, OUTPUT(1, "a0", "sha256:77", 1) },
                                           { 0, INPUT(3, "a1", "sha256:77", 20) },
                                           { 1, OUTPUT(2, "b1", "sha256:77", 10) } };
        static const struct line too_late[] = { { 0, INPUT(3, "a1", "sha256:77", 20) },
                                                { 1, OUTPUT(900, "b1", "sha256:77", 30) } };
        /* A trace context is no guess: it counts whatever the clocks say. */
        static const struct line trace[] = { { 0, TRACED(1, "a1", "in", 1) },
                                             { 1, TRACED(900, "b1", "out", 900) } };
        check_link(bytes, COUNT(bytes), "a1", "<- bytes  1970-01-01T00:00:00.000Z  host/b  b1");
        check_link(own, COUNT(own), "a1", "<- bytes  1970-01-01T00:00:00.000Z  host/a  a0");
        check_link(too_late, COUNT(too_late), "a1", "none that the ledger knows");
        check_link(trace, COUNT(trace), "a1", "<- trace  1970-01-01T00:00:00.000Z  host/b  b1");
        check_order("bytes", bytes, COUNT(bytes), "b1 a1 ");
        check_order("trace", trace, COUNT(trace), "b1 a1 ");
}

/* ---- large ---- */

static void test_merge__a_chain_and_a_circle_of_200000_records_take_no_deep_stack(void)
{
        for (int circle = 0; circle < 2; circle++) {
                struct host hosts[HOSTS_MAX] = { 0 };
                struct ledger_view v;
                char json[256], parent[32];
                for (unsigned i = 0; i < MANY; i++)
                        for (unsigned h = 0; h < 2; h++) {
                                bool first = i == 0 && h == 0;
                                if (first && !circle)
                                        parent[0] = '\0';
                                else if (first)
                                        (void) snprintf(parent, sizeof parent, "\"1.%u\"", MANY - 1);
                                else
                                        (void) snprintf(parent, sizeof parent, "\"%u.%u\"", h ? 0 : 1,
                                                        h ? i : i - 1);
                                (void) snprintf(
                                        json, sizeof json,
                                        "{\"clock\":%u,\"id\":\"%u.%u\",\"kind\":\"file\",\"parents\":[%s],"
                                        "\"phase\":\"claim\",\"run\":\"%u\",\"time\":%u,\"v\":1}",
                                        h ? i + 1 : i + 500000, h, i, parent, h, h ? i : 9000000 + i);
                                host_add(&hosts[h], json);
                        }
                struct ledger_log *l = merged(hosts, 2, pair_swapped);
                unsigned wrong = 0;
                for (uint64_t i = 0; i < 2 * MANY && !circle; i++) {
                        char want[32];
                        (void) snprintf(want, sizeof want, "%u.%u", (unsigned) (i % 2), (unsigned) (i / 2));
                        wrong += ledger_log_view(l, i, &v) < 0 || !span_is(v.id, want) || v.in_circle;
                }
                for (uint64_t i = 0; i < 2 * MANY && circle; i++)
                        wrong += ledger_log_view(l, i, &v) < 0 || !v.in_circle;
                CHECK_INT(wrong, 0);
                ledger_log_free(l);
                host_done(&hosts[0]);
                host_done(&hosts[1]);
        }
}

static void test_merge__the_same_ledger_twice_is_refused(void)
{
        struct host h = { 0 };
        struct err e;
        host_add(&h, R(1, "a1", "", 1));
        struct ledger_log *logs[] = { log_of(&h), log_of(&h) };
        const char *names[] = { "same", "same" };
        CHECK(ledger_log_merge(logs, names, 2, &e) == NULL);
        CHECK(strstr(e.what, "given twice") != NULL);
        host_done(&h);
}

/* What a stranger's records say is inert on a terminal, as a line and as JSON; numbers that are too great are
 * cut. */
static void test_merge__a_strangers_words_and_numbers_do_nothing(void)
{
        static const struct line lines[] = {
                { 0, "{\"clock\":99999999999999999999,\"id\":\"a\xc2\x9b\",\"kind\":\"st\xff\",\"phase\":"
                     "\"\xe2\x80\xae\","
                     "\"reach\":\"pub\xc2\x9b\",\"run\":\"<b>\xf0\x9f\x98\x80\",\"target\":\"\\u001b[2J\","
                     "\"time\":-99999999999999999999,"
                     "\"v\":1}" },
                { 1, R(1, "b1", "\"a\xc2\x9b\"", 1) },
        };
        struct host hosts[HOSTS_MAX] = { 0 };
        struct ledger_view v;
        AUTO_BUF(out);
        struct ledger_log *l = script(hosts, lines, COUNT(lines), 2, straight);
        for (uint64_t i = 0; i < 2; i++) {
                CHECK_INT(ledger_log_view(l, i, &v), 0);
                CHECK(v.clock < 1000000000000000000 && v.time_us > -1000000000000000000);
                ledger_line(&v, &out);
                ledger_json(&v, &out);
        }
        ledger_reached(l, false, &out);
        for (size_t i = 0; i < out.n; i++)
                CHECK((out.p[i] >= ' ' && out.p[i] < 0x7f) || out.p[i] == '\n');
        CHECK(strstr(buf_str(&out), "\\ud83d\\ude00") != NULL);
        CHECK(strstr(buf_str(&out), "\"kind\":\"st\\ufffd\"") != NULL);
        ledger_log_free(l);
        host_done(&hosts[0]);
        host_done(&hosts[1]);
}

static const struct test_case cases[] = {
        CASE(test_merge__no_effect_stands_before_its_cause_in_any_of_600_random_graphs),
        CASE(test_merge__clock_then_time_then_ledger_decide_where_no_cause_does),
        CASE(test_merge__a_cause_elsewhere_holds_up_all_that_its_ledger_wrote_later),
        CASE(test_merge__a_lost_cause_is_said_and_not_guessed),
        CASE(test_merge__a_circle_ends_is_said_and_holds_up_nobody_else),
        CASE(test_merge__an_id_that_two_ledgers_hold_leads_to_both),
        CASE(test_merge__bytes_pipes_and_traces_lead_from_one_ledger_to_another),
        CASE(test_merge__a_chain_and_a_circle_of_200000_records_take_no_deep_stack),
        CASE(test_merge__the_same_ledger_twice_is_refused),
        CASE(test_merge__a_strangers_words_and_numbers_do_nothing),
};
TEST_MAIN(cases)

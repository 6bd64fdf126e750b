/* SPDX-License-Identifier: MIT */
/* The two evaluators over random (policy, effect) pairs from small alphabets, so that near misses are common.
 * An argument asks for more pairs: test_policy_differential 5000000 [SEED]. */
#include "base/arena.h"
#include "test_policy_common.h"

static uint64_t state = 88172645463325252u;
static unsigned long pairs_wanted = 250000;

static unsigned roll(unsigned n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (unsigned) (state >> 33) % n;
}

#define PICK(list) (list)[roll(sizeof(list) / sizeof *(list))]

static void put_path(struct buf *b)
{
        static const char *const tops[] = { "/a",         "/b",        "/tmp",           "/usr",
                                            "/usr/bin",   "/bin",      "/usr/local/bin", "/home/box",
                                            "/home",      "/dev/null", "/dev",           "/var",
                                            "/proc/self", "{work}",    "{home}",         "/opt" };
        static const char *const parts[] = { "a", "b", "ab", "x", "bin", "git", "tmp", "*" };
        AUTO_BUF(p);
        buf_puts(&p, PICK(tops));
        for (unsigned n = roll(4); n > 0; n--)
                buf_printf(&p, "/%s", PICK(parts));
        buf_printf(b, "\"%s\"", buf_str(&p));
}

static void put_program(struct buf *b, bool door)
{
        static const char *const names[] = { "git", "sh", "a", "x" };
        unsigned r = roll(door ? 8 : 5);
        if (r < 2)
                buf_puts(b, PICK(names));
        else if (r < 5)
                put_path(b);
        else if (r < 7)
                buf_printf(b, "%s/", roll(2) ? "/usr/bin" : roll(2) ? "/usr" : roll(2) ? "/tmp/a" : "/a/b");
        else
                buf_puts(b, "any");
}

static void put_dest(struct buf *b, bool door)
{
        static const char *const hosts[] = { "a.example.org", "b.a.example.org",
                                             "example.org",   "c.b.a.example.org",
                                             "1.2.3.4",       "[::1]",
                                             "npm",           "xexample.org" };
        static const char *const wild[] = { "*.example.org", "*.a.example.org" };
        static const char *const paths[] = { "/", "/a", "/a/", "/a/b", "/ab", "/a/b/c" };
        static const char *const tails[] = { "/**", "/a/**", "/a/b/**" };
        static const char *const ports[] = { "", ":443", ":80", ":8443" };
        const char *host = door && roll(4) == 0 ? PICK(wild) : PICK(hosts);
        const char *path = door && roll(2) ? PICK(tails) : PICK(paths);
        switch (roll(4)) {
        case 0:
                buf_printf(b, "%s:%s", host, roll(2) ? "443" : "80");
                break;
        case 1:
                buf_printf(b, "@%s%s", roll(2) ? "npm" : "git", path);
                break;
        case 2:
                buf_printf(b, "http://%s%s%s", host, PICK(ports), path);
                break;
        default:
                buf_printf(b, "https://%s%s%s", host, PICK(ports), path);
                break;
        }
}

/* Few names, close to each other, and values at the edges: each fault is common. */
static void put_bounds(struct buf *b)
{
        static const char *const names[] = { "a", "b", "c.d", "c_d", "e" };
        static const char *const types[] = { "int:1..5",
                                             "int:..",
                                             "int:-3..",
                                             "int:..2",
                                             "one:x|y",
                                             "one:1|5|x",
                                             "text:3",
                                             "text:1",
                                             "bool",
                                             "one:true",
                                             "int:0..0",
                                             "one:x y|",
                                             "one:%7C|\xc3\xa4",
                                             "text:65536",
                                             "num:0.5..5",
                                             "num:-3..",
                                             "lines:3",
                                             "lines:65536",
                                             "none",
                                             "none",
                                             "list:1:one:x|y",
                                             "list:2:int:1..5",
                                             "list:2:text:3",
                                             "list:3:num:..1.5",
                                             "list:2:lines:3",
                                             "list:1:bool" };
        unsigned first = roll(5), n = 1 + roll(3);
        buf_puts(b, " where");
        for (unsigned i = 0; i < n; i++) {
                const char *type = PICK(types);
                if (strchr(type, ' '))
                        type = "one:x";
                bool question = roll(3) && strcmp(type, "none") != 0;
                buf_printf(b, " %s%s=%s", names[(first + i) % 5], question ? "?" : "", type);
                buf_puts(b, roll(4) ? "" : roll(2) ? " in body" : " in query");
        }
        buf_puts(b, roll(3) ? "" : " only");
}

static void put_query(struct buf *b)
{
        static const char *const names[] = { "a", "a", "b",   "b",   "c.d", "c[d]", "c_d", "A",
                                             "e", "e", "a[]", "%61", "c",   "+a",   "e.x", "f" };
        static const char *const values[] = { "1",      "5",
                                              "6",      "-3",
                                              "x",      "y",
                                              "true",   "false",
                                              "0",      "05",
                                              "%35",    "abc",
                                              "",       "x+",
                                              "%C3%A4", "%0a",
                                              "%7C",    "abcd",
                                              "1e0",    "true",
                                              "-0",     "5",
                                              "2",      "%C2%85",
                                              "%",      "9223372036854775808",
                                              "a;b",    "1",
                                              "1",      "0.5",
                                              "1.50",   "1.00001",
                                              "x%0A",   "%0D",
                                              "-0.0",   "5.0" };
        unsigned n = roll(4);
        for (unsigned i = 0; i < n; i++)
                buf_printf(b, "%c%s%s%s", i ? '&' : '?', PICK(names), roll(12) ? "=" : "", PICK(values));
}

/* The parameters of a body beside those of the query; `mem` owns them. */
static void put_body(struct params *p, struct arena *mem)
{
        static const char *const names[] = { "a", "b", "c", "A", "c.d", "e", "a[]", "f" };
        static const char *const values[] = { "1",
                                              "5",
                                              "6",
                                              "-3",
                                              "\"x\"",
                                              "\"y\"",
                                              "true",
                                              "0",
                                              "1.0",
                                              "\"5\"",
                                              "null",
                                              "[1]",
                                              "{}",
                                              "{\"d\":\"x\"}",
                                              "1e0",
                                              "\"abc\"",
                                              "\"\\n\"",
                                              "false",
                                              "{\"d\":1}",
                                              "-0",
                                              "9223372036854775808",
                                              "0.5",
                                              "1.50",
                                              "5.0",
                                              "[]",
                                              "[\"x\"]",
                                              "[1,5]",
                                              "[1,6]",
                                              "[1.5,0]",
                                              "[\"x\",\"y\"]",
                                              "[true]",
                                              "[[1]]" };
        AUTO_BUF(json);
        unsigned n = roll(4);
        for (unsigned i = 0; i < n; i++)
                buf_printf(&json, "%s\"%s\":%s", i ? "," : "{", PICK(names), PICK(values));
        buf_puts(&json, n ? "}" : roll(9) ? "{}" : "[]");
        policy_params_json(p, mem, buf_span(&json));
}

static void put_until(struct buf *b)
{
        if (roll(4) == 0)
                buf_printf(b, " until %s", roll(2) ? "2020-01-01" : "2030-01-01");
        buf_putc(b, '\n');
}

static void put_door(struct buf *b)
{
        static const char *const files[] = { "read ", "read ", "edit ", "write ", "sock " };
        static const char *const methods[] = { " GET", " POST", " GET POST", "" };
        unsigned r = roll(10);
        if (r < 5) {
                const char *word = PICK(files);
                buf_puts(b, word);
                put_path(b);
                if ((word[0] == 'r' || word[0] == 'e') && roll(3) == 0)
                        buf_printf(b, " except %s%s", roll(2) ? "a" : "b", roll(3) ? "" : " x/a");
        } else if (r < 7) {
                buf_puts(b, "run ");
                put_program(b, true);
        } else if (r < 9) {
                size_t at = b->n;
                buf_puts(b, "net ");
                put_dest(b, true);
                bool url = strstr(b->p + at, "://") || strchr(b->p + at, '@');
                buf_puts(b, url ? PICK(methods) : "");
                if (url && roll(2))
                        put_bounds(b);
        } else if (roll(2)) {
                buf_printf(b, "env %s", roll(2) ? "A" : "PATH");
        } else {
                static const char *const tools[] = {
                        "any",   "any ask", "a", "b", "a where n=int:1..5", "a where n?=int:3..9 only",
                        "b ask", "c"
                };
                buf_printf(b, "tool %s", PICK(tools));
        }
        put_until(b);
}

static void put_effect(struct buf *b)
{
        static const char *const calls[] = { "a",
                                             "b",
                                             "c",
                                             "d",
                                             "a {}",
                                             "a \"{\\\"n\\\":4}\"",
                                             "a \"{\\\"n\\\":8}\"",
                                             "a \"{\\\"n\\\":4,\\\"m\\\":1}\"" };
        switch (roll(8)) {
        case 6:
                buf_printf(b, "tool %s", PICK(calls));
                break;
        case 0:
        case 1:
                buf_puts(b, "read ");
                put_path(b);
                break;
        case 2:
                buf_puts(b, "write ");
                put_path(b);
                break;
        case 3:
                buf_puts(b, "run ");
                put_program(b, false);
                break;
        case 4:
                buf_printf(b, "env %s", roll(2) ? "A" : roll(2) ? "PATH" : "B");
                break;
        case 5:
                buf_puts(b, "sock ");
                put_path(b);
                break;
        default: {
                AUTO_BUF(d);
                put_dest(&d, false);
                bool url = strstr(d.p, "://") || d.p[0] == '@';
                buf_printf(b, "net %s%s", url ? (roll(2) ? "GET " : "POST ") : "", d.p);
                if (url)
                        put_query(b);
        }
        }
}

static struct checked_policy *random_policy(struct buf *text)
{
        struct err e;
        buf_puts(text, "use none\n");
        for (unsigned n = roll(24); n > 0; n--)
                put_door(text);
        return load_in("t", buf_span(text), &fixed_context, &e); /* some contradict themselves: no matter */
}

static bool agree(const struct decision *a, const struct decision *b)
{
        return a->answer == b->answer && a->reason == b->reason && a->door == b->door &&
               a->nearest == b->nearest && a->built_in == b->built_in;
}

static bool bounded_only; /* every effect is a request with parameters */
static void bounded_effect(struct buf *text);

struct tally {
        unsigned long pairs, allowed, bounded, gaps[REASON_DECIDED__LAST + 1], policies;
};

/* The line that is told for a value out of bounds lets it pass. */
static bool permit_permits(const struct effect *f, const struct decision *d)
{
        AUTO_BUF(line);
        AUTO_BUF(text);
        struct err e;
        policy_smallest_line(f, d, &line);
        if (d->reason != REASON_PARAMETER || line.n == 0)
                return true;
        buf_printf(&text, "use none\n%s\n", buf_str(&line));
        struct checked_policy *c = load_in("t", buf_span(&text), &fixed_context, &e);
        bool good = c && policy_decide(c, f).answer == ANSWER_ALLOW;
        if (!good)
                printf("# %s: %s\n", buf_str(&line), c ? "does not permit it" : e.what);
        policy_checked_free(c);
        return good;
}

static bool one_pair(const struct checked_policy *c, const char *policy, struct tally *t)
{
        AUTO_BUF(b);
        struct arena mem = { 0 };
        struct params p = { 0 };
        struct effect f;
        struct err e;
        (bounded_only ? bounded_effect : put_effect)(&b);
        if (policy_effect_parse(buf_str(&b), &fixed_context, &f, &e) < 0) {
                printf("# %s: %s\n", buf_str(&b), e.what);
                return false;
        }
        if (f.params && roll(2)) {
                p = *f.params;
                put_body(&p, &mem);
                f.params = &p;
        }
        struct decision x = policy_decide(c, &f), y = policy_decide_ref(c, &f);
        bool ok = agree(&x, &y) && permit_permits(&f, &x);
        t->bounded += x.door && x.door->kind == DOOR_NET && x.door->net.bounds;
        if (!ok)
                printf("# %s: %d/%s and %d/%s under\n%s\n", buf_str(&b), x.answer,
                       effect_reason_name(x.reason), y.answer, effect_reason_name(y.reason), policy);
        /* An answer always has its reason: a door or a built-in when allowed, a gap and no door when denied.
         */
        ok = ok &&
             (x.answer == ANSWER_ALLOW ? x.reason == REASON_NONE && (x.door != NULL) != (x.built_in != NULL)
                                       : x.reason != REASON_NONE && !x.door && !x.built_in);
        t->pairs++;
        t->allowed += x.answer == ANSWER_ALLOW;
        t->gaps[x.reason]++;
        policy_effect_done(&f);
        arena_done(&mem);
        return ok;
}

static void test_differential__both_evaluators_say_the_same(void)
{
        struct tally t = { 0 };
        bool ok = true;
        while (ok && t.pairs < pairs_wanted) {
                AUTO_BUF(text);
                struct checked_policy *c = random_policy(&text);
                for (int i = 0; c && ok && i < 100; i++)
                        ok = one_pair(c, buf_str(&text), &t);
                t.policies += c != NULL;
                policy_checked_free(c);
        }
        CHECK(ok);
        printf("# %lu pairs, %lu policies, %lu allowed, %lu of them within bounds, %lu out of them\n",
               t.pairs, t.policies, t.allowed, t.bounded, t.gaps[REASON_PARAMETER]);
        CHECK(t.bounded >= 20);
        CHECK(t.allowed > t.pairs / 20);
        for (int g = 0; g <= REASON_DECIDED__LAST;
             g++) { /* a generator that never reaches a gap tests nothing there */
                if (t.gaps[g] < 20)
                        printf("# gap %s seen %lu times\n", effect_reason_name((enum effect_reason) g),
                               t.gaps[g]);
                CHECK(t.gaps[g] >= 20);
        }
}

static struct checked_policy *bounded_policy(struct buf *text, unsigned doors)
{
        struct err e;
        buf_puts(text, "use none\n");
        while (doors-- > 0) {
                buf_printf(text, "net http://h.example/%s GET", roll(3) ? "a" : "**");
                put_bounds(text);
                buf_putc(text, '\n');
        }
        return load_in("t", buf_span(text), &fixed_context, &e);
}

static void bounded_effect(struct buf *text)
{
        buf_printf(text, "net GET http://h.example/%s", roll(5) ? "a" : "b");
        put_query(text);
}

/* All questions are about parameters. */
static void test_differential__bounds(void)
{
        struct tally t = { 0 };
        bool ok = true;
        bounded_only = true;
        while (ok && t.pairs < pairs_wanted / 2) {
                AUTO_BUF(text);
                struct checked_policy *c = bounded_policy(&text, 1 + roll(3));
                for (int i = 0; c && ok && i < 50; i++)
                        ok = one_pair(c, buf_str(&text), &t);
                policy_checked_free(c);
        }
        bounded_only = false;
        CHECK(ok);
        printf("# %lu pairs, %lu within bounds, %lu out of them\n", t.pairs, t.bounded,
               t.gaps[REASON_PARAMETER]);
        CHECK(t.bounded > t.pairs / 20);
        CHECK(t.gaps[REASON_PARAMETER] > t.pairs / 4);
}

/* What a narrower door permits, a wider one does. */
static void test_property__covered_bounds_permit_no_more(void)
{
        unsigned long covered = 0, allowed = 0;
        for (int i = 0; i < 40000; i++) {
                AUTO_BUF(ta);
                AUTO_BUF(tb);
                AUTO_BUF(out);
                struct checked_policy *a = bounded_policy(&ta, 1), *b = bounded_policy(&tb, 1);
                enum policy_order order = a && b ? policy_diff(a, b, &out) : POLICY_CROSSING;
                bool narrower = order == POLICY_NARROWER || order == POLICY_EQUAL;
                covered += narrower;
                for (int k = 0; narrower && k < 40; k++) {
                        AUTO_BUF(text);
                        struct effect f;
                        struct err e;
                        bounded_effect(&text);
                        if (policy_effect_parse(buf_str(&text), &fixed_context, &f, &e) < 0)
                                continue;
                        bool in_b = policy_decide(b, &f).answer == ANSWER_ALLOW;
                        allowed += in_b;
                        if (in_b && policy_decide(a, &f).answer != ANSWER_ALLOW) {
                                printf("# %s:\n%s%s\n", buf_str(&text), buf_str(&ta), buf_str(&tb));
                                test_failures++;
                        }
                        policy_effect_done(&f);
                }
                policy_checked_free(a);
                policy_checked_free(b);
        }
        printf("# %lu pairs of doors, %lu effects within\n", covered, allowed);
        CHECK(covered > 100 && allowed > 100);
}

/* A policy over names that the effects never use: nothing may be allowed but what every box has. */
static void test_property__an_effect_that_no_door_covers_is_denied(void)
{
        struct checked_policy *c =
                load("use none\nread /zz/a /zz/b except q\nedit /zz/c\nwrite /zz/d\nrun zz /zz/run/\n"
                     "net zz.test:443\nnet https://zz.test/**\nnet @zz/**\nenv ZZ\nsock /zz/s\n");
        for (int i = 0; c && i < 50000; i++) {
                AUTO_BUF(b);
                struct effect f;
                struct err e;
                put_effect(&b);
                if (policy_effect_parse(buf_str(&b), &fixed_context, &f, &e) < 0)
                        continue;
                struct decision d = policy_decide(c, &f), r = policy_decide_ref(c, &f);
                if ((d.answer == ANSWER_ALLOW && !d.built_in) || (r.answer == ANSWER_ALLOW && !r.built_in)) {
                        printf("# allowed: %s\n", buf_str(&b));
                        test_failures++;
                        i = 50000;
                }
                policy_effect_done(&f);
        }
        CHECK(c != NULL);
        policy_checked_free(c);
}

/* Adding doors never allows less. (None of these lies in a private directory: there a door of the host stands
 * in the place of what the box had, which is neither more nor less.) */
static void test_property__more_doors_never_allow_less(void)
{
        for (int i = 0; i < 2000; i++) {
                AUTO_BUF(text);
                AUTO_BUF(more);
                struct checked_policy *small = random_policy(&text);
                buf_puts(&more, buf_str(&text));
                buf_puts(&more, "read /a/b\nnet https://a.example.org/**\nrun git\n");
                struct err e;
                struct checked_policy *big = small ? load_in("t", buf_span(&more), &fixed_context, &e) : NULL;
                for (int k = 0; big && k < 20; k++) {
                        AUTO_BUF(b);
                        struct effect f;
                        put_effect(&b);
                        if (policy_effect_parse(buf_str(&b), &fixed_context, &f, &e) < 0)
                                continue;
                        bool was = policy_decide(small, &f).answer == ANSWER_ALLOW,
                             is = policy_decide(big, &f).answer == ANSWER_ALLOW;
                        if (was && !is)
                                printf("# %s under\n%s\n", buf_str(&b), buf_str(&text));
                        CHECK(!was || is);
                        policy_effect_done(&f);
                }
                policy_checked_free(small);
                policy_checked_free(big);
        }
}

static const struct test_case cases[] = {
        CASE(test_differential__both_evaluators_say_the_same),
        CASE(test_differential__bounds),
        CASE(test_property__covered_bounds_permit_no_more),
        CASE(test_property__an_effect_that_no_door_covers_is_denied),
        CASE(test_property__more_doors_never_allow_less),
};

int main(int argc, char **argv)
{
        if (argc > 1)
                pairs_wanted = strtoul(argv[1], NULL, 10);
        if (argc > 2)
                state ^= strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15u;
        return test_main(cases, sizeof cases / sizeof *cases);
}

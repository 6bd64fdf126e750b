/* SPDX-License-Identifier: MIT */
/* The two evaluators over random (policy, effect) pairs from small alphabets, so that near misses are common.
 * An argument asks for more pairs: test_policy_differential 5000000 [SEED]. */
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
        } else {
                buf_printf(b, "env %s", roll(2) ? "A" : "PATH");
        }
        put_until(b);
}

static void put_effect(struct buf *b)
{
        switch (roll(7)) {
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
        return a->answer == b->answer && a->gap == b->gap && a->door == b->door && a->nearest == b->nearest &&
               a->built_in == b->built_in;
}

struct tally {
        unsigned long pairs, allowed, gaps[GAP__COUNT], policies;
};

static bool one_pair(const struct checked_policy *c, const char *policy, struct tally *t)
{
        AUTO_BUF(b);
        struct effect f;
        struct err e;
        put_effect(&b);
        if (policy_effect_parse(buf_str(&b), &fixed_context, &f, &e) < 0) {
                printf("# %s: %s\n", buf_str(&b), e.what);
                return false;
        }
        struct decision x = policy_decide(c, &f), y = policy_decide_ref(c, &f);
        bool ok = agree(&x, &y);
        if (!ok)
                printf("# %s: %d/%s and %d/%s under\n%s\n", buf_str(&b), x.answer, policy_gap_name(x.gap),
                       y.answer, policy_gap_name(y.gap), policy);
        /* An answer always has its reason: a door or a built-in when allowed, a gap and no door when denied.
         */
        ok = ok && (x.answer == ANSWER_ALLOW ? x.gap == GAP_NONE && (x.door != NULL) != (x.built_in != NULL)
                                             : x.gap != GAP_NONE && !x.door && !x.built_in);
        t->pairs++;
        t->allowed += x.answer == ANSWER_ALLOW;
        t->gaps[x.gap]++;
        policy_effect_done(&f);
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
        printf("# %lu pairs, %lu policies, %lu allowed\n", t.pairs, t.policies, t.allowed);
        CHECK(t.allowed > t.pairs / 20);
        for (int g = 0; g < GAP__COUNT; g++) { /* a generator that never reaches a gap tests nothing there */
                if (t.gaps[g] < 20)
                        printf("# gap %s seen %lu times\n", policy_gap_name((enum gap) g), t.gaps[g]);
                CHECK(t.gaps[g] >= 20);
        }
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

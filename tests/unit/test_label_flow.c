/* SPDX-License-Identifier: MIT */
/* tests/unit/test_label_flow.c - noninterference: random programs, each run twice with other secret bytes,
 * give equal bytes at every sink that does not accept them. Programs branch on what they have read, keep
 * connections open while their label rises, and leave files to later runs. The decider is the real one; what
 * the supervisor does with its answers is modelled as the broker and the keeper do it. */
#include "effect/label/label.h"
#include "harness.h"

enum { SOURCES = 4, SINKS = 6, FILES = 3, RUNS = 4, OPS = 24, TRACE = 256, PROGRAMS = 10000 };

enum op { OP_READ, OP_SEND, OP_OPEN, OP_PUSH, OP_LOAD, OP_SAVE, OP_IF, OP_MIX, OP__COUNT };
struct step {
        enum op op;
        unsigned arg;
};
struct program { /* of several runs: files are what one leaves to the next */
        struct step step[RUNS][OPS];
        bool handed[RUNS][FILES];
};
struct sink {
        struct label_sink s;
        bool open;
        uint64_t trace[TRACE];
        unsigned n;
};
struct world {
        struct label source_label[SOURCES];
        uint64_t source[SOURCES];
        struct sink sink[SINKS];
        uint64_t file[FILES];
        struct label file_label[FILES];
};

static uint64_t seed = 0x9e3779b97f4a7c15;
static uint64_t random_bits(void)
{
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        return seed;
}
static unsigned roll(unsigned n) { return (unsigned) (random_bits() >> 11) % n; }

static uint64_t mix(uint64_t a, uint64_t b)
{
        a = (a ^ b) * 0xff51afd7ed558ccdu;
        return a ^ a >> 32;
}

static struct label some_label(unsigned chance)
{
        static const char *const words[] = { "private:a", "private:b", "private:c", "untrusted" };
        struct label l = { 0 };
        for (unsigned i = 0; i < 4; i++)
                if (roll(100) < chance)
                        (void) label_add(&l, span_str(words[i]));
        return l;
}

/* ---- one execution ---- */

struct run {
        struct world *w;
        struct label label;
        uint64_t memory;
};

static bool leaves(const struct run *r, const struct sink *k)
{
        return label_decide(&r->label, &k->s).verdict == LABEL_ALLOW; /* nobody is there to be asked */
}

/* Open connections are judged anew when the label rises. */
static void raise_label(struct run *r, const struct label *by)
{
        label_join(&r->label, by);
        for (unsigned i = 0; i < SINKS; i++)
                r->w->sink[i].open = r->w->sink[i].open && leaves(r, &r->w->sink[i]);
}

static void put(struct sink *k, uint64_t v)
{
        if (k->n < TRACE)
                k->trace[k->n++] = v;
}

static unsigned step(struct run *r, const struct step *s)
{
        struct world *w = r->w;
        struct sink *k = &w->sink[s->arg % SINKS];
        unsigned file = s->arg % FILES, source = s->arg % SOURCES;
        switch (s->op) {
        case OP_READ:
                raise_label(r, &w->source_label[source]);
                r->memory = mix(r->memory, w->source[source]);
                break;
        case OP_SEND:
                if (leaves(r, k))
                        put(k, r->memory);
                else
                        r->memory = mix(r->memory, 403); /* it sees that it was denied */
                break;
        case OP_OPEN:
                k->open = leaves(r, k);
                break;
        case OP_PUSH:
                if (k->open)
                        put(k, r->memory);
                break;
        case OP_LOAD: /* its label was joined when the run began */
                r->memory = mix(r->memory, w->file[file]);
                break;
        case OP_SAVE:
                w->file[file] = r->memory;
                break;
        case OP_IF:
                return 1 + (r->memory & 1);
        case OP_MIX:
        case OP__COUNT:
                r->memory = mix(r->memory, s->arg);
                break;
        }
        return 1;
}

static void execute(const struct program *p, struct world *w)
{
        for (unsigned n = 0; n < RUNS; n++) {
                struct run r = { .w = w };
                for (unsigned f = 0; f < FILES; f++)
                        if (p->handed[n][f])
                                label_join(&r.label, &w->file_label[f]);

                for (unsigned i = 0; i < OPS;) {
                        const struct step *s = &p->step[n][i];
                        bool file = s->op == OP_LOAD || s->op == OP_SAVE;
                        i += file && !p->handed[n][s->arg % FILES] ? 1 : step(&r, s);
                }

                /* What it could write is stamped, written or not: which one it was would say something. */
                for (unsigned f = 0; f < FILES; f++)
                        if (p->handed[n][f])
                                label_join(&w->file_label[f], &r.label);

                for (unsigned i = 0; i < SINKS; i++)
                        w->sink[i].open = false;
        }
}

/* ---- pairs of executions ---- */

static struct program some_program(void)
{
        struct program p;
        for (unsigned n = 0; n < RUNS; n++) {
                for (unsigned i = 0; i < OPS; i++)
                        p.step[n][i] = (struct step){ (enum op) roll(OP__COUNT), roll(64) };
                for (unsigned f = 0; f < FILES; f++)
                        p.handed[n][f] = roll(2);
        }
        return p;
}

static struct world some_world(void)
{
        struct world w = { 0 };
        for (unsigned i = 0; i < SOURCES; i++) {
                w.source_label[i] = some_label(30);
                w.source[i] = random_bits();
        }
        for (unsigned i = 0; i < SINKS; i++)
                w.sink[i].s = (struct label_sink){ .source = some_label(10),
                                                   .accepts = some_label(35),
                                                   .declassify = some_label(10),
                                                   .acts = roll(2) };
        return w;
}

/* Other bytes wherever the tag is: what a sink that does not accept it may not notice. */
static void change(struct world *w, const struct label *tag)
{
        for (unsigned i = 0; i < SOURCES; i++) {
                struct label rest = w->source_label[i];
                label_drop(&rest, tag);
                if (!label_equal(&rest, &w->source_label[i]))
                        w->source[i] = random_bits();
        }
}

static bool may_know(const struct sink *k, const struct label *tag)
{
        if (tag->untrusted)
                return !k->s.acts || k->s.accepts.untrusted;
        return label_secrecy_within(tag, &k->s.accepts) ||
               (!k->s.acts && label_secrecy_within(tag, &k->s.source));
}

static unsigned compare(const struct world *a, const struct world *b, const struct label *tag, unsigned *sent)
{
        unsigned differ = 0;
        for (unsigned i = 0; i < SINKS; i++) {
                const struct sink *x = &a->sink[i], *y = &b->sink[i];
                bool same = x->n == y->n && memcmp(x->trace, y->trace, x->n * sizeof *x->trace) == 0;
                *sent += x->n;
                if (!may_know(x, tag) && !same)
                        differ++;
        }
        return differ;
}

static void test_programs__secret_bytes_change_no_sink_that_does_not_accept_them(void)
{
        static const char *const tags[] = { "private:a", "private:b", "private:c", "untrusted" };
        unsigned sent = 0, noticed = 0;
        for (unsigned n = test_rounds(PROGRAMS); n > 0; n--) {
                struct program p = some_program();
                struct world first = some_world(), second = first;
                struct label tag = label_of(tags[n % 4]);
                change(&second, &tag);
                execute(&p, &first);
                execute(&p, &second);
                CHECK_INT(compare(&first, &second, &tag, &sent), 0);
                noticed += memcmp(first.sink, second.sink, sizeof first.sink) != 0;
        }

        CHECK(sent > 1000);  /* the programs are not idle, */
        CHECK(noticed > 20); /* and sinks that accept the bytes do see them */
}

/* The test can fail: a supervisor that forgets one rule is found. */
static void test_programs__a_sink_that_accepts_all_is_noticed(void)
{
        unsigned found = 0, sent = 0;
        struct label tag = label_of("private:a");
        for (unsigned n = test_rounds(2000) + 100; n > 0; n--) {
                struct program p = some_program();
                struct world first = some_world(), second;
                for (unsigned i = 0; i < SINKS; i++)
                        first.sink[i].s.two = true; /* under `rule two` private data may leave unread */
                second = first;
                change(&second, &tag);
                execute(&p, &first);
                execute(&p, &second);
                found += compare(&first, &second, &tag, &sent) > 0;
        }
        CHECK(found > 10);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_programs__secret_bytes_change_no_sink_that_does_not_accept_them),
                CASE(test_programs__a_sink_that_accepts_all_is_noticed),
        };
        return test_main(cases, sizeof cases / sizeof *cases);
}

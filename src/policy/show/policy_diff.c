/* SPDX-License-Identifier: MIT */
/* policy/show/policy_diff.c - is policy b wider than a? By coverage, not by text: `read /a` covers `read
 * /a/b`. One thing is judged door by door: `run any` is the same door in both, though what it reaches depends
 * on the file doors around it, which are compared on their own lines. */
#include "policy/internal.h"

struct change {
        bool wider, narrower;
};

static void put_line(struct buf *out, char sign, const struct door *d)
{
        buf_printf(out, "%c ", sign);
        show_door(d, out);
        buf_putc(out, '\n');
}

static bool is_stream(const struct door *d) { return d->kind == DOOR_OUT && policy_is_stream(d->name); }

static bool has_stream(const struct checked_policy *c, const char *name)
{
        for (size_t i = 0; i < c->live.n; i++)
                if (is_stream(&c->live.v[i]) && strcmp(c->live.v[i].name, name) == 0)
                        return true;
        return false;
}

/* A box without the line may print what it likes: the line takes, and does not give. */
static bool lost_streams(const struct checked_policy *x, const struct checked_policy *y, char sign,
                         struct buf *out)
{
        bool found = false;
        for (size_t i = 0; i < y->live.n; i++) {
                const struct door *d = &y->live.v[i];
                if (!is_stream(d) || has_stream(x, d->name))
                        continue;
                buf_printf(out, "%c %s: any bytes\n", sign, d->name);
                found = true;
        }
        return found;
}

/* Doors of `x` that `y` does not cover. */
static bool put_extra(const struct checked_policy *x, const struct checked_policy *y, char sign,
                      struct buf *out)
{
        bool found = false;
        for (size_t i = 0; i < x->live.n; i++) {
                bool free = is_stream(&x->live.v[i]) && !has_stream(y, x->live.v[i].name);
                if (free || cover_door(y, &x->live.v[i], NULL))
                        continue;
                put_line(out, sign, &x->live.v[i]);
                found = true;
        }

        return found;
}

static void diff_renewal(const struct policy_limits *a, const struct policy_limits *b, struct change *c,
                         struct buf *out)
{
        bool was = policy_limit_ask(a, LIMIT_RENEW)[0], is = policy_limit_ask(b, LIMIT_RENEW)[0];
        if (was == is || !a->value[LIMIT_RENEW] || !b->value[LIMIT_RENEW])
                return;

        c->wider |= was;
        c->narrower |= is;
        buf_printf(out, "%c limit renew %s ask: %s\n", is ? '-' : '+', is ? "with" : "without",
                   is ? "narrower" : "wider");
}

static void diff_limits(const struct checked_policy *a, const struct checked_policy *b, struct change *c,
                        struct buf *out)
{
        for (int k = 0; k < LIMIT_KEY__COUNT; k++) {
                uint64_t was = a->limits.value[k], is = b->limits.value[k];
                char x[32], y[32];
                if (was == is)
                        continue;
                c->wider = c->wider || is > was;
                c->narrower = c->narrower || is < was;
                buf_printf(out, "%c limit %s %s, was %s: %s\n", is > was ? '+' : '-',
                           policy_limit_name((enum limit_key) k), limit_print((enum limit_key) k, is, y),
                           limit_print((enum limit_key) k, was, x), is > was ? "wider" : "narrower");
        }

        diff_renewal(&a->limits, &b->limits, c, out);
}

static void diff_wall(const struct checked_policy *a, const struct checked_policy *b, struct change *c,
                      struct buf *out)
{
        if (a->wall != b->wall) {
                unsigned was = wall_traits(a->wall)->strength, is = wall_traits(b->wall)->strength;
                c->wider = c->wider || is <= was;
                c->narrower = c->narrower || is >= was;
                buf_printf(out, "%c wall %s, was %s: %s\n", is > was ? '-' : '+', wall_name(b->wall),
                           wall_name(a->wall),
                           is > was   ? "narrower"
                           : is < was ? "wider"
                                      : "another wall, neither stronger nor weaker");
        }

        size_t count;
        const struct without_row *rows = without_rows(&count);
        for (size_t i = 0; i < count; i++) {
                bool was = a->without & rows[i].bit, is = b->without & rows[i].bit;
                if (was == is)
                        continue;
                bool wider = is == (bool) (rows[i].bit & WITHOUT_LAYERS);
                c->wider = c->wider || wider;
                c->narrower = c->narrower || !wider;
                buf_printf(out, "%c %s %s\n", wider ? '+' : '-', is ? "without" : "with", rows[i].name);
        }
}

/* Another root has other files: neither is in the other. */
static void diff_root(const struct checked_policy *a, const struct checked_policy *b, struct change *c,
                      struct buf *out)
{
        const char *was = a->root.text ? a->root.text : "", *is = b->root.text ? b->root.text : "";
        if (strcmp(was, is) == 0)
                return;

        c->wider = c->narrower = true;
        if (*was)
                buf_printf(out, "- root %s\n", show_text(was).text);

        if (*is)
                buf_printf(out, "+ root %s\n", show_text(is).text);
}

static void diff_local(const struct checked_policy *a, const struct checked_policy *b, struct change *c,
                       struct buf *out)
{
        size_t count;
        const struct policy_local_row *rows = policy_local_rows(&count);
        for (size_t i = 0; i < count; i++) {
                bool was = a->local & rows[i].bit, is = b->local & rows[i].bit;
                if (was == is)
                        continue;
                c->wider = c->wider || is;
                c->narrower = c->narrower || was;
                buf_printf(out, "%c local %s\n", is ? '+' : '-', rows[i].name);
        }
}

/* Neither rule lets all pass that the other does. */
static void diff_rules(const struct checked_policy *a, const struct checked_policy *b, struct change *c,
                       struct buf *out)
{
        for (unsigned i = 0; policy_rule_name(i); i++)
                if ((a->rules ^ b->rules) & 1u << i) {
                        c->wider = c->narrower = true;
                        buf_printf(out, "%c rule %s\n", b->rules & 1u << i ? '+' : '-', policy_rule_name(i));
                }
}

/* Opens nothing: neither is wider. */
static void diff_warm(const struct checked_policy *a, const struct checked_policy *b, struct buf *out)
{
        for (int i = 0; i < WARM__COUNT; i++) {
                const char *was = a->warm[i].text, *is = b->warm[i].text;
                if (was && (!is || strcmp(was, is) != 0))
                        buf_printf(out, "- warm %s\n", was);
                if (is && (!was || strcmp(was, is) != 0))
                        buf_printf(out, "+ warm %s\n", is);
        }
}

enum policy_order policy_diff(const struct checked_policy *a, const struct checked_policy *b, struct buf *out)
{
        struct change c = { 0 };
        c.wider = put_extra(b, a, '+', out);
        c.wider = lost_streams(b, a, '+', out) || c.wider;
        c.narrower = put_extra(a, b, '-', out);
        c.narrower = lost_streams(a, b, '-', out) || c.narrower;
        diff_root(a, b, &c, out);
        diff_limits(a, b, &c, out);
        diff_local(a, b, &c, out);
        diff_rules(a, b, &c, out);
        diff_warm(a, b, out);
        diff_wall(a, b, &c, out);
        if (c.wider && c.narrower)
                return POLICY_CROSSING;

        return c.wider ? POLICY_WIDER : c.narrower ? POLICY_NARROWER : POLICY_EQUAL;
}

bool policy_covers_line(const struct checked_policy *c, const char *line, const struct policy_context *ctx)
{
        AUTO_BUF(text);
        struct err ignored;
        struct policy *p = policy_new();

        buf_printf(&text, "use none\n%s\n", line);
        bool read = p && !text.failed && policy_add_text(p, "line", buf_span(&text), &ignored) == 0;
        struct checked_policy *own = read ? policy_check(p, ctx, &ignored) : NULL;
        bool covered = own && (own->live.n > 0 || own->local) && !(own->local & ~c->local);
        for (size_t i = 0; covered && i < own->live.n; i++)
                covered = cover_door(c, &own->live.v[i], NULL);

        policy_checked_free(own);
        policy_free(p);
        return covered;
}

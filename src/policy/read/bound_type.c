/* SPDX-License-Identifier: MIT */
/* policy/read/bound_type.c - the types of a bound: `int:1..5`, `one:a|b`, `list:3:text:80`; read and printed.
 * bound_judge.c checks values against them. */
#include "policy/internal.h"

#include <stdlib.h>

int bound_refuse(const struct bound_in *x, const char *what, const char *hint)
{
        (void) fail_at(x->r->e, &x->t->at, "\"%s\": %s", show_text(x->t->text).text, what);
        return hint ? err_hint(x->r->e, "%s", hint) : -1;
}

/* ---- ranges ---- */

struct range_type {
        int (*number)(const char *text, int64_t *ret);
        const char *hint, *no_range, *no_number;
};

static int read_range(const struct bound_in *x, const char *rest, const struct range_type *t)
{
        const char *dots = strstr(rest, "..");
        char low[24] = "";
        size_t n = dots ? (size_t) (dots - rest) : 0;
        if (!dots || n >= sizeof low)
                return bound_refuse(x, t->no_range, t->hint);

        memcpy(low, rest, n);
        x->b->least = INT64_MIN;
        x->b->most = INT64_MAX;
        if ((n && t->number(low, &x->b->least) < 0) || (dots[2] && t->number(dots + 2, &x->b->most) < 0))
                return bound_refuse(x, t->no_number, t->hint);

        if (x->b->least > x->b->most)
                return bound_refuse(x, "empty range", "put the smaller number first");

        return 0;
}

static int read_int(const struct bound_in *x, const char *rest)
{
        static const struct range_type type = {
                param_int, "use int:MIN..MAX; either end may be left out",
                "the range is missing, or does not start with an integer",
                "an end of the range is not a plain decimal integer of 64 bits"
        };
        return read_range(x, rest, &type);
}

static int read_num(const struct bound_in *x, const char *rest)
{
        static const struct range_type type = {
                param_num, "use num:MIN..MAX, as num:0.01..2500; either end may be left out",
                "the range is missing, or does not start with a number",
                "invalid range: at most 11 digits before and 4 after the decimal point"
        };
        return read_range(x, rest, &type);
}

/* ---- values ---- */

/* %XX in a value, for '|' and '%'. */
static int unescape_value(const struct bound_in *x, struct span raw, char *to)
{
        size_t n = 0;
        for (size_t i = 0; i < raw.n; i++) {
                int a = raw.p[i] == '%' && i + 2 < raw.n ? str_hex(raw.p[i + 1]) : -1;
                int b = a >= 0 ? str_hex(raw.p[i + 2]) : -1;
                if (raw.p[i] == '%' && b < 0)
                        return bound_refuse(x, "% must be followed by two hexadecimal digits",
                                            "use %25 for %");
                to[n++] = (char) (b >= 0 ? a << 4 | b : raw.p[i]);
                i += b >= 0 ? 2 : 0;
        }

        to[n] = '\0';
        if (strlen(to) != n || !param_is_text(to))
                return bound_refuse(x, "a value is not UTF-8, or holds a control character", NULL);

        return n ? 0 : bound_refuse(x, "an empty value in the list", "use one:A|B");
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *) a, *(char *const *) b); }

static int read_one(const struct bound_in *x, const char *rest)
{
        struct arena *mem = &x->r->p->mem;
        size_t n = 1, k = 0;
        for (const char *p = rest; *p; p++)
                n += *p == '|';

        x->b->one = arena_alloc(mem, (n + 1) * sizeof *x->b->one);
        for (const char *p = rest; x->b->one && k < n; k++) {
                size_t len = strcspn(p, "|");
                x->b->one[k] = arena_alloc(mem, len + 1);
                if (!x->b->one[k])
                        return fail_memory(x->r->e);
                if (unescape_value(x, span_of(p, len), x->b->one[k]) < 0)
                        return -1;
                p += len + 1;
        }

        if (!x->b->one)
                return fail_memory(x->r->e);

        qsort(x->b->one, n, sizeof *x->b->one, by_name);
        for (size_t i = 1; i < n; i++)
                if (strcmp(x->b->one[i - 1], x->b->one[i]) == 0)
                        return bound_refuse(x, "a value is named twice", NULL);

        return 0;
}

static int read_text(const struct bound_in *x, const char *rest)
{
        uint64_t v;
        if (str_to_u64(span_str(rest), &v) < 0 || v == 0 || v > BOUND_TEXT_MAX)
                return bound_refuse(x, "the length must be a number of bytes from 1 to 65536",
                                    x->b->type == BOUND_TEXT ? "use text:80" : "use lines:4000");
        x->b->most = (int64_t) v;
        return 0;
}

static int read_bool(const struct bound_in *x, const char *rest)
{
        (void) x;
        (void) rest;
        return 0;
}

static int read_absent(const struct bound_in *x, const char *rest)
{
        (void) rest;
        if (x->b->optional || x->b->list)
                return bound_refuse(x, "`none` means that the parameter is missing", "use NAME=none");
        x->b->optional = true;
        return 0;
}

/* ---- the types ---- */

static const struct {
        const char *name;
        bool alone; /* nothing follows it */
        int (*read)(const struct bound_in *x, const char *rest);
} types[] = { [BOUND_NONE] = { "", false, NULL },          [BOUND_INT] = { "int", false, read_int },
              [BOUND_NUM] = { "num", false, read_num },    [BOUND_ONE] = { "one", false, read_one },
              [BOUND_TEXT] = { "text", false, read_text }, [BOUND_LINES] = { "lines", false, read_text },
              [BOUND_BOOL] = { "bool", true, read_bool },  [BOUND_ABSENT] = { "none", true, read_absent } };
_Static_assert(COUNT(types) == BOUND_TYPE__COUNT, "a row for each type");

static const char any_type[] =
        "use int:MIN..MAX, num:MIN..MAX, one:A|B, text:MAX, lines:MAX, bool, none or list:MAX:TYPE";

static int no_such_type(const struct bound_in *x, const char *text, size_t n)
{
        const char *names[BOUND_TYPE__COUNT] = { "list" };
        char word[16] = "";
        for (size_t i = BOUND_INT; i < BOUND_TYPE__COUNT; i++)
                names[i] = types[i].name;

        memcpy(word, text, n < sizeof word ? n : 0);
        (void) bound_refuse(x, "unknown parameter type", any_type);
        hint_nearest(x->r->e, word, names, COUNT(names));
        return -1;
}

static int read_plain(const struct bound_in *x, const char *text)
{
        size_t n = strcspn(text, ":");
        for (size_t i = BOUND_INT; i < BOUND_TYPE__COUNT; i++) {
                if (strlen(types[i].name) != n || strncmp(types[i].name, text, n) != 0)
                        continue;
                x->b->type = (enum bound_type) i;
                if (!text[n] != types[i].alone)
                        return bound_refuse(x,
                                            types[i].alone ? "nothing follows this type" : "incomplete type",
                                            any_type);
                return types[i].read(x, text + n + !types[i].alone);
        }

        return no_such_type(x, text, n);
}

int bound_read_type(const struct bound_in *x, const char *text)
{
        static const char list[] = "list:";
        uint64_t most;
        if (strncmp(text, list, sizeof list - 1) != 0)
                return read_plain(x, text);

        text += sizeof list - 1;
        size_t n = strcspn(text, ":");
        if (!text[n] || str_to_u64(span_of(text, n), &most) < 0 || most == 0 || most > BOUND_LIST_MAX)
                return bound_refuse(x, "the number of items must be from 1 to 64, and their type follow it",
                                    "use list:5:one:A|B");

        x->b->list = (uint8_t) most;
        return read_plain(x, text + n + 1);
}

/* ---- printed ---- */

static void print_value(const char *v, struct buf *out)
{
        for (; *v; v++)
                if (*v == '|' || *v == '%')
                        buf_printf(out, "%%%02X", (unsigned) *v);
                else
                        buf_putc(out, *v);
}

void bound_number(const struct net_bound *b, int64_t v, struct buf *out)
{
        uint64_t all = v < 0 ? -(uint64_t) v : (uint64_t) v, after = all % BOUND_NUM_UNIT;
        if (b->type == BOUND_INT || after == 0) {
                buf_printf(out, "%lld", (long long) (b->type == BOUND_INT ? v : v / BOUND_NUM_UNIT));
                return;
        }

        int digits = BOUND_NUM_AFTER;
        for (; after % 10 == 0; after /= 10)
                digits--;

        buf_printf(out, "%s%llu.%0*llu", v < 0 ? "-" : "", (unsigned long long) (all / BOUND_NUM_UNIT),
                   digits, (unsigned long long) after);
}

static void print_range(const struct net_bound *b, struct buf *out)
{
        buf_putc(out, ':');
        if (b->least != INT64_MIN)
                bound_number(b, b->least, out);
        buf_puts(out, "..");
        if (b->most != INT64_MAX)
                bound_number(b, b->most, out);
}

void bound_print(const struct net_bound *b, struct buf *out)
{
        buf_printf(out, "%s%s=", b->name, b->optional && b->type != BOUND_ABSENT ? "?" : "");
        if (b->list)
                buf_printf(out, "list:%u:", b->list);

        buf_puts(out, types[b->type].name);
        if (b->type == BOUND_TEXT || b->type == BOUND_LINES)
                buf_printf(out, ":%lld", (long long) b->most);
        else if (b->type == BOUND_INT || b->type == BOUND_NUM)
                print_range(b, out);

        for (char **v = b->one; v && *v; v++) {
                buf_putc(out, v == b->one ? ':' : '|');
                print_value(*v, out);
        }
}

/* SPDX-License-Identifier: MIT */
/* policy/read/bound.c - `where NAME=TYPE ... in body` of a net door: parsed, printed, compared. params.c
 * parses a request's parameters; bound_judge.c checks them. */
#include "policy/internal.h"

#include <stdlib.h>

struct bound_in { /* one word being read */
        struct reader *r;
        const struct token *t;
        struct net_bound *b;
};

static int refuse(const struct bound_in *x, const char *what, const char *hint)
{
        (void) fail_at(x->r->e, &x->t->at, "\"%s\": %s", show_text(x->t->text).text, what);
        return hint ? err_hint(x->r->e, "%s", hint) : -1;
}

/* ---- names ---- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Letters, digits, _ and -; parts are parted by dots and have a letter each. */
bool bound_name_ok(const char *name)
{
        bool letter = false;
        size_t n = strlen(name);
        if (n == 0 || n >= NAME_MAX_BYTES)
                return false;

        for (const char *p = name;; p++) {
                if (*p == '.' || *p == '\0') {
                        if (!letter)
                                return false;
                        if (*p == '\0')
                                return true;
                        letter = false;
                } else if (is_letter(*p)) {
                        letter = true;
                } else if (!strchr("0123456789_-", *p)) {
                        return false;
                }
        }
}

/* ---- types ---- */

static int read_int(const struct bound_in *x, const char *rest)
{
        static const char hint[] = "write int:MIN..MAX; either end may be left out";
        const char *dots = strstr(rest, "..");
        char low[24] = "";
        size_t n = dots ? (size_t) (dots - rest) : 0;
        if (!dots || n >= sizeof low)
                return refuse(x, "the range is missing, or does not start with an integer", hint);

        memcpy(low, rest, n);
        x->b->least = INT64_MIN;
        x->b->most = INT64_MAX;
        if ((n && param_int(low, &x->b->least) < 0) || (dots[2] && param_int(dots + 2, &x->b->most) < 0))
                return refuse(x, "an end of the range is not a plain decimal integer of 64 bits", hint);

        if (x->b->least > x->b->most)
                return refuse(x, "the range is empty: nothing lies in it", "write the smaller number first");

        return 0;
}

/* %XX in a value, for '|' and '%'. */
static int unescape(const struct bound_in *x, struct span raw, char *to)
{
        size_t n = 0;
        for (size_t i = 0; i < raw.n; i++) {
                int a = raw.p[i] == '%' && i + 2 < raw.n ? str_hex(raw.p[i + 1]) : -1;
                int b = a >= 0 ? str_hex(raw.p[i + 2]) : -1;
                if (raw.p[i] == '%' && b < 0)
                        return refuse(x, "% must be followed by two hexadecimal digits", "write %25 for %");
                to[n++] = (char) (b >= 0 ? a << 4 | b : raw.p[i]);
                i += b >= 0 ? 2 : 0;
        }

        to[n] = '\0';
        if (strlen(to) != n || !param_is_text(to))
                return refuse(x, "a value is not UTF-8, or holds a control character", NULL);

        return n ? 0 : refuse(x, "an empty value in the list", "write one:A|B");
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
                if (unescape(x, span_of(p, len), x->b->one[k]) < 0)
                        return -1;
                p += len + 1;
        }

        if (!x->b->one)
                return fail_memory(x->r->e);

        qsort(x->b->one, n, sizeof *x->b->one, by_name);
        for (size_t i = 1; i < n; i++)
                if (strcmp(x->b->one[i - 1], x->b->one[i]) == 0)
                        return refuse(x, "a value is named twice", NULL);

        return 0;
}

static int read_text(const struct bound_in *x, const char *rest)
{
        uint64_t v;
        if (str_to_u64(span_str(rest), &v) < 0 || v == 0 || v > BOUND_TEXT_MAX)
                return refuse(x, "the length must be a number of bytes from 1 to 65536", "write text:80");
        x->b->most = (int64_t) v;
        return 0;
}

static int read_bool(const struct bound_in *x, const char *rest)
{
        (void) rest;
        return x->t->text[strlen(x->t->text) - 1] == ':' ? refuse(x, "bool stands alone", NULL) : 0;
}

static const char *const type_names[] = { "", "int", "one", "text", "bool" };
_Static_assert(COUNT(type_names) == BOUND_TYPE__COUNT, "a name for each type");

static const struct {
        int (*read)(const struct bound_in *x, const char *rest);
        bool alone; /* nothing follows it */
} readers[] = { [BOUND_INT] = { read_int, false },
                [BOUND_ONE] = { read_one, false },
                [BOUND_TEXT] = { read_text, false },
                [BOUND_BOOL] = { read_bool, true } };

static int read_type(const struct bound_in *x, const char *text)
{
        size_t n = strcspn(text, ":");
        for (size_t i = BOUND_INT; i < BOUND_TYPE__COUNT; i++) {
                if (strlen(type_names[i]) != n || strncmp(type_names[i], text, n) != 0)
                        continue;
                x->b->type = (enum bound_type) i;
                if (!text[n] != readers[i].alone)
                        return refuse(
                                x, readers[i].alone ? "nothing follows this type" : "the type is not whole",
                                "write int:MIN..MAX, one:A|B, text:MAX or bool");
                return readers[i].read(x, text + n + !readers[i].alone);
        }

        (void) fail_at(x->r->e, &x->t->at, "\"%s\": no such type of a parameter", show_text(x->t->text).text);
        (void) err_hint(x->r->e, "write int:MIN..MAX, one:A|B, text:MAX or bool");
        char word[16] = "";
        memcpy(word, text, n < sizeof word ? n : 0);
        hint_nearest(x->r->e, word, type_names + 1, COUNT(type_names) - 1);
        return -1;
}

/* ---- the words ---- */

static int read_bound(const struct bound_in *x)
{
        char *name = arena_str(&x->r->p->mem, x->t->text);
        char *equals = name ? strchr(name, '=') : NULL;
        if (!name)
                return fail_memory(x->r->e);

        if (!equals || x->t->optional)
                return refuse(x, "no bound", "write NAME=TYPE, NAME?=TYPE where it may be missing");

        *equals = '\0';
        x->b->optional = equals > name && equals[-1] == '?';
        if (x->b->optional)
                equals[-1] = '\0';

        if (!bound_name_ok(name))
                return refuse(x, "this cannot name a parameter",
                              "letters, digits, _ and -; a.b for the member b of a");

        x->b->name = name;
        x->b->fold = param_fold(&x->r->p->mem, name);
        return x->b->fold ? read_type(x, equals + 1) : fail_memory(x->r->e);
}

static int cmp_i64(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* Bounds without a position come last: an `in` applies to all bounds before it, back to another `in`. */
static int by_bound(const void *a, const void *b)
{
        const struct net_bound *x = a, *y = b;
        int c = cmp_i64(!x->place, !y->place);
        c = c ? c : cmp_i64(x->place, y->place);
        return c ? c : strcmp(x->name, y->name);
}

void bounds_sort(struct net_bound *b, size_t n) { qsort(b, n, sizeof *b, by_bound); }

/* One name to some server is one parameter: two bounds of it would contradict each other. */
static int refuse_double(const struct bound_in *x, const struct net_dest *d)
{
        const char *fold = x->b->fold;
        for (size_t i = 0; i < d->bound_count; i++) {
                const struct net_bound *other = &d->bounds[i];
                if (strcmp(other->name, x->b->name) == 0)
                        return refuse(x, "this parameter is named twice", NULL);
                if (param_fold_same(other->fold, fold))
                        return refuse(x, "to some servers this is another parameter of the line",
                                      "name it in the one spelling that the server has");
                if (param_fold_inside(other->fold, fold) || param_fold_inside(fold, other->fold))
                        return refuse(x, "of two parameters one lies in the other", "name the inner one");
        }

        return 0;
}

static int may_have_bounds(struct reader *r, const struct net_dest *d, const struct token *t)
{
        if (d->bounds)
                return fail_at(r->e, &t->at, "`where` is stated twice");
        if (d->form != NET_HOST_PORT)
                return 0;
        (void) fail_at(r->e, &t->at, "a parameter cannot be seen in a raw connection");
        return err_hint(r->e, "write https://host/path instead of host:port");
}

static const char *const place_names[] = { [BOUND_IN_BODY] = "body", [BOUND_IN_QUERY] = "query" };

/* Sets the position of the bounds from `first` on. Returns how many bounds have a position now, or -1. */
static int read_place(struct reader *r, struct net_dest *d, const struct token *in, size_t first)
{
        if (first == d->bound_count) {
                (void) fail_at(r->e, &in->at, "`in` stands behind no parameter of its own");
                return err_hint(r->e, "write NAME=TYPE ... in body, or in query");
        }

        const struct token *t = reader_need(r, "the place after `in`");
        for (size_t p = BOUND_IN_BODY; t && p < COUNT(place_names); p++) {
                if (!token_is(t, place_names[p]))
                        continue;
                for (size_t i = first; i < d->bound_count; i++)
                        d->bounds[i].place = (enum bound_place) p;
                return (int) d->bound_count;
        }

        if (!t)
                return -1;

        (void) fail_at(r->e, &t->at, "\"%s\": parameters stand in the body or in the query",
                       show_text(t->text).text);
        (void) err_hint(r->e, "write `in body` or `in query`");
        hint_nearest(r->e, t->text, place_names + 1, COUNT(place_names) - 1);
        return -1;
}

int bounds_read(struct reader *r, struct net_dest *d)
{
        int placed = 0; /* this many bounds have their position */
        const struct token *t = reader_need(r, "the bound after `where`");
        if (!t || may_have_bounds(r, d, t) < 0)
                return -1;

        d->bounds = arena_alloc(&r->p->mem, BOUNDS_MAX * sizeof *d->bounds);
        if (!d->bounds)
                return fail_memory(r->e);

        for (; t && (d->bound_count == 0 || token_is(t, "in") || strchr(t->text, '=')); t = reader_next(r)) {
                struct net_bound b = { 0 };
                struct bound_in x = { r, t, &b };
                if (d->bound_count && token_is(t, "in")) {
                        if ((placed = read_place(r, d, t, (size_t) placed)) < 0)
                                return -1;
                        continue;
                }
                if (d->bound_count == BOUNDS_MAX)
                        return refuse(&x, "more than 32 parameters in one line", NULL);
                if (read_bound(&x) < 0 || !b.name || !b.fold || refuse_double(&x, d) < 0)
                        return -1; /* a bound that was read has both; gcc -fanalyzer does not see it */
                d->bounds[d->bound_count++] = b;
        }

        bounds_sort(d->bounds, d->bound_count);
        d->only = token_is(t, "only");
        if (t && !d->only)
                r->i--;

        return 0;
}

static char *copy(const struct scope *s, const char *text, bool *failed)
{
        char *p = text ? arena_str(s->mem, text) : NULL;
        *failed = *failed || (text && !p);
        return p;
}

int bounds_copy(const struct scope *s, struct net_dest *to, const struct net_dest *from)
{
        bool failed = false;
        if (!from->bounds)
                return 0;

        to->bounds = arena_alloc(s->mem, from->bound_count * sizeof *to->bounds);
        for (size_t i = 0; to->bounds && i < from->bound_count; i++) {
                struct net_bound *b = &to->bounds[i];
                size_t n = 0;
                *b = from->bounds[i];
                b->name = copy(s, b->name, &failed);
                b->fold = copy(s, b->fold, &failed);
                if (!b->one)
                        continue;
                char **one = b->one;
                while (one[n])
                        n++;
                b->one = arena_alloc(s->mem, (n + 1) * sizeof *b->one);
                for (size_t k = 0; b->one && k < n; k++)
                        b->one[k] = copy(s, one[k], &failed);
                failed = failed || !b->one;
        }

        return failed || !to->bounds ? fail_memory(s->e) : 0;
}

/* ---- written ---- */

static void print_value(const char *v, struct buf *out)
{
        for (; *v; v++)
                if (*v == '|' || *v == '%')
                        buf_printf(out, "%%%02X", (unsigned) *v);
                else
                        buf_putc(out, *v);
}

void bound_print(const struct net_bound *b, struct buf *out)
{
        buf_printf(out, "%s%s=%s", b->name, b->optional ? "?" : "", type_names[b->type]);
        if (b->type == BOUND_TEXT)
                buf_printf(out, ":%lld", (long long) b->most);

        if (b->type == BOUND_INT) {
                buf_putc(out, ':');
                if (b->least != INT64_MIN)
                        buf_printf(out, "%lld", (long long) b->least);
                buf_puts(out, "..");
                if (b->most != INT64_MAX)
                        buf_printf(out, "%lld", (long long) b->most);
        }

        for (char **v = b->one; v && *v; v++) {
                buf_putc(out, v == b->one ? ':' : '|');
                print_value(*v, out);
        }
}

/* Only a space or a quote needs quotes here; characters that a path must not hold plain are valid in a
 * bound. */
static void show_bound(const struct net_bound *b, struct buf *out)
{
        AUTO_BUF(word);
        bound_print(b, &word);
        out->failed = out->failed || word.failed;
        buf_putc(out, ' ');
        if (strpbrk(buf_str(&word), " \""))
                show_token(out, buf_str(&word));
        else
                buf_puts(out, buf_str(&word));
}

const char *bounds_place_ends(const struct net_dest *d, size_t i)
{
        static const char *const words[] = { NULL, "in body", "in query" };
        enum bound_place place = d->bounds[i].place;
        return i + 1 < d->bound_count && d->bounds[i + 1].place == place ? NULL : words[place];
}

void bounds_show(const struct net_dest *d, struct buf *out)
{
        if (!d->bounds)
                return;

        buf_puts(out, " where");
        for (size_t i = 0; i < d->bound_count; i++) {
                const char *place = bounds_place_ends(d, i);
                show_bound(&d->bounds[i], out);
                buf_printf(out, "%s%s", place ? " " : "", place ? place : "");
        }

        buf_puts(out, d->only ? " only" : "");
}

/* ---- compared ---- */

static int cmp_values(char *const *a, char *const *b)
{
        for (; a && b && *a && *b; a++, b++) {
                int c = strcmp(*a, *b);
                if (c)
                        return c;
        }
        return (a && *a) - (b && *b);
}

int bounds_order(const struct net_dest *a, const struct net_dest *b)
{
        int c = 0;
        for (size_t i = 0; !c && i < a->bound_count && i < b->bound_count; i++) {
                const struct net_bound *x = &a->bounds[i], *y = &b->bounds[i];
                if ((c = by_bound(x, y)) || (c = cmp_i64(x->type, y->type)) ||
                    (c = cmp_i64(x->optional, y->optional)) || (c = cmp_i64(x->least, y->least)) ||
                    (c = cmp_i64(x->most, y->most)))
                        break;
                c = cmp_values(x->one, y->one);
        }

        if (c || a->bound_count != b->bound_count)
                return c ? c : a->bound_count < b->bound_count ? -1 : 1;

        return cmp_i64(a->only, b->only);
}

static const struct net_bound *find(const struct net_dest *d, const char *name)
{
        for (size_t i = 0; i < d->bound_count; i++)
                if (strcmp(d->bounds[i].name, name) == 0)
                        return &d->bounds[i];
        return NULL;
}

static bool has_value(const struct net_bound *s, const char *v)
{
        for (char **x = s->one; x && *x; x++)
                if (strcmp(*x, v) == 0)
                        return true;
        return s->type == BOUND_TEXT && strlen(v) <= (size_t) s->most;
}

static bool value_covers(const struct net_bound *s, const struct net_bound *d)
{
        if (s->optional < d->optional || (s->place && s->place != d->place))
                return false;
        for (char **v = d->one; v && *v; v++)
                if (!has_value(s, *v))
                        return false;
        return d->type == BOUND_ONE || (s->type == d->type && s->least <= d->least && s->most >= d->most);
}

/* Does `d` exclude the parameter of this bound in every spelling? */
static bool is_kept_away(const struct net_dest *d, const struct net_bound *b)
{
        for (size_t i = 0; i < d->bound_count; i++) {
                const char *fold = d->bounds[i].fold;
                if (param_fold_same(fold, b->fold) || param_fold_inside(fold, b->fold) ||
                    param_fold_inside(b->fold, fold))
                        return false;
        }

        return d->only;
}

/* A parameter that `d` does not mention may have any value, unless its `only` excludes it. */
bool bounds_cover(const struct net_dest *s, const struct net_dest *d)
{
        if (!s->bounds)
                return true;

        if (!d->bounds || (s->only && !d->only))
                return false;

        for (size_t i = 0; i < s->bound_count; i++) {
                const struct net_bound *b = &s->bounds[i], *other = find(d, b->name);
                if (other ? !value_covers(b, other) : !(b->optional && is_kept_away(d, b)))
                        return false;
        }

        for (size_t i = 0; s->only && i < d->bound_count; i++)
                if (!find(s, d->bounds[i].name))
                        return false;

        return true;
}

/* SPDX-License-Identifier: MIT */
/* policy/read/bound.c - `where NAME=TYPE ... in body` of a net door: parsed, printed, compared.
 * bound_type.c has the types; params.c parses a request's parameters, bound_judge.c checks them. */
#include "policy/internal.h"

#include <stdlib.h>

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

/* ---- the words ---- */

static int read_bound(const struct bound_in *x)
{
        char *name = arena_str(&x->r->p->mem, x->t->text);
        char *equals = name ? strchr(name, '=') : NULL;
        if (!name)
                return fail_memory(x->r->e);

        if (!equals || x->t->optional)
                return bound_refuse(x, "no bound", "use NAME=TYPE, NAME?=TYPE where it may be missing");

        *equals = '\0';
        x->b->optional = equals > name && equals[-1] == '?';
        if (x->b->optional)
                equals[-1] = '\0';

        if (!bound_name_ok(name))
                return bound_refuse(x, "invalid parameter name",
                                    "letters, digits, _ and -; a.b for the member b of a");

        x->b->name = name;
        x->b->fold = param_fold(&x->r->p->mem, name);
        return x->b->fold ? bound_read_type(x, equals + 1) : fail_memory(x->r->e);
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
                        return bound_refuse(x, "duplicate parameter", NULL);
                if (param_fold_same(other->fold, fold))
                        return bound_refuse(x, "some servers treat this as another parameter of the line",
                                            "use the one spelling that the server has");
                if (param_fold_inside(other->fold, fold) || param_fold_inside(fold, other->fold))
                        return bound_refuse(x, "one parameter contains the other", "use the inner one");
        }

        return 0;
}

static int may_have_bounds(struct reader *r, const struct net_dest *d, const struct token *t)
{
        if (d->bounds)
                return fail_at(r->e, &t->at, "duplicate `where`");
        if (d->form != NET_HOST_PORT)
                return 0;
        (void) fail_at(r->e, &t->at, "parameters are not visible in a raw connection");
        return err_hint(r->e, "use https://host/path instead of host:port");
}

static const char *const place_names[] = { [BOUND_IN_BODY] = "body", [BOUND_IN_QUERY] = "query" };

/* Sets the position of the bounds from `first` on. Returns how many bounds have a position now, or -1. */
static int read_place(struct reader *r, struct net_dest *d, const struct token *in, size_t first)
{
        if (first == d->bound_count) {
                (void) fail_at(r->e, &in->at, "`in` must follow a parameter");
                return err_hint(r->e, "use NAME=TYPE ... in body, or in query");
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

        (void) fail_at(r->e, &t->at, "\"%s\": must be body or query", show_text(t->text).text);
        (void) err_hint(r->e, "use `in body` or `in query`");
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
                        return bound_refuse(&x, "more than 32 parameters in one line", NULL);
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

static char *copy_text(const struct scope *s, const char *text, bool *failed)
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
                b->name = copy_text(s, b->name, &failed);
                b->fold = copy_text(s, b->fold, &failed);
                if (!b->one)
                        continue;
                char **one = b->one;
                while (one[n])
                        n++;
                b->one = arena_alloc(s->mem, (n + 1) * sizeof *b->one);
                for (size_t k = 0; b->one && k < n; k++)
                        b->one[k] = copy_text(s, one[k], &failed);
                failed = failed || !b->one;
        }

        return failed || !to->bounds ? fail_memory(s->e) : 0;
}

/* ---- written ---- */

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
                    (c = cmp_i64(x->list, y->list)) || (c = cmp_i64(x->optional, y->optional)) ||
                    (c = cmp_i64(x->least, y->least)) || (c = cmp_i64(x->most, y->most)))
                        break;
                c = cmp_values(x->one, y->one);
        }

        if (c || a->bound_count != b->bound_count)
                return c ? c : a->bound_count < b->bound_count ? -1 : 1;

        return cmp_i64(a->only, b->only);
}

static const struct net_bound *find_bound(const struct net_dest *d, const char *name)
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
        return (s->type == BOUND_TEXT || s->type == BOUND_LINES) && strlen(v) <= (size_t) s->most;
}

static bool value_covers(const struct net_bound *s, const struct net_bound *d)
{
        if (s->optional < d->optional)
                return false;

        if (d->type == BOUND_ABSENT)
                return true;

        if ((s->place && s->place != d->place) || !s->list != !d->list || s->list < d->list)
                return false;

        for (char **v = d->one; v && *v; v++)
                if (!has_value(s, *v))
                        return false;

        bool wider = s->type == d->type || (s->type == BOUND_LINES && d->type == BOUND_TEXT);
        return d->type == BOUND_ONE || (wider && s->least <= d->least && s->most >= d->most);
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
                const struct net_bound *b = &s->bounds[i], *other = find_bound(d, b->name);
                if (other ? !value_covers(b, other) : !(b->optional && is_kept_away(d, b)))
                        return false;
        }

        for (size_t i = 0; s->only && i < d->bound_count; i++)
                if (d->bounds[i].type != BOUND_ABSENT && !find_bound(s, d->bounds[i].name))
                        return false;

        return true;
}

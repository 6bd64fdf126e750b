/* SPDX-License-Identifier: MIT */
/* policy/show/bound_words.c - describes a mismatch of a parameter, and the narrowest `where` that would
 * let it pass. Values come from a hostile box: they are shown inert and cut, and not at all if they could
 * be a credential. */
#include "policy/internal.h"

enum { SHOWN_MAX = 64, LISTED_MAX = 4 };

static void put_inert(const char *text, struct buf *out)
{
        char shown[SHOWN_MAX + 1];
        buf_puts(out, str_inert(span_str(text), shown, sizeof shown));
}

static void put_range(const struct net_bound *b, struct buf *out)
{
        const char *what = b->type == BOUND_INT ? "integers" : "numbers";
        bool low = b->least != INT64_MIN, high = b->most != INT64_MAX;
        if (!low && !high)
                buf_puts(out, b->type == BOUND_INT ? "any integer of 64 bits" : "any number");
        else if (!low)
                buf_printf(out, "%s up to ", what);
        else if (!high)
                buf_printf(out, "%s from ", what);

        if (low)
                bound_number(b, b->least, out);
        buf_puts(out, low && high ? " to " : "");
        if (high)
                bound_number(b, b->most, out);
        buf_puts(out, low && !high ? " on" : "");
}

static void put_values(const struct net_bound *b, struct buf *out)
{
        switch (b->type) {
        case BOUND_INT:
        case BOUND_NUM:
                put_range(b, out);
                break;
        case BOUND_ONE:
                for (size_t i = 0; b->one[i]; i++) {
                        if (i == LISTED_MAX) {
                                buf_puts(out, " or others of its list");
                                break;
                        }
                        buf_puts(out, i == 0 ? "" : b->one[i + 1] ? ", " : " or ");
                        put_inert(b->one[i], out);
                }
                break;
        case BOUND_TEXT:
                buf_printf(out, "text of %lld bytes at most", (long long) b->most);
                break;
        case BOUND_LINES:
                buf_printf(out, "lines of text, %lld bytes at most", (long long) b->most);
                break;
        case BOUND_BOOL:
                buf_puts(out, "true or false");
                break;
        case BOUND_ABSENT:
                buf_puts(out, "none");
                break;
        case BOUND_NONE:
        case BOUND_TYPE__COUNT:
                break;
        }
}

void bound_in_words(const struct net_bound *b, struct buf *out)
{
        static const char *const places[] = { "", " in the body", " in the query" };
        if (b->list)
                buf_printf(out, "a list of at most %u, each ", b->list);
        put_values(b, out);
        buf_puts(out, b->type == BOUND_ABSENT ? "" : places[b->place]);
}

static void put_value(const struct param *x, struct buf *out)
{
        static const char *const names[] = {
                [PARAM_NULL] = "null",      [PARAM_TEXT] = "",           [PARAM_STRING] = "the string ",
                [PARAM_INT] = "",           [PARAM_NUMBER] = "",         [PARAM_BOOL] = "",
                [PARAM_ARRAY] = "an array", [PARAM_OBJECT] = "an object"
        };

        _Static_assert(COUNT(names) == PARAM_KIND__COUNT, "words for each kind");
        bool number = x->kind == PARAM_INT || x->kind == PARAM_NUMBER || x->kind == PARAM_BOOL;
        int64_t ignored;
        if (x->hidden) {
                buf_puts(out, "something that is not shown");
                return;
        }

        buf_puts(out, names[x->kind]);
        if (number || (x->kind == PARAM_TEXT && param_int(x->value, &ignored) == 0)) {
                put_inert(x->value, out);
        } else if (x->kind == PARAM_TEXT || x->kind == PARAM_STRING) {
                buf_putc(out, '"');
                put_inert(x->value, out);
                buf_putc(out, '"');
        }
}

/* Another spelling of it, a member of it, or a value at the position of an object that holds it. */
static void put_neighbour(const struct fault *f, struct buf *out)
{
        bool inside = f->kind == FAULT_NEST && strlen(f->param->fold) > strlen(f->bound->fold);
        buf_printf(out, "parameter %s %s\"", f->bound->name,
                   f->kind == FAULT_SPELLED ? "is spelled "
                   : inside                 ? "has parts, "
                                            : "has no place: ");
        put_inert(f->param->name, out);
        if (f->kind == FAULT_SPELLED) {
                buf_puts(out, "\", which not every server takes for it");
        } else if (inside) {
                buf_puts(out, "\", and the door permits ");
                bound_in_words(f->bound, out);
        } else {
                buf_puts(out, "\" is ");
                put_value(f->param, out);
        }
}

static bool is_long(const struct net_bound *b) { return b->type == BOUND_TEXT || b->type == BOUND_LINES; }

static void put_fault(const struct fault *f, struct buf *out)
{
        const struct net_bound *b = f->bound;
        if (f->kind == FAULT_EXTRA) {
                buf_puts(out, "parameter ");
                put_inert(f->param->name, out);
                buf_puts(out, " is not among those that the door permits (`only`)");
                return;
        }

        if (f->param && f->param->shadow) {
                buf_printf(out, "parameter %s stands in %s", b->name,
                           f->param->in_body ? "the body again where that is read as a form"
                                             : "a cookie too, which some servers take for it");
                return;
        }

        if (f->kind == FAULT_SPELLED || f->kind == FAULT_NEST) {
                put_neighbour(f, out);
                return;
        }

        buf_printf(out, "parameter %s ", b->name);
        if (f->kind == FAULT_TWICE) {
                buf_puts(out, "stands in the request twice");
                return;
        }

        if (f->kind == FAULT_MISSING) {
                buf_puts(out, "is missing");
        } else if (f->kind == FAULT_PLACE) {
                buf_puts(out, f->param->in_body ? "stands in the body" : "stands in the query");
        } else if (f->kind == FAULT_COUNT) {
                buf_printf(out, "has more than %u items", b->list);
        } else if (f->kind == FAULT_VALUE && is_long(b)) {
                buf_printf(out, "has %zu bytes", strlen(f->param->value));
        } else {
                buf_puts(out, "is ");
                put_value(f->param, out);
        }

        buf_puts(out, ", and the door permits ");
        bound_in_words(b, out);
}

void policy_bound_fault(const struct door *d, const struct effect *f, struct buf *out)
{
        if (!d->net.bounds)
                return;

        struct fault x = bounds_judge(&d->net, f->params);
        if (x.kind == FAULT_UNREAD)
                buf_printf(out, "parameter %s cannot be read: %s", x.bound->name,
                           f->params ? f->params->unread : "the request's parameters are not known");
        else if (x.kind != FAULT_NONE)
                put_fault(&x, out);
}

/* ---- the line that would permit it ---- */

/* A policy's text rejects characters that a reader would not see: marks, bidi controls. */
static bool is_printable(const struct param *x)
{
        char shown[SHOWN_MAX + 1];
        struct span value = span_str(x->value);
        return !x->hidden && value.n && value.n <= SHOWN_MAX && param_is_text(x->value) &&
               span_is(value, str_inert(value, shown, sizeof shown));
}

static bool is_one_text(const struct param *x) { return x->kind == PARAM_TEXT || x->kind == PARAM_STRING; }

static bool widen_bound(struct net_bound *b, const struct fault *f, char **values)
{
        int64_t v = 0;
        size_t n = 0;
        if (f->kind == FAULT_MISSING)
                return b->optional = true;

        if (f->kind == FAULT_PLACE && b->type != BOUND_ABSENT) {
                b->place = BOUND_ANYWHERE;
                return true;
        }

        if (f->kind == FAULT_COUNT)
                return b->list < BOUND_LIST_MAX && b->list++;

        if ((f->kind != FAULT_VALUE && f->kind != FAULT_TYPE) || f->param->hidden)
                return false;

        if (f->kind == FAULT_TYPE && b->type == BOUND_TEXT && is_one_text(f->param)) {
                b->type = BOUND_LINES;
                return param_is_lines(f->param->value);
        }

        if (f->kind != FAULT_VALUE)
                return false;

        if (is_long(b)) {
                b->most = (int64_t) strlen(f->param->value);
                return b->most <= BOUND_TEXT_MAX;
        }

        int (*number)(const char *, int64_t *) = b->type == BOUND_INT ? param_int : param_num;
        if ((b->type == BOUND_INT || b->type == BOUND_NUM) && number(f->param->value, &v) == 0) {
                b->least = v < b->least ? v : b->least;
                b->most = v > b->most ? v : b->most;
                return true;
        }

        while (b->one && b->one[n])
                n++;

        if (b->type != BOUND_ONE || n + 2 > BOUNDS_MAX || !is_printable(f->param))
                return false;

        memmove(values, b->one, n * sizeof *values); /* the second time they are the same */
        values[n] = f->param->value;
        values[n + 1] = NULL;
        b->one = values;
        return true;
}

/* A bound that permits the present value and nothing else. */
static bool just_this(const struct param *x, struct net_bound *b)
{
        int64_t v;
        if (x->hidden || x->odd || !bound_name_ok(x->name))
                return false;

        *b = (struct net_bound){ .name = x->name, .fold = x->fold };
        if (x->kind == PARAM_INT && param_int(x->value, &v) == 0) {
                b->type = BOUND_INT;
                b->least = b->most = v;
        } else if (x->kind == PARAM_NUMBER && param_num(x->value, &v) == 0) {
                b->type = BOUND_NUM;
                b->least = b->most = v;
        } else if (x->kind == PARAM_BOOL) {
                b->type = BOUND_BOOL;
        } else if (is_one_text(x) && param_is_lines(x->value) && strlen(x->value) <= BOUND_TEXT_MAX) {
                b->type = param_is_text(x->value) ? BOUND_TEXT : BOUND_LINES;
                b->most = x->value[0] ? (int64_t) strlen(x->value) : 1;
        }

        return b->type != BOUND_NONE;
}

/* Each round removes one fault. A bound has two at most, a list as many as it has items. */
bool bounds_widened(const struct net_dest *d, const struct params *p, struct buf *out)
{
        struct net_bound own[BOUNDS_MAX];
        char *values[BOUNDS_MAX][BOUNDS_MAX];
        struct net_dest w = { .bounds = own, .bound_count = d->bound_count, .only = d->only };

        memcpy(own, d->bounds, d->bound_count * sizeof *own);
        for (unsigned round = 0; round < 2 * (BOUNDS_MAX + BOUND_LIST_MAX); round++) {
                struct fault f = bounds_judge(&w, p);
                size_t i = f.bound ? (size_t) (f.bound - own) : 0;
                if (f.kind == FAULT_NONE) {
                        bounds_sort(own, w.bound_count);
                        bounds_show(&w, out);
                        return true;
                }
                if (f.kind == FAULT_EXTRA
                            ? w.bound_count == BOUNDS_MAX || !just_this(f.param, &own[w.bound_count++])
                            : !widen_bound(&own[i], &f, values[i]))
                        return false;
        }

        return false;
}

/* SPDX-License-Identifier: MIT */
/* policy/show/json_out.c - the canonical JSON, and the same with line breaks. Keys are in byte order,
 * doors in canonical order; json_in.c accepts the output and gives the same policy. The digest is of this
 * text: a byte that changes here changes every digest ever recorded. */
#include "policy/internal.h"

#include <stdio.h>

struct json_out {
        struct buf *b;
        bool pretty;
        unsigned depth;
        bool first; /* of the object or list that is open */
};

static void put_newline(struct json_out *o)
{
        if (!o->pretty)
                return;
        buf_putc(o->b, '\n');
        for (unsigned i = 0; i < o->depth; i++)
                buf_puts(o->b, "  ");
}

static void open_with(struct json_out *o, char c)
{
        buf_putc(o->b, c);
        o->depth++;
        o->first = true;
}

static void close_with(struct json_out *o, char c)
{
        bool empty = o->first;
        o->depth--;
        if (!empty)
                put_newline(o);
        buf_putc(o->b, c);
        o->first = false;
}

static void next_item(struct json_out *o)
{
        if (!o->first)
                buf_putc(o->b, ',');
        put_newline(o);
        o->first = false;
}

static void put_key(struct json_out *o, const char *k)
{
        next_item(o);
        buf_json(o->b, span_str(k));
        buf_puts(o->b, o->pretty ? ": " : ":");
}

static void put_item(struct json_out *o, struct span s)
{
        next_item(o);
        buf_json(o->b, s);
}

static void list_begin(struct json_out *o, const char *k)
{
        put_key(o, k);
        open_with(o, '[');
}

static void put_text(struct json_out *o, const char *k, const char *v)
{
        if (!v)
                return;
        put_key(o, k);
        buf_json(o->b, span_str(v));
}

static void put_list(struct json_out *o, const char *k, char *const *v)
{
        if (!v)
                return;

        list_begin(o, k);
        for (; *v; v++)
                put_item(o, span_str(*v));

        close_with(o, ']');
}

static void put_cap(struct json_out *o, const struct net_dest *n)
{
        char texts[NET_CAP__COUNT][NET_CAP_TEXT];
        char *v[NET_CAP__COUNT + 1] = { 0 };
        size_t k = 0;

        for (unsigned c = 0; c < NET_CAP__COUNT; c++)
                if (n->cap[c])
                        v[k++] = net_cap_text(n, c, texts[c]);

        if (k == 1)
                put_text(o, "cap", v[0]);
        else if (k > 1)
                put_list(o, "cap", v);
}

static void put_ask(struct json_out *o, const struct door_ask *a)
{
        struct buf texts[ASK_CLAUSES] = { { 0 } };
        if (!a->on)
                return;

        size_t n = ask_clauses(a, texts);
        list_begin(o, "ask");
        for (size_t i = 0; i < n; i++) {
                o->b->failed = o->b->failed || texts[i].failed;
                put_item(o, buf_span(&texts[i]));
                buf_done(&texts[i]);
        }

        close_with(o, ']');
}

/* "label": ["private:a", "untrusted"] */
static void put_labels(struct json_out *o, const char *k, const char *words)
{
        if (!words)
                return;

        list_begin(o, k);
        for (size_t n; *words; words += n + (words[n] == ' ')) {
                n = strcspn(words, " ");
                put_item(o, span_of(words, n));
        }

        close_with(o, ']');
}

static void put_touches(struct json_out *o, const struct net_dest *n)
{
        if (!n->touches)
                return;

        list_begin(o, "touches");
        for (unsigned i = 0; i < NET_TOUCH__COUNT; i++)
                if (n->touches & 1u << i)
                        put_item(o, span_str(net_touch_word(i)));

        close_with(o, ']');
}

static void put_bounds(struct json_out *o, const struct net_dest *n)
{
        if (!n->bounds)
                return;

        list_begin(o, "where");
        for (size_t i = 0; i < n->bound_count; i++) {
                AUTO_BUF(word);
                const char *place = bounds_place_ends(n, i);
                bound_print(&n->bounds[i], &word);
                o->b->failed = o->b->failed || word.failed;
                put_item(o, buf_span(&word));
                if (place) {
                        put_item(o, span_str(place));
                }
        }

        if (n->only) {
                put_item(o, span_str("only"));
        }

        close_with(o, ']');
}

/* The door's own value: path, destination, NAME=VALUE or handle. */
static void main_value(const struct door *d, struct buf *out)
{
        if (d->kind == DOOR_NET)
                net_print(&d->net, out);
        else if (d->kind == DOOR_RUN && strcmp(d->path, "*") == 0)
                buf_puts(out, "any");
        else if (policy_gpu_line(d))
                buf_puts(out, policy_gpu_line(d)[0] ? policy_gpu_line(d) : "all");
        else
                buf_puts(out, door_key(d));

        if (d->directory)
                buf_putc(out, '/');

        if (d->value && d->kind != DOOR_IN && d->kind != DOOR_OUT &&
            d->kind != DOOR_NET) /* a schema is shown with its type */
                buf_printf(out, "%c%s", d->kind == DOOR_LISTEN ? ':' : '=', d->value);
}

/* Every key a door can have, in byte order; each writes itself or nothing. */
static const char *const door_keys[] = {
        "accepts", "as",   "ask",      "cap",   "declassify", "decrypt", "dev",    "edit",
        "endorse", "env",  "except",   "gpu",   "in",         "label",   "listen", "max",
        "methods", "net",  "optional", "out",   "reach",      "read",    "run",    "sign",
        "sock",    "tool", "touches",  "until", "where",      "with",    "write",
};

static void put_number(struct json_out *o, const char *k, unsigned v)
{
        put_key(o, k);
        buf_printf(o->b, "%u", v);
}

static void handle_type(struct json_out *o, const char *k, const struct door *d)
{
        AUTO_BUF(type);
        policy_put_type(d, &type);
        o->b->failed |= type.failed;
        put_text(o, k, buf_str(&type));
}

static bool is_key_door(const struct door *d) { return d->kind == DOOR_SIGN || d->kind == DOOR_DECRYPT; }

static void door_member(struct json_out *o, const struct door *d, const char *k, const char *value)
{
        char tmp[32];
        bool handle = d->kind == DOOR_IN || d->kind == DOOR_OUT ||
                      (d->kind == DOOR_NET && d->type != HANDLE_BINARY);
        if (strcmp(k, policy_gpu_line(d) ? "gpu" : policy_door_word(d->kind)) == 0)
                put_text(o, k, value);
        else if (strcmp(k, "ask") == 0)
                put_ask(o, &d->ask);
        else if (strcmp(k, "label") == 0)
                put_labels(o, k, d->flow.label);
        else if (strcmp(k, "accepts") == 0)
                put_labels(o, k, d->flow.accepts);
        else if (strcmp(k, "declassify") == 0)
                put_labels(o, k, d->flow.declassify);
        else if (strcmp(k, "endorse") == 0 && d->flow.endorse)
                put_number(o, k, d->flow.endorse);
        else if (strcmp(k, "as") == 0 && handle)
                handle_type(o, k, d);
        else if (strcmp(k, "max") == 0 && (handle || (is_key_door(d) && d->max)))
                put_text(o, k, str_from_size(d->max, tmp));
        else if (strcmp(k, "cap") == 0)
                put_cap(o, &d->net);
        else if (strcmp(k, "except") == 0)
                put_list(o, k, d->except);
        else if (strcmp(k, "methods") == 0)
                put_list(o, k, d->net.methods);
        else if (strcmp(k, "reach") == 0)
                put_text(o, k, net_reach_word(d->net.reach));
        else if (strcmp(k, "touches") == 0)
                put_touches(o, &d->net);
        else if (strcmp(k, "until") == 0 && d->until)
                put_text(o, k, date_print(d->until, tmp));
        else if (strcmp(k, "where") == 0)
                put_bounds(o, &d->net);
        else if (strcmp(k, "with") == 0)
                put_text(o, k, d->net.credential);

        if (strcmp(k, "optional") == 0 && d->optional && strcmp(door_key(d), "*") != 0) {
                put_key(o, k);
                buf_puts(o->b, "true");
        }
}

static void put_door(struct json_out *o, const struct door *d)
{
        AUTO_BUF(value);
        main_value(d, &value);
        o->b->failed = o->b->failed || value.failed;
        next_item(o);
        open_with(o, '{');
        for (size_t i = 0; i < COUNT(door_keys); i++)
                door_member(o, d, door_keys[i], buf_str(&value));

        close_with(o, '}');
}

/* In the byte order of their names, which is not the order of the enum. */
static const enum limit_key limits_by_name[] = {
        LIMIT_CPU,    LIMIT_DISK,   LIMIT_EFFECTS, LIMIT_EGRESS, LIMIT_FILES, LIMIT_INGRESS,
        LIMIT_MEMORY, LIMIT_OUTPUT, LIMIT_PROCS,   LIMIT_RATE,   LIMIT_RENEW, LIMIT_TIME,
};
_Static_assert(COUNT(limits_by_name) == LIMIT_KEY__COUNT, "each limit once");

static void put_limit(struct json_out *o, const struct policy_limits *l, enum limit_key k)
{
        char value[32], all[40];
        (void) snprintf(all, sizeof all, "%s%s", limit_print(k, l->value[k], value), policy_limit_ask(l, k));
        if (l->value[k] > 0)
                put_text(o, policy_limit_name(k), all);
}

static void put_warms(struct json_out *o, const struct checked_policy *c)
{
        if (!c->warm[WARM_PYTHON3].text && !c->warm[WARM_NODE].text)
                return;

        list_begin(o, "warm");
        for (int i = 0; i < WARM__COUNT; i++)
                if (c->warm[i].text)
                        put_item(o, span_str(c->warm[i].text));

        close_with(o, ']');
}

static void put_walls(struct json_out *o, const struct checked_policy *c)
{
        size_t count;
        const struct without_row *rows = without_rows(&count);
        put_text(o, "wall", wall_name(c->wall));
        put_warms(o, c);
        list_begin(o, "without");
        for (size_t i = 0; i < count; i++)
                if (c->without & rows[i].bit)
                        put_item(o, span_str(rows[i].name));

        close_with(o, ']');
}

static void put_locals(struct json_out *o, const struct checked_policy *c)
{
        size_t count;
        const struct policy_local_row *rows = policy_local_rows(&count);
        if (!c->local)
                return;

        list_begin(o, "local");
        for (size_t i = 0; i < count; i++)
                if (c->local & rows[i].bit)
                        put_item(o, span_str(rows[i].name));

        close_with(o, ']');
}

/* The policy's own tests: part of what a user reads and edits, not of the digest, which is of the tested
 * doors. */
static void put_expects(struct json_out *o, const struct checked_policy *c)
{
        static const char word[] = "expect ";
        if (c->n_expects == 0)
                return;

        list_begin(o, "expect");
        for (size_t i = 0; i < c->n_expects; i++) {
                const char *line = c->expects[i];
                put_item(o,
                         span_str(strncmp(line, word, sizeof word - 1) == 0 ? line + sizeof word - 1 : line));
        }

        close_with(o, ']');
}

static void write_policy(struct json_out *o, const struct checked_policy *c)
{
        static char *const nothing[] = { NULL };
        char rules[][8] = { "two", "touch" }, *stated[3] = { NULL };
        open_with(o, '{');
        put_text(o, "box", c->box.text);
        put_text(o, "doc", c->doc.text);
        list_begin(o, "doors");
        for (size_t i = 0; i < c->live.n; i++)
                put_door(o, &c->live.v[i]);

        close_with(o, ']');
        if (o->pretty)
                put_expects(o, c);

        put_key(o, "limit");
        open_with(o, '{');
        for (size_t i = 0; i < COUNT(limits_by_name); i++)
                put_limit(o, &c->limits, limits_by_name[i]);

        close_with(o, '}');
        put_locals(o, c);
        if (c->root.text)
                put_text(o, "root", c->root.text);

        for (unsigned i = 0, k = 0; i < COUNT(rules); i++)
                if (c->rules & 1u << i)
                        stated[k++] = rules[i];

        if (c->rules)
                put_list(o, "rule", stated);

        put_list(o, "use", nothing);
        put_walls(o, c);
        close_with(o, '}');
}

void policy_canonical_json(const struct checked_policy *c, struct buf *out)
{
        struct json_out o = { .b = out };
        write_policy(&o, c);
}

void policy_json(const struct checked_policy *c, struct buf *out)
{
        struct json_out o = { .b = out, .pretty = true };
        write_policy(&o, c);
        buf_putc(out, '\n');
}

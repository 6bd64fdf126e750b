/* SPDX-License-Identifier: MIT */
/* policy/read/tool_line.c - `tool`: which tools of an MCP server in the box a client may call. */
#include "policy/internal.h"

static bool is_tool_name(const char *name)
{
        enum { TOOL_NAME_MAX = 128 };
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/";
        size_t n = strspn(name, allowed);
        return n > 0 && n <= TOOL_NAME_MAX && name[n] == '\0';
}

static bool is_any(const struct token *t) { return token_is(t, "any") || strcmp(t->text, "*") == 0; }

static char *read_name(struct reader *r, const struct token *t)
{
        char *name = arena_str(&r->p->mem, is_any(t) ? "*" : t->text);
        if (!name)
                (void) fail_memory(r->e);
        else if (!is_any(t) && (!is_tool_name(t->text) || t->optional)) {
                (void) fail_at(r->e, &t->at, "\"%s\" cannot be the name of a tool", show_text(t->text).text);
                (void) err_hint(r->e, "letters, digits, `_`, `.`, `-` and `/`; `any` means all tools");
                return NULL;
        }
        return name;
}

static int read_except(struct reader *r, struct door *d)
{
        size_t n = 0;
        const struct token *t = reader_need(r, "the tools after `except`");
        d->except = arena_alloc(&r->p->mem, (r->n + 1) * sizeof *d->except);
        if (strcmp(d->name, "*") != 0)
                return fail_at(r->e, &d->at, "`except` stands behind `tool any`");

        if (!d->except)
                return fail_memory(r->e);

        for (; t; t = reader_next(r))
                if (!(d->except[n++] = read_name(r, t)))
                        return -1;
        return n > 0 ? 0 : -1;
}

/* A call has one object of arguments: they stand nowhere else. */
static int read_bounds(struct reader *r, struct door *d)
{
        d->net.form = NET_URL; /* its parameters can be seen */
        if (strcmp(d->name, "*") == 0)
                return fail_at(r->e, &d->at, "`where` bounds the arguments of tools that are named");

        if (bounds_read(r, &d->net) < 0)
                return -1;

        for (size_t i = 0; i < d->net.bound_count; i++)
                if (d->net.bounds[i].place)
                        return fail_at(r->e, &d->at, "arguments of a tool take no `in`");
        return 0;
}

static int read_rest(struct reader *r, struct door *d, const struct token *t)
{
        if (token_is(t, "except"))
                return read_except(r, d);
        if (token_is(t, "where"))
                return read_bounds(r, d);

        d->denies = token_is(t, "deny");
        if (!d->denies || (!r->ask.on && !r->until && strcmp(d->name, "*") != 0))
                return 0;
        (void) fail_at(r->e, &t->at, "`deny` names tools, and takes neither `ask` nor `until`");
        return err_hint(r->e,
                        "a line without `deny` lets tools be called; `tool any except NAME` all others");
}

static bool is_word(const struct token *t)
{
        return token_is(t, "except") || token_is(t, "where") || token_is(t, "deny") || token_is(t, "allow");
}

int line_tool(struct reader *r)
{
        size_t first = r->p->n_doors;
        const struct token *t;
        while ((t = reader_next(r)) && !is_word(t)) {
                struct door *d = reader_door(r, DOOR_TOOL, t);
                if (!d || !(d->name = read_name(r, t)))
                        return -1;
        }

        if (r->p->n_doors == first)
                return fail_missing(r, "the tool");

        if (!t)
                return 0;

        struct door *d = &r->p->doors[first];
        if (read_rest(r, d, t) < 0)
                return -1;

        for (size_t i = first + 1; i < r->p->n_doors; i++) {
                struct door *x = &r->p->doors[i];
                x->except = d->except;
                x->denies = d->denies;
                x->net = d->net;
                if (strcmp(x->name, "*") == 0 && (d->denies || d->net.bounds))
                        return fail_at(r->e, &x->at, "`any` stands alone in its line");
        }
        return 0;
}

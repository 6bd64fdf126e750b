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
        else if (token_is(t, "deny") || token_is(t, "except") || token_is(t, "allow")) {
                (void) fail_at(r->e, &t->at, "a line names tools that may be called; all others are denied");
                (void) err_hint(r->e, "use `tool NAME...`, without `%s`", t->text);
                return NULL;
        } else if (!is_any(t) && (!is_tool_name(t->text) || t->optional)) {
                (void) fail_at(r->e, &t->at, "\"%s\" cannot be the name of a tool", show_text(t->text).text);
                (void) err_hint(r->e, "letters, digits, `_`, `.`, `-` and `/`; `any` means all tools");
                return NULL;
        }
        return name;
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

bool policy_names_tool(const struct policy *p)
{
        for (size_t i = 0; i < p->n_doors; i++)
                if (p->doors[i].kind == DOOR_TOOL)
                        return true;
        return false;
}

int line_tool(struct reader *r)
{
        size_t first = r->p->n_doors;
        const struct token *t;
        while ((t = reader_next(r)) && !token_is(t, "where")) {
                struct door *d = reader_door(r, DOOR_TOOL, t);
                if (!d || !(d->name = read_name(r, t)))
                        return -1;
        }

        if (r->p->n_doors == first)
                return fail_missing(r, "the tool");

        struct door *d = &r->p->doors[first];
        if (t && read_bounds(r, d) < 0)
                return -1;

        for (size_t i = first + 1; i < r->p->n_doors; i++) {
                struct door *x = &r->p->doors[i];
                x->net = d->net;
                if (t && strcmp(x->name, "*") == 0)
                        return fail_at(r->e, &x->at, "`any` takes no `where`");
        }
        return 0;
}

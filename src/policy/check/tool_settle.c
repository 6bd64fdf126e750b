/* SPDX-License-Identifier: MIT */
/* policy/check/tool_settle.c - the `tool` lines of all sources together, so that the doors that are left are
 * a plain union: without a `tool` line every tool may be called, and no door says so; `deny` takes its tools
 * out of every other line; a line that lets a tool be called without a question narrows: tools without a line
 * are denied then. Lines with `ask` or `deny` alone speak of their own tools, and `tool any` is added for the
 * others; `tool any` does not cover a tool that has a line of its own. */
#include "policy/internal.h"

#include <stdlib.h>

struct names {
        const char **v;
        size_t n, cap;
        bool failed;
};

static bool has(const struct names *s, const char *name)
{
        for (size_t i = 0; i < s->n; i++)
                if (strcmp(s->v[i], name) == 0)
                        return true;
        return false;
}

static void add(struct names *s, const char *name)
{
        if (has(s, name))
                return;
        if (vec_room((void **) &s->v, s->n, &s->cap, sizeof *s->v) < 0)
                s->failed = true;
        else
                s->v[s->n++] = name;
}

static bool is_all(const struct door *d) { return d->kind == DOOR_TOOL && strcmp(d->name, "*") == 0; }

/* Which names have a line, which are denied; returns true if others are denied as well. */
static bool collect(const struct door_set *s, struct names *denied, struct names *all)
{
        bool narrows = false;
        for (size_t i = 0; i < s->n; i++) {
                const struct door *d = &s->v[i];
                if (d->kind != DOOR_TOOL)
                        continue;
                if (d->denies)
                        add(denied, d->name);
                if (!is_all(d))
                        add(all, d->name);
                for (char **x = d->except; x && *x; x++)
                        add(all, *x);
                narrows |= is_all(d) || (!d->denies && !d->ask.on);
        }
        return narrows;
}

/* They are kept apart, for explanations. */
static int drop_denied(struct door_set *s, const struct names *denied, struct gather *g)
{
        size_t kept = 0;
        for (size_t i = 0; i < s->n; i++)
                if (s->v[i].kind != DOOR_TOOL || !has(denied, s->v[i].name))
                        s->v[kept++] = s->v[i];
                else if (door_set_add(&g->c->denied, &s->v[i], g->scope.e) < 0)
                        return -1;
        s->n = kept;
        return 0;
}

static int by_text(const void *a, const void *b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* The list that every `tool any` has. */
static char **excepted(struct gather *g, struct names *all)
{
        char **v = arena_alloc(&g->c->mem, (all->n + 1) * sizeof *v);
        if (all->n)
                qsort(all->v, all->n, sizeof *all->v, by_text);
        for (size_t i = 0; v && i < all->n; i++)
                if (!(v[i] = arena_str(&g->c->mem, all->v[i])))
                        return NULL;
        if (v)
                v[all->n] = NULL;
        return v;
}

static size_t count(const struct door_set *s)
{
        size_t n = 0;
        for (size_t i = 0; i < s->n; i++)
                n += s->v[i].kind == DOOR_TOOL;
        return n;
}

static int settle(struct gather *g, const struct door *first, struct names *denied, struct names *all)
{
        struct checked_policy *c = g->c;
        struct door any = { .kind = DOOR_TOOL, .at = first->at, .from_stock = first->from_stock };
        bool narrows = collect(&c->live, denied, all);
        narrows |= collect(&c->closed, denied, all);
        char **except = denied->failed || all->failed ? NULL : excepted(g, all);
        any.name = arena_str(&c->mem, "*");
        if (!except || !any.name)
                return fail_memory(g->scope.e);

        if (drop_denied(&c->live, denied, g) < 0 || drop_denied(&c->closed, denied, g) < 0)
                return -1;
        if (!narrows && door_set_add(&c->live, &any, g->scope.e) < 0)
                return -1;

        if (count(&c->live) + count(&c->closed) == 0) {
                (void) fail_at(g->scope.e, &first->at, "every tool that a line allows is denied by another");
                return err_hint(g->scope.e,
                                "leave away one of them; without a `tool` line all may be called");
        }

        for (size_t i = 0; i < c->live.n; i++)
                if (is_all(&c->live.v[i]))
                        c->live.v[i].except = except[0] ? except : NULL;
        return 0;
}

static const struct door *first_tool(const struct door_set *s)
{
        for (size_t i = 0; i < s->n; i++)
                if (s->v[i].kind == DOOR_TOOL)
                        return &s->v[i];
        return NULL;
}

int tools_settle(struct gather *g)
{
        struct names denied = { 0 }, all = { 0 };
        const struct door *tool = first_tool(&g->c->live);
        if (!tool)
                tool = first_tool(&g->c->closed);
        if (!tool)
                return 0;

        const struct door first = *tool; /* the sets change */
        int r = settle(g, &first, &denied, &all);
        free(denied.v);
        free(all.v);
        return r;
}

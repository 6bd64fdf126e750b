/* SPDX-License-Identifier: MIT */
/* policy/decide/net_scope.c - net doors as the scope of a credential: DEST METHOD... [where ...], one per
 * line. cordon-vault holds the secrets, so it links this part of the language and no other. */
#include "policy/internal.h"

#include <stdlib.h>

struct scope_line {
        struct span text;
        struct net_dest dest;
};
struct scope_lines {
        struct policy p; /* its memory */
        struct scope_line *v;
        size_t n;
};

static int read_words(struct reader *r, struct net_dest *d)
{
        const struct token *to = reader_need(r, "the destination"), *t;
        if (!to || net_dest_parse(&r->p->mem, to, NET_AS_WEBSOCKET, d, r->e) < 0 ||
            net_begin_methods(r, d) < 0)
                return -1;

        while ((t = reader_next(r)))
                if ((token_is(t, "where") ? bounds_read(r, d) : net_read_method(r, d, t)) < 0)
                        return -1;

        return net_end_methods(r, d, net_is_websocket(to) ? to : NULL);
}

static int read_line(struct scope_lines *s, struct span line, struct err *e)
{
        static const struct policy_word_help word = { "net", "DEST METHOD... [where ...]", "" };
        struct source_place at = { .file = "scope", .line = (unsigned) s->n + 1, .column = 1 };
        struct tokens tok = { 0 };
        struct lexer x = { .mem = &s->p.mem, .file = at.file, .out = &tok, .e = e };
        int r = lex_line(&x, line, at);
        if (r == 0) {
                struct reader in = { .p = &s->p, .word = &word, .tok = tok.v, .n = tok.n, .at = at, .e = e };
                s->v[s->n].text = line;
                r = read_words(&in, &s->v[s->n++].dest);
        }

        free(tok.v);
        return r;
}

static int read_lines(struct scope_lines *s, const char *text, struct err *e)
{
        size_t most = 1;
        for (const char *p = text; (p = strchr(p, '\n')); p++)
                most++;

        s->v = arena_alloc(&s->p.mem, most * sizeof *s->v);
        if (!s->v)
                return fail_memory(e);

        for (const char *p = text; *p;) {
                size_t n = strcspn(p, "\n");
                if (read_line(s, span_of(p, n), e) < 0)
                        return -1;
                p += n + (p[n] == '\n');
        }
        return 0;
}

static bool covers_method(const struct scope_lines *s, const struct net_dest *d, const char *method)
{
        for (size_t i = 0; i < s->n; i++)
                if (net_covers(&s->v[i].dest, d, method))
                        return true;
        return false;
}

static bool covers_all(const struct scope_lines *s, const struct net_dest *d)
{
        for (char **m = d->methods; m && *m; m++)
                if (!covers_method(s, d, *m))
                        return false;
        return d->methods || covers_method(s, d, NULL);
}

int policy_net_scope_covers(const char *scope, const char *asked, struct buf *ret_line, struct err *e)
{
        struct scope_lines may = { 0 }, wants = { 0 };
        int r = read_lines(&may, scope, e) < 0 || read_lines(&wants, asked, e) < 0 ? -1 : 1;
        for (size_t i = 0; r > 0 && i < wants.n; i++) {
                if (covers_all(&may, &wants.v[i].dest))
                        continue;
                buf_printf(ret_line, "net %.*s", (int) wants.v[i].text.n, (const char *) wants.v[i].text.p);
                r = 0;
        }

        arena_done(&may.p.mem);
        arena_done(&wants.p.mem);
        return r;
}

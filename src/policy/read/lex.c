/* SPDX-License-Identifier: MIT */
/* policy/read/lex.c - splits one line into tokens. White space separates; # begins a comment at the start
 * of a token; "double quotes" hold spaces, with \" and \\ as the only escapes. Columns count characters.
 * Never guesses. An invisible byte is an error, also in a comment. */
#include "policy/internal.h"

#include <stdlib.h>
#include <string.h>

int tokens_add(struct tokens *t, const struct token *k)
{
        if (vec_room((void **) &t->v, t->n, &t->cap, sizeof *t->v) < 0)
                return -1;
        t->v[t->n++] = *k;
        return 0;
}

static int refuse_char(const struct lexer *x, const struct source_place *at, struct span c)
{
        char seen[32];
        if (c.n == 0)
                return fail_at(x->e, at, "not UTF-8");

        (void) fail_at(x->e, at, "control or invisible character (%s)", str_inert(c, seen, sizeof seen));
        if (at->line == 1 && at->column == 1 && c.n == 3 && memcmp(c.p, "\xef\xbb\xbf", 3) == 0)
                return err_hint(x->e, "save the file without a byte order mark");

        return c.p[0] == '\r' ? err_hint(x->e, "save the file with Unix line ends") : -1;
}

int lex_check(const struct lexer *x, struct span line, struct source_place from)
{
        uint32_t before, point = 0;
        for (size_t i = 0; i < line.n; from.column++) {
                before = point;
                point = line.p[i];
                if (point >= ' ' && point <= '~') { /* nearly all of every policy */
                        i++;
                        continue;
                }
                if (point == '\0')
                        return fail_at(x->e, &from, "a NUL cannot stand in a policy");
                struct span rest = span_of(line.p + i, line.n - i);
                size_t k = str_char(rest, &point);
                bool seen = k > 0 && (!str_is_tricky(point) || str_is_selector(before, rest));
                if (point != '\t' && !seen)
                        return refuse_char(x, &from, span_of(line.p + i, k));
                i += k;
        }

        return 0;
}

struct cursor {
        struct span line;
        size_t i;
        struct source_place at;
};

static bool more(const struct cursor *c) { return c->i < c->line.n; }
static bool blank(const struct cursor *c) { return c->line.p[c->i] == ' ' || c->line.p[c->i] == '\t'; }

static void advance_cursor(struct cursor *c)
{
        c->i++;
        if (!more(c) || (c->line.p[c->i] & 0xc0) != 0x80)
                c->at.column++;
}

static int lex_quoted(const struct lexer *x, struct cursor *c, struct token *t)
{
        size_t n = 0;
        t->quoted = true;
        t->text = arena_alloc(x->mem, c->line.n - c->i + 1);
        if (!t->text)
                return fail_memory(x->e);

        for (advance_cursor(c); more(c) && c->line.p[c->i] != '"'; advance_cursor(c)) {
                if (c->line.p[c->i] == '\\') {
                        advance_cursor(c);
                        if (!more(c) || (c->line.p[c->i] != '"' && c->line.p[c->i] != '\\')) {
                                (void) fail_at(x->e, &c->at,
                                               "a backslash in quotes stands only before \" or \\");
                                return err_hint(x->e, "use \\\\ for one backslash");
                        }
                }
                t->text[n++] = (char) c->line.p[c->i];
        }

        if (!more(c))
                return fail_at(x->e, &t->at, "unterminated quote");

        advance_cursor(c);
        if (more(c) && c->line.p[c->i] == '?') {
                t->optional = true;
                advance_cursor(c);
        }

        if (more(c) && !blank(c))
                return fail_at(x->e, &c->at, "a space must follow a closing quote");

        return 0;
}

static int lex_plain(const struct lexer *x, struct cursor *c, struct token *t)
{
        size_t start = c->i;
        for (; more(c) && !blank(c); advance_cursor(c)) {
                if (c->line.p[c->i] != '"')
                        continue;
                (void) fail_at(x->e, &c->at, "a quote can only begin a token");
                return err_hint(x->e, "put the whole token in quotes");
        }

        t->text = arena_copy(x->mem, span_of(c->line.p + start, c->i - start));
        return t->text ? 0 : fail_memory(x->e);
}

int lex_line(const struct lexer *x, struct span line, struct source_place from)
{
        struct cursor c = { .line = line, .at = from };
        if (line.n > POLICY_MAX_LINE)
                return fail_at(x->e, &from, "this line is longer than %d bytes", POLICY_MAX_LINE);

        if (lex_check(x, line, from) < 0)
                return -1;

        for (;;) {
                while (more(&c) && blank(&c))
                        advance_cursor(&c);
                if (!more(&c) || line.p[c.i] == '#')
                        return 0;
                struct token t = { .at = c.at };
                if ((line.p[c.i] == '"' ? lex_quoted : lex_plain)(x, &c, &t) < 0)
                        return -1;
                if (tokens_add(x->out, &t) < 0)
                        return fail_memory(x->e);
        }
}

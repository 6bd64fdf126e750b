/* SPDX-License-Identifier: MIT */
/* policy/learn/draft_lines.c - a draft as lines: adds them, splits a policy's text into them, prints them. */
#include "policy/learn/internal.h"
#include "policy/policy.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WEEK_S = 7 * 24 * 3600 };

struct learn_line *line_add(struct learn_draft *d, bool door, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        char *text = arena_vprintf(&d->mem, fmt, ap);
        va_end(ap);
        if (!text || vec_room((void **) &d->v, d->n, &d->cap, sizeof *d->v) < 0) {
                d->failed = true;
                return NULL;
        }

        d->v[d->n] = (struct learn_line){ .text = text, .comment = "", .door = door };
        return &d->v[d->n++];
}

void line_comment(struct learn_draft *d, struct learn_line *l, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        char *text = arena_vprintf(&d->mem, fmt, ap);
        va_end(ap);
        if (text)
                l->comment = text;

        d->failed |= !text;
}

void learn_draft_done(struct learn_draft *d)
{
        arena_done(&d->mem);
        free(d->v);
        *d = (struct learn_draft){ 0 };
}

void line_path(const struct learn_context *c, const char *path, struct buf *out)
{
        static const char *const names[] = { "{work}", "{home}" };
        const char *const roots[] = { c->work, c->home };
        AUTO_BUF(token);

        for (size_t i = 0; i < COUNT(roots) && token.n == 0; i++)
                if (strcmp(roots[i], "/") != 0 && fold_inside(roots[i], path))
                        buf_printf(&token, "%s%s", names[i], path + strlen(roots[i]));

        if (token.n == 0)
                buf_puts(&token, path);

        policy_put_token(out, buf_str(&token));
        out->failed = out->failed || token.failed;
}

/* ---- printing ---- */

static bool is_comment(const struct learn_line *l) { return l->text[0] == '#' || !l->text[0]; }

void learn_print(const struct learn_draft *d, bool bare, struct buf *out)
{
        for (size_t i = 0; i < d->n; i++) {
                const struct learn_line *l = &d->v[i];
                if (l->closed || (bare && is_comment(l)))
                        continue;
                buf_puts(out, l->text);
                if (!bare && l->comment[0])
                        buf_printf(out, "%*s# %s",
                                   l->text[0] && strlen(l->text) < 40 ? (int) (41 - strlen(l->text)) : 1, "",
                                   l->comment);
                buf_putc(out, '\n');
        }
}

size_t learn_doors(const struct learn_draft *d)
{
        size_t n = 0;
        for (size_t i = 0; i < d->n; i++)
                n += d->v[i].door && !d->v[i].closed;
        return n;
}

/* ---- cutting ---- */

/* Words whose line may hold several doors, each a token of its own; of `net`, `in` and `out` the line is one
 * door. */
static const char *const many[] = { "read", "edit", "write", "run", "env", "sock", "use" };
static const char *const one[] = { "net", "in", "out" };

static bool is_listed(const char *const *list, size_t n, struct span word)
{
        for (size_t i = 0; i < n; i++)
                if (span_is(word, list[i]))
                        return true;
        return false;
}

struct cut { /* the tokens of one line, as they are written */
        struct span tok[256];
        size_t n;
        struct span comment;
};

static bool blank(uint8_t c) { return c == ' ' || c == '\t'; }

static size_t token_end(struct span line, size_t i)
{
        bool quoted = line.p[i] == '"';
        for (i++; i < line.n && (quoted || !blank(line.p[i])); i++) {
                if (quoted && line.p[i] == '\\')
                        i++;
                else if (quoted && line.p[i] == '"')
                        quoted = false;
        }

        return i < line.n ? i : line.n;
}

static bool cut_line(struct span line, struct cut *c)
{
        c->n = 0;
        c->comment = span_of("", 0);
        for (size_t i = 0;;) {
                while (i < line.n && blank(line.p[i]))
                        i++;
                if (i == line.n)
                        return true;
                if (line.p[i] == '#') {
                        c->comment = span_of(line.p + i, line.n - i);
                        return true;
                }
                size_t end = token_end(line, i);
                if (c->n == COUNT(c->tok))
                        return false;
                c->tok[c->n++] = span_of(line.p + i, end - i);
                i = end;
        }
}

/* The start of the part that belongs to every door of the line: `except ...`, `until ...`. */
static size_t tail_of(const struct cut *c)
{
        size_t i = 1;
        while (i < c->n && !span_is(c->tok[i], "except") && !span_is(c->tok[i], "until"))
                i++;
        return i;
}

static void add_doors(struct learn_draft *d, const struct cut *c)
{
        size_t tail = tail_of(c);
        for (size_t i = 1; i < tail; i++) {
                AUTO_BUF(text);
                buf_add(&text, c->tok[0].p, c->tok[0].n);
                buf_putc(&text, ' ');
                buf_add(&text, c->tok[i].p, c->tok[i].n);
                for (size_t k = tail; k < c->n; k++) {
                        buf_putc(&text, ' ');
                        buf_add(&text, c->tok[k].p, c->tok[k].n);
                }
                d->failed |= text.failed;
                struct learn_line *l = line_add(d, true, "%s", buf_str(&text));
                if (l && i == 1 && c->comment.n > 2)
                        line_comment(d, l, "%.*s", (int) c->comment.n - 2, (const char *) c->comment.p + 2);
        }
}

static void split_line(struct learn_draft *d, struct span line)
{
        struct cut c;
        bool cut = cut_line(line, &c);
        bool nothing = c.n >= 2 && span_is(c.tok[0], "use") && span_is(c.tok[1], "none");
        if (cut && c.n >= 2 && is_listed(many, COUNT(many), c.tok[0]) && !nothing)
                add_doors(d, &c);
        else
                (void) line_add(d, cut && c.n >= 2 && is_listed(one, COUNT(one), c.tok[0]), "%.*s",
                                (int) line.n, (const char *) line.p);
}

int learn_split(struct span text, struct learn_draft *ret_draft, struct err *e)
{
        size_t i = 0;
        while (i < text.n && (blank(text.p[i]) || text.p[i] == '\n'))
                i++;

        if (i < text.n && text.p[i] == '{') {
                (void) err_set(e, ERR_POLICY, 0, "this policy is JSON, which has no lines to close");
                return err_hint(e, "`cordon policy show FILE` makes door lines of it");
        }

        for (i = 0; i < text.n;) {
                const uint8_t *end = memchr(text.p + i, '\n', text.n - i);
                size_t n = end ? (size_t) (end - text.p) - i : text.n - i;
                split_line(ret_draft, span_of(text.p + i, n));
                i += n + 1;
        }

        return ret_draft->failed ? err_set(e, ERR_MEMORY, 0, "no memory") : 0;
}

void line_seen(const struct learn *l, uint64_t mask, struct learn_draft *d, struct learn_line *line,
               uint64_t runs)
{
        unsigned total = bits(mask);
        char *text = NULL, date[16];
        if (!line)
                return;

        line->seen = bits(runs);
        if (total > 1 && line->seen == 1 && strncmp(line->text, "use ", 4) != 0) {
                time_t t = (time_t) (l->c.now + WEEK_S);
                struct tm tm;
                (void) strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&t, &tm));
                text = arena_printf(&d->mem, "%s until %s", line->text, date);
                if (!text) {
                        d->failed = true;
                        return;
                }
                line->text = text;
        }

        line->keep = total > 1 && line->seen < total;
        line_comment(d, line, "seen %u/%u", line->seen, total);
}

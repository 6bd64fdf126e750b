/* SPDX-License-Identifier: MIT */
/* policy/lint/lint_note.c - shared by the lints: iteration over doors, and notes. */
#include "policy/lint/lint.h"

#include <stdarg.h>
#include <stdio.h>

enum { NOTES_MAX = 200 }; /* more would not be read, and pairs of doors could make millions */

const struct door *lint_next(const struct lint_view *v, enum door_kind kind, const struct door *after)
{
        const struct door_set *s = &v->c->live;
        size_t i = after ? (size_t) (after - s->v) + 1 : s->start[kind];
        while (i < s->start[kind + 1] && s->v[i].from_stock)
                i++;
        return i < s->start[kind + 1] ? &s->v[i] : NULL;
}

bool lint_full(const struct lint_view *v) { return v->result < 0 || v->c->n_notes >= NOTES_MAX; }

bool lint_ends_with(const char *s, const char *tail)
{
        size_t n = strlen(tail), k = strlen(s);
        return k >= n && strcmp(s + k - n, tail) == 0;
}

void lint_whole(struct lint_view *v, const struct buf *b)
{
        if (b->failed && v->result == 0)
                v->result = fail_memory(v->e);
}

void lint_note(struct lint_view *v, const struct lint_row *row, const struct source_place *at,
               const char *fmt, ...)
{
        struct checked_policy *c = v->c;
        char text[sizeof c->notes->text];
        if (v->result < 0 || (row->level == 'W' && c->n_notes >= NOTES_MAX))
                return;

        if (vec_room((void **) &c->notes, c->n_notes, &c->cap_notes, sizeof *c->notes) < 0) {
                v->result = fail_memory(v->e);
                return;
        }

        va_list ap;
        va_start(ap, fmt);
        (void) vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        struct policy_note *n = &c->notes[c->n_notes++];
        *n = (struct policy_note){ .level = row->level, .at = *at };
        n->at.file = arena_str(&c->mem, at->file); /* a note outlives the policy as written */
        if (!n->at.file) {
                c->n_notes--;
                v->result = fail_memory(v->e);
                return;
        }

        (void) snprintf(n->code, sizeof n->code, "%s", row->code);
        (void) str_inert(span_str(text), n->text, sizeof n->text);
        if (row->level == 'E')
                v->result = fail_at(v->e, at, "%s: %s", row->code, n->text);
}

static const char *word_of(const struct lint_view *v, const struct door *d, struct span word)
{
        return span_is(word, "name")         ? d->name
               : span_is(word, "host")       ? d->net.host
               : span_is(word, "credential") ? d->net.credential
                                             : v->what;
}

static void put_word(struct lint_view *v, const struct door *d, struct span word, struct buf *out)
{
        if (span_is(word, "dest"))
                net_print(&d->net, out);
        else if (span_is(word, "path") || (word.n == 0 && v->what == v->detail))
                buf_puts(out, show_text(word.n ? d->path : v->detail).text);
        else
                buf_puts(out, word_of(v, d, word));
}

void lint_doors(struct lint_view *v, const struct lint_row *row)
{
        for (enum door_kind k = DOOR_READ; k < DOOR_KIND__COUNT; k++)
                for (const struct door *d = NULL; row->kinds & 1u << k && (d = lint_next(v, k, d));) {
                        AUTO_BUF(text);
                        if (!row->fits(v, d))
                                continue;
                        for (const char *p = row->text; *p;) {
                                size_t n = strcspn(p, "{"), word = p[n] ? strcspn(p + n + 1, "}") : 0;
                                buf_add(&text, p, n);
                                if (p[n])
                                        put_word(v, d, span_of(p + n + 1, word), &text);
                                p += n + (p[n] ? word + 2 : 0);
                        }
                        lint_whole(v, &text);
                        lint_note(v, row, &d->at, "%s", buf_str(&text));
                }
}

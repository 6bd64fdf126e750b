/* SPDX-License-Identifier: MIT */
/* policy/read/warm_line.c - `warm python3 import json re`: which interpreter a parked box holds started, and
 * with which modules. It opens nothing: a run in such a box may do what the same run in a new one may. */
#include "base/buf.h"
#include "policy/internal.h"

enum { WARM_MODULES_MAX = 64 };

static const struct policy_warm_row rows[] = {
        [WARM_PYTHON3] = { "python3", "import" },
        [WARM_NODE] = { "node", "require" },
};
_Static_assert(COUNT(rows) == WARM__COUNT, "each interpreter has its row");

const struct policy_warm_row *policy_warm_row(enum policy_warm kind) { return &rows[kind]; }

static int find_interpreter(struct reader *r, const struct token *t)
{
        for (int i = 0; i < WARM__COUNT; i++)
                if (strcmp(rows[i].name, t->text) == 0)
                        return i;

        (void) fail_at(r->e, &t->at, "\"%s\" cannot be pre-started (python3 and node can)",
                       show_text(t->text).text);
        return err_hint(r->e, "there are drivers for python3 and node");
}

/* A module's name goes to the driver as one argument: it must not look like an option or a path upwards. */
static bool is_module(const char *s)
{
        static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/@:";
        return s[0] && s[0] != '-' && strlen(s) < NAME_MAX_BYTES && s[strspn(s, chars)] == '\0';
}

static int add_modules(struct reader *r, const struct policy_warm_row *row, struct buf *line)
{
        const struct token *t = reader_next(r);
        unsigned n = 0;
        if (!t)
                return 0;

        if (!token_is(t, row->loads)) {
                (void) fail_at(r->e, &t->at, "stray \"%s\"", show_text(t->text).text);
                return err_hint(r->e, "use `warm %s %s MODULE...`", row->name, row->loads);
        }

        buf_printf(line, " %s", row->loads);
        for (t = reader_need(r, "a module"); t; t = reader_next(r)) {
                if (!is_module(t->text) || ++n > WARM_MODULES_MAX)
                        return fail_at(r->e, &t->at, "invalid module name \"%s\", or too many modules",
                                       show_text(t->text).text);
                buf_printf(line, " %s", t->text);
        }

        return n > 0 ? 0 : -1;
}

int line_warm(struct reader *r)
{
        const struct token *t = reader_need(r, "python3 or node");
        int kind = t ? find_interpreter(r, t) : -1;
        AUTO_BUF(line);
        if (kind < 0)
                return -1;

        struct text_line *to = &r->p->warm[kind];
        if (to->text)
                return fail_at(r->e, &r->at, "duplicate `warm %s`; first on line %u", rows[kind].name,
                               to->at.line);

        buf_puts(&line, rows[kind].name);
        if (add_modules(r, &rows[kind], &line) < 0)
                return -1;

        *to = (struct text_line){ .text = arena_str(&r->p->mem, buf_str(&line)), .at = t->at };
        return line.failed || !to->text ? fail_memory(r->e) : 0;
}

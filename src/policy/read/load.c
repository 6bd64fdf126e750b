/* SPDX-License-Identifier: MIT */
/* policy/read/load.c - loads the text of a policy, door lines or JSON, completely or not at all. */
#include "policy/internal.h"

#include <stdlib.h>

static int read_lines(struct policy *p, const char *file, struct span text, struct tokens *t, struct err *e)
{
        struct lexer x = { .mem = &p->mem, .file = file, .out = t, .e = e };
        struct source_place at = { .file = file, .line = 1, .column = 1 };
        for (size_t i = 0; i < text.n; at.line++) {
                const uint8_t *end = memchr(text.p + i, '\n', text.n - i);
                size_t n = end ? (size_t) (end - text.p) - i : text.n - i;
                if (at.line > POLICY_MAX_LINES)
                        return fail_at(e, &at, "more than %d lines", POLICY_MAX_LINES);
                t->n = 0;
                if (lex_line(&x, span_of(text.p + i, n), at) < 0 ||
                    (t->n > 0 && words_read(p, t->v, t->n, e) < 0))
                        return -1;
                i += n + 1;
        }

        return 0;
}

static bool is_json(struct span text)
{
        size_t i = 0;
        while (i < text.n &&
               (text.p[i] == ' ' || text.p[i] == '\t' || text.p[i] == '\n' || text.p[i] == '\r'))
                i++;
        return i < text.n && text.p[i] == '{';
}

static int read_text(struct policy *p, const char *file, struct span text, struct err *e)
{
        struct tokens t = { 0 };
        char *name = policy_file_name(p, file);
        struct source_place at = { .file = name, .line = 1, .column = 1 };

        if (!name)
                return fail_memory(e);

        p->file = name;
        if (text.n > POLICY_MAX_BYTES)
                return fail_at(e, &at, "more than %d bytes", POLICY_MAX_BYTES);

        int r = is_json(text) ? json_read_policy(p, name, text, e) : read_lines(p, name, text, &t, e);
        free(t.v);
        return r;
}

int policy_add_text(struct policy *p, const char *file, struct span text, struct err *e)
{
        struct policy *own = policy_new();
        if (!own)
                return fail_memory(e);

        int r = read_text(own, file, text, e);
        if (r == 0)
                r = policy_absorb(p, own, e);

        policy_free(own);
        return r;
}

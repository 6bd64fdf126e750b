/* SPDX-License-Identifier: MIT */
/* face/cli/json_splice.c - positions in the text of a JSON document. Pure. */
#include "face/cli/json_splice.h"

#include <string.h>

size_t json_splice_start(struct span text, const struct json *v)
{
        size_t at = 0;
        for (unsigned line = 1; line < v->line && at < text.n; at++)
                line += text.p[at] == '\n';

        /* Columns are characters. */
        for (unsigned column = 1; column < v->column && at < text.n; column++)
                for (at++; at < text.n && (text.p[at] & 0xc0) == 0x80;)
                        at++;

        return at;
}

static size_t string_end(struct span text, size_t at)
{
        for (at++; at < text.n && text.p[at] != '"'; at++)
                at += text.p[at] == '\\';
        return at < text.n ? at + 1 : text.n;
}

size_t json_splice_end(struct span text, size_t at)
{
        size_t depth = 0;
        do {
                char c = at < text.n ? (char) text.p[at] : '\0';
                if (c == '"') {
                        at = string_end(text, at);
                        continue;
                }
                depth += c == '{' || c == '[';
                depth -= c == '}' || c == ']';
                at++;
        } while (depth > 0 && at < text.n);

        return at < text.n ? at : text.n;
}

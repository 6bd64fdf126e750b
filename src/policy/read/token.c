/* SPDX-License-Identifier: MIT */
/* policy/read/token.c - one word of a line: the characters of a name, and a word as a line spells it. */
#include "policy/internal.h"

static bool needs_quotes(const char *s)
{
        static const char *const keywords[] = { "accepts", "any",    "as",    "ask",  "cap",    "declassify",
                                                "endorse", "except", "label", "max",  "only",   "reach",
                                                "touches", "until",  "where", "with", "without" };
        static const char plain[] =
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@:+=,%~-{}";
        if (!*s || s[strspn(s, plain)])
                return true;

        return str_row(keywords, COUNT(keywords), s) >= 0;
}

void show_token(struct buf *out, const char *text)
{
        if (!needs_quotes(text)) {
                buf_puts(out, text);
                return;
        }

        buf_putc(out, '"');
        for (; *text; text++) {
                if (*text == '"' || *text == '\\')
                        buf_putc(out, '\\');
                buf_putc(out, *text);
        }

        buf_putc(out, '"');
}

bool name_ok(const char *s, const char *extra)
{
        size_t n = strlen(s);
        if (n == 0 || n >= NAME_MAX_BYTES)
                return false;

        for (; *s; s++) {
                bool word = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');
                if (!word && !strchr(extra, *s))
                        return false;
        }

        return true;
}

/* SPDX-License-Identifier: MIT */
/* base/shell.c - see base/shell.h. */
#include "base/shell.h"

#include <string.h>

/* Inside single quotes only the closing quote is special. */
void buf_shell_quoted(struct buf *o, const char *word)
{
        buf_putc(o, '\'');
        for (; *word; word++)
                if (*word == '\'')
                        buf_puts(o, "'\\''");
                else
                        buf_putc(o, *word);

        buf_putc(o, '\'');
}

/* The characters left unquoted are literal in every shell, at any position in a word. */
void buf_shell(struct buf *o, const char *word)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@:+,%-";
        if (*word && !word[strspn(word, plain)])
                buf_puts(o, word);
        else
                buf_shell_quoted(o, word);
}

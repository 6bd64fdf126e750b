/* SPDX-License-Identifier: MIT */
/* effect/gate/gate_show.c - the text of an effect as a person is shown it: nothing in it moves a cursor,
 * looks like nothing, or pushes the rest out of sight. Pure. */
#include "base/str.h"
#include "effect/gate/gate.h"

enum { BLANKS = 64, COLUMNS = 80, ROW_MAX = 16 * 1024 + 64 };

/* Characters that take room and show nothing: str_inert() lets them stand. */
static bool shows_nothing(uint32_t c)
{
        return c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f ||
               c == 0x2800 || c == 0x3000 || c == 0x3164 || c == 0xffa0;
}

static void put_blanks(size_t n, struct buf *out)
{
        if (n >= BLANKS)
                buf_printf(out, "\\{%zu blanks}", n);
        for (; n < BLANKS && n > 0; n--)
                buf_putc(out, ' ');
}

/* Without the blanks at its end. */
static void put_row(struct span row, struct buf *out)
{
        size_t blanks = 0;
        for (size_t i = 0, n; i < row.n; i += n) {
                uint32_t c = row.p[i];
                n = c < 0x80 ? 1 : str_char(span_of(row.p + i, row.n - i), &c);
                n = n ? n : 1;
                if (c == ' ') {
                        blanks++;
                        continue;
                }

                put_blanks(blanks, out);
                blanks = 0;
                if (shows_nothing(c))
                        buf_printf(out, "\\u{%x}", c);
                else
                        buf_add(out, row.p + i, n);
        }

        buf_putc(out, '\n');
}

static void put_blank_rows(size_t n, struct buf *out)
{
        if (n > 1)
                buf_printf(out, "  \\{%zu blank lines}", n);
        if (n > 0)
                buf_putc(out, '\n');
}

int gate_show(struct span text, struct buf *out)
{
        char row[4 * ROW_MAX + 16];
        size_t rows = 0, blank = 0;
        for (size_t at = 0; at < text.n && rows <= GATE_ROWS_MAX;) {
                const uint8_t *end = memchr(text.p + at, '\n', text.n - at);
                size_t n = end ? (size_t) (end - text.p) - at : text.n - at, before = out->n;
                bool cut = n > ROW_MAX;
                n = cut ? ROW_MAX : n;
                struct span inert = span_str(str_inert(span_of(text.p + at, n), row, sizeof row));
                at += n + !cut;
                while (inert.n && inert.p[inert.n - 1] == ' ')
                        inert.n--;
                if (inert.n == 0) {
                        blank++;
                        continue;
                }

                put_blank_rows(blank, out);
                rows += blank > 0;
                blank = 0;
                put_row(inert, out);
                rows += 1 + (out->n - before) / COLUMNS;
        }

        put_blank_rows(blank, out);
        return rows <= GATE_ROWS_MAX && !out->failed ? 0 : -1;
}

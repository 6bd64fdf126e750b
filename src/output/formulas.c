/* SPDX-License-Identifier: MIT */
/* output/formulas.c - CSV by RFC 4180: one number of cells in each record, quotes that are closed, and no
 * cell that a spreadsheet would execute. Pure. */
#include "output/lines.h"

size_t formulas_length(struct span text, bool end)
{
        bool quoted = false;
        for (size_t i = 0; i < text.n; i++) {
                if (text.p[i] == '"')
                        quoted = !quoted;
                else if (text.p[i] == '\n' && !quoted)
                        return i + 1;
        }
        return end ? text.n : 0;
}

static bool is_number(struct span s)
{
        size_t digits = 0;
        for (size_t i = 0; i < s.n; i++) {
                bool digit = s.p[i] >= '0' && s.p[i] <= '9';
                digits += digit;
                if (!digit && !(i == 0 && (s.p[i] == '-' || s.p[i] == '+')) && !strchr(".,eE-+%", s.p[i]))
                        return false;
        }
        return digits > 0;
}

static bool is_formula(struct span cell)
{
        return cell.n > 0 && cell.p[0] && strchr("=+-@\t\r", cell.p[0]) && !is_number(cell);
}

/* One cell from `at` on: its end, *ret_text what is in it (between quotes). -1: quotes are wrong. */
static int cell_end(struct span r, size_t at, size_t *ret_end, struct span *ret_text)
{
        size_t i = at;
        if (i < r.n && r.p[i] == '"') {
                for (i++; i < r.n; i++) {
                        if (r.p[i] != '"')
                                continue;
                        if (i + 1 < r.n && r.p[i + 1] == '"')
                                i++;
                        else
                                break;
                }
                if (i == r.n)
                        return -1;
                *ret_text = span_of(r.p + at + 1, i - at - 1);
                *ret_end = i + 1;
                return *ret_end == r.n || r.p[*ret_end] == ',' ? 0 : -1;
        }

        while (i < r.n && r.p[i] != ',')
                if (r.p[i++] == '"')
                        return -1;
        *ret_text = span_of(r.p + at, i - at);
        *ret_end = i;
        return 0;
}

int formulas_record(struct span record, unsigned *columns, uint64_t number, struct buf *out,
                    struct findings *f)
{
        struct span body = record;
        while (body.n > 0 && (body.p[body.n - 1] == '\n' || body.p[body.n - 1] == '\r'))
                body.n--;

        unsigned cells = 0;
        for (size_t at = 0;;) {
                size_t end = at;
                struct span text;
                if (cell_end(body, at, &end, &text) < 0)
                        return -1;
                bool quoted = text.p != body.p + at;
                buf_puts(out, quoted ? "\"" : "");
                if (is_formula(text)) {
                        buf_putc(out, '\'');
                        findings_add(f, FINDING_FORMULA, span_of(text.p, text.n < 12 ? text.n : 12), number);
                }
                buf_add(out, text.p, text.n);
                buf_puts(out, quoted ? "\"" : "");
                cells++;
                if (end == body.n)
                        break;
                buf_putc(out, ',');
                at = end + 1;
        }

        buf_add(out, record.p + body.n, record.n - body.n);
        if (*columns == 0)
                *columns = cells;
        return cells == *columns || body.n == 0 ? 0 : -1;
}

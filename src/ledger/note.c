/* SPDX-License-Identifier: MIT */
/* ledger/note.c - checkpoints as text: C2SP signed notes (origin, size, root, empty line, signature lines),
 * one after the other with an empty line between. Pure; signatures are checked where the key is (sign.c). */
#include "base/str.h"
#include "ledger/internal.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void ledger_base64(struct span bytes, struct buf *out)
{
        for (size_t i = 0; i < bytes.n; i += 3) {
                size_t k = bytes.n - i < 3 ? bytes.n - i : 3;
                uint32_t v = (uint32_t) bytes.p[i] << 16 | (k > 1 ? (uint32_t) bytes.p[i + 1] << 8 : 0) |
                             (k > 2 ? bytes.p[i + 2] : 0u);
                buf_putc(out, digits[v >> 18]);
                buf_putc(out, digits[v >> 12 & 63]);
                buf_putc(out, k > 1 ? digits[v >> 6 & 63] : '=');
                buf_putc(out, k > 2 ? digits[v & 63] : '=');
        }
}

static int value_of(uint8_t c)
{
        const char *at = c ? strchr(digits, c) : NULL;
        return at ? (int) (at - digits) : -1;
}

ssize_t ledger_unbase64(struct span text, uint8_t *ret, size_t cap)
{
        size_t n = 0;
        if (text.n == 0 || text.n % 4 != 0)
                return -1;
        for (size_t i = 0; i < text.n; i += 4) {
                bool last = i + 4 == text.n;
                size_t pad = last ? (size_t) (text.p[i + 3] == '=') +
                                             (text.p[i + 2] == '=' && text.p[i + 3] == '=')
                                  : 0;
                uint32_t v = 0;
                for (size_t j = 0; j < 4; j++) {
                        int d = j >= 4 - pad ? 0 : value_of(text.p[i + j]);
                        if (d < 0)
                                return -1;
                        v = v << 6 | (uint32_t) d;
                }
                if (v & ((1u << (8 * pad)) - 1)) /* bits that nothing stands for */
                        return -1;
                const uint8_t three[3] = { (uint8_t) (v >> 16), (uint8_t) (v >> 8), (uint8_t) v };
                if (cap - n < 3 - pad)
                        return -1;
                memcpy(ret + n, three, 3 - pad);
                n += 3 - pad;
        }
        return (ssize_t) n;
}

bool ledger_note_line(struct span *rest, struct span *ret)
{
        const uint8_t *nl = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
        if (!nl)
                return false;
        *ret = span_of(rest->p, (size_t) (nl - rest->p));
        *rest = span_of(nl + 1, rest->n - ret->n - 1);
        return true;
}

static int head_lines(struct span *rest, struct ledger_note *n)
{
        struct span size, root;
        if (!ledger_note_line(rest, &n->origin) || n->origin.n == 0 || !ledger_note_line(rest, &size) ||
            !ledger_note_line(rest, &root))
                return -1;
        return str_to_u64(size, &n->size) < 0 || ledger_unbase64(root, n->root, LEDGER_HASH) != LEDGER_HASH
                       ? -1
                       : 0;
}

int ledger_note_next(struct span text, struct ledger_note *ret, struct span *ret_rest)
{
        struct span rest = text, l;
        while (rest.n > 0 && rest.p[0] == '\n')
                rest = span_of(rest.p + 1, rest.n - 1);
        if (rest.n == 0)
                return 0;
        struct ledger_note n = { .text = rest };
        const uint8_t *begin = rest.p;
        if (head_lines(&rest, &n) < 0)
                return -1;
        do /* extension lines, up to the empty one */
                if (!ledger_note_line(&rest, &l))
                        return -1;
        while (l.n > 0);
        n.text = span_of(begin, (size_t) (rest.p - begin) - 1);
        n.signatures.p = rest.p;
        struct span more = rest;
        while (ledger_note_line(&more, &l) && span_starts(l, "\xe2\x80\x94 "))
                rest = more;
        n.signatures.n = (size_t) (rest.p - n.signatures.p);
        if (n.signatures.n == 0)
                return -1;
        n.whole = span_of(begin, (size_t) (rest.p - begin));
        *ret = n;
        *ret_rest = rest;
        return 1;
}

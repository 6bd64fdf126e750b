/* SPDX-License-Identifier: MIT */
/* ledger/write/signed_note.c - checkpoints as text: C2SP signed notes (origin, size, root, of a rotation
 * the next key, empty line, signature lines), separated by empty lines. Pure; sign.c, which has the key,
 * checks signatures. */
#include "base/str.h"
#include "ledger/internal.h"

#include <string.h>

static const char next_key[] = LEDGER_NEXT_KEY;

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
        return str_to_u64(size, &n->size) < 0 || base64_read(root, n->root, LEDGER_HASH) != LEDGER_HASH ? -1
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

        do { /* extension lines, up to the empty one */
                if (!ledger_note_line(&rest, &l))
                        return -1;
                if (span_starts(l, next_key))
                        n.next = span_of(l.p + strlen(next_key), l.n - strlen(next_key));
        } while (l.n > 0);

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

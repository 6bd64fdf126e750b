/* SPDX-License-Identifier: MIT */
/* fuzz_ledger.c - frames, records and checkpoints as an enemy would write them: a ledger may lie on a disk
 * that others wrote, and a proof comes from a stranger. */
#include "ledger/internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct span s, struct span all)
{
        if (s.p && (s.p < all.p || s.p + s.n > all.p + all.n))
                abort();
}

static void records(struct span all)
{
        struct ledger_view v;
        char text[64];
        if (ledger_view_parse(all, &v) < 0)
                return;
        inside(v.id, all);
        inside(v.target, all);
        inside(v.parents, all);
        for (unsigned i = 0; i < 9; i++)
                inside(ledger_element(v.parents, i), all);
        inside(ledger_member(v.more, "key"), all);
        inside(ledger_member(v.trace, "in"), all);
        if (strlen(ledger_plain(v.target, text, sizeof text)) >= sizeof text)
                abort();
}

static void frames(struct span rest)
{
        struct frame f;
        struct span all = rest;
        while (frame_next(rest, &f) == FRAME_WHOLE) {
                inside(f.payload, all);
                if (!f.pruned)
                        records(f.payload);
                rest = span_of(rest.p + f.size, rest.n - f.size);
        }
        if (rest.n < 4096)
                (void) frame_anywhere(rest);
}

static void notes(struct span rest)
{
        struct ledger_note n;
        struct span all = rest;
        uint8_t bytes[256];
        while (ledger_note_next(rest, &n, &rest) == 1) {
                inside(n.whole, all);
                inside(n.text, all);
                inside(n.signatures, all);
        }
        (void) base64_read(all, bytes, sizeof bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct segment_head h;
        struct span all = span_of(data, size);
        records(all);
        frames(all);
        notes(all);
        (void) segment_head_get(all, &h);
        return 0;
}

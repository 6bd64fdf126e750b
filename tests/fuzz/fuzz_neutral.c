/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_neutral.c - any bytes made inert: the same in one write as in many, nothing live in it, and
 * nothing more to cut in what is left. */
#include "output/output.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void neutralise(enum neutral_mode mode, struct span in, size_t piece, struct neutral *n,
                       struct buf *out)
{
        neutral_init(n, mode);
        for (size_t at = 0; at < in.n; at += piece)
                neutral_feed(n, span_of(in.p + at, in.n - at < piece ? in.n - at : piece), out);
        neutral_end(n, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;

        struct neutral n;
        enum neutral_mode mode = (enum neutral_mode)(data[0] % 3);
        struct span in = span_of(data + 1, size - 1);
        AUTO_BUF(whole);
        AUTO_BUF(pieces);
        AUTO_BUF(again);
        neutralise(mode, in, in.n + 1, &n, &whole);
        neutralise(mode, in, 1 + data[0] / 3 % 5, &n, &pieces);
        if (whole.n != pieces.n || (whole.n && memcmp(whole.p, pieces.p, whole.n) != 0))
                abort();

        neutralise(mode, buf_span(&whole), whole.n + 1, &n, &again);
        if (neutral_cuts(&n) > 0 && mode != NEUTRAL_SCREEN)
                abort();

        for (size_t i = 0; mode == NEUTRAL_TEXT && i < whole.n; i++)
                if ((uint8_t) whole.p[i] < 0x20 && !strchr("\t\n\r", whole.p[i]))
                        abort();
        return 0;
}

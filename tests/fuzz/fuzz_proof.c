/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_proof.c - any bytes as a proof that a stranger sent. Without a key that signed it nothing
 * is proved, and what is said of it is inert. */
#include "../context.h"
#include "ledger/internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inert(const struct buf *out)
{
        for (size_t i = 0; i < out->n; i++)
                if (out->p[i] == '\x1b' || out->p[i] == '\r')
                        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err e = { 0 };
        bool proved = true;
        AUTO_BUF(out);
        (void) setenv("CORDON_LIBEXEC", "/nonexistent", 1); /* who checks signatures is not started */
        int r = ledger_proof_check(test_context(), span_of(data, size), "/nonexistent", &out, &proved, &e);
        if (proved || (r < 0 && (e.code == ERR_NONE || !e.what[0])))
                abort();
        check_inert(&out);
        return 0;
}

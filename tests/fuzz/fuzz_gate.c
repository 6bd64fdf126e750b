/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_gate.c - any bytes as an envelope: what is read is written back byte for byte, and has one
 * id. */
#include "effect/gate/gate.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct arena mem = { 0 };
        struct gate_envelope e;
        AUTO_BUF(again);
        if (gate_envelope_read(span_of(data, size), &mem, &e) == 0) {
                char id[GATE_ID];
                if (gate_envelope_json(&e, &again) < 0 || !span_eq(buf_span(&again), span_of(data, size)))
                        abort();
                if (gate_template_id(&e, size % 16, id) < 0)
                        abort();
        }

        arena_done(&mem);
        return 0;
}

/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_waivers.c - any bytes as the file of waivers of an audit. What loads has an end, an owner
 * and a reason for each; what does not names its line. */
#include "selftest/audit/audit.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_one(const struct audit_waiver *w)
{
        if (!w->id[0] || !w->owner[0] || !w->reason[0] || !audit_is_date(w->end))
                abort();
        if (w->expired != (strcmp(w->end, "2026-11-18") < 0) || strpbrk(w->reason, "\n"))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        enum { FILE_BYTES = 1 << 16 };
        static char text[FILE_BYTES];
        static struct audit_rules r;
        unsigned line = 0;
        const char *why = NULL;
        size_t n = size < sizeof text - 1 ? size : sizeof text - 1;
        memcpy(text, data, n);
        text[n] = '\0';
        if (audit_rules_read(text, "2026-11-18", &r, &line, &why) < 0) {
                if (line == 0 || !why || !why[0])
                        abort();
                return 0;
        }

        if (r.incidents > 1000000)
                abort();
        for (size_t i = 0; i < r.n; i++) {
                check_one(&r.v[i]);
                if (!audit_waiver_of(&r, r.v[i].id))
                        abort();
        }
        return 0;
}

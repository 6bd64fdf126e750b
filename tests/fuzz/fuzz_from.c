/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_from.c - any bytes as settings of each other tool. What is converted is lines of the policy
 * language: a word of it, or a comment. */
#include "policy/policy.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(const char *text)
{
        struct policy *p = policy_new();
        struct err e = { 0 };
        if (!p)
                abort();

        /* A value may be no good for its word, but no line holds another. */
        if (policy_add_text(p, "fuzz", span_str(text), &e) < 0 &&
            (e.code == ERR_NONE || e.code == ERR_INTERNAL || strstr(e.what, "unknown word")))
                abort();

        policy_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char *const names[] = { "x.json", "x.toml", "x.profile", "x.sh" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                AUTO_BUF(out);
                struct err e = { 0 };
                int r = policy_from(names[i], span_of(data, size), &out, &e);
                if (r < 0 && (e.code == ERR_NONE || e.code == ERR_INTERNAL || strpbrk(e.what, "\n\r\x1b")))
                        abort();

                if (r == 0)
                        check_lines(buf_str(&out));
        }

        return 0;
}

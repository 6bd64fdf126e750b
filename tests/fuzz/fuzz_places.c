/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_places.c - any bytes as a places file and as a fixtures file. What loads is in canonical
 * form. */
#include "broker/egress/http/http_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err e = { 0 };
        struct policy_places *p = policy_places_parse("fuzz", span_of(data, size), &e);
        if (!p && (e.code == ERR_NONE || !e.what[0] || strpbrk(e.what, "\n\r\x1b")))
                abort();
        const char *name;
        for (size_t i = 0; (name = policy_place_name(p, i)); i++) {
                for (enum policy_stage s = 0; s < POLICY_STAGE__COUNT; s++) {
                        const struct policy_place_url *u = policy_place_target(p, name, s);
                        if (u && (u->path[0] != '/' || u->path[strlen(u->path) - 1] != '/' || !u->host[0] ||
                                  !u->port))
                                abort();
                        if (u && !policy_place_asked(p, name, s))
                                abort();
                }
                if (policy_place_target(p, name, POLICY_STAGE_MOCK))
                        abort();
        }
        policy_places_free(p);
        e = (struct err){ 0 };
        struct http_fixtures *x = http_fixtures_parse("fuzz", span_of(data, size), &e);
        if (!x && (e.code == ERR_NONE || strpbrk(e.what, "\n\r\x1b")))
                abort();
        http_fixtures_free(x);
        return 0;
}

/* SPDX-License-Identifier: MIT */
/* face/serve/tenant_trials.c - tries what must be refused, for audits. Pure. */
#include "base/hash.h"
#include "face/serve/serve.h"
#include "face/serve/tenant.h"

#include <stdio.h>
#include <string.h>

enum { REFUSED = 1, WENT_THROUGH = 0, NOT_TRIED = -1 };

#define WHY(...) ((void) snprintf(why, 200, __VA_ARGS__))

int serve_try_expired(char *why)
{
        static const char text[] = "cordon_0123456789abcdef_audit";
        char digest[65], line[400];
        struct tokens t = { 0 };
        struct err e = { 0 };
        sha256_hex(span_str(text), digest);
        (void) snprintf(line, sizeof line,
                        "{\"id\":\"0123456789abcdef\",\"tenant\":\"a\",\"scopes\":[\"run\"],\"created\":1,"
                        "\"expires\":100,\"sha256\":\"%s\"}\n",
                        digest);
        if (tokens_read(span_str(line), &t, &e) < 0) {
                WHY("%.190s", e.what);
                return NOT_TRIED;
        }

        bool known = tokens_check(&t, text, 99) != NULL, late = tokens_check(&t, text, 101) != NULL;
        WHY("a token after its end: %s", late ? "it was taken" : "refused");
        tokens_done(&t);
        return !known ? NOT_TRIED : late ? WENT_THROUGH : REFUSED;
}

int serve_try_lines(char *why)
{
        static const char *const bad[] = { "read /etc\n", "use /etc/x.cordon\n", "write {home}\n",
                                           "sock /run/x\n" };
        struct lines_refusal no;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                if (tenant_lines_allowed(bad[i], strlen(bad[i]), &no)) {
                        WHY("a request with `%.*s`: it was taken", (int) strcspn(bad[i], "\n"), bad[i]);
                        return WENT_THROUGH;
                }
        WHY("a request with a path of the host: %.140s", no.why);
        return REFUSED;
}

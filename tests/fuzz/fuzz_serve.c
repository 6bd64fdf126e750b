/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_serve.c - any bytes as requests: cut into pieces anywhere they mean the same, a path names
 * nothing but what it says, and no row of the table is found for less than its own path. The same bytes as
 * door lines of a request and as the operator's tokens. */
#include "face/serve/internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY = 4096, REQUESTS = 16 };

static void check_request(const struct http_request *r)
{
        char arg[REQUEST_PATH_MAX], value[64];
        unsigned status = 0;
        if (r->path[0] != '/' || strstr(r->path, "//") || strstr(r->path, "/../") || strstr(r->path, "/./"))
                abort();

        const struct route *found = route_find(r->method, r->path, arg, &status);
        if (!found && status != 404 && status != 405)
                abort();
        if (found && strncmp(r->path, found->path, strcspn(found->path, "{")) != 0)
                abort();
        (void) request_param(r, "kind", value, sizeof value);
}

/* How it ends, as a number: the digest of everything that was read. */
static uint64_t read_all(const uint8_t *p, size_t n, size_t piece)
{
        struct request_reader q = { 0 };
        uint64_t sum = 0;
        for (size_t at = 0, done = 0; at < n && done < REQUESTS;) {
                size_t m = n - at < piece ? n - at : piece;
                request_add(&q, p + at, m);
                at += m;
                for (enum request_state s; (s = request_step(&q)) != REQUEST_MORE;) {
                        if (s == REQUEST_BAD) {
                                if (q.status < 400 || !q.why)
                                        abort();
                                sum = sum * 31 + q.status;
                                done = REQUESTS;
                                break;
                        }
                        if (s == REQUEST_HEADED) {
                                check_request(&q.r);
                                request_accept(&q, BODY);
                                continue;
                        }
                        if (q.body.n > BODY)
                                abort();
                        for (size_t i = 0; i < q.body.n; i++)
                                sum = sum * 31 + (uint8_t) q.body.p[i];
                        sum = sum * 31 + strlen(q.r.path) + (uint64_t) q.r.method;
                        request_next(&q);
                        if (++done == REQUESTS)
                                break;
                }
        }

        request_done(&q);
        return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct lines_refusal no;
        struct tokens t = { 0 };
        struct err e;
        if (size < 1)
                return 0;

        if (read_all(data + 1, size - 1, SIZE_MAX) != read_all(data + 1, size - 1, 1u + data[0]))
                abort();

        if (!tenant_lines_allowed((const char *) data + 1, size - 1, &no) && !no.why)
                abort();
        if (tokens_read(span_of(data + 1, size - 1), &t, &e) == 0)
                for (size_t i = 0; i < t.n; i++)
                        if (tokens_check(&t, t.v[i].digest, 0) ||
                            (t.v[i].tenant[0] && !token_is_name(t.v[i].tenant)))
                                abort();
        tokens_done(&t);
        return 0;
}

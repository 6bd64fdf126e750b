/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_http_head.c - any bytes as a request and as an answer. What is read must be written anew in
 * a form that reads the same, as one request and no more; and a cut head is never taken for a whole one. */
#include "broker/egress/http/http_internal.h"

#include <stdlib.h>

static void check_request(struct span in)
{
        static struct http_head h, again;
        static struct http_url url;
        static const struct http_peer peer = { .host = "api.test", .port = 80 };
        enum effect_reason why = REASON_NONE;
        enum http_read r = http_head_request(in, &h);
        if (r == HTTP_BAD && (!h.why || h.answer < 400))
                abort();
        if (r != HTTP_WHOLE)
                return;
        if (h.bytes > in.n || (h.chunked && h.has_length) ||
            http_head_request(span_of(in.p, h.bytes - 1), &again) == HTTP_WHOLE)
                abort();
        if (http_target_read(&h, &peer, false, &url, &why) < 0) {
                if (!why)
                        abort();
                return;
        }
        static struct http_judgement to;
        to = (struct http_judgement){ .host = "api.test", .port = 80 };
        memcpy(to.path, url.path, strlen(url.path) + 1);
        struct http_sent s = { .head = &h, .url = &url, .to = &to };
        struct fifo out = { 0 };
        static char path[HTTP_PATH_MAX];
        memcpy(path, url.path, sizeof path);
        http_put_request(&s, &out);
        struct http_head *first = &h; /* method and framing must come back */
        if (http_head_request(fifo_all(&out), &again) != HTTP_WHOLE || again.bytes != out.n ||
            !span_eq(first->method, again.method) || first->chunked != again.chunked ||
            first->has_length != again.has_length || first->length != again.length || again.upgrade ||
            again.expect_continue)
                abort();
        if (http_target_read(&again, &peer, false, &url, &why) < 0 || strcmp(path, url.path) != 0)
                abort();
        fifo_done(&out);
}

static void check_answer(struct span in)
{
        static struct http_head h;
        enum http_read r = http_head_response(in, &h);
        if (r == HTTP_BAD && (!h.why || h.answer < 400))
                abort();
        if (r == HTTP_WHOLE &&
            (h.bytes > in.n || h.status < 100 || h.status > 599 || (h.chunked && h.has_length)))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        check_request(span_of(data, size));
        check_answer(span_of(data, size));
        return 0;
}

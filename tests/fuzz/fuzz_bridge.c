/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_bridge.c - any bytes as an event stream and as messages of a server and a client: what
 * becomes a line is one line, an answer is to the request that was made, and a head has no line of the
 * message's. */
#include "face/bridge/bridge.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(void *ctx, struct span message)
{
        AUTO_BUF(line);
        bool answers = false;
        (void) ctx;
        if (!bridge_put_line(&line, message, "7", &answers)) {
                if (line.n || answers)
                        abort();
                return;
        }
        if (line.n == 0 || memchr(line.p, '\n', line.n) != line.p + line.n - 1 ||
            memchr(line.p, '\r', line.n))
                abort();
}

/* The same stream in one piece and byte by byte. */
static void check_events(struct span in)
{
        struct bridge_events whole = { .max = 4096 }, bytes = { .max = 4096 };
        bool good = bridge_events_add(&whole, in, check_line, NULL), same = true;
        for (size_t i = 0; i < in.n && same; i++)
                same = bridge_events_add(&bytes, span_of(in.p + i, 1), check_line, NULL);
        if (good != same || whole.data.n != bytes.data.n || whole.line.n != bytes.line.n)
                abort();
        bridge_events_done(&whole);
        bridge_events_done(&bytes);
}

static void check_head(struct span in)
{
        AUTO_BUF(head);
        struct rpc m;
        struct bridge_url u;
        const struct bridge_session s = { .id = "id", .version = "2025-11-25" };
        char *text = strndup((const char *) in.p, in.n);
        if (!text || bridge_url_read(text, &u) < 0)
                (void) bridge_url_read("http://h/p", &u);

        rpc_read(in, &m);
        if (m.kind != RPC_INVALID) {
                bridge_put_head(&head, &u, "POST", &s, &m, in.n);
                size_t fields = 0;
                for (const char *p = buf_str(&head); (p = strstr(p, "\r\n")); p += 2)
                        fields++;
                if (fields > 10 || memmem(head.p, head.n, "\r\n\r\n", 4) != head.p + head.n - 4)
                        abort();
        }
        rpc_done(&m);
        free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct span in = span_of(data, size);
        check_events(in);
        check_line(NULL, in);
        check_head(in);
        return 0;
}

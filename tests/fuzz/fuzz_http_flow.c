/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_http_flow.c - a hostile box and a hostile server at once. The bytes are a script: 0xFF
 * changes sides, 0xFE closes the side that spoke last, 0xFD stands for the secret, 0xFC for the placeholder.
 * Whatever they do: no secret comes down, no placeholder goes up, what goes up are whole requests to paths
 * that a door covers, and one whose parameters are judged goes up with its whole body or not at all. Answers
 * below /c/ are checked: each check is ended. Requests below /s/ go up signed with the real key, and show
 * nothing of it but its id. */
#include "../bearer.h"
#include "broker/egress/http/http_internal.h"

#include <stdlib.h>

#define SECRET "key-REALrealREAL1"
#define HOLDER "key-FAKEfakeFAKE1"
#define AWS    "AKIAREALREALREAL0001:REALsecretREALsecret"
#define HELD   "AKIAFAKEFAKEFAKE0001:FAKEsecretFAKEsecret"

struct bench {
        struct http_flow *flow;
        struct fifo up, down;
        bool refused, checks;
};

static bool check(void *ctx, const struct door *d)
{
        struct bench *b = ctx;
        (void) d;
        if (b->checks)
                abort(); /* the last one was not ended */
        return b->checks = true;
}
static void check_end(void *ctx) { ((struct bench *) ctx)->checks = false; }

static bool move_check(struct bench *b)
{
        bool end;
        struct span s = http_flow_to_check(b->flow, &end);
        AUTO_BUF(passed);
        if (!b->checks || (s.n == 0 && !end))
                return false;

        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] < 'a' || s.p[i] > 'z')
                        buf_putc(&passed, (char) s.p[i]);
        http_flow_check_took(b->flow, s.n);
        http_flow_from_check(b->flow, buf_span(&passed));
        if (end)
                http_flow_checked(b->flow, s.n == 0 || s.p[0] != '!', "because");
        return true;
}

static void move(struct bench *b)
{
        struct http_target t;
        for (bool more = true; more;) {
                struct span c = http_flow_to_client(b->flow), u = http_flow_to_upstream(b->flow);
                more = c.n > 0 || move_check(b);
                fifo_span(&b->down, c);
                fifo_span(&b->up, u);
                http_flow_client_took(b->flow, c.n);
                http_flow_upstream_took(b->flow, u.n);
                if (http_flow_take_connect(b->flow, &t)) {
                        if (strcmp(t.host, "api.test") != 0 || t.port != 80)
                                abort();
                        http_flow_upstream_connected(b->flow);
                        more = true;
                }
        }
}

static void speak(struct bench *b, bool client, const void *p, size_t n)
{
        size_t room = client ? http_flow_client_room(b->flow) : http_flow_upstream_room(b->flow);
        if (n > room || n == 0)
                return;
        if (client)
                http_flow_from_client(b->flow, span_of(p, n));
        else
                http_flow_from_upstream(b->flow, span_of(p, n));
        move(b);
}

static void play(struct bench *b, struct span script)
{
        bool client = true;
        size_t from = 0;
        for (size_t i = 0; i <= script.n; i++) {
                uint8_t c = i < script.n ? script.p[i] : 0xff;
                if (c < 0xfc)
                        continue;
                speak(b, client, script.p + from, i - from);
                from = i + 1;
                if (c == 0xfd)
                        speak(b, client, client ? HOLDER : SECRET, sizeof SECRET - 1);
                else if (c == 0xfc)
                        speak(b, client, HOLDER, sizeof HOLDER - 1);
                else if (c == 0xfe && client)
                        http_flow_client_closed(b->flow);
                else if (c == 0xfe)
                        http_flow_upstream_closed(b->flow);
                else
                        client = !client;
                move(b);
        }
}

static struct checked_policy *load(void)
{
        static const struct policy_context ctx = { .work = "/w", .home = "/h", .now = 1 };
        static const char text[] = "use none\nnet http://api.test/a/** GET POST HEAD\nnet "
                                   "http://api.test/k/** GET POST with key\n"
                                   "net http://api.test/ws WEBSOCKET\n"
                                   "net http://api.test/c/** GET as text\n"
                                   "net http://api.test/s/** GET PUT with aws\n"
                                   "net http://api.test/b/** POST GET where amount=int:1..5\n";
        struct err e;
        struct policy *p = policy_new();
        struct checked_policy *c = NULL;
        if (policy_add_text(p, "p", span_str(text), &e) == 0)
                c = policy_check(p, &ctx, &e);
        policy_free(p);
        return c;
}

/* The first request, where it is one through the door with bounds. */
static void check_bounded(struct span up, const struct http_head *h)
{
        struct http_body b;
        struct span data;
        size_t used;
        if (!span_starts(h->target, "/b/"))
                return;
        http_body_of(h, &b);
        up = span_of(up.p + h->bytes, up.n - h->bytes);
        for (enum body_state s = BODY_DATA; s != BODY_END; up = span_of(up.p + used, up.n - used)) {
                s = http_body_next(&b, up, &used, &data);
                if (s == BODY_BAD || (s == BODY_MORE && used == 0))
                        abort();
        }
        if (h->length && !h->chunked && !memmem(h->target.p, h->target.n, "amount=", 7) && h->length < 8)
                abort(); /* too short to say how much */
}

static bool has(struct span text, const char *word) { return memmem(text.p, text.n, word, strlen(word)); }

/* The first request, where it is one that is signed. */
static void check_signed(struct span up, const struct http_head *h)
{
        struct span head = span_of(up.p, h->bytes);
        if (!span_starts(h->target, "/s/"))
                return;
        if (!has(head, "\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIAREALREALREAL0001/") ||
            has(head, "REALsecret") || has(head, "FAKE"))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct http_credential keys[] = { BEARER_KEY(SECRET, HOLDER),
                                                       { .name = "aws",
                                                         .where = GRANT_SIGV4,
                                                         .field = "",
                                                         .before = "",
                                                         .after = "",
                                                         .secret = { (const uint8_t *) AWS, sizeof AWS - 1 },
                                                         .placeholder = { (const uint8_t *) HELD,
                                                                          sizeof HELD - 1 } } };
        static struct checked_policy *policy;
        struct err e;
        if (!policy && !(policy = load()))
                abort();
        struct http_rules_in in = { .policy = policy,
                                    .stage = POLICY_STAGE_LIVE,
                                    .credentials = keys,
                                    .credential_count = COUNT(keys) };
        struct http_rules *r = http_rules_new(&in, &e);
        struct http_peer peer = { .host = "api.test", .port = 80 };
        struct bench b = { 0 };
        const struct http_callbacks cb = { .ctx = &b, .check = check, .check_end = check_end };
        b.flow = http_flow_new(r, &peer, &cb);
        play(&b, span_of(data, size));
        if (b.down.n && memmem(b.down.p + b.down.at, b.down.n, SECRET, sizeof SECRET - 1))
                abort();
        static struct http_head h;
        if (b.up.n && (http_head_request(fifo_all(&b.up), &h) == HTTP_BAD ||
                       (!span_starts(fifo_all(&b.up), "GET /") && !span_starts(fifo_all(&b.up), "POST /") &&
                        !span_starts(fifo_all(&b.up), "HEAD /") && !span_starts(fifo_all(&b.up), "PUT /"))))
                abort();
        if (b.up.n) {
                check_bounded(fifo_all(&b.up), &h);
                check_signed(fifo_all(&b.up), &h);
        }
        http_flow_free(b.flow);
        if (b.checks)
                abort();
        http_rules_free(r);
        fifo_done(&b.up);
        fifo_done(&b.down);
        return 0;
}

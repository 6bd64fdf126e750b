/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_link.c - sends a decided request over the one upstream connection. */
#include "base/hash.h"
#include "broker/egress/http/http_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Some servers (NTLM, Negotiate) authenticate the connection: a connection that was opened with a credential
 * is not used for requests through a door without it. */
static bool link_fits(const struct http_flow *f)
{
        return f->link == LINK_OPEN && !f->link_stale && !f->upstream.closed && f->link_port == f->to.port &&
               f->link_tls == f->to.tls && f->link_credential == f->to.credential &&
               strcmp(f->link_host, f->to.host) == 0 &&
               (f->upstream.h2 ? !http2_link_is_stale(f->upstream.h2) && (f->link_tls || f->x.grpc)
                               : f->link_tls || !f->x.grpc);
}

void http_link_want(struct http_flow *f)
{
        http_side_done(&f->upstream, f->r->in.tls);
        (void) snprintf(f->link_host, sizeof f->link_host, "%s", f->to.host);
        f->link_port = f->to.port;
        f->link_tls = f->to.tls;
        f->link_address = f->to.is_address;
        f->link_credential = f->to.credential;
        f->link_stale = f->link_used = f->cut = false;
        f->link = LINK_WANTED;
}

void http_link_to(struct http_flow *f)
{
        if (!link_fits(f))
                http_link_want(f);
        fifo_span(&f->upstream.plain, fifo_all(&f->x.head));
        f->upstream.plain.failed = f->upstream.plain.failed || f->x.head.failed;
        if (!f->x.may_retry)
                fifo_done(&f->x.head);
}

bool http_flow_take_connect(struct http_flow *f, struct http_target *ret_target)
{
        if (f->done || f->link != LINK_WANTED)
                return false;

        f->link = LINK_CONNECTING;
        *ret_target = (struct http_target){ .host = f->link_host,
                                            .is_address = f->link_address,
                                            .port = f->link_port };
        return true;
}

void http_let_go(struct http_flow *f, bool leaves, enum effect_reason why)
{
        if (!leaves || !http_rules_use(f->r, f->to.credential, &why)) {
                http_refuse(f, why == REASON_LEDGER ? 503 : 403, why, true);
                return;
        }

        f->request = REQUEST_BODY;
        f->answer = ANSWER_HEAD;
        http_sign(f);
        http_link_to(f);
}

static struct http_event leaving_side(const struct http_flow *f)
{
        const struct http_exchange *x = &f->x;
        struct http_event e = http_event_of(f, HTTP_ALLOWED, REASON_NONE);
        e.head = fifo_all(&x->line);
        e.query = f->url.query;
        e.body = fifo_all(&x->held);
        e.whole = x->gathered && x->whole;
        return e;
}

bool http_flow_leaving(const struct http_flow *f, struct http_event *ret)
{
        if (f->done || f->request != REQUEST_HELD)
                return false;
        *ret = leaving_side(f);
        return true;
}

/* The length and the codings of the body follow from the body. */
void http_fields_digest(struct span head, char ret[72])
{
        static const struct http_word framing[] = { HTTP_WORD("content-length"),
                                                    HTTP_WORD("transfer-encoding"), HTTP_WORD("connection"),
                                                    HTTP_WORD("expect"), HTTP_WORD("host") };
        struct http_head *h = malloc(sizeof *h);
        struct sha256 s;
        bool good = h && http_head_request(head, h) == HTTP_WHOLE;

        sha256_init(&s);
        for (size_t i = 0; good && i < h->field_count; i++) {
                const struct http_field *d = &h->field[i];
                if (http_name_in(d->name, framing, COUNT(framing)))
                        continue;
                sha256_add(&s, d->name.p, d->name.n);
                sha256_add(&s, ":", 1);
                sha256_add(&s, d->value.p, d->value.n);
                sha256_add(&s, "\n", 1);
        }

        free(h);
        memcpy(ret, "sha256:", sizeof "sha256:");
        if (good)
                sha256_end_hex(&s, ret + strlen("sha256:"));
}

void http_leave(struct http_flow *f)
{
        enum effect_reason why = REASON_NONE;
        const char *detail = "";
        struct http_event e = leaving_side(f);
        enum http_leave answer = f->cb.leave ? f->cb.leave(f->cb.ctx, &e, &why, &detail) : HTTP_LEAVES;
        if (answer == HTTP_STAYS)
                http_detail(f, detail);

        f->request = REQUEST_HELD;
        if (answer != HTTP_WAITS)
                http_let_go(f, answer == HTTP_LEAVES, why);
}

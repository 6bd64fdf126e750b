/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_check.c - answers through a door with `as TYPE`: the body goes through a check in
 * cordon-output, and only what passed goes on. A body that is not what the door says does not reach the box,
 * text is made inert. Decides nothing about requests. */
#include "base/str.h"
#include "broker/egress/http/http_internal.h"

#include <stdlib.h>

bool http_check_wanted(const struct http_flow *f)
{
        const struct door *d = f->to.door;
        return d && d->kind == DOOR_NET && d->type != HANDLE_BINARY && !f->x.websocket;
}

/* A redirect has no body: its text is for a person that a program replaces. */
bool http_check_begin(struct http_flow *f, unsigned status)
{
        struct http_check *k = calloc(1, sizeof *k);
        if (!k)
                return false;

        k->redirects = status >= 300 && status < 400;
        if (k->redirects || (f->cb.check && f->cb.check(f->cb.ctx, f->to.door))) {
                f->x.check = k;
                return true;
        }

        free(k);
        return false;
}

void http_check_give(struct http_check *k, struct span data, bool end)
{
        if (!k->redirects)
                fifo_span(&k->to, data);
        k->ended |= end;
}

void http_check_end(struct http_flow *f)
{
        struct http_check *k = f->x.check;
        if (!k)
                return;

        f->x.check = NULL;
        if (!k->redirects && f->cb.check_end)
                f->cb.check_end(f->cb.ctx);
        fifo_done(&k->to);
        free(k);
}

bool http_check_is_full(const struct http_check *k) { return k && k->to.n >= HTTP_BUFFER; }
bool http_check_waits(const struct http_check *k) { return k && !k->redirects; }

struct span http_flow_to_check(const struct http_flow *f, bool *ret_end)
{
        const struct http_check *k = f->x.check;
        *ret_end = k && k->ended;
        return k ? fifo_all(&k->to) : (struct span){ 0 };
}

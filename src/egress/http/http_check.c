/* SPDX-License-Identifier: MIT */
/* egress/http/http_check.c - answers through a door with `as TYPE`: the stages of output/pipeline.h over the
 * body, in the broker, which has no files and no programs. A body that is not what the door says does not
 * reach the box, text is made inert. Decides nothing about requests. */
#include "base/str.h"
#include "egress/http/http_internal.h"

#include <stdlib.h>

bool http_check_wanted(const struct http_flow *f)
{
        const struct door *d = f->to.door;
        return d && d->kind == DOOR_NET && d->type != HANDLE_BINARY && !f->x.websocket;
}

static struct span schema_of(const struct http_rules *r, const struct door *d)
{
        for (size_t i = 0; d->value && i < r->in.schema_count; i++)
                if (strcmp(r->in.schemas[i].path, d->value) == 0)
                        return r->in.schemas[i].text;
        return (struct span){ 0 };
}

/* A link may lead where doors lead. */
static size_t fill_hosts(const struct http_rules *r, struct arena *mem, const char **hosts, size_t cap)
{
        size_t n, count = 0;
        const struct door *d = policy_doors(r->in.policy, &n);
        for (size_t i = 0; i < n && count < cap; i++)
                if (d[i].kind == DOOR_NET && d[i].net.form != NET_PLACE)
                        hosts[count++] =
                                d[i].net.wildcard ? arena_printf(mem, "*.%s", d[i].net.host) : d[i].net.host;
        return mem->failed ? 0 : count;
}

bool http_check_begin(struct http_flow *f)
{
        const struct door *d = f->to.door;
        struct http_check *k = calloc(1, sizeof *k);
        struct err e = { 0 };
        if (!k)
                return false;

        k->redirects = f->head.status >= 300 && f->head.status < 400;
        f->x.check = k;
        struct pipeline_config c = { .form = d->type,
                                     .max = d->max,
                                     .schema = schema_of(f->r, d),
                                     .schema_name = d->value,
                                     .hosts = k->hosts };
        c.n_hosts = fill_hosts(f->r, &k->mem, k->hosts, COUNT(k->hosts));
        if (d->value && c.schema.n == 0)
                return false; /* it did not come: fails closed */
        k->p = pipeline_new(&c, &e);
        return k->p != NULL;
}

/* A redirect has no body: its text is for a person that a program replaces. */
bool http_check_pass(struct http_flow *f, struct span data, bool end, struct buf *out)
{
        struct http_check *k = f->x.check;
        struct err e = { 0 };
        if (k->redirects)
                return true;

        int r = data.n ? pipeline_feed(k->p, data, out, &e) : 0;
        if (r == 0 && end)
                r = pipeline_end(k->p, out, &e);
        if (r < 0)
                (void) str_inert(span_str(e.what), k->why, sizeof k->why);
        return r == 0 && !out->failed;
}

void http_check_end(struct http_exchange *x)
{
        if (!x->check)
                return;
        pipeline_free(x->check->p);
        arena_done(&x->check->mem);
        free(x->check);
        x->check = NULL;
}

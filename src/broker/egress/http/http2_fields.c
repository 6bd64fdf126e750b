/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http2_fields.c - header fields between the two versions. What one cannot express in the
 * other is refused, never repaired. Pure. */
#include "broker/egress/http/http2_internal.h"

#include <strings.h>

bool http2_is_built(void) { return true; }

void http2_fields_add(struct http2_fields *f, const char *name, struct span value)
{
        if (f->n < HTTP2_FIELDS_MAX)
                f->v[f->n++] = (nghttp2_nv){ (uint8_t *) (uintptr_t) name, (uint8_t *) (uintptr_t) value.p,
                                             strlen(name), value.n, NGHTTP2_NV_FLAG_NONE };
}

/* The memory is a queue of ours, and nobody reads it again. */
static uint8_t *lowered_name(struct span name)
{
        uint8_t *p = (uint8_t *) (uintptr_t) name.p;
        for (size_t i = 0; i < name.n; i++)
                p[i] = p[i] >= 'A' && p[i] <= 'Z' ? p[i] | 0x20 : p[i];
        return p;
}

void http2_fields_pass(struct http2_fields *f, const struct http_head *h, bool length)
{
        for (size_t i = 0; i < h->field_count && f->n < HTTP2_FIELDS_MAX; i++) {
                struct span name = h->field[i].name, value = h->field[i].value;
                bool is_length = length && http_name_is(name, "content-length");
                if (!is_length && (http_is_hop(h, name) || http_name_is(name, "host")))
                        continue;
                f->v[f->n++] = (nghttp2_nv){ lowered_name(name), (uint8_t *) (uintptr_t) value.p, name.n,
                                             value.n, NGHTTP2_NV_FLAG_NONE };
        }
}

static bool is_name(struct span s)
{
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] <= ' ' || s.p[i] >= 0x7f || s.p[i] == ':' || (s.p[i] >= 'A' && s.p[i] <= 'Z'))
                        return false;
        return s.n > 0;
}

static bool is_value(struct span s)
{
        for (size_t i = 0; i < s.n; i++)
                if ((s.p[i] < ' ' && s.p[i] != '\t') || s.p[i] == 0x7f)
                        return false;
        return true;
}

bool http2_field_line(struct fifo *out, struct span name, struct span value)
{
        if (!is_name(name) || !is_value(value))
                return false;

        fifo_span(out, name);
        fifo_text(out, ": ");
        fifo_span(out, value);
        fifo_text(out, "\r\n");
        return true;
}

bool http2_is_grpc(struct span type)
{
        static const char word[] = "application/grpc";
        size_t n = sizeof word - 1;
        if (type.n < n || strncasecmp((const char *) type.p, word, n) != 0)
                return false;
        return type.n == n || type.p[n] == '+' || type.p[n] == ';' || type.p[n] == ' ';
}

/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_fifo.c - a queue of bytes that may hold secrets: bytes that leave it are wiped. */
#include "base/base64.h"
#include "broker/egress/http/http_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool make_room(struct fifo *q, size_t n)
{
        if (q->failed || q->at + q->n + n <= q->cap)
                return !q->failed;

        if (q->at && q->n + n <= q->cap) {
                memmove(q->p, q->p + q->at, q->n);
                explicit_bzero(q->p + q->n, q->at);
                q->at = 0;
                return true;
        }

        size_t cap = q->cap ? q->cap : 512;
        while (cap < q->n + n)
                cap *= 2;

        uint8_t *p = malloc(cap);
        if (!p) {
                q->failed = true;
                return false;
        }

        if (q->p) {
                memcpy(p, q->p + q->at, q->n);
                explicit_bzero(q->p, q->cap);
                free(q->p);
        }

        q->p = p;
        q->at = 0;
        q->cap = cap;
        return true;
}

void fifo_add(struct fifo *q, const void *p, size_t n)
{
        if (n == 0 || !make_room(q, n))
                return;
        memcpy(q->p + q->at + q->n, p, n);
        q->n += n;
}

uint8_t *fifo_room(struct fifo *q, size_t n) { return make_room(q, n) && q->p ? q->p + q->at + q->n : NULL; }
void fifo_grew(struct fifo *q, size_t n) { q->n += n; }

void fifo_text(struct fifo *q, const char *s) { fifo_add(q, s, strlen(s)); }

void fifo_base64(struct fifo *q, struct span bytes)
{
        char text[4];

        for (size_t i = 0; i < bytes.n; i += 3) {
                base64_block(bytes.p + i, bytes.n - i, text);
                fifo_add(q, text, sizeof text);
        }
}
void fifo_span(struct fifo *q, struct span s) { fifo_add(q, s.p, s.n); }

void fifo_printf(struct fifo *q, const char *fmt, ...)
{
        char text[1024];
        va_list ap;
        va_start(ap, fmt);
        int n = vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        if (n < 0 || (size_t) n >= sizeof text)
                q->failed = true;
        else
                fifo_add(q, text, (size_t) n);
}

void fifo_drop(struct fifo *q, size_t n)
{
        if (n > q->n)
                n = q->n;

        if (n)
                explicit_bzero(q->p + q->at, n);

        q->at += n;
        q->n -= n;
        if (q->n == 0)
                q->at = 0;
}

size_t fifo_take(struct fifo *q, void *to, size_t cap)
{
        size_t n = q->n < cap ? q->n : cap;
        if (n == 0)
                return 0;

        memcpy(to, q->p + q->at, n);
        fifo_drop(q, n);
        return n;
}

void fifo_done(struct fifo *q)
{
        if (q->p)
                explicit_bzero(q->p, q->cap);
        free(q->p);
        *q = (struct fifo){ 0 };
}

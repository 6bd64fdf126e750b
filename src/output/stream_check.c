/* SPDX-License-Identifier: MIT */
/* output/stream_check.c - moves one stream through the stages. Runs in the sandbox. */
#include "output/stream_check.h"
#include "base/fd.h"
#include "base/hash.h"
#include "output/process.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct flow {
        const struct stream_check *c;
        struct sha256 sum; /* of what left */
        bool closed;       /* its reader is gone: not a fault of the data */
};

static int put_packets(int fd, char kind, struct span s)
{
        char packet[OUTPUT_PACKET];
        for (size_t from = 0, n; from < s.n; from += n) {
                n = s.n - from < sizeof packet - 1 ? s.n - from : sizeof packet - 1;
                packet[0] = kind;
                memcpy(packet + 1, s.p + from, n);
                if (write(fd, packet, n + 1) < 0)
                        return -1;
        }
        return 0;
}

static int put_out(const struct flow *f, struct span s)
{
        return f->c->packets ? put_packets(f->c->out, OUTPUT_DATA, s) : fd_write_all(f->c->out, s.p, s.n);
}

static int hand_on(struct flow *f, struct buf *out, struct err *e)
{
        sha256_add(&f->sum, out->p, out->n);
        if (out->n && !f->closed && put_out(f, buf_span(out)) < 0) {
                f->closed = errno == EPIPE;
                if (!f->closed)
                        return err_set(e, ERR_IO, errno, "what passed cannot be handed on");
        }
        out->n = 0;
        return 0;
}

/* A canary that leaves means that the box does what it must not: nothing more is read. */
static int check_canary(const struct flow *f, struct err *e)
{
        return findings_count(&pipeline_report(f->c->p)->findings, FINDING_CANARY)
                       ? err_set(e, ERR_DOOR, 0, "it contains a canary")
                       : 0;
}

static int run_flow(struct flow *f, struct err *e)
{
        static char chunk[65536];
        AUTO_BUF(out);
        for (;;) {
                ssize_t n = read(f->c->in, chunk, sizeof chunk);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_set(e, ERR_IO, errno, "it cannot be read");
                int r = n == 0 ? pipeline_end(f->c->p, &out, e)
                               : pipeline_feed(f->c->p, span_of(chunk, (size_t) n), &out, e);
                if (check_canary(f, e) < 0 || hand_on(f, &out, e) < 0 || r < 0)
                        return -1;
                if (n == 0)
                        return 0;
        }
}

static void report_flow(struct flow *f, int r, const struct err *e)
{
        AUTO_BUF(out);
        char digest[65];
        const struct pipeline *p = f->c->p;
        sha256_end_hex(&f->sum, digest);
        buf_printf(&out, "{\"ok\":%s", r == 0 ? "true" : "false");
        if (r < 0)
                buf_member(&out, "why", e->what);
        const char *canary = p ? findings_first(&pipeline_report(p)->findings, FINDING_CANARY) : NULL;
        if (r < 0 && canary)
                buf_member(&out, "canary", canary);
        buf_member(&out, "sha256", digest);
        if (p) {
                buf_putc(&out, ',');
                pipeline_report_json(pipeline_report(p), &out);
        }
        buf_puts(&out, "}");
        if (out.failed)
                return;
        if (f->c->packets)
                (void) put_packets(f->c->report, OUTPUT_VERDICT, buf_span(&out));
        else
                (void) fd_write_all(f->c->report, out.p, out.n);
}

int stream_check(struct stream_check *c, const struct err *failed)
{
        struct err e = { 0 };
        struct flow f = { .c = c };
        sha256_init(&f.sum);
        int r = c->p ? run_flow(&f, &e) : -1;
        report_flow(&f, r, c->p ? &e : failed);
        return r;
}

/* SPDX-License-Identifier: MIT */
/* output/main.c - cordon-output: checks one stream or file in a sandbox of its own. process.h has the
 * protocol. */
#include "base/fd.h"
#include "base/hash.h"
#include "output/output_jail.h"
#include "output/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 65536 };

struct flow {
        struct pipeline *p;
        struct sha256 sum; /* of what left */
        bool closed;       /* its reader is gone: not a fault of the data */
};

static int hand_on(struct flow *f, struct buf *out, struct err *e)
{
        sha256_add(&f->sum, out->p, out->n);
        if (out->n && !f->closed && fd_write_all(1, out->p, out->n) < 0) {
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
        return findings_count(&pipeline_report(f->p)->findings, FINDING_CANARY)
                       ? err_set(e, ERR_DOOR, 0, "it contains a canary")
                       : 0;
}

static int run(struct flow *f, struct err *e)
{
        static char chunk[CHUNK];
        AUTO_BUF(out);
        for (;;) {
                ssize_t n = read(0, chunk, sizeof chunk);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_set(e, ERR_IO, errno, "it cannot be read");
                int r = n == 0 ? pipeline_end(f->p, &out, e)
                               : pipeline_feed(f->p, span_of(chunk, (size_t) n), &out, e);
                if (check_canary(f, e) < 0 || hand_on(f, &out, e) < 0 || r < 0)
                        return -1;
                if (n == 0)
                        return 0;
        }
}

static void report(struct flow *f, int r, const struct err *e)
{
        AUTO_BUF(out);
        char digest[65];
        sha256_end_hex(&f->sum, digest);
        buf_printf(&out, "{\"ok\":%s", r == 0 ? "true" : "false");
        if (r < 0)
                buf_member(&out, "why", e->what);
        buf_member(&out, "sha256", digest);
        if (f->p) {
                buf_putc(&out, ',');
                pipeline_report_json(pipeline_report(f->p), &out);
        }
        buf_puts(&out, "}");
        if (!out.failed)
                (void) fd_write_all(OUTPUT_REPORT, out.p, out.n);
}

static struct output_order *take_order(struct err *e)
{
        struct stat st;
        char *text = fstat(OUTPUT_ORDER, &st) == 0 && st.st_size > 0 && st.st_size <= OUTPUT_ORDER_MAX
                             ? malloc((size_t) st.st_size)
                             : NULL;
        ssize_t n = text && lseek(OUTPUT_ORDER, 0, SEEK_SET) == 0
                            ? fd_read_all(OUTPUT_ORDER, text, (size_t) st.st_size)
                            : -1;
        (void) close(OUTPUT_ORDER);
        struct output_order *o = n < 0 ? NULL : output_order_read(span_of(text, (size_t) n), e);
        free(text);
        return o;
}

int main(void)
{
        struct err e = { 0 };
        struct flow f = { 0 };
        if (fcntl(OUTPUT_REPORT, F_GETFD) < 0 || fcntl(OUTPUT_ORDER, F_GETFD) < 0) {
                (void) fputs(
                        "cordon: error: cordon-output is started by cordon itself, for a policy with `as`\n"
                        "cordon: hint: cordon run --stdout 'as text' -- COMMAND\n",
                        stderr);
                return 125;
        }

        (void) prctl(PR_SET_NAME, OUTPUT_PROGRAM, 0, 0, 0);
        (void) signal(SIGPIPE, SIG_IGN);
        sha256_init(&f.sum);
        struct output_order *o = take_order(&e);
        int r = o ? output_jail(output_order_become(o), &e) : -1;
        if (r == 0)
                r = (f.p = pipeline_new(output_order_config(o), &e)) ? run(&f, &e) : -1;

        report(&f, r, &e);
        pipeline_free(f.p);
        output_order_free(o);
        return r < 0;
}

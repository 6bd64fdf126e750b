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
#include <string.h>
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
        const char *canary = f->p ? findings_first(&pipeline_report(f->p)->findings, FINDING_CANARY) : NULL;
        if (r < 0 && canary)
                buf_member(&out, "canary", canary);
        buf_member(&out, "sha256", digest);
        if (f->p) {
                buf_putc(&out, ',');
                pipeline_report_json(pipeline_report(f->p), &out);
        }
        buf_puts(&out, "}");
        if (!out.failed)
                (void) fd_write_all(OUTPUT_REPORT, out.p, out.n);
}

/* A whole file in memory, which another process may read at the same time; then it is closed. The caller
 * wipes and frees it. */
static char *take_file(int fd, size_t *ret_len)
{
        struct stat st;
        char *text = fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= OUTPUT_ORDER_MAX
                             ? malloc((size_t) st.st_size)
                             : NULL;
        ssize_t n = text ? pread(fd, text, (size_t) st.st_size, 0) : -1;
        (void) close(fd);
        if (n == st.st_size) {
                *ret_len = (size_t) n;
                return text;
        }

        free(text);
        return NULL;
}

static void wipe(char *text, size_t n)
{
        if (text)
                explicit_bzero(text, n);
        free(text);
}

static int take_words(struct output_order *o, struct err *e)
{
        size_t n = 0;
        char *text = take_file(OUTPUT_WORDS, &n);
        int r = text ? output_order_words(o, span_of(text, n)) : -1;
        wipe(text, n);
        return r < 0 ? err_set(e, ERR_INTERNAL, 0, "the secrets to look for did not come") : 0;
}

static struct output_order *take_order(struct err *e)
{
        size_t n = 0;
        char *text = take_file(OUTPUT_ORDER, &n);
        struct output_order *o = text ? output_order_read(span_of(text, n), e) : NULL;
        wipe(text, n);
        if (o && output_order_more(o)->vault && take_words(o, e) < 0) {
                output_order_free(o);
                return NULL;
        }
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
        int r = o ? output_jail(output_order_more(o)->become, &e) : -1;
        if (r == 0)
                r = (f.p = pipeline_new(output_order_config(o), &e)) ? run(&f, &e) : -1;

        report(&f, r, &e);
        pipeline_free(f.p);
        output_order_free(o);
        return r < 0;
}

/* SPDX-License-Identifier: MIT */
/* output/main.c - cordon-output: checks one stream or file, or many as a service, in a sandbox of its own.
 * process.h has the protocol. */
#include "base/fd.h"
#include "output/check_service.h"
#include "output/output_jail.h"
#include "output/process.h"
#include "output/stream_check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void wipe_text(char *text, size_t n)
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
        wipe_text(text, n);
        return r < 0 ? err_set(e, ERR_INTERNAL, 0, "the secrets to look for did not come") : 0;
}

static struct output_order *take_order(struct err *e)
{
        size_t n = 0;
        char *text = take_file(OUTPUT_ORDER, &n);
        struct output_order *o = text ? output_order_read(span_of(text, n), e) : NULL;
        wipe_text(text, n);
        if (o && output_order_more(o)->vault && take_words(o, e) < 0) {
                output_order_free(o);
                return NULL;
        }
        return o;
}

int main(void)
{
        struct err e = { 0 };
        if (fcntl(OUTPUT_ORDER, F_GETFD) < 0) {
                (void) fputs(
                        "cordon: error: cordon-output is started by cordon itself, for a policy with `as`\n"
                        "cordon: hint: cordon run --stdout 'as text' -- COMMAND\n",
                        stderr);
                return 125;
        }

        (void) prctl(PR_SET_NAME, OUTPUT_PROGRAM, 0, 0, 0);
        (void) signal(SIGPIPE, SIG_IGN);
        struct output_order *o = take_order(&e);
        if (o && output_order_more(o)->serves) {
                int r = check_service(o, 0, &e);
                output_order_free(o);
                return r < 0;
        }

        struct stream_check c = { .in = 0, .out = 1, .report = OUTPUT_REPORT };
        if (o && output_jail(output_order_more(o)->become, &e) == 0)
                c.p = pipeline_new(output_order_config(o, 0), &e);

        int r = stream_check(&c, &e);
        pipeline_free(c.p);
        output_order_free(o);
        return r < 0;
}

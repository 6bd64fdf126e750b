/* SPDX-License-Identifier: MIT */
/* run/api/unpacker.c - runs cordon-unpack in a box: one path to read, one directory to write, no network and
 * no program but itself. What it answers is a hostile image's word. */
#include "run/api/unpacker.h"

#include "base/fd.h"
#include "base/sanitized.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static const char rules[] = "box cordon-unpack\n"
#if SANITIZED
                            "use base/loader\n"
#else
                            "use none\n"
#endif
                            "limit time 1h cpu 1h memory 1G procs 4 files 512 output 16M\n";

struct unpacker_words {
        struct buf out, err;
};

static void hear_output(void *ctx, int stream, const void *data, size_t len)
{
        struct unpacker_words *a = ctx;
        buf_add(stream == 1 ? &a->out : &a->err, data, len);
}

static cordon_policy *make_policy(const struct cordon_context *cx, const struct unpacker *u, struct err *e)
{
        cordon_error *pe = (cordon_error *) (void *) e;
        const char *const shown[] = { u->read, NULL };
        cordon_policy *p = cordon_policy_new(cx);
        if (!p) {
                (void) err_set(e, ERR_MEMORY, ENOMEM, "no memory for the unpacker");
                return NULL;
        }

        if (cordon_policy_add_text(p, "cordon-unpack", rules, sizeof rules - 1, pe) == 0 &&
            cordon_policy_show(p, shown, pe) == 0 &&
            (!u->write || cordon_policy_add(p, "write", u->write, pe) == 0))
                return p;

        cordon_policy_free(p);
        return NULL;
}

/* Its first line is the reason, its second a hint. */
static int was_refused(const cordon_result *r, const struct unpacker_words *a, struct err *e)
{
        char why[300], hint[200];
        const char *text = buf_str(&a->err);
        size_t n = strcspn(text, "\n"), k = text[n] ? strcspn(text + n + 1, "\n") : 0;
        if (r->end == CORDON_LIMIT)
                return err_set(e, ERR_LIMIT, 0, "unpacking the image takes more than %s",
                               "an hour or 1 GB of memory");

        if (r->end != CORDON_EXITED || n == 0)
                return err_set(e, ERR_IO, 0, "the unpacker ended before its time");

        (void) err_set(e, ERR_DOOR, 0, "%s", str_inert(span_of(text, n), why, sizeof why));
        return k ? err_hint(e, "%s", str_inert(span_of(text + n + 1, k), hint, sizeof hint)) : -1;
}

static int run_unpacker(cordon_policy *p, const struct unpacker *u, const char *const *argv,
                        struct unpacker_words *a, struct err *e)
{
        AUTO_FD(in, fd_memory("cordon-unpack", u->input, u->input ? strlen(u->input) : 0));
        cordon_box *b = in < 0 ? NULL : cordon_box_new(p);
        if (!b || cordon_box_command(b, argv) < 0) {
                cordon_box_free(b);
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the unpacker");
        }

        b->is_unpacker = true;
        cordon_box_stdio(b, 0, in);
        cordon_box_on_output(b, hear_output, a);
        int r = cordon_box_set(b, CORDON_LEDGER, "off") < 0 || cordon_box_set(b, CORDON_OBSERVE, "off") < 0
                        ? err_set(e, ERR_INTERNAL, 0, "an option of the unpacker's box")
                        : cordon_box_start(b, (cordon_error *) (void *) e);
        while (r == 0 && cordon_box_wait(b, -1) == 0)
                ;

        const cordon_result *end = cordon_box_result(b);
        if (r == 0 && (end->end != CORDON_EXITED || end->code != 0))
                r = was_refused(end, a, e);

        cordon_box_free(b);
        return r;
}

int api_unpack(const struct cordon_context *cx, const struct unpacker *u, struct buf *out, struct err *e)
{
        char program[PATH_MAX];
        if (host_program(cx, "cordon-unpack", program, sizeof program, e) < 0)
                return -1;

        cordon_policy *p = make_policy(cx, u, e);
        if (!p)
                return -1;

        struct unpacker_words a = { 0 };
        const char *const argv[] = { program, u->command, u->read, u->write, NULL };
        int r = run_unpacker(p, u, argv, &a, e);
        if (r == 0 && (a.out.failed || a.err.failed))
                r = err_set(e, ERR_MEMORY, ENOMEM, "no memory for the unpacker's answer");

        if (r == 0)
                buf_add(out, buf_str(&a.out), a.out.n);

        buf_done(&a.out);
        buf_done(&a.err);
        cordon_policy_free(p);
        return r;
}

/* SPDX-License-Identifier: MIT */
/* api/api_host.c - the running boxes, and the capabilities of this host. */
#include "api/internal.h"
#include "context/context.h"
#include "host/host.h"
#include "limit/limit.h"

#include <stdlib.h>

static char *ask(const char *which, enum box_request request, int arg, cordon_error *e)
{
        struct buf out = { 0 };
        if (box_ask(which, request, arg, &out, to_err(e)) < 0) {
                buf_done(&out);
                return NULL;
        }
        return api_give(&out, to_err(e));
}

int cordon_list(void (*each)(void *ctx, const char *json), void *ctx, cordon_error *e)
{
        return box_list(each, ctx, to_err(e));
}
char *cordon_inspect(const char *which, cordon_error *e) { return ask(which, BOX_ASK_STATE, 0, e); }

static void to_nobody(void *ctx, const void *data, size_t len)
{
        (void) ctx;
        (void) data;
        (void) len;
}

int cordon_logs(const cordon_context *cx, const char *which, int follow, cordon_sink out, void *ctx,
                cordon_error *e)
{
        const struct box_sink to = { out ? out : to_nobody, ctx };
        return box_logs(cx, which, follow != 0, &to, to_err(e));
}

int cordon_stop(const char *which, int signal, cordon_error *e)
{
        char *answer = ask(which, BOX_ASK_STOP, signal, e);
        free(answer);
        return answer ? 0 : -1;
}

static void finding_text(const struct host_finding *f, struct buf *out)
{
        static const char *const marks[] = { [HOST_NO] = "no  ", [HOST_WEAK] = "weak", [HOST_YES] = "yes " };
        buf_printf(out, "%s  %-22s %s\n", marks[f->state], f->layer, f->detail);
        if (f->mend[0])
                buf_printf(out, "      %-22s mend: %s\n", "", f->mend);
}

static void finding_json(const struct host_finding *f, struct buf *out)
{
        static const char *const states[] = { [HOST_NO] = "no", [HOST_WEAK] = "weak", [HOST_YES] = "yes" };
        buf_puts(out, "{\"layer\":");
        buf_json(out, span_str(f->layer));
        buf_printf(out, ",\"state\":\"%s\",\"detail\":", states[f->state]);
        buf_json(out, span_str(f->detail));
        buf_member(out, "mend", f->mend);
        buf_putc(out, '}');
}

char *cordon_doctor(const cordon_context *cx, int json, int *ret_ok)
{
        struct host_finding f[40];
        unsigned n = host_probe(cx, f, sizeof f / sizeof *f);
        struct buf out = { 0 };

        *ret_ok = 1;

        if (json)
                buf_putc(&out, '[');

        for (unsigned i = 0; i < n; i++) {
                if (json && i)
                        buf_putc(&out, ',');
                (json ? finding_json : finding_text)(&f[i], &out);
                if (f[i].needed && f[i].state == HOST_NO)
                        *ret_ok = 0;
        }

        if (json)
                buf_puts(&out, "]\n");

        return api_give(&out, NULL);
}

unsigned cordon_sweep(void)
{
        struct host_cgroups h;
        struct err e;
        return host_cgroups_read(&h, &e) < 0 ? 0 : limit_sweep(&h);
}

int cordon_batch_job(const cordon_context *cx, cordon_batch *ret)
{
        struct context_batch b;
        if (!context_batch(cx, &b))
                return 0;

        *ret = (cordon_batch){ b.engine, b.id, b.leader };
        return 1;
}

const char *cordon_version(void) { return CORDON_VERSION; }
const char *cordon_error_name(int code) { return err_code_name((enum err_code) code); }
void cordon_free(void *p) { free(p); }

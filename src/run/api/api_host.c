/* SPDX-License-Identifier: MIT */
/* run/api/api_host.c - the running boxes, and the capabilities of this host. */
#include "base/context/context.h"
#include "base/host/host.h"
#include "run/api/internal.h"
#include "wall/limit/limit.h"

#include <stdlib.h>

static char *ask_box(const char *which, enum box_request request, int arg, cordon_error *e)
{
        AUTO_BUF(out);
        return box_ask(which, request, arg, &out, to_err(e)) < 0 ? NULL : api_give(&out, to_err(e));
}

int cordon_list(void (*each)(void *ctx, const char *json), void *ctx, cordon_error *e)
{
        return box_list(each, ctx, to_err(e));
}
char *cordon_inspect(const char *which, cordon_error *e) { return ask_box(which, BOX_ASK_STATE, 0, e); }

static void to_nobody(void *ctx, const void *data, size_t len)
{
        (void) ctx;
        (void) data;
        (void) len;
}

int cordon_logs(const cordon_context *cx, const char *which, int follow, cordon_sink out, void *ctx,
                int label_fd, cordon_error *e)
{
        const struct box_sink to = { out ? out : to_nobody, ctx };
        return box_logs(cx, which, follow != 0, &to, label_fd, to_err(e));
}

int cordon_stop(const char *which, int signal, cordon_error *e)
{
        char *answer = ask_box(which, BOX_ASK_STOP, signal, e);
        free(answer);
        return answer ? 0 : -1;
}

int cordon_box_renew(cordon_box *b, cordon_error *e)
{
        return b->box ? box_renew(b->box, to_err(e)) : err_set(to_err(e), ERR_GONE, 0, "it does not run");
}

char *cordon_renew(const char *which, cordon_error *e)
{
        AUTO_BUF(out);
        return box_renew_of(which, &out, to_err(e)) < 0 ? NULL : api_give(&out, to_err(e));
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
int cordon_host_cores(void) { return host_cores(); }
const char *cordon_error_name(int code) { return err_code_name((enum err_code) code); }
void cordon_free(void *p) { free(p); }

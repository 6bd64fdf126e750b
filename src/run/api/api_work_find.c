/* SPDX-License-Identifier: MIT */
/* run/api/api_work_find.c - the overlays that wait, and the one that a word means. */
#include "files/work/work.h"
#include "run/api/internal.h"

int cordon_work_list(const cordon_context *cx, int json, cordon_sink out, void *ctx, cordon_error *e)
{
        return work_list(cx, json != 0, out, ctx, to_err(e));
}

int cordon_work_find(const cordon_context *cx, const char *run, char ret_run[64], cordon_error *e)
{
        return work_find(cx, run, ret_run, to_err(e));
}

/* SPDX-License-Identifier: MIT */
/* policy/learn/refused.c - accesses that were tried and are never learned, with the program that tried. */
#include "base/str.h"
#include "policy/learn/internal.h"

/* A write that would need a door as wide as the home or the root. */
static bool too_wide(const struct learn *l, const struct item *it, struct buf *out)
{
        if (it->a.kind != EFFECT_WRITE || it->sensitive || policy_gpu_covers("/dev/gpu", it->a.path))
                return false;

        struct arena mem = { 0 };
        char *dir = arena_str(&mem, it->a.path);
        while (dir && strcmp(dir, "/") != 0 &&
               (!l->c.look || l->c.look(l->c.look_ctx, dir) != LEARN_DIRECTORY))
                dir = fold_parent(&mem, dir);

        bool wide = dir && !fold_may_open(&l->c, dir);
        out->failed = out->failed || mem.failed;
        arena_done(&mem);
        return wide;
}

static enum effect_reason put_reason(const struct learn *l, const struct item *it, struct buf *out)
{
        if (it->a.kind == EFFECT_NET)
                return net_is_told_better(l, it) ? REASON_NONE : net_reason(l, it);
        if (it->sensitive)
                return it->sensitive;
        return too_wide(l, it, out) ? REASON_TOO_WIDE : REASON_NONE;
}

static void put_one(const struct item *it, enum effect_reason why, bool json, struct buf *out)
{
        char path[512], program[128];
        if (!json) {
                bool call = it->a.kind == EFFECT_CALL;
                buf_printf(out, "  %s: %s%s%s%s%s%s%s\n", effect_reason_name(why),
                           call ? "" : effect_kind_name(it->a.kind), it->a.method[0] ? " " : "", it->a.method,
                           call ? "" : " ", str_inert(span_str(it->a.path), path, sizeof path),
                           it->a.program[0] ? ", by " : "",
                           str_inert(span_str(it->a.program), program, sizeof program));
                return;
        }

        buf_member_json(out, NULL, "{");
        buf_member(out, "reason", effect_reason_name(why));
        buf_member(out, "kind", effect_kind_name(it->a.kind));
        AUTO_BUF(what);
        buf_printf(&what, "%s%s%s", it->a.method, it->a.method[0] ? " " : "", it->a.path);
        out->failed = out->failed || what.failed;
        buf_member(out, "what", buf_str(&what));
        buf_member(out, "program", it->a.program);
        buf_putc(out, '}');
}

bool learn_refused_for(const struct learn *l, enum effect_reason why)
{
        AUTO_BUF(none);
        for (size_t i = 0; i < l->n; i++) {
                if (put_reason(l, &l->v[i], &none) == why)
                        return true;
        }

        return false;
}

void learn_refused(const struct learn *l, bool json, struct buf *out)
{
        AUTO_BUF(list);
        if (json)
                buf_putc(&list, '[');

        for (size_t i = 0; i < l->n; i++) {
                enum effect_reason why = put_reason(l, &l->v[i], &list);
                if (why)
                        put_one(&l->v[i], why, json, &list);
        }

        if (json)
                buf_putc(&list, ']');

        buf_puts(out, buf_str(&list));
        out->failed = out->failed || list.failed;
}

/* SPDX-License-Identifier: MIT */
/* learn/refused.c - what was tried and is never learned, with the program that tried. */
#include "base/str.h"
#include "learn/internal.h"

static const char *const words[] = {
        [LEARN_NONE] = "?",  [LEARN_READ] = "read", [LEARN_WRITE] = "write",
        [LEARN_RUN] = "run", [LEARN_NET] = "net",   [LEARN_CALL] = "call",
};
_Static_assert(COUNT(words) == LEARN_KIND__COUNT, "a word for each kind");

/* A write that would need a door as wide as the home or the root. */
static bool too_wide(const struct learn *l, const struct item *it, struct buf *out)
{
        if (it->a.kind != LEARN_WRITE || it->sensitive)
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

static const char *reason(const struct learn *l, const struct item *it, struct buf *out)
{
        if (it->a.kind == LEARN_NET)
                return net_is_told_better(l, it) ? NULL : net_reason(l, it);
        if (it->sensitive)
                return it->sensitive;
        return too_wide(l, it, out) ? "too-wide" : NULL;
}

static void one(const struct item *it, const char *why, bool json, struct buf *out)
{
        char path[512], program[128];
        if (!json) {
                bool call = it->a.kind == LEARN_CALL;
                buf_printf(out, "  %s: %s%s%s%s%s%s%s\n", why, call ? "" : words[it->a.kind],
                           it->a.method[0] ? " " : "", it->a.method, call ? "" : " ",
                           str_inert(span_str(it->a.path), path, sizeof path),
                           it->a.program[0] ? ", by " : "",
                           str_inert(span_str(it->a.program), program, sizeof program));
                return;
        }

        buf_printf(out, "%s{\"reason\":\"%s\",\"kind\":\"%s\",\"what\":", out->n > 1 ? "," : "", why,
                   words[it->a.kind]);
        AUTO_BUF(what);
        buf_printf(&what, "%s%s%s", it->a.method, it->a.method[0] ? " " : "", it->a.path);
        out->failed = out->failed || what.failed;
        buf_json(out, span_str(buf_str(&what)));
        buf_puts(out, ",\"program\":");
        buf_json(out, span_str(it->a.program));
        buf_putc(out, '}');
}

bool learn_refused_for(const struct learn *l, const char *why)
{
        AUTO_BUF(none);
        for (size_t i = 0; i < l->n; i++) {
                const char *r = reason(l, &l->v[i], &none);
                if (r && strcmp(r, why) == 0)
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
                const char *why = reason(l, &l->v[i], &list);
                if (why)
                        one(&l->v[i], why, json, &list);
        }

        if (json)
                buf_putc(&list, ']');

        buf_puts(out, buf_str(&list));
        out->failed = out->failed || list.failed;
}

/* SPDX-License-Identifier: MIT */
/* effect/effect.c - kinds of effects by name, and rows of the report. Pure. */
#include "effect/effect.h"

#include <string.h>

static const char *const kinds[] = {
        [EFFECT_NONE] = "none",     [EFFECT_READ] = "read",   [EFFECT_WRITE] = "write",
        [EFFECT_RUN] = "run",       [EFFECT_NET] = "net",     [EFFECT_ENV] = "env",
        [EFFECT_SOCK] = "sock",     [EFFECT_SIGN] = "sign",   [EFFECT_DECRYPT] = "decrypt",
        [EFFECT_DEV] = "dev",       [EFFECT_TOOL] = "tool",   [EFFECT_CALL] = "call",
        [EFFECT_RENAME] = "rename", [EFFECT_LIMIT] = "limit", [EFFECT_CREDENTIAL] = "credential",
};
_Static_assert(sizeof kinds / sizeof *kinds == EFFECT_KIND__COUNT, "a name for each kind");

const char *effect_kind_name(enum effect_kind k)
{
        return (unsigned) k < EFFECT_KIND__COUNT ? kinds[k] : kinds[EFFECT_NONE];
}

enum effect_kind effect_kind_find(struct span name)
{
        for (unsigned k = EFFECT_NONE + 1; k < EFFECT_KIND__COUNT; k++)
                if (span_is(name, kinds[k]))
                        return (enum effect_kind) k;
        return EFFECT_NONE;
}

bool effect_is_near(enum effect_kind k, enum effect_reason why)
{
        bool decided = why > REASON_NO_DOOR && why <= REASON_DECIDED__LAST;
        if (!effect_kind_has_path(k))
                return why != REASON_LOOPBACK; /* a process of the host listens there */
        return decided || why >= REASON_CALL;
}

bool effect_row_copy(const struct effect_row *from, struct arena *mem, struct effect_row *ret)
{
        struct effect_row r = *from;
        const char **text[] = { &r.effect.target, &r.what,     &r.why,    &r.layer,
                                &r.permit,        &r.argument, &r.program };

        for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
                *text[i] = **text[i] ? arena_str(mem, *text[i]) : "";
                if (!*text[i])
                        return false;
        }

        if (r.effect.method && !(r.effect.method = arena_str(mem, r.effect.method)))
                return false;

        *ret = r;
        return true;
}

size_t effect_compiled(const struct effect *f)
{
        static const char name[] = "/__pycache__";
        const char *at = f->kind == EFFECT_WRITE && f->target ? strstr(f->target, name) : NULL;
        const char *rest = at ? at + sizeof name - 1 : "";
        bool file = rest[0] == '/' && !strchr(rest + 1, '/') && strcmp(rest, "/..") != 0;
        return at && (rest[0] == '\0' || file) ? (size_t) (rest - f->target) : 0;
}

bool effect_row_same(const struct effect_row *a, const struct effect_row *b)
{
        return a->effect.kind == b->effect.kind && strcmp(a->what, b->what) == 0 &&
               strcmp(a->program, b->program) == 0;
}

void effect_row_json(const struct effect_row *r, struct buf *out)
{
        const struct effect *f = &r->effect;
        buf_printf(out, "\"code\":\"%s\",\"reason\":\"%s\",\"layer\":\"%s\"", effect_kind_name(f->kind),
                   effect_reason_name(f->reason), r->layer);
        buf_member(out, "run", f->subject.run ? f->subject.run : "");
        buf_member(out, "what", r->what);
        buf_member(out, "why", r->why);
        buf_member(out, "path", f->target);
        if (f->method)
                buf_member(out, "method", f->method);

        buf_member(out, "program", r->program);
        buf_member_bool(out, "minor", r->weight);
        buf_member_int(out, "count", r->count);
        buf_member(out, "permit", r->permit[0] ? r->permit : NULL);
        if (r->on_host >= 0)
                buf_member_bool(out, "on_host", r->on_host);
}

/* SPDX-License-Identifier: MIT */
/* output/findings.c - the list of findings. Pure. */
#include "output/findings.h"
#include "base/str.h"

#include <stdio.h>

static const char *const words[] = { "secret",  "canary",      "secret-pattern", "injection", "link",
                                     "formula", "hidden-text", "active-content", NULL };
_Static_assert(sizeof words / sizeof *words == FINDING__COUNT + 1, "each kind has its word");

static const char *finding_word(enum finding_kind k) { return words[k]; }
const char *const *findings_kinds(void) { return words; }

void findings_add(struct findings *f, enum finding_kind kind, struct span name, uint64_t line)
{
        char shown[FINDING_NAME];
        (void) str_inert(name, shown, sizeof shown);
        for (size_t i = 0; i < f->n; i++)
                if (f->v[i].kind == kind && strcmp(f->v[i].name, shown) == 0) {
                        f->v[i].count++;
                        return;
                }

        if (f->n == FINDINGS_MAX) {
                f->lost++;
                return;
        }

        struct output_finding *x = &f->v[f->n++];
        *x = (struct output_finding){ .kind = kind, .count = 1, .line = line };
        (void) snprintf(x->name, sizeof x->name, "%s", shown);
}

uint64_t findings_count(const struct findings *f, enum finding_kind kind)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < f->n; i++)
                sum += f->v[i].kind == kind ? f->v[i].count : 0;
        return sum;
}

const char *findings_first(const struct findings *f, enum finding_kind kind)
{
        for (size_t i = 0; i < f->n; i++)
                if (f->v[i].kind == kind)
                        return f->v[i].name;
        return NULL;
}

void findings_json(const struct findings *f, struct buf *out)
{
        buf_putc(out, '[');
        for (size_t i = 0; i < f->n; i++) {
                buf_printf(out, "%s{\"kind\":\"%s\",\"name\":", i ? "," : "", finding_word(f->v[i].kind));
                buf_json(out, span_str(f->v[i].name));
                buf_printf(out, ",\"count\":%llu,\"line\":%llu}", (unsigned long long) f->v[i].count,
                           (unsigned long long) f->v[i].line);
        }
        buf_putc(out, ']');
}

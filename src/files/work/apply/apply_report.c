/* SPDX-License-Identifier: MIT */
/* files/work/apply/apply_report.c - reports the result of an interrupted apply to the command that asked for
 * it. */
#include "base/context/context.h"
#include "base/fd.h"
#include "files/work/internal.h"

#include <stdlib.h>
#include <string.h>

struct work_effect journal_effect(const struct journal *j, const struct op *o)
{
        return (struct work_effect){ .run = j->l->run,
                                     .host = j->targets[o->door].path,
                                     .path = span_str(o->path),
                                     .before = o->before && !strchr("-?", o->before[0]) ? o->before : "",
                                     .after = o->digest && o->digest[0] != '-' ? o->digest : "",
                                     .linked = o->linked };
}

enum { POINTER = sizeof(void *) };

static int by_place(const void *pa, const void *pb)
{
        const struct op *a = *(struct op *const *) pa, *b = *(struct op *const *) pb;
        return a->door != b->door ? (a->door > b->door) - (a->door < b->door) : strcmp(a->path, b->path);
}

size_t journal_entries(struct journal *j)
{
        struct op **made = calloc(j->n + 1, POINTER);
        size_t n = 0, entries = 0;
        for (size_t i = 0; made && i < j->n; i++)
                if (j->ops[i].kind == OP_PUT || j->ops[i].kind == OP_SWAP)
                        made[n++] = &j->ops[i];

        if (n > 0)
                qsort(made, n, POINTER, by_place);

        for (size_t i = 0; i < j->n; i++) {
                const struct op *o = &j->ops[i];
                j->ops[i].again = n > 0 && o->kind == OP_META && bsearch(&o, made, n, POINTER, by_place);
                entries += !o->again;
        }

        free(made);
        return entries;
}

void journal_told(struct journal *j)
{
        AUTO_FD(fd, openat(j->dir, "told", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
}

bool journal_tell(struct journal *j, enum work_end_of how, bool later)
{
        const struct cordon_context *cx = j->l->cx;
        if (j->n == 0 || !cx || !cx->settled)
                return true;

        struct work_effect *v = calloc(j->n, sizeof *v);
        if (!v)
                return false;

        size_t n = 0;
        base_digests(j);
        (void) journal_entries(j);
        for (size_t i = 0; i < j->n; i++)
                if (!j->ops[i].again)
                        v[n++] = journal_effect(j, &j->ops[i]);

        const struct work_settled s = { .cx = cx,
                                        .how = how,
                                        .later = later,
                                        .run = j->l->run,
                                        .mark = j->mark,
                                        .effects = v,
                                        .count = n };

        bool known = cx->settled(&s);
        free(v);
        return known;
}

/* SPDX-License-Identifier: MIT */
/* work/apply/apply_report.c - reports the result of an interrupted apply to the command that asked for it. */
#include "base/fd.h"
#include "context/context.h"
#include "work/internal.h"

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

void journal_told(struct journal *j)
{
        AUTO_FD(fd, openat(j->dir, "told", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
}

bool journal_tell(struct journal *j, enum work_end_of how)
{
        const struct cordon_context *cx = j->l->cx;
        if (!j->mark || j->n == 0 || !cx || !cx->settled)
                return true;

        struct work_effect *v = calloc(j->n, sizeof *v);
        if (!v)
                return false;

        base_digests(j);
        for (size_t i = 0; i < j->n; i++)
                v[i] = journal_effect(j, &j->ops[i]);

        const struct work_settled s = {
                .cx = cx, .how = how, .run = j->l->run, .mark = j->mark, .effects = v, .count = j->n
        };

        bool known = cx->settled(&s);
        free(v);
        return known;
}

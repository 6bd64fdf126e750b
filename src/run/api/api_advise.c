/* SPDX-License-Identifier: MIT */
/* run/api/api_advise.c - cordon_advise(): a stock task's policy, as a file that can be run at once. */
#include "policy/learn/learn.h"
#include "run/api/internal.h"

static void policy_of(const struct learn_task *t, struct buf *out)
{
        buf_printf(out,
                   "# To %s:\n#   cordon policy new %s >%s.cordon\n#   cordon run -p %s.cordon -- %s\n"
                   "# It has not: %s.\nbox    %s\ndoc    \"To %s.\"\n%s",
                   t->title, t->name, t->name, t->name, t->command, t->stripped, t->name, t->title, t->doors);
}

char *cordon_advise(const char *task, int json, cordon_error *e)
{
        AUTO_BUF(policy);
        AUTO_BUF(out);
        const struct learn_task *t = learn_task_find(task);
        if (!t) {
                (void) err_set(to_err(e), ERR_USAGE, 0, "no stock task matches this");
                (void) err_hint(to_err(e), "`cordon policy new --list` lists the tasks; `cordon learn -- "
                                           "COMMAND` finds the doors "
                                           "of any other");
                return NULL;
        }

        policy_of(t, &policy);
        out.failed = policy.failed;
        if (!json)
                return api_give(&policy, to_err(e));

        const char *const fields[][2] = { { "task", t->name },         { "title", t->title },
                                          { "tool", t->tool },         { "command", t->command },
                                          { "stripped", t->stripped }, { "policy", buf_str(&policy) } };
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
                buf_printf(&out, "%c\"%s\":", i ? ',' : '{', fields[i][0]);
                buf_json(&out, span_str(fields[i][1]));
        }

        buf_puts(&out, "}\n");
        return api_give(&out, to_err(e));
}

const char *cordon_advise_name(size_t index)
{
        size_t n;
        const struct learn_task *t = learn_tasks(&n);
        return index < n ? t[index].name : NULL;
}

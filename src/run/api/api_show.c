/* SPDX-License-Identifier: MIT */
/* run/api/api_show.c - cordon_policy_show(): read doors to files that the user named one by one. A name is
 * taken literally: its text is quoted, never parsed as syntax of the language. */
#include "base/str.h"
#include "run/api/internal.h"

#include <limits.h>
#include <stdlib.h>

/* SAFETY: a door follows symlinks, so their targets count as well. A user who may write to the directory
 * could change them until the start; the same user could have put the file itself there. */
static enum effect_reason sensitive_reason(const char *path)
{
        char real[PATH_MAX];
        enum effect_reason kind = policy_secret_reason(path);
        return kind || !realpath(path, real) ? kind : policy_secret_reason(real);
}

static int refuse_path(const char *path, enum effect_reason kind, struct err *e)
{
        char shown[200];
        (void) err_set(e, ERR_POLICY, 0,
                       "%s is not shown to the box; by its name, or where its links lead, it is: %s",
                       str_inert(span_str(path), shown, sizeof shown), effect_reason_name(kind));
        return err_hint(e, "to show it anyway: --read PATH");
}

static bool is_shown(const cordon_policy *p, const char *path)
{
        struct effect f = { .kind = EFFECT_READ, .target = path };
        return policy_decide(p->checked, &f).door != NULL;
}

static int put_doors(const cordon_policy *p, const char *const *paths, struct buf *lines, struct err *e)
{
        for (; *paths; paths++) {
                if ((*paths)[0] != '/')
                        return err_set(e, ERR_USAGE, 0, "a path that is shown must be absolute");
                if (is_shown(p, *paths))
                        continue;
                enum effect_reason kind = sensitive_reason(*paths);
                if (kind)
                        return refuse_path(*paths, kind, e);
                buf_puts(lines, "read ");
                policy_put_token(lines, *paths);
                buf_putc(lines, '\n');
        }

        return lines->failed ? err_set(e, ERR_MEMORY, 0, "no memory") : 0;
}

/* A name with a newline would be two lines: no door can be to it. */
static int check_names(const char *const *paths, struct err *e)
{
        char shown[200];
        for (; *paths; paths++)
                for (const char *c = *paths; *c; c++)
                        if ((unsigned char) *c < 32 || *c == 127) {
                                (void) err_set(e, ERR_POLICY, 0,
                                               "no door can lead to %s: its name has control characters",
                                               str_inert(span_str(*paths), shown, sizeof shown));
                                return err_hint(e, "rename it, or hand it in on standard input");
                        }

        return 0;
}

int cordon_policy_show(cordon_policy *p, const char *const *paths, cordon_error *e)
{
        AUTO_BUF(lines);
        if (cordon_policy_check(p, e) < 0 || check_names(paths, to_err(e)) < 0 ||
            put_doors(p, paths, &lines, to_err(e)) < 0)
                return -1;

        if (lines.n == 0)
                return 0;

        api_schemas_drop(p);
        policy_checked_free(p->checked);
        p->checked = NULL;
        return policy_add_text(p->lines, "argument", buf_span(&lines), to_err(e));
}

/* SPDX-License-Identifier: MIT */
/* run/api/rules.c - the files that control the next run: those that a policy came from, and cordon's own
 * programs. A box that can write them is reported. */
#include "base/host/host.h"
#include "base/str.h"
#include "broker/egress/egress.h"
#include "broker/vault/vault.h"
#include "run/api/internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* $XDG_CONFIG_HOME/cordon */
int api_config_path(const cordon_policy *p, char *ret, size_t cap)
{
        const char *config = context_path(p->cx, "XDG_CONFIG_HOME");
        int n = snprintf(ret, cap, "%s%s/cordon", config ? config : p->home, config ? "" : "/.config");
        return n > 0 && (size_t) n < cap ? 0 : -1;
}

/* For a warning: a file that is not remembered causes none. */
void api_rules_come_from(cordon_policy *p, const char *file)
{
        for (unsigned i = 0; i < p->rule_count; i++)
                if (strcmp(p->rules[i], file) == 0)
                        return;

        if (p->rule_count == sizeof p->rules / sizeof *p->rules)
                return;

        p->rules[p->rule_count] = strdup(file);
        if (p->rules[p->rule_count])
                p->rule_count++;
}

/* The next run also depends on cordon's own programs: they may lie in a home directory. Read from the host,
 * not kept. */
static bool programs_below(const struct cordon_context *cx, const char *door, char *ret, size_t cap)
{
        static const char *const names[] = { EGRESS_PROGRAM, "cordon-ledger", VAULT_PROGRAM,
                                             "cordon-review" };
        char path[PATH_MAX], file[PATH_MAX];
        struct err none;

        if (host_self(path, sizeof path) && realpath(path, file) && path_under(file, door)) {
                (void) snprintf(ret, cap, "%s", file);
                return true;
        }

        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (host_program(cx, names[i], path, sizeof path, &none) == 0 && realpath(path, file) &&
                    path_under(file, door)) {
                        (void) snprintf(ret, cap, "%s", file);
                        return true;
                }

        return false;
}

bool api_rules_below(void *ctx, const char *path, char *ret, size_t cap)
{
        const cordon_policy *p = ctx;
        char door[PATH_MAX], file[PATH_MAX], named[PATH_MAX], config[PATH_MAX];
        if (!realpath(path, door))
                return false;

        bool held = api_config_path(p, named, sizeof named) == 0 && realpath(named, config);
        for (unsigned i = 0; i < p->rule_count; i++)
                if (realpath(p->rules[i], file) && path_under(file, door) &&
                    !(held && path_under(file, config))) { /* those no door changes */
                        (void) snprintf(ret, cap, "%s", p->rules[i]);
                        return true;
                }

        return programs_below(p->cx, door, ret, cap);
}

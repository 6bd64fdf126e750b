/* SPDX-License-Identifier: MIT */
/* face/cli/ledgers.c - `--from DIR`, once per host: queries of several ledgers at once. */
#include "face/cli/cli.h"

#include <string.h>

int cli_ledgers_add(struct cli_ledgers *l, const char *dir)
{
        enum { MOST = sizeof l->dirs / sizeof *l->dirs };
        if (l->count == MOST)
                return cli_usage("up to %d ledgers can be read at once", (int) MOST), -1;

        l->dirs[l->count++] = dir;
        return 0;
}

/* The query of the given ones, or of the user's own. */
char *cli_ledgers_log(const struct cli_ledgers *l, cordon_log_view view, const char *arg, cordon_error *e)
{
        if (l->count == 0)
                return cordon_log(cli_context(), view, arg, e);
        cordon_ledgers *all = cordon_ledgers_open(cli_context(), l->dirs, l->count, e);
        char *text = all ? cordon_ledgers_log(all, view, arg, e) : NULL;
        cordon_ledgers_free(all);
        return text;
}

char *cli_ledgers_trace(const struct cli_ledgers *l, const char *id, const struct cli_ways *w,
                        cordon_error *e)
{
        if (l->count == 0)
                return cordon_trace(cli_context(), id, w->back, w->forward, w->json, e);
        cordon_ledgers *all = cordon_ledgers_open(cli_context(), l->dirs, l->count, e);
        char *text = all ? cordon_ledgers_trace(all, id, w->back, w->forward, w->json, e) : NULL;
        cordon_ledgers_free(all);
        return text;
}

/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_collect.c - the ledgers of many hosts: `cordon ledger merge`, `cordon ledger collect`. */
#include "base/buf.h"
#include "face/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct many {
        struct cli_shared asked;
        const char *temporary, *kept;
        unsigned bad;
};

const struct cli_option merge_options[] = {
        { "temporary", 0, "DIR", "where to sort, on a disk (default: $TMPDIR or /var/tmp)",
          CLI_TEXT(struct many, temporary) },
        { 0 },
};

const struct cli_option collect_options[] = {
        { "kept", 0, "DIR", "the checkpoints, a file for each host", CLI_TEXT(struct many, kept) },
        { 0 },
};

static int put(void *ctx, const char *json, size_t len) { return fwrite(json, 1, len, ctx) == len ? 0 : -1; }

int verb_merge(int argc, char **argv)
{
        struct many m = { 0 };
        cordon_error e = { 0 };
        cordon_merged sum;
        int at = cli_take(argc, argv, &m);
        if (at < 0)
                return EXIT_CORDON;

        const char *place = getenv("TMPDIR");
        if (m.temporary || !place || place[0] != '/')
                place = m.temporary ? m.temporary : "/var/tmp";

        (void) setvbuf(stdout, NULL, _IOFBF, 1 << 18);
        if (cordon_ledgers_merge(cli_context(), (const char *const *) argv + at, (size_t) (argc - at), place,
                                 put, stdout, &sum, &e) < 0)
                return cli_error(&e);

        if (fflush(stdout) != 0)
                return cli_problem("the merged records cannot be written");

        cli_note("%llu records of %llu ledgers; %llu causes in another ledger, %llu in none, %llu in circles",
                 (unsigned long long) sum.records, (unsigned long long) sum.ledgers,
                 (unsigned long long) sum.across, (unsigned long long) sum.lost,
                 (unsigned long long) sum.circles);
        return 0;
}

static void say_host(void *ctx, const cordon_collected *c)
{
        struct many *m = ctx;
        AUTO_BUF(out);
        bool fits = strcmp(c->verdict, "fits") == 0;
        m->bad += !fits;
        if (m->asked.json) {
                buf_puts(&out, "{\"host\":");
                buf_json(&out, span_str(c->host));
                buf_member(&out, "verdict", c->verdict);
                buf_printf(&out, ",\"records\":%llu,\"added\":%llu", (unsigned long long) c->records,
                           (unsigned long long) c->added);
                buf_member(&out, "why", c->why);
                buf_member(&out, "ledger", c->ledger);
                buf_putc(&out, '}');
        } else if (fits)
                buf_printf(&out, "%s: %llu records, %llu new, in %s", c->host,
                           (unsigned long long) c->records, (unsigned long long) c->added, c->ledger);
        else
                buf_printf(&out, "%s: %s: %s", c->host, c->verdict, c->why);

        (void) puts(buf_str(&out));
}

int verb_collect(int argc, char **argv)
{
        struct many m = { 0 };
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, &m);
        if (at < 0)
                return EXIT_CORDON;

        if (!m.kept || at == argc)
                return cli_usage("which ledgers, and where are their checkpoints kept? For example: cordon "
                                 "ledger collect --kept checkpoints ledgers/*");

        if (cordon_ledgers_collect(cli_context(), m.kept, (const char *const *) argv + at,
                                   (size_t) (argc - at), say_host, &m, &e) < 0)
                return cli_error(&e);

        if (fflush(stdout) != 0)
                return cli_problem("the result cannot be written");

        if (m.bad > 0)
                cli_note("%u of %d ledgers do not match their kept checkpoints", m.bad, argc - at);

        return m.bad > 0;
}

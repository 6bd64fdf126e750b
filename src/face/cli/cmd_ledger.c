/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_ledger.c - `cordon ledger`: follows, filters and queries the records. */
#include "base/clock.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct log {
        struct cli_shared asked;
        cordon_log_filter filter;
        const char *format, *to;
        int64_t before_us;
        bool follow;
        size_t seen;
        char run[64]; /* that `show` names */
};

/* Empty output would read as "none happened". A ledger of a later version may have more kinds, so it is
 * queried anyway. */
static void note_kind(const char *kind)
{
        static const struct {
                const char *typed, *why;
        } others[] = { { "approval", "approvals are of the kind `gate`" },
                       { "approvals", "approvals are of the kind `gate`" },
                       { "approve", "approvals are of the kind `gate`" },
                       { "ask", "approvals are of the kind `gate`" },
                       { "sign", "uses of keys are of the kind `credential`" },
                       { "decrypt", "uses of keys are of the kind `credential`" } };
        const char *why = "`man cordon-ledger` lists them";
        for (size_t i = 0; cli_ledger_kinds[i]; i++)
                if (strcmp(kind, cli_ledger_kinds[i]) == 0)
                        return;

        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
                if (strcmp(kind, others[i].typed) == 0)
                        why = others[i].why;

        cli_note("note: this version writes no records of the kind `%s`; %s", kind, why);
}

const struct cli_option ledger_options[] = {
        { "follow", 'f', NULL, "print new output as it is written", CLI_FLAG(struct log, follow),
          LEDGER_LIST | LEDGER_EXPORT },
        { "run", 0, "RUN", "only this run, or runs that begin so", CLI_ONCE(struct log, filter.run),
          LEDGER_LIST | LEDGER_EXPORT },
        { "kind", 0, "KIND", "only file, exec, net, request ..., or a phase: denied, intent ...",
          CLI_ONCE(struct log, filter.kind) },
        { "target", 0, "TEXT", "only with this in the target", CLI_ONCE(struct log, filter.target),
          LEDGER_LIST | LEDGER_EXPORT },
        { "job", 0, "JOB", "only runs of a batch job, by its id or its array's: 4711, 4711_3",
          CLI_ONCE(struct log, filter.job), LEDGER_LIST | LEDGER_EXPORT },
        { "format", 0, "jsonl|otlp|otlp-traces|ocsf|alerts|prometheus", "(default: jsonl)",
          CLI_ONCE(struct log, format), LEDGER_EXPORT },
        { "to", 0, "URL", "send it there, or to the URL that a file holds; with -f as it is written",
          CLI_ONCE(struct log, to), LEDGER_EXPORT },
        { "older", 0, "TIME", "what is older", CLI_TIME(struct log, before_us), LEDGER_PRUNE },
        { 0 },
};

/* The options of a verb with filters. Returns the index of its first word, or -1. */
static int take_filters(int argc, char **argv, struct log *l)
{
        int at = cli_take(argc, argv, l);
        l->filter.box = l->asked.box;
        l->filter.since_us = l->asked.since_us;
        l->filter.last = l->asked.last;
        if (at >= 0 && l->filter.kind)
                note_kind(l->filter.kind);
        return at;
}

static void print_record(void *ctx, const char *json, const char *line)
{
        struct log *l = ctx;
        l->seen++;
        (void) puts(l->asked.json ? json : line);
}

static int list_several(struct log *l)
{
        cordon_error e = { 0 };
        if (l->follow)
                return cli_usage("--follow works only with your own ledger");

        cordon_ledgers *all =
                cordon_ledgers_open(cli_context(), l->asked.from, cli_list_count(l->asked.from), &e);
        int r = all ? cordon_ledgers_each(all, &l->filter, print_record, l, &e) : -1;
        cordon_ledgers_free(all);
        return r < 0 ? cli_error(&e) : 0;
}

static int list_own(struct log *l)
{
        cordon_error e = { 0 };
        uint64_t cursor = 0;
        struct timespec tick = { 0, 200000000 };
        for (;;) {
                if (cordon_log_each(cli_context(), &l->filter, &cursor, print_record, l, &e) < 0)
                        return cli_error(&e);
                if (!l->follow)
                        return 0;
                if (fflush(stdout) != 0)
                        return EXIT_CORDON;
                (void) nanosleep(&tick, NULL);
        }
}

static int list(struct log *l)
{
        int status = l->asked.from[0] ? list_several(l) : list_own(l);
        if (status == 0 && l->seen == 0) /* a mistyped name looks the same */
                cli_note("note: no matching records");

        return status;
}

int verb_ledger(int argc, char **argv)
{
        struct log l = { 0 };
        return take_filters(argc, argv, &l) < 0 ? EXIT_CORDON : list(&l);
}

/* As JSON, the records of the run that the graph would show: its first line names it. */
int verb_ledger_show(int argc, char **argv)
{
        struct log l = { 0 };
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, &l);
        if (at < 0)
                return EXIT_CORDON;

        char *picture = cli_ledgers_log(l.asked.from, CORDON_LOG_SHOW, at < argc ? argv[at] : "", &e);
        if (!picture || !l.asked.json)
                return cli_give(picture, &e);

        bool named = sscanf(picture, "run %63s", l.run) == 1;
        cordon_free(picture);
        l.filter.run = l.run;
        return named ? list(&l) : 0;
}

/* ---- views of the library ---- */

static int view(int argc, char **argv, cordon_log_view text, cordon_log_view json)
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, &o);
        return at < 0 ? EXIT_CORDON
                      : cli_give(cli_ledgers_log(o.from, o.json ? json : text, at < argc ? argv[at] : "", &e),
                                 &e);
}

#define VIEW(name, text, json)                                                                               \
        int verb_ledger_##name(int argc, char **argv)                                                        \
        {                                                                                                    \
                return view(argc, argv, CORDON_LOG_##text, CORDON_LOG_##json);                               \
        }
VIEW(target, FIELD, FIELD_JSON)
VIEW(reach, REACHED, REACHED_JSON)
VIEW(proof, PROOF, PROOF)
VIEW(checkpoint, CHECKPOINT, CHECKPOINT)
VIEW(keys, KEYS, KEYS)
VIEW(tiles, TILES, TILES)

/* Lists tools of the last 90 days, the period an audit uses. */
int verb_ledger_tools(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        if (cli_take(argc, argv, &o) < 0)
                return EXIT_CORDON;

        if (o.since_us == 0)
                (void) cli_time("90d", &o.since_us);

        return cli_give(cordon_log_tools(cli_context(), o.since_us, o.json, &e), &e);
}

int verb_ledger_health(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        int failing = 0;
        if (cli_take(argc, argv, &o) < 0)
                return EXIT_CORDON;

        if (o.since_us == 0)
                (void) cli_time("30d", &o.since_us);

        int status = cli_give(cordon_layers(cli_context(), o.since_us, o.json, &failing, &e), &e);
        return status ? status : failing != 0;
}

/* ---- export, and changes of the ledger ---- */

int verb_ledger_export(int argc, char **argv)
{
        struct log l = { 0 };
        if (take_filters(argc, argv, &l) < 0)
                return EXIT_CORDON;

        if (l.follow && l.filter.since_us == 0)
                (void) cli_time("0s", &l.filter.since_us);

        return cli_log_export(&(struct cli_export){ .format = l.format ? l.format : "jsonl",
                                                    .to = l.to,
                                                    .filter = &l.filter,
                                                    .follow = l.follow });
}

int verb_ledger_prune(int argc, char **argv)
{
        struct log l = { 0 };
        cordon_error e = { 0 };
        uint64_t n = 0;
        if (take_filters(argc, argv, &l) < 0)
                return EXIT_CORDON;

        if (l.before_us == 0)
                return cli_usage("--older is required, for example: cordon ledger prune --older 30d");

        if (cordon_log_prune(cli_context(), l.filter.kind, l.before_us, &n, &e) < 0)
                return cli_error(&e);

        return printf("%llu payloads removed; their hashes stay\n", (unsigned long long) n) < 0 ? EXIT_CORDON
                                                                                                : 0;
}

int verb_ledger_rotate(int argc, char **argv)
{
        cordon_error e = { 0 };
        if (cli_take(argc, argv, NULL) < 0)
                return EXIT_CORDON;

        return cordon_log_rotate(cli_context(), &e) < 0
                       ? cli_error(&e)
                       : cli_give(cordon_log(cli_context(), CORDON_LOG_KEYS, NULL, &e), &e);
}

int verb_ledger_restart(int argc, char **argv)
{
        cordon_error e = { 0 };
        return cli_take(argc, argv, NULL) < 0 ? EXIT_CORDON
                                              : cli_give(cordon_log_restart(cli_context(), &e), &e);
}

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
        cordon_log_filter filter;
        struct cli_ledgers ledgers;
        const char *format, *to;
        int64_t before_us;
        bool json, follow;
        size_t seen;
        char run[64]; /* that `show` names */
};

enum { LAST_MAX = 1000000 };

static int set_once(const char **field, const char *name, const char *value)
{
        if (*field)
                return cli_usage("--%s is given twice", name), -1;
        *field = value;
        return 0;
}

#define TEXT_SETTER(name, field)                                                                             \
        static int set_##name(void *ctx, const char *value)                                                  \
        {                                                                                                    \
                return set_once(&((struct log *) ctx)->field, #name, value);                                 \
        }
TEXT_SETTER(box, filter.box)
TEXT_SETTER(run, filter.run)
TEXT_SETTER(target, filter.target)
TEXT_SETTER(job, filter.job)
TEXT_SETTER(format, format)
TEXT_SETTER(to, to)

/* Empty output would read as "none happened". A ledger of a later version may have more kinds, so it is
 * queried anyway. */
static int set_kind(void *ctx, const char *value)
{
        bool is_known = false;
        for (size_t i = 0; cli_ledger_kinds[i]; i++)
                is_known |= strcmp(value, cli_ledger_kinds[i]) == 0;

        if (!is_known && (strncmp(value, "appro", 5) == 0 || strcmp(value, "ask") == 0))
                cli_note("note: this version writes no records of the kind `%s`; approvals are of the kind "
                         "`gate`",
                         value);
        else if (!is_known && (strcmp(value, "sign") == 0 || strcmp(value, "decrypt") == 0))
                cli_note(
                        "note: this version writes no records of the kind `%s`; uses of keys are of the kind "
                        "`credential`",
                        value);
        else if (!is_known)
                cli_note("note: this version writes no records of the kind `%s`; `man cordon-ledger` lists "
                         "them",
                         value);

        return set_once(&((struct log *) ctx)->filter.kind, "kind", value);
}

int cli_time(const char *text, int64_t *ret_us)
{
        uint64_t ms;
        struct tm tm = { 0 };
        int64_t now_us = clock_wall_s() * 1000000;

        if (str_to_ms(span_str(text), &ms) == 0) {
                *ret_us = ms > INT64_MAX / 1000 ? 0 : now_us - (int64_t) ms * 1000;
                return 0;
        }

        const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
        if (!end) {
                tm = (struct tm){ 0 };
                end = strptime(text, "%Y-%m-%d", &tm);
        }

        if (!end || (*end && strcmp(end, "Z") != 0))
                return cli_usage("%s is not a time: 90s, 2h, 7d, 2026-11-15 or 2026-11-15T08:00:00 (UTC)",
                                 text),
                       -1;

        *ret_us = (int64_t) timegm(&tm) * 1000000;
        return 0;
}

static int set_since(void *ctx, const char *value)
{
        return cli_time(value, &((struct log *) ctx)->filter.since_us);
}

static int set_older(void *ctx, const char *value)
{
        return cli_time(value, &((struct log *) ctx)->before_us);
}

static int set_last(void *ctx, const char *value)
{
        long n = 0;
        int r = cli_number("--last", value, 1, LAST_MAX, &n);
        ((struct log *) ctx)->filter.last = (uint64_t) n;
        return r;
}

static int set_ledger(void *ctx, const char *value)
{
        return cli_ledgers_add(&((struct log *) ctx)->ledgers, value);
}

enum { FILTERED = LEDGER_LIST | LEDGER_EXPORT };

const struct cli_option ledger_options[] = {
        { "follow", 'f', NULL, "print new output as it is written", CLI_FLAG(struct log, follow), FILTERED },
        { "box", 0, "NAME", "only boxes with this name", set_box, 0, FILTERED },
        { "run", 0, "RUN", "only this run, or runs that begin so", set_run, 0, FILTERED },
        { "kind", 0, "KIND", "only file, exec, net, request ..., or a phase: denied, intent ...", set_kind, 0,
          FILTERED | LEDGER_PRUNE },
        { "target", 0, "TEXT", "only with this in the target", set_target, 0, FILTERED },
        { "job", 0, "JOB", "only runs of a batch job, by its id or its array's: 4711, 4711_3", set_job, 0,
          FILTERED },
        { "since", 0, "TIME", "only records since this time: 90s, 2h, 7d or a date", set_since, 0,
          FILTERED | LEDGER_TOOLS | LEDGER_HEALTH },
        { "last", 'n', "N", "only the newest N", set_last, 0, FILTERED },
        { "from", 0, "DIR", "read this ledger (repeatable)", set_ledger, 0,
          LEDGER_LIST | LEDGER_SHOW | LEDGER_TARGET | LEDGER_REACH },
        { "format", 0, "jsonl|otlp|otlp-traces|ocsf|alerts|prometheus", "(default: jsonl)", set_format, 0,
          LEDGER_EXPORT },
        { "to", 0, "URL", "send it there, or to the URL that a file holds; with -f as it is written", set_to,
          0, LEDGER_EXPORT },
        { "older", 0, "TIME", "what is older", set_older, 0, LEDGER_PRUNE },
        { "json", 0, NULL, "print JSON", CLI_FLAG(struct log, json),
          LEDGER_LIST | LEDGER_SHOW | LEDGER_TARGET | LEDGER_REACH | LEDGER_TOOLS | LEDGER_HEALTH },
        { 0 },
};

static void print_record(void *ctx, const char *json, const char *line)
{
        struct log *l = ctx;
        l->seen++;
        (void) puts(l->json ? json : line);
}

static int list_several(struct log *l)
{
        cordon_error e = { 0 };
        if (l->follow)
                return cli_usage("--follow works only with your own ledger");

        cordon_ledgers *all = cordon_ledgers_open(cli_context(), l->ledgers.dirs, l->ledgers.count, &e);
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

static int do_list(struct log *l, const char *arg)
{
        (void) arg;
        int status = l->ledgers.count > 0 ? list_several(l) : list_own(l);
        if (status == 0 && l->seen == 0) /* a mistyped name looks the same */
                cli_note("note: no matching records");

        return status;
}

/* ---- queries ---- */

static int view(const struct log *l, cordon_log_view v, const char *arg)
{
        cordon_error e = { 0 };
        return cli_give(cli_ledgers_log(&l->ledgers, v, arg, &e), &e);
}

/* As JSON, the records of the run that the graph would show: its first line names it. */
static int do_show(struct log *l, const char *arg)
{
        cordon_error e = { 0 };
        char *picture = cli_ledgers_log(&l->ledgers, CORDON_LOG_SHOW, arg, &e);
        if (!picture || !l->json)
                return cli_give(picture, &e);

        bool named = sscanf(picture, "run %63s", l->run) == 1;
        cordon_free(picture);
        l->filter.run = l->run;
        return named ? do_list(l, arg) : 0;
}

/* The views of the library, with the one that is JSON. */
static int do_view(struct log *l, const char *arg)
{
        static const struct {
                unsigned part;
                cordon_log_view text, json;
        } views[] = {
                { LEDGER_TARGET, CORDON_LOG_FIELD, CORDON_LOG_FIELD_JSON },
                { LEDGER_REACH, CORDON_LOG_REACHED, CORDON_LOG_REACHED_JSON },
                { LEDGER_PROOF, CORDON_LOG_PROOF, CORDON_LOG_PROOF },
                { LEDGER_CHECKPOINT, CORDON_LOG_CHECKPOINT, CORDON_LOG_CHECKPOINT },
                { LEDGER_KEYS, CORDON_LOG_KEYS, CORDON_LOG_KEYS },
                { LEDGER_TILES, CORDON_LOG_TILES, CORDON_LOG_TILES },
        };
        size_t i = 0;
        while (views[i].part != cli_verb_now()->part)
                i++;

        return view(l, l->json ? views[i].json : views[i].text, arg);
}

static int do_export(struct log *l, const char *arg)
{
        (void) arg;
        if (l->follow && l->filter.since_us == 0)
                (void) cli_time("0s", &l->filter.since_us);
        return cli_log_export(&(struct cli_export){ .format = l->format ? l->format : "jsonl",
                                                    .to = l->to,
                                                    .filter = &l->filter,
                                                    .follow = l->follow });
}

/* Lists tools of the last 90 days, the period an audit uses. */
static int do_tools(struct log *l, const char *arg)
{
        cordon_error e = { 0 };
        (void) arg;
        if (l->filter.since_us == 0)
                (void) cli_time("90d", &l->filter.since_us);
        return cli_give(cordon_log_tools(cli_context(), l->filter.since_us, l->json, &e), &e);
}

static int do_health(struct log *l, const char *arg)
{
        cordon_error e = { 0 };
        int failing = 0;
        (void) arg;
        if (l->filter.since_us == 0)
                (void) cli_time("30d", &l->filter.since_us);

        int status = cli_give(cordon_layers(cli_context(), l->filter.since_us, l->json, &failing, &e), &e);
        return status ? status : failing != 0;
}

static int do_prune(struct log *l, const char *arg)
{
        cordon_error e = { 0 };
        uint64_t n = 0;
        (void) arg;
        if (l->before_us == 0)
                return cli_usage("--older is required, for example: cordon ledger prune --older 30d");

        if (cordon_log_prune(cli_context(), l->filter.kind, l->before_us, &n, &e) < 0)
                return cli_error(&e);

        return printf("%llu payloads removed; their hashes stay\n", (unsigned long long) n) < 0 ? EXIT_CORDON
                                                                                                : 0;
}

static int do_rotate(struct log *l, const char *arg)
{
        cordon_error e = { 0 };
        (void) arg;
        return cordon_log_rotate(cli_context(), &e) < 0 ? cli_error(&e) : view(l, CORDON_LOG_KEYS, NULL);
}

static int do_restart(struct log *l, const char *arg)
{
        cordon_error e = { 0 };
        (void) l;
        (void) arg;
        return cli_give(cordon_log_restart(cli_context(), &e), &e);
}

int verb_ledger(int argc, char **argv)
{
        static const struct {
                unsigned part;
                int least, most;
                int (*run)(struct log *l, const char *arg);
        } rows[] = {
                { LEDGER_LIST, 0, 0, do_list },     { LEDGER_SHOW, 0, 1, do_show },
                { LEDGER_TARGET, 1, 1, do_view },   { LEDGER_REACH, 0, 0, do_view },
                { LEDGER_TOOLS, 0, 0, do_tools },   { LEDGER_HEALTH, 0, 0, do_health },
                { LEDGER_PROOF, 1, 1, do_view },    { LEDGER_CHECKPOINT, 0, 0, do_view },
                { LEDGER_KEYS, 0, 0, do_view },     { LEDGER_EXPORT, 0, 0, do_export },
                { LEDGER_PRUNE, 0, 0, do_prune },   { LEDGER_TILES, 1, 1, do_view },
                { LEDGER_ROTATE, 0, 0, do_rotate }, { LEDGER_RESTART, 0, 0, do_restart },
        };
        struct log l = { 0 };
        size_t i = 0;
        while (rows[i].part != cli_verb_now()->part)
                i++;

        int at = cli_take(argc, argv, &l, rows[i].least, rows[i].most);
        return at < 0 ? EXIT_CORDON : rows[i].run(&l, at < argc ? argv[at] : "");
}

/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_log.c - `cordon log`: follows, filters and queries the records. */
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
                cli_note("note: this version writes no records of the kind `%s`; `man cordon-log` lists them",
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

const struct cli_option log_options[] = {
        { "follow", 'f', NULL, "go on with what is written from now on", CLI_FLAG(struct log, follow) },
        { "box", 0, "NAME", "of boxes with this name", set_box },
        { "run", 0, "RUN", "of this run, or of runs that begin so", set_run },
        { "kind", 0, "KIND", "file, exec, net, request ..., or a phase: denied, intent ...", set_kind },
        { "target", 0, "TEXT", "with this in the target", set_target },
        { "job", 0, "JOB", "of a batch job's runs, by its id or its array's: 4711, 4711_3", set_job },
        { "since", 0, "TIME", "not older: 90s, 2h, 7d, or a date", set_since },
        { "last", 'n', "N", "only the newest N", set_last },
        { "json", 0, NULL, "the records themselves, one a line", CLI_FLAG(struct log, json) },
        { "ledger", 0, "DIR", "read this ledger instead; repeated, several as one", set_ledger },
        { "format", 0, "jsonl|otlp|otlp-traces|ocsf|alerts|prometheus", "export: how (default: jsonl)",
          set_format },
        { "to", 0, "URL", "export: send it there, or to the URL that a file holds; with -f as it is written",
          set_to },
        { "older", 0, "TIME", "prune: what is older", set_older },
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
                return cli_usage(
                        "--follow is for one's own ledger: what another host writes later may belong before "
                        "what was shown");

        cordon_ledgers *all = cordon_ledgers_open(cli_context(), l->ledgers.dirs, l->ledgers.count, &e);
        int r = all ? cordon_ledgers_each(all, &l->filter, print_record, l, &e) : -1;
        cordon_ledgers_free(all);
        return r < 0 ? cli_error(&e) : 0;
}

static int list(struct log *l)
{
        if (l->ledgers.count > 0)
                return list_several(l);

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
        char run[64];
        if (!l->json)
                return view(l, CORDON_LOG_SHOW, arg);

        char *picture = cli_ledgers_log(&l->ledgers, CORDON_LOG_SHOW, arg, &e);
        if (!picture)
                return cli_error(&e);

        bool named = sscanf(picture, "run %63s", run) == 1;
        cordon_free(picture);
        if (!named) /* no run: nothing to list */
                return 0;

        l->filter.run = run;
        int r = list(l);
        l->filter.run = NULL;
        return r;
}

static int do_field(struct log *l, const char *arg)
{
        return view(l, l->json ? CORDON_LOG_FIELD_JSON : CORDON_LOG_FIELD, arg);
}

static int do_reached(struct log *l, const char *arg)
{
        (void) arg;
        return view(l, l->json ? CORDON_LOG_REACHED_JSON : CORDON_LOG_REACHED, NULL);
}

static int do_proof(struct log *l, const char *arg) { return view(l, CORDON_LOG_PROOF, arg); }

static int do_checkpoint(struct log *l, const char *arg)
{
        (void) arg;
        return view(l, CORDON_LOG_CHECKPOINT, NULL);
}

static int do_keys(struct log *l, const char *arg)
{
        (void) arg;
        return view(l, CORDON_LOG_KEYS, NULL);
}

static int do_tiles(struct log *l, const char *arg) { return view(l, CORDON_LOG_TILES, arg); }

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

/* Of 90 days, as an audit looks at them. */
static int do_tools(struct log *l, const char *arg)
{
        cordon_error e = { 0 };
        (void) arg;
        if (l->filter.since_us == 0)
                (void) cli_time("90d", &l->filter.since_us);
        return cli_give(cordon_log_tools(cli_context(), l->filter.since_us, l->json, &e), &e);
}

static int do_prune(struct log *l, const char *arg)
{
        cordon_error e = { 0 };
        uint64_t n = 0;
        (void) arg;
        if (l->before_us == 0)
                return cli_usage("what is to go? for example: cordon log prune --older 30d --kind output");

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

/* The options that a query uses. Any other option is an error: a `prune` that ignored --box would remove
 * the records of every box. */
enum {
        OF = 1 << 0,
        KIND = 1 << 1,
        JSON = 1 << 2,
        FOLLOW = 1 << 3,
        FORMAT = 1 << 4,
        OLDER = 1 << 5,
        SINCE = 1 << 6
};
enum { OF_A_LIST = OF | KIND | JSON | FOLLOW };

/* The first given option that is not accepted, or NULL. */
static const char *not_taken(const struct log *l, unsigned takes)
{
        const struct {
                bool given;
                unsigned bit;
                const char *name;
        } all[] = {
                { l->filter.box, OF, "--box" },
                { l->filter.run, OF, "--run" },
                { l->filter.job, OF, "--job" },
                { l->filter.target, OF, "--target" },
                { l->filter.since_us != 0, OF | SINCE, "--since" },
                { l->filter.last != 0, OF, "--last" },
                { l->filter.kind, KIND, "--kind" },
                { l->json, JSON, "--json" },
                { l->follow, FOLLOW, "--follow" },
                { l->format, FORMAT, "--format" },
                { l->to, FORMAT, "--to" },
                { l->before_us != 0, OLDER, "--older" },
        };

        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                if (all[i].given && !(all[i].bit & takes))
                        return all[i].name;

        return NULL;
}

static const struct {
        const char *name, *arg; /* arg: its argument, for the message; "": optional; NULL: none */
        int (*run)(struct log *l, const char *arg);
        bool several; /* accepts more than one ledger */
        unsigned takes;
} questions[] = {
        { "show", "", do_show, true, JSON },
        { "field", "a target", do_field, true, JSON },
        { "reached", NULL, do_reached, true, JSON },
        { "tools", NULL, do_tools, false, SINCE | JSON },
        { "proof", "an id", do_proof, false, 0 },
        { "export", NULL, do_export, false, OF | KIND | FORMAT | FOLLOW },
        { "prune", NULL, do_prune, false, KIND | OLDER },
        { "checkpoint", NULL, do_checkpoint, false, 0 },
        { "keys", NULL, do_keys, false, 0 },
        { "tiles", "a directory", do_tiles, false, 0 },
        { "rotate", NULL, do_rotate, false, 0 },
        { "restart", NULL, do_restart, false, 0 },
};

static int unknown_question(const char *given)
{
        const char *best = NULL;

        for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
                str_nearer(given, questions[i].name, &best);

        cli_verb_nearer("log", given, &best);
        (void) cli_problem("unknown question `%.60s`", given);
        return best ? cli_hint("did you mean `cordon log %s`?", best)
                    : cli_hint("`cordon help log` lists the questions");
}

static int ask(struct log *l, int argc, char **argv)
{
        size_t n = sizeof questions / sizeof *questions, i = 0;
        while (i < n && strcmp(argv[0], questions[i].name) != 0)
                i++;

        if (i == n)
                return unknown_question(argv[0]);

        int given = argc - 1;
        bool may_miss = questions[i].arg && !questions[i].arg[0];
        if (may_miss && given > 1)
                return cli_usage("`cordon log %s` takes one argument", argv[0]);

        if (!may_miss && given != (questions[i].arg ? 1 : 0))
                return questions[i].arg ? cli_usage("`cordon log %s` needs %s", argv[0], questions[i].arg)
                                        : cli_usage("`cordon log %s` takes no argument", argv[0]);

        bool is_list = l->json && questions[i].run == do_show; /* its records, which can be filtered */
        const char *option = not_taken(l, is_list ? OF_A_LIST : questions[i].takes);
        if (option)
                return cli_usage("`cordon log %s` takes no %s", argv[0], option);

        if (l->ledgers.count > 0 && !questions[i].several)
                return cli_usage("`cordon log %s` is of one ledger: let CORDON_STATE name its directory",
                                 argv[0]);

        return questions[i].run(l, given > 0 ? argv[1] : "");
}

int verb_log(int argc, char **argv)
{
        struct log l = { 0 };
        cli_options_first(argc, argv, cli_verb_find("log")); /* also after a query and its argument */
        int at = cli_options(argc, argv, cli_verb_find("log"), &l, NULL);
        if (at < 0)
                return EXIT_CORDON;

        if (at < argc)
                return ask(&l, argc - at, argv + at);

        const char *option = not_taken(&l, OF_A_LIST);
        if (option)
                return cli_usage("%s goes with `cordon log %s`", option,
                                 l.format || l.to ? "export" : "prune");

        int status = list(&l);
        if (status == 0 && l.seen == 0) /* a mistyped name looks the same */
                cli_note("note: the ledger has no record that fits");

        return status;
}

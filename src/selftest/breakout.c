/* SPDX-License-Identifier: MIT */
/* selftest/breakout.c - `cordon selftest breakout`: every probe of the attack table against the user's own
 * box. Output of the box is hostile text: it is parsed strictly, and a probe without a result counts as
 * `cannot-tell`. */
#include "selftest/breakout.h"
#include "base/json.h"
#include "base/str.h"
#include "selftest/selftest.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20, WORDS = 32 };

/* The table's entry of one attempt. */
enum verdict {
        VERDICT_CANNOT_TELL = 0,
        VERDICT_HELD,
        VERDICT_GRANTED,
        VERDICT_NOT_PROMISED,
        VERDICT_ESCAPED,
        VERDICT__COUNT
};
static const char *const verdict_names[] = { "cannot-tell", "held", "granted", "not-promised", "ESCAPED" };
_Static_assert(sizeof verdict_names / sizeof *verdict_names == VERDICT__COUNT, "a name for each verdict");

struct attempt {
        const char *name, *cls, *success, *layers;
        enum verdict verdict;
        char layer[32], why[320];
};

struct breakout {
        cordon_policy *policy;
        cordon_box *box;
        cordon_box *around; /* the session that it is a run in; or NULL */
        struct canary canary;
        struct buf out;
        struct attempt rows[512 + 16];
        size_t count;
        unsigned totals[VERDICT__COUNT];
        const char *only;
        bool json, list, root, parked, session;
};

/* Signal handlers have no other way to end the box; the canaries are cleaned up after the loop ends. */
static volatile sig_atomic_t interrupted;
static void note_signal(int sig) { interrupted = sig; }

const struct cli_option breakout_options[] = {
        { "json", 0, NULL, "an array with one object per attempt", CLI_FLAG(struct breakout, json) },
        { "list", 0, NULL, "the attempts, and what success would mean; runs nothing",
          CLI_FLAG(struct breakout, list) },
        { "root", 0, NULL, "attack as uid 0 inside", CLI_FLAG(struct breakout, root) },
        { "parked", 0, NULL, "in a box that was parked first", CLI_FLAG(struct breakout, parked) },
        { "session", 0, NULL, "in a session that had a run before", CLI_FLAG(struct breakout, session) },
        { "only", 0, "NAME", "one attempt by its name", CLI_TEXT(struct breakout, only) },
        { 0 },
};

/* ---- the run ---- */

static void collect_output(void *ctx, int stream, const void *data, size_t len)
{
        struct breakout *b = ctx;

        /* The error stream has the messages of programs that attempts start: no verdict reads them. */
        if (stream == 1 && b->out.n + len <= OUTPUT_MAX)
                buf_add(&b->out, data, len);
}

static bool has_line(const struct breakout *b, const char *line)
{
        cordon_error e;
        char *lines = cordon_policy_view(b->policy, CORDON_VIEW_LINES, &e);
        bool has = lines && strstr(lines, line);
        cordon_free(lines);
        return has;
}

/* The box holds a python3 that was started before: the attempts are made in its process. */
static bool is_warm(const struct breakout *b) { return b->parked && has_line(b, "\nwarm python3"); }

static int set_command(struct breakout *b)
{
        char *words[WORDS] = { 0 };
        const char *argv[WORDS + 8] = { "python3", "-c",
                                        "import os, sys; os.execv(sys.argv[1], sys.argv[1:])" };
        char only[160];
        size_t n = probe_world_words(&b->canary.world, words, WORDS), at = is_warm(b) ? 3 : 0;
        argv[at++] = b->canary.world.self;
        argv[at++] = "__probe";

        for (size_t i = 0; i < n; i++)
                argv[at++] = words[i];

        (void) snprintf(only, sizeof only, "only=%s", b->only ? b->only : "");
        if (b->only)
                argv[at++] = only;

        argv[at] = NULL;
        int bad = cordon_box_command(b->box, argv);
        for (size_t i = 0; i < n; i++)
                free(words[i]);

        return bad;
}

static void catch_signals(void)
{
        static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
        for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
                (void) signal(caught[i], note_signal);
}

static int park_box(cordon_box *box, cordon_error *e)
{
        int r = cordon_box_park(box, e);
        while (r == 0 && !interrupted && !cordon_box_is_parked(box))
                if (cordon_box_wait(box, 200) != 0) {
                        *e = *cordon_box_result(box)->error;
                        r = -1;
                }
        return r;
}

/* Makes b->box a run in a session, after another one that left a process behind. */
static int enter_session(struct breakout *b, cordon_error *e)
{
        static const char *const first[] = { "/bin/sh", "-c", "sleep 1000 >/dev/null 2>&1 &", NULL };
        cordon_box *session = b->box;
        if (set_command(b) < 0 || cordon_box_set(session, CORDON_SINGLE_THREAD, "1") < 0 ||
            (b->root && cordon_box_set(session, CORDON_ROOT_INSIDE, "1") < 0))
                return cli_usage("the box cannot be set up");

        int r = cordon_session_start(session, e);
        while (r == 0 && !interrupted && !cordon_box_is_up(session))
                if (cordon_box_wait(session, 200) != 0) {
                        *e = *cordon_box_result(session)->error;
                        r = -1;
                }

        cordon_box *before = r == 0 ? cordon_session_run(session) : NULL;
        if (before && cordon_box_command(before, first) == 0 && (r = cordon_box_start(before, e)) == 0)
                while (!interrupted && cordon_box_wait(before, 200) == 0)
                        ;

        cordon_box_free(before);
        b->around = session;
        b->box = cordon_session_run(session);
        return r < 0 || !b->box ? cli_error(e) : 0;
}

static int run_box(struct breakout *b, cordon_error *e)
{
        int entered = b->session ? enter_session(b, e) : 0;
        if (entered)
                return entered;

        cordon_box_on_output(b->box, collect_output, b);
        if (set_command(b) < 0 || cordon_box_set(b->box, CORDON_SINGLE_THREAD, "1") < 0 ||
            (b->root && cordon_box_set(b->box, CORDON_ROOT_INSIDE, "1") < 0))
                return cli_usage("the box cannot be set up");

        if ((b->parked && park_box(b->box, e) < 0) || cordon_box_start(b->box, e) < 0)
                return cli_error(e);

        if (b->parked && strcmp(cordon_box_result(b->box)->start, is_warm(b) ? "warm" : "parked") != 0)
                return cli_problem("not in a parked box: %s", cordon_box_result(b->box)->start_why);

        while (!interrupted && cordon_box_wait(b->box, 200) == 0)
                ;

        return interrupted ? 128 + interrupted : 0;
}

/* ---- findings ---- */

/* A name in the box's private /tmp is allowed as well, but no file of the host has it: that is not a door. */
static bool door_grants(struct breakout *b, const char *effect)
{
        cordon_error e;
        int allowed = 0;
        char *text = effect[0] ? cordon_policy_why(b->policy, effect, 1, &allowed, &e) : NULL;
        struct err ignored;
        struct json_doc *answer = text ? json_parse("why", span_str(text), &ignored) : NULL;
        bool door = answer && allowed && !json_get(json_root(answer), "built_in");
        json_free(answer);
        cordon_free(text);
        return door;
}

static bool runs_any(const struct breakout *b) { return has_line(b, "\nrun any"); }

/* Runs of one session share its processes: the one that the first run left behind, and the spare of the next.
 * These probes take every process beside the prober for one of the host. */
static bool is_shared_in_session(const char *name)
{
        static const char *const shared[] = { "/proc shows no process that is not ours",
                                              "no process outside answers a signal",
                                              "no other process's environment" };
        return str_row(shared, sizeof shared / sizeof *shared, name) >= 0;
}

static enum verdict judge_probe(struct breakout *b, const struct probe *p, const struct json *line,
                                bool process_wall)
{
        const char *outcome = json_text(line, "outcome");
        if (strcmp(outcome, probe_outcome_name(PROBE_HELD)) == 0)
                return VERDICT_HELD;

        if (strcmp(outcome, probe_outcome_name(PROBE_ESCAPED)) != 0)
                return VERDICT_CANNOT_TELL;

        if (door_grants(b, json_text(line, "effect")))
                return VERDICT_GRANTED;

        bool promised = p->promise == PROMISED || (p->promise == NOT_BY_PROCESS_WALL && !process_wall) ||
                        (p->promise == NOT_WITH_RUN_ANY && !runs_any(b));
        promised = promised && !(b->session && is_shared_in_session(p->name));
        return promised ? VERDICT_ESCAPED : VERDICT_NOT_PROMISED;
}

static struct attempt *add_row(struct breakout *b, const char *name, const char *cls)
{
        struct attempt *a = &b->rows[b->count++];
        *a = (struct attempt){ .name = name, .cls = cls, .success = "", .layers = "" };
        return a;
}

static const struct json *find_line(struct json_doc *const *docs, size_t n, const char *name)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(json_text(json_root(docs[i]), "probe"), name) == 0)
                        return json_root(docs[i]);
        return NULL;
}

static size_t parse_lines(const struct buf *out, struct json_doc **ret_docs, size_t cap)
{
        struct err ignored;
        size_t n = 0;
        for (const char *p = buf_str(out), *end; n < cap && (end = strchr(p, '\n')); p = end + 1) {
                struct json_doc *d = json_parse("probe", span_of(p, (size_t) (end - p)), &ignored);
                if (d)
                        ret_docs[n++] = d;
        }

        return n;
}

static void fill_rows(struct breakout *b)
{
        static struct json_doc *docs[512];
        size_t n, heard = parse_lines(&b->out, docs, sizeof docs / sizeof docs[0]);
        const struct probe *const *all = probe_table(&n);
        bool process_wall = strcmp(cordon_box_result(b->box)->wall, "process") == 0;

        for (size_t i = 0; i < n; i++) {
                if (b->only && strcmp(all[i]->name, b->only) != 0)
                        continue;
                struct attempt *a = add_row(b, all[i]->name, probe_class_name(all[i]->cls));
                const struct json *line = find_line(docs, heard, all[i]->name);
                a->success = all[i]->success;
                a->layers = all[i]->layers;
                a->verdict = line ? judge_probe(b, all[i], line, process_wall) : VERDICT_CANNOT_TELL;
                (void) str_inert(
                        span_str(line ? json_text(line, "why") : "the box ended before it was tried"), a->why,
                        sizeof a->why);
                (void) str_inert(span_str(line ? json_text(line, "layer") : ""), a->layer, sizeof a->layer);
        }

        for (size_t i = 0; i < heard; i++)
                json_free(docs[i]);
}

static void add_check(void *ctx, const char *claim, const char *found, bool by_write)
{
        struct breakout *b = ctx;
        char effect[300];
        struct attempt *a = add_row(b, claim, "outside");

        a->success = "an effect crossed the wall unseen from inside";
        a->verdict = found ? VERDICT_ESCAPED : VERDICT_HELD;
        (void) snprintf(effect, sizeof effect, "write %s/secret", b->canary.world.dir);
        if (found && by_write && door_grants(b, effect))
                a->verdict = VERDICT_GRANTED;

        (void) snprintf(a->why, sizeof a->why, "%s", found ? found : "as it was");
}

/* ---- the table ---- */

static void put_json(const struct breakout *b, struct buf *o)
{
        for (size_t i = 0; i < b->count; i++) {
                const struct attempt *a = &b->rows[i];
                buf_puts(o, i ? ",\n {\"probe\":" : "[{\"probe\":");
                buf_json(o, span_str(a->name));
                buf_member(o, "class", a->cls);
                buf_member(o, "outcome", verdict_names[a->verdict]);
                buf_member(o, "layer", a->layer);
                buf_member(o, "reason", a->why);
                buf_member(o, "success_means", a->success);
                buf_member(o, "layers", a->layers);
                buf_putc(o, '}');
        }

        buf_puts(o, b->count ? "]\n" : "[]\n");
}

static void put_table(const struct breakout *b, struct buf *o)
{
        const char *cls = "";
        for (size_t i = 0; i < b->count; i++) {
                const struct attempt *a = &b->rows[i];
                if (strcmp(cls, a->cls) != 0)
                        buf_printf(o, "%s%s\n", i ? "\n" : "", cls = a->cls);
                buf_printf(o, "  %-12s %-58s %-13s %s\n", verdict_names[a->verdict], a->name, a->layer,
                           a->why);
        }

        const cordon_result *r = cordon_box_result(b->box);
        buf_printf(o, "\n%zu attempts on the %s wall: %u held, %u ESCAPED, %u cannot tell", b->count, r->wall,
                   b->totals[VERDICT_HELD], b->totals[VERDICT_ESCAPED], b->totals[VERDICT_CANNOT_TELL]);
        if (b->totals[VERDICT_GRANTED])
                buf_printf(o, ", %u granted by a door", b->totals[VERDICT_GRANTED]);

        if (b->totals[VERDICT_NOT_PROMISED])
                buf_printf(o, ", %u that no wall in use promises", b->totals[VERDICT_NOT_PROMISED]);

        buf_putc(o, '\n');
}

static int report_attempts(struct breakout *b)
{
        for (size_t i = 0; i < b->count; i++)
                b->totals[b->rows[i].verdict]++;

        AUTO_BUF(o);
        if (b->json)
                put_json(b, &o);
        else
                put_table(b, &o);

        int bad = cli_put(&o);
        return bad ? bad : b->totals[VERDICT_ESCAPED] ? 1 : 0;
}

static int list_probes(bool json)
{
        size_t n;
        const struct probe *const *all = probe_table(&n);
        AUTO_BUF(o);

        for (size_t i = 0; i < n; i++) {
                if (!json) {
                        buf_printf(&o, "%-12s %-58s %s\n", probe_class_name(all[i]->cls), all[i]->name,
                                   all[i]->success);
                        continue;
                }
                buf_puts(&o, i ? ",\n {\"probe\":" : "[{\"probe\":");
                buf_json(&o, span_str(all[i]->name));
                buf_member(&o, "class", probe_class_name(all[i]->cls));
                buf_member(&o, "success_means", all[i]->success);
                buf_member(&o, "layers", all[i]->layers);
                buf_putc(&o, '}');
        }

        if (json)
                buf_puts(&o, "]\n");

        return cli_put(&o);
}

/* An unknown name would be tried nowhere, and look as if it had held. */
static int unknown_attempt(const char *only)
{
        size_t n;
        const struct probe *const *all = probe_table(&n);
        const char *best = NULL;

        for (size_t i = 0; i < n; i++)
                if (strcmp(all[i]->name, only) == 0)
                        return 0;

        for (size_t i = 0; i < n; i++)
                str_nearer(only, all[i]->name, &best);

        (void) cli_problem("there is no attempt `%.160s`", only);
        return best ? cli_hint("did you mean `%s`?", best)
                    : cli_hint("`cordon selftest breakout --list` has their names");
}

static int attack_box(struct breakout *b)
{
        cordon_error e = { 0 };
        catch_signals(); /* first: a process that kills us finds nothing left of our files when we have ended
                          */
        if (canary_make(&b->canary) < 0) {
                canary_end(&b->canary);
                return cli_usage("the things to reach for cannot be made in $TMPDIR or /tmp");
        }

        int status = run_box(b, &e);
        if (status == 0) {
                fill_rows(b);
                canary_check(&b->canary, add_check, b);
        }

        canary_end(&b->canary);
        if (status != 0)
                return status;

        const cordon_result *r = cordon_box_result(b->box);
        if (r->error)
                return cli_error(r->error);

        return report_attempts(b);
}

int verb_breakout(int argc, char **argv)
{
        static struct breakout b;
        b.policy = cli_policy_new();
        b.box = b.policy ? cli_box_new(b.policy) : NULL;
        int at = b.box ? cli_options(argc, argv, cli_verb_find("selftest breakout"), &b, b.policy) : -1;
        int status = EXIT_CORDON;
        if (at >= 0 && at < argc)
                status = cli_usage("unexpected argument `%s`: the attempts are the command", argv[at]);
        else if (at >= 0 && b.only && unknown_attempt(b.only))
                status = EXIT_CORDON;
        else if (at >= 0)
                status = b.list ? list_probes(b.json) : attack_box(&b);

        cordon_box_free(b.box);
        cordon_box_free(b.around);
        cordon_policy_free(b.policy);
        buf_done(&b.out);
        return status;
}

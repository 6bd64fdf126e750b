/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_learn.c - `cordon learn` and `cordon policy tighten`: the policy on standard output,
 * everything else on standard error. */
#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POLICY_BYTES = 1 << 20 };

struct teach {
        struct cli_shared asked;
        cordon_learning l;
        const char *output, *policy;
        const char *network, *input;
        const char *net_to[CLI_LIST_MAX + 1], *with[CLI_LIST_MAX + 1], *read[CLI_LIST_MAX + 1];
        char paths[CLI_LIST_MAX][PATH_MAX];
        bool log, gpu;
        struct cli_progress progress;
};

static int take_net(void *ctx, const char *value)
{
        struct teach *t = ctx;
        size_t n = cli_list_count(t->net_to);
        bool way = strcmp(value, "deny") == 0 || strcmp(value, "mock") == 0 || strcmp(value, "ask") == 0;
        if (way || value[0] == '\0' || strpbrk(value, "/ *") || n == CLI_LIST_MAX)
                return cli_usage("--net takes a host or host:port, not %s%s", value,
                                 way ? "; --network takes that" : ""),
                       -1;

        t->net_to[n] = value;
        return 0;
}

/* ---- what the options mean ---- */

static int open_input(struct teach *t)
{
        t->l.input = cli_open_input("--input", t->input);
        if (t->l.input >= 0 && lseek(t->l.input, 0, SEEK_SET) < 0)
                return cli_usage("--input %s: each run reads it from its beginning, and this has none",
                                 t->input),
                       -1;

        return t->l.input < 0 ? -1 : 0;
}

/* As in a line, without their last slash. */
static int clean_paths(struct teach *t)
{
        char here[PATH_MAX] = "/";
        for (size_t i = 0; t->read[i]; i++) {
                if ((t->read[i][0] != '/' && !getcwd(here, sizeof here)) ||
                    !path_join(here, t->read[i], t->paths[i], sizeof t->paths[i]))
                        return cli_usage("--read %s: the path is too long", t->read[i]), -1;
                t->read[i] = t->paths[i];
        }

        return 0;
}

static cordon_learn_net network_of(const struct teach *t)
{
        if (t->network)
                return t->network[0] == 'd'   ? CORDON_LEARN_NET_DENY
                       : t->network[0] == 'm' ? CORDON_LEARN_NET_MOCK
                                              : CORDON_LEARN_NET_ASK;

        return t->l.answers   ? CORDON_LEARN_NET_MOCK
               : t->net_to[0] ? CORDON_LEARN_NET_ASK
                              : CORDON_LEARN_NET_DENY;
}

/* Only on the terminal: the command's input and output cannot answer. */
static int ask(void *ctx, const char *to, const char *what)
{
        char shown_to[300], shown[330];
        AUTO_BUF(about);
        AUTO_BUF(question);
        cli_progress_clear(ctx);
        buf_printf(&about, "cordon: %s\n", str_inert(span_str(what), shown, sizeof shown));
        buf_printf(&question, "cordon: let it reach %s for real, now and in every run of this learning?",
                   str_inert(span_str(to), shown_to, sizeof shown_to));
        return cli_ask(buf_str(&about), buf_str(&question)) > 0;
}

const struct cli_option learn_options[] = {
        { "policy", 'p', "POLICY", "the policy whose doors are tried", CLI_TEXT(struct teach, policy),
          TIGHTEN },
        { "log", 0, NULL, "close the doors that past runs in the ledger did not use",
          CLI_FLAG(struct teach, log), TIGHTEN },
        { "output", 'o', "FILE",
          "write the policy there, when it passes; never over another file (- is standard output)",
          CLI_TEXT(struct teach, output) },
        { "runs", 'n', "RUNS", "number of runs, or of past runs at least (default: 3)",
          CLI_COUNT(struct teach, l.runs, 1, 64) },
        { "read", 0, "PATH", "also learn PATH below your home, although a name in it begins with a dot",
          CLI_LIST(struct teach, read), LEARN },
        { "gpu", 0, NULL, "begin with the `gpu` door; without /dev/fuse its lack is not reported",
          CLI_FLAG(struct teach, gpu), LEARN },
        { "input", 'i', "FILE", "standard input of the command (default: empty)",
          CLI_TEXT(struct teach, input) },
        { "time", 0, "TIME", "time limit of each run (default: 60s)", CLI_SECONDS(struct teach, l.seconds) },
        { "max-runs", 0, "N", "stop after this many runs (default: 400)",
          CLI_COUNT(struct teach, l.boxes, 1, 100000) },
        { "network", 0, "deny|mock|ask", "how to treat the network (default: deny)",
          CLI_TEXT(struct teach, network) },
        { "net", 0, "HOST[:PORT]", "allow this host (repeatable)", CLI_CALL(take_net) },
        { "stage", 0, "live|test", "with ask: where places lead", CLI_TEXT(struct teach, l.stage) },
        { "answers", 0, "FILE", "mock, with these recorded exchanges", CLI_TEXT(struct teach, l.answers) },
        { "with", 0, "NAME", "give it a dummy of this credential; never the real one",
          CLI_LIST(struct teach, with) },
        { 0 },
};

/* ---- results ---- */

static void print_json(const cordon_learned *r)
{
        AUTO_BUF(out);
        buf_printf(&out,
                   "{\"passed\":%s,\"complete\":%s,\"runs\":%u,\"runs_passed\":%u,\"boxes\":%u,\"doors\":%u,"
                   "\"doors_before\":%u,\"policy\":",
                   r->passed ? "true" : "false", r->complete ? "true" : "false", r->runs, r->runs_passed,
                   r->boxes, r->doors, r->doors_before);
        buf_json(&out, span_str(r->policy));
        buf_member(&out, "closed", r->closed);
        buf_printf(&out, ",\"past_runs\":%u,\"past_observed\":%u,\"replayed\":%s,\"refused\":%s,\"last\":",
                   r->past_runs, r->past_observed, r->replayed ? "true" : "false", r->refused_json);
        buf_json(&out, span_str(r->passed ? "" : r->last));
        buf_puts(&out, "}\n");
        (void) fputs(buf_str(&out), stdout);
}

static void say_refused(const cordon_learned *r)
{
        if (r->refused[0])
                (void) fprintf(stderr, "cordon: not proposed, on purpose:\n%s", r->refused);

        if (!r->passed && r->refused_dot)
                (void) cli_hint(
                        "--read PATH agrees to one path below your home whose name begins with a dot");

        if (!r->passed && r->refused_net)
                (void) cli_hint("the network was closed: allow a host with --net HOST, ask for each with "
                                "--network ask, or replay with --answers FILE");
}

static void say_learned(const cordon_learned *r)
{
        if (r->passed)
                cli_note("%u boxes, %u of %u runs succeeded; %u door%s tried, %u needed; replayed%s",
                         r->boxes, r->runs_passed, r->runs, r->doors_before, r->doors_before == 1 ? "" : "s",
                         r->doors, r->complete ? "" : "; not every door was tried without");
        else
                cli_note("%u box%s, %u door%s seen", r->boxes, r->boxes == 1 ? "" : "es", r->doors_before,
                         r->doors_before == 1 ? "" : "s");
}

static int print_learned(const struct teach *t, const cordon_learned *r)
{
        bool here = !t->output || strcmp(t->output, "-") == 0;
        int status = 0;
        if (r->passed && !here)
                status = cli_new_file(t->output, 0644, span_str(r->policy),
                                      "what was learned is on standard output instead");

        if (t->asked.json)
                print_json(r);

        if (!r->passed && t->l.boxes > 0 && r->boxes >= t->l.boxes) {
                if (!t->asked.json) {
                        (void) fprintf(stderr, "cordon: no policy: it takes more than %u runs\n", r->boxes);
                        (void) cli_hint("raise --max-runs");
                }
                return 1;
        }

        if (!r->passed) {
                if (!t->asked.json)
                        (void) fprintf(stderr, "cordon: no policy: the command failed: %s", r->last);
                if (!t->asked.json && !r->refused_net && !r->refused_dot)
                        (void) cli_hint(
                                "%s", r->unobserved ? "this host cannot report blocked lookups, so only "
                                                      "files below the current directory and on the command "
                                                      "line were learned; see `fuse` in `cordon doctor`"
                                                    : "does it succeed outside a box? Set the expected exit "
                                                      "status with --status N, its input with --input FILE");
                return 1;
        }

        if ((here || status != 0) && !t->asked.json)
                (void) fputs(r->policy, stdout);

        return status;
}

/* One line that is overwritten on a terminal; with --verbose each stays. */
static void say_trying(void *ctx, const char *trying, size_t box, size_t total)
{
        struct teach *t = ctx;
        char line[80];
        (void) total;
        if (t->asked.verbose) {
                (void) fprintf(stderr, "cordon: box %zu: %s\n", box, trying);
                return;
        }

        (void) snprintf(line, sizeof line, "%.60s, box", trying);
        cli_progress(&t->progress, line, box, 0);
}

static int prepare(struct teach *t, int argc, char **argv)
{
        int at = cli_take(argc, argv, t);
        if (at < 0 || (t->input && open_input(t) < 0) || clean_paths(t) < 0)
                return -1;

        t->l.argv = at < argc ? (const char *const *) argv + at : NULL;
        t->l.places = t->asked.places;
        t->l.status = (int) t->asked.status;
        t->l.net = network_of(t);
        t->l.net_to = t->net_to[0] ? t->net_to : NULL;
        t->l.with = t->with[0] ? t->with : NULL;
        t->l.read = t->read[0] ? t->read : NULL;
        t->l.gpu = t->gpu;
        t->progress = cli_progress_begin();
        t->l.agree = ask;
        t->l.agree_ctx = &t->progress;
        t->l.progress_ctx = t;
        t->l.progress = say_trying;
        bool here = !t->output || strcmp(t->output, "-") == 0;

        /* Before anything runs: learning is useless if the policy cannot be written. */
        return !here && cli_new_file_may(t->output,
                                         "nothing was run; take another name, or none for standard output")
                       ? -1
                       : 0;
}

/* Adds lines that no run shows the need of. */
static void add_lines(cordon_learned *r, const char *lines)
{
        char *both;
        if (!r->policy || asprintf(&both, "%s%s", r->policy, lines) < 0)
                return;
        cordon_free(r->policy);
        r->policy = both;
}

int cli_learn(int argc, char **argv, const char *lines)
{
        struct teach t = { .l = { .input = -1 } };
        cordon_learned r;
        cordon_error e = { 0 };
        if (prepare(&t, argc, argv) < 0)
                return EXIT_CORDON;

        int learned = cordon_learn(cli_context(), &t.l, &r, &e);
        cli_progress_end(&t.progress);
        if (learned < 0)
                return cli_error(&e);

        add_lines(&r, lines);
        int status = print_learned(&t, &r);
        if (!t.asked.json) {
                say_refused(&r);
                say_learned(&r);
        }

        cordon_learned_done(&r);
        return status;
}

int verb_learn(int argc, char **argv) { return cli_learn(argc, argv, ""); }

char *cli_policy_text(const char *path, size_t *ret_len)
{
        const char *stock = cordon_stock_text(path);
        AUTO_FD(fd, stock ? -1 : cli_open_input(NULL, path));
        struct buf text = { 0 };
        if (!stock && fd < 0)
                return NULL;

        buf_puts(&text, stock ? stock : "");
        if (!stock && cli_read(fd, POLICY_BYTES, &text) < 0) {
                (void) cli_usage("%s: %s", path,
                                 errno == EFBIG ? "a policy file is limited to 1M" : strerror(errno));
                buf_done(&text);
                return NULL;
        }

        *ret_len = text.n;
        return text.p;
}

/* The basis of the proposal. */
static void say_evidence(const cordon_learned *r)
{
        cli_note("%u past runs under this policy, %u of them observed in full; %u doors, %u left%s",
                 r->past_runs, r->past_observed, r->doors_before, r->doors,
                 r->replayed ? ", replayed" : ", not replayed");
        if (r->past_observed < r->runs)
                cli_note("doors for files and programs are judged by %u runs with --observe all or more; "
                         "there are %u",
                         r->runs, r->past_observed);
}

static int tighten(struct teach *t)
{
        cordon_learned r = { 0 };
        cordon_error e = { 0 };
        int tightened = (t->log ? cordon_tighten_log : cordon_tighten)(cli_context(), &t->l, &r, &e);
        cli_progress_end(&t->progress);
        if (tightened < 0)
                return cli_error(&e);

        int status = print_learned(t, &r);
        if (!t->asked.json && r.passed) {
                for (char *line = r.closed, *end; *line; line = end + 1) {
                        end = strchr(line, '\n');
                        (void) fprintf(stderr, "cordon: not %s: %.*s\n", t->log ? "used" : "needed",
                                       (int) (end - line), line);
                }
                if (t->log)
                        say_evidence(&r);
                else
                        cli_note("%u boxes; %u doors, %u needed%s", r.boxes, r.doors_before, r.doors,
                                 r.complete ? "" : "; not every door was tried without");
                if (!t->log && !r.complete && t->l.net == CORDON_LEARN_NET_DENY && strstr(r.policy, "net "))
                        cli_note("net doors that the command uses lead nowhere here, and are kept: --network "
                                 "ask "
                                 "tries them, --log judges by past runs");
        }

        cordon_learned_done(&r);
        return status;
}

int verb_tighten(int argc, char **argv)
{
        struct teach t = { .l = { .input = -1 } };
        if (prepare(&t, argc, argv) < 0)
                return EXIT_CORDON;

        if (!t.l.argv && !t.log)
                return cli_usage("no command given; for example: cordon policy tighten -p task.cordon -- ls");

        if (!t.policy)
                return cli_usage(
                        "which policy? For example: cordon policy tighten -p task.cordon -- COMMAND");

        char *text = cli_policy_text(t.policy, &t.l.policy_len);
        if (!text)
                return EXIT_CORDON;

        t.l.policy = text;
        t.l.name = t.policy;
        int status = tighten(&t);
        free(text);
        return status;
}

/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_learn.c - `cordon learn` and `cordon policy tighten`: the policy on standard output,
 * everything else on standard error. */
#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { POLICY_BYTES = 1 << 20 };

struct teach {
        cordon_learning l;
        const char *output, *policy;
        const char *net_to[CLI_LIST_MAX + 1], *with[CLI_LIST_MAX + 1], *read[CLI_LIST_MAX + 1];
        char paths[CLI_LIST_MAX][PATH_MAX];
        bool json, log;
        struct cli_progress progress;
        bool verbose;
};

static int take_runs(void *ctx, const char *value)
{
        return cli_count("-n", value, 1, 64, &((struct teach *) ctx)->l.runs);
}

static int take_time(void *ctx, const char *value)
{
        return cli_seconds("--time", value, "30s", &((struct teach *) ctx)->l.seconds);
}

static int take_max_runs(void *ctx, const char *value)
{
        return cli_count("--max-runs", value, 1, 100000, &((struct teach *) ctx)->l.boxes);
}

static int take_status(void *ctx, const char *value)
{
        unsigned n = 0;
        int r = cli_count("--status", value, 0, 255, &n);
        ((struct teach *) ctx)->l.status = (int) n;
        return r;
}

static int take_input(void *ctx, const char *value)
{
        struct teach *t = ctx;
        t->l.input = cli_open_input("--input", value);
        if (t->l.input >= 0 && lseek(t->l.input, 0, SEEK_SET) < 0)
                return cli_usage("--input %s: each run reads it from its beginning, and this has none",
                                 value),
                       -1;

        if (t->l.input < 0)
                return -1;

        return 0;
}

/* ---- the network, and credentials ---- */

static int take_gpu(void *ctx, const char *value)
{
        (void) value;
        ((struct teach *) ctx)->l.gpu = 1;
        return 0;
}

static int take_network(void *ctx, const char *value)
{
        static const char *const names[] = { [CORDON_LEARN_NET_DENY] = "deny",
                                             [CORDON_LEARN_NET_MOCK] = "mock",
                                             [CORDON_LEARN_NET_ASK] = "ask" };
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
                if (strcmp(value, names[i]) == 0) {
                        ((struct teach *) ctx)->l.net = (cordon_learn_net) i;
                        return 0;
                }

        return cli_usage("--network takes deny, mock or ask, not %s", value), -1;
}

static int take_net(void *ctx, const char *value)
{
        struct teach *t = ctx;
        bool way = strcmp(value, "deny") == 0 || strcmp(value, "mock") == 0 || strcmp(value, "ask") == 0;
        if (way || value[0] == '\0' || strpbrk(value, "/ *"))
                return cli_usage("--net takes a host or host:port, not %s%s", value,
                                 way ? "; --network takes that" : ""),
                       -1;
        t->l.net = CORDON_LEARN_NET_ASK;
        t->l.net_to = t->net_to;
        return cli_list_add(t->net_to, "--net", value);
}

static int take_with(void *ctx, const char *value)
{
        struct teach *t = ctx;
        t->l.with = t->with;
        return cli_list_add(t->with, "--with", value);
}

/* As in a line, without its last slash. */
static int take_read(void *ctx, const char *value)
{
        struct teach *t = ctx;
        char here[PATH_MAX] = "/";
        size_t n = 0;

        while (t->read[n])
                n++;

        if (n == CLI_LIST_MAX)
                return cli_usage("--read can be given %d times", CLI_LIST_MAX), -1;

        if ((value[0] != '/' && !getcwd(here, sizeof here)) ||
            !path_join(here, value, t->paths[n], sizeof t->paths[n]))
                return cli_usage("--read %s: the path is too long", value), -1;

        t->read[n] = t->paths[n];
        t->l.read = t->read;
        return 0;
}

static int take_stage(void *ctx, const char *value)
{
        ((struct teach *) ctx)->l.stage = value;
        return strcmp(value, "live") == 0 || strcmp(value, "test") == 0
                       ? 0
                       : (cli_usage("--stage takes live or test, not %s; --network mock reaches nothing",
                                    value),
                          -1);
}

static int take_answers(void *ctx, const char *value)
{
        struct teach *t = ctx;
        t->l.answers = value;
        t->l.net = CORDON_LEARN_NET_MOCK;
        return 0;
}

/* Only on the terminal: the command's input and output cannot answer. */
static int ask(void *ctx, const char *to, const char *what)
{
        char answer[16] = "", shown_to[300], shown[330];
        cli_progress_clear(ctx);
        int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
        if (tty < 0)
                return 0;

        (void) str_inert(span_str(to), shown_to, sizeof shown_to);
        (void) str_inert(span_str(what), shown, sizeof shown);
        (void) tcflush(tty, TCIFLUSH); /* input typed before the question is discarded */
        (void) dprintf(
                tty,
                "cordon: %s\ncordon: let it reach %s for real, now and in every run of this learning? [y/N] ",
                shown, shown_to);
        ssize_t n = read(tty, answer, sizeof answer - 1);
        (void) close(tty);
        return n > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

#define SHARED                                                                                               \
        { "output", 'o', "FILE",                                                                             \
          "write the policy there, when it passes; never over another file (- is standard output)",          \
          CLI_TEXT(struct teach, output) },                                                                  \
                { "input", 'i', "FILE", "what the command reads on standard input (default: nothing)",       \
                  take_input },                                                                              \
                { "status", 0, "N", "the exit status that counts as passed (default: 0)", take_status },     \
                { "time", 0, "TIME", "time limit of each run (default: 60s)", take_time },                   \
                { "max-runs", 0, "N", "stop after this many runs (default: 400)", take_max_runs },           \
                { "network", 0, "deny|mock|ask", "how to treat the network (default: deny)", take_network }, \
                { "net", 0, "HOST[:PORT]", "allow this host (repeatable)", take_net },                       \
                { "stage", 0, "live|test", "with ask: where places lead", take_stage },                      \
                { "places", 0, "FILE", "where @name leads; hosts are proposed as places",                    \
                  CLI_TEXT(struct teach, l.places) },                                                        \
                { "answers", 0, "FILE", "mock, with these recorded exchanges", take_answers },               \
                { "with", 0, "NAME", "give it a dummy of this credential; never the real one", take_with },  \
                { "verbose", 'v', NULL, "print what each box tries", CLI_FLAG(struct teach, verbose) },      \
                { "json", 0, NULL, "for programs", CLI_FLAG(struct teach, json) },                           \
        {                                                                                                    \
                0                                                                                            \
        }

const struct cli_option learn_options[] = {
        { "runs", 'n', "RUNS", "learn it so often (default: 3)", take_runs },
        { "read", 0, "PATH",
          "this path below your home may be learned although a name in it begins with a dot", take_read },
        { "gpu", 0, NULL, "begin with the `gpu` door; without /dev/fuse its lack is not reported", take_gpu },
        SHARED
};
const struct cli_option tighten_options[] = {
        { "policy", 'p', "POLICY", "the policy whose doors are tried", CLI_TEXT(struct teach, policy) },
        { "log", 0, NULL, "close what past runs did not use, from the ledger", CLI_FLAG(struct teach, log) },
        { "runs", 'n', "RUNS",
          "prove the result so often; with --log, at least so many past runs (default: 3)", take_runs },
        SHARED,
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

        if (t->json)
                print_json(r);

        if (!r->passed) {
                if (!t->json)
                        (void) fprintf(stderr, "cordon: no policy: the command failed: %s", r->last);
                if (!t->json && !r->refused_net && !r->refused_dot)
                        (void) cli_hint(
                                "%s", r->unobserved ? "this host cannot report blocked lookups, so only "
                                                      "files below the current directory and on the command "
                                                      "line were learned; see `fuse` in `cordon doctor`"
                                                    : "does it succeed outside a box? Set the expected exit "
                                                      "status with --status N, its input with --input FILE");
                return 1;
        }

        if ((here || status != 0) && !t->json)
                (void) fputs(r->policy, stdout);

        return status;
}

/* One line that is overwritten on a terminal; with --verbose each stays. */
static void say_trying(void *ctx, const char *trying, size_t box, size_t total)
{
        struct teach *t = ctx;
        char line[80];
        (void) total;
        if (t->verbose) {
                (void) fprintf(stderr, "cordon: box %zu: %s\n", box, trying);
                return;
        }

        (void) snprintf(line, sizeof line, "%.60s, box", trying);
        cli_progress(&t->progress, line, box, 0);
}

static int prepare(struct teach *t, int argc, char **argv, const char *verb)
{
        int at = cli_options(argc, argv, cli_verb_find(verb), t, NULL);
        if (at >= 0 && at == argc && !t->log)
                return cli_usage("no command given; for example: cordon %s -- ls",
                                 strcmp(verb, "learn") != 0 ? "policy tighten -p task.cordon" : verb),
                       -1;

        if (at >= 0 && at < argc)
                t->l.argv = (const char *const *) argv + at;

        t->progress = cli_progress_begin();
        t->l.agree = ask;
        t->l.agree_ctx = &t->progress;
        t->l.progress_ctx = t;
        t->l.progress = say_trying;
        bool here = !t->output || strcmp(t->output, "-") == 0;

        /* Before anything runs: learning is useless if the policy cannot be written. */
        return at < 0 || (!here &&
                          cli_new_file_may(t->output,
                                           "nothing was run; take another name, or none for standard output"))
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
        if (prepare(&t, argc, argv, "learn") < 0)
                return EXIT_CORDON;

        int learned = cordon_learn(cli_context(), &t.l, &r, &e);
        cli_progress_end(&t.progress);
        if (learned < 0)
                return cli_error(&e);

        add_lines(&r, lines);
        int status = print_learned(&t, &r);
        if (!t.json) {
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
        if (!stock && fd < 0)
                return NULL;

        char *text = malloc(POLICY_BYTES + 1);
        ssize_t n = !text   ? -1
                    : stock ? snprintf(text, POLICY_BYTES, "%s", stock)
                            : fd_read_all(fd, text, POLICY_BYTES + 1);
        if (n < 0 || n > POLICY_BYTES) {
                (void) cli_usage("%s: %s", path, n < 0 ? strerror(errno) : "a policy file is limited to 1M");
                free(text);
                return NULL;
        }

        *ret_len = (size_t) n;
        return text;
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
        if (!t->json && r.passed) {
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
        if (prepare(&t, argc, argv, "policy tighten") < 0)
                return EXIT_CORDON;

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

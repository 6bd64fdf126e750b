/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_ledger_more.c - the ledger's other verbs: trace, verify, note, report; and queries of several
 * ledgers at once. */
#include "base/buf.h"
#include "base/fd.h"
#include "face/cli/cli.h"
#include "face/cli/handle_options.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The query of the given ones, or of the user's own. */
char *cli_ledgers_log(const char *const *from, cordon_log_view view, const char *arg, cordon_error *e)
{
        if (!from[0])
                return cordon_log(cli_context(), view, arg, e);

        cordon_ledgers *all = cordon_ledgers_open(cli_context(), from, cli_list_count(from), e);
        char *text = all ? cordon_ledgers_log(all, view, arg, e) : NULL;
        cordon_ledgers_free(all);
        return text;
}

struct ways {
        bool back, forward, json;
};

static char *trace_in(const char *const *from, const char *id, const struct ways *w, cordon_error *e)
{
        if (!from[0])
                return cordon_trace(cli_context(), id, w->back, w->forward, w->json, e);

        cordon_ledgers *all = cordon_ledgers_open(cli_context(), from, cli_list_count(from), e);
        char *text = all ? cordon_ledgers_trace(all, id, w->back, w->forward, w->json, e) : NULL;
        cordon_ledgers_free(all);
        return text;
}

struct more {
        struct cli_shared asked;
        bool back, forward;
        const char *proof, *key, *checkpoint, *from;
};

const struct cli_option trace_options[] = {
        { "back", 'b', NULL, "its causes (default: both)", CLI_FLAG(struct more, back) },
        { "forward", 'f', NULL, "what came of it (default: both)", CLI_FLAG(struct more, forward) },
        { 0 },
};

int verb_trace(int argc, char **argv)
{
        struct more m = { 0 };
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, &m);
        if (at < 0)
                return EXIT_CORDON;

        bool both = !m.back && !m.forward;
        struct ways ways = { m.back || both, m.forward || both, m.asked.json };
        return cli_give(trace_in(m.asked.from, argv[at], &ways, &e), &e);
}

const struct cli_option verify_options[] = {
        { "checkpoint", 0, "FILE", "compare the ledger with checkpoints that you kept",
          CLI_TEXT(struct more, checkpoint) },
        { "proof", 0, "FILE", "check a proof of one record, without a ledger", CLI_TEXT(struct more, proof) },
        { "key", 0, "FILE", "the public keys for --proof (default: this ledger's)",
          CLI_TEXT(struct more, key) },
        { 0 },
};

static int slurp(const char *option, const char *path, struct buf *out)
{
        enum { MOST = 64 << 20 };
        bool here = strcmp(path, "-") == 0;
        AUTO_FD(file, here ? fcntl(0, F_DUPFD_CLOEXEC, 3) : cli_open_input(option, path));
        if (file < 0)
                return -1;

        return cli_read(file, MOST, out) < 0 ? (cli_usage("%s cannot be read", path), -1) : 0;
}

static int give_proof(char *said, int ok)
{
        AUTO_BUF(out);
        buf_printf(&out, "{\"ok\":%s,\"text\":", ok ? "true" : "false");
        buf_json(&out, span_str(said));
        buf_puts(&out, "}\n");
        cordon_free(said);
        return cli_put(&out);
}

int verb_verify(int argc, char **argv)
{
        struct more m = { 0 };
        cordon_error e = { 0 };
        AUTO_BUF(text);
        int ok = 0;
        if (cli_take(argc, argv, &m) < 0)
                return EXIT_CORDON;

        if (m.proof && m.checkpoint)
                return cli_usage("--proof is about one record, and a checkpoint about all");

        if (m.key && !m.proof)
                return cli_usage("--key goes with --proof: the ledger is verified by its own keys");

        if ((m.proof && slurp("--proof", m.proof, &text) < 0) ||
            (m.checkpoint && slurp("--checkpoint", m.checkpoint, &text) < 0))
                return EXIT_CORDON;

        char *said = m.proof ? cordon_verify_proof(cli_context(), buf_str(&text), text.n, m.key, &ok, &e)
                             : cordon_verify(cli_context(), buf_str(&text), m.asked.json, &ok, &e);
        int status = said && m.proof && m.asked.json ? give_proof(said, ok) : cli_give(said, &e);
        return status ? status : !ok;
}

const struct cli_option note_options[] = {
        { "from", 0, "WHO", "who answered: an address, a system, a person", CLI_TEXT(struct more, from) },
        { 0 },
};

int verb_note(int argc, char **argv)
{
        struct more m = { 0 };
        cordon_error e = { 0 };
        char id[64];
        int at = cli_take(argc, argv, &m);
        if (at < 0)
                return EXIT_CORDON;

        if (cordon_react(cli_context(), argv[at], m.from, argv[at + 1], id, &e) < 0)
                return cli_error(&e);

        return puts(id) < 0 ? EXIT_CORDON : 0;
}

/* ---- report ---- */

struct report {
        struct cli_shared asked;
        const char *html, *postmortem;
};

const struct cli_option report_options[] = {
        { "html", 0, "FILE", "a page with the graph of causes; - for standard output",
          CLI_TEXT(struct report, html) },
        { "postmortem", 0, "FILE", "Markdown, with headings for what people must say; - as above",
          CLI_TEXT(struct report, postmortem) },
        { 0 },
};

static int write_report(const struct report *r, cordon_log_view view, const char *run, const char *file)
{
        cordon_error e = { 0 };
        char *text = cli_ledgers_log(r->asked.from, view, run, &e);
        if (!text || strcmp(file, "-") == 0)
                return cli_give(text, &e);

        int status = cli_out_file(file, text, strlen(text)) < 0 ? EXIT_CORDON : 0;
        cordon_free(text);
        return status;
}

int verb_report(int argc, char **argv)
{
        struct report r = { 0 };
        int at = cli_take(argc, argv, &r);
        if (at < 0)
                return EXIT_CORDON;

        if (!r.html && !r.postmortem)
                return cli_usage("%s", cli_verb_now()->which);

        const char *run = argv[at];
        int status = r.html ? write_report(&r, CORDON_LOG_HTML, run, r.html) : 0;
        return status == 0 && r.postmortem ? write_report(&r, CORDON_LOG_POSTMORTEM, run, r.postmortem)
                                           : status;
}

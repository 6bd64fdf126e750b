/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_ledger_more.c - the ledger's other verbs: trace, verify, note. */
#include "base/buf.h"
#include "base/fd.h"
#include "face/cli/cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct more {
        bool back, forward, json;
        struct cli_ledgers ledgers;
        const char *proof, *key, *checkpoint, *from;
};

static int set_ledger(void *ctx, const char *value)
{
        return cli_ledgers_add(&((struct more *) ctx)->ledgers, value);
}

const struct cli_option trace_options[] = {
        { "back", 'b', NULL, "its causes (default: both)", CLI_FLAG(struct more, back) },
        { "forward", 'f', NULL, "what came of it (default: both)", CLI_FLAG(struct more, forward) },
        { "json", 0, NULL, "print JSON", CLI_FLAG(struct more, json) },
        { "from", 0, "DIR", "read this ledger (repeatable)", set_ledger },
        { 0 },
};

int verb_trace(int argc, char **argv)
{
        struct more m = { 0 };
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, &m, 0, CLI_ANY);
        if (at < 0)
                return EXIT_CORDON;

        if (argc - at != 1)
                return cli_usage("which effect? `cordon ledger` lists their ids");

        bool both = !m.back && !m.forward;
        struct cli_ways ways = { m.back || both, m.forward || both, m.json };
        return cli_give(cli_ledgers_trace(&m.ledgers, argv[at], &ways, &e), &e);
}

const struct cli_option verify_options[] = {
        { "json", 0, NULL, "print JSON", CLI_FLAG(struct more, json) },
        { "checkpoint", 0, "FILE", "hold the ledger against checkpoints that you have kept",
          CLI_TEXT(struct more, checkpoint) },
        { "proof", 0, "FILE", "check a proof of one record, without a ledger", CLI_TEXT(struct more, proof) },
        { "key", 0, "FILE", "the public keys for --proof (default: this ledger's)",
          CLI_TEXT(struct more, key) },
        { 0 },
};

static int slurp(const char *option, const char *path, struct buf *out)
{
        enum { MOST = 64 << 20 };
        char chunk[4096];
        ssize_t n = 0;
        bool here = strcmp(path, "-") == 0;
        AUTO_FD(file, here ? fcntl(0, F_DUPFD_CLOEXEC, 3) : cli_open_input(option, path));
        if (file < 0)
                return -1;

        while (out->n < MOST && (n = read(file, chunk, sizeof chunk)) > 0)
                buf_add(out, chunk, (size_t) n);

        return n < 0 || out->failed ? (cli_usage("%s cannot be read", path), -1) : 0;
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
        if (cli_take(argc, argv, &m, 0, 0) < 0)
                return EXIT_CORDON;

        if (m.proof && m.checkpoint)
                return cli_usage("--proof is about one record, and a checkpoint about all");

        if (m.key && !m.proof)
                return cli_usage("--key goes with --proof: the ledger is verified by its own keys");

        if ((m.proof && slurp("--proof", m.proof, &text) < 0) ||
            (m.checkpoint && slurp("--checkpoint", m.checkpoint, &text) < 0))
                return EXIT_CORDON;

        char *said = m.proof ? cordon_verify_proof(cli_context(), buf_str(&text), text.n, m.key, &ok, &e)
                             : cordon_verify(cli_context(), buf_str(&text), m.json, &ok, &e);
        int status = said && m.proof && m.json ? give_proof(said, ok) : cli_give(said, &e);
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
        int at = cli_take(argc, argv, &m, 0, CLI_ANY);
        if (at < 0)
                return EXIT_CORDON;

        if (argc - at != 2)
                return cli_usage(
                        "to which record, and what? For example: cordon ledger note --from build-server "
                        "ID 'the build failed'");

        if (cordon_react(cli_context(), argv[at], m.from, argv[at + 1], id, &e) < 0)
                return cli_error(&e);

        return puts(id) < 0 ? EXIT_CORDON : 0;
}

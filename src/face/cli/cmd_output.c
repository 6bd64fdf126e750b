/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_output.c - `cordon output`: text as an inert word of another language, files checked as the
 * output of a box is, and envelopes. */
#include "base/buf.h"
#include "base/fd.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INPUT_MAX = 256 << 20 };

struct output {
        struct cli_shared asked;
        const char *context, *as, *schema, *run, *mark;
};

const struct cli_option output_quote_options[] = {
        { "for", 0, "CONTEXT", "sh sql html json csv md url term", CLI_TEXT(struct output, context) },
        { 0 },
};
const struct cli_option output_check_options[] = {
        { "as", 0, "TYPE",
          "text json jsonl csv image png jpeg gif webp pdf zip gzip (default: text; with a schema json)",
          CLI_TEXT(struct output, as) },
        { "schema", 0, "FILE", "a JSON Schema, draft 2020-12", CLI_TEXT(struct output, schema) },
        { 0 },
};
const struct cli_option output_wrap_options[] = {
        { "run", 0, "RUN", "of this run (default: the newest that printed it)",
          CLI_TEXT(struct output, run) },
        { "mark", 0, "MARK", "delimiter (default), datamark or base64", CLI_TEXT(struct output, mark) },
        { 0 },
};

/* The file, or standard input. */
static int read_input(const char *path, struct buf *in)
{
        AUTO_FD(own, path ? cli_open_input(NULL, path) : -1);
        if (path && own < 0)
                return -1;

        if (cli_read(path ? own : 0, INPUT_MAX, in) == 0)
                return 0;

        if (errno == EFBIG)
                return cli_problem("the input is larger than 256M"), -1;
        return cli_problem("%s: %s", path ? path : "standard input", strerror(errno)), -1;
}

static int take(int argc, char **argv, struct output *o, struct buf *in)
{
        int at = cli_take(argc, argv, o);
        return at < 0 ? -1 : read_input(at < argc ? argv[at] : NULL, in);
}

static int put(const char *text, size_t n)
{
        if (fd_write_all(1, text, n) < 0)
                return cli_problem("standard output: %s", strerror(errno));
        return 0;
}

int verb_output_quote(int argc, char **argv)
{
        struct output o = { 0 };
        cordon_error e = { 0 };
        AUTO_BUF(in);
        int at = cli_take(argc, argv, &o);
        if (at < 0)
                return EXIT_CORDON;
        if (!o.context)
                return cli_usage("which context? For example: cordon output quote --for sh FILE");
        if (read_input(at < argc ? argv[at] : NULL, &in) < 0)
                return EXIT_CORDON;

        char *text = cordon_encode(o.context, in.p ? in.p : "", in.n, &e);
        int status = text ? put(text, strlen(text)) : cli_error(&e);
        if (text && status == 0)
                status = put("\n", 1);
        cordon_free(text);
        return status;
}

int verb_output_check(int argc, char **argv)
{
        struct output o = { 0 };
        cordon_error e = { 0 };
        AUTO_BUF(in);
        if (take(argc, argv, &o, &in) < 0)
                return EXIT_CORDON;

        char *passed = NULL, *report = NULL;
        size_t n = 0;
        const cordon_check c = { .as = o.as, .schema = o.schema, .max = INPUT_MAX, .verbatim = 1 };
        int r = cordon_check_bytes(cli_context(), &c, in.p ? in.p : "", in.n, &passed, &n, &report, &e);
        if (o.asked.json && report)
                (void) puts(report);
        bool refused = r < 0 && report;
        if (r < 0 && !(o.asked.json && report))
                (void) cli_error(&e);
        cordon_free(passed);
        cordon_free(report);
        return r == 0 ? 0 : refused ? 1 : EXIT_CORDON;
}

int verb_output_wrap(int argc, char **argv)
{
        struct output o = { .mark = "delimiter" };
        cordon_error e = { 0 };
        AUTO_BUF(in);
        if (take(argc, argv, &o, &in) < 0)
                return EXIT_CORDON;

        char *text = cordon_envelope(cli_context(), o.run, o.mark, in.p ? in.p : "", in.n, &e);
        if (!text)
                return cli_error(&e);
        (void) puts(text);
        cordon_free(text);
        return 0;
}

int verb_output_verify(int argc, char **argv)
{
        struct output o = { 0 };
        cordon_error e = { 0 };
        AUTO_BUF(in);
        if (take(argc, argv, &o, &in) < 0)
                return EXIT_CORDON;

        char *record = NULL;
        if (cordon_envelope_verify(cli_context(), in.p ? in.p : "", in.n, &record, &e) < 0) {
                (void) cli_error(&e);
                return 1;
        }
        (void) printf("the content is the one that the ledger has as %s\n", record);
        cordon_free(record);
        return 0;
}

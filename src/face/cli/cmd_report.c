/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_report.c - `cordon ledger report RUN --html FILE` and `--postmortem FILE`: complete or not at
 * all. */
#include "face/cli/cli.h"
#include "face/cli/handle_options.h"

#include <string.h>

struct report {
        const char *html, *postmortem;
        struct cli_ledgers ledgers;
};

static int set_ledger(void *ctx, const char *value)
{
        return cli_ledgers_add(&((struct report *) ctx)->ledgers, value);
}

const struct cli_option report_options[] = {
        { "html", 0, "FILE", "a page with the graph of causes; - for standard output",
          CLI_TEXT(struct report, html) },
        { "postmortem", 0, "FILE", "Markdown, with headings for what people must say; - as above",
          CLI_TEXT(struct report, postmortem) },
        { "from", 0, "DIR", "read this ledger (repeatable)", set_ledger },
        { 0 },
};

static int write_report(const struct report *r, cordon_log_view view, const char *run, const char *file)
{
        cordon_error e = { 0 };
        char *text = cli_ledgers_log(&r->ledgers, view, run, &e);
        if (!text || strcmp(file, "-") == 0)
                return cli_give(text, &e);

        int status = cli_out_file(file, text, strlen(text)) < 0 ? EXIT_CORDON : 0;
        cordon_free(text);
        return status;
}

int verb_report(int argc, char **argv)
{
        struct report r = { 0 };
        int at = cli_take(argc, argv, &r, 0, CLI_ANY);
        if (at < 0)
                return EXIT_CORDON;

        if (at + 1 != argc || (!r.html && !r.postmortem))
                return cli_usage(
                        "which run, and where to? For example: cordon ledger report RUN --html run.html");

        const char *run = argv[at];
        int status = r.html ? write_report(&r, CORDON_LOG_HTML, run, r.html) : 0;
        return status == 0 && r.postmortem ? write_report(&r, CORDON_LOG_POSTMORTEM, run, r.postmortem)
                                           : status;
}

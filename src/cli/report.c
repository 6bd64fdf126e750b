/* SPDX-License-Identifier: MIT */
/* cli/report.c - `cordon report --html FILE RUN`: whole or not at all. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set_html(void *ctx, const char *value)
{
        *(const char **) ctx = value;
        return 0;
}

const struct cli_option report_options[] = {
        { "html", 0, "FILE", "where to; - for standard output", set_html },
        { 0 },
};

/* Half a page is no report: what could not be written whole is removed. */
static int write_file(const char *path, const char *text)
{
        FILE *f = fopen(path, "we");
        if (!f)
                return cli_usage("%s: %s", path, strerror(errno));
        bool bad = fputs(text, f) < 0;
        bad = fclose(f) != 0 || bad;
        if (!bad)
                return 0;
        int status = cli_usage("%s: %s", path, strerror(errno));
        (void) remove(path);
        return status;
}

int verb_report(int argc, char **argv)
{
        const char *file = NULL, *run = NULL;
        cordon_error e = { 0 };
        int at = cli_options(argc, argv, cli_verb_find("report"), &file, NULL);
        if (at >= 0 && at < argc) {
                run = argv[at];
                int more = cli_options(argc - at, argv + at, cli_verb_find("report"), &file, NULL);
                at = more < 0 ? -1 : at + more;
        }
        if (at < 0)
                return EXIT_CORDON;
        if (!run || at != argc || !file)
                return cli_usage("which run, and where to? For example: cordon report RUN --html run.html");
        char *page = cordon_log(CORDON_LOG_HTML, run, &e);
        if (!page || strcmp(file, "-") == 0)
                return cli_give(page, &e);
        int status = write_file(file, page);
        cordon_free(page);
        return status;
}

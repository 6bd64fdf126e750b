/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_label.c - the verb label: the labels of files, shown, added and dropped. */
#include "base/buf.h"
#include "face/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct label {
        bool json;
        const char *reason;
};

const struct cli_option label_options[] = {
        { "json", 0, NULL, "print JSON", CLI_FLAG(struct label, json), LABEL_SHOW },
        { "reason", 0, "TEXT", "record this reason", CLI_TEXT(struct label, reason), LABEL_DROP },
        { 0 },
};

static int show(const struct label *l, char **words)
{
        cordon_error e = { 0 };
        char *text =
                cordon_label_show(cli_context(), words[0] ? (const char *const *) words : NULL, l->json, &e);
        if (!text)
                return cli_error(&e);

        (void) fputs(text[0] ? text : "no labelled files\n", stdout);
        free(text);
        return 0;
}

static int change(const struct label *l, char **words, bool drop)
{
        cordon_error e = { 0 };
        AUTO_BUF(labels);
        for (char **w = words + 1; *w; w++)
                buf_printf(&labels, "%s%s", w > words + 1 ? " " : "", *w);

        int r = drop ? cordon_label_drop(cli_context(), words[0], buf_str(&labels), l->reason, &e)
                     : cordon_label_stamp(cli_context(), words[0], buf_str(&labels), &e);
        return r < 0 ? cli_error(&e) : 0;
}

int verb_label(int argc, char **argv)
{
        struct label l = { 0 };
        unsigned part = cli_verb_now()->part;
        int at = cli_take(argc, argv, &l, part == LABEL_SHOW ? 0 : 2, CLI_ANY);
        if (at < 0)
                return EXIT_CORDON;

        return part == LABEL_SHOW ? show(&l, argv + at) : change(&l, argv + at, part == LABEL_DROP);
}

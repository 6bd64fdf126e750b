/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_label.c - the verb label: the labels of files, shown, stamped and dropped. */
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
        { "json", 0, NULL, "print as JSON", CLI_FLAG(struct label, json) },
        { "reason", 0, "TEXT", "why a label is dropped: it is recorded", CLI_TEXT(struct label, reason) },
        { 0 },
};

static int show(const struct label *l, char **words)
{
        cordon_error e = { 0 };
        char *text =
                cordon_label_show(cli_context(), words[0] ? (const char *const *) words : NULL, l->json, &e);
        if (!text)
                return cli_error(&e);

        (void) fputs(text[0] ? text : "no file has a label\n", stdout);
        free(text);
        return 0;
}

static int change(const struct label *l, char **words, bool drop)
{
        cordon_error e = { 0 };
        AUTO_BUF(labels);
        if (!words[0] || !words[1])
                return cli_usage("`label %s` takes a path and labels: private:NAME, untrusted",
                                 drop ? "drop" : "stamp");

        for (char **w = words + 1; *w; w++)
                buf_printf(&labels, "%s%s", w > words + 1 ? " " : "", *w);

        int r = drop ? cordon_label_drop(cli_context(), words[0], buf_str(&labels), l->reason, &e)
                     : cordon_label_stamp(cli_context(), words[0], buf_str(&labels), &e);
        return r < 0 ? cli_error(&e) : 0;
}

int verb_label(int argc, char **argv)
{
        struct label l = { 0 };
        cli_options_first(argc, argv, cli_verb_find("label"));
        int at = cli_options(argc, argv, cli_verb_find("label"), &l, NULL);
        if (at < 0)
                return EXIT_CORDON;

        const char *what = at < argc ? argv[at] : "show";
        char **words = argv + (at < argc ? at + 1 : at);
        if (strcmp(what, "show") == 0)
                return show(&l, words);

        if (strcmp(what, "stamp") != 0 && strcmp(what, "drop") != 0)
                return cli_usage("`label` takes show, stamp or drop");

        return change(&l, words, what[0] == 'd');
}

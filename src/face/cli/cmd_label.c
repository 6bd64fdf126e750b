/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_label.c - the verb label: the labels of files, shown, added and dropped. */
#include "base/buf.h"
#include "face/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int verb_label_show(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, &o);
        if (at < 0)
                return EXIT_CORDON;

        const char *const *paths = at < argc ? (const char *const *) argv + at : NULL;
        char *text = cordon_label_show(cli_context(), paths, o.json, &e);
        if (text && !text[0])
                (void) puts("no labelled files");
        return cli_give(text, &e);
}

static int change(int argc, char **argv, bool drop)
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        AUTO_BUF(labels);
        int at = cli_take(argc, argv, &o);
        if (at < 0)
                return EXIT_CORDON;

        for (int i = at + 1; i < argc; i++)
                buf_printf(&labels, "%s%s", i > at + 1 ? " " : "", argv[i]);

        int r = drop ? cordon_label_drop(cli_context(), argv[at], buf_str(&labels), o.reason, &e)
                     : cordon_label_stamp(cli_context(), argv[at], buf_str(&labels), &e);
        return r < 0 ? cli_error(&e) : 0;
}

int verb_label_add(int argc, char **argv) { return change(argc, argv, false); }
int verb_label_drop(int argc, char **argv) { return change(argc, argv, true); }

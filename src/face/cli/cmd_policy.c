/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_policy.c - `cordon policy`: compares, converts and prints policies. */
#include "base/buf.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <stdio.h>
#include <string.h>

static cordon_policy *load(const char *path)
{
        cordon_error e = { 0 };
        cordon_policy *p = cli_policy_new();
        int r = p ? cli_policy_load(p, path, &e) : -1;
        if (r == 0)
                return p;

        (void) cli_error(&e);
        cordon_policy_free(p);
        return NULL;
}

/* Each line of the text is "+ " or "- " and what differs. */
static int put_diff_json(const char *text, const char *order)
{
        AUTO_BUF(out);
        buf_printf(&out, "{\"order\":\"%s\",\"changes\":[", order);
        for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
                buf_printf(&out, "%s{\"sign\":\"%c\",\"text\":", at == text ? "" : ",", at[0]);
                buf_json(&out, span_of(at + 2, (size_t) (end - at) - 2));
                buf_putc(&out, '}');
        }

        buf_puts(&out, "]}\n");
        return cli_put(&out);
}

const struct cli_option policy_options[] = {
        { "json", 0, NULL, "print JSON", CLI_FLAG(struct cli_json, json), POLICY_DIFF | POLICY_SHOW },
        { 0 },
};

int verb_policy_diff(int argc, char **argv)
{
        static const char *const orders[] = { "equal", "wider", "narrower", "crossing" };
        struct cli_json o = { 0 };
        int at = cli_take(argc, argv, &o, 2, 2);
        if (at < 0)
                return EXIT_CORDON;

        cordon_error e = { 0 };
        int order = 0, status = EXIT_CORDON;
        cordon_policy *a = load(argv[at]), *b = load(argv[at + 1]);
        char *text = a && b ? cordon_policy_diff(a, b, &order, &e) : NULL;
        if (text) {
                status = o.json                                      ? put_diff_json(text, orders[order])
                         : printf("%s%s\n", text, orders[order]) < 0 ? EXIT_CORDON
                                                                     : 0;
                status = status ? status : order != 0;
        } else if (a && b) {
                status = cli_error(&e);
        }

        cordon_free(text);
        cordon_policy_free(a);
        cordon_policy_free(b);
        return status;
}

int verb_policy_show(int argc, char **argv)
{
        struct cli_json o = { 0 };
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, &o, 1, 1);
        cordon_policy *p = at < 0 ? NULL : load(argv[at]);
        cordon_view view = cli_verb_now()->part == POLICY_DIGEST ? CORDON_VIEW_DIGEST
                           : o.json                              ? CORDON_VIEW_JSON
                                                                 : CORDON_VIEW_LINES;
        int status = p ? cli_give(cordon_policy_view(p, view, &e), &e) : EXIT_CORDON;
        cordon_policy_free(p);
        return status;
}

int verb_policy_import(int argc, char **argv)
{
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, NULL, 1, 1);
        return at < 0 ? EXIT_CORDON : cli_give(cordon_policy_from(argv[at], &e), &e);
}

static int no_stock(const char *given)
{
        const char *name, *best = NULL;

        for (size_t i = 0; (name = cordon_stock_name(i)); i++)
                str_nearer(given, name, &best);
        (void) cli_problem("unknown stock policy %s", given);
        return best ? cli_hint("did you mean %s?", best) : cli_hint("`cordon policy stock` lists them");
}

int verb_policy_stock(int argc, char **argv)
{
        const char *name;
        int at = cli_take(argc, argv, NULL, 0, 1);
        if (at < 0)
                return EXIT_CORDON;

        if (at < argc) {
                const char *text = cordon_stock_text(argv[at]);
                return !text ? no_stock(argv[at]) : fputs(text, stdout) == EOF ? EXIT_CORDON : 0;
        }

        for (size_t i = 0; (name = cordon_stock_name(i)); i++)
                (void) puts(name);

        return 0;
}

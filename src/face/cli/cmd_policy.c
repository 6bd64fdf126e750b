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

static int diff(int argc, char **argv, bool json)
{
        static const char *const orders[] = { "equal", "wider", "narrower", "crossing" };
        if (argc != 2)
                return cli_usage("`cordon policy diff` takes two policies");

        cordon_error e = { 0 };
        int order = 0, status = EXIT_CORDON;
        cordon_policy *a = load(argv[0]), *b = load(argv[1]);
        char *text = a && b ? cordon_policy_diff(a, b, &order, &e) : NULL;
        if (text) {
                status = json                                        ? put_diff_json(text, orders[order])
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

static int view(int argc, char **argv, cordon_view v)
{
        if (argc != 1)
                return cli_usage("one policy file, or the name of a stock policy");

        cordon_error e = { 0 };
        cordon_policy *p = load(argv[0]);
        int status = p ? cli_give(cordon_policy_view(p, v, &e), &e) : EXIT_CORDON;
        cordon_policy_free(p);
        return status;
}

static int from(int argc, char **argv)
{
        if (argc != 1)
                return cli_usage("`cordon policy from` takes one file: settings of another tool");

        cordon_error e = { 0 };
        return cli_give(cordon_policy_from(argv[0], &e), &e);
}

static int no_stock(const char *given)
{
        const char *name, *best = NULL;

        for (size_t i = 0; (name = cordon_stock_name(i)); i++)
                str_nearer(given, name, &best);
        (void) cli_problem("unknown stock policy %s", given);
        return best ? cli_hint("did you mean %s?", best) : cli_hint("`cordon policy stock` lists them");
}

static int stock(int argc, char **argv)
{
        if (argc > 1)
                return cli_usage("`cordon policy stock` takes one name, or none");

        if (argc == 1) {
                const char *text = cordon_stock_text(argv[0]);
                if (text)
                        return fputs(text, stdout) == EOF ? EXIT_CORDON : 0;
                return no_stock(argv[0]);
        }

        const char *name;
        for (size_t i = 0; (name = cordon_stock_name(i)); i++)
                (void) puts(name);

        return 0;
}

static int unknown(const char *given)
{
        static const char *const words[] = { "diff", "from", "json", "show", "digest", "stock" };
        const char *best = NULL;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
                str_nearer(given, words[i], &best);

        (void) cli_problem("`cordon policy` has no `%.60s`", given);
        if (cli_is_list(given))
                return cli_hint("`cordon policy stock` lists the policies that come with cordon");

        if (best)
                return cli_hint("did you mean `%s`?", best);

        return cli_hint("it has new, tighten, wrap, diff, from, json, show, digest and stock; `cordon check` "
                        "shows lints");
}

int verb_policy(int argc, char **argv)
{
        static const struct {
                const char *name;
                cordon_view view;
        } views[] = { { "json", CORDON_VIEW_JSON },
                      { "show", CORDON_VIEW_LINES },
                      { "digest", CORDON_VIEW_DIGEST } };

        struct cli_json o = { 0 };
        cli_options_first(argc, argv, cli_verb_find("policy"));
        int at = cli_options(argc, argv, cli_verb_find("policy"), &o, NULL);
        if (at < 0)
                return EXIT_CORDON;

        if (at == argc)
                return cli_usage(
                        "cordon policy new | tighten | wrap | diff | from | json | show | digest | stock");

        const char *what = argv[at++];
        if (strcmp(what, "diff") == 0)
                return diff(argc - at, argv + at, o.json);

        if (o.json)
                return cli_usage("--json goes with `cordon policy diff`; `cordon policy json` prints a "
                                 "policy as JSON");

        if (strcmp(what, "from") == 0)
                return from(argc - at, argv + at);

        if (strcmp(what, "stock") == 0)
                return stock(argc - at, argv + at);

        for (size_t i = 0; i < sizeof views / sizeof *views; i++)
                if (strcmp(what, views[i].name) == 0)
                        return view(argc - at, argv + at, views[i].view);

        return unknown(what);
}

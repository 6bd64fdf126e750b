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

int verb_policy_diff(int argc, char **argv)
{
        static const char *const orders[] = { "equal", "wider", "narrower", "crossing" };
        struct cli_shared o = { 0 };
        int at = cli_take(argc, argv, &o);
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

static int show_policy(int argc, char **argv, cordon_view text)
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, &o);
        cordon_policy *p = at < 0 ? NULL : load(argv[at]);
        int status =
                p ? cli_give(cordon_policy_view(p, o.json ? CORDON_VIEW_JSON : text, &e), &e) : EXIT_CORDON;
        cordon_policy_free(p);
        return status;
}

int verb_policy_show(int argc, char **argv) { return show_policy(argc, argv, CORDON_VIEW_LINES); }
int verb_policy_digest(int argc, char **argv) { return show_policy(argc, argv, CORDON_VIEW_DIGEST); }

int verb_policy_import(int argc, char **argv)
{
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, NULL);
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
        int at = cli_take(argc, argv, NULL);
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

/* ---- flow: what would flow in a workflow of boxes, before it runs ---- */

enum { BOXES_MAX = 16 };

struct flow {
        struct cli_shared asked;
        const char *policies[CLI_LIST_MAX + 1];
};

const struct cli_option flow_options[] = {
        { "policy", 'p', "FILE", "add the doors of a policy file, or of a stock policy",
          CLI_LIST(struct flow, policies) },
        { 0 },
};

int verb_flow(int argc, char **argv)
{
        struct flow o = { 0 };
        cordon_error e = { 0 };
        cordon_policy *p[BOXES_MAX];
        int at = cli_take(argc, argv, &o), n = 0, bad = 0;
        if (at < 0)
                return EXIT_CORDON;

        size_t count = cli_list_count(o.policies);
        for (; at < argc && count < CLI_LIST_MAX; at++)
                o.policies[count++] = argv[at];

        if (count < 1 || count > BOXES_MAX)
                return cli_usage(
                        "`cordon policy flow` takes 1 to %d policies, in the order in which they run",
                        BOXES_MAX);

        for (size_t i = 0; i < count && !bad; i++) {
                p[n] = cli_policy_new();
                bad = !p[n] || cli_policy_load(p[n], o.policies[i], &e) < 0;
                n += p[n] != NULL;
        }

        int status = bad ? cli_error(&e) : cli_give(cordon_plan(p, (size_t) n, o.asked.json, &e), &e);
        while (n > 0)
                cordon_policy_free(p[--n]);
        return status;
}

/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_approve.c - verbs for gates: approve, approve revoke, approve stats, approve decoys, incident.
 */
#include "base/str.h"
#include "face/cli/approve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct approve {
        struct cli_shared asked;
        bool deny, always;
        struct approve_words w;
};

const struct cli_option approve_options[] = {
        { "deny", 0, NULL, "deny these effects without asking", CLI_FLAG(struct approve, deny) },
        { "always", 0, NULL, "print the policy change that would allow this without asking",
          CLI_FLAG(struct approve, always) },
        { "uses", 0, "N", "approve up to N similar effects (at most 100)", CLI_TEXT(struct approve, w.uses) },
        { "for", 0, "TIME", "approve similar effects for this time (at most 1h)",
          CLI_TEXT(struct approve, w.time) },
        { 0 },
};

static int check_scope(const struct approve_words *w)
{
        uint64_t n;
        long uses;
        if (w->uses && cli_number("--uses", w->uses, 1, 100, &uses) < 0)
                return EXIT_CORDON;

        if (w->time && (str_to_ms(span_str(w->time), &n) < 0 || n < 1000 || n > 3600000))
                return cli_usage("--for takes a time from 1s to 1h, as 90s or 30m");

        return 0;
}

static void print_list(const struct approve_list *l)
{
        if (l->n == 0)
                (void) puts("no pending approvals");

        for (size_t i = 0; i < l->n; i++) {
                char effect[400];
                (void) printf("%.12s  %5llds  %-6s %s\n", l->v[i].id, l->v[i].expires_s,
                              l->v[i].high ? "high" : "normal",
                              str_inert(span_str(l->v[i].effect), effect, sizeof effect));
        }

        (void) fflush(stdout);
        if (l->n > 0)
                (void) cli_hint("cordon approve, or cordon approve %.12s", l->v[0].id);
}

/* Only those whose id begins with one of the words. */
static int choose(struct approve_list *l, int argc, char **argv, int at)
{
        size_t n = 0;
        bool used[APPROVE_ITEMS_MAX] = { false };
        for (int a = at; a < argc; a++) {
                size_t found = APPROVE_ITEMS_MAX, count = 0;
                for (size_t i = 0; i < l->n; i++)
                        if (strlen(argv[a]) >= 4 && strncmp(l->v[i].id, argv[a], strlen(argv[a])) == 0) {
                                found = i;
                                count++;
                        }
                if (count != 1) {
                        (void) cli_problem(count ? "%s: ambiguous id" : "%s: no pending effect with this id",
                                           argv[a]);
                        return cli_hint("cordon approve ls");
                }
                used[found] = true;
        }

        for (size_t i = 0; i < l->n; i++) {
                struct approve_item it = l->v[i];
                if (used[i]) {
                        l->v[i] = l->v[n];
                        l->v[n++] = it;
                }
        }

        for (size_t i = n; i < l->n; i++) {
                free(l->v[i].effect);
                free(l->v[i].door);
                free(l->v[i].group);
        }
        l->n = n;
        return 0;
}

static int act(const struct approve *o, const struct approve_list *l, bool only_list)
{
        int status = 0;
        if (o->asked.json) {
                (void) printf("{\"items\":[%s],\"step\":\"%s\",\"over_budget\":%s}\n", buf_str(&l->json),
                              l->step[0] ? l->step : "none", l->over_budget ? "true" : "false");
                return 0;
        }

        for (size_t i = 0; i < l->n && o->always; i++)
                approve_always(&l->v[i]);

        for (size_t i = 0; i < l->n && o->deny; i++)
                status = approve_deny(&l->v[i], o->w.reason) ? EXIT_CORDON : status;

        if (o->always || o->deny)
                return status;

        if (only_list || l->n == 0) {
                print_list(l);
                return 0;
        }

        return approve_on_terminal(l, &o->w);
}

static int approve(int argc, char **argv, bool only_list)
{
        struct approve o = { 0 };
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, &o);
        o.w.reason = o.asked.reason;
        if (at < 0 || check_scope(&o.w))
                return EXIT_CORDON;

        if (cordon_state_check(cli_context(), &e) < 0)
                return cli_error(&e);

        if (o.deny && at == argc)
                return cli_usage("--deny requires ids");

        struct approve_list *l = malloc(sizeof *l);
        if (!l)
                return cli_problem("out of memory");

        approve_list_read(l, &e);
        int status = e.code ? cli_error(&e) : 0;
        if (!status && at < argc)
                status = choose(l, argc, argv, at);
        if (!status)
                status = act(&o, l, only_list);

        approve_list_done(l);
        free(l);
        return status;
}

int verb_approve(int argc, char **argv) { return approve(argc, argv, false); }
int verb_approve_ls(int argc, char **argv) { return approve(argc, argv, true); }

static char *stats(const cordon_context *cx, int json, cordon_error *e)
{
        return cordon_state_check(cx, e) < 0 ? NULL : cordon_approvals(cx, json, e);
}

int verb_approve_stats(int argc, char **argv) { return cli_view(argc, argv, stats); }

static void revoke_in(void *ctx, const char *run, unsigned uid)
{
        unsigned *count = ctx;
        struct approve_item it = { .uid = uid };
        AUTO_BUF(q);
        (void) snprintf(it.run, sizeof it.run, "%s", run);
        buf_puts(&q, "{\"op\":\"revoke\",\"template\":\"*\"}");
        struct json_doc *d = approve_ask(&it, &q);
        const struct json *n = d ? json_get(json_root(d), "revoked") : NULL;
        if (n && n->type == JSON_INT && n->integer > 0)
                *count += (unsigned) n->integer;
        json_free(d);
}

int verb_approve_revoke(int argc, char **argv)
{
        cordon_error e = { 0 };
        unsigned count = 0;
        if (cli_take(argc, argv, NULL) < 0)
                return EXIT_CORDON;

        if (cordon_state_check(cli_context(), &e) < 0 || cordon_gates(revoke_in, &count, &e) < 0)
                return cli_error(&e);

        (void) printf("revoked %u\n", count);
        return 0;
}

int verb_approve_decoys(int argc, char **argv)
{
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, NULL);
        if (at < 0)
                return EXIT_CORDON;

        bool on = strcmp(argv[at], "on") == 0;
        if (!on && strcmp(argv[at], "off") != 0)
                return cli_usage("%s", cli_verb_now()->which);

        return cordon_decoys(cli_context(), on, &e) < 0 ? cli_error(&e) : 0;
}

int verb_incident(int argc, char **argv)
{
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, NULL);
        if (at < 0)
                return EXIT_CORDON;

        return cordon_incident(cli_context(), argv[at], argv[at + 1], &e) < 0 ? cli_error(&e) : 0;
}

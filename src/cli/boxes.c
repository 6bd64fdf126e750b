/* SPDX-License-Identifier: MIT */
/* cli/boxes.c - verbs over boxes that run: ps, stop, inspect, logs. */
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct ps {
        bool json;
        unsigned count;
};

static int set_ps_json(void *ctx, const char *value)
{
        (void) value;
        ((struct ps *) ctx)->json = true;
        return 0;
}

static const struct cli_option ps_options[] = { { "json", 0, NULL, "for programs", set_ps_json }, { 0 } };
static const struct cli_verb ps_verb = { .name = "ps", .options = ps_options };

static const char *text_of(const struct json *o, const char *key)
{
        const struct json *v = json_get(o, key);
        return v && v->str ? v->str : "?";
}

static void print_row(const struct json *o)
{
        const struct json *command = json_get(o, "command");
        const struct json *age = json_get(o, "age_ms");
        (void) printf("%-34s %-16s %8llds  ", text_of(o, "run"), text_of(o, "name"),
                      age ? (long long) age->integer / 1000 : 0);
        for (const struct json *w = command ? command->child : NULL; w; w = w->next)
                (void) printf("%.40s%s", w->str, w->next ? " " : "");
        (void) putchar('\n');
}

static void each_box(void *ctx, const char *text)
{
        struct ps *p = ctx;
        if (p->json) {
                (void) printf("%s%s", p->count ? "," : "[", text);
        } else {
                struct err ignored;
                if (p->count == 0)
                        (void) printf("%-34s %-16s %9s  %s\n", "RUN", "NAME", "AGE", "COMMAND");
                struct json_doc *d = json_parse("keeper", span_str(text), &ignored);
                if (d)
                        print_row(json_root(d));
                json_free(d);
        }
        p->count++;
}

int verb_ps(int argc, char **argv)
{
        struct ps p = { 0 };
        cordon_error e = { 0 };
        if (cli_options(argc, argv, &ps_verb, &p, NULL) < 0)
                return EXIT_CORDON;
        if (cordon_list(each_box, &p, &e) < 0)
                return cli_error(&e);
        if (p.json)
                (void) printf("%s]\n", p.count ? "" : "[");
        return 0;
}

int verb_inspect(int argc, char **argv)
{
        cordon_error e = { 0 };
        if (argc != 2)
                return cli_usage("cordon inspect BOX");
        int status = cli_give(cordon_inspect(argv[1], &e), &e);
        if (status == 0)
                (void) putchar('\n');
        return status;
}

int verb_logs(int argc, char **argv)
{
        cordon_error e = { 0 };
        if (argc != 2)
                return cli_usage("cordon logs BOX");
        char *text = cordon_logs(argv[1], &e);
        if (!text || !isatty(1))
                return cli_give(text, &e);
        /* On a terminal a box's own words must not move the cursor or set the title. */
        for (char *line = text, *end; *line; line = end) {
                char shown[4096];
                end = line + strcspn(line, "\n");
                (void) puts(str_inert(span_of(line, (size_t) (end - line)), shown, sizeof shown));
                end += *end == '\n';
        }
        cordon_free(text);
        return 0;
}

struct stop {
        bool kill;
        long grace_s;
};

static int set_kill(void *ctx, const char *value)
{
        (void) value;
        ((struct stop *) ctx)->kill = true;
        return 0;
}

static int set_grace(void *ctx, const char *value)
{
        char *end;
        long s = strtol(value, &end, 10);
        if (end == value || *end || s < 0 || s > 3600)
                return cli_usage("--time takes seconds, 0 to 3600"), -1;
        ((struct stop *) ctx)->grace_s = s;
        return 0;
}

const struct cli_option stop_options[] = {
        { "kill", 'k', NULL, "at once, without asking", set_kill },
        { "time", 't', "SECONDS", "how long to wait before killing (default 10)", set_grace },
        { 0 },
};

static bool is_gone(const char *which)
{
        cordon_error e;
        char *state = cordon_inspect(which, &e);
        cordon_free(state);
        return state == NULL;
}

static int stop_one(const char *which, const struct stop *s)
{
        cordon_error e = { 0 };
        if (cordon_stop(which, s->kill ? SIGKILL : SIGTERM, &e) < 0)
                return cli_error(&e);
        struct timespec tick = { 0, 20000000 };
        for (long waited = 0; waited < s->grace_s * 50 && !s->kill; waited++) {
                if (is_gone(which))
                        return 0;
                (void) nanosleep(&tick, NULL);
        }
        (void) cordon_stop(which, SIGKILL, &e);
        for (int i = 0; i < 250; i++) {
                if (is_gone(which))
                        return 0;
                (void) nanosleep(&tick, NULL);
        }
        return cli_usage("the box %s did not end", which);
}

int verb_stop(int argc, char **argv)
{
        struct stop s = { .grace_s = 10 };
        int status = 0, at = cli_options(argc, argv, cli_verb_find("stop"), &s, NULL);
        if (at < 0)
                return EXIT_CORDON;
        if (at == argc)
                return cli_usage("which box? `cordon ps` lists them");
        for (; at < argc; at++)
                status |= stop_one(argv[at], &s);
        return status;
}

/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_views.c - verbs that only read a policy: doors, check, why. */
#include "base/buf.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct view {
        struct cli_shared asked;
        const char *against; /* a run, or NULL */
};

const struct cli_option check_options[] = {
        { "against", 0, "RUN", "compare it with the network effects of this run",
          CLI_TEXT(struct view, against) },
        { 0 },
};

/* As in `run`. */
static int take_view(cordon_policy *p, const struct cli_shared *o)
{
        cordon_error e = { 0 };
        if ((o->places || o->stage) && cordon_policy_places(p, o->places, o->stage, &e) < 0)
                return cli_error(&e), -1;

        return cli_work(p, o->work);
}

/* How long doors with an `until`, and wide ones, were open so far. Without an answer from the ledger, the
 * doors are still printed. */
static void say_widened(cordon_policy *p)
{
        cordon_error ignored = { 0 };
        char *text = cordon_policy_widened(p, &ignored);
        if (text && text[0])
                (void) printf("\nDoors with an end, and wide ones:\n%s", text);
        cordon_free(text);
}

int verb_doors(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        cordon_policy *p = cli_policy_new();
        int status = EXIT_CORDON;
        int at = p ? cli_take_doors(argc, argv, &o, p) : -1;
        bool loaded = at >= 0 && take_view(p, &o) == 0;
        for (; loaded && at < argc; at++) /* as with -p */
                if (cli_policy_load(p, argv[at], &e) < 0) {
                        status = cli_error(&e);
                        loaded = false;
                }

        if (loaded)
                status = cli_give(cordon_policy_view(p,
                                                     o.json      ? CORDON_VIEW_DOORS_JSON
                                                     : o.verbose ? CORDON_VIEW_DOORS_ALL
                                                                 : CORDON_VIEW_DOORS,
                                                     &e),
                                  &e);

        if (loaded && status == 0 && !o.json)
                say_widened(p);

        cordon_policy_free(p);
        return status;
}

/* For the user, and with --json also for programs. */
static int failed(const cordon_error *e, const char *name, const struct view *o)
{
        if (o->asked.json)
                cli_failure_put(e, name);
        return cli_error(e);
}

static int check_against(cordon_policy *p, const char *name, const struct view *o)
{
        cordon_error e = { 0 };
        int refused = 0;
        char *text = cordon_policy_against(p, o->against, o->asked.json, &refused, &e);
        int status = text ? cli_give(text, &e) : failed(&e, name, o);
        return status ? status : refused > 0;
}

static int check_one(cordon_policy *p, const char *name, const struct view *o)
{
        cordon_error e = { 0 };
        if (take_view(p, &o->asked) < 0)
                return EXIT_CORDON;

        if (o->against)
                return check_against(p, name, o);

        char *notes = cordon_policy_view(p, o->asked.json ? CORDON_VIEW_NOTES_JSON : CORDON_VIEW_NOTES, &e);
        if (!notes)
                return failed(&e, name, o);

        if (!o->asked.json) {
                char *digest = cordon_policy_view(p, CORDON_VIEW_DIGEST, &e);
                if (!digest) {
                        cordon_free(notes);
                        return cli_error(&e);
                }
                char shown[PATH_MAX]; /* a box may give a file any name */
                (void) printf("%s%s: ok, policy %.12s\n", notes,
                              str_inert(span_str(name), shown, sizeof shown), digest);
                cordon_free(digest);
        } else {
                (void) fputs(notes, stdout);
        }

        cordon_free(notes);
        return 0;
}

static void count_door(void *ctx, const struct cli_door *d)
{
        (void) d;
        ++*(size_t *) ctx;
}

int verb_check(int argc, char **argv)
{
        struct view o = { 0 };
        cordon_error e = { 0 };
        cordon_policy *p = cli_policy_new();
        int at = p ? cli_take_doors(argc, argv, &o, p) : -1;
        size_t doors = 0;
        if (at >= 0)
                cli_doors_again(at, argv, cli_verb_now(), count_door, &doors);

        int status = at < 0                    ? EXIT_CORDON
                     : at < argc && doors == 0 ? 0
                     : doors == 0 ? cli_usage("which policy? For example: cordon check task.cordon")
                                  : check_one(p, "policy", &o);
        cordon_policy_free(p);
        for (; at >= 0 && at < argc; at++) {
                p = cli_policy_new();
                int r = !p || cli_policy_load(p, argv[at], &e) < 0 ? failed(&e, argv[at], &o)
                                                                   : check_one(p, argv[at], &o);
                cordon_policy_free(p);
                if (r)
                        status = r;
        }

        return status;
}

/* One argument after these is one path, program or variable, spaces and all, as after --read. */
static bool takes_one_name(const char *word)
{
        static const char *const words[] = { "read", "write",   "run", "env", "sock",
                                             "sign", "decrypt", "dev", "tool" };
        return str_row(words, sizeof words / sizeof *words, word) >= 0;
}

/* In the quotes of the policy language, if it would not be one word without; existing quotes are kept. */
static void put_name(struct buf *out, const char *name)
{
        bool plain = name[0] == '"' || (name[0] != '#' && !strpbrk(name, " \t\""));
        if (plain)
                buf_puts(out, name);
        else
                cli_put_quoted(out, name);
}

/* The rest of the line is the effect: `cordon why net GET https://x/` needs no quotes. */
static void join(struct buf *out, int argc, char **argv)
{
        bool name = argc == 2 && takes_one_name(argv[0]);
        for (int i = 0; i < argc; i++) {
                if (i > 0)
                        buf_putc(out, ' ');
                bool arguments = i == 2 && strcmp(argv[0], "tool") == 0; /* JSON */
                if ((i == 1 && name) || arguments || (i > 2 && strcmp(argv[i - 1], "body") == 0))
                        put_name(out, argv[i]);
                else
                        buf_puts(out, argv[i]);
        }
}

int verb_why(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        cordon_policy *p = cli_policy_new();
        int status = EXIT_CORDON, allowed = 0;
        int at = p ? cli_take_doors(argc, argv, &o, p) : -1;
        if (at >= 0 && take_view(p, &o) == 0) {
                AUTO_BUF(effect);
                join(&effect, argc - at, argv + at);
                char *text =
                        effect.failed ? NULL : cordon_policy_why(p, buf_str(&effect), o.json, &allowed, &e);
                status = cli_give(text, &e);
                if (status == 0 && !allowed)
                        status = 1;
        }

        cordon_policy_free(p);
        return status;
}

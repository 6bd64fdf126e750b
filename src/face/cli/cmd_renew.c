/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_renew.c - `cordon session renew`: another lease of time for running boxes whose policy allows
 * it. Where it asks a person, the command waits for the answer. */
#include "face/cli/boxes.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 200 };

struct state { /* of a box, as its keeper tells it */
        long long left_ms, renewed, renewals;
        bool session;
        char run[64], held[72], refused[128]; /* held: the id of a renewal that waits; or "" */
};

static void copy_text(const struct json *o, const char *key, char *ret, size_t cap)
{
        (void) snprintf(ret, cap, "%s", json_text(o, key));
}

static struct state state_of(const char *text)
{
        struct state s = { 0 };
        struct json_doc *d = cli_box_state(text);
        const struct json *o = d ? json_root(d) : NULL;
        if (o) {
                s.left_ms = (long long) json_int(o, "left_ms");
                s.renewed = (long long) json_int(o, "renewed");
                s.session = json_get(o, "session") != NULL;
                s.renewals = (long long) json_int(o, "renewals");
                copy_text(o, "run", s.run, sizeof s.run);
                copy_text(o, "renewal_held", s.held, sizeof s.held);
                copy_text(o, "renewal_refused", s.refused, sizeof s.refused);
        }

        json_free(d);
        return s;
}

/* Takes and returns a state of the box, or NULL: it was not renewed, which was said. The question stays if
 * this process ends. */
static char *wait_for_answer(const char *which, char *text)
{
        const struct state first = state_of(text);
        struct state s = first;
        cordon_error gone = { 0 };
        if (!first.held[0])
                return text;

        cli_note("%s: the renewal is waiting for approval; in another terminal: cordon approve %.12s", which,
                 first.held);
        while (text && strcmp(s.held, first.held) == 0) {
                (void) poll(NULL, 0, LOOK_MS);
                cordon_free(text);
                text = cordon_inspect(first.run, &gone);
                s = text ? state_of(text) : s;
        }

        if (text && s.renewed > first.renewed)
                return text;

        (void) cli_problem("%s: not renewed: %s", which,
                           text ? s.refused : "it ended before anybody approved it");
        cordon_free(text);
        return NULL;
}

static void say_renewed(const char *which, const char *text)
{
        const struct state s = state_of(text);
        long long left = s.renewals - s.renewed;
        (void) printf("%s: %llds %sleft, %lld renewal%s after this\n", which, s.left_ms / 1000,
                      s.session ? "of life " : "", left, left == 1 ? "" : "s");
}

static int renew(const char *which, bool json)
{
        cordon_error e = { 0 };
        char *state = cordon_renew(which, &e);
        if (!state)
                return cli_error(&e);

        state = wait_for_answer(which, state);
        if (!state)
                return EXIT_CORDON;

        if (json)
                (void) puts(state);
        else
                say_renewed(which, state);
        cordon_free(state);
        return 0;
}

int verb_renew(int argc, char **argv)
{
        struct cli_shared asked = { 0 };
        int status = 0;
        int at = cli_take(argc, argv, &asked);
        if (at < 0)
                return EXIT_CORDON;

        for (; at < argc; at++) {
                int r = renew(argv[at], asked.json);
                status = r ? r : status;
        }

        return status;
}

/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_boxes.c - verbs for running boxes: ps, stop, inspect, logs. */
#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "face/cli/boxes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void print_row(const struct json *o)
{
        const struct json *command = json_get(o, "command");
        const char *run = cli_text_of(o, "run");
        (void) printf("%-22.*s %-16s %8llds  ", str_run_shown(run), run, cli_text_of(o, "name"),
                      (long long) json_int(o, "age_ms") / 1000);
        for (const struct json *w = command ? command->child : NULL; w; w = w->next) {
                char shown[41]; /* an argument may be an untrusted file name */
                (void) printf("%s%s", str_inert(span_str(w->str), shown, sizeof shown), w->next ? " " : "");
        }

        (void) putchar('\n');
}

static void print_words(const struct json *list)
{
        char shown[400];

        for (const struct json *w = list->child; w; w = w->next)
                (void) printf("%s%s", str_inert(span_str(w->str), shown, sizeof shown), w->next ? " " : "");
}

/* A line for each member. */
static void print_members(const struct json *o)
{
        char shown[400];

        for (const struct json *m = o->child; m; m = m->next) {
                (void) printf("%-13s ", m->key);
                if (m->type == JSON_ARRAY)
                        print_words(m);
                else if (m->str)
                        (void) fputs(str_inert(span_str(m->str), shown, sizeof shown), stdout);
                else
                        (void) fputs(m->type == JSON_TRUE    ? "yes"
                                     : m->type == JSON_FALSE ? "no"
                                                             : "-",
                                     stdout);
                (void) putchar('\n');
        }
}

static int show_box(const char *box, bool json)
{
        cordon_error e = { 0 };
        char *text = cordon_inspect(box, &e);
        if (!text)
                return cli_error(&e);

        struct json_doc *d = json ? NULL : cli_box_state(text);
        if (d)
                print_members(json_root(d));
        else
                (void) puts(text);

        json_free(d);
        cordon_free(text);
        return 0;
}

int verb_ps(int argc, char **argv)
{
        static const struct cli_box_list all = { "RUN                    NAME                   AGE  COMMAND",
                                                 print_row, false };
        struct cli_shared o = { 0 };
        int at = cli_take(argc, argv, &o);
        return at < 0 ? EXIT_CORDON : at < argc ? show_box(argv[at], o.json) : cli_boxes_list(&all, o.json);
}

struct logs {
        bool follow;
        char line[1000]; /* on a terminal: an incomplete line */
        size_t n;
};

const struct cli_option logs_options[] = {
        { "follow", 'f', NULL, "go on until the box ends", CLI_FLAG(struct logs, follow) },
        { 0 },
};

static void show_line(struct logs *l, const char *end)
{
        char shown[4 * sizeof l->line + 16];
        (void) fputs(str_inert(span_of(l->line, l->n), shown, sizeof shown), stdout);
        (void) fputs(end, stdout);
        l->n = 0;
}

/* On a terminal a box's output must not move the cursor or set the title. */
static void put_shown(void *ctx, const void *data, size_t len)
{
        struct logs *l = ctx;
        const char *text = data;
        for (size_t i = 0; i < len; i++) {
                bool begins = ((unsigned char) text[i] & 0xc0) != 0x80;
                if (text[i] == '\n') {
                        show_line(l, "\n");
                        continue;
                }
                if (l->n == sizeof l->line || (begins && l->n > sizeof l->line - 8))
                        show_line(
                                l,
                                ""); /* a long line comes in pieces, none of which ends inside a character */
                l->line[l->n++] = text[i];
        }

        (void) fflush(stdout);
}

static void put_raw(void *ctx, const void *data, size_t len)
{
        (void) ctx;
        (void) fwrite(data, 1, len, stdout);
        (void) fflush(stdout);
}

int verb_logs(int argc, char **argv)
{
        cordon_error e = { 0 };
        struct logs l = { 0 };
        int at = cli_take(argc, argv, &l);
        if (at < 0)
                return EXIT_CORDON;

        int r = cordon_logs(cli_context(), argv[at], l.follow, isatty(1) ? put_shown : put_raw, &l, 1, &e);
        if (l.n > 0)
                show_line(&l, "\n");

        return r < 0 ? cli_error(&e) : 0;
}

struct stop {
        bool kill;
        long grace_s;
};

static int set_grace(void *ctx, const char *value)
{
        char *end;
        long s = strtol(value, &end, 10);
        if (end == value || (*end && strcmp(end, "s") != 0) || s < 0 || s > 3600)
                return cli_usage("--time takes seconds, 0 to 3600"), -1;
        ((struct stop *) ctx)->grace_s = s;
        return 0;
}

const struct cli_option stop_options[] = {
        { "kill", 'k', NULL, "send SIGKILL at once", CLI_FLAG(struct stop, kill) },
        { "time", 't', "SECONDS", "seconds between SIGTERM and SIGKILL (default: 10)", CLI_CALL(set_grace) },
        { 0 },
};

static bool is_gone(const char *which)
{
        cordon_error e;
        char *state = cordon_inspect(which, &e);
        cordon_free(state);
        return state == NULL;
}

/* The running boxes, queried once for all names of the command line. */
struct known {
        char run[64], name[72];
        bool session;
};
struct known_boxes {
        struct known *v;
        size_t n, cap;
        bool failed;
};

static void know_box(void *ctx, const struct json *o, const char *text)
{
        struct known_boxes *k = ctx;
        (void) text;
        if (vec_room((void **) &k->v, k->n, &k->cap, sizeof *k->v) < 0) {
                k->failed = true;
                return;
        }

        struct known *one = &k->v[k->n++];
        (void) snprintf(one->run, sizeof one->run, "%s", cli_text_of(o, "run"));
        (void) snprintf(one->name, sizeof one->name, "%s",
                        json_get(o, "refused") ? "" : cli_text_of(o, "name"));
        one->session = json_get(o, "session") != NULL;
}

/* The full id of the one box that this names; else the given text, and the library reports the error. */
static const char *whole_id(const struct known_boxes *k, const char *given)
{
        const char *found = given;
        size_t matches = 0;
        for (size_t i = 0; i < k->n; i++)
                if (given[0] &&
                    (strncmp(k->v[i].run, given, strlen(given)) == 0 || strcmp(k->v[i].name, given) == 0)) {
                        found = k->v[i].run;
                        matches++;
                }

        return matches == 1 ? found : given;
}

/* A session ends in order, and reports the changes that it held back. */
static int stop_sessions(const struct known_boxes *k, const char **which, size_t n)
{
        int status = 0;
        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < k->n && which[i]; j++)
                        if (k->v[j].session && strcmp(k->v[j].run, which[i]) == 0) {
                                status = cli_session_end(which[i], false) ? EXIT_CORDON : status;
                                which[i] = NULL;
                        }

        return status;
}

/* Waits until all are gone, up to a timeout; those that are gone become NULL. Returns true if none is
 * left. */
static bool await_all(const char **which, size_t n, long ticks)
{
        struct timespec tick = { 0, 20000000 };
        for (long waited = 0;; waited++) {
                size_t left = 0;
                for (size_t i = 0; i < n; i++) {
                        if (which[i] && is_gone(which[i]))
                                which[i] = NULL;
                        left += which[i] != NULL;
                }
                if (left == 0 || waited >= ticks)
                        return left == 0;
                (void) nanosleep(&tick, NULL);
        }
}

/* All are signalled before the first is waited for. */
static int stop_all(const char **which, size_t n, const struct stop *s)
{
        cordon_error e = { 0 };
        int status = 0;
        for (size_t i = 0; i < n; i++)
                if (which[i] && cordon_stop(which[i], s->kill ? SIGKILL : SIGTERM, &e) < 0) {
                        status = cli_error(&e);
                        which[i] = NULL;
                }

        if (await_all(which, n, s->kill ? 0 : s->grace_s * 50))
                return status;

        for (size_t i = 0; i < n; i++)
                if (which[i])
                        (void) cordon_stop(which[i], SIGKILL, &e);

        (void) await_all(which, n, 250);
        for (size_t i = 0; i < n; i++)
                if (which[i])
                        status = cli_usage("the box %s did not end", which[i]);

        return status;
}

int verb_stop(int argc, char **argv)
{
        struct stop s = { .grace_s = 10 };
        int at = cli_take(argc, argv, &s);
        if (at < 0)
                return EXIT_CORDON;

        cordon_error e = { 0 };
        struct known_boxes k = { 0 };
        size_t n = (size_t) (argc - at);
        const char **which = calloc(n, sizeof *which);
        int status = EXIT_CORDON;
        if (!which || cli_boxes_each(know_box, &k, &e) < 0 || k.failed) {
                status = which && !k.failed ? cli_error(&e) : cli_usage("no memory");
        } else {
                for (size_t i = 0; i < n; i++)
                        which[i] = whole_id(&k, argv[at + (int) i]);
                int sessions = stop_sessions(&k, which, n);
                status = stop_all(which, n, &s);
                status = status ? status : sessions;
        }

        free(which);
        free(k.v);
        return status;
}

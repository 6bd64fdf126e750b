/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_mcp.c - `cordon mcp`: options of the server. */
#include "face/cli/cli.h"
#include "face/mcp/mcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct serving {
        struct mcp_options o;
        char *work, token_file[CLI_TOKEN_PATH];
};

/* As of `run`; runs also start there: clients start servers anywhere. */
static int set_work(void *ctx, const char *value)
{
        struct serving *s = ctx;
        return cli_work_set(s->o.policy, &s->work, value);
}

static int set_sessions(void *ctx, const char *value)
{
        return cli_count("--sessions", value, 1, 32, &((struct serving *) ctx)->o.sessions);
}

static int set_approve(void *ctx, const char *value)
{
        if (strcmp(value, "client") != 0 && strcmp(value, "outside") != 0)
                return cli_usage("--approve takes client or outside"), -1;
        ((struct serving *) ctx)->o.outside = strcmp(value, "outside") == 0;
        return 0;
}

const struct cli_option mcp_options[] = {
        { "work", 0, "DIR", "what {work} means, and where runs start (default: here)", set_work },
        { "socket", 0, "PATH", "listen at a Unix socket (default: standard input and output)",
          CLI_TEXT(struct serving, o.socket) },
        { "http", 0, "ADDRESS", "serve HTTP instead: 127.0.0.1:PORT or unix:PATH, with a bearer token",
          CLI_TEXT(struct serving, o.http) },
        { "token-file", 0, "FILE", "HTTP: the token; made if missing (default: ~/.config/cordon/mcp-token)",
          CLI_TEXT(struct serving, o.token_file) },
        { "approve", 0, "client|outside",
          "who agrees to apply changes: a form of the client (the default), or only `cordon apply`",
          set_approve },
        { "sessions", 0, "N", "at most so many sessions at once (default: 8)", set_sessions },
        { "session-time", 0, "TIME", "a session lasts so long (default: 1d)",
          CLI_TEXT(struct serving, o.session_time) },
        { "session-idle", 0, "TIME", "and ends after so long without a run (default: 1h)",
          CLI_TEXT(struct serving, o.session_idle) },
        { "stage", 0, "live|test|mock", "where places lead (default: live)",
          CLI_TEXT(struct serving, o.stage) },
        { "places", 0, "FILE", "where @name leads in each stage", CLI_TEXT(struct serving, o.places) },
        { "ledger", 0, "on|off", "record the runs (default: on)", CLI_TEXT(struct serving, o.ledger) },
        { 0 },
};

/* Beside the tokens of `cordon serve`: a client's configuration has it for good. */
int cli_mcp_token(const char *http, const char **file, char place[CLI_TOKEN_PATH])
{
        const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
        if (*file || !http)
                return 0;

        int n = config && config[0] == '/' ? snprintf(place, CLI_TOKEN_PATH, "%s/cordon/mcp-token", config)
                : home && home[0] == '/'
                        ? snprintf(place, CLI_TOKEN_PATH, "%s/.config/cordon/mcp-token", home)
                        : -1;
        if (n < 0 || n >= CLI_TOKEN_PATH)
                return cli_usage("--http needs --token-file FILE: no variable names a home directory"), -1;
        *file = place;
        return 0;
}

static void say(const char *text) { cli_note("%s", text); }

static int serve(struct serving *s, int argc, char **argv)
{
        cordon_error e = { 0 };
        int at = cli_options(argc, argv, cli_verb_find("mcp"), s, s->o.policy);
        if (at < 0 || cli_no_words(argc, at, "mcp") ||
            cli_mcp_token(s->o.http, &s->o.token_file, s->token_file) < 0)
                return EXIT_CORDON;
        if (s->o.http && s->o.socket)
                return cli_usage("--http and --socket exclude each other");

        if (s->work && chdir(s->work) < 0)
                return cli_usage("--work %s: %s", s->work, strerror(errno));

        return mcp_serve(&s->o, &e) < 0 ? cli_error(&e) : 0;
}

int verb_mcp(int argc, char **argv)
{
        struct serving s = {
                .o = { .cx = cli_context(), .sessions = 8, .say = say, .policy = cli_policy_new() }
        };
        int status = s.o.policy ? serve(&s, argc, argv) : EXIT_CORDON;
        cordon_policy_free(s.o.policy);
        free(s.work);
        return status;
}

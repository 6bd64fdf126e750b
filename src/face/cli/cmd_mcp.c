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
        struct cli_shared asked;
        struct mcp_options o;
        const char *approve;
        char token_file[CLI_TOKEN_PATH];
};

const struct cli_option mcp_options[] = {
        { "socket", 0, "PATH", "listen at a Unix socket (default: standard input and output)",
          CLI_TEXT(struct serving, o.socket) },
        { "approve", 0, "client|outside",
          "who may apply changes: the client's form (default), or `cordon apply` outside",
          CLI_TEXT(struct serving, approve) },
        { "sessions", 0, "N", "at most so many sessions at once (default: 8)",
          CLI_COUNT(struct serving, o.sessions, 1, 32) },
        { "session-time", 0, "TIME", "a session lasts so long (default: 1d)",
          CLI_TEXT(struct serving, o.session_time) },
        { "session-idle", 0, "TIME", "and ends after so long without a run (default: 1h)",
          CLI_TEXT(struct serving, o.session_idle) },
        { 0 },
};

/* Beside the tokens of `cordon serve`: a client's configuration has it for good. */
int cli_mcp_token(struct cli_shared *asked, char place[CLI_TOKEN_PATH])
{
        const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
        if (asked->token_file || !asked->http)
                return 0;

        int n = config && config[0] == '/' ? snprintf(place, CLI_TOKEN_PATH, "%s/cordon/mcp-token", config)
                : home && home[0] == '/'
                        ? snprintf(place, CLI_TOKEN_PATH, "%s/.config/cordon/mcp-token", home)
                        : -1;
        if (n < 0 || n >= CLI_TOKEN_PATH)
                return cli_usage("--http needs --token-file FILE: no variable names a home directory"), -1;
        asked->token_file = place;
        return 0;
}

static void say(const char *text) { cli_note("%s", text); }

static int serve(struct serving *s, int argc, char **argv)
{
        cordon_error e = { 0 };
        const struct cli_shared *asked = &s->asked;
        int at = cli_take_doors(argc, argv, s, s->o.policy);
        if (at < 0 || cli_mcp_token(&s->asked, s->token_file) < 0 || cli_work(s->o.policy, asked->work) < 0)
                return EXIT_CORDON;

        s->o.http = asked->http;
        s->o.token_file = asked->token_file;
        s->o.stage = asked->stage;
        s->o.places = asked->places;
        s->o.ledger = asked->ledger;
        s->o.outside = s->approve && strcmp(s->approve, "outside") == 0;
        if (s->o.http && s->o.socket)
                return cli_usage("--http and --socket exclude each other");

        if (asked->work && chdir(asked->work) < 0) /* clients start servers anywhere */
                return cli_usage("--work %s: %s", asked->work, strerror(errno));

        return mcp_serve(&s->o, &e) < 0 ? cli_error(&e) : 0;
}

int verb_mcp(int argc, char **argv)
{
        struct serving s = {
                .o = { .cx = cli_context(), .sessions = 8, .say = say, .policy = cli_policy_new() }
        };
        int status = s.o.policy ? serve(&s, argc, argv) : EXIT_CORDON;
        cordon_policy_free(s.o.policy);
        return status;
}

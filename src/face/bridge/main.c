/* SPDX-License-Identifier: MIT */
/* face/bridge/main.c - cordon-bridge URL MAX: see bridge.h. */
#include "face/bridge/bridge.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { END_SECONDS = 2 };

static struct bridge bridge = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void take_notification(const struct rpc *m)
{
        AUTO_BUF(id);
        const struct json *of = strcmp(m->method, "notifications/cancelled") == 0 && m->params
                                        ? json_get(m->params, "requestId")
                                        : NULL;
        if (!rpc_is_id(of))
                return;
        rpc_put_id(&id, of);
        bridge_cancel(&bridge, buf_str(&id));
}

/* The stream for what a server of the older era says unasked, once it is initialized. */
static void listen_once(const struct rpc *m)
{
        if (bridge.listens || bridge_is_modern(m) || strcmp(m->method, "notifications/initialized") != 0)
                return;
        bridge.listens = true;
        bridge_begin(&bridge, "GET", NULL);
}

static void take_line(const char *text)
{
        struct rpc m;
        rpc_read(span_str(text), &m);
        bool modern = bridge_is_modern(&m), told = m.kind == RPC_NOTIFICATION;
        if (told)
                take_notification(&m);
        if (m.kind != RPC_INVALID && !(told && modern && strcmp(m.method, "notifications/cancelled") == 0))
                bridge_begin(&bridge, "POST", strdup(text));
        if (m.kind == RPC_REQUEST && strcmp(m.method, "initialize") == 0)
                bridge_wait(&bridge, BRIDGE_SILENT_S); /* what follows is of its session */
        if (told)
                listen_once(&m);
        rpc_done(&m);
}

int main(int argc, char **argv)
{
        char *line = NULL;
        size_t cap = 0;
        ssize_t n;
        if (argc != 3 || bridge_url_read(argv[1], &bridge.url) < 0) {
                (void) fputs("cordon: error: cordon-bridge is started by cordon itself, for an MCP server\n"
                             "cordon: hint: cordon mcp wrap --url http://127.0.0.1:8000/mcp\n",
                             stderr);
                return 125;
        }

        (void) signal(SIGPIPE, SIG_IGN);
        bridge.max = strtoul(argv[2], NULL, 10);
        bridge.tls = bridge.url.tls ? bridge_tls_new() : NULL;
        if (bridge.url.tls && !bridge.tls) {
                (void) fputs("cordon: error: no roots for TLS\n", stderr);
                return 125;
        }

        while ((n = getline(&line, &cap, stdin)) > 0) {
                line[n - (line[n - 1] == '\n')] = '\0';
                take_line(line);
        }

        bridge_wait(&bridge, END_SECONDS);
        if (bridge.session.id[0]) {
                bridge_begin(&bridge, "DELETE", NULL);
                bridge_wait(&bridge, END_SECONDS);
        }
        free(line);
        return 0;
}

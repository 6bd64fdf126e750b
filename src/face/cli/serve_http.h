/* SPDX-License-Identifier: MIT */
/* face/cli/serve_http.h - the HTTP side of `cordon serve`, as options have it. */
#pragma once
#include "face/serve/serve.h"

struct cli_http {
        const char *listen[SERVE_LISTEN_MAX + 1], *hosts[SERVE_HOSTS_MAX + 1];
        size_t count, host_count;
        const char *config; /* NULL: the default */
        char path[4096];
        const char *tls_certificate, *tls_key;
        char tls_program[4096];
        unsigned runs, gpu_boxes, drain_s;
        enum serve_log_form log;
};

/* -1 after reporting that there are too many. */
int cli_http_listen(struct cli_http *h, const char *value);
int cli_http_host(struct cli_http *h, const char *value);
/* Finds the directory, and sets variables that both processes need. -1 after reporting an error. */
int cli_http_prepare(struct cli_http *h);
/* Serves until a signal. Returns the exit status. */
int cli_http_serve(struct cli_http *h);

/* SPDX-License-Identifier: MIT */
/* mcp/mcp.h - boxes for models: a server of the Model Context Protocol on top of libcordon. */
#pragma once
#include "cordon.h"

#include <stdbool.h>

struct mcp_options {
        const cordon_context *cx;
        cordon_policy *policy; /* of every box; nothing that a client sends changes it */
        const char *socket;    /* a path to listen at; NULL: standard input and output */
        bool outside;          /* a person approves with `cordon apply`, never through the client */
        unsigned sessions;     /* at most so many at once */
        /* As of `cordon run`; NULL: the default. */
        const char *session_time, *session_idle, *stage, *places, *ledger;
};

/* Serves until the input ends, or with a socket until SIGTERM. Ends all its boxes. */
int mcp_serve(const struct mcp_options *o, cordon_error *e);

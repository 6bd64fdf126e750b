/* SPDX-License-Identifier: MIT */
/* face/mcp/mcp.h - boxes for models: a server of the Model Context Protocol on top of libcordon. */
#pragma once
#include "cordon.h"

#include <stdbool.h>

struct mcp_options {
        const cordon_context *cx;
        cordon_policy *policy; /* of every box; nothing that a client sends changes it */
        const char *socket;    /* a path to listen at; NULL: standard input and output */
        const char *http;      /* an address of listen_at(): HTTP instead; needs: */
        const char *token_file;
        void (*say)(const char *text); /* to the person */
        bool outside;                  /* a person approves with `cordon apply`, never through the client */
        unsigned sessions;             /* at most so many at once */
        /* As of `cordon run`; NULL: the default. */
        const char *session_time, *session_idle, *stage, *places, *ledger;
};

/* Serves until the input ends, or with a socket or HTTP until SIGTERM. Ends all its boxes. */
int mcp_serve(const struct mcp_options *o, cordon_error *e);

struct mcp_wrap_options {
        const cordon_context *cx;
        cordon_policy *policy;
        const char *const *argv; /* the server */
        const char *name;        /* of its pinned tools */
        size_t max;              /* bytes of one message */
        unsigned seconds;        /* for the answer to a request */
        unsigned rate;           /* calls in a minute */
        unsigned permitted; /* what the server may ask of the client: 1 sampling, 2 elicitation, 4 roots */
        const char *stage, *places, *ledger;
        const char *http; /* an address of listen_at(): clients come over HTTP, with the token of: */
        const char *token_file;
        void (*say)(const char *text);                          /* to the person */
        void (*ended)(const cordon_result *r, const char *run); /* what the box was refused */
};

/* Runs a server of the protocol in a box, between the box and a client on standard input and output, or
 * clients over HTTP until SIGTERM. */
int mcp_wrap(const struct mcp_wrap_options *o, int *ret_status, cordon_error *e);
/* The offers of the server of this name that were not accepted, as text, or NULL with *e set. `agree`, unless
 * NULL, shows it to a person and returns 0 or -1 with *e set; after 0 exactly that is accepted. */
char *mcp_wrap_changes(const cordon_context *cx, const char *name,
                       int (*agree)(const char *shown, cordon_error *e), cordon_error *e);

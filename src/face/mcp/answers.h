/* SPDX-License-Identifier: MIT */
/* face/mcp/answers.h - the answers of tools, when what they wait for has happened. Each frees its call. */
#pragma once
#include "face/mcp/internal.h"

/* Tools that wait for nothing. -1 with *e set: not answered. */
int mcp_answer_now(struct mcp_server *s, struct mcp_call *c, const struct json *args, cordon_error *e);
void mcp_answer_session(struct mcp_server *s, struct mcp_call *c); /* it is up */
void mcp_answer_ended(struct mcp_server *s, struct mcp_call *c);   /* it has ended */
void mcp_answer_run(struct mcp_server *s, struct mcp_call *c);     /* a run has ended */

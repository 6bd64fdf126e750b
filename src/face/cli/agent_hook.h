/* SPDX-License-Identifier: MIT */
/* face/cli/agent_hook.h - an agent's own tool hook: the text of its settings, and the answer to one call.
 * Decides only. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

struct agent_hook {
        const char *agent;
        const char *file;    /* of the project */
        const char *event;   /* before a tool runs */
        const char *matcher; /* the tools that run shell commands: a regular expression */
        /* The answer around the tool's changed input; the one that refuses ends in a JSON text. */
        const char *before, *after, *deny, *deny_end;
        /* A program of its own instead of settings: its text around the quoted command; or NULL. */
        const char *program, *program_end;
        const char *note; /* what the user still has to do; or NULL */
};
/* NULL: this agent has none. */
const struct agent_hook *agent_hook_find(const char *agent);

/* The settings with a hook that runs `command`; an empty text: a new file. Returns -1 with *e set. */
int agent_hook_add(const struct agent_hook *h, struct span settings, const char *command, struct buf *out,
                   struct err *e);
/* The settings as they were. Returns 1; 2: the file was the hook's own; 0: it has no hook of ours. */
int agent_hook_remove(const struct agent_hook *h, struct span settings, struct buf *out);

/* The shell command of a call, in `ret`; -1 with *e set: the call has none. */
int agent_hook_command(struct span call, struct buf *ret, struct err *e);
/* The answer that lets the call run `command` in place of its own. */
int agent_hook_answer(const struct agent_hook *h, struct span call, const char *command, struct buf *out,
                      struct err *e);
void agent_hook_deny(const struct agent_hook *h, const char *why, struct buf *out);

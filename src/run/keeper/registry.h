/* SPDX-License-Identifier: MIT */
/* run/keeper/registry.h - what passes between a keeper (registry.c) and those that ask it (registry_ask.c).
 */
#pragma once
#include "base/wire/wire.h"
#include "run/keeper/internal.h"

#include <sys/socket.h>
#include <sys/un.h>

struct ask {
        uint32_t request; /* enum box_request; of an answer about output, enum logs_answer */
        int32_t arg;
};
enum logs_answer { LOGS_OFF = 0, LOGS_ON };
enum join_answer { JOIN_LINE = 0, JOIN_REFUSED };
enum renew_answer { RENEW_DONE = 0, RENEW_REFUSED };
enum {
        ASK_REFUSED = 100,
        REFUSED = -2
}; /* an answer to any request, with the reason; what the caller gets */

extern const struct wire_form registry_ask_form;
/* The abstract address of the keeper of this run: KIND/UID/RUN. Two kinds: "cordon", of this user's own
 * requests, and "cordon-gate", where approvers of other users ask too (docs/approve-protocol.md). */
socklen_t registry_address(struct sockaddr_un *a, const char *kind, uid_t uid, const char *run);
/* A socket that listens there, or -1 with errno. */
int registry_listen(const char *kind, int type, uid_t uid, const char *run, int backlog);
/* Calls `each`, until it returns false, with what stands behind `prefix` in each address, once. */
int registry_each(const char *prefix, bool (*each)(void *ctx, const char *rest), void *ctx, struct err *e);
bool registry_peer_is(int fd, uid_t uid);
/* What follows from it is a run in the session. */
bool registry_is_of_session(const struct ask *q);

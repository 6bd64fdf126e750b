/* SPDX-License-Identifier: MIT */
/* face/serve/own.h - the page of one person, `cordon serve page`: the boxes, records, approvals and changes
 * of the user who started it, as the one tenant of a server that has no directory. It starts no box. */
#pragma once
#include "face/serve/internal.h"

int own_begin(struct server *s, cordon_error *e);
/* own_address.c: the tenant, and the secret of the address. */
int own_address(struct server *s, cordon_error *e);
void own_end(struct server *s);
/* Tells the address. Once, when the server listens. */
void own_ready(struct server *s);
/* Is the other end of a connection over TCP this user's? No other user of the host is answered. */
bool own_peer(int fd);

/* The routes of runs, from the ledger and the boxes that run. */
serve_handler own_runs, own_run, own_stop;
/* Calls `each` for every box of this user that may wait for an approval, until it returns true. */
bool own_askers(struct server *s, bool (*each)(void *ctx, const struct asker *a), void *ctx);

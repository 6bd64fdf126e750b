/* SPDX-License-Identifier: MIT */
/* base/listen_at.h - the sockets of servers. */
#pragma once
#include "base/err.h"

#include <stdint.h>

/* The value of --http: "127.0.0.1:PORT", "[::1]:PORT" (0: the kernel chooses), "unix:PATH". Only loopback
 * addresses: what crosses a network needs TLS, which a reverse proxy speaks. Returns a descriptor, or -1 with
 * *e set. */
int listen_at(const char *where, uint16_t *ret_port, struct err *e);
/* The same, and any address of this host: "0.0.0.0:PORT", "[::]:PORT". For what speaks TLS. */
int listen_anywhere(const char *where, uint16_t *ret_port, struct err *e);
/* A Unix socket for this user, mode 0600. `option` and `where` are for messages. */
int listen_unix(const char *option, const char *where, const char *path, struct err *e);
void listen_remove(const char *where); /* the file of a Unix socket */

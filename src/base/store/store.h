/* SPDX-License-Identifier: MIT */
/* base/store/store.h - the state directory, with everything that cordon keeps between runs: overlays of
 * `edit` doors, the ledger, sealed credentials, output of detached boxes. It belongs to one user, is closed
 * to all others, and no box ever sees it.
 *
 *     $CORDON_STATE, else /var/lib/cordon for root, else $XDG_STATE_HOME/cordon, else ~/.local/state/cordon
 */
#pragma once
#include "base/context/context.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { STORE_PATH_MAX = 3072 };

/* Its path, absolute and lexically clean; creates nothing. Returns 0, or -1 if no variable names it. */
int store_path(const struct cordon_context *cx, char ret_path[STORE_PATH_MAX], struct err *e);
/* Returns -1 if CORDON_STATE is set to an unusable path. Then nothing could be kept, found, or hidden from a
 * box. */
int store_variable(const struct cordon_context *cx, struct err *e);
/* Opens it, and creates it if missing. Returns a directory descriptor, or -1. Refuses a directory that the
 * caller does not own or that others may enter. */
int store_open(const struct cordon_context *cx, struct err *e);
/* Opens a subdirectory, and creates it with mode 0700 if missing. */
int store_dir(int parent, const char *name, struct err *e);

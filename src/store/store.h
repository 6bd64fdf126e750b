/* SPDX-License-Identifier: MIT */
/* store/store.h - the one directory in which cordon keeps things between runs: layers of `edit` doors, the
 * ledger, sealed credentials, output of detached boxes. It belongs to one user, nobody else may enter it, and
 * no box ever sees it.
 *
 *   $CORDON_STATE, else /var/lib/cordon for root, else $XDG_STATE_HOME/cordon, else ~/.local/state/cordon */
#pragma once
#include "base/err.h"
#include "context/context.h"

#include <stdbool.h>
#include <stddef.h>

enum { STORE_PATH_MAX = 3072 };

/* Where it is, absolute and lexically clean; makes nothing. 0, or -1: no variable says where. */
int store_path(const struct cordon_context *cx, char ret_path[STORE_PATH_MAX], struct err *e);
/* -1: CORDON_STATE is set, and to no path that can be one. Nothing could be kept, found, or hidden from a
 * box. */
int store_variable(const struct cordon_context *cx, struct err *e);
/* Opens it, made where it is missing. A directory descriptor, or -1. Refuses a directory that is not the
 * caller's own or that others may enter. */
int store_open(const struct cordon_context *cx, struct err *e);
/* Opens a directory of ours in one that is open, made with mode 0700 where it is missing. */
int store_dir(int parent, const char *name, struct err *e);

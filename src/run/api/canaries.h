/* SPDX-License-Identifier: MIT */
/* run/api/canaries.h - the canaries of a box: its own, and those planted in the caller's files. */
#pragma once
#include "run/api/internal.h"

/* Makes and reads them, before the plan is made. */
/* Calls `each` with every planted canary, until it returns -1. -1: the list is not what it should be. */
int api_planted_each(const struct cordon_context *cx,
                     int (*each)(void *ctx, const char *path, const char *value), void *ctx, struct err *e);
int api_canaries(struct cordon_box *b, struct err *e);
/* Those of the box itself: appends files, and variables; the array has room for API_CANARIES_OWN more. */
int api_canary_files(const struct cordon_box *b, struct plan_file *v, size_t *n);
int api_canary_variables(const struct cordon_box *b, const char **v, size_t *n);

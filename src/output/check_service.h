/* SPDX-License-Identifier: MIT */
/* output/check_service.h - cordon-output as a service: process.h. */
#pragma once
#include "output/process.h"

/* Serves until `line` ends. Returns 0, or -1 with *e set if it cannot begin. */
int check_service(const struct output_order *o, int line, struct err *e);

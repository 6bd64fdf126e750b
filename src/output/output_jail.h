/* SPDX-License-Identifier: MIT */
/* output/output_jail.h - the walls of cordon-output. */
#pragma once
#include "base/err.h"

/* From here on the process can read and write the descriptors it has, and use bounded memory and time. */
int output_jail(uint32_t become, struct err *e);
/* The same for a process that makes one for each check, and reads nothing itself; and what each of them gives
 * up besides. */
int output_jail_service(uint32_t become, struct err *e);
int output_jail_check(struct err *e);

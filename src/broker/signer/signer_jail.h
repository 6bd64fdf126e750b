/* SPDX-License-Identifier: MIT */
/* broker/signer/signer_jail.h - the walls of cordon-signer. */
#pragma once
#include "base/err.h"

#include <stdint.h>

/* After it, the process reads and writes sockets that it has or is given, and nothing else. `become`: an id
 * that owns nothing; 0: stay. Returns 0, or -1 with *e set. */
int signer_jail(uint32_t become, struct err *e);

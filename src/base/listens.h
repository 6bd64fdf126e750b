/* SPDX-License-Identifier: MIT */
/* base/listens.h - checks whether a process listens on a port of the loopback interface. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* In the network namespace of this process. `proc`: a /proc of it. Does not connect, so the listener does
 * not notice. */
bool listens_on_loopback(int proc, uint16_t port);

/* SPDX-License-Identifier: MIT */
/* base/listens.h - does anybody listen on a port of the loopback? */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* In the network namespace of this process. `proc`: a /proc of it. Nobody who listens hears of the question.
 */
bool listens_on_loopback(int proc, uint16_t port);

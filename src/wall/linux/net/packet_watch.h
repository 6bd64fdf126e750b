/* SPDX-License-Identifier: MIT */
/* wall/linux/net/packet_watch.h - reports packets that no listener takes. */
#pragma once
#include "wall/plan/plan.h"

/* On the link `index`. A socket, or -1 with errno. */
int wall_watch_open(const struct plan *plan, int index);

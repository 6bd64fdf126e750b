/* SPDX-License-Identifier: MIT */
/* broker/egress/streams.h - connections of the box that speak HTTP/2: each stream is served by a flow of its
 * own, whose client is not a socket but a stream of its parent. */
#pragma once
#include "broker/egress/internal.h"

/* Continues the flows of a connection whose streams have news. */
void streams_serve(struct flow *f);
/* The connection is cut off for this reason: so is every request on it. */
void streams_cut(struct flow *f, enum effect_reason why);

/* Reads and writes for the flow of a stream, as its socket would. */
bool streams_take_in(struct flow *f);
bool streams_give_out(struct flow *f);
/* The stream is answered: the flow is idle, or (false) there are enough of those. */
bool streams_rest(struct flow *f);
void streams_leave(struct flow *f); /* the flow is over */

/* SPDX-License-Identifier: MIT */
/* egress/broker/departure.h - what stands between an effect that a door covers and the network. */
#pragma once
#include "egress/http/http.h"
#include "egress/internal.h"

/* A connection whose requests nobody sees; a request. STAYS: with *ret_why and what else is known of it.
 * WAITS: flow_recorded() hears of it. */
enum http_leave departure_connect(struct flow *f, enum effect_reason *ret_why, const char **ret_detail);
enum http_leave departure_request(struct flow *f, const struct http_event *e, enum effect_reason *ret_why,
                                  const char **ret_detail);

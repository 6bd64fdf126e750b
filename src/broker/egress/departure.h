/* SPDX-License-Identifier: MIT */
/* broker/egress/departure.h - the checks between an effect that a door covers and the network. */
#pragma once
#include "broker/egress/http/http.h"
#include "broker/egress/internal.h"

/* An opaque connection; a request. STAYS: denied, with *ret_why and the detail. WAITS: flow_recorded() is
 * called later. */
enum http_leave departure_connect(struct flow *f, enum effect_reason *ret_why, const char **ret_detail);
/* It waited, and is to leave or not: f->recorded. Returns whether it may still leave; else f->record_why. */
bool departure_again(struct flow *f);
enum http_leave departure_request(struct flow *f, const struct http_event *e, enum effect_reason *ret_why,
                                  const char **ret_detail);

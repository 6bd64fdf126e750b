/* SPDX-License-Identifier: MIT */
/* egress/broker/requests.h - flows under rules that see requests. */
#pragma once
#include "egress/http/http.h"
#include "egress/internal.h"

int requests_take_grants(struct broker *b, int fd, struct err *e); /* before all else: locked memory */
int requests_take_places(struct broker *b, struct span text, struct err *e);
int requests_take_answers(struct broker *b, struct span text, struct err *e);
bool requests_name_host(const struct broker *b, const char *host); /* of a place that a door names */
int requests_start(struct broker *b, struct err *e); /* before the jail: reads the host's roots */
bool requests_cover(const struct broker *b, const char *host, uint16_t port, bool raw_door);
void requests_clock(struct broker *b);
int requests_begin(struct flow *f);
void requests_event(struct flow *f, struct source *s, uint32_t events);
void requests_connected(struct flow *f);
void requests_not_connected(struct flow *f, enum effect_reason why);
void requests_not_allowed(struct flow *f, const char *detail,
                          const char *permit); /* by the address's guard */
void requests_drive(struct flow *f);
void requests_leave(struct flow *f, bool leaves, const char *detail); /* the request that waited for it */
void requests_done(struct flow *f);
/* Bytes of the box so far, without those that no request has taken yet. */
uint64_t requests_sent(const struct flow *f);
void requests_last_words(struct broker *b); /* those that are under way count, too */
/* "POST https://host/path": how a request is written down. */
void requests_target(const struct http_event *e, char *out, size_t cap);

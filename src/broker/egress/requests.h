/* SPDX-License-Identifier: MIT */
/* broker/egress/requests.h - flows under rules that see requests. */
#pragma once
#include "broker/egress/http/http.h"
#include "broker/egress/internal.h"

int requests_take_canaries(struct broker *b, struct span text, struct err *e);
int requests_start(struct broker *b, struct err *e); /* before the jail: reads the host's roots */
int requests_begin(struct flow *f);
void requests_note(struct flow *f, const struct source *s, uint32_t events); /* the events of epoll */
void requests_connected(struct flow *f);
void requests_not_connected(struct flow *f, enum effect_reason why);
void requests_not_allowed(struct flow *f, const char *detail,
                          const char *permit);  /* by the address's guard */
enum flow_event requests_drive(struct flow *f); /* moves as many bytes as possible */
/* The request that waited for it. */
void requests_leave(struct flow *f, bool leaves, enum effect_reason why, const char *detail);
void requests_done(struct flow *f);
void requests_last_words(struct broker *b); /* includes those in progress */

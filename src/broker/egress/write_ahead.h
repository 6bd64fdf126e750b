/* SPDX-License-Identifier: MIT */
/* broker/egress/write_ahead.h - write-ahead log of external effects: an effect with consequences leaves only
 * after its intent is durable in the ledger, and has an outcome there afterwards. The broker has no files: it
 * sends requests to the ledger's writer over a socket, and only the requesting flow waits. */
#pragma once
#include "broker/egress/http/http.h"
#include "broker/egress/internal.h"

/* Its line is the keeper's. Without one the caller wants no ledger, and all goes at once. */
void ahead_serve(struct broker *b); /* answers, and bytes that were not taken before */
void ahead_tick(struct broker *b);

/* An opaque connection: connects now, later, or never. */
enum http_leave ahead_connect(struct flow *f, const char **ret_detail);
/* A request that is allowed and goes out next. */
enum http_leave ahead_request(struct flow *f, const struct http_event *e, const char **ret_detail);
/* Records the outcome. Returns false if no intent exists, so this is not an outcome. `event` may be NULL. */
bool ahead_over(struct flow *f, enum ledger_end end, const char *result, const struct http_event *event);
/* Bytes of the box so far, without those that no request has taken yet. */
uint64_t ahead_sent(const struct flow *f);
/* "https://host/path": how a request is written down. */
void ahead_url(const struct http_event *e, char *out, size_t cap);
/* The broker ends: open intents are reported, as far as the socket takes them at once. */
void ahead_last_words(struct broker *b);

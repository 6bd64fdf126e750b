/* SPDX-License-Identifier: MIT */
/* broker/egress/held.h - effects that wait until a person approves them: `ask`. The broker keeps the bytes,
 * sends the keeper what they are, and lets go exactly what was approved. */
#pragma once
#include "broker/egress/http/http.h"
#include "broker/egress/internal.h"

/* The line, from the keeper. Without one nothing that needs an approval leaves. */
int held_take_line(struct broker *b, int fd);
void held_serve(struct broker *b);

/* Holds it: WAITS, or STAYS with the reason. */
enum http_leave held_connect(struct flow *f, enum effect_reason asked_for, enum effect_reason *ret_why);
enum http_leave held_request(struct flow *f, const struct http_event *e, enum effect_reason asked_for,
                             enum effect_reason *ret_why);
/* The flow ends: what it waits for is withdrawn. */
void held_withdraw(struct flow *f);

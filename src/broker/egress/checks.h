/* SPDX-License-Identifier: MIT */
/* broker/egress/checks.h - answers that a door gives a form go through cordon-output: output/process.h. */
#pragma once
#include "broker/egress/internal.h"

/* The service has answered, or is gone. */
void checks_serve(struct broker *b);
/* Begins the check of an answer. False: it cannot be checked. */
bool checks_begin(struct flow *f, const struct door *d);
void checks_end(struct flow *f);
/* Moves bytes between the answer and its check. False: nothing moved. */
bool checks_move(struct flow *f);

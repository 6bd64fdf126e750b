/* SPDX-License-Identifier: MIT */
/* broker/egress/broker_labels.h - the label of the run, and what it lets leave. */
#pragma once
#include "broker/egress/http/http.h"
#include "broker/egress/internal.h"

/* Reads the label of the run's inputs. */
int labels_take(struct label *ret, struct span text, struct err *e);
/* Judges an effect through this door. `method` NULL: bytes. */
struct policy_flow labels_judge_door(const struct broker *b, const struct door *d, const char *method);
/* At the departure of an effect through f->door. `method` NULL: bytes. */
struct policy_flow labels_judge(struct flow *f, const char *method);
/* A person approved it, under the present label. */
void labels_approved(struct flow *f);
/* It waited, and may leave now: the reason why not, if the label has risen meanwhile. */
enum effect_reason labels_since(struct flow *f);
/* It is leaving, and the label has risen: the reason why the rest must not. */
enum effect_reason labels_stop(struct flow *f);
/* A server behind this door answers. */
void labels_join(struct broker *b, const struct label *by);
void labels_raise(struct broker *b, const struct door *d);
const char *labels_detail(struct broker *b); /* the label as text */

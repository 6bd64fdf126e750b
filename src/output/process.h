/* SPDX-License-Identifier: MIT */
/* output/process.h - cordon-output, the process that checks one stream or file. It gets the data on
 * descriptor 0, an order on 3, the vault's secrets of the run on 5 (struct grant_word each, if the order says
 * so), and nothing else; it writes what may leave to 1 and one JSON object to 4:
 *
 *   {"ok":true,"bytes":..,"passed":..,"truncated":false,"cut":{..},"findings":[..]}
 *   {"ok":false,"why":"...",...}
 *
 * Whoever started it hands on nothing after an end without that object. */
#pragma once
#include "output/pipeline.h"

#define OUTPUT_PROGRAM "cordon-output"
enum { OUTPUT_ORDER = 3, OUTPUT_REPORT = 4, OUTPUT_WORDS = 5, OUTPUT_FDS = 6 };
enum { OUTPUT_ORDER_MAX = 8 << 20, OUTPUT_REPORT_MAX = 32768 };

/* Writes the order; `become`: a user id that owns nothing, for a caller that is root; or 0. `vault`: there
 * are secrets on OUTPUT_WORDS. */
struct output_order_more {
        uint32_t become;
        bool vault;
};
void output_order_put(const struct pipeline_config *c, const struct output_order_more *more, struct buf *out);

struct output_order;
/* Reads one. NULL: *e has the reason. The configuration points into it. */
struct output_order *output_order_read(struct span text, struct err *e);
void output_order_free(struct output_order *o);
const struct pipeline_config *output_order_config(const struct output_order *o);
const struct output_order_more *output_order_more(const struct output_order *o);
/* Adds the vault's secrets. -1: they are cut off, or too many. */
int output_order_words(struct output_order *o, struct span records);

/* SPDX-License-Identifier: MIT */
/* output/process.h - cordon-output, the process that checks what a box wrote or is to read. It gets an order
 * on descriptor 3, the vault's secrets of the run on 5 (struct grant_word each, if the order says so), and
 * nothing else.
 *
 * One stream or file: the data comes on 0, what may leave goes to 1, and one JSON object to 4:
 *
 *   {"ok":true,"bytes":..,"passed":..,"truncated":false,"cut":{..},"findings":[..]}
 *   {"ok":false,"why":"...",...}
 *
 * A service (`serves`): 0 is a socket on which checks are asked for, each by the key of its form. The answer
 * is a socket of its own for that check, whose other end a new process has: data goes in, packet by packet,
 * until it is shut down for writing; packets come out, OUTPUT_DATA and bytes, and last OUTPUT_VERDICT and
 * that object.
 *
 * Whoever started it hands on nothing after an end without that object. */
#pragma once
#include "base/wire/wire.h"
#include "output/pipeline.h"

#define OUTPUT_PROGRAM   "cordon-output"
#define OUTPUT_NO_SCHEMA "output"
enum { OUTPUT_ORDER = 3, OUTPUT_REPORT = 4, OUTPUT_WORDS = 5, OUTPUT_FDS = 6 };
enum { OUTPUT_ORDER_MAX = 8 << 20, OUTPUT_REPORT_MAX = 32768 };

/* ---- the service ---- */

enum { OUTPUT_DATA = 'd', OUTPUT_VERDICT = 'v', OUTPUT_PACKET = 32768 + 1, OUTPUT_KEY = 65 };
struct output_ask {
        uint32_t number; /* of the caller's choice */
        char key[OUTPUT_KEY];
};
struct output_line { /* with the socket; without one: the form is unknown, or no process could be made */
        uint32_t number;
};
extern const struct wire_form output_ask_form, output_line_form;
/* A form by what its door has: the same on both sides. */
void output_form_key(enum handle_type form, uint64_t max, const char *schema, char ret[OUTPUT_KEY]);

/* ---- the order ---- */

/* `become`: a user id that owns nothing, for a caller that is root; or 0. `vault`: there are secrets on
 * OUTPUT_WORDS. `others`: more forms of a service; the words and hosts of the first are those of all. */
struct output_order_more {
        uint32_t become;
        bool vault, serves;
        const struct pipeline_config *others;
        size_t n_others;
};
void output_order_put(const struct pipeline_config *c, const struct output_order_more *more, struct buf *out);

struct output_order;
/* Reads one. NULL: *e has the reason. The configuration points into it. */
struct output_order *output_order_read(struct span text, struct err *e);
void output_order_free(struct output_order *o);
size_t output_order_count(const struct output_order *o); /* of its forms: at least one */
const struct pipeline_config *output_order_config(const struct output_order *o, size_t i);
const struct output_order_more *output_order_more(const struct output_order *o);
/* Adds the vault's secrets. -1: they are cut off, or too many. */
int output_order_words(struct output_order *o, struct span records);

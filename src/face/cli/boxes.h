/* SPDX-License-Identifier: MIT */
/* face/cli/boxes.h - what the keepers of running boxes say. */
#pragma once
#include "base/json.h"
#include "face/cli/cli.h"

/* A member of what a keeper says, or "?". */
const char *cli_text_of(const struct json *o, const char *key);
/* The text of cordon_inspect(); NULL: it is none. */
struct json_doc *cli_box_state(const char *text);
/* Each running box, also those whose keepers refuse this process: they have a member "refused". */
typedef void cli_box_taker(void *ctx, const struct json *o, const char *text);
int cli_boxes_each(cli_box_taker *take, void *ctx, cordon_error *e);

struct cli_box_list {
        const char *heading;
        void (*put_row)(const struct json *o);
        bool sessions; /* no other boxes */
};
/* Prints a list; returns the exit status. */
int cli_boxes_list(const struct cli_box_list *l, bool json);

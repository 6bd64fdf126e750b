/* SPDX-License-Identifier: MIT */
/* face/cli/boxes.c - what the keepers of running boxes say: each box, one box, and the lists of `ps` and
 * `session ls`, which leave out boxes whose keepers refuse this process. */
#include "face/cli/boxes.h"

#include <stdio.h>

const char *cli_text_of(const struct json *o, const char *key)
{
        const struct json *v = json_get(o, key);
        return v && v->str ? v->str : "?";
}

struct json_doc *cli_box_state(const char *text)
{
        struct err ignored;
        return text ? json_parse("keeper", span_str(text), &ignored) : NULL;
}

struct boxes_each {
        cli_box_taker *take;
        void *ctx;
};

static void take_box(void *ctx, const char *text)
{
        const struct boxes_each *x = ctx;
        struct json_doc *d = cli_box_state(text);
        if (d)
                x->take(x->ctx, json_root(d), text);

        json_free(d);
}

int cli_boxes_each(cli_box_taker *take, void *ctx, cordon_error *e)
{
        struct boxes_each x = { take, ctx };
        return cordon_list(take_box, &x, e);
}

/* ---- lists ---- */

struct listing {
        const struct cli_box_list *l;
        bool json;
        unsigned count, left_out;
        char why[256]; /* of the last one that is left out */
};

static void list_box(void *ctx, const struct json *o, const char *text)
{
        struct listing *x = ctx;
        if (json_get(o, "refused")) {
                x->left_out++;
                (void) snprintf(x->why, sizeof x->why, "%s", cli_text_of(o, "refused"));
                return;
        }

        if (x->l->sessions && !json_get(o, "session"))
                return;

        if (x->json)
                (void) printf("%s%s", x->count ? "," : "[", text);
        else if (x->count == 0)
                (void) puts(x->l->heading);

        if (!x->json)
                x->l->put_row(o);
        x->count++;
}

int cli_boxes_list(const struct cli_box_list *l, bool json)
{
        struct listing x = { .l = l, .json = json };
        cordon_error e = { 0 };
        if (cli_boxes_each(list_box, &x, &e) < 0)
                return cli_error(&e);

        if (json)
                (void) printf("%s]\n", x.count ? "" : "[");

        if (x.left_out > 0)
                cli_note("%u %s left out: %s", x.left_out, x.left_out == 1 ? "box is" : "boxes are", x.why);

        return 0;
}

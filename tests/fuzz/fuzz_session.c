/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_session.c - what a session and the keeper of a run in it hear from each other. First byte:
 * 0: the recipe of its runs, JSON; 1: an order to init, relayed; 2: one with a descriptor; 3: the first
 * message to the keeper of a run; 4: a message of init. The rest is as sent. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "run/api/internal.h"
#include "run/keeper/session_wire.h"
#include "wall/internal.h"
#include "wall/wall.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RUN = 7, LEADER = 42 };

/* ---- the recipe ---- */

static cordon_box *new_box(const cordon_context *cx)
{
        cordon_policy *p = cordon_policy_new(cx);
        cordon_box *b = p ? cordon_box_new(p) : NULL;
        if (!b)
                abort();

        b->own_policy = p;
        return b;
}

static void check_bounds(const cordon_box *b)
{
        if (b->told_count > GRANTS_MAX || b->c.canary_count > API_CANARIES_MAX)
                abort();

        for (unsigned i = 0; i < b->c.canary_count; i++)
                if (b->canaries[i].form > API_CANARIES_OWN)
                        abort();
}

/* What is accepted is within bounds, and can be told on. */
static void read_recipe(struct span text)
{
        static char *const none[] = { NULL };
        struct err e = { 0 };
        cordon_context *cx = cordon_context_new(none);
        cordon_box *b = new_box(cx), *again = new_box(cx);
        int r = api_recipe_read(b, text, &e);
        check_bounds(b);
        if (r == 0 && cordon_policy_check(b->policy, (cordon_error *) (void *) &e) == 0) {
                if (api_recipe_make(b, &e) < 0 ||
                    api_recipe_read(again, span_str(buf_str(&b->recipe)), &e) < 0)
                        abort();

                check_bounds(again);
        }

        cordon_box_free(again);
        cordon_box_free(b);
        cordon_context_free(cx);
}

/* ---- messages ---- */

static bool is_about_run(const struct wall_order *o)
{
        switch (o->command) {
        case COMMAND_RUN:
                return o->id == RUN && o->arg == LEADER;
        case COMMAND_SIGNAL:
        case COMMAND_RENEW:
                return o->id == RUN;
        default:
                return o->command == COMMAND_TTY;
        }
}

/* Init hears of nothing but this run, and gets no descriptor. */
static void relay(int line, bool with_fd)
{
        int init[2];
        struct wall_relayed relayed;
        struct wall_order o;
        if (wire_pair(init) < 0)
                return;

        const struct wall_child c = { .control = init[0] };
        int r = wall_relay(line, &c, LEADER, RUN, &relayed);
        (void) close(init[0]);
        if (wire_take(init[1], &wall_order_form, &o, NULL) == 1 ? r != 1 || with_fd || !is_about_run(&o)
                                                                : r == 1)
                abort();

        (void) close(init[1]);
}

static void join(int line)
{
        struct session_joined j, again;
        uint8_t bytes[WIRE_MAX];
        AUTO_FD(spare, -1);
        memset(&j, 0xff, sizeof j);
        if (wire_take(line, &session_joined_form, &j, &spare) != 1)
                return;

        size_t n = wire_encode(&session_joined_form, &j, bytes, sizeof bytes);
        if (strnlen(j.error, sizeof j.error) == sizeof j.error || n == 0 ||
            wire_decode(&session_joined_form, span_of(bytes, n), &again) < 0)
                abort();
}

static void hear(int kind, const uint8_t *data, size_t size)
{
        struct wall_message m;
        int ends[2];
        if (wire_pair(ends) < 0)
                return;

        bool sent = wire_send(ends[0], data, size, kind == 2 ? ends[0] : -1) == 0;
        if (sent && kind == 3)
                join(ends[1]);
        else if (sent && kind == 4)
                (void) wall_spare_listen(ends[1], &m);
        else if (sent)
                relay(ends[1], kind == 2);

        (void) close(ends[0]);
        (void) close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0 || data[0] > 4 || size > 1 << 16)
                return 0;

        if (data[0] == 0)
                read_recipe(span_of(data + 1, size - 1));
        else
                hear(data[0], data + 1, size - 1);

        return 0;
}

/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/start_gate.c - `run` and `sock` doors with `ask`: what happens behind them is not held
 * piece by piece, so the question comes before the start and is about the whole run. Of the command, words
 * and variables are shown as they are sealed in the plan; nothing of it is read again. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/variable.h"
#include "run/keeper/gates/gates.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_US = 200000, TEXT_MAX_BYTES = 64 * 1024 };

static bool asks_first(const struct door *d)
{
        return d->ask.on && (d->kind == DOOR_RUN || d->kind == DOOR_SOCK);
}

/* ---- what is shown ---- */

static void put_inert(struct buf *out, const char *text)
{
        char shown[4096];
        buf_puts(out, str_inert(span_str(text), shown, sizeof shown));
}

/* Does this door let the command start? */
static bool is_command(const struct box *b, const struct door *d)
{
        for (const char **x = b->c.plan->order->exec; *x; x++) {
                const struct effect f = { .kind = EFFECT_RUN, .target = *x };
                if (policy_decide(b->c.policy, &f).door == d)
                        return true;
        }
        return false;
}

static void show_command(const struct box *b, struct buf *out)
{
        const struct plan_order *o = b->c.plan->order;
        buf_puts(out, "start");
        for (const char **v = o->argv; *v; v++) {
                buf_putc(out, ' ');
                put_inert(out, *v);
        }

        buf_puts(out, "\n  in ");
        put_inert(out, o->cwd);
        for (const char **v = o->envp; v && *v; v++) {
                const char *eq = strchr(*v, '=');
                bool secret = eq && variable_looks_secret(*v, (size_t) (eq - *v));
                buf_puts(out, "\n  ");
                if (secret)
                        buf_printf(out, "%.*s=(not shown)", (int) (eq - *v), *v);
                else
                        put_inert(out, *v);
        }
}

static void show_door(const struct box *b, const struct door *d, struct buf *out)
{
        if (d->kind == DOOR_RUN && is_command(b, d)) {
                show_command(b, out);
                return;
        }

        buf_puts(out, d->kind == DOOR_RUN ? "let programs in the box start "
                                          : "let the box connect to the socket ");
        put_inert(out, strcmp(d->path, "*") == 0 ? "any program" : d->path);
        buf_puts(out, d->kind == DOOR_RUN ? ", with any arguments, for this run"
                                          : ", as often as it likes, for this run");
}

/* ---- the question ---- */

static void digest_order(const struct box *b, char ret[72])
{
        struct sha256 s;
        const struct plan_order *o = b->c.plan->order;
        const char **lists[] = { o->argv, o->envp };
        sha256_init(&s);
        for (size_t i = 0; i < 2; i++) {
                for (const char **v = lists[i]; v && *v; v++)
                        sha256_add(&s, *v, strlen(*v) + 1);
                sha256_add(&s, "", 1);
        }

        memcpy(ret, "sha256:", sizeof "sha256:");
        sha256_end_hex(&s, ret + strlen("sha256:"));
}

static int ask_about(struct box *b, const struct door *d, uint32_t number)
{
        AUTO_BUF(text);
        char body[72];
        show_door(b, d, &text);
        digest_order(b, body);
        const struct desk_asked a = { DESK_START, number, d };
        const struct gate_envelope e = { .field = { [GATE_BODY] = body,
                                                    [GATE_KIND] = d->kind == DOOR_RUN ? "run" : "socket",
                                                    [GATE_PATH] = d->path,
                                                    [GATE_REACH] = "self" } };
        return text.n <= TEXT_MAX_BYTES ? desk_hold(b, &a, &e, &text) : -1;
}

static int not_approved(struct err *e)
{
        (void) err_set(e, ERR_POLICY, 0, "a door with `ask` was not approved, so the box does not start");
        return err_hint(e, "`cordon approve` at another terminal answers, while the start waits");
}

static int ask_all(struct box *b, struct err *e)
{
        size_t n;
        const struct door *d = policy_doors(b->c.policy, &n);
        for (size_t i = 0; i < n; i++) {
                if (!asks_first(&d[i]))
                        continue;
                b->gates->start_waiting++;
                if (ask_about(b, &d[i], (uint32_t) i + 1) < 0)
                        return err_set(e, ERR_POLICY, 0, "a door with `ask` cannot be shown to a person");
        }
        return 0;
}

int starting_ask(struct box *b, struct err *e)
{
        bool any = false;
        for (const struct door *d = NULL; b->gates && (d = policy_door_next(b->c.policy, d));)
                any = any || asks_first(d);

        if (!any)
                return 1;

        if (keeper_is_new_phase(b)) {
                record_early(&b->run);
                if (ask_all(b, e) < 0)
                        return -1;
        }

        gates_serve(b);
        if (b->gates->start_denied)
                return not_approved(e);

        if (b->gates->start_waiting) {
                keeper_wait_for(b, gates_fd(b), POLLIN);
                keeper_wait_us(b, LOOK_US); /* for what expires, and signals */
                return 0;
        }

        b->run.began_ns = clock_mono_ns(); /* the time of a person is not the start's */
        return 1;
}

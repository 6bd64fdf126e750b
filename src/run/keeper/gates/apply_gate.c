/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/apply_gate.c - an apply of an overlay whose run had an `edit` door with `ask`: a person is
 * asked once for each such door. The box has ended; this process opens the run's socket for approvers again,
 * and decides with the doors that the overlay keeps. Applies nothing: its caller does, if the digest holds.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "run/keeper/gates/gates.h"
#include "run/keeper/run_record.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static struct checked_policy *check_doors(const char *lines, struct err *e)
{
        const struct policy_context c = { .work = "/", .home = "/", .now = clock_wall_s() };
        struct policy *p = policy_new();
        struct checked_policy *made = NULL;
        if (!p)
                (void) err_set(e, ERR_MEMORY, 0, "no memory for a policy");
        else if (policy_add_text(p, "overlay", span_str(lines), e) == 0)
                made = policy_check(p, &c, e);

        policy_free(p);
        return made;
}

/* ---- records ---- */

static int open_record(struct box *b, const char *source, struct err *e)
{
        struct run *run = &b->run;
        struct record *c = run->record = calloc(1, sizeof *run->record);
        if (!c)
                return err_set(e, ERR_MEMORY, 0, "no memory for the ledger");

        (void) snprintf(c->start, sizeof c->start, "%s.end", run->r.run);
        c->ledger = ledger_open(b->c.cx, run->r.run, source, e);
        return c->ledger ? 0 : err_hint(e, "nothing was applied; --ledger off applies without a record");
}

static void close_record(struct box *b)
{
        enum { FLUSH_MS = 1000 };
        struct err none;
        struct record *c = b->run.record;
        if (c && c->ledger) {
                (void) ledger_flush(c->ledger, FLUSH_MS, &none);
                ledger_wake_sealer(c->ledger);
                ledger_close(c->ledger);
        }
        free(c);
        b->run.record = NULL;
}

/* ---- the question ---- */

static int ask_about(struct box *b, const struct box_apply *a, const struct door *d, uint32_t number)
{
        AUTO_BUF(shown);
        char body[80];
        (void) snprintf(body, sizeof body, "sha256:%s", a->digest);
        buf_puts(&shown, a->shown);
        const struct desk_asked of = { DESK_APPLY, number, d };
        const struct gate_envelope e = { .field = { [GATE_BODY] = body,
                                                    [GATE_BOX] = a->box,
                                                    [GATE_KIND] = "apply",
                                                    [GATE_METHOD] = a->flagged ? GATE_APPLY_FLAGGED : "apply",
                                                    [GATE_PATH] = d->path,
                                                    [GATE_REACH] = "self",
                                                    [GATE_STAGE] = "",
                                                    [GATE_TO] = a->to } };
        return desk_hold(b, &of, &e, &shown);
}

static int ask_all(struct box *b, const struct box_apply *a, uint32_t number, struct err *e)
{
        size_t n, asked = 0;
        const struct door *d = policy_doors(b->c.policy, &n);
        for (size_t i = 0; i < n; i++) {
                if (d[i].kind != DOOR_EDIT || !d[i].ask.on)
                        continue;
                asked++;
                b->gates->start_waiting++;
                if (ask_about(b, a, &d[i], number + (uint32_t) i) < 0)
                        return err_set(e, ERR_POLICY, 0, "these changes cannot be shown to a person");
        }

        return asked ? 0 : err_set(e, ERR_INTERNAL, 0, "the overlay asks, and no door of it does");
}

static int not_approved(const struct box *b, struct err *e)
{
        (void) err_set(e, ERR_POLICY, 0, "nothing was applied: %s", effect_reason_text(b->gates->start_why));
        return err_hint(e,
                        "the overlay %s keeps the changes; `cordon approve` at another terminal answers, "
                        "while `cordon apply` waits",
                        b->run.r.run);
}

static int ask_people(struct box *b, const struct box_apply *a, struct err *e)
{
        uint32_t number = 0;
        char source[16];
        if (getrandom(&number, sizeof number, 0) < 0)
                return err_set(e, ERR_IO, errno, "no random number for the approval");

        number >>= 8;
        (void) snprintf(source, sizeof source, "g%06x", number);
        if ((b->c.ledger != BOX_LEDGER_OFF && open_record(b, source, e) < 0) || gates_make(b, e) < 0)
                return -1;

        b->gates->policy = a->policy;
        return ask_all(b, a, number, e);
}

struct box *box_apply_open(const struct box_apply *a, struct err *e)
{
        struct box *b = calloc(1, sizeof *b);
        if (!b) {
                (void) err_set(e, ERR_MEMORY, 0, "no memory for what waits for an approval");
                return NULL;
        }

        b->run.box = b;
        b->run.c = &b->c;
        b->c.cx = a->cx;
        b->c.uid = geteuid();
        b->c.askers = a->askers;
        b->c.on_held = a->on_held;
        b->c.ledger = a->no_ledger ? BOX_LEDGER_OFF : BOX_LEDGER_REQUIRE;
        (void) snprintf(b->run.r.run, sizeof b->run.r.run, "%s", a->run);
        (void) snprintf(b->run.r.name, sizeof b->run.r.name, "%s", a->box);
        b->c.policy = check_doors(a->doors, e);
        if (b->c.policy && ask_people(b, a, e) == 0)
                return b;

        box_apply_free(b);
        return NULL;
}

int box_apply_fd(const struct box *b) { return gates_fd(b); }

int box_apply_step(struct box *b, struct err *e)
{
        gates_serve(b);
        if (b->gates->start_denied)
                return not_approved(b, e);
        return b->gates->start_waiting == 0;
}

void box_apply_free(struct box *b)
{
        if (b && b->gates)
                gates_free(b);
        if (!b)
                return;

        close_record(b);
        policy_checked_free((struct checked_policy *) (uintptr_t) b->c.policy);
        free(b);
}

int box_apply_ask(const struct box_apply *a, struct err *e)
{
        struct box *b = box_apply_open(a, e);
        int r = b ? 0 : -1;
        while (r == 0 && (r = box_apply_step(b, e)) == 0) {
                int64_t left = gates_next_ms(b);
                struct pollfd p = { .fd = gates_fd(b), .events = POLLIN };
                if (poll(&p, 1, left < 0 || left > 1000 ? 1000 : (int) left) < 0 && errno != EINTR)
                        r = err_set(e, ERR_IO, errno, "waiting for approvers: %s", strerror(errno));
        }

        box_apply_free(b);
        return r < 0 ? -1 : 0;
}

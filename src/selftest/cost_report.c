/* SPDX-License-Identifier: MIT */
/* selftest/cost_report.c - `cordon selftest cost`: the cost of each layer of the wall here, measured now,
 * against the attempts that only it stops, out of the knock-out matrix. No release can leave a layer out, so
 * the two columns come from two sources, and the output names them. */
#include "base/buf.h"
#include "base/json.h"
#include "selftest/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS_MAX = 1000, LAYERS = 32, LINE = 100 };

/* The layers that were left out in turn, and the attempts that succeeded then: see docs/knockout.md. */
#define KNOCKOUT_LAYER(layer) layer,
#define KNOCKOUT_ALONE(layer, probe, root, user)
static const char *const left_out[] = {
#include "selftest/knockout_alone.inc"
};
#undef KNOCKOUT_LAYER
#undef KNOCKOUT_ALONE
#define KNOCKOUT_LAYER(layer)
#define KNOCKOUT_ALONE(layer, probe, root, user) { layer, probe, { root, user } },
static const struct {
        char layer[16], probe[96]; /* in place: pointers would be relocated at every start */
        bool alone[2];             /* as root, as an ordinary user */
} went_through[] = {
#include "selftest/knockout_alone.inc"
};
/* Its first lines have its date. */
#define KNOCKOUT(cls, total, two, one, none, which) +total
static const unsigned attempts = 0
#include "selftest/knockout.inc"
        ;

struct row {
        cordon_cost cost;
        char why[256];
        bool tried; /* it was left out once */
        unsigned alone;
};

struct costs {
        struct row rows[LAYERS];
        size_t count;
        long rounds;
        bool json, probes, root;
        cordon_policy *policy;
};

static int set_rounds(void *ctx, const char *value)
{
        return cli_number("-n", value, 1, ROUNDS_MAX, &((struct costs *) ctx)->rounds);
}

const struct cli_option cost_options[] = {
        { "rounds", 'n', "ROUNDS", "how often each layer is raised (default 51)", set_rounds },
        { "probes", 0, NULL, "also name the attempts that each layer alone stops",
          CLI_FLAG(struct costs, probes) },
        { "json", 0, NULL, "one object, for programs", CLI_FLAG(struct costs, json) },
        { 0 },
};

static bool was_left_out(const char *layer)
{
        for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
                if (strcmp(left_out[i], layer) == 0)
                        return true;
        return false;
}

/* The next attempt that succeeds without this layer, from `at` on; the table's end if none does. */
static size_t next_alone(const struct costs *c, const char *layer, size_t at)
{
        while (at < sizeof went_through / sizeof *went_through &&
               (strcmp(went_through[at].layer, layer) != 0 || !went_through[at].alone[c->root ? 0 : 1]))
                at++;
        return at;
}

static void keep(void *ctx, const cordon_cost *cost)
{
        struct costs *c = ctx;
        if (c->count == LAYERS)
                return;

        struct row *r = &c->rows[c->count++];
        *r = (struct row){ .cost = *cost, .tried = was_left_out(cost->layer) };
        (void) snprintf(r->why, sizeof r->why, "%s", cost->why);
        r->cost.why = r->why;
        for (size_t i = next_alone(c, cost->layer, 0); i < sizeof went_through / sizeof *went_through;
             i = next_alone(c, cost->layer, i + 1))
                r->alone++;
}

/* ---- text ---- */

static void put_unit(const cordon_cost *c, struct buf *o)
{
        if (c->units == 0)
                return;
        if (strcmp(c->layer, "seccomp") == 0)
                buf_printf(o, "; %u instructions, %u bytes", c->units, c->units * 8);
        else
                buf_printf(o, "; %u %s", c->units, strcmp(c->layer, "landlock") == 0 ? "rules" : "steps");
}

static void put_row(const struct row *r, struct buf *o)
{
        const cordon_cost *c = &r->cost;
        buf_printf(o, "%-13s", c->layer);
        if (!c->raised) {
                buf_printf(o, " %9s %9s %7s  ", "-", "-", "-");
        } else {
                buf_printf(o, " %9.1f", c->start_us);
                if (c->bytes >= 0)
                        buf_printf(o, " %9lld", (long long) c->bytes);
                else
                        buf_printf(o, " %9s", "-");
                if (c->looked_at_of)
                        buf_printf(o, " %7.0f  ", c->looked_at_ns);
                else
                        buf_printf(o, " %7s  ", "-");
        }

        if (r->tried)
                buf_printf(o, "%5u  ", r->alone);
        else
                buf_printf(o, "%5s  ", "-");

        buf_puts(o, c->what);
        put_unit(c, o);
        if (!c->raised)
                buf_printf(o, "; not here: %s", c->why);

        buf_putc(o, '\n');
}

static void put_probes(const struct costs *c, const struct row *r, struct buf *o)
{
        for (size_t i = next_alone(c, r->cost.layer, 0); i < sizeof went_through / sizeof *went_through;
             i = next_alone(c, r->cost.layer, i + 1))
                buf_printf(o, "    %s\n", went_through[i].probe);
}

static void put_calls(const struct costs *c, struct buf *o)
{
        for (size_t i = 0; i < c->count; i++) {
                const cordon_cost *k = &c->rows[i].cost;
                if (k->raised && k->call_of)
                        buf_printf(o, "%s adds %.0f ns to %s, ", k->layer, k->call_ns, k->call_of);
                else if (k->raised && k->looked_at_of)
                        buf_printf(o, "%s adds ", k->layer);
                if (k->raised && k->looked_at_of)
                        buf_printf(o, "%.0f ns to %s.\n", k->looked_at_ns, k->looked_at_of);
        }
}

/* The layers that the matrix would not miss, and the possible savings. */
static void put_idle(const struct costs *c, struct buf *o)
{
        double us = 0;
        size_t n = 0;
        for (size_t i = 0; i < c->count; i++)
                if (c->rows[i].tried && c->rows[i].alone == 0) {
                        buf_printf(o, "%s%s", n++ ? ", " : "\nStop nothing alone: ", c->rows[i].cost.layer);
                        us += c->rows[i].cost.raised ? c->rows[i].cost.start_us : 0;
                }

        if (n)
                buf_printf(o,
                           ": %.0f us in all.\nThey are second walls: every attempt that they stop is "
                           "stopped by another "
                           "layer too, as long as\nthat one has no fault. Whoever needs their time more than "
                           "that can "
                           "give landlock up by name\n(`wall namespace without landlock`); the rest cannot "
                           "be given up.\n",
                           us);
}

static void put_text(const struct costs *c, struct buf *o)
{
        buf_printf(o, "%-13s %9s %9s %7s  %5s\n", "layer", "start us", "bytes", "call ns", "alone");
        for (size_t i = 0; i < c->count; i++) {
                put_row(&c->rows[i], o);
                if (c->probes)
                        put_probes(c, &c->rows[i], o);
        }

        buf_printf(o,
                   "\nMeasured here, now: start us, the median of %ld times that the layer was raised alone, "
                   "by the code "
                   "of a real\nstart, in a process thrown away afterwards. A start raises them together, so "
                   "the sum is "
                   "more than it takes.\n",
                   c->rounds);
        buf_puts(o,
                 "bytes: kernel memory that a control group is charged for one; - where no group tells.\n");
        put_calls(c, o);
        buf_printf(o,
                   "From the knock-out matrix of %s on %s, not from this host: alone, how many of "
                   "%u\nattempts go "
                   "through as %s when this one layer is left out; - where it cannot be left out alone.\n",
                   KNOCKOUT_DATE, KNOCKOUT_KERNEL, attempts, c->root ? "root" : "an ordinary user");
        put_idle(c, o);
}

/* ---- JSON ---- */

static void put_json_row(const struct costs *c, const struct row *r, struct buf *o)
{
        const cordon_cost *k = &r->cost;
        buf_printf(o, "{\"layer\":\"%s\",\"raised\":%s", k->layer, k->raised ? "true" : "false");
        buf_member(o, k->raised ? "what" : "why", k->raised ? k->what : k->why);
        if (k->raised)
                buf_printf(o, ",\"start_us\":%.2f,\"units\":%u", k->start_us, k->units);

        if (k->raised && k->bytes >= 0)
                buf_printf(o, ",\"bytes\":%lld", (long long) k->bytes);

        if (k->raised && k->call_of)
                buf_printf(o, ",\"call_ns\":%.1f", k->call_ns);

        if (k->raised && k->looked_at_of)
                buf_printf(o, ",\"looked_at_ns\":%.1f", k->looked_at_ns);

        if (r->tried)
                buf_printf(o, ",\"alone\":%u,\"probes\":[", r->alone);

        size_t i = next_alone(c, k->layer, 0);
        for (const char *comma = ""; r->tried && i < sizeof went_through / sizeof *went_through;
             i = next_alone(c, k->layer, i + 1), comma = ",") {
                buf_puts(o, comma);
                buf_json(o, span_str(went_through[i].probe));
        }

        buf_puts(o, r->tried ? "]}" : "}");
}

static void put_json(const struct costs *c, struct buf *o)
{
        buf_printf(o,
                   "{\"rounds\":%ld,\"matrix\":{\"date\":\"%s\",\"kernel\":\"%s\",\"attempts\":%u,\"as\":\"%"
                   "s\"},\n"
                   "\"layers\":[",
                   c->rounds, KNOCKOUT_DATE, KNOCKOUT_KERNEL, attempts, c->root ? "root" : "user");
        for (size_t i = 0; i < c->count; i++) {
                buf_puts(o, i ? ",\n " : "\n ");
                put_json_row(c, &c->rows[i], o);
        }

        buf_puts(o, "]}\n");
}

int verb_cost(int argc, char **argv)
{
        static struct costs c = { .rounds = 51 };
        cordon_error e = { 0 };
        AUTO_BUF(o);
        c.root = geteuid() == 0;
        c.policy = cli_policy_new();
        int at = c.policy ? cli_options(argc, argv, cli_verb_find("selftest cost"), &c, c.policy) : -1;
        int status = EXIT_CORDON;
        if (at >= 0 && at < argc)
                status = cli_usage("unexpected argument `%s`: the layers are measured, not a command",
                                   argv[at]);
        else if (at >= 0 && cordon_costs(c.policy, (unsigned) c.rounds, keep, &c, &e) < 0)
                status = cli_error(&e);
        else if (at >= 0) {
                if (c.json)
                        put_json(&c, &o);
                else
                        put_text(&c, &o);
                status = cli_put(&o);
        }

        cordon_policy_free(c.policy);
        return status;
}

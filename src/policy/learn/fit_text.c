/* SPDX-License-Identifier: MIT */
/* policy/learn/fit_text.c - a fit as text and as JSON. Text from a box is already inert. */
#include "base/shell.h"
#include "base/str.h"
#include "policy/learn/internal.h"

static const char *s(unsigned n) { return n == 1 ? "" : "s"; }

/* Percent of the doors that were judged. */
static unsigned unused_percent(const struct learn_fit *f)
{
        unsigned judged = f->used + f->unused;
        return judged ? (100 * f->unused + judged / 2) / judged : 0;
}

/* Those that matter: settings that a program does without count only if it failed. */
static uint64_t refusals_in(const struct learn_fit *f)
{
        uint64_t n = 0;
        for (size_t i = 0; i < f->refusal_count; i++)
                n += f->refusals[i].failed + (f->refusals[i].setting ? 0 : f->refusals[i].passed);
        return n;
}

/* In hundredths. */
static uint64_t per_run(const struct learn_fit *f)
{
        return f->runs ? (refusals_in(f) * 200 + f->runs) / f->runs / 2 : 0;
}

/* ---- words ---- */

static void put_numbers(const struct learn_fit *f, struct buf *o)
{
        buf_printf(o,
                   "  runs      %u on %u day%s, %u failed (%u of them with refusals), %u that passed seen in "
                   "full\n",
                   f->runs, f->days, s(f->days), f->failed, f->failed_refused, f->observed);
        unsigned all = f->used + f->unused + f->unknown + f->not_judged;
        buf_printf(o, "  doors     %u%s: %u used, %u unused", all,
                   f->counted ? " for files and programs" : "", f->used, f->unused);
        if (f->used + f->unused)
                buf_printf(o, " (%u %%)", unused_percent(f));

        if (f->unknown)
                buf_printf(o, ", %u not known of yet", f->unknown);

        if (f->not_judged)
                buf_printf(o, ", %u of kinds that are not judged", f->not_judged);

        buf_puts(o, "\n  refusals  ");
        buf_fixed(o, per_run(f), 2);
        buf_puts(o, " a run\n");
}

static void put_few(const struct learn_fit *f, struct buf *o)
{
        unsigned need = learn_threshold(LEARN_NEED_RUNS)->value, passed = f->runs - f->failed;
        if (passed < need)
                buf_printf(o, "  too broad? needs %u successful runs, there %s %u\n", need,
                           passed == 1 ? "is" : "are", passed);
        else if (f->unknown)
                buf_printf(o,
                           "  too broad? doors for files and programs need %u successful runs with `cordon "
                           "run --observe all`; there %s %u\n",
                           need, f->observed == 1 ? "is" : "are", f->observed);
}

static void put_command(struct buf *o, const char *before, const char *file, const char *after)
{
        buf_puts(o, before);
        if (file[0])
                buf_shell(o, file);
        buf_puts(o, after);
}

static void put_unused(const struct learn_fit *f, struct buf *o)
{
        if (!f->unused)
                return;

        buf_printf(o, "Not used in %u run%s on %u day%s:\n", f->runs, s(f->runs), f->days, s(f->days));
        for (size_t i = 0; i < f->door_count; i++)
                if (f->doors[i].use == LEARN_UNUSED)
                        buf_printf(o, "  %s\n", f->doors[i].line);

        if (f->counted)
                buf_printf(o, "  %u door%s; `cordon policy fit POLICY` names them\n", f->unused,
                           s(f->unused));
        else
                put_command(o, "`cordon policy tighten --log -p ", f->file, "` closes them.\n");
}

static void put_refusal(const struct learn_fit *f, const struct learn_refusal *r, struct buf *o)
{
        buf_printf(o, "  %s%s%s, in %u of %u failed runs", r->what, r->program[0] ? ", by " : "", r->program,
                   r->failed, f->failed);
        if (r->line[0])
                buf_printf(o, "; permitted by: %s", r->line);
        buf_putc(o, '\n');
}

static void put_narrow(const struct learn_fit *f, struct buf *o)
{
        unsigned n = 0;
        for (size_t i = 0; i < f->refusal_count; i++) {
                if (!f->refusals[i].recurs)
                        continue;
                if (n++ == 0)
                        buf_puts(o, "Blocked repeatedly in failed runs:\n");
                put_refusal(f, &f->refusals[i], o);
        }

        if (n)
                put_command(o, f->file[0] ? "`cordon why -p " : "`cordon why", f->file,
                            " EFFECT` explains what such a line adds, `cordon learn -- COMMAND` finds the "
                            "least that is needed.\n");
}

static void put_never(const struct learn_fit *f, struct buf *o)
{
        bool first = true;
        for (size_t i = 0; i < f->refusal_count; i++) {
                const struct learn_refusal *r = &f->refusals[i];
                if (!r->never || r->recurs)
                        continue;
                if (first)
                        buf_puts(o, "Refused, and never proposed:\n");
                first = false;
                buf_printf(o, "  %s: %s%s%s, in %u run%s\n", effect_reason_name(r->never), r->what,
                           r->program[0] ? ", by " : "", r->program, r->passed + r->failed,
                           s(r->passed + r->failed));
        }
}

static void put_innocent(const struct learn_fit *f, struct buf *o)
{
        unsigned n = f->failed - f->failed_refused;
        if (n)
                buf_printf(o,
                           "%u failed run%s without a recorded block (-q records none, --observe all the "
                           "most)\n",
                           n, s(n));
}

void learn_widened_text(const struct learn_widened *w, struct buf *o)
{
        buf_printf(o, "  %s: open on %u day%s so far, in %u run%s", w->line, w->days, s(w->days), w->runs,
                   s(w->runs));
        if (w->use_known)
                buf_printf(o, ", used on %u", w->days_used);

        if (w->expired)
                buf_printf(o, "; expired on %s: it is closed, take the line out", w->until);
        else if (w->days_left < 0)
                buf_puts(o, "; without an end");
        else
                buf_printf(o, "; %lld day%s left, until %s", (long long) w->days_left,
                           s(w->days_left == 1 ? 1 : 0), w->until);

        buf_putc(o, '\n');
}

void learn_fit_text(const struct learn_fit *f, struct buf *o)
{
        buf_printf(o, "box %s, policy %.12s: %s\n", f->box, f->policy, learn_verdict_name(f->verdict));
        put_numbers(f, o);
        if (f->verdict == LEARN_TOO_FEW || f->unknown)
                put_few(f, o);

        put_unused(f, o);
        put_narrow(f, o);
        put_never(f, o);
        put_innocent(f, o);
        if (f->widened_count)
                buf_puts(o, "Doors with an end, and wide ones:\n");

        for (size_t i = 0; i < f->widened_count; i++)
                learn_widened_text(&f->widened[i], o);
}

/* ---- JSON ---- */

static void put_json_refusals(const struct learn_fit *f, bool never, struct buf *o)
{
        for (size_t i = 0; i < f->refusal_count; i++) {
                const struct learn_refusal *r = &f->refusals[i];
                if ((r->never && !r->recurs) != never)
                        continue;
                buf_member_json(o, NULL, "{");
                buf_member(o, "what", r->what);
                buf_member(o, "program", r->program);
                buf_member(o, never ? "reason" : "line", never ? effect_reason_name(r->never) : r->line);
                buf_printf(o, ",\"runs\":%u,\"failed_runs\":%u,\"recurs\":%s}", r->passed + r->failed,
                           r->failed, r->recurs ? "true" : "false");
        }
}

static void widened_json(const struct learn_widened *w, struct buf *o)
{
        buf_member_json(o, NULL, "{");
        buf_member(o, "line", w->line);
        buf_member(o, "until", w->until);
        buf_member_bool(o, "expired", w->expired);
        buf_member_int(o, "days_left", w->days_left);
        buf_printf(o, ",\"days\":%u,\"runs\":%u", w->days, w->runs);
        if (w->use_known)
                buf_member_int(o, "days_used", w->days_used);
        else
                buf_member(o, "days_used", NULL);
        buf_putc(o, '}');
}

static void put_json_next(const struct learn_fit *f, struct buf *o)
{
        bool broad = f->verdict == LEARN_BROAD || f->verdict == LEARN_BOTH;
        bool narrow = f->verdict == LEARN_NARROW || f->verdict == LEARN_BOTH;
        AUTO_BUF(line);

        buf_puts(o, "\"next_steps\":[");
        if (broad) {
                put_command(&line,
                            f->counted ? "cordon policy fit POLICY" : "cordon policy tighten --log -p ",
                            f->counted ? "" : f->file, "");
                buf_member(o, NULL, buf_str(&line));
        }

        if (narrow)
                buf_member(o, NULL, "cordon learn -- COMMAND");

        if (f->verdict == LEARN_TOO_FEW)
                buf_puts(o, "\"cordon run --observe all\"");

        buf_putc(o, ']');
        o->failed = o->failed || line.failed;
}

void learn_fit_json(const struct learn_fit *f, struct buf *o)
{
        buf_putc(o, '{');
        buf_member(o, "box", f->box);
        buf_member(o, "policy", f->policy);
        buf_member(o, "verdict", learn_verdict_name(f->verdict));
        buf_printf(o,
                   ",\"runs\":%u,\"days\":%u,\"failed\":%u,\"failed_with_refusals\":%u,\"observed\":%u,"
                   "\"doors\":%u,\"used\":%u,\"unused\":%u,\"unknown\":%u,\"not_judged\":%u,"
                   "\"unused_percent\":%u,\"refusals_per_run\":",
                   f->runs, f->days, f->failed, f->failed_refused, f->observed,
                   f->used + f->unused + f->unknown + f->not_judged, f->used, f->unused, f->unknown,
                   f->not_judged, unused_percent(f));
        buf_fixed(o, per_run(f), 2);
        buf_puts(o, ",\"unused_doors\":[");
        for (size_t i = 0; i < f->door_count; i++)
                if (f->doors[i].use == LEARN_UNUSED)
                        buf_member(o, NULL, f->doors[i].line);

        buf_puts(o, "],\"refusals\":[");
        put_json_refusals(f, false, o);
        buf_puts(o, "],\"never_proposed\":[");
        put_json_refusals(f, true, o);
        buf_puts(o, "],\"widened\":[");
        for (size_t i = 0; i < f->widened_count; i++)
                widened_json(&f->widened[i], o);

        buf_puts(o, "],");
        put_json_next(f, o);
        buf_putc(o, '}');
}

/* SPDX-License-Identifier: MIT */
/* face/serve/job_result.c - a run as JSON. Text of a box is inert, or base64 on request. */
#include "base/base64.h"
#include "base/clock.h"
#include "face/serve/internal.h"

#include <string.h>

enum { BLOCKED_MAX = 32 };

static const char *const ends[] = {
        [CORDON_RUNNING] = "running", [CORDON_FAILED] = "failed",     [CORDON_NOT_STARTED] = "not-started",
        [CORDON_EXITED] = "exited",   [CORDON_SIGNALED] = "signaled", [CORDON_LIMIT] = "limit"
};

static void put_text(struct buf *out, const char *key, const struct buf *text, bool raw, uint64_t *cuts)
{
        uint64_t cut = 0;
        size_t n = 0;
        buf_printf(out, ",\"%s\":", key);
        if (raw) {
                buf_putc(out, '"');
                base64_put(span_of(text->p ? text->p : "", text->n), out);
                buf_putc(out, '"');
                return;
        }

        char *inert = cordon_inert(text->p, text->n, &n, &cut);
        buf_json(out, span_of(inert ? inert : "", inert ? n : 0));
        cordon_free(inert);
        *cuts += cut;
}

/* What the tenant is told: not what the host has where no door of the run leads. */
static size_t count_told(const cordon_result *r, bool minor)
{
        size_t n = 0;
        for (size_t i = 0; i < r->denial_count; i++)
                n += !r->denials[i].minor == !minor &&
                     cordon_denial_is_near(r->denials[i].code, r->denials[i].reason);
        return n;
}

/* Without those that programs get over. */
static void put_denials(const cordon_result *r, struct buf *out)
{
        size_t put = 0;
        buf_puts(out, ",\"blocked\":[");
        for (size_t i = 0; i < r->denial_count && put < BLOCKED_MAX; i++) {
                const cordon_denial *d = &r->denials[i];
                if (d->minor || !cordon_denial_is_near(d->code, d->reason))
                        continue;

                buf_printf(out, "%s{\"effect\":", put++ ? "," : "");
                buf_json(out, span_str(d->what));
                buf_member(out, "reason", d->reason);
                buf_member(out, "why", d->why);
                if (d->permit[0])
                        buf_member(out, "permit", d->permit);
                buf_printf(out, ",\"count\":%u}", d->count);
        }
        buf_printf(out, "],\"minor\":%zu", count_told(r, true));
}

static void put_error(const cordon_error *e, struct buf *out)
{
        buf_puts(out, ",\"error\":{\"code\":");
        buf_json(out, span_str(cordon_error_name(e->code)));
        buf_member(out, "message", e->what);
        if (e->hint[0]) {
                AUTO_BUF(hint);
                put_hint(e->hint, &hint);
                buf_member(out, "hint", buf_str(&hint));
        }
        buf_putc(out, '}');
}

static void put_ran(struct job *j, struct buf *out)
{
        uint64_t cuts = 0;
        const cordon_result *r = cordon_box_result(j->box);
        j->status = j->timed_out ? 124 : cordon_result_status(r);
        j->end = j->timed_out ? "limit" : j->ended_by_client ? "cancelled" : ends[r->end];
        j->blocked = count_told(r, false);
        if (j->canary)
                buf_printf(out, ",\"canary\":%u", canary_run_version(j->canary));
        if (j->timed_out || r->limit[0])
                buf_member(out, "limit", j->timed_out ? "timeout" : r->limit);
        buf_member(out, "encoding", j->raw ? "base64" : "text");
        put_text(out, "stdout", &j->text[0], j->raw, &cuts);
        put_text(out, "stderr", &j->text[1], j->raw, &cuts);
        buf_printf(out, ",\"truncated\":%s,\"cut\":%llu", j->cut || r->output_truncated ? "true" : "false",
                   (unsigned long long) cuts);
        buf_member(out, "start", r->start);
        if (r->start_why[0])
                buf_member(out, "start_why", r->start_why);
        buf_printf(out, ",\"wall_ns\":%llu,\"cpu_ns\":%llu,\"memory_peak\":%llu",
                   (unsigned long long) r->wall_ns, (unsigned long long) r->cpu_ns,
                   (unsigned long long) r->memory_peak);
        if (r->work[0])
                buf_member(out, "changes", r->work);
        put_denials(r, out);
        if (r->error)
                put_error(r->error, out);
        tenant_book(j->tenant)->failed += j->status != 0;
        tenant_book(j->tenant)->refused_effects += j->blocked + count_told(r, true);
}

void job_finish(struct job *j, const cordon_error *failed)
{
        j->state = JOB_ENDED;
        j->ended_s = clock_wall_s();
        if (failed) {
                j->status = 125;
                j->end = j->ended_by_client ? "cancelled" : "not-started";
                put_error(failed, &j->result);
                tenant_book(j->tenant)->failed++;
        } else
                put_ran(j, &j->result);

        AUTO_BUF(event);
        job_put(j, true, &event);
        job_event(j, "end", &event);
}

/* What this host does not count is left out. */
static void put_usage(const cordon_box *b, struct buf *out)
{
        cordon_usage u;
        cordon_box_usage(b, &u);
        const struct {
                const char *name;
                uint64_t value;
        } rows[] = { { "cpu_ns", u.cpu_ns }, { "memory_peak", u.memory_peak }, { "net_bytes", u.net_bytes } };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (rows[i].value != CORDON_NOT_COUNTED)
                        buf_printf(out, ",\"%s\":%llu", rows[i].name, (unsigned long long) rows[i].value);
}

void job_put(const struct job *j, bool whole, struct buf *out)
{
        static const char *const states[] = { "queued", "running", "ended" };
        buf_puts(out, "{\"id\":");
        buf_json(out, span_str(j->id));
        buf_member(out, "state", states[j->state]);
        buf_member(out, "policy", j->policy_name);
        buf_printf(out, ",\"created\":%lld", (long long) j->created_s);
        if (j->run[0])
                buf_member(out, "run", j->run);
        buf_puts(out, ",\"argv\":[");
        for (char **w = j->argv; w && *w; w++) {
                buf_puts(out, w == j->argv ? "" : ",");
                buf_json(out, span_str(*w));
        }
        buf_putc(out, ']');
        if (j->state == JOB_ENDED) {
                buf_printf(out, ",\"ended\":%lld,\"status\":%d,\"denials\":%zu", (long long) j->ended_s,
                           j->status, j->blocked);
                buf_member(out, "end", j->end);
        }
        if (j->state == JOB_RUNNING && j->box)
                put_usage(j->box, out);
        if (j->state == JOB_ENDED && whole)
                buf_add(out, j->result.p, j->result.n);
        buf_putc(out, '}');
}

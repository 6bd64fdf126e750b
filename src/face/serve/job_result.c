/* SPDX-License-Identifier: MIT */
/* face/serve/job_result.c - a run as JSON. */
#include "base/clock.h"
#include "face/serve/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKED_MAX = 32 };

static size_t count_told(const cordon_result *r, int minor)
{
        size_t n = 0;
        for (size_t i = 0; i < r->denial_count; i++)
                n += http_tells(&r->denials[i], minor);
        return n;
}

/* The box, not its command, failed: that is the server's. */
static unsigned fault_of(const cordon_error *e)
{
        unsigned status = e ? status_of(e) : 500;
        return status >= 500 ? status : 500;
}

static void put_ran(struct job *j, struct buf *out)
{
        AUTO_BUF(hint);
        const cordon_result *r = cordon_box_result(j->box);
        size_t all = count_told(r, INT_MAX);
        put_hint(r->error ? r->error->hint : "", &hint);
        const struct http_told t = { .timed_out = j->timed_out,
                                     .cancelled = j->ended_by_client,
                                     .clock = "timeout",
                                     .raw = j->raw,
                                     .cut = j->cut,
                                     .most = BLOCKED_MAX,
                                     .hint = buf_str(&hint) };
        j->status = j->timed_out ? 124 : cordon_result_status(r);
        j->end = j->interrupted ? "interrupted" : http_end(r, &t);
        if (j->interrupted)
                j->fault = 503;
        else if (r->end == CORDON_FAILED && !j->timed_out && !j->ended_by_client)
                j->fault = fault_of(r->error);
        j->blocked = count_told(r, 0);
        if (j->canary)
                buf_member_int(out, "canary", canary_run_version(j->canary));
        buf_member(out, "encoding", j->raw ? "base64" : "text");
        http_put_result(r, j->text, &t, out);
        buf_member_int(out, "minor", (long long) (all - j->blocked));
        buf_member(out, "start", r->start);
        if (r->start_why[0])
                buf_member(out, "start_why", r->start_why);
        buf_member_int(out, "wall_ns", (long long) r->wall_ns);
        buf_member_int(out, "cpu_ns", (long long) r->cpu_ns);
        buf_member_int(out, "memory_peak", (long long) r->memory_peak);
        if (r->work[0])
                buf_member(out, "changes", r->work);
        tenant_book(j->tenant)->failed += j->status != 0;
        tenant_book(j->tenant)->refused_effects += j->blocked;
}

void job_finish(struct job *j, const cordon_error *failed)
{
        j->state = JOB_ENDED;
        j->unstored = true;
        j->ended_s = clock_wall_s();
        if (failed) {
                j->status = 125;
                j->end = j->interrupted ? "interrupted" : j->ended_by_client ? "cancelled" : "not-started";
                j->fault = j->interrupted ? 503 : j->ended_by_client ? 0 : status_of(failed);
                j->fault = j->fault >= 500 ? j->fault : 0;
                AUTO_BUF(hint);
                put_hint(failed->hint, &hint);
                http_put_error(failed, buf_str(&hint), &j->result);
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
                        buf_member_int(out, rows[i].name, (long long) rows[i].value);
}

void job_put_argv(const struct job *j, struct buf *out)
{
        buf_member_json(out, "argv", "[");
        for (char **w = j->argv; w && *w; w++)
                buf_member(out, NULL, *w);
        buf_putc(out, ']');
}

/* "KEY":"VALUE" of each. */
static void put_labels(const struct job *j, struct buf *out)
{
        buf_member_json(out, "labels", "{");
        for (const char *p = buf_str(&j->labels); *p && p[1];) {
                char key[72];
                size_t n = strcspn(++p, "="), len = strcspn(p + n, "\n");
                (void) snprintf(key, sizeof key, "%.*s", (int) n, p);
                buf_key(out, key);
                buf_json(out, span_of(p + n + 1, len - 1));
                p += n + len;
        }
        buf_putc(out, '}');
}

static void job_put_members(const struct job *j, struct buf *out)
{
        static const char *const states[] = { "queued", "running", "ended" };
        buf_member(out, "id", j->id);
        buf_member(out, "state", states[j->state]);
        buf_member(out, "policy", j->policy_name);
        buf_member_int(out, "created", j->created_s);
        if (j->started_s)
                buf_member_int(out, "started", j->started_s);
        if (j->run[0])
                buf_member(out, "run", j->run);
        buf_member(out, "person", j->person);
        if (j->session_id[0])
                buf_member(out, "session", j->session_id);
        job_put_argv(j, out);
        if (j->labels.n)
                put_labels(j, out);
        if (j->state == JOB_ENDED) {
                buf_member_int(out, "ended", j->ended_s);
                buf_member_int(out, "status", j->status);
                buf_member_int(out, "denials", (long long) j->blocked);
                buf_member(out, "end", j->end);
                buf_member_int(out, "stdout_bytes", (long long) j->out_bytes[0]);
                buf_member_int(out, "stderr_bytes", (long long) j->out_bytes[1]);
        }
}

void job_put(const struct job *j, bool whole, struct buf *out)
{
        buf_putc(out, '{');
        job_put_members(j, out);
        if (j->state == JOB_RUNNING && j->box)
                put_usage(j->box, out);
        if (j->state == JOB_ENDED && whole)
                buf_add(out, j->result.p, j->result.n);
        buf_putc(out, '}');
}

int store_put_run(struct job *j, struct span order)
{
        AUTO_BUF(text);
        buf_puts(&text, "{");
        job_put_members(j, &text);
        buf_member_int(&text, "seq", (long long) j->seq);
        buf_member(&text, "key", j->key);
        buf_member(&text, "digest", j->digest);
        buf_member_int(&text, "fault", j->fault);
        buf_puts(&text, "}\n");
        if (j->state == JOB_ENDED)
                buf_add(&text, j->result.p, j->result.n);
        else
                buf_json(&text, order);
        buf_putc(&text, '\n');
        if (j->state == JOB_ENDED)
                buf_add(&text, j->events.p, j->events.n);
        if (text.failed) {
                errno = ENOMEM;
                return -1;
        }

        if (store_put(j->tenant, j->id, buf_span(&text), j->stays) < 0)
                return -1;
        struct tenant_book *b = tenant_book(j->tenant);
        uint64_t bytes = text.n + j->out_bytes[0] + j->out_bytes[1];
        b->kept_bytes += bytes - j->on_disk;
        j->on_disk = bytes;
        j->unstored = false;
        return 0;
}

/* SPDX-License-Identifier: MIT */
/* run/keeper/result_json.c - the result of a run as one JSON object. Field names are stable; new ones are
 * only added. */
#include "base/buf.h"
#include "run/keeper/internal.h"

#include <string.h>

static const char *const end_names[] = {
        [CORDON_RUNNING] = "running", [CORDON_FAILED] = "failed",     [CORDON_NOT_STARTED] = "not-started",
        [CORDON_EXITED] = "exited",   [CORDON_SIGNALED] = "signaled", [CORDON_LIMIT] = "limit"
};

static void add_error(const struct err *e, struct buf *out)
{
        buf_printf(out,
                   ",\"error\":{\"code\":\"%s\",\"errno\":%d,\"step\":%u,\"what\":", err_code_name(e->code),
                   e->sys, e->step);
        buf_json(out, span_str(e->what));
        buf_member(out, "hint", e->hint);
        buf_putc(out, '}');
}

void box_failure_json(const struct err *e, struct buf *out)
{
        buf_puts(out, "{\"version\":1,\"end\":\"failed\"");
        add_error(e, out);
        buf_putc(out, '}');
}

static void add_limits(const struct box_result *r, struct buf *out)
{
        buf_puts(out, ",\"limits_hit\":[");
        bool first = true;
        for (unsigned k = 0; k < LIMIT_KEY__COUNT; k++)
                if (r->limits_hit & (1u << k)) {
                        buf_printf(out, "%s\"%s\"", first ? "" : ",", policy_limit_name(k));
                        first = false;
                }

        buf_printf(out, "],\"kept_by\":{\"memory\":\"%s\",\"procs\":\"%s\",\"cpu\":\"%s\"}",
                   r->memory_by_group ? "cgroup" : "sampling", r->procs_by_group ? "cgroup" : "rlimit",
                   r->cpu_by_group ? "cgroup" : "rlimit+sampling");
}

/* What to do about it, for the reader of the result: one sentence each. */
static const char *const steps[EFFECT_KIND__COUNT] = {
        [EFFECT_READ] = "ask `cordon why` what that line would show to hostile code",
        [EFFECT_WRITE] = "review with `cordon diff` what an edit door held back, then `cordon apply`",
        [EFFECT_RUN] = "ask `cordon why` what that program could do",
        [EFFECT_NET] = "let `cordon learn --network ask` propose the destinations",
        [EFFECT_SOCK] = "name one socket of the host; talking to it may mean acting for another user",
        [EFFECT_SIGN] = "name one key of the agent; `ask` shows each signature to a person first",
        [EFFECT_DECRYPT] = "name one key of the agent; `ask` shows each use to a person first",
        [EFFECT_LIMIT] = "see with `cordon run --json` what the run used",
        [EFFECT_CREDENTIAL] = "see with `cordon vault ls` which credentials there are, and until when",
        [EFFECT_CALL] = "no door opens this call: it is one that a box never makes",
};

static const char *next_step(const struct effect_row *d)
{
        enum effect_kind k = d->effect.kind;
        bool path = k == EFFECT_READ || k == EFFECT_WRITE || k == EFFECT_RUN;

        if (d->effect.reason == REASON_BROKER_DIED)
                return "report it: no policy and no command should end the broker";

        if (k == EFFECT_RUN && d->on_host == 0)
                return "let it be made behind `write DIR` or `edit DIR`, and name that with `run DIR/`";

        if (path && !d->permit[0]) /* the line that would open it is unknown */
                return "no door opens this path: a box does without";

        return k == EFFECT_CALL && d->permit[0] ? NULL : steps[k];
}

static void add_steps(const struct effect_row *d, struct buf *out)
{
        AUTO_BUF(line);
        const char *next = next_step(d);

        buf_puts(out, ",\"next_steps\":[");
        if (d->permit[0]) {
                buf_printf(&line, "add the line: %s%s", d->permit,
                           effect_is_name(&d->effect)
                                   ? ", with the port that is meant: only the name was asked for"
                                   : "");
                buf_json(out, buf_span(&line));
                buf_puts(out, next ? "," : "");
        }

        if (next)
                buf_json(out, span_str(next));

        buf_putc(out, ']');
        out->failed = out->failed || line.failed;
}

static void add_lost(const struct box_result *r, struct buf *out)
{
        const char *name;
        uint32_t count;
        for (unsigned at = 0, n = 0; result_lost(r, &at, &name, &count); n++)
                buf_printf(out, "%s\"%s\":%u", n ? "," : "", name, count);
}

static void add_denials(const struct box_result *r, struct buf *out)
{
        buf_puts(out, ",\"denials\":[");
        for (unsigned i = 0; i < r->denial_count; i++) {
                buf_puts(out, i ? ",{" : "{");
                effect_row_json(&r->denials[i], out);
                add_steps(&r->denials[i], out);
                buf_putc(out, '}');
        }

        buf_printf(out, "],\"denials_lost\":%u,\"lost\":{", result_denials_lost(r));
        add_lost(r, out);
        buf_puts(out, "},\"absent\":[");
        for (unsigned i = 0; i < r->absent_count; i++) {
                buf_puts(out, i ? "," : "");
                buf_json(out, span_str(r->absent[i]));
        }

        buf_printf(out, "],\"left\":%zu", r->out.left);
}

/* Only if all of it was requested. */
static void add_effects(const struct box_result *r, struct buf *out)
{
        if (!r->effects)
                return;

        buf_puts(out, ",\"effects\":[");
        for (unsigned i = 0; i < r->effect_count; i++) {
                const struct effect_row *e = &r->effects[i];
                buf_printf(out, "%s{\"code\":\"%s\",\"path\":", i ? "," : "",
                           effect_kind_name(e->effect.kind));
                buf_json(out, span_str(e->effect.target));
                buf_member(out, "program", e->program);
                buf_putc(out, '}');
        }

        buf_printf(out, "],\"effects_lost\":%u", r->effects_lost);
}

static void add_work(const struct box_result *r, struct buf *out)
{
        if (!r->has_work)
                return;
        buf_printf(out, ",\"work\":{\"layer\":%s%s%s,\"entries\":%zu,\"flagged\":%zu,\"sealed\":%s",
                   r->work.kept ? "\"" : "", r->work.kept ? r->work.run : "null", r->work.kept ? "\"" : "",
                   r->work.entries, r->work.flagged, r->work_error.code ? "false" : "true");
        if (r->work.place[0])
                buf_member(out, "place", r->work.place);
        buf_putc(out, '}');
}

static const char *const broker_names[] = {
        [BROKER_NONE] = "none", [BROKER_RUNS] = "runs", [BROKER_DONE] = "done", [BROKER_DIED] = "died"
};

static void add_row(const struct egress_row *n, struct buf *out)
{
        AUTO_BUF(text);
        AUTO_BUF(why);
        egress_row_text(n, &text);
        egress_row_why(n, &why);
        out->failed = out->failed || text.failed || why.failed;

        buf_puts(out, "{\"to\":");
        buf_json(out, buf_span(&text));
        buf_printf(
                out, ",\"verdict\":\"%s\",\"connections\":%u,\"requests\":%u,\"sent\":%llu,\"received\":%llu",
                !n->allowed ? "deny"
                : n->reason ? "failed"
                            : "allow",
                n->connections, n->requests, (unsigned long long) n->sent, (unsigned long long) n->received);
        if (n->seen)
                buf_printf(out, ",\"seen\":\"%s\"", egress_seen_name(n->seen));

        if (n->address[0]) {
                buf_printf(out, ",\"reach\":\"%s\",\"address\":", egress_reach_name(n->reach));
                buf_json(out, span_str(n->address));
        }

        if (n->reason) {
                buf_printf(out, ",\"reason\":\"%s\",\"why\":", effect_reason_name(n->reason));
                buf_json(out, buf_span(&why));
        }

        if (!n->allowed) {
                buf_puts(out, ",\"permit\":");
                if (n->permit[0])
                        buf_json(out, span_str(n->permit));
                else
                        buf_puts(out, "null");
        }

        buf_putc(out, '}');
}

/* Only for a box with `net` doors. */
static void add_net(const struct box_result *r, struct buf *out)
{
        if (r->broker == BROKER_NONE)
                return;

        buf_printf(out, ",\"net\":{\"broker\":\"%s\",\"destinations\":[", broker_names[r->broker]);
        for (unsigned i = 0; i < r->net_count; i++) {
                if (i > 0)
                        buf_putc(out, ',');
                add_row(&r->net[i], out);
        }

        buf_printf(out, "],\"lost\":%u", r->net_lost);
        if (r->recording)
                buf_printf(out, ",\"recorded\":%zu,\"unrecorded\":%zu", r->out.recorded, r->out.unrecorded);

        buf_putc(out, '}');
}

static void add_label(const struct box_result *r, struct buf *out)
{
        if (r->out.labels[0])
                buf_member(out, "labels", r->out.labels);
        if (r->out.unlabelled[0])
                buf_member(out, "unlabelled", r->out.unlabelled);
        if (r->out.unstamped) {
                buf_printf(out, ",\"unstamped\":%u", r->out.unstamped);
                buf_member(out, "unstamped_file", r->unstamped_name);
        }
}

static void add_start(const struct box_result *r, struct buf *out)
{
        buf_member(out, "start", r->out.start);
        if (r->out.start_why[0] && !r->in_session)
                buf_member(out, "start_why", r->out.start_why);
}

static void add_layers(const struct box_result *r, struct buf *out)
{
        buf_puts(out, ",\"layers\":[");
        bool first = true;
        for (unsigned l = 0; l < LAYER__COUNT; l++)
                if (r->layers & (1u << l)) {
                        buf_printf(out, "%s\"%s\"", first ? "" : ",", wall_layer_name(l));
                        first = false;
                }

        buf_puts(out, "]");
}

static void add_ms(const char *key, uint64_t ns, struct buf *out)
{
        buf_printf(out, ",\"%s\":", key);
        buf_fixed(out, (ns + 500) / 1000, 3);
}

void box_result_json(struct box *b, struct buf *out)
{
        const struct box_result *r = &b->run.r;
        (void) box_result_out(b);
        buf_printf(out, "{\"version\":1,\"run\":\"%s\",\"name\":", r->run);
        buf_json(out, span_str(r->name));
        buf_printf(out, ",\"end\":\"%s\",\"exit\":", end_names[r->out.end]);
        if (r->out.end == CORDON_EXITED)
                buf_printf(out, "%d", r->out.code);
        else
                buf_puts(out, "null");

        buf_puts(out, ",\"signal\":");
        if (r->out.end == CORDON_SIGNALED)
                buf_printf(out, "%d", r->out.code);
        else
                buf_puts(out, "null");

        buf_puts(out, ",\"limit\":");
        if (r->out.limit[0])
                buf_printf(out, "\"%s\"", r->out.limit);
        else
                buf_puts(out, "null");

        add_limits(r, out);
        if (r->out.renewals)
                buf_printf(out, ",\"renewed\":%u,\"renewals\":%u", r->out.renewed, r->out.renewals);

        add_ms("wall_ms", r->out.wall_ns, out);
        add_ms("cpu_ms", r->out.cpu_ns, out);
        add_ms("start_ms", r->out.start_ns, out);
        add_start(r, out);
        if (r->in_session) {
                buf_member(out, "session", r->session);
                buf_printf(out, ",\"session_over\":%s", r->out.session_over ? "true" : "false");
        }

        add_ms("group_ms", r->group_wait_ns, out);
        buf_printf(out, ",\"memory_peak\":%llu", (unsigned long long) r->out.memory_peak);
        buf_printf(out, ",\"output_bytes\":%llu,\"output_truncated\":%s",
                   (unsigned long long) r->out.output_bytes, r->out.output_truncated ? "true" : "false");
        add_denials(r, out);
        add_effects(r, out);
        add_net(r, out);
        add_label(r, out);
        buf_printf(out, ",\"terminal_cuts\":%llu", (unsigned long long) r->terminal_cuts);
        if (r->reports)
                buf_printf(out, ",\"checks\":{%s}", r->reports);
        buf_printf(out, ",\"wall\":\"%s\",\"attested\":%s", wall_name(r->wall),
                   r->out.attested ? "true" : "false");
        if (r->module_code)
                buf_member(out, "code", r->module_code);
        if (r->gpus[0])
                buf_member(out, "gpu", r->gpus);
        add_layers(r, out);
        add_work(r, out);
        buf_printf(out, ",\"policy\":\"%s\",\"ledger\":", policy_digest(b->c.policy));
        buf_json(out, span_str(r->ledger));
        if (r->out.end == CORDON_FAILED || r->out.end == CORDON_NOT_STARTED)
                add_error(&r->error, out);

        buf_putc(out, '}');
}

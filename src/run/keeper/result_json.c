/* SPDX-License-Identifier: MIT */
/* run/keeper/result_json.c - the result of a run as one JSON object. Field names are stable; new ones are
 * only added. */
#include "base/buf.h"
#include "run/keeper/internal.h"

#include <string.h>

static void put_error(const struct err *e, struct buf *out)
{
        buf_member_json(out, "error", "{");
        buf_member(out, "code", err_code_name(e->code));
        buf_member_int(out, "errno", e->sys);
        buf_member_int(out, "step", e->step);
        buf_member(out, "what", e->what);
        buf_member(out, "hint", e->hint);
        buf_putc(out, '}');
}

void box_failure_json(const struct err *e, struct buf *out)
{
        buf_puts(out, "{\"version\":1,\"end\":\"failed\"");
        put_error(e, out);
        buf_putc(out, '}');
}

/* The names of those whose bits are set. */
static void put_names(const char *key, uint32_t bits, const char *const names[32], struct buf *out)
{
        buf_member_json(out, key, "[");
        for (unsigned i = 0; i < 32; i++)
                if (bits >> i & 1)
                        buf_member(out, NULL, names[i]);
        buf_putc(out, ']');
}

static void put_limits(const struct box_result *r, struct buf *out)
{
        const char *names[32] = { NULL };
        for (unsigned k = 0; k < LIMIT_KEY__COUNT; k++)
                names[k] = policy_limit_name(k);

        put_names("limits_hit", r->limits_hit, names, out);
        buf_member_json(out, "kept_by", "{");
        buf_member(out, "memory", r->memory_by_group ? "cgroup" : "sampling");
        buf_member(out, "procs", r->procs_by_group ? "cgroup" : "rlimit");
        buf_member(out, "cpu", r->cpu_by_group ? "cgroup" : "rlimit+sampling");
        buf_putc(out, '}');
        if (!r->out.renewals)
                return;

        buf_member_int(out, "renewed", r->out.renewed);
        buf_member_int(out, "renewals", r->out.renewals);
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

static void put_steps(const struct effect_row *d, struct buf *out)
{
        AUTO_BUF(line);
        const char *next = next_step(d);
        const char *port = effect_is_name(&d->effect)
                                   ? ", with the port that is meant: only the name was asked for"
                                   : "";
        buf_printf(&line, "add the line: %s%s", d->permit, port);
        buf_member_json(out, "next_steps", "[");
        if (d->permit[0])
                buf_member(out, NULL, buf_str(&line));
        if (next)
                buf_member(out, NULL, next);

        buf_putc(out, ']');
        out->failed |= line.failed;
}

static void put_lost(const struct box_result *r, struct buf *out)
{
        const char *name;
        uint32_t count;
        buf_member_int(out, "denials_lost", r->out.denials_lost);
        buf_member_json(out, "lost", "{");
        for (unsigned at = 0; result_lost(r, &at, &name, &count);)
                buf_member_int(out, name, count);
        buf_putc(out, '}');
}

static void put_denials(const struct box_result *r, struct buf *out)
{
        buf_member_json(out, "denials", "[");
        for (unsigned i = 0; i < r->denial_count; i++) {
                buf_member_json(out, NULL, "{");
                effect_row_json(&r->denials[i], out);
                put_steps(&r->denials[i], out);
                buf_putc(out, '}');
        }

        buf_putc(out, ']');
        put_lost(r, out);
        buf_member_json(out, "absent", "[");
        for (unsigned i = 0; i < r->absent_count; i++)
                buf_member(out, NULL, r->absent[i]);
        buf_putc(out, ']');
        buf_member_int(out, "left", (long long) r->out.left);
}

/* Only if all of it was requested. */
static void put_effects(const struct box_result *r, struct buf *out)
{
        if (!r->effects)
                return;

        buf_member_json(out, "effects", "[");
        for (unsigned i = 0; i < r->effect_count; i++) {
                const struct effect_row *e = &r->effects[i];
                buf_member_json(out, NULL, "{");
                buf_member(out, "code", effect_kind_name(e->effect.kind));
                buf_member(out, "path", e->effect.target);
                buf_member(out, "program", e->program);
                buf_putc(out, '}');
        }

        buf_putc(out, ']');
        buf_member_int(out, "effects_lost", r->effects_lost);
}

static void put_work(const struct box_result *r, struct buf *out)
{
        if (!r->has_work)
                return;

        buf_member_json(out, "work", "{");
        buf_member(out, "layer", r->work.kept ? r->work.run : NULL);
        buf_member_int(out, "entries", (long long) r->work.entries);
        buf_member_int(out, "flagged", (long long) r->work.flagged);
        buf_member_bool(out, "sealed", !r->work_error.code);
        if (r->work.place[0])
                buf_member(out, "place", r->work.place);
        buf_putc(out, '}');
}

static void put_destination(const struct egress_row *n, struct buf *out)
{
        AUTO_BUF(text);
        AUTO_BUF(why);
        egress_row_text(n, &text);
        egress_row_why(n, &why);
        out->failed |= text.failed || why.failed;
        buf_member_json(out, NULL, "{");
        buf_member(out, "to", buf_str(&text));
        buf_member(out, "verdict", !n->allowed ? "deny" : n->reason ? "failed" : "allow");
        buf_member_int(out, "connections", n->connections);
        buf_member_int(out, "requests", n->requests);
        buf_member_int(out, "sent", (long long) n->sent);
        buf_member_int(out, "received", (long long) n->received);
        if (n->seen)
                buf_member(out, "seen", egress_seen_name(n->seen));

        if (n->address[0]) {
                buf_member(out, "reach", egress_reach_name(n->reach));
                buf_member(out, "address", n->address);
        }

        if (n->reason) {
                buf_member(out, "reason", effect_reason_name(n->reason));
                buf_member(out, "why", buf_str(&why));
        }

        if (!n->allowed)
                buf_member(out, "permit", n->permit[0] ? n->permit : NULL);
        buf_putc(out, '}');
}

/* Only for a box with `net` doors. */
static void put_net(const struct box_result *r, struct buf *out)
{
        static const char *const names[] = {
                [BROKER_NONE] = "none", [BROKER_RUNS] = "runs", [BROKER_DONE] = "done", [BROKER_DIED] = "died"
        };
        if (r->broker == BROKER_NONE)
                return;

        buf_member_json(out, "net", "{");
        buf_member(out, "broker", names[r->broker]);
        buf_member_json(out, "destinations", "[");
        for (unsigned i = 0; i < r->net_count; i++)
                put_destination(&r->net[i], out);

        buf_putc(out, ']');
        buf_member_int(out, "lost", r->net_lost);
        if (r->recording) {
                buf_member_int(out, "recorded", (long long) r->out.recorded);
                buf_member_int(out, "unrecorded", (long long) r->out.unrecorded);
        }

        buf_putc(out, '}');
}

static void put_label(const struct box_result *r, struct buf *out)
{
        if (r->out.labels[0])
                buf_member(out, "labels", r->out.labels);
        if (r->out.unlabelled[0])
                buf_member(out, "unlabelled", r->out.unlabelled);
        if (!r->out.unstamped)
                return;

        buf_member_int(out, "unstamped", r->out.unstamped);
        buf_member(out, "unstamped_file", r->unstamped_name);
}

static void put_ms(const char *key, uint64_t ns, struct buf *out)
{
        buf_key(out, key);
        buf_fixed(out, (ns + 500) / 1000, 3);
}

static void put_start(const struct box_result *r, struct buf *out)
{
        put_ms("wall_ms", r->out.wall_ns, out);
        put_ms("cpu_ms", r->out.cpu_ns, out);
        put_ms("start_ms", r->out.start_ns, out);
        buf_member(out, "start", r->out.start);
        if (r->out.start_why[0] && !r->in_session)
                buf_member(out, "start_why", r->out.start_why);
        if (r->in_session) {
                buf_member(out, "session", r->session);
                buf_member_bool(out, "session_over", r->out.session_over);
        }

        put_ms("group_ms", r->group_wait_ns, out);
}

static void put_wall(const struct box_result *r, struct buf *out)
{
        const char *names[32] = { NULL };
        for (unsigned l = 0; l < LAYER__COUNT; l++)
                names[l] = wall_layer_name(l);

        buf_member(out, "wall", r->out.wall);
        buf_member_bool(out, "attested", r->out.attested);
        if (r->module_code)
                buf_member(out, "code", r->module_code);
        if (r->gpus[0])
                buf_member(out, "gpu", r->gpus);
        put_names("layers", r->layers, names, out);
}

/* null: it did not end so. */
static void put_code(const char *key, const cordon_result *r, cordon_end end, struct buf *out)
{
        if (r->end == end)
                buf_member_int(out, key, r->code);
        else
                buf_member(out, key, NULL);
}

void box_result_json(struct box *b, struct buf *out)
{
        const struct box_result *r = &b->run.r;
        const cordon_result *c = box_result_out(b);
        buf_puts(out, "{\"version\":1");
        buf_member(out, "run", r->run);
        buf_member(out, "name", r->name);
        buf_member(out, "end", cordon_end_name(c->end));
        put_code("exit", c, CORDON_EXITED, out);
        put_code("signal", c, CORDON_SIGNALED, out);
        buf_member(out, "limit", c->limit[0] ? c->limit : NULL);
        put_limits(r, out);
        put_start(r, out);
        buf_member_int(out, "memory_peak", (long long) c->memory_peak);
        buf_member_int(out, "output_bytes", (long long) c->output_bytes);
        buf_member_bool(out, "output_truncated", c->output_truncated);
        put_denials(r, out);
        put_effects(r, out);
        put_net(r, out);
        put_label(r, out);
        buf_member_int(out, "terminal_cuts", (long long) r->terminal_cuts);
        if (r->reports)
                buf_printf(out, ",\"checks\":{%s}", r->reports);
        put_wall(r, out);
        put_work(r, out);
        buf_member(out, "policy", policy_digest(b->c.policy));
        buf_member(out, "ledger", r->ledger);
        if (c->error)
                put_error(&r->error, out);

        buf_putc(out, '}');
}

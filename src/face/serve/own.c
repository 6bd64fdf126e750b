/* SPDX-License-Identifier: MIT */
/* face/serve/own.c - the user's runs, as the ledger and the running boxes have them. Reads records as they
 * are written, from where it stopped. */
#include "face/serve/own.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_BYTES = 64, BOX_BYTES = 72, SHOWN_MAX = 1000 };

struct own_run {
        char run[RUN_BYTES], box[BOX_BYTES], command[200], end[40];
        int64_t began_us, ended_us, cpu_us, memory, wall_us, arguments;
        uint64_t denials, minor;
        bool recorded, asked; /* asked: to end */
        char *state;          /* of the box that runs, as JSON; else NULL */
};
struct own {
        struct own_run *v; /* oldest first */
        size_t n, room;
        uint64_t cursor;
};

static const struct cordon_context *context(const struct server *s)
{
        return tenant_context(tenants_at(s->tenants, 0));
}

static struct own_run *find(const struct own *o, const char *run)
{
        for (size_t i = o->n; i > 0; i--)
                if (strcmp(o->v[i - 1].run, run) == 0)
                        return &o->v[i - 1];
        return NULL;
}

static struct own_run *add(struct own *o, const char *run)
{
        struct own_run *r = find(o, run);
        if (r || strlen(run) >= RUN_BYTES || vec_room((void **) &o->v, o->n, &o->room, sizeof *o->v) < 0)
                return r;

        r = &o->v[o->n++];
        *r = (struct own_run){ 0 };
        (void) snprintf(r->run, sizeof r->run, "%s", run);
        return r;
}

/* ---- from the records ---- */

static void take_start(struct own_run *r, const struct json *o, const struct json *more)
{
        (void) snprintf(r->box, sizeof r->box, "%s", json_text(o, "box"));
        (void) snprintf(r->command, sizeof r->command, "%s", json_text(o, "target"));
        r->began_us = json_int(o, "time");
        r->recorded = true;
        r->arguments = more ? json_int(more, "args") : 0;
}

static void take_end(struct own_run *r, const struct json *o, const struct json *more)
{
        (void) snprintf(r->end, sizeof r->end, "%s", json_text(o, "result"));
        r->ended_us = json_int(o, "time");
        r->cpu_us = more ? json_int(more, "cpu-us") : 0;
        r->memory = more ? json_int(more, "memory") : 0;
        r->wall_us = more ? json_int(more, "wall-us") : 0;
}

static void take_record(void *ctx, const char *text, const char *line)
{
        struct err ignored;
        (void) line;
        struct json_doc *d = json_parse_data("record", span_str(text), &ignored);
        const struct json *o = d ? json_root(d) : NULL, *more = o ? json_of(o, "more", JSON_OBJECT) : NULL;
        const char *kind = o ? json_text(o, "kind") : "", *run = o ? json_text(o, "run") : "";
        bool start = strcmp(kind, "start") == 0;
        struct own_run *r = start ? add(ctx, run) : find(ctx, run);
        if (r && start)
                take_start(r, o, more);
        else if (r && strcmp(kind, "end") == 0)
                take_end(r, o, more);
        else if (r && strcmp(json_text(o, "phase"), "denied") == 0)
                ++*(more && json_get(more, "minor") ? &r->minor : &r->denials);

        json_free(d);
}

static void take_box(void *ctx, const char *text)
{
        struct err ignored;
        struct json_doc *d = json_parse_data("box", span_str(text), &ignored);
        const struct json *o = d ? json_root(d) : NULL;
        struct own_run *r = o && !json_get(o, "refused") ? add(ctx, json_text(o, "run")) : NULL;
        if (r && !r->began_us) { /* its ledger is off */
                (void) snprintf(r->box, sizeof r->box, "%s", json_text(o, "name"));
                r->began_us = (clock_wall_s() - json_int(o, "age_ms") / 1000) * 1000000;
        }
        if (r) {
                free(r->state);
                if (asprintf(&r->state, "%s", text) < 0)
                        r->state = NULL;
        }
        json_free(d);
}

static int look(struct server *s, cordon_error *e)
{
        struct own *o = s->own;
        for (size_t i = 0; i < o->n; i++) {
                free(o->v[i].state);
                o->v[i].state = NULL;
        }
        /* Boxes first: one that ends in between has its record then. */
        if (cordon_list(take_box, o, e) < 0)
                return -1;
        return cordon_log_each(context(s), NULL, &o->cursor, take_record, o, e) < 0 && e->sys != ENOENT ? -1
                                                                                                        : 0;
}

/* ---- as JSON ---- */

static void put_argv(const struct own_run *r, const struct json *command, struct buf *out)
{
        buf_member_json(out, "argv", "[");
        for (const struct json *w = command ? command->child : NULL; w; w = w->next)
                buf_member(out, NULL, w->str);
        if (!command)
                buf_member(out, NULL, r->command);
        if (!command && r->arguments > 1) /* the record has only their number */
                buf_member(out, NULL, "...");
        buf_putc(out, ']');
}

static void put_live(const struct json *o, struct buf *out)
{
        buf_member_int(out, "cpu_ns", json_int(o, "cpu_ms") * 1000000);
        buf_member_int(out, "memory_peak", json_int(o, "memory_peak"));
        buf_member_int(out, "left_s", json_int(o, "left_ms") / 1000);
}

/* "exited 0", "signaled 9", "limit time": as a record has them. */
static void put_end(const struct own_run *r, struct buf *out)
{
        char word[24] = "failed", rest[24] = "";
        int n = sscanf(r->end, "%23s %23s", word, rest), code = (int) strtol(rest, NULL, 10);
        bool limit = strcmp(word, "limit") == 0, killed = strcmp(word, "signaled") == 0;
        bool gone = n < 1; /* its keeper was killed: nobody wrote how it ended */
        buf_member(out, "end", strcmp(word, "not") == 0 ? "not-started" : word);
        if (limit)
                buf_member(out, "limit", rest);
        buf_member_int(out, "status", limit ? 124 : killed ? 128 + code : gone ? 125 : code);
        buf_member_int(out, "ended", (gone ? r->began_us : r->ended_us) / 1000000);
        if (gone)
                return;
        buf_member_int(out, "cpu_ns", r->cpu_us * 1000);
        buf_member_int(out, "memory_peak", r->memory);
        buf_member_int(out, "wall_ns", r->wall_us * 1000);
}

static void put_run(const struct own_run *r, struct buf *out)
{
        struct err ignored;
        struct json_doc *d = r->state ? json_parse_data("box", span_str(r->state), &ignored) : NULL;
        const struct json *o = d ? json_root(d) : NULL;
        buf_putc(out, '{');
        buf_member(out, "id", r->run);
        buf_member(out, "state", o ? "running" : "ended");
        buf_member(out, "policy", r->box);
        buf_member_int(out, "created", r->began_us / 1000000);
        buf_member(out, "run", r->run);
        put_argv(r, o ? json_of(o, "command", JSON_ARRAY) : NULL, out);
        if (o)
                put_live(o, out);
        else
                put_end(r, out);
        buf_member_int(out, "denials", (long long) r->denials);
        buf_member_int(out, "minor", (long long) r->minor);
        json_free(d);
}

void own_runs(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        const struct own *o = c->s->own;
        if (look(c->s, &e) < 0) {
                reply_error(r, status_of(&e), &e);
                return;
        }

        buf_puts(&r->body, "{\"runs\":[");
        for (size_t i = o->n; i > 0 && o->n - i < SHOWN_MAX; i--) {
                if (!o->v[i - 1].recorded && !o->v[i - 1].state) /* it left nothing */
                        continue;
                buf_key(&r->body, NULL);
                put_run(&o->v[i - 1], &r->body);
                buf_putc(&r->body, '}');
        }
        buf_puts(&r->body, "]}");
        reply_json(r, 200);
}

static struct own_run *named(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        struct own_run *x = look(c->s, &e) == 0 ? find(c->s->own, c->arg) : NULL;
        if (!x)
                reply_problem(r, 404, "run", "run not found", "cordon ledger lists the records of all");
        return x;
}

static void add_bytes(void *ctx, const void *data, size_t len) { buf_add(ctx, data, len); }

/* The newest of what it printed, if that was not redirected; it was kept if a box left it. */
static void put_output(struct server *s, const struct own_run *x, struct buf *out)
{
        cordon_error ignored = { 0 };
        AUTO_BUF(text);
        (void) cordon_logs(context(s), x->run, 0, add_bytes, &text, -1, &ignored);
        size_t cut = text.n > OUTPUT_MAX ? text.n - OUTPUT_MAX : 0;
        buf_member(out, "encoding", "base64");
        buf_key(out, "stdout");
        buf_putc(out, '"');
        base64_put(span_of(text.p + cut, text.n - cut), out);
        buf_putc(out, '"');
        buf_member_bool(out, "truncated", cut > 0);
}

void own_run(struct serve_call *c, struct reply *r)
{
        const struct own_run *x = named(c, r);
        if (!x)
                return;

        put_run(x, &r->body);
        put_output(c->s, x, &r->body);
        buf_putc(&r->body, '}');
        reply_json(r, 200);
}

/* Politely the first time. */
void own_stop(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        struct own_run *x = named(c, r);
        if (!x)
                return;

        if (x->state && cordon_stop(x->run, x->asked ? SIGKILL : SIGTERM, &e) < 0) {
                reply_error(r, status_of(&e), &e);
                return;
        }
        x->asked = true;
        put_run(x, &r->body);
        buf_putc(&r->body, '}');
        reply_json(r, 202);
}

/* ---- its life ---- */

void own_end(struct server *s)
{
        for (size_t i = 0; s->own && i < s->own->n; i++)
                free(s->own->v[i].state);
        if (s->own)
                free(s->own->v);
        free(s->own);
}

int own_begin(struct server *s, cordon_error *e)
{
        s->own = calloc(1, sizeof *s->own);
        return s->own ? own_address(s, e)
                      : err_set((struct err *) e, ERR_MEMORY, 0, "no memory for the page");
}

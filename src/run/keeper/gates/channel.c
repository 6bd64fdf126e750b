/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/channel.c - the approver's socket of one box: requests and answers as JSON lines, as in
 * docs/approve-protocol.md. An abstract socket, so that nothing is left when a keeper is killed; boxes live
 * in other network namespaces, or Landlock keeps them from it. Decides nothing: gate/ does. */
#include "base/fd.h"
#include "base/hash.h"
#include "base/host/host.h"
#include "base/json.h"
#include "run/keeper/gates/decisions.h"
#include "run/keeper/gates/gates.h"
#include "run/keeper/registry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OUT_MAX = 8 << 20, PROTOCOL = 1 };

int channel_open(struct box *b, struct err *e)
{
        b->gates->listener =
                registry_listen("cordon-gate", SOCK_STREAM, b->c.uid, keeper_run(&b->run), APPROVERS_MAX);
        return b->gates->listener >= 0
                       ? 0
                       : err_set(e, ERR_IO, errno, "opening the socket for approvers: %s", strerror(errno));
}

static void hang_up(struct approver *a)
{
        fd_close(&a->fd);
        buf_done(&a->in);
        buf_done(&a->out);
        *a = (struct approver){ .fd = -1 };
}

void channel_close(struct gates *g)
{
        for (unsigned i = 0; i < APPROVERS_MAX; i++)
                hang_up(&g->approvers[i]);
        fd_close(&g->listener);
}

/* A process of this user that is confined approves nothing: it, or a box that it started, may be the one that
 * asks. How one of another user is confined is not visible; it is in a group that the policy names. */
static bool may_connect(const struct box *b, int fd, const struct ucred *who)
{
        return peer_may_connect(b, who->uid) &&
               (who->uid != b->c.uid || !host_peer_confined(fd, HOST_CONFINED_ACCESS));
}

void channel_accept(struct box *b)
{
        struct gates *g = b->gates;
        struct ucred c;
        socklen_t n = sizeof c;
        AUTO_FD(fd, accept4(g->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) < 0 || !may_connect(b, fd, &c))
                return;

        for (unsigned i = 0; i < APPROVERS_MAX; i++)
                if (g->approvers[i].fd < 0 && gates_watch(g, fd, KEY_APPROVERS + i) == 0) {
                        g->approvers[i] = (struct approver){ .fd = TAKE_FD(fd), .uid = c.uid, .pid = c.pid };
                        return;
                }
}

/* ---- answers ---- */

static void flush_out(struct box *b, struct approver *a)
{
        while (a->sent < a->out.n) {
                ssize_t n = send(a->fd, a->out.p + a->sent, a->out.n - a->sent, MSG_NOSIGNAL);
                if (n <= 0)
                        break;
                a->sent += (size_t) n;
        }

        if (a->sent == a->out.n)
                a->out.n = a->sent = 0;

        struct epoll_event e = { .events = EPOLLIN | (a->out.n ? EPOLLOUT : 0u) };
        e.data.u64 = KEY_APPROVERS + (uint64_t) (a - b->gates->approvers);
        (void) epoll_ctl(b->gates->epoll, EPOLL_CTL_MOD, a->fd, &e);
}

static void say_no(struct approver *a, const char *code, const char *text)
{
        buf_printf(&a->out, "{\"ok\":false,\"code\":\"%s\"", code);
        buf_member(&a->out, "error", text);
        buf_puts(&a->out, "}\n");
}

static struct gate_fatigue fatigue_of(struct box *b, uint64_t uid)
{
        struct past_decisions p;
        decisions_read(b->c.cx, &p);
        struct gate_fatigue f = decisions_fatigue(&p, uid, desk_now_ms());
        decisions_done(&p);
        return f;
}

/* "a,b,c" has the word. */
static bool has_word(const char *list, const char *word)
{
        size_t n = strlen(word);
        for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
                if (strcspn(p, ",") == n && strncmp(p, word, n) == 0)
                        return true;
        return false;
}

static struct gate_voter voter_of(const struct approver *a, const struct desk_item *it)
{
        const char *group = it->door->ask.group;
        if (a->face)
                return (struct gate_voter){ .uid = a->uid,
                                            .name = a->face->name,
                                            .own = a->face->own,
                                            .in_group = group && has_word(a->face->groups, group) };

        return (struct gate_voter){ .uid = a->uid,
                                    .in_group = group && peer_in_group((uint32_t) a->uid, group),
                                    .at_terminal = peer_at_terminal(a->pid) };
}

/* ---- list, show ---- */

static void put_item(struct box *b, const struct desk_item *it, struct buf *out)
{
        AUTO_BUF(what);
        AUTO_BUF(door);
        int64_t left = it->gate.expires_ms - desk_now_ms();
        desk_summary(it, &what);
        desk_door(b, it, &door);
        buf_printf(out, "{\"id\":\"%s\",\"template\":\"%s\",\"state\":\"%s\"", it->gate.id, it->gate.template,
                   gate_state_name(it->gate.state));
        buf_member(out, "effect", buf_str(&what));
        buf_member(out, "door", buf_str(&door));
        buf_member(out, "run", keeper_run(&b->run));
        buf_member(out, "box", b->run.r.name);
        buf_member(out, "group", it->door->ask.group ? it->door->ask.group : "");
        buf_printf(out, ",\"risk\":\"%s\",\"need\":%u,\"expires_s\":%lld,\"chars\":%u}",
                   it->high ? "high" : "normal", it->door->ask.need ? it->door->ask.need : 1,
                   (long long) (left > 0 ? left / 1000 : 0), desk_chars(it));
}

/* Approvals that are left for like effects. */
static void put_grants(struct box *b, struct buf *out)
{
        const char *comma = "";
        int64_t now = desk_now_ms();
        for (unsigned i = 0; i < b->gates->grant_count; i++) {
                const struct gate_grant *g = &b->gates->grants[i];
                if (g->revoked || (g->left.until_ms && g->left.until_ms <= now))
                        continue;
                buf_printf(out, "%s{\"template\":\"%s\",\"run\":\"%s\"", comma, g->template,
                           keeper_run(&b->run));
                if (g->left.uses)
                        buf_printf(out, ",\"uses\":%u", g->left.uses);
                if (g->left.until_ms)
                        buf_printf(out, ",\"left_s\":%lld", (long long) (g->left.until_ms - now) / 1000);
                buf_putc(out, '}');
                comma = ",";
        }
}

static void op_list(struct box *b, struct approver *a, const struct json *q)
{
        (void) q;
        struct gate_fatigue f = fatigue_of(b, a->uid);
        bool first = true;
        buf_printf(
                &a->out,
                "{\"ok\":true,\"protocol\":%d,\"uid\":%llu,\"terminal\":%s,\"step\":\"%s\",\"over_budget\":%"
                "s,\"items\":[",
                PROTOCOL, (unsigned long long) a->uid, peer_at_terminal(a->pid) ? "true" : "false",
                gate_step_name(gate_ladder(&f)), gate_over_budget(&f) ? "true" : "false");
        for (unsigned i = 0; i < b->gates->count; i++) {
                const struct desk_item *it = b->gates->items[i];
                if (!it->ready || it->gate.state != GATE_PENDING)
                        continue;
                if (!first)
                        buf_putc(&a->out, ',');
                first = false;
                put_item(b, it, &a->out);
        }
        buf_puts(&a->out, "],\"grants\":[");
        put_grants(b, &a->out);
        buf_puts(&a->out, "]}\n");
}

static void op_show(struct box *b, struct approver *a, const struct json *q)
{
        struct desk_item *it = desk_find(b->gates, json_text(q, "id"));
        if (!it || it->gate.state != GATE_PENDING) {
                say_no(a, gate_verdict_name(GATE_REFUSED), gate_verdict_text(GATE_REFUSED));
                return;
        }

        buf_puts(&a->out, "{\"ok\":true,\"item\":");
        put_item(b, it, &a->out);
        buf_puts(&a->out, ",\"envelope\":");
        buf_add(&a->out, it->text.p, it->shown_at - 1);
        buf_puts(&a->out, ",\"text\":");
        buf_json(&a->out, span_of(it->text.p + it->shown_at, it->text.n - it->shown_at));
        buf_printf(&a->out, ",\"reading_ms\":%lld,\"new\":%s}\n", (long long) gate_reading_ms(desk_chars(it)),
                   desk_is_new(b, it) ? "true" : "false");
        desk_shown(it, a->uid);
}

/* ---- answer ---- */

struct ballot { /* the items of one answer */
        struct desk_item *items[GATE_BATCH_MAX];
        size_t n;
        char id[GATE_ID]; /* of an item, or of all of them */
};

static enum gate_verdict find_items(struct box *b, const struct json *q, struct ballot *ret)
{
        const struct json *ids = json_get(q, "ids");
        struct gate_batch_row rows[GATE_BATCH_MAX];
        struct sha256 s;
        sha256_init(&s);
        *ret = (struct ballot){ 0 };
        if (!ids) {
                ret->items[0] = desk_find(b->gates, json_text(q, "id"));
                ret->n = 1;
                if (!ret->items[0])
                        return GATE_REFUSED;
                memcpy(ret->id, ret->items[0]->gate.id, GATE_ID);
                return GATE_COUNTED;
        }

        for (const struct json *v = ids->type == JSON_ARRAY ? ids->child : NULL; v; v = v->next) {
                struct desk_item *it = v->type == JSON_STRING ? desk_find(b->gates, v->str) : NULL;
                if (!it || ret->n == GATE_BATCH_MAX)
                        return GATE_REFUSED;
                for (size_t i = 0; i < ret->n; i++)
                        if (ret->items[i] == it)
                                return GATE_TWICE;
                rows[ret->n] =
                        (struct gate_batch_row){ it->envelope.field[GATE_DOOR], it->gate.template, it->high };
                ret->items[ret->n++] = it;
                sha256_add(&s, it->gate.id, GATE_ID - 1);
        }

        sha256_end_hex(&s, ret->id);
        return gate_batch_fits(rows, ret->n) ? GATE_COUNTED : GATE_REFUSED;
}

static struct gate_scope scope_of(const struct json *q, int64_t now_ms)
{
        const struct json *uses = json_get(q, "uses"), *seconds = json_get(q, "for_s");
        struct gate_scope s = { 0 };
        if (uses)
                s.uses = uses->type == JSON_INT && uses->integer > 0 && uses->integer <= GATE_USES_MAX
                                 ? (uint32_t) uses->integer
                                 : GATE_USES_MAX + 1;
        if (seconds)
                s.until_ms = seconds->type == JSON_INT && seconds->integer > 0 &&
                                             seconds->integer <= GATE_UNTIL_MAX_MS / 1000
                                     ? now_ms + seconds->integer * 1000
                                     : -1;
        return s;
}

/* The challenge of a batch is of all its ids; of each item it is then met. */
static bool challenge_met(const struct ballot *w, const struct gate_rule *r, const char *typed)
{
        return !r->high || w->n == 1 || strcmp(w->id + GATE_ID - 1 - GATE_CHALLENGE, typed) == 0;
}

static enum gate_verdict vote_one(struct box *b, const struct approver *a, struct desk_item *it,
                                  enum gate_step step, struct gate_vote *v)
{
        struct gate_rule r = desk_rule(b, it, step);
        v->who = voter_of(a, it);
        v->id = it->gate.id;
        v->shown_ms = desk_shown_ms(it, a->uid);
        v->chars = desk_chars(it);
        return desk_vote(b, it, &r, v);
}

static void op_answer(struct box *b, struct approver *a, const struct json *q)
{
        const struct json *yes = json_get(q, "yes");
        struct ballot w;
        enum gate_verdict got = find_items(b, q, &w);
        int64_t now = desk_now_ms();
        if (got != GATE_COUNTED || !yes || (yes->type != JSON_TRUE && yes->type != JSON_FALSE)) {
                got = got == GATE_COUNTED ? GATE_REFUSED : got;
                say_no(a, gate_verdict_name(got), gate_verdict_text(got));
                return;
        }

        struct gate_fatigue f = fatigue_of(b, a->uid);
        enum gate_step step = gate_ladder(&f);
        struct gate_rule r = desk_rule(b, w.items[0], step);
        bool decoy = w.items[0]->source == DESK_DECOY;
        if (yes->type == JSON_TRUE && !challenge_met(&w, &r, json_text(q, "challenge"))) {
                say_no(a, gate_verdict_name(GATE_CHALLENGE_WRONG), gate_verdict_text(GATE_CHALLENGE_WRONG));
                return;
        }

        for (size_t i = 0; i < w.n; i++) {
                struct gate_vote v = { .yes = yes->type == JSON_TRUE,
                                       .challenge = json_text(q, "challenge"),
                                       .reason = json_text(q, "reason"),
                                       .now_ms = now,
                                       .scope = scope_of(q, now) };
                if (w.n > 1)
                        v.challenge = w.items[i]->gate.id + GATE_ID - 1 - GATE_CHALLENGE;
                got = vote_one(b, a, w.items[i], step, &v);
                if (got != GATE_COUNTED && got != GATE_DECIDED) {
                        say_no(a, gate_verdict_name(got), gate_verdict_text(got));
                        return;
                }
        }

        buf_printf(&a->out, "{\"ok\":true,\"code\":\"%s\",\"state\":\"%s\",\"decoy\":%s}\n",
                   gate_verdict_name(got),
                   got == GATE_COUNTED      ? "pending"
                   : yes->type == JSON_TRUE ? "approved"
                                            : "denied",
                   decoy ? "true" : "false");
}

/* As a no, it needs no terminal. */
static void op_revoke(struct box *b, struct approver *a, const struct json *q)
{
        unsigned n = desk_revoke(b, json_text(q, "template"), a);
        buf_printf(&a->out, "{\"ok\":true,\"revoked\":%u}\n", n);
}

static void op_watch(struct box *b, struct approver *a, const struct json *q)
{
        (void) b;
        (void) q;
        a->watches = true;
        buf_puts(&a->out, "{\"ok\":true}\n");
}

/* Over budget, new effects wait in the list, and nobody is called. */
void channel_changed(struct box *b)
{
        struct gates *g = b->gates;
        for (unsigned i = 0; i < APPROVERS_MAX; i++) {
                struct approver *a = &g->approvers[i];
                if (a->fd < 0 || !a->watches || a->out.n > OUT_MAX)
                        continue;
                struct gate_fatigue f = fatigue_of(b, a->uid);
                if (gate_over_budget(&f))
                        continue;
                buf_puts(&a->out, "{\"event\":\"changed\"}\n");
                flush_out(b, a);
        }
}

/* ---- lines ---- */

static void serve_line(struct box *b, struct approver *a, struct span line)
{
        static const struct {
                const char *op;
                void (*serve)(struct box *, struct approver *, const struct json *);
        } ops[] = { { "list", op_list },
                    { "show", op_show },
                    { "answer", op_answer },
                    { "revoke", op_revoke },
                    { "watch", op_watch } };
        struct err e;
        struct json_doc *d = json_parse("request", line, &e);
        const struct json *q = d && json_root(d)->type == JSON_OBJECT ? json_root(d) : NULL;
        size_t i = 0;
        while (q && i < sizeof ops / sizeof *ops && strcmp(ops[i].op, json_text(q, "op")) != 0)
                i++;

        if (!q)
                say_no(a, "malformed", "a request is one JSON object on one line");
        else if (i == sizeof ops / sizeof *ops)
                say_no(a, "unknown-op", "list, show, answer, revoke and watch are known");
        else
                ops[i].serve(b, a, q);

        json_free(d);
}

static bool read_in(struct approver *a)
{
        char chunk[4096];
        ssize_t n = recv(a->fd, chunk, sizeof chunk, 0);
        if (n > 0)
                buf_add(&a->in, chunk, (size_t) n);
        return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

void channel_serve(struct box *b, unsigned at, uint32_t events)
{
        struct approver *a = at < APPROVERS_MAX ? &b->gates->approvers[at] : NULL;
        if (!a || a->fd < 0)
                return;

        bool good = !(events & EPOLLIN) || read_in(a);
        for (const char *end; good && a->in.n && (end = memchr(a->in.p, '\n', a->in.n));) {
                size_t n = (size_t) (end - a->in.p);
                serve_line(b, a, span_of(a->in.p, n));
                memmove(a->in.p, a->in.p + n + 1, a->in.n - n - 1);
                a->in.n -= n + 1;
        }

        bool too_much = a->in.n > APPROVER_LINE || a->out.n > OUT_MAX || a->in.failed || a->out.failed;
        if (!good || too_much || (events & EPOLLERR))
                hang_up(a);
        else
                flush_out(b, a);
}

/* ---- a face ---- */

int box_gate_request(struct box *b, const cordon_person *who, struct span line, struct buf *out)
{
        struct approver a = { .fd = -1, .uid = peer_number(who->name), .face = who };
        if (!b->gates)
                return -1;

        serve_line(b, &a, line);
        buf_add(out, a.out.p, a.out.n);
        out->failed |= a.out.failed;
        buf_done(&a.out);
        return 0;
}

void box_people_add(struct gate_people *p, const char *name) { gate_people_add(p, peer_number(name)); }

/* On the disk before the person's first command: an overlay outlives us. */
int box_asked_by(struct box *b, const char *name, struct err *e)
{
        box_people_add(&b->c.askers, name);
        return b->work ? work_people(b->work, &b->c.askers, e) : 0;
}

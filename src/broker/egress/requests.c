/* SPDX-License-Identifier: MIT */
/* broker/egress/requests.c - connections whose requests are decided one by one: moves bytes between the
 * sockets and http_flow, connects where http_flow requests it, and keeps the accounts. Decides nothing. */
#include "broker/egress/requests.h"
#include "base/base64.h"
#include "base/fd.h"
#include "base/secret_words.h"
#include "base/str.h"
#include "base/trust.h"
#include "broker/egress/broker_labels.h"
#include "broker/egress/checks.h"
#include "broker/egress/departure.h"
#include "broker/egress/http/http2.h"
#include "broker/egress/internal.h"
#include "broker/egress/streams.h"
#include "broker/egress/tls/tls.h"
#include "broker/egress/write_ahead.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { NAMES_IN_CA = 1024, ROUNDS = 16 };

/* ---- start: before the broker closes its files ---- */

static int read_roots(struct buf *out)
{
        for (size_t i = 0; i < sizeof trust_files / sizeof *trust_files; i++) {
                AUTO_FD(fd, open(trust_files[i], O_RDONLY | O_CLOEXEC));
                struct stat st;
                if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > EGRESS_ROOTS_MAX)
                        continue;
                char *text = malloc((size_t) st.st_size + 1);
                ssize_t n = text ? fd_read_all(fd, text, (size_t) st.st_size) : -1;
                if (n > 0)
                        buf_add(out, text, (size_t) n);
                free(text);
                if (n > 0)
                        return 0;
        }

        return 0; /* none: then no server can be verified, and every such connection reports it */
}

/* For the programs in the box: the host's roots and the box's own authority; then that authority again, for
 * browsers. */
static int make_bundle(struct broker *b, const struct buf *trusted, const struct tls_box *tls)
{
        AUTO_BUF(nss);
        struct span ca = tls_box_ca_pem(tls);
        bool browsers = tls_box_nss(tls, &nss);
        AUTO_FD(fd, (int) syscall(SYS_memfd_create, "trust", MFD_CLOEXEC));
        if (fd < 0 || fd_write_all(fd, buf_str(trusted), trusted->n) < 0 || fd_write_all(fd, "\n", 1) < 0 ||
            fd_write_all(fd, ca.p, ca.n) < 0 || (browsers && fd_write_all(fd, nss.p, nss.n) < 0))
                return -1;

        b->trust = TAKE_FD(fd);
        b->bundle_bytes = trusted->n + 1 + ca.n;
        return 0;
}

/* A line for each spelling, in base64. */
int requests_take_canaries(struct broker *b, struct span text, struct err *e)
{
        enum { WORDS = 512, BYTES = 1 << 18 };
        struct span *words = calloc(WORDS, sizeof *words);
        uint8_t *owner = calloc(WORDS, 1), *bytes = malloc(BYTES), *at = bytes;
        size_t n = 0;
        bool good = words && owner && bytes;
        while (good && text.n > 0) {
                ssize_t k = base64_read(span_cut(&text, '\n'), at, BYTES - (size_t) (at - bytes));
                good = k >= SECRET_WORD_MIN && n < WORDS;
                if (good)
                        words[n++] = span_of(at, (size_t) k);
                at += good ? k : 0;
        }

        b->canaries = good && n ? secret_words_new(words, owner, n) : NULL;
        free(words);
        free(owner);
        free(bytes);
        return b->canaries ? 0 : err_set(e, ERR_INTERNAL, 0, "the broker cannot read its canaries");
}

static size_t tls_names(const struct broker *b, const char **names)
{
        size_t n = 0;
        for (size_t i = 0; i < b->door_count && n < NAMES_IN_CA; i++) {
                struct policy_place_url own;
                const struct policy_place_url *u = decide_asked_at(b, &b->doors[i], &own);
                if (u && u->tls)
                        names[n++] = u->host;
        }

        return n;
}

static int start_tls(struct broker *b, struct http_rules_in *in, struct err *e)
{
        const char **names = calloc(NAMES_IN_CA, sizeof *names);
        AUTO_BUF(trusted);
        size_t n = names ? tls_names(b, names) : 0;
        int r = 0;

        if (n > 0) {
                (void) read_roots(&trusted);
                const struct tls_box_in box = { .names = names,
                                                .name_count = n,
                                                .trust_pem = buf_span(&trusted),
                                                .now = b->now_s,
                                                .http2 = http2_is_built() };
                struct tls_box *tls = tls_box_new(&box, e);
                in->tls = tls_box_ops();
                in->tls_ctx = tls;
                if (!tls)
                        r = -1;
                else if (make_bundle(b, &trusted, tls) < 0)
                        r = err_set(e, ERR_IO, errno, "no file for the box's trust");
        }

        free(names);
        return r;
}

int requests_start(struct broker *b, struct err *e)
{
        bool any = false;
        for (size_t i = 0; i < b->door_count; i++)
                any |= b->doors[i].kind == DOOR_NET && b->doors[i].net.form != NET_HOST_PORT;

        if (!any)
                return 0;

        struct http_rules_in in = { .policy = b->policy,
                                    .places = b->places,
                                    .stage = b->stage,
                                    .fixtures = b->answers,
                                    .canaries = b->canaries,
                                    .label = &b->label,
                                    .record = b->record >= 0 };
        if (b->grants && http_grants_hold(b->grants, b->policy, e) < 0)
                return -1;

        if (b->grants)
                in.credentials = http_grants_get(b->grants, &in.credential_count);

        if (start_tls(b, &in, e) < 0)
                return -1;

        b->rules = http_rules_new(&in, e);
        return b->rules ? 0 : -1;
}

/* ---- callbacks of the flow ---- */

static bool tell_ledger(struct flow *f, const struct http_event *e)
{
        char result[128] = "";
        if (!f->ahead)
                result[0] = '\0'; /* no flow waits */
        else if (e->verdict == HTTP_ALLOWED)
                (void) snprintf(result, sizeof result, "answered %u%s%s", e->status,
                                e->reason ? ", and " : "", effect_reason_text(e->reason));
        else
                (void) snprintf(result, sizeof result, "%s: %s",
                                e->verdict == HTTP_BROKEN ? "broken" : "cut off",
                                effect_reason_text(e->reason));

        bool by_client = e->reason == REASON_CLIENT_CUT || e->reason == REASON_CLIENT_LEFT;
        enum ledger_end end = e->verdict == HTTP_ALLOWED                ? LEDGER_END_DONE
                              : e->verdict == HTTP_BROKEN && !by_client ? LEDGER_END_FAILED
                              : e->verdict == HTTP_BROKEN               ? LEDGER_END_CUT
                              : http_flow_has_left(f->http)             ? LEDGER_END_CUT
                                                                        : LEDGER_END_REFUSED;
        return ahead_over(f, end, result, e);
}

/* A completed request; its bytes may have been counted long before. */
static void count_request(struct flow *f)
{
        f->b->answered++;
        if (!f->row)
                return;
        f->row->requests++;
        accounting_touch(f->b, f->row);
}

/* The bytes of a request that stayed went nowhere, whatever else the connection carries. */
static void end_account(struct flow *f, bool stayed)
{
        uint64_t now = ahead_sent(f), own = now > f->sent_over ? now - f->sent_over : 0;
        f->sent_over = now;
        if (!stayed || !f->row)
                return;
        f->row->sent -= own < f->row->sent ? own : f->row->sent;
        accounting_touch(f->b, f->row);
}

void requests_last_words(struct broker *b)
{
        for (struct flow *f = b->flows; f; f = f->next) {
                bool left = f->http && http_flow_has_left(f->http);
                if (left)
                        count_request(f);
                else if (f->http)
                        end_account(f, true);
        }
}

static void on_request(void *ctx, const struct http_event *e)
{
        struct flow *f = ctx;
        char url[288], permit[512] = "";
        bool told = tell_ledger(f, e);

        end_account(f, e->verdict != HTTP_ALLOWED && !http_flow_has_left(f->http));
        if (e->verdict == HTTP_ALLOWED && !e->secret_scrubbed) { /* most of them: nothing to write down */
                count_request(f);
                return;
        }

        ahead_url(e, url, sizeof url);
        struct accounting_entry row = {
                .form = EGRESS_REQUEST, .method = e->method, .to = url, .reason = REASON_SECRET_REMOVED
        };

        if (e->secret_scrubbed)
                accounting_deny(f->b, &row);

        if (e->verdict != HTTP_DENIED) {
                count_request(f);
                if (e->verdict == HTTP_BROKEN)
                        accounting_fail_flow(f, e->reason, e->detail, told);
                return;
        }

        if (http_flow_has_left(f->http))
                accounting_cut(f);

        if (f->guard_permit || e->reason == REASON_PARAMETER || e->reason == REASON_SOURCE_HEADER)
                (void) snprintf(permit, sizeof permit, "%s", f->guard_permit ? f->guard_permit : e->permit);
        else if (e->by_policy && e->method[0] && e->path[0] && strlen(url) + 1 < sizeof url)
                (void) snprintf(permit, sizeof permit, "net %s %s", url, e->method);

        row.reason = e->reason;
        row.detail = e->detail;
        row.permit = permit;
        accounting_deny(f->b, &row);
}

static void on_record(void *ctx, struct span line)
{
        struct flow *f = ctx;
        record_line(f->b, line);
}

/* From here on the connection's bytes are this door's. */
static bool may_use(void *ctx, const struct door *door, enum effect_reason *ret_why)
{
        struct flow *f = ctx;
        if (decide_closed(f->b, door)) {
                *ret_why = REASON_EXPIRED;
                return false;
        }

        size_t held = http_flow_held(f->http);
        enum effect_reason why = accounting_cannot_pay(f->b, door, held);
        if (why) {
                *ret_why = why;
                return false;
        }

        if (accounting_enter(f->b, door, true, ret_why) < 0)
                return false;

        accounting_pay(f->b, door, held);
        f->door = door;
        return true;
}

static bool pay_bytes(void *ctx, size_t n, enum effect_reason *ret_why)
{
        struct flow *f = ctx;
        enum effect_reason why = accounting_cannot_pay(f->b, f->door, n);
        if (why) {
                *ret_why = why;
                return false;
        }

        accounting_pay(f->b, f->door, n);
        return true;
}

static enum http_leave leave_request(void *ctx, const struct http_event *e, enum effect_reason *ret_why,
                                     const char **ret_detail)
{
        return departure_request(ctx, e, ret_why, ret_detail);
}

static bool check(void *ctx, const struct door *door) { return checks_begin(ctx, door); }
static void check_end(void *ctx) { checks_end(ctx); }

/* ---- moving bytes ---- */

/* Bytes that the box sends are charged to the box; to a door when it is known which: may(), pay(). */
static const struct door *payer(const struct flow *f, bool out) { return out ? NULL : f->door; }

static void spend_bytes(struct flow *f, bool out, size_t n)
{
        accounting_spend(f->b, payer(f, out), out, n);
        *(out ? &f->sent : &f->received) += n;
        if (!f->row || http_flow_front(f->http)) /* of streams the flows that serve them count */
                return;
        *(out ? &f->row->sent : &f->row->received) += n;
        accounting_touch(f->b, f->row);
}

/* The rest is spent as well: the box has used up the budget, or it would have this. */
static bool grow_body(void *ctx, size_t n, enum effect_reason *ret_why)
{
        struct flow *f = ctx;
        size_t room = accounting_room(f->b, f->door, false, n);
        spend_bytes(f, false, room);
        if (room < n)
                *ret_why = accounting_why(f->b, f->door, false);
        return room == n;
}

static void lost_server(struct flow *f)
{
        broker_forget(&f->server);
        http_flow_upstream_closed(f->http);
}

/* Bytes of the server are about to reach the box; the rest of a request that is still on its way may then
 * hold it. */
static void request_answered(struct flow *f)
{
        labels_raise(f->b, f->door);
        enum effect_reason why = labels_stop(f);
        if (why)
                http_flow_cut(f->http, why);
}

/* The streams of HTTP/2 are answered before their connection ends. */
static void cut_request(struct flow *f, enum effect_reason why)
{
        struct http2_front *front = http_flow_front(f->http);
        if (!front) {
                http_flow_cut(f->http, why);
                return;
        }

        streams_cut(f, why);
        http2_front_close(front);
}

/* One read from one side, limited by the room of the flow and by the budgets. */
static bool take_in(struct flow *f, struct source *s, bool client)
{
        bool *readable = client ? &f->client_readable : &f->server_readable;
        size_t room = client ? http_flow_client_room(f->http) : http_flow_upstream_room(f->http);
        if (s->fd < 0 || !*readable || room == 0)
                return false;

        room = accounting_room(f->b, payer(f, client), client, room < RELAY_BUFFER ? room : RELAY_BUFFER);

        /* Without a budget only EOF may come: an answer that was paid for to the last byte is complete. */
        ssize_t n = recv(s->fd, f->b->buffer, room ? room : 1, room ? 0 : MSG_PEEK);
        if (room == 0 && n > 0) {
                cut_request(f, accounting_why(f->b, payer(f, client), client));
                *readable = false;
                return true;
        }

        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
                *readable = false;
                return false;
        }

        if (n > 0) {
                /* Edge-triggered: a short read has emptied the socket, and epoll reports the next bytes. */
                *readable = (size_t) n == room || (client ? f->client_hup : f->server_hup);
                spend_bytes(f, client, (size_t) n);
                if (!client)
                        request_answered(f);
                (client ? http_flow_from_client : http_flow_from_upstream)(f->http,
                                                                           span_of(f->b->buffer, (size_t) n));
                return true;
        }

        *readable = false;
        if (client && (n < 0 || f->client_left))
                f->client_gone = true;
        else if (client)
                http_flow_client_closed(f->http);
        else
                lost_server(f);

        return true;
}

static bool give_out(struct flow *f, struct source *s, bool client)
{
        struct span out = client ? http_flow_to_client(f->http) : http_flow_to_upstream(f->http);
        if (s->fd < 0 || out.n == 0)
                return false;

        ssize_t n = send(s->fd, out.p, out.n, MSG_NOSIGNAL);
        if (n > 0) {
                (client ? http_flow_client_took : http_flow_upstream_took)(f->http, (size_t) n);
                return true;
        }

        if (errno == EAGAIN || errno == EINTR)
                return false;

        if (client)
                f->client_gone = true;
        else
                lost_server(f);

        return true;
}

void requests_not_connected(struct flow *f, enum effect_reason why)
{
        broker_forget(&f->server);
        http_flow_upstream_failed(f->http, why);
}

void requests_not_allowed(struct flow *f, const char *detail, const char *permit)
{
        broker_forget(&f->server);
        f->guard_permit = permit;
        http_flow_upstream_refused(f->http, REASON_GUARDED_ADDRESS, detail);
        f->guard_permit = NULL;
}

/* The destination that the flow requests; the old server is closed. */
static bool wants_server(struct flow *f)
{
        struct http_target t;
        if (!http_flow_take_connect(f->http, &t))
                return false;

        broker_forget(&f->server);
        dial_stop(f);
        (void) snprintf(f->to_host, sizeof f->to_host, "%s", t.host);
        f->to_is_address = t.is_address;
        f->to_port = t.port;
        f->literal = (struct egress_address){ .v6 = strchr(t.host, ':') != NULL };
        if (!t.is_address || inet_pton(f->literal.v6 ? AF_INET6 : AF_INET, t.host, f->literal.bytes) == 1)
                return true;

        http_flow_upstream_closed(f->http);
        return false;
}

enum flow_event requests_drive(struct flow *f)
{
        bool moved = true;
        if (http_flow_front(f->http))
                http_flow_front_moved(f->http);

        for (unsigned i = 0; moved && i < ROUNDS && !f->client_gone; i++) {
                moved = f->parent ? streams_give_out(f) : give_out(f, &f->client, true);
                moved |= give_out(f, &f->server, false);
                if (wants_server(f))
                        return EVENT_WANTS_SERVER;
                moved |= checks_move(f);
                moved |= take_in(f, &f->server, false);
                moved |= f->parent ? streams_take_in(f) : take_in(f, &f->client, true);
        }

        if (!f->parent)
                streams_serve(f);
        else if (!f->client_gone && !streams_rest(f))
                return EVENT_ANSWERED;

        if (http_flow_upstream_cut(f->http))
                broker_forget(&f->server); /* resets */

        bool done = http_flow_done(f->http) && http_flow_to_client(f->http).n == 0;
        if (f->client_gone)
                http_flow_client_left(f->http);

        if (f->client_gone || (done && http_flow_client_cut(f->http)))
                return EVENT_CUT;

        if (done)
                return EVENT_ANSWERED;

        if (moved)
                broker_again(f);

        return EVENT_NONE;
}

void requests_note(struct flow *f, const struct source *s, uint32_t events)
{
        bool hup = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR), readable = hup || events & EPOLLIN;
        bool client = s->kind == SOURCE_CLIENT;
        if (s->kind == SOURCE_CHECK)
                return;
        *(client ? &f->client_readable : &f->server_readable) |= readable;
        *(client ? &f->client_hup : &f->server_hup) |= hup;
        f->client_left |= client && events & EPOLLHUP;
}

void requests_connected(struct flow *f)
{
        f->server_readable = true;
        f->server_hup = false;
        http_flow_upstream_connected(f->http);
}

void requests_leave(struct flow *f, bool leaves, enum effect_reason why, const char *detail)
{
        http_flow_leave(f->http, leaves, why, detail);
}

int requests_begin(struct flow *f)
{
        const struct http_callbacks cb = { .ctx = f,
                                           .on_request = on_request,
                                           .may = may_use,
                                           .pay = pay_bytes,
                                           .leave = leave_request,
                                           .grow = grow_body,
                                           .on_record = on_record,
                                           .check = check,
                                           .check_end = check_end };
        const struct http_peer peer = { .host = f->host, .is_address = f->is_address, .port = f->port };
        f->http = f->parent ? http_flow_new_stream(f->b->rules, f->parent->http, &cb)
                            : http_flow_new(f->b->rules, &peer, &cb);
        if (!f->http)
                return -1;

        accounting_seen(f, LOOKED_AT_REQUESTS);
        f->client_readable = true;
        return 0;
}

void requests_done(struct flow *f)
{
        http_flow_free(f->http);
        f->http = NULL;
}

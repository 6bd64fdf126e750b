/* SPDX-License-Identifier: MIT */
/* broker/egress/control.c - receives the keeper's orders and sends it reports. The keeper is trusted; when it
 * is gone, the broker ends. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "broker/egress/broker_jail.h"
#include "broker/egress/broker_labels.h"
#include "broker/egress/checks.h"
#include "broker/egress/held.h"
#include "broker/egress/internal.h"
#include "broker/egress/requests.h"
#include "broker/egress/write_ahead.h"
#include "wall/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

static struct checked_policy *parse_policy(struct span text, int64_t now, struct err *e)
{
        struct policy *p = policy_new();
        struct checked_policy *c = NULL;
        const struct policy_context context = { .now = now };

        if (!p)
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the policy");
        else if (policy_add_text(p, "policy", text, e) == 0)
                c = policy_check(p, &context, e);

        policy_free(p);
        return c;
}

static char *read_text(int fd, off_t most, size_t *ret_len, struct err *e)
{
        struct stat st;
        if (fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > most) {
                (void) err_set(e, ERR_INTERNAL, errno, "the broker got an empty file");
                return NULL;
        }

        *ret_len = (size_t) st.st_size;
        char *text = malloc(*ret_len);
        if (text && pread(fd, text, *ret_len, 0) == st.st_size)
                return text;

        (void) err_set(e, ERR_IO, errno, "the broker cannot read what it was given");
        free(text);
        return NULL;
}

static int read_policy(struct broker *b, int fd, struct err *e)
{
        size_t n = 0;
        char *text = read_text(fd, BROKER_MAX_BYTES, &n, e);
        if (text)
                b->policy = parse_policy(span_of(text, n), b->now_s, e);
        free(text);
        return b->policy ? 0 : -1;
}

static int take_policy(struct broker *b, struct err *e)
{
        b->doors = policy_doors(b->policy, &b->door_count);
        b->limits = policy_limits(b->policy);
        b->uses = calloc(b->door_count + 1, sizeof *b->uses);
        b->rows = calloc(NET_ROWS_MAX, sizeof *b->rows);
        b->dirty = calloc(NET_ROWS_MAX, sizeof *b->dirty);
        if (!b->uses || !b->rows || !b->dirty)
                return err_set(e, ERR_MEMORY, 0, "no memory for the broker's books");

        for (size_t i = 0; i < b->door_count; i++) {
                const struct door *d = &b->doors[i];
                b->has_until |= d->kind == DOOR_NET && d->until != 0;
                b->has_names |= d->kind == DOOR_NET && !d->net.is_address;
        }

        return 0;
}

static int close_jail(const struct broker *b, struct err *e)
{
        uint16_t ports[POLICY_MAX_DOORS];
        size_t n = 0;
        for (size_t i = 0; i < b->door_count && n < POLICY_MAX_DOORS; i++) {
                const struct net_dest *d = &b->doors[i].net;
                if (b->doors[i].kind != DOOR_NET)
                        continue;
                const struct policy_place_url *u =
                        d->form == NET_PLACE ? policy_place_target(b->places, d->host, b->stage) : NULL;
                if (u || d->form != NET_PLACE)
                        ports[n++] = u ? u->port : d->port;
        }

        /* A URL door that lies in a place leads where the stage leads that place. */
        const char *name;
        for (size_t i = 0; (name = policy_place_name(b->places, i)) && n < POLICY_MAX_DOORS; i++) {
                const struct policy_place_url *u = policy_place_target(b->places, name, b->stage);
                if (u)
                        ports[n++] = u->port;
        }

        return jail_close(ports, n, b->record < 0 ? 0 : ANSWERS_MAX_BYTES, e);
}

/* A temporary error: epoll watches are counted per user, and a box of that user may have taken all. The
 * message must not suggest that another wall would help. */
static int cannot_wait(struct err *e)
{
        if (errno != ENOSPC)
                return err_set(e, ERR_HOST, errno, "the broker cannot wait for events");
        (void) err_set(e, ERR_IO, ENOSPC,
                       "the broker cannot wait for events: as many descriptors are watched as this user may");
        return err_hint(e, "another box or program of this user watches them: `cordon ps`; the limit is "
                           "/proc/sys/fs/epoll/max_user_watches");
}

static int open_sources(struct broker *b, struct err *e)
{
        const uint32_t both = EPOLLIN | EPOLLOUT | EPOLLET;
        b->epoll = epoll_create1(EPOLL_CLOEXEC);
        b->control_source = (struct source){ SOURCE_CONTROL, b->control, NULL };
        b->ledger_on = b->ledger_source.fd >= 0;
        if (b->epoll < 0 || broker_watch_line(b, &b->control_source, EPOLLIN) < 0 ||
            broker_watch_line(b, &b->ledger_source, both) < 0 ||
            broker_watch_line(b, &b->gate_source, both) < 0 ||
            broker_watch_line(b, &b->checks_source, EPOLLIN) < 0 ||
            broker_watch_line(b, &b->resolver_source, EPOLLIN) < 0)
                return cannot_wait(e);

        listen_spare(b);
        return 0;
}

/* The order matters: the resolver is forked while files can still be opened; after the jail they cannot. */
static int start_order(struct broker *b, const struct egress_order *o, int fd, struct err *e)
{
        broker_clock(b);
        b->stage = o->kind < POLICY_STAGE__COUNT ? (enum policy_stage) o->kind : POLICY_STAGE_MOCK;
        if (jail_identity(o->become, e) < 0 || read_policy(b, fd, e) < 0 || take_policy(b, e) < 0)
                return -1;

        b->resolver_source = (struct source){ SOURCE_RESOLVER, resolver_start(e), NULL };
        if (b->resolver_source.fd < 0)
                return -1;

        if (requests_start(b, e) < 0)
                return -1;

        return open_sources(b, e) < 0 || close_jail(b, e) < 0 ? -1 : 0;
}

static int take_touch(struct broker *b, struct span text, struct err *e)
{
        if (b->touch_count == sizeof b->touch / sizeof *b->touch)
                return err_set(e, ERR_INTERNAL, 0, "too many places that are shut");
        return labels_take(&b->touch[b->touch_count++], text, e);
}

static int take_line(struct broker *b, uint32_t command, int fd, struct err *e)
{
        int r = command == EGRESS_LEDGER   ? broker_keep_line(&b->ledger_source, SOURCE_LEDGER, fd)
                : command == EGRESS_CHECKS ? broker_keep_line(&b->checks_source, SOURCE_CHECKS, fd)
                                           : held_take_line(b, fd);
        return r < 0 ? err_set(e, ERR_IO, errno, "the broker cannot keep a line that it was given") : 0;
}

static int take_before(struct broker *b, const struct egress_order *o, int fd, struct err *e)
{
        if (o->command == EGRESS_GRANTS)
                return (b->grants = http_grants_read(fd, e)) ? 0 : -1; /* first: locked memory */

        if (o->command == EGRESS_LEDGER || o->command == EGRESS_CHECKS || o->command == EGRESS_GATES)
                return take_line(b, o->command, fd, e);

        if (o->command == EGRESS_RECORD) {
                b->record = fcntl(fd, F_DUPFD_CLOEXEC, EGRESS_CONTROL + 1);
                return b->record < 0 ? err_set(e, ERR_IO, errno, "no file for what is recorded") : 0;
        }

        size_t n = 0;
        char *text =
                read_text(fd, o->command == EGRESS_ANSWERS ? ANSWERS_MAX_BYTES : BROKER_MAX_BYTES, &n, e);
        int r = !text ? -1
                : o->command == EGRESS_PLACES
                        ? ((b->places = policy_places_parse("places", span_of(text, n), e)) ? 0 : -1)
                : o->command == EGRESS_ANSWERS
                        ? ((b->answers = http_fixtures_parse("--answers", span_of(text, n), e)) ? 0 : -1)
                : o->command == EGRESS_LABEL    ? labels_take(&b->label, span_of(text, n), e)
                : o->command == EGRESS_TOUCH    ? take_touch(b, span_of(text, n), e)
                : o->command == EGRESS_CANARIES ? requests_take_canaries(b, span_of(text, n), e)
                                                : err_set(e, ERR_INTERNAL, 0, "unknown order");
        free(text);
        return r;
}

int control_start(struct broker *b, struct err *e)
{
        struct egress_order o;
        AUTO_FD(fd, -1);
        int r;

        while ((r = wire_take(b->control, &egress_order_form, &o, &fd)) == 1 && fd >= 0 &&
               o.command < EGRESS_POLICY) {
                if (take_before(b, &o, fd, e) < 0)
                        return -1;
                fd_close(&fd);
        }

        if (r != 1 || o.command != EGRESS_POLICY || fd < 0)
                return err_set(e, ERR_INTERNAL, 0, "the broker was not given a policy");

        return start_order(b, &o, fd, e);
}

/* ---- orders ---- */

static const enum source_kind kinds[] = {
        [LISTENER_NONE] = SOURCE_NONE,       [LISTENER_TCP] = SOURCE_LISTENER,
        [LISTENER_DNS_UDP] = SOURCE_DNS_UDP, [LISTENER_DNS_TCP] = SOURCE_DNS_TCP,
        [LISTENER_WATCH] = SOURCE_WATCH,     [LISTENER_SSH] = SOURCE_NONE,
        [LISTENER_GPG] = SOURCE_NONE,        [LISTENER_WHOSE] = SOURCE_NONE,
};
_Static_assert(sizeof kinds / sizeof *kinds == LISTENER__COUNT, "a source for each listener");

/* Accepted sockets inherit these from their listener. Closing resets: if the broker is killed, no peer takes
 * a truncated stream for whole. Only EOF from both sides takes that back: flow.c. */
static void inherit_fd(int fd)
{
        const struct linger reset = { 1, 0 };
        static const int on = 1, still_there_s = 20;
        (void) setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);

        /* Keepalive probes find peers that closed and whose answer does not come. */
        (void) setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        (void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &still_there_s, sizeof still_there_s);
        (void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &still_there_s, sizeof still_there_s);

        /* Nothing is lost between the box and us: a model of the path, with its timers (bbr), is only work.
         */
        (void) setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

static void add_listener(struct broker *b, const struct egress_order *o, int fd)
{
        if (o->kind == LISTENER_WHOSE && b->whose == 0 && fd > 0) {
                b->whose = fd;
                return;
        }

        enum source_kind kind = o->kind < LISTENER__COUNT ? kinds[o->kind] : SOURCE_NONE;
        struct source *s = kind != SOURCE_NONE && fd >= 0 ? calloc(1, sizeof *s) : NULL;
        bool tcp = kind == SOURCE_LISTENER;
        bool full = tcp && b->listener_count == NET_PORTS_MAX + NET_LOCALS_MAX;

        if (s)
                *s = (struct source){ kind, fd, NULL };

        if (!s || full || broker_watch(b, s, EPOLLIN) < 0) {
                free(s);
                if (fd >= 0)
                        (void) close(fd); /* connections are denied */
                return;
        }

        if (kind == SOURCE_WATCH)
                b->watchers[b->watchers[0] != NULL] = s;

        if (tcp) {
                inherit_fd(fd);
                b->listeners[b->listener_count++] = s;
        }
}

void control_flush(struct broker *b)
{
        b->any_dirty = false;
        b->flush_ns = b->now_ns;
        if (b->label_dirty)
                control_label(b);

        for (unsigned i = 0; i < b->row_count; i++) {
                if (!b->dirty[i])
                        continue;
                struct egress_message m = { .word = EGRESS_SAYS_ROW, .row = b->rows[i] };
                b->dirty[i] = !control_send(b, &m);
                b->any_dirty |= b->dirty[i];
        }

        unsigned sent = 0; /* after their rows */
        while (sent < b->part_count && !b->any_dirty) {
                struct egress_message m = { .word = EGRESS_SAYS_PART, .part = b->parts[sent] };
                b->any_dirty = !control_send(b, &m);
                sent += !b->any_dirty;
        }

        b->part_count -= sent;
        memmove(b->parts, b->parts + sent, b->part_count * sizeof *b->parts);
}

static void hear_watchers(struct broker *b)
{
        for (unsigned i = 0; i < 2; i++) /* the box's last attempts are reported as well */
                if (b->watchers[i])
                        watch_serve(b, b->watchers[i]);
}

/* A run of a session has ended, and its keeper waits for what is to be said of it. */
static void settle_order(struct broker *b)
{
        struct egress_message m = { .word = EGRESS_SAYS_SETTLED };
        hear_watchers(b);
        control_flush(b);
        (void) control_send(b, &m);
}

/* The last messages are worth waiting for: the keeper requested them. */
_Noreturn static void finish_broker(struct broker *b)
{
        struct egress_message m = { .word = EGRESS_SAYS_DONE };
        (void) fcntl(b->control, F_SETFL, 0);
        if (b->ledger_source.fd >= 0)
                (void) fcntl(b->ledger_source.fd, F_SETFL, 0);

        hear_watchers(b);
        requests_last_words(b);
        dns_last_words(b);
        ahead_last_words(b);
        control_flush(b);
        resolver_leave_watchers(b);
        (void) control_send(b, &m);
        _exit(0);
}

/* The keeper waits for the answer. */
static void raise_label(struct broker *b, uint32_t which)
{
        const struct label worst = label_worst();
        labels_join(b, which < b->touch_count ? &b->touch[which] : &worst);
        b->label_dirty = true;
        control_flush(b);
}

/* An input of the box has a label; one that cannot be read is the worst. */
static void join_label(struct broker *b, int fd)
{
        struct err none;
        char text[LABEL_TEXT_MAX];
        struct label l = label_worst();
        ssize_t n = fd_read_all(fd, text, sizeof text);
        if (n > 0)
                (void) labels_take(&l, span_of(text, (size_t) n), &none);
        labels_join(b, &l);
        b->label_dirty = true;
        control_flush(b);
}

void control_serve(struct broker *b)
{
        struct egress_order o;
        int fd = -1;
        int r = wire_take(b->control, &egress_order_form, &o, &fd);
        if (r < 0 && (errno == EAGAIN || errno == EINTR))
                return;

        if (r != 1) {
                ahead_last_words(b);
                _exit(0); /* the keeper is gone, and so is the box */
        }

        if (o.command == EGRESS_LISTENER) {
                add_listener(b, &o, fd);
                return;
        }

        if (o.command == EGRESS_RAISE)
                raise_label(b, o.kind);
        else if (o.command == EGRESS_LABEL)
                join_label(b, fd);
        else if (o.command == EGRESS_SETTLE)
                settle_order(b);

        fd_close(&fd);
        if (o.command == EGRESS_FINISH)
                finish_broker(b);
}

/* SPDX-License-Identifier: MIT */
/* broker/egress/dns/dns_serve.c - the box's name server, on UDP and TCP, at whatever address the box asks:
 * programs with a resolver of their own wired in are answered too. Only names that a door names exist. No
 * question is passed on; a name that is allowed is resolved outside once, and not before its door is known.
 */
#include "base/fd.h"
#include "base/secret_words.h"
#include "base/str.h"
#include "broker/egress/dns/dns.h"
#include "broker/egress/internal.h"
#include "broker/egress/requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum { ROUND = 32, TCP_SECONDS = 5 };

static bool is_reverse(const char *name)
{
        size_t n = strlen(name);
        return n > 5 && strcasecmp(name + n - 5, ".arpa") == 0;
}

static void deny_name(struct broker *b, const struct dns_question *q)
{
        char text[DNS_MAX_NAME + 32], permit[320] = "";
        struct span name = span_of(q->name, q->name_n);
        if (is_reverse(q->name) || name.n == 0)
                return; /* libraries query these by themselves */

        (void) str_inert(name, text, sizeof text);
        struct accounting_entry e = { .form = EGRESS_NAME, .to = text, .permit = permit };
        if (secret_words_find(b->canaries, name))
                e.reason = REASON_CANARY;
        else if (b->rules && http_rules_hold_placeholder(b->rules, name))
                e.reason = REASON_PLACEHOLDER_IN_NAME;
        else
                e.reason = q->odd ? REASON_MALFORMED_NAME : REASON_NAME;

        if (e.reason == REASON_NAME)
                (void) snprintf(permit, sizeof permit, "net %s:443", text);

        accounting_deny(b, &e);
}

/* The queried name, if it may be resolved; else the code to answer with. */
static enum dns_code look_up(struct broker *b, const struct dns_question *q, struct name **ret)
{
        char host[256];
        bool is_address;
        const char *why;
        if (q->odd || policy_host(span_str(q->name), host, &is_address, &why) < 0 || is_address ||
            (!policy_names_host(b->policy, host, b->now_s) && !decide_names_place(b, host)) ||
            secret_words_find(b->canaries, span_str(q->name)) ||
            (b->rules && http_rules_hold_placeholder(b->rules, span_str(host)))) {
                deny_name(b, q);
                return DNS_NO_NAME;
        }

        *ret = names_get(&b->names, host);
        return *ret ? DNS_OK : DNS_FAILURE;
}

/* A name behind a door for bytes must exist outside: a program learns more from NXDOMAIN than from a
 * connection that fails. If requests are seen, the answer to one of them explains the failure. */
static enum dns_code look_outside(struct broker *b, struct name *n, struct name **ret_wait)
{
        const struct door *d = b->stage == POLICY_STAGE_MOCK ? NULL : decide_raw_door(b, n->host);
        if (!d)
                return DNS_OK;

        if (n != b->dns_settled && (n->state == NAME_UNKNOWN || b->now_ns >= n->good_until_ns))
                resolver_ask(b, n, d);

        if (n->state == NAME_ASKED)
                *ret_wait = n;

        char to[320];
        decide_to_text(n->host, false, d->net.port, to, sizeof to);
        if (n->state == NAME_KNOWN)
                accounting_looked_up(b, n, to);

        if (n->state != NAME_FAILED)
                return DNS_OK;

        if (!n->unpaid) /* that is a refusal, and written down */
                (void) accounting_fail(b,
                                       &(struct accounting_entry){ .to = to, .reason = resolver_why(b, n) });

        return n->temporary ? DNS_FAILURE : DNS_NO_NAME;
}

void dns_last_words(struct broker *b)
{
        for (unsigned i = 0; i < b->names.count; i++) {
                struct name *n = b->names.at[i];
                const struct door *d = n->state == NAME_ASKED ? decide_raw_door(b, n->host) : NULL;
                char to[320];
                if (!d)
                        continue;
                decide_to_text(n->host, false, d->net.port, to, sizeof to);
                accounting_looked_up(b, n, to);
        }
}

/* 0 and *ret_wait: later. */
static size_t answer_query(struct broker *b, struct span packet, uint8_t *out, struct name **ret_wait)
{
        struct dns_question q;
        struct name *name = NULL;
        struct span address = { NULL, 0 };
        enum dns_code code = dns_read(packet, &q);
        if (code == DNS_DROP)
                return 0;

        if (code == DNS_OK)
                code = look_up(b, &q, &name);

        bool addresses = q.type == DNS_TYPE_A || q.type == DNS_TYPE_AAAA;
        if (name && code == DNS_OK && ret_wait) {
                *ret_wait = NULL;
                code = look_outside(b, name, ret_wait);
                if (*ret_wait)
                        return 0;
        }

        struct egress_address a;
        if (code == DNS_OK && addresses) {
                a = names_address(&b->names, name, q.type == DNS_TYPE_AAAA);
                address = span_of(a.bytes, a.v6 ? 16 : 4);
        }

        return dns_write(packet, &q, code, address, out);
}

/* ---- UDP ---- */

union control {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(struct in_pktinfo))];
};

/* The answer leaves from the address that was queried: the packet info of the query is passed back to the
 * kernel. */
static void answer_from(struct msghdr *m)
{
        for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
                if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
                        struct in6_pktinfo *p = (void *) CMSG_DATA(c);
                        p->ipi6_ifindex = 0;
                } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
                        struct in_pktinfo *p = (void *) CMSG_DATA(c);
                        p->ipi_spec_dst = p->ipi_addr;
                        p->ipi_ifindex = 0;
                }
        }
}

/* The address that was queried. */
static union endpoint queried(const struct msghdr *m)
{
        union endpoint to = { .v4 = { .sin_family = AF_INET, .sin_port = htons(53) } };
        for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR((struct msghdr *) (uintptr_t) m, c)) {
                if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
                        const struct in6_pktinfo *p = (const void *) CMSG_DATA(c);
                        to.v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
                                                       .sin6_port = htons(53),
                                                       .sin6_addr = p->ipi6_addr };
                } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
                        to.v4.sin_addr = ((const struct in_pktinfo *) (const void *) CMSG_DATA(c))->ipi_addr;
                }
        }
        return to;
}

struct dns_wait {
        struct dns_wait *next;
        struct name *name;
        struct source *listener;
        union endpoint from;
        _Alignas(struct cmsghdr) char control[sizeof(union control)];
        size_t from_len, control_len, n;
        uint8_t in[DNS_MAX_QUESTION];
};

static bool wait_for(struct broker *b, struct source *s, const struct msghdr *m, size_t n, struct name *name)
{
        struct dns_wait *w = b->dns_wait_count < DNS_WAITS_MAX ? calloc(1, sizeof *w) : NULL;
        if (!w)
                return false;

        *w = (struct dns_wait){ .next = b->dns_waits,
                                .name = name,
                                .listener = s,
                                .from_len = m->msg_namelen,
                                .control_len = m->msg_controllen,
                                .n = n };

        memcpy(&w->from, m->msg_name, w->from_len);
        memcpy(w->control, m->msg_control, w->control_len);
        memcpy(w->in, m->msg_iov->iov_base, n);
        b->dns_waits = w;
        b->dns_wait_count++;
        return true;
}

static void send_answer(struct source *s, struct msghdr m, uint8_t *out, size_t n)
{
        struct iovec io = { out, n };
        m.msg_iov = &io;
        answer_from(&m);
        m.msg_flags = 0;
        if (n > 0)
                (void) sendmsg(s->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void dns_resolved(struct broker *b, struct name *n)
{
        b->dns_settled = n;
        for (struct dns_wait **at = &b->dns_waits, *w; (w = *at);) {
                if (w->name != n) {
                        at = &w->next;
                        continue;
                }
                *at = w->next;
                b->dns_wait_count--;
                uint8_t out[DNS_MAX_MESSAGE];
                struct msghdr m = { .msg_name = &w->from,
                                    .msg_namelen = (socklen_t) w->from_len,
                                    .msg_iovlen = 1,
                                    .msg_control = w->control,
                                    .msg_controllen = w->control_len };
                struct name *again = NULL;
                size_t k = answer_query(b, span_of(w->in, w->n), out, &again);
                send_answer(w->listener, m, out, k);
                free(w);
        }

        b->dns_settled = NULL;
}

void dns_serve_udp(struct broker *b, struct source *s)
{
        for (unsigned i = 0; i < ROUND; i++) {
                uint8_t in[DNS_MAX_QUESTION], out[DNS_MAX_MESSAGE];
                union endpoint from;
                union control c;
                struct iovec io = { in, sizeof in };
                struct msghdr m = { .msg_name = &from,
                                    .msg_namelen = sizeof from,
                                    .msg_iov = &io,
                                    .msg_iovlen = 1,
                                    .msg_control = &c,
                                    .msg_controllen = sizeof c };
                ssize_t n = recvmsg(s->fd, &m, MSG_DONTWAIT);
                if (n < 0)
                        return;
                struct name *wait = NULL;
                struct span packet = span_of(in, (size_t) n);
                const union endpoint to = queried(&m);
                b->group = whose_socket(b, IPPROTO_UDP, &from, &to);
                size_t k = m.msg_flags & MSG_TRUNC ? 0 : answer_query(b, packet, out, &wait);
                if (wait &&
                    !wait_for(b, s, &m, (size_t) n, wait)) /* too many: the connection will report it */
                        k = answer_query(b, packet, out, NULL);
                b->group = 0;
                send_answer(s, m, out, k);
        }
}

/* ---- TCP: one question after another, each with its length before it ---- */

struct dns_client {
        struct source source;
        struct dns_client *next;
        uint64_t until_ns;
        size_t have;
        uint8_t in[2 + DNS_MAX_QUESTION];
};

static void drop_client(struct broker *b, struct dns_client *c)
{
        struct dns_client **at = &b->dns_list;
        while (*at && *at != c)
                at = &(*at)->next;

        if (*at)
                *at = c->next;

        broker_forget(&c->source);
        b->dns_clients--;
        c->next = b->dns_dead; /* events of this round may still point here */
        b->dns_dead = c;
}

void dns_tick(struct broker *b, bool all_dead)
{
        for (struct dns_client *c = b->dns_list, *next; c; c = next) {
                next = c->next;
                if (b->now_ns >= c->until_ns)
                        drop_client(b, c);
        }

        while (all_dead && b->dns_dead) {
                struct dns_client *c = b->dns_dead;
                b->dns_dead = c->next;
                free(c);
        }
}

void dns_serve_tcp(struct broker *b, struct source *s)
{
        int fd = listen_accept(b, s);
        if (fd < 0)
                return;

        struct dns_client *c = b->dns_clients < DNS_CLIENTS_MAX ? calloc(1, sizeof *c) : NULL;
        if (!c) {
                (void) close(fd);
                return;
        }

        c->source = (struct source){ SOURCE_DNS_CLIENT, fd, c };
        c->until_ns = b->now_ns + TCP_SECONDS * UINT64_C(1000000000);
        if (broker_watch(b, &c->source, EPOLLIN) < 0) {
                (void) close(fd);
                free(c);
                return;
        }

        c->next = b->dns_list;
        b->dns_list = c;
        b->dns_clients++;
}

/* Answers complete queries. Returns -1 if this client can send nothing more of use. */
static int answer_client(struct broker *b, struct dns_client *c)
{
        while (c->have >= 2) {
                uint8_t out[2 + DNS_MAX_MESSAGE];
                size_t n = (size_t) c->in[0] << 8 | c->in[1];
                if (n > DNS_MAX_QUESTION)
                        return -1;
                if (c->have < 2 + n)
                        return 0;
                size_t k = answer_query(b, span_of(c->in + 2, n), out + 2, NULL);
                out[0] = (uint8_t) (k >> 8);
                out[1] = (uint8_t) k;
                if (k == 0 || send(c->source.fd, out, k + 2, MSG_NOSIGNAL) != (ssize_t) k + 2)
                        return -1;
                c->have -= 2 + n;
                memmove(c->in, c->in + 2 + n, c->have);
        }

        return 0;
}

void dns_serve_client(struct broker *b, struct source *s)
{
        struct dns_client *c = s->owner;

        ssize_t n = recv(s->fd, c->in + c->have, sizeof c->in - c->have, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;

        if (n <= 0) {
                drop_client(b, c);
                return;
        }

        c->have += (size_t) n;
        b->group = whose_connection(b, s->fd);
        if (answer_client(b, c) < 0)
                drop_client(b, c);
        b->group = 0;
}

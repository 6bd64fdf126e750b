/* SPDX-License-Identifier: MIT */
/* broker/egress/resolve.c - names to addresses with the host's own resolver, in a child of the broker: it
 * needs files and libraries that the broker has given up. It is asked only for names that the policy allows,
 * and answers each from a process of its own, so that a slow or broken answer holds up nothing else. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "broker/egress/broker_jail.h"
#include "broker/egress/broker_labels.h"
#include "broker/egress/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Is an address this host's? Its interfaces have single addresses; the kernel's routes also have whole local
 * prefixes (`ip route add local ...`, a prefix on lo). Never: answers no when it does not know. */
struct route_question {
        struct nlmsghdr head;
        struct rtmsg route;
        struct rtattr to;
        uint8_t address[16];
};

static struct route_question question_of(const struct egress_address *a)
{
        unsigned n = a->v6 ? 16 : 4;
        struct route_question q = {
                .head = { .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST },
                .route = { .rtm_family = a->v6 ? AF_INET6 : AF_INET, .rtm_dst_len = (unsigned char) (8 * n) },
                .to = { .rta_type = RTA_DST, .rta_len = (unsigned short) (sizeof q.to + n) }
        };

        q.head.nlmsg_len = (uint32_t) (sizeof q - sizeof q.address + n);
        memcpy(q.address, a->bytes, n);
        return q;
}
_Static_assert(sizeof(struct route_question) == NLMSG_LENGTH(sizeof(struct rtmsg)) + RTA_LENGTH(16),
               "as the kernel reads it");

/* The kernel answered that no route exists: not ENOMEM or EPERM of the query. */
static bool is_no_way(struct nlmsghdr *h, size_t n)
{
        static const int ways[] = { ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL, EAFNOSUPPORT, EOPNOTSUPP };
        const struct nlmsgerr *said = NLMSG_DATA(h);
        if (h->nlmsg_type != NLMSG_ERROR || n < NLMSG_LENGTH(sizeof *said))
                return false;

        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
                if (said->error == -ways[i])
                        return true;

        return false;
}

static bool own_by_route(const struct egress_address *a)
{
        union {
                struct nlmsghdr head;
                uint8_t bytes[4096];
        } r;

        struct route_question q = question_of(a);
        AUTO_FD(fd, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
        if (fd < 0 || send(fd, &q, q.head.nlmsg_len, 0) < 0)
                return true;

        ssize_t n = recv(fd, &r, sizeof r, 0);
        if (n < (ssize_t) NLMSG_LENGTH(sizeof(struct rtmsg)))
                return true;

        if (r.head.nlmsg_type != RTM_NEWROUTE)
                return !is_no_way(&r.head, (size_t) n);

        const struct rtmsg *route = NLMSG_DATA(&r.head);
        return route->rtm_type != RTN_UNICAST;
}

enum { WORKERS_MAX = 8, WORKER_SECONDS = 20, GOOD_SECONDS = 60, BAD_SECONDS = 3 };

/* ---- the child ---- */

static int read_address(const struct sockaddr *s, struct egress_address *ret)
{
        *ret = (struct egress_address){ .v6 = s && s->sa_family == AF_INET6 };
        if (!s || (s->sa_family != AF_INET && s->sa_family != AF_INET6))
                return -1;

        if (ret->v6)
                memcpy(ret->bytes, &((const struct sockaddr_in6 *) (const void *) s)->sin6_addr, 16);
        else
                memcpy(ret->bytes, &((const struct sockaddr_in *) (const void *) s)->sin_addr, 4);

        return 0;
}

/* An address of this host reaches services that the host keeps to itself, however public it looks. */
static void mark_own(struct egress_address *list, uint32_t count)
{
        struct ifaddrs *all = NULL;
        for (uint32_t i = 0; i < count; i++)
                list[i].own = own_by_route(&list[i]);

        if (getifaddrs(&all) < 0) {
                for (uint32_t i = 0; i < count; i++)
                        list[i].own = true; /* not known to be another's */
                return;
        }

        for (const struct ifaddrs *x = all; x; x = x->ifa_next) {
                struct egress_address a;
                if (read_address(x->ifa_addr, &a) < 0)
                        continue;
                for (uint32_t i = 0; i < count; i++)
                        list[i].own |=
                                list[i].v6 == a.v6 && memcmp(list[i].bytes, a.bytes, sizeof a.bytes) == 0;
        }

        freeifaddrs(all);
}

_Noreturn static void work_on_questions(int line, pid_t resolver, const struct resolve_ask *q)
{
        const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
        struct addrinfo *all = NULL;
        struct resolve_answer r = { .id = q->id };
        struct egress_address list[ADDRESSES_MAX];

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* with it the line ends, and the broker knows */
        if (getppid() != resolver)
                _exit(1);

        (void) alarm(WORKER_SECONDS);
        r.error = getaddrinfo(q->name, NULL, &hints, &all);
        for (const struct addrinfo *x = r.error ? NULL : all; x && r.count < ADDRESSES_MAX; x = x->ai_next)
                if (read_address(x->ai_addr, &list[r.count]) == 0)
                        r.count++;

        mark_own(list, r.count);
        for (uint32_t i = 0; i < r.count; i++) {
                r.v6[i] = list[i].v6;
                r.own[i] = list[i].own;
                memcpy(r.bytes[i], list[i].bytes, sizeof r.bytes[i]);
        }

        (void) wire_put(line, &resolve_answer_form, &r, -1);
        _exit(0);
}

/* Workers that ended without an answer are answered for: their name would wait for ever. */
struct worker {
        pid_t pid;
        uint32_t id;
};

static void reap_worker(struct worker *w, unsigned *count, int line, bool wait)
{
        int status;
        pid_t pid = waitpid(-1, &status, wait ? 0 : WNOHANG);
        for (unsigned i = 0; pid > 0 && i < *count; i++) {
                if (w[i].pid != pid)
                        continue;
                struct resolve_answer r = { .id = w[i].id, .error = EAI_FAIL };
                if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                        (void) wire_put(line, &resolve_answer_form, &r, -1);
                w[i] = w[--*count];
        }
}

_Noreturn static void resolver_main(int line)
{
        struct worker workers[WORKERS_MAX];
        unsigned count = 0;
        struct resolve_ask q;
        const pid_t own = getpid();

        (void) prctl(PR_SET_NAME, "cordon-resolver", 0, 0, 0);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        (void) signal(SIGCHLD, SIG_DFL);
        for (int held = -1; wire_take(line, &resolve_ask_form, &q, &held) == 1;) {
                if (held >= 0)
                        continue; /* no question: resolver_leave_watchers() */
                while (count > 0 && waitid(P_ALL, 0, &(siginfo_t){ 0 }, WEXITED | WNOHANG | WNOWAIT) == 0) {
                        unsigned before = count;
                        reap_worker(workers, &count, line, false);
                        if (count == before)
                                break;
                }
                if (count == WORKERS_MAX)
                        reap_worker(workers, &count, line, true);
                pid_t pid = fork();
                if (pid == 0)
                        work_on_questions(line, own, &q);
                if (pid > 0) {
                        workers[count++] = (struct worker){ pid, q.id };
                        continue;
                }
                struct resolve_answer r = { .id = q.id, .error = EAI_MEMORY };
                (void) wire_put(line, &resolve_answer_form, &r, -1);
        }

        _exit(0);
}

int resolver_start(struct err *e)
{
        int ends[2];
        if (wire_pair(ends) < 0)
                return err_set(e, ERR_HOST, errno, "no socket for the resolver");

        pid_t pid = fork();
        if (pid == 0) {
                if (dup2(ends[1], EGRESS_CONTROL) < 0)
                        _exit(1);
                (void) syscall(SYS_close_range, EGRESS_CONTROL + 1, ~0U, 0);
                if (jail_read_only() < 0 || jail_resolver() < 0)
                        _exit(1);
                resolver_main(EGRESS_CONTROL);
        }

        (void) close(ends[1]);

        /* Unanswered names fill it: the broker waits for none of them. */
        if (pid < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
                (void) close(ends[0]);
                return err_set(e, ERR_HOST, errno, "the resolver could not be started");
        }

        return ends[0];
}

/* ---- the broker's side ---- */

static void settle_name(struct broker *b, struct name *n, const struct resolve_answer *r)
{
        n->count = r->error ? 0 : r->count;
        for (unsigned i = 0; i < n->count; i++) {
                n->address[i] = (struct egress_address){ .v6 = r->v6[i], .own = r->own[i] };
                memcpy(n->address[i].bytes, r->bytes[i], sizeof r->bytes[i]);
        }

        n->state = n->count > 0 ? NAME_KNOWN : NAME_FAILED;
        n->temporary = r->error && r->error != EAI_NONAME && r->error != EAI_NODATA;
        uint64_t good_s = n->count > 0 ? GOOD_SECONDS : n->temporary ? 0 : BAD_SECONDS;
        n->good_until_ns =
                b->now_ns + good_s * UINT64_C(1000000000); /* a passing fault is asked about again */
        if (n->settled)
                return;
        n->settled = true;
        n->next_settled = b->settled;
        b->settled = n;
}

struct name *resolver_settled(struct broker *b)
{
        struct name *n = b->settled;
        if (n) {
                b->settled = n->next_settled;
                n->settled = false;
        }

        return n;
}

static uint32_t place_of(const struct broker *b, const struct name *n)
{
        uint32_t i = 0;
        while (i < b->names.count && b->names.at[i] != n)
                i++;
        return i;
}

/* A name below a wildcard is the box's own words, and leaves: it is judged and paid for as other bytes are.
 */
static bool pay_name(struct broker *b, struct name *n, const struct door *d)
{
        size_t bytes = strlen(n->host);
        struct policy_flow flow = labels_judge_door(b, d, "GET");
        n->unpaid = REASON_NONE;
        if (flow.answer == ANSWER_DENY) {
                n->unpaid = flow.reason;
                accounting_deny(b, &(struct accounting_entry){ .form = EGRESS_NAME,
                                                               .to = n->host,
                                                               .reason = n->unpaid,
                                                               .detail = labels_detail(b) });
                return false;
        }

        if (!decide_wildcard(b, n->host))
                return true;

        if (accounting_room(b, d, true, bytes) == bytes) {
                accounting_spend(b, d, true, bytes);
                return true;
        }

        accounting_drain(b, d);
        n->unpaid = accounting_why(b, d, true);
        accounting_deny(
                b, &(struct accounting_entry){ .form = EGRESS_NAME, .to = n->host, .reason = n->unpaid });
        return false;
}

void resolver_ask(struct broker *b, struct name *n, const struct door *d)
{
        const struct resolve_answer none = { .error = EAI_FAIL }, unpaid = { .error = EAI_NONAME };
        struct resolve_ask q = { .id = place_of(b, n) };
        memcpy(q.name, n->host, sizeof q.name);
        n->state = NAME_ASKED;
        n->good_until_ns =
                b->now_ns + (WORKER_SECONDS + 2) * UINT64_C(1000000000); /* then it is asked again */
        n->crowded_out = false;
        if (!pay_name(b, n, d)) {
                settle_name(b, n, &unpaid);
                return;
        }

        if (b->resolver_source.fd >= 0 && wire_put(b->resolver_source.fd, &resolve_ask_form, &q, -1) == 0)
                return;

        n->crowded_out = b->resolver_source.fd >= 0 && (errno == EAGAIN || errno == ENOBUFS);
        settle_name(b, n, &none);
}

enum effect_reason resolver_why(const struct broker *b, const struct name *n)
{
        if (n->unpaid)
                return n->unpaid;
        if (n->crowded_out)
                return REASON_RESOLVER_BUSY;
        return b->resolver_source.fd < 0 ? REASON_RESOLVER_GONE : REASON_UNRESOLVED;
}

/* The last close of a packet socket waits for every processor, some ten milliseconds, and the keeper waits
 * for the broker's end. The resolver's end is not waited for: it holds them until then. */
void resolver_leave_watchers(struct broker *b)
{
        const struct resolve_ask none = { .id = UINT32_MAX };
        for (unsigned i = 0; i < 2; i++)
                if (b->watchers[i] && b->resolver_source.fd >= 0 &&
                    wire_put(b->resolver_source.fd, &resolve_ask_form, &none, b->watchers[i]->fd) == 0)
                        (void) close(b->watchers[i]->fd);
}

void resolver_serve(struct broker *b)
{
        struct resolve_answer r;
        int got = wire_take(b->resolver_source.fd, &resolve_answer_form, &r, NULL);
        if (got == 1 && r.id < b->names.count && r.count <= ADDRESSES_MAX) {
                settle_name(b, b->names.at[r.id], &r);
                return;
        }

        if (got < 0 && (errno == EAGAIN || errno == EINTR))
                return;

        broker_forget(&b->resolver_source); /* gone: names no longer resolve, and nothing waits for it */
        const struct resolve_answer none = { .error = EAI_FAIL };
        for (unsigned i = 0; i < b->names.count; i++)
                if (b->names.at[i]->state == NAME_ASKED)
                        settle_name(b, b->names.at[i], &none);
}

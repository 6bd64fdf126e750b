/* SPDX-License-Identifier: MIT */
/* run/keeper/gift.c - a parked box changes its keeper: everything that a keeper holds of it goes over a
 * socket, its descriptors and a few numbers. Between processes of one program and one user; the reader checks
 * all the same.
 */
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { GIFT_FORMAT = 3, GIFT_FDS = 21 + 2 * CONTROLLER__COUNT + HANDLES_MAX };

struct gift {
        uint32_t format, size;
        uint64_t present; /* bit per descriptor of list_descriptors() */
        pid_t init, broker, janitor;
        bool born_in_cgroup, own_pids, sampled, broker_runs;
        bool memory_by_group, procs_by_group, cpu_by_group;
        uint32_t layers;
        uint64_t parked_cpu_ns;
        uid_t host_uid;
        gid_t host_gid;
        struct limit_group group; /* without its descriptors */
        int held_at[HELD_NAMES_MAX];
        char run[42];
};
_Static_assert((int) GIFT_FDS <= 64, "a bit for each descriptor");

static unsigned list_descriptors(struct box *b, int *ret[GIFT_FDS])
{
        int *const fixed[] = { &b->child.control,
                               &b->child.spare,
                               &b->child.pidfd,
                               &b->held,
                               &b->replaced,
                               &b->group.v2,
                               &b->group.v2_parent,
                               &b->group.v2_procs,
                               &b->group.oom_event,
                               &b->janitor.line,
                               &b->janitor.child.pidfd,
                               &b->broker.control,
                               &b->broker.ledger,
                               &b->broker.process.pidfd,
                               &b->run.ahead[0],
                               &b->run.ahead[1],
                               &b->run.ahead[2] };
        unsigned n = 0;
        for (; n < sizeof fixed / sizeof *fixed; n++)
                ret[n] = fixed[n];

        for (unsigned i = 0; i < CONTROLLER__COUNT; i++) {
                ret[n++] = &b->group.v1[i];
                ret[n++] = &b->group.v1_parent[i];
        }

        for (unsigned i = 0; i < HANDLES_MAX; i++)
                ret[n++] = &b->run.memfd[i];

        return n;
}

static struct gift describe_box(struct box *b, int fds[GIFT_FDS], unsigned *ret_count)
{
        struct gift g = { .format = GIFT_FORMAT,
                          .size = sizeof g,
                          .init = b->child.pid,
                          .broker = b->broker.process.pid,
                          .janitor = b->janitor.child.pid,
                          .born_in_cgroup = b->child.born_in_cgroup,
                          .own_pids = b->child.own_pids,
                          .broker_runs = b->run.r.broker == BROKER_RUNS,
                          .memory_by_group = b->run.r.memory_by_group,
                          .procs_by_group = b->run.r.procs_by_group,
                          .cpu_by_group = b->run.r.cpu_by_group,
                          .layers = b->layers,
                          .parked_cpu_ns = b->parked_cpu_ns,
                          .host_uid = b->start.host_uid,
                          .host_gid = b->start.host_gid,
                          .group = b->group };
        int *all[GIFT_FDS];
        unsigned n = list_descriptors(b, all);
        memcpy(g.held_at, b->held_at, sizeof g.held_at);
        memcpy(g.run, keeper_run(&b->run), sizeof g.run);
        *ret_count = 0;
        for (unsigned i = 0; i < n; i++)
                if (*all[i] >= 0) {
                        g.present |= UINT64_C(1) << i;
                        fds[(*ret_count)++] = *all[i];
                }

        return g;
}

/* ---- giving ---- */

union control {
        struct cmsghdr head;
        char room[CMSG_SPACE(GIFT_FDS * sizeof(int))];
};

/* Nothing of it is ours any more: only the memory is freed. */
static void let_go(struct box *b, struct child ret[BOX_GIVEN_CHILDREN])
{
        int *all[GIFT_FDS];
        ret[0] = (struct child){ .pid = b->child.pid, .pidfd = TAKE_FD(b->child.pidfd) };
        ret[1] = b->broker.process;
        ret[2] = b->janitor.child;
        b->broker.process = b->janitor.child = CHILD_NONE;
        b->child.pid = -1;
        for (unsigned i = 0, n = list_descriptors(b, all); i < n; i++)
                fd_close(all[i]);

        for (unsigned i = 0; i < CONTROLLER__COUNT; i++)
                fd_close(&b->group.v1_tasks[i]);

        fd_close(&b->broker.trust);
        b->phase = PHASE_OVER;
        box_free(b);
}

int box_give(struct box *b, int socket, const void *head, size_t n, struct child ret[BOX_GIVEN_CHILDREN])
{
        int fds[GIFT_FDS];
        unsigned count = 0;
        struct gift g = describe_box(b, fds, &count);
        union control c = { .room = { 0 } };
        struct iovec out[] = { { (void *) (uintptr_t) head, n }, { &g, sizeof g } };
        struct msghdr m = { .msg_iov = out,
                            .msg_iovlen = 2,
                            .msg_control = &c,
                            .msg_controllen = CMSG_SPACE(count * sizeof(int)) };
        c.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(count * sizeof(int)),
                                   .cmsg_level = SOL_SOCKET,
                                   .cmsg_type = SCM_RIGHTS };
        memcpy(CMSG_DATA(&c.head), fds, count * sizeof(int));
        ssize_t sent = sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent != (ssize_t) (n + sizeof g)) {
                errno = sent < 0 ? errno : EMSGSIZE;
                return -1;
        }

        let_go(b, ret);
        return 0;
}

/* ---- receiving ---- */

static void close_all(const int *fds, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                (void) close(fds[i]);
}

/* The resident says that the box is whole. That its init is pid 1 of a namespace below ours is seen from
 * here. */
static bool is_apart(pid_t init, enum wall_kind wall)
{
        char path[32], text[4096];
        if (!wall_has(wall, WALL_OWN_ROOT))
                return true;

        (void) snprintf(path, sizeof path, "/proc/%d/status", init);
        const char *pids = fd_get(AT_FDCWD, path, text, sizeof text) > 0 ? strstr(text, "\nNSpid:\t") : NULL;
        const char *inner = pids ? strchr(pids + sizeof "\nNSpid:\t" - 1, '\t') : NULL;
        return inner && inner[strcspn(inner, "\n") - 1] == '1' && inner[strcspn(inner, "\n") - 2] == '\t';
}

/* Every descriptor that came is either in the box or closed. */
static struct box *accept_gift(const struct gift *g, const int *fds, unsigned count,
                               const struct box_config *c)
{
        struct box *b = keeper_new(c);
        int *all[GIFT_FDS];
        unsigned n = b ? list_descriptors(b, all) : 0, at = 0;
        bool rows = b && (!g->broker_runs || (b->run.rows = calloc(NET_ROWS_MAX, sizeof *b->run.rows)));
        bool fits = rows && g->format == GIFT_FORMAT && g->size == sizeof *g && g->init > 0 &&
                    is_apart(g->init, c->plan->wall) &&
                    (unsigned) __builtin_popcountll(g->present) == count && !(g->present >> n);
        if (!fits) {
                if (b)
                        b->phase = PHASE_OVER;
                box_free(b);
                close_all(fds, count);
                return NULL;
        }

        struct limit_group group = g->group;
        limit_group_init(&b->group);
        group.v2 = group.v2_parent = group.v2_procs = group.oom_event = -1;
        for (unsigned i = 0; i < CONTROLLER__COUNT; i++)
                group.v1[i] = group.v1_parent[i] = group.v1_tasks[i] = -1;

        b->group = group;
        for (unsigned i = 0; i < n; i++)
                *all[i] = g->present >> i & 1 ? fds[at++] : -1;

        b->child.pid = g->init;
        b->child.theirs = true;
        b->child.born_in_cgroup = g->born_in_cgroup;
        b->child.own_pids = g->own_pids;
        b->broker.process.pid = g->broker;
        b->janitor.child.pid = g->janitor;
        b->broker.process.theirs = b->janitor.child.theirs = true;
        b->run.r.broker = g->broker_runs ? BROKER_RUNS : BROKER_NONE;
        b->run.r.net = b->run.rows;
        b->run.r.memory_by_group = g->memory_by_group;
        b->run.r.procs_by_group = g->procs_by_group;
        b->run.r.cpu_by_group = g->cpu_by_group;
        memcpy(b->held_at, g->held_at, sizeof b->held_at);
        memcpy(b->run.r.run, g->run, sizeof b->run.r.run - 1);
        b->layers = g->layers;
        b->parked_cpu_ns = g->parked_cpu_ns;
        b->start.host_uid = g->host_uid;
        b->start.host_gid = g->host_gid;
        b->run.inside.handle_count = (unsigned) c->plan->handle_count;
        b->c.park = b->ready = b->init_up = true;
        b->phase = PHASE_PARK;
        return b;
}

static unsigned take_descriptors(struct msghdr *m, int fds[GIFT_FDS])
{
        unsigned count = 0;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
                size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || n > GIFT_FDS)
                        continue;
                memcpy(fds, CMSG_DATA(c), n * sizeof(int));
                count = (unsigned) n;
        }

        return count;
}

void box_wake_by(struct box *b, int *fd, const void *packet, size_t n)
{
        b->wake_bytes = n < sizeof b->wake ? n : sizeof b->wake;
        memcpy(b->wake, packet, b->wake_bytes);
        b->waker = TAKE_FD(*fd);
}

int box_receive(int socket, void *head, size_t n, const struct box_config *c, struct box **ret, struct err *e)
{
        int fds[GIFT_FDS];
        struct gift g = { .format = 0 };
        union control control;
        struct iovec in[] = { { head, n }, { &g, sizeof g } };
        struct msghdr m = {
                .msg_iov = in, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control
        };
        ssize_t got;
        do
                got = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);

        while (got < 0 && errno == EINTR);
        *ret = NULL;
        unsigned count = got > 0 ? take_descriptors(&m, fds) : 0;
        bool whole = got == (ssize_t) (n + sizeof g) && count > 0;
        if (got < (ssize_t) n || m.msg_flags & MSG_CTRUNC) {
                close_all(fds, count);
                return err_set(e, ERR_IO, got < 0 ? errno : EPROTO,
                               "the answer of cordon serve is not whole");
        }

        if (whole)
                *ret = accept_gift(&g, fds, count, c);
        else
                close_all(fds, count);
        return 0;
}

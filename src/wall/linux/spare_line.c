/* SPDX-License-Identifier: MIT */
/* wall/linux/spare_line.c - the keeper's side of spares: requests one, hands a run order over. Never waits.
 */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "wall/internal.h"
#include "wall/linux/spare.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int wall_spare_add(const struct wall_child *c, struct err *e)
{
        const struct wall_order o = { .command = COMMAND_RUN };
        int ends[2];
        if (wire_pair(ends) < 0)
                return wall_fail(e, STAGE_EXEC, "making the line of a spare");

        AUTO_FD(mine, ends[0]);
        AUTO_FD(its, ends[1]);
        if (wire_put(c->spare, &wall_order_form, &o, its) < 0)
                return wall_fail(e, STAGE_EXEC, "requesting a spare");

        return TAKE_FD(mine);
}

void wall_handover_seal(struct wall_handover *h, const struct plan_order *o)
{
        h->block.n = h->sent = 0;
        h->begun = false;
        plan_seal_order(o, &h->block);
}

void wall_handover_words(struct wall_handover *h, const struct plan_order *o, bool one_output)
{
        uint32_t length = 2;
        for (const char **v = o->argv; *v; v++)
                length += (uint32_t) strlen(*v) + 1;

        h->block.n = h->sent = 0;
        h->begun = true; /* no head, no descriptors */
        buf_add(&h->block, &length, sizeof length);
        buf_add(&h->block, one_output ? "1" : "0", 2);
        for (const char **v = o->argv; *v; v++)
                buf_add(&h->block, *v, strlen(*v) + 1);
}

int wall_warm_listen(int spare, char ret[WALL_WARM_TEXT])
{
        ssize_t n = recv(spare, ret, WALL_WARM_TEXT - 1, MSG_DONTWAIT);
        ret[n > 0 ? n : 0] = '\0';
        return n > 0 ? 1 : (int) n;
}

static unsigned list_passed(const struct wall_stdio *io, struct spare_head *head, int *ret_fds)
{
        unsigned n = 0;
        for (unsigned i = 0; i < 3 + io->handle_count; i++) {
                int fd = i < 3 ? io->stdio[i] : io->handles[i - 3];
                if (fd < 0)
                        continue;
                head->to[n] = (uint8_t) i;
                ret_fds[n++] = fd;
        }

        head->count = n;
        return n;
}

/* Never waits. Returns 0, or -1 with errno. */
static int send_with(int spare, struct msghdr m, const int *fds, unsigned count)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(SPARE_PASSED_MAX * sizeof(int))];
        } control = { .room = { 0 } };
        if (count > 0) {
                m.msg_control = &control;
                m.msg_controllen = CMSG_SPACE(count * sizeof(int));
                control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(count * sizeof(int)),
                                                 .cmsg_level = SOL_SOCKET,
                                                 .cmsg_type = SCM_RIGHTS };
                memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
        }

        return sendmsg(spare, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

int wall_spare_enter(int spare, int procs, struct err *e)
{
        struct spare_head head = { .format = SPARE_FORMAT, .count = 1 };
        struct iovec out = { &head, sizeof head };
        return send_with(spare, (struct msghdr){ .msg_iov = &out, .msg_iovlen = 1 }, &procs, 1) < 0
                       ? wall_fail(e, STAGE_EXEC, "handing over the control group of a run")
                       : 0;
}

/* One packet: the first with head and descriptors. Returns the bytes of the order in it, or -1. */
static ssize_t send_packet(int spare, const struct wall_handover *h, const struct wall_stdio *io)
{
        struct spare_head head = { .format = SPARE_FORMAT, .bytes = (uint32_t) h->block.n };
        size_t n = h->block.n - h->sent < SPARE_PACKET ? h->block.n - h->sent : SPARE_PACKET;
        struct iovec out[] = { { &head, sizeof head }, { h->block.p + h->sent, n } };
        struct msghdr m = { .msg_iov = out + h->begun, .msg_iovlen = 2 - (size_t) h->begun };
        int fds[SPARE_PASSED_MAX];
        unsigned count = h->begun ? 0 : list_passed(io, &head, fds);
        return send_with(spare, m, fds, count) < 0 ? -1 : (ssize_t) n;
}

int wall_handover(int spare, struct wall_handover *h, const struct wall_stdio *io)
{
        errno = h->block.failed ? ENOMEM : E2BIG;
        if (h->block.failed || h->block.n > SPARE_ORDER_MAX)
                return -1;

        while (!h->begun || h->sent < h->block.n) {
                ssize_t n = send_packet(spare, h, io);
                if (n < 0 && errno == EAGAIN)
                        return 0;
                if (n < 0 && errno != EINTR)
                        return -1;
                h->begun = h->begun || n >= 0;
                h->sent += n > 0 ? (size_t) n : 0;
        }

        return 1;
}

int wall_run(const struct wall_child *c, uint32_t pid, uint32_t id, const struct policy_limits *limits)
{
        struct wall_order o = { .command = COMMAND_RUN,
                                .arg = (int32_t) pid,
                                .id = id,
                                .time_ms = limits->value[LIMIT_TIME],
                                .cpu_ms = limits->value[LIMIT_CPU] };
        return wire_put_now(c->control, &wall_order_form, &o);
}

int wall_forward(int line, const struct wall_message *m, int fd)
{
        return fd < 0 ? wall_put_now(line, m) : wall_put(line, m, fd);
}

int wall_label(const struct wall_child *session, const struct label *l)
{
        struct wall_order o = { .command = COMMAND_LABEL };
        (void) label_text(l, o.label);
        return wire_put_now(session->control, &wall_order_form, &o);
}

int wall_causes(const struct wall_child *session, const char *ids)
{
        struct wall_order o = { .command = COMMAND_CAUSES };
        (void) snprintf(o.causes, sizeof o.causes, "%s", ids);
        return wire_put_now(session->control, &wall_order_form, &o);
}

/* Orders that end at the session's keeper. */
static bool take_told(const struct wall_order *o, struct wall_relayed *ret)
{
        ret->labels = o->command == COMMAND_LABEL;
        ret->tells = o->command == COMMAND_CAUSES;
        memcpy(ret->label, o->label, sizeof ret->label);
        memcpy(ret->causes, o->causes, sizeof ret->causes);
        return ret->labels || ret->tells;
}

int wall_relay(int line, const struct wall_child *c, uint32_t pid, uint32_t id, struct wall_relayed *ret)
{
        struct wall_order o;
        int r = wire_take(line, &wall_order_form, &o, NULL);
        *ret = (struct wall_relayed){ 0 };
        if (r != 1)
                return r;

        if (take_told(&o, ret))
                return 1;

        bool begins = o.command == COMMAND_RUN && o.id == id && (uint32_t) o.arg == pid && pid > 0;
        bool signals = (o.command == COMMAND_SIGNAL || o.command == COMMAND_RENEW) && o.id == id;
        ret->begins = begins;
        ret->tty = o.command == COMMAND_TTY;
        if (!begins && !signals && !ret->tty) {
                errno = EPROTO;
                return -1;
        }

        const struct wall_message passed = { .word = WALL_SAYS_READY, .run = pid };
        int sent = wire_put_now(c->control, &wall_order_form, &o);
        if (begins && (sent < 0 || wall_put_now(line, &passed) < 0))
                return -1; /* it must not start */

        return 1; /* a signal is lost if init takes nothing, as that of its own keeper */
}

int wall_spare_listen(int spare, struct wall_message *ret)
{
        int fd = -1, r = wall_take(spare, ret, &fd);
        fd_close(&fd);
        return r;
}

int wall_tty(const struct wall_child *c, unsigned rows, unsigned columns)
{
        struct wall_order o = { .command = COMMAND_TTY,
                                .arg = (int32_t) ((rows & 0x7fff) << 16 | (columns & 0xffff)) };
        return wire_put_now(c->control, &wall_order_form, &o);
}

/* SPDX-License-Identifier: MIT */
/* base/wire/wire.c - messages and descriptors over SOCK_SEQPACKET. Does not allocate. */
#include "base/wire/wire.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int wire_pair(int ret_ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_ends); }

bool wire_is_end(int fd)
{
        int type = 0;
        socklen_t n = sizeof type;
        return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_SEQPACKET;
}

union control {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
};

int wire_send(int fd, const void *p, size_t n, int pass)
{
        union control c = { .room = { 0 } };
        struct iovec io = { .iov_base = (void *) (uintptr_t) p, .iov_len = n };
        struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };
        if (pass >= 0) {
                m.msg_control = &c;
                m.msg_controllen = sizeof c;
                c.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
                                           .cmsg_level = SOL_SOCKET,
                                           .cmsg_type = SCM_RIGHTS };
                memcpy(CMSG_DATA(&c.head), &pass, sizeof pass);
        }

        ssize_t k;
        do
                k = sendmsg(fd, &m, MSG_NOSIGNAL);

        while (k < 0 && errno == EINTR);
        return k < 0 ? -1 : 0;
}

static int offer_bytes(int fd, const void *p, size_t n)
{
        return send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

/* Takes the received descriptors. Returns their number. One is passed on; if more arrive (they fit into the
 * padding of the control buffer, or were cut), all are closed. */
static unsigned take_passed(struct msghdr *m, int *ret_fd)
{
        unsigned count = 0;
        *ret_fd = -1;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                        continue;
                size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                for (size_t i = 0; i < n; i++) {
                        int fd;
                        memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
                        if (count++ == 0)
                                *ret_fd = fd;
                        else
                                (void) close(fd);
                }
        }

        return count;
}

/* Receives at most `cap` bytes; the number is in *ret_n. */
static int receive_bytes(int fd, void *p, size_t cap, size_t *ret_n, int *ret_pass)
{
        union control c;
        struct iovec io = { .iov_base = p, .iov_len = cap };
        struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c };
        ssize_t k;

        /* ECONNRESET is reported once, first, if the peer closed without reading our data. Its own last
         * messages follow it. */
        unsigned resets = 0;
        do
                k = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);

        while (k < 0 && (errno == EINTR || (errno == ECONNRESET && resets++ == 0)));
        if (k < 0)
                return -1;

        int got;
        unsigned count = take_passed(&m, &got);
        if (k == 0 && count == 0)
                return 0; /* the peer has closed */

        bool bad = (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || count > 1 || (count > 0 && !ret_pass);
        if (bad && got >= 0)
                (void) close(got);

        if (bad) {
                errno = EPROTO;
                return -1;
        }

        *ret_n = (size_t) k;
        if (ret_pass)
                *ret_pass = got;

        return 1;
}

/* Rejects an unexpected message: closes the descriptor that came with it. */
static int close_passed(int *pass)
{
        if (pass && *pass >= 0)
                (void) close(*pass);

        if (pass)
                *pass = -1;

        errno = EPROTO;
        return -1;
}

int wire_recv(int fd, void *p, size_t n, int *ret_pass)
{
        size_t got = 0;
        int pass = -1, r = receive_bytes(fd, p, n, &got, ret_pass ? &pass : NULL);
        if (r == 1 && got != n)
                return close_passed(&pass);

        if (r == 1 && ret_pass)
                *ret_pass = pass;

        return r;
}

int wire_put(int fd, const struct wire_form *f, const void *message, int pass)
{
        uint8_t bytes[WIRE_MAX];
        size_t n = wire_encode(f, message, bytes, sizeof bytes);
        if (n > 0)
                return wire_send(fd, bytes, n, pass);

        errno = EMSGSIZE;
        return -1;
}

int wire_put_now(int fd, const struct wire_form *f, const void *message)
{
        uint8_t bytes[WIRE_MAX];
        return offer_bytes(fd, bytes, wire_encode(f, message, bytes, sizeof bytes));
}

int wire_take_any(int fd, const struct wire_form *forms, size_t count, void *ret, size_t *ret_which,
                  int *ret_pass)
{
        uint8_t bytes[WIRE_MAX];
        size_t n = 0, i = 0;
        int pass = -1, r = receive_bytes(fd, bytes, sizeof bytes, &n, ret_pass ? &pass : NULL);
        while (r == 1 && i < count && wire_decode(&forms[i], span_of(bytes, n), ret) < 0)
                i++;

        if (r == 1 && i == count)
                return close_passed(&pass);

        *ret_which = i;
        if (r == 1 && ret_pass)
                *ret_pass = pass;

        return r;
}

int wire_take(int fd, const struct wire_form *f, void *ret, int *ret_pass)
{
        size_t which;
        return wire_take_any(fd, f, 1, ret, &which, ret_pass);
}

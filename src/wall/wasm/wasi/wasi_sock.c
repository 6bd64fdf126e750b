/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_sock.c - sockets that the program was given. It cannot make one. */
#include "wall/wasm/wasi/wasi_internal.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_socket(const struct wasi_file *f)
{
        return f->type == WASI_SOCKET_STREAM || f->type == WASI_SOCKET_DGRAM;
}

static enum wasi_errno check_right(const struct wasi_file *f, uint64_t right)
{
        if (!is_socket(f))
                return WASI_NOTSOCK;

        return right & ~f->rights ? WASI_NOTCAPABLE : WASI_SUCCESS;
}

WASI_CALL(sock_accept)
{
        uint32_t flags = wasi_u32(c, 1), number;
        struct wasi_file f;
        enum wasi_errno r = check_right(c->file, WASI_RIGHT(SOCK_ACCEPT));
        if (r)
                return r;

        if (flags & ~(uint32_t) WASI_NONBLOCK)
                return WASI_INVAL;

        if (!wasi_at(c, wasi_u32(c, 2), 4))
                return WASI_FAULT;

        int fd = accept4(c->file->fd, NULL, NULL, SOCK_CLOEXEC | (flags & WASI_NONBLOCK ? SOCK_NONBLOCK : 0));
        if (fd < 0)
                return wasi_errno(errno);

        r = wasi_file_init(&f, fd);
        if (r) {
                (void) close(fd);
                return r;
        }

        r = wasi_file_add(c->w, &f, &number);
        return r ? r : wasi_store(c, wasi_u32(c, 2), 4, number);
}

WASI_CALL(sock_recv)
{
        struct iovec v[WASI_IOVS];
        uint32_t n = wasi_u32(c, 2), flags = wasi_u32(c, 3);
        enum wasi_errno r = check_right(c->file, WASI_RIGHT(FD_READ));
        if (!r)
                r = flags & ~(uint32_t) (WASI_RECV_PEEK | WASI_RECV_WAITALL)
                            ? WASI_INVAL
                            : wasi_iovs(c, wasi_u32(c, 1), n, v);
        if (r)
                return r;

        struct msghdr m = { .msg_iov = v, .msg_iovlen = n }; /* no room for descriptors: none comes in */
        ssize_t got = recvmsg(c->file->fd, &m,
                              (flags & WASI_RECV_PEEK ? MSG_PEEK : 0) |
                                      (flags & WASI_RECV_WAITALL ? MSG_WAITALL : 0));
        if (got < 0)
                return wasi_errno(errno);

        r = wasi_store(c, wasi_u32(c, 4), 4, (uint64_t) got);
        return r ? r : wasi_store(c, wasi_u32(c, 5), 2, m.msg_flags & MSG_TRUNC ? WASI_RECV_TRUNCATED : 0);
}

WASI_CALL(sock_send)
{
        struct iovec v[WASI_IOVS];
        uint32_t n = wasi_u32(c, 2);
        enum wasi_errno r = check_right(c->file, WASI_RIGHT(FD_WRITE));
        if (!r)
                r = wasi_u32(c, 3) ? WASI_INVAL : wasi_iovs(c, wasi_u32(c, 1), n, v);
        if (r)
                return r;

        struct msghdr m = { .msg_iov = v, .msg_iovlen = n };
        ssize_t sent = sendmsg(c->file->fd, &m, MSG_NOSIGNAL);
        return sent < 0 ? wasi_errno(errno) : wasi_store(c, wasi_u32(c, 4), 4, (uint64_t) sent);
}

WASI_CALL(sock_shutdown)
{
        static const int how[] = { -1, SHUT_RD, SHUT_WR, SHUT_RDWR };
        uint32_t flags = wasi_u32(c, 1);
        enum wasi_errno r = check_right(c->file, WASI_RIGHT(SOCK_SHUTDOWN));
        if (r)
                return r;

        if (flags == 0 || flags > (WASI_SHUT_RD | WASI_SHUT_WR))
                return WASI_INVAL;

        return wasi_result(shutdown(c->file->fd, how[flags]));
}

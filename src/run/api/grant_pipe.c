/* SPDX-License-Identifier: MIT */
/* run/api/grant_pipe.c - the way that credentials go to the broker, and which doors each of them is for. */
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A user with many pipes (a box of the same user may have made them) gets them with one or two pages, which
 * cannot grow: a socket has room of its own. */
static int through_socket(size_t need, int ret[2])
{
        int room = (int) (2 * need), got = 0;
        socklen_t n = sizeof got;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret) < 0)
                return -1;

        (void) setsockopt(ret[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
        if (getsockopt(ret[1], SOL_SOCKET, SO_SNDBUF, &got, &n) == 0 && (size_t) got >= 2 * need)
                return 0;

        (void) close(ret[0]);
        (void) close(ret[1]);
        return -1;
}

/* Every record at once: the writer is done before the broker reads. So the pipe has room for all, and if not,
 * a write fails and does not block. */
int api_grants_pipe(size_t count, int ret[2], struct err *e)
{
        size_t need = count * sizeof(struct grant);
        if (pipe2(ret, O_CLOEXEC) < 0)
                return err_set(e, ERR_IO, errno, "no pipe for credentials");

        int room = fcntl(ret[1], F_GETPIPE_SZ);
        bool fits = (room >= 0 && (size_t) room >= need) || fcntl(ret[1], F_SETPIPE_SZ, (int) need) >= 0;
        if (!fits) {
                (void) close(ret[0]);
                (void) close(ret[1]);
                if (through_socket(need, ret) < 0) {
                        (void) err_set(e, ERR_HOST, 0, "this host has no room to hand over %zu credentials",
                                       count);
                        return err_hint(e, "your user has too many pipes open "
                                           "(/proc/sys/fs/pipe-user-pages-soft)");
                }
        }

        (void) fcntl(ret[1], F_SETFL, O_NONBLOCK);
        return 0;
}

int api_grant_scope(const struct checked_policy *c, const char *name, char ret_scope[GRANT_ASKED],
                    struct err *e)
{
        AUTO_BUF(lines);
        size_t n;
        const struct door *d = policy_doors(c, &n);

        for (size_t i = 0; i < n; i++)
                if (d[i].kind == DOOR_NET && d[i].net.credential && strcmp(d[i].net.credential, name) == 0)
                        policy_net_scope(&d[i], &lines);

        if (lines.failed || lines.n >= GRANT_ASKED)
                return err_set(e, ERR_POLICY, 0, "too many doors name the credential %s", name);

        memcpy(ret_scope, buf_str(&lines), lines.n + 1);
        return 0;
}

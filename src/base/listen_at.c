/* SPDX-License-Identifier: MIT */
/* base/listen_at.c - opens the sockets of servers. */
#include "base/listen_at.h"

#include "base/fd.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { BACKLOG = 128 };

static int cannot_listen(struct err *e, const char *option, const char *where)
{
        int sys = errno;
        return err_set(e, sys == EADDRINUSE ? ERR_USAGE : ERR_IO, sys, "%s %s: %s", option, where,
                       strerror(sys));
}

static int malformed_address(struct err *e, const char *where)
{
        (void) err_set(e, ERR_USAGE, 0, "--http %s: not a loopback address with a port, or unix:PATH", where);
        return err_hint(e, "--http 127.0.0.1:8080, or --http unix:/run/user/1000/cordon.http; others take "
                           "--tls-cert and --tls-key");
}

/* ---- Unix ---- */

/* A socket that no process serves is left by a server that was killed. */
static void remove_dead(const struct sockaddr_un *a)
{
        struct stat st;
        AUTO_FD(fd, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (lstat(a->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid() &&
            connect(fd, (const struct sockaddr *) a, sizeof *a) < 0 && errno == ECONNREFUSED)
                (void) unlink(a->sun_path);
}

int listen_unix(const char *option, const char *where, const char *path, struct err *e)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        if (strlen(path) >= sizeof a.sun_path || !path[0]) {
                errno = ENAMETOOLONG;
                return cannot_listen(e, option, where);
        }

        memcpy(a.sun_path, path, strlen(path) + 1);
        remove_dead(&a);
        AUTO_FD(fd, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        mode_t mask = umask(0177);
        int r = fd < 0 ? -1 : bind(fd, (struct sockaddr *) &a, sizeof a);
        (void) umask(mask);
        if (r < 0 || listen(fd, BACKLOG) < 0)
                return cannot_listen(e, option, where);
        return TAKE_FD(fd);
}

/* ---- TCP ---- */

static int listen_tcp(const char *where, const struct sockaddr *a, socklen_t size, uint16_t *ret_port,
                      struct err *e)
{
        int one = 1;
        struct sockaddr_in6 got = { 0 };
        socklen_t len = sizeof got;
        AUTO_FD(fd, socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
            bind(fd, a, size) < 0 || listen(fd, BACKLOG) < 0 ||
            getsockname(fd, (struct sockaddr *) &got, &len) < 0)
                return cannot_listen(e, "--http", where);

        *ret_port = ntohs(got.sin6_port); /* at the same place for both families */
        return TAKE_FD(fd);
}

static int listen_on(const char *where, bool any, uint16_t *ret_port, struct err *e)
{
        char host[64];
        uint64_t port = 0;
        *ret_port = 0;
        if (strncmp(where, "unix:", 5) == 0)
                return listen_unix("--http", where, where + 5, e);

        const char *colon = strrchr(where, ':');
        if (!colon || (size_t) (colon - where) >= sizeof host || str_to_u64(span_str(colon + 1), &port) < 0 ||
            port > UINT16_MAX)
                return malformed_address(e, where);

        memcpy(host, where, (size_t) (colon - where));
        host[colon - where] = '\0';
        struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port) };
        struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t) port) };
        if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &four.sin_addr) == 1 &&
            (any || (ntohl(four.sin_addr.s_addr) >> 24) == 127))
                return listen_tcp(where, (struct sockaddr *) &four, sizeof four, ret_port, e);

        char *end = host[0] == '[' ? strrchr(host, ']') : NULL;
        if (end && !end[1])
                *end = '\0';
        bool is_six = end && inet_pton(AF_INET6, host + 1, &six.sin6_addr) == 1;
        return is_six && (any || IN6_IS_ADDR_LOOPBACK(&six.sin6_addr))
                       ? listen_tcp(where, (struct sockaddr *) &six, sizeof six, ret_port, e)
                       : malformed_address(e, where);
}

int listen_at(const char *where, uint16_t *ret_port, struct err *e)
{
        return listen_on(where, false, ret_port, e);
}

int listen_anywhere(const char *where, uint16_t *ret_port, struct err *e)
{
        return listen_on(where, true, ret_port, e);
}

void listen_remove(const char *where)
{
        if (strncmp(where, "unix:", 5) == 0)
                (void) unlink(where + 5);
}

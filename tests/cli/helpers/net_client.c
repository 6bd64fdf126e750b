/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/net_client.c HOST PORT HOW - clients that do what libraries do: each prints one line of
 * what came back. Also linked statically, to have a program without a dynamic loader. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct addrinfo *where;

static int talk(int fd)
{
        char b[256] = "";
        (void) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
        if (send(fd, "ping", 4, MSG_NOSIGNAL) != 4 || recv(fd, b, 4, MSG_WAITALL) != 4 ||
            memcmp(b, "ping", 4) != 0)
                return -1;
        return 0;
}

static int blocking(void)
{
        int fd = socket(where->ai_family, SOCK_STREAM, 0);
        int r = connect(fd, where->ai_addr, where->ai_addrlen) < 0 ? -1 : talk(fd);
        (void) close(fd);
        return r;
}

static int nonblocking(void)
{
        int fd = socket(where->ai_family, SOCK_STREAM | SOCK_NONBLOCK, 0), error = 0;
        socklen_t n = sizeof error;
        if (connect(fd, where->ai_addr, where->ai_addrlen) < 0 && errno != EINPROGRESS)
                return -1;
        struct pollfd p = { .fd = fd, .events = POLLOUT };
        if (poll(&p, 1, 5000) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) < 0 || error)
                return -1;
        int r = talk(fd);
        (void) close(fd);
        return r;
}

static int epoll_first(void)
{
        int ep = epoll_create1(0), fd = socket(where->ai_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
        struct epoll_event e = { .events = EPOLLOUT | EPOLLET };
        if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) < 0)
                return -1;
        if (connect(fd, where->ai_addr, where->ai_addrlen) < 0 && errno != EINPROGRESS)
                return -1;
        for (int i = 0; i < 50; i++) {
                struct pollfd p = { .fd = fd, .events = POLLOUT };
                if (epoll_wait(ep, &e, 1, 100) > 0 && poll(&p, 1, 0) == 1 && !(p.revents & POLLHUP))
                        return talk(fd);
        }
        return -1;
}

static void *one_thread(void *arg)
{
        (void) arg;
        for (int i = 0; i < 25; i++)
                if (blocking() < 0)
                        return (void *) 1;
        return NULL;
}

static int threads(void)
{
        pthread_t t[8];
        void *bad = NULL, *r;
        for (int i = 0; i < 8; i++)
                if (pthread_create(&t[i], NULL, one_thread, NULL) != 0)
                        return -1;
        for (int i = 0; i < 8; i++) {
                (void) pthread_join(t[i], &r);
                bad = r ? r : bad;
        }
        return bad ? -1 : 0;
}

static int vforked(void)
{
        int status;
        pid_t pid = vfork();
        if (pid == 0) {
                int fd = socket(where->ai_family, SOCK_STREAM, 0);
                _exit(connect(fd, where->ai_addr, where->ai_addrlen) < 0);
        }
        return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? blocking() : -1;
}

/* The other side of a half-closed connection still answers. */
static int half_close(void)
{
        char b[64] = "", block[5000];
        int fd = socket(where->ai_family, SOCK_STREAM, 0);
        memset(block, 'z', sizeof block);
        if (connect(fd, where->ai_addr, where->ai_addrlen) < 0 ||
            send(fd, block, sizeof block, 0) != sizeof block || shutdown(fd, SHUT_WR) < 0 ||
            recv(fd, b, 5, MSG_WAITALL) != 5)
                return -1;
        return strcmp(b, "5000\n") == 0 && recv(fd, b, 1, 0) == 0 ? 0 : -1;
}

static int reset(void)
{
        char b;
        int fd = socket(where->ai_family, SOCK_STREAM, 0);
        if (connect(fd, where->ai_addr, where->ai_addrlen) < 0 || send(fd, "x", 1, 0) != 1)
                return -1;
        return recv(fd, &b, 1, 0) < 0 && errno == ECONNRESET ? 0 : -1;
}

static int peer(void)
{
        char mine[64] = "", theirs[64] = "";
        struct sockaddr_storage at;
        socklen_t n = sizeof at;
        int fd = socket(where->ai_family, SOCK_STREAM, 0);
        if (connect(fd, where->ai_addr, where->ai_addrlen) < 0 ||
            getpeername(fd, (struct sockaddr *) &at, &n) < 0)
                return -1;
        (void) getnameinfo((struct sockaddr *) &at, n, theirs, sizeof theirs, NULL, 0, NI_NUMERICHOST);
        (void) getnameinfo(where->ai_addr, where->ai_addrlen, mine, sizeof mine, NULL, 0, NI_NUMERICHOST);
        return strcmp(mine, theirs);
}

/* Held open until the end of the run, or of the door, or of the broker. */
static int hold(void)
{
        char b;
        int fd = socket(where->ai_family, SOCK_STREAM, 0);
        if (connect(fd, where->ai_addr, where->ai_addrlen) < 0)
                return -1;
        (void) !write(1, "held\n", 5);
        ssize_t n = recv(fd, &b, 1, 0);
        (void) printf("%s\n", n < 0 ? strerror(errno) : n == 0 ? "end of file" : "a byte");
        return 0;
}

/* Sends until nobody takes any more. */
static int flood(void)
{
        static char block[65536];
        unsigned long long sent = 0;
        int fd = socket(where->ai_family, SOCK_STREAM, 0);
        if (connect(fd, where->ai_addr, where->ai_addrlen) < 0)
                return -1;
        for (ssize_t n; (n = send(fd, block, sizeof block, MSG_NOSIGNAL)) > 0 && sent < (64u << 20);)
                sent += (unsigned long long) n;
        (void) printf("stopped %s\n", sent >= (64u << 20) ? "never" : strerror(errno));
        return 0;
}

static int drain(void)
{
        static char block[65536];
        unsigned long long got = 0;
        int fd = socket(where->ai_family, SOCK_STREAM, 0);
        if (connect(fd, where->ai_addr, where->ai_addrlen) < 0)
                return -1;
        for (ssize_t n; got < (64u << 20) && (n = recv(fd, block, sizeof block, 0)) > 0;)
                got += (unsigned long long) n;
        (void) printf("%llu\n", got);
        return 0;
}

/* Many at once, all open. */
static int many(void)
{
        unsigned open_now = 0;
        for (int i = 0; i < 600; i++) {
                int fd = socket(where->ai_family, SOCK_STREAM, 0);
                if (fd < 0 || connect(fd, where->ai_addr, where->ai_addrlen) < 0)
                        break;
                if (send(fd, "ping", 4, MSG_NOSIGNAL) == 4) {
                        char b[4];
                        struct timeval tv = { 5, 0 };
                        (void) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
                        open_now += recv(fd, b, 4, MSG_WAITALL) == 4;
                }
        }
        (void) printf("%u\n", open_now);
        return 0;
}

static const struct {
        const char *name;
        int (*run)(void);
} ways[] = {
        { "blocking", blocking },
        { "nonblocking", nonblocking },
        { "epoll-first", epoll_first },
        { "threads", threads },
        { "vfork", vforked },
        { "half-close", half_close },
        { "reset", reset },
        { "peer", peer },
        { "hold", hold },
        { "flood", flood },
        { "drain", drain },
        { "many", many },
};

int main(int argc, char **argv)
{
        const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
        if (argc != 4 || getaddrinfo(argv[1], argv[2], &hints, &where) != 0) {
                (void) printf("no such name\n");
                return 2;
        }
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
                if (strcmp(ways[i].name, argv[3]) == 0) {
                        int r = ways[i].run();
                        if (r != 0)
                                (void) printf("%s failed: %s\n", argv[3], strerror(errno));
                        return r != 0;
                }
        return 2;
}

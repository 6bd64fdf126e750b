/* SPDX-License-Identifier: MIT */
/* bench/netload.c - one server and one client for bench/net.
 *   netload serve ADDRESS PORT              16 bytes ask for 128; a first byte B asks for bulk
 *   netload once ADDRESS PORT N             connect, ask, close, N times: microseconds each
 *   netload keep ADDRESS PORT N             N questions on one connection: microseconds each
 *   netload bulk ADDRESS PORT MEGABYTES     one answer of that size: MB/s */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { QUESTION = 16, ANSWER = 128, BLOCK = 1 << 18 };
static char block[BLOCK];

static double now_us(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

/* One question; false: the client is gone. Answers are written whole: there is one client at a time. */
static int answer(int fd)
{
        char q[QUESTION];
        if (recv(fd, q, sizeof q, MSG_WAITALL) != sizeof q)
                return 0;
        long long left = q[0] == 'B' ? atoll(q + 1) : ANSWER;
        while (left > 0) {
                ssize_t n = send(fd, block, (size_t) (left < BLOCK ? left : BLOCK), MSG_NOSIGNAL);
                if (n < 0)
                        return 0;
                left -= n;
        }
        return 1;
}

static void welcome(int ep, int listener)
{
        int on = 1, c = accept(listener, NULL, NULL);
        struct epoll_event e = { .events = EPOLLIN, .data.fd = c };
        (void) setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void) epoll_ctl(ep, EPOLL_CTL_ADD, c, &e);
}

static int serve(const struct sockaddr_in *at)
{
        int on = 1, s = socket(AF_INET, SOCK_STREAM, 0), ep = epoll_create1(0);
        struct epoll_event e = { .events = EPOLLIN, .data.fd = s };
        (void) setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(s, (const struct sockaddr *) at, sizeof *at) < 0 || listen(s, 512) < 0)
                return 1;
        (void) epoll_ctl(ep, EPOLL_CTL_ADD, s, &e);
        for (;;) {
                if (epoll_wait(ep, &e, 1, -1) != 1)
                        continue;
                if (e.data.fd == s)
                        welcome(ep, s);
                else if (!answer(e.data.fd))
                        (void) close(e.data.fd);
        }
}

static int reach(const struct sockaddr_in *at)
{
        int on = 1, s = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(s, (const struct sockaddr *) at, sizeof *at) < 0) {
                perror("connect");
                exit(1);
        }
        (void) setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return s;
}

static void ask(int s)
{
        char b[ANSWER];
        if (send(s, "0123456789abcdef", QUESTION, MSG_NOSIGNAL) != QUESTION ||
            recv(s, b, ANSWER, MSG_WAITALL) != ANSWER) {
                perror("ask");
                exit(1);
        }
}

static double once(const struct sockaddr_in *at, long n)
{
        double t = now_us();
        for (long i = 0; i < n; i++) {
                int s = reach(at);
                ask(s);
                (void) close(s);
        }
        return (now_us() - t) / (double) n;
}

static double keep(const struct sockaddr_in *at, long n)
{
        int s = reach(at);
        ask(s);
        double t = now_us();
        for (long i = 0; i < n; i++)
                ask(s);
        return (now_us() - t) / (double) n;
}

static double bulk(const struct sockaddr_in *at, long megabytes)
{
        char q[QUESTION + 1];
        int s = reach(at);
        long long left = megabytes * 1000000LL;
        (void) snprintf(q, sizeof q, "B%-15lld", left);
        double t = now_us();
        if (send(s, q, QUESTION, MSG_NOSIGNAL) != QUESTION)
                exit(1);
        while (left > 0) {
                ssize_t n = recv(s, block, sizeof block, 0);
                if (n <= 0) {
                        perror("bulk");
                        exit(1);
                }
                left -= n;
        }
        return (double) megabytes / ((now_us() - t) / 1e6);
}

int main(int argc, char **argv)
{
        if (argc < 4)
                return 2;
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((unsigned short) atol(argv[3])) };
        if (inet_pton(AF_INET, argv[2], &at.sin_addr) != 1)
                return 2;
        if (strcmp(argv[1], "serve") == 0)
                return serve(&at);
        if (argc < 5)
                return 2;
        long n = atol(argv[4]);
        (void) (argv[1][0] == 'b' ? 0 : once(&at, 3)); /* warm: neighbours, pages */
        printf("%.2f\n", argv[1][0] == 'o' ? once(&at, n) : argv[1][0] == 'k' ? keep(&at, n) : bulk(&at, n));
        return 0;
}

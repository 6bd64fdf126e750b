/* Fills the buffers of as many sockets as it can get, and says how much the kernel keeps for them.
 *   buffers WAY PROCESSES: WAY is tcp, udp or unix, or plain: tcp without asking for larger buffers; each
 * process prints "SOCKETS KIB" and holds on for a moment */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
        MOST = 4096,
        MEMINFO = 55,
        RMEM = 0,
        FORWARD = 4,
        WMEM_QUEUED = 5,
        BACKLOG = 7,
        MEMINFO_COUNT = 9,
        HOLD_US = 700000
};
static int held[MOST];
static unsigned count;
static char packet[60000];

static int keep(int fd)
{
        if (fd >= 0 && count < MOST)
                held[count++] = fd;
        return fd;
}

/* The next pair, or a socket that is its own: what is written into `fd` stays in the kernel. -1: there are no
 * more. */
static int tcp(void)
{
        static int listener = -1;
        static struct sockaddr_in at = { .sin_family = AF_INET };
        socklen_t len = sizeof at;
        if (listener < 0) {
                at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
                listener = socket(AF_INET, SOCK_STREAM, 0);
                if (bind(listener, (struct sockaddr *) &at, len) < 0 || listen(listener, 16) < 0 ||
                    getsockname(listener, (struct sockaddr *) &at, &len) < 0)
                        return -1;
        }
        int fd = keep(socket(AF_INET, SOCK_STREAM, 0));
        if (fd < 0 || connect(fd, (struct sockaddr *) &at, len) < 0)
                return -1;
        return keep(accept(listener, NULL, NULL)) < 0 ? -1 : fd;
}

static int udp(void)
{
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t len = sizeof at;
        int fd = keep(socket(AF_INET, SOCK_DGRAM, 0)), room = 1 << 30;
        if (fd < 0 || bind(fd, (struct sockaddr *) &at, len) < 0 ||
            getsockname(fd, (struct sockaddr *) &at, &len) < 0 ||
            connect(fd, (struct sockaddr *) &at, len) < 0)
                return -1;
        (void) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
        return fd;
}

static int local(void)
{
        int p[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) < 0)
                return -1;
        (void) keep(p[1]);
        return keep(p[0]);
}

static void fill(const char *way, int fd)
{
        int room = 1 << 30;
        if (strcmp(way, "plain") != 0)
                (void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
        for (unsigned i = 0; i < 2000; i++)
                if (send(fd, packet, sizeof packet, MSG_DONTWAIT) < 0 || (strcmp(way, "udp") == 0 && i == 7))
                        break;
}

static long kib(void)
{
        unsigned long sum = 0;
        for (unsigned i = 0; i < count; i++) {
                unsigned m[MEMINFO_COUNT] = { 0 };
                socklen_t len = sizeof m;
                if (getsockopt(held[i], SOL_SOCKET, MEMINFO, m, &len) == 0)
                        sum += m[RMEM] + m[FORWARD] + m[WMEM_QUEUED] + m[BACKLOG];
        }
        return (long) (sum >> 10);
}

static int one(const char *way)
{
        int fd;
        while (count + 2 < MOST && (fd = strcmp(way, "udp") == 0    ? udp()
                                         : strcmp(way, "unix") == 0 ? local()
                                                                    : tcp()) >= 0)
                fill(way, fd);
        (void) usleep(200000); /* what was sent arrives */
        char line[64];
        int n = snprintf(line, sizeof line, "%u %ld\n", count, kib());
        (void) !write(1, line, (size_t) n);
        (void) usleep(HOLD_US);
        return 0;
}

int main(int argc, char **argv)
{
        for (long i = argc > 2 ? atol(argv[2]) : 1; argc > 1 && i > 0; i--)
                if (fork() == 0)
                        return one(argv[1]);
        while (wait(NULL) > 0)
                ;
        return 0;
}

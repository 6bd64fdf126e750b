/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/effect.c - does one effect and prints what it saw: OK, the errno's name, `empty` (a place
 * of the box's own stands there) or `unset`. Static, so that it runs in a box with no other door. A directory
 * of the test holds a file `canary`: one without it is not the host's. effect read|write|run|own|net|sock|env
 * WHAT      own: copies itself there and runs the copy effect listen PATH                               a
 * Unix and a TCP listener; prints the port, ends with its parent */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { EMPTY = 1 };
static const char *self;

static int try_read(const char *path)
{
        struct stat st;
        char c;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -1;
        if (S_ISDIR(st.st_mode))
                return faccessat(fd, "canary", F_OK, 0) == 0 ? 0 : EMPTY;
        ssize_t n = read(fd, &c, 1);
        return n < 0 ? -1 : n == 0 ? EMPTY : 0;
}

static int try_write(const char *path)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        return fd < 0 ? -1 : 0;
}

static int try_run(const char *path)
{
        char *argv[] = { (char *) path, (char *) "hello", NULL };
        int line[2], why = 0, null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (pipe2(line, O_CLOEXEC) < 0)
                return -1;
        pid_t pid = fork();
        if (pid == 0) {
                for (int i = 0; i < 3; i++)
                        dup2(null, i);
                execvp(path, argv);
                why = errno;
                _exit(write(line[1], &why, sizeof why) < 0);
        }
        close(line[1]);
        if (read(line[0], &why, sizeof why) != sizeof why)
                return 0; /* closed by the exec */
        errno = why;
        return -1;
}

static int try_own(const char *path)
{
        static char bytes[4 << 20];
        int from = open(self, O_RDONLY), to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
        if (from < 0 || to < 0)
                return -1;
        for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0;)
                if (write(to, bytes, (size_t) n) != n)
                        return -1;
        close(to);
        return try_run(path);
}

static int try_net(const char *where)
{
        struct sockaddr_in a = { .sin_family = AF_INET };
        char host[64];
        int port = 0, s = socket(AF_INET, SOCK_STREAM, 0);
        if (s < 0)
                return -1;
        if (sscanf(where, "%63[^:]:%d", host, &port) != 2 || inet_pton(AF_INET, host, &a.sin_addr) != 1)
                abort();
        a.sin_port = htons((uint16_t) port);
        return connect(s, (struct sockaddr *) &a, sizeof a);
}

static int try_sock(const char *path)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        int s = socket(AF_UNIX, SOCK_STREAM, 0);
        if (s < 0)
                return -1;
        (void) snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
        return connect(s, (struct sockaddr *) &a, sizeof a);
}

static int canary(const char *path)
{
        struct sockaddr_un u = { .sun_family = AF_UNIX };
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t n = sizeof a;
        int su = socket(AF_UNIX, SOCK_STREAM, 0), s4 = socket(AF_INET, SOCK_STREAM, 0);
        (void) snprintf(u.sun_path, sizeof u.sun_path, "%s", path);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        alarm(300);
        if (bind(su, (struct sockaddr *) &u, sizeof u) < 0 || chmod(path, 0666) < 0 || listen(su, 64) < 0 ||
            bind(s4, (struct sockaddr *) &a, n) < 0 || listen(s4, 64) < 0 ||
            getsockname(s4, (struct sockaddr *) &a, &n) < 0)
                return 1;
        printf("%d\n", ntohs(a.sin_port));
        fflush(stdout);
        (void) !freopen("/dev/null", "w", stdout);
        for (;;)
                pause();
}

int main(int argc, char **argv)
{
        static const struct {
                const char *word;
                int (*run)(const char *what);
        } tries[] = { { "read", try_read }, { "write", try_write }, { "run", try_run },
                      { "own", try_own },   { "net", try_net },     { "sock", try_sock } };
        self = argv[0];
        if (argc == 2)
                return puts("hello") < 0;
        if (argc != 3)
                return 2;
        if (strcmp(argv[1], "listen") == 0)
                return canary(argv[2]);
        if (strcmp(argv[1], "env") == 0)
                return puts(getenv(argv[2]) ? "OK" : "unset") < 0;
        for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
                if (strcmp(argv[1], tries[i].word) != 0)
                        continue;
                int r = tries[i].run(argv[2]);
                return puts(r < 0 ? strerrorname_np(errno) : r == EMPTY ? "empty" : "OK") < 0;
        }
        return 2;
}

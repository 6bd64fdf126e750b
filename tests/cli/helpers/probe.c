/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/probe.c - what must go on working in a box, and what must be refused beside the attempts
 * of `cordon selftest breakout`: one line per try, NAME OK, or NAME and the errno. Static, so that it runs in
 * a box with no other door. `probe listen` is the canary outside: it listens on loopback and on an abstract
 * socket, prints the ports, and exits with its parent. `probe connect ARGS` is the positive control. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *name, long r)
{
        const char *why = r < 0 ? strerrorname_np(errno) : "OK";
        printf("%s %s\n", name, why ? why : "ERRNO?");
        fflush(stdout);
}

/* In a child: what it does to its process must not touch the next try. */
#define TRY(name, expr)                                                                                      \
        do {                                                                                                 \
                pid_t p_ = fork();                                                                           \
                if (p_ == 0) {                                                                               \
                        errno = 0;                                                                           \
                        say(name, (long) (expr));                                                            \
                        _exit(0);                                                                            \
                }                                                                                            \
                int s_ = 0;                                                                                  \
                if (p_ < 0)                                                                                  \
                        say(name, -1);                                                                       \
                else if (waitpid(p_, &s_, 0) == p_ && WIFSIGNALED(s_))                                       \
                        printf("%s SIG%s\n", name, sigabbrev_np(WTERMSIG(s_)));                              \
                fflush(stdout);                                                                              \
        } while (0)

static long try_open(const char *path, int flags, mode_t mode)
{
        int fd = open(path, flags | O_CLOEXEC, mode);
        if (fd >= 0)
                close(fd);
        return fd;
}

static long try_exec_copy(const char *to)
{
        int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755), self = open("/proc/self/exe", O_RDONLY);
        static char buf[65536];
        if (fd < 0 || self < 0)
                return 0; /* not the refusal that is meant */
        for (ssize_t n; (n = read(self, buf, sizeof buf)) > 0;)
                if (write(fd, buf, (size_t) n) != n)
                        return 0;
        close(fd);
        char *argv[] = { (char *) to, (char *) "hello", NULL };
        return execv(to, argv);
}

static long try_chmod(mode_t mode)
{
        return try_open("/tmp/mode2", O_WRONLY | O_CREAT, 0755) < 0 ? 0 : chmod("/tmp/mode2", mode);
}

static long try_connect4(const char *address, int port, int type)
{
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port) };
        (void) inet_pton(AF_INET, address, &a.sin_addr);
        int fd = socket(AF_INET, type, 0);
        if (fd < 0)
                return -1;
        if (type == SOCK_DGRAM)
                return sendto(fd, "x", 1, 0, (struct sockaddr *) &a, sizeof a);
        alarm(3);
        return connect(fd, (struct sockaddr *) &a, sizeof a);
}

static long try_connect6(int port)
{
        struct sockaddr_in6 a = { .sin6_family = AF_INET6,
                                  .sin6_port = htons((uint16_t) port),
                                  .sin6_addr = IN6ADDR_LOOPBACK_INIT };
        int fd = socket(AF_INET6, SOCK_STREAM, 0);
        if (fd < 0)
                return -1;
        return connect(fd, (struct sockaddr *) &a, sizeof a);
}

static socklen_t abstract(struct sockaddr_un *a, const char *name)
{
        *a = (struct sockaddr_un){ .sun_family = AF_UNIX };
        strncpy(a->sun_path + 1, name, sizeof a->sun_path - 2);
        return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static long try_abstract(const char *name)
{
        struct sockaddr_un a;
        socklen_t n = abstract(&a, name);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        return fd < 0 ? -1 : connect(fd, (struct sockaddr *) &a, n);
}

/* How many interfaces are up: refused when none is. */
static long try_interfaces(void)
{
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        struct ifreq all[64];
        struct ifconf c = { .ifc_len = sizeof all, .ifc_req = all };
        if (fd < 0)
                fd = socket(AF_UNIX, SOCK_DGRAM, 0);
        if (fd < 0)
                return -1;
        struct ifreq lo = { .ifr_name = "lo" };
        if (ioctl(fd, SIOCGIFFLAGS, &lo) == 0 && (lo.ifr_flags & IFF_UP))
                return 0;
        if (ioctl(fd, SIOCGIFCONF, &c) == 0 && c.ifc_len > 0)
                return 0;
        errno = ENODEV;
        return -1;
}

static long raw_clone(unsigned long flags)
{
        long r = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
        if (r == 0)
                _exit(0);
        return r;
}

static long try_clone3(void)
{
        struct clone_args a = { .exit_signal = SIGCHLD };
        long r = syscall(SYS_clone3, &a, sizeof a);
        if (r == 0)
                _exit(0);
        return r;
}

static long try_tiocsti(unsigned long request)
{
        char c = 'x';
        return syscall(SYS_ioctl, 0, request, &c);
}

static void tries(void)
{
        char name[64];
        TRY("clone3", try_clone3());
        TRY("tiocsti", try_tiocsti(TIOCSTI));
        TRY("tiocsti-high", try_tiocsti(TIOCSTI | 1ul << 32));
        TRY("create-/home/x", try_open("/home/x", O_WRONLY | O_CREAT, 0644));
        TRY("chmod-passwd", chmod("/etc/passwd", 0666));
        TRY("unlink-passwd", unlink("/etc/passwd"));
        TRY("exec-tmp", try_exec_copy("/tmp/copy"));
        snprintf(name, sizeof name, "%s/copy", getenv("HOME") ? getenv("HOME") : "/");
        TRY("exec-home", try_exec_copy(name));
        TRY("exec-shm", try_exec_copy("/dev/shm/copy"));
        TRY("interfaces", try_interfaces());
        TRY("connect-outside", try_connect4("192.0.2.1", 80, SOCK_STREAM));
        TRY("udp-outside", try_connect4("192.0.2.1", 53, SOCK_DGRAM));
        TRY("connect-metadata", try_connect4("169.254.169.254", 80, SOCK_STREAM));
        /* what must go on working: a probe that cannot say OK proves nothing */
        TRY("fork", raw_clone(0));
        TRY("write-tmp", try_open("/tmp/ok", O_WRONLY | O_CREAT, 0644));
        snprintf(name, sizeof name, "%s/ok", getenv("HOME") ? getenv("HOME") : "/");
        TRY("write-home", try_open(name, O_WRONLY | O_CREAT, 0644));
        TRY("write-null", try_open("/dev/null", O_WRONLY, 0));
        TRY("mkfifo", mkfifo("/tmp/fifo", 0600));
        TRY("memfd", syscall(SYS_memfd_create, "x", 0x8 /* MFD_NOEXEC_SEAL */));
        TRY("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){ 0 }));
        TRY("map-rwx-anonymous", mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
                                         ? -1
                                         : 0);
        TRY("chmod-755", try_chmod(0700));
        TRY("kill-self", kill(getpid(), 0));
}

static int canary(const char *name)
{
        struct sockaddr_in a4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
        struct sockaddr_un u;
        socklen_t n4 = sizeof a4, n6 = sizeof a6, nu = abstract(&u, name);
        int s4 = socket(AF_INET, SOCK_STREAM, 0), s6 = socket(AF_INET6, SOCK_STREAM, 0),
            su = socket(AF_UNIX, SOCK_STREAM, 0);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        alarm(120);
        if (bind(s4, (struct sockaddr *) &a4, n4) < 0 || listen(s4, 64) < 0 ||
            getsockname(s4, (struct sockaddr *) &a4, &n4) < 0)
                return 1;
        if (bind(s6, (struct sockaddr *) &a6, n6) < 0 || listen(s6, 64) < 0 ||
            getsockname(s6, (struct sockaddr *) &a6, &n6) < 0)
                a6.sin6_port = 0;
        if (bind(su, (struct sockaddr *) &u, nu) < 0 || listen(su, 64) < 0)
                return 1;
        printf("%d %d\n", ntohs(a4.sin_port), ntohs(a6.sin6_port));
        fflush(stdout);
        (void) !freopen("/dev/null", "w", stdout);
        for (;;)
                pause();
}

static void connects(char **v)
{
        TRY("connect-loopback", try_connect4("127.0.0.1", atoi(v[0]), SOCK_STREAM));
        if (atoi(v[1]))
                TRY("connect-loopback6", try_connect6(atoi(v[1])));
        TRY("connect-abstract", try_abstract(v[2]));
}

int main(int argc, char **argv)
{
        if (argc > 2 && strcmp(argv[1], "listen") == 0)
                return canary(argv[2]);
        if (argc > 4 && strcmp(argv[1], "connect") == 0)
                return connects(argv + 2), 0;
        if (argc > 1 && strcmp(argv[1], "hello") == 0)
                return puts("ran OK"), 0;
        tries();
        return 0;
}

/* SPDX-License-Identifier: MIT */
/* evade.c - ways around limits that a plain hog does not try. `evade WAY [NUMBER]`; static, so that a box
 * needs no libraries. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long ms_of(clockid_t clock)
{
        struct timespec t;
        (void) clock_gettime(clock, &t);
        return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A child takes the memory and is killed for it; its parent goes on as if nothing had been. */
static int child_memory(long mib)
{
        if (fork() == 0)
                for (long i = 0; i < mib; i++) {
                        char *p = malloc(1 << 20);
                        if (!p)
                                _exit(3);
                        memset(p, 1, 1 << 20);
                }
        (void) wait(NULL);
        (void) sleep(6);
        (void) puts("went on");
        return 0;
}

/* Tied to one processor by who started it: it takes them all again, with so many processes. */
static int all_cpus(long processes)
{
        cpu_set_t all;
        memset(&all, 0xff, sizeof all);
        if (sched_setaffinity(0, sizeof all, &all) < 0)
                return 3;
        for (long i = 1; i < processes; i++)
                if (fork() == 0)
                        break;
        while (ms_of(CLOCK_PROCESS_CPUTIME_ID) < 10000)
                ;
        return 0;
}

/* Every instance that there is to be had; they stay open until somebody ends it. */
static int inotify_all(long seconds)
{
        long n = 0;
        while (inotify_init1(IN_CLOEXEC) >= 0)
                n++;
        (void) printf("%ld\n", n);
        (void) fflush(stdout);
        (void) sleep((unsigned) seconds);
        return 0;
}

/* One child after the other works so many milliseconds; their ends are ignored, so that nobody gets their
 * time. */
static int lost_children(long ms)
{
        (void) signal(SIGCHLD, SIG_IGN);
        for (long end = ms_of(CLOCK_MONOTONIC) + 15000; ms_of(CLOCK_MONOTONIC) < end;) {
                pid_t child = fork();
                if (child == 0) {
                        while (ms_of(CLOCK_PROCESS_CPUTIME_ID) < ms)
                                ;
                        _exit(0);
                }
                (void) waitpid(child, NULL, 0);
        }
        (void) puts("went on");
        return 0;
}

/* A child in a session of its own writes the time into a file, ten times a second: it is not stopped with its
 * parent. When FILE.go is there, it asks for so many things that are refused. */
static int clockwork(const char *file, long refused)
{
        char go[4096];
        (void) snprintf(go, sizeof go, "%s.go", file);
        if (fork() == 0) {
                (void) setsid();
                for (;;) {
                        int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
                        (void) !write(fd, "x", 1);
                        (void) close(fd);
                        (void) usleep(100000);
                        for (; refused > 0 && access(go, F_OK) == 0; refused--)
                                (void) unshare(CLONE_NEWUSER);
                }
        }
        (void) pause();
        return 0;
}

/* So many sockets hold what they sent to themselves: how many MiB of it were really kept for them? */
static int socket_memory(long sockets)
{
        static char packet[60000];
        int fds[1024];
        long held = 0, n = 0;
        for (; n < sockets && n < 1024; n++) {
                struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
                socklen_t len = sizeof at;
                fds[n] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
                if (fds[n] < 0 || bind(fds[n], (struct sockaddr *) &at, len) < 0 ||
                    getsockname(fds[n], (struct sockaddr *) &at, &len) < 0)
                        break;
                for (int i = 0; i < 4; i++)
                        (void) !sendto(fds[n], packet, sizeof packet, 0, (struct sockaddr *) &at, len);
        }
        for (long i = 0; i < n; i++)
                for (ssize_t k; (k = recv(fds[i], packet, sizeof packet, 0)) > 0;)
                        held += k;
        (void) printf("%ld sockets held %ld MiB\n", n, held >> 20);
        return n < sockets ? 3 : 0;
}

/* Leaves so many behind that go on asking for what is refused, for ten seconds. */
static int ask_on(long processes)
{
        long end = ms_of(CLOCK_MONOTONIC) + 10000;
        for (long i = 0; i < processes; i++)
                if (fork() == 0) {
                        while (ms_of(CLOCK_MONOTONIC) < end)
                                (void) mount("a", "b", "c", 0, NULL);
                        _exit(0);
                }
        (void) usleep(500000);
        return 5;
}

/* Leaves processes behind that make others as fast as they can, for 20 seconds: all in one group, or each in
 * a session of its own. Past libc, which would take locks. */
static int breed_on(long apart)
{
        long end = ms_of(CLOCK_MONOTONIC) + 20000;
        (void) signal(SIGCHLD, SIG_IGN);
        (void) prctl(PR_SET_NAME, "evade-breeds");
        if (fork() == 0) {
                (void) setsid();
                while (ms_of(CLOCK_MONOTONIC) < end)
                        if (syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) == 0 && apart)
                                (void) setsid();
                _exit(0);
        }
        (void) usleep(300000);
        return 5;
}

/* Looks for something that is hidden and makes a call that is refused, after it made others look away. */
static int hidden_refusals(const char *way, long number)
{
        char name[64];
        if (strcmp(way, "hide-by-name") == 0)
                (void) prctl(PR_SET_NAME, "cordon-init");
        for (long i = 0; strcmp(way, "hide-among-paths") == 0 && i < number; i++) {
                (void) snprintf(name, sizeof name, "/etc/there-is-no-%ld", i);
                (void) open(name, O_RDONLY);
        }
        for (long i = 0; strcmp(way, "hide-among-calls") == 0 && i < number; i++)
                (void) unshare(CLONE_NEWUSER);
        if (strcmp(way, "hide-by-hash") ==
            0) /* FNV-1a of it, begun with the kind of the call, is that of the next */
                (void) open("/etc/\010\017(\035\016i|\022c\024k\010\345", O_RDONLY);
        (void) open("/etc/shadow", O_RDONLY);
        (void) setns(1, 0);
        return 0;
}

int main(int argc, char **argv)
{
        const char *way = argc > 1 ? argv[1] : "";
        long number = argc > 2 ? atol(argv[2]) : 0;
        if (strcmp(way, "child-memory") == 0)
                return child_memory(number);
        if (strcmp(way, "all-cpus") == 0)
                return all_cpus(number);
        if (strcmp(way, "inotify") == 0)
                return inotify_all(number);
        if (strcmp(way, "lost-children") == 0)
                return lost_children(number);
        if (strcmp(way, "clockwork") == 0 && argc > 2)
                return clockwork(argv[2], argc > 3 ? atol(argv[3]) : 0);
        if (strcmp(way, "socket-memory") == 0)
                return socket_memory(number);
        if (strcmp(way, "ask-on") == 0)
                return ask_on(number);
        if (strcmp(way, "breed-on") == 0)
                return breed_on(number);
        if (strncmp(way, "hide-", 5) == 0)
                return hidden_refusals(way, number);
        return 2;
}

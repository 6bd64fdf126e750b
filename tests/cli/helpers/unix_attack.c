/* SPDX-License-Identifier: MIT */
/* helpers/unix_attack.c - Unix sockets of a box, from both sides.
 *
 *   unix_attack serve DIR     outside: listens on DIR/stream, DIR/packet, DIR/datagram and an abstract name,
 *                             and writes a line to DIR/../hits for each that is reached
 *   unix_attack attack DIR    inside: tries to reach them every way; one line for each, "ok" or "BROKEN"
 *   unix_attack work DIR      inside: what programs do with sockets of their own; the same lines */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RACES = 12500, EXCHANGE = 2 };

static const char *dir;

static socklen_t address(struct sockaddr_un *a, const char *path)
{
        *a = (struct sockaddr_un){ .sun_family = AF_UNIX };
        (void) snprintf(a->sun_path, sizeof a->sun_path, "%s", path);
        return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + strlen(a->sun_path) + 1);
}

static const char *in_dir(const char *name)
{
        static char at[4][108];
        static unsigned turn;
        char *p = at[turn++ % 4];
        (void) snprintf(p, 108, "%s/%s", dir, name);
        return p;
}

static int listen_at(const char *path, int type, int backlog)
{
        struct sockaddr_un a;
        socklen_t len = address(&a, path);
        int s = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
        if (s < 0 || bind(s, (struct sockaddr *) &a, len) < 0 ||
            (type != SOCK_DGRAM && listen(s, backlog) < 0))
                return -1;
        return s;
}

static int connect_to(int s, const char *path)
{
        struct sockaddr_un a;
        socklen_t len = address(&a, path);
        return connect(s, (struct sockaddr *) &a, len);
}

/* 0 or the error. */
static int try_connect(const char *path, int type)
{
        int s = socket(AF_UNIX, type | SOCK_CLOEXEC, 0), error = 0;
        if (s < 0 || connect_to(s, path) < 0)
                error = errno;
        if (s >= 0)
                (void) close(s);
        return error;
}

static void say(bool ok, const char *what, int error)
{
        printf("%s %s%s%s\n", ok ? "ok" : "BROKEN", what, ok ? "" : ": ", ok ? "" : strerror(error));
        (void) fflush(stdout);
}

static void refused(const char *what, int error)
{
        say(error == EACCES || error == ECONNREFUSED || error == ENOENT || error == ENOTDIR, what, error);
}

static void works(const char *what, int error) { say(error == 0, what, error); }

/* ---- outside ---- */

static int serve(void)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        char hits[4096];
        (void) snprintf(hits, sizeof hits, "%s/../hits", dir);
        (void) snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "%s", dir);
        int name = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct pollfd p[] = { { listen_at(in_dir("stream"), SOCK_STREAM, 4096), POLLIN, 0 },
                              { listen_at(in_dir("packet"), SOCK_SEQPACKET, 64), POLLIN, 0 },
                              { listen_at(in_dir("datagram"), SOCK_DGRAM, 0), POLLIN, 0 },
                              { name, POLLIN, 0 } };
        if (bind(name, (struct sockaddr *) &a, sizeof a) < 0 || listen(name, 8) < 0 || p[0].fd < 0 ||
            p[1].fd < 0 || p[2].fd < 0)
                return 1;
        (void) chmod(in_dir("stream"), 0777);
        (void) chmod(in_dir("packet"), 0777);
        (void) chmod(in_dir("datagram"), 0777);
        printf("%d\n", (int) getpid());
        (void) fflush(stdout);
        for (;;) {
                (void) poll(p, 4, -1);
                for (int i = 0; i < 4; i++) {
                        char byte;
                        if (!(p[i].revents & POLLIN))
                                continue;
                        if (i == 2)
                                (void) !recv(p[i].fd, &byte, 1, MSG_DONTWAIT);
                        else
                                (void) close(accept(p[i].fd, NULL, NULL));
                        int f = open(hits, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
                        (void) !write(f, "hit\n", 4);
                        (void) close(f);
                }
        }
}

/* ---- inside: ways to a socket of the host ---- */

static void attack_names(void)
{
        char path[108];
        int at = open(dir, O_PATH | O_DIRECTORY), sock = open(in_dir("stream"), O_PATH);
        refused("its name", try_connect(in_dir("stream"), SOCK_STREAM));
        refused("packets", try_connect(in_dir("packet"), SOCK_SEQPACKET));
        (void) snprintf(path, sizeof path, "/%s/.//stream", dir);
        refused("another spelling", try_connect(path, SOCK_STREAM));
        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", sock);
        refused("a descriptor of it", try_connect(path, SOCK_STREAM));
        (void) snprintf(path, sizeof path, "/proc/self/fd/%d/stream", at);
        refused("a descriptor of its directory", try_connect(path, SOCK_STREAM));
        (void) snprintf(path, sizeof path, "/dev/fd/%d/stream", at);
        refused("the same through /dev/fd", try_connect(path, SOCK_STREAM));
        (void) snprintf(path, sizeof path, "/proc/thread-self/fd/%d", sock);
        refused("a thread's descriptor", try_connect(path, SOCK_STREAM));
        (void) snprintf(path, sizeof path, "/proc/%d/root%s/stream", getpid(), dir);
        refused("a process's root", try_connect(path, SOCK_STREAM));
        (void) !chdir(dir);
        refused("a relative name", try_connect("stream", SOCK_STREAM));
        refused("a process's directory", try_connect("/proc/self/cwd/stream", SOCK_STREAM));
        (void) !chdir("/");
        (void) !symlink(in_dir("stream"), "/tmp/link");
        refused("a link", try_connect("/tmp/link", SOCK_STREAM));
        refused("the number of init's working directory", try_connect("3", SOCK_STREAM));
        (void) close(at);
        (void) close(sock);
}

static void attack_types(void)
{
        int p[2], raw = socket(AF_UNIX, SOCK_RAW, 0);
        struct sockaddr_un a;
        socklen_t len = address(&a, in_dir("datagram"));
        struct iovec v = { (char[]){ "x" }, 1 };
        struct msghdr m = { .msg_name = &a, .msg_namelen = len, .msg_iov = &v, .msg_iovlen = 1 };
        char byte = 0;
        say(socket(AF_UNIX, SOCK_DGRAM, 0) < 0 && raw < 0, "datagrams", errno);
        say(socketpair(AF_UNIX, SOCK_DGRAM, 0, p) < 0, "a pair of datagram sockets", 0);
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, p) == 0)
                say(sendmsg(p[0], &m, 0) == 1 && recv(p[1], &byte, 1, MSG_DONTWAIT) == 1,
                    "an address with a packet is not looked at", errno);
        (void) close(p[0]);
        (void) close(p[1]);
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0)
                say(sendmsg(p[0], &m, 0) < 0, "an address with a stream", errno);
        (void) close(p[0]);
        (void) close(p[1]);

        int s = socket(AF_UNIX, SOCK_STREAM, 0);
        struct sockaddr_un host = { .sun_family = AF_UNIX };
        (void) snprintf(host.sun_path + 1, sizeof host.sun_path - 1, "%s", dir);
        say(connect(s, (struct sockaddr *) &host, sizeof host) < 0, "an abstract name of the host", 0);
        len = address(&a, in_dir("stream"));
        memset(a.sun_path + strlen(a.sun_path), '/', sizeof a.sun_path - strlen(a.sun_path));
        say(connect(s, (struct sockaddr *) &a, sizeof a) < 0, "a name without an end", 0);
        struct sockaddr_storage large = { .ss_family = AF_UNIX };
        memcpy(&large, &a, len);
        for (unsigned n = 0; n <= sizeof large; n++)
                if (connect(s, (struct sockaddr *) &large, n) == 0)
                        say(false, "an odd length", 0);
        say(connect(s, (struct sockaddr *) &large, (socklen_t) -1) < 0, "no length", 0);
        say(connect(s, NULL, 16) < 0 && errno == EFAULT, "no address", errno);
        say(connect(-1, (struct sockaddr *) &a, len) < 0 && errno == EBADF, "no socket", errno);
        say(connect(1, (struct sockaddr *) &a, len) < 0 && errno == ENOTSOCK, "not a socket", errno);
        (void) close(s);
}

/* Only where the door can be written: the host's socket under names that the box's own had. */
static void attack_renames(void)
{
        int own = listen_at(in_dir("own"), SOCK_STREAM, 8);
        if (own < 0)
                return;
        works("its own socket in the door", try_connect(in_dir("own"), SOCK_STREAM));
        if (link(in_dir("stream"), in_dir("second")) == 0)
                refused("a second name", try_connect(in_dir("second"), SOCK_STREAM));
        (void) unlink(in_dir("second"));
        (void) close(own);
        (void) unlink(in_dir("own"));
        if (link(in_dir("stream"), in_dir("own")) == 0)
                refused("the name that its own had", try_connect(in_dir("own"), SOCK_STREAM));
        (void) unlink(in_dir("own"));
}

/* ---- inside: races ---- */

static volatile bool racing;
static struct sockaddr_un raced;
static char names[2][108];
static int descriptors[2];

static void pause_a_bit(void)
{
        for (volatile int i = 0; i < 200; i++)
                ;
}

static void *rewrite(void *unused)
{
        for (unsigned i = 0; racing; i++) {
                memcpy(raced.sun_path, names[i % 2], sizeof raced.sun_path);
                pause_a_bit();
        }
        return unused;
}

static void *exchange(void *unused)
{
        while (racing)
                (void) syscall(SYS_renameat2, AT_FDCWD, names[0], AT_FDCWD, names[1], EXCHANGE);
        return unused;
}

static void *swap_descriptors(void *unused)
{
        for (unsigned i = 0; racing; i++) {
                (void) dup2(descriptors[i % 2], 90);
                memcpy(raced.sun_path, names[i % 2], sizeof raced.sun_path);
                pause_a_bit();
        }
        return unused;
}

static void *accept_all(void *listener)
{
        for (int s; (s = accept((int) (intptr_t) listener, NULL, NULL)) >= 0;)
                (void) close(s);
        return NULL;
}

/* The lines of the host's server say whether it was reached. */
static void race(const char *what, void *(*other)(void *), bool fixed, bool swapped)
{
        pthread_t t;
        unsigned reached = 0;
        racing = true;
        (void) pthread_create(&t, NULL, other, NULL);
        for (unsigned i = 0; i < RACES; i++) {
                int s = swapped ? 90 : socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
                socklen_t len = (socklen_t) (2 + strlen(names[0]) + 1);
                int r = fixed ? connect_to(s, names[0]) : connect(s, (struct sockaddr *) &raced, len);
                reached += r == 0;
                if (!swapped)
                        (void) close(s);
        }
        racing = false;
        (void) pthread_join(t, NULL);
        say(swapped || reached > 0, what, 0); /* its own was reached: it was a race */
}

static void name_both(const char *own, const char *hosts)
{
        (void) snprintf(names[0], sizeof names[0], "%s", own);
        (void) snprintf(names[1], sizeof names[1], "%s", hosts);
}

static void attack_races(void)
{
        char padded[108];
        pthread_t t;
        int own = listen_at("/tmp/own", SOCK_STREAM, 4096),
            door = listen_at(in_dir("own"), SOCK_STREAM, 4096);
        (void) pthread_create(&t, NULL, accept_all, (void *) (intptr_t) own);
        (void) snprintf(padded, sizeof padded, "/tmp/%*s", (int) strlen(in_dir("stream")) - 5, "own");
        for (char *p = padded; *p; p++)
                *p = *p == ' ' ? '/' : *p;
        raced.sun_family = AF_UNIX;
        name_both(padded, in_dir("stream"));
        race("an address that is rewritten", rewrite, false, false);

        (void) !symlink("/tmp/own", "/tmp/link-own");
        (void) !symlink(in_dir("stream"), "/tmp/link-host");
        name_both("/tmp/link-own", "/tmp/link-host");
        race("a link that is exchanged", exchange, true, false);
        if (door >= 0) {
                (void) pthread_create(&t, NULL, accept_all, (void *) (intptr_t) door);
                name_both(in_dir("own"), in_dir("stream"));
                struct stat before, after;
                (void) stat(names[1], &before);
                race("sockets that are exchanged", exchange, true, false);
                if (stat(names[1], &after) == 0 && after.st_ino != before.st_ino)
                        (void) syscall(SYS_renameat2, AT_FDCWD, names[0], AT_FDCWD, names[1], EXCHANGE);
                (void) unlink(names[0]);
        }

        descriptors[0] = socket(AF_INET, SOCK_DGRAM, 0);
        descriptors[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (descriptors[0] < 0)
                descriptors[0] = open("/dev/null", O_RDONLY);
        name_both("stream", "stream");
        (void) !chdir(dir);
        (void) dup2(descriptors[0], 90);
        race("a descriptor that is exchanged", swap_descriptors, false, true);
        (void) !chdir("/");
}

/* ---- inside: work ---- */

static bool is_alive(void)
{
        int s = listen_at("/tmp/alive", SOCK_STREAM, 4), error = try_connect("/tmp/alive", SOCK_STREAM);
        (void) close(s);
        (void) unlink("/tmp/alive");
        return error == 0;
}

static void on_signal(int s) { (void) s; }

enum how { PLAIN, INTERRUPTED, RESTARTED, TIMED, CLEARED };

static void *clear_flag(void *sock)
{
        while (fcntl((int) (intptr_t) sock, F_SETFL, O_RDWR) == 0)
                ;
        return sock;
}

/* A child that connects to a full backlog: its status is the error. */
static pid_t blocked_child(enum how how)
{
        pid_t pid = fork();
        if (pid != 0)
                return pid;
        int s = socket(AF_UNIX, SOCK_STREAM, 0);
        struct sigaction a = { .sa_handler = on_signal, .sa_flags = how == RESTARTED ? SA_RESTART : 0 };
        struct itimerval every = { { 0, 20000 }, { 0, 20000 } };
        struct timeval most = { 0, 50000 };
        pthread_t t;
        (void) sigaction(SIGALRM, &a, NULL);
        if (how == INTERRUPTED || how == RESTARTED)
                (void) setitimer(ITIMER_REAL, &every, NULL);
        if (how == TIMED)
                (void) setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
        if (how == CLEARED)
                (void) pthread_create(&t, NULL, clear_flag, (void *) (intptr_t) s);
        int error = connect_to(s, "/tmp/full") < 0 ? errno : 0;
        _exit(error == 0 && fcntl(s, F_GETFL) & O_NONBLOCK ? 255 : error);
}

static int status_of(pid_t pid)
{
        int status = 0;
        (void) waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void work_blocking(void)
{
        enum { MANY = 24 };
        int full = listen_at("/tmp/full", SOCK_STREAM, 0), first = socket(AF_UNIX, SOCK_STREAM, 0),
            next = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        works("the first of a backlog", connect_to(first, "/tmp/full") < 0 ? errno : 0);
        say(connect_to(next, "/tmp/full") < 0 && errno == EAGAIN, "a full backlog, without waiting", errno);
        pid_t pid = blocked_child(PLAIN);
        (void) usleep(100000);
        say(is_alive(), "others while one waits", 0);
        (void) close(accept(full, NULL, NULL));
        works("one that waited", status_of(pid));
        say(status_of(blocked_child(INTERRUPTED)) == EINTR, "a signal interrupts", 0);
        say(status_of(blocked_child(TIMED)) == EAGAIN, "its own time is over", 0);
        pid = blocked_child(RESTARTED);
        (void) usleep(100000);
        (void) close(accept(full, NULL, NULL));
        works("a signal restarts", status_of(pid));

        pid_t many[MANY];
        for (int i = 0; i < MANY; i++)
                many[i] = blocked_child(i % 8 ? PLAIN : CLEARED);
        (void) usleep(100000);
        say(is_alive(), "others while many wait, and some make their socket a blocking one", 0);
        for (int i = 0; i < MANY; i++) {
                (void) kill(many[i], SIGKILL);
                (void) status_of(many[i]);
        }
        say(is_alive(), "others when all of them were killed", 0);
        (void) close(full);
}

static void *connect_thread(void *path) { return (void *) (intptr_t) try_connect(path, SOCK_STREAM); }

static void work_plain(void)
{
        char old[] = "/tmp/server";
        void *error;
        pthread_t t;
        struct ucred who;
        socklen_t len = sizeof who;
        int s = listen_at("/tmp/server", SOCK_STREAM, 64), c = socket(AF_UNIX, SOCK_STREAM, 0), p[2];
        works("a server in /tmp", connect_to(c, "/tmp/server") < 0 ? errno : 0);
        int a = accept(s, NULL, NULL);
        say(getsockopt(a, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && who.uid == getuid() &&
                    who.gid == getgid(),
            "who connects has the box's id", errno);
        (void) pthread_create(&t, NULL, connect_thread, old);
        (void) pthread_join(t, &error);
        works("a thread", (int) (intptr_t) error);
        (void) !chdir("/tmp");
        works("a relative name", try_connect("server", SOCK_STREAM));
        (void) close(s);
        say(try_connect("/tmp/server", SOCK_STREAM) == ECONNREFUSED, "a server that is gone", 0);
        say(try_connect("/tmp/none", SOCK_STREAM) == ENOENT, "a server that never was", 0);

        int packets = listen_at("/tmp/packets", SOCK_SEQPACKET, 8);
        works("packets", try_connect("/tmp/packets", SOCK_SEQPACKET));
        say(try_connect("/tmp/packets", SOCK_STREAM) == EPROTOTYPE, "another type", 0);
        (void) close(packets);
        struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "\0own" };
        s = socket(AF_UNIX, SOCK_STREAM, 0);
        c = socket(AF_UNIX, SOCK_STREAM, 0);
        works("an abstract name", bind(s, (struct sockaddr *) &name, 6) < 0 || listen(s, 8) < 0 ||
                                                  connect(c, (struct sockaddr *) &name, 6) < 0
                                          ? errno
                                          : 0);
        works("a pair", socketpair(AF_UNIX, SOCK_STREAM, 0, p) < 0 ? errno : 0);

        char room[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 'x';
        struct iovec v = { &byte, 1 };
        struct msghdr m = {
                .msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room
        };
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        *h = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
                               .cmsg_level = SOL_SOCKET,
                               .cmsg_type = SCM_RIGHTS };
        memcpy(CMSG_DATA(h), &s, sizeof s);
        works("a descriptor is passed on",
              sendmsg(p[0], &m, 0) != 1 || recvmsg(p[1], &m, 0) != 1 || !CMSG_FIRSTHDR(&m) ? errno : 0);
        if (dir && (s = listen_at(in_dir("own"), SOCK_STREAM, 8)) >= 0) {
                works("a server in the door", try_connect(in_dir("own"), SOCK_STREAM));
                (void) unlink(in_dir("own"));
        }
}

/* Where the box has a network, be it its own loopback. */
static int connect_inet(uint16_t port, int flags, int *ret)
{
        struct sockaddr_in a = { .sin_family = AF_INET,
                                 .sin_port = port,
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        *ret = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
        return connect(*ret, (struct sockaddr *) &a, sizeof a) < 0 ? errno : 0;
}

static void *inet_thread(void *port)
{
        int s;
        return (void *) (intptr_t) connect_inet((uint16_t) (intptr_t) port, 0, &s);
}

static void work_inet(void)
{
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t len = sizeof a;
        int s = socket(AF_INET, SOCK_STREAM, 0), c, error = 0;
        if (s < 0 || bind(s, (struct sockaddr *) &a, len) < 0) {
                say(true, "no loopback", 0);
                return;
        }
        (void) getsockname(s, (struct sockaddr *) &a, &len);
        say(connect_inet(a.sin_port, 0, &c) == ECONNREFUSED, "TCP, nobody listens", 0);
        (void) listen(s, 64);
        works("TCP", connect_inet(a.sin_port, 0, &c));
        say((fcntl(c, F_GETFL) & O_NONBLOCK) == 0, "TCP blocks as before", 0);
        void *result;
        pthread_t t;
        (void) pthread_create(&t, NULL, inet_thread, (void *) (intptr_t) a.sin_port);
        (void) pthread_join(t, &result);
        works("TCP, a thread", (int) (intptr_t) result);
        error = connect_inet(a.sin_port, SOCK_NONBLOCK, &c);
        struct pollfd p = { c, POLLOUT, 0 };
        (void) poll(&p, 1, -1);
        len = sizeof error;
        say(error == 0 || error == EINPROGRESS, "TCP, without waiting", error);
        (void) getsockopt(c, SOL_SOCKET, SO_ERROR, &error, &len);
        works("and then it is there", error);
        c = socket(AF_INET, SOCK_DGRAM, 0);
        works("UDP", connect(c, (struct sockaddr *) &a, sizeof a) < 0 ? errno : 0);
        a.sin_family = AF_UNSPEC;
        works("UDP, taken back", connect(c, (struct sockaddr *) &a, sizeof a) < 0 ? errno : 0);
}

int main(int argc, char **argv)
{
        const char *what = argc > 1 ? argv[1] : "";
        dir = argc > 2 ? argv[2] : NULL;
        if (strcmp(what, "serve") == 0 && dir)
                return serve();
        if (strcmp(what, "attack") == 0 && dir) {
                attack_names();
                attack_types();
                attack_renames();
                attack_races();
        } else if (strcmp(what, "work") == 0) {
                work_plain();
                work_blocking();
                work_inet();
        } else {
                return 2;
        }
        printf("end\n");
        return 0;
}

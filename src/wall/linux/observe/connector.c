/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/connector.c - connects the sockets of a box in its place: see connector.h.
 *
 * It has the payload's id and no CAP_DAC_*, so modes of directories and sockets count as they do for the
 * payload. Never: looks at an address twice, lets a connect() go on, waits inside one call. */
#include "wall/linux/observe/connector.h"

#include "base/clock.h"
#include "base/fd.h"
#include "wall/linux/observe/net_links.h"
#include "wall/linux/observe/watched_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>

#ifndef SIOCGSKNS
#define SIOCGSKNS 0x894c /* opens a socket's network namespace; requires CAP_NET_ADMIN over it */
#endif
#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD, Linux 6.9 */
#define RESTARTS        512    /* ERESTARTSYS: with the signal that is due it becomes EINTR or a new call */

enum {
        WAITING_MAX = 256, /* blocking connections at a time */
        TASKS_KEPT = 64,
        AGAIN_MS = 2, /* a full backlog is tried again after this, and after a while less often */
        AGAIN_MAX_MS = 20,
        STUCK_US = 20000, /* a connect() that blocks all the same is interrupted after this */
        SIGNAL_MS = 200   /* a signal that another thread may take is waited for as long */
};

/* One connect() of a task that waits for its answer. */
struct ask {
        uint64_t id;
        uint32_t task;
        int sock;                    /* the task's own */
        int target;                  /* the target of a name; -1: the address itself is the target */
        bool waits;                  /* it is a blocking socket, whose connection may take a while */
        bool local;                  /* AF_UNIX */
        uint64_t since_ns, until_ns; /* until: 0: for ever */
        socklen_t len;
        union {
                struct sockaddr any;
                struct sockaddr_un un;
                char bytes[sizeof(struct sockaddr_un) + 1];
        } to;
};

struct connector {
        const struct wall_init *w;
        int line;
        bool able; /* else nothing is connected, and every call is answered all the same */
        struct targets targets;
        struct {
                uint32_t task;
                int fd;
        } kept[TASKS_KEPT]; /* processes: opening one costs more than all the rest */
        struct ask waiting[WAITING_MAX];
        unsigned waiting_count;
        struct links links;
        struct watched_told told;
        struct wall_untold untold;
};

/* ---- the task that asks ---- */

/* /proc/TASK/status; empty when it is gone. */
struct status {
        char text[4096];
};

static void read_status(const struct connector *c, uint32_t task, struct status *ret)
{
        char name[32];
        (void) snprintf(name, sizeof name, "%u/status", task);
        if (fd_get(c->w->tasks, name, ret->text, sizeof ret->text) < 0)
                ret->text[0] = '\0';
}

static uint64_t number_of(const struct status *s, const char *key, int base)
{
        const char *at = strstr(s->text, key);
        return at ? strtoull(at + strlen(key), NULL, base) : 0;
}

/* Linux before 6.9 opens only the first thread of a process. */
static int open_task(uint32_t task)
{
        int fd = (int) syscall(SYS_pidfd_open, task, PIDFD_OF_THREAD);
        return fd < 0 && errno == EINVAL ? (int) syscall(SYS_pidfd_open, task, 0) : fd;
}

/* There a thread's descriptors are those of the first one. Not kept: the thread's number may become another
 * process's while the first one lives. */
static int take_from_first(const struct connector *c, uint32_t task, int fd)
{
        struct status s;
        read_status(c, task, &s);
        AUTO_FD(first, (int) syscall(SYS_pidfd_open, (pid_t) number_of(&s, "\nTgid:", 10), 0));
        return first < 0 ? -1 : (int) syscall(SYS_pidfd_getfd, first, fd, 0);
}

/* Returns a descriptor of that task. A cached process that is gone (its pid was reused) gives ESRCH. */
static int take_from(struct connector *c, uint32_t task, int fd)
{
        unsigned i = task % TASKS_KEPT;
        if (c->kept[i].task == task) {
                int got = (int) syscall(SYS_pidfd_getfd, c->kept[i].fd, fd, 0);
                if (got >= 0 || errno != ESRCH)
                        return got;
        }

        if (c->kept[i].task)
                fd_close(&c->kept[i].fd);

        c->kept[i].task = 0;
        c->kept[i].fd = open_task(task);
        if (c->kept[i].fd < 0)
                return take_from_first(c, task, fd);

        c->kept[i].task = task;
        return (int) syscall(SYS_pidfd_getfd, c->kept[i].fd, fd, 0);
}

/* ---- names ---- */

/* "/proc/self/fd/N/rest" and "/dev/fd/N/rest" are of the task's own descriptors, not of ours. */
static const char *names_descriptor(const char *path, int *ret)
{
        static const char *const places[] = { "/proc/self/fd/", "/dev/fd/" };
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                const char *at = path + strlen(places[i]);
                char *end;
                if (strncmp(path, places[i], strlen(places[i])) != 0 || *at < '0' || *at > '9')
                        continue;
                unsigned long n = strtoul(at, &end, 10);
                *ret = n < 1u << 30 ? (int) n : -1;
                return *end == '\0' || *end == '/' ? end : NULL;
        }

        return NULL;
}

static int open_below(int dir, const char *path)
{
        return fd_open2(dir, path, O_PATH, RESOLVE_NO_MAGICLINKS);
}

/* Resolves the name of an address for that task. Its root is ours: no process in a box can change that. Other
 * magic links of /proc would resolve to ours, and are denied. */
static int open_target(struct connector *c, const struct ask *a)
{
        char name[32];
        int number = -1;
        const char *path = a->to.un.sun_path, *rest = names_descriptor(path, &number);

        if (rest) {
                AUTO_FD(from, take_from(c, a->task, number));
                rest += strspn(rest, "/");
                return from < 0 || *rest == '\0' ? TAKE_FD(from) : open_below(from, rest);
        }

        if (*path == '/')
                return open_below(AT_FDCWD, path);

        (void) snprintf(name, sizeof name, "%u/cwd", a->task);
        AUTO_FD(from, openat(c->w->tasks, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
        return from < 0 ? -1 : open_below(from, path);
}

static void report_denial(struct connector *c, struct wall_message *m, uint32_t task)
{
        watched_program(c->w->tasks, task, m->denial.program, sizeof m->denial.program);
        wall_offer_denial(c->w->control, m, watched_news(&c->told, m), &c->untold);
}

/* A socket that the box sees and may not reach is reported by the name that the kernel knows; one that it
 * does not see, by the name that was requested. */
static void tell_refused(struct connector *c, const struct seccomp_notif *n, int found)
{
        struct wall_message m = { .word = WALL_SAYS_DENIED };
        char name[16];
        if (!c->w->s->tell || watched_call(c->w->tasks, n->pid, &n->data, false, &m.denial) == SAW_NOTHING)
                return;

        (void) snprintf(name, sizeof name, "%d", found);
        ssize_t len = found < 0 ? 0 : readlink(name, m.denial.path, sizeof m.denial.path - 1);
        if (len > 0)
                m.denial.path[len] = '\0';

        m.denial.inside = len > 0;
        report_denial(c, &m, n->pid);
}

/* 0, or the error to answer with. */
static int find_target(struct connector *c, struct ask *a, const struct seccomp_notif *n)
{
        AUTO_FD(found, open_target(c, a));
        if (found < 0) {
                int error = errno == EBADF ? ENOENT : errno;
                if (error == ENOENT || error == ENOTDIR)
                        tell_refused(c, n, -1);
                return error == ELOOP || error == EXDEV ? EACCES : error;
        }

        a->target = targets_judge(&c->targets, fcntl(found, F_DUPFD_CLOEXEC, 0));
        if (a->target >= 0)
                return 0;

        int error = errno;
        if (error == EACCES)
                tell_refused(c, n, found);

        return error;
}

/* ---- connecting ---- */

static void interrupted(int signal) { (void) signal; }

/* The payload shares the socket and can make it a blocking one at any time. */
static void watch_over(bool on)
{
        const struct itimerval every = { { 0, on ? STUCK_US : 0 }, { 0, on ? STUCK_US : 0 } };
        (void) setitimer(ITIMER_REAL, &every, NULL);
}

/* Our working directory is /proc/self/fd: the relative name leads to the checked descriptor, and through no
 * other directory. */
static int connect_now(struct ask *a)
{
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        if (a->target < 0)
                return connect(a->sock, &a->to.any, a->len) < 0 ? errno : 0;
        int n = snprintf(at.sun_path, sizeof at.sun_path, "%d", a->target);
        socklen_t len = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + (size_t) n + 1);
        return connect(a->sock, (struct sockaddr *) &at, len) < 0 ? errno : 0;
}

/* Returns 0 or an error; EAGAIN and EINPROGRESS if a blocking socket has to wait on. */
static int attempt_connect(struct ask *a)
{
        int flags = fcntl(a->sock, F_GETFL);
        bool flips = a->waits && flags >= 0 && !(flags & O_NONBLOCK);
        if (flips)
                (void) fcntl(a->sock, F_SETFL, flags | O_NONBLOCK);

        watch_over(true);
        int error = connect_now(a);
        watch_over(false);
        if (flips)
                (void) fcntl(a->sock, F_SETFL, flags);

        if (a->waits && (error == EINTR || error == EALREADY))
                return a->local ? EAGAIN : EINPROGRESS;

        return error;
}

static bool must_wait(const struct ask *a, int error)
{
        return a->waits && error == (a->local ? EAGAIN : EINPROGRESS);
}

static int option_of(int sock, int option)
{
        int value = -1;
        socklen_t len = sizeof value;
        return getsockopt(sock, SOL_SOCKET, option, &value, &len) < 0 ? -1 : value;
}

static uint64_t timeout_ns(int sock)
{
        struct timeval t = { 0, 0 };
        socklen_t len = sizeof t;
        (void) getsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &t, &len);
        return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_usec * 1000u;
}

/* SAFETY: an abstract name is reached through the socket's own network namespace. The connector is outside of
 * the payload's Landlock domain, which keeps sockets that a program of the host passed in from that network.
 */
static bool is_of_box(int sock)
{
        AUTO_FD(network, ioctl(sock, SIOCGSKNS));
        return network >= 0;
}

/* Takes the one copy of the address, and the properties of the socket. Returns 0 or an error. */
static int read_ask(struct ask *a, const struct seccomp_notif *n)
{
        int family = option_of(a->sock, SO_DOMAIN), flags = fcntl(a->sock, F_GETFL);
        if (family < 0)
                return ENOTSOCK;

        if (family != AF_UNIX && family != AF_INET && family != AF_INET6)
                return EACCES;

        a->local = family == AF_UNIX;
        a->waits = !(flags & O_NONBLOCK) && option_of(a->sock, SO_TYPE) != SOCK_DGRAM;

        a->len = (socklen_t) n->data.args[2];
        if (a->len > sizeof a->to.un)
                return EINVAL;

        struct iovec to = { a->to.bytes, a->len };
        struct iovec from = { (void *) (uintptr_t) n->data.args[1], a->len };
        if (process_vm_readv((pid_t) a->task, &to, 1, &from, 1, 0) != (ssize_t) a->len)
                return EFAULT;

        return 0;
}

static int check_connect(struct connector *c, struct ask *a, const struct seccomp_notif *n)
{
        int error = read_ask(a, n);
        if (error)
                return error;

        bool named = a->local && a->to.any.sa_family == AF_UNIX && a->to.un.sun_path[0] != '\0';
        if (named)
                return find_target(c, a, n);

        return is_of_box(a->sock) ? 0 : EACCES;
}

static void let_go(struct ask *a)
{
        fd_close(&a->sock);
        fd_close(&a->target);
}

static void wait_on(struct connector *c, struct ask *a, int error)
{
        if (c->waiting_count == WAITING_MAX) {
                watched_answer(c->w->listener, a->id, error, 0);
                let_go(a);
                return;
        }

        uint64_t most = timeout_ns(a->sock);
        a->since_ns = clock_mono_ns();
        a->until_ns = most ? a->since_ns + most : 0;
        c->waiting[c->waiting_count++] = *a;
}

/* ID_VALID comes last: until then all that was read may have been another task's. */
static void serve_connect(struct connector *c, const struct seccomp_notif *n)
{
        struct ask a = { .id = n->id, .task = n->pid, .sock = -1, .target = -1 };
        a.sock = take_from(c, n->pid, (int) n->data.args[0]);
        int error = !c->able         ? EACCES
                    : a.sock >= 0    ? check_connect(c, &a, n)
                    : errno == EPERM ? EPERM
                                     : EBADF;
        if (!error && watched_is_waiting(c->w->listener, a.id)) {
                error = attempt_connect(&a);
                if (error == EINPROGRESS && must_wait(&a, error))
                        error = attempt_connect(&a); /* to ourselves: it is there by now */
                if (must_wait(&a, error)) {
                        wait_on(c, &a, error);
                        return;
                }
        }

        watched_answer(c->w->listener, a.id, error, 0);
        let_go(&a);
}

/* Whatever the descriptor is by then: listen() is never denied. */
static void serve_listen(struct connector *c, const struct seccomp_notif *n)
{
        AUTO_FD(sock, take_from(c, n->pid, (int) n->data.args[0]));
        if (sock >= 0 && option_of(sock, SO_DOMAIN) == AF_UNIX)
                targets_listen(&c->targets, sock);
        watched_answer(c->w->listener, n->id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

static void serve_link(struct connector *c, const struct seccomp_notif *n)
{
        AUTO_FD(sock, take_from(c, n->pid, (int) n->data.args[0]));
        links_serve(&c->links, c->w->listener, n, sock);
}

static void serve_watch(struct connector *c, const struct seccomp_notif *n)
{
        struct wall_message m = { .word = WALL_SAYS_DENIED,
                                  .denial = {
                                          .call = n->data, .kind = EFFECT_READ, .reason = REASON_WATCH } };
        int id = wall_inotify_add(c->w, n, m.denial.path, sizeof m.denial.path);
        if (id == -EACCES && c->w->s->tell && m.denial.path[0] == '/')
                report_denial(c, &m, n->pid);

        struct seccomp_notif_resp r = { .id = n->id, .val = id < 0 ? 0 : id, .error = id < 0 ? id : 0 };
        (void) syscall(SYS_ioctl, c->w->listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

/* ---- waiting ---- */

/* Once we have a call, only a fatal signal takes its task out of it. Returns 0, or the error that ends the
 * call: for a signal that this thread takes for certain, or for one that another thread may take. */
static int interrupts_ask(const struct connector *c, const struct ask *a)
{
        struct status s;
        read_status(c, a->task, &s);
        uint64_t open = ~number_of(&s, "\nSigBlk:", 16);
        bool own = number_of(&s, "\nSigPnd:", 16) & open, shared = number_of(&s, "\nShdPnd:", 16) & open;
        if (own || (shared && number_of(&s, "\nThreads:", 10) == 1))
                return RESTARTS;

        return shared && clock_mono_ns() - a->since_ns > SIGNAL_MS * 1000000ull ? EINTR : 0;
}

/* True: it is over. */
static bool go_on(const struct connector *c, struct ask *a, bool ready)
{
        if (!watched_is_waiting(c->w->listener, a->id))
                return true;

        int error = a->local || ready ? attempt_connect(a) : EINPROGRESS;
        if (must_wait(a, error) && !(a->until_ns && clock_mono_ns() >= a->until_ns)) {
                error = interrupts_ask(c, a);
                if (!error)
                        return false;
        }

        watched_answer(c->w->listener, a->id, error, 0);
        return true;
}

static void go_on_all(struct connector *c, const struct pollfd *p)
{
        unsigned kept = 0;
        for (unsigned i = 0; i < c->waiting_count; i++) {
                if (go_on(c, &c->waiting[i], p[i].revents != 0))
                        let_go(&c->waiting[i]);
                else
                        c->waiting[kept++] = c->waiting[i];
        }

        c->waiting_count = kept;
}

static int again_ms(const struct connector *c)
{
        uint64_t now = clock_mono_ns();
        int ms = AGAIN_MAX_MS;
        for (unsigned i = 0; i < c->waiting_count; i++)
                if (now - c->waiting[i].since_ns < 100000000u)
                        ms = AGAIN_MS;
        return ms;
}

/* False: init is gone. */
static bool serve_next(struct connector *c)
{
        struct seccomp_notif n;
        ssize_t got = read(c->line, &n, sizeof n);
        if (got != sizeof n)
                return got < 0 && errno == EINTR;

        if (!watched_is_waiting(c->w->listener, n.id))
                return true; /* its task was ended meanwhile */

        enum seccomp_link link = seccomp_link(&n.data);
        if (link == LINK_MAKES)
                links_make(&c->links, c->w->listener, &n);
        else if (link)
                serve_link(c, &n);
        else if (seccomp_on_behalf(&n.data))
                serve_watch(c, &n);
        else if (watched_kind(&n.data) == EFFECT_SOCK)
                serve_connect(c, &n);
        else
                serve_listen(c, &n);

        return true;
}

static bool step_connector(struct connector *c)
{
        static struct pollfd p[1 + WAITING_MAX + LINKS_MAX];
        unsigned count = c->waiting_count, links = links_watch(&c->links, p + 1 + count);
        if (count + links == 0)
                return serve_next(c);

        p[0] = (struct pollfd){ .fd = c->line, .events = POLLIN };
        for (unsigned i = 0; i < count; i++)
                p[1 + i] = (struct pollfd){ .fd = c->waiting[i].local ? -1 : c->waiting[i].sock,
                                            .events = POLLOUT };

        if (poll(p, 1 + count + links, count ? again_ms(c) : -1) < 0)
                return errno == EINTR;

        links_hear(&c->links, p + 1 + count, links);
        go_on_all(c, p + 1);
        return !p[0].revents || serve_next(c);
}

/* ---- its life ---- */

_Noreturn static void serve_connects(struct connector *c)
{
        const struct wall_init *w = c->w;
        struct sigaction wake = { .sa_handler = interrupted };
        sigset_t timer;
        (void) prctl(PR_SET_NAME, "cordon-connect", 0, 0, 0);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (w->observer_knows)
                atomic_store(&w->observer_knows->connector, getpid());

        (void) sigemptyset(&timer);
        (void) sigaddset(&timer, SIGALRM);
        AUTO_FD(own, openat(c->w->tasks, "self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC));
        c->able = own >= 0 && fchdir(own) == 0 && sigaction(SIGALRM, &wake, NULL) == 0 &&
                  sigprocmask(SIG_UNBLOCK, &timer, NULL) == 0 &&
                  wall_powers_keep(1u << CAP_SYS_PTRACE | 1u << CAP_NET_ADMIN) == 0;
        targets_begin(&c->targets, w);
        while (step_connector(c))
                ;

        _exit(0);
}

/* When it is first needed: most boxes never do. */
static bool begin_connector(struct wall_init *w)
{
        static struct connector c;
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0)
                return false;

        AUTO_FD(line, ends[0]);
        AUTO_FD(calls, ends[1]);
        if (fcntl(calls, F_SETFL, O_NONBLOCK) < 0) /* init never waits for it */
                return false;

        pid_t pid = (pid_t) syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (pid == 0) {
                fd_close(&calls);
                c.w = w;
                c.line = line;
                serve_connects(&c);
        }

        if (pid < 0)
                return false;

        w->connector = pid;
        w->calls = TAKE_FD(calls);
        return true;
}

bool connector_take(struct wall_init *w, const struct seccomp_notif *n)
{
        return (w->connector || begin_connector(w)) && write(w->calls, n, sizeof *n) == sizeof *n;
}

/* As long as there is no such socket, all but the first call are about others. */
bool connector_link(struct wall_init *w, const struct seccomp_notif *n, struct seccomp_notif_resp *ret_answer)
{
        bool makes = seccomp_link(&n->data) == LINK_MAKES;
        w->linked |= makes;
        if (w->linked && connector_take(w, n))
                return true;

        ret_answer->error = makes ? -EOPNOTSUPP : 0;
        ret_answer->flags = makes ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        return false;
}

void connector_ended(struct wall_init *w, pid_t pid)
{
        if (pid != w->connector)
                return;
        w->connector = 0;
        fd_close(&w->calls);
}

/* SPDX-License-Identifier: MIT */
/* selftest/canary.c - the host's side of the probes: a directory, sockets, a queue, shared memory, open
 * descriptors and a bystander, all harmless, all removed at the end, and all checked before that. */
#include "base/fd.h"
#include "base/hash.h"
#include "selftest/breakout.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char secret_text[] = "cordon canary: nothing in a box reads this\n";
static const char *const names[] = { "secret", "long",    "spare",  "link",
                                     "fifo",   "program", "socket", "datagrams" };
/* A secret in the caller's environment under the names that are looked for first. */
static const char *const variables[] = { "CORDON_CANARY_TOKEN", "CORDON_CANARY_SECRET_ACCESS_KEY" };

static const char *canary_path(const struct canary *c, const char *name)
{
        static char path[320];
        (void) snprintf(path, sizeof path, "%s/%s", c->world.dir, name);
        return path;
}

static int make_one(const struct canary *c, const char *name, const void *data, size_t n, mode_t mode)
{
        AUTO_FD(fd, open(canary_path(c, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        return fd < 0 || fd_write_all(fd, data, n) < 0 || fchmod(fd, mode) < 0 ? -1 : 0;
}

/* A home with one thing of each kind that the probes look for. */
static const char *const treasures[] = { "home/.gnupg",       "home/.vault-token", "home/.netrc",
                                         "home/.claude.json", "home/.thunderbird", "home/.bash_history" };

static int make_home(const struct canary *c)
{
        if (mkdir(canary_path(c, "home"), 0755) < 0)
                return -1;
        for (size_t i = 0; i < sizeof treasures / sizeof *treasures; i++)
                if (make_one(c, treasures[i], secret_text, sizeof secret_text - 1, 0644) < 0)
                        return -1;
        return 0;
}

static int make_directory(struct canary *c)
{
        unsigned char program[256];
        static const char zeroes[4096];
        if (mkdir(c->world.dir, 0700) < 0)
                return c->world.dir[0] = '\0', -1;

        if (chmod(c->world.dir, 0755) < 0) /* open to all: the wall must hold, not a mode */
                return -1;

        size_t n = probe_tiny_program(program, sizeof program);
        if (make_one(c, "secret", secret_text, sizeof secret_text - 1, 0644) < 0 ||
            make_one(c, "long", zeroes, sizeof zeroes, 0644) < 0 || make_one(c, "spare", "", 0, 0644) < 0 ||
            make_home(c) < 0 || make_one(c, "program", program, n, 0755) < 0)
                return -1;

        if (symlink("secret", canary_path(c, "link")) < 0 || mkfifo(canary_path(c, "fifo"), 0600) < 0 ||
            chmod(canary_path(c, "fifo"), 0666) < 0)
                return -1;

        c->fifo = open(canary_path(c, "fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        return stat(canary_path(c, "secret"), &c->before);
}

static int listen_at(int type, const struct sockaddr_un *a, socklen_t n)
{
        AUTO_FD(fd, socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (fd < 0 || bind(fd, (const struct sockaddr *) a, n) < 0 ||
            (type == SOCK_STREAM && listen(fd, 8) < 0))
                return -1;
        return TAKE_FD(fd);
}

static int listen_path(const struct canary *c, const char *name, int type)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        if (strlen(canary_path(c, name)) >= sizeof a.sun_path)
                return -1;

        memcpy(a.sun_path, canary_path(c, name), strlen(canary_path(c, name)) + 1);
        int fd = listen_at(type, &a, sizeof a);
        if (fd >= 0)
                (void) chmod(canary_path(c, name), 0777);

        return fd;
}

static int listen_inet(int type, int64_t *ret_port)
{
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
        socklen_t n = sizeof a;
        AUTO_FD(fd, socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (fd < 0 || bind(fd, (struct sockaddr *) &a, sizeof a) < 0 ||
            (type == SOCK_STREAM && listen(fd, 8) < 0) || getsockname(fd, (struct sockaddr *) &a, &n) < 0)
                return -1;

        *ret_port = ntohs(a.sin_port);
        return TAKE_FD(fd);
}

static void make_sockets(struct canary *c)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        size_t n = strlen(c->world.abstract);
        memcpy(a.sun_path + 1, c->world.abstract, n);
        c->abstract =
                listen_at(SOCK_STREAM, &a, (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + n));
        c->path = listen_path(c, "socket", SOCK_STREAM);
        c->datagrams = listen_path(c, "datagrams", SOCK_DGRAM);
        c->tcp = listen_inet(SOCK_STREAM, &c->world.port);
        c->udp = listen_inet(SOCK_DGRAM, &c->world.udp);
}

static void make_ipc(struct canary *c)
{
        c->shm = shmget((key_t) c->world.key, 4096, IPC_CREAT | IPC_EXCL | 0666);
        c->msg = msgget((key_t) c->world.key, IPC_CREAT | IPC_EXCL | 0666);
        c->sem = semget((key_t) c->world.key, 1, IPC_CREAT | IPC_EXCL | 0666);
        struct mq_attr a = { .mq_maxmsg = 1, .mq_msgsize = 8 };
        mqd_t q = mq_open(c->world.queue, O_CREAT | O_EXCL | O_RDWR, 0666, &a);
        if (q == (mqd_t) -1) {
                c->world.queue[0] = '\0';
                return;
        }

        (void) mq_close(q);
        AUTO_FD(fd, shm_open(c->world.queue, O_CREAT | O_EXCL | O_RDWR, 0666));
}

/* Left open on purpose, as a careless caller would, without O_CLOEXEC. */
static void leave_open(struct canary *c)
{
        int pair[2] = { -1, -1 };
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
                return;

        int from[CANARY_FDS] = { open(canary_path(c, "secret"), O_RDONLY),
                                 open(c->world.dir, O_RDONLY | O_DIRECTORY), pair[0], pair[1] };
        for (int i = 0; i < CANARY_FDS; i++) {
                c->fds[i] = from[i] < 0 ? -1 : dup2(from[i], CANARY_FD_FIRST + i);
                if (from[i] >= 0)
                        (void) close(from[i]);
        }

        c->world.leaked = CANARY_FD_FIRST;
}

/* Counts every signal it gets that can be caught, until it is ended. */
_Noreturn static void stand_by(int bell, pid_t parent)
{
        sigset_t all;
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != parent)
                _exit(1); /* it was killed before that: no process would end us */

        (void) sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, NULL);
        for (;;) {
                siginfo_t si;
                if (sigwaitinfo(&all, &si) > 0)
                        (void) !write(bell, "!", 1);
        }
}

static void make_bystander(struct canary *c)
{
        int bell[2];
        if (pipe2(bell, O_CLOEXEC | O_NONBLOCK) < 0)
                return;

        pid_t parent = getpid();
        c->bystander = fork();
        if (c->bystander == 0)
                stand_by(bell[1], parent);

        (void) close(bell[1]);
        c->bell = bell[0];
        c->world.bystander = c->bystander;
}

static void hash_self(const char *path, char ret_hex[65])
{
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC));
        struct stat st;
        ret_hex[0] = '\0';
        if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0)
                return;

        void *p = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED)
                return;

        sha256_hex(span_of(p, (size_t) st.st_size), ret_hex);
        (void) munmap(p, (size_t) st.st_size);
}

static const char *const knob_paths[] = { "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname" };

static void know_caller(struct canary *c, uint32_t mark)
{
        const char *home = getenv("HOME");
        (void) snprintf(c->world.home, sizeof c->world.home, "%s", home && home[0] == '/' ? home : "");
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        if (runtime && runtime[0] == '/')
                (void) snprintf(c->world.resident, sizeof c->world.resident, "%s/cordon/serve.sock", runtime);
        else
                (void) snprintf(c->world.resident, sizeof c->world.resident, "/run/user/%u/cordon/serve.sock",
                                getuid());

        struct stat st;
        if (!getcwd(c->world.cwd, sizeof c->world.cwd) || stat(".", &st) < 0)
                c->world.cwd[0] = '\0';
        else
                c->world.cwd_inode = (int64_t) st.st_ino;

        (void) gethostname(c->world.hostname, sizeof c->world.hostname - 1);
        (void) snprintf(c->world.token, sizeof c->world.token, "canary-%08x%08x", mark, mark ^ 0x5bd1e995);
        for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
                (void) setenv(variables[i], c->world.token, 1);

        for (size_t i = 0; i < sizeof knob_paths / sizeof *knob_paths; i++)
                if (fd_get(AT_FDCWD, knob_paths[i], c->knobs[i], sizeof c->knobs[i]) < 0)
                        c->knobs[i][0] = '\0';

        c->world.core_pipe = c->knobs[0][0] == '|'   ? PROBE_CORE_PROGRAM
                             : c->knobs[0][0] == '@' ? PROBE_CORE_SOCKET
                                                     : PROBE_CORE_FILE;
        c->world.keeper = getpid();
        hash_self(c->world.self, c->digest);
}

/* ---- the end ---- */

/* Removes them by name alone: the caller need not have created them. */
static void remove_all(const struct canary *c)
{
        key_t key = (key_t) c->world.key;
        (void) shmctl(shmget(key, 0, 0), IPC_RMID, NULL);
        (void) msgctl(msgget(key, 0), IPC_RMID, NULL);
        (void) semctl(semget(key, 0, 0), 0, IPC_RMID);
        if (c->world.queue[0]) {
                (void) mq_unlink(c->world.queue);
                (void) shm_unlink(c->world.queue);
        }

        if (!c->world.dir[0])
                return;

        for (size_t i = 0; i < sizeof treasures / sizeof *treasures; i++)
                (void) unlink(canary_path(c, treasures[i]));

        (void) rmdir(canary_path(c, "home"));
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                (void) unlink(canary_path(c, names[i]));

        (void) rmdir(c->world.dir);
}

/* All names are chosen before anything is created: a sweeper that is forked in between can remove everything,
 * whenever we are killed. */
static void choose_names(struct canary *c, uint32_t mark)
{
        const char *tmp = getenv("TMPDIR");
        struct probe_world *w = &c->world;
        w->key = (int64_t) (mark & 0x7fffffff) | 1;
        (void) snprintf(w->dir, sizeof w->dir, "%s/cordon-breakout.%08x", tmp && tmp[0] == '/' ? tmp : "/tmp",
                        mark);
        (void) snprintf(w->abstract, sizeof w->abstract, "cordon-breakout-%08x", mark);
        (void) snprintf(w->queue, sizeof w->queue, "/cordon-breakout-%08x", mark);
}

_Noreturn static void sweep_canary(const struct canary *c, int maker)
{
        struct pollfd gone = { .fd = dup2(maker, 0), .events = POLLIN };
        (void) syscall(SYS_close_range, 1u, ~0u, 0u); /* the reader of our output no longer waits for us */
        (void) setsid();
        (void) prctl(PR_SET_NAME, "cordon-sweeper");
        while (poll(&gone, 1, -1) < 0 && errno == EINTR)
                ;

        remove_all(c);
        _exit(0);
}

static int start_sweeper(struct canary *c)
{
        AUTO_FD(maker, (int) syscall(SYS_pidfd_open, getpid(), 0));
        sigset_t all, before;
        if (maker < 0)
                return -1;

        (void) sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, &before); /* signals of a terminal to its jobs do not end it */
        c->sweeper = fork();
        if (c->sweeper == 0)
                sweep_canary(c, maker);

        (void) sigprocmask(SIG_SETMASK, &before, NULL);
        return c->sweeper < 0 ? -1 : 0;
}

static void end_child(pid_t pid)
{
        if (pid <= 0)
                return;
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
}

void canary_end(struct canary *c)
{
        if (c->maker != getpid())
                return;

        c->maker = 0;
        end_child(c->bystander);
        remove_all(c);
        end_child(c->sweeper); /* last: it is there for the case that we do not come this far */
        int *const open_now[] = { &c->abstract, &c->path,   &c->datagrams, &c->tcp,    &c->udp,   &c->fifo,
                                  &c->bell,     &c->fds[0], &c->fds[1],    &c->fds[2], &c->fds[3] };
        for (size_t i = 0; i < sizeof open_now / sizeof *open_now; i++)
                fd_close(open_now[i]);
}

int canary_make(struct canary *c)
{
        uint32_t mark = 0;
        *c = (struct canary){ .abstract = -1,
                              .path = -1,
                              .datagrams = -1,
                              .tcp = -1,
                              .udp = -1,
                              .fifo = -1,
                              .bell = -1,
                              .shm = -1,
                              .msg = -1,
                              .sem = -1,
                              .fds = { -1, -1, -1, -1 },
                              .maker = getpid() };
        if (getrandom(&mark, sizeof mark, 0) < 0)
                return -1;

        ssize_t n = readlink("/proc/self/exe", c->world.self, sizeof c->world.self - 1);
        choose_names(c, mark);
        if (n <= 0 || start_sweeper(c) < 0 || make_directory(c) < 0)
                return -1;

        know_caller(c, mark);
        make_sockets(c);
        make_ipc(c);
        make_bystander(c); /* before descriptors are left open: it needs none */
        leave_open(c);
        AUTO_FD(held, open(canary_path(c, "secret"), O_RDONLY | O_CLOEXEC));
        return held < 0 ? -1 : 0;
}

/* ---- afterwards ---- */

static const char *secret_changed(struct canary *c)
{
        char text[128];
        struct stat now;
        ssize_t n = fd_get(AT_FDCWD, canary_path(c, "secret"), text, sizeof text);
        if (n < 0 || strncmp(text, secret_text, sizeof secret_text - 2) != 0 ||
            stat(canary_path(c, "secret"), &now) < 0)
                return "the canary file is gone or has other bytes";

        if (now.st_mode != c->before.st_mode || now.st_uid != c->before.st_uid ||
            now.st_nlink != c->before.st_nlink)
                return "the canary file has another mode, owner or link";

        return NULL;
}

static const char *directory_changed(struct canary *c)
{
        struct stat st;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (lstat(canary_path(c, names[i]), &st) < 0 && !(c->path < 0 && i >= 6))
                        return "something in the canary directory is gone";

        return stat(c->world.dir, &st) == 0 && (st.st_mode & 07777) == 0755
                       ? NULL
                       : "the canary directory has another mode";
}

static const char *was_called(struct canary *c)
{
        const int streams[] = { c->abstract, c->path, c->tcp };
        char byte;
        for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
                AUTO_FD(fd, streams[i] < 0 ? -1 : accept(streams[i], NULL, NULL));
                if (fd >= 0)
                        return "a listening canary was connected to";
        }

        if (c->udp >= 0 && recv(c->udp, &byte, 1, MSG_DONTWAIT) >= 0)
                return "the canary UDP port got a datagram";

        if (c->datagrams >= 0 && recv(c->datagrams, &byte, 1, MSG_DONTWAIT) >= 0)
                return "the canary datagram socket got a datagram";

        if (c->fifo >= 0 && read(c->fifo, &byte, 1) > 0)
                return "the canary fifo was written to";

        if (recv(c->fds[2], &byte, 1, MSG_DONTWAIT) > 0 || recv(c->fds[3], &byte, 1, MSG_DONTWAIT) > 0)
                return "the caller's own sockets carried a byte";

        return NULL;
}

static const char *ipc_touched(struct canary *c)
{
        struct shmid_ds d;
        struct msqid_ds q;
        if (c->shm >= 0 && (shmctl(c->shm, IPC_STAT, &d) < 0 || d.shm_nattch != 0 || d.shm_atime != 0))
                return "the canary segment was attached";

        if (c->msg >= 0 && (msgctl(c->msg, IPC_STAT, &q) < 0 || q.msg_qnum != 0))
                return "the canary queue holds a message";

        return NULL;
}

static const char *bystander_touched(struct canary *c)
{
        char byte;
        cpu_set_t mine, its;
        if (c->bystander <= 0)
                return NULL;

        if (waitpid(c->bystander, NULL, WNOHANG) != 0)
                return "the bystander was ended";

        if (read(c->bell, &byte, 1) > 0)
                return "the bystander got a signal";

        if (getpriority(PRIO_PROCESS, (id_t) c->bystander) != getpriority(PRIO_PROCESS, 0))
                return "the bystander has another priority";

        if (sched_getaffinity(c->bystander, sizeof its, &its) == 0 &&
            sched_getaffinity(0, sizeof mine, &mine) == 0 && !CPU_EQUAL(&mine, &its))
                return "the bystander has other processors";

        return NULL;
}

static const char *program_changed(struct canary *c)
{
        char now[65];
        hash_self(c->world.self, now);
        return strcmp(now, c->digest) == 0 ? NULL : "cordon's own program file changed";
}

static const char *knobs_changed(struct canary *c)
{
        char now[256];
        for (size_t i = 0; i < sizeof knob_paths / sizeof *knob_paths; i++)
                if (c->knobs[i][0] &&
                    (fd_get(AT_FDCWD, knob_paths[i], now, sizeof now) < 0 || strcmp(now, c->knobs[i]) != 0))
                        return i == 0 ? "core_pattern changed" : "the host's name changed";
        return NULL;
}

void canary_check(struct canary *c, canary_say *say, void *ctx)
{
        static const struct {
                const char *claim;
                const char *(*found)(struct canary *);
                bool by_write;
        } checks[] = {
                { "seen from outside: the canary file is as it was", secret_changed, true },
                { "seen from outside: the canary directory is as it was", directory_changed, true },
                { "seen from outside: nobody called", was_called, false },
                { "seen from outside: shared memory and queues are untouched", ipc_touched, false },
                { "seen from outside: the bystander was left alone", bystander_touched, false },
                { "seen from outside: cordon's program file is as it was", program_changed, false },
                { "seen from outside: the machine's name and core_pattern are as they were", knobs_changed,
                  false },
        };

        for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
                say(ctx, checks[i].claim, checks[i].found(c), checks[i].by_write);
}

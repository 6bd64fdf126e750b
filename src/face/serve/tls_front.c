/* SPDX-License-Identifier: MIT */
/* face/serve/tls_front.c - TLS before the server: cordon-tls, a process for each address, which hands over
 * connections whose handshake is done. One that ends is started again. */
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "face/serve/internal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { AGAIN_S = 1, READY_MS = 5000 };

static _Noreturn void become(const struct server *s, size_t i, int channel)
{
        char listener[16], to[16];
        int fds[] = { s->listeners[i], channel };
        sigset_t none;
        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (size_t k = 0; k < 2; k++)
                (void) fcntl(fds[k], F_SETFD, 0);
        int keep[] = { fds[0] < fds[1] ? fds[0] : fds[1], fds[0] < fds[1] ? fds[1] : fds[0] };
        aside_close_others(keep, 2);
        (void) snprintf(listener, sizeof listener, "%d", fds[0]);
        (void) snprintf(to, sizeof to, "%d", fds[1]);
        char *const argv[] = { (char *) (uintptr_t) "cordon-tls",
                               (char *) (uintptr_t) s->o->tls_certificate,
                               (char *) (uintptr_t) s->o->tls_key,
                               listener,
                               to,
                               NULL };
        char *const envp[] = { NULL };
        (void) execve(s->o->tls_program, argv, envp);
        _exit(127);
}

/* The byte of a message, and its descriptor or -1; 0: nothing is left. */
static char take(int channel, int *ret_fd)
{
        char byte = 0;
        struct iovec v = { .iov_base = &byte, .iov_len = 1 };
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(sizeof(int))];
        } c;
        struct msghdr m = {
                .msg_iov = &v, .msg_iovlen = 1, .msg_control = c.room, .msg_controllen = sizeof c.room
        };
        *ret_fd = -1;
        if (recvmsg(channel, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
                return 0;
        if (CMSG_FIRSTHDR(&m) && c.head.cmsg_type == SCM_RIGHTS)
                memcpy(ret_fd, CMSG_DATA(&c.head), sizeof *ret_fd);
        return byte;
}

static int start(struct server *s, size_t i, cordon_error *e)
{
        int ends[2], none;
        struct tls_front *t = &s->tls[i];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return err_set((struct err *) e, ERR_IO, errno, "TLS: %s", strerror(errno));

        t->pid = fork();
        if (t->pid == 0)
                become(s, i, ends[1]);
        (void) close(ends[1]);
        t->channel = ends[0];
        t->again_ns = clock_mono_ns() + AGAIN_S * 1000000000ull;
        struct pollfd p = { .fd = t->channel, .events = POLLIN };
        if (t->pid > 0 && poll(&p, 1, READY_MS) > 0 && take(t->channel, &none) == 'R')
                return 0;

        tls_end(s, i);
        (void) err_set((struct err *) e, ERR_USAGE, 0, "TLS does not start at %s", s->o->listen[i]);
        return err_hint((struct err *) e, "--tls-cert and --tls-key are PEM files that belong together");
}

int tls_start(struct server *s, cordon_error *e)
{
        for (size_t i = 0; i < s->listener_count; i++) {
                s->tls[i].channel = -1;
                if (s->o->tls_certificate && s->ports[i] && start(s, i, e) < 0)
                        return -1;
        }
        return 0;
}

void tls_end(struct server *s, size_t i)
{
        struct tls_front *t = &s->tls[i];
        if (t->pid > 0) {
                (void) kill(t->pid, SIGKILL);
                (void) waitpid(t->pid, NULL, 0);
                fd_close(&t->channel);
        }
        t->pid = 0;
}

void tls_take(struct server *s, size_t i)
{
        int fd;
        char byte = take(s->tls[i].channel, &fd);
        if (byte == 'C' && fd >= 0) {
                client_add(s, fd, i);
                return;
        }

        if (fd >= 0)
                (void) close(fd);
        if (byte)
                return;
        tls_end(s, i);
        serve_log(s, LOG_ERROR, "cordon-tls has ended, and is started again");
}

void tls_step(struct server *s)
{
        cordon_error e = { 0 };
        for (size_t i = 0; i < s->listener_count; i++)
                if (s->o->tls_certificate && s->ports[i] && s->tls[i].pid == 0 &&
                    clock_mono_ns() >= s->tls[i].again_ns && start(s, i, &e) < 0)
                        serve_log(s, LOG_ERROR, e.what);
}

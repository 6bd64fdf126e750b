/* SPDX-License-Identifier: MIT */
/* limit/janitor.c - the child that cleans up after a keeper that was killed. Never: allocates, takes a lock,
 * uses stdio or runs a handler of the caller's: it is a forked child of a program that may have threads. It
 * holds the group's directories, one end of a socket pair and the keeper's pidfd, and nothing else of the
 * caller's. */
#include "base/fd.h"
#include "base/fork.h"
#include "limit/internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static const char dismissal = 'd';

static void close_between(unsigned from, unsigned to)
{
        if (from > to || syscall(SYS_close_range, from, to, 0) == 0)
                return;
        /* A pipe of the caller's that stayed open here would never reach EOF for its reader: close one by
         * one. */
        for (unsigned fd = from; fd <= to && fd < 65536; fd++)
                (void) close((int) fd);
}

/* Closes every descriptor that is not in `kept`. */
static void keep_only(int *kept, unsigned n)
{
        for (unsigned i = 1; i < n; i++)
                for (unsigned k = i; k > 0 && kept[k] < kept[k - 1]; k--) {
                        int t = kept[k];
                        kept[k] = kept[k - 1];
                        kept[k - 1] = t;
                }

        unsigned from = 0;
        for (unsigned i = 0; i < n; i++) {
                if (kept[i] < 0)
                        continue;
                if (kept[i] > 0)
                        close_between(from, (unsigned) kept[i] - 1);
                from = (unsigned) kept[i] + 1;
        }

        close_between(from, ~0u);
}

/* True if the keeper died without a release message. Watches its pidfd besides the socket, because a child
 * of the keeper may hold the other end longer than the keeper lives. */
static bool keeper_died(int line, int keeper)
{
        for (;;) {
                struct pollfd p[] = { { .fd = line, .events = POLLIN }, { .fd = keeper, .events = POLLIN } };
                char word;
                if (poll(p, 2, -1) < 0)
                        continue;
                if (p[0].revents)
                        return read(line, &word, 1) != 1 || word != dismissal;
                if (p[1].revents)
                        return true;
        }
}

static _Noreturn void janitor(const struct host_cgroups *h, const char *name, int line, int keeper)
{
        int kept[] = { line, keeper };
        keep_only(kept, 2);
        (void) setsid();
        int held = chdir("/"); /* if it fails, a mount stays busy a little longer */
        (void) held;
        (void) prctl(PR_SET_NAME, "cordon-janitor");
        (void) prctl(PR_SET_DUMPABLE, 0);
        if (keeper_died(line, keeper)) {
                struct limit_group g;
                limit_group_adopt(&g, h, name);
                limit_group_end(&g);
        }

        _exit(0);
}

int limit_janitor_start(const struct host_cgroups *h, const char *name, struct limit_janitor *ret,
                        struct err *e)
{
        int ends[2];
        sigset_t all, before;

        /* A socket pair rather than a pipe: a dismissal to a killed janitor must not raise SIGPIPE. */
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return err_set(e, ERR_LIMIT, errno, "cannot make the janitor's line");

        AUTO_FD(reads, ends[0]);
        AUTO_FD(writes, ends[1]);
        AUTO_FD(keeper, (int) syscall(SYS_pidfd_open, getpid(), 0));
        if (keeper < 0)
                return err_set(e, ERR_LIMIT, errno, "cannot watch the keeper");

        /* Blocked before the fork and for the janitor's whole life: no handler of the caller's ever runs in
         * it, and the signals that end a terminal's jobs (INT, TERM, HUP, QUIT) do not end it. */
        (void) sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, &before);
        struct child c = quiet_child();
        if (c.pid == 0)
                janitor(h, name, reads, keeper);

        int sys = errno;
        (void) sigprocmask(SIG_SETMASK, &before, NULL);
        if (c.pid < 0)
                return err_set(e, ERR_LIMIT, sys, "cannot start the janitor");

        *ret = (struct limit_janitor){ .child = c, .line = TAKE_FD(writes) };
        return 0;
}

void limit_janitor_release(struct limit_janitor *j)
{
        if (j->line >= 0)
                (void) send(j->line, &dismissal, 1, MSG_NOSIGNAL);
        fd_close(&j->line);
}

void limit_janitor_dismiss(struct limit_janitor *j)
{
        limit_janitor_release(j);
        while (!child_reap(&j->child, NULL))
                (void) fd_await(j->child.pidfd, POLLIN, WAIT_MS);
}

/* SPDX-License-Identifier: MIT */
/* selftest/bomb/bomb_tasks.c - processor time, processes, threads, signals, timers, and processes that try to
 * outlive their box. */
#include "selftest/bomb/bomb_internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

const char *bomb_tag = "bomb";

enum { SPIN_S = 8, STACK = 64 << 10, ARGUMENT = 100 << 10, ARGUMENTS = 2048 };

static void rest_child(long ms)
{
        const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
        (void) nanosleep(&t, NULL);
}

int bomb_cpu(void)
{
        if (fork() < 0)
                return bomb_stopped(errno, 0);

        time_t end = time(NULL) + SPIN_S;
        for (volatile unsigned long n = 0; time(NULL) < end; n++)
                ;

        return bomb_through(SPIN_S);
}

int bomb_fork(size_t i)
{
        pid_t pid = fork();
        (void) i;
        if (pid == 0) {
                rest_child(10000);
                _exit(0);
        }

        return pid;
}

static void *idle_thread(void *arg)
{
        (void) arg;
        rest_child(10000);
        return NULL;
}

int bomb_threads(size_t i)
{
        pthread_attr_t a;
        pthread_t t;
        (void) i;
        (void) pthread_attr_init(&a);
        (void) pthread_attr_setstacksize(&a, STACK);
        errno = pthread_create(&t, &a, idle_thread, NULL);
        return errno ? -1 : 0;
}

int bomb_timers(size_t i)
{
        const struct itimerspec soon = { { 0, 1000000 }, { 0, 1000000 } };
        struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
        timer_t t;
        if (i == 0)
                (void) signal(SIGRTMIN, SIG_IGN);
        return timer_create(CLOCK_MONOTONIC, &ev, &t) < 0 ? -1 : timer_settime(t, 0, &soon, NULL);
}

int bomb_signals(size_t i)
{
        sigset_t all;
        if (i == 0 && sigfillset(&all) == 0)
                (void) sigprocmask(SIG_BLOCK, &all, NULL);
        return sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ 0 });
}

int bomb_stopped_self(void)
{
        if (fork() == 0) /* and a process that would go on */
                rest_child(10000);
        (void) kill(getpid(), SIGSTOP);
        rest_child(10000);
        return bomb_through(0);
}

/* Forked twice, in a session of its own, ignores every signal, with no descriptor of ours. */
int bomb_daemon(void)
{
        if (fork() == 0) {
                (void) setsid();
                if (fork() != 0)
                        _exit(0);
                (void) setsid();
                (void) prctl(PR_SET_NAME, bomb_tag);
                for (int s = 1; s < NSIG; s++)
                        (void) signal(s, SIG_IGN);
                for (int fd = 0; fd < 3; fd++)
                        (void) close(fd);
                rest_child(20000);
                _exit(0);
        }

        rest_child(100);
        return bomb_through(1);
}

/* Arguments of 100 KiB each, more of them each time, until the kernel refuses to carry them. */
int bomb_argv(void)
{
        static char *words[ARGUMENTS + 4];
        static char word[ARGUMENT];
        static char again[] = "__bomb", name[] = "argv-end";

        memset(word, 'x', sizeof word - 1);
        for (size_t n = 64; n <= ARGUMENTS; n *= 2) {
                words[0] = words[1] = again;
                words[2] = name;
                for (size_t i = 3; i < n; i++)
                        words[i] = word;
                words[n] = NULL;
                char *const none[] = { NULL };
                pid_t pid = fork();
                if (pid == 0) {
                        (void) execve("/proc/self/exe", words, none);
                        _exit(errno == E2BIG ? 7 : 8);
                }
                int status = 0;
                if (pid < 0 || syscall(SYS_wait4, pid, &status, 0, NULL) < 0)
                        return bomb_stopped(errno, n);
                if (status >> 8 != 0)
                        return bomb_stopped(status >> 8 == 7 ? E2BIG : EIO, n);
        }

        return bomb_through(ARGUMENTS);
}

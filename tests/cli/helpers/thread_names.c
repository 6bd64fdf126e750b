/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/thread_names.c - the names of threads in /proc: which can be written, by which path, and
 * what else there opens for writing. One line for each trial. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int go_on = 1;
static volatile pid_t second;
static char path[128];

static void *wait_there(void *unused)
{
        (void) unused;
        second = (pid_t) syscall(SYS_gettid);
        while (go_on)
                usleep(1000);
        return NULL;
}

static const char *name_of(pid_t process, pid_t thread)
{
        static char name[64];
        char at[96];
        snprintf(at, sizeof at, "/proc/%d/task/%d/comm", process, thread);
        FILE *f = fopen(at, "re");
        if (!f || !fgets(name, sizeof name, f))
                strcpy(name, "?");
        if (f)
                fclose(f);
        name[strcspn(name, "\n")] = 0;
        return name;
}

/* "named", "opened" (but the name did not change), or the error. */
static void try_name(const char *what, const char *at, int flags, pid_t process, pid_t thread)
{
        static int count;
        char name[16];
        int n = snprintf(name, sizeof name, "name%d", ++count);
        int fd = open(at, flags);
        if (fd < 0) {
                printf("%s: errno %d\n", what, errno);
                return;
        }
        ssize_t wrote = write(fd, name, (size_t) n);
        printf("%s: %s\n", what,
               wrote == n && strcmp(name_of(process, thread), name) == 0 ? "named" : "opened");
        close(fd);
}

static void *flip(void *unused)
{
        (void) unused;
        char good[128];
        snprintf(good, sizeof good, "/proc/self/task/%d/comm", second);
        while (go_on) {
                memcpy(path, "/proc/self/oom_score_adj", 25);
                memcpy(path, "/proc/self/mem", 15);
                memcpy(path, good, strlen(good) + 1);
        }
        return NULL;
}

static int is_comm(int fd)
{
        char own[64], to[128] = "";
        snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
        return readlink(own, to, sizeof to - 1) > 0 && strcmp(to + strlen(to) - 5, "/comm") == 0;
}

int main(void)
{
        pthread_t t, f;
        pid_t own = getpid(), child;
        char at[128];
        setvbuf(stdout, NULL, _IOLBF, 0);
        pthread_create(&t, NULL, wait_there, NULL);
        while (!second)
                usleep(1000);

        int error = pthread_setname_np(t, "worker");
        printf("libc: %d %s\n", error, name_of(own, second));
        snprintf(at, sizeof at, "/proc/self/task/%d/comm", second);
        try_name("self", at, O_WRONLY, own, second);
        try_name("cloexec", at, O_RDWR | O_CLOEXEC, own, second);
        snprintf(at, sizeof at, "/proc/%d/task/%d/comm", own, second);
        try_name("number", at, O_WRONLY, own, second);
        try_name("own", "/proc/self/comm", O_WRONLY, own, own);
        try_name("thread-self", "/proc/thread-self/comm", O_WRONLY, own, own);

        child = fork();
        if (child == 0)
                for (;;)
                        pause();
        snprintf(at, sizeof at, "/proc/%d/task/%d/comm", child, child);
        try_name("child", at, O_WRONLY, child, child);
        snprintf(at, sizeof at, "/proc/self/task/%d/comm", child);
        try_name("child as thread", at, O_WRONLY, child, child);
        try_name("init", "/proc/1/comm", O_WRONLY, 1, 1);
        try_name("around", "/proc/self/task/../comm", O_WRONLY, own, own);
        try_name("link", "/proc/self/root/proc/self/comm", O_WRONLY, own, own);

        static const char *const others[] = {
                "mem",           "oom_score_adj",  "oom_adj",        "coredump_filter", "clear_refs",
                "attr/current",  "attr/exec",      "attr/keycreate", "sched",           "autogroup",
                "timerslack_ns", "loginuid",       "uid_map",        "gid_map",         "setgroups",
                "projid_map",    "timens_offsets", "fail-nth",       "make-it-fail",    "latency",
                "statm",         "environ"
        };
        int opened = 0;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
                static const char *const forms[] = { "/proc/self/%s", "/proc/thread-self/%s",
                                                     "/proc/self/task/%d/%s",
                                                     "/proc/self/task/%d/comm/../%s" };
                for (size_t k = 0; k < 4; k++) {
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                        if (k < 2)
                                snprintf(at, sizeof at, forms[k], others[i]);
                        else
                                snprintf(at, sizeof at, forms[k], second, others[i]);
                        opened += open(at, O_WRONLY) >= 0 || open(at, O_RDWR) >= 0;
                }
        }
        printf("others opened: %d\n", opened);

        /* A descriptor of a name leads to nothing else. */
        snprintf(at, sizeof at, "/proc/self/task/%d/comm", second);
        int fd = open(at, O_RDWR), led = 0;
        led += openat(fd, "../mem", O_RDWR) >= 0;
        led += openat(fd, "..", O_PATH) >= 0;
        led += fchdir(fd) == 0;
        led += fchmod(fd, 0777) == 0;
        snprintf(at, sizeof at, "/proc/self/fd/%d/../mem", fd);
        led += open(at, O_RDWR) >= 0;
        printf("led elsewhere: %d\n", led);

        int wrong = 0;
        pthread_create(&f, NULL, flip, NULL);
        for (int i = 0; i < 3000; i++) {
                int got = open(path, O_RDWR | O_CLOEXEC);
                wrong += got >= 0 && !is_comm(got);
                if (got >= 0)
                        close(got);
        }
        printf("flipped to another: %d\n", wrong);
        go_on = 0;
        kill(child, 9);
        return 0;
}

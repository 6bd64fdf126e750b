/* SPDX-License-Identifier: MIT */
/* Whole waits and writes in a program whose timer interrupts whatever waits; and a kernel that says "not
 * now".
 */
#include "base/clock.h"
#include "base/fd.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static int drained = -1; /* what the timer reads from, or -1 */

static void tick(int sig)
{
        char some[4096];
        (void) sig;
        if (drained >= 0)
                (void) !read(drained, some, sizeof some);
}

static void set_timer(long us)
{
        struct sigaction on_tick = { .sa_handler = tick };
        struct itimerval every = { { 0, us }, { 0, us } };
        CHECK_INT(sigaction(SIGALRM, &on_tick, NULL), 0);
        CHECK_INT(setitimer(ITIMER_REAL, &every, NULL), 0);
}

static void test_await__signals_do_not_cut_it_short(void)
{
        int ends[2];
        CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
        set_timer(1000);
        uint64_t began = clock_mono_ns();
        CHECK(!fd_await(ends[0], POLLIN, 100));
        uint64_t took = clock_mono_ns() - began;
        set_timer(0);
        CHECK(took >= 100000000u && took < 5000000000u);
        CHECK_INT(write(ends[1], "x", 1), 1);
        CHECK(fd_await(ends[0], POLLIN, 0));
        CHECK_INT(close(ends[1]), 0);
        CHECK(fd_await(ends[0], POLLOUT, 0)); /* the other side's end */
        CHECK_INT(close(ends[0]), 0);
}

/* A pipe that is full: the write waits, is interrupted, and goes through when the handler made room. */
static void test_put__an_interrupted_write_is_made_again(void)
{
        char name[] = "/tmp/cordon-test-fd.XXXXXX", fill[4096] = "";
        CHECK(mkdtemp(name) != NULL);
        int dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK_INT(mkfifoat(dir, "control", 0600), 0);
        int pipe = openat(dir, "control", O_RDWR | O_NONBLOCK | O_CLOEXEC);
        while (write(pipe, fill, sizeof fill) > 0)
                ;
        drained = pipe;
        set_timer(10000);
        CHECK_INT(fd_put(dir, "control", "1"), 0);
        set_timer(0);
        drained = -1;
        CHECK_INT(close(pipe), 0);
        CHECK_INT(unlinkat(dir, "control", 0), 0);
        CHECK_INT(close(dir), 0);
        CHECK_INT(rmdir(name), 0);
}

/* A box may have put a pipe there; /dev/fd/N is the caller's own. */
static void test_open_named__waits_for_nobody(void)
{
        char name[] = "/tmp/cordon-test-fd.XXXXXX", own[32];
        CHECK(mkdtemp(name) != NULL);
        int dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK_INT(mkfifoat(dir, "pipe", 0600), 0);
        CHECK_INT(fd_open_named(dir, "pipe", O_RDONLY), -1);
        CHECK_INT(errno, FD_PIPE_REFUSED);
        CHECK_INT(fd_open_named(dir, "pipe", O_WRONLY | O_NOFOLLOW), -1); /* nobody reads */
        CHECK_INT(errno, FD_PIPE_REFUSED);
        int held = openat(dir, "pipe", O_RDWR | O_CLOEXEC);
        CHECK_INT(fd_open_named(dir, "pipe", O_WRONLY), -1);
        CHECK_INT(errno, FD_PIPE_REFUSED);
        (void) snprintf(own, sizeof own, "/dev/fd/%d", held);
        int again = fd_open_named(AT_FDCWD, own, O_WRONLY | O_APPEND);
        CHECK(again >= 0);
        CHECK_INT(fcntl(again, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK), O_WRONLY | O_APPEND);
        CHECK_INT(close(again), 0);
        CHECK_INT(close(held), 0);
        CHECK_INT(fd_open_named(dir, "none", O_RDONLY), -1);
        CHECK_INT(errno, ENOENT);
        int file = fd_open_named(dir, "file", O_WRONLY | O_CREAT | O_NOFOLLOW);
        CHECK(file >= 0);
        CHECK_INT(close(file), 0);
        CHECK_INT(unlinkat(dir, "pipe", 0), 0);
        CHECK_INT(unlinkat(dir, "file", 0), 0);
        CHECK_INT(close(dir), 0);
        CHECK_INT(rmdir(name), 0);
}

/* The kernel's side of openat2(), for one process: so many times EAGAIN, then as it is. */
struct kernel {
        int listener;
        _Atomic unsigned asked;
        unsigned not_now;
};

static void *stand_between(void *arg)
{
        struct kernel *k = arg;
        for (;;) {
                struct seccomp_notif n = { 0 };
                if (ioctl(k->listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
                        continue;
                struct seccomp_notif_resp r = { .id = n.id };
                if (k->asked++ < k->not_now)
                        r.error = -EAGAIN;
                else
                        r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
                (void) ioctl(k->listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
        }
        return NULL;
}

enum { AS_WANTED = 0, NO_FILTER, OTHERWISE };

static _Noreturn void open_behind(unsigned not_now, unsigned asked)
{
        static struct kernel k;
        struct sock_filter look[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const struct sock_fprog prog = { sizeof look / sizeof *look, look };
        pthread_t between;
        k.not_now = not_now;
        (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        k.listener =
                (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
        if (k.listener < 0 || pthread_create(&between, NULL, stand_between, &k) != 0)
                _exit(NO_FILTER);
        int fd = fd_open2(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
        bool opened = fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC;
        bool refused = fd < 0 && errno == EAGAIN;
        _exit(k.asked == asked && (not_now < asked ? opened : refused) ? AS_WANTED : OTHERWISE);
}

static int opened_behind(unsigned not_now, unsigned asked)
{
        int status = -1;
        pid_t pid = fork();
        if (pid == 0)
                open_behind(not_now, asked);
        CHECK_INT(waitpid(pid, &status, 0), pid);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_open2__not_now_is_asked_again_but_not_for_ever(void)
{
        if (opened_behind(0, 1) == NO_FILTER)
                SKIP("no filter can be loaded here");
        CHECK_INT(opened_behind(0, 1), AS_WANTED);
        CHECK_INT(opened_behind(3, 4), AS_WANTED);
        CHECK_INT(opened_behind(1000, 64), AS_WANTED);
}

static bool add_up(void *ctx, uint64_t number)
{
        uint64_t *sum = ctx;
        *sum += number;
        return number != 77777;
}

/* A number that lies across two reads is one number; the last needs nothing behind it. */
static void test_each_number__a_list_of_any_length_is_read_whole(void)
{
        enum { LINES = 5000 };
        uint64_t want = 0, sum = 0;
        AUTO_FD(file, (int) syscall(SYS_memfd_create, "numbers", 1 /* MFD_CLOEXEC */));
        for (int i = 0; i < LINES; i++) {
                CHECK(dprintf(file, i % 3 ? "%d\n" : "%d ", 100000 + i) > 0);
                want += 100000 + (uint64_t) i;
        }
        CHECK(dprintf(file, "0 0 42") > 0);
        CHECK_INT(lseek(file, 0, SEEK_SET), 0);
        fd_each_number(file, add_up, &sum);
        CHECK_INT(sum, want + 42);
        CHECK(dprintf(file, "\n77777 1") > 0); /* enough */
        CHECK_INT(lseek(file, 0, SEEK_SET), 0);
        sum = 0;
        fd_each_number(file, add_up, &sum);
        CHECK_INT(sum, want + 42 + 77777);
        sum = 0;
        fd_each_number(-1, add_up, &sum);
        CHECK_INT(sum, 0);
}

static void test_link__names_a_nameless_file_and_replaces_none(void)
{
        char path[64] = "/tmp/cordon-fd.XXXXXX", told[128], room[4];
        CHECK(mkdtemp(path) != NULL);
        AUTO_FD(dir, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        AUTO_FD(fd, openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
        CHECK(fd_write_all(fd, "x", 1) == 0 && fd_link(fd, dir, "a") == 0);
        CHECK(fd_link(fd, dir, "a") < 0 && errno == EEXIST);
        AUTO_FD(place, openat(dir, "a", O_PATH | O_CLOEXEC));
        CHECK(fd_path(place, told, sizeof told) == 0 && strlen(told) == strlen(path) + 2);
        CHECK(strncmp(told, path, strlen(path)) == 0 && strcmp(told + strlen(path), "/a") == 0);
        CHECK(fd_path(place, room, sizeof room) < 0 && errno == ENAMETOOLONG);
        CHECK(fd_path(-1, told, sizeof told) < 0);
        char byte = 0;
        AUTO_FD(again, fd_reopen(place, O_RDONLY));
        CHECK(read(again, &byte, 1) == 1 && byte == 'x');
        CHECK(fcntl(again, F_GETFD) == FD_CLOEXEC);
        CHECK(unlinkat(dir, "a", 0) == 0 && rmdir(path) == 0);
}

static const struct test_case cases[] = {
        CASE(test_await__signals_do_not_cut_it_short),
        CASE(test_put__an_interrupted_write_is_made_again),
        CASE(test_open_named__waits_for_nobody),
        CASE(test_each_number__a_list_of_any_length_is_read_whole),
        CASE(test_open2__not_now_is_asked_again_but_not_for_ever),
        CASE(test_link__names_a_nameless_file_and_replaces_none),
};
TEST_MAIN(cases)

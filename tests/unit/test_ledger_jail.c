/* SPDX-License-Identifier: MIT */
/* The walls of cordon-ledger, tried from inside by a child that has put them up. */
#include "base/calls.h"
#include "harness.h"
#include "ledger/write/sealer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char place[64];

enum attempt {
        OWN_FILE,
        WITNESS,
        OTHER_READ,
        OTHER_WRITE,
        UPWARD,
        STATE,
        A_SOCKET,
        A_PROGRAM,
        A_PROCESS,
        EXECUTABLE_MEMORY
};

/* 0: done; an errno: refused; the filter's answer ends the child. */
static int try(int dir, enum attempt what)
{
        int fd = -1;
        switch (what) {
        case OWN_FILE:
                fd = openat(dir, "file", O_RDWR | O_CREAT, 0600);
                break;
        case WITNESS:
                fd = openat(dir, "../witness/new", O_RDWR | O_CREAT, 0600);
                break;
        case OTHER_READ:
                fd = open("/etc/passwd", O_RDONLY);
                break;
        case OTHER_WRITE:
                fd = open("/tmp/cordon-jail-escaped", O_WRONLY | O_CREAT, 0600);
                break;
        case UPWARD:
                fd = openat(dir, "../../../../etc/passwd", O_RDONLY);
                break;
        case STATE:
                fd = openat(dir, "../other", O_RDWR | O_CREAT, 0600);
                break;
        case A_SOCKET:
                fd = (int) syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
                break;
        case A_PROGRAM:
                fd = (int) syscall(SYS_execve, "/bin/true", NULL, NULL);
                break;
        case A_PROCESS:
                fd = (int) syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
                break;
        case EXECUTABLE_MEMORY:
                fd = syscall(SYS_mmap, NULL, 4096UL, 7UL, 0x22UL, -1L, 0L) == -1 ? -1 : 0;
                break;
        }
        return fd >= 0 ? 0 : errno;
}

enum { KILLED = 1000, NO_JAIL };

static int inside(enum attempt what, bool seals)
{
        int status;
        pid_t pid = fork();
        if (pid == 0) {
                struct err e;
                char ledger[80];
                (void) snprintf(ledger, sizeof ledger, "%s/ledger", place);
                int dir = open(ledger, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (dir < 0 || jail_close(dir, seals, &e) < 0)
                        _exit(255);
                _exit(try(dir, what));
        }
        if (waitpid(pid, &status, 0) < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 255))
                return NO_JAIL;
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS ? KILLED : WEXITSTATUS(status);
}

static void test_jail__the_ledger_and_the_witness_are_left(void)
{
        CHECK_INT(inside(OWN_FILE, false), 0);
        CHECK_INT(inside(OWN_FILE, true), 0);
        CHECK_INT(inside(WITNESS, true), 0);
        if (!calls_sanitized())
                CHECK_INT(inside(WITNESS, false), EACCES); /* a writer seals nothing */
}

static const char sanitized[] = "a build with a sanitizer closes nothing";

static void test_jail__no_other_file(void)
{
        if (calls_sanitized())
                SKIP(sanitized);
        CHECK_INT(inside(OTHER_READ, true), EACCES);
        CHECK_INT(inside(OTHER_WRITE, true), EACCES);
        CHECK_INT(inside(UPWARD, true), EACCES);
        CHECK_INT(inside(STATE, true), EACCES);
}

static void test_jail__no_other_call(void)
{
        if (calls_sanitized())
                SKIP(sanitized);
        CHECK_INT(inside(A_SOCKET, true), KILLED);
        CHECK_INT(inside(A_PROGRAM, true), KILLED);
        CHECK_INT(inside(A_PROCESS, true), KILLED);
        CHECK_INT(inside(EXECUTABLE_MEMORY, true), KILLED);
}

static void make(const char *name)
{
        char path[96];
        (void) snprintf(path, sizeof path, "%s%s", place, name);
        CHECK_INT(mkdir(path, 0700), 0);
}

static void sweep(void)
{
        static const char *const names[] = { "/ledger/file", "/witness/new", "/ledger", "/witness", "" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                char path[96];
                (void) snprintf(path, sizeof path, "%s%s", place, names[i]);
                (void) remove(path);
        }
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_jail__the_ledger_and_the_witness_are_left),
                CASE(test_jail__no_other_file),
                CASE(test_jail__no_other_call),
        };
        (void) snprintf(place, sizeof place, "/tmp/cordon-test.XXXXXX");
        if (!mkdtemp(place))
                return 1;
        make("/ledger");
        make("/witness");
        int r = test_main(cases, sizeof cases / sizeof *cases);
        sweep();
        return r;
}

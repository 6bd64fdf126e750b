/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_abi.c - the same kernel by other numbers: i386 by int 0x80, x32, AArch32. Each is tried
 * in a child, which the filter must kill: a refusal by error would mean that the filter took the number for
 * another call.
 */
#include "selftest/probe/probe_internal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLASS PROBE_ABI

struct call {
        long nr, a, b, c;
        long reply;
};

static int by_death(struct probe_result *r, int status, const char *what)
{
        if (status == -1)
                return cannot_tell(r, "no process for it");

        if (WIFSIGNALED(status) &&
            (WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGILL)) {
                if (WTERMSIG(status) != SIGSYS)
                        return held(r, "%s: this kernel has no such ABI (signal %d)", what, WTERMSIG(status));
                return held(r, "%s: killed by SIGSYS", what);
        }

        return escaped(r, "%s came back (status 0x%x): the other ABI is open", what, (unsigned) status);
}

#ifdef __x86_64__
static void call_i386(void *arg)
{
        struct call *c = arg;
        long reply;
        __asm__ volatile("int $0x80"
                         : "=a"(reply)
                         : "a"(c->nr), "b"(c->a), "c"(c->b), "d"(c->c)
                         : "memory", "r8", "r9", "r10", "r11");
        _exit(reply == -38 /* ENOSYS */ ? 38 : 1);
}

static void call_x32(void *arg)
{
        struct call *c = arg;
        long reply = syscall(0x40000000 | c->nr, c->a, c->b, c->c);
        _exit(reply < 0 && errno == ENOSYS ? 38 : 1);
}

static int i386(struct probe_result *r)
{
        const char *what = r->probe->what;
        struct call c = { .nr = r->probe->call[0],
                          .a = 23 /* a call of ipc and of socketcall that there is; no id or path */ };
        int status = child_status(call_i386, &c);
        if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 38)
                return held(r, "%s: this kernel does not have it", what);
        return by_death(r, status, what);
}

static int x32(struct probe_result *r)
{
        const char *what = r->probe->what;
        struct call c = { .nr = r->probe->call[0] };
        int status = child_status(call_x32, &c);
        if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 38)
                return held(r, "%s: this kernel does not have it", what);
        return by_death(r, status, what);
}

/* A far call into the 32-bit code segment, then `syscall` is a compat entry on some processors: by int 0x80
 * it is always one, from 64-bit code as well, so the number's meaning must come from the entry and not from
 * the segment. */
#define FOREIGN(claim, fn, words, nr)                                                                        \
        NUMBERS(claim, "the filter judges the wrong numbers", "seccomp", fn, words, nr)
static const struct probe rows[] = {
        FOREIGN("i386 calls are closed: getpid", i386, "getpid by int 0x80", 20),
        FOREIGN("i386 calls are closed: mount", i386, "mount by int 0x80", 21),
        FOREIGN("i386 calls are closed: io_uring_setup", i386, "io_uring_setup by int 0x80", 425),
        FOREIGN("i386 calls are closed: socketcall", i386, "socketcall by int 0x80", 102),
        FOREIGN("i386 calls are closed: ipc", i386, "ipc by int 0x80", 117),
        FOREIGN("i386 calls are closed: unshare", i386, "unshare by int 0x80", 310),
        FOREIGN("x32 calls are closed: getpid", x32, "getpid by an x32 number", 39),
        FOREIGN("x32 calls are closed: ptrace", x32, "ptrace by an x32 number", 521),
        FOREIGN("x32 calls are closed: execve", x32, "execve by an x32 number", 520),
        FOREIGN("x32 calls are closed: io_uring_setup", x32, "io_uring_setup by an x32 number", 425),
};
#else
#include "base/fd.h"
#include <fcntl.h>

/* A static AArch32 program of two instructions' worth: mov r7, NR; svc 0; then exit(1). Written to a
 * directory that this box may write, or to memory; if neither can be executed, no foreign program can. */
static size_t arm_program(unsigned char *p, unsigned nr)
{
        static const unsigned char head[] = {
                0x7f, 'E', 'L', 'F',  1, 1,    1, 0,  0, 0,    0, 0, 0, 0, 0, 0, 2, 0, 40,   0,  1,
                0,    0,   0,   0x54, 0, 1,    0, 52, 0, 0,    0, 0, 0, 0, 0, 0, 2, 0, 5,    52, 0,
                32,   0,   1,   0,    0, 0,    0, 0,  0, 0,    1, 0, 0, 0, 0, 0, 0, 0, 0,    0,  1,
                0,    0,   0,   1,    0, 0x80, 0, 0,  0, 0x80, 0, 0, 0, 5, 0, 0, 0, 0, 0x10, 0,  0,
        };

        const uint32_t code[] = { 0xe3a07000u | (nr & 0xff),
                                  0xe3877c00u | (nr >> 8 & 0xff),
                                  0xef000000u,
                                  0xe3a00001u,
                                  0xe3a07001u,
                                  0xef000000u };
        memcpy(p, head, sizeof head);
        memcpy(p + sizeof head, code, sizeof code);
        return 0x80;
}

static void run_program(void *arg)
{
        char *const argv[] = { arg, NULL };
        (void) execve(arg, argv, argv + 1);
        _exit(errno == EACCES ? 113 : errno == ENOEXEC ? 108 : 112);
}

static int by_arm(struct probe_result *r)
{
        const char *what = r->probe->what;
        unsigned char program[256] = { 0 };
        char path[128];
        AUTO_FD(fd, make_file(path, "arm", 0700));
        if (fd < 0)
                return refused(r, "writing a foreign program");

        bool written = fd_write_all(fd, program, arm_program(program, (unsigned) r->probe->call[0])) == 0;
        fd_close(&fd);
        int status = written ? child_status(run_program, path) : -1;
        (void) unlink(path);
        if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) > 107)
                return held(r, "%s: exec was refused (errno %d)", what, WEXITSTATUS(status) - 100);

        return by_death(r, status, what);
}

#define FOREIGN(claim, fn, words, nr)                                                                        \
        NUMBERS(claim, "the filter judges the wrong numbers", "seccomp,mount,landlock", fn, words, nr)
static const struct probe rows[] = {
        FOREIGN("AArch32 calls are closed: getpid", by_arm, "getpid by an AArch32 program", 20),
        FOREIGN("AArch32 calls are closed: io_uring_setup", by_arm, "io_uring_setup by an AArch32 program",
                425),
};
#endif
const struct probe_list probes_abi = PROBE_LIST(rows);

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

static int i386(struct probe_result *r, long nr, const char *what)
{
        struct call c = { .nr = nr,
                          .a = 23 /* a call of ipc and of socketcall that there is; no id or path */ };
        int status = child_status(call_i386, &c);
        if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 38)
                return held(r, "%s: this kernel does not have it", what);
        return by_death(r, status, what);
}

static int x32(struct probe_result *r, long nr, const char *what)
{
        struct call c = { .nr = nr };
        int status = child_status(call_x32, &c);
        if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 38)
                return held(r, "%s: this kernel does not have it", what);
        return by_death(r, status, what);
}

static int i386_getpid(struct probe_result *r) { return i386(r, 20, "getpid by int 0x80"); }
static int i386_mount(struct probe_result *r) { return i386(r, 21, "mount by int 0x80"); }
static int i386_uring(struct probe_result *r) { return i386(r, 425, "io_uring_setup by int 0x80"); }
static int i386_socketcall(struct probe_result *r) { return i386(r, 102, "socketcall by int 0x80"); }
static int i386_ipc(struct probe_result *r) { return i386(r, 117, "ipc by int 0x80"); }
static int i386_unshare(struct probe_result *r) { return i386(r, 310, "unshare by int 0x80"); }
static int x32_getpid(struct probe_result *r) { return x32(r, 39, "getpid by an x32 number"); }
static int x32_ptrace(struct probe_result *r) { return x32(r, 521, "ptrace by an x32 number"); }
static int x32_exec(struct probe_result *r) { return x32(r, 520, "execve by an x32 number"); }
static int x32_native(struct probe_result *r) { return x32(r, 425, "io_uring_setup by an x32 number"); }

/* A far call into the 32-bit code segment, then `syscall` is a compat entry on some processors: by int 0x80
 * it is always one, from 64-bit code as well, so the number's meaning must come from the entry and not from
 * the segment. */
#define FOREIGN(name, fn)                                                                                    \
        CLAIM(name, PROBE_ABI, "the filter judges the wrong numbers", "seccomp", fn, PROMISED)
static const struct probe rows[] = {
        FOREIGN("i386 calls are closed: getpid", i386_getpid),
        FOREIGN("i386 calls are closed: mount", i386_mount),
        FOREIGN("i386 calls are closed: io_uring_setup", i386_uring),
        FOREIGN("i386 calls are closed: socketcall", i386_socketcall),
        FOREIGN("i386 calls are closed: ipc", i386_ipc),
        FOREIGN("i386 calls are closed: unshare", i386_unshare),
        FOREIGN("x32 calls are closed: getpid", x32_getpid),
        FOREIGN("x32 calls are closed: ptrace", x32_ptrace),
        FOREIGN("x32 calls are closed: execve", x32_exec),
        FOREIGN("x32 calls are closed: io_uring_setup", x32_native),
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

static int arm(struct probe_result *r, unsigned nr, const char *what)
{
        unsigned char program[256] = { 0 };
        char path[128];
        AUTO_FD(fd, make_file(path, "arm", 0700));
        if (fd < 0)
                return refused(r, "writing a foreign program");

        bool written = fd_write_all(fd, program, arm_program(program, nr)) == 0;
        fd_close(&fd);
        int status = written ? child_status(run_program, path) : -1;
        (void) unlink(path);
        if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) > 107)
                return held(r, "%s: exec was refused (errno %d)", what, WEXITSTATUS(status) - 100);

        return by_death(r, status, what);
}

static int arm_getpid(struct probe_result *r) { return arm(r, 20, "getpid by an AArch32 program"); }
static int arm_uring(struct probe_result *r) { return arm(r, 425, "io_uring_setup by an AArch32 program"); }

#define FOREIGN(name, fn)                                                                                    \
        CLAIM(name, PROBE_ABI, "the filter judges the wrong numbers", "seccomp,mount,landlock", fn, PROMISED)
static const struct probe rows[] = {
        FOREIGN("AArch32 calls are closed: getpid", arm_getpid),
        FOREIGN("AArch32 calls are closed: io_uring_setup", arm_uring),
};
#endif
const struct probe_list probes_abi = PROBE_LIST(rows);

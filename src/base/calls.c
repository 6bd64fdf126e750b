/* SPDX-License-Identifier: MIT */
/* base/calls.c - assembles an allow list of system calls and installs it as a seccomp filter. */
#include "base/calls.h"

#include "base/sanitized.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

enum { NR_AT = 0, ARCH_AT = 4, ARG_LOW = 16 /* args[0] */, ARG2_LOW = 32, PROT_EXEC_BIT = 4 };

static void put_instruction(struct calls *f, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
        if (f->n < CALLS_MAX)
                f->at[f->n] = (struct sock_filter){ .code = code, .jt = yes, .jf = no, .k = k };
        f->n++; /* too many: calls_close() reports it */
}
static void load(struct calls *f, uint32_t at) { put_instruction(f, BPF_LD | BPF_W | BPF_ABS, at, 0, 0); }
static void answer(struct calls *f, uint32_t v) { put_instruction(f, BPF_RET | BPF_K, v, 0, 0); }
static void branch_equal(struct calls *f, uint32_t v, uint8_t yes, uint8_t no)
{
        put_instruction(f, BPF_JMP | BPF_JEQ | BPF_K, v, yes, no);
}

void calls_begin(struct calls *f)
{
        f->n = 0;
        load(f, ARCH_AT);
        branch_equal(f, ARCH, 1, 0);
        answer(f, SECCOMP_RET_KILL_PROCESS);
        load(f, NR_AT);
}

void calls_allow(struct calls *f, const uint32_t *list, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                branch_equal(f, list[i], 0, 1);
                answer(f, SECCOMP_RET_ALLOW);
        }
}

static void no_exec(struct calls *f, uint32_t nr)
{
        branch_equal(f, nr, 0, 4);
        load(f, ARG2_LOW);
        put_instruction(f, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC_BIT, 1, 0);
        answer(f, SECCOMP_RET_ALLOW);
        answer(f, SECCOMP_RET_KILL_PROCESS);
}

void calls_allow_memory(struct calls *f)
{
        no_exec(f, SYS_mmap);
        no_exec(f, SYS_mprotect);
}

void calls_allow_first(struct calls *f, uint32_t nr, uint32_t one, uint32_t other)
{
        branch_equal(f, nr, 0, 5);
        load(f, ARG_LOW);
        branch_equal(f, one, 1, 0);
        branch_equal(f, other, 0, 1);
        answer(f, SECCOMP_RET_ALLOW);
        answer(f, SECCOMP_RET_KILL_PROCESS);
}

void calls_allow_among(struct calls *f, uint32_t nr, const uint32_t *first, size_t count, int refused)
{
        branch_equal(f, nr, 0, (uint8_t) (2 * count + 2));
        load(f, ARG_LOW);
        for (size_t i = 0; i < count; i++) {
                branch_equal(f, first[i], 0, 1);
                answer(f, SECCOMP_RET_ALLOW);
        }

        answer(f, SECCOMP_RET_ERRNO | (uint32_t) refused);
}

void calls_allow_without(struct calls *f, uint32_t nr, uint32_t bits, int refused)
{
        branch_equal(f, nr, 0, 4);
        load(f, ARG_LOW);
        put_instruction(f, BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0);
        answer(f, SECCOMP_RET_ALLOW);
        answer(f, SECCOMP_RET_ERRNO | (uint32_t) refused);
}

bool calls_sanitized(void) { return SANITIZED; }

static int close_with(struct calls *f, uint32_t rest)
{
        answer(f, rest);
        struct sock_fprog prog = { .len = f->n, .filter = f->at };
        errno = E2BIG;
        if (f->n > CALLS_MAX)
                return -1;
        return !SANITIZED ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) : 0;
}

int calls_close(struct calls *f) { return close_with(f, SECCOMP_RET_KILL_PROCESS); }

int calls_close_softly(struct calls *f) { return close_with(f, SECCOMP_RET_ERRNO | ENOSYS); }

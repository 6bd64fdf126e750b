/* SPDX-License-Identifier: MIT */
/* face/bwrap/bwrap_filter.c - the walls beside the namespaces: system-call filters and a Landlock domain.
 *
 * Commands of bubblewrap's users mount, trace and create namespaces inside, so the filter of `cordon run`
 * would break them. This one denies what no such command needs: calls that reach the kernel itself, the
 * keyrings and the terminal's input. A call that requires a capability is let through if an option names that
 * capability. */
#include "base/fd.h"
#include "face/bwrap/bwrap.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum abi { ABI_X86_64 = 0, ABI_I386, ABI_AARCH64, ABI__COUNT };
enum { NO_CAP = -1, NO_CALL = -1 };

struct denied {
        int16_t number[ABI__COUNT];
        int16_t error;
        int8_t cap;
};

static const struct denied table[] = {
        { { 103, 103, 116 }, EPERM, CAP_SYSLOG },          /* syslog */
        { { 134, 86, NO_CALL }, ENOSYS, NO_CAP },          /* uselib */
        { { 163, 51, 89 }, EPERM, CAP_SYS_PACCT },         /* acct */
        { { 167, 87, 224 }, EPERM, CAP_SYS_ADMIN },        /* swapon */
        { { 168, 115, 225 }, EPERM, CAP_SYS_ADMIN },       /* swapoff */
        { { 169, 88, 142 }, EPERM, CAP_SYS_BOOT },         /* reboot */
        { { 172, 110, NO_CALL }, EPERM, CAP_SYS_RAWIO },   /* iopl */
        { { 173, 101, NO_CALL }, EPERM, CAP_SYS_RAWIO },   /* ioperm */
        { { 175, 128, 105 }, EPERM, CAP_SYS_MODULE },      /* init_module */
        { { 176, 129, 106 }, EPERM, CAP_SYS_MODULE },      /* delete_module */
        { { 179, 131, 60 }, EPERM, CAP_SYS_ADMIN },        /* quotactl */
        { { 212, 253, 18 }, EPERM, CAP_SYS_ADMIN },        /* lookup_dcookie */
        { { 246, 283, 104 }, EPERM, CAP_SYS_BOOT },        /* kexec_load */
        { { 248, 286, 217 }, EPERM, NO_CAP },              /* add_key */
        { { 249, 287, 218 }, EPERM, NO_CAP },              /* request_key */
        { { 250, 288, 219 }, EPERM, NO_CAP },              /* keyctl */
        { { 298, 336, 241 }, EPERM, CAP_PERFMON },         /* perf_event_open */
        { { 304, 342, 265 }, EPERM, CAP_DAC_READ_SEARCH }, /* open_by_handle_at */
        { { 313, 350, 273 }, EPERM, CAP_SYS_MODULE },      /* finit_module */
        { { 320, NO_CALL, 294 }, EPERM, CAP_SYS_BOOT },    /* kexec_file_load */
        { { 321, 357, 280 }, EPERM, CAP_BPF },             /* bpf */
        { { 323, 374, 282 }, EPERM, CAP_SYS_PTRACE },      /* userfaultfd */
        { { 425, 425, 425 }, ENOSYS, NO_CAP },             /* io_uring_setup */
        { { 426, 426, 426 }, ENOSYS, NO_CAP },             /* io_uring_enter */
        { { 427, 427, 427 }, ENOSYS, NO_CAP },             /* io_uring_register */
        { { 443, 443, 443 }, EPERM, CAP_SYS_ADMIN },       /* quotactl_fd */
        { { NO_CALL, 113, NO_CALL }, ENOSYS, NO_CAP },     /* vm86old */
        { { NO_CALL, 166, NO_CALL }, ENOSYS, NO_CAP },     /* vm86 */
};

static const int16_t ioctl_number[ABI__COUNT] = { 16, 54, 29 };

struct program {
        struct sock_filter *to;
        size_t n;
};

static void emit(struct program *p, struct sock_filter insn) { p->to[p->n++] = insn; }

static void put_answer(struct program *p, uint32_t value)
{
        emit(p, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, value));
}

static void put_load(struct program *p, size_t offset)
{
        emit(p, (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t) offset));
}

/* The next instruction is skipped unless the word is `value`. */
static void only_if(struct program *p, uint32_t value)
{
        emit(p, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
}

/* Input that the user did not type (CVE-2017-5226, CVE-2023-28100). The kernel takes the low word alone, so a
 * high word must not hide the request (CVE-2019-10063). */
static void deny_requests(struct program *p)
{
        static const uint32_t requests[] = { TIOCSTI, TIOCLINUX };
        put_load(p, offsetof(struct seccomp_data, args[1]));
        for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
                only_if(p, requests[i]);
                put_answer(p, SECCOMP_RET_ERRNO | EPERM);
        }

        put_answer(p, SECCOMP_RET_ALLOW);
}

static void deny_calls(struct program *p, enum abi abi, uint64_t caps, bool terminal)
{
        put_load(p, offsetof(struct seccomp_data, nr));
        if (abi == ABI_X86_64) { /* x32 */
                emit(p, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
                put_answer(p, SECCOMP_RET_ERRNO | ENOSYS);
        }

        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                const struct denied *d = &table[i];
                if (d->number[abi] == NO_CALL || (d->cap != NO_CAP && caps >> d->cap & 1))
                        continue;
                only_if(p, (uint32_t) d->number[abi]);
                put_answer(p, SECCOMP_RET_ERRNO | (uint32_t) d->error);
        }

        if (!terminal) {
                put_answer(p, SECCOMP_RET_ALLOW);
                return;
        }

        emit(p, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t) ioctl_number[abi], 1, 0));
        put_answer(p, SECCOMP_RET_ALLOW);
        deny_requests(p);
}

/* The part for one ABI, passed over if the call is of another. */
static void add_abi(struct program *p, enum abi abi, uint32_t audit, uint64_t caps, bool terminal)
{
        size_t at = p->n + 1;
        only_if(p, audit);
        emit(p, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
        emit(p, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0));
        deny_calls(p, abi, caps, terminal);
        p->to[at + 1].k = (uint32_t) (p->n - at - 2);
}

/* The system calls that no box makes, unless `caps` names the capability that the call requires. `terminal`:
 * the caller has one, whose input the command must not type. */
static size_t compile_filter(uint64_t caps, bool terminal, struct sock_filter ret[BWRAP_FILTER_MAX])
{
        struct program p = { ret, 0 };
        put_load(&p, offsetof(struct seccomp_data, arch));
#if defined(__x86_64__)
        add_abi(&p, ABI_X86_64, AUDIT_ARCH_X86_64, caps, terminal);
        add_abi(&p, ABI_I386, AUDIT_ARCH_I386, caps, terminal);
#else
        add_abi(&p, ABI_AARCH64, AUDIT_ARCH_AARCH64, caps, terminal);
#endif
        put_answer(&p, SECCOMP_RET_ERRNO | ENOSYS);
        return p.n;
}

/* A compiled program, as seccomp_export_bpf() writes it. */
static int read_program(int fd, struct sock_fprog *ret, struct err *e)
{
        enum { BYTES = BPF_MAXINSNS * sizeof(struct sock_filter) };
        struct sock_filter *program = malloc(BYTES + 1);
        ssize_t n = program ? fd_read_all(fd, program, BYTES + 1) : -1;
        if (n < 0) {
                (void) err_set(e, ERR_IO, errno, "Can't read seccomp data");
        } else if (n > BYTES || (size_t) n % sizeof *program != 0) {
                (void) err_set(e, ERR_USAGE, 0, "Invalid seccomp data, must be multiple of 8");
        } else {
                *ret = (struct sock_fprog){ (unsigned short) ((size_t) n / sizeof *program), program };
                (void) close(fd);
                return 0;
        }

        free(program);
        return -1;
}

int bwrap_filters_read(const struct bwrap_order *o, bool terminal, struct bwrap_filters *ret, struct err *e)
{
        size_t own = compile_filter(o->caps_added, terminal, ret->own);
        ret->programs[0] = (struct sock_fprog){ (unsigned short) own, ret->own };
        ret->count = 1;
        if (o->seccomp_fd >= 0 && read_program(o->seccomp_fd, &ret->programs[ret->count++], e) < 0)
                return -1;

        for (size_t i = 0; i < o->filter_count; i++)
                if (read_program(o->filters[i], &ret->programs[ret->count++], e) < 0)
                        return -1;
        return 0;
}

/* With a domain of its own the command cannot trace processes outside, nor signal them if the kernel knows
 * that scope. It has no rule about files: one would forbid every mount inside. The kernel allows 16 nested
 * domains; the command then stays in those that it is in. */
static int enter_domain(struct err *e)
{
        const struct {
                uint64_t files, net, scoped;
        } rules = { 0, 0, 1ull << 1 /* LANDLOCK_SCOPE_SIGNAL */ };
        AUTO_FD(domain, (int) syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0));
        if (domain < 0) /* an older kernel, or one without Landlock */
                return 0;
        if (syscall(SYS_landlock_restrict_self, domain, 0) < 0 && errno != E2BIG)
                return err_set(e, ERR_WALL, errno, "Entering a Landlock domain failed");
        return 0;
}

int bwrap_filters_load(const struct bwrap_filters *f, struct err *e)
{
        if (enter_domain(e) < 0)
                return -1;

        for (size_t i = 0; i < f->count; i++)
                if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &f->programs[i], 0, 0) < 0)
                        return err_set(e, ERR_WALL, errno, "Loading a system-call filter failed");
        return 0;
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/seccomp_filters.h - the compiled filter of every ask on both architectures, for the tests of the
 * wall's seccomp half. */
#pragma once
#include "bpf_sim.h"
#include "harness.h"
#include "wall/linux/seccomp/seccomp.h"

#include <linux/audit.h>
#include <stdlib.h>

enum { ASKS = 512 }; /* every combination of the nine flags */

__attribute__((unused)) static const uint32_t audit[SECCOMP_ARCH__COUNT] = { AUDIT_ARCH_X86_64,
                                                                             AUDIT_ARCH_AARCH64 };
/* The number of our own start's calls; the payload's never have it. */
#define OUR_OWN UINT64_C(0x8123456789abcdef)
/* A high word that the kernel ignores. */
__attribute__((unused)) static const uint64_t garbage = 0xdeadbeef00000000;

static inline struct seccomp_ask ask_of(enum seccomp_arch arch, unsigned bits)
{
        return (struct seccomp_ask){ .arch = arch,
                                     .net = bits & 1,
                                     .unix_sockets = bits & 2,
                                     .own_ipc = bits & 4,
                                     .tell = bits & 8,
                                     .own_view = bits & 32,
                                     .watch = bits & 64,
                                     .watch_reads = bits & 128,
                                     .watch_maps = bits & 128,
                                     .touch_paths = bits & 128,
                                     .unix_served = bits & 256,
                                     .memfd = bits & 16,
                                     .trace = bits & 16,
                                     .connects = bits & 16,
                                     .moves = bits & 16,
                                     .links = bits & 16,
                                     .syncs = bits & 16,
                                     .names = bits & 16,
                                     .signals = bits & 16,
                                     .own = OUR_OWN };
}

static inline uint32_t fails(int err) { return SECCOMP_RET_ERRNO | (uint32_t) err; }

static inline const struct seccomp_row *row_named(const char *name)
{
        size_t count;
        const struct seccomp_row *rows = seccomp_table(&count);
        for (size_t i = 0; i < count; i++) {
                if (strcmp(seccomp_row_name(&rows[i]), name) == 0)
                        return &rows[i];
        }
        return NULL;
}

struct filter {
        struct seccomp_ask ask;
        struct sock_filter insns[SECCOMP_INSNS_MAX];
        size_t n;
};

static inline const struct filter *filter_of(enum seccomp_arch arch, unsigned bits)
{
        static struct filter made[SECCOMP_ARCH__COUNT][ASKS];
        struct filter *f = &made[arch][bits];
        if (f->n == 0) {
                f->ask = ask_of(arch, bits);
                f->n = seccomp_compile(&f->ask, f->insns, SECCOMP_INSNS_MAX);
                if (f->n == 0 || bpf_sim_refusal(f->insns, f->n)) {
                        printf("Bail out! no filter to test\n");
                        exit(1);
                }
        }
        return f;
}

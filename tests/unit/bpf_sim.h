/* SPDX-License-Identifier: MIT */
/* tests/unit/bpf_sim.h - runs and checks classic BPF as the kernel does for seccomp(2).
 * Knows nothing of cordon: it is the second opinion on what wall/linux/seccomp/seccomp_bpf.c writes. */
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_end {
        uint32_t ret;     /* what the filter answered */
        unsigned steps;   /* instructions run */
        bool looked_past; /* it loaded something else than the number and the architecture */
};

/* NULL, or why the kernel would not load it. */
const char *bpf_sim_refusal(const struct sock_filter *f, size_t n);

/* Runs a program that bpf_sim_refusal() finds nothing against. */
struct bpf_end bpf_sim_run(const struct sock_filter *f, const struct seccomp_data *d);

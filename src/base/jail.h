/* SPDX-License-Identifier: MIT */
/* base/jail.h - what a process of ours that reads strangers' bytes gives up before it reads the first one.
 * Its system calls it closes itself (base/calls.h). */
#pragma once
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/* Identity (become; 0: it stays), capabilities, priority, privileges by exec, core dumps, locked memory, and
 * with Landlock every file and port. A sanitized process keeps the files, which its sanitizer reads. */
int jail_enter(const char *program, uint32_t become, rlim_t memory, struct err *e);

/* Its first part: the directory, priority, identity, capabilities, privileges by exec. Returns 0, or -1 with
 * errno. */
int jail_drop(uint32_t become);
int jail_limit(int what, rlim_t most); /* as low as that; lower stays */
/* Landlock's accesses by number, because headers may be older than the kernel. */
struct jail_rules {
        uint64_t fs, net, scoped;
};
#define JAIL_ALL ((struct jail_rules){ 0xffff, 3, 3 })
/* A set of rules that denies what it handles: *r, of which only what this kernel knows is left. Returns a
 * descriptor, or -1 with errno, which is 0 if there is no Landlock: the box's own wall has reported that. */
int jail_ruleset(struct jail_rules *r);
/* Enters and closes the set that jail_ruleset() has returned; `bad`: it only closes it. Returns 0 or -1. */
int jail_restrict(int set, bool bad);
/* Closes every system call but these and memory. A sanitized process keeps them. */
int jail_calls(const char *program, const uint32_t *allowed, size_t count, struct err *e);

/* "PROGRAM cannot WHAT: " and errno. Returns -1. */
int jail_failed(const char *program, const char *what, struct err *e);

/* SPDX-License-Identifier: MIT */
/* base/jail.h - what a process of ours that reads strangers' bytes gives up before it reads the first one.
 * Its system calls it closes itself (base/calls.h). */
#pragma once
#include "base/err.h"

#include <stdint.h>
#include <sys/resource.h>

/* Identity (become; 0: it stays), capabilities, priority, privileges by exec, core dumps, locked memory, and
 * with Landlock every file and port. A sanitized process keeps the files, which its sanitizer reads. */
int jail_enter(const char *program, uint32_t become, rlim_t memory, struct err *e);

int jail_limit(int what, rlim_t most); /* as low as that; lower stays */

/* "PROGRAM cannot WHAT: " and errno. Returns -1. */
int jail_failed(const char *program, const char *what, struct err *e);

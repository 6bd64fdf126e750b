/* SPDX-License-Identifier: MIT */
/* broker/egress/broker_jail.h - the privileges that the broker drops before it reads a byte of the box. */
#pragma once
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Called before any secret arrives: the process becomes undumpable and leaves no core. */
int jail_memory(struct err *e);
/* Ids (when started by root), groups, capabilities, rlimits, not dumpable, no new privileges. */
int jail_identity(uint32_t become, struct err *e);
/* For the resolver: files are read, none is changed. 0 or -1. */
int jail_read_only(void);
/* For the resolver: system calls that its libraries need; any other fails. 0 or -1. */
int jail_resolver(void);
/* For the broker: no file at all but `file_bytes` of one that is open, TCP to these ports only (if the kernel
 * supports it), and an allow-list of system calls; any other call kills it. */
int jail_close(const uint16_t *ports, size_t count, uint64_t file_bytes, struct err *e);

/* SPDX-License-Identifier: MIT */
/* egress/broker/broker_jail.h - what the broker gives up before it reads a byte of the box. */
#pragma once
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Before anything secret comes: nobody looks into it, and it leaves no core. */
int jail_memory(struct err *e);
/* Ids (when started by root), groups, capabilities, rlimits, not dumpable, no new privileges. */
int jail_identity(uint32_t become, struct err *e);
/* For the resolver: files are read, none is changed. 0 or -1. */
int jail_read_only(void);
/* For the resolver: system calls that its libraries need; any other fails. 0 or -1. */
int jail_resolver(void);
/* For the broker: no file at all but `file_bytes` of one that is open, TCP to these ports only (where the
 * kernel can tell), and an allow-list of system calls; anything else ends it. */
int jail_close(const uint16_t *ports, size_t count, uint64_t file_bytes, struct err *e);

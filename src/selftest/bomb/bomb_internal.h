/* SPDX-License-Identifier: MIT */
/* selftest/bomb/bomb_internal.h - the bombs, and how they report the error that stopped them. */
#pragma once
#include "selftest/bomb/bomb.h"

/* The name for processes that are left running. */
extern const char *bomb_tag;

enum {
        BOMB_MIB = 320, /* of memory */
        BOMB_DISK_MIB = 256,
        BOMB_BLOCK = 64 << 10, /* written at once to a disk */
        BOMB_HANDLES = 4096,
};

/* Prints the error that stopped it (errno) or, with 0, that nothing did; holds its resources for a moment,
 * because samples are taken twenty times a second; returns an exit status. */
int bomb_stopped(int sys, size_t count);
int bomb_through(size_t count);

int bomb_heap(size_t i);
int bomb_tmpfs(size_t i);
int bomb_cache(size_t i);
int bomb_memfd(size_t i);
int bomb_segments(size_t i);
int bomb_pipes(size_t i);
int bomb_sockets(size_t i);
int bomb_fork(size_t i);
int bomb_threads(size_t i);
int bomb_descriptors(size_t i);
int bomb_watches(size_t i);
int bomb_interfaces(size_t i);
int bomb_inodes(size_t i);
int bomb_disk(size_t i);
int bomb_sparse(size_t i);
int bomb_timers(size_t i);
int bomb_signals(size_t i);
int bomb_deep(size_t i);
int bomb_cpu(void);
int bomb_connections(void);
int bomb_events(void);
int bomb_output(void);
int bomb_stopped_self(void);
int bomb_daemon(void);
int bomb_argv(void);
int bomb_zip(void);

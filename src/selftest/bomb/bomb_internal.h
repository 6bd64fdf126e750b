/* SPDX-License-Identifier: MIT */
/* selftest/bomb/bomb_internal.h - the bombs, and how they report the error that stopped them. */
#pragma once
#include "selftest/bomb/bomb.h"

/* Prints the error that stopped it (errno) or, with 0, that nothing did; holds its resources for a moment,
 * because samples are taken twenty times a second; returns an exit status. */
int bomb_stopped(int sys, size_t count);
int bomb_through(size_t count);

int bomb_cpu(const char *tag);
int bomb_heap(const char *tag);
int bomb_tmpfs(const char *tag);
int bomb_cache(const char *tag);
int bomb_memfd(const char *tag);
int bomb_segments(const char *tag);
int bomb_pipes(const char *tag);
int bomb_sockets(const char *tag);
int bomb_connections(const char *tag);
int bomb_fork(const char *tag);
int bomb_threads(const char *tag);
int bomb_descriptors(const char *tag);
int bomb_watches(const char *tag);
int bomb_events(const char *tag);
int bomb_interfaces(const char *tag);
int bomb_inodes(const char *tag);
int bomb_disk(const char *tag);
int bomb_sparse(const char *tag);
int bomb_output(const char *tag);
int bomb_timers(const char *tag);
int bomb_signals(const char *tag);
int bomb_stopped_self(const char *tag);
int bomb_daemon(const char *tag);
int bomb_deep(const char *tag);
int bomb_argv(const char *tag);
int bomb_zip(const char *tag);

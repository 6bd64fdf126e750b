/* SPDX-License-Identifier: MIT */
/* wire/wire.h - one message, and at most one descriptor with it, between our own processes.
 * SOCK_SEQPACKET keeps the bounds; a message of another size than expected is an error, never a guess. */
#pragma once
#include <stddef.h>

/* A connected pair, both ends close-on-exec. 0 or -1 with errno. */
int wire_pair(int ret_ends[2]);
/* 0 or -1 with errno. `pass` is a descriptor to hand over, or -1. */
int wire_send(int fd, const void *p, size_t n, int pass);
/* The same without waiting: what the other side is too slow to take is dropped. */
int wire_offer(int fd, const void *p, size_t n);
/* 1: a whole message; 0: the other side is gone; -1 with errno (EPROTO: wrong size or more than one
 * descriptor). `ret_pass` receives a descriptor (close-on-exec) or -1; NULL: one that comes is an error. */
int wire_recv(int fd, void *p, size_t n, int *ret_pass);

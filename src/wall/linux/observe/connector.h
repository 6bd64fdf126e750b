/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/connector.h - the process that makes the connections of a box which sees sockets that
 * are not its own.
 *
 * A mount does not stop connect(): the host's sockets behind a directory door could be connected to. So in
 * such a box the filter sends every connect() that may be to a Unix socket, and every listen(), to init, and
 * init passes it to the connector, which is started on first use. The connector takes the caller's own socket
 * (pidfd_getfd), copies the address once, and connects the socket itself, to the very inode that it checked.
 * A connect() never continues in the caller: between the check and the kernel's own lookup another thread
 * could change address, names or descriptor (TOCTOU).
 *
 * It also serves the box's sockets for NETLINK_ROUTE (net_links.h) and adds its watches (inotify.c).
 *
 * It is a process of its own because names in doors may lie on filesystems that do not answer, and because a
 * connection may block: init must reap and enforce limits meanwhile. */
#pragma once
#include "wall/internal.h"

/* Takes a call over and answers it later. Returns false if the queue is full or no process can be started. */
bool connector_take(struct wall_init *w, const struct seccomp_notif *n);
/* The same for the calls about sockets for NETLINK_ROUTE. False: *ret_answer is the answer. */
bool connector_link(struct wall_init *w, const struct seccomp_notif *n,
                    struct seccomp_notif_resp *ret_answer);
/* A child of init's has ended: was it the connector? The next call makes a new one. */
void connector_ended(struct wall_init *w, pid_t pid);

/* ---- connector_target.c: the sockets that may be connected to ---- */

enum { TARGETS_MAX = 256 };

/* Sockets that may be reached by name: those that the box listens on, and those of `sock` doors. A held
 * descriptor keeps its inode's number from being used again. */
struct targets {
        struct target {
                int fd;
                uint64_t dev, ino;
        } at[TARGETS_MAX];
        unsigned fixed, next, count; /* the first `fixed` are doors and stay; of the others the oldest goes */
        uint64_t scratch_dev;        /* the box's private files: every socket there is the box's */
};

void targets_begin(struct targets *t, const struct wall_init *w);
/* A socket that the box listens on, as its own. Ignored: one without a name, or of another's network. */
void targets_listen(struct targets *t, int sock);
/* `fd` (taken): a descriptor of the socket's inode. Returns a descriptor of the same socket to connect
 * through, or -1 with errno set: ECONNREFUSED if it is not a socket, EACCES if it is not the box's and has no
 * door. */
int targets_judge(struct targets *t, int fd);

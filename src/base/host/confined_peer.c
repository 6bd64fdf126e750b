/* SPDX-License-Identifier: MIT */
/* base/host/confined_peer.c - the process at the other end of a Unix socket: how it is confined, and whether
 * it can inspect this one. */
#include "base/fd.h"
#include "base/host/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* Its pid, and a descriptor of it where the kernel has that (6.5): while it is open and the process is there,
 * no other process has the number. -1: it is in a pid namespace that this process does not see. */
static pid_t find_peer(int socket, int *ret_pidfd)
{
        struct ucred who = { .pid = 0 };
        socklen_t n = sizeof who, size = sizeof *ret_pidfd;
        *ret_pidfd = -1;
        if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0 || who.pid <= 0)
                return -1;

        if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, ret_pidfd, &size) == 0 || errno == ENOPROTOOPT)
                return who.pid;

        *ret_pidfd = -1;
        return -1; /* it is gone */
}

const char *host_peer_confined(int socket, enum host_confinement_scope scope)
{
        int pidfd;
        pid_t pid = find_peer(socket, &pidfd);
        AUTO_FD(held, pidfd);
        struct host_confinement *both = pid > 0 ? malloc(2 * sizeof *both) : NULL;
        const char *more = "a process that cannot be inspected";
        bool read =
                both && host_confinement_read(pid, &both[0]) == 0 && host_confinement_read(0, &both[1]) == 0;
        bool alive = held < 0 || syscall(SYS_pidfd_send_signal, held, 0, NULL, 0) == 0;
        if (read && alive)
                more = host_confined_more(&both[0], &both[1], scope);

        free(both);
        return more;
}

int host_peer_proof(int socket)
{
        char path[48];
        int pidfd;
        pid_t pid = find_peer(socket, &pidfd);
        AUTO_FD(held, pidfd);
        (void) snprintf(path, sizeof path, "/proc/%d/fdinfo", pid);
        return pid > 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
}

/* The kernel (5.14) opens this directory for a process that may trace this one: not from another Landlock
 * domain. It does not check that for a descriptor with O_PATH, nor for other files if the process has
 * CAP_PERFMON. */
bool host_proof_holds(int fd, pid_t of)
{
        char path[48] = "/proc/self/fdinfo";
        struct stat own, st;
        int flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
        if (of)
                (void) snprintf(path, sizeof path, "/proc/%d/fdinfo", of);

        return flags >= 0 && !(flags & O_PATH) && fstat(fd, &st) == 0 && stat(path, &own) == 0 &&
               st.st_dev == own.st_dev && st.st_ino == own.st_ino;
}

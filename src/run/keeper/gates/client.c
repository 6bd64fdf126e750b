/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/client.c - finds the approver's sockets of running boxes, of every user, and connects to
 * one. A name can be bound by any process: the peer's uid must be the one in the name. */
#include "base/fd.h"
#include "run/keeper/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct looking {
        void (*each)(void *ctx, const char *run, unsigned uid);
        void *ctx;
};

/* "UID/RUN" */
static bool name_found(void *ctx, const char *rest)
{
        const struct looking *l = ctx;
        char *end;
        unsigned long uid = strtoul(rest, &end, 10);
        size_t n = *end == '/' ? strspn(end + 1, "0123456789abcdef-") : 0;
        if (n > 0 && n < 64 && end[1 + n] == '\0' && uid <= UINT32_MAX)
                l->each(l->ctx, end + 1, (unsigned) uid);
        return true;
}

int box_gates_each(void (*each)(void *ctx, const char *run, unsigned uid), void *ctx, struct err *e)
{
        struct looking l = { each, ctx };
        return registry_each("cordon-gate/", name_found, &l, e);
}

int box_gate_connect(const char *run, unsigned uid, struct err *e)
{
        struct sockaddr_un a;
        struct ucred c;
        socklen_t size = sizeof c;
        AUTO_FD(fd, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (strlen(run) >= 64)
                return err_set(e, ERR_USAGE, 0, "not the id of a run");

        if (fd < 0 || connect(fd, (struct sockaddr *) &a, registry_address(&a, "cordon-gate", uid, run)) < 0)
                return err_set(e, ERR_IO, errno, "no box of this run waits for approvals");

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &size) < 0 || c.uid != uid)
                return err_set(e, ERR_IO, 0, "another user's process has the name of this run's socket");

        return TAKE_FD(fd);
}

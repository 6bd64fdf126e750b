/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/gates_make.c - makes the desk and its socket, at the start of a box or when a renewal
 * first asks. */
#include "base/fd.h"
#include "run/keeper/gates/gates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int gates_make(struct box *b, struct err *e)
{
        size_t n;
        (void) policy_doors(b->c.policy, &n);
        struct gates *g = b->gates = calloc(1, sizeof *g);
        if (g) {
                g->epoll = g->listener = g->line = -1;
                for (unsigned i = 0; i < APPROVERS_MAX; i++)
                        g->approvers[i].fd = -1;
                g->opened = calloc(n + 1, sizeof *g->opened);
                g->epoll = epoll_create1(EPOLL_CLOEXEC);
        }

        if (!g || !g->opened || g->epoll < 0)
                return err_set(e, ERR_MEMORY, errno, "no memory for what waits for an approval");

        if (channel_open(b, e) < 0)
                return -1;

        if (gates_watch(g, g->listener, KEY_LISTENER) < 0)
                return err_set(e, ERR_IO, errno, "waiting for approvers: %s", strerror(errno));

        return 0;
}

/* What still waits is withdrawn. */
void gates_free(struct box *b)
{
        struct gates *g = b->gates;
        desk_clear(b);
        channel_close(g);
        fd_close(&g->line);
        fd_close(&g->epoll);
        free(g->opened);
        free(g);
        b->gates = NULL;
}

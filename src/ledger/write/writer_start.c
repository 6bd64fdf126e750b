/* SPDX-License-Identifier: MIT */
/* ledger/write/writer_start.c - starts the writer of a run, for the process at the other end of its socket
 * pair. */
#include "base/fd.h"
#include "base/host/host.h"
#include "ledger/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

void ledger_effect_id(const char *run, char what, uint32_t number, char ret_id[LEDGER_ID_MAX])
{
        (void) snprintf(ret_id, LEDGER_ID_MAX, "%s.%c%u", run, what, number);
}

struct child ledger_writer_start(const struct cordon_context *cx, const char *run, const char *box,
                                 const int line[2], struct err *e)
{
        char path[PATH_MAX], place[PATH_MAX], name[] = "cordon-ledger", verb[] = "write", of[LEDGER_ID_MAX],
                                              in[80];
        if (host_program(cx, "cordon-ledger", path, sizeof path, e) < 0 ||
            ledger_place(cx, place, sizeof place, e) < 0)
                return CHILD_NONE;

        (void) snprintf(of, sizeof of, "%s", run);
        (void) snprintf(in, sizeof in, "%s", box);
        char *const argv[] = { name, verb, place, of, in, NULL }, *const empty[] = { NULL };
        const int fds[] = { -1, -1, -1, line[0], line[1] };
        struct child c = host_spawn(&(struct host_spawn){ .path = path,
                                                          .argv = argv,
                                                          .envp = empty,
                                                          .fds = fds,
                                                          .fd_count = LEDGER_CAUSES_LINE + 1,
                                                          .flags = HOST_SPAWN_APART });
        if (c.pid < 0)
                (void) err_set(e, ERR_EXEC, errno, "the ledger's writer could not be started: %s",
                               strerror(errno));

        return c;
}

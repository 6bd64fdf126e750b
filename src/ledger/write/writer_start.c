/* SPDX-License-Identifier: MIT */
/* ledger/write/writer_start.c - starts the writer of a run, for whoever holds the other end of its line. */
#include "base/fd.h"
#include "host/host.h"
#include "ledger/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>

void ledger_effect_id(const char *run, char what, uint32_t number, char ret_id[LEDGER_ID_MAX])
{
        (void) snprintf(ret_id, LEDGER_ID_MAX, "%s.%c%u", run, what, number);
}

/* Nothing of the caller's but the line: no terminal, variable, directory or signal. */
static int prepare(posix_spawn_file_actions_t *files, posix_spawnattr_t *how, int line)
{
        sigset_t none, all;
        (void) sigemptyset(&none);
        (void) sigfillset(&all);
        int bad = posix_spawnattr_setflags(how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                                        POSIX_SPAWN_SETSIGDEF);
        bad |= posix_spawnattr_setsigmask(how, &none) | posix_spawnattr_setsigdefault(how, &all);
        bad |= posix_spawn_file_actions_adddup2(files, line, LEDGER_LINE);
        for (int i = 0; i < 3; i++)
                bad |= posix_spawn_file_actions_addopen(files, i, "/dev/null", O_RDWR, 0);

        return bad;
}

pid_t ledger_writer_start(const struct cordon_context *cx, const char *run, const char *box, int line,
                          struct err *e)
{
        char path[PATH_MAX], place[PATH_MAX], name[] = "cordon-ledger", verb[] = "write", of[LEDGER_ID_MAX],
                                              in[80];
        if (host_program(cx, "cordon-ledger", path, sizeof path, e) < 0 ||
            ledger_place(cx, place, sizeof place, e) < 0)
                return -1;

        (void) snprintf(of, sizeof of, "%s", run);
        (void) snprintf(in, sizeof in, "%s", box);
        char *const argv[] = { name, verb, place, of, in, NULL }, *const empty[] = { NULL };
        posix_spawn_file_actions_t files;
        posix_spawnattr_t how;
        pid_t pid = -1;
        AUTO_FD(high, fcntl(line, F_DUPFD_CLOEXEC, LEDGER_LINE + 1)); /* dup2 onto itself would not last */
        (void) posix_spawn_file_actions_init(&files);
        (void) posix_spawnattr_init(&how);
        int sys = high < 0 || prepare(&files, &how, high) != 0
                          ? EMFILE
                          : posix_spawn(&pid, path, &files, &how, argv, empty);
        (void) posix_spawn_file_actions_destroy(&files);
        (void) posix_spawnattr_destroy(&how);
        if (sys != 0)
                return err_set(e, ERR_EXEC, sys, "the ledger's writer could not be started: %s",
                               strerror(sys));

        return pid;
}

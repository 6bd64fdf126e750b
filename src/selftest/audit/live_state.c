/* SPDX-License-Identifier: MIT */
/* selftest/audit/live_state.c - makes and removes a state directory for one trial. */
#include "selftest/audit/live_state.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
        (void) st;
        (void) at;
        return type == FTW_DP ? rmdir(path) : unlink(path);
}

void own_state_done(struct own_state *s)
{
        cordon_context_free(s->cx);
        cordon_context_free(s->writer);
        if (s->dir[0])
                (void) nftw(s->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

int own_state_make(struct own_state *s, mode_t mode)
{
        static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", quiet[] = "CORDON_LEDGER=off",
                    none[] = "CORDON_LIBEXEC=/nonexistent";
        const char *libexec = getenv("CORDON_LIBEXEC");
        *s = (struct own_state){ .dir = "/tmp/cordon-audit.XXXXXX" };
        if (!mkdtemp(s->dir) || chmod(s->dir, mode) < 0) {
                s->dir[0] = '\0';
                return -1;
        }

        (void) snprintf(s->home, sizeof s->home, "HOME=%s", s->dir);
        (void) snprintf(s->variable, sizeof s->variable, "CORDON_STATE=%s", s->dir);
        (void) snprintf(s->libexec, sizeof s->libexec, "CORDON_LIBEXEC=%.4000s", libexec ? libexec : "");
        char *with[] = { s->variable, path, s->home, quiet, libexec ? s->libexec : NULL, NULL },
             *without[] = { s->variable, path, s->home, quiet, none, NULL };
        memcpy(s->environment, with, sizeof with);
        memcpy(s->alone, without, sizeof without);
        s->cx = cordon_context_new(s->environment);
        s->writer = cordon_context_new(s->alone);
        return s->cx && s->writer ? 0 : -1;
}

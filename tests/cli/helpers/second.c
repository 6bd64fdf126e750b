/* SPDX-License-Identifier: MIT */
/* What stands behind the filter of calls, looked at from a box of the test build that has none: `second`
 * tells, one line each. `second hold COMMAND...` runs a command with a key in the session's keyring, as a
 * caller would have one. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char kind[] = "user", name[] = "cordon-test-key", secret[] = "hunter2";

static int hold(char **command)
{
        if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ||
            syscall(SYS_add_key, kind, name, secret, sizeof secret - 1, KEY_SPEC_SESSION_KEYRING) < 0)
                return 99;
        (void) execvp(command[0], command);
        return 98;
}

int main(int argc, char **argv)
{
        if (argc > 2 && strcmp(argv[1], "hold") == 0)
                return hold(argv + 2);
        long key = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, kind, name, 0);
        /* That the call itself is refused would say nothing of the keyring. */
        printf("key %s\n", key >= 0 ? "FOUND" : errno == ENOKEY ? "none" : strerror(errno));
        printf("securebits %#x\n", (unsigned) prctl(PR_GET_SECUREBITS, 0, 0, 0, 0));
        printf("namespace %s\n", unshare(CLONE_NEWUSER) == 0 ? "MADE" : "refused");
        return 0;
}

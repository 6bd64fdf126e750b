/* SPDX-License-Identifier: MIT */
/* What stands behind the filter of calls, looked at from a box of the test build that has none: `second`
 * tells, one line each. `second hold COMMAND...` runs a command with a key in the session's keyring, as a
 * caller would have one. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static const char kind[] = "user", name[] = "cordon-test-key", secret[] = "hunter2";

/* A name without a file, that whoever holds it listens to. */
static const struct sockaddr_un abstract = { AF_UNIX, "\0cordon-test-second" };
static const socklen_t abstract_size = offsetof(struct sockaddr_un, sun_path) + sizeof "cordon-test-second";

static int hold(char **command)
{
        if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ||
            syscall(SYS_add_key, kind, name, secret, sizeof secret - 1, KEY_SPEC_SESSION_KEYRING) < 0)
                return 99;
        int heard = socket(AF_UNIX, SOCK_STREAM, 0);
        if (bind(heard, (const struct sockaddr *) &abstract, abstract_size) < 0 || listen(heard, 4) < 0)
                return 97;
        (void) execvp(command[0], command);
        return 98;
}

/* What the kernel says is not there was looked for; only Landlock says that it may not be. */
static void try_connect(const char *what, const void *to, socklen_t size)
{
        int family = ((const struct sockaddr *) to)->sa_family;
        int fd = socket(family, SOCK_STREAM, 0);
        int r = connect(fd, to, size);
        printf("%s %s\n", what,
               r == 0                              ? "CONNECTED"
               : errno == EACCES || errno == EPERM ? "refused"
                                                   : strerror(errno));
        (void) close(fd);
}

static void try_bind(void)
{
        const struct sockaddr_in any = { .sin_family = AF_INET };
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        int r = bind(fd, (const struct sockaddr *) &any, sizeof any);
        printf("bind %s\n", r == 0 ? "BOUND" : errno == EACCES ? "refused" : strerror(errno));
        (void) close(fd);
}

int main(int argc, char **argv)
{
        if (argc > 2 && strcmp(argv[1], "hold") == 0)
                return hold(argv + 2);
        long key = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, kind, name, 0);
        /* That the call itself is refused would say nothing of the keyring. */
        printf("key %s\n", key >= 0 ? "FOUND" : errno == ENOKEY ? "none" : strerror(errno));
        printf("securebits %#x\n", (unsigned) prctl(PR_GET_SECUREBITS, 0, 0, 0, 0));
        const struct sockaddr_in port = { .sin_family = AF_INET,
                                          .sin_port = htons(9),
                                          .sin_addr = { htonl(INADDR_LOOPBACK) } };
        try_connect("tcp", &port, sizeof port);
        try_bind();
        try_connect("abstract", &abstract, abstract_size);
        printf("namespace %s\n", unshare(CLONE_NEWUSER) == 0 ? "MADE" : "refused");
        return 0;
}

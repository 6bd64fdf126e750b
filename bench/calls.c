/* SPDX-License-Identifier: MIT */
/* bench/calls.c - calls getppid|read|open|connect COUNT [bare]: one system call in a loop, to see what a
 * filter costs. bare: under a filter of one instruction, which allows all, and a Landlock rule that lets / be
 * read: what the kernel takes for having the two at all. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int get(int fd)
{
        (void) fd;
        return (int) syscall(SYS_getppid);
}

static int take(int fd)
{
        char byte;
        return (int) read(fd, &byte, 1);
}

static int open_one(int fd)
{
        (void) fd;
        int one = open("/usr/bin/true", O_RDONLY | O_CLOEXEC);
        return one < 0 ? -1 : close(one);
}

/* A connection to ourselves, by an abstract name, from socket() to close(). */
static int connect_one(int fd)
{
        static int server = -1;
        const struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "\0cordon-bench" };
        const struct sockaddr *to = (const struct sockaddr *) &at;
        const socklen_t len = sizeof(sa_family_t) + sizeof "\0cordon-bench" - 1;
        (void) fd;
        if (server < 0 && ((server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0 ||
                           bind(server, to, len) < 0 || listen(server, 8) < 0))
                return -1;
        int one = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (one < 0 || connect(one, to, len) < 0)
                return -1;
        return close(accept(server, NULL, NULL)) | close(one);
}

static const struct {
        const char *name;
        int (*call)(int fd);
} calls[] = { { "getppid", get }, { "read", take }, { "open", open_one }, { "connect", connect_one } };

static int raise_bare(void)
{
        struct landlock_ruleset_attr handled = { .handled_access_fs = (1u << 15) - 1 };
        struct landlock_path_beneath_attr rule = { .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE |
                                                                     LANDLOCK_ACCESS_FS_READ_DIR,
                                                   .parent_fd = open("/", O_PATH | O_CLOEXEC) };
        struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
        struct sock_fprog all = { 1, allow };
        int set = (int) syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
        if (set < 0 || syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0 ||
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_landlock_restrict_self, set, 0) < 0)
                return -1;
        return (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &all);
}

int main(int argc, char **argv)
{
        int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        bool bare = argc == 4 && strcmp(argv[3], "bare") == 0;
        if ((argc != 3 && !bare) || fd < 0 || (bare && raise_bare() < 0))
                return 2;
        long count = strtol(argv[2], NULL, 10);
        for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
                if (strcmp(calls[c].name, argv[1]) == 0) {
                        for (long i = 0; i < count; i++)
                                if (calls[c].call(fd) < 0)
                                        return 1;
                        return 0;
                }
        return 2;
}

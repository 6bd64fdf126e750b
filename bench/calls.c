/* SPDX-License-Identifier: MIT */
/* bench/calls.c - calls getppid|read|open COUNT: one system call in a loop, to see what a filter costs. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

static const struct {
        const char *name;
        int (*call)(int fd);
} calls[] = { { "getppid", get }, { "read", take }, { "open", open_one } };

int main(int argc, char **argv)
{
        int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        if (argc != 3 || fd < 0)
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

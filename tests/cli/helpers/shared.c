/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/shared.c - holds memory that is in no process's account, so many MiB of it, for half a
 * second. shared memfd MIB        in one memory file, written, not mapped shared memfds MIB       in files of
 * one MiB shared mapped MIB       one file, mapped and touched shared forked MIB       one file, in five
 * processes' tables, not mapped shared sparse MIB       a file that says it has so much, and has a page
 *   shared segments MIB     in SysV segments that nobody has attached
 *   shared nothing MIB */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, NOEXEC_SEAL = 8 };
static char block[MIB];

static int file(long mib)
{
        int fd = memfd_create("shared", MFD_CLOEXEC | NOEXEC_SEAL);
        memset(block, 1, sizeof block);
        for (long i = 0; i < mib; i++)
                if (fd < 0 || write(fd, block, sizeof block) != sizeof block)
                        return -1;
        return fd;
}

static int segments(long mib)
{
        for (long i = 0; i < mib; i++) {
                int id = shmget(IPC_PRIVATE, MIB, IPC_CREAT | 0600);
                char *p = id < 0 ? (void *) -1 : shmat(id, NULL, 0);
                if (p == (void *) -1)
                        return -1;
                memset(p, 1, MIB);
                shmdt(p);
        }
        return 0;
}

static int hold(const char *how, long mib)
{
        int fd = 0;
        if (strcmp(how, "memfd") == 0 || strcmp(how, "forked") == 0 || strcmp(how, "mapped") == 0)
                fd = file(mib);
        for (long i = 0; strcmp(how, "memfds") == 0 && i < mib; i++)
                fd = file(1);
        if (strcmp(how, "sparse") == 0)
                fd = ftruncate(file(0), mib * MIB);
        if (strcmp(how, "segments") == 0)
                fd = segments(mib);
        if (strcmp(how, "mapped") == 0) {
                char *p = mmap(NULL, (size_t) mib * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
                for (long i = 0; i < mib * MIB; i += 4096)
                        p[i] = 2;
        }
        for (int i = 0; strcmp(how, "forked") == 0 && i < 4; i++)
                if (fork() == 0) {
                        usleep(500000);
                        _exit(0);
                }
        return fd;
}

int main(int argc, char **argv)
{
        if (argc != 3 || hold(argv[1], atol(argv[2])) < 0) {
                perror("shared");
                return 2;
        }
        usleep(500000);
        while (wait(NULL) > 0)
                ;
        puts("held");
        return 0;
}

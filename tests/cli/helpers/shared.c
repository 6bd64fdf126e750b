/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/shared.c - holds memory that is in no process's account, so many MiB of it, for half a
 * second, or as much longer as a busy machine is slower: `shared HOW MIB`, where HOW is
 *   memfd     in one memory file, written, not mapped
 *   memfds    in files of one MiB
 *   hidden    as memfd, of a process that nobody may look into, if it may be that
 *   mapped    one file, mapped and touched
 *   forked    one file, in five processes' tables, not mapped
 *   sparse    a file that says it has so much, and has a page
 *   segments  in SysV segments that nobody has attached
 *   crowd     one file, beside 200 processes with 1000 descriptors each; for three seconds, until they end
 *   headless  memfd, and the thread that the process began with is gone
 *   headless-mapped   the same with memory that is mapped
 *   headless-own      the same with memory that is no file
 *   apart     memfd, in a thread with descriptors of its own
 *   nothing */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20, NOEXEC_SEAL = 8 };
static char block[MIB];

/* Who looks is held up by others as we are: a stay lasts as many times longer as a little work of ours takes.
 */
static long slower = 1;

static void measure(void)
{
        enum { WORK_US = 20000, MOST = 8 };
        struct timespec a, b;
        (void) clock_gettime(CLOCK_MONOTONIC, &a);
        for (clock_t began = clock(); (clock() - began) * 1000000 / CLOCKS_PER_SEC < WORK_US;)
                ;
        (void) clock_gettime(CLOCK_MONOTONIC, &b);
        slower = ((b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000) / WORK_US;
        slower = slower < 1 ? 1 : slower > MOST ? MOST : slower;
}

static void stay(long us)
{
        struct timespec t = { us * slower / 1000000, us * slower % 1000000 * 1000 };
        (void) nanosleep(&t, NULL);
}

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

/* So many descriptors that a look at all of them takes long; it has begun before the file is made. */
static int crowd(long mib)
{
        for (int i = 0; i < 200; i++)
                if (fork() == 0) {
                        while (dup(2) >= 0 && dup(2) < 1000)
                                ;
                        stay(4500000);
                        _exit(0);
                }
        stay(1500000);
        return file(mib);
}

struct thread {
        const char *how;
        long mib;
};
static int hold(const char *how, long mib);

static int in_thread(void *arg)
{
        const struct thread *t = arg;
        if (hold(t->how, t->mib) < 0)
                syscall(SYS_exit_group, 2);
        stay(500000);
        (void) !write(1, "held\n", 5);
        syscall(SYS_exit_group, 0);
        return 0;
}

/* Does not come back: the thread ends the process. */
static int threaded(const char *how, long mib, int files, int is_headless)
{
        static char stack[65536];
        struct thread t = { how, mib };
        int flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | files;
        if (clone(in_thread, stack + sizeof stack, flags, &t) < 0)
                return -1;
        usleep(50000); /* it has read what is on our stack, which stays */
        if (is_headless)
                syscall(SYS_exit, 0);
        for (;;)
                pause();
}

static int hold(const char *how, long mib)
{
        if (strcmp(how, "headless") == 0)
                return threaded("memfd", mib, CLONE_FILES, 1);
        if (strcmp(how, "headless-mapped") == 0)
                return threaded("mapped", mib, CLONE_FILES, 1);
        if (strcmp(how, "headless-own") == 0)
                return threaded("own", mib, CLONE_FILES, 1);
        if (strcmp(how, "apart") == 0)
                return threaded("memfd", mib, 0, 0);
        if (strcmp(how, "hidden") == 0) {
                (void) prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
                return file(mib);
        }
        int fd = 0;
        if (strcmp(how, "crowd") == 0)
                fd = crowd(mib);
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
        if (strcmp(how, "own") == 0) {
                usleep(200000); /* by now the other thread is gone */
                char *p = mmap(NULL, (size_t) mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                               -1, 0);
                for (long i = 0; i < mib * MIB; i += 4096)
                        p[i] = 2;
        }
        for (int i = 0; strcmp(how, "forked") == 0 && i < 4; i++)
                if (fork() == 0) {
                        stay(500000);
                        _exit(0);
                }
        return fd;
}

int main(int argc, char **argv)
{
        measure();
        if (argc != 3 || hold(argv[1], atol(argv[2])) < 0) {
                perror("shared");
                return 2;
        }
        stay(500000);
        while (wait(NULL) > 0)
                ;
        puts("held");
        return 0;
}

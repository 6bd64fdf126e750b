/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/hog.c - uses up one thing, and only so much of it that a missing limit does no harm.
 *   hog memory MIB [PROCESSES]   touches that much memory in each of so many processes, then sleeps 5 s
 *   hog tables MIB               reads so much empty memory that the tables of its pages are that large
 *   hog cpu SECONDS [PROCESSES]  spins
 *   hog procs N                  forks children that sleep; prints how many there were
 *   hog files N                  opens; prints how many there were
 *   hog disk FILE MIB            writes; prints the errno that stopped it
 *   hog inodes DIR N             creates; prints the errno that stopped it
 *   hog output MIB               writes to standard output
 *   hog daemon SECONDS TAG       leaves a double-forked process in a session of its own behind */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int memory(long mib)
{
        for (long i = 0; i < mib; i++) {
                char *p = malloc(1 << 20);
                if (!p) {
                        printf("ENOMEM after %ld\n", i);
                        return 3;
                }
                memset(p, 1, 1 << 20);
        }
        printf("touched %ld\n", mib);
        fflush(stdout);
        sleep(5);
        return 0;
}

/* Memory that is only read is one page of zeros, and no process's; each 2 MiB of it take a page of the
 * tables. */
static int tables(long mib)
{
        size_t step = 2 << 20, n = (size_t) mib * 256;
        volatile char *p =
                mmap(NULL, n * step, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
                return 3;
        (void) madvise((void *) p, n * step, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < n; i++)
                (void) p[i * step];
        (void) sleep(2);
        puts("touched");
        return 0;
}

static int cpu(long seconds)
{
        time_t end = time(NULL) + seconds;
        for (volatile unsigned long n = 0; time(NULL) < end; n++)
                ;
        puts("spun");
        return 0;
}

static int several(int (*fn)(long), long arg, int n)
{
        for (int i = 1; i < n; i++)
                if (fork() == 0)
                        _exit(fn(arg));
        int r = fn(arg);
        while (wait(NULL) > 0)
                ;
        return r;
}

static int procs(long n)
{
        long i = 0;
        for (; i < n; i++) {
                pid_t p = fork();
                if (p < 0)
                        break;
                if (p == 0) {
                        sleep(20);
                        _exit(0);
                }
        }
        printf("%ld %s\n", i, i < n ? strerrorname_np(errno) : "all");
        return i < n;
}

static int files(long n)
{
        long i = 0;
        for (; i < n && open("/dev/null", O_RDONLY) >= 0; i++)
                ;
        printf("%ld %s\n", i, i < n ? strerrorname_np(errno) : "all");
        return 0;
}

static int disk(const char *path, long mib)
{
        static char buf[1 << 20];
        int fd = open(path, O_WRONLY | O_CREAT, 0644);
        for (long i = 0; i < mib; i++)
                if (fd < 0 || write(fd, buf, sizeof buf) != sizeof buf) {
                        printf("%s\n", strerrorname_np(errno ? errno : ENOSPC));
                        return 1;
                }
        puts("all");
        return 0;
}

static int inodes(const char *dir, long n)
{
        char name[256];
        for (long i = 0; i < n; i++) {
                snprintf(name, sizeof name, "%s/%ld", dir, i);
                int fd = open(name, O_WRONLY | O_CREAT, 0644);
                if (fd < 0) {
                        printf("%s\n", strerrorname_np(errno));
                        return 1;
                }
                close(fd);
        }
        puts("all");
        return 0;
}

static int output(long mib)
{
        static char buf[1 << 20];
        memset(buf, 'x', sizeof buf);
        for (long i = 0; i < mib; i++)
                for (size_t at = 0; at < sizeof buf;) {
                        ssize_t k = write(1, buf + at, sizeof buf - at);
                        if (k < 0)
                                return 1;
                        at += (size_t) k;
                }
        return 0;
}

static int daemonize(long seconds, const char *tag)
{
        if (fork() == 0) {
                setsid();
                if (fork() == 0) {
                        setsid();
                        (void) prctl(PR_SET_NAME, tag);
                        for (int s = 1; s < NSIG; s++)
                                (void) signal(s, SIG_IGN);
                        (void) close(0), (void) close(1), (void) close(2);
                        for (long i = 0; i < seconds; i++)
                                sleep(1);
                }
                _exit(0);
        }
        usleep(100000);
        return 0;
}

int main(int argc, char **argv)
{
        const char *what = argc > 2 ? argv[1] : "";
        int n = argc > 3 ? atoi(argv[3]) : 1;
        if (strcmp(what, "memory") == 0)
                return several(memory, atol(argv[2]), n);
        if (strcmp(what, "tables") == 0)
                return tables(atol(argv[2]));
        if (strcmp(what, "cpu") == 0)
                return several(cpu, atol(argv[2]), n);
        if (strcmp(what, "procs") == 0)
                return procs(atol(argv[2]));
        if (strcmp(what, "files") == 0)
                return files(atol(argv[2]));
        if (strcmp(what, "disk") == 0 && argc > 3)
                return disk(argv[2], atol(argv[3]));
        if (strcmp(what, "inodes") == 0 && argc > 3)
                return inodes(argv[2], atol(argv[3]));
        if (strcmp(what, "output") == 0)
                return output(atol(argv[2]));
        if (strcmp(what, "daemon") == 0 && argc > 3)
                return daemonize(atol(argv[2]), argv[3]);
        return 64;
}

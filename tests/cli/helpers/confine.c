/* confine HOW COMMAND...: executes the command, confined in one way.
 *   landlock   with no_new_privs; bare-landlock: without (root)
 *   seccomp    a filter that allows everything
 *   rlimit     fewer processes
 *   cpu        one processor */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int landlock(const char *how)
{
        struct landlock_ruleset_attr a = { .handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_CHAR };
        int fd = (int) syscall(SYS_landlock_create_ruleset, &a, sizeof a, 0);
        return fd < 0 || (strcmp(how, "landlock") == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                       ? -1
                       : (int) syscall(SYS_landlock_restrict_self, fd, 0);
}

static int seccomp(const char *how)
{
        struct sock_filter one = { .code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW };
        struct sock_fprog f = { 1, &one };
        (void) how;
        return geteuid() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
                       ? -1
                       : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &f);
}

static int rlimit(const char *how)
{
        (void) how;
        return setrlimit(RLIMIT_NPROC, &(struct rlimit){ 5000, 5000 });
}

static int cpu(const char *how)
{
        cpu_set_t one;
        (void) how;
        CPU_ZERO(&one);
        CPU_SET(0, &one);
        return sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                int (*confine)(const char *how);
        } ways[] = { { "landlock", landlock },
                     { "bare-landlock", landlock },
                     { "seccomp", seccomp },
                     { "rlimit", rlimit },
                     { "cpu", cpu } };
        for (size_t i = 0; argc > 2 && i < sizeof ways / sizeof *ways; i++)
                if (strcmp(ways[i].name, argv[1]) == 0) {
                        if (ways[i].confine(argv[1]) < 0)
                                return perror(argv[1]), 99;
                        execvp(argv[2], argv + 2);
                }

        return 99;
}

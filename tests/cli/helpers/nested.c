/* SPDX-License-Identifier: MIT */
/* Mounts a proc in a user, mount and pid namespace of its own: "MOUNTED", "refused", or "CANNOT" where there
 * is no such namespace. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
        int status = 0;
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) < 0)
                return puts("CANNOT") < 0;
        pid_t pid = fork();
        if (pid == 0)
                _exit(mount("proc", "/tmp", "proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0
                              ? 7
                              : 8);
        if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
                return puts("CANNOT") < 0;
        return puts(WEXITSTATUS(status) == 7 ? "MOUNTED" : "refused") < 0;
}

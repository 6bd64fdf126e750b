/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_terminal.c - typing into a terminal that is not the box's. The byte pushed is NUL: it
 * types nothing.
 */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The filter sees the call whatever the descriptor is; only EPERM and its like come from the filter. */
static int push_byte(struct probe_result *r)
{
        const struct probe *p = r->probe;
        char nul = '\0';
        for (int fd = 0; fd < 3; fd++)
                if (syscall(SYS_ioctl, fd, p->call[0], &nul) == 0)
                        return escaped(r, "%s worked on descriptor %d", p->what, fd);
        return by_reach(r, -1, p->what, 0);
}

/* A terminal of the box's own is a device of a devpts that is not the host's. */
static int not_the_callers(struct probe_result *r)
{
        for (int fd = 0; fd < 3; fd++) {
                char name[64], link[32];
                (void) snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
                if (!isatty(fd))
                        continue;
                ssize_t n = readlink(link, name, sizeof name - 1);
                name[n > 0 ? n : 0] = '\0';
                struct stat by_name, by_fd;
                if (n > 0 && stat(name, &by_name) == 0 && fstat(fd, &by_fd) == 0 &&
                    by_name.st_dev == by_fd.st_dev)
                        continue; /* a terminal that this box's own /dev/pts has */
                return escaped(r, "descriptor %d is a terminal from outside", fd);
        }

        return held(r, "no standard stream is a terminal from outside");
}

static int controlling_terminal(struct probe_result *r)
{
        AUTO_FD(fd, open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
        if (fd < 0)
                return refused(r, "open /dev/tty");
        if (isatty(0))
                return held(r, "the controlling terminal is the box's own");
        return escaped(r, "there is a controlling terminal, and it is not the box's");
}

#define CLASS                              PROBE_TERMINAL
#define PUSH(claim, means, words, request) NUMBERS(claim, means, "seccomp,stdio", push_byte, words, request)
static const struct probe rows[] = {
        PUSH("nothing is typed: TIOCSTI", "commands run in the caller's shell (CVE-2017-5226)",
             "ioctl(TIOCSTI)", TIOCSTI),
        PUSH("nothing is typed: TIOCSTI with a high bit", "the filter compares 64 bits (CVE-2019-10063)",
             "ioctl(TIOCSTI | 1 << 32)", TIOCSTI | 1ul << 32),
        PUSH("nothing is typed: TIOCSTI with all high bits", "the filter compares 64 bits",
             "ioctl(TIOCSTI with all high bits)", (long) (TIOCSTI | 0xffffffff00000000ul)),
        PUSH("nothing is pasted: TIOCLINUX", "commands run in the caller's console (CVE-2023-28100)",
             "ioctl(TIOCLINUX)", TIOCLINUX),
        PUSH("nothing is pasted: TIOCLINUX with a high bit", "the filter compares 64 bits",
             "ioctl(TIOCLINUX | 1 << 40)", TIOCLINUX | 1ul << 40),
        PUSH("no line discipline is loaded", "drivers of old hardware", "ioctl(TIOCSETD)", TIOCSETD),
        PUSH("the console's output is not taken", "kernel messages", "ioctl(TIOCCONS)", TIOCCONS),
        PUSH("the terminal is not hung up", "the caller's session ends", "ioctl(TIOCVHANGUP)",
             0x5437 /* TIOCVHANGUP */),
        CALL("vhangup is closed", "the caller's session ends", "seccomp,capabilities", "vhangup",
             SYS_vhangup),
        ROW("the caller's terminal is not here", "keys and screen of the caller", "stdio", not_the_callers),
        ROW("there is no controlling terminal of the caller's", "keys and screen of the caller",
            "stdio,mount,landlock", controlling_terminal),
        OPENS("no other terminal can be opened", "keys and screens of others", "mount,landlock", O_RDWR,
              "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/ttyS0", "/dev/hvc0", "/dev/pts/1", "/dev/pts/2",
              "/dev/vcs", "/dev/vcsa1"),
};
const struct probe_list probes_terminal = PROBE_LIST(rows);

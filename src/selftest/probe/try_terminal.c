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
static int push(struct probe_result *r, unsigned long request, const char *what)
{
        char nul = '\0';
        for (int fd = 0; fd < 3; fd++)
                if (syscall(SYS_ioctl, fd, request, &nul) == 0)
                        return escaped(r, "%s worked on descriptor %d", what, fd);
        return by_reach(r, -1, what, 0);
}

static int sti(struct probe_result *r) { return push(r, TIOCSTI, "ioctl(TIOCSTI)"); }
static int sti_high(struct probe_result *r)
{
        return push(r, TIOCSTI | 1ul << 32, "ioctl(TIOCSTI | 1 << 32)");
}
static int sti_negative(struct probe_result *r)
{
        return push(r, TIOCSTI | 0xffffffff00000000ul, "ioctl(TIOCSTI with all high bits)");
}
static int linux_paste(struct probe_result *r) { return push(r, TIOCLINUX, "ioctl(TIOCLINUX)"); }
static int linux_high(struct probe_result *r)
{
        return push(r, TIOCLINUX | 1ul << 40, "ioctl(TIOCLINUX | 1 << 40)");
}
static int discipline(struct probe_result *r) { return push(r, TIOCSETD, "ioctl(TIOCSETD)"); }
static int console(struct probe_result *r) { return push(r, TIOCCONS, "ioctl(TIOCCONS)"); }
static int hangup(struct probe_result *r) { return push(r, 0x5437 /* TIOCVHANGUP */, "ioctl(TIOCVHANGUP)"); }

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

static int controlling(struct probe_result *r)
{
        AUTO_FD(fd, open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
        if (fd < 0)
                return refused(r, "open /dev/tty");
        if (isatty(0))
                return held(r, "the controlling terminal is the box's own");
        return escaped(r, "there is a controlling terminal, and it is not the box's");
}

static int other_terminals(struct probe_result *r)
{
        static const char *const paths[] = { "/dev/console", "/dev/tty0", "/dev/tty1",
                                             "/dev/ttyS0",   "/dev/hvc0", "/dev/pts/1",
                                             "/dev/pts/2",   "/dev/vcs",  "/dev/vcsa1" };
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
                if (by_open(r, paths[i], O_RDWR) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;

        return PROBE_HELD;
}

static int hang_up(struct probe_result *r) { return by_reach(r, syscall(SYS_vhangup), "vhangup", 0); }

#define CLASS PROBE_TERMINAL
static const struct probe rows[] = {
        ROW("nothing is typed: TIOCSTI", "commands run in the caller's shell (CVE-2017-5226)",
            "seccomp,stdio", sti),
        ROW("nothing is typed: TIOCSTI with a high bit", "the filter compares 64 bits (CVE-2019-10063)",
            "seccomp,stdio", sti_high),
        ROW("nothing is typed: TIOCSTI with all high bits", "the filter compares 64 bits", "seccomp,stdio",
            sti_negative),
        ROW("nothing is pasted: TIOCLINUX", "commands run in the caller's console (CVE-2023-28100)",
            "seccomp,stdio", linux_paste),
        ROW("nothing is pasted: TIOCLINUX with a high bit", "the filter compares 64 bits", "seccomp,stdio",
            linux_high),
        ROW("no line discipline is loaded", "drivers of old hardware", "seccomp,stdio", discipline),
        ROW("the console's output is not taken", "kernel messages", "seccomp,stdio", console),
        ROW("the terminal is not hung up", "the caller's session ends", "seccomp,stdio", hangup),
        ROW("vhangup is closed", "the caller's session ends", "seccomp,capabilities", hang_up),
        ROW("the caller's terminal is not here", "keys and screen of the caller", "stdio", not_the_callers),
        ROW("there is no controlling terminal of the caller's", "keys and screen of the caller",
            "stdio,mount,landlock", controlling),
        ROW("no other terminal can be opened", "keys and screens of others", "mount,landlock",
            other_terminals),
};
const struct probe_list probes_terminal = PROBE_LIST(rows);

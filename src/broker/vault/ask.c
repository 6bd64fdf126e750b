/* SPDX-License-Identifier: MIT */
/* broker/vault/ask.c - reads a passphrase from a descriptor or the terminal. Never: from argv or the
 * environment; leaves the terminal without echo, even if the user aborts. */
#include "base/fd.h"
#include "broker/vault/vault_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>

/* Returns false if a signal came before the next byte. */
static bool byte_before_signal(int fd, int signals)
{
        struct pollfd p[] = { { .fd = fd, .events = POLLIN }, { .fd = signals, .events = POLLIN } };
        while (poll(p, 2, -1) < 0)
                if (errno != EINTR)
                        return true; /* read() will report the error */
        return p[1].revents == 0;
}

/* Returns -1 if it cannot be read, is too long, or a signal came (`signals` -1: does not check). */
static ssize_t one_line(int fd, int signals, char *to, size_t cap)
{
        size_t n = 0;
        for (char c; n < cap;) {
                if (signals >= 0 && !byte_before_signal(fd, signals))
                        return -1;
                ssize_t r = read(fd, &c, 1);
                if (r < 0 && errno == EINTR)
                        continue;
                if (r <= 0 || c == '\n')
                        return r < 0 ? -1 : (ssize_t) n;
                to[n++] = c;
        }

        return -1;
}

static ssize_t line_unseen(int tty, int signals, const char *prompt, char *to, size_t cap)
{
        struct termios was, quiet;
        if (tcgetattr(tty, &was) < 0)
                return -1;

        quiet = was;
        quiet.c_iflag |= ICRNL; /* `run` may have switched the terminal to raw mode already */
        quiet.c_lflag |= ICANON | ISIG;
        quiet.c_lflag &= ~(tcflag_t) ECHO;
        quiet.c_cc[VSUSP] = _POSIX_VDISABLE; /* a stop would leave echo off */
        if (tcsetattr(tty, TCSAFLUSH, &quiet) < 0)
                return -1;

        (void) fd_write_all(tty, prompt, strlen(prompt));
        ssize_t n = one_line(tty, signals, to, cap);
        (void) fd_write_all(tty, "\n", 1);
        (void) tcsetattr(tty, TCSAFLUSH, &was);
        return n;
}

/* Restores the terminal before a signal ends the program; asks again after a signal that is ignored. */
static ssize_t from_terminal(int tty, const char *prompt, char *to, size_t cap)
{
        sigset_t wanted, before;
        (void) sigemptyset(&wanted);
        static const int givers_up[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
        for (size_t i = 0; i < sizeof givers_up / sizeof givers_up[0]; i++)
                (void) sigaddset(&wanted, givers_up[i]);

        AUTO_FD(signals, signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
        if (signals < 0)
                return -1;

        for (;;) {
                struct signalfd_siginfo came = { 0 };
                (void) sigprocmask(SIG_BLOCK, &wanted, &before);
                ssize_t n = line_unseen(tty, signals, prompt, to, cap);
                bool broken_off = read(signals, &came, sizeof came) == sizeof came;
                (void) sigprocmask(SIG_SETMASK, &before, NULL);
                if (!broken_off)
                        return n;
                (void) raise((int) came.ssi_signo);
        }
}

ssize_t ask_passphrase(int fd, const char *prompt, char *to, size_t cap, struct err *e)
{
        AUTO_FD(tty, fd < 0 ? open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) : -1);
        ssize_t n = fd >= 0 ? one_line(fd, -1, to, cap) : tty >= 0 ? from_terminal(tty, prompt, to, cap) : -1;
        if (n > 0)
                return n;
        (void) err_set(e, ERR_USAGE, 0, "the vault's passphrase could not be read");
        return err_hint(e, "run it on a terminal, or give a descriptor: --passphrase-fd 9 9<FILE");
}

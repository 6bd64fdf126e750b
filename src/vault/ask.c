/* SPDX-License-Identifier: MIT */
/* vault/ask.c - a passphrase, from a descriptor or the terminal. Never: from argv or the environment. */
#include "base/fd.h"
#include "vault/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>

static ssize_t one_line(int fd, char *to, size_t cap)
{
        size_t n = 0;
        for (char c; n < cap;) {
                ssize_t r = read(fd, &c, 1);
                if (r < 0 && errno == EINTR)
                        continue;
                if (r <= 0 || c == '\n')
                        return r < 0 ? -1 : (ssize_t) n;
                to[n++] = c;
        }
        return -1;
}

static ssize_t from_terminal(int tty, const char *prompt, char *to, size_t cap)
{
        struct termios was, quiet;
        if (tcgetattr(tty, &was) < 0)
                return -1;
        quiet = was;
        quiet.c_lflag &= ~(tcflag_t) ECHO;
        if (tcsetattr(tty, TCSAFLUSH, &quiet) < 0)
                return -1;
        (void) fd_write_all(tty, prompt, strlen(prompt));
        ssize_t n = one_line(tty, to, cap);
        (void) fd_write_all(tty, "\n", 1);
        (void) tcsetattr(tty, TCSAFLUSH, &was);
        return n;
}

ssize_t ask_passphrase(int fd, const char *prompt, char *to, size_t cap, struct err *e)
{
        AUTO_FD(tty, fd < 0 ? open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) : -1);
        ssize_t n = fd >= 0 ? one_line(fd, to, cap) : tty >= 0 ? from_terminal(tty, prompt, to, cap) : -1;
        if (n > 0)
                return n;
        (void) err_set(e, ERR_USAGE, 0, "the vault's passphrase could not be read");
        return err_hint(e, "run it on a terminal, or give a descriptor: --passphrase-fd 9 9<FILE");
}

/* SPDX-License-Identifier: MIT */
/* face/cli/run_terminal.c - the caller's terminal while a box has one of its own. */
#include "face/cli/run_job.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios saved_terminal;
static bool terminal_is_raw;

void cli_terminal_restore(void)
{
        if (terminal_is_raw)
                (void) tcsetattr(0, TCSADRAIN, &saved_terminal);
        terminal_is_raw = false;
}

/* Terminal replies to queries of the box would be typed into the caller's shell. The terminal replies in
 * order: everything before the reply to our own query is dropped. */
void cli_terminal_drain(void)
{
        static const char ask[] = "\033[5n", answer[] = "\033[0n";
        enum { WAIT_MS = 500 };
        char got[256] = "";
        size_t n = 0;
        struct pollfd p = { .fd = 0, .events = POLLIN };
        if (!terminal_is_raw || !isatty(1) || write(1, ask, sizeof ask - 1) != sizeof ask - 1)
                return;

        while (!strstr(got, answer) && poll(&p, 1, WAIT_MS) == 1) {
                if (n > sizeof got / 2) { /* the beginning cannot hold it any more */
                        memmove(got, got + n - sizeof answer, sizeof answer);
                        n = sizeof answer;
                }
                ssize_t k = read(0, got + n, sizeof got - 1 - n);
                if (k <= 0)
                        return;
                for (ssize_t i = 0; i < k; i++) /* as a text */
                        got[n + (size_t) i] = got[n + (size_t) i] ? got[n + (size_t) i] : ' ';
                n += (size_t) k;
                got[n] = '\0';
        }
}

int cli_terminal_take(void)
{
        if (tcgetattr(0, &saved_terminal) < 0)
                return cli_problem("-t needs a terminal on standard input"), cli_hint("leave out -t"), -1;

        struct termios raw = saved_terminal;
        cfmakeraw(&raw);
        if (tcsetattr(0, TCSADRAIN, &raw) < 0)
                return cli_usage("the terminal cannot be taken: %s", strerror(errno)), -1;

        terminal_is_raw = true;
        (void) atexit(cli_terminal_restore);
        return 0;
}

void cli_terminal_size(cordon_box *b)
{
        struct winsize w;
        if (ioctl(0, TIOCGWINSZ, &w) == 0)
                cordon_box_resize(b, w.ws_row, w.ws_col);
}

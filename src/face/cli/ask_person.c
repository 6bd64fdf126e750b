/* SPDX-License-Identifier: MIT */
/* face/cli/ask_person.c - a question that only a person at a terminal can answer. */
#include "base/err.h"
#include "base/fd.h"
#include "face/cli/cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

int cli_ask(const char *shown, const char *question)
{
        char answer[16] = "";
        AUTO_FD(tty, open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
        if (tty < 0)
                return -1;

        (void) fd_write_all(tty, shown, strlen(shown));
        (void) tcflush(tty, TCIFLUSH); /* input typed before the question is discarded */
        (void) dprintf(tty, "%s [y/N] ", question);
        ssize_t n = read(tty, answer, sizeof answer - 1);
        return n > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

int cli_ask_person(const char *shown, cordon_error *e)
{
        int answer = cli_ask(shown, "accept this?");
        if (answer > 0)
                return 0;

        (void) cli_fail(e, ERR_USAGE, 0,
                        answer < 0 ? "a person accepts at a terminal, and this process has none"
                                   : "nothing was accepted");
        return answer < 0 ? err_hint((struct err *) e, "`--show` prints what waits, and needs none") : -1;
}

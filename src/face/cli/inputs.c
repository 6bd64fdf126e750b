/* SPDX-License-Identifier: MIT */
/* face/cli/inputs.c - opens files that the user names for reading. An earlier box may have left a FIFO under
 * that name: nothing here blocks on it. */
#include "base/buf.h"
#include "base/fd.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const char *cli_not_opened(int sys)
{
        return sys == FD_PIPE_REFUSED ? "is a FIFO; refusing to read it (a box may have created it)"
                                      : strerror(sys);
}

int cli_open_input(const char *option, const char *path)
{
        const char *space = option ? " " : "";
        option = option ? option : "";
        if (strcmp(path, "-") == 0) {
                (void) cli_problem("%s%s- would be a file called -", option, space);
                return cli_hint("standard input is called /dev/stdin, and such a file ./-"), -1;
        }

        int fd = fd_open_named(AT_FDCWD, path, O_RDONLY);
        if (fd >= 0)
                return fd;

        int sys = errno;
        if (sys != FD_PIPE_REFUSED)
                return cli_usage("%s%s%s: %s", option, space, path, strerror(sys)), -1;

        (void) cli_problem("%s%s%s: %s", option, space, path, cli_not_opened(sys));
        return cli_hint("if it is yours, give it as standard input: `<%s`, and /dev/stdin for its name",
                        path),
               -1;
}

int cli_read(int fd, size_t most, struct buf *out)
{
        char chunk[65536];
        ssize_t n = 1;
        while (n > 0 && out->n <= most) {
                n = read(fd, chunk, sizeof chunk);
                if (n > 0)
                        buf_add(out, chunk, (size_t) n);
                else if (n < 0 && errno == EINTR)
                        n = 1;
        }

        if (n >= 0 && (out->failed || out->n > most))
                errno = out->failed ? ENOMEM : EFBIG;
        return n < 0 || out->failed || out->n > most ? -1 : 0;
}

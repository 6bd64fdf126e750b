/* SPDX-License-Identifier: MIT */
/* wall/linux/tty.c - a terminal of the box's own: made in its own devpts, the other end handed to the keeper.
 * The caller's terminal never enters the box, so nothing can be typed into it from there. */
#include "base/fd.h"
#include "wall/internal.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

int wall_tty_open(struct wall_init *w, struct err *e)
{
        AUTO_FD(master, open(w->plan->wall == WALL_NAMESPACE ? "/dev/pts/ptmx" : "/dev/ptmx",
                             O_RDWR | O_NOCTTY | O_CLOEXEC));
        int unlock = 0;
        if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0) {
                (void) wall_fail(e, STAGE_TTY, "making a terminal");
                if (e->sys == ENOSPC)
                        (void) err_hint(e, "all terminals of this machine are in use "
                                           "(/proc/sys/kernel/pty/nr): try again, or without -t");
                return -1;
        }

        w->tty_slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (w->tty_slave < 0)
                return wall_fail(e, STAGE_TTY, "opening the terminal");

        struct winsize size = { .ws_row = w->s->rows, .ws_col = w->s->columns };
        if (size.ws_row > 0)
                (void) ioctl(w->tty_slave, TIOCSWINSZ, &size); /* before the payload can query it */

        for (int i = 0; i < 3; i++)
                if (dup2(w->tty_slave, i) < 0)
                        return wall_fail(e, STAGE_TTY, "placing the terminal");

        struct wall_message m = { .word = WALL_SAYS_TTY };
        if (wall_put(w->control, &m, master) < 0)
                return wall_fail(e, STAGE_TTY, "handing over the terminal");

        return 0;
}

/* SPDX-License-Identifier: MIT */
/* wall/linux/tty.c - a terminal of the box's own: made in its own devpts, the other end handed to the keeper.
 * The caller's terminal never enters the box, so nothing can be typed into it from there. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Returns the keeper's end; the other is in *ret_slave. */
static int make_pair(const struct wall_init *w, unsigned short rows, unsigned short columns, int *ret_slave,
                     struct err *e)
{
        AUTO_FD(master, open(wall_has(w->plan->wall, WALL_OWN_ROOT) ? "/dev/pts/ptmx" : "/dev/ptmx",
                             O_RDWR | O_NOCTTY | O_CLOEXEC));
        int unlock = 0;
        if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0) {
                (void) wall_fail(e, STAGE_TTY, "making a terminal");
                if (e->sys == ENOSPC)
                        (void) err_hint(e, "all terminals of this machine are in use "
                                           "(/proc/sys/kernel/pty/nr): try again, or without -t");
                return -1;
        }

        *ret_slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (*ret_slave < 0)
                return wall_fail(e, STAGE_TTY, "opening the terminal");

        struct winsize size = { .ws_row = rows, .ws_col = columns };
        if (size.ws_row > 0)
                (void) ioctl(*ret_slave, TIOCSWINSZ, &size); /* before the payload can query it */

        return TAKE_FD(master);
}

int wall_tty_open(struct wall_init *w, struct err *e)
{
        AUTO_FD(master, make_pair(w, w->s->rows, w->s->columns, &w->tty_slave, e));
        if (master < 0)
                return -1;

        for (int i = 0; i < 3; i++)
                if (dup2(w->tty_slave, i) < 0)
                        return wall_fail(e, STAGE_TTY, "placing the terminal");

        struct wall_message m = { .word = WALL_SAYS_TTY };
        if (wall_put(w->control, &m, master) < 0)
                return wall_fail(e, STAGE_TTY, "handing over the terminal");

        return 0;
}

/* For a spare: the keeper opens the other end itself, and sends it with the run order. */
void wall_tty_make(const struct wall_init *w, unsigned rows, unsigned columns)
{
        struct wall_message m = { .word = WALL_SAYS_TTY };
        AUTO_FD(slave, -1);
        AUTO_FD(master, make_pair(w, (unsigned short) rows, (unsigned short) columns, &slave, &m.error));
        if (master < 0)
                m.word = WALL_SAYS_ERROR;

        (void) wall_put(w->control, &m, master);
}

/* SPDX-License-Identifier: MIT */
/* wall/limit/janitor.c - the process that cleans up after a keeper that was killed. It is executed, so that
 * it has none of the keeper's memory, and holds its socket, the keeper's pidfd and nothing else of the
 * caller's. */
#include "base/fd.h"
#include "base/limits.h"
#include "base/wire/wire.h"
#include "wall/limit/internal.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* The first message names the group; one with a descriptor is kept; one without a name dismisses the janitor.
 */
struct janitor_order {
        char group[48]; /* "": dismissed */
};
static const struct wire_field order_fields[] = { WIRE_STRING(struct janitor_order, group) };
static const struct wire_form order_form =
        WIRE_FORM(WIRE_JANITOR_ORDER, 1, struct janitor_order, order_fields);

enum { JANITOR_LINE = 3, JANITOR_KEEPER };

/* ---- the janitor ---- */

/* True if the keeper died without a dismissal. Watches its pidfd besides the socket, because a child of the
 * keeper may hold the other end longer than the keeper lives. */
static bool keeper_died(void)
{
        for (;;) {
                struct pollfd p[] = { { .fd = JANITOR_LINE, .events = POLLIN },
                                      { .fd = JANITOR_KEEPER, .events = POLLIN } };
                struct janitor_order o;
                int held = -1; /* stays open until our end */
                if (poll(p, 2, -1) < 0)
                        continue;
                if (p[0].revents && wire_take(JANITOR_LINE, &order_form, &o, &held) != 1)
                        return true;
                if (p[0].revents && held < 0)
                        return o.group[0] != '\0';
                if (p[1].revents)
                        return true;
        }
}

_Noreturn void limit_janitor_enter(void)
{
        struct janitor_order o;
        struct host_cgroups h;
        struct err e;
        (void) prctl(PR_SET_NAME, LIMIT_JANITOR_NAME);
        (void) prctl(PR_SET_DUMPABLE, 0);
        (void) setsid();
        int held = chdir("/"); /* if it fails, a mount stays busy a little longer */
        (void) held;
        if (wire_take(JANITOR_LINE, &order_form, &o, NULL) != 1 || limit_name_check(o.group, &e) < 0) {
                static const char by_hand[] = LIMIT_JANITOR_NAME ": started by cordon, not by hand\n";
                (void) !write(2, by_hand, sizeof by_hand - 1);
                _exit(1);
        }

        bool readable = host_cgroups_read(&h, &e) == 0;
        if (readable)
                limit_sweep_quick(&h); /* an engine that kills a job kills keepers and janitors at once */

        if (keeper_died() && readable) {
                struct limit_group g;
                limit_group_adopt(&g, &h, o.group);
                limit_group_end(&g);
        }

        _exit(0);
}

/* ---- the keeper ---- */

/* Its signals stay blocked for its whole life: those that end a terminal's jobs (INT, TERM, HUP, QUIT) do not
 * end it. */
static struct child start_janitor(const struct cordon_context *cx, int line, int keeper, struct err *e)
{
        char path[PATH_MAX_BYTES],
                name[] = LIMIT_JANITOR_NAME, *const argv[] = { name, NULL }, *const none[] = { NULL };
        const int fds[] = { -1, -1, -1, line, keeper };
        if (host_init_program(cx, path, sizeof path, e) < 0)
                return CHILD_NONE;

        struct child c = host_spawn(&(struct host_spawn){ .path = path,
                                                          .argv = argv,
                                                          .envp = none,
                                                          .fds = fds,
                                                          .fd_count = sizeof fds / sizeof *fds,
                                                          .flags = HOST_SPAWN_BLOCKED });
        if (c.pid < 0)
                (void) err_set(e, ERR_LIMIT, errno, "cannot start the janitor: %s", strerror(errno));
        return c;
}

int limit_janitor_start(const struct cordon_context *cx, const char *group, struct limit_janitor *ret,
                        struct err *e)
{
        int ends[2];
        struct janitor_order o = { 0 };
        (void) strncpy(o.group, group, sizeof o.group - 1);
        if (wire_pair(ends) < 0)
                return err_set(e, ERR_LIMIT, errno, "cannot make the janitor's line");

        AUTO_FD(its, ends[0]);
        AUTO_FD(mine, ends[1]);
        AUTO_FD(keeper, (int) syscall(SYS_pidfd_open, getpid(), 0));
        if (keeper < 0)
                return err_set(e, ERR_LIMIT, errno, "cannot watch the keeper");

        if (wire_put(mine, &order_form, &o, -1) < 0)
                return err_set(e, ERR_LIMIT, errno, "cannot talk to the janitor");

        struct child c = start_janitor(cx, its, keeper, e);
        if (c.pid < 0)
                return -1;

        *ret = (struct limit_janitor){ .child = c, .line = TAKE_FD(mine) };
        return 0;
}

void limit_janitor_hold(const struct limit_janitor *j, int fd)
{
        if (j->line >= 0)
                (void) wire_put(j->line, &order_form, &(struct janitor_order){ "kept" }, fd);
}

void limit_janitor_leave(struct limit_janitor *j) { fd_close(&j->line); }

void limit_janitor_release(struct limit_janitor *j)
{
        if (j->line >= 0)
                (void) wire_put_now(j->line, &order_form, &(struct janitor_order){ "" });
        fd_close(&j->line);
}

void limit_janitor_dismiss(struct limit_janitor *j)
{
        limit_janitor_release(j);
        while (!child_reap(&j->child, NULL))
                (void) fd_await(j->child.pidfd, POLLIN, WAIT_MS);
}

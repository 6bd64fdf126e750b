/* SPDX-License-Identifier: MIT */
/* wall/linux/wall_start.c - the keeper's side of a start: clones init, maps its ids, passes it id-mapped
 * doors. Safe in a program with threads: the child is a raw clone and uses no lock or heap of ours. */
#include "base/fd.h"
#include "base/mountapi.h"
#include "base/wire/wire.h"
#include "wall/linux/init_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>

uid_t wall_host_id_in(uint32_t first, uint32_t count)
{
        uint32_t r = 0;
        if (getrandom(&r, sizeof r, 0) < 0)
                r = (uint32_t) getpid(); /* still an id that owns nothing */
        if (count)
                return first + r % count;
        return 1900000000u + (r & 0x7ffffff); /* above the ids that systems allocate, below 2^31 */
}

uid_t wall_host_id(void) { return wall_host_id_in(0, 0); }

static int open_proc(struct err *e)
{
        AUTO_FD(fd, open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
        struct statfs fs;
        if (fd < 0 || fstatfs(fd, &fs) < 0)
                return wall_fail(e, STAGE_CLONE, "opening /proc");

        if (fs.f_type != PROC_SUPER_MAGIC) {
                errno = ENOTSUP;
                return wall_fail(e, STAGE_CLONE, "/proc of this host is not a proc filesystem");
        }

        return TAKE_FD(fd);
}

/* Stages in which a host that forbids a mechanism of the namespace wall reports it. Not stages that both
 * walls need, not those that depend on a door or the program. */
static const bool asks_host[] = {
        [STAGE_CLONE] = true, [STAGE_MAP] = true, [STAGE_ROOT] = true,  [STAGE_PIVOT] = true,
        [STAGE_NET] = true,   [STAGE_IDS] = true, [STAGE_LIMITS] = true
};

bool wall_refused_by_host(const struct err *e)
{
        bool refused = e->sys == EPERM || e->sys == EACCES || e->sys == ENOSPC || e->sys == EUSERS ||
                       e->sys == ENOSYS || e->sys == EINVAL;
        bool asked = e->step < sizeof asks_host / sizeof *asks_host && asks_host[e->step];
        return e->code == ERR_HOST || (e->code == ERR_WALL && refused && asked);
}

/* Root's files may be of any group. Those of the trees that its box changes get a number each that owns
 * nothing, as root's own has: without one the kernel refuses every change. The box is in none of them. */
static void add_groups(const struct wall_start *s, char *map, size_t cap)
{
        enum { GROUPS_MAX = 8 };
        gid_t seen[GROUPS_MAX];
        unsigned count = 0;

        for (size_t i = 0; i < s->plan->step_count && count < GROUPS_MAX; i++) {
                const struct plan_step *step = &s->plan->steps[i];
                struct stat st;
                bool changes =
                        step->kind == STEP_EDIT || (step->kind == STEP_BIND && step->flags & STEP_WRITE);
                if (!changes || !(step->flags & STEP_IDMAP) || stat(step->text, &st) < 0 || st.st_gid == 0)
                        continue;
                unsigned k = 0;
                while (k < count && seen[k] != st.st_gid)
                        k++;
                if (k < count)
                        continue;
                seen[count++] = st.st_gid;
                size_t n = strlen(map);
                (void) snprintf(map + n, cap - n, "\n%u %u 1", st.st_gid, s->host_gid + count);
        }
}

/* One id of the user: the namespace's 0 is the box's user outside. */
static int write_maps(const struct wall_start *s, int host_proc, pid_t pid, struct err *e)
{
        char name[32], map[512];
        (void) snprintf(name, sizeof name, "%d", pid);
        AUTO_FD(dir, openat(host_proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (dir < 0)
                return wall_fail(e, STAGE_MAP, "finding the new process");

        bool ok = s->host_uid != s->caller_uid || fd_put(dir, "setgroups", "deny") == 0;
        (void) snprintf(map, sizeof map, "0 %u 1", s->host_uid);
        ok = ok && fd_put(dir, "uid_map", map) == 0;
        (void) snprintf(map, sizeof map, "0 %u 1", s->host_gid);
        if (s->host_uid != s->caller_uid)
                add_groups(s, map, sizeof map);

        ok = ok && fd_put(dir, "gid_map", map) == 0;
        if (ok)
                return 0;

        int sys = errno;
        if (wall_is_shortage(sys))
                return wall_fail(e, STAGE_MAP, "mapping ids into the box");

        (void) err_set(e, ERR_HOST, sys, "this host does not let us map ids into a user namespace: %s",
                       strerror(sys));
        e->step = STAGE_MAP;
        return err_hint(e, WALL_ASK_DOCTOR);
}

/* The kernel's own files belong to no user, and it maps no ids on them: they are readable as they are. So is
 * compiled code, which is root's alone only by its directory, on a file system that may have no such mounts.
 */
static bool is_readable(int fd, const struct plan_step *s)
{
        struct statfs fs;
        if (strcmp(s->path, BOX_CODE) == 0)
                return true;

        return !(s->flags & STEP_WRITE) && fstatfs(fd, &fs) == 0 && fs.f_type == SYSFS_MAGIC;
}

/* Root in a container mostly lacks that capability: another wall may hold the door. */
static int cannot_map(struct err *e, const char *doing, const char *path)
{
        (void) wall_fail(e, STAGE_DOORS, "%s the door %s", doing, path);
        if (e->sys != EPERM)
                return -1;

        e->code = ERR_HOST;
        return err_hint(e, "root needs CAP_SYS_ADMIN for the doors of a box: " HOST_AS_USER);
}

/* The caller's own files appear as the box user's. SAFETY: done by root, for paths that root named; one id is
 * mapped, so other users' files stay other users'. Takes `from`. */
static int map_tree(const struct plan_step *s, int opened, int userns, struct err *e)
{
        AUTO_FD(from, opened);
        if (from < 0)
                return -1;

        AUTO_FD(tree, mount_clone(from, "", 0));
        struct mount_attr a = { .attr_set = MOUNT_ATTR_IDMAP | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
                                .propagation = MS_PRIVATE,
                                .userns_fd = (uint64_t) userns };
        if (tree < 0)
                return cannot_map(e, "taking", s->text);

        if (is_readable(from, s))
                a.attr_set &= ~(uint64_t) MOUNT_ATTR_IDMAP;

        if (mount_attr_set(tree, 0, &a) < 0)
                return cannot_map(e, "mapping ids on", s->text);

        return TAKE_FD(tree);
}

/* Hands over one mount; takes it. */
static int send_tree(const struct wall_child *c, int mapped, const struct plan_step *step, struct err *e)
{
        AUTO_FD(tree, mapped);
        struct wall_order o = { .command = COMMAND_MOUNT };
        if (tree < 0)
                return -1;

        if (wire_put(c->control, &wall_order_form, &o, tree) < 0)
                return wall_fail(e, STAGE_DOORS, "handing over the door %s", step->path);

        return 0;
}

/* Either of two filesystems can be the one that supports no id mapping, and overlayfs, which containers use,
 * is such a filesystem. */
static int send_mapped(const struct wall_child *c, int mapped, const struct plan_step *step, const char *hint,
                       struct err *e)
{
        if (mapped < 0 && e->sys == EINVAL)
                return err_hint(e, "%s", hint);
        return send_tree(c, mapped, step, e);
}

/* An edit door is two mounts: the tree below, and the directory with the private overlay. */
static int send_door(const struct wall_start *s, const struct wall_child *c, const struct plan_step *step,
                     int userns, struct err *e)
{
        if (send_mapped(c, map_tree(step, wall_open_door(step, e), userns, e), step,
                        "its filesystem cannot map ids for root's box; run cordon as an ordinary user who "
                        "may use the files (`su`, `setpriv`)",
                        e) < 0)
                return -1;

        if (step->kind != STEP_EDIT)
                return 0;

        int layer = wall_open_layer(&s->edits[step->layer], e);
        return send_mapped(c, map_tree(step, layer, userns, e), step,
                           "the filesystem of its private overlay cannot map ids for root's box: let "
                           "CORDON_STATE name a directory on another",
                           e);
}

static int send_mapped_doors(const struct wall_start *s, int host_proc, const struct wall_child *c,
                             struct err *e)
{
        AUTO_FD(userns, -1);
        for (size_t i = 0; i < s->plan->step_count; i++) {
                const struct plan_step *step = &s->plan->steps[i];
                if (step->kind == STEP_COPY &&
                    send_tree(c, fcntl(s->copies[step->layer], F_DUPFD_CLOEXEC, 0), step, e) < 0)
                        return -1;
                bool door = step->kind == STEP_BIND || step->kind == STEP_EDIT || step->kind == STEP_ROOT;
                if (!door || !(step->flags & STEP_IDMAP))
                        continue;
                if (userns < 0) {
                        char name[48];
                        (void) snprintf(name, sizeof name, "%d/ns/user", c->pid);
                        userns = openat(host_proc, name, O_RDONLY | O_CLOEXEC);
                        if (userns < 0)
                                return wall_fail(e, STAGE_MAP, "opening the new user namespace");
                }
                if (send_door(s, c, step, userns, e) < 0)
                        return -1;
        }

        return 0;
}

static int hand_over(const struct wall_start *s, int host_proc, const struct wall_child *c, struct err *e)
{
        if (wall_has(s->plan->wall, WALL_OWN_ROOT) && write_maps(s, host_proc, c->pid, e) < 0)
                return -1;

        wall_step("keeper-mapped");
        struct wall_order o = { .command = COMMAND_MAPPED };
        if (wire_put(c->control, &wall_order_form, &o, -1) < 0)
                return wall_fail(e, STAGE_MAP, "talking to the box");

        bool mounts = wall_has(s->plan->wall, WALL_OWN_ROOT) && !wall_left_out(LAYER_MOUNT);
        return mounts ? send_mapped_doors(s, host_proc, c, e) : 0;
}

/* init may have reported the error before our own step failed because init is gone: its report is preferred.
 * An init that ended without a report does not show that the host forbids a mechanism: a shortage must not
 * choose the wall. */
static void prefer_its_error(const struct wall_child *c, struct err *e)
{
        struct wall_message m;
        int fd = -1;
        struct pollfd p[] = { { .fd = c->control, .events = POLLIN }, { .fd = c->pidfd, .events = POLLIN } };
        if (poll(p, 2, 1) <= 0)
                return;

        if (p[0].revents & POLLIN && wall_listen(c, &m, &fd) == 1 && m.word == WALL_SAYS_ERROR) {
                *e = m.error;
        } else if (c->pid > 0 && (p[0].revents & POLLHUP || p[1].revents)) {
                (void) err_set(e, ERR_WALL, 0, "the box ended while its walls went up");
                e->step = STAGE_CLONE;
        }

        fd_close(&fd);
}

int wall_start(const struct wall_start *s, struct wall_child *ret, struct err *e)
{
        AUTO_FD(host_proc, open_proc(e));
        if (host_proc < 0)
                return -1;

        int ends[2];
        if (wire_pair(ends) < 0)
                return wall_fail(e, STAGE_CLONE, "making the control socket");

        AUTO_FD(mine, ends[0]);
        AUTO_FD(its, ends[1]);
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return wall_fail(e, STAGE_CLONE, "making the socket of the plan");

        AUTO_FD(its_plan, ends[0]);
        AUTO_FD(plan, ends[1]);
        ends[0] = ends[1] = -1;
        if (s->spare && wire_pair(ends) < 0)
                return wall_fail(e, STAGE_CLONE, "making the line of a spare");

        AUTO_FD(spare, ends[0]);
        AUTO_FD(its_spare, ends[1]);
        AUTO_FD(keeper, s->die_with_thread ? -1 : (int) syscall(SYS_pidfd_open, getpid(), 0));
        if (keeper < 0 && !s->die_with_thread)
                return wall_fail(e, STAGE_CLONE, "watching the keeper");

        const struct wall_descriptors with = {
                .control = its, .keeper = keeper, .host_proc = host_proc, .plan = its_plan, .spare = its_spare
        };
        pid_t launcher = wall_launch(s, &with, e);
        if (launcher < 0)
                return -1;

        *ret = (struct wall_child){ .pid = -1,
                                    .pidfd = -1,
                                    .control = TAKE_FD(mine),
                                    .spare = TAKE_FD(spare),
                                    .launcher = launcher,
                                    .birth = TAKE_FD(plan),
                                    .host_proc = TAKE_FD(host_proc) };
        fd_close(&its_plan);
        fd_close(&its);
        return wall_send_plan(s, ret->birth, e);
}

int wall_born(const struct wall_start *s, struct wall_child *c, struct err *e)
{
        int r = wall_take_birth(s, c, e);
        if (r == 0)
                return 0;

        wall_step("keeper-cloned");
        if (r == 1 && hand_over(s, c->host_proc, c, e) < 0)
                r = -1;

        if (r < 0)
                prefer_its_error(c, e);

        return r;
}

/* An init that has ended already has reported why: the keeper reads that next, and it is the better message.
 */
static int order_init(const struct wall_child *c, enum wall_command command, int arg, int fd, struct err *e)
{
        struct wall_order o = { .command = command, .arg = arg };
        if (wire_put(c->control, &wall_order_form, &o, fd) < 0 && errno != EPIPE && errno != ECONNRESET)
                return wall_fail(e, STAGE_LIMITS, "talking to the box");
        return 0;
}

int wall_join(const struct wall_child *c, int tasks_fd, struct err *e)
{
        return order_init(c, COMMAND_JOIN, 0, tasks_fd, e);
}

int wall_release(const struct wall_child *c, unsigned held, struct err *e)
{
        return order_init(c, COMMAND_RELEASE, (int) held, -1, e);
}

/* Never waits: an init that is stopped takes no order, and limits must be kept meanwhile. It has some three
 * hundred orders before it then. */
static int offer_order(const struct wall_child *c, enum wall_command command, int arg)
{
        struct wall_order o = { .command = command, .arg = arg };
        return wire_put_now(c->control, &wall_order_form, &o);
}

int wall_signal(const struct wall_child *c, int sig) { return offer_order(c, COMMAND_SIGNAL, sig); }

int wall_signal_run(const struct wall_child *c, uint32_t id, int sig)
{
        struct wall_order o = { .command = COMMAND_SIGNAL, .arg = sig, .id = id };
        return wire_put_now(c->control, &wall_order_form, &o);
}

int wall_renew(const struct wall_child *c, uint32_t id, uint64_t more_ms)
{
        struct wall_order o = { .command = COMMAND_RENEW, .id = id, .time_ms = more_ms };
        return wire_put_now(c->control, &wall_order_form, &o);
}

int wall_ask_to_end(const struct wall_child *c) { return offer_order(c, COMMAND_END, 0); }

int wall_touch_open(const struct wall_child *c, uint32_t which)
{
        const struct wall_order o = { .command = COMMAND_OPEN, .arg = (int32_t) which };
        return wire_put(c->control, &wall_order_form, &o, -1);
}

int wall_connect(const struct wall_child *c, uint16_t port, uint32_t id)
{
        struct wall_order o = { .command = COMMAND_CONNECT, .arg = port, .id = id };
        return wire_put_now(c->control, &wall_order_form, &o);
}

/* It is ours, but lives beside the payload: its text ends at the end of its buffer at the latest. */
int wall_listen(const struct wall_child *c, struct wall_message *ret, int *ret_fd)
{
        int r = wall_take(c->control, ret, ret_fd);
        if (r == 1 && ret->word == WALL_SAYS_ERROR)
                ret->error.what[sizeof ret->error.what - 1] = ret->error.hint[sizeof ret->error.hint - 1] =
                        '\0';
        return r;
}

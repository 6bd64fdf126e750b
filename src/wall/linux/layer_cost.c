/* SPDX-License-Identifier: MIT */
/* wall/linux/layer_cost.c - measures the cost of one layer: raises that layer alone, with the code of a real
 * start, in a process that is discarded afterwards.
 *
 * A start raises all layers in one clone and in parallel, and no release can leave one out; so each mechanism
 * is measured by itself. Their sum is more than the time of a start. Never: touches the heap. */
#include "base/clock.h"
#include "base/fd.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS = 2000, OPENS = 300 };

/* A process measures one layer, once. */
static struct wall_init w;
static struct wall_start start;
static struct wall_stdio no_stdio;

static int map_ids(uid_t uid, gid_t gid, struct err *e)
{
        char map[48];
        (void) snprintf(map, sizeof map, "0 %u 1", uid);
        if (fd_put(w.host_proc, "self/setgroups", "deny") < 0 || fd_put(w.host_proc, "self/uid_map", map) < 0)
                return wall_fail(e, STAGE_MAP, "mapping the user");

        (void) snprintf(map, sizeof map, "0 %u 1", gid);
        if (fd_put(w.host_proc, "self/gid_map", map) < 0)
                return wall_fail(e, STAGE_MAP, "mapping the group");

        return 0;
}

static int leave(int flag, const char *what, struct err *e)
{
        return unshare(flag) < 0 ? wall_fail(e, STAGE_CLONE, "making %s", what) : 0;
}

/* ---- before the clock runs ---- */

static int prepare_nothing(struct err *e)
{
        (void) e;
        return 0;
}

static int prepare_root(struct err *e)
{
        return leave(CLONE_NEWNS, "a mount namespace", e) < 0 ? -1 : wall_root_build(&w, e);
}

static int prepare_landlock(struct err *e)
{
        if (prepare_root(e) < 0)
                return -1;
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? wall_fail(e, STAGE_CAPS, "no_new_privs") : 0;
}

static int prepare_filter(struct err *e)
{
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? wall_fail(e, STAGE_CAPS, "no_new_privs") : 0;
}

/* ---- while it runs ---- */

static int raise_user(struct err *e)
{
        return leave(CLONE_NEWUSER, "a user namespace", e) < 0
                       ? -1
                       : map_ids(start.caller_uid, start.caller_gid, e);
}
static int raise_mount(struct err *e) { return prepare_root(e) < 0 ? -1 : wall_root_enter(&w, e); }
static int raise_pid(struct err *e) { return leave(CLONE_NEWPID, "a pid namespace", e); }
static int raise_net(struct err *e) { return leave(CLONE_NEWNET, "a network namespace", e); }
static int raise_ipc(struct err *e) { return leave(CLONE_NEWIPC, "an ipc namespace", e); }
static int raise_uts(struct err *e)
{
        if (leave(CLONE_NEWUTS, "a uts namespace", e) < 0)
                return -1;
        return sethostname("box", 3) < 0 ? wall_fail(e, STAGE_ROOT, "naming it") : 0;
}
static int raise_cgroup_ns(struct err *e) { return leave(CLONE_NEWCGROUP, "a cgroup namespace", e); }
static int raise_nested(struct err *e)
{
        return leave(CLONE_NEWUSER, "a nested user namespace", e) < 0 ? -1 : map_ids(0, 0, e);
}
static int raise_caps(struct err *e)
{
        return wall_keyring_leave(e) < 0 ? -1 : wall_privileges_drop(wall_last_cap(), e);
}
static int raise_no_new_privs(struct err *e) { return prepare_filter(e); }
static int raise_rlimit(struct err *e) { return wall_rlimits(&w, e); }
static int raise_memfd(struct err *e)
{
        if (wall_memfds_seal(&w, e) < 0)
                return -1;
        errno = EPERM;
        return w.memfd_sealed ? 0 : wall_fail(e, STAGE_MAP, "setting vm.memfd_noexec");
}
static int raise_landlock(struct err *e)
{
        if (wall_landlock_build(&w, e) < 0)
                return -1;
        return syscall(SYS_landlock_restrict_self, w.landlock, 0) < 0
                       ? wall_fail(e, STAGE_LANDLOCK, "closing the Landlock wall")
                       : 0;
}
static int raise_seccomp(struct err *e)
{
        return wall_filter_compile(&w, e) < 0 ? -1 : wall_filter_load(&w, e);
}

/* ---- the cost of one call ---- */

static uint64_t time_plain_calls(void)
{
        uint64_t t = clock_mono_ns();
        for (unsigned i = 0; i < CALLS; i++)
                (void) syscall(SYS_getppid);
        return (clock_mono_ns() - t) * 1000 / CALLS;
}

static uint64_t time_looked_at_calls(void)
{
        uint64_t t = clock_mono_ns();
        for (unsigned i = 0; i < CALLS; i++)
                (void) syscall(SYS_fcntl, w.host_proc, F_GETFD);
        return (clock_mono_ns() - t) * 1000 / CALLS;
}

static uint64_t time_opens(void)
{
        uint64_t t = clock_mono_ns();
        for (unsigned i = 0; i < OPENS; i++) {
                AUTO_FD(fd, openat(w.root, "dev/null", O_RDONLY | O_CLOEXEC));
        }
        return (clock_mono_ns() - t) * 1000 / OPENS;
}

static const struct mechanism {
        const char *words;
        int flags;
        int (*prepare)(struct err *);
        int (*raise)(struct err *);
        uint64_t (*calls)(void), (*looked_at)(void);
        const char *of_calls, *of_looked_at;
} mechanisms[LAYER__COUNT] = {
        [LAYER_USER] = { "unshare, and its three maps", 0, prepare_nothing, raise_user, NULL, NULL, NULL,
                         NULL },
        [LAYER_MOUNT] = { "unshare, every mount of the plan, pivot_root", CLONE_NEWUSER | CLONE_NEWPID,
                          prepare_nothing, raise_mount, NULL, NULL, NULL, NULL },
        [LAYER_PID] = { "unshare", CLONE_NEWUSER, prepare_nothing, raise_pid, NULL, NULL, NULL, NULL },
        [LAYER_NET] = { "unshare; in a start it runs on another core", CLONE_NEWUSER, prepare_nothing,
                        raise_net, NULL, NULL, NULL, NULL },
        [LAYER_IPC] = { "unshare", CLONE_NEWUSER, prepare_nothing, raise_ipc, NULL, NULL, NULL, NULL },
        [LAYER_UTS] = { "unshare, sethostname", CLONE_NEWUSER, prepare_nothing, raise_uts, NULL, NULL, NULL,
                        NULL },
        [LAYER_CGROUP_NS] = { "unshare", CLONE_NEWUSER, prepare_nothing, raise_cgroup_ns, NULL, NULL, NULL,
                              NULL },
        [LAYER_CAPS] = { "bounding set, securebits, capset, keyring", CLONE_NEWUSER, prepare_nothing,
                         raise_caps, NULL, NULL, NULL, NULL },
        [LAYER_NO_NEW_PRIVS] = { "one prctl", 0, prepare_nothing, raise_no_new_privs, NULL, NULL, NULL,
                                 NULL },
        [LAYER_SECCOMP] = { "compile and load the filter", CLONE_NEWUSER, prepare_filter, raise_seccomp,
                            time_plain_calls, time_looked_at_calls, "a call decided by its number",
                            "a call whose arguments are looked at" },
        [LAYER_LANDLOCK] = { "every rule of the plan, restrict_self", CLONE_NEWUSER | CLONE_NEWPID,
                             prepare_landlock, raise_landlock, NULL, time_opens, NULL, "opening a file" },
        [LAYER_RLIMIT] = { "every setrlimit", CLONE_NEWUSER, prepare_nothing, raise_rlimit, NULL, NULL, NULL,
                           NULL },
        [LAYER_NESTED_USER] = { "a second unshare, and its maps", CLONE_NEWUSER, prepare_nothing,
                                raise_nested, NULL, NULL, NULL, NULL },
        [LAYER_MEMFD] = { "a sysctl file", CLONE_NEWUSER | CLONE_NEWPID, prepare_nothing, raise_memfd, NULL,
                          NULL, NULL, NULL },
};

const char *wall_cost_words(enum wall_layer l) { return mechanisms[l].words; }
int wall_cost_flags(enum wall_layer l) { return mechanisms[l].flags; }
const char *wall_cost_of_calls(enum wall_layer l) { return mechanisms[l].of_calls; }
const char *wall_cost_of_looked_at(enum wall_layer l) { return mechanisms[l].of_looked_at; }

int wall_cost_prepare(enum wall_layer l, const struct plan *plan, uid_t uid, gid_t gid, struct err *e)
{
        start = (struct wall_start){ .plan = plan,
                                     .order = plan->order,
                                     .io = &no_stdio,
                                     .cgroup_fd = -1,
                                     .tell = true,
                                     .caller_uid = uid,
                                     .caller_gid = gid,
                                     .host_uid = uid,
                                     .host_gid = gid };
        wall_no_descriptors(&w);
        w.s = &start;
        w.plan = plan;
        w.order = plan->order;
        w.held = WALL_GROUP_PROCS;
        w.host_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (!mechanisms[l].raise || w.host_proc < 0)
                return wall_fail(e, STAGE_CLONE, "preparing %s", wall_layer_name(l));

        if (mechanisms[l].flags & CLONE_NEWUSER && map_ids(uid, gid, e) < 0)
                return -1;

        return mechanisms[l].prepare(e);
}

static unsigned given_units(enum wall_layer l)
{
        switch ((int) l) {
        case LAYER_SECCOMP:
                return w.filter_len;
        case LAYER_LANDLOCK:
                return (unsigned) w.plan->rule_count;
        case LAYER_MOUNT:
                return (unsigned) w.plan->step_count;
        }
        return 0;
}

static uint64_t more(uint64_t after, uint64_t before) { return after > before ? after - before : 0; }

int wall_cost_raise(enum wall_layer l, struct wall_cost *ret, struct err *e)
{
        const struct mechanism *m = &mechanisms[l];
        uint64_t plain = m->calls ? m->calls() : 0, looked_at = m->looked_at ? m->looked_at() : 0;
        uint64_t t = clock_mono_ns();

        if (m->raise(e) < 0)
                return -1;

        *ret = (struct wall_cost){ .start_ns = clock_mono_ns() - t, .units = given_units(l) };
        if (m->calls)
                ret->call_ps = more(m->calls(), plain);

        if (m->looked_at)
                ret->looked_at_ps = more(m->looked_at(), looked_at);

        return 0;
}

/* SPDX-License-Identifier: MIT */
/* wall/linux/init.c - pid 1 of the box: raises the walls in the one order that works, then supervises.
 *
 * A copy of the launcher, which is a program of its own (init_launch.h). It uses no heap, lock or standard
 * stream: processes that share its memory, or are copies of it, live beside it. */
#include "base/fd.h"
#include "base/precedence.h"
#include "base/sched_core.h"
#include "base/wire/wire.h"
#include "wall/internal.h"
#include "wall/linux/observe/toucher.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const layer_names[] = {
        [LAYER_USER] = "user",
        [LAYER_MOUNT] = "mount",
        [LAYER_PID] = "pid",
        [LAYER_NET] = "net",
        [LAYER_IPC] = "ipc",
        [LAYER_UTS] = "uts",
        [LAYER_CGROUP_NS] = "cgroup-ns",
        [LAYER_CAPS] = "capabilities",
        [LAYER_NO_NEW_PRIVS] = "no-new-privs",
        [LAYER_SECCOMP] = "seccomp",
        [LAYER_LANDLOCK] = "landlock",
        [LAYER_RLIMIT] = "rlimit",
        [LAYER_CGROUP] = "cgroup",
        [LAYER_NESTED_USER] = "nested-user",
        [LAYER_MEMFD] = "memfd-noexec",
};
_Static_assert(sizeof layer_names / sizeof *layer_names == LAYER__COUNT, "a name for each layer");

const char *wall_layer_name(enum wall_layer l) { return (unsigned) l < LAYER__COUNT ? layer_names[l] : "?"; }

/* Shows from inside that the box is nested in another. */
static int note_network(struct wall_init *w, struct err *e)
{
        (void) e;
        struct stat net;
        if (w->plan->local & LOCAL_LOOPBACK && fstatat(w->host_proc, "self/ns/net", &net, 0) == 0)
                w->host_net = net.st_ino;

        return 0;
}

static int await_maps(struct wall_init *w, struct err *e)
{
        (void) e;
        struct wall_order o;
        if (wall_hear(w, &o, NULL) != 1 || o.command != COMMAND_MAPPED)
                _exit(1); /* the keeper is gone: nothing to report to */
        return 0;
}

/* Enters the control groups that the keeper names, then goes on at its word. */
static int await_release(struct wall_init *w, struct err *e)
{
        for (;;) {
                struct wall_order o;
                AUTO_FD(tasks, -1);
                if (wall_hear(w, &o, &tasks) != 1)
                        _exit(1);
                if (o.command == COMMAND_RELEASE) {
                        w->held = (unsigned) o.arg;
                        return 0;
                }
                if (w->early)
                        errno = EBUSY; /* the payload's process is there already, and would stay outside */
                if (o.command != COMMAND_JOIN || w->early || fd_write_all(tasks, "0", 1) < 0)
                        return wall_fail(e, STAGE_LIMITS, "entering the control group");
        }
}

/* Watches of files count for the account that made the box too, root's as well, whatever id the box has: one
 * box could take all of them, from programs outside and from other boxes. It gets a share. */
static void share_watches(const struct wall_init *w)
{
        char share[24];
        uint64_t all = 0;
        (void) fd_put(w->host_proc, "sys/user/max_inotify_instances", "32"); /* of the kernel's 128 */
        if (fd_get_u64(w->host_proc, "sys/fs/inotify/max_user_watches", &all) < 0)
                return;

        (void) snprintf(share, sizeof share, "%llu", (unsigned long long) all / 4);
        (void) fd_put(w->host_proc, "sys/user/max_inotify_watches", share);
}

/* Second layers by sysctl of our own namespaces, through the host's /proc. If the kernel or a container
 * denies them, seccomp stands alone, and the layer is not reported as up. Executable memfds are disabled
 * while a root caller's init still has root's id, which owns the file. */
static int memfds_seal(struct wall_init *w, struct err *e)
{
        (void) e;
        if (w->plan->run_any)
                return 0;

        w->memfd_sealed = fd_put(w->host_proc, "sys/vm/memfd_noexec", "1") == 0;
        if (w->memfd_sealed)
                w->layers |= 1u << LAYER_MEMFD;

        return 0;
}

static int close_knobs(struct wall_init *w, struct err *e)
{
        (void) e;
        (void) fd_put(w->host_proc, "sys/user/max_user_namespaces", "1"); /* the payload's own, nested one */
        share_watches(w);
        if (w->s->sampled) { /* semaphores and messages are memory of the kernel's: a few megabytes at most */
                (void) fd_put(w->host_proc, "sys/kernel/sem", "250 32000 100 128");
                (void) fd_put(w->host_proc, "sys/kernel/msgmni", "64");
        }

        return 0;
}

/* Nothing but this box runs on the other threads of a core while it does. All that begins here inherits it.
 * Where the kernel cannot do that, cordon_host_cores() has said so before. */
static void take_own_core(const struct wall_init *w)
{
        enum { WHOLE_PROCESS = 1 };
        if (w->s->own_core)
                (void) prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, WHOLE_PROCESS, 0);
}

/* Wherever it waits, and for whom: also for a helper that never ends. */
static void die_with_keeper(const struct wall_init *w)
{
        if (w->keeper < 0)
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static int take_mapped_ids(struct wall_init *w, struct err *e)
{
        if (wall_become_root(w, e) < 0)
                return -1;
        die_with_keeper(w); /* the change of ids took that away */
        return 0;
}

/* If nothing prevents it from being created before the root exists. */
static int begin_payload(struct wall_init *w, struct err *e)
{
        if (w->plan->net || w->s->groups_late || w->s->spare)
                return 0;

        wall_core_note(&w->core);
        if (wall_payload_early(w) < 0)
                return wall_fail(e, STAGE_NET, "making the payload's process");

        wall_core_leave_to_us(&w->core, w->payload);
        return 0;
}

static int let_payload_on(struct wall_init *w, struct err *e)
{
        (void) e;
        if (w->early)
                wall_payload_let_on(w);
        return 0;
}

static int name_the_box(struct wall_init *w, struct err *e)
{
        (void) w;
        if (sethostname("box", 3) < 0 || setdomainname("", 0) < 0)
                return wall_fail_namespace(e, STAGE_ROOT, "naming the box");
        return 0;
}

static int open_terminal(struct wall_init *w, struct err *e)
{
        return w->order->tty ? wall_tty_open(w, e) : 0;
}

static int build_landlock(struct wall_init *w, struct err *e)
{
        if (w->plan->without & WITHOUT_LANDLOCK)
                return 0;
        /* Leaving the mounts out is for tests; then, as in the process wall, paths mean the host's. */
        if (w->root < 0)
                w->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        return wall_landlock_build(w, e);
}

/* Processes that the payload leaves running are reparented to init and found here. */
static int adopt_stragglers(int *ret_children, struct err *e)
{
        if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
                return wall_fail(e, STAGE_CLONE, "becoming the reaper");

        *ret_children = wall_own_children();
        if (*ret_children >= 0)
                return 0;

        (void) wall_fail(e, STAGE_CLONE, "finding what a payload leaves running");
        return e->sys != ENOENT ? -1
                                : err_hint(e, "the process wall needs a kernel with CONFIG_PROC_CHILDREN");
}

static int become_reaper(struct wall_init *w, struct err *e) { return adopt_stragglers(&w->children, e); }

static int compile_filter(struct wall_init *w, struct err *e)
{
        return wall_left_out(LAYER_SECCOMP) ? 0 : wall_filter_compile(w, e);
}

/* An early payload waits for two things before it becomes undumpable: its filter, and init in its network
 * namespace. */
static int lend_filter(struct wall_init *w, struct err *e)
{
        if (w->early)
                wall_core_any_of(&w->core, w->payload);
        return let_payload_on(w, e);
}

static int reset_signals(struct wall_init *w, struct err *e)
{
        (void) w;
        (void) e;
        wall_signals_reset();
        return 0;
}

struct stage {
        const char *name;
        enum wall_layer layer; /* its layer; LAYER__COUNT: none */
        int (*raise)(struct wall_init *, struct err *);
};

/* The order is the security property: invariant W3 in docs/design/invariants.md.
 *   payload first              its network takes longest; the launcher has left the caller's keyring
 *   memfd ... covers before maps  a root caller's init still has the id that these files belong to
 *   gate after ids             after it only an early payload changes ids
 *   net-join before enter      while init leaves the old root, an early payload cannot create a user
 *                              namespace
 *   landlock after root        its rules name files of the new root
 *   shut after landlock        which are below the covers
 *   landlock ... signals before net-join   work while the network is created
 *   knobs late                 an early payload loads its filter meanwhile */
static const struct stage namespace_stages[] = {
        { "payload", LAYER_NET, begin_payload },
        { "network", LAYER__COUNT, note_network },
        { "net-begin", LAYER_NET, wall_net_begin },
        { "memfd", LAYER_MEMFD, memfds_seal },
        { "device", LAYER__COUNT, wall_front_device },
        { "covers", LAYER__COUNT, touch_devices },
        { "maps", LAYER__COUNT, await_maps },
        { "ids", LAYER_USER, take_mapped_ids },
        { "gate", LAYER__COUNT, let_payload_on },
        { "name", LAYER_UTS, name_the_box },
        { "root", LAYER_MOUNT, wall_root_build },
        { "landlock", LAYER_LANDLOCK, build_landlock },
        { "shut", LAYER_MOUNT, touch_cover },
        { "filter", LAYER__COUNT, compile_filter },
        { "signals", LAYER__COUNT, reset_signals },
        { "net-join", LAYER_NET, wall_net_join },
        { "lend", LAYER__COUNT, lend_filter },
        { "enter", LAYER_MOUNT, wall_root_enter },
        { "handles", LAYER_MOUNT, wall_handles_stand_in },
        { "knobs", LAYER_MEMFD, close_knobs },
        { "terminal", LAYER__COUNT, open_terminal },
};

static const struct stage process_stages[] = {
        { "maps", LAYER__COUNT, await_maps },        { "reaper", LAYER__COUNT, become_reaper },
        { "terminal", LAYER__COUNT, open_terminal }, { "landlock", LAYER_LANDLOCK, build_landlock },
        { "filter", LAYER__COUNT, compile_filter },
};

static int raise_stages(struct wall_init *w, const struct stage *stages, size_t n, struct err *e)
{
        for (size_t i = 0; i < n; i++) {
                wall_step(stages[i].name);
                if (stages[i].layer < LAYER__COUNT && wall_left_out(stages[i].layer))
                        continue;
                if (stages[i].raise(w, e) < 0)
                        return -1;
        }

        return 0;
}

/* Layers that the clone call itself raised. */
static uint32_t cloned_layers(void)
{
        static const enum wall_layer cloned[] = { LAYER_USER, LAYER_PID, LAYER_IPC, LAYER_UTS };
        uint32_t bits = 0;
        for (size_t i = 0; i < sizeof cloned / sizeof *cloned; i++)
                if (!wall_left_out(cloned[i]))
                        bits |= 1u << cloned[i];
        return bits;
}

static int raise_walls(struct wall_init *w, struct err *e)
{
        if (w->plan->wall == WALL_PROCESS)
                return raise_stages(w, process_stages, sizeof process_stages / sizeof *process_stages, e);
        w->layers |= cloned_layers();
        return raise_stages(w, namespace_stages, sizeof namespace_stages / sizeof *namespace_stages, e);
}

/* Only now, in its own group: a cgroup namespace shows paths relative to its creator's group. */
static int hide_groups(struct wall_init *w, struct err *e)
{
        if (!wall_has(w->plan->wall, WALL_OWN_ROOT) || wall_left_out(LAYER_CGROUP_NS))
                return 0;
        if (unshare(CLONE_NEWCGROUP) < 0)
                return wall_fail_namespace(e, STAGE_LIMITS, "hiding the control groups");
        w->layers |= 1u << LAYER_CGROUP_NS;
        return 0;
}

static int raise_all(struct wall_init *w, struct err *e)
{
        if (raise_walls(w, e) < 0 || await_release(w, e) < 0 || hide_groups(w, e) < 0)
                return -1;
        wall_step("released");
        return w->s->spare ? wall_spare_start(w, e) : wall_payload_start(w, e);
}

/* init must not hold the payload's pipes open, or their readers would never see EOF. */
static void let_go_of_stdio(struct wall_init *w)
{
        if (w->held & WALL_SAMPLES)
                wall_shared_begin(w);

        (void) syscall(SYS_close_range, 0, 2 + w->s->io->handle_count, 0);
        wall_handles_close(w);
        fd_close(&w->tty_slave);
        if (w->plan->wall == WALL_PROCESS)
                w->names = w->tasks = TAKE_FD(w->host_proc);
        else
                w->tasks = w->proc;

        fd_close(&w->host_proc);
        fd_close(&w->trust);
        fd_close(&w->root);
        if (!w->serves_moves) /* else the mover enters it */
                fd_close(&w->landlock);
}

/* Without a pid namespace, processes do not end with init. So init has a parent, the reaper, that only
 * outlives it: when init is killed, its orphans are reparented to the reaper and killed there. When the
 * reaper is killed, init receives SIGTERM and kills the stragglers itself. */
static int stand_behind_reaper(struct wall_init *w, struct err *e)
{
        int children = -1;
        if (adopt_stragglers(&children, e) < 0)
                return -1;

        pid_t init = (pid_t) syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (init < 0)
                return wall_fail(e, STAGE_CLONE, "making the process behind the reaper");

        if (init == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
                w->reaper = getppid();
                return 0;
        }

        (void) prctl(PR_SET_NAME, "cordon-reaper", 0, 0, 0);
        int held = dup2(children, 0);
        (void) syscall(SYS_close_range, (unsigned) held + 1, ~0U, 0);
        int status = 0;
        while (waitpid(init, &status, __WALL) < 0 && errno == EINTR)
                ;

        wall_kill_stragglers(held);
        _exit(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
}

/* Before the payload's process is made, which inherits it. init has it neither: a box can make it work. */
static int leave_precedence(struct err *e)
{
        return precedence_drop() < 0 ? wall_fail(e, STAGE_LIMITS, "leaving the caller's scheduling class")
                                     : 0;
}

_Noreturn void wall_init_main(struct wall_init *w)
{
        struct wall_message m = { .word = WALL_SAYS_ERROR };
        (void) prctl(PR_SET_NAME, OWN_NAME, 0, 0, 0);
        fd_use_limit();
        take_own_core(w);

        /* The box's own files get exactly the modes given. Files that it creates outside are no more open
         * than files that the caller creates. */
        w->mask = (umask(022) & 077) | 022;
        (void) signal(SIGCHLD, SIG_DFL); /* a caller that ignores it would leave us no child to wait for */
        bool behind = w->plan->wall == WALL_PROCESS;
        if (!behind)
                die_with_keeper(w);

        if (leave_precedence(&m.error) < 0 || (behind && stand_behind_reaper(w, &m.error) < 0) ||
            raise_all(w, &m.error) < 0) {
                (void) wall_put(w->control, &m, -1);
                _exit(1);
        }

        m = (struct wall_message){ .word = WALL_SAYS_UP, .layers = w->layers };
        let_go_of_stdio(w);

        /* The keeper holds the line of watched calls too: when init is killed, a call that waits then goes on
         * waiting until its task is killed, instead of coming back with an error that no program expects. */
        if (wall_put(w->control, &m, w->listener) < 0)
                _exit(1);

        _exit(wall_supervise(w) < 0);
}

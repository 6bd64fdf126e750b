/* SPDX-License-Identifier: MIT */
/* wall/linux/init_enter.c - the launcher: the program's first steps, still in the caller's namespaces.
 * Never: reads an argument or a variable, opens a path. */
#include "base/sanitized.h"
#include "base/wire/wire.h"
#include "wall/linux/init_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { INIT_STACK = 1 << 20 };

/* Descriptors above the payload's are ours, and closed by exec. */
static int find_descriptors(struct wall_init *w, int *ret_cgroup, struct err *e)
{
        const struct {
                int fd, *to;
        } ours[] = { { INIT_CONTROL, &w->control }, { INIT_HOST_PROC, &w->host_proc },
                     { INIT_KEEPER, &w->keeper },   { INIT_TRUST, &w->trust },
                     { INIT_CGROUP, ret_cgroup },   { INIT_SPARE, &w->spare } };
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
                if (fcntl(ours[i].fd, F_SETFD, FD_CLOEXEC) == 0)
                        *ours[i].to = ours[i].fd;

        return w->control < 0 || w->host_proc < 0 ? wall_fail(e, STAGE_EXEC, "finding descriptors") : 0;
}

static const struct {
        enum wall_layer layer;
        uint64_t flag;
} namespaces[] = {
        { LAYER_USER, CLONE_NEWUSER }, { LAYER_MOUNT, CLONE_NEWNS }, { LAYER_PID, CLONE_NEWPID },
        { LAYER_IPC, CLONE_NEWIPC },   { LAYER_UTS, CLONE_NEWUTS },
};

/* The keeper's child, with the exit signal that the launcher itself has. */
static uint64_t clone_flags(const struct plan *p)
{
        uint64_t f = CLONE_PIDFD | CLONE_PARENT;
        for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
                if (wall_has(p->wall, WALL_OWN_ROOT) && !wall_left_out(namespaces[i].layer))
                        f |= namespaces[i].flag;
        return f;
}

static int init_main(void *arg)
{
        (void) close(INIT_PLAN);
        (void) close(INIT_CGROUP);
        wall_init_main(arg);
}

#if !SANITIZED
/* Allocates a stack above a guard page. Returns its top, or NULL. */
static char *make_stack(void)
{
        enum { GUARD = 4096 * 16 };
        char *p = mmap(NULL, INIT_STACK + GUARD, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED || mprotect(p, GUARD, PROT_NONE) < 0)
                return NULL;

        return p + GUARD + INIT_STACK;
}
#endif

/* init takes over the launcher's memory: nothing is copied, and the launcher ends without touching it.
 *
 * Prefers the older clone() if that suffices: the filters of containers allow it, but answer ENOSYS to
 * clone3(), whose flags they cannot see. No libc has clone3() with a stack, so there init is a copy. Behind
 * such a filter init enters its group later, but before the payload does: that is certain only in the process
 * wall. */
static long clone_init(struct wall_init *w, int cgroup, int *ret_pidfd, bool *ret_in_cgroup)
{
        uint64_t flags = clone_flags(w->plan);
        struct clone_args a = { .flags = flags | CLONE_INTO_CGROUP,
                                .pidfd = (uint64_t) (uintptr_t) ret_pidfd,
                                .cgroup = (uint64_t) cgroup };
        long pid = cgroup < 0 ? -1 : syscall(SYS_clone3, &a, sizeof a);
        if (pid == 0)
                (void) init_main(w);

        *ret_in_cgroup = pid >= 0;
        if (cgroup >= 0 && (pid >= 0 || errno != ENOSYS || w->plan->wall != WALL_PROCESS))
                return pid;

#if SANITIZED /* AddressSanitizer knows one stack only: here too init is a copy */
        pid = syscall(SYS_clone, flags, NULL, ret_pidfd, NULL, NULL);
        if (pid == 0)
                (void) init_main(w);
        return pid;
#else
        char *stack = make_stack();
        return stack ? clone(init_main, stack, (int) flags | CLONE_VM, w, ret_pidfd) : -1;
#endif
}

/* In the caller's user namespace, where the keyring that its boxes share has its name; while the plan comes.
 */
static int leave_keyring(struct err *e)
{
        wall_step("keyring");
        return wall_keyring_leave(e);
}

static int start_init(struct wall_init *w, int cgroup)
{
        int pidfd = -1;
        bool in_cgroup = false;
        long pid = clone_init(w, cgroup, &pidfd, &in_cgroup);
        struct wall_birth b = { .pid = (int32_t) pid, .sys = pid < 0 ? errno : 0, .in_cgroup = in_cgroup };
        return wire_put(INIT_PLAN, &wall_birth_form, &b, pidfd);
}

_Noreturn void wall_init_enter(void)
{
        /* Zero from the start; only needed parts are touched, because every page touched must be allocated.
         */
        static struct wall_init w;
        struct wall_message m = { .word = WALL_SAYS_ERROR };
        int cgroup = -1;
        wall_no_descriptors(&w);
        wall_step("launcher");
        if (find_descriptors(&w, &cgroup, &m.error) == 0 && leave_keyring(&m.error) == 0 &&
            wall_take_plan(&w, &m.error) == 0)
                _exit(start_init(&w, cgroup) < 0);

        if (wall_put(INIT_CONTROL, &m, -1) < 0)
                (void) !write(2, "cordon-init: started by cordon, not by hand\n", 44);

        _exit(1);
}

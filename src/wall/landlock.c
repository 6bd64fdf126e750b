/* SPDX-License-Identifier: MIT */
/* wall/landlock.c - the second, independent wall over the same paths as the mounts, at the newest ABI of this
 * kernel.
 *
 * It also closes TCP, abstract sockets and signals to outside, and any change of the mount tree. */
#include "base/fd.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Debian 12's headers stop at ABI 3; these numbers are the kernel's own. */
enum {
        FS_EXECUTE = 1 << 0,
        FS_WRITE_FILE = 1 << 1,
        FS_READ_FILE = 1 << 2,
        FS_READ_DIR = 1 << 3,
        FS_REMOVE_DIR = 1 << 4,
        FS_REMOVE_FILE = 1 << 5,
        FS_MAKE_CHAR = 1 << 6,
        FS_MAKE_DIR = 1 << 7,
        FS_MAKE_REG = 1 << 8,
        FS_MAKE_SOCK = 1 << 9,
        FS_MAKE_FIFO = 1 << 10,
        FS_MAKE_BLOCK = 1 << 11,
        FS_MAKE_SYM = 1 << 12,
        FS_REFER = 1 << 13,     /* ABI 2 */
        FS_TRUNCATE = 1 << 14,  /* ABI 3 */
        FS_IOCTL_DEV = 1 << 15, /* ABI 5 */
        NET_BIND_TCP = 1 << 0,  /* ABI 4 */
        NET_CONNECT_TCP = 1 << 1,
        SCOPE_ABSTRACT_UNIX = 1 << 0, /* ABI 6 */
        SCOPE_SIGNAL = 1 << 1,
        FS_ON_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
        FS_WRITING = FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG |
                     FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_SYM | FS_REFER | FS_TRUNCATE,
};

struct ruleset_attr { /* struct landlock_ruleset_attr of ABI 6 */
        uint64_t fs, net, scoped;
};

static uint64_t fs_handled(int abi)
{
        uint64_t all = 0x1fff;
        if (abi >= 2)
                all |= FS_REFER;
        if (abi >= 3)
                all |= FS_TRUNCATE;
        if (abi >= 5)
                all |= FS_IOCTL_DEV;
        return all;
}

static uint64_t rights_of(unsigned rights)
{
        uint64_t r = 0;
        if (rights & RIGHT_LIST)
                r |= FS_READ_DIR;
        if (rights & RIGHT_READ)
                r |= FS_READ_FILE;
        if (rights & RIGHT_WRITE)
                r |= FS_WRITING;
        if (rights & RIGHT_EXEC)
                r |= FS_EXECUTE;
        if (rights & RIGHT_DEVICE)
                r |= FS_WRITE_FILE | FS_IOCTL_DEV;
        return r;
}

static int add_rule(int set, int root, const struct plan_rule *rule, uint64_t handled, struct err *e)
{
        /* In the new root a leading slash stays inside it; in the process wall `root` is the host's. */
        AUTO_FD(at, wall_open2(root, rule->path, O_PATH, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS));
        if (at < 0 && (rule->optional || wall_left_out(LAYER_MOUNT)))
                return 0;
        struct stat st;
        if (at < 0 || fstat(at, &st) < 0)
                return wall_fail(e, STAGE_DOORS, "finding %s for Landlock", rule->path);
        struct landlock_path_beneath_attr a = { .allowed_access = rights_of(rule->rights) & handled,
                                                .parent_fd = at };
        if (!S_ISDIR(st.st_mode))
                a.allowed_access &= FS_ON_FILES;
        if (a.allowed_access == 0)
                return 0;
        if (syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &a, 0) < 0)
                return wall_fail(e, STAGE_DOORS, "adding %s to Landlock", rule->path);
        return 0;
}

int wall_landlock_build(struct wall_init *w, int root, struct err *e)
{
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
        if (abi < 1) {
                (void) wall_fail(e, STAGE_LANDLOCK, "this kernel has no Landlock");
                return err_hint(e,
                                "boot with lsm=landlock,... or write `wall %s without landlock` to go on "
                                "with one layer less",
                                policy_wall_name(w->plan->wall));
        }
        struct ruleset_attr a = { .fs = fs_handled((int) abi) };
        if (abi >= 4 && !w->plan->net)
                a.net = NET_BIND_TCP | NET_CONNECT_TCP;
        if (abi >= 6)
                a.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
        size_t size = abi >= 6 ? sizeof a : abi >= 4 ? 16 : 8;
        AUTO_FD(set, (int) syscall(SYS_landlock_create_ruleset, &a, size, 0));
        if (set < 0)
                return wall_fail(e, STAGE_LANDLOCK, "making the Landlock rules");
        for (size_t i = 0; i < w->plan->rule_count; i++)
                if (add_rule(set, root, &w->plan->rules[i], a.fs, e) < 0)
                        return -1;
        w->landlock = TAKE_FD(set);
        return 0;
}

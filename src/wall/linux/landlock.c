/* SPDX-License-Identifier: MIT */
/* wall/linux/landlock.c - the second, independent wall over the same paths as the mounts, at the newest ABI
 * of this kernel.
 *
 * It also closes TCP, abstract sockets and signals to outside, and any change of the mount tree. */
#include "base/dir.h"
#include "base/fd.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
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

struct rules {
        const struct wall_init *w;
        int set;
        uint64_t handled;
};

/* struct statx: the kernel's header and musl's do not go together. */
struct kernel_statx {
        uint32_t mask, blksize;
        uint64_t attributes;
        uint32_t nlink, uid, gid;
        uint16_t mode, spare;
        uint64_t ino, size, blocks, attributes_mask, times[8];
        uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
        uint64_t rest[14];
};
_Static_assert(sizeof(struct kernel_statx) == 256, "as the kernel has it");
enum { DONT_SYNC = 0x4000, STATX_TYPE_ONLY = 1 };

/* Without a request to the filesystem: the server of one below a door may not answer. */
static bool look_at(int at, struct kernel_statx *ret)
{
        return syscall(SYS_statx, at, "", AT_EMPTY_PATH | DONT_SYNC, STATX_TYPE_ONLY, ret) == 0;
}

static int allow_path(const struct rules *r, int at, unsigned rights, const char *path, struct err *e)
{
        struct kernel_statx st;
        if (!look_at(at, &st))
                return wall_fail(e, STAGE_DOORS, "finding %s for Landlock", path);

        struct landlock_path_beneath_attr a = { .allowed_access = rights_of(rights) & r->handled,
                                                .parent_fd = at };
        if (!S_ISDIR(st.mode))
                a.allowed_access &= FS_ON_FILES;

        if (a.allowed_access == 0)
                return 0;

        if (syscall(SYS_landlock_add_rule, r->set, LANDLOCK_RULE_PATH_BENEATH, &a, 0) < 0)
                return wall_fail(e, STAGE_DOORS, "adding %s to Landlock", path);

        return 0;
}

/* Does something hidden lie somewhere in it? Then the directory has its own rule. */
static bool has_entries(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->rule_count; i++)
                if (p->rules[i].entries && strcmp(p->rules[i].path, path) == 0)
                        return true;
        return false;
}

/* A door of its own that the box writes in: its rights are those of its own rule, and no other's. */
static bool is_written(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->rule_count; i++)
                if (p->rules[i].rights & RIGHT_WRITE && strcmp(p->rules[i].path, path) == 0)
                        return true;
        return false;
}

/* The cover of a hidden file lies on the filesystem of the box's root, which holds no file of the host. */
static bool is_cover(const struct wall_init *w, const struct kernel_statx *st)
{
        struct kernel_statx root;
        return w->masked && look_at(w->root, &root) && root.dev_major == st->dev_major &&
               root.dev_minor == st->dev_minor;
}

static int cannot_hide(struct err *e, const char *path, const char *why, const char *hint)
{
        (void) err_set(e, ERR_DOOR, 0, "the process wall cannot hide %s: it %s", path, why);
        e->step = STAGE_DOORS;
        return err_hint(e, "%s", hint);
}

/* A symlink on the path: its target has other names than those that rights were granted along. */
static int cannot_hand_on(struct err *e, const struct plan_rule *rule)
{
        const char *hint = "name what the link leads to";
        if (rule->entries != RIGHT_EXEC)
                return cannot_hide(e, rule->path, "is, or lies behind, a symbolic link", hint);

        (void) err_set(e, ERR_DOOR, 0,
                       "the process wall cannot keep from running what is written below %s: it is, or lies "
                       "behind, a symbolic link",
                       rule->path);
        e->step = STAGE_DOORS;
        return err_hint(e, "%s", hint);
}

/* Without a cover only a file can be hidden: names in a directory can be listed if those above it can, and
 * the target of a symlink has a name that is not hidden. */
static int hide_bare(const struct rules *r, const char *path, mode_t mode, struct err *e)
{
        if (r->w->plan->wall != WALL_PROCESS || (!S_ISDIR(mode) && !S_ISLNK(mode)))
                return 0;
        return S_ISLNK(mode) ? cannot_hide(e, path, "is a symbolic link", "name what the link leads to")
                             : cannot_hide(e, path, "is a directory, whose names could be listed",
                                           "except its files, or let the doors name what may be read; the "
                                           "namespace wall can: see `cordon doctor`");
}

/* SAFETY: a hidden file gets no right, except for the empty file that covers it. */
static int allow_entry(const struct rules *r, int dir, const struct plan_rule *rule, const char *name,
                       struct err *e)
{
        char path[PATH_MAX];
        struct kernel_statx st;
        (void) snprintf(path, sizeof path, "%s/%s", rule->path, name);
        AUTO_FD(at, openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (at < 0 || !look_at(at, &st)) /* gone meanwhile */
                return fd_is_want(errno) ? wall_fail(e, STAGE_DOORS, "finding %s for Landlock", path) : 0;

        if (wall_is_hidden(r->w->plan, path) && !is_cover(r->w, &st))
                return hide_bare(r, path, st.mode, e);

        if (S_ISLNK(st.mode) || has_entries(r->w->plan, path) || is_written(r->w->plan, path))
                return 0; /* the target of a symlink counts */

        return allow_path(r, at, rule->entries, path, e);
}

enum { ENTRIES_MAX = 65536 };

static int too_many(struct err *e, const struct plan_rule *rule)
{
        bool runs = rule->entries == RIGHT_EXEC;
        errno = E2BIG;
        (void) wall_fail(e, STAGE_DOORS, "%s something among more than %d names in %s",
                         runs ? "keeping from running" : "hiding", ENTRIES_MAX, rule->path);
        return err_hint(e, "%s",
                        runs ? "let the box write in a directory with fewer names beside it"
                             : "name what the box may read instead of what it may not");
}

static int allow_entries(const struct rules *r, int at, const struct plan_rule *rule, struct err *e)
{
        DIR_LIST(list, 8192);
        AUTO_FD(dir, openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        unsigned count = 0;
        int more;
        if (dir < 0 && errno == ENOTDIR) /* a file in place of a directory on the path to a hidden file */
                return allow_path(r, at, rule->entries, rule->path, e);

        if (dir < 0 && errno == EACCES) /* nothing in it can be named here, so nothing in it is opened */
                return 0;

        while ((more = dir < 0 ? -1 : dir_more(&list, dir)) > 0) {
                for (const struct dir_entry *d; (d = dir_next(&list));) {
                        if (strcmp(d->name, ".") == 0 || strcmp(d->name, "..") == 0)
                                continue;
                        if (allow_entry(r, dir, rule, d->name, e) < 0)
                                return -1;
                        count++;
                }
                if (count > ENTRIES_MAX)
                        return too_many(e, rule);
        }

        return more < 0 ? wall_fail(e, STAGE_DOORS, "listing %s, in which something is hidden or written",
                                    rule->path)
                        : 0;
}

static bool is_still(int at, const struct plan_rule *rule)
{
        struct stat st;
        return fstat(at, &st) == 0 && st.st_dev == rule->dev && st.st_ino == rule->ino;
}

/* In the new root a leading slash stays inside it; in the process wall `root` is the host's, and a symlink on
 * the path to a hidden file would lead rights elsewhere, or past the rule that hides it. */
static int open_ruled(const struct rules *r, const struct plan_rule *rule)
{
        bool straight = rule->entries && r->w->plan->wall == WALL_PROCESS;
        return fd_open2(r->w->root, rule->path, O_PATH,
                        RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (straight ? RESOLVE_NO_SYMLINKS : 0));
}

static int add_rule(const struct rules *r, const struct plan_rule *rule, struct err *e)
{
        /* SAFETY: a symlink may lead a `run` line, or the command, to a hidden file. A cover would lie over
         * it. */
        if (r->w->plan->wall == WALL_PROCESS && wall_is_hidden(r->w->plan, rule->path))
                return 0;

        AUTO_FD(at, open_ruled(r, rule));
        if (at < 0 && errno == ELOOP && rule->entries)
                return cannot_hand_on(e, rule);

        if (at < 0 && !fd_is_want(errno) && (rule->optional || wall_left_out(LAYER_MOUNT)))
                return 0;

        if (at < 0)
                return wall_fail(e, STAGE_DOORS, "finding %s for Landlock", rule->path);

        if (rule->pinned && !is_still(at, rule)) {
                errno = ESTALE;
                return wall_fail(e, STAGE_DOORS, "%s changed while the box was starting", rule->path);
        }

        if (allow_path(r, at, rule->rights, rule->path, e) < 0)
                return -1;

        return rule->entries ? allow_entries(r, at, rule, e) : 0;
}

/* Their server answers what is opened, and opens nothing. Without a rule Landlock would answer before it. */
static int allow_covers(const struct rules *r, struct err *e)
{
        for (unsigned i = 0; r->w->covers_ask && i < r->w->shut_count; i++)
                if (r->w->shut[i] >= 0 &&
                    allow_path(r, r->w->shut[i], RIGHT_READ | RIGHT_LIST | RIGHT_EXEC, "a cover", e) < 0)
                        return -1;
        return 0;
}

static int allow_own_dir(const struct rules *r, struct err *e)
{
        const char *path = r->w->s->own_dir;
        if (!path)
                return 0;

        unsigned rights = RIGHT_READ | RIGHT_LIST | RIGHT_WRITE | (r->w->plan->run_any ? RIGHT_EXEC : 0);
        AUTO_FD(at, open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        return at < 0 ? wall_fail(e, STAGE_DOORS, "finding %s for Landlock", path)
                      : allow_path(r, at, rights, path, e);
}

int wall_landlock_build(struct wall_init *w, struct err *e)
{
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
        if (abi < 1) {
                (void) wall_fail(e, STAGE_LANDLOCK, "this kernel has no Landlock");
                return err_hint(e,
                                "boot with lsm=landlock,... or go on with one layer less: "
                                "--wall \"%s without landlock\"",
                                wall_name(w->plan->wall));
        }

        struct ruleset_attr a = { .fs = fs_handled((int) abi) };
        if (abi >= 4 && !w->plan->net && !(w->plan->local & LOCAL_LOOPBACK))
                a.net = NET_BIND_TCP | NET_CONNECT_TCP;

        w->scoped = abi >= HOST_LANDLOCK_SCOPES && !wall_unscoped();
        if (w->scoped)
                a.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;

        size_t size = w->scoped ? sizeof a : abi >= 4 ? 16 : 8;
        AUTO_FD(set, (int) syscall(SYS_landlock_create_ruleset, &a, size, 0));
        if (set < 0)
                return wall_fail(e, STAGE_LANDLOCK, "making the Landlock rules");

        const struct rules r = { w, set, a.fs };
        for (size_t i = 0; i < w->plan->rule_count; i++)
                if (!w->plan->rules[i].covered && add_rule(&r, &w->plan->rules[i], e) < 0)
                        return -1;

        if (allow_own_dir(&r, e) < 0 || allow_covers(&r, e) < 0)
                return -1;

        w->landlock = TAKE_FD(set);
        return 0;
}

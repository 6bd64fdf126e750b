/* SPDX-License-Identifier: MIT */
/* face/bwrap/bwrap_mounts.c - detached mounts, and the operations that consist of several: overlays, /dev,
 * /proc.
 */
#include "base/fd.h"
#include "base/mountapi.h"
#include "face/bwrap/bwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int mount_failed(struct err *e, const char *what, const char *path)
{
        return err_set(e, ERR_WALL, errno, "%s %.256s", what, path);
}

/* The same directory of the same mount: inode, device and mount, at their places in the kernel's struct
 * statx. */
static bool is_same_place(int a, int b)
{
        enum { WORDS = 32, INO = 4, DEV = 17, MNT_ID = 18, ASK = 0x1000 | 0x7ff };
        uint64_t x[WORDS] = { 0 }, y[WORDS] = { 0 };
        if (syscall(SYS_statx, a, "", AT_EMPTY_PATH, ASK, x) < 0 ||
            syscall(SYS_statx, b, "", AT_EMPTY_PATH, ASK, y) < 0)
                return false;
        return x[INO] == y[INO] && x[DEV] == y[DEV] && x[MNT_ID] == y[MNT_ID];
}

/* A mount on "/", by whatever path, is the new root from then on. */
int bwrap_mount_at(struct bwrap_root *r, int tree, int place, const char *dest, struct err *e)
{
        AUTO_FD(mount, tree);
        AUTO_FD(at, place);
        bool is_top = is_same_place(r->top, at);
        if (mount_move(mount, at) < 0)
                return mount_failed(e, "Can't mount on", dest);
        if (!is_top)
                return 0;

        (void) close(r->top);
        r->top = TAKE_FD(mount);
        return 0;
}

int bwrap_clone(int source, unsigned flags)
{
        AUTO_FD(tree, mount_clone(source, "", AT_RECURSIVE));
        struct mount_attr a = { .attr_set = MOUNT_ATTR_NOSUID };
        if (!(flags & BWRAP_DEVICES))
                a.attr_set |= MOUNT_ATTR_NODEV;
        if (flags & BWRAP_RO)
                a.attr_set |= MOUNT_ATTR_RDONLY;
        if (tree < 0 || mount_attr_set(tree, AT_RECURSIVE, &a) < 0)
                return -1;
        return TAKE_FD(tree);
}

/* `options`: names and values in turn, NULL-terminated; a value of NULL: a flag. */
int bwrap_fresh(const char *type, const char *const *options, unsigned attributes)
{
        AUTO_FD(fs, mount_fsopen(type));
        if (fs < 0 || mount_fsset(fs, "source", type) < 0)
                return -1;

        for (; *options; options += 2)
                if ((options[1] ? mount_fsset(fs, options[0], options[1]) : mount_fsflag(fs, options[0])) < 0)
                        return -1;
        return mount_fscreate(fs) < 0 ? -1 : mount_fsmount(fs, attributes);
}

/* ---- overlays ---- */

enum { FD_PATH = 40 };

static const char *path_of(int fd, char ret[FD_PATH])
{
        (void) snprintf(ret, FD_PATH, "/old/proc/self/fd/%d", fd);
        return ret;
}

/* The name of a descriptor, so that no character of a path means anything in an option. */
static int set_dir(int fs, const char *key, int dir)
{
        char path[FD_PATH];
        return mount_fsset(fs, key, path_of(dir, path));
}

/* One option for each layer: Linux 6.5. */
static int add_layers(const struct bwrap_root *r, int fs, const char *const *layers, unsigned count,
                      struct err *e)
{
        while (count-- > 0) { /* the kernel has the uppermost first */
                AUTO_FD(dir, bwrap_open_old(r, layers[count], O_PATH | O_DIRECTORY));
                if (dir < 0)
                        return mount_failed(e, "Can't find source path", layers[count]);
                if (set_dir(fs, "lowerdir+", dir) < 0)
                        return mount_failed(e, "Can't use as a layer of an overlay:", layers[count]);
        }

        return 0;
}

/* All layers in one option, which any kernel takes, of 255 bytes. */
enum { LAYERS_MAX = 8, LAYERS_TEXT = LAYERS_MAX * FD_PATH };

static int join_layers(const struct bwrap_root *r, int fs, const char *const *layers, unsigned count,
                       struct err *e)
{
        int dirs[LAYERS_MAX];
        char text[LAYERS_TEXT] = "", path[FD_PATH];
        unsigned n = 0;
        int done = 0;
        for (; n < count && done == 0; n++) {
                const char *source = layers[count - 1 - n];
                dirs[n] = bwrap_open_old(r, source, O_PATH | O_DIRECTORY);
                if (dirs[n] < 0)
                        done = mount_failed(e, "Can't find source path", source);

                size_t used = strlen(text);
                (void) snprintf(text + used, sizeof text - used, "%s%s", n ? ":" : "",
                                path_of(dirs[n], path));
        }

        if (done == 0 && mount_fsset(fs, "lowerdir", text) < 0)
                done = mount_failed(e, "Can't use as a layer of an overlay:", layers[0]);

        while (n-- > 0)
                fd_close(&dirs[n]);
        return done;
}

static int set_layers(const struct bwrap_order *o, const struct bwrap_op *op, const struct bwrap_root *r,
                      int fs, struct err *e)
{
        const char *const *layers = o->layers + op->layer;
        return op->layers <= LAYERS_MAX ? join_layers(r, fs, layers, op->layers, e)
                                        : add_layers(r, fs, layers, op->layers, e);
}

/* Where changes go: the caller's directories, or new ones in memory. */
static int open_upper(const struct bwrap_op *op, struct bwrap_root *r, int ret[2], struct err *e)
{
        char name[2][FD_PATH];
        const char *path[2] = { op->source, op->work };
        for (int i = 0; i < 2; i++) {
                if (op->flags & BWRAP_TMP) {
                        (void) snprintf(name[i], FD_PATH, "overlay-%u-%d", r->aside_count, i);
                        path[i] = name[i];
                        if (mkdirat(r->aside, path[i], 0755) < 0)
                                return mount_failed(e, "Can't mkdir", path[i]);
                }

                ret[i] = op->flags & BWRAP_TMP ? openat(r->aside, path[i], O_PATH | O_DIRECTORY | O_CLOEXEC)
                                               : bwrap_open_old(r, path[i], O_PATH | O_DIRECTORY);
                if (ret[i] < 0)
                        return mount_failed(e, "Can't find source path", path[i]);
        }

        r->aside_count++;
        return 0;
}

static int set_upper(int fs, const struct bwrap_op *op, struct bwrap_root *r, struct err *e)
{
        int dirs[2] = { -1, -1 };
        int done = open_upper(op, r, dirs, e);
        AUTO_FD(upper, dirs[0]);
        AUTO_FD(work, dirs[1]);
        if (done < 0)
                return -1;
        if (set_dir(fs, "upperdir", upper) < 0 || set_dir(fs, "workdir", work) < 0)
                return mount_failed(e, "Can't make overlay mount on", op->dest);
        return 0;
}

int bwrap_mount_overlay(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                        int place, struct err *e)
{
        AUTO_FD(at, place);
        AUTO_FD(fs, mount_fsopen("overlay"));
        if (fs < 0)
                return mount_failed(e, "Can't make overlay mount on", op->dest);

        if (set_layers(o, op, r, fs, e) < 0 || (!(op->flags & BWRAP_RO) && set_upper(fs, op, r, e) < 0))
                return -1;

        AUTO_FD(tree, -1);
        if (mount_fsflag(fs, "userxattr") == 0 && mount_fscreate(fs) == 0)
                tree = mount_fsmount(fs, MOUNT_PLAIN | (op->flags & BWRAP_RO ? MOUNT_ATTR_RDONLY : 0));
        if (tree < 0)
                return mount_failed(e, "Can't make overlay mount on", op->dest);
        return bwrap_mount_at(r, TAKE_FD(tree), TAKE_FD(at), op->dest, e);
}

/* ---- /dev ---- */

/* A node of the caller's at a name in `dir`, a directory of ours. */
static int add_node(const struct bwrap_root *r, int dir, const char *name, const char *source, struct err *e)
{
        AUTO_FD(node, bwrap_open_in(r->old, source, O_PATH, 0));
        AUTO_FD(tree, node < 0 ? -1 : bwrap_clone(node, BWRAP_DEVICES));
        if (tree < 0 || mknodat(dir, name, S_IFREG | 0444, 0) < 0 || mount_move_to(tree, dir, name) < 0)
                return mount_failed(e, "Can't create device", source);
        return 0;
}

static int add_terminals(int dir, struct err *e)
{
        static const char *const options[] = { "newinstance", NULL, "ptmxmode", "0666", "mode", "620", NULL };
        if (mkdirat(dir, "pts", 0755) < 0)
                return mount_failed(e, "Can't create", "pts");

        AUTO_FD(tree, bwrap_fresh("devpts", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC));
        if (tree < 0 || mount_move_to(tree, dir, "pts") < 0)
                return mount_failed(e, "Can't mount devpts on", "pts");
        return 0;
}

static int add_links(int dir, struct err *e)
{
        static const char *const links[][2] = {
                { "/proc/self/fd/0", "stdin" },  { "/proc/self/fd/1", "stdout" },
                { "/proc/self/fd/2", "stderr" }, { "/proc/self/fd", "fd" },
                { "/proc/kcore", "core" },       { "pts/ptmx", "ptmx" },
        };
        for (size_t i = 0; i < sizeof links / sizeof *links; i++)
                if (symlinkat(links[i][0], dir, links[i][1]) < 0)
                        return mount_failed(e, "Can't create symlink", links[i][1]);
        return mkdirat(dir, "shm", 0755) < 0 ? mount_failed(e, "Can't create", "shm") : 0;
}

int bwrap_mount_dev(const struct bwrap_op *op, struct bwrap_root *r, int place, struct err *e)
{
        static const char *const nodes[] = { "/dev/null",   "/dev/zero",    "/dev/full",
                                             "/dev/random", "/dev/urandom", "/dev/tty" };
        static const char *const options[] = { "mode", "0755", NULL };
        AUTO_FD(at, place);
        AUTO_FD(tree, bwrap_fresh("tmpfs", options, MOUNT_PLAIN));
        AUTO_FD(dir, tree < 0 ? -1 : fcntl(tree, F_DUPFD_CLOEXEC, 0));
        if (dir < 0)
                return mount_failed(e, "Can't mount tmpfs on", op->dest);
        if (bwrap_mount_at(r, TAKE_FD(tree), TAKE_FD(at), op->dest, e) < 0)
                return -1;

        for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
                if (add_node(r, dir, nodes[i] + strlen("/dev/"), nodes[i], e) < 0)
                        return -1;
        if (add_links(dir, e) < 0 || add_terminals(dir, e) < 0)
                return -1;
        return r->tty ? add_node(r, dir, "console", r->tty, e) : 0;
}

/* ---- /proc ---- */

/* Parts of /proc that act on the machine are read-only where the command could write to them, which root can
 * in any user namespace that maps it. Where it could not, they stay as they are: over a covered /proc the
 * kernel refuses to mount another, which nested boxes do. The directory sys does not show it, so one file of
 * it is asked. */
static int cover_machine(int proc, struct err *e)
{
        static const char *const parts[][2] = { { "sys", "sys/kernel/core_pattern" },
                                                { "sys", "sys/vm/overcommit_memory" },
                                                { "sysrq-trigger", "sysrq-trigger" },
                                                { "irq", "irq" },
                                                { "bus", "bus" } };
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
                if (faccessat(proc, parts[i][1], W_OK, 0) < 0)
                        continue;

                AUTO_FD(part, openat(proc, parts[i][0], O_PATH | O_CLOEXEC));
                AUTO_FD(tree, part < 0 ? -1 : bwrap_clone(part, BWRAP_RO));
                if (tree < 0 || mount_move(tree, part) < 0)
                        return mount_failed(e, "Can't make read-only: /proc part", parts[i][0]);
        }

        return 0;
}

/* Without processes of its own the box has the caller's /proc. */
static int clone_proc(const struct bwrap_root *r)
{
        AUTO_FD(proc, bwrap_open_in(r->old, "/proc", O_PATH | O_DIRECTORY, 0));
        return proc < 0 ? -1 : bwrap_clone(proc, 0);
}

int bwrap_mount_proc(const struct bwrap_op *op, struct bwrap_root *r, int place, struct err *e)
{
        static const char *const options[] = { NULL };
        AUTO_FD(at, place);
        AUTO_FD(tree,
                r->own_proc ? bwrap_fresh("proc", options, MOUNT_PLAIN | MOUNT_ATTR_NOEXEC) : clone_proc(r));
        AUTO_FD(proc, tree < 0 ? -1 : fcntl(tree, F_DUPFD_CLOEXEC, 0));
        if (proc < 0)
                return mount_failed(e, "Can't mount proc on", op->dest);
        if (bwrap_mount_at(r, TAKE_FD(tree), TAKE_FD(at), op->dest, e) < 0)
                return -1;
        return cover_machine(proc, e);
}

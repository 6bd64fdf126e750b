/* SPDX-License-Identifier: MIT */
/* wall/plan/device_doors.c - `dev` and `gpu` doors: nodes of the host, by their numbers, and files of a
 * driver. */
#include "wall/plan/internal.h"

#include <string.h>
#include <sys/sysmacros.h>

/* Two `gpu` doors share nodes. */
static bool is_built(const struct builder *b, const char *path)
{
        for (size_t i = b->own_steps; i < b->p->step_count; i++)
                if (strcmp(b->p->steps[i].path, path) == 0)
                        return true;
        return false;
}

static bool is_that_device(const struct policy_device *known, uint64_t device)
{
        return known && device && (known->major < 0 || major(device) == (unsigned) known->major) &&
               (known->minor < 0 || minor(device) == (unsigned) known->minor);
}

/* The name may be anything: the number counts. */
static int add_node(struct builder *b, const struct door *d, const struct plan_node *n, struct err *e)
{
        if (!is_that_device(policy_device(n->path), n->seen.device))
                return door_error(d, ERR_DOOR, e, "%s is not the device that has this name", n->path);

        if (b->r->as_root && !n->seen.open_to_all) {
                (void) door_error(d, ERR_DOOR, e,
                                  "a box of root has an id that owns nothing, and %s is not open to all",
                                  n->path);
                return err_hint(e, "run cordon as a user who may open it, for example a member of its group");
        }

        if (n->seen.closed) {
                (void) door_error(d, ERR_DOOR, e, "you may not open %s for reading and writing", n->path);
                return err_hint(e, "a member of its group may: ls -l %s", n->path);
        }

        if (is_built(b, n->path))
                return 0;

        struct plan_step *s =
                build_step(b, STEP_DEVICE, arena_str(b->a, n->path), arena_str(b->a, n->path), 0);
        s->dev = n->seen.dev;
        s->ino = n->seen.ino;
        (void) build_rule(b, s->path, RIGHT_READ | RIGHT_DEVICE, false);
        return 0;
}

/* The driver's libraries and lists, unless a door shows them already. */
static void add_files(struct builder *b, const struct plan_node *n)
{
        const char *path = arena_str(b->a, n->path);
        if (!path || door_covering(b, path, NULL) || is_built(b, path))
                return;

        struct plan_step *s = build_step(b, STEP_BIND, path, path, STEP_EXEC | STEP_IS_DIR);
        s->dev = n->seen.dev;
        s->ino = n->seen.ino;
        (void) build_rule(b, path, RIGHT_LIST | RIGHT_READ | RIGHT_EXEC, false);
}

static int no_gpu(const struct door *d, struct err *e)
{
        const char *chosen = policy_gpu(d->path);
        (void) door_error(d, ERR_DOOR, e, "this host has no GPU%s%s", chosen[0] ? " " : "", chosen);
        return err_hint(e, "NVIDIA's are /dev/nvidia0 and so on, others /dev/dri/renderD128; `cordon doctor` "
                           "shows them");
}

static int add_gpu(struct builder *b, const struct door *d, const struct plan_seen *seen, struct err *e)
{
        if (seen->node_count == 0)
                return d->optional ? 0 : no_gpu(d, e);

        for (size_t i = 0; i < seen->node_count; i++) {
                const struct plan_node *n = &seen->nodes[i];
                if (n->seen.kind == SEEN_DIR) {
                        add_files(b, n);
                } else if (n->seen.kind == SEEN_NOTHING) {
                        (void) door_error(d, ERR_DOOR, e, "the GPU's driver has no %s", n->path);
                        return err_hint(e,
                                        "`nvidia-modprobe -u -c 0`, as root, loads its module and makes it");
                } else if (add_node(b, d, n, e) < 0) {
                        return -1;
                }
        }

        return 0;
}

int build_device(struct builder *b, size_t i, struct err *e)
{
        const struct door *d = &b->doors[i];
        const struct plan_seen *seen = &b->r->seen[i];
        if (policy_gpu(d->path))
                return add_gpu(b, d, seen, e);

        if (seen->closed && d->optional)
                return 0;

        return add_node(b, d, &(struct plan_node){ .path = d->path, .seen = *seen }, e);
}

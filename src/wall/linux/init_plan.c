/* SPDX-License-Identifier: MIT */
/* wall/linux/init_plan.c - the part of a start that is sent to init besides box plan and run order; and
 * init's side: reads the three blocks, and trusts none of their bytes. */
#include "base/block.h"
#include "wall/linux/init_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FORMAT = 3, KIND_LAUNCH = 3 };

static const struct block_field edit_fields[] = {
        BLOCK_STRING(struct wall_edit, path, false),
        BLOCK_ANY(struct wall_edit, dev),
        BLOCK_ANY(struct wall_edit, ino),
};
static const struct block_type edit_type = { .size = sizeof(struct wall_edit), BLOCK_FIELDS(edit_fields) };

static const struct block_field launch_fields[] = {
        BLOCK_ARRAY(struct wall_launch, s.edits, edit_count, edit_type),
        BLOCK_STRING(struct wall_launch, s.own_dir, true),
        BLOCK_UPTO(struct wall_launch, s.spare, WALL_SPARE_MANY),
        BLOCK_ANY(struct wall_launch, s.bundle_bytes),
        BLOCK_BOOL(struct wall_launch, s.groups_late),
        BLOCK_BOOL(struct wall_launch, s.sampled),
        BLOCK_BOOL(struct wall_launch, s.tell),
        BLOCK_BOOL(struct wall_launch, s.watch_all),
        BLOCK_BOOL(struct wall_launch, s.watch),
        BLOCK_BOOL(struct wall_launch, s.front),
        BLOCK_BOOL(struct wall_launch, s.own_core),
        BLOCK_ANY(struct wall_launch, s.rows),
        BLOCK_ANY(struct wall_launch, s.columns),
        BLOCK_ANY(struct wall_launch, s.caller_uid),
        BLOCK_ANY(struct wall_launch, s.caller_gid),
        BLOCK_ANY(struct wall_launch, s.host_uid),
        BLOCK_ANY(struct wall_launch, s.host_gid),
        BLOCK_UPTO(struct wall_launch, handle_count, HANDLES_MAX),
        BLOCK_BOOL(struct wall_launch, has_copies),
};
const struct block_type wall_launch_type = { .size = sizeof(struct wall_launch),
                                             BLOCK_FIELDS(launch_fields),
                                             .kind = KIND_LAUNCH,
                                             .version = FORMAT };

enum { PLAN_FIRST = 64 * 1024, PLAN_MOST = 64 << 20 };

/* Reads to EOF: most plans fit into the given buffer, the others get a mapping of their own. */
static char *receive_plan(size_t *ret_length, struct err *e)
{
        static _Alignas(16) char first[PLAN_FIRST];
        char *p = first;
        size_t n = 0, room = sizeof first;
        for (;;) {
                ssize_t k = read(INIT_PLAN, p + n, room - n);
                if (k == 0)
                        break;
                if (k < 0 && errno != EINTR) {
                        (void) wall_fail(e, STAGE_EXEC, "reading the plan");
                        return NULL;
                }
                n += k > 0 ? (size_t) k : 0;
                if (n < room)
                        continue;
                void *more = room >= PLAN_MOST ? MAP_FAILED
                                               : mmap(NULL, 4 * room, PROT_READ | PROT_WRITE,
                                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                if (more == MAP_FAILED) {
                        (void) wall_fail(e, STAGE_EXEC, "keeping the plan");
                        return NULL;
                }
                p = memcpy(more, p, n);
                room *= 4;
        }

        *ret_length = n;
        return p;
}

static int read_blocks(const struct wall_launch **ret, struct wall_init *w, struct err *e)
{
        size_t n = 0, used = 0;
        const void *launch;
        char *p = receive_plan(&n, e);
        if (!p || block_open(&wall_launch_type, p, n, &launch, &used, e) < 0)
                return -1;

        if (plan_open_box(p += used, n -= used, &w->plan, &used, e) < 0 ||
            plan_open_order(p += used, n -= used, &w->order, &used, e) < 0)
                return -1;

        *ret = launch;
        bool holds = used == n && (*ret)->edit_count >= w->plan->edits &&
                     (*ret)->handle_count <= w->plan->handle_count;
        return holds ? 0 : err_set(e, ERR_INTERNAL, 0, "the plan and its launch contradict each other");
}

/* Twice, because a stand-in may take the first place. */
static int keep_handles(struct wall_init *w, unsigned count, struct err *e)
{
        for (unsigned i = 0; i < count; i++) {
                w->handles[i] = fcntl(3 + (int) i, F_DUPFD_CLOEXEC, INIT_FD__END);
                if (w->handles[i] < 0)
                        return wall_fail(e, STAGE_EXEC, "keeping handles");
        }

        return 0;
}

int wall_take_plan(struct wall_init *w, struct err *e)
{
        static struct wall_start s;
        static struct wall_stdio io;
        static const int copies_sent = -1; /* they come over the control socket */
        const struct wall_launch *l;
        if (read_blocks(&l, w, e) < 0 || keep_handles(w, l->handle_count, e) < 0)
                return -1;

        io.handle_count = l->handle_count;
        s = l->s;
        s.plan = w->plan;
        s.order = w->order;
        s.io = &io;
        s.copies = l->has_copies ? &copies_sent : NULL;
        s.trust_fd = w->trust;
        s.cgroup_fd = -1;
        w->s = &s;
        return 0;
}

/* SPDX-License-Identifier: MIT */
/* wall/plan/plan.c - makes and prints plans. Never: a system call, a clock, a log. */
#include "base/limits.h"
#include "base/str.h"
#include "wall/plan/internal.h"

#include <stdlib.h>
#include <string.h>

static const char *const step_names[] = {
        [STEP_NONE] = "none",     [STEP_ROOT] = "root",       [STEP_FILE] = "file",     [STEP_LINK] = "link",
        [STEP_BIND] = "bind",     [STEP_SCRATCH] = "scratch", [STEP_DEVICE] = "device", [STEP_PROC] = "proc",
        [STEP_DEVPTS] = "devpts", [STEP_SHUT] = "shut",       [STEP_MASK] = "mask",     [STEP_EDIT] = "edit",
        [STEP_PIN] = "pin",       [STEP_TRUST] = "trust",     [STEP_COPY] = "copy",     [STEP_DIR] = "dir",
        [STEP_COVER] = "cover",   [STEP_LISTEN] = "listen",   [STEP_STILL] = "still",
};
_Static_assert(sizeof step_names / sizeof *step_names == STEP_KIND__COUNT, "a name for each step");

const char *plan_step_name(enum step_kind k) { return (unsigned) k < STEP_KIND__COUNT ? step_names[k] : "?"; }

static size_t depth_of(const char *path)
{
        size_t n = 0;
        for (; *path; path++)
                n += *path == '/';
        return n;
}

/* Does the door lie above a name that is covered, or the symlink that it is? */
static bool shows_own(const struct builder *b, size_t i)
{
        const struct door *d = &b->doors[i];
        const char *real = d->kind == DOOR_RUN ? b->r->found[i].real : b->r->seen[i].real;
        const char *const *const lists[] = { b->r->state, b->r->config, b->r->shut };
        const size_t counts[] = { PLAN_OWN_PATHS, PLAN_CONFIG_PATHS, b->r->shut_count };
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
                for (size_t n = 0; n < counts[k]; n++) {
                        const char *p = lists[k][n];
                        if (p && ((d->path && path_under(p, d->path)) || (real && path_under(p, real))))
                                return true;
                }
        return false;
}

static bool allocate_plan(struct builder *b)
{
        size_t own = 0, held = 0, written = 0;
        for (size_t i = 0; i < b->r->shut_count; i++)
                own += 1 + depth_of(b->r->shut[i]);

        for (size_t k = 0; k < PLAN_OWN_PATHS; k++)
                own += b->r->state[k] ? 1 + depth_of(b->r->state[k]) : 0;

        for (size_t k = 0; k < PLAN_CONFIG_PATHS; k++)
                own += b->r->config[k] ? 1 + depth_of(b->r->config[k]) : 0;

        for (size_t i = 0; i < b->door_count; i++) {
                for (char **x = b->doors[i].except; x && *x; x++)
                        held += 1 + depth_of(*x);
                if (shows_own(b, i))
                        held += 2 * own;
                if (b->doors[i].kind == DOOR_WRITE)
                        written += depth_of(b->doors[i].path);
        }

        /* Fixed steps and rules, then at most three per door (bind, link, entry), and what hides names: each
         * cover, and each directory that leads to one, by its name and by the target of a symlink. Rules: as
         * many as lead to the writable paths. */
        size_t tops = b->r->image ? b->r->image->top_count : 0;
        b->step_cap = 64 + tops + machine_steps(b->r) + 4 * b->door_count + b->r->shut_count + held;
        b->rule_cap = 32 + tops + 3 * b->door_count + held + written;
        b->p = arena_alloc(b->a, sizeof *b->p);
        b->o = arena_alloc(b->a, sizeof *b->o);
        if (!b->p || !b->o)
                return false;

        b->p->order = b->o;

        b->p->steps = arena_alloc(b->a, b->step_cap * sizeof *b->p->steps);
        b->p->rules = arena_alloc(b->a, b->rule_cap * sizeof *b->p->rules);
        b->p->held = arena_alloc(b->a, (own + 1) * sizeof *b->p->held);
        return names_init(&b->rules, b->scratch, b->rule_cap) == 0 &&
               names_init(&b->binds, b->scratch, b->step_cap) == 0 && !b->a->failed;
}

/* Doors whose mechanism this build lacks stop the start: silently ignoring a door would misstate what the
 * box can do. */
static int refuse_unbuilt(const struct builder *b, struct err *e)
{
        if (!wall_traits(b->r->wall)->built) {
                (void) err_set(e, ERR_HOST, 0, "wall `%s` is not implemented", wall_name(b->r->wall));
                return err_hint(e, "`wall namespace` holds any program; `wall wasm` a WebAssembly module");
        }
        return 0;
}

static int refuse_beyond_process_wall(const struct builder *b, struct err *e)
{
        if (!wall_has(b->r->wall, WALL_OWN_IDS) && b->r->root_inside) {
                (void) err_set(e, ERR_HOST, 0,
                               "the process wall cannot show uid 0: it has no private user ids");
                return err_hint(e, "remove --root; `cordon doctor` shows what the namespace wall needs");
        }

        if (b->r->image && !wall_has(b->r->wall, WALL_OWN_ROOT)) {
                char at[256];
                (void) err_set(e, ERR_HOST, 0,
                               "%s: the process wall does not support an image: it has no private root",
                               policy_place(policy_root_place(b->c), at, sizeof at));
                return err_hint(e, "it needs the namespace wall: `cordon doctor` shows what is missing");
        }

        bool rules = !(policy_without(b->c) & WITHOUT_LANDLOCK);
        for (size_t i = 0; i < b->door_count && !wall_has(b->r->wall, WALL_OWN_ROOT); i++) {
                const struct door *d = &b->doors[i];
                if (d->kind == DOOR_EDIT) {
                        (void) door_error(d, ERR_HOST, e,
                                          "the process wall does not support an `edit` door: it has no "
                                          "private view of the files");
                        return err_hint(e,
                                        "it needs the namespace wall: `cordon doctor` shows what is missing");
                }
                if (d->except && !rules) {
                        (void) door_error(d, ERR_HOST, e,
                                          "the process wall enforces `except` by Landlock alone");
                        return err_hint(e, "remove `without landlock`");
                }
        }

        return 0;
}

/* The probe from inside is also subject to the limit, and would report that a wall is down. */
static int refuse_too_few_files(const struct builder *b, struct err *e)
{
        enum { STREAMS = 3, PROBE = 2 };
        uint64_t need = STREAMS + PROBE, files = b->p->limits.value[LIMIT_FILES];
        for (size_t i = 0; i < b->door_count; i++)
                need += b->doors[i].kind == DOOR_IN || b->doors[i].kind == DOOR_OUT;

        if (files >= need)
                return 0;

        (void) err_set(e, ERR_LIMIT, 0,
                       "limit files %llu: the box's streams and handles and the probe from inside need %llu",
                       (unsigned long long) files, (unsigned long long) need);
        return err_hint(e, "most programs need 20 and more");
}

/* Without namespaces a loopback, terminals and sockets would be the host's. Those that a stock policy
 * opens by default are left out then; those that the user asked for stop the start. */
static int resolve_local(struct builder *b, struct err *e)
{
        size_t count;
        const struct policy_local_row *rows = policy_local_rows(&count);
        b->p->local = policy_local(b->c);
        if (wall_has(b->r->wall, WALL_OWN_NET))
                return 0;

        for (size_t i = 0; i < count; i++) {
                const struct source_place *stated = policy_local_stated(b->c, rows[i].bit);
                char at[256];
                if (!stated)
                        continue;
                (void) err_set(e, ERR_HOST, 0, "%s: the process wall cannot give a box `local %s`",
                               policy_place(stated, at, sizeof at), rows[i].name);
                return err_hint(e, "it needs the namespace wall: `cordon doctor` shows what is missing");
        }

        b->p->local = 0;
        return 0;
}

/* Counted from the start of a run; the others apply to the box. */
static bool is_of_run(enum limit_key k)
{
        return k != LIMIT_MEMORY && k != LIMIT_PROCS && k != LIMIT_FILES && k != LIMIT_DISK;
}

static void build_limits(struct builder *b)
{
        struct policy_limits all = *policy_limits(b->c);
        if (b->o->tty) { /* interactive: no time limit */
                policy_limit_lift(&all, LIMIT_TIME);
                policy_limit_lift(&all, LIMIT_CPU);
        }

        for (int k = 0; k < LIMIT_KEY__COUNT; k++) {
                struct policy_limits *to = is_of_run((enum limit_key) k) ? &b->o->limits : &b->p->limits;
                to->value[k] = all.value[k];
                to->stated[k] = all.stated[k];
        }
}

static int build_all(struct builder *b, struct err *e)
{
        struct plan *p = b->p;
        p->box = arena_str(b->a, policy_box(b->c));
        p->wall = b->r->wall;
        p->without = policy_without(b->c);
        b->o->tty = b->r->tty;
        build_limits(b);
        p->uid = p->gid = b->r->root_inside ? 0 : 1000;
        if (b->r->image && b->r->image->has_user && !b->r->root_inside) {
                p->uid = b->r->image->uid;
                p->gid = b->r->image->gid;
        }

        p->run_any = b->run_any = policy_runs_any(b->c);
        for (size_t i = 0; i < b->door_count; i++)
                b->writes |= b->doors[i].kind == DOOR_WRITE || b->doors[i].kind == DOOR_EDIT;

        if (refuse_unbuilt(b, e) < 0 || refuse_beyond_process_wall(b, e) < 0 ||
            refuse_too_few_files(b, e) < 0 || resolve_local(b, e) < 0 || build_net(b, e) < 0 ||
            build_view(b, e) < 0 || build_payload(b, e) < 0)
                return -1;

        if (p->step_count == b->step_cap || p->rule_count == b->rule_cap)
                return err_set(e, ERR_INTERNAL, 0, "the plan has more steps than were counted");

        return b->a->failed ? err_set(e, ERR_MEMORY, 0, "no memory for the plan") : 0;
}

struct plan *plan_make(const struct checked_policy *c, const struct plan_request *r, struct err *e)
{
        struct arena mem = { 0 }, scratch = { 0 };
        struct builder b = { .a = &mem, .scratch = &scratch, .c = c, .r = r };
        struct plan *made = NULL;

        b.doors = policy_doors(c, &b.door_count);
        if (!allocate_plan(&b))
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the plan");
        else if (build_all(&b, e) == 0)
                made = b.p;

        arena_done(&scratch);
        if (made)
                made->mem = mem;
        else
                arena_done(&mem);

        return made;
}

void plan_free(struct plan *p)
{
        if (!p)
                return;
        struct arena mem = p->mem; /* the plan itself lives in it */
        arena_done(&mem);
}

static void print_flags(unsigned f, struct buf *out)
{
        buf_puts(out, f & STEP_WRITE ? " rw" : " ro");
        buf_puts(out, f & STEP_EXEC ? " exec" : " noexec");
        if (f & STEP_IDMAP)
                buf_puts(out, " idmap");
        if (f & STEP_OPTIONAL)
                buf_puts(out, " if-there");
}

static void print_rights(unsigned r, struct buf *out)
{
        static const struct {
                unsigned bit;
                const char *name;
        } names[] = { { RIGHT_LIST, "list" },
                      { RIGHT_READ, "read" },
                      { RIGHT_WRITE, "write" },
                      { RIGHT_EXEC, "exec" },
                      { RIGHT_DEVICE, "device" } };

        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (r & names[i].bit)
                        buf_printf(out, " %s", names[i].name);
}

void plan_print(const struct plan *p, struct buf *out)
{
        char text[PATH_MAX_BYTES];
        buf_printf(out, "box %s\nwall %s\n", p->box, wall_name(p->wall));
        for (size_t i = 0; i < p->step_count; i++) {
                const struct plan_step *s = &p->steps[i];
                buf_printf(out, "%-8s %s", plan_step_name(s->kind),
                           str_inert(span_str(s->path), text, sizeof text));
                if (s->kind == STEP_LINK)
                        buf_printf(out, " -> %s", s->text);
                if (s->kind == STEP_ROOT)
                        buf_printf(out, " of the image %s", str_inert(span_str(s->text), text, sizeof text));
                if (s->kind == STEP_BIND || s->kind == STEP_EDIT || s->kind == STEP_PIN)
                        print_flags(s->flags, out);
                buf_putc(out, '\n');
        }

        for (size_t i = 0; i < p->rule_count; i++) {
                buf_printf(out, "landlock %s", str_inert(span_str(p->rules[i].path), text, sizeof text));
                print_rights(p->rules[i].rights, out);
                if (p->rules[i].entries) {
                        buf_puts(out, ", in it at the start:");
                        print_rights(p->rules[i].entries, out);
                }
                buf_putc(out, '\n');
        }

        for (size_t i = 0; i < p->port_count; i++)
                buf_printf(out, "port     %u\n", p->ports[i]);

        for (const char **v = p->order->envp; *v; v++)
                buf_printf(out, "env      %.*s\n", (int) strcspn(*v, "="), *v);

        buf_printf(out, "cwd      %s\n", str_inert(span_str(p->order->cwd), text, sizeof text));
        for (const char **v = p->order->exec; *v; v++)
                buf_printf(out, "exec     %s\n", str_inert(span_str(*v), text, sizeof text));
}

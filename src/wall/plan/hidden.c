/* SPDX-License-Identifier: MIT */
/* wall/plan/hidden.c - paths that a door hides or pins: those of an `except`, and cordon's own state; and
 * paths that a right to run must not reach. */
#include "base/str.h"
#include "wall/plan/internal.h"

#include <string.h>

/* The names on the way from a `write` or `edit` door to a file of cordon's own are watched. The box may make
 * entries in those directories, so neither their rights nor their entries can be fixed, as behind a read
 * door: the keeper watches these names outside, and ends the box if one is replaced, moved or made. */
static void add_name(struct builder *b, struct span path)
{
        struct plan *p = b->p;
        for (size_t i = 0; i < p->held_count; i++)
                if (span_is(path, p->held[i].path))
                        return;
        p->held[p->held_count++].path = arena_copy(b->a, path);
}

/* A path in the directory of own policies is covered with it. */
static bool is_covered(const struct builder *b, const char *own)
{
        for (size_t k = 0; k < PLAN_CONFIG_PATHS; k++) {
                const char *up = b->r->config[k];
                if (up && strcmp(up, own) != 0 && path_under(own, up))
                        return true;
        }
        return false;
}

static void build_held(struct builder *b, const char *door, const char *own)
{
        size_t len = strcmp(door, "/") == 0 ? 0 : strlen(door);
        if (!path_under(own, door) || strlen(own) <= len || is_covered(b, own))
                return;

        for (const char *at = own + len; *at;) {
                at += 1 + strcspn(at + 1, "/");
                add_name(b, span_of(own, (size_t) (at - own)));
        }
}

/* Another line that shows a path in the `except` of `d`, a read door: then it is not hidden. */
static bool shown_otherwise(const struct builder *b, const struct door *d, const char *path)
{
        for (size_t n = strlen(path); n > 0; n = str_parent(path, n)) {
                struct span at = span_of(path, n);
                size_t lo, hi;
                if (door_at(b, DOOR_EDIT, at) || door_at(b, DOOR_WRITE, at))
                        return true;
                for (policy_doors_at(b->c, DOOR_READ, at, &lo, &hi); lo < hi; lo++)
                        if (&b->doors[lo] != d && b->r->seen[lo].kind != SEEN_NOTHING &&
                            !door_excepts(&b->doors[lo], path))
                                return true;
        }

        return false;
}

/* A door of this host below a path that is about to be hidden, or NULL. */
static const struct door *door_below(struct builder *b, const char *path)
{
        static const enum door_kind kinds[] = { DOOR_READ, DOOR_EDIT, DOOR_WRITE, DOOR_RUN, DOOR_SOCK };
        const char *tree = arena_printf(b->scratch, "%s/", path);
        for (size_t k = 0; tree && k < sizeof kinds / sizeof *kinds; k++)
                for (size_t i = policy_doors_from(b->c, kinds[k], span_str(tree));
                     i < b->door_count && b->doors[i].kind == kinds[k] &&
                     strncmp(b->doors[i].path, tree, strlen(tree)) == 0;
                     i++)
                        if (b->r->seen[i].kind != SEEN_NOTHING)
                                return &b->doors[i];

        return NULL;
}

/* ---- names that stay hidden, or shut, whatever a process outside does ----
 * A mount covers an entry, and is gone when a process outside replaces or removes that entry. So nothing that
 * comes later to a directory between the door and the name is opened: it has no right (Landlock), or no place
 * (STEP_STILL). */

/* The topmost directory above a door whose rights reach into it: /etc, or the target of another line's
 * symlink. 0: Landlock cannot take them back, because one is the box's own, in which new entries need the
 * rights. */
static size_t top_of_rights(const struct builder *b, const char *door)
{
        size_t at, top = strlen(door);
        for (size_t n = str_parent(door, top); n > 0; n = str_parent(door, n)) {
                const char *dir = arena_printf(b->scratch, "%.*s", (int) n, door);
                unsigned rights = dir && names_find(&b->rules, dir, &at)
                                          ? b->p->rules[at].rights | b->p->rules[at].entries
                                          : 0;
                if (rights & RIGHT_READ && rights & RIGHT_WRITE)
                        return 0;
                if (rights & RIGHT_READ)
                        top = n;
        }

        return policy_without(b->c) & WITHOUT_LANDLOCK ? 0 : top;
}

/* Each directory down to the name passes its rights, and those from above, to its current entries; later
 * entries have none. Returns the rights of the directory named by the first `n` bytes of `name`. */
static unsigned hand_rights_down(struct builder *b, const char *name, size_t n, size_t top)
{
        unsigned rights = n > top ? hand_rights_down(b, name, str_parent(name, n), top) : 0;
        const char *dir = arena_printf(b->a, "%.*s", (int) n, name);
        if (!dir)
                return 0; /* out of memory: reported at the end */

        struct plan_rule *r = build_rule(b, dir, RIGHT_LIST, true);
        r->entries |= rights | r->rights;
        r->rights = RIGHT_LIST;
        return r->entries;
}

static bool is_still(const struct builder *b, const char *dir)
{
        for (size_t i = b->own_steps; i < b->p->step_count; i++)
                if (b->p->steps[i].kind == STEP_STILL && strcmp(b->p->steps[i].path, dir) == 0)
                        return true;
        return false;
}

/* Each directory down to the name shows its current entries as mounts on a tmpfs of the box's own. */
static void keep_still(struct builder *b, const char *door, const char *name, unsigned flags)
{
        for (const char *at = name + strlen(door); (at = strchr(at, '/')); at++) {
                const char *dir = arena_copy(b->a, span_of(name, (size_t) (at - name)));
                if (dir && !is_still(b, dir))
                        (void) build_step(b, STEP_STILL, dir, NULL, STEP_IS_DIR | flags);
        }
}

/* `door` is a read door, or a directory of programs, above the name. Where another door writes in between,
 * the way to that is held. */
static void hold_name(struct builder *b, const char *door, const char *name, unsigned flags)
{
        size_t had, len = strlen(door);
        if (!path_under(name, door) || !names_find(&b->rules, door, &had) || door_writes(b, door))
                return; /* a symlink, or shown by another door */

        const char *held = name;
        for (const char *at = name + len; held == name && *at && (at = strchr(at + 1, '/'));) {
                struct span up = span_of(name, (size_t) (at - name));
                if (door_at(b, DOOR_WRITE, up) || door_at(b, DOOR_EDIT, up))
                        held = arena_copy(b->a, up);
        }

        size_t n = held ? str_parent(held, strlen(held)) : 0, top = top_of_rights(b, door);
        if (n >= len && top)
                (void) hand_rights_down(b, held, n, top);
        else if (n >= len)
                keep_still(b, door, held, flags);
}

/* A labelled place. One that a door names lies on a mount of its own, unless a wider door shows it as well.
 */
void build_shut(struct builder *b, const char *path, unsigned number)
{
        for (size_t i = 0; i < b->door_count; i++)
                if (door_is_of_files(&b->doors[i]) && strcmp(b->doors[i].path, path) != 0)
                        hold_name(b, b->doors[i].path, path, 0);
        build_step(b, STEP_SHUT, arena_str(b->a, path), NULL, 0)->layer = number;
}

/* A mask is one empty file or directory for all hidden paths: nothing can be mounted in it. */
static int add_mask(struct builder *b, const struct door *d, const char *path, struct err *e)
{
        const struct door *inner = door_below(b, path);
        if (inner) {
                (void) door_error(d, ERR_DOOR, e, "`except` hides %s, but `%s %s` opens a part of it", path,
                                  policy_door_word(inner->kind), inner->path);
                return err_hint(e, "except only what is not opened by another line");
        }

        hold_name(b, d->path, path, 0);
        (void) build_step(b, STEP_MASK, arena_str(b->a, path), NULL, 0);
        return 0;
}

int build_masks(struct builder *b, const struct door *d, struct err *e)
{
        for (char **x = d->kind == DOOR_READ ? d->except : NULL; x && *x; x++)
                if (!shown_otherwise(b, d, *x) && !door_runs(b, *x) && /* doors only add */
                    add_mask(b, d, *x, e) < 0)
                        return -1;
        return 0;
}

/* The edit step that shows `path`; NULL: none. */
static const struct plan_step *edit_step(const struct builder *b, const char *path)
{
        const struct plan_step *best = NULL;
        for (size_t i = 0; i < b->p->step_count; i++) {
                const struct plan_step *s = &b->p->steps[i];
                if (s->kind == STEP_EDIT && path_under(path, s->path) &&
                    (!best || strlen(s->path) > strlen(best->path)))
                        best = s;
        }

        return best;
}

/* The directories from a door to `path` become mount points, which the kernel neither moves nor removes. */
static void pin_parents(struct builder *b, const char *door, const char *path, unsigned flags)
{
        for (const char *at = path + strlen(door) + 1; (at = strchr(at, '/')); at++) {
                const char *parent = arena_copy(b->a, span_of(path, (size_t) (at - path)));
                if (parent && !build_has_bind(b, parent))
                        (void) build_step(b, STEP_PIN, parent, NULL, STEP_WRITE | STEP_IS_DIR | flags);
        }
}

/* A path in an `except` of an edit door stays as it is: its parents also cannot be renamed or removed. */
static void add_guard(struct builder *b, const struct door *d, const char *except)
{
        const char *path = door_through_links(b, except);
        const struct plan_step *door = path ? edit_step(b, path) : NULL;
        if (!door || build_has_bind(b, path) || door_changed_otherwise(b, d, except))
                return;

        unsigned exec = door->flags & STEP_EXEC;
        pin_parents(b, door->path, path, exec);
        (void) build_step(b, STEP_PIN, path, NULL, STEP_GUARD | exec);
}

void build_guards(struct builder *b)
{
        for (size_t i = 0; i < b->door_count; i++)
                for (char **x = b->doors[i].kind == DOOR_EDIT ? b->doors[i].except : NULL; x && *x; x++)
                        add_guard(b, &b->doors[i], *x);
}

/* A box that moves a parent of a hidden path away would find it there in the next run, under a name that
 * is not hidden. */
static void hold_parents(struct builder *b, const struct door *d, const char *hidden)
{
        const char *door = door_through_links(b, d->path);
        if (door && path_under(hidden, door))
                pin_parents(b, door, hidden, STEP_OPTIONAL | (door_flags(b, d) & STEP_EXEC));
}

struct own { /* a directory or file of cordon's */
        const char *path, *harm, *instead;
        bool is_file;
        bool below; /* a door to something below it is no harm: nothing of it is there */
};

/* The cover of an own file behind this door. The parents of a `write` door are pinned, for the box; what a
 * process outside does to them, build_held() watches. */
static void cover_own(struct builder *b, const struct door *d, const char *path, const char *hidden)
{
        const char *door = door_through_links(b, path);
        if (hidden && d->kind == DOOR_WRITE)
                hold_parents(b, d, hidden);
        else if (hidden && door && d->kind != DOOR_EDIT)
                hold_name(b, door, hidden, STEP_OPTIONAL);
        (void) build_step(b, STEP_MASK, hidden, NULL, STEP_OPTIONAL);
}

/* A door that would show cordon's own files shows an empty directory instead; a door into them, or a wall
 * that cannot hide them, stops the start. `path` is the path in the box of the host's `real`. */
static int hide_own(struct builder *b, const struct door *d, const char *path, const char *real,
                    const struct own *own, struct err *e)
{
        if (!own->path || (!path_under(own->path, real) && !path_under(real, own->path)))
                return 0;

        bool into = path_under(real, own->path);
        if (own->below && into && strcmp(real, own->path) != 0)
                return 0;

        if ((wall_has(b->p->wall, WALL_OWN_ROOT) || (own->is_file && d->kind == DOOR_READ)) && !into) {
                const char *here = arena_printf(b->a, "%s%s", path, own->path + strlen(real));
                cover_own(b, d, path, here ? door_through_links(b, here) : NULL);
                if (d->kind == DOOR_WRITE || d->kind == DOOR_EDIT)
                        build_held(b, real, own->path);
                return 0;
        }

        (void) door_error(d, ERR_POLICY, e, "the door %s would %s, %s", d->path, own->harm, own->path);
        return err_hint(e, "%s",
                        into ? own->instead
                             : "the process wall cannot hide a part of a door: name narrower doors");
}

/* The state directory holds the ledger, unapplied overlays and sealed credentials: no box sees it. No box
 * changes the policies and the vault's key, which the next run uses. */
static int hide_state_from(struct builder *b, const struct door *d, const char *path, const char *real,
                           struct err *e)
{
        struct own state = { .harm = "open cordon's own state",
                             .instead = "no box may see it: name another path" };
        struct own config = { .harm = "let the box change what later runs obey",
                              .instead = "`read` shows it; to change it, work on a copy" };
        bool changes = d->kind == DOOR_WRITE || d->kind == DOOR_EDIT;

        for (size_t k = 0; changes && k < PLAN_CONFIG_PATHS; k++) {
                config.path = b->r->config[k];
                if (hide_own(b, d, path, real, &config, e) < 0)
                        return -1;
        }

        for (size_t k = 0; k < PLAN_OWN_PATHS; k++) {
                state.path = b->r->state[k];
                state.is_file = k == PLAN_OWN_KEY || k == PLAN_OWN_KEY + 1;
                state.below = k == PLAN_PLACE_AT || k == PLAN_PLACE_AT + 1;
                if (hide_own(b, d, path, real, &state, e) < 0)
                        return -1;
        }

        return 0;
}

/* A second name of the resident's socket. */
static int refuse_own_socket(struct builder *b, const struct door *d, const struct plan_seen *seen,
                             struct err *e)
{
        if (d->kind != DOOR_SOCK || seen->ino == 0 || seen->ino != b->r->own_socket[1] ||
            seen->dev != b->r->own_socket[0])
                return 0;

        (void) door_error(d, ERR_POLICY, e, "%s is the socket of cordon serve", d->path);
        return err_hint(e, "no box may ask for boxes: name another socket");
}

/* A path is hidden by its name, by the target of a symlink, and as a directory of programs. */
int build_state_masks(struct builder *b, struct err *e)
{
        for (size_t i = 0; i < b->door_count; i++) {
                const struct door *d = &b->doors[i];
                const char *real = d->kind == DOOR_RUN ? b->r->found[i].real : b->r->seen[i].real;
                bool shows = door_is_of_files(d) || d->kind == DOOR_SOCK;
                if (refuse_own_socket(b, d, &b->r->seen[i], e) < 0 ||
                    (shows && hide_state_from(b, d, d->path, d->path, e) < 0) ||
                    (shows && real && hide_state_from(b, d, d->path, real, e) < 0) ||
                    (d->kind == DOOR_RUN && real && hide_state_from(b, d, real, real, e) < 0))
                        return -1;
        }

        return 0;
}

/* Each directory on the way passes the right to run to its entries except the next directory, so that the
 * writable one has none. Rights passed on because of an `except` above stay. */
static void hand_runs_down(struct builder *b, const char *written, size_t top)
{
        unsigned handed = 0;
        for (size_t n = top; n < strlen(written); n += 1 + strcspn(written + n + 1, "/")) {
                const char *dir = arena_printf(b->a, "%.*s", (int) n, written);
                struct plan_rule *r = dir ? build_rule(b, dir, 0, true) : NULL;
                if (!r)
                        return; /* out of memory: reported at the end */
                if (!r->entries)
                        r->rights |= handed;
                r->rights &= ~(unsigned) RIGHT_EXEC;
                r->entries |= RIGHT_EXEC;
                handed = r->entries & ~(unsigned) RIGHT_EXEC;
        }
}

/* The topmost directory above `path` whose right to run reaches down to it; 0: none. No right reaches
 * through another `write` door, whose entries are also writable and get none. */
static size_t top_of_runs(const struct builder *b, const char *path)
{
        size_t at, top = 0;
        for (size_t n = str_parent(path, strlen(path)); n > 0; n = str_parent(path, n)) {
                if (door_at(b, DOOR_WRITE, span_of(path, n)))
                        return top;
                const char *dir = arena_printf(b->scratch, "%.*s", (int) n, path);
                if (dir && names_find(&b->rules, dir, &at) &&
                    (b->p->rules[at].rights | b->p->rules[at].entries) & RIGHT_EXEC)
                        top = n;
        }

        return top;
}

/* Landlock rights reach down without end, and the process wall has no mount that removes one below: a
 * program written in a `write` door inside a `read` door would run. */
void build_written(struct builder *b)
{
        for (size_t i = 0; i < b->door_count && !wall_has(b->p->wall, WALL_OWN_ROOT) && !b->run_any; i++) {
                const struct door *d = &b->doors[i];
                if (d->kind != DOOR_WRITE || b->r->seen[i].kind == SEEN_NOTHING || door_runs(b, d->path))
                        continue;
                size_t top = top_of_runs(b, d->path);
                if (top > 0)
                        hand_runs_down(b, d->path, top);
        }
}

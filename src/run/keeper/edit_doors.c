/* SPDX-License-Identifier: MIT */
/* run/keeper/edit_doors.c - the keeper's part of edit doors: creates a private overlay for each before the
 * start, checks its size while the box runs, seals or removes it at the end. */
#include "base/clock.h"
#include "run/keeper/internal.h"

#include <stdlib.h>
#include <string.h>

enum { TALLY_NS = 100000000, ENTRY_BYTES = 4096, ENTRIES_LEAST = 4096 };
enum { REST = 20, SHORT_REST = 2 }; /* times as long as a look took */
enum { SHARE = 8 };                 /* of the limit */

static const struct plan_step *edit_of(const struct plan *p, unsigned layer)
{
        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_EDIT && p->steps[i].layer == layer)
                        return &p->steps[i];
        return NULL;
}

/* The edit step that shows `path`: the deepest. */
static const struct plan_step *edit_over(const struct plan *p, const char *path)
{
        const struct plan_step *best = NULL;
        for (size_t i = 0; i < p->step_count; i++) {
                const struct plan_step *s = &p->steps[i];
                size_t n = strlen(s->path);
                if (s->kind == STEP_EDIT && strncmp(path, s->path, n) == 0 && path[n] == '/' &&
                    (!best || n > strlen(best->path)))
                        best = s;
        }

        return best;
}

static bool is_guard(const struct plan_step *s) { return s->flags & STEP_GUARD; }

static bool is_program(const struct plan_step *s)
{
        return (s->flags & (STEP_EXEC | STEP_WRITE | STEP_IS_DIR)) == STEP_EXEC;
}

/* Paths that are held in one door, relative to it; one array for all, each part ended by NULL. */
static const char *const *pins_of(const struct plan *p, const struct plan_step *door,
                                  bool (*wanted)(const struct plan_step *), const char **to, size_t *at)
{
        const char *const *first = to + *at;
        for (size_t i = 0; i < p->step_count; i++) {
                const struct plan_step *s = &p->steps[i];
                if (s->kind == STEP_PIN && wanted(s) && edit_over(p, s->path) == door)
                        to[(*at)++] = s->path + strlen(door->path) + 1;
        }

        to[(*at)++] = NULL;
        return first;
}

/* The lines of all `edit` doors that ask, without their end: an apply may come later. In `mem`. */
static const char *const *asking_lines(const struct box *b, struct arena *mem)
{
        size_t n, count = 0;
        const struct door *d = policy_doors(b->c.policy, &n);
        const char **lines = arena_alloc(mem, (n + 1) * sizeof *lines);
        for (size_t i = 0; lines && i < n; i++) {
                AUTO_BUF(line);
                char until[32];
                if (d[i].kind != DOOR_EDIT || !d[i].ask.on)
                        continue;
                policy_door_without_end(&d[i], &line, until);
                lines[count++] = arena_str(mem, buf_str(&line));
                mem->failed |= line.failed;
        }

        if (lines)
                lines[count] = NULL;
        return lines;
}

static int begin_overlays(struct box *b, struct work_door_ask *doors, const char **pins, struct err *e)
{
        const struct plan *p = b->c.plan;
        size_t at = 0;
        for (unsigned i = 0; i < p->edits; i++) {
                const struct plan_step *s = edit_of(p, i);
                if (!s)
                        return err_set(e, ERR_INTERNAL, 0, "the plan counts more edit doors than it has");
                doors[i] = (struct work_door_ask){ .host = s->text,
                                                   .dev = s->dev,
                                                   .ino = s->ino,
                                                   .is_dir = s->flags & STEP_IS_DIR,
                                                   .guards = pins_of(p, s, is_guard, pins, &at),
                                                   .programs = pins_of(p, s, is_program, pins, &at) };
        }

        struct arena mem = { 0 };
        struct work_ask ask = { .cx = b->c.cx,
                                .run = keeper_run(&b->run),
                                .box = b->run.r.name,
                                .policy = policy_digest(b->c.policy),
                                .asks = asking_lines(b, &mem),
                                .people = &b->c.askers,
                                .on = b->c.work_on[0] ? b->c.work_on : NULL,
                                .copy = b->c.work_copy,
                                .session = b->c.session,
                                .keep = b->c.work_keep,
                                .doors = doors,
                                .door_count = p->edits };
        b->work = mem.failed ? NULL : work_begin(&ask, e);
        if (mem.failed)
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the overlays");

        arena_done(&mem);
        if (!b->work)
                return -1;

        const struct work_place *places = work_places(b->work);
        for (unsigned i = 0; i < p->edits; i++)
                b->edits[i] = (struct wall_edit){ places[i].path, places[i].dev, places[i].ino };

        return 0;
}

int keeper_work_begin(struct box *b, struct err *e)
{
        const struct plan *p = b->c.plan;
        if (p->edits == 0 && !b->c.work_on[0] && !b->c.work_keep)
                return 0;

        if (p->edits == 0) {
                (void) err_set(e, ERR_USAGE, 0,
                               "an overlay was asked for, but the policy has no `edit` door");
                return err_hint(e, "add --edit DIR");
        }

        struct work_door_ask *doors = calloc(p->edits, sizeof *doors);
        const char **pins = calloc(2 * (p->step_count + p->edits), sizeof *pins);
        b->edits = calloc(p->edits, sizeof *b->edits);
        int r = doors && pins && b->edits ? begin_overlays(b, doors, pins, e)
                                          : err_set(e, ERR_MEMORY, 0, "no memory for the overlays");
        free(doors);
        free(pins);
        return r;
}

/* Sampled: a filesystem without quotas can only be scanned. The scan may take a twentieth of the time. */
void keeper_tally_rest(struct tally_time *t, uint64_t began, uint64_t now)
{
        uint64_t took = now - began, rest = took * REST, soon = took * SHORT_REST;
        t->next_ns = now + (rest > TALLY_NS ? rest : TALLY_NS);
        t->soon_ns = now + (soon > TALLY_NS ? soon : TALLY_NS);
}

/* SAFETY: with a hundred thousand names a scan takes so long that the pause after it is many seconds, in
 * which a disk can be filled. If the disk lost as much meanwhile as could be the box's doing, the pause is
 * short. */
bool keeper_tally_is_due(struct tally_time *t, uint64_t now, uint64_t room, uint64_t disk)
{
        if (now >= t->next_ns || now < t->soon_ns)
                return now >= t->next_ns;
        t->soon_ns = t->next_ns - now > TALLY_NS ? now + TALLY_NS : t->next_ns;
        return t->room > room && t->room - room > disk / SHARE;
}

void keeper_private_make(struct box *b)
{
        if (!wall_has(b->c.plan->wall, WALL_OWN_ROOT) &&
            work_private_make(&b->private, b->c.cx, b->start.host_uid, b->start.host_gid))
                b->start.own_dir = b->private.path;
}

static bool is_over(struct box *b, uint64_t disk, uint64_t entries)
{
        return (b->work && work_is_over(b->work, disk, entries)) ||
               (b->private.dir >= 0 && work_private_is_over(&b->private, disk, entries));
}

void keeper_work_look(struct box *b, uint64_t now)
{
        if ((!b->work && b->private.dir < 0) || now < b->tally.soon_ns)
                return;

        uint64_t disk = b->c.plan->limits.value[LIMIT_DISK];
        uint64_t room = b->work ? work_room(b->work) : work_private_room(&b->private);
        uint64_t entries = disk / ENTRY_BYTES > ENTRIES_LEAST ? disk / ENTRY_BYTES : ENTRIES_LEAST;
        if (!keeper_tally_is_due(&b->tally, now, room, disk))
                return;

        b->tally.room = room;
        if (is_over(b, disk, entries))
                keeper_limit_fired(b, LIMIT_DISK);

        keeper_tally_rest(&b->tally, now, clock_mono_ns());
}

void keeper_work_end(struct box *b)
{
        struct work_run *w = b->work;
        b->work = NULL;
        if (!w)
                return;

        if (!b->run.up) {
                work_drop(w);
                return;
        }

        b->run.r.has_work = true;
        if (work_end(w, &b->run.r.work, &b->run.r.work_error) == 0)
                b->run.r.work_error.code = ERR_NONE;
        (void) work_elsewhere(b->c.cx, b->run.r.work.place);
}

/* SPDX-License-Identifier: MIT */
/* wall/plan/image_view.c - an image as the box's root: below all doors, each entry at its top a mount of its
 * own.
 *
 * The root itself stays read-only and without execution, as in every box. An entry above a door stays
 * read-only as well, so that a read door has both of its layers, mount and Landlock. */
#include "base/str.h"
#include "wall/plan/internal.h"

#include <string.h>

void build_image(struct builder *b)
{
        const struct plan_image *m = b->r->image;
        if (!m)
                return;

        struct plan_step *s =
                build_step(b, STEP_ROOT, "/", arena_str(b->a, m->dir),
                           STEP_IS_DIR | STEP_WRITE | STEP_EXEC | (b->r->as_root ? STEP_IDMAP : 0));
        s->dev = m->dev;
        s->ino = m->ino;
}

/* Does a line of the image's file have this id? name:password:uid:... */
static bool has_account(const char *text, const char *uid)
{
        for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                const char *at = line + strcspn(line, ":\n");
                at += *at == ':';
                at += strcspn(at, ":\n");
                size_t n = *at == ':' ? strcspn(at + 1, ":\n") : 0;
                if (n > 0 && span_is(span_of(at + 1, n), uid))
                        return true;
        }

        return false;
}

const char *build_passwd(struct builder *b, const char *own)
{
        const char *text = b->r->image->passwd;
        size_t n = strlen(text);
        const char *uid = arena_printf(b->scratch, "%u", b->p->uid);
        const char *gap = n > 0 && text[n - 1] != '\n' ? "\n" : "";
        return arena_printf(b->a, "%s%s%s", text, gap, own && uid && !has_account(text, uid) ? own : "");
}

/* The box has its own of these. */
static bool is_own(const char *name)
{
        static const char *const own[] = { "dev", "proc", "sys", "tmp" };
        return str_row(own, sizeof own / sizeof *own, name) >= 0;
}

/* After the doors, whose mount points are made in it: each mount carries those below it. */
void build_image_parts(struct builder *b)
{
        for (size_t i = 0; b->r->image && i < b->r->image->top_count; i++) {
                const struct plan_top *t = &b->r->image->tops[i];
                const char *path = is_own(t->name) ? NULL : arena_printf(b->a, "/%s", t->name);
                if (!path || build_has_bind(b, path))
                        continue;

                bool alone = !door_any_under(b, path), writes = b->run_any && alone;
                unsigned rights = RIGHT_READ | (t->is_dir ? RIGHT_LIST : 0);
                if (b->run_any || alone)
                        rights |= RIGHT_EXEC;

                (void) build_step(b, STEP_PIN, path, NULL,
                                  STEP_OPTIONAL | STEP_EXEC | (writes ? STEP_WRITE : 0) |
                                          (t->is_dir ? STEP_IS_DIR : 0));
                (void) build_rule(b, path, rights | (writes ? RIGHT_WRITE : 0), true);
        }
}

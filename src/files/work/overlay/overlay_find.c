/* SPDX-License-Identifier: MIT */
/* files/work/overlay/overlay_find.c - finds an overlay by the id of its run, a prefix of it or the name of a
 * box. Without a name only one of the caller's project, and none if several projects lie below, because
 * the verb acts without asking. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A run whose keeper was killed before the box changed anything. */
static bool is_empty_leftover(struct layer *l)
{
        AUTO_ENTRIES(found);
        struct err none;
        return l->state == LAYER_OPEN && !l->keep && scan_layer(l, &found, &none) == 0 && found.n == 0;
}

/* A running box whose overlay the caller may mean. */
struct running {
        char run[WORK_RUN_MAX]; /* empty: none */
        char name[64];          /* of the box; or its id */
        char door[PATH_MAX];    /* at or above the working directory */
        bool session;
};

/* The search, and its results so far. */
struct search {
        const char *box; /* overlays of boxes of this name; or NULL: of the working directory */
        enum layer_wanted want;
        char *run;            /* WORK_RUN_MAX: the best; empty: none yet */
        struct timespec when; /* of the best */
        char door[PATH_MAX];  /* of the best: the reason why it belongs to this directory */
        size_t near;          /* of the best: door_nearness() */
        bool exact;           /* one has its door at this directory, which is a project then */
        bool several;         /* another has a door of this directory that is of another project */
        bool session;         /* one of those with this name is of a session */
        bool busy;            /* an overlay could not be read */
        struct err failed;    /* of an unreadable overlay: it may be the right one */
        struct err unread;    /* of an overlay with an unknown format: reported if no other is found */
        size_t elsewhere;     /* how many would have been meant in another directory */
        size_t here;          /* how many are meant in this one */
        struct buf listed[2]; /* the first of both, of this directory in the second */
        struct running up;    /* of this name; or the one whose door is nearest */
        char cwd[PATH_MAX];
};

static bool are_together(const char *a, const char *b) { return path_under(a, b) || path_under(b, a); }

/* A caller in one project does not mean the overlay of another. */
static bool is_of(const struct layer *l, const char *directory, char ret_door[PATH_MAX])
{
        for (size_t i = 0; directory[0] == '/' && i < l->door_count; i++)
                if (realpath(l->doors[i].host, ret_door) && are_together(directory, ret_door))
                        return true;
        return false;
}

/* Does it match, wherever its doors are? *ret_when: the time for choosing the newest. */
static bool is_meant(const struct search *s, struct layer *l, struct timespec *ret_when)
{
        *ret_when = l->start;
        if (s->box)
                return l->box && strcmp(l->box, s->box) == 0;

        switch (s->want) {
        case LAYER_WAITING:
        case LAYER_ONE:
                return l->state != LAYER_APPLIED;
        case LAYER_LANDED:
                return journal_landed(l, ret_when);
        }
        return false;
}

static bool is_later(struct timespec a, struct timespec b)
{
        return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

static void list_layer(struct buf *to, size_t before, const struct layer *l)
{
        enum { LISTED = 3 };
        char shown[64];
        if (before < LISTED)
                buf_printf(to, "%s%.*s (%s)", before ? ", " : "", str_run_shown(l->run), l->run,
                           str_inert(span_str(l->door_count ? l->doors[0].host : ""), shown, sizeof shown));
        else if (before == LISTED)
                buf_puts(to, ", ...");
}

/* A door at this directory or below it is the directory's own; of those above, the nearest. */
static size_t door_nearness(const char *cwd, const char *door)
{
        return path_under(door, cwd) ? PATH_MAX : strlen(door);
}

static void consider_overlay(struct search *s, struct layer *l)
{
        struct timespec when;
        char door[PATH_MAX] = "";
        if (!is_meant(s, l, &when))
                return;

        if (!s->box && !is_of(l, s->cwd, door)) {
                list_layer(&s->listed[0], s->elsewhere++, l);
                return;
        }

        size_t near = door_nearness(s->cwd, door);
        s->exact |= strcmp(door, s->cwd) == 0;
        s->several |= s->run[0] && !s->box && near == s->near && !are_together(door, s->door);
        if (!s->box || l->state != LAYER_APPLIED) {
                s->session |= l->session;
                list_layer(&s->listed[1], s->here++, l);
        }

        if (s->run[0] && (near < s->near || (near == s->near && !is_later(when, s->when))))
                return;

        s->when = when;
        s->near = near;
        (void) snprintf(s->run, WORK_RUN_MAX, "%s", l->run);
        (void) snprintf(s->door, sizeof s->door, "%s", door);
}

/* The directory of a running box is nearer the caller than that of an overlay above it. */
static void consider_running(struct search *s, const struct layer *l)
{
        char door[PATH_MAX] = "";
        if (l->state != LAYER_OPEN || s->want == LAYER_LANDED)
                return;

        if (s->box ? !l->box || strcmp(l->box, s->box) != 0
                   : !is_of(l, s->cwd, door) || !path_under(s->cwd, door) ||
                             (s->up.run[0] && strlen(door) < strlen(s->up.door)))
                return;

        s->up.session = l->session;
        (void) snprintf(s->up.run, sizeof s->up.run, "%s", l->run);
        (void) str_inert(span_str(l->box && l->box[0] ? l->box : l->run), s->up.name, sizeof s->up.name);
        (void) snprintf(s->up.door, sizeof s->up.door, "%s", door);
}

static void look_at_running(struct search *s, int store, const char *run)
{
        struct err ignored;
        struct layer *l = layer_look(store, run, &ignored);
        if (l)
                consider_running(s, l);

        s->busy = true;
        layer_free(l);
}

/* The error that it could not be read: without it the newest is unknown. */
static bool is_failure(const struct err *why)
{
        return why->code == ERR_MEMORY ||
               (why->code == ERR_IO && why->sys && why->sys != EBUSY && why->sys != EPROTONOSUPPORT);
}

/* False: none. */
static bool find_newest(int store, const struct names *list, struct search *s)
{
        s->run[0] = '\0';
        if (!s->box && !getcwd(s->cwd, sizeof s->cwd))
                s->cwd[0] = '\0'; /* removed */

        for (size_t i = 0; i < list->n; i++) {
                struct err why;
                if (layer_swept(store, list->v[i]) || list->v[i][0] == '.')
                        continue;
                struct layer *l = layer_take(store, list->v[i], &why);
                if (!l && why.sys == EBUSY)
                        look_at_running(s, store, list->v[i]);
                else if (!l && is_failure(&why))
                        s->failed = why;
                else if (!l && why.code != ERR_GONE)
                        s->unread = why;
                if (l && is_empty_leftover(l))
                        (void) layer_remove(l, &why);
                else if (l)
                        consider_overlay(s, l);
                layer_free(l);
        }

        return s->run[0] != '\0';
}

static const char name_it[] = "name the one you mean, as in `cordon diff RUN`, or go to its directory";

static int several_named(const struct search *s, struct err *e)
{
        (void) err_set(e, ERR_USAGE, 0, "several overlays of the name %.60s wait: %s", s->box,
                       buf_str(&s->listed[1]));
        return err_hint(e, "give the id of the one you mean; `cordon diff ID` shows it");
}

static int several_here(const struct search *s, struct err *e)
{
        (void) err_set(e, ERR_USAGE, 0, "several projects below this directory have an overlay: %s",
                       buf_str(&s->listed[1]));
        return err_hint(e, "%s", name_it);
}

static int none_here(const struct search *s, struct err *e)
{
        static const char *const none[] = { [LAYER_WAITING] = "no changes to apply",
                                            [LAYER_ONE] = "no changes to apply",
                                            [LAYER_LANDED] = "no overlay has been applied" };
        static const char *const others[] = {
                [LAYER_ONE] = "no changes of this directory to apply, but of these",
                [LAYER_WAITING] = "no changes of this directory to apply, but of these",
                [LAYER_LANDED] = "no overlay of this directory was applied, but these were"
        };
        if (s->elsewhere > 0) {
                (void) err_set(e, ERR_GONE, 0, "%s: %s", others[s->want], buf_str(&s->listed[0]));
                return err_hint(e, "%s", name_it);
        }

        if (s->unread.code)
                return *e = s->unread, -1;

        (void) err_set(
                e, ERR_GONE, 0, "%s",
                s->busy ? "the only overlay there is is in use: its box runs, or another command works "
                          "on it"
                        : none[s->want]);
        return err_hint(e, "a box with an `edit` door leaves one when it changed something; "
                           "`cordon diff --list` shows all");
}

static const char *end_verb(const struct running *up) { return up->session ? "session end" : "stop"; }

static int still_runs(const struct running *up, struct err *e)
{
        (void) err_set(e, ERR_IO, 0, "the %s %s still runs", up->session ? "session" : "box", up->name);
        return err_hint(e, "end it first: `cordon %s %s`", end_verb(up), up->name);
}

/* Its changes cannot be taken yet, and those of a directory above are not meant. */
static bool is_nearer(const struct search *s)
{
        return s->up.run[0] && (!s->run[0] || !path_under(s->door, s->up.door));
}

static int runs_here(struct search *s, struct err *e)
{
        char shown[200];
        (void) still_runs(&s->up, e);
        e->sys = EBUSY;
        if (s->run[0]) {
                (void) err_set(e, ERR_IO, EBUSY,
                               "the %s %s of this directory still runs, and the changes of "
                               "%s are of %s",
                               s->up.session ? "session" : "box", s->up.name, s->run,
                               str_inert(span_str(s->door), shown, sizeof shown));
                (void) err_hint(e, "end it first: `cordon %s %s`; or name the others: `cordon diff %s`",
                                end_verb(&s->up), s->up.name, s->run);
        }

        (void) snprintf(s->run, WORK_RUN_MAX, "%s", s->up.run);
        return -1;
}

static int find_unnamed(int store, const struct names *list, enum layer_wanted want,
                        char ret_run[WORK_RUN_MAX], struct err *e)
{
        struct search s = { .want = want, .run = ret_run };
        bool found = find_newest(store, list, &s);
        int r = s.failed.code           ? (*e = s.failed, -1)
                : is_nearer(&s)         ? runs_here(&s, e)
                : !found                ? none_here(&s, e)
                : s.several && !s.exact ? several_here(&s, e)
                                        : 0;

        buf_done(&s.listed[0]);
        buf_done(&s.listed[1]);
        return r;
}

int layer_find(int store, const char *which, enum layer_wanted want, char ret_run[WORK_RUN_MAX],
               struct err *e)
{
        AUTO_NAMES(list);
        if (tree_names(store, &list) < 0)
                return err_set(e, ERR_IO, errno, "listing the overlays: %s", strerror(errno));

        if (!which)
                return find_unnamed(store, &list, want, ret_run, e);

        unsigned hits = 0;
        for (size_t i = 0; which[0] && which[0] != '.' && i < list.n; i++) {
                if (strcmp(list.v[i], which) == 0)
                        hits = 0; /* all of it */
                else if (strncmp(list.v[i], which, strlen(which)) != 0)
                        continue;
                (void) snprintf(ret_run, WORK_RUN_MAX, "%s", list.v[i]);
                hits++;
                if (strcmp(list.v[i], which) == 0)
                        break;
        }

        char shown[128];
        struct search of_box = { .box = which, .want = want, .run = ret_run };
        bool named = hits == 0 && find_newest(store, &list, &of_box);
        bool unclear = named && want == LAYER_ONE && of_box.session && of_box.here > 1;
        int r = unclear ? several_named(&of_box, e) : 0;
        buf_done(&of_box.listed[1]);
        if (of_box.failed.code)
                return *e = of_box.failed, -1;

        if (hits == 1 || named)
                return r;

        if (of_box.unread.code)
                return *e = of_box.unread, -1;

        if (!hits && of_box.up.run[0])
                return still_runs(&of_box.up, e);

        (void) str_inert(span_str(which), shown, sizeof shown);
        (void) err_set(e, hits ? ERR_USAGE : ERR_GONE, 0,
                       hits ? "several overlays begin with %s: give more of the id" : "no overlay %s", shown);
        return err_hint(
                e, "`cordon diff --list` shows the overlays, `cordon diff --name-only` the changed paths");
}

struct layer *layer_open(const struct cordon_context *cx, const char *which, enum layer_wanted want,
                         struct err *e)
{
        char run[WORK_RUN_MAX];
        AUTO_FD(store, layer_store(cx, e));
        if (store < 0 || layer_find(store, which, want, run, e) < 0)
                return NULL;

        struct layer *l = layer_take(store, run, e);
        if (!l)
                return NULL;

        AUTO_ENTRIES(found);
        l->durable = true;
        if (journal_recover(cx, l, e) == 0 && (l->state != LAYER_OPEN || seal(l, &found, e) == 0))
                return l;

        layer_free(l);
        return NULL;
}

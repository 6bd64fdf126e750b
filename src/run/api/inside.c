/* SPDX-License-Identifier: MIT */
/* run/api/inside.c - the target of an effect's path in the box. A policy judges names; a box follows
 * symlinks, and finds programs only where it sees them. So `why` judges the file that the box would open, not
 * the typed path. */
#include "base/limits.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOPS_MAX = 40 };

static bool door_excepts(const struct door *d, const char *path)
{
        for (char **x = d->except; x && *x; x++)
                if (path_under(path, *x))
                        return true;
        return false;
}

static const struct door *door_at(const struct checked_policy *c, enum door_kind k, struct span path)
{
        size_t n, lo, hi;
        const struct door *d = policy_doors(c, &n);

        return policy_doors_at(c, k, path, &lo, &hi) ? &d[lo] : NULL;
}

/* A door above `path`, or at it but not at `but`, that shows it: of files, or of a directory of programs. */
static bool is_shown(const struct checked_policy *c, const char *path, const char *but)
{
        for (size_t n = strlen(path); n > 0; n = str_parent(path, n)) {
                if (span_is(span_of(path, n), but))
                        continue;
                for (enum door_kind k = DOOR_READ; k <= DOOR_WRITE; k++) {
                        const struct door *d = door_at(c, k, span_of(path, n));
                        if (d && !(k == DOOR_READ && door_excepts(d, path)))
                                return true;
                }
                if (path[n] == '/' && door_at(c, DOOR_RUN, span_of(path, n + 1)))
                        return true;
        }

        return false;
}

/* The target of the symlink at `path`, followed by `rest`, without ".." and ".". */
static bool put_target(const char *path, const char *target, const char *rest, char ret[static PATH_MAX])
{
        char all[2 * PATH_MAX];
        size_t n = 0;

        int len = snprintf(all, sizeof all, "%.*s/%s/%s",
                           target[0] == '/' ? 0 : (int) str_parent(path, strlen(path)), path, target, rest);

        if (len < 0 || (size_t) len >= sizeof all)
                return false;

        for (const char *at = all; *(at += strspn(at, "/"));) {
                size_t k = strcspn(at, "/");
                if (k == 2 && at[0] == '.' && at[1] == '.')
                        n = n ? str_parent(ret, n) : 0;
                else if (!(k == 1 && at[0] == '.')) {
                        if (n + k + 2 > PATH_MAX)
                                return false;
                        ret[n++] = '/';
                        memcpy(ret + n, at, k);
                        n += k;
                }
                at += k;
        }

        (void) snprintf(ret + n, PATH_MAX - n, "%s", n ? "" : "/");
        return true;
}

/* An edit door inside another's overlay is a part of that overlay, and has no mount of its own. */
static bool is_in_layer(const struct checked_policy *c, const char *path)
{
        for (size_t n = str_parent(path, strlen(path)); n > 0; n = str_parent(path, n)) {
                const struct door *d = door_at(c, DOOR_EDIT, span_of(path, n));
                if (d && !door_excepts(d, path))
                        return true;
        }
        return false;
}

/* Is the target of a symlink exactly its directory and its text? The plan recreates only such symlinks. */
static bool is_plain(const char *path, const char *target, const char *end)
{
        size_t up = target[0] == '/' ? 0 : str_parent(path, strlen(path));

        return strncmp(end, path, up) == 0 && strcmp(end + up + (target[0] != '/'), target) == 0;
}

/* Does the box have the symlink at `path` as a symlink? If a door names it, the box has its target instead,
 * unless another door shows the symlink or its target. */
static bool stays_link(const struct checked_policy *c, const char *path, const char *target, const char *end)
{
        const struct door *read = door_at(c, DOOR_READ, span_str(path));
        bool edited = door_at(c, DOOR_EDIT, span_str(path)) && !is_in_layer(c, path);

        if (edited || door_at(c, DOOR_WRITE, span_str(path)) || (read && read->except))
                return false;

        if (door_at(c, DOOR_RUN, span_str(path))) /* a program that a line names by a symlink */
                return true;

        return is_shown(c, path, path) || (read && is_plain(path, target, end) && is_shown(c, end, path));
}

/* One link that the box would follow. False: none is left. */
static bool follow_one(const struct checked_policy *c, char path[static PATH_MAX], bool *ret_lost)
{
        char target[PATH_MAX], end[PATH_MAX], up[PATH_MAX];

        for (size_t n = 1; n <= strlen(path); n++) {
                if (path[n] != '/' && path[n] != '\0')
                        continue;
                (void) snprintf(up, sizeof up, "%.*s", (int) n, path);
                ssize_t k = readlink(up, target, sizeof target - 1);
                if (k <= 0)
                        continue;
                target[k] = '\0';
                if (!put_target(up, target, "", end) || !stays_link(c, up, target, end))
                        continue;
                char rest[PATH_MAX];
                (void) snprintf(rest, sizeof rest, "%s", path + n);
                *ret_lost = !put_target(up, target, rest, path);
                return !*ret_lost;
        }

        return false;
}

/* False: it leads round in a circle. */
static bool follow_links(const struct checked_policy *c, char path[static PATH_MAX])
{
        bool lost = false;

        for (unsigned hops = 0; hops < HOPS_MAX; hops++)
                if (!follow_one(c, path, &lost))
                        return !lost;
        return false;
}

static struct decision decide_as(const struct checked_policy *c, enum effect_kind kind, char *path)
{
        struct effect f = { .kind = kind, .target = path };
        return policy_decide(c, &f);
}

static bool is_any(const struct door *d) { return d && d->kind == DOOR_RUN && strcmp(d->path, "*") == 0; }

/* The file that a `run` line opens: the path that it names, or the file that its bare name resolves to.
 * Returns false if none exists. */
static bool program_of(const struct door *d, char ret[static PATH_MAX])
{
        if (d->kind != DOOR_RUN || is_any(d))
                return false;
        if (d->path[0] != '/')
                return api_find_program(d->path, ret, PATH_MAX);
        return snprintf(ret, PATH_MAX, "%s", d->path) < PATH_MAX;
}

/* A `run` line opens the target of its path or name, also by the target's own name. */
static const struct door *run_by_its_end(const struct checked_policy *c, const char *path, bool trees)
{
        char program[PATH_MAX], real[PATH_MAX];

        for (const struct door *d = NULL; (d = policy_door_next(c, d));) {
                if (!program_of(d, program) || !realpath(program, real))
                        continue;
                bool tree = program[strlen(program) - 1] == '/';
                if (tree ? trees && path_under(path, real) : strcmp(path, real) == 0)
                        return d;
        }

        return NULL;
}

/* A bare name stands for each directory of programs, and the box has the one in which it is found. */
static bool is_found_elsewhere(const struct checked_policy *c, const struct door *d, const char *path)
{
        char program[PATH_MAX], real[PATH_MAX];

        if (!d || d->kind != DOOR_RUN || is_any(d) || d->path[0] == '/' || is_shown(c, path, ""))
                return false;
        return !program_of(d, program) ||
               (strcmp(program, path) != 0 && !(realpath(program, real) && strcmp(real, path) == 0));
}

/* A program that a `run` line leads to is held as it is, unless a line names that very path. */
static bool is_held(const struct checked_policy *c, const char *path)
{
        const struct door *run = run_by_its_end(c, path, false);

        if (!run || door_at(c, DOOR_RUN, span_str(path)))
                return false;

        for (size_t n = str_parent(path, strlen(path)); n > 0; n = str_parent(path, n))
                if (door_at(c, DOOR_RUN, span_of(path, n + 1)))
                        return false;

        return true;
}

/* `run any` applies to all files that the box sees. An exception of an edit door is mounted as the door is,
 * and is executable or not as files written there are. */
static bool any_reaches(const struct checked_policy *c, char *path)
{
        struct decision w = decide_as(c, EFFECT_WRITE, path);

        if (decide_as(c, EFFECT_READ, path).answer != ANSWER_ALLOW)
                return false;
        return w.reason != REASON_EXCEPTED || w.nearest->kind != DOOR_EDIT ||
               decide_as(c, EFFECT_RUN, w.nearest->path).answer == ANSWER_ALLOW;
}

static struct decision decide_path(const struct checked_policy *c, enum effect_kind kind, char *path)
{
        struct decision d = decide_as(c, kind, path);

        if (kind == EFFECT_WRITE)
                return d.door && is_held(c, path)
                               ? (struct decision){ .reason = REASON_READ_ONLY, .nearest = d.door }
                               : d;

        if ((kind == EFFECT_RUN && is_any(d.door) && !any_reaches(c, path)) ||
            is_found_elsewhere(c, d.door, path))
                d = (struct decision){ .reason = REASON_NO_DOOR };

        if (d.answer == ANSWER_ALLOW)
                return d;

        const struct door *run = run_by_its_end(c, path, true);
        return run ? (struct decision){ .answer = ANSWER_ALLOW, .door = run } : d;
}

/* Resolves a bare name as the box does: in the first directory of its PATH in which it sees such a program.
 */
static bool find_in_box(const struct checked_policy *c, const char *name, char ret[static PATH_MAX])
{
        for (const char *at = BOX_PATH; *at; at += strspn(at, ":")) {
                size_t k = strcspn(at, ":");
                int n = snprintf(ret, PATH_MAX, "%.*s/%s", (int) k, at, name);
                at += k;
                if (n > 0 && n < PATH_MAX && api_is_program(ret) && follow_links(c, ret) &&
                    decide_path(c, EFFECT_READ, ret).answer == ANSWER_ALLOW)
                        return true;
        }

        return false;
}

static void judge_bare(const struct checked_policy *c, const struct effect *f, struct api_inside *in,
                       struct decision *d)
{
        char found[PATH_MAX];

        if (!is_any(d->door) || (!in->alone && !api_find_program(f->target, found, sizeof found)))
                return; /* named by a line, denied, or of no host: as it was decided */

        if (!find_in_box(c, f->target, in->path))
                *d = (struct decision){ .reason = REASON_NO_DOOR };
        else
                *d = decide_path(c, EFFECT_RUN, in->path);
}

/* A program whose loader the box does not see does not start, nor a script whose interpreter it may not run.
 */
static void judge_starter(const struct checked_policy *c, struct effect *f, struct api_inside *in,
                          struct decision *d)
{
        char starter[PATH_MAX], found[PATH_MAX];
        bool bare = !strchr(f->target, '/');
        if (d->answer != ANSWER_ALLOW || (bare && !api_find_program(f->target, found, sizeof found)))
                return;

        const char *program = !bare ? f->target : in->path[0] ? in->path : found;
        const struct effect seen = { .kind = EFFECT_READ, .target = program };
        if (policy_decide(c, &seen).built_in || !api_starter(program, starter)) /* the box has its own */
                return;

        bool script = api_interpreter(program, found, sizeof found);
        enum effect_kind kind = script && access(starter, X_OK) == 0 ? EFFECT_RUN : EFFECT_READ;
        bool led = follow_links(c, starter);
        struct decision s = decide_path(c, kind, starter);
        if (led && s.answer == ANSWER_ALLOW)
                return;

        *d = s;
        if (s.answer == ANSWER_ALLOW)
                *d = (struct decision){ .reason = REASON_NO_DOOR };

        memcpy(in->path, starter, sizeof in->path);
        f->kind = kind; /* that is the gap */
        f->target = in->path;
}

static void judge_effect(const struct checked_policy *c, struct effect *f, struct api_inside *in,
                         struct decision *d)
{
        if (f->target[0] != '/') {
                judge_bare(c, f, in, d);
                return;
        }

        /* A line that names the symlink opens its target. */
        bool named = d->answer == ANSWER_ALLOW && d->door && d->door->kind == DOOR_RUN &&
                     strcmp(d->door->path, f->target) == 0;
        if (snprintf(in->path, sizeof in->path, "%s", f->target) >= (int) sizeof in->path)
                return;

        in->nowhere = !follow_links(c, in->path);
        if (in->nowhere)
                return;

        char real[PATH_MAX]; /* behind an `except` of another line it is covered */
        struct decision end = named && realpath(in->path, real) ? decide_as(c, EFFECT_READ, real) : *d;
        if (named && f->kind == EFFECT_RUN && end.reason != REASON_EXCEPTED)
                return;

        *d = named && end.reason == REASON_EXCEPTED ? end : decide_path(c, f->kind, in->path);
        f->target = in->path;
}

/* Does something of the box lie below this directory? Then the box has it, and made it itself. */
static bool leads_on(const struct plan *p, const char *dir)
{
        for (size_t i = 0; i < p->step_count; i++)
                if (path_under(p->steps[i].path, dir))
                        return true;
        return false;
}

/* In the private directory around a file behind a `write` door, and in its directories that lead to other
 * doors, the box writes as it likes, and nothing of it is kept. */
static bool is_beside_one_file(const struct plan *p, const char *path)
{
        char in[PATH_MAX], up[PATH_MAX];
        (void) snprintf(in, sizeof in, "%.*s", (int) str_parent(path, strlen(path)), path);
        for (size_t i = 0; in[0] && i < p->step_count; i++) {
                const char *file = p->steps[i].path;
                if (p->steps[i].kind != STEP_COPY)
                        continue;
                (void) snprintf(up, sizeof up, "%.*s", (int) str_parent(file, strlen(file)), file);
                if (strcmp(path, up) == 0 || strcmp(in, up) == 0 || (path_under(in, up) && leads_on(p, in)))
                        return true;
        }

        return false;
}

/* Files that a box is given. A policy's `expect` is about the host's: no table of the policy has them. */
static bool is_given(const struct checked_policy *c, const char *path)
{
        static const struct {
                const char *path;
                bool net;
        } given[] = { { "/etc/passwd", false },
                      { "/etc/group", false },
                      { "/etc/hosts", false },
                      { "/etc/nsswitch.conf", false },
                      { "/etc/resolv.conf", true } };

        int i = str_row(given, sizeof given / sizeof *given, path);
        return i < 0 ? false : !given[i].net || policy_door_of(c, DOOR_NET, NULL);
}

/* The name of a thread of its own, which a process may write: see wall/linux/observe/thread_name.c. */
static bool is_thread_name(const char *path)
{
        static const char task[] = "/proc/self/task/";
        if (strncmp(path, task, sizeof task - 1) != 0)
                return strcmp(path, "/proc/self/comm") == 0 || strcmp(path, "/proc/thread-self/comm") == 0;

        const char *number = path + sizeof task - 1;
        return *number != '0' && *number != '/' &&
               strcmp(number + strspn(number, "0123456789"), "/comm") == 0;
}

/* A bare name is looked up in the image. */
static bool is_behind_door(const struct checked_policy *c, const char *program)
{
        const struct effect f = { .kind = EFFECT_READ, .target = program };
        return program[0] == '/' && policy_decide(c, &f).door;
}

bool api_inside_asks_plan(const struct checked_policy *c, const struct effect *f)
{
        bool file = f->kind == EFFECT_READ || f->kind == EFFECT_WRITE || f->kind == EFFECT_RUN;
        return file && wall_has(policy_wall(c), WALL_OWN_ROOT) && (policy_root(c) || f->kind == EFFECT_WRITE);
}

void api_inside(const struct checked_policy *c, const struct dry_box *b, struct effect *f,
                struct api_inside *in, struct decision *d)
{
        bool file = f->kind == EFFECT_READ || f->kind == EFFECT_WRITE || f->kind == EFFECT_RUN;

        in->nowhere = false;
        if (f->kind == EFFECT_WRITE && wall_has(policy_wall(c), WALL_PROGRAMS) && is_thread_name(f->target)) {
                *d = (struct decision){ .answer = ANSWER_ALLOW, .built_in = "the names of its own threads" };
                return;
        }

        if (!file || !wall_has(policy_wall(c), WALL_OWN_ROOT))
                return;

        bool of_image = policy_root(c) && (f->kind != EFFECT_RUN || !is_behind_door(c, f->target));
        if (!of_image || f->kind != EFFECT_RUN)
                judge_effect(c, f, in, d);
        if (of_image && b->plan)
                api_inside_image(b, f, in, d);
        else if (f->kind == EFFECT_RUN)
                judge_starter(c, f, in, d);

        if (f->kind == EFFECT_READ && d->answer != ANSWER_ALLOW && !of_image && is_given(c, f->target))
                *d = (struct decision){ .answer = ANSWER_ALLOW, .built_in = "the box's own /etc" };

        if (f->kind == EFFECT_WRITE && d->reason == REASON_NO_DOOR && d->answer != ANSWER_ALLOW && b->plan &&
            !is_shown(c, f->target, "") && is_beside_one_file(b->plan, f->target))
                *d = (struct decision){ .answer = ANSWER_ALLOW,
                                        .built_in = "a private directory around a one-file `write` door" };
}

/* SPDX-License-Identifier: MIT */
/* wall/plan/door_links.c - doors that a symlink redirects. Any process that can write beside a symlink
 * chooses its target, also an earlier box: a path that the policy does not name must not get more rights than
 * the named one. */
#include "wall/plan/internal.h"

#include <string.h>

static const char *real_of(const struct builder *b, size_t i)
{
        const char *real = b->r->seen[i].real;
        return real ? real : b->doors[i].path;
}

/* Two names of one file: data written by one would run by the other, and no mount could distinguish them. */
static int written_and_run(const struct builder *b, const char *by, size_t i, struct err *e)
{
        const struct door *d = &b->doors[i];
        (void) door_error(d, ERR_DOOR, e,
                          "%s leads by a link to %s: the box could write by one name what it runs "
                          "by another, %s",
                          d->path, real_of(b, i), by);
        return err_hint(e, "name where the link leads, in place of the link");
}

/* The target of a symlink in a directory of programs is not covered by the `run` line of the directory. */
static bool runs_unnamed(const struct builder *b, size_t i)
{
        return door_flags(b, &b->doors[i]) & STEP_EXEC && !door_runs(b, real_of(b, i));
}

/* One door lies in the other by name as well as by resolved path: then it is mounted on top of it. */
static bool lies_in(const struct builder *b, size_t inner, size_t outer)
{
        const char *in = b->doors[inner].path, *out = b->doors[outer].path;
        const char *in_real = real_of(b, inner), *out_real = real_of(b, outer);
        return path_under(in, out) && path_under(in_real, out_real) &&
               strcmp(in + strlen(out), in_real + strlen(out_real)) == 0;
}

static bool is_alias(const struct builder *b, size_t i, size_t k)
{
        const struct door *d = &b->doors[i], *o = &b->doors[k];
        if (k == i || !door_is_of_files(o) || b->r->seen[k].kind == SEEN_NOTHING ||
            (!path_under(real_of(b, i), real_of(b, k)) && !path_under(real_of(b, k), real_of(b, i))))
                return false;

        if (lies_in(b, i, k) || lies_in(b, k, i))
                return false;

        /* A read door that is itself a symlink is checked separately, if it has a mount. */
        return d->kind == DOOR_WRITE ? runs_unnamed(b, k) && !(b->r->seen[k].real && o->kind == DOOR_READ)
                                     : o->kind == DOOR_WRITE && runs_unnamed(b, i);
}

/* A policy that names one path to write and to run means both. */
static bool is_meant(const struct builder *b, const char *path)
{
        return door_runs(b, path) && door_writes(b, path);
}

/* A program, or a directory of programs, inside or around a writable path. */
static bool is_written_program(const struct builder *b, size_t i, const struct plan_program *g)
{
        const char *written = real_of(b, i);
        return b->doors[i].kind == DOOR_WRITE && g->real &&
               ((path_under(g->real, written) && !is_meant(b, g->real)) ||
                (path_under(written, g->real) && !is_meant(b, written)));
}

/* A path that another line hides or holds back, and this one would show or change by another name. */
static const char *undone_except(const struct builder *b, size_t i, size_t k)
{
        const char *real = real_of(b, i);
        bool holds = b->doors[k].kind == DOOR_EDIT; /* held as it is: a reader does not change that */
        if (k == i || (holds && b->doors[i].kind == DOOR_READ))
                return NULL;

        for (char **x = b->doors[k].except; x && *x; x++)
                if (path_under(real, *x) || path_under(*x, real))
                        return *x;

        return NULL;
}

static int leads_wrong(const struct door *d, const char *real, const char *where, const char *hint,
                       struct err *e)
{
        (void) door_error(d, ERR_DOOR, e, "%s leads by a link to %s, %s", d->path, real, where);
        return err_hint(e, "%s", hint);
}

static bool is_agent(const char *path) { return policy_secret_reason(path) == REASON_AGENT; }

/* Personal files, by their path; a policy can name them explicitly. */
static const char *leads_to_private(const struct builder *b, enum door_kind kind, const char *path,
                                    const char *real)
{
        const char *home = b->r->home, *home_real = b->r->home_real;
        if (policy_leads_to_secrets(path, real))
                return "which holds secrets";

        if (kind == DOOR_SOCK && is_agent(real) && !is_agent(path))
                return "which acts for its clients";

        if (home && home_real && path_under(home_real, real) && !path_under(home, path))
                return strcmp(home_real, real) == 0 ? "which is your home" : "which your home lies below";

        return NULL;
}

/* If /home is a symlink of the system, a home has two names, and HOME has the other one. */
static const char *hint_of_private(const struct builder *b, const char *real)
{
        const char *own = NULL;
        if (b->r->home && b->r->home_real && strcmp(b->r->home_real, real) == 0)
                own = arena_printf(b->scratch,
                                   "if you mean all of your home, name it as HOME does: %.100s; else look "
                                   "who made the link",
                                   b->r->home);

        return own ? own : "look who made the link; if you mean that, name it in place of the link";
}

static int judge_private(const struct builder *b, const struct door *d, const char *path, const char *real,
                         struct err *e)
{
        const char *private = leads_to_private(b, d->kind, path, real);
        return private ? leads_wrong(d, real, private, hint_of_private(b, real), e) : 0;
}

static int judge_files(const struct builder *b, size_t i, struct err *e)
{
        const struct door *d = &b->doors[i];
        if (d->kind != DOOR_READ && policy_is_kernels(b->r->seen[i].real))
                return leads_wrong(d, b->r->seen[i].real, "which is the kernel's: no box writes there",
                                   "look who made the link", e);

        for (size_t k = 0; k < b->door_count; k++) {
                const char *undone = undone_except(b, i, k);
                if (undone)
                        return leads_wrong(d, b->r->seen[i].real,
                                           arena_printf(b->scratch, "where another line excepts %s", undone),
                                           "name where the link leads, in place of the link", e);
                if (is_alias(b, i, k))
                        return written_and_run(b, b->doors[k].path, i, e);
                if (b->doors[k].kind == DOOR_RUN && is_written_program(b, i, &b->r->found[k]))
                        return written_and_run(b, b->r->found[k].path, i, e);
        }

        return is_written_program(b, i, &b->r->entry) ? written_and_run(b, b->r->entry.path, i, e) : 0;
}

int link_judge(const struct builder *b, size_t i, struct err *e)
{
        const struct door *d = &b->doors[i];
        if (judge_private(b, d, d->path, b->r->seen[i].real, e) < 0)
                return -1;
        return door_is_of_files(d) ? judge_files(b, i, e) : 0;
}

/* A program that may run can be read. No box writes in the directories that are searched for bare names. */
int link_judge_program(const struct builder *b, size_t i, struct err *e)
{
        const struct door *d = &b->doors[i];
        const struct plan_program *g = &b->r->found[i];
        return d->path[0] == '/' && g->path && g->real ? judge_private(b, d, g->path, g->real, e) : 0;
}

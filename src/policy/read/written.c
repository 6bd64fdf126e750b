/* SPDX-License-Identifier: MIT */
/* policy/read/written.c - struct policy: lines as written, and how two sources of them are merged. A text
 * is read into a policy of its own first, so that nothing is added when it fails. */
#include "policy/internal.h"

#include <stdlib.h>

struct policy *policy_new(void) { return calloc(1, sizeof(struct policy)); }

void policy_free(struct policy *p)
{
        if (!p)
                return;

        free(p->doors);
        free(p->uses);
        free(p->expects);
        arena_done(&p->mem);
        free(p);
}

static bool is_flag(const struct source_place *at) { return at->line == 0; }

/* A flag overrides a file, because its user knows the file. Two files or two flags that disagree are an
 * error: the order of reading must not decide. */
static int absorb_text(struct text_line *to, const struct text_line *from, const char *word, struct err *e)
{
        char first[256];
        if (!from->text)
                return 0;

        if (to->text && is_flag(&to->at) == is_flag(&from->at) && strcmp(to->text, from->text) != 0)
                return fail_at(e, &from->at, "duplicate `%s`; first at %s", word,
                               policy_place(&to->at, first, sizeof first));

        if (!to->text || is_flag(&from->at))
                *to = *from;

        return 0;
}

/* A stated wall is a minimum, which no later source may weaken, so two of them must agree. */
static int absorb_wall(struct wall_line *to, const struct wall_line *from, struct err *e)
{
        char first[256];
        if (!from->stated)
                return 0;

        if (to->stated && (to->kind != from->kind || to->without != from->without))
                return fail_at(e, &from->at, "duplicate `wall`, not the same as at %s",
                               policy_place(&to->at, first, sizeof first));

        *to = *from;
        return 0;
}

/* How often a time can be renewed goes with that time. Options are separate lines: `--renew` may come first.
 */
static void absorb_renew(struct policy *p, const struct policy *from)
{
        bool options = is_flag(&from->limit_at[LIMIT_TIME]) && is_flag(&p->limit_at[LIMIT_RENEW]);
        if (!from->limits.stated[LIMIT_RENEW] && options && p->limits.stated[LIMIT_RENEW])
                return;

        p->limits.value[LIMIT_RENEW] = from->limits.value[LIMIT_RENEW];
        p->limits.stated[LIMIT_RENEW] = from->limits.stated[LIMIT_RENEW];
        p->limit_at[LIMIT_RENEW] = from->limit_at[LIMIT_RENEW];
}

/* No `ask` takes another's away. */
static int absorb_limits(struct policy *p, const struct policy *from, struct err *e)
{
        p->limits.renew_asks |= from->limits.renew_asks;
        for (int k = 0; k < LIMIT_KEY__COUNT; k++) {
                const struct source_place *at = &from->limit_at[k];
                if (!from->limits.stated[k] || (k == LIMIT_RENEW && from->limits.stated[LIMIT_TIME]))
                        continue;
                bool had = p->limits.stated[k], same_rank = had && is_flag(at) == is_flag(&p->limit_at[k]);
                if (same_rank && is_flag(at) && p->limits.value[k] != from->limits.value[k])
                        return fail_at(e, at, "duplicate `limit %s`", policy_limit_name((enum limit_key) k));
                if (same_rank && p->limits.value[k] <= from->limits.value[k])
                        continue; /* of two files the smaller limit holds */
                if (had && !same_rank && !is_flag(at))
                        continue;
                p->limits.value[k] = from->limits.value[k];
                p->limits.stated[k] = true;
                p->limit_at[k] = *at;
                if (k == LIMIT_TIME)
                        absorb_renew(p, from);
        }

        return 0;
}

static int make_room(void **v, size_t n, size_t *cap, size_t more, size_t size)
{
        while (*cap < n + more)
                if (vec_room(v, *cap, cap, size) < 0)
                        return -1;
        return 0;
}

static int absorb_room(struct policy *p, const struct policy *from)
{
        return make_room((void **) &p->doors, p->n_doors, &p->cap_doors, from->n_doors, sizeof *p->doors) <
                                       0 ||
                               make_room((void **) &p->uses, p->n_uses, &p->cap_uses, from->n_uses,
                                         sizeof *p->uses) < 0 ||
                               make_room((void **) &p->expects, p->n_expects, &p->cap_expects,
                                         from->n_expects, sizeof *p->expects) < 0
                       ? -1
                       : 0;
}

static void append_rows(void *to, size_t *n, const void *from, size_t more, size_t size)
{
        if (more > 0)
                memcpy((char *) to + *n * size, from, more * size);
        *n += more;
}

static int absorb_warm(struct policy *p, const struct policy *from, struct err *e)
{
        for (int i = 0; i < WARM__COUNT; i++)
                if (absorb_text(&p->warm[i], &from->warm[i], "warm", e) < 0)
                        return -1;
        return 0;
}

int policy_absorb(struct policy *p, struct policy *from, struct err *e)
{
        struct policy trial = *p; /* singletons are tried on a copy: all of `from` or nothing */
        if (absorb_text(&trial.box, &from->box, "box", e) < 0 ||
            absorb_text(&trial.doc, &from->doc, "doc", e) < 0 ||
            absorb_text(&trial.root, &from->root, "root", e) < 0 || absorb_warm(&trial, from, e) < 0 ||
            absorb_wall(&trial.wall, &from->wall, e) < 0 || absorb_limits(&trial, from, e) < 0)
                return -1;

        if (p->n_doors + from->n_doors > POLICY_MAX_DOORS)
                return err_set(e, ERR_POLICY, 0, "more than %d doors", POLICY_MAX_DOORS);

        if (absorb_room(p, from) < 0)
                return fail_memory(e);

        p->box = trial.box;
        p->doc = trial.doc;
        p->root = trial.root;
        memcpy(p->warm, trial.warm, sizeof p->warm);
        p->wall = trial.wall;
        p->limits = trial.limits;
        if (!p->local)
                p->local_at = from->local_at;

        p->local |= from->local;
        p->rules |= from->rules;
        memcpy(p->limit_at, trial.limit_at, sizeof p->limit_at);
        p->file = p->file ? p->file : from->file;
        append_rows(p->doors, &p->n_doors, from->doors, from->n_doors, sizeof *p->doors);
        append_rows(p->uses, &p->n_uses, from->uses, from->n_uses, sizeof *p->uses);
        append_rows(p->expects, &p->n_expects, from->expects, from->n_expects, sizeof *p->expects);
        arena_join(&p->mem, &from->mem);
        return 0;
}

char *policy_file_name(struct policy *p, const char *file)
{
        char inert[256];
        return arena_str(&p->mem, str_inert(span_str(file), inert, sizeof inert));
}

bool policy_gives_up(const struct policy *p, unsigned without) { return p->wall.without & without; }

bool policy_states_wall(const struct policy *p, enum wall_kind *ret)
{
        *ret = p->wall.kind;
        return p->wall.stated;
}

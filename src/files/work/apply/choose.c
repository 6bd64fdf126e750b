/* SPDX-License-Identifier: MIT */
/* files/work/apply/choose.c - chooses the entries of an overlay that take part in an apply, with reasons for
 * the others. Flags hold an entry back until it is approved: by its own path, by every kind it is flagged as,
 * or by --include-flagged. */
#include "base/str.h"
#include "files/work/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_text(const struct work_apply *a, const char *mark, const char *path, const char *why)
{
        AUTO_BUF(out);
        char shown[WORK_PATH_MAX];
        buf_printf(&out, "%s %s: %s\n", mark, str_inert(span_str(path), shown, sizeof shown), why);
        if (a->out && !a->json)
                a->out(a->out_ctx, buf_str(&out), out.n);
}

void apply_say(const struct work_apply *a, const char *mark, const struct entry *x, const char *why)
{
        say_text(a, mark, x->path, why);
}

/* The parent of every entry, computed once: entries are sorted with a directory directly before its
 * entries. */
long *find_parents(const struct entries *v)
{
        long *up = calloc(v->n + 1, sizeof *up);
        for (size_t i = 0; up && i < v->n; i++) {
                long k = i ? (long) i - 1 : -1;
                while (k >= 0 && !(v->v[k].door == v->v[i].door && path_below(v->v[i].path, v->v[k].path)))
                        k = up[k];
                up[i] = k;
        }

        return up;
}

/* Else it is the host's, in a directory that the box removed, and matters only if that removal is applied. */
static bool is_of_box(const struct entry *x) { return !(x->what & WHAT_DELETED) || x->base_kind != '-'; }

/* Was the entry asked for, by any option? */
struct wish {
        const struct work_apply *a;
        unsigned kinds; /* of flags, that were named */
};

/* The flags that hold an entry back; 0: none. */
static unsigned held_flags(const struct wish *w, const struct layer *l, const struct entry *x)
{
        if (x->flags & FLAG_NEVER)
                return FLAG_NEVER;
        return w->a->flagged || entry_named_itself(l, x, w->a->paths) ? 0 : x->flags & ~w->kinds;
}

/* Removing a directory also removes the entries that were excluded. */
static bool holds_left_out(const struct wish *w, const struct layer *l, const struct entry *x)
{
        return takes_directory(x) && names_reach_into(l, x->door, x->path, w->a->but);
}

static bool is_asked(const struct wish *w, const struct layer *l, const struct entry *x)
{
        return (!w->a->paths || entry_named(l, x, w->a->paths)) && !entry_named(l, x, w->a->but);
}

static const char held_whole[] = "lies in a new directory that is held back as a whole";

/* The topmost new directory that is asked for and that the entry is, or lies in; -1: none. */
static long new_directory(const struct wish *w, const struct layer *l, const struct entries *v,
                          const long *up, size_t i)
{
        long top = -1;
        for (long k = (long) i; k >= 0 && (k == (long) i || brings_directory(&v->v[k])); k = up[k])
                if (v->v[k].what & WHAT_ADDED && v->v[k].now.kind == NODE_DIR && is_asked(w, l, &v->v[k]))
                        top = k;
        return top;
}

/* Half of a new directory is useless: a virtual environment without its programs. Entries that are never
 * applied do not hold the rest of it back. */
static void mark_whole(const struct wish *w, const struct layer *l, struct entries *v, const long *up)
{
        for (size_t i = 0; i < v->n; i++) {
                const struct entry *x = &v->v[i];
                unsigned flags = is_asked(w, l, x) ? held_flags(w, l, x) & ~FLAG_NEVER : 0;
                long top = flags ? new_directory(w, l, v, up, i) : -1;
                if (top >= 0)
                        v->v[top].inside |= flags;
        }
}

static bool is_held_whole(const struct wish *w, const struct layer *l, const struct entries *v,
                          const long *up, size_t i)
{
        const struct entry *x = &v->v[i];
        long top = new_directory(w, l, v, up, i);
        return top >= 0 && v->v[top].inside &&
               (x->now.kind == NODE_DIR || !entry_named_itself(l, x, w->a->paths));
}

static const char *why_held(const struct wish *w, const struct layer *l, struct entries *v,
                            const struct entry *x)
{
        unsigned bit;
        if (x->shut)
                return shut_words(l, v, x);

        if (holds_left_out(w, l, x))
                return "something in it is left out";

        unsigned flags = held_flags(w, l, x);
        return flags ? flags_words(flags, &bit) : NULL;
}

/* Chooses; reports the number held back. */
static void choose_all(const struct wish *w, const struct layer *l, struct entries *v, const long *up,
                       struct work_outcome *ret)
{
        for (size_t i = 0; i < v->n; i++) {
                struct entry *x = &v->v[i];
                long p = up[i];
                bool asked = is_asked(w, l, x);
                const char *why = asked ? why_held(w, l, v, x) : NULL;
                if (p >= 0 && v->v[p].chosen && takes_directory(&v->v[p]) && x->what & WHAT_DELETED) {
                        x->chosen = true; /* goes with its directory */
                        continue;
                }
                if (!asked || !is_of_box(x))
                        continue;
                if (!why && !w->a->paths && p >= 0 && brings_directory(&v->v[p]) && !v->v[p].chosen)
                        why = "the directory it lies in is held back";
                if (!why && is_held_whole(w, l, v, up, i))
                        why = held_whole;
                if (why) {
                        ret->held++;
                        ret->closed += x->shut != NULL;
                        x->held = why;
                        continue;
                }
                x->chosen = true;
                for (; p >= 0 && brings_directory(&v->v[p]); p = up[p]) {
                        v->v[p].chosen = true; /* a named entry needs its parent directories */
                        if (v->v[p].held == held_whole) {
                                v->v[p].held = NULL;
                                ret->held--;
                        }
                }
        }
}

/* How many of the entries are held back by flags, and by which. */
static size_t count_held(const struct wish *w, const struct layer *l, const struct entry *x, size_t n,
                         unsigned *ret_flags)
{
        size_t held = 0;
        *ret_flags = 0;
        for (size_t i = 0; i < n; i++)
                if (x[i].held && !x[i].shut) {
                        held++;
                        *ret_flags |= held_flags(w, l, &x[i]);
                }

        return held;
}

static void tell_one_held(const struct wish *w, const struct layer *l, const struct entry *x)
{
        AUTO_BUF(why);
        unsigned flags = held_flags(w, l, x), bit;
        if (flags && strcmp(x->held, flags_words(flags, &bit)) == 0)
                flags_put(&why, flags);
        else
                buf_puts(&why, x->held);

        apply_say(w->a, "held back:", x, buf_str(&why));
}

/* The options that make an apply include the entries held back by flags. */
static void put_approval(const struct wish *w, const struct layer *l, const struct entries *v,
                         struct work_outcome *ret)
{
        enum { KINDS = 4 };
        AUTO_BUF(words);
        unsigned flags = 0, kinds = 0;

        for (size_t i = 0; i < v->n; i++)
                if (v->v[i].held && !v->v[i].shut)
                        flags |= held_flags(w, l, &v->v[i]) & ~FLAG_NEVER;

        flags |= flags ? w->kinds : 0;
        for (unsigned i = 0; i < flags_count(); i++)
                if (flags & (1u << i)) {
                        buf_printf(&words, " --flagged %s", flags_kind(i));
                        kinds++;
                }

        (void) snprintf(ret->approval, sizeof ret->approval, "%s",
                        kinds > KINDS ? " --include-flagged" : buf_str(&words));
}

/* A new directory with everything in it. Returns the number of its entries; 0: few, each is reported. */
static size_t tell_whole(const struct wish *w, const struct layer *l, const struct entries *v, size_t first)
{
        enum { FEW = 8 };
        AUTO_BUF(why);
        const struct entry *x = &v->v[first];
        char dir[WORK_PATH_MAX];
        size_t all = fold_measure(v, first, strlen(x->path)).n, held = 0;

        for (size_t i = first; i < first + all; i++)
                held += v->v[i].held != NULL;

        if (held <= FEW)
                return 0;

        (void) snprintf(dir, sizeof dir, "%s/", x->path);
        buf_printf(&why, "%zu entries, a new directory: ", held);
        flags_put(&why, x->inside);
        say_text(w->a, "held back:", dir, buf_str(&why));
        for (size_t i = first; i < first + all; i++)
                if (v->v[i].held && (v->v[i].shut || v->v[i].flags & FLAG_NEVER))
                        tell_one_held(w, l, &v->v[i]);

        return all;
}

/* One line for all entries of a directory that is not reviewed entry by entry. */
static void tell_held(const struct wish *w, const struct layer *l, const struct entries *v)
{
        for (size_t i = 0; i < v->n; i++) {
                const struct entry *x = &v->v[i];
                if (!x->held)
                        continue;
                size_t whole = x->inside ? tell_whole(w, l, v, i) : 0;
                if (whole > 0)
                        i += whole - 1;
                if (whole > 0 || (x->held == held_whole && x->now.kind == NODE_DIR))
                        continue;
                AUTO_BUF(why);
                unsigned flags;
                char dir[WORK_PATH_MAX];
                size_t len = x->shut ? 0 : fold_of(v, i), all = len ? fold_measure(v, i, len).n : 1,
                       held = len ? count_held(w, l, x, all, &flags) : 1;
                if (held < 2) {
                        tell_one_held(w, l, x);
                        continue;
                }
                (void) snprintf(dir, sizeof dir, "%.*s/", (int) len, x->path);
                buf_printf(&why, "%zu entries: ", held);
                flags_put(&why, flags);
                say_text(w->a, "held back:", dir, buf_str(&why));
                for (size_t k = i; k < i + all; k++)
                        if (v->v[k].held && v->v[k].shut)
                                tell_one_held(w, l, &v->v[k]);
                i += all - 1;
        }
}

static int read_kinds(const char *const *kinds, unsigned *ret, struct err *e)
{
        *ret = 0;
        for (; kinds && *kinds; kinds++) {
                unsigned bit = flags_of_kind(*kinds);
                char shown[64];
                AUTO_BUF(all);
                *ret |= bit;
                if (bit)
                        continue;
                for (unsigned i = 0; i < flags_count(); i++)
                        buf_printf(&all, "%s%s", i ? " " : "", flags_kind(i));
                (void) err_set(e, ERR_USAGE, 0, "unknown kind of flag %s",
                               str_inert(span_str(*kinds), shown, sizeof shown));
                return err_hint(e, "kinds are: %s", buf_str(&all));
        }

        return 0;
}

int choose_entries(const struct work_apply *a, const struct layer *l, struct entries *v, const long *up,
                   struct work_outcome *ret, struct err *e)
{
        struct wish w = { .a = a };
        if (read_kinds(a->kinds, &w.kinds, e) < 0)
                return -1;

        mark_whole(&w, l, v, up);
        choose_all(&w, l, v, up, ret);
        tell_held(&w, l, v);
        put_approval(&w, l, v, ret);
        for (size_t i = 0; i < v->n; i++)
                ret->applied += v->v[i].chosen;

        return 0;
}

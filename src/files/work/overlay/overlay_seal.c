/* SPDX-License-Identifier: MIT */
/* files/work/overlay/overlay_seal.c - records the lower entry of each changed entry when a run ends, and
 * later compares an overlay with that: a change by the host is a conflict, a loss in the overlay is torn. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The amount that the end of a run reads again, mostly from the page cache: a third of a second. */
static const uint64_t SUM_BUDGET = 1u << 30;

static bool is_later(const struct timespec *a, const struct timespec *b)
{
        return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

static struct record record_of(const struct entry *x, const char *digest)
{
        return (struct record){ .door = x->door,
                                .kind = x->what & WHAT_UNSEEN ? '?' : kind_letter(x->old.kind),
                                .mode = x->old.mode,
                                .uid = x->old.uid,
                                .gid = x->old.gid,
                                .size = x->old.size,
                                .digest = digest,
                                .now_kind = kind_letter(x->now.kind),
                                .now_size = x->now.kind == NODE_FILE ? x->now.size : 0,
                                .path = x->path };
}

/* A file that the end of a run could not read is recorded by its time instead. */
static void digest_by_time(const struct entry *x, const struct timespec *start, char digest[65])
{
        bool unread = x->old.kind == NODE_FILE && strcmp(digest, "-") == 0;
        if (x->what & WHAT_UNSEEN || x->shut || unread)
                (void) snprintf(digest, 65, "?%lld.%09ld", (long long) start->tv_sec, start->tv_nsec);
}

/* Did it change after the time that such a digest names? */
static bool is_after(const struct node *n, const char *digest)
{
        char *end;
        struct timespec t = { .tv_sec = (time_t) strtoll(digest + 1, &end, 10) };
        t.tv_nsec = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
        return n->kind && n->kind != NODE_DIR && is_later(&n->ctime, &t);
}

/* The checksum of the overlay's file at `path`; false: not a file, or not read. */
static bool sum_of(struct cursor *c, unsigned door, const char *path, uint64_t *budget, uint64_t *ret)
{
        const char *name;
        struct err none;
        if (cursor_at(c, door, &none) < 0)
                return false;

        AUTO_FD(dir, side_upper(&c->s, path, &name));
        AUTO_FD(fd, dir < 0 ? -1 : tree_file(dir, name, true, NULL));
        return fd >= 0 && sum_file(fd, budget, ret);
}

int seal(struct layer *l, struct entries *ret, struct err *e)
{
        return scan_layer(l, ret, e) < 0 ? -1 : seal_scanned(l, ret, e);
}

int seal_scanned(struct layer *l, struct entries *ret, struct err *e)
{
        AUTO_BASE(before);
        AUTO_BUF(out);
        AUTO_CURSOR(c, l);
        uint64_t budget = SUM_BUDGET;

        if (base_read(l, &before, e) < 0)
                return -1;

        for (size_t i = 0; i < ret->n; i++) {
                struct entry *x = &ret->v[i];
                const struct record *known = base_find(&before, x->door, x->path);
                char digest[65] = "!";
                const struct work_door *d = &l->doors[x->door];
                bool late = x->old.kind && x->old.kind != NODE_DIR && is_later(&x->old.ctime, &l->start);
                late |= !d->is_dir &&
                        x->old.ino != d->ino; /* the name leads to another file than the box saw */
                if (!known && !late && digest_of(&c, x, false, digest, e) < 0)
                        return -1;
                digest_by_time(x, &l->start, digest);
                struct record r = record_of(x, digest);
                if (known) {
                        r = *known;
                        r.now_kind = kind_letter(x->now.kind);
                        r.now_size = x->now.kind == NODE_FILE ? x->now.size : 0;
                        r.more = NULL; /* it was recorded for the earlier content of the overlay */
                }
                r.summed = x->now.kind == NODE_FILE && sum_of(&c, x->door, x->path, &budget, &r.now_sum);
                base_put(&out, &r);
        }

        l->state = LAYER_SEALED;
        if (base_write(l, &out, e) < 0)
                return -1;

        return layer_write(l, e);
}

/* Does the overlay's side differ from the sealed one? No process writes there; but a power cut can lose
 * data. */
static bool is_torn(const struct entry *x, const struct record *r)
{
        return r->now_kind != kind_letter(x->now.kind) ||
               (x->now.kind == NODE_FILE && r->now_size != x->now.size);
}

/* The host's change to an entry since it was sealed; NULL: none. */
static const char *find_conflict(const struct entry *x, const struct record *r, const char *digest)
{
        char now = kind_letter(x->old.kind);
        bool by_time = r->digest[0] == '?';
        if (strcmp(r->digest, "!") == 0)
                return "changed while the box ran";

        if (x->what & WHAT_UNSEEN)
                return NULL; /* held back */

        if (by_time && is_after(&x->old, r->digest))
                return "changed since the run began";

        if (r->kind == '?')
                return NULL;

        if (r->kind != now)
                return now == '-'       ? "removed since"
                       : r->kind == '-' ? "made since"
                                        : "changed its type since";

        if (now == '-')
                return NULL;

        if ((!by_time && strcmp(r->digest, digest[0] ? digest : "-") != 0) ||
            (now == 'f' && r->size != x->old.size))
                return "changed since";

        bool opened =
                now == 'd' && x->old.mode == (r->mode | 0700); /* as the apply reported that held it back */
        if (now != 'l' &&
            ((r->mode != x->old.mode && !opened) || r->uid != x->old.uid || r->gid != x->old.gid))
                return "changed its mode or owner since";

        return NULL;
}

/* An entry that has no record. */
static const char *judge_unknown(const struct record *unseen, const struct entry *x)
{
        if (!unseen)
                return "made since, where the box removed all";
        return is_after(&x->old, unseen->digest) ? "changed since the run began" : NULL;
}

/* Entries that the host created since in a directory that the box removed would be removed with it. */
static bool lies_in(const struct entry *x, const struct entry *gone)
{
        return gone && x->what & WHAT_DELETED && x->door == gone->door && path_below(x->path, gone->path);
}

int scan_sealed(struct layer *l, struct entries *ret, struct err *e)
{
        AUTO_BASE(b);
        AUTO_CURSOR(c, l);
        if (base_read(l, &b, e) < 0 || scan_layer(l, ret, e) < 0)
                return -1;

        size_t kept = 0;
        const struct entry *gone = NULL;
        ret->flagged = ret->conflicts = 0;
        for (size_t i = 0; i < ret->n; i++) {
                struct entry x = ret->v[i];
                layer_progress(l, "comparing with the host", i, ret->n);
                const struct record *r = base_find(&b, x.door, x.path),
                                    *unseen = x.what & WHAT_DELETED && !r
                                                      ? base_unseen_above(&b, x.door, x.path)
                                                      : NULL;
                char digest[65];
                if (!r && !unseen && !lies_in(&x, gone))
                        continue; /* not the box's change: it was applied, or the host created it since */
                if (digest_of(&c, &x, false, digest, e) < 0)
                        return -1;
                x.conflict = r ? find_conflict(&x, r, digest) : judge_unknown(unseen, &x);
                if (!x.conflict && x.masked)
                        x.conflict = "a mark of overlayfs on it hid it from the box";
                x.torn = r && is_torn(&x, r);
                if (x.torn)
                        x.conflict = TORN_WORDS;
                x.base = r ? arena_str(&ret->mem, r->digest) : "-";
                x.base_kind = r ? r->kind : unseen ? '?' : '-';
                ret->conflicts += x.conflict != NULL;
                ret->flagged += x.flags != 0;
                ret->v[kept++] = x;
                if (takes_directory(&x) && !lies_in(&x, gone))
                        gone = &ret->v[kept - 1];
        }

        ret->n = kept;
        return ret->mem.failed ? err_set(e, ERR_MEMORY, 0, "no memory for the changes") : 0;
}

int scan_torn(const struct layer *l, struct entries *v, struct err *e)
{
        AUTO_BASE(b);
        AUTO_CURSOR(c, l);
        if (base_read(l, &b, e) < 0)
                return -1;

        for (size_t i = 0; i < v->n; i++) {
                struct entry *x = &v->v[i];
                layer_progress(l, "reading the overlay", i, v->n);
                const struct record *r = base_find(&b, x->door, x->path);
                uint64_t sum, all = UINT64_MAX;
                if (!r || !r->summed || x->torn ||
                    (sum_of(&c, x->door, x->path, &all, &sum) && sum == r->now_sum))
                        continue;
                v->conflicts += !x->conflict;
                x->conflict = TORN_WORDS;
                x->torn = true;
        }

        return 0;
}

int refuse_torn(const struct layer *l, struct err *e)
{
        AUTO_BASE(b);
        AUTO_CURSOR(c, l);
        if (base_read(l, &b, e) < 0)
                return -1;

        for (size_t i = 0; i < b.n; i++) {
                const struct record *r = &b.v[i];
                uint64_t sum, all = UINT64_MAX;
                char shown[256];
                if (!r->summed || (sum_of(&c, r->door, r->path, &all, &sum) && sum == r->now_sum))
                        continue;
                (void) err_set(e, ERR_IO, 0, "%s: " TORN_WORDS,
                               str_inert(span_str(r->path), shown, sizeof shown));
                return err_hint(e,
                                "`cordon diff %s` shows what there is; `cordon discard %s`, and begin anew",
                                l->run, l->run);
        }

        return 0;
}

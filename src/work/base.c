/* SPDX-License-Identifier: MIT */
/* work/base.c - what lay below each changed entry when the run ended, by content: so that a later change of
 * the host's is found, and never undone by accident.
 *
 * `base`: one record for each entry, ended by NUL:
 *     DOOR KIND MODE UID GID SIZE DIGEST NOW-KIND NOW-SIZE[:NOW-SUM] PATH
 * KIND is - f d l o, or ? (nobody could look); DIGEST is hex, or - (none), or ! (it changed while the box
 * ran), or ?SECONDS.NANOSECONDS (not to be read: what changed after that is not what the box saw); NOW is
 * what the layer
 * itself holds, SUM that of sum.c where there was not too much to read. At the end stands "end" and the
 * digest of all before: a run's end waits for no disk, so a power cut can take what was written last, and
 * that must be found rather than believed. */
#include "base/fd.h"
#include "base/hash.h"
#include "base/str.h"
#include "work/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { END_BYTES = 4 + 65 };
/* What the end of a run reads again, out of memory for the most part: a third of a second. */
static const uint64_t SUM_BUDGET = 1u << 30;

struct record {
        unsigned door;
        char kind;
        mode_t mode;
        uid_t uid;
        gid_t gid;
        uint64_t size;
        const char *digest;
        char now_kind; /* of the layer's side */
        uint64_t now_size, now_sum;
        bool summed;
        const char *more; /* what a later version added there */
        const char *path;
};

struct base {
        char *text;
        struct record *v;
        size_t n;
};

char kind_letter(enum node_kind k) { return "-fdlo"[k]; }

static void base_done(struct base *b)
{
        free(b->text);
        free(b->v);
}
#define AUTO_BASE(name) __attribute__((cleanup(base_done))) struct base name = { 0 }

static bool read_record(char *at, struct record *r)
{
        char *word[9] = { 0 }, *sum;
        for (unsigned i = 0; i < 9; i++) {
                word[i] = at;
                at = strchr(at, ' ');
                if (!at)
                        return false;
                *at++ = '\0';
        }
        *r = (struct record){ .door = (unsigned) strtoul(word[0], NULL, 10),
                              .kind = word[1][0],
                              .mode = (mode_t) strtoul(word[2], NULL, 8),
                              .uid = (uid_t) strtoul(word[3], NULL, 10),
                              .gid = (gid_t) strtoul(word[4], NULL, 10),
                              .size = strtoull(word[5], NULL, 10),
                              .digest = word[6],
                              .now_kind = word[7][0],
                              .now_size = strtoull(word[8], &sum, 10),
                              .summed = *sum == ':',
                              .path = at };
        if (r->summed)
                r->now_sum = strtoull(sum + 1, &sum, 16);
        r->more = sum;
        return true;
}

static int lost(const struct layer *l, struct err *e)
{
        (void) err_set(e, ERR_IO, 0,
                       "what the layer %s began with is not whole: the machine went down before "
                       "it was written",
                       l->run);
        return err_hint(e,
                        "the box's files are in cordon's state directory, work/%s/door-0/upper; take what "
                        "you need by hand, then `cordon discard %s`",
                        l->run, l->run);
}

/* The text without its end, if that is what it should be. */
static bool check_end(const char *text, size_t *size)
{
        char hex[65];
        if (*size < END_BYTES || memcmp(text + *size - END_BYTES, "end ", 4) != 0)
                return false;
        *size -= END_BYTES;
        sha256_hex(span_of(text, *size), hex);
        return memcmp(text + *size + 4, hex, sizeof hex) == 0;
}

/* No base: a layer that was never sealed. */
static int read_base_in(const struct layer *l, int dir, struct base *ret, struct err *e)
{
        struct stat st;
        AUTO_FD(fd, openat(dir, "base", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (fd < 0 && errno == ENOENT)
                return l->state == LAYER_OPEN ? 0 : lost(l, e);
        size_t size = fd < 0 || fstat(fd, &st) < 0 ? SIZE_MAX : (size_t) st.st_size;
        ret->text = size == SIZE_MAX ? NULL : malloc(size + 1);
        ssize_t n = ret->text ? fd_read_all(fd, ret->text, size) : -1;
        if (n < 0)
                return err_set(e, ERR_IO, errno, "reading what the layer %s began with: %s", l->run,
                               strerror(errno));
        if ((size_t) n != size)
                return lost(l, e);
        if (!check_end(ret->text, &size))
                return lost(l, e);
        size_t count = 0;
        for (size_t i = 0; i < size; i++)
                count += ret->text[i] == '\0';
        ret->v = calloc(count + 1, sizeof *ret->v);
        for (char *at = ret->text; ret->v && at < ret->text + size;) {
                char *next = at + strlen(at) + 1;
                if (ret->n == count || !read_record(at, &ret->v[ret->n++]))
                        return err_set(e, ERR_IO, 0, "what the layer %s began with is not readable", l->run);
                at = next;
        }
        return ret->v ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for the changes");
}

static int read_base(const struct layer *l, struct base *ret, struct err *e)
{
        return read_base_in(l, l->dir, ret, e);
}

/* The first record that does not stand before the path; b->n: none. */
static size_t first_from(const struct base *b, unsigned door, const char *path)
{
        size_t low = 0, high = b->n;
        while (low < high) {
                size_t mid = low + (high - low) / 2;
                const struct record *r = &b->v[mid];
                int c = r->door != door ? (r->door < door ? -1 : 1) : path_order(r->path, path);
                if (c < 0)
                        low = mid + 1;
                else
                        high = mid;
        }
        return low;
}

static const struct record *find(const struct base *b, unsigned door, const char *path)
{
        size_t i = first_from(b, door, path);
        return i < b->n && b->v[i].door == door && strcmp(b->v[i].path, path) == 0 ? &b->v[i] : NULL;
}

struct base *base_open(const struct layer *l, struct err *e)
{
        struct base *b = calloc(1, sizeof *b);
        if (!b)
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the changes");
        if (!b || read_base(l, b, e) == 0)
                return b;
        base_free(b);
        return NULL;
}

void base_free(struct base *b)
{
        if (b)
                base_done(b);
        free(b);
}

bool base_has(const struct base *b, unsigned door, const char *path) { return find(b, door, path) != NULL; }

/* Records are sorted: what lies below a path stands right behind where it would stand itself. */
bool base_has_below(const struct base *b, unsigned door, const char *path)
{
        size_t i = first_from(b, door, path);
        return i < b->n && b->v[i].door == door && path_below(b->v[i].path, path);
}

static void put_record(struct buf *out, const struct record *r)
{
        buf_printf(out, "%u %c %o %u %u %" PRIu64 " %s %c %" PRIu64, r->door, r->kind, r->mode, r->uid,
                   r->gid, r->size, r->digest[0] ? r->digest : "-", r->now_kind, r->now_size);
        if (r->summed)
                buf_printf(out, ":%" PRIx64, r->now_sum);
        buf_puts(out, r->more ? r->more : "");
        buf_putc(out, ' ');
        buf_add(out, r->path, strlen(r->path) + 1);
}

static int write_base(const struct layer *l, struct buf *out, struct err *e)
{
        char hex[65];
        sha256_hex(buf_span(out), hex);
        buf_puts(out, "end ");
        buf_add(out, hex, sizeof hex);
        AUTO_FD(fd, openat(l->dir, "base.new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (out->failed)
                return err_set(e, ERR_MEMORY, 0, "no memory for the changes");
        if (fd < 0 || fd_write_all(fd, out->p, out->n) < 0 || (l->durable && fsync(fd) < 0) ||
            renameat(l->dir, "base.new", l->dir, "base") < 0 || (l->durable && fsync(l->dir) < 0))
                return err_set(e, ERR_IO, errno, "writing what the layer %s began with: %s", l->run,
                               strerror(errno));
        return 0;
}

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

/* What the end of a run could not read is known by its time instead. */
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

/* Sides are opened once per door: entries come sorted. */
struct cursor {
        const struct layer *l;
        long door;
        struct sides s;
};

static int cursor_at(struct cursor *c, unsigned door, struct err *e)
{
        if (c->door == (long) door)
                return 0;
        if (c->door >= 0)
                sides_close(&c->s);
        c->door = -1;
        if (sides_open(c->l, door, &c->s, e) < 0)
                return -1;
        c->door = door;
        return 0;
}

static void cursor_done(struct cursor *c)
{
        if (c->door >= 0)
                sides_close(&c->s);
}
#define AUTO_CURSOR(name, layer)                                                                             \
        __attribute__((cleanup(cursor_done))) struct cursor name = { .l = (layer), .door = -1 }

static int digest_of(struct cursor *c, const struct entry *x, bool now, char ret_hex[65], struct err *e)
{
        const char *name;
        const struct node *n = now ? &x->now : &x->old;
        ret_hex[0] = '\0';
        if (n->kind != NODE_FILE && n->kind != NODE_LINK)
                return 0;
        if (cursor_at(c, x->door, e) < 0)
                return -1;
        AUTO_FD(dir, now ? side_upper(&c->s, x->path, &name) : side_lower(&c->s, x->path, &name));
        char shown[256];
        if (dir < 0 || tree_digest(dir, name, n, now, ret_hex) < 0)
                return err_set(e, ERR_IO, errno, "reading %s: %s",
                               str_inert(span_str(x->path), shown, sizeof shown), strerror(errno));
        return 0;
}

/* The sum of what the layer holds at `path`; false: no file, or none that was read. */
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
        if (read_base(l, &before, e) < 0)
                return -1;
        for (size_t i = 0; i < ret->n; i++) {
                struct entry *x = &ret->v[i];
                const struct record *known = find(&before, x->door, x->path);
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
                        r.more = NULL; /* it was said of what the layer held then */
                }
                r.summed = x->now.kind == NODE_FILE && sum_of(&c, x->door, x->path, &budget, &r.now_sum);
                put_record(&out, &r);
        }
        l->state = LAYER_SEALED;
        if (write_base(l, &out, e) < 0)
                return -1;
        return layer_write(l, e);
}

/* Is the layer's side not what was sealed? Nobody writes there; but what a disk never got is not there. */
static bool is_torn(const struct entry *x, const struct record *r)
{
        return r->now_kind != kind_letter(x->now.kind) ||
               (x->now.kind == NODE_FILE && r->now_size != x->now.size);
}

/* What the host did to an entry since it was sealed; NULL: nothing. */
static const char *judge(const struct entry *x, const struct record *r, const char *digest)
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
        bool opened = now == 'd' && x->old.mode == (r->mode | 0700); /* as an apply that held it back said */
        if (now != 'l' &&
            ((r->mode != x->old.mode && !opened) || r->uid != x->old.uid || r->gid != x->old.gid))
                return "changed its mode or owner since";
        return NULL;
}

/* The record of the nearest directory above that has one, if nobody could look into it when the layer was
 * sealed; else NULL. */
static const struct record *unseen_above(const struct base *b, unsigned door, const char *path)
{
        char above[WORK_PATH_MAX];
        const struct record *r = NULL;
        (void) snprintf(above, sizeof above, "%s", path);
        for (char *slash; !r && (slash = strrchr(above, '/')) != NULL;) {
                *slash = '\0';
                r = find(b, door, above);
        }
        return r && r->digest[0] == '?' ? r : NULL;
}

/* An entry that has no record. */
static const char *judge_unknown(const struct record *unseen, const struct entry *x)
{
        if (!unseen)
                return "made since, where the box removed all";
        return is_after(&x->old, unseen->digest) ? "changed since the run began" : NULL;
}

bool base_waits(const struct base *b, unsigned door, const char *path)
{
        return find(b, door, path) || unseen_above(b, door, path);
}

/* What the host made since in a directory that the box removed would go with it. */
static bool lies_in(const struct entry *x, const struct entry *gone)
{
        return gone && x->what & WHAT_DELETED && x->door == gone->door && path_below(x->path, gone->path);
}

int scan_sealed(struct layer *l, struct entries *ret, struct err *e)
{
        AUTO_BASE(b);
        AUTO_CURSOR(c, l);
        if (read_base(l, &b, e) < 0 || scan_layer(l, ret, e) < 0)
                return -1;
        size_t kept = 0;
        const struct entry *gone = NULL;
        ret->flagged = ret->conflicts = 0;
        for (size_t i = 0; i < ret->n; i++) {
                struct entry x = ret->v[i];
                const struct record *r = find(&b, x.door, x.path),
                                    *unseen = x.what & WHAT_DELETED && !r ? unseen_above(&b, x.door, x.path)
                                                                          : NULL;
                char digest[65];
                if (!r && !unseen && !lies_in(&x, gone))
                        continue; /* not the box's change: it landed, or the host made it since */
                if (digest_of(&c, &x, false, digest, e) < 0)
                        return -1;
                x.conflict = r ? judge(&x, r, digest) : judge_unknown(unseen, &x);
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
        if (read_base(l, &b, e) < 0)
                return -1;
        for (size_t i = 0; i < v->n; i++) {
                struct entry *x = &v->v[i];
                const struct record *r = find(&b, x->door, x->path);
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
        if (read_base(l, &b, e) < 0)
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

int base_drop(const struct layer *l, const struct entries *v, struct err *e)
{
        AUTO_BASE(b);
        AUTO_BUF(out);
        if (read_base(l, &b, e) < 0)
                return -1;
        size_t at = 0; /* both are sorted the same way */
        for (size_t i = 0; i < b.n; i++) {
                const struct record *r = &b.v[i];
                while (at < v->n && (v->v[at].door < r->door ||
                                     (v->v[at].door == r->door && path_order(v->v[at].path, r->path) < 0)))
                        at++;
                bool same = at < v->n && v->v[at].door == r->door && strcmp(v->v[at].path, r->path) == 0;
                if (!same || !v->v[at].chosen)
                        put_record(&out, r);
        }
        return write_base(l, &out, e);
}

void base_digests(struct journal *j)
{
        AUTO_BASE(b);
        struct err none;
        if (read_base_in(j->l, j->dir, &b, &none) < 0)
                return;
        for (size_t i = 0; i < j->n; i++) {
                const struct record *r = find(&b, j->ops[i].door, j->ops[i].source);
                j->ops[i].before = r ? arena_str(&j->mem, r->digest) : NULL;
        }
}

static int by_source(const void *a, const void *b)
{
        const struct op *x = *(const struct op *const *) a, *y = *(const struct op *const *) b;
        return x->door != y->door ? (x->door < y->door ? -1 : 1) : path_order(x->source, y->source);
}

/* A later box may have changed again what landed: then its record is of what landed, and that is gone. */
static struct record join(const struct record *now, const struct record *before)
{
        struct record r = *before;
        r.now_kind = now->now_kind;
        r.now_size = now->now_size;
        r.now_sum = now->now_sum;
        r.summed = now->summed;
        r.more = now->more;
        return r;
}

static void merge_bases(const struct base *now, const struct base *before, const struct op *const *undone,
                        size_t count, struct buf *out)
{
        for (size_t i = 0, k = 0; i < now->n || k < before->n;) {
                const struct record *a = i < now->n ? &now->v[i] : NULL,
                                    *b = k < before->n ? &before->v[k] : NULL;
                int c = !a                   ? 1
                        : !b                 ? -1
                        : a->door != b->door ? (a->door < b->door ? -1 : 1)
                                             : path_order(a->path, b->path);
                struct record r = c <= 0 ? *a : *b;
                if (c == 0) {
                        const struct op key = { .door = a->door, .source = a->path }, *at = &key;
                        if (bsearch(&at, undone, count, sizeof *undone, by_source))
                                r = join(a, b);
                }
                put_record(out, &r);
                i += c <= 0;
                k += c >= 0;
        }
}

int base_restore(const struct journal *j, struct err *e)
{
        AUTO_BASE(now);
        AUTO_BASE(before);
        AUTO_BUF(out);
        AUTO_BUF(old);
        if (read_base(j->l, &now, e) < 0 || read_base_in(j->l, j->dir, &before, e) < 0)
                return -1;
        const struct op **undone = calloc(j->n + 1, sizeof *undone);
        if (!undone)
                return err_set(e, ERR_MEMORY, 0, "no memory for the changes");
        for (size_t i = 0; i < j->n; i++)
                undone[i] = &j->ops[i];
        if (j->n > 1)
                qsort(undone, j->n, sizeof *undone, by_source);
        merge_bases(&now, &before, undone, j->n, &out);
        free(undone);
        for (size_t i = 0; i < now.n; i++)
                put_record(&old, &now.v[i]);
        if (out.failed || old.failed)
                return err_set(e, ERR_MEMORY, 0, "no memory for the changes");
        if (out.n == old.n && memcmp(out.p, old.p, out.n) == 0)
                return 0; /* a full disk takes back what never landed */
        return write_base(j->l, &out, e);
}

/* ---- renames ---- */

struct candidate {
        uint64_t size;
        unsigned door;
        struct entry *x;
        char digest[65];
};

static bool may_move(const struct node *n) { return n->kind == NODE_FILE && n->size > 0; }

static int by_size(const void *a, const void *b)
{
        const struct candidate *x = a, *y = b;
        return x->door != y->door ? (x->door < y->door ? -1 : 1) : (x->size > y->size) - (x->size < y->size);
}

static int by_content(const void *a, const void *b)
{
        const struct candidate *x = a, *y = b;
        int c = by_size(a, b) ? by_size(a, b) : strcmp(x->digest, y->digest);
        return c ? c : path_order(x->x->path, y->x->path);
}

static struct candidate *gather(struct entries *v, unsigned what, size_t *ret_n)
{
        struct candidate *all = calloc(v->n + 1, sizeof *all);
        size_t n = 0;
        for (size_t i = 0; all && i < v->n; i++) {
                struct entry *x = &v->v[i];
                const struct node *side = what == WHAT_ADDED ? &x->now : &x->old;
                if (x->what & what && may_move(side))
                        all[n++] = (struct candidate){ .size = side->size, .door = x->door, .x = x };
        }
        if (n > 1)
                qsort(all, n, sizeof *all, by_size);
        *ret_n = n;
        return all;
}

/* Only what has its size on the other side, too, is read. */
static int digest_those(struct cursor *c, struct candidate *v, size_t n, const struct candidate *other,
                        size_t m, bool now, struct err *e)
{
        for (size_t i = 0; i < n; i++)
                if (m > 0 && bsearch(&v[i], other, m, sizeof *other, by_size) &&
                    digest_of(c, v[i].x, now, v[i].digest, e) < 0)
                        return -1;
        return 0;
}

/* Both are sorted by content: the first of each pair up, and so on. */
static void pair_up(struct candidate *gone, size_t n, struct candidate *added, size_t m)
{
        for (size_t i = 0, k = 0; i < n && k < m;) {
                int c = by_size(&gone[i], &added[k]);
                c = c ? c : strcmp(gone[i].digest, added[k].digest);
                if (c == 0 && strlen(gone[i].digest) == 64) {
                        struct entry *from = gone[i].x, *to = added[k].x;
                        to->other = from->path;
                        from->other = to->path;
                        to->what |= WHAT_RENAMED;
                        from->what |= WHAT_RENAMED;
                }
                i += c <= 0;
                k += c >= 0;
        }
}

int find_renames(const struct layer *l, struct entries *v, struct err *e)
{
        AUTO_CURSOR(c, l);
        size_t n, m;
        struct candidate *gone = gather(v, WHAT_DELETED, &n), *added = gather(v, WHAT_ADDED, &m);
        int r = gone && added ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for the changes");
        if (r == 0)
                r = digest_those(&c, gone, n, added, m, false, e);
        if (r == 0)
                r = digest_those(&c, added, m, gone, n, true, e);
        if (r == 0) {
                qsort(gone, n, sizeof *gone, by_content);
                qsort(added, m, sizeof *added, by_content);
                pair_up(gone, n, added, m);
        }
        free(gone);
        free(added);
        return r;
}

/* ---- choosing by name ---- */

static bool named_by(const struct layer *l, const struct entry *x, const char *name)
{
        char whole[2 * WORK_PATH_MAX];
        const struct work_door *d = &l->doors[x->door];
        size_t n = strlen(name);
        char clean[WORK_PATH_MAX];
        if (n >= sizeof clean)
                return false;
        memcpy(clean, name, n + 1);
        while (n > 1 && clean[n - 1] == '/')
                clean[--n] = '\0';
        const char *at = strncmp(clean, "./", 2) == 0 ? clean + 2 : clean;
        if (strcmp(at, ".") == 0)
                return true;
        if (at[0] != '/')
                return path_below(x->path, at);
        if (d->is_dir)
                (void) snprintf(whole, sizeof whole, "%s/%s", strcmp(d->host, "/") == 0 ? "" : d->host,
                                x->path);
        else
                (void) snprintf(whole, sizeof whole, "%s", d->host);
        return path_below(whole, at);
}

int paths_all_found(const struct layer *l, const struct entries *v, const char *const *paths, struct err *e)
{
        for (; paths && *paths; paths++) {
                size_t i = 0;
                while (i < v->n && !named_by(l, &v->v[i], *paths))
                        i++;
                if (i < v->n)
                        continue;
                char shown[256];
                (void) err_set(e, ERR_USAGE, 0, "the layer %s changes nothing at %s", l->run,
                               str_inert(span_str(*paths), shown, sizeof shown));
                return err_hint(e, "paths are absolute, or as `cordon diff --name-only %s` prints them",
                                l->run);
        }
        return 0;
}

/* The part of a path behind the door that it lies in; NULL: it is the door, or holds it. */
static const char *behind_door(const struct work_door *d, const char *name)
{
        size_t n = strcmp(d->host, "/") == 0 ? 0 : strlen(d->host);
        const char *at = strncmp(name, "./", 2) == 0 ? name + 2 : name;
        if (at[0] == '/' && (!path_below(at, d->host) || at[n] != '/'))
                return NULL;
        at += at[0] == '/' ? n + 1 : 0;
        return at[0] && strcmp(at, ".") != 0 ? at : NULL;
}

/* A directory's own row, as `.git/hooks/`; a file's (`build`) does not speak for what lies below. */
static bool is_flagged_directory(const char *at)
{
        char name[WORK_PATH_MAX + 2];
        size_t n = strlen(at);
        while (n > 0 && at[n - 1] == '/')
                n--;
        return snprintf(name, sizeof name, "%.*s/", (int) n, at) < (int) sizeof name && flags_by_name(name);
}

static bool is_same_path(const char *at, const char *path)
{
        size_t n = strlen(path);
        return strncmp(at, path, n) == 0 && at[n + strspn(at + n, "/")] == '\0';
}

bool entry_named_itself(const struct layer *l, const struct entry *x, const char *const *paths)
{
        for (; paths && *paths; paths++) {
                const struct work_door *d = &l->doors[x->door];
                const char *at = behind_door(d, *paths);
                if (!named_by(l, x, *paths))
                        continue;
                if (!d->is_dir || (at && (is_same_path(at, x->path) || is_flagged_directory(at))))
                        return true;
        }
        return false;
}

bool entry_named(const struct layer *l, const struct entry *x, const char *const *paths)
{
        for (; paths && *paths; paths++)
                if (named_by(l, x, *paths))
                        return true;
        return false;
}

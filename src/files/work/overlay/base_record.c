/* SPDX-License-Identifier: MIT */
/* files/work/overlay/base_record.c - the lower entry of each changed entry when the run ended, by content: so
 * that a later change by the host is found, and never reverted by accident.
 *
 * `base`: one record for each entry, NUL-terminated:
 *     DOOR KIND MODE UID GID SIZE DIGEST NOW-KIND NOW-SIZE[:NOW-SUM] PATH
 * KIND is - f d l o, or ? (could not be read). DIGEST is hex, or - (none), or ! (it changed while the box
 * ran), or ?SECONDS.NANOSECONDS (not readable: a later change time means that the box saw another
 * version). NOW is the overlay's own entry, SUM its checksum by quick_sum.c unless it was too large to
 * read. At the end is "end" and the digest of everything before: the end of a run does not wait for the
 * disk, so a power cut can lose the last writes, and that must be detected. */
#include "base/fd.h"
#include "base/hash.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { END_BYTES = 4 + 65 };

char kind_letter(enum node_kind k) { return "-fdlo"[k]; }

void base_done(struct base *b)
{
        free(b->text);
        free(b->v);
}

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

static int record_lost(const struct layer *l, struct err *e)
{
        (void) err_set(e, ERR_IO, 0,
                       "the record of what the overlay %s began with is incomplete: the machine went down "
                       "before it was written",
                       l->run);
        return err_hint(e,
                        "the box's files are in cordon's state directory, work/%s/door-0/upper; take what "
                        "you need by hand, then `cordon discard %s`",
                        l->run, l->run);
}

/* The text without its end, if the digest matches. */
static bool check_end(const char *text, size_t *size)
{
        char hex[65];
        if (*size < END_BYTES || memcmp(text + *size - END_BYTES, "end ", 4) != 0)
                return false;
        *size -= END_BYTES;
        sha256_hex(span_of(text, *size), hex);
        return memcmp(text + *size + 4, hex, sizeof hex) == 0;
}

/* No base: an overlay that was never sealed. */
static int base_read_in(const struct layer *l, int dir, struct base *ret, struct err *e)
{
        struct stat st;
        AUTO_FD(fd, openat(dir, "base", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (fd < 0 && errno == ENOENT)
                return l->state == LAYER_OPEN ? 0 : record_lost(l, e);

        size_t size = fd < 0 || fstat(fd, &st) < 0 ? SIZE_MAX : (size_t) st.st_size;
        ret->text = size == SIZE_MAX ? NULL : malloc(size + 1);
        ssize_t n = ret->text ? fd_read_all(fd, ret->text, size) : -1;
        if (n < 0)
                return err_set(e, ERR_IO, errno, "reading what the overlay %s began with: %s", l->run,
                               strerror(errno));

        if ((size_t) n != size)
                return record_lost(l, e);

        if (!check_end(ret->text, &size))
                return record_lost(l, e);

        size_t count = 0;
        for (size_t i = 0; i < size; i++)
                count += ret->text[i] == '\0';

        ret->v = calloc(count + 1, sizeof *ret->v);
        for (char *at = ret->text; ret->v && at < ret->text + size;) {
                char *next = at + strlen(at) + 1;
                if (ret->n == count || !read_record(at, &ret->v[ret->n++]))
                        return err_set(e, ERR_IO, 0,
                                       "the record of what the overlay %s began with cannot be read", l->run);
                at = next;
        }

        return ret->v ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for the changes");
}

int base_read(const struct layer *l, struct base *ret, struct err *e)
{
        return base_read_in(l, l->dir, ret, e);
}

/* The first record that does not sort before the path; b->n: none. */
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

const struct record *base_find(const struct base *b, unsigned door, const char *path)
{
        size_t i = first_from(b, door, path);
        return i < b->n && b->v[i].door == door && strcmp(b->v[i].path, path) == 0 ? &b->v[i] : NULL;
}

struct base *base_open(const struct layer *l, struct err *e)
{
        struct base *b = calloc(1, sizeof *b);
        if (!b)
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the changes");

        if (!b || base_read(l, b, e) == 0)
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

bool base_has(const struct base *b, unsigned door, const char *path)
{
        return base_find(b, door, path) != NULL;
}

/* Records are sorted: those below a path directly follow its own position. */
bool base_has_below(const struct base *b, unsigned door, const char *path)
{
        size_t i = first_from(b, door, path);
        return i < b->n && b->v[i].door == door && path_below(b->v[i].path, path);
}

void base_put(struct buf *out, const struct record *r)
{
        buf_printf(out, "%u %c %o %u %u %" PRIu64 " %s %c %" PRIu64, r->door, r->kind, r->mode, r->uid,
                   r->gid, r->size, r->digest[0] ? r->digest : "-", r->now_kind, r->now_size);
        if (r->summed)
                buf_printf(out, ":%" PRIx64, r->now_sum);

        buf_puts(out, r->more ? r->more : "");
        buf_putc(out, ' ');
        buf_add(out, r->path, strlen(r->path) + 1);
}

int base_write(const struct layer *l, struct buf *out, struct err *e)
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
                return err_set(e, ERR_IO, errno, "writing what the overlay %s began with: %s", l->run,
                               strerror(errno));

        return 0;
}

const struct record *base_unseen_above(const struct base *b, unsigned door, const char *path)
{
        char above[WORK_PATH_MAX];
        const struct record *r = NULL;
        (void) snprintf(above, sizeof above, "%s", path);
        for (char *slash; !r && (slash = strrchr(above, '/')) != NULL;) {
                *slash = '\0';
                r = base_find(b, door, above);
        }

        return r && r->digest[0] == '?' ? r : NULL;
}

bool base_waits(const struct base *b, unsigned door, const char *path)
{
        return base_find(b, door, path) || base_unseen_above(b, door, path);
}

int base_drop(const struct layer *l, const struct entries *v, struct err *e)
{
        AUTO_BASE(b);
        AUTO_BUF(out);
        if (base_read(l, &b, e) < 0)
                return -1;

        size_t at = 0; /* both are sorted the same way */
        for (size_t i = 0; i < b.n; i++) {
                const struct record *r = &b.v[i];
                while (at < v->n && (v->v[at].door < r->door ||
                                     (v->v[at].door == r->door && path_order(v->v[at].path, r->path) < 0)))
                        at++;
                bool same = at < v->n && v->v[at].door == r->door && strcmp(v->v[at].path, r->path) == 0;
                if (!same || !v->v[at].chosen)
                        base_put(&out, r);
        }

        return base_write(l, &out, e);
}

void base_digests(struct journal *j)
{
        AUTO_BASE(b);
        struct err none;
        if (base_read_in(j->l, j->dir, &b, &none) < 0)
                return;

        for (size_t i = 0; i < j->n; i++) {
                const struct record *r = base_find(&b, j->ops[i].door, j->ops[i].source);
                j->ops[i].before = r ? arena_str(&j->mem, r->digest) : NULL;
        }
}

static int by_source(const void *a, const void *b)
{
        const struct op *x = *(const struct op *const *) a, *y = *(const struct op *const *) b;
        return x->door != y->door ? (x->door < y->door ? -1 : 1) : path_order(x->source, y->source);
}

/* A later box may have changed an applied entry again: then its record is of the applied version, which is
 * gone. */
static struct record join_records(const struct record *now, const struct record *before)
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
                const struct record *first = c <= 0 ? a : b;
                if (!first) /* one of them exists, by the loop condition */
                        return;
                struct record r = *first;
                if (a && b && c == 0) {
                        const struct op key = { .door = a->door, .source = a->path }, *at = &key;
                        if (bsearch(&at, undone, count, sizeof(const struct op *), by_source))
                                r = join_records(a, b);
                }
                base_put(out, &r);
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

        if (base_read(j->l, &now, e) < 0 || base_read_in(j->l, j->dir, &before, e) < 0)
                return -1;

        const struct op **undone = calloc(j->n + 1, sizeof(const struct op *));
        if (!undone)
                return err_set(e, ERR_MEMORY, 0, "no memory for the changes");

        for (size_t i = 0; i < j->n; i++)
                undone[i] = &j->ops[i];

        if (j->n > 1)
                qsort(undone, j->n, sizeof(const struct op *), by_source);

        merge_bases(&now, &before, undone, j->n, &out);
        free(undone);
        for (size_t i = 0; i < now.n; i++)
                base_put(&old, &now.v[i]);

        if (out.failed || old.failed)
                return err_set(e, ERR_MEMORY, 0, "no memory for the changes");

        if (out.n == old.n && memcmp(out.p, old.p, out.n) == 0)
                return 0; /* a full disk reverts an uncommitted apply */

        return base_write(j->l, &out, e);
}

/* SPDX-License-Identifier: MIT */
/* files/work/show/work_show.c - an overlay's changes for a user or a program. Files that the host will
 * execute or trust come first. Nothing is left out silently, and no text of a box reaches a terminal raw:
 * control, bidi and invisible characters are escaped. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 64 << 20, FLUSH_AT = 256 << 10 };

static const struct {
        unsigned bit;
        const char *word;
} changes[] = {
        { WHAT_RENAMED, "renamed" }, { WHAT_ADDED, "added" },      { WHAT_DELETED, "deleted" },
        { WHAT_TYPE, "type" },       { WHAT_CONTENT, "changed" },  { WHAT_MODE, "mode" },
        { WHAT_OWNER, "owner" },     { WHAT_XATTR, "attributes" }, { WHAT_UNSEEN, "unseen" },
};
static const char *const kinds[] = { "nothing", "file", "directory", "link", "special" };

void show_flush(struct shower *s)
{
        if (s->out.n > 0 && s->look->out)
                s->look->out(s->look->out_ctx, s->out.p, s->out.n);
        s->out.n = 0;
}

int show_end(struct shower *s, int r, struct err *e)
{
        if (r == 0 && s->out.failed)
                r = err_set(e, ERR_MEMORY, 0, "no memory to show the changes");
        if (r == 0)
                show_flush(s);
        buf_done(&s->out);
        return r;
}

static void flush_some(struct shower *s)
{
        if (s->out.n > FLUSH_AT)
                show_flush(s);
}

static bool takes_entry(const struct shower *s, const struct entry *x)
{
        return !s->look->paths || entry_named(s->l, x, s->look->paths);
}

/* ---- inert text ---- */

/* All of it, however long: str_inert() never needs more than four bytes for one. */
static void put_inert(struct buf *out, struct span text)
{
        char small[512], *big = text.n * 4 + 16 > sizeof small ? malloc(text.n * 4 + 16) : small;
        if (!big) {
                out->failed = true;
                return;
        }

        buf_puts(out, str_inert(text, big, big == small ? sizeof small : text.n * 4 + 16));
        if (big != small)
                free(big);
}

/* A line of content: tabs stay, because text contains them. */
static void put_content(struct buf *out, struct span line)
{
        while (line.n > 0) {
                const uint8_t *tab = memchr(line.p, '\t', line.n);
                size_t n = tab ? (size_t) (tab - line.p) : line.n;
                put_inert(out, span_of(line.p, n));
                if (!tab)
                        break;
                buf_putc(out, '\t');
                line = span_of(tab + 1, line.n - n - 1);
        }
}

static const char *host_of(const struct shower *s, const struct entry *x)
{
        return s->l->doors[x->door].host;
}

static void put_name(struct shower *s, const struct entry *x, const char *path)
{
        if (s->many && s->l->doors[x->door].is_dir) {
                put_inert(&s->out, span_str(host_of(s, x)));
                buf_putc(&s->out, '/');
        }

        if (s->many && !s->l->doors[x->door].is_dir)
                put_inert(&s->out, span_str(host_of(s, x)));
        else
                put_inert(&s->out, span_str(path));
}

static void put_colour(struct shower *s, const char *code)
{
        if (s->look->colour)
                buf_printf(&s->out, "\033[%sm", code);
}

/* ---- contents ---- */

static int read_side(int dir, const char *name, const struct node *n, bool own, struct content *ret)
{
        char target[WORK_PATH_MAX];
        if (n->kind == NODE_LINK) {
                ssize_t k = tree_link(dir, name, target, sizeof target);
                ret->p = k < 0 ? NULL : malloc((size_t) k + 1);
                if (!ret->p)
                        return -1;
                memcpy(ret->p, target, ret->n = (size_t) k);
                return 0;
        }

        AUTO_FD(fd, tree_file(dir, name, own, NULL));
        ret->unread = fd < 0 && !own && errno == EACCES;
        if (ret->unread)
                return 0;

        ret->p = fd < 0 ? NULL : malloc(n->size + 1);
        ssize_t k = ret->p ? fd_read_all(fd, ret->p, n->size) : -1;
        if (k < 0)
                return -1;

        ret->n = (size_t) k;
        return 0;
}

static bool has_content(const struct node *n) { return n->kind == NODE_FILE || n->kind == NODE_LINK; }

int show_contents(struct shower *s, const struct entry *x, struct content *old, struct content *now,
                  struct err *e)
{
        struct sides sides;
        const char *name;
        *old = *now = (struct content){ 0 };
        if (sides_open(s->l, x->door, &sides, e) < 0)
                return -1;

        int bad = 0;
        if (has_content(&x->old)) {
                AUTO_FD(dir, side_lower(&sides, x->path, &name));
                bad |= dir < 0 || read_side(dir, name, &x->old, false, old) < 0;
        }

        if (!bad && has_content(&x->now)) {
                AUTO_FD(dir, side_upper(&sides, x->path, &name));
                bad |= dir < 0 || read_side(dir, name, &x->now, true, now) < 0;
        }

        sides_close(&sides);
        char shown[256];
        if (!bad)
                return 0;

        free(old->p);
        free(now->p);
        *old = *now = (struct content){ 0 };
        return err_set(e, ERR_IO, errno, "reading %s: %s", str_inert(span_str(x->path), shown, sizeof shown),
                       strerror(errno));
}

static bool is_large(const struct entry *x) { return x->old.size > SHOWN_MAX || x->now.size > SHOWN_MAX; }

/* ---- text ---- */

static void put_what(struct shower *s, const struct entry *x)
{
        const char *between = "";
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
                if (x->what & changes[i].bit && !(changes[i].bit != WHAT_RENAMED && x->what & WHAT_RENAMED)) {
                        buf_printf(&s->out, "%s%s", between, changes[i].word);
                        between = ", ";
                }
}

static bool is_opened(const struct shower *s, const struct entry *x, size_t len)
{
        char dir[WORK_PATH_MAX];
        (void) snprintf(dir, sizeof dir, "%.*s", (int) len, x->path);
        return s->look->verbose || names_reach_into(s->l, x->door, dir, s->look->paths);
}

static void put_flag_line(struct shower *s, const struct entry *x)
{
        buf_puts(&s->out, "! ");
        put_name(s, x, x->path);
        buf_puts(&s->out, ": ");
        put_what(s, x);
        buf_puts(&s->out, "; ");
        flags_put(&s->out, x->flags);
        const char *reason = s->look->verbose ? flags_reason(x->path) : NULL;
        if (reason)
                buf_printf(&s->out, " (%s)", reason);

        buf_putc(&s->out, '\n');
}

static void put_flag_fold(struct shower *s, const struct entry *x, size_t len, const struct fold *f)
{
        char dir[WORK_PATH_MAX];
        (void) snprintf(dir, sizeof dir, "%.*s", (int) len, x->path);
        buf_puts(&s->out, "! ");
        put_name(s, x, dir);
        buf_printf(&s->out, "/: %zu entries; ", f->flagged);
        flags_put(&s->out, f->flags);
        buf_putc(&s->out, '\n');
}

/* One line for all entries of a directory that is not reviewed entry by entry. */
static void put_flagged(struct shower *s)
{
        bool any = false;
        for (size_t i = 0; i < s->v->n; i++) {
                const struct entry *x = &s->v->v[i];
                if (!x->flags || !takes_entry(s, x))
                        continue;
                if (!any) {
                        put_colour(s, "1;31");
                        buf_puts(&s->out, "Flagged; apply with --flagged KIND or --include-flagged:");
                        put_colour(s, "0");
                        buf_putc(&s->out, '\n');
                }
                any = true;
                size_t len = fold_of(s->v, i);
                const struct fold f = fold_measure(s->v, i, len ? len : strlen(x->path));
                if (len == 0 || f.flagged < 2 || is_opened(s, x, len)) {
                        put_flag_line(s, x);
                        continue;
                }
                put_flag_fold(s, x, len, &f);
                i += f.n - 1;
        }

        if (any)
                buf_putc(&s->out, '\n');
}

static void put_conflicts(struct shower *s)
{
        bool any = false;
        for (size_t i = 0; i < s->v->n; i++) {
                const struct entry *x = &s->v->v[i];
                if (!x->conflict || !takes_entry(s, x))
                        continue;
                if (!any)
                        buf_puts(&s->out,
                                 "Conflicts: the host also changed these; --theirs PATH shows its side:\n");
                any = true;
                buf_puts(&s->out, "# ");
                put_name(s, x, x->path);
                buf_printf(&s->out, ": %s\n", x->conflict);
        }

        if (any)
                buf_putc(&s->out, '\n');
}

static unsigned git_mode(const struct node *n)
{
        switch (n->kind) {
        case NODE_FILE:
                return 0100000u | n->mode;
        case NODE_DIR:
                return 040000u | n->mode;
        case NODE_LINK:
                return 0120000u;
        case NODE_NONE:
        case NODE_OTHER:
                break;
        }
        return 0;
}

static void put_shut(struct shower *s, const struct entry *x)
{
        if (!x->shut)
                return;

        buf_puts(&s->out, x->what & WHAT_UNSEEN && !x->now.kind ? " (removed in the box)" : "");
        buf_puts(&s->out, " (");
        put_name(s, x, x->shut);
        buf_puts(&s->out, x->what & WHAT_UNSEEN
                                  ? " is closed to you on the host: not compared)"
                                  : " is closed to you on the host: what is in it is not shown)");
}

static void put_link(struct shower *s, const struct entry *x)
{
        if (x->apart)
                buf_printf(&s->out, " (has %" PRIu64 " names on the host, and becomes a file of its own)",
                           x->apart);

        if (!x->link)
                return;

        buf_puts(&s->out, " (a second name of ");
        put_name(s, x, x->link);
        buf_putc(&s->out, ')');
}

static void put_header(struct shower *s, const struct entry *x)
{
        put_colour(s, "1");
        put_name(s, x, x->path);
        buf_puts(&s->out, ": ");
        put_what(s, x);
        if (x->what & WHAT_RENAMED) {
                buf_puts(&s->out, x->what & WHAT_ADDED ? " from " : " to ");
                put_name(s, x, x->other);
        }

        if (x->what & WHAT_TYPE)
                buf_printf(&s->out, " (%s to %s)", kinds[x->old.kind], kinds[x->now.kind]);

        if (x->what & WHAT_MODE)
                buf_printf(&s->out, " (%06o to %06o)", git_mode(&x->old), git_mode(&x->now));

        if (x->what & WHAT_OWNER)
                buf_printf(&s->out, " (%u:%u to %u:%u)", x->old.uid, x->old.gid, x->now.uid, x->now.gid);

        if (x->what & WHAT_ADDED && !(x->what & WHAT_RENAMED))
                buf_printf(&s->out, " (%s, %06o)", kinds[x->now.kind], git_mode(&x->now));

        put_link(s, x);
        if (x->what & WHAT_DELETED && x->old.kind != NODE_FILE)
                buf_printf(&s->out, " (%s)", kinds[x->old.kind]);

        put_shut(s, x);
        if (x->conflict)
                buf_puts(&s->out, " (conflict: - is what the host has now, not what the box began with)");

        put_colour(s, "0");
        buf_putc(&s->out, '\n');
}

static void put_hunks(struct shower *s, const struct buf *hunks)
{
        for (size_t at = 0; at < hunks->n;) {
                const char *line = hunks->p + at, *nl = memchr(line, '\n', hunks->n - at);
                size_t n = nl ? (size_t) (nl - line) : hunks->n - at;
                const char *code = line[0] == '+'   ? "32"
                                   : line[0] == '-' ? "31"
                                   : line[0] == '@' ? "36"
                                                    : NULL;
                if (code)
                        put_colour(s, code);
                put_content(&s->out, span_of(line, n));
                if (code)
                        put_colour(s, "0");
                buf_putc(&s->out, '\n');
                flush_some(s);
                at += n + 1;
        }
}

/* The content of both sides of an entry; with `theirs`, the host's against the box's. */
static int put_sides(struct shower *s, const struct entry *x, bool theirs, struct err *e)
{
        struct content a, b;
        if (!has_content(&x->old) && !has_content(&x->now))
                return 0;

        if (is_large(x)) {
                buf_printf(&s->out, "too large to be shown as text: %" PRIu64 " to %" PRIu64 " bytes\n",
                           theirs ? x->now.size : x->old.size, theirs ? x->old.size : x->now.size);
                return 0;
        }

        if (show_contents(s, x, &a, &b, e) < 0)
                return -1;

        struct span host = span_of(a.p, a.n), box = span_of(b.p, b.n), from = theirs ? box : host,
                    to = theirs ? host : box;
        if (a.unread)
                buf_puts(&s->out, "(the host's file cannot be read: what the box left is shown whole)\n");

        if (is_binary(from) || is_binary(to)) {
                buf_printf(&s->out, "binary: %zu to %zu bytes\n", from.n, to.n);
        } else {
                AUTO_BUF(hunks);
                if (!lines_diff(from, to, &hunks))
                        buf_puts(&s->out,
                                 "(too different to be matched line by line: shown as one replacement)\n");
                s->out.failed |= hunks.failed;
                put_hunks(s, &hunks);
        }

        free(a.p);
        free(b.p);
        return 0;
}

static int put_content_diff(struct shower *s, const struct entry *x, struct err *e)
{
        bool wants = x->what & (WHAT_CONTENT | WHAT_TYPE) ||
                     (x->what & (WHAT_ADDED | WHAT_DELETED | WHAT_UNSEEN) && !(x->what & WHAT_RENAMED));
        return wants ? put_sides(s, x, false, e) : 0;
}

static void put_side(struct shower *s, const char *whose, const struct node *n)
{
        buf_printf(&s->out, "%s: %s", whose, kinds[n->kind]);
        if (n->kind != NODE_NONE)
                buf_printf(&s->out, ", %06o", git_mode(n));
}

/* The host's side of each conflict. Of the lower entry only the digest is known, so it is compared with
 * the box's version. */
int show_theirs(struct shower *s, struct err *e)
{
        size_t conflicts = 0;
        for (size_t i = 0; i < s->v->n; i++) {
                const struct entry *x = &s->v->v[i];
                if (!x->conflict || !takes_entry(s, x) || !entry_named(s->l, x, s->look->theirs))
                        continue;
                conflicts++;
                put_colour(s, "1");
                put_name(s, x, x->path);
                buf_printf(&s->out, ": %s (", x->conflict);
                put_side(s, "- the box", &x->now);
                put_side(s, "; + the host", &x->old);
                buf_putc(&s->out, ')');
                put_colour(s, "0");
                buf_putc(&s->out, '\n');
                if (put_sides(s, x, true, e) < 0)
                        return -1;
                flush_some(s);
        }

        if (conflicts > 0)
                return 0;

        (void) err_set(e, ERR_USAGE, 0, "nothing is in conflict there: the host has not changed it since");
        return err_hint(e, "`cordon diff %s` lists conflicts behind what is flagged", s->l->run);
}

/* The old name of a rename, which is shown at the new name. Not if only the old one was asked for. */
static bool is_told_as_rename(const struct shower *s, const struct entry *x)
{
        if (!(x->what & WHAT_RENAMED && x->what & WHAT_DELETED))
                return false;
        const struct entry now = { .door = x->door, .path = x->other };
        return takes_entry(s, &now);
}

/* The end of the part that was named, and the number of entries from here on that share one line; 0: none. */
static size_t summed_up(const struct shower *s, size_t i, size_t *opened, struct fold *ret)
{
        const struct entry *x = &s->v->v[i];
        if (i < *opened || !fold_is_whole(x))
                return 0;

        *ret = fold_measure(s->v, i, strlen(x->path));
        if (is_opened(s, x, strlen(x->path)))
                *opened = i + ret->n;

        return i >= *opened && fold_is_long(x, ret) ? ret->n : 0;
}

static void put_sum(struct shower *s, const struct entry *x, const struct fold *f)
{
        put_colour(s, "1");
        put_name(s, x, x->path);
        buf_puts(&s->out, "/ ");
        fold_put(&s->out, f);
        buf_puts(&s->out, ": ");
        put_what(s, x);
        put_colour(s, "0");
        buf_puts(&s->out, " (name it, or -v, to see it)\n");
}

int show_diffs(struct shower *s, struct err *e)
{
        if (!s->look->bare) {
                put_flagged(s);
                put_conflicts(s);
        }

        size_t opened = 0;
        for (size_t i = 0; i < s->v->n; i++) {
                const struct entry *x = &s->v->v[i];
                layer_progress(s->l, "reading contents", i, s->v->n);
                struct fold f;
                if (!takes_entry(s, x) || is_told_as_rename(s, x))
                        continue;
                size_t all = summed_up(s, i, &opened, &f);
                if (all > 0) {
                        put_sum(s, x, &f);
                        i += all - 1;
                        continue;
                }
                put_header(s, x);
                if (put_content_diff(s, x, e) < 0)
                        return -1;
                flush_some(s);
        }

        return 0;
}

/* ---- --name-only, --stat ---- */

int show_names(struct shower *s, struct err *e)
{
        (void) e;
        for (size_t i = 0; i < s->v->n; i++) {
                const struct entry *x = &s->v->v[i];
                if (!takes_entry(s, x))
                        continue;
                AUTO_BUF(name);
                if (s->many)
                        buf_printf(&name, "%s%s", host_of(s, x), s->l->doors[x->door].is_dir ? "/" : "");
                if (!s->many || s->l->doors[x->door].is_dir)
                        buf_puts(&name, x->path);
                put_git_path(&s->out, "", buf_str(&name));
                buf_putc(&s->out, '\n');
                flush_some(s);
        }

        return 0;
}

struct numbers {
        bool binary;
        size_t added, removed;
};

static int count_lines(struct shower *s, const struct entry *x, struct numbers *ret, struct err *e)
{
        struct content a, b;
        *ret = (struct numbers){ .binary = is_large(x) };
        if (is_large(x) || (!has_content(&x->old) && !has_content(&x->now)))
                return 0;

        if (show_contents(s, x, &a, &b, e) < 0)
                return -1;

        ret->binary = is_binary(span_of(a.p, a.n)) || is_binary(span_of(b.p, b.n));
        if (!ret->binary)
                lines_count(span_of(a.p, a.n), span_of(b.p, b.n), &ret->added, &ret->removed);

        free(a.p);
        free(b.p);
        return 0;
}

static void put_stat_line(struct shower *s, const struct entry *x, struct numbers *n)
{
        buf_puts(&s->out, x->flags ? "! " : "  ");
        if (x->what & WHAT_RENAMED) {
                put_name(s, x, x->what & WHAT_ADDED ? x->other : x->path);
                buf_puts(&s->out, " => ");
                *n = (struct numbers){ .binary = n->binary };
        }

        put_name(s, x, x->what & WHAT_RENAMED && x->what & WHAT_DELETED ? x->other : x->path);
        if (n->binary)
                buf_printf(&s->out, " | binary %" PRIu64 " to %" PRIu64 " bytes", x->old.size, x->now.size);
        else
                buf_printf(&s->out, " | +%zu -%zu", n->added, n->removed);

        buf_puts(&s->out, " (");
        put_what(s, x);
        buf_puts(&s->out, ")\n");
}

static void put_stat_sum(struct shower *s, const struct entry *x, const struct fold *f)
{
        buf_puts(&s->out, f->flagged ? "! " : "  ");
        put_name(s, x, x->path);
        buf_puts(&s->out, "/ | ");
        fold_put(&s->out, f);
        buf_puts(&s->out, " (");
        put_what(s, x);
        buf_puts(&s->out, ")\n");
}

int show_stat(struct shower *s, struct err *e)
{
        size_t entries = 0, added = 0, removed = 0, flagged = 0, opened = 0, sums = 0;
        for (size_t i = 0; i < s->v->n; i++) {
                const struct entry *x = &s->v->v[i];
                layer_progress(s->l, "reading contents", i, s->v->n);
                struct numbers n;
                struct fold f;
                if (!takes_entry(s, x))
                        continue;
                size_t all = summed_up(s, i, &opened, &f);
                entries += all ? all : 1;
                flagged += all ? f.flagged : x->flags != 0;
                sums += all > 0;
                if (all > 0) {
                        put_stat_sum(s, x, &f);
                        i += all - 1;
                        continue;
                }
                if (is_told_as_rename(s, x))
                        continue;
                if (count_lines(s, x, &n, e) < 0)
                        return -1;
                put_stat_line(s, x, &n);
                flush_some(s);
                added += n.added;
                removed += n.removed;
        }

        buf_printf(&s->out, "%zu %s, %zu lines added, %zu removed, %zu flagged", entries,
                   entries == 1 ? "entry" : "entries", added, removed, flagged);
        if (sums > 0)
                buf_printf(&s->out, "; %zu %s summed up, not counted in lines", sums,
                           sums == 1 ? "directory is" : "directories are");

        buf_putc(&s->out, '\n');
        return 0;
}

/* ---- --json ---- */

static void json_node(struct buf *out, const char *key, const struct node *n)
{
        if (n->kind == NODE_NONE) {
                buf_member(out, key, NULL);
                return;
        }

        buf_key(out, key);
        buf_printf(out, "{\"kind\":\"%s\",\"mode\":\"%04o\",\"uid\":%u,\"gid\":%u,\"size\":%" PRIu64 "}",
                   kinds[n->kind], n->mode, n->uid, n->gid, n->size);
}

/* JSON holds only UTF-8: another name is repeated in hex. */
void json_path(struct buf *out, const char *key, const char *path)
{
        buf_member(out, key, path);
        if (str_is_utf8(span_str(path)))
                return;

        buf_printf(out, ",\"%s_hex\":\"", key);
        for (const char *p = path; *p; p++)
                buf_printf(out, "%02x", (unsigned char) *p);

        buf_putc(out, '"');
}

void json_changes(struct buf *out, unsigned what)
{
        buf_member_json(out, "change", "[");
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
                if (what & changes[i].bit)
                        buf_member(out, NULL, changes[i].word);

        buf_putc(out, ']');
}

void json_flags(struct buf *out, unsigned flags)
{
        const unsigned all = flags;
        buf_member_json(out, "flags", "[");
        for (unsigned bit; flags; flags &= ~bit)
                buf_member(out, NULL, flags_words(flags, &bit));

        buf_puts(out, "],\"kinds\":[");
        for (unsigned i = 0; i < flags_count(); i++)
                if (all & 1u << i)
                        buf_member(out, NULL, flags_kind(i));

        buf_putc(out, ']');
}

void json_apart(struct buf *out, uint64_t names)
{
        if (names)
                buf_printf(out, ",\"host_names\":%" PRIu64, names);
}

static void json_entry(struct shower *s, const struct entry *x, const struct numbers *n)
{
        struct buf *out = &s->out;
        buf_printf(out, "{\"door\":%u", x->door);
        json_path(out, "path", x->path);
        json_changes(out, x->what);
        if (x->other)
                json_path(out, x->what & WHAT_ADDED ? "from" : "to", x->other);

        if (x->link)
                json_path(out, "link", x->link);

        json_apart(out, x->apart);
        json_node(out, "old", &x->old);
        json_node(out, "new", &x->now);
        buf_printf(out, ",\"binary\":%s,\"lines_added\":%zu,\"lines_removed\":%zu",
                   n->binary ? "true" : "false", n->added, n->removed);
        json_flags(out, x->flags);
        if (x->shut)
                json_path(out, "closed", x->shut);

        buf_member(out, "conflict", x->conflict);
        buf_putc(out, '}');
}

int show_json(struct shower *s, struct err *e)
{
        struct buf *out = &s->out;
        buf_printf(out, "{\"version\":1,\"run\":\"%s\"", s->l->run);
        buf_member(out, "box", s->l->box ? s->l->box : "");
        buf_puts(out, ",\"doors\":[");
        for (size_t i = 0; i < s->l->door_count; i++) {
                buf_puts(out, i ? ",{" : "{");
                json_path(out, "host", s->l->doors[i].host);
                buf_putc(out, '}');
        }

        buf_puts(out, "],\"entries\":[");
        bool first = true;
        for (size_t i = 0; i < s->v->n; i++) {
                struct numbers n;
                layer_progress(s->l, "reading contents", i, s->v->n);
                if (!takes_entry(s, &s->v->v[i]))
                        continue;
                if (count_lines(s, &s->v->v[i], &n, e) < 0)
                        return -1;
                if (!first)
                        buf_putc(out, ',');
                first = false;
                json_entry(s, &s->v->v[i], &n);
                flush_some(s);
        }

        buf_puts(out, "]}\n");
        return 0;
}

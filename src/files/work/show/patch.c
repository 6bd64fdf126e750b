/* SPDX-License-Identifier: MIT */
/* files/work/show/patch.c - an overlay's changes as a patch for `git apply`. Changes that such a patch cannot
 * hold (binary files, empty directories, modes beyond the execute bit, sockets, git's own files), and
 * those that an apply also holds back, are named in lines that git ignores. */
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static unsigned git_mode(const struct node *n)
{
        return n->kind == NODE_LINK ? 0120000 : n->mode & 0100 ? 0100755 : 0100644;
}

/* ---- one file ---- */

static void put_names(struct buf *out, const char *path, bool old, bool now)
{
        const char *end = strchr(path, ' ') ? "\t\n" : "\n";
        buf_puts(out, "--- ");
        if (old)
                put_git_path(out, "a/", path);
        else
                buf_puts(out, "/dev/null");

        buf_puts(out, old ? end : "\n");
        buf_puts(out, "+++ ");
        if (now)
                put_git_path(out, "b/", path);
        else
                buf_puts(out, "/dev/null");

        buf_puts(out, now ? end : "\n");
}

static void put_missing(struct buf *out, const char *path, const char *why)
{
        buf_puts(out, "# not in this patch: ");
        put_git_path(out, "", path);
        buf_printf(out, ": %s\n", why);
}

static void put_file(struct buf *out, const char *path, const struct node *old, const struct node *now,
                     const struct content *a, const struct content *b)
{
        bool was = old->kind != NODE_NONE, is = now->kind != NODE_NONE;
        bool same = was && is && a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
        if (same && git_mode(old) == git_mode(now))
                return;

        buf_puts(out, "diff --git ");
        put_git_path(out, "a/", path);
        buf_putc(out, ' ');
        put_git_path(out, "b/", path);
        buf_putc(out, '\n');
        if (!was)
                buf_printf(out, "new file mode %06o\n", git_mode(now));
        else if (!is)
                buf_printf(out, "deleted file mode %06o\n", git_mode(old));
        else if (git_mode(old) != git_mode(now))
                buf_printf(out, "old mode %06o\nnew mode %06o\n", git_mode(old), git_mode(now));

        if (same || (a->n == 0 && b->n == 0))
                return;

        put_names(out, path, was, is);
        (void) lines_diff(span_of(a->p, a->n), span_of(b->p, b->n), out);
}

static bool fits(const struct node *n) { return n->kind == NODE_FILE || n->kind == NODE_LINK; }

/* A name that git takes for its own directory on some filesystem: one such path, and `git apply` rejects
 * the whole patch. By git's rules: any case, trailing blanks and dots, an NTFS stream, and the 8.3 short
 * name. */
static bool is_gits_own(const char *name)
{
        size_t n = strncasecmp(name, ".git", 4) == 0 ? 4 : strncasecmp(name, "git~1", 5) == 0 ? 5 : 0;
        if (n == 0)
                return false;
        n += strspn(name + n, ". ");
        return name[n] == '\0' || strchr("/\\:", name[n]) != NULL;
}

static bool git_refuses(const struct entry *x)
{
        const char *name = x->path;
        for (const char *slash; (slash = strchr(name, '/')); name = slash + 1)
                if (is_gits_own(name))
                        return true;
        return is_gits_own(name) || (x->now.kind == NODE_LINK && strcasecmp(name, ".gitmodules") == 0);
}

static int put_entry(struct shower *s, const struct entry *x, struct err *e)
{
        const struct node none = { 0 };
        const struct content nothing = { 0 };
        struct content a, b;

        if (!x->chosen || git_refuses(x) || (!fits(&x->old) && !fits(&x->now)))
                return 0;

        if (s->binary && path_below(x->path, s->binary)) {
                put_missing(&s->out, x->path, "a binary file is in its way");
                return 0;
        }

        if (show_contents(s, x, &a, &b, e) < 0)
                return -1;

        if (a.unread) {
                char shown[256];
                free(b.p);
                return err_set(e, ERR_IO, EACCES, "a patch needs both sides, and %s cannot be read",
                               str_inert(span_str(x->path), shown, sizeof shown));
        }

        const struct node *old = fits(&x->old) ? &x->old : &none, *now = fits(&x->now) ? &x->now : &none;
        bool same = a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
        if (!same && (is_binary(span_of(a.p, a.n)) || is_binary(span_of(b.p, b.n)))) {
                put_missing(&s->out, x->path, "binary files differ");
                s->binary = x->path;
        } else if (old->kind && now->kind && old->kind != now->kind) {
                /* git cannot change a type: delete and create */
                put_file(&s->out, x->path, old, &none, &a, &nothing);
                put_file(&s->out, x->path, &none, now, &nothing, &b);
        } else {
                put_file(&s->out, x->path, old, now, &a, &b);
        }

        free(a.p);
        free(b.p);
        return 0;
}

/* ---- not in the patch ---- */

static bool holds_entries(const struct shower *s, size_t i)
{
        const struct entry *x = &s->v->v[i];
        for (size_t k = i + 1; k < s->v->n && path_below(s->v->v[k].path, x->path); k++)
                if (s->v->v[k].chosen && fits(&s->v->v[k].now))
                        return true;
        return false;
}

static const char *left_out(const struct shower *s, size_t i)
{
        const struct entry *x = &s->v->v[i];
        if (x->shut)
                return "in a directory of the host that is closed to you";

        if (git_refuses(x))
                return "git takes none of its own files from a patch";

        if (x->held)
                return x->held;

        if (x->now.kind == NODE_DIR && x->what & (WHAT_ADDED | WHAT_TYPE) && !holds_entries(s, i))
                return "an empty directory";

        if (x->now.kind == NODE_DIR && x->what & WHAT_MODE)
                return "the mode of a directory";

        if (x->now.kind == NODE_FILE && x->what & WHAT_MODE && git_mode(&x->old) == git_mode(&x->now))
                return "a mode beyond the execute bit";

        if (x->what & WHAT_XATTR)
                return "extended attributes";

        return NULL;
}

/* Entries that are included, but are not plain changes of the original version. */
static void put_conflicts(struct shower *s)
{
        for (size_t i = 0; i < s->v->n; i++) {
                const struct entry *x = &s->v->v[i];
                if (!x->chosen || !x->conflict)
                        continue;
                buf_puts(&s->out, "# conflict: ");
                put_git_path(&s->out, "", x->path);
                buf_printf(&s->out, ": %s; from what the host has now to what the box left\n", x->conflict);
        }
}

/* Reports what is not included. Returns -1 if the patch would be for several trees. */
static int put_left_out(struct shower *s, struct err *e)
{
        long door = -1;
        for (size_t i = 0; i < s->v->n; i++) {
                const struct entry *x = &s->v->v[i];
                if (!x->chosen && !x->held)
                        continue;
                if (door >= 0 && door != (long) x->door) {
                        (void) err_set(e, ERR_USAGE, 0,
                                       "a patch is for one tree, but the overlay changes several");
                        return err_hint(e, "name the paths of one door");
                }
                door = x->door;
                const char *what = left_out(s, i);
                if (what)
                        put_missing(&s->out, x->path, what);
        }

        return 0;
}

int show_patch(const struct work_apply *a, const struct layer *l, const struct entries *v, struct err *e)
{
        const struct work_look look = { .out = a->patch, .out_ctx = a->patch_ctx };
        struct shower s = { .l = l, .v = v, .look = &look };
        buf_printf(&s.out, "# from the box of run %s\n", l->run);
        int r = put_left_out(&s, e);
        put_conflicts(&s);
        for (size_t i = 0; r == 0 && !s.out.failed && i < v->n; i++) {
                show_flush(&s);
                r = put_entry(&s, &v->v[i], e);
        }

        return show_end(&s, r, e);
}

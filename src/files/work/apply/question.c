/* SPDX-License-Identifier: MIT */
/* files/work/apply/question.c - an overlay whose run had an `edit` door with `ask` is applied only after a
 * person approved exactly its entries. The lines of these doors are in the overlay's `meta`, which no box
 * sees; a later run on the overlay adds its own and takes none away. What is approved has a digest over every
 * entry: it is made again right before the apply, and of each staged entry before the first step. */
#include "base/hash.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LIST_MAX = 64 * 1024 };

/* ---- the digest ---- */

static void add_text(struct sha256 *s, const char *text) { sha256_add(s, text, strlen(text) + 1); }

static void add_entry(struct sha256 *s, const struct layer *l, const struct entry *x)
{
        char node[96];
        (void) snprintf(node, sizeof node, "%c %x %o %u %u", kind_letter(x->now.kind), x->what,
                        (unsigned) x->now.mode, (unsigned) x->now.uid, (unsigned) x->now.gid);
        add_text(s, l->doors[x->door].host);
        add_text(s, x->path);
        add_text(s, node);
        add_text(s, x->shown);
}

static int sum_chosen(const struct layer *l, struct entries *v, char ret[65], struct err *e)
{
        struct sha256 s;
        AUTO_CURSOR(at, l);
        sha256_init(&s);
        for (size_t i = 0; i < v->n; i++) {
                struct entry *x = &v->v[i];
                char digest[65] = "", shown[256];
                if (!x->chosen)
                        continue;

                if (!(x->what & WHAT_DELETED) && digest_of(&at, x, true, digest, e) < 0)
                        return -1;

                if (digest[0] == '-' || digest[0] == '!')
                        return err_set(e, ERR_IO, 0, "%s cannot be read, so nobody can approve it",
                                       str_inert(span_str(x->path), shown, sizeof shown));

                x->shown = arena_str(&v->mem, digest);
                if (!x->shown)
                        return err_set(e, ERR_MEMORY, 0, "no memory for the changes");
                add_entry(&s, l, x);
        }

        sha256_end_hex(&s, ret);
        return 0;
}

/* ---- what a person sees ---- */

static void put_entry(struct buf *out, const struct layer *l, const struct entry *x)
{
        char path[WORK_PATH_MAX];
        const char *host = l->doors[x->door].host;
        const char *word = x->what & WHAT_DELETED ? "delete" : x->what & WHAT_ADDED ? "add" : "change";
        buf_printf(out, "%s %s", word, str_inert(span_str(host), path, sizeof path));
        if (l->doors[x->door].is_dir)
                buf_printf(out, "/%s", str_inert(span_str(x->path), path, sizeof path));

        if (!(x->what & WHAT_DELETED)) {
                buf_printf(out, ", mode %04o", (unsigned) x->now.mode);
                if (x->now.kind == NODE_FILE)
                        buf_printf(out, ", %" PRIu64 " bytes", x->now.size);
                if (x->shown[0])
                        buf_printf(out, ", %s%.16s", x->now.kind == NODE_LINK ? "symlink " : "", x->shown);
        }

        if (x->flags) {
                buf_puts(out, ": ");
                flags_put(out, x->flags);
        }
        buf_putc(out, '\n');
}

static void put_list(const struct layer *l, const struct entries *v, struct buf *out)
{
        for (int flagged = 1; flagged >= 0; flagged--)
                for (size_t i = 0; i < v->n && out->n <= LIST_MAX; i++)
                        if (v->v[i].chosen && (v->v[i].flags != 0) == flagged)
                                put_entry(out, l, &v->v[i]);
}

static void put_paths(const struct layer *l, const struct entries *v, struct buf *out)
{
        for (size_t i = 0; i < v->n; i++) {
                const struct entry *x = &v->v[i];
                const struct work_door *d = &l->doors[x->door];
                if (!x->chosen || x->now.kind == NODE_DIR)
                        continue;
                buf_puts(out, d->host);
                if (d->is_dir)
                        buf_printf(out, "/%s", x->path);
                buf_putc(out, '\0');
        }
}

int question_fill(const struct layer *l, struct entries *v, struct work_question *ret, struct err *e)
{
        if (sum_chosen(l, v, ret->digest, e) < 0)
                return -1;

        (void) snprintf(ret->run, sizeof ret->run, "%s", l->run);
        (void) snprintf(ret->box, sizeof ret->box, "%s", l->box ? l->box : "");
        (void) snprintf(ret->policy, sizeof ret->policy, "%s", l->policy ? l->policy : "");
        for (size_t i = 0; i < l->ask_count; i++)
                buf_printf(&ret->asks, "%s\n", l->asks[i]);
        for (size_t i = 0; i < l->people_count; i++)
                buf_printf(&ret->people, "%s%s", i ? "," : "", l->people[i]);

        for (size_t i = 0; i < v->n; i++) {
                ret->entries += v->v[i].chosen;
                ret->flagged += v->v[i].chosen && v->v[i].flags;
        }

        put_list(l, v, &ret->text);
        put_paths(l, v, &ret->paths);
        if (ret->text.failed || ret->paths.failed || ret->asks.failed || ret->people.failed)
                return err_set(e, ERR_MEMORY, 0, "no memory for the changes");

        if (ret->text.n <= LIST_MAX)
                return 0;

        (void) err_set(e, ERR_POLICY, 0, "%zu changes are too many to be shown to a person", ret->entries);
        return err_hint(e, "apply them in parts: cordon apply %s PATH...", l->run);
}

void work_question_done(struct work_question *q)
{
        buf_done(&q->asks);
        buf_done(&q->people);
        buf_done(&q->paths);
        buf_done(&q->text);
}

/* ---- checks ---- */

int question_check(const struct work_apply *a, const struct layer *l, struct entries *v, struct err *e)
{
        char digest[65];
        if (!a->approved && a->unapproved) {
                *e = *a->unapproved;
                return -1;
        }

        if (!a->approved) {
                (void) err_set(e, ERR_POLICY, 0, "an apply of %s waits for an approval", l->run);
                return err_hint(
                        e, "`cordon apply %s` asks for it, and `cordon approve` at another terminal answers",
                        l->run);
        }

        if (sum_chosen(l, v, digest, e) < 0)
                return -1;

        if (strcmp(digest, a->approved) == 0)
                return 0;

        (void) err_set(e, ERR_POLICY, 0, "the changes of %s are not those that were approved", l->run);
        return err_hint(e, "nothing was applied; `cordon apply %s` asks again", l->run);
}

int question_staged(const struct journal *j, struct err *e)
{
        char shown[256];
        for (size_t i = 0; i < j->n; i++) {
                const struct op *o = &j->ops[i];
                const struct entry *x = o->entry;
                bool content = x && x->shown && x->shown[0] && o->digest;
                if (content && strcmp(x->shown, o->digest) != 0)
                        return err_set(e, ERR_POLICY, 0, "%s is not what was approved",
                                       str_inert(span_str(x->path), shown, sizeof shown));
        }
        return 0;
}

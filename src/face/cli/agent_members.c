/* SPDX-License-Identifier: MIT */
/* face/cli/agent_members.c - members of JSON settings and lines of TOML settings: which of them a part holds,
 * and a text with others in their place. Pure. */
#include "base/str.h"
#include "face/cli/agent_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a part holds ---- */

static bool has_word(const char *list, struct span word)
{
        struct span rest = span_str(list ? list : "");
        for (struct span w = str_word(&rest); w.n; w = str_word(&rest))
                if (span_eq(w, word))
                        return true;
        return false;
}

/* A list of nothing is as none: agents write them. */
static bool is_empty(const struct json *v)
{
        if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
                return v->type == JSON_NULL;
        for (const struct json *m = v->child; m; m = m->next)
                if (!is_empty(m))
                        return false;
        return true;
}

static void add_value(const struct buf *key, const struct json *v, struct cli_items *out)
{
        AUTO_BUF(value);
        if (is_empty(v))
                return;

        cli_json_put(v, &value);
        out->failed |= key->failed || value.failed;
        cli_items_set(out, buf_str(key), buf_str(&value));
}

/* The members that "a/?/b" names, below a key of which `n` bytes are there. */
static void add_named(struct span pattern, const struct json *o, struct buf *key, struct cli_items *out)
{
        const uint8_t *slash = memchr(pattern.p, '/', pattern.n);
        struct span first = { pattern.p, slash ? (size_t) (slash - pattern.p) : pattern.n };
        struct span rest = { pattern.p + first.n + 1, slash ? pattern.n - first.n - 1 : 0 };
        for (const struct json *m = o->type == JSON_OBJECT ? o->child : NULL; m; m = m->next) {
                size_t n = key->n;
                if (!span_is(first, "?") && !span_eq(first, span_of(m->key, m->key_len)))
                        continue;

                buf_putc(key, CLI_ITEM_MEMBER);
                buf_puts(key, m->key);
                if (slash)
                        add_named(rest, m, key, out);
                else
                        add_value(key, m, out);
                if (!key->failed)
                        key->p[key->n = n] = '\0';
        }
}

/* Names that make one text two, for another reader or as a key of ours. */
static bool is_plain(const struct json *v)
{
        for (const struct json *m = v->child; m; m = m->next)
                if ((v->type == JSON_OBJECT &&
                     (strlen(m->key) != m->key_len || strchr(m->key, CLI_ITEM_MEMBER) ||
                      strcmp(m->key, "__proto__") == 0)) ||
                    !is_plain(m))
                        return false;
        return true;
}

bool cli_members_add(const struct cli_part *part, const char *path, struct span text, struct cli_items *out)
{
        struct err ignored;
        struct json_doc *d = json_parse_data(path, text, &ignored);
        const struct json *root = d ? json_root(d) : NULL;
        bool good = root && root->type == JSON_OBJECT && is_plain(root);
        AUTO_BUF(key);
        buf_puts(&key, path);
        struct span rest = span_str(part->members);
        if (good && part->kind == PART_MEMBERS)
                for (struct span w = str_word(&rest); w.n; w = str_word(&rest))
                        add_named(w, root, &key, out);

        for (const struct json *m = good && part->kind == PART_ALL_BUT ? root->child : NULL; m; m = m->next)
                if (!has_word(part->members, span_str(m->key)))
                        add_named(span_str(m->key), root, &key, out);

        json_free(d);
        return good;
}

/* ---- merging ---- */

struct merge {
        const struct cli_items *is, *want;
        struct buf *out;
};

/* The items whose key begins with `at` and a member: the first, and the one behind the last. */
static size_t below(const struct cli_items *l, const struct buf *at, size_t *ret_end)
{
        size_t first = 0;
        while (first < l->n && (strncmp(l->v[first].key, buf_str(at), at->n) != 0 ||
                                l->v[first].key[at->n] != CLI_ITEM_MEMBER))
                first++;

        *ret_end = first;
        while (*ret_end < l->n && strncmp(l->v[*ret_end].key, buf_str(at), at->n) == 0 &&
               l->v[*ret_end].key[at->n] == CLI_ITEM_MEMBER)
                ++*ret_end;
        return first;
}

static void push(struct buf *at, struct span name)
{
        buf_putc(at, CLI_ITEM_MEMBER);
        buf_add(at, name.p, name.n);
}

static void put_object(struct merge *m, const struct json *o, struct buf *at);

/* One member; `v` is NULL if the text does not have it. Nothing is put for one that is not wanted. */
static void put_member(struct merge *m, struct span name, const struct json *v, struct buf *at, bool *any)
{
        size_t n = at->n, end;
        push(at, name);
        if (at->failed)
                return;

        const char *wanted = cli_items_get(m->want, at->p);
        bool deeper = below(m->want, at, &end) < end || below(m->is, at, &end) < end;
        if (wanted || (v && !cli_items_get(m->is, at->p)) || deeper) {
                buf_puts(m->out, *any ? ",\n" : "\n");
                buf_json(m->out, name);
                buf_puts(m->out, ": ");
                *any = true;
                if (wanted)
                        buf_puts(m->out, wanted);
                else if (deeper)
                        put_object(m, v && v->type == JSON_OBJECT ? v : NULL, at);
                else
                        cli_json_put(v, m->out);
        }

        at->p[at->n = n] = '\0';
}

static void put_object(struct merge *m, const struct json *o, struct buf *at)
{
        size_t end;
        bool any = false;
        buf_putc(m->out, '{');
        for (const struct json *v = o ? o->child : NULL; v; v = v->next)
                put_member(m, span_of(v->key, v->key_len), v, at, &any);

        const char *last = "";
        for (size_t i = below(m->want, at, &end); i < end; i++) {
                const char *name = m->want->v[i].key + at->n + 1;
                size_t n = strcspn(name, (char[]){ CLI_ITEM_MEMBER, '\0' });
                bool again = strncmp(last, name, n) == 0 && (!last[n] || last[n] == CLI_ITEM_MEMBER);
                AUTO_BUF(word);
                buf_add(&word, name, n);
                if (!again && !(o && json_get(o, buf_str(&word))))
                        put_member(m, buf_span(&word), NULL, at, &any);
                last = name;
        }

        buf_puts(m->out, any ? "\n}" : "}");
}

void cli_members_merge(const char *path, struct span text, const struct cli_items *is,
                       const struct cli_items *want, struct buf *out)
{
        struct err ignored;
        struct merge m = { is, want, out };
        struct json_doc *d = json_parse_data(path, text, &ignored);
        const struct json *root = d ? json_root(d) : NULL;
        AUTO_BUF(at);
        buf_puts(&at, path);
        put_object(&m, root && root->type == JSON_OBJECT && is_plain(root) ? root : NULL, &at);
        buf_putc(out, '\n');
        out->failed |= at.failed;
        json_free(d);
}

/* ---- TOML, by lines ---- */

static struct span trimmed(const char *line, size_t n)
{
        while (n > 0 && strchr(" \t\r", line[n - 1]))
                n--;
        while (n > 0 && strchr(" \t", *line))
                line++, n--;
        return span_of(line, n);
}

/* "word", 'word', true or 12, and nothing behind it: no text that could go on in the next line. */
static bool is_scalar(struct span v)
{
        if (v.n >= 2 && (v.p[0] == '"' || v.p[0] == '\''))
                return v.p[v.n - 1] == v.p[0] && !memchr(v.p + 1, v.p[0], v.n - 2) && !memchr(v.p, '\\', v.n);
        for (size_t i = 0; i < v.n; i++)
                if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789._-", v.p[i]) || !v.p[i])
                        return false;
        return v.n > 0;
}

/* "name" lists a key at the top, "table/?" any key of a table and those below it, "table/name" that key. */
static bool is_listed(const char *members, struct span table, struct span line)
{
        AUTO_BUF(word);
        const uint8_t *eq = memchr(line.p, '=', line.n);
        struct span key = trimmed((const char *) line.p, eq ? (size_t) (eq - line.p) : 0);
        if (!eq || !is_scalar(key) ||
            !is_scalar(trimmed((const char *) eq + 1, line.n - (size_t) (eq + 1 - line.p))))
                return false;

        size_t top = 0;
        while (top < table.n && table.p[top] != '.')
                top++;
        buf_add(&word, table.p, top);
        buf_puts(&word, table.n ? "/" : "");
        size_t n = word.n;
        buf_add(&word, key.p, key.n);
        if (has_word(members, buf_span(&word)))
                return true;

        if (table.n == 0 || word.failed)
                return false;
        word.p[n] = '?';
        word.n = n + 1;
        return has_word(members, buf_span(&word));
}

/* Does the list have keys of this table? */
static bool is_listed_table(const char *members, struct span table)
{
        struct span rest = span_str(members);
        for (struct span w = str_word(&rest); w.n; w = str_word(&rest)) {
                size_t n = 0;
                while (n < w.n && w.p[n] != '/')
                        n++;
                if (n < w.n && table.n >= n && memcmp(table.p, w.p, n) == 0 &&
                    (table.n == n || table.p[n] == '.'))
                        return true;
        }

        return false;
}

/* The lines that count, each behind the table it is in. */
static void put_rest(const char *members, const char *text, struct buf *out)
{
        struct span table = { (const uint8_t *) "", 0 };
        for (size_t n; *text; text += n + (text[n] == '\n')) {
                n = strcspn(text, "\n");
                struct span line = trimmed(text, n);
                bool heads = line.n >= 2 && line.p[0] == '[';
                bool one = heads && line.p[1] != '[' && line.p[line.n - 1] == ']';
                if (heads)
                        table = one ? span_of(line.p + 1, line.n - 2) : line;
                if (one ? !is_listed_table(members, table)
                        : line.n > 0 && line.p[0] != '#' && !is_listed(members, table, line))
                        buf_printf(out, "[%.*s]%.*s\n", (int) table.n, (const char *) table.p, (int) line.n,
                                   (const char *) line.p);
        }
}

/* False: not a plain file of text. */
static bool rest_of(const struct cli_part *part, const char *value, struct buf *out)
{
        AUTO_BUF(bytes);
        struct cli_file is = { 0 };
        if (!value)
                return true;
        if (cli_file_read(value, &is, &bytes) < 0 || is.linked || is.run ||
            strlen(buf_str(&bytes)) != bytes.n)
                return false;
        put_rest(part->members, buf_str(&bytes), out);
        return !out->failed;
}

bool cli_part_differs(const struct cli_part *part, const char *a, const char *b)
{
        AUTO_BUF(x);
        AUTO_BUF(y);
        if (a && b && strcmp(a, b) == 0)
                return false;
        if (!a && !b)
                return false;
        if (!part || part->kind != PART_SETTINGS)
                return true;
        return !rest_of(part, a, &x) || !rest_of(part, b, &y) || strcmp(buf_str(&x), buf_str(&y)) != 0;
}

/* SPDX-License-Identifier: MIT */
/* policy/read/json_in.c - the JSON form of a policy. Every value is turned into the tokens of the line it
 * stands for and goes through the same handlers, so the two forms cannot drift apart. */
#include "base/json.h"
#include "effect/label/label.h"
#include "policy/internal.h"

#include <stdlib.h>

struct json_in {
        struct policy *p;
        const char *file;
        struct tokens t; /* the line being built */
        struct err *e;
};

static struct source_place place_of(const struct json_in *x, const struct json *v)
{
        return (struct source_place){ .file = x->file, .line = v->line, .column = v->column };
}

static int fail_json(const struct json_in *x, const struct json *v, const char *what)
{
        struct source_place at = place_of(x, v);
        return fail_at(x->e, &at, "%s", what);
}

static int add_token(struct json_in *x, const struct json *at, const char *text, bool quoted)
{
        struct token k = { .text = arena_str(&x->p->mem, text), .at = place_of(x, at), .quoted = quoted };
        return k.text && tokens_add(&x->t, &k) == 0 ? 0 : fail_memory(x->e);
}

/* A keyword, then the value as a token that is never a keyword itself. */
static int add_pair(struct json_in *x, const char *keyword, const struct json *v, const char *text)
{
        return add_token(x, v, keyword, false) < 0 || add_token(x, v, text, true) < 0 ? -1 : 0;
}

static int check_string(struct json_in *x, const struct json *v)
{
        struct lexer lex = { .mem = &x->p->mem, .file = x->file, .e = x->e };
        if (v->type != JSON_STRING)
                return fail_json(x, v, "a string must stand here");
        return lex_check(&lex, span_of(v->str, v->len), place_of(x, v));
}

static int finish_line(struct json_in *x)
{
        int r = words_read(x->p, x->t.v, x->t.n, x->e);
        x->t.n = 0;
        return r;
}

static int each_string(struct json_in *x, const struct json *v,
                       int (*one)(struct json_in *, const struct json *))
{
        if (v->type != JSON_ARRAY)
                return fail_json(x, v, "a list of strings must stand here");
        for (const struct json *s = v->child; s; s = s->next)
                if (check_string(x, s) < 0 || one(x, s) < 0)
                        return -1;
        return 0;
}

/* ---- doors ---- */

static int add_quoted(struct json_in *x, const struct json *v) { return add_token(x, v, v->str, true); }
static int add_cap(struct json_in *x, const struct json *v) { return add_pair(x, "cap", v, v->str); }

/* A bound has a '=' in it, so that the other words cannot be taken for one. */
static int add_bound(struct json_in *x, const struct json *v)
{
        bool body = strcmp(v->str, "in body") == 0;
        if (body || strcmp(v->str, "in query") == 0)
                return add_token(x, v, "in", false) < 0 ? -1
                                                        : add_token(x, v, body ? "body" : "query", false);
        return add_token(x, v, v->str, strcmp(v->str, "only") != 0);
}

/* A clause is words: "by 2 of ops". */
static int add_clause(struct json_in *x, const struct json *v)
{
        struct lexer lex = { .mem = &x->p->mem, .file = x->file, .out = &x->t, .e = x->e };
        return lex_line(&lex, span_of(v->str, v->len), place_of(x, v));
}

/* Not in quotes, so it must be a label: another word would be taken for one of the line's own. */
static int add_label(struct json_in *x, const struct json *v)
{
        struct label ignored = { 0 };
        if (!label_add(&ignored, span_str(v->str)))
                return fail_json(x, v, "`untrusted` or `private:NAME` must stand here");
        return add_token(x, v, v->str, false);
}

static int door_endorse(struct json_in *x, const struct json *v)
{
        if (v->type != JSON_INT)
                return fail_json(x, v, "a number of bits must stand here");
        return add_token(x, v, "endorse", false) < 0 ? -1 : add_token(x, v, v->str, false);
}

static int door_word(struct json_in *x, const struct json *v)
{
        return check_string(x, v) < 0 ? -1 : add_pair(x, v->key, v, v->str);
}

static int door_optional(struct json_in *x, const struct json *v)
{
        if (v->type != JSON_TRUE && v->type != JSON_FALSE)
                return fail_json(x, v, "true or false must stand here");
        x->t.v[1].optional = v->type == JSON_TRUE;
        return 0;
}

static int door_cap(struct json_in *x, const struct json *v)
{
        if (v->type == JSON_ARRAY)
                return each_string(x, v, add_cap);
        return check_string(x, v) < 0 ? -1 : add_cap(x, v);
}

/* The keys of a door in the order in which their tokens follow the door's own; `for_doors` lists the words
 * that take the key. A list (`item`) stands behind its key as a keyword, unless it has none. */
static const struct extra {
        const char *key, *for_doors;
        int (*add)(struct json_in *x, const struct json *v);
        int (*item)(struct json_in *x, const struct json *v);
        bool no_keyword, empty;
} extras[] = {
        { "optional", " read edit write run sock dev ", .add = door_optional },
        { "except", " read edit ", .item = add_quoted, .empty = true },
        { "methods", " net ", .item = add_quoted, .no_keyword = true },
        { "with", " net ", .add = door_word },
        { "cap", " net ", .add = door_cap },
        { "reach", " net ", .add = door_word },
        { "touches", " net ", .item = add_quoted },
        { "where", " net tool ", .item = add_bound },
        { "max", " in out net sign decrypt ", .add = door_word },
        { "as", " in out net ", .add = door_word },
        { "label", " read edit write env net sock listen in ", .item = add_label },
        { "accepts", " net sock listen ", .item = add_label },
        { "declassify", " net ", .item = add_label },
        { "endorse", " out ", .add = door_endorse },
        { "ask", " edit run net sock sign decrypt listen tool ", .item = add_clause, .empty = true },
        { "until", " read edit write run env net sock sign decrypt dev gpu listen tool in out ",
          .add = door_word }, /* last: it ends the line */
};

static int add_extra(struct json_in *x, const struct extra *row, const struct json *v)
{
        if (row->add)
                return row->add(x, v);

        if (v->type == JSON_ARRAY && !v->child && !row->empty)
                return fail_json(x, v, "an empty list is no restriction: leave it away");

        return !row->no_keyword && add_token(x, v, row->key, false) < 0 ? -1 : each_string(x, v, row->item);
}

static int door_kind_of(const char *key)
{
        if (strcmp(key, "gpu") == 0)
                return DOOR_DEV;

        for (int k = DOOR_READ; k < DOOR_KIND__COUNT; k++)
                if (strcmp(policy_door_word((enum door_kind) k), key) == 0)
                        return k;
        return -1;
}

static bool is_extra(const char *key) { return str_row(extras, COUNT(extras), key) >= 0; }

static bool extra_fits(const char *key, const char *word)
{
        for (size_t i = 0; i < COUNT(extras); i++) {
                const char *at = strcmp(extras[i].key, key) == 0 ? strstr(extras[i].for_doors, word) : NULL;
                if (at && at[-1] == ' ' && at[strlen(word)] == ' ')
                        return true;
        }
        return false;
}

static int unknown_key(struct json_in *x, const struct json *v, const void *rows, size_t count, size_t size)
{
        struct source_place at = place_of(x, v);
        (void) fail_at(x->e, &at, "unknown key \"%s\"", show_text(v->key).text);
        hint_nearest_row(x->e, v->key, rows, count, size);
        if (policy_is_word(v->key))
                (void) err_hint(x->e, "doors stand in a list: {\"doors\": [{\"read\": \"/path\"}]}");
        return -1;
}

static int door_keys(struct json_in *x, const struct json *door, const struct json *main)
{
        for (const struct json *v = door->child; v; v = v->next) {
                if (v == main || extra_fits(v->key, main->key))
                        continue;
                if (door_kind_of(v->key) >= 0)
                        return fail_json(x, v, "one object opens one door");
                return unknown_key(x, v, extras, COUNT(extras), sizeof *extras);
        }

        return 0;
}

/* No member is a door's word. The first unknown key is probably a mistyped word. */
static int no_door_word(struct json_in *x, const struct json *door)
{
        const char *words[DOOR_KIND__COUNT - DOOR_READ];
        (void) fail_json(x, door,
                         "a door is an object with one of the words read edit write run env net sock sign "
                         "decrypt dev gpu listen tool in out");
        for (size_t i = 0; i < COUNT(words); i++)
                words[i] = policy_door_word((enum door_kind)(DOOR_READ + i));

        for (const struct json *v = door->type == JSON_OBJECT ? door->child : NULL; v; v = v->next)
                if (!is_extra(v->key)) {
                        hint_nearest(x->e, v->key, words, COUNT(words));
                        break;
                }

        return -1;
}

static int read_door(struct json_in *x, const struct json *door)
{
        const struct json *main = door->type == JSON_OBJECT ? door->child : NULL;
        while (main && door_kind_of(main->key) < 0)
                main = main->next;

        if (!main)
                return no_door_word(x, door);

        if (door_keys(x, door, main) < 0 || check_string(x, main) < 0)
                return -1;

        bool any = strcmp(main->key, "run") == 0 && strcmp(main->str, "any") == 0;
        if (add_token(x, main, main->key, false) < 0 || add_token(x, main, main->str, !any) < 0)
                return -1;

        for (size_t i = 0; i < COUNT(extras); i++) {
                const struct json *v = json_get(door, extras[i].key);
                if (v && add_extra(x, &extras[i], v) < 0)
                        return -1;
        }

        return finish_line(x);
}

/* ---- the other keys ---- */

static int key_doors(struct json_in *x, const struct json *v)
{
        if (v->type != JSON_ARRAY)
                return fail_json(x, v, "a list of doors must stand here");
        for (const struct json *d = v->child; d; d = d->next)
                if (read_door(x, d) < 0)
                        return -1;
        return 0;
}

static int key_text(struct json_in *x, const struct json *v)
{
        return check_string(x, v) < 0 || add_pair(x, v->key, v, v->str) < 0 ? -1 : finish_line(x);
}

/* An empty list means, as `use none`, without even the loader. */
static int key_use(struct json_in *x, const struct json *v)
{
        if (add_token(x, v, "use", false) < 0 || each_string(x, v, add_quoted) < 0)
                return -1;
        if (x->t.n == 1 && add_token(x, v, "none", false) < 0)
                return -1;
        return finish_line(x);
}

/* "3 ask" of `renew` is a value and a keyword. */
static int add_limit(struct json_in *x, const struct json *k)
{
        static const char ask[] = " ask";
        size_t n = strlen(k->str), tail = sizeof ask - 1;
        if (strcmp(k->key, "renew") != 0 || n <= tail || strcmp(k->str + n - tail, ask) != 0)
                return add_pair(x, k->key, k, k->str);

        const char *value = arena_copy(&x->p->mem, span_of(k->str, n - tail));
        if (!value)
                return fail_memory(x->e);

        return add_pair(x, k->key, k, value) < 0 ? -1 : add_token(x, k, ask + 1, false);
}

static int key_limit(struct json_in *x, const struct json *v)
{
        if (v->type != JSON_OBJECT)
                return fail_json(x, v, "an object of limits must stand here");

        for (const struct json *k = v->child; k; k = k->next) {
                if (k->type != JSON_INT && check_string(x, k) < 0)
                        return -1;
                if (add_token(x, k, "limit", false) < 0 || add_limit(x, k) < 0 || finish_line(x) < 0)
                        return -1;
        }

        return 0;
}

/* "without" is read together with "wall", because in a line they are one. */
static int key_wall(struct json_in *x, const struct json *v)
{
        return check_string(x, v) < 0 ? -1 : add_pair(x, "wall", v, v->str);
}

static int key_without(struct json_in *x, const struct json *v)
{
        if (x->t.n == 0)
                return fail_json(x, v, "\"without\" needs \"wall\"");
        if (v->type == JSON_ARRAY && !v->child)
                return 0;
        return add_token(x, v, "without", false) < 0 ? -1 : each_string(x, v, add_quoted);
}

static int key_local(struct json_in *x, const struct json *v)
{
        if (v->type == JSON_ARRAY && !v->child)
                return 0;
        return add_token(x, v, "local", false) < 0 || each_string(x, v, add_quoted) < 0 ? -1 : finish_line(x);
}

/* Each string is the rest of a line. */
static int one_line(struct json_in *x, const struct json *list, const struct json *v)
{
        struct lexer lex = { .mem = &x->p->mem, .file = x->file, .out = &x->t, .e = x->e };
        return add_token(x, v, list->key, false) < 0 ||
                               lex_line(&lex, span_of(v->str, v->len), place_of(x, v)) < 0
                       ? -1
                       : finish_line(x);
}

static int key_lines(struct json_in *x, const struct json *v)
{
        if (v->type != JSON_ARRAY)
                return fail_json(x, v, "a list of strings must stand here");
        for (const struct json *s = v->child; s; s = s->next)
                if (check_string(x, s) < 0 || one_line(x, v, s) < 0)
                        return -1;
        return 0;
}

/* "wall" and "without" come last and next to each other: they share one line. */
static const struct {
        const char *key;
        int (*read)(struct json_in *x, const struct json *v);
} keys[] = {
        { "box", key_text },    { "doc", key_text },    { "root", key_text },   { "use", key_use },
        { "doors", key_doors }, { "limit", key_limit }, { "local", key_local }, { "expect", key_lines },
        { "rule", key_lines },  { "warm", key_lines },  { "wall", key_wall },   { "without", key_without },
};

static int read_root(struct json_in *x, const struct json *root)
{
        for (const struct json *v = root->child; v; v = v->next)
                if (str_row(keys, COUNT(keys), v->key) < 0)
                        return unknown_key(x, v, keys, COUNT(keys), sizeof *keys);

        for (size_t i = 0; i < COUNT(keys); i++) {
                const struct json *v = json_get(root, keys[i].key);
                if (v && keys[i].read(x, v) < 0)
                        return -1;
        }

        return x->t.n > 0 ? finish_line(x) : 0;
}

int json_read_policy(struct policy *p, const char *file, struct span text, struct err *e)
{
        struct json_in x = { .p = p, .file = file, .e = e };
        struct json_doc *d = json_parse(file, text, e);
        if (!d)
                return -1;

        int r = read_root(&x, json_root(d));
        free(x.t.v);
        json_free(d);
        return r;
}

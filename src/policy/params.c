/* SPDX-License-Identifier: MIT */
/* policy/params.c - the parameters of a request, from its query, a form or a JSON object. Read exactly or not
 * at all: what two servers could read in two ways makes the whole unread. Never: repairs, guesses a type. */
#include "base/json.h"
#include "policy/internal.h"

enum { NAME_LONGEST = 1024 };

static void unread(struct params *p, const char *why)
{
        if (!p->unread)
                p->unread = why;
}

static void no_memory(struct params *p)
{
        unread(p, "there is no memory to read it");
        p->failed = true;
}

/* ---- names as careless servers take them ---- */

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static bool all_digits(const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!is_digit((uint8_t) s[i]))
                        return false;
        return true;
}

struct folder {
        char *out;
        size_t n, part; /* part: where the one being written began */
        bool nested;    /* it is not the first */
};

/* An empty part (a[]) and a number (a[0]) only say that there are several. */
static void end_part(struct folder *f)
{
        if (f->nested && all_digits(f->out + f->part, f->n - f->part))
                f->n = f->part;
        if (f->n > f->part) {
                f->out[f->n++] = '.';
                f->part = f->n;
        }
        f->nested = f->n > 0;
}

/* The two characters beyond ASCII whose small letter is in it: the long s and the Kelvin sign. */
static size_t fold_wide(const char *s, char *ret)
{
        if (strncmp(s, "\xc5\xbf", 2) == 0)
                return *ret = 's', 2;
        if (strncmp(s, "\xe2\x84\xaa", 3) == 0)
                return *ret = 'k', 3;
        return *ret = *s, 1;
}

/* Case is nothing to ASP.NET and Go; a space, dot, sign or bracket is '_' or nothing to PHP, '_' and case are
 * one to protobuf, and '_' or '!' before a name mean its default to Spring. */
char *param_fold(struct arena *mem, const char *name)
{
        struct folder f = { .out = arena_alloc(mem, strlen(name) + 2) };
        if (!f.out)
                return NULL;
        while (*name) {
                char c = *name;
                if (c == '.' || c == '[' || c == ']')
                        end_part(&f);
                size_t used = (uint8_t) c < 0x80 ? 1 : fold_wide(name, &c);
                if (c >= 'A' && c <= 'Z')
                        c |= 0x20;
                if ((c >= 'a' && c <= 'z') || is_digit((uint8_t) c) || (uint8_t) c >= 0x80)
                        f.out[f.n++] = c;
                name += used;
        }
        end_part(&f);
        f.out[f.n ? f.n - 1 : 0] = '\0';
        return f.out;
}

bool param_fold_same(const char *a, const char *b)
{
        for (;; a++, b++) {
                a += *a == '.';
                b += *b == '.';
                if (*a != *b)
                        return false;
                if (!*a)
                        return true;
        }
}

bool param_fold_inside(const char *outer, const char *inner)
{
        size_t n = strlen(outer);
        return n > 0 && strncmp(outer, inner, n) == 0 && inner[n] == '.';
}

/* A name has its place in JSON in it: each could be as long as the whole body, and there may be many. */
static struct param *add(struct params *p, struct arena *mem, char *name)
{
        if (p->count == PARAMS_MAX)
                unread(p, "the request has more than 512 parameters");
        else if (strlen(name) > NAME_LONGEST)
                unread(p, "a name is longer than 1024 bytes");
        struct param *x = p->unread ? NULL : arena_alloc(mem, sizeof *x);
        char *fold = x ? param_fold(mem, name) : NULL;
        if (!fold) {
                no_memory(p);
                return NULL;
        }
        *x = (struct param){ .name = name, .fold = fold };
        if (p->last)
                p->last->next = x;
        else
                p->first = x;
        p->last = x;
        p->count++;
        return x;
}

/* ---- a=b&c=d ---- */

/* NULL: it cannot be read, and why is said. */
static char *plain(struct params *p, struct arena *mem, struct span raw)
{
        char *to = arena_alloc(mem, raw.n + 1);
        size_t n = 0;
        for (size_t i = 0; to && i < raw.n; i++) {
                int a = raw.p[i] == '%' && i + 2 < raw.n ? str_hex(raw.p[i + 1]) : -1;
                int b = a >= 0 ? str_hex(raw.p[i + 2]) : -1;
                if (raw.p[i] == '%' && b < 0) {
                        unread(p, "a % is not followed by two hexadecimal digits");
                        return NULL;
                }
                to[n++] = (char) (b >= 0 ? a << 4 | b : raw.p[i] == '+' ? ' ' : raw.p[i]);
                i += b >= 0 ? 2 : 0;
        }
        if (!to)
                no_memory(p);
        else if (!str_is_utf8(span_of(to, n)))
                unread(p, "a name or value is not UTF-8, or holds a NUL");
        return p->unread ? NULL : to;
}

static void add_pair(struct params *p, struct arena *mem, struct span pair, bool in_body)
{
        const uint8_t *equals = memchr(pair.p, '=', pair.n);
        size_t n = equals ? (size_t) (equals - pair.p) : pair.n;
        size_t skip = equals ? n + 1 : n;
        char *name = plain(p, mem, span_of(pair.p, n));
        char *value = name ? plain(p, mem, span_of(pair.p + skip, pair.n - skip)) : NULL;
        struct param *x = value ? add(p, mem, name) : NULL;
        if (!x)
                return;
        x->kind = PARAM_TEXT;
        x->value = value;
        x->in_body = in_body;
}

/* Some servers try JSON first, whatever is said about the body. */
static bool begins_as_json(struct span text)
{
        size_t i = 0;
        while (i < text.n && text.p[i] && strchr(" \t\r\n", text.p[i]))
                i++;
        return i < text.n && (text.p[i] == '{' || text.p[i] == '[');
}

void policy_params_form(struct params *p, struct arena *mem, struct span text, bool in_body)
{
        if (in_body && begins_as_json(text))
                unread(p, "the body is said to be a form, and begins as JSON");
        if (text.n && memchr(text.p, ';', text.n))
                unread(p, "a semicolon parts parameters for some servers, and not for others");
        for (size_t at = 0; at < text.n && !p->unread;) {
                const uint8_t *end = memchr(text.p + at, '&', text.n - at);
                size_t n = end ? (size_t) (end - text.p) - at : text.n - at;
                if (n)
                        add_pair(p, mem, span_of(text.p + at, n), in_body);
                at += n + 1;
        }
}

/* ---- {"a": {"b": 1}} ---- */

static enum param_kind kind_of(const struct json *v)
{
        static const enum param_kind kinds[] = {
                [JSON_NULL] = PARAM_NULL,   [JSON_FALSE] = PARAM_BOOL,    [JSON_TRUE] = PARAM_BOOL,
                [JSON_INT] = PARAM_INT,     [JSON_NUMBER] = PARAM_NUMBER, [JSON_STRING] = PARAM_STRING,
                [JSON_ARRAY] = PARAM_ARRAY, [JSON_OBJECT] = PARAM_OBJECT,
        };
        return kinds[v->type];
}

static const char *text_of(const struct json *v)
{
        return v->str ? v->str : v->type == JSON_TRUE ? "true" : v->type == JSON_FALSE ? "false" : "";
}

static void add_member(struct params *p, struct arena *mem, const struct json *v, char *name, bool odd)
{
        struct param *x = add(p, mem, name);
        char *value = x ? arena_str(mem, text_of(v)) : NULL;
        if (!value) {
                no_memory(p);
                return;
        }
        x->kind = kind_of(v);
        x->value = value;
        x->odd = odd;
        x->in_body = true;
}

/* As deep as the reader lets it be. */
static void add_members(struct params *p, struct arena *mem, const struct json *object, const char *above,
                        bool odd_above)
{
        for (const struct json *v = object->child; v && !p->unread; v = v->next) {
                char *name = above ? arena_printf(mem, "%s.%s", above, v->key) : arena_str(mem, v->key);
                bool odd = odd_above || strpbrk(v->key, ".[]");
                if (name && strlen(name) > NAME_LONGEST)
                        unread(p, "a name is longer than 1024 bytes");
                else if (!name)
                        no_memory(p);
                else if (v->type == JSON_OBJECT && v->child)
                        add_members(p, mem, v, name, odd);
                else
                        add_member(p, mem, v, name, odd);
        }
}

void policy_params_json(struct params *p, struct arena *mem, struct span text)
{
        struct err e = { 0 };
        struct json_doc *d = json_parse("body", text, &e);
        const char *why = d ? NULL : arena_printf(mem, "the body is not one exact JSON object (%s)", e.what);
        if (!d && (!why || e.code == ERR_MEMORY))
                no_memory(p);
        else if (!d)
                unread(p, why);
        else if (json_root(d)->type != JSON_OBJECT)
                unread(p, "the body is JSON, and not an object");
        else
                add_members(p, mem, json_root(d), NULL, false);
        json_free(d);
}

/* SPDX-License-Identifier: MIT */
/* policy/decide/params.c - the parameters of a request, from its query, a form or a JSON object. Parsed
 * exactly or not at all: input that two servers could read differently makes the whole unreadable. Never:
 * repairs, guesses a type. */
#include "base/json.h"
#include "policy/internal.h"

enum { NAME_LONGEST = 1024 };

static void params_unread(struct params *p, const char *why)
{
        if (!p->unread)
                p->unread = why;
}

static void no_memory(struct params *p)
{
        params_unread(p, "out of memory");
        p->failed = true;
}

/* A name includes its path in JSON: each could be as long as the whole body, and there may be many. */
static struct param *add_param(struct params *p, struct arena *mem, char *name)
{
        if (p->count == PARAMS_MAX)
                params_unread(p, "the request has more than 512 parameters");
        else if (strlen(name) > NAME_LONGEST)
                params_unread(p, "a name is longer than 1024 bytes");

        if (p->unread)
                return NULL;

        struct param *x = arena_alloc(mem, sizeof *x);
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

/* NULL: it cannot be read, with the reason set. */
static char *add_plain(struct params *p, struct arena *mem, struct span raw)
{
        char *to = arena_alloc(mem, raw.n + 1);
        size_t n = 0;
        for (size_t i = 0; to && i < raw.n; i++) {
                int a = raw.p[i] == '%' && i + 2 < raw.n ? str_hex(raw.p[i + 1]) : -1;
                int b = a >= 0 ? str_hex(raw.p[i + 2]) : -1;
                if (raw.p[i] == '%' && b < 0) {
                        params_unread(p, "a % is not followed by two hexadecimal digits");
                        return NULL;
                }
                to[n++] = (char) (b >= 0 ? a << 4 | b : raw.p[i] == '+' ? ' ' : raw.p[i]);
                i += b >= 0 ? 2 : 0;
        }

        if (!to)
                no_memory(p);
        else if (!str_is_utf8(span_of(to, n)))
                params_unread(p, "a name or value is not UTF-8, or holds a NUL");

        return p->unread ? NULL : to;
}

static void add_pair(struct params *p, struct arena *mem, struct span pair, bool in_body)
{
        const uint8_t *equals = memchr(pair.p, '=', pair.n);
        size_t n = equals ? (size_t) (equals - pair.p) : pair.n;
        size_t skip = equals ? n + 1 : n;
        char *name = add_plain(p, mem, span_of(pair.p, n));
        char *value = name ? add_plain(p, mem, span_of(pair.p + skip, pair.n - skip)) : NULL;
        if (value && strchr(name, '%'))
                params_unread(p, "a name is escaped twice, and some servers take off both");

        struct param *x = value ? add_param(p, mem, name) : NULL;
        if (!x)
                return;

        x->kind = PARAM_TEXT;
        x->value = value;
        x->in_body = in_body;
}

/* Some servers try JSON first, regardless of the content type, and skip a prefix that no form has: a byte
 * order mark, white space of any kind. */
static bool begins_as_json(struct span text)
{
        size_t i = 0;
        while (i < text.n && (text.p[i] <= ' ' || text.p[i] >= 0x7f))
                i++;
        return i < text.n && (text.p[i] == '{' || text.p[i] == '[');
}

void policy_params_form(struct params *p, struct arena *mem, struct span text, bool in_body)
{
        if (in_body && begins_as_json(text))
                params_unread(p, "the body is said to be a form, and begins as JSON");

        if (text.n && memchr(text.p, ';', text.n))
                params_unread(p, "a semicolon parts parameters for some servers, and not for others");

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

/* Copies no more than a list can permit, and one: the rest is too many in any case. */
static void add_items(struct params *p, struct arena *mem, struct param *x, const struct json *array)
{
        size_t n = 0;
        struct param **end = &x->items;
        for (const struct json *v = array->child; v && n <= BOUND_LIST_MAX; v = v->next, n++) {
                struct param *item = arena_alloc(mem, sizeof *item);
                char *value = item ? arena_str(mem, text_of(v)) : NULL;
                if (!value) {
                        no_memory(p);
                        return;
                }
                *item = (struct param){
                        .name = x->name, .fold = x->fold, .kind = kind_of(v), .value = value, .in_body = true
                };
                *end = item;
                end = &item->next;
        }
}

static void add_member(struct params *p, struct arena *mem, const struct json *v, char *name, bool odd)
{
        struct param *x = add_param(p, mem, name);
        char *value = x ? arena_str(mem, text_of(v)) : NULL;
        if (x && !value)
                no_memory(p);

        if (!value)
                return;

        x->kind = kind_of(v);
        x->value = value;
        x->odd = odd;
        x->in_body = true;
        if (v->type == JSON_ARRAY)
                add_items(p, mem, x, v);
}

/* As deep as the reader allows. */
static void add_members(struct params *p, struct arena *mem, const struct json *object, const char *above,
                        bool odd_above)
{
        for (const struct json *v = object->child; v && !p->unread; v = v->next) {
                char *name = above ? arena_printf(mem, "%s.%s", above, v->key) : arena_str(mem, v->key);
                bool odd = odd_above || strpbrk(v->key, ".[]");
                if (name && strlen(name) > NAME_LONGEST)
                        params_unread(p, "a name is longer than 1024 bytes");
                else if (!name)
                        no_memory(p);
                else if (v->type == JSON_OBJECT && v->child)
                        add_members(p, mem, v, name, odd);
                else
                        add_member(p, mem, v, name, odd);
        }
}

/* As much of an escaped name as fits. */
static char *loose_name(struct arena *mem, struct span raw)
{
        char *to = arena_alloc(mem, raw.n + 1);
        size_t n = 0;
        for (size_t i = 0; to && i < raw.n; i++) {
                int a = raw.p[i] == '%' && i + 2 < raw.n ? str_hex(raw.p[i + 1]) : -1;
                int b = a >= 0 ? str_hex(raw.p[i + 2]) : -1;
                to[n++] = (char) (b >= 0 ? a << 4 | b : raw.p[i]);
                i += b >= 0 ? 2 : 0;
        }

        if (to && str_is_utf8(span_of(to, n)))
                return to;

        size_t kept = 0; /* its ASCII part, up to a NUL: other parsers also end it there */
        for (size_t i = 0; to && i < n && to[i]; i++)
                if ((uint8_t) to[i] < 0x80)
                        to[kept++] = to[i];

        if (to)
                to[kept] = '\0';

        return to;
}

/* A name alone: whatever its value, it is not the one that was checked. */
static void add_shadow(struct params *p, struct arena *mem, struct span raw, bool in_body)
{
        bool counts = raw.n && raw.n <= NAME_LONGEST;
        char *name = counts ? loose_name(mem, raw) : NULL;
        struct param *x = name && name[0] ? add_param(p, mem, name) : NULL;
        char *value = x ? arena_str(mem, "") : NULL;
        if (counts && (!name || (x && !value)))
                no_memory(p);

        if (!value)
                return;

        x->value = value;
        x->odd = x->shadow = true;
        x->in_body = in_body;
}

static void add_shadow_pair(struct params *p, struct arena *mem, struct span pair)
{
        const uint8_t *equals = memchr(pair.p, '=', pair.n);
        add_shadow(p, mem, span_of(pair.p, equals ? (size_t) (equals - pair.p) : 0), true);
}

/* {"x":"&amount=9&"} is a form with an `amount` to servers that take every body for one (Bottle), that
 * match a part of the content type (Perl's CGI, formidable), or that ignore it. No name begins with the
 * '{'. */
static void add_shadows(struct params *p, struct arena *mem, struct span text, size_t begin)
{
        for (size_t i = 0; i < text.n && !p->unread; i++) {
                if (text.p[i] != '&' && text.p[i] != ';')
                        continue;
                if (begin < i)
                        add_shadow_pair(p, mem, span_of(text.p + begin, i - begin));
                begin = i + 1;
        }

        if (begin < text.n && !p->unread)
                add_shadow_pair(p, mem, span_of(text.p + begin, text.n - begin));
}

void policy_params_packed(struct params *p, struct arena *mem, struct span bytes)
{
        add_shadows(p, mem, bytes, 0);
}

void policy_params_json(struct params *p, struct arena *mem, struct span text)
{
        struct err e = { 0 };
        struct json_doc *d = json_parse("body", text, &e);
        const char *why = d ? NULL : arena_printf(mem, "the body is not one exact JSON object (%s)", e.what);
        if (!d && (!why || e.code == ERR_MEMORY))
                no_memory(p);
        else if (!d)
                params_unread(p, why);
        else if (json_root(d)->type != JSON_OBJECT)
                params_unread(p, "the body is JSON, and not an object");
        else
                add_members(p, mem, json_root(d), NULL, false);

        if (!p->unread)
                add_shadows(p, mem, text, text.n);

        json_free(d);
}

/* ---- a=b; c=d ---- */

void policy_params_cookies(struct params *p, struct arena *mem, struct span text)
{
        for (size_t at = 0; at < text.n && !p->unread;) {
                size_t n = 0, named = 0;
                while (at + n < text.n && text.p[at + n] != ';')
                        n++;
                while (named < n && text.p[at + named] != '=')
                        named++;
                add_shadow(p, mem, span_of(text.p + at, named), false);
                at += n + 1;
        }
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/wasm_json.h - reads the JSON that wast2json writes. base/json.h refuses NUL in strings, which
 * names of the suite have. The file is trusted: what is not JSON ends the program. */
#pragma once
#include <stdlib.h>
#include <string.h>

struct node {
        char type; /* { [ " or another character of a bare word */
        const char *key, *str;
        size_t len;
        struct node *child, *next;
};

struct json_in {
        char *p;
};

static void blank(struct json_in *j) { j->p += strspn(j->p, " \t\r\n,:"); }

static char *put_utf8(char *to, unsigned c)
{
        if (c < 0x80) {
                *to++ = (char) c;
        } else if (c < 0x800) {
                *to++ = (char) (0xc0 | c >> 6);
                *to++ = (char) (0x80 | (c & 0x3f));
        } else {
                *to++ = (char) (0xe0 | c >> 12);
                *to++ = (char) (0x80 | (c >> 6 & 0x3f));
                *to++ = (char) (0x80 | (c & 0x3f));
        }
        return to;
}

/* Unescapes in place: the result is never longer. */
static const char *read_string(struct json_in *j, size_t *ret_len)
{
        char *from = ++j->p, *to = from, *start = from;

        while (*from != '"') {
                if (*from != '\\') {
                        *to++ = *from++;
                        continue;
                }
                char c = from[1], hex[5] = { 0 };
                from += 2;
                if (c == 'u') {
                        memcpy(hex, from, 4);
                        to = put_utf8(to, (unsigned) strtoul(hex, NULL, 16));
                        from += 4;
                } else {
                        *to++ = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
                }
        }
        j->p = from + 1;
        *ret_len = (size_t) (to - start);
        *to = '\0';
        return start;
}

static struct node *read_node(struct json_in *j);

static struct node *read_list(struct json_in *j, char end)
{
        struct node *first = NULL, **tail = &first;

        j->p++;
        for (blank(j); *j->p != end; blank(j)) {
                size_t n;
                const char *key = end == '}' ? read_string(j, &n) : NULL;
                blank(j);
                *tail = read_node(j);
                (*tail)->key = key;
                tail = &(*tail)->next;
        }
        j->p++;
        return first;
}

static struct node *read_node(struct json_in *j)
{
        struct node *x = calloc(1, sizeof *x);

        if (!x || !*j->p)
                abort();
        x->type = *j->p;
        if (x->type == '"') {
                x->str = read_string(j, &x->len);
        } else if (x->type == '{' || x->type == '[') {
                x->child = read_list(j, x->type == '{' ? '}' : ']');
        } else {
                x->str = j->p;
                j->p += x->len = strcspn(j->p, ",]} \n");
        }
        return x;
}

static void free_node(struct node *x)
{
        while (x) {
                struct node *next = x->next;
                free_node(x->child);
                free(x);
                x = next;
        }
}

static const struct node *get(const struct node *x, const char *key)
{
        for (x = x ? x->child : NULL; x; x = x->next)
                if (strcmp(x->key, key) == 0)
                        return x;
        return NULL;
}

static const char *text(const struct node *x, const char *key)
{
        x = get(x, key);
        return x && x->str ? x->str : "";
}

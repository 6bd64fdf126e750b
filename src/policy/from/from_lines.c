/* SPDX-License-Identifier: MIT */
/* policy/from/from_lines.c - the doors and notes of a conversion, as the readers say them. */
#include "policy/from/from.h"

#include "base/str.h"
#include "policy/policy.h"

#include <string.h>

struct span from_trim(struct span s)
{
        while (s.n && strchr(" \t\r\n", s.p[0]))
                s = span_of(s.p + 1, s.n - 1);

        while (s.n && strchr(" \t\r\n", s.p[s.n - 1]))
                s.n--;

        return s;
}

bool from_next_line(struct span *text, struct span *ret_line)
{
        if (!text->n)
                return false;

        const uint8_t *end = memchr(text->p, '\n', text->n);
        size_t n = end ? (size_t) (end - text->p) : text->n;

        *ret_line = from_trim(span_of(text->p, n));
        *text = span_of(text->p + n + (end != NULL), text->n - n - (end != NULL));
        return true;
}

struct span from_word(struct span *line, const char *separators)
{
        *line = from_trim(*line);
        size_t n = 0;
        while (n < line->n && !strchr(separators, line->p[n]))
                n++;

        struct span word = span_of(line->p, n);
        size_t skip = n < line->n;
        *line = from_trim(span_of(line->p + n + skip, line->n - n - skip));
        return word;
}

static void add_note(struct from *f, const char *kind, struct span what, const char *why)
{
        char inert[160];
        buf_printf(&f->notes, "# %s: %s: %s\n", kind, str_inert(what, inert, sizeof inert), why);
}

void from_lost(struct from *f, struct span what, const char *why)
{
        add_note(f, "not carried over", what, why);
}

void from_wide(struct from *f, struct span what, const char *why)
{
        add_note(f, "wider than it looks", what, why);
}

/* The beginnings of paths that other tools write, and ours. */
static const struct {
        const char *theirs, *ours;
} roots[] = {
        { "~", "{home}" },
        { "$HOME", "{home}" },
        { "${HOME}", "{home}" },
        { "${localEnv:HOME}", "{home}" },
        { "${localWorkspaceFolder}", "{work}" },
        { "${workspaceFolder}", "{work}" },
        { "$PWD", "{work}" },
        { "${PWD}", "{work}" },
        { "$(pwd)", "{work}" },
        { ".", "{work}" },
};

/* Writes the path as a door line has it, without its end. False: it cannot be one. */
static bool own_path(struct span path, struct buf *out)
{
        if (path.n > 1 && path.p[0] == '/' && path.p[1] == '/') /* Claude Code: absolute */
                path = span_of(path.p + 1, path.n - 1);

        struct span rest = path;
        const char *root = path.n && path.p[0] == '/' ? "" : NULL;
        for (size_t i = 0; !root && i < sizeof roots / sizeof *roots; i++) {
                size_t n = strlen(roots[i].theirs);
                if (span_starts(path, roots[i].theirs) && (path.n == n || path.p[n] == '/')) {
                        root = roots[i].ours;
                        rest = span_of(path.p + n, path.n - n);
                }
        }

        if (!root) { /* relative */
                root = "{work}/";
                if (!path.n || path.p[0] == '$' || path.p[0] == '!')
                        return false;
        }

        buf_puts(out, root);
        buf_add(out, rest.p, rest.n);
        for (size_t n = strlen("/**"); out->n > n && strcmp(out->p + out->n - n, "/**") == 0;)
                out->p[out->n -= n] = '\0';

        while (out->n > 1 && out->p[out->n - 1] == '/')
                out->p[--out->n] = '\0';

        for (size_t i = 0; !out->failed && i < out->n; i++)
                if ((unsigned char) out->p[i] < ' ' || out->p[i] == '*')
                        return false;

        return !out->failed;
}

void from_path(struct from *f, const char *word, struct span path, bool optional)
{
        AUTO_BUF(own);
        if (!own_path(path, &own)) {
                from_lost(f, path, "a door names one file or directory, without patterns");
                return;
        }

        if (strcmp(own.p, "/") == 0) {
                from_wide(f, path,
                          "the whole disk, with every key on it; name the directories that are needed");
                return;
        }

        for (size_t i = 0; i < f->door_count; i++)
                if (strcmp(f->doors[i].path, own.p) == 0) {
                        if (strcmp(word, "edit") == 0) /* the wider of two words */
                                f->doors[i].word = word;
                        return;
                }

        if (f->door_count == FROM_DOORS_MAX) {
                from_lost(f, path, "too many paths");
                return;
        }

        f->doors[f->door_count++] = (struct from_door){ .word = word, .path = own.p, .optional = optional };
        own = (struct buf){ 0 };
}

void from_deny(struct from *f, struct span path)
{
        AUTO_BUF(own);
        if (!own_path(path, &own)) {
                from_lost(f, path, "an exception names one file or directory, without patterns");
                return;
        }

        for (size_t i = 0; i < f->door_count; i++) {
                struct from_door *d = &f->doors[i];
                size_t n = strlen(d->path);
                if (!path_under(own.p, d->path))
                        continue; /* no door shows it */

                if (own.n == n) { /* the door itself */
                        d->word = NULL;
                        continue;
                }

                buf_putc(&d->except, ' ');
                policy_put_token(&d->except, own.p + n + 1);
        }
}

/* A line with a newline before and after it, unless it is there. */
static void add_line(struct from *f, const struct buf *line)
{
        if (!f->lines.n)
                buf_putc(&f->lines, '\n');

        if (!line->failed && !f->lines.failed && !strstr(f->lines.p, line->p))
                buf_puts(&f->lines, line->p + 1);
}

void from_line(struct from *f, const char *word, struct span argument)
{
        AUTO_BUF(text);
        AUTO_BUF(line);
        buf_add(&text, argument.p, argument.n);
        buf_printf(&line, "\n%-6s ", word);
        policy_put_token(&line, buf_str(&text));
        buf_putc(&line, '\n');
        for (size_t i = 0; i < argument.n; i++)
                if (argument.p[i] < ' ') {
                        from_lost(f, argument, "it holds a control character");
                        return;
                }

        add_line(f, &line);
}

/* A name or pattern that needs no quotes, which would take the pattern away. */
static bool is_host(struct span name)
{
        for (size_t i = 0; i < name.n; i++)
                if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-*:", name.p[i]))
                        return false;

        return name.n > 0;
}

void from_host(struct from *f, struct span name)
{
        if (span_is(name, "*")) {
                from_wide(f, name,
                          "every host; name those that are needed, or let `cordon learn --network ask` "
                          "find them");
                return;
        }

        if (!is_host(name)) {
                from_lost(f, name, "not the name of a host");
                return;
        }

        AUTO_BUF(line);
        buf_printf(&line, "\nnet    %.*s%s\n", (int) name.n, (const char *) name.p,
                   memchr(name.p, ':', name.n) ? "" : ":443");
        add_line(f, &line);
}

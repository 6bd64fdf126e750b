/* SPDX-License-Identifier: MIT */
/* policy/read/path.c - paths as written into absolute, lexically clean paths. Existence and symlinks are
 * checked by descriptor when a box starts; nothing here accesses a file system. */
#include "policy/internal.h"

bool path_inside(const char *dir, const char *path) { return path_under(path, dir); }

int path_token(const struct token *t, struct arena *mem, char **ret_raw, bool *ret_optional, struct err *e)
{
        size_t n = strlen(t->text);
        bool optional = t->optional || (!t->quoted && n > 1 && t->text[n - 1] == '?');
        if (n == 0)
                return fail_at(e, &t->at, "empty path");

        if (!t->quoted) {
                char *raw = arena_copy(mem, span_of(t->text, n - optional));
                if (!raw)
                        return fail_memory(e);
                if (strpbrk(raw, "*?")) {
                        (void) fail_at(e, &t->at, "\"%s\" looks like a pattern; paths are literal",
                                       show_text(t->text).text);
                        return err_hint(e, "use the directory: a door covers everything below it; quote a "
                                           "literal * or ?");
                }
                *ret_raw = raw;
        } else {
                *ret_raw = t->text;
        }

        *ret_optional = optional;
        return 0;
}

static const struct {
        const char *name;
        enum { ROOT_WORK, ROOT_HOME, ROOT_TMP } root;
} roots[] = { { "{work}", ROOT_WORK }, { "{home}", ROOT_HOME }, { "{tmp}", ROOT_TMP }, { "~", ROOT_HOME } };

static const char *root_value(const struct scope *s, size_t i)
{
        switch (roots[i].root) {
        case ROOT_WORK:
                return s->ctx->work;
        case ROOT_HOME:
                return s->ctx->home;
        case ROOT_TMP:
                return "/tmp"; /* the box's own, whatever the host has at that path */
        }
        return NULL;
}

/* Which root a path begins with; -1: none. */
static int root_find(const char *raw)
{
        for (size_t i = 0; i < COUNT(roots); i++) {
                size_t n = strlen(roots[i].name);
                if (strncmp(raw, roots[i].name, n) == 0 && (raw[n] == '\0' || raw[n] == '/'))
                        return (int) i;
        }
        return -1;
}

bool path_in_box_tmp(const char *raw)
{
        int i = root_find(raw);
        return i >= 0 && roots[i].root == ROOT_TMP;
}

static int unknown_root(const struct scope *s, const struct source_place *at, const char *raw)
{
        static const char *const names[] = { "{work}", "{home}", "{tmp}" };
        char word[32];
        if (raw[0] == '~') {
                (void) fail_at(s->e, at, "\"%s\": ~ is allowed only alone or before /", show_text(raw).text);
                return err_hint(s->e, "use the whole path, or ./~name for a file of that name");
        }

        size_t n = strcspn(raw, "}");
        (void) fail_at(s->e, at, "unknown placeholder in \"%s\"", show_text(raw).text);
        (void) err_hint(s->e, "use {work}, {home} or {tmp}; ./{name} is a file of that name");
        if (n + 2 < sizeof word) {
                memcpy(word, raw, n);
                memcpy(word + n, "}", 2);
                hint_nearest(s->e, word, names, COUNT(names));
        }

        return -1;
}

/* Resolves `.`, `..` and `//` in place; false when `..` climbs above the root. */
static bool clean_path(char *path)
{
        size_t out = 0;
        for (const char *p = path; *p;) {
                while (*p == '/')
                        p++;
                size_t n = strcspn(p, "/");
                if (n == 2 && p[0] == '.' && p[1] == '.') {
                        if (out == 0)
                                return false;
                        while (path[--out] != '/')
                                ;
                } else if (n > 0 && !(n == 1 && p[0] == '.')) {
                        path[out++] = '/';
                        memmove(path + out, p, n);
                        out += n;
                }
                p += n;
        }

        if (out == 0)
                path[out++] = '/';

        path[out] = '\0';
        return true;
}

static char *join_paths(const struct scope *s, const struct source_place *at, const char *base,
                        const char *rest)
{
        char *p = arena_alloc(s->mem, strlen(base) + strlen(rest) + 2);
        if (!p) {
                (void) fail_memory(s->e);
                return NULL;
        }

        (void) stpcpy(stpcpy(stpcpy(p, base), "/"), rest);
        if (!clean_path(p)) {
                (void) fail_at(s->e, at, "\"%s\" goes above /", show_text(rest).text);
                return NULL;
        }

        if (strlen(p) >= PATH_MAX_BYTES) {
                (void) fail_at(s->e, at, "this path is longer than %d bytes", PATH_MAX_BYTES - 1);
                return NULL;
        }

        return p;
}

char *path_expand(const struct scope *s, const struct source_place *at, const char *raw)
{
        if (raw[0] == '/')
                return join_paths(s, at, "", raw);

        int i = root_find(raw);
        if (i < 0 && (raw[0] == '{' || raw[0] == '~')) {
                (void) unknown_root(s, at, raw);
                return NULL;
        }

        const char *base = i < 0 ? s->ctx->work : root_value(s, (size_t) i);
        if (!base || base[0] != '/') {
                (void) fail_at(s->e, at, "\"%s\" needs %s, which is not known here", show_text(raw).text,
                               i < 0 ? "{work}" : roots[i].name);
                return NULL;
        }

        return join_paths(s, at, base, i < 0 ? raw : raw + strlen(roots[i].name));
}

static bool is_bare(const char *raw) { return !strchr(raw, '/') && raw[0] != '{' && raw[0] != '~'; }

/* A program: a bare name, a path, or a directory when it ends in a slash. */
char *path_program(const struct scope *s, const struct source_place *at, const char *raw)
{
        size_t n = strlen(raw);
        if (is_bare(raw)) {
                if (n > 255) {
                        (void) fail_at(s->e, at, "program name too long (%zu bytes)", n);
                        return NULL;
                }
                if (strcmp(raw, ".") != 0 && strcmp(raw, "..") != 0) {
                        char *bare = arena_str(s->mem, raw);
                        if (!bare)
                                (void) fail_memory(s->e);
                        return bare;
                }
                (void) fail_at(s->e, at, "\"%s\" is not a program", raw);
                (void) err_hint(s->e, "use DIR/ for a directory of programs");
                return NULL;
        }

        char *p = path_expand(s, at, raw);
        if (!p)
                return NULL;

        if (strcmp(p, "/") == 0) {
                (void) fail_at(s->e, at, "`run /` is not allowed");
                (void) err_hint(s->e, "use `run any`");
                return NULL;
        }

        if (raw[n - 1] != '/')
                return p;

        char *tree = arena_alloc(s->mem, strlen(p) + 2);
        if (!tree) {
                (void) fail_memory(s->e);
                return NULL;
        }

        (void) stpcpy(stpcpy(tree, p), "/");
        return tree;
}

/* Values of variables: roots may be anywhere in them ("{tmp}/npm", "{work}/bin:{home}/bin"). An expansion
 * contains a slash, so it can never form a new root with the text around it. */
char *path_roots_in_text(const struct scope *s, const struct source_place *at, const char *text)
{
        AUTO_BUF(out);
        for (const char *p = text; *p;) {
                size_t i = 0;
                while (i < COUNT(roots) &&
                       (roots[i].name[0] != '{' || strncmp(p, roots[i].name, strlen(roots[i].name)) != 0))
                        i++;
                if (i == COUNT(roots)) {
                        buf_putc(&out, *p++);
                        continue;
                }
                const char *value = root_value(s, i);
                if (!value) {
                        (void) fail_at(s->e, at, "%s is not known here", roots[i].name);
                        return NULL;
                }
                buf_puts(&out, value);
                p += strlen(roots[i].name);
        }

        char *copy = out.failed ? NULL : arena_str(s->mem, buf_str(&out));
        if (!copy)
                (void) fail_memory(s->e);

        return copy;
}

bool path_has_part(const char *path, const char *part)
{
        size_t n = strlen(part);
        for (const char *p = path; (p = strchr(p, '/')); p++)
                if (strncmp(p + 1, part, n) == 0 && (p[1 + n] == '\0' || p[1 + n] == '/'))
                        return true;
        return false;
}

bool policy_is_kernels(const char *path)
{
        static const char *const trees[] = { "/proc", "/sys", "/dev", "/boot" };
        bool inside = false;
        for (size_t i = 0; i < COUNT(trees); i++)
                inside |= path_inside(trees[i], path);
        return inside && !path_inside("/dev/shm", path);
}

/* SPDX-License-Identifier: MIT */
/* face/serve/token_file.c - reads tokens and checks them. Never: keeps a token itself. */
#include "face/serve/token_file.h"

#include "base/fd.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/random.h"
#include "base/shell.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const scopes[] = { "run",   "read",  "files",  "apply",      "approve",
                                      "vault", "admin", "policy", "approve-own" };

const char *scope_name(unsigned bit) { return bit < sizeof scopes / sizeof *scopes ? scopes[bit] : NULL; }

unsigned scope_bit(const char *name, size_t n)
{
        unsigned bit = 0;
        while (scope_name(bit) && (strlen(scope_name(bit)) != n || strncmp(scope_name(bit), name, n) != 0))
                bit++;
        return scope_name(bit) ? 1u << bit : 0;
}

void scopes_put(unsigned set, const char *key, struct buf *out)
{
        buf_member_json(out, key, "[");
        for (unsigned bit = 0; scope_name(bit); bit++)
                if (set & 1u << bit)
                        buf_member(out, NULL, scope_name(bit));
        buf_putc(out, ']');
}

bool token_is_name(const char *text)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
        size_t n = strspn(text, letters);
        return n > 0 && n < TOKEN_NAME_MAX && text[n] == '\0' && text[0] != '-' && text[0] != '_';
}

bool token_are_names(const char *text)
{
        char name[TOKEN_NAME_MAX];
        for (const char *p = text;; p++) {
                size_t n = strcspn(p, ",");
                (void) snprintf(name, sizeof name, "%.*s", (int) (n < sizeof name ? n : 0), p);
                if (!token_is_name(name))
                        return false;
                p += n;
                if (!*p)
                        return true;
        }
}

static bool copy_text(const struct json *o, const char *key, char *ret, size_t cap)
{
        const struct json *v = json_get(o, key);
        if (!v || v->type != JSON_STRING || v->len >= cap || strlen(v->str) != v->len)
                return false;
        memcpy(ret, v->str, v->len + 1);
        return true;
}

static bool copy_time(const struct json *o, const char *key, int64_t *ret)
{
        const struct json *v = json_get(o, key);
        if (!v || v->type != JSON_INT)
                return false;
        *ret = v->integer;
        return true;
}

static bool copy_scopes(const struct json *o, unsigned *ret)
{
        const struct json *list = json_get(o, "scopes");
        if (!list || list->type != JSON_ARRAY)
                return false;

        *ret = 0;
        for (const struct json *w = list->child; w; w = w->next) {
                unsigned scope = w->type == JSON_STRING ? scope_bit(w->str, w->len) : 0;
                if (!scope)
                        return false;
                *ret |= scope;
        }

        return true;
}

static bool copy_person(const struct json *o, struct token *t)
{
        bool named = json_get(o, "person") != NULL, grouped = json_get(o, "groups") != NULL;
        return (!named ||
                (copy_text(o, "person", t->person, sizeof t->person) && token_is_name(t->person))) &&
               (!grouped ||
                (copy_text(o, "groups", t->groups, sizeof t->groups) && token_are_names(t->groups)));
}

/* Without one the token opens no tenant. */
static bool copy_mark(const struct json *o, struct token *t)
{
        return !json_get(o, "mark") ||
               (copy_text(o, "mark", t->mark, sizeof t->mark) && strlen(t->mark) == sizeof t->mark - 1);
}

static bool read_line(struct span line, struct token *t)
{
        struct err ignored;
        struct json_doc *d = json_parse("tokens", line, &ignored);
        const struct json *o = d ? json_root(d) : NULL;
        bool good = o && o->type == JSON_OBJECT && copy_text(o, "id", t->id, sizeof t->id) &&
                    copy_text(o, "tenant", t->tenant, sizeof t->tenant) &&
                    copy_text(o, "sha256", t->digest, sizeof t->digest) && strlen(t->digest) == 64 &&
                    copy_scopes(o, &t->scopes) && copy_time(o, "created", &t->created) &&
                    copy_time(o, "expires", &t->expires) && copy_person(o, t) && copy_mark(o, t) &&
                    (t->tenant[0] == '\0' ? t->scopes == SCOPE_ADMIN
                                          : token_is_name(t->tenant) && !(t->scopes & SCOPE_ADMIN));
        json_free(d);
        return good;
}

int tokens_read(struct span text, struct tokens *ret, struct err *e)
{
        struct tokens t = { 0 };
        size_t lines = 0;
        for (size_t i = 0; i < text.n; i++)
                lines += text.p[i] == '\n';

        t.v = calloc(lines + 1, sizeof *t.v);
        if (!t.v)
                return err_set(e, ERR_MEMORY, 0, "no memory for the tokens");

        for (size_t at = 0; at < text.n;) {
                const uint8_t *end = memchr(text.p + at, '\n', text.n - at);
                size_t n = end ? (size_t) (end - text.p) - at : text.n - at;
                if (!end || t.n >= TOKENS_MAX || !read_line(span_of(text.p + at, n), &t.v[t.n])) {
                        tokens_done(&t);
                        return err_set(e, ERR_USAGE, 0, "line %zu of the file `tokens` is not a token",
                                       t.n + 1);
                }
                t.n++;
                at += n + 1;
        }

        *ret = t;
        return 0;
}

void tokens_done(struct tokens *t)
{
        free(t->v);
        *t = (struct tokens){ 0 };
}

const struct token *tokens_check(const struct tokens *t, const char *text, int64_t now)
{
        const struct token *found = NULL;
        char digest[65];
        sha256_hex(span_str(text), digest);
        for (size_t i = 0; i < t->n; i++)
                if (random_is(t->v[i].digest, digest) && t->v[i].expires > now)
                        found = &t->v[i];
        return found;
}

void names_each(int dir, const char *below, const char *ending, void (*each)(void *ctx, const char *name),
                void *ctx)
{
        int fd = fd_open2(dir, below, O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        for (struct dirent *x; d && (x = readdir(d));) {
                size_t n = strlen(x->d_name), end = strlen(ending);
                if (n < end || strcmp(x->d_name + n - end, ending) != 0)
                        continue;
                x->d_name[n - end] = '\0';
                if (token_is_name(x->d_name))
                        each(ctx, x->d_name);
        }
        if (d)
                (void) closedir(d);
}

int tokens_load(int dir, struct tokens *ret, struct err *e)
{
        AUTO_FD(fd, fd_open2(dir, "tokens", O_RDONLY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
        if (fd < 0 && errno == ENOENT) {
                *ret = (struct tokens){ 0 };
                return 0;
        }

        char *text = fd < 0 ? NULL : malloc(TOKEN_FILE_MAX);
        ssize_t n = text ? fd_read_all(fd, text, TOKEN_FILE_MAX) : -1;
        int r = n < 0 || n == TOKEN_FILE_MAX
                        ? err_set(e, ERR_IO, errno, "the file `tokens` cannot be read: %s", strerror(errno))
                        : tokens_read(span_of(text, (size_t) n), ret, e);
        free(text);
        return r;
}

int serve_hint(struct err *e, const char *config, const char *command)
{
        AUTO_BUF(path);
        buf_shell(&path, config);
        bool fits = strlen(command) + path.n + sizeof " --config " <= sizeof e->hint;
        return err_hint(e, "%s%s%s", command, fits ? " --config " : "", fits ? buf_str(&path) : "");
}

int serve_config_open(const char *path, bool make, struct err *e)
{
        struct stat st;
        if (make && (fd_make_parents(AT_FDCWD, path) < 0 || (mkdir(path, 0700) < 0 && errno != EEXIST)))
                return err_set(e, ERR_IO, errno, "%s: %s", path, strerror(errno));

        AUTO_FD(fd, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (fd < 0 && errno == ENOENT) {
                (void) err_set(e, ERR_USAGE, ENOENT, "%s does not exist", path);
                return serve_hint(e, path, "cordon serve tenant new NAME");
        }

        if (fd < 0 || fstat(fd, &st) < 0)
                return err_set(e, ERR_IO, errno, "%s: %s", path, strerror(errno));

        if (st.st_uid != geteuid() || (st.st_mode & 077)) {
                (void) err_set(e, ERR_USAGE, 0, "%s: others may enter it, or own it", path);
                return err_hint(e, "chmod 700 %s", path);
        }

        return TAKE_FD(fd);
}

/* SPDX-License-Identifier: MIT */
/* run/api/policy.c - cordon_policy_*: files and roots from the host around the pure policy language. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

cordon_context *cordon_context_new(char *const *environment)
{
        cordon_context *cx = calloc(1, sizeof *cx);
        if (cx)
                *cx = (cordon_context){ .environment = environment, .settled = api_work_settled };

        return cx;
}

void cordon_context_tenant(cordon_context *cx, const cordon_tenant *t)
{
        static const char use[] = "cordon cache key 1";
        struct sha256 s;
        sha256_init(&s);
        sha256_add(&s, use, sizeof use);
        sha256_add(&s, t->secret, sizeof t->secret);
        sha256_end_hex(&s, cx->tenant.tag);
        cx->tenant.id_first = t->first_id;
        cx->tenant.id_count = t->id_count;
        cx->tenant.own_core = t->own_core != 0;
        (void) snprintf(cx->tenant.name, sizeof cx->tenant.name, "%s", t->name ? t->name : "");
}

void cordon_context_actor(cordon_context *cx, const char *actor)
{
        (void) snprintf(cx->actor, sizeof cx->actor, "%s", actor);
}

void cordon_context_free(cordon_context *cx) { free(cx); }

cordon_policy *cordon_policy_new(const cordon_context *cx)
{
        cordon_policy *p = calloc(1, sizeof *p);
        if (p && !(p->lines = policy_new())) {
                free(p);
                return NULL;
        }

        if (p)
                p->cx = cx;

        return p;
}

void api_policy_changed(cordon_policy *p)
{
        api_schemas_drop(p);
        policy_checked_free(p->checked);
        p->checked = NULL;
}

void cordon_policy_free(cordon_policy *p)
{
        if (!p)
                return;

        api_policy_changed(p);
        policy_places_free(p->places);
        free(p->stock);
        policy_free(p->lines);
        for (unsigned i = 0; i < p->rule_count; i++)
                free(p->rules[i]);

        free(p);
}

int cordon_policy_is_word(const char *word) { return policy_is_word(word); }

/* To show them: a variable's value may be a secret. */
static void note_option(cordon_policy *p, const char *word, const char *arg)
{
        size_t n = strlen(p->typed);
        int shown = (int) (strcmp(word, "env") == 0 ? strcspn(arg, "=") : strnlen(arg, sizeof p->typed));
        (void) snprintf(p->typed + n, sizeof p->typed - n, "%s--%s %.*s", n ? " " : "", word, shown, arg);
}

int cordon_policy_add(cordon_policy *p, const char *word, const char *arg, cordon_error *e)
{
        api_policy_changed(p);
        note_option(p, word, arg);
        return policy_add_flag(p->lines, word, arg, to_err(e));
}

int cordon_policy_any_tool(cordon_policy *p, cordon_error *e)
{
        return p->from_file || policy_names_tool(p->lines) ? 0 : cordon_policy_add(p, "tool", "any", e);
}

int cordon_policy_add_text(cordon_policy *p, const char *name, const char *text, size_t len, cordon_error *e)
{
        api_policy_changed(p);
        if (policy_add_text(p->lines, name, span_of(text, len), to_err(e)) < 0)
                return -1; /* taken whole or not at all: the implicit doors stay as well */
        p->from_file = true;
        return 0;
}

int cordon_policy_add_file(cordon_policy *p, const char *path, cordon_error *e)
{
        size_t n = 0;
        char *text = api_slurp(path, &n, to_err(e));
        if (!text)
                return -1;

        int r = cordon_policy_add_text(p, path, text, n, e);
        free(text);
        api_rules_come_from(p, path);
        return r;
}

/* Whole or not at all: the beginning of a path is another directory, and its doors would be wider. */
static int set_root(char root[ROOT_MAX], const char *path)
{
        size_t n = strlen(path);
        if (n >= ROOT_MAX)
                return -1;
        memcpy(root, path, n + 1);
        return 0;
}

int cordon_policy_roots(cordon_policy *p, const char *work, const char *home, cordon_error *e)
{
        api_policy_changed(p);
        if ((work && work[0] != '/') || (home && home[0] != '/'))
                return err_set(to_err(e), ERR_USAGE, 0, "{work} and {home} must be absolute paths");

        if ((work && set_root(p->work, work) < 0) || (home && set_root(p->home, home) < 0))
                return err_set(to_err(e), ERR_USAGE, ENAMETOOLONG,
                               "{work} and {home} are paths, and no path is so long");

        return 0;
}

int api_stock_set(cordon_policy *p, const char *stock)
{
        free(p->stock);
        p->stock = strdup(stock);
        return p->stock ? 0 : -1;
}

int api_roots(cordon_policy *p, struct err *e)
{
        const char *next = "go to another (`cd /`), or say which one {work} is: --work DIR";
        if (!p->work[0] && !getcwd(p->work, sizeof p->work)) {
                (void) err_set(e, ERR_USAGE, errno, "the working directory cannot be named: %s",
                               strerror(errno));
                return err_hint(e, "%s", next);
        }

        if (p->work[0] != '/') { /* "(unreachable)...": a directory outside our own root */
                (void) err_set(e, ERR_USAGE, 0, "the working directory is not reachable from the root");
                return err_hint(e, "%s", next);
        }

        const char *home = context_path(p->cx, "HOME");
        if (!p->home[0] && set_root(p->home, home ? home : "/root") < 0)
                return err_set(e, ERR_USAGE, ENAMETOOLONG, "HOME is a path, and no path is so long");

        return 0;
}

/* Own policies of `use NAME`: $XDG_CONFIG_HOME/cordon/NAME.cordon. Never one from the working directory: a
 * tree that a box can write must not choose its own doors. The text lives in `ctx` until the check is done.
 */
struct used_texts {
        char *text[16];
        unsigned count;
        cordon_policy *by;
};

static int load_used(void *ctx, const char *name, struct span *ret, struct err *e)
{
        struct used_texts *u = ctx;
        char config[PATH_MAX], path[PATH_MAX];
        if (strstr(name, "..") || name[0] == '/' || u->count == sizeof u->text / sizeof *u->text ||
            api_config_path(u->by, config, sizeof config) < 0 ||
            (size_t) snprintf(path, sizeof path, "%s/%s.cordon", config, name) >= sizeof path)
                return err_set(e, ERR_POLICY, 0, "`use %s`: no such policy", name);

        size_t n = 0;
        char *text = api_slurp(path, &n, e);
        if (!text)
                return -1;

        u->text[u->count++] = text;
        api_rules_come_from(u->by, path);
        *ret = span_of(text, n);
        return 0;
}

static const char *variable_of(const void *ctx, const char *name)
{
        const cordon_policy *p = ctx;
        return context_get(p->cx, name);
}

struct policy_context api_context(const cordon_policy *p)
{
        return (struct policy_context){ .work = p->work,
                                        .home = p->home,
                                        .now = clock_wall_s(),
                                        .variable = variable_of,
                                        .variable_ctx = p,
                                        .hold_writes = p->hold_writes,
                                        .default_system = !p->from_file };
}

struct workspace {
        const char *path;
        int fd; /* opened on first use */
};

/* One call for a door that does not lead out, as on most starts; symlinks are followed only if it fails. */
static bool leads_out(void *ctx, const char *path, char *ret, size_t cap)
{
        struct workspace *w = ctx;
        char work[PATH_MAX], to[PATH_MAX];
        size_t n = strlen(w->path);
        if (strlen(path) <= n) /* the workspace itself */
                return false;

        const char *below = path + n + strspn(path + n, "/");
        if (w->fd < 0)
                w->fd = open(w->path, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (w->fd < 0 || *below == '\0')
                return false;

        AUTO_FD(fd, fd_open2(w->fd, below, O_PATH, RESOLVE_BENEATH));
        bool unsure = errno == EXDEV || errno == ENOSYS || errno == EAGAIN;
        if (fd >= 0 || !unsure || !realpath(w->path, work) || !realpath(path, to) || path_under(to, work))
                return false;

        (void) snprintf(ret, cap, "%s", to);
        return true;
}

/* A user's edit door is an overlay in a user namespace, which maps one user and one group; behind a write
 * door the host decides. Root's doors are id-mapped, and files of other users belong to nobody in both. */
static bool is_foreign(enum door_kind kind, const char *path, char *ret, size_t cap)
{
        struct stat st;
        if ((kind == DOOR_WRITE && geteuid() != 0) || stat(path, &st) < 0 ||
            (st.st_uid == geteuid() && (geteuid() == 0 || st.st_gid == getegid())))
                return false;
        (void) snprintf(ret, cap, "%u:%u", (unsigned) st.st_uid, (unsigned) st.st_gid);
        return true;
}

struct checked_policy *api_check_at(cordon_policy *p, int64_t now, struct err *e)
{
        if (api_roots(p, e) < 0)
                return NULL;

        struct used_texts u = { .by = p };
        struct policy_context c = api_context(p);
        c.now = now;
        c.load = load_used;
        c.load_ctx = &u;
        struct workspace w = { p->work, -1 };
        c.leads_out = leads_out;
        c.leads_ctx = &w;
        c.foreign = is_foreign;
        c.rules_below = api_rules_below;
        c.rules_ctx = p;
        struct checked_policy *checked = policy_check(p->lines, &c, e);
        fd_close(&w.fd);
        for (unsigned i = 0; i < u.count; i++)
                free(u.text[i]);

        return checked;
}

int cordon_policy_check(cordon_policy *p, cordon_error *e)
{
        if (p->checked)
                return 0;

        p->checked = api_check_at(p, clock_wall_s(), to_err(e));
        if (p->checked && p->stock)
                policy_mark_stock(p->checked, p->stock);

        if (p->checked && (api_schemas(p, to_err(e)) < 0 ||
                           (p->has_stage && policy_label_places(p->checked, &p->staged, to_err(e)) < 0))) {
                policy_checked_free(p->checked);
                p->checked = NULL;
        }
        return p->checked ? 0 : -1;
}

int cordon_policy_opens(cordon_policy *p, const char *word, cordon_error *e)
{
        size_t n;
        int count = 0;
        if (cordon_policy_check(p, e) < 0)
                return -1;

        const struct door *doors = policy_doors(p->checked, &n);
        for (size_t i = 0; i < n; i++) {
                bool named = doors[i].kind == DOOR_RUN && !strchr("/*", doors[i].path[0]);
                count += strcmp(policy_door_word(doors[i].kind), word) == 0 && !doors[i].optional && !named;
        }

        return count;
}

int cordon_policy_handle(cordon_policy *p, const char *name, cordon_error *e)
{
        if (cordon_policy_check(p, e) < 0)
                return -1;

        for (const struct door *d = NULL; (d = policy_door_next(p->checked, d));)
                if ((d->kind == DOOR_IN || d->kind == DOOR_OUT) && !policy_is_stream(name) &&
                    strcmp(d->name, name) == 0)
                        return d->kind == DOOR_IN ? 1 : 2;

        return 0;
}

int cordon_policy_note(cordon_policy *p, size_t index, cordon_note *ret, cordon_error *e)
{
        size_t n;
        if (cordon_policy_check(p, e) < 0)
                return -1;

        const struct policy_note *t = policy_notes(p->checked, &n);
        if (index >= n)
                return 0;

        *ret = (cordon_note){ .code = t[index].code,
                              .level = t[index].level,
                              .file = t[index].at.file,
                              .line = t[index].at.line,
                              .column = t[index].at.column,
                              .text = t[index].text };

        return 1;
}

const char *cordon_stock_text(const char *name) { return policy_stock_text(name); }

const char *cordon_stock_name(size_t index)
{
        size_t n;
        const char *const *names = policy_stock_names(&n);
        return index < n ? names[index] : NULL;
}

int cordon_limit_help(size_t index, const char **name, char ret_default[32])
{
        if (index >= LIMIT_KEY__COUNT)
                return 0;
        *name = policy_limit_name((enum limit_key) index);
        policy_limit_default((enum limit_key) index, ret_default);
        return 1;
}

int cordon_word_help(size_t index, const char **word, const char **synopsis, const char **help)
{
        size_t n;
        const struct policy_word_help *w = policy_words(&n);
        if (index >= n)
                return 0;

        *word = policy_word_flag(w[index].word);
        *synopsis = w[index].synopsis;
        *help = w[index].help;
        return 1;
}

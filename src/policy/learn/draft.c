/* SPDX-License-Identifier: MIT */
/* policy/learn/draft.c - turns the accesses that were seen into the lines of a policy. */
#include "policy/learn/internal.h"
#include "policy/policy.h"

#include <stdio.h>

enum {
        PROGRAMS_MOST =
                24, /* with more programs, or more system paths, the stock policy is the better line */
        SYSTEM_MOST = 6,
        EXPECTS_MOST = 40,
        EXCEPTS_BYTES = POLICY_MAX_LINE - 256 /* of a line: `until` and a comment follow */
};

static const char *const groups[] = { "base/system", "base/build", "base/git", "base/node", "base/python3" };
enum { SYSTEM, BUILD };

struct shape { /* the input of the lines */
        const struct learn *l;
        uint64_t mask;
        uint64_t group[COUNT(groups)]; /* the runs that need it; 0: none */
        uint64_t gpu;                  /* the runs that opened a node of a GPU */
        struct nodes programs, reads, system, edits;
};

static void use_group(struct shape *s, const char *name, uint64_t runs)
{
        for (size_t i = 0; i < COUNT(groups); i++)
                if (strcmp(groups[i], name) == 0)
                        s->group[i] |= runs;
}

static enum learn_look path_kind(const struct learn *l, const char *path)
{
        return l->c.look ? l->c.look(l->c.look_ctx, path) : LEARN_FILE;
}

/* /usr/share/perl of /usr/share/perl/5.36/strict.pm. */
static void add_system(struct shape *s, const char *path, uint64_t runs)
{
        const char *end = path;
        for (int i = 0; i < 3 && end; i++)
                end = strchr(end + 1, '/');
        char *dir = end ? arena_copy(&s->system.mem, span_of(path, (size_t) (end - path))) : NULL;
        nodes_add(&s->system, dir ? dir : path, runs, dir || path_kind(s->l, path) == LEARN_DIRECTORY);
}

static void add_read(struct shape *s, const struct item *it, uint64_t runs)
{
        const char *path = it->a.path, *group = group_of_path(path);
        if (!it->a.on_host)
                return;

        bool directory = path_kind(s->l, path) == LEARN_DIRECTORY;
        if (directory && (it->narrowed || !fold_may_open(&s->l->c, path)))
                return; /* only passed on the way to an entry, or too much to show */

        if (group)
                use_group(s, group, runs);
        else if (group_is_system(path))
                add_system(s, path, runs);
        else
                nodes_add(&s->reads, path, runs, directory);
}

/* A file is written by way of its directory: programs write beside it and rename. */
static void add_edit(struct shape *s, const struct item *it, uint64_t runs)
{
        char *dir = arena_str(&s->edits.mem, it->a.path);
        while (dir && strcmp(dir, "/") != 0 && path_kind(s->l, dir) != LEARN_DIRECTORY)
                dir = fold_parent(&s->edits.mem, dir);
        if (dir && fold_may_open(&s->l->c, dir))
                nodes_add(&s->edits, dir, runs, true);
}

/* A shell that searches a name tries /usr/bin before /bin; a program that opens /bin directly has that
 * path written in it, and `run sh` puts no /bin/sh there. */
static bool is_typed(const struct learn *l, const char *path)
{
        size_t n = strlen(path);
        if (strncmp(path, "/bin/", 5) != 0 && strncmp(path, "/sbin/", 6) != 0)
                return false;

        for (size_t i = 0; i < l->n; i++) {
                const char *other = l->v[i].a.path;
                if (l->v[i].a.kind == EFFECT_RUN && strlen(other) == n + 4 &&
                    strncmp(other, "/usr", 4) == 0 && strcmp(other + 4, path) == 0)
                        return false;
        }

        return true;
}

static void add_program(struct shape *s, const struct item *it, uint64_t runs)
{
        const char *group = group_of_program(it->a.path), *bare = group_bare_name(it->a.path);
        if (!it->a.on_host || path_kind(s->l, it->a.path) == LEARN_DIRECTORY)
                return;

        if (group)
                use_group(s, group, runs);

        if (!group || !group_is_system(it->a.path)) /* a user's own python3 is not the system's */
                nodes_add(&s->programs, bare && !is_typed(s->l, it->a.path) ? bare : it->a.path, runs, false);
}

/* An edit door cannot hide entries in it: one over a denied path is not opened. */
static void drop_showing_edits(struct shape *s)
{
        for (size_t i = 0; i < s->edits.n;) {
                bool shows = false;
                for (size_t k = 0; k < s->l->n; k++)
                        shows |= s->l->v[k].sensitive && !s->l->v[k].behind &&
                                 s->l->v[k].a.kind == EFFECT_READ &&
                                 fold_inside(s->edits.v[i].path, s->l->v[k].a.path);
                if (shows)
                        s->edits.v[i] = s->edits.v[--s->edits.n];
                else
                        i++;
        }
}

static uint64_t all_runs(const struct nodes *s)
{
        uint64_t m = 0;
        for (size_t i = 0; i < s->n; i++)
                m |= s->v[i].runs;
        return m;
}

/* With all program files open, single ones need no line. */
static void drop_system(struct shape *s)
{
        s->system.n = 0;
        for (size_t i = 0; i < s->programs.n;)
                if (s->programs.v[i].path[0] != '/' || group_is_system(s->programs.v[i].path))
                        s->programs.v[i] = s->programs.v[--s->programs.n];
                else
                        i++;

        for (size_t i = 0; i < COUNT(groups); i++)
                if (i != SYSTEM && (i != BUILD || s->group[SYSTEM]))
                        s->group[i] = 0;
}

static void gather_paths(struct shape *s)
{
        const struct learn *l = s->l;
        for (size_t i = 0; i < l->n; i++) {
                const struct item *it = &l->v[i];
                uint64_t runs = it->runs & s->mask;
                if (!runs || it->sensitive)
                        continue;
                if (effect_kind_has_path(it->a.kind) && policy_gpu_covers("/dev/gpu", it->a.path))
                        s->gpu |= it->a.on_host ? runs : 0;
                else if (it->a.kind == EFFECT_READ)
                        add_read(s, it, runs);
                else if (it->a.kind == EFFECT_WRITE)
                        add_edit(s, it, runs);
                else if (it->a.kind == EFFECT_RUN)
                        add_program(s, it, runs);
        }

        if (l->c.entry && group_of_program(l->c.entry))
                use_group(s, group_of_program(l->c.entry), s->mask);

        fold_nodes(&l->c, &s->reads);
        struct learn_context plain = l->c; /* system program directories hold no secrets */
        plain.secrets = NULL;
        fold_nodes(&plain, &s->system);
        fold_nodes(&l->c, &s->edits);
        drop_showing_edits(s);
        if (s->programs.n > PROGRAMS_MOST || s->system.n > SYSTEM_MOST)
                s->group[SYSTEM] |= all_runs(&s->programs) | all_runs(&s->system);

        if (s->group[SYSTEM] || s->group[BUILD])
                drop_system(s);
}

/* ---- lines ---- */

static bool covered_by_edit(const struct shape *s, const char *path)
{
        for (size_t i = 0; i < s->edits.n; i++)
                if (fold_inside(s->edits.v[i].path, path))
                        return true;
        return false;
}

struct excepts {
        struct buf *out;
        struct nodes named; /* no name twice */
};

/* Unless it lies below another already. The length of a line is limited. */
static void except_it(void *to, const char *below)
{
        struct excepts *x = to;
        AUTO_BUF(token);
        if (learn_has_odd_bytes(below))
                return;

        for (size_t i = 0; i < x->named.n; i++)
                if (fold_inside(x->named.v[i].path, below))
                        return;

        policy_put_token(&token, below);
        x->out->failed |= token.failed;
        if (x->out->n + token.n > EXCEPTS_BYTES)
                return;

        buf_printf(x->out, "%s%s", x->named.n ? " " : " except ", buf_str(&token));
        nodes_add(&x->named, below, 0, false);
}

/* The exceptions of a directory that is opened: paths that were denied for good, and the usual paths of
 * tokens, even if not requested. The learned program may request them once the directory is open. */
static void add_excepts(const struct shape *s, const char *dir, struct buf *out)
{
        static const char *const names[] = { ".env", ".npmrc", ".netrc", ".pypirc", ".git-credentials",
                                             ".ssh", ".aws" };
        struct excepts x = { .out = out };
        for (size_t i = 0; i < s->l->n; i++) {
                const struct item *it = &s->l->v[i];
                if (!it->sensitive || it->odd || it->behind || it->a.kind != EFFECT_READ || !it->a.on_host ||
                    strcmp(it->a.path, dir) == 0 || !fold_inside(dir, it->a.path))
                        continue;
                except_it(&x, it->a.path + strlen(dir) + 1);
        }

        for (size_t i = 0; i < COUNT(names); i++) {
                AUTO_BUF(path);
                buf_printf(&path, "%s/%s", dir, names[i]);
                out->failed |= path.failed;
                if (path_kind(s->l, buf_str(&path)) != LEARN_NOTHING)
                        except_it(&x, names[i]);
        }

        if (s->l->c.secrets && !s->l->c.secrets(s->l->c.look_ctx, dir, except_it, &x))
                out->failed = true;

        out->failed |= nodes_done(&x.named);
}

static void path_lines(const struct shape *s, struct learn_draft *d, const char *word, const struct nodes *v)
{
        bool reading = strcmp(word, "read") == 0;
        for (size_t i = 0; i < v->n; i++) {
                AUTO_BUF(text);
                if (reading && s->l->c.edits && covered_by_edit(s, v->v[i].path))
                        continue;
                buf_printf(&text, "%s ", word);
                line_path(&s->l->c, v->v[i].path, &text);
                if (reading && v->v[i].directory && !group_is_system(v->v[i].path))
                        add_excepts(s, v->v[i].path, &text);
                d->failed |= text.failed;
                line_seen(s->l, s->mask, d, line_add(d, true, "%s", buf_str(&text)), v->v[i].runs);
        }
}

static bool in_private_place(const char *path)
{
        static const char *const trees[] = { "/tmp", "/var/tmp", "/dev", "/proc", "/home/box" };
        for (size_t i = 0; i < COUNT(trees); i++)
                if (fold_inside(trees[i], path))
                        return true;
        return false;
}

/* The `expect` line for it; false: no line can hold it. */
static bool put_expected(const struct learn *l, const struct item *it, struct buf *out)
{
        static const char *const words[] = {
                [EFFECT_READ] = "read", [EFFECT_WRITE] = "write", [EFFECT_RUN] = "run"
        };

        if (it->odd || it->behind) /* the target of a symlink has its own line */
                return false;

        if (it->a.kind == EFFECT_NET) {
                buf_puts(out, "net ");
                return net_effect(it, out);
        }

        bool file = it->a.kind == EFFECT_READ || it->a.kind == EFFECT_WRITE || it->a.kind == EFFECT_RUN;
        if (!file || in_private_place(it->a.path) || group_is_system(it->a.path))
                return false;

        buf_printf(out, "%s ", words[it->a.kind]);
        line_path(&l->c, it->a.path, out);
        return true;
}

static bool reaches_host(const struct learn *l, const char *host)
{
        for (size_t i = 0; i < l->n; i++)
                if (l->v[i].a.kind == EFFECT_NET && net_has_host(&l->v[i], host))
                        return true;
        return false;
}

static void expect_lines(const struct shape *s, struct learn_draft *d)
{
        const struct learn *l = s->l;
        size_t n = 0;
        (void) line_add(d, false, "expect deny read {home}/.ssh/id_ed25519");
        if (!reaches_host(l, "example.com"))
                (void) line_add(d, false, "expect deny net GET https://example.com/");

        for (size_t i = 0; i < l->n && n < EXPECTS_MOST; i++) {
                const struct item *it = &l->v[i];
                AUTO_BUF(text);
                bool line_for_it = it->sensitive && put_expected(l, it, &text);
                d->failed |= text.failed;
                if (!line_for_it)
                        continue;
                struct learn_line *line = line_add(d, false, "expect deny %s", buf_str(&text));
                if (line && it->a.program[0])
                        line_comment(d, line, "tried by %s: %s", it->a.program,
                                     effect_reason_name(it->sensitive));
                n++;
        }
}

void learn_draft(const struct learn *l, uint64_t mask, struct learn_draft *ret_draft)
{
        struct shape s = { .l = l, .mask = mask, .gpu = l->c.gpu ? mask : 0 };
        struct learn_draft *d = ret_draft;
        gather_paths(&s);
        (void) line_add(d, false, "# Learned from %u %s of: %s", bits(mask), bits(mask) == 1 ? "run" : "runs",
                        l->c.command);
        (void) line_add(d, false, "box %s", l->c.name);
        (void) line_add(d, false, "doc \"Learned from %s; describe its purpose here.\"", l->c.name);
        for (size_t i = 0; i < COUNT(groups); i++)
                if (s.group[i])
                        line_seen(l, mask, d, line_add(d, true, "use %s", groups[i]), s.group[i]);

        path_lines(&s, d, "run", &s.programs);
        path_lines(&s, d, "read", &s.system);
        path_lines(&s, d, "read", &s.reads);
        if (l->c.edits)
                path_lines(&s, d, "edit", &s.edits);

        if (s.gpu || l->c.gpu)
                line_seen(l, mask, d, line_add(d, true, "gpu"), s.gpu);

        if (l->c.nets)
                net_lines(l, mask, d);

        expect_lines(&s, d);
        d->failed |= l->failed || l->mem.failed;
        d->failed |= nodes_done(&s.programs);
        d->failed |= nodes_done(&s.reads);
        d->failed |= nodes_done(&s.system);
        d->failed |= nodes_done(&s.edits);
}

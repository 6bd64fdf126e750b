/* SPDX-License-Identifier: MIT */
/* tests/unit/test_plan_common.h - what the plan tests share: a host that is a table, and a plan made on it
 * from the text of a policy. Nothing here looks at the real host. */
#pragma once
#include "test_policy_common.h"
#include "wall/plan/plan.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct {
        const char *path;
        enum seen_kind kind;
        const char *link;
} fake_paths[] = {
        { "/usr", SEEN_DIR, NULL },
        { "/usr/lib64", SEEN_DIR, NULL },
        { "/usr/share", SEEN_DIR, NULL },
        { "/usr/share/zoneinfo", SEEN_DIR, NULL },
        { "/bin", SEEN_DIR, "usr/bin" },
        { "/lib", SEEN_DIR, "usr/lib" },
        { "/lib64", SEEN_DIR, "usr/lib64" },
        { "/lib64/ld-linux-x86-64.so.2", SEEN_FILE, "../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" },
        { "/lib64/own", SEEN_DIR, NULL },
        { "/etc", SEEN_DIR, NULL },
        { "/etc/localtime", SEEN_FILE, "/usr/share/zoneinfo/UTC" },
        { "/d", SEEN_DIR, NULL },
        { "/d/sub", SEEN_DIR, NULL },
        { "/d/sub/deep", SEEN_DIR, NULL },
        { "/d/file", SEEN_FILE, NULL },
        { "/d/up", SEEN_DIR, "../e" },
        { "/d-e", SEEN_DIR, NULL },
        { "/e", SEEN_DIR, NULL },
        { "/file", SEEN_FILE, NULL },
        { "/s.sock", SEEN_SOCKET, NULL },
        { "/odd", SEEN_OTHER, NULL },
        { "/to-d", SEEN_DIR, "d" },
        { "/up", SEEN_DIR, "../d" },
        { "/var/tmp", SEEN_DIR, NULL },
        { "/var/tmp/x", SEEN_DIR, NULL },
        { "/opt/tool", SEEN_DIR, NULL },
        { "/w/proj", SEEN_DIR, NULL },
        { "/w/proj/lib", SEEN_DIR, NULL },
        { "/w/proj/run", SEEN_FILE, NULL },
        { "/etc/own", SEEN_DIR, NULL },
        { "/etc/one", SEEN_FILE, NULL },
        { "/c", SEEN_DIR, NULL },
        { "/c/one", SEEN_FILE, NULL },
        { "/c/two", SEEN_FILE, NULL },
        { "/tmp/one", SEEN_FILE, NULL },
};

static const struct {
        const char *name; /* as a `run` line or a command has it */
        const char *path, *real;
} fake_programs[] = {
        { "awk", "/usr/bin/awk", "/usr/bin/mawk" },
        { "cat", "/usr/bin/cat", "/usr/bin/cat" },
        { "/file", "/file", "/file" },
        { "/opt/tool/", "/opt/tool", "/opt/tool" },
        { "/w/proj/run", "/w/proj/run", "/w/proj/run" },
        { "/d/file", "/d/file", "/d/file" },
        { "/d/sub/", "/d/sub", "/d/sub" },
        { "/d/", "/d", "/d" },
};

enum { FAKE_DEV = 7, FAKE_INO = 100, FAKE_PROGRAM_INO = 500, SCENE_DOORS = 320 };

struct scene {
        struct checked_policy *c;
        struct plan_request r; /* change before scene_plan(): it fills in only what is empty */
        struct plan_seen seen[SCENE_DOORS];
        struct plan_program found[SCENE_DOORS];
        struct err e;
        struct plan *p;
};

/* Files of the caller's own, as run/api/look.c says. */
static inline bool path_is_copyable(const char *path)
{
        size_t n = strlen(path);
        return strncmp(path, "/c/", 3) == 0 || (n > 4 && strcmp(path + n - 4, "/one") == 0);
}

static inline struct plan_seen fake_look(const char *path)
{
        for (size_t i = 0; path && i < COUNT(fake_paths); i++)
                if (strcmp(fake_paths[i].path, path) == 0)
                        return (struct plan_seen){ .kind = fake_paths[i].kind,
                                                   .dev = FAKE_DEV,
                                                   .ino = FAKE_INO + i,
                                                   .copyable = path_is_copyable(path),
                                                   .bytes = 1000,
                                                   .link = fake_paths[i].link };
        return (struct plan_seen){ 0 };
}

static inline struct plan_program fake_find(const char *name)
{
        for (size_t i = 0; name && i < COUNT(fake_programs); i++)
                if (strcmp(fake_programs[i].name, name) == 0)
                        return (struct plan_program){ fake_programs[i].path, fake_programs[i].real, FAKE_DEV,
                                                      FAKE_PROGRAM_INO + i, 1 };
        return (struct plan_program){ 0 };
}

/* As run/api/look.c does it, on the table above. */
static inline void scene_look(struct scene *s)
{
        size_t n;
        const struct door *doors = policy_doors(s->c, &n);
        CHECK(n <= SCENE_DOORS);
        for (size_t i = 0; i < n && i < SCENE_DOORS; i++) {
                if (doors[i].kind != DOOR_RUN) {
                        s->seen[i] = fake_look(doors[i].path);
                        continue;
                }
                s->found[i] = fake_find(doors[i].path);
                size_t k = strlen(doors[i].path);
                if (s->found[i].path)
                        s->seen[i].kind = doors[i].path[k - 1] == '/' ? SEEN_DIR : SEEN_FILE;
        }
        s->r.seen = s->seen;
        s->r.found = s->found;
        const char *name = s->r.argv[0];
        if (!name)
                return;
        s->r.entry = fake_find(name);
        s->r.entry_searched = strchr(name, '/') == NULL;
}

/* The plan, or NULL and s->e. The command is one that is not on the fake host, unless s->r has another. */
static inline struct plan *scene_check(struct scene *s, const struct policy *lines)
{
        static const char *const nothing[] = { "no-such-program", NULL };
        s->e = (struct err){ 0 };
        s->c = policy_check(lines, &fixed_context, &s->e);
        if (!s->c) {
                printf("# does not hold: %s\n", s->e.what);
                test_failures++;
                return NULL;
        }
        if (!s->r.argv)
                s->r.argv = nothing;
        if (s->r.wall == WALL_AUTO)
                s->r.wall = WALL_NAMESPACE;
        if (!s->r.cwd)
                s->r.cwd = "/nowhere";
        scene_look(s);
        s->p = plan_make(s->c, &s->r, &s->e);
        return s->p;
}

static inline struct plan *scene_plan(struct scene *s, const char *text)
{
        struct policy *lines = policy_new();
        if (policy_add_text(lines, "t", span_str(text), &s->e) < 0) {
                printf("# does not load: %s\n", s->e.what);
                test_failures++;
        }
        struct plan *p = scene_check(s, lines);
        policy_free(lines);
        return p;
}

static inline void scene_done(struct scene *s)
{
        plan_free(s->p);
        policy_checked_free(s->c);
}

#define SCENE(name) __attribute__((cleanup(scene_done))) struct scene name = { 0 }

/* The plan must be there, else the case is over. */
#define MUST_PLAN(s, text)                                                                                   \
        do {                                                                                                 \
                if (!scene_plan(&(s), text)) {                                                               \
                        printf("# %s:%d: no plan: %s\n", __FILE__, __LINE__, (s).e.what);                    \
                        test_failures++;                                                                     \
                        return;                                                                              \
                }                                                                                            \
        } while (0)

/* The plan must be refused so. `hint` may be NULL: not looked at. */
static inline void refused(struct scene *s, const char *text, enum err_code code, const char *what,
                           const char *hint)
{
        struct plan *p = scene_plan(s, text);
        if (p)
                printf("# planned, but must not be: %s\n", text);
        CHECK(!p);
        CHECK_INT(s->e.code, code);
        CHECK_STR(s->e.what, what);
        if (hint)
                CHECK_STR(s->e.hint, hint);
}

static inline const struct plan_step *find_step(const struct plan *p, enum step_kind kind, const char *path)
{
        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == kind && strcmp(p->steps[i].path, path) == 0)
                        return &p->steps[i];
        return NULL;
}

static inline size_t count_steps(const struct plan *p, enum step_kind kind)
{
        size_t n = 0;
        for (size_t i = 0; i < p->step_count; i++)
                n += p->steps[i].kind == kind;
        return n;
}

/* Flags of the bind at `path`; -1: none. */
static inline int bind_flags(const struct plan *p, const char *path)
{
        const struct plan_step *s = find_step(p, STEP_BIND, path);
        return s ? (int) s->flags : -1;
}

/* Rights that the rule for exactly `path` hands to what lies in it at the start; -1: no rule. */
static inline int entries(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->rule_count; i++)
                if (strcmp(p->rules[i].path, path) == 0)
                        return (int) p->rules[i].entries;
        return -1;
}
/* Rights of the rule for exactly `path`; -1: none. */
static inline int rights(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->rule_count; i++)
                if (strcmp(p->rules[i].path, path) == 0)
                        return (int) p->rules[i].rights;
        return -1;
}

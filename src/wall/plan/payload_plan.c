/* SPDX-License-Identifier: MIT */
/* wall/plan/payload_plan.c - the payload's arguments, variables, working directory and handles. */
#include "base/limits.h"
#include "base/trust.h"
#include "wall/plan/internal.h"

#include <ctype.h>
#include <string.h>

static size_t count_words(const char *const *v)
{
        size_t n = 0;
        while (v && v[n])
                n++;
        return n;
}

static int build_argv(struct builder *b, struct err *e)
{
        size_t n = count_words(b->r->argv);
        if (n == 0 || b->r->argv[0][0] == '\0')
                return err_set(e, ERR_USAGE, 0, "no command to run");

        if (n > ARGV_MAX)
                return err_set(e, ERR_USAGE, 0, "the command has %zu arguments; %d is the most", n, ARGV_MAX);

        const char **v = arena_alloc(b->a, (n + 1) * sizeof *v);
        for (size_t i = 0; v && i < n; i++)
                v[i] = arena_str(b->a, b->r->argv[i]);

        b->o->argv = b->o->launch = v;
        return 0;
}

/* The value of a variable that the policy or the image sets; NULL: neither does. */
static const char *value_of(const struct builder *b, const char *name)
{
        size_t n = strlen(name);
        const char *const *image = b->r->image ? b->r->image->env : NULL;
        for (size_t i = 0; i < b->door_count; i++)
                if (b->doors[i].kind == DOOR_ENV && b->doors[i].value && strcmp(b->doors[i].name, name) == 0)
                        return b->doors[i].value;

        for (; image && *image; image++)
                if (strncmp(*image, name, n) == 0 && (*image)[n] == '=')
                        return *image + n + 1;

        return NULL;
}

/* argv[0] as a path, or one path per directory of the box's PATH, as execvp tries them. */
static void build_exec(struct builder *b)
{
        const char *name = b->r->argv[0];
        const char **v = arena_alloc(b->a, 16 * sizeof *v);
        if (!v)
                return;

        size_t n = 0;
        if (!b->r->entry_searched) {
                v[n++] = arena_str(b->a, b->r->entry.path ? b->r->entry.path : name);
        } else {
                const char *own = b->r->image ? value_of(b, "PATH") : NULL, *at = own ? own : BOX_PATH;
                while (*at && n < 15) {
                        size_t k = strcspn(at, ":");
                        if (at[0] == '/')
                                v[n++] = arena_printf(b->a, "%.*s/%s", (int) k, at, name);
                        at += k + (at[k] == ':');
                }
        }

        b->o->exec = v;
}

static bool is_visible(const struct builder *b, const char *path)
{
        for (size_t i = 0; i < b->door_count; i++) {
                enum door_kind k = b->doors[i].kind;
                if ((k == DOOR_READ || k == DOOR_EDIT || k == DOOR_WRITE) && b->r->seen[i].kind == SEEN_DIR &&
                    path_under(path, b->doors[i].path))
                        return true;
        }

        return false;
}

/* Above a door: an empty directory on the way to it. Relative paths that the caller typed then keep their
 * meaning. */
static bool leads_to_door(const struct builder *b, const char *path)
{
        for (size_t i = 0; i < b->door_count; i++) {
                enum door_kind k = b->doors[i].kind;
                if ((k == DOOR_READ || k == DOOR_EDIT || k == DOOR_WRITE) && !b->doors[i].from_stock &&
                    b->r->seen[i].kind != SEEN_NOTHING && path_under(b->doors[i].path, path))
                        return true;
        }

        return false;
}

/* The same directory by the name that a door has: "$PWD" is a path through symlinks, the kernel's own,
 * which we get, is resolved. NULL: no door. */
static const char *cwd_by_link(struct builder *b, const char *cwd)
{
        for (size_t i = 0; i < b->door_count; i++) {
                const char *path = b->doors[i].path, *real = b->r->seen[i].real;
                if (!door_is_of_files(&b->doors[i]) || !real)
                        continue;
                if (b->r->seen[i].kind == SEEN_DIR && path_under(cwd, real))
                        return arena_printf(b->a, "%s%s", path, cwd + strlen(real));
                const char *rest = path_under(real, cwd) ? real + strlen(cwd) : "";
                size_t n = strlen(path), k = strlen(rest);
                if (k > 0 && n > k && strcmp(path + n - k, rest) == 0)
                        return arena_printf(b->a, "%.*s", (int) (n - k), path);
        }

        return NULL;
}

static void build_cwd(struct builder *b)
{
        const char *named;
        const char *fallback = wall_has(b->p->wall, WALL_OWN_ROOT) ? BOX_HOME : "/";
        if (b->r->image && b->r->image->cwd)
                fallback = arena_str(b->a, b->r->image->cwd);

        if (b->r->cwd && !b->r->cwd_asked && !b->r->image)
                b->o->cwd_outside = arena_str(b->a, b->r->cwd);

        if (b->r->cwd_asked)
                b->o->cwd = arena_str(b->a, b->r->cwd_asked);
        else if (b->r->cwd && (is_visible(b, b->r->cwd) || leads_to_door(b, b->r->cwd)))
                b->o->cwd = arena_str(b->a, b->r->cwd);
        else if (b->r->cwd && (named = cwd_by_link(b, b->r->cwd)))
                b->o->cwd = named;
        else if (b->r->cwd && b->r->cwd_made && wall_has(b->p->wall, WALL_OWN_ROOT)) {
                b->o->cwd = arena_str(b->a, b->r->cwd);
                if (strcmp(b->r->cwd, "/") != 0) /* which exists */
                        (void) build_step(b, STEP_FILE, arena_printf(b->a, "%s/.cordon", b->r->cwd), "", 0);
        } else
                b->o->cwd = fallback;
}

static bool has_variable(const char **envp, size_t n, const char *name)
{
        size_t k = strlen(name);
        for (size_t i = 0; i < n; i++)
                if (strncmp(envp[i], name, k) == 0 && envp[i][k] == '=')
                        return true;
        return false;
}

/* CORDON_IN_NAME=/dev/fd/N: the name in upper case, with `_` for invalid characters. */
static char *handle_variable(struct builder *b, const struct door *d)
{
        char *v = arena_printf(b->a, "CORDON_%s_%s", d->kind == DOOR_OUT ? "OUT" : "IN", d->name);
        for (char *c = v; c && *c; c++)
                *c = *c == '-' || *c == '.' ? '_' : (char) toupper((unsigned char) *c);
        return v;
}

/* The variable's name alone identifies a handle. */
static bool has_handle(const struct plan *p, const char *name)
{
        for (size_t i = 0; i < p->handle_count; i++)
                if (strcmp(p->handles[i].name, name) == 0)
                        return true;
        return false;
}

static int add_handles(struct builder *b, const char **envp, size_t *n, struct err *e)
{
        struct plan *p = b->p;
        p->handles = arena_alloc(b->a, HANDLES_MAX * sizeof *p->handles);
        for (size_t i = 0; p->handles && i < b->door_count; i++) {
                const struct door *d = &b->doors[i];
                if ((d->kind != DOOR_IN && d->kind != DOOR_OUT) || policy_is_stream(d->name))
                        continue;
                if (p->handle_count == HANDLES_MAX)
                        return err_set(e, ERR_POLICY, 0, "more than %d handles", HANDLES_MAX);
                const char *name = handle_variable(b, d);
                if (!name)
                        return 0; /* reported at the end */
                if (has_variable(envp, *n, name)) {
                        (void) err_set(e, ERR_POLICY, 0, "two lines would both set %s", name);
                        return err_hint(e, "give the handle %s another name", d->name);
                }
                if (has_handle(p, d->name)) {
                        (void) err_set(e, ERR_POLICY, 0, "`in %s` and `out %s` have one name", d->name,
                                       d->name);
                        return err_hint(e, "rename one of them: --handle could not distinguish them");
                }
                envp[(*n)++] = arena_printf(b->a, "%s=/dev/fd/%zu", name, 3 + p->handle_count);
                p->handles[p->handle_count++] =
                        (struct plan_handle){ arena_str(b->a, d->name), d->kind == DOOR_OUT, d->max, d->type,
                                              false };
                if (b->a->failed)
                        return 0;
        }

        return 0;
}

/* The variables for additional roots of each program; a variable that the policy sets stays. node has the
 * public ones built in and reads the file at every start, so it only gets an authority of the box's own. */
static void add_trust(struct builder *b, const char **v, size_t *n)
{
        for (size_t i = 0; i < sizeof trust_variables / sizeof *trust_variables; i++) {
                const char *name = trust_variables[i];
                bool needless = !b->p->authority && strcmp(name, "NODE_EXTRA_CA_CERTS") == 0;
                if (!needless && !has_variable(v, *n, name))
                        v[(*n)++] = arena_printf(b->a, "%s=" BOX_TRUST, name);
                if (b->a->failed)
                        return;
        }
}

/* Does the box see a repository? A repository that it does not see must not show in its variables. */
bool build_sees_repository(const struct builder *b)
{
        for (size_t i = 0; i < b->door_count; i++)
                if (b->r->seen[i].repository)
                        return true;
        return b->r->cwd_repository && is_visible(b, b->r->cwd);
}

static void set_git(struct builder *b, const char **v, size_t *n, unsigned *settings, const char *key,
                    const char *value)
{
        v[(*n)++] = arena_printf(b->a, "GIT_CONFIG_KEY_%u=%s", *settings, key);
        v[(*n)++] = arena_printf(b->a, "GIT_CONFIG_VALUE_%u=%s", *settings, value);
        (*settings)++;
}

/* url.file://DOOR.insteadOf: git decodes what follows file://. */
static const char *git_url_key(struct builder *b, const char *path)
{
        char *key = arena_alloc(b->a, 3 * strlen(path) + sizeof "url.file://.insteadOf"), *to = key;
        if (!key)
                return NULL;

        to = stpcpy(to, "url.file://");
        for (const char *at = path; *at; at++)
                if (*at == '%')
                        to = stpcpy(to, "%25");
                else
                        *to++ = *at;

        (void) memcpy(to, ".insteadOf", sizeof ".insteadOf");
        return key;
}

/* `git clone` of a path links the objects and then checks that the hard link has the inode number that it
 * saw before. Behind an edit door it differs: overlayfs finds the origin of a hard link by a file handle,
 * which needs a capability that no user namespace gives. By file:// git fetches a pack from itself, and
 * links nothing; for that it starts programs, so a box that lists its programs is left as it is. */
static void add_git_clones(struct builder *b, const char **v, size_t *n, unsigned *settings)
{
        for (size_t i = 0; i < b->door_count && b->run_any && !b->a->failed; i++) {
                if (b->doors[i].kind != DOOR_EDIT || b->r->seen[i].kind != SEEN_DIR)
                        continue;
                const char *key = git_url_key(b, b->doors[i].path);
                if (key)
                        set_git(b, v, n, settings, key, b->doors[i].path);
        }
}

/* git treats a file as changed if its owner differs from the index, and then reads it completely. In a box
 * every owner differs, because it has its own ids: size and mtime must do. */
static void add_git(struct builder *b, const char **v, size_t *n)
{
        unsigned settings = 0;
        if (b->a->failed || !wall_has(b->p->wall, WALL_OWN_ROOT) || has_variable(v, *n, "GIT_CONFIG_COUNT"))
                return;

        if (build_sees_repository(b))
                set_git(b, v, n, &settings, "core.checkStat", "minimal");

        add_git_clones(b, v, n, &settings);
        if (settings)
                v[(*n)++] = arena_printf(b->a, "GIT_CONFIG_COUNT=%u", settings);
}

/* The image's are defaults: a variable that the policy sets or passes stays. */
static void add_image_variables(struct builder *b, const char **v, size_t *n)
{
        const char *const *image = b->r->image ? b->r->image->env : NULL;
        for (; image && *image; image++) {
                const char *name = arena_printf(b->scratch, "%.*s", (int) strcspn(*image, "="), *image);
                const char *both = arena_str(b->a, *image);
                if (name && both && !has_variable(v, *n, name))
                        v[(*n)++] = both;
        }
}

bool build_uses_agent(const struct builder *b, const char *mark)
{
        for (size_t i = 0; i < b->door_count; i++)
                if ((b->doors[i].kind == DOOR_SIGN || b->doors[i].kind == DOOR_DECRYPT) &&
                    strncmp(b->doors[i].name, mark, strlen(mark)) == 0)
                        return true;
        return false;
}

/* The variables by which programs find a socket of the session, by the socket's name. */
static const char *session_variable(struct builder *b, const char *path, const char **ret_name)
{
        static const char x11[] = "/tmp/.X11-unix/X", pulse[] = "/pulse/native";
        const char *last = strrchr(path, '/') + 1;
        size_t n = strlen(path);
        if (strncmp(path, x11, strlen(x11)) == 0) {
                *ret_name = "DISPLAY";
                return arena_printf(b->a, "DISPLAY=:%s", path + strlen(x11));
        }
        if (strncmp(last, "wayland-", 8) == 0) {
                *ret_name = "WAYLAND_DISPLAY";
                return arena_printf(b->a, "WAYLAND_DISPLAY=%s", path);
        }
        if (n > strlen(pulse) && strcmp(path + n - strlen(pulse), pulse) == 0) {
                *ret_name = "PULSE_SERVER";
                return arena_printf(b->a, "PULSE_SERVER=unix:%s", path);
        }
        if (strncmp(last, "pipewire-", 9) == 0) {
                *ret_name = "PIPEWIRE_REMOTE";
                return arena_printf(b->a, "PIPEWIRE_REMOTE=%s", path);
        }
        return NULL;
}

/* Sockets that programs find by a variable. One that the policy sets stays. */
static void add_sockets(struct builder *b, const char **v, size_t *n)
{
        if (build_uses_agent(b, "ssh:") && !has_variable(v, *n, "SSH_AUTH_SOCK"))
                v[(*n)++] = "SSH_AUTH_SOCK=" BOX_SSH_AGENT;

        for (size_t i = 0; i < b->door_count && !b->a->failed; i++) {
                const char *name = NULL;
                const char *one = b->doors[i].kind == DOOR_SOCK && b->r->seen[i].kind == SEEN_SOCKET
                                          ? session_variable(b, b->doors[i].path, &name)
                                          : NULL;
                if (one && !has_variable(v, *n, name))
                        v[(*n)++] = one;
        }
}

/* Where ld.so does not look by itself: the driver's libraries that a `gpu` door shows. */
static void add_gpu(const struct builder *b, const char **v, size_t *n)
{
        for (size_t i = 0; i < b->door_count && !b->r->image; i++)
                for (size_t k = 0; k < b->r->seen[i].node_count; k++)
                        if (strcmp(b->r->seen[i].nodes[k].path, POLICY_GPU_LIBRARIES) == 0 &&
                            !has_variable(v, *n, "LD_LIBRARY_PATH"))
                                v[(*n)++] = "LD_LIBRARY_PATH=" POLICY_GPU_LIBRARIES;
}

/* Only variables that the policy names, then the five that every program of the host expects. */
static int build_env(struct builder *b, struct err *e)
{
        const char *const *image = b->r->image ? b->r->image->env : NULL;
        const char **v = arena_alloc(b->a, (2 * b->door_count + count_words(b->r->passed) +
                                            count_words(image) + HANDLES_MAX + 24) *
                                                   sizeof *v);
        if (!v)
                return 0; /* reported at the end */

        size_t n = 0;
        for (size_t i = 0; i < b->door_count; i++)
                if (b->doors[i].kind == DOOR_ENV && b->doors[i].value)
                        v[n++] = arena_printf(b->a, "%s=%s", b->doors[i].name, b->doors[i].value);

        for (const char *const *x = b->r->passed; x && *x; x++)
                v[n++] = arena_str(b->a, *x);

        if (b->a->failed)
                return 0;

        add_image_variables(b, v, &n);
        bool own = wall_has(b->p->wall, WALL_OWN_ROOT);
        const char *const defaults[][2] = {
                { "PATH", "PATH=" BOX_PATH },
                { "HOME", own ? "HOME=" BOX_HOME : "HOME=" BOX_NO_HOME },
                { "TMPDIR", own ? NULL : "TMPDIR=" BOX_NO_HOME "/tmp" },
                { "LANG", "LANG=C.UTF-8" },
                { "USER", "USER=" BOX_USER },
                { "TERM", b->r->tty && b->r->term ? arena_printf(b->a, "TERM=%s", b->r->term) : "TERM=dumb" },
        };

        bool programs = wall_has(b->p->wall, WALL_PROGRAMS); /* a module gets those of the policy alone */
        for (size_t i = 0; programs && i < sizeof defaults / sizeof *defaults; i++)
                if (defaults[i][1] && !has_variable(v, n, defaults[i][0]))
                        v[n++] = defaults[i][1];

        if (b->p->net)
                add_trust(b, v, &n);

        if (programs) {
                add_sockets(b, v, &n);
                add_git(b, v, &n);
                add_gpu(b, v, &n);
        }
        if (b->a->failed)
                return 0; /* reported at the end */

        if (add_handles(b, v, &n, e) < 0)
                return -1;

        v[n] = NULL;
        b->o->envp = v;
        return 0;
}

/* Files with a run's own placeholders are not part of the box. */
static void build_files(struct builder *b)
{
        size_t n = wall_has(b->p->wall, WALL_OWN_ROOT) ? b->r->file_count : 0;
        b->o->files = arena_alloc(b->a, n * sizeof *b->o->files);
        for (size_t i = 0; b->o->files && i < n; i++)
                b->o->files[b->o->file_count++] =
                        (struct plan_step){ .kind = STEP_FILE,
                                            .flags = STEP_PRIVATE,
                                            .path = arena_str(b->a, b->r->files[i].path),
                                            .text = arena_str(b->a, b->r->files[i].text) };
}

int build_payload(struct builder *b, struct err *e)
{
        if (build_argv(b, e) < 0)
                return -1;
        build_exec(b);
        build_cwd(b);
        build_files(b);
        if (build_env(b, e) < 0)
                return -1;

        build_warm(b);
        return wall_has(b->p->wall, WALL_PROGRAMS) ? 0 : build_launch(b, e);
}

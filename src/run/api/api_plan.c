/* SPDX-License-Identifier: MIT */
/* run/api/api_plan.c - policy + facts of the host -> plan, for one wall. */
#include "base/fd.h"
#include "base/host/host.h"
#include "base/store/store.h"
#include "base/str.h"
#include "broker/vault/vault.h"
#include "run/api/canaries.h"
#include "run/api/code_store.h"
#include "run/api/forms.h"
#include "run/api/internal.h"
#include "run/pool/pool.h"
#include "wall/wall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void free_variables(const char **v)
{
        for (const char **x = v; x && *x; x++)
                free((char *) (uintptr_t) *x);
        free(v);
}

/* A door that covers the state directory needs it to exist: a directory that is created later would show
 * through. */
struct state_names {
        char named[STORE_PATH_MAX];
        char real[PATH_MAX];
        char key[VAULT_KEY_PATH], key_real[PATH_MAX];
        char config[PATH_MAX], config_real[PATH_MAX];
        char place[PATH_MAX], place_real[PATH_MAX];
        char work[WORK_PLACE_MAX]; /* overlays, if not in the state directory */
};

static bool door_covers(const struct door *d, const char *path)
{
        return d->path && !d->from_stock && path_under(path, d->path);
}

static bool has_own_doors(const struct door *doors, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (doors[i].path && !doors[i].from_stock && strchr(doors[i].path, '/'))
                        return true;
        return false;
}

/* By its name, by a symlink's target, or as a directory of programs. */
static bool any_covers(const struct door *doors, size_t n, const struct plan_request *r, const char *path,
                       const char *real)
{
        for (size_t i = 0; i < n; i++) {
                const char *end = doors[i].kind == DOOR_RUN ? r->found[i].real : r->seen[i].real;
                if (door_covers(&doors[i], path) || (end && path_under(real, end)))
                        return true;
        }
        return false;
}

/* Whether it exists. If not, its future path: the symlinks on the path exist already. */
static bool path_resolves(const char *named, char ret[static PATH_MAX])
{
        char up[PATH_MAX];
        for (size_t n = strlen(named), whole = n; n > 0; n = str_parent(named, n)) {
                (void) snprintf(up, sizeof up, "%.*s", (int) n, named);
                if (!realpath(up, ret))
                        continue;
                size_t len = strlen(ret);
                (void) snprintf(ret + len, PATH_MAX - len, "%s", named + n);
                return n == whole;
        }

        (void) snprintf(ret, PATH_MAX, "%s", named);
        return false;
}

/* The vault's key lies outside the state directory, so that neither opens anything alone; a box gets neither.
 */
static void name_key(const struct cordon_context *cx, struct state_names *s, struct plan_request *r)
{
        if (vault_key_file(cx, s->key) < 0)
                return;
        (void) path_resolves(s->key, s->key_real);
        r->state[PLAN_OWN_KEY] = s->key;
        if (strcmp(s->key, s->key_real) != 0)
                r->state[PLAN_OWN_KEY + 1] = s->key_real;
}

static bool any_changes(const struct door *doors, size_t n, const struct plan_request *r, const char *path,
                        const char *real)
{
        for (size_t i = 0; i < n; i++)
                if ((doors[i].kind == DOOR_WRITE || doors[i].kind == DOOR_EDIT) &&
                    (path_under(path, doors[i].path) ||
                     (r->seen[i].real && path_under(real, r->seen[i].real))))
                        return true;
        return false;
}

/* A file that the caller may not create, no box of the caller creates. */
static int make_own(char *path, struct err *e)
{
        for (char *s = path + 1; (s = strchr(s, '/')); *s++ = '/') {
                *s = '\0';
                (void) mkdir(path, 0700);
        }

        if (mkdir(path, 0700) == 0 || errno == EEXIST || errno == EACCES || errno == EPERM || errno == EROFS)
                return 0;

        return err_set(e, ERR_IO, errno, "cannot create %s for its door: %s", path, strerror(errno));
}

/* Policies that `use` finds, and by default the vault's key. A box that could make them would choose the
 * doors and the key of later runs. */
static int name_config(const struct cordon_box *b, const struct door *doors, size_t n, struct state_names *s,
                       struct plan_request *r, struct err *e)
{
        if (!has_own_doors(doors, n) || api_config_path(b->policy, s->config, sizeof s->config) < 0)
                return 0;

        bool resolved = path_resolves(s->config, s->config_real);
        if (!resolved && !b->dry && any_changes(doors, n, r, s->config, s->config_real) &&
            make_own(s->config, e) < 0)
                return -1;

        r->config[0] = s->config;
        r->config[1] = strcmp(s->config, s->config_real) != 0 ? s->config_real : NULL;
        return 0;
}

/* A box that could make the socket of `cordon serve` would be given the next run. */
static int name_resident(const struct cordon_box *b, const struct door *doors, size_t n,
                         struct state_names *s, struct plan_request *r, struct err *e)
{
        struct stat st;
        if (!has_own_doors(doors, n) || pool_place(b->policy->cx, s->place, sizeof s->place) < 0)
                return 0; /* or it is in the state directory */

        bool resolved = path_resolves(s->place, s->place_real);
        if (!resolved && !b->dry && any_changes(doors, n, r, s->place, s->place_real) &&
            make_own(s->place, e) < 0)
                return -1;

        r->state[4] = s->place;
        r->state[5] = strcmp(s->place, s->place_real) != 0 ? s->place_real : NULL;
        AUTO_FD(dir, resolved ? open(s->place, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1);
        if (dir >= 0 && fstatat(dir, POOL_SOCKET, &st, AT_SYMLINK_NOFOLLOW) == 0) {
                r->own_socket[0] = st.st_dev;
                r->own_socket[1] = st.st_ino;
        }

        return 0;
}

static int name_state(const struct cordon_context *cx, const struct door *doors, size_t n, bool dry,
                      struct state_names *s, struct plan_request *r, struct err *e) /* r has been looked at */
{
        struct err none;
        if (!has_own_doors(doors, n) || store_path(cx, s->named, &none) < 0)
                return 0; /* only stock doors, or nowhere to keep anything: there is nothing to hide */

        bool resolved = path_resolves(s->named, s->real);
        if (!resolved && !dry && any_covers(doors, n, r, s->named, s->real)) {
                AUTO_FD(dir, store_open(cx, e));
                if (dir < 0)
                        return -1;
                resolved = realpath(s->named, s->real) != NULL;
        }

        r->state[0] = s->named;
        r->state[1] = resolved && strcmp(s->named, s->real) != 0 ? s->real : NULL;
        r->state[PLAN_WORK] = resolved && work_elsewhere(cx, s->work) ? s->work : NULL;
        name_key(cx, s, r);
        return 0;
}

/* Resolved only if a symlink leads elsewhere: it costs system calls. */
static void name_home(const struct cordon_box *b, const struct door *doors, size_t n,
                      char real[static PATH_MAX], struct plan_request *r)
{
        const char *home = b->policy->home;
        bool led = false;
        for (size_t i = 0; i < n; i++) {
                const struct plan_program *g = &r->found[i]; /* of a `run` line */
                bool by_path = doors[i].path && doors[i].path[0] == '/';
                led |= r->seen[i].real || (by_path && g->path && g->real && strcmp(g->path, g->real) != 0);
        }

        r->home = home[0] ? home : NULL;
        if (led && home[0])
                r->home_real = realpath(home, real) ? real : home;
}

static bool names_variable(const struct door *doors, size_t n, const char *name)
{
        for (size_t i = 0; i < n; i++)
                if (doors[i].kind == DOOR_ENV && strcmp(doors[i].name, name) == 0)
                        return true;
        return false;
}

/* The time zone, the language and colours, which need no door. */
static bool pass_usual(const struct cordon_context *cx, const struct door *doors, size_t n, const char **v,
                       size_t *k)
{
        size_t count;
        const char *const *usual = policy_passed_vars(&count);
        for (size_t i = 0; i < count; i++) {
                const char *value = context_get(cx, usual[i]);
                char *both = NULL;
                if (!value || !policy_passes(value) || names_variable(doors, n, usual[i]))
                        continue;
                if (asprintf(&both, "%s=%s", usual[i], value) < 0)
                        return false;
                v[(*k)++] = both;
        }

        return true;
}

/* A tenant does not get its server's, and an interpreter that is parked started before the caller came. */
static bool is_usual(const struct cordon_policy *p)
{
        return !p->cx->tenant.tag[0] && !policy_warm(p->checked, WARM_PYTHON3) &&
               !policy_warm(p->checked, WARM_NODE);
}

/* Values of the caller's variables that `env NAME` doors pass on; NULL: no memory. */
static const char **passed_variables(const struct cordon_box *b, const struct door *doors, size_t n,
                                     bool usual, struct err *e)
{
        size_t k = 0, most = 0;
        (void) policy_passed_vars(&most);
        const char **v = calloc(n + most + b->told_count * GRANT_WORDS + API_CANARIES_OWN + 1, sizeof *v);
        bool whole = v && (!usual || pass_usual(b->policy->cx, doors, n, v, &k));

        for (size_t i = 0; v && whole && i < n; i++) {
                if (doors[i].kind != DOOR_ENV || doors[i].value)
                        continue;
                const char *value = context_get(b->policy->cx, doors[i].name);
                if (b->c.trace_out[0] && strcmp(doors[i].name, "TRACEPARENT") == 0)
                        value = b->c.trace_out; /* the run's own span, not the caller's */
                char *both = NULL;
                whole = !value || asprintf(&both, "%s=%s", doors[i].name, value) >= 0;
                if (whole && both)
                        v[k++] = both;
        }

        if (whole && api_placeholders(b, v, &k) && api_canary_variables(b, v, &k) == 0)
                return v;

        free_variables(v);
        (void) err_set(e, ERR_MEMORY, ENOMEM, "no memory for the variables");
        return NULL;
}

/* The box's ~/.gitconfig, if a door shows a repository. */
static int name_git(const struct cordon_box *b, const struct door *doors, size_t n, struct plan_request *r,
                    struct err *e)
{
        const char **repositories =
                wall_has(r->wall, WALL_OWN_ROOT) ? calloc(n + 2, sizeof *repositories) : NULL;
        size_t k = 0;
        bool whole = repositories || !wall_has(r->wall, WALL_OWN_ROOT);

        for (size_t i = 0; repositories && i < n; i++)
                if (r->seen[i].repository)
                        repositories[k++] = doors[i].path;

        if (repositories && r->cwd_repository)
                repositories[k++] = r->cwd;

        if (repositories && k > 0) {
                r->git_config = api_identity(b->policy->cx, b->policy->home, repositories);
                whole = r->git_config;
        }

        free(repositories);
        return whole ? 0 : err_set(e, ERR_MEMORY, ENOMEM, "no memory for git's settings");
}

static int name_shut(struct cordon_box *b, const char *ret[PLAN_SHUT_MAX], struct plan_request *r,
                     struct err *e)
{
        if (api_touch(b, r->wall, r->cwd_asked ? r->cwd_asked : r->cwd, e) < 0)
                return -1;

        for (r->shut = ret; r->shut_count < b->c.shut_count; r->shut_count++)
                ret[r->shut_count] = b->c.shut[r->shut_count].path;
        return 0;
}

/* The module, and its code, if it was compiled before. */
static void look_at_command(struct look *l, struct cordon_box *b, const struct plan_request *r,
                            struct api_engine *engine)
{
        char module[PATH_MAX], name[CODE_NAME];
        const char *file = engine->script[0] ? engine->script : r->argv[0];
        bool found = !r->interpret && path_join(r->cwd, file, module, sizeof module) &&
                     code_name(b->policy->cx, engine->program, module, name) == 0 &&
                     code_find(b->policy->cx, name, engine->code);
        if (!found)
                engine->code[0] = '\0';

        b->c.module_code = found ? "kept" : r->interpret ? "none" : "new";
        look_at_module(l, r->argv[0], r->cwd, engine);
}

/* Takes the variables. */
static struct plan *plan_with_variables(struct cordon_box *b, const char **passed, struct plan_request *r,
                                        struct err *e)
{
        struct plan_file *files = passed ? api_forms(b, &r->file_count, e) : NULL;
        r->passed = passed;
        r->files = files;
        struct plan *p = files ? plan_make(b->policy->checked, r, e) : NULL;
        free_variables(passed);
        api_forms_free(files, r->file_count);
        return p;
}

struct plan *api_plan(struct cordon_box *b, enum wall_kind wall, struct err *e)
{
        size_t n;
        const struct door *doors = policy_doors(b->policy->checked, &n);
        struct plan_request r = { .argv = (const char *const *) b->argv,
                                  .cwd = b->policy->work,
                                  .cwd_asked = b->cwd,
                                  .cwd_made = b->cwd_made,
                                  .term = b->term,
                                  .tty = b->tty,
                                  .root_inside = b->root_inside,
                                  .wall = wall,
                                  .places = b->places,
                                  .places_later = b->places_later,
                                  .no_command = b->judges_only,
                                  .any_command = b->plans_pool && !b->argv[1],
                                  .fuel = b->fuel,
                                  .module_entry = b->entry,
                                  .no_wasi = b->no_wasi,
                                  .interpret = api_interprets(b),
                                  .functions = b->functions ? b->functions->v : NULL,
                                  .function_count = b->functions ? b->functions->count : 0,
                                  .stage = b->c.stage,
                                  .as_root = b->c.root };
        struct host_machine machine;

        if (api_image_open(b, e) < 0)
                return NULL;

        if (b->has_image)
                r.image = &b->image.plan;

        if (wall_has(wall, WALL_OWN_ROOT) && policy_local(b->policy->checked) & LOCAL_PROC) {
                host_machine_read(&machine);
                r.machine = &machine;
        }

        char here[4096];
        if (getcwd(here, sizeof here) && here[0] == '/')
                r.cwd = here;

        /* The command is a file of the image, if the box has one. */
        struct api_engine engine;
        bool module = !wall_has(wall, WALL_PROGRAMS);
        if (module && api_engine_find(b->policy->cx, r.argv ? r.argv[0] : NULL, &engine, e) < 0)
                return NULL;

        struct look *l = look_at_doors(doors, n, r.image || module ? NULL : r.argv, r.cwd, e);
        if (!l)
                return NULL;

        look_at_made(l, b->policy->checked);
        if (module && r.argv && r.argv[0])
                look_at_command(l, b, &r, &engine);

        look_fill(l, &r);
        if (r.image)
                r.entry_searched = r.argv && r.argv[0] && !strchr(r.argv[0], '/');

        char home[PATH_MAX];
        name_home(b, doors, n, home, &r);
        struct state_names state;
        const char *shut[PLAN_SHUT_MAX];
        bool hides = !b->is_unpacker;
        if (name_shut(b, shut, &r, e) < 0 ||
            (hides && name_state(b->policy->cx, doors, n, b->dry, &state, &r, e) < 0) ||
            (hides && name_config(b, doors, n, &state, &r, e) < 0) ||
            (hides && name_resident(b, doors, n, &state, &r, e) < 0) || name_git(b, doors, n, &r, e) < 0) {
                look_free(l);
                return NULL;
        }

        bool usual = !r.image && !module && is_usual(b->policy);
        struct plan *p = plan_with_variables(b, passed_variables(b, doors, n, usual, e), &r, e);
        free(r.git_config);
        look_free(l);
        return p;
}

void api_plan_set(struct cordon_box *b, const struct plan *p)
{
        b->c.plan = p;
        b->c.policy = b->policy->checked;
        b->c.schemas = b->policy->schemas;
        b->c.schema_count = b->policy->schema_count;
        b->c.signals_stay_in = p && api_signals_stay_in(b, p);
}

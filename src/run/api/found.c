/* SPDX-License-Identifier: MIT */
/* run/api/found.c - a command that the caller's PATH has and a box does not see: ~/.local/bin/tool, a node of
 * nvm, /opt/x/bin. Its directory becomes a read door, with the files that such a program needs beside it.
 *
 * Only the command that the caller typed opens this, never a program in a box; and it never opens the home, a
 * directory above it, or a directory of keys and tokens. */
#include "base/fd.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* `sh -c 'cargo test && ...'`: the caller's commands are in one argument. */
static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh" };
/* They start the program that their arguments name. */
static const char *const starters[] = { "env",  "nice",    "nohup",  "setsid", "stdbuf",
                                        "time", "timeout", "strace", "xargs" };
/* Followed by a name that is also a command. */
static const char *const leads[] = { "if",   "then", "else", "elif",    "while", "until", "do",
                                     "time", "exec", "!",    "command", "{",     "nohup", "env" };

/* Version managers: the programs that they start lie elsewhere, and they find them by a variable. Recognised
 * by the name of the command's target, or by the directory of its shims. */
static const struct {
        const char *program, *stand_ins;
        const char *variable, *usual; /* below the home; NULL: the directory of the shims */
        const char *shown[3];         /* NULL: all of it */
} managers[] = {
        { "rustup", NULL, "RUSTUP_HOME", ".rustup", { "toolchains", "settings.toml", "update-hashes" } },
        { NULL, "/.pyenv/shims", "PYENV_ROOT", NULL, { NULL } },
        { NULL, "/.rbenv/shims", "RBENV_ROOT", NULL, { NULL } },
};

static bool is_there(const char *dir, const char *name)
{
        char path[PATH_MAX];
        return (size_t) snprintf(path, sizeof path, "%s/%s", dir, name) < sizeof path &&
               access(path, F_OK) == 0;
}

/* By its name, and by the targets of symlinks. */
static bool is_open_to_all(const char *dir, const char *home)
{
        char real[PATH_MAX], home_real[PATH_MAX];
        if (!realpath(dir, real))
                return false;

        if (!realpath(home, home_real))
                (void) snprintf(home_real, sizeof home_real, "%s", home);

        return !path_under(home, dir) && !path_under(home_real, real) && !policy_leads_to_secrets("/", dir) &&
               !policy_leads_to_secrets("/", real) && !policy_secret_reason(dir) &&
               !policy_secret_reason(real);
}

/* A home of whatever account, a project, or a directory with keys in it: nothing of it but programs is shown.
 */
static bool holds_more_than_programs(const char *prefix)
{
        static const char *const signs[] = { ".bashrc", ".profile", ".git", ".hg" };
        char path[PATH_MAX];
        bool more = str_parent(prefix, strlen(prefix)) == 5 && strncmp(prefix, "/home", 5) == 0;

        DIR *d = opendir(prefix);

        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
                more = more || is_there(prefix, signs[i]);

        for (const struct dirent *x; !more && d && (x = readdir(d));)
                more = (size_t) snprintf(path, sizeof path, "%s/%s", prefix, x->d_name) >= sizeof path ||
                       policy_secret_reason(path);

        if (d)
                (void) closedir(d);

        return more || !d;
}

/* The installation directory of one program with all that belongs to it: a Python environment, a Go, a
 * version manager's directory below ~/.nvm or ~/.sdkman, /opt/NAME. A project of the caller does not count.
 */
static bool is_installation(const char *prefix, const char *home)
{
        if (holds_more_than_programs(prefix))
                return false;

        if (is_there(prefix, "pyvenv.cfg"))
                return true;

        if (!path_under(prefix, home))
                return strchr(prefix + 1, '/') != NULL && is_there(prefix, "lib");

        const char *below = prefix + strlen(home) + 1;
        return below[0] == '.' && strchr(below, '/') &&
               (is_there(prefix, "lib") || is_there(prefix, "VERSION"));
}

struct found {
        struct buf shown; /* the opened directories, for people */
        struct buf path;  /* "/a/bin:/b/bin:" */
};

static bool is_set(cordon_policy *p, const char *variable, cordon_error *e)
{
        if (cordon_policy_check(p, e) < 0)
                return true; /* reported by the start */

        return policy_has_door(p->checked, DOOR_ENV, variable);
}

/* Once each. */
static int open_tree(cordon_policy *p, const char *dir, struct found *f, cordon_error *e)
{
        for (const char *at = buf_str(&f->shown); (at = strstr(at, dir)); at++) {
                char end = at[strlen(dir)];
                if ((at == buf_str(&f->shown) || at[-1] == ' ') && (end == ',' || end == '\0'))
                        return 0;
        }

        if (!is_open_to_all(dir, p->home))
                return 0;

        if (cordon_policy_add(p, "read", dir, e) < 0)
                return -1;

        buf_printf(&f->shown, "%s%s", f->shown.n ? ", " : "", dir);
        return 0;
}

/* The outermost `node_modules` above a program of a package: packages load one another. 0: none. */
static size_t packages_above(const char *program)
{
        static const char name[] = "/node_modules/";
        const char *at = strstr(program, name);
        return at ? (size_t) (at - program) + sizeof name - 2 : 0;
}

/* The directory of `program`: its installation, or its directory and the libraries beside that. */
static int open_around(cordon_policy *p, const char *program, struct found *f, cordon_error *e)
{
        static const char *const beside[] = { "lib", "lib64", "libexec", "pyvenv.cfg" };
        char dir[PATH_MAX], prefix[PATH_MAX], path[PATH_MAX + 16];
        size_t n = str_parent(program, strlen(program)), up = str_parent(program, n);

        (void) snprintf(dir, sizeof dir, "%.*s", (int) n, program);
        (void) snprintf(prefix, sizeof prefix, "%.*s", (int) up, program);

        size_t packages = packages_above(program);
        if (packages > 0) {
                (void) snprintf(dir, sizeof dir, "%.*s", (int) packages, program);
                return open_tree(p, dir, f, e);
        }

        bool in_bin = up > 0 && strcmp(dir + up, "/bin") == 0;
        if (in_bin && is_installation(prefix, p->home) && is_open_to_all(prefix, p->home))
                return open_tree(p, prefix, f, e);

        if (open_tree(p, dir, f, e) < 0)
                return -1;

        for (size_t i = 0; in_bin && i < sizeof beside / sizeof *beside; i++) {
                (void) snprintf(path, sizeof path, "%s/%s", prefix, beside[i]);
                if (is_there(prefix, beside[i]) && open_tree(p, path, f, e) < 0)
                        return -1;
        }

        return 0;
}

static bool is_shown(const char *path) { return path_under(path, "/usr") || path_under(path, "/bin"); }

static bool ends_with(const char *text, const char *end)
{
        size_t n = strlen(text), k = strlen(end);
        return n >= k && strcmp(text + n - k, end) == 0;
}

/* The directory in which a version manager keeps everything. Returns false if the program belongs to none. */
static bool root_of(const struct cordon_context *cx, size_t row, const char *dir, const char *real,
                    const char *home, char *ret, size_t cap)
{
        const char *set = context_get(cx, managers[row].variable), *name = strrchr(real, '/') + 1;
        if (managers[row].stand_ins && ends_with(dir, managers[row].stand_ins))
                return (size_t) snprintf(ret, cap, "%.*s", (int) str_parent(dir, strlen(dir)), dir) < cap;

        if (!managers[row].program || strcmp(name, managers[row].program) != 0)
                return false;

        if (set && set[0] == '/')
                return (size_t) snprintf(ret, cap, "%s", set) < cap;

        return (size_t) snprintf(ret, cap, "%s/%s", home, managers[row].usual) < cap;
}

static int open_manager(cordon_policy *p, const char *path, const char *real, struct found *f,
                        cordon_error *e)
{
        char dir[PATH_MAX], root[PATH_MAX], part[PATH_MAX + 32], value[PATH_MAX + 32];
        (void) snprintf(dir, sizeof dir, "%.*s", (int) str_parent(path, strlen(path)), path);
        for (size_t i = 0; i < sizeof managers / sizeof *managers; i++) {
                if (!root_of(p->cx, i, dir, real, p->home, root, sizeof root) || access(root, F_OK) != 0)
                        continue;
                if (!managers[i].shown[0] && open_tree(p, root, f, e) < 0)
                        return -1;
                for (size_t k = 0; k < 3 && managers[i].shown[k]; k++) {
                        (void) snprintf(part, sizeof part, "%s/%s", root, managers[i].shown[k]);
                        if (access(part, F_OK) == 0 && open_tree(p, part, f, e) < 0)
                                return -1;
                }
                (void) snprintf(value, sizeof value, "%s=%s", managers[i].variable, root);
                return is_set(p, managers[i].variable, e) ? 0 : cordon_policy_add(p, "env", value, e);
        }

        return 0;
}

static void add_directory(struct found *f, const char *path)
{
        size_t dir = str_parent(path, strlen(path));
        char entry[PATH_MAX + 2];
        (void) snprintf(entry, sizeof entry, "%.*s:", (int) dir, path);
        if (!strstr(buf_str(&f->path), entry))
                buf_puts(&f->path, entry);
}

/* The interpreter that the first line of a script names to env(1), in `ret`. */
static bool script_asks(const char *script, char ret[static NAME_MAX + 1])
{
        static const char env[] = "#!/usr/bin/env ";
        char line[sizeof env + NAME_MAX + 2];
        AUTO_FD(fd, open(script, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
        if (n < (ssize_t) sizeof env || memcmp(line, env, sizeof env - 1) != 0)
                return false;

        line[n] = '\0';

        const char *name = line + sizeof env - 1;
        size_t k = strcspn(name, " \t\r\n");
        return k > 0 && name[0] != '-' && name[k] &&
               (size_t) snprintf(ret, NAME_MAX + 1, "%.*s", (int) k, name) == k;
}

/* Shows a program that the caller's PATH has: its directory, and that of the file behind its name. */
static int open_program(cordon_policy *p, const char *path, const char *real, struct found *f,
                        cordon_error *e)
{
        if ((!is_shown(path) && open_around(p, path, f, e) < 0) ||
            (strcmp(path, real) != 0 && !is_shown(real) && open_around(p, real, f, e) < 0) ||
            open_manager(p, path, real, f, e) < 0)
                return -1;

        add_directory(f, path);
        return 0;
}

/* The one that the caller's PATH leads to, as the node of a version manager: an older one of the system may
 * not do. */
static int find_interpreter(cordon_policy *p, const char *script, struct found *f, cordon_error *e)
{
        char name[NAME_MAX + 1], path[PATH_MAX], real[PATH_MAX];
        if (!script_asks(script, name) || !api_find_on_path(p->cx, name, path, sizeof path) ||
            !realpath(path, real) || is_shown(path) || policy_secret_reason(path) ||
            policy_secret_reason(real))
                return 0;

        return open_program(p, path, real, f, e);
}

/* One command name. 1: found, its path in `path`. */
static int find_one(cordon_policy *p, const char *name, struct found *f, char path[static PATH_MAX],
                    cordon_error *e)
{
        char real[PATH_MAX];
        if (strchr(name, '/') || api_find_program(name, path, PATH_MAX) ||
            !api_find_on_path(p->cx, name, path, PATH_MAX) || !realpath(path, real))
                return 0;

        if (policy_secret_reason(path) || policy_secret_reason(real))
                return 0; /* the start reports that it is not visible, and how to name it */

        return open_program(p, path, real, f, e) < 0 || find_interpreter(p, real, f, e) < 0 ? -1 : 1;
}

/* Would the caller's PATH lead to this program, by whatever name? A symlink that a box left in a directory of
 * its own opens nothing else. */
static bool is_on_path(const struct cordon_context *cx, const char *real)
{
        char dir[PATH_MAX], there[PATH_MAX];
        size_t own = str_parent(real, strlen(real));
        const char *at = context_get(cx, "PATH");

        for (size_t n; at && *at; at += n + (at[n] == ':')) {
                n = strcspn(at, ":");
                (void) snprintf(dir, sizeof dir, "%.*s", (int) n, at);
                if (at[0] != '/' || !realpath(dir, there))
                        continue;
                if (strlen(there) == own && strncmp(there, real, own) == 0)
                        return true;
                if (ends_with(there, "/shims") &&
                    snprintf(dir, sizeof dir, "%.*s/versions", (int) str_parent(there, strlen(there)),
                             there) < (int) sizeof dir &&
                    path_under(real, dir))
                        return true;
        }

        return false;
}

/* `v/bin/python` is a symlink to the Python that created the environment. */
static int find_by_path(cordon_policy *p, const char *name, struct found *f, cordon_error *e)
{
        char real[PATH_MAX];
        if (!realpath(name, real) || is_shown(real) || policy_secret_reason(real) || !is_on_path(p->cx, real))
                return 0;
        return open_around(p, real, f, e);
}

#define IS_ONE_OF(list, name) (str_row(list, sizeof(list) / sizeof *(list), name) >= 0)

/* The next name in a shell's text at the position of a command, without parsing quoted text. Returns false if
 * none is left. */
static bool next_command(const char **at, bool *begins, char *ret, size_t cap)
{
        bool in_word = false;

        for (size_t n; **at; *at += n) {
                n = strcspn(*at, " \t\n;|&(){}`'\"$<>\\");
                if (**at == '#' && !in_word) {
                        n = strcspn(*at, "\n");
                        continue;
                }
                in_word = n > 0;
                if (n == 0) {
                        char c = **at;
                        const char *end = c == '\'' || c == '"' ? strchr(*at + 1, c) : NULL;
                        *begins = strchr(";|&(\n{`", c) || (*begins && (c == ' ' || c == '\t'));
                        n = end ? (size_t) (end - *at) + 1 : c == '\\' && (*at)[1] ? 2 : 1;
                        in_word = end || c == '\\';
                        continue;
                }
                if (!*begins || n >= cap)
                        continue;
                (void) snprintf(ret, cap, "%.*s", (int) n, *at);
                *begins = strchr(ret, '=') || IS_ONE_OF(leads, ret);
                if (!*begins) {
                        *at += n;
                        return true;
                }
        }

        return false;
}

static int find_in_text(cordon_policy *p, const char *text, struct found *f, cordon_error *e)
{
        char name[NAME_MAX + 1], path[PATH_MAX];
        bool begins = true;
        while (next_command(&text, &begins, name, sizeof name))
                if (find_one(p, name, f, path, e) < 0)
                        return -1;
        return 0;
}

/* The programs that the command's arguments start. */
static int find_in_arguments(cordon_policy *p, const char *const *argv, struct found *f, cordon_error *e)
{
        char path[PATH_MAX];
        const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
        for (size_t i = 1; argv[i]; i++) {
                if (IS_ONE_OF(shells, name) && argv[i][0] == '-' && strchr(argv[i], 'c') && argv[i + 1])
                        return find_in_text(p, argv[i + 1], f, e);
                if (IS_ONE_OF(shells, name) && argv[i][0] != '-')
                        return 0; /* a script */
                int found = IS_ONE_OF(starters, name) ? find_one(p, argv[i], f, path, e) : 0;
                if (found)
                        return found < 0 ? -1 : 0;
        }

        return 0;
}

/* If programs are named, other names in the text would be shown, and could not run. */
static bool runs_any(cordon_policy *p, cordon_error *e)
{
        bool any = false;
        if (cordon_policy_check(p, e) < 0)
                return false; /* reported by the start */

        for (const struct door *d = NULL; (d = policy_door_next(p->checked, d));)
                any = any || (d->kind == DOOR_RUN && strcmp(d->path, "*") == 0);

        return any;
}

static int find_all(cordon_policy *p, const char *const *argv, struct found *f, char path[static PATH_MAX],
                    cordon_error *e)
{
        int found = strchr(argv[0], '/') ? 0 : find_one(p, argv[0], f, path, e);
        if (found < 0 || (strchr(argv[0], '/') && find_by_path(p, argv[0], f, e) < 0) ||
            (runs_any(p, e) && find_in_arguments(p, argv, f, e) < 0))
                return -1;

        /* A script's `env node` must find the programs beside it. A PATH that the caller set stays. */
        AUTO_BUF(value);
        buf_printf(&value, "PATH=%s" BOX_PATH, buf_str(&f->path));
        if (f->path.n && !is_set(p, "PATH", e) && cordon_policy_add(p, "env", buf_str(&value), e) < 0)
                return -1;

        return found;
}

/* A module is started by its path, and starts no programs. Without a `wall` line the file itself says what it
 * is. */
static int find_module(cordon_policy *p, const char *name, char **ret_path, cordon_error *e)
{
        enum wall_kind wall;
        bool stated = policy_states_wall(p->lines, &wall);
        char magic[4];
        size_t n = strlen(name);
        if (stated)
                return !wall_has(wall, WALL_PROGRAMS);

        /* A bare name is one of PATH: a file here must not take the place of a program. */
        if (!strchr(name, '/') && (n < 5 || strcmp(name + n - 5, ".wasm") != 0))
                return 0;

        AUTO_FD(fd, open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        if (fd < 0 || read(fd, magic, sizeof magic) != (ssize_t) sizeof magic ||
            memcmp(magic, "\0asm", sizeof magic) != 0)
                return 0;

        *ret_path = strdup(name);
        return *ret_path && cordon_policy_add(p, "wall", "wasm", e) == 0 ? 1 : -1;
}

int cordon_policy_find(cordon_policy *p, const char *const *argv, char **ret_path, char **ret_shown,
                       cordon_error *e)
{
        char path[PATH_MAX];
        struct found f = { 0 };
        *ret_path = *ret_shown = NULL;
        int module = find_module(p, argv[0], ret_path, e);
        if (module != 0)
                return module < 0 ? -1 : *ret_path != NULL;

        if (p->from_file)
                return 0;

        if (api_roots(p, to_err(e)) < 0)
                return -1;

        int found = find_all(p, argv, &f, path, e);
        buf_done(&f.path);
        *ret_path = found > 0 ? strdup(path) : NULL;
        *ret_shown = found >= 0 ? api_give(&f.shown, to_err(e)) : NULL;
        buf_done(&f.shown);
        if (found < 0 || (*ret_shown && (found == 0 || *ret_path)))
                return found;

        free(*ret_path);
        free(*ret_shown);
        *ret_path = *ret_shown = NULL;
        return err_set(to_err(e), ERR_MEMORY, 0, "no memory for the command");
}

/* SPDX-License-Identifier: MIT */
/* lib/found.c - a command that the caller's PATH has and a box does not see: ~/.local/bin/tool, a node of
 * nvm, /opt/x/bin. Its directory becomes a read door, with what such a program needs beside it.
 *
 * Only the command that the caller typed opens this, never what runs in a box; and never the home, what lies
 * above it, or where keys and tokens lie. */
#include "base/str.h"
#include "lib/internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool lib_find_on_path(const char *name, char *ret, size_t cap)
{
        const char *at = getenv("PATH");
        for (size_t n; at && *at; at += n + (at[n] == ':')) {
                struct stat st;
                n = strcspn(at, ":");
                int k = at[0] == '/' ? snprintf(ret, cap, "%.*s/%s", (int) n, at, name) : -1;
                if (k > 0 && (size_t) k < cap && access(ret, X_OK) == 0 && stat(ret, &st) == 0 &&
                    S_ISREG(st.st_mode))
                        return true;
        }
        return false;
}

static bool is_there(const char *dir, const char *name)
{
        char path[PATH_MAX];
        return (size_t) snprintf(path, sizeof path, "%s/%s", dir, name) < sizeof path &&
               access(path, F_OK) == 0;
}

/* By its name, and by where links lead. */
static bool is_open_to_all(const char *dir, const char *home)
{
        char real[PATH_MAX], home_real[PATH_MAX];
        if (!realpath(dir, real))
                return false;
        if (!realpath(home, home_real))
                (void) snprintf(home_real, sizeof home_real, "%s", home);
        return !path_under(home, dir) && !path_under(home_real, real) && !policy_leads_to_secrets("/", dir) &&
               !policy_leads_to_secrets("/", real) && !policy_secret_kind(dir) && !policy_secret_kind(real);
}

/* Where one program was installed with all that belongs to it: an environment of Python's, a Go, what a
 * manager of versions keeps below ~/.nvm or ~/.sdkman, /opt/NAME. A project of the caller's is none. */
static bool is_installation(const char *prefix, const char *home)
{
        if (is_there(prefix, "pyvenv.cfg"))
                return true;
        if (!path_under(prefix, home))
                return strchr(prefix + 1, '/') != NULL && is_there(prefix, "lib");
        const char *below = prefix + strlen(home) + 1;
        return below[0] == '.' && strchr(below, '/') &&
               (is_there(prefix, "lib") || is_there(prefix, "VERSION"));
}

static int open_tree(cordon_policy *p, const char *dir, struct buf *shown, cordon_error *e)
{
        if (!is_open_to_all(dir, p->home))
                return 0;
        if (cordon_policy_add(p, "read", dir, e) < 0)
                return -1;
        buf_printf(shown, "%s%s", shown->n ? ", " : "", dir);
        return 0;
}

/* What `program` lies in: its installation, or its directory and the libraries beside that. */
static int open_around(cordon_policy *p, const char *program, struct buf *shown, cordon_error *e)
{
        static const char *const beside[] = { "lib", "lib64", "libexec" };
        char dir[PATH_MAX], prefix[PATH_MAX], path[PATH_MAX + 16];
        size_t n = str_parent(program, strlen(program)), up = str_parent(program, n);
        (void) snprintf(dir, sizeof dir, "%.*s", (int) n, program);
        (void) snprintf(prefix, sizeof prefix, "%.*s", (int) up, program);

        bool in_bin = up > 0 && strcmp(dir + up, "/bin") == 0;
        if (in_bin && is_installation(prefix, p->home) && is_open_to_all(prefix, p->home))
                return open_tree(p, prefix, shown, e);
        if (open_tree(p, dir, shown, e) < 0)
                return -1;
        for (size_t i = 0; in_bin && i < sizeof beside / sizeof *beside; i++) {
                (void) snprintf(path, sizeof path, "%s/%s", prefix, beside[i]);
                if (is_there(prefix, beside[i]) && open_tree(p, path, shown, e) < 0)
                        return -1;
        }
        return 0;
}

static bool is_shown(const char *path) { return path_under(path, "/usr") || path_under(path, "/bin"); }

/* A script's `env node` is to find what lies beside it. A PATH that the caller set stays. */
static int add_to_path(cordon_policy *p, const char *program, cordon_error *e)
{
        char value[PATH_MAX + 128];
        size_t n;
        if (cordon_policy_check(p, e) < 0)
                return -1;
        const struct door *doors = policy_doors(p->checked, &n);
        for (size_t i = 0; i < n; i++)
                if (doors[i].kind == DOOR_ENV && strcmp(doors[i].name, "PATH") == 0)
                        return 0;
        size_t dir = str_parent(program, strlen(program));
        (void) snprintf(value, sizeof value, "PATH=%.*s:" BOX_PATH, (int) dir, program);
        return cordon_policy_add(p, "env", value, e);
}

int cordon_policy_find(cordon_policy *p, const char *name, char **ret_path, char **ret_shown, cordon_error *e)
{
        char path[PATH_MAX], real[PATH_MAX];
        *ret_path = *ret_shown = NULL;
        if (p->from_file || strchr(name, '/') || lib_find_program(name, path, sizeof path) ||
            !lib_find_on_path(name, path, sizeof path) || !realpath(path, real))
                return 0;
        if (lib_roots(p, to_err(e)) < 0)
                return -1;
        if (policy_secret_kind(path) || policy_secret_kind(real))
                return 0; /* the start tells that it is not seen, and how to name it */

        AUTO_BUF(shown);
        if ((!is_shown(path) && open_around(p, path, &shown, e) < 0) ||
            (strcmp(path, real) != 0 && !is_shown(real) && open_around(p, real, &shown, e) < 0) ||
            add_to_path(p, path, e) < 0)
                return -1;
        char *found = strdup(path);
        *ret_shown = found ? lib_give(&shown, to_err(e)) : NULL;
        if (!*ret_shown) {
                free(found);
                return err_set(to_err(e), ERR_MEMORY, 0, "no memory for the command");
        }
        *ret_path = found;
        return 1;
}

/* SPDX-License-Identifier: MIT */
/* policy/lint/lint_files.c - lints of file and socket doors. */
#include "policy/lint/lint.h"

static const char *base_name(const char *path) { return strrchr(path, '/') ? strrchr(path, '/') + 1 : path; }

/* ---- files that the host executes later ---- */

static const char *const later_parts[] = {
        /* anywhere in the path, as whole components */
        ".git",
        ".github/workflows",
        ".gitlab-ci.yml",
        ".vscode",
        ".idea",
        ".claude",
        ".codex",
        ".cursor",
        ".gemini",
        ".husky",
        ".devcontainer",
        ".config/autostart",
        ".config/systemd",
        ".config/fish",
        ".config/git",
        ".ssh",
        "cron.d",
        "cron.daily",
        "cron",
        "systemd/system",
        "init.d",
        "profile.d",
        ".local/bin",
        "git-hooks",
        ".githooks",
};
static const char *const later_names[] = {
        /* the last component */
        ".bashrc",        ".bash_profile",
        ".bash_login",    ".profile",
        ".zshrc",         ".zshenv",
        ".zprofile",      ".zlogin",
        ".kshrc",         ".cshrc",
        ".gitconfig",     ".gitmodules",
        ".gitattributes", ".envrc",
        ".npmrc",         ".pypirc",
        ".vimrc",         ".emacs",
        ".inputrc",       ".tmux.conf",
        "Makefile",       "makefile",
        "GNUmakefile",    "CMakeLists.txt",
        "meson.build",    "build.gradle",
        "package.json",   "pyproject.toml",
        "setup.py",       "conftest.py",
        "tox.ini",        "Cargo.toml",
        "build.rs",       "Rakefile",
        "Gemfile",        "Justfile",
        "justfile",       "Taskfile.yml",
        "Dockerfile",     "docker-compose.yml",
        "compose.yaml",   ".pre-commit-config.yaml",
        "CLAUDE.md",      "AGENTS.md",
        "GEMINI.md",      ".mcp.json",
        ".cursorrules",   "mcp.json",
        "crontab",        "sudoers",
        "passwd",         "bin",
        "sbin",
};
static const char *const system_dirs[] = {
        "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/boot", "/opt"
};

static bool runs_later(const char *path)
{
        for (size_t i = 0; i < COUNT(later_parts); i++)
                if (path_has_part(path, later_parts[i]))
                        return true;

        for (size_t i = 0; i < COUNT(system_dirs); i++)
                if (path_inside(system_dirs[i], path))
                        return true;

        return str_row(later_names, COUNT(later_names), base_name(path)) >= 0;
}

/* Edit doors are excluded: the user sees these files, held back and flagged, before they are applied. */
bool lint_runs_later(struct lint_view *v, const struct door *d)
{
        (void) v;
        return runs_later(d->path);
}

bool lint_write_root(struct lint_view *v, const struct door *d)
{
        bool work = v->work[0] && path_inside(d->path, v->work);
        v->what = work ? "project" : "home";
        return work || (v->home[0] && path_inside(d->path, v->home));
}

static void note_write_and_run(struct lint_view *v, const struct lint_row *row, const struct door *r,
                               const struct door *d)
{
        if (!d->from_stock)
                lint_note(v, row, &r->at, "the box can write to %s and execute what it wrote",
                          show_text(d->path).text);
}

/* Doors of kind `k` that let the box write what line `r` runs: above it, at it and, for DIR/, below it. */
static void writable_and_run(struct lint_view *v, const struct lint_row *row, const struct door *r,
                             enum door_kind k)
{
        const struct door_set *s = &v->c->live;
        size_t len = strlen(r->path), lo, hi;
        for (size_t n = 1; n <= len; n++)
                if (r->path[n] == '/' || r->path[n] == '\0')
                        for (door_set_find(s, k, span_of(r->path, n), &lo, &hi); lo < hi; lo++)
                                note_write_and_run(v, row, r, &s->v[lo]);

        if (!lint_ends_with(r->path, "/"))
                return;

        for (lo = door_set_from(s, k, span_of(r->path, len)); lo < s->start[k + 1] && !lint_full(v); lo++) {
                if (strncmp(r->path, s->v[lo].path, len) != 0)
                        return;
                note_write_and_run(v, row, r, &s->v[lo]);
        }
}

void lint_write_and_run(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *r = NULL; (r = lint_next(v, DOOR_RUN, r));)
                for (enum door_kind k = DOOR_EDIT; k <= DOOR_WRITE && r->path[0] == '/'; k++)
                        writable_and_run(v, row, r, k);
}

/* ---- files that should not be seen or changed ---- */

static bool is_own_device(const char *path)
{
        size_t count;
        const struct builtin_file *b = builtin_files(&count);
        for (size_t i = 0; i < count; i++)
                if (!b[i].tree && !b[i].local && strcmp(b[i].path, path) == 0)
                        return true;
        return false;
}

bool lint_own_device(struct lint_view *v, const struct door *d)
{
        (void) v;
        return policy_is_kernels(d->path) && is_own_device(d->path);
}

bool lint_kernel_files(struct lint_view *v, const struct door *d)
{
        (void) v;
        return policy_is_kernels(d->path) && !is_own_device(d->path);
}

bool lint_secret_store(struct lint_view *v, const struct door *d)
{
        (void) v;
        return policy_holds_secrets(d->path);
}

/* An option is typed in a hurry, a policy file is reviewed: doors to data that a slip must not destroy
 * belong in a file. */
bool lint_write_option(struct lint_view *v, const struct door *d)
{
        static const char *const homes[] = { "/home", "/root" };
        bool home = (v->home[0] && path_inside(d->path, v->home)) ||
                    str_row(homes, COUNT(homes), d->path) >= 0,
             project = v->work[0] && strcmp(v->work, v->home) != 0 && path_inside(v->work, d->path);
        v->what = home ? "a whole home directory" : "contains secrets";
        return d->at.line == 0 && (home || (!project && policy_holds_secrets(d->path)));
}

bool lint_too_much(struct lint_view *v, const struct door *d)
{
        static const char *const trees[] = { "/home", "/root", "/etc", "/var", "/run",   "/var/run",
                                             "/proc", "/sys",  "/dev", "/mnt", "/media", "/srv" };
        return (v->home[0] && strcmp(d->path, v->home) == 0) || str_row(trees, COUNT(trees), d->path) >= 0;
}

/* Personal data outside the current project. */
bool lint_is_private(const struct lint_view *v, const struct door *d)
{
        bool in_work = v->work[0] && path_inside(v->work, d->path);
        bool in_home = (v->home[0] && path_inside(v->home, d->path)) || path_inside("/home", d->path) ||
                       path_inside("/root", d->path);
        bool over_home = v->home[0] && path_inside(d->path, v->home);
        return policy_holds_secrets(d->path) || over_home || (in_home && !in_work);
}

bool lint_hides_private(struct lint_view *v, const struct door *d)
{
        size_t count;
        const struct builtin_file *b = builtin_files(&count);
        for (size_t i = 0; i < count; i++)
                if (b[i].tree && b[i].writable && strcmp(b[i].path, d->path) == 0) {
                        v->what = b[i].name;
                        return true;
                }
        return false;
}

/* Such a box finds names and roots in an /etc of its own; in the host's those have no mount points. */
bool lint_hides_etc(struct lint_view *v, const struct door *d)
{
        return strcmp(d->path, "/etc") == 0 && lint_next(v, DOOR_NET, NULL);
}

/* Files that every box with programs sees: a tool of the project is often a symlink there, as in
 * .venv/bin. */
static bool is_program_file(const char *path)
{
        static const char *const trees[] = { "/usr", "/bin", "/sbin", "/lib", "/lib64" };
        for (size_t i = 0; i < COUNT(trees); i++)
                if (path_under(path, trees[i]))
                        return true;
        return false;
}

/* Any process that can write in the workspace chooses the target of such a door; a program that may run
 * can also be read. */
bool lint_leads_out(struct lint_view *v, const struct door *d)
{
        v->what = v->detail;
        return v->ctx->leads_out && v->work[0] && path_under(d->path, v->work) &&
               v->ctx->leads_out(v->ctx->leads_ctx, d->path, v->detail, sizeof v->detail) &&
               !(d->kind == DOOR_RUN && is_program_file(v->detail));
}

/* Only the caller's own id is mapped in a box. A file of another owner cannot be copied into the overlay
 * of an edit door. */
bool lint_others_files(struct lint_view *v, const struct door *d)
{
        v->what = v->detail;
        return v->ctx->foreign && v->ctx->foreign(d->kind, d->path, v->detail, sizeof v->detail);
}

/* Behind an edit door `cordon diff` flags them, and nothing takes effect before a review. */
bool lint_own_rules(struct lint_view *v, const struct door *d)
{
        v->what = v->detail;
        return v->ctx->rules_below &&
               v->ctx->rules_below(v->ctx->rules_ctx, d->path, v->detail, sizeof v->detail);
}

/* Both show one mount, and the wider right holds. */
bool lint_edit_and_write(struct lint_view *v, const struct door *d)
{
        size_t lo, hi;
        return door_set_find(&v->c->live, DOOR_WRITE, span_str(d->path), &lo, &hi);
}

bool lint_foreign_path(struct lint_view *v, const struct door *d)
{
        (void) v;
        for (const char *p = d->path ? d->path : ""; *p; p++)
                if (*p & 0x80)
                        return true;
        return false;
}

/* ---- sockets ---- */

static const struct {
        const char *part, *what;
} sockets[] = {
        { "docker.sock", "Docker: clients have root on this host" },
        { "containerd", "containerd: clients have root on this host" },
        { "podman.sock", "Podman: clients start containers outside this box" },
        { "crio.sock", "CRI-O: clients have root on this host" },
        { "buildkitd.sock", "BuildKit: clients run commands outside this box" },
        { "libvirt-sock", "libvirt: clients start machines outside this box" },
        { "lxd", "LXD: clients have root on this host" },
        { "ssh-agent", "an SSH agent: clients sign in as you" },
        { "S.gpg-agent", "a GPG agent: clients sign and decrypt as you" },
        { "gnupg", "a GPG agent: clients sign and decrypt as you" },
        { "keyring", "a keyring: clients read your passwords" },
        { ".X11-unix", "X11: clients see all keys and windows" },
        { "wayland-", "Wayland: clients show windows and receive keys" },
        { "dbus", "D-Bus: clients start programs outside this box" },
        { "/bus", "D-Bus: clients start programs outside this box" },
        { "pulse", "PulseAudio: clients can use the microphone" },
        { "pipewire", "PipeWire: clients can use the microphone and see the screen" },
        { "systemd/notify", "systemd: clients speak for the service that started this" },
        { "systemd/private", "systemd: clients start services outside this box" },
        { "snapd.socket", "snapd: clients install programs as root" },
        { "agent.", "an agent: clients act as you" },
};

const char *socket_danger(const char *path)
{
        for (size_t i = 0; i < COUNT(sockets); i++)
                if (strstr(path, sockets[i].part))
                        return sockets[i].what;
        return NULL;
}

bool lint_socket(struct lint_view *v, const struct door *d)
{
        v->what = socket_danger(d->path);
        return v->what != NULL;
}

/* A file door on a socket is as good as a socket door elsewhere: a read-only bind does not stop connect(). */
bool lint_sockets_in(struct lint_view *v, const struct door *d)
{
        (void) v;
        bool run = strcmp(d->path, "/run") == 0 || strcmp(d->path, "/var/run") == 0;
        bool holds = path_inside("/run", d->path) || path_inside("/var/run", d->path) ||
                     lint_ends_with(d->path, ".sock");
        return holds && (run || socket_danger(d->path));
}

/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_agent_hook.c - `cordon agent hook`: for an agent that stays outside. Its own hook before each
 * shell command leads here, and the command runs in one session's box. */
#include "base/fd.h"
#include "base/hash.h"
#include "base/host/host.h"
#include "base/shell.h"
#include "base/str.h"
#include "face/cli/agent_hook.h"
#include "face/cli/agents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SETTINGS_MAX = 1 << 20, CALL_MAX = 8 << 20, DOORS_MAX = 64 };

struct hook {
        struct cli_shared asked;
        const struct agent_hook *h;
        bool remove, call;
        char here[PATH_MAX];
        char self[PATH_MAX];
        char session[64];
        const char *doors[2 * DOORS_MAX]; /* "--net", "example.org:443" ...; NULL: an option has no value */
        size_t door_count;
        char options[DOORS_MAX][66];
};

const struct cli_option agent_hook_options[] = {
        { "remove", 0, NULL, "take the hook out again", CLI_FLAG(struct hook, remove) },
        { "call", 0, NULL, "what the hook itself runs: a call on standard input",
          CLI_FLAG(struct hook, call) },
        { 0 },
};

static void keep_door(void *ctx, const struct cli_door *d)
{
        struct hook *k = ctx;
        size_t n = k->door_count / 2;
        if (n == DOORS_MAX)
                return;
        (void) snprintf(k->options[n], sizeof k->options[n], "%s", d->option);
        k->doors[k->door_count++] = k->options[n];
        k->doors[k->door_count++] = d->value;
}

/* Does a door name the project, or a directory above it? */
static bool covers_project(const struct hook *k, const char *value)
{
        char path[PATH_MAX];
        const size_t n = strcspn(value, " ");
        if (strncmp(value, "{work}", 6) == 0)
                return value[6] == '\0' || value[6] == ' ';

        char *real = snprintf(path, sizeof path, "%.*s", (int) n, value) < (int) sizeof path
                             ? realpath(path, NULL)
                             : NULL;
        bool covers = real && path_under(k->here, real);
        free(real);
        return covers;
}

/* The project is edited in an overlay, unless a door or a policy says how it is shown. */
static bool edits_project(const struct hook *k)
{
        for (size_t i = 0; i < k->door_count; i += 2) {
                const char *option = k->doors[i];
                bool file = strcmp(option, "-p") == 0 || strcmp(option, "--policy") == 0;
                bool shows = strcmp(option, "--read") == 0 || strcmp(option, "--edit") == 0 ||
                             strcmp(option, "--write") == 0;
                if (file || (shows && covers_project(k, k->doors[i + 1])))
                        return false;
        }
        return true;
}

/* One for each project and agent. */
static void name_session(struct hook *k)
{
        char hex[65];
        sha256_hex(span_str(k->here), hex);
        (void) snprintf(k->session, sizeof k->session, "agent-%s-%.8s", k->h->agent, hex);
}

/* ---- install and remove ---- */

/* The settings, and their mode. Returns 1, 0 if the file does not exist, -1 after reporting an error. */
static int read_settings(const char *path, struct buf *text, mode_t *ret_mode)
{
        struct stat st;
        AUTO_FD(fd, open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (fd < 0 && errno == ENOENT)
                return 0;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || cli_read(fd, SETTINGS_MAX, text) < 0)
                return cli_problem("%s is not a regular file of at most 1 MB that can be read", path), -1;

        *ret_mode = st.st_mode & 07777;
        return 1;
}

/* All of it, or nothing: a new file in its place. */
static int write_settings(const char *path, const struct buf *text, mode_t mode)
{
        AUTO_BUF(fresh);
        buf_printf(&fresh, "%s.%d.new", path, (int) getpid());
        AUTO_FD(fd, open(buf_str(&fresh), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd >= 0 && !text->failed && fd_write_all(fd, text->p, text->n) == 0 && fchmod(fd, mode) == 0 &&
            fsync(fd) == 0 && rename(buf_str(&fresh), path) == 0)
                return 0;

        int sys = errno;
        if (fd >= 0)
                (void) unlink(buf_str(&fresh));
        return cli_problem("%s cannot be written: %s", path, strerror(sys));
}

/* The directory of the settings. */
static void parent_of(const char *path, char *ret, size_t cap)
{
        (void) snprintf(ret, cap, "%.*s", (int) str_parent(path, strlen(path)), path);
}

/* The directories below the project. */
static int make_parents(const struct hook *k, char *dir)
{
        for (char *at = strchr(dir + strlen(k->here) + 1, '/'); at; at = strchr(at + 1, '/')) {
                *at = '\0';
                int made = mkdir(dir, 0777);
                *at = '/';
                if (made < 0 && errno != EEXIST)
                        return -1;
        }

        return mkdir(dir, 0777) < 0 && errno != EEXIST ? -1 : 0;
}

/* Those that are empty. */
static void remove_parents(const struct hook *k, char *dir)
{
        size_t top = strlen(k->here);
        while (strlen(dir) > top && rmdir(dir) == 0)
                dir[str_parent(dir, strlen(dir))] = '\0';
}

static int install(struct hook *k, const char *path, const struct buf *old, int there, mode_t mode)
{
        AUTO_BUF(command);
        AUTO_BUF(text);
        AUTO_BUF(ignored);
        cordon_error e = { 0 };
        struct err why;
        char dir[PATH_MAX];
        if (agent_hook_remove(k->h, buf_span(old), &ignored) != 0) {
                (void) cli_problem("%s has the hook already", path);
                return cli_hint("cordon agent hook --remove %s", k->h->agent);
        }

        buf_shell(&command, k->self);
        buf_puts(&command, " agent hook --call --work ");
        buf_shell(&command, k->here);
        for (size_t i = 0; i < k->door_count; i++) {
                if (!k->doors[i])
                        continue;
                buf_putc(&command, ' ');
                buf_shell(&command, k->doors[i]);
        }
        buf_printf(&command, " %s", k->h->agent);

        if (agent_hook_add(k->h, buf_span(old), buf_str(&command), &text, &why) < 0)
                return cli_fail(&e, why.code, why.sys, "%s", why.what), cli_error(&e);

        parent_of(path, dir, sizeof dir);
        if (!there && make_parents(k, dir) < 0)
                return cli_problem("%s cannot be made: %s", dir, strerror(errno));

        int status = write_settings(path, &text, mode);
        if (status == 0 && k->h->note)
                cli_note("%s", k->h->note);
        if (status == 0)
                cli_note("shell commands of %s in %s now run in session %s%s%s%s", k->h->agent, k->here,
                         k->session, edits_project(k) ? "; review: cordon session end " : "",
                         edits_project(k) ? k->session : "", edits_project(k) ? ", then cordon diff" : "");
        return status;
}

static int uninstall(const struct hook *k, const char *path, const struct buf *old, mode_t mode)
{
        AUTO_BUF(text);
        char dir[PATH_MAX];
        int was = agent_hook_remove(k->h, buf_span(old), &text);
        if (was == 0)
                return cli_problem("%s has no hook of cordon", path);

        if (was == 1)
                return write_settings(path, &text, mode);

        parent_of(path, dir, sizeof dir);
        if (unlink(path) < 0)
                return cli_problem("%s cannot be removed: %s", path, strerror(errno));

        remove_parents(k, dir);
        return 0;
}

static int change(struct hook *k)
{
        char path[PATH_MAX + 64];
        AUTO_BUF(old);
        mode_t mode = 0644;
        (void) snprintf(path, sizeof path, "%s/%s", k->here, k->h->file);
        int there = read_settings(path, &old, &mode);
        if (there < 0)
                return EXIT_CORDON;

        return k->remove ? uninstall(k, path, &old, mode) : install(k, path, &old, there, mode);
}

/* ---- a call ---- */

static bool is_up(const struct hook *k)
{
        cordon_error e = { 0 };
        cordon_box *session = cordon_session_open(cli_context(), k->session, &e);
        cordon_box_free(session);
        return session != NULL;
}

/* Its messages go to a file: a pipe would stay open as long as the session. */
static int start_session(struct hook *k, int messages)
{
        const char *argv[2 * DOORS_MAX + 16] = { k->self, "session", "new", k->session, "--work",
                                                 k->here, "--idle",  "8h",  "-q" };
        size_t n = 9;
        posix_spawn_file_actions_t a;
        pid_t pid = -1;
        int status = -1;
        for (size_t i = 0; i < k->door_count; i++)
                if (k->doors[i])
                        argv[n++] = k->doors[i];
        if (edits_project(k)) {
                argv[n++] = "--edit";
                argv[n++] = "{work}";
        }

        if (posix_spawn_file_actions_init(&a) != 0)
                return -1;
        if (posix_spawn_file_actions_addopen(&a, 0, "/dev/null", O_RDONLY, 0) == 0 &&
            posix_spawn_file_actions_addopen(&a, 1, "/dev/null", O_WRONLY, 0) == 0 &&
            posix_spawn_file_actions_adddup2(&a, messages, 2) == 0 &&
            posix_spawn(&pid, k->self, &a, NULL, (char **) (uintptr_t) argv, environ) != 0)
                pid = -1;
        (void) posix_spawn_file_actions_destroy(&a);
        while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;

        return pid > 0 && status == 0 ? 0 : -1;
}

/* A second call may start it at the same time: then the name is taken, and the session is there. */
static bool ensure_session(struct hook *k, struct buf *why)
{
        AUTO_FD(messages, memfd_create("messages", MFD_CLOEXEC));
        if (is_up(k) || messages < 0 || start_session(k, messages) == 0 || is_up(k))
                return messages >= 0;

        char text[512];
        ssize_t n = pread(messages, text, sizeof text - 1, 0);
        text[n < 0 ? 0 : n] = '\0';
        text[strcspn(text, "\n")] = '\0';
        buf_printf(why, "cordon: cannot start session %s; the command was not run: %s", k->session, text);
        return false;
}

static void put_run(const struct hook *k, const char *command, struct buf *out)
{
        buf_shell(out, k->self);
        buf_printf(out, " session run %s -- %s -c ", k->session,
                   access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh");
        buf_shell_quoted(out, command);
}

/* Whatever fails, the command does not run outside. */
static int answer(struct hook *k)
{
        AUTO_BUF(command);
        AUTO_BUF(instead);
        AUTO_BUF(out);
        AUTO_BUF(why);
        struct err e = { 0 };
        AUTO_BUF(call);
        struct span given = cli_read(0, CALL_MAX, &call) == 0 ? buf_span(&call) : span_str("");
        if (agent_hook_command(given, &command, &e) < 0)
                buf_printf(&why, "cordon: %s", e.what);
        else if (ensure_session(k, &why)) {
                put_run(k, buf_str(&command), &instead);
                if (instead.failed || agent_hook_answer(k->h, given, buf_str(&instead), &out, &e) < 0)
                        buf_printf(&why, "cordon: %s", instead.failed ? "no memory" : e.what);
        }

        if (why.n || out.n == 0) {
                AUTO_BUF(refusal);
                agent_hook_deny(k->h, why.n ? buf_str(&why) : "cordon: no session", &refusal);
                return cli_put(&refusal);
        }

        return cli_put(&out);
}

/* ---- the verb ---- */

static int no_hook(const char *name)
{
        if (!cli_agent_find(name))
                return cli_problem("unknown agent `%.60s`", name), cli_hint("cordon agent hook claude");

        (void) cli_problem("%s has no hook that can redirect commands", name);
        return cli_hint("run all of it in a box: cordon agent %s", name);
}

static int run_hook(struct hook *k)
{
        const char *work = k->asked.work ? k->asked.work : ".";
        if (!realpath(work, k->here))
                return cli_problem("--work %s: %s", work, strerror(errno));

        if (!host_self(k->self, sizeof k->self))
                return cli_problem("the path of cordon is not known: /proc is not mounted");

        name_session(k);
        if (k->call)
                return answer(k);

        int status = change(k);
        if (status == 0 && k->remove && is_up(k))
                cli_note("hook removed; its session is still running: cordon session end %s", k->session);

        return status;
}

int verb_agent_hook(int argc, char **argv)
{
        struct hook k = { 0 };
        cordon_policy *policy = cli_policy_new(); /* the doors are checked now, not at the first call */
        int at = policy ? cli_take_doors(argc, argv, &k, policy) : -1, status = EXIT_CORDON;
        if (at >= 0) {
                cli_doors_again(argc, argv, cli_verb_now(), keep_door, &k);
                k.h = agent_hook_find(argv[at]);
                status = k.h ? run_hook(&k) : no_hook(argv[at]);
        }

        cordon_policy_free(policy);
        return status;
}

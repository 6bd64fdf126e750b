/* SPDX-License-Identifier: MIT */
/* face/bwrap/main.c - cordon-bwrap: takes the place of bubblewrap's bwrap, under any name. */
#include "base/buf.h"
#include "base/fd.h"
#include "face/bwrap/bwrap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The version whose options this program has: scripts compare it. */
#define OPTIONS_OF "0.12.0"

enum { ARGS_BYTES_MAX = 16 << 20, LEVEL_ERROR = 3, LEVEL_WARNING = 4 };

/* Every message begins as bubblewrap's, which launchers look for. */
static void print_message(const struct bwrap_order *o, int level, const char *text, int sys)
{
        if (o->level_prefix)
                (void) fprintf(stderr, "<%d>", level);
        (void) fprintf(stderr, "bwrap: %s%s%s\n", text, sys ? ": " : "", sys ? strerror(sys) : "");
}

static int report_order(const struct bwrap_order *o, const struct err *e)
{
        print_message(o, LEVEL_ERROR, e->what, e->sys);
        if (*e->hint)
                (void) fprintf(stderr, "hint: %s\n", e->hint);
        return EXIT_FAILURE;
}

static int print_help(FILE *to, const char *name)
{
        const char *arguments = "", *help = "", *option = NULL;
        (void) fprintf(to, "usage: %s [OPTIONS...] [--] COMMAND [ARGS...]\n\n", name);
        for (size_t i = 0; (option = bwrap_option(i, &arguments, &help)); i++) {
                char left[48];
                (void) snprintf(left, sizeof left, "%s %s", option, arguments);
                (void) fprintf(to, "    %-30s %s\n", left, help);
        }

        return to == stdout ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int read_args(int fd, char **ret, size_t *ret_length)
{
        struct buf all = { 0 };
        char bytes[4096];
        ssize_t n = 0;
        while ((n = fd_read_all(fd, bytes, sizeof bytes)) > 0 && all.n <= ARGS_BYTES_MAX)
                buf_add(&all, bytes, (size_t) n);

        if (n < 0 || all.failed || all.n > ARGS_BYTES_MAX) {
                errno = n < 0 ? errno : E2BIG;
                buf_done(&all);
                return -1;
        }

        (void) close(fd);
        *ret_length = all.n;
        *ret = all.p ? all.p : strdup("");
        return *ret ? 0 : -1;
}

static bool has_users(void)
{
        char text[32];
        return access("/proc/self/ns/user", F_OK) == 0 &&
               (fd_get(-1, "/proc/sys/user/max_user_namespaces", text, sizeof text) < 0 ||
                strcmp(text, "0") != 0);
}

static int change_environment(const struct bwrap_order *o, struct err *e)
{
        for (size_t i = 0; i < o->variable_count; i++) {
                const struct bwrap_variable *v = &o->variables[i];
                int done = !v->name   ? clearenv()
                           : v->value ? setenv(v->name, v->value, 1)
                                      : unsetenv(v->name);
                if (done != 0)
                        return err_set(e, ERR_MEMORY, errno, "changing the environment");
        }

        return 0;
}

/* A program with privileges of its file would lend them to whoever names the mounts. */
static int check_caller(uint64_t held, struct err *e)
{
        if (getuid() != geteuid() || getgid() != getegid()) {
                (void) err_set(e, ERR_USAGE, 0, "cordon-bwrap does not run setuid or setgid");
                return err_hint(e, "chmod ug-s the program; it uses unprivileged user namespaces");
        }

        if (getuid() != 0 && held != 0)
                return err_set(e, ERR_USAGE, 0,
                               "Unexpected capabilities but not setuid, old file caps config?");
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return err_set(e, ERR_WALL, errno, "prctl(PR_SET_NO_NEW_PRIVS) failed");
        return 0;
}

static int run_order(struct bwrap_order *o, struct err *e)
{
        const struct bwrap_caller caller = { .uid = getuid(),
                                             .gid = getgid(),
                                             .user_namespaces = o->user_try && has_users(),
                                             .cgroup_namespaces = (o->cgroup || o->cgroup_try) &&
                                                                  access("/proc/self/ns/cgroup", F_OK) == 0 };
        for (size_t i = 0; i < o->repeated_count; i++) {
                char text[96];
                (void) snprintf(text, sizeof text, "Only the last %s option will take effect",
                                o->repeated[i]);
                print_message(o, LEVEL_WARNING, text, 0);
        }

        if (bwrap_settle(o, &caller, e) < 0 || change_environment(o, e) < 0)
                return -1;
        return bwrap_run(o, e);
}

int main(int argc, char **argv)
{
        static struct bwrap_order order;
        static const struct bwrap_files files = { read_args };
        struct err e = { 0 };
        uint64_t held = bwrap_caps_held();
        const char *name = argc > 0 ? argv[0] : "bwrap";
        if (check_caller(held, &e) < 0 ||
            bwrap_read(&order, (const char *const *) argv + (argc > 0), (size_t) (argc > 0 ? argc - 1 : 0),
                       getuid() == 0 ? held : 0, &files, &e) < 0)
                return report_order(&order, &e);

        if (order.help)
                return print_help(stdout, name);
        if (order.version)
                return printf("bubblewrap " OPTIONS_OF " (cordon-bwrap " CORDON_VERSION ")\n") < 0;
        if (!order.argv[0])
                return print_help(stderr, name);

        int code = run_order(&order, &e);
        return code < 0 ? report_order(&order, &e) : code;
}

/* SPDX-License-Identifier: MIT */
/* broker/vault/vault_client.c - starts cordon-vault for one task and waits for it. It gets descriptors and a
 * request without secrets; it reports errors as a struct err in a memfd. */
#include "base/fd.h"
#include "base/host/host.h"
#include "broker/vault/vault.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { FDS = VAULT_FD_WORDS + 1, AGAIN_MS = 1000 };

/* cordon-vault gets an empty environment, or only the variable that holds the secret. */
static char **make_environment(const struct cordon_context *cx, const struct vault_request *q, char *only[2])
{
        size_t n = strlen(q->from_env);
        only[0] = only[1] = NULL;
        for (char *const *v = cx ? cx->environment : NULL; n && v && *v; v++)
                if (strncmp(*v, q->from_env, n) == 0 && (*v)[n] == '=')
                        only[0] = *v;
        return only;
}

static int memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

static int request_fd(const struct vault_request *q)
{
        AUTO_BUF(bytes);
        vault_request_encode(q, &bytes);
        AUTO_FD(fd, memory_file("request"));
        if (bytes.failed || fd < 0 || fd_write_all(fd, bytes.p, bytes.n) < 0 || lseek(fd, 0, SEEK_SET) < 0)
                return -1;
        return TAKE_FD(fd);
}

/* Its last act is its report, for success as well. The exit status is not used: a program that ignores
 * SIGCHLD never gets it. */
static int read_report(int report, struct err *e)
{
        struct err told = { 0 };
        if (pread(report, &told, sizeof told, 0) != sizeof told)
                return err_set(e, ERR_IO, 0, "%s ended before its work was done", VAULT_PROGRAM);

        if (told.code == ERR_NONE)
                return 0;

        *e = told;
        return -1;
}

static void await_child(struct child *c)
{
        while (!child_reap(c, NULL))
                (void) fd_await(c->pidfd, POLLIN, AGAIN_MS);
}

/* Starts it with what it needs besides the existing descriptors; *ret_report will hold its report. */
static struct child begin_child(const struct cordon_context *cx, int fds[FDS], struct vault_request *q,
                                int *ret_report, struct err *e)
{
        char path[PATH_MAX], name[] = VAULT_PROGRAM, *argv[] = { name, NULL }, *only[2];
        AUTO_FD(dir, vault_dir(cx, e));
        if (dir < 0 || host_program(cx, VAULT_PROGRAM, path, sizeof path, e) < 0)
                return CHILD_NONE;

        q->has_passphrase = fds[VAULT_FD_PASSPHRASE] >= 0;
        AUTO_FD(request, request_fd(q));
        AUTO_FD(report, memory_file("report"));
        if (request < 0 || report < 0) {
                (void) err_set(e, ERR_IO, errno, "asking %s: %s", VAULT_PROGRAM, strerror(errno));
                return CHILD_NONE;
        }

        fds[VAULT_FD_REQUEST] = request;
        fds[VAULT_FD_DIR] = dir;
        fds[VAULT_FD_REPORT] = report;
        struct child c = host_spawn(&(struct host_spawn){ .path = path,
                                                          .argv = argv,
                                                          .envp = make_environment(cx, q, only),
                                                          .fds = fds,
                                                          .fd_count = FDS,
                                                          .flags = HOST_SPAWN_STREAMS });
        if (c.pid < 0)
                (void) err_set(e, ERR_EXEC, errno, "%s could not be started: %s", VAULT_PROGRAM,
                               strerror(errno));

        *ret_report = TAKE_FD(report);
        return c;
}

int vault_work(const struct cordon_context *cx, struct vault_request *q, int secret, int passphrase,
               struct err *e)
{
        int report = -1, fds[FDS] = { secret, -1, -1, -1, -1, -1, -1, -1, passphrase, -1 };
        struct child c = begin_child(cx, fds, q, &report, e);
        AUTO_FD(hold, report);
        if (c.pid < 0)
                return -1;

        await_child(&c);
        return read_report(report, e);
}

int vault_give(const struct cordon_context *cx, struct vault_request *q, const struct vault_lines *to,
               struct vault_giving *ret, struct err *e)
{
        AUTO_FD(told, memory_file("told"));
        if (told < 0)
                return err_set(e, ERR_IO, errno, "asking %s: %s", VAULT_PROGRAM, strerror(errno));

        int fds[FDS] = { -1, -1, -1, -1, -1, -1, told, to->grants, to->passphrase, to->words };
        _Static_assert(VAULT_FD_TOLD == 6 && VAULT_FD_GRANTS == 7 && VAULT_FD_PASSPHRASE == 8 &&
                               VAULT_FD_WORDS == 9,
                       "as above");
        q->op = VAULT_GIVE;
        struct vault_giving g = VAULT_NOT_GIVING;
        g.child = begin_child(cx, fds, q, &g.report, e);
        if (g.child.pid < 0) {
                fd_close(&g.report);
                return -1;
        }

        g.told = TAKE_FD(told);
        *ret = g;
        return 0;
}

int vault_given(struct vault_giving *g, struct vault_told *ret_told, size_t count, struct err *e)
{
        if (!child_reap(&g->child, NULL))
                return 0;

        AUTO_FD(report, TAKE_FD(g->report));
        AUTO_FD(told, TAKE_FD(g->told));
        ssize_t want = (ssize_t) (count * sizeof *ret_told);
        if (read_report(report, e) < 0)
                return -1;

        return pread(told, ret_told, (size_t) want, 0) == want
                       ? 1
                       : err_set(e, ERR_IO, 0, "%s said too little", VAULT_PROGRAM);
}

void vault_giving_end(struct vault_giving *g)
{
        child_kill(&g->child);
        await_child(&g->child);
        fd_close(&g->report);
        fd_close(&g->told);
}

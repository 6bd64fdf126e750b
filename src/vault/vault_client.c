/* SPDX-License-Identifier: MIT */
/* vault/vault_client.c - starts cordon-vault for one piece of work and waits for it. It gets descriptors and
 * a request without secrets; what it finds wrong comes back as a struct err over a pipe. */
#include "base/fd.h"
#include "host/host.h"
#include "vault/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* cordon-vault gets no environment but the one variable that holds the secret, if that is where it is. */
static char **environment(const struct cordon_context *cx, const struct vault_request *q, char *only[2])
{
        size_t n = strlen(q->from_env);
        only[0] = only[1] = NULL;
        for (char *const *v = cx ? cx->environment : NULL; n && v && *v; v++)
                if (strncmp(*v, q->from_env, n) == 0 && (*v)[n] == '=')
                        only[0] = *v;
        return only;
}

static int request_fd(const struct vault_request *q)
{
        AUTO_FD(fd, memfd_create("request", MFD_CLOEXEC));
        if (fd < 0 || fd_write_all(fd, q, sizeof *q) < 0 || lseek(fd, 0, SEEK_SET) < 0)
                return -1;
        return TAKE_FD(fd);
}

/* Its last act is its report, of a success too. Not its status: a program that ignores SIGCHLD never gets to
 * know that. */
static int await(const struct child *c, int report, struct err *e)
{
        struct err told = { 0 };
        ssize_t n = fd_read_all(report, &told, sizeof told);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
                ;

        if (n != sizeof told)
                return err_set(e, ERR_IO, 0, "%s ended before its work was done", VAULT_PROGRAM);

        if (told.code == ERR_NONE)
                return 0;

        *e = told;
        return -1;
}

enum { FDS = VAULT_FD_PASSPHRASE + 1 };

/* Starts it with what it needs beside the descriptors that are there; the reading end of its report is
 * *ret_report. */
static struct child begin(const struct cordon_context *cx, int fds[FDS], struct vault_request *q,
                          int *ret_report, struct err *e)
{
        char path[PATH_MAX], name[] = VAULT_PROGRAM, *argv[] = { name, NULL }, *only[2];
        int report[2];
        AUTO_FD(dir, vault_dir(cx, e));
        if (dir < 0 || host_program(cx, VAULT_PROGRAM, path, sizeof path, e) < 0)
                return CHILD_NONE;

        q->size = sizeof *q;
        q->has_passphrase = fds[VAULT_FD_PASSPHRASE] >= 0;
        AUTO_FD(request, request_fd(q));
        if (request < 0 || pipe2(report, O_CLOEXEC) < 0) {
                (void) err_set(e, ERR_IO, errno, "asking %s: %s", VAULT_PROGRAM, strerror(errno));
                return CHILD_NONE;
        }

        AUTO_FD(its, report[1]);
        *ret_report = report[0];
        fds[VAULT_FD_REQUEST] = request;
        fds[VAULT_FD_DIR] = dir;
        fds[VAULT_FD_REPORT] = its;
        struct child c = host_spawn(&(struct host_spawn){
                .path = path, .argv = argv, .envp = environment(cx, q, only), .fds = fds, .fd_count = FDS });
        if (c.pid < 0)
                (void) err_set(e, ERR_EXEC, errno, "%s could not be started: %s", VAULT_PROGRAM,
                               strerror(errno));

        return c;
}

int vault_work(const struct cordon_context *cx, struct vault_request *q, int secret, int passphrase,
               struct err *e)
{
        int report = -1, fds[FDS] = { secret, -1, -1, -1, -1, -1, -1, -1, passphrase };
        struct child c = begin(cx, fds, q, &report, e);
        AUTO_FD(hold, report);
        AUTO_FD(pidfd, c.pidfd);
        return c.pid < 0 ? -1 : await(&c, report, e);
}

int vault_give(const struct cordon_context *cx, struct vault_request *q, int grants, int passphrase,
               struct vault_told *ret_told, struct err *e)
{
        int report = -1, told[2];
        if (pipe2(told, O_CLOEXEC) < 0)
                return err_set(e, ERR_IO, errno, "making a pipe: %s", strerror(errno));

        AUTO_FD(told_in, told[0]);
        int fds[FDS] = { -1, -1, -1, -1, -1, -1, told[1], grants, passphrase };
        _Static_assert(VAULT_FD_TOLD == 6 && VAULT_FD_GRANTS == 7 && VAULT_FD_PASSPHRASE == 8, "as above");
        q->op = VAULT_GIVE;
        struct child c = begin(cx, fds, q, &report, e);
        (void) close(told[1]);
        AUTO_FD(hold, report);
        AUTO_FD(pidfd, c.pidfd);
        if (c.pid < 0)
                return -1;

        size_t want = q->count * sizeof *ret_told;
        ssize_t n = fd_read_all(told_in, ret_told, want);
        if (await(&c, report, e) < 0)
                return -1;

        return n == (ssize_t) want ? 0 : err_set(e, ERR_IO, 0, "%s said too little", VAULT_PROGRAM);
}

int vault_default_key_file(const struct cordon_context *cx, char *ret_path, size_t cap, struct err *e)
{
        const char *xdg = context_get(cx, "XDG_CONFIG_HOME"), *home = context_get(cx, "HOME");
        int n = xdg && xdg[0] == '/'     ? snprintf(ret_path, cap, "%s/cordon/vault.key", xdg)
                : home && home[0] == '/' ? snprintf(ret_path, cap, "%s/.config/cordon/vault.key", home)
                                         : -1;
        if (n > 0 && (size_t) n < cap)
                return 0;

        (void) err_set(e, ERR_HOST, 0, "no directory for the vault's key file");
        return err_hint(e, "set HOME or XDG_CONFIG_HOME, or name it: --key-file FILE");
}

/* SPDX-License-Identifier: MIT */
/* vault/spawn.c - starts cordon-vault for one piece of work and waits for it. It gets descriptors and a
 * request without secrets; what it finds wrong comes back as a struct err over a pipe. */
#include "base/fd.h"
#include "host/host.h"
#include "vault/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
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

struct job { /* descriptors that cordon-vault gets, by their number there; -1: none */
        int fd[VAULT_FD_PASSPHRASE + 1];
        char program[PATH_MAX];
};

/* Above everything that dup2() will overwrite. */
static int out_of_the_way(int fd)
{
        int r = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 32);
        if (r < 0 && errno == EINVAL) /* so the kernel says that nobody here may have so many */
                errno = EMFILE;
        return r;
}

static int request_fd(const struct vault_request *q)
{
        AUTO_FD(fd, memfd_create("request", MFD_CLOEXEC));
        if (fd < 0 || fd_write_all(fd, q, sizeof *q) < 0 || lseek(fd, 0, SEEK_SET) < 0)
                return -1;
        return out_of_the_way(fd);
}

static pid_t start(const struct cordon_context *cx, const struct job *j, const struct vault_request *q)
{
        char name[] = VAULT_PROGRAM;
        char *argv[] = { name, NULL }, *only[2];
        posix_spawn_file_actions_t a;
        pid_t pid = -1;
        if (posix_spawn_file_actions_init(&a) != 0)
                return -1;

        int bad = 0;
        for (int i = 0; i <= VAULT_FD_PASSPHRASE; i++)
                if (j->fd[i] >= 0)
                        bad |= posix_spawn_file_actions_adddup2(&a, j->fd[i], i);

        if (!bad)
                bad = posix_spawn(&pid, j->program, &a, NULL, argv, environment(cx, q, only));

        (void) posix_spawn_file_actions_destroy(&a);
        errno = bad;
        return bad ? -1 : pid;
}

/* Its last act is its report, of a success too. Not its status: a program that ignores SIGCHLD never gets to
 * know that. */
static int await(pid_t pid, int report, struct err *e)
{
        struct err told = { 0 };
        ssize_t n = fd_read_all(report, &told, sizeof told);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;

        if (n != sizeof told)
                return err_set(e, ERR_IO, 0, "%s ended before its work was done", VAULT_PROGRAM);

        if (told.code == ERR_NONE)
                return 0;

        *e = told;
        return -1;
}

static void close_all(struct job *j)
{
        for (int i = 0; i <= VAULT_FD_PASSPHRASE; i++)
                fd_close(&j->fd[i]);
}

/* Starts it; the reading end of its report is *ret_report. */
static pid_t begin(const struct cordon_context *cx, struct job *j, struct vault_request *q, int passphrase,
                   int *ret_report, struct err *e)
{
        int report[2];
        AUTO_FD(dir, vault_dir(cx, e));
        if (dir < 0 || host_program(cx, VAULT_PROGRAM, j->program, sizeof j->program, e) < 0)
                return -1;

        q->size = sizeof *q;
        q->has_passphrase = passphrase >= 0;
        if (pipe2(report, O_CLOEXEC) < 0)
                return err_set(e, ERR_IO, errno, "making a pipe: %s", strerror(errno));

        *ret_report = report[0];
        j->fd[VAULT_FD_REQUEST] = request_fd(q);
        j->fd[VAULT_FD_DIR] = out_of_the_way(dir);
        j->fd[VAULT_FD_REPORT] = out_of_the_way(report[1]);
        j->fd[VAULT_FD_PASSPHRASE] = out_of_the_way(passphrase);
        (void) close(report[1]);
        pid_t pid = j->fd[VAULT_FD_REQUEST] < 0 || j->fd[VAULT_FD_DIR] < 0 || j->fd[VAULT_FD_REPORT] < 0
                            ? -1
                            : start(cx, j, q);
        int sys = errno;
        close_all(j);
        if (pid < 0)
                (void) err_set(e, ERR_EXEC, sys, "%s could not be started: %s", VAULT_PROGRAM, strerror(sys));

        return pid;
}

static struct job job_none(void)
{
        struct job j;
        for (int i = 0; i <= VAULT_FD_PASSPHRASE; i++)
                j.fd[i] = -1;
        return j;
}

int vault_work(const struct cordon_context *cx, struct vault_request *q, int secret, int passphrase,
               struct err *e)
{
        struct job j = job_none();
        int report = -1;
        j.fd[0] = out_of_the_way(secret);
        pid_t pid = begin(cx, &j, q, passphrase, &report, e);
        close_all(&j);
        AUTO_FD(hold, report);
        return pid < 0 ? -1 : await(pid, report, e);
}

int vault_give(const struct cordon_context *cx, struct vault_request *q, int grants, int passphrase,
               struct vault_told *ret_told, struct err *e)
{
        struct job j = job_none();
        int report = -1, told[2];
        if (pipe2(told, O_CLOEXEC) < 0)
                return err_set(e, ERR_IO, errno, "making a pipe: %s", strerror(errno));

        AUTO_FD(told_in, told[0]);
        j.fd[VAULT_FD_TOLD] = out_of_the_way(told[1]);
        j.fd[VAULT_FD_GRANTS] = out_of_the_way(grants);
        (void) close(told[1]);
        q->op = VAULT_GIVE;
        pid_t pid = begin(cx, &j, q, passphrase, &report, e);
        close_all(&j);
        AUTO_FD(hold, report);
        if (pid < 0)
                return -1;

        size_t want = q->count * sizeof *ret_told;
        ssize_t n = fd_read_all(told_in, ret_told, want);
        if (await(pid, report, e) < 0)
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

        (void) err_set(e, ERR_HOST, 0, "there is no place for the vault's key file");
        return err_hint(e, "set HOME or XDG_CONFIG_HOME, or name it: --key-file FILE");
}

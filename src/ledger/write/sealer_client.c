/* SPDX-License-Identifier: MIT */
/* ledger/write/sealer_client.c - calls cordon-ledger for operations that need the key or libcrypto. Input
 * and output go through memfds, so that neither side blocks on the other. */
#include "base/fd.h"
#include "base/host/host.h"
#include "base/store/store.h"
#include "ledger/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

int ledger_place(const struct cordon_context *cx, char *ret, size_t cap, struct err *e)
{
        char path[STORE_PATH_MAX];
        if (store_path(cx, path, e) < 0)
                return -1;
        int n = snprintf(ret, cap, "%s/ledger", path);
        return n > 0 && (size_t) n < cap ? 0 : err_set(e, ERR_HOST, 0, "the ledger's path is too long");
}

static int read_back(int fd, struct buf *out)
{
        char chunk[4096];
        ssize_t n;
        if (lseek(fd, 0, SEEK_SET) < 0)
                return -1;

        while ((n = read(fd, chunk, sizeof chunk)) > 0)
                buf_add(out, chunk, (size_t) n);

        return n < 0 ? -1 : 0;
}

static int sealer_failed(int said, struct err *e)
{
        AUTO_BUF(text);
        (void) read_back(said, &text);
        size_t n = strcspn(buf_str(&text), "\n");
        const char *colon = strstr(buf_str(&text), "error: ");
        if (text.n == 0 || !colon)
                return err_set(e, ERR_IO, 0, "cordon-ledger ended without a word");

        size_t skip = (size_t) (colon - text.p) + 7;
        return err_set(e, ERR_IO, 0, "%.*s", n > skip ? (int) (n - skip) : 0, text.p + skip);
}

int ledger_helper_do(const struct cordon_context *cx, const char *verb, const char *arg, struct span input,
                     struct buf *out, struct err *e)
{
        char path[PATH_MAX];
        if (host_program(cx, "cordon-ledger", path, sizeof path, e) < 0)
                return -1;

        AUTO_FD(in, memfd_create("notes", MFD_CLOEXEC));
        AUTO_FD(answer, memfd_create("answer", MFD_CLOEXEC));
        AUTO_FD(said, memfd_create("said", MFD_CLOEXEC));
        if (in < 0 || answer < 0 || said < 0 || fd_write_all(in, input.p, input.n) < 0 ||
            lseek(in, 0, SEEK_SET) < 0)
                return err_set(e, ERR_IO, errno, "no memory files: %s", strerror(errno));

        char name[] = "cordon-ledger";
        char *argv[] = { name, (char *) (uintptr_t) verb, (char *) (uintptr_t) arg, NULL };
        char *empty[] = { NULL };
        const int fds[] = { in, answer, said };
        struct child c = host_spawn(
                &(struct host_spawn){ .path = path, .argv = argv, .envp = empty, .fds = fds, .fd_count = 3 });
        int sys = errno, status = -1;
        if (c.pid < 0)
                return err_set(e, ERR_EXEC, sys, "starting cordon-ledger: %s", strerror(sys));

        AUTO_FD(hold, c.pidfd);
        while ((sys = waitpid(c.pid, &status, 0) < 0 ? errno : 0) == EINTR)
                ;

        if (sys != 0) /* never treated as success */
                return err_set(e, ERR_IO, sys,
                               "the exit status of cordon-ledger is lost: SIGCHLD is ignored, or another "
                               "thread waited for it");

        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                return sealer_failed(said, e);

        return out && read_back(answer, out) < 0 ? err_set(e, ERR_IO, errno, "reading cordon-ledger's answer")
                                                 : 0;
}

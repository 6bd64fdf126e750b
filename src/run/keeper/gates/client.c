/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/client.c - finds the approver's sockets of running boxes, of every user, and connects to
 * one. A name can be bound by any process: the peer's uid must be the one in the name. */
#include "base/fd.h"
#include "run/keeper/gates/gates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { LOOKS = 2, FOUND_MAX = 1024 };
static const char prefix[] = "@cordon-gate/";

struct found {
        uint32_t uid;
        char run[64];
};

static bool parse_name(const char *line, struct found *ret)
{
        const char *at = strstr(line, prefix);
        char *end = NULL;
        unsigned long uid = at ? strtoul(at + sizeof prefix - 1, &end, 10) : 0;
        size_t n = end && *end == '/' ? strspn(end + 1, "0123456789abcdef-") : 0;
        if (n == 0 || n >= sizeof ret->run || uid > UINT32_MAX)
                return false;

        ret->uid = (uint32_t) uid;
        memcpy(ret->run, end + 1, n);
        ret->run[n] = '\0';
        return true;
}

static size_t look(struct found *v, size_t n)
{
        FILE *f = fopen("/proc/net/unix", "re");
        char line[512];
        while (f && fgets(line, sizeof line, f)) {
                struct found x;
                size_t k = 0;
                if (!parse_name(line, &x))
                        continue;
                while (k < n && (v[k].uid != x.uid || strcmp(v[k].run, x.run) != 0))
                        k++;
                if (k == n && n < FOUND_MAX)
                        v[n++] = x;
        }

        if (f)
                (void) fclose(f);
        return n;
}

int box_gates_each(void (*each)(void *ctx, const char *run, unsigned uid), void *ctx, struct err *e)
{
        struct found *v = calloc(FOUND_MAX, sizeof *v);
        size_t n = 0;
        if (!v)
                return err_set(e, ERR_MEMORY, 0, "no memory for the list of boxes");

        for (unsigned i = 0; i < LOOKS; i++) /* others come and go while the file is read */
                n = look(v, n);

        for (size_t i = 0; i < n; i++)
                each(ctx, v[i].run, v[i].uid);

        free(v);
        return 0;
}

int box_gate_connect(const char *run, unsigned uid, struct err *e)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        struct ucred c;
        socklen_t size = sizeof c;
        int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "cordon-gate/%u/%s", uid, run);
        AUTO_FD(fd, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        socklen_t len = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) n);
        if (n <= 0 || (size_t) n >= sizeof a.sun_path - 1)
                return err_set(e, ERR_USAGE, 0, "not the id of a run");

        if (fd < 0 || connect(fd, (struct sockaddr *) &a, len) < 0)
                return err_set(e, ERR_IO, errno, "no box of this run waits for approvals");

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &size) < 0 || c.uid != uid)
                return err_set(e, ERR_IO, 0, "another user's process has the name of this run's socket");

        return TAKE_FD(fd);
}

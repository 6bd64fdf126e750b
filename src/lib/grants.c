/* SPDX-License-Identifier: MIT */
/* lib/grants.c - the credentials that doors name (`with NAME`): cordon-vault writes them into a pipe whose
 * other end only the broker reads. What comes back here are placeholders, which the box may see. */
#include "base/fd.h"
#include "lib/internal.h"
#include "vault/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A user with many pipes (a box of the same user may have made them) gets them with one or two pages, which
 * cannot grow: a socket has room of its own. */
static int through_socket(size_t need, int ret[2])
{
        int room = (int) (2 * need), got = 0;
        socklen_t n = sizeof got;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret) < 0)
                return -1;
        (void) setsockopt(ret[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
        if (getsockopt(ret[1], SOL_SOCKET, SO_SNDBUF, &got, &n) == 0 && (size_t) got >= 2 * need)
                return 0;
        (void) close(ret[0]);
        (void) close(ret[1]);
        return -1;
}

/* Every record at once: who writes is done before the broker reads. So it has room for all, and should that
 * be wrong, a write fails and nobody waits. */
int lib_grants_pipe(size_t count, int ret[2], struct err *e)
{
        size_t need = count * sizeof(struct grant);
        if (pipe2(ret, O_CLOEXEC) < 0)
                return err_set(e, ERR_IO, errno, "no pipe for credentials");
        int room = fcntl(ret[1], F_GETPIPE_SZ);
        bool fits = (room >= 0 && (size_t) room >= need) || fcntl(ret[1], F_SETPIPE_SZ, (int) need) >= 0;
        if (!fits) {
                (void) close(ret[0]);
                (void) close(ret[1]);
                if (through_socket(need, ret) < 0) {
                        (void) err_set(e, ERR_HOST, 0, "this host has no room to hand over %zu credentials",
                                       count);
                        return err_hint(e, "your user has too many pipes open "
                                           "(/proc/sys/fs/pipe-user-pages-soft)");
                }
        }
        (void) fcntl(ret[1], F_SETFL, O_NONBLOCK);
        return 0;
}

int lib_grant_scope(const struct cordon_box *b, const char *name, char ret_scope[GRANT_ASKED], struct err *e)
{
        AUTO_BUF(lines);
        size_t n;
        const struct door *d = policy_doors(b->policy->checked, &n);
        for (size_t i = 0; i < n; i++)
                if (d[i].kind == DOOR_NET && d[i].net.credential && strcmp(d[i].net.credential, name) == 0)
                        policy_net_scope(&d[i], &lines);
        if (lines.failed || lines.n >= GRANT_ASKED)
                return err_set(e, ERR_POLICY, 0, "too many doors name the credential %s", name);
        memcpy(ret_scope, buf_str(&lines), lines.n + 1);
        return 0;
}

static int collect(const struct cordon_box *b, struct vault_request *q, struct err *e)
{
        size_t n;
        const struct door *d = policy_doors(b->policy->checked, &n);
        for (size_t i = 0; i < n; i++) {
                const char *name = d[i].kind == DOOR_NET ? d[i].net.credential : NULL;
                bool known = !name;
                for (uint32_t k = 0; k < q->count && !known; k++)
                        known = strcmp(q->names[k], name) == 0;
                if (known)
                        continue;
                if (q->count == GRANTS_MAX || strlen(name) >= sizeof q->names[0])
                        return err_set(e, ERR_POLICY, 0, "a box can have %d credentials at most", GRANTS_MAX);
                memcpy(q->names[q->count], name, strlen(name) + 1);
                if (lib_grant_scope(b, name, q->asked[q->count++], e) < 0)
                        return -1;
        }
        return 0;
}

static int give(struct cordon_box *b, struct vault_request *q, struct err *e)
{
        int ends[2];
        if (lib_grants_pipe(q->count, ends, e) < 0)
                return -1;
        AUTO_FD(in, ends[0]);
        AUTO_FD(out, ends[1]);
        b->told = calloc(q->count, sizeof *b->told);
        if (!b->told)
                return err_set(e, ERR_MEMORY, 0, "no memory");
        q->stage_live = b->stage == POLICY_STAGE_LIVE;
        if (vault_give(q, out, b->passphrase, b->told, e) < 0)
                return -1;
        b->told_count = q->count;
        b->grants = TAKE_FD(in);
        return 0;
}

int lib_grants(struct cordon_box *b, struct err *e)
{
        if (b->dummies)
                return lib_dummies_give(b, b->dummies, e);
        if (b->stage == POLICY_STAGE_MOCK)
                return lib_dummies_mock(b, e); /* nothing is sent, so nothing is opened */
        struct vault_request *q = calloc(1, sizeof *q);
        if (!q)
                return err_set(e, ERR_MEMORY, 0, "no memory");
        int r = collect(b, q, e);
        if (r == 0 && q->count > 0)
                r = give(b, q, e);
        free(q);
        return r;
}

static bool set_by_policy(const struct cordon_box *b, const char *name)
{
        size_t n;
        const struct door *d = policy_doors(b->policy->checked, &n);
        for (size_t i = 0; i < n; i++)
                if (d[i].kind == DOOR_ENV && strcmp(d[i].name, name) == 0)
                        return true;
        return false;
}

void lib_placeholders(const struct cordon_box *b, const char **v, size_t *n)
{
        for (size_t i = 0; i < b->told_count; i++) {
                const struct vault_told *t = &b->told[i];
                char *both = NULL;
                if (t->env[0] && !set_by_policy(b, t->env) &&
                    asprintf(&both, "%s=%s", t->env, t->placeholder) >= 0)
                        v[(*n)++] = both;
        }
}

void lib_grants_done(struct cordon_box *b)
{
        fd_close(&b->grants);
        free(b->told);
        b->told = NULL;
        b->told_count = 0;
}

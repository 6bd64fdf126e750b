/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_grant.c - reads the credentials of this run from the vault's pipe, before the
 * broker closes its files. They lie in memory of their own: locked if the limits allow, in no core dump,
 * wiped at the end. */
#include "base/fd.h"
#include "base/grant.h"
#include "broker/egress/http/http_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

struct http_grants {
        size_t count;
        struct http_credential credential[GRANTS_MAX];
        struct grant record[GRANTS_MAX + 1]; /* one more, to see that it does not exist */
};

static bool ends(const char *text, size_t cap) { return memchr(text, '\0', cap) != NULL; }

static bool well_formed(const struct grant *g)
{
        return g->size == sizeof *g && g->where > GRANT_NOWHERE && g->where < GRANT_WHERE__COUNT &&
               g->length >= GRANT_SECRET_MIN && g->length <= GRANT_SECRET_MAX &&
               ends(g->name, sizeof g->name) && ends(g->field, sizeof g->field) &&
               ends(g->before, sizeof g->before) && ends(g->after, sizeof g->after) &&
               ends(g->scope, sizeof g->scope);
}

static struct http_credential credential_of(const struct grant *g)
{
        return (struct http_credential){ .name = g->name,
                                         .where = (enum grant_where) g->where,
                                         .field = g->field,
                                         .before = g->before,
                                         .after = g->after,
                                         .secret = span_of(g->secret, g->length),
                                         .placeholder = span_of(g->placeholder, g->length),
                                         .class = g->live ? POLICY_STAGE_LIVE : POLICY_STAGE_TEST,
                                         .expires = g->expires,
                                         .max_uses = g->max_uses };
}

struct http_grants *http_grants_read(int fd, struct err *e)
{
        struct http_grants *x =
                mmap(NULL, sizeof *x, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (x == MAP_FAILED) {
                (void) err_set(e, ERR_MEMORY, errno, "no memory");
                return NULL;
        }

        (void) mlock(x, sizeof *x);
        (void) madvise(x, sizeof *x, MADV_DONTDUMP);
        (void) madvise(x, sizeof *x, MADV_WIPEONFORK);
        ssize_t n = fd_read_all(fd, x->record, sizeof x->record);
        size_t count = n < 0 ? 0 : (size_t) n / sizeof *x->record;
        bool good = n >= 0 && (size_t) n % sizeof *x->record == 0 && count <= GRANTS_MAX;
        for (size_t i = 0; good && i < count; i++) {
                good = well_formed(&x->record[i]);
                x->credential[i] = credential_of(&x->record[i]);
        }

        x->count = count;
        if (good)
                return x;

        http_grants_free(x);
        (void) err_set(e, ERR_IO, 0, "the vault broke off, or belongs to another cordon");
        return NULL;
}

/* Is this one of its lines? */
static bool has_line(const char *scope, const char *line)
{
        for (const char *p = scope; (p = strstr(p, line)); p++)
                if (p == scope || p[-1] == '\n')
                        return true;
        return false;
}

static bool is_granted(const struct http_grants *x, const struct door *d)
{
        AUTO_BUF(line);
        policy_net_scope(d, &line);
        for (size_t i = 0; i < x->count && !line.failed; i++)
                if (strcmp(x->record[i].name, d->net.credential) == 0)
                        return has_line(x->record[i].scope, buf_str(&line));
        return true; /* not in the vault: http_rules_new() reports it */
}

/* The vault has compared the request with the credential's binding; only the box's broker can check that the
 * request matches this box. */
int http_grants_hold(const struct http_grants *x, const struct checked_policy *c, struct err *e)
{
        for (const struct door *d = NULL; (d = policy_door_of(c, DOOR_NET, d));) {
                if (!d->net.credential || is_granted(x, d))
                        continue;
                return err_set(e, ERR_DOOR, 0, "the credential %s was not handed out for the door to %s",
                               d->net.credential, d->net.host);
        }

        return 0;
}

const struct http_credential *http_grants_get(const struct http_grants *x, size_t *ret_count)
{
        *ret_count = x->count;
        return x->credential;
}

void http_grants_free(struct http_grants *x)
{
        if (!x)
                return;
        explicit_bzero(x, sizeof *x);
        (void) munmap(x, sizeof *x);
}

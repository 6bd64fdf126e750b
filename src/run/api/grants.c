/* SPDX-License-Identifier: MIT */
/* run/api/grants.c - the credentials that doors name (`with NAME`): cordon-vault writes them into a pipe
 * whose other end only the broker reads. This process gets back placeholders, which the box may see. */
#include "base/fd.h"
#include "broker/vault/vault.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int collect_names(const struct cordon_box *b, struct vault_request *q, struct err *e)
{
        for (const struct door *d = NULL; (d = policy_door_next(b->policy->checked, d));) {
                const char *name = d->kind == DOOR_NET ? d->net.credential : NULL;
                bool known = !name;
                for (uint32_t k = 0; k < q->count && !known; k++)
                        known = strcmp(q->names[k], name) == 0;
                if (known)
                        continue;
                if (q->count == GRANTS_MAX || strlen(name) >= sizeof q->names[0])
                        return err_set(e, ERR_POLICY, 0, "a box can have %d credentials at most", GRANTS_MAX);
                memcpy(q->names[q->count], name, strlen(name) + 1);
                if (api_grant_scope(b->policy->checked, name, q->asked[q->count++], e) < 0)
                        return -1;
        }

        return 0;
}

/* Only cordon-output reads the secrets that it looks for: without it no file has them. */
static bool is_searched(const struct cordon_box *b)
{
        for (const struct door *d = NULL; (d = policy_door_next(b->policy->checked, d));)
                if (d->kind == DOOR_IN || d->kind == DOOR_OUT)
                        return true;
        return b->checks;
}

static int request_grants(struct cordon_box *b, struct vault_request *q, struct err *e)
{
        int ends[2];
        if (api_grants_pipe(q->count, ends, e) < 0)
                return -1;

        AUTO_FD(in, ends[0]);
        AUTO_FD(out, ends[1]);
        b->told = calloc(q->count, sizeof *b->told);
        if (!b->told)
                return err_set(e, ERR_MEMORY, 0, "no memory");

        q->stage_live = b->c.stage == POLICY_STAGE_LIVE;
        (void) snprintf(q->policy, sizeof q->policy, "%s", policy_digest(b->policy->checked));
        bool searched = is_searched(b);
        AUTO_FD(words,
                searched ? memfd_create("words", MFD_CLOEXEC) : open("/dev/null", O_WRONLY | O_CLOEXEC));
        const struct vault_lines to = { out, words, b->passphrase };
        if (words < 0)
                return err_set(e, ERR_IO, errno, "no file for the secrets to look for: %s", strerror(errno));
        if (vault_give(b->policy->cx, q, &to, &b->giving, e) < 0)
                return -1;

        b->told_count = q->count;
        b->grants = TAKE_FD(in);
        b->c.grants = &b->grants;
        if (searched) {
                b->words = TAKE_FD(words);
                b->c.words = &b->words;
        }
        return 0;
}

bool api_names_credential(const struct cordon_box *b)
{
        for (const struct door *d = NULL; (d = policy_door_of(b->policy->checked, DOOR_NET, d));)
                if (d->net.credential)
                        return true;
        return false;
}

/* Returns 1 if they are written; 0: the vault is being opened, and api_grants_given() reports it; -1 on
 * error. */
static int begin_grants(struct cordon_box *b, struct err *e)
{
        if (b->dummies)
                return api_dummies_give(b, b->dummies, e) < 0 ? -1 : 1;

        if (b->c.stage == POLICY_STAGE_MOCK)
                return api_dummies_mock(b, e) < 0 ? -1 : 1; /* nothing is sent, so nothing is opened */

        if (!api_names_credential(b))
                return 1;

        struct vault_request *q = calloc(1, sizeof *q);
        if (!q)
                return err_set(e, ERR_MEMORY, 0, "no memory");

        int r = collect_names(b, q, e);
        if (r == 0)
                r = request_grants(b, q, e);

        free(q);
        return r;
}

int api_grants(struct cordon_box *b, struct err *e)
{
        api_grants_done(b); /* of a start that failed: its broker may have read them */
        return begin_grants(b, e);
}

int api_grants_given(struct cordon_box *b, struct err *e)
{
        return vault_given(&b->giving, b->told, b->told_count, e);
}

/* One variable, unless the policy sets it. Returns false if out of memory. */
static bool put_variable(const struct cordon_box *b, struct span name, struct span value, const char **v,
                         size_t *n)
{
        char *both = NULL, key[GRANT_NAME];
        (void) snprintf(key, sizeof key, "%.*s", (int) name.n, (const char *) name.p);
        if (name.n == 0 || value.n == 0 || policy_has_door(b->policy->checked, DOOR_ENV, key))
                return true;

        if (asprintf(&both, "%s=%.*s", key, (int) value.n, (const char *) value.p) < 0)
                return false;

        v[(*n)++] = both;
        return true;
}

/* The text up to the colon, if the variables have one: each of them then holds a part of the placeholder. */
static struct span cut_part(const char **text, bool parted)
{
        size_t n = parted ? strcspn(*text, ":") : strlen(*text);
        struct span part = span_of(*text, n);
        *text += n + ((*text)[n] == ':');
        return part;
}

bool api_placeholders(const struct cordon_box *b, const char **v, size_t *n)
{
        for (size_t i = 0; i < b->told_count; i++) {
                const struct vault_told *t = &b->told[i];
                const char *names = t->env, *values = t->placeholder;
                bool parted = strchr(t->env, ':') != NULL;
                for (size_t k = 0; k < GRANT_WORDS && *names; k++) {
                        struct span name = cut_part(&names, parted);
                        if (!put_variable(b, name, cut_part(&values, parted), v, n))
                                return false;
                }
        }

        return true;
}

void api_grants_done(struct cordon_box *b)
{
        vault_giving_end(&b->giving);
        fd_close(&b->grants);
        fd_close(&b->words);
        b->c.grants = b->c.words = NULL;
        free(b->told);
        b->told = NULL;
        b->told_count = 0;
}

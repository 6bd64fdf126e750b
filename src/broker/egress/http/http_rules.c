/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_rules.c - the rules for one box's requests, assembled once and checked. */
#include "broker/egress/http/http_internal.h"

#include <stdlib.h>

bool http_rules_hold_secret(const struct http_rules *r, const char *text)
{
        return r->secrets && secret_words_find(r->secrets, span_str(text)) != 0;
}

bool http_rules_hold_placeholder(const struct http_rules *r, struct span text)
{
        return r->placeholders && secret_words_find(r->placeholders, text) != 0;
}

static const struct http_credential *find_rule(const struct http_rules_in *in, const char *name)
{
        for (size_t i = 0; i < in->credential_count; i++)
                if (strcmp(in->credentials[i].name, name) == 0)
                        return &in->credentials[i];
        return NULL;
}

static bool visible_text(struct span s)
{
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] <= 0x20 || s.p[i] >= 0x7f)
                        return false;
        return s.n >= GRANT_SECRET_MIN && s.n <= GRANT_SECRET_MAX;
}

static int check_credential(const struct http_rules_in *in, const struct http_credential *c, struct err *e)
{
        if (c->where == GRANT_NOWHERE || c->where >= GRANT_WHERE__COUNT || !c->field || !c->before ||
            !c->after)
                return err_set(e, ERR_INTERNAL, 0, "the credential %s has no binding", c->name);

        if (!visible_text(c->secret) || !visible_text(c->placeholder) || c->secret.n != c->placeholder.n ||
            span_eq(c->secret, c->placeholder))
                return err_set(e, ERR_INTERNAL, 0, "the credential %s or its placeholder is malformed",
                               c->name);

        struct grant_key key;
        if (c->where == GRANT_SIGV4 &&
            (!grant_key_split(c->secret, &key) || !grant_key_split(c->placeholder, &key)))
                return err_set(e, ERR_INTERNAL, 0, "the credential %s is not a key of AWS", c->name);

        if (c->class == POLICY_STAGE_LIVE && in->stage != POLICY_STAGE_LIVE) {
                (void) err_set(e, ERR_DOOR, 0,
                               "the credential %s is a live one and does not load in the stage %s", c->name,
                               policy_stage_name(in->stage));
                return err_hint(e, "add one of class test: cordon vault add NAME --class test");
        }

        return 0;
}

/* Every door that names a credential has it. In the stage mock none is needed: nothing is sent. */
static int check_doors(const struct http_rules_in *in, struct err *e)
{
        for (const struct door *d = NULL;
             in->stage != POLICY_STAGE_MOCK && (d = policy_door_of(in->policy, DOOR_NET, d));) {
                if (!d->net.credential || find_rule(in, d->net.credential))
                        continue;
                (void) err_set(e, ERR_DOOR, 0,
                               "the door to %s needs the credential %s, which is not in the vault",
                               d->net.host, d->net.credential);
                return err_hint(e, "cordon vault add %s", d->net.credential);
        }

        return 0;
}

/* The parts of a secret or its placeholder; returns their count. */
static size_t add_words(const struct http_credential *c, struct span text, uint8_t bit, struct span *ret,
                        uint8_t *owner)
{
        size_t n = grant_words(c->where, text, ret);
        memset(owner, bit, n);
        return n;
}

/* A server echoes the request: a server that encodes its requests encodes a password with its user, in
 * base64, once more. */
static struct secret_words *secrets_of(const struct http_rules_in *in)
{
        struct span words[SCRUB_WORDS_MAX];
        uint8_t owner[SCRUB_WORDS_MAX];
        struct fifo sent[GRANTS_MAX] = { 0 };
        size_t n = 0;
        bool failed = false;

        for (size_t i = 0; i < in->credential_count; i++) {
                n += add_words(&in->credentials[i], in->credentials[i].secret, (uint8_t) i, words + n,
                               owner + n);
                swap_as_sent(&in->credentials[i], &sent[i]);
                failed = failed || sent[i].failed;
                words[n] = fifo_all(&sent[i]);
                owner[n] = (uint8_t) i;
                n += sent[i].n > 0;
        }

        struct secret_words *set = failed ? NULL : scrub_set_of(words, owner, n);
        for (size_t i = 0; i < in->credential_count; i++)
                fifo_done(&sent[i]);

        return set;
}

static int make_sets(struct http_rules *r)
{
        struct span words[SCRUB_WORDS_MAX];
        uint8_t owner[SCRUB_WORDS_MAX];
        size_t n = 0;
        r->secrets = secrets_of(&r->in);
        for (size_t i = 0; i < r->in.credential_count; i++)
                n += add_words(&r->in.credentials[i], r->in.credentials[i].placeholder, (uint8_t) i,
                               words + n, owner + n);
        r->placeholders = scrub_set_of(words, owner, n);
        return r->secrets && r->placeholders ? 0 : -1;
}

static bool has_bounds(const struct checked_policy *c)
{
        for (const struct door *d = NULL; (d = policy_door_of(c, DOOR_NET, d));)
                if (d->net.bounds)
                        return true;
        return false;
}

struct http_rules *http_rules_new(const struct http_rules_in *in, struct err *e)
{
        if (in->credential_count > GRANTS_MAX) {
                (void) err_set(e, ERR_LIMIT, 0, "a box can have %d credentials at most", GRANTS_MAX);
                return NULL;
        }

        for (size_t i = 0; i < in->credential_count; i++)
                if (check_credential(in, &in->credentials[i], e) < 0)
                        return NULL;

        if (check_doors(in, e) < 0)
                return NULL;

        struct http_rules *r = calloc(1, sizeof *r);
        if (r) {
                r->in = *in;
                r->bounds = has_bounds(in->policy);
        }

        if (r && make_sets(r) == 0)
                return r;

        http_rules_free(r);
        (void) err_set(e, ERR_MEMORY, 0, "no memory");
        return NULL;
}

void http_rules_free(struct http_rules *r)
{
        if (!r)
                return;
        secret_words_free(r->secrets);
        secret_words_free(r->placeholders);
        free(r);
}

void http_rules_clock(struct http_rules *r, int64_t now) { r->now = now; }

/* Port 0: any. */
static bool url_is(const struct policy_place_url *u, const char *host, uint16_t port)
{
        return u && (port == 0 || u->port == port) && strcmp(u->host, host) == 0;
}

static bool door_reaches(const struct http_rules *r, const struct door *d, const char *host, uint16_t port)
{
        const struct net_dest *n = &d->net;
        if (d->kind != DOOR_NET || n->form == NET_HOST_PORT)
                return false;

        if (n->form == NET_PLACE)
                return url_is(policy_place_asked(r->in.places, n->host, r->in.stage), host, port) ||
                       url_is(policy_place_target(r->in.places, n->host, r->in.stage), host, port);

        if (port != 0 && n->port != port)
                return false;

        size_t a = strlen(host), b = strlen(n->host);
        return n->wildcard ? a > b + 1 && host[a - b - 1] == '.' && strcmp(host + a - b, n->host) == 0
                           : strcmp(host, n->host) == 0;
}

bool http_rules_cover(const struct http_rules *r, const char *host, uint16_t port)
{
        for (const struct door *d = NULL; (d = policy_door_next(r->in.policy, d));)
                if (door_reaches(r, d, host, port))
                        return true;
        return false;
}

uint64_t http_rules_credentials_at(const struct http_rules *r, const char *host)
{
        uint64_t all = 0;
        for (const struct door *d = NULL; (d = policy_door_next(r->in.policy, d));) {
                const struct http_credential *c =
                        d->kind == DOOR_NET && d->net.credential && door_reaches(r, d, host, 0)
                                ? find_rule(&r->in, d->net.credential)
                                : NULL;
                all |= c ? UINT64_C(1) << (c - r->in.credentials) : 0;
        }

        return all;
}

bool http_rules_usable(const struct http_rules *r, const struct http_credential *c,
                       enum effect_reason *ret_why)
{
        if (!c)
                return true;

        if (c->expires && c->expires <= r->now) {
                *ret_why = REASON_CREDENTIAL_EXPIRED;
                return false;
        }

        if (c->max_uses && r->uses[c - r->in.credentials] >= c->max_uses) {
                *ret_why = REASON_CREDENTIAL_USED_UP;
                return false;
        }

        return true;
}

bool http_rules_use(struct http_rules *r, const struct http_credential *c, enum effect_reason *ret_why)
{
        bool good = http_rules_usable(r, c, ret_why);
        if (good && c)
                r->uses[c - r->in.credentials]++;
        return good;
}

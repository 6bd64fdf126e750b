/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_judge.c - checks one request against the policy. policy_decide() is the only
 * decider. The request becomes an effect, as a URL and as each place that it lies in, and of the doors that
 * cover it the most specific one is taken: it supplies the credential and, for a place, the destination.
 * Pure. */
#include "base/str.h"
#include "broker/egress/http/http_internal.h"

#include <stddef.h>
#include <stdio.h>

struct candidate { /* the request in one reading */
        struct effect effect;
        struct net_dest net;                   /* its */
        const struct policy_place_url *target; /* of a place; NULL: as asked */
        size_t depth;                          /* of the path that the place itself stands for */
        bool place;
        char path[2 * HTTP_PATH_MAX];
};

static void copy_text(char *to, size_t cap, const char *text)
{
        size_t n = strnlen(text, cap - 1);
        memcpy(to, text, n);
        to[n] = '\0';
}

static void candidate_none(struct candidate *c)
{
        memset(c, 0, offsetof(struct candidate, path));
        c->path[0] = '\0';
}

static const struct http_credential *credential_of(const struct http_rules *r, const struct door *d)
{
        for (size_t i = 0; d->net.credential && i < r->in.credential_count; i++)
                if (strcmp(r->in.credentials[i].name, d->net.credential) == 0)
                        return &r->in.credentials[i];
        return NULL;
}

static void accept_as(const struct http_rules *r, const struct candidate *c, const struct door *d,
                      struct http_judgement *j)
{
        j->allowed = true;
        j->door = d;
        j->credential = credential_of(r, d);
        j->reason = REASON_NONE;
        j->tail = d->net.form == NET_HOST_PORT ? http_slashes(c->path)
                  : d->net.path_tail           ? http_slashes(c->path + strlen(d->net.path))
                                               : 0;
        const struct policy_place_url *asked = NULL, *t = c->target;
        size_t skip = 1;
        if (!c->place) { /* a URL: perhaps that of a place */
                const struct policy_staged s = { r->in.places, r->in.stage };
                const char *name = policy_place_of(&s, c->effect.net, &asked);
                t = name ? policy_place_target(r->in.places, name, r->in.stage) : NULL;
                skip = asked ? strlen(asked->path) : 1;
                if (!asked && d->net.form == NET_URL && !policy_stage_has_url(&s, c->effect.net)) {
                        j->allowed = false;
                        j->reason = REASON_NO_PLACE;
                }
        }

        if (t) {
                (void) snprintf(j->host, sizeof j->host, "%s", t->host);
                (void) snprintf(j->path, sizeof j->path, "%s%s", t->path, c->path + skip);
                j->port = t->port;
                j->tls = t->tls;
                j->is_address = t->is_address;
        }

        if ((c->place || asked) && !t && r->in.stage != POLICY_STAGE_MOCK) {
                j->allowed = false;
                j->reason = REASON_PLACE_NOWHERE;
        }

        if (d->net.credential && !j->credential && r->in.stage != POLICY_STAGE_MOCK) {
                j->allowed = false;
                j->reason = REASON_CREDENTIAL_NOT_LOADED;
        }
}

/* Is there a door that only its parameters could open? */
static bool asks_params(const struct http_rules *r, const struct effect *f)
{
        for (const struct door *d = NULL; (d = policy_door_next(r->in.policy, d));)
                if (!(d->until && d->until <= r->now) && policy_net_asks_params(d, f))
                        return true;
        return false;
}

static void tell_fault(const struct effect *f, const struct decision *d, struct http_judgement *j)
{
        AUTO_BUF(fault);
        AUTO_BUF(permit);
        if (d->reason != REASON_PARAMETER || !f->params)
                return;

        policy_bound_fault(d->nearest, f, &fault);
        policy_smallest_line(f, d, &permit);
        (void) str_inert(buf_span(&fault), j->fault, sizeof j->fault);
        if (!permit.failed && permit.n < sizeof j->permit)
                copy_text(j->permit, sizeof j->permit, buf_str(&permit));
}

static void judge_one(const struct http_rules *r, const struct candidate *c, struct policy_choice *best,
                      struct http_judgement *j)
{
        struct decision d = policy_decide(r->in.policy, &c->effect);
        if (r->bounds && !c->effect.params)
                j->bounded = j->bounded || asks_params(r, &c->effect);

        if (d.answer == ANSWER_ALLOW && policy_net_choose(r->in.policy, &c->effect, c->depth, r->now, best))
                accept_as(r, c, best->door, j);
        else if (!best->door && d.answer == ANSWER_ALLOW)
                j->reason = REASON_EXPIRED; /* it was open when the policy was loaded */
        else if (!best->door && d.reason != REASON_NO_DOOR &&
                 (d.reason != REASON_HOST || j->reason == REASON_NO_DOOR) && j->reason != REASON_PARAMETER) {
                j->reason = d.reason;
                tell_fault(&c->effect, &d, j);
        }
}

static void judge_place(const struct http_rules *r, const char *name, const struct policy_place_url *u,
                        const struct candidate *as_url, struct policy_choice *best, struct http_judgement *j)
{
        const struct net_dest *n = as_url->effect.net;
        size_t base = u ? strlen(u->path) : 0;
        if (!policy_place_holds(u, n))
                return;

        char place[NAME_MAX_BYTES];
        (void) snprintf(place, sizeof place, "%s", name);
        struct candidate c;
        candidate_none(&c);
        c.effect = as_url->effect;
        c.depth = base;
        c.place = true;
        (void) snprintf(c.path, sizeof c.path, "/%s", n->path + base);
        c.net = (struct net_dest){ .form = NET_PLACE, .host = place, .path = c.path };
        c.effect.net = &c.net;
        c.target = policy_place_target(r->in.places, name, r->in.stage);
        judge_one(r, &c, best, j);
}

/* A path is long and mostly empty: only its end is set. */
void http_judgement_none(struct http_judgement *j)
{
        memset(j, 0, offsetof(struct http_judgement, host));
        j->host[0] = j->path[0] = j->fault[0] = j->permit[0] = '\0';
}

void http_judge(const struct http_rules *r, const struct http_verdict_in *in, struct http_judgement *ret)
{
        char host[256], method[40];
        struct candidate c;
        struct policy_choice best = { 0 };

        candidate_none(&c);
        copy_text(host, sizeof host, in->peer->host);
        copy_text(method, sizeof method, in->method);
        copy_text(c.path, sizeof c.path, in->path);
        http_judgement_none(ret);
        ret->reason = REASON_NO_DOOR;
        ret->is_address = in->peer->is_address;
        ret->tls = in->tls;
        ret->port = in->peer->port;
        copy_text(ret->host, sizeof ret->host, host);
        copy_text(ret->path, sizeof ret->path, in->path);
        c.net = (struct net_dest){ .form = NET_URL,
                                   .tls = in->tls,
                                   .is_address = in->peer->is_address,
                                   .port = in->peer->port,
                                   .host = host,
                                   .path = c.path };
        c.effect =
                (struct effect){ .kind = EFFECT_NET, .method = method, .params = in->params, .net = &c.net };
        c.effect.subject =
                (struct subject){ .label = r->in.label, .rehearsal = r->in.stage != POLICY_STAGE_LIVE };
        judge_one(r, &c, &best, ret);
        const char *name;
        for (size_t i = 0; (name = policy_place_name(r->in.places, i)); i++) {
                const struct policy_place_url *asked = policy_place_asked(r->in.places, name, r->in.stage);
                const struct policy_place_url *target = policy_place_target(r->in.places, name, r->in.stage);
                judge_place(r, name, asked, &c, &best, ret);
                if (target != asked)
                        judge_place(r, name, target, &c, &best, ret);
        }

        ret->by_policy = !best.door;
        if (best.door)
                ret->asks = (best.door->ask.on && !best.door->ask.labelled) ||
                            policy_flow(r->in.policy, best.door, &c.effect).answer == ANSWER_ASK;
}

/* SPDX-License-Identifier: MIT */
/* policy/decide/staged.c - requests and doors in one stage: the place that contains a URL, and its target. */
#include "effect/label/label.h"
#include "policy/internal.h"

bool policy_place_holds(const struct policy_place_url *u, const struct net_dest *n)
{
        return u && u->tls == n->tls && u->port == n->port && strcmp(u->host, n->host) == 0 &&
               strncmp(u->path, n->path, strlen(u->path)) == 0;
}

const char *policy_place_of(const struct policy_staged *s, const struct net_dest *n,
                            const struct policy_place_url **ret)
{
        const char *best = NULL, *name;
        *ret = NULL;
        for (size_t i = 0; (name = policy_place_name(s->places, i)); i++) {
                const struct policy_place_url *u = policy_place_asked(s->places, name, s->stage);
                if (policy_place_holds(u, n) && (!*ret || strlen(u->path) > strlen((*ret)->path))) {
                        *ret = u;
                        best = name;
                }
        }

        return best;
}

/* The request as one to a place; false: the place does not contain the URL. */
static bool as_place(const struct policy_place_url *u, char *name, const struct net_dest *url,
                     struct net_dest *ret)
{
        if (!policy_place_holds(u, url))
                return false;

        *ret = (struct net_dest){ .form = NET_PLACE,
                                  .host = name,
                                  .path = url->path + strlen(u->path) - 1 }; /* both have that '/' */
        return true;
}

/* Longer paths are more specific, an exact one more than a tail; then one with a credential. */
static size_t door_weight(const struct door *d, size_t depth)
{
        if (d->net.form == NET_HOST_PORT)
                return 1;
        return 8 + 4 * (depth + strlen(d->net.path)) + (d->net.path_tail ? 0 : 2) +
               (d->net.credential ? 1 : 0);
}

/* One of equally specific doors has to permit: without a question, else with one. */
static size_t ease_decision(const struct checked_policy *c, const struct door *d, const struct effect *f)
{
        enum answer flow = policy_flow(c, d, f).answer;
        bool asks = d->ask.on && !d->ask.labelled;
        return flow == ANSWER_DENY ? 0 : flow == ANSWER_ALLOW && !asks ? 2 : 1;
}

bool policy_net_choose(const struct checked_policy *c, const struct effect *f, size_t depth, int64_t now,
                       struct policy_choice *best)
{
        const size_t before = best->weight;
        for (size_t i = c->live.start[DOOR_NET]; i < c->live.start[DOOR_NET + 1]; i++) {
                const struct door *d = &c->live.v[i];
                if ((d->until && d->until <= now) || !policy_net_covers(d, f))
                        continue;
                size_t w = 3 * door_weight(d, depth) + ease_decision(c, d, f);
                if (w > best->weight)
                        *best = (struct policy_choice){ d, w };
        }

        return best->weight > before;
}

enum answer policy_answer(const struct checked_policy *c, const struct effect *f, struct decision *d)
{
        struct policy_choice choice = { 0 }; /* of several doors the most specific one asks, or does not */
        struct policy_flow flow = { ANSWER_ALLOW, REASON_NONE };
        if (d->answer != ANSWER_ALLOW)
                return ANSWER_DENY;

        struct label held = policy_label_held(c, f);
        struct effect e = *f;
        e.subject.label = &held;
        if (f->kind == EFFECT_NET && policy_net_choose(c, &e, 0, 0, &choice))
                d->door = choice.door;

        if (f->kind == EFFECT_NET && d->door)
                flow = policy_flow(c, d->door, &e);

        d->reason = flow.reason;
        return flow.answer != ANSWER_ALLOW ? flow.answer : policy_asks(d) ? ANSWER_ASK : ANSWER_ALLOW;
}

/* The more specific reason is better: a door to the place that lacks a method, not a host without a door. */
static bool is_better(const struct decision *d, const struct decision *than)
{
        return than->answer != ANSWER_ALLOW && d->reason != REASON_NO_DOOR &&
               (d->reason != REASON_HOST || than->reason == REASON_NO_DOOR);
}

/* One reading of the request, as URL or in a place. Returns true if it is the best so far. */
static bool decide_as(const struct checked_policy *c, const struct effect *f, size_t depth,
                      struct policy_choice *choice, struct decision *best)
{
        struct decision d = policy_decide(c, f);
        bool better =
                d.answer == ANSWER_ALLOW ? policy_net_choose(c, f, depth, 0, choice) : is_better(&d, best);
        if (!better)
                return false;

        *best = d;
        if (d.answer == ANSWER_ALLOW)
                best->door = choice->door;

        return true;
}

struct decision policy_decide_staged(const struct checked_policy *c, const struct policy_staged *s,
                                     struct effect *f)
{
        struct decision best = policy_decide(c, f);
        struct policy_choice choice = { 0 };
        const struct net_dest *url = f->net;
        char *name;

        if (f->kind != EFFECT_NET)
                return best;

        (void) decide_as(c, f, 0, &choice, &best);
        for (size_t i = 0; url->form == NET_URL && (name = place_name(s->places, i / 2)); i++) {
                struct net_dest *to = arena_alloc(f->mem, sizeof *to);
                struct effect e = *f;
                e.net = to;
                const struct policy_place_url *u =
                        (i % 2 ? policy_place_target : policy_place_asked)(s->places, name, s->stage);
                if (to && as_place(u, name, url, to) && decide_as(c, &e, strlen(u->path), &choice, &best))
                        *f = e;
        }

        return best;
}

/* ---- targets in the stage test ---- */

static bool host_is(const struct net_dest *n, const char *host)
{
        if (!n->wildcard)
                return strcmp(n->host, host) == 0;

        size_t h = strlen(host), k = strlen(n->host);
        return h > k + 1 && host[h - k - 1] == '.' && strcmp(host + h - k, n->host) == 0;
}

/* Can a request through this door lie in the place? */
static bool door_meets(const struct net_dest *n, const struct policy_place_url *u)
{
        if (!u || u->port != n->port || !host_is(n, u->host))
                return false;

        if (n->form == NET_HOST_PORT)
                return !n->wildcard;

        if (u->tls != n->tls)
                return false;

        size_t door = strlen(n->path), place = strlen(u->path);
        bool below = strncmp(u->path, n->path, place) == 0;
        return below || (n->path_tail && door < place && strncmp(u->path, n->path, door) == 0);
}

/* ---- labels of places ---- */

static bool may_meet(const struct net_dest *n, const struct policy_place_url *u)
{
        bool bytes = n->form == NET_HOST_PORT && u && u->port == n->port; /* which no path bounds */
        return door_meets(n, u) || (bytes && host_is(n, u->host));
}

static bool door_reaches(const struct policy_staged *s, const struct net_dest *n, const char *name)
{
        if (n->form == NET_PLACE)
                return strcmp(n->host, name) == 0;
        return may_meet(n, policy_place_asked(s->places, name, s->stage)) ||
               may_meet(n, policy_place_target(s->places, name, s->stage));
}

int policy_label_places(struct checked_policy *c, const struct policy_staged *s, struct err *e)
{
        char text[LABEL_TEXT_MAX];
        const char *name;
        for (size_t i = 0; i < c->live.n; i++) {
                struct door *d = &c->live.v[i];
                struct label l = label_of(d->flow.label), before = l;
                for (size_t k = 0; d->kind == DOOR_NET && (name = policy_place_name(s->places, k)); k++) {
                        struct label by = place_label(s->places, name);
                        if (door_reaches(s, &d->net, name))
                                label_join(&l, &by);
                }

                if (!label_equal(&l, &before) && !(d->flow.label = arena_str(&c->mem, label_text(&l, text))))
                        return fail_memory(e);
        }
        return 0;
}

bool policy_stage_has_door(const struct policy_staged *s, const struct net_dest *n)
{
        const char *name;

        if (s->stage != POLICY_STAGE_TEST || n->form == NET_PLACE)
                return true;

        for (size_t i = 0; (name = policy_place_name(s->places, i)); i++) {
                const struct policy_place_url *asked = policy_place_asked(s->places, name, s->stage);
                if (door_meets(n, policy_place_target(s->places, name, s->stage)) ||
                    (n->form == NET_URL && door_meets(n, asked)))
                        return true;
        }

        return false;
}

bool policy_stage_has_url(const struct policy_staged *s, const struct net_dest *n)
{
        const char *name;

        if (s->stage != POLICY_STAGE_TEST)
                return true;

        for (size_t i = 0; (name = policy_place_name(s->places, i)); i++)
                if (policy_place_holds(policy_place_target(s->places, name, s->stage), n))
                        return true;

        return false;
}

static void print_url(const struct policy_place_url *u, struct buf *out)
{
        bool v6 = u->is_address && strchr(u->host, ':');
        buf_printf(out, "%s://%s%s%s", u->tls ? "https" : "http", v6 ? "[" : "", u->host, v6 ? "]" : "");
        if (u->port != (u->tls ? 443 : 80))
                buf_printf(out, ":%u", u->port);
        buf_puts(out, u->path);
}

enum policy_leads policy_leads(const struct policy_staged *s, const struct net_dest *n, struct buf *url)
{
        const struct policy_place_url *asked = NULL;
        const char *name = n->form == NET_PLACE ? n->host : NULL;
        size_t skip = 1;

        if (name)
                asked = policy_place_asked(s->places, name, s->stage);
        else if (n->form == NET_URL && (name = policy_place_of(s, n, &asked)))
                skip = strlen(asked->path);

        if (name && !asked)
                return POLICY_LEADS_NOWHERE;

        if (s->stage == POLICY_STAGE_MOCK)
                return POLICY_LEADS_MOCK;

        const struct policy_place_url *to = name ? policy_place_target(s->places, name, s->stage) : NULL;
        if (!to && (name || !(n->form == NET_URL ? policy_stage_has_url : policy_stage_has_door)(s, n)))
                return POLICY_LEADS_NOWHERE;

        if (!to)
                return POLICY_LEADS_ITSELF;

        print_url(to, url);
        buf_puts(url, n->path + skip);
        return POLICY_LEADS_THERE;
}

/* ---- the places that doors name ---- */

static bool is_first(const struct door *d, size_t i)
{
        for (size_t k = 0; k < i; k++)
                if (d[k].kind == DOOR_NET && d[k].net.form == NET_PLACE &&
                    strcmp(d[k].net.host, d[i].net.host) == 0)
                        return false;
        return d[i].kind == DOOR_NET && d[i].net.form == NET_PLACE;
}

static void place_json(const char *key, const struct policy_place_url *u, struct buf *out)
{
        AUTO_BUF(url);
        if (u)
                print_url(u, &url);

        out->failed = out->failed || url.failed;
        buf_member(out, key, u ? buf_str(&url) : NULL);
}

void staged_json(const struct checked_policy *c, const struct policy_staged *s, struct buf *out)
{
        size_t n;
        const struct door *d = policy_doors(c, &n);

        buf_printf(out, ",\"stage\":\"%s\",\"places\":[", policy_stage_name(s->stage));
        for (size_t i = 0; i < n; i++) {
                if (!is_first(d, i))
                        continue;
                buf_member_json(out, NULL, "{");
                buf_member(out, "name", d[i].net.host);
                place_json("asked", policy_place_asked(s->places, d[i].net.host, s->stage), out);
                place_json("leads", policy_place_target(s->places, d[i].net.host, s->stage), out);
                buf_putc(out, '}');
        }

        buf_putc(out, ']');
}

void staged_text(const struct checked_policy *c, const struct policy_staged *s, struct buf *out)
{
        size_t n;
        bool first = true;
        const struct door *d = policy_doors(c, &n);

        for (size_t i = 0; i < n; i++) {
                if (!is_first(d, i))
                        continue;
                const char *name = d[i].net.host;
                const struct policy_place_url *asked = policy_place_asked(s->places, name, s->stage),
                                              *to = policy_place_target(s->places, name, s->stage);
                if (first)
                        buf_printf(out, "\nPlaces, in the stage %s:\n", policy_stage_name(s->stage));
                first = false;
                buf_printf(out, "- @%s", name);
                if (asked) {
                        buf_puts(out, " is asked for at ");
                        print_url(asked, out);
                }
                if (to) {
                        buf_puts(out, " and leads to ");
                        print_url(to, out);
                } else {
                        buf_puts(out, !asked                          ? " is in no places file"
                                      : s->stage == POLICY_STAGE_MOCK ? "; recorded exchanges answer"
                                                                      : " and leads nowhere");
                }
                buf_puts(out, ".\n");
        }
}

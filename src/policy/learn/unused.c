/* SPDX-License-Identifier: MIT */
/* policy/learn/unused.c - the doors of a policy that no past run used, according to the ledger. A door
 * without records stays open. */
#include "base/str.h"
#include "policy/learn/internal.h"
#include "policy/policy.h"

#include <stdlib.h>

static bool is_listed(const char *const *v, size_t n, const char *text) { return str_row(v, n, text) >= 0; }

/* "host:port" of one connection against a door; an address may have brackets. */
static bool leads_to(const struct net_dest *n, const char *to)
{
        const char *colon = strrchr(to, ':');
        size_t len = colon ? (size_t) (colon - to) : 0, own = strlen(n->host);
        if (!colon || strtoul(colon + 1, NULL, 10) != n->port)
                return false;

        if (to[0] == '[' && len > 2 && to[len - 1] == ']') {
                to++;
                len -= 2;
        }

        if (n->wildcard)
                return len > own + 1 && to[len - own - 1] == '.' &&
                       strncmp(to + len - own, n->host, own) == 0;

        return len == own && strncmp(to, n->host, own) == 0;
}

static enum learn_use judge_net(const struct door *d, const struct learn_evidence *ev)
{
        if (d->net.form == NET_PLACE)
                return LEARN_NOT_JUDGED;
        for (size_t i = 0; i < ev->dest_count; i++)
                if (leads_to(&d->net, ev->dests[i]))
                        return LEARN_USED;
        return ev->runs < ev->need ? LEARN_UNKNOWN : LEARN_UNUSED;
}

static enum learn_use judge_file(const struct door *d, const struct learn_evidence *ev)
{
        AUTO_BUF(line);
        policy_door_line(d, &line);
        if (line.failed)
                return LEARN_UNKNOWN;

        if (is_listed(ev->lines, ev->line_count, buf_str(&line)))
                return LEARN_USED;

        return ev->observed < ev->need ? LEARN_UNKNOWN : LEARN_UNUSED;
}

static enum learn_use judge_door(const struct door *d, const struct learn_evidence *ev)
{
        switch (d->kind) {
        case DOOR_NET:
                return judge_net(d, ev);
        case DOOR_READ:
        case DOOR_EDIT:
        case DOOR_WRITE:
        case DOOR_RUN:
                return judge_file(d, ev);
        case DOOR_ENV:
        case DOOR_SOCK:
        case DOOR_SIGN:
        case DOOR_DECRYPT:
        case DOOR_DEV:
        case DOOR_LISTEN:
        case DOOR_TOOL:
        case DOOR_IN:
        case DOOR_OUT:
        case DOOR_NONE:
        case DOOR_KIND__COUNT:
                break;
        }
        return LEARN_NOT_JUDGED;
}

/* It has no separate line. */
static bool comes_along(const struct door *d)
{
        return d->from_stock && (d->kind == DOOR_ENV || strcmp(d->at.file, "base/loader") == 0);
}

/* A `use` brings many doors. Those with records decide for those without. */
enum learn_use learn_line_use(const char *line, const struct learn_evidence *ev)
{
        struct err e;
        struct policy_context at = ev->at;
        at.default_system = false; /* the line alone */
        struct policy *p = policy_new();
        struct checked_policy *c = NULL;
        size_t n = 0;
        bool seen[LEARN_USE__COUNT] = { false };
        if (p && policy_add_text(p, "line", span_str(line), &e) == 0)
                c = policy_check(p, &at, &e);

        const struct door *d = c ? policy_doors(c, &n) : NULL;
        for (size_t i = 0; i < n; i++)
                if (!comes_along(&d[i]))
                        seen[judge_door(&d[i], ev)] = true;

        policy_checked_free(c);
        policy_free(p);
        return seen[LEARN_USED]         ? LEARN_USED
               : seen[LEARN_UNKNOWN]    ? LEARN_UNKNOWN
               : seen[LEARN_NOT_JUDGED] ? LEARN_NOT_JUDGED
               : seen[LEARN_UNUSED]     ? LEARN_UNUSED
                                        : LEARN_NOT_JUDGED;
}

void learn_close_unused(struct learn_draft *d, const struct learn_evidence *ev)
{
        for (size_t i = 0; i < d->n; i++)
                if (d->v[i].door && !d->v[i].closed && learn_line_use(d->v[i].text, ev) == LEARN_UNUSED)
                        d->v[i].closed = true;
}

int learn_replay(struct learn_draft *d, struct learn_runner *r, unsigned runs, struct learn_result *ret,
                 struct err *e)
{
        struct trial t = { .d = d, .r = r, .e = e };
        ret->passed = trial_base(&t);
        ret->last = t.base;
        for (unsigned i = 2; i < runs && ret->passed; i++)
                ret->passed = trial_passes(&t);

        ret->complete = ret->passed;
        return t.result;
}

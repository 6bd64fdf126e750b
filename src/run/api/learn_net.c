/* SPDX-License-Identifier: MIT */
/* run/api/learn_net.c - learns the network access of a command.
 *
 * Nothing leaves unless the user agreed to that destination (--network ask) or named it before (--net). A run
 * that is denied a socket gets a broker in the next round, with a door to nowhere, which reports the
 * requested names. Those get doors to a path of 128 random bits, so that the broker accepts the connection,
 * reads the request, denies it and reports it. In the stages deny and mock the broker connects nowhere at
 * all.
 * Never: opens a door to a destination that the user did not agree to, except for that path; asks about
 * destinations that are never learned. */
#include "base/str.h"
#include "run/api/teacher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

int teacher_net_begin(struct teacher *t, cordon_error *e)
{
        uint8_t random[16];
        struct net_lesson *n = &t->net;
        if (getrandom(random, sizeof random, 0) != sizeof random)
                return err_set(to_err(e), ERR_HOST, errno, "the kernel gives no random bytes");

        for (size_t i = 0; i < sizeof random; i++)
                (void) snprintf(n->secret + 2 * i, 3, "%02x", random[i]);

        if (!t->o->places)
                return 0;

        size_t len = 0;
        char *text = api_slurp(t->o->places, &len, to_err(e));
        if (text)
                n->places = policy_places_parse(t->o->places, span_of(text, len), to_err(e));

        free(text);
        return n->places ? 0 : -1;
}

void teacher_net_done(struct teacher *t)
{
        for (size_t i = 0; i < t->net.reached_count; i++)
                free(t->net.reached[i]);
        free(t->net.reached);
        policy_places_free(t->net.places);
}

void teacher_net_configure(const struct teacher *t, cordon_box *b)
{
        const cordon_learning *o = t->o;
        bool live = o->net == CORDON_LEARN_NET_ASK;
        (void) cordon_box_set(b, CORDON_STAGE, !live ? "mock" : o->stage ? o->stage : "live");
        if (o->places)
                (void) cordon_box_set(b, CORDON_PLACES, o->places);

        if (o->answers && o->net == CORDON_LEARN_NET_MOCK)
                (void) cordon_box_set(b, CORDON_ANSWERS, o->answers);
}

/* ---- doors that lead nowhere ---- */

void teacher_net_doors(const struct teacher *t, struct buf *out)
{
        const struct net_lesson *n = &t->net;
        if (!n->wanted || !n->holds)
                return;

        /* Hosts stand in the certificate that the box can read: the secret is in the path alone. */
        buf_printf(out, "net https://nowhere.invalid/%s GET\nnet http://nowhere.invalid/%s GET\n", n->secret,
                   n->secret);
        for (unsigned i = 0; i < n->probes; i++) {
                const struct net_probe *p = &n->probe[i];
                char port[8] = "";
                if (p->port)
                        (void) snprintf(port, sizeof port, ":%u", p->port);
                buf_printf(out, "net https://%s%s/%s GET\nnet http://%s%s/%s GET\n", p->host, port, n->secret,
                           p->host, port, n->secret);
        }
}

static void probe_host(struct net_lesson *n, const char *host, uint16_t port)
{
        for (unsigned i = 0; i < n->probes; i++)
                if (n->probe[i].port == port && strcmp(n->probe[i].host, host) == 0)
                        return;

        if (n->probes == NET_PROBES_MAX || strlen(host) >= NET_HOST)
                return;

        struct net_probe *p = &n->probe[n->probes++];
        (void) snprintf(p->host, sizeof p->host, "%s", host);
        p->port = port == 443 || port == 80 ? 0 : port;
        n->again = true;
}

bool teacher_net_socket(struct teacher *t, const cordon_denial *d)
{
        struct net_lesson *n = &t->net;
        bool refused = strcmp(d->layer, "seccomp") == 0 && strcmp(d->reason, "socket") == 0;
        if (!n->holds || !refused)
                return false;

        if (n->program[0] && strcmp(n->program, d->program) != 0)
                n->several = true;

        (void) snprintf(n->program, sizeof n->program, "%s", d->program);
        n->again |= !n->wanted;
        n->wanted = true;
        return true;
}

/* ---- may it be tried? ---- */

static bool named_before(const cordon_learning *o, const char *to)
{
        for (const char *const *x = o->net_to; x && *x; x++) {
                size_t n = strlen(*x);
                if (strcmp(*x, to) == 0 ||
                    (strncmp(*x, to, n) == 0 && to[n] == ':' && !strchr(to + n + 1, ':')))
                        return true;
        }

        return false;
}

/* One question for each destination, and its answer is kept. NULL: no room for it, so no. */
static struct net_answer *answer_of(struct teacher *t, const char *to, const char *what)
{
        struct net_lesson *n = &t->net;
        for (unsigned i = 0; i < n->answers; i++)
                if (strcmp(n->answer[i].to, to) == 0)
                        return &n->answer[i];

        if (n->answers == NET_ANSWERS_MAX || strlen(to) >= sizeof n->answer[0].to)
                return NULL;

        struct net_answer *a = &n->answer[n->answers++];
        (void) snprintf(a->to, sizeof a->to, "%s", to);
        a->yes = named_before(t->o, to) || (t->o->agree && t->o->agree(t->o->agree_ctx, to, what) == 1);
        return a;
}

static bool may_try(struct teacher *t, const struct learn_access *a, const char *to, const char *what)
{
        if (learn_is_sensitive(a))
                return false;

        if (t->o->net == CORDON_LEARN_NET_MOCK)
                return strstr(a->path, "://") != NULL; /* bytes have no recorded answer */

        if (t->o->net != CORDON_LEARN_NET_ASK)
                return false;

        const struct net_answer *x = answer_of(t, to, what);
        return x && x->yes;
}

/* ---- denials ---- */

struct refused {
        const struct egress_row *row;
        struct learn *l;
        unsigned run;
};

static void add_refusal(struct teacher *t, const struct refused *r, struct learn_access *a, const char *to)
{
        a->kind = EFFECT_NET;
        a->program = t->net.several ? "" : t->net.program;
        AUTO_BUF(what);
        egress_row_text(r->row, &what);
        a->agreed = to && may_try(t, a, to, buf_str(&what));
        if (learn_add(r->l, a, r->run))
                t->net.again = true;
}

/* Protocols in which the server sends first: their clients wait for it, and a probe would see nothing. */
static bool speaks_first(unsigned port)
{
        static const uint16_t ports[] = { 21, 22, 23, 25, 110, 119, 143, 194, 587, 993, 995, 3306, 5900 };
        for (size_t i = 0; i < sizeof ports / sizeof *ports; i++)
                if (ports[i] == port)
                        return true;
        return false;
}

static bool is_probed(const struct net_lesson *n, const char *host, unsigned port)
{
        for (unsigned i = 0; i < n->probes; i++) {
                const struct net_probe *p = &n->probe[i];
                if (strcmp(p->host, host) == 0 &&
                    (p->port == port || (p->port == 0 && (port == 443 || port == 80))))
                        return true;
        }

        return false;
}

/* "host:port" without a door: a door to nowhere there shows the protocol. */
static void tell_connection(struct teacher *t, const struct refused *r, const char *to)
{
        char host[NET_HOST];
        struct learn_access a = { .kind = EFFECT_NET, .path = to };
        const char *colon = strrchr(to, ':');
        unsigned long port = colon ? strtoul(colon + 1, NULL, 10) : 0;
        if (!colon || port == 0 || port > 65535 || (size_t) (colon - to) >= sizeof host)
                return;

        (void) snprintf(host, sizeof host, "%.*s", (int) (colon - to), to);
        if (learn_is_sensitive(&a) || speaks_first((unsigned) port) ||
            is_probed(&t->net, host, (unsigned) port))
                add_refusal(t, r, &a, to);
        else {
                probe_host(&t->net, host, (uint16_t) port);
                add_refusal(t, r, &a, NULL);
        }
}

/* The bytes of a query: only a valid host name goes into a line. */
static void tell_name(struct teacher *t, const struct refused *r, const char *name)
{
        char host[256];
        bool is_address;
        const char *why;
        struct learn_access a = { .kind = EFFECT_NET, .path = name };

        if (policy_host(span_str(name), host, &is_address, &why) == 0 && !is_address) {
                a.path = host;
                if (!learn_is_sensitive(&a))
                        probe_host(&t->net, host, 0);
        }

        add_refusal(t, r, &a, NULL);
}

/* "host:port" of "https://host:port/path". */
static bool url_to(const char *url, char *ret, size_t cap)
{
        const char *host = strstr(url, "://");
        if (!host)
                return false;

        host += 3;
        size_t n = strcspn(host, "/");
        size_t name = host[0] == '[' ? strcspn(host, "]") : 0;
        bool has_port = memchr(host + name, ':', n > name ? n - name : 0) != NULL;
        int k = snprintf(ret, cap, "%.*s%s", (int) n, host,
                         has_port                        ? ""
                         : strncmp(url, "https", 5) == 0 ? ":443"
                                                         : ":80");
        return n > name && k > 0 && (size_t) k < cap;
}

/* The next credential that was not tried for it yet. */
static const char *next_credential(struct teacher *t, const char *to)
{
        struct net_lesson *n = &t->net;
        struct net_answer *x = NULL;
        for (unsigned i = 0; i < n->answers; i++)
                x = strcmp(n->answer[i].to, to) == 0 ? &n->answer[i] : x;

        if (!x && t->o->net == CORDON_LEARN_NET_MOCK)
                x = answer_of(t, to, "");

        return x && x->tried_with < t->dummies.count ? t->dummies.v[x->tried_with++].name : NULL;
}

/* A request: "GET https://host/path". Without a method, the bytes were not a request. */
static void tell_request(struct teacher *t, const struct refused *r, const char *method, const char *url)
{
        char to[NET_HOST + 8];
        struct learn_access a = { .kind = EFFECT_NET, .path = url, .method = method };

        if (!url_to(url, to, sizeof to))
                return;

        if (!method[0]) {
                a.path = to;
                a.method = NULL;
        } else if (effect_reason_is_placeholder(r->row->reason)) {
                a.with = next_credential(t, to);
        }

        add_refusal(t, r, &a, to);
}

static void tell_row(struct teacher *t, const struct refused *r)
{
        const struct egress_row *row = r->row;
        if (strstr(row->to, t->net.secret))
                return; /* our own */

        if (row->form == EGRESS_NAME) {
                tell_name(t, r, row->to);
        } else if (row->form == EGRESS_REQUEST) {
                tell_request(t, r, row->method, row->to);
        } else if (row->form == EGRESS_CONNECTION) {
                tell_connection(t, r, row->to);
        } else { /* UDP, other protocols: no door */
                AUTO_BUF(text);
                egress_row_text(row, &text);
                struct learn_access a = { .kind = EFFECT_NET, .path = buf_str(&text) };
                add_refusal(t, r, &a, NULL);
        }
}

static bool was_asked(const struct box_result *r, const char *to)
{
        char other[NET_HOST + 8];
        for (unsigned i = 0; i < r->net_count; i++)
                if (r->net[i].form == EGRESS_REQUEST && url_to(r->net[i].to, other, sizeof other) &&
                    strcmp(other, to) == 0)
                        return true;

        return false;
}

/* Connected behind a door to nowhere, and sent no request: then it is bytes. */
static void tell_silent(struct teacher *t, const struct refused *r, const struct box_result *all)
{
        const struct egress_row *row = r->row;
        const char *colon = strrchr(row->to, ':');
        char host[NET_HOST];
        struct learn_access a = { .kind = EFFECT_NET, .path = row->to };

        if (row->requests || !row->connections || row->reason || !colon || was_asked(all, row->to))
                return;

        (void) snprintf(host, sizeof host, "%.*s", (int) (colon - row->to), row->to);
        if (is_probed(&t->net, host, (unsigned) strtoul(colon + 1, NULL, 10)))
                add_refusal(t, r, &a, row->to);
}

void teacher_net_tell(struct teacher *t, struct learn *l, unsigned run, const cordon_box *b)
{
        const struct box_result *r = b->box ? box_result(b->box) : NULL;
        for (unsigned i = 0; r && r->net && i < r->net_count; i++) {
                struct refused one = { &r->net[i], l, run };
                if (r->net[i].allowed)
                        tell_silent(t, &one, r);
                else if (r->net[i].to[0])
                        tell_row(t, &one);
        }
}

/* ---- the doors of a given policy ---- */

static void note_one(struct net_lesson *n, const char *to)
{
        for (size_t i = 0; i < n->reached_count; i++)
                if (strcmp(n->reached[i], to) == 0)
                        return;

        char **all = reallocarray(n->reached, n->reached_count + 1, sizeof *all);
        char *copy = strdup(to);
        if (all)
                n->reached = all;
        n->reached_lost |= !all || !copy;
        if (all && copy)
                n->reached[n->reached_count++] = copy;
        else
                free(copy);
}

void teacher_net_note(struct teacher *t, const cordon_box *b)
{
        const struct box_result *r = b->box ? box_result(b->box) : NULL;
        for (unsigned i = 0; r && r->net && i < r->net_count; i++)
                if (r->net[i].form == EGRESS_CONNECTION)
                        note_one(&t->net, r->net[i].to);
        t->net.reached_lost |= !r || r->net_lost > 0;
}

void teacher_net_spare(void *ctx, struct learn_draft *d)
{
        const struct teacher *t = ctx;
        const struct learn_evidence ev = { .dests = (const char *const *) t->net.reached,
                                           .dest_count = t->net.reached_count,
                                           .runs = t->net.reached_lost ? 0 : t->begun,
                                           .need = 1,
                                           .at = t->at };
        for (size_t i = 0; t->o->net == CORDON_LEARN_NET_DENY && i < d->n; i++) {
                enum learn_use use = learn_line_use(d->v[i].text, &ev);
                bool net = strncmp(d->v[i].text, "net ", 4) == 0;
                d->v[i].keep |= use == LEARN_USED || (net && use != LEARN_UNUSED);
        }
}

/* ---- places ---- */

/* Which place a URL lies in, the innermost: "@api/v1/x" for https://api.example/v1/x. */
bool teacher_net_place(void *ctx, const char *url, struct buf *ret)
{
        const struct teacher *t = ctx;
        const char *best = NULL, *name;
        size_t depth = 0;

        for (size_t i = 0; (name = policy_place_name(t->net.places, i)); i++) {
                const struct policy_place_url *u = policy_place_asked(t->net.places, name, POLICY_STAGE_LIVE);
                if (!u)
                        continue;
                AUTO_BUF(front);
                bool brackets = strchr(u->host, ':') != NULL, standard = u->port == (u->tls ? 443 : 80);
                buf_printf(&front, "%s://%s%s%s", u->tls ? "https" : "http", brackets ? "[" : "", u->host,
                           brackets ? "]" : "");
                if (!standard)
                        buf_printf(&front, ":%u", u->port);
                buf_puts(&front, u->path);
                if (!front.failed && front.n > depth && strncmp(url, buf_str(&front), front.n) == 0) {
                        best = name;
                        depth = front.n;
                }
        }

        if (best)
                buf_printf(ret, "@%s/%s", best, url + depth);

        return best != NULL;
}

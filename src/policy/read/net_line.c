/* SPDX-License-Identifier: MIT */
/* policy/read/net_line.c - the `net` line: destination, methods, credential, caps, and declared effects. */
#include "policy/internal.h"

#include <stdio.h>

enum { ANSWER_BYTES = 8 << 20 }; /* unless `max` says another size */

static int read_credential(struct reader *r, struct net_dest *d)
{
        const struct token *t = reader_need(r, "the credential after `with`");
        if (!t)
                return -1;

        if (d->credential)
                return fail_at(r->e, &t->at, "duplicate `with`");

        if (!name_ok(t->text, "._-"))
                return fail_at(r->e, &t->at, "invalid credential name \"%s\"", show_text(t->text).text);

        d->credential = t->text;
        return 0;
}

static const char *const cap_tails[] = {
        [NET_CAP_BYTES] = "", [NET_CAP_OUT] = "/out", [NET_CAP_IN] = "/in", [NET_CAP_HOUR] = "/h"
};
_Static_assert(COUNT(cap_tails) == NET_CAP__COUNT, "a word for each");

char *net_cap_text(const struct net_dest *d, enum net_cap c, char buf[NET_CAP_TEXT])
{
        char size[32];
        if (c == NET_CAP_HOUR)
                (void) snprintf(buf, NET_CAP_TEXT, "%llu%s", (unsigned long long) d->cap[c], cap_tails[c]);
        else
                (void) snprintf(buf, NET_CAP_TEXT, "%s%s", str_from_size(d->cap[c], size), cap_tails[c]);
        return buf;
}

static int read_cap(struct reader *r, struct net_dest *d)
{
        const struct token *t = reader_need(r, "the amount after `cap`");
        if (!t)
                return -1;

        size_t n = strcspn(t->text, "/"), c = 0;
        while (c < NET_CAP__COUNT && strcmp(t->text + n, cap_tails[c]) != 0)
                c++;

        uint64_t v = 0;
        struct span amount = span_of(t->text, n);
        int bad = c == NET_CAP_HOUR ? str_to_u64(amount, &v) : str_to_size(amount, &v);
        if (c == NET_CAP__COUNT || bad < 0 || v == 0 || v > limit_row(LIMIT_EGRESS)->most) {
                (void) fail_at(r->e, &t->at, "\"%s\" is not a cap", show_text(t->text).text);
                return err_hint(r->e, "use `cap 600M` for bytes, `cap 10M/out` or `cap 1G/in` for those of "
                                      "one way, or `cap 2000/h` for requests an hour");
        }

        if (d->cap[c])
                return fail_at(r->e, &t->at, "duplicate `cap`");

        d->cap[c] = v;
        return 0;
}

static const char *const reaches[] = { [NET_REACH_SELF] = "self",
                                       [NET_REACH_TENANT] = "tenant",
                                       [NET_REACH_NAMED] = "named",
                                       [NET_REACH_PUBLIC] = "public" };
static const char *const touched[] = { [NET_TOUCH_QUOTA] = "quota",
                                       [NET_TOUCH_MONEY] = "money",
                                       [NET_TOUCH_TICKET] = "ticket",
                                       [NET_TOUCH_PERSON] = "person" };
_Static_assert(COUNT(touched) == NET_TOUCH__COUNT, "a word for each");

const char *net_reach_word(unsigned reach) { return reach < COUNT(reaches) ? reaches[reach] : NULL; }
const char *net_touch_word(unsigned touch) { return touch < COUNT(touched) ? touched[touch] : NULL; }

/* The index of a word in a table whose first row may be empty; `n`: not found. */
static size_t word_number(const char *const *table, size_t n, const struct token *t)
{
        size_t i = 0;
        while (i < n && !(table[i] && strcmp(t->text, table[i]) == 0))
                i++;
        return i;
}

static int read_reach(struct reader *r, struct net_dest *d)
{
        const struct token *t = reader_need(r, "whom it reaches, after `reach`,");
        if (!t)
                return -1;

        if (d->reach)
                return fail_at(r->e, &t->at, "duplicate `reach`");

        size_t i = word_number(reaches, COUNT(reaches), t);
        if (i == COUNT(reaches)) {
                (void) fail_at(r->e, &t->at, "invalid `reach` \"%s\"", show_text(t->text).text);
                return err_hint(r->e, "use self, tenant, named or public");
        }

        d->reach = (uint8_t) i;
        return 0;
}

/* One or more; the first other word is the line's next keyword. */
static int read_touches(struct reader *r, struct net_dest *d)
{
        const struct token *t = reader_need(r, "what it touches, after `touches`,");
        if (!t)
                return -1;

        if (d->touches)
                return fail_at(r->e, &t->at, "duplicate `touches`");

        size_t i = word_number(touched, COUNT(touched), t);
        if (i == COUNT(touched)) {
                (void) fail_at(r->e, &t->at, "invalid `touches` \"%s\"", show_text(t->text).text);
                return err_hint(r->e, "use quota, money, ticket or person, or several of them");
        }

        for (; t && (i = word_number(touched, COUNT(touched), t)) < COUNT(touched); t = reader_next(r)) {
                if (d->touches & 1u << i)
                        return fail_at(r->e, &t->at, "duplicate \"%s\"", t->text);
                d->touches |= (uint8_t) (1u << i);
        }

        if (t)
                r->i--;

        return 0;
}

/* After the upgrade, messages are not requests. */
static int refuse_bounded_websocket(struct reader *r, const struct door *d)
{
        for (char **m = d->net.methods; d->net.bounds && m && *m; m++) {
                if (strcmp(*m, "WEBSOCKET") != 0)
                        continue;
                (void) fail_at(r->e, &d->at, "`where` cannot see into a WebSocket");
                return err_hint(r->e, "give WEBSOCKET a line of its own");
        }

        return 0;
}

/* `as TYPE` and `max SIZE` of the answers. */
static int read_answer_type(struct reader *r, struct door *d)
{
        if (d->type != HANDLE_BINARY)
                return fail_at(r->e, &r->tok[r->i - 1].at, "duplicate `as`");

        if (d->net.form == NET_HOST_PORT) {
                (void) fail_at(r->e, &d->at, "`as` does not work on a raw connection");
                return err_hint(r->e, "use https://host/** instead of host:port");
        }

        if (door_read_type(r, d) < 0)
                return -1;

        if (!d->max_stated)
                d->max = ANSWER_BYTES;
        return d->type == HANDLE_BINARY ? fail_at(r->e, &d->at, "answers are binary without `as`") : 0;
}

static int check_answer_type(struct reader *r, const struct door *d)
{
        if (d->max_stated && d->type == HANDLE_BINARY) {
                (void) fail_at(r->e, &d->at, "`max` of an answer needs `as TYPE`");
                return err_hint(r->e, "`cap 1G/in` limits the bytes of all answers");
        }

        for (char **m = d->net.methods; d->type != HANDLE_BINARY && m && *m; m++) {
                if (strcmp(*m, "WEBSOCKET") != 0)
                        continue;
                (void) fail_at(r->e, &d->at, "`as` cannot see into a WebSocket");
                return err_hint(r->e, "give WEBSOCKET a line of its own");
        }
        return 0;
}

int line_net(struct reader *r)
{
        const struct token *t = reader_need(r, "the destination");
        struct door *d = t ? reader_door(r, DOOR_NET, t) : NULL;
        if (!d || net_dest_parse(&r->p->mem, t, NET_AS_WEBSOCKET, &d->net, r->e) < 0 ||
            net_begin_methods(r, &d->net) < 0)
                return -1;

        const struct token *to = t;
        while ((t = reader_next(r))) {
                int bad = token_is(t, "with")      ? read_credential(r, &d->net)
                          : token_is(t, "cap")     ? read_cap(r, &d->net)
                          : token_is(t, "reach")   ? read_reach(r, &d->net)
                          : token_is(t, "touches") ? read_touches(r, &d->net)
                          : token_is(t, "where")   ? bounds_read(r, &d->net)
                          : token_is(t, "as")      ? read_answer_type(r, d)
                          : token_is(t, "max")     ? door_read_max(r, d)
                                                   : net_read_method(r, &d->net, t);
                if (bad < 0)
                        return -1;
        }

        if (net_end_methods(r, &d->net, net_is_websocket(to) ? to : NULL) < 0)
                return -1;

        return check_answer_type(r, d) < 0 ? -1 : refuse_bounded_websocket(r, d);
}

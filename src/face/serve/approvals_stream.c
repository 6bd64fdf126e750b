/* SPDX-License-Identifier: MIT */
/* face/serve/approvals_stream.c - events for those who approve: what is new, and what no longer waits. */
#include "base/clock.h"
#include "face/serve/internal.h"

#include <stdlib.h>
#include <string.h>

enum { ID = 64, KNOWN_MAX = 1024, LOOK_S = 5, ALIVE_S = 15, BEHIND_MAX = 1 << 20 };

struct approvals_stream {
        uint64_t asked, looked_ns, sent_ns;
        size_t count;
        char known[KNOWN_MAX][ID]; /* ids that the client was told */
};

int approvals_stream_begin(struct client *c)
{
        c->stream = calloc(1, sizeof *c->stream);
        if (!c->stream)
                return -1;

        c->stream->asked = UINT64_MAX;
        c->stream->sent_ns = clock_mono_ns();
        return 0;
}

void approvals_stream_free(struct client *c)
{
        free(c->stream);
        c->stream = NULL;
}

static size_t find(char (*ids)[ID], size_t n, const char *id)
{
        size_t i = 0;
        while (i < n && memcmp(ids[i], id, ID) != 0)
                i++;
        return i;
}

struct look {
        struct client *c;
        size_t count;
        char (*now)[ID];
};

static void tell_item(struct client *c, const struct asker *a, const struct json *item)
{
        buf_puts(&c->h.out, "event: pending\ndata: ");
        AUTO_BUF(text);
        approvals_item(a, item, &text);
        buf_printf(&c->h.out, "%s\n\n", buf_str(&text));
}

static bool look_at(void *ctx, const struct asker *a)
{
        struct look *l = ctx;
        const struct approvals_stream *st = l->c->stream;
        struct json_doc *d = asker_ask(a, &l->c->admitted, "{\"op\":\"list\"}", NULL);
        const struct json *items = d ? json_of(json_root(d), "items", JSON_ARRAY) : NULL;
        for (const struct json *i = items ? items->child : NULL; i && l->count < KNOWN_MAX; i = i->next) {
                const char *id = json_str(i, "id");
                if (!id || strlen(id) != ID)
                        continue;
                if (find(l->c->stream->known, st->count, id) == st->count)
                        tell_item(l->c, a, i);
                memcpy(l->now[l->count++], id, ID);
        }
        json_free(d);
        return false;
}

static void tell_gone(struct client *c, const struct look *l)
{
        struct approvals_stream *st = c->stream;
        for (size_t i = 0; i < st->count; i++)
                if (find(l->now, l->count, st->known[i]) == l->count)
                        buf_printf(&c->h.out, "event: gone\ndata: {\"id\":\"%.64s\"}\n\n", st->known[i]);
        memcpy(st->known, l->now, l->count * ID);
        st->count = l->count;
}

static void follow(struct server *s, struct client *c)
{
        struct approvals_stream *st = c->stream;
        uint64_t now = clock_mono_ns(), asked = tenant_book(c->admitted.tenant)->asked;
        size_t before = c->h.out.n;
        struct look l = { .c = c };
        if (st->asked != asked || now - st->looked_ns >= LOOK_S * 1000000000ull)
                l.now = calloc(KNOWN_MAX, ID);
        if (l.now) {
                st->asked = asked;
                st->looked_ns = now;
                (void) askers_each(s, c->admitted.tenant, look_at, &l);
                tell_gone(c, &l);
                free(l.now);
        }

        if (c->h.out.n == before && now - st->sent_ns >= ALIVE_S * 1000000000ull)
                buf_puts(&c->h.out, ": \n\n");
        if (c->h.out.n != before)
                st->sent_ns = now;
        c->h.gone |= c->h.out.failed;
        http_conn_flush(&c->h);
}

/* A client that does not read gets nothing more until it has. */
void approvals_follow(struct server *s)
{
        for (size_t i = 0; i < CLIENTS_MAX; i++) {
                struct client *c = s->clients[i];
                if (!c || !c->stream || c->h.gone || c->h.out.n > BEHIND_MAX)
                        continue;

                if (s->draining) {
                        approvals_stream_free(c);
                        c->h.busy = false;
                        http_conn_flush(&c->h);
                        continue;
                }
                follow(s, c);
        }
}

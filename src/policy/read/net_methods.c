/* SPDX-License-Identifier: MIT */
/* policy/read/net_methods.c - the methods of a `net` line. */
#include "policy/internal.h"

#include <stdlib.h>

/* CONNECT is missing: a tunnel through a permitted host would reach others. WEBSOCKET is a GET with an
 * upgrade: after it no request can be seen any more, so a door without methods does not cover it. */
static const char *const methods[] = {
        "COPY", "DELETE",   "GET",       "HEAD", "LOCK",   "MKCOL",  "MOVE",   "OPTIONS",   "PATCH",
        "POST", "PROPFIND", "PROPPATCH", "PUT",  "REPORT", "SEARCH", "UNLOCK", "WEBSOCKET",
};

bool policy_method_known(const char *method) { return net_method_known(method); }
bool net_method_unnamed(const char *method) { return !method || strcmp(method, "WEBSOCKET") != 0; }

bool net_method_known(const char *method) { return str_row(methods, COUNT(methods), method) >= 0; }

int net_begin_methods(struct reader *r, struct net_dest *d)
{
        d->methods = arena_alloc(&r->p->mem, (r->n - r->i + 2) * sizeof *d->methods);
        return d->methods ? 0 : fail_memory(r->e);
}

int net_read_method(struct reader *r, struct net_dest *d, const struct token *t)
{
        static const char *const words[] = {
                "with", "cap", "reach",   "touches",    "where", "in",  "only",
                "as",   "max", "accepts", "declassify", "label", "ask", "until"
        };
        size_t n = 0;
        if (!net_method_known(t->text)) {
                (void) fail_at(r->e, &t->at,
                               "\"%s\" is neither a method nor `with`, `cap`, `reach`, `touches`, `where`, "
                               "`as`, `label`, `accepts`, `declassify`, `ask` or `until`",
                               show_text(t->text).text);
                hint_nearest(r->e, t->text, methods, COUNT(methods));
                hint_nearest(r->e, t->text, words, COUNT(words));
                return -1;
        }

        if (d->form == NET_HOST_PORT) {
                (void) fail_at(r->e, &t->at, "a method cannot be seen in a raw connection");
                return err_hint(r->e, "use https://host/** instead of host:port");
        }

        for (; d->methods[n]; n++)
                if (strcmp(d->methods[n], t->text) == 0)
                        return fail_at(r->e, &t->at, "duplicate \"%s\"", t->text);

        d->methods[n] = t->text;
        return 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *) a, *(char *const *) b); }

/* wss://host/path is https://host/path WEBSOCKET, and nothing else. */
static int add_websocket(struct reader *r, const struct token *t, struct net_dest *d)
{
        if (!d->methods[0])
                d->methods[0] = arena_str(&r->p->mem, "WEBSOCKET");
        if (!d->methods[0])
                return fail_memory(r->e);

        if (strcmp(d->methods[0], "WEBSOCKET") == 0 && !d->methods[1])
                return 0;

        (void) fail_at(r->e, &t->at, "\"%s\" is a WebSocket URL and takes no other method",
                       show_text(t->text).text);
        return err_hint(r->e, "use https://host/path GET WEBSOCKET for both");
}

int net_end_methods(struct reader *r, struct net_dest *d, const struct token *websocket)
{
        size_t n = 0;
        if (websocket && add_websocket(r, websocket, d) < 0)
                return -1;

        while (d->methods[n])
                n++;

        qsort(d->methods, n, sizeof *d->methods, by_name);
        if (n == 0)
                d->methods = NULL;

        return 0;
}

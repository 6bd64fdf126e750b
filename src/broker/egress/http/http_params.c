/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_params.c - the parameters of one request: of its query, and of its body if that is
 * a form or a JSON object that every server parses alike; and its cookies, if they could be taken for
 * parameters. Pure. */
#include "broker/egress/http/http_internal.h"

#include <strings.h>

enum body_form { FORM_OTHER = 0, FORM_ESCAPED, FORM_JSON };

static bool same_word(struct span s, const char *word)
{
        return s.n == strlen(word) && strncasecmp((const char *) s.p, word, s.n) == 0;
}

/* Only the plain form: "application/json", followed at most by a charset that is UTF-8. */
static enum body_form form_of(struct span type)
{
        const uint8_t *semicolon = type.n ? memchr(type.p, ';', type.n) : NULL;
        size_t n = semicolon ? (size_t) (semicolon - type.p) : type.n;
        struct span kind = http_trim(span_of(type.p, n));
        struct span rest = semicolon ? http_trim(span_of(type.p + n + 1, type.n - n - 1)) : span_of("", 0);
        static const char front[] = "application/", tail[] = "+json";
        bool plain = !semicolon || same_word(rest, "charset=utf-8") || same_word(rest, "charset=\"utf-8\"");
        if (!plain)
                return FORM_OTHER;

        if (same_word(kind, "application/x-www-form-urlencoded"))
                return FORM_ESCAPED;

        for (size_t i = 0; i < kind.n; i++)
                if (kind.p[i] <= ' ' || strchr(",;\"\\()<>@:[]?=", kind.p[i]))
                        return FORM_OTHER;

        bool tailed = kind.n > sizeof front + sizeof tail - 2 &&
                      same_word(span_of(kind.p, sizeof front - 1), front) &&
                      same_word(span_of(kind.p + kind.n - (sizeof tail - 1), sizeof tail - 1), tail);
        return tailed || same_word(kind, "application/json") ? FORM_JSON : FORM_OTHER;
}

static void read_json(struct http_exchange *x, struct span body, struct span sent)
{
        policy_params_json(&x->params, &x->params_mem, body);
        if (body.p != sent.p)
                policy_params_packed(&x->params, &x->params_mem, sent);
}

static void read_body(struct http_flow *f, struct span body)
{
        struct http_exchange *x = &f->x;
        const struct http_field *t = http_field_find(&f->head, "content-type", NULL);
        enum body_form form = t ? form_of(t->value) : FORM_OTHER;
        struct span sent = body;

        if (!t)
                x->params.unread = "the body does not say what it is";
        else if (http_field_find(&f->head, "content-type", t))
                x->params.unread = "the request has two Content-Type headers";
        else if ((x->params.unread = http_packed_read(&f->head, &x->params_mem, &body)))
                return;
        else if (form == FORM_ESCAPED && body.p != sent.p) /* any bytes are a form to a server that does not
                                                              unpack them */
                x->params.unread = "a form that is compressed can be read in two ways";
        else if (form == FORM_ESCAPED)
                policy_params_form(&x->params, &x->params_mem, body, true);
        else if (form == FORM_JSON)
                read_json(x, body, sent);
        else
                x->params.unread = "the body is neither a plain form nor JSON, both in UTF-8";
}

static bool is_secret(const struct http_rules *r, struct span text)
{
        return secret_words_find(r->placeholders, text) || secret_words_find(r->secrets, text);
}

/* A value that could be a credential, the box's own or a placeholder of ours, is not repeated in any text. */
static void hide_param(const struct http_rules *r, struct param *p)
{
        static char not_shown[] = "(not shown)"; /* no bound has such a name either */
        p->hidden = swap_is_credential_query(span_str(p->name)) || is_secret(r, span_str(p->value));
        for (struct param *x = p->items; x; x = x->next)
                x->hidden = p->hidden || is_secret(r, span_str(x->value));

        if (is_secret(r, span_str(p->name)))
                p->name = not_shown;
}

/* Starlette's request.url is made of the path without its escapes, and its query begins at the first '?'. */
static bool hides_query(const char *path) { return strstr(path, "%3F") || strstr(path, "%23"); }

static void read_head(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        if (hides_query(f->url.path))
                x->params.unread = "an escaped ? or # in the path begins a query or ends it for some servers";
        else
                policy_params_form(&x->params, &x->params_mem, f->url.query, false);

        for (const struct http_field *c = NULL; (c = http_field_find(&f->head, "cookie", c));)
                policy_params_cookies(&x->params, &x->params_mem, c->value);
}

void http_params_read(struct http_flow *f, struct span body, const char *unread)
{
        struct http_exchange *x = &f->x;
        x->params = (struct params){ .unread = unread };
        x->params_known = true;
        if (!unread)
                read_head(f);

        if (!x->params.unread && body.n)
                read_body(f, body);

        if (x->params.unread && is_secret(f->r, body))
                x->params.unread = "the body cannot be read in one way only";

        for (struct param *p = x->params.first; p; p = p->next)
                hide_param(f->r, p);
}

/* Called once: later parts of a body are streamed, and had no parameters. */
void http_params_done(struct http_exchange *x)
{
        arena_done(&x->params_mem);
        x->params = (struct params){ .unread = "they were judged already" };
}

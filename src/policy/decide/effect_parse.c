/* SPDX-License-Identifier: MIT */
/* policy/decide/effect_parse.c - effects in words: "read PATH", "run PROG", "net GET https://host/path", ...
 */
#include "effect/label/label.h"
#include "policy/internal.h"

#include <stdlib.h>

struct effect_in {
        const struct scope *s;
        const struct token *tok; /* after the word */
        size_t n;
        struct effect *f;
};

static int fail_effect(const struct effect_in *x, const char *what)
{
        return fail_at(x->s->e, &x->tok[-1].at, "%s", what);
}

static int fail_count(const struct effect_in *x, const char *what, const char *example)
{
        (void) fail_effect(x, what);
        return err_hint(x->s->e, "for example `%s`; a name with spaces stands in quotes", example);
}

static int effect_path(const struct effect_in *x)
{
        char *raw;
        bool optional;
        if (x->n != 1)
                return fail_count(x, "this effect takes one path", "read /etc/passwd");

        if (path_token(x->tok, x->s->mem, &raw, &optional, x->s->e) < 0)
                return -1;

        if (optional)
                return fail_effect(x, "an effect is one concrete path, without ?");

        x->f->target = path_expand(x->s, &x->tok->at, raw);
        return x->f->target ? 0 : -1;
}

static int effect_run(const struct effect_in *x)
{
        char *raw;
        bool optional;
        if (x->n != 1)
                return fail_count(x, "this effect takes one program", "run python3");

        if (path_token(x->tok, x->s->mem, &raw, &optional, x->s->e) < 0)
                return -1;

        if (optional || strcmp(raw, "*") == 0 || token_is(x->tok, "any") || raw[strlen(raw) - 1] == '/')
                return fail_effect(x, "an effect is one concrete program");

        x->f->target = path_program(x->s, &x->tok->at, raw);
        return x->f->target ? 0 : -1;
}

static int effect_env(const struct effect_in *x)
{
        if (x->n != 1 || !name_ok(x->tok->text, "_"))
                return fail_count(x, "this effect takes one variable's name", "env HOME");
        x->f->target = arena_str(x->s->mem, x->tok->text);
        return x->f->target ? 0 : fail_memory(x->s->e);
}

static int effect_key(const struct effect_in *x)
{
        if (x->n != 1)
                return fail_count(x, "this effect takes one key", "sign ssh:SHA256:...");
        x->f->target = arena_str(x->s->mem, x->tok->text);
        return x->f->target ? 0 : fail_memory(x->s->e);
}

/* The parameters are those of the query, and of a body that follows. */
static int effect_query(const struct effect_in *x, const struct token *url)
{
        const char *mark = strchr(url->text, '?');
        struct params *p = arena_alloc(x->s->mem, sizeof *p);
        if (!p)
                return fail_memory(x->s->e);

        x->f->params = p;
        if (!mark)
                return 0;

        for (const char *q = mark + 1; *q; q++)
                if (*q <= ' ' || *q >= 0x7f || strchr("#\"<>\\`", *q))
                        return fail_at(x->s->e, &url->at, "a character that no URL query has");

        x->f->query = arena_str(x->s->mem, mark + 1);
        policy_params_form(p, x->s->mem, span_str(mark + 1), false);
        return x->f->query && !p->failed ? 0 : fail_memory(x->s->e);
}

/* `body TEXT`: JSON, or a form. */
static int effect_body(const struct effect_in *x, const struct token *t)
{
        const char *text = arena_str(x->s->mem, t->text);
        struct params *p = arena_alloc(x->s->mem, sizeof *p);
        if (!text || !p)
                return fail_memory(x->s->e);

        if (x->f->params)
                *p = *x->f->params;
        x->f->body = text;
        x->f->params = p;
        if (text[0] == '{' || text[0] == '[')
                policy_params_json(p, x->s->mem, span_str(text));
        else
                policy_params_form(p, x->s->mem, span_str(text), true);
        return p->failed ? fail_memory(x->s->e) : 0;
}

/* `after LABEL...`: what the subject has read. */
static int effect_after(const struct effect_in *x, const struct token *t, size_t n)
{
        struct label *l = arena_alloc(x->s->mem, sizeof *l);
        char text[LABEL_TEXT_MAX];
        if (!l)
                return fail_memory(x->s->e);

        for (size_t i = 0; i < n; i++)
                if (!label_add(l, span_str(t[i].text))) {
                        (void) fail_at(x->s->e, &t[i].at, "\"%s\" is not a label", show_text(t[i].text).text);
                        return err_hint(x->s->e, "use private:NAME, untrusted, or several of them");
                }

        if (n == 0)
                return fail_effect(x, "`after` takes labels: private:NAME, untrusted, or several of them");

        x->f->subject.label = l;
        x->f->after = arena_str(x->s->mem, label_text(l, text));
        return x->f->after ? 0 : fail_memory(x->s->e);
}

static size_t find_word(const struct effect_in *x, const char *word)
{
        size_t i = 1;
        while (i < x->n && (x->tok[i].quoted || !token_is(&x->tok[i], word)))
                i++;
        return i < x->n ? i : x->n;
}

static int effect_url(const struct effect_in *x);

/* net [METHOD] DEST [body TEXT] [after LABEL...] */
static int effect_net(const struct effect_in *x)
{
        size_t after = find_word(x, "after"), body = find_word(x, "body");
        struct effect_in first = *x;
        first.n = body < after ? body : after;
        if (body < after && after != body + 2)
                return fail_effect(x, "`body` takes one word: a form, a=1&b=2, or JSON, in quotes");

        if (effect_url(&first) < 0 || (body < after && effect_body(x, &x->tok[body + 1]) < 0))
                return -1;
        return after < x->n ? effect_after(x, &x->tok[after + 1], x->n - after - 1) : 0;
}

/* A URL without a method would test every method or none: the method is required. Lines have it after the
 * URL. */
static int effect_url(const struct effect_in *x)
{
        if (x->n < 1 || x->n > 2)
                return fail_effect(x, "use `net METHOD URL` or `net HOST:PORT`");

        bool behind = x->n == 2 && !net_method_known(x->tok[0].text) && net_method_known(x->tok[1].text);
        const struct token *url = &x->tok[behind ? 0 : x->n - 1], *method = &x->tok[behind];
        struct net_dest *net = arena_alloc(x->s->mem, sizeof *net);
        if (!net)
                return fail_memory(x->s->e);

        x->f->net = net;
        if (net_dest_parse(x->s->mem, url, NET_IN_EFFECT | NET_AS_WEBSOCKET, net, x->s->e) < 0)
                return -1;

        bool raw = net->form == NET_HOST_PORT, websocket = net_is_websocket(url);
        if (websocket && x->n == 2 && !token_is(method, "WEBSOCKET"))
                return fail_at(x->s->e, &url->at, "a URL of a WebSocket has no other method than WEBSOCKET");

        if (raw != (x->n == 1) && !websocket) {
                (void) fail_effect(x, raw ? "host:port has no method" : "the method is missing");
                return err_hint(x->s->e, "use `net GET https://host/path` or `net host:443`");
        }

        if (raw)
                return 0;

        if (!websocket && !net_method_known(method->text))
                return fail_at(x->s->e, &method->at, "unknown method \"%s\"", show_text(method->text).text);

        x->f->method = arena_str(x->s->mem, websocket ? "WEBSOCKET" : method->text);
        return x->f->method ? effect_query(x, url) : fail_memory(x->s->e);
}

/* tool NAME [ARGUMENTS], which are a JSON object */
static int effect_tool(const struct effect_in *x)
{
        const char *args = x->n == 2 ? x->tok[1].text : "{}";
        struct params *p = arena_alloc(x->s->mem, sizeof *p);
        if (x->n < 1 || x->n > 2 || args[0] != '{')
                return fail_count(x, "this effect takes a tool's name, and its arguments as a JSON object",
                                  "tool read_file '{\"path\":\"a\"}'");

        x->f->target = arena_str(x->s->mem, x->tok->text);
        x->f->body = x->n == 2 ? arena_str(x->s->mem, args) : NULL;
        if (!p || !x->f->target || (x->n == 2 && !x->f->body))
                return fail_memory(x->s->e);

        x->f->params = p;
        policy_params_json(p, x->s->mem, span_str(args));
        return p->failed ? fail_memory(x->s->e) : 0;
}

static const struct {
        enum effect_kind kind;
        int (*read)(const struct effect_in *x);
} effects[] = {
        { EFFECT_READ, effect_path }, { EFFECT_WRITE, effect_path },  { EFFECT_RUN, effect_run },
        { EFFECT_NET, effect_net },   { EFFECT_ENV, effect_env },     { EFFECT_SOCK, effect_path },
        { EFFECT_SIGN, effect_key },  { EFFECT_DECRYPT, effect_key }, { EFFECT_DEV, effect_path },
        { EFFECT_TOOL, effect_tool },
};

/* Synonyms that users type. */
static const struct {
        const char *word, *meant;
} synonyms[] = {
        { "edit", "write" },   { "change", "write" }, { "create", "write" }, { "delete", "write" },
        { "open", "read" },    { "see", "read" },     { "exec", "run" },     { "execute", "run" },
        { "start", "run" },    { "connect", "net" },  { "request", "net" },  { "fetch", "net" },
        { "url", "net" },      { "socket", "sock" },  { "device", "dev" },   { "signature", "sign" },
        { "variable", "env" }, { "call", "tool" },
};

static int unknown_effect(const struct scope *s, const struct token *tok, const char *const *names)
{
        (void) fail_at(s->e, &tok->at, "unknown effect \"%s\"", show_text(tok->text).text);
        (void) err_hint(s->e,
                        "an effect is read, write, run, net, env, sock, sign, decrypt, dev or tool, and on "
                        "what: `read /etc/passwd`");
        hint_nearest(s->e, tok->text, names, COUNT(effects));
        if (net_method_known(tok->text))
                (void) err_hint(s->e, "a request is `net %s URL`", show_text(tok->text).text);
        for (size_t i = 0; i < COUNT(synonyms); i++)
                if (token_is(tok, synonyms[i].word))
                        (void) err_hint(s->e, "did you mean \"%s\"?", synonyms[i].meant);

        return -1;
}

int effect_from_tokens(const struct scope *s, const struct token *tok, size_t n, struct effect *ret_effect)
{
        const char *names[COUNT(effects)];
        struct effect f = { 0 };
        for (size_t i = 0; i < COUNT(effects); i++) {
                names[i] = effect_kind_name(effects[i].kind);
                if (!token_is(tok, names[i]))
                        continue;
                struct effect_in x = { .s = s, .tok = tok + 1, .n = n - 1, .f = &f };
                f.kind = effects[i].kind;
                if (effects[i].read(&x) < 0)
                        return -1;
                *ret_effect = f;
                return 0;
        }

        return unknown_effect(s, tok, names);
}

static int parse_text(const char *text, const struct scope *s, struct tokens *t, struct effect *ret_effect)
{
        struct lexer x = { .mem = s->mem, .file = "effect", .out = t, .e = s->e };
        struct source_place from = { .file = "effect", .line = 1, .column = 1 };
        if (lex_line(&x, span_str(text), from) < 0)
                return -1;

        if (t->n == 0)
                return fail_at(s->e, &from, "the effect is missing");

        return effect_from_tokens(s, t->v, t->n, ret_effect);
}

int policy_effect_parse(const char *text, const struct policy_context *c, struct effect *ret_effect,
                        struct err *e)
{
        struct tokens t = { 0 };
        struct effect f = { 0 };
        struct arena *mem = calloc(1, sizeof *mem);
        if (!mem)
                return fail_memory(e);

        struct scope s = { .ctx = c, .mem = mem, .e = e };
        int r = parse_text(text, &s, &t, &f);
        free(t.v);
        if (r < 0) {
                arena_done(mem);
                free(mem);
                return -1;
        }

        *ret_effect = f;
        ret_effect->mem = mem;
        return 0;
}

void policy_effect_done(struct effect *f)
{
        if (f->mem) {
                arena_done(f->mem);
                free(f->mem);
        }
        *f = (struct effect){ 0 };
}

void effect_print(const struct effect *f, struct buf *out)
{
        buf_printf(out, "%s ", effect_kind_name(f->kind));

        if (f->kind == EFFECT_NET) {
                if (f->method)
                        buf_printf(out, "%s ", f->method);
                net_print(f->net, out);
                if (f->query)
                        buf_printf(out, "?%s", f->query);
                if (f->body) {
                        buf_puts(out, " body ");
                        show_token(out, f->body);
                }
                if (f->after)
                        buf_printf(out, " after %s", f->after);
        } else if (f->kind == EFFECT_ENV) {
                buf_puts(out, f->target);
        } else if (f->target) {
                show_token(out, f->target);
        }

        if (f->kind == EFFECT_TOOL && f->body) {
                buf_putc(out, ' ');
                show_token(out, f->body);
        }
}

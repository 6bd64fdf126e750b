/* SPDX-License-Identifier: MIT */
/* policy/read/places_file.c - the places file: lines `place NAME STAGE URL [label LABEL...]` in the syntax of
 * policies. It maps @name to its targets in the stages live and test, so that a test account needs no other
 * policy. Never: decides the stage. */
#include "effect/label/label.h"
#include "policy/internal.h"

#include <stdlib.h>

static const char *const stage_names[] = {
        [POLICY_STAGE_MOCK] = "mock", [POLICY_STAGE_TEST] = "test", [POLICY_STAGE_LIVE] = "live"
};
_Static_assert(COUNT(stage_names) == POLICY_STAGE__COUNT, "a name for each stage");

struct place {
        char *name;
        struct policy_place_url url[POLICY_STAGE__COUNT]; /* host NULL: no line */
        struct label label;                               /* of all its lines */
};

struct policy_places {
        struct arena mem;
        struct place *v;
        size_t n, cap;
};

const char *policy_stage_name(enum policy_stage s) { return stage_names[s]; }

int policy_stage_find(const char *name, enum policy_stage *ret_stage)
{
        for (size_t i = 0; i < COUNT(stage_names); i++) {
                if (strcmp(stage_names[i], name) != 0)
                        continue;
                *ret_stage = (enum policy_stage) i;
                return 0;
        }

        return -1;
}

static struct place *find_place(const struct policy_places *p, const char *name)
{
        for (size_t i = 0; p && i < p->n; i++)
                if (strcmp(p->v[i].name, name) == 0)
                        return &p->v[i];
        return NULL;
}

static struct place *find_or_add(struct policy_places *p, char *name)
{
        struct place *x = find_place(p, name);
        if (x || vec_room((void **) &p->v, p->n, &p->cap, sizeof *p->v) < 0)
                return x;
        x = &p->v[p->n++];
        *x = (struct place){ .name = name };
        return x;
}

static int read_name(const struct token *t, struct err *e)
{
        const char *name = t->text[0] == '@' ? t->text + 1 : t->text;
        if (name_ok(name, "-") && !strpbrk(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
                return 0;
        (void) fail_at(e, &t->at, "invalid place name \"%s\"", show_text(t->text).text);
        return err_hint(e, "a place name has lower-case letters, digits and -");
}

static int read_stage(const struct token *t, enum policy_stage *ret_stage, struct err *e)
{
        if (policy_stage_find(t->text, ret_stage) < 0) {
                (void) fail_at(e, &t->at, "\"%s\" is not a stage", show_text(t->text).text);
                (void) err_hint(e, "it is live or test");
                hint_nearest(e, t->text, stage_names, COUNT(stage_names));
                return -1;
        }

        if (*ret_stage != POLICY_STAGE_MOCK)
                return 0;

        (void) fail_at(e, &t->at, "places cannot have a mock URL; stage mock connects to nothing");
        return err_hint(e, "remove the line; recorded exchanges are of the live URL");
}

static int read_url(struct policy_places *p, const struct token *t, struct policy_place_url *ret,
                    struct err *e)
{
        struct net_dest d = { 0 };
        if (net_dest_parse(&p->mem, t, 0, &d, e) < 0)
                return err_hint(e, "use https://host/ or https://host/path/ with a slash at its end");

        if (d.form != NET_URL || d.wildcard || d.path_tail || d.path[strlen(d.path) - 1] != '/') {
                (void) fail_at(e, &t->at, "\"%s\" is not where a place can lead", show_text(t->text).text);
                return err_hint(e, "use https://host/ or https://host/path/ with a slash at its end");
        }

        *ret = (struct policy_place_url){
                .tls = d.tls, .is_address = d.is_address, .port = d.port, .host = d.host, .path = d.path
        };

        return 0;
}

/* The words behind the URL. */
static int read_label(const struct tokens *t, struct label *ret, struct err *e)
{
        enum { FIRST = 4 };
        if (t->n == FIRST)
                return 0;

        for (size_t i = FIRST + 1; i < t->n; i++)
                if (t->v[i].quoted || strcmp(t->v[i].text, "private:*") == 0 ||
                    !label_add(ret, span_str(t->v[i].text)))
                        return fail_at(e, &t->v[i].at, "`label` takes private:NAME or untrusted, not %s",
                                       show_text(t->v[i].text).text);

        if (!token_is(&t->v[FIRST], "label") || t->n == FIRST + 1 || ret->all)
                return fail_at(e, &t->v[FIRST].at,
                               "behind the URL of a place stands nothing but `label LABEL...`");
        return 0;
}

static int read_place(struct policy_places *p, const struct tokens *t, struct err *e)
{
        static const char *const words[] = { "place" };
        enum policy_stage stage = POLICY_STAGE_MOCK;
        struct policy_place_url url = { 0 };
        struct label label = { 0 };

        if (!token_is(&t->v[0], "place")) {
                (void) fail_at(e, &t->v[0].at, "unknown word \"%s\"", show_text(t->v[0].text).text);
                hint_nearest(e, t->v[0].text, words, COUNT(words));
                return -1;
        }

        if (t->n < 4)
                return fail_at(e, &t->v[0].at, "use `place NAME STAGE URL`, and `label LABEL...` behind it");

        if (read_name(&t->v[1], e) < 0 || read_stage(&t->v[2], &stage, e) < 0 ||
            read_url(p, &t->v[3], &url, e) < 0 || read_label(t, &label, e) < 0)
                return -1;

        struct place *x = find_or_add(p, t->v[1].text + (t->v[1].text[0] == '@'));
        if (!x)
                return fail_memory(e);

        if (x->url[stage].host)
                return fail_at(e, &t->v[0].at, "the place %s has its %s URL already", x->name,
                               stage_names[stage]);

        x->url[stage] = url;
        label_join(&x->label, &label);
        return 0;
}

static int read_lines(struct policy_places *p, const char *file, struct span text, struct err *e)
{
        struct tokens t = { 0 };
        struct lexer x = { .mem = &p->mem, .file = file, .out = &t, .e = e };
        struct source_place at = { .file = file, .line = 1, .column = 1 };
        int bad = 0;

        if (text.n > POLICY_MAX_BYTES)
                return fail_at(e, &at, "this file is longer than %d bytes", POLICY_MAX_BYTES);

        for (size_t i = 0; i < text.n && !bad; at.line++) {
                const uint8_t *end = memchr(text.p + i, '\n', text.n - i);
                size_t n = end ? (size_t) (end - text.p) - i : text.n - i;
                t.n = 0;
                bad = lex_line(&x, span_of(text.p + i, n), at) < 0 || (t.n && read_place(p, &t, e) < 0);
                i += n + 1;
        }

        free(t.v);
        return bad ? -1 : 0;
}

struct policy_places *policy_places_parse(const char *file, struct span text, struct err *e)
{
        struct policy_places *p = calloc(1, sizeof *p);
        if (!p) {
                (void) fail_memory(e);
                return NULL;
        }

        if (read_lines(p, file, text, e) == 0)
                return p;

        policy_places_free(p);
        return NULL;
}

void policy_places_free(struct policy_places *p)
{
        if (!p)
                return;
        arena_done(&p->mem);
        free(p->v);
        free(p);
}

const struct policy_place_url *policy_place_asked(const struct policy_places *p, const char *place,
                                                  enum policy_stage stage)
{
        const struct place *x = find_place(p, place);
        if (x && x->url[POLICY_STAGE_LIVE].host)
                return &x->url[POLICY_STAGE_LIVE];
        return x && x->url[stage].host ? &x->url[stage] : NULL;
}

const struct policy_place_url *policy_place_target(const struct policy_places *p, const char *place,
                                                   enum policy_stage stage)
{
        const struct place *x = find_place(p, place);
        return x && x->url[stage].host ? &x->url[stage] : NULL;
}

struct label place_label(const struct policy_places *p, const char *place)
{
        const struct place *x = find_place(p, place);
        return x ? x->label : (struct label){ 0 };
}

char *place_name(const struct policy_places *p, size_t index)
{
        return p && index < p->n ? p->v[index].name : NULL;
}

const char *policy_place_name(const struct policy_places *p, size_t index) { return place_name(p, index); }

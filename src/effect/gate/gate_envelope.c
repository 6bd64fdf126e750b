/* SPDX-License-Identifier: MIT */
/* effect/gate/gate_envelope.c - the exact effect as canonical JSON: every field, in the byte order of the
 * names, as a string, without spaces. One effect has one encoding, so equal ids mean equal effects. */
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "effect/gate/gate.h"

static const char *const names[] = {
        [GATE_BODY] = "body",       [GATE_BOX] = "box",         [GATE_CREDENTIAL] = "credential",
        [GATE_DOOR] = "door",       [GATE_EXPIRES] = "expires", [GATE_HEADERS] = "headers",
        [GATE_INPUTS] = "inputs",   [GATE_KIND] = "kind",       [GATE_LABELS] = "labels",
        [GATE_LENGTH] = "length",   [GATE_METHOD] = "method",   [GATE_NONCE] = "nonce",
        [GATE_PATH] = "path",       [GATE_PLACE] = "place",     [GATE_POLICY] = "policy",
        [GATE_QUERY] = "query",     [GATE_REACH] = "reach",     [GATE_RUN] = "run",
        [GATE_STAGE] = "stage",     [GATE_TENANT] = "tenant",   [GATE_TO] = "to",
        [GATE_VERSION] = "version",
};
_Static_assert(sizeof names / sizeof *names == GATE_FIELD__COUNT, "a name for each field");

/* buf_json() would write one character for all bytes that are not UTF-8: two effects would have one id. */
static bool is_exact(const char *text) { return str_is_utf8(span_str(text)); }

int gate_envelope_json(const struct gate_envelope *e, struct buf *out)
{
        size_t before = out->n;
        for (unsigned i = 0; i < GATE_FIELD__COUNT; i++) {
                const char *text = e->field[i] ? e->field[i] : "";
                if (!is_exact(text))
                        return -1;
                buf_printf(out, "%c\"%s\":", i == 0 ? '{' : ',', names[i]);
                buf_json(out, span_str(text));
        }

        buf_putc(out, '}');
        return out->failed || out->n - before > GATE_ENVELOPE_MAX ? -1 : 0;
}

static int copy_fields(const struct json *root, struct arena *mem, struct gate_envelope *ret)
{
        for (unsigned i = 0; i < GATE_FIELD__COUNT; i++) {
                const struct json *v = json_get(root, names[i]);
                if (!v || v->type != JSON_STRING || !(ret->field[i] = arena_str(mem, v->str)))
                        return -1;
        }
        return 0;
}

int gate_envelope_read(struct span json, struct arena *mem, struct gate_envelope *ret)
{
        struct err ignored;
        AUTO_BUF(again);
        struct gate_envelope e = { 0 };
        struct json_doc *d = json.n <= GATE_ENVELOPE_MAX ? json_parse("envelope", json, &ignored) : NULL;
        if (!d)
                return -1;

        bool good = json_root(d)->type == JSON_OBJECT && copy_fields(json_root(d), mem, &e) == 0;
        json_free(d);
        if (!good || gate_envelope_json(&e, &again) < 0 || !span_eq(buf_span(&again), json))
                return -1;

        *ret = e;
        return 0;
}

void gate_effect_id(struct span json, char ret_id[GATE_ID]) { sha256_hex(json, ret_id); }

/* ---- templates ---- */

static const char *const vary_names[] = { [GATE_VARY_BODY] = "body",
                                          [GATE_VARY_HEADERS] = "headers",
                                          [GATE_VARY_PATH] = "path",
                                          [GATE_VARY_QUERY] = "query" };
_Static_assert(sizeof vary_names / sizeof *vary_names == GATE_VARY__COUNT, "a name for each");

const char *gate_vary_name(enum gate_vary v)
{
        return (unsigned) v < GATE_VARY__COUNT ? vary_names[v] : NULL;
}

int gate_template_id(const struct gate_envelope *e, unsigned vary, char ret_id[GATE_ID])
{
        static const struct {
                unsigned bit;
                enum gate_field field;
        } rows[] = { { 1u << GATE_VARY_BODY, GATE_BODY },
                     { 1u << GATE_VARY_BODY, GATE_LENGTH },
                     { 1u << GATE_VARY_HEADERS, GATE_HEADERS },
                     { 1u << GATE_VARY_PATH, GATE_PATH },
                     { 1u << GATE_VARY_QUERY, GATE_QUERY } };
        struct gate_envelope t = *e;
        AUTO_BUF(text);

        buf_printf(&text, "template %x ", vary);
        t.field[GATE_NONCE] = t.field[GATE_EXPIRES] = NULL;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (vary & rows[i].bit)
                        t.field[rows[i].field] = NULL;

        if (gate_envelope_json(&t, &text) < 0)
                return -1;

        sha256_hex(buf_span(&text), ret_id);
        return 0;
}

/* SPDX-License-Identifier: MIT */
/* output/schema_run.c - checks a document by a compiled schema. A machine with a stack of its own: one frame
 * per schema that is being evaluated, so that no document and no schema makes the process recurse. Each step
 * is counted. Annotations (which members were evaluated) are a trail that a failing frame takes back. Pure.
 */
#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "output/schema_internal.h"

#include <errno.h>
#include <stdlib.h>

/* One schema at one value. `phase` and what follows it belong to the keyword at `key`, from 0. */
struct frame {
        const struct node *node;
        const struct json *value;
        size_t key;
        size_t trail;  /* its length when the frame began */
        bool in_place; /* of the frame below: the same value, whose annotations are kept */
        bool answer;   /* of the frame that was called last */
        unsigned phase;
        const struct json *at; /* the member or element under way */
        size_t i, part, hits;
        uint32_t stamp;
        struct json name; /* a key as a value, for propertyNames */
};

enum turn { TURN_PASS, TURN_FAIL, TURN_CALL };

struct machine {
        struct schema *s;
        const struct json_doc *data;
        uint64_t steps;
        struct frame *frames;
        size_t n;
        const struct json **trail;
        size_t trail_n, trail_cap;
        uint32_t *stamps; /* by json_index(): the last keyword that saw it as evaluated */
        uint32_t stamp;
        const struct json *bad; /* the last failure: what, and by which keyword */
        const char *bad_key;
        const char *stopped; /* why the check cannot go on */
        const struct node *call_node;
        const struct json *call_value;
        bool call_in_place;
};

static enum turn push_call(struct machine *m, struct frame *f, const struct node *node,
                           const struct json *value)
{
        m->call_node = node;
        m->call_value = value;
        m->call_in_place = value == f->value;
        f->phase++;
        return TURN_CALL;
}

static enum turn give_verdict(struct machine *m, const struct frame *f, const struct key *k, bool ok)
{
        if (ok)
                return TURN_PASS;
        m->bad = f->value;
        m->bad_key = k->value->key;
        return TURN_FAIL;
}

static void spend(struct machine *m, uint64_t steps) { m->steps -= steps < m->steps ? steps : m->steps; }

static void note_member(struct machine *m, const struct json *member)
{
        if (!m->s->tracks)
                return;

        if (vec_room((void **) &m->trail, m->trail_n, &m->trail_cap, sizeof(void *)) < 0) {
                m->stopped = "out of memory";
                return;
        }

        m->trail[m->trail_n++] = member;
}

static bool is_number(const struct json *v) { return v->type == JSON_INT || v->type == JSON_NUMBER; }

/* ---- checks of the value itself ---- */

static enum turn check_type(struct machine *m, struct frame *f, const struct key *k)
{
        bool ok = k->number >> f->value->type & 1;
        if (!ok && f->value->type == JSON_NUMBER && k->number >> JSON_INT & 1) {
                struct decimal d = decimal_of(f->value); /* 1.0 is an integer */
                ok = decimal_is_integer(&d);
        }
        return give_verdict(m, f, k, ok);
}

static enum turn check_const(struct machine *m, struct frame *f, const struct key *k)
{
        struct value_pair in = { m->data, f->node->resource->doc->doc, &m->steps };
        return give_verdict(m, f, k, value_equal(&in, f->value, k->value));
}

static enum turn check_enum(struct machine *m, struct frame *f, const struct key *k)
{
        struct value_pair in = { m->data, f->node->resource->doc->doc, &m->steps };
        for (const struct json *x = k->value->child; x; x = x->next)
                if (value_equal(&in, f->value, x))
                        return TURN_PASS;
        return give_verdict(m, f, k, false);
}

static enum turn check_number(struct machine *m, struct frame *f, const struct key *k)
{
        if (!is_number(f->value))
                return TURN_PASS;

        struct decimal d = decimal_of(f->value);
        spend(m, f->value->len);
        if (k->kind == KEY_MULTIPLE)
                return give_verdict(m, f, k, decimal_is_multiple(&d, &k->decimal));

        int c = decimal_compare(&d, &k->decimal);
        return give_verdict(m, f, k,
                            k->kind == KEY_MAXIMUM             ? c <= 0
                            : k->kind == KEY_EXCLUSIVE_MAXIMUM ? c < 0
                            : k->kind == KEY_MINIMUM           ? c >= 0
                                                               : c > 0);
}

static enum turn check_length(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->value->type != JSON_STRING)
                return TURN_PASS;

        uint64_t n = 0;
        for (size_t i = 0; i < f->value->len; i++)
                n += ((uint8_t) f->value->str[i] & 0xc0) != 0x80;
        spend(m, f->value->len / 16);
        return give_verdict(m, f, k, k->kind == KEY_MAX_LENGTH ? n <= k->number : n >= k->number);
}

static enum turn check_count(struct machine *m, struct frame *f, const struct key *k)
{
        bool items = k->kind == KEY_MAX_ITEMS || k->kind == KEY_MIN_ITEMS;
        if (f->value->type != (items ? JSON_ARRAY : JSON_OBJECT))
                return TURN_PASS;

        size_t n = value_count(f->value);
        spend(m, n / 16);
        bool most = k->kind == KEY_MAX_ITEMS || k->kind == KEY_MAX_PROPERTIES;
        return give_verdict(m, f, k, most ? n <= k->number : n >= k->number);
}

static bool has_all(struct machine *m, const struct json *object, const struct json *names)
{
        for (const struct json *x = names->child; x; x = x->next) {
                spend(m, 1);
                if (!json_member(m->data, object, span_of(x->str, x->len)))
                        return false;
        }
        return true;
}

static enum turn check_required(struct machine *m, struct frame *f, const struct key *k)
{
        return f->value->type != JSON_OBJECT ? TURN_PASS
                                             : give_verdict(m, f, k, has_all(m, f->value, k->value));
}

static enum turn check_dependent(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->value->type != JSON_OBJECT)
                return TURN_PASS;

        for (const struct json *x = k->value->child; x; x = x->next) {
                spend(m, 1);
                if (json_member(m->data, f->value, span_of(x->key, x->key_len)) && !has_all(m, f->value, x))
                        return give_verdict(m, f, k, false);
        }
        return TURN_PASS;
}

static bool matches_text(struct machine *m, struct regex *r, const char *p, size_t n)
{
        enum regex_match found = regex_search(r, span_of(p, n), &m->steps);
        if (found == REGEX_BUDGET)
                m->steps = 0;
        return found == REGEX_YES;
}

static enum turn check_pattern(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->value->type != JSON_STRING)
                return TURN_PASS;
        return give_verdict(m, f, k, matches_text(m, k->regex, f->value->str, f->value->len));
}

static enum turn check_format(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->value->type != JSON_STRING)
                return TURN_PASS;
        spend(m, f->value->len);
        return give_verdict(
                m, f, k,
                schema_format(span_of(k->value->str, k->value->len), span_of(f->value->str, f->value->len)));
}

struct hashed {
        uint64_t hash;
        const struct json *value;
};

static void sift_down(struct hashed *v, size_t at, size_t n)
{
        struct hashed x = v[at];
        for (size_t child; (child = 2 * at + 1) < n; at = child) {
                child += child + 1 < n && v[child + 1].hash > v[child].hash;
                if (v[child].hash <= x.hash)
                        break;
                v[at] = v[child];
        }
        v[at] = x;
}

/* Heapsort. glibc's qsort() asks for the size of the memory if there is much to sort, and the sandbox does
 * not let it. */
static void sort_by_hash(struct hashed *v, size_t n)
{
        for (size_t i = n / 2; i > 0; i--)
                sift_down(v, i - 1, n);

        for (size_t i = n; i > 1; i--) {
                struct hashed last = v[i - 1];
                v[i - 1] = v[0];
                v[0] = last;
                sift_down(v, 0, i - 1);
        }
}

static bool is_unique(struct machine *m, const struct hashed *v, size_t n)
{
        struct value_pair in = { m->data, m->data, &m->steps };
        for (size_t i = 0; i < n; i++)
                for (size_t k = i + 1; k < n && v[k].hash == v[i].hash && m->steps > 0; k++)
                        if (value_equal(&in, v[i].value, v[k].value))
                                return false;
        return true;
}

static enum turn check_unique(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->value->type != JSON_ARRAY)
                return TURN_PASS;

        size_t n = 0;
        struct hashed *v = calloc(value_count(f->value) + 1, sizeof *v);
        if (!v) {
                m->stopped = "out of memory";
                return TURN_FAIL;
        }

        for (const struct json *x = f->value->child; x; x = x->next)
                v[n++] = (struct hashed){ value_hash(x, &m->steps), x };
        sort_by_hash(v, n);
        spend(m, n);
        bool ok = is_unique(m, v, n);
        free(v);
        return give_verdict(m, f, k, ok);
}

/* ---- schemas at the same value ---- */

static enum turn apply_one(struct machine *m, struct frame *f, const struct node *node)
{
        if (f->phase == 0)
                return push_call(m, f, node, f->value);
        return f->answer ? TURN_PASS : TURN_FAIL;
}

static enum turn apply_ref(struct machine *m, struct frame *f, const struct key *k)
{
        return apply_one(m, f, k->schema);
}

static const struct anchor *dynamic_in(const struct resource *r, struct span name)
{
        for (const struct anchor *a = r->anchors; a; a = a->next)
                if (a->dynamic && span_eq(a->name, name))
                        return a;
        return NULL;
}

/* The outermost resource under way that has the anchor decides. */
static enum turn apply_dynamic(struct machine *m, struct frame *f, const struct key *k)
{
        for (size_t i = 0; f->phase == 0 && k->anchor.p && i < m->n; i++) {
                const struct resource *r = m->frames[i].node->resource;
                const struct anchor *a = dynamic_in(r, k->anchor);
                const struct node *to = a ? r->doc->nodes[json_index(r->doc->doc, a->at)] : NULL;
                spend(m, 1);
                if (to)
                        return push_call(m, f, to, f->value);
        }
        return apply_one(m, f, k->schema);
}

static enum turn apply_all(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->phase > 0 && !f->answer)
                return TURN_FAIL;
        return f->phase == k->n ? TURN_PASS : push_call(m, f, k->list[f->phase], f->value);
}

/* All of them are asked if their annotations count. */
static enum turn apply_any(struct machine *m, struct frame *f, const struct key *k)
{
        f->hits += f->phase > 0 && f->answer;
        if (f->phase < k->n && (f->hits == 0 || m->s->tracks))
                return push_call(m, f, k->list[f->phase], f->value);
        return give_verdict(m, f, k, f->hits > 0);
}

static enum turn apply_exactly_one(struct machine *m, struct frame *f, const struct key *k)
{
        f->hits += f->phase > 0 && f->answer;
        if (f->phase < k->n && f->hits < 2)
                return push_call(m, f, k->list[f->phase], f->value);
        return give_verdict(m, f, k, f->hits == 1);
}

static enum turn apply_not(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->phase == 0)
                return push_call(m, f, k->schema, f->value);
        return give_verdict(m, f, k, !f->answer);
}

static enum turn apply_if(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->phase == 0)
                return push_call(m, f, k->schema, f->value);

        if (f->phase == 1) {
                const struct node *then = f->answer ? k->yes : k->no;
                return then ? push_call(m, f, then, f->value) : TURN_PASS;
        }
        return f->answer ? TURN_PASS : TURN_FAIL;
}

static const struct node *node_at(const struct frame *f, const struct json *schema)
{
        const struct document *d = f->node->resource->doc;
        return d->nodes[json_index(d->doc, schema)];
}

static enum turn apply_dependent(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->value->type != JSON_OBJECT || (f->phase > 0 && !f->answer))
                return f->value->type != JSON_OBJECT ? TURN_PASS : TURN_FAIL;

        for (f->at = f->phase ? f->at->next : k->value->child; f->at; f->at = f->at->next) {
                spend(m, 1);
                if (json_member(m->data, f->value, span_of(f->at->key, f->at->key_len)))
                        return push_call(m, f, node_at(f, f->at), f->value);
        }
        return TURN_PASS;
}

/* ---- schemas at elements and members ---- */

static enum turn apply_items(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->value->type != JSON_ARRAY)
                return TURN_PASS;

        if (f->phase > 0) {
                if (!f->answer)
                        return TURN_FAIL;
                note_member(m, f->at);
                f->i++;
        }

        f->at = f->phase ? f->at->next : f->value->child;
        const struct node *schema = f->i < k->n ? k->list[f->i] : k->schema;
        return f->at && schema ? push_call(m, f, schema, f->at) : TURN_PASS;
}

static enum turn apply_contains(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->value->type != JSON_ARRAY)
                return TURN_PASS;

        if (f->phase > 0 && f->answer) {
                f->hits++;
                note_member(m, f->at);
        }

        f->at = f->phase ? f->at->next : f->value->child;
        if (f->at)
                return push_call(m, f, k->schema, f->at);
        return give_verdict(m, f, k, f->hits >= k->number && f->hits <= k->most);
}

/* The next schema for the member f->at: by name, by each pattern, or else the one for others. */
static const struct node *next_schema(struct machine *m, struct frame *f, const struct key *k)
{
        struct span name = span_of(f->at->key, f->at->key_len);
        const struct json *named = NULL;
        if (f->part == 0) {
                f->part = 1;
                named = k->names ? json_member(f->node->resource->doc->doc, k->names, name) : NULL;
                if (named) {
                        f->hits = 1;
                        return node_at(f, named);
                }
        }

        while (f->part <= k->n) {
                const struct pattern_schema *p = &k->patterns[f->part++ - 1];
                if (matches_text(m, p->regex, f->at->key, f->at->key_len)) {
                        f->hits = 1;
                        return p->schema;
                }
        }

        bool other = f->part == k->n + 1 && !f->hits;
        f->part = k->n + 2;
        return other ? k->schema : NULL;
}

static enum turn apply_members(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->value->type != JSON_OBJECT)
                return TURN_PASS;

        if (f->phase > 0) {
                if (!f->answer)
                        return TURN_FAIL;
                note_member(m, f->at);
        } else {
                f->at = f->value->child;
                f->part = f->hits = 0;
        }

        while (f->at) {
                spend(m, 1);
                const struct node *schema = next_schema(m, f, k);
                if (schema)
                        return push_call(m, f, schema, f->at);
                f->at = f->at->next;
                f->part = f->hits = 0;
        }
        return TURN_PASS;
}

static enum turn apply_names(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->value->type != JSON_OBJECT)
                return TURN_PASS;

        if (f->phase > 0 && !f->answer)
                return give_verdict(m, f, k, false);

        f->at = f->phase ? f->at->next : f->value->child;
        if (!f->at)
                return TURN_PASS;

        f->name = (struct json){ .type = JSON_STRING, .str = f->at->key, .len = f->at->key_len };
        return push_call(m, f, k->schema, &f->name);
}

/* Members and elements that nothing evaluated so far, in this frame and in those it called at this value. */
static enum turn apply_unevaluated(struct machine *m, struct frame *f, const struct key *k)
{
        if (f->value->type != (k->kind == KEY_UNEVALUATED_ITEMS ? JSON_ARRAY : JSON_OBJECT))
                return TURN_PASS;

        if (f->phase > 0) {
                if (!f->answer)
                        return TURN_FAIL;
                note_member(m, f->at);
                f->at = f->at->next;
        } else {
                f->stamp = ++m->stamp;
                for (size_t i = f->trail; i < m->trail_n; i++)
                        m->stamps[json_index(m->data, m->trail[i])] = f->stamp;
                spend(m, m->trail_n - f->trail);
                f->at = f->value->child;
        }

        while (f->at && m->stamps[json_index(m->data, f->at)] == f->stamp) {
                spend(m, 1);
                f->at = f->at->next;
        }
        return f->at ? push_call(m, f, k->schema, f->at) : TURN_PASS;
}

static enum turn (*const checks[])(struct machine *, struct frame *, const struct key *) = {
        [KEY_TYPE] = check_type,
        [KEY_CONST] = check_const,
        [KEY_ENUM] = check_enum,
        [KEY_MULTIPLE] = check_number,
        [KEY_MAXIMUM] = check_number,
        [KEY_EXCLUSIVE_MAXIMUM] = check_number,
        [KEY_MINIMUM] = check_number,
        [KEY_EXCLUSIVE_MINIMUM] = check_number,
        [KEY_MAX_LENGTH] = check_length,
        [KEY_MIN_LENGTH] = check_length,
        [KEY_MAX_ITEMS] = check_count,
        [KEY_MIN_ITEMS] = check_count,
        [KEY_MAX_PROPERTIES] = check_count,
        [KEY_MIN_PROPERTIES] = check_count,
        [KEY_REQUIRED] = check_required,
        [KEY_DEPENDENT_REQUIRED] = check_dependent,
        [KEY_PATTERN] = check_pattern,
        [KEY_FORMAT] = check_format,
        [KEY_UNIQUE] = check_unique,
        [KEY_REF] = apply_ref,
        [KEY_DYNAMIC_REF] = apply_dynamic,
        [KEY_ALL_OF] = apply_all,
        [KEY_ANY_OF] = apply_any,
        [KEY_ONE_OF] = apply_exactly_one,
        [KEY_NOT] = apply_not,
        [KEY_IF] = apply_if,
        [KEY_DEPENDENT_SCHEMAS] = apply_dependent,
        [KEY_ARRAY] = apply_items,
        [KEY_CONTAINS] = apply_contains,
        [KEY_OBJECT] = apply_members,
        [KEY_PROPERTY_NAMES] = apply_names,
        [KEY_UNEVALUATED_ITEMS] = apply_unevaluated,
        [KEY_UNEVALUATED_PROPERTIES] = apply_unevaluated,
};
_Static_assert(sizeof checks / sizeof *checks == KEY__COUNT, "each keyword has its check");

/* ---- the machine ---- */

static void enter_frame(struct machine *m)
{
        if (m->n == SCHEMA_MAX_FRAMES) {
                m->stopped = "the schema calls itself too deep";
                return;
        }

        m->frames[m->n++] = (struct frame){ .node = m->call_node,
                                            .value = m->call_value,
                                            .trail = m->trail_n,
                                            .in_place = m->call_in_place };
}

/* Ends the innermost frame. Annotations outlive it only if it passed, for the same value. */
static void leave_frame(struct machine *m, bool answer)
{
        const struct frame *f = &m->frames[--m->n];
        if (!answer || !f->in_place)
                m->trail_n = f->trail;
        if (m->n > 0)
                m->frames[m->n - 1].answer = answer;
}

static void next_key(struct frame *f)
{
        f->key++;
        f->phase = 0;
        f->i = f->part = f->hits = 0;
        f->at = NULL;
}

static bool run_machine(struct machine *m)
{
        bool answer = true;
        enter_frame(m);
        while (m->n > 0 && !m->stopped) {
                struct frame *f = &m->frames[m->n - 1];
                if (m->steps == 0) {
                        m->stopped = "it takes too many steps";
                        break;
                }
                m->steps--;
                if (f->node->is_false || f->key == f->node->n_keys) {
                        answer = !f->node->is_false;
                        m->bad = answer ? m->bad : f->value;
                        m->bad_key = answer ? m->bad_key : "false";
                        leave_frame(m, answer);
                        continue;
                }
                const struct key *k = &f->node->keys[f->key];
                enum turn t = checks[k->kind](m, f, k);
                if (t == TURN_CALL)
                        enter_frame(m);
                else if (t == TURN_PASS)
                        next_key(f);
                else {
                        answer = false;
                        leave_frame(m, false);
                }
        }

        return answer && !m->stopped;
}

/* ---- where it failed ---- */

static void put_token(struct buf *out, struct span key)
{
        char shown[80];
        buf_putc(out, '/');
        (void) str_inert(key, shown, sizeof shown);
        for (const char *p = shown; *p; p++)
                buf_puts(out, *p == '~' ? "~0" : *p == '/' ? "~1" : (char[2]){ *p, 0 });
}

/* The JSON pointer of a value: children follow their parent in the document, so that the last child that
 * does not come after it holds it. */
static void put_pointer(const struct json_doc *d, const struct json *v, struct buf *out)
{
        const struct json *at = json_root(d);
        while (at && at != v) {
                const struct json *in = NULL;
                size_t i = 0, place = 0;
                for (const struct json *x = at->child; x && x <= v; x = x->next, i++) {
                        in = x;
                        place = i;
                }
                if (in && at->type == JSON_OBJECT)
                        put_token(out, span_of(in->key, in->key_len));
                else if (in)
                        buf_printf(out, "/%zu", place);
                at = in;
        }
}

static int report_failure(const struct machine *m, struct err *e)
{
        AUTO_BUF(where);
        if (m->stopped)
                return err_set(e, ERR_DOOR, 0, "the document cannot be checked: %s", m->stopped);

        put_pointer(m->data, m->bad, &where);
        return err_set(e, ERR_DOOR, 0, "%u:%u: %.180s does not fit `%.40s` of the schema", m->bad->line,
                       m->bad->column, where.n ? buf_str(&where) : "the document", m->bad_key);
}

int schema_check(struct schema *s, const struct json_doc *data, uint64_t steps, struct err *e)
{
        struct machine m = { .s = s, .data = data, .steps = steps };
        if (!s->frames)
                s->frames = calloc(SCHEMA_MAX_FRAMES, sizeof *s->frames);

        m.frames = s->frames;
        m.stamps = s->tracks ? calloc(json_count(data), sizeof *m.stamps) : NULL;
        if (!m.frames || (s->tracks && !m.stamps)) {
                free(m.stamps);
                return err_set(e, ERR_MEMORY, ENOMEM, "out of memory");
        }

        m.call_node = s->root;
        m.call_value = json_root(data);
        m.bad = m.call_value;
        int r = run_machine(&m) ? 0 : report_failure(&m, e);
        free(m.stamps);
        free(m.trail);
        return r;
}

/* SPDX-License-Identifier: MIT */
/* ledger/write/record_json.c - records as canonical JSON: keys in byte order, no spaces, integers only,
 * bounded. Pure. A reader uses the fields it knows and skips the others, so that it can read records of
 * later versions. */
#include "base/hash.h"
#include "base/str.h"
#include "ledger/internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1024, DEPTH_MAX = 8, RECORD_VERSION = LEDGER_RECORD_VERSION };

static const char *const kinds[] = { "none",   "file",  "exec",  "net",  "request", "credential", "handle",
                                     "output", "limit", "start", "end",  "view",    "reply",      "key",
                                     "prune",  "gap",   "gate",  "tool", "audit",   "head" };
static const char *const phases[] = { "none",  "intent", "outcome", "denied", "credential",
                                      "human", "start",  "end",     "claim" };
static const char *const reaches[] = { "self", "tenant", "named", "public" };
static const char *const stages[] = { "none", "live", "test", "mock" };
static const char *const touches[] = { "quota", "money", "ticket", "person" };
_Static_assert(sizeof touches / sizeof *touches == LEDGER_TOUCH__COUNT, "everything touched has a name");
_Static_assert(sizeof kinds / sizeof *kinds == LEDGER_KIND__COUNT, "every kind has a name");
_Static_assert(sizeof phases / sizeof *phases == LEDGER_PHASE__COUNT, "every phase has a name");
_Static_assert(sizeof reaches / sizeof *reaches == LEDGER_REACH__COUNT, "every reach has a name");
_Static_assert(sizeof stages / sizeof *stages == LEDGER_STAGE__COUNT, "every stage has a name");

static const char *kind_name(enum ledger_kind k) { return kinds[k < LEDGER_KIND__COUNT ? k : 0]; }
const char *ledger_phase_name(enum ledger_phase p) { return phases[p < LEDGER_PHASE__COUNT ? p : 0]; }
const char *ledger_reach_name(enum ledger_reach r) { return reaches[r < LEDGER_REACH__COUNT ? r : 0]; }
static const char *stage_name(enum ledger_stage s) { return stages[s < LEDGER_STAGE__COUNT ? s : 0]; }

void ledger_more_text(struct ledger_record *r, const char *key, const char *text)
{
        if (text && text[0] && r->more_count < LEDGER_MORE_MAX)
                r->more[r->more_count++] = (struct ledger_more){ .key = key, .text = text };
}

void ledger_more_number(struct ledger_record *r, const char *key, int64_t number)
{
        if (r->more_count < LEDGER_MORE_MAX)
                r->more[r->more_count++] = (struct ledger_more){ .key = key, .number = number };
}

bool ledger_consequential(const struct ledger_record *r)
{
        bool credentialed = r->kind == LEDGER_CREDENTIAL || r->phase == LEDGER_CREDENTIALED;
        return credentialed || r->reach != LEDGER_REACH_SELF || r->touches ||
               (r->stage == LEDGER_LIVE && r->writes);
}

/* ---- writing ---- */

/* Truncates a long text at a character boundary, and adds its digest. */
static void put_text(struct buf *out, const char *text)
{
        char hex[65], cut[TEXT_MAX + 80];
        size_t n = strlen(text);
        if (n <= TEXT_MAX) {
                buf_json(out, span_of(text, n));
                return;
        }

        size_t k = TEXT_MAX - 80;
        while (k > 0 && ((uint8_t) text[k] & 0xc0) == 0x80)
                k--;

        sha256_hex(span_of(text, n), hex);
        memcpy(cut, text, k);
        (void) snprintf(cut + k, sizeof cut - k, "...sha256:%s", hex);
        buf_json(out, span_of(cut, k + 74));
}

static void put_key(struct buf *out, const char *key)
{
        buf_puts(out, out->n == 0 || out->p[out->n - 1] != '{' ? ",\"" : "\"");
        buf_puts(out, key);
        buf_puts(out, "\":");
}

static void put_field(struct buf *out, const char *key, const char *text)
{
        if (!text || !text[0])
                return;
        put_key(out, key);
        put_text(out, text);
}

static void put_number(struct buf *out, const char *key, int64_t v)
{
        char digits[24];
        size_t n = sizeof digits;
        uint64_t u = v < 0 ? 0 - (uint64_t) v : (uint64_t) v;

        put_key(out, key);
        do
                digits[--n] = (char) ('0' + u % 10);

        while (u /= 10);
        if (v < 0)
                digits[--n] = '-';

        buf_add(out, digits + n, sizeof digits - n);
}

static void put_count(struct buf *out, const char *key, int64_t v)
{
        if (v >= 0)
                put_number(out, key, v);
}

static void put_parents(struct buf *out, const struct ledger_record *r)
{
        if (r->parent_count == 0)
                return;

        put_key(out, "parents");
        for (unsigned i = 0; i < r->parent_count && i < LEDGER_PARENTS_MAX; i++) {
                buf_putc(out, i ? ',' : '[');
                put_text(out, r->parents[i]);
        }

        buf_putc(out, ']');
}

/* Sorts by insertion: there are a handful of pairs. A duplicate key is written once. */
static void put_more(struct buf *out, const struct ledger_record *r)
{
        struct ledger_more m[LEDGER_MORE_MAX];
        unsigned n = 0;
        for (unsigned i = 0; i < r->more_count && i < LEDGER_MORE_MAX; i++) {
                unsigned at = n;
                while (at > 0 && strcmp(m[at - 1].key, r->more[i].key) > 0)
                        at--;
                if (at > 0 && strcmp(m[at - 1].key, r->more[i].key) == 0)
                        continue;
                memmove(m + at + 1, m + at, (n++ - at) * sizeof *m);
                m[at] = r->more[i];
        }

        if (n == 0)
                return;

        put_key(out, "more");
        buf_putc(out, '{');
        for (unsigned i = 0; i < n; i++)
                if (m[i].text)
                        put_field(out, m[i].key, m[i].text);
                else
                        put_number(out, m[i].key, m[i].number);

        buf_putc(out, '}');
}

static void put_touches(struct buf *out, const struct ledger_record *r)
{
        if (!r->touches)
                return;

        put_key(out, "touches");
        buf_putc(out, '[');
        for (unsigned i = 0, n = 0; i < LEDGER_TOUCH__COUNT; i++)
                if (r->touches & 1u << i)
                        buf_printf(out, "%s\"%s\"", n++ ? "," : "", touches[i]);

        buf_putc(out, ']');
}

static void put_trace(struct buf *out, const struct ledger_record *r)
{
        if (!r->trace_in && !r->trace_out)
                return;

        put_key(out, "trace");
        buf_putc(out, '{');
        put_field(out, "in", r->trace_in);
        put_field(out, "out", r->trace_out);
        buf_putc(out, '}');
}

int record_encode(const struct ledger_record *r, const struct record_stamp *s, struct buf *front,
                  struct buf *back, struct err *e)
{
        buf_putc(front, '{');
        put_field(front, "box", r->box);
        put_count(front, "bytes", r->bytes);
        put_key(front, "clock");
        put_count(back, "cost", r->cost);
        put_count(back, "count", r->count);
        put_field(back, "digest", r->digest);
        put_field(back, "door", r->door);
        put_field(back, "id", s->id);
        put_field(back, "kind", kind_name(r->kind));
        put_number(back, "mono", s->mono_us);
        put_more(back, r);
        put_parents(back, r);
        put_field(back, "phase", ledger_phase_name(r->phase));
        put_field(back, "policy", r->policy);
        put_field(back, "reach", ledger_reach_name(r->reach));
        put_field(back, "result", r->result);
        put_field(back, "run", s->run);
        if (r->stage != LEDGER_STAGE_NONE)
                put_field(back, "stage", stage_name(r->stage));

        put_field(back, "target", r->target);
        put_number(back, "time", s->time_us);
        put_touches(back, r);
        put_trace(back, r);
        put_number(back, "v", RECORD_VERSION);
        if (r->writes)
                put_number(back, "writes", 1);

        buf_putc(back, '}');
        if (front->failed || back->failed)
                return err_set(e, ERR_MEMORY, 0, "no memory for a record");

        if (front->n + back->n + 32 > LEDGER_RECORD_MAX)
                return err_set(e, ERR_USAGE, 0, "a record of %zu bytes is too long for the ledger",
                               front->n + back->n);

        return 0;
}

/* ---- reading ---- */

struct scan {
        const uint8_t *p, *end;
};

static bool skip_string(struct scan *s, struct span *ret)
{
        if (s->p == s->end || *s->p != '"')
                return false;

        const uint8_t *begin = ++s->p;
        for (; s->p < s->end && *s->p != '"'; s->p++) {
                if (*s->p < 0x20)
                        return false;
                if (*s->p == '\\' && ++s->p == s->end)
                        return false;
        }

        if (s->p == s->end)
                return false;

        *ret = span_of(begin, (size_t) (s->p++ - begin));
        return true;
}

static bool skip_literal(struct scan *s)
{
        static const char *const words[] = { "true", "false", "null" };
        struct span rest = span_of(s->p, (size_t) (s->end - s->p));
        for (size_t i = 0; i < 3; i++)
                if (span_starts(rest, words[i])) {
                        s->p += strlen(words[i]);
                        return true;
                }

        const uint8_t *at = s->p;
        if (at < s->end && *at == '-')
                at++;

        const uint8_t *first = at;
        while (at < s->end && *at >= '0' && *at <= '9')
                at++;

        if (at == first || (at - first > 1 && *first == '0'))
                return false;

        s->p = at; /* a fraction would be left over, which is not allowed */
        return true;
}

/* Skips strings, numbers and words at any depth up to the last bracket, without checking what is between
 * them. */
static bool skip_nested(struct scan *s)
{
        unsigned depth = 0;
        while (s->p < s->end) {
                struct span ignored;
                uint8_t c = *s->p;
                if (c == '"') {
                        if (!skip_string(s, &ignored))
                                return false;
                        continue;
                }
                if (c == '.' || c <= ' ')
                        return false;
                s->p++;
                if (c == '{' || c == '[') {
                        if (++depth > DEPTH_MAX)
                                return false;
                } else if ((c == '}' || c == ']') && --depth == 0) {
                        return true;
                }
        }

        return false;
}

static bool skip_value(struct scan *s, struct span *ret)
{
        const uint8_t *begin = s->p;
        if (s->p == s->end)
                return false;

        if (*s->p == '"')
                return skip_string(s, ret);

        if (*s->p == '{' || *s->p == '[' ? !skip_nested(s) : !skip_literal(s))
                return false;

        *ret = span_of(begin, (size_t) (s->p - begin));
        return true;
}

static bool take_char(struct scan *s, char c)
{
        if (s->p == s->end || *s->p != (uint8_t) c)
                return false;
        s->p++;
        return true;
}

static int compare_keys(struct span a, struct span b)
{
        size_t n = a.n < b.n ? a.n : b.n;
        int d = n ? memcmp(a.p, b.p, n) : 0;
        return d ? d : (a.n > b.n) - (a.n < b.n);
}

static bool next_pair(struct scan *s, struct span *key, struct span *value)
{
        return skip_string(s, key) && take_char(s, ':') && skip_value(s, value);
}

#define TEXT_OF(name)                                                                                        \
        {                                                                                                    \
#name, offsetof(struct ledger_view, name), false                                             \
        }
#define NUMBER(key, name)                                                                                    \
        {                                                                                                    \
#key, offsetof(struct ledger_view, name), true                                               \
        }

/* In the order in which they appear in a record. */
static const struct {
        const char *key;
        size_t at;
        bool number;
} fields[] = {
        TEXT_OF(box),         NUMBER(bytes, bytes),  NUMBER(clock, clock), NUMBER(cost, cost),
        NUMBER(count, count), TEXT_OF(digest),       TEXT_OF(door),        TEXT_OF(id),
        TEXT_OF(kind),        NUMBER(mono, mono_us), TEXT_OF(more),        TEXT_OF(parents),
        TEXT_OF(phase),       TEXT_OF(policy),       TEXT_OF(reach),       TEXT_OF(result),
        TEXT_OF(run),         TEXT_OF(stage),        TEXT_OF(target),      NUMBER(time, time_us),
        TEXT_OF(touches),     TEXT_OF(trace),        NUMBER(v, v),
};
enum { FIELDS = sizeof fields / sizeof *fields };
/* Written, but not used by any query yet. */
static const char *const also_known[] = { "writes" };

static bool is_known(struct span key)
{
        for (size_t i = 0; i < sizeof also_known / sizeof *also_known; i++)
                if (span_is(key, also_known[i]))
                        return true;
        return false;
}

/* Caps a number at the greatest that is ever written: differences of such numbers still fit. */
static int64_t number_of(struct span s)
{
        static const int64_t most = 999999999999999999;
        int64_t v = 0;
        size_t sign = s.n > 0 && s.p[0] == '-';

        for (size_t i = sign; i < s.n && i - sign < 18 && s.p[i] >= '0' && s.p[i] <= '9'; i++)
                v = v * 10 + (s.p[i] - '0');

        if (s.n - sign > 18 && v > 0)
                v = most;

        return sign ? -v : v;
}

static void set_field(struct ledger_view *v, size_t i, struct span value)
{
        char *at = (char *) v + fields[i].at;
        if (fields[i].number)
                *(int64_t *) (void *) at = number_of(value);
        else
                *(struct span *) (void *) at = value;
}

int ledger_view_parse(struct span json, struct ledger_view *ret)
{
        if (json.n == 0 || json.n > LEDGER_RECORD_MAX)
                return -1;

        struct scan s = { json.p, json.p + json.n };
        struct ledger_view v = { .json = json, .bytes = -1, .cost = -1, .count = -1 };
        struct span last = { NULL, 0 }, key, value;
        size_t next = 0;
        if (!take_char(&s, '{'))
                return -1;

        do {
                if (!next_pair(&s, &key, &value) || (last.p && compare_keys(last, key) >= 0))
                        return -1;
                last = key;
                while (next < FIELDS && compare_keys(span_str(fields[next].key), key) < 0)
                        next++;
                if (next < FIELDS && span_is(key, fields[next].key))
                        set_field(&v, next, value);
                else
                        v.strange += !is_known(key);
        } while (take_char(&s, ','));

        if (!take_char(&s, '}') || s.p != s.end || v.id.n == 0 || v.id.n >= LEDGER_ID_MAX || v.kind.n == 0 ||
            v.v < 1)
                return -1;

        *ret = v;
        return 0;
}

struct span ledger_member(struct span object, const char *key)
{
        struct span k, value;
        if (object.n == 0)
                return span_of(NULL, 0);

        struct scan s = { object.p, object.p + object.n };
        if (take_char(&s, '{'))
                do
                        if (!next_pair(&s, &k, &value))
                                break;
                        else if (span_is(k, key))
                                return value;
                while (take_char(&s, ','));

        return span_of(NULL, 0);
}

struct span ledger_element(struct span array, unsigned n)
{
        struct span value;
        if (array.n == 0)
                return span_of(NULL, 0);

        struct scan s = { array.p, array.p + array.n };
        if (take_char(&s, '['))
                do
                        if (!skip_string(&s, &value))
                                break;
                        else if (n-- == 0)
                                return value;
                while (take_char(&s, ','));

        return span_of(NULL, 0);
}

static size_t plain_unicode(const uint8_t *p, char out[4])
{
        uint32_t v = 0;
        for (int i = 0; i < 4; i++)
                v = v << 4 | ((uint32_t) str_hex(p[i]) & 15);
        return str_from_char(v ? v : '?', out);
}

char *ledger_plain(struct span escaped, char *buf, size_t cap)
{
        static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
        size_t n = 0;
        for (size_t i = 0; i < escaped.n && n + 4 < cap; i++) {
                uint8_t c = escaped.p[i];
                if (c != '\\' || i + 1 == escaped.n) {
                        buf[n++] = (char) c;
                        continue;
                }
                c = escaped.p[++i];
                const char *k = c ? strchr(from, c) : NULL;
                if (c == 'u' && i + 4 < escaped.n) {
                        n += plain_unicode(escaped.p + i + 1, buf + n);
                        i += 4;
                } else {
                        buf[n++] = k ? to[k - from] : (char) c;
                }
        }

        if (cap > 0)
                buf[n] = '\0';

        return buf;
}

const char *ledger_end_name(enum ledger_end e)
{
        static const char *const names[] = { [LEDGER_END_DONE] = "done",
                                             [LEDGER_END_CUT] = "cut",
                                             [LEDGER_END_FAILED] = "failed",
                                             [LEDGER_END_REFUSED] = "refused" };
        _Static_assert(sizeof names / sizeof *names == LEDGER_END__COUNT, "a name for each");
        return (unsigned) e < LEDGER_END__COUNT ? names[e] : "?";
}

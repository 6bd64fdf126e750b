/* SPDX-License-Identifier: MIT */
/* output/output_envelope.c - writes and reads envelopes. Pure. */
#include "output/output_envelope.h"
#include "base/base64.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const kinds[] = { "delimiter", "datamark", "base64" };
_Static_assert(sizeof kinds / sizeof *kinds == ENVELOPE__COUNT, "each mark has its name");

int envelope_mark_find(const char *name) { return str_row(kinds, ENVELOPE__COUNT, name); }

static bool has_word(struct span text, const char *word)
{
        return text.n && memmem(text.p, text.n, word, strlen(word)) != NULL;
}

static const char *choose_sign(struct span content)
{
        static const char *const signs[] = { "\xcb\x86", "\xc2\xa6", "\xc2\xac", "\xe2\x8c\x83",
                                             "\xe2\x97\x8a" };
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
                if (!has_word(content, signs[i]))
                        return signs[i];
        return NULL;
}

static void put_delimited(const struct envelope *v, struct buf *out)
{
        buf_printf(out, "<<%s\n", v->random);
        buf_add(out, v->content.p, v->content.n);
        buf_printf(out, "\n%s>>", v->random);
}

static void put_marked(struct span s, const char *sign, struct buf *out)
{
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] == ' ')
                        buf_puts(out, sign);
                else
                        buf_putc(out, (char) s.p[i]);
}

static void put_labels(const char *labels, struct buf *out)
{
        for (const char *at = labels; *at; at += *at == ' ') {
                size_t n = strcspn(at, " ");
                if (n) {
                        buf_key(out, NULL);
                        buf_json(out, span_of(at, n));
                }
                at += n;
        }
}

/* "escape=1 bidi=2", each as JSON between `before`, `between` and `after`; a part of another form is left
 * out. */
static void put_counts(const char *text, const char *const around[3], struct buf *out)
{
        for (const char *at = text ? text : ""; *at; at += *at == ' ') {
                size_t n = strcspn(at, " "), name = strspn(at, "abcdefghijklmnopqrstuvwxyz-0123456789");
                uint64_t count = 0;
                if (name > 0 && name + 1 < n && at[name] == '=' &&
                    str_to_u64(span_of(at + name + 1, n - name - 1), &count) == 0) {
                        buf_member_json(out, NULL, around[0]);
                        buf_json(out, span_of(at, name));
                        buf_printf(out, "%s%llu%s", around[1], (unsigned long long) count, around[2]);
                }
                at += n;
        }
}

static void put_checked(const struct envelope *v, struct buf *out)
{
        static const char *const member[] = { "", ":", "" }, *const object[] = { "{\"kind\":", ",\"count\":",
                                                                                 "}" };
        buf_member(out, "as", v->as);
        buf_puts(out, ",\"cut\":{");
        put_counts(v->cut, member, out);
        buf_puts(out, "},\"findings\":[");
        put_counts(v->findings, object, out);
        buf_puts(out, "]");
}

int envelope_put(const struct envelope *v, struct buf *out, struct err *e)
{
        AUTO_BUF(marked);
        char digest[65];
        const char *sign = v->mark == ENVELOPE_DATAMARK ? choose_sign(v->content) : v->random;
        if (!sign || (v->mark == ENVELOPE_DELIMITER && has_word(v->content, v->random))) {
                (void) err_set(e, ERR_USAGE, 0, "the content has every sign that could mark it");
                return err_hint(e, "use --mark base64");
        }

        if (v->mark == ENVELOPE_BASE64)
                base64_put(v->content, &marked);
        else if (v->mark == ENVELOPE_DATAMARK)
                put_marked(v->content, sign, &marked);
        else
                put_delimited(v, &marked);

        sha256_hex(v->content, digest);
        buf_puts(out, "{\"v\":1");
        buf_member(out, "box", v->box);
        buf_member(out, "run", v->run);
        buf_member(out, "effect", v->effect);
        buf_member(out, "door", v->door);
        buf_printf(out, ",\"time\":%lld,\"source\":\"box\",\"labels\":[", (long long) v->time_us);
        put_labels(v->labels ? v->labels : "untrusted", out);
        buf_puts(out, "]");
        buf_member(out, "sha256", digest);
        buf_printf(out, ",\"bytes\":%zu,\"truncated\":%s", v->content.n, v->truncated ? "true" : "false");
        if (v->as)
                put_checked(v, out);
        buf_printf(out, ",\"mark\":{\"kind\":\"%s\"", kinds[v->mark]);
        buf_member(out, "with", v->mark == ENVELOPE_BASE64 ? "" : sign);
        buf_puts(out, "},\"content\":");
        buf_json(out, buf_span(&marked));
        buf_puts(out, "}");
        return out->failed || marked.failed ? err_set(e, ERR_MEMORY, 0, "out of memory") : 0;
}

/* ---- reading ---- */

static const char *text_of(const struct json *root, const char *key)
{
        const struct json *v = json_get(root, key);
        return v && v->type == JSON_STRING && strlen(v->str) == v->len ? v->str : NULL;
}

static int read_delimited(struct span s, const char *with, struct buf *out)
{
        char open[80], close[80];
        int n = snprintf(open, sizeof open, "<<%s\n", with),
            k = snprintf(close, sizeof close, "\n%s>>", with);
        if (n >= (int) sizeof open || s.n < (size_t) n + (size_t) k || !span_starts(s, open) ||
            memcmp(s.p + s.n - k, close, (size_t) k) != 0)
                return -1;
        buf_add(out, s.p + n, s.n - (size_t) n - (size_t) k);
        return 0;
}

static int read_marked(struct span s, const char *with, struct buf *out)
{
        size_t k = strlen(with);
        for (size_t i = 0; i < s.n;) {
                bool sign = k && s.n - i >= k && memcmp(s.p + i, with, k) == 0;
                buf_putc(out, sign ? ' ' : (char) s.p[i]);
                i += sign ? k : 1;
        }
        return k ? 0 : -1;
}

static int read_base64(struct span s, struct buf *out)
{
        char *room = s.n ? buf_room(out, s.n) : NULL;
        ssize_t n = room ? base64_read(s, (uint8_t *) room, s.n) : 0;
        out->n = n < 0 ? 0 : (size_t) n;
        return n < 0 ? -1 : 0;
}

static int unmark_text(const struct json *root, struct envelope_read *ret)
{
        struct buf *out = &ret->content;
        const struct json *mark = json_get(root, "mark"), *content = json_get(root, "content");
        const char *kind = mark ? text_of(mark, "kind") : NULL, *with = mark ? text_of(mark, "with") : NULL;
        int k = kind ? envelope_mark_find(kind) : -1;
        bool random = with && strlen(with) == 32 && strspn(with, "0123456789abcdef") == 32;
        if (k < 0 || !with || strlen(with) >= sizeof ret->with || (k == ENVELOPE_DELIMITER && !random) ||
            !content || content->type != JSON_STRING)
                return -1;

        ret->mark = (enum envelope_mark) k;
        (void) snprintf(ret->with, sizeof ret->with, "%s", with);

        struct span s = span_of(content->str, content->len);
        return k == ENVELOPE_DELIMITER  ? read_delimited(s, with, out)
               : k == ENVELOPE_DATAMARK ? read_marked(s, with, out)
                                        : read_base64(s, out);
}

static int compare_members(const struct json *root, struct envelope_read *ret, struct err *e)
{
        const char *run = text_of(root, "run"), *effect = text_of(root, "effect"),
                   *digest = text_of(root, "sha256");
        char own[65];
        if (!run || !effect || !digest || strlen(run) >= sizeof ret->run ||
            strlen(effect) >= sizeof ret->effect || unmark_text(root, ret) < 0)
                return err_set(e, ERR_DOOR, 0, "this is not an envelope of cordon");

        sha256_hex(buf_span(&ret->content), own);
        if (strcmp(own, digest) != 0)
                return err_set(e, ERR_DOOR, 0, "the content is not the one that the envelope was made for");

        (void) snprintf(ret->run, sizeof ret->run, "%s", run);
        (void) snprintf(ret->effect, sizeof ret->effect, "%s", effect);
        (void) snprintf(ret->sha256, sizeof ret->sha256, "%s", own);
        return 0;
}

int envelope_read(struct span text, struct envelope_read *ret, struct err *e)
{
        *ret = (struct envelope_read){ 0 };
        struct json_doc *d = json_parse_data("envelope", text, e);
        int r = d ? compare_members(json_root(d), ret, e) : -1;
        json_free(d);
        return r;
}

/* ---- comparing ---- */

enum { DEPTH_MAX = 8 };

static bool same_json(const struct json *a, const struct json *b, unsigned depth)
{
        if (a->type != b->type || depth > DEPTH_MAX)
                return false;
        if (a->type == JSON_INT && a->integer != b->integer)
                return false;
        if (a->type == JSON_STRING && (a->len != b->len || memcmp(a->str, b->str, a->len) != 0))
                return false;
        if (a->type != JSON_OBJECT && a->type != JSON_ARRAY)
                return true;

        const struct json *x = a->child, *y = b->child;
        size_t n = 0, members = 0;
        for (; x; x = x->next, n++) {
                const struct json *other = a->type == JSON_OBJECT ? json_get(b, x->key) : y;
                if (!other || !same_json(x, other, depth + 1))
                        return false;
                y = y ? y->next : NULL;
        }
        for (y = b->child; y; y = y->next)
                members++;
        return n == members;
}

int envelope_compare(struct span text, const struct envelope *v, struct err *e)
{
        AUTO_BUF(own);
        if (envelope_put(v, &own, e) < 0)
                return -1;

        struct json_doc *a = json_parse_data("envelope", text, e),
                        *b = a ? json_parse_data("envelope", buf_span(&own), e) : NULL;
        int r = b ? 0 : -1;
        if (b && !same_json(json_root(b), json_root(a), 0))
                r = err_set(e, ERR_DOOR, 0, "the envelope says something else than the ledger");
        json_free(a);
        json_free(b);
        return r;
}

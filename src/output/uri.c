/* SPDX-License-Identifier: MIT */
/* output/uri.c - resolves references by RFC 3986, section 5.2. Pure. */
#include "output/uri.h"
#include "base/buf.h"
#include "base/str.h"

struct uri {
        struct span scheme, authority, path, query;
        bool has_authority, has_query;
};

static struct span cut_part(struct span *s, size_t n, size_t skip)
{
        struct span head = span_of(s->p, n);
        *s = span_of(s->p + n + skip, s->n - n - skip);
        return head;
}

/* The first place of one of `set`, or the length. */
static size_t find_any(struct span s, const char *set)
{
        size_t i = 0;
        while (i < s.n && (!s.p[i] || !strchr(set, s.p[i])))
                i++;
        return i;
}

/* Without a fragment. */
static struct uri split_uri(struct span s)
{
        struct uri u = { 0 };
        size_t colon = find_any(s, ":/?");
        if (colon > 0 && colon < s.n && s.p[colon] == ':')
                u.scheme = cut_part(&s, colon, 1);

        u.has_authority = span_starts(s, "//");
        if (u.has_authority) {
                (void) cut_part(&s, 0, 2);
                u.authority = cut_part(&s, find_any(s, "/?"), 0);
        }

        size_t query = find_any(s, "?");
        u.has_query = query < s.n;
        u.path = cut_part(&s, query, u.has_query);
        u.query = s;
        return u;
}

static void put(struct buf *out, struct span s) { buf_add(out, s.p, s.n); }

/* Removes the last segment that was written, but nothing before `from`. */
static void drop_segment(struct buf *out, size_t from)
{
        while (out->n > from && out->p[out->n - 1] != '/')
                out->n--;
        if (out->n > from)
                out->n--;
}

/* Writes the path without "." and ".." segments. */
static void put_path(struct buf *out, struct span path)
{
        size_t from = out->n;
        for (size_t i = 0; i < path.n;) {
                size_t slash = path.p[i] == '/', k = slash;
                while (i + k < path.n && path.p[i + k] != '/')
                        k++;
                struct span segment = span_of(path.p + i + slash, k - slash);
                bool last = i + k == path.n;
                if (span_is(segment, "..")) {
                        drop_segment(out, from);
                        buf_puts(out, last ? "/" : "");
                } else if (span_is(segment, ".")) {
                        buf_puts(out, last ? "/" : "");
                } else {
                        buf_add(out, path.p + i, k);
                }
                i += k;
        }
}

static void put_merged(struct buf *out, const struct uri *base, struct span path)
{
        AUTO_BUF(merged);
        size_t keep = base->path.n;
        while (keep > 0 && base->path.p[keep - 1] != '/')
                keep--;
        if (base->has_authority && base->path.n == 0)
                buf_puts(&merged, "/");
        buf_add(&merged, base->path.p, keep);
        put(&merged, path);
        out->failed |= merged.failed;
        put_path(out, buf_span(&merged));
}

static void put_uri(struct buf *out, const struct uri *b, const struct uri *r)
{
        put(out, r->scheme.n ? r->scheme : b->scheme);
        buf_putc(out, ':');
        const struct uri *own = r->scheme.n || r->has_authority ? r : b;
        if (own->has_authority) {
                buf_puts(out, "//");
                put(out, own->authority);
        }

        bool absolute = own == r || span_starts(r->path, "/");
        if (own == r && !r->has_authority)
                put(out, r->path); /* urn: and the like */
        else if (absolute)
                put_path(out, r->path);
        else if (r->path.n == 0)
                put(out, b->path);
        else
                put_merged(out, b, r->path);

        const struct uri *asks = r->path.n == 0 && own == b && !r->has_query ? b : r;
        if (asks->has_query) {
                buf_putc(out, '?');
                put(out, asks->query);
        }
}

static int decode_text(struct arena *mem, struct span text, struct span *ret)
{
        uint8_t *p = arena_alloc(mem, text.n + 1);
        size_t n = 0;
        for (size_t i = 0; p && i < text.n; i++) {
                if (text.p[i] != '%') {
                        p[n++] = text.p[i];
                        continue;
                }
                int high = i + 2 < text.n ? str_hex(text.p[i + 1]) : -1;
                int low = i + 2 < text.n ? str_hex(text.p[i + 2]) : -1;
                if (high < 0 || low < 0)
                        return -1;
                p[n++] = (uint8_t) (high << 4 | low);
                i += 2;
        }

        *ret = span_of(p, n);
        return p ? 0 : -1;
}

const char *uri_resolve(struct arena *mem, const char *base, struct span ref, struct span *ret_fragment)
{
        AUTO_BUF(out);
        size_t hash = find_any(ref, "#");
        struct span fragment = hash < ref.n ? span_of(ref.p + hash + 1, ref.n - hash - 1) : span_of("", 0);
        if (decode_text(mem, fragment, ret_fragment) < 0)
                return NULL;

        struct uri b = split_uri(span_str(base)), r = split_uri(span_of(ref.p, hash));
        put_uri(&out, &b, &r);
        return out.failed ? NULL : arena_copy(mem, buf_span(&out));
}

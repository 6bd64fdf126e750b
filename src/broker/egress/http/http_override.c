/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_override.c - fields and parameters that make a server do something else than the
 * request line states. The decided effect must be the actual one, so they are denied; a field that names a
 * second resource is judged as a request for that resource. Pure. */
#include "base/str.h"
#include "broker/egress/http/http_internal.h"

#include <stdio.h>

/* The thing that a field names. The kinds from BUCKET on name a resource that the server reads for this
 * request. */
enum named {
        NAMES_NOTHING = 0,
        NAMES_HOST,      /* the connection's host counts: the field is dropped */
        NAMES_METHOD,    /* denied, unless it is the request's own */
        NAMES_PATH,      /* denied */
        NAMES_ELSEWHERE, /* denied: in a spelling that is not read here, or a server of anybody */
        NAMES_BUCKET,    /* bucket/key of the same store */
        NAMES_URL,
        NAMES_RENAMED,   /* a path of this host, which moves away */
        NAMES_CONTAINER, /* container/object below the account, the first two segments of the path */
        NAMES_TAGGED,    /* URLs in angle brackets, with conditions in parentheses: RFC 4918 */
};

static const struct {
        const char *name;
        enum named what;
} fields[] = {
        { "forwarded", NAMES_HOST },
        { "proxy", NAMES_HOST }, /* HTTP_PROXY of a CGI program */
        { "x-forwarded-host", NAMES_HOST },
        { "x-forwarded-server", NAMES_HOST },
        { "x-host", NAMES_HOST },
        { "x-http-host-override", NAMES_HOST },
        { "x-original-host", NAMES_HOST },
        { "x-forwarded-method", NAMES_METHOD },
        { "x-http-method", NAMES_METHOD },
        { "x-http-method-override", NAMES_METHOD },
        { "x-method-override", NAMES_METHOD },
        { "x-original-method", NAMES_METHOD },
        { "x-accel-mapping", NAMES_PATH }, /* of Rack::Sendfile */
        { "x-envoy-original-path", NAMES_PATH },
        { "x-forwarded-path", NAMES_PATH },
        { "x-forwarded-prefix", NAMES_PATH },
        { "x-forwarded-uri", NAMES_PATH },
        { "x-original-uri", NAMES_PATH },
        { "x-original-url", NAMES_PATH },
        { "x-override-url", NAMES_PATH },
        { "x-replaced-path", NAMES_PATH },
        { "x-request-uri", NAMES_PATH },
        { "x-rewrite-url", NAMES_PATH },
        { "x-script-name", NAMES_PATH },
        { "x-sendfile-type", NAMES_PATH },
        { "x-waws-unencoded-url", NAMES_PATH },
        { "destination-account", NAMES_ELSEWHERE },
        { "x-copy-from-account", NAMES_ELSEWHERE },
        { "x-cos-callback", NAMES_ELSEWHERE },
        { "x-object-manifest", NAMES_ELSEWHERE },
        { "x-oss-callback", NAMES_ELSEWHERE },
        { "x-symlink-target", NAMES_ELSEWHERE },
        { "x-symlink-target-account", NAMES_ELSEWHERE },
        { "if", NAMES_TAGGED },
        { "x-amz-copy-source", NAMES_BUCKET },
        { "x-copy-from", NAMES_CONTAINER },
        { "x-goog-copy-source", NAMES_BUCKET },
        { "x-ms-copy-source", NAMES_URL },
        { "x-ms-file-rename-source", NAMES_URL },
        { "x-ms-rename-source", NAMES_RENAMED },
        { "x-oss-copy-source", NAMES_BUCKET },
};

/* Other stores have headers of the same kind: an unknown one is not read, and denied. */
static enum named by_ending(struct span name)
{
        static const char *const endings[] = { "-copy-source", "-rename-source", "-copy-from",
                                               "-move-source" };
        for (size_t i = 0; i < COUNT(endings); i++) {
                size_t n = strlen(endings[i]);
                if (name.n > n && http_name_is(span_of(name.p + name.n - n, n), endings[i]))
                        return NAMES_ELSEWHERE;
        }

        return NAMES_NOTHING;
}

static enum named named_by(struct span name)
{
        for (size_t i = 0; i < COUNT(fields); i++)
                if (http_name_is(name, fields[i].name))
                        return fields[i].what;
        return by_ending(name);
}

bool http_names_other_host(struct span name) { return named_by(name) == NAMES_HOST; }

/* ---- methods in parameters and cookies ---- */

/* A name that is "_method" to some server, byte by byte, without its escapes. */
struct form_name {
        unsigned n;
        bool begun, nested, other;
};
static const char word[] = "method";

/* Characters that a server strips from the ends of a name: Django any space, URLSearchParams a '?' at the
 * beginning. */
static bool is_taken_off(const struct form_name *m, uint8_t c)
{
        bool begins = m->n == 0 && !m->begun, ends = m->n == sizeof word - 1;
        return ((begins || ends) && c >= '\t' && c <= '\r') || (ends && c == ' ') || (begins && c == '?');
}

/* PHP turns a space or a dot into '_', and strips several before a name as it strips spaces. Some servers
 * strip brackets: `[_method]` and `_method]` are `_method`; after a name they mark an array. */
static void form_name_add(struct form_name *m, uint8_t c)
{
        m->nested = m->nested || (c == '[' && m->n == sizeof word - 1 && !m->other);
        if (m->nested || c == '[' || c == ']' || is_taken_off(m, c))
                return;

        c = c == ' ' || c == '.' || c == '+' ? '_' : c >= 'A' && c <= 'Z' ? c | 0x20 : c;
        if (m->n == 0 && c == '_')
                m->begun = true;
        else if (!m->begun || m->n == sizeof word - 1 || c != (uint8_t) word[m->n++])
                m->other = true;
}

static bool form_name_is_method(const struct form_name *m)
{
        return m->begun && !m->other && m->n == sizeof word - 1;
}

uint8_t http_plain_byte(struct span s, size_t *at)
{
        size_t i = *at;
        int high = s.p[i] == '%' && i + 2 < s.n ? str_hex(s.p[i + 1]) : -1;
        int low = high >= 0 ? str_hex(s.p[i + 2]) : -1;
        *at += low >= 0 ? 3 : 1;
        return low >= 0 ? (uint8_t) (high << 4 | low) : s.p[i];
}

int http_param_byte(struct span param, size_t *at)
{
        if (*at < param.n && param.p[*at] != '=')
                return http_plain_byte(param, at);
        ++*at;
        return -1;
}

bool http_next_param(struct span query, size_t *at, struct span *ret)
{
        if (*at >= query.n)
                return false;

        size_t n = 0;

        /* Some servers also part parameters at ';'. */
        while (*at + n < query.n && query.p[*at + n] != '&' && query.p[*at + n] != ';')
                n++;

        *ret = span_of(query.p + *at, n);
        *at += n + 1;
        return true;
}

struct span http_param_name(struct span param, uint8_t *to, size_t cap)
{
        size_t at = 0, n = 0;
        for (int c; n < cap && (c = http_param_byte(param, &at)) >= 0;)
                to[n++] = (uint8_t) c;
        return span_of(to, n);
}

static bool param_names_method(struct span param)
{
        struct form_name name = { 0 };
        size_t at = 0;
        for (int c; (c = http_param_byte(param, &at)) >= 0;)
                form_name_add(&name, (uint8_t) c);

        return form_name_is_method(&name);
}

/* No name of the table is as long as the room. */
static enum named named_by_param(struct span param)
{
        uint8_t text[64];
        struct span name = http_param_name(param, text, sizeof text);
        return name.n > 2 && (name.p[0] | 0x20) == 'x' ? named_by(name) : NAMES_NOTHING;
}

/* As frameworks read it from any request: _method=DELETE. Some take a field of the table as a parameter. */
static enum effect_reason object_to_param(struct span param)
{
        enum named what = named_by_param(param);
        if (what == NAMES_METHOD || param_names_method(param))
                return REASON_METHOD_PARAMETER;
        return what > NAMES_METHOD ? REASON_SOURCE_UNCLEAR : REASON_NONE;
}

static enum effect_reason object_to_query(struct span q)
{
        enum effect_reason why = REASON_NONE;
        struct span param;
        for (size_t at = 0; !why && http_next_param(q, &at, &param);)
                why = object_to_param(param);

        return why;
}

/* PHP's default has cookies in $_REQUEST as well. */
static bool cookie_names_method(struct span text)
{
        for (size_t at = 0; at < text.n;) {
                const uint8_t *end = memchr(text.p + at, ';', text.n - at);
                size_t n = end ? (size_t) (end - text.p) - at : text.n - at;
                if (param_names_method(http_trim(span_of(text.p + at, n))))
                        return true;
                at += n + 1;
        }

        return false;
}

/* ---- resources in fields ---- */

struct resource {
        struct http_peer peer;
        bool tls;
        char host[256]; /* the peer's */
        struct http_url url;
};

static int read_path(struct span path, struct resource *r)
{
        enum effect_reason why;
        return path.n && path.p[0] == '/' && http_target_url(path, &r->peer, r->tls, &r->url, &why) == 0 ? 0
                                                                                                         : -1;
}

static int read_joined(const char *before, struct span rest, struct resource *r)
{
        char text[HTTP_PATH_MAX];
        int n = snprintf(text, sizeof text, "%s/%.*s", before, (int) rest.n, (const char *) rest.p);
        return n > 0 && (size_t) n < sizeof text ? read_path(span_of(text, (size_t) n), r) : -1;
}

/* The name of the store in a host: "s3.eu-west-1.amazonaws.com" in itself, and in "bucket." before it. NULL:
 * whether this host is a store or one bucket is not known. */
static const char *store_in(const char *host)
{
        for (const char *at = host; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL) {
                size_t n = strcspn(at, ".");
                bool s3 = n >= 2 && strncmp(at, "s3", 2) == 0 && (n == 2 || at[2] == '-');
                if (at[n] && (s3 || strcmp(at, "storage.googleapis.com") == 0 ||
                              (strncmp(at, "oss-", 4) == 0 && strcmp(at + n, ".aliyuncs.com") == 0)))
                        return at;
        }

        return NULL;
}

/* Stores read a '+' as a space. */
static int read_bucket(struct span value, struct resource *r)
{
        const char *store = r->peer.is_address ? NULL : store_in(r->peer.host);
        if (value.n && value.p[0] == '/')
                value = span_of(value.p + 1, value.n - 1);

        const uint8_t *slash = memchr(value.p, '/', value.n), *colon = memchr(value.p, ':', value.n);
        if (!store || !slash || slash == value.p || (colon && colon < slash) || memchr(value.p, '+', value.n))
                return -1;

        if (store == r->peer.host)
                return read_joined("", value, r);

        size_t n = (size_t) (slash - value.p);
        char host[256];
        bool is_address;
        const char *why;
        int k = snprintf(host, sizeof host, "%.*s.%s", (int) n, (const char *) value.p, store);
        if (k < 0 || (size_t) k >= sizeof host || policy_host(span_str(host), r->host, &is_address, &why) < 0)
                return -1;

        r->peer.host = r->host;
        return read_path(span_of(slash, value.n - n), r);
}

static int read_url(struct span value, struct resource *r)
{
        struct span host;
        const char *why;
        r->tls = span_starts(value, "https://");
        if (!r->tls && !span_starts(value, "http://"))
                return -1;

        size_t skip = strlen(r->tls ? "https://" : "http://"), n = 0;
        value = span_of(value.p + skip, value.n - skip);
        while (n < value.n && value.p[n] != '/')
                n++;

        if (http_target_authority(span_of(value.p, n), r->tls, &host, &r->peer.port) < 0 ||
            policy_host(host, r->host, &r->peer.is_address, &why) < 0)
                return -1;

        r->peer.host = r->host;
        return read_path(span_of(value.p + n, value.n - n), r);
}

static int read_container(const char *path, struct span value, struct resource *r)
{
        char account[HTTP_PATH_MAX];
        const char *end = path;
        for (unsigned i = 0; i < 2 && *end; i++)
                end += 1 + strcspn(end + 1, "/");

        (void) snprintf(account, sizeof account, "%.*s", (int) (end - path), path);
        if (value.n && value.p[0] == '/')
                value = span_of(value.p + 1, value.n - 1);
        return read_joined(account, value, r);
}

static bool is_own(const struct http_flow *f, const struct resource *r)
{
        return r->tls == f->tls && r->peer.port == f->peer.port && strcmp(r->peer.host, f->peer.host) == 0 &&
               strcmp(r->url.path, f->url.path) == 0;
}

/* Would a request for it go through a door as this one does? The server does it with this request's
 * credential, and nobody is asked about it and no label rises. */
static bool is_open(const struct http_flow *f, const struct resource *r, const char *method)
{
        struct http_judgement to;
        const struct http_verdict_in in = {
                .peer = &r->peer, .tls = r->tls, .method = method, .path = r->url.path
        };
        http_judge(f->r, &in, &to);
        bool moved = strcmp(to.host, r->peer.host) != 0 || strcmp(to.path, r->url.path) != 0 ||
                     strcmp(f->to.host, f->peer.host) != 0 || strcmp(f->to.path, f->url.path) != 0;
        return to.allowed && !moved && !r->url.escaped && to.credential == f->to.credential &&
               (to.door == f->to.door || (!to.asks && !to.door->flow.label));
}

/* The smallest line that would open it. */
static enum effect_reason not_open(struct http_flow *f, const struct http_field *d, const struct resource *r)
{
        char to[HTTP_ORIGIN_MAX];
        const struct http_credential *c = f->to.credential;
        (void) http_origin(r->tls, r->peer.host, r->peer.port, to);
        (void) str_inert(d->name, f->detail, sizeof f->detail);
        int n = snprintf(f->to.permit, sizeof f->to.permit, "net %s%s GET%s%s", to, r->url.path,
                         c ? " with " : "", c ? c->name : "");
        if (n < 0 || (size_t) n >= sizeof f->to.permit)
                f->to.permit[0] = '\0';
        return REASON_SOURCE_HEADER;
}

static enum effect_reason unclear_override(struct http_flow *f, const struct http_field *d)
{
        (void) str_inert(d->name, f->detail, sizeof f->detail);
        return REASON_SOURCE_UNCLEAR;
}

static struct resource own_host(const struct http_flow *f)
{
        return (struct resource){ .peer = f->peer, .tls = f->tls };
}

/* If: </a> (<token>) </b> ([etag]): what stands outside of the parentheses. */
static enum effect_reason object_to_tags(struct http_flow *f, const struct http_field *d)
{
        struct span v = d->value;
        for (size_t i = 0; i < v.n; i++) {
                const uint8_t *end = memchr(v.p + i, v.p[i] == '(' ? ')' : '>', v.n - i);
                if (v.p[i] != '<' && v.p[i] != '(')
                        continue;
                if (!end)
                        return unclear_override(f, d);
                struct span tag = span_of(v.p + i + 1, (size_t) (end - v.p) - i - 1);
                struct resource r = own_host(f);
                if (v.p[i] == '<' && (tag.n && tag.p[0] == '/' ? read_path(tag, &r) : read_url(tag, &r)) < 0)
                        return unclear_override(f, d);
                if (v.p[i] == '<' && !is_own(f, &r) && !is_open(f, &r, "GET"))
                        return not_open(f, d, &r);
                i = (size_t) (end - v.p);
        }

        return REASON_NONE;
}

static int read_resource(const struct http_flow *f, enum named what, struct span value, struct resource *r)
{
        switch (what) {
        case NAMES_BUCKET:
                return read_bucket(value, r);
        case NAMES_URL:
                return read_url(value, r);
        case NAMES_RENAMED:
                return read_path(value, r);
        case NAMES_CONTAINER:
                return read_container(f->url.path, value, r);
        case NAMES_NOTHING:
        case NAMES_HOST:
        case NAMES_METHOD:
        case NAMES_PATH:
        case NAMES_ELSEWHERE:
        case NAMES_TAGGED:
                break;
        }
        return -1;
}

static enum effect_reason object_to_source(struct http_flow *f, const struct http_field *d, enum named what)
{
        struct resource r = own_host(f);
        if (what == NAMES_TAGGED)
                return object_to_tags(f, d);

        if (d->value.n == 0 || read_resource(f, what, d->value, &r) < 0)
                return unclear_override(f, d);

        bool moves = what == NAMES_RENAMED || http_name_is(d->name, "x-ms-file-rename-source");
        return is_open(f, &r, "GET") && (!moves || is_open(f, &r, "DELETE")) ? REASON_NONE
                                                                             : not_open(f, d, &r);
}

static enum effect_reason object_to_field(struct http_flow *f, const struct http_field *d)
{
        struct span method = f->head.method;
        enum named what = named_by(d->name);
        if (what == NAMES_METHOD &&
            (d->value.n != method.n ||
             strncasecmp((const char *) d->value.p, (const char *) method.p, method.n) != 0))
                return REASON_METHOD_HEADER;

        if (what == NAMES_PATH)
                return REASON_PATH_HEADER;

        if (http_name_is(d->name, "cookie") && cookie_names_method(d->value))
                return REASON_METHOD_COOKIE;

        return what > NAMES_PATH ? object_to_source(f, d, what) : REASON_NONE;
}

enum effect_reason http_override(struct http_flow *f)
{
        enum effect_reason why = object_to_query(f->url.query);
        for (size_t i = 0; i < f->head.field_count && !why; i++)
                why = object_to_field(f, &f->head.field[i]);
        return why;
}

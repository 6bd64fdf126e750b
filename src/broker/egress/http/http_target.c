/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_target.c - the target of a request. Host, an absolute target and the peer must be
 * the same; the path is in the policy's own canonical form, and that form is sent on. Pure. */
#include "broker/egress/http/http_internal.h"

#include "base/str.h"

#include <stdio.h>

static int refuse_target(enum effect_reason *ret_why, enum effect_reason why)
{
        *ret_why = why;
        return -1;
}

const char *http_origin(bool tls, const char *host, uint16_t port, char ret[static HTTP_ORIGIN_MAX])
{
        bool v6 = strchr(host, ':'), usual = port == (tls ? 443 : 80);
        int n = snprintf(ret, HTTP_ORIGIN_MAX, "%s://%s%.255s%s", tls ? "https" : "http", v6 ? "[" : "", host,
                         v6 ? "]" : "");
        if (!usual)
                (void) snprintf(ret + n, HTTP_ORIGIN_MAX - (size_t) n, ":%u", port);
        return ret;
}

int http_target_authority(struct span a, bool tls, struct span *ret_host, uint16_t *ret_port)
{
        uint64_t port = tls ? 443 : 80;
        size_t n = a.n;
        while (n > 0 && a.p[n - 1] != ':' && a.p[n - 1] != ']')
                n--;

        if (n > 0 && a.p[n - 1] == ':') {
                if (str_to_u64(span_of(a.p + n, a.n - n), &port) < 0 || port > UINT16_MAX)
                        return -1;
                a.n = n - 1;
        }

        *ret_host = a;
        *ret_port = (uint16_t) port;
        return 0;
}

/* host[:port] means the peer. */
static bool authority_is(struct span a, const struct http_peer *peer, bool tls)
{
        char host[256];
        bool address;
        const char *why;
        uint16_t port;
        if (http_target_authority(a, tls, &a, &port) < 0 || port != peer->port)
                return false;

        if (span_is(a, peer->host)) /* canonical as it is, as most write it; with brackets it never is */
                return true;

        return policy_host(a, host, &address, &why) == 0 && address == peer->is_address &&
               strcmp(host, peer->host) == 0;
}

static int check_query(struct span q, enum effect_reason *ret_why)
{
        for (size_t i = 0; i < q.n; i++) {
                if (q.p[i] <= 0x20 || q.p[i] >= 0x7f || q.p[i] == '#')
                        return refuse_target(ret_why, REASON_QUERY_BYTE);
                if (q.p[i] == '%' && i + 2 < q.n && q.p[i + 1] == '0' && q.p[i + 2] == '0')
                        return refuse_target(ret_why, REASON_QUERY_NUL);
        }

        return 0;
}

/* http://authority/path: the authority must be the peer; the rest is the target. */
static int strip_absolute(struct span *t, const struct http_peer *peer, bool tls, enum effect_reason *ret_why)
{
        const char *scheme = tls ? "https://" : "http://";
        if (!span_starts(*t, scheme))
                return refuse_target(ret_why, REASON_TARGET);

        struct span rest = span_of(t->p + strlen(scheme), t->n - strlen(scheme));
        size_t n = 0;
        while (n < rest.n && rest.p[n] != '/' && rest.p[n] != '?')
                n++;

        if (!authority_is(span_of(rest.p, n), peer, tls))
                return refuse_target(ret_why, REASON_TARGET_OTHER);

        *t = n < rest.n && rest.p[n] == '/' ? span_of(rest.p + n, rest.n - n) : span_str("/");
        return n < rest.n && rest.p[n] == '?' ? refuse_target(ret_why, REASON_TARGET_NO_PATH) : 0;
}

/* Characters that clients send unescaped and that mean the same escaped. The escaped form is checked and
 * sent, so that both forms have one decision. Not among them: a backslash, which some servers read as a
 * slash. */
static bool is_escaped_here(uint8_t c) { return c && strchr("*[]|^`{}\"<>", c); }

/* %2F is a slash to some servers and a letter to others (npm writes @scope%2Fname so): checked as a slash,
 * sent as it came, and allowed only if both mean the same door: see `tail` of the verdict. */
static int read_slashes(struct span raw, char text[HTTP_PATH_MAX], size_t *ret_n, uint64_t *ret_escaped,
                        enum effect_reason *ret_why)
{
        size_t n = 0;
        *ret_escaped = 0;
        for (size_t i = 0; i < raw.n; i++) {
                if (n + 4 > HTTP_PATH_MAX)
                        return refuse_target(ret_why, REASON_PATH_TOO_LONG);
                if (is_escaped_here(raw.p[i])) {
                        n += (size_t) snprintf(text + n, 4, "%%%02X", raw.p[i]);
                        continue;
                }
                bool escape = raw.n - i >= 3 && raw.p[i] == '%' && raw.p[i + 1] == '2' &&
                              (raw.p[i + 2] | 0x20) == 'f';
                if (escape || raw.p[i] == '/') {
                        if (*ret_escaped >> 62)
                                return refuse_target(ret_why, REASON_PATH_SEGMENTS);
                        *ret_escaped = *ret_escaped << 1 | escape;
                }
                text[n++] = escape ? '/' : (char) raw.p[i];
                i += escape ? 2 : 0;
        }

        *ret_n = n;
        return 0;
}

size_t http_slashes(const char *path)
{
        size_t n = 0;
        for (; *path; path++)
                n += *path == '/';
        return n;
}

void http_put_path(const char *path, uint64_t escaped, struct fifo *out)
{
        for (size_t left = http_slashes(path); *path;) {
                size_t n = strcspn(path, "/");
                fifo_add(out, path, n);
                path += n;
                if (!*path)
                        break;
                left--;
                fifo_text(out, left < 64 && (escaped >> left & 1) ? "%2F" : "/");
                path++;
        }
}

int http_target_url(struct span t, const struct http_peer *peer, bool tls, struct http_url *ret,
                    enum effect_reason *ret_why)
{
        if (t.n == 0 || (t.p[0] != '/' && strip_absolute(&t, peer, tls, ret_why) < 0))
                return t.n == 0 ? refuse_target(ret_why, REASON_TARGET) : -1;

        ret->fault = NULL;
        const uint8_t *mark = memchr(t.p, '?', t.n);
        ret->query = mark ? span_of(mark + 1, t.n - (size_t) (mark + 1 - t.p)) : (struct span){ 0 };
        t.n = mark ? (size_t) (mark - t.p) : t.n;
        char text[HTTP_PATH_MAX];
        size_t n;
        if (read_slashes(t, text, &n, &ret->escaped, ret_why) < 0 ||
            policy_url_path(span_of(text, n), ret->path, &ret->fault) < 0)
                return ret->fault ? refuse_target(ret_why, REASON_PATH_MALFORMED) : -1;

        return check_query(ret->query, ret_why);
}

int http_target_read(const struct http_head *h, const struct http_peer *peer, bool tls, struct http_url *ret,
                     enum effect_reason *ret_why)
{
        const struct http_field *host = http_field_find(h, "host", NULL);
        if (!host || !authority_is(host->value, peer, tls))
                return refuse_target(ret_why, REASON_HOST_HEADER);
        return http_target_url(h->target, peer, tls, ret, ret_why);
}

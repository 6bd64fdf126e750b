/* SPDX-License-Identifier: MIT */
/* policy/read/url.c - the one canonical form of a URL path. A path that a server could read differently
 * (dot segments, encoded slashes, double encoding, path parameters) is rejected, never repaired. */
#include "base/str.h"
#include "policy/internal.h"

static int refuse_path(struct host_why *why, const char *what, const char *hint)
{
        *why = (struct host_why){ what, hint };
        return -1;
}

static bool is_unreserved(uint8_t c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c && strchr("-._~", c));
}

struct canon {
        char *out;
        size_t n;
        char plain[4096]; /* decoded, to check that the encoded bytes are UTF-8 */
        size_t n_plain;
};

static int append_byte(struct canon *c, uint8_t decoded, const char *as, size_t n)
{
        if (c->n_plain == sizeof c->plain)
                return -1;
        c->plain[c->n_plain++] = (char) decoded;
        memcpy(c->out + c->n, as, n);
        c->n += n;
        return 0;
}

static int put_escape(struct canon *c, struct span raw, size_t i, struct host_why *why)
{
        static const char up[] = "0123456789ABCDEF";
        int a = i + 2 < raw.n ? str_hex(raw.p[i + 1]) : -1, b = i + 2 < raw.n ? str_hex(raw.p[i + 2]) : -1;
        if (a < 0 || b < 0)
                return refuse_path(why, "% must be followed by two hexadecimal digits", NULL);

        uint8_t v = (uint8_t) (a << 4 | b);
        if (v < 0x20 || v == 0x7f || strchr("./\\%;", v))
                return refuse_path(
                        why, "escaped dot, slash, backslash, percent, semicolon or control character", NULL);

        char text[3] = { '%', up[v >> 4], up[v & 15] };
        char self = (char) v;
        return is_unreserved(v) ? append_byte(c, v, &self, 1) : append_byte(c, v, text, 3);
}

static int check_segments(const char *path, struct host_why *why)
{
        for (const char *p = path; (p = strchr(p, '/')); p++) {
                size_t n = strcspn(p + 1, "/");
                if (n == 0 && p[1] == '/')
                        return refuse_path(why, "// in the path", NULL);
                if ((n == 1 && p[1] == '.') || (n == 2 && p[1] == '.' && p[2] == '.'))
                        return refuse_path(why, ". or .. segment in the path", "use the path itself");
        }

        return 0;
}

static int refuse_byte(uint8_t c, struct host_why *why)
{
        if (c == '*')
                return refuse_path(why, "* in the path", "** alone may end a path, as its last segment");

        if (c == '?' || c == '#')
                return refuse_path(why, "a query or fragment cannot be part of a door",
                                   "a path covers all its queries");

        if (c >= 0x80)
                return refuse_path(why, "the path is not plain ASCII", "use %XX for other characters");

        return refuse_path(why, "invalid character in the path", "use %XX if you mean it");
}

int url_path_parse(struct span raw, char *ret_path, bool *ret_tail, struct host_why *why)
{
        struct canon c = { .out = ret_path };
        bool tail = raw.n >= 3 && memcmp(raw.p + raw.n - 3, "/**", 3) == 0;
        if (raw.n == 0 || raw.p[0] != '/')
                return refuse_path(why, "the path must begin with /", NULL);

        raw.n -= tail ? 2 : 0;
        if (raw.n >= sizeof c.plain)
                return refuse_path(why, "the path is too long", NULL);

        for (size_t i = 0; i < raw.n; i++) {
                uint8_t b = raw.p[i];
                if (b == '%') {
                        if (put_escape(&c, raw, i, why) < 0)
                                return -1;
                        i += 2;
                } else if (is_unreserved(b) || (b && strchr("/!$&'()+,=:@", b))) {
                        char self = (char) b;
                        (void) append_byte(&c, b, &self, 1);
                } else {
                        return refuse_byte(b, why);
                }
        }

        ret_path[c.n] = '\0';
        if (!str_is_utf8(span_of(c.plain, c.n_plain)))
                return refuse_path(why, "the escapes of the path are not UTF-8", NULL);

        *ret_tail = tail;
        return check_segments(ret_path, why);
}

int policy_url_path(struct span raw, char *ret_path, const char **ret_why)
{
        struct host_why why;
        bool tail;
        if (url_path_parse(raw, ret_path, &tail, &why) < 0) {
                *ret_why = why.what;
                return -1;
        }

        *ret_why = tail ? "* in the path" : NULL;
        return tail ? -1 : 0;
}

/* SPDX-License-Identifier: MIT */
/* broker/egress/tls/tls_hello.c - the name in a TLS ClientHello, for connections that are passed on unopened.
 * Strict: every length must fit exactly, two names are refused. Pure, no OpenSSL. */
#include "base/cursor.h"
#include "broker/egress/tls/tls.h"

enum { HELLO_MAX = 1 << 16, RECORD_MAX = 1 << 14 };

static bool take_name(struct span name, struct tls_hello_info *info)
{
        if (name.n == 0 || name.n >= sizeof info->sni || info->sni[0])
                return false;

        for (size_t i = 0; i < name.n; i++) {
                uint8_t ch = name.p[i];
                uint8_t low = ch >= 'A' && ch <= 'Z' ? ch | 0x20 : ch;
                bool ok = (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9') || low == '-' ||
                          low == '.' || low == '_';
                if (!ok)
                        return false;
                info->sni[i] = (char) low;
        }

        info->sni[name.n] = '\0';
        return true;
}

static bool server_name(struct cursor ext, struct tls_hello_info *info)
{
        struct cursor list = cursor_of(cursor_bytes(&ext, 2));
        if (ext.bad || ext.n)
                return false;

        while (list.n) {
                unsigned type = cursor_number(&list, 1);
                struct span name = cursor_bytes(&list, 2);
                if (list.bad || type != 0 || !take_name(name, info))
                        return false;
        }

        return info->sni[0] != '\0';
}

/* The outer part of an encrypted ClientHello, RFC 9849. Browsers send one with random bytes in it (GREASE) to
 * every server that has no key for it, and only the server can distinguish the two. */
static bool is_outer_ech(struct cursor ext)
{
        unsigned type = cursor_number(&ext, 1);
        (void) cursor_part(&ext, 2 + 2 + 1); /* kdf, aead, the key's number */
        (void) cursor_bytes(&ext, 2);        /* empty in a second hello */
        struct span payload = cursor_bytes(&ext, 2);
        return !ext.bad && type == 0 && payload.n > 0 && ext.n == 0;
}

static bool read_extensions(struct cursor all, struct tls_hello_info *info)
{
        bool named = false;
        while (all.n) {
                unsigned type = cursor_number(&all, 2);
                struct cursor ext = cursor_of(cursor_bytes(&all, 2));
                if (all.bad || (type == 0 && named))
                        return false;
                if (type == 0) {
                        named = true;
                        if (!server_name(ext, info))
                                return false;
                }
                bool outer = type == 0xfe0d && is_outer_ech(ext);
                info->outer = info->outer || outer;
                info->encrypted = info->encrypted || type == 0xffce || (type == 0xfe0d && !outer);
                info->early = info->early || type == 42;
        }

        return true;
}

static enum tls_hello read_hello(struct cursor body, struct tls_hello_info *info)
{
        (void) cursor_part(&body, 2 + 32); /* version, random */
        struct span session = cursor_bytes(&body, 1);
        struct span ciphers = cursor_bytes(&body, 2);
        struct span compressions = cursor_bytes(&body, 1);
        if (body.bad || session.n > 32 || ciphers.n < 2 || ciphers.n % 2 || compressions.n == 0)
                return TLS_HELLO_BAD;

        if (body.n == 0)
                return TLS_HELLO_OK;

        struct cursor all = cursor_of(cursor_bytes(&body, 2));
        return !body.bad && body.n == 0 && read_extensions(all, info) ? TLS_HELLO_OK : TLS_HELLO_BAD;
}

/* Puts the handshake message together out of its records, each of them whole; its length, or 0 (more is
 * wanted), or SIZE_MAX. */
static size_t gather_records(struct span bytes, uint8_t *to, size_t cap, size_t *ret_bytes)
{
        size_t n = 0, i = 0;
        while (i < bytes.n) {
                if (bytes.p[i] != 22 || (i + 1 < bytes.n && bytes.p[i + 1] != 3))
                        return SIZE_MAX;
                if (bytes.n - i < 5)
                        return 0;
                size_t len = (size_t) bytes.p[i + 3] << 8 | bytes.p[i + 4];
                size_t have = bytes.n - i - 5 < len ? bytes.n - i - 5 : len;
                if (len == 0 || len > RECORD_MAX || n + have > cap)
                        return SIZE_MAX;
                memcpy(to + n, bytes.p + i + 5, have);
                n += have;
                i += 5 + len;
                if (n && to[0] != 1)
                        return SIZE_MAX;
                if (have < len)
                        return 0;
                *ret_bytes = i;
                if (n >= 4 && n >= 4 + ((size_t) to[1] << 16 | (size_t) to[2] << 8 | to[3]))
                        return n;
        }

        return 0;
}

enum tls_hello tls_hello_read(struct span bytes, struct tls_hello_info *ret_info)
{
        uint8_t message[HELLO_MAX];
        *ret_info = (struct tls_hello_info){ 0 };
        size_t n = gather_records(bytes, message, sizeof message, &ret_info->bytes);
        if (n == 0)
                return bytes.n < HELLO_MAX ? TLS_HELLO_MORE : TLS_HELLO_BAD;

        if (n == SIZE_MAX)
                return TLS_HELLO_BAD;

        struct cursor all = { message, n, false };
        (void) cursor_number(&all, 1);
        struct cursor body = cursor_of(cursor_bytes(&all, 3));
        if (all.bad || all.n) /* nothing may follow a hello before the answer */
                return TLS_HELLO_BAD;

        return read_hello(body, ret_info);
}

/* SPDX-License-Identifier: MIT */
/* broker/signer/ssh_agent.c - see ssh_agent.h. Every length is checked against what is left, and nothing may
 * be left over. */
#include "broker/signer/ssh_agent.h"
#include "base/base64.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/str.h"

#include <string.h>

enum { /* types of messages */
       AGENT_FAILURE = 5,
       AGENT_REQUEST_IDENTITIES = 11,
       AGENT_IDENTITIES = 12,
       AGENT_SIGN_REQUEST = 13,
       AGENT_SIGNATURE = 14,
       AGENT_EXTENSION = 27,
       USERAUTH_REQUEST = 50 /* of SSH itself */
};
enum { IDENTITIES_MAX = 2048, SHOWN = 96 };

/* ---- reading ---- */

ptrdiff_t ssh_message_length(struct span in)
{
        struct cursor c = cursor_of(in);
        uint32_t n = cursor_number(&c, 4);
        if (c.bad)
                return 0;
        if (n == 0 || n > SSH_MESSAGE_MAX)
                return -1;
        return c.n < n ? 0 : (ptrdiff_t) n + 4;
}

/* ---- requests ---- */

static const struct {
        uint8_t type;
        const char *what;
} denied[] = {
        { 17, "add a key" },       { 23, "unlock the agent" },       { 20, "add keys of a smart card" },
        { 18, "remove a key" },    { 21, "remove a smart card" },    { 26, "add keys of a smart card" },
        { 22, "lock the agent" },  { 1, "list keys of protocol 1" }, { 25, "add a key with constraints" },
        { 19, "remove all keys" },
};

/* Every client of OpenSSH tries these, and goes on without. */
static bool is_common_extension(struct cursor body)
{
        struct span name = cursor_bytes(&body, 4);
        return span_is(name, "session-bind@openssh.com") || span_is(name, "query");
}

enum ssh_request ssh_request_read(struct span message, struct ssh_sign *ret_sign, const char **ret_what)
{
        struct cursor m = cursor_of(message);
        uint32_t type = cursor_number(&m, 1);
        if (m.bad)
                return SSH_BROKEN;

        if (type == AGENT_REQUEST_IDENTITIES)
                return m.n == 0 ? SSH_LIST : SSH_BROKEN;

        if (type == AGENT_SIGN_REQUEST) {
                ret_sign->key = cursor_bytes(&m, 4);
                ret_sign->data = cursor_bytes(&m, 4);
                ret_sign->flags = cursor_number(&m, 4);
                return !m.bad && m.n == 0 ? SSH_SIGN : SSH_BROKEN;
        }

        if (type == AGENT_EXTENSION && is_common_extension(m))
                return SSH_QUIET;

        *ret_what = type == AGENT_EXTENSION ? "use an extension of the agent"
                                            : "make a request of an unknown type";
        for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
                if (denied[i].type == type)
                        *ret_what = denied[i].what;
        return SSH_DENIED;
}

/* ---- what a signature is for ---- */

/* Certificates: the key's own type, and how many of the strings behind the nonce are the key. */
static const struct {
        const char *certificate, *plain;
        unsigned strings;
} certified[] = {
        { "ssh-ed25519-cert-v01@openssh.com", "ssh-ed25519", 1 },
        { "ssh-rsa-cert-v01@openssh.com", "ssh-rsa", 2 },
        { "ecdsa-sha2-nistp256-cert-v01@openssh.com", "ecdsa-sha2-nistp256", 2 },
        { "ecdsa-sha2-nistp384-cert-v01@openssh.com", "ecdsa-sha2-nistp384", 2 },
        { "ecdsa-sha2-nistp521-cert-v01@openssh.com", "ecdsa-sha2-nistp521", 2 },
        { "sk-ssh-ed25519-cert-v01@openssh.com", "sk-ssh-ed25519@openssh.com", 2 },
        { "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com", 3 },
};

/* A certificate counts as the key in it, as for ssh-add. */
static void add_key(struct sha256 *s, struct span key)
{
        struct cursor rest = cursor_of(key);
        struct span type = cursor_bytes(&rest, 4);
        size_t i = 0;
        (void) cursor_bytes(&rest, 4); /* a nonce */
        while (i < sizeof certified / sizeof *certified && !span_is(type, certified[i].certificate))
                i++;

        bool known = i < sizeof certified / sizeof *certified;
        const uint8_t *begin = rest.p;
        for (unsigned n = 0; known && n < certified[i].strings; n++)
                (void) cursor_bytes(&rest, 4);

        if (!known || rest.bad) {
                sha256_add(s, key.p, key.n);
                return;
        }

        const char *plain = certified[i].plain;
        sha256_add(s, (const uint8_t[]){ 0, 0, 0, (uint8_t) strlen(plain) }, 4);
        sha256_add(s, plain, strlen(plain));
        sha256_add(s, begin, (size_t) (rest.p - begin));
}

void ssh_fingerprint(struct span key, char ret[SSH_FINGERPRINT])
{
        static const char mark[] = "SHA256:";
        uint8_t digest[32];
        struct sha256 s;
        sha256_init(&s);
        add_key(&s, key);
        sha256_end(&s, digest);

        size_t at = strlen(mark);
        memcpy(ret, mark, sizeof mark);
        for (size_t i = 0; i < sizeof digest; i += 3, at += 4)
                base64_block(digest + i, sizeof digest - i < 3 ? sizeof digest - i : 3, ret + at);
        ret[at] = '\0';
        ret[at - 1] = '\0'; /* ssh prints no padding: 32 bytes have one '=' */
}

static const char *shown(struct span s, char ret[static SHOWN]) { return str_inert(s, ret, SHOWN); }

static void put_hex(struct span s, struct buf *out)
{
        for (size_t i = 0; i < s.n; i++)
                buf_printf(out, "%02x", s.p[i]);
}

static bool purpose_file(struct span data, struct buf *out)
{
        static const char magic[] = "SSHSIG";
        char a[SHOWN], b[SHOWN];
        struct cursor d = cursor_of(data);
        bool is_file = span_is(cursor_part(&d, strlen(magic)), magic);
        struct span space = cursor_bytes(&d, 4);
        (void) cursor_bytes(&d, 4); /* reserved */
        struct span algorithm = cursor_bytes(&d, 4), hash = cursor_bytes(&d, 4);
        if (!is_file || d.bad || d.n != 0 || hash.n > 64)
                return false;

        buf_printf(out, "signature for \"%s\" of the data with %s ", shown(space, a), shown(algorithm, b));
        put_hex(hash, out);
        return true;
}

static bool purpose_login(struct span data, struct buf *out)
{
        char a[SHOWN], b[SHOWN], print[SSH_FINGERPRINT] = "";
        struct cursor d = cursor_of(data);
        struct span session = cursor_bytes(&d, 4);
        uint32_t type = cursor_number(&d, 1);
        struct span user = cursor_bytes(&d, 4), service = cursor_bytes(&d, 4), method = cursor_bytes(&d, 4);
        uint32_t has_signature = cursor_number(&d, 1);
        (void) cursor_bytes(&d, 4); /* the algorithm */
        (void) cursor_bytes(&d, 4); /* the key */
        bool bound = span_is(method, "publickey-hostbound-v00@openssh.com");
        struct span host = bound ? cursor_bytes(&d, 4) : (struct span){ 0 };
        if (d.bad || d.n != 0 || type != USERAUTH_REQUEST || has_signature != 1 || session.n > 64 ||
            (!bound && !span_is(method, "publickey")))
                return false;

        if (bound)
                ssh_fingerprint(host, print);

        buf_printf(out, "login as \"%s\" for %s%s%s, session ", shown(user, a), shown(service, b),
                   bound ? " at the host with key " : " at a host that the request does not name", print);
        put_hex(session, out);
        return true;
}

void ssh_purpose(struct span data, struct buf *out)
{
        char hex[65];
        size_t n = out->n;
        if (purpose_file(data, out) || purpose_login(data, out))
                return;

        if (out->n > n)
                out->n = n;
        sha256_hex(data, hex);
        buf_printf(out, "signature of %zu bytes of unknown form, sha256 %s", data.n, hex);
}

/* ---- answers ---- */

static void put_u32(struct buf *out, size_t v)
{
        const uint8_t b[4] = { (uint8_t) (v >> 24), (uint8_t) (v >> 16), (uint8_t) (v >> 8), (uint8_t) v };
        buf_add(out, b, sizeof b);
}

static void put_string(struct buf *out, struct span s)
{
        put_u32(out, s.n);
        buf_add(out, s.p, s.n);
}

static void put_message(struct buf *out, uint8_t type, struct span body)
{
        put_u32(out, body.n + 1);
        buf_add(out, &type, 1);
        buf_add(out, body.p, body.n);
}

void ssh_put_failure(struct buf *out) { put_message(out, AGENT_FAILURE, span_of(NULL, 0)); }
void ssh_put_list_request(struct buf *out) { put_message(out, AGENT_REQUEST_IDENTITIES, span_of(NULL, 0)); }

int ssh_filter_list(struct span message, ssh_is_permitted *permitted, void *ctx, struct buf *out)
{
        AUTO_BUF(list);
        AUTO_BUF(body);
        int kept = 0;
        struct cursor m = cursor_of(message);
        uint32_t type = cursor_number(&m, 1), count = cursor_number(&m, 4);
        if (m.bad || type != AGENT_IDENTITIES || count > IDENTITIES_MAX)
                return -1;

        for (uint32_t i = 0; i < count && !m.bad; i++) {
                struct span key = cursor_bytes(&m, 4), comment = cursor_bytes(&m, 4);
                if (m.bad || !permitted(ctx, key, comment))
                        continue;
                put_string(&list, key);
                put_string(&list, comment);
                kept++;
        }

        put_u32(&body, (size_t) kept);
        buf_add(&body, buf_span(&list).p, list.n);
        if (m.bad || m.n != 0 || list.failed || body.failed)
                return -1;
        put_message(out, AGENT_IDENTITIES, buf_span(&body));
        return kept;
}

bool ssh_is_signature(struct span message)
{
        struct cursor m = cursor_of(message);
        uint32_t type = cursor_number(&m, 1);
        (void) cursor_bytes(&m, 4);
        return !m.bad && type == AGENT_SIGNATURE && m.n == 0;
}

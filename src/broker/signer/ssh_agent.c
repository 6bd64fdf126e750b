/* SPDX-License-Identifier: MIT */
/* broker/signer/ssh_agent.c - see ssh_agent.h. Every length is checked against what is left, and nothing may
 * be left over. */
#include "broker/signer/ssh_agent.h"
#include "base/base64.h"
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

static bool take_u32(struct span *in, uint32_t *ret)
{
        if (in->n < 4)
                return false;
        *ret = (uint32_t) in->p[0] << 24 | (uint32_t) in->p[1] << 16 | (uint32_t) in->p[2] << 8 | in->p[3];
        *in = span_of(in->p + 4, in->n - 4);
        return true;
}

static bool take_byte(struct span *in, uint8_t *ret)
{
        if (in->n < 1)
                return false;
        *ret = in->p[0];
        *in = span_of(in->p + 1, in->n - 1);
        return true;
}

static bool take_string(struct span *in, struct span *ret)
{
        uint32_t n;
        struct span rest = *in;
        if (!take_u32(&rest, &n) || n > rest.n)
                return false;
        *ret = span_of(rest.p, n);
        *in = span_of(rest.p + n, rest.n - n);
        return true;
}

ptrdiff_t ssh_message_length(struct span in)
{
        uint32_t n;
        struct span rest = in;
        if (!take_u32(&rest, &n))
                return 0;
        if (n == 0 || n > SSH_MESSAGE_MAX)
                return -1;
        return rest.n < n ? 0 : (ptrdiff_t) n + 4;
}

/* ---- requests ---- */

static const struct {
        uint8_t type;
        const char *what;
} denied[] = {
        { 1, "list keys of protocol 1" },
        { 17, "add a key" },
        { 25, "add a key with constraints" },
        { 18, "remove a key" },
        { 19, "remove all keys" },
        { 20, "add keys of a smart card" },
        { 26, "add keys of a smart card" },
        { 21, "remove a smart card" },
        { 22, "lock the agent" },
        { 23, "unlock the agent" },
};

/* Every client of OpenSSH tries these, and goes on without. */
static bool is_common_extension(struct span body)
{
        struct span name;
        return take_string(&body, &name) &&
               (span_is(name, "session-bind@openssh.com") || span_is(name, "query"));
}

enum ssh_request ssh_request_read(struct span m, struct ssh_sign *ret_sign, const char **ret_what)
{
        uint8_t type;
        if (!take_byte(&m, &type))
                return SSH_BROKEN;

        if (type == AGENT_REQUEST_IDENTITIES)
                return m.n == 0 ? SSH_LIST : SSH_BROKEN;

        if (type == AGENT_SIGN_REQUEST)
                return take_string(&m, &ret_sign->key) && take_string(&m, &ret_sign->data) &&
                                       take_u32(&m, &ret_sign->flags) && m.n == 0
                               ? SSH_SIGN
                               : SSH_BROKEN;

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

/* Of a certificate, the key in it, as ssh-add does. */
static void add_key(struct sha256 *s, struct span key)
{
        struct span rest = key, type, part;
        size_t i = 0;
        bool good = take_string(&rest, &type) && take_string(&rest, &part); /* a nonce */
        while (good && i < sizeof certified / sizeof *certified && !span_is(type, certified[i].certificate))
                i++;

        good = good && i < sizeof certified / sizeof *certified;
        const uint8_t *begin = rest.p;
        for (unsigned n = 0; good && n < certified[i].strings; n++)
                good = take_string(&rest, &part);
        if (!good) {
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

static bool purpose_file(struct span d, struct buf *out)
{
        static const char magic[] = "SSHSIG";
        struct span space, reserved, algorithm, hash;
        char a[SHOWN], b[SHOWN];
        size_t n = strlen(magic);
        if (d.n < n || memcmp(d.p, magic, n) != 0)
                return false;

        d = span_of(d.p + n, d.n - n);
        if (!take_string(&d, &space) || !take_string(&d, &reserved) || !take_string(&d, &algorithm) ||
            !take_string(&d, &hash) || d.n != 0 || hash.n > 64)
                return false;

        buf_printf(out, "signature for \"%s\" of the data with %s ", shown(space, a), shown(algorithm, b));
        for (size_t i = 0; i < hash.n; i++)
                buf_printf(out, "%02x", hash.p[i]);
        return true;
}

static bool purpose_login(struct span d, struct buf *out)
{
        struct span session, user, service, method, algorithm, key, host = { 0 };
        uint8_t type, has_signature;
        char a[SHOWN], b[SHOWN], print[SSH_FINGERPRINT] = "";
        if (!take_string(&d, &session) || !take_byte(&d, &type) || type != USERAUTH_REQUEST ||
            !take_string(&d, &user) || !take_string(&d, &service) || !take_string(&d, &method) ||
            !take_byte(&d, &has_signature) || has_signature != 1 || !take_string(&d, &algorithm) ||
            !take_string(&d, &key))
                return false;

        bool bound = span_is(method, "publickey-hostbound-v00@openssh.com");
        if ((!bound && !span_is(method, "publickey")) || (bound && !take_string(&d, &host)) || d.n != 0 ||
            session.n > 64)
                return false;

        if (bound)
                ssh_fingerprint(host, print);
        buf_printf(out, "login as \"%s\" for %s%s%s, session ", shown(user, a), shown(service, b),
                   bound ? " at the host with key " : " at a host that the request does not name", print);
        for (size_t i = 0; i < session.n; i++)
                buf_printf(out, "%02x", session.p[i]);
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

int ssh_filter_list(struct span m, ssh_is_permitted *permitted, void *ctx, struct buf *out)
{
        AUTO_BUF(list);
        AUTO_BUF(body);
        uint8_t type;
        uint32_t count;
        int kept = 0;
        if (!take_byte(&m, &type) || type != AGENT_IDENTITIES || !take_u32(&m, &count) ||
            count > IDENTITIES_MAX)
                return -1;

        for (uint32_t i = 0; i < count; i++) {
                struct span key, comment;
                if (!take_string(&m, &key) || !take_string(&m, &comment))
                        return -1;
                if (!permitted(ctx, key, comment))
                        continue;
                put_string(&list, key);
                put_string(&list, comment);
                kept++;
        }

        put_u32(&body, (size_t) kept);
        buf_add(&body, buf_span(&list).p, list.n);
        if (m.n != 0 || list.failed || body.failed)
                return -1;
        put_message(out, AGENT_IDENTITIES, buf_span(&body));
        return kept;
}

bool ssh_is_signature(struct span m)
{
        uint8_t type;
        struct span signature;
        return take_byte(&m, &type) && type == AGENT_SIGNATURE && take_string(&m, &signature) && m.n == 0;
}

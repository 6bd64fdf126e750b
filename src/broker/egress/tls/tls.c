/* SPDX-License-Identifier: MIT */
/* broker/egress/tls/tls.c - both ends of TLS over memory: the one the box sees, with leaves of its own
 * authority, and the one the server sees, verified. TLS 1.2 and up, HTTP/1.1 and HTTP/2, no resumption, no
 * renegotiation. Never: opens a file, goes on without a verified server. */
#include "broker/egress/tls/tls_internal.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

struct tls_end {
        SSL *ssl;
        BIO *in, *out; /* from and for the wire; the SSL's, which has each `in` anew */
        char name[256];
        bool is_address, broken;
        char why[120];
};

/* ---- contexts ---- */

static int choose_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *in,
                       unsigned in_len, void *ctx)
{
        static const unsigned char judged[] = "\x02h2\x08http/1.1\x08http/1.0";
        const struct tls_box *b = ctx;
        unsigned skip = b->http2 ? 0 : sizeof "\x02h2" - 1;
        unsigned char *chosen;
        (void) ssl;
        if (SSL_select_next_proto(&chosen, out_len, judged + skip, sizeof judged - 1 - skip, in, in_len) !=
            OPENSSL_NPN_NEGOTIATED)
                return SSL_TLSEXT_ERR_ALERT_FATAL;

        *out = chosen;
        return SSL_TLSEXT_ERR_OK;
}

static bool same_name(const char *a, const char *b)
{
        size_t n = strlen(a);
        n -= n > 1 && a[n - 1] == '.';
        return strlen(b) == n && strncasecmp(a, b, n) == 0;
}

/* The name in the hello must be the name that the box looked up: else one permitted name would front for
 * another. */
static int check_sni(SSL *ssl, int *alert, void *ctx)
{
        struct tls_end *t = SSL_get_app_data(ssl);
        const char *sni = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
        (void) ctx;
        if (t->is_address ? !sni : sni && same_name(sni, t->name))
                return SSL_TLSEXT_ERR_OK;

        (void) snprintf(t->why, sizeof t->why, "%s",
                        sni ? "the name in its hello is another than the one it looked up"
                            : "its hello names no server");
        *alert = SSL_AD_UNRECOGNIZED_NAME;
        return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* The suites of TLS 1.3 stand in the order of their cost: what passes is opened and sealed once more here. */
static SSL_CTX *new_context(const SSL_METHOD *method)
{
        static const char suites[] =
                "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
        SSL_CTX *c = SSL_CTX_new(method);
        if (!c || SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) != 1 ||
            SSL_CTX_set_ciphersuites(c, suites) != 1) {
                SSL_CTX_free(c);
                return NULL;
        }

        (void) SSL_CTX_set_options(c, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                              SSL_OP_CIPHER_SERVER_PREFERENCE);
        (void) SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
        (void) SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        return c;
}

static int server_context(struct tls_box *b, struct err *e)
{
        b->server = new_context(TLS_server_method());
        if (!b->server)
                return tls_fail(e, "TLS for the box");

        (void) SSL_CTX_set_num_tickets(b->server, 0);
        SSL_CTX_set_alpn_select_cb(b->server, choose_alpn, b);
        (void) SSL_CTX_set_tlsext_servername_callback(b->server, check_sni);
        return 0;
}

static int client_context(struct tls_box *b, struct span trust, struct err *e)
{
        static const unsigned char alpn[] = "\x08http/1.1";
        b->client = new_context(TLS_client_method());
        if (!b->client || SSL_CTX_set_alpn_protos(b->client, alpn, sizeof alpn - 1) != 0)
                return tls_fail(e, "TLS to servers");

        SSL_CTX_set_verify(b->client, SSL_VERIFY_PEER, NULL);
        b->trust = tls_trust_new(SSL_CTX_get_cert_store(b->client), trust, e);
        return b->trust ? 0 : -1;
}

struct tls_box *tls_box_new(const struct tls_box_in *in, struct err *e)
{
        struct tls_box *b = calloc(1, sizeof *b);
        if (!b) {
                (void) err_set(e, ERR_MEMORY, 0, "no memory");
                return NULL;
        }

        b->now = in->now;
        b->http2 = in->http2;

        /* No configuration file: this process has none, and none may influence it. */
        (void) OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
        if (tls_ca_make(b, in, e) == 0 && server_context(b, e) == 0 &&
            client_context(b, in->trust_pem, e) == 0)
                return b;

        tls_box_free(b);
        return NULL;
}

void tls_box_free(struct tls_box *b)
{
        if (!b)
                return;

        for (size_t i = 0; i < b->leaf_count; i++) {
                free(b->leaves[i].name);
                X509_free(b->leaves[i].cert);
        }

        free(b->leaves);
        SSL_CTX_free(b->server);
        SSL_CTX_free(b->client);
        tls_trust_free(b->trust);
        X509_free(b->ca);
        EVP_PKEY_free(b->ca_key); /* clears the private number */
        EVP_PKEY_free(b->leaf_key);
        free(b->ca_pem);
        free(b);
}

struct span tls_box_ca_pem(const struct tls_box *b) { return span_of(b->ca_pem, b->ca_pem_len); }

/* ---- ends ---- */

static void end_free(struct tls_end *t)
{
        if (!t)
                return;
        SSL_free(t->ssl);
        free(t);
}

static struct tls_end *end_new(SSL_CTX *ctx, const char *name, bool is_address)
{
        struct tls_end *t = calloc(1, sizeof *t);
        if (!t)
                return NULL;

        t->is_address = is_address;
        (void) snprintf(t->name, sizeof t->name, "%s", name);
        t->ssl = SSL_new(ctx);
        t->in = BIO_new(BIO_s_mem());
        t->out = BIO_new(BIO_s_mem());
        if (!t->ssl || !t->in || !t->out) {
                BIO_free(t->in);
                BIO_free(t->out);
                end_free(t);
                return NULL;
        }

        SSL_set_bio(t->ssl, t->in, t->out); /* takes them over */
        (void) SSL_set_app_data(t->ssl, t);
        return t;
}

static struct tls_end *end_server(void *ctx, const char *name, bool is_address)
{
        struct tls_box *b = ctx;
        X509 *leaf = tls_ca_leaf(b, name, is_address);
        struct tls_end *t = leaf ? end_new(b->server, name, is_address) : NULL;
        if (t && SSL_use_certificate(t->ssl, leaf) == 1 && SSL_use_PrivateKey(t->ssl, b->leaf_key) == 1) {
                SSL_set_accept_state(t->ssl);
                return t;
        }

        end_free(t);
        return NULL;
}

static bool expect_name(struct tls_end *t)
{
        X509_VERIFY_PARAM *p = SSL_get0_param(t->ssl);
        X509_VERIFY_PARAM_set_hostflags(p, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                                   X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        if (t->is_address)
                return X509_VERIFY_PARAM_set1_ip_asc(p, t->name) == 1;
        return SSL_set_tlsext_host_name(t->ssl, t->name) == 1 && SSL_set1_host(t->ssl, t->name) == 1;
}

static struct tls_end *end_client(void *ctx, const char *name, bool is_address, bool http2)
{
        const struct tls_box *b = ctx;
        static const unsigned char both[] = "\x02h2\x08http/1.1";
        struct tls_end *t = end_new(b->client, name, is_address);
        bool offered = t && (!http2 || SSL_set_alpn_protos(t->ssl, both, sizeof both - 1) == 0);
        if (offered && expect_name(t)) {
                SSL_set_connect_state(t->ssl);
                (void) SSL_do_handshake(t->ssl); /* puts the hello out */
                ERR_clear_error();
                return t;
        }

        end_free(t);
        return NULL;
}

static enum tls_protocol end_protocol(const struct tls_end *t)
{
        const unsigned char *chosen = NULL;
        unsigned n = 0;
        if (!SSL_is_init_finished(t->ssl))
                return TLS_PROTOCOL_UNKNOWN;

        SSL_get0_alpn_selected(t->ssl, &chosen, &n);
        return span_is(span_of(chosen, n), "h2") ? TLS_HTTP2 : TLS_HTTP1;
}

/* The result of SSL_read and SSL_write: 0 not now, -1 broken. */
static int tls_result(struct tls_end *t, int r)
{
        int kind = SSL_get_error(t->ssl, r);
        long verify = SSL_get_verify_result(t->ssl);
        if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE || kind == SSL_ERROR_ZERO_RETURN) {
                ERR_clear_error();
                return 0;
        }

        const char *why = verify != X509_V_OK ? X509_verify_cert_error_string(verify)
                                              : ERR_reason_error_string(ERR_peek_last_error());
        if (!t->why[0])
                (void) snprintf(t->why, sizeof t->why, "%s", why ? why : "no reason given");

        t->broken = true;
        ERR_clear_error();
        return -1;
}

/* Not copied: they are the caller's until read() has returned 0. Bytes after close_notify are dropped. */
static int end_feed(struct tls_end *t, struct span wire)
{
        if (t->broken)
                return -1;
        if (wire.n == 0 || SSL_get_shutdown(t->ssl) & SSL_RECEIVED_SHUTDOWN)
                return 0;

        BIO *in = BIO_new_mem_buf(wire.p, (int) wire.n);
        if (!in)
                return -1;

        (void) BIO_set_mem_eof_return(in, -1);
        t->in = in;
        SSL_set0_rbio(t->ssl, in);
        return 0;
}

/* Nothing came and no bytes are left: OpenSSL need not find that out the long way. */
static bool is_idle(const struct tls_end *t)
{
        return BIO_pending(t->in) == 0 && SSL_is_init_finished(t->ssl) && !SSL_has_pending(t->ssl);
}

static ssize_t end_read(struct tls_end *t, void *plain, size_t cap)
{
        size_t n;
        if (t->broken)
                return -1;

        if (is_idle(t))
                return 0;

        int r = SSL_read_ex(t->ssl, plain, cap, &n);
        return r == 1 ? (ssize_t) n : tls_result(t, r);
}

static ssize_t end_write(struct tls_end *t, struct span plain)
{
        size_t n;
        if (t->broken)
                return -1;
        int r = SSL_write_ex(t->ssl, plain.p, plain.n, &n);
        return r == 1 ? (ssize_t) n : tls_result(t, r);
}

static size_t end_take(struct tls_end *t, void *wire, size_t cap)
{
        int n = BIO_read(t->out, wire, (int) cap);
        return n > 0 ? (size_t) n : 0;
}

static void end_close(struct tls_end *t)
{
        if (!t->broken && SSL_is_init_finished(t->ssl))
                (void) SSL_shutdown(t->ssl);
        ERR_clear_error();
}

static bool end_ended(const struct tls_end *t) { return SSL_get_shutdown(t->ssl) & SSL_RECEIVED_SHUTDOWN; }
static const char *end_why(const struct tls_end *t) { return t->why[0] ? t->why : "it was broken off"; }

const struct tls_ops *tls_box_ops(void)
{
        static const struct tls_ops ops = { .server = end_server,
                                            .client = end_client,
                                            .protocol = end_protocol,
                                            .free = end_free,
                                            .feed = end_feed,
                                            .read = end_read,
                                            .write = end_write,
                                            .take = end_take,
                                            .close = end_close,
                                            .ended = end_ended,
                                            .why = end_why };
        return &ops;
}

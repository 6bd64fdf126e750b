/* SPDX-License-Identifier: MIT */
/* TLS on both sides of a flow: the test is the box's client and the server, each a TLS end of its own. */
#include "broker/egress/http/sni_check.h"
#include "broker/egress/tls/tls_internal.h"
#include "test_egress_common.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <time.h>

static const char policy[] = "use none\n"
                             "net https://api.test/** GET POST with key\n"
                             "net https://*.wild.test/** GET\n"
                             "net https://192.0.2.7/** GET\n";
#define SECRET "ghp_R3alSecretValue0123456789abcdef"
#define HOLDER "ghp_PLACEHOLDERaaaabbbbccccddddeeee"
static const struct http_credential key = { "key",
                                            GRANT_HEADER,
                                            "Authorization",
                                            "Bearer ",
                                            "",
                                            { (const uint8_t *) SECRET, sizeof SECRET - 1 },
                                            { (const uint8_t *) HOLDER, sizeof HOLDER - 1 },
                                            POLICY_STAGE_LIVE,
                                            0,
                                            0 };

/* One end of TLS as a program of the world has it. */
struct end {
        SSL *ssl;
        BIO *in, *out;
        bool hello_sent;
};

static void set_sni(SSL *ssl, const char *name)
{
        char text[256];
        (void) snprintf(text, sizeof text, "%s", name);
        CHECK(SSL_set_tlsext_host_name(ssl, text) == 1);
}

static struct end end_of(SSL_CTX *ctx, bool server)
{
        struct end e = { SSL_new(ctx), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()), false };
        (void) BIO_set_mem_eof_return(e.in, -1);
        SSL_set_bio(e.ssl, e.in, e.out);
        if (server)
                SSL_set_accept_state(e.ssl);
        else
                SSL_set_connect_state(e.ssl);
        return e;
}

struct world {
        struct tls_box *outside, *box; /* the authority of the world, and the box's own */
        SSL_CTX *client_ctx;
        struct rig rig;
        struct tls_end *server; /* of the world */
        struct end client;
        struct buf served, seen; /* plain text that the server and the client got */
        const struct tls_ops *ops;
        int failed;
};

static SSL_CTX *trusting(struct span pem)
{
        SSL_CTX *c = SSL_CTX_new(TLS_client_method());
        BIO *mem = BIO_new_mem_buf(pem.p, (int) pem.n);
        X509 *ca = PEM_read_bio_X509(mem, NULL, NULL, NULL);
        (void) X509_STORE_add_cert(SSL_CTX_get_cert_store(c), ca);
        SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
        X509_free(ca);
        BIO_free(mem);
        return c;
}

static struct tls_box *box_for(const char *const *names, size_t n, struct span trust)
{
        struct err e = { 0 };
        struct tls_box_in in = { .names = names, .name_count = n, .trust_pem = trust, .now = time(NULL) };
        struct tls_box *b = tls_box_new(&in, &e);
        CHECK(b || e.what[0]);
        return b;
}

static bool world_start(struct world *w, const char *trusted)
{
        static const char *const world_names[] = { "test", "192.0.2.7" };
        static const char *const box_names[] = { "api.test", "wild.test", "192.0.2.7" };
        *w = (struct world){ .ops = tls_box_ops() };
        struct tls_box *seed = box_for(world_names, 2, (struct span){ 0 });
        CHECK(seed == NULL); /* an empty trust store is an error */
        FILE *f = fopen("/etc/ssl/certs/ca-certificates.crt", "rb");
        static char roots[1 << 20];
        size_t n = f ? fread(roots, 1, sizeof roots, f) : 0;
        if (f)
                (void) fclose(f);
        if (n == 0)
                return false;
        w->outside = box_for(world_names, 2, span_of(roots, n));
        struct span pem = tls_box_ca_pem(w->outside);
        w->box = box_for(box_names, 3, strcmp(trusted, "world") == 0 ? pem : span_of(roots, n));
        CHECK(w->outside && w->box);
        struct rig_in in = { .policy = policy,
                             .credentials = &key,
                             .credential_count = 1,
                             .stage = POLICY_STAGE_LIVE,
                             .port = 443,
                             .tls = w->ops,
                             .tls_ctx = w->box };
        w->client_ctx = trusting(tls_box_ca_pem(w->box));
        return rig_start(&w->rig, &in);
}

static void world_end(struct world *w)
{
        w->ops->free(w->server);
        SSL_free(w->client.ssl);
        rig_end(&w->rig);
        SSL_CTX_free(w->client_ctx);
        tls_box_free(w->box);
        tls_box_free(w->outside);
        buf_done(&w->served);
        buf_done(&w->seen);
}

static void drain(struct buf *b, struct span *ret)
{
        *ret = buf_span(b);
        *b = (struct buf){ 0 };
}

/* Moves bytes between the four ends until nothing moves. */
static void spin(struct world *w)
{
        for (int i = 0; i < 20; i++) {
                char bytes[65536];
                struct span s;
                int n = BIO_read(w->client.out, bytes, sizeof bytes);
                if (n > 0) /* the hello in pieces, the rest as it comes */
                        rig_client(&w->rig, span_of(bytes, (size_t) n), w->client.hello_sent ? 0 : 50);
                w->client.hello_sent = w->client.hello_sent || n > 0;
                drain(&w->rig.to_client, &s);
                if (s.n)
                        (void) BIO_write(w->client.in, s.p, (int) s.n);
                free((void *) (uintptr_t) s.p);
                size_t got;
                if (SSL_read_ex(w->client.ssl, bytes, sizeof bytes, &got) == 1)
                        buf_add(&w->seen, bytes, got);
                else if (SSL_get_error(w->client.ssl, 0) == SSL_ERROR_SSL)
                        w->failed = 1;
                drain(&w->rig.to_upstream, &s);
                if (s.n && w->server)
                        (void) w->ops->feed(w->server, s);
                ssize_t k;
                while (w->server && (k = w->ops->read(w->server, bytes, sizeof bytes)) > 0)
                        buf_add(&w->served, bytes, (size_t) k);
                free((void *) (uintptr_t) s.p); /* not before all of it was read */
                while (w->server && (k = (ssize_t) w->ops->take(w->server, bytes, sizeof bytes)) > 0)
                        rig_upstream(&w->rig, span_of(bytes, (size_t) k), 0);
        }
        ERR_clear_error();
}

static void client_hello(struct world *w, const char *sni, const char *verify, const char *alpn)
{
        w->client = end_of(w->client_ctx, false);
        if (sni)
                set_sni(w->client.ssl, sni);
        if (verify)
                (void) SSL_set1_host(w->client.ssl, verify);
        if (alpn)
                (void) SSL_set_alpn_protos(w->client.ssl, (const unsigned char *) alpn,
                                           (unsigned) strlen(alpn));
        (void) SSL_do_handshake(w->client.ssl);
        spin(w);
}

static void say(struct world *w, const char *text)
{
        size_t n;
        CHECK_INT(SSL_write_ex(w->client.ssl, text, strlen(text), &n), 1);
        spin(w);
}

static void answer(struct world *w, const char *text)
{
        char bytes[65536];
        size_t n;
        CHECK(w->ops->write(w->server, span_str(text)) == (ssize_t) strlen(text));
        while ((n = w->ops->take(w->server, bytes, sizeof bytes)) > 0)
                rig_upstream(&w->rig, span_of(bytes, n), 0);
        spin(w);
}

static const char request[] = "GET /a HTTP/1.1\r\nHost: api.test\r\nAuthorization: Bearer " HOLDER "\r\n\r\n";

static void test_tls__a_secret_goes_up_and_does_not_come_back(void)
{
        struct world w;
        if (!world_start(&w, "world"))
                SKIP("no ca-certificates on this host");
        client_hello(&w, "api.test", "api.test", "\x02h2\x08http/1.1");
        CHECK(SSL_is_init_finished(w.client.ssl));
        const unsigned char *alpn;
        unsigned alpn_n;
        SSL_get0_alpn_selected(w.client.ssl, &alpn, &alpn_n);
        CHECK(alpn_n == 8 && memcmp(alpn, "http/1.1", 8) == 0);
        w.server = w.ops->server(w.outside, "api.test", false);
        for (int i = 0; i < 3; i++) {
                say(&w, request);
                CHECK(holds(&w.served, "Authorization: Bearer " SECRET "\r\n"));
                CHECK(!holds(&w.served, HOLDER));
                answer(&w, "HTTP/1.1 200 OK\r\nContent-Length: 37\r\n\r\n<" SECRET ">");
                CHECK(holds(&w.seen, "200 OK") && holds(&w.seen, "<*****"));
                CHECK(!holds(&w.seen, "R3alSecret"));
        }
        CHECK_INT(w.rig.connects, 1);
        CHECK_INT(w.rig.event_count, 3);
        CHECK(rig_last(&w.rig)->scrubbed);
        CHECK_STR(rig_last(&w.rig)->credential, "key");
        world_end(&w);
}

static void test_tls__a_server_that_is_not_trusted_gets_nothing(void)
{
        struct world w;
        if (!world_start(&w, "roots"))
                SKIP("no ca-certificates on this host");
        client_hello(&w, "api.test", "api.test", NULL);
        w.server = w.ops->server(w.outside, "api.test", false);
        say(&w, request);
        CHECK_INT(w.served.n, 0);
        CHECK(holds(&w.seen, "502") && holds(&w.seen, "TLS handshake with the server failed"));
        CHECK_INT(rig_last(&w.rig)->verdict, HTTP_BROKEN);
        world_end(&w);
}

static void test_tls__a_server_with_another_name_gets_nothing(void)
{
        struct world w;
        if (!world_start(&w, "world"))
                SKIP("no ca-certificates on this host");
        client_hello(&w, "api.test", "api.test", NULL);
        /* Trusted, but for evil.test: its own check of the name must not be what stops it. */
        struct tls_leaf odd = { strdup("api.test"), tls_ca_leaf(w.outside, "evil.test", false) };
        X509_up_ref(odd.cert);
        w.outside->leaves[w.outside->leaf_count++] = odd;
        w.server = w.ops->server(w.outside, "api.test", false);
        say(&w, request);
        CHECK_INT(w.served.n, 0);
        CHECK(holds(&w.seen, "502"));
        world_end(&w);
}

static void test_tls__the_name_in_the_hello_must_be_the_one_looked_up(void)
{
        static const char *const names[] = { "evil.test", "x.api.test", "api.test.evil.test", NULL };
        for (size_t i = 0; i < COUNT(names); i++) {
                struct world w;
                if (!world_start(&w, "world"))
                        SKIP("no ca-certificates on this host");
                client_hello(&w, names[i], NULL, NULL);
                CHECK(!SSL_is_init_finished(w.client.ssl));
                CHECK(http_flow_done(w.rig.flow));
                CHECK_INT(w.rig.connects, 0);
                CHECK_INT(rig_last(&w.rig)->verdict, HTTP_DENIED);
                CHECK(strstr(rig_last(&w.rig)->why, "hello"));
                world_end(&w);
        }
}

static void test_tls__only_http_1_1_is_offered(void)
{
        struct world w;
        if (!world_start(&w, "world"))
                SKIP("no ca-certificates on this host");
        client_hello(&w, "api.test", NULL, "\x02h2");
        CHECK(!SSL_is_init_finished(w.client.ssl));
        CHECK(http_flow_done(w.rig.flow));
        world_end(&w);
}

static void test_tls__host_header_and_hello_must_agree(void)
{
        struct world w;
        if (!world_start(&w, "world"))
                SKIP("no ca-certificates on this host");
        client_hello(&w, "api.test", "api.test", NULL);
        say(&w, "GET / HTTP/1.1\r\nHost: a.wild.test\r\n\r\n");
        CHECK(holds(&w.seen, "421"));
        CHECK_INT(w.rig.connects, 0);
        world_end(&w);
}

static void test_tls__plain_text_to_a_tls_door(void)
{
        struct world w;
        if (!world_start(&w, "world"))
                SKIP("no ca-certificates on this host");
        rig_client(&w.rig, span_str("GET / HTTP/1.1\r\nHost: api.test:443\r\n\r\n"), 0);
        CHECK(holds(&w.rig.to_client, "403"));
        CHECK_INT(rig_last(&w.rig)->reason, REASON_SCHEME);
        w.client = end_of(w.client_ctx, false);
        world_end(&w);
}

static void test_tls__what_is_no_hello_goes_no_further(void)
{
        static const char *const firsts[] = {
                "\x16\x03\x01\x02nonsense that is long enough to be read as a record",
                "\x16GET / HTTP/1.1\r\n", "\x16\x03\x03\xff\xff"
        };
        for (size_t i = 0; i < COUNT(firsts); i++) {
                struct world w;
                if (!world_start(&w, "world"))
                        SKIP("no ca-certificates on this host");
                rig_client(&w.rig, span_str(firsts[i]), i == 0 ? 1 : 0);
                CHECK(http_flow_done(w.rig.flow));
                CHECK_INT(rig_last(&w.rig)->reason, REASON_NOT_HTTP);
                w.client = end_of(w.client_ctx, false);
                world_end(&w);
        }
}

/* TLS 1.3 answers each request for new keys by itself. */
static void test_tls__who_asks_for_new_keys_and_reads_nothing_is_not_read(void)
{
        struct world w;
        if (!world_start(&w, "world"))
                SKIP("no ca-certificates on this host");
        client_hello(&w, "api.test", "api.test", NULL);
        CHECK(SSL_is_init_finished(w.client.ssl) && SSL_version(w.client.ssl) == TLS1_3_VERSION);
        size_t most = 0;
        unsigned asked = 0;
        while (http_flow_client_room(w.rig.flow) == HTTP_BUFFER && asked < 100000) {
                char bytes[256];
                CHECK(SSL_key_update(w.client.ssl, SSL_KEY_UPDATE_REQUESTED) == 1 &&
                      SSL_do_handshake(w.client.ssl) == 1);
                int n = BIO_read(w.client.out, bytes, sizeof bytes);
                http_flow_from_client(w.rig.flow, span_of(bytes, n > 0 ? (size_t) n : 0));
                size_t unread = http_flow_to_client(w.rig.flow).n;
                most = unread > most ? unread : most;
                asked++;
        }
        CHECK(asked > 1000 && asked < 100000);
        CHECK(most < 2 * HTTP_UNREAD);
        rig_move(&w.rig);
        CHECK(http_flow_client_room(w.rig.flow) == HTTP_BUFFER);
        world_end(&w);
}

static void test_tls__without_tls_a_hello_is_refused(void)
{
        struct rig g;
        struct rig_in in = { .policy = "use none\nnet https://api.test/**\n",
                             .stage = POLICY_STAGE_LIVE,
                             .port = 443 };
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_of("\x16\x03\x01\x00\x05hello", 10), 0);
        CHECK(http_flow_done(g.flow));
        CHECK_INT(g.event_count, 1);
        CHECK_INT(rig_last(&g)->verdict, HTTP_DENIED);
        rig_end(&g);
}

/* ---- the authority ---- */

static bool verifies(struct tls_box *b, X509 *leaf, const char *host)
{
        BIO *mem = BIO_new_mem_buf(tls_box_ca_pem(b).p, (int) tls_box_ca_pem(b).n);
        X509 *ca = PEM_read_bio_X509(mem, NULL, NULL, NULL);
        X509_STORE *store = X509_STORE_new();
        X509_STORE_CTX *ctx = X509_STORE_CTX_new();
        (void) X509_STORE_add_cert(store, ca);
        (void) X509_STORE_CTX_init(ctx, store, leaf, NULL);
        if (host)
                (void) X509_VERIFY_PARAM_set1_host(X509_STORE_CTX_get0_param(ctx), host, 0);
        int r = X509_verify_cert(ctx);
        X509_STORE_CTX_free(ctx);
        X509_STORE_free(store);
        X509_free(ca);
        BIO_free(mem);
        return r == 1;
}

static void test_ca__names_outside_it_do_not_verify(void)
{
        struct world w;
        if (!world_start(&w, "world"))
                SKIP("no ca-certificates on this host");
        CHECK(verifies(w.box, tls_ca_leaf(w.box, "api.test", false), "api.test"));
        CHECK(verifies(w.box, tls_ca_leaf(w.box, "a.b.wild.test", false), "a.b.wild.test"));
        CHECK(verifies(w.box, tls_ca_leaf(w.box, "192.0.2.7", true), NULL));
        CHECK(!verifies(w.box, tls_ca_leaf(w.box, "other.test", false), NULL));
        CHECK(!verifies(w.box, tls_ca_leaf(w.box, "notapi.test", false), NULL));
        CHECK(!verifies(w.box, tls_ca_leaf(w.box, "192.0.2.8", true), NULL));
        CHECK(!verifies(w.box, tls_ca_leaf(w.box, "2001:db8::1", true), NULL));
        CHECK(tls_ca_leaf(w.box, "a,DNS:evil.test", false) == NULL);
        CHECK(tls_ca_leaf(w.box, "", false) == NULL);
        CHECK(tls_ca_leaf(w.box, "api.test", false) == tls_ca_leaf(w.box, "api.test", false));
        w.client = end_of(w.client_ctx, false);
        world_end(&w);
}

static void test_ca__it_is_short_lived_and_bounded(void)
{
        struct world w;
        if (!world_start(&w, "world"))
                SKIP("no ca-certificates on this host");
        X509 *ca = w.box->ca;
        int days, seconds;
        CHECK(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(ca), X509_get0_notAfter(ca)) == 1);
        CHECK(days == 1 && seconds <= TLS_SKEW);
        CHECK_INT(X509_get_pathlen(ca), 0);
        int at = X509_get_ext_by_NID(ca, NID_name_constraints, -1);
        CHECK(at >= 0 && X509_EXTENSION_get_critical(X509_get_ext(ca, at)));
        CHECK(holds(&(struct buf){ .p = w.box->ca_pem, .n = w.box->ca_pem_len }, "BEGIN CERTIFICATE"));
        CHECK(!holds(&(struct buf){ .p = w.box->ca_pem, .n = w.box->ca_pem_len }, "PRIVATE"));
        w.client = end_of(w.client_ctx, false);
        world_end(&w);
}

/* ---- the host's roots ---- */

/* As the roots were read before they were looked up one by one: all of them, at once. */
static X509_STORE *all_at_once(struct span pem)
{
        X509_STORE *store = X509_STORE_new();
        BIO *mem = BIO_new_mem_buf(pem.p, (int) pem.n);
        for (X509 *c; (c = PEM_read_bio_X509(mem, NULL, NULL, NULL)); X509_free(c))
                (void) X509_STORE_add_cert(store, c);
        BIO_free(mem);
        ERR_clear_error();
        return store;
}

static int verdict(X509_STORE *store, X509 *cert)
{
        X509_STORE_CTX *ctx = X509_STORE_CTX_new();
        (void) X509_STORE_CTX_init(ctx, store, cert, NULL);
        int r = X509_verify_cert(ctx) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(ctx);
        X509_STORE_CTX_free(ctx);
        ERR_clear_error();
        return r;
}

/* The verdict over a certificate with these roots, twice: the second time they are known. */
static int looked_up(struct span pem, X509 *cert)
{
        struct err e = { 0 };
        X509_STORE *store = X509_STORE_new();
        struct tls_trust *t = tls_trust_new(store, pem, &e);
        CHECK(t);
        int first = t ? verdict(store, cert) : -1;
        CHECK_INT(t ? verdict(store, cert) : -1, first);
        X509_STORE_free(store);
        tls_trust_free(t);
        return first;
}

static void test_trust__every_root_is_found_as_if_all_were_there(void)
{
        struct world w;
        static char roots[1 << 20];
        if (!world_start(&w, "world"))
                SKIP("no ca-certificates on this host");
        FILE *f = fopen("/etc/ssl/certs/ca-certificates.crt", "rb");
        struct span pem = span_of(roots, f ? fread(roots, 1, sizeof roots, f) : 0);
        struct err e = { 0 };
        X509_STORE *all = all_at_once(pem), *asked = X509_STORE_new();
        struct tls_trust *t = tls_trust_new(asked, pem, &e);
        BIO *mem = BIO_new_mem_buf(pem.p, (int) pem.n);
        int count = 0;
        CHECK(t);
        CHECK_INT(verdict(asked, w.outside->ca), verdict(all, w.outside->ca)); /* not among them */
        for (X509 *c; (c = PEM_read_bio_X509(mem, NULL, NULL, NULL)); X509_free(c), count++)
                CHECK_INT(verdict(asked, c), verdict(all, c));
        CHECK(count > 0);
        CHECK_INT(sk_X509_OBJECT_num(X509_STORE_get0_objects(asked)),
                  sk_X509_OBJECT_num(X509_STORE_get0_objects(all)));
        ERR_clear_error();
        BIO_free(mem);
        X509_STORE_free(all);
        X509_STORE_free(asked);
        tls_trust_free(t);
        (void) (f && fclose(f));
        w.client = end_of(w.client_ctx, false);
        world_end(&w);
}

/* The authorities of two boxes have one name and two keys. */
static void test_trust__one_name_with_two_keys(void)
{
        struct world w;
        if (!world_start(&w, "world"))
                SKIP("no ca-certificates on this host");
        struct span right = tls_box_ca_pem(w.outside), wrong = tls_box_ca_pem(w.box);
        X509 *leaf = tls_ca_leaf(w.outside, "api.test", false);
        struct buf right_last = { 0 }, right_first = { 0 };
        buf_add(&right_last, wrong.p, wrong.n);
        buf_add(&right_last, right.p, right.n);
        buf_add(&right_first, right.p, right.n);
        buf_add(&right_first, wrong.p, wrong.n);
        CHECK_INT(looked_up(right, leaf), X509_V_OK);
        CHECK_INT(looked_up(buf_span(&right_last), leaf), X509_V_OK);
        CHECK_INT(looked_up(buf_span(&right_first), leaf), X509_V_OK);
        CHECK(looked_up(wrong, leaf) != X509_V_OK);
        buf_done(&right_last);
        buf_done(&right_first);
        w.client = end_of(w.client_ctx, false);
        world_end(&w);
}

static void test_trust__what_is_no_certificate_is_left_out(void)
{
        static const char before[] =
                "some words\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
                "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n"
                "-----BEGIN RSA PUBLIC KEY-----\nMAoCAwEAAQIDAQAB\n-----END RSA PUBLIC KEY-----\n";
        struct world w;
        struct err e = { 0 };
        if (!world_start(&w, "world"))
                SKIP("no ca-certificates on this host");
        struct span right = tls_box_ca_pem(w.outside);
        X509 *leaf = tls_ca_leaf(w.outside, "api.test", false);
        struct buf b = { 0 };
        buf_puts(&b, before);
        CHECK(looked_up(buf_span(&b), leaf) != X509_V_OK);
        buf_add(&b, right.p, right.n);
        CHECK_INT(looked_up(buf_span(&b), leaf), X509_V_OK);
        for (size_t cut = 40; cut < right.n; cut += 61) /* broken off anywhere: never a reason to trust */
                CHECK(looked_up(span_of(right.p, cut), leaf) != X509_V_OK || cut + 2 > right.n);
        X509_STORE *store = X509_STORE_new();
        CHECK(!tls_trust_new(store, span_str("no roots at all\n"), &e) && strstr(e.what, "empty"));
        X509_STORE_free(store);
        buf_done(&b);
        w.client = end_of(w.client_ctx, false);
        world_end(&w);
}

/* ---- hellos, read without OpenSSL ---- */

static size_t real_hello(const char *sni, uint8_t *to, size_t cap)
{
        SSL_CTX *c = SSL_CTX_new(TLS_client_method());
        struct end e = end_of(c, false);
        if (sni)
                set_sni(e.ssl, sni);
        (void) SSL_do_handshake(e.ssl);
        int n = BIO_read(e.out, to, (int) cap);
        SSL_free(e.ssl);
        SSL_CTX_free(c);
        ERR_clear_error();
        return n > 0 ? (size_t) n : 0;
}

static void test_hello__the_name_in_any_pieces(void)
{
        uint8_t hello[2048];
        struct tls_hello_info i;
        size_t n = real_hello("API.Test", hello, sizeof hello);
        CHECK(n > 100);
        for (size_t k = 0; k < n; k++)
                CHECK_INT(tls_hello_read(span_of(hello, k), &i), TLS_HELLO_MORE);
        CHECK_INT(tls_hello_read(span_of(hello, n), &i), TLS_HELLO_OK);
        CHECK_STR(i.sni, "api.test");
        CHECK(!i.encrypted);
        n = real_hello(NULL, hello, sizeof hello);
        CHECK_INT(tls_hello_read(span_of(hello, n), &i), TLS_HELLO_OK);
        CHECK_STR(i.sni, "");
}

/* A hello by hand, so that every length can be wrong. */
struct odd_hello {
        size_t name;                                     /* bytes of the name */
        unsigned names, sessions, ciphers, compressions; /* names: 0 means no extensions at all */
        enum tls_hello want;
        bool twice; /* the extension, not the name in it */
        bool more;  /* bytes behind the extensions */
        char last;  /* of the name; 0: as the others */
};

static void put16(struct buf *b, size_t n)
{
        buf_putc(b, (char) (n >> 8));
        buf_putc(b, (char) n);
}

static void put_many(struct buf *b, size_t n, char c)
{
        while (n--)
                buf_putc(b, c);
}

static void put_names(struct buf *b, const struct odd_hello *o)
{
        size_t list = o->names * (3 + o->name), count = o->twice ? 2 : 1;
        put16(b, count * (6 + list));
        for (size_t k = 0; k < count; k++) {
                put16(b, 0);
                put16(b, list + 2);
                put16(b, list);
                for (unsigned i = 0; i < o->names; i++) {
                        buf_putc(b, 0);
                        put16(b, o->name);
                        put_many(b, o->name - (o->last ? 1 : 0), 'a');
                        put_many(b, o->last ? 1 : 0, o->last);
                }
        }
}

static void test_hello__lengths_that_no_client_sends(void)
{
        static const struct odd_hello rows[] = {
                { 8, 1, 0, 2, 1, TLS_HELLO_OK, false, false, 0 },
                { 255, 1, 32, 2, 1, TLS_HELLO_OK, false, false, 0 },
                { 0, 0, 0, 2, 1, TLS_HELLO_OK, false, false, 0 },
                { 0, 1, 0, 2, 1, TLS_HELLO_BAD, false, false, 0 },
                { 256, 1, 0, 2, 1, TLS_HELLO_BAD, false, false, 0 },
                { 300, 1, 0, 2, 1, TLS_HELLO_BAD, false, false, 0 },
                { 4000, 1, 0, 2, 1, TLS_HELLO_BAD, false, false, 0 },
                { 8, 2, 0, 2, 1, TLS_HELLO_BAD, false, false, 0 },
                { 8, 1, 0, 2, 1, TLS_HELLO_BAD, true, false, 0 },
                { 8, 1, 33, 2, 1, TLS_HELLO_BAD, false, false, 0 },
                { 8, 1, 0, 0, 1, TLS_HELLO_BAD, false, false, 0 },
                { 8, 1, 0, 3, 1, TLS_HELLO_BAD, false, false, 0 },
                { 8, 1, 0, 2, 0, TLS_HELLO_BAD, false, false, 0 },
                { 8, 1, 0, 2, 1, TLS_HELLO_BAD, false, true, 0 },
                { 8, 1, 0, 2, 1, TLS_HELLO_OK, false, false, '-' },
                { 8, 1, 0, 2, 1, TLS_HELLO_BAD, false, false, '*' },
                { 8, 1, 0, 2, 1, TLS_HELLO_BAD, false, false, ' ' },
                { 8, 1, 0, 2, 1, TLS_HELLO_BAD, false, false, '%' },
                { 8, 1, 0, 2, 1, TLS_HELLO_BAD, false, false, '/' },
                { 8, 1, 0, 2, 1, TLS_HELLO_BAD, false, false, '\n' },
                { 8, 1, 0, 2, 1, TLS_HELLO_BAD, false, false, '\x7f' },
                { 8, 1, 0, 2, 1, TLS_HELLO_BAD, false, false, (char) 0xc3 },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                AUTO_BUF(body);
                AUTO_BUF(hello);
                struct tls_hello_info info;
                put_many(&body, 2 + 32, 3);
                buf_putc(&body, (char) rows[i].sessions);
                put_many(&body, rows[i].sessions, 's');
                put16(&body, rows[i].ciphers);
                put_many(&body, rows[i].ciphers, 'c');
                buf_putc(&body, (char) rows[i].compressions);
                put_many(&body, rows[i].compressions, 0);
                if (rows[i].names)
                        put_names(&body, &rows[i]);
                put_many(&body, rows[i].more ? 1 : 0, 'x');
                buf_add(&hello, "\x16\x03\x01", 3);
                put16(&hello, 4 + body.n);
                buf_add(&hello, "\x01\x00", 2);
                put16(&hello, body.n);
                buf_add(&hello, body.p, body.n);
                enum tls_hello got = tls_hello_read(buf_span(&hello), &info);
                if (got != rows[i].want)
                        printf("# row %zu: %d\n", i, (int) got);
                CHECK_INT(got, rows[i].want);
                if (got == TLS_HELLO_OK)
                        CHECK_INT(strlen(info.sni), rows[i].name);
        }
}

/* However far a length in it reaches: it ends where the message does. */
static void test_hello__a_message_that_ends_anywhere(void)
{
        static const struct odd_hello whole = { 8, 1, 4, 2, 1, TLS_HELLO_OK, false, false, 0 };
        AUTO_BUF(body);
        put_many(&body, 2 + 32, 3);
        buf_add(&body, "\4ssss\0\2cc\1\0", 11);
        size_t fixed = body.n;
        put_names(&body, &whole);
        for (size_t n = 0; n <= body.n; n++) {
                AUTO_BUF(hello);
                struct tls_hello_info info;
                buf_add(&hello, "\x16\x03\x01", 3);
                put16(&hello, 4 + n);
                buf_add(&hello, "\x01\x00", 2);
                put16(&hello, n);
                buf_add(&hello, body.p, n);
                CHECK_INT(tls_hello_read(buf_span(&hello), &info),
                          n == fixed || n == body.n ? TLS_HELLO_OK : TLS_HELLO_BAD);
        }
}

static void test_hello__in_two_records_and_with_changed_bytes(void)
{
        uint8_t hello[2048], two[2048];
        struct tls_hello_info i;
        size_t n = real_hello("api.test", hello, sizeof hello), a = 20;
        memcpy(two, hello, 3);
        two[3] = 0, two[4] = (uint8_t) a;
        memcpy(two + 5, hello + 5, a);
        memcpy(two + 5 + a, hello, 3);
        two[8 + a] = (uint8_t) ((n - 5 - a) >> 8), two[9 + a] = (uint8_t) (n - 5 - a);
        memcpy(two + 10 + a, hello + 5 + a, n - 5 - a);
        CHECK_INT(tls_hello_read(span_of(two, n + 5), &i), TLS_HELLO_OK);
        CHECK_STR(i.sni, "api.test");
        /* A changed name is seen as changed, a changed length never as the old name with other bytes around.
         */
        uint8_t *at = memmem(hello, n, "api.test", 8);
        at[0] = '\0';
        CHECK_INT(tls_hello_read(span_of(hello, n), &i), TLS_HELLO_BAD);
        at[0] = 'a';
        at[-1] = 7;
        CHECK_INT(tls_hello_read(span_of(hello, n), &i), TLS_HELLO_BAD);
        CHECK_INT(tls_hello_read(span_str("GET / HTTP/1.1\r\n"), &i), TLS_HELLO_BAD);
}

/* ---- the first bytes of a connection that is passed on unseen ---- */

static void test_greet__the_name_must_be_the_doors(void)
{
        uint8_t hello[2048];
        size_t n = real_hello("API.test", hello, sizeof hello);
        struct span all = span_of(hello, n);
        for (size_t k = 0; k < n; k++) {
                CHECK_INT(greet_judge(span_of(hello, k), false, "api.test", 443).verdict, GREETING_MORE);
                CHECK_INT(greet_judge(span_of(hello, k), false, "other.test", 443).verdict, GREETING_MORE);
                if (k > 0) /* it ends in the middle: whatever it was, it is no hello for this host */
                        CHECK_INT(greet_judge(span_of(hello, k), true, "api.test", 443).verdict,
                                  GREETING_REFUSED);
        }
        CHECK_INT(greet_judge(all, false, "api.test", 443).verdict, GREETING_PASSES);
        CHECK_INT(greet_judge(all, false, "api.test", 5432).verdict, GREETING_PASSES);
        static const char *const others[] = { "other.test",    "pi.test", "xapi.test",
                                              "api.test.evil", "test",    "" };
        for (size_t i = 0; i < COUNT(others); i++) {
                struct greeting g = greet_judge(all, false, others[i], 443);
                CHECK_INT(g.verdict, GREETING_REFUSED);
                CHECK_INT(g.permit, PERMIT_NAMED);
                CHECK_STR(g.named, "api.test");
                CHECK_INT(greet_judge(all, false, others[i], 8443).verdict, GREETING_REFUSED);
        }
}

static void test_greet__no_name_and_a_hidden_name(void)
{
        uint8_t hello[2048];
        size_t n = real_hello(NULL, hello, sizeof hello);
        CHECK_INT(greet_judge(span_of(hello, n), false, "api.test", 443).verdict, GREETING_REFUSED);
        CHECK_INT(greet_judge(span_of(hello, n), false, "api.test", 6380).verdict, GREETING_PASSES);
        /* The last extension of a real hello becomes an encrypted hello: same length, another type. */
        n = real_hello("api.test", hello, sizeof hello);
        uint8_t *groups =
                memmem(hello, n, "\x00\x0a\x00", 3); /* supported groups: any server could do without */
        CHECK(groups != NULL);
        if (!groups)
                return;
        groups[0] = 0xfe, groups[1] = 0x0d;
        struct greeting g = greet_judge(span_of(hello, n), false, "api.test", 443);
        CHECK_INT(g.verdict, GREETING_REFUSED);
        CHECK_INT(g.permit, PERMIT_REQUESTS);
        CHECK_INT(greet_judge(span_of(hello, n), false, "api.test", 9000).verdict, GREETING_REFUSED);
}

/* A hello with one extension more. */
static size_t extended_hello(const char *host, struct span ext, uint8_t *hello, size_t cap)
{
        size_t n = real_hello(host, hello, cap), at = 5 + 4 + 2 + 32;
        at += 1u + hello[at];
        at += 2u + (size_t) (hello[at] << 8 | hello[at + 1]);
        at += 1u + hello[at];
        size_t all = (size_t) (hello[at] << 8 | hello[at + 1]) + ext.n;
        memcpy(hello + n, ext.p, ext.n);
        n += ext.n;
        hello[at] = (uint8_t) (all >> 8), hello[at + 1] = (uint8_t) all;
        hello[3] = (uint8_t) ((n - 5) >> 8), hello[4] = (uint8_t) (n - 5);
        hello[7] = (uint8_t) ((n - 9) >> 8), hello[8] = (uint8_t) (n - 9);
        return n;
}

/* Chromium and Firefox put random bytes where an encrypted hello would stand. */
static void test_greet__grease_in_place_of_an_encrypted_hello(void)
{
        static const char grease[] = "\xfe\x0d\x00\x0e\x00\x00\x01\x00\x01\x2a\x00\x02kk\x00\x02pp";
        static const char inner[] = "\xfe\x0d\x00\x01\x01", draft[] = "\xff\xce\x00\x01\x00";
        static const char longer[] = "\xfe\x0d\x00\x0f\x00\x00\x01\x00\x01\x2a\x00\x02kk\x00\x02ppx";
        const struct {
                const char *ext;
                size_t n;
                const char *host;
                enum greeting_verdict want;
        } rows[] = { { grease, sizeof grease - 1, "api.test", GREETING_PASSES },
                     { grease, sizeof grease - 1, "other.test", GREETING_REFUSED },
                     { grease, sizeof grease - 1, NULL, GREETING_REFUSED },
                     { inner, sizeof inner - 1, "api.test", GREETING_REFUSED },
                     { draft, sizeof draft - 1, "api.test", GREETING_REFUSED },
                     { longer, sizeof longer - 1, "api.test", GREETING_REFUSED } };
        for (size_t i = 0; i < COUNT(rows); i++) {
                uint8_t hello[2048];
                size_t n = extended_hello(rows[i].host, span_of(rows[i].ext, rows[i].n), hello, sizeof hello);
                CHECK_INT(greet_judge(span_of(hello, n), false, "api.test", 443).verdict, rows[i].want);
                CHECK_INT(greet_judge(span_of(hello, n), false, "api.test", 9000).verdict, rows[i].want);
        }
}

/* A server that misses something asks for a second hello, and goes by the name in that one. */
static void test_greet__a_second_hello_names_the_door_too(void)
{
        static const struct {
                const char *before;
                size_t n;
                const char *named; /* in the hello behind it, or NULL */
                enum greeting_verdict want;
        } rows[] = {
                { "", 0, "api.test", GREETING_PASSES },
                { "", 0, "other.test", GREETING_REFUSED },
                { "", 0, NULL, GREETING_MORE },
                { "\x14\x03\x03\x00\x01\x01", 6, "api.test", GREETING_PASSES },
                { "\x14\x03\x03\x00\x01\x01", 6, "other.test", GREETING_REFUSED },
                { "\x15\x03\x03\x00\x02\x01\x5a", 7, "other.test", GREETING_REFUSED }, /* user_canceled */
                { "\x14\x03\x03\x00\x01\x01", 6, NULL, GREETING_MORE },
                { "\x16\x03\x03\x00\x00", 5, "other.test", GREETING_REFUSED },
                { "\x16\x03\x03\x00\x03\x01\x00\x01", 8, NULL, GREETING_MORE }, /* in pieces */
                { "\x14\x03\x03\x00\x01\x01\x17\x03\x03\x00\x45", 11, NULL, GREETING_PASSES },
                { "\x16\x03\x03\x00\x25\x10\x00\x00\x21\x20\x03", 11, NULL, GREETING_PASSES },
        };
        uint8_t first[2048];
        size_t n = real_hello("api.test", first, sizeof first);
        CHECK_INT(greet_judge(span_of(first, n), false, "api.test", 443).bytes, n);
        for (size_t i = 0; i < COUNT(rows); i++) {
                AUTO_BUF(b);
                uint8_t hello[2048];
                buf_add(&b, rows[i].before, rows[i].n);
                if (rows[i].named)
                        buf_add(&b, hello, real_hello(rows[i].named, hello, sizeof hello));
                for (size_t k = 0; rows[i].n == 0 && k < b.n; k++)
                        CHECK_INT(greet_again(span_of(b.p, k), false, "api.test", 443).verdict,
                                  GREETING_MORE);
                CHECK_INT(greet_again(buf_span(&b), false, "api.test", 443).verdict, rows[i].want);
                CHECK(greet_again(buf_span(&b), true, "api.test", 443).verdict != GREETING_MORE);
        }
        static const char retry[] = "\x16\x03\x03\x00\x58\x02\x00\x00\x54\x03\x03"
                                    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
                                    "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c\x20";
        uint8_t other[sizeof retry];
        memcpy(other, retry, sizeof other);
        other[11] ^= 1;
        CHECK(greet_asks_again(span_of(retry, sizeof retry - 1)));
        CHECK(greet_asks_again(span_of(other, 42))); /* not known yet */
        CHECK(!greet_asks_again(span_of(other, 43)));
        uint8_t *groups = memmem(first, n, "\x00\x0a\x00", 3);
        CHECK(groups != NULL);
        if (groups)
                groups[1] = 42; /* data that wait for no answer: a second hello could come behind them */
        CHECK_INT(greet_judge(span_of(first, n), false, "api.test", 443).verdict, GREETING_REFUSED);
}

static void test_greet__other_protocols(void)
{
        static const struct {
                const char *bytes;
                size_t n;
                bool ended;
                uint16_t port;
                enum greeting_verdict want;
        } rows[] = {
                { "", 0, false, 443, GREETING_MORE },
                { "", 0, true, 443, GREETING_PASSES }, /* it only listens */
                { "S", 1, false, 443, GREETING_MORE },
                { "S", 1, true, 443, GREETING_REFUSED },
                { "SSH-2.0-OpenSSH_9\r\n", 19, false, 443, GREETING_PASSES },
                { "SSH-1.5", 7, false, 443, GREETING_REFUSED },
                { "GET / HTTP/1.1\r\n", 16, false, 443, GREETING_REFUSED },
                { "CONNECT evil.test:443 HTTP/1.1\r\n", 32, false, 443, GREETING_REFUSED },
                { "PROXY TCP4 1.2.3.4 5.6.7.8 1 443\r\n", 34, false, 443, GREETING_REFUSED },
                { "\x80\x2e\x01\x03\x01", 5, false, 443, GREETING_REFUSED }, /* a hello of SSLv2 */
                { "\x16\x02\x01", 3, false, 443, GREETING_REFUSED },
                { "\x15\x03\x01\x00\x02", 5, false, 443, GREETING_REFUSED },
                { "\x16", 1, false, 443, GREETING_MORE },
                { "\x16", 1, false, 25, GREETING_MORE },
                { "\x16\x02\x01", 3, false, 25, GREETING_MORE },
                { "\x16\x02\x01", 3, true, 25, GREETING_PASSES },
                /* Go reads a hello behind these, and in a record of any version below 16. */
                { "\x16\x02\x01\x00\x50\x01", 6, false, 25, GREETING_REFUSED },
                { "\x16\x00\x00\x00\x01\x01", 6, false, 25, GREETING_REFUSED },
                { "\x16\x0f\xff\x00\x50\x01", 6, false, 25, GREETING_REFUSED },
                { "\x15\x03\x01\x00\x02\x01", 6, false, 25, GREETING_REFUSED },
                { "\x15\x03\x01\x00\x02\x01\x00\x16\x03\x01", 10, false, 25, GREETING_REFUSED },
                { "\x15\x09\x09\x00\x02\x02\x00", 7, false, 25, GREETING_REFUSED },
                { "\x15\x03\x01\x00", 4, false, 25, GREETING_MORE },
                { "\x14\x03\x01\x00\x01\x01", 6, false, 25, GREETING_REFUSED },
                { "\x18\x03\x01\x00\x03\x01", 6, false, 25, GREETING_REFUSED },
                { "\x15\x00\x00\x00\x09\x01", 6, false, 25, GREETING_PASSES }, /* another's: nine bytes */
                { "\x16\x00\xf4\x05\x09localhost", 14, false, 25565, GREETING_PASSES },
                { "GET / HTTP/1.1\r\n", 16, false, 80, GREETING_PASSES },
                { "\x00\x00\x00\x08", 4, false, 5432, GREETING_PASSES },
                { "\x16\x03\x01\xff\xff", 5, false, 25, GREETING_REFUSED }, /* TLS, and too long a record */
        };
        for (size_t i = 0; i < COUNT(rows); i++)
                CHECK_INT(greet_judge(span_of(rows[i].bytes, rows[i].n), rows[i].ended, "api.test",
                                      rows[i].port)
                                  .verdict,
                          rows[i].want);
}

static void test_greet__a_hello_without_an_end_does_not_wait_for_ever(void)
{
        static uint8_t bytes[70000];
        for (size_t at = 0; at + 5 < sizeof bytes; at += 5 + 4096) {
                memcpy(bytes + at, "\x16\x03\x01\x10\x00", 5);
                if (at == 0)
                        memcpy(bytes + 5, "\x01\x00\xf0\x00", 4);
        }
        CHECK_INT(greet_judge(span_of(bytes, 16000), false, "api.test", 443).verdict, GREETING_MORE);
        CHECK_INT(greet_judge(span_of(bytes, 16384), false, "api.test", 443).verdict, GREETING_REFUSED);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_tls__a_secret_goes_up_and_does_not_come_back),
                CASE(test_tls__a_server_that_is_not_trusted_gets_nothing),
                CASE(test_tls__a_server_with_another_name_gets_nothing),
                CASE(test_tls__the_name_in_the_hello_must_be_the_one_looked_up),
                CASE(test_tls__only_http_1_1_is_offered),
                CASE(test_tls__host_header_and_hello_must_agree),
                CASE(test_tls__plain_text_to_a_tls_door),
                CASE(test_tls__what_is_no_hello_goes_no_further),
                CASE(test_tls__who_asks_for_new_keys_and_reads_nothing_is_not_read),
                CASE(test_tls__without_tls_a_hello_is_refused),
                CASE(test_ca__names_outside_it_do_not_verify),
                CASE(test_ca__it_is_short_lived_and_bounded),
                CASE(test_trust__every_root_is_found_as_if_all_were_there),
                CASE(test_trust__one_name_with_two_keys),
                CASE(test_trust__what_is_no_certificate_is_left_out),
                CASE(test_hello__the_name_in_any_pieces),
                CASE(test_hello__lengths_that_no_client_sends),
                CASE(test_hello__a_message_that_ends_anywhere),
                CASE(test_hello__in_two_records_and_with_changed_bytes),
                CASE(test_greet__the_name_must_be_the_doors),
                CASE(test_greet__no_name_and_a_hidden_name),
                CASE(test_greet__grease_in_place_of_an_encrypted_hello),
                CASE(test_greet__a_second_hello_names_the_door_too),
                CASE(test_greet__other_protocols),
                CASE(test_greet__a_hello_without_an_end_does_not_wait_for_ever),
        };
        return test_main(cases, COUNT(cases));
}

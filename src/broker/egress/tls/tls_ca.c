/* SPDX-License-Identifier: MIT */
/* broker/egress/tls/tls_ca.c - the box's own certificate authority: one key for the CA and one for all its
 * leaves, a day long, only for the names that the policy opens up. Never: writes a key anywhere. */
#include "base/buf.h"
#include "base/vec.h"
#include "broker/egress/tls/tls_internal.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

int tls_fail(struct err *e, const char *what)
{
        const char *why = ERR_reason_error_string(ERR_peek_last_error());
        (void) err_set(e, ERR_INTERNAL, 0, "%s: %s", what, why ? why : "no reason given");
        ERR_clear_error();
        return -1;
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
        X509V3_CTX ctx;
        X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
        X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
        bool ok = x && X509_add_ext(cert, x, -1) == 1;
        X509_EXTENSION_free(x);
        return ok;
}

static bool set_serial(X509 *cert)
{
        unsigned char bytes[16];
        BIGNUM *n = RAND_bytes(bytes, sizeof bytes) == 1 ? BN_bin2bn(bytes, sizeof bytes, NULL) : NULL;
        bool ok = n && BN_clear_bit(n, 127) >= 0 && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
        BN_free(n);
        return ok;
}

static bool set_name(X509_NAME *name, const char *cn)
{
        return X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, (const unsigned char *) "cordon", -1, -1,
                                          0) == 1 &&
               X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *) cn, -1, -1, 0) ==
                       1;
}

static X509 *blank_certificate(const struct tls_box *b, const char *cn)
{
        X509 *c = X509_new();
        time_t from = (time_t) b->now - TLS_SKEW, to = (time_t) b->now + TLS_DAY;
        if (c && X509_set_version(c, X509_VERSION_3) == 1 && set_serial(c) &&
            ASN1_TIME_set(X509_getm_notBefore(c), from) && ASN1_TIME_set(X509_getm_notAfter(c), to) &&
            set_name(X509_get_subject_name(c), cn))
                return c;

        X509_free(c);
        return NULL;
}

static bool is_v6(const char *name) { return strchr(name, ':') != NULL; }

static bool is_v4(const char *name)
{
        struct in_addr a;
        return inet_pton(AF_INET, name, &a) == 1;
}

/* Names reach OpenSSL's extension language: nothing in them may mean anything there. */
static bool plain_name(const char *name)
{
        return name[0] && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-_:")] == '\0' &&
               (is_v6(name) ? name[strspn(name, "0123456789abcdef:.")] == '\0' : !strchr(name, ':'));
}

/* A kind of name that is not permitted by any line would not be constrained at all: so each kind gets one. */
static int put_constraints(const struct tls_box_in *in, struct buf *out, struct err *e)
{
        bool dns = false, v4 = false, v6 = false;
        buf_puts(out, "critical");
        for (size_t i = 0; i < in->name_count; i++) {
                const char *name = in->names[i];
                if (!plain_name(name))
                        return err_set(e, ERR_INTERNAL, 0, "a name that no certificate can have");
                if (is_v6(name))
                        buf_printf(out, ",permitted;IP:%s/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", name);
                else if (is_v4(name))
                        buf_printf(out, ",permitted;IP:%s/255.255.255.255", name);
                else
                        buf_printf(out, ",permitted;DNS:%s", name);
                v6 = v6 || is_v6(name);
                v4 = v4 || is_v4(name);
                dns = dns || (!is_v6(name) && !is_v4(name));
        }

        if (!dns)
                buf_puts(out, ",permitted;DNS:none.invalid");

        if (!v4)
                buf_puts(out, ",excluded;IP:0.0.0.0/0.0.0.0");

        if (!v6)
                buf_puts(out, ",excluded;IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0");

        return out->failed ? err_set(e, ERR_MEMORY, 0, "no memory") : 0;
}

static int keep_pem(struct tls_box *b)
{
        BIO *mem = BIO_new(BIO_s_mem());
        char *text;
        long n = mem && PEM_write_bio_X509(mem, b->ca) == 1 ? BIO_get_mem_data(mem, &text) : 0;
        b->ca_pem = n > 0 ? malloc((size_t) n) : NULL;
        if (b->ca_pem) {
                memcpy(b->ca_pem, text, (size_t) n);
                b->ca_pem_len = (size_t) n;
        }

        BIO_free(mem);
        return b->ca_pem ? 0 : -1;
}

int tls_ca_make(struct tls_box *b, const struct tls_box_in *in, struct err *e)
{
        AUTO_BUF(names);
        if (put_constraints(in, &names, e) < 0)
                return -1;

        b->ca_key = EVP_EC_gen("P-256");
        b->leaf_key = EVP_EC_gen("P-256");
        b->ca = b->ca_key && b->leaf_key ? blank_certificate(b, "box CA, one run only") : NULL;
        if (!b->ca || X509_set_issuer_name(b->ca, X509_get_subject_name(b->ca)) != 1 ||
            X509_set_pubkey(b->ca, b->ca_key) != 1 ||
            !add_extension(b->ca, b->ca, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
            !add_extension(b->ca, b->ca, NID_key_usage, "critical,keyCertSign") ||
            !add_extension(b->ca, b->ca, NID_ext_key_usage, "serverAuth") ||
            !add_extension(b->ca, b->ca, NID_subject_key_identifier, "hash") ||
            !add_extension(b->ca, b->ca, NID_name_constraints, buf_str(&names)) ||
            X509_sign(b->ca, b->ca_key, EVP_sha256()) == 0 || keep_pem(b) < 0)
                return tls_fail(e, "the box's certificate authority could not be made");

        return 0;
}

static X509 *mint_certificate(struct tls_box *b, const char *name, bool is_address)
{
        AUTO_BUF(san);
        buf_printf(&san, "critical,%s:%s", is_address ? "IP" : "DNS", name);
        X509 *c = plain_name(name) && !san.failed ? blank_certificate(b, "leaf") : NULL;
        if (c && X509_set_issuer_name(c, X509_get_subject_name(b->ca)) == 1 &&
            X509_set_pubkey(c, b->leaf_key) == 1 &&
            add_extension(c, b->ca, NID_basic_constraints, "critical,CA:FALSE") &&
            add_extension(c, b->ca, NID_key_usage, "critical,digitalSignature") &&
            add_extension(c, b->ca, NID_ext_key_usage, "serverAuth") &&
            add_extension(c, b->ca, NID_authority_key_identifier, "keyid") &&
            add_extension(c, b->ca, NID_subject_alt_name, buf_str(&san)) &&
            X509_sign(c, b->ca_key, EVP_sha256()) != 0)
                return c;

        X509_free(c);
        return NULL;
}

X509 *tls_ca_leaf(struct tls_box *b, const char *name, bool is_address)
{
        for (size_t i = 0; i < b->leaf_count; i++)
                if (strcmp(b->leaves[i].name, name) == 0)
                        return b->leaves[i].cert;

        if (b->leaf_count == TLS_NAMES_MAX ||
            vec_room((void **) &b->leaves, b->leaf_count, &b->leaf_cap, sizeof *b->leaves) < 0)
                return NULL;

        struct tls_leaf leaf = { strdup(name), mint_certificate(b, name, is_address) };
        if (!leaf.name || !leaf.cert) {
                free(leaf.name);
                X509_free(leaf.cert);
                return NULL;
        }

        b->leaves[b->leaf_count++] = leaf;
        return leaf.cert;
}

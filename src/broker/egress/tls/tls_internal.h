/* SPDX-License-Identifier: MIT */
/* broker/egress/tls/tls_internal.h - declarations shared by the files that use OpenSSL. */
#pragma once
#include "broker/egress/tls/tls.h"

#include <openssl/ssl.h>

enum { TLS_DAY = 24 * 60 * 60, TLS_SKEW = 5 * 60, TLS_NAMES_MAX = 1024 };

struct tls_leaf {
        char *name;
        X509 *cert;
};

struct tls_trust;

struct tls_box {
        EVP_PKEY *ca_key, *leaf_key;
        X509 *ca;
        char *ca_pem;
        size_t ca_pem_len;
        SSL_CTX *server, *client;
        bool http2;
        struct tls_trust *trust; /* outlives `client` */
        struct tls_leaf *leaves; /* minted as they are met */
        size_t leaf_count, leaf_cap;
        int64_t now;
};

/* tls_ca.c */
int tls_ca_make(struct tls_box *b, const struct tls_box_in *in, struct err *e);
/* Borrowed; NULL: cannot. */
X509 *tls_ca_leaf(struct tls_box *b, const char *name, bool is_address);
/* Sets *e from OpenSSL's queue; returns -1. */
int tls_fail(struct err *e, const char *what);

/* tls_trust.c: roots from a PEM bundle, each parsed when the first chain needs its name. The store must be
 * freed before tls_trust_free(). */
struct tls_trust *tls_trust_new(X509_STORE *store, struct span pem, struct err *e);
void tls_trust_free(struct tls_trust *t);

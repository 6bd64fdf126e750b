/* SPDX-License-Identifier: MIT */
/* broker/egress/tls/tls.h - the box's own certificate authority and verified TLS to servers, behind struct
 * tls_ops of http.h. Only the broker links this (OpenSSL). Keys live in its memory and nowhere else; they die
 * with it.
 */
#pragma once
#include "broker/egress/http/http.h"

struct tls_box;

struct tls_box_in {
        const char *const
                *names; /* hosts whose connections are opened up: names (subdomains included) or addresses */
        size_t name_count;
        struct span trust_pem; /* the host's roots, read before the broker closed its files */
        int64_t now;           /* unix seconds */
        bool http2;            /* is offered to clients that want it */
};

/* Makes the CA: P-256, 24 h, pathlen 0, critical name constraints of just these names. */
struct tls_box *tls_box_new(const struct tls_box_in *in, struct err *e);
void tls_box_free(struct tls_box *b); /* wipes the keys */
/* The CA's certificate, for the bundle that the box sees. Lives as long as the box. */
struct span tls_box_ca_pem(const struct tls_box *b);
/* The same as the NSS database of a browser. Returns false if the names do not fit or memory is out; then
 * none is made. */
bool tls_box_nss(const struct tls_box *b, struct buf *out);
/* For http_rules_in.tls; its ctx is the struct tls_box. */
const struct tls_ops *tls_box_ops(void);

/* ---- tls_hello.c: pure, no OpenSSL ---- */

enum tls_hello { TLS_HELLO_BAD = 0, TLS_HELLO_MORE, TLS_HELLO_OK };
struct tls_hello_info {
        char sni[256];  /* lower case; "" if it has none */
        bool encrypted; /* it also carries an encrypted hello: the name that counts may be another */
        bool outer;     /* it is the outer of an encrypted one, or a browser's GREASE */
        bool early;     /* data follow it that wait for no answer */
        size_t bytes;   /* of the records that it lies in */
};
/* The first bytes of a client, for raw host:port doors: is it TLS, and for which name? */
enum tls_hello tls_hello_read(struct span bytes, struct tls_hello_info *ret_info);

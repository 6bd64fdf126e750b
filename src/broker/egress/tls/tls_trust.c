/* SPDX-License-Identifier: MIT */
/* broker/egress/tls/tls_trust.c - the host's roots. The main cost of a root is parsing its key, a third of a
 * millisecond each, and a box needs one or two of a hundred and fifty: so OpenSSL gets a lookup method
 * (X509_LOOKUP) instead of all roots. It looks up a name while it builds a chain and then verifies as ever; a
 * root that is not found, or cannot be parsed, is not trusted. Never: opens a file. */
#include "base/vec.h"
#include "broker/egress/tls/tls_internal.h"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>

struct root {
        unsigned char *der; /* OpenSSL's */
        long der_len;
        X509_NAME *subject;
        X509 *cert; /* once it was requested */
};

struct tls_trust {
        X509_LOOKUP_METHOD *method;
        char *pem; /* until the first question */
        size_t pem_len;
        struct root *roots;
        size_t count, cap;
};

/* ---- from the bundle ---- */

/* Enters, or skips, the element at *p. Returns false if it is not `tag`, or does not fit. */
static bool der_step(const unsigned char **p, const unsigned char *end, int tag, bool into)
{
        long n;
        int got, class;
        const unsigned char *at = *p;
        if (ASN1_get_object(&at, &n, &got, &class, end - at) & 0x80 || got != tag || n > end - at)
                return false;

        *p = into ? at : at + n;
        return true;
}

/* The subject of a certificate, without reading the rest of it. */
static X509_NAME *subject_of(const unsigned char *p, long n)
{
        static const struct {
                int tag;
                bool into;
        } way[] = { { V_ASN1_SEQUENCE, true },  { V_ASN1_SEQUENCE, true },    /* signed: the signed part */
                    { V_ASN1_INTEGER, false },  { V_ASN1_SEQUENCE, false },   /* serial number, algorithm */
                    { V_ASN1_SEQUENCE, false }, { V_ASN1_SEQUENCE, false } }; /* issuer, validity */

        const unsigned char *end = p + n;
        for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
                if (i == 2 && p < end && *p == 0xa0) /* the version, in a tag of its own, may be there */
                        (void) der_step(&p, end, 0, false);
                if (!der_step(&p, end, way[i].tag, way[i].into))
                        return NULL;
        }

        return d2i_X509_NAME(NULL, &p, end - p);
}

/* Takes the bytes over; true: kept. */
static bool add_root(struct tls_trust *t, unsigned char *der, long n)
{
        if (vec_room((void **) &t->roots, t->count, &t->cap, sizeof *t->roots) < 0)
                return false;

        X509_NAME *subject = subject_of(der, n);
        if (subject)
                t->roots[t->count++] = (struct root){ .der = der, .der_len = n, .subject = subject };

        return subject != NULL;
}

/* Blocks that are not a certificate are left out. */
static void read_bundle(struct tls_trust *t)
{
        BIO *mem = BIO_new_mem_buf(t->pem, (int) t->pem_len);
        size_t left = t->pem_len + 1; /* each round must get on: without memory, none would */
        while (mem && BIO_ctrl_pending(mem) > 0 && BIO_ctrl_pending(mem) < left) {
                left = BIO_ctrl_pending(mem);
                char *name = NULL, *header = NULL;
                unsigned char *der = NULL;
                long n = 0;
                bool kept = PEM_read_bio(mem, &name, &header, &der, &n) == 1 && header[0] == '\0' &&
                            (strcmp(name, PEM_STRING_X509) == 0 || strcmp(name, PEM_STRING_X509_OLD) == 0) &&
                            add_root(t, der, n);
                if (!kept)
                        OPENSSL_free(der);
                OPENSSL_free(name);
                OPENSSL_free(header);
        }

        BIO_free(mem);
        ERR_clear_error();
        free(t->pem);
        t->pem = NULL;
}

/* ---- OpenSSL's lookups ---- */

/* All of a name at once: the store is not asked again for a name that it knows. */
static X509 *take_root(X509_STORE *store, struct tls_trust *t, const X509_NAME *name)
{
        X509 *first = NULL;
        for (size_t i = 0; i < t->count; i++) {
                struct root *r = &t->roots[i];
                const unsigned char *p = r->der;
                if (X509_NAME_cmp(r->subject, name) != 0)
                        continue;
                if (!r->cert)
                        r->cert = d2i_X509(NULL, &p, r->der_len);
                if (r->cert && X509_STORE_add_cert(store, r->cert) == 1 && !first)
                        first = r->cert;
        }

        ERR_clear_error();
        return first;
}

static int by_subject(X509_LOOKUP *lookup, X509_LOOKUP_TYPE type, const X509_NAME *name, X509_OBJECT *ret)
{
        struct tls_trust *t = X509_LOOKUP_get_method_data(lookup);
        if (type != X509_LU_X509)
                return 0;

        if (t->pem)
                read_bundle(t);

        X509 *found = take_root(X509_LOOKUP_get_store(lookup), t, name);
        if (!found || X509_OBJECT_set1_X509(ret, found) != 1)
                return 0;

        X509_free(found); /* the caller counts it once more: X509_LOOKUP_meth_set_get_by_subject(3) */
        return 1;
}

struct tls_trust *tls_trust_new(X509_STORE *store, struct span pem, struct err *e)
{
        static const char begin[] = "-----BEGIN ";
        if (!pem.n || pem.n > INT32_MAX || !memmem(pem.p, pem.n, begin, sizeof begin - 1)) {
                (void) err_set(e, ERR_HOST, 0, "the host's list of certificate authorities is empty");
                (void) err_hint(e, "install ca-certificates");
                return NULL;
        }

        struct tls_trust *t = calloc(1, sizeof *t);
        if (t && (t->pem = malloc(pem.n)))
                memcpy(t->pem, pem.p, pem.n);

        if (t) {
                t->pem_len = pem.n;
                t->method = X509_LOOKUP_meth_new("cordon: the host's roots");
        }

        X509_LOOKUP *lookup = NULL;
        if (t && t->pem && t->method && X509_LOOKUP_meth_set_get_by_subject(t->method, by_subject) == 1)
                lookup = X509_STORE_add_lookup(store, t->method);

        if (lookup && X509_LOOKUP_set_method_data(lookup, t) == 1)
                return t;

        tls_trust_free(t);
        (void) tls_fail(e, "the host's list of certificate authorities");
        return NULL;
}

void tls_trust_free(struct tls_trust *t)
{
        if (!t)
                return;

        for (size_t i = 0; i < t->count; i++) {
                OPENSSL_free(t->roots[i].der);
                X509_NAME_free(t->roots[i].subject);
                X509_free(t->roots[i].cert);
        }

        X509_LOOKUP_meth_free(t->method);
        free(t->roots);
        free(t->pem);
        free(t);
}

/* SPDX-License-Identifier: MIT */
/* broker/egress/tls/tls_nss.c - the box's authority as a database of NSS (cert9.db), in which Chromium looks
 * up its user's trusted certificates: an SQLite file with one table of PKCS#11 objects, here the certificate
 * and the trust in it. A table of two rows needs no library to be written. Never: a key, a file.
 *
 * An SQLite file: page 1 is a header of 100 bytes and the leaf page of the schema, page 2 the leaf page of
 * our table. A leaf page: its kind, the number of cells, the start of the cells, the offset of each, and at
 * its end the cells: the length of a record, its row number, and the record: the length of the list of types,
 * that list, and the values (https://www.sqlite.org/fileformat2.html). */
#include "base/buf.h"
#include "broker/egress/tls/tls_internal.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

enum { PAGE_LEAST = 4096, PAGE_MOST = 32768, FILE_HEADER = 100, LEAF_HEADER = 8, LEAF_TABLE = 0x0d };
enum { NOT_IN_CELL = 35 }; /* a record with more than a page but this goes on in other pages */

static void put_be(struct buf *out, uint32_t n, unsigned bytes)
{
        while (bytes-- > 0)
                buf_putc(out, (char) (n >> (8 * bytes)));
}

static void put_varint(struct buf *out, size_t n)
{
        for (int shift = 21; shift > 0; shift -= 7)
                if (n >> shift)
                        buf_putc(out, (char) (0x80 | (n >> shift & 0x7f)));
        buf_putc(out, (char) (n & 0x7f));
}

/* ---- records ---- */

enum type { TYPE_BYTE = 1, TYPE_BLOB = 12, TYPE_TEXT = 13 }; /* the latter two: and twice the length */

struct record {
        struct buf types, values;
};

static void add_value(struct record *r, enum type type, struct span value)
{
        put_varint(&r->types, type == TYPE_BYTE ? TYPE_BYTE : (size_t) type + 2 * value.n);
        buf_add(&r->values, value.p, value.n);
}

/* A cell, its record included; empties the record. */
static void put_cell(struct buf *out, uint8_t row, struct record *r)
{
        AUTO_BUF(head);
        put_varint(&head, r->types.n + (r->types.n + 1 > 0x7f ? 2 : 1)); /* itself included */
        put_varint(out, head.n + r->types.n + r->values.n);
        put_varint(out, row);
        buf_add(out, buf_str(&head), head.n);
        buf_add(out, buf_str(&r->types), r->types.n);
        buf_add(out, buf_str(&r->values), r->values.n);
        out->failed |= head.failed || r->types.failed || r->values.failed;
        buf_done(&r->types);
        buf_done(&r->values);
        *r = (struct record){ 0 };
}

/* ---- objects ---- */

enum { OBJECT_CERT, OBJECT_TRUST, OBJECTS };

/* An attribute of PKCS#11 or NSS. Its numbers have four bytes. */
struct column {
        const char *name; /* "a" and the attribute's own number */
        struct span of[OBJECTS];
};

#define BYTES(s)                                                                                             \
        {                                                                                                    \
                (const uint8_t *) (s), sizeof(s) - 1                                                         \
        }
#define NONE                                                                                                 \
        {                                                                                                    \
                NULL, 0                                                                                      \
        }
#define YES BYTES("\1")
#define NO  BYTES("\0")

static void put_objects(const struct column *v, size_t n, struct buf ret[OBJECTS])
{
        for (unsigned k = 0; k < OBJECTS; k++) {
                struct record r = { 0 };
                const uint8_t id = (uint8_t) (k + 1);
                add_value(&r, TYPE_BYTE, span_of(&id, 1));
                for (size_t i = 0; i < n; i++)
                        if (v[i].of[k].p)
                                add_value(&r, TYPE_BLOB, v[i].of[k]);
                        else
                                put_varint(&r.types, 0);
                put_cell(&ret[k], id, &r);
        }
}

static void put_schema(const struct column *v, size_t n, struct buf *out)
{
        AUTO_BUF(sql);
        struct record r = { 0 };
        buf_puts(&sql, "CREATE TABLE nssPublic (id");
        for (size_t i = 0; i < n; i++)
                buf_printf(&sql, ", %s", v[i].name);

        buf_putc(&sql, ')');
        add_value(&r, TYPE_TEXT, span_str("table"));
        add_value(&r, TYPE_TEXT, span_str("nssPublic"));
        add_value(&r, TYPE_TEXT, span_str("nssPublic"));
        add_value(&r, TYPE_BYTE, (struct span) BYTES("\2")); /* the table's page */
        add_value(&r, TYPE_TEXT, buf_span(&sql));
        put_cell(out, 1, &r);
        out->failed |= sql.failed;
}

/* ---- pages ---- */

static bool cells_fit(const struct buf *cells, size_t n, size_t before, size_t page)
{
        size_t all = before + LEAF_HEADER + 2 * n;
        for (size_t i = 0; i < n; i++) {
                all += cells[i].n;
                if (cells[i].n > page - NOT_IN_CELL)
                        return false;
        }

        return all <= page;
}

static void put_header(struct buf *out, size_t page)
{
        static const uint32_t pages = 2, schema_cookie = 1, schema_format = 4, utf8 = 1, counter = 1,
                              version = 3040001;
        buf_add(out, "SQLite format 3", 16);
        put_be(out, (uint32_t) page, 2);
        buf_add(out, "\1\1\0\x40\x20\x20", 6); /* journal, nothing reserved, fractions as they must be */
        const uint32_t rest[] = { counter, pages, 0, 0, schema_cookie, schema_format, 0, 0, utf8, 0, 0, 0, 0,
                                  0,       0,     0, 0, counter,       version };
        for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
                put_be(out, rest[i], 4);
}

/* `before`: bytes that are in the page already. */
static void put_leaf(struct buf *out, size_t before, const struct buf *cells, size_t n, size_t page)
{
        size_t first = page;
        for (size_t i = 0; i < n; i++)
                first -= cells[i].n;

        put_be(out, LEAF_TABLE, 1);
        put_be(out, 0, 2);
        put_be(out, (uint32_t) n, 2);
        put_be(out, (uint32_t) first, 2);
        put_be(out, 0, 1);
        for (size_t i = 0, at = first; i < n; at += cells[i++].n)
                put_be(out, (uint32_t) at, 2);

        for (size_t at = before + LEAF_HEADER + 2 * n; at < first; at++)
                buf_putc(out, '\0');

        for (size_t i = 0; i < n; i++) {
                buf_add(out, buf_str(&cells[i]), cells[i].n);
                out->failed |= cells[i].failed;
        }
}

/* False: there are more names in the certificate than fit. */
static bool put_file(struct buf *out, const struct buf *schema, const struct buf objects[OBJECTS])
{
        size_t page = PAGE_LEAST;
        while (page <= PAGE_MOST &&
               (!cells_fit(schema, 1, FILE_HEADER, page) || !cells_fit(objects, OBJECTS, 0, page)))
                page *= 2;

        if (page > PAGE_MOST)
                return false;

        put_header(out, page);
        put_leaf(out, FILE_HEADER, schema, 1, page);
        put_leaf(out, 0, objects, OBJECTS, page);
        return !out->failed;
}

static bool write_database(struct span cert, struct span issuer, struct span serial, struct span sha1,
                           struct buf *out)
{
        const struct column columns[] = {
                { "a0", { BYTES("\0\0\0\1"), BYTES("\xce\x53\x43\x53") } }, /* class: certificate, trust */
                { "a1", { YES, YES } },                                     /* token */
                { "a2", { NO, NO } },                                       /* private */
                { "a3", { BYTES("cordon"), NONE } },                        /* label */
                { "a11", { cert, NONE } },                                  /* value */
                { "a80", { BYTES("\0\0\0\0"), NONE } },                     /* certificate type: X.509 */
                { "a81", { issuer, issuer } },                              /* issuer */
                { "a82", { serial, serial } },                              /* serial number */
                { "a101", { issuer, NONE } },                         /* subject: it is its own issuer */
                { "a102", { sha1, NONE } },                           /* id */
                { "a170", { YES, YES } },                             /* modifiable */
                { "ace536358", { NONE, BYTES("\xce\x53\x43\x52") } }, /* for servers: trusted to issue */
                { "ace536359", { NONE, BYTES("\xce\x53\x43\x53") } }, /* clients, mail, code: to verify */
                { "ace53635a", { NONE, BYTES("\xce\x53\x43\x53") } },
                { "ace53635b", { NONE, BYTES("\xce\x53\x43\x53") } },
                { "ace536360", { NONE, NO } },   /* step-up approved */
                { "ace5363b4", { NONE, sha1 } }, /* of the certificate */
        };

        const size_t n = sizeof columns / sizeof *columns;
        struct buf schema = { 0 }, objects[OBJECTS] = { 0 };
        put_schema(columns, n, &schema);
        put_objects(columns, n, objects);
        bool whole = put_file(out, &schema, objects);
        buf_done(&schema);
        for (unsigned k = 0; k < OBJECTS; k++)
                buf_done(&objects[k]);

        return whole;
}

bool tls_box_nss(const struct tls_box *b, struct buf *out)
{
        unsigned char *der = NULL, *issuer = NULL, *serial = NULL, sha1[EVP_MAX_MD_SIZE];
        unsigned hashed = 0;
        int n = i2d_X509(b->ca, &der), issued = i2d_X509_NAME(X509_get_issuer_name(b->ca), &issuer),
            numbered = i2d_ASN1_INTEGER(X509_get0_serialNumber(b->ca), &serial);
        bool made = n > 0 && issued > 0 && numbered > 0 &&
                    EVP_Digest(der, (size_t) n, sha1, &hashed, EVP_sha1(), NULL) == 1 &&
                    write_database(span_of(der, (size_t) n), span_of(issuer, (size_t) issued),
                                   span_of(serial, (size_t) numbered), span_of(sha1, hashed), out);

        OPENSSL_free(der);
        OPENSSL_free(issuer);
        OPENSSL_free(serial);
        return made;
}

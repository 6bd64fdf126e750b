/* SPDX-License-Identifier: MIT */
/* ledger/write/record_secrets.c - no record holds a secret. Each text of a record is searched for those of
 * its ledger: as they are, in hexadecimal, base64 at any offset, and with URL escapes. Never: writes a secret
 * anywhere, or shares one with another ledger. */
#include "ledger/write/append.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { SECRET_LEAST = 6, SECRET_MOST = 4096, FORMS_MAX = 9 };

struct secret { /* in all its forms */
        struct {
                char *text;
                size_t n;
        } forms[FORMS_MAX];
        unsigned count;
};

static int keep(struct secret *s, const void *p, size_t n)
{
        if (s->count == FORMS_MAX || n < SECRET_LEAST)
                return -1;

        char **text = &s->forms[s->count].text;
        *text = malloc(n);
        if (!*text)
                return -1;

        memcpy(*text, p, n);
        s->forms[s->count++].n = n;
        return 0;
}

static void forget(struct secret *s)
{
        for (unsigned i = 0; i < s->count; i++) {
                explicit_bzero(s->forms[i].text, s->forms[i].n);
                free(s->forms[i].text);
        }
        *s = (struct secret){ 0 };
}

/* The characters of base64 that depend on the secret alone, when it stands `skip` bytes into a group of
 * three. */
static int keep_base64(struct secret *s, const uint8_t *p, size_t n, size_t skip)
{
        AUTO_BUF(padded);
        AUTO_BUF(text);
        buf_add(&padded, "\0\0", skip);
        buf_add(&padded, p, n);
        base64_put(buf_span(&padded), &text);
        size_t front = skip ? skip + 1 : 0, whole = (skip + n) * 8 / 6;
        if (text.failed || padded.failed || whole <= front + SECRET_LEAST)
                return 0;

        int r = keep(s, text.p + front, whole - front);
        for (size_t i = 0; i < text.n; i++) /* and the alphabet for URLs */
                text.p[i] = (char) (text.p[i] == '+' ? '-' : text.p[i] == '/' ? '_' : text.p[i]);

        return r < 0 ? r : keep(s, text.p + front, whole - front);
}

static bool is_plain_in_urls(uint8_t c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c && strchr("-._~", c));
}

static int keep_escaped(struct secret *s, const uint8_t *p, size_t n)
{
        AUTO_BUF(hex);
        AUTO_BUF(url);
        bool changed = false;

        for (size_t i = 0; i < n; i++) {
                buf_printf(&hex, "%02x", p[i]);
                if (is_plain_in_urls(p[i])) {
                        buf_putc(&url, (char) p[i]);
                } else {
                        buf_printf(&url, "%%%02X", p[i]);
                        changed = true;
                }
        }

        return keep(s, hex.p, hex.n) < 0 || (changed && keep(s, url.p, url.n) < 0) ? -1 : 0;
}

static int keep_all(struct secret *s, const void *p, size_t n)
{
        if (keep(s, p, n) < 0 || keep_escaped(s, p, n) < 0)
                return -1;
        for (size_t skip = 0; skip < 3; skip++)
                if (keep_base64(s, p, n, skip) < 0)
                        return -1;
        return 0;
}

static bool is_known(const struct ledger_secrets *all, const void *p, size_t n)
{
        for (size_t i = 0; i < all->n; i++)
                if (all->v[i].forms[0].n == n && memcmp(all->v[i].forms[0].text, p, n) == 0)
                        return true;
        return false;
}

int secrets_add(struct ledger_secrets *all, const void *p, size_t n)
{
        if (n < SECRET_LEAST || n > SECRET_MOST)
                return -1;

        if (is_known(all, p, n))
                return 0;

        struct secret *more = reallocarray(all->v, all->n + 1, sizeof *more), s = { .count = 0 };
        if (!more)
                return -1;

        all->v = more;
        if (keep_all(&s, p, n) < 0) {
                forget(&s);
                return -1;
        }

        all->v[all->n++] = s;
        return 0;
}

void secrets_free(struct ledger_secrets *all)
{
        for (size_t i = 0; i < all->n; i++)
                forget(&all->v[i]);
        free(all->v);
        *all = (struct ledger_secrets){ 0 };
}

int ledger_secret_add(struct ledger *l, const void *p, size_t n) { return secrets_add(&l->secrets, p, n); }

/* Letters of hexadecimal and of URL escapes come in both cases. */
static bool holds(const char *text, size_t n, const struct secret *s)
{
        for (unsigned i = 0; i < s->count; i++)
                for (size_t at = 0; at + s->forms[i].n <= n; at++)
                        if (strncasecmp(text + at, s->forms[i].text, s->forms[i].n) == 0)
                                return true;
        return false;
}

static void clean(const struct ledger_secrets *all, const char **text)
{
        size_t n = *text ? strlen(*text) : 0;
        for (size_t i = 0; i < all->n && n > 0; i++)
                if (holds(*text, n, &all->v[i])) {
                        *text = "a secret stood here";
                        return;
                }
}

void secrets_clean(const struct ledger_secrets *all, struct ledger_record *r)
{
        const char **const texts[] = { &r->box,    &r->door,   &r->policy,   &r->target,
                                       &r->result, &r->digest, &r->trace_in, &r->trace_out };
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                clean(all, texts[i]);

        for (unsigned i = 0; i < r->parent_count && i < LEDGER_PARENTS_MAX; i++)
                clean(all, &r->parents[i]);

        for (unsigned i = 0; i < r->more_count && i < LEDGER_MORE_MAX; i++)
                clean(all, &r->more[i].text);
}

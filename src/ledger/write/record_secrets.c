/* SPDX-License-Identifier: MIT */
/* ledger/write/record_secrets.c - no record holds a secret. Whoever handles one tells it here first; each
 * text of each record is then searched for it as it is, in hexadecimal, base64 at any offset, and with URL
 * escapes. Never: writes a secret anywhere. The registry is this process's own, for all its threads. */
#include "ledger/internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { SECRETS_MAX = 64, SECRET_LEAST = 6, SECRET_MOST = 4096, FORMS_MAX = 9 };

/* One secret, in all its forms. The one that was told longest ago makes room: a program that lives long hands
 * out many, and those of the boxes that it has now are the newest. */
struct secret {
        struct {
                char *text;
                size_t n;
        } forms[FORMS_MAX];
        unsigned count;
        uint64_t told; /* when, counted in secrets; 0: never */
};
static struct secret secrets[SECRETS_MAX];
static uint64_t told;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

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

static int add(const void *p, size_t n)
{
        struct secret *oldest = secrets;
        if (n < SECRET_LEAST || n > SECRET_MOST)
                return -1;

        for (struct secret *s = secrets; s < secrets + SECRETS_MAX; s++) {
                if (s->count > 0 && s->forms[0].n == n && memcmp(s->forms[0].text, p, n) == 0) {
                        s->told = ++told;
                        return 0;
                }
                if (s->told < oldest->told)
                        oldest = s;
        }

        forget(oldest);
        oldest->told = ++told;
        return keep_all(oldest, p, n);
}

int ledger_secret_add(const void *p, size_t n)
{
        (void) pthread_mutex_lock(&turn);
        int r = add(p, n);
        (void) pthread_mutex_unlock(&turn);
        return r;
}

/* Letters of hexadecimal and of URL escapes come in both cases. */
static bool holds(const char *text, size_t n, const struct secret *s)
{
        for (unsigned i = 0; i < s->count; i++)
                for (size_t at = 0; at + s->forms[i].n <= n; at++)
                        if (strncasecmp(text + at, s->forms[i].text, s->forms[i].n) == 0)
                                return true;
        return false;
}

const char *secret_scrub(const char *text, char spare[80])
{
        bool found = false;
        (void) pthread_mutex_lock(&turn);
        size_t n = told ? strlen(text) : 0;
        for (unsigned i = 0; told && i < SECRETS_MAX && !found; i++)
                found = holds(text, n, &secrets[i]);

        (void) pthread_mutex_unlock(&turn);
        if (found)
                (void) snprintf(spare, 80, "a secret stood here");

        return found ? spare : text;
}

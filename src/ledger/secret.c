/* SPDX-License-Identifier: MIT */
/* ledger/secret.c - no record holds a secret. Whoever handles one tells it here first; each text of each
 * record is then searched for it as it is, in hexadecimal, base64 at any offset, and with URL escapes. Never:
 * writes a secret anywhere. The registry is this process's own, for all its threads. */
#include "ledger/internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { SECRETS_MAX = 64, SECRET_LEAST = 6, SECRET_MOST = 4096, FORMS_MAX = SECRETS_MAX * 8 };

static struct {
        char *text;
        size_t n;
} forms[FORMS_MAX];
static unsigned form_count, secret_count;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static int keep(const void *p, size_t n)
{
        char *copy = form_count < FORMS_MAX && n >= SECRET_LEAST ? malloc(n) : NULL;
        if (!copy)
                return -1;
        memcpy(copy, p, n);
        forms[form_count].text = copy;
        forms[form_count++].n = n;
        return 0;
}

/* The characters of base64 that depend on the secret alone, when it stands `skip` bytes into a group of
 * three. */
static int keep_base64(const uint8_t *p, size_t n, size_t skip)
{
        AUTO_BUF(padded);
        AUTO_BUF(text);
        buf_add(&padded, "\0\0", skip);
        buf_add(&padded, p, n);
        ledger_base64(buf_span(&padded), &text);
        size_t front = skip ? skip + 1 : 0, whole = (skip + n) * 8 / 6;
        if (text.failed || padded.failed || whole <= front + SECRET_LEAST)
                return 0;
        int r = keep(text.p + front, whole - front);
        for (size_t i = 0; i < text.n; i++) /* and the alphabet for URLs */
                text.p[i] = (char) (text.p[i] == '+' ? '-' : text.p[i] == '/' ? '_' : text.p[i]);
        return r < 0 ? r : keep(text.p + front, whole - front);
}

static bool is_plain_in_urls(uint8_t c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c && strchr("-._~", c));
}

static int keep_escaped(const uint8_t *p, size_t n)
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
        return keep(hex.p, hex.n) < 0 || (changed && keep(url.p, url.n) < 0) ? -1 : 0;
}

static int add(const void *p, size_t n)
{
        for (unsigned i = 0; i < form_count; i++)
                if (forms[i].n == n && memcmp(forms[i].text, p, n) == 0)
                        return 0;
        if (n < SECRET_LEAST || n > SECRET_MOST || secret_count == SECRETS_MAX)
                return -1;
        secret_count++;
        if (keep(p, n) < 0 || keep_escaped(p, n) < 0)
                return -1;
        for (size_t skip = 0; skip < 3; skip++)
                if (keep_base64(p, n, skip) < 0)
                        return -1;
        return 0;
}

int ledger_secret_add(const void *p, size_t n)
{
        (void) pthread_mutex_lock(&turn);
        int r = add(p, n);
        (void) pthread_mutex_unlock(&turn);
        return r;
}

/* Letters of hexadecimal and of URL escapes come in both cases. */
static bool holds(const char *text, size_t n, unsigned i)
{
        if (forms[i].n > n)
                return false;
        for (size_t at = 0; at + forms[i].n <= n; at++)
                if (strncasecmp(text + at, forms[i].text, forms[i].n) == 0)
                        return true;
        return false;
}

const char *secret_scrub(const char *text, char spare[80])
{
        bool found = false;
        (void) pthread_mutex_lock(&turn);
        size_t n = form_count ? strlen(text) : 0;
        for (unsigned i = 0; i < form_count && !found; i++)
                found = holds(text, n, i);
        (void) pthread_mutex_unlock(&turn);
        if (found)
                (void) snprintf(spare, 80, "a secret stood here");
        return found ? spare : text;
}

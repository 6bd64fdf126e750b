/* SPDX-License-Identifier: MIT */
/* base/variable.c - which names suggest a secret. Wide on purpose: an extra warning is cheap, a value in a
 * record cannot be removed. Never: looks at a value. */
#include "base/variable.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Common words that contain one of the parts below; removed first. */
static const char *const harmless[] = { "AUTHOR", "KEYBOARD", "KEYMAP", "KEYCODE", "MONKEY" };

/* Exceptions that contain one of the words above. */
static const char *const sure[] = { "AUTHORIZ", "AUTHORIS" };

static const char *const parts[] = { "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL",
                                     "AUTH",  "KEY",    "JWT",   "PRIVATE" };

static const char *const endings[] = { "_PASS", "_PWD", "_PAT", "_DSN" };

static const char *const whole[] = { "DATABASE_URL", "KUBECONFIG", "PGPASS", "NETRC" };

/* Overwrites the word, so that the text before and after it does not form a new one. */
static void take_out(char *text, const char *word)
{
        for (char *at; (at = strstr(text, word));)
                memset(at, '.', strlen(word));
}

bool variable_looks_secret(const char *name, size_t len)
{
        char up[256];
        size_t n = len < sizeof up - 1 ? len : sizeof up - 1;
        for (size_t i = 0; i < n; i++)
                up[i] = (char) (name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i]);

        up[n] = '\0';
        for (size_t i = 0; i < COUNT(whole); i++)
                if (strcmp(up, whole[i]) == 0)
                        return true;

        for (size_t i = 0; i < COUNT(sure); i++)
                if (strstr(up, sure[i]))
                        return true;

        for (size_t i = 0; i < COUNT(harmless); i++)
                take_out(up, harmless[i]);

        for (size_t i = 0; i < COUNT(parts); i++)
                if (strstr(up, parts[i]))
                        return true;

        for (size_t i = 0; i < COUNT(endings); i++) {
                size_t k = strlen(endings[i]);
                if (n > k && strcmp(up + n - k, endings[i]) == 0)
                        return true;
        }

        return false;
}

/* SPDX-License-Identifier: MIT */
/* wall/limit/kernel_text.c - numbers to and from the kernel's small files. Never: allocates, takes a lock,
 * uses a locale; the janitor runs this in a forked child of a program that may have threads. */
#include "base/fd.h"
#include "base/str.h"
#include "wall/limit/internal.h"

#include <errno.h>

char *limit_text(uint64_t n, char out[NUMBER_TEXT])
{
        char back[NUMBER_TEXT];
        unsigned k = 0, i = 0;
        do
                back[k++] = (char) ('0' + n % 10);

        while ((n /= 10) > 0);
        while (k > 0)
                out[i++] = back[--k];

        out[i] = '\0';
        return out;
}

char *limit_hex(uint64_t n, unsigned digits, char out[NUMBER_TEXT])
{
        unsigned want = 1, i = 0;
        while (want < 16 && n >> (4 * want) > 0)
                want++;

        if (want < digits && digits <= 16)
                want = digits;

        while (want > 0)
                out[i++] = "0123456789abcdef"[n >> (4 * --want) & 15];

        out[i] = '\0';
        return out;
}

char *limit_proc_path(pid_t pid, const char *file, char out[48])
{
        char number[NUMBER_TEXT];
        char *at = stpcpy(out, "/proc/");
        at = stpcpy(at, limit_text((uint64_t) pid, number));
        (void) stpncpy(at, file, 47 - (size_t) (at - out));
        out[47] = '\0';
        return out;
}

int limit_key(int dir, const char *file, const char *key, uint64_t *ret)
{
        char text[4096];
        ssize_t n = fd_get(dir, file, text, sizeof text);
        size_t len = strlen(key);

        if (n < 0)
                return -1;

        for (const char *at = text; at; at = strchr(at, '\n')) {
                at += *at == '\n';
                if (strncmp(at, key, len) == 0 && at[len] == ' ')
                        return str_to_u64(span_of(at + len + 1, strcspn(at + len + 1, "\n")), ret);
        }

        errno = ENOENT;
        return -1;
}

/* Field 22 of stat, counted from the last ')' because the program chooses the bytes of the second field. */
uint64_t limit_start_time(pid_t pid)
{
        char path[48], text[1024];
        uint64_t start = 0;
        if (fd_get(AT_FDCWD, limit_proc_path(pid, "/stat", path), text, sizeof text) < 0)
                return 0;

        const char *at = strrchr(text, ')');
        for (int field = 2; at && field < 22; field++) {
                at = strchr(at, ' ');
                at += at != NULL;
        }

        if (!at || str_to_u64(span_of(at, strcspn(at, " ")), &start) < 0)
                return 0;

        return start;
}

/* SPDX-License-Identifier: MIT */
/* base/listens.c - reads the kernel's list of TCP sockets. Does not allocate. */
#include "base/listens.h"

#include "base/fd.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* "  1: 0100007F:1F90 00000000:0000 0A ...": the loopback or every address, the port, listening. */
static bool is_listener(const char *line, uint16_t port)
{
        enum { LISTENING = 0x0a };
        const char *at = strchr(line, ':');
        at = at ? at + 1 + strspn(at + 1, " ") : "";
        size_t len = strspn(at, "0123456789ABCDEF");
        if ((len != 8 && len != 32) || at[len] != ':' || strtoul(at + len + 1, NULL, 16) != port)
                return false;

        const char *last = at + len - 8; /* the last 32 bits, in the machine's order */
        bool own = strncmp(last, "00000000", 8) == 0 || strncmp(last + 6, "7F", 2) == 0 ||
                   (len == 32 && strncmp(last, "01000000", 8) == 0);
        const char *rest = strchr(at, ' ');
        rest = rest ? strchr(rest + 1, ' ') : NULL;
        return own && rest && strtoul(rest, NULL, 16) == LISTENING;
}

static bool is_listed(int file, uint16_t port)
{
        char text[4096];
        size_t n = 0;
        for (ssize_t k; (k = read(file, text + n, sizeof text - 1 - n)) > 0;) {
                n += (size_t) k;
                text[n] = '\0';
                char *line = text;
                for (char *end; (end = strchr(line, '\n')); line = end + 1) {
                        *end = '\0';
                        if (is_listener(line, port))
                                return true;
                }
                n = strlen(line);
                memmove(text, line, n + 1);
        }

        return false;
}

bool listens_on_loopback(int proc, uint16_t port)
{
        AUTO_FD(four, openat(proc, "self/net/tcp", O_RDONLY | O_CLOEXEC));
        AUTO_FD(six, openat(proc, "self/net/tcp6", O_RDONLY | O_CLOEXEC));
        return (four >= 0 && is_listed(four, port)) || (six >= 0 && is_listed(six, port));
}

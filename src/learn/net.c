/* SPDX-License-Identifier: MIT */
/* learn/net.c - requests to net lines: one for each host and first path segment, with the methods that were
 * seen. */
#include "learn/internal.h"

#include <stdio.h>

static const char *const metadata[] = { "169.254.",      "[fe80:",          "fd00:ec2:",
                                        "[fd00:ec2:",    "100.100.100.200", "metadata.google.internal",
                                        "metadata.goog", "metadata.azure" };

static const char *host_of(const char *dest)
{
        const char *at = strstr(dest, "://");
        return at ? at + 3 : dest;
}

const char *net_sensitive(const char *dest)
{
        const char *host = host_of(dest);
        for (size_t i = 0; i < COUNT(metadata); i++)
                if (strncmp(host, metadata[i], strlen(metadata[i])) == 0)
                        return "metadata";
        return NULL;
}

/* All below the first segment: "https://host/first/" and a double star, of "https://host/first/second". What
 * has no path, is. */
static bool destination(const char *dest, char *out, size_t cap)
{
        const char *path = strstr(dest, "://") ? strchr(host_of(dest), '/') : NULL;
        const char *second = path ? strchr(path + 1, '/') : NULL;
        int n = second ? snprintf(out, cap, "%.*s/**", (int) (second - dest), dest)
                       : snprintf(out, cap, "%s", dest);
        return n > 0 && (size_t) n < cap;
}

static bool first_of_its_kind(const struct learn *l, size_t i, const char *dest, uint64_t mask)
{
        char other[PATH_MAX_BYTES];
        for (size_t k = 0; k < i; k++)
                if (l->v[k].a.kind == LEARN_NET && !l->v[k].sensitive && (l->v[k].runs & mask) &&
                    destination(l->v[k].a.path, other, sizeof other) && strcmp(other, dest) == 0)
                        return false;
        return true;
}

static void methods_of(const struct learn *l, const char *dest, uint64_t mask, struct buf *out,
                       uint64_t *ret_runs)
{
        char other[PATH_MAX_BYTES];
        for (size_t k = 0; k < l->n; k++) {
                const struct item *it = &l->v[k];
                if (it->a.kind != LEARN_NET || it->sensitive || !(it->runs & mask) ||
                    !destination(it->a.path, other, sizeof other) || strcmp(other, dest) != 0)
                        continue;
                *ret_runs |= it->runs & mask;
                char word[32];
                (void) snprintf(word, sizeof word, " %s", it->a.method);
                const char *at = it->a.method[0] ? strstr(buf_str(out), word) : word;
                if (!at)
                        buf_puts(out, word);
        }
}

void net_lines(const struct learn *l, uint64_t mask, struct learn_draft *d)
{
        char dest[PATH_MAX_BYTES];
        for (size_t i = 0; i < l->n; i++) {
                const struct item *it = &l->v[i];
                if (it->a.kind != LEARN_NET || it->sensitive || !(it->runs & mask) ||
                    !destination(it->a.path, dest, sizeof dest) || !first_of_its_kind(l, i, dest, mask))
                        continue;
                AUTO_BUF(methods);
                uint64_t runs = 0;
                methods_of(l, dest, mask, &methods, &runs);
                d->failed |= methods.failed;
                struct learn_line *line = line_add(d, true, "net %s%s", dest, buf_str(&methods));
                if (line)
                        line->seen = bits(runs);
        }
}

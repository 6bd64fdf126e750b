/* SPDX-License-Identifier: MIT */
/* face/serve/tenant_usage.c - what a tenant used, hour by hour, for who pays for it: the file `usage` of the
 * tenant has a line for each run that ended, and at a start one for each hour. */
#include "base/clock.h"
#include "base/fd.h"
#include "face/serve/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOUR_S = 3600, HOURS_MOST = 400 * 24, FILE_MOST = 64 << 20 };

const char *const usage_names[USAGE_COUNT + 1] = {
        "runs",          "failed",       "denials",   "cpu_ns",    "wall_ns",
        "memory_byte_s", "output_bytes", "net_bytes", "approvals", NULL
};

const struct usage_hour *usage_at(struct tenant *t, size_t i)
{
        const struct usage *u = &tenant_book(t)->usage;
        return i < u->n ? &u->v[i] : NULL;
}

/* The newest is the last. */
static void add(struct usage *u, const struct usage_hour *more)
{
        size_t at = u->n;
        while (at > 0 && u->v[at - 1].hour_s > more->hour_s)
                at--;
        if (at > 0 && u->v[at - 1].hour_s == more->hour_s) {
                for (size_t k = 0; k < USAGE_COUNT; k++)
                        u->v[at - 1].n[k] += more->n[k];
                return;
        }

        if (u->n == HOURS_MOST) {
                memmove(u->v, u->v + 1, --u->n * sizeof *u->v);
                at -= at > 0;
        }
        struct usage_hour *v = reallocarray(u->v, u->n + 1, sizeof *v);
        if (!v)
                return;
        u->v = v;
        memmove(v + at + 1, v + at, (u->n++ - at) * sizeof *v);
        v[at] = *more;
}

static void put(struct buf *out, const struct usage_hour *h)
{
        buf_printf(out, "%llu", (unsigned long long) h->hour_s);
        for (size_t k = 0; k < USAGE_COUNT; k++)
                buf_printf(out, " %llu", (unsigned long long) h->n[k]);
        buf_putc(out, '\n');
}

int usage_add(struct tenant *t, struct usage_hour *h)
{
        AUTO_BUF(line);
        h->hour_s = (uint64_t) clock_wall_s() / HOUR_S * HOUR_S;
        add(&tenant_book(t)->usage, h);
        put(&line, h);
        AUTO_FD(fd,
                openat(tenant_dir(t), "usage", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
        return fd < 0 ? -1 : fd_write_all(fd, buf_str(&line), line.n);
}

/* Lines that are cut or are none are left out. */
static void read_lines(struct usage *u, const char *text)
{
        for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
                struct usage_hour h = { 0 };
                char *end = NULL;
                bool good = p[strcspn(p, "\n")] == '\n';
                h.hour_s = strtoull(p, &end, 10);
                for (size_t k = 0; good && k < USAGE_COUNT; k++) {
                        good = *end == ' ';
                        h.n[k] = good ? strtoull(end, &end, 10) : 0;
                }
                if (good && *end == '\n' && h.hour_s % HOUR_S == 0)
                        add(u, &h);
        }
}

void usage_load(struct tenant *t)
{
        struct usage *u = &tenant_book(t)->usage;
        AUTO_FD(fd, openat(tenant_dir(t), "usage", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        char *text = fd < 0 ? NULL : calloc(1, FILE_MOST + 1);
        if (!text || fd_read_all(fd, text, FILE_MOST) <= 0) {
                free(text);
                return;
        }

        read_lines(u, text);
        free(text);
        AUTO_BUF(out);
        for (size_t i = 0; i < u->n; i++)
                put(&out, &u->v[i]);
        AUTO_FD(fresh, openat(tenant_dir(t), "usage.new",
                              O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!out.failed && fresh >= 0 && fd_write_all(fresh, buf_str(&out), out.n) == 0 && fsync(fresh) == 0)
                (void) renameat(tenant_dir(t), "usage.new", tenant_dir(t), "usage");
}

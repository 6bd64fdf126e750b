/* SPDX-License-Identifier: MIT */
/* selftest/probe/probe_rows.c - attempts that are data: a system call, or a list of paths, in a row of a
 * table. */
#include "selftest/probe/probe_internal.h"

#include <stdio.h>
#include <unistd.h>

/* Some words of a row stand for a value that is known only in the box. */
static long value_of(const struct probe_result *r, long word, const struct probe_made *made)
{
        if (word == OF_CANARY)
                return PROBE_PTR(canary(r, r->probe->paths[0]));
        if (word == OF_MADE_PATH && made)
                return PROBE_PTR(made->path);
        if (word == OF_MADE_FD && made)
                return made->fd;
        if (word == OF_BYSTANDER)
                return (long) r->world->bystander;
        if (word == OF_KEEPER)
                return (long) r->world->keeper;
        return word == OF_KEY ? (long) r->world->key : word;
}

long probe_call(const struct probe_result *r, const struct probe_made *made)
{
        const long *c = r->probe->call;
        long a[6] = { 0 };

        for (size_t i = 0; i < 6; i++)
                a[i] = value_of(r, c[i + 1], made);
        return syscall(c[0], a[0], a[1], a[2], a[3], a[4], a[5]);
}

int by_call(struct probe_result *r)
{
        return by_reach(r, probe_call(r, NULL), r->probe->what, r->probe->also);
}

int by_answer(struct probe_result *r) { return by_reply(r, probe_call(r, NULL), r->probe->what); }

bool probe_make(struct probe_made *m, const char *name)
{
        m->fd = make_file(m->path, name, 0700);
        return m->fd >= 0;
}

int by_made(struct probe_result *r)
{
        struct probe_made m;
        if (!probe_make(&m, "made"))
                return refused(r, "making a file");

        int o = by_reply(r, probe_call(r, &m), r->probe->what);
        (void) unlink(m.path);
        return o;
}

int by_opens(struct probe_result *r)
{
        for (const char *const *path = r->probe->paths; *path; path++)
                if (by_open(r, *path, (int) r->probe->call[0]) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;
        return (int) r->outcome;
}

int by_writes(struct probe_result *r)
{
        size_t n = 0;
        while (r->probe->paths[n])
                n++;
        return by_write_opens(r, r->probe->paths, n);
}

int by_canary(struct probe_result *r)
{
        long reply = probe_call(r, NULL);
        if (reply >= 0)
                (void) snprintf(r->effect, sizeof r->effect, "%s %s", r->probe->paths[1],
                                canary(r, "secret"));
        return by_reply(r, reply, r->probe->what);
}

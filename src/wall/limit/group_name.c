/* SPDX-License-Identifier: MIT */
/* wall/limit/group_name.c - names of groups, from which any process can determine whether the keeper still
 * lives.
 *
 *     cordon-<pid>-<start time in ticks, hex>-<random, 8 hex><pid namespace, 8 hex>
 *
 * The pid namespace is included because a pid has no meaning in another one: a sweep on the host must not
 * take the groups of a cordon inside a container for orphans.
 */
#include "base/fd.h"
#include "base/str.h"
#include "wall/limit/internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

/* 44 bits of ticks are five thousand years of uptime; with this width a name fits into 48 bytes. */
static uint64_t start_ticks(pid_t pid) { return limit_start_time(pid) & 0xfffffffffffu; }

static uint32_t own_pid_ns(void)
{
        struct stat s;
        return stat("/proc/self/ns/pid", &s) == 0 ? (uint32_t) s.st_ino : 0;
}

static uint32_t random_u32(void)
{
        uint32_t n;
        /* It makes the name unique and keeps no secret: mkdir fails if the name exists. */
        if (getrandom(&n, sizeof n, GRND_INSECURE) != (ssize_t) sizeof n)
                n = (uint32_t) (uintptr_t) &n;
        return n;
}

void limit_name(char out[48])
{
        (void) snprintf(out, 48, "cordon-%d-%llx-%08x%08x", getpid(),
                        (unsigned long long) start_ticks(getpid()), random_u32(), own_pid_ns());
}

static int read_hex(const char *at, size_t n, uint64_t *ret)
{
        uint64_t value = 0;
        if (n == 0 || n > 16)
                return -1;

        for (size_t i = 0; i < n; i++) {
                const char *digits = "0123456789abcdef";
                const char *d = at[i] ? strchr(digits, at[i]) : NULL;
                if (!d)
                        return -1;
                value = value << 4 | (uint64_t) (d - digits);
        }

        *ret = value;
        return 0;
}

int limit_name_parse(const char *name, struct limit_owner *ret)
{
        uint64_t pid, start, ns, random;
        if (strncmp(name, "cordon-", 7) != 0)
                return -1;

        const char *p = name + 7;
        size_t pid_len = strcspn(p, "-");
        if (p[pid_len] != '-' || str_to_u64(span_of(p, pid_len), &pid) < 0 || pid == 0 || pid > INT32_MAX)
                return -1;

        const char *s = p + pid_len + 1;
        size_t start_len = strcspn(s, "-");
        if (s[start_len] != '-' || read_hex(s, start_len, &start) < 0)
                return -1;

        const char *tail = s + start_len + 1;
        if (strlen(tail) != 16 || read_hex(tail, 8, &random) < 0 || read_hex(tail + 8, 8, &ns) < 0)
                return -1;

        *ret = (struct limit_owner){ .pid = (pid_t) pid, .start = start, .pid_ns = (uint32_t) ns };
        return 0;
}

/* If in doubt the keeper lives: a leftover group is only debris, killing a live box loses work. */
bool limit_owner_gone(const struct limit_owner *o)
{
        if (o->pid_ns == 0 || o->pid_ns != own_pid_ns())
                return false;
        if (kill(o->pid, 0) < 0 && errno == ESRCH)
                return true;
        uint64_t start = start_ticks(o->pid);
        return start != 0 && o->start != 0 && start != o->start;
}

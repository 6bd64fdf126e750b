/* SPDX-License-Identifier: MIT */
/* policy/show/policy_names.c - the names of doors, limits, walls, gaps and handle types. One row = name,
 * default and bound. */
#include "policy/internal.h"

#include <stdio.h>

#define GIB     (UINT64_C(1) << 30)
#define HOUR_MS UINT64_C(3600000)
enum { TEN_YEARS_HOURS = 10 * 365 * 24 };

static const char *const door_words[] = {
        [DOOR_NONE] = "none", [DOOR_READ] = "read",       [DOOR_EDIT] = "edit", [DOOR_WRITE] = "write",
        [DOOR_RUN] = "run",   [DOOR_ENV] = "env",         [DOOR_NET] = "net",   [DOOR_SOCK] = "sock",
        [DOOR_SIGN] = "sign", [DOOR_DECRYPT] = "decrypt", [DOOR_DEV] = "dev",   [DOOR_LISTEN] = "listen",
        [DOOR_TOOL] = "tool", [DOOR_IN] = "in",           [DOOR_OUT] = "out",
};
_Static_assert(COUNT(door_words) == DOOR_KIND__COUNT, "a word for each door");

/* The bounds keep sums and conversions elsewhere far from overflow. */
static const struct limit_row limits[] = {
        [LIMIT_TIME] = { "time", UNIT_MS, HOUR_MS, TEN_YEARS_HOURS *HOUR_MS },
        [LIMIT_CPU] = { "cpu", UNIT_MS, HOUR_MS, TEN_YEARS_HOURS *HOUR_MS },
        [LIMIT_MEMORY] = { "memory", UNIT_BYTES, 2 * GIB, GIB << 20 },
        [LIMIT_PROCS] = { "procs", UNIT_COUNT, 256, 1 << 22 },
        [LIMIT_FILES] = { "files", UNIT_COUNT, 1024, 1 << 20 },
        [LIMIT_DISK] = { "disk", UNIT_BYTES, GIB, GIB << 20 },
        [LIMIT_OUTPUT] = { "output", UNIT_BYTES, GIB / 4, GIB << 20 },
        [LIMIT_EGRESS] = { "egress", UNIT_BYTES, GIB, GIB << 20 },
        [LIMIT_INGRESS] = { "ingress", UNIT_BYTES, 16 * GIB, GIB << 20 },
        [LIMIT_EFFECTS] = { "effects", UNIT_COUNT, 100000, UINT64_C(1) << 40 },
        [LIMIT_RATE] = { "rate", UNIT_PER_HOUR, 100000, UINT64_C(1) << 40 },
        [LIMIT_RENEW] = { "renew", UNIT_COUNT, 0, 1000 },
};
_Static_assert(COUNT(limits) == LIMIT_KEY__COUNT, "a row for each limit");

static const char *const types[] = {
        [HANDLE_BINARY] = "binary", [HANDLE_TEXT] = "text", [HANDLE_JSON] = "json", [HANDLE_IMAGE] = "image",
        [HANDLE_JSONL] = "jsonl",   [HANDLE_CSV] = "csv",   [HANDLE_PNG] = "png",   [HANDLE_JPEG] = "jpeg",
        [HANDLE_GIF] = "gif",       [HANDLE_WEBP] = "webp", [HANDLE_PDF] = "pdf",   [HANDLE_ZIP] = "zip",
        [HANDLE_GZIP] = "gzip",
};
_Static_assert(COUNT(types) == HANDLE_TYPE__COUNT, "a name for each handle type");

static const struct without_row without[] = {
        { "cgroup", WITHOUT_CGROUP },
        { "compiler", WITHOUT_COMPILER },
        { "landlock", WITHOUT_LANDLOCK },
};

const char *policy_door_word(enum door_kind k)
{
        return (unsigned) k < COUNT(door_words) ? door_words[k] : "unknown";
}
const char *policy_limit_name(enum limit_key k)
{
        return (unsigned) k < COUNT(limits) ? limits[k].name : "unknown";
}
const char *policy_handle_type(enum handle_type t)
{
        return (unsigned) t < COUNT(types) ? types[t] : "unknown";
}
bool policy_is_stream(const char *name) { return strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0; }
const struct limit_row *limit_row(enum limit_key k) { return &limits[k]; }

int limit_key_find(const char *name, enum limit_key *ret_key)
{
        for (size_t i = 0; i < COUNT(limits); i++) {
                if (strcmp(limits[i].name, name) == 0) {
                        *ret_key = (enum limit_key) i;
                        return 0;
                }
        }

        return -1;
}

void policy_limit_lift(struct policy_limits *l, enum limit_key k)
{
        if (!l->stated[k])
                l->value[k] = limits[k].most;
}

const char *policy_limit_ask(const struct policy_limits *l, enum limit_key k)
{
        return k == LIMIT_RENEW && l->renew_asks && l->value[k] ? " ask" : "";
}

void policy_limit_default(enum limit_key k, char ret[32]) { (void) limit_print(k, limits[k].fallback, ret); }

char *limit_print(enum limit_key k, uint64_t value, char buf[32])
{
        switch (limits[k].unit) {
        case UNIT_MS:
                return str_from_ms(value, buf);
        case UNIT_BYTES:
                return str_from_size(value, buf);
        case UNIT_COUNT:
                (void) snprintf(buf, 32, "%llu", (unsigned long long) value);
                return buf;
        case UNIT_PER_HOUR:
                (void) snprintf(buf, 32, "%llu/h", (unsigned long long) value);
                return buf;
        }
        return buf;
}

int wall_kind_find(const char *name, enum wall_kind *ret_kind)
{
        for (unsigned k = 0; k < WALL_KIND__COUNT; k++)
                if (strcmp(wall_name((enum wall_kind) k), name) == 0) {
                        *ret_kind = (enum wall_kind) k;
                        return 0;
                }

        return -1;
}

int handle_type_find(const char *name, enum handle_type *ret_type)
{
        int i = str_row(types, COUNT(types), name);
        if (i >= 0)
                *ret_type = (enum handle_type) i;
        return i < 0 ? -1 : 0;
}

static const struct policy_local_row locals[] = {
        { "loopback", "127.0.0.1 and ::1 of its own; the host's localhost is not reachable", LOCAL_LOOPBACK },
        { "unix", "Unix sockets that it made itself", LOCAL_UNIX },
        { "pty", "terminals of its own, as for script and tmux", LOCAL_PTY },
        { "proc", "/proc/cpuinfo, meminfo, stat ... that show the box's share, not the host's load",
          LOCAL_PROC },
        { "trace", "trace its own processes, as strace and gdb do", LOCAL_TRACE },
};

const struct policy_local_row *policy_local_rows(size_t *ret_count)
{
        *ret_count = COUNT(locals);
        return locals;
}

const struct without_row *without_rows(size_t *ret_count)
{
        *ret_count = COUNT(without);
        return without;
}

/* SPDX-License-Identifier: MIT */
/* fuzz_cgroup.c - mountinfo and /proc/PID/cgroup as an enemy would write them, and which mounts may not
 * answer. The input is both texts with a line "--" between. With -DFUZZ_REPLAY it is a program that runs over
 * the files it is given. */
#include "base/host/host.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What any caller relies on: strings end, paths are absolute or empty, nothing climbs. */
static void check_one(const struct host_hierarchy *y)
{
        if (!memchr(y->mount, '\0', sizeof y->mount) || !memchr(y->own, '\0', sizeof y->own))
                abort();
        if (y->present ? y->mount[0] != '/' : y->own[0] != '\0')
                abort();
        if (y->own[0] && (y->own[0] != '/' || strstr(y->own, "/../")))
                abort();
}

/* A mount at / covers everything, and what covers a directory covers what is in it. */
static void check_slow(struct span table)
{
        struct host_slow *s = host_slow_parse(table);
        if (s && host_slow_covers(s, "/") && !host_slow_covers(s, "/etc/x"))
                abort();
        if (s && host_slow_covers(s, "/a") && !host_slow_covers(s, "/a/b"))
                abort();
        if (s && !host_slow_any(s) && host_slow_covers(s, "/"))
                abort();
        host_slow_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct host_cgroups h;
        char path[64];
        char *text = malloc(size + 1);
        if (!text)
                return 0;
        memcpy(text, data, size);
        text[size] = '\0';
        char *cut = strstr(text, "\n--\n");
        const char *second = cut ? cut + 4 : "";
        if (cut)
                cut[1] = '\0';
        check_slow(span_of(text, strlen(text)));
        if (host_cgroups_parse(text, second, &h) == 0) {
                check_one(&h.v2);
                for (unsigned c = 0; c < CONTROLLER__COUNT; c++)
                        check_one(&h.v1[c]);
        }
        if (host_cgroup_find(second, "freezer", path, sizeof path) == 0 &&
            (path[0] != '/' || strlen(path) >= sizeof path))
                abort();
        (void) host_lists(text, "memory");
        free(text);
        return 0;
}

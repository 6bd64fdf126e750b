/* SPDX-License-Identifier: MIT */
/* fuzz_cgroup.c - mountinfo and /proc/PID/cgroup as an enemy would write them. The input is both texts with a
 * line
 * "--" between. With -DFUZZ_REPLAY it is a program that runs over the files it is given. */
#include "host/host.h"

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

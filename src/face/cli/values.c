/* SPDX-License-Identifier: MIT */
/* face/cli/values.c - values of options: numbers, descriptors, times, lists. */
#include "base/clock.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

size_t cli_list_count(const char *const *list)
{
        size_t n = 0;
        while (list[n])
                n++;
        return n;
}

int cli_number(const char *option, const char *value, long least, long most, long *ret)
{
        char *end;
        errno = 0;
        long n = strtol(value, &end, 10);
        if (errno || end == value || *end || n < least || n > most)
                return cli_usage("%s takes a number from %ld to %ld", option, least, most), -1;

        *ret = n;
        return 0;
}

int cli_descriptor(const char *value, char way)
{
        char *end;
        errno = 0;
        long fd = strtol(value, &end, 10);
        if (errno || end == value || *end || fd < 0 || fd > 65535)
                return -1;

        int flags = fcntl((int) fd, F_GETFL), not_only = way == 'r' ? O_WRONLY : O_RDONLY;
        return flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == not_only ? -1 : (int) fd;
}

int cli_time(const char *text, int64_t *ret_us)
{
        uint64_t ms;
        struct tm tm = { 0 };
        int64_t now_us = clock_wall_s() * 1000000;

        if (str_to_ms(span_str(text), &ms) == 0) {
                *ret_us = ms > INT64_MAX / 1000 ? 0 : now_us - (int64_t) ms * 1000;
                return 0;
        }

        const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
        if (!end) {
                tm = (struct tm){ 0 };
                end = strptime(text, "%Y-%m-%d", &tm);
        }

        if (!end || (*end && strcmp(end, "Z") != 0))
                return cli_usage("%s is not a time: 90s, 2h, 7d, 2026-11-15 or 2026-11-15T08:00:00 (UTC)",
                                 text),
                       -1;

        *ret_us = (int64_t) timegm(&tm) * 1000000;
        return 0;
}

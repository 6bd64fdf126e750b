/* SPDX-License-Identifier: MIT */
/* base/date.c - dates in UTC, without asking a clock or a time zone table. */
#include "base/date.h"

#include <stdio.h>
#include <string.h>

/* Days since 1970-01-01 of the proleptic Gregorian calendar (Howard Hinnant's days_from_civil). */
static int64_t days_of(int64_t y, unsigned m, unsigned d)
{
        y -= m <= 2;
        int64_t era = y / 400;
        int64_t yoe = y - era * 400;
        int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
        return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void civil_of(int64_t days, int *y, unsigned *m, unsigned *d)
{
        days += 719468;
        int64_t era = days / 146097, doe = days - era * 146097;
        int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
        int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
        *d = (unsigned) (doy - (153 * mp + 2) / 5 + 1);
        *m = (unsigned) (mp < 10 ? mp + 3 : mp - 9);
        *y = (int) (yoe + era * 400 + (*m <= 2));
}

/* Two or four digits; -1 if they are not digits. */
static int read_digits(const char *s, int digits)
{
        int v = 0;
        for (int i = 0; i < digits; i++) {
                if (s[i] < '0' || s[i] > '9')
                        return -1;
                v = v * 10 + (s[i] - '0');
        }

        return v;
}

int date_parse(const char *s, int64_t *ret_seconds)
{
        size_t n = strlen(s);
        if ((n != 10 && n != 17) || s[4] != '-' || s[7] != '-')
                return -1;

        int y = read_digits(s, 4), m = read_digits(s + 5, 2), d = read_digits(s + 8, 2), hour = 0, minute = 0;
        if (n == 17) {
                if (s[10] != 'T' || s[13] != ':' || s[16] != 'Z')
                        return -1;
                hour = read_digits(s + 11, 2);
                minute = read_digits(s + 14, 2);
        }

        if (y < 1971 || m < 1 || m > 12 || d < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59)
                return -1;

        int64_t days = days_of(y, (unsigned) m, (unsigned) d);
        int back_y;
        unsigned back_m, back_d;
        civil_of(days, &back_y, &back_m, &back_d);
        if (back_y != y || (int) back_m != m ||
            (int) back_d != d) /* 31 April, 29 February of a common year */
                return -1;

        *ret_seconds = days * 86400 + hour * 3600 + minute * 60;
        return 0;
}

struct moment {
        int year;
        unsigned month, day;
        int hour, minute, second;
};

static struct moment moment_of(int64_t seconds)
{
        int rest = (int) (seconds % 86400);
        struct moment t = { .hour = rest / 3600, .minute = rest / 60 % 60, .second = rest % 60 };
        civil_of(seconds / 86400, &t.year, &t.month, &t.day);
        return t;
}

char *date_print(int64_t seconds, char buf[32])
{
        const struct moment t = moment_of(seconds);
        (void) snprintf(buf, 32, "%04d-%02u-%02uT%02d:%02dZ", t.year, t.month, t.day, t.hour, t.minute);
        return buf;
}

char *date_stamp(int64_t seconds, char buf[32])
{
        const struct moment t = moment_of(seconds);
        (void) snprintf(buf, 32, "%04d%02u%02uT%02d%02d%02dZ", t.year, t.month, t.day, t.hour, t.minute,
                        t.second);
        return buf;
}

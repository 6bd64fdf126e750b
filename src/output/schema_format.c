/* SPDX-License-Identifier: MIT */
/* output/schema_format.c - the formats that are checked, where a caller asks for that. Strict and linear; a
 * format that is not listed is an annotation. Pure. */
#include "output/regex.h"
#include "output/schema.h"

#include <stdlib.h>

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static bool is_alnum(uint8_t c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }

/* Takes `n` digits; -1: they are not there. */
static int take_number(struct span *s, size_t n)
{
        int v = 0;
        if (s->n < n)
                return -1;
        for (size_t i = 0; i < n; i++) {
                if (!is_digit(s->p[i]))
                        return -1;
                v = v * 10 + s->p[i] - '0';
        }
        *s = span_of(s->p + n, s->n - n);
        return v;
}

static bool take_set(struct span *s, const char *set)
{
        if (s->n == 0 || !s->p[0] || !strchr(set, s->p[0]))
                return false;
        *s = span_of(s->p + 1, s->n - 1);
        return true;
}

static bool take_date(struct span *s)
{
        static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
        int year = take_number(s, 4);
        bool ok = year >= 0 && take_set(s, "-");
        int month = ok ? take_number(s, 2) : -1;
        ok = month >= 1 && month <= 12 && take_set(s, "-");
        int day = ok ? take_number(s, 2) : -1;
        bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        return day >= 1 && day <= days[month - 1] && (month != 2 || day < 29 || leap);
}

/* 23:59:60Z is a leap second, which happens at midnight UTC only. */
static bool take_time(struct span *s)
{
        int hour = take_number(s, 2), minute = take_set(s, ":") ? take_number(s, 2) : -1,
            second = take_set(s, ":") ? take_number(s, 2) : -1;
        if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
                return false;

        if (take_set(s, ".")) {
                if (take_number(s, 1) < 0)
                        return false;
                while (take_number(s, 1) >= 0)
                        ;
        }

        int sign = 0, zone = 0;
        if (!take_set(s, "Zz")) {
                sign = s->n && s->p[0] == '-' ? -1 : 1;
                if (!take_set(s, "+-"))
                        return false;
                int hours = take_number(s, 2), minutes = take_set(s, ":") ? take_number(s, 2) : -1;
                if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
                        return false;
                zone = hours * 60 + minutes;
        }
        int utc = (hour * 60 + minute - sign * zone + 2 * 1440) % 1440;
        return second < 60 || utc == 1439;
}

static bool is_date(struct span s) { return take_date(&s) && s.n == 0; }
static bool is_time(struct span s) { return take_time(&s) && s.n == 0; }
static bool is_date_time(struct span s)
{
        return take_date(&s) && take_set(&s, "Tt") && take_time(&s) && s.n == 0;
}

static bool is_ipv4(struct span s)
{
        for (int part = 0; part < 4; part++) {
                size_t n = 0;
                while (n < s.n && n < 4 && is_digit(s.p[n]))
                        n++;
                bool zero = n > 1 && s.p[0] == '0';
                int v = n ? take_number(&s, n) : -1;
                if (v < 0 || v > 255 || zero || (part < 3 && !take_set(&s, ".")))
                        return false;
        }
        return s.n == 0;
}

/* Groups of hexadecimal digits, one `::` at most, and perhaps an IPv4 address at the end. */
static bool is_ipv6(struct span s)
{
        int groups = 0;
        bool gap = false;
        if (s.n >= 2 && s.p[0] == ':') {
                if (s.p[1] != ':')
                        return false;
                gap = true;
                s = span_of(s.p + 2, s.n - 2);
        }

        while (s.n > 0 && groups < 8) {
                size_t n = 0;
                while (n < s.n && (is_digit(s.p[n]) || ((s.p[n] | 0x20) >= 'a' && (s.p[n] | 0x20) <= 'f')))
                        n++;
                if (n < s.n && s.p[n] == '.')
                        return is_ipv4(s) && (gap ? groups <= 5 : groups == 6);
                if (n == 0 || n > 4)
                        return false;
                groups++;
                s = span_of(s.p + n, s.n - n);
                if (s.n == 0)
                        break;
                if (!take_set(&s, ":") || s.n == 0)
                        return false;
                if (s.p[0] == ':') {
                        if (gap)
                                return false;
                        gap = true;
                        (void) take_set(&s, ":");
                }
        }

        return s.n == 0 && (gap ? groups < 8 : groups == 8);
}

static bool is_uuid(struct span s)
{
        for (size_t i = 0; i < s.n; i++) {
                bool dash = i == 8 || i == 13 || i == 18 || i == 23;
                uint8_t low = s.p[i] | 0x20;
                if (dash ? s.p[i] != '-' : !(is_digit(s.p[i]) || (low >= 'a' && low <= 'f')))
                        return false;
        }
        return s.n == 36;
}

static bool is_hostname(struct span s)
{
        size_t label = 0;
        for (size_t i = 0; i < s.n; i++) {
                bool dot = s.p[i] == '.';
                if (dot ? label == 0 || s.p[i - 1] == '-'
                        : !(is_alnum(s.p[i]) || (s.p[i] == '-' && label > 0)) || label == 63)
                        return false;
                label = dot ? 0 : label + 1;
        }
        return s.n > 0 && s.n <= 253 && label > 0 && s.p[s.n - 1] != '-';
}

static bool is_email(struct span s)
{
        size_t at = 0;
        while (at < s.n && s.p[at] != '@') {
                uint8_t c = s.p[at];
                bool dot = c == '.' && (at == 0 || s.p[at - 1] == '.');
                if (dot || !(is_alnum(c) || (c && strchr(".!#$%&'*+/=?^_`{|}~-", c))))
                        return false;
                at++;
        }
        return at > 0 && at < s.n && s.p[at - 1] != '.' && is_hostname(span_of(s.p + at + 1, s.n - at - 1));
}

static bool is_pointer(struct span s)
{
        for (size_t i = 0; i < s.n; i++)
                if ((i == 0 && s.p[i] != '/') ||
                    (s.p[i] == '~' && (i + 1 == s.n || (s.p[i + 1] != '0' && s.p[i + 1] != '1'))))
                        return false;
        return true;
}

static bool is_uri_text(struct span s)
{
        for (size_t i = 0; i < s.n; i++) {
                uint8_t c = s.p[i];
                if (c <= ' ' || c >= 0x7f || strchr("\"<>\\^`{|}", c))
                        return false;
                if (c == '%' && (i + 2 >= s.n || !strchr("0123456789abcdefABCDEF", s.p[i + 1]) ||
                                 !strchr("0123456789abcdefABCDEF", s.p[i + 2])))
                        return false;
        }
        return true;
}

static bool is_uri(struct span s)
{
        size_t n = 0;
        while (n < s.n && (is_alnum(s.p[n]) || (n > 0 && strchr("+-.", s.p[n]) && s.p[n])))
                n++;
        return n > 0 && n < s.n && s.p[n] == ':' && !is_digit(s.p[0]) && is_uri_text(s);
}

static bool is_regex(struct span s)
{
        const char *why;
        struct regex *r = regex_new(s, &why);
        regex_free(r);
        return r != NULL;
}

bool schema_format(struct span format, struct span text)
{
        static const struct {
                const char *name;
                bool (*is)(struct span);
        } rows[] = { { "date", is_date },
                     { "time", is_time },
                     { "date-time", is_date_time },
                     { "ipv4", is_ipv4 },
                     { "ipv6", is_ipv6 },
                     { "uuid", is_uuid },
                     { "hostname", is_hostname },
                     { "email", is_email },
                     { "json-pointer", is_pointer },
                     { "uri", is_uri },
                     { "uri-reference", is_uri_text },
                     { "regex", is_regex } };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (span_is(format, rows[i].name))
                        return rows[i].is(text);
        return true;
}

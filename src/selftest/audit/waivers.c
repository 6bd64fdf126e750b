/* SPDX-License-Identifier: MIT */
/* selftest/audit/waivers.c - debts that somebody accepted until a day, with a reason. Pure. A waiver without
 * an owner, an end or a reason is an error, and one that has ended waives nothing. */
#include "base/date.h"
#include "base/str.h"
#include "selftest/audit/audit.h"

#include <stdio.h>
#include <string.h>

enum { INCIDENTS_DEFAULT = 4 };

/* Days since 1970; -1: not a date. */
static int64_t day_number(const char *s)
{
        int64_t seconds;
        return strlen(s) == 10 && date_parse(s, &seconds) == 0 ? seconds / 86400 : -1;
}

bool audit_is_date(const char *text) { return day_number(text) >= 0; }

unsigned audit_days(const char *from, const char *to)
{
        int64_t a = day_number(from), b = day_number(to);
        return a < 0 || b < a ? 0 : (unsigned) (b - a);
}

/* The next word of the line; false: none, or it does not fit. */
static bool next_word(const char **at, char *ret, size_t cap)
{
        *at += strspn(*at, " \t");
        size_t n = strcspn(*at, " \t\n");
        if (n == 0 || n >= cap)
                return false;
        memcpy(ret, *at, n);
        ret[n] = '\0';
        *at += n;
        return true;
}

static const char *read_waiver(const char *at, const char *today, struct audit_waiver *w)
{
        char key[16];
        if (!next_word(&at, w->id, sizeof w->id))
                return "`waive` needs the id of a check";

        for (;;) {
                if (!next_word(&at, key, sizeof key))
                        return "a waiver needs `until DATE owner NAME reason TEXT`";
                if (strcmp(key, "reason") == 0)
                        break;
                bool end = strcmp(key, "until") == 0, owner = strcmp(key, "owner") == 0;
                if ((!end && !owner) ||
                    !next_word(&at, end ? w->end : w->owner, end ? sizeof w->end : sizeof w->owner))
                        return "a waiver needs `until DATE owner NAME reason TEXT`";
        }

        at += strspn(at, " \t");
        (void) snprintf(w->reason, sizeof w->reason, "%.*s", (int) strcspn(at, "\n"), at);
        if (!w->reason[0] || !w->owner[0] || !w->end[0])
                return "a waiver needs an end, an owner and a reason";
        if (!audit_is_date(w->end))
                return "`until` needs a date: 2027-01-31";

        w->expired = strcmp(w->end, today) < 0;
        return NULL;
}

static const char *read_line(const char *at, const char *today, struct audit_rules *r)
{
        char key[16], value[24];
        uint64_t n;
        if (!next_word(&at, key, sizeof key) || key[0] == '#')
                return NULL;

        if (strcmp(key, "waive") == 0) {
                if (r->n == sizeof r->v / sizeof *r->v)
                        return "there are too many waivers";
                return read_waiver(at, today, &r->v[r->n++]);
        }

        if (strcmp(key, "incidents") != 0)
                return "a line begins with `waive` or `incidents`";
        if (!next_word(&at, value, sizeof value) || str_to_u64(span_str(value), &n) < 0 || n > 1000000)
                return "`incidents` needs a number: how many a quarter may have";

        r->incidents = (unsigned) n;
        return NULL;
}

int audit_rules_read(const char *text, const char *today, struct audit_rules *ret, unsigned *ret_line,
                     const char **ret_why)
{
        *ret = (struct audit_rules){ .incidents = INCIDENTS_DEFAULT };
        for (unsigned line = 1; *text; line++) {
                const char *why = *text == '\n' ? NULL : read_line(text, today, ret);
                if (why) {
                        *ret_line = line;
                        *ret_why = why;
                        return -1;
                }
                text += strcspn(text, "\n");
                text += *text == '\n';
        }
        return 0;
}

const struct audit_waiver *audit_waiver_of(const struct audit_rules *r, const char *id)
{
        for (size_t i = 0; i < r->n; i++)
                if (strcmp(r->v[i].id, id) == 0)
                        return &r->v[i];
        return NULL;
}

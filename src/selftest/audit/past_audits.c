/* SPDX-License-Identifier: MIT */
/* selftest/audit/past_audits.c - what earlier audits recorded in the ledger: when, how much debt, and what
 * has been open since when. */
#include "selftest/audit/audit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void day_of(int64_t us, char ret[16])
{
        time_t s = (time_t) (us / 1000000);
        struct tm tm;
        if (!gmtime_r(&s, &tm) || strftime(ret, 16, "%Y-%m-%d", &tm) == 0)
                ret[0] = '\0';
}

/* "12 caps.time=2026-11-18 ...": what follows the number. */
static void keep_open(struct audit_past *p, const struct json *more)
{
        size_t at = 0;
        p->open[0] = '\0';
        for (unsigned g = 0; g < AUDIT_GROUP__COUNT; g++) {
                const char *list = strchr(json_text(more, audit_group_name(g)), ' ');
                int n = list ? snprintf(p->open + at, sizeof p->open - at, "%s ", list + 1) : 0;
                at += n > 0 && (size_t) n < sizeof p->open - at ? (size_t) n : 0;
        }
}

static void add_audit(void *ctx, const char *json, const char *line)
{
        enum { MOST = sizeof((struct audit_past *) 0)->trend / sizeof *((struct audit_past *) 0)->trend };
        struct audit_past *p = ctx;
        struct err ignored;
        (void) line;
        struct json_doc *d = json_parse("audit", span_str(json), &ignored);
        const struct json *o = d ? json_root(d) : NULL, *more = json_get(o, "more"),
                          *debt = json_get(more, "debt");
        int64_t time = json_int(o, "time");
        if (time && strcmp(json_text(o, "target"), "debt") == 0 && debt && debt->type == JSON_INT) {
                if (p->count == MOST)
                        memmove(p->trend, p->trend + 1, --p->count * sizeof *p->trend);
                day_of(time, p->trend[p->count].day);
                p->trend[p->count++].debt = (uint64_t) debt->integer;
                day_of(time, p->last);
                keep_open(p, more);
        }
        json_free(d);
}

void audit_past_read(struct audit_past *ret)
{
        cordon_error none;
        uint64_t cursor = 1; /* not from the first record: such a question would be recorded as a look */
        *ret = (struct audit_past){ 0 };
        (void) cordon_log_each(cli_context(), &(cordon_log_filter){ .kind = "audit" }, &cursor, add_audit,
                               ret, &none);
}

void audit_past_since(const struct audit_past *p, const char *id, char ret_since[16])
{
        size_t n = strlen(id);
        ret_since[0] = '\0';
        for (const char *at = p->open; (at = strstr(at, id)); at += n)
                if ((at == p->open || at[-1] == ' ') && at[n] == '=') {
                        (void) snprintf(ret_since, 16, "%.10s", at + n + 1);
                        if (!audit_is_date(ret_since))
                                ret_since[0] = '\0';
                        return;
                }
}

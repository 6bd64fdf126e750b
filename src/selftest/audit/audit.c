/* SPDX-License-Identifier: MIT */
/* selftest/audit/audit.c - `cordon selftest audit`: tries what must be refused, reads what the host and the
 * ledger say, and reports the debt, with its trend and the cheapest repairs. The audit itself is a record. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/serve/serve.h"
#include "selftest/audit/audit_report.h"
#include "selftest/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_DEFAULT = 100, MOST_MAX = 1000000, FILE_BYTES = 1 << 16 };

struct audit {
        const char *waivers;
        bool json, all, has_most;
        long most;
        char today[16];
        struct audit_rules rules;
        struct audit_past past;
        struct audit_evidence e;
        struct audit_item items[AUDIT_ITEMS_MAX];
        size_t n;
        char *tools;
};

static int set_most(void *ctx, const char *value)
{
        struct audit *a = ctx;
        a->has_most = true;
        return cli_number("--most", value, 0, MOST_MAX, &a->most);
}

const struct cli_option audit_options[] = {
        { "all", 'a', NULL, "also list the checks that hold", CLI_FLAG(struct audit, all) },
        { "most", 0, "DEBT", "exit with 1 if the debt exceeds this (default: 100)", set_most },
        { "waivers", 0, "FILE", "accepted debts, and the budget of incidents",
          CLI_TEXT(struct audit, waivers) },
        { "json", 0, NULL, "one object, for programs", CLI_FLAG(struct audit, json) },
        { 0 },
};

/* ---- waivers ---- */

static bool default_file(char *ret, size_t cap)
{
        const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
        int n = config && config[0] == '/' ? snprintf(ret, cap, "%s/cordon/waivers", config)
                : home && home[0] == '/'   ? snprintf(ret, cap, "%s/.config/cordon/waivers", home)
                                           : -1;
        return n > 0 && (size_t) n < cap && access(ret, F_OK) == 0;
}

static int read_rules(struct audit *a)
{
        char path[4096], text[FILE_BYTES] = "";
        const char *why = "", *file = a->waivers ? a->waivers : default_file(path, sizeof path) ? path : NULL;
        unsigned line = 0;
        if (file) {
                AUTO_FD(fd, cli_open_input("--waivers", file));
                ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
                if (n < 0)
                        return fd < 0 ? EXIT_CORDON : cli_problem("%s cannot be read", file);
                text[n] = '\0';
        }

        if (audit_rules_read(text, a->today, &a->rules, &line, &why) == 0)
                return 0;
        (void) cli_problem("%s:%u: %s", file, line, why);
        return cli_hint("waive caps.hit until 2027-01-31 owner alice reason the batch job is to reach it");
}

/* ---- evidence ---- */

static struct json_doc *parsed_json(char *text)
{
        struct err ignored;
        struct json_doc *d = text ? json_parse("evidence", span_str(text), &ignored) : NULL;
        cordon_free(text);
        return d;
}

/* The lints of all policies as one list. */
static int read_policies(struct audit *a, char **words, int n)
{
        AUTO_BUF(all);
        buf_putc(&all, '[');
        for (int i = 0; i < n; i++) {
                cordon_error e = { 0 };
                cordon_policy *p = cli_policy_new();
                char *notes = p && cli_policy_load(p, words[i], &e) == 0
                                      ? cordon_policy_view(p, CORDON_VIEW_NOTES_JSON, &e)
                                      : NULL;
                char *lines = notes ? cordon_policy_view(p, CORDON_VIEW_LINES, &e) : NULL;
                cordon_policy_free(p);
                if (!lines) {
                        cordon_free(notes);
                        return cli_error(&e);
                }

                size_t len = strlen(notes);
                while (len > 0 && notes[len - 1] != ']')
                        len--;
                if (len > 2)
                        buf_puts(&all, all.n > 1 ? "," : ""), buf_add(&all, notes + 1, len - 2);
                a->e.blast += a->e.blast == 1 && strstr(lines, " with ") != NULL;
                cordon_free(notes);
                cordon_free(lines);
        }

        struct err ignored;
        buf_putc(&all, ']');
        a->e.notes = json_parse("lints", buf_span(&all), &ignored);
        a->e.policies = (unsigned) n;
        return 0;
}

/* The widest reach of any run, and one more if a policy hands out a credential. */
static void find_blast(struct audit *a, int64_t since_us)
{
        static const char *const reaches[] = { "self", "tenant", "named", "public" };
        cordon_error none;
        unsigned widest = 0;
        struct json_doc *d = parsed_json(cordon_log_tools(cli_context(), since_us, 1, &none));
        for (const struct json *o = d ? json_root(d)->child : NULL; o; o = o->next) {
                for (unsigned i = widest + 1; i < 4; i++)
                        widest = strcmp(json_text(o, "reach"), reaches[i]) == 0 ? i : widest;
        }
        json_free(d);
        a->e.blast += widest;
        a->tools = cordon_log_tools(cli_context(), since_us, a->json, &none);
}

static void count_incident(void *ctx, const char *json, const char *line)
{
        (void) line;
        *(uint64_t *) ctx += strstr(json, "\"result\":\"incident\"") != NULL;
}

static void count_incidents(struct audit *a)
{
        time_t now = (time_t) clock_wall_s();
        struct tm tm;
        cordon_error none;
        uint64_t cursor = 1;
        if (!gmtime_r(&now, &tm))
                return;
        tm = (struct tm){ .tm_year = tm.tm_year, .tm_mon = tm.tm_mon / 3 * 3, .tm_mday = 1 };
        (void) cordon_log_each(
                cli_context(),
                &(cordon_log_filter){ .kind = "gate", .since_us = (int64_t) timegm(&tm) * 1000000 }, &cursor,
                count_incident, &a->e.incidents, &none);
}

static int try_breakout(struct audit *a)
{
        static char self[4096];
        char name[] = "audit", *argv[] = { name, NULL };
        struct err ignored;
        AUTO_BUF(out);
        if (!cli_self(self, sizeof self))
                return cli_usage("our own program cannot be found: /proc is not mounted");

        int status = selftest_breakout(1, argv, self, &out);
        if (status == 0 || status == 1)
                a->e.probes = json_parse("breakout", buf_span(&out), &ignored);
        return 0; /* attempts that could not be made are checks that are not judged */
}

static int gather_evidence(struct audit *a, char **words, int n)
{
        int64_t since_us = (clock_wall_s() - 90 * 86400) * 1000000;
        int ok = 0, failing = 0;
        cordon_error none;
        a->e = (struct audit_evidence){ .rules = &a->rules, .past = &a->past, .today = a->today, .blast = 1 };
        int status = read_policies(a, words, n);
        if (status == 0)
                status = try_breakout(a);
        if (status)
                return status;

        char config[4096];
        audit_past_read(&a->past);
        a->e.verified = parsed_json(cordon_verify(cli_context(), NULL, 1, &ok, &none));
        a->e.tenants = parsed_json(
                serve_config_path(environ, config, sizeof config) ? serve_audit(config, &none) : NULL);
        a->e.host = parsed_json(cordon_doctor(cli_context(), 1, &ok));
        a->e.layers = parsed_json(cordon_layers(cli_context(), since_us, 1, &failing, &none));
        find_blast(a, since_us);
        count_incidents(a);
        return 0;
}

/* ---- */

static int report_audit(struct audit *a)
{
        struct audit_score s;
        cordon_error e = { 0 };
        const char *asked = getenv("CORDON_LEDGER");
        AUTO_BUF(out);
        audit_score(a->items, a->n, a->e.blast, &s);
        const struct audit_report r = { &a->e, a->items, a->n, &s, a->tools };
        if (a->json)
                audit_report_json(&r, &out);
        else
                audit_report_text(&r, a->all, &out);

        int status = cli_put(&out);
        if (status)
                return status;

        if (!(asked && strcmp(asked, "off") == 0) && audit_report_record(&r, &e) < 0)
                cli_note("note: this audit is not in the ledger: %s", e.what);
        return s.total > (uint64_t) (a->has_most ? a->most : MOST_DEFAULT);
}

static int audit_host(struct audit *a, char **words, int n)
{
        time_t now = (time_t) clock_wall_s();
        struct tm tm;
        size_t count;
        const struct audit_check *checks = audit_checks(&count);
        if (!gmtime_r(&now, &tm) || strftime(a->today, sizeof a->today, "%Y-%m-%d", &tm) == 0)
                return cli_problem("the clock has no date");

        int status = read_rules(a);
        if (status == 0)
                status = gather_evidence(a, words, n);
        if (status)
                return status;

        for (a->n = 0; a->n < count; a->n++) {
                a->items[a->n].check = &checks[a->n];
                audit_judge(&a->e, &a->items[a->n]);
        }
        return report_audit(a);
}

int verb_audit(int argc, char **argv)
{
        static struct audit a;
        const struct cli_verb *verb = cli_verb_find("selftest audit");
        cli_options_first(argc, argv, verb);
        int at = cli_options(argc, argv, verb, &a, NULL);
        int status = at < 0 ? EXIT_CORDON : audit_host(&a, argv + at, argc - at);
        json_free(a.e.probes);
        json_free(a.e.host);
        json_free(a.e.layers);
        json_free(a.e.notes);
        json_free(a.e.verified);
        json_free(a.e.tenants);
        cordon_free(a.tools);
        return status;
}

/* SPDX-License-Identifier: MIT */
/* selftest/audit/evidence.c - judges each check by what was tried and found: attempts of the breakout, layers
 * of the host, facts of the ledger, lints of policies, and figures of the audit's own. */
#include "base/clock.h"
#include "base/str.h"
#include "selftest/audit/audit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SAY(it, ...) ((void) snprintf((it)->evidence, sizeof(it)->evidence, __VA_ARGS__))

static void audit_past_since(const struct audit_past *p, const char *id, char ret_since[16])
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

/* How many there are; a check without any has no object. */
static int64_t tenants_of(const struct audit_evidence *e, struct audit_item *it)
{
        int64_t n = e->tenants ? json_int(json_root(e->tenants), "tenants") : 0;
        if (n == 0 && !e->tenants) {
                SAY(it, "the directory of `cordon serve` cannot be read");
        } else if (n == 0) {
                it->state = AUDIT_NONE;
                SAY(it, "none configured: this state belongs to one user");
        }
        return n;
}

static void audit_by_tenants(const struct audit_evidence *e, struct audit_item *it)
{
        int64_t all = tenants_of(e, it);
        if (all == 0)
                return;

        const struct json *o = json_get(json_get(json_root(e->tenants), "facts"), it->check->arg);
        int64_t n = json_int(o, "count");
        audit_set_badness(it, audit_badness_of(n, it->check->whole));
        SAY(it, "%s: %lld, of %lld tenants%s%.120s", it->check->arg, (long long) n, (long long) all,
            n ? "; " : "", n ? json_text(o, "first") : "");
}

/* Only root gives each tenant's boxes ids of their own outside. */
static void audit_judge_users(const struct audit_evidence *e, struct audit_item *it)
{
        int64_t n = tenants_of(e, it);
        if (n == 0)
                return;

        bool shared = n > 1 && geteuid() != 0;
        audit_set_badness(it, shared ? 100 : 0);
        SAY(it, "%lld tenants%s", (long long) n,
            shared ? ", whose boxes all have this user's uid outside" : ", each with ids of its own outside");
}

static const struct json *heads_of(const struct audit_evidence *e)
{
        const struct json *j = e->verified ? json_get(json_root(e->verified), "tenants") : NULL;
        return j && j->type == JSON_ARRAY ? j->child : NULL;
}

static void audit_judge_heads(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned all = 0, bad = 0;
        const char *first = "";
        for (const struct json *o = heads_of(e); o; o = o->next) {
                all++;
                if (!json_is_true(o, "fits") && bad++ == 0)
                        first = json_text(o, "tenant");
        }

        if (all == 0) {
                it->state = AUDIT_NONE;
                SAY(it, "this ledger has no heads of tenants");
                return;
        }
        audit_set_badness(it, bad ? 100 : 0);
        SAY(it, "the ledgers of %u tenants were verified, %u do not fit their heads%s%.80s", all, bad,
            bad ? ": " : "", first);
}

static bool has_head(const struct audit_evidence *e, const char *tenant)
{
        for (const struct json *o = heads_of(e); o; o = o->next)
                if (strcmp(json_text(o, "tenant"), tenant) == 0)
                        return true;
        return false;
}

static void audit_judge_unheaded(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned all = 0, without = 0;
        const char *first = "";
        if (tenants_of(e, it) == 0)
                return;

        const struct json *list = json_get(json_root(e->tenants), "ledgers");
        for (const struct json *o = list ? list->child : NULL; o; o = o->next) {
                all++;
                if (o->type == JSON_STRING && !has_head(e, o->str) && without++ == 0)
                        first = o->str;
        }
        audit_set_badness(it, without ? 100 : 0);
        SAY(it, "%u tenants have a ledger, and this one has no head of %u%s%.80s", all, without,
            without ? ": " : "", first);
}

#define KNOCKOUT(cls, total, two, one, none, which)
#include "selftest/knockout.inc"

enum { WEAK_BADNESS = 40, MATRIX_DAYS = 180, UPTIME_DAYS = 90, SCHEMA_DAYS = 730, DAY_S = 86400 };

/* Overdue reviews are debt of whoever ships them. */
const struct audit_experiment audit_experiments[] = {
        { "wall wasm, and its JavaScript", "2027-05-01" },
        { "labels, and the two-of-three rule", "2027-05-01" },
        { "warm interpreters in parked boxes", "2027-05-01" },
        { "decoys, and the score of fatigue", "2027-05-01" },
        { "cordon mcp wrap: rules for tools", "2027-05-01" },
        { 0 },
};

#define SAY(it, ...) ((void) snprintf((it)->evidence, sizeof(it)->evidence, __VA_ARGS__))

/* ---- attempts ---- */

static bool probe_fits(const struct json *o, const char *arg)
{
        size_t cls = strcspn(arg, "/");
        const char *name = arg[cls] ? arg + cls + 1 : "", *is = json_text(o, "class");
        return strlen(is) == cls && strncmp(is, arg, cls) == 0 &&
               strncmp(json_text(o, "probe"), name, strlen(name)) == 0;
}

static void by_probe(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned all = 0, held = 0, escaped = 0, untold = 0;
        const char *which = "";
        const struct json *list = e->probes ? json_root(e->probes)->child : NULL;
        for (const struct json *o = list; o; o = o->next) {
                const char *outcome = json_text(o, "outcome");
                if (!probe_fits(o, it->check->arg))
                        continue;
                all++;
                held += strcmp(outcome, "held") == 0;
                untold += strcmp(outcome, "cannot-tell") == 0;
                if (strcmp(outcome, "ESCAPED") == 0) {
                        escaped++;
                        which = json_text(o, "probe");
                }
        }

        if (all == untold) {
                SAY(it, "%u attempts, and none could be judged", all);
                return;
        }
        audit_set_badness(it, escaped ? 100 : 0);
        if (escaped)
                SAY(it, "tried: %u of %u attempts went through: %.120s", escaped, all, which);
        else
                SAY(it, "tried: %u of %u attempts were held, %u granted or not promised", held, all - untold,
                    all - untold - held);
}

static void by_trial(const struct audit_evidence *e, struct audit_item *it)
{
        char why[200] = "";
        (void) e;
        int r = audit_trial(it->check->arg, why);
        SAY(it, "tried: %.180s", why);
        if (r >= 0)
                audit_set_badness(it, r ? 0 : 100);
}

/* ---- found ---- */

static void by_host(const struct audit_evidence *e, struct audit_item *it)
{
        const struct json *o = e->host ? json_root(e->host)->child : NULL;
        while (o && strcmp(json_text(o, "layer"), it->check->arg) != 0)
                o = o->next;
        if (!o) {
                SAY(it, "`cordon doctor` has no such layer");
                return;
        }

        const char *state = json_text(o, "state");
        audit_set_badness(it, strcmp(state, "yes") == 0    ? 0
                              : strcmp(state, "weak") == 0 ? WEAK_BADNESS
                                                           : 100);
        SAY(it, "%s: %.180s", state, json_text(o, "detail"));
}

/* -1: not known. */
static int64_t fact_of(const struct audit_evidence *e, const char *name)
{
        const struct json *facts = e->layers ? json_get(json_root(e->layers), "facts") : NULL,
                          *j = facts ? json_get(facts, name) : NULL;
        return !j || j->type != JSON_INT ? -1 : j->integer < 0 ? 0 : j->integer;
}

/* "unanswered/asked": a rate is bad from the percentage on at which `cordon ledger health` calls it
 * failing.
 */
static void by_rate(const struct audit_evidence *e, struct audit_item *it, const char *slash)
{
        char name[64];
        (void) snprintf(name, sizeof name, "%.*s", (int) (slash - it->check->arg), it->check->arg);
        int64_t n = fact_of(e, name), of = fact_of(e, slash + 1);
        if (n < 0 || of < 0) {
                SAY(it, "not known");
                return;
        }

        audit_set_badness(it, of > 0 && n * 100 / of >= (int64_t) it->check->whole ? 100 : 0);
        SAY(it, "%s: %lld of %lld", name, (long long) n, (long long) of);
}

static void by_fact(const struct audit_evidence *e, struct audit_item *it)
{
        const char *slash = strchr(it->check->arg, '/');
        if (slash) {
                by_rate(e, it, slash);
                return;
        }

        int64_t n = fact_of(e, it->check->arg);
        if (n < 0) {
                SAY(it, "not known");
                return;
        }

        audit_set_badness(it, audit_badness_of(n, it->check->whole));
        SAY(it, "%s: %lld", it->check->arg, (long long) n);
}

static void by_lint(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned n = 0;
        const struct json *list = e->notes ? json_root(e->notes)->child : NULL, *first = NULL;
        if (e->policies == 0) {
                it->state = AUDIT_NONE;
                SAY(it, "no policy was given");
                return;
        }

        for (const struct json *o = list; o; o = o->next)
                if (strcmp(json_text(o, "code"), it->check->arg) == 0) {
                        first = first ? first : o;
                        n++;
                }
        audit_set_badness(it, n ? 100 : 0);
        if (first)
                SAY(it, "%s: %u times; %.80s:%lld: %.80s", it->check->arg, n, json_text(first, "file"),
                    (long long) json_int(first, "line"), json_text(first, "text"));
        else
                SAY(it, "%s: in none of %u policies", it->check->arg, e->policies);
}

/* ---- the audit's own ---- */

static void judge_matrix(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned days = audit_days(KNOCKOUT_DATE, e->today);
        audit_set_badness(it, days > MATRIX_DAYS ? 100 : 0);
        SAY(it, "the knock-out matrix is of %s, Linux %s", KNOCKOUT_DATE, KNOCKOUT_KERNEL);
}

/* The corpora that docs/output.md names, and the day on which it has its figures. */
#define CORPUS_DATE "2026-11-18"

static void judge_corpus(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned days = audit_days(CORPUS_DATE, e->today);
        audit_set_badness(it, days > AUDIT_OVERDUE_DAYS ? 100 : 0);
        SAY(it, "output checks were measured on their corpora on %s", CORPUS_DATE);
}

static void judge_uptime(const struct audit_evidence *e, struct audit_item *it)
{
        struct timespec t;
        (void) e;
        (void) clock_gettime(CLOCK_BOOTTIME, &t);
        audit_set_badness(it, t.tv_sec > UPTIME_DAYS * DAY_S ? 100 : 0);
        SAY(it, "this kernel was started %lld days ago", (long long) t.tv_sec / DAY_S);
}

/* The day from which records have the fields that they have now. */
#define SCHEMA_DATE "2026-11-18"

/* Records that a later version wrote have fields that this one does not read: the longer, the worse. */
static void judge_schema(const struct audit_evidence *e, struct audit_item *it)
{
        const struct json *o = e->verified ? json_root(e->verified) : NULL;
        int64_t strange = json_int(o, "unknown_fields"), since = json_int(o, "unknown_fields_since"),
                days = since ? (clock_wall_s() - since / 1000000) / DAY_S : 0;
        unsigned age = audit_days(SCHEMA_DATE, e->today);
        audit_set_badness(it, strange == 0                ? (age > SCHEMA_DAYS ? WEAK_BADNESS : 0)
                              : days > AUDIT_OVERDUE_DAYS ? 100
                                                          : WEAK_BADNESS);
        if (strange)
                SAY(it, "%lld records have fields that this program does not know, for %lld days",
                    (long long) strange, (long long) days);
        else
                SAY(it, "the fields of records are those of %s, %u days ago, and all are known", SCHEMA_DATE,
                    age);
}

static void judge_overdue(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned days = audit_days(e->past->last, e->today);
        audit_set_badness(it, days > AUDIT_OVERDUE_DAYS ? 100 : 0);
        if (e->past->last[0])
                SAY(it, "the last audit was %u days ago, on %s", days, e->past->last);
        else
                SAY(it, "this is the first audit");
}

static void judge_waivers(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned n = 0;
        const char *first = "";
        for (size_t i = e->rules->n; i-- > 0;)
                if (e->rules->v[i].expired) {
                        n++;
                        first = e->rules->v[i].id;
                }
        audit_set_badness(it, n ? 100 : 0);
        SAY(it, "%zu waivers, %u of them have ended%s%s", e->rules->n, n, n ? ": " : "", first);
}

static void judge_experiments(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned all = 0, late = 0;
        for (const struct audit_experiment *x = audit_experiments; x->feature; x++) {
                all++;
                late += strcmp(x->review, e->today) < 0;
        }
        audit_set_badness(it, late ? 100 : 0);
        SAY(it, "%u features are on trial, %u reviews are overdue", all, late);
}

static void judge_budget(const struct audit_evidence *e, struct audit_item *it)
{
        audit_set_badness(it, e->incidents > e->rules->incidents ? 100 : 0);
        SAY(it, "%llu incidents in this quarter, of %u that it may have", (unsigned long long) e->incidents,
            e->rules->incidents);
}

static void judge_judged(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned all = 0, untold = 0;
        for (const struct json *o = e->probes ? json_root(e->probes)->child : NULL; o; o = o->next) {
                all++;
                untold += strcmp(json_text(o, "outcome"), "cannot-tell") == 0;
        }
        audit_set_badness(it, all == 0 ? 100 : untold * 100 / all);
        SAY(it, "%u of %u attempts could be judged", all - untold, all);
}

static void judge_policies(const struct audit_evidence *e, struct audit_item *it)
{
        it->state = e->policies ? AUDIT_HELD : AUDIT_NONE;
        SAY(it, "%u policies were given", e->policies);
}

static const struct {
        const char *id;
        void (*judge)(const struct audit_evidence *e, struct audit_item *it);
} own[] = {
        { "runtimes.matrix", judge_matrix },      { "runtimes.uptime", judge_uptime },
        { "validators.corpus", judge_corpus },    { "tenants.users", audit_judge_users },
        { "tenants.heads", audit_judge_heads },   { "tenants.unheaded", audit_judge_unheaded },
        { "schemas.age", judge_schema },          { "self.overdue", judge_overdue },
        { "self.waivers", judge_waivers },        { "self.experiments", judge_experiments },
        { "self.incident-budget", judge_budget }, { "self.judged", judge_judged },
        { "self.policies", judge_policies },
};

static void by_itself(const struct audit_evidence *e, struct audit_item *it)
{
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
                if (strcmp(own[i].id, it->check->arg) == 0)
                        own[i].judge(e, it);
}

/* A waiver keeps the evidence, and takes the debt away until its end. */
static void waive_item(const struct audit_evidence *e, struct audit_item *it)
{
        const struct audit_waiver *w = audit_waiver_of(e->rules, it->check->id);
        if (it->state == AUDIT_OPEN && w && !w->expired)
                it->state = AUDIT_WAIVED;
}

void audit_judge(const struct audit_evidence *e, struct audit_item *it)
{
        static void (*const judges[])(const struct audit_evidence *e, struct audit_item *it) = {
                [AUDIT_BY_PROBE] = by_probe,
                [AUDIT_BY_TRIAL] = by_trial,
                [AUDIT_BY_HOST] = by_host,
                [AUDIT_BY_FACT] = by_fact,
                [AUDIT_BY_LINT] = by_lint,
                [AUDIT_BY_ITSELF] = by_itself,
                [AUDIT_BY_TENANTS] = audit_by_tenants,
        };
        _Static_assert(sizeof judges / sizeof *judges == AUDIT_SOURCE__COUNT, "a judge for each source");

        judges[it->check->source](e, it);
        if (it->state != AUDIT_OPEN)
                return;

        audit_past_since(e->past, it->check->id, it->since);
        if (!it->since[0])
                (void) snprintf(it->since, sizeof it->since, "%s", e->today);
        it->days_open = audit_days(it->since, e->today);
        waive_item(e, it);
}

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

/* SPDX-License-Identifier: MIT */
/* run/api/api_layers.c - cordon_layers(): collects what policy/learn/layers.c judges, from the ledger, the
 * vault, the decisions of persons and the modes of the state's files. Reads only; a state that cannot be
 * opened is a fact like the others. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/store/store.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "policy/learn/learn.h"
#include "run/api/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 2 };

static void add_fact(struct learn_facts *f, enum learn_fact fact, int64_t n, const char *example)
{
        f->n[fact] += n;
        if (n > 0 && example)
                (void) snprintf(f->example[fact], LEARN_EXAMPLE, "%.95s", example);
}

/* ---- the ledger ---- */

static const struct {
        enum ledger_run_flag flag;
        enum learn_fact fact;
} of_runs[] = { { LEDGER_RUN_FAILED, FACT_RUNS_FAILED },
                { LEDGER_RUN_TRIPPED, FACT_TRIPPED },
                { LEDGER_RUN_NOT_STARTED, FACT_NOT_STARTED },
                { LEDGER_RUN_WEAK, FACT_WEAK },
                { LEDGER_RUN_CAPPED, FACT_CAPPED },
                { LEDGER_RUN_NO_GROUPS, FACT_NO_GROUPS },
                { LEDGER_RUN_DENIED_NET, FACT_DENIED_NET },
                { LEDGER_RUN_DENIED_SECRET, FACT_DENIED_CREDENTIAL },
                { LEDGER_RUN_OUTPUT_REFUSED, FACT_OUTPUT_REFUSED },
                { LEDGER_RUN_OUTPUT_CUT, FACT_OUTPUT_CUT },
                { LEDGER_RUN_OUTPUT_FOUND, FACT_OUTPUT_FOUND },
                { LEDGER_RUN_UNEXPLAINED, FACT_UNEXPLAINED } };

/* Without an end, and no keeper is there: its keeper was killed. Effects under way are not unknown yet. */
static void add_open_run(struct learn_facts *f, const struct ledger_run *r)
{
        char id[LEDGER_ID_MAX];
        bool ended = ledger_run_is(r, LEDGER_RUN_ENDED), unknown = ledger_run_is(r, LEDGER_RUN_UNKNOWN);
        if ((ended && !unknown) || (!ended && box_runs(ledger_plain(r->id, id, sizeof id))))
                return;

        (void) ledger_plain(r->id, id, sizeof id);
        add_fact(f, FACT_UNFINISHED, !ended, id);
        add_fact(f, FACT_UNKNOWN, unknown, id);
}

static void add_runs(struct learn_facts *f, const struct ledger_runs *t)
{
        char id[LEDGER_ID_MAX];
        const struct ledger_run *newest;
        int64_t doors = 0, used = 0;
        f->n[FACT_RUNS] = (int64_t) t->n;
        for (size_t i = 0; i < sizeof of_runs / sizeof *of_runs; i++) {
                uint64_t n = ledger_runs_count(t, of_runs[i].flag, &newest);
                add_fact(f, of_runs[i].fact, (int64_t) n,
                         newest ? ledger_plain(newest->id, id, sizeof id) : NULL);
        }

        for (size_t i = 0; i < t->n; i++) {
                const struct ledger_run *r = &t->v[i];
                bool narrow = ledger_run_is(r, LEDGER_RUN_FAILED) && ledger_run_is(r, LEDGER_RUN_DENIED);
                add_fact(f, FACT_FAILED_DENIED, narrow, ledger_plain(r->id, id, sizeof id));
                add_open_run(f, r);
                doors += r->observed ? r->doors : 0;
                used += r->observed ? (r->used < r->doors ? r->used : r->doors) : 0;
        }

        f->n[FACT_UNUSED_DOORS] = doors > 0 ? (doors - used) * 100 / doors : 0;
}

static void add_sums(struct learn_facts *f, const struct ledger_runs *t)
{
        add_fact(f, FACT_ASKED, (int64_t) t->sum[LEDGER_SUM_ASKED], NULL);
        add_fact(f, FACT_UNANSWERED, (int64_t) t->sum[LEDGER_SUM_EXPIRED], NULL);
        add_fact(f, FACT_INCIDENTS, (int64_t) t->sum[LEDGER_SUM_INCIDENTS], NULL);
        add_fact(f, FACT_GAPS, (int64_t) t->sum[LEDGER_SUM_GAPS], NULL);
}

static void add_verified(const struct cordon_context *cx, struct learn_facts *f, int dir)
{
        struct err e;
        bool ok = false;
        AUTO_BUF(out);
        if (ledger_verify_host(cx, dir, "", true, &out, &ok, &e) < 0)
                add_fact(f, FACT_UNREADABLE, 1, e.what);
        else if (!ok)
                add_fact(f, FACT_ALTERED, 1, "cordon ledger verify");
}

static int add_ledger(const struct cordon_context *cx, struct learn_facts *f, int64_t since_us, struct err *e)
{
        AUTO_FD(dir, ledger_dir_open(cx, false, e));
        if (dir < 0) {
                bool is_new = e->code == ERR_GONE || e->sys == ENOENT;
                add_fact(f, FACT_UNREADABLE, !is_new && f->n[FACT_OPEN_STATE] == 0, e->what);
                return 0;
        }

        struct ledger_runs t = { 0 };
        struct ledger_log *l = ledger_log_open(dir, e);
        if (!l) {
                add_fact(f, FACT_UNREADABLE, 1, e->what);
                return 0;
        }

        int r = ledger_runs_read(l, since_us, &t, e);
        if (r == 0) {
                add_runs(f, &t);
                add_sums(f, &t);
                add_verified(cx, f, dir);
        }

        ledger_runs_done(&t);
        ledger_log_free(l);
        return r;
}

/* ---- the vault, and persons ---- */

struct vault_count {
        struct learn_facts *f;
        int64_t now;
};

static void add_credential(void *ctx, const struct vault_meta *m)
{
        static const enum learn_fact facts[VAULT_DEBT__COUNT] = {
                [VAULT_DEBT_LIFETIME] = FACT_LONG_CREDENTIALS,
                [VAULT_DEBT_GROWTH] = FACT_GROWN_CREDENTIALS,
                [VAULT_DEBT_EXPIRED] = FACT_EXPIRED_CREDENTIALS,
                [VAULT_DEBT_UNBOUND] = FACT_UNBOUND_CREDENTIALS,
        };
        struct vault_count *c = ctx;
        for (enum vault_debt d = 0; d < VAULT_DEBT__COUNT; d++)
                add_fact(c->f, facts[d], vault_owes(m, d, c->now), m->name);
}

static void add_persons(const struct cordon_context *cx, struct learn_facts *f)
{
        struct err ignored;
        AUTO_BUF(text);
        struct json_doc *d = box_approvals(cx, true, &text) < 0
                                     ? NULL
                                     : json_parse("approvals", buf_span(&text), &ignored);
        const struct json *persons = d ? json_get(json_root(d), "persons") : NULL,
                          *gates = d ? json_get(json_root(d), "gates") : NULL;
        for (const struct json *p = persons ? persons->child : NULL; p; p = p->next) {
                char who[32];
                const struct json *flagged = json_get(p, "flagged");
                (void) snprintf(who, sizeof who, "uid %lld", (long long) json_int(p, "uid"));
                add_fact(f, FACT_TIRED, flagged && flagged->type == JSON_TRUE, who);
        }

        for (const struct json *g = gates ? gates->child : NULL; g; g = g->next) {
                add_fact(f, FACT_STALE_GATES, json_is_true(g, "stale"), json_text(g, "door"));
        }
        json_free(d);
}

/* ---- the state's files ---- */

/* Overlays hold files of boxes, with any mode: what is below their directory is closed by that. */
static bool is_looked_into(const char *name)
{
        static const char *const names[] = { "ledger", "vault", "gate", "witness" };
        return str_row(names, sizeof names / sizeof *names, name) >= 0;
}

static bool is_open_to_others(const struct stat *st)
{
        bool for_others = !S_ISLNK(st->st_mode) && (st->st_mode & 077) != 0;
        return for_others || st->st_uid != geteuid();
}

static void look_at(struct learn_facts *f, int at, const char *name, const char *path, unsigned depth)
{
        struct stat st;
        if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return;

        add_fact(f, FACT_OPEN_STATE, is_open_to_others(&st), path);
        if (!S_ISDIR(st.st_mode) || depth > DEPTH_MAX || (depth == 1 && !is_looked_into(name)))
                return;

        int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d) {
                if (fd >= 0)
                        (void) close(fd);
                return;
        }

        for (struct dirent *n; (n = readdir(d));) {
                char below[STORE_PATH_MAX + 300];
                if (strcmp(n->d_name, ".") == 0 || strcmp(n->d_name, "..") == 0)
                        continue;
                (void) snprintf(below, sizeof below, "%s/%s", path, n->d_name);
                look_at(f, dirfd(d), n->d_name, below, depth + 1);
        }
        (void) closedir(d);
}

/* ---- */

char *cordon_layers(const cordon_context *cx, int64_t since_us, int json, int *ret_failing, cordon_error *e)
{
        char path[STORE_PATH_MAX];
        struct err ignored;
        AUTO_BUF(out);
        struct learn_facts *f = calloc(1, sizeof *f);
        if (!f) {
                (void) err_set(to_err(e), ERR_MEMORY, 0, "no memory");
                return NULL;
        }

        int r = store_path(cx, path, to_err(e));
        if (r == 0) {
                look_at(f, AT_FDCWD, path, path, 0);
                r = add_ledger(cx, f, since_us, to_err(e));
        }

        if (r == 0 && access(path, F_OK) == 0) {
                struct vault_count c = { f, clock_wall_s() };
                (void) vault_list(cx, add_credential, &c, &ignored); /* a state that is open is found above */
                add_persons(cx, f);
        }

        if (r == 0) {
                struct learn_finding found[LEARN_LAYER__COUNT];
                (json ? learn_layers_json : learn_layers_text)(f, &out);
                learn_layers(f, found);
                *ret_failing = found[0].state >= LEARN_FAILING;
        }

        free(f);
        return r < 0 ? NULL : api_give(&out, to_err(e));
}

/* SPDX-License-Identifier: MIT */
/* face/serve/tenant.c - makes tenants. The only file that turns a tenant's name into a path. */
#include "face/serve/tenant.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "face/serve/internal.h"
#include "face/serve/tenant_identity.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TENANTS_MAX = 1024, VARIABLES_MAX = 32, POLICIES_MAX = 64, POLICY_STALE_S = 10, PATH_BYTES = 4096 };

struct held_policy {
        unsigned refs;
        char name[TOKEN_NAME_MAX];
        cordon_policy *policy;
        const char *directory; /* of its tenant */
        bool gpu;
        struct timespec changed; /* of its file */
        int64_t read_s;
};

struct tenant {
        char name[TOKEN_NAME_MAX], mark[65];
        char path[PATH_BYTES], work[PATH_BYTES + 8];
        int dir, root;
        char *environment[VARIABLES_MAX + 1];
        cordon_context *cx;
        struct timespec changed; /* of tenant.json */
        struct budget budget;
        struct bucket rate;
        struct fair_queue turns;
        bool alone;
        char pool[16]; /* CORDON_POOL of its boxes */
        struct tenant_keep keep;
        unsigned box_runs;
        bool own; /* of the user who runs the server */
        struct tenant_book book;
        struct held_policy *policies[POLICIES_MAX];
};

struct tenants {
        int dir;
        const char *config;
        char *const *environment;
        struct budget *host;
        int (*opened)(void *ctx, struct tenant *t, cordon_error *e);
        void *ctx;
        struct tenant *v[TENANTS_MAX];
        size_t n;
};

const char *tenant_label(const struct tenant *t) { return t->name; }
const cordon_context *tenant_context(const struct tenant *t) { return t->cx; }
void tenant_act_for(struct tenant *t, const char *person) { cordon_context_actor(t->cx, person); }
int tenant_root(const struct tenant *t) { return t->root; }
void tenant_descriptors(const struct tenant *t, int ret[2])
{
        ret[0] = t->dir;
        ret[1] = t->root;
}
void tenant_path(const struct tenant *t, const char *below, char *ret, size_t cap)
{
        (void) snprintf(ret, cap, "%s/%s", t->path, below);
}
struct budget *tenant_budget(struct tenant *t) { return &t->budget; }
unsigned tenant_box_runs(const struct tenant *t) { return t->box_runs; }
struct bucket *tenant_rate(struct tenant *t) { return &t->rate; }
int tenant_dir(const struct tenant *t) { return t->dir; }
const struct tenant_keep *tenant_keep(const struct tenant *t) { return &t->keep; }
struct fair_queue *tenant_turns(struct tenant *t) { return &t->turns; }
struct tenant_book *tenant_book(struct tenant *t) { return &t->book; }
bool tenant_is_alone(const struct tenant *t) { return t->alone; }
const char *tenant_pool(const struct tenant *t) { return t->pool; }

struct tenants *tenants_new(int dir, const char *config, char *const *environment, struct budget *host,
                            int (*opened)(void *ctx, struct tenant *t, cordon_error *e), void *ctx)
{
        struct tenants *ts = calloc(1, sizeof *ts);
        if (ts)
                *ts = (struct tenants){ .dir = dir,
                                        .config = config,
                                        .environment = environment,
                                        .host = host,
                                        .opened = opened,
                                        .ctx = ctx };
        return ts;
}

/* ---- its environment ---- */

/* Variables of the operator that boxes need; everything else is the tenant's own. */
static bool is_passed(const char *variable)
{
        static const char *const names[] = { "PATH=", "LANG=", "TZ=", "XDG_RUNTIME_DIR=", "CORDON_LIBEXEC=" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (strncmp(variable, names[i], strlen(names[i])) == 0)
                        return true;
        return false;
}

/* What is kept for its boxes has keys that no other tenant can make. */
static int set_identity(const struct tenants *ts, struct tenant *t, struct err *e)
{
        cordon_tenant own;
        if (tenant_identity(ts->dir, t->name, &own, e) < 0)
                return -1;

        own.own_core = 1;
        own.name = t->name;
        cordon_context_tenant(t->cx, &own);
        explicit_bzero(&own, sizeof own);
        return 0;
}

static bool make_context(struct tenant *t, char *const *environment)
{
        size_t n = 0;
        bool good = asprintf(&t->environment[n++], "CORDON_STATE=%s/state", t->path) > 0 &&
                    asprintf(&t->environment[n++], "HOME=%s/home", t->path) > 0;
        for (; good && *environment && n < VARIABLES_MAX; environment++)
                if (is_passed(*environment))
                        good = (t->environment[n++] = strdup(*environment)) != NULL;

        t->cx = good ? cordon_context_new(t->environment) : NULL;
        return t->cx != NULL;
}

/* ---- its budgets ---- */

#define NUMBER(name)                                                                                         \
        {                                                                                                    \
                .key = (name), .type = BODY_INT, .most = INT64_MAX                                           \
        }
static const struct body_row settings[] = { NUMBER("runs"),
                                            NUMBER("queue"),
                                            NUMBER("sessions"),
                                            NUMBER("session_runs"),
                                            NUMBER("parked"),
                                            NUMBER("weight"),
                                            NUMBER("rate"),
                                            NUMBER("gpu_boxes"),
                                            NUMBER("keep_s"),
                                            NUMBER("keep_bytes"),
                                            { .key = "share", .type = BODY_BOOL } };

const struct body_form tenant_form = { BODY_TYPED, 65536, settings, sizeof settings / sizeof *settings };

static uint64_t setting(const struct json *o, const char *key, uint64_t otherwise, uint64_t most)
{
        uint64_t n = (uint64_t) json_int_or(o, key, (int64_t) otherwise);
        return n < most ? n : most;
}

/* "parked": 0 is none; without it as many as the server has room for. */
static void set_pool(struct tenant *t, const struct json *o)
{
        enum { ANY = 1001 };
        unsigned n = t->alone ? 0 : (unsigned) setting(o, "parked", ANY, ANY);
        if (n == 0 || n == ANY)
                (void) snprintf(t->pool, sizeof t->pool, "%s", n ? "auto" : "off");
        else
                (void) snprintf(t->pool, sizeof t->pool, "auto:%u", n);
}

static void take_settings(struct tenant *t, const struct json *o)
{
        enum { KEPT_BYTES = 64 << 20 };
        t->budget.limit[BUDGET_RUNS] = setting(o, "runs", 8, 1024);
        t->budget.limit[BUDGET_QUEUE] = setting(o, "queue", 64, 4096);
        t->budget.limit[BUDGET_SESSIONS] = setting(o, "sessions", 4, 64);
        t->budget.limit[BUDGET_GPUS] = setting(o, "gpu_boxes", 1, 256);
        t->box_runs = (unsigned) setting(o, "session_runs", 4, 64);
        t->budget.limit[BUDGET_ASIDE] = 4;
        t->budget.limit[BUDGET_BYTES] = KEPT_BYTES;
        t->keep.s = (int64_t) setting(o, "keep_s", 7 * 86400, 3650ull * 86400);
        t->keep.bytes = setting(o, "keep_bytes", 1ull << 30, 1ull << 50);
        t->alone = json_of(o, "share", JSON_FALSE);
        set_pool(t, o);
        t->turns.weight = (unsigned) setting(o, "weight", 1, 100);
        t->rate.per_s = setting(o, "rate", 500, 100000);
        t->rate.most = t->rate.per_s;
}

/* Again when the file has changed. One that is malformed: nothing changes, and at first nothing is allowed.
 */
static int load_settings(struct tenant *t, struct err *e)
{
        enum { SETTINGS_MAX = 65536 };
        struct stat st;
        if (fstatat(t->dir, "tenant.json", &st, AT_SYMLINK_NOFOLLOW) < 0)
                return err_set(e, ERR_USAGE, errno, "tenant.json: %s", strerror(errno));

        if (memcmp(&st.st_mtim, &t->changed, sizeof t->changed) == 0)
                return 0;

        char text[SETTINGS_MAX];
        AUTO_FD(fd, fd_open2(t->dir, "tenant.json", O_RDONLY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
        ssize_t n = fd < 0 ? -1 : fd_read_all(fd, text, sizeof text);
        struct json_doc *d = n < 0 ? NULL : json_parse("tenant.json", span_of(text, (size_t) n), e);
        if (n < 0)
                return err_set(e, ERR_IO, errno, "tenant.json: %s", strerror(errno));
        if (!d)
                return -1;

        int bad = body_check(json_root(d), &tenant_form, e);
        if (bad == 0) {
                take_settings(t, json_root(d));
                t->changed = st.st_mtim;
        }
        json_free(d);
        return bad < 0 ? err_in(e, "tenant.json: ") : 0;
}

/* ---- life ---- */

static void held_free(struct held_policy *h)
{
        if (h)
                cordon_policy_free(h->policy);
        free(h);
}

void held_policy_release(struct held_policy *h)
{
        if (h && --h->refs == 0)
                held_free(h);
}

cordon_policy *held_policy(struct held_policy *h) { return h->policy; }
bool held_policy_gpu(const struct held_policy *h) { return h->gpu; }
const char *held_policy_directory(const struct held_policy *h) { return h->directory; }

static void tenant_free(struct tenant *t)
{
        for (size_t i = 0; i < POLICIES_MAX; i++)
                held_policy_release(t->policies[i]);
        cordon_context_free(t->cx);
        free(t->book.usage.v);
        for (size_t i = 0; i < VARIABLES_MAX; i++)
                free(t->environment[i]);
        fd_close(&t->root);
        fd_close(&t->dir);
        free(t);
}

void tenants_free(struct tenants *ts)
{
        for (size_t i = 0; ts && i < ts->n; i++)
                tenant_free(ts->v[i]);
        free(ts);
}

static int open_dirs(const struct tenants *ts, struct tenant *t, struct err *e)
{
        char below[TOKEN_NAME_MAX + 16];
        (void) snprintf(below, sizeof below, "tenants/%s", t->name);
        int n = snprintf(t->path, sizeof t->path, "%s/%s", ts->config, below);
        (void) snprintf(t->work, sizeof t->work, "%s/files", t->path);
        t->dir = fd_open2(ts->dir, below, O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        t->root = t->dir < 0 ? -1
                             : fd_open2(t->dir, "files", O_RDONLY | O_DIRECTORY,
                                        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        if (t->root < 0 || n < 0 || (size_t) n >= sizeof t->path)
                return err_set(e, ERR_GONE, errno, "the tenant's directory cannot be opened: %s",
                               strerror(errno));
        return 0;
}

struct tenant *tenant_of(struct tenants *ts, const struct token *token, cordon_error *e)
{
        struct tenant *t = NULL;
        for (size_t i = 0; i < ts->n && !t; i++)
                if (strcmp(ts->v[i]->name, token->tenant) == 0 && strcmp(ts->v[i]->mark, token->mark) == 0)
                        t = ts->v[i];
        if (t)
                return t->own || load_settings(t, (struct err *) e) == 0 ? t : NULL;

        char mark[sizeof token->mark];
        if (!tenant_mark(ts->dir, token->tenant, mark) || strcmp(mark, token->mark) != 0) {
                (void) err_set((struct err *) e, ERR_GONE, ESTALE,
                               "the token %s was made for a tenant %s that does not exist any more",
                               token->id, token->tenant);
                return NULL;
        }

        if (ts->n == TENANTS_MAX || !(t = calloc(1, sizeof *t))) {
                (void) err_set((struct err *) e, ERR_GONE, 0, "the token belongs to no tenant");
                return NULL;
        }

        memcpy(t->name, token->tenant, sizeof t->name);
        memcpy(t->mark, token->mark, sizeof t->mark);
        t->dir = t->root = -1;
        t->budget.above = ts->host;
        if (open_dirs(ts, t, (struct err *) e) < 0 || load_settings(t, (struct err *) e) < 0 ||
            !make_context(t, ts->environment) || set_identity(ts, t, (struct err *) e) < 0) {
                tenant_free(t);
                return NULL;
        }

        t->rate.at_ns = clock_mono_ns();
        t->rate.micro = t->rate.most * 1000000;
        if (ts->opened && ts->opened(ts->ctx, t, e) < 0) {
                tenant_free(t);
                return NULL;
        }

        return ts->v[ts->n++] = t;
}

/* `root *`: any image of the tenant. There the ceiling has the root of the request, or none. */
static bool put_ceiling_lines(const char *text, struct span root, struct buf *out)
{
        bool any = false;
        for (size_t n; *text; text += n + (text[n] == '\n')) {
                n = strcspn(text, "\n");
                bool here = strncmp(text, "root", 4) == 0 && strspn(text + 4, " \t*") == n - 4 &&
                            memchr(text, '*', n);
                any |= here;
                buf_add(out, here ? (const char *) root.p : text, here ? root.n : n);
                buf_putc(out, '\n');
        }
        return any;
}

int tenant_check_text(const struct tenants *ts, const char *name, struct span text, cordon_error *e)
{
        char work[PATH_BYTES], home[PATH_BYTES];
        (void) snprintf(work, sizeof work, "%s/tenants/%.64s/files", ts->config, name);
        (void) snprintf(home, sizeof home, "%s/tenants/%.64s/home", ts->config, name);
        AUTO_BUF(whole);
        AUTO_BUF(lines);
        buf_add(&whole, text.p, text.n);
        (void) put_ceiling_lines(buf_str(&whole), (struct span){ 0 }, &lines);
        cordon_context *cx = cordon_context_new(ts->environment);
        cordon_policy *p = cx ? cordon_policy_new(cx) : NULL;
        int r = p && cordon_policy_roots(p, work, home, e) == 0 &&
                                cordon_policy_add_text(p, "ceiling", buf_str(&lines), lines.n, e) == 0
                        ? cordon_policy_check(p, e)
                        : -1;
        cordon_policy_free(p);
        cordon_context_free(cx);
        return r;
}

struct resuming {
        struct tenants *ts;
        void (*failed)(void *ctx, const char *name);
};

static void resume_one(void *ctx, const char *name)
{
        const struct resuming *r = ctx;
        struct token token = { 0 };
        char below[TOKEN_NAME_MAX + 32];
        cordon_error e;
        (void) snprintf(below, sizeof below, "tenants/%.64s/runs", name);
        (void) snprintf(token.tenant, sizeof token.tenant, "%s", name);
        if (faccessat(r->ts->dir, below, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
            tenant_mark(r->ts->dir, name, token.mark) && !tenant_of(r->ts, &token, &e))
                r->failed(r->ts->ctx, name);
}

void tenants_resume(struct tenants *ts, void (*failed)(void *ctx, const char *name))
{
        struct resuming r = { ts, failed };
        names_each(ts->dir, "tenants", "", resume_one, &r);
}

int tenants_own(struct tenants *ts, const char *name, struct err *e)
{
        struct tenant *t = calloc(1, sizeof *t);
        struct json_doc *none = json_parse("settings", span_str("{}"), e);
        if (t && none) {
                (void) snprintf(t->name, sizeof t->name, "%s", name);
                t->own = true;
                t->dir = t->root = -1;
                t->budget.above = ts->host;
                take_settings(t, json_root(none));
                t->rate.at_ns = clock_mono_ns();
                t->rate.micro = t->rate.most * 1000000;
                t->cx = cordon_context_new(ts->environment);
        }

        json_free(none);
        if (t && t->cx) {
                ts->v[ts->n++] = t;
                return 0;
        }
        free(t);
        return err_set(e, ERR_MEMORY, 0, "no memory for the page");
}

struct tenant *tenants_at(const struct tenants *ts, size_t index)
{
        return index < ts->n ? ts->v[index] : NULL;
}

struct states {
        const struct tenants *ts;
        void (*each)(void *ctx, const char *name, const char *state);
        void *ctx;
};

static void tell_state(void *ctx, const char *name)
{
        char state[PATH_BYTES + TOKEN_NAME_MAX + 32];
        const struct states *s = ctx;
        (void) snprintf(state, sizeof state, "%s/tenants/%.64s/state", s->ts->config, name);
        s->each(s->ctx, name, state);
}

void tenants_states(const struct tenants *ts, void (*each)(void *ctx, const char *name, const char *state),
                    void *ctx)
{
        struct states s = { ts, each, ctx };
        names_each(ts->dir, "tenants", "", tell_state, &s);
}

/* ---- policies ---- */

int tenant_roots(const struct tenant *t, cordon_policy *p)
{
        char home[PATH_BYTES + 8];
        cordon_error e;
        (void) snprintf(home, sizeof home, "%s/home", t->path);
        return cordon_policy_roots(p, t->work, home, &e);
}

static struct held_policy *held_new(const struct tenant *t, const char *name)
{
        struct held_policy *h = calloc(1, sizeof *h);
        if (!h)
                return NULL;

        (void) snprintf(h->name, sizeof h->name, "%s", name);
        h->refs = 1;
        h->policy = cordon_policy_new(t->cx);
        if (h->policy && tenant_roots(t, h->policy) == 0)
                return h;

        held_free(h);
        return NULL;
}

const char *tenant_start_directory(const struct tenant *t, cordon_policy *p)
{
        char effect[PATH_BYTES + 16];
        cordon_error ignored;
        int allowed = 0;
        (void) snprintf(effect, sizeof effect, "read %s", t->work);
        cordon_free(cordon_policy_why(p, effect, 0, &allowed, &ignored));
        return allowed ? t->work : NULL;
}

bool tenant_opens_gpu(cordon_policy *p)
{
        static const char *const shared[] = { "dev /dev/nvidiactl", "dev /dev/kfd" }; /* by each `gpu` line */
        cordon_error ignored;
        int allowed = 0;
        for (size_t i = 0; i < sizeof shared / sizeof *shared && !allowed; i++)
                cordon_free(cordon_policy_why(p, shared[i], 0, &allowed, &ignored));
        return allowed;
}

/* A budget that the operator sets is a number: no policy of a tenant, its ceiling least of all, lifts one. */
static int check_limits(struct held_policy *h, cordon_error *e)
{
        cordon_note n;
        for (size_t i = 0; cordon_policy_note(h->policy, i, &n, e) > 0; i++)
                if (strcmp(n.code, "W153") == 0)
                        return err_set((struct err *) e, ERR_POLICY, EPERM, "%s:%u:%u: %s", n.file, n.line,
                                       n.column, n.text);
        return 0;
}

/* Checks it, and finds out where its boxes can start. */
static int check(const struct tenant *t, struct held_policy *h, cordon_error *e)
{
        if (cordon_policy_check(h->policy, e) < 0 || check_limits(h, e) < 0)
                return -1;

        h->directory = tenant_start_directory(t, h->policy);
        h->gpu = tenant_opens_gpu(h->policy);
        return 0;
}

static struct held_policy *load_policy(const struct tenant *t, const char *file, const char *name,
                                       cordon_error *e)
{
        char path[PATH_BYTES + 128];
        struct held_policy *h = held_new(t, name);
        (void) snprintf(path, sizeof path, "%s/%s", t->path, file);
        if (!h)
                (void) err_set((struct err *) e, ERR_MEMORY, 0, "no memory for a policy");
        if (h && cordon_policy_add_file(h->policy, path, e) == 0 && check(t, h, e) == 0)
                return h;

        held_free(h);
        return NULL;
}

static size_t slot_of(const struct tenant *t, const char *name)
{
        size_t i = 0;
        while (i < POLICIES_MAX && t->policies[i] && strcmp(t->policies[i]->name, name) != 0)
                i++;
        return i < POLICIES_MAX ? i : POLICIES_MAX - 1;
}

struct held_policy *tenant_policy(struct tenant *t, const char *name, cordon_error *e)
{
        struct stat st;
        char file[TOKEN_NAME_MAX + 32];
        (void) snprintf(file, sizeof file, "policies/%.64s.cordon", name);
        if (!token_is_name(name) || fstatat(t->dir, file, &st, AT_SYMLINK_NOFOLLOW) < 0) {
                (void) err_set((struct err *) e, ERR_USAGE, ENOENT, "no such policy is registered");
                (void) err_hint((struct err *) e, "GET /v1/policies lists them");
                return NULL;
        }

        size_t i = slot_of(t, name);
        struct held_policy *h = t->policies[i];
        int64_t now = (int64_t) (clock_mono_ns() / 1000000000);
        bool fresh = h && strcmp(h->name, name) == 0 &&
                     memcmp(&h->changed, &st.st_mtim, sizeof h->changed) == 0 &&
                     now - h->read_s < POLICY_STALE_S;
        if (!fresh) {
                struct held_policy *newer = load_policy(t, file, name, e);
                if (!newer)
                        return NULL;
                newer->changed = st.st_mtim;
                newer->read_s = now;
                held_policy_release(h);
                h = t->policies[i] = newer;
        }

        h->refs++;
        return h;
}

struct held_policy *tenant_policy_own(struct tenant *t, const char *name, cordon_error *e)
{
        struct held_policy *shared = tenant_policy(t, name, e);
        held_policy_release(shared);
        return shared ? tenant_policy_copy(t, name, e) : NULL;
}

int held_policy_env(const struct tenant *t, struct held_policy *h, struct span variables, cordon_error *e)
{
        int allowed = 0;
        cordon_free(cordon_policy_why(h->policy, "run /usr/bin/env", 0, &allowed, e));
        if (!allowed)
                return err_set((struct err *) e, ERR_POLICY, EPERM,
                               "the policy permits some programs only: it has its own `env` lines");

        for (size_t at = 0; at < variables.n; at += strlen((const char *) variables.p + at) + 1)
                if (cordon_policy_add(h->policy, "env", (const char *) variables.p + at, e) < 0)
                        return -1;
        return check(t, h, e);
}

struct held_policy *tenant_policy_copy(const struct tenant *t, const char *name, cordon_error *e)
{
        char file[TOKEN_NAME_MAX + 32];
        (void) snprintf(file, sizeof file, "policies/%.64s.cordon", name);
        return load_policy(t, file, name, e);
}

void tenant_policies(const struct tenant *t, void (*each)(void *ctx, const char *name), void *ctx)
{
        names_each(t->dir, "policies", ".cordon", each, ctx);
}

/* The client is told no path of the host. */
static int ceiling_fails(const struct tenant *t, struct err *e)
{
        struct stat st;
        char why[sizeof e->what];
        if (fstatat(t->dir, "ceiling.cordon", &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT) {
                (void) err_set(e, ERR_POLICY, EPERM,
                               "this tenant has no ceiling: its runs use registered policies");
                return err_hint(e, "GET /v1/policies lists them; an operator can write ceiling.cordon");
        }

        char place[sizeof e->what];
        (void) snprintf(place, sizeof place, "%s", e->what);
        const char *at = strstr(place, "ceiling.cordon:"); /* file, line and column */
        (void) snprintf(why, sizeof why, "%s", at ? at : "ceiling.cordon");
        char *path = strstr(why, t->path);
        if (path)
                *path = '\0';
        (void) err_set(e, ERR_HOST, 0, "the tenant's ceiling does not load: %s", why);
        return err_hint(e, "ask the operator to mend it");
}

/* The parts of a difference that open more, in one line. */
static void put_wider(const char *diff, struct buf *out)
{
        for (size_t n; *diff; diff += n + (diff[n] == '\n')) {
                n = strcspn(diff, "\n");
                if (*diff == '+')
                        buf_printf(out, "%s%.*s", out->n ? "; " : "", (int) n, diff);
        }
}

static void refuse_wider(const char *diff, struct err *e)
{
        AUTO_BUF(wider);
        char key[32], most[32];
        put_wider(diff, &wider);
        (void) err_set(e, ERR_POLICY, EPERM, "the lines exceed the tenant's ceiling: %.250s",
                       wider.n ? buf_str(&wider) : diff);
        if (wider.n && sscanf(buf_str(&wider), "+ limit %31s %*[^,], was %31[^:]", key, most) == 2)
                (void) err_hint(e, "limit %s %s", key, most);
        else
                (void) err_hint(e,
                                "leave out what begins with +, or ask the operator to widen ceiling.cordon");
}

static struct held_policy *load_ceiling(const struct tenant *t, const char *request, cordon_error *e)
{
        enum { CEILING_MAX = 65536 };
        char text[CEILING_MAX] = "";
        AUTO_BUF(lines);
        const char *at = strncmp(request, "root ", 5) == 0 ? request : strstr(request, "\nroot ");
        struct span root = { 0 };
        if (at)
                root = span_of(at + (*at == '\n'), strcspn(at + 1, "\n") + (*at != '\n'));

        AUTO_FD(fd, fd_open2(t->dir, "ceiling.cordon", O_RDONLY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
        if (fd < 0 || fd_read_all(fd, text, sizeof text - 1) < 0 || !put_ceiling_lines(text, root, &lines))
                return load_policy(t, "ceiling.cordon", "ceiling", e);

        struct held_policy *h = held_new(t, "ceiling");
        if (h && cordon_policy_add_text(h->policy, "ceiling.cordon", buf_str(&lines), lines.n, e) == 0 &&
            check(t, h, e) == 0)
                return h;
        held_free(h);
        return NULL;
}

struct held_policy *tenant_lines(struct tenant *t, const char *text, size_t len, cordon_error *e)
{
        struct err *err = (struct err *) e;
        struct lines_refusal no;
        int order = 3;
        if (!tenant_lines_allowed(text, len, &no)) {
                (void) err_set(err, ERR_POLICY, EPERM, "request:%u:%u: %s", no.line, no.column, no.why);
                (void) (no.nearest ? err_hint(err, "did you mean `%s`?", no.nearest)
                                   : err_hint(err, "an operator registers policies with other lines: "
                                                   "GET /v1/policies"));
                return NULL;
        }

        struct held_policy *ceiling = load_ceiling(t, text, e), *h = NULL;
        if (!ceiling) {
                (void) ceiling_fails(t, err);
                return NULL;
        }

        h = held_new(t, "request");
        char *diff =
                h && cordon_policy_add_text(h->policy, "request", text, len, e) == 0 && check(t, h, e) == 0
                        ? cordon_policy_diff(ceiling->policy, h->policy, &order, e)
                        : NULL;
        held_free(ceiling);
        if (diff && (order == 0 || order == 2)) {
                cordon_free(diff);
                return h;
        }

        if (diff)
                refuse_wider(diff, err);
        cordon_free(diff);
        held_free(h);
        return NULL;
}

/* SPDX-License-Identifier: MIT */
/* run/api/api_output.c - checks bytes of any origin in cordon-output, for callers that have them in memory:
 * the command line, results of tools, answers of servers. */
#include "base/child.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/json.h"
#include "output/output.h"
#include "run/api/canaries.h"
#include "run/api/checks_ready.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { CHECK_MS = 70000, READ_MAX = 1 << 16, SERVICES_MAX = 16 };
static const uint64_t DEFAULT_MAX = 64 << 20;

static int cannot_check(struct err *e, const char *what)
{
        return err_set(e, ERR_IO, errno, "%s: %s", what, strerror(errno));
}

/* json(FILE) is the form of a policy; here, the schema has a name of its own. */
static int hint_schema(const char *name, struct err *e)
{
        const char *open = strchr(name, '(');
        size_t n = open ? strlen(open) : 0;
        if (n < 3 || open[n - 1] != ')')
                return err_hint(e, "it is binary, text, json, jsonl, csv, image, png, jpeg, gif, webp, pdf, "
                                   "zip or gzip");

        return err_hint(e, "the schema is given on its own: --as %.*s --schema %.*s", (int) (open - name),
                        name, (int) (n - 2), open + 1);
}

static int find_form(const char *name, enum handle_type *ret, struct err *e)
{
        for (int i = 0; name && i < HANDLE_TYPE__COUNT; i++)
                if (strcmp(policy_handle_type((enum handle_type) i), name) == 0) {
                        *ret = (enum handle_type) i;
                        return 0;
                }

        *ret = HANDLE_TEXT;
        if (!name)
                return 0;

        (void) err_set(e, ERR_USAGE, 0, "%s is not a type of output", name);
        return hint_schema(name, e);
}

/* What was checked, and what came of it. */
struct checking {
        const cordon_context *cx;
        cordon_box *b;
        const cordon_check *c;
        struct span in;
        struct buf passed, report;
};

/* ---- the order ---- */

struct words {
        struct known_word v[KNOWN_MAX];
        const char *hosts[BOX_HOSTS_MAX];
        size_t n, n_hosts;
        struct arena mem;
};

static int add_planted(void *ctx, const char *path, const char *value)
{
        struct words *w = ctx;
        const char *name = arena_str(&w->mem, path), *word = arena_str(&w->mem, value);
        if (name && word && w->n < KNOWN_MAX)
                w->v[w->n++] = (struct known_word){ name, span_str(word), true };
        return 0;
}

static int put_order(const cordon_check *c, struct words *w, struct pipeline_config config,
                     struct output_order_more more, struct buf *out, struct err *e)
{
        struct span schema = { 0 };
        if (c->schema && api_schema_read(c->schema, &schema, e) < 0)
                return -1;

        config.max = c->max ? c->max : DEFAULT_MAX;
        config.verbatim = c->verbatim;
        config.keep_links = c->links;
        config.schema_name = c->schema;
        config.schema = schema;
        config.words = w->v;
        config.n_words = w->n;
        config.hosts = w->hosts;
        config.n_hosts = w->n_hosts;
        output_order_put(&config, &more, out);
        free((void *) (uintptr_t) schema.p);
        return out->failed || w->mem.failed ? cannot_check(e, "making the order to cordon-output") : 0;
}

/* Planted canaries are searched for in any case, the secrets of a run in bytes of its box. */
static int order_text(const struct checking *k, enum handle_type form, struct output_order_more more,
                      struct buf *out, struct err *e)
{
        const cordon_box *b = k->b;
        struct words *w = calloc(1, sizeof *w);
        if (!w)
                return cannot_check(e, "making the order to cordon-output");

        int r = 0;
        if (b && b->plan) {
                w->n = box_known_words(&b->c, false, w->v);
                w->n_hosts = box_door_hosts(&b->c, &w->mem, w->hosts);
        } else
                r = api_planted_each(k->cx, add_planted, w, e);

        more.vault = b && b->plan && b->c.words;
        if (r == 0)
                r = put_order(k->c, w, (struct pipeline_config){ .form = form }, more, out, e);
        arena_done(&w->mem);
        free(w);
        return r;
}

static void wipe_text(const struct buf *text)
{
        if (text->p)
                explicit_bzero(text->p, text->n);
}

/* Root takes an id that owns nothing, unless its namespace has none for it: then the box has none, either. */
static bool becomes_another(const cordon_box *b) { return geteuid() == 0 && (!b || !b->plan || b->c.root); }

static int make_order(const struct checking *k, enum handle_type form, bool serves, struct err *e)
{
        AUTO_BUF(order);
        const struct output_order_more more = { .serves = serves,
                                                .become = becomes_another(k->b) ? wall_host_id() : 0 };
        int fd = order_text(k, form, more, &order, e) < 0 ? -1 : fd_memory("check", order.p, order.n);
        wipe_text(&order);
        return fd;
}

/* What a service would look for: equal orders have equal keys, whoever the process becomes. */
static bool make_key(const struct checking *k, enum handle_type form, uint8_t ret[32])
{
        AUTO_BUF(order);
        struct err ignored;
        struct sha256 h;
        bool made = order_text(k, form, (struct output_order_more){ 0 }, &order, &ignored) == 0;
        sha256_init(&h);
        sha256_add(&h, order.p, made ? order.n : 0);
        sha256_end(&h, ret);
        wipe_text(&order);
        return made;
}

static bool is_key(const struct checking *k, enum handle_type form, const uint8_t key[32])
{
        uint8_t now[32];
        return make_key(k, form, now) && memcmp(now, key, sizeof now) == 0;
}

/* ---- the process ---- */

static int read_whole(int fd, struct buf *out)
{
        char chunk[READ_MAX];
        ssize_t n = lseek(fd, 0, SEEK_SET) < 0 ? -1 : 1;
        while (n > 0 && (n = read(fd, chunk, sizeof chunk)) > 0)
                buf_add(out, chunk, (size_t) n);
        return n < 0 || out->failed ? -1 : 0;
}

static struct child start_check(const cordon_context *cx, const int fds[OUTPUT_FDS], unsigned flags,
                                struct err *e)
{
        char path[PATH_MAX];
        if (host_program(cx, OUTPUT_PROGRAM, path, sizeof path, e) < 0) {
                errno = ENOENT;
                return CHILD_NONE;
        }

        char *const argv[] = { (char[]){ OUTPUT_PROGRAM }, NULL }, *const envp[] = { (char[]){ "LANG=C" },
                                                                                     NULL };
        struct child c = host_spawn(&(struct host_spawn){ .path = path,
                                                          .argv = argv,
                                                          .envp = envp,
                                                          .fds = fds,
                                                          .fd_count = OUTPUT_FDS,
                                                          .flags = HOST_SPAWN_APART | flags });
        if (c.pid < 0 && errno != 0)
                (void) cannot_check(e, "cordon-output could not be started");
        return c;
}

/* Starts it and waits for its end. */
static int run_check(const cordon_context *cx, const int fds[OUTPUT_FDS], struct err *e)
{
        struct child c = start_check(cx, fds, 0, e);
        if (c.pid < 0)
                return -1;

        if (!fd_await(c.pidfd, POLLIN, CHECK_MS))
                child_kill(&c);
        while (!child_reap(&c, NULL))
                (void) fd_await(c.pidfd, POLLIN, 1000);
        return 0;
}

/* 0 if the report says so. */
static int judge_check(const struct buf *report, struct err *e)
{
        struct err ignored;
        struct json_doc *d = report->n ? json_parse("report", buf_span(report), &ignored) : NULL;
        const struct json *ok = d ? json_get(json_root(d), "ok") : NULL,
                          *why = d ? json_get(json_root(d), "why") : NULL;
        int r = ok && ok->type == JSON_TRUE       ? 0
                : why && why->type == JSON_STRING ? err_set(e, ERR_DOOR, 0, "%s", why->str)
                                                  : err_set(e, ERR_INTERNAL, 0, "the check was not finished");
        json_free(d);
        return r;
}

static int words_file(const cordon_box *b) { return b && b->plan && b->c.words ? *b->c.words : -1; }

static struct api_check_what what_of(const cordon_check *c, enum handle_type form)
{
        return (struct api_check_what){ form, c->max ? c->max : DEFAULT_MAX, c->verbatim, c->links };
}

static int check_alone(struct checking *k, enum handle_type form, struct err *e)
{
        AUTO_FD(order, make_order(k, form, false, e));
        AUTO_FD(in, order < 0 ? -1 : fd_memory("check", k->in.p, k->in.n));
        AUTO_FD(out, in < 0 ? -1 : fd_memory("check", NULL, 0));
        AUTO_FD(report, out < 0 ? -1 : fd_memory("check", NULL, 0));
        if (order < 0)
                return -1;
        if (report < 0)
                return cannot_check(e, "no room for the check");

        const int fds[OUTPUT_FDS] = { in, out, -1, order, report, words_file(k->b) };
        if (run_check(k->cx, fds, e) < 0 || read_whole(report, &k->report) < 0)
                return -1;

        int r = judge_check(&k->report, e);
        return r == 0 && read_whole(out, &k->passed) < 0 ? cannot_check(e, "reading what passed") : r;
}

static int form_of(const cordon_check *c, enum handle_type *ret, struct err *e)
{
        return find_form(c->as ? c->as : c->schema ? "json" : NULL, ret, e);
}

/* Those of the box, or of all that share them; the vault's secrets are those of one box. */
static cordon_checks *checks_of(cordon_box *b)
{
        return b->checks_shared && words_file(b) < 0 ? b->checks_shared : &b->own_checks;
}

static int check_text(struct checking *k, struct err *e)
{
        enum handle_type form;
        if (form_of(k->c, &form, e) < 0)
                return -1;

        const struct api_check_what what = what_of(k->c, form);
        const cordon_checks *s = k->b && !k->c->schema ? checks_of(k->b) : NULL;
        return s && s->ready && is_key(k, form, s->key) &&
                               api_checks_run(s->ready, &what, k->in, &k->passed, &k->report)
                       ? judge_check(&k->report, e)
                       : check_alone(k, form, e);
}

static int hand_out(struct checking *k, char **ret_out, size_t *ret_len, char **ret_report, cordon_error *e)
{
        int r = check_text(k, (struct err *) e);
        buf_putc(&k->passed, '\0');
        if (k->report.n)
                buf_putc(&k->report, '\0');
        if (ret_report) {
                *ret_report = k->report.p;
                k->report.p = NULL;
        }
        if (r == 0 && k->passed.failed)
                r = err_set((struct err *) e, ERR_MEMORY, 0, "out of memory");
        if (r == 0) {
                *ret_len = k->passed.n - 1;
                *ret_out = k->passed.p;
                k->passed.p = NULL;
        }
        buf_done(&k->passed);
        buf_done(&k->report);
        return r;
}

int cordon_check_bytes(const cordon_context *cx, const cordon_check *c, const void *p, size_t n,
                       char **ret_out, size_t *ret_len, char **ret_report, cordon_error *e)
{
        struct checking k = { .cx = cx, .c = c, .in = span_of(p, n) };
        return hand_out(&k, ret_out, ret_len, ret_report, e);
}

int cordon_box_check(const cordon_box *b, const cordon_check *c, const void *p, size_t n, char **ret_out,
                     size_t *ret_len, char **ret_report, cordon_error *e)
{
        /* The process that waits for it is no state of the box. */
        cordon_box *own = (cordon_box *) (uintptr_t) b;
        struct checking k = { .cx = b->policy->cx, .b = own, .c = c, .in = span_of(p, n) };
        return hand_out(&k, ret_out, ret_len, ret_report, e);
}

/* A failure is found, and said, by the check itself. */
static void start_service(const struct checking *k, enum handle_type form, cordon_checks *s)
{
        int ends[2];
        struct err ignored;
        if (wire_pair(ends) < 0)
                return;

        AUTO_FD(line, ends[0]);
        AUTO_FD(its, ends[1]);
        AUTO_FD(order, make_order(k, form, true, &ignored));
        const int fds[OUTPUT_FDS] = { its, -1, -1, order, -1, words_file(k->b) };
        const struct api_check_what what = what_of(k->c, form);
        s->started++;
        if (order >= 0 && make_key(k, form, s->key) &&
            start_check(k->cx, fds, HOST_SPAWN_ORPHAN, &ignored).pid < 0 && errno == 0)
                s->ready = api_checks_new(TAKE_FD(line), &what);
}

void cordon_box_check_ahead(cordon_box *b, const cordon_check *c)
{
        enum handle_type form;
        struct err ignored;
        struct checking k = { .cx = b->policy->cx, .b = b, .c = c };
        cordon_checks *s = checks_of(b);
        if (c->schema || form_of(c, &form, &ignored) < 0)
                return;

        if (s->ready && (!api_checks_alive(s->ready) || !is_key(&k, form, s->key))) {
                api_checks_free(s->ready);
                s->ready = NULL;
        }
        if (!s->ready && s->started < SERVICES_MAX)
                start_service(&k, form, s);
        if (s->ready)
                api_checks_ask(s->ready);
}

cordon_checks *cordon_checks_new(void) { return calloc(1, sizeof(cordon_checks)); }

void cordon_checks_free(cordon_checks *k)
{
        if (k)
                api_checks_free(k->ready);
        free(k);
}

void cordon_box_share_checks(cordon_box *b, cordon_checks *k) { b->checks_shared = k; }

char *cordon_encode(const char *context, const void *p, size_t n, cordon_error *e)
{
        AUTO_BUF(out);
        int to = encode_find(context);
        if (to < 0) {
                (void) err_set((struct err *) e, ERR_USAGE, 0, "%s is not a context", context);
                (void) err_hint((struct err *) e, "it is %s", encode_names());
                return NULL;
        }

        if (encode_text(to, span_of(p, n), &out, (struct err *) e) < 0)
                return NULL;

        return api_give(&out, (struct err *) e);
}

char *cordon_inert(const void *p, size_t n, size_t *ret_len, uint64_t *ret_cuts)
{
        AUTO_BUF(out);
        struct neutral state;
        neutral_init(&state, NEUTRAL_TEXT);
        neutral_feed(&state, span_of(p, n), &out);
        neutral_end(&state, &out);
        *ret_len = out.n;
        *ret_cuts = neutral_cuts(&state);
        return api_give(&out, NULL);
}

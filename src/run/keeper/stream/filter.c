/* SPDX-License-Identifier: MIT */
/* run/keeper/stream/filter.c - the keeper's side of cordon-output: starts one process for a stream or a
 * handle that has a form, and takes its report. Never: hands on anything after an end without a good report.
 */
#include "base/fd.h"
#include "base/grant.h"
#include "base/hash.h"
#include "base/host/host.h"
#include "base/json.h"
#include "base/str.h"
#include "base/variable.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CANARIES = 32 };

const struct door *filter_door(const struct run *run, enum door_kind kind, const char *name)
{
        size_t n;
        const struct door *doors = policy_doors(run->c->policy, &n);
        for (size_t i = 0; i < n; i++)
                if (doors[i].kind == kind && strcmp(doors[i].name, name) == 0)
                        return &doors[i];
        return NULL;
}

/* ---- the order ---- */

struct span filter_schema(const struct run *run, const struct door *d)
{
        for (unsigned i = 0; d->value && i < run->c->schema_count; i++)
                if (strcmp(run->c->schemas[i].path, d->value) == 0)
                        return run->c->schemas[i].text;
        return (struct span){ 0 };
}

/* Variables that look like secrets, and canaries: the box has both, and may print neither. What a server
 * sends it may have its variables. */
size_t box_known_words(const struct box_config *c, bool incoming, struct known_word *words)
{
        size_t n = 0;
        for (unsigned i = 0; i < c->canary_count && i < CANARIES; i++)
                words[n++] = (struct known_word){ c->canaries[i].name, span_str(c->canaries[i].value), true };

        const char **envp = incoming ? NULL : c->plan->order->envp;
        for (const char **v = envp; v && *v && n < KNOWN_MAX - GRANTS_MAX; v++) {
                const char *value = strchr(*v, '=');
                size_t name = value ? (size_t) (value - *v) : 0;
                bool canary = value && memmem(*v, name, "CANARY", 6) != NULL;
                if (value && (canary || variable_looks_secret(*v, name)) && strlen(value + 1) >= KNOWN_LEAST)
                        words[n++] = (struct known_word){ canary ? "canary" : "variable", span_str(value + 1),
                                                          canary };
        }

        return n;
}

size_t box_door_hosts(const struct box_config *c, struct arena *mem, const char *hosts[BOX_HOSTS_MAX])
{
        size_t n, count = 0;
        const struct door *doors = policy_doors(c->policy, &n);
        for (size_t i = 0; i < n && count < BOX_HOSTS_MAX; i++)
                if (doors[i].kind == DOOR_NET && doors[i].net.host)
                        hosts[count++] = doors[i].net.wildcard ? arena_printf(mem, "*.%s", doors[i].net.host)
                                                               : doors[i].net.host;
        return count;
}

static struct pipeline_config config_of(const struct run *run, const struct door *d)
{
        return (struct pipeline_config){ .form = d->type,
                                         .max = d->max,
                                         .verbatim = d->kind == DOOR_IN,
                                         .schema = filter_schema(run, d),
                                         .schema_name = d->value };
}

static int make_order(const struct run *run, struct pipeline_config c, struct output_order_more more)
{
        struct known_word words[KNOWN_MAX];
        const char *hosts[BOX_HOSTS_MAX];
        struct arena mem = { 0 };
        AUTO_BUF(text);
        c.words = words;
        c.hosts = hosts;
        c.n_words = box_known_words(run->c, more.serves, words);
        c.n_hosts = box_door_hosts(run->c, &mem, hosts);
        more.become = run->c->root ? wall_host_id_in(run->c->tenant.id_first, run->c->tenant.id_count) : 0;
        more.vault = run->c->words != NULL;
        if (!mem.failed)
                output_order_put(&c, &more, &text);

        AUTO_FD(fd, mem.failed || text.failed
                            ? -1
                            : (int) syscall(SYS_memfd_create, "order", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        arena_done(&mem);
        bool good = fd >= 0 && fd_write_all(fd, text.p, text.n) == 0;
        explicit_bzero(text.p, text.n);
        return good ? TAKE_FD(fd) : -1;
}

/* ---- the process ---- */

static int cannot_begin(struct err *e)
{
        return err_set(e, ERR_IO, errno, "making the line to cordon-output: %s", strerror(errno));
}

static int spawn_output(const struct run *run, const int fds[OUTPUT_FDS], unsigned flags, struct child *ret,
                        struct err *e)
{
        char path[PATH_MAX];
        if (host_program(run->c->cx, OUTPUT_PROGRAM, path, sizeof path, e) < 0)
                return -1;

        char *const argv[] = { (char[]){ OUTPUT_PROGRAM }, NULL }, *const envp[] = { (char[]){ "LANG=C" },
                                                                                     NULL };
        *ret = host_spawn(&(struct host_spawn){ .path = path,
                                                .argv = argv,
                                                .envp = envp,
                                                .fds = fds,
                                                .fd_count = OUTPUT_FDS,
                                                .flags = HOST_SPAWN_APART | flags });
        return ret->pid < 0 && errno != 0 ? err_set(e, ERR_HOST, errno,
                                                    "cordon-output could not be started: %s", strerror(errno))
                                          : 0;
}

int filter_start(struct run *run, const struct door *d, int in, int out, struct filter *f, struct err *e)
{
        int ends[2];
        *f = (struct filter){ .process = CHILD_NONE, .report = -1, .door = d };
        AUTO_FD(order, make_order(run, config_of(run, d), (struct output_order_more){ 0 }));
        if (order < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
                return cannot_begin(e);

        f->report = ends[0];
        AUTO_FD(its, ends[1]);
        const int fds[OUTPUT_FDS] = { in, out, -1, order, its, run->c->words ? *run->c->words : -1 };
        return spawn_output(run, fds, 0, &f->process, e);
}

int filter_serve(const struct run *run, int *ret_line, struct err *e)
{
        size_t n, count = 0;
        int ends[2];
        const struct door *doors = policy_doors(run->c->policy, &n);
        struct pipeline_config *forms = calloc(n + 1, sizeof *forms);
        for (size_t i = 0; forms && i < n; i++)
                if (doors[i].kind == DOOR_NET && doors[i].type != HANDLE_BINARY)
                        forms[count++] = config_of(run, &doors[i]);

        const struct output_order_more more = { .serves = true,
                                                .others = forms + 1,
                                                .n_others = count ? count - 1 : 0 };
        AUTO_FD(order, count ? make_order(run, forms[0], more) : -1);
        free(forms);
        if (forms && count == 0)
                return 0;
        if (order < 0 || wire_pair(ends) < 0)
                return cannot_begin(e);

        AUTO_FD(line, ends[0]);
        AUTO_FD(its, ends[1]);
        const int fds[OUTPUT_FDS] = { its, -1, -1, order, -1, run->c->words ? *run->c->words : -1 };
        struct child orphan; /* nobody waits for it: it ends with its line */
        if (spawn_output(run, fds, HOST_SPAWN_ORPHAN, &orphan, e) < 0)
                return -1;

        *ret_line = TAKE_FD(line);
        return 0;
}

bool filter_runs(const struct filter *f) { return f->process.pid > 0; }

void filter_close(struct filter *f)
{
        if (!f->door)
                return;
        child_kill(&f->process);
        while (!child_reap(&f->process, NULL))
                (void) fd_await(f->process.pidfd, POLLIN, 100);
        fd_close(&f->report);
}

/* ---- its report ---- */

static void put_count(struct buf *out, const char *name, int64_t count)
{
        if (count > 0)
                buf_printf(out, "%s%s=%lld", out->n ? " " : "", name, (long long) count);
}

static int64_t count_kind(const struct json *findings, const char *kind)
{
        int64_t sum = 0;
        for (const struct json *x = findings ? findings->child : NULL; x; x = x->next) {
                const struct json *k = json_get(x, "kind"), *n = json_get(x, "count");
                if (k && k->type == JSON_STRING && strcmp(k->str, kind) == 0 && n && n->type == JSON_INT)
                        sum += n->integer;
        }
        return sum;
}

/* Where the counts of a handle are kept; NULL: it has no number in the plan, or no memory. */
static struct checked *counts_of(struct run *run, const char *handle)
{
        const struct plan *p = run->c->plan;
        if (!run->checked_out)
                run->checked_out = calloc(HANDLES_MAX, sizeof *run->checked_out);
        for (size_t i = 0; run->checked_out && i < p->handle_count && i < HANDLES_MAX; i++)
                if (p->handles[i].out && strcmp(p->handles[i].name, handle) == 0)
                        return &run->checked_out[i];
        return NULL;
}

void filter_passed(struct run *run, const char *handle, int fd)
{
        char chunk[65536];
        ssize_t n;
        struct sha256 sum;
        struct checked *c = run->record ? counts_of(run, handle) : NULL;
        if (!c)
                return;

        sha256_init(&sum);
        c->bytes = 0;
        while ((n = pread(fd, chunk, sizeof chunk, c->bytes)) > 0) {
                sha256_add(&sum, chunk, (size_t) n);
                c->bytes += n;
        }
        memcpy(c->digest, "sha256:", 7);
        sha256_end_hex(&sum, c->digest + 7);
}

/* For the ledger: how often, by kind. Names of findings may be the box's words, and stay in the result. */
static void note_counts(struct run *run, const struct door *d, const struct json *root)
{
        int stream = strcmp(d->name, "stdout") == 0 ? 1 : strcmp(d->name, "stderr") == 0 ? 2 : 0;
        struct checked *c = d->kind != DOOR_OUT ? NULL
                            : stream            ? &run->checked[stream - 1]
                                                : counts_of(run, d->name);
        if (!c)
                return;

        const struct json *cut = json_get(root, "cut"), *findings = json_get(root, "findings");
        for (const struct json *x = cut ? cut->child : NULL; x; x = x->next)
                put_count(&c->cut, x->key, x->type == JSON_INT ? x->integer : 0);
        for (const char *const *k = findings_kinds(); *k; k++)
                put_count(&c->findings, *k, count_kind(findings, *k));
        buf_puts(&c->as, policy_handle_type(d->type));
        if (d->value)
                buf_printf(&c->as, "(%s)", d->value);
}

static int judge_report(struct run *run, struct filter *f, struct span text, struct err *e)
{
        char shown[200];
        struct err ignored;
        struct json_doc *doc = text.n ? json_parse("report", text, &ignored) : NULL;
        const struct json *ok = doc ? json_get(json_root(doc), "ok") : NULL,
                          *why = doc ? json_get(json_root(doc), "why") : NULL,
                          *canary = doc ? json_get(json_root(doc), "canary") : NULL;
        int r = 0;
        if (!ok || (ok->type != JSON_TRUE && !why))
                r = err_set(e, ERR_INTERNAL, 0,
                            "the check of %s was not finished: nothing more of it is handed on",
                            f->door->name);
        else if (canary && canary->type == JSON_STRING)
                r = err_set(e, ERR_DOOR, 0, "tripwire: %s contains the canary %s, and the box was stopped",
                            f->door->name, str_inert(span_of(canary->str, canary->len), shown, sizeof shown));
        else if (ok->type != JSON_TRUE)
                r = err_set(e, ERR_DOOR, f->door->kind == DOOR_IN ? 0 : EBADMSG,
                            "%s does not match the type of its door: %s", f->door->name,
                            str_inert(span_of(why->str, why->len), shown, sizeof shown));

        if (doc)
                note_counts(run, f->door, json_root(doc));
        if (doc) {
                buf_puts(&run->reports, run->reports.n ? "," : "");
                buf_json(&run->reports, span_str(f->door->name));
                buf_putc(&run->reports, ':');
                buf_add(&run->reports, text.p, text.n);
        }
        json_free(doc);
        return r;
}

int filter_finish(struct run *run, struct filter *f, struct err *e)
{
        char text[OUTPUT_REPORT_MAX];
        if (!filter_runs(f))
                return 1;

        if (!child_reap(&f->process, NULL))
                return 0;

        ssize_t n = fd_read_all(f->report, text, sizeof text);
        fd_close(&f->report);
        return judge_report(run, f, span_of(text, n < 0 ? 0 : (size_t) n), e) < 0 ? -1 : 1;
}

/* SPDX-License-Identifier: MIT */
/* api/api_output.c - checks bytes of any origin in cordon-output, for callers that have them in memory: the
 * command line, results of tools, answers of servers. */
#include "api/internal.h"
#include "base/child.h"
#include "base/fd.h"
#include "base/json.h"
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { CHECK_MS = 70000, READ_MAX = 1 << 16 };
static const uint64_t DEFAULT_MAX = 64 << 20;

static int cannot(struct err *e, const char *what)
{
        return err_set(e, ERR_IO, errno, "%s: %s", what, strerror(errno));
}

static int memory_file(struct span bytes)
{
        AUTO_FD(fd, (int) syscall(SYS_memfd_create, "check", MFD_CLOEXEC));
        bool good = fd >= 0 && fd_write_all(fd, bytes.p, bytes.n) == 0 && lseek(fd, 0, SEEK_SET) == 0;
        return good ? TAKE_FD(fd) : -1;
}

static int find_form(const char *name, enum handle_type *ret, struct err *e)
{
        for (int i = 0; name && i < HANDLE_TYPE__COUNT; i++)
                if (strcmp(policy_handle_type((enum handle_type) i), name) == 0) {
                        *ret = (enum handle_type) i;
                        return 0;
                }

        *ret = HANDLE_TEXT;
        return name ? err_set(e, ERR_USAGE, 0, "%s is not a type of output", name) : 0;
}

/* The schema's text, which the caller frees. */
static int read_schema(const char *path, struct span *ret, struct err *e)
{
        AUTO_FD(fd, fd_open_named(AT_FDCWD, path, O_RDONLY));
        uint8_t *text = malloc(SCHEMA_MAX_BYTES);
        ssize_t n = fd < 0 || !text ? -1 : fd_read_all(fd, text, SCHEMA_MAX_BYTES);
        if (n < 0) {
                free(text);
                return err_set(e, ERR_USAGE, errno, "%s: %s", path, strerror(errno));
        }

        *ret = span_of(text, (size_t) n);
        struct schema *s = schema_new(path, *ret, NULL, 0, SCHEMA_FORMATS, e);
        schema_free(s);
        if (!s)
                free(text);
        return s ? 0 : -1;
}

static int make_order(const cordon_check *c, enum handle_type form, struct err *e)
{
        AUTO_BUF(order);
        struct span schema = { 0 };
        struct pipeline_config config = { .form = form,
                                          .max = c->max ? c->max : DEFAULT_MAX,
                                          .verbatim = c->verbatim,
                                          .schema_name = c->schema };
        if (c->schema && read_schema(c->schema, &schema, e) < 0)
                return -1;

        config.schema = schema;
        output_order_put(&config,
                         &(struct output_order_more){ .become = geteuid() == 0 ? wall_host_id() : 0 },
                         &order);
        free((void *) (uintptr_t) schema.p);
        int fd = order.failed ? -1 : memory_file(buf_span(&order));
        return fd < 0 ? cannot(e, "making the order to cordon-output") : fd;
}

static int read_whole(int fd, struct buf *out)
{
        char chunk[READ_MAX];
        ssize_t n = lseek(fd, 0, SEEK_SET) < 0 ? -1 : 1;
        while (n > 0 && (n = read(fd, chunk, sizeof chunk)) > 0)
                buf_add(out, chunk, (size_t) n);
        return n < 0 || out->failed ? -1 : 0;
}

/* Starts it and waits for its end. */
static int run(const cordon_context *cx, const int fds[OUTPUT_FDS], struct err *e)
{
        char path[PATH_MAX];
        if (host_program(cx, OUTPUT_PROGRAM, path, sizeof path, e) < 0)
                return -1;

        char *const argv[] = { (char[]){ OUTPUT_PROGRAM }, NULL }, *const envp[] = { (char[]){ "LANG=C" },
                                                                                     NULL };
        struct child c = host_spawn(&(struct host_spawn){ .path = path,
                                                          .argv = argv,
                                                          .envp = envp,
                                                          .fds = fds,
                                                          .fd_count = OUTPUT_FDS,
                                                          .flags = HOST_SPAWN_APART });
        if (c.pid < 0)
                return cannot(e, "cordon-output could not be started");

        if (!fd_await(c.pidfd, POLLIN, CHECK_MS))
                child_kill(&c);
        while (!child_reap(&c, NULL))
                (void) fd_await(c.pidfd, POLLIN, 1000);
        return 0;
}

/* 0 if the report says so. */
static int judge(const struct buf *report, struct err *e)
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

int cordon_check_bytes(const cordon_context *cx, const cordon_check *c, const void *p, size_t n,
                       char **ret_out, size_t *ret_len, char **ret_report, cordon_error *e)
{
        enum handle_type form;
        struct err *err = (struct err *) e;
        if (find_form(c->as ? c->as : c->schema ? "json" : NULL, &form, err) < 0)
                return -1;

        AUTO_FD(order, make_order(c, form, err));
        AUTO_FD(in, order < 0 ? -1 : memory_file(span_of(p, n)));
        AUTO_FD(out, in < 0 ? -1 : memory_file((struct span){ 0 }));
        AUTO_FD(report, out < 0 ? -1 : memory_file((struct span){ 0 }));
        if (order < 0)
                return -1;
        if (report < 0)
                return cannot(err, "no room for the check");

        const int fds[OUTPUT_FDS] = { in, out, -1, order, report, -1 };
        AUTO_BUF(text);
        AUTO_BUF(passed);
        if (run(cx, fds, err) < 0 || read_whole(report, &text) < 0)
                return -1;

        int r = judge(&text, err);
        if (r == 0 && read_whole(out, &passed) < 0)
                r = cannot(err, "reading what passed");
        buf_putc(&passed, '\0');
        if (ret_report)
                *ret_report = text.p, text.p = NULL;
        if (r == 0 && !passed.failed) {
                *ret_len = passed.n - 1;
                *ret_out = passed.p;
                passed.p = NULL;
        }
        return r;
}

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

        char *text = out.p ? out.p : calloc(1, 1);
        out.p = NULL;
        return text;
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
        buf_putc(&out, '\0');
        if (out.failed)
                return NULL;

        char *text = out.p;
        out.p = NULL;
        return text;
}

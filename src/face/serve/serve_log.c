/* SPDX-License-Identifier: MIT */
/* face/serve/serve_log.c - the log of the server on standard error: a line for each request, run and error,
 * as JSON or text; without --log only what the operator must know. The loop never waits for who reads it. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/serve/internal.h"

#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { LINE_MAX_BYTES = 4096 }; /* what a pipe with room takes at once */

static const char *const levels[] = { "info", "warning", "error" };

static void put_time(struct buf *out)
{
        struct timespec now;
        struct tm tm;
        char text[40];
        (void) clock_gettime(CLOCK_REALTIME, &now);
        (void) gmtime_r(&now.tv_sec, &tm);
        size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
        (void) snprintf(text + n, sizeof text - n, ".%03ldZ", now.tv_nsec / 1000000);
        buf_member(out, "time", text);
}

/* Standard error as the journal's stream: then a level stands before each line. */
static bool is_journal(const struct server *s)
{
        struct stat st;
        char ours[64];
        const char *v = NULL;
        for (char *const *x = s->o->environment; *x; x++)
                if (strncmp(*x, "JOURNAL_STREAM=", 15) == 0)
                        v = *x + 15;
        if (!v || fstat(STDERR_FILENO, &st) < 0)
                return false;

        (void) snprintf(ours, sizeof ours, "%llu:%llu", (unsigned long long) st.st_dev,
                        (unsigned long long) st.st_ino);
        return strcmp(v, ours) == 0;
}

static void write_line(struct server *s, enum log_level level, const struct buf *line)
{
        static const char *const marks[] = { "<6>", "<4>", "<3>" };
        struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };
        AUTO_BUF(text);
        if (s->log_journal == 0)
                s->log_journal = is_journal(s) ? 1 : -1;
        buf_printf(&text, "%s%s\n", s->log_journal > 0 ? marks[level] : "", buf_str(line));
        if (line->failed || text.failed || text.n > LINE_MAX_BYTES || poll(&ready, 1, 0) <= 0 ||
            write(STDERR_FILENO, text.p, text.n) != (ssize_t) text.n)
                s->log_lost++;
}

void serve_log(struct server *s, enum log_level level, const char *text)
{
        AUTO_BUF(line);
        if (s->o->log != SERVE_LOG_JSON) {
                s->o->say(s->o->say_ctx, text);
                return;
        }

        buf_putc(&line, '{');
        put_time(&line);
        buf_member(&line, "level", levels[level]);
        buf_member(&line, "kind", level == LOG_INFO ? "server" : "error");
        buf_member(&line, "text", text);
        buf_putc(&line, '}');
        write_line(s, level, &line);
}

/* ---- the service manager ---- */

void serve_notify(const char *state)
{
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        const char *path = getenv("NOTIFY_SOCKET");
        size_t n = path ? strlen(path) : 0;
        if ((n ? path[0] != '/' && path[0] != '@' : true) || n >= sizeof to.sun_path)
                return;

        memcpy(to.sun_path, path, n);
        if (to.sun_path[0] == '@')
                to.sun_path[0] = '\0';
        AUTO_FD(fd, socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        socklen_t size = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + n);
        if (fd >= 0)
                (void) sendto(fd, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *) &to,
                              size);
}

/* Twice in the time that it waits: the loop turns. */
void serve_watchdog(struct server *s)
{
        const char *us = getenv("WATCHDOG_USEC");
        uint64_t every = 0, now = clock_mono_ns();
        if (!us || str_to_u64(span_str(us), &every) < 0 || now < s->alive_ns)
                return;
        s->alive_ns = now + every * 1000 / 2;
        serve_notify("WATCHDOG=1");
}

/* ---- lines of members ---- */

struct member {
        const char *key, *text; /* NULL: the number */
        uint64_t number;
};

static void put_line(struct server *s, const char *kind, const struct member *m, size_t n)
{
        AUTO_BUF(line);
        bool json = s->o->log == SERVE_LOG_JSON;
        if (json) {
                buf_putc(&line, '{');
                put_time(&line);
                buf_member(&line, "level", "info");
                buf_member(&line, "kind", kind);
        } else
                buf_printf(&line, "cordon: %s", kind);
        for (size_t i = 0; i < n; i++) {
                if (json && m[i].text)
                        buf_member(&line, m[i].key, m[i].text);
                else if (json)
                        buf_member_int(&line, m[i].key, (long long) m[i].number);
                else if (m[i].text) {
                        buf_printf(&line, " %s=", m[i].key);
                        buf_json(&line, span_str(m[i].text));
                } else
                        buf_printf(&line, " %s=%llu", m[i].key, (unsigned long long) m[i].number);
        }
        buf_puts(&line, json ? "}" : "");
        write_line(s, LOG_INFO, &line);
}

#define LINE(s, kind, members) put_line(s, kind, members, sizeof(members) / sizeof *(members))

void log_request(struct client *c, unsigned status, size_t bytes)
{
        static const char *const methods[] = { "other", "GET", "POST", "PUT", "DELETE" };
        struct server *s = c->s;
        uint64_t ns = clock_mono_ns() - c->begun_ns;
        const struct http_request *r = &c->h.in.r;
        char path[400]; /* no query: what people search for is theirs */
        histogram_add(&s->request_time, ns);
        if (status >= 500)
                s->server_errors++;
        if (!s->o->log)
                return;

        (void) snprintf(path, sizeof path, "%.399s", r->path);
        const struct member members[] = { { "id", c->id, 0 },
                                          { "tenant",
                                            c->admitted.tenant ? tenant_label(c->admitted.tenant) : "", 0 },
                                          { "person", c->admitted.person, 0 },
                                          { "method", methods[r->method], 0 },
                                          { "path", path, 0 },
                                          { "status", NULL, status },
                                          { "bytes", NULL, bytes },
                                          { "us", NULL, ns / 1000 } };
        LINE(s, "request", members);
}

void log_run(struct server *s, const struct job *j)
{
        if (!s->o->log)
                return;

        const struct member members[] = { { "id", j->id, 0 },
                                          { "tenant", tenant_label(j->tenant), 0 },
                                          { "person", j->person, 0 },
                                          { "run", j->run, 0 },
                                          { "policy", j->policy_name, 0 },
                                          { "command", j->argv ? j->argv[0] : "", 0 },
                                          { "end", j->end, 0 },
                                          { "status", NULL, (uint64_t) j->status },
                                          { "denials", NULL, j->blocked },
                                          { "bytes", NULL, j->bytes },
                                          { "wait_us", NULL, j->wait_ns / 1000 },
                                          { "run_us", NULL, j->run_ns / 1000 } };
        LINE(s, "run", members);
}

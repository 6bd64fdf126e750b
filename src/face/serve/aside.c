/* SPDX-License-Identifier: MIT */
/* face/serve/aside.c - work that may wait for a disk, the ledger or another process, in a process of its own:
 * the loop goes on driving boxes. The child has the memory of the server and none of its descriptors but one
 * pipe. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/serve/internal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

void aside_close_others(const int *keep, size_t n)
{
        unsigned from = 3;
        for (size_t i = 0; i < n; i++) {
                if (keep[i] < (int) from)
                        continue;
                if (keep[i] > (int) from)
                        (void) syscall(SYS_close_range, from, (unsigned) keep[i] - 1, 0);
                from = (unsigned) keep[i] + 1;
        }
        (void) syscall(SYS_close_range, from, ~0u, 0);
}

static int ascending(const void *a, const void *b) { return *(const int *) a - *(const int *) b; }

/* The answer on the pipe: "200 TYPE\n", the header lines, "\n", the body. */
static _Noreturn void work(struct serve_call *c, int out)
{
        struct reply r = { 0 };
        sigset_t none;
        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        int keep[] = { out, c->s->config, -1, -1 };
        if (c->tenant)
                tenant_descriptors(c->tenant, keep + 2);
        qsort(keep, sizeof keep / sizeof *keep, sizeof *keep, ascending);
        aside_close_others(keep, sizeof keep / sizeof *keep);
        if (c->tenant)
                tenant_act_for(c->tenant, c->client->admitted.person);
        serve_handle(c, &r);
        AUTO_BUF(head);
        buf_printf(&head, "%03u %s\n%s\n", r.status ? r.status : 500, r.type ? r.type : "application/json",
                   r.extra);
        if (r.body.failed || fd_write_all(out, buf_str(&head), head.n) < 0)
                _exit(1);
        _exit(fd_write_all(out, buf_str(&r.body), r.body.n) < 0);
}

/* *ret_out: the child's end of its pipe. */
static struct aside *aside_new(int *ret_out)
{
        int ends[2];
        struct aside *a = calloc(1, sizeof *a);
        if (!a || pipe2(ends, O_CLOEXEC) < 0) {
                free(a);
                return NULL;
        }

        (void) fcntl(ends[0], F_SETFL, O_NONBLOCK);
        a->fd = ends[0];
        a->deadline_ns = clock_mono_ns() + ASIDE_S * 1000000000ull;
        *ret_out = ends[1];
        return a;
}

void aside_begin(struct serve_call *c, struct reply *r)
{
        struct server *s = c->s;
        struct budget *b = c->tenant ? tenant_budget(c->tenant) : &s->host;
        int out = -1;
        size_t at = 0;
        while (at < ASIDES_MAX && s->asides[at])
                at++;

        if (at == ASIDES_MAX || budget_lacks(b, BUDGET_ASIDE, 1)) {
                reply_later(r, 429, 1, "too many questions are being answered");
                return;
        }

        struct aside *a = aside_new(&out);
        pid_t pid = a ? fork() : -1;
        if (pid == 0)
                work(c, out);

        fd_close(&out);
        if (pid < 0) {
                if (a)
                        fd_close(&a->fd);
                free(a);
                reply_later(r, 503, 1, "no process for the answer");
                return;
        }

        (void) budget_take(b, BUDGET_ASIDE, 1);
        a->pid = pid;
        a->client = c->client;
        a->tenant = c->tenant;
        s->asides[at] = a;
        c->client->busy = true;
}

/* ---- its answer ---- */

static void answer(struct aside *a)
{
        struct reply r = { 0 };
        char type[64];
        uint64_t status = 0;
        char *line = a->got.n ? memchr(a->got.p, '\n', a->got.n) : NULL;
        char *end = line ? memmem(line, a->got.n - (size_t) (line - a->got.p), "\n\n", 2) : NULL;
        size_t first = line ? (size_t) (line - a->got.p) : 0;
        if (!end || a->got.failed || first < 5 || first - 4 >= sizeof type ||
            str_to_u64(span_of(a->got.p, 3), &status) < 0) {
                reply_problem(&r, 500, "internal", "the question was not answered", NULL);
                client_answer(a->client, &r);
                return;
        }

        r.status = (unsigned) status;
        memcpy(type, a->got.p + 4, first - 4);
        type[first - 4] = '\0';
        size_t extra = (size_t) (end - line), body = (size_t) (end + 2 - a->got.p);
        if (extra > 1 &&
            extra < sizeof r.extra) /* header lines end with CRLF, of which the LF is the end's first */
                memcpy(r.extra, line + 1, extra);
        r.type = type;
        buf_add(&r.body, a->got.p + body, a->got.n - body);
        client_answer(a->client, &r);
}

static void aside_free(struct server *s, size_t index)
{
        struct aside *a = s->asides[index];
        (void) kill(a->pid, SIGKILL);
        (void) waitpid(a->pid, NULL, 0);
        budget_give(a->tenant ? tenant_budget(a->tenant) : &s->host, BUDGET_ASIDE, 1);
        fd_close(&a->fd);
        buf_done(&a->got);
        free(a);
        s->asides[index] = NULL;
}

/* It did nothing yet: a person is to be asked. */
static bool asks_first(const struct aside *a)
{
        char want[8];
        int n = snprintf(want, sizeof want, "%03d ", STATUS_ASKS);
        return !a->got.failed && a->got.n > (size_t) n && memcmp(a->got.p, want, (size_t) n) == 0;
}

static struct span question_of(const struct buf *got)
{
        const char *end = memmem(got->p, got->n, "\n\n", 2);
        return end ? span_of(end + 2, got->n - (size_t) (end + 2 - got->p)) : span_of("", 0);
}

void aside_read(struct server *s, size_t index)
{
        enum { CHUNK = 65536 };
        struct aside *a = s->asides[index];
        char bytes[CHUNK];
        ssize_t n = read(a->fd, bytes, sizeof bytes);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;

        if (n > 0 && a->got.n + (size_t) n <= ASIDE_BYTES_MAX) {
                buf_add(&a->got, bytes, (size_t) n);
                return;
        }

        a->got.failed |= n != 0;
        struct client *asks = a->client && asks_first(a) ? a->client : NULL;
        struct buf question = asks ? a->got : (struct buf){ 0 };
        if (asks)
                a->got = (struct buf){ 0 };
        else if (a->client)
                answer(a);
        aside_free(s, index);
        if (asks)
                s->ask(s, asks, question_of(&question));
        buf_done(&question);
}

void aside_drop(struct server *s, const struct client *c)
{
        for (size_t i = 0; i < ASIDES_MAX; i++)
                if (s->asides[i] && s->asides[i]->client == c)
                        s->asides[i]->client = NULL;
}

void asides_late(struct server *s)
{
        for (size_t i = 0; i < ASIDES_MAX; i++)
                if (s->asides[i] && clock_mono_ns() >= s->asides[i]->deadline_ns) {
                        s->asides[i]->got.failed = true;
                        if (s->asides[i]->client)
                                answer(s->asides[i]);
                        aside_free(s, i);
                }
}

/* SPDX-License-Identifier: MIT */
/* face/serve/aside.c - work that may wait for a disk, the ledger or another process, in a process of its own:
 * the loop goes on driving boxes. The child has the memory of the server and none of its descriptors but one
 * pipe. */
#include "base/clock.h"
#include "base/fd.h"
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

/* On the pipe: the bytes of the answer, or of a question to a person; and last which of them, if it is whole.
 */
enum { ANSWER = 'A', QUESTION = 'Q' };
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
        bool asks = r.status == STATUS_ASKS;
        struct buf *b = &c->client->h.out;
        c->client->h.sent = b->n = 0; /* what waits there, the server sends */
        r.status = r.status ? r.status : 500;
        if (asks)
                buf_add(b, r.body.p, r.body.n);
        else
                client_put(c->client, &r);
        buf_putc(b, asks ? QUESTION : ANSWER);
        _exit(b->failed || fd_write_all(out, b->p, b->n) < 0);
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
        c->client->h.busy = true;
}

/* ---- its answer ---- */

static void answer(struct aside *a)
{
        struct reply r = { 0 };
        if (!a->got.failed && a->got.n > 1 && a->got.p[a->got.n - 1] == ANSWER) {
                const char *digits = a->got.n > 9 ? a->got.p + strlen("HTTP/1.1 ") : "";
                log_request(a->client, (unsigned) strtoul(digits, NULL, 10), a->got.n - 1);
                buf_add(&a->client->h.out, a->got.p, a->got.n - 1);
                http_conn_answered(&a->client->h);
                return;
        }

        reply_problem(&r, 500, "internal", "the question was not answered", NULL);
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
        struct client *asks =
                a->client && !a->got.failed && a->got.n > 1 && a->got.p[a->got.n - 1] == QUESTION ? a->client
                                                                                                  : NULL;
        struct buf question = asks ? a->got : (struct buf){ 0 };
        if (asks)
                a->got = (struct buf){ 0 };
        else if (a->client)
                answer(a);
        aside_free(s, index);
        if (asks)
                s->ask(s, asks, span_of(question.p, question.n - 1));
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

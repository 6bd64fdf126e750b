/* SPDX-License-Identifier: MIT */
/* face/serve/job_start.c - starts a run in a box, and turns its output into events. */
#include "base/base64.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "face/serve/internal.h"

#include <stdio.h>
#include <string.h>

/* An event's id is where the next one begins: a client that comes back names it. */
void job_event(struct job *j, const char *name, const struct buf *data)
{
        AUTO_BUF(text);
        buf_printf(&text, "event: %s\ndata: %s\n", name, buf_str(data));
        size_t end = j->events.n + text.n;
        char id[48];
        int n = snprintf(id, sizeof id, "id: %zu\n\n", end);
        (void) snprintf(id, sizeof id, "id: %zu\n\n", end + (size_t) n);
        if (strlen(id) != (size_t) n)
                (void) snprintf(id, sizeof id, "id: %zu\n\n", end + (size_t) n + 1);
        buf_puts(&text, id);
        buf_add(&j->events, buf_str(&text), text.n);
}

/* More than an answer has room for: all of it is in a file. One that cannot be written ends there. */
static void spill(struct job *j, size_t at, const void *data, size_t len)
{
        const struct buf *b = &j->text[at];
        if (j->spill[at] < 0 && !j->out_bytes[at]) {
                j->spill[at] = store_open_output(j, (unsigned) at + 1, true);
                if (j->spill[at] < 0 || fd_write_all(j->spill[at], b->p, b->n) < 0)
                        fd_close(&j->spill[at]);
                j->out_bytes[at] = b->n;
        }

        uint64_t most = tenant_keep(j->tenant)->bytes;
        if (j->spill[at] < 0)
                return;
        if (j->out_bytes[at] + len > most || fd_write_all(j->spill[at], data, len) < 0)
                fd_close(&j->spill[at]);
        else
                j->out_bytes[at] += len;
}

static void on_output(void *ctx, int stream, const void *data, size_t len)
{
        struct job *j = ctx;
        struct buf *b = &j->text[stream == 2];
        size_t room = b->n < OUTPUT_MAX ? OUTPUT_MAX - b->n : 0;
        j->bytes += len;
        j->cut |= len > room;
        if (len > room)
                spill(j, stream == 2, data, len); /* with the part that text[] still has room for */
        len = len < room ? len : room;
        if (len == 0)
                return;

        AUTO_BUF(event);
        buf_add(b, data, len);
        buf_printf(&event, "{\"stream\":\"%s\",\"base64\":\"", stream == 2 ? "stderr" : "stdout");
        base64_put(span_of(data, len), &event);
        buf_puts(&event, "\"}");
        if (j->events.n + event.n < EVENTS_MAX)
                job_event(j, "output", &event);
}

static void on_held(void *ctx, const char *id, const char *effect, unsigned within_s)
{
        struct job *j = ctx;
        AUTO_BUF(event);
        buf_putc(&event, '{');
        buf_member(&event, "id", id);
        buf_member(&event, "effect", effect);
        buf_member_int(&event, "within_s", within_s);
        buf_putc(&event, '}');
        job_event(j, "approval", &event);
        tenant_book(j->tenant)->asked++;
        j->asks++;
}

bool job_set_up(cordon_box *b, const char *work, const char *pool)
{
        const struct {
                cordon_option option;
                const char *value;
        } set[] = { { CORDON_SINGLE_THREAD, "1" }, { CORDON_CWD, work },  { CORDON_CWD_MADE, "1" },
                    { CORDON_OBSERVE, "denials" }, { CORDON_POOL, pool }, { CORDON_LEDGER, "require" } };
        for (size_t i = 0; i < sizeof set / sizeof *set; i++)
                if (set[i].value && cordon_box_set(b, set[i].option, set[i].value) < 0)
                        return false;
        return true;
}

int job_start(struct job *j, cordon_error *e)
{
        struct err *err = (struct err *) e;
        if (j->session && j->session->over)
                return err_set(err, ERR_GONE, 0, "the session has ended");

        j->canary = j->registered ? canary_run_new(j->tenant, j->policy_name) : NULL;
        if (j->canary && tenant_opens_gpu(canary_run_policy(j->canary)) != j->gpu) {
                canary_run_free(j->canary); /* nothing was taken for it */
                j->canary = NULL;
        }

        j->box = j->session  ? cordon_session_run(j->session->box)
                 : j->canary ? cordon_box_new(canary_run_policy(j->canary))
                             : cordon_box_new(held_policy(j->policy));
        const char *work = j->session  ? NULL
                           : j->canary ? canary_run_directory(j->canary)
                                       : held_policy_directory(j->policy);
        work = j->cwd ? j->cwd : work;
        if (!j->box || (!j->session && !job_set_up(j->box, work, tenant_pool(j->tenant))) ||
            (j->session && work && cordon_box_set(j->box, CORDON_CWD, work) < 0) ||
            cordon_box_command(j->box, (const char *const *) j->argv) < 0)
                return err_set(err, ERR_MEMORY, 0, "no memory for a run");

        j->input_fd = j->input.n ? fd_memory("stdin", j->input.p, j->input.n) : -1;
        if (j->input.n && j->input_fd < 0)
                return err_set(err, ERR_IO, errno, "no room for the input: %s", strerror(errno));

        if (j->timeout_ns)
                j->deadline_ns = clock_mono_ns() + j->timeout_ns;
        if (cordon_box_asked_by(j->session ? j->session->box : j->box, j->person, e) < 0)
                return -1;
        cordon_box_stdio(j->box, 0, j->input_fd);
        cordon_box_on_output(j->box, on_output, j);
        cordon_box_on_held(j->box, on_held, j);
        if (cordon_box_start_async(j->box, e) < 0)
                return -1;

        (void) snprintf(j->run, sizeof j->run, "%s", cordon_box_run_id(j->box));
        AUTO_BUF(event);
        buf_putc(&event, '{');
        buf_member(&event, "run", j->run);
        buf_putc(&event, '}');
        job_event(j, "start", &event);
        return 0;
}

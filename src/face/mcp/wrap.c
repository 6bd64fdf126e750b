/* SPDX-License-Identifier: MIT */
/* face/mcp/wrap.c - `cordon mcp wrap`: the loop between a client and a server in a box. */
#include "face/mcp/wrap.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "face/mcp/checked.h"
#include "face/mcp/mcp_http.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the box ---- */

static void on_output(void *ctx, int stream, const void *data, size_t len)
{
        struct wrap *w = ctx;
        uint64_t cuts;
        size_t n = 0;
        if (stream == 1) {
                buf_add(&w->server.got, data, len);
                return;
        }

        char *inert = cordon_inert(data, len, &n, &cuts);
        (void) fd_write_all(2, inert, inert ? n : 0);
        cordon_free(inert);
}

static void on_held(void *ctx, const char *id, const char *effect, unsigned within_s)
{
        wrap_say(ctx, "held: %s; answer within %u s: cordon approve %.12s", effect, within_s, id);
}

static void on_answer(void *ctx, unsigned number, int yes) { wrap_answered(ctx, number, yes); }

static int start_box(struct wrap *w, cordon_error *e)
{
        int ends[2];
        const struct mcp_wrap_options *o = w->o;
        if (pipe2(ends, O_CLOEXEC) < 0)
                return err_set((struct err *) e, ERR_IO, errno, "no pipe: %s", strerror(errno));

        w->into = ends[0];
        w->server.c.fd = ends[1];
        w->box = cordon_box_new(o->policy);
        const struct mcp_options plain = { .stage = o->stage, .places = o->places, .ledger = o->ledger };
        if (!w->box || !mcp_box_set_up(&plain, w->box) || cordon_box_command(w->box, o->argv) < 0)
                return err_set((struct err *) e, ERR_MEMORY, 0, "no memory for a box");

        cordon_box_stdio(w->box, 0, w->into);
        cordon_box_on_output(w->box, on_output, w);
        cordon_box_on_held(w->box, on_held, w);
        cordon_box_on_tool_answer(w->box, on_answer, w);
        return cordon_box_start_async(w->box, e);
}

/* ---- the loop ---- */

static void take_client_lines(struct wrap *w)
{
        AUTO_BUF(line);
        bool too_long;
        mcp_link_read(&w->client);
        while (mcp_link_line(&w->client, &line, &too_long))
                if (line.n > 0)
                        wrap_from_client(w, too_long || line.n > w->o->max ? span_str("too long")
                                                                           : buf_span(&line));
}

static void take_server_lines(struct wrap *w)
{
        AUTO_BUF(line);
        bool too_long;
        while (mcp_link_line(&w->server, &line, &too_long)) {
                if (too_long || line.n > w->o->max) {
                        wrap_say(w, "the server sent a message of more than %zu bytes; it is dropped",
                                 w->o->max);
                        for (size_t i = 0; i < WRAP_PENDING_MAX; i++)
                                if (w->pending[i].id)
                                        wrap_give_up(&w->pending[i],
                                                     "the server sent a message that is too long");
                } else if (line.n > 0)
                        wrap_from_server(w, buf_span(&line));
        }
}

/* The server is told to stop, and a late answer is dropped. */
static void give_up_late(struct wrap *w)
{
        uint64_t now = clock_mono_ns();
        for (size_t i = 0; i < WRAP_PENDING_MAX; i++) {
                struct wrap_pending *p = &w->pending[i];
                if (!p->id || now < p->deadline_ns)
                        continue;

                wrap_cancel(w, p);
                wrap_give_up(p, "the server did not answer in time");
        }
}

static int next_ms(const struct wrap *w)
{
        int ms = cordon_box_next_ms(w->box), http = w->front ? mcp_http_next_ms(w->front) : -1;
        ms = http >= 0 && (ms < 0 || http < ms) ? http : ms;
        for (size_t i = 0; i < WRAP_PENDING_MAX; i++) {
                if (!w->pending[i].id || w->pending[i].deadline_ns == UINT64_MAX)
                        continue;
                int left = clock_left_ms(w->pending[i].deadline_ns);
                ms = ms < 0 || left < ms ? left : ms;
        }
        return ms;
}

/* Returns true when the box has ended. */
static bool turn_wrap(struct wrap *w)
{
        struct pollfd v[4 + WRAP_HTTP_POLLED] = {
                { .fd = w->client.c.gone ? -1 : w->client.in, .events = POLLIN },
                { .fd = w->client.c.out.n && !w->client.c.gone ? w->client.c.fd : -1, .events = POLLOUT },
                { .fd = w->server.c.out.n ? w->server.c.fd : -1, .events = POLLOUT },
                { .fd = cordon_box_fd(w->box), .events = POLLIN }
        };
        if (w->front)
                wrap_http_watch(w, v + 4);
        (void) poll(v, w->front ? sizeof v / sizeof *v : 4, next_ms(w));
        if (v[0].revents)
                take_client_lines(w);
        if (w->front)
                w->client.c.gone |= wrap_http_step(w, v + 4);
        mcp_link_flush(&w->server);

        bool ended = cordon_box_step(w->box) != 0;
        take_server_lines(w);
        give_up_late(w);
        wrap_release(w);
        if (!w->front)
                mcp_link_flush(&w->client);
        if (!ended && cordon_box_is_up(w->box))
                mcp_check_ahead(w->box);
        return ended;
}

/* The end of the client's input is the end of the server's; then it has a moment, and what it answers
 * arrives: a client may have written all its requests at once. */
static void end_server(struct wrap *w)
{
        enum { GRACE_MS = 3000 };
        uint64_t until = clock_mono_ns() + GRACE_MS * 1000000ull;
        bool ended = false;
        w->client.in = -1;
        w->client.c.gone = false; /* its output may be open */
        while (!ended && w->server.c.out.n && !w->server.c.gone && clock_mono_ns() < until)
                ended = turn_wrap(w);
        if (w->server.c.fd >= 0)
                fd_close(&w->server.c.fd);
        w->server.c.gone = true;
        while (!ended && clock_mono_ns() < until) {
                struct pollfd p = { .fd = cordon_box_fd(w->box), .events = POLLIN };
                int ms = cordon_box_next_ms(w->box);
                (void) poll(&p, 1, ms < 0 || ms > 100 ? 100 : ms);
                ended = cordon_box_step(w->box) != 0;
                take_server_lines(w);
        }
        if (!ended)
                cordon_box_kill(w->box);
        while (!ended && cordon_box_wait(w->box, 1000) == 0)
                ;
}

static void wrap_done(struct wrap *w)
{
        for (size_t i = 0; i < WRAP_PENDING_MAX; i++)
                if (w->pending[i].id)
                        wrap_give_up(&w->pending[i], "the server has ended");
        for (size_t i = 0; i < WRAP_BACK_MAX; i++)
                free(w->back[i]);

        if (w->front)
                wrap_http_done(w);
        for (unsigned i = 0; i < 100 && w->client.c.out.n && !w->client.c.gone; i++) {
                (void) fd_await(w->client.c.fd, POLLOUT, 100);
                mcp_link_flush(&w->client);
        }
        cordon_box_free(w->box);
        wrap_pins_done(&w->pins);
        free(w->instructions);
        buf_done(&w->seen);
        buf_done(&w->seen_names);
        buf_done(&w->refused);
        buf_done(&w->client.got);
        buf_done(&w->client.c.out);
        buf_done(&w->server.got);
        buf_done(&w->server.c.out);
        fd_close(&w->into);
        if (w->server.c.fd >= 0)
                fd_close(&w->server.c.fd);
}

static int load_pins(struct wrap *w, cordon_error *e)
{
        char *text = cordon_pins_read(w->o->cx, w->o->name, e);
        if (!text)
                return -1;

        w->first_sight = text[0] == '\0';
        int r = wrap_pins_load(&w->pins, text);
        cordon_free(text);
        if (r == 0)
                return 0;

        (void) err_set((struct err *) e, ERR_IO, 0, "the pinned tools of %s cannot be read", w->o->name);
        return err_hint((struct err *) e, "see what it offers now, and pin it anew: cordon mcp accept %s",
                        w->o->name);
}

int mcp_wrap(const struct mcp_wrap_options *o, int *ret_status, cordon_error *e)
{
        struct wrap w = {
                .o = o, .client = { .in = 0, .c.fd = 1 }, .server = { .in = -1, .c.fd = -1 }, .into = -1
        };
        struct mcp_server front = { 0 };
        (void) signal(SIGPIPE, SIG_IGN);
        int r = load_pins(&w, e) < 0 || (o->http && wrap_http_open(&w, &front, e) < 0) || start_box(&w, e) < 0
                        ? -1
                        : 0;
        bool ended = r < 0;
        while (!ended && !w.client.c.gone)
                ended = turn_wrap(&w);

        const bool left = w.client.c.gone;
        if (r == 0 && !ended)
                end_server(&w);
        if (r == 0) {
                const cordon_result *result = cordon_box_result(w.box);
                if (result->error)
                        wrap_say(&w, "%s", result->error->what);
                o->ended(cordon_box_result(w.box), cordon_box_run_id(w.box));
                bool ran = result->end != CORDON_FAILED && result->end != CORDON_NOT_STARTED;
                *ret_status = left && ran ? 0 : cordon_result_status(result);
        }
        wrap_done(&w);
        return r;
}

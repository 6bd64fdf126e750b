/* SPDX-License-Identifier: MIT */
/* run/api/api_gate.c - approvals: the sockets on which boxes wait for them, and figures about past ones. */
#include "base/fd.h"
#include "base/limits.h"
#include "base/store/store.h"
#include "ledger/ledger.h"
#include "run/api/internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int cordon_gates(void (*each)(void *ctx, const char *run, unsigned uid), void *ctx, cordon_error *e)
{
        return box_gates_each(each, ctx, to_err(e));
}

int cordon_gate_connect(const char *run, unsigned uid, cordon_error *e)
{
        return box_gate_connect(run, uid, to_err(e));
}

/* Up to the end of its line. */
static bool read_line(int fd, struct buf *out)
{
        enum { ANSWER_MAX = 16 << 20, ANSWER_MS = 10000 };
        char chunk[16384];
        while (out->n < ANSWER_MAX && fd_await(fd, POLLIN, ANSWER_MS)) {
                ssize_t n = recv(fd, chunk, sizeof chunk, 0);
                if (n <= 0)
                        return false;
                buf_add(out, chunk, (size_t) n);
                if (chunk[n - 1] == '\n')
                        return !out->failed;
        }
        return false;
}

char *cordon_gate_ask(const char *run, unsigned uid, const char *request, cordon_error *e)
{
        AUTO_BUF(line);
        AUTO_BUF(q);
        AUTO_FD(fd, cordon_gate_connect(run, uid, e));
        if (fd < 0)
                return NULL;

        buf_printf(&q, "%s\n", request);
        if (!q.failed && send(fd, q.p, q.n, MSG_NOSIGNAL) == (ssize_t) q.n && read_line(fd, &line))
                return api_give(&line, to_err(e));

        (void) err_set(to_err(e), ERR_GONE, errno, "the box does not answer");
        return NULL;
}

int cordon_state_check(const cordon_context *cx, cordon_error *e) { return store_variable(cx, to_err(e)); }

char *cordon_approvals(const cordon_context *cx, int json, cordon_error *e)
{
        AUTO_BUF(out);
        if (box_approvals(cx, json, &out) < 0)
                out.failed = true;
        return api_give(&out, to_err(e));
}

/* A run, by its id or the name of its box, or one record. */
static int find_harm(const struct ledger_log *l, const char *id, struct ledger_view *ret, struct err *e)
{
        char run[LEDGER_ID_MAX], start[LEDGER_ID_MAX + sizeof ".start"];
        struct ledger_graph *g = ledger_graph_new(l, e);
        struct err none;
        int64_t at = g ? ledger_graph_find(g, id, &none) : -1;
        if (g && at < 0 && ledger_find_run(l, id, run, e) == 0) {
                (void) snprintf(start, sizeof start, "%s.start", run);
                at = ledger_graph_find(g, start, e);
        }

        ledger_graph_free(g);
        return at < 0 ? -1 : ledger_log_view(l, (uint64_t) at, ret);
}

/* Of what nobody was asked about: the record of it is the incident's cause. */
static int record_harm(const cordon_context *cx, const char *id, const char *text, struct err *e)
{
        char cause[LEDGER_ID_MAX], target[2048], box[NAME_MAX_BYTES];
        struct ledger_view v;
        struct ledger_log *l = api_log_open(cx, NULL, e);
        int done = l ? find_harm(l, id, &v, e) : -1;
        struct ledger *to = done == 0 ? api_log_as(cx, "incident", e) : NULL;
        if (to) {
                struct ledger_record r = ledger_record_of(LEDGER_GATE, LEDGER_HUMAN);
                r.result = "incident";
                r.target = ledger_plain(v.target, target, sizeof target);
                r.box = ledger_plain(v.box, box, sizeof box);
                r.parents[r.parent_count++] = ledger_plain(v.id, cause, sizeof cause);
                ledger_more_text(&r, "reason", text);
                ledger_more_number(&r, "uid", (int64_t) getuid());
                done = ledger_append(to, &r, true, NULL, e);
        }

        ledger_close(to);
        ledger_log_free(l);
        return to ? done : -1;
}

int cordon_incident(const cordon_context *cx, const char *id, const char *text, cordon_error *e)
{
        int r = box_incident(cx, id, text, to_err(e));
        return r > 0 ? record_harm(cx, id, text, to_err(e)) : r;
}

int cordon_decoys(const cordon_context *cx, int on, cordon_error *e) { return box_decoys(cx, on, to_err(e)); }

/* ---- persons of a face ---- */

char *api_gate_request(struct box *b, const cordon_person *who, const char *request, struct err *e)
{
        AUTO_BUF(out);
        if (b && box_gate_request(b, who, span_str(request), &out) == 0)
                return api_give(&out, e);

        (void) err_set(e, ERR_GONE, 0, "nothing of this box asks for an approval");
        return NULL;
}

char *cordon_box_gate(cordon_box *b, const cordon_person *who, const char *request, cordon_error *e)
{
        return api_gate_request(b->box, who, request, to_err(e));
}

int cordon_box_asked_by(cordon_box *b, const char *person, cordon_error *e)
{
        box_people_add(&b->c.askers, person);
        return b->box ? box_asked_by(b->box, person, to_err(e)) : 0;
}

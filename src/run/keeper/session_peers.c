/* SPDX-License-Identifier: MIT */
/* run/keeper/session_peers.c - the session's side of runs whose keeper is another process (session_join.c).
 * Each is a struct box with a line to that process: init's messages about the run go out over it, orders
 * about the run come in and are passed on to init. When the line ends, the run is killed.
 *
 * Nothing here waits for a peer: lines are non-blocking, and a message that a peer does not take is lost. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "run/keeper/internal.h"
#include "run/keeper/session_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 16 };
enum peer_source { PEER_LINE = 0, PEER_SPARE };

unsigned session_count(const struct box *session)
{
        unsigned n = 0;
        for (const struct box *b = session->runs; b; b = b->sibling)
                n++;
        return n;
}

static int watch_line(const struct box *session, const struct box *b, int fd, enum peer_source source)
{
        struct epoll_event ev = { .events = EPOLLIN, .data.u64 = (uint64_t) b->id << 1 | source };
        return epoll_ctl(session->peers, EPOLL_CTL_ADD, fd, &ev);
}

static bool connect_peer(struct box *session, struct box *b, int ends[2], struct err *e)
{
        if (session->peers < 0)
                session->peers = epoll_create1(EPOLL_CLOEXEC);

        b->session_line = ends[1];
        b->child.spare = session->ahead >= 0 ? TAKE_FD(session->ahead) : wall_spare_add(&session->child, e);
        if (b->child.spare < 0)
                return false;

        if (fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 && fcntl(b->child.spare, F_SETFL, O_NONBLOCK) == 0 &&
            session->peers >= 0 && watch_line(session, b, ends[1], PEER_LINE) == 0 &&
            watch_line(session, b, b->child.spare, PEER_SPARE) == 0)
                return true;

        (void) err_set(e, ERR_IO, errno, "watching a run of the session failed");
        return false;
}

int session_admit(struct box *session, struct err *e)
{
        int ends[2];
        if (!session_takes_runs(session))
                return err_set(e, ERR_GONE, 0, "this box takes no runs: it is not a session, or is over");

        if (session_count(session) >= WALL_RUNS_MAX)
                return err_set(e, ERR_USAGE, 0, "the session has %d runs, and takes no more at a time",
                               WALL_RUNS_MAX);

        struct box *b = calloc(1, sizeof *b);
        if (!b || wire_pair(ends) < 0) {
                free(b);
                return err_set(e, ERR_MEMORY, errno, "no memory for a run");
        }

        b->session_line = b->child.spare = -1;
        b->remote = true;
        b->session = session;
        b->id = ++session->id;
        b->sibling = session->runs;
        session->runs = b;
        if (connect_peer(session, b, ends, e))
                return ends[0];

        session_drop_peer(b);
        (void) close(ends[0]);
        return -1;
}

/* ---- what comes ---- */

/* The spare waits for its order, which the peer sends: it gets the spare's line. */
static bool give_spare(struct box *session, struct box *b)
{
        struct wall_message m;
        int r = wall_spare_listen(b->child.spare, &m);
        if (r < 0 && errno == EAGAIN)
                return true;

        struct session_joined j = { .id = b->id,
                                    .layers = session->run.r.layers,
                                    .memory_by_group = session->run.r.memory_by_group,
                                    .procs_by_group = session->run.r.procs_by_group,
                                    .cpu_by_group = session->run.r.cpu_by_group,
                                    .host_uid = session->start.host_uid,
                                    .host_gid = session->start.host_gid };
        bool ready = r == 1 && m.word == WALL_SAYS_READY;
        (void) label_text(&session->run.r.label, j.label);
        if (ready) {
                j.leader = m.run;
                session_enter_group(session, b, b->child.spare);
        } else {
                (void) snprintf(j.error, sizeof j.error, "%.300s",
                                r == 1 && m.word == WALL_SAYS_ERROR
                                        ? m.error.what
                                        : "the session makes no process for this run");
        }

        b->leader = j.leader;
        b->handed_over = ready;
        (void) epoll_ctl(session->peers, EPOLL_CTL_DEL, b->child.spare, NULL); /* the peer has a copy */
        int sent = wire_put(b->session_line, &session_joined_form, &j, ready ? b->child.spare : -1);
        fd_close(&b->child.spare);
        session_request_ahead(session);
        return sent == 0 && ready;
}

static bool pass_order(struct box *session, struct box *b)
{
        struct wall_relayed o;
        int r = wall_relay(b->session_line, &session->child, b->leader, b->id, &o);
        if (r != 1)
                return r < 0 && errno == EAGAIN;

        b->begun |= o.begins;
        b->wants_tty |= o.tty;
        b->asks_label |= o.labels;
        if (o.labels)
                b->c.label = label_of(o.label);
        if (o.tells)
                causes_of_peer(b, o.causes);
        return true;
}

static struct box *find_peer(struct box *first, uint32_t id)
{
        for (struct box *b = first; b; b = b->sibling)
                if (b->id == id && b->remote)
                        return b;
        return NULL;
}

static struct box *peer_of(const struct box *session, uint32_t id)
{
        struct box *b = find_peer(session->runs, id);
        return b ? b : find_peer(session->ended, id);
}

void session_serve_peers(struct box *session)
{
        struct epoll_event ev[EVENTS];
        int n = epoll_wait(session->peers, ev, EVENTS, 0);
        for (int i = 0; i < n; i++) {
                struct box *b = peer_of(session, (uint32_t) (ev[i].data.u64 >> 1));
                if (!b)
                        continue;
                bool spare = (ev[i].data.u64 & 1) == PEER_SPARE;
                if (spare ? !give_spare(session, b) : !pass_order(session, b))
                        session_drop_peer(b);
        }
}

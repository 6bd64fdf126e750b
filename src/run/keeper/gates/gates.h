/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/gates.h - effects of a box that wait for an approval, and the persons who answer.
 *
 *   gates.c      its part of the keeper's loop
 *   tool_gate.c  calls of tools of a server in the box
 *   renew_gate.c renewals of the box's time
 *   apply_gate.c the same after the box has ended, for an apply of its overlay
 *   desk.c       the list of held effects: takes them from the broker, applies answers, lets go, records
 *   channel.c    the approver's socket: JSON lines, docs/approve-protocol.md
 *   peer.c       who is at the other end of that socket
 *   decisions.c  the file of past decisions, for the figures of fatigue
 */
#pragma once
#include "base/arena.h"
#include "effect/gate/gate.h"
#include "run/keeper/internal.h"

#include <sys/epoll.h>

/* The method of an apply with entries that the host would execute or trust. */
#define GATE_APPLY_FLAGGED "apply-flagged"
enum { DESK_MAX = 128, GRANTS_MAX = 64, APPROVERS_MAX = 8, APPROVER_LINE = 65536 };

struct desk_item {
        struct gate_item gate;
        enum desk_source source;
        uint32_t number; /* of its source */
        uint64_t group;  /* of the broker: of whose socket it is; 0: not known */
        const struct door *door;
        bool ready;      /* all of it has arrived */
        bool announced;  /* to the caller */
        bool high;       /* its risk */
        struct buf text; /* envelope, newline, what is shown */
        size_t shown_at; /* in it */
        struct arena mem;
        struct gate_envelope envelope;
        int64_t asked_ms;
        struct {
                uint64_t uid;
                int64_t ms;
        } shown[GATE_VOTERS_MAX];
        unsigned shown_count;
};

struct desk_told { /* an answer about a connection to a `listen` door, a call of a tool or the use of a key */
        enum desk_source source;
        uint32_t number;
        bool yes;
        enum effect_reason why;
};

struct renew_told { /* an answer about a renewal, until renew_settle() */
        bool is, yes;
        enum effect_reason why;
};

struct approver { /* one connection */
        int fd;
        uint64_t uid;
        const cordon_person *face; /* not a connection: a person whom the face has authenticated */
        int32_t pid;
        bool watches;
        struct buf in, out;
        size_t sent;
};

struct gates {
        int epoll, listener;
        int line; /* to the broker, or -1 */
        struct desk_item *items[DESK_MAX];
        unsigned count;
        struct gate_grant grants[GRANTS_MAX];
        uint64_t kin[GRANTS_MAX]; /* of what each was given for */
        unsigned grant_count;
        struct renew_told renew_told;
        struct door renewal; /* stands for `limit renew N ask`, which is no door */
        bool *opened;        /* parallel to the doors: `ask first`, and it was approved */
        struct approver approvers[APPROVERS_MAX];
        struct desk_told told[DESK_MAX]; /* delivered by gates.c */
        unsigned told_count;
        unsigned start_waiting, start_denied; /* doors that ask before the start, or an apply */
        enum effect_reason start_why;         /* of the last one denied */
        const char *policy;                   /* of an apply: the digest of the run's policy; else NULL */
        bool changed;                         /* the list is, and approvers that watch it are told */
};

enum { KEY_LISTENER = 0, KEY_LINE, KEY_APPROVERS };
static inline int gates_watch(const struct gates *g, int fd, uint64_t key)
{
        struct epoll_event e = { .events = EPOLLIN, .data.u64 = key };
        return epoll_ctl(g->epoll, EPOLL_CTL_ADD, fd, &e);
}

/* gates.c */
int gates_make(struct box *b, struct err *e);
/* Whose box it is, for people; or "". */
static inline const char *gates_tenant(const struct box *b) { return b->c.cx ? b->c.cx->tenant.name : ""; }
void gates_free(struct box *b);

/* desk.c */
void desk_expire(struct box *b);
void desk_clear(struct box *b); /* the box has ended: what waits is withdrawn */
int64_t desk_now_ms(void);
void desk_hear(struct box *b); /* the broker */
struct desk_item *desk_find(struct gates *g, const char *id);
/* The rule for an answer of this person now: of the door and of the ladder. */
struct gate_rule desk_rule(struct box *b, const struct desk_item *it, enum gate_step step);
enum gate_verdict desk_vote(struct box *b, struct desk_item *it, const struct gate_rule *r,
                            struct gate_vote *v);
/* No like effect is among the last approvals. */
bool desk_is_new(struct box *b, const struct desk_item *it);
/* All approvals that a template has left are void; "*": of every template. Returns how many. */
unsigned desk_revoke(struct box *b, const char *template_id, const struct approver *by);
void desk_shown(struct desk_item *it, uint64_t uid);
int64_t desk_shown_ms(const struct desk_item *it, uint64_t uid);
uint32_t desk_chars(const struct desk_item *it);
/* "POST https://api.test/pay" */
void desk_summary(const struct desk_item *it, struct buf *out);

/* The line of the policy that asks. */
void desk_door(const struct box *b, const struct desk_item *it, struct buf *out);

/* channel.c */
int channel_open(struct box *b, struct err *e);
void channel_accept(struct box *b);
void channel_serve(struct box *b, unsigned at, uint32_t events);
void channel_changed(struct box *b); /* approvers that watch are told */
void channel_close(struct gates *g);

/* peer.c */
/* May this user connect at all: the user of the box, and members of groups that doors name. */
bool peer_may_connect(const struct box *b, uint32_t uid);
bool peer_in_group(uint32_t uid, const char *group);
/* The uid of a user of this host with this name, else the number of a person of a face. */
uint64_t peer_number(const char *name);
/* A process of this host's own namespaces in the foreground of a terminal. */
bool peer_at_terminal(int32_t pid);

/* SPDX-License-Identifier: MIT */
/* api/teacher.h - what the files of learning share: one command that is run again and again, and what is
 * known of it by now. */
#pragma once
#include "api/internal.h"
#include "base/hash.h"
#include "learn/learn.h"

enum { TEACHER_TAIL = 2048, NET_PROBES_MAX = 96, NET_ANSWERS_MAX = 96, NET_HOST = 264 };

/* A host that was asked for: at 443 and 80, or at one port. Doors to a path that nobody can guess let the
 * broker read its requests, and refuse each. */
struct net_probe {
        char host[NET_HOST]; /* "example.org", "[2001:db8::1]" */
        uint16_t port;       /* 0: the two that need not be said */
};
struct net_answer { /* a person's, about one destination */
        char to[NET_HOST + 8];
        bool yes;
        unsigned tried_with; /* how many credentials were tried for what it refused */
};
struct net_lesson {
        bool holds;  /* this host can hold net doors */
        bool wanted; /* a socket was refused: from now on there is a broker */
        bool again;  /* this round told something that the next one can use */
        char secret[33];
        char program[64]; /* who was refused a socket; "": nobody, or several */
        bool several;
        struct net_probe probe[NET_PROBES_MAX];
        unsigned probes;
        struct net_answer answer[NET_ANSWERS_MAX];
        unsigned answers;
        struct policy_places *places;
};

struct teacher { /* what one run needs to know */
        const struct cordon_context *cx;
        const cordon_learning *o;
        unsigned begun;           /* boxes so far */
        bool from_log;            /* a command is not needed */
        struct policy_context at; /* what {work} and {home} mean */
        struct sha256 printed[2]; /* standard output, standard error */
        bool blind; /* misses below {work} are not told: a box has files of its own there, or `unwatched` */
        bool unwatched;          /* without /dev/fuse no miss is told */
        char tail[TEACHER_TAIL]; /* the end of what it said on standard error */
        size_t tail_len;
        struct net_lesson net;
        struct lib_dummies dummies;
};

/* ---- learn_names.c ---- */
/* Another name of that file, where keys and tokens lie; false: none that is known. */
bool teacher_other_name(const char *home, const char *path, char *ret, size_t cap);
/* See `secrets` of struct learn_context. Of a large tree, what lies among its first names. */
bool teacher_secrets(void *ctx, const char *dir, void (*each)(void *to, const char *below), void *to);

bool teacher_holds_key(void *ctx, const char *path);
/* A dot path below the home that the caller named. */
bool teacher_agreed(void *ctx, const char *path);

/* ---- learn_net.c ---- */
int teacher_net_begin(struct teacher *t, cordon_error *e);
void teacher_net_done(struct teacher *t);
/* Doors behind which a run that is watched shows what it asks for. Not part of any draft. */
void teacher_net_doors(const struct teacher *t, struct buf *out);
/* A socket was refused, by this program. True: it is learned from here on, not told as a call. */
bool teacher_net_socket(struct teacher *t, const cordon_denial *d);
/* What the broker refused. */
void teacher_net_tell(struct teacher *t, struct learn *l, unsigned run, const cordon_box *b);
void teacher_net_configure(const struct teacher *t, cordon_box *b);
bool teacher_net_place(void *ctx, const char *url, struct buf *ret);

/* ---- learn_log.c ---- */
/* Closes what no past run used; tells how many there were. */
int teacher_close_unused(const struct teacher *t, struct learn_draft *d, cordon_learned *ret,
                         cordon_error *e);

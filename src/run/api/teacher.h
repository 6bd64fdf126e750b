/* SPDX-License-Identifier: MIT */
/* run/api/teacher.h - declarations shared by the files of learning: one command that is run repeatedly, and
 * what is known of it by now. */
#pragma once
#include "base/hash.h"
#include "policy/learn/learn.h"
#include "run/api/internal.h"

enum { TEACHER_TAIL = 2048, NET_PROBES_MAX = 96, NET_ANSWERS_MAX = 96, NET_HOST = 264 };

/* A requested host: at 443 and 80, or at one port. Doors to an unguessable path let the broker read its
 * requests, and deny each. */
struct net_probe {
        char host[NET_HOST]; /* "example.org", "[2001:db8::1]" */
        uint16_t port;       /* 0: the two defaults */
};
struct net_answer { /* a person's, about one destination */
        char to[NET_HOST + 8];
        bool yes;
        unsigned tried_with; /* how many credentials were tried for its denials */
};
struct net_lesson {
        bool holds;  /* this host can hold net doors */
        bool wanted; /* a socket was denied: from now on the box has a broker */
        bool again;  /* this round found something that the next one can use */
        char secret[33];
        char program[64]; /* the program that was denied a socket; "": none, or several */
        bool several;
        struct net_probe probe[NET_PROBES_MAX];
        unsigned probes;
        struct net_answer answer[NET_ANSWERS_MAX];
        unsigned answers;
        struct policy_places *places;
        char **reached; /* "host:port" that runs of a given policy connected to */
        size_t reached_count;
        bool reached_lost; /* and others, of which nothing is known */
};

struct teacher { /* the inputs of one run */
        const struct cordon_context *cx;
        const cordon_learning *o;
        unsigned begun;           /* boxes so far */
        bool from_log;            /* a command is not needed */
        struct policy_context at; /* the values of {work} and {home} */
        struct sha256 printed[2]; /* standard output, standard error */
        struct learn_printed lines[2];
        bool blind; /* misses below {work} are not reported: a box has files of its own there, or `unwatched`
                     */
        bool unwatched;          /* without /dev/fuse no miss is reported */
        char tail[TEACHER_TAIL]; /* the end of its standard error */
        size_t tail_len;
        struct net_lesson net;
        struct api_dummies dummies;
};

/* ---- learn_names.c ---- */
/* Another name of that file, in a directory of keys and tokens; false: none is known. */
bool teacher_other_name(const char *home, const char *path, char *ret, size_t cap);
/* See `secrets` of struct learn_context. Of a large tree, only its first names. */
bool teacher_secrets(void *ctx, const char *dir, void (*each)(void *to, const char *below), void *to);

bool teacher_holds_key(void *ctx, const char *path);
/* A dot path below the home that the caller named. */
bool teacher_agreed(void *ctx, const char *path);

/* ---- learn_net.c ---- */
int teacher_net_begin(struct teacher *t, cordon_error *e);
void teacher_net_done(struct teacher *t);
/* Doors behind which a watched run shows its requests. Not part of any draft. */
void teacher_net_doors(const struct teacher *t, struct buf *out);
/* This program was denied a socket. Returns true if it is learned from here on, not reported as a call. */
bool teacher_net_socket(struct teacher *t, const cordon_denial *d);
/* Notes what a run of a given policy connected to. */
void teacher_net_note(struct teacher *t, const cordon_box *b);
/* Doors to these are not tried without: here nothing leaves through them, so a run without is no proof. */
void teacher_net_spare(void *ctx, struct learn_draft *d);
/* The broker's denials. */
void teacher_net_tell(struct teacher *t, struct learn *l, unsigned run, const cordon_box *b);
void teacher_net_configure(const struct teacher *t, cordon_box *b);
bool teacher_net_place(void *ctx, const char *url, struct buf *ret);

/* ---- learn_log.c ---- */
/* Closes doors that no past run used; reports how many runs there were. */
int teacher_close_unused(const struct teacher *t, struct learn_draft *d, cordon_learned *ret,
                         cordon_error *e);

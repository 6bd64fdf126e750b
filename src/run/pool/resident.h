/* SPDX-License-Identifier: MIT */
/* run/pool/resident.h - the state of the resident; inside this folder only. */
#pragma once
#include "run/pool/shelf.h"

enum { PEERS_MAX = 64, SEEN_MAX = 128, SPARE_FDS = 5 };

struct peer {
        int fd;              /* -1: none */
        const char *refused; /* why its requests are: it is confined, or has not said hello */
        uint64_t until_ns;
};

/* One box, being parked or parked. */
struct slot {
        struct box *box; /* NULL: none */
        int epoll;
        unsigned shelf;
        uint64_t began_ns;
        bool ready;
};

struct pool {
        const struct cordon_context *cx;
        struct pool_settings s;
        int epoll, listener;
        pid_t listened; /* of pool_new() */
        int spare[SPARE_FDS];
        struct peer peers[PEERS_MAX];
        struct shelf shelves[SHELVES_MAX];
        struct slot *slots; /* s.boxes */
        struct child *children;
        unsigned child_count;
        size_t child_room;
        struct {
                uint8_t key[POOL_KEY];
                uint64_t at_ns;
        } seen[SEEN_MAX]; /* plans that no box was parked for */
        unsigned seen_at;
        uint64_t given, missed;
        char *packet; /* POOL_MESSAGE_MAX and the head */
};

/* pool_boxes.c */
/* Boxes of one shelf, or of all (SHELVES_MAX); `ready`: only those that wait for a run. */
unsigned pool_boxes(const struct pool *p, unsigned shelf, bool ready);
/* The shelf whose key begins with these bytes; NULL: none. */
struct shelf *pool_shelf(struct pool *p, const uint8_t *key, size_t n);

/* pool_report.c */
void pool_report_list(const struct pool *p, bool json, struct buf *out);
void pool_report_stats(const struct pool *p, bool json, struct buf *out);
/* "2 of 4 parked under KEY"; -1 with *e set: there are none, and why. */
int pool_report_state(struct pool *p, const uint8_t key[POOL_KEY], struct buf *out, struct err *e);

/* SPDX-License-Identifier: MIT */
/* run/pool/pool.h - parked boxes that a resident process keeps for others of the same user.
 *
 *   client                                     resident (cordon serve)
 *   plans its run; key of the plan  ──TAKE──▶  a box parked from the same plan?
 *   is the box's keeper from now on ◀─GIVEN──  its descriptors, and a new box is parked
 *                                   ◀──NONE──  none: the run starts cold
 *
 * The resident never sees a command, a variable or a byte of a run. It parks boxes from recipes: sealed box
 * plans that clients send. A client gets a box only for a key that it made from its own plan, a moment ago: a
 * file that was replaced behind a door, a door that expired or a policy that was edited is another key.
 *
 * A parked box has the resident's namespaces, groups and limits. So each looks at the other first: a client
 * that is confined in any way in which the resident is not gets nothing, and a client asks no resident that
 * is confined in a way in which it is not. */
#pragma once
#include "run/keeper/keeper.h"

/* What a box can be parked from, besides the box plan. */
struct pool_recipe {
        const struct plan *plan;
        const char *name;   /* for `cordon serve pool ls`: where the policy came from */
        const char *policy; /* canonical JSON */
        const char *places; /* the text of a places file, or "" */
        const char *digest; /* of the policy */
        const char *tenant; /* the tag of struct context_tenant; "": nobody's in particular */
        uint64_t beside;    /* what lies beside hidden names: api_park.c */
        unsigned mask;      /* the caller's umask */
        unsigned observe, stage;
        uint32_t id_first, id_count; /* of the tenant */
        bool own_core;
        bool require_groups, root, no_ledger, signals_stay_in;
        uid_t uid;
        gid_t gid;
};

enum { POOL_KEY = 32, POOL_MESSAGE_MAX = 192 * 1024 };

/* pool_recipe.c */
int pool_key(const struct pool_recipe *r, uint8_t ret[POOL_KEY]); /* -1: no memory */
void pool_recipe_seal(const struct pool_recipe *r, struct buf *out);
/* Reads it in place. */
int pool_recipe_open(void *p, size_t n, struct pool_recipe *ret, struct err *e);

/* recipe_diff.c: how many differences there are, and the first of them in words. */
unsigned pool_recipe_diff(const struct pool_recipe *parked, const struct pool_recipe *run, struct buf *out);

/* process_facts.c */
unsigned pool_umask(bool alone); /* alone: this process has one thread */

/* ---- the socket: pool_socket.c ---- */

/* Connects to the resident of this user. Returns a descriptor, -1 with *e set; ENOENT: there is none. */
int pool_connect(const struct cordon_context *cx, struct err *e);
/* In what the sender of this message, with this descriptor, is confined and the resident is not; NULL:
 * nothing. */
const char *pool_greet(int fd, int proof, pid_t listener);
pid_t pool_maker(int listener); /* the process that made an inherited socket; 0: none */
/* Makes the socket; -1 with *e set, EBUSY: another resident has it. *ret_lock is held as long as it is. With
 * `inherited` >= 0 only the lock is taken. */
int pool_listen(const struct cordon_context *cx, int inherited, int *ret_lock, struct err *e);
/* The directory of the socket: a box that could write there would be asked in place of the resident. Returns
 * -1 if no variable names it. */
#define POOL_SOCKET "serve.sock"
int pool_place(const struct cordon_context *cx, char *ret, size_t cap);

/* ---- messages: pool_client.c ---- */

enum pool_word {
        POOL_TAKE = 1, /* a box with this key; the text: where the run's ledger is, or ""; arg: the tenant's
                          most automatic boxes, or 0 */
        POOL_ADD,      /* a recipe; arg: how many boxes, or POOL_AUTOMATIC and the tenant's most */
        POOL_LIST,     /* arg 1: as JSON */
        POOL_STATS,
        POOL_REMOVE, /* the shelf whose key begins as the text does; "": all */
        POOL_SEAL,   /* the ledger has news: no answer */
        POOL_STATE,  /* of the shelf with this key: "2 of 4 ..."; refused with the reason if parking fails */
        POOL_NEAR,   /* a recipe: which shelf is nearest to it, and in what it differs */
        POOL_HELLO,  /* the first of each client, with a descriptor: host_peer_proof() */
        /* answers */
        POOL_GIVEN = 64, /* arg 1: the resident has the same ledger, and takes POOL_SEAL */
        POOL_NONE,       /* arg 1: there is a shelf; 2: and parking fails */
        POOL_WANTED,     /* none, but a recipe is welcome */
        POOL_TEXT,
        POOL_REFUSED
};
struct pool_message {
        uint32_t magic, word, arg, bytes; /* of what follows in the same packet */
        uint8_t key[POOL_KEY];
};
enum { POOL_MAGIC = 0x314c5043, POOL_AUTOMATIC = 1 << 30 /* as many as the demand needs */ };
#define POOL_NO_SHELF "no box is parked for this plan"
/* One packet of `n` bytes: the whole of one message, or not ours. Pure. */
bool pool_is_whole(const void *packet, size_t n);

/* Asks for a box. NULL: `why` says why not, and *ret_wanted whether to send a recipe. Takes *fd if the box
 * goes on talking to the resident. */
struct box *pool_take(int *fd, const struct pool_message *take, const struct box_config *c, bool *ret_wanted,
                      char *why, size_t cap);
int pool_send(int fd, const struct pool_message *m, const void *payload);
/* Receives a packet without waiting, and a descriptor that came with it, or -1. As recvmsg(), with MSG_TRUNC.
 */
ssize_t pool_receive(int fd, void *packet, size_t cap, int *ret_passed);
/* A question with a text as its answer, which the caller frees; NULL with *e set. */
char *pool_ask(int fd, const struct pool_message *m, const void *payload, struct err *e);

/* ---- the resident: resident.c ---- */

struct pool_settings {
        unsigned boxes;    /* in all */
        uint64_t memory;   /* bytes of all parked boxes together, by their groups; 0: no limit */
        unsigned idle_s;   /* an automatic shelf that is not used for so long is cleared */
        bool automatic;    /* shelves for plans that are seen twice in ten minutes */
        unsigned per_plan; /* boxes that an automatic shelf begins with */
};
struct pool;
/* Takes the listening socket. NULL: no memory. `listened`: the process that made it, for clients that were
 * there before us; 0: this one. */
struct pool *pool_new(const struct cordon_context *cx, const struct pool_settings *s, int listener,
                      pid_t listened);
int pool_fd(const struct pool *p); /* readable when pool_step() has something to do */
int pool_next_ms(struct pool *p);  /* -1: never, unless that is readable */
void pool_step(struct pool *p);
/* Ends the parked boxes and takes no more clients. True: no box that was given away runs any more. */
bool pool_close(struct pool *p);
void pool_free(struct pool *p); /* the same at once: boxes that still run end with this process */

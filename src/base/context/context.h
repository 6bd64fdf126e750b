/* SPDX-License-Identifier: MIT */
/* base/context/context.h - the environment variables of one caller. A face makes one and passes it down; no
 * other code reads the environment of the process, so that one process can serve several callers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct work_settled;

/* One of many on the same machine (src/face/serve/): what its boxes share with nobody else. Zero: none. */
struct context_tenant {
        char tag[65];                /* in the keys of all that is kept for later; made from its secret */
        uint32_t id_first, id_count; /* ids of its boxes outside, where the caller can map them; 0: any */
        bool own_core;               /* a core-scheduling cookie for each box, where the kernel has that */
        char name[65];               /* for people */
};

struct cordon_context {
        char *const *environment; /* "NAME=VALUE", NULL-terminated; borrowed */
        /* Called with the outcome of an interrupted apply (src/files/work/work.h); or NULL. */
        bool (*settled)(const struct work_settled *s);
        /* Then, if a later command found it: for the caller's eyes; or NULL. */
        void (*on_settled)(void *ctx, const char *run, int landed, size_t entries);
        void *settled_ctx;
        struct context_tenant tenant;
        char actor[80]; /* on whose behalf the caller acts, for records of it; "": its user */
};

/* Returns the value of a variable, or NULL if it is unset. A NULL context has no variables. */
const char *context_get(const struct cordon_context *cx, const char *name);
/* The same; also returns NULL if the value is not an absolute path. */
const char *context_path(const struct cordon_context *cx, const char *name);

/* A job of a batch engine, by the variables that the engine sets. */
enum { CONTEXT_BATCH_ID_MAX = 64 };
struct context_batch {
        const char *engine;       /* "Slurm", "PBS" ... */
        const char *id;           /* borrowed from the environment; letters, digits and _.-[] */
        const char *array, *task; /* of a task of an array: the array's id and its number in it; or NULL */
        int leader; /* the pid of the job's script or task, or 0 if the engine does not give it */
};

/* Returns false if the environment names no job. */
bool context_batch(const struct cordon_context *cx, struct context_batch *ret);

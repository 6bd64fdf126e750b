/* SPDX-License-Identifier: MIT */
/* wall/wasm/run/runtime.h - what exists at run time, for the engines: instances, functions, memories, tables
 * and globals. The store owns all of them. Code that an engine makes may use these offsets. */
#pragma once
#include "wall/wasm/module.h"

/* A function type as its letters, one object for equal types: pointers are compared. */
struct wasm_sig {
        struct wasm_sig *next;
        uint32_t hash;
        uint16_t param_slots, result_slots;
        char text[];
};

/* The address space of a memory with guards: address + offset + access is below it. */
#define WASM_GUARD_BYTES ((8ULL << 30) + WASM_PAGE)

struct wasm_memory {
        uint8_t *base; /* moves when it grows, unless the engine has guards */
        uint64_t bytes;
        uint32_t pages, most; /* most: the smaller of its maximum and the store's limit */
        struct wasm_size type;
        bool guard;
        struct wasm_memory *next;
};

struct wasm_table {
        uint64_t *items; /* references */
        uint32_t size, most;
        struct wasm_tabletype type;
        struct wasm_table *next;
};

struct wasm_global {
        uint64_t v[2];
        struct wasm_globaltype type;
};

struct wasm_func {
        const struct wasm_sig *sig;
        struct wasm_instance *inst; /* NULL: of the host */
        const void *code;           /* the engine's; NULL: not prepared yet */
        wasm_host_fn *host;
        void *user;
        uint32_t index; /* in its module */
};

struct wasm_instance {
        struct wasm_store *store;
        const struct wasm_module *module;
        struct wasm_func **funcs;   /* the index spaces of the module */
        struct wasm_memory *memory; /* never NULL: an empty one if the module has none */
        struct wasm_table **tables;
        struct wasm_global **globals;
        const struct wasm_sig **sigs; /* by type index */
        struct wasm_func *own_funcs;  /* of function n_imported_funcs + i */
        uint8_t *dropped_elems, *dropped_datas;
        void *engine; /* what prepare() made */
        struct wasm_instance *next;
};

struct wasm_definition {
        struct span module, name;
        struct wasm_func *func; /* NULL: all exports of inst */
        struct wasm_instance *inst;
        struct wasm_definition *next;
};

enum { WASM_SIG_BUCKETS = 1024 };
struct wasm_store {
        struct arena arena;
        const struct wasm_engine *engine;
        struct wasm_limits limits;
        uint64_t fuel;
        struct wasm_sig *sigs[WASM_SIG_BUCKETS];
        struct wasm_definition *definitions;
        struct wasm_instance *instances;
        struct wasm_memory *memories;
        struct wasm_table *tables;
        struct wasm_memory no_memory;
        uint64_t *stack, *stack_end; /* slots of all frames */
        int (*ready)(void *user, struct err *e);
        void *ready_user;
        struct machine *machine;  /* the compiler's */
        struct wasm_native *code; /* for the next instance, or NULL */
        unsigned running;         /* calls: more than one if a host function calls */
};

/* Takes fuel, or returns false and takes nothing. */
static inline bool wasm_burn(struct wasm_store *s, uint64_t cost)
{
        if (s->fuel < cost)
                return false;

        s->fuel -= cost;
        return true;
}

/* Calls a host function with its slots on the stack, and clears the upper half of its i32 and f32 results:
 * engines rely on it. */
enum wasm_trap wasm_call_host(struct wasm_instance *caller, const struct wasm_func *f, uint64_t *slots);

/* The bulk instructions of every engine. They charge the store's fuel. */
enum wasm_trap wasm_memory_fill(struct wasm_instance *i, uint32_t to, uint32_t byte, uint32_t n);
enum wasm_trap wasm_memory_copy(struct wasm_instance *i, uint32_t to, uint32_t from, uint32_t n);
enum wasm_trap wasm_memory_init(struct wasm_instance *i, uint32_t data, uint32_t to, uint32_t from,
                                uint32_t n);
void wasm_data_drop(struct wasm_instance *i, uint32_t data);
/* Returns the number of pages before, or UINT32_MAX. Invalidates memory->base unless there are guards. */
uint32_t wasm_memory_grow(struct wasm_memory *m, uint32_t pages);

struct wasm_span3 {
        uint32_t to, from, n;
};
enum wasm_trap wasm_table_fill(struct wasm_instance *i, uint32_t table, uint32_t to, uint64_t ref,
                               uint32_t n);
enum wasm_trap wasm_table_copy(struct wasm_instance *i, uint32_t to, uint32_t from, struct wasm_span3 s);
enum wasm_trap wasm_table_init(struct wasm_instance *i, uint32_t elem, uint32_t table, struct wasm_span3 s);
void wasm_elem_drop(struct wasm_instance *i, uint32_t elem);
uint32_t wasm_table_grow(struct wasm_table *t, uint64_t ref, uint32_t n);

/* ---- for the store itself ---- */

struct wasm_memory *wasm_memory_new(struct wasm_store *s, struct wasm_size size, struct err *e);
void wasm_memory_free(struct wasm_memory *m);
struct wasm_table *wasm_table_new(struct wasm_store *s, struct wasm_tabletype type, struct err *e);
/* The one object for a signature; NULL if there is no memory. */
const struct wasm_sig *wasm_sig_of_type(struct wasm_store *s, const struct wasm_functype *t);
const struct wasm_export *wasm_find_export(const struct wasm_instance *inst, struct span name);
/* Finds and checks all imports. */
int wasm_link(struct wasm_instance *inst, struct err *e);
/* Evaluates a constant expression; v128 uses both slots. */
void wasm_const_value(const struct wasm_instance *inst, struct wasm_const x, uint64_t ret[2]);

/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasm.h - the WebAssembly engine: load a module, give it functions by name, run it.
 *
 * The engine is part of cordon-wasm only, which always runs inside a box: a module is hostile, and the engine
 * that runs it is not trusted either. One store, one thread.
 *
 *     m = wasm_module_load(bytes)            decoded and fully validated, or refused
 *     s = wasm_store_new(engine, limits)     owns all below; freed at once
 *     wasm_define(s, &host_function)         the only functions that a module can reach
 *     wasm_instantiate(s, m, &inst)          links by name and type; runs the start function
 *     wasm_call(inst, func, slots)           returns WASM_OK or the reason of the trap
 *
 * Values are passed in slots of 64 bits: i32 and f32 in the low half, the high half zero; v128 in two slots,
 * low lanes first; a reference is 0 for null, else a struct wasm_func * or the host's own number.
 */
#pragma once
#include "base/err.h"
#include "base/span.h"

/* As encoded in modules. */
enum wasm_type {
        WASM_NO_TYPE = 0,
        WASM_I32 = 0x7f,
        WASM_I64 = 0x7e,
        WASM_F32 = 0x7d,
        WASM_F64 = 0x7c,
        WASM_V128 = 0x7b,
        WASM_FUNCREF = 0x70,
        WASM_EXTERNREF = 0x6f
};

enum wasm_kind { WASM_FUNC = 0, WASM_TABLE, WASM_MEMORY, WASM_GLOBAL, WASM_KIND__COUNT };

/* Fixed caps on modules, so that no module makes the engine slow or large; the run-time limits are below. */
enum {
        WASM_PAGE = 65536,
        WASM_MAX_PAGES = 65536,
        WASM_MAX_BYTES = 64 << 20, /* a module */
        WASM_MAX_TYPES = 1 << 16,
        WASM_MAX_PARAMS = 1000, /* and results */
        WASM_MAX_IMPORTS = 1 << 16,
        WASM_MAX_FUNCS = 1 << 18,
        WASM_MAX_TABLES = 256,
        WASM_MAX_GLOBALS = 1 << 18,
        WASM_MAX_EXPORTS = 1 << 18,
        WASM_MAX_SEGMENTS = 1 << 17, /* element and data segments each */
        WASM_MAX_ITEMS = 10000000,   /* entries of one element segment, and of a table */
        WASM_MAX_BODY = 8 << 20,
        WASM_MAX_LOCALS = 20000, /* parameters included */
        WASM_MAX_NESTING = 10000,
        WASM_MAX_OPERANDS = 10000, /* depth of the operand stack */
        WASM_MAX_WORK = 16,        /* locals, and operands of blocks, branches and calls, for each byte of a
                                    * module; and */
        WASM_MIN_WORK = 1 << 20,   /* so many in any module */
        WASM_MAX_CONST = 16,       /* and of that of a constant expression */
        WASM_MAX_NESTED = 16,      /* calls by host functions, which use the C stack */
};

/* Why a call ended. */
enum wasm_trap {
        WASM_OK = 0,
        WASM_TRAP_UNREACHABLE,
        WASM_TRAP_MEMORY,    /* out of bounds memory access */
        WASM_TRAP_TABLE,     /* out of bounds table access */
        WASM_TRAP_ELEMENT,   /* undefined element: call_indirect past the end */
        WASM_TRAP_NULL,      /* uninitialized element */
        WASM_TRAP_TYPE,      /* indirect call type mismatch */
        WASM_TRAP_DIVIDE,    /* integer divide by zero */
        WASM_TRAP_OVERFLOW,  /* integer overflow */
        WASM_TRAP_CONVERT,   /* invalid conversion to integer */
        WASM_TRAP_STACK,     /* call stack exhausted */
        WASM_TRAP_FUEL,      /* no fuel left */
        WASM_TRAP_HOST,      /* a host function failed */
        WASM_TRAP_EXIT,      /* a host function ended the program (proc_exit): not an error */
        WASM_TRAP_NO_MEMORY, /* the engine itself has no memory left */
        WASM_TRAP__COUNT
};
/* The words of the specification, such as "out of bounds memory access". */
const char *wasm_trap_text(enum wasm_trap t);

/* ---- modules: decoded and validated, never changed afterwards ---- */

struct wasm_module;

/* `bytes` must stay in memory and unchanged as long as the module. Returns NULL with *e set if it is not a
 * valid module, or over a cap. */
struct wasm_module *wasm_module_load(struct span bytes, struct err *e);
/* The same for bytes that wasm_module_load() accepted before: function bodies are not looked at. Only code
 * that was made of the same bytes can run it. */
struct wasm_module *wasm_module_load_known(struct span bytes, struct err *e);
void wasm_module_free(struct wasm_module *m);

/* ---- stores: instances and what they share ---- */

struct wasm_limits {
        uint32_t memory_pages; /* of each memory; memory.grow returns -1 over it, a larger minimum is refused
                                */
        uint32_t table_items;  /* of each table, likewise */
        uint32_t stack_slots;  /* locals and operands of all frames, 8 bytes each */
        uint32_t call_depth;   /* frames */
        uint64_t fuel;         /* see below */
};
extern const struct wasm_limits wasm_limits_default;

/*
 * Fuel is counted by the module's code, not by the engine's, so that every engine and machine counts the
 * same. A call of a function costs one, plus one for each 16 locals, plus the number of instructions of its
 * body that are in no loop. Each entry or repetition of a loop costs one, plus the instructions in that loop
 * and in no inner loop.
 * memory.fill, copy and init, table.fill, copy and init also cost one for each 64 bytes or items. It is
 * charged before the work is done; when less is left than the charge, the call ends with WASM_TRAP_FUEL and
 * nothing is taken.
 */

struct wasm_store;
struct wasm_instance;
struct wasm_func;
struct wasm_engine;

/* Returns NULL with *e set if there is no memory. */
struct wasm_store *wasm_store_new(const struct wasm_engine *engine, const struct wasm_limits *l,
                                  struct err *e);
void wasm_store_free(struct wasm_store *s);
uint64_t wasm_fuel(const struct wasm_store *s);
void wasm_set_fuel(struct wasm_store *s, uint64_t fuel);

/*
 * A host function. `slots` holds the parameters and receives the results, both from slots[0]; there is room
 * for the larger of the two. Anything but WASM_OK ends the call with that reason. It must not trust a
 * parameter: memory is reached by wasm_memory_at() only, and a pointer from it is valid until the function
 * returns, or calls wasm_call() itself, which may be nested WASM_MAX_NESTED deep.
 */
typedef enum wasm_trap wasm_host_fn(struct wasm_instance *caller, void *user, uint64_t *slots);

/* A host function by name. Signature: letters as in opcodes.inc, "ii:i" for (i32, i32) -> i32; r = funcref,
 * e = externref. The texts must outlive the store. */
struct wasm_host {
        const char *module, *name, *signature;
        wasm_host_fn *fn;
        void *user;
};
/* Makes a host function importable. A later definition of the same name replaces an earlier one. */
int wasm_define(struct wasm_store *s, const struct wasm_host *h, struct err *e);
/* Makes the exports of an instance importable as `module`. */
int wasm_define_instance(struct wasm_store *s, struct span module, struct wasm_instance *inst, struct err *e);

/*
 * Links the imports, creates memories, tables and globals, runs segments and the start function. The module
 * must outlive the store. Returns 0 on success, -1 with *e set: an import is missing or has another type, a
 * limit is exceeded, or *ret_trap is not WASM_OK: a segment does not fit, or the start function trapped.
 */
int wasm_instantiate(struct wasm_store *s, const struct wasm_module *m, struct wasm_instance **ret,
                     enum wasm_trap *ret_trap, struct err *e);

/* Whether wasm_instantiate() would find all that the module imports; nothing of it is compiled. Returns 0, or
 * -1 with *e set. */
int wasm_imports_fit(struct wasm_store *s, const struct wasm_module *m, struct err *e);

/* `fn` is called when the code of an instance is ready, before anything of it runs: from then on no engine
 * needs memory that can be executed. If it returns -1, there is no instance. */
void wasm_on_ready(struct wasm_store *s, int (*fn)(void *user, struct err *e), void *user);

/* Returns NULL if nothing is exported by this name, or not of this kind. */
struct wasm_func *wasm_export_func(struct wasm_instance *inst, struct span name);
struct wasm_global *wasm_export_global(struct wasm_instance *inst, struct span name);

/* The signature of a function in the letters above; valid as long as the store. */
const char *wasm_func_signature(const struct wasm_func *f);

/* Calls a function that `inst` exports. `slots` holds the parameters and receives the results; there is room
 * for the larger of the two. */
enum wasm_trap wasm_call(struct wasm_instance *inst, struct wasm_func *f, uint64_t *slots);

/* `n` bytes at `addr` of the caller's memory 0, or NULL if they are not all inside. */
void *wasm_memory_at(struct wasm_instance *inst, uint64_t addr, uint64_t n);

/* ---- engines ---- */

/* Runs the functions of a store. An engine keeps its form of a module's code in the store's instances; the
 * module itself is shared and never written. */
struct wasm_engine {
        const char *name;
        /* Prepares the functions of a new instance, before anything of it is called. */
        int (*prepare)(struct wasm_instance *inst, struct err *e);
        /* Runs one function, not a host function, to its end. */
        enum wasm_trap (*call)(struct wasm_func *f, uint64_t *slots);
        /* Frees what prepare() made. */
        void (*release)(struct wasm_instance *inst);
        /* Frees what it keeps in the store; NULL: nothing. */
        void (*done)(struct wasm_store *s);
        bool guard; /* memories get 8 GiB of address space, so that no 32-bit address and offset leaves them
                     */
};
extern const struct wasm_engine wasm_interpreter;
/* The engine that compiles, or NULL if this machine has none or forbids it. Call it once, before any
 * filter: it tries what it needs. */
const struct wasm_engine *wasm_compiler(void);

/* ---- compiled code in a file (code_file.c) ----
 *
 * It is executed as it is: whoever wrote the file decides what happens. Here that is cordon, outside of
 * boxes, with what a cordon-wasm of the same build made in a box in which the module did not run. */

struct wasm_native;
enum { WASM_DIGEST = 65 }; /* SHA-256 of the module's bytes, in hex */

/* Compiles a module, and writes its code. Returns 0, or -1 with *e set. */
int wasm_code_write(const struct wasm_module *m, const char digest[WASM_DIGEST], int fd, struct err *e);
/* Whether a file is the code of these bytes, made by this version. */
bool wasm_code_is_of(int fd, const char digest[WASM_DIGEST]);
/* Maps the code of a module. Returns NULL if the file does not fit it. */
struct wasm_native *wasm_code_map(const struct wasm_module *m, const char digest[WASM_DIGEST], int fd);
/* The next instance of the store has this code; the store takes it. */
void wasm_store_use_code(struct wasm_store *s, struct wasm_native *c);

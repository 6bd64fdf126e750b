/* SPDX-License-Identifier: MIT */
/* wall/wasm/decode/reader.h - reads the primitive encodings of a module. The first error is kept and stays:
 * what is read after it is zero, so a caller checks once, where it matters. */
#pragma once
#include "base/err.h"
#include "base/span.h"

struct wasm_reader {
        const uint8_t *start; /* of the module, for the positions of errors */
        const uint8_t *p, *end;
        const char *bad;                  /* the first error, or NULL */
        size_t bad_at;                    /* its position in the module */
        const struct wasm_feature *lacks; /* the error: this engine does not have it; or NULL */
};

/* Where an encoding stands that this engine does not know. */
enum wasm_place { WASM_IN_VERSION, WASM_IN_SECTION, WASM_IN_KIND, WASM_IN_LIMITS, WASM_IN_TYPE, WASM_IN_OP };
enum { WASM_OP_RELAXED = 0xfd00 }; /* the codes of relaxed SIMD, behind the prefix 0xfd */

/* Records an error at the current position; returns false. */
bool wasm_reader_fail(struct wasm_reader *r, const char *why);
/* The same for a code that is not known here: it may belong to a feature of WebAssembly that this engine does
 * not have, which the error then names. */
bool wasm_reader_unknown(struct wasm_reader *r, enum wasm_place place, uint32_t code, const char *why);
/* Sets *e to the recorded error; returns -1. */
int wasm_reader_err(const struct wasm_reader *r, struct err *e);

uint64_t wasm_leb_u(struct wasm_reader *r, unsigned bits);
int64_t wasm_leb_s(struct wasm_reader *r, unsigned bits);

static inline bool wasm_reader_done(const struct wasm_reader *r) { return r->p >= r->end; }

static inline uint8_t wasm_get_byte(struct wasm_reader *r)
{
        if (r->p >= r->end)
                return (uint8_t) wasm_reader_fail(r, "unexpected end");

        return *r->p++;
}

static inline uint32_t wasm_get_u32(struct wasm_reader *r)
{
        if (r->p < r->end && *r->p < 0x80)
                return *r->p++;

        return (uint32_t) wasm_leb_u(r, 32);
}

/* A count of elements, at most `most`, each of at least one byte. */
uint32_t wasm_get_count(struct wasm_reader *r, uint32_t most);
/* `n` bytes; empty after an error. */
struct span wasm_get_bytes(struct wasm_reader *r, size_t n);
/* A name: UTF-8. */
struct span wasm_get_name(struct wasm_reader *r);

/* SPDX-License-Identifier: MIT */
/* wall/wasm/decode/wasm_reader.c - LEB128, counts and names; the features that modules may need and this
 * engine does not have, by the codes that show them. */
#include "wall/wasm/decode/reader.h"

struct wasm_feature {
        enum wasm_place place;
        uint32_t from, to;
        const char *name, *hint;
};

#define COMPONENT "is a component and needs WASI preview 2", "built for wasm32-wasip1 it is a core module"
#define THREADS   "needs threads", "it is built without them as wasm32-wasip1, without -pthread"
#define EXCEPTIONS                                                                                           \
        "needs exceptions", "clang and emcc build without them by -fno-wasm-exceptions, cargo by "           \
                            "panic=abort"
#define MEMORY64 "needs memory64", "built for wasm32 it does not"
#define PAGES    "needs custom page sizes", ""
#define GC       "needs references with types, or garbage collection", ""
#define RELAXED  "needs relaxed SIMD", "it is built without by -mno-relaxed-simd"
static const struct wasm_feature features[] = {
        { WASM_IN_VERSION, 0x0001000d, 0x0001000d, COMPONENT },
        { WASM_IN_SECTION, 13, 13, EXCEPTIONS },
        { WASM_IN_KIND, 4, 4, EXCEPTIONS },
        { WASM_IN_LIMITS, 2, 3, THREADS },
        { WASM_IN_LIMITS, 4, 7, MEMORY64 },
        { WASM_IN_LIMITS, 8, 15, PAGES },
        { WASM_IN_TYPE, 0x69, 0x69, EXCEPTIONS },
        { WASM_IN_TYPE, 0x4e, 0x50, GC },
        { WASM_IN_TYPE, 0x5e, 0x74, GC },
        { WASM_IN_OP, 0x06, 0x0a, EXCEPTIONS },
        { WASM_IN_OP, 0x18, 0x19, EXCEPTIONS },
        { WASM_IN_OP, 0x1f, 0x1f, EXCEPTIONS },
        { WASM_IN_OP, 0x14, 0x15, GC },
        { WASM_IN_OP, 0xd3, 0xd6, GC },
        { WASM_IN_OP, 0xfb, 0xfb, GC },
        { WASM_IN_OP, 0xfe, 0xfe, THREADS },
        { WASM_IN_OP, WASM_OP_RELAXED, WASM_OP_RELAXED, RELAXED },
};

bool wasm_reader_fail(struct wasm_reader *r, const char *why)
{
        if (!r->bad) {
                r->bad = why;
                r->bad_at = (size_t) (r->p - r->start);
        }

        r->p = r->end;
        return false;
}

bool wasm_reader_unknown(struct wasm_reader *r, enum wasm_place place, uint32_t code, const char *why)
{
        for (size_t i = 0; i < sizeof features / sizeof *features && !r->bad; i++)
                if (features[i].place == place && code >= features[i].from && code <= features[i].to)
                        r->lacks = &features[i];

        return wasm_reader_fail(r, why);
}

int wasm_reader_err(const struct wasm_reader *r, struct err *e)
{
        if (r->lacks) {
                (void) err_set(e, ERR_EXEC, 0,
                               "the module %s, which cordon's engine does not have (byte %zu)",
                               r->lacks->name, r->bad_at);
                return err_hint(e, "%s", r->lacks->hint);
        }

        return err_set(e, ERR_EXEC, 0, "the module is not valid: byte %zu: %s", r->bad_at,
                       r->bad ? r->bad : "out of memory");
}

uint64_t wasm_leb_u(struct wasm_reader *r, unsigned bits)
{
        uint64_t v = 0;

        for (unsigned shift = 0;; shift += 7) {
                uint8_t b = wasm_get_byte(r);
                if (r->bad)
                        return 0;
                if (shift + 7 > bits && (b & 0x7f) >> (bits - shift))
                        return wasm_reader_fail(r, b & 0x80 ? "integer representation too long"
                                                            : "integer too large");
                v |= (uint64_t) (b & 0x7f) << shift;
                if (!(b & 0x80))
                        return v;
                if (shift + 7 >= bits)
                        return wasm_reader_fail(r, "integer representation too long");
        }
}

int64_t wasm_leb_s(struct wasm_reader *r, unsigned bits)
{
        uint64_t v = 0;

        for (unsigned shift = 0;; shift += 7) {
                uint8_t b = wasm_get_byte(r);
                if (r->bad)
                        return 0;
                if (shift + 7 >= bits) {
                        /* The last byte: all bits from the sign bit on are equal. */
                        unsigned left = bits - shift;
                        uint8_t high = (uint8_t) ((b & 0x7f) >> (left - 1));
                        if (b & 0x80)
                                return wasm_reader_fail(r, "integer representation too long");
                        if (high != 0 && high != 0x7f >> (left - 1))
                                return wasm_reader_fail(r, "integer too large");
                }
                v |= (uint64_t) (b & 0x7f) << shift;
                if (!(b & 0x80)) {
                        if (shift + 7 < 64 && b & 0x40)
                                v |= UINT64_MAX << (shift + 7);
                        return (int64_t) v;
                }
        }
}

uint32_t wasm_get_count(struct wasm_reader *r, uint32_t most)
{
        uint32_t n = wasm_get_u32(r);

        if (n > (size_t) (r->end - r->p))
                return wasm_reader_fail(r, "length out of bounds");
        if (n > most)
                return wasm_reader_fail(r, "more elements than this engine's cap");

        return n;
}

struct span wasm_get_bytes(struct wasm_reader *r, size_t n)
{
        struct span s = { r->p, n };

        if (n > (size_t) (r->end - r->p)) {
                (void) wasm_reader_fail(r, "unexpected end: length out of bounds");
                return span_of(r->p, 0);
        }

        r->p += n;
        return s;
}

/* The number of bytes of the well-formed UTF-8 sequence at p, or 0. */
static size_t utf8_length(const uint8_t *p, size_t n)
{
        static const struct {
                uint8_t from, to, second_from, second_to, more;
        } forms[] = {
                { 0x00, 0x7f, 0, 0, 0 },       { 0xc2, 0xdf, 0x80, 0xbf, 1 }, { 0xe0, 0xe0, 0xa0, 0xbf, 2 },
                { 0xe1, 0xec, 0x80, 0xbf, 2 }, { 0xed, 0xed, 0x80, 0x9f, 2 }, { 0xee, 0xef, 0x80, 0xbf, 2 },
                { 0xf0, 0xf0, 0x90, 0xbf, 3 }, { 0xf1, 0xf3, 0x80, 0xbf, 3 }, { 0xf4, 0xf4, 0x80, 0x8f, 3 },
        };

        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
                if (*p < forms[i].from || *p > forms[i].to)
                        continue;
                size_t more = forms[i].more;
                if (more >= n || (more && (p[1] < forms[i].second_from || p[1] > forms[i].second_to)))
                        return 0;
                for (size_t k = 2; k <= more; k++)
                        if ((p[k] & 0xc0) != 0x80)
                                return 0;
                return more + 1;
        }

        return 0;
}

struct span wasm_get_name(struct wasm_reader *r)
{
        struct span s = wasm_get_bytes(r, wasm_get_u32(r));

        for (size_t at = 0; at < s.n;) {
                size_t n = utf8_length(s.p + at, s.n - at);
                if (n == 0) {
                        (void) wasm_reader_fail(r, "malformed UTF-8 encoding");
                        return span_of(s.p, 0);
                }
                at += n;
        }

        return s;
}

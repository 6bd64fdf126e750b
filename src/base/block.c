/* SPDX-License-Identifier: MIT */
/* base/block.c - writes and reads blocks. The reader trusts only the table. */
#include "base/block.h"

#include "base/hash.h"

#include <string.h>

enum { BLOCK_ALIGN = 8 };

struct block_head {
        char magic[8];
        uint32_t version, layout, kind, stamped;
        uint64_t length;
        uint8_t digest[32];
};
_Static_assert(sizeof(struct block_head) % BLOCK_ALIGN == 0, "a root follows the head");

_Static_assert(sizeof(size_t) == sizeof(uintptr_t), "counts are stored as offsets are");

static const char magic[8] = "cblock\n";

/* A checksum of all tables below a root: a build with a changed struct rejects blocks of another build. */
static uint32_t layout_of(const struct block_type *t)
{
        uint32_t h = 2166136261u ^ (uint32_t) t->size;
        for (size_t i = 0; i < t->field_count; i++) {
                const struct block_field *f = &t->fields[i];
                const uint64_t parts[] = {
                        f->form, f->at, f->size, f->times, f->most, f->count_at, f->of ? layout_of(f->of) : 0
                };
                for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
                        h = (h ^ (uint32_t) (parts[k] ^ parts[k] >> 32)) * 16777619u;
        }

        return h;
}

static uintptr_t pointer_at(const void *base, size_t at)
{
        uintptr_t v;
        memcpy(&v, (const char *) base + at, sizeof v);
        return v;
}

static size_t count_at(const void *base, size_t at)
{
        size_t v;
        memcpy(&v, (const char *) base + at, sizeof v);
        return v;
}

/* ---- writing ---- */

/* Counts in a first pass (p is NULL), writes in a second. */
struct block_writer {
        char *p;
        size_t n;
};

static size_t reserve_bytes(struct block_writer *w, size_t n)
{
        size_t at = w->n;
        w->n += n + (size_t) - (at + n) % BLOCK_ALIGN;
        return at;
}

/* Sizes known to the compiler: a call of memcpy() costs more than these few bytes. */
static void copy_number(char *to, const char *from, size_t size)
{
        switch (size) {
        case 1:
                memcpy(to, from, 1);
                break;
        case 2:
                memcpy(to, from, 2);
                break;
        case 4:
                memcpy(to, from, 4);
                break;
        default:
                memcpy(to, from, 8);
                break;
        }
}

static void store_numbers(struct block_writer *w, const struct block_field *f, size_t at, const char *from)
{
        for (size_t i = 0; w->p && i < f->times; i++)
                copy_number(w->p + at + i * f->size, from + i * f->size, f->size);
}

static void store_offset(struct block_writer *w, size_t at, uintptr_t to)
{
        if (w->p)
                memcpy(w->p + at, &to, sizeof to);
}

static void store_text(struct block_writer *w, size_t at, const char *text)
{
        if (!text)
                return;

        size_t n = strlen(text) + 1;
        size_t to = reserve_bytes(w, n);
        store_offset(w, at, to);
        if (w->p)
                memcpy(w->p + to, text, n);
}

static void store_texts(struct block_writer *w, size_t at, const char *const *texts)
{
        size_t n = 0;
        while (texts[n])
                n++;

        size_t to = reserve_bytes(w, (n + 1) * sizeof(uintptr_t));
        store_offset(w, at, to);
        for (size_t i = 0; i < n; i++)
                store_text(w, to + i * sizeof(uintptr_t), texts[i]);
}

static void store_struct(struct block_writer *w, const struct block_type *t, size_t at, const char *from);

static void store_list(struct block_writer *w, const struct block_field *f, size_t at, const char *from)
{
        size_t n = count_at(from, f->count_at);
        if (n == 0)
                return;

        const char *list = (const char *) pointer_at(from, f->at);
        size_t to = reserve_bytes(w, n * f->of->size);
        store_offset(w, at + f->at, to);
        store_offset(w, at + f->count_at, n);
        for (size_t i = 0; i < n; i++)
                store_struct(w, f->of, to + i * f->of->size, list + i * f->of->size);
}

static void store_struct(struct block_writer *w, const struct block_type *t, size_t at, const char *from)
{
        for (size_t i = 0; i < t->field_count; i++) {
                const struct block_field *f = &t->fields[i];
                switch (f->form) {
                case BLOCK_NUMBER:
                        store_numbers(w, f, at + f->at, from + f->at);
                        break;
                case BLOCK_TEXT:
                        store_text(w, at + f->at, (const char *) pointer_at(from, f->at));
                        break;
                case BLOCK_TEXTS:
                        store_texts(w, at + f->at, (const char *const *) pointer_at(from, f->at));
                        break;
                case BLOCK_LIST:
                        store_list(w, f, at, from);
                        break;
                }
        }
}

static void write_root(struct block_writer *w, const struct block_type *t, const void *root)
{
        (void) reserve_bytes(w, sizeof(struct block_head));
        store_struct(w, t, reserve_bytes(w, t->size), root);
}

void block_seal(const struct block_type *t, const void *root, struct buf *out)
{
        struct block_writer w = { 0 };
        write_root(&w, t, root);
        struct block_head h = {
                .version = t->version, .layout = layout_of(t), .kind = t->kind, .length = w.n
        };
        memcpy(h.magic, magic, sizeof h.magic);

        char *room = buf_room(out, w.n);
        if (!room)
                return;

        w = (struct block_writer){ .p = room };
        write_root(&w, t, root);
        memcpy(room, &h, sizeof h);
}

void block_digest(struct span block, uint8_t ret_digest[32])
{
        struct sha256 s;
        struct block_head h;
        memcpy(&h, block.p, sizeof h);
        h.stamped = 0;
        memset(h.digest, 0, sizeof h.digest);
        sha256_init(&s);
        sha256_add(&s, &h, sizeof h);
        sha256_add(&s, block.p + sizeof h, block.n - sizeof h);
        sha256_end(&s, ret_digest);
}

void block_stamp(uint8_t *block, size_t n)
{
        struct block_head h;
        memcpy(&h, block, sizeof h);
        block_digest(span_of(block, n), h.digest);
        h.stamped = 1;
        memcpy(block, &h, sizeof h);
}

/* ---- reading ---- */

struct block_reader {
        char *p;
        size_t n, at; /* everything before `at` is read */
};

/* The data at `offset` must be next, be complete, and be followed by zeroes up to the next multiple. */
static bool take_bytes(struct block_reader *r, uint64_t offset, size_t size)
{
        static const char zero[BLOCK_ALIGN];
        size_t left = r->n - r->at, pad = (size_t) - (r->at + size) % BLOCK_ALIGN;
        if (offset != r->at || size > left || pad > left - size ||
            memcmp(r->p + r->at + size, zero, pad) != 0)
                return false;

        r->at += size + pad;
        return true;
}

/* Turns the offset at `at` into a pointer. */
static void relocate_pointer(struct block_reader *r, size_t at, uint64_t offset)
{
        const char *to = r->p + offset;
        memcpy(r->p + at, &to, sizeof to);
}

static uint64_t number_at(const char *p, size_t size)
{
        uint64_t v = 0; /* little-endian, as base/wire/wire_form.c asserts */
        copy_number((char *) &v, p, size);
        return v;
}

static bool read_number(const struct block_reader *r, const struct block_field *f, size_t at)
{
        for (size_t i = 0; i < f->times; i++)
                if (number_at(r->p + at + i * f->size, f->size) > f->most)
                        return false;

        return true;
}

static bool read_text(struct block_reader *r, size_t at, bool nullable)
{
        uintptr_t offset = pointer_at(r->p, at);
        if (offset == 0)
                return nullable;

        const char *end = memchr(r->p + r->at, '\0', r->n - r->at);
        if (!end || !take_bytes(r, offset, (size_t) (end - (r->p + r->at)) + 1))
                return false;

        relocate_pointer(r, at, offset);
        return true;
}

static bool read_texts(struct block_reader *r, size_t at)
{
        uintptr_t offset = pointer_at(r->p, at);
        size_t n = 0, most = (r->n - r->at) / sizeof offset;
        while (n < most && pointer_at(r->p, r->at + n * sizeof offset) != 0)
                n++;

        if (n == most || !take_bytes(r, offset, (n + 1) * sizeof offset))
                return false;

        for (size_t i = 0; i < n; i++)
                if (!read_text(r, offset + i * sizeof offset, false))
                        return false;

        relocate_pointer(r, at, offset);
        return true;
}

static bool read_struct(struct block_reader *r, const struct block_type *t, size_t at);

static bool read_list(struct block_reader *r, const struct block_field *f, size_t at)
{
        size_t n = count_at(r->p + at, f->count_at);
        uintptr_t offset = pointer_at(r->p + at, f->at);
        if (n == 0)
                return offset == 0;

        if (n > (r->n - r->at) / f->of->size || !take_bytes(r, offset, n * f->of->size))
                return false;

        for (size_t i = 0; i < n; i++)
                if (!read_struct(r, f->of, offset + i * f->of->size))
                        return false;

        relocate_pointer(r, at + f->at, offset);
        return true;
}

static bool read_field(struct block_reader *r, const struct block_field *f, size_t at)
{
        switch (f->form) {
        case BLOCK_NUMBER:
                return read_number(r, f, at + f->at);
        case BLOCK_TEXT:
                return read_text(r, at + f->at, f->most);
        case BLOCK_TEXTS:
                return read_texts(r, at + f->at);
        case BLOCK_LIST:
                return read_list(r, f, at);
        }
        return false;
}

static bool read_struct(struct block_reader *r, const struct block_type *t, size_t at)
{
        for (size_t i = 0; i < t->field_count; i++)
                if (!read_field(r, &t->fields[i], at))
                        return false;

        return true;
}

static bool head_holds(const struct block_type *t, const void *p, size_t n, struct block_head *ret)
{
        uint8_t digest[32];
        if (n < sizeof *ret)
                return false;

        memcpy(ret, p, sizeof *ret);
        if (memcmp(ret->magic, magic, sizeof magic) != 0 || ret->version != t->version ||
            ret->kind != t->kind || ret->layout != layout_of(t) || ret->length > n ||
            ret->length < sizeof *ret || ret->stamped > 1)
                return false;

        if (!ret->stamped)
                return true;

        block_digest(span_of(p, ret->length), digest);
        return memcmp(digest, ret->digest, sizeof digest) == 0;
}

int block_open(const struct block_type *t, void *p, size_t n, const void **ret_root, size_t *ret_length,
               struct err *e)
{
        struct block_head h;
        if ((uintptr_t) p % BLOCK_ALIGN != 0 || !head_holds(t, p, n, &h))
                return err_set(e, ERR_INTERNAL, 0, "not a block that this build of cordon can read");

        struct block_reader r = { .p = p, .n = h.length, .at = sizeof h };
        if (!take_bytes(&r, sizeof h, t->size) || !read_struct(&r, t, sizeof h) || r.at != r.n)
                return err_set(e, ERR_INTERNAL, 0, "a damaged block: refused at byte %zu", r.at);

        *ret_root = r.p + sizeof h;
        *ret_length = h.length;
        return 0;
}

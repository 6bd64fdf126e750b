/* SPDX-License-Identifier: MIT */
/* wall/wasm/run/wasm_memory.c - linear memories and the instructions on ranges of them. */
#include "wall/wasm/run/runtime.h"

#include <errno.h>
#include <sys/mman.h>

enum { FUEL_SHIFT = 6 }; /* one for 64 bytes */

static size_t mapped_bytes(const struct wasm_memory *m) { return m->guard ? WASM_GUARD_BYTES : m->bytes; }

/* A memory with guards has its address space from the beginning; another is moved as it grows. */
static bool set_bytes(struct wasm_memory *m, uint64_t bytes)
{
        if (bytes == m->bytes && m->base)
                return true;
        if (m->guard) {
                if (bytes && mprotect(m->base, bytes, PROT_READ | PROT_WRITE) < 0)
                        return false;
        } else if (bytes) {
                void *p = m->bytes ? mremap(m->base, m->bytes, bytes, MREMAP_MAYMOVE)
                                   : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
                if (p == MAP_FAILED)
                        return false;
                m->base = p;
        }

        m->bytes = bytes;
        m->pages = (uint32_t) (bytes / WASM_PAGE);
        return true;
}

struct wasm_memory *wasm_memory_new(struct wasm_store *s, struct wasm_size size, struct err *e)
{
        struct wasm_memory *m = arena_alloc(&s->arena, sizeof *m);
        uint32_t most = size.max < WASM_MAX_PAGES ? size.max : WASM_MAX_PAGES;

        if (!m) {
                (void) err_set(e, ERR_MEMORY, 0, "out of memory");
                return NULL;
        }
        m->type = size;
        m->most = most < s->limits.memory_pages ? most : s->limits.memory_pages;
        if (size.min > m->most) {
                (void) err_set(e, ERR_LIMIT, 0, "the module needs %u pages of memory, the limit is %u",
                               size.min, m->most);
                return NULL;
        }
        if (s->engine->guard) {
                void *p = mmap(NULL, WASM_GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                               -1, 0);
                m->guard = p != MAP_FAILED;
                m->base = m->guard ? p : NULL;
        }
        if (m->guard != s->engine->guard || !set_bytes(m, (uint64_t) size.min * WASM_PAGE)) {
                (void) err_set(e, ERR_MEMORY, errno, "cannot map the memory of the module");
                wasm_memory_free(m);
                return NULL;
        }

        m->next = s->memories;
        s->memories = m;
        return m;
}

void wasm_memory_free(struct wasm_memory *m)
{
        if (m->base)
                (void) munmap(m->base, mapped_bytes(m));
        m->base = NULL;
}

uint32_t wasm_memory_grow(struct wasm_memory *m, uint32_t pages)
{
        uint32_t had = m->pages;

        if (pages > m->most - had)
                return UINT32_MAX;
        if (!set_bytes(m, (uint64_t) (had + pages) * WASM_PAGE))
                return UINT32_MAX;

        return had;
}

static bool is_inside(const struct wasm_memory *m, uint64_t at, uint64_t n)
{
        return n <= m->bytes && at <= m->bytes - n;
}

void *wasm_memory_at(struct wasm_instance *inst, uint64_t addr, uint64_t n)
{
        static uint8_t nothing;

        if (!is_inside(inst->memory, addr, n))
                return NULL;

        return inst->memory->base ? inst->memory->base + addr : &nothing;
}

enum wasm_trap wasm_memory_fill(struct wasm_instance *i, uint32_t to, uint32_t byte, uint32_t n)
{
        if (!is_inside(i->memory, to, n))
                return WASM_TRAP_MEMORY;
        if (!wasm_burn(i->store, n >> FUEL_SHIFT))
                return WASM_TRAP_FUEL;

        if (n)
                memset(i->memory->base + to, (int) (byte & 0xff), n);
        return WASM_OK;
}

enum wasm_trap wasm_memory_copy(struct wasm_instance *i, uint32_t to, uint32_t from, uint32_t n)
{
        if (!is_inside(i->memory, to, n) || !is_inside(i->memory, from, n))
                return WASM_TRAP_MEMORY;
        if (!wasm_burn(i->store, n >> FUEL_SHIFT))
                return WASM_TRAP_FUEL;

        if (n)
                memmove(i->memory->base + to, i->memory->base + from, n);
        return WASM_OK;
}

enum wasm_trap wasm_memory_init(struct wasm_instance *i, uint32_t data, uint32_t to, uint32_t from,
                                uint32_t n)
{
        struct span bytes = i->dropped_datas[data] ? span_of("", 0) : i->module->datas[data].bytes;

        if (!is_inside(i->memory, to, n) || from > bytes.n || n > bytes.n - from)
                return WASM_TRAP_MEMORY;
        if (!wasm_burn(i->store, n >> FUEL_SHIFT))
                return WASM_TRAP_FUEL;

        if (n)
                memcpy(i->memory->base + to, bytes.p + from, n);
        return WASM_OK;
}

void wasm_data_drop(struct wasm_instance *i, uint32_t data) { i->dropped_datas[data] = 1; }

/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/code_file.c - compiled code in a file: a head, where the functions are, and from the next
 * whole page on the code, to be mapped. Numbers are those of the machine that made it. */
#include "base/fd.h"
#include "wall/plan/plan.h"
#include "wall/wasm/compile/compile.h"
#include "wall/wasm/compile/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct head {
        char magic[16], version[16], digest[WASM_DIGEST];
        uint32_t machine, bodies, data_bytes, used;
        struct stubs stubs;
};

static const char magic[16] = CODE_FILE_MAGIC;
_Static_assert(offsetof(struct head, digest) == CODE_FILE_DIGEST, "where cordon looks for it");
#if defined __aarch64__
enum { THIS_MACHINE = 183 }; /* as ELF numbers them */
#else
enum { THIS_MACHINE = 62 };
#endif

static size_t head_bytes(uint32_t bodies)
{
        return compile_whole_pages(sizeof(struct head) + bodies * sizeof(uint32_t));
}

static void fill_head(struct head *h, const char digest[WASM_DIGEST])
{
        *h = (struct head){ .machine = THIS_MACHINE };
        memcpy(h->magic, magic, sizeof magic);
        (void) strncpy(h->version, CORDON_VERSION, sizeof h->version - 1);
        memcpy(h->digest, digest, WASM_DIGEST);
}

static int write_all(const struct wasm_native *c, struct head *h, int fd)
{
        size_t bytes = head_bytes(h->bodies), entries = h->bodies * sizeof *c->entries;
        uint8_t *front = calloc(1, bytes);
        if (!front)
                return -1;

        memcpy(front, h, sizeof *h);
        memcpy(front + sizeof *h, c->entries, entries);
        int r = fd_write_all(fd, front, bytes) < 0 || fd_write_all(fd, c->code, c->used) < 0 ? -1 : 0;
        free(front);
        return r;
}

int wasm_code_write(const struct wasm_module *m, const char digest[WASM_DIGEST], int fd, struct err *e)
{
        struct head h;
        struct wasm_native *c = calloc(1, sizeof *c);
        if (!c)
                return err_set(e, ERR_MEMORY, 0, "out of memory");

        int r = compile_module(m, c, e);
        if (r == 0) {
                fill_head(&h, digest);
                h.bodies = m->n_bodies;
                h.data_bytes = (uint32_t) (c->code - c->base);
                h.used = (uint32_t) c->used;
                h.stubs = c->stubs;
                r = write_all(c, &h, fd);
        }
        if (r < 0 && !e->code)
                (void) err_set(e, ERR_IO, errno, "the code cannot be written: %s", strerror(errno));
        compile_free(c);
        return r;
}

static bool read_head(int fd, const char digest[WASM_DIGEST], struct head *ret)
{
        struct head wanted;
        fill_head(&wanted, digest);
        return pread(fd, ret, sizeof *ret, 0) == (ssize_t) sizeof *ret &&
               memcmp(ret->magic, wanted.magic, sizeof wanted.magic) == 0 &&
               memcmp(ret->version, wanted.version, sizeof wanted.version) == 0 &&
               memcmp(ret->digest, wanted.digest, WASM_DIGEST) == 0 && ret->machine == wanted.machine;
}

bool wasm_code_is_of(int fd, const char digest[WASM_DIGEST])
{
        struct head h;
        return read_head(fd, digest, &h);
}

/* Whether the file is whole, and made for this module. */
static bool head_fits(const struct head *h, const struct wasm_module *m, int fd)
{
        struct stat st;
        return fstat(fd, &st) == 0 && h->bodies == m->n_bodies && h->used % COMPILE_PAGE == 0 &&
               h->data_bytes == compile_whole_pages(data_layout(m).count * sizeof(uint64_t)) &&
               (uint64_t) st.st_size == head_bytes(h->bodies) + (uint64_t) h->used &&
               h->used <= MC_MAX_CODE && h->stubs.enter < h->used && h->stubs.leave < h->used;
}

static bool read_entries(struct wasm_native *c, const struct head *h, int fd)
{
        size_t n = h->bodies * sizeof *c->entries;
        c->entries = malloc(n + 1);
        if (!c->entries || pread(fd, c->entries, n, sizeof *h) != (ssize_t) n)
                return false;

        for (uint32_t i = 0; i < h->bodies; i++)
                if (c->entries[i] >= h->used)
                        return false;
        return true;
}

static bool map_code(struct wasm_native *c, const struct head *h, int fd)
{
        c->bytes = (size_t) h->data_bytes + h->used;
        void *p = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0);
        if (p == MAP_FAILED)
                return false;

        c->base = p;
        c->code = c->base + h->data_bytes;
        c->used = h->used;
        c->stubs = h->stubs;
        /* SAFETY: executable, never writable; the file is replaced, not changed. */
        return mmap(c->code, c->used, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
                    (off_t) head_bytes(h->bodies)) != MAP_FAILED;
}

struct wasm_native *wasm_code_map(const struct wasm_module *m, const char digest[WASM_DIGEST], int fd)
{
        struct head h;
        struct wasm_native *c = calloc(1, sizeof *c);
        if (c && read_head(fd, digest, &h) && head_fits(&h, m, fd) && read_entries(c, &h, fd) &&
            map_code(c, &h, fd))
                return c;

        compile_free(c);
        return NULL;
}

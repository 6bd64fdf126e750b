/* SPDX-License-Identifier: MIT */
/* fuzz_wasi.c - calls of WASI as a hostile module makes them: any call, any number. The door is a directory;
 * a secret lies beside it and must neither change nor come into the module's memory.
 *
 * Input: two bytes n, n bytes at the start of memory, then calls: one byte for the row, then its arguments.
 */
#include "wall/wasm/wasi/wasi_internal.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 4096 };
static uint8_t secret[32]; /* a new one for each input, which could otherwise learn it */

struct wasm_instance {
        uint8_t *memory; /* exactly MEMORY bytes, so that a sanitizer sees the first byte too many */
};

void *wasm_memory_at(struct wasm_instance *inst, uint64_t addr, uint64_t n)
{
        return addr <= MEMORY && n <= MEMORY - addr ? inst->memory + addr : NULL;
}

static void must(bool ok)
{
        if (!ok)
                abort();
}

static void put_secret(const char *path)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        must(fd >= 0 && write(fd, secret, sizeof secret) == (ssize_t) sizeof secret);
        (void) close(fd);
}

static void check_secret(const char *path)
{
        uint8_t text[sizeof secret + 1];
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        must(fd >= 0 && read(fd, text, sizeof text) == (ssize_t) sizeof secret &&
             memcmp(text, secret, sizeof secret) == 0);
        (void) close(fd);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
        (void) st, (void) type, (void) f;
        return remove(path);
}

/* A clock far ahead would only wait. */
static bool waits(const struct wasi_call *c)
{
        uint32_t n = wasi_u32(c, 2);
        const uint8_t *s =
                n <= WASI_POLLS ? wasi_at(c, wasi_u32(c, 0), (uint64_t) n * WASI_SUBSCRIPTION_SIZE) : NULL;
        for (uint32_t i = 0; s && i < n; i++, s += WASI_SUBSCRIPTION_SIZE)
                if (s[8] == WASI_EVENT_CLOCK)
                        return true;
        return false;
}

struct input {
        const uint8_t *p;
        size_t n;
};

static uint64_t take(struct input *in, unsigned bytes)
{
        if (in->n < bytes) {
                in->n = 0;
                return 0;
        }

        uint64_t v = wasi_get(in->p, bytes);
        in->p += bytes;
        in->n -= bytes;
        return v;
}

static void call_all(struct wasi *w, struct wasm_instance *inst, struct input *in)
{
        while (in->n > 0) {
                uint64_t slots[16] = { 0 };
                const struct wasi_row *row = &wasi_rows[take(in, 1) % WASI_CALLS];
                for (unsigned i = 0; row->signature[i] != ':'; i++)
                        slots[i] = take(in, row->signature[i] == 'l' ? 8 : 4);

                struct wasi_call c = { .w = w, .inst = inst, .a = slots };
                if (strcmp(row->name, "poll_oneoff") == 0 && waits(&c))
                        continue;
                (void) wasi_dispatch(&c, row);
                if (c.ends)
                        return;
        }
}

static void run(int door, struct input *in)
{
        static const char *const argv[] = { "fuzz", "one", NULL }, *const envp[] = { "A=b", NULL };
        const struct wasi_config config = { argv, envp };
        struct err e;
        struct wasm_instance inst = { malloc(MEMORY) };
        struct wasi *w = wasi_new(&config, &e);
        must(w && inst.memory);
        for (int i = 0; i < 3; i++)
                w->files[i].fd = open("/dev/null", O_RDWR | O_CLOEXEC);

        const struct wasi_door write = { "/d", dup(door), true, NULL },
                               read = { "/r", dup(door), false, NULL };
        must(wasi_open_door(w, &write, &e) == 3 && wasi_open_door(w, &read, &e) == 4);

        size_t n = take(in, 2) % MEMORY;
        n = n < in->n ? n : in->n;
        (void) memset(inst.memory, 0, MEMORY);
        (void) memcpy(inst.memory, in->p, n);
        in->p += n;
        in->n -= n;
        call_all(w, &inst, in);

        must(!memmem(inst.memory, MEMORY, secret, sizeof secret));
        for (int i = 0; i < 3; i++)
                if (w->files[i].used)
                        (void) close(w->files[i].fd);
        wasi_free(w);
        free(inst.memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char base[] = "/tmp/fuzz-wasi.XXXXXX", beside[64], door[64];
        const struct rlimit small = { 1 << 16, 1 << 16 };
        (void) signal(SIGXFSZ, SIG_IGN);
        (void) signal(SIGPIPE, SIG_IGN);
        (void) setrlimit(RLIMIT_FSIZE, &small);

        must(mkdtemp(base) && getrandom(secret, sizeof secret, 0) == (ssize_t) sizeof secret);
        (void) snprintf(beside, sizeof beside, "%s/secret", base);
        (void) snprintf(door, sizeof door, "%s/door", base);
        put_secret(beside);
        must(mkdir(door, 0700) == 0);
        int fd = open(door, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        must(fd >= 0 && symlinkat("../secret", fd, "out") == 0 && symlinkat(beside, fd, "abs") == 0 &&
             mkdirat(fd, "sub", 0700) == 0 && symlinkat("../..", fd, "sub/up") == 0);

        run(fd, &(struct input){ data, size });

        (void) close(fd);
        check_secret(beside);
        (void) nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        return 0;
}

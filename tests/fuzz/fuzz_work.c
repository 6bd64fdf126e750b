/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_work.c - what is written about a layer, read again: the layer itself (meta), its closed
 * directories, the journal of an apply with its commit, and what the layer began with, under a sum that is
 * right. A disk may give back anything. The input is the five files with a line "--" between. They are read,
 * and nothing is done with them. */
#include "base/fd.h"
#include "base/hash.h"
#include "files/work/internal.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = { "run/meta", "run/closed", "run/apply-1/journal", "run/apply-1/commit",
                                     "run/apply-1/base" };
enum { FILES = sizeof files / sizeof *files };

static char place[] = "/dev/shm/cordon-fuzz.XXXXXX";
static int store = -1;

static void sweep(void)
{
        (void) remove_tree(store, "run");
        (void) rmdir(place);
}

static void begin(void)
{
        if (!mkdtemp(place) || (store = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
            mkdirat(store, "run", 0700) < 0 || mkdirat(store, "run/apply-1", 0700) < 0 ||
            mknodat(store, "run/lock", S_IFREG | 0600, 0) < 0 || atexit(sweep) != 0)
                abort();
}

static void put(const char *name, struct span text)
{
        AUTO_FD(fd, openat(store, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        if (fd < 0 || fd_write_all(fd, text.p, text.n) < 0)
                abort();
}

/* "end " and the digest of what stands before it, ended by NUL. */
static void put_base(const char *name, struct span text)
{
        char hex[65];
        AUTO_BUF(whole);
        sha256_hex(text, hex);
        buf_add(&whole, text.p, text.n);
        buf_puts(&whole, "end ");
        buf_add(&whole, hex, sizeof hex);
        put(name, buf_span(&whole));
}

static void put_all(struct span rest)
{
        for (int i = 0; i < FILES; i++) {
                const uint8_t *cut = i + 1 < FILES && rest.n ? memmem(rest.p, rest.n, "\n--\n", 4) : NULL;
                size_t n = cut ? (size_t) (cut - rest.p) : rest.n;
                (i + 1 < FILES ? put : put_base)(files[i], span_of(rest.p, n));
                rest = cut ? span_of(cut + 4, rest.n - n - 4) : span_of("", 0);
        }
}

/* What any caller relies on: numbers are in range, texts are there and end. */
static void check_journal(const struct journal *j)
{
        size_t sum = 0;
        for (size_t i = 0; i < j->n; i++) {
                const struct op *o = &j->ops[i];
                if (o->door >= WORK_DOORS_MAX || !o->path || !o->source ||
                    !memchr("PSTM", o->kind, 4)) /* not strchr(): that finds a NUL, too */
                        abort();
                sum += strlen(o->path) + strlen(o->source) + (o->digest ? strlen(o->digest) : 0);
        }
        for (size_t i = 0; i < WORK_DOORS_MAX; i++)
                sum += j->targets[i].used ? strlen(j->targets[i].path) : 0;
        if (j->mark && strlen(j->mark) + sum == SIZE_MAX)
                abort();
}

static void check_layer(struct layer *l)
{
        mode_t mode;
        if (l->door_count > WORK_DOORS_MAX)
                abort();
        for (size_t i = 0; i < l->door_count; i++)
                if (!l->doors[i].host || (l->doors[i].guard_count && !l->doors[i].guards))
                        abort();
        (void) closed_mode(l, 0, "a/b", &mode);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err e = { 0 };
        if (store < 0)
                begin();
        put_all(span_of(data, size));
        struct layer *l = layer_take(store, "run", &e);
        if (!l) {
                if (e.code == ERR_NONE || !e.what[0])
                        abort();
                return 0;
        }
        check_layer(l);
        struct journal *j = journal_newest(l, "journal", &e);
        if (j) {
                check_journal(j);
                base_digests(j);
        }
        if (!j && (e.code == ERR_NONE || !e.what[0]))
                abort();
        journal_free(j);
        layer_free(l);
        return 0;
}

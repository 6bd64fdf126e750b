/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_image_tar.c - the tar reader and the decider of names on any bytes: whatever is accepted
 * has a name that stays inside, and no more data than the archive has. */
#include "files/image/unpack/image_unpack.h"

#include <stdlib.h>
#include <string.h>

struct bytes {
        const uint8_t *p;
        size_t n;
};

static ssize_t get(void *ctx, void *p, size_t n, struct err *e)
{
        struct bytes *b = ctx;
        size_t k = b->n < n ? b->n : n;
        (void) e;
        if (k > 0)
                memcpy(p, b->p, k);
        b->p += k;
        b->n -= k;
        return (ssize_t) k;
}

static void check_part(const char *s, size_t n)
{
        if (n == 0 || n > 255 || (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.'))
                abort();
}

static void check_name(const struct entry_name *n, enum entry_verdict v)
{
        if (v == ENTRY_REFUSED && !n->why)
                abort();
        if (v != ENTRY_KEPT && v != ENTRY_WHITEOUT && v != ENTRY_OPAQUE)
                return;
        if (n->parent[0] == '/' || strchr(n->last, '/') || strncmp(n->parent, "proc/", 5) == 0)
                abort();
        check_part(n->last, strlen(n->last));
        for (const char *p = n->parent; *p; p += strcspn(p, "/"), p += *p == '/')
                check_part(p, strcspn(p, "/"));
        if (v == ENTRY_KEPT && strncmp(n->last, ".wh.", 4) == 0)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct tar_reader t;
        static struct entry_name n;
        struct bytes b = { data, size };
        struct tar_entry f;
        struct err e;
        char piece[100];
        size_t taken = 0;
        t = (struct tar_reader){ .in = { .get = get, .ctx = &b } };
        while (tar_next(&t, &f, &e) > 0) {
                if (strlen(f.name) >= UNPACK_PATH || strlen(f.link) >= UNPACK_PATH)
                        abort();
                check_name(&n, entry_name_judge(f.name, &n));
                check_name(&n, entry_name_judge(f.link, &n));
                for (ssize_t k; (k = tar_data(&t, piece, sizeof piece, &e)) > 0;)
                        taken += (size_t) k;
                if (taken > size)
                        abort();
        }
        return 0;
}

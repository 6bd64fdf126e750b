/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_bwrap.c - any bytes as an --args file. What is accepted is in bounds, and every operation
 * has what its doer uses. */
#include "base/span.h"
#include "face/bwrap/bwrap.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *bytes;
static size_t length;

static int give(int fd, char **ret, size_t *ret_length)
{
        (void) fd;
        *ret = bytes;
        *ret_length = length;
        return 0;
}

static void check_op(const struct bwrap_order *o, const struct bwrap_op *op)
{
        bool by_fd = op->kind == BWRAP_FILE || op->kind == BWRAP_DATA || op->flags & BWRAP_BY_FD;
        bool has_source = op->kind == BWRAP_SYMLINK || (op->kind == BWRAP_BIND && !by_fd);
        if (op->kind >= BWRAP_KIND__COUNT || !op->dest || !*op->dest || op->perms > 07777)
                abort();
        if ((by_fd && op->fd < 0) || (has_source && (!op->source || !*op->source)))
                abort();
        if (op->kind == BWRAP_OVERLAY && (op->layers == 0 || op->layer + op->layers > o->layer_count))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct bwrap_order o;
        static const struct bwrap_files files = { give };
        const char *const argv[] = { "--args", "0", "true", NULL };
        const struct bwrap_caller caller = { .uid = 1000, .gid = 1000, .user_namespaces = true };
        struct err e = { 0 };
        memset(&o, 0, sizeof o);
        bytes = calloc(1, size + 1);
        length = size;
        if (!bytes)
                return 0;
        if (size > 0)
                memcpy(bytes, data, size);

        int r = bwrap_read(&o, argv, 3, 0, &files, &e);
        if (r < 0 && (e.code != ERR_USAGE || !*e.what))
                abort();

        for (size_t i = 0; r == 0 && i < o.op_count; i++)
                check_op(&o, &o.ops[i]);

        if (r == 0 && !o.help && !o.version && bwrap_settle(&o, &caller, &e) == 0 &&
            (o.uid < 0 || o.gid < 0 || (!o.user && o.userns_fd < 0)))
                abort();

        free(bytes);
        return 0;
}

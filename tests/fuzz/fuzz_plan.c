/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_plan.c - any bytes behind the head of a sealed box plan (first byte even) or run order
 * (odd); with the second bit set, edits of a valid one: two bytes offset, one byte value. What is accepted
 * must be readable to its last byte. */
#include "wall/plan/plan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 64 };

static void seal_box(struct buf *out)
{
        struct plan_step steps[] = {
                { .kind = STEP_BIND, .path = "/usr", .text = "/usr", .dev = 1, .ino = 2 },
                { .kind = STEP_PROC, .path = "/proc" }
        };
        struct plan_rule rules[] = { { .path = "/usr", .rights = RIGHT_READ, .real = "/u" } };
        struct plan_handle handles[] = { { .name = "data", .max = 100 } };
        uint16_t ports[] = { 80, 443 };
        struct plan_local locals[] = { { .address = { 127, 0, 0, 1 }, .port = 80 } };
        struct plan p = { .box = "b",
                          .wall = WALL_NAMESPACE,
                          .steps = steps,
                          .step_count = 2,
                          .rules = rules,
                          .rule_count = 1,
                          .handles = handles,
                          .handle_count = 1,
                          .ports = ports,
                          .port_count = 2,
                          .locals = locals,
                          .local_count = 1 };
        plan_seal_box(&p, out);
}

static void seal_order(struct buf *out)
{
        const char *argv[] = { "cat", "-", NULL }, *envp[] = { "A=b", NULL }, *exec[] = { "/bin/cat", NULL };
        struct plan_step files[] = { { .kind = STEP_FILE, .path = BOX_HOME "/.netrc", .text = "x" } };
        struct plan_order o = { .argv = argv,
                                .launch = argv,
                                .envp = envp,
                                .exec = exec,
                                .cwd = "/",
                                .files = files,
                                .file_count = 1 };
        plan_seal_order(&o, out);
}

static size_t length(const char *text) { return text ? strlen(text) : 0; }

static size_t walk_box(const struct plan *p)
{
        size_t n = strlen(p->box);
        for (size_t i = 0; i < p->step_count; i++)
                n += strlen(p->steps[i].path) + length(p->steps[i].text) +
                     strlen(plan_step_name(p->steps[i].kind));
        for (size_t i = 0; i < p->rule_count; i++)
                n += strlen(p->rules[i].path) + length(p->rules[i].real);
        for (size_t i = 0; i < p->handle_count; i++)
                n += strlen(p->handles[i].name);
        for (size_t i = 0; i < p->port_count; i++)
                n += p->ports[i];
        for (size_t i = 0; i < p->local_count; i++)
                n += p->locals[i].port;
        return n;
}

static size_t walk_order(const struct plan_order *o)
{
        size_t n = strlen(o->cwd) + length(o->cwd_outside);
        const char **const lists[] = { o->argv, o->launch, o->envp, o->exec };
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
                for (const char **v = lists[k]; *v; v++)
                        n += strlen(*v);
        for (size_t i = 0; i < o->file_count; i++)
                n += strlen(o->files[i].path) + strlen(o->files[i].text);
        return n;
}

/* Exactly as long as it is, so that a sanitizer sees the first byte too many. */
static void open_copy(const struct buf *b, bool order)
{
        struct err e = { 0 };
        size_t used = 0, n = 0;
        const struct plan *p;
        const struct plan_order *o;
        char *copy = b->n ? malloc(b->n) : NULL;
        if (!copy)
                return;

        memcpy(copy, b->p, b->n);
        int r = order ? plan_open_order(copy, b->n, &o, &used, &e) : plan_open_box(copy, b->n, &p, &used, &e);
        if (r == 0)
                n = order ? walk_order(o) : walk_box(p);

        if (used > b->n || n > (64 + sizeof(struct plan)) * b->n || (r < 0 && !e.what[0]))
                abort();

        free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AUTO_BUF(valid);
        AUTO_BUF(b);
        if (size == 0)
                return 0;

        bool order = data[0] & 1;
        if (order)
                seal_order(&valid);
        else
                seal_box(&valid);

        bool edits = data[0] & 2;
        buf_add(&b, valid.p, edits ? valid.n : HEAD);
        if (edits)
                for (size_t i = 1; i + 3 <= size; i += 3)
                        b.p[(data[i] | (size_t) data[i + 1] << 8) % b.n] = (char) data[i + 2];
        else
                buf_add(&b, data + 1, size - 1);

        if (!edits) {
                uint64_t n = b.n;
                memcpy(b.p + HEAD - 40, &n, sizeof n); /* the head's length */
        }

        open_copy(&b, order);
        return 0;
}

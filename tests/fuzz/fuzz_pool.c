/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_pool.c - a packet from a client of the resident: any bytes (first byte even), or edits of a
 * valid request to park a box (odd): two bytes offset, one byte value. A recipe that is accepted must be
 * readable to its last byte, and its key the same when it is sealed again. */
#include "run/pool/pool.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal_request(struct buf *out)
{
        struct plan_step steps[] = {
                { .kind = STEP_BIND, .path = "/usr", .text = "/usr", .dev = 1, .ino = 2 },
                { .kind = STEP_PROC, .path = "/proc" }
        };
        struct plan_rule rules[] = { { .path = "/usr", .rights = RIGHT_READ } };
        const struct plan p = { .box = "b",
                                .wall = WALL_NAMESPACE,
                                .steps = steps,
                                .step_count = 2,
                                .rules = rules,
                                .rule_count = 1 };
        const struct pool_recipe r = { .plan = &p,
                                       .name = "name",
                                       .policy = "{}",
                                       .places = "",
                                       .digest = "digest",
                                       .tenant = "",
                                       .mask = 022 };
        struct pool_message m = { .magic = POOL_MAGIC, .word = POOL_ADD, .arg = 1 };
        AUTO_BUF(blocks);
        pool_recipe_seal(&r, &blocks);
        m.bytes = (uint32_t) blocks.n;
        buf_add(out, &m, sizeof m);
        buf_add(out, blocks.p, blocks.n);
}

static void edit(struct buf *b, const uint8_t *data, size_t size)
{
        for (; size >= 3; data += 3, size -= 3) {
                size_t at = (size_t) data[0] << 8 | data[1];
                if (at < b->n)
                        b->p[at] = (char) data[2];
        }
}

static void open_recipe(const struct buf *packet)
{
        struct pool_recipe r;
        struct err e;
        uint8_t key[POOL_KEY], again[POOL_KEY];
        size_t n = packet->n - sizeof(struct pool_message);
        char *blocks = malloc(n + 1);
        AUTO_BUF(sealed);
        if (!blocks)
                return;

        memcpy(blocks, packet->p + sizeof(struct pool_message), n);
        if (pool_recipe_open(blocks, n, &r, &e) == 0 && pool_key(&r, key) == 0) {
                struct pool_recipe copy;
                pool_recipe_seal(&r, &sealed);
                if (sealed.failed || pool_recipe_open(sealed.p, sealed.n, &copy, &e) < 0 ||
                    pool_key(&copy, again) < 0 || memcmp(key, again, sizeof key) != 0)
                        abort();

                AUTO_BUF(differs);
                (void) pool_recipe_diff(&r, &copy, &differs);
        }

        free(blocks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AUTO_BUF(packet);
        if (size == 0)
                return 0;

        if (data[0] & 1) {
                seal_request(&packet);
                edit(&packet, data + 1, size - 1);
        } else {
                buf_add(&packet, data + 1, size - 1);
        }

        if (!packet.failed && packet.n && pool_is_whole(packet.p, packet.n))
                open_recipe(&packet);

        return 0;
}

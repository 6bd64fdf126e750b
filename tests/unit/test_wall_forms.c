/* SPDX-License-Identifier: MIT */
/* Messages of init to its keeper: each word arrives as it was sent, and bytes of another form are rejected.
 */
#include "base/wire/wire.h"
#include "harness.h"
#include "wall/internal.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static struct wall_message sample(uint32_t word)
{
        struct wall_message m = { .word = word };
        if (word == WALL_SAYS_ERROR) {
                m.error =
                        (struct err){ .code = 3, .step = 4, .sys = -5, .what = "no way", .hint = "another" };
        } else if (word == WALL_SAYS_DENIED || word == WALL_SAYS_SAW) {
                m.denial = (struct wall_denial){ .call = { .nr = 2, .args = { 1, 2, 3, 4, 5, UINT64_MAX } },
                                                 .kind = 1,
                                                 .program = "cat",
                                                 .path = "/etc/shadow" };
        } else if (word == WALL_SAYS_END) {
                m.end.status = 256; /* one by one: an assignment of the whole need not copy padding */
                m.end.cpu_ns = 7;
                m.end.left = 1;
                m.end.left_name[0] = 'x';
                m.end.time_over = 1;
        } else if (word == WALL_SAYS_UP) {
                m.layers = 0xffff;
        } else if (word == WALL_SAYS_COPY) {
                m.copy.ino = UINT64_MAX;
                m.copy.which = 9;
        }
        return m;
}

static void test_forms__each_word_arrives_as_it_was_sent(void)
{
        int ends[2], fd = -1;
        CHECK_INT(wire_pair(ends), 0);
        for (uint32_t word = WALL_SAYS_ERROR; word <= WALL_SAYS_RISES; word++) {
                struct wall_message m = sample(word), got;
                CHECK_INT(wall_put(ends[0], &m, -1), 0);
                CHECK_INT(wall_take(ends[1], &got, &fd), 1);
                CHECK(memcmp(&m, &got, sizeof m) == 0);
        }
        (void) close(ends[0]);
        (void) close(ends[1]);
}

static void test_forms__other_bytes_are_rejected(void)
{
        int ends[2], fd = -1;
        uint8_t bytes[WIRE_MAX];
        struct wall_message m = sample(WALL_SAYS_DENIED), got = { .word = 99 };
        CHECK_INT(wire_pair(ends), 0);
        CHECK_INT(wall_put(ends[0], &m, -1), 0);
        ssize_t n = recv(ends[1], bytes, sizeof bytes, 0);
        CHECK(n > WIRE_HEAD);
        for (ssize_t cut = 1; cut < n; cut++) {
                CHECK_INT(send(ends[0], bytes, (size_t) cut, 0), cut);
                CHECK(wall_take(ends[1], &got, &fd) == -1 && errno == EPROTO);
        }
        for (unsigned type = 0; type < 64; type++) {
                bytes[0] = (uint8_t) type;
                CHECK_INT(send(ends[0], bytes, (size_t) n, 0), n);
                bool denial = type == WIRE_WALL_MESSAGE + WALL_SAYS_DENIED ||
                              type == WIRE_WALL_MESSAGE + WALL_SAYS_SAW;
                CHECK_INT(wall_take(ends[1], &got, &fd), denial ? 1 : -1);
        }
        (void) close(ends[0]);
        (void) close(ends[1]);
}

static const struct test_case cases[] = {
        CASE(test_forms__each_word_arrives_as_it_was_sent),
        CASE(test_forms__other_bytes_are_rejected),
};
TEST_MAIN(cases)

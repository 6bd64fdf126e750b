/* SPDX-License-Identifier: MIT */
/* Which failures of a start let another wall be tried: only those in which the host forbids a mechanism. And
 * what init says is read as if it were not ours. */
#include "base/wire/wire.h"
#include "harness.h"
#include "wall/internal.h"

#include <errno.h>
#include <unistd.h>

static bool another(enum err_code code, int sys, enum wall_step step)
{
        struct err e = { .code = (uint16_t) code, .sys = sys, .step = (uint16_t) step };
        return wall_refused_by_host(&e);
}

static void test_refused__mechanisms_of_the_namespace_wall(void)
{
        static const enum wall_step asked[] = { STAGE_CLONE, STAGE_MAP, STAGE_ROOT,  STAGE_PIVOT,
                                                STAGE_NET,   STAGE_IDS, STAGE_LIMITS };
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
                CHECK(another(ERR_WALL, EPERM, asked[i]));
                CHECK(another(ERR_WALL, ENOSPC, asked[i]));
                CHECK(!another(ERR_WALL, EMFILE, asked[i])); /* a shortage is no refusal */
                CHECK(!another(ERR_WALL, ENOENT, asked[i]));
                CHECK(!another(ERR_DOOR, EPERM, asked[i]));
        }
        CHECK(another(ERR_HOST, EPERM, STAGE_NONE));
}

static void test_refused__not_what_both_walls_need(void)
{
        static const enum wall_step both[] = { STAGE_NONE,    STAGE_DOORS,  STAGE_LANDLOCK, STAGE_CAPS,
                                               STAGE_SECCOMP, STAGE_ATTEST, STAGE_EXEC };
        for (size_t i = 0; i < sizeof both / sizeof *both; i++)
                CHECK(!another(ERR_WALL, EPERM, both[i]));
        CHECK(!another(ERR_WALL, ENOSPC, STAGE_TTY)); /* all terminals are taken, by another box maybe */
        CHECK(!another(ERR_WALL, EPERM, (enum wall_step) 999));
        CHECK(!another(ERR_EXEC, EACCES, STAGE_EXEC));
}

static void test_listen__a_text_of_init_ends_where_its_room_does(void)
{
        struct wall_message said = { .word = WALL_SAYS_ERROR }, heard;
        int ends[2], fd = -1;
        CHECK_INT(wire_pair(ends), 0);
        memset(said.error.what, 'x', sizeof said.error.what);
        memset(said.error.hint, 'y', sizeof said.error.hint);
        const struct wall_child c = { .control = ends[0] };
        CHECK_INT(wall_put(ends[1], &said, -1), 0);
        CHECK_INT(wall_listen(&c, &heard, &fd), 1);
        CHECK_INT(strnlen(heard.error.what, sizeof heard.error.what), sizeof heard.error.what - 1);
        CHECK_INT(strnlen(heard.error.hint, sizeof heard.error.hint), sizeof heard.error.hint - 1);
        (void) close(ends[0]);
        (void) close(ends[1]);
}

static const struct test_case cases[] = {
        CASE(test_listen__a_text_of_init_ends_where_its_room_does),
        CASE(test_refused__mechanisms_of_the_namespace_wall),
        CASE(test_refused__not_what_both_walls_need),
};
TEST_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* tests/unit/test_box_init_table.c - every message of init in every phase of its box, with a descriptor and
 * without: those that may come then are heard, and any other ends the box and is reported. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "harness.h"
#include "run/keeper/init_messages.h"
#include "wall/internal.h"

#include <fcntl.h>
#include <unistd.h>

/* One row a word; a column each for raising, warming, parked, serving, running, ending, joined. What it may
 * carry: 'y' nothing, 'f' a descriptor, 'e' either. */
static const struct {
        uint32_t word;
        const char *may;
} table[] = {
        { WALL_SAYS_NOTHING, "-------" },   { WALL_SAYS_ERROR, "y-yy--y" },    { WALL_SAYS_TTY, "f-ff--f" },
        { WALL_SAYS_UP, "e------" },        { WALL_SAYS_DENIED, "yyyyyyy" },   { WALL_SAYS_SAW, "yyyyyyy" },
        { WALL_SAYS_END, "-yyyy-y" },       { WALL_SAYS_LISTENER, "f------" }, { WALL_SAYS_COPY, "f------" },
        { WALL_SAYS_CONNECTED, "-eeeee-" }, { WALL_SAYS_LOST, "yyyyyyy" },     { WALL_SAYS_READY, "------y" },
        { WALL_SAYS_TOUCHED, "-yyyyy-" },   { WALL_SAYS_LABEL, "------y" },    { WALL_SAYS_HELD, "------y" },
        { WALL_SAYS_BLOCKED, "------y" },   { WALL_SAYS_RAN, "---y---" },      { WALL_SAYS_RISES, "------y" },
        { WALL_SAYS_RISES + 1, "-------" }, { UINT32_MAX, "-------" },
};

static bool expected(char may, bool fd) { return may == 'e' || may == (fd ? 'f' : 'y'); }

static void test_init_table__has_each_word_in_its_phases_only(void)
{
        CHECK_INT(sizeof table / sizeof *table, WALL_SAYS_RISES + 3);
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                CHECK_INT(strlen(table[i].may), INIT_PHASE__COUNT);
                for (unsigned p = 0; p < INIT_PHASE__COUNT; p++)
                        for (int fd = 0; fd < 2; fd++)
                                if (init_may_say(table[i].word, (enum init_phase) p, fd) !=
                                    expected(table[i].may[p], fd)) {
                                        printf("# word %u, phase %u, descriptor %d\n", table[i].word, p, fd);
                                        test_failures++;
                                }
        }
}

/* ---- a keeper whose init is this test ---- */

static const char *words[] = { "true", NULL };
static struct plan_order order = { .argv = words };

static struct box *box_in(enum init_phase p, int *ret_init)
{
        static struct plan plain, warm;
        int ends[2];
        plain.order = warm.order = &order;
        warm.warm_count = 1;
        const struct box_config c = { .plan = p == INIT_WARMING ? &warm : &plain,
                                      .park = p == INIT_WARMING || p == INIT_PARKED,
                                      .session = p == INIT_SERVING };
        struct box *b = keeper_new(&c);
        if (!b || wire_pair(ends) < 0)
                abort();

        b->child.control = ends[0];
        *ret_init = ends[1];
        b->start.order = &order;
        b->init_up = p != INIT_RAISING && p != INIT_JOINED;
        b->run.up = p >= INIT_SERVING;
        b->ready = p == INIT_PARKED;
        b->init_ended = p == INIT_ENDING;
        b->run.r.in_session = p == INIT_JOINED;
        return b;
}

static void box_off(struct box *b, int init)
{
        (void) close(init);
        if (b->child.control >= 0)
                (void) close(b->child.control);
        arena_done(&b->run.texts);
        arena_done(&b->run.draft);
        free(b);
}

static unsigned reported(const struct box *b)
{
        unsigned n = 0;
        for (unsigned i = 0; i < b->run.r.denial_count; i++)
                if (b->run.r.denials[i].effect.reason == REASON_INIT_MESSAGE)
                        n += b->run.r.denials[i].count;
        return n;
}

static void say(uint32_t word, enum init_phase p, bool with_fd)
{
        const struct wall_message m = { .word = word };
        AUTO_FD(given, with_fd ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1);
        int init;
        struct box *b = box_in(p, &init);
        CHECK_INT(init_phase_of(b), p);
        CHECK_INT(wall_put(init, &m, given), 0);
        keeper_hear(b);
        if (reported(b) != 1 || b->run.r.out.end != (p == INIT_ENDING ? CORDON_RUNNING : CORDON_FAILED) ||
            (b->child.control >= 0) != (p == INIT_ENDING)) {
                printf("# word %u, phase %u, descriptor %d: reported %u, end %d, heard again %d\n", word, p,
                       with_fd, reported(b), b->run.r.out.end, b->child.control >= 0);
                test_failures++;
        }
        box_off(b, init);
}

static void test_init_message__out_of_turn_ends_the_box_and_is_reported(void)
{
        unsigned tried = 0;
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
                for (unsigned p = 0; p < INIT_PHASE__COUNT; p++)
                        for (int fd = 0; fd < 2; fd++)
                                if (table[i].word > WALL_SAYS_NOTHING && table[i].word <= WALL_SAYS_RISES &&
                                    !expected(table[i].may[p], fd)) {
                                        say(table[i].word, (enum init_phase) p, fd);
                                        tried++;
                                }
        CHECK(tried > 150);
}

static void test_init_message__that_nothing_asked_for_is_one(void)
{
        say(WALL_SAYS_TTY, INIT_RAISING, true);
        say(WALL_SAYS_TTY, INIT_PARKED, true);
        say(WALL_SAYS_ERROR, INIT_PARKED, false);
        say(WALL_SAYS_COPY, INIT_RAISING, true);
        say(WALL_SAYS_TOUCHED, INIT_RUNNING, false);
}

static void test_init_message__in_turn_is_heard(void)
{
        const struct wall_message lost = { .word = WALL_SAYS_LOST, .lost = { EFFECT_READ, 3 } },
                                  end = { .word = WALL_SAYS_END, .end = { .status = 7 << 8 } };
        int init;
        struct box *b = box_in(INIT_RUNNING, &init);
        CHECK_INT(wall_put(init, &lost, -1), 0);
        CHECK_INT(wall_put(init, &end, -1), 0);
        CHECK_INT(wall_put(init, &lost, -1), 0);
        for (int i = 0; i < 3; i++)
                keeper_hear(b);
        CHECK_INT(b->run.r.lost[EFFECT_READ], 6);
        CHECK_INT(b->run.r.out.end, CORDON_EXITED);
        CHECK_INT(b->run.r.out.code, 7);
        CHECK_INT(reported(b), 0);
        CHECK_INT(wall_put(init, &end, -1), 0); /* once more */
        keeper_hear(b);
        CHECK_INT(b->run.r.out.end, CORDON_EXITED);
        CHECK_INT(reported(b), 1);
        box_off(b, init);
}

static const struct test_case cases[] = {
        CASE(test_init_table__has_each_word_in_its_phases_only),
        CASE(test_init_message__out_of_turn_ends_the_box_and_is_reported),
        CASE(test_init_message__that_nothing_asked_for_is_one),
        CASE(test_init_message__in_turn_is_heard),
};

TEST_MAIN(cases)

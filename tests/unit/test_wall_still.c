/* SPDX-License-Identifier: MIT */
/* Has anybody in the box run since the last look? The listing is the test's own: what a process made between
 * two looks at /proc can hide from, it hides from here too. */
#include "harness.h"
#include "wall/internal.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the listing: a word of letters a list, one letter a process ---- */

static pid_t idle[3]; /* a, b, c: they sleep; i: init; x: there is no such process */
static const char *lists[2];
static unsigned asked;

int __wrap_wall_each_process(const struct wall_init *w, void (*fn)(void *ctx, int proc, const char *pid),
                             void *ctx);
int __wrap_wall_each_process(const struct wall_init *w, void (*fn)(void *ctx, int proc, const char *pid),
                             void *ctx)
{
        (void) w;
        const char *list = lists[asked++ % 2];
        if (!list)
                return -1; /* it could not be read */
        for (; *list; list++) {
                char number[16];
                pid_t pid = *list == 'i' ? 1 : *list == 'x' ? 0x3fffffff : idle[*list - 'a'];
                (void) snprintf(number, sizeof number, "%d", pid);
                fn(ctx, -1, number);
        }
        return 0;
}

static void start_idle(void)
{
        for (int i = 0; i < 3; i++) {
                idle[i] = fork();
                if (idle[i] == 0) {
                        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                        (void) raise(SIGSTOP);
                        _exit(0);
                }
                (void) waitpid(idle[i], NULL, WUNTRACED);
        }
}

static void end_idle(void)
{
        for (int i = 0; i < 3; i++) {
                (void) kill(idle[i], SIGKILL);
                (void) waitpid(idle[i], NULL, 0);
        }
}

static void note(struct wall_still *s, const char *first, const char *second)
{
        lists[0] = first;
        lists[1] = second;
        asked = 0;
        wall_still_note(s, NULL);
}

/* ---- the sentences ---- */

static void test_still__only_two_lists_that_agree_are_known(void)
{
        static const struct {
                const char *first, *second;
                bool still;
        } table[] = {
                { "iab", "iab", true },   { "i", "i", true }, /* nobody but init */
                { "iab", "icab", false }, /* numbers began anew: c was made below b while the first was read
                                           */
                { "ia", "iac", false },   /* made after the first */
                { "iab", "ia", false },   /* ended between them */
                { "ixa", "ixa", false },  /* gone before its time was noted */
                { NULL, "iab", false },   { "iab", NULL, false },
        };
        static struct wall_still s;
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                note(&s, table[i].first, table[i].second);
                if (wall_is_still(&s) != table[i].still)
                        printf("# row %zu\n", i);
                CHECK(wall_is_still(&s) == table[i].still);
        }
}

static void test_still__who_runs_or_ends_is_seen(void)
{
        static struct wall_still s;
        note(&s, "iab", "iab");
        CHECK(wall_is_still(&s));
        (void) kill(idle[1], SIGCONT); /* it ends */
        (void) waitpid(idle[1], NULL, 0);
        CHECK(!wall_is_still(&s));
}

static void test_still__not_for_ever(void)
{
        static struct wall_still s;
        unsigned looks = 0;
        note(&s, "ia", "ia");
        while (looks <= STILL_LOOKS && wall_is_still(&s))
                looks++;
        CHECK_INT(looks, STILL_LOOKS);
}

static void test_still__more_than_fit_are_not_known(void)
{
        static struct wall_still s;
        static char many[STILL_MAX + 2];
        memset(many, 'a', STILL_MAX);
        note(&s, many, many);
        CHECK(wall_is_still(&s));
        memset(many, 'a', STILL_MAX + 1);
        note(&s, many, many);
        CHECK(!wall_is_still(&s));
}

static const struct test_case cases[] = {
        CASE(test_still__only_two_lists_that_agree_are_known),
        CASE(test_still__not_for_ever),
        CASE(test_still__more_than_fit_are_not_known),
        CASE(test_still__who_runs_or_ends_is_seen),
};

int main(void)
{
        start_idle();
        int bad = test_main(cases, sizeof cases / sizeof *cases);
        end_idle();
        return bad;
}

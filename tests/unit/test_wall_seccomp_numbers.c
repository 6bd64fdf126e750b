/* SPDX-License-Identifier: MIT */
/* Are the numbers right? Three ways: the compiler checks each row against the macros of the architecture it
 * compiles for (so a cross build checks the other one without running); the run reads the kernel headers of
 * both architectures as text, where they are installed, and finds every name of theirs in the table and every
 * row in them. */
#include "harness.h"
#include "wall/linux/seccomp/seccomp.h"

#include <asm/unistd.h>
#include <stdlib.h>

/* A macro that exists spells its number; one that does not spells its own name. */
#define SPELL_(x)          #x
#define SPELL(x)           SPELL_(x)
#define IS_UNDEFINED(name) (__builtin_strcmp(SPELL(__NR_##name), "__NR_" #name) == 0)
#define IS(name, nr)       (__builtin_strcmp(SPELL(__NR_##name), #nr) == 0)
#ifdef __x86_64__
#define ROW(name, x86, arm, verdict, rule, reason)                                                           \
        _Static_assert((x86) < 0 ? IS_UNDEFINED(name) : IS_UNDEFINED(name) || IS(name, x86),                 \
                       "x86_64: " #name);
#else
#define ROW(name, x86, arm, verdict, rule, reason)                                                           \
        _Static_assert((arm) < 0 ? IS_UNDEFINED(name) : IS_UNDEFINED(name) || IS(name, arm),                 \
                       "aarch64: " #name);
#endif
#include "wall/linux/seccomp/seccomp_rows.inc"
#undef ROW

enum { NEWEST = 471 }; /* of the table */

/* Header names that are no calls of the architecture: counters, and other spellings of the same number. */
static bool is_beside(const char *name, long nr)
{
        return strcmp(name, "syscalls") == 0 || strcmp(name, "arch_specific_syscall") == 0 ||
               strcmp(name, "sync_file_range2") == 0 || (nr >= 403 && nr < 424); /* 32-bit time */
}

struct header {
        enum seccomp_arch arch;
        bool present[SECCOMP_NR_END];
        long newest;
        struct {
                char name[64];
                long nr;
        } alias[64]; /* asm-generic spells some calls by way of __NR3264_ macros */
        size_t aliases;
        bool in_aliases;
};

static void see_call(struct header *h, const char *name, long nr)
{
        if (is_beside(name, nr))
                return;
        if (nr > NEWEST) {
                printf("# %s (%ld) is newer than the table: such a call gets ENOSYS\n", name, nr);
                return;
        }
        CHECK(nr >= 0 && nr < SECCOMP_NR_END);
        const struct seccomp_row *row = seccomp_row_get(h->arch, nr);
        if (!row || strcmp(seccomp_row_name(row), name) != 0) {
                printf("# header: %s is %ld; table: %s\n", name, nr, row ? seccomp_row_name(row) : "nothing");
                test_failures++;
                return;
        }
        h->present[nr] = true;
        h->newest = nr > h->newest ? nr : h->newest;
}

static void see_alias(struct header *h, const char *name, const char *of)
{
        h->in_aliases = true;
        for (size_t i = 0; i < h->aliases; i++) {
                if (strcmp(h->alias[i].name, of) == 0)
                        see_call(h, name, h->alias[i].nr);
        }
}

static void see_line(struct header *h, const char *line)
{
        char name[64], value[64];
        if (sscanf(line, "#define __NR3264_%63s %63s", name, value) == 2) {
                CHECK(h->aliases < 64);
                (void) snprintf(h->alias[h->aliases].name, sizeof h->alias[0].name, "%s", name);
                h->alias[h->aliases++].nr = strtol(value, NULL, 10);
        } else if (sscanf(line, "#define __NR_%63s %63s", name, value) == 2) {
                if (strncmp(value, "__NR3264_", 9) == 0)
                        see_alias(h, name, value + 9);
                else
                        see_call(h, name, strtol(value, NULL, 10));
        }
}

static void check_header(enum seccomp_arch arch, FILE *f)
{
        struct header h = { .arch = arch };
        char line[512];
        while (fgets(line, sizeof line, f)) {
                if (h.in_aliases && strncmp(line, "#else", 5) == 0)
                        break; /* from here on the spellings of 32-bit machines */
                see_line(&h, line);
        }
        CHECK(h.newest >= 424);
        size_t count;
        const struct seccomp_row *rows = seccomp_table(&count);
        for (size_t i = 0; i < count; i++) {
                long nr = rows[i].nr[arch];
                bool probe = nr == 335 || nr == 336; /* numbered in the middle, years later */
                if (nr >= 0 && nr <= h.newest && !h.present[nr] && !(arch == SECCOMP_X86_64 && probe)) {
                        printf("# table: %s is %ld; header: nothing\n", seccomp_row_name(&rows[i]), nr);
                        test_failures++;
                }
        }
}

static bool check_first(enum seccomp_arch arch, const char *const *paths)
{
        for (; *paths; paths++) {
                FILE *f = fopen(*paths, "re");
                if (!f)
                        continue;
                check_header(arch, f);
                (void) fclose(f);
                return true;
        }
        return false;
}

static void test_numbers__of_x86_64_are_those_of_its_header(void)
{
        static const char *const paths[] = { "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
                                             "/usr/x86_64-linux-gnu/include/asm/unistd_64.h",
#ifdef __x86_64__
                                             "/usr/include/asm/unistd_64.h",
#endif
                                             NULL };
        if (!check_first(SECCOMP_X86_64, paths))
                SKIP("no x86_64 kernel headers installed");
}

static void test_numbers__of_aarch64_are_those_of_its_header(void)
{
        static const char *const paths[] = { "/usr/include/aarch64-linux-gnu/asm/unistd_64.h",
                                             "/usr/aarch64-linux-gnu/include/asm/unistd_64.h",
                                             "/usr/aarch64-linux-gnu/include/asm-generic/unistd.h",
                                             "/usr/include/asm-generic/unistd.h", NULL };
        if (!check_first(SECCOMP_AARCH64, paths))
                SKIP("no aarch64 kernel headers installed");
}

static void test_numbers__new_calls_have_one_number_everywhere(void)
{
        size_t count;
        const struct seccomp_row *rows = seccomp_table(&count);
        for (size_t i = 0; i < count; i++) {
                if (rows[i].nr[SECCOMP_X86_64] >= 424 || rows[i].nr[SECCOMP_AARCH64] >= 424)
                        CHECK_INT(rows[i].nr[SECCOMP_X86_64], rows[i].nr[SECCOMP_AARCH64]);
        }
        for (long nr = 424; nr <= NEWEST; nr++)
                CHECK(seccomp_name(SECCOMP_X86_64, nr) != NULL);
        CHECK(seccomp_name(SECCOMP_X86_64, NEWEST + 1) == NULL);
}

static void test_numbers__every_call_exists_somewhere(void)
{
        size_t count;
        const struct seccomp_row *rows = seccomp_table(&count);
        for (size_t i = 0; i < count; i++)
                CHECK(rows[i].nr[SECCOMP_X86_64] >= 0 || rows[i].nr[SECCOMP_AARCH64] >= 0);
}

static const struct test_case cases[] = {
        CASE(test_numbers__of_x86_64_are_those_of_its_header),
        CASE(test_numbers__of_aarch64_are_those_of_its_header),
        CASE(test_numbers__new_calls_have_one_number_everywhere),
        CASE(test_numbers__every_call_exists_somewhere),
};
TEST_MAIN(cases)

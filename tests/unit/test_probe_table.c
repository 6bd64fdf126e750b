/* SPDX-License-Identifier: MIT */
/* The attack table has no holes: every row says what it tries, what success would mean, and who should
 * refuse. */
#include "harness.h"
#include "selftest/probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct probe *const *all;
static size_t count;

static void test_table__there_are_enough(void)
{
        CHECK(count >= 130);
        CHECK(count < 512); /* the table's own room */
}

static void test_table__every_row_is_whole(void)
{
        for (size_t i = 0; i < count; i++) {
                const struct probe *p = all[i];
                CHECK(p->name && p->name[0] && p->success && p->success[0] && p->run && p->layers);
                CHECK((unsigned) p->cls < PROBE_CLASS__COUNT);
                /* What somebody promises is held by somebody. */
                CHECK(p->promise == BY_NO_WALL || p->layers[0] != '\0');
        }
}

static void test_table__no_name_stands_twice(void)
{
        for (size_t i = 0; i < count; i++)
                for (size_t k = 0; k < i; k++)
                        if (strcmp(all[i]->name, all[k]->name) == 0) {
                                printf("# twice: %s\n", all[i]->name);
                                CHECK(false);
                        }
}

static void test_table__every_class_is_attacked(void)
{
        for (unsigned c = 0; c < PROBE_CLASS__COUNT; c++) {
                size_t n = 0;
                for (size_t i = 0; i < count; i++)
                        n += all[i]->cls == c;
                CHECK(n > 0);
                CHECK(probe_class_name((enum probe_class) c)[0] != '?');
        }
}

static bool is_layer(const char *word, size_t n)
{
        static const char *const layers[] = { "mount",       "pid",      "net",          "ipc",
                                              "uts",         "user",     "nested-user",  "cgroup-ns",
                                              "seccomp",     "landlock", "capabilities", "no-new-privs",
                                              "rlimit",      "cgroup",   "memfd-noexec", "stdio",
                                              "environment", "proc" };
        for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
                if (strlen(layers[i]) == n && memcmp(layers[i], word, n) == 0)
                        return true;
        return false;
}

static void test_table__layers_are_known_words(void)
{
        for (size_t i = 0; i < count; i++)
                for (const char *at = all[i]->layers; *at;) {
                        size_t n = strcspn(at, ",");
                        CHECK(is_layer(at, n));
                        at += n + (at[n] == ',');
                }
}

static void test_table__no_word_that_promises_too_much(void)
{
        static const char *const banned[] = { "secure", "safe", "unbreakable" };
        for (size_t i = 0; i < count; i++)
                for (size_t k = 0; k < 3; k++)
                        CHECK(!strcasestr(all[i]->name, banned[k]) &&
                              !strcasestr(all[i]->success, banned[k]));
}

static void test_layer_of__speaks_with_its_error(void)
{
        const struct probe p = { .layers = "mount,landlock,seccomp" };
        CHECK_STR(probe_layer_of(&p, ENOENT), "mount");
        CHECK_STR(probe_layer_of(&p, EACCES), "landlock");
        CHECK_STR(probe_layer_of(&p, EPERM), "seccomp");
        CHECK_STR(probe_layer_of(&p, 0), "mount");
        const struct probe none = { .layers = "" };
        CHECK_STR(probe_layer_of(&none, EPERM), "");
}

static void test_world__goes_through_words_and_back(void)
{
        struct probe_world w = { .dir = "/tmp/x y", .port = 4242, .bystander = 7, .key = -1 }, back = { 0 };
        char *words[64];
        size_t n = probe_world_words(&w, words, 64);
        for (size_t i = 0; i < n; i++) {
                CHECK(probe_world_take(&back, words[i]));
                free(words[i]);
        }
        CHECK(memcmp(&w, &back, sizeof w) == 0);
        CHECK(!probe_world_take(&back, "nobody=1"));
        CHECK(!probe_world_take(&back, "port=12x"));
        CHECK(!probe_world_take(&back, "port"));
}

static void test_tiny_program__ends_with_77(void)
{
        unsigned char program[256];
        size_t n = probe_tiny_program(program, sizeof program);
        CHECK(n > 0 && probe_tiny_program(program, 16) == 0);
        char path[] = "/tmp/cordon-test.XXXXXX";
        int fd = mkostemp(path, O_CLOEXEC), status = -1;
        CHECK(fd >= 0 && write(fd, program, n) == (ssize_t) n && fchmod(fd, 0700) == 0);
        (void) close(fd);
        pid_t pid = fork();
        if (pid == 0) {
                (void) execl(path, path, (char *) NULL);
                _exit(errno == EACCES ? 99 : 98);
        }
        (void) waitpid(pid, &status, 0);
        (void) unlink(path);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 99)
                SKIP("/tmp does not allow execution");
        CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 77);
}

static const struct test_case cases[] = {
        CASE(test_table__there_are_enough),         CASE(test_table__every_row_is_whole),
        CASE(test_table__no_name_stands_twice),     CASE(test_table__every_class_is_attacked),
        CASE(test_table__layers_are_known_words),   CASE(test_table__no_word_that_promises_too_much),
        CASE(test_layer_of__speaks_with_its_error), CASE(test_world__goes_through_words_and_back),
        CASE(test_tiny_program__ends_with_77),
};

int main(void)
{
        all = probe_table(&count);
        return test_main(cases, sizeof cases / sizeof *cases);
}

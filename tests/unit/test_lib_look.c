/* SPDX-License-Identifier: MIT */
/* tests/unit/test_lib_look.c - the look at doors against somebody who exchanges a directory with a link as
 * fast as the kernel lets them: the path that is judged and the number that the wall compares are always
 * those of one and the same thing. */
#include "base/fd.h"
#include "harness.h"
#include "run/api/internal.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 100000, ROUNDS_LEAST = 500, SECONDS = 60 }; /* a busy machine has time for fewer */

static char top[64] = "/dev/shm/cordon-test.XXXXXX";
static char named[128], kept[128], run_line[128];
static uint64_t named_ino, kept_ino;

static uint64_t make_dir(const char *path)
{
        struct stat st = { 0 };
        CHECK(mkdir(path, 0755) == 0 && stat(path, &st) == 0);
        return st.st_ino;
}

static void build(void)
{
        CHECK(mkdtemp(top) != NULL && chdir(top) == 0);
        (void) snprintf(named, sizeof named, "%s/bin", top);
        (void) snprintf(run_line, sizeof run_line, "%s/bin/", top);
        (void) snprintf(kept, sizeof kept, "%s/kept", top);
        named_ino = make_dir(named);
        kept_ino = make_dir(kept);
        CHECK(symlink("kept", "link") == 0);
}

static void tidy(void)
{
        struct stat st;
        bool link = lstat("bin", &st) == 0 && S_ISLNK(st.st_mode);
        CHECK(unlink(link ? "bin" : "link") == 0 && rmdir(link ? "link" : "bin") == 0);
        CHECK(rmdir("kept") == 0 && chdir("/") == 0 && rmdir(top) == 0);
}

static pid_t swapper(void)
{
        pid_t pid = fork();
        while (pid == 0)
                (void) syscall(SYS_renameat2, AT_FDCWD, "bin", AT_FDCWD, "link", RENAME_EXCHANGE);
        return pid;
}

/* 0: the directory, 1: what the link leads to; else two things, or another. */
static int which(const char *real, uint64_t ino)
{
        bool led = strcmp(real, kept) == 0;
        if (!led && strcmp(real, named) != 0 && strcmp(real, "") != 0)
                return ino == named_ino ? 0 : 2; /* exchanged while it was asked for: another name of it */
        return ino == (led ? kept_ino : named_ino) ? led : 2;
}

static void look_often(struct door *d)
{
        unsigned seen[3] = { 0 };
        const time_t end = time(NULL) + SECONDS;
        for (unsigned i = 0; i < ROUNDS && (time(NULL) < end || seen[0] + seen[1] < ROUNDS_LEAST); i++) {
                struct err e;
                struct plan_request r = { 0 };
                struct look *l = look_at_doors(d, 1, NULL, top, &e);
                CHECK(l != NULL);
                if (!l)
                        return;
                look_fill(l, &r);
                if (d->kind == DOOR_RUN && r.found[0].path)
                        seen[which(r.found[0].real, r.found[0].ino)]++;
                else if (d->kind != DOOR_RUN && r.seen[0].ino)
                        seen[which(r.seen[0].real ? r.seen[0].real : named, r.seen[0].ino)]++;
                look_free(l);
        }
        CHECK(seen[0] > 0 && seen[1] > 0);
        CHECK_INT(seen[2], 0);
}

static void a_door_is_judged_by_what_is_mounted(void)
{
        struct door d = { .kind = DOOR_READ, .path = named };
        look_often(&d);
}

static void a_directory_of_programs_is_judged_by_what_is_mounted(void)
{
        struct door d = { .kind = DOOR_RUN, .path = run_line };
        look_often(&d);
}

static void drop_card(const char *card)
{
        char path[256];
        (void) snprintf(path, sizeof path, "%s/gpus/%s/information", top, card);
        CHECK(unlink(path) == 0);
        (void) snprintf(path, sizeof path, "%s/gpus/%s", top, card);
        CHECK(rmdir(path) == 0);
}

static void put_card(const char *card, const char *text)
{
        char path[256];
        (void) snprintf(path, sizeof path, "%s/gpus/%s", top, card);
        CHECK(mkdir(path, 0755) == 0);
        (void) snprintf(path, sizeof path, "%s/gpus/%s/information", top, card);
        FILE *f = fopen(path, "w");
        CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void a_card_is_found_by_its_uuid(void)
{
        char cards[128], number[4];
        (void) snprintf(cards, sizeof cards, "%s/gpus", top);
        CHECK(!look_gpu_number(cards, "GPU-aa", number) && mkdir(cards, 0755) == 0);
        put_card("0000:17:00.0", "Model: \t X\nGPU UUID: \t GPU-aa\nDevice Minor: \t 1\n");
        put_card("0000:18:00.0", "Model: \t X\nGPU UUID: \t GPU-bb\nDevice Minor: \t 12\n");
        put_card("0000:19:00.0", "GPU UUID: \t GPU-cc\n");
        put_card("0000:20:00.0", "GPU UUID: \t GPU-dd\nDevice Minor: \t 1234\n");
        CHECK(look_gpu_number(cards, "GPU-aa", number) && strcmp(number, "1") == 0);
        CHECK(look_gpu_number(cards, "GPU-bb", number) && strcmp(number, "12") == 0);
        CHECK(!look_gpu_number(cards, "GPU-cc", number));
        CHECK(!look_gpu_number(cards, "GPU-dd", number));
        CHECK(!look_gpu_number(cards, "GPU-ee", number));
        drop_card("0000:17:00.0");
        drop_card("0000:18:00.0");
        drop_card("0000:19:00.0");
        drop_card("0000:20:00.0");
        CHECK(rmdir(cards) == 0);
}

int main(void)
{
        static const struct test_case cases[] = { CASE(a_door_is_judged_by_what_is_mounted),
                                                  CASE(a_directory_of_programs_is_judged_by_what_is_mounted),
                                                  CASE(a_card_is_found_by_its_uuid) };
        build();
        pid_t pid = swapper();
        int failed = test_main(cases, sizeof cases / sizeof *cases);
        if (pid > 0) {
                (void) kill(pid, SIGKILL);
                (void) waitpid(pid, NULL, 0);
        }
        tidy();
        return failed || pid < 0;
}

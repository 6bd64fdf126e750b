/* SPDX-License-Identifier: MIT */
/* tests/unit/test_work_swap.c - an apply against somebody who exchanges the door's name with another file as
 * fast as the kernel lets them: either exactly the file that was judged is replaced, or everything is where
 * it was; no digest is ever another file's, and no layer begins with one. A hundred thousand rounds of each.
 */
#include "../context.h"
#include "base/fd.h"
#include "files/work/internal.h"
#include "harness.h"

#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 100000, ROUNDS_LEAST = 1000, SECONDS = 100 }; /* a busy machine has time for fewer */
enum { GO, PLEASE_REST, RESTING };

static char top[64] = "/dev/shm/cordon-test.XXXXXX";
static int door = -1, slots = -1, home = -1;
static int *mood;

static void put_text(int dir, const char *name, const char *text)
{
        AUTO_FD(fd, openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
        CHECK(fd >= 0 && fd_write_all(fd, text, strlen(text)) == 0);
}

static int make_dir(const char *name)
{
        CHECK(mkdir(name, 0755) == 0);
        int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(fd >= 0);
        return fd;
}

static void build(void)
{
        CHECK(mkdtemp(top) != NULL && chdir(top) == 0);
        door = make_dir("door");
        slots = make_dir("slots");
        home = make_dir("home");
        put_text(home, "commit", "");
        put_text(door, "name", "judged");
        put_text(door, "other", "another");
        mood = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        CHECK(mood != MAP_FAILED);
}

static void tidy(void)
{
        static const char *const names[] = { "door/name", "door/other", "slots/0", "home/commit" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                (void) unlink(names[i]);
        CHECK(rmdir("door") == 0 && rmdir("slots") == 0 && rmdir("home") == 0);
        CHECK(chdir("/") == 0 && rmdir(top) == 0);
}

static pid_t swapper(void)
{
        pid_t pid = fork();
        if (pid != 0)
                return pid;
        for (;;) {
                if (__atomic_load_n(mood, __ATOMIC_ACQUIRE) != GO) {
                        __atomic_store_n(mood, RESTING, __ATOMIC_RELEASE);
                        while (__atomic_load_n(mood, __ATOMIC_ACQUIRE) == RESTING)
                                (void) sched_yield();
                }
                (void) syscall(SYS_renameat2, door, "name", door, "other", RENAME_EXCHANGE);
                (void) __atomic_add_fetch(&mood[1], 1, __ATOMIC_RELEASE);
        }
}

static void rest(void)
{
        __atomic_store_n(mood, PLEASE_REST, __ATOMIC_RELEASE);
        while (__atomic_load_n(mood, __ATOMIC_ACQUIRE) != RESTING)
                (void) sched_yield();
}

/* Returns when it is really at it. */
static void go(void)
{
        int before = __atomic_load_n(&mood[1], __ATOMIC_ACQUIRE);
        __atomic_store_n(mood, GO, __ATOMIC_RELEASE);
        while (__atomic_load_n(&mood[1], __ATOMIC_ACQUIRE) == before)
                (void) sched_yield();
}

static struct node look(int dir, const char *name)
{
        struct node n;
        CHECK(tree_look(dir, name, &n) == 0);
        return n;
}

static bool are(uint64_t a, uint64_t b, uint64_t x, uint64_t y)
{
        return (a == x && b == y) || (a == y && b == x);
}

struct tally {
        unsigned done, back, lost;
};

/* One apply of one step; the judged file is whatever has the name when nobody moves it. */
static void one(struct journal *j, struct tally *t)
{
        struct err e;
        struct op *o = &j->ops[0];
        if (look(slots, "0").kind == NODE_NONE)
                put_text(slots, "0", "new");
        o->old = look(door, "name");
        o->ino = look(slots, "0").ino;
        uint64_t another = look(door, "other").ino;
        go();
        bool done = journal_forward(j, &e) == 0;
        bool back = !done && journal_back(j, &e) == 0;
        rest();
        uint64_t name = look(door, "name").ino, other = look(door, "other").ino, slot = look(slots, "0").ino;
        bool right = done   ? slot == o->old.ino && are(name, other, o->ino, another)
                     : back ? slot == o->ino && are(name, other, o->old.ino, another)
                            : false;
        t->lost += !right;
        t->done += done;
        t->back += back;
}

static void test_swap__the_judged_file_is_replaced_or_nothing(void)
{
        build();
        struct work_door single = { .is_dir = false };
        struct layer l = { .run = "unit", .doors = &single, .door_count = 1 };
        struct op o = { .kind = OP_SWAP, .path = "name", .source = "name", .digest = "-" };
        struct journal *j = calloc(1, sizeof *j);
        CHECK(j != NULL);
        j->l = &l;
        j->dir = home;
        j->ops = &o;
        j->n = 1;
        j->targets[0] = (struct target){ .path = "door", .used = true, .fd = door, .slots = slots };
        struct tally t = { 0 };
        *mood = PLEASE_REST;
        pid_t pid = swapper();
        rest();
        time_t until = time(NULL) + SECONDS;
        unsigned rounds = 0;
        for (; rounds < test_rounds(ROUNDS) && t.lost == 0 && time(NULL) < until; rounds++)
                one(j, &t);
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
        free(j);
        CHECK_INT(t.lost, 0);
        CHECK(t.done > 0 && t.back > 0 && rounds >= ROUNDS_LEAST);
        printf("# %u replaced, %u taken back\n", t.done, t.back);
        tidy();
}

static void test_swap__a_digest_is_never_another_files(void)
{
        (void) snprintf(top, sizeof top, "/dev/shm/cordon-test.XXXXXX");
        build();
        struct node n = look(door, "name");
        char judged[65];
        unsigned right = 0, told = 0, wrong = 0;
        CHECK(tree_digest(door, "name", &n, false, judged) == 0);
        *mood = PLEASE_REST;
        pid_t pid = swapper();
        rest();
        go();
        for (unsigned i = 0; test_goes_on(i, ROUNDS, right > 0 && told > 0); i++) {
                char digest[65];
                if (tree_digest(door, "name", &n, false, digest) < 0)
                        continue;
                right += strcmp(digest, judged) == 0;
                told += strcmp(digest, "!") == 0;
                wrong += strcmp(digest, judged) != 0 && strcmp(digest, "!") != 0;
        }
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
        CHECK_INT(wrong, 0);
        CHECK(right > 0 && told > 0);
        tidy();
}

/* What a layer of a single file begins with: 0, no layer; 1, the judged file's content; 2, anything else. */
static int begin_one(const struct stat *judged, unsigned i)
{
        char host[128], run[32], path[256], text[16] = "";
        struct err e;
        (void) snprintf(host, sizeof host, "%s/door/name", top);
        (void) snprintf(run, sizeof run, "1-1-%016x", i);
        const struct work_door_ask d = { .host = host, .dev = judged->st_dev, .ino = judged->st_ino };
        const struct work_ask ask = {
                .cx = test_context(), .run = run, .box = "unit", .policy = "", .doors = &d, .door_count = 1
        };
        struct work_run *w = work_begin(&ask, &e);
        if (!w)
                return 0;
        (void) snprintf(path, sizeof path, "%s/file", work_places(w)[0].path);
        AUTO_FD(fd, open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)); /* a link would be followed by the wall */
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        work_drop(w);
        return n > 0 && strcmp(text, "judged") == 0 ? 1 : 2;
}

static void test_swap__a_layer_begins_with_the_judged_file(void)
{
        (void) snprintf(top, sizeof top, "/dev/shm/cordon-test.XXXXXX");
        build();
        struct stat judged;
        unsigned seen[3] = { 0 };
        char state[128];
        (void) snprintf(state, sizeof state, "%s/state", top);
        CHECK(setenv("CORDON_STATE", state, 1) == 0 && stat("door/name", &judged) == 0);
        CHECK(unlink("door/other") == 0 && symlink("../home/commit", "door/other") == 0);
        *mood = PLEASE_REST;
        pid_t pid = swapper();
        rest();
        go();
        time_t until = time(NULL) + SECONDS / 4;
        for (unsigned i = 0; i < test_rounds(ROUNDS) && time(NULL) < until; i++)
                seen[begin_one(&judged, i)]++;
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
        CHECK_INT(seen[2], 0);
        CHECK(seen[0] > 0 && seen[1] > 0);
        printf("# %u layers, %u refused\n", seen[1], seen[0]);
        AUTO_FD(here, open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        CHECK(remove_tree(here, "state") == 0);
        tidy();
}

static const struct test_case cases[] = {
        CASE(test_swap__the_judged_file_is_replaced_or_nothing),
        CASE(test_swap__a_digest_is_never_another_files),
        CASE(test_swap__a_layer_begins_with_the_judged_file),
};
TEST_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* Lists of names, in rooms that are too small for all of them. */
#include "base/dir.h"
#include "base/fd.h"
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

enum { FILES = 500 };

/* How often each of 000 to 499 is listed, in `seen`; returns how many other names there are, or -1. */
static int list(int dir, struct dir_list *l, unsigned char seen[FILES])
{
        int more, others = 0;
        while ((more = dir_more(l, dir)) > 0)
                for (const struct dir_entry *d; (d = dir_next(l));) {
                        bool file = d->type == DT_REG || d->type == DT_UNKNOWN;
                        if (d->name[0] == '.')
                                others++;
                        else if (file && strlen(d->name) == 3)
                                seen[strtoul(d->name, NULL, 10) % FILES]++;
                }
        return more < 0 ? -1 : others;
}

static void test_list__every_name_comes_once_however_small_the_room(void)
{
        char top[] = "/tmp/cordon-test-dir.XXXXXX", name[8];
        CHECK(mkdtemp(top) != NULL);
        AUTO_FD(dir, open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        for (int i = 0; i < FILES; i++) {
                (void) snprintf(name, sizeof name, "%03d", i);
                AUTO_FD(file, openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
                CHECK(file >= 0);
        }
        DIR_LIST(small, 64);
        DIR_LIST(large, 65536);
        struct dir_list *const lists[] = { &small, &large };
        for (int i = 0; i < 2; i++) {
                unsigned char seen[FILES] = { 0 };
                CHECK_INT(lseek(dir, 0, SEEK_SET), 0);
                CHECK_INT(list(dir, lists[i], seen), 2);
                for (int k = 0; k < FILES; k++)
                        CHECK_INT(seen[k], 1);
                CHECK(dir_next(lists[i]) == NULL);
        }
        for (int i = 0; i < FILES; i++) {
                (void) snprintf(name, sizeof name, "%03d", i);
                CHECK_INT(unlinkat(dir, name, 0), 0);
        }
        CHECK_INT(rmdir(top), 0);
}

static void test_list__what_is_no_directory_is_said(void)
{
        DIR_LIST(l, 4096);
        AUTO_FD(null, open("/dev/null", O_RDONLY | O_CLOEXEC));
        CHECK_INT(dir_more(&l, null), -1);
        CHECK_INT(errno, ENOTDIR);
        CHECK(dir_next(&l) == NULL);
}

static const struct test_case cases[] = {
        CASE(test_list__every_name_comes_once_however_small_the_room),
        CASE(test_list__what_is_no_directory_is_said),
};
TEST_MAIN(cases)

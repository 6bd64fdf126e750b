/* SPDX-License-Identifier: MIT */
/* Attributes of files when out of memory to list them: two files are not called the same, nothing is
 * called copied or taken away that is not. */
#include "base/fd.h"
#include "fault_alloc.h"
#include "files/work/internal.h"
#include "harness.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { ROUNDS = 8 }; /* more than one call allocates */

static const char own[] = "user.own", mark[] = "user.overlay.opaque";

static int open_file(bool marked)
{
        char path[] = "/var/tmp/cordon-test.XXXXXX";
        int fd = mkstemp(path);
        (void) unlink(path);
        if (fd >= 0 && marked && (fsetxattr(fd, own, "1", 1, 0) < 0 || fsetxattr(fd, mark, "y", 1, 0) < 0)) {
                (void) close(fd);
                return -1;
        }
        return fd;
}

static bool has(int fd, const char *name) { return fgetxattr(fd, name, NULL, 0) >= 0; }

static void test_xattr__what_cannot_be_listed_is_not_none(void)
{
        AUTO_FD(probe, open_file(true));
        if (probe < 0)
                SKIP("the filesystem of /var/tmp has no attributes of users");
        for (long n = 0; n <= ROUNDS; n++) {
                AUTO_FD(a, open_file(true));
                AUTO_FD(b, open_file(false));
                AUTO_FD(c, open_file(true));
                alloc_count = 0, alloc_fail_at = n;
                CHECK(!xattr_same(a, b));
                alloc_count = 0;
                CHECK(xattr_copy(a, b) < 0 || has(b, own));
                alloc_count = 0;
                CHECK(xattr_drop_overlay(c) < 0 || !has(c, mark));
                (void) fremovexattr(b, own);
                alloc_count = 0;
                CHECK(xattr_mirror(b, a) < 0 || !has(a, own));
                alloc_fail_at = 0;
        }
        AUTO_FD(a, open_file(true));
        AUTO_FD(b, open_file(false));
        CHECK(xattr_copy(a, b) == 0 && xattr_same(a, b) && !has(b, mark));
}

static const struct test_case cases[] = { CASE(test_xattr__what_cannot_be_listed_is_not_none) };
TEST_MAIN(cases)

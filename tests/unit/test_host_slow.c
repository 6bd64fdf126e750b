/* SPDX-License-Identifier: MIT */
/* Which mounts may not answer, by the text of a mount table. */
#include "base/host/host.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

static const char table[] = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
                            "23 22 0:21 / /proc rw,nosuid - proc proc rw\n"
                            "24 22 0:50 / /mnt/my\\040share rw shared:9 master:3 - nfs4 srv:/x rw,vers=4.2\n"
                            "25 22 0:51 / /net rw - autofs -hosts rw\n"
                            "26 22 0:52 / /home/a/far rw - fuse.sshfs a@b:/ rw\n"
                            "27 22 8:2 /nfs /srv/nfs rw - xfs /dev/fuse rw\n"
                            "28 22 0:53 / /odd\\011\\134name rw -  rw\n"
                            "29 22 0:54 / /last rw - 9p none rw";

static const struct {
        const char *path;
        bool slow;
} rows[] = {
        { "/", false },
        { "/etc/passwd", false },
        { "/mnt", false },
        { "/mnt/my", false },
        { "/mnt/my share", true },
        { "/mnt/my share/x/y", true },
        { "/net/host/x", true },
        { "/network", false },
        { "/home/a/far/x", true },
        { "/home/a/farther", false },
        { "/srv/nfs/x", false },
        { "/odd\t\\name", false },
        { "/last/x", true },
};

static void test_slow__by_the_type_of_what_is_mounted(void)
{
        struct host_slow *s = host_slow_parse(span_of(table, sizeof table - 1));
        CHECK(s && host_slow_any(s));
        for (size_t i = 0; s && i < sizeof rows / sizeof *rows; i++)
                CHECK_INT(host_slow_covers(s, rows[i].path), rows[i].slow);
        host_slow_free(s);
}

static void test_slow__a_slow_root_covers_everything(void)
{
        static const char root[] = "22 1 0:9 / / rw - nfs srv:/ rw\n";
        struct host_slow *s = host_slow_parse(span_of(root, sizeof root - 1));
        CHECK(s && host_slow_covers(s, "/etc") && host_slow_covers(s, "/"));
        host_slow_free(s);
}

static void test_slow__every_type_that_waits_for_another(void)
{
        static const char *const types[] = { "nfs",      "nfs4", "cifs",    "smb3",      "smbfs",
                                             "ncpfs",    "afs",  "ceph",    "9p",        "coda",
                                             "lustre",   "gfs2", "ocfs2",   "orangefs",  "autofs",
                                             "virtiofs", "fuse", "fuseblk", "fuse.sshfs" };
        static const char *const quick[] = { "ext4", "tmpfs", "overlay", "nfsd", "cephx", "proc", "9" };
        for (size_t i = 0; i < sizeof types / sizeof *types + sizeof quick / sizeof *quick; i++) {
                bool slow = i < sizeof types / sizeof *types;
                const char *type = slow ? types[i] : quick[i - sizeof types / sizeof *types];
                char line[128];
                (void) snprintf(line, sizeof line, "22 1 0:9 / /m rw - %s x rw\n", type);
                struct host_slow *s = host_slow_parse(span_of(line, strlen(line)));
                if (!s || host_slow_any(s) != slow || host_slow_covers(s, "/m/x") != slow)
                        CHECK_STR(type, slow ? "slow" : "quick");
                host_slow_free(s);
        }
}

/* Where such a mount is cannot be read: then no path is known to be none of its own. */
static void test_slow__a_place_that_cannot_be_read_is_no_answer(void)
{
        static const char *const bad[] = { "22 1 0:9 / /a\\9 rw - nfs x rw\n", "22 1 0:9 / a rw - nfs x rw\n",
                                           "22 1 0:9 / /a\\000 rw - nfs x rw\n" };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct host_slow *s = host_slow_parse(span_of(bad[i], strlen(bad[i])));
                CHECK(s == NULL);
                host_slow_free(s);
        }
}

/* Whatever is cut off, nothing is read beyond the end. */
static void test_slow__cut_at_any_byte(void)
{
        for (size_t n = 0; n <= sizeof table - 1; n++) {
                char *copy = malloc(n ? n : 1);
                memcpy(copy, table, n);
                struct host_slow *s = host_slow_parse(span_of(copy, n));
                CHECK(s && !host_slow_covers(s, "/etc"));
                host_slow_free(s);
                free(copy);
        }
}

static const struct test_case cases[] = {
        CASE(test_slow__by_the_type_of_what_is_mounted),
        CASE(test_slow__a_slow_root_covers_everything),
        CASE(test_slow__every_type_that_waits_for_another),
        CASE(test_slow__a_place_that_cannot_be_read_is_no_answer),
        CASE(test_slow__cut_at_any_byte),
};
TEST_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* Where an account may make groups, on a tree of plain files that stands for a v2 hierarchy. */
#include "base/fd.h"
#include "base/host/host.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { NOBODY = 65534 };
static char top[64];

static void put(const char *dir, const char *name, const char *text, uid_t owner)
{
        char path[256];
        (void) snprintf(path, sizeof path, "%s%s/%s", top, dir, name);
        AUTO_FD(fd, open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
        CHECK(fd >= 0 && fd_write_all(fd, text, strlen(text)) == 0 && fchown(fd, owner, owner) == 0);
}

static void group(const char *dir, const char *subtree, uid_t owner)
{
        char path[256];
        (void) snprintf(path, sizeof path, "%s%s", top, dir);
        CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
        CHECK_INT(chown(path, owner, owner), 0);
        put(dir, "cgroup.procs", "", owner);
        put(dir, "cgroup.subtree_control", subtree, owner);
}

static void plant(void)
{
        (void) strcpy(top, "/tmp/cordon-test.XXXXXX");
        CHECK(mkdtemp(top) != NULL && chmod(top, 0755) == 0);
        group("", "memory pids", 0);
        group("/slice", "memory pids", 0);
        group("/slice/user", "memory pids", NOBODY);
        group("/slice/user/app", "cpu memory pids", NOBODY);
        group("/slice/user/app/run", "", NOBODY);
        group("/slice/session", "", 0);
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *w)
{
        (void) s;
        (void) type;
        (void) w;
        return remove(path);
}

static void uproot(void) { CHECK_INT(nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0); }

/* As nobody: the inode of the seat, or -errno. */
static long seat_as_nobody(const char *own)
{
        int ends[2];
        long told = -EIO;
        CHECK_INT(pipe(ends), 0);
        pid_t pid = fork();
        if (pid == 0) {
                struct host_hierarchy y = { .present = true };
                struct stat s;
                (void) snprintf(y.mount, sizeof y.mount, "%s", top);
                (void) snprintf(y.own, sizeof y.own, "%s", own);
                if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
                        _exit(1);
                int fd = host_cgroup_seat(&y, HOST_CGROUP_ANY);
                told = fd < 0 ? -errno : fstat(fd, &s) == 0 ? (long) s.st_ino : -EIO;
                _exit(write(ends[1], &told, sizeof told) != (ssize_t) sizeof told);
        }
        (void) close(ends[1]);
        CHECK_INT(read(ends[0], &told, sizeof told), sizeof told);
        (void) close(ends[0]);
        (void) waitpid(pid, NULL, 0);
        return told;
}

static long inode(const char *dir)
{
        char path[256];
        struct stat s;
        (void) snprintf(path, sizeof path, "%s%s", top, dir);
        return stat(path, &s) == 0 ? (long) s.st_ino : -1;
}

static void test_seat__is_the_highest_writable_that_hands_both_down(void)
{
        if (geteuid() != 0)
                SKIP("needs root, to make a tree with two owners");
        plant();
        CHECK_INT(seat_as_nobody("/slice/user/app/run"), inode("/slice/user"));
        put("/slice/user", "cgroup.subtree_control", "pids", NOBODY);
        CHECK_INT(seat_as_nobody("/slice/user/app/run"), inode("/slice/user/app"));
        uproot();
}

static void test_seat__a_session_that_is_not_ours_has_none(void)
{
        if (geteuid() != 0)
                SKIP("needs root, to make a tree with two owners");
        plant();
        CHECK_INT(seat_as_nobody("/slice/session"), -EACCES);
        CHECK_INT(seat_as_nobody("/"), -EACCES);
        CHECK_INT(seat_as_nobody(""), -EACCES);
        CHECK_INT(seat_as_nobody("/slice/nowhere"), -ENOENT);
        CHECK_INT(seat_as_nobody("/slice/user/../user/app/run"), -EACCES);
        uproot();
}

static void test_seat__a_gap_in_the_writable_stretch_ends_it(void)
{
        if (geteuid() != 0)
                SKIP("needs root, to make a tree with two owners");
        plant();
        group("/slice/user/app", "memory pids",
              0); /* what is above cannot move a process out of what is below */
        CHECK_INT(seat_as_nobody("/slice/user/app/run"), -EACCES);
        uproot();
}

static void test_top__plain_directories_are_no_control_groups(void)
{
        struct host_hierarchy y = { .present = true, .mount = "/tmp" };
        CHECK_INT(host_cgroup_top(&y, HOST_CGROUP_V1), -1);
        CHECK_INT(errno, ENODEV);
        CHECK_INT(host_cgroup_top(&y, HOST_CGROUP_V2), -1);
        CHECK_INT(errno, ENODEV);
        y.present = false;
        CHECK_INT(host_cgroup_top(&y, HOST_CGROUP_ANY), -1);
}

static void test_at__never_leaves_the_hierarchy(void)
{
        if (geteuid() != 0)
                SKIP("needs root, to make a tree with two owners");
        plant();
        struct host_hierarchy y = { .present = true };
        char link_path[128];
        (void) snprintf(y.mount, sizeof y.mount, "%s", top);
        AUTO_FD(good, host_cgroup_at(&y, "/slice//user/", HOST_CGROUP_ANY));
        CHECK(good >= 0);
        CHECK_INT(host_cgroup_at(&y, "/slice/../..", HOST_CGROUP_ANY), -1);
        CHECK_INT(host_cgroup_at(&y, "/./slice", HOST_CGROUP_ANY), -1);
        (void) snprintf(link_path, sizeof link_path, "%s/out", top);
        CHECK_INT(symlink("/tmp", link_path), 0);
        CHECK_INT(host_cgroup_at(&y, "/out", HOST_CGROUP_ANY), -1);
        uproot();
}

static const struct test_case cases[] = {
        CASE(test_seat__is_the_highest_writable_that_hands_both_down),
        CASE(test_seat__a_session_that_is_not_ours_has_none),
        CASE(test_seat__a_gap_in_the_writable_stretch_ends_it),
        CASE(test_top__plain_directories_are_no_control_groups),
        CASE(test_at__never_leaves_the_hierarchy),
};
TEST_MAIN(cases)

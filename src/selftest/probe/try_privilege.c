/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_privilege.c - getting back a power that was given up: ids, capabilities, setuid files,
 * securebits. */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The bit on the file counts, not the call's return value. */
static int judge_bits(struct probe_result *r, const char *path, long reply)
{
        struct stat st;
        const char *call = r->probe->what;
        int sys = errno;
        bool set = stat(path, &st) == 0 && (st.st_mode & 06000);

        (void) remove(path);
        errno = sys;
        if (set)
                return escaped(r, "%s left a file with setuid or setgid bits", call);

        if (reply < 0)
                return refused(r, call);

        return held(r, "%s was answered, and the bits are not there", call);
}

/* Sets the bits on a file that is there. */
static int by_bits(struct probe_result *r)
{
        struct probe_made m;
        return probe_make(&m, "suid") ? judge_bits(r, m.path, probe_call(r, &m))
                                      : refused(r, "making a file");
}

/* Makes a file or a directory with the bits. */
static int by_new_bits(struct probe_result *r)
{
        struct probe_made m;
        if (!probe_make(&m, "suid"))
                return refused(r, "making a file");

        (void) unlink(m.path);
        return judge_bits(r, m.path, probe_call(r, &m));
}

static int bits_by_tmpfile(struct probe_result *r)
{
        const char *dir = writable_dir();
        if (!dir)
                return refused(r, "finding a writable place");

        AUTO_FD(fd, open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 06755));
        struct stat st;
        if (fd < 0)
                return refused(r, "open with O_TMPFILE");

        return fstat(fd, &st) == 0 && (st.st_mode & 06000) ? escaped(r, "O_TMPFILE kept the setuid bit")
                                                           : held(r, "the bits are not there");
}

static int raise_caps(struct probe_result *r)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct d[2];
        memset(d, 0xff, sizeof d);
        return by_reply(r, syscall(SYS_capset, &head, d), "capset");
}

static int no_caps(struct probe_result *r)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct d[2] = { { 0 } };
        if (syscall(SYS_capget, &head, d) < 0)
                return refused(r, "capget");

        if (d[0].effective | d[1].effective | d[0].permitted | d[1].permitted | d[0].inheritable |
            d[1].inheritable)
                return escaped(r, "capabilities are held: %x %x", d[0].effective, d[0].permitted);

        return held(r, "all three sets are empty");
}

/* Harmless without a way to gain anything; still, nothing is the better answer. Only a wall of namespaces can
 * empty it. */
static int bounding_set(struct probe_result *r)
{
        for (unsigned long cap = 0; cap < 41; cap++)
                if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
                        return escaped(r, "capability %lu is still in the bounding set", cap);
        return held(r, "the bounding set is empty");
}

static int new_privileges(struct probe_result *r)
{
        if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
                return escaped(r, "no_new_privs is off");
        (void) prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0);
        return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? held(r, "no_new_privs is on and stays on")
                                                           : escaped(r, "no_new_privs was taken back");
}

/* Every setuid program that the box sees, by its mode: none may be honoured. The mount flags show that
 * without running one. */
static int setuid_programs(struct probe_result *r)
{
        static const char *const programs[] = { "/usr/bin/su",   "/usr/bin/mount",  "/usr/bin/passwd",
                                                "/usr/bin/sudo", "/usr/bin/newgrp", "/usr/bin/chsh" };
        if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
                for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
                        struct stat st;
                        if (stat(programs[i], &st) == 0 && (st.st_mode & S_ISUID))
                                return escaped(r, "%s would run as another user", programs[i]);
                }

        return held(r, "no_new_privs holds for every setuid program here");
}

/* Ends with a setuid program's own effective id, if it has one: `su` with a wrong option ends at once. */
static int setuid_exec(struct probe_result *r)
{
        uid_t before = geteuid();
        if (setresuid(before, before, before) < 0)
                return refused(r, "setresuid to itself");

        static const uid_t others[] = { 0, 1, 65534, 1001 };
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
                if (others[i] != before && syscall(SYS_setresuid, others[i], others[i], others[i]) == 0)
                        return escaped(r, "the id became %u", others[i]);

        return refused(r, "setresuid to 0, 1, 1001, 65534");
}

static int other_groups(struct probe_result *r)
{
        gid_t all[] = { 0, 4, 6, 42, 999 };
        if (setgroups(5, all) == 0)
                return escaped(r, "groups were taken");

        int sys = errno;
        for (size_t i = 0; i < 5; i++)
                if (all[i] != getegid() && setgid(all[i]) == 0)
                        return escaped(r, "the group became %u", all[i]);

        errno = sys;
        return refused(r, "setgroups");
}

static int caller_groups(struct probe_result *r)
{
        gid_t all[64];
        int n = getgroups(64, all);
        for (int i = 0; i < n; i++)
                if (all[i] != getegid() && all[i] != 65534)
                        return escaped(r, "the box is in group %u", all[i]);
        return held(r, "no group but its own");
}

static int fs_ids(struct probe_result *r)
{
        uid_t other = geteuid() == 0 ? 1 : 0;
        (void) setfsuid(other);
        if ((uid_t) setfsuid((uid_t) -1) == other)
                return escaped(r, "the filesystem id became %u", other);
        errno = EPERM;
        return refused(r, "setfsuid");
}

static int give_away(struct probe_result *r)
{
        char path[128];
        AUTO_FD(fd, make_file(path, "chown", 0700));
        if (fd < 0)
                return refused(r, "making a file");

        int o = by_reply(r, fchown(fd, geteuid() == 0 ? 1 : 0, (gid_t) -1), "fchown to another user");
        (void) unlink(path);
        return o;
}

static const uint64_t how[3] = { O_WRONLY | O_CREAT | O_EXCL, 06755, 0 };
static const uint32_t all_caps[5] = { 0x02000001, 0xffffffff, 0, 0xffffffff, 0 };

static const struct probe rows[] = {
#define CLASS                       PROBE_PRIVILEGE
#define SUID                        "a setuid file is left on the host"
#define BITS(claim, words, ...)     NUMBERS(claim, SUID, "seccomp,landlock", by_bits, words, __VA_ARGS__)
#define NEW_BITS(claim, words, ...) NUMBERS(claim, SUID, "seccomp,landlock", by_new_bits, words, __VA_ARGS__)
        BITS("no setuid bit by chmod", "chmod", BY_PATH(chmod, fchmodat), OF_MADE_PATH, 06755),
        BITS("no setuid bit by fchmod", "fchmod", SYS_fchmod, OF_MADE_FD, 06755),
        BITS("no setuid bit by fchmodat", "fchmodat", SYS_fchmodat, AT_FDCWD, OF_MADE_PATH, 04755),
        BITS("no setuid bit by fchmodat2", "fchmodat2", 452, AT_FDCWD, OF_MADE_PATH, 04755, 0),
        /* The kernel takes the mode as 16 bits: higher bits must not hide the setuid bit from the filter. */
        BITS("no setuid bit behind high bits", "fchmod with high bits", SYS_fchmod, OF_MADE_FD,
             (long) (0xffffffff00000000ul | 04755)),
        NEW_BITS("no setuid bit by openat", "openat", SYS_openat, AT_FDCWD, OF_MADE_PATH,
                 O_WRONLY | O_CREAT | O_EXCL, 06755),
        NEW_BITS("no setuid bit by openat2", "openat2", 437, AT_FDCWD, OF_MADE_PATH, PROBE_PTR(how),
                 sizeof how),
        NEW_BITS("no setuid bit by mknod", "mknod", BY_PATH(mknod, mknodat), OF_MADE_PATH, S_IFREG | 06755,
                 0),
        ROW("no setuid bit by O_TMPFILE", SUID, "seccomp,landlock", bits_by_tmpfile),
        /* A directory with setgid passes its group to all files created in it. */
        NEW_BITS("no setgid bit by mkdir", "mkdir", BY_PATH(mkdir, mkdirat), OF_MADE_PATH, 06755),
        ROW("no capability is held", "powers of root", "capabilities", no_caps),
        ROW("no capability can be raised", "powers of root", "capabilities", raise_caps),
        ANSWER("no ambient capability can be raised", "powers that survive exec", "capabilities",
               "raising an ambient capability", SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW),
        CLAIM("the bounding set is empty", PROBE_PRIVILEGE, "a later mistake finds powers to give",
              "capabilities", bounding_set, NOT_BY_PROCESS_WALL),
        CALL_OR("the locks on root's powers cannot be taken off", "root's powers come back with the id",
                "seccomp,capabilities", "prctl(SET_SECUREBITS)", EINVAL, SYS_prctl, PR_SET_SECUREBITS),
        ROW("no_new_privs is on and stays", "setuid programs are honoured", "no-new-privs", new_privileges),
        ROW("no setuid program is honoured", "code runs as another user", "no-new-privs,mount",
            setuid_programs),
        ROW("no other user id can be taken", "files of others", "user,capabilities", setuid_exec),
        ROW("no other group can be taken", "files of groups", "user,capabilities", other_groups),
        ROW("none of the caller's groups came along", "files of groups: docker, disk", "user", caller_groups),
        ROW("no other filesystem id can be taken", "files of others", "user,capabilities", fs_ids),
        NUMBERS("no file gets capabilities", "powers by a file", "capabilities,nested-user", by_made,
                "setxattr of file capabilities", SYS_fsetxattr, OF_MADE_FD, PROBE_PTR("security.capability"),
                PROBE_PTR(all_caps), sizeof all_caps, 0),
        NUMBERS("no trusted attribute can be set", "overlays are misled", "capabilities,nested-user", by_made,
                "setxattr of trusted.*", SYS_fsetxattr, OF_MADE_FD, PROBE_PTR("trusted.overlay.opaque"),
                PROBE_PTR("y"), 1, 0),
        ROW("no file can be given away", "files of others are forged", "capabilities,user", give_away),
};
const struct probe_list probes_privilege = PROBE_LIST(rows);

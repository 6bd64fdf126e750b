/* SPDX-License-Identifier: MIT */
/* Sentences about the table and its filter: how large the surface is, the calls that escapes are made of, and
 * what the supervisor says of them. All values are in test_wall_seccomp_oracle.c, the kernel's own opinion is
 * in test_wall_seccomp_live.c. */
#include "seccomp_filters.h"
#include "wall/linux/seccomp/gpu_requests.inc"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/memfd.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#define MFD_EXEC        16u
#endif

/* A reader of this test learns when the surface of the kernel grows. Change the numbers on purpose only. */
static void test_surface__is_as_large_as_announced(void)
{
        static const struct {
                enum seccomp_arch arch;
                unsigned bits, reachable;
        } announced[] = {
                { SECCOMP_X86_64, 0, 241 },  { SECCOMP_X86_64, 1, 242 },   { SECCOMP_X86_64, 2, 242 },
                { SECCOMP_X86_64, 4, 259 },  { SECCOMP_X86_64, 32, 263 },  { SECCOMP_X86_64, 63, 285 },
                { SECCOMP_AARCH64, 0, 212 }, { SECCOMP_AARCH64, 1, 213 },  { SECCOMP_AARCH64, 2, 213 },
                { SECCOMP_AARCH64, 4, 230 }, { SECCOMP_AARCH64, 32, 227 }, { SECCOMP_AARCH64, 63, 249 },
        };
        for (size_t i = 0; i < sizeof announced / sizeof *announced; i++) {
                struct seccomp_ask ask = ask_of(announced[i].arch, announced[i].bits);
                CHECK_INT(seccomp_reachable(&ask), announced[i].reachable);
        }
}

static void test_table__has_no_holes(void)
{
        size_t count;
        const struct seccomp_row *rows = seccomp_table(&count);
        bool used[SECCOMP_RULE__COUNT] = { false };
        for (size_t i = 0; i < count; i++) {
                CHECK(seccomp_row_name(&rows[i])[0]);
                CHECK(seccomp_row_reason(&rows[i])[0]);
                CHECK(rows[i].verdict < SECCOMP_VERDICT__COUNT && rows[i].rule < SECCOMP_RULE__COUNT);
                CHECK((rows[i].verdict == SECCOMP_ALLOW_IF) == (rows[i].rule != RULE_NONE));
                used[rows[i].rule] = true;
        }
        for (size_t i = 0; i < SECCOMP_RULE__COUNT; i++)
                CHECK(used[i]);
}

static void test_table__has_no_name_or_number_twice(void)
{
        size_t count;
        const struct seccomp_row *rows = seccomp_table(&count);
        for (size_t i = 0; i < count; i++) {
                for (size_t k = i + 1; k < count; k++) {
                        CHECK(strcmp(seccomp_row_name(&rows[i]), seccomp_row_name(&rows[k])) != 0);
                        for (int a = 0; a < SECCOMP_ARCH__COUNT; a++)
                                CHECK(rows[i].nr[a] != rows[k].nr[a] || rows[i].nr[a] == -1);
                }
                for (int a = 0; a < SECCOMP_ARCH__COUNT; a++) {
                        if (rows[i].nr[a] >= 0)
                                CHECK(seccomp_row_get((enum seccomp_arch) a, rows[i].nr[a]) == &rows[i]);
                }
        }
}

/* ---- Sentences about the calls that escapes are made of. ---- */

enum { NARROW = 0, NET = 1, UNIX = 2, IPC = 4, TELL = 8, FREE = 16, VIEW = 32, SERVED = 256 };

static uint32_t answer(enum seccomp_arch arch, unsigned bits, const char *name, const uint64_t args[6])
{
        const struct filter *f = filter_of(arch, bits);
        const struct seccomp_row *row = row_named(name);
        struct seccomp_data d = { .arch = audit[arch],
                                  .args = { args[0], args[1], args[2], args[3], args[4], args[5] } };
        d.nr = row ? row->nr[arch] : -1;
        return bpf_sim_run(f->insns, &d).ret;
}

/* On both architectures. */
#define ANSWERS(want, bits, name, ...)                                                                       \
        do {                                                                                                 \
                const uint64_t args_[6] = { __VA_ARGS__ };                                                   \
                for (int arch_ = 0; arch_ < SECCOMP_ARCH__COUNT; arch_++)                                    \
                        CHECK_INT(answer((enum seccomp_arch) arch_, bits, name, args_), want);               \
        } while (0)
/* Calls that aarch64 does not have. */
#define ANSWERS_X86(want, bits, name, ...)                                                                   \
        CHECK_INT(answer(SECCOMP_X86_64, bits, name, (const uint64_t[6]){ __VA_ARGS__ }), want)
#define ALLOWS(bits, name, ...)      ANSWERS(SECCOMP_RET_ALLOW, bits, name, __VA_ARGS__)
#define DENIES(err, bits, name, ...) ANSWERS(fails(err), bits, name, __VA_ARGS__)
#define TELLS(err, bits, name, ...)                                                                          \
        do {                                                                                                 \
                ANSWERS(fails(err), bits, name, __VA_ARGS__);                                                \
                ANSWERS(SECCOMP_RET_USER_NOTIF, (bits) | TELL, name, __VA_ARGS__);                           \
        } while (0)
#define QUIET(err, bits, name, ...)                                                                          \
        do {                                                                                                 \
                ANSWERS(fails(err), bits, name, __VA_ARGS__);                                                \
                ANSWERS(fails(err), (bits) | TELL, name, __VA_ARGS__);                                       \
        } while (0)

static void test_ioctl__terminal_input_is_refused_whatever_the_high_word(void)
{
        TELLS(EPERM, NARROW, "ioctl", 0, TIOCSTI);
        TELLS(EPERM, NARROW, "ioctl", 0, TIOCSTI | 1ull << 32);
        TELLS(EPERM, NARROW, "ioctl", 0, TIOCSTI | garbage);
        TELLS(EPERM, NARROW, "ioctl", 0, TIOCLINUX | 1ull << 32);
        TELLS(EPERM, NARROW, "ioctl", 0, TIOCSETD);
        TELLS(EPERM, NARROW, "ioctl", 0, TIOCCONS);
        ALLOWS(NARROW, "ioctl", 0, TCGETS);
        ALLOWS(NARROW, "ioctl", 0, TIOCGWINSZ | garbage);
        ALLOWS(NARROW, "ioctl", 0, TIOCSCTTY);
        ALLOWS(NARROW, "ioctl", 0, (uint64_t) TIOCSTI << 32);
}

static void test_ioctl__filesystems_are_asked_and_copied_but_not_changed(void)
{
        static const uint32_t changes[] = {
                0x50009401, 0x5000940e, 0x5000940f, 0x50009417, /* btrfs: snapshots */
                0x40086602, 0x40046602, 0x40806685,             /* flags, verity */
                0x40087602, 0x401c5820, 0xc0045877, 0xc0045878, 0xc0185879, 0xc0506617, 0x40047211, 0xf501
        };
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
                QUIET(ENOTTY, NARROW, "ioctl", 0, changes[i]);
                QUIET(ENOTTY, VIEW, "ioctl", 0, changes[i] | garbage);
        }
        ALLOWS(NARROW, "ioctl", 0, 0x40049409); /* FICLONE */
        ALLOWS(NARROW, "ioctl", 0, 0x4020940d | garbage);
        ALLOWS(NARROW, "ioctl", 0, 0x80086601); /* FS_IOC_GETFLAGS */
        ALLOWS(NARROW, "ioctl", 0, 0x5421);     /* FIONBIO */
}

/* The answers of every ask with an NVIDIA GPU, on both architectures, to one request. */
static bool gpu_answers(uint64_t request, uint32_t want, unsigned must)
{
        bool all = true;
        for (unsigned bits = 0; bits < ASKS; bits++)
                for (int a = 0; a < SECCOMP_ARCH__COUNT && (bits & TELL) == must; a++) {
                        struct seccomp_ask ask = ask_of((enum seccomp_arch) a, bits);
                        static struct sock_filter f[SECCOMP_ARCH__COUNT][ASKS][SECCOMP_INSNS_MAX];
                        static size_t n[SECCOMP_ARCH__COUNT][ASKS];
                        ask.nvidia = true;
                        if (n[a][bits] == 0)
                                n[a][bits] = seccomp_compile(&ask, f[a][bits], SECCOMP_INSNS_MAX);
                        struct seccomp_data d = { .arch = audit[a], .args = { 3, request } };
                        d.nr = row_named("ioctl")->nr[a];
                        all = all && n[a][bits] > 0 && bpf_sim_run(f[a][bits], &d).ret == want;
                }
        return all;
}

static void gpu_allows(uint64_t request) { CHECK(gpu_answers(request, SECCOMP_RET_ALLOW, 0)); }
static void gpu_refuses(uint64_t request)
{
        CHECK(gpu_answers(request, fails(EPERM), 0));
        CHECK(gpu_answers(request, SECCOMP_RET_USER_NOTIF, TELL));
}

static const uint32_t escapes[] = {
#define ROW(nr, name) nr,
        GPU_ESCAPES(ROW, ROW)
};
static const uint32_t uvm[] = { GPU_UVM(ROW, ROW)
#undef ROW
};

static bool is_listed(const uint32_t *list, size_t n, uint32_t nr)
{
        for (size_t i = 0; i < n; i++)
                if (list[i] == nr)
                        return true;
        return false;
}

/* As recorded: request and size. */
static void test_gpu__what_torch_asks_of_the_driver_passes(void)
{
        static const uint32_t seen[][2] = {
                { 0x27, 0x38 }, { 0x29, 0x10 },  { 0x2a, 0x20 }, { 0x2b, 0x30 }, { 0x4e, 0x38 },
                { 0x5e, 0x28 }, { 0xc8, 0x900 }, { 0xc9, 4 },    { 0xce, 0x10 }, { 0xd2, 0x48 },
                { 0xd6, 8 },    { 0xd7, 0x230 }, { 0xda, 8 },
        };
        static const uint32_t plain[] = { 0x30000001, 0x30000002, 0x17, 0x18, 0x19, 0x1b, 0x21, 0x22,
                                          0x25,       0x27,       0x41, 0x44, 0x48, 0x49, 0x4b };
        for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
                gpu_allows(0xc0000000u | seen[i][1] << 16 | 'F' << 8 | seen[i][0] | garbage);
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
                gpu_allows(plain[i] | garbage);
}

static void test_gpu__each_listed_request_passes_and_its_neighbours_do_not(void)
{
        for (uint32_t nr = 0; nr < 256; nr++) {
                uint32_t request = 0xc0204600u | nr;
                if (is_listed(escapes, sizeof escapes / sizeof *escapes, nr))
                        gpu_allows(request);
                else
                        gpu_refuses(request);
                gpu_refuses(request ^ 0x100);       /* another letter is the same function */
                gpu_refuses(request & ~(3u << 30)); /* and so is another direction */
                gpu_refuses(0x30000000u | (nr + 3));
                if (is_listed(uvm, sizeof uvm / sizeof *uvm, nr))
                        gpu_allows(nr);
                else
                        gpu_refuses(nr);
        }
}

static void test_gpu__programs_keep_the_ordinary_requests(void)
{
        static const uint32_t common[] = { TCGETS,      TCSETSW,      TIOCGWINSZ, TIOCSCTTY,  FIONREAD,
                                           FIONBIO,     FIOCLEX,      TIOCGPTN,   TIOCSPTLCK, TIOCGPTPEER,
                                           SIOCGIFCONF, SIOCGIFINDEX, FICLONE,    0x802c542a };
        for (size_t i = 0; i < sizeof common / sizeof *common; i++)
                gpu_allows(common[i] | garbage);
        gpu_refuses(TIOCSTI);
        gpu_refuses(TIOCLINUX);
        gpu_refuses(0xae01);                              /* KVM_CREATE_VM */
        gpu_refuses(0xc0406400);                          /* DRM_IOCTL_VERSION */
        CHECK(gpu_answers(0x50009401, fails(ENOTTY), 0)); /* a snapshot of btrfs */
}

static void test_setsockopt__no_program_runs_on_a_socket(void)
{
        for (uint64_t level = 1; level < 3; level++)
                for (uint64_t option = 0; option < 80; option++)
                        if (level == 1 && (option == 26 || (option >= 50 && option <= 52)))
                                QUIET(EPERM, NET | UNIX, "setsockopt", 3, level | garbage, option | garbage);
                        else
                                ALLOWS(NET | UNIX, "setsockopt", 3, level, option);
}

static void test_setsockopt__joins_no_group(void)
{
        for (uint64_t option = 0; option < 80; option++) {
                if (option >= 35 && option <= 48)
                        QUIET(EPERM, NET, "setsockopt", 3, 0 | garbage, option | garbage);
                else
                        ALLOWS(NET, "setsockopt", 3, 0, option);
                if (option == 20 || option == 21 || option == 27 || option == 28 ||
                    (option >= 42 && option <= 48))
                        QUIET(EPERM, NET, "setsockopt", 3, 41 | garbage, option | garbage);
                else if (option != 1 && option != 32)
                        ALLOWS(NET, "setsockopt", 3, 41, option);
        }
}

static void test_setsockopt__puts_no_other_protocol_on_a_socket(void)
{
        for (uint64_t option = 0; option < 110; option++) {
                bool tcp = option == 14 || option == 31 || option == 32 || (option >= 38 && option <= 42);
                if (tcp)
                        QUIET(EPERM, NET, "setsockopt", 3, 6 | garbage, option | garbage);
                else
                        ALLOWS(NET, "setsockopt", 3, 6, option);
                if (option == 100)
                        QUIET(EPERM, NET, "setsockopt", 3, 17 | garbage, option | garbage);
                else
                        ALLOWS(NET, "setsockopt", 3, 17, option);
        }
        QUIET(EPERM, NET, "setsockopt", 3, 41, 1);
        QUIET(EPERM, NET, "setsockopt", 3, 41, 32 | garbage);
}

static void test_landlock__makes_no_rules_where_nobody_counts_them(void)
{
        for (int arch = 0; arch < SECCOMP_ARCH__COUNT; arch++) {
                struct seccomp_ask ask = { .arch = (enum seccomp_arch) arch, .sampled = true };
                static struct sock_filter f[SECCOMP_INSNS_MAX];
                CHECK(seccomp_compile(&ask, f, SECCOMP_INSNS_MAX) > 0);
                struct seccomp_data d = { .nr = 444, .arch = audit[arch] };
                CHECK_INT(bpf_sim_run(f, &d).ret, fails(ENOSYS));
                d.nr = 445;
                CHECK_INT(bpf_sim_run(f, &d).ret, fails(ENOSYS));
                d.nr = 446; /* our own start's */
                CHECK_INT(bpf_sim_run(f, &d).ret, SECCOMP_RET_ALLOW);
        }
        ALLOWS(NARROW, "landlock_create_ruleset", 0);
        ALLOWS(NARROW, "landlock_add_rule", 0);
}

static void test_pages__are_not_held_where_nobody_counts_them(void)
{
        static const int calls[SECCOMP_ARCH__COUNT][3] = {
                [SECCOMP_X86_64] = { 40, 275, 278 }, [SECCOMP_AARCH64] = { 71, 76, 75 }
        };
        for (int arch = 0; arch < SECCOMP_ARCH__COUNT; arch++) {
                struct seccomp_ask ask = { .arch = (enum seccomp_arch) arch, .sampled = true };
                static struct sock_filter f[SECCOMP_INSNS_MAX];
                CHECK(seccomp_compile(&ask, f, SECCOMP_INSNS_MAX) > 0);
                for (size_t i = 0; i < 3; i++) {
                        struct seccomp_data d = { .nr = calls[arch][i], .arch = audit[arch] };
                        CHECK_INT(bpf_sim_run(f, &d).ret, fails(EINVAL));
                }
        }
        ALLOWS(NARROW, "sendfile", 1, 3, 0, 4096);
        ALLOWS(NARROW, "splice", 3, 0, 4, 0);
        ALLOWS(NARROW, "vmsplice", 4, 0, 1, 0);
}

static void test_xattr__is_small_because_some_are_memory_that_nobody_counts(void)
{
        static const char *const calls[] = { "setxattr", "lsetxattr", "fsetxattr" };
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
                ALLOWS(VIEW, calls[i], 3, 0, 0, 0);
                ALLOWS(VIEW, calls[i], 3, 0, 0, 1000);
                QUIET(ENOSPC, VIEW, calls[i], 3, 0, 0, 1001);
                QUIET(ENOSPC, VIEW, calls[i], 3, 0, 0, 65536);
                QUIET(ENOSPC, VIEW, calls[i], 3, 0, 0, 0xffffffff);
                QUIET(EPERM, NARROW, calls[i], 3, 0, 0, 1001);
        }
        QUIET(ENOSYS, VIEW, "setxattrat", 3);
}

static void test_clone__no_flag_makes_a_namespace(void)
{
        static const uint64_t flags[] = { CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                          CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET };
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
                TELLS(EPERM, NARROW, "clone", (flags[i] & 0xffffffff) | 17);
                TELLS(EPERM, NARROW, "clone", (flags[i] & 0xffffffff) | garbage);
        }
        ALLOWS(NARROW, "clone", 17);                          /* fork */
        ALLOWS(NARROW, "clone", 0x3d0f00);                    /* a thread of glibc */
        ALLOWS(NARROW, "clone", CLONE_VM | CLONE_VFORK | 17); /* posix_spawn */
        ALLOWS(NARROW, "clone", 0x80); /* CLONE_NEWTIME elsewhere; here part of the exit signal */
        QUIET(ENOSYS, NARROW, "clone3", 0);
        TELLS(EPERM, NARROW, "unshare", CLONE_NEWUSER);
        TELLS(EPERM, NARROW, "setns", 3, 0);
}

static void test_mode__setuid_bits_are_refused_and_setgid_bits_served(void)
{
        TELLS(EPERM, VIEW, "fchmod", 3, 04755);
        ANSWERS(SECCOMP_RET_USER_NOTIF, VIEW, "fchmod", 3, 02755 | garbage); /* a directory's is set */
        ANSWERS(SECCOMP_RET_USER_NOTIF, VIEW, "fchmodat", 0, 0, 02775);
        ALLOWS(VIEW, "fchmod", 3, 01777);
        TELLS(EPERM, VIEW, "fchmodat", 0, 0, 06755);
        TELLS(EPERM, VIEW, "fchmodat2", 0, 0, 04755);
        ALLOWS(VIEW, "fchmodat2", 0, 04000, 0755);
        TELLS(EPERM, NARROW, "openat", 0, 0, O_CREAT | O_WRONLY, 04755);
        TELLS(EPERM, NARROW, "openat", 0, 0, O_TMPFILE | O_RDWR, 02755);
        ALLOWS(NARROW, "openat", 0, 0, O_CREAT | O_WRONLY, 0644);
        ALLOWS(NARROW, "openat", 0, 0, O_RDONLY | O_CLOEXEC, 0xffffffff); /* garbage left by libc */
        QUIET(ENOSYS, NARROW, "openat2", 0);
        ANSWERS_X86(fails(EPERM), VIEW, "chmod", 0, 04755);
        ANSWERS_X86(SECCOMP_RET_USER_NOTIF, VIEW | TELL, "chmod", 0, 04755);
        ANSWERS_X86(SECCOMP_RET_ALLOW, VIEW, "chmod", 0, 0755);
        ANSWERS_X86(fails(EPERM), NARROW, "creat", 0, 04755);
        ANSWERS_X86(SECCOMP_RET_ALLOW, NARROW, "creat", 0, 0644);
        ANSWERS_X86(fails(EPERM), NARROW, "open", 0, O_CREAT, 04755);
        ANSWERS_X86(SECCOMP_RET_ALLOW, NARROW, "open", 0, O_RDONLY, 04755);
}

static void test_mknod__makes_no_device(void)
{
        TELLS(EPERM, NARROW, "mknodat", 0, 0, S_IFCHR | 0666);
        TELLS(EPERM, NARROW, "mknodat", 0, 0, S_IFBLK | 0660);
        TELLS(EPERM, NARROW, "mknodat", 0, 0, S_IFREG | 04755);
        ALLOWS(NARROW, "mknodat", 0, 0, S_IFIFO | 0644);
        ALLOWS(NARROW, "mknodat", 0, 0, S_IFSOCK | 0644);
        ALLOWS(NARROW, "mknodat", 0, 0, S_IFREG | 0644);
        ALLOWS(NARROW, "mknodat", 0, 0, 0644);
        ANSWERS_X86(fails(EPERM), NARROW, "mknod", 0, S_IFBLK);
}

/* A whiteout is a character device. */
static void test_rename__leaves_no_whiteout(void)
{
        for (unsigned view = 0; view <= VIEW; view += VIEW) {
                QUIET(EINVAL, view, "renameat2", 0, 0, 0, 0, RENAME_WHITEOUT);
                QUIET(EINVAL, view, "renameat2", 0, 0, 0, 0, RENAME_WHITEOUT | RENAME_NOREPLACE | garbage);
                ALLOWS(view, "renameat2", 0, 0, 0, 0, 0);
                ALLOWS(view, "renameat2", 0, 0, 0, 0, RENAME_NOREPLACE);
                ALLOWS(view, "renameat2", 0, 0, 0, 0, RENAME_EXCHANGE | garbage);
        }
}

/* Landlock covers none of these, so without a view of its own a box must not have them at all. */
static void test_view__metadata_and_watches_only_in_its_own(void)
{
        static const char *const both[] = { "fchown",       "fchownat",      "utimensat",    "setxattr",
                                            "lsetxattr",    "fsetxattr",     "removexattr",  "lremovexattr",
                                            "fremovexattr", "removexattrat", "inotify_init1" };
        static const char *const x86[] = {
                "chown", "lchown", "utime", "utimes", "futimesat", "inotify_init"
        };
        for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
                QUIET(EPERM, NARROW, both[i], 3);
                ALLOWS(VIEW, both[i], 3);
        }
        for (size_t i = 0; i < sizeof x86 / sizeof *x86; i++) {
                ANSWERS_X86(fails(EPERM), NARROW, x86[i], 3);
                ANSWERS_X86(fails(EPERM), TELL, x86[i], 3);
                ANSWERS_X86(SECCOMP_RET_ALLOW, VIEW, x86[i], 3);
        }
        QUIET(EPERM, NARROW, "inotify_add_watch", 3);
        ANSWERS(SECCOMP_RET_USER_NOTIF, VIEW, "inotify_add_watch", 3); /* init makes it */
        QUIET(EPERM, NARROW, "fchmod", 3, 0644);
        QUIET(EPERM, NARROW, "fchmod", 3, 04755);
        QUIET(EPERM, NARROW, "fchmodat", 0, 0, 0644);
        QUIET(EPERM, NARROW, "fchmodat2", 0, 0, 0644);
        ANSWERS_X86(fails(EPERM), NARROW, "chmod", 0, 0644);
        ANSWERS_X86(fails(EPERM), TELL, "chmod", 0, 04755);
        ALLOWS(NARROW, "getxattrat", 0);
        ALLOWS(NARROW, "umask", 0);
}

static void test_view__scheduling_of_others_only_in_its_own(void)
{
        static const char *const calls[] = { "sched_setaffinity", "sched_setscheduler", "sched_setparam",
                                             "sched_setattr" };
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
                ALLOWS(NARROW, calls[i], 0, 1);
                ALLOWS(NARROW, calls[i], garbage, 1); /* the kernel sees pid 0 */
                QUIET(EPERM, NARROW, calls[i], 42, 1);
                QUIET(EPERM, NARROW, calls[i], 0xffffffff);
                ALLOWS(VIEW, calls[i], 42, 1);
        }
        ALLOWS(NARROW, "setpriority", PRIO_PROCESS, 0, 5);
        ALLOWS(NARROW, "setpriority", PRIO_PROCESS | garbage, garbage, 5);
        QUIET(EPERM, NARROW, "setpriority", PRIO_PROCESS, 42, 5);
        QUIET(EPERM, NARROW, "setpriority", PRIO_PGRP, 0, 5);
        QUIET(EPERM, NARROW, "setpriority", PRIO_USER, 0, 5);
        ALLOWS(VIEW, "setpriority", PRIO_USER, 0, 5);
        ALLOWS(NARROW, "ioprio_set", 1, 0, 5); /* IOPRIO_WHO_PROCESS */
        ALLOWS(NARROW, "ioprio_set", 1 | garbage, garbage, 5);
        QUIET(EPERM, NARROW, "ioprio_set", 1, 42, 5);
        QUIET(EPERM, NARROW, "ioprio_set", 0, 0, 5);
        QUIET(EPERM, NARROW, "ioprio_set", 2, 0, 5); /* IOPRIO_WHO_PGRP */
        QUIET(EPERM, NARROW, "ioprio_set", 3, 0, 5); /* IOPRIO_WHO_USER */
        ALLOWS(VIEW, "ioprio_set", 3, 0, 5);
}

static void test_socket__without_doors_there_is_none(void)
{
        TELLS(EAFNOSUPPORT, NARROW, "socket", AF_INET, SOCK_STREAM);
        TELLS(EAFNOSUPPORT, NARROW, "socket", AF_INET | garbage, SOCK_DGRAM);
        TELLS(EAFNOSUPPORT, NARROW, "socket", AF_INET6, SOCK_STREAM);
        TELLS(EAFNOSUPPORT, NARROW, "socket", AF_PACKET, SOCK_RAW);
        TELLS(EAFNOSUPPORT, NARROW, "socket", AF_VSOCK, SOCK_STREAM);
        TELLS(EAFNOSUPPORT, NARROW, "socket", AF_ALG, SOCK_SEQPACKET);
        QUIET(EOPNOTSUPP, NARROW, "socket", AF_NETLINK, SOCK_RAW);
        QUIET(EOPNOTSUPP, NET, "socket", AF_NETLINK, SOCK_RAW);
        ANSWERS(SECCOMP_RET_USER_NOTIF, FREE, "socket", AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
        for (uint64_t protocol = 1; protocol < 32; protocol++)
                QUIET(EOPNOTSUPP, FREE, "socket", AF_NETLINK, SOCK_RAW, protocol);
        QUIET(EOPNOTSUPP, FREE, "socket", AF_NETLINK, SOCK_SEQPACKET, 0);
        TELLS(EAFNOSUPPORT, NARROW, "socket", AF_UNIX, SOCK_STREAM);
        ALLOWS(UNIX, "socket", AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC);
}

static void test_socket__the_net_door_opens_tcp_and_udp_only(void)
{
        ALLOWS(NET, "socket", AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        ALLOWS(NET, "socket", AF_INET6, SOCK_STREAM, 6);
        ALLOWS(NET, "socket", AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 17);
        ALLOWS(NET, "socket", AF_INET | garbage, SOCK_DGRAM | garbage, 17 | garbage);
        TELLS(EAFNOSUPPORT, NET, "socket", AF_INET, SOCK_RAW, 1);
        TELLS(EAFNOSUPPORT, NET, "socket", AF_INET, SOCK_RAW | garbage, 255);
        TELLS(EAFNOSUPPORT, NET, "socket", AF_PACKET, SOCK_DGRAM);
        QUIET(EPROTONOSUPPORT, NET, "socket", AF_INET, SOCK_STREAM, 262); /* MPTCP: Go asks for it first */
        QUIET(EPROTONOSUPPORT, NET, "socket", AF_INET, SOCK_STREAM, 132); /* SCTP */
        QUIET(EPROTONOSUPPORT, NET, "socket", AF_INET, SOCK_DGRAM, 1);    /* ICMP */
}

/* Lengths of every other family's addresses are among them: whose socket it is, the filter cannot see. */
static void test_connect__is_served_where_it_may_be_to_a_unix_socket(void)
{
        static const uint64_t served[] = { 3, 16, 28, 110, 16 | UINT64_C(0xdeadbeef00000000) },
                              not_unix[] = { 0, 2, 111, 128, 0x80000010, 0xffffffff };
        for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
                ANSWERS(SECCOMP_RET_USER_NOTIF, UNIX | SERVED, "connect", 3, 0, served[i]);
                ALLOWS(UNIX, "connect", 3, 0, served[i]);
                ALLOWS(NET | SERVED, "connect", 3, 0, served[i]);
        }
        for (size_t i = 0; i < sizeof not_unix / sizeof *not_unix; i++)
                ALLOWS(UNIX | SERVED, "connect", 3, 0, not_unix[i]);
        ANSWERS(SECCOMP_RET_USER_NOTIF, UNIX | SERVED, "listen", 3, 8);
        ALLOWS(UNIX, "listen", 3, 8);
}

static void test_socket__no_datagrams_where_unix_sockets_are_served(void)
{
        ALLOWS(UNIX | SERVED, "socket", AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK);
        ALLOWS(UNIX | SERVED, "socket", AF_UNIX, SOCK_SEQPACKET);
        QUIET(EPROTONOSUPPORT, UNIX | SERVED, "socket", AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC);
        QUIET(EPROTONOSUPPORT, UNIX | SERVED, "socket", AF_UNIX, SOCK_RAW);
        QUIET(EAFNOSUPPORT, UNIX | SERVED, "socketpair", AF_UNIX, SOCK_DGRAM);
        TELLS(EAFNOSUPPORT, SERVED, "socket", AF_UNIX, SOCK_STREAM);
        ALLOWS(UNIX, "socket", AF_UNIX, SOCK_DGRAM);
}

/* An end of a datagram pair can be connected or sent to any address, so it is a socket() by another name. */
static void test_socketpair__no_datagrams_where_unix_sockets_are_off(void)
{
        ALLOWS(NARROW, "socketpair", AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC);
        ALLOWS(NARROW, "socketpair", AF_UNIX, SOCK_SEQPACKET);
        QUIET(EAFNOSUPPORT, NARROW, "socketpair", AF_UNIX, SOCK_DGRAM);
        QUIET(EAFNOSUPPORT, NARROW, "socketpair", AF_UNIX, SOCK_RAW); /* the kernel makes it a datagram one */
        ALLOWS(UNIX, "socketpair", AF_UNIX, SOCK_DGRAM);
        QUIET(EAFNOSUPPORT, NET | UNIX, "socketpair", AF_INET, SOCK_STREAM);
}

static void test_seccomp__own_filters_yes_own_listener_no(void)
{
        ALLOWS(NARROW, "seccomp", SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC);
        ALLOWS(NARROW, "seccomp", SECCOMP_GET_ACTION_AVAIL, 0);
        TELLS(EPERM, NARROW, "seccomp", SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER);
        TELLS(EPERM, NARROW, "seccomp", SECCOMP_SET_MODE_FILTER, 0x19 | garbage);
}

static void test_memfd__what_could_be_run_is_not_made(void)
{
        QUIET(ENOSYS, NARROW, "memfd_create", 0, MFD_CLOEXEC);
        QUIET(ENOSYS, NARROW, "memfd_create", 0, MFD_CLOEXEC | MFD_NOEXEC_SEAL); /* it can be mapped to run */
        TELLS(EACCES, NARROW, "memfd_create", 0, MFD_EXEC);
        QUIET(EACCES, NARROW, "memfd_create", 0, MFD_HUGETLB | MFD_NOEXEC_SEAL); /* its seal does not hold */
        QUIET(EACCES, FREE, "memfd_create", 0, MFD_HUGETLB | 21u << 26);
        ALLOWS(FREE, "memfd_create", 0, MFD_CLOEXEC | garbage);
        TELLS(EACCES, NARROW, "memfd_create", 0, MFD_EXEC | MFD_CLOEXEC);
        ALLOWS(FREE, "memfd_create", 0, MFD_EXEC);
        ALLOWS(FREE, "memfd_create", 0, 0);
        QUIET(EINVAL, FREE, "memfd_create", 0, 0x20);
        QUIET(EINVAL, NARROW, "memfd_create", 0, 0x20);
        QUIET(EINVAL, FREE, "memfd_create", 0, UINT32_MAX); /* how programs ask whether a kernel has it */
        QUIET(ENOSYS, NARROW, "memfd_secret", 0);
}

static void test_prlimit__others_can_be_asked_about_only(void)
{
        ALLOWS(NARROW, "prlimit64", 0, 7, 0x7fff0000, 0);
        ALLOWS(NARROW, "prlimit64", garbage, 7, 0x7fff0000, 0); /* the kernel sees pid 0 */
        ALLOWS(NARROW, "prlimit64", 42, 7, 0, 0x7fff0000);
        QUIET(EPERM, NARROW, "prlimit64", 42, 7, 0x7fff0000, 0);
        QUIET(EPERM, NARROW, "prlimit64", 42, 7, 1ull << 32, 0); /* a pointer with a low half of zero */
}

static void test_prctl__what_widens_or_leaks_is_unknown(void)
{
        ALLOWS(NARROW, "prctl", PR_SET_NAME);
        ALLOWS(NARROW, "prctl", PR_SET_NO_NEW_PRIVS);
        ALLOWS(NARROW, "prctl", PR_SET_VMA | garbage);
        QUIET(EINVAL, NARROW, "prctl", PR_SET_SECUREBITS);
        QUIET(EINVAL, NARROW, "prctl", PR_SET_MM);
        QUIET(EINVAL, NARROW, "prctl", PR_SET_DUMPABLE); /* its descriptors would be nobody's to count */
        QUIET(EINVAL, NARROW, "prctl", PR_SET_IO_FLUSHER);
        QUIET(EINVAL, NARROW, "prctl", 67); /* PR_SET_MEMORY_MERGE */
        QUIET(EINVAL, NARROW, "prctl", 0xffffffff);
        ALLOWS(NARROW, "personality", 0xffffffff);
        QUIET(EPERM, NARROW, "personality", 0x40000); /* ADDR_NO_RANDOMIZE */
        QUIET(EPERM, NARROW, "personality", 0x400000);
}

static void test_ipc__only_in_a_namespace_of_its_own(void)
{
        static const char *const calls[] = { "shmget", "semget", "msgget", "shmat", "mq_open", "mq_notify" };
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
                QUIET(ENOSYS, NARROW, calls[i], 1);
                ALLOWS(IPC, calls[i], 1);
        }
}

static void test_verdict__hostile_calls_are_told(void)
{
        static const char *const calls[] = {
                "mount",
                "umount2",
                "pivot_root",
                "open_tree",
                "fsopen",
                "fsmount",
                "fsconfig",
                "fspick",
                "move_mount",
                "mount_setattr",
                "open_tree_attr",
                "unshare",
                "setns",
                "ptrace",
                "process_vm_readv",
                "process_vm_writev",
                "pidfd_getfd",
                "bpf",
                "perf_event_open",
                "userfaultfd",
                "keyctl",
                "add_key",
                "request_key",
                "chroot",
                "open_by_handle_at",
                "init_module",
                "finit_module",
                "delete_module",
                "kexec_load",
                "reboot",
                "kexec_file_load",
                "swapon",
                "swapoff",
                "acct",
                "quotactl",
                "syslog",
                "settimeofday",
                "clock_settime",
                "sethostname",
                "setdomainname",
        };
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
                TELLS(EPERM, NARROW, calls[i], 0);
        ANSWERS_X86(SECCOMP_RET_USER_NOTIF, TELL, "iopl", 3);
}

static void test_verdict__calls_that_programs_only_try_are_quiet(void)
{
        static const char *const absent[] = { "clone3",         "openat2",          "io_uring_setup",
                                              "io_uring_enter", "statmount",        "listmount",
                                              "cachestat",      "lsm_list_modules", "listns",
                                              "file_getattr",   "futex_requeue" };
        static const char *const refused[] = { "name_to_handle_at", "kcmp",
                                               "process_madvise",   "mbind",
                                               "fanotify_init",     "migrate_pages",
                                               "move_pages",        "adjtimex" };
        static const char *const allowed[] = { "rseq",
                                               "landlock_create_ruleset",
                                               "map_shadow_stack",
                                               "membarrier",
                                               "mseal",
                                               "futex_waitv",
                                               "close_range",
                                               "execveat" };
        for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
                QUIET(ENOSYS, NARROW, absent[i], 0);
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
                QUIET(EPERM, NARROW, refused[i], 0);
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
                ALLOWS(NARROW, allowed[i], 0);
}

static void test_fcntl__holds_up_nobody_and_leaves_no_mark(void)
{
        static const uint64_t refused[] = { 1024, 1026, 1036, 1038, 1040 };
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
                QUIET(EINVAL, VIEW, "fcntl", 3, refused[i]);
                QUIET(EINVAL, NARROW, "fcntl", 3, refused[i] | garbage);
        }
        ALLOWS(NARROW, "fcntl", 3, 16);   /* F_GETOWN_EX */
        ALLOWS(NARROW, "fcntl", 3, 1035); /* F_GET_RW_HINT */
        ALLOWS(NARROW, "fcntl", 3, 1039); /* F_GETDELEG */
}

static void test_read__does_not_ask_what_is_in_the_page_cache(void)
{
        static const char *const calls[] = { "preadv2", "pwritev2" };
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
                QUIET(EOPNOTSUPP, VIEW, calls[i], 3, 0, 1, 0, 0, 0x08);       /* RWF_NOWAIT */
                QUIET(EOPNOTSUPP, VIEW, calls[i], 3, 0, 1, 0, 0, 0x80);       /* RWF_DONTCACHE */
                QUIET(EOPNOTSUPP, VIEW, calls[i], 3, 0, 1, 0, 0, 0x80000000); /* of a newer kernel */
                ALLOWS(VIEW, calls[i], 3, 0, 1, 0, 0, 0);
                ALLOWS(VIEW, calls[i], 3, 0, 1, 0, 0, 0x76 | garbage);
        }
}

static void test_send__has_no_urgent_data(void)
{
        QUIET(EOPNOTSUPP, NET | UNIX, "sendto", 3, 0, 1, MSG_OOB | MSG_NOSIGNAL);
        QUIET(EOPNOTSUPP, NET | UNIX, "sendmmsg", 3, 0, 1, MSG_OOB | garbage);
        QUIET(EOPNOTSUPP, NET | UNIX, "sendmsg", 3, 0, MSG_OOB);
        ALLOWS(NET | UNIX, "sendto", 3, 1, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        ALLOWS(NET | UNIX, "sendmmsg", 3, 1, 1, MSG_NOSIGNAL);
        ALLOWS(NET | UNIX, "sendmsg", 3, 1, MSG_NOSIGNAL);
}

static void test_pipe__carries_no_notifications(void)
{
        QUIET(EINVAL, NARROW, "pipe2", 0, O_EXCL | O_CLOEXEC); /* O_NOTIFICATION_PIPE */
        ALLOWS(NARROW, "pipe2", 0, O_CLOEXEC | O_NONBLOCK | O_DIRECT);
}

static void test_pages__huge_ones_of_the_host_are_not_taken(void)
{
        QUIET(ENOMEM, NARROW, "mmap", 0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
        QUIET(ENOMEM, NARROW, "mmap", 0, 4096, 3, MAP_HUGETLB | 21u << 26 | garbage);
        ALLOWS(NARROW, "mmap", 0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
        QUIET(EPERM, IPC, "shmget", 0, 4096, SHM_HUGETLB | 0600);
        ALLOWS(IPC, "shmget", 0, 4096, 01600);
}

/* ---- What the supervisor says. ---- */

static struct seccomp_data call_of(enum seccomp_arch arch, const char *name, uint64_t a0, uint64_t a1,
                                   uint64_t a2)
{
        const struct seccomp_row *row = row_named(name);
        return (struct seccomp_data){ .nr = row ? row->nr[arch] : -1,
                                      .arch = audit[arch],
                                      .args = { a0, a1, a2 } };
}

static void test_describe__says_what_was_tried(void)
{
        static const struct {
                const char *name;
                uint64_t args[3];
                const char *want;
        } rows[] = {
                { "socket", { AF_INET, SOCK_STREAM | SOCK_CLOEXEC }, "socket(AF_INET, SOCK_STREAM)" },
                { "socket", { AF_VSOCK | 1ull << 32, SOCK_DGRAM }, "socket(AF_VSOCK, SOCK_DGRAM)" },
                { "socket", { 99, 0x7000 }, "socket(99, 0x7000)" },
                { "mount", { 1, 2, 3 }, "mount()" },
                { "ioctl", { 0, TIOCSTI | 1ull << 32 }, "ioctl(TIOCSTI)" },
                { "ioctl", { 0, 0xc01046d3 }, "ioctl(0xc01046d3)" },
                { "clone", { CLONE_NEWUSER | CLONE_NEWNS | 17 }, "clone(CLONE_NEWNS|CLONE_NEWUSER)" },
                { "unshare", { CLONE_NEWUSER | 0x80 }, "unshare(CLONE_NEWUSER|CLONE_NEWTIME)" },
                { "fchmod", { 3, 04755 }, "fchmod(04755)" },
                { "mknodat", { 3, 0, S_IFBLK | 0600 }, "mknodat(060600)" },
                { "seccomp", { 1, 8 }, "seccomp(SECCOMP_FILTER_FLAG_NEW_LISTENER)" },
        };
        for (int a = 0; a < SECCOMP_ARCH__COUNT; a++) {
                for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                        char buf[96];
                        struct seccomp_data d = call_of((enum seccomp_arch) a, rows[i].name, rows[i].args[0],
                                                        rows[i].args[1], rows[i].args[2]);
                        CHECK_STR(seccomp_describe(&d, buf, sizeof buf), rows[i].want);
                }
        }
        char buf[96];
        struct seccomp_data strange = { .nr = 9999, .arch = AUDIT_ARCH_X86_64 };
        CHECK_STR(seccomp_describe(&strange, buf, sizeof buf), "system call 9999");
        strange.arch = AUDIT_ARCH_I386;
        CHECK_STR(seccomp_describe(&strange, buf, sizeof buf), "system call 9999");
}

static void test_describe__is_cut_and_never_overruns(void)
{
        struct seccomp_data d = call_of(SECCOMP_X86_64, "clone", 0x7e028000, 0, 0);
        char full[256];
        seccomp_describe(&d, full, sizeof full);
        for (size_t cap = 0; cap <= strlen(full) + 1; cap++) {
                char buf[256];
                memset(buf, '#', sizeof buf);
                CHECK(seccomp_describe(&d, buf, cap) == buf);
                CHECK(cap == 0 || (strlen(buf) == cap - 1 && strncmp(buf, full, cap - 1) == 0));
                CHECK(buf[cap] == '#');
        }
}

static void test_permit__names_a_line_only_where_one_helps(void)
{
        struct seccomp_data d = call_of(SECCOMP_AARCH64, "socket", AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
        const char *line = seccomp_permit(&d);
        CHECK_STR(line ? line : "", "net HOST:PORT");
        CHECK_INT(seccomp_errno(&d), EAFNOSUPPORT);
        d = call_of(SECCOMP_X86_64, "socket", AF_INET, SOCK_RAW, 0);
        CHECK(seccomp_permit(&d) == NULL);
        d = call_of(SECCOMP_X86_64, "socket", AF_PACKET, SOCK_DGRAM, 0);
        CHECK(seccomp_permit(&d) == NULL);
        CHECK_INT(seccomp_errno(&d), EAFNOSUPPORT);
        d = call_of(SECCOMP_X86_64, "mount", AF_INET, SOCK_STREAM, 0);
        CHECK(seccomp_permit(&d) == NULL);
        CHECK_INT(seccomp_errno(&d), EPERM);
}

static const struct test_case cases[] = {
        CASE(test_surface__is_as_large_as_announced),
        CASE(test_table__has_no_holes),
        CASE(test_table__has_no_name_or_number_twice),
        CASE(test_ioctl__terminal_input_is_refused_whatever_the_high_word),
        CASE(test_ioctl__filesystems_are_asked_and_copied_but_not_changed),
        CASE(test_gpu__what_torch_asks_of_the_driver_passes),
        CASE(test_gpu__each_listed_request_passes_and_its_neighbours_do_not),
        CASE(test_gpu__programs_keep_the_ordinary_requests),
        CASE(test_setsockopt__no_program_runs_on_a_socket),
        CASE(test_setsockopt__joins_no_group),
        CASE(test_setsockopt__puts_no_other_protocol_on_a_socket),
        CASE(test_landlock__makes_no_rules_where_nobody_counts_them),
        CASE(test_pages__are_not_held_where_nobody_counts_them),
        CASE(test_xattr__is_small_because_some_are_memory_that_nobody_counts),
        CASE(test_clone__no_flag_makes_a_namespace),
        CASE(test_mode__setuid_bits_are_refused_and_setgid_bits_served),
        CASE(test_mknod__makes_no_device),
        CASE(test_rename__leaves_no_whiteout),
        CASE(test_view__metadata_and_watches_only_in_its_own),
        CASE(test_view__scheduling_of_others_only_in_its_own),
        CASE(test_socket__without_doors_there_is_none),
        CASE(test_socket__the_net_door_opens_tcp_and_udp_only),
        CASE(test_connect__is_served_where_it_may_be_to_a_unix_socket),
        CASE(test_socket__no_datagrams_where_unix_sockets_are_served),
        CASE(test_socketpair__no_datagrams_where_unix_sockets_are_off),
        CASE(test_seccomp__own_filters_yes_own_listener_no),
        CASE(test_memfd__what_could_be_run_is_not_made),
        CASE(test_prlimit__others_can_be_asked_about_only),
        CASE(test_prctl__what_widens_or_leaks_is_unknown),
        CASE(test_ipc__only_in_a_namespace_of_its_own),
        CASE(test_verdict__hostile_calls_are_told),
        CASE(test_verdict__calls_that_programs_only_try_are_quiet),
        CASE(test_fcntl__holds_up_nobody_and_leaves_no_mark),
        CASE(test_read__does_not_ask_what_is_in_the_page_cache),
        CASE(test_send__has_no_urgent_data),
        CASE(test_pipe__carries_no_notifications),
        CASE(test_pages__huge_ones_of_the_host_are_not_taken),
        CASE(test_describe__says_what_was_tried),
        CASE(test_describe__is_cut_and_never_overruns),
        CASE(test_permit__names_a_line_only_where_one_helps),
};
TEST_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* The probe from inside, one power at a time: each state of a process is made in a child, which asks; the
 * refusal names the first wall that is missing. Landlock is left out by the plan, and the process wall's
 * probes suffice: those of namespaces have boxes with a layer left out (run-sabotage.sh). */
#include "harness.h"
#include "wall/internal.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_FD = 3, ASIDE_FD = 200, FILES = 64 };
enum { EFFECTIVE = 1, PERMITTED = 2, INHERITABLE = 4 };

/* What the child makes of itself before it asks; zero has no power, and no wall either. */
struct state {
        enum wall_kind wall;
        unsigned cap, sets;  /* a capability, and the sets that keep it */
        bool keeps_bounding; /* CAP_SYS_ADMIN stays in the bounding set */
        bool other[3];       /* another id: real, effective, saved */
        bool no_new_privs;
        unsigned filtered; /* how many of the two calls a filter answers */
        bool another_file; /* a descriptor that nobody granted */
};

static int give_up_capabilities(const struct state *s)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct d[2] = { { 0 } };
        uint32_t bit = 1u << s->cap % 32;
        d[s->cap / 32].effective = s->sets & EFFECTIVE ? bit : 0;
        d[s->cap / 32].permitted = s->sets & PERMITTED ? bit : 0;
        d[s->cap / 32].inheritable = s->sets & INHERITABLE ? bit : 0;
        return (int) syscall(SYS_capset, &head, d);
}

static int filter_calls(unsigned calls)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls > 1 ? SYS_openat2 : SYS_clone3, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog f = { .len = sizeof code / sizeof *code, .filter = code };
        return calls ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &f, 0, 0) : 0;
}

static int become(const struct state *s)
{
        uid_t to[3];
        for (int i = 0; i < 3; i++)
                to[i] = s->other[i] ? 65533 : 0;
        if ((s->another_file && dup(0) < 0) || prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 ||
            (!s->keeps_bounding && prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) < 0) ||
            setresuid(to[0], to[1], to[2]) < 0 || give_up_capabilities(s) < 0 ||
            (s->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0))
                return -1;
        return filter_calls(s->filtered);
}

/* The answer goes to one descriptor, which counts as granted; all behind it are closed. */
static _Noreturn void ask_in_child(const struct state *s, int answer)
{
        static struct wall_init w;
        static struct plan plan;
        const struct wall_stdio io = { .handle_count = 1 };
        const struct wall_start start = { .io = &io };
        struct err e = { 0 };
        plan.wall = s->wall;
        plan.without = WITHOUT_LANDLOCK;
        plan.limits.value[LIMIT_FILES] = FILES;
        w.plan = &plan;
        w.s = &start;
        (void) dup2(answer, ASIDE_FD);
        (void) syscall(SYS_close_range, ANSWER_FD, ASIDE_FD - 1, 0);
        (void) dup2(ASIDE_FD, ANSWER_FD);
        (void) syscall(SYS_close_range, ANSWER_FD + 1, ~0U, 0);
        const char *told = become(s) < 0 ? "`could not be made`" : wall_attest(&w, &e) < 0 ? e.what : "`all`";
        _exit(write(ANSWER_FD, told, strlen(told)) < 0);
}

/* The name of the first wall that is not up, or "all". */
static const char *missing(const struct state *s)
{
        static char name[64];
        char text[256] = "";
        int ends[2];
        (void) snprintf(name, sizeof name, "no answer");
        if (pipe(ends) < 0)
                return name;
        (void) fflush(stdout);
        pid_t child = fork();
        if (child == 0)
                ask_in_child(s, ends[1]);
        (void) close(ends[1]);
        if (read(ends[0], text, sizeof text - 1) > 0)
                (void) sscanf(text, "%*[^`]`%63[^`]", name);
        if (text[0] == '`')
                (void) sscanf(text, "`%63[^`]", name);
        (void) close(ends[0]);
        (void) waitpid(child, NULL, 0);
        return name;
}

/* A capability of each half of the set that this process has; 64: none. */
static unsigned held_capability(unsigned word)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct d[2] = { { 0 } };
        if (syscall(SYS_capget, &head, d) < 0 || d[word].permitted == 0)
                return 64;
        return word * 32 + (unsigned) __builtin_ctz(d[word].permitted);
}

static bool may_change_itself(void)
{
        return geteuid() == 0 && prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 1 &&
               prctl(PR_CAPBSET_READ, CAP_SETPCAP, 0, 0, 0) == 1;
}

static const struct state none = { .wall = WALL_PROCESS };

static void test_attest__each_id_counts(void)
{
        if (!may_change_itself())
                SKIP("only root can become another");
        for (int i = 0; i < 3; i++) {
                struct state s = none;
                s.other[i] = true;
                CHECK_STR(missing(&s), "ids");
        }
        CHECK_STR(missing(&none), "no_new_privs");
}

static void test_attest__a_capability_counts_in_each_set_and_in_each_half(void)
{
        if (!may_change_itself())
                SKIP("only root has capabilities to keep");
        for (unsigned word = 0; word < 2; word++) {
                struct state s = none;
                s.cap = held_capability(word);
                if (s.cap == 64)
                        SKIP("no capability of the second half is held here");
                s.sets = PERMITTED;
                CHECK_STR(missing(&s), "capabilities");
                s.sets = INHERITABLE;
                CHECK_STR(missing(&s), "capabilities");
                s.sets = PERMITTED | EFFECTIVE;
                CHECK_STR(missing(&s), "capabilities");
        }
}

static void test_attest__a_namespace_has_an_empty_bounding_set(void)
{
        if (!may_change_itself())
                SKIP("only root can empty the set");
        struct state s = { .wall = WALL_NAMESPACE, .keeps_bounding = true };
        CHECK_STR(missing(&s), "capabilities");
        s.wall = WALL_PROCESS; /* where nobody may empty it */
        CHECK_STR(missing(&s), "no_new_privs");
        s = (struct state){ .wall = WALL_NAMESPACE };
        CHECK_STR(missing(&s), "no_new_privs");
}

static void test_attest__a_filter_answers_both_calls(void)
{
        if (!may_change_itself())
                SKIP("the probes before it need root");
        struct state s = none;
        s.no_new_privs = true;
        CHECK_STR(missing(&s), "seccomp");
        s.filtered = 1;
        CHECK_STR(missing(&s), "seccomp");
        s.filtered = 2;
        CHECK_STR(missing(&s), "all");
}

static void test_attest__a_descriptor_that_nobody_granted(void)
{
        if (!may_change_itself())
                SKIP("the probes before it need root");
        struct state s = none;
        s.no_new_privs = true;
        s.filtered = 2;
        s.another_file = true;
        CHECK_STR(missing(&s), "descriptors");
}

static const struct test_case cases[] = {
        CASE(test_attest__each_id_counts),
        CASE(test_attest__a_capability_counts_in_each_set_and_in_each_half),
        CASE(test_attest__a_namespace_has_an_empty_bounding_set),
        CASE(test_attest__a_filter_answers_both_calls),
        CASE(test_attest__a_descriptor_that_nobody_granted),
};
TEST_MAIN(cases)

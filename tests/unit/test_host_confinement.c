/* SPDX-License-Identifier: MIT */
/* In what one process is confined and another is not. */
#include "base/host/host.h"
#include "harness.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct host_confinement a, b;

static void both(void)
{
        CHECK_INT(host_confinement_read(0, &a), 0);
        CHECK_INT(host_confinement_read(getpid(), &b), 0);
}

static const char *more(enum host_confinement_scope scope)
{
        const char *word = host_confined_more(&a, &b, scope);
        return word ? word : "";
}

static void change(struct host_confinement *c, const char *line, const char *value)
{
        char *at = strstr(c->status, line);
        CHECK(at != NULL);
        if (at)
                memcpy(at + strlen(line), value, strlen(value));
}

static void test_confinement__of_one_process_is_the_same(void)
{
        both();
        CHECK_STR(more(HOST_CONFINED_ALL), "");
}

static void test_confinement__each_part_counts(void)
{
        both();
        a.namespaces[2].ino++;
        CHECK_STR(more(HOST_CONFINED_ACCESS), "network namespace");
        both();
        a.root.ino++;
        CHECK_STR(more(HOST_CONFINED_ACCESS), "root directory");
        CHECK_STR(more(HOST_CONFINED_PROVEN), "");
        both();
        a.namespaces[1].ino++;
        CHECK_STR(more(HOST_CONFINED_ACCESS), "mount namespace");
        CHECK_STR(more(HOST_CONFINED_PROVEN), "");
        a.namespaces[2].ino++;
        CHECK_STR(more(HOST_CONFINED_PROVEN), "network namespace");
        both();
        change(&a, "\nUid:\t", "987654321");
        CHECK_STR(more(HOST_CONFINED_ACCESS), "user");
        both();
        change(&a, "\nCapBnd:\t", "0000000000000000");
        change(&b, "\nCapBnd:\t", "00000000ffffffff");
        CHECK_STR(more(HOST_CONFINED_ACCESS), "capability bounding set");
        both();
        strcpy(a.label, "snap.editor (enforce)");
        CHECK_STR(more(HOST_CONFINED_ACCESS), "security label");
        strcpy(a.label, "code (unconfined)");
        CHECK_STR(more(HOST_CONFINED_ACCESS), "");
}

static void test_confinement__no_new_privs_and_filters(void)
{
        both();
        change(&a, "\nNoNewPrivs:\t", "1");
        change(&b, "\nNoNewPrivs:\t", "0");
        CHECK_STR(more(HOST_CONFINED_ACCESS), "no_new_privs");
        both();
        change(&a, "\nSeccomp:\t", "2");
        change(&b, "\nSeccomp:\t", "0");
        CHECK_STR(more(HOST_CONFINED_ACCESS), "system call filter");
}

static void test_confinement__limits_count_for_what_is_used(void)
{
        both();
        a.rlimits[RLIMIT_NPROC][1] = 12;
        b.rlimits[RLIMIT_NPROC][1] = 13;
        CHECK_STR(more(HOST_CONFINED_ACCESS), "");
        CHECK_STR(more(HOST_CONFINED_ALL), "resource limits");
        both();
        strcpy(a.groups, "8:pids:/box\n0::/");
        strcpy(b.groups, "8:pids:/\n0::/");
        CHECK_STR(more(HOST_CONFINED_ACCESS), "");
        CHECK_STR(more(HOST_CONFINED_ALL), "control group");
}

static void test_groups__those_without_a_controller_do_not_count(void)
{
        CHECK(!host_groups_limit_more("9:name=systemd:/a\n8:pids:/x", "9:name=systemd:/b\n8:pids:/x"));
        CHECK(!host_groups_limit_more("3:cpu,cpuacct:/x", "4:cpu,cpuacct:/x"));
        CHECK(host_groups_limit_more("3:cpu,cpuacct:/x/y", "4:cpu,cpuacct:/x"));
        CHECK(host_groups_limit_more("8:pids:/x", ""));
        CHECK(host_groups_limit_more("nonsense", "8:pids:/x"));
}

static void test_groups__of_two_services_are_never_alike(void)
{
        CHECK(host_groups_limit_more("0::/system.slice/a.service", "0::/system.slice/b.service"));
        CHECK(host_groups_limit_more("0::/a", "0::/b"));
        CHECK(host_groups_limit_more("0::/user.slice/user-1.slice/no-such-group",
                                     "0::/user.slice/user-1.slice/another"));
}

static void test_proof__holds_for_this_process_alone(void)
{
        int ends[2];
        CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
        int proof = host_peer_proof(ends[0]), other = open("/proc/1", O_RDONLY | O_DIRECTORY);
        int path = open("/proc/self/fdinfo", O_PATH | O_DIRECTORY);
        CHECK(host_peer_confined(ends[0], HOST_CONFINED_ALL) == NULL);
        CHECK(host_proof_holds(proof, 0));
        CHECK(!host_proof_holds(path, 0));
        CHECK(!host_proof_holds(other, 0));
        CHECK(!host_proof_holds(-1, 0));
        (void) close(proof), (void) close(other), (void) close(path), (void) close(ends[0]),
                (void) close(ends[1]);
}

static const struct test_case cases[] = {
        CASE(test_confinement__of_one_process_is_the_same),
        CASE(test_confinement__each_part_counts),
        CASE(test_confinement__no_new_privs_and_filters),
        CASE(test_confinement__limits_count_for_what_is_used),
        CASE(test_groups__those_without_a_controller_do_not_count),
        CASE(test_groups__of_two_services_are_never_alike),
        CASE(test_proof__holds_for_this_process_alone),
};
TEST_MAIN(cases)

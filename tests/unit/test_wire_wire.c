/* SPDX-License-Identifier: MIT */
/* Messages and descriptors between our own processes: what is not exactly expected is an error, and leaves no
 * descriptor behind. */
#include "base/wire/wire.h"
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct message {
        int word, value;
};

static int open_descriptors(void)
{
        DIR *d = opendir("/proc/self/fd");
        int n = 0;
        if (!d)
                return -1;
        while (readdir(d))
                n++;
        (void) closedir(d);
        return n;
}

static bool pair(int ends[2])
{
        ends[0] = ends[1] = -1;
        CHECK_INT(wire_pair(ends), 0);
        return ends[0] >= 0 && ends[1] >= 0;
}

static void end(const int ends[2])
{
        (void) close(ends[0]);
        (void) close(ends[1]);
}

static bool same_file(int a, int b)
{
        struct stat x, y;
        return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* `n` descriptors in one message, which wire_send() never does: a hostile other side. */
static int send_many(int fd, const void *p, size_t size, const int *pass, size_t n)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(8 * sizeof(int))];
        } c = { .room = { 0 } };
        struct iovec io = { .iov_base = (void *) (size_t) p, .iov_len = size };
        struct msghdr m = { .msg_iov = &io,
                            .msg_iovlen = 1,
                            .msg_control = &c,
                            .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
        c.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n * sizeof(int)),
                                   .cmsg_level = SOL_SOCKET,
                                   .cmsg_type = SCM_RIGHTS };
        memcpy(CMSG_DATA(&c.head), pass, n * sizeof(int));
        return sendmsg(fd, &m, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

static void test_wire__both_ends_close_on_exec_and_keep_bounds(void)
{
        int ends[2], type = 0;
        socklen_t len = sizeof type;
        if (!pair(ends))
                return;
        CHECK(fcntl(ends[0], F_GETFD) & FD_CLOEXEC);
        CHECK(fcntl(ends[1], F_GETFD) & FD_CLOEXEC);
        CHECK_INT(getsockopt(ends[0], SOL_SOCKET, SO_TYPE, &type, &len), 0);
        CHECK_INT(type, SOCK_SEQPACKET);
        end(ends);
}

static void test_wire__a_message_without_descriptor_arrives_whole_and_in_order(void)
{
        int ends[2];
        if (!pair(ends))
                return;
        struct message one = { 1, 10 }, two = { 2, 20 }, got = { 0 };
        CHECK_INT(wire_send(ends[0], &one, sizeof one, -1), 0);
        CHECK_INT(wire_send(ends[0], &two, sizeof two, -1), 0);
        CHECK_INT(wire_recv(ends[1], &got, sizeof got, NULL), 1);
        CHECK(got.word == 1 && got.value == 10);
        int pass = 99;
        CHECK_INT(wire_recv(ends[1], &got, sizeof got, &pass), 1);
        CHECK(got.word == 2 && got.value == 20);
        CHECK_INT(pass, -1); /* asked for, but none came */
        end(ends);
}

static void test_wire__both_directions_carry_messages(void)
{
        int ends[2];
        if (!pair(ends))
                return;
        struct message m = { 3, 30 }, got = { 0 };
        CHECK_INT(wire_send(ends[1], &m, sizeof m, -1), 0);
        CHECK_INT(wire_recv(ends[0], &got, sizeof got, NULL), 1);
        CHECK(got.word == 3 && got.value == 30);
        end(ends);
}

static void test_wire__a_descriptor_arrives_open_and_close_on_exec(void)
{
        int ends[2], pass = -1;
        int file = open("/dev/null", O_RDONLY); /* not close-on-exec here, so the flag is the receiver's */
        if (!pair(ends))
                return;
        int before = open_descriptors();
        struct message m = { 4, 40 }, got = { 0 };
        CHECK_INT(wire_send(ends[0], &m, sizeof m, file), 0);
        CHECK_INT(wire_recv(ends[1], &got, sizeof got, &pass), 1);
        CHECK(got.word == 4 && got.value == 40);
        CHECK(pass >= 0 && pass != file && same_file(pass, file));
        CHECK(pass >= 0 && (fcntl(pass, F_GETFD) & FD_CLOEXEC));
        CHECK_INT(open_descriptors(), before + 1);
        (void) close(pass);
        (void) close(file);
        end(ends);
}

static void test_wire__descriptor_zero_can_be_passed(void)
{
        int ends[2], pass = -1;
        if (fcntl(0, F_GETFD) < 0)
                CHECK_INT(open("/dev/null", O_RDONLY), 0);
        if (!pair(ends))
                return;
        struct message m = { 0 }, got;
        CHECK_INT(wire_send(ends[0], &m, sizeof m, 0), 0);
        CHECK_INT(wire_recv(ends[1], &got, sizeof got, &pass), 1);
        CHECK(pass > 0 && same_file(pass, 0));
        (void) close(pass);
        end(ends);
}

static void test_wire__another_size_is_a_protocol_error(void)
{
        static const size_t sizes[] = { 1, sizeof(struct message) - 1, sizeof(struct message) + 1, 64 };
        char room[64] = { 0 };
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                int ends[2], pass = 77;
                struct message got = { 0 }, good = { 5, 50 };
                if (!pair(ends))
                        return;
                CHECK_INT(wire_send(ends[0], room, sizes[i], -1), 0);
                CHECK_INT(wire_send(ends[0], &good, sizeof good, -1), 0);
                errno = 0;
                CHECK_INT(wire_recv(ends[1], &got, sizeof got, &pass), -1);
                CHECK_INT(errno, EPROTO);
                CHECK_INT(pass, 77); /* outputs are untouched on failure */
                /* Nothing of the bad message is left over for the next one. */
                CHECK_INT(wire_recv(ends[1], &got, sizeof got, &pass), 1);
                CHECK(got.word == 5 && got.value == 50);
                end(ends);
        }
}

static void test_wire__a_descriptor_on_a_message_of_another_size_is_closed(void)
{
        static const size_t sizes[] = { 1, sizeof(struct message) + 1 };
        char room[64] = { 0 };
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                int ends[2], pass = 77;
                struct message got;
                if (!pair(ends))
                        return;
                int before = open_descriptors();
                CHECK_INT(wire_send(ends[0], room, sizes[i], ends[0]), 0);
                errno = 0;
                CHECK_INT(wire_recv(ends[1], &got, sizeof got, &pass), -1);
                CHECK_INT(errno, EPROTO);
                CHECK_INT(pass, 77);
                CHECK_INT(open_descriptors(), before);
                end(ends);
        }
}

static void test_wire__an_unexpected_descriptor_is_refused_and_closed(void)
{
        int ends[2];
        struct message m = { 6, 60 }, got;
        if (!pair(ends))
                return;
        int before = open_descriptors();
        CHECK_INT(wire_send(ends[0], &m, sizeof m, ends[0]), 0);
        errno = 0;
        CHECK_INT(wire_recv(ends[1], &got, sizeof got, NULL), -1);
        CHECK_INT(errno, EPROTO);
        CHECK_INT(open_descriptors(), before);
        end(ends);
}

/* Two fit into the alignment of the room for one on 64-bit machines; five fit nowhere. */
static void test_wire__more_than_one_descriptor_is_refused_and_none_stays_open(void)
{
        for (size_t n = 2; n <= 5; n++) {
                int ends[2], pass = 77;
                struct message m = { 7, 70 }, got;
                if (!pair(ends))
                        return;
                const int many[5] = { ends[0], ends[1], ends[0], ends[1], ends[0] };
                for (int asked = 0; asked < 2; asked++) {
                        int before = open_descriptors();
                        CHECK_INT(send_many(ends[0], &m, sizeof m, many, n), 0);
                        errno = 0;
                        CHECK_INT(wire_recv(ends[1], &got, sizeof got, asked ? &pass : NULL), -1);
                        CHECK_INT(errno, EPROTO);
                        CHECK_INT(pass, 77);
                        CHECK_INT(open_descriptors(), before);
                }
                end(ends);
        }
}

static void test_wire__a_closed_peer_gives_zero_after_what_it_had_sent(void)
{
        int ends[2], pass = 77;
        struct message m = { 8, 80 }, got = { 0 };
        if (!pair(ends))
                return;
        CHECK_INT(wire_send(ends[0], &m, sizeof m, -1), 0);
        (void) close(ends[0]);
        CHECK_INT(wire_recv(ends[1], &got, sizeof got, NULL), 1);
        CHECK(got.word == 8 && got.value == 80);
        CHECK_INT(wire_recv(ends[1], &got, sizeof got, &pass), 0);
        CHECK_INT(wire_recv(ends[1], &got, sizeof got, NULL), 0);
        (void) close(ends[1]);
}

static void test_wire__sending_to_a_closed_peer_is_an_error_and_no_signal(void)
{
        int ends[2];
        struct message m = { 9, 90 };
        if (!pair(ends))
                return;
        (void) close(ends[1]);
        errno = 0;
        CHECK_INT(wire_send(ends[0], &m, sizeof m, -1), -1);
        CHECK_INT(errno, EPIPE);
        (void) close(ends[0]);
}

static void test_wire__a_descriptor_that_is_not_open_is_not_sent(void)
{
        int ends[2], pass = 77;
        struct message m = { 9, 90 }, got;
        if (!pair(ends))
                return;
        errno = 0;
        CHECK_INT(wire_send(ends[0], &m, sizeof m, 1000000), -1);
        CHECK_INT(errno, EBADF);
        (void) close(ends[0]);
        CHECK_INT(wire_recv(ends[1], &got, sizeof got, &pass), 0); /* not even the message */
        (void) close(ends[1]);
}

/* A message of no bytes must not look like a peer that is gone and leave its descriptor open. */
static void test_wire__an_empty_message_leaves_no_descriptor_open(void)
{
        int ends[2], pass = 77;
        struct message got;
        if (!pair(ends))
                return;
        int before = open_descriptors();
        CHECK_INT(wire_send(ends[0], "", 0, ends[0]), 0);
        CHECK(wire_recv(ends[1], &got, sizeof got, &pass) <= 0);
        CHECK_INT(pass, 77);
        CHECK_INT(open_descriptors(), before);
        end(ends);
}

/* The kernel tells that our own words were not read before it hands out the last words of who did not read
 * them. */
static void test_recv__hears_the_last_words_of_one_that_did_not_listen(void)
{
        int ends[2];
        struct message m = { 1, 2 }, last = { 3, 4 }, got = { 0 };
        if (!pair(ends))
                return;
        CHECK_INT(wire_send(ends[0], &m, sizeof m, -1), 0);
        CHECK_INT(wire_send(ends[1], &last, sizeof last, -1), 0);
        (void) close(ends[1]);
        CHECK_INT(wire_recv(ends[0], &got, sizeof got, NULL), 1);
        CHECK_INT(got.value, 4);
        CHECK_INT(wire_recv(ends[0], &got, sizeof got, NULL), 0);
        (void) close(ends[0]);
}

static const struct test_case cases[] = {
        CASE(test_recv__hears_the_last_words_of_one_that_did_not_listen),
        CASE(test_wire__both_ends_close_on_exec_and_keep_bounds),
        CASE(test_wire__a_message_without_descriptor_arrives_whole_and_in_order),
        CASE(test_wire__both_directions_carry_messages),
        CASE(test_wire__a_descriptor_arrives_open_and_close_on_exec),
        CASE(test_wire__descriptor_zero_can_be_passed),
        CASE(test_wire__another_size_is_a_protocol_error),
        CASE(test_wire__a_descriptor_on_a_message_of_another_size_is_closed),
        CASE(test_wire__an_unexpected_descriptor_is_refused_and_closed),
        CASE(test_wire__more_than_one_descriptor_is_refused_and_none_stays_open),
        CASE(test_wire__a_closed_peer_gives_zero_after_what_it_had_sent),
        CASE(test_wire__sending_to_a_closed_peer_is_an_error_and_no_signal),
        CASE(test_wire__a_descriptor_that_is_not_open_is_not_sent),
        CASE(test_wire__an_empty_message_leaves_no_descriptor_open),
};
TEST_MAIN(cases)

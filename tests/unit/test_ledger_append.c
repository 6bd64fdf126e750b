/* SPDX-License-Identifier: MIT */
/* Writers that are killed, disks that are full, bytes that change: what is left is a prefix of what was
 * written, or the ledger says that it is damaged and takes nothing more. */
#include "base/fd.h"
#include "harness.h"
#include "ledger/write/append.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static char place[64];

static int fresh(void)
{
        (void) snprintf(place, sizeof place, "%s/cordon-test.XXXXXX",
                        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        if (!mkdtemp(place))
                return -1;
        return open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void sweep(int dir)
{
        static const char *const names[] = { "segments/00000001.seg", "segments/00000002.seg", "segments/new",
                                             "head", "checkpoints" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                (void) unlinkat(dir, names[i], 0);
        (void) unlinkat(dir, "segments", AT_REMOVEDIR);
        (void) close(dir);
        (void) rmdir(place);
}

static int add_or_tell(struct ledger *l, const char *target, bool durable, struct err *e)
{
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_INTENT);
        r.target = target;
        return ledger_append(l, &r, durable, NULL, e);
}

static int add(struct ledger *l, const char *target, bool durable)
{
        struct err e;
        return add_or_tell(l, target, durable, &e);
}

/* The linker puts these in front of the library's, which has one or the other name. */
static bool no_maps;
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t from);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
        if (!no_maps)
                return (void *) syscall(SYS_mmap, at, n, prot, flags, fd, from);
        errno = ENOMEM;
        return MAP_FAILED;
}
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
        return __wrap_mmap(at, n, prot, flags, fd, from);
}

struct seen {
        unsigned count;
        bool ordered; /* targets 1, 2, 3 ... in order, for one writer */
};

static int look(void *ctx, const struct scan_place *at, const struct frame *f)
{
        struct seen *s = ctx;
        struct ledger_view v;
        char want[24];
        (void) at;
        (void) snprintf(want, sizeof want, "%u", ++s->count);
        if (ledger_view_parse(f->payload, &v) < 0 || !span_is(v.target, want))
                s->ordered = false;
        return 0;
}

static struct seen look_at(int dir, enum scan_end *ret)
{
        struct seen s = { .ordered = true };
        struct scan_place at = { 0 };
        *ret = ledger_scan(dir, &at, look, &s);
        return s;
}

static void fill(int dir, unsigned n)
{
        struct err e;
        struct ledger *l = ledger_open_at(dir, "run", "", &e);
        char text[24];
        for (unsigned i = 1; l && i <= n; i++) {
                (void) snprintf(text, sizeof text, "%u", i);
                CHECK_INT(add(l, text, false), 0);
        }
        CHECK_INT(ledger_flush(l, 100, &e), 0);
        ledger_close(l);
}

static void test_append__what_was_added_is_there_in_order(void)
{
        int dir = fresh();
        enum scan_end end;
        fill(dir, 300);
        struct seen s = look_at(dir, &end);
        CHECK_INT(s.count, 300);
        CHECK(s.ordered);
        CHECK_INT(end, SCAN_WHOLE);
        struct ledger_view v;
        struct err e;
        struct ledger_log *l = ledger_log_open(dir, &e);
        CHECK_INT(ledger_log_count(l), 300);
        CHECK_INT(ledger_log_view(l, 299, &v), 0);
        CHECK(span_is(v.id, "run.300"));
        CHECK_INT(v.clock, 300);
        ledger_log_free(l);
        sweep(dir);
}

static off_t segment_size(int dir)
{
        struct stat st;
        return fstatat(dir, "segments/00000001.seg", &st, 0) == 0 ? st.st_size : -1;
}

static void test_append__truncated_at_every_byte_a_valid_prefix_is_read(void)
{
        int dir = fresh();
        enum scan_end end;
        unsigned last = 6;
        fill(dir, 6);
        for (off_t n = segment_size(dir) - 1; n >= SEGMENT_HEAD; n--) {
                char path[128];
                (void) snprintf(path, sizeof path, "%s/segments/00000001.seg", place);
                CHECK_INT(truncate(path, n), 0);
                struct seen s = look_at(dir, &end);
                CHECK(s.ordered);
                CHECK(s.count <= last && s.count + 1 >= last);
                last = s.count;
                CHECK(end == SCAN_TORN || end == SCAN_WHOLE);
        }
        CHECK_INT(last, 0);
        sweep(dir);
}

/* A writer that died inside a write: the head knows nothing of the torn frame. */
static void test_append__a_torn_tail_of_every_length_is_cut_by_the_next_writer(void)
{
        int dir = fresh();
        enum scan_end end;
        fill(dir, 2);
        off_t whole = segment_size(dir);
        char bytes[600];
        AUTO_FD(fd, openat(dir, "segments/00000001.seg", O_RDWR | O_CLOEXEC));
        ssize_t frame = pread(fd, bytes, sizeof bytes, SEGMENT_HEAD);
        struct frame f;
        uint8_t head[HEAD_BYTES];
        AUTO_FD(head_fd, openat(dir, "head", O_RDWR | O_CLOEXEC));
        CHECK_INT(pread(head_fd, head, sizeof head, 0), HEAD_BYTES);
        CHECK_INT(frame_next(span_of(bytes, (size_t) frame), &f), FRAME_WHOLE);
        for (size_t n = 1; n < f.size; n++) {
                struct err e;
                struct ledger *l = ledger_open_at(dir, "run", "", &e);
                CHECK_INT(pwrite(fd, bytes, n, whole), n);
                CHECK_INT(add(l, "x", true), 0);
                ledger_close(l);
                struct ledger_log *log = ledger_log_open(dir, &e);
                CHECK_INT(ledger_log_count(log), 3);
                ledger_log_free(log);
                (void) look_at(dir, &end);
                CHECK_INT(end, SCAN_WHOLE);
                CHECK_INT(ftruncate(fd, whole), 0); /* back, with a head that fits again */
                CHECK_INT(pwrite(head_fd, head, sizeof head, 0), HEAD_BYTES);
        }
        sweep(dir);
}

static void test_append__whole_frames_that_the_head_does_not_know_are_counted(void)
{
        int dir = fresh();
        uint8_t head[HEAD_BYTES];
        struct err e;
        fill(dir, 1);
        AUTO_FD(fd, openat(dir, "head", O_RDWR | O_CLOEXEC));
        CHECK_INT(pread(fd, head, sizeof head, 0), HEAD_BYTES);
        struct ledger *l = ledger_open_at(dir, "run", "", &e);
        CHECK_INT(add(l, "2", true), 0);
        CHECK_INT(pwrite(fd, head, sizeof head, 0), HEAD_BYTES); /* as if killed between the two writes */
        CHECK_INT(add(l, "3", true), 0);
        ledger_close(l);
        enum scan_end end;
        struct seen s = look_at(dir, &end);
        CHECK_INT(s.count, 3);
        CHECK(s.ordered);
        sweep(dir);
}

static void test_append__a_damaged_ledger_takes_nothing_more(void)
{
        int dir = fresh();
        struct err e;
        fill(dir, 20);
        AUTO_FD(fd, openat(dir, "segments/00000001.seg", O_RDWR | O_CLOEXEC));
        off_t n = segment_size(dir);
        struct ledger *l = ledger_open_at(dir, "run", "", &e);
        CHECK_INT(ftruncate(fd, n - 1000), 0);
        struct ledger_record r = ledger_record_of(LEDGER_NET, LEDGER_INTENT);
        CHECK_INT(ledger_append(l, &r, true, NULL, &e), -1);
        CHECK(strstr(e.what, "damaged") != NULL);
        CHECK(e.hint[0] != '\0');
        CHECK_INT(segment_size(dir), n - 1000);
        ledger_close(l);
        sweep(dir);
}

static void test_append__a_full_disk_refuses_a_durable_record_and_leaves_no_half(void)
{
        int dir = fresh();
        fill(dir, 3);
        off_t n = segment_size(dir);
        pid_t pid = fork();
        if (pid == 0) { /* RLIMIT_FSIZE stands in for the disk */
                struct err e;
                struct rlimit full = { (rlim_t) n + 100, (rlim_t) n + 100 };
                (void) signal(SIGXFSZ, SIG_IGN);
                struct ledger *l = ledger_open_at(dir, "run", "", &e);
                (void) setrlimit(RLIMIT_FSIZE, &full);
                struct ledger_record r = ledger_record_of(LEDGER_NET, LEDGER_INTENT);
                int refused = ledger_append(l, &r, true, NULL, &e);
                _exit(refused == -1 && e.sys == EFBIG && e.hint[0] ? 7 : 1);
        }
        int status = 0;
        (void) waitpid(pid, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        CHECK_INT(segment_size(dir), n);
        fill(dir, 0);
        enum scan_end end;
        CHECK_INT(look_at(dir, &end).count, 3);
        sweep(dir);
}

static void test_append__a_writer_that_stands_still_holds_up_no_other_for_long(void)
{
        int dir = fresh();
        struct err e;
        struct ledger *stuck = ledger_open_at(dir, "a", "", &e), *l = ledger_open_at(dir, "b", "", &e);
        struct flock f = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        CHECK_INT(fcntl(stuck->head, F_OFD_SETLK, &f), 0);
        struct timespec a, b;
        (void) clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < 1000; i++)
                CHECK_INT(add(l, "x", false), 0);
        ledger_tick(l);
        (void) clock_gettime(CLOCK_MONOTONIC, &b);
        /* Who waits for the lock does so for two seconds. */
        CHECK((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 1500);
        CHECK_INT(add(l, "effect", true), -1);
        f.l_type = F_UNLCK;
        CHECK_INT(fcntl(stuck->head, F_OFD_SETLK, &f), 0);
        CHECK_INT(add(l, "effect", true), 0);
        ledger_close(l);
        ledger_close(stuck);
        struct ledger_log *log = ledger_log_open(dir, &e);
        CHECK_INT(ledger_log_count(log), 1001); /* the refused one is not among them */
        ledger_log_free(log);
        sweep(dir);
}

static void test_append__what_is_given_up_is_not_written(void)
{
        int dir = fresh();
        struct err e;
        struct ledger *l = ledger_open_at(dir, "a", "", &e);
        CHECK_INT(add(l, "1", true), 0);
        CHECK_INT(add(l, "2", false), 0);
        ledger_give_up(l);
        struct ledger_log *log = ledger_log_open(dir, &e);
        CHECK_INT(ledger_log_count(log), 1);
        ledger_log_free(log);
        sweep(dir);
}

static void test_append__many_writers_at_once_lose_nothing(void)
{
        enum { WRITERS = 8, EACH = 500 };
        int dir = fresh();
        for (int w = 0; w < WRITERS; w++)
                if (fork() == 0) {
                        struct err e;
                        char run[8];
                        (void) snprintf(run, sizeof run, "w%d", w);
                        struct ledger *l = ledger_open_at(dir, run, "", &e);
                        for (int i = 0; i < EACH; i++) {
                                struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_OUTCOME);
                                if (ledger_append(l, &r, i % 50 == 0, NULL, &e) < 0)
                                        _exit(1);
                        }
                        if (ledger_flush(l, 5000, &e) < 0)
                                _exit(1);
                        _exit(0);
                }
        for (int status; wait(&status) > 0;)
                CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        struct err e;
        struct ledger_log *l = ledger_log_open(dir, &e);
        CHECK_INT(ledger_log_count(l), WRITERS * EACH);
        unsigned next[WRITERS] = { 0 };
        int64_t clock = 0;
        for (uint64_t i = 0; i < ledger_log_count(l); i++) {
                struct ledger_view v;
                char want[32];
                CHECK_INT(ledger_log_view(l, i, &v), 0);
                unsigned w = v.id.p[1] - (unsigned) '0';
                (void) snprintf(want, sizeof want, "w%u.%u", w, w < WRITERS ? ++next[w] : 0);
                CHECK(span_is(v.id, want));
                CHECK(v.clock > clock);
                clock = v.clock;
        }
        ledger_log_free(l);
        sweep(dir);
}

/* A head that nobody can write any more, with what it says now. */
static int sealed_head(const struct ledger *l)
{
        uint8_t head[HEAD_BYTES];
        int fd = memfd_create("head", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        CHECK_INT(pread(l->head, head, sizeof head, 0), HEAD_BYTES);
        CHECK_INT(write(fd, head, sizeof head), HEAD_BYTES);
        CHECK_INT(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK), 0);
        return fd;
}

static void check_targets(int dir, const char *const *want, unsigned count)
{
        struct err e;
        struct ledger_view v;
        struct ledger_log *log = ledger_log_open(dir, &e);
        CHECK_INT(ledger_log_count(log), count);
        for (unsigned i = 0; i < count; i++) {
                CHECK_INT(ledger_log_view(log, i, &v), 0);
                CHECK(*want[i] ? span_is(v.target, want[i]) : span_is(v.kind, "gap"));
        }
        ledger_log_free(log);
}

static void test_append__of_several_that_are_forgotten_none_is_written(void)
{
        int dir = fresh();
        struct err e;
        struct ledger *l = ledger_open_at(dir, "a", "", &e);
        CHECK_INT(add(l, "1", false), 0);
        size_t mark = ledger_mark(l);
        CHECK_INT(add(l, "2", false), 0);
        CHECK_INT(add(l, "3", false), 0);
        ledger_forget(l, mark);
        CHECK_INT(add(l, "4", true), 0);
        ledger_forget(l, mark); /* what is written stays */
        ledger_close(l);
        check_targets(dir, (const char *const[]){ "1", "4" }, 2);
        sweep(dir);
}

static void test_append__a_head_that_cannot_be_written_leaves_nothing_to_be_counted_twice(void)
{
        static const char *const want[] = { "1", "2", "3", "4", "6" };
        int dir = fresh();
        struct err e;
        fill(dir, 3);
        struct ledger *l = ledger_open_at(dir, "run", "a", &e);
        int head = l->head;
        l->head = sealed_head(l);
        CHECK_INT(add(l, "4", false), 0);
        CHECK_INT(add(l, "5", true), -1);
        fd_close(&l->head);
        l->head = head;
        CHECK_INT(add(l, "6", true), 0);
        ledger_close(l);
        check_targets(dir, want, sizeof want / sizeof *want);
        sweep(dir);
}

static int cut_it(void *ctx, const struct scan_place *at, const struct frame *f)
{
        unsigned *count = ctx;
        char path[128];
        (void) at;
        (void) f;
        (void) snprintf(path, sizeof path, "%s/segments/00000001.seg", place);
        if ((*count)++ == 0)
                CHECK_INT(truncate(path, SEGMENT_HEAD), 0);
        return 0;
}

/* As a writer does with what it could not write whole. */
static void test_append__a_segment_that_is_cut_ends_no_reader(void)
{
        int dir = fresh();
        unsigned count = 0;
        struct scan_place at = { 0 };
        fill(dir, 300);
        CHECK_INT(ledger_scan(dir, &at, cut_it, &count), SCAN_WHOLE);
        CHECK_INT(count, 300);
        CHECK_INT(ledger_scan(dir, &at, cut_it, &count), SCAN_BAD); /* it was there before */
        sweep(dir);
}

/* Killed between the name of a new segment and the head that tells of it. */
static void test_append__a_segment_that_a_killed_writer_began_is_gone_on_with(void)
{
        static const char *const want[] = { "1", "2", "3", "4", "5" };
        uint8_t before[HEAD_BYTES];
        int dir = fresh();
        struct err e;
        enum scan_end end;
        fill(dir, 3);
        struct ledger *l = ledger_open_at(dir, "run", "a", &e);
        CHECK_INT(pread(l->head, before, sizeof before, 0), HEAD_BYTES);
        CHECK_INT(ledger_roll(l, &e), 0);
        CHECK_INT(pwrite(l->head, before, sizeof before, 0), HEAD_BYTES);
        ledger_close(l);
        l = ledger_open_at(dir, "run", "b", &e);
        CHECK_INT(add(l, "4", false), 0);
        CHECK_INT(ledger_flush(l, 100, &e), 0);
        CHECK_INT(add(l, "5", true), 0);
        ledger_close(l);
        check_targets(dir, want, sizeof want / sizeof *want);
        (void) look_at(dir, &end);
        CHECK_INT(end, SCAN_WHOLE);
        sweep(dir);
}

/* The head is of another boot, and knows more than there is. */
static void lose_power(int dir, unsigned bytes)
{
        uint8_t head[HEAD_BYTES], zeros[1000] = { 0 };
        struct head h;
        off_t n = segment_size(dir);
        AUTO_FD(head_fd, openat(dir, "head", O_RDWR | O_CLOEXEC));
        AUTO_FD(segment, openat(dir, "segments/00000001.seg", O_RDWR | O_CLOEXEC));
        CHECK_INT(pread(head_fd, head, sizeof head, 0), HEAD_BYTES);
        CHECK_INT(head_get(span_of(head, sizeof head), &h), 0);
        memset(h.boot, 'x', sizeof h.boot);
        h.end += bytes; /* the head was on the disk before what it tells of */
        h.count += 2;
        head_put(head, &h);
        CHECK_INT(pwrite(head_fd, head, sizeof head, 0), HEAD_BYTES);
        CHECK_INT(pwrite(segment, zeros, bytes, n), bytes);
}

static void sweep_lost(int dir, off_t at)
{
        char lost[64];
        (void) snprintf(lost, sizeof lost, "lost/00000001-%lld", (long long) at);
        CHECK_INT(unlinkat(dir, lost, 0), 0);
        CHECK_INT(unlinkat(dir, "lost", AT_REMOVEDIR), 0);
        sweep(dir);
}

/* And then there is no room: what is kept stays whole, what is taken back is not written, the loss is told.
 */
static void test_append__a_loss_is_told_when_there_is_room_again(void)
{
        static const char *const want[] = { "1", "2", "", "3", "4", "6" };
        int dir = fresh();
        struct err e;
        struct rlimit room, full;
        fill(dir, 2);
        off_t n = segment_size(dir);
        lose_power(dir, 300);
        CHECK_INT(getrlimit(RLIMIT_FSIZE, &room), 0);
        full = (struct rlimit){ (rlim_t) n + 100, room.rlim_max };
        (void) signal(SIGXFSZ, SIG_IGN); /* RLIMIT_FSIZE stands in for the disk */
        struct ledger *l = ledger_open_at(dir, "run", "a", &e);
        CHECK_INT(add(l, "3", false), 0);
        CHECK_INT(add(l, "4", false), 0);
        CHECK_INT(setrlimit(RLIMIT_FSIZE, &full), 0);
        CHECK_INT(add(l, "5", true), -1);
        CHECK_INT(setrlimit(RLIMIT_FSIZE, &room), 0);
        CHECK_INT(add(l, "6", true), 0);
        ledger_close(l);
        check_targets(dir, want, sizeof want / sizeof *want);
        sweep_lost(dir, n);
}

/* As after a loss of power: another boot, and a tail that never reached the disk as it was written. */
static void test_append__after_another_boot_what_makes_no_sense_is_put_aside_and_told(void)
{
        int dir = fresh();
        struct err e;
        fill(dir, 5);
        off_t n = segment_size(dir);
        lose_power(dir, 300);
        struct ledger *l = ledger_open_at(dir, "after", "", &e);
        CHECK_INT(add(l, "6", true), 0);
        ledger_close(l);
        struct ledger_view v;
        struct ledger_log *log = ledger_log_open(dir, &e);
        CHECK_INT(ledger_log_count(log), 7); /* five, the gap, and the new one */
        CHECK_INT(ledger_log_view(log, 5, &v), 0);
        CHECK(span_is(v.kind, "gap"));
        CHECK_INT(v.bytes, 300);
        CHECK_INT(ledger_log_view(log, 6, &v), 0);
        CHECK(span_is(v.target, "6"));
        CHECK_INT(v.clock, 7);
        ledger_log_free(log);
        char lost[64];
        struct stat st;
        (void) snprintf(lost, sizeof lost, "lost/00000001-%lld", (long long) n);
        CHECK_INT(fstatat(dir, lost, &st, 0), 0);
        CHECK_INT(st.st_size, 300);
        (void) unlinkat(dir, lost, 0);
        (void) unlinkat(dir, "lost", AT_REMOVEDIR);
        sweep(dir);
}

/* What cannot be read tells nothing: nothing is cut upon it, and nothing is called damaged. */
static void test_append__what_cannot_be_read_is_neither_cut_nor_damaged(void)
{
        int dir = fresh();
        struct err e = { 0 };
        fill(dir, 5);
        off_t n = segment_size(dir);
        lose_power(dir, 300);
        CHECK_INT(symlinkat("nowhere", dir, "checkpoints"), 0); /* stands in for a want of descriptors */
        struct ledger *l = ledger_open_at(dir, "after", "", &e);
        CHECK_INT(add_or_tell(l, "6", true, &e), -1);
        CHECK(strstr(e.what, "cannot be read") != NULL);
        CHECK_INT(segment_size(dir), n + 300);
        CHECK_INT(unlinkat(dir, "checkpoints", 0), 0);
        no_maps = true;
        CHECK_INT(add_or_tell(l, "6", true, &e), -1);
        CHECK_INT(e.sys, ENOMEM);
        CHECK(strstr(e.what, "damaged") == NULL && e.hint[0] == '\0');
        no_maps = false;
        CHECK_INT(add_or_tell(l, "6", true, &e), 0);
        ledger_close(l);
        sweep_lost(dir, n);
}

/* ---- kills at random moments ---- */

/* 1,500 in every test run; `make soak` sets 10,000. */
static unsigned kills(void)
{
        const char *wanted = getenv("LEDGER_KILLS");
        return wanted ? (unsigned) strtoul(wanted, NULL, 10) : test_rounds(1500);
}

struct shared {
        volatile unsigned released[4]; /* per writer: the last effect that was let out */
};

static _Noreturn void writer(int dir, unsigned w, unsigned round, struct shared *s)
{
        struct err e;
        char run[24], text[24];
        (void) snprintf(run, sizeof run, "w%u-%u", w, round);
        struct ledger *l = ledger_open_at(dir, run, "", &e);
        if (!l)
                _exit(1);
        for (unsigned i = 1;; i++) {
                struct ledger_record r = ledger_record_of(LEDGER_NET, LEDGER_INTENT);
                (void) snprintf(text, sizeof text, "%u", i);
                r.target = text;
                r.reach = LEDGER_REACH_NAMED;
                if (i % 3 == 0 && add(l, "read", false) < 0)
                        _exit(1);
                if (ledger_append(l, &r, ledger_consequential(&r), NULL, &e) == 0)
                        s->released[w] = i; /* the effect leaves */
                else if (e.sys == EBUSY)
                        i--; /* refused, because others held the ledger for long: it stays inside, and is
                                tried again */
                else
                        _exit(1);
        }
}

/* Every effect that left has its intent; every run's intents are 1, 2, 3 ... without a hole. */
static void check_round(int dir, unsigned round, unsigned writers, const struct shared *s)
{
        struct err e;
        struct ledger_log *l = ledger_log_open(dir, &e);
        unsigned seen[4] = { 0 };
        for (uint64_t i = 0; i < ledger_log_count(l); i++) {
                struct ledger_view v;
                char want[24];
                CHECK_INT(ledger_log_view(l, i, &v), 0);
                (void) snprintf(want, sizeof want, "-%u", round);
                if (v.run.n < 3 || !span_is(span_of(v.run.p + 2, v.run.n - 2), want) ||
                    !span_is(v.kind, "net"))
                        continue;
                (void) snprintf(want, sizeof want, "%u", ++seen[(v.run.p[1] - '0') & 3]);
                CHECK(span_is(v.target, want));
        }
        for (unsigned w = 0; w < writers; w++)
                CHECK(seen[w] >= s->released[w] && seen[w] <= s->released[w] + 1);
        ledger_log_free(l);
}

static void kill_some(int dir, struct shared *s, unsigned round, unsigned writers)
{
        pid_t pid[4];
        for (unsigned w = 0; w < writers; w++) {
                s->released[w] = 0;
                pid[w] = fork();
                if (pid[w] == 0 && nice(19) >= 0) /* so that the one who kills comes first */
                        writer(dir, w, round, s);
        }
        for (unsigned w = 0; w < writers; w++) {
                struct timespec t = { 0, (long) (random() % 400000) };
                (void) nanosleep(&t, NULL);
                (void) kill(pid[w], SIGKILL);
                (void) waitpid(pid[w], NULL, 0);
        }
}

static void test_append__after_kills_no_effect_without_its_intent(void)
{
        enum { WRITERS = 4 };
        struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        int dir = -1;
        srandom(20261115);
        for (unsigned round = 0; round < kills() / WRITERS; round++) {
                if (round % 3 == 0) { /* small ledgers are quick to check */
                        if (dir >= 0)
                                sweep(dir);
                        dir = fresh();
                }
                kill_some(dir, s, round, WRITERS);
                enum scan_end end;
                (void) look_at(dir, &end);
                CHECK(end == SCAN_WHOLE || end == SCAN_TORN || segment_size(dir) < 0);
                check_round(dir, round, WRITERS, s);
        }
        sweep(dir);
        (void) munmap(s, sizeof *s);
}

static const struct test_case cases[] = {
        CASE(test_append__what_was_added_is_there_in_order),
        CASE(test_append__truncated_at_every_byte_a_valid_prefix_is_read),
        CASE(test_append__a_torn_tail_of_every_length_is_cut_by_the_next_writer),
        CASE(test_append__whole_frames_that_the_head_does_not_know_are_counted),
        CASE(test_append__a_damaged_ledger_takes_nothing_more),
        CASE(test_append__a_full_disk_refuses_a_durable_record_and_leaves_no_half),
        CASE(test_append__a_writer_that_stands_still_holds_up_no_other_for_long),
        CASE(test_append__what_is_given_up_is_not_written),
        CASE(test_append__many_writers_at_once_lose_nothing),
        CASE(test_append__of_several_that_are_forgotten_none_is_written),
        CASE(test_append__a_head_that_cannot_be_written_leaves_nothing_to_be_counted_twice),
        CASE(test_append__a_segment_that_is_cut_ends_no_reader),
        CASE(test_append__a_segment_that_a_killed_writer_began_is_gone_on_with),
        CASE(test_append__a_loss_is_told_when_there_is_room_again),
        CASE(test_append__after_another_boot_what_makes_no_sense_is_put_aside_and_told),
        CASE(test_append__what_cannot_be_read_is_neither_cut_nor_damaged),
        CASE(test_append__after_kills_no_effect_without_its_intent),
};
TEST_MAIN(cases)

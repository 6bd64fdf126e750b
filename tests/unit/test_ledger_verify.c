/* SPDX-License-Identifier: MIT */
/* Somebody who may write the ledger's files but has not its key: every flip, drop, swap, insertion and
 * rollback is found. Needs cordon-ledger beside the tests, for the signatures. */
#include "../context.h"
#include "base/fd.h"
#include "harness.h"
#include "ledger/write/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORDS = 40 };
static char state[64], ledger_path[96], segment[160];
static int dir;
static struct buf good; /* the segment as it was written */

static void command(const char *verb)
{
        struct err e = { 0 };
        if (ledger_helper_do(test_context(), verb, ledger_path, span_of("", 0), NULL, &e) < 0)
                printf("# %s\n", e.what);
}

static void write_records(unsigned n)
{
        struct err e;
        struct ledger *l = ledger_open_at(dir, "run", "", &e);
        for (unsigned i = 0; i < n; i++) {
                struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_CLAIM);
                char text[32];
                (void) snprintf(text, sizeof text, "/srv/file-%04u", i);
                r.target = text;
                CHECK_INT(ledger_append(l, &r, false, NULL, &e), 0);
        }
        CHECK_INT(ledger_flush(l, 1000, &e), 0);
        ledger_close(l);
}

static void begin(void)
{
        (void) snprintf(state, sizeof state, "/tmp/cordon-test.XXXXXX");
        CHECK(mkdtemp(state) != NULL);
        (void) setenv("CORDON_STATE", state, 1);
        (void) snprintf(ledger_path, sizeof ledger_path, "%s/ledger", state);
        (void) snprintf(segment, sizeof segment, "%s/segments/00000001.seg", ledger_path);
        struct err e;
        dir = ledger_dir_open(test_context(), true, &e);
        write_records(RECORDS);
        command("seal-once");
        good = (struct buf){ 0 };
        CHECK_INT(ledger_slurp(dir, "segments/00000001.seg", &good), 0);
}

static void end(void)
{
        static const char *const names[] = { "segments/00000001.seg",
                                             "segments/00000002.seg",
                                             "segments",
                                             "tiles/0",
                                             "tiles/1",
                                             "tiles/2",
                                             "tiles/3",
                                             "tiles/4",
                                             "tiles/5",
                                             "tiles/6",
                                             "tiles/7",
                                             "tiles",
                                             "head",
                                             "key",
                                             "key.pub",
                                             "sealer",
                                             "checkpoints",
                                             "../witness/checkpoint",
                                             "../witness" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (unlinkat(dir, names[i], 0) < 0)
                        (void) unlinkat(dir, names[i], AT_REMOVEDIR);
        (void) close(dir);
        (void) rmdir(ledger_path);
        (void) rmdir(state);
        buf_done(&good);
}

static void put(const void *p, size_t n)
{
        AUTO_FD(fd, open(segment, O_WRONLY | O_TRUNC | O_CLOEXEC));
        CHECK_INT(fd_write_all(fd, p, n), 0);
}

static bool verifies(struct buf *said)
{
        struct err e = { 0 };
        bool ok = false;
        if (said)
                said->n = 0;
        AUTO_BUF(mine);
        if (ledger_verify(test_context(), dir, "", false, said ? said : &mine, &ok, &e) < 0)
                printf("# %s\n", e.what);
        return ok;
}

/* Where frame i begins, and how long it is. */
static size_t frame_at(unsigned i, size_t *ret_size)
{
        size_t at = SEGMENT_HEAD;
        struct frame f;
        for (;; i--) {
                if (frame_next(span_of(good.p + at, good.n - at), &f) != FRAME_WHOLE)
                        return 0;
                if (i == 0)
                        break;
                at += f.size;
        }
        *ret_size = f.size;
        return at;
}

static void test_verify__an_honest_ledger_is_found_so(void)
{
        AUTO_BUF(said);
        begin();
        CHECK(verifies(&said));
        CHECK(strstr(buf_str(&said), "40 records, 40 of them under") != NULL);
        write_records(0);
        command("seal-once");
        CHECK(verifies(NULL));
        end();
}

static void test_verify__every_flipped_byte_is_found(void)
{
        begin();
        unsigned missed = 0;
        for (size_t i = 0; i < good.n; i += i < 700 ? 1 : 41) {
                good.p[i] ^= 0x20;
                put(good.p, good.n);
                good.p[i] ^= 0x20;
                missed += verifies(NULL);
        }
        CHECK_INT(missed, 0);
        end();
}

/* One who knows the format mends the sum as well. */
static void test_verify__a_changed_record_with_a_right_sum_is_found_and_named(void)
{
        AUTO_BUF(said);
        begin();
        for (unsigned i = 0; i < RECORDS; i++) {
                size_t size = 0, at = frame_at(i, &size);
                char *digit = memmem(good.p + at, size, "/srv/file-", 10);
                CHECK(digit != NULL);
                digit[5] = 'g';
                uint8_t before[FRAME_HEAD];
                memcpy(before, good.p + at, FRAME_HEAD);
                frame_head((uint8_t *) good.p + at, good.p + at + FRAME_HEAD, size - FRAME_HEAD, false);
                put(good.p, good.n);
                CHECK(!verifies(&said));
                char name[32];
                (void) snprintf(name, sizeof name, "record %u, run.%u is not", i, i + 1);
                if (!strstr(buf_str(&said), name))
                        printf("# %s", buf_str(&said));
                CHECK(strstr(buf_str(&said), name) != NULL);
                digit[5] = 'f';
                memcpy(good.p + at, before, FRAME_HEAD);
        }
        end();
}

static void test_verify__every_dropped_record_is_found(void)
{
        begin();
        for (unsigned i = 0; i < RECORDS; i++) {
                size_t size = 0, at = frame_at(i, &size);
                AUTO_BUF(bad);
                buf_add(&bad, good.p, at);
                buf_add(&bad, good.p + at + size, good.n - at - size);
                put(bad.p, bad.n);
                CHECK(!verifies(NULL));
        }
        end();
}

static void test_verify__swapped_and_doubled_records_are_found(void)
{
        begin();
        for (unsigned i = 0; i + 1 < RECORDS; i += 3) {
                size_t a = 0, b = 0, at = frame_at(i, &a), next = frame_at(i + 1, &b);
                AUTO_BUF(swapped);
                buf_add(&swapped, good.p, at);
                buf_add(&swapped, good.p + next, b);
                buf_add(&swapped, good.p + at, a);
                buf_add(&swapped, good.p + next + b, good.n - next - b);
                put(swapped.p, swapped.n);
                CHECK(!verifies(NULL));
                AUTO_BUF(doubled);
                buf_add(&doubled, good.p, at + a);
                buf_add(&doubled, good.p + at, good.n - at);
                put(doubled.p, doubled.n);
                CHECK(!verifies(NULL));
        }
        end();
}

static void test_verify__an_inserted_record_is_found(void)
{
        static const char forged[] = "{\"clock\":7,\"id\":\"run.x\",\"kind\":\"file\",\"phase\":\"claim\","
                                     "\"run\":\"run\",\"v\":1}";
        uint8_t head[FRAME_HEAD];
        begin();
        frame_head(head, forged, sizeof forged - 1, false);
        for (unsigned i = 0; i < RECORDS; i += 5) {
                size_t size = 0, at = frame_at(i, &size);
                AUTO_BUF(bad);
                buf_add(&bad, good.p, at);
                buf_add(&bad, head, sizeof head);
                buf_add(&bad, forged, sizeof forged - 1);
                buf_add(&bad, good.p + at, good.n - at);
                put(bad.p, bad.n);
                CHECK(!verifies(NULL));
        }
        end();
}

static void test_verify__truncation_at_every_byte_is_found(void)
{
        begin();
        unsigned missed = 0;
        for (size_t n = good.n - 1; n > SEGMENT_HEAD; n -= n > 700 ? 97 : 1) {
                put(good.p, n);
                missed += verifies(NULL);
        }
        CHECK_INT(missed, 0);
        end();
}

static void copy(const char *from, const char *to)
{
        AUTO_BUF(text);
        CHECK_INT(ledger_slurp(dir, from, &text), 0);
        AUTO_FD(fd, openat(dir, to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        CHECK_INT(fd_write_all(fd, text.p, text.n), 0);
}

/* The whole ledger as it was at its last checkpoint but one: right in itself, and yet not what was. */
static void test_verify__an_old_copy_put_back_is_found_by_the_witness(void)
{
        static const char *const files[] = { "segments/00000001.seg", "tiles/0", "checkpoints", "head" };
        AUTO_BUF(said);
        begin();
        for (size_t i = 0; i < 4; i++) {
                char to[32];
                (void) snprintf(to, sizeof to, "old-%zu", i);
                copy(files[i], to);
        }
        struct err e;
        struct ledger *l = ledger_open_at(dir, "later", "", &e);
        struct ledger_record r = ledger_record_of(LEDGER_NET, LEDGER_INTENT);
        CHECK_INT(ledger_append(l, &r, true, NULL, &e), 0);
        ledger_close(l);
        command("seal-once");
        CHECK(verifies(NULL));
        for (size_t i = 0; i < 4; i++) {
                char from[32];
                (void) snprintf(from, sizeof from, "old-%zu", i);
                copy(from, files[i]);
                (void) unlinkat(dir, from, 0);
        }
        CHECK(!verifies(&said));
        CHECK(strstr(buf_str(&said), "witness: it was signed for 41 records") != NULL);
        end();
}

static void test_verify__forged_checkpoints_are_found(void)
{
        AUTO_BUF(text);
        AUTO_BUF(said);
        begin();
        CHECK_INT(ledger_slurp(dir, "checkpoints", &text), 0);
        AUTO_FD(fd, openat(dir, "checkpoints", O_RDWR | O_CLOEXEC));
        /* The size, the root, the signature: each in turn, and the file as a whole. */
        char *lines[3] = { strchr(text.p, '\n') + 1 };
        lines[1] = strchr(lines[0], '\n') + 1;
        lines[2] = strrchr(text.p, ' ') + 12;
        for (int i = 0; i < 3; i++) {
                char was = *lines[i];
                *lines[i] = was == '3' ? '4' : '3';
                CHECK_INT(pwrite(fd, text.p, text.n, 0), text.n);
                CHECK(!verifies(NULL));
                *lines[i] = was;
        }
        CHECK_INT(pwrite(fd, text.p, text.n, 0), text.n);
        CHECK(verifies(NULL));
        CHECK_INT(ftruncate(fd, 0), 0); /* the witness remembers it */
        CHECK(!verifies(&said));
        CHECK(strstr(buf_str(&said), "the ledger has lost that checkpoint") != NULL);
        CHECK_INT(unlinkat(dir, "key.pub", 0), 0);
        CHECK(!verifies(NULL));
        end();
}

static uint64_t sealed_size(void)
{
        uint64_t n = 0;
        CHECK_INT(ledger_sealed_size(dir, &n), 0);
        return n;
}

/* One that has no room for the rest of its records cuts those that were whole. */
static void test_verify__what_a_writer_may_take_back_is_not_sealed(void)
{
        begin();
        size_t size = 0, at = frame_at(4, &size);
        struct flock f = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        AUTO_FD(head, openat(dir, "head", O_RDWR | O_CLOEXEC));
        AUTO_FD(fd, open(segment, O_WRONLY | O_CLOEXEC));
        CHECK_INT(fcntl(head, F_OFD_SETLK, &f), 0);
        CHECK_INT(pwrite(fd, good.p + at, size, (off_t) good.n), size);
        command("seal-once");
        CHECK_INT(sealed_size(), RECORDS);
        CHECK_INT(ftruncate(fd, (off_t) good.n), 0);
        fd_close(&head);
        CHECK(verifies(NULL));
        write_records(1);
        command("seal-once"); /* nobody writes: all is sealed */
        CHECK_INT(sealed_size(), RECORDS + 1);
        end();
}

/* Tiles are made again while a writer is at work, whose head does not tell yet of what one that was killed
 * had left, and a sealer had sealed. */
static void test_verify__what_a_checkpoint_covers_is_settled(void)
{
        begin();
        uint8_t bytes[HEAD_BYTES];
        struct head h;
        struct err e = { 0 };
        size_t size = 0;
        struct flock f = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        AUTO_FD(head, openat(dir, "head", O_RDWR | O_CLOEXEC));
        AUTO_FD(tile, openat(dir, "tiles/0", O_WRONLY | O_TRUNC | O_CLOEXEC));
        CHECK_INT(pread(head, bytes, sizeof bytes, 0), HEAD_BYTES);
        CHECK_INT(head_get(span_of(bytes, sizeof bytes), &h), 0);
        h.end = frame_at(7, &size);
        h.count = 7;
        head_put(bytes, &h);
        CHECK_INT(pwrite(head, bytes, sizeof bytes, 0), HEAD_BYTES);
        CHECK_INT(fcntl(head, F_OFD_SETLK, &f), 0);
        CHECK_INT(ledger_helper_do(test_context(), "seal-once", ledger_path, span_of("", 0), NULL, &e), 0);
        fd_close(&head);
        CHECK(verifies(NULL));
        end();
}

static void test_verify__behind_a_torn_end_sealing_goes_on(void)
{
        begin();
        size_t size = 0, at = frame_at(4, &size);
        AUTO_FD(fd, open(segment, O_WRONLY | O_CLOEXEC));
        CHECK_INT(pwrite(fd, good.p + at, size, (off_t) good.n), size); /* killed before its head */
        CHECK_INT(pwrite(fd, good.p + at, size - 9, (off_t) (good.n + size)), size - 9);
        command("seal-once");
        CHECK_INT(sealed_size(), RECORDS + 1);
        write_records(2);
        command("seal-once");
        CHECK_INT(sealed_size(), RECORDS + 3);
        end();
}

/* A sealer that was at work when its ledger was put aside, for a box that runs on. */
static void test_verify__a_ledger_that_was_put_aside_leaves_the_witness_alone(void)
{
        char aside[sizeof ledger_path + 4], witness[sizeof state + 24];
        struct err e = { 0 };
        begin();
        (void) snprintf(aside, sizeof aside, "%s-1", ledger_path);
        (void) snprintf(witness, sizeof witness, "%s/witness/checkpoint", state);
        CHECK_INT(unlink(witness), 0);
        write_records(1);
        CHECK_INT(rename(ledger_path, aside), 0);
        CHECK_INT(ledger_helper_do(test_context(), "seal-once", aside, span_of("", 0), NULL, &e), 0);
        CHECK_INT(sealed_size(), RECORDS + 1);
        CHECK(access(witness, F_OK) < 0);
        CHECK_INT(rename(aside, ledger_path), 0);
        write_records(1);
        command("seal-once");
        CHECK(access(witness, F_OK) == 0);
        end();
}

static void test_verify__two_do_not_prune_at_once(void)
{
        uint64_t n;
        struct err e;
        begin();
        AUTO_FD(other, openat(dir, "segments", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        CHECK_INT(flock(other, LOCK_EX), 0);
        struct ledger *l = ledger_open_at(dir, "prune", "", &e);
        CHECK_INT(ledger_prune(l, "file", INT64_MAX, &n, &e), -1);
        CHECK(strstr(e.what, "another `cordon ledger prune` or `verify` is at work") != NULL);
        fd_close(&other);
        CHECK_INT(ledger_prune(l, "file", INT64_MAX, &n, &e), 0);
        CHECK_INT(n, RECORDS);
        CHECK_INT(ledger_prune(l, "file", INT64_MAX, &n, &e), 0);
        CHECK_INT(n, 0);
        ledger_close(l);
        CHECK(!verifies(NULL)); /* what excuses it is not sealed */
        command("seal-once");
        CHECK(verifies(NULL));
        end();
}

static void test_verify__what_was_pruned_without_a_record_is_found(void)
{
        uint64_t n;
        struct err e;
        begin();
        struct ledger *l = ledger_open_at(dir, "prune", "", &e);
        CHECK_INT(ledger_prune(l, "file", INT64_MAX, &n, &e), 0);
        ledger_close(l);
        CHECK_INT(n, RECORDS);
        command("seal-once");
        AUTO_BUF(said);
        CHECK(verifies(&said));
        CHECK(strstr(buf_str(&said), "40 payloads were pruned") != NULL);
        /* the same by hand: payload away, hash in its place, sum right */
        end();
        begin();
        size_t size = 0, at = frame_at(4, &size);
        uint8_t head[FRAME_HEAD], leaf[LEDGER_HASH];
        ledger_leaf_hash(span_of(good.p + at + FRAME_HEAD, size - FRAME_HEAD), leaf);
        frame_head(head, leaf, sizeof leaf, true);
        AUTO_BUF(bad);
        buf_add(&bad, good.p, at);
        buf_add(&bad, head, sizeof head);
        buf_add(&bad, leaf, sizeof leaf);
        buf_add(&bad, good.p + at + size, good.n - at - size);
        put(bad.p, bad.n);
        CHECK(!verifies(&said));
        CHECK(strstr(buf_str(&said), "pruning is recorded for 0") != NULL);
        end();
}

static void test_verify__an_intent_without_outcome_is_unknown(void)
{
        AUTO_BUF(said);
        struct err e;
        char id[LEDGER_ID_MAX];
        begin();
        struct ledger *l = ledger_open_at(dir, "agent", "", &e);
        struct ledger_record r = ledger_record_of(LEDGER_REQUEST, LEDGER_INTENT);
        CHECK_INT(ledger_append(l, &r, true, id, &e), 0);
        CHECK_INT(ledger_append(l, &r, true, NULL, &e), 0);
        r = ledger_record_of(LEDGER_REQUEST, LEDGER_OUTCOME);
        r.parents[0] = id;
        r.parent_count = 1;
        CHECK_INT(ledger_append(l, &r, true, NULL, &e), 0);
        ledger_close(l);
        CHECK(verifies(&said));
        CHECK(strstr(buf_str(&said), "1 intent has no outcome") != NULL);
        end();
}

static void test_verify__a_proof_holds_offline_and_no_altered_one(void)
{
        AUTO_BUF(proof);
        AUTO_BUF(said);
        struct err e = { 0 };
        char key[128];
        bool ok = false;
        begin();
        (void) snprintf(key, sizeof key, "%s/key.pub", ledger_path);
        CHECK_INT(ledger_proof_make(test_context(), dir, "run.7", &proof, &e), 0);
        CHECK_INT(ledger_proof_check(test_context(), buf_span(&proof), key, &said, &ok, &e), 0);
        CHECK(ok);
        CHECK(strstr(buf_str(&said), "/srv/file-0006") != NULL);
        unsigned held = 0;
        for (size_t i = 24; i < proof.n; i++) { /* behind the first line, which only names the format */
                char was = proof.p[i];
                proof.p[i] = was == 'A' ? 'B' : 'A';
                ok = false;
                if (ledger_proof_check(test_context(), buf_span(&proof), key, &said, &ok, &e) == 0 && ok)
                        held++;
                proof.p[i] = was;
        }
        CHECK_INT(held, 0);
        CHECK_INT(ledger_proof_make(test_context(), dir, "run.700", &proof, &e), -1);
        end();
}

static void add_frame(struct buf *out, const char *json)
{
        uint8_t head[FRAME_HEAD];
        frame_head(head, json, strlen(json), false);
        buf_add(out, head, sizeof head);
        buf_puts(out, json);
}

static void test_verify__versions_and_fields_that_are_not_known_are_told(void)
{
        struct err e;
        bool ok = false;
        AUTO_BUF(said);
        AUTO_BUF(longer);
        begin();
        CHECK(verifies(&said));
        CHECK(strstr(buf_str(&said), "40 records of version 1 since 20") != NULL);
        CHECK(strstr(buf_str(&said), "does not know") == NULL);
        buf_add(&longer, good.p, good.n);
        add_frame(&longer, "{\"clock\":1000,\"id\":\"n.1\",\"kind\":\"file\",\"mood\":1,\"run\":\"n\","
                           "\"time\":4102444800000000,\"v\":7}");
        add_frame(&longer,
                  "{\"clock\":1001,\"id\":\"n.2\",\"kind\":\"file\",\"run\":\"n\",\"time\":4102444799000000,"
                  "\"v\":7}");
        add_frame(&longer, "{\"clock\":1002,\"id\":\"n.3\",\"kind\":\"file\",\"mood\":2,\"run\":\"n\","
                           "\"time\":4102444801000000,\"v\":1}");
        put(longer.p, longer.n);
        CHECK(verifies(&said));
        CHECK(strstr(buf_str(&said), "41 records of version 1 since 20") != NULL);
        CHECK(strstr(buf_str(&said),
                     "2 records of version 7 since 2099-12-31T23:59:59Z, which is later than this "
                     "program\n") != NULL);
        CHECK(strstr(buf_str(&said), "2 records have fields that this program does not know, since "
                                     "2100-01-01T00:00:00Z; they are kept\n") != NULL);
        said.n = 0;
        CHECK_INT(ledger_verify(test_context(), dir, "", true, &said, &ok, &e), 0);
        CHECK(strstr(buf_str(&said),
                     "{\"v\":7,\"records\":2,\"since\":4102444799000000}],\"known_version\":1,"
                     "\"unknown_fields\":2,\"unknown_fields_since\":4102444800000000,") != NULL);
        longer.n = good.n;
        for (unsigned i = 0; i < 20; i++) { /* more versions than there are rows for */
                char json[128];
                (void) snprintf(json, sizeof json,
                                "{\"clock\":%u,\"id\":\"n.%u\",\"kind\":\"file\",\"time\":1,\"v\":%u}",
                                1000 + i, i, 2 + i);
                add_frame(&longer, json);
        }
        put(longer.p, longer.n);
        CHECK(verifies(&said));
        CHECK(strstr(buf_str(&said), "13 of yet other versions\n") != NULL);
        end();
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_verify__an_honest_ledger_is_found_so),
                CASE(test_verify__every_flipped_byte_is_found),
                CASE(test_verify__a_changed_record_with_a_right_sum_is_found_and_named),
                CASE(test_verify__every_dropped_record_is_found),
                CASE(test_verify__swapped_and_doubled_records_are_found),
                CASE(test_verify__an_inserted_record_is_found),
                CASE(test_verify__truncation_at_every_byte_is_found),
                CASE(test_verify__an_old_copy_put_back_is_found_by_the_witness),
                CASE(test_verify__forged_checkpoints_are_found),
                CASE(test_verify__what_a_writer_may_take_back_is_not_sealed),
                CASE(test_verify__what_a_checkpoint_covers_is_settled),
                CASE(test_verify__behind_a_torn_end_sealing_goes_on),
                CASE(test_verify__a_ledger_that_was_put_aside_leaves_the_witness_alone),
                CASE(test_verify__two_do_not_prune_at_once),
                CASE(test_verify__what_was_pruned_without_a_record_is_found),
                CASE(test_verify__an_intent_without_outcome_is_unknown),
                CASE(test_verify__versions_and_fields_that_are_not_known_are_told),
                CASE(test_verify__a_proof_holds_offline_and_no_altered_one),
        };
        char path[256];
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);
        path[n > 0 ? n : 0] = '\0';
        for (int i = 0; i < 3 && strrchr(path, '/'); i++) /* BUILD/tests/unit/this */
                *strrchr(path, '/') = '\0';
        (void) setenv("CORDON_LIBEXEC", path, 0);
        (void) strncat(path, "/cordon-ledger", 20);
        if (access(path, X_OK) < 0) {
                printf("1..1\nok 1 - verification # SKIP cordon-ledger is not built: no libcrypto\n");
                return 0;
        }
        return test_main(cases, sizeof cases / sizeof *cases);
}

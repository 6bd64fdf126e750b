/* SPDX-License-Identifier: MIT */
/* run/keeper/record_inputs.c - the inputs of a run, and its output as bytes: handles, streams, and files that
 * doors show. Each input is a cause of all that follows. */
#include "base/fd.h"
#include "base/str.h"
#include "run/keeper/run_record.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
        SHOWN_MAX = 64, /* files that have a record each */
        SMALL_FILE = 64 << 10
};

static struct span map_handle(int fd)
{
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0)
                return span_of("", 0);
        void *p = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        return p == MAP_FAILED ? span_of("", 0) : span_of(p, (size_t) st.st_size);
}

/* Of a handle with a form: what passed, not what the box wrote. */
static void name_passed(const struct run *run, size_t i, struct ledger_record *r)
{
        const struct checked *c = run->checked_out && i < HANDLES_MAX ? &run->checked_out[i] : NULL;
        if (!c || !c->digest[0])
                return;

        r->digest = c->digest;
        r->bytes = c->bytes;
        ledger_more_text(r, "as", buf_str(&c->as));
        ledger_more_text(r, "cut", buf_str(&c->cut));
        ledger_more_text(r, "findings", buf_str(&c->findings));
}

static void add_handle(struct run *run, size_t i)
{
        const struct plan_handle *h = &run->c->plan->handles[i];
        struct ledger_record r = record_of(run, LEDGER_HANDLE, LEDGER_OUTCOME);
        char digest[72], door[80], id[LEDGER_ID_MAX] = "", origin[LEDGER_ID_MAX] = "";
        struct span bytes = map_handle(run->memfd[i]);
        int outside = handles_outside(run, h->name);

        record_digest_of(bytes, digest);
        (void) snprintf(door, sizeof door, "%s %s", h->out ? "out" : "in", h->name);
        r.door = door;
        r.digest = digest;
        r.bytes = (int64_t) bytes.n;
        r.writes = h->out;
        r.target = h->name;
        char labels[LABEL_TEXT_MAX];
        if (h->out)
                ledger_more_text(&r, "labels", label_text(&run->r.label, labels));
        name_passed(run, i, &r);
        if (h->out)
                record_causes(run, &r);
        else
                ledger_read_origin(outside, origin);

        if (origin[0])
                r.parents[r.parent_count++] = origin;

        record_add(run, &r, id);
        if (run->record && h->out)
                ledger_stamp_origin(outside, id);
        else if (run->record)
                record_input(run, id);

        if (bytes.n > 0)
                (void) munmap((void *) (uintptr_t) bytes.p, bytes.n);
}

void record_handles(struct run *run, bool out)
{
        for (size_t i = 0; run->record && i < run->c->plan->handle_count; i++)
                if (run->c->plan->handles[i].out == out && !run->c->plan->handles[i].calls)
                        add_handle(run, i);
}

/* Is this the file that the plan put behind the door? The box runs already, and may have had it replaced. */
static bool is_behind_door(const struct plan *p, const char *path, const struct stat *st)
{
        for (size_t i = 0; i < p->step_count; i++) {
                const struct plan_step *s = &p->steps[i];
                if ((s->kind == STEP_BIND || s->kind == STEP_EDIT || s->kind == STEP_COPY) &&
                    s->dev == st->st_dev && s->ino == st->st_ino && strcmp(s->text, path) == 0)
                        return true;
        }

        return false;
}

/* The digest of a file that is small enough to be read at a start; "" for any other. Its type is checked
 * before it is opened: opening some devices has side effects. */
static void digest_small(const struct run *run, const char *path, char ret[72])
{
        char bytes[SMALL_FILE];
        struct stat st;
        ret[0] = '\0';
        AUTO_FD(at, open(path, O_PATH | O_CLOEXEC));
        if (at < 0 || fstat(at, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > SMALL_FILE ||
            !is_behind_door(run->c->plan, path, &st))
                return;

        AUTO_FD(fd, fd_reopen(at, O_RDONLY | O_NONBLOCK));
        ssize_t n = fd < 0 ? -1 : pread(fd, bytes, sizeof bytes, 0);
        if (n == st.st_size)
                record_digest_of(span_of(bytes, (size_t) n), ret);
}

/* For a write door this also records that it was open: the box could have used it, and single uses are not
 * seen. */
static const char *told_of(const struct door *d, bool made)
{
        if (d->kind == DOOR_WRITE)
                return made ? "open, and made by another run; single uses are not observed"
                            : "open; single uses are not observed";
        return made ? "made by another run" : "shown; single reads are not observed";
}

static bool shows_file(const struct door *d)
{
        return (d->kind == DOOR_READ || d->kind == DOOR_EDIT || d->kind == DOOR_WRITE) && d->path &&
               !d->from_stock;
}

static void add_shown(struct run *run, const struct door *d, const char *origin)
{
        char id[LEDGER_ID_MAX] = "", digest[72];
        struct ledger_record r = record_of(run, LEDGER_FILE, LEDGER_CLAIM);
        digest_small(run, d->path, digest);
        r.door = policy_door_word(d->kind);
        r.target = d->path;
        r.writes = d->kind == DOOR_WRITE;
        r.result = told_of(d, origin[0]);
        r.digest = digest[0] ? digest : NULL;
        if (origin[0])
                r.parents[r.parent_count++] = origin;

        record_add(run, &r, id);
        if (run->record)
                record_input(run, id);
}

/* One record for all that have none of their own; it names the first. */
static void add_others(struct run *run, const struct door *first, unsigned count)
{
        char id[LEDGER_ID_MAX] = "";
        struct ledger_record r = record_of(run, LEDGER_FILE, LEDGER_CLAIM);
        r.door = policy_door_word(first->kind);
        r.target = first->path;
        r.result = "shown, with others";
        r.count = count;
        record_add(run, &r, id);
        if (run->record)
                record_input(run, id);
}

/* A file that a door of the caller's own shows is an input, read or not: single reads are not seen. A file
 * that another run created has that run's effect as its cause. Reads below a directory are seen with
 * --observe all only: record_read_origins(). */
void record_shown(struct run *run)
{
        size_t n;
        unsigned shown = 0, others = 0;
        const struct door *d = policy_doors(run->c->policy, &n), *first = NULL;
        for (size_t i = 0; run->record && i < n; i++) {
                char origin[LEDGER_ID_MAX] = "";
                if (!shows_file(&d[i]))
                        continue;

                ledger_path_origin(d[i].path, origin);
                if (origin[0] || d[i].kind == DOOR_WRITE || shown++ < SHOWN_MAX)
                        add_shown(run, &d[i], origin);
                else if (others++ == 0)
                        first = &d[i];
        }

        if (run->record && first)
                add_others(run, first, others);
}

/* The effect of another run that made this file, if the box may read it: the path is the payload's word. */
static bool find_origin(struct run *run, const char *path, char ret_id[LEDGER_ID_MAX])
{
        char real[PATH_MAX];
        ret_id[0] = '\0';
        AUTO_FD(at, outside_find(run, path, real, sizeof real));
        if (at < 0)
                return false;

        struct effect f = { .kind = EFFECT_READ, .target = real };
        struct decision d = policy_decide(run->c->policy, &f);
        if (d.answer != ANSWER_ALLOW || !d.door || !d.door->path || strcmp(d.door->path, real) == 0)
                return false; /* a door on the very file: record_shown() recorded it */

        ledger_path_origin(real, ret_id);
        size_t n = strlen(run->r.run);
        return ret_id[0] && !(strncmp(ret_id, run->r.run, n) == 0 && (ret_id[n] == '.' || !ret_id[n]));
}

/* Files below directory doors that the box was seen to read and other runs created. Any number of causes fits
 * into a chain of records, each of which names the one before; the last is an input of all output. */
void record_read_origins(struct run *run)
{
        enum { BATCH = LEDGER_PARENTS_MAX - 2 }; /* its start and the one before are causes as well */
        char origins[BATCH][LEDGER_ID_MAX], last[LEDGER_ID_MAX] = "";
        unsigned found = 0;
        const char *first = NULL;

        for (unsigned i = 0; run->record && i <= run->r.effect_count; i++) {
                const struct effect_row *x = i < run->r.effect_count ? &run->r.effects[i] : NULL;
                if (x &&
                    (x->effect.kind != EFFECT_READ || !find_origin(run, x->effect.target, origins[found])))
                        continue;
                first = x && found == 0 ? x->effect.target : first;
                found += x != NULL;
                if (found == 0 || (x && found < BATCH))
                        continue;
                struct ledger_record r = record_of(run, LEDGER_FILE, LEDGER_CLAIM);
                char target[PATH_MAX_BYTES];
                r.door = "read";
                r.target = str_inert(span_str(first), target, sizeof target);
                r.result = "made by another run";
                r.count = found;
                if (last[0])
                        r.parents[r.parent_count++] = last;
                for (unsigned k = 0; k < found; k++)
                        r.parents[r.parent_count++] = origins[k];
                char id[LEDGER_ID_MAX];
                record_add(run, &r, id);
                memcpy(last, id, sizeof last);
                found = 0;
        }

        if (run->record && last[0])
                record_input(run, last);
}

void record_stream(struct run *run, int stream)
{
        static const char *const doors[] = { "stdin", "stdout", "stderr" };
        struct record *c = run->record;
        char digest[72], origin[LEDGER_ID_MAX] = "";

        if (!c || c->stream[stream].bytes == 0)
                return;

        struct ledger_record r = record_of(run, stream ? LEDGER_OUTPUT : LEDGER_HANDLE, LEDGER_OUTCOME);
        record_digest(&c->stream[stream].sum, digest);
        r.door = doors[stream];
        r.name = stream ? NULL : doors[0]; /* it was named as a cause before it was known whole */
        r.bytes = (int64_t) c->stream[stream].bytes;
        r.digest = digest;
        char labels[LABEL_TEXT_MAX];
        ledger_more_text(&r, "pipe", c->pipe[stream]);
        if (stream > 0) {
                ledger_more_text(&r, "labels", label_text(&run->r.label, labels));
                const struct checked *x = &run->checked[stream - 1];
                ledger_more_text(&r, "as", buf_str(&x->as));
                ledger_more_text(&r, "cut", buf_str(&x->cut));
                ledger_more_text(&r, "findings", buf_str(&x->findings));
        }

        if (stream > 0)
                record_causes(run, &r);
        else
                ledger_read_origin(run->c->io.in, origin);

        if (origin[0])
                r.parents[r.parent_count++] = origin;

        if (stream == 1 && run->r.out.output_truncated)
                r.result = "cut at its limit";

        record_add(run, &r, NULL);
}

/* SPDX-License-Identifier: MIT */
/* box/record.c - what a run leaves in the ledger. Nothing of it is on the path of a start: the first record
 * is written when the payload already runs, the others at the end. A ledger that cannot be written stops only
 * a run that was told to require it; every other says so in its result. */
#include "base/fd.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/variable.h"
#include "box/internal.h"
#include "ledger/ledger.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
        STREAMS = 3,
        HARDWARE_FROM = 1 << 20,
        INPUTS_MAX = 6,
        SHOWN_MAX = INPUTS_MAX - 2, /* room for standard input, and for what was seen to be read */
        END_WAIT_MS = 1000,
        SETTLE_MS = 50,
        SECRET_LEAST = 8,
        SMALL_FILE = 64 << 10
};

struct record {
        struct ledger *ledger;
        struct {
                struct sha256 sum;
                uint64_t bytes;
        } stream[STREAMS];
        char pipe[STREAMS][80]; /* "DEV:INO@BOOT" when the caller's stream is a pipe */
        char start[LEDGER_ID_MAX];
        char inputs[INPUTS_MAX][LEDGER_ID_MAX];
        unsigned input_count;
        char reply[LEDGER_ID_MAX];
        bool hardware;
        bool over; /* the end is written: what is told after it is no effect of the run */
};

static void off(struct box *b, const struct err *e)
{
        (void) snprintf(b->r.ledger, sizeof b->r.ledger, "off: %.180s", e->what);
        if (b->record)
                ledger_close(b->record->ledger);
        free(b->record);
        b->record = NULL;
}

static void digest_text(struct sha256 *s, char ret[72])
{
        static const char digits[] = "0123456789abcdef";
        uint8_t d[32];
        sha256_end(s, d);
        memcpy(ret, "sha256:", 7);
        for (int i = 0; i < 32; i++) {
                ret[7 + 2 * i] = digits[d[i] >> 4];
                ret[8 + 2 * i] = digits[d[i] & 15];
        }
        ret[71] = '\0';
}

static void digest_of(struct span bytes, char ret[72])
{
        struct sha256 s;
        sha256_init(&s);
        sha256_add(&s, bytes.p, bytes.n);
        digest_text(&s, ret);
}

static struct ledger_record record_of(const struct box *b, enum ledger_kind k, enum ledger_phase p)
{
        struct ledger_record r = ledger_record_of(k, p);
        r.box = b->r.name;
        if (k != LEDGER_START) {
                r.parents[0] = b->record->start;
                r.parent_count = 1;
        }
        return r;
}

static void add(struct box *b, const struct ledger_record *r, char ret_id[LEDGER_ID_MAX])
{
        struct err e;
        if (b->record && ledger_append(b->record->ledger, r, false, ret_id, &e) < 0)
                off(b, &e);
}

static void note_input(struct record *c, const char *id)
{
        if (c->input_count < INPUTS_MAX)
                memcpy(c->inputs[c->input_count++], id, LEDGER_ID_MAX);
}

/* All that came in so far: of what servers answered the newest, which stands on those before it. */
static void caused_by_inputs(struct box *b, struct ledger_record *r)
{
        struct record *c = b->record;
        for (unsigned i = 0; c && i < c->input_count && r->parent_count < LEDGER_PARENTS_MAX; i++)
                r->parents[r->parent_count++] = c->inputs[i];
        if (!c || b->broker.after == 0 || r->parent_count == LEDGER_PARENTS_MAX)
                return;
        ledger_effect_id(b->r.run, 'r', b->broker.after, c->reply);
        r->parents[r->parent_count++] = c->reply;
}

/* ---- start ---- */

static void name_pipe(int fd, char ret[80])
{
        struct stat st;
        char boot[40] = ""; /* a pipe's number is one of this boot */
        ret[0] = '\0';
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
                return;
        (void) fd_get(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof boot);
        (void) snprintf(ret, 80, "%llx:%llu@%s", (unsigned long long) st.st_dev,
                        (unsigned long long) st.st_ino, boot);
}

static void look_at_streams(struct box *b)
{
        struct record *c = b->record;
        name_pipe(b->c.io.in, c->pipe[0]);
        name_pipe(b->c.io.out[0], c->pipe[1]);
        name_pipe(b->c.io.out[1], c->pipe[2]);
}

/* The command is named by its first word; the whole of it by digest, because arguments carry secrets. */
static void put_command(const struct box *b, struct ledger_record *r, char digest[72])
{
        struct sha256 s;
        const char **v = b->c.plan->argv;
        sha256_init(&s);
        for (; *v; v++)
                sha256_add(&s, *v, strlen(*v) + 1);
        digest_text(&s, digest);
        r->digest = digest;
        r->target = b->c.plan->argv[0];
        ledger_more_number(r, "args", v - b->c.plan->argv);
}

static int add_start(struct box *b, bool durable, struct err *e)
{
        char digest[72], layers[16];
        struct record *c = b->record;
        struct ledger_record r = record_of(b, LEDGER_START, LEDGER_BEGIN);
        r.name = "start";
        r.policy = policy_digest(b->c.policy);
        r.trace_in = b->c.trace_in;
        r.trace_out = b->c.trace_out;
        if (b->c.cause)
                r.parents[r.parent_count++] = b->c.cause;
        put_command(b, &r, digest);
        (void) snprintf(layers, sizeof layers, "%x", b->r.layers);
        ledger_more_text(&r, "layers", layers);
        ledger_more_text(&r, "wall", policy_wall_name(b->r.wall));
        ledger_more_text(&r, "stdin-pipe", c->pipe[0]);
        ledger_more_number(&r, "keeper", getpid());
        ledger_more_number(&r, "start-us", (int64_t) (b->r.start_ns / 1000));
        return ledger_append(c->ledger, &r, durable, c->start, e);
}

static struct span map_handle(int fd)
{
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0)
                return span_of("", 0);
        void *p = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        return p == MAP_FAILED ? span_of("", 0) : span_of(p, (size_t) st.st_size);
}

static int outside_of(const struct box *b, const char *name)
{
        for (unsigned i = 0; i < b->c.handle_count; i++)
                if (strcmp(b->c.handles[i].name, name) == 0)
                        return b->c.handles[i].fd;
        return -1;
}

static void add_handle(struct box *b, size_t i)
{
        const struct plan_handle *h = &b->c.plan->handles[i];
        struct ledger_record r = record_of(b, LEDGER_HANDLE, LEDGER_OUTCOME);
        char digest[72], door[80], id[LEDGER_ID_MAX] = "", origin[LEDGER_ID_MAX] = "";
        struct span bytes = map_handle(b->memfd[i]);
        int outside = outside_of(b, h->name);
        digest_of(bytes, digest);
        (void) snprintf(door, sizeof door, "%s %s", h->out ? "out" : "in", h->name);
        r.door = door;
        r.digest = digest;
        r.bytes = (int64_t) bytes.n;
        r.writes = h->out;
        r.target = h->name;
        if (h->out)
                caused_by_inputs(b, &r);
        else
                ledger_read_origin(outside, origin);
        if (origin[0])
                r.parents[r.parent_count++] = origin;
        add(b, &r, id);
        if (b->record && h->out)
                ledger_stamp_origin(outside, id);
        else if (b->record)
                note_input(b->record, id);
        if (bytes.n > 0)
                (void) munmap((void *) (uintptr_t) bytes.p, bytes.n);
}

static void add_handles(struct box *b, bool out)
{
        for (size_t i = 0; b->record && i < b->c.plan->handle_count; i++)
                if (b->c.plan->handles[i].out == out)
                        add_handle(b, i);
}

/* What a door lets pass without our seeing each time is told as such, once: the box could have. */
static void add_doors(struct box *b)
{
        size_t n;
        const struct door *d = policy_doors(b->c.policy, &n);
        for (size_t i = 0; b->record && i < n; i++) {
                if (d[i].kind != DOOR_WRITE && d[i].kind != DOOR_SOCK)
                        continue;
                bool file = d[i].kind == DOOR_WRITE;
                struct ledger_record r = record_of(b, file ? LEDGER_FILE : LEDGER_NET, LEDGER_CLAIM);
                r.door = file ? "write" : "sock";
                r.target = d[i].path;
                r.writes = true;
                r.result = "open; single uses are not observed";
                add(b, &r, NULL);
        }
}

/* A variable whose name says that it is a secret: its value is in no record of this run, should the box put
 * it into a path or a name. */
static void hide_variables(const struct box *b)
{
        for (const char **v = b->c.plan->envp; v && *v; v++) {
                const char *value = strchr(*v, '=');
                bool secret = value && variable_looks_secret(*v, (size_t) (value - *v));
                if (secret && strlen(value + 1) >= SECRET_LEAST)
                        (void) ledger_secret_add(value + 1, strlen(value + 1));
        }
}

/* Is this what the plan put behind the door? The box runs already, and may have another thing put there. */
static bool is_behind_door(const struct plan *p, const char *path, const struct stat *st)
{
        for (size_t i = 0; i < p->step_count; i++) {
                const struct plan_step *s = &p->steps[i];
                if ((s->kind == STEP_BIND || s->kind == STEP_EDIT) && s->dev == st->st_dev &&
                    s->ino == st->st_ino && strcmp(s->text, path) == 0)
                        return true;
        }
        return false;
}

/* The digest of a file that is small enough to be read at a start; "" for all else. Looked at before it is
 * opened: opening some devices does something. */
static void digest_small(const struct box *b, const char *path, char ret[72])
{
        char bytes[SMALL_FILE], name[32];
        struct stat st;
        ret[0] = '\0';
        AUTO_FD(at, open(path, O_PATH | O_CLOEXEC));
        if (at < 0 || fstat(at, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > SMALL_FILE ||
            !is_behind_door(b->c.plan, path, &st))
                return;
        (void) snprintf(name, sizeof name, "/proc/self/fd/%d", at);
        AUTO_FD(fd, open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
        ssize_t n = fd < 0 ? -1 : pread(fd, bytes, sizeof bytes, 0);
        if (n == st.st_size)
                digest_of(span_of(bytes, (size_t) n), ret);
}

/* What a door of the caller's own shows came in, whether it was looked at or not: nobody sees single reads. A
 * file that another run made has that run's effect as its cause. What is read below a directory is seen with
 * --observe all only: add_read_origins(). */
static void add_shown(struct box *b)
{
        size_t n;
        const struct door *d = policy_doors(b->c.policy, &n);
        for (size_t i = 0; b->record && i < n; i++) {
                char origin[LEDGER_ID_MAX], id[LEDGER_ID_MAX] = "", digest[72];
                bool file = d[i].kind == DOOR_READ || d[i].kind == DOOR_EDIT || d[i].kind == DOOR_WRITE;
                if (!file || !d[i].path || d[i].from_stock)
                        continue;
                struct ledger_record r = record_of(b, LEDGER_FILE, LEDGER_CLAIM);
                ledger_path_origin(d[i].path, origin);
                if (!origin[0] && b->record->input_count >= SHOWN_MAX)
                        continue;
                digest_small(b, d[i].path, digest);
                r.door = policy_door_word(d[i].kind);
                r.target = d[i].path;
                r.result = origin[0] ? "made by another run" : "shown; single reads are not observed";
                r.digest = digest[0] ? digest : NULL;
                if (origin[0])
                        r.parents[r.parent_count++] = origin;
                add(b, &r, id);
                if (b->record)
                        note_input(b->record, id);
        }
}

/* The effect of another run that made this file, if the box may read it: the path is the payload's word. */
static bool find_origin(const struct box *b, const char *path, char ret_id[LEDGER_ID_MAX])
{
        char real[PATH_MAX];
        ret_id[0] = '\0';
        if (!realpath(path, real))
                return false;
        struct effect f = { .kind = EFFECT_READ, .path = real };
        struct decision d = policy_decide(b->c.policy, &f);
        if (d.answer != ANSWER_ALLOW || !d.door || !d.door->path || strcmp(d.door->path, real) == 0)
                return false; /* a door on the very file: add_shown() told it */
        ledger_path_origin(real, ret_id);
        size_t n = strlen(b->r.run);
        return ret_id[0] && !(strncmp(ret_id, b->r.run, n) == 0 && (ret_id[n] == '.' || !ret_id[n]));
}

/* Files below directory doors that the box was seen to read and other runs made. Any number of causes fits
 * into a chain of records, each of which names the one before; the last is an input of all that comes out. */
static void add_read_origins(struct box *b)
{
        enum { BATCH = LEDGER_PARENTS_MAX - 2 }; /* its start and the one before are causes, too */
        char origins[BATCH][LEDGER_ID_MAX], last[LEDGER_ID_MAX] = "";
        unsigned found = 0;
        const char *first = NULL;
        for (unsigned i = 0; b->record && i <= b->r.effect_count; i++) {
                const struct box_effect *x = i < b->r.effect_count ? &b->r.effects[i] : NULL;
                if (x && (x->kind != TRIED_READ || !find_origin(b, x->path, origins[found])))
                        continue;
                first = x && found == 0 ? x->path : first;
                found += x != NULL;
                if (found == 0 || (x && found < BATCH))
                        continue;
                struct ledger_record r = record_of(b, LEDGER_FILE, LEDGER_CLAIM);
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
                add(b, &r, id);
                memcpy(last, id, sizeof last);
                found = 0;
        }
        if (b->record && last[0])
                note_input(b->record, last);
}

static int begin(struct box *b, bool durable, struct err *e)
{
        look_at_streams(b);
        b->record->ledger = ledger_open(b->r.run, "", e);
        if (!b->record->ledger || add_start(b, durable, e) < 0)
                return -1;
        return 0;
}

static int record_require(struct box *b, struct err *e)
{
        if (b->c.ledger != BOX_LEDGER_REQUIRE)
                return 0;
        if (begin(b, true, e) == 0)
                return 0;
        struct err why = *e;
        off(b, e);
        *e = why;
        return err_in(e, "--require-ledger");
}

/* Bytes are counted from the first on, also those that come before init's word that the payload runs. */
int record_new(struct box *b, struct err *e)
{
        if (b->c.ledger == BOX_LEDGER_OFF)
                return 0;
        b->record = calloc(1, sizeof *b->record);
        if (!b->record)
                return err_set(e, ERR_MEMORY, 0, "no memory for the ledger");
        for (int i = 0; i < STREAMS; i++)
                sha256_init(&b->record->stream[i].sum);
        return record_require(b, e);
}

void record_up(struct box *b)
{
        struct err e;
        (void) snprintf(b->r.ledger, sizeof b->r.ledger,
                        b->c.ledger == BOX_LEDGER_OFF ? "off: asked for" : "on");
        if (!b->record)
                return;
        if (!b->record->ledger && begin(b, false, &e) < 0) {
                off(b, &e);
                return;
        }
        hide_variables(b);
        add_handles(b, false);
        add_doors(b);
        add_shown(b);
        if (!b->record)
                return;
        (void) ledger_flush(b->record->ledger, 0, &e); /* busy: it goes with the next */
        ledger_wake_sealer(b->record->ledger);
}

int record_tick(struct box *b)
{
        if (!b->record || !b->record->ledger)
                return -1;
        ledger_tick(b->record->ledger);
        return ledger_waits(b->record->ledger) ? LEDGER_COMMIT_MS / 2 : -1;
}

void record_settle(struct box *b)
{
        struct err ignored;
        if (b->record && b->record->ledger)
                (void) ledger_flush(b->record->ledger, SETTLE_MS, &ignored);
}

void record_bytes(struct box *b, int stream, const void *p, size_t n)
{
        struct record *c = b->record;
        if (!c)
                return;
        if (stream == 0 && c->stream[0].bytes == 0 && n > 0) {
                char id[LEDGER_ID_MAX];
                (void) snprintf(id, sizeof id, "%s.stdin", b->r.run);
                note_input(c, id);
        }
        c->stream[stream].bytes += n;
        if (!c->hardware && c->stream[stream].bytes > HARDWARE_FROM)
                c->hardware = hash_use_hardware() || true;
        sha256_add(&c->stream[stream].sum, p, n);
}

/* ---- end ---- */

static void add_stream(struct box *b, int stream)
{
        static const char *const doors[] = { "stdin", "stdout", "stderr" };
        struct record *c = b->record;
        char digest[72], origin[LEDGER_ID_MAX] = "";
        if (!c || c->stream[stream].bytes == 0)
                return;
        struct ledger_record r = record_of(b, stream ? LEDGER_OUTPUT : LEDGER_HANDLE, LEDGER_OUTCOME);
        digest_text(&c->stream[stream].sum, digest);
        r.door = doors[stream];
        r.name = stream ? NULL : doors[0]; /* it was named as a cause before it was known whole */
        r.bytes = (int64_t) c->stream[stream].bytes;
        r.digest = digest;
        ledger_more_text(&r, "pipe", c->pipe[stream]);
        if (stream > 0)
                caused_by_inputs(b, &r);
        else
                ledger_read_origin(b->c.io.in, origin);
        if (origin[0])
                r.parents[r.parent_count++] = origin;
        if (stream == 1 && b->r.output_truncated)
                r.result = "cut at its limit";
        add(b, &r, NULL);
}

/* What kind of effect a refusal was of, by its stable word. */
static enum ledger_kind kind_of(const struct box_denial *d)
{
        if (strcmp(d->code, "read") == 0 || strcmp(d->code, "write") == 0)
                return LEDGER_FILE;
        bool net = strcmp(d->layer, "egress") == 0 || strncmp(d->what, "socket", 6) == 0;
        return net ? LEDGER_NET : LEDGER_EXEC;
}

/* When it happens, and once more at the end for as often as it happened again. */
void record_denial(struct box *b, struct box_denial *d)
{
        bool own_record = strcmp(d->code, "limit") == 0;
        if (!b->record || !b->record->ledger || b->record->over || own_record || d->count == d->recorded)
                return;
        struct ledger_record r = record_of(b, kind_of(d), LEDGER_DENIED);
        r.target = d->what;
        r.result = "denied";
        r.count = d->count - d->recorded;
        ledger_more_text(&r, "layer", d->layer);
        ledger_more_text(&r, "permit", d->permit);
        ledger_more_text(&r, "program", d->program);
        caused_by_inputs(b, &r);
        add(b, &r, NULL);
        d->recorded = d->count;
}

static void add_denials(struct box *b)
{
        for (unsigned i = 0; i < b->r.denial_count; i++)
                record_denial(b, &b->r.denials[i]);
}

/* "example.org" of "example.org:443". */
static struct span host_of(const char *to)
{
        const char *colon = strrchr(to, ':');
        return span_of(to, colon ? (size_t) (colon - to) : strlen(to));
}

/* Each destination that a net door led to, with what went there and came back. Refusals are denials above. */
static void add_destinations(struct box *b)
{
        for (unsigned i = 0; b->record && i < b->r.net_count; i++) {
                const struct egress_row *n = &b->r.net[i];
                uint32_t count = n->requests ? n->requests : n->connections;
                if (!n->allowed || (n->told > 0 && n->told >= count))
                        continue; /* those with consequences have records of their own */
                struct ledger_record r =
                        record_of(b, n->requests ? LEDGER_REQUEST : LEDGER_NET, LEDGER_OUTCOME);
                r.target = n->to;
                r.result = n->why[0] ? n->why : "done";
                r.reach = egress_reaches(host_of(n->to), n->reach);
                r.bytes = (int64_t) (n->sent + n->received - n->told_bytes);
                r.count = count - n->told;
                ledger_more_text(&r, "address", n->address);
                ledger_more_text(&r, "seen", egress_seen_name(n->seen));
                ledger_more_number(&r, "sent", (int64_t) n->sent);
                ledger_more_number(&r, "received", (int64_t) n->received);
                caused_by_inputs(b, &r);
                add(b, &r, NULL);
        }
}

static void add_limits(struct box *b)
{
        for (unsigned k = 0; b->record && k < LIMIT_KEY__COUNT; k++) {
                if (!(b->r.limits_hit & (1u << k)))
                        continue;
                struct ledger_record r = record_of(b, LEDGER_LIMIT, LEDGER_OUTCOME);
                r.target = policy_limit_name(k);
                r.result = b->r.end == BOX_LIMIT && b->r.limit == k ? "ended the run" : "reached";
                add(b, &r, NULL);
        }
}

static enum ledger_kind kind_of_door(enum door_kind k) { return k == DOOR_RUN ? LEDGER_EXEC : LEDGER_FILE; }

/* How many paths were seen written behind a write door. */
static int64_t written_behind(const struct box *b, const struct door *d)
{
        int64_t paths = 0;
        for (unsigned i = 0; d->kind == DOOR_WRITE && i < b->r.effect_count; i++)
                paths += b->r.effects[i].kind == TRIED_WRITE && path_under(b->r.effects[i].path, d->path);
        return paths;
}

static void add_door(struct box *b, const struct door *d, int64_t written)
{
        AUTO_BUF(line);
        policy_door_line(d, &line);
        struct ledger_record r = record_of(b, kind_of_door(d->kind), LEDGER_OUTCOME);
        r.target = d->path;
        r.result = "door used";
        if (written) {
                r.door = "write";
                r.writes = true;
                r.count = written;
                caused_by_inputs(b, &r);
        }
        ledger_more_text(&r, "line", buf_str(&line));
        add(b, &r, NULL);
}

/* Each door for files and programs that was seen to be used; without --observe all nobody looks. True: all
 * was seen, so the other doors were not used, and the end of the run says that it can be known. */
static bool add_used(struct box *b)
{
        size_t n;
        const struct door *d = policy_doors(b->c.policy, &n);
        bool *used = b->record ? keeper_doors_used(b) : NULL, known = used != NULL;
        for (size_t i = 0; b->record && i < n; i++) {
                int64_t written = written_behind(b, &d[i]);
                if (written || (used && used[i]))
                        add_door(b, &d[i], written);
        }
        free(used);
        return known;
}

static void add_end(struct box *b, bool observed)
{
        static const char *const ends[] = {
                "running", "failed", "not started", "exited", "signaled", "limit"
        };
        if (!b->record)
                return;
        char result[64];
        struct ledger_record r = record_of(b, LEDGER_END, LEDGER_OVER);
        r.name = "end";
        (void) snprintf(result, sizeof result, "%s %d", ends[b->r.end], b->r.code);
        if (b->r.end == BOX_LIMIT)
                (void) snprintf(result, sizeof result, "limit %s", policy_limit_name(b->r.limit));
        r.result = result;
        r.bytes = (int64_t) b->r.output_bytes;
        ledger_more_number(&r, "cpu-us", (int64_t) (b->r.cpu_ns / 1000));
        ledger_more_number(&r, "memory", (int64_t) b->r.memory_peak);
        ledger_more_number(&r, "wall-us", (int64_t) (b->r.wall_ns / 1000));
        ledger_more_number(&r, "denials-lost", b->r.denials_lost);
        if (observed)
                ledger_more_text(&r, "observed", "all");
        if (b->r.error.what[0])
                ledger_more_text(&r, "error", b->r.error.what);
        caused_by_inputs(b, &r);
        add(b, &r, NULL);
}

void record_finish(struct box *b)
{
        struct err e;
        if (!b->up && b->record && !b->record->ledger)
                record_up(b); /* a program that could not be started is told too */
        add_stream(b, 0);
        add_read_origins(b);
        add_stream(b, 1);
        add_stream(b, 2);
        if (b->r.end == BOX_EXITED && b->r.code == 0)
                add_handles(b, true);
        add_destinations(b);
        add_denials(b);
        add_limits(b);
        add_end(b, add_used(b));
        if (!b->record)
                return;
        b->record->over = true;
        if (ledger_flush(b->record->ledger, END_WAIT_MS, &e) < 0)
                off(b, &e);
        else
                ledger_wake_sealer(b->record->ledger);
}

void record_free(struct box *b)
{
        if (b->record && b->record->ledger)
                ledger_close(b->record->ledger);
        free(b->record);
        b->record = NULL;
}

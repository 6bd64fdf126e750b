/* SPDX-License-Identifier: MIT */
/* ledger/internal.h - shared by the ledger's files: frames, segments, places. */
#pragma once
#include "base/base64.h"
#include "base/hash.h"
#include "ledger/ledger.h"

#include <sys/types.h>

/* How long a sealer lingers after the newest write. */
enum { SEAL_LINGER_MS = 2000 };

/* crc.c */
uint32_t crc32c(uint32_t crc, const void *p, size_t n);

/* frame.c. A frame: u32 length, u32 CRC-32C of the length and the payload, payload; little-endian. The top
 * bit of the length marks a pruned payload, replaced by its leaf hash. */
enum { FRAME_HEAD = 8, SEGMENT_HEAD = 40 };
#define FRAME_PRUNED 0x80000000u
#define SEGMENT_MAX  (64u << 20)

enum frame_state {
        FRAME_END = 0, /* no bytes are left */
        FRAME_WHOLE,
        FRAME_TORN, /* incomplete: the bytes end before it does */
        FRAME_BAD,  /* its length or its checksum is wrong */
};
struct frame {
        struct span payload;
        size_t size; /* including its head */
        bool pruned;
};
enum frame_state frame_next(struct span rest, struct frame *ret);
void frame_head(uint8_t head[FRAME_HEAD], const void *payload, size_t n, bool pruned);
/* True if these bytes contain a whole frame: then they are not a torn tail. */
bool frame_anywhere(struct span rest);
void frame_leaf(const struct frame *f, uint8_t ret[LEDGER_HASH]);

/* "cordonL1", u32 number, u32 0, u64 index of its first record, u64 clock before it, u32 0, u32 CRC-32C. */
struct segment_head {
        uint32_t seq;
        uint64_t first, clock;
};
void segment_head_put(uint8_t bytes[SEGMENT_HEAD], const struct segment_head *h);
int segment_head_get(struct span bytes, struct segment_head *ret);
void segment_name(uint32_t seq, char ret[16]);
void segment_path(uint32_t seq, char ret[32]); /* relative to the ledger's directory */

void put_u32(uint8_t *p, uint32_t v);
void put_u64(uint8_t *p, uint64_t v);
uint32_t get_u32(const uint8_t *p);
uint64_t get_u64(const uint8_t *p);

/* record_json.c: the JSON of a record before and after the digits of the clock. */
struct record_stamp {
        const char *id, *run;
        int64_t time_us, mono_us;
};
int record_encode(const struct ledger_record *r, const struct record_stamp *s, struct buf *ret_front,
                  struct buf *ret_back, struct err *e);

/* ledger_place.c: the contents of the ledger's directory. */
/* The greatest segment number; 0: none; -1: cannot be read. */
int64_t ledger_last_segment(int dir);
/* Returns 0, or -1 if a later version wrote it. */
int ledger_dir_check(int dir, struct err *e);
void ledger_boot_id(char ret[40]);
/* The size in the last checkpoint; 0: none. Returns -1 with errno if it cannot be read. */
int ledger_sealed_size(int dir, uint64_t *ret);

/* segment_read.c: copies a file that others may truncate into memory: a span from its beginning, in which
 * the bytes before `from` are not filled in. Free it with munmap(). */
int ledger_copy(int fd, size_t from, struct span *ret);
/* Scans every frame from the first segment on. `each` returns 0 to go on. */
enum scan_end {
        SCAN_WHOLE = 0, /* no bytes follow the last frame */
        SCAN_STOPPED,   /* `each` stopped it */
        SCAN_TORN,      /* a torn frame at the very end: a writer is at work, or was killed */
        SCAN_BAD,       /* a frame is damaged */
        SCAN_HEAD,      /* a segment's head is damaged, or does not follow the one before */
        SCAN_UNREADABLE,
};
struct scan_place {
        uint32_t seq;
        uint64_t index, offset; /* of the frame in its segment */
};
typedef int scan_each(void *ctx, const struct scan_place *at, const struct frame *f);
/* Starts at `from`, which must have the index and offset of a frame (or all zero: the beginning); stores the
 * end there. */
enum scan_end ledger_scan(int dir, struct scan_place *from, scan_each *each, void *ctx);

/* Maps a segment. Copies the last one, which a writer may still truncate. */
int segment_map(int dir, uint32_t seq, bool last, size_t from, struct span *ret);
void segment_unmap(struct span all);

/* pruned_set.c: the digest of the indexes of pruned records, ascending, 8 bytes each, little-endian. */
enum { LEDGER_DIGEST = 72 };
struct pruned {
        struct sha256 sum;
        uint64_t count;
};
void pruned_init(struct pruned *p);
void pruned_add(struct pruned *p, uint64_t index);
void pruned_digest(const struct pruned *p, char ret[LEDGER_DIGEST]);

/* answered.c: which intents have an outcome; computed on first use. `index` is the intent's own: its outcome
 * comes later. */
struct answered;
struct answered *answered_new(void);
void answered_free(struct answered *a);
bool answered_has(struct answered *a, const struct ledger_log *l, uint64_t index, struct span intent);
/* True if the record is an outcome that names its intent as a parent. */
bool answers_intent(const struct ledger_view *v);
/* True for the outcome of an effect that was denied, or that ended before any byte left; a connection for
 * bytes has reached its peer by itself. */
bool came_to_nothing(const struct ledger_view *v);
/* True for a record that sums leave out: another record counts the same. */
bool counted_elsewhere(const struct ledger_view *v);

/* export_parts.c, for export.c and a file for each further format. */
struct export
{
        const struct ledger_log *log;
        const struct ledger_filter *filter;
        void (*put)(void *ctx, const char *text, size_t len);
        void *ctx;
        uint64_t count;
        bool first;
        bool failed; /* out of memory for all of it */
};
void export_emit(struct export *x, const struct buf *b);
static inline struct ledger_walk export_walk(const struct export *x)
{
        return (struct ledger_walk){ .log = x->log, .at = x->filter->from, .filter = x->filter };
}
void export_each(struct export *x, void (*one)(struct export *x, const struct ledger_view *v));
void export_raw(struct buf *b, struct span s);
/* A member of a list of OTLP attributes; a comma precedes all but the first. */
void export_attribute(struct buf *b, const char *key, struct span value);
void export_traces(struct export *x);  /* export_traces.c */
void export_alerts(struct export *x);  /* export_alerts.c */
void export_metrics(struct export *x); /* export_metrics.c */

/* record_text.c: text of a record, made safe for a terminal and truncated to `cap`. Returns ret. */
const char *text_inert(struct span escaped, char *ret, size_t cap);
void text_put(struct buf *out, struct span escaped, size_t most);
/* Date and time in UTC with a separator; "" if out of range. Returns ret. */
enum { TEXT_TIME = 40 };
const char *text_time(int64_t us, char between, char ret[TEXT_TIME]);
/* The problems of a record, in brackets. */
void text_marks(struct buf *out, const struct ledger_view *v);
const char *text_no_end(bool runs);                  /* of a run without a record of its end */
int filter_by_bytes(const void *pa, const void *pb); /* record_filter.c: compares two spans */

/* table_hash.c: hash of a text, keyed per process. */
uint64_t ledger_hash(struct span s);

/* log_records.c: records by index. For several ledgers (merge.c), `at` is in the merged order, and the other
 * lists give the origin of each record. */
enum { RECORD_LOST_CAUSE = 1, RECORD_IN_CIRCLE = 2 };
struct log_segment {
        struct span bytes;
        uint64_t first; /* index of its first record */
        bool walked;    /* its records are in `at` */
};
struct ledger_log {
        struct log_segment *segments;
        size_t segment_count;
        struct span *at; /* by index, see log_bytes(); NULL bytes: pruned, or an unknown record */
        uint64_t count;
        struct answered *answered;
        bool (*hidden)(const struct ledger_view *v); /* records that its reader is not told of; or NULL */
        unsigned ledgers;                            /* 0: one ledger, and the following fields are unused */
        char names[LEDGERS_MAX][LEDGER_NAME_MAX];
        uint8_t *from;             /* which ledger */
        uint32_t *own_index;       /* in it */
        uint8_t *marks;            /* RECORD_* */
        struct ledger_edge *edges; /* the causes that the order respects */
        size_t edge_count;
};
/* log_bytes.c. Maps segments 1 to `last`. Returns 0, or -1 if out of memory. */
int log_map(struct ledger_log *l, int dir, uint32_t last);
/* Returns the bytes of a record, or an empty span. */
struct span log_bytes(const struct ledger_log *l, uint64_t index);
void log_load_all(const struct ledger_log *l);
/* From the first record of the run on. */
struct ledger_walk log_walk_run(const struct ledger_log *l, const char *run);
/* A run as its reports begin. */
struct log_run {
        struct ledger_walk first;
        struct ledger_view start, end; /* json.n is 0 if it is missing */
        int64_t begin_us, end_us;      /* of its first and last records */
        bool has_gap, runs;            /* payloads were pruned; a keeper answers for it */
};
void log_run_gather(const struct ledger_log *l, const char *run, bool runs, struct log_run *ret);
/* html_story.c: text of a record as HTML shows it; the picture of a run. */
void html_text(struct buf *out, struct span escaped, size_t most);
void html_story(const struct log_run *of, struct buf *out);
static inline unsigned log_from(const struct ledger_log *l, uint64_t index)
{
        return l->from ? l->from[index] : 0;
}

/* many_ledgers.c: opens a state directory (as CORDON_STATE names it), or the ledger itself. */
int ledger_open_dir(const char *path, struct err *e);

/* ledger_keys.c: asks cordon-ledger about these notes, see main.c. */
int ledger_keys_ask(const struct cordon_context *cx, struct span keys, struct span notes,
                    struct buf *ret_answer, struct err *e);
/* The same about a note, by the keys of the ledger in `dir`: the answer begins with its verdict. */
int ledger_keys_judge(const struct cordon_context *cx, int dir, struct span note, struct buf *ret_keys,
                      struct buf *ret_answer, struct err *e);

/* ---- verification (verify.c, verify_host.c, tenant_heads.c) ---- */

struct ledger_given {
        const char *notes, *name; /* checkpoints that were kept elsewhere, and what findings call them */
};
/* The first finding of such a report, inert. */
void ledger_first_finding(const struct buf *report, char *ret, size_t cap);

/* The heads that a host's ledger has of its tenants' ledgers. */
struct ledger_tenant {
        char name[LEDGER_NAME_MAX], state[1200];
        struct buf notes;
        uint64_t heads, size; /* size: records under the newest */
        bool fits;
};
typedef void ledger_find(void *ctx, const char *text);
struct ledger_heads {
        struct ledger_tenant *v;
        size_t n;
        /* Sets `fits` of each; `find` gets what is wrong. */
        void (*check)(const struct cordon_context *cx, struct ledger_heads *h, ledger_find *find, void *ctx);
};
/* ledger_verify(), with the name of what was given, and with heads of tenants; NULL: they are not looked at.
 */
int ledger_verify_with(const struct cordon_context *cx, int dir, const struct ledger_given *given,
                       struct ledger_heads *heads, bool json, struct buf *out, bool *ret_ok, struct err *e);
/* Returns -1 without memory. */
int ledger_heads_add(struct ledger_heads *h, const struct ledger_view *head);
void ledger_heads_put(const struct ledger_heads *h, bool json, struct buf *out); /* h may be NULL */
void ledger_heads_done(struct ledger_heads *h);
/* The same of a ledger that may be foreign; verified. Returns its directory. */
enum { LEDGER_NAME_PART = LEDGER_NAME_MAX - 10 };
struct ledger_opened {
        char name[LEDGER_NAME_PART]; /* of its key */
        char key[10];                /* "+" and the key's hash */
};
int ledger_open_foreign(const struct cordon_context *cx, const char *path, struct ledger_opened *ret,
                        struct err *e);
/* The name of the i-th of several; with the key's hash if others have the same name. */
void ledger_name_unique(const struct ledger_opened *o, size_t count, size_t i, char ret[LEDGER_NAME_MAX]);

/* causal_order.c: orders the log of several ledgers; pure. Causes first (all except LINK_BYTES); then,
 * unless they contradict it, `bytes` and the order in which each ledger was written; then the logical clock
 * (or, `by_time`, the wall clock before it), the ledger and the index in it. ret_order[n] is the n-th
 * record. Records in a cycle of causes are marked in ret_circle, and are ordered as if the cycle did not
 * exist. */
struct ordering {
        const struct ledger_log *log;
        const struct ledger_edge *edges;
        size_t edge_count;
        bool bytes, by_time;
};
int ledger_order(const struct ordering *o, uint32_t *ret_order, uint8_t *ret_circle, struct err *e);

/* graph.c: the next cause, from the *n-th on, that this record names and no ledger here contains; empty:
 * none. */
struct span graph_lost_cause(const struct ledger_graph *g, const struct ledger_view *v, unsigned *n);

/* trace.c: ledger_trace() as text, in an existing graph. */
int ledger_trace_in(const struct ledger_log *l, const struct ledger_graph *g, const char *effect,
                    unsigned ways, struct buf *out, struct err *e);

/* tiles.c */
struct tiles {
        int dir; /* STATE/ledger/tiles */
        int fd[8];
};
int tiles_open(int ledger_dir, bool write, struct tiles *ret, struct err *e);
void tiles_close(struct tiles *t);
ledger_tile_reader tiles_read;
/* Adds the hash of leaf `index`, and the hashes of the tiles that it completes. */
int tiles_add(struct tiles *t, uint64_t index, const uint8_t leaf[LEDGER_HASH], struct err *e);
/* Truncates the tiles to `size` leaves. */
int tiles_cut(struct tiles *t, uint64_t size, struct err *e);
int tiles_flush(struct tiles *t, struct err *e);
/* The right edge of the tree of `size` leaves. */
int tiles_edge(struct tiles *t, uint64_t size, struct ledger_tree *ret);

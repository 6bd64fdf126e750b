/* SPDX-License-Identifier: MIT */
/* ledger/ledger.h - the record of what crossed the boundary: append-only, tamper-evident, and traceable from
 * an effect to its causes and consequences.
 *
 *     STATE/ledger/segments/NNNNNNNN.seg  frames: length, CRC-32C, canonical JSON (frame.c)
 *     STATE/ledger/head                   where the last frame ends; its lock is the writers' lock (append.c)
 *     STATE/ledger/tiles/L                hashes of the RFC 6962 tree, level L, 256 to a tile (tiles.c)
 *     STATE/ledger/checkpoints            signed notes, one after the other (signed_note.c)
 *     STATE/ledger/key, key.pub           Ed25519, made by the sealer on first use (sign.c)
 *
 * Writers append by themselves; `cordon-ledger`, the sealer, maintains the tiles and signs.
 */
#pragma once
#include "base/buf.h"
#include "base/child.h"
#include "base/context/context.h"
#include "base/err.h"
#include "base/span.h"

#include <sys/types.h>

enum {
        LEDGER_HASH = 32,
        LEDGER_RECORD_VERSION = 1,
        LEDGER_RECORD_MAX = 16384, /* bytes of one record */
        LEDGER_PARENTS_MAX = 8,
        LEDGER_MORE_MAX = 16,
        LEDGER_ID_MAX = 64, /* with its NUL */
        LEDGER_TRACE_MAX = 56,
        LEDGERS_MAX = 16, /* ledgers read at once */
        LEDGER_NAME_MAX = 80,
        LEDGER_HOST_MAX = 200,
};

/* ---- records (record_json.c, record_secrets.c): pure except for the registry of secrets ---- */

enum ledger_kind {
        LEDGER_NO_KIND = 0,
        LEDGER_FILE,
        LEDGER_EXEC,
        LEDGER_NET,
        LEDGER_REQUEST,
        LEDGER_CREDENTIAL,
        LEDGER_HANDLE,
        LEDGER_OUTPUT,
        LEDGER_LIMIT,
        LEDGER_START,
        LEDGER_END,
        LEDGER_VIEW,
        LEDGER_REPLY, /* a later reaction, attached by its token */
        LEDGER_KEY,   /* the ledger's own key changed */
        LEDGER_PRUNE, /* payloads were removed */
        LEDGER_GAP,   /* bytes were lost in a crash */
        LEDGER_GATE,  /* an effect that a person approves or denies: one record for each state */
        LEDGER_TOOL,  /* a call of a tool of a server in a box, and its result */
        LEDGER_AUDIT, /* what `cordon selftest audit` found, or the digest of signed claims */
        LEDGER_HEAD,  /* the newest checkpoint of a tenant's ledger, kept in the host's */
        LEDGER_KIND__COUNT
};
enum ledger_phase {
        LEDGER_NO_PHASE = 0,
        LEDGER_INTENT,
        LEDGER_OUTCOME,
        LEDGER_DENIED,
        LEDGER_CREDENTIALED,
        LEDGER_HUMAN,
        LEDGER_BEGIN,
        LEDGER_OVER,
        LEDGER_CLAIM,
        LEDGER_PHASE__COUNT
};
enum ledger_reach {
        LEDGER_REACH_SELF = 0,
        LEDGER_REACH_TENANT,
        LEDGER_REACH_NAMED,
        LEDGER_REACH_PUBLIC,
        LEDGER_REACH__COUNT
};
enum ledger_touch {
        LEDGER_TOUCH_QUOTA = 0,
        LEDGER_TOUCH_MONEY,
        LEDGER_TOUCH_TICKET,
        LEDGER_TOUCH_PERSON,
        LEDGER_TOUCH__COUNT
};
enum ledger_stage { LEDGER_STAGE_NONE = 0, LEDGER_LIVE, LEDGER_TEST, LEDGER_MOCK, LEDGER_STAGE__COUNT };

struct ledger_more {
        const char *key;
        const char *text; /* NULL: the number */
        int64_t number;
};

/* The fields that a writer sets. Pointers are borrowed for the call; NULL and negative numbers are omitted.
 * The ledger itself adds v, id, run, time, mono and clock. */
struct ledger_record {
        enum ledger_kind kind;
        enum ledger_phase phase;
        enum ledger_reach reach;
        enum ledger_stage stage;
        bool writes;     /* changes something at the target */
        uint8_t touches; /* a bit for each enum ledger_touch: what else it affects, according to the policy */
        const char *name; /* the end of its id: RUN.name; NULL: the next number */
        const char *box, *door, *policy, *target, *result, *digest;
        const char *trace_in, *trace_out;
        int64_t bytes, cost, count;
        const char *parents[LEDGER_PARENTS_MAX]; /* ids */
        unsigned parent_count;
        struct ledger_more more[LEDGER_MORE_MAX];
        unsigned more_count;
        uint64_t clock_seen; /* a logical clock that came with a cause from another host */
};
static inline struct ledger_record ledger_record_of(enum ledger_kind kind, enum ledger_phase phase)
{
        return (struct ledger_record){ .kind = kind, .phase = phase, .bytes = -1, .cost = -1, .count = -1 };
}

const char *ledger_phase_name(enum ledger_phase p);
const char *ledger_reach_name(enum ledger_reach r);
/* Adds a pair to `more`; omits it if it does not fit. */
void ledger_more_text(struct ledger_record *r, const char *key, const char *text);
void ledger_more_number(struct ledger_record *r, const char *key, int64_t number);

/* Whether the intent must be durable before the effect leaves: with a credential, for a live write, with
 * reach beyond the box itself, or if it touches something. */
bool ledger_consequential(const struct ledger_record *r);

/* A parsed record: spans of its own bytes, strings with their JSON escapes. Fields of later versions are
 * ignored. */
struct ledger_view {
        struct span json;
        struct span id, run, box, kind, phase, door, policy, target, reach, stage, result, digest;
        struct span trace, parents, more, touches; /* JSON values */
        int64_t v, time_us, mono_us, clock, bytes, cost, count;
        bool unknown; /* ledger_log_view(): an intent without an outcome */
        /* ledger_log_view(), of several ledgers: which one; a cause that none of them contains; causes in a
         * cycle */
        struct span ledger;
        bool lost_cause, in_circle;
        unsigned strange; /* fields unknown to this version */
};
/* Returns 0, or -1 if these bytes are not a canonical record. */
int ledger_view_parse(struct span json, struct ledger_view *ret);
/* A member of an object value ("trace", "more"): its raw value without quotes, or an empty span. */
struct span ledger_member(struct span object, const char *key);
/* The n-th string of an array value; an empty span after the last. */
struct span ledger_element(struct span array, unsigned n);
/* Decodes JSON escapes; truncates to cap. Returns buf. */
char *ledger_plain(struct span escaped, char *buf, size_t cap);

/* ---- appending (append.c) ---- */

struct ledger;
/* Opens the ledger of this user, and creates it if missing. `run` and `source` make the ids: RUN.1, RUN.e1
 * for source "e". */
struct ledger *ledger_open(const struct cordon_context *cx, const char *run, const char *source,
                           struct err *e);
struct ledger *ledger_open_at(int dir, const char *run, const char *source, struct err *e);
/* From here on no record contains these bytes, plain or encoded: the field is replaced. Kept in memory only.
 * Returns 0, or -1 if it is shorter than 6 bytes, or too long. */
int ledger_secret_add(struct ledger *l, const void *p, size_t n);
/* Adds a record. Durable: when this returns 0, it is on the disk and the effect may leave; -1 on error with
 * *e set: it may not. Otherwise it is buffered and written with others within LEDGER_COMMIT_MS, never
 * waiting for another writer. ret_id may be NULL. */
enum { LEDGER_COMMIT_MS = 10 };
int ledger_append(struct ledger *l, const struct ledger_record *r, bool durable, char ret_id[LEDGER_ID_MAX],
                  struct err *e);
/* Several at once: when ledger_commit() returns 0, all records since ledger_mark() are on the disk; -1: they
 * are dropped, and none of their effects may leave. ledger_unsure(): they may yet be found in the ledger.
 * ledger_forget(): one of several could not be buffered, so none of them is written. */
size_t ledger_mark(const struct ledger *l);
void ledger_forget(struct ledger *l, size_t mark);
int ledger_commit(struct ledger *l, size_t mark, struct err *e);
bool ledger_unsure(const struct ledger *l);
/* Writes the buffer, if it is old enough and no other writer holds the lock. */
void ledger_tick(struct ledger *l);
/* True if the buffer is not empty. */
bool ledger_waits(const struct ledger *l);
/* Writes the buffer, waiting for other writers up to wait_ms. Returns 0 or -1. */
int ledger_flush(struct ledger *l, unsigned wait_ms, struct err *e);
/* Flushes, closes. */
void ledger_close(struct ledger *l);
/* Closes and drops the buffer: another process will record it. */
void ledger_give_up(struct ledger *l);
/* After a write: starts the sealer in the background if none is running (wake.c). Returns at once. */
void ledger_wake_sealer(struct ledger *l);
/* Marks a file with the effect that made it, as a parent for its later readers. Best effort. */
void ledger_stamp_origin(int fd, const char *id);
/* The effect that made this file, or "". */
void ledger_read_origin(int fd, char ret_id[LEDGER_ID_MAX]);
void ledger_path_origin(const char *path, char ret_id[LEDGER_ID_MAX]); /* "" for a symlink */

/* ---- write-ahead for external effects (writer_start.c, writer.c) ----
 *
 * A run's broker has no files: before an effect with consequences leaves, it asks `cordon-ledger write`, a
 * separate process, so that a slow disk delays only the effect that waits for it. Messages of fixed size,
 * see base/wire/wire.h. Effect 7 has the intent RUN.q7, the use of a credential RUN.c7, the outcome (the
 * reply) RUN.r7.
 */
enum { LEDGER_LINE = 3, LEDGER_CAUSES_LINE }; /* the writer's ends of two socket pairs, at its start */
/* How an effect ended. Anything but done is in the outcome's field `end`. */
enum ledger_end {
        LEDGER_END_DONE = 0,
        LEDGER_END_CUT,     /* in its middle, by either side or by cordon */
        LEDGER_END_FAILED,  /* the peer was not reached, or the reply broke off */
        LEDGER_END_REFUSED, /* by cordon, and nothing of it left */
        LEDGER_END__COUNT
};
const char *ledger_end_name(enum ledger_end e);

struct wire_form;
struct ledger_ask {
        uint32_t number; /* from 1 on, increasing */
        uint32_t after;  /* intent: the newest effect of this run that had its outcome; 0: none */
        /* Outcome of a connection covered by this earlier intent, like all to its destination in this run;
         * then `number` counts such outcomes. 0: of its own intent. */
        uint32_t under;
        uint8_t outcome; /* 0: an intent, whose effect waits for the answer */
        uint8_t kind, reach, stage;
        uint8_t writes, touches;
        uint8_t end;     /* outcome: enum ledger_end */
        uint32_t status; /* outcome: the server's status; 0: none */
        uint64_t sent, received;
        char target[320], door[320], credential[64], result[128], address[48];
        char labels[320]; /* of the run when it left */
        char seen[16];    /* outcome: how much of it was inspected; "": nothing passed */
};
/* From the keeper, over the other line: what every intent from here on is caused by, besides its start and
 * the last reply. It replaces what was sent before. */
enum { LEDGER_CAUSES_MAX = LEDGER_PARENTS_MAX - 3, LEDGER_CAUSES_TEXT = LEDGER_CAUSES_MAX * LEDGER_ID_MAX };
struct ledger_causes {
        char ids[LEDGER_CAUSES_TEXT]; /* separated by spaces */
};
struct ledger_answer {
        uint32_t number; /* 0: every waiting and future effect */
        uint32_t leave;  /* 0: denied */
        char why[200];
};
extern const struct wire_form ledger_ask_form, ledger_answer_form, ledger_causes_form; /* ask_form.c */
void ledger_effect_id(const char *run, char what, uint32_t number, char ret_id[LEDGER_ID_MAX]);
/* Starts the writer on its ends of the lines of the broker and of the keeper; CHILD_NONE on failure. */
struct child ledger_writer_start(const struct cordon_context *cx, const char *run, const char *box,
                                 const int line[2], struct err *e);

/* ---- the tree (merkle.c), RFC 6962: pure ---- */

void ledger_leaf_hash(struct span payload, uint8_t ret[LEDGER_HASH]);
void ledger_node_hash(const uint8_t left[LEDGER_HASH], const uint8_t right[LEDGER_HASH],
                      uint8_t ret[LEDGER_HASH]);
struct ledger_tree { /* the right edge of a tree: enough to extend it and to compute its root */
        uint64_t size;
        uint8_t edge[64][LEDGER_HASH];
};
void ledger_tree_add(struct ledger_tree *t, const uint8_t leaf[LEDGER_HASH]);
void ledger_tree_root(const struct ledger_tree *t, uint8_t ret[LEDGER_HASH]);

/* Reads the hash of the whole subtree of 2^(8*level) leaves with this index. Returns 0 or -1. */
typedef int ledger_tile_reader(void *ctx, unsigned level, uint64_t index, uint8_t ret[LEDGER_HASH]);
struct ledger_proof {
        unsigned count;
        uint8_t hash[64][LEDGER_HASH];
};
int ledger_range_hash(ledger_tile_reader *read, void *ctx, uint64_t begin, uint64_t end,
                      uint8_t ret[LEDGER_HASH]);
int ledger_prove_inclusion(ledger_tile_reader *read, void *ctx, uint64_t index, uint64_t size,
                           struct ledger_proof *ret);
bool ledger_check_inclusion(const uint8_t leaf[LEDGER_HASH], uint64_t index, uint64_t size,
                            const struct ledger_proof *p, const uint8_t root[LEDGER_HASH]);

/* ---- notes (signed_note.c): C2SP signed notes, pure ---- */

#define LEDGER_NEXT_KEY "next-key " /* begins the line of a rotation */
struct ledger_note {
        struct span whole; /* text, empty line, signature lines */
        struct span text;  /* the signed text, with its last newline */
        struct span origin;
        uint64_t size;
        uint8_t root[LEDGER_HASH];
        struct span next;       /* the key that signs from here on; empty: no rotation */
        struct span signatures; /* the lines */
};
/* Parses the first checkpoint in `text`; *ret_rest is what follows. Returns 1; 0 at the end; -1 if it is not
 * a note. */
int ledger_note_next(struct span text, struct ledger_note *ret, struct span *ret_rest);
/* Takes the next line without its newline; false if no complete line is left. */
bool ledger_note_line(struct span *rest, struct span *ret);

/* "00-TRACE-SPAN-01": a new span in the trace of `in`, or in a new trace if `in` is NULL or not a
 * traceparent. */
void ledger_trace_child(const char *in, char ret[LEDGER_TRACE_MAX]);
bool ledger_trace_valid(const char *text);

/* ---- reading (segment_read.c) ---- */

struct ledger_log;
/* Opens every readable record; ledger_verify() reports the others. `dir`: the ledger's directory. */
struct ledger_log *ledger_log_open(int dir, struct err *e);
void ledger_log_free(struct ledger_log *l);
uint64_t ledger_log_count(const struct ledger_log *l);
/* Returns 0, or -1 if it was pruned or this version cannot read it. */
int ledger_log_view(const struct ledger_log *l, uint64_t index, struct ledger_view *ret);
/* Walks over its records, forward from the one at `at` or backward from the one before it. */
struct ledger_walk {
        const struct ledger_log *log;
        uint64_t at;
        const char *run, *kind;             /* of this run, of this kind; NULL: any */
        const struct ledger_filter *filter; /* NULL: none */
};
bool ledger_next(struct ledger_walk *w, struct ledger_view *ret);
bool ledger_prev(struct ledger_walk *w, struct ledger_view *ret);
/* From here on every reader of it takes such records for pruned. */
void ledger_log_hide(struct ledger_log *l, bool (*hidden)(const struct ledger_view *v));

/* Merges several logs (merge.c): causes precede their effects, within a ledger and between them; then by
 * logical clock, wall clock, ledger and index: the same order for any order of arguments. `names` must be
 * distinct. Takes ownership of the logs, even on failure. Pure. */
struct ledger_log *ledger_log_merge(struct ledger_log **logs, const char *const *names, size_t count,
                                    struct err *e);
/* The same for directories (many_ledgers.c), states or the ledgers in them: verifies each first, and names
 * it by its key. */
struct ledger_log *ledger_log_several(const struct cordon_context *cx, const char *const *paths, size_t count,
                                      struct err *e);
/* Merges any number of records of up to LEDGERS_MERGED_MAX ledgers in bounded memory (stream_merge.c). Each
 * ledger is verified first. Calls `each` with every record: causes that records name, also by a trace
 * context, precede their effects; then by wall clock, ledger and index. `place` is a directory on a disk for
 * temporary files. */
enum { LEDGERS_MERGED_MAX = 1000 };
struct ledger_merged {
        uint64_t ledgers, records;
        uint64_t across;  /* causes in another ledger than their effect */
        uint64_t lost;    /* causes that no ledger contains */
        uint64_t circles; /* records whose causes wait for them */
};
typedef int ledger_merge_each(void *ctx, const struct ledger_view *v, struct err *e);
int ledger_merge_stream(const struct cordon_context *cx, const char *const *paths, size_t count,
                        const char *place, ledger_merge_each *each, void *ctx, struct ledger_merged *ret,
                        struct err *e);
/* Holds a host's ledger against the checkpoint of it that the directory `kept` has, in a file with the host's
 * name (the last part of `path`), and keeps the newest one if it fits (kept_checkpoint.c). */
enum ledger_verdict { LEDGER_MISSING = 0, LEDGER_ROLLED_BACK, LEDGER_CHANGED, LEDGER_FITS };
struct ledger_collected {
        char host[LEDGER_HOST_MAX], ledger[LEDGER_NAME_MAX]; /* its name, by its key; "" if it does not fit */
        int kept;
        enum ledger_verdict verdict;
        uint64_t records, added; /* sealed; and since the last time */
        char why[300];
};
int ledger_collect(const struct cordon_context *cx, int kept, const char *path, struct ledger_collected *ret,
                   struct err *e);

/* ---- queries (query.c, run_picture.c): pure; text goes to `out` ---- */

struct ledger_filter { /* NULL: any */
        const char *box, *run, *kind, *target;
        int64_t since_us;
        const char *job;     /* of a batch engine: "4711", "Slurm 4711", "4711_3" */
        struct span *of_job; /* its runs, sorted; borrowed from the log */
        size_t of_job_count;
        uint64_t from; /* ledger_export(): the records from this index on */
};
/* Finds the runs of f->job in the log, which must live as long as the filter. Nothing to do without a job. */
int ledger_filter_job(const struct ledger_log *l, struct ledger_filter *f, struct err *e);
void ledger_filter_free(struct ledger_filter *f);
bool ledger_matches(const struct ledger_filter *f, const struct ledger_view *v);
/* One line of text, without a newline; text from a box is made inert. */
void ledger_line(const struct ledger_view *v, struct buf *out);
/* The record itself; for several ledgers, in an object that names its ledger. Without a newline. */
void ledger_json(const struct ledger_view *v, struct buf *out);
/* Every effect of any box on one target; a target that ends in * is a prefix. */
void ledger_field(const struct ledger_log *l, const char *target, bool json, struct buf *out);
/* The parties that effects reached, by reach and target. */
void ledger_reached(const struct ledger_log *l, bool json, struct buf *out);
/* Finds the run that `which` names, by id, unique prefix, or box name (the newest); "" is the newest of all.
 */
int ledger_find_run(const struct ledger_log *l, const char *which, char ret_run[LEDGER_ID_MAX],
                    struct err *e);
/* A run as a diagram: its doors, effects and denials on a time line. `runs`: a keeper answers for it. */
int ledger_show(const struct ledger_log *l, const char *which, bool runs, struct buf *out, struct err *e);

/* ---- cause and effect (graph.c, trace.c): pure ---- */

enum ledger_link { LINK_PARENT = 0, LINK_BYTES, LINK_PIPE, LINK_TRACE, LINK__COUNT };
const char *ledger_link_name(enum ledger_link k);
struct ledger_edge {
        uint64_t cause, effect; /* indexes */
        enum ledger_link link;
};
struct ledger_graph;
struct ledger_graph *ledger_graph_new(const struct ledger_log *l, struct err *e);
void ledger_graph_free(struct ledger_graph *g);
const struct ledger_edge *ledger_graph_edges(const struct ledger_graph *g, size_t *ret_count);
/* Finds a record by its id or a unique prefix; -1 on error with *e set. */
int64_t ledger_graph_find(const struct ledger_graph *g, const char *id, struct err *e);
enum { LEDGER_BACK = 1, LEDGER_FORWARD = 2 };
int ledger_trace(const struct ledger_log *l, const char *effect, unsigned ways, bool json, struct buf *out,
                 struct err *e);

/* ---- verification and proofs (verify.c, proof.c) ---- */

/* Checks every frame, the tree, every known checkpoint and its signatures, intents and outcomes, gaps.
 * Reports the versions of the records, and since when some have fields unknown to this version. Text or JSON
 * to `out`; *ret_ok: no findings. `extra`: further checkpoints to check against, or "". Returns -1 if it
 * could not be checked. */
int ledger_verify(const struct cordon_context *cx, int dir, const char *extra, bool json, struct buf *out,
                  bool *ret_ok, struct err *e);
/* The same; and each ledger of a tenant of which this one has heads is verified, and held against all of them
 * (verify_host.c). */
int ledger_verify_host(const struct cordon_context *cx, int dir, const char *extra, bool json,
                       struct buf *out, bool *ret_ok, struct err *e);
/* An inclusion proof in C2SP's format, with the record in its `extra` line. */
int ledger_proof_make(const struct cordon_context *cx, int dir, const char *id, struct buf *out,
                      struct err *e);
/* Writes the sealed part into the directory `to` in the layout of C2SP tlog-tiles. */
int ledger_tiles_export(const struct ledger_log *l, int dir, const char *to, struct buf *out, struct err *e);
/* Checks a proof with only the keys in `keyfile`; NULL: with those of this user's ledger. */
int ledger_proof_check(const struct cordon_context *cx, struct span text, const char *keyfile,
                       struct buf *out, bool *ret_ok, struct err *e);
/* The public keys, one a line, after a check that rotations lead from the first to each; empty: none yet. */
int ledger_keys(const struct cordon_context *cx, int dir, struct buf *out, struct err *e);
/* Runs cordon-ledger on a ledger: "seal-once", "rotate". */
int ledger_helper_do(const struct cordon_context *cx, const char *verb, const char *arg, struct span input,
                     struct buf *out, struct err *e);

/* ---- runs (run_table.c): what became of each run, and what all of them add up to. Pure ---- */

enum ledger_run_flag { /* a bit each, and a name for programs */
                       LEDGER_RUN_ENDED = 0,
                       LEDGER_RUN_FAILED,      /* it ended otherwise than with status 0 */
                       LEDGER_RUN_NOT_STARTED, /* a wall could not be raised, or was found down from inside */
                       LEDGER_RUN_TRIPPED,     /* a tripwire stopped it */
                       LEDGER_RUN_WEAK,        /* behind fewer layers than other runs of this ledger */
                       LEDGER_RUN_CAPPED,      /* it reached a limit */
                       LEDGER_RUN_DENIED,      /* something that counts was denied */
                       LEDGER_RUN_DENIED_NET,  /* by the network's doors */
                       LEDGER_RUN_DENIED_SECRET,  /* the use of a credential */
                       LEDGER_RUN_UNEXPLAINED,    /* a denial without a reason */
                       LEDGER_RUN_OUTPUT_REFUSED, /* it was not what the policy says */
                       LEDGER_RUN_OUTPUT_CUT,     /* something was removed from it */
                       LEDGER_RUN_OUTPUT_FOUND,   /* something was found in it */
                       LEDGER_RUN_UNKNOWN,        /* an effect without an outcome */
                       LEDGER_RUN_NO_GROUPS,      /* no control group kept its limits */
                       LEDGER_RUN_WAITED,         /* an effect waited for a person */
                       LEDGER_RUN_FLAG__COUNT
};
const char *ledger_run_flag_name(enum ledger_run_flag f);

struct ledger_run {
        struct span id, box, policy, result; /* of the log's bytes, escaped; result: empty until its end */
        struct span session;                 /* the run that it is in; or empty */
        struct span job;                     /* of a batch engine; or empty */
        int64_t start_us, end_us;            /* end_us 0: none is recorded */
        uint32_t flags, layers;
        uint64_t cpu_us, wall_us, /* cpu_us of a session: without its runs */
                start_cost_us, memory;
        unsigned doors, used; /* doors for files and programs; of those, if observed: that were used */
        bool observed;        /* all that it did with files */
        bool pruned;          /* payloads are missing between its start and its end */
        uint64_t missing;     /* as many payloads before its start */
        uint8_t reach;        /* the widest of its effects: enum ledger_reach */
};
enum ledger_sum {
        LEDGER_SUM_RECORDS = 0,
        LEDGER_SUM_DENIALS, /* that count, each as often as it happened */
        LEDGER_SUM_ASKED,   /* effects that waited for a person */
        LEDGER_SUM_APPROVED,
        LEDGER_SUM_REFUSED, /* by a person */
        LEDGER_SUM_EXPIRED, /* nobody answered */
        LEDGER_SUM_INCIDENTS,
        LEDGER_SUM_GAPS, /* bytes lost in a crash */
        LEDGER_SUM_PRUNED,
        LEDGER_SUM_STRANGE, /* records with fields unknown to this version */
        LEDGER_SUM_TOOLS,   /* calls of tools */
        LEDGER_SUM_TOOLS_DENIED,
        LEDGER_SUM__COUNT
};
const char *ledger_sum_name(enum ledger_sum s);
struct ledger_runs {
        struct ledger_run *v; /* in the order of their starts */
        size_t n;
        uint64_t sum[LEDGER_SUM__COUNT];
        uint32_t layers_most; /* of the runs behind the widest wall */
        uint32_t *slots;      /* a table of v + 1 by id */
        size_t slot_count;
};
/* The table has runs that began, and counts records that were written, since then. Trials of `cordon learn`
 * do not count. The log must outlive the table. Returns 0 or -1; ledger_runs_done() follows in each case. */
int ledger_runs_read(const struct ledger_log *l, int64_t since_us, struct ledger_runs *ret, struct err *e);
void ledger_runs_done(struct ledger_runs *r);
struct ledger_run *ledger_runs_find(const struct ledger_runs *r, struct span id); /* NULL: not there */
static inline bool ledger_run_is(const struct ledger_run *r, enum ledger_run_flag f)
{
        return r->flags >> f & 1;
}
/* How many have it, and the newest of them; NULL: none. */
uint64_t ledger_runs_count(const struct ledger_runs *r, enum ledger_run_flag f,
                           const struct ledger_run **ret_newest);

/* box_table.c: each box that ran: runs, layers, cost, reach. */
int ledger_tools(const struct ledger_log *l, int64_t since_us, bool json, struct buf *out, struct err *e);

/* ---- export (export.c, html.c) and pruning (prune.c) ---- */

/* "jsonl", "otlp", "otlp-traces", "ocsf", "alerts", "prometheus". Returns the number of records or runs, or
 * -1. */
int64_t ledger_export(const struct ledger_log *l, const char *format, const struct ledger_filter *f,
                      void (*put)(void *ctx, const char *text, size_t len), void *ctx, struct err *e);
/* One page with the run's graph of causes and effects: no script, nothing from the network. */
int ledger_html(const struct ledger_log *l, const char *which, bool runs, struct buf *out, struct err *e);
/* A draft of an incident report: what the ledger knows of a run, and headings for what people must add.
 * Markdown, in which no text of a record acts as markup. */
int ledger_postmortem(const struct ledger_log *l, const char *which, struct buf *out, struct err *e);
/* Removes payloads; leaf hashes stay. The pruning itself is recorded first. */
int ledger_prune(struct ledger *l, const char *kind, int64_t before_us, uint64_t *ret_count, struct err *e);
/* Moves the whole ledger aside, under a name with the time, and begins a new one. */
int ledger_restart(const struct cordon_context *cx, struct buf *ret_where, struct err *e);

/* ---- the directory (ledger_place.c, sealer_client.c) ---- */

int ledger_dir_open(const struct cordon_context *cx, bool make, struct err *e);
int ledger_place(const struct cordon_context *cx, char *ret, size_t cap, struct err *e);
/* Reads the whole file, as long as it was when opened; returns 0 with an empty buffer if it does not exist.
 */
int ledger_slurp(int dir, const char *name, struct buf *out);
/* The newest checkpoint; it points into `text`. Returns 1; 0 if none; -1 with errno. */
int ledger_note_last(int dir, struct buf *text, struct ledger_note *ret);

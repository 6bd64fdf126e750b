/* SPDX-License-Identifier: MIT */
/* run/keeper/keeper.h - the keeper: the life of one run, from plan to result. The only place that answers
 * "allow".
 *
 * A keeper lives in the caller's process; box_wait() drives it. When that process is killed, init sees the
 * control socket close and ends the box, and the janitor removes the control groups. */
#pragma once
#include "base/child.h"
#include "base/context/context.h"
#include "base/err.h"
#include "broker/egress/egress.h"
#include "cordon.h"
#include "effect/effect.h"
#include "effect/gate/gate.h"
#include "files/work/work.h"
#include "wall/limit/limit.h"
#include "wall/plan/plan.h"
#include "wall/wall.h"

/* The broker of a box with `net` doors. */
enum box_broker {
        BROKER_NONE = 0, /* no `net` door */
        BROKER_RUNS,
        BROKER_DONE,
        BROKER_DIED /* before the box ended: its doors closed with it */
};

/* The hint of a broker that does not start; the API, which can try it, says more. */
#define BROKER_ASK_DOCTOR "is it the one of this version of cordon? `make install` puts both in place"

/* What is told of a run, written as it becomes known: `out` is what its caller gets, the rest is what only
 * its JSON and its record have. */
struct box_result {
        cordon_result out;    /* box_result() completes it */
        enum limit_key limit; /* CORDON_LIMIT: which */
        uint32_t limits_hit;  /* bit per enum limit_key that was exceeded, also without ending the box */
        struct err error;
        char run[42];
        char name[NAME_MAX_BYTES];
        enum wall_kind wall;
        uint32_t layers;        /* bit per enum wall_layer that was in force */
        uint64_t terminal_cuts; /* sequences and characters that did not reach the caller's terminal */
        const char *reports; /* of the checks of its streams and handles: members of a JSON object; or NULL */
        bool memory_by_group, procs_by_group,
                cpu_by_group;       /* control groups enforced them; else rlimits and sampling */
        bool parked;                /* it began in a box that was parked */
        bool warm;                  /* in an interpreter that was started there */
        bool in_session;            /* in one that had other runs before, or may have */
        char session[42];           /* its run id, or "" */
        const char *module_code;    /* of a module; or NULL. The configuration's */
        char gpus[256];             /* the nodes of those that it was handed, "nvidia0 nvidia1"; or "" */
        uint64_t group_wait_ns;     /* the part of its start that was spent on control groups */
        char ledger[200];           /* "on", or "off: WHY" */
        char ledger_lost[184];      /* why it is off although it was to be on; or "" */
        struct effect_row *denials; /* each once */
        unsigned denial_count;
        /* Denials that found no room, here or on the way: at least so many of each kind; EFFECT_NONE: of
         * paths that hold secrets, whatever kind. */
        uint32_t lost[EFFECT_KIND__COUNT];
        const char *absent[ABSENT_MAX + 1]; /* looked up, and missing on the host too: nothing denied it */
        unsigned absent_count;
        uint32_t absent_lost;       /* beyond ABSENT_MAX */
        char left_name[64];         /* of `left` one */
        struct effect_row *effects; /* BOX_OBSERVE_ALL: effects, each once */
        unsigned effect_count;
        uint32_t effects_lost; /* beyond EFFECTS_MAX, or not reported: at least so many */
        bool has_work;         /* the box had edit doors */
        struct work_counts work;
        struct err work_error; /* the overlay could not be sealed; it still exists */
        enum box_broker broker;
        struct label label;           /* what it was handed and has read so far */
        const struct egress_row *net; /* each destination and each kind of refusal, in the order they came */
        unsigned net_count;
        uint32_t net_lost;           /* that found no room */
        uint32_t net_denied_lost;    /* of those, denials */
        bool recording;              /* exchanges were to be recorded */
        unsigned streams_unlabelled; /* a bit each, stdout and stderr: a pipe or socket that keeps no label */
        char unstamped_name[128];    /* of `unstamped` one */
        cordon_denial *shown;        /* of `out`, as its texts are */
        char limits_text[128], lost_text[320], label_text[LABEL_TEXT_MAX];
};

/* The destinations of the payload's streams outside. */
struct box_stdio {
        int in;     /* read from here; -1: empty */
        int out[2]; /* stdout and stderr go here; -1: to the sink, or nowhere */
        void (*sink)(void *ctx, int stream, const void *p, size_t n); /* stream 1 or 2; or NULL */
        void *sink_ctx;
};

/* Called once for each effect that waits for an approval; or NULL. */
struct box_on_held {
        void (*fn)(void *ctx, const char *id, const char *effect, unsigned within_s);
        void *ctx;
};

/* The answer to box_tool_ask(); or NULL. */
struct box_on_tool {
        void (*fn)(void *ctx, unsigned number, int yes);
        void *ctx;
};

/* Called when the time of a run that can be renewed is nearly over; or NULL. */
struct box_on_ending {
        void (*fn)(void *ctx, unsigned left_s, unsigned renewals);
        void *ctx;
};

/* A JSON Schema that a door names. */
struct box_schema {
        const char *path;
        struct span text;
};

/* A secret that exists only to be found: a box that prints it to a checked stream, or sends it, is stopped.
 */
struct box_canary {
        const char *name, *value; /* where it lies */
};

/* Calls a function of the caller. Returns 0, or -1: the module ends with a trap. */
struct box_calls {
        int (*call)(void *ctx, uint32_t index, uint64_t *slots);
        void *ctx;
};

struct box_handle {
        const char *name;
        int fd; /* the caller's, read (in) or written (out) by the keeper only; borrowed */
};

enum box_observe {
        BOX_OBSERVE_DENIALS = 0, /* denied calls, hidden paths, denied writes and programs */
        BOX_OBSERVE_CALLS,       /* denied calls alone, whose reports cost nothing */
        BOX_OBSERVE_OFF,
        BOX_OBSERVE_ALL /* also allowed effects: files opened, programs started. Costs every open() */
};
/* Denied effects that stop the box. */
enum box_trip {
        BOX_TRIP_CALLS = 1,       /* system calls that no box needs */
        BOX_TRIP_SECRETS = 2,     /* paths of keys, tokens and passwords */
        BOX_TRIP_CREDENTIALS = 4, /* a placeholder sent elsewhere */
        BOX_TRIP_DOORS = 8,       /* every effect without a door, but those of programs that look around */
        BOX_TRIP_CANARIES = 16 /* the box has canaries of its own, and what it prints is searched for them */
};
/* "calls" ..., "all"; adds to *bits. -1: another word. */
int box_trip_find(struct span name, unsigned *bits);
/* Whether the run is recorded. Zero records, and goes on if that fails; a variable may say otherwise. */
enum box_ledger { BOX_LEDGER_UNSET = 0, BOX_LEDGER_ON, BOX_LEDGER_OFF, BOX_LEDGER_REQUIRE };

/* What a face asks for: the one configuration of a run. struct cordon_box contains it. */
struct box_config {
        const struct cordon_context *cx;     /* of the caller; outlives the box */
        const struct plan *plan;             /* borrowed until box_free() */
        const struct checked_policy *policy; /* borrowed: its digest is computed on demand */
        struct box_stdio io;
        struct box_on_held on_held;
        struct box_on_tool on_tool;
        struct box_on_ending on_ending;
        struct box_calls calls; /* if the plan has a line for them */
        enum policy_stage stage;
        struct label label;      /* of what the run is handed: box_label_in() */
        uint64_t label_index;    /* the index of labels that it was read from: stamp_version() */
        struct label touch_rest; /* of what `rule touch` cannot shut */
        struct box_shut {        /* labelled places that open when they are touched, as the plan has them */
                char *path;
                struct label label;
        } * shut;
        unsigned shut_count;
        struct span places, answers;      /* texts for the broker; empty: none */
        char *places_file, *answers_file; /* of them; or NULL */
        struct box_recording {            /* exchanges are recorded, and the file gets its name at the end */
                int fd;                   /* a file without a name, or -1 */
                int dir;
                const char *name; /* there; NULL: nothing is recorded */
        } recording;
        const int *grants; /* a pipe with the credentials that doors name, for the broker; or NULL */
        const int *words;  /* a file in memory with the same, for cordon-output; or NULL */
        const struct box_handle *handles;
        unsigned handle_count;
        const struct box_schema *schemas;
        unsigned schema_count;
        char name[NAME_MAX_BYTES];    /* --name, or "" */
        bool require_groups;          /* --require-limit: no rlimit fallback */
        unsigned short rows, columns; /* of the terminal at the start */
        bool single_thread;           /* the calling program has one thread */
        enum box_observe observe;     /* which denials are reported; the walls are the same */
        unsigned trip;                /* enum box_trip */
        const struct box_canary *canaries;
        unsigned canary_count;
        bool signals_stay_in; /* Landlock keeps the payload's signals from the observer beside it */
        enum box_ledger ledger;
        char trace_in[56], trace_out[56]; /* W3C trace context of the caller and of the run; or "" */
        char cause[64];                   /* id of the record that led to this run, or "" */
        uint64_t cause_clock;             /* its logical clock, if another ledger has it */
        bool trial; /* learning tries doors: a policy is not judged by this run, and the ledger says so */
        const char *home;          /* the caller's, for hints; or NULL */
        uid_t uid;                 /* the caller */
        struct gate_people askers; /* of a face: who asked for this box; none: it is of no face */
        gid_t gid;
        bool root;                    /* the caller can map another id */
        struct context_tenant tenant; /* whose box it is; zero: nobody's in particular */
        char work_on[WORK_RUN_MAX];   /* continue in the overlay of this run; or "" */
        enum work_copy work_copy;     /* in a copy of it, which is this run's own */
        bool work_keep;               /* keep the overlay although nothing changed */
        bool keep_output;             /* for box_logs() after the end; only if it goes nowhere else */
        const char *module_code; /* "kept" from an earlier run, "new", "none": interpreted; NULL: no module */
        const char *cold_why;    /* why no parked box was used; or NULL */
        bool park;    /* stop before the run: box_order() begins it. The run's fields come with that */
        bool give;    /* parked for another process, box_give(): the janitor ends the mounts */
        bool session; /* a box for many runs: box_run_in() begins each. The plan's command is not used */
        struct span recipe;           /* of a session: what the keeper of a run in it has to know */
        const char *session_run;      /* of a run in a session of another process: the session's id */
        uint64_t session_ms, idle_ms; /* it ends after so long; after so long without a run */
};

/* What the output of a run is searched for: canaries, and variables that look like secrets unless it comes
 * in; and the hosts that its doors lead to. Both point into the configuration and `mem`. */
struct known_word;
struct arena;
size_t box_known_words(const struct box_config *c, bool incoming, struct known_word *ret_words);
enum { BOX_HOSTS_MAX = 256 };
size_t box_door_hosts(const struct box_config *c, struct arena *mem, const char *ret_hosts[BOX_HOSTS_MAX]);

/* label_pass.c: what STATE/KIND/RUN holds goes to this descriptor, with its label. */
int box_label_pass(const struct cordon_context *cx, const char *kind, const char *run, int fd, struct err *e);
/* It is removed. */
void box_label_forget(const struct cordon_context *cx, const char *kind, const char *run);
/* label_in.c: the label of all that a run with this configuration is handed. */
int box_label_in(const struct box_config *c, struct label *ret, uint64_t *ret_index, struct err *e);
/* label_live.c: labels of files have changed: every running box has looked at them again, or answered nothing
 * for a second. */
void box_label_tell(const struct cordon_context *cx);
/* Stamps what runs wrote whose keepers were killed. */
void box_label_settle(const struct cordon_context *cx);

struct box;
/* Begins a start, and goes as far as it can without waiting. NULL: no memory. A start that fails is a box
 * that is over soon, with CORDON_FAILED. */
struct box *box_start(const struct box_config *c, struct err *e);
/* A box that was started with `park`: its walls are up, probed from inside, and it waits for a run. */
bool box_is_parked(const struct box *b);
/* Begins the run: `c` replaces the box's configuration, and must agree with it in all that is not the run's:
 * plan_digest() of both plans is the same, and so are ids, observation and what the broker was given. Goes as
 * far as it can without waiting. */
void box_order(struct box *b, const struct box_config *c);
/* Begins a run in a session that is up (box_is_up()). Only the run order of the plan in `c` is used: the
 * walls are the session's. What it returns is driven and freed like a box of its own, before its session,
 * which has to be driven too. NULL with *e set: the session is over, or no memory. */
struct box *box_run_in(struct box *session, const struct box_config *c, struct err *e);
/* The same in a session whose keeper is another process of this user, by its run id: this process becomes the
 * keeper of the run. Its streams, terminal, limits, denials, record and result are here; orders to init go
 * through the session's keeper. If either process ends, so does the run. */
struct box *box_join(const char *session, const struct box_config *c, struct err *e);
/* The secrets that the output of its runs is searched for, as a file in memory; -1 with *e set. */
int box_words(const char *session, struct err *e);
/* A call of a tool that the payload serves, or its result, as a record of the run (record_effects.c). */
struct box_tool {
        const char *tool, *result, *reason; /* reason: of a denial, or NULL */
        const char *cause;                  /* the id of the call, of a result; or NULL */
        struct span bytes;                  /* recorded by digest and length */
        enum { BOX_TOOL_CALL = 0, BOX_TOOL_RESULT, BOX_TOOL_DENIED } phase;
};
enum { BOX_RECORD_ID = 64 };
/* gates/tool_gate.c: may it be called with these arguments, a JSON object? `why` is the reason of a no. */
enum box_tool_answer { BOX_TOOL_NO = 0, BOX_TOOL_ASK, BOX_TOOL_YES };
enum box_tool_answer box_tool_judge(const struct box *b, const char *tool, struct span args, struct buf *why);
/* With any arguments at all? */
bool box_tool_is_named(const struct box *b, const char *tool);
/* Asks a person; box_on_tool follows, perhaps at once. Returns its number, or 0: it cannot be asked. */
uint32_t box_tool_ask(struct box *b, const char *tool, struct span args);
/* ret_id is "" if the run is not recorded. */
void box_record_tool(struct box *b, const struct box_tool *t, char ret_id[BOX_RECORD_ID]);
/* gates/: begins another lease of its time, of a session: of its life. Returns 1 if a person was asked,
 * who has not answered yet. -1 with *e set: the policy allows none, or no more. */
int box_renew(struct box *b, struct err *e);
/* The same for a box of another process; its new state as JSON. */
int box_renew_of(const char *which, struct buf *out, struct err *e);
/* Ends a session in order. It is over some steps later, and so are its runs. */
void box_finish(struct box *b);
/* gift.c: a parked box changes its keeper. box_give() sends it over a socket with its descriptors, at the end
 * of the `n` bytes at `head`, and frees it; its processes stay children of this one, which must reap those of
 * `ret`. Returns 0; -1 with errno: it is still the caller's. */
enum { BOX_GIVEN_CHILDREN = 3 };
int box_give(struct box *b, int socket, const void *head, size_t n,
             struct child ret_children[BOX_GIVEN_CHILDREN]);
/* Receives `n` bytes, and a box if one came with them: *ret is it, parked, or NULL. It ends when this process
 * or the one that gave it does. Returns 0, or -1 with *e set. */
int box_receive(int socket, void *head, size_t n, const struct box_config *c, struct box **ret,
                struct err *e);
/* When its run has written to the ledger, this packet goes to that socket, which is taken: its receiver
 * starts the sealer. Where it is not taken, this process does. */
enum { BOX_WAKE_BYTES = 64 };
void box_wake_by(struct box *b, int *fd, const void *packet, size_t n);
/* Waits until there is something to do, a signal came, or timeout_ms passed (-1: no end; 0: does not wait at
 * all), and does it. 1: the box is over; 0: not yet. */
int box_wait(struct box *b, int timeout_ms);
/* When box_wait() has to be called even if nothing happens, in ms; -1: not at all. */
int box_next_ms(struct box *b);
/* From here on this epoll descriptor, which is the caller's and has nothing else in it, is readable whenever
 * box_wait() has something to do. */
void box_watch(struct box *b, int epoll);
/* Async-signal-safe: passes a signal to the payload's process group. */
void box_signal(struct box *b, int sig);
/* Its bit in the set of signals that came before they can be forwarded; 0: the signal does not exist. */
static inline uint64_t box_signal_bit(int sig) { return sig >= 1 && sig <= 64 ? 1ull << (sig - 1) : 0; }
/* The window size of the caller's terminal has changed. */
void box_resize(struct box *b, unsigned rows, unsigned columns);
/* Ends the box now. It is over some steps later. */
void box_kill(struct box *b);
const struct box_result *box_result(const struct box *b);
/* box_result.c: its `out`, complete as of now. */
const cordon_result *box_result_out(struct box *b);
/* Of a box that was not started. */
extern const cordon_result box_no_result;
/* The caller's directory is not in the box, which works in a private one. */
bool box_is_away(const struct box *b);
/* A better hint for the error of a start that failed. */
void box_explain(struct box *b, const char *hint);
/* The payload has been started. */
bool box_is_up(const struct box *b);
const char *box_run_id(const struct box *b);
void box_free(struct box *b);

struct buf;
/* result_json.c: the result as one JSON object, without a newline. */
void box_result_json(struct box *b, struct buf *out);
/* The same for a start that failed before there was a box. */
void box_failure_json(const struct err *e, struct buf *out);

/* gates/peer.c: a person sits at the terminal of this process, which is in no box. */
bool box_person_is_here(void);

/* ---- boxes of this user that are running (registry.c) ---- */
/* Calls `each` with every running box's state as JSON: of one that gives this process no answer, `run` and
 * `refused` (why). Returns how many, or -1. */
int box_list(void (*each)(void *ctx, const char *json), void *ctx, struct err *e);
enum box_request {
        BOX_ASK_STATE = 1,
        BOX_ASK_STOP,
        BOX_ASK_LOGS,    /* box_logs() */
        BOX_ASK_SESSION, /* the recipe of its runs; empty: it is not a session */
        BOX_ASK_JOIN,    /* box_join() */
        BOX_ASK_WORDS,   /* box_words() */
        BOX_ASK_END,     /* ends a session; the answer is its result as JSON */
        BOX_ASK_RENEW,   /* box_renew_of() */
        BOX_ASK_LABELS   /* label_live.c: look at the labels of files again */
};
/* Queries one box, by run id, unique prefix of it, or name. Writes the answer to out. */
int box_ask(const char *which, enum box_request request, int arg, struct buf *out, struct err *e);
/* Whether the keeper of a run of this user is there, even if it gives no answer. */
bool box_runs(const char *run);

cordon_usage box_usage_now(const struct box *b); /* what a run has used so far */

/* ---- approvals (gates/) ---- */
/* Each socket on which a box waits for approvals, of any user. */
int box_gates_each(void (*each)(void *ctx, const char *run, unsigned uid), void *ctx, struct err *e);
int box_gate_connect(const char *run, unsigned uid, struct err *e); /* a descriptor, or -1 */
/* An apply of an overlay whose `edit` doors ask. Waits; returns 0 if it was approved by all of them. */
struct box_apply {
        const struct cordon_context *cx;
        const char *run, *box, *policy; /* id, name, digest: of the run */
        const char *doors;              /* a line each */
        const char *to;                 /* a directory instead of the doors' own; or NULL */
        const char *digest;             /* hex, of all entries */
        const char *shown;              /* inert */
        bool flagged, no_ledger;
        struct box_on_held on_held;
        struct gate_people askers;
};
int box_apply_ask(const struct box_apply *a, struct err *e);
/* The same for a loop: *a is borrowed until box_apply_free(). Its descriptor is readable when a step is due,
 * and one is due each second. A step returns 1: approved, 0: it waits, -1: *e says why not. */
struct box;
struct box *box_apply_open(const struct box_apply *a, struct err *e);
int box_apply_fd(const struct box *b);
int box_apply_step(struct box *b, struct err *e);
void box_apply_free(struct box *b); /* what still waits is withdrawn */
/* One line of docs/approve-protocol.md from a person whom a face has authenticated by means of its own, and
 * its answer. -1: this box asks nothing. */
int box_gate_request(struct box *b, const cordon_person *who, struct span line, struct buf *out);
void box_people_add(struct gate_people *p, const char *name);
int box_asked_by(struct box *b, const char *name, struct err *e); /* while it runs: of a session */
int box_approvals(const struct cordon_context *cx, bool json, struct buf *out);
/* The same as metrics of Prometheus; nothing if nothing was decided. */
void box_approvals_metrics(const struct cordon_context *cx, struct buf *out);
/* In one sentence: does each person still read, and is each gate still worth a question? */
enum box_approving { BOX_APPROVING_NONE = 0, BOX_APPROVING_WELL, BOX_APPROVING_BADLY };
enum box_approving box_approving(const struct cordon_context *cx, char *ret, size_t cap);
/* 1: no approval of such an effect was kept. */
int box_incident(const struct cordon_context *cx, const char *id, const char *text, struct err *e);
int box_decoys(const struct cordon_context *cx, bool on, struct err *e);

/* ---- output of detached boxes (logs.c) ---- */
struct box_sink {
        void (*put)(void *ctx, const void *p, size_t n);
        void *ctx;
};
/* The newest output of a running box, or of an ended box whose output was kept; with `follow`, until it ends.
 */
int box_logs(const struct cordon_context *cx, const char *which, bool follow, const struct box_sink *to,
             int label_fd, struct err *e);
/* Removes the kept output of a run; of all that ended before this, in ns since 1970: returns how many. */
void box_logs_forget(const struct cordon_context *cx, const char *run);
size_t box_logs_prune(const struct cordon_context *cx, int64_t before_ns);

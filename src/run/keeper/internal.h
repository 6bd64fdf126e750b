/* SPDX-License-Identifier: MIT */
/* run/keeper/internal.h - the keeper's state, shared by its files. */
#pragma once
#include "base/buf.h"
#include "base/child.h"
#include "output/output.h"
#include "run/keeper/keeper.h"
#include "run/keeper/lease.h"

#include <poll.h>
#include <sys/types.h>

enum { PUMP_BUFFER = 65536, LOG_MAX = 1 << 20, CLIENTS_MAX = 8 };
/* Positions in the output of a box are modulo 2 GiB: enough, because so much is never kept. */
enum { LOG_POSITION = 0x7fffffff };

/* How bytes leave towards the caller without ever blocking the keeper. */
enum outlet_kind {
        OUTLET_NONE = 0,
        OUTLET_FILE,
        OUTLET_NONBLOCK,
        OUTLET_SOCKET,
        OUTLET_POLITE /* ask, then write little */
};

/* cordon-output at work for one stream or handle. */
struct filter {
        const struct door *door; /* NULL: none */
        struct child process;
        int report;
};

/* What the check of a stream or handle counted, for the ledger: "escape=1 bidi=2". */
struct checked {
        struct buf as, cut, findings;
        char digest[72]; /* of a handle: what passed; "": nothing did */
        int64_t bytes;
};

struct pump { /* one direction of one stream */
        int from, to;
        enum outlet_kind outlet;
        bool own_from, own_to;
        bool blocked;  /* `to` took nothing: wait until it does */
        bool mid_line; /* the last output did not end its line */
        size_t have, sent;
        enum {
                INPUT_TAKEN = 0,
                INPUT_PIPE,
                INPUT_FILE
        } first;      /* of an input that nothing was taken from yet */
        size_t shown; /* bytes of it that the payload was passed, and that are still the caller's */
        char *buffer;
        struct neutral *neutral; /* `to` is a terminal: its output is made inert; or NULL */
        struct buf inert;        /* then this is written, and not `buffer` */
        struct filter filter;    /* an output with a form: it stands between the payload and `from` */
        struct known *watch;     /* one without: what looks for canaries in it; or NULL */
};

/* The life of a box, in the order of the table in box_life.c. */
enum phase {
        PHASE_RECORD = 0, /* its name is taken; with --require-ledger its start is recorded */
        PHASE_MAKE,       /* broker, pipes, overlays, control groups */
        PHASE_FILL,       /* `in` handles are copied */
        PHASE_ASK,        /* `run` and `sock` doors with `ask` are approved */
        PHASE_TRUST,      /* the broker makes the authority that the root shows */
        PHASE_CLONE,      /* cordon-init is started */
        PHASE_BIRTH,      /* init exists, gets its ids and doors and raises the walls */
        PHASE_TOLD,       /* running boxes know the label of what it may write */
        PHASE_RELEASE,    /* the broker is ready: the payload may start */
        PHASE_PARK,       /* a parked box waits for its run. It and the next three only with `park` */
        PHASE_NAME,       /* as PHASE_RECORD */
        PHASE_STREAMS,    /* pipes; `in` handles are copied */
        PHASE_TOLD_RUN,   /* as PHASE_TOLD */
        PHASE_ORDER,      /* the run order is sent */
        PHASE_RUN,        /* until init has ended and the output is at EOF */
        PHASE_REAP,       /* everything in the box is killed, and init reaped */
        PHASE_BROKER,     /* the broker sends its last rows, and is reaped */
        PHASE_WRITER,     /* so is the ledger's writer */
        PHASE_GROUPS,     /* the control groups are removed */
        PHASE_JUDGE,      /* how it ended; overlays and copied files */
        PHASE_STAMP,      /* what a labelled run wrote has the label itself */
        PHASE_PUBLISH,    /* `out` handles are copied */
        PHASE_RESULT,     /* the end is recorded */
        PHASE_LEDGER,     /* and written */
        PHASE_JANITOR,    /* which is reaped last */
        PHASE_OVER
};

/* The descriptors that the keeper waits for. */
enum slot {
        SLOT_CONTROL = 0,
        SLOT_PIDFD,
        SLOT_OOM,
        SLOT_REGISTRY,
        SLOT_CLIENT,
        SLOT_BROKER,
        SLOT_LEDGER,
        SLOT_INBOUND,
        SLOT_SPARE, /* a spare has executed its program, or could not */
        SLOT_GATES,
        SLOT_KEYS,  /* cordon-signer */
        SLOT_PEERS, /* keepers of runs in this session that are other processes */
        SLOT_CALLS, /* of the caller's functions by a module */
        SLOT_REPLACED,
        SLOT_AWAITED, /* the event that this phase waits for: a child's end, a handle */
        SLOT_PUMPS,
        SLOT__COUNT = SLOT_PUMPS + 3
};

struct watched { /* the entries of the caller's epoll descriptor, by slot */
        int fd;
        short events;
        bool armed;  /* reports once, and has not reported yet */
        bool always; /* a regular file: always ready, and epoll takes none */
};

struct broker_line { /* to the broker of this box */
        struct child process;
        int control;
        int ledger;         /* the writer's end of the broker's line, until the first request; or -1 */
        uint64_t ledger_ns; /* when to retry to start a writer; 0: no request yet */
        uint64_t ledger_until_ns;
        struct child writer;   /* of the ledger, for this run */
        int causes;            /* to it, what requests are caused by; or -1 */
        struct err error;      /* why it did not start */
        bool odd;              /* and sent something else than READY */
        bool finishing;        /* its last rows were requested */
        bool settled;          /* it has answered EGRESS_SETTLE */
        bool parts;            /* it says of a denial in a session whose it was */
        uint32_t after;        /* the newest effect that had its outcome in the ledger */
        int trust;             /* the certificates that the box is to trust, or -1 */
        uint32_t bundle_bytes; /* of it, if a database of NSS follows; or 0 */
        uint32_t record_failed;
        struct label label; /* of the run, as it last said */
};

struct tally_time {
        uint64_t next_ns; /* in any case */
        uint64_t soon_ns; /* if the disk went meanwhile; never later */
        uint64_t room;    /* its value at the last check */
};

/* A phase that waits sets one or both; none outlives its phase. */
struct waiting {
        int fd; /* or -1 */
        short events;
        uint64_t wake_ns;  /* when to check again; 0: never */
        uint64_t until_ns; /* when it has waited long enough; 0: not set yet */
        bool begun;
};

struct handle_copy { /* of the handles, which one and how far */
        unsigned at;
        uint64_t done;
        bool copied; /* all of an input is staged */
        bool judged; /* endorsed, or not */
};

/* One command in a box: its payload's streams, limits, refusals, record and result. */
enum denial_room { ROOM_FILES = 0, ROOM_REST, ROOM_ALARMS, ROOM__COUNT };

struct run {
        struct box *box;
        const struct box_config *c; /* the box's */
        struct wall_stdio inside;
        struct pump in, out[2];
        int ahead[3];    /* our ends of pipes that a warm box has since it was parked; or -1 */
        bool one_output; /* its standard error is to be its standard output */
        int tty;         /* our end of the box's terminal, or -1 */
        int memfd[HANDLES_MAX];
        int calls; /* our end of the line for calls of the caller's functions; or -1 */
        struct handle_copy handle;
        struct filter handle_filter; /* of the handle under way */
        int staged;                  /* its bytes before or after the check; or -1 */
        struct buf reports;          /* of the checks: members of a JSON object */
        struct checked checked[2];   /* stdout, stderr */
        struct checked *checked_out; /* HANDLES_MAX, by the plan's number; NULL: none was checked */
        struct err refused;          /* why a stream was refused; code 0: none was */
        const char *stopped_by;      /* what `refused` is of, if not of a stream */
        bool outside;                /* it is of replaced.c */
        unsigned kept[ROOM__COUNT];  /* denials, each in its room */
        unsigned denial_rows;        /* room in the result's array */
        uint64_t began_ns, next_look_ns;
        struct lease lease;
        bool up;
        bool one_program;               /* the payload's was the only one: it sent all that crossed */
        uint64_t late_bytes;            /* of output, read after init had ended */
        uint64_t asked_ns;              /* when a signal to end came before the payload ran; 0: none has */
        _Atomic uint64_t early_signals; /* bit per signal that came before the payload ran; set by handlers */
        int output_error; /* errno of the first write to the caller that failed, other than EPIPE */
        int input_error;  /* errno of the read that ended the input before its end; or 0 */
        bool log_on;
        struct host_slow *slow;  /* mounts that the keeper does not inspect; NULL: not read yet */
        struct record *record;   /* state of run_record.c; NULL: no ledger */
        int tick_ms;             /* how long after a turn the ledger wants to write; -1: not at all */
        struct buf log;          /* the last of the output, for `cordon logs` of a detached box */
        uint64_t log_total;      /* how much there was */
        struct arena texts;      /* the strings of the result's rows */
        struct arena draft;      /* texts of a row that is being described */
        struct egress_row *rows; /* of the broker: destinations, and denials */
        struct box_result r;
};

struct told { /* running boxes that were asked, and have not answered yet */
        struct told_box {
                int fd;
                char run[64];
        } * v;
        unsigned n;
        int names; /* while they are looked for */
};

/* The walls around it, with the broker and the control groups. A box has one run; a session has many, each a
 * struct box without walls of its own, whose control socket leads to its session (session_runs.c). */
struct box {
        struct box_config c;
        struct run run;
        struct box *session;           /* this is a run in it; or NULL */
        struct box *runs, *sibling;    /* of a session: its runs; of a run: the next */
        unsigned endorsed;             /* bits of its outputs that lost `untrusted`, all runs together */
        uint32_t id;                   /* of a run; of a session: of its newest */
        uint32_t leader;               /* pid of the run's first process in the box */
        uint64_t group_id;             /* of a run: its control group in the session's; 0: none */
        int session_line;              /* the session's end of the run's control socket, or -1 */
        struct box *ended;             /* of a session: remote runs that have still to request its label */
        bool begun;                    /* a remote run: init has its begin */
        char told_causes[WALL_CAUSES]; /* a remote run: of what it requests */
        bool asks_label;               /* a remote run: it has sent c.label, and gets the session's */
        bool ran;                      /* the end of the run is still to be sent over it */
        struct wall_end last;          /* then this */
        bool wants_tty;                /* a run: it has requested a terminal from init */
        int ahead;                     /* of a session: a spare that waits for the next run, or -1 */
        uint64_t idle_ns;              /* of a session: since when it has no run */
        int peers;                     /* of a session: an epoll with the lines of its remote runs; or -1 */
        int ending[CLIENTS_MAX];       /* of a session: clients that wait for its result; or -1 */
        bool remote;    /* the run's keeper is another process; of a session: it is that one's */
        bool joining;   /* a run: the session has not sent its spare yet */
        bool passed_on; /* a run: the session has passed its begin on to init */
        enum phase phase;
        struct waiting wait;
        bool given_up; /* its caller has let go of it, or it failed before anything could run */
        int epoll;     /* the caller's, or -1 */
        struct watched watched[SLOT__COUNT];
        int client; /* a client of the registry, or -1 */
        uint64_t client_until_ns;
        uint64_t kill_ns; /* when init's time to report the use is over; 0: it was not asked */
        uint64_t turn_ns; /* when the last turn was */
        struct broker_line broker;
        struct wall_child child;
        struct wall_start start;
        struct limit_group group;
        struct limit_janitor janitor;
        int registry;
        int name_lock; /* holds the requested name; or -1 */
        int waker;     /* of box_wake_by(), or -1 */
        char wake[BOX_WAKE_BYTES];
        size_t wake_bytes;
        int replaced;                /* what replaced.c watches with; or -1 */
        int held_at[HELD_NAMES_MAX]; /* by the plan's number: the watch of its directory; or -1 */
        int held;                    /* the line of watched calls, so that it outlives init; or -1 */
        uint64_t oom_ns;             /* when v1 last reported out-of-memory; 0: settled */
        unsigned cpus;               /* host_cpus(); 0: not read yet */
        bool ready, ordered;         /* parked: the spare waits; a run was ordered */
        bool handed_over;            /* and has its order */
        uint32_t layers;             /* of the spare */
        uint64_t parked_cpu_ns;
        struct wall_handover handover;
        struct plan_order no_order; /* while there is no run */
        const char *no_words[2];
        struct plan parked_plan;  /* one that came without an order, with that */
        bool init_up, init_ended; /* it has sent UP; and END */
        bool init_gone, killed;
        bool emptied; /* a parked box of whose processes only init is left: its end is not waited for */
        struct child
                late[2];  /* init and the janitor of such a box, if they are ours: box_free() reaps them */
        struct told told; /* that labels of files have changed */
        struct timespec since; /* of the run, as files have it */
        uint64_t since_ns;
        int pending;                   /* the note of what is to be stamped, or -1 */
        struct stamp_written *written; /* while it is stamped; or NULL */
        uint32_t touched, touch_waits; /* a bit for each shut place: touches.c */
        bool sampled;                  /* up, and init counts resources that no control group does */
        uint64_t killed_ns, gone_ns;   /* when it was ended by force; when init was gone */
        struct inbound *inbound;       /* `listen` doors; or NULL */
        struct gates *gates;           /* doors with `ask`; or NULL */
        uint32_t tool_asked;           /* calls of tools that a person was asked about */
        struct keys *keys;             /* `sign` and `decrypt` doors; or NULL */
        uint32_t renew_asked;          /* renewals likewise */
        struct work_run *work;         /* overlays of edit doors; or NULL */
        struct wall_edit *edits;       /* their paths */
        struct work_private private;   /* behind the process wall: its home */
        struct box_copy *copies;       /* single files of write doors; or NULL */
        int copy_fds[COPIES_MAX];      /* the files that are copied in */
        struct tally_time tally;       /* when to check them again */
        /* The answer to the last renewal that was asked about, if it was no. */
        enum effect_reason renew_refused;
};

/* box_result.c */
void result_begin(struct run *run);
/* The next kind of which some was lost, from *at on, which is 0 first; false: no other. Their sum, without
 * names that the host lacks as well. */
bool result_lost(const struct box_result *r, unsigned *at, const char **ret_name, uint32_t *ret_count);
uint32_t result_denials_lost(const struct box_result *r);

/* pump.c */
int pump_open(struct run *run, struct err *e);
/* The pipes of a run that is not known yet: pump_open() takes them. */
int pump_make_ahead(struct run *run, struct err *e);
/* The two ends of a stream's pipe. */
int pump_pipe(struct run *run, int stream, int ret[2], struct err *e);
/* Writes the held bytes. Returns false with errno set if they cannot be written. */
bool pump_flush(struct pump *p);
bool pump_has_room(struct pump *p);
/* The caller's input (stream/input.c). */
int input_open(struct run *run, struct err *e);
void input_serve(struct run *run);
void input_feed(struct run *run);
/* What the payload did not read of the first bytes stays the caller's. */
void input_settle(struct run *run);
/* The pipes belong to the box's user, which can then also open them by name (/dev/stdin). Only root needs to
 * set that. */
void pump_own(struct run *run, uid_t uid, gid_t gid);
void pump_use_tty(struct run *run, int master);
void pump_poll(struct run *run, struct pollfd *p);
void pump_serve(struct run *run, const struct pollfd *p, unsigned n);
void pump_close(struct run *run);
bool pump_outputs_open(const struct run *run);
/* Does a coding agent look there for settings, in each directory above the project? (upward.c) */
bool keeper_looks_upward(const char *cwd, const char *path);
bool pump_is_blocked(const struct run *run);   /* a reader outside takes nothing */
bool pump_outputs_idle(const struct run *run); /* and there is nothing to hand on */
bool pump_is_mid_line(
        const struct run *run); /* the caller's own output to standard error starts a new line */

/* A stream's check ended: 1; goes on: 0. A refused one is in run->refused. */
int pump_filters(struct run *run);
void pump_filters_kill(struct run *run);

/* filter.c */
/* The door that gives a handle or a stream its form, or NULL. */
const struct door *filter_door(const struct run *run, enum door_kind kind, const char *name);
/* Starts cordon-output between two descriptors, which stay the caller's. */
int filter_start(struct run *run, const struct door *d, int in, int out, struct filter *f, struct err *e);
/* Starts it as a service for the forms of `net` doors. *ret_line is unchanged if no door has one. */
int filter_serve(const struct run *run, int *ret_line, struct err *e);
struct span filter_schema(const struct run *run, const struct door *d); /* its text, or empty */
bool filter_runs(const struct filter *f);
/* endorse.c: run->staged, whose form was checked, loses `untrusted` if its door says so and it fits; the file
 * outside gets the label that is left. */
int handles_endorse(struct run *run, const char *name, int outside, struct err *e);
/* 1: it passed everything; 0: not over yet; -1: refused. */
int filter_finish(struct run *run, struct filter *f, struct err *e);
/* What passed the check of an `out` handle: its record has the digest of this. */
void filter_passed(struct run *run, const char *handle, int fd);
void filter_close(struct filter *f);

/* handle_files.c */
/* The caller's descriptor of a handle, or -1. */
int handles_outside(const struct run *run, const char *name);
int handles_open(struct run *run, struct err *e);
/* Copies `in` handles, `out` handles. Returns 1 if all are copied, 0 if a process outside is slow and the box
 * waits for it, -1 on error. */
int handles_given(const struct run *run, struct err *e); /* each has its counterpart outside */
int handles_fill(struct run *run, struct err *e);
int handles_publish(struct run *run, struct err *e);
bool handles_seal(const struct run *run); /* no process in the box can write to one from here on */
void handles_close(struct run *run);

/* limit_watch.c */
/* Whether init is born in its groups; creating them, before its birth or late; moving init in; the limits
 * that they enforce (enum wall_held). */
const char *keeper_run(struct run *run); /* run_id.c */
bool keeper_groups_come_first(const struct box *b);
bool keeper_groups_are_joined(
        const struct box *b); /* init has still to enter some: v1 cannot create a process in a group */
int keeper_groups_make(struct box *b, bool late, struct err *e);
int keeper_groups_enter(struct box *b, struct err *e);
unsigned keeper_groups_hold(const struct box *b);
/* Reads the resource use; then removes the groups, call by call: returns 0, or the microseconds after which
 * to call again. */
void keeper_groups_read(struct box *b);
unsigned keeper_groups_end(struct box *b);
/* Ends a start that takes too long, or whose caller requests its end. */
void keeper_look_at_start(struct box *b, uint64_t now);
void keeper_limits_look(struct box *b, bool oom); /* oom: the kernel is out of the box's memory just now */
uint64_t keeper_next_look(struct box *b, uint64_t now); /* in ns on the monotonic clock */
/* The poll() entry of the out-of-memory event, and clearing it so that it does not fire again; true: v1 had
 * reported it. Then a kill may follow: checks come close together for a while. */
short keeper_oom_events(const struct box *b);
bool keeper_oom_drain(const struct box *b);
void keeper_oom_noted(struct box *b);

/* renewal.c: in every turn of a run that is up. */
void keeper_lease_look(struct box *b, uint64_t now);
/* Could it be renewed now? And does it, whatever a person says of it. -1 with *e set: no. */
int keeper_can_renew(const struct box *b, struct err *e);
int keeper_renew(struct box *b, struct err *e);
/* gates/renew_gate.c: box_renew(); what a person has answered is done, in every turn. */
void renew_settle(struct box *b);
void renew_json(const struct box *b, struct buf *out); /* members: the one that waits, or was refused */
/* Members of a JSON object: the time left, the renewals. */
void keeper_lease_json(const struct box *b, struct buf *out);
void record_renewal(struct run *run); /* record_effects.c */

/* orders.c: beside those of keeper.h */
void keeper_kill_now(struct box *b);
void keeper_signal(struct box *b, int sig);               /* async-signal-safe */
void keeper_limit_fired(struct box *b, enum limit_key k); /* ends it, if nothing has yet */

/* replaced.c */
int replaced_watch(struct box *b, struct err *e);
void replaced_serve(struct box *b);
void replaced_told(struct run *run); /* of a run: its session was ended so */

/* tripwire.c: stops the box if the caller asked for it. */
void tripwire_look(struct run *run, const struct effect_row *n);
void tripwire_lost(struct run *run,
                   enum effect_kind kind); /* what was lost may have been what it waits for */
/* What watches a stream for canaries, or NULL if the run has none; the next bytes of the stream. */
int tripwire_watch(const struct run *run, struct known **ret, struct err *e);
void tripwire_see(struct run *run, struct known *watch, const char *stream, struct span said);

/* denials.c */
void keeper_note_denial(struct run *run, const struct wall_denial *d);
void keeper_note_effect(struct run *run, const struct wall_denial *d);
/* Of a kind of wall_message.lost, so many more. */
void keeper_note_lost(struct run *run, uint32_t kind, uint32_t count);
void keeper_note_limits(struct run *run); /* each that was exceeded, at the end */
/* A row without words, of this run. Its texts may be the caller's, or a draft. */
struct effect_row keeper_row(const struct run *run, enum effect_kind kind);
/* Keeps a copy of it; fills in `what` of a path and the reason in words if they are missing. */
void keeper_add_denial(struct run *run, struct effect_row *n);
void keeper_count_denial(struct run *run, struct effect_row *n); /* or counts one more of the same */
/* A draft, good until the next denial is described; never NULL. */
const char *keeper_text(struct run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool keeper_is_inert(struct run *run, const char *text);
const char *keeper_command_name(struct run *run); /* the name of the command, inert */
/* Below one of the box's own writable places, which hide the host's files there. */
bool keeper_is_private(const char *path);
/* A denied read, and the line that allows it; NULL: the one that shows this path. */
void keeper_fill_read(struct run *run, struct effect_row *n, const char *path, const struct buf *line);
/* named_files.c: at the end of a run that failed */
void keeper_note_named(struct run *run);
/* outside.c: paths of the host that the payload named. A path whose filesystem may not answer is not
 * inspected, and counts as existing. */
bool outside_has(struct run *run, const char *path);
/* Follows symlinks; false also for a path that is not inspected. */
bool outside_is_directory(struct run *run, const char *path);
/* A descriptor of the file there, symlinks followed, and its path; -1: none. */
int outside_find(struct run *run, const char *path, char *ret_real, size_t cap);
/* Which of policy_doors() the run used, the caller's to free; NULL: not all of it was observed */
bool *keeper_doors_used(struct run *run);
struct box *keeper_new(const struct box_config *c); /* keeper.c; NULL: no memory */
/* box_life.c */
struct box *keeper_new(const struct box_config *c); /* keeper.c; NULL: no memory */
void keeper_begin(struct box *b);
void keeper_see_off(struct box *b); /* ends it, if it is not over, and waits for that */
/* waiting.c: in a phase. True: it has lasted as long as this. */
bool keeper_waits_too_long(struct box *b, unsigned most_ms);
/* starting.c: the parked box holds an interpreter that was started already. */
bool keeper_is_warm(const struct box *b);
bool keeper_is_new_phase(struct box *b); /* the first call in it */
void keeper_wait_for(struct box *b, int fd, short events);
void keeper_wait_us(struct box *b, unsigned us);
void keeper_wait_child(struct box *b, const struct child *c);
/* starting.c and ending.c: one function for each phase. 1: it is over, 0: it waits, -1: the box failed. */
int starting_record(struct box *b, struct err *e);
int starting_make(struct box *b, struct err *e);
int starting_fill(struct box *b, struct err *e);
int starting_ask(struct box *b, struct err *e);
int starting_trust(struct box *b, struct err *e);
int starting_birth(struct box *b, struct err *e);
int starting_clone(struct box *b, struct err *e);
int starting_told(struct box *b, struct err *e); /* label_live.c */
int starting_release(struct box *b, struct err *e);
int starting_park(struct box *b, struct err *e);
int starting_name(struct box *b, struct err *e);
int starting_streams(struct box *b, struct err *e);
int starting_order(struct box *b, struct err *e);
int ending_reap(struct box *b, struct err *e);
int ending_broker(struct box *b, struct err *e);
int ending_writer(struct box *b, struct err *e);
int ending_groups(struct box *b, struct err *e);
int ending_judge(struct box *b, struct err *e);
int ending_stamp(struct box *b, struct err *e);
int ending_publish(struct box *b, struct err *e);
int ending_result(struct box *b, struct err *e);
int ending_ledger(struct box *b, struct err *e);
int ending_janitor(struct box *b, struct err *e);
void keeper_hear(struct box *b); /* init_table.c: init's next message */
/* init_messages.c */
void keeper_hear_spare(struct box *b);
void keeper_note_error(struct box *b, const struct err *error);
/* session_runs.c */
/* A run gets its spare. 1: it is ready, 0: not yet, -1. */
int session_spare(struct box *b, struct err *e);
/* Passes a message of init on to the run that it is about. False: it is about none. */
bool session_forward(struct box *session, const struct wall_message *m, int fd);
/* In every turn: sends what was still to be sent. True: it is idle for too long. */
bool session_tend(struct box *session);
uint64_t session_next(const struct box *session); /* when it is idle for too long; 0: never */
void session_leave(struct box *b);                /* a run is over; a session has none from here on */
void session_kill(struct box *b);                 /* a run, with its process group */
bool session_takes_runs(const struct box *session);
void session_request_ahead(struct box *session); /* a spare for the next run */
void session_drop_peer(struct box *b);           /* a run of another keeper; `b` is freed */
void session_label_rises(const struct box *b);   /* of a run whose keeper is another process: it learns it */
int session_send_label(const struct box *b);     /* to that keeper */
/* session_peers.c: runs whose keeper is another process. */
/* Takes one up. Returns its end of the line, the caller's to close; -1 with *e set. */
int session_admit(struct box *session, struct err *e);
/* session_runs.c: the spare that waits for this run's order enters the run's own control group. */
void session_enter_group(struct box *session, struct box *b, int spare);
void session_serve_peers(struct box *session);
unsigned session_count(const struct box *session); /* its runs */
/* session_wire.c: the other side. 1: the spare came, 0: not yet, -1. */
int session_joined(struct box *b, struct err *e);
/* May a run that is handed data with this label begin? */
int session_fits(const struct box_config *c, const struct label *session, struct err *e);
/* session_labels.c: the label of a session is that of each run in it. */
/* Remote runs that have sent their label get the session's, or end. Before their next order is passed on. */
void session_answer_labels(struct box *session);
/* At the end of a run, when nothing of it can come any more: 1; 0: not yet. */
int session_last_label(struct box *b);
/* session_told.c: what the session's broker, signer and approvers say, for the run that it is about, else for
 * each run under way. */
/* `group`: whose socket it was; 0: not known. */
void session_tell_held(struct box *session, const char *id, const char *what, unsigned within_s,
                       uint64_t group);
void session_tell_blocked(struct box *session, const struct effect_row *d, uint64_t group);
void session_told(struct box *run, const struct wall_message *m);
/* wakeup.c: the descriptor of the caller reports the slots of `wants`. */
void wakeup_reported(struct box *b);
void wakeup_arm(struct box *b, const struct pollfd wants[static SLOT__COUNT]);
bool wakeup_is_due(const struct box *b); /* something is ready that no epoll can report */
/* broker.c: nothing happens for a box without `net` doors */
int broker_start(struct box *b, struct err *e);
int broker_ready(struct box *b, struct err *e); /* 1; 0: not yet; -1 */
void broker_catch_up(struct box *b);            /* hears all that it has sent */
void broker_settle(struct box *b);              /* and all that it has to send */
void broker_give(struct box *b, const struct wall_message *m, int fd);
void broker_hear(struct box *b);
void broker_record(struct box *b); /* its first effect with consequences: the ledger's writer is started */
/* fixture_file.c: names the file of recorded exchanges, if it is whole. */
int recording_finish(struct run *run, struct err *e);
/* Takes the broker's last rows, then reaps it; then the ledger's writer. False: not yet. */
bool broker_finish(struct box *b);
bool broker_writer_end(struct box *b);

/* key_doors.c: nothing happens for a box without `sign` or `decrypt` doors */
int keys_start(struct box *b, struct err *e);
int keys_ready(struct box *b, struct err *e); /* 1; 0: not yet; -1 */
int keys_fd(const struct box *b);             /* to wait for; or -1 */
void keys_give(struct box *b, uint32_t kind,
               int fd); /* a socket that listens in the box: enum plan_listener */
void keys_hear(struct box *b);
void keys_catch_up(struct box *b); /* hears all that it has sent */
void keys_answered(struct box *b, uint32_t number, bool yes, enum effect_reason why); /* an approver */
bool keys_finish(struct box *b);                                                      /* false: not yet */

/* listen_doors.c: nothing happens for a box without `listen` doors */
/* gates/: doors with `ask`. Nothing happens for a box without one. */
struct gate_envelope;
int gates_open(struct box *b, struct err *e);
int gates_line(struct box *b); /* the broker's end of its line, the caller's to close; -1: none */
int gates_fd(const struct box *b);
void gates_serve(struct box *b);
int64_t gates_next_ms(const struct box *b); /* when the first held effect expires; -1: never */
void gates_close(struct box *b);
enum desk_source {
        DESK_BROKER = 0,
        DESK_LISTEN,
        DESK_START,
        DESK_APPLY,
        DESK_TOOL,
        DESK_KEY,
        DESK_RENEW,
        DESK_DECOY
};
/* Holds an effect of the keeper's own, through this door; of a `listen` door inbound_answered() follows, of a
 * key keys_answered(). What each envelope has (box, door, expires, nonce, policy, run, stage, tenant,
 * version) is filled in, if `own` does not say it. Returns 0 or -1. */
struct desk_asked {
        enum desk_source source;
        uint32_t number;
        const struct door *door;
};
int desk_hold(struct box *b, const struct desk_asked *a, const struct gate_envelope *own,
              const struct buf *shown);

struct inbound_door {
        const struct door *door;
        uint16_t port, inner;         /* of the host's loopback, and in the box */
        uint32_t connections, failed; /* failed: no listener inside, or too many connections */
        uint64_t sent, received;      /* bytes out of the box and into it */
};
int inbound_open(struct box *b, struct err *e);
void inbound_answered(struct box *b, uint32_t number, bool yes); /* an approver, about a connection */
int inbound_fd(const struct box *b);                             /* to wait for; or -1 */
void inbound_serve(struct box *b);
void inbound_connected(struct box *b, uint32_t id, int *fd); /* init's answer; takes the descriptor */
const struct inbound_door *inbound_doors(const struct box *b, unsigned *ret_count);
void inbound_close(struct box *b);

/* registry.c */
void registry_open(struct box *b);
void registry_accept(struct box *b);
void registry_answer(struct box *b); /* the client has sent its request, or hung up */
void registry_drop(struct box *b);   /* it did not ask in time */
/* A whole run id. */
/* The run that `which` means among those that run: 0; 1: none; -1: not one. */
int registry_find(const char *which, char ret_run[64], struct err *e);
/* The output since *position (-1: all that is kept), which moves on. 0, or: */
enum registry_no { REGISTRY_GONE = 1, REGISTRY_SILENT, REGISTRY_NOT_KEPT, REGISTRY_REFUSED /* *out: why */ };
int registry_logs(const char *run, int32_t *position, struct buf *out);
void registry_send_result(struct box *session); /* to clients that wait for its end */
/* Requests a run in a session. Returns a line to its keeper, or -1 with *e set. */
int registry_join(const char *run, struct err *e);

/* box_names.c: the requested name is this box's until it is released; -1: another box has it */
int names_claim(struct box *b, struct err *e);
void names_release(struct box *b);
/* The box belongs to this state directory, as others see. */
int names_open(const struct cordon_context *cx);
void names_run(struct box *b);
bool names_has_run(int names, const char *run);

/* logs.c: the output of a detached box, while it runs and at its end */
void logs_add(struct run *run, const void *p, size_t n);
void logs_keep(const struct run *run);

/* run_record.c: the records of a run in the ledger */
int record_new(struct run *run, struct err *e);
/* With --require-ledger, before anything starts: 1: the start is on the disk; 0: another writer is in the way
 * (not with `last`); -1: it cannot be recorded. Else 1. */
int record_required(struct run *run, bool last, struct err *e);
void record_up(struct run *run);
void record_early(struct run *run); /* the start, before it: a person is asked about it */
/* Writes pending records to the ledger. Returns when to call again, in ms, or -1: none is pending. */
int record_tick(struct run *run);
/* All that was recorded so far is in the file. False: another writer is in the way. */
bool record_settled(struct run *run);
void record_bytes(struct run *run, int stream, const void *p, size_t n);
void record_denial(struct run *run, struct effect_row *d);
void record_finish(struct run *run);
bool record_written(struct run *run,
                    bool last); /* its end. False: another writer is in the way; not with `last` */
bool record_is_open(const struct run *run); /* the start is written, and no end */
/* causes.c: tells the ledger's writer what the requests of this box, or of its session, are caused by. */
int causes_line(struct box *b, int *ret_its); /* the writer's end */
void causes_changed(struct box *b);
void causes_of_peer(struct box *b, const char *ids); /* in a session, of a run of another process */
void record_free(struct run *run);
/* publish.c: single files that the box has as copies */
int keeper_copies_open(struct box *b, struct err *e);
/* init created one, and *fd, which is taken, is its directory. */
bool keeper_copy_made(struct box *b, const struct wall_message *m, int *fd);
/* At the end of the run, once; a failure is the run's. */
/* Of copies whose file on the host has not changed: a bit each, before and after our stamp on it. */
uint64_t keeper_copies_unchanged(const struct box *b);
void keeper_copies_stamped(struct box *b, uint64_t unchanged);
void keeper_copies_publish(struct box *b);
void keeper_copies_close(struct box *b);
/* In a private directory that stands for the host's. */
bool keeper_is_beside_copy(const struct box *b, const char *path);
/* edit_doors.c */
int keeper_work_begin(struct box *b, struct err *e);
/* A box without one has no private files: what it would keep there fails with a reason. */
void keeper_private_make(struct box *b);
/* label_out.c: what the run can write gets its label. */
int keeper_label_out(struct box *b, struct err *e);
int keeper_label_streams(struct box *b, struct err *e); /* of these alone its output */
/* The same for a file that the keeper is about to make in this directory. */
int keeper_label_new(const struct run *run, int dir, const char *name, struct err *e);
void keeper_label_rises(struct box *b, const struct label *to);
/* label_in.c: of its streams and handles alone. */
int keeper_label_in_run(const struct box_config *c, struct label *ret, struct err *e);
/* label_live.c: labels of files may have changed; have since its start. label_tell.c: were changed by us. */
void keeper_label_again(struct box *b);
void keeper_label_began(struct box *b);
void keeper_label_tell(struct box *b);
/* label_pending.c: noted until it is stamped. */
int keeper_label_pending(struct box *b, struct err *e);
void keeper_label_stamped(struct box *b);
/* label_written.c: the run begins; a run in this session is over. */
void keeper_label_since(struct box *b);
void keeper_label_written(const struct box *session);
/* registry_ask.c: asks every running box to look at the labels of files again. Next: one that has not
 * answered yet, or -1. */
void registry_tell(const struct cordon_context *cx, struct told *t);
int registry_told_next(struct told *t);
void registry_told_done(struct told *t);
/* touches.c: a call waits for a shut place; the broker was heard. */
bool touches_hear(struct box *b, uint32_t which); /* false: there is no such place */
void touches_settle(struct box *b);
/* broker.c: the broker is to judge by the label of this shut place too. False: there is none. */
int broker_label(struct box *b, const struct label *l,
                 struct err *e); /* of what it is handed: it has risen */
bool broker_raise(struct box *b, unsigned which);
/* Is a scan of the size due, with so much room left and so much allowed? Pure, except for the time of the
 * next check. */
bool keeper_tally_is_due(struct tally_time *t, uint64_t now, uint64_t room, uint64_t disk);
/* After a scan that began at `began`. */
void keeper_tally_rest(struct tally_time *t, uint64_t began, uint64_t now);
void keeper_work_look(struct box *b, uint64_t now);
void keeper_work_end(struct box *b);

/* host_calls.c: makes the line for calls; serves those that came. */
int calls_open(struct run *run, int *ret_inside);
void calls_serve(struct box *b);

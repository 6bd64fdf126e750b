/* SPDX-License-Identifier: MIT */
/* wall/wall.h - raises the walls of a plan around a new process tree, and starts the payload in it.
 *
 *   keeper ──clone──▶ init (pid 1 of the box) ──clone──▶ payload
 *
 * wall_start() clones init. init raises the walls, waits for the message that limits are in force, starts the
 * payload in a nested user namespace, and stays as reaper. init sends its reports as struct wall_message. */
#pragma once
#include "base/buf.h"
#include "base/context/context.h"
#include "base/err.h"
#include "base/limits.h"
#include "wall/plan/plan.h"

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum wall_layer { /* independent mechanisms; the names stand in results, claims and the knock-out matrix */
                  LAYER_USER = 0,
                  LAYER_MOUNT,
                  LAYER_PID,
                  LAYER_NET,
                  LAYER_IPC,
                  LAYER_UTS,
                  LAYER_CGROUP_NS,
                  LAYER_CAPS,
                  LAYER_NO_NEW_PRIVS,
                  LAYER_SECCOMP,
                  LAYER_LANDLOCK,
                  LAYER_RLIMIT,
                  LAYER_CGROUP,
                  LAYER_NESTED_USER,
                  LAYER_MEMFD, /* vm.memfd_noexec of the box's pid namespace */
                  LAYER__COUNT
};
const char *wall_layer_name(enum wall_layer l);

enum wall_word {
        WALL_SAYS_NOTHING = 0,
        WALL_SAYS_ERROR,
        WALL_SAYS_TTY,
        WALL_SAYS_UP,
        WALL_SAYS_DENIED, /* this was denied */
        WALL_SAYS_SAW,    /* this was tried, and is not denied here */
        WALL_SAYS_END,
        WALL_SAYS_LISTENER,  /* with a descriptor: a socket of the gateway, for the broker */
        WALL_SAYS_COPY,      /* with a descriptor: the private directory of one copied file */
        WALL_SAYS_CONNECTED, /* with a descriptor, unless it failed: the answer to wall_connect() */
        WALL_SAYS_LOST,      /* denials were not reported: too many came before them */
        WALL_SAYS_READY,     /* by a spare: it is attested, and waits for its order */
        WALL_SAYS_TOUCHED,   /* a call waits for a place that is shut: wall_touch_open() */
        WALL_SAYS_LABEL,     /* by a session, to the keeper of a run in it: the answer to wall_label() */
        WALL_SAYS_HELD,      /* by a session likewise: an effect waits for a person */
        WALL_SAYS_BLOCKED,   /* by a session likewise: its broker or signer denied an effect */
        WALL_SAYS_RAN,       /* a run of a box with many has ended: END of that run */
        WALL_SAYS_RISES      /* by a session likewise: its label has risen */
};

/* A directory of an edit door is renamed file by file, up to as many entries and bytes. */
enum { MOVE_ENTRIES_MAX = 5000, MOVE_BYTES_MAX = 64 << 20 };

enum { WALL_PATH = 448 };

/* A denial that is worth a report. */
struct wall_denial {
        struct seccomp_data call;
        uint32_t kind; /* enum effect_kind. A call is reported with its arguments, the others with their path
                        */
        uint32_t reason; /* enum effect_reason, if neither kind nor call implies it */
        uint32_t inside; /* RUN: the box sees a file of that name; SOCK: a socket */
        char program[64];
        char path[WALL_PATH]; /* absolute, as the box named it; a longer path ends in "..." */
};

/* The denied effect in our own words, and the policy line that would allow it (NULL: none can). */
const char *wall_denial_words(const struct wall_denial *d, char *what, size_t cap);
/* The name of the denied system call, a constant; NULL: this machine's table has none for it. */
const char *wall_denial_call(const struct wall_denial *d);
/* Why a call is denied. NO_DOOR: a connection; `path` is its destination. */
enum effect_reason wall_denial_reason(const struct wall_denial *d);
bool wall_denial_connects(const struct wall_denial *d); /* it continued, and found no listener at `path` */
bool wall_denial_makes(const struct wall_denial *d);    /* a name, and touches none that is there */

struct wall_end {
        int status; /* as from waitpid() */
        uint64_t cpu_ns;
        uint64_t max_rss;               /* bytes, of the largest process */
        uint32_t disk_full;             /* the private tmpfs was full at the last check */
        uint32_t memory_passed;         /* a process exceeded the limit between two samples */
        uint32_t procs_full;            /* as many tasks as the limit allows were seen at once */
        uint32_t files_full;            /* a process was seen with as many descriptors as the limit allows */
        uint32_t one_program;           /* starts were watched, and the payload started nothing else */
        uint32_t cpu_over, memory_over; /* found by sampling, if no control group enforces the limit */
        uint32_t disk_over;             /* files of edit doors without a name took more than the limit */
        uint32_t left;                  /* names in the private home, but settings and caches of programs */
        char left_name[64];             /* one of them, as the box chose it */
        uint32_t edit_watched;          /* the box watches files behind an edit door */
        uint32_t blind;                 /* paths were to be watched, and FUSE is not available */
        uint32_t time_over;    /* the keeper, which enforces it, did not end the box: it may be stopped */
        uint32_t session_over; /* of a run, by its session's keeper: the session has ended */
        uint32_t replaced;     /* likewise: it was ended because of what replaced.c watches */
        uint32_t empty;        /* init has waited for every other process of the box */
};

/* A session tells its runs this, in inert text: HELD has id, what and within_s, BLOCKED the others. */
struct wall_news {
        uint32_t kind;   /* enum effect_kind */
        uint32_t reason; /* enum effect_reason */
        uint32_t count, within_s;
        char id[72], method[40];
        char target[320], what[640], why[320], permit[512];
};

/* The thing that was lost, if not an enum effect_kind: the name of a secret, of whatever kind; what was seen,
 * and not denied. */
enum { WALL_LOST_SECRET = EFFECT_NONE, WALL_LOST_SEEN = EFFECT_KIND__COUNT, WALL_LOST__COUNT };

struct wall_message {
        uint32_t word;   /* enum wall_word */
        uint32_t layers; /* UP: bit per enum wall_layer that is in force */
        uint32_t run;    /* RAN: which; READY: the spare's pid in the box; DENIED, SAW and LOST: the leader
                            of the task's session, which the first process of a run is */
        union {
                struct err error;
                struct wall_denial denial;
                struct wall_end end;
                struct {
                        uint32_t kind; /* enum plan_listener */
                        uint32_t port;
                } listener;
                struct {
                        uint64_t ino;
                        uint32_t which; /* of the plan's COPY steps */
                } copy;
                struct {
                        uint32_t id; /* of the question */
                } connected;
                struct {
                        uint32_t which; /* of the plan's SHUT steps */
                } touched;
                struct {
                        uint32_t kind;  /* below WALL_LOST__COUNT */
                        uint32_t count; /* since the last such message */
                } lost;
                char label[LABEL_TEXT_MAX];
                struct wall_news told;
        };
};

/* Descriptors for the payload, in place: stdio[0..2] and the handles. -1 in stdio with a terminal. */
struct wall_stdio {
        int stdio[3];
        int handles[HANDLES_MAX];
        unsigned handle_count;
};

struct wall_child {
        pid_t pid; /* init, as we see it */
        int pidfd;
        int control;          /* messages from init; closing it ends the box */
        int spare;            /* see enum wall_spare; or -1 */
        pid_t launcher;       /* starts init; 0: it has, or was never started */
        int birth, host_proc; /* until wall_born(): readable when init exists; /proc of the host */
        bool born_in_cgroup;
        bool theirs;              /* init is a child of another process, which reaps it */
        bool own_pids;            /* it has a pid namespace: killing init ends all of it */
        uint64_t cpu_ns, max_rss; /* after wall_reap(): of all that init waited for, and its own */
};

/* The private overlay of one edit door: a directory with `upper` and `work`, or with a file `file`. */
struct wall_edit {
        const char *path;
        uint64_t dev, ino; /* its expected identity */
};

/* A spare is a payload's process that has gone through all last steps and was attested from inside, and waits
 * for its run order on a socket that only the keeper can write to. */
enum wall_spare {
        WALL_SPARE_NONE = 0, /* the payload starts at once */
        WALL_SPARE_ONE,      /* one spare, whose order goes to wall_child.spare; the box ends with its run */
        WALL_SPARE_MANY      /* as many as wall_spare_add() requests, one after the other or side by side */
};
enum { WALL_RUNS_MAX = 64 }; /* of a box with many, at a time */
/* A warm spare does not wait itself: it executes the plan's `warm`, an interpreter's driver, with the
 * standard streams in place, and that waits on the same socket. From then on it is the payload, and trusted
 * with nothing: it gets arguments, and is believed no answer but that it is ready. */

struct wall_start {
        const struct plan *plan;
        const struct plan_order *order;  /* of the run that is to begin in it */
        enum wall_spare spare;           /* then `order` is only a form */
        const struct cordon_context *cx; /* the path of cordon-init */
        const struct wall_edit *edits;   /* as many as the plan has EDIT steps */
        const struct wall_stdio *io;
        const char *own_dir;   /* private to the box, where its wall has no view of its own; or NULL */
        const int *copies;     /* files to copy, as many as the plan has COPY steps; or NULL */
        int trust_fd;          /* the text of BOX_TRUST, or -1 */
        uint32_t bundle_bytes; /* of that text, if BOX_NSS follows it in the same file; 0: it is all */
        int cgroup_fd;         /* v2 group to be created in, or -1 */
        bool groups_late;      /* wall_join() may follow: the payload must not be created before it */
        bool die_with_thread;  /* the caller has one thread: also use the parent-death signal */
        bool sampled;          /* no control group keeps memory: see struct seccomp_ask */
        bool tell;             /* report denied calls */
        bool watch_all;        /* with `watch`: also report effects that are allowed */
        bool watch;            /* report paths that were looked for and are hidden */
        bool own_core;         /* a core-scheduling cookie of its own, where the kernel has that */
        bool front; /* with `watch`: the box's own directories may be served through FUSE, if available */
        unsigned short rows, columns; /* of the terminal, when there is one */
        uid_t caller_uid;
        gid_t caller_gid;
        uid_t host_uid; /* the ids of the box's user outside */
        gid_t host_gid;
};

static inline bool wall_is_warm(enum wall_spare spare, const struct plan *p)
{
        return spare == WALL_SPARE_ONE && p->warm_count > 0;
}

/* Can this host raise it? Returns 0, also for a wall that this version does not have; -1 with *e set. */
int wall_check_host(enum wall_kind k, const struct host_facts *f, struct err *e);

/* Starts the launcher of init and sends it the plan. Returns 0 on success; -1 on error, and nothing is left.
 */
int wall_start(const struct wall_start *s, struct wall_child *ret, struct err *e);
/* Returns 1 when init exists, has its ids and doors, and waits for wall_release(); 0 if it does not exist
 * yet: call again when `birth` is readable; -1 on error. In each case wall_end() and wall_reap() follow in
 * the end. */
int wall_born(const struct wall_start *s, struct wall_child *c, struct err *e);

/* init is a program (host_init_program()), which calls this before anything else. */
_Noreturn void wall_init_enter(void);

/* Hints of starts that fail; the second is completed by the API, which can look at the host. */
#define WALL_NOT_NESTED "no box starts inside another: start both from outside"
#define WALL_ASK_DOCTOR "`cordon doctor` shows what this host lacks"
/* Is this process in a box? */
bool wall_is_nested(void);

/* Did the host forbid a mechanism of the namespace wall? Only then another wall may be tried. */
bool wall_refused_by_host(const struct err *e);
/* init writes "0" to this descriptor, a control group's task list, before the payload starts: a process with
 * one thread that moves itself does not wait, while a process that is moved waits for the kernel. */
int wall_join(const struct wall_child *c, int tasks_fd, struct err *e);
/* The limits that control groups enforce, and those that are left to init. */
enum wall_held {
        WALL_SAMPLES = 1,      /* no group keeps memory, processes or cpu: init samples */
        WALL_GROUP_PROCS = 2,  /* a group counts the processes: the rlimit is only the net below it */
        WALL_GROUP_SOCKETS = 4 /* a group bounds the buffers of Internet sockets apart */
};
/* Limits are in force: the payload may start. */
int wall_release(const struct wall_child *c, unsigned held, struct err *e);
/* ---- spares: spare_line.c ---- */

/* Requests another spare of a box with many. Returns the socket for its order, on which WALL_SAYS_READY or
 * WALL_SAYS_ERROR comes next; -1 on error. */
int wall_spare_add(const struct wall_child *c, struct err *e);
/* The process enters this control group, of which *procs is cgroup.procs, before it gets its order. */
int wall_spare_enter(int spare, int procs, struct err *e);
/* A run order on its way to a spare. */
struct wall_handover {
        struct buf block; /* the sealed order */
        size_t sent;
        bool begun;
};
void wall_handover_seal(struct wall_handover *h, const struct plan_order *o);
/* Sends the order with the payload's standard streams, and as handles those of `io` that are not -1. Never
 * waits: returns 1 if all is sent, 0 if the spare takes no more now, -1 on error (EPIPE: it is gone). The
 * socket closes when the program is executed; if it cannot be, WALL_SAYS_ERROR comes. */
int wall_handover(int spare, struct wall_handover *h, const struct wall_stdio *io);
/* The same for a warm spare, which gets the length of what follows (32 bits), then
 * words: "1" if standard error is standard output, or "0", then argv.
 * Each ends with NUL. */
void wall_handover_words(struct wall_handover *h, const struct plan_order *o, bool one_output);
/* Receives what a warm spare sends before it has its order: "R" if it is ready, or "E" and why not. Returns
 * 1, 0 if the socket is closed, -1 with errno set. */
enum { WALL_WARM_TEXT = 256 };
int wall_warm_listen(int spare, char ret[WALL_WARM_TEXT]);
/* Tells init that a run begins, before its order is sent. `pid` from WALL_SAYS_READY; 0: the only spare. */
int wall_run(const struct wall_child *c, uint32_t pid, uint32_t id, const struct policy_limits *limits);
/* Passes a message of init on to the keeper's part for one run. Returns 0, or -1 with errno set (EAGAIN: the
 * line is full). */
int wall_forward(int line, const struct wall_message *m, int fd);
/* The other way: passes an order of a run's keeper, which is another process, on to init, if it is about that
 * run: its begin, which is answered with WALL_SAYS_READY, a signal, a renewal, a terminal. Returns 1, 0 if
 * the line is closed, -1 with errno set (EPROTO: not such an order). Its label is not init's concern. */
enum { WALL_CAUSES = 384 };
struct wall_relayed {
        bool begins, tty;           /* it requests a terminal */
        bool labels;                /* it has this label, and requests the session's */
        char label[LABEL_TEXT_MAX]; /* then this */
        bool tells;                 /* the causes of what it requests */
        char causes[WALL_CAUSES];   /* then these */
};
int wall_relay(int line, const struct wall_child *c, uint32_t pid, uint32_t id, struct wall_relayed *ret);
/* Such an order: before the begin, with what the run is handed, and when nothing of it can come after that.
 */
int wall_label(const struct wall_child *session, const struct label *l);
/* Sets what causes the requests of this run from here on: ids of records, separated by spaces. */
int wall_causes(const struct wall_child *session, const char *ids);
/* Receives the next message of a spare, as wall_listen(). */
int wall_spare_listen(int spare, struct wall_message *ret);
/* Requests a terminal of the box's own: WALL_SAYS_TTY. */
int wall_tty(const struct wall_child *c, unsigned rows, unsigned columns);

/* Orders init to forward a signal to the payload's process group; of a box with many runs, that of one. */
int wall_signal(const struct wall_child *c, int signal);
int wall_signal_run(const struct wall_child *c, uint32_t id, int signal);
/* The time of a run ends so much later. `id`: of a box with many, which. */
int wall_renew(const struct wall_child *c, uint32_t id, uint64_t more_ms);
/* Requests a connection to a port of the box's own loopback from init: it comes with WALL_SAYS_CONNECTED and
 * the same id. Answers come in the order of the requests; an answer that the keeper did not take in time is
 * missing. */
int wall_connect(const struct wall_child *c, uint16_t port, uint32_t id);
/* The label of the run has risen: a place that is shut opens. */
int wall_touch_open(const struct wall_child *c, uint32_t which);
/* Orders init to end the box and to report the resources used. */
int wall_ask_to_end(const struct wall_child *c);
/* Receives the next message. Returns 1, 0 if init is gone, or -1 with errno set. `ret_fd` is the terminal
 * with WALL_SAYS_TTY, the socket with WALL_SAYS_LISTENER and WALL_SAYS_CONNECTED, the directory with
 * WALL_SAYS_COPY, and with WALL_SAYS_UP a descriptor to hold until the box is over. */
int wall_listen(const struct wall_child *c, struct wall_message *ret, int *ret_fd);
/* Ends the box at once: SIGKILL to init ends the pid namespace. Without one, only init finds the processes
 * that the payload left running, and does so when the control socket closes: then SIGKILL is sent only with
 * `force`. */
void wall_end(struct wall_child *c, bool force);
/* A descriptor of its mount namespace: while one is open, init's end does not wait for that of the mounts.
 * -1: this kernel gives none. */
int wall_mounts(const struct wall_child *c);
/* Reaps init if it has ended; never waits. Returns true if init no longer exists. */
bool wall_reap(struct wall_child *c);
/* Forgets an init that another process reaps. */
void wall_leave(struct wall_child *c);

/* An id outside that owns nothing: unique per run, so that two boxes of root share no uid either. */
uid_t wall_host_id(void);
/* The same within a range; count 0: any. */
uid_t wall_host_id_in(uint32_t first, uint32_t count);

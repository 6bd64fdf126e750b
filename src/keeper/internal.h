/* SPDX-License-Identifier: MIT */
/* keeper/internal.h - the keeper's state, shared by its files. */
#pragma once
#include "base/buf.h"
#include "keeper/keeper.h"

#include <poll.h>
#include <sys/types.h>

enum { PUMP_BUFFER = 65536, LOG_MAX = 1 << 20, CLIENTS_MAX = 8 };
/* Positions in the output of a box are told modulo 2 GiB: enough, as so much is never kept. */
enum { LOG_POSITION = 0x7fffffff };

/* How bytes leave towards the caller without ever blocking the keeper. */
enum outlet_kind {
        OUTLET_NONE = 0,
        OUTLET_FILE,
        OUTLET_NONBLOCK,
        OUTLET_SOCKET,
        OUTLET_POLITE /* ask, then write little */
};

struct pump { /* one direction of one stream */
        int from, to;
        enum outlet_kind outlet;
        bool own_from, own_to;
        bool blocked;  /* `to` took nothing: wait until it does */
        bool mid_line; /* what was written last does not end its line */
        size_t have, sent;
        char *buffer;
};

struct broker_line { /* to the broker of this box */
        pid_t pid;
        int control;
        int ledger;            /* the writer's end of the broker's line, until somebody asks; or -1 */
        pid_t writer;          /* of the ledger, for this run; or -1 */
        uint32_t after;        /* the newest effect that had its outcome in the ledger */
        int trust;             /* what programs in the box are to trust, or -1 */
        uint32_t bundle_bytes; /* of it, if a database of NSS follows; or 0 */
        struct egress_row *rows;
        bool told; /* its refusals are in the result */
        uint32_t record_failed;
};

struct tally_time {
        uint64_t next_ns; /* in any case */
        uint64_t soon_ns; /* if the disk went meanwhile; never later */
        uint64_t room;    /* that it had at the last look */
};

struct box {
        struct box_config c;
        struct broker_line broker;
        struct wall_child child;
        struct wall_start start;
        struct wall_stdio inside;
        struct limit_group group;
        struct limit_janitor janitor;
        struct pump in, out[2];
        int tty; /* our end of the box's terminal, or -1 */
        int registry;
        int name_lock; /* holds the name that was asked for; or -1 */
        int held;      /* the line of watched calls, so that it outlives init; or -1 */
        int memfd[HANDLES_MAX];
        uint64_t began_ns, deadline_ns, next_look_ns;
        uint64_t oom_ns; /* when v1 last said that memory is out; 0: settled */
        unsigned cpus;   /* host_cpus(); 0: not asked yet */
        bool up, init_gone, killed;
        bool one_program;               /* the payload's was the only one: what crossed, it sent */
        bool sampled;                   /* up, and init counts what no control group does */
        uint64_t killed_ns, gone_ns;    /* when it was ended by force; when init was gone */
        uint64_t late_bytes;            /* of output, read after init had gone */
        uint64_t asked_ns;              /* when a signal to end came before the payload ran; 0: none has */
        _Atomic uint64_t early_signals; /* bit per signal that came before the payload ran; set by handlers */
        int output_error; /* errno of the first write to the caller that failed, other than EPIPE */
        int input_error;  /* errno of the read that ended the input before its end; or 0 */
        bool log_on;
        struct host_slow *slow;   /* mounts that the keeper does not look into; NULL: not asked yet */
        struct record *record;    /* what run_record.c keeps; NULL: no ledger */
        struct buf log;           /* the last of the output, for `cordon logs` of a detached box */
        uint64_t log_total;       /* how much there was */
        struct inbound *inbound;  /* `listen` doors; or NULL */
        struct work_run *work;    /* layers of edit doors; or NULL */
        struct wall_edit *edits;  /* where they are */
        struct box_copy *copies;  /* single files of write doors; or NULL */
        int copy_fds[COPIES_MAX]; /* what is copied in */
        struct tally_time tally;  /* when to look at them again */
        struct box_result r;
};

/* pump.c */
int pump_open(struct box *b, struct err *e);
/* The pipes belong to the box's user, who may then also open them by name (/dev/stdin). Only root needs to
 * say so. */
void pump_own(struct box *b, uid_t uid, gid_t gid);
void pump_use_tty(struct box *b, int master);
unsigned pump_poll(struct box *b, struct pollfd *p);
void pump_serve(struct box *b, const struct pollfd *p, unsigned n);
void pump_close(struct box *b);
bool pump_outputs_open(const struct box *b);
bool pump_is_blocked(const struct box *b);   /* a reader outside takes nothing */
bool pump_outputs_idle(const struct box *b); /* and there is nothing to hand on */
bool pump_is_mid_line(const struct box *b);  /* what the caller writes to its standard error goes on a line */

/* handle_files.c */
/* The caller's descriptor of a handle, or -1. */
int handles_outside(const struct box *b, const char *name);
int handles_open(struct box *b, struct err *e);
int handles_finish(struct box *b, struct err *e);
void handles_close(struct box *b);

/* limit_watch.c */
/* Whether init is born in its groups; making them, before its birth or late; its way in; what they hold (enum
 * wall_held). */
const char *keeper_run(struct box *b); /* run_id.c */
bool keeper_groups_come_first(const struct box *b);
bool keeper_groups_are_joined(
        const struct box *b); /* init has still to enter some: v1 has no birth in them */
int keeper_groups_make(struct box *b, bool late, struct err *e);
int keeper_groups_enter(struct box *b, struct err *e);
unsigned keeper_groups_hold(const struct box *b);
void keeper_groups_end(struct box *b);
void keeper_limits_look(struct box *b, bool oom); /* oom: the kernel is out of the box's memory just now */
int keeper_next_look_ms(struct box *b);
/* What poll() must wait for on the out-of-memory event, and taking it away so that it does not fire again;
 * true: v1 had said so. Then a kill may follow: looks come close together for a while. */
short keeper_oom_events(const struct box *b);
bool keeper_oom_drain(const struct box *b);
void keeper_oom_noted(struct box *b);

/* orders.c: beside those of keeper.h */
void keeper_limit_fired(struct box *b, enum limit_key k); /* ends it, if nothing has yet */

/* denials.c */
void keeper_note_denial(struct box *b, const struct wall_denial *d);
void keeper_note_effect(struct box *b, const struct wall_denial *d);
void keeper_note_limits(struct box *b); /* each that said no, at the end */
void keeper_add_denial(struct box *b, const struct box_denial *n);
/* denials.c: what the command goes by, inert */
void keeper_command_name(const struct box *b, char *ret, size_t cap);
/* Below one of the box's own writable places, which hide what the host has there. */
bool keeper_is_private(const char *path);
/* A read that was refused, and the line that permits it; NULL: the one that shows this path. */
void keeper_fill_read(struct box_denial *n, const char *path, const char *home, const struct buf *line);
/* named_files.c: at the end of a run that failed */
void keeper_note_named(struct box *b);
/* outside.c: paths of the host that the payload named. What may not answer is not looked at, and counts as
 * there. */
bool outside_has(struct box *b, const char *path);
/* Links followed; false also of what is not looked at. */
bool outside_is_directory(struct box *b, const char *path);
/* A descriptor of what is there, links followed, and where that is; -1: nothing. */
int outside_find(struct box *b, const char *path, char *ret_real, size_t cap);
/* Which of policy_doors() the run used, the caller's to free; NULL: not all of it was observed */
bool *keeper_doors_used(struct box *b);
/* broker.c: nothing happens for a box without `net` doors */
int broker_start(struct box *b, struct err *e);
int broker_await(struct box *b, struct err *e); /* until it is ready */
void broker_give(struct box *b, const struct wall_message *m, int fd);
void broker_hear(struct box *b);
void broker_record(struct box *b); /* its first effect with consequences: the ledger's writer is started */
/* fixture_file.c: names the file of recorded exchanges, if it is whole. */
int recording_finish(struct box *b, struct err *e);
void broker_finish(struct box *b); /* takes its last words; nothing of it is left */

/* listen_doors.c: nothing happens for a box without `listen` doors */
struct inbound_door {
        uint16_t port, inner;         /* of the host's loopback, and in the box */
        uint32_t connections, failed; /* failed: nobody listened inside, or there were too many */
        uint64_t sent, received;      /* bytes out of the box and into it */
};
int inbound_open(struct box *b, struct err *e);
int inbound_fd(const struct box *b); /* to wait for; or -1 */
void inbound_serve(struct box *b);
void inbound_connected(struct box *b, uint32_t id, int *fd); /* init's answer; takes the descriptor */
const struct inbound_door *inbound_doors(const struct box *b, unsigned *ret_count);
void inbound_close(struct box *b);

/* registry.c */
void registry_open(struct box *b);
void registry_serve(struct box *b);
/* A whole run id. */
bool registry_is_run_id(const char *which);
/* The run that `which` means among those that run: 0; 1: none; -1: not one. */
int registry_find(const char *which, char ret_run[64], struct err *e);
/* What it said since *position (-1: all there is), which moves on. 0, or: */
enum registry_no { REGISTRY_GONE = 1, REGISTRY_SILENT, REGISTRY_NOT_KEPT };
int registry_logs(const char *run, int32_t *position, struct buf *out);

/* box_names.c: the name that was asked for is this box's until it is released; -1: another one has it */
int names_claim(struct box *b, struct err *e);
void names_release(struct box *b);

/* logs.c: what a detached box says, and at its end */
void logs_add(struct box *b, const void *p, size_t n);
void logs_keep(const struct box *b);

/* run_record.c: what the run leaves in the ledger */
/* Before anything starts; with --require-ledger, -1 where it cannot be recorded. */
int record_new(struct box *b, struct err *e);
void record_up(struct box *b);
/* Writes what waits for the ledger; when to call again, in ms, or -1: nothing waits. */
int record_tick(struct box *b);
/* All that was recorded so far is in the file, if that can be had at once. */
void record_settle(struct box *b);
void record_bytes(struct box *b, int stream, const void *p, size_t n);
void record_denial(struct box *b, struct box_denial *d);
void record_finish(struct box *b);
bool record_is_open(const struct box *b); /* the start is written, and no end */
void record_free(struct box *b);
/* publish.c: single files that the box has as copies */
int keeper_copies_open(struct box *b, struct err *e);
/* init made one, and *fd, which is taken, is the directory that it lies in. */
void keeper_copy_made(struct box *b, const struct wall_message *m, int *fd);
/* At the end of the run, once; a failure is the run's. */
void keeper_copies_publish(struct box *b);
void keeper_copies_close(struct box *b);
/* In a private directory that stands for the host's. */
bool keeper_is_beside_copy(const struct box *b, const char *path);
/* edit_doors.c */
int keeper_work_begin(struct box *b, struct err *e);
/* Is it time to look how much there is, with so much room left and so much permitted? Pure, but for the time
 * after which to ask again. */
bool keeper_tally_is_due(struct tally_time *t, uint64_t now, uint64_t room, uint64_t disk);
/* After a look that began at `began`. */
void keeper_tally_rest(struct tally_time *t, uint64_t began, uint64_t now);
void keeper_work_look(struct box *b, uint64_t now);
void keeper_work_end(struct box *b);

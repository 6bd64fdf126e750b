/* SPDX-License-Identifier: MIT */
/* wall/internal.h - declarations shared by the stages of a wall. Everything here runs between clone and exec:
 * no heap, no locks, no libc state. Errors go into struct err. */
#pragma once
#include "base/fd.h"
#include "wall/hooks.h"
#include "wall/linux/seccomp/seccomp.h"
#include "wall/wall.h"

#include <errno.h>
#include <linux/filter.h>
#include <sched.h>
#include <sys/stat.h>

enum {
        FILTER_MAX = 1024,
        PAYLOAD_STACK = 128 * 1024,
        SOCKS_MAX = 64,
        MOVES_MAX = 32,
        SHUT_MAX = PLAN_SHUT_MAX,
        TOUCHING_MAX = 64
};

/* Names of the order in which walls go up; err.step. */
enum wall_step {
        STAGE_NONE = 0,
        STAGE_CLONE,
        STAGE_MAP,
        STAGE_ROOT,
        STAGE_DOORS,
        STAGE_TTY,
        STAGE_PIVOT,
        STAGE_LANDLOCK,
        STAGE_NET,
        STAGE_IDS,
        STAGE_CAPS,
        STAGE_LIMITS,
        STAGE_SECCOMP,
        STAGE_ATTEST,
        STAGE_EXEC,
};

/* Commands from the keeper to init. */
enum wall_command {
        COMMAND_NONE = 0,
        COMMAND_MAPPED,
        COMMAND_RELEASE,
        COMMAND_SIGNAL,
        COMMAND_END,
        COMMAND_MOUNT,
        COMMAND_JOIN,
        COMMAND_CONNECT, /* to a port of the box's own loopback; answered with WALL_SAYS_CONNECTED */
        COMMAND_TTY,     /* a terminal is made and sent with WALL_SAYS_TTY; arg: rows << 16 | columns */
        COMMAND_OPEN,    /* the cover of a shut place is taken off; arg: which */
        COMMAND_RUN,     /* a spare gets its run order: its clocks begin */
        COMMAND_RENEW,   /* its time ends so much later */
        COMMAND_LABEL,   /* to a session, never to init: see wall_label() */
        COMMAND_CAUSES   /* the same: wall_causes() */
};
struct wall_order {
        uint32_t command;
        int32_t arg; /* RUN: the spare's pid in the box; 0: the only spare */
        uint32_t id; /* CONNECT: of the question, for its answer; RUN, SIGNAL, RENEW: of the run */
        uint64_t time_ms, cpu_ms;   /* RUN: its limits; RENEW: one of them */
        char label[LABEL_TEXT_MAX]; /* LABEL */
        char causes[WALL_CAUSES];   /* CAUSES */
};
struct wire_form;
extern const struct wire_form wall_order_form;
/* wall_forms.c: messages of init. wall_put() blocks; wall_put_now() drops the message if the queue is full.
 * Return 0, or -1 with errno. wall_take() returns 1, 0 if the peer has closed, -1 with errno. */
int wall_put(int control, const struct wall_message *m, int pass);
int wall_put_now(int control, const struct wall_message *m);
int wall_take(int control, struct wall_message *ret, int *ret_pass);

/* sample_shared.c: the state that a sample of shared memory keeps until the next one. */
enum { SHARED_SEEN_MAX = 4096 };
struct wall_shared {
        uint64_t looked_ns, next_ns, file_bytes;
        uint64_t handles[HANDLES_MAX]; /* inode numbers that are the keeper's, not the box's */
        unsigned handle_count;
        bool seen_any;
        uint64_t seen[SHARED_SEEN_MAX]; /* inode numbers counted in this sample */
};

/* sample_sockets.c: bytes in the buffers of the box's sockets, at the last look. */
struct wall_sockets {
        uint64_t next_ns, inet, local;
};

/* sample.c */
struct wall_disk {
        uint64_t free;   /* below the overlays of edit doors, at the start */
        unsigned hiding; /* looks since the box holds files where their size cannot be seen */
};

/* sample.c: the processes of a sample, and the CPU time of each. */
enum { STILL_MAX = 64, STILL_LOOKS = 9 };
struct wall_still {
        struct wall_still_process {
                clockid_t clock;
                uint64_t used_ns;
        } at[STILL_MAX];
        unsigned count, skipped;
        bool known;
};

/* task_core.c: a place, and the cores that are not it. */
struct wall_core {
        cpu_set_t all, others;
        bool known; /* there are others */
};
void wall_core_note(struct wall_core *c);                          /* the core that we run on */
void wall_core_leave_to_us(const struct wall_core *c, pid_t made); /* a new task goes elsewhere */
void wall_core_stay(const struct wall_core *c); /* we stay there, and so does what we create from now on */
void wall_core_any_of(const struct wall_core *c, pid_t made); /* it may be anywhere again; 0: we */

/* many_runs.c */
struct wall_runs {
        struct {
                pid_t pid;
                uint32_t id;
                uint64_t deadline_ns; /* 0: it was ended */
        } run[WALL_RUNS_MAX];
        unsigned count;
};
struct wall_init;
bool wall_is_blind(const struct wall_init *w); /* hidden paths were to be reported, and cannot be watched */
void wall_runs_add(struct wall_runs *r, pid_t pid, uint32_t id, uint64_t deadline_ns);
pid_t wall_runs_find(const struct wall_runs *r, uint32_t id); /* 0: it has ended */
/* `only`: the deadline of a box with one run, or NULL. */
void wall_runs_renew(struct wall_runs *r, const struct wall_order *o, uint64_t *only);
/* If it was one, reports that to the keeper. */
void wall_runs_ended(struct wall_runs *r, const struct wall_init *w, pid_t pid, int status,
                     const struct rusage *used);
void wall_runs_end_late(struct wall_runs *r, uint64_t now);
uint64_t wall_runs_next(const struct wall_runs *r, uint64_t next); /* the first deadline of all */

/* How much of each kind went unreported, and how much of that the keeper knows of. */
struct wall_untold {
        uint32_t lost[WALL_LOST__COUNT], said[WALL_LOST__COUNT];
};

/* State of init. */
struct wall_init {
        const struct wall_start *s;
        const struct plan *plan;
        const struct plan_order *order;
        int control;
        int keeper; /* its process, if closing the line would not show that it ended; or -1 */
        int trust;
        int host_proc;     /* the host's /proc, checked to be one */
        int root;          /* the new root */
        int proc;          /* the box's own /proc */
        int names;         /* another mount of it, which can be written; or -1: see thread_name.c */
        int tasks;         /* used to read arguments of the payload's calls, for reports */
        int scratch;       /* the private tmpfs, to see whether it is full */
        int fuse;          /* the device behind a watched root, until that is mounted */
        int observer_proc; /* until it is buried */
        int texts;         /* a tmpfs for the small files of a watched root */
        int empty;         /* the first cover of a hidden directory, or -1 */
        unsigned text_count;
        int parent; /* root.c: the directory of the last step, and its path */
        const char *parent_path;
        size_t parent_len;
        uint64_t parent_dev; /* 0: not known */
        bool masked;
        int socks[SOCKS_MAX]; /* of `sock` doors, if the connector needs them */
        unsigned sock_count;
        int calls;                  /* to the connector; see connector.h */
        pid_t connector;            /* 0: not made yet */
        int moves;                  /* to the mover; see mover.h */
        pid_t mover;                /* 0: not made yet */
        uint64_t moving[MOVES_MAX]; /* calls that it has */
        bool scoped;                /* Landlock keeps signals in */
        bool serves_signals;        /* else init sends them: see signals.c */
        bool serves_moves;          /* renames stop at us */
        bool serves_links;          /* as sockets for NETLINK_ROUTE do; see net_links.h */
        bool linked;                /* there was one */
        int shut[SHUT_MAX];         /* covers of places that are shut; until the toucher has them */
        int behind[SHUT_MAX];       /* a mount that such a cover took the place of; or -1 */
        int under[SHUT_MAX];        /* that place */
        int shut_asks[SHUT_MAX];    /* the device behind each, if `covers_ask`; until the toucher has them */
        unsigned shut_count;
        bool covers_ask;               /* by FUSE; else every lookup is shown to init */
        int toucher;                   /* to the process that takes them off; see toucher.h */
        uint32_t touched, touch_asked; /* a bit for each place: it is open; the keeper was asked */
        struct wall_touching {
                uint64_t id; /* of a call that waits; 0: none */
                uint32_t which;
        } touching[TOUCHING_MAX];
        struct wall_told {
                _Atomic(pid_t) connector; /* whose lookups are the box's; or 0 */
                _Atomic(uint32_t) runs;   /* that have begun in the box */
        } * observer_knows;               /* shared with the observer; NULL without one */
        pid_t observer;                   /* serves the root if it is watched; 0: a plain tmpfs */
        uint64_t root_dev, scratch_dev;   /* our own filesystems: mount points are created only there */
        int landlock;                     /* ruleset to enforce */
        int listener;                     /* seccomp notifications */
        int tty_slave;
        pid_t payload;
        pid_t reaper;    /* process wall: our parent, as long as it lives */
        int children;    /* process wall: wall_own_children() */
        uint32_t layers; /* bit per layer that is up */
        unsigned held;   /* enum wall_held: sent with the release */
        bool memfd_sealed;
        int handles[HANDLES_MAX];
        int stand_in[HANDLES_MAX]; /* out_handles.c */
        pid_t net_helper;
        int net_ns; /* a file of it, or a process in it */
        int net_error;
        ino_t host_net;        /* the network namespace that the box must not be in */
        bool early;            /* the payload's process makes the network namespace: see payload.c */
        int gate, news;        /* eventfds: "go on" to that process, "my namespaces are there" from it */
        _Atomic(pid_t) alive;  /* its id, until it has left our memory: by exec or by its end */
        struct wall_core core; /* the core that we ran on when that process was created */
        unsigned last_cap;
        mode_t mask;          /* of files that the payload creates */
        struct wall_net *net; /* net_namespace.c: shared with the helper of a box that has `net` doors */
        struct sock_filter filter[FILTER_MAX];
        unsigned short filter_len;
        uint64_t own; /* see struct seccomp_ask */
        struct wall_shared shared;
        struct wall_sockets sockets;
        struct wall_disk disk;
        struct err error; /* of the payload's side, until exec */
        bool payload_failed, at_exec;
        int spare; /* spare.c: the socket that its orders come from, until it has it; or -1 */
        struct wall_spared *spared; /* the order of the only spare, shared with it; or NULL */
        unsigned char stack[PAYLOAD_STACK] __attribute__((aligned(16)));
};

/* Zero is a valid descriptor: every struct wall_init must be initialised with this. */
static inline void wall_no_descriptors(struct wall_init *w)
{
        w->control = w->keeper = w->trust = w->host_proc = w->root = w->proc = w->names = w->tasks =
                w->scratch = w->fuse = w->observer_proc = w->texts = w->empty = w->parent = w->landlock =
                        w->listener = w->tty_slave = w->children = w->calls = w->moves = w->toucher =
                                w->net_ns = w->gate = w->news = w->spare = -1;
        for (unsigned i = 0; i < SHUT_MAX; i++)
                w->shut[i] = w->behind[i] = w->under[i] = w->shut_asks[i] = -1;
}

/* Time on processors, in and out of the kernel. */
static inline uint64_t wall_cpu_ns(const struct rusage *u)
{
        return (uint64_t) (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000u +
               (uint64_t) (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000u;
}

/* Not "no", but "not now": another box that uses up processes, memory or descriptors must not bring the next
 * one to a lower wall. */
static inline bool wall_is_shortage(int sys) { return sys == EAGAIN || sys == EINTR || fd_is_want(sys); }

/* wall_fail.c */
int wall_fail(struct err *e, enum wall_step step, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same, if a namespace cannot be created. */
int wall_fail_namespace(struct err *e, enum wall_step step, const char *what);

/* keeper_line.c: receives the keeper's next order, as wire_recv(); returns 0 also when the keeper is gone.
 * Sends a message to the keeper and waits until it is sent; -1: the keeper is gone. */
int wall_hear(const struct wall_init *w, struct wall_order *ret, int *ret_fd);
int wall_say(const struct wall_init *w, const struct wall_message *m);
/* Sends it if the keeper takes it soon. Returns false with errno set if not. */
bool wall_offer(int control, const struct wall_message *m);
/* The same for a denial that is news. One that is lost is counted; the keeper hears of the count whenever it
 * has doubled. */
enum wall_report { REPORT_KNOWN = 0, REPORT_NEW, REPORT_LOST };
void wall_offer_denial(int control, const struct wall_message *m, enum wall_report news,
                       struct wall_untold *u);
bool wall_names_secret(const struct wall_message *m);    /* a path that a tripwire looks for */
int wall_root_build(struct wall_init *w, struct err *e); /* listen_socket.c */
void wall_masks_remove(const struct wall_init *w);
int wall_root_enter(struct wall_init *w, struct err *e);
/* private_tmpfs.c */
int wall_note_device(int fd, uint64_t *ret);
int wall_make_tmpfs(const char *size, const char *inodes, uint64_t attr); /* detached; -1 with errno */
int wall_scratch_make(struct wall_init *w, struct err *e);                /* w->scratch, still detached */
/* edit_mount.c: attaches a detached tree (taken) at a temporary name in the new root; returns a descriptor of
 * the mounted tree, or -1 with errno. */
int wall_hold(struct wall_init *w, int detached, const char *name);
/* `layer` holds the directories "upper" and "work". Leaves the working directory in the host's /proc. Returns
 * the detached overlay, or -1 with errno. */
int wall_make_overlay(const struct wall_init *w, int lower, int layer, unsigned attr);
/* image_root.c: an image as the new root, under a private overlay; and what of it is closed in the end. */
int wall_image_root(struct wall_init *w, const struct plan_step *s, struct err *e);
int wall_image_close(struct wall_init *w, struct err *e);
/* Removes what the image has at `path`, whose directory is `dir`, in the overlay. */
int wall_image_clear(const struct wall_init *w, int dir, const char *path, struct err *e);
/* fuse_root.c: creates the watched root, detached, and starts the observer. -1 without an error: it is not
 * requested, or FUSE is not available, and a plain root will do. */
int wall_front_device(struct wall_init *w, struct err *e);
int wall_front_open(struct wall_init *w);
void wall_front_part(const struct wall_init *w); /* init and the observer need no common core from here on */
/* The device; and a mount behind it, detached, whose root has this mode. The kernel checks modes, or nobody
 * does before the server. Both return -1 with errno set on error. */
int wall_fuse_open(void);
int wall_fuse_mount(int fuse, const char *mode, bool checks_modes);
int wall_net_begin(struct wall_init *w, struct err *e); /* net_namespace.c: in parallel with the mounts */
int wall_net_join(struct wall_init *w, struct err *e);
/* netlink.c: of the namespace that the caller is in, up, if the plan has one. */
int wall_net_loopback(const struct wall_init *w, struct err *e);
void wall_net_settings(const struct wall_init *w);
/* gateway.c: the other end of the box's one link, and its listeners. Runs in the helper's process. */
int wall_gateway_raise(struct wall_init *w, int *ret_box_ns, struct err *e);
int wall_tty_open(struct wall_init *w, struct err *e); /* tty.c: the payload's streams */
void wall_tty_make(const struct wall_init *w, unsigned rows, unsigned columns); /* for the keeper */
int wall_landlock_build(struct wall_init *w, struct err *e);                    /* landlock.c */
/* init_plan.c: reads launch, box plan and run order from the keeper. */
int wall_take_plan(struct wall_init *w, struct err *e);
/* payload.c: creates the payload's process early, returns as clone(); waits until it has created its
 * namespaces; opens its next gate; starts the payload, an early or a new one. */
pid_t wall_payload_early(struct wall_init *w);
int wall_payload_namespaces(struct wall_init *w, struct err *e);
void wall_payload_let_on(struct wall_init *w);
int wall_payload_start(struct wall_init *w, struct err *e);
/* spare.c: starts the payload's process, which waits for its run order. wall_spare_order() is that order,
 * NULL if there was none or it was too long to share. */
int wall_spare_start(struct wall_init *w, struct err *e);
const struct plan_order *wall_spare_order(const struct wall_init *w);
/* Every signal as a new program has it. An early payload and init have one table of them until exec. */
void wall_signals_reset(void);
/* privileges.c: leaves the session keyring, so that keys possessed through the caller's stay outside, for one
 * that the boxes of the account share, or a new one; drops every capability up to the last that this kernel
 * knows (a call has to fail to find it). */
int wall_keyring_leave(struct err *e);
unsigned wall_last_cap(void);
int wall_privileges_drop(unsigned last_cap, struct err *e);
/* For a process that lives beside the payload: keeps these of its capabilities (of the first 32) and no
 * other, and makes the process not dumpable. Returns -1 with errno set on error. */
int wall_powers_keep(uint32_t caps);
int wall_rlimits(const struct wall_init *w, struct err *e); /* privileges.c */
int wall_attest(const struct wall_init *w, struct err *e);  /* attest.c */
/* out_handles.c: creates the file that the payload writes to instead of an `out` handle; copies it to the
 * handle when the payload has ended; closes the handles that need no copy. */
int wall_handles_stand_in(struct wall_init *w, struct err *e);
int wall_handles_hand_over(struct wall_init *w);
void wall_handles_close(struct wall_init *w);
int wall_become_root(const struct wall_init *w, struct err *e); /* privileges.c: id 0 of the namespace */
int wall_filter_compile(struct wall_init *w, struct err *e);    /* payload_filter.c */
int wall_filter_load(struct wall_init *w, struct err *e);       /* payload_filter.c */
/* home_left.c */
void wall_left(const struct wall_init *w, const struct plan_order *order, struct wall_end *end);
int wall_supervise(struct wall_init *w);            /* supervise.c */
_Noreturn void wall_init_main(struct wall_init *w); /* init.c */
/* process_tree.c: every process of the box, and init if its pid is 1. Returns -1 if they cannot be listed. */
int wall_each_process(const struct wall_init *w, void (*each)(void *ctx, int proc, const char *pid),
                      void *ctx);
int wall_own_children(void);             /* the list of them, open: for a process with one thread */
void wall_kill_stragglers(int children); /* every process that is left, until none is */
/* task.c: where a path of a task starts: its working directory, a descriptor of it, or our root, which is the
 * box's. Returns an O_PATH descriptor, or -1 with errno set. */
int wall_task_start(const struct wall_init *w, uint32_t task, int dirfd, const char *path);
/* The number behind a key of /proc/PROCESS/status, as "\nTgid:"; -1 if the text has no such line. */
long wall_status_number(int proc, const char *process, const char *key);
/* The process that a task is a thread of; 0: it is gone. */
uint32_t wall_task_process(const struct wall_init *w, uint32_t task);
/* thread_name.c: answers an open for writing of the name of a thread of the task's own process. False: the
 * call is about another file. */
bool wall_thread_name(const struct wall_init *w, const struct seccomp_notif *n);
/* signals.c: a call that sends a signal. True: it is answered; false: the answer is in *ret. */
bool wall_signal_call(const struct wall_init *w, const struct seccomp_notif *n,
                      struct seccomp_notif_resp *ret);
/* setgid.c: a chmod with the setgid bit, for a directory. Returns 0 or -errno; EPERM: not a directory. */
int wall_setgid(const struct wall_init *w, const struct seccomp_notif *n);
/* inotify.c: adds the watch that a task requests. Returns the watch descriptor or -errno; in `ret_denied` the
 * path that must not be watched, or "". */
int wall_inotify_add(const struct wall_init *w, const struct seccomp_notif *n, char *ret_denied, size_t cap);
/* sample.c: sums up the resource use of every process of the box. */
struct wall_sample {
        uint64_t cpu_ns, rss; /* rss: includes swap and page tables */
        uint64_t shmem;       /* the part of rss that is of shared memory */
        uint64_t tasks;
};
int wall_sample(const struct wall_init *w, struct wall_sample *ret);
uint64_t wall_stat_field(const char *stat, unsigned n); /* of /proc/PID/stat, 1-based; 0: malformed */
uint64_t wall_sample_files(const struct wall_init *w);  /* open descriptors of the process that has most */
/* Every entry of a directory of /proc that is a number. */
int wall_each_number(int at_dir, void (*each)(void *ctx, int dir, const char *name), void *ctx);
/* sample_shared.c: bytes of memory files and segments, in a process or not. begin: while the handles are
 * still open, which are memory files of the keeper. */
void wall_shared_begin(struct wall_init *w);
/* Bytes of edit doors' files that have no name any more; are some held where their size cannot be seen? */
uint64_t wall_sample_deleted(struct wall_init *w, bool *ret_hides);
void wall_disk_begin(struct wall_init *w); /* sample.c */
bool wall_over_disk(struct wall_init *w);
uint64_t wall_sample_shared(struct wall_init *w);
/* sample_sockets.c: fills w->sockets, unless the last look is new; is more in Internet sockets than the box's
 * share? Not if a group bounds them, or if they are the host's. */
bool wall_watches_sockets(const struct wall_init *w);
bool wall_over_sockets(struct wall_init *w);
/* sample.c: called before a sample; then whether any process has run since. */
void wall_still_note(struct wall_still *s, const struct wall_init *w);
bool wall_is_still(struct wall_still *s);

/* ---- mount_place.c ---- */
/* The mount attributes of a step's mount; and setting them. */
uint64_t wall_step_attr(unsigned flags);
int wall_set_attr(int tree, unsigned recursive, uint64_t set, uint64_t clear);
/* Moves a detached mount to its place in the new root, created if it is missing and lies on our own tmpfs. */
int wall_attach(struct wall_init *w, int tree, const char *path, bool is_dir, struct err *e);
/* The next mount that the keeper of a root caller created for us. */
int wall_receive_mount(struct wall_init *w, const struct plan_step *s, struct err *e);
/* A mount has changed the meaning of paths: cached directories may lie below it. */
void wall_forget_parent(struct wall_init *w);
/* Opens the file behind a door if it is still the same inode as when it was inspected. */
int wall_open_door(const struct plan_step *s, struct err *e);
int wall_judge_door(int fd, const struct plan_step *s, struct err *e); /* the same for an open descriptor */
/* A small file of the plan's, in a directory of our own. */
int wall_write_text(const struct plan_step *s, int dir, const char *name, struct err *e);
/* Opens `path` in the new root as a descriptor; fails with ELOOP behind a symlink. */
int place_find(const struct wall_init *w, const char *path);
/* Opens the file there. Returns -1 with errno set if the place was not found (place is -1) or is a symlink
 * itself (ELOOP), which can be neither covered nor held. */
int place_look(int place, struct stat *ret);
/* True for a directory of our own filesystems: only there may a mount point be created. */
bool place_is_ours(const struct wall_init *w, int dir);
bool place_is_made(const struct wall_init *w, int dir); /* of a watched root: whole, from the plan */
int place_make_node(int dir, const char *name, bool is_dir);
/* The parent directory of `path`, created if it is missing and lies on a filesystem of ours. Borrowed: the
 * last one is cached, because steps come in groups (/etc/..., /dev/...), and mounts on top of it would be a
 * new group. */
int place_open_parent(struct wall_init *w, const char *path, const char **ret_last);

/* ---- box_proc.c ---- */
/* A /proc of the box's own processes, detached; `hidepid` as in proc(5). */
int wall_proc_make(const char *hidepid);
int wall_do_cover(struct wall_init *w, const struct plan_step *s, struct err *e);
int wall_do_proc(struct wall_init *w, const struct plan_step *s, struct err *e);

/* ---- edit_mount.c ---- */
/* An edit door, and a part of one that is bind-mounted over itself. */
int wall_do_listen(struct wall_init *w, const struct plan_step *s, struct err *e); /* listen_socket.c */
int wall_keep_sock(struct wall_init *w, int tree, struct err *e);                  /* root.c */
/* still_dir.c: a directory that stays as it is. */
int wall_do_still(struct wall_init *w, const struct plan_step *s, struct err *e);
bool wall_is_hidden(const struct plan *p, const char *path);                     /* by its own mask */
int wall_do_copy(struct wall_init *w, const struct plan_step *s, struct err *e); /* file_copy.c */
int wall_do_edit(struct wall_init *w, const struct plan_step *s, struct err *e);
int wall_do_pin(struct wall_init *w, const struct plan_step *s, struct err *e);
/* Opens an overlay's directory if it is still the one that the keeper created. */
int wall_open_layer(const struct wall_edit *l, struct err *e);

/* A file that only Landlock denies: attestation uses it to check that Landlock is up. */
#define LANDLOCK_CANARY "/dev/.landlock"
/* The last name that attestation looks up in the root: later lookups are the payload's. No door has such a
 * name. */
#define ATTEST_MISSING "/.cordon"
/* The state of init and, until exec, of the payload's process. */
#define OWN_NAME HOST_INIT_PROGRAM

/* inbound_connect.c: connects to a port of the box's own loopback, and sends the socket to the keeper. */
void wall_inbound_connect(const struct wall_init *w, int port, uint32_t id);

/* SPDX-License-Identifier: MIT */
/* wall/plan/plan.h - checked policy + host facts + request -> an immutable, printable list of steps. Pure.
 *
 * Everything that can be decided before the box exists is decided here, so that what runs between clone and
 * exec only does. It is cut in two: the box plan (struct plan), the same for every run of a policy on a host,
 * and the run order (struct plan_order). Each can be sealed: one block of memory that another process reads.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/host/host.h"
#include "policy/policy.h"
#include "wall/plan/host_call.h"

#include <stdint.h>
#include <sys/types.h>

enum { PLAN_SHUT_MAX = 32 }; /* places that open when they are touched */
/* Own paths from PLAN_OWN_KEY on are files, those from PLAN_PLACE_AT on the place of a socket. */
enum { PLAN_OWN_KEY = 2, PLAN_PLACE_AT = 4, PLAN_WORK = 6, PLAN_OWN_PATHS = 7, PLAN_CONFIG_PATHS = 2 };

/* The state of one path of the host. Gathered by run/api/look.c, one per door. */
enum seen_kind { SEEN_NOTHING = 0, SEEN_FILE, SEEN_DIR, SEEN_SOCKET, SEEN_OTHER };
struct plan_seen {
        enum seen_kind kind; /* after following links */
        uint64_t dev, ino;   /* of the target of the symlinks */
        const char *link;    /* the path itself is a symbolic link with this target; or NULL */
        const char *real;    /* the path it resolves to through a symlink; NULL: none, or the door is stock */
        bool copyable;       /* a file of the caller's own in a directory that the caller can write */
        uint64_t bytes;      /* of a file that is copyable */
        bool repository;     /* a directory with a .git in it */
        uint64_t device;     /* st_rdev of a character device, else 0 */
        bool open_to_all;    /* it: every user may read and write it */
        bool closed;         /* it: the caller may not */
        const struct plan_node *nodes; /* of a `gpu` door: what it opens on this host */
        size_t node_count;
};
struct plan_node {
        const char *path;
        struct plan_seen seen;
};

/* A program that a `run` line or the command names, found on the host. */
struct plan_program {
        const char *path; /* the path at which the name was found: "/usr/bin/awk"; NULL: not on this host */
        const char *real; /* the path it resolves to: "/usr/bin/mawk" */
        uint64_t dev, ino;
        uint64_t links; /* the hard link count */
};

struct plan_handle {
        const char *name;
        bool out;
        uint64_t max;
        enum handle_type type;
        bool calls; /* no file: the line for calls of the caller's functions, without a name */
};

/* A file that the box finds in its home; only it can read it. */
struct plan_file {
        const char *path, *text;
};

/* The image that is the box's root, as the host has it unpacked. */
struct plan_top {
        const char *name; /* of an entry at the top of the image */
        bool is_dir;      /* else a file */
};
struct plan_image {
        const char *dir; /* absolute */
        uint64_t dev, ino;
        bool may_have_sockets; /* a directory of the caller's, not of the store */
        const struct plan_top *tops;
        size_t top_count;
        const char *passwd;     /* the text of its /etc/passwd, or NULL */
        const char *const *env; /* its defaults: "NAME=VALUE", NULL-terminated; or NULL */
        const char *cwd;        /* absolute, or NULL */
        bool has_user;
        uid_t uid, gid;
};

/* The caller's request beside the policy. */
struct plan_request {
        const struct plan_image *image; /* or NULL */
        const char *const *argv;        /* NULL-terminated, at least one */
        const char *const *passed;      /* values for `env NAME` doors: "NAME=VALUE", NULL-terminated */
        const struct plan_file *files;
        size_t file_count;
        const char *home, *home_real; /* the caller's, as named and as resolved; NULL: unknown, not needed */
        const char *cwd;              /* the caller's, absolute */
        const char *cwd_asked;        /* --cwd, absolute, or NULL */
        bool cwd_repository;          /* the working directory that will be used has a .git in it */
        bool stock_sockets;           /* the host may have sockets below /usr */
        bool cwd_made;                /* an empty directory takes its place if no door shows the caller's */
        char *git_config;             /* ~/.gitconfig of a box that sees a repository; or NULL */
        const char *term;             /* TERM for a box with a terminal */
        const struct host_machine *machine; /* for `local proc`; or NULL */
        bool tty;
        bool root_inside;                 /* uid 0 inside; without privileges outside */
        enum wall_kind wall;              /* resolved: not `auto` */
        bool as_root;                     /* the caller is root: doors need id-mapped mounts */
        const struct plan_seen *seen;     /* parallel to the policy's doors */
        const struct plan_program *found; /* parallel to the policy's doors (RUN doors only) */
        struct plan_program entry;        /* the program that argv[0] names */
        bool entry_searched;              /* argv[0] is a bare name, looked for in PATH */
        struct plan_program engine;       /* cordon-wasm, for a wall without programs */
        struct plan_program
                script_engine;    /* the module that runs a script; no path: the command is a module */
        struct plan_program code; /* what was compiled of the module before; no path: nothing */
        bool any_command;         /* argv is the program alone: a parked box is planned */
        bool no_command;          /* the doors are planned alone: no module has to exist */
        uint64_t fuel;            /* of a module; 0: no limit */
        const char *module_entry; /* the function that is called; NULL: _start */
        bool no_wasi;             /* the module gets the caller's functions alone */
        bool interpret;           /* nothing of the module is compiled */
        const struct host_function *functions;
        size_t function_count;
        const struct policy_places *places; /* or NULL */
        bool places_later;                  /* no run is planned yet: targets of @name are not resolved */
        enum policy_stage stage;
        /* cordon's own state directory, the file that opens its vault and the directory of the resident's
         * socket (from PLAN_PLACE_AT on), each as named and as resolved: no box sees them */
        const char *state[PLAN_OWN_PATHS];
        uint64_t own_socket[2];  /* device and inode of the resident's; 0: it does not exist */
        const char *const *shut; /* labelled files and directories: each opens when it is first touched */
        size_t shut_count;       /* at most PLAN_SHUT_MAX */
        const char *config[PLAN_CONFIG_PATHS]; /* policies and keys of later runs: no box may change them */
};

enum step_kind {
        STEP_NONE = 0,
        STEP_ROOT, /* text: the directory of an image (host path), under all other steps; the first, or none
                    */
        STEP_FILE, /* path, text: a small synthetic file */
        STEP_LINK, /* path, text: a symbolic link and its target */
        STEP_BIND, /* path: mount point; text: source (host path) */
        STEP_SCRATCH, /* path: mount point; text: which part of the private, size-capped tmpfs */
        STEP_DEVICE,  /* path: /dev/NAME, from the host, checked by its number */
        STEP_DIR,     /* path: an empty directory */
        STEP_COVER,   /* path: /proc/NAME, text: its content, mounted over proc's own. Before STEP_PROC */
        STEP_PROC,    /* a fresh /proc of the box's own processes, with nothing beside them but covers */
        STEP_DEVPTS,  /* terminals of the box's own */
        STEP_MASK,    /* path: hidden by an `except` */
        STEP_EDIT,    /* path: mount point; text: the tree below the private overlay (host path); layer: the
                         overlay's number */
        STEP_PIN,     /* path: a part of an edit door, mounted over itself with its own flags */
        STEP_COPY,    /* path: a file in a private directory, copied from text (host path); layer: the copy's
                         number */
        STEP_TRUST,   /* BOX_TRUST itself, BOX_NSS, or a file that BOX_TRUST covers if it exists */
        STEP_SHUT,    /* path: covered until the box first touches it; layer: its number */
        STEP_LISTEN,  /* path: a Unix socket on which cordon listens; layer: enum plan_listener */
        STEP_STILL, /* path: a directory of a door, with the entries that it has now: later ones do not appear
                     */
        STEP_KIND__COUNT
};

enum {                         /* how a step's mount behaves */
       STEP_WRITE = 1 << 0,    /* writable; else read-only */
       STEP_EXEC = 1 << 1,     /* programs may start and libraries load from it; else noexec */
       STEP_OPTIONAL = 1 << 2, /* skip if it does not exist */
       STEP_IDMAP = 1 << 3,    /* root: files of the caller's id appear as the box's */
       STEP_IS_DIR = 1 << 4,
       STEP_SOCK = 1 << 7,    /* BIND: a `sock` door */
       STEP_PRIVATE = 1 << 6, /* FILE, TRUST, DIR: only its owner may read and write it */
       STEP_GUARD = 1 << 5,   /* PIN: an `except`: it exists before the box starts, and does not change */
};

struct plan_step {
        enum step_kind kind;
        unsigned flags;
        const char *path;
        const char *text;
        uint64_t dev, ino; /* BIND, EDIT, COPY: the identity it must still have */
        unsigned layer;    /* EDIT, COPY, SHUT: its number, from 0 */
};

enum {                       /* Landlock rights, by class */
       RIGHT_LIST = 1 << 0,  /* read directories */
       RIGHT_READ = 1 << 1,  /* read files */
       RIGHT_WRITE = 1 << 2, /* everything but execution and device nodes */
       RIGHT_EXEC = 1 << 3,
       RIGHT_DEVICE = 1 << 4, /* write to and ioctl on a device node */
};

/* A name outside, on the way from a door that writes to a file of cordon's own: what covers that in the box
 * falls off when the name is replaced. */
struct plan_held {
        const char *path;
};

struct plan_rule {
        const char *path;
        unsigned rights;
        bool optional;
        unsigned entries; /* rights over each entry that this directory has when the box starts, except those
                             that an `except` names; entries created later have none */
        bool pinned;      /* the process wall, which has no mounts: the identity it must still have */
        uint64_t dev, ino;
        const char *real; /* the path it resolves to through a symlink, or NULL. For reports */
        bool covered;     /* rules above it give all of its rights: needs no Landlock rule */
};

/* The purpose of a socket of the gateway. */
enum plan_listener {
        LISTENER_NONE = 0,
        LISTENER_TCP,     /* connections to one port of every address */
        LISTENER_DNS_UDP, /* questions */
        LISTENER_DNS_TCP,
        LISTENER_SSH,   /* Unix sockets in the box: of an ssh-agent, */
        LISTENER_GPG,   /* and of a gpg-agent */
        LISTENER_WATCH, /* copies of the first packets that no listener takes: for reports, never answered */
        LISTENER_WHOSE, /* no listener: asks the kernel in which control group a socket of the box was made */
        LISTENER__COUNT
};

/* A literal address of the box's own loopback that a `net` door names: the broker listens there. */
struct plan_local {
        bool v6;
        uint8_t address[16]; /* network order; the first four for IPv4 */
        uint16_t port;
};

/* Unix sockets of the box's own processes, and of `sock` doors. */
enum plan_sockets {
        PLAN_SOCKETS_NONE = 0,
        PLAN_SOCKETS_FREE,  /* the box sees no other: nothing has to be denied */
        PLAN_SOCKETS_SERVED /* a directory of the host may show others: cordon connects in the box's place */
};

/* The run order: the part of the plan that belongs to one run. */
struct plan_order {
        const char **argv;
        const char **launch; /* argv of what is executed: the same, or that of cordon-wasm */
        const char **envp;
        const char **exec; /* paths to try in order, as execvp would */
        bool exec_denied;  /* own `run` lines narrow what starts, and none covers the command: it does not
                              start */
        const char *cwd;
        const char *cwd_outside; /* the caller's; NULL when another was asked for. For reports */
        bool tty;
        struct policy_limits limits; /* limits that count from its start: time, cpu, output, effects ... */
        struct plan_step *files;     /* STEP_FILE in the private home: files with a run's placeholders */
        size_t file_count;
};

/* The box plan: everything that must exist before a run can begin, and nothing that belongs to a single
 * run. */
struct plan {
        const char *box;
        enum wall_kind wall;
        unsigned without; /* WITHOUT_* of the policy */
        struct plan_step *steps;
        size_t step_count;
        struct plan_rule *rules;
        size_t rule_count;
        struct plan_held *held;
        size_t held_count;
        uid_t uid, gid;  /* inside */
        bool net;        /* a `net` door: one link to the gateway, on which the broker listens */
        bool authority;  /* a door opens TLS up: the box trusts its own authority */
        uint16_t *ports; /* that the broker listens on, rising, without repeats */
        size_t port_count;
        struct plan_local *locals;
        size_t local_count;
        unsigned local;   /* LOCAL_*: facilities that its processes use among themselves */
        bool run_any;     /* files that the box writes may run, also memfds */
        bool writes_host; /* a `write` or `edit` door: files outside the private ones can grow */
        unsigned edits;   /* the number of EDIT steps: each has its own overlay */
        unsigned copies;  /* the number of COPY steps: the keeper publishes each */
        enum plan_sockets sockets;
        bool keys;                   /* a `sign` or `decrypt` door: cordon-signer serves the box */
        struct policy_limits limits; /* memory, procs, files, disk: the others are the run's, and 0 here */
        struct plan_handle *handles; /* slots: a run connects them */
        size_t handle_count;
        struct plan_order *warm;  /* what a parked box starts before it has a run: an interpreter's driver */
        size_t warm_count;        /* 0 or 1 */
        const char *warm_why;     /* the policy has `warm`, and this command is not served so; not sealed */
        struct plan_order *order; /* the command of the request: not part of the box */
        struct arena mem;         /* everything above, and the plan itself */
};

/* The box's end of its one link, and the gateway's: the range for benchmarks (RFC 2544) and one of ours
 * from the unique local addresses, so that no reachable host has them. Names get 198.18.0.0/16 and
 * fd53:c0d0::/64, one address each. */
#define BOX_LINK     "eth0"
#define BOX_ADDRESS4 "198.19.255.2"
#define BOX_GATEWAY4 "198.19.255.1"
#define BOX_ADDRESS6 "fd53:c0d1::2"
#define BOX_GATEWAY6 "fd53:c0d1::1"

/* The roots that programs in a box with `net` doors trust: the host's and, when a door opens TLS, the
 * box's own authority. */
/* Sockets of `sign` and `decrypt` doors. */
#define BOX_SSH_AGENT "/run/cordon/ssh-agent"
#define BOX_GPG_AGENT "/run/cordon/gpg-agent"
#define BOX_TRUST     "/etc/cordon/ca-bundle.pem"

/* The home of every box, and its user's name. */
#define BOX_HOME "/home/box"
#define BOX_NO_HOME                                                                                          \
        "/nonexistent" /* of a wall without a view: init names wall_start.own_dir in its place               \
                        */

/* The database in which Chromium and other users of NSS look for their user's trusted roots. */
#define BOX_NSS BOX_HOME "/.pki/nssdb/cert9.db"

/* The one text of a box plan that depends on when it is made: plan_digest() leaves it out. */
#define PLAN_UPTIME "/proc/uptime"

/* Where a box for a module has the engine and the module. No door leads there. */
#define BOX_ENGINE "/.wasm/engine"
#define BOX_MODULE "/.wasm/module"
#define BOX_SCRIPT "/.wasm/script"
#define BOX_CODE   "/.wasm/code"

/* The beginning of a file with compiled code: 16 bytes, 16 of the version, then the digest of the module. */
#define CODE_FILE_MAGIC "cordon-wasm 2\n"
enum { CODE_FILE_DIGEST = 32 };

#define BOX_USER "box"
#define BOX_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* The step of the image that is the root; NULL: the root is made of doors alone. */
static inline const struct plan_step *plan_image_step(const struct plan *p)
{
        return p->step_count > 0 && p->steps[0].kind == STEP_ROOT ? &p->steps[0] : NULL;
}

struct plan *plan_make(const struct checked_policy *c, const struct plan_request *r, struct err *e);
void plan_free(struct plan *p);

/* seal.c: box plan and run order as blocks (base/block.h), appended to *out. */
void plan_seal_box(const struct plan *p, struct buf *out);
void plan_seal_order(const struct plan_order *o, struct buf *out);
/* Reads the block at the beginning of p in place, as block_open() does. The result points into p. */
int plan_open_box(void *p, size_t n, const struct plan **ret, size_t *ret_length, struct err *e);
int plan_open_order(void *p, size_t n, const struct plan_order **ret, size_t *ret_length, struct err *e);
/* The SHA-256 of the sealed box plan: two runs with the same digest can use the same parked box. Returns
 * -1 if memory runs out. */
int plan_digest(const struct plan *p, uint8_t ret_digest[32]);
/* Prints one step per line, as `cordon run --plan` shows it. */
void plan_print(const struct plan *p, struct buf *out);
const char *plan_step_name(enum step_kind k);

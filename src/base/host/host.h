/* SPDX-License-Identifier: MIT */
/* base/host/host.h - finds out what this kernel and this account can enforce. Only reads; never changes the
 * host.
 *
 * host_facts_quick() is on the start path and reads only what a start needs; host_probe_*() try operations
 * in a short-lived child and belong to `cordon doctor`.
 */
#pragma once
#include "base/child.h"
#include "base/context/context.h"
#include "base/err.h"
#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One mounted control-group hierarchy and our own group in it. */
struct host_hierarchy {
        bool present;
        char mount[256]; /* its mount point */
        char own[1024];  /* our group in it, "/" at its root; "" if it is outside the mounted part */
};

/* The controllers that limits need. */
enum host_controller {
        CONTROLLER_MEMORY = 0,
        CONTROLLER_PIDS,
        CONTROLLER_CPUACCT, /* v1; v2 always has cpu.stat */
        CONTROLLER_FREEZER, /* v1 */
        CONTROLLER__COUNT
};

struct host_cgroups {
        struct host_hierarchy v1[CONTROLLER__COUNT]; /* by controller; several may share one mount */
        struct host_hierarchy v2;
        bool v2_has[CONTROLLER__COUNT]; /* controllers available in the v2 hierarchy */
};

enum { HOST_LANDLOCK_SCOPES = 6 }; /* from this ABI on, Landlock confines signals and abstract sockets */

struct host_facts {
        uid_t uid;
        gid_t gid;
        bool maps_all;  /* the initial user namespace, or one that maps every id: root can take an id of its
                           own */
        bool has_setid; /* CAP_SETUID and CAP_SETGID: may become another id (root) */
        bool has_sys_admin; /* CAP_SYS_ADMIN here: idmapped mounts are possible */
        int landlock_abi;   /* 0: none */
        int landlock_errata;
        unsigned kernel_major, kernel_minor;
};

int host_facts_quick(struct host_facts *ret, struct err *e);
/* Before the oldest kernel that has the calls of a box. */
#define HOST_KERNEL_TEXT "5.13"
static inline bool host_is_old(const struct host_facts *f)
{
        return f->kernel_major * 1000 + f->kernel_minor < 5013;
}
/* Can init send the signals of a box? A call that it has taken is not interrupted since 5.19. */
static inline bool host_serves_signals(const struct host_facts *f)
{
        return f->kernel_major * 1000 + f->kernel_minor >= 5019;
}
#define HOST_AS_USER "docker run --user 1000 ... (or --cap-add SYS_ADMIN)"
/* The number of processors a box can use, regardless of the caller's own affinity: a process can widen its
 * affinity again. */
unsigned host_cpus(void);
/* 1: the kernel can keep the threads of a core for one box; 0: cores have one thread; -1: it cannot. */
int host_cores(void);
/* The number of entries of a kernel list ("0-3,8"); 0 if it is malformed. Pure. */
unsigned host_cpus_parse(const char *list);

/* The machine as shown to a box; see machine.c. */
enum { HOST_CPUS_MAX = 1024 };
struct host_machine {
        uint64_t cpus[HOST_CPUS_MAX / 64]; /* a bit for each that the caller may run on */
        uint64_t memory;                   /* bytes */
        uint64_t up_cs;                    /* since boot, in hundredths of a second */
        int64_t booted_s;                  /* wall-clock time of boot */
        char release[65], version[65];     /* as uname(2) */
        char cpuinfo[4096];                /* the beginning of the host's */
};
void host_machine_read(struct host_machine *ret);
/* Parses /proc/self/mountinfo and /proc/self/cgroup. */
int host_cgroups_read(struct host_cgroups *ret, struct err *e);
/* The same from given texts: pure, for tests and fuzzing. Returns 0, or -1 on malformed text. */
int host_cgroups_parse(const char *mountinfo, const char *cgroup, struct host_cgroups *ret);
/* Finds the group of a v1 controller ("": of v2) in a text of /proc/PID/cgroup. Pure. Returns 0, or -1 if
 * none. */
int host_cgroup_find(const char *cgroup, const char *controller, char *ret_path, size_t cap);
/* True if a control file's list ("cpu memory pids") contains this word. */
bool host_lists(const char *text, const char *word);

/* True if v2 is the only hierarchy, at its usual mount point. A quick check; no limit relies on it. */
bool host_cgroups_unified(void);

enum host_cgroup_fs { HOST_CGROUP_V1 = 0, HOST_CGROUP_V2, HOST_CGROUP_ANY /* tests only: unchecked */ };
/* Opens the root directory of a hierarchy, or `path` below it (plain names only). Returns a directory
 * descriptor, or -1 with errno; ENODEV: not a control-group filesystem of that kind. */
int host_cgroup_top(const struct host_hierarchy *y, enum host_cgroup_fs fs);
int host_cgroup_at(const struct host_hierarchy *y, const char *path, enum host_cgroup_fs fs);
/* Without root: the highest ancestor of our own v2 group that this account may write and that delegates
 * memory and pids. Returns a directory descriptor, or -1 with errno (EACCES: none). */
int host_cgroup_seat(const struct host_hierarchy *v2, enum host_cgroup_fs fs);

/* One line of `cordon doctor`. */
enum host_state { HOST_NO = 0, HOST_WEAK, HOST_YES };
struct host_finding {
        const struct cordon_context *cx; /* the environment to check */
        const char *layer;               /* "user namespaces" */
        enum host_state state;
        bool needed;      /* the namespace wall requires it */
        char detail[200]; /* what was found */
        char mend[240];   /* the command that fixes it, or "" */
};
/* Tries each layer in a short-lived child. Returns the number of findings written (at most cap). */
unsigned host_probe(const struct cordon_context *cx, struct host_finding *ret, unsigned cap);
/* Tries the one of this name. */
bool host_look_at(const struct cordon_context *cx, const char *layer, struct host_finding *ret);
/* Does Yama let no process trace another? Then nobody takes a socket out of one, as net doors must. */
bool host_forbids_tracing(void);
#define HOST_LET_TRACE                                                                                       \
        "kernel.yama.ptrace_scope = 2 in /etc/sysctl.d/, then restart: it is 3, which only a restart lowers"
/* The first layer that the namespace wall requires and this host lacks; false: none. */
bool host_missing(const struct cordon_context *cx, struct host_finding *ret);

/* Finds one of cordon's own programs by name: in $CORDON_LIBEXEC, else next to this one (../libexec/cordon),
 * else where `make install` puts it. */
int host_program(const struct cordon_context *cx, const char *name, char *ret_path, size_t cap,
                 struct err *e);
/* The program file of cordon, also in a program that cordon became: argv[0] names it there. false: /proc is
 * not mounted. */
bool host_self(char *ret, size_t cap);
/* The program of init and of the janitor, which learns from argv[0] which of them it is: the installed one. A
 * program with wall/init/self.c linked into it (host_is_own_init: the mark to find in that file) takes itself
 * instead where that is missing or another version's. */
#define HOST_INIT_PROGRAM "cordon-init"
#define HOST_INIT_MARK    "cordon-init of cordon " CORDON_VERSION
extern const char host_is_own_init[] __attribute__((weak, visibility("hidden")));
int host_init_program(const struct cordon_context *cx, char *ret_path, size_t cap, struct err *e);

/* spawn.c: starts one of cordon's own programs. */
enum { HOST_SPAWN_FDS = 64 };
enum host_spawn_flag {
        HOST_SPAWN_STREAMS = 1, /* a standard stream that is -1 is the caller's */
        HOST_SPAWN_APART = 2,   /* a new session, default signals, /dev/null for such a stream */
        HOST_SPAWN_BLOCKED = 4, /* every signal stays blocked */
        HOST_SPAWN_ORPHAN = 8   /* not a child of the caller, who gets CHILD_NONE with errno 0 */
};
struct host_spawn {
        const char *path;
        char *const *argv, *const *envp;
        const int *fds;    /* the child's descriptors by their number there; -1: closed, but see the flags */
        unsigned fd_count; /* at least 3, at most HOST_SPAWN_FDS */
        unsigned flags;    /* enum host_spawn_flag */
};
/* Returns CHILD_NONE with errno if it did not start. */
struct child host_spawn(const struct host_spawn *s);

/* slow.c: mounts whose I/O depends on a network or another process, and may hang. */
struct host_slow;
struct host_slow *host_slow_read(void); /* NULL: the mount table cannot be read */
struct host_slow *host_slow_parse(struct span mountinfo);
bool host_slow_any(const struct host_slow *s);
bool host_slow_covers(const struct host_slow *s, const char *path); /* absolute and clean */
void host_slow_free(struct host_slow *s);

/* ---- confinement: what a uid does not say ----
 *
 * A process in a container, behind Landlock or under a limit has the uid of its user. Before one of our
 * processes does for another what it can do itself, it looks at how both are confined. */

enum { HOST_NAMESPACES = 10, HOST_RLIMITS = 16 };

struct host_confinement {
        char status[8192]; /* /proc/PID/status: ids, groups, capabilities, filters, processors */
        char groups[4096]; /* /proc/PID/cgroup */
        char label[256];   /* of AppArmor or SELinux; "": none */
        struct {
                uint64_t dev, ino;
        } namespaces[HOST_NAMESPACES], root;
        uint64_t rlimits[HOST_RLIMITS][2];
        long nice, policy, io;
        char first_killed[16]; /* /proc/PID/oom_score_adj */
};

/* Proven: what a process may reach whose proof holds (host_proof_holds()): its own mounts and root directory
 * keep nothing from it, since it can open /proc/PID/root of the other. Access: what any process may reach.
 * All: also what it may use (limits, processors, control groups), which a box that another process starts
 * for it would not have. */
enum host_confinement_scope { HOST_CONFINED_PROVEN, HOST_CONFINED_ACCESS, HOST_CONFINED_ALL };

/* Reads it of `pid`, or of this process (0). Returns -1 if any part cannot be read. */
int host_confinement_read(pid_t pid, struct host_confinement *ret);
/* In what `a` is confined and `b` is not, as a word; NULL: nothing. */
const char *host_confined_more(const struct host_confinement *a, const struct host_confinement *b,
                               enum host_confinement_scope scope);
/* The same of control groups, by two texts of /proc/PID/cgroup. */
bool host_groups_limit_more(const char *a, const char *b);

/* The same of the process at the other end of a connected Unix socket, and this one. */
const char *host_peer_confined(int socket, enum host_confinement_scope scope);

/* Landlock shows in no file. A process shows that it is in no other domain than its peer by opening a file
 * that only such a process can open. Returns a descriptor to send, or -1 with errno. */
int host_peer_proof(int socket);
/* Whether the peer opened that of this process (0), or of the one that made the socket for it. */
bool host_proof_holds(int fd, pid_t of);

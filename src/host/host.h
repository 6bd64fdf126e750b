/* SPDX-License-Identifier: MIT */
/* host/host.h - what this kernel and this account can enforce. Reads only: nothing here changes the host.
 *
 * host_facts_quick() is on the start path and reads only what a start needs; host_probe_*() try things in a
 * throw-away child and belong to `cordon doctor`. */
#pragma once
#include "base/child.h"
#include "base/err.h"
#include "base/span.h"
#include "context/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One mounted control-group hierarchy and our own place in it. */
struct host_hierarchy {
        bool present;
        char mount[256]; /* where it is mounted */
        char own[1024];  /* our group in it, "/" at its top; "" when it lies outside what is mounted here */
};

/* What limits need. */
enum host_controller {
        CONTROLLER_MEMORY = 0,
        CONTROLLER_PIDS,
        CONTROLLER_CPUACCT, /* v1; on v2 cpu.stat is always there */
        CONTROLLER_FREEZER, /* v1 */
        CONTROLLER__COUNT
};

struct host_cgroups {
        struct host_hierarchy v1[CONTROLLER__COUNT]; /* by controller; several may share one mount */
        struct host_hierarchy v2;
        bool v2_has[CONTROLLER__COUNT]; /* controllers that the v2 hierarchy offers */
};

enum { HOST_LANDLOCK_SCOPES = 6 }; /* from this ABI on it keeps signals and abstract sockets in */

struct host_facts {
        uid_t uid;
        gid_t gid;
        bool maps_all;  /* the initial user namespace, or one that maps every id: root can take an id of its
                           own */
        bool has_setid; /* CAP_SETUID and CAP_SETGID: may become another id (root) */
        bool has_sys_admin; /* CAP_SYS_ADMIN here: idmapped mounts are to be had */
        int landlock_abi;   /* 0: none */
        int landlock_errata;
        unsigned kernel_major, kernel_minor;
};

int host_facts_quick(struct host_facts *ret, struct err *e);
/* Processors that a box can come to use, whatever the caller itself is tied to: a process may widen its own
 * set again. */
unsigned host_cpus(void);
/* How many a list of the kernel's ("0-3,8") names; 0: it is not one. Pure. */
unsigned host_cpus_parse(const char *list);

/* What a box is shown of the machine; see machine.c. */
enum { HOST_CPUS_MAX = 1024 };
struct host_machine {
        uint64_t cpus[HOST_CPUS_MAX / 64]; /* a bit for each that the caller may run on */
        uint64_t memory;                   /* bytes */
        uint64_t up_cs;                    /* since the machine started, in hundredths of a second */
        int64_t booted_s;                  /* when that was, by the clock on the wall */
        char release[65], version[65];     /* as uname(2) */
        char cpuinfo[4096];                /* the host's, from its beginning */
};
void host_machine_read(struct host_machine *ret);
/* Parses /proc/self/mountinfo and /proc/self/cgroup. */
int host_cgroups_read(struct host_cgroups *ret, struct err *e);
/* The same from given texts: pure, for tests and fuzzing. Returns 0 or -1 on text it cannot read. */
int host_cgroups_parse(const char *mountinfo, const char *cgroup, struct host_cgroups *ret);
/* The group that a text of /proc/PID/cgroup gives for a v1 controller ("": for v2). Pure. 0, or -1: none. */
int host_cgroup_find(const char *cgroup, const char *controller, char *ret_path, size_t cap);
/* Does a control file's list ("cpu memory pids") name this word? */
bool host_lists(const char *text, const char *word);

/* v2 is all there is, and where everybody has it. A quick look; what it says is not relied on for a limit. */
bool host_cgroups_unified(void);

enum host_cgroup_fs { HOST_CGROUP_V1 = 0, HOST_CGROUP_V2, HOST_CGROUP_ANY /* tests only: unchecked */ };
/* Opens the top directory of a hierarchy, or `path` below it (plain names only). A directory descriptor, or
 * -1 with errno; ENODEV: what is mounted there is no control-group filesystem of that kind. */
int host_cgroup_top(const struct host_hierarchy *y, enum host_cgroup_fs fs);
int host_cgroup_at(const struct host_hierarchy *y, const char *path, enum host_cgroup_fs fs);
/* Without root: the highest ancestor of our own v2 group that this account may write and that hands memory
 * and pids down. A directory descriptor, or -1 with errno (EACCES: there is none). */
int host_cgroup_seat(const struct host_hierarchy *v2, enum host_cgroup_fs fs);

/* One line of `cordon doctor`. */
enum host_state { HOST_NO = 0, HOST_WEAK, HOST_YES };
struct host_finding {
        const struct cordon_context *cx; /* whose environment is looked at */
        const char *layer;               /* "user namespaces" */
        enum host_state state;
        bool needed;      /* the namespace wall cannot be raised without it */
        char detail[200]; /* what was found */
        char mend[240];   /* the command that mends it, or "" */
};
/* Tries each layer for real in a throw-away child. Returns how many findings were written (at most cap). */
unsigned host_probe(const struct cordon_context *cx, struct host_finding *ret, unsigned cap);

/* The path of one of our own programs, by name: in $CORDON_LIBEXEC, else beside this one
 * (../libexec/cordon), else where `make install` puts it. */
int host_program(const struct cordon_context *cx, const char *name, char *ret_path, size_t cap,
                 struct err *e);

/* spawn.c: starts a program of ours. */
enum { HOST_SPAWN_FDS = 16 };
struct host_spawn {
        const char *path;
        char *const *argv, *const *envp;
        const int *fds;    /* what the child has, by its number there; -1: see `apart` */
        unsigned fd_count; /* at least 3, at most HOST_SPAWN_FDS */
        bool apart; /* a session of its own, default signals, /dev/null for a standard stream that is -1;
                       else that is the caller's */
};
/* CHILD_NONE with errno: it did not start. */
struct child host_spawn(const struct host_spawn *s);

/* slow.c: mounts that answer when a network or another process does, or never. */
struct host_slow;
struct host_slow *host_slow_read(void); /* NULL: the mount table cannot be read */
struct host_slow *host_slow_parse(struct span mountinfo);
bool host_slow_any(const struct host_slow *s);
bool host_slow_covers(const struct host_slow *s, const char *path); /* absolute and clean */
void host_slow_free(struct host_slow *s);

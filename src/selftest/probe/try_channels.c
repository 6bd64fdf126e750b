/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_channels.c - objects by which a box and the host, or two boxes, could talk past every
 * door. The host made one of each kind beforehand; finding it is the escape. */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Asks by index, as `ipcs` does: an id needs no key. */
static int shm_all(struct probe_result *r)
{
        struct shmid_ds d;
        for (int i = 0; i < 256; i++)
                if (shmctl(i, 13 /* SHM_STAT */, &d) >= 0)
                        return escaped(r, "a shared segment is in view");
        return refused(r, "shmctl(SHM_STAT)");
}

static int queue_name(struct probe_result *r)
{
        if (!r->world->queue[0])
                return cannot_tell(r, "the host made no message queue");
        long fd = syscall(SYS_mq_open, r->world->queue + 1, O_RDONLY | O_CLOEXEC, 0, NULL);
        return by_reply(r, fd, "mq_open of the host's queue");
}

static int posix_shm(struct probe_result *r)
{
        char path[128];
        if (!r->world->queue[0])
                return cannot_tell(r, "the host made no shared memory");
        (void) snprintf(path, sizeof path, "/dev/shm%s", r->world->queue);
        return by_open(r, path, O_RDWR);
}

/* One inode, two parties: a lock is a bit. No wall of ours parts the inodes that boxes share, so none
 * promises it. Any file that the box and the host share read-only will do. */
static int lock_shared(struct probe_result *r)
{
        static const char *const paths[] = { "/usr/bin/env", "/usr/lib/os-release", "/usr/bin" };
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
                AUTO_FD(fd, open(paths[i], O_RDONLY | O_CLOEXEC));
                if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
                        return escaped(r, "an exclusive lock on %s, which all boxes and the host share",
                                       paths[i]);
        }

        return refused(r, "flock of shared program files");
}

static int lock_canary(struct probe_result *r)
{
        AUTO_FD(fd, open(canary(r, "secret"), O_RDONLY | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open of the host's locked file");
        says_canary(r);
        return escaped(r, "the host's locked file was opened");
}

static int lease_shared(struct probe_result *r)
{
        AUTO_FD(fd, open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open /proc/self/exe");

        struct {
                uint32_t flags;
                uint16_t type, pad;
        } delegation = { .type = F_RDLCK };

        if (fcntl(fd, 1024 + 16 /* F_SETDELEG */, &delegation) == 0)
                return escaped(r, "a delegation of a shared program file");

        return by_reply(r, fcntl(fd, F_SETLEASE, F_RDLCK), "a lease on a shared program file");
}

static int notify_shared(struct probe_result *r)
{
        AUTO_FD(fd, open("/usr/bin", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open /usr/bin");
        return by_reply(r, fcntl(fd, F_NOTIFY, 1 /* DN_ACCESS */), "watching a shared directory by F_NOTIFY");
}

/* Each opening of a shared program is an event: which programs the host runs, and when. */
static int inotify_shared(struct probe_result *r)
{
        static const char *const paths[] = { "/usr/bin", "/usr/bin/env", "/usr/lib/os-release", "/dev/null" };
        AUTO_FD(fd, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
        if (fd < 0)
                return refused(r, "inotify_init1");

        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
                if (inotify_add_watch(fd, paths[i], IN_OPEN | IN_ACCESS) >= 0)
                        return escaped(r, "inotify watches %s, which all boxes and the host share", paths[i]);

        return refused(r, "inotify_add_watch on shared files");
}

/* Changes may be watched; a watch for everything must not show that a file was opened. */
static int inotify_opened(struct probe_result *r)
{
        static const char shared[] = "/usr/bin/env";
        char event[4096];
        AUTO_FD(fd, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
        if (fd < 0 || inotify_add_watch(fd, shared, IN_ALL_EVENTS) < 0)
                return refused(r, "inotify_add_watch on a shared file");

        AUTO_FD(file, open(shared, O_RDONLY | O_CLOEXEC));
        if (file < 0 || read(file, event, 1) != 1)
                return cannot_tell(r, "%s cannot be read", shared);

        fd_close(&file);
        return read(fd, event, sizeof event) > 0 ? escaped(r, "inotify shows who opens %s", shared)
                                                 : held(r, "a watch on %s shows changes only", shared);
}

/* Places that no door shows, and devices and processes of somebody. */
static int inotify_elsewhere(struct probe_result *r)
{
        static const char *const paths[] = { "/dev/null",         "/dev/tty",    "/proc",       "/proc/1",
                                             "/proc/self/status", "/sys/kernel", "/etc/shadow", "/run",
                                             "/var/log",          "/boot",       "/root/.ssh" };
        AUTO_FD(fd, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
        if (fd < 0)
                return refused(r, "inotify_init1");

        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
                if (inotify_add_watch(fd, paths[i], IN_MODIFY | IN_CREATE | IN_DELETE) >= 0)
                        return escaped(r, "inotify watches %s", paths[i]);

        return refused(r, "inotify_add_watch behind no door");
}

/* Stays with the inode, and every box that has the file reads it. */
static int hint_shared(struct probe_result *r)
{
        uint64_t none = 0;
        AUTO_FD(fd, open("/usr/lib/os-release", O_RDONLY | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open /usr/lib/os-release");
        return by_reply(r, fcntl(fd, 1024 + 12 /* F_SET_RW_HINT */, &none), "a write hint on a shared file");
}

/* Opens them: another probe reports that they exist behind the process wall. */
static int tmp_shared(struct probe_result *r)
{
        static const char *const marks[] = { "/tmp/.X11-unix", "/tmp/.ICE-unix", "/tmp/systemd-private" };
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
                if (by_open(r, marks[i], O_RDONLY | O_DIRECTORY) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;
        return by_open(r, canary(r, ""), O_RDONLY | O_DIRECTORY);
}

/* A bound abstract name is visible to every process in the network namespace: the host looks for this one. */
static int abstract_bind(struct probe_result *r)
{
        struct sockaddr_un own = { .sun_family = AF_UNIX };
        size_t n = strlen(r->world->abstract);
        AUTO_FD(fd, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (fd < 0)
                return refused(r, "socket(AF_UNIX)");

        memcpy(own.sun_path + 1, r->world->abstract, n);

        /* The host holds this very name: two holders mean two namespaces. */
        if (bind(fd, (struct sockaddr *) &own, (socklen_t) (sizeof own.sun_family + 1 + n)) < 0)
                return errno == EADDRINUSE ? escaped(r, "the host's abstract name is in use here, too")
                                           : refused(r, "bind");

        return held(r, "the host's abstract name is free here");
}

static int loop_port(struct probe_result *r)
{
        AUTO_FD(fd, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (fd < 0)
                return refused(r, "socket(AF_INET)");
        return held(r, "there is a socket, and its namespace is the box's");
}

static const struct probe rows[] = {
#define CLASS PROBE_CHANNELS
        ANSWER("no shared segment of the host", "memory is shared", "ipc,seccomp",
               "shmget of the host's segment", SYS_shmget, OF_KEY, 0, 0),
        ANSWER("no message queue of the host", "messages are shared", "ipc,seccomp",
               "msgget of the host's queue", SYS_msgget, OF_KEY, 0),
        ANSWER("no semaphores of the host", "bits are shared", "ipc,seccomp",
               "semget of the host's semaphores", SYS_semget, OF_KEY, 0, 0),
        ROW("no segment at all is in view", "memory is shared", "ipc,seccomp", shm_all),
        ROW("no POSIX queue of the host", "messages are shared", "ipc,seccomp", queue_name),
        ROW("/dev/shm is not the host's", "memory is shared", "mount,landlock", posix_shm),
        ROW("the host's locked file is not here", "a lock is a bit", "mount,landlock", lock_canary),
        CLAIM("no lock on files that all boxes share", PROBE_CHANNELS, "two boxes signal each other", "",
              lock_shared, BY_NO_WALL),
        ROW("no lease on files that all boxes share", "the host waits when it opens them", "seccomp,user",
            lease_shared),
        ROW("no watch on directories that all boxes share", "the host's programs are observed", "seccomp",
            notify_shared),
        ROW("a watch on a shared file does not show who opens it", "the host's programs are observed",
            "seccomp", inotify_opened),
        ROW("no inotify behind no door", "the host's files and devices are observed", "seccomp,mount",
            inotify_elsewhere),
        ROW("no inotify on files that all boxes share", "the host's programs are observed", "seccomp",
            inotify_shared),
        ROW("no hint on files that all boxes share", "two boxes signal each other", "seccomp", hint_shared),
        /* The access time of a shared file is a covert bit as well. */
        ANSWER("no times of files that all boxes share", "two boxes signal each other", "mount,user",
               "touching a shared file", SYS_utimensat, AT_FDCWD, PROBE_PTR("/usr/lib/os-release"), 0, 0),
        ANSWER("no modes of files that all boxes share", "two boxes signal each other", "mount,user",
               "chmod of a shared file", BY_PATH(chmod, fchmodat), PROBE_PTR("/usr/lib/os-release"), 0644),
        ROW("/tmp is not the host's", "files are shared", "mount,landlock", tmp_shared),
        ROW("abstract names are the box's own", "two boxes signal each other", "net,seccomp", abstract_bind),
        ROW("ports are the box's own", "two boxes signal each other", "net,seccomp", loop_port),
};
const struct probe_list probes_channels = PROBE_LIST(rows);

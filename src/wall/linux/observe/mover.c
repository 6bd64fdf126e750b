/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/mover.c - renames directories of edit doors in the box's place: see mover.h.
 * Never: reads an argument twice, acts on a path, acts with more rights than the payload has. */
#include "wall/linux/observe/mover.h"

#include "base/fd.h"
#include "wall/linux/observe/watched_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define EXCHANGE 2u /* RENAME_EXCHANGE */

/* One rename, from init to the mover, with two descriptors: the directories that the names lie in. */
struct ask {
        uint64_t id;
        uint32_t flags;
        struct seccomp_data call;
        char old[NAME_MAX + 1], new[NAME_MAX + 1], program[64];
};

union passed {
        struct cmsghdr head;
        char room[CMSG_SPACE(2 * sizeof(int))];
};

/* ---- the mover ---- */

/* 1, or 0: init is gone, or is done with us. */
static bool next_ask(int line, struct ask *ret, int dirs[2])
{
        union passed c = { .room = { 0 } };
        struct iovec io = { ret, sizeof *ret };
        struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c };
        ssize_t n;
        do
                n = recvmsg(line, &m, MSG_CMSG_CLOEXEC);

        while (n < 0 && errno == EINTR);
        if (n != sizeof *ret || c.head.cmsg_len != CMSG_LEN(2 * sizeof(int)))
                return false;

        memcpy(dirs, CMSG_DATA(&c.head), 2 * sizeof(int));
        return true;
}

struct mover {
        const struct wall_init *w;
        int line;
        bool able;
        struct watched_told told;
        struct wall_untold untold;
};

/* The report has the directory's current name: its present location counts. */
static void tell_refused(struct mover *v, const struct ask *a, int dir, enum effect_reason reason)
{
        struct wall_message m = { .word = WALL_SAYS_DENIED,
                                  .denial = { .call = a->call, .kind = EFFECT_CALL, .reason = reason } };
        char name[32], above[WALL_PATH];

        (void) snprintf(name, sizeof name, "self/fd/%d", dir);
        ssize_t n = readlinkat(v->w->tasks, name, above, sizeof above - 1);
        above[n < 0 ? 0 : n] = '\0';
        int len = snprintf(m.denial.path, sizeof m.denial.path, "%s/%s", strcmp(above, "/") ? above : "",
                           a->old);
        if (len < 0 || (size_t) len >= sizeof m.denial.path)
                memcpy(m.denial.path + sizeof m.denial.path - 4, "...", 4);

        memcpy(m.denial.program, a->program, sizeof a->program);
        wall_offer_denial(v->w->control, &m, watched_news(&v->told, &m), &v->untold);
}

static void serve_one(struct mover *v, const struct ask *a, const int dirs[2])
{
        const struct move m = { dirs[0], dirs[1], a->flags, a->old, a->new };
        enum effect_reason reason = REASON_NONE;
        if (!watched_is_waiting(v->w->listener, a->id))
                return; /* its task was ended meanwhile */

        int error = v->able ? move_directory(&m, &reason) : EXDEV;
        if (error == EXDEV && reason != REASON_NONE && v->w->s->tell)
                tell_refused(v, a, dirs[0], reason);

        watched_answer(v->w->listener, a->id, error, 0);
}

/* SAFETY: from here on this process has the payload's rights over files, and no other. */
static bool become_payload(const struct wall_init *w)
{
        uint32_t group = w->s->host_uid != w->s->caller_uid ? 1u << CAP_FSETID : 0; /* of directories */
        return wall_powers_keep(group) == 0 &&
               (w->landlock < 0 || syscall(SYS_landlock_restrict_self, w->landlock, 0) == 0);
}

_Noreturn static void serve_moves(struct mover *v)
{
        struct ask a;
        int dirs[2];
        (void) prctl(PR_SET_NAME, "cordon-move", 0, 0, 0);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        (void) umask(0);
        v->able = become_payload(v->w);
        while (next_ask(v->line, &a, dirs)) {
                serve_one(v, &a, dirs);
                fd_close(&dirs[0]);
                fd_close(&dirs[1]);
        }

        _exit(0);
}

/* When it is first needed: most boxes never do. */
static bool begin_mover(struct wall_init *w)
{
        static struct mover v;
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
                return false;

        AUTO_FD(line, ends[0]);
        AUTO_FD(moves, ends[1]);
        pid_t pid = (pid_t) syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (pid == 0) {
                fd_close(&moves);
                v.w = w;
                v.line = line;
                serve_moves(&v);
        }

        if (pid < 0)
                return false;

        w->mover = pid;
        w->moves = TAKE_FD(moves);
        return true;
}

/* ---- init ---- */

/* Cuts the last name off `path`. Returns false if a directory could not be renamed from or to it. */
static bool split_path(char *path, char name[NAME_MAX + 1])
{
        size_t n = strlen(path);
        while (n > 1 && path[n - 1] == '/')
                path[--n] = '\0';

        char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
        size_t len = strlen(last);
        if (len == 0 || len > NAME_MAX || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
                return false;

        memcpy(name, last, len + 1);
        if (slash)
                slash[slash == path] = '\0';
        else
                memcpy(path, ".", 2);

        return true;
}

struct place {
        int dir;
        char name[NAME_MAX + 1];
};

/* The directory that a path's last name lies in. With `is_dir` the name must be a directory's, which is asked
 * first: most renames are of files, and end here. */
static bool find_place(const struct wall_init *w, uint32_t task, int dirfd, uint64_t at, bool is_dir,
                       struct place *ret)
{
        char path[PATH_MAX];
        if (!watched_text(task, at, path, sizeof path) || path[0] == '\0')
                return false;

        AUTO_FD(start, wall_task_start(w, task, dirfd, path));
        const char *from = path + strspn(path, "/");
        if (start < 0)
                return false;

        if (is_dir) {
                AUTO_FD(whole, fd_open2(start, *from ? from : ".", O_PATH | O_DIRECTORY | O_NOFOLLOW,
                                        RESOLVE_NO_MAGICLINKS));
                if (whole < 0)
                        return false;
        }

        if (!split_path(path, ret->name))
                return false;

        from = path + strspn(path, "/");
        ret->dir = fd_open2(start, *from ? from : ".", O_PATH | O_DIRECTORY, RESOLVE_NO_MAGICLINKS);
        return ret->dir >= 0;
}

/* On the overlay of an edit door? Every overlay has its own device number. */
static bool is_in_edit_door(const struct wall_init *w, int dir)
{
        struct stat st, top;
        if (fstat(dir, &st) < 0)
                return false;

        for (size_t i = 0; i < w->plan->step_count; i++) {
                const struct plan_step *s = &w->plan->steps[i];
                if (s->kind == STEP_EDIT && s->flags & STEP_IS_DIR && stat(s->path, &top) == 0 &&
                    top.st_dev == st.st_dev)
                        return true;
        }

        return false;
}

/* rename(old, new); renameat(dir, old, dir, new); renameat2() with flags. */
static bool read_call(const struct wall_init *w, const struct seccomp_notif *n, struct place *old,
                      struct place *new, unsigned *flags)
{
        const __u64 *a = n->data.args;
        enum seccomp_renames form = seccomp_renames(&n->data);
        bool at = form != RENAMES_PLAIN;

        *flags = form == RENAMES_FLAGS ? (unsigned) a[4] : 0;
        if (form == RENAMES_NOT || *flags & EXCHANGE)
                return false;

        return find_place(w, n->pid, at ? (int) a[0] : AT_FDCWD, at ? a[1] : a[0], true, old) &&
               is_in_edit_door(w, old->dir) &&
               find_place(w, n->pid, at ? (int) a[2] : AT_FDCWD, at ? a[3] : a[1], false, new);
}

static bool send_ask(int line, const struct ask *a, const int dirs[2])
{
        union passed c = { .head = { .cmsg_len = CMSG_LEN(2 * sizeof(int)),
                                     .cmsg_level = SOL_SOCKET,
                                     .cmsg_type = SCM_RIGHTS } };
        struct iovec io = { (void *) (uintptr_t) a, sizeof *a };
        struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c };
        memcpy(CMSG_DATA(&c.head), dirs, 2 * sizeof(int));
        return sendmsg(line, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof *a;
}

/* A free place among the calls that the mover has, or NULL. */
static uint64_t *free_place(struct wall_init *w)
{
        for (unsigned i = 0; i < MOVES_MAX; i++)
                if (w->moving[i] == 0 || !watched_is_waiting(w->listener, w->moving[i]))
                        return &w->moving[i];
        return NULL;
}

bool mover_take(struct wall_init *w, const struct seccomp_notif *n)
{
        struct place old = { .dir = -1 }, new = { .dir = -1 };
        unsigned flags = 0;
        bool wanted = read_call(w, n, &old, &new, &flags);
        AUTO_FD(from, old.dir);
        AUTO_FD(to, new.dir);
        uint64_t *place = wanted ? free_place(w) : NULL;

        /* Last: until then the bytes read may have been another task's. */
        if (!place || !watched_is_waiting(w->listener, n->id) || (!w->mover && !begin_mover(w)))
                return false;

        static struct ask a;
        a = (struct ask){ .id = n->id, .flags = flags, .call = n->data };
        memcpy(a.old, old.name, sizeof a.old);
        memcpy(a.new, new.name, sizeof a.new);
        if (w->s->tell)
                watched_program(w->tasks, n->pid, a.program, sizeof a.program); /* hidden from the mover */

        if (!send_ask(w->moves, &a, (int[2]){ from, to }))
                return false;

        *place = n->id;
        return true;
}

void mover_ended(struct wall_init *w, pid_t pid)
{
        if (pid != w->mover)
                return;

        w->mover = 0;
        fd_close(&w->moves);
        for (unsigned i = 0; i < MOVES_MAX; i++) {
                if (w->moving[i] && watched_is_waiting(w->listener, w->moving[i]))
                        watched_answer(w->listener, w->moving[i], EIO, 0);
                w->moving[i] = 0;
        }
}

/* SPDX-License-Identifier: MIT */
/* wall/linux/spare.c - a payload's process that stops before its run order is known.
 *
 * It is a copy of init, not a process that shares init's memory: init goes on while it waits. Everything that
 * does not depend on the run is behind it: ids, privileges, filter, Landlock, attestation. Then it waits in
 * one recvmsg() on standard input, a socket that only the keeper can write to; takes the order, places the
 * descriptors that came with it, and executes the program. That closes the socket, which tells the keeper.
 *
 * A box with many runs has a nursery instead: a process behind the same walls that makes a spare, a copy of
 * itself and a child of init, for each socket that the keeper sends it. Filter, user namespace and Landlock
 * domain are the same for all of them, so that a run can signal what an earlier one left running. They cannot
 * trace the nursery (it is not dumpable); a run that kills it ends the box. */
#include "wall/linux/spare.h"
#include "base/block.h"
#include "base/fd.h"
#include "base/wire/wire.h"
#include "wall/linux/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Descriptors of a spare before it has its order; all are below those of the handles. */
enum { SPARE_LINE = 0, SPARE_NEWS = 1, SPARE_UNUSED = 2, SPARE_LIFTED = 64 };

/* Mapped at the same address in init: pointers in the opened block are valid in both. */
struct wall_spared {
        const struct plan_order *order;
        _Atomic bool opened;
        _Alignas(16) char block[SPARE_ORDER_MAX];
};

static struct wall_spared *map_order(int how)
{
        void *p = mmap(NULL, sizeof(struct wall_spared), PROT_READ | PROT_WRITE,
                       how | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return p == MAP_FAILED ? NULL : p;
}

const struct plan_order *wall_spare_order(const struct wall_init *w)
{
        if (wall_is_warm(w->s->spare, w->plan))
                return w->plan->warm; /* in the run's directory from the beginning */

        return w->spared && atomic_load(&w->spared->opened) ? w->spared->order : NULL;
}

/* ---- the order ---- */

struct arrival {
        struct spare_head head;
        int fds[SPARE_PASSED_MAX];
        unsigned count;
};

static void take_descriptors(struct msghdr *m, struct arrival *a)
{
        for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
                size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || n > SPARE_PASSED_MAX)
                        continue;
                memcpy(a->fds, CMSG_DATA(c), n * sizeof(int));
                a->count = (unsigned) n;
        }
}

static ssize_t receive_order(struct msghdr *m)
{
        ssize_t n;
        do
                n = recvmsg(SPARE_LINE, m, MSG_CMSG_CLOEXEC);

        while (n < 0 && errno == EINTR);
        if (n >= 0 && m->msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
                errno = EPROTO;
                return -1;
        }

        return n;
}

/* Before the program runs: the kernel keeps the group with each socket that it makes. A kernel that asks for
 * rights of this process, not of the one that opened the file, leaves it in the group of the session. */
static void enter_group(struct arrival *a)
{
        for (unsigned i = 0; i < a->count; i++) {
                (void) !write(a->fds[i], "0", 1);
                (void) close(a->fds[i]);
        }

        a->count = 0;
}

/* Waits for it. The keeper has closed the line: nobody wants this spare. */
static int await_order(struct arrival *a, char *block, struct err *e)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(SPARE_PASSED_MAX * sizeof(int))];
        } control;
        struct iovec io[] = { { &a->head, sizeof a->head }, { block, SPARE_ORDER_MAX } };
        struct msghdr m = {
                .msg_iov = io, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control
        };
        ssize_t n = receive_order(&m);
        if (n == 0)
                _exit(0);

        if (n > 0)
                take_descriptors(&m, a);

        errno = n < 0 ? errno : EPROTO;
        if (n < (ssize_t) sizeof a->head || a->head.format != SPARE_FORMAT ||
            a->head.bytes > SPARE_ORDER_MAX || a->head.count != a->count)
                return wall_fail(e, STAGE_EXEC, "taking the run order");

        if (a->head.bytes == 0) {
                enter_group(a);
                return await_order(a, block, e);
        }

        for (size_t have = (size_t) n - sizeof a->head; have < a->head.bytes; have += (size_t) n) {
                struct iovec rest = { block + have, SPARE_ORDER_MAX - have };
                struct msghdr more = { .msg_iov = &rest, .msg_iovlen = 1 };
                if ((n = receive_order(&more)) <= 0)
                        return wall_fail(e, STAGE_EXEC, "taking the rest of the run order");
        }

        return 0;
}

/* Each at its number, and the line above them, for an error; everything else that came is closed. */
static int place_descriptors(const struct wall_init *w, struct arrival *a, int *ret_line, struct err *e)
{
        bool ok = (*ret_line = fcntl(SPARE_LINE, F_DUPFD_CLOEXEC, SPARE_LIFTED)) == SPARE_LIFTED;
        for (unsigned i = 0; i < a->count; i++) {
                int lifted = fcntl(a->fds[i], F_DUPFD_CLOEXEC, SPARE_LIFTED);
                ok = ok && lifted >= 0 && a->head.to[i] < 3 + w->plan->handle_count;
                (void) close(a->fds[i]);
                a->fds[i] = lifted;
        }

        for (unsigned i = 0; ok && i < a->count; i++)
                ok = dup2(a->fds[i], a->head.to[i]) >= 0;

        ok = ok && syscall(SYS_close_range, SPARE_LIFTED + 1, ~0U, 0) == 0;
        return ok ? 0 : wall_fail(e, STAGE_EXEC, "placing descriptors");
}

/* A link on the way may lead to a directory of the host behind a door: the box's own file replaces it, as at
 * a start. */
static void remove_links(int home, const char *name)
{
        char part[PATH_MAX], target[1];
        for (const char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
                (void) snprintf(part, sizeof part, "%.*s", (int) (at - name), name);
                if (readlinkat(home, part, target, sizeof target) >= 0)
                        (void) unlinkat(home, part, 0);
        }
}

/* Files with the run's placeholders, with the payload's own rights. An earlier run may have left its own. */
static int write_files(const struct plan_order *o, struct err *e)
{
        AUTO_FD(home, o->file_count ? open(BOX_HOME, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1);
        for (size_t i = 0; i < o->file_count; i++) {
                const char *name = o->files[i].path + sizeof BOX_HOME;
                remove_links(home, name);
                (void) fd_make_parents(home, name);
                (void) unlinkat(home, name, 0);
                if (wall_write_text(&o->files[i], home, name, e) < 0)
                        return -1;
        }

        return 0;
}

static int obey_order(struct wall_init *w, const struct plan_order *o, struct err *e)
{
        w->order = o;
        if ((o->tty && wall_payload_take_terminal(e) < 0) || wall_rlimits(w, e) < 0 ||
            write_files(o, e) < 0 || wall_payload_enter_directory(w, e) < 0)
                return -1;

        wall_payload_exec(w, e);
        return -1;
}

/* From the last wall to the program. */
_Noreturn static void serve_run(struct wall_init *w, struct wall_spared *s)
{
        struct wall_message m = { .word = WALL_SAYS_ERROR };
        struct arrival a = { .count = 0 };
        size_t used = 0;
        int line = SPARE_LINE;
        if (await_order(&a, s->block, &m.error) == 0 && place_descriptors(w, &a, &line, &m.error) == 0 &&
            plan_open_order(s->block, a.head.bytes, &s->order, &used, &m.error) == 0) {
                atomic_store(&s->opened, true);
                (void) obey_order(w, s->order, &m.error);
        }

        (void) wall_put(line, &m, -1);
        _exit(127);
}

/* ---- the last walls ---- */

static bool is_warm(const struct wall_init *w) { return wall_is_warm(w->s->spare, w->plan); }
static int line_of(const struct wall_init *w)
{
        return is_warm(w) ? 3 + (int) w->s->io->handle_count : SPARE_LINE;
}
static int news_of(const struct wall_init *w) { return line_of(w) + SPARE_NEWS - SPARE_LINE; }

/* Line and news are in place of standard streams; of a warm spare, behind its handles. */
static int keep_lines(const struct wall_init *w, int news, struct err *e)
{
        int line = fcntl(w->spare, F_DUPFD_CLOEXEC, SPARE_LIFTED),
            other = fcntl(news, F_DUPFD_CLOEXEC, SPARE_LIFTED);
        bool ok = dup3(line, line_of(w), O_CLOEXEC) >= 0 && dup3(other, news_of(w), O_CLOEXEC) >= 0;
        if (!is_warm(w))
                (void) close(SPARE_UNUSED);

        return ok ? 0 : wall_fail(e, STAGE_EXEC, "placing the line of a spare");
}

static int close_others(const struct wall_init *w, struct err *e)
{
        unsigned kept = w->s->spare == WALL_SPARE_ONE ? w->s->io->handle_count : 0;
        kept += is_warm(w) ? SPARE_WARM_LINES : 0;
        return syscall(SYS_close_range, 3 + kept, ~0U, 0) < 0
                       ? wall_fail(e, STAGE_EXEC, "closing descriptors")
                       : 0;
}

static int restrict_self(int landlock, struct err *e)
{
        return landlock >= 0 && syscall(SYS_landlock_restrict_self, landlock, 0) < 0
                       ? wall_fail(e, STAGE_LANDLOCK, "closing the Landlock wall")
                       : 0;
}

/* ---- the nursery ---- */

_Noreturn static void further_main(struct wall_init *w, int line)
{
        struct wall_message m = { .word = WALL_SAYS_READY, .run = (uint32_t) getpid() };
        struct wall_spared *s = map_order(MAP_PRIVATE);
        struct err *e = &m.error;
        if (s && wall_payload_lead_session(e) == 0 && dup3(line, SPARE_LINE, O_CLOEXEC) >= 0 &&
            syscall(SYS_close_range, 1, ~0U, 0) == 0 && wall_attest(w, e) == 0 &&
            wall_put(SPARE_LINE, &m, -1) == 0)
                serve_run(w, s);

        m.word = WALL_SAYS_ERROR;
        (void) wall_put(line, &m, -1);
        _exit(127);
}

static pid_t fork_self(void) { return (pid_t) syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL); }

/* A process that ends at once is in between, so that it is init's child: the filter denies CLONE_PARENT. */
static void make_spare(struct wall_init *w, pid_t init, int line)
{
        pid_t between = fork_self();
        if (between == 0) {
                if (fork_self() != 0)
                        _exit(0);
                while (getppid() != init)
                        (void) sched_yield();
                further_main(w, line);
        }

        while (between > 0 && waitpid(between, NULL, __WALL) < 0 && errno == EINTR)
                ;
}

/* Until the keeper closes its end. */
_Noreturn static void nursery_main(struct wall_init *w)
{
        struct wall_order o;
        pid_t init = getppid();
        for (;;) {
                AUTO_FD(line, -1);
                if (wire_take(SPARE_LINE, &wall_order_form, &o, &line) != 1 || line < 0)
                        _exit(0);
                make_spare(w, init, line);
        }
}

/* ---- its beginning ---- */

/* Up to the place where it waits; init hears of the filter's listener, then that it is there. */
static int reach_wait(struct wall_init *w, int news, struct err *e)
{
        const struct wall_message up = { .word = WALL_SAYS_UP };
        bool many = w->s->spare == WALL_SPARE_MANY;
        w->last_cap = wall_last_cap();
        wall_signals_reset();
        if (wall_payload_lead_session(e) < 0 || wall_payload_become(w, e) < 0 ||
            wall_payload_load_filter(w, e) < 0)
                return -1;

        if (wall_put(news, &up, w->listener) < 0)
                return wall_fail(e, STAGE_EXEC, "handing over the listener");

        if (restrict_self(w->landlock, e) < 0 || keep_lines(w, news, e) < 0 || close_others(w, e) < 0)
                return -1;

        return many ? 0 : wall_attest(w, e);
}

/* The interpreter's driver waits in our place. It inherits the line, and closes it when it has its order. */
_Noreturn static void become_interpreter(struct wall_init *w)
{
        struct err e = { .code = ERR_NONE };
        char text[WALL_WARM_TEXT] = "E";
        int line = line_of(w);
        w->order = w->plan->warm;
        if (fcntl(line, F_SETFD, 0) < 0)
                (void) wall_fail(&e, STAGE_EXEC, "keeping the line of a spare");
        else if (wall_rlimits(w, &e) == 0 && wall_payload_enter_directory(w, &e) == 0)
                wall_payload_exec(w, &e);

        size_t n = strnlen(e.what, sizeof text - 2);
        memcpy(text + 1, e.what, n);
        (void) send(line, text, n + 1, MSG_NOSIGNAL);
        _exit(127);
}

_Noreturn static void spare_main(struct wall_init *w, int news)
{
        struct wall_message m = { .word = WALL_SAYS_UP };
        if (reach_wait(w, news, &m.error) < 0) {
                m.word = WALL_SAYS_ERROR;
                if (wall_put(news_of(w), &m, -1) < 0)
                        (void) wall_put(news, &m, -1);
                _exit(127);
        }

        (void) wall_put(news_of(w), &m, -1);
        (void) close(news_of(w));
        if (is_warm(w))
                become_interpreter(w);

        if (w->s->spare == WALL_SPARE_MANY)
                nursery_main(w);

        serve_run(w, w->spared);
}

/* ---- init ---- */

static int hear_news(const struct wall_init *w, int news, int *ret_fd, struct err *e)
{
        struct wall_message m = { .word = WALL_SAYS_NOTHING };
        struct pollfd p[] = { { .fd = news, .events = POLLIN }, { .fd = w->keeper, .events = POLLIN } };
        while (poll(p, 2, -1) < 0 && errno == EINTR)
                ;

        if (p[1].revents)
                _exit(1); /* the keeper is gone */

        if (wall_take(news, &m, ret_fd) == 1 && m.word == WALL_SAYS_UP)
                return 0;

        if (m.word == WALL_SAYS_ERROR)
                *e = m.error;
        else
                (void) err_set(e, ERR_WALL, 0, "the payload's process ended before its program began");
        return -1;
}

int wall_spare_start(struct wall_init *w, struct err *e)
{
        int ends[2], none = -1;
        bool nested = wall_has(w->plan->wall, WALL_OWN_ROOT) && !wall_left_out(LAYER_NESTED_USER);
        if (w->s->spare == WALL_SPARE_ONE && !is_warm(w) && !(w->spared = map_order(MAP_SHARED)))
                return wall_fail(e, STAGE_EXEC, "no memory for a run order");

        if (w->spare < 0 || wire_pair(ends) < 0)
                return wall_fail(e, STAGE_EXEC, "making the line of a spare");

        AUTO_FD(mine, ends[0]);
        AUTO_FD(its, ends[1]);
        w->payload =
                (pid_t) syscall(SYS_clone, SIGCHLD | (nested ? CLONE_NEWUSER : 0), NULL, NULL, NULL, NULL);
        if (w->payload < 0)
                return wall_fail(e, STAGE_EXEC, "making the payload's process");

        if (w->payload == 0)
                spare_main(w, its);

        fd_close(&its);
        fd_close(&w->spare);
        if (hear_news(w, mine, &w->listener, e) < 0 || hear_news(w, mine, &none, e) < 0)
                return -1;

        w->layers |= wall_payload_layers(w);
        return 0;
}

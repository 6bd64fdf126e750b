/* SPDX-License-Identifier: MIT */
/* run/pool/pool_socket.c - where the resident of a user listens: below $XDG_RUNTIME_DIR/cordon, or in the
 * state directory. Both sides check that the directory and the other process are the user's own, and that the
 * other process is confined no more than they are. */
#include "base/fd.h"
#include "base/host/host.h"
#include "base/store/store.h"
#include "base/wire/wire.h"
#include "run/pool/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define LOCK_NAME "serve.lock"
enum { BACKLOG = 64, ANSWER_S = 2 };

static bool is_absent(int sys) { return sys == ENOENT || sys == ECONNREFUSED; }

static int none_answers(int sys, struct err *e)
{
        (void) err_set(e, ERR_IO, sys, "cordon serve is not running%s%s", is_absent(sys) ? "" : ": ",
                       is_absent(sys) ? "" : strerror(sys));
        return err_hint(e, "start it: cordon serve &");
}

/* No other user may enter it, or could have put anything into it. */
static int check_own(int dir, struct err *e)
{
        struct stat st;
        if (fstat(dir, &st) < 0)
                return err_set(e, ERR_IO, errno, "the directory of the socket of cordon serve: %s",
                               strerror(errno));

        if (st.st_uid != geteuid() || st.st_mode & 077)
                return err_set(e, ERR_IO, EPERM,
                               "the directory of the socket of cordon serve is open to other users");
        return 0;
}

/* Below the runtime directory, which systemd makes for a session. */
static int open_runtime(const char *runtime, bool make)
{
        AUTO_FD(above, open(runtime, O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (above >= 0 && make && mkdirat(above, "cordon", 0700) < 0 && errno != EEXIST)
                return -1;

        return above < 0 ? -1 : openat(above, "cordon", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The state directory exists wherever something was kept; a client creates nothing. */
static int open_state(const struct cordon_context *cx, bool make, struct err *e)
{
        char path[STORE_PATH_MAX];
        if (make) {
                AUTO_FD(state, store_open(cx, e));
                return state < 0 ? -1 : store_dir(state, "run", e);
        }

        if (store_path(cx, path, e) < 0)
                return -1;

        AUTO_FD(state, open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
        return state < 0 ? -1 : openat(state, "run", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int open_place(const struct cordon_context *cx, bool make, struct err *e)
{
        const char *runtime = context_get(cx, "XDG_RUNTIME_DIR");
        bool has = runtime && runtime[0] == '/';
        AUTO_FD(dir, has ? open_runtime(runtime, make) : open_state(cx, make, e));
        if (dir < 0)
                return make ? err_set(e, ERR_IO, errno,
                                      "making the directory of the socket of cordon serve: %s",
                                      strerror(errno))
                            : none_answers(errno, e);

        return check_own(dir, e) < 0 ? -1 : TAKE_FD(dir);
}

int pool_place(const struct cordon_context *cx, char *ret, size_t cap)
{
        const char *runtime = context_get(cx, "XDG_RUNTIME_DIR");
        int n = runtime && runtime[0] == '/' ? snprintf(ret, cap, "%s/cordon", runtime) : -1;
        return n > 0 && (size_t) n < cap ? 0 : -1; /* else it is in the state directory */
}

/* By the directory's descriptor: its path may be longer than an address. */
static void fill_address(struct sockaddr_un *to, int dir)
{
        *to = (struct sockaddr_un){ .sun_family = AF_UNIX };
        (void) snprintf(to->sun_path, sizeof to->sun_path, "/proc/self/fd/%d/" POOL_SOCKET, dir);
}

static int confined_otherwise(const char *how, struct err *e)
{
        return err_set(e, ERR_USAGE, EPERM, "this process is confined otherwise than cordon serve: %s", how);
}

/* Before the first question: it may be answered while we look at the other process. */
static int say_hello(int fd, struct err *e)
{
        struct pool_message m = { .magic = POOL_MAGIC, .word = POOL_HELLO };
        AUTO_FD(proof, host_peer_proof(fd));
        if (proof >= 0 && wire_send(fd, &m, sizeof m, proof) == 0)
                return 0;

        return confined_otherwise("it cannot inspect cordon serve", e);
}

/* A box or another confined process with a way to the directory would answer as the resident does. */
static int check_resident(int fd, struct err *e)
{
        struct ucred peer = { .uid = (uid_t) -1 };
        socklen_t n = sizeof peer;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || peer.uid != geteuid())
                return err_set(e, ERR_IO, EPERM, "another user answers as cordon serve");

        if (say_hello(fd, e) < 0)
                return -1;

        const char *confined = host_peer_confined(fd, HOST_CONFINED_ACCESS);
        return confined ? confined_otherwise(confined, e) : 0;
}

const char *pool_greet(int fd, int proof, pid_t listener)
{
        if (!host_proof_holds(proof, 0) && !(listener && host_proof_holds(proof, listener)))
                return "it cannot inspect cordon serve";

        return host_peer_confined(fd, HOST_CONFINED_ALL);
}

int pool_connect(const struct cordon_context *cx, struct err *e)
{
        struct sockaddr_un to;
        const struct timeval patience = { .tv_sec = ANSWER_S };
        AUTO_FD(dir, open_place(cx, false, e));
        if (dir < 0)
                return -1;

        AUTO_FD(fd, socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        fill_address(&to, dir);
        if (fd < 0 || connect(fd, (const struct sockaddr *) &to, sizeof to) < 0)
                return none_answers(errno, e);

        if (check_resident(fd, e) < 0)
                return -1;

        (void) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        (void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        return TAKE_FD(fd);
}

static int make_socket(int dir, struct err *e)
{
        struct sockaddr_un at;
        AUTO_FD(fd, socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        fill_address(&at, dir);
        (void) unlinkat(dir, POOL_SOCKET, 0); /* of a resident that is gone: we have its lock */
        if (fd < 0 || bind(fd, (const struct sockaddr *) &at, sizeof at) < 0 ||
            fchmodat(dir, POOL_SOCKET, 0600, 0) < 0 || listen(fd, BACKLOG) < 0)
                return err_set(e, ERR_IO, errno, "making the socket of cordon serve: %s", strerror(errno));

        return TAKE_FD(fd);
}

pid_t pool_maker(int listener)
{
        struct ucred maker = { .pid = 0 };
        socklen_t n = sizeof maker;
        return getsockopt(listener, SOL_SOCKET, SO_PEERCRED, &maker, &n) == 0 ? maker.pid : 0;
}

int pool_listen(const struct cordon_context *cx, int inherited, int *ret_lock, struct err *e)
{
        AUTO_FD(dir, open_place(cx, true, e));
        if (dir < 0)
                return -1;

        AUTO_FD(lock, openat(dir, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (lock < 0)
                return err_set(e, ERR_IO, errno, "locking the place of cordon serve: %s", strerror(errno));

        if (flock(lock, LOCK_EX | LOCK_NB) < 0)
                return err_set(e, ERR_USAGE, EBUSY, "a cordon serve of yours is running already");

        int fd = inherited >= 0 ? inherited : make_socket(dir, e);
        if (inherited >= 0)
                (void) listen(fd, BACKLOG); /* from now on, clients see this process at its other end */

        if (fd >= 0)
                *ret_lock = TAKE_FD(lock);

        return fd;
}

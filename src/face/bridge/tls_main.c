/* SPDX-License-Identifier: MIT */
/* face/bridge/tls_main.c - cordon-tls CERTIFICATE KEY LISTENER CHANNEL: ends TLS before `cordon serve`, which
 * links no OpenSSL. Each connection is one end of a socket pair, sent over CHANNEL when its handshake is
 * done; bytes are passed on, and nothing is read. Files that are replaced count from the next connection on.
 */
#include "base/fd.h"
#include "base/span.h"
#include "base/str.h"

#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

enum { LINKS_MAX = 256, HANDSHAKE_S = 5, SILENT_S = 30, CHUNK = 16384 };

static int channel;
static atomic_int links;

struct files {
        const char *certificate, *key;
        struct timespec changed[2];
        SSL_CTX *ctx; /* NULL: they never loaded */
};

struct link {
        int fd;
        SSL *ssl;
};

/* ---- the certificate ---- */

static SSL_CTX *load(const struct files *f)
{
        SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
        if (ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
            SSL_CTX_use_certificate_chain_file(ctx, f->certificate) == 1 &&
            SSL_CTX_use_PrivateKey_file(ctx, f->key, SSL_FILETYPE_PEM) == 1 &&
            SSL_CTX_check_private_key(ctx) == 1) {
                SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
                (void) SSL_CTX_set_num_tickets(ctx, 0);
                return ctx;
        }

        SSL_CTX_free(ctx);
        return NULL;
}

/* New ones that do not fit leave the old ones in force. */
static void refresh(struct files *f)
{
        struct stat st[2];
        if (stat(f->certificate, &st[0]) < 0 || stat(f->key, &st[1]) < 0 ||
            (memcmp(&st[0].st_mtim, &f->changed[0], sizeof f->changed[0]) == 0 &&
             memcmp(&st[1].st_mtim, &f->changed[1], sizeof f->changed[1]) == 0))
                return;

        SSL_CTX *newer = load(f);
        if (!newer) {
                (void) fprintf(stderr,
                               "cordon: TLS: the certificate and key do not load, or not fit each other\n");
                return;
        }

        SSL_CTX_free(f->ctx);
        f->ctx = newer;
        for (int i = 0; i < 2; i++)
                f->changed[i] = st[i].st_mtim;
}

/* ---- one connection ---- */

static void limit_waits(int fd, int seconds)
{
        const struct timeval t = { .tv_sec = seconds };
        (void) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
        (void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
}

/* One byte, and a descriptor if there is one. */
static bool tell(int fd)
{
        struct iovec byte = { .iov_base = (char[]){ fd < 0 ? 'R' : 'C' }, .iov_len = 1 };
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(sizeof(int))];
        } c = { 0 };
        struct msghdr m = { .msg_iov = &byte, .msg_iovlen = 1 };
        if (fd >= 0) {
                m.msg_control = c.room;
                m.msg_controllen = sizeof c.room;
                c.head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
                                           .cmsg_type = SCM_RIGHTS,
                                           .cmsg_len = CMSG_LEN(sizeof fd) };
                memcpy(CMSG_DATA(&c.head), &fd, sizeof fd);
        }
        return sendmsg(channel, &m, MSG_NOSIGNAL) == 1;
}

/* False: the client is done. */
static bool take_in(SSL *ssl, int to, bool *ret_open)
{
        char bytes[CHUNK];
        int n = SSL_read(ssl, bytes, sizeof bytes), why = n > 0 ? 0 : SSL_get_error(ssl, n);
        if (n > 0)
                return fd_write_all(to, bytes, (size_t) n) == 0;
        if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
                return true;

        *ret_open = false;
        (void) shutdown(to, SHUT_WR);
        return why == SSL_ERROR_ZERO_RETURN;
}

static bool give_out(SSL *ssl, int from)
{
        char bytes[CHUNK];
        size_t sent = 0;
        ssize_t n = read(from, bytes, sizeof bytes);
        return n > 0 && SSL_write_ex(ssl, bytes, (size_t) n, &sent) == 1;
}

static void pass_on(const struct link *l, int server)
{
        bool open = true; /* the client may still send */
        for (bool go = true; go;) {
                struct pollfd p[] = { { .fd = open ? l->fd : -1, .events = POLLIN },
                                      { .fd = server, .events = POLLIN } };
                bool held = open && SSL_pending(l->ssl) > 0;
                if (poll(p, 2, held ? 0 : -1) < 0 && errno != EINTR)
                        return;
                if (held || p[0].revents)
                        go = take_in(l->ssl, server, &open);
                if (go && p[1].revents)
                        go = give_out(l->ssl, server);
        }
        (void) SSL_shutdown(l->ssl);
}

static void *serve_link(void *ctx)
{
        struct link *l = ctx;
        int ends[2] = { -1, -1 };
        limit_waits(l->fd, HANDSHAKE_S);
        if (SSL_set_fd(l->ssl, l->fd) == 1 && SSL_accept(l->ssl) == 1 &&
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 && tell(ends[1])) {
                fd_close(&ends[1]);
                limit_waits(l->fd, SILENT_S);
                pass_on(l, ends[0]);
        }

        for (int i = 0; i < 2; i++)
                fd_close(&ends[i]);
        SSL_free(l->ssl);
        fd_close(&l->fd);
        free(l);
        atomic_fetch_sub(&links, 1);
        return NULL;
}

static void begin(SSL_CTX *ctx, int fd)
{
        pthread_t thread;
        struct link *l = calloc(1, sizeof *l);
        if (l)
                *l = (struct link){ .fd = fd, .ssl = SSL_new(ctx) };
        atomic_fetch_add(&links, 1);
        if (l && l->ssl && pthread_create(&thread, NULL, serve_link, l) == 0) {
                (void) pthread_detach(thread);
                return;
        }

        atomic_fetch_sub(&links, 1);
        if (l)
                SSL_free(l->ssl);
        free(l);
        (void) close(fd);
}

int main(int argc, char **argv)
{
        uint64_t listener = 0, to = 0;
        if (argc != 5 || str_to_u64(span_str(argv[3]), &listener) < 0 ||
            str_to_u64(span_str(argv[4]), &to) < 0)
                return 2;

        struct files f = { .certificate = argv[1], .key = argv[2] };
        channel = (int) to;
        (void) signal(SIGPIPE, SIG_IGN);
        (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        (void) prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        refresh(&f);
        if (!f.ctx || !tell(-1))
                return 1;

        for (;;) {
                struct pollfd p[] = { { .fd = (int) listener, .events = POLLIN },
                                      { .fd = channel, .events = POLLIN } };
                bool room = atomic_load(&links) < LINKS_MAX;
                p[0].fd = room ? p[0].fd : -1;
                if (poll(p, 2, room ? -1 : 100) < 0 && errno != EINTR)
                        return 1;
                if (p[1].revents) /* the server is gone */
                        return 0;
                int fd = p[0].revents ? accept4((int) listener, NULL, NULL, SOCK_CLOEXEC) : -1;
                if (fd < 0)
                        continue;
                refresh(&f);
                begin(f.ctx, fd);
        }
}

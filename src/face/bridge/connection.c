/* SPDX-License-Identifier: MIT */
/* face/bridge/connection.c - one connection to the server, with TLS or without. Every wait has an end. The
 * roots are those of the box, which SSL_CERT_FILE names. */
#include "base/fd.h"
#include "face/bridge/bridge.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

struct bridge_tls {
        SSL_CTX *ctx;
};

struct bridge_link {
        int fd;
        SSL *ssl; /* NULL: without */
};

struct bridge_tls *bridge_tls_new(void)
{
        static struct bridge_tls only;
        only.ctx = SSL_CTX_new(TLS_client_method());
        if (!only.ctx || SSL_CTX_set_default_verify_paths(only.ctx) != 1)
                return NULL;

        SSL_CTX_set_verify(only.ctx, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_mode(only.ctx, SSL_MODE_AUTO_RETRY);
        return &only;
}

static int dial_server(const struct bridge_url *u)
{
        const struct addrinfo want = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
        const struct timeval silent = { .tv_sec = BRIDGE_SILENT_S };
        struct addrinfo *list = NULL;
        if (getaddrinfo(u->host, u->port, &want, &list) != 0)
                return -1;

        int found = -1;
        for (const struct addrinfo *a = list; a && found < 0; a = a->ai_next) {
                AUTO_FD(fd, socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
                if (fd < 0 || connect(fd, a->ai_addr, a->ai_addrlen) < 0)
                        continue;

                (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
                (void) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silent, sizeof silent);
                (void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &silent, sizeof silent);
                found = TAKE_FD(fd);
        }
        freeaddrinfo(list);
        return found;
}

static bool begin_tls(struct bridge_link *l, const struct bridge_url *u, const struct bridge_tls *tls)
{
        char name[BRIDGE_TEXT]; /* the macro takes no const */
        memcpy(name, u->host, sizeof name);
        l->ssl = SSL_new(tls->ctx);
        return l->ssl && SSL_set1_host(l->ssl, u->host) == 1 && SSL_set_tlsext_host_name(l->ssl, name) == 1 &&
               SSL_set_fd(l->ssl, l->fd) == 1 && SSL_connect(l->ssl) == 1;
}

struct bridge_link *bridge_connect(const struct bridge_url *u, struct bridge_tls *tls, const char **ret_why)
{
        struct bridge_link *l = calloc(1, sizeof *l);
        if (!l) {
                *ret_why = "no memory";
                return NULL;
        }

        l->fd = dial_server(u);
        *ret_why = "the server cannot be reached";
        bool good = l->fd >= 0;
        if (good && u->tls) {
                *ret_why = "the server's certificate is not trusted, or it does not speak TLS";
                good = begin_tls(l, u, tls);
        }
        if (good)
                return l;

        bridge_link_free(l);
        return NULL;
}

int bridge_link_fd(const struct bridge_link *l) { return l->fd; }

bool bridge_link_write(struct bridge_link *l, struct span s)
{
        size_t n = 0;
        if (l->ssl)
                return SSL_write_ex(l->ssl, s.p, s.n, &n) == 1 && n == s.n;
        return fd_write_all(l->fd, s.p, s.n) == 0;
}

ssize_t bridge_link_read(struct bridge_link *l, char *p, size_t cap)
{
        ssize_t n;
        if (l->ssl) {
                int got = SSL_read(l->ssl, p, (int) cap);
                return got > 0 ? got : SSL_get_error(l->ssl, got) == SSL_ERROR_ZERO_RETURN ? 0 : -1;
        }
        while ((n = read(l->fd, p, cap)) < 0 && errno == EINTR)
                ;
        return n;
}

bool bridge_link_is_quiet(const struct bridge_link *l)
{
        struct pollfd p = { .fd = l->fd, .events = POLLIN };
        return (!l->ssl || SSL_pending(l->ssl) == 0) && poll(&p, 1, 0) == 0;
}

void bridge_link_free(struct bridge_link *l)
{
        if (!l)
                return;
        SSL_free(l->ssl);
        fd_close(&l->fd);
        free(l);
}

/* SPDX-License-Identifier: MIT */
/* bench/tlsload.c - one TLS server and one client for bench/net; the same client runs outside and in the box.
 *   tlsload serve ADDRESS PORT CERT KEY WORK   HTTP/1.1; computes for WORK microseconds before each answer
 *   tlsload keep ADDRESS PORT N                N requests on one connection: microseconds each. The
 * credential is the value of BENCH_TOKEN; roots are SSL_CERT_FILE's tlsload bulk ADDRESS PORT MEGABYTES one
 * answer of that size: MB/s */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };
static char block[BLOCK];

static void die(const char *what)
{
        perror(what);
        ERR_print_errors_fp(stderr);
        exit(1);
}

static double now_us(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

static void no_delay(int fd)
{
        int on = 1;
        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* ---- the server ---- */

static void answer(SSL *s, const char *asked)
{
        static const char small[] =
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 64\r\n\r\n"
                "{\"a\":\"0123456789012345678901234567890123456789012345678901234\"}\n";
        long long left = strncmp(asked, "GET /bulk/", 10) == 0 ? atoll(asked + 10) : 0;
        if (left == 0) {
                (void) SSL_write(s, small, sizeof small - 1);
                return;
        }
        int n = snprintf(block, sizeof block, "HTTP/1.1 200 OK\r\nContent-Length: %lld\r\n\r\n", left);
        (void) SSL_write(s, block, n);
        memset(block, 'x', sizeof block);
        for (int k; left > 0; left -= k)
                if ((k = SSL_write(s, block, left < BLOCK ? (int) left : BLOCK)) <= 0)
                        return;
}

static void serve_one(SSL_CTX *c, int fd, double work_us)
{
        char asked[8192];
        int have = 0;
        SSL *s = SSL_new(c);
        (void) SSL_set_fd(s, fd);
        if (SSL_accept(s) != 1)
                die("accept");
        for (int n; (n = SSL_read(s, asked + have, (int) sizeof asked - 1 - have)) > 0;) {
                have += n;
                if (have < 4 || memcmp(asked + have - 4, "\r\n\r\n", 4) != 0)
                        continue;
                asked[have] = '\0';
                for (double until = now_us() + work_us; work_us > 0 && now_us() < until;)
                        ;
                answer(s, asked);
                have = 0;
        }
        exit(0);
}

static int serve(const struct sockaddr_in *at, char **argv)
{
        int on = 1, l = socket(AF_INET, SOCK_STREAM, 0);
        SSL_CTX *c = SSL_CTX_new(TLS_server_method());
        if (SSL_CTX_use_certificate_chain_file(c, argv[4]) != 1 ||
            SSL_CTX_use_PrivateKey_file(c, argv[5], SSL_FILETYPE_PEM) != 1)
                die("certificate");
        (void) setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(l, (const struct sockaddr *) at, sizeof *at) < 0 || listen(l, 64) < 0)
                die("listen");
        for (int fd; (fd = accept(l, NULL, NULL)) >= 0; (void) close(fd)) {
                while (waitpid(-1, NULL, WNOHANG) > 0)
                        ;
                no_delay(fd);
                if (fork() == 0)
                        serve_one(c, fd, atof(argv[6]));
        }
        return 1;
}

/* ---- the client ---- */

static SSL *reach(const struct sockaddr_in *at, const char *address)
{
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        SSL_CTX *c = SSL_CTX_new(TLS_client_method());
        if (SSL_CTX_set_default_verify_paths(c) != 1)
                die("roots");
        SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
        SSL *s = SSL_new(c);
        (void) X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(s), address);
        if (connect(fd, (const struct sockaddr *) at, sizeof *at) < 0)
                die("connect");
        no_delay(fd);
        (void) SSL_set_fd(s, fd);
        if (SSL_connect(s) != 1)
                die("TLS");
        return s;
}

static const char *host; /* ADDRESS:PORT */

static void ask(SSL *s, const char *path)
{
        char text[1024];
        const char *token = getenv("BENCH_TOKEN");
        int n = snprintf(text, sizeof text,
                         "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: */*\r\n"
                         "Authorization: Bearer %s\r\n\r\n",
                         path, host, token ? token : "none");
        if (SSL_write(s, text, n) != n)
                die("ask");
}

static double keep(SSL *s, long n)
{
        double began = now_us();
        for (long i = 0; i < n; i++) {
                char text[4096];
                ask(s, "/v1/x?a=1");
                for (int have = 0, k; have < 2 || memcmp(text + have - 2, "}\n", 2) != 0; have += k)
                        if ((k = SSL_read(s, text + have, (int) sizeof text - have)) <= 0 ||
                            memcmp(text, "HTTP/1.1 200", have + k < 12 ? (size_t) (have + k) : 12) != 0)
                                die("answer");
        }
        return (now_us() - began) / (double) n;
}

static double bulk(SSL *s, long megabytes)
{
        char path[64];
        long long left = megabytes * 1000000LL;
        double began = now_us();
        (void) snprintf(path, sizeof path, "/bulk/%lld", left);
        ask(s, path);
        for (int n; left > 0; left -= n) /* its head counts along: nothing against the rest */
                if ((n = SSL_read(s, block, sizeof block)) <= 0)
                        die("bulk");
        return (double) megabytes / ((now_us() - began) / 1e6);
}

int main(int argc, char **argv)
{
        if (argc < 5)
                return 2;
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((unsigned short) atol(argv[3])) };
        if (inet_pton(AF_INET, argv[2], &at.sin_addr) != 1)
                return 2;
        if (strcmp(argv[1], "serve") == 0)
                return argc < 7 ? 2 : serve(&at, argv);
        char text[64];
        (void) snprintf(text, sizeof text, "%s:%s", argv[2], argv[3]);
        host = text;
        SSL *s = reach(&at, argv[2]);
        (void) keep(s, 20); /* warm */
        printf("%.2f\n", argv[1][0] == 'k' ? keep(s, atol(argv[4])) : bulk(s, atol(argv[4])));
        return 0;
}

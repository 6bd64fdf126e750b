/* SPDX-License-Identifier: MIT */
/* bench/tls.c - what it costs that TLS is opened up: a request on an open connection, directly to a TLS
 * server and through a flow with a credential, over loopback, each side a process of its own. Prints
 * microseconds a request (median of rounds) and their ratio, and what of it the broker's own code takes when
 * nothing is sent at all. tls [REQUESTS] [ROUNDS] [MICROSECONDS THE SERVER THINKS] */
#include "broker/egress/tls/tls_internal.h"
#include "policy/policy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECRET "ghp_R3alSecretValue0123456789abcdef"
#define HOLDER "ghp_PLACEHOLDERaaaabbbbccccddddeeee"

static const struct tls_ops *ops;
static struct tls_box *world, *box;
static long think_us;

static void die(const char *what)
{
        perror(what);
        exit(1);
}

static int listen_on(uint16_t *ret_port)
{
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t n = sizeof a;
        int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (s < 0 || bind(s, (struct sockaddr *) &a, sizeof a) < 0 || listen(s, 8) < 0 ||
            getsockname(s, (struct sockaddr *) &a, &n) < 0)
                die("listen");
        *ret_port = ntohs(a.sin_port);
        return s;
}

static int dial(uint16_t port)
{
        struct sockaddr_in a = { .sin_family = AF_INET,
                                 .sin_port = htons(port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
        if (s < 0 || connect(s, (struct sockaddr *) &a, sizeof a) < 0)
                die("connect");
        (void) setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        return s;
}

static int take(int listener)
{
        int s = accept(listener, NULL, NULL), one = 1;
        if (s < 0)
                die("accept");
        (void) setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        return s;
}

static void send_all(int fd, struct span s)
{
        while (s.n) {
                ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL);
                if (n <= 0)
                        exit(0);
                s = span_of(s.p + n, s.n - (size_t) n);
        }
}

/* ---- the server ---- */

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 64\r\n\r\n"
                             "{\"a\":\"0123456789012345678901234567890123456789012345678901234\"}\n";

static void flush(struct tls_end *t, int fd)
{
        char wire[32768];
        size_t n;
        while ((n = ops->take(t, wire, sizeof wire)) > 0)
                send_all(fd, span_of(wire, n));
}

static void serve(int fd)
{
        struct tls_end *t = ops->server(world, "api.test", false);
        char wire[32768], plain[32768];
        size_t have = 0;
        for (ssize_t n; (n = recv(fd, wire, sizeof wire, 0)) > 0;) {
                if (ops->feed(t, span_of(wire, (size_t) n)) < 0)
                        exit(1);
                for (ssize_t k; (k = ops->read(t, plain + have, sizeof plain - have)) > 0;)
                        have += (size_t) k;
                if (have >= 4 && memcmp(plain + have - 4, "\r\n\r\n", 4) == 0) {
                        struct timespec pause = { 0, think_us * 1000 };
                        if (think_us)
                                (void) nanosleep(&pause, NULL);
                        (void) ops->write(t, span_of(answer, sizeof answer - 1));
                        have = 0;
                }
                flush(t, fd);
        }
        exit(0);
}

/* ---- the broker, with a loop just good enough ---- */

static struct http_rules *rules(void)
{
        static const struct policy_context ctx = { .work = "/w", .home = "/h", .now = 1 };
        static const struct http_credential key = { .name = "key",
                                                    .where = GRANT_HEADER,
                                                    .field = "Authorization",
                                                    .before = "Bearer ",
                                                    .after = "",
                                                    .class = POLICY_STAGE_LIVE,
                                                    .secret = { (const uint8_t *) SECRET, sizeof SECRET - 1 },
                                                    .placeholder = { (const uint8_t *) HOLDER,
                                                                     sizeof HOLDER - 1 } };
        struct err e;
        struct policy *p = policy_new();
        (void) policy_add_text(p, "p", span_str("use none\nnet https://api.test/** GET with key\n"), &e);
        struct checked_policy *c = policy_check(p, &ctx, &e);
        struct http_rules_in in = { .policy = c,
                                    .stage = POLICY_STAGE_LIVE,
                                    .credentials = &key,
                                    .credential_count = 1,
                                    .tls = ops,
                                    .tls_ctx = box };
        struct http_rules *r = c ? http_rules_new(&in, &e) : NULL;
        if (!r)
                die(e.what);
        return r;
}

static void broker(int client, uint16_t server_port)
{
        struct http_peer peer = { .host = "api.test", .port = 443 };
        struct http_flow *f = http_flow_new(rules(), &peer, NULL);
        struct pollfd p[2] = { { client, POLLIN, 0 }, { -1, POLLIN, 0 } };
        char bytes[32768];
        while (!http_flow_done(f) && poll(p, 2, -1) > 0) {
                for (int i = 0; i < 2; i++) {
                        if (p[i].fd < 0 || !p[i].revents)
                                continue;
                        ssize_t n = recv(p[i].fd, bytes, sizeof bytes, 0);
                        if (n <= 0)
                                exit(0);
                        (i ? http_flow_from_upstream : http_flow_from_client)(f, span_of(bytes, (size_t) n));
                }
                struct http_target t;
                if (http_flow_take_connect(f, &t)) {
                        p[1].fd = dial(server_port);
                        http_flow_upstream_connected(f);
                }
                struct span s = http_flow_to_client(f);
                send_all(client, s);
                http_flow_client_took(f, s.n);
                s = http_flow_to_upstream(f);
                if (p[1].fd >= 0)
                        send_all(p[1].fd, s);
                http_flow_upstream_took(f, s.n);
        }
        exit(0);
}

/* ---- the client ---- */

static SSL *client(int fd, struct span ca)
{
        char name[] = "api.test";
        SSL_CTX *c = SSL_CTX_new(TLS_client_method());
        BIO *mem = BIO_new_mem_buf(ca.p, (int) ca.n);
        X509 *x = PEM_read_bio_X509(mem, NULL, NULL, NULL);
        (void) X509_STORE_add_cert(SSL_CTX_get_cert_store(c), x);
        SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
        SSL *s = SSL_new(c);
        (void) SSL_set_tlsext_host_name(s, name);
        (void) SSL_set_fd(s, fd);
        if (SSL_connect(s) != 1) {
                ERR_print_errors_fp(stderr);
                exit(1);
        }
        return s;
}

static const char question[] =
        "GET /v1/x?a=1 HTTP/1.1\r\nHost: api.test\r\nUser-Agent: bench\r\nAccept: */*\r\n"
        "Authorization: Bearer " HOLDER "\r\n\r\n";

static double measure(SSL *s, int requests)
{
        struct timespec a, b;
        char bytes[4096];
        (void) clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < requests; i++) {
                if (SSL_write(s, question, sizeof question - 1) <= 0)
                        exit(1);
                for (int have = 0, n;
                     have == 0 || bytes[have - 1] != '\n' || !memmem(bytes, (size_t) have, "}\n", 2);
                     have += n)
                        if ((n = SSL_read(s, bytes + have, (int) sizeof bytes - have)) <= 0)
                                exit(1);
        }
        (void) clock_gettime(CLOCK_MONOTONIC, &b);
        return ((double) (b.tv_sec - a.tv_sec) * 1e9 + (double) (b.tv_nsec - a.tv_nsec)) / 1e3 / requests;
}

static struct tls_box *authority(struct span trust)
{
        static const char *const names[] = { "api.test" };
        struct tls_box_in in = { names, 1, trust, time(NULL) };
        struct err e;
        struct tls_box *b = tls_box_new(&in, &e);
        if (!b)
                die(e.what);
        return b;
}

/* ---- the pieces, in one process and without a socket ---- */

static double now_us(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

/* All that `from` has for the wire goes to `to`, which reads it. Bytes of plain text that came of it. */
static size_t pass(struct tls_end *from, struct tls_end *to)
{
        char wire[32768], plain[32768];
        size_t n, got = 0;
        while ((n = ops->take(from, wire, sizeof wire)) > 0) {
                if (ops->feed(to, span_of(wire, n)) < 0)
                        die("feed");
                for (ssize_t k; (k = ops->read(to, plain, sizeof plain)) != 0; got += (size_t) k)
                        if (k < 0)
                                die(ops->why(to));
        }
        return got;
}

/* Two records each way, sealed and opened: what no way of opening up TLS can do without. */
static double records_alone(int requests)
{
        struct tls_end *a = ops->client(box, "api.test", false, false),
                       *b = ops->server(world, "api.test", false);
        for (int i = 0; i < 8; i++)
                (void) pass(a, b), (void) pass(b, a);
        double began = now_us();
        for (int i = 0; i < 2 * requests; i++)
                if (ops->write(a, span_of(question, sizeof question - 1)) <= 0 || pass(a, b) == 0)
                        die("records");
        double took = (now_us() - began) / requests;
        ops->free(a);
        ops->free(b);
        return took;
}

/* The same exchange as over the sockets; only what the flow does is counted. */
static double flow_alone(int requests)
{
        struct tls_box *third = authority(tls_box_ca_pem(box));
        struct tls_end *server = ops->server(world, "api.test", false),
                       *asker = ops->client(third, "api.test", false, false);
        struct http_peer peer = { .host = "api.test", .port = 443 };
        struct http_flow *f = http_flow_new(rules(), &peer, NULL);
        char wire[32768], plain[32768];
        double took = 0;
        for (int done = -50, asked = 0; done < requests;) {
                double t;
                size_t n, got = 0;
                struct http_target target;
                struct span s;
                if (!asked)
                        asked = ops->write(asker, span_of(question, sizeof question - 1)) > 0;
                n = ops->take(asker, wire, sizeof wire);
                t = now_us();
                http_flow_from_client(f, span_of(wire, n));
                if (http_flow_take_connect(f, &target))
                        http_flow_upstream_connected(f);
                s = http_flow_to_upstream(f);
                took += done >= 0 ? now_us() - t : 0;
                (void) ops->feed(server, s);
                for (ssize_t k; (k = ops->read(server, plain, sizeof plain)) > 0; got += (size_t) k)
                        ;
                http_flow_upstream_took(f, s.n);
                if (got)
                        (void) ops->write(server, span_of(answer, sizeof answer - 1));
                n = ops->take(server, wire, sizeof wire);
                t = now_us();
                http_flow_from_upstream(f, span_of(wire, n));
                s = http_flow_to_client(f);
                took += done >= 0 ? now_us() - t : 0;
                (void) ops->feed(asker, s);
                for (got = 0; (n = (size_t) ops->read(asker, plain, sizeof plain)) > 0; got += n)
                        if (n > sizeof plain)
                                die(ops->why(asker));
                http_flow_client_took(f, s.n);
                done += got != 0;
                asked = got ? 0 : asked;
        }
        http_flow_free(f);
        return took / requests;
}

static int by_value(const void *a, const void *b)
{
        double x = *(const double *) a, y = *(const double *) b;
        return (x > y) - (x < y);
}

static void serve_one(int listener, uint16_t ignored)
{
        (void) ignored;
        serve(take(listener));
}

static void broke_one(int listener, uint16_t server_port) { broker(take(listener), server_port); }

static pid_t fork_of(void (*run)(int, uint16_t), int listener, uint16_t port)
{
        pid_t pid = fork();
        if (pid == 0)
                run(listener, port);
        return pid;
}

/* Microseconds of processor that a process has used; 0: this one. */
static double cpu(pid_t pid)
{
        clockid_t c;
        struct timespec t = { 0 };
        if (clock_getcpuclockid(pid, &c) == 0)
                (void) clock_gettime(c, &t);
        return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

static double median(double *v, int n)
{
        qsort(v, (size_t) n, sizeof *v, by_value);
        return v[n / 2];
}

static double least(double *v, int n)
{
        (void) median(v, n);
        return v[0];
}

int main(int argc, char **argv)
{
        int requests = argc > 1 ? (int) strtol(argv[1], NULL, 10) : 2000,
            rounds = argc > 2 ? (int) strtol(argv[2], NULL, 10) : 9;
        think_us = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
        (void) prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
        static char roots[1 << 20];
        double direct[64], through[64], ratio[64], cpu_direct[64], cpu_through[64], cpu_broker[64],
                records[64], flows[64];
        FILE *r = fopen("/etc/ssl/certs/ca-certificates.crt", "rb");
        size_t n = r ? fread(roots, 1, sizeof roots, r) : 0;
        uint16_t direct_port, behind_port, gate_port;
        ops = tls_box_ops();
        world = authority(span_of(roots, n));
        box = authority(tls_box_ca_pem(world));
        int direct_in = listen_on(&direct_port), behind_in = listen_on(&behind_port),
            gate = listen_on(&gate_port);
        (void) signal(SIGCHLD, SIG_IGN);
        rounds = rounds < 64 ? rounds : 64;
        pid_t pids[3] = { fork_of(serve_one, direct_in, 0), fork_of(serve_one, behind_in, 0),
                          fork_of(broke_one, gate, behind_port) };
        SSL *a = client(dial(direct_port), tls_box_ca_pem(world)),
            *b = client(dial(gate_port), tls_box_ca_pem(box));
        (void) measure(a, 200), (void) measure(b, 200);
        for (int i = 0; i < rounds; i++) {
                double began[] = { cpu(0), cpu(pids[0]), cpu(pids[1]), cpu(pids[2]) };
                direct[i] = measure(a, requests);
                double middle = cpu(0);
                through[i] = measure(b, requests);
                ratio[i] = through[i] / direct[i];
                cpu_direct[i] = (middle - began[0] + cpu(pids[0]) - began[1]) / requests;
                cpu_through[i] =
                        (cpu(0) - middle + cpu(pids[1]) - began[2] + cpu(pids[2]) - began[3]) / requests;
                cpu_broker[i] = (cpu(pids[2]) - began[3]) / requests;
        }
        printf("TLS, one request on an open connection (server thinks for %ld us), medians of %d rounds:\n",
               think_us, rounds);
        printf("  time: direct %.1f us, through a flow with a credential %.1f us, %.2fx\n",
               median(direct, rounds), median(through, rounds), median(ratio, rounds));
        printf("  processor, all processes: direct %.1f us, through %.1f us; the broker's part %.1f us\n",
               median(cpu_direct, rounds), median(cpu_through, rounds), median(cpu_broker, rounds));
        for (size_t i = 0; i < 3; i++)
                (void) kill(pids[i], SIGTERM);
        for (int i = 0; i < rounds && think_us == 0; i++) {
                records[i] = records_alone(requests);
                flows[i] = flow_alone(requests);
        }
        if (think_us == 0)
                printf("  least: the broker's part without the kernel's %.1f us, sealing and opening four "
                       "records "
                       "%.1f us\n",
                       least(flows, rounds), least(records, rounds));
        return 0;
}

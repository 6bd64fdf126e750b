/* SPDX-License-Identifier: MIT */
/* bench/api_latency.c - the same run by libcordon in this process and over HTTP, in turn.
 *     api_latency SOCKET TOKEN ROUNDS POLICY
 * Prints the median of each, of runs in parked boxes if most were, and the difference. Sees cordon.h and
 * nothing else of ours. Exits with 1 if the difference is more than a millisecond. */
#define _GNU_SOURCE
#include <cordon.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
enum { ROUNDS_MAX = 100000, PAUSE_US = 20000, WARM = 20, BYTES = 65536 };
static const char body[] = "{\"argv\":[\"/bin/true\"],\"policy\":\"plain\"}";

struct series {
        const char *name;
        uint64_t ns[2][ROUNDS_MAX]; /* cold, parked */
        size_t n[2];
};

static _Noreturn void die(const char *what, const cordon_error *e)
{
        fprintf(stderr, "api_latency: %s: %s\n", what, e ? e->what : "failed");
        exit(1);
}

static uint64_t now_ns(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static void add(struct series *s, int parked, uint64_t ns)
{
        if (s->n[parked] < ROUNDS_MAX)
                s->ns[parked][s->n[parked]++] = ns;
}

/* ---- libcordon ---- */

static void ignore(void *ctx, int stream, const void *data, size_t len)
{
        (void) ctx, (void) stream, (void) data, (void) len;
}

/* As the server does it: from a policy that is checked already to the result. */
static void by_library(cordon_policy *p, struct series *s)
{
        static const char *const argv[] = { "/bin/true", NULL };
        cordon_error e = { 0 };
        uint64_t began = now_ns();
        cordon_box *b = cordon_box_new(p);
        if (!b || cordon_box_set(b, CORDON_OBSERVE, "denials") < 0 ||
            cordon_box_set(b, CORDON_POOL, "auto") < 0 || cordon_box_set(b, CORDON_LEDGER, "require") < 0 ||
            cordon_box_command(b, argv) < 0)
                die("a box", NULL);
        cordon_box_stdio(b, 0, -1);
        cordon_box_on_output(b, ignore, NULL);
        if (cordon_box_start(b, &e) < 0)
                die("start", &e);
        while (cordon_box_wait(b, -1) == 0)
                ;
        const cordon_result *r = cordon_box_result(b);
        uint64_t took = now_ns() - began;
        if (cordon_result_status(r) != 0)
                die("a run", r->error);
        add(s, strcmp(r->start, "parked") == 0, took);
        cordon_box_free(b);
}

/* ---- HTTP ---- */

static int connect_to(const char *path)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        (void) snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
        if (fd < 0 || connect(fd, (const struct sockaddr *) &a, sizeof a) < 0)
                die(path, NULL);
        return fd;
}

/* An answer is whole when its body is as long as its head says. */
static int is_whole(const char *text, size_t n)
{
        const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\r\ncontent-length:");
        return end && length && length < end &&
               n >= (size_t) (end + 4 - text) + strtoul(length + 17, NULL, 10);
}

static void by_http(int fd, const char *request, struct series *s)
{
        static char text[BYTES];
        size_t n = 0;
        uint64_t began = now_ns();
        if (write(fd, request, strlen(request)) != (ssize_t) strlen(request))
                die("write", NULL);
        do {
                ssize_t got = read(fd, text + n, sizeof text - 1 - n);
                if (got <= 0)
                        die("read", NULL);
                n += (size_t) got;
                text[n] = '\0';
        } while (!is_whole(text, n));
        uint64_t took = now_ns() - began;
        if (strncmp(text, "HTTP/1.1 200", 12) != 0 || !strstr(text, "\"status\":0"))
                die(text, NULL);
        add(s, strstr(text, "\"start\":\"parked\"") != NULL, took);
}

/* ---- figures ---- */

static int ascending(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
        return (x > y) - (x < y);
}

static double median_ms(struct series *s, int parked)
{
        if (s->n[parked] == 0)
                return 0;
        qsort(s->ns[parked], s->n[parked], sizeof *s->ns[parked], ascending);
        return (double) s->ns[parked][s->n[parked] / 2] / 1e6;
}

int main(int argc, char **argv)
{
        static struct series library = { .name = "libcordon" }, http = { .name = "HTTP" };
        cordon_error e = { 0 };
        char request[1024];
        if (argc != 5)
                die("api_latency SOCKET TOKEN ROUNDS POLICY", NULL);

        cordon_context *cx = cordon_context_new(environ);
        cordon_policy *p = cordon_policy_new(cx);
        if (!p || cordon_policy_add_file(p, argv[4], &e) < 0 || cordon_policy_check(p, &e) < 0)
                die("policy", &e);

        (void) snprintf(request, sizeof request,
                        "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                        argv[2], sizeof body - 1, body);
        int fd = connect_to(argv[1]);
        long rounds = strtol(argv[3], NULL, 10) + WARM;
        for (long i = 0; i < rounds; i++) {
                if (i == WARM)
                        library.n[0] = library.n[1] = http.n[0] = http.n[1] = 0;
                by_library(p, &library);
                (void) usleep(PAUSE_US); /* for what refills */
                by_http(fd, request, &http);
                (void) usleep(PAUSE_US);
        }

        int parked = library.n[1] > library.n[0] && http.n[1] > http.n[0];
        double a = median_ms(&library, parked), b = median_ms(&http, parked);
        printf("%s boxes: libcordon p50 %.2f ms (%zu), HTTP p50 %.2f ms (%zu), difference %.2f ms (bar 1)\n",
               parked ? "parked" : "new", a, library.n[parked], b, http.n[parked], b - a);
        cordon_policy_free(p);
        cordon_context_free(cx);
        (void) close(fd);
        return b - a > 1;
}

/* SPDX-License-Identifier: MIT */
/* library.h - what programs of somebody else that use libcordon share: they print `ok NAME` and `not ok NAME`
 * lines, and `# note` lines; t0101-library.sh counts them. They see cordon.h and nothing else of ours. */
#define _GNU_SOURCE
#include "../../context.h"
#include <cordon.h>

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

__attribute__((format(printf, 2, 3))) static inline void expect(int good, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        char text[512];
        (void) vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        (void) printf("%s %s\n", good ? "ok" : "not ok", text);
        (void) fflush(stdout);
}

static inline double now_ms(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

static inline unsigned descriptors(void)
{
        unsigned n = 0;
        DIR *d = opendir("/proc/self/fd");
        while (d && readdir(d))
                n++;
        if (d)
                (void) closedir(d);
        return n;
}

/* What one box has said so far. */
struct heard {
        char text[3][4096];
        size_t len[3], total;
};

static inline void hear(void *ctx, int stream, const void *data, size_t len)
{
        struct heard *h = ctx;
        size_t room = sizeof h->text[0] - 1 - h->len[stream], n = len < room ? len : room;
        memcpy(h->text[stream] + h->len[stream], data, n);
        h->len[stream] += n;
        h->total += len;
}

static inline cordon_policy *policy_of(const char *limits)
{
        cordon_error e;
        cordon_policy *p = cordon_policy_new(test_context());
        if (!p || (limits && cordon_policy_add(p, "limit", limits, &e) < 0)) {
                expect(0, "policy: %s", p ? e.what : "no memory");
                exit(1);
        }
        return p;
}

static inline cordon_box *box_of(cordon_policy *p, const char *script, struct heard *h)
{
        const char *argv[] = { "sh", "-c", script, NULL };
        cordon_box *b = cordon_box_new(p);
        if (!b || cordon_box_command(b, argv) < 0) {
                expect(0, "a box: no memory");
                exit(1);
        }
        if (h) {
                memset(h, 0, sizeof *h);
                cordon_box_on_output(b, hear, h);
        }
        return b;
}

static inline int started(cordon_box *b)
{
        cordon_error e;
        memset(&e, 0, sizeof e);
        if (cordon_box_start(b, &e) == 0)
                return 1;
        expect(0, "start: %s: %s (%s)", cordon_error_name(e.code), e.what, e.hint);
        return 0;
}

static inline const cordon_result *wait_for(cordon_box *b)
{
        while (cordon_box_wait(b, -1) == 0)
                ;
        return cordon_box_result(b);
}

static inline void nothing_left(unsigned fds, const char *when)
{
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        int none = pid == -1 && errno == ECHILD;
        expect(descriptors() == fds, "%s: no descriptor is left (%u before, %u after)", when, fds,
               descriptors());
        expect(none, "%s: no child is left, running or dead (%d)", when, (int) pid);
}

struct library_case {
        const char *name;
        void (*run)(void);
};

/* The case that is named; with none named, the names of all. */
static inline int run_case(const struct library_case *cases, size_t count, int argc, char **argv)
{
        for (size_t i = 0; i < count; i++)
                if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
                        cases[i].run();
                        return 0;
                }
        for (size_t i = 0; argc < 2 && i < count; i++)
                (void) printf("%s\n", cases[i].name);
        return argc < 2 ? 0 : 2;
}

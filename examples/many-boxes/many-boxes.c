/* SPDX-License-Identifier: MIT */
/* many-boxes.c - one thread, one loop, many boxes. Every line of standard input is a command; each runs in a
 * box of its own, and its result is printed when it ends.
 *
 *     many-boxes [AT-ONCE] <COMMANDS
 *
 * Without AT-ONCE all of them run at the same time. */
#include <cordon.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

enum { EVENTS = 64 };

static const char policy_text[] = "box   many-boxes\n"
                                  "limit time 10s cpu 5s memory 64M procs 16 output 4M\n";

extern char **environ;
static cordon_context *caller;

struct job {
        unsigned line;
        cordon_policy *policy;
        cordon_box *box; /* NULL: not running */
        long long due;   /* when it has to be stepped, in ms; -1: not before its descriptor is readable */
        size_t bytes;    /* of its output */
        char first[64];  /* the first line of it */
        size_t have;
};

static long long now_ms(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (long long) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void on_output(void *ctx, int stream, const void *data, size_t len)
{
        struct job *j = ctx;
        size_t room = sizeof j->first - 1 - j->have, n = len < room ? len : room;
        (void) stream;
        memcpy(j->first + j->have, data, n);
        j->have += n;
        j->bytes += len;
}

static void print_result(struct job *j, const cordon_result *r)
{
        static const char *const ends[] = {
                "is running", "failed", "not started", "exited", "signal", "limit"
        };
        j->first[strcspn(j->first, "\n")] = '\0';
        (void) printf("%u: %s %s%d, %zu bytes: %s\n", j->line, ends[r->end], r->limit, r->code, j->bytes,
                      r->error ? r->error->what : j->first);
}

static void end(struct job *j)
{
        if (j->box)
                print_result(j, cordon_box_result(j->box));
        cordon_box_free(j->box); /* closes its descriptor, which leaves the loop by that */
        cordon_policy_free(j->policy);
        j->box = NULL;
        j->policy = NULL;
}

/* Begins a start; the rest of it happens in the loop. 0, or -1: it is over already. */
static int begin(struct job *j, const char *command, int loop)
{
        const char *argv[] = { "sh", "-c", command, NULL };
        struct epoll_event ev = { .events = EPOLLIN, .data = { .ptr = j } };
        cordon_error e;

        j->policy = cordon_policy_new(caller);
        j->box = j->policy ? cordon_box_new(j->policy) : NULL;
        if (!j->box || cordon_box_command(j->box, argv) < 0 ||
            cordon_policy_add_text(j->policy, "many-boxes", policy_text, strlen(policy_text), &e) < 0) {
                end(j);
                return -1;
        }

        cordon_box_on_output(j->box, on_output, j);
        if (cordon_box_start_async(j->box, &e) < 0 ||
            epoll_ctl(loop, EPOLL_CTL_ADD, cordon_box_fd(j->box), &ev) < 0) {
                end(j);
                return -1;
        }

        j->due = now_ms();
        return 0;
}

/* 1: it is over. */
static int step(struct job *j)
{
        if (cordon_box_step(j->box) != 0) {
                end(j);
                return 1;
        }

        int ms = cordon_box_next_ms(j->box);
        j->due = ms < 0 ? -1 : now_ms() + ms;
        return 0;
}

/* How long the loop may wait: until the first box is due. */
static int wait_ms(const struct job *jobs, size_t n)
{
        long long now = now_ms(), first = -1;
        for (size_t i = 0; i < n; i++)
                if (jobs[i].box && jobs[i].due >= 0 && (first < 0 || jobs[i].due < first))
                        first = jobs[i].due;
        return first < 0 ? -1 : first <= now ? 0 : (int) (first - now);
}

/* Steps every box whose descriptor is readable or whose time has come. Returns how many are over. */
static size_t turn(int loop, struct job *jobs, size_t n)
{
        struct epoll_event ev[EVENTS];
        size_t over = 0;
        int ready = epoll_wait(loop, ev, EVENTS, wait_ms(jobs, n));
        for (int i = 0; i < ready; i++)
                ((struct job *) ev[i].data.ptr)->due = 0;

        long long now = now_ms();
        for (size_t i = 0; i < n; i++)
                if (jobs[i].box && jobs[i].due >= 0 && jobs[i].due <= now)
                        over += (size_t) step(&jobs[i]);
        return over;
}

static size_t read_commands(char ***ret)
{
        size_t n = 0, cap = 0;
        char *line = NULL, **all = NULL;
        while (getline(&line, &cap, stdin) > 0) {
                char **more = realloc(all, (n + 1) * sizeof *all);
                if (!more)
                        break;
                all = more;
                line[strcspn(line, "\n")] = '\0';
                all[n++] = line;
                line = NULL;
                cap = 0;
        }
        free(line);
        *ret = all;
        return n;
}

int main(int argc, char **argv)
{
        caller = cordon_context_new(environ);
        char **commands;
        size_t n = read_commands(&commands), begun = 0, over = 0;
        size_t at_once = argc > 1 ? strtoul(argv[1], NULL, 10) : n;
        struct job *jobs = calloc(n + 1, sizeof *jobs);
        int loop = epoll_create1(EPOLL_CLOEXEC);
        struct rlimit files; /* a box has about a dozen descriptors here */
        if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
                files.rlim_cur = files.rlim_max;
                (void) setrlimit(RLIMIT_NOFILE, &files);
        }

        while (jobs && loop >= 0 && over < n) {
                for (; begun < n && begun - over < at_once; begun++) {
                        jobs[begun].line = (unsigned) begun + 1;
                        over += begin(&jobs[begun], commands[begun], loop) < 0;
                }
                over += turn(loop, jobs, begun);
        }

        for (size_t i = 0; i < n; i++)
                free(commands[i]);
        free(commands);
        free(jobs);
        cordon_context_free(caller);
        return over == n ? 0 : 1;
}

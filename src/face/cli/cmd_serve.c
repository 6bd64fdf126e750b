/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_serve.c - `cordon serve`, the resident, and `cordon serve pool`, the questions to it. */
#include "base/end_signals.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/cli.h"
#include "face/cli/serve_http.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- serve ---- */

struct serve {
        struct cli_shared asked;
        cordon_pool_options pool;
        bool automatic;
        struct cli_http http;
};

static int add_http(void *ctx, const char *value)
{
        return cli_http_listen(&((struct serve *) ctx)->http, value);
}
static int add_host(void *ctx, const char *value)
{
        return cli_http_host(&((struct serve *) ctx)->http, value);
}

static int set_log(void *ctx, const char *value)
{
        bool json = strcmp(value, "json") == 0;
        ((struct serve *) ctx)->http.log = json ? SERVE_LOG_JSON : SERVE_LOG_TEXT;
        return json || strcmp(value, "text") == 0 ? 0 : (cli_usage("--log takes text or json"), -1);
}

static int set_memory(void *ctx, const char *value)
{
        uint64_t bytes;
        if (str_to_size(span_str(value), &bytes) < 0)
                return cli_usage("--memory takes a size: 512M"), -1;
        ((struct serve *) ctx)->pool.memory = bytes;
        return 0;
}

const struct cli_option serve_options[] = {
        { "auto", 0, NULL, "also park boxes for runs seen twice within ten minutes",
          CLI_FLAG(struct serve, automatic) },
        { "boxes", 0, "N", "park at most so many boxes (default: 32)",
          CLI_COUNT(struct serve, pool.boxes, 1, 1000) },
        { "memory", 0, "SIZE", "memory limit of all parked boxes", CLI_CALL(set_memory) },
        { "idle", 0, "TIME", "end unused boxes parked by --auto after this time (default: 10m)",
          CLI_SECONDS(struct serve, pool.idle_s) },
        { "http", 0, "ADDRESS", "also serve HTTP, with --auto: 127.0.0.1:PORT or unix:PATH; can be repeated",
          CLI_CALL(add_http) },
        { "http-host", 0, "NAME", "a name in Host, of a reverse proxy; can be repeated", CLI_CALL(add_host) },
        { "runs", 0, "N", "HTTP: at most so many runs at once (default: 16)",
          CLI_COUNT(struct serve, http.runs, 1, 256) },
        { "gpu-boxes", 0, "N", "HTTP: at most so many boxes with a GPU at once (default: 1)",
          CLI_COUNT(struct serve, http.gpu_boxes, 1, 256) },
        { "tls-cert", 0, "FILE", "HTTP: certificate chain (PEM); with it --http takes any address",
          CLI_TEXT(struct serve, http.tls_certificate) },
        { "tls-key", 0, "FILE", "HTTP: its private key (PEM)", CLI_TEXT(struct serve, http.tls_key) },
        { "drain", 0, "TIME", "HTTP: after SIGTERM, how long runs may go on (default: 10s)",
          CLI_SECONDS(struct serve, http.drain_s) },
        { "log", 0, "text|json",
          "HTTP: a line for each request, run and error on standard error (default: only what needs "
          "attention)",
          CLI_CALL(set_log) },
        { 0 },
};

/* The one socket that a service manager passes (sd_listen_fds); -1: none. */
static int inherited_socket(void)
{
        const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
        uint64_t n = 0;
        bool ours = pid && count && str_to_u64(span_str(pid), &n) == 0 && n == (uint64_t) getpid() &&
                    strcmp(count, "1") == 0;
        (void) unsetenv("LISTEN_PID");
        (void) unsetenv("LISTEN_FDS");
        (void) unsetenv("LISTEN_FDNAMES");
        int listens = 0;
        socklen_t size = sizeof listens;
        if (!ours || getsockopt(3, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 || !listens)
                return -1;

        (void) fcntl(3, F_SETFD, FD_CLOEXEC);
        (void) fcntl(3, F_SETFL, fcntl(3, F_GETFL) | O_NONBLOCK);
        return 3;
}

/* Until a signal. */
static void serve_all(cordon_pool *p, int signals)
{
        for (;;) {
                struct pollfd w[] = { { .fd = cordon_pool_fd(p), .events = POLLIN },
                                      { .fd = signals, .events = POLLIN } };
                int n = poll(w, 2, cordon_pool_next_ms(p));
                if (n < 0 && errno != EINTR)
                        return;
                if (w[1].revents)
                        return;
                cordon_pool_step(p);
        }
}

/* Runs in boxes that were given away go on for a while; a second signal ends them. */
static void end_all(cordon_pool *p, int signals)
{
        enum { GRACE_STEPS = 100, STEP_MS = 100 };
        struct signalfd_siginfo first;
        (void) !read(signals, &first, sizeof first);
        for (int i = 0; i < GRACE_STEPS && !cordon_pool_close(p); i++) {
                struct pollfd again = { .fd = signals, .events = POLLIN };
                if (poll(&again, 1, STEP_MS) > 0)
                        return;
        }
}

static int park(struct serve *o)
{
        cordon_error e;
        AUTO_FD(signals, end_signals_open());
        cordon_context *changed = o->http.count ? cordon_context_new(environ) : NULL; /* cli_http_prepare() */
        cordon_pool *p = cordon_pool_new(changed ? changed : cli_context(), &o->pool, &e);
        if (!p && o->http.count && e.sys == EBUSY)
                return 0; /* there is one already, and runs use it */

        if (!p)
                return cli_error(&e);

        cli_note("ready (up to %u parked boxes); %s", o->pool.boxes,
                 o->http.count  ? "parks plans that are seen twice" /* a tenant's are its own */
                 : o->automatic ? "parks plans that are seen twice; add others with `cordon serve pool add`"
                                : "add some with `cordon serve pool add`");
        serve_all(p, signals);
        end_all(p, signals);
        cordon_pool_free(p);
        cordon_context_free(changed);
        return 0;
}

/* A run asks the resident for a box and waits for the answer: so that is another process. */
static int park_beside(struct serve *o)
{
        if (cli_http_prepare(&o->http) < 0)
                return EXIT_CORDON;

        pid_t self = getpid(), pid = fork();
        if (pid < 0)
                return cli_problem("fork: %s", strerror(errno));

        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGTERM);
                _exit(getppid() == self ? park(o) : 0);
        }

        int status = cli_http_serve(&o->http);
        (void) kill(pid, SIGTERM);
        (void) waitpid(pid, NULL, 0);
        return status;
}

int verb_serve(int argc, char **argv)
{
        struct serve o = { .pool = { .boxes = 32, .idle_s = 600 },
                           .http = { .runs = 16, .gpu_boxes = 1, .drain_s = 10 } };
        if (cli_take(argc, argv, &o) < 0)
                return EXIT_CORDON;

        o.http.config = o.asked.config;
        if (!o.http.count && (o.http.config || o.http.host_count))
                return cli_usage("--config and --http-host need --http");

        if ((o.http.tls_certificate != NULL) != (o.http.tls_key != NULL))
                return cli_usage("--tls-cert and --tls-key belong together");

        o.automatic |= o.http.count > 0;
        o.pool.automatic = o.automatic;
        o.pool.listener = inherited_socket();
        return o.http.count ? park_beside(&o) : park(&o);
}

/* ---- pool ---- */

struct pool {
        struct cli_shared asked;
        cordon_policy *policy;
        unsigned size;
        bool no_wait;
        char *found; /* the path of the command */
};

const struct cli_option pool_add_options[] = {
        { "size", 0, "N", "keep this many boxes parked (default: 2)", CLI_COUNT(struct pool, size, 1, 1000) },
        { "no-wait", 0, NULL, "do not wait until the first box is parked", CLI_FLAG(struct pool, no_wait) },
        { 0 },
};

static bool set_up(cordon_box *b, const struct pool *o, char **command)
{
        const struct {
                cordon_option option;
                const char *value;
        } set[] = { { CORDON_OBSERVE, o->asked.observe ? o->asked.observe : "denials" },
                    { CORDON_STAGE, o->asked.stage },
                    { CORDON_PLACES, o->asked.places },
                    { CORDON_LEDGER, o->asked.ledger },
                    { CORDON_SINGLE_THREAD, "1" },
                    { CORDON_ROOT_INSIDE, o->asked.root ? "1" : NULL } };
        for (size_t i = 0; i < sizeof set / sizeof *set; i++)
                if (set[i].value && cordon_box_set(b, set[i].option, set[i].value) < 0)
                        return false;

        return !command[0] || cordon_box_command(b, (const char *const *) command) == 0;
}

/* As a run finds it: a module is one by its first bytes. */
static int find_command(struct pool *o, char **words)
{
        cordon_error e;
        char *shown = NULL;
        int found =
                words[0] ? cordon_policy_find(o->policy, (const char *const *) words, &o->found, &shown, &e)
                         : 0;
        cordon_free(shown);
        if (found > 0)
                words[0] = o->found;
        return found < 0 ? cli_error(&e) : 0;
}

static int keep_boxes(cordon_box *b, const struct pool *o, cordon_error *e)
{
        (void) cordon_box_prepare(b, e); /* if it fails, parking does it, or reports it */
        return cordon_box_pool(b, o->size, e);
}

/* The command is only looked at: if the policy lists its programs, this one may be started as well. A module
 * is loaded, with the code that is kept for it. */
static int add_boxes(struct pool *o, char **words)
{
        cordon_error e;
        if (words[0] && strcmp(words[0], "--") == 0)
                words++;

        if (find_command(o, words) != 0)
                return EXIT_CORDON;

        cordon_box *b = cli_box_new(o->policy);
        enum { WAIT_MS = 30000 };
        int status = !b                     ? EXIT_CORDON
                     : !set_up(b, o, words) ? cli_usage("--stage, --ledger or --observe: no such value")
                     : keep_boxes(b, o, &e) < 0
                             ? cli_error(&e)
                             : cli_give(cordon_box_pool_state(b, o->no_wait ? 0 : WAIT_MS, &e), &e);
        cordon_box_free(b);
        return status;
}

int verb_pool_rm(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        cordon_error e;
        int status = 0, at = cli_take(argc, argv, &o);
        if (at < 0)
                return EXIT_CORDON;

        if (o.all == (at < argc))
                return cli_usage("which? A KEY of `cordon serve pool ls`, or --all");

        for (; o.all || at < argc; at++) {
                char *text = cordon_pool_ask(cli_context(), CORDON_POOL_REMOVE, o.all ? "" : argv[at], 0, &e);
                status = text ? status : cli_error(&e);
                cordon_free(text);
                if (o.all)
                        break;
        }

        return status;
}

static char *list_pool(const cordon_context *cx, int json, cordon_error *e)
{
        return cordon_pool_ask(cx, CORDON_POOL_LIST, NULL, json, e);
}

static char *count_pool(const cordon_context *cx, int json, cordon_error *e)
{
        return cordon_pool_ask(cx, CORDON_POOL_STATS, NULL, json, e);
}

int verb_pool_ls(int argc, char **argv) { return cli_view(argc, argv, list_pool); }
int verb_pool_stats(int argc, char **argv) { return cli_view(argc, argv, count_pool); }

int verb_pool_add(int argc, char **argv)
{
        struct pool o = { .size = 2, .policy = cli_policy_new() };
        int at = o.policy ? cli_take_doors(argc, argv, &o, o.policy) : -1;
        int status = at < 0 ? EXIT_CORDON : add_boxes(&o, argv + at);
        cordon_policy_free(o.policy);
        cordon_free(o.found);
        return status;
}

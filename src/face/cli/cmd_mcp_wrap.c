/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_mcp_wrap.c - `cordon mcp wrap`, `accept` and `learn`: servers of others in a box. */
#include "base/err.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/host/host.h"
#include "base/str.h"
#include "face/cli/run_end.h"
#include "face/mcp/mcp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_BYTES = 64, DIGITS = 8, URL_MAX = 2048 };

struct wrapping {
        struct cli_shared asked;
        struct mcp_wrap_options o;
        const char *url;
        char token_file[CLI_TOKEN_PATH];
        char name[NAME_BYTES];
};

/* ---- options ---- */

static int set_max(void *ctx, const char *value)
{
        uint64_t bytes;
        if (str_to_size(span_str(value), &bytes) < 0 || bytes < 1024 || bytes > 8 << 20)
                return cli_usage("--max takes a size from 1K to 8M"), -1;
        ((struct wrapping *) ctx)->o.max = bytes;
        return 0;
}

static int set_permit(void *ctx, const char *value)
{
        static const char *const names[] = { "sampling", "elicitation", "roots" };
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
                if (strcmp(names[i], value) == 0) {
                        ((struct wrapping *) ctx)->o.permitted |= 1u << i;
                        return 0;
                }
        return cli_usage("--permit takes sampling, elicitation or roots"), -1;
}

const struct cli_option mcp_wrap_options[] = {
        { "name", 0, "NAME", "name of its pinned tools (default: of the command)",
          CLI_TEXT(struct wrapping, o.name) },
        { "url", 0, "URL", "a server over HTTP instead of a command; opens the door to it",
          CLI_TEXT(struct wrapping, url) },
        { "max", 0, "SIZE", "bytes of one message (default: 4M)", CLI_CALL(set_max) },
        { "call-time", 0, "TIME", "how long the server may take for an answer (default: 5m)",
          CLI_SECONDS(struct wrapping, o.seconds) },
        { "calls", 0, "N", "calls of tools in a minute (default: 600)",
          CLI_COUNT(struct wrapping, o.rate, 1, 1000000) },
        { "permit", 0, "sampling|elicitation|roots",
          "requests the server may make to the client (default: none)", CLI_CALL(set_permit) },
        { 0 },
};

/* ---- wrap ---- */

static void say(const char *text) { cli_note("%s", text); }

/* As at the end of a run: the worst first, the rest folded. */
static void ended(const cordon_result *r, const char *run)
{
        char *const none[] = { NULL };
        const struct cli_end end = { .program = "", .command = none, .run = run, .status_fd = -1 };
        cli_end_blocked(&end, r);
}

/* The last word that looks like a program, and a digest of all: two projects have two sets of pinned tools.
 */
static void derive_name(struct wrapping *w, char **command)
{
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
        struct sha256 s;
        char hex[65], base[32];
        const char *word = command[0];
        if (word && command[1] && command[1][0] != '-')
                word = command[1];
        sha256_init(&s);
        for (char **c = command; *c; c++)
                sha256_add(&s, *c, strlen(*c) + 1);

        sha256_end_hex(&s, hex);
        word = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
        (void) snprintf(base, sizeof base, "%s", word);
        for (char *p = base; *p; p++)
                *p = strchr(allowed, *p) && (p > base || *p != '.') ? *p : '_';
        (void) snprintf(w->name, sizeof w->name, "%s-%.*s", base, DIGITS, hex);
        w->o.name = w->name;
}

/* A server lasts as long as its client, unless the policy says how long. */
static void let_it_last(cordon_policy *p)
{
        cordon_error stated;
        (void) cordon_policy_add(p, "limit", "time 30d", &stated);
        (void) cordon_policy_add(p, "limit", "cpu 30d", &stated);
        (void) cordon_policy_add(p, "limit", "output 64G", &stated);
}

static int run_server(struct wrapping *w, char **command)
{
        cordon_error e = { 0 };
        char *found = NULL, *shown = NULL;
        int status = 0;
        if (w->asked.work && chdir(w->asked.work) < 0)
                return cli_usage("--work %s: %s", w->asked.work, strerror(errno));

        let_it_last(w->o.policy);
        if (cordon_policy_find(w->o.policy, (const char *const *) command, &found, &shown, &e) > 0)
                command[0] = found;
        w->o.argv = (const char *const *) command;
        int r = mcp_wrap(&w->o, &status, &e);
        cordon_free(found);
        cordon_free(shown);
        return r < 0 ? cli_error(&e) : status;
}

/* ---- a server over HTTP ---- */

/* The door that the option opens. A policy that has one for this URL keeps it, with its credential. */
static int open_url(const struct wrapping *w, cordon_error *e)
{
        char door[URL_MAX + 32];
        int allowed = 0;
        (void) snprintf(door, sizeof door, "net POST %s", w->url);
        char *why = cordon_policy_why(w->o.policy, door, 0, &allowed, e);
        if (!why)
                return -1;

        cordon_free(why);
        (void) snprintf(door, sizeof door, "%s POST GET DELETE", w->url);
        return allowed ? 0 : cordon_policy_add(w->o.policy, "net", door, e);
}

static bool is_url(const char *text)
{
        return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

static int wrap_url(struct wrapping *w)
{
        cordon_error e = { 0 };
        char found[PATH_MAX], program[PATH_MAX], max[24], *url = (char *) (uintptr_t) w->url;
        char *named[] = { url, NULL }, *command[] = { program, url, max, NULL };
        (void) snprintf(max, sizeof max, "%zu", w->o.max);
        if (!w->o.name)
                derive_name(w, named);
        if (strlen(url) >= URL_MAX || !is_url(url))
                return cli_usage("--url takes a URL that begins with http:// or https://");
        if (host_program(cli_context(), "cordon-bridge", found, sizeof found, (struct err *) &e) < 0)
                return cli_error(&e);
        if (!realpath(found, program))
                return cli_problem("%s: %s", found, strerror(errno));
        if (open_url(w, &e) < 0 || cordon_policy_add(w->o.policy, "read", program, &e) < 0)
                return cli_error(&e);

        return run_server(w, command);
}

static int wrap(struct wrapping *w, int argc, char **argv)
{
        cordon_error e;
        int at = cli_take_doors(argc, argv, w, w->o.policy);
        if (at >= 0 && cordon_policy_any_tool(w->o.policy, &e) < 0)
                return cli_error(&e);

        if (at < 0 || cli_mcp_token(&w->asked, w->token_file) < 0 || cli_work(w->o.policy, w->asked.work) < 0)
                return EXIT_CORDON;

        w->o.http = w->asked.http;
        w->o.token_file = w->asked.token_file;
        w->o.stage = w->asked.stage;
        w->o.places = w->asked.places;
        w->o.ledger = w->asked.ledger;
        if (at < argc && strcmp(argv[at], "--") == 0)
                at++;
        if (!w->url && argc - at == 1 && is_url(argv[at]))
                w->url = argv[at++];
        if (w->url)
                return at < argc ? cli_usage("--url is in place of a command") : wrap_url(w);
        if (at >= argc)
                return cli_usage(
                        "which server? cordon mcp wrap [DOORS] -- SERVER [ARGUMENT...], or --url URL");

        if (!w->o.name)
                derive_name(w, argv + at);
        return run_server(w, argv + at);
}

int verb_mcp_wrap(int argc, char **argv)
{
        struct wrapping w = { .o = { .cx = cli_context(),
                                     .policy = cli_policy_new(),
                                     .max = 4 << 20,
                                     .seconds = 300,
                                     .rate = 600,
                                     .say = say,
                                     .ended = ended } };
        int status = w.o.policy ? wrap(&w, argc, argv) : EXIT_CORDON;
        cordon_policy_free(w.o.policy);
        return status;
}

/* ---- accept ---- */

int verb_mcp_accept(int argc, char **argv)
{
        struct cli_shared a = { 0 };
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, &a);
        if (at < 0)
                return EXIT_CORDON;

        char *text = mcp_wrap_changes(cli_context(), argv[at], a.show ? NULL : cli_ask_person, &e);
        if (!text || a.show)
                return cli_give(text, &e);

        cordon_free(text);
        (void) printf("accepted; start %s again\n", argv[at]);
        return 0;
}

/* ---- learn ---- */

/* What a client says first; the end of the input ends the server. */
static int first_words(void)
{
        static const char text[] =
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                "\"2025-11-25\","
                "\"capabilities\":{},\"clientInfo\":{\"name\":\"cordon\",\"version\":\"1\"}}}\n"
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";
        AUTO_FD(fd, (int) syscall(SYS_memfd_create, "client", MFD_CLOEXEC));
        return fd < 0 || fd_write_all(fd, text, sizeof text - 1) < 0 ? -1 : TAKE_FD(fd);
}

int verb_mcp_learn(int argc, char **argv)
{
        AUTO_FD(fd, first_words());
        char path[32], **more = calloc((size_t) argc + 3, sizeof *more);
        int status = EXIT_CORDON;
        if (fd < 0 || !more) {
                free(more);
                return cli_problem("no memory");
        }

        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        more[0] = argv[0];
        more[1] = (char[]){ "--input" };
        more[2] = path;
        memcpy(more + 3, argv + 1, (size_t) (argc - 1) * sizeof *more);
        status = cli_learn(argc + 2, more, "tool any\n");
        free(more);
        return status;
}

/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_serve_http.c - `cordon serve --http`, and the operator's tokens and tenants. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/host/host.h"
#include "base/shell.h"
#include "base/span.h"
#include "base/str.h"
#include "face/cli/cli.h"
#include "face/cli/serve_http.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int cli_http_listen(struct cli_http *h, const char *value)
{
        if (h->count == SERVE_LISTEN_MAX)
                return cli_usage("--http can be given %d times", SERVE_LISTEN_MAX), -1;

        /* Its path stays valid when the server leaves this directory. */
        bool near = strncmp(value, "unix:", 5) == 0 && value[5] != '/';
        char here[2048], *far = NULL;
        if (near && (!getcwd(here, sizeof here) || asprintf(&far, "unix:%s/%s", here, value + 5) < 0))
                return cli_usage("--http %s: %s", value, strerror(errno)), -1;

        h->listen[h->count++] = near ? far : value;
        return 0;
}

int cli_http_host(struct cli_http *h, const char *value)
{
        if (h->host_count == SERVE_HOSTS_MAX)
                return cli_usage("--http-host can be given %d times", SERVE_HOSTS_MAX), -1;
        h->hosts[h->host_count++] = value;
        return 0;
}

static int find_config(const char *given, char *ret, size_t cap)
{
        if (given) {
                char *real = realpath(given, NULL);
                int n = snprintf(ret, cap, "%s", real ? real : given);
                free(real);
                return n > 0 && (size_t) n < cap ? 0 : (cli_usage("--config: the path is too long"), -1);
        }

        return serve_config_path(environ, ret, cap) ? 0 : (cli_usage("--config DIR: HOME is not set"), -1);
}

int cli_http_prepare(struct cli_http *h)
{
        char runtime[sizeof h->path + 8];
        if (find_config(h->config, h->path, sizeof h->path) < 0)
                return -1;

        /* Tenants have state directories of their own: the resident's socket must not be in one of them. */
        (void) snprintf(runtime, sizeof runtime, "%s/run", h->path);
        if (!getenv("XDG_RUNTIME_DIR") && (mkdir(runtime, 0700) == 0 || errno == EEXIST))
                (void) setenv("XDG_RUNTIME_DIR", runtime, 1);
        return 0;
}

static void say(void *ctx, const char *text)
{
        (void) ctx;
        cli_note("%s", text);
}

/* Not realpath(): certificates are exchanged by symlinks. */
static const char *far(const char *path)
{
        char here[2048], *ret = NULL;
        return path[0] == '/'                                                         ? path
               : getcwd(here, sizeof here) && asprintf(&ret, "%s/%s", here, path) > 0 ? ret
                                                                                      : NULL;
}

/* Files stay where they are when the server leaves this directory. */
static int find_tls(struct cli_http *h)
{
        struct err e;
        if (!h->tls_certificate)
                return 0;
        h->tls_certificate = far(h->tls_certificate);
        h->tls_key = far(h->tls_key);
        if (!h->tls_certificate || !h->tls_key)
                return cli_problem("--tls-cert, --tls-key: %s", strerror(errno)), -1;
        return host_program(cli_context(), "cordon-tls", h->tls_program, sizeof h->tls_program, &e) < 0
                       ? (cli_problem("%s", e.what), -1)
                       : 0;
}

int cli_http_serve(struct cli_http *h)
{
        cordon_error e = { 0 };
        if (find_tls(h) < 0)
                return EXIT_CORDON;

        struct serve_options o = { .environment = environ,
                                   .config = h->path,
                                   .runs = h->runs,
                                   .gpu_boxes = h->gpu_boxes,
                                   .drain_s = h->drain_s,
                                   .log = h->log,
                                   .tls_certificate = h->tls_certificate,
                                   .tls_key = h->tls_key,
                                   .tls_program = h->tls_program,
                                   .say = say };
        memcpy(o.listen, h->listen, sizeof o.listen);
        memcpy(o.hosts, h->hosts, sizeof o.hosts);
        if (chdir("/") < 0) /* a box that has no door to its tenant's files works nowhere, not here */
                return cli_problem("/: %s", strerror(errno));
        return serve_http(&o, &e) < 0 ? cli_error(&e) : 0;
}

/* ---- the page of one person ---- */

struct page {
        bool no_open;
        unsigned port;
};

const struct cli_option serve_page_options[] = {
        { "no-open", 0, NULL, "print the address, and open no browser", CLI_FLAG(struct page, no_open) },
        { "port", 0, "N", "listen there (default: any free port)", CLI_COUNT(struct page, port, 1, 65535) },
        { 0 },
};

/* Nobody waits for it: it is the child of a child. What it prints is not of interest. */
static void open_browser(const char *address)
{
        pid_t pid = fork();
        if (pid == 0) {
                AUTO_FD(none, open("/dev/null", O_RDWR | O_CLOEXEC));
                if (fork() != 0 || setsid() < 0 || none < 0 || dup2(none, 0) < 0 || dup2(none, 1) < 0 ||
                    dup2(none, 2) < 0)
                        _exit(0);
                (void) execlp("xdg-open", "xdg-open", address, (char *) NULL);
                _exit(127);
        }

        if (pid > 0)
                (void) waitpid(pid, NULL, 0);
}

static void show_address(void *ctx, const char *address)
{
        const struct page *p = ctx;
        (void) printf("%s\n", address);
        (void) fflush(stdout);
        cli_note("this address is good once, for one tab; Ctrl-C ends the page");
        AUTO_FD(terminal, open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
        if (terminal < 0)
                cli_note("approvals cannot be answered on it: it has no terminal");
        if (!p->no_open && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")))
                open_browser(address);
}

int verb_serve_page(int argc, char **argv)
{
        struct page p = { 0 };
        cordon_error e = { 0 };
        char where[32];
        struct serve_options o = {
                .environment = environ, .listen = { where }, .say = say, .say_ctx = &p, .ready = show_address
        };
        if (cli_take(argc, argv, &p) < 0)
                return EXIT_CORDON;

        (void) snprintf(where, sizeof where, "127.0.0.1:%u", p.port);
        if (cordon_state_check(cli_context(), &e) < 0)
                return cli_error(&e);
        return serve_http(&o, &e) < 0 ? cli_error(&e) : 0;
}

/* ---- tokens and tenants ---- */

struct operated {
        struct cli_shared asked;
        const char *tenant, *scopes, *expires, *person, *groups;
        char path[4096];
};

const struct cli_option serve_token_options[] = {
        { "tenant", 0, "NAME", "new: whose", CLI_TEXT(struct operated, tenant) },
        { "scopes", 0, "LIST",
          "new: run,read,files,apply,approve,approve-own,vault,policy, or admin alone (default: "
          "run,read,files)",
          CLI_TEXT(struct operated, scopes) },
        { "as", 0, "PERSON", "new: person who holds it; tokens of one person count as one approver",
          CLI_TEXT(struct operated, person) },
        { "groups", 0, "LIST", "new: of the person, for doors with `ask by N of GROUP`",
          CLI_TEXT(struct operated, groups) },
        { "expires", 0, "TIME", "new: valid for so long, at most 366d (default: 30d)",
          CLI_TEXT(struct operated, expires) },
        { 0 },
};

static int token_new(const struct operated *o)
{
        enum { YEAR_S = 366 * 86400 };
        struct serve_new_token t = { .config = o->path,
                                     .tenant = o->tenant ? o->tenant : "",
                                     .person = o->person,
                                     .groups = o->groups };
        cordon_error e = { 0 };
        uint64_t ms = 0;
        char token[SERVE_TOKEN_MAX];
        unsigned admin = 0;
        (void) serve_scopes_read("admin", &admin);
        if (!serve_scopes_read(o->scopes ? o->scopes : "run,read,files", &t.scopes) ||
            (t.scopes & admin && t.scopes != admin))
                return cli_usage(
                        "--scopes takes run, read, files, apply, approve, approve-own, vault and policy with "
                        "commas, or admin alone");

        if ((t.scopes == admin) == (o->tenant != NULL))
                return cli_usage(o->tenant ? "admin tokens take no --tenant" : "--tenant NAME is required");

        if (str_to_ms(span_str(o->expires ? o->expires : "30d"), &ms) < 0 || ms < 1000 || ms / 1000 > YEAR_S)
                return cli_usage("--expires takes a time of at most 366d: 12h");

        t.expires = clock_wall_s() + (int64_t) (ms / 1000);
        if (serve_token_new(&t, token, &e) < 0)
                return cli_error(&e);

        (void) printf("%s\n", token);
        cli_note("this token is shown only once");
        return 0;
}

/* Reads the options and the first word of `serve token` or `serve tenant`. */
static char **begin(int argc, char **argv, struct operated *o)
{
        int at = cli_take(argc, argv, o);
        if (at < 0 || find_config(o->asked.config, o->path, sizeof o->path) < 0)
                return NULL;

        return argv + (argv[at] && strcmp(argv[at], "--") == 0 ? at + 1 : at);
}

int verb_serve_token(int argc, char **argv)
{
        struct operated o = { 0 };
        cordon_error e = { 0 };
        int status = 0;
        char **words = begin(argc, argv, &o);
        if (!words)
                return EXIT_CORDON;

        const char *word = words[0] ? words[0] : "";
        if (strcmp(word, "new") == 0)
                return words[1] ? cli_usage("serve token new takes no `%s`", words[1]) : token_new(&o);

        if (cli_is_list(word))
                return cli_give(serve_token_list(o.path, o.asked.json, &e), &e);

        if (strcmp(word, "rm") != 0 || !words[1])
                return cli_usage("serve token takes new, ls or rm ID");

        for (words++; *words; words++)
                if (serve_token_remove(o.path, *words, &e) < 0)
                        status = cli_error(&e);
        return status;
}

int verb_serve_tenant(int argc, char **argv)
{
        struct operated o = { 0 };
        cordon_error e = { 0 };
        char **words = begin(argc, argv, &o);
        if (!words)
                return EXIT_CORDON;

        if (words[0] && cli_is_list(words[0]) && !words[1])
                return cli_give(serve_tenant_list(o.path, o.asked.json, &e), &e);

        if (words[0] && strcmp(words[0], "forget") == 0 && words[1] && !words[2])
                return cli_give(serve_tenant_forget(cli_context(), o.path, words[1], &e), &e);

        if (!words[0] || strcmp(words[0], "new") != 0 || !words[1] || words[2])
                return cli_usage("serve tenant takes new NAME, ls, or forget NAME");

        if (serve_tenant_new(o.path, words[1], &e) < 0)
                return cli_error(&e);

        cli_note("%s/tenants/%s: its policies, files, state and budgets; without ceiling.cordon there, "
                 "requests "
                 "bring no door lines of their own",
                 o.path, words[1]);
        return 0;
}

/* SPDX-License-Identifier: MIT */
/* face/cli/ledger_send.c - `cordon ledger export`: to standard output, or to a collector or webhook by HTTP.
 * curl sends: it has TLS, proxies and names of its own. The URL and its headers reach it by a descriptor,
 * because both may hold a token. What was not taken is sent again, so a receiver may get it twice and never
 * loses it.
 */
#include "base/buf.h"
#include "base/fd.h"
#include "face/cli/cli.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_MS = 200, PAUSE_MAX_MS = 30000, FILE_MAX_BYTES = 1 << 16 };

static const struct {
        const char *format, *type, *path; /* path: of a URL that has none */
        bool single;                      /* each line is a message of its own */
} kinds[] = {
        { "jsonl", "application/x-ndjson", "", false },
        { "otlp", "application/json", "/v1/logs", false },
        { "otlp-traces", "application/json", "/v1/traces", false },
        { "ocsf", "application/x-ndjson", "", false },
        { "alerts", "application/json", "", true },
        { "prometheus", "text/plain; version=0.0.4", "", false },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static size_t kind_of(const char *format)
{
        size_t i = 0;
        while (i < KINDS && strcmp(format, kinds[i].format) != 0)
                i++;
        return i;
}

/* ---- curl's configuration ---- */

static bool has_path(const char *url)
{
        const char *host = strstr(url, "://");
        return host && strchr(host + 3, '/');
}

/* Quotes and backslashes would end the value. */
static void put_value(struct buf *out, const char *name, const char *value, size_t n)
{
        buf_printf(out, "%s = \"", name);
        for (size_t i = 0; i < n; i++) {
                if (value[i] == '"' || value[i] == '\\')
                        buf_putc(out, '\\');
                if ((unsigned char) value[i] >= ' ')
                        buf_putc(out, value[i]);
        }
        buf_puts(out, "\"\n");
}

static void put_url(struct buf *out, const char *url, size_t n, size_t kind)
{
        AUTO_BUF(whole);
        buf_add(&whole, url, n);
        if (!has_path(buf_str(&whole)))
                buf_puts(&whole, kinds[kind].path);
        put_value(out, "url", buf_str(&whole), whole.n);
        out->failed |= whole.failed;
}

/* A file: the URL in its first line, then header lines. */
static int put_target(struct buf *out, const char *to, size_t kind)
{
        char text[FILE_MAX_BYTES];
        if (strstr(to, "://")) {
                put_url(out, to, strlen(to), kind);
                return 0;
        }

        AUTO_FD(fd, cli_open_input("--to", to));
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (n < 0)
                return -1;

        text[n] = '\0';
        if (!strstr(text, "://"))
                return cli_usage("--to: %s is neither a URL nor a file that begins with one", to), -1;

        put_url(out, text, strcspn(text, "\r\n"), kind);
        for (const char *at = text + strcspn(text, "\n"); *at; at += strcspn(at, "\n")) {
                at += strspn(at, "\r\n");
                if (*at)
                        put_value(out, "header", at, strcspn(at, "\r\n"));
        }
        return 0;
}

static int make_config(struct buf *out, const struct cli_export *x, size_t kind)
{
        if (put_target(out, x->to, kind) < 0)
                return -1;
        buf_printf(out,
                   "header = \"Content-Type: %s\"\nheader = \"Expect:\"\nrequest = \"POST\"\n"
                   "data-binary = \"@-\"\nfail\nsilent\nshow-error\nmax-time = 20\noutput = \"/dev/null\"\n",
                   kinds[kind].type);
        return out->failed ? -1 : 0;
}

/* Returns 0 if the receiver took it. curl reports why not. */
static int post(const struct buf *config, const char *body, size_t n)
{
        extern char **environ;
        char curl[] = "curl", option[] = "--config", file[] = "/dev/fd/3";
        char *const argv[] = { curl, option, file, NULL };
        AUTO_FD(settings, fd_memory("cordon-send", config->p, config->n));
        AUTO_FD(data, fd_memory("cordon-send", body, n));
        posix_spawn_file_actions_t fa;
        pid_t pid;
        int status = 0;
        if (settings < 0 || data < 0 || posix_spawn_file_actions_init(&fa) != 0)
                return cli_problem("no memory to send the records");

        (void) posix_spawn_file_actions_adddup2(&fa, data, 0);
        (void) posix_spawn_file_actions_adddup2(&fa, settings, 3);
        int bad = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
        (void) posix_spawn_file_actions_destroy(&fa);
        if (bad) {
                (void) cli_problem("--to: curl cannot be started: %s", strerror(bad));
                return cli_hint("install curl; or pipe `cordon ledger export` into a program of your own");
        }

        while (waitpid(pid, &status, 0) < 0)
                ;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EXIT_CORDON;
}

/* ---- sending ---- */

static void keep(void *ctx, const char *text, size_t len) { buf_add(ctx, text, len); }

static void print(void *ctx, const char *text, size_t len)
{
        (void) ctx;
        (void) fwrite(text, 1, len, stdout);
}

static int send_all(const struct buf *config, const struct buf *text, size_t kind)
{
        if (!kinds[kind].single)
                return post(config, buf_str(text), text->n);

        for (const char *at = buf_str(text); *at;) {
                size_t n = strcspn(at, "\n");
                int status = post(config, at, n);
                if (status)
                        return status;
                at += n + (at[n] == '\n');
        }
        return 0;
}

/* The cursor moves only past what was sent. */
static int step(const struct cli_export *x, const struct buf *config, uint64_t *cursor)
{
        cordon_error e = { 0 };
        AUTO_BUF(text);
        uint64_t next = *cursor, count = 0;
        size_t kind = kind_of(x->format);
        if (cordon_log_export_from(cli_context(), x->format, x->filter, &next, x->to ? keep : print, &text,
                                   &count, &e) < 0)
                return cli_error(&e);

        if (text.failed)
                return cli_problem("no memory for the export");

        bool empty = count == 0 && strcmp(x->format, "prometheus") != 0;
        int status = x->to && !empty ? send_all(config, &text, kind) : 0;
        if (status == 0)
                *cursor = next;
        if (!x->to && fflush(stdout) != 0)
                return EXIT_CORDON;
        return status;
}

static void wait_ms(unsigned ms)
{
        struct timespec t = { ms / 1000, (long) (ms % 1000) * 1000000 };
        (void) nanosleep(&t, NULL);
}

static int follow(const struct cli_export *x, const struct buf *config)
{
        uint64_t cursor = 0;
        unsigned pause = PAUSE_MS;
        for (;;) {
                int status = step(x, config, &cursor);
                if (status && !x->to)
                        return status;
                pause = status ? (pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS) : PAUSE_MS;
                wait_ms(pause);
        }
}

int cli_log_export(const struct cli_export *x)
{
        AUTO_BUF(config);
        uint64_t cursor = 0;
        size_t kind = kind_of(x->format);
        cordon_error e = { 0 };
        if (kind == KINDS || (!x->to && !x->follow)) /* an unknown format is reported there */
                return cordon_log_export(cli_context(), x->format, x->filter, print, NULL, &e) < 0
                               ? cli_error(&e)
                               : 0;

        if (x->follow && strcmp(x->format, "prometheus") == 0)
                return cli_usage("metrics are counted from the first record on: call it again instead of -f");

        if (x->to && make_config(&config, x, kind) < 0)
                return EXIT_CORDON;

        return x->follow ? follow(x, &config) : step(x, &config, &cursor);
}

/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_vault.c - the verb vault: add, list, rm, rotate, audit, canary. A secret comes from a
 * descriptor or a variable, never from an argument, and is never printed. */
#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

struct vault {
        cordon_credential c;
        bool json, keep;
        const char *file, *command;
        struct buf scope;
};

static struct vault *of(void *ctx) { return ctx; }

static int set_for(void *ctx, const char *value)
{
        if (strchr(value, '\n'))
                return cli_usage("--for takes one door at a time"), -1;
        buf_printf(&of(ctx)->scope, "%s\n", value);
        of(ctx)->c.scope = buf_str(&of(ctx)->scope);
        return 0;
}
static int set_body(void *ctx, const char *value)
{
        (void) value;
        of(ctx)->c.body = 1;
        return 0;
}
static int set_sigv4(void *ctx, const char *value)
{
        (void) value;
        of(ctx)->c.sigv4 = 1;
        return 0;
}
static int set_class(void *ctx, const char *value)
{
        if (strcmp(value, "live") != 0 && strcmp(value, "test") != 0)
                return cli_usage("--class takes live or test"), -1;
        of(ctx)->c.test = value[0] == 't';
        return 0;
}
static int set_ttl(void *ctx, const char *value)
{
        uint64_t ms;
        if (str_to_ms(span_str(value), &ms) < 0 || ms < 1000)
                return cli_usage("--ttl takes a time like 12h or 30d"), -1;
        of(ctx)->c.ttl_s = ms / 1000;
        return 0;
}
static int set_uses(void *ctx, const char *value)
{
        if (str_to_u64(span_str(value), &of(ctx)->c.max_uses) < 0 || of(ctx)->c.max_uses == 0 ||
            of(ctx)->c.max_uses > INT64_MAX)
                return cli_usage("--max-uses takes a number of requests, 1 or more"), -1;
        return 0;
}
static int set_passphrase_fd(void *ctx, const char *value)
{
        uint64_t fd;
        if (str_to_u64(span_str(value), &fd) < 0 || fd > 1023 || fcntl((int) fd, F_GETFD) < 0)
                return cli_usage("--passphrase-fd takes the number of an open descriptor"), -1;
        of(ctx)->c.passphrase_fd = (int) fd;
        return 0;
}

const struct cli_option vault_options[] = {
        { "from-file", 0, "FILE", "add, rotate: the secret is the content of a file",
          CLI_TEXT(struct vault, file) },
        { "from-command", 0, "COMMAND", "add, rotate: the secret is what a shell command prints",
          CLI_TEXT(struct vault, command) },
        { "from-env", 0, "VARIABLE", "add, rotate: the secret is in a variable",
          CLI_TEXT(struct vault, c.secret_env) },
        { "env", 0, "VARIABLE", "add: the variable that holds the placeholder in a box",
          CLI_TEXT(struct vault, c.env) },
        { "box-file", 0, "PATH", "add: the file in the box's home that holds the placeholder, as .netrc",
          CLI_TEXT(struct vault, c.file) },
        { "form", 0, "TEXT", "add: how it stands in that file, with {} for the placeholder",
          CLI_TEXT(struct vault, c.form) },
        { "header", 0, "'NAME: {}'", "add: the header it stands in (default 'Authorization: Bearer {}')",
          CLI_TEXT(struct vault, c.header) },
        { "query", 0, "PARAMETER", "add: it stands in a parameter of the URL",
          CLI_TEXT(struct vault, c.query) },
        { "basic", 0, "USER", "add: it is the password of this user", CLI_TEXT(struct vault, c.basic) },
        { "body", 0, NULL, "add: it stands in the body, where the placeholder does", set_body },
        { "sigv4", 0, NULL, "add: it is a key of AWS, ID:SECRET or ID:SECRET:TOKEN, and signs requests",
          set_sigv4 },
        { "class", 0, "live|test", "add: (default: live); a live one loads only in the stage live",
          set_class },
        { "ttl", 0, "TIME", "add, rotate: it expires after this time, as 12h (default: 90d, class test 365d)",
          set_ttl },
        { "for", 0, "DOOR",
          "add, rotate: it is for this URL and these methods, as 'https://HOST/PATH/** GET'", set_for },
        { "max-uses", 0, "N", "add: requests of one run that may carry it", set_uses },
        { "protect", 0, "file|passphrase|keyring", "the first add: what protects the vault (default: file)",
          CLI_TEXT(struct vault, c.protect) },
        { "key-file", 0, "FILE", "the first add: the key file, outside the state directory",
          CLI_TEXT(struct vault, c.key_file) },
        { "passphrase-fd", 0, "FD", "read the vault's passphrase from this descriptor, not from the terminal",
          set_passphrase_fd },
        { "json", 0, NULL, "list, audit: for programs", CLI_FLAG(struct vault, json) },
        { 0 },
};

/* ---- the source of the secret ---- */

/* The output of a command, if it succeeds; wiped from our memory at once. Returns the read end of a pipe,
 * or -1. */
static int from_command(const char *command)
{
        char sh[] = "/bin/sh", flag[] = "-c";
        char *text = strdup(command), *argv[] = { sh, flag, text, NULL };
        char secret[8192];
        int out[2] = { -1, -1 }, back[2] = { -1, -1 }, status = -1;
        pid_t pid = -1;
        ssize_t n = -1;

        posix_spawn_file_actions_t a;
        if (text && pipe2(out, O_CLOEXEC) == 0 && posix_spawn_file_actions_init(&a) == 0) {
                if (posix_spawn_file_actions_adddup2(&a, out[1], 1) == 0 &&
                    posix_spawn(&pid, sh, &a, NULL, argv, environ) != 0)
                        pid = -1;
                (void) posix_spawn_file_actions_destroy(&a);
        }

        fd_close(&out[1]);
        (void) prctl(PR_SET_DUMPABLE, 0, 0, 0,
                     0); /* as in cordon-vault, which gets it next: no core dump, no debugger */
        (void) mlock(secret, sizeof secret);
        if (pid > 0) {
                n = fd_read_all(out[0], secret, sizeof secret);
                fd_close(&out[0]); /* endless output is ended by a signal */
                while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                        ;
        }

        if (n > 0 && status == 0 && pipe2(back, O_CLOEXEC) == 0 &&
            fd_write_all(back[1], secret, (size_t) n) < 0)
                fd_close(&back[0]);

        explicit_bzero(secret, sizeof secret);
        (void) munlock(secret, sizeof secret);
        fd_close(&out[0]);
        fd_close(&back[1]);
        free(text);
        return back[0];
}

/* Opens the source that the options name. Returns -1 after reporting an error. */
static int open_source(struct vault *v)
{
        if ((v->file != NULL) + (v->command != NULL) + (v->c.secret_env != NULL) > 1)
                return cli_usage("a secret comes from one place: a file, a command or a variable"), -1;

        v->c.secret_fd = v->keep ? -1 : 0;
        if (v->command && (v->c.secret_fd = from_command(v->command)) < 0)
                return cli_usage("the command that prints the secret failed"), -1;

        if (v->file && (v->c.secret_fd = cli_open_input("--from-file", v->file)) < 0)
                return -1;

        return 0;
}

/* ---- verbs under the verb ---- */

static void go_on(int signal) { (void) signal; }

/* Ctrl-C is for the process that asks on the terminal, which restores the terminal first; its exit ends
 * the verb. (A handler and not SIG_IGN, which the started program would inherit.) */
static void outlive_the_question(void)
{
        struct sigaction a = { .sa_handler = go_on, .sa_flags = SA_RESTART };
        (void) sigaction(SIGINT, &a, NULL);
        (void) sigaction(SIGQUIT, &a, NULL);
}

static int store_secret(struct vault *v, int argc, char **argv,
                        int (*work)(const cordon_context *, const cordon_credential *, cordon_error *))
{
        cordon_error e = { 0 };
        (void) argv;
        if (argc != 0)
                return cli_usage("only one credential can be given");

        outlive_the_question();
        if (open_source(v) < 0)
                return EXIT_CORDON;

        int bad = work(cli_context(), &v->c, &e);
        if (v->c.secret_fd > 2)
                (void) close(v->c.secret_fd);

        return bad ? cli_error(&e) : 0;
}

static int vault_add(struct vault *v, int argc, char **argv)
{
        return store_secret(v, argc, argv, cordon_vault_add);
}
static int vault_rotate(struct vault *v, int argc, char **argv)
{
        const cordon_credential *c = &v->c;
        if (c->env || c->file || c->form || c->header || c->query || c->basic || c->body || c->sigv4 ||
            c->test || c->max_uses || c->protect || c->key_file)
                return cli_usage(
                        "a rotation changes the secret, --ttl and --for; where it stands stays as it was");

        /* `--for` alone, and nothing is piped in: the secret stays. */
        struct stat in;
        bool piped = fstat(0, &in) == 0 && !S_ISCHR(in.st_mode);
        v->keep = c->scope && !c->ttl_s && !c->secret_env && !v->file && !v->command && !piped;
        return store_secret(v, argc, argv, cordon_vault_rotate);
}

static int vault_list(struct vault *v, int argc, char **argv)
{
        cordon_error e = { 0 };
        (void) argv;
        if (argc != 0)
                return cli_usage("cordon vault list [--json]");
        return cli_give(cordon_vault_list(cli_context(), v->json, &e), &e);
}

static int vault_audit(struct vault *v, int argc, char **argv)
{
        cordon_error e = { 0 };
        int count = 0;
        (void) argv;
        if (argc != 0)
                return cli_usage("cordon vault audit [--json]");

        int status = cli_give(cordon_vault_audit(cli_context(), v->json, &count, &e), &e);
        return status ? status : count > 0;
}

static int vault_rm(struct vault *v, int argc, char **argv)
{
        int status = 0;
        for (int i = -1; i < argc; i++) {
                cordon_error e = { 0 };
                if (cordon_vault_remove(cli_context(), i < 0 ? v->c.name : argv[i], &e) < 0)
                        status = cli_error(&e);
        }

        return status;
}

/* Without a file: the list. */
static int vault_canary(struct vault *v, int argc, char **argv)
{
        (void) v;
        cordon_error e = { 0 };
        for (int i = 0; i < argc; i++)
                if (cordon_vault_canary(cli_context(), argv[i], &e) < 0)
                        return cli_error(&e);
        return argc ? 0 : cli_give(cordon_vault_canaries(cli_context(), &e), &e);
}

static const struct {
        const char *name;
        bool named; /* a NAME comes first */
        int (*run)(struct vault *v, int argc, char **argv);
} subs[] = {
        { "add", true, vault_add },       { "list", false, vault_list },   { "rm", true, vault_rm },
        { "rotate", true, vault_rotate }, { "audit", false, vault_audit }, { "canary", false, vault_canary },
};

static const struct {
        const char *typed, *instead;
} habits[] = {
        { "get", "no verb prints a secret; `cordon vault list` shows names and bindings" },
        { "show", "no verb prints a secret; `cordon vault list` shows names and bindings" },
        { "read", "no verb prints a secret; `cordon vault list` shows names and bindings" },
        { "delete", "`cordon vault rm NAME`" },
        { "remove", "`cordon vault rm NAME`" },
        { "set", "`cordon vault add NAME`, or `cordon vault rotate NAME` for another secret" },
        { "update", "`cordon vault rotate NAME` gives it another secret" },
};

/* Its index, or -1. */
static int find_sub(const char *given)
{
        for (size_t i = 0; i < sizeof subs / sizeof *subs; i++)
                if (strcmp(cli_is_list(given) ? "list" : given, subs[i].name) == 0)
                        return (int) i;
        return -1;
}

static int unknown(const char *given)
{
        for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
                if (strcmp(given, habits[i].typed) == 0)
                        return cli_problem("`cordon vault` has no `%s`", given),
                               cli_hint("%s", habits[i].instead);

        const char *best = subs[0].name;
        for (size_t i = 1; i < sizeof subs / sizeof *subs; i++)
                if (str_distance(given, subs[i].name) < str_distance(given, best))
                        best = subs[i].name;

        return cli_problem("`cordon vault` has no `%.60s`", given), cli_hint("did you mean `%s`?", best);
}

static int go(struct vault *v, int count, char **words)
{
        if (count == 0)
                return cli_usage("cordon vault add | list | rm | rotate | audit | canary");

        int i = find_sub(words[0]);
        if (i < 0)
                return unknown(words[0]);

        count--, words++;
        if (subs[i].named && count == 0)
                return cli_usage("which credential? cordon vault %s NAME", subs[i].name);

        if (subs[i].named) {
                v->c.name = words[0];
                count--, words++;
        }

        return subs[i].run(v, count, words);
}

int verb_vault(int argc, char **argv)
{
        struct vault v = { .c = { .passphrase_fd = -1 } };
        int status = EXIT_CORDON;
        if (argc > 1 && argv[1][0] != '-' &&
            find_sub(argv[1]) < 0) /* an option of the command is not one of ours */
                return unknown(argv[1]);

        cli_options_first(argc, argv, cli_verb_find("vault"));
        int at = cli_options(argc, argv, cli_verb_find("vault"), &v, NULL);
        if (at >= 0)
                status = go(&v, argc - at, argv + at);

        buf_done(&v.scope);
        return status;
}

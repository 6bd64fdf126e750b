/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_vault.c - the verb vault: add, ls, rm, rotate, audit, canary. A secret comes from a
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
        struct cli_shared asked;
        cordon_credential c;
        const char *body, *sigv4, *class;
        bool keep;
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
const struct cli_option vault_options[] = {
        { "from-file", 0, "FILE", "read the secret from FILE", CLI_TEXT(struct vault, file) },
        { "from-command", 0, "COMMAND", "the secret is what a shell command prints",
          CLI_TEXT(struct vault, command) },
        { "from-env", 0, "VARIABLE", "the secret is in a variable", CLI_TEXT(struct vault, c.secret_env) },
        { "env", 0, "VARIABLE", "the variable that holds the placeholder in a box",
          CLI_TEXT(struct vault, c.env), VAULT_ADD },
        { "box-file", 0, "PATH", "the file in the box's home that holds the placeholder, as .netrc",
          CLI_TEXT(struct vault, c.file), VAULT_ADD },
        { "form", 0, "TEXT", "how it stands in that file, with {} for the placeholder",
          CLI_TEXT(struct vault, c.form), VAULT_ADD },
        { "header", 0, "'NAME: {}'", "header that carries it (default: 'Authorization: Bearer {}')",
          CLI_TEXT(struct vault, c.header), VAULT_ADD },
        { "query", 0, "PARAMETER", "query parameter that carries it", CLI_TEXT(struct vault, c.query),
          VAULT_ADD },
        { "basic", 0, "USER", "it is the password of this user", CLI_TEXT(struct vault, c.basic), VAULT_ADD },
        { "body", 0, NULL, "replace the placeholder in request bodies", CLI_TEXT(struct vault, body),
          VAULT_ADD },
        { "sigv4", 0, NULL, "AWS key, ID:SECRET or ID:SECRET:TOKEN; signs requests with SigV4",
          CLI_TEXT(struct vault, sigv4), VAULT_ADD },
        { "class", 0, "live|test", "(default: live); a live one loads only in the stage live",
          CLI_TEXT(struct vault, class), VAULT_ADD },
        { "ttl", 0, "TIME", "it expires after this time, as 12h (default: 90d, class test 365d)",
          CLI_CALL(set_ttl) },
        { "for", 0, "DOOR", "destinations that may receive it, as 'https://HOST/PATH/** GET'",
          CLI_CALL(set_for) },
        { "max-uses", 0, "N", "limit the number of requests per run that carry it", CLI_CALL(set_uses),
          VAULT_ADD },
        { "protect", 0, "file|passphrase|keyring", "of the first: what protects the vault (default: file)",
          CLI_TEXT(struct vault, c.protect), VAULT_ADD },
        { "key-file", 0, "FILE", "of the first: the key file, outside the state directory",
          CLI_TEXT(struct vault, c.key_file), VAULT_ADD },
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
                return cli_usage("use only one of --from-file, --from-command and --from-env"), -1;

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

static int store_secret(struct vault *v,
                        int (*work)(const cordon_context *, const cordon_credential *, cordon_error *))
{
        cordon_error e = { 0 };
        v->c.body = v->body != NULL;
        v->c.sigv4 = v->sigv4 != NULL;
        v->c.test = v->class && strcmp(v->class, "test") == 0;
        const char *passphrase = v->asked.passphrase_fd;
        v->c.passphrase_fd = passphrase ? cli_descriptor(passphrase, 'r') : -1;
        outlive_the_question();
        if (open_source(v) < 0)
                return EXIT_CORDON;

        int bad = work(cli_context(), &v->c, &e);
        if (v->c.secret_fd > 2)
                (void) close(v->c.secret_fd);

        return bad ? cli_error(&e) : 0;
}

int verb_vault_add(int argc, char **argv)
{
        struct vault v = { 0 };
        int at = cli_take(argc, argv, &v);
        v.c.name = at < 0 ? NULL : argv[at];
        int status = at < 0 ? EXIT_CORDON : store_secret(&v, cordon_vault_add);
        buf_done(&v.scope);
        return status;
}

int verb_vault_rotate(int argc, char **argv)
{
        struct vault v = { 0 };
        struct stat in;
        int at = cli_take(argc, argv, &v);

        /* `--for` alone, and nothing is piped in: the secret stays. */
        bool piped = fstat(0, &in) == 0 && !S_ISCHR(in.st_mode);
        v.keep = v.c.scope && !v.c.ttl_s && !v.c.secret_env && !v.file && !v.command && !piped;
        v.c.name = at < 0 ? NULL : argv[at];
        int status = at < 0 ? EXIT_CORDON : store_secret(&v, cordon_vault_rotate);
        buf_done(&v.scope);
        return status;
}

int verb_vault_ls(int argc, char **argv) { return cli_view(argc, argv, cordon_vault_list); }

int verb_vault_audit(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        int count = 0;
        if (cli_take(argc, argv, &o) < 0)
                return EXIT_CORDON;

        int status = cli_give(cordon_vault_audit(cli_context(), o.json, &count, &e), &e);
        return status ? status : count > 0;
}

int verb_vault_rm(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        int at = cli_take(argc, argv, &o);
        return at < 0 ? EXIT_CORDON : cli_each(argv + at, cordon_vault_remove);
}

/* Without a file: the list. */
int verb_vault_canary(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        int at = cli_take(argc, argv, &o);
        return at < 0      ? EXIT_CORDON
               : at < argc ? cli_each(argv + at, cordon_vault_canary)
                           : cli_give(cordon_vault_canaries(cli_context(), &e), &e);
}

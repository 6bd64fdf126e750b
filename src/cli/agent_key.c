/* SPDX-License-Identifier: MIT */
/* cli/agent_key.c - the key of a model's API on its way from where the agent itself keeps it into the vault.
 * A child reads files: what remains in its memory ends with it. */
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/agents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define OPENCODE ".local/share/opencode/auth.json"
#define BEARER   "Authorization: Bearer {}"

/* The first row of a provider is the usual one. */
static const struct cli_key_source sources[] = {
        { "anthropic", "ANTHROPIC_API_KEY", "x-api-key: {}", NULL, NULL },
        { "anthropic", "CLAUDE_CODE_OAUTH_TOKEN", BEARER, NULL, NULL },
        { "anthropic", "ANTHROPIC_API_KEY", "x-api-key: {}", ".claude.json", "primaryApiKey" },
        { "anthropic", "ANTHROPIC_API_KEY", "x-api-key: {}", OPENCODE, "anthropic/key" },
        { "gemini", "GEMINI_API_KEY", "x-goog-api-key: {}", NULL, NULL },
        { "gemini", "GEMINI_API_KEY", "x-goog-api-key: {}", ".gemini/.env", NULL },
        { "gemini", "GEMINI_API_KEY", "x-goog-api-key: {}", OPENCODE, "google/key" },
        { "openai", "OPENAI_API_KEY", BEARER, NULL, NULL },
        { "openai", "OPENAI_API_KEY", BEARER, ".codex/auth.json", "OPENAI_API_KEY" },
        { "openai", "OPENAI_API_KEY", BEARER, OPENCODE, "openai/key" },
        { "openrouter", "OPENROUTER_API_KEY", BEARER, NULL, NULL },
        { "openrouter", "OPENROUTER_API_KEY", BEARER, OPENCODE, "openrouter/key" },
};
enum { KEY_FILE_MAX = 1 << 20 };

/* ---- in the child ---- */

/* The value of "a/b" in a JSON text; valid as long as the document. */
static const char *json_at(const struct json_doc *d, const char *path)
{
        const struct json *v = json_root(d);
        for (size_t n; v && *path; path += n + (path[n] == '/')) {
                char name[64];
                n = strcspn(path, "/");
                (void) snprintf(name, sizeof name, "%.*s", (int) n, path);
                v = v->type == JSON_OBJECT ? json_get(v, name) : NULL;
        }

        return v && v->type == JSON_STRING ? v->str : NULL;
}

/* The value of "NAME=VALUE", also quoted, in a .env file. */
static const char *env_at(char *text, const char *name)
{
        for (char *line = text; line; line = strchr(line, '\n')) {
                size_t n = strlen(name);
                line += *line == '\n';
                char *at = line + (strncmp(line, "export ", 7) == 0 ? 7 : 0);
                if (strncmp(at, name, n) != 0 || at[n] != '=')
                        continue;
                char *value = at + n + 1;
                value += value[0] == '"' || value[0] == '\'';
                value[strcspn(value, "\"' \r\t\n")] = '\0';
                return value;
        }

        return NULL;
}

static _Noreturn void hand_over(const struct cli_key_source *s, int out)
{
        char path[PATH_MAX];
        struct err ignored;
        const char *home = getenv("HOME"), *found = NULL;
        char *text = calloc(1, KEY_FILE_MAX + 1);
        (void) prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        (void) snprintf(path, sizeof path, "%s/%s", home ? home : "", s->file);
        AUTO_FD(fd, fd_open_named(AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
        ssize_t n = fd < 0 || !text ? -1 : fd_read_all(fd, text, KEY_FILE_MAX);
        if (n > 0 && s->member) {
                struct json_doc *d = json_parse_data(s->file, span_of(text, (size_t) n), &ignored);
                found = d ? json_at(d, s->member) : NULL;
        } else if (n > 0) {
                found = env_at(text, s->variable);
        }

        if (found) /* no more than a pipe holds: nobody reads it yet */
                (void) fd_write_all(out, found, strnlen(found, 8192));
        _exit(found && found[0] ? 0 : 1);
}

/* ---- in this process ---- */

/* The read end of a pipe with the key; -1: the file has none. */
static int open_file(const struct cli_key_source *s)
{
        int line[2], status = -1;
        if (pipe2(line, O_CLOEXEC) < 0)
                return -1;

        pid_t pid = fork();
        if (pid == 0)
                hand_over(s, line[1]);

        (void) close(line[1]);
        while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;

        if (pid > 0 && status == 0)
                return line[0];

        (void) close(line[0]);
        return -1;
}

static bool has_key(const struct cli_key_source *s)
{
        const char *value = s->file ? NULL : getenv(s->variable);
        if (!s->file)
                return value && value[0];

        AUTO_FD(fd, open_file(s));
        return fd >= 0;
}

const struct cli_key_source *cli_key_find(const char *provider)
{
        for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
                if (strcmp(sources[i].provider, provider) == 0 && has_key(&sources[i]))
                        return &sources[i];
        return NULL;
}

static const struct cli_key_source *usual(const char *provider)
{
        for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
                if (strcmp(sources[i].provider, provider) == 0)
                        return &sources[i];
        return &sources[0];
}

int cli_key_sealed(const char *provider)
{
        cordon_error e = { 0 };
        struct err ignored;
        int found = 0;
        char *list = cordon_vault_list(cli_context(), 1, &e);
        if (!list)
                return cli_error(&e), -1;

        struct json_doc *d = json_parse_data("vault", span_str(list), &ignored);
        for (const struct json *c = d ? json_root(d)->child : NULL; c; c = c->next) {
                const struct json *name = json_get(c, "name");
                found |= name && name->str && strcmp(name->str, provider) == 0;
        }

        json_free(d);
        cordon_free(list);
        return found;
}

/* The vault knows neither the agent nor where its key is looked for. */
static void hint_key(const struct cli_agent *a, const struct cli_key_source *s, cordon_error *e)
{
        (void) snprintf(
                e->hint, sizeof e->hint,
                "set %s and repeat it; or pipe the key in: `printf %%s KEY | cordon agent setup %s %s`",
                s->variable, a->name, s->provider);
}

int cli_key_seal(const struct cli_agent *a, const struct cli_api *api, const struct cli_key_source *source)
{
        const struct cli_key_source *s = source ? source : usual(api->provider);
        char scope[300];
        cordon_error e = { 0 };
        (void) snprintf(scope, sizeof scope, "%s/**\n", api->base);
        AUTO_FD(fd, source && source->file ? open_file(source) : -1);
        cordon_credential c = { .name = api->provider,
                                .env = s->variable,
                                .header = s->header,
                                .scope = scope,
                                .secret_fd = fd >= 0 ? fd : 0,
                                .secret_env = source && !source->file ? s->variable : NULL,
                                .passphrase_fd = -1 };
        if (source && source->file && fd < 0)
                return cli_problem("the key in ~/%s is gone", source->file);

        if (cordon_vault_add(cli_context(), &c, &e) < 0) {
                if (!source && e.sys == ENODATA)
                        hint_key(a, s, &e);
                return cli_error(&e);
        }

        cli_note("the key %s%s is in the vault as `%s`, for %s/**; boxes see a placeholder",
                 source && source->file ? "of ~/" : "of ",
                 !source        ? "that was typed"
                 : source->file ? source->file
                                : source->variable,
                 api->provider, api->base);
        return 0;
}

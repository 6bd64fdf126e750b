/* SPDX-License-Identifier: MIT */
/* face/cli/agent_key.c - the key of a model's API on its way from where the agent itself keeps it into the
 * vault. A child reads files: what remains in its memory ends with it. */
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "face/cli/agents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define OPENCODE ".local/share/opencode/auth.json"
#define BEARER   "Authorization: Bearer {}"
#define LOGIN    ".claude/.credentials.json"

/* The first row of a provider is the usual one. */
static const struct cli_key_source sources[] = {
        { "anthropic", "ANTHROPIC_API_KEY", "x-api-key: {}", NULL, NULL, NULL },
        { "anthropic", "CLAUDE_CODE_OAUTH_TOKEN", BEARER, NULL, NULL, NULL },
        { "anthropic", "ANTHROPIC_API_KEY", "x-api-key: {}", ".claude.json", "primaryApiKey", NULL },
        { "anthropic", "CLAUDE_CODE_OAUTH_TOKEN", BEARER, LOGIN, "claudeAiOauth/accessToken",
          "claudeAiOauth/expiresAt" },
        { "anthropic", "ANTHROPIC_API_KEY", "x-api-key: {}", OPENCODE, "anthropic/key", NULL },
        { "gemini", "GEMINI_API_KEY", "x-goog-api-key: {}", NULL, NULL, NULL },
        { "gemini", "GEMINI_API_KEY", "x-goog-api-key: {}", ".gemini/.env", NULL, NULL },
        { "gemini", "GEMINI_API_KEY", "x-goog-api-key: {}", OPENCODE, "google/key", NULL },
        { "openai", "OPENAI_API_KEY", BEARER, NULL, NULL, NULL },
        { "openai", "OPENAI_API_KEY", BEARER, ".codex/auth.json", "OPENAI_API_KEY", NULL },
        { "openai", "OPENAI_API_KEY", BEARER, OPENCODE, "openai/key", NULL },
        { "openrouter", "OPENROUTER_API_KEY", BEARER, NULL, NULL, NULL },
        { "openrouter", "OPENROUTER_API_KEY", BEARER, OPENCODE, "openrouter/key", NULL },
};
/* Logins whose tokens only the agent itself can renew, and what serves in their place. */
static const struct {
        struct cli_key_source at;
        const char *what, *next;
} logins[] = {
        { { "anthropic", NULL, NULL, LOGIN, "claudeAiOauth/accessToken", NULL },
          "has expired, and only Claude Code can renew it",
          "start `claude` once outside of a box; or take a token for a year: `claude setup-token`, then set "
          "CLAUDE_CODE_OAUTH_TOKEN" },
        { { "anthropic", NULL, NULL, OPENCODE, "anthropic/access", NULL },
          "is one that opencode renews itself; cordon cannot use it",
          "set ANTHROPIC_API_KEY to an API key, or CLAUDE_CODE_OAUTH_TOKEN to a token of `claude "
          "setup-token`" },
        { { "openai", NULL, NULL, ".codex/auth.json", "tokens/access_token", NULL },
          "is a ChatGPT login that Codex renews itself; cordon cannot use it",
          "set OPENAI_API_KEY to an API key; or keep Codex outside, its commands in a box: cordon agent hook "
          "codex" },
        { { "openai", NULL, NULL, OPENCODE, "openai/access", NULL },
          "is one that opencode renews itself; cordon cannot use it",
          "set OPENAI_API_KEY to an API key" },
        { { "gemini", NULL, NULL, ".gemini/oauth_creds.json", "access_token", NULL },
          "is one of Google that Gemini CLI renews itself: cordon does not take it over",
          "set GEMINI_API_KEY to an API key; or keep Gemini CLI outside, its commands in a box: cordon agent "
          "hook gemini" },
};

enum { KEY_FILE_MAX = 1 << 20, LOGIN_LEFT_S = 60, LOGIN_MOST_S = 24 * 3600 };

/* ---- in the child ---- */

/* The value of "a/b" in a JSON text; valid as long as the document. */
static const struct json *json_at(const struct json_doc *d, const char *path)
{
        const struct json *v = json_root(d);
        for (size_t n; v && *path; path += n + (path[n] == '/')) {
                char name[64];
                n = strcspn(path, "/");
                (void) snprintf(name, sizeof name, "%.*s", (int) n, path);
                v = v->type == JSON_OBJECT ? json_get(v, name) : NULL;
        }

        return v;
}

/* The key; of a login also the seconds that it has left, and none if those are few. */
static const char *key_at(const struct json_doc *d, const struct cli_key_source *s, int64_t *ret_left)
{
        const struct json *key = json_at(d, s->member), *end = s->expires ? json_at(d, s->expires) : NULL;
        if (s->expires)
                *ret_left = end && end->type == JSON_INT ? end->integer / 1000 - (int64_t) time(NULL) : 0;

        bool over = s->expires && *ret_left < LOGIN_LEFT_S;
        return key && key->type == JSON_STRING && !over ? key->str : NULL;
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

static _Noreturn void hand_over(const struct cli_key_source *s, int out, int left)
{
        char path[PATH_MAX];
        int64_t seconds = 0;
        struct err ignored;
        const char *home = getenv("HOME"), *found = NULL;
        char *text = calloc(1, KEY_FILE_MAX + 1);
        (void) prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        (void) snprintf(path, sizeof path, "%s/%s", home ? home : "", s->file);
        AUTO_FD(fd, fd_open_named(AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
        ssize_t n = fd < 0 || !text ? -1 : fd_read_all(fd, text, KEY_FILE_MAX);
        if (n > 0 && s->member) {
                struct json_doc *d = json_parse_data(s->file, span_of(text, (size_t) n), &ignored);
                found = d ? key_at(d, s, &seconds) : NULL;
        } else if (n > 0) {
                found = env_at(text, s->variable);
        }

        if (found) /* no more than a pipe holds: nobody reads it yet */
                (void) fd_write_all(out, found, strnlen(found, 8192));
        (void) fd_write_all(left, &seconds, sizeof seconds);
        _exit(found && found[0] ? 0 : 1);
}

/* ---- in this process ---- */

/* The read end of a pipe with the key; -1: the file has none. `ret_left`: the seconds of a login. */
static int open_file(const struct cli_key_source *s, int64_t *ret_left)
{
        int line[2], status = -1;
        AUTO_FD(left, memfd_create("left", MFD_CLOEXEC));
        if (left < 0 || pipe2(line, O_CLOEXEC) < 0)
                return -1;

        pid_t pid = fork();
        if (pid == 0)
                hand_over(s, line[1], left);

        (void) close(line[1]);
        while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;

        if (pid > 0 && status == 0 && pread(left, ret_left, sizeof *ret_left, 0) == sizeof *ret_left)
                return line[0];

        (void) close(line[0]);
        return -1;
}

static bool has_key(const struct cli_key_source *s)
{
        const char *value = s->file ? NULL : getenv(s->variable);
        if (!s->file)
                return value && value[0];

        int64_t left;
        AUTO_FD(fd, open_file(s, &left));
        return fd >= 0;
}

bool cli_key_login_unused(const char *provider)
{
        for (size_t i = 0; i < sizeof logins / sizeof *logins; i++) {
                if (strcmp(logins[i].at.provider, provider) != 0 || !has_key(&logins[i].at))
                        continue;
                (void) cli_problem("the login of ~/%s %s", logins[i].at.file, logins[i].what);
                (void) cli_hint("%s", logins[i].next);
                return true;
        }

        return false;
}

static const char *variable(const char *name) { return getenv(name); }

size_t cli_key_apis(const char *agent, const char **ret_stock, struct cli_api ret[static CLI_APIS_MAX])
{
        char name[80];
        (void) snprintf(name, sizeof name, "agent/%s", agent);
        *ret_stock = cordon_stock_text(name);
        return cli_agent_apis(*ret_stock, variable, ret);
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
        int i = str_row(sources, sizeof sources / sizeof *sources, provider);
        return i < 0 ? &sources[0] : &sources[i];
}

/* Is all below `base` within what a credential is for, a URL with a pattern and methods? A place or a pattern
 * of hosts is left to the vault. */
static bool covers(const char *scope, const char *base)
{
        size_t n = strcspn(scope, "* "), k = strlen(base);
        if (n == 0 || scope[n] != '*' || scope[0] == '@')
                return true;
        return n <= k + 1 && strncmp(scope, base, n < k ? n : k) == 0 && (n <= k || scope[k] == '/');
}

static bool is_for(const struct json *credential, const char *base)
{
        const struct json *doors = json_get(credential, "for");
        for (const struct json *d = doors ? doors->child : NULL; d; d = d->next)
                if (d->str && covers(d->str, base))
                        return true;
        return !doors || !doors->child;
}

/* Returns 1, 0, or -1 after reporting an error. With `base` it also has to be for that address. */
static int look_up(const char *provider, const char *base)
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
                found |= name && name->str && strcmp(name->str, provider) == 0 && (!base || is_for(c, base));
        }

        json_free(d);
        cordon_free(list);
        return found;
}

int cli_key_sealed(const char *provider) { return look_up(provider, NULL); }
bool cli_key_fits(const struct cli_api *api) { return look_up(api->provider, api->base) == 1; }

/* The vault knows neither the agent nor where its key is looked for. */
static void hint_key(const struct cli_agent *a, const struct cli_key_source *s, cordon_error *e)
{
        (void) snprintf(
                e->hint, sizeof e->hint,
                "set %s and repeat it; or pipe the key in: `printf %%s KEY | cordon agent setup %s %s`",
                s->variable, a->name, s->provider);
}

/* A login is sealed under a name of its own until it ends, and again at each start. */
static int seal_login(const struct cli_api *api, const struct cli_key_source *s)
{
        char name[64], scope[300];
        int64_t left = 0;
        cordon_error e = { 0 };
        (void) snprintf(name, sizeof name, "%s" CLI_LOGIN, api->provider);
        (void) snprintf(scope, sizeof scope, "%s/**\n", api->base);
        AUTO_FD(fd, open_file(s, &left));
        if (fd < 0)
                return cli_problem("the login of ~/%s is gone", s->file);

        cordon_credential c = { .name = name,
                                .env = s->variable,
                                .header = s->header,
                                .scope = scope,
                                .ttl_s = (uint64_t) (left < LOGIN_MOST_S ? left : LOGIN_MOST_S),
                                .secret_fd = fd,
                                .passphrase_fd = -1 };
        int sealed = cli_key_sealed(name);
        if (sealed < 0)
                return EXIT_CORDON;

        if ((sealed ? cordon_vault_rotate : cordon_vault_add)(cli_context(), &c, &e) < 0)
                return cli_error(&e);

        cli_note("using the login in ~/%s for %s/**, valid for %lld minutes; the box sees a placeholder and "
                 "cannot renew it",
                 s->file, api->base, (long long) c.ttl_s / 60);
        return 0;
}

int cli_key_seal(const struct cli_agent *a, const struct cli_api *api, const struct cli_key_source *source)
{
        const struct cli_key_source *s = source ? source : usual(api->provider);
        char scope[300];
        int64_t none;
        cordon_error e = { 0 };
        if (source && source->expires)
                return seal_login(api, source);

        (void) snprintf(scope, sizeof scope, "%s/**\n", api->base);
        AUTO_FD(fd, source && source->file ? open_file(source, &none) : -1);
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

        cli_note("stored the key %s%s as `%s` for %s/**; boxes see a placeholder",
                 !source        ? "that was typed"
                 : source->file ? "of ~/"
                                : "of ",
                 !source        ? ""
                 : source->file ? source->file
                                : source->variable,
                 api->provider, api->base);
        return 0;
}

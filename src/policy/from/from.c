/* SPDX-License-Identifier: MIT */
/* policy/from/from.c - finds out what a file is, lets its reader read it, and prints the lines. */
#include "policy/from/from.h"

#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

/* JSON with comments and trailing commas, as editors accept it -> JSON of the same length. */
static void plain_json(struct buf *text)
{
        bool string = false;
        size_t comma = SIZE_MAX;
        for (size_t i = 0; i < text->n; i++) {
                char c = text->p[i];
                if (string) {
                        i += c == '\\';
                        string = c != '"';
                        continue;
                }

                if (c == '/' && (text->p[i + 1] == '/' || text->p[i + 1] == '*')) {
                        bool line = text->p[i + 1] == '/';
                        const char *end = strstr(text->p + i + 2, line ? "\n" : "*/");
                        size_t stop = end ? (size_t) (end - text->p) + (line ? 0 : 2) : text->n;
                        for (; i < stop; i++)
                                text->p[i] = text->p[i] == '\n' ? '\n' : ' ';
                        i--;
                        continue;
                }

                if ((c == '}' || c == ']') && comma != SIZE_MAX)
                        text->p[comma] = ' ';

                if (!strchr(" \t\r\n", c))
                        comma = c == ',' ? i : SIZE_MAX;
                string = c == '"';
        }
}

static int read_json(struct from *f, const char *file, struct span text, const char **ret_kind, struct err *e)
{
        AUTO_BUF(plain);
        buf_add(&plain, text.p, text.n);
        if (plain.failed)
                return err_set(e, ERR_MEMORY, 0, "out of memory");

        plain_json(&plain);
        struct json_doc *d = json_parse(file, buf_span(&plain), e);
        if (!d)
                return -1;

        static const struct {
                const char *member, *kind;
                void (*read)(struct from *f, const struct json *root);
        } kinds[] = {
                { "permissions", "Claude Code settings", from_claude },
                { "sandbox", "Claude Code settings", from_claude },
                { "filesystem", "sandbox-runtime settings", from_srt },
                { "network", "sandbox-runtime settings", from_srt },
                { "image", "devcontainer.json", from_devcontainer },
                { "build", "devcontainer.json", from_devcontainer },
                { "dockerFile", "devcontainer.json", from_devcontainer },
                { "dockerComposeFile", "devcontainer.json", from_devcontainer },
                { "workspaceFolder", "devcontainer.json", from_devcontainer },
        };
        for (size_t i = 0; !*ret_kind && i < sizeof kinds / sizeof *kinds; i++)
                if (json_root(d)->type == JSON_OBJECT && json_get(json_root(d), kinds[i].member)) {
                        *ret_kind = kinds[i].kind;
                        kinds[i].read(f, json_root(d));
                }

        json_free(d);
        return 0;
}

static int read_any(struct from *f, const char *file, struct span text, const char **ret_kind, struct err *e)
{
        struct span start = from_trim(text);
        const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
        size_t n = strlen(name);

        if (span_starts(start, "{") ||
            (span_starts(start, "/") && n > 5 && strcmp(name + n - 5, ".json") == 0))
                return read_json(f, file, text, ret_kind, e);

        if (n > 5 && strcmp(name + n - 5, ".toml") == 0) {
                *ret_kind = "Codex configuration";
                return from_codex(f, file, text, e);
        }

        if (n > 8 && strcmp(name + n - 8, ".profile") == 0) {
                *ret_kind = "firejail profile";
                return from_firejail(f, text);
        }

        if (memmem(text.p, text.n, "bwrap", 5)) {
                *ret_kind = "bubblewrap command line";
                return from_bwrap(f, file, text, e);
        }

        return 0;
}

static void print_lines(const struct from *f, const char *kind, struct buf *out)
{
        buf_printf(out,
                   "# From %s. `edit` holds changes back until `cordon apply`; `write` would make them at "
                   "once.\n%s",
                   kind, buf_str(&f->notes));
        for (size_t i = 0; i < f->door_count; i++) {
                const struct from_door *d = &f->doors[i];
                if (!d->word)
                        continue;

                buf_printf(out, "%-6s ", d->word);
                policy_put_token(out, d->path);
                buf_printf(out, "%s%s%s\n", d->optional ? "?" : "", d->except.n ? " except" : "",
                           buf_str(&d->except));
        }

        buf_puts(out, f->lines.n ? f->lines.p + 1 : "");
}

int policy_from(const char *file, struct span text, struct buf *out, struct err *e)
{
        const char *kind = NULL;
        struct from *f = calloc(1, sizeof *f);
        if (!f)
                return err_set(e, ERR_MEMORY, 0, "out of memory");

        int r = memchr(text.p ? text.p : (const uint8_t *) "", '\0', text.n)
                        ? err_set(e, ERR_POLICY, 0, "%s holds a NUL byte", file)
                        : read_any(f, file, text, &kind, e);
        if (r == 0 && !kind) {
                (void) err_set(e, ERR_POLICY, 0, "%s is of no known kind", file);
                r = err_hint(e,
                             "known are settings of sandbox-runtime, Claude Code and Codex (.toml), firejail "
                             "profiles (.profile), devcontainer.json and bwrap command lines");
        }

        if (r == 0)
                print_lines(f, kind, out);

        for (size_t i = 0; i < f->door_count; i++) {
                free(f->doors[i].path);
                buf_done(&f->doors[i].except);
        }

        buf_done(&f->lines);
        buf_done(&f->notes);
        free(f);
        return r;
}

/* SPDX-License-Identifier: MIT */
/* run/api/identity.c - the caller's name and mail, for git in a box that sees a repository. Of ~/.gitconfig
 * these two are taken and nothing else: it may hold tokens, helpers and paths of programs. Files that it
 * includes are not read. */
#include "base/buf.h"
#include "base/fd.h"
#include "run/api/internal.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { CONFIG_MAX_BYTES = 1 << 16 };

static const char *skip_blanks(const char *at)
{
        while (*at == ' ' || *at == '\t')
                at++;
        return at;
}

/* The value after `=`, as git parses it: quotes, escapes, comments. Returns false if it is too long, or has
 * characters that no name and no address has. */
static bool read_value(const char *at, char ret[static IDENTITY_MAX])
{
        size_t n = 0, kept = 0;
        bool quoted = false;

        for (at = skip_blanks(at); *at && *at != '\n' && *at != '\r'; at++) {
                if (!quoted && (*at == '#' || *at == ';'))
                        break;
                if (*at == '"') {
                        quoted = !quoted;
                        kept = n;
                        continue;
                }
                if (*at == '\\' && *++at != '"' && *at != '\\')
                        return false;
                if (iscntrl((unsigned char) *at) || n + 1 == IDENTITY_MAX)
                        return false;
                ret[n++] = *at;
                if (quoted || *at != ' ')
                        kept = n;
        }

        ret[kept] = '\0';
        return !quoted && kept > 0;
}

/* `key = value`: the start of the value, or NULL. */
static const char *after_key(const char *line, const char *key)
{
        size_t n = strlen(key);
        if (strncasecmp(line, key, n) != 0)
                return NULL;
        line = skip_blanks(line + n);
        return *line == '=' ? line + 1 : NULL;
}

void api_identity_read(const char *text, struct api_identity *ret)
{
        bool in_user = false;

        for (const char *next = text; next; next = next ? next + 1 : NULL) {
                const char *line = skip_blanks(next);
                next = strchr(next, '\n');
                if (*line == '[') {
                        in_user = strncasecmp(line, "[user]", 6) == 0;
                        line = skip_blanks(line + (in_user ? 6 : 0));
                }
                char value[IDENTITY_MAX];
                const char *name = in_user ? after_key(line, "name") : NULL;
                const char *mail = in_user ? after_key(line, "email") : NULL;
                if (name && read_value(name, value))
                        (void) memcpy(ret->name, value, sizeof value);
                if (mail && read_value(mail, value))
                        (void) memcpy(ret->mail, value, sizeof value);
        }
}

static void read_file(const char *dir, const char *name, struct api_identity *ret)
{
        char path[PATH_MAX], text[CONFIG_MAX_BYTES + 1];
        struct stat st;
        if ((size_t) snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
                return;

        AUTO_FD(fd, open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return;

        ssize_t n = fd_read_all(fd, text, CONFIG_MAX_BYTES);
        text[n < 0 ? 0 : n] = '\0';
        api_identity_read(text, ret);
}

static void put_quoted(struct buf *out, const char *value)
{
        buf_putc(out, '"');
        for (; *value; value++) {
                if (*value == '"' || *value == '\\')
                        buf_putc(out, '\\');
                buf_putc(out, *value);
        }

        buf_puts(out, "\"\n");
}

static void put_user(const struct api_identity *u, struct buf *out)
{
        if (u->name[0] || u->mail[0])
                buf_puts(out, "[user]\n");

        if (u->name[0])
                buf_puts(out, "\tname = ");

        if (u->name[0])
                put_quoted(out, u->name);

        if (u->mail[0])
                buf_puts(out, "\temail = ");

        if (u->mail[0])
                put_quoted(out, u->mail);
}

char *api_identity(const struct cordon_context *cx, const char *home, const char *const *repositories)
{
        struct api_identity user = { 0 };
        const char *xdg = context_path(cx, "XDG_CONFIG_HOME");
        AUTO_BUF(out);

        if (xdg)
                read_file(xdg, "git/config", &user);
        else
                read_file(home, ".config/git/config", &user);

        read_file(home, ".gitconfig", &user); /* the later one counts, as for git */
        put_user(&user, &out);

        /* Owners differ in a box, and git refuses a repository of another user. */
        for (const char *const *r = repositories; *r; r++) {
                if (strpbrk(*r, "\r\n"))
                        continue;
                buf_puts(&out, "[safe]\n\tdirectory = ");
                put_quoted(&out, *r);
        }

        return api_give(&out, NULL);
}

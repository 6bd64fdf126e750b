/* SPDX-License-Identifier: MIT */
/* broker/vault/form.c - formats of files that tools read a credential from: the common ones are built in, any
 * other is given by the user who adds the credential. Pure. */
#include "base/str.h"
#include "broker/vault/vault.h"

#include <string.h>

/* {}: the placeholder; {user}, {host}, {host:port}: of the door. Repeated for each host. */
static const struct {
        const char *file, *form;
} known[] = {
        { ".netrc", "machine {host} login {user} password {}\n" },
        { ".git-credentials", "https://{user}:{}@{host:port}\n" },
        { ".npmrc", "//{host:port}/:_authToken={}\n" },
        { ".config/gh/hosts.yml",
          "{host}:\n    oauth_token: {}\n    user: {user}\n    git_protocol: https\n" },
        { ".cargo/credentials.toml", "[registry]\ntoken = \"{}\"\n" },
        { ".vault-token", "{}\n" },
};

size_t vault_form_hole(const char *at, struct span *ret_hole)
{
        static const char *const holes[] = { "{}", "{user}", "{host}", "{host:port}" };
        for (size_t i = 0; i < sizeof holes / sizeof *holes; i++) {
                size_t n = strlen(holes[i]);
                if (strncmp(at, holes[i], n) == 0) {
                        *ret_hole = span_of(at + 1, n - 2);
                        return n;
                }
        }

        return 0;
}

/* A path below the box's home that does not lead out of it. */
static bool file_ok(const char *file)
{
        if (strlen(file) >= GRANT_TEXT)
                return false;

        for (const char *at = file; *at; at += strcspn(at, "/") + (strchr(at, '/') != NULL)) {
                size_t n = strcspn(at, "/");
                if (n == 0 || (n == 1 && at[0] == '.') || (n == 2 && strncmp(at, "..", 2) == 0) ||
                    (at[n] == '/' && at[n + 1] == '\0'))
                        return false;
                for (size_t i = 0; i < n; i++)
                        if (at[i] <= 0x20 || at[i] > 0x7e)
                                return false;
        }

        return true;
}

bool vault_form_ok(const char *file, const char *form)
{
        if (file[0] == '\0')
                return form[0] == '\0';
        for (const char *c = form; *c; c++)
                if ((*c < 0x20 && *c != '\n' && *c != '\t') || *c > 0x7e)
                        return false;
        return file_ok(file) && strstr(form, "{}") != NULL && strlen(form) < GRANT_FORM;
}

static int refuse_form(const char *file, struct err *e)
{
        (void) err_set(e, ERR_USAGE, 0, "how a credential stands in %s is not known", file);
        return err_hint(e, "use {} for the placeholder: --form 'token = {}'");
}

/* A command line has no line breaks: \n in a form is one. */
static int copy_form(char *to, const char *from)
{
        size_t n = 0;
        for (; *from; from++) {
                bool end = from[0] == '\\' && from[1] == 'n';
                if (n + 1 >= GRANT_FORM)
                        return -1;
                to[n++] = end ? '\n' : *from;
                from += end;
        }

        to[n] = '\0';
        return 0;
}

int vault_form_read(const char *file, const char *form, struct vault_meta *m, struct err *e)
{
        if (!file && form)
                return err_set(e, ERR_USAGE, 0, "a form is for a file: --box-file PATH --form TEXT");

        if (!file)
                return 0;

        file += strncmp(file, "~/", 2) == 0 ? 2 : 0;
        for (size_t i = 0; !form && i < sizeof known / sizeof *known; i++)
                if (strcmp(known[i].file, file) == 0)
                        form = known[i].form;

        if (!form)
                return refuse_form(file, e);

        if (!file_ok(file) || file[0] == '\0') {
                (void) err_set(e, ERR_USAGE, 0, "%s is not a file below the box's home", file);
                return err_hint(e, "use a path such as .netrc or .config/tool/auth");
        }

        memcpy(m->file, file, strlen(file) + 1);
        if (copy_form(m->form, form) < 0 || !vault_form_ok(m->file, m->form)) {
                (void) err_set(e, ERR_USAGE, 0,
                               "this form has no {} for the placeholder, is too long or not plain text");
                return err_hint(e, "use --form 'token = {}'");
        }

        return 0;
}

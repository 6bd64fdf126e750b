/* SPDX-License-Identifier: MIT */
/* run/api/canaries.c - secrets that exist only to be found. With `--trip canaries` a box gets some of its
 * own, new for each run, in files that no tool reads by itself; those that `cordon vault canary` planted in
 * the caller's files are listed in the state directory. A box that prints or sends one is stopped. */
#include "run/api/canaries.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_FILE "canaries"
enum { LIST_MAX = 1 << 16, TEXT_MAX = 512 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/* In the forms of real ones, under names that no tool asks for by default. {}: the canary. */
static const struct form {
        const char *file; /* below a home; "": a variable */
        const char *before, *after;
        unsigned length; /* of the random part */
} forms[] = {
        { ".aws/credentials",
          "[backup]\naws_access_key_id = AKIAIOSFODNN7BACKUP2\naws_secret_access_key = ", "\n", 40 },
        { ".ssh/id_rsa_backup", "-----BEGIN RSA PRIVATE KEY-----\n", "\n-----END RSA PRIVATE KEY-----\n",
          64 },
        { ".git-credentials", "https://backup:", "@git.backup.invalid\n", 36 },
        { "", "BACKUP_API_TOKEN=", "", 40 },
};
_Static_assert(sizeof forms / sizeof *forms == API_CANARIES_OWN, "as announced");

static int make_random(char *ret, unsigned n, struct err *e)
{
        uint8_t bytes[CANARY_VALUE];
        if (getrandom(bytes, n, 0) != (ssize_t) n)
                return err_set(e, ERR_HOST, errno, "the kernel gives no random bytes");
        for (unsigned i = 0; i < n; i++)
                ret[i] = letters[bytes[i] % (sizeof letters - 1)];
        ret[n] = '\0';
        return 0;
}

static struct api_canary *next_canary(struct cordon_box *b)
{
        return b->c.canary_count < API_CANARIES_MAX ? &b->canaries[b->c.canary_count] : NULL;
}

static int add_own(struct cordon_box *b, struct err *e)
{
        for (size_t i = 0; i < API_CANARIES_OWN; i++) {
                struct api_canary *c = next_canary(b);
                if (!c)
                        return err_set(e, ERR_LIMIT, 0, "more than %d canaries", API_CANARIES_MAX);
                *c = (struct api_canary){ .form = i + 1 };
                (void) snprintf(c->name, sizeof c->name, "%s%s", forms[i].file[0] ? "~/" : "",
                                forms[i].file[0] ? forms[i].file : "BACKUP_API_TOKEN");
                if (make_random(c->value, forms[i].length, e) < 0)
                        return -1;
                b->c.canary_count++;
        }
        return 0;
}

/* ---- those of the caller's files ---- */

static int open_list(const struct cordon_context *cx)
{
        struct err ignored;
        char path[STORE_PATH_MAX + sizeof LIST_FILE + 1], dir[STORE_PATH_MAX];
        if (store_path(cx, dir, &ignored) < 0)
                return -1;
        (void) snprintf(path, sizeof path, "%s/" LIST_FILE, dir);
        return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

static const char *text_of(const struct json *x, const char *key)
{
        const struct json *v = json_get(x, key);
        return v && v->type == JSON_STRING && strlen(v->str) == v->len ? v->str : NULL;
}

int api_planted_each(const struct cordon_context *cx,
                     int (*each)(void *ctx, const char *path, const char *value), void *ctx, struct err *e)
{
        AUTO_FD(fd, open_list(cx));
        if (fd < 0)
                return 0;

        char *text = malloc(LIST_MAX);
        ssize_t n = text ? fd_read_all(fd, text, LIST_MAX) : -1;
        struct json_doc *d = n < 0 ? NULL : json_parse("canaries", span_of(text, (size_t) n), e);
        int r = d ? 0 : err_set(e, ERR_IO, 0, "the list of canaries in the state directory cannot be read");
        for (const struct json *x = d ? json_root(d)->child : NULL; x && r == 0; x = x->next) {
                const char *path = text_of(x, "path"), *value = text_of(x, "value");
                r = path && value ? each(ctx, path, value) : 0;
        }
        json_free(d);
        free(text);
        return r;
}

static int add_planted(void *ctx, const char *path, const char *value)
{
        struct cordon_box *b = ctx;
        struct api_canary *c = next_canary(b);
        if (!c || strlen(value) >= sizeof c->value)
                return 0; /* `cordon vault canary` plants no more than these */

        *c = (struct api_canary){ .form = 0 };
        (void) snprintf(c->name, sizeof c->name, "%s", path);
        (void) snprintf(c->value, sizeof c->value, "%s", value);
        b->c.canary_count++;
        return 0;
}

int api_canaries(struct cordon_box *b, struct err *e)
{
        b->c.canary_count = 0;
        if (b->c.trip & BOX_TRIP_CANARIES && add_own(b, e) < 0)
                return -1;
        if (api_planted_each(b->policy->cx, add_planted, b, e) < 0)
                return -1;

        for (unsigned i = 0; i < b->c.canary_count; i++)
                b->canary_words[i] = (struct box_canary){ b->canaries[i].name, b->canaries[i].value };
        return 0;
}

/* ---- in the box ---- */

static bool has_file(const struct plan_file *v, size_t n, const char *path)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(v[i].path, path) == 0)
                        return true;
        return false;
}

int api_canary_files(const struct cordon_box *b, struct plan_file *v, size_t *n)
{
        for (unsigned i = 0; i < b->c.canary_count; i++) {
                const struct api_canary *c = &b->canaries[i];
                const struct form *f = c->form ? &forms[c->form - 1] : NULL;
                char *path = NULL, *text = NULL;
                if (!f || !f->file[0])
                        continue;
                if (asprintf(&path, BOX_HOME "/%s", f->file) < 0)
                        return -1;
                if (has_file(v, *n, path)) { /* of a credential, which comes first */
                        free(path);
                        continue;
                }
                if (asprintf(&text, "%s%s%s", f->before, c->value, f->after) < 0) {
                        free(path);
                        return -1;
                }
                v[(*n)++] = (struct plan_file){ path, text };
        }
        return 0;
}

int api_canary_variables(const struct cordon_box *b, const char **v, size_t *n)
{
        for (unsigned i = 0; i < b->c.canary_count; i++) {
                const struct api_canary *c = &b->canaries[i];
                char *both = NULL;
                if (!c->form || forms[c->form - 1].file[0])
                        continue;
                if (asprintf(&both, "%s%s", forms[c->form - 1].before, c->value) < 0)
                        return -1;
                v[(*n)++] = both;
        }
        return 0;
}

/* ---- planting ---- */

struct listing {
        struct buf json, text;
        unsigned count;
};

static bool still_there(const char *path, const char *value)
{
        char text[TEXT_MAX];
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
        ssize_t n = fd < 0 ? -1 : fd_read_all(fd, text, sizeof text);
        return n > 0 && memmem(text, (size_t) n, value, strlen(value)) != NULL;
}

/* One whose file is gone or was changed is none any more. */
static int keep_canary(void *ctx, const char *path, const char *value)
{
        struct listing *l = ctx;
        if (!still_there(path, value))
                return 0;

        buf_puts(&l->json, l->count++ ? ",{\"path\":" : "{\"path\":");
        buf_json(&l->json, span_str(path));
        buf_member(&l->json, "value", value);
        buf_putc(&l->json, '}');
        buf_printf(&l->text, "%s\n", path);
        return 0;
}

static int write_list(const struct cordon_context *cx, struct span text, struct err *e)
{
        AUTO_FD(dir, store_open(cx, e));
        if (dir < 0)
                return -1;

        AUTO_FD(fd,
                openat(dir, LIST_FILE ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (fd < 0 || fd_write_all(fd, text.p, text.n) < 0 || fsync(fd) < 0 ||
            renameat(dir, LIST_FILE ".new", dir, LIST_FILE) < 0)
                return err_set(e, ERR_IO, errno, "the list of canaries cannot be written: %s",
                               strerror(errno));
        return 0;
}

/* The form of a file of this name, or one of a plain token. */
static const struct form *form_of(const char *path)
{
        static const struct form token = { "", "token = ", "\n", 40 };
        for (size_t i = 0; i < API_CANARIES_OWN; i++) {
                const char *slash = strrchr(forms[i].file, '/'), *name = slash ? slash + 1 : forms[i].file,
                           *own = strrchr(path, '/');
                if (name[0] && own && strcmp(own + 1, name) == 0)
                        return &forms[i];
        }
        return &token;
}

static int make_file(const char *path, const char *value, struct err *e)
{
        const struct form *f = form_of(path);
        char text[TEXT_MAX];
        int n = snprintf(text, sizeof text, "%s%s%s", f->before, value, f->after);
        AUTO_FD(fd, open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (fd < 0) {
                (void) err_set(e, ERR_USAGE, errno, "%s: %s", path, strerror(errno));
                return errno == EEXIST ? err_hint(e, "a canary gets a file of its own, which must not exist")
                                       : -1;
        }
        return fd_write_all(fd, text, (size_t) n) < 0
                       ? err_set(e, ERR_IO, errno, "%s: %s", path, strerror(errno))
                       : 0;
}

int cordon_vault_canary(const cordon_context *cx, const char *path, cordon_error *pe)
{
        struct err *e = to_err(pe);
        struct listing l = { 0 };
        char here[PATH_MAX] = "", whole[PATH_MAX + 256], value[CANARY_VALUE];
        if (path[0] != '/' && !getcwd(here, sizeof here))
                return err_set(e, ERR_IO, errno, "the working directory: %s", strerror(errno));
        if (snprintf(whole, sizeof whole, "%s%s%s", here, here[0] ? "/" : "", path) >= (int) sizeof whole)
                return err_set(e, ERR_USAGE, ENAMETOOLONG, "%s: %s", path, strerror(ENAMETOOLONG));

        buf_putc(&l.json, '[');
        int r = api_planted_each(cx, keep_canary, &l, e);
        if (r == 0 && l.count >= API_CANARIES_MAX - API_CANARIES_OWN)
                r = err_set(e, ERR_LIMIT, 0, "%u canaries are planted already, which is the most", l.count);
        if (r == 0)
                r = make_random(value, form_of(whole)->length, e);
        if (r == 0 && (r = make_file(whole, value, e)) == 0) {
                (void) keep_canary(&l, whole, value);
                buf_puts(&l.json, "]\n");
                r = l.json.failed ? err_set(e, ERR_MEMORY, 0, "out of memory")
                                  : write_list(cx, buf_span(&l.json), e);
                if (r < 0)
                        (void) unlink(whole);
        }
        buf_done(&l.json);
        buf_done(&l.text);
        return r;
}

char *cordon_vault_canaries(const cordon_context *cx, cordon_error *pe)
{
        struct listing l = { 0 };
        int r = api_planted_each(cx, keep_canary, &l, to_err(pe));
        buf_done(&l.json);
        buf_puts(&l.text, "");
        if (r == 0)
                return api_give(&l.text, to_err(pe));
        buf_done(&l.text);
        return NULL;
}

/* SPDX-License-Identifier: MIT */
/* broker/vault/entries.c - the vault's directory: reads bindings, removes entries. Never: opens a secret. */
#include "base/fd.h"
#include "base/store/store.h"
#include "broker/vault/vault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { META_MAX = 4096 };

int vault_dir(const struct cordon_context *cx, struct err *e)
{
        AUTO_FD(state, store_open(cx, e));
        return state < 0 ? -1 : store_dir(state, "vault", e);
}

static int no_such(const char *name, struct err *e)
{
        (void) err_set(e, ERR_GONE, 0, "no credential named %s", name);
        return err_hint(e, "cordon vault ls; cordon vault add %s", name);
}

int vault_default_key_file(const struct cordon_context *cx, char *ret_path, size_t cap, struct err *e)
{
        const char *xdg = context_get(cx, "XDG_CONFIG_HOME"), *home = context_get(cx, "HOME");
        int n = xdg && xdg[0] == '/'     ? snprintf(ret_path, cap, "%s/cordon/vault.key", xdg)
                : home && home[0] == '/' ? snprintf(ret_path, cap, "%s/.config/cordon/vault.key", home)
                                         : -1;
        if (n > 0 && (size_t) n < cap)
                return 0;

        (void) err_set(e, ERR_HOST, 0, "no directory for the vault's key file");
        return err_hint(e, "set HOME or XDG_CONFIG_HOME, or name it: --key-file FILE");
}

int vault_key_file(const struct cordon_context *cx, char ret_path[VAULT_KEY_PATH])
{
        char path[STORE_PATH_MAX], key[STORE_PATH_MAX + 12], head[VAULT_KEY_PATH_AT + VAULT_KEY_PATH];
        struct err none;
        uint32_t protect;

        if (store_path(cx, path, &none) < 0)
                return -1;

        (void) snprintf(key, sizeof key, "%s/vault/key", path);
        AUTO_FD(fd, open(key, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        if (fd < 0 && errno == ENOENT)
                return vault_default_key_file(cx, ret_path, VAULT_KEY_PATH, &none);

        if (fd < 0 || fd_read_all(fd, head, sizeof head) != sizeof head)
                return -1;

        memcpy(&protect, head + VAULT_KEY_PROTECT_AT, sizeof protect);
        memcpy(ret_path, head + VAULT_KEY_PATH_AT, VAULT_KEY_PATH);
        return protect == VAULT_BY_FILE && ret_path[0] == '/' && !ret_path[VAULT_KEY_PATH - 1] ? 0 : -1;
}

int vault_meta_peek(const struct cordon_context *cx, const char *name, struct vault_meta *ret_meta,
                    struct err *e)
{
        char path[STORE_PATH_MAX], vault[STORE_PATH_MAX + 8];
        if (store_path(cx, path, e) < 0)
                return -1;

        (void) snprintf(vault, sizeof vault, "%s/vault", path);
        AUTO_FD(dir, open(vault, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
        if (dir < 0)
                return errno == ENOENT
                               ? no_such(name, e)
                               : err_set(e, ERR_IO, errno, "the vault cannot be read: %s", strerror(errno));

        return vault_meta_load(dir, name, ret_meta, e);
}

static int not_opened(const char *name, struct err *e)
{
        return err_set(e, ERR_IO, errno, "the credential %s cannot be read: %s", name, strerror(errno));
}

int vault_meta_load(int dir, const char *name, struct vault_meta *ret_meta, struct err *e)
{
        char file[GRANT_NAME + 3], line[META_MAX];
        if (!vault_name_ok(name))
                return err_set(e, ERR_USAGE, 0, "invalid credential name: letters, digits, . _ and -");

        (void) snprintf(file, sizeof file, "c.%s", name);
        AUTO_FD(fd, openat(dir, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (fd < 0)
                return errno == ENOENT ? no_such(name, e) : not_opened(name, e);

        ssize_t n = fd_read_all(fd, line, sizeof line);
        if (n < 0)
                return not_opened(name, e);

        const char *end = n > 0 ? memchr(line, '\n', (size_t) n) : NULL;
        struct err why;
        if (!end || vault_meta_parse(span_of(line, (size_t) (end - line)), ret_meta, &why) < 0 ||
            strcmp(ret_meta->name, name) != 0)
                return err_set(e, ERR_IO, 0, "the entry of the credential %s is damaged", name);

        return 0;
}

static int not_read(struct err *e)
{
        return err_set(e, ERR_IO, errno, "the vault cannot be read: %s", strerror(errno));
}

static int by_name(const void *a, const void *b)
{
        return strcmp(((const struct vault_meta *) a)->name, ((const struct vault_meta *) b)->name);
}

int vault_list(const struct cordon_context *cx, void (*each)(void *ctx, const struct vault_meta *m),
               void *ctx, struct err *e)
{
        struct vault_meta *v = NULL;
        size_t n = 0;
        int dir = vault_dir(cx, e), bad = 0;

        DIR *d = dir < 0 ? NULL : fdopendir(dup(dir));
        AUTO_FD(hold, dir);
        if (!d)
                return dir < 0 ? -1 : not_read(e);

        errno = 0;
        for (struct dirent *x; !bad && (x = readdir(d)); errno = 0) {
                if (strncmp(x->d_name, "c.", 2) != 0 || !vault_name_ok(x->d_name + 2))
                        continue;
                struct vault_meta *more = realloc(v, (n + 1) * sizeof *v);
                if (!more) {
                        bad = err_set(e, ERR_MEMORY, 0, "no memory");
                        break;
                }
                v = more;
                bad = vault_meta_load(dir, x->d_name + 2, &v[n], e);
                n += bad == 0;
                if (bad && e->code == ERR_GONE)
                        bad = 0; /* removed since it was listed */
        }

        if (!bad && errno) /* an incomplete list would be taken for the whole */
                bad = not_read(e);

        (void) closedir(d);
        if (n)
                qsort(v, n, sizeof *v, by_name);

        for (size_t i = 0; !bad && i < n; i++)
                each(ctx, &v[i]);

        free(v);
        return bad;
}

int vault_remove(const struct cordon_context *cx, const char *name, struct err *e)
{
        char file[GRANT_NAME + 3], old[GRANT_NAME + 8];
        AUTO_FD(dir, vault_dir(cx, e));
        if (dir < 0)
                return -1;

        if (!vault_name_ok(name))
                return err_set(e, ERR_GONE, 0, "no credential of that name");

        (void) snprintf(file, sizeof file, "c.%s", name);
        (void) snprintf(old, sizeof old, ".new.%s", name); /* left by a rotation that was killed */
        (void) unlinkat(dir, old, 0);
        if (unlinkat(dir, file, 0) < 0)
                return errno == ENOENT ? no_such(name, e)
                                       : err_set(e, ERR_IO, errno, "the credential %s cannot be removed: %s",
                                                 name, strerror(errno));

        (void) fsync(dir);
        return 0;
}

/* SPDX-License-Identifier: MIT */
/* face/serve/tenant_identity.c - makes and reads identities. No two tenants of a host have an id in common.
 */
#include "face/serve/tenant_identity.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/str.h"
#include "face/serve/token_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { HEX = 64, LINE_MAX_BYTES = 128, PATH_BYTES = TOKEN_NAME_MAX + 32 };

bool tenant_identity_read(struct span text, cordon_tenant *ret)
{
        uint64_t first = 0;
        cordon_tenant t = { .id_count = TENANT_IDS };
        if (text.n < HEX + 3 || text.p[HEX] != ' ' || text.p[text.n - 1] != '\n' ||
            str_to_u64(span_of(text.p + HEX + 1, text.n - HEX - 2), &first) < 0 || first < TENANT_IDS_FIRST ||
            first > INT32_MAX - TENANT_IDS || (first - TENANT_IDS_FIRST) % TENANT_IDS != 0)
                return false;

        for (size_t i = 0; i < sizeof t.secret; i++) {
                int high = str_hex(text.p[2 * i]), low = str_hex(text.p[2 * i + 1]);
                if (high < 0 || low < 0)
                        return false;
                t.secret[i] = (unsigned char) (16 * high + low);
        }

        t.first_id = (unsigned) first;
        *ret = t;
        return true;
}

/* 1: read; 0: there is none; -1: it is not one. */
static int read_file(int config, const char *name, cordon_tenant *ret)
{
        char path[PATH_BYTES], text[LINE_MAX_BYTES];
        (void) snprintf(path, sizeof path, "tenants/%.64s/identity", name);
        AUTO_FD(fd, fd_open2(config, path, O_RDONLY | O_NONBLOCK, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
        if (fd < 0)
                return errno == ENOENT ? 0 : -1;

        ssize_t n = fd_read_all(fd, text, sizeof text);
        bool good = n > 0 && tenant_identity_read(span_of(text, (size_t) n), ret);
        explicit_bzero(text, sizeof text);
        return good ? 1 : -1;
}

struct ranges {
        int config;
        unsigned next; /* 0: one cannot be read */
};

static void look_at_range(void *ctx, const char *name)
{
        struct ranges *x = ctx;
        cordon_tenant t = { 0 };
        int r = read_file(x->config, name, &t);
        if (r < 0)
                x->next = 0;
        else if (r > 0 && x->next && t.first_id >= x->next)
                x->next = t.first_id + TENANT_IDS;
        explicit_bzero(&t, sizeof t);
}

/* The first range that no tenant has; 0: all are taken, or one cannot be read. */
static unsigned free_range(int config)
{
        struct ranges x = { config, TENANT_IDS_FIRST };
        names_each(config, "tenants", "", look_at_range, &x);
        return x.next <= INT32_MAX - TENANT_IDS ? x.next : 0;
}

static int make(int config, const char *name, struct err *e)
{
        char path[PATH_BYTES], text[LINE_MAX_BYTES];
        unsigned first = free_range(config);
        if (!first || random_hex(text, HEX / 2) < 0)
                return err_set(e, ERR_IO, 0, "there is no range of ids left, or no random bits");

        (void) snprintf(text + HEX, sizeof text - HEX, " %u\n", first);
        (void) snprintf(path, sizeof path, "tenants/%.64s/identity", name);
        AUTO_FD(fd, openat(config, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        int r = fd >= 0 && fd_write_all(fd, text, strlen(text)) == 0 && fsync(fd) == 0
                        ? 0
                        : err_set(e, ERR_IO, errno, "%s: %s", path, strerror(errno));
        explicit_bzero(text, sizeof text);
        return r;
}

int tenant_identity(int config, const char *name, cordon_tenant *ret, struct err *e)
{
        int r = read_file(config, name, ret);
        if (r == 0) {
                AUTO_FD(lock, openat(config, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
                if (lock < 0 || flock(lock, LOCK_EX) < 0)
                        return err_set(e, ERR_IO, errno, "the operator's directory cannot be locked: %s",
                                       strerror(errno));
                r = read_file(config, name, ret);
                if (r == 0 && make(config, name, e) < 0)
                        return -1;
                r = r == 0 ? read_file(config, name, ret) : r;
        }

        return r > 0 ? 0 : err_set(e, ERR_IO, 0, "the file `identity` of the tenant is not one");
}

bool tenant_mark(int config, const char *name, char ret[65])
{
        static const char what[] = "tenant of a token";
        cordon_tenant t = { 0 };
        uint8_t text[sizeof what + sizeof t.secret];
        bool known = token_is_name(name) && read_file(config, name, &t) > 0;
        memcpy(text, what, sizeof what);
        memcpy(text + sizeof what, t.secret, sizeof t.secret);
        if (known)
                sha256_hex(span_of(text, sizeof text), ret);
        explicit_bzero(text, sizeof text);
        explicit_bzero(&t, sizeof t);
        return known;
}

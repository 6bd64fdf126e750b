/* SPDX-License-Identifier: MIT */
/* face/serve/tenant_versions.c - keeps the versions of policies. One process at a time changes them. */
#include "face/serve/tenant_versions.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "face/serve/token_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { SHORT = 256, NAME_BYTES = TOKEN_NAME_MAX + 32 };

static int open_dir(int dir, const char *name, bool make)
{
        char path[NAME_BYTES];
        (void) snprintf(path, sizeof path, "versions/%.64s", name);
        if (make && ((mkdirat(dir, "versions", 0700) < 0 && errno != EEXIST) ||
                     (mkdirat(dir, path, 0700) < 0 && errno != EEXIST)))
                return -1;
        return fd_open2(dir, path, O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* ---- files ---- */

/* The whole text; false: missing, or too long. */
static bool get(int dir, const char *file, struct buf *out)
{
        AUTO_FD(fd, fd_open2(dir, file, O_RDONLY | O_NONBLOCK, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
        char *room = fd < 0 ? NULL : buf_room(out, VERSION_BYTES + 1);
        ssize_t n = room ? fd_read_all(fd, room, VERSION_BYTES + 1) : -1;
        out->n = n < 0 ? 0 : (size_t) n;
        return n >= 0 && n <= VERSION_BYTES;
}

/* As a whole: whoever reads has the old one or the new one, also after a crash. */
static int put(int dir, const char *file, struct span text, struct err *e)
{
        char fresh[NAME_BYTES + 8];
        (void) snprintf(fresh, sizeof fresh, "%.90s.new", file);
        AUTO_FD(fd, openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || fd_write_all(fd, text.p, text.n) < 0 || fsync(fd) < 0 ||
            renameat(dir, fresh, dir, file) < 0)
                return err_set(e, ERR_IO, errno, "the policy cannot be stored: %s", strerror(errno));
        return 0;
}

static const char *file_of(unsigned version, char ret[32])
{
        (void) snprintf(ret, 32, "%u.cordon", version);
        return ret;
}

static const char *used_file(const char *name, char ret[NAME_BYTES])
{
        (void) snprintf(ret, NAME_BYTES, "policies/%.64s.cordon", name);
        return ret;
}

/* ---- reading ---- */

bool canary_rule_read(struct span text, struct canary_rule *ret)
{
        static const char *const keys[] = { "version", "share", "bound" };
        static const int64_t most[] = { 1 << 30, 100, 1000 };
        int64_t n[3] = { 0 };
        struct err ignored;
        struct json_doc *d = json_parse("canary.json", text, &ignored);
        bool good = d && json_root(d)->type == JSON_OBJECT;
        for (size_t i = 0; good && i < 3; i++) {
                const struct json *v = json_get(json_root(d), keys[i]);
                good = v && v->type == JSON_INT && v->integer > 0 && v->integer <= most[i];
                n[i] = good ? v->integer : 0;
        }

        json_free(d);
        *ret = good ? (struct canary_rule){ (unsigned) n[0], (unsigned) n[1], (unsigned) n[2] }
                    : (struct canary_rule){ 0 };
        return good;
}

static struct canary_rule canary_in(int versions)
{
        struct canary_rule rule = { 0 };
        AUTO_BUF(text);
        if (versions >= 0 && get(versions, "canary.json", &text))
                (void) canary_rule_read(buf_span(&text), &rule);
        return rule;
}

struct canary_rule versions_canary(int dir, const char *name)
{
        char path[NAME_BYTES + 16];
        struct stat st;
        (void) snprintf(path, sizeof path, "versions/%.64s/canary.json", name);
        if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return (struct canary_rule){ 0 };

        AUTO_FD(versions, open_dir(dir, name, false));
        return canary_in(versions);
}

static int ascending(const void *a, const void *b)
{
        unsigned x = *(const unsigned *) a, y = *(const unsigned *) b;
        return (x > y) - (x < y);
}

/* Those of the directory; the oldest beyond VERSIONS_MAX are removed. */
static void list(int versions, struct versions *ret)
{
        int copy = openat(versions, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = copy < 0 ? NULL : fdopendir(copy);
        char file[32];
        for (struct dirent *x; d && (x = readdir(d));) {
                uint64_t n = 0;
                size_t digits = strspn(x->d_name, "0123456789");
                if (strcmp(x->d_name + digits, ".cordon") != 0 ||
                    str_to_u64(span_of(x->d_name, digits), &n) < 0 || n == 0 || n > 1 << 30)
                        continue;
                if (ret->n < VERSIONS_MAX) {
                        ret->v[ret->n++] = (unsigned) n;
                } else if (n > ret->v[0]) {
                        (void) unlinkat(versions, file_of(ret->v[0], file), 0);
                        ret->v[0] = (unsigned) n;
                }
                qsort(ret->v, ret->n, sizeof *ret->v, ascending);
        }
        if (d)
                (void) closedir(d);
}

static bool is_text(int versions, unsigned version, const struct buf *text)
{
        char file[32];
        AUTO_BUF(kept);
        return get(versions, file_of(version, file), &kept) && kept.n == text->n &&
               memcmp(buf_str(&kept), buf_str(text), kept.n) == 0;
}

/* Numbers, one a line; what is none ends the list. */
static void read_used(int versions, struct versions *ret)
{
        AUTO_BUF(text);
        if (!get(versions, "used", &text))
                return;

        const char *at = buf_str(&text);
        for (uint64_t n; *at && ret->used_n < VERSIONS_MAX; at += strcspn(at, "\n") + 1) {
                if (str_to_u64(span_of(at, strcspn(at, "\n")), &n) < 0 || n > 1 << 30 || !strchr(at, '\n'))
                        return;
                ret->used[ret->used_n++] = (unsigned) n;
        }
}

static void read_in(int dir, int versions, const char *name, struct versions *ret)
{
        char used[NAME_BYTES];
        AUTO_BUF(text);
        *ret = (struct versions){ 0 };
        if (versions < 0)
                return;

        list(versions, ret);
        read_used(versions, ret);
        ret->canary = canary_in(versions);
        if (!get(dir, used_file(name, used), &text))
                return;
        for (size_t i = ret->n; i-- > 0 && ret->current == 0;)
                if (is_text(versions, ret->v[i], &text))
                        ret->current = ret->v[i];
}

void versions_read(int dir, const char *name, struct versions *ret)
{
        AUTO_FD(versions, open_dir(dir, name, false));
        read_in(dir, versions, name, ret);
}

/* ---- changing ---- */

/* The directory, which no other process changes meanwhile. */
static int open_locked(int dir, const char *name, struct versions *ret, struct err *e)
{
        AUTO_FD(versions, open_dir(dir, name, true));
        if (versions < 0 || flock(versions, LOCK_EX) < 0)
                return err_set(e, ERR_IO, errno, "the versions of the policy cannot be opened: %s",
                               strerror(errno));
        read_in(dir, versions, name, ret);
        return TAKE_FD(versions);
}

static void note_used(struct versions *v, unsigned version)
{
        if (v->used_n && v->used[v->used_n - 1] == version)
                return;
        if (v->used_n == VERSIONS_MAX)
                memmove(v->used, v->used + 1, --v->used_n * sizeof *v->used);
        v->used[v->used_n++] = version;
}

static int write_used(int versions, const struct versions *v, struct err *e)
{
        AUTO_BUF(text);
        for (size_t i = 0; i < v->used_n; i++)
                buf_printf(&text, "%u\n", v->used[i]);
        return put(versions, "used", buf_span(&text), e);
}

/* Noted before it is used: a crash between the two leaves one more to go back to. */
static int use(int dir, int versions, const char *name, struct versions *v, unsigned version, struct err *e)
{
        char file[32], used[NAME_BYTES];
        AUTO_BUF(text);
        if (!get(versions, file_of(version, file), &text)) {
                (void) err_set(e, ERR_GONE, 0, "version %u of the policy is not kept", version);
                return err_hint(e, "GET /v1/policies/%.64s lists those that are", name);
        }

        note_used(v, version);
        return write_used(versions, v, e) < 0 ? -1 : put(dir, used_file(name, used), buf_span(&text), e);
}

static int add(int versions, struct versions *v, struct span text, struct err *e)
{
        char file[32];
        unsigned version = v->n ? v->v[v->n - 1] + 1 : 1;
        if (put(versions, file_of(version, file), text, e) < 0)
                return -1;

        v->n = 0;
        list(versions, v);
        return 0;
}

/* A text that an operator wrote is kept before it is replaced. */
static int keep_used(int dir, int versions, const char *name, struct versions *v, struct err *e)
{
        char used[NAME_BYTES];
        AUTO_BUF(text);
        if (v->current || !get(dir, used_file(name, used), &text))
                return 0;
        if (add(versions, v, buf_span(&text), e) < 0)
                return -1;

        v->current = v->v[v->n - 1];
        note_used(v, v->current);
        return 0;
}

int versions_put(int dir, const char *name, struct span text, const struct canary_rule *canary,
                 unsigned *ret_version, struct err *e)
{
        struct versions v;
        AUTO_FD(versions, open_locked(dir, name, &v, e));
        if (versions < 0 || keep_used(dir, versions, name, &v, e) < 0 || add(versions, &v, text, e) < 0)
                return -1;

        *ret_version = v.v[v.n - 1];
        if (!canary->share) {
                (void) unlinkat(versions, "canary.json", 0);
                return use(dir, versions, name, &v, *ret_version, e);
        }

        AUTO_BUF(rule);
        buf_printf(&rule, "{\"version\":%u,\"share\":%u,\"bound\":%u}\n", *ret_version, canary->share,
                   canary->bound);
        return write_used(versions, &v, e) < 0 ? -1 : put(versions, "canary.json", buf_span(&rule), e);
}

int versions_promote(int dir, const char *name, struct err *e)
{
        struct versions v;
        AUTO_FD(versions, open_locked(dir, name, &v, e));
        if (versions < 0)
                return -1;

        if (!v.canary.version) {
                (void) err_set(e, ERR_USAGE, 0, "no version of this policy is being tried");
                return err_hint(e, "PUT /v1/policies/%.64s?share=10 lets a share of the runs try one", name);
        }

        if (keep_used(dir, versions, name, &v, e) < 0 ||
            use(dir, versions, name, &v, v.canary.version, e) < 0)
                return -1;
        (void) unlinkat(versions, "canary.json", 0);
        return 0;
}

static bool is_kept(const struct versions *v, unsigned version)
{
        for (size_t i = 0; i < v->n; i++)
                if (v->v[i] == version)
                        return true;
        return false;
}

unsigned versions_before(const struct versions *v)
{
        for (size_t i = v->used_n; i-- > 0;)
                if (v->used[i] != v->current && is_kept(v, v->used[i]))
                        return v->used[i];
        return 0;
}

/* The one that was gone back from is not gone back to. */
static void forget_since(struct versions *v, unsigned version)
{
        while (v->used_n && v->used[v->used_n - 1] != version)
                v->used_n--;
}

int versions_roll_back(int dir, const char *name, unsigned to, struct err *e)
{
        struct versions v;
        AUTO_FD(versions, open_locked(dir, name, &v, e));
        if (versions < 0)
                return -1;

        (void) unlinkat(versions, "canary.json", 0);
        if (v.canary.version && !to)
                return 0;

        if (keep_used(dir, versions, name, &v, e) < 0)
                return -1;
        if (to)
                return use(dir, versions, name, &v, to, e);

        to = versions_before(&v);
        if (!to)
                return err_set(e, ERR_USAGE, 0, "runs used no version before this one");

        forget_since(&v, to);
        return use(dir, versions, name, &v, to, e);
}

/* SPDX-License-Identifier: MIT */
/* run/api/image_add.c - brings an image into the store: an archive, an OCI layout, or a name that skopeo or
 * podman resolve. One process at a time; whatever a killed one leaves lies below `new`, which the next one
 * removes. */
#include "base/child.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "effect/stamp/stamp.h"
#include "run/api/image_parts.h"
#include "run/api/internal.h"
#include "run/api/unpacker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

struct adding {
        const struct cordon_context *cx;
        const struct image_store *store;
        const char *ref;
        char source[PATH_MAX];
        struct image_parts_list *parts;
        struct json_doc *config;
        struct buf description, counts;
        char key[65];
        bool names; /* the archive may name it */
};

static int make_dirs(const struct adding *a, struct err *e)
{
        static const char *const dirs[] = { "new", "new/image", "new/image/root" };
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
                if (mkdirat(a->store->dir, dirs[i], i == 2 ? 0755 : 0700) < 0)
                        return err_set(e, ERR_IO, errno, "making %s/%s: %s", a->store->path, dirs[i],
                                       strerror(errno));
        return 0;
}

/* ---- names ---- */

static bool ended_well(struct child *c)
{
        int status = 0;
        pid_t pid;
        while ((pid = waitpid(c->pid, &status, 0)) < 0 && errno == EINTR)
                ;

        fd_close(&c->pidfd);
        return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A name that is no file here was taken for that of an image. */
static int no_such_name(const struct adding *a, const char *program, struct err *e)
{
        const char *slash = strrchr(program, '/');
        (void) err_set(
                e, ERR_DOOR, 0,
                "there is no such file or directory here, and %s did not deliver an image of this name",
                slash ? slash + 1 : program);
        return err_hint(
                e, "`podman pull %.100s` gets one from a registry; a file or directory is named by its path",
                a->ref);
}

static int run_engine(const struct adding *a, const char *program, const char *const *argv, struct err *e)
{
        AUTO_FD(null, open("/dev/null", O_RDWR | O_CLOEXEC));
        const int fds[] = { null, 2, 2 }; /* it reports to the caller */
        struct child c = host_spawn(&(struct host_spawn){ .path = program,
                                                          .argv = (char *const *) (uintptr_t) argv,
                                                          .envp = a->cx->environment,
                                                          .fds = fds,
                                                          .fd_count = 3 });
        if (c.pid < 0)
                return err_set(e, ERR_EXEC, errno, "%s could not be started: %s", program, strerror(errno));
        return ended_well(&c) ? 0 : no_such_name(a, program, e);
}

/* "docker://NAME", unless the name has a transport of its own. */
static int copy_by_skopeo(struct adding *a, const char *program, struct err *e)
{
        char from[300], to[PATH_MAX];
        (void) snprintf(from, sizeof from, "%s%s", strstr(a->ref, "://") ? "" : "docker://", a->ref);
        (void) snprintf(a->source, sizeof a->source, "%s/new/layout", a->store->path);
        if ((size_t) snprintf(to, sizeof to, "oci:%s:image", a->source) >= sizeof to)
                return err_set(e, ERR_IO, 0, "the path of the store is too long");

        const char *const argv[] = { program, "copy", "--quiet", from, to, NULL };
        return run_engine(a, program, argv, e);
}

static int save_by_podman(struct adding *a, const char *program, struct err *e)
{
        (void) snprintf(a->source, sizeof a->source, "%s/new/archive.tar", a->store->path);
        const char *const argv[] = { program, "save", "--quiet", "--output", a->source, a->ref, NULL };
        return run_engine(a, program, argv, e);
}

static int fetch_name(struct adding *a, struct err *e)
{
        char program[PATH_MAX];
        if (api_find_on_path(a->cx, "skopeo", program, sizeof program))
                return copy_by_skopeo(a, program, e);

        if (api_find_on_path(a->cx, "podman", program, sizeof program))
                return save_by_podman(a, program, e);

        (void) err_set(e, ERR_DOOR, 0,
                       "the image %s is not in the store, and neither skopeo nor podman is installed",
                       a->ref);
        return err_hint(e,
                        "name a directory, an OCI layout or an archive by a path that begins with / or ./");
}

/* ---- files ---- */

static bool is_compressed(const char *path)
{
        unsigned char p[4] = { 0 };
        AUTO_FD(fd, open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        return fd >= 0 && read(fd, p, sizeof p) == (ssize_t) sizeof p &&
               ((p[0] == 0x1f && p[1] == 0x8b) ||
                (p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd));
}

static int inflate_source(struct adding *a, struct err *e)
{
        char dir[PATH_MAX];
        AUTO_BUF(none);
        (void) snprintf(dir, sizeof dir, "%s/new", a->store->path);
        struct unpacker u = { .command = "inflate", .read = a->source, .write = dir };
        if (api_unpack(a->cx, &u, &none, e) < 0)
                return -1;

        return (size_t) snprintf(a->source, sizeof a->source, "%s/new/archive.tar", a->store->path) <
                               sizeof a->source
                       ? 0
                       : err_set(e, ERR_IO, 0, "the path of the store is too long");
}

static int find_source(struct adding *a, struct err *e)
{
        struct stat st;
        if (a->ref[0] != '/')
                return fetch_name(a, e);

        if (!realpath(a->ref, a->source) || stat(a->source, &st) < 0)
                return err_set(e, ERR_DOOR, errno, "%s", strerror(errno));

        if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
                return err_set(e, ERR_DOOR, 0, "%s is neither a file nor a directory", a->ref);

        return S_ISREG(st.st_mode) && is_compressed(a->source) ? inflate_source(a, e) : 0;
}

/* ---- the tree ---- */

static void put_texts(const struct json *list, bool *first, struct buf *out)
{
        for (const struct json *v = list && list->type == JSON_ARRAY ? list->child : NULL; v; v = v->next) {
                if (v->type != JSON_STRING)
                        continue;
                buf_puts(out, *first ? "" : ",");
                buf_json(out, span_of(v->str, v->len));
                *first = false;
        }
}

/* What the image would set and start. */
static void put_defaults(const struct json *config, struct buf *out)
{
        const struct json *d = config->type == JSON_OBJECT ? json_get(config, "config") : NULL;
        bool object = d && d->type == JSON_OBJECT, first = true;
        buf_puts(out, ",\"env\":[");
        put_texts(object ? json_get(d, "Env") : NULL, &first, out);
        buf_puts(out, "],\"argv\":[");
        first = true;
        put_texts(object ? json_get(d, "Entrypoint") : NULL, &first, out);
        put_texts(object ? json_get(d, "Cmd") : NULL, &first, out);
        buf_puts(out, "]");
}

static void put_counts(const struct json *counts, struct buf *out)
{
        static const char *const names[] = { "entries", "bytes",  "devices",  "fifos", "setid",
                                             "owners",  "xattrs", "left_out", "uid",   "gid" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                buf_printf(out, ",\"%s\":%lld", names[i], (long long) json_int(counts, names[i]));
        }

        buf_printf(out, ",\"user\":%s", json_is_true(counts, "user") ? "true" : "false");
}

static int write_meta(struct adding *a, struct err *e)
{
        AUTO_BUF(out);
        struct json_doc *c = json_parse("counts", buf_span(&a->counts), e);
        if (!c || json_root(c)->type != JSON_OBJECT) {
                json_free(c);
                return err_set(e, ERR_IO, 0, "the unpacker's answer is not understood");
        }

        buf_printf(&out, "{\"key\":\"%s\",\"config\":\"%s\",\"layers\":%zu,\"added\":%lld", a->key,
                   a->parts->v[0].packed, a->parts->n - 1, (long long) time(NULL));
        put_counts(json_root(c), &out);
        buf_member(&out, "from", a->ref);
        buf_member(&out, "cwd", a->parts->cwd);
        put_defaults(json_root(a->config), &out);
        buf_puts(&out, "}\n");
        json_free(c);

        AUTO_FD(fd, openat(a->store->dir, "new/image/meta.json",
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (out.failed || out.n > IMAGE_META_MAX || fd < 0 || fd_write_all(fd, buf_str(&out), out.n) < 0)
                return err_set(e, ERR_IO, errno, "writing the image's meta.json");

        return 0;
}

static int unpack_tree(struct adding *a, struct err *e)
{
        char root[PATH_MAX];
        AUTO_BUF(lines);
        image_parts_lines(a->parts, &lines);
        (void) snprintf(root, sizeof root, "%s/new/image/root", a->store->path);
        struct unpacker u = {
                .command = "layers", .read = a->source, .write = root, .input = buf_str(&lines)
        };
        if (lines.failed)
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the layers");

        return api_unpack(a->cx, &u, &a->counts, e) < 0 || write_meta(a, e) < 0 ||
                               image_publish(a->store, a->key, e) < 0
                       ? -1
                       : 0;
}

/* An archive is a stranger's: a name that leads to another image stays. */
static int put_tags(const struct adding *a, struct err *e)
{
        char key[65];
        for (size_t i = 0; a->names && a->ref[0] == '/' && i < a->parts->tag_count; i++)
                if (!image_ref_get(a->store, a->parts->tags[i], key) &&
                    image_ref_put(a->store, a->parts->tags[i], a->key, e) < 0)
                        return -1;

        return 0;
}

/* The image has the label of what it was made from, and the next one that is made there does not. */
static int pass_label(const struct adding *a, struct err *e)
{
        struct stamp_index x;
        char root[PATH_MAX];
        unsigned left = STAMP_BELOW_MAX;
        if (stamp_read(a->cx, &x, e) < 0)
                return -1;

        struct label l = stamp_behind(&x, a->source), below = stamp_below(&x, a->source, &left);
        label_join(&l, &below);
        stamp_done(&x);
        (void) snprintf(root, sizeof root, "%s/new/image/root", a->store->path);
        stamp_forget(a->cx, root);
        (void) snprintf(root, sizeof root, "%s/%s/root", a->store->path, a->key);
        return label_is_empty(&l) ? 0 : stamp_add(a->cx, root, &l, "", e);
}

static int add_image(struct adding *a, struct err *e)
{
        struct unpacker u = { .command = "describe", .read = a->source };
        if (make_dirs(a, e) < 0 || find_source(a, e) < 0 || api_unpack(a->cx, &u, &a->description, e) < 0 ||
            image_parts_read(buf_span(&a->description), a->parts, e) < 0 ||
            image_parts_key(a->source, a->parts, a->key, e) < 0 ||
            !(a->config = image_parts_config(a->source, a->parts, e)))
                return -1;

        AUTO_FD(there, image_meta_open(a->store, a->key));
        if (there < 0 && unpack_tree(a, e) < 0)
                return -1;

        return pass_label(a, e) < 0 || image_ref_put(a->store, a->ref, a->key, e) < 0 ? -1 : put_tags(a, e);
}

int api_image_add(const struct cordon_context *cx, const struct image_store *s, const char *ref, bool names,
                  char ret_key[65], struct err *e)
{
        struct adding a = {
                .cx = cx, .store = s, .ref = ref, .names = names, .parts = calloc(1, sizeof *a.parts)
        };
        AUTO_FD(lock, image_store_lock(s, e));
        int r = lock < 0  ? -1
                : a.parts ? add_image(&a, e)
                          : err_set(e, ERR_MEMORY, ENOMEM, "no memory for the image");
        if (lock >= 0)
                image_store_clear(s);

        if (r == 0)
                memcpy(ret_key, a.key, sizeof a.key);
        else
                (void) err_in(e, "%s", ref);

        json_free(a.config);
        buf_done(&a.description);
        buf_done(&a.counts);
        free(a.parts);
        return r;
}

/* ---- the image of a policy ---- */

const char *cordon_policy_root(cordon_policy *p, cordon_error *e)
{
        return cordon_policy_check(p, e) < 0 ? NULL : policy_root(p->checked);
}

int cordon_image_prepare(cordon_policy *p, cordon_error *pe)
{
        struct err *e = to_err(pe);
        struct image_store s;
        char key[65];
        if (cordon_policy_check(p, pe) < 0)
                return -1;

        const char *ref = policy_root(p->checked);
        if (!ref || api_is_tree(ref))
                return 0;

        if (image_store_open(p->cx, &s, e) < 0)
                return -1;

        AUTO_FD(there, api_image_key(&s, ref, key) ? image_meta_open(&s, key) : -1);
        int r = there >= 0 ? 0 : api_image_add(p->cx, &s, ref, false, key, e);
        image_store_done(&s);
        return r;
}

const char *const *cordon_box_image_command(cordon_box *b, cordon_error *e)
{
        if (cordon_policy_check(b->policy, e) < 0 || api_image_open(b, to_err(e)) < 0)
                return NULL;

        if (b->has_image && b->image.argv)
                return b->image.argv;

        (void) err_set(to_err(e), ERR_USAGE, 0, "no command given, and the image names none");
        return NULL;
}

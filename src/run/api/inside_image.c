/* SPDX-License-Identifier: MIT */
/* run/api/inside_image.c - effects on the image's own files: where no door leads, a box with an image has
 * what its tree has, and may do with it what the plan says of the part at the top. The tree is hostile:
 * nothing outside of it is ever opened. */
#include "base/fd.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char files_name[] = "the image's own files";
static const char programs_name[] = "the programs of the image";

/* The file at `path` in the image, and its path in it behind all symlinks; -1: there is none. */
static int open_there(const struct plan_image *m, const char *path, char ret_real[static PATH_MAX],
                      struct stat *ret)
{
        size_t n = strlen(m->dir);
        AUTO_FD(root, open(m->dir, O_PATH | O_DIRECTORY | O_CLOEXEC));
        AUTO_FD(fd, root < 0 ? -1
                             : fd_open2(root, path[1] ? path + 1 : ".", O_PATH,
                                        RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS));
        if (fd < 0 || fstat(fd, ret) < 0 || fd_path(fd, ret_real, PATH_MAX) < 0 ||
            !path_under(ret_real, m->dir))
                return -1;

        memmove(ret_real, ret_real + n, strlen(ret_real + n) + 1);
        return TAKE_FD(fd);
}

/* What the plan says of the entry at the image's top that holds this path; NULL: the box has no such part. */
static const struct plan_step *part_of(const struct plan *p, const char *path, unsigned *ret_rights)
{
        const struct plan_step *part = NULL;
        struct span top = span_of(path, path[0] ? 1 + strcspn(path + 1, "/") : 0);
        *ret_rights = 0;
        for (size_t i = 0; i < p->rule_count; i++)
                if (span_is(top, p->rules[i].path))
                        *ret_rights |= p->rules[i].rights;

        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_PIN && span_is(top, p->steps[i].path))
                        part = &p->steps[i];

        return part;
}

/* A file that cordon puts in place of the image's, read-only. */
static bool is_covered(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->step_count; i++)
                if ((p->steps[i].kind == STEP_FILE || p->steps[i].kind == STEP_TRUST) &&
                    strcmp(p->steps[i].path, path) == 0)
                        return true;
        return false;
}

static struct decision allow_as(const char *name)
{
        return (struct decision){ .answer = ANSWER_ALLOW, .built_in = name };
}

static struct decision read_there(const struct dry_box *b, const char *path)
{
        struct stat st;
        char real[PATH_MAX];
        if (is_covered(b->plan, path))
                return allow_as("the box's own /etc");

        AUTO_FD(fd, open_there(&b->box->image.plan, path, real, &st));
        return fd >= 0 ? allow_as(files_name) : (struct decision){ .reason = REASON_NO_DOOR };
}

/* A new file is judged by its directory. */
static struct decision write_there(const struct dry_box *b, const char *path)
{
        struct stat st;
        unsigned rights;
        char real[PATH_MAX], up[PATH_MAX];
        (void) snprintf(up, sizeof up, "%.*s", (int) str_parent(path, strlen(path)), path);
        AUTO_FD(there, open_there(&b->box->image.plan, path, real, &st));
        AUTO_FD(above, there < 0 ? open_there(&b->box->image.plan, up[0] ? up : "/", real, &st) : -1);
        if (there < 0 && (above < 0 || !S_ISDIR(st.st_mode)))
                return (struct decision){ .reason = REASON_NO_DOOR };

        const struct plan_step *part = part_of(b->plan, real, &rights);
        return part && part->flags & STEP_WRITE && !is_covered(b->plan, path)
                       ? allow_as(files_name)
                       : (struct decision){ .reason = REASON_READ_ONLY };
}

/* What a program needs that the image lacks is the gap: its interpreter, or its loader. */
static struct decision run_there(const struct dry_box *b, const char *path, struct effect *f,
                                 struct api_inside *in)
{
        struct stat st;
        unsigned rights;
        char real[PATH_MAX], starter[PATH_MAX], at[32];
        AUTO_FD(fd, open_there(&b->box->image.plan, path, real, &st));
        if (fd < 0)
                return (struct decision){ .reason = REASON_NO_DOOR };

        (void) part_of(b->plan, real, &rights);
        if (!S_ISREG(st.st_mode) || !(st.st_mode & 0111) || !(rights & RIGHT_EXEC))
                return (struct decision){ .reason = REASON_NOT_RUN };

        (void) snprintf(at, sizeof at, "/proc/self/fd/%d", fd);
        if (!api_starter(at, starter) || read_there(b, starter).answer == ANSWER_ALLOW)
                return allow_as(programs_name);

        (void) snprintf(in->path, sizeof in->path, "%s", starter);
        f->kind = EFFECT_READ;
        f->target = in->path;
        return (struct decision){ .reason = REASON_NO_DOOR };
}

/* In the first directory of the image's PATH that has it. */
static struct decision run_bare(const struct dry_box *b, struct effect *f, struct api_inside *in)
{
        const char *const *env = b->box->image.plan.env;
        const char *dirs = BOX_PATH;
        struct decision d = { .reason = REASON_NO_DOOR };
        char path[PATH_MAX], name[256];
        if (snprintf(name, sizeof name, "%s", f->target) >= (int) sizeof name)
                return d;

        for (; env && *env; env++)
                if (strncmp(*env, "PATH=", 5) == 0)
                        dirs = *env + 5;

        for (const char *at = dirs; *at && d.answer != ANSWER_ALLOW && f->kind == EFFECT_RUN;
             at += strspn(at, ":")) {
                size_t k = strcspn(at, ":");
                int n = snprintf(path, sizeof path, "%.*s/%s", (int) k, at, name);
                at += k;
                if (n > 0 && n < PATH_MAX && path[0] == '/')
                        d = run_there(b, path, f, in);
        }

        return d;
}

void api_inside_image(const struct dry_box *b, struct effect *f, struct api_inside *in, struct decision *d)
{
        if (f->kind == EFFECT_RUN)
                *d = f->target[0] == '/' ? run_there(b, f->target, f, in) : run_bare(b, f, in);
        else if (d->answer != ANSWER_ALLOW && (d->reason == REASON_NO_DOOR || d->reason == REASON_EXPIRED) &&
                 !policy_is_own_place(f->target))
                *d = f->kind == EFFECT_READ ? read_there(b, f->target) : write_there(b, f->target);
}

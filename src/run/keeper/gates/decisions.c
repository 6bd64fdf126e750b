/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/decisions.c - keeps each decision of a person for the figures of fatigue. The figures only
 * make approvals harder; a lost line permits nothing. */
#include "run/keeper/gates/decisions.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/store/store.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAIL_MAX = 1 << 20, LINE_MAX_BYTES = 4096 };

static const char file_name[] = "decisions", decoys_name[] = "decoys", unanswered_name[] = "unanswered";

static int open_dir(const struct cordon_context *cx, struct err *e)
{
        AUTO_FD(state, store_open(cx, e));
        return state < 0 ? -1 : store_dir(state, "gate", e);
}

/* ---- reading ---- */

static const char *text_of(const struct json *o, const char *key, struct arena *mem)
{
        const char *s = arena_str(mem, json_text(o, key));
        return s ? s : "";
}

static void mark_decision(struct past_decisions *p, const struct json *o)
{
        const char *what = text_of(o, "mark", &p->mem), *id = text_of(o, "id", &p->mem);
        for (size_t i = p->n; i-- > 0;) {
                if (strcmp(p->v[i].id, id) != 0)
                        continue;
                p->v[i].d.incident |= strcmp(what, "incident") == 0;
                p->v[i].d.reversed |= strcmp(what, "reversed") == 0;
                return;
        }
}

static void take_decision(struct past_decisions *p, const struct json *o)
{
        if (json_get(o, "mark")) {
                mark_decision(p, o);
                return;
        }

        if (vec_room((void **) &p->v, p->n, &p->cap, sizeof *p->v) < 0)
                return;

        p->v[p->n++] = (struct past_decision){
                .d = { .at_ms = json_int(o, "at"),
                       .read_ms = (uint32_t) json_int(o, "read_ms"),
                       .chars = (uint32_t) json_int(o, "chars"),
                       .template = (uint64_t) json_int(o, "template"),
                       .yes = json_is_true(o, "yes"),
                       .decoy = json_is_true(o, "decoy") },
                .uid = (uint64_t) json_int(o, "uid"),
                .by = text_of(o, "by", &p->mem),
                .id = text_of(o, "id", &p->mem),
                .door = text_of(o, "door", &p->mem),
                .reason = text_of(o, "reason", &p->mem),
                .effect = text_of(o, "effect", &p->mem),
        };
}

static void take_line(struct past_decisions *p, struct span line)
{
        struct err ignored;
        struct json_doc *d = json_parse(file_name, line, &ignored);
        if (!d)
                return; /* cut off by a crash */
        if (json_root(d)->type == JSON_OBJECT)
                take_decision(p, json_root(d));
        json_free(d);
}

static char *read_tail(int dir, const char *name, size_t *ret_n)
{
        AUTO_FD(fd, openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY));
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
                return NULL;

        off_t from = st.st_size > TAIL_MAX ? st.st_size - TAIL_MAX : 0;
        size_t n = (size_t) (st.st_size - from);
        char *text = malloc(n);
        ssize_t got = text ? pread(fd, text, n, from) : -1;
        if (got < 0) {
                free(text);
                return NULL;
        }

        *ret_n = (size_t) got;
        return text;
}

static void read_file(const struct cordon_context *cx, const char *name, struct past_decisions *ret)
{
        struct err ignored;
        AUTO_FD(dir, open_dir(cx, &ignored));
        size_t n = 0;
        *ret = (struct past_decisions){ 0 };
        char *text = dir < 0 ? NULL : read_tail(dir, name, &n);
        for (size_t at = 0; text && at < n;) {
                const char *end = memchr(text + at, '\n', n - at);
                size_t len = end ? (size_t) (end - text) - at : n - at;
                take_line(ret, span_of(text + at, len));
                at += len + 1;
        }

        free(text);
}

void decisions_read(const struct cordon_context *cx, struct past_decisions *ret)
{
        read_file(cx, file_name, ret);
}

void decisions_read_unanswered(const struct cordon_context *cx, struct past_decisions *ret)
{
        read_file(cx, unanswered_name, ret);
}

void decisions_done(struct past_decisions *p)
{
        free(p->v);
        arena_done(&p->mem);
        *p = (struct past_decisions){ 0 };
}

struct gate_fatigue decisions_fatigue(const struct past_decisions *p, uint64_t uid, int64_t now_ms)
{
        struct gate_decided *d = calloc(p->n + 1, sizeof *d);
        size_t n = 0;
        for (size_t i = 0; d && i < p->n; i++)
                if (p->v[i].uid == uid)
                        d[n++] = p->v[i].d;

        struct gate_fatigue f = gate_fatigue_of(d, n, now_ms);
        free(d);
        return f;
}

/* ---- writing ---- */

static int append_line(const struct cordon_context *cx, const char *name, const struct buf *line,
                       struct err *e)
{
        AUTO_FD(dir, open_dir(cx, e));
        if (dir < 0)
                return -1;

        AUTO_FD(fd,
                openat(dir, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600));
        if (fd < 0 || line->failed || fd_write_all(fd, line->p, line->n) < 0)
                return err_set(e, ERR_IO, errno, "the decision could not be kept: %s", strerror(errno));

        return 0;
}

void decisions_add(const struct cordon_context *cx, const struct past_decision *p)
{
        struct err ignored;
        AUTO_BUF(line);
        buf_printf(&line, "{\"at\":%lld,\"uid\":%llu,\"read_ms\":%u,\"chars\":%u,\"template\":%lld",
                   (long long) p->d.at_ms, (unsigned long long) p->uid, p->d.read_ms, p->d.chars,
                   (long long) p->d.template);
        buf_printf(&line, ",\"yes\":%s,\"decoy\":%s", p->d.yes ? "true" : "false",
                   p->d.decoy ? "true" : "false");
        buf_member(&line, "id", p->id);
        buf_member(&line, "door", p->door);
        buf_member(&line, "effect", p->effect);
        buf_member(&line, "reason", p->reason);
        if (p->by && p->by[0])
                buf_member(&line, "by", p->by);
        buf_puts(&line, "}\n");
        (void) append_line(cx, file_name, &line, &ignored);
}

static bool is_full(const struct cordon_context *cx)
{
        struct err ignored;
        struct stat st;
        AUTO_FD(dir, open_dir(cx, &ignored));
        return dir < 0 ||
               (fstatat(dir, unanswered_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > TAIL_MAX);
}

/* A box alone can make them: their file does not grow for ever. */
void decisions_add_unanswered(const struct cordon_context *cx, const struct past_decision *p)
{
        struct err ignored;
        AUTO_BUF(line);
        if (is_full(cx))
                return;

        buf_printf(&line, "{\"at\":%lld", (long long) p->d.at_ms);
        buf_member(&line, "id", p->id);
        buf_member(&line, "door", p->door);
        buf_member(&line, "effect", p->effect);
        buf_puts(&line, "}\n");
        (void) append_line(cx, unanswered_name, &line, &ignored);
}

int decisions_mark(const struct cordon_context *cx, const char *what, const char *id, const char *text,
                   struct err *e)
{
        AUTO_BUF(line);
        buf_printf(&line, "{\"at\":%lld", (long long) clock_wall_s() * 1000);
        buf_member(&line, "mark", what);
        buf_member(&line, "id", id);
        buf_member(&line, "text", text);
        buf_puts(&line, "}\n");
        return append_line(cx, file_name, &line, e);
}

/* ---- decoys ---- */

bool decisions_decoys(const struct cordon_context *cx)
{
        struct err ignored;
        AUTO_FD(dir, open_dir(cx, &ignored));
        return dir >= 0 && faccessat(dir, decoys_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int decisions_set_decoys(const struct cordon_context *cx, bool on, struct err *e)
{
        AUTO_FD(dir, open_dir(cx, e));
        if (dir < 0)
                return -1;

        if (!on)
                return unlinkat(dir, decoys_name, 0) == 0 || errno == ENOENT
                               ? 0
                               : err_set(e, ERR_IO, errno, "decoys stay on: %s", strerror(errno));

        AUTO_FD(fd, openat(dir, decoys_name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
        return fd < 0 ? err_set(e, ERR_IO, errno, "decoys stay off: %s", strerror(errno)) : 0;
}

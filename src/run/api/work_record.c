/* SPDX-License-Identifier: MIT */
/* run/api/work_record.c - records what an apply does, also one that a later command brings to its end. */
#include "run/api/work_record.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/store/store.h"
#include "base/str.h"
#include "effect/stamp/stamp.h"
#include "files/work/work.h"
#include "ledger/ledger.h"
#include "wall/limit/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { FLUSH_MS = 1000 };

/* An apply may come again after an undo: chance makes its records' ids others. */
int api_effects_name(struct work_effects *f, struct err *e)
{
        uint32_t number = 0;
        if (getrandom(&number, sizeof number, 0) < 0)
                return err_set(e, ERR_IO, errno, "no random number for the ledger");
        (void) snprintf(f->name, sizeof f->name, "q%06x", number & 0xffffff);
        return 0;
}

static int open_ledger(struct work_effects *f, const char *run, struct err *e)
{
        char source[sizeof f->name];
        (void) snprintf(source, sizeof source, "a%s", f->name + 1);
        f->ledger = ledger_open(f->cx, run, source, e);
        return f->ledger ? 0 : -1;
}

static void name_target(const struct work_effect *x, char target[PATH_MAX_BYTES])
{
        char path[PATH_MAX_BYTES];
        (void) snprintf(target, PATH_MAX_BYTES, "%s%s%s", x->host, x->path.n ? "/" : "",
                        str_inert(x->path, path, sizeof path));
}

int api_effects_intent(void *ctx, const struct work_effect *first, size_t count, struct err *e)
{
        struct work_effects *f = ctx;
        char target[PATH_MAX_BYTES], end[LEDGER_ID_MAX];
        if (api_label_apply_begin(&f->label, f->cx, first->run, first->host, e) < 0)
                return -1;

        if (f->off)
                return 0;

        name_target(first, target);
        (void) snprintf(end, sizeof end, "%s.end", first->run);
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_INTENT);
        r.name = f->name;
        r.writes = true;
        r.target = target;
        r.count = (int64_t) count;
        r.parents[r.parent_count++] = end;
        if (open_ledger(f, first->run, e) == 0 && ledger_append(f->ledger, &r, true, f->intent, e) == 0)
                return 0;

        return err_hint(e, "nothing was applied; --ledger off applies without a record");
}

/* Later readers of the file find the effect that created it. Never: follows a symlink, opens anything but a
 * regular file. */
static void stamp_file(const struct work_effect *x, bool late, const char *id)
{
        char path[PATH_MAX_BYTES];
        const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
        const uint64_t resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
        struct stat st;

        if (x->path.n >= sizeof path)
                return;

        memcpy(path, x->path.p, x->path.n);
        path[x->path.n] = '\0';
        AUTO_FD(top, open(x->host, O_PATH | O_CLOEXEC));
        AUTO_FD(fd, top < 0          ? -1
                    : x->path.n == 0 ? open(x->host, flags)
                                     : fd_open2(top, path, (uint64_t) flags, resolve));
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return;

        char now[LEDGER_ID_MAX] = "";
        if (late)
                ledger_read_origin(fd, now);

        if (!late || strncmp(now, x->run, strlen(x->run)) == 0)
                ledger_stamp_origin(fd, id);
}

static bool is_sha256(const char *digest)
{
        return strlen(digest) == 64 && strspn(digest, "0123456789abcdef") == 64;
}

/* The changes that reached the host, with the content before and after; caused by the run's end. */
void api_effects_add(struct work_effects *f, const struct work_effect *x)
{
        char target[PATH_MAX_BYTES], end[LEDGER_ID_MAX], id[LEDGER_ID_MAX], after[80], before[80];
        struct err none;
        if (!f->ledger)
                return;

        name_target(x, target);
        (void) snprintf(end, sizeof end, "%s.end", x->run);
        (void) snprintf(after, sizeof after, "sha256:%.64s", x->after);
        (void) snprintf(before, sizeof before, "sha256:%.64s", x->before);
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_OUTCOME);
        r.writes = true;
        r.target = target;
        r.result = "applied";
        r.digest = is_sha256(x->after) ? after : NULL;
        r.parents[r.parent_count++] = end;
        r.parents[r.parent_count++] = f->intent;
        if (is_sha256(x->before))
                ledger_more_text(&r, "before", before);

        if (ledger_append(f->ledger, &r, false, id, &none) == 0 && r.digest && !x->linked)
                stamp_file(x, f->late, id);
}

/* Returns true if all of it is in the file. Else none of it is: the command that settles the apply reports
 * it, and it is not reported twice. */
bool api_effects_close(struct work_effects *f)
{
        struct err none;
        if (!f->ledger)
                return true;

        bool written = ledger_flush(f->ledger, FLUSH_MS, &none) == 0;
        ledger_wake_sealer(f->ledger);
        if (written)
                ledger_close(f->ledger);
        else
                ledger_give_up(f->ledger);

        f->ledger = NULL;
        return written;
}

bool api_record_after(const struct cordon_context *cx, const char *run, struct ledger_record *r)
{
        struct work_effects f = { .cx = cx, .off = api_log_off(cx) };
        struct err none;
        char end[LEDGER_ID_MAX];

        if (f.off)
                return true;

        if (api_effects_name(&f, &none) < 0 || open_ledger(&f, run, &none) < 0)
                return false;

        (void) snprintf(end, sizeof end, "%.48s.end", run);
        r->parents[r->parent_count++] = end;
        bool kept = ledger_append(f.ledger, r, false, NULL, &none) == 0;
        return api_effects_close(&f) && kept;
}

bool api_effects_undone(const struct cordon_context *cx, const char *run, size_t count)
{
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_HUMAN);
        r.writes = true;
        r.target = run;
        r.result = "taken back";
        r.count = (int64_t) count;
        return api_record_after(cx, run, &r);
}

static bool record_taken_back(const struct work_settled *s, const char *intent)
{
        char target[PATH_MAX_BYTES];
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_OUTCOME);
        name_target(&s->effects[0], target);
        r.target = target;
        r.result = "taken back";
        r.count = (int64_t) s->count;
        r.parents[r.parent_count++] = intent;
        return api_record_after(s->cx, s->run, &r);
}

/* An apply that failed, or was killed and came to its end in a later command: its intent gets its outcome. */
static bool record_settled(const struct work_settled *s)
{
        struct work_effects f = { .cx = s->cx, .off = api_log_off(s->cx), .late = true };
        struct err none;
        if (!s->mark)
                return true;

        (void) snprintf(f.intent, sizeof f.intent, "%.48s.%.12s", s->run, s->mark);
        if (s->how == WORK_UNDONE)
                return api_effects_undone(s->cx, s->run, s->count);

        if (s->how == WORK_TAKEN_BACK)
                return record_taken_back(s, f.intent);

        if (f.off)
                return true;

        if (api_effects_name(&f, &none) < 0 || open_ledger(&f, s->run, &none) < 0)
                return false;

        for (size_t i = 0; i < s->count; i++)
                api_effects_add(&f, &s->effects[i]);

        return api_effects_close(&f);
}

bool api_work_settled(const struct work_settled *s)
{
        bool recorded = record_settled(s);
        if (recorded && s->later && s->cx->on_settled)
                s->cx->on_settled(s->cx->settled_ctx, s->run, s->how == WORK_LANDED, s->count);
        return recorded;
}

void cordon_context_settled(cordon_context *cx, cordon_settled fn, void *ctx)
{
        cx->on_settled = fn;
        cx->settled_ctx = ctx;
}

/* SPDX-License-Identifier: MIT */
/* run/api/rollout.c - cordon_canary_*: a changed policy is tried by a share of the runs, and by none once too
 * many of those went badly.
 *
 * In the state directory, `canary` has one file for each run that tries a policy now or that went badly:
 * DIGEST.open.ID, locked as long as its keeper lives, or DIGEST.bad.ID with the reason in it. A run makes its
 * file before it begins and is let in only while all files of the digest are fewer than the bound, so that no
 * more runs than that can ever go badly, at once or one after the other. A killed run leaves an unlocked
 * file: it counts as bad. On any irregularity the usual policy applies. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/store/store.h"
#include "ledger/ledger.h"
#include "run/api/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DIGEST = 64, ID = 16, NAME_BYTES = DIGEST + ID + 8, REASON_MAX = 400, LOCK_TRIES = 200, LOCK_MS = 5 };

struct cordon_canary {
        const struct cordon_context *cx;
        char digest[DIGEST + 1];
        char file[256];
        cordon_policy *policy, *usual;
        unsigned bound;
        int dir, mine; /* the directory; the locked file of this run, or -1 */
        char name[NAME_BYTES];
        char says[REASON_MAX + 300];
};

__attribute__((format(printf, 2, 3))) static int says(cordon_canary *c, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        (void) vsnprintf(c->says, sizeof c->says, fmt, ap);
        va_end(ap);
        return 0;
}

const char *cordon_canary_says(const cordon_canary *c) { return c->says; }
cordon_policy *cordon_canary_policy(cordon_canary *c) { return c->policy; }

cordon_canary *cordon_canary_new(const cordon_context *cx, const char *file, cordon_error *e)
{
        size_t n = 0;
        char *text = api_slurp(file, &n, to_err(e));
        cordon_canary *c = text ? calloc(1, sizeof *c) : NULL;
        if (text && (!c || !(c->policy = cordon_policy_new(cx))))
                (void) err_set(to_err(e), ERR_MEMORY, ENOMEM, "no memory for a second policy");

        bool good = c && c->policy && cordon_policy_add_text(c->policy, file, text, n, e) == 0;
        if (c) {
                c->cx = cx;
                c->dir = c->mine = -1;
                sha256_hex(span_of(text, n), c->digest);
                (void) snprintf(c->file, sizeof c->file, "%s", file);
        }

        free(text);
        if (good)
                return c;

        cordon_canary_free(c);
        return NULL;
}

void cordon_canary_free(cordon_canary *c)
{
        if (!c)
                return;
        fd_close(&c->mine); /* a file that is left counts as bad */
        fd_close(&c->dir);
        cordon_policy_free(c->policy);
        free(c);
}

/* ---- the directory ---- */

/* Held for a few calls at a time. A process that was stopped while holding it costs a trial, not a run. */
static int lock_dir(int dir)
{
        static const struct timespec pause = { .tv_nsec = LOCK_MS * 1000000 };
        for (unsigned i = 0; i < LOCK_TRIES; i++) {
                if (flock(dir, LOCK_EX | LOCK_NB) == 0)
                        return 0;
                if (errno != EWOULDBLOCK && errno != EINTR)
                        return -1;
                (void) nanosleep(&pause, NULL);
        }

        return -1;
}

static void read_reason(int dir, const char *name, char *ret, size_t cap)
{
        AUTO_FD(fd, openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        ssize_t n = fd < 0 ? -1 : read(fd, ret, cap - 1);
        ret[n > 0 ? n : 0] = '\0';
        if (n <= 0)
                (void) snprintf(ret, cap, "its keeper was killed before it could report");
}

/* Does its keeper live? An irregular file has none. */
static bool is_held(int dir, const char *name)
{
        AUTO_FD(fd, openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

struct tally {
        unsigned all, bad;
        char reason[REASON_MAX]; /* of a bad one */
};

/* -1: it cannot be read to its end. */
static int count_files(const cordon_canary *c, struct tally *t)
{
        int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *x;
        if (!d) {
                fd_close(&fd);
                return -1;
        }

        *t = (struct tally){ 0 };
        while ((errno = 0, x = readdir(d))) {
                if (strncmp(x->d_name, c->digest, DIGEST) != 0)
                        continue;
                t->all++;
                if (strncmp(x->d_name + DIGEST, ".open.", 6) == 0 && is_held(c->dir, x->d_name))
                        continue;
                if (t->bad++ == 0)
                        read_reason(c->dir, x->d_name, t->reason, sizeof t->reason);
        }

        int bad = errno;
        (void) closedir(d);
        return bad ? -1 : 0;
}

static int open_dir(cordon_canary *c, struct err *e)
{
        AUTO_FD(state, store_open(c->cx, e));
        c->dir = state < 0 ? -1 : store_dir(state, "canary", e);
        if (c->dir < 0)
                return -1;
        return lock_dir(c->dir) < 0 ? err_set(e, ERR_IO, errno, "another process holds its record") : 0;
}

/* The file of this run, locked before any other process can see it. */
static int enter_run(cordon_canary *c)
{
        uint64_t id;
        if (getrandom(&id, sizeof id, 0) != sizeof id)
                return -1;
        (void) snprintf(c->name, sizeof c->name, "%s.open.%016llx", c->digest, (unsigned long long) id);
        c->mine = openat(c->dir, c->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        return c->mine >= 0 && flock(c->mine, LOCK_EX | LOCK_NB) == 0 ? 0 : -1;
}

/* ---- before the run ---- */

static bool is_its_turn(unsigned share)
{
        uint32_t dice;
        if (share >= 100)
                return true;
        return getrandom(&dice, sizeof dice, 0) == sizeof dice &&
               dice < share * (UINT32_MAX / 100); /* no number: the usual policy */
}

static int pick_locked(cordon_canary *c)
{
        struct tally t;
        if (count_files(c, &t) < 0)
                return says(c, "%s is not tried: its record cannot be read", c->file);

        if (t.bad >= c->bound)
                return says(c, "%s is not used any more until it changes: %s", c->file, t.reason);

        if (t.all >= c->bound)
                return 0; /* others are trying it, and how that ends is not known yet */

        if (enter_run(c) < 0)
                return says(c, "%s is not tried: its record cannot be written: %s", c->file, strerror(errno));

        return 1;
}

/* Whichever is picked now, the next run may obey the other. */
static void share_rules(cordon_canary *c)
{
        api_rules_come_from(c->usual, c->file);
        for (unsigned i = 0; i < c->usual->rule_count; i++)
                api_rules_come_from(c->policy, c->usual->rules[i]);

        api_policy_changed(c->usual);
        api_policy_changed(c->policy);
}

int cordon_canary_pick(cordon_canary *c, cordon_policy *usual, unsigned share, unsigned bound)
{
        cordon_error e = { 0 };
        c->usual = usual;
        share_rules(c);
        c->bound = bound;
        c->says[0] = '\0';
        if (cordon_policy_check(c->policy, &e) < 0)
                return says(c, "%s is not tried: %s", c->file, e.what);

        if (cordon_policy_check(usual, &e) < 0 || !is_its_turn(share))
                return 0; /* a usual policy that is not valid is reported by the run itself */

        if (open_dir(c, to_err(&e)) < 0)
                return says(c, "%s is not tried: %s", c->file, e.what);

        int chosen = pick_locked(c);
        (void) flock(c->dir, LOCK_UN);
        return chosen;
}

int cordon_canary_withdrawn(cordon_canary *c, unsigned bound)
{
        struct tally t = { 0 };
        struct err ignored;
        c->says[0] = '\0';
        if (open_dir(c, &ignored) < 0)
                return 0;

        bool over = count_files(c, &t) == 0 && t.bad >= bound;
        (void) flock(c->dir, LOCK_UN);
        fd_close(&c->dir);
        if (over)
                (void) says(c, "%s", t.reason);
        return over;
}

/* ---- after it ---- */

static bool usual_permits(const cordon_canary *c, const struct effect_row *d)
{
        char text[700];
        struct policy_context context = api_context(c->usual);
        struct effect f;
        struct err ignored;
        bool net = strcmp(d->layer, "egress") == 0;
        const char *to = d->effect.target;
        if (effect_kind_has_path(d->effect.kind))
                return policy_decide(c->usual->checked, &d->effect).answer == ANSWER_ALLOW;

        if (!net) /* without any `net` door a box gets no socket, so its destinations are not reported */
                return d->effect.kind == EFFECT_NET && policy_door_of(c->usual->checked, DOOR_NET, NULL);

        if (effect_is_name(&d->effect))
                return policy_names_host(c->usual->checked, to, context.now);

        const char *method = d->effect.method;
        (void) snprintf(text, sizeof text, "net %s%s%s", method ? method : "", method ? " " : "", to);
        if (policy_effect_parse(text, &context, &f, &ignored) < 0)
                return false;

        bool allowed = policy_decide(c->usual->checked, &f).answer == ANSWER_ALLOW ||
                       (d->permit[0] && policy_covers_line(c->usual->checked, d->permit, &context)) ||
                       (f.net->form == NET_HOST_PORT && !f.net->is_address &&
                        policy_names_host(c->usual->checked, f.net->host, context.now));
        policy_effect_done(&f);
        return allowed;
}

static bool hit_lower_limit(const cordon_canary *c, uint32_t hit, char *reason)
{
        const struct policy_limits *usual = policy_limits(c->usual->checked);
        const struct policy_limits *ours = policy_limits(c->policy->checked);
        for (unsigned k = 0; k < LIMIT_KEY__COUNT; k++)
                if (hit & (1u << k) && usual->value[k] > ours->value[k]) {
                        (void) snprintf(reason, REASON_MAX,
                                        "it reached the limit `%s`, which the usual policy has higher",
                                        policy_limit_name(k));
                        return true;
                }

        return false;
}

/* Pure, but for the words. False: nothing speaks against it. */
static bool went_badly(const cordon_canary *c, cordon_box *b, char *reason)
{
        const struct box_result *r = b->box ? box_result(b->box) : NULL;
        const cordon_result *out = cordon_box_result(b);
        int status = cordon_result_status(out);
        (void) snprintf(reason, REASON_MAX, "a run with it could not be started");
        if (!r)
                return true;

        for (unsigned i = 0; i < r->denial_count; i++)
                if (usual_permits(c, &r->denials[i])) {
                        (void) snprintf(reason, REASON_MAX,
                                        "it refused %.300s, which the usual policy permits",
                                        r->denials[i].what);
                        return true;
                }

        if (hit_lower_limit(c, r->limits_hit, reason))
                return true;

        (void) snprintf(reason, REASON_MAX, "more was refused than was kept to be looked at");
        if (out->denials_lost)
                return true;

        (void) snprintf(reason, REASON_MAX, "a run with it ended with status %d", status);
        return out->end != CORDON_EXITED || status != 0;
}

/* The record of a bound that was reached. The directory holds the decision; this only reports it. */
static void tell_ledger(const cordon_canary *c, const cordon_box *b, const char *reason)
{
        char parent[LEDGER_ID_MAX];
        struct err ignored;
        struct ledger *l = b->c.ledger == BOX_LEDGER_OFF ? NULL : api_log_as(c->cx, "canary", &ignored);
        if (!l)
                return;

        struct ledger_record r = ledger_record_of(LEDGER_LIMIT, LEDGER_DENIED);
        r.door = "canary";
        r.target = c->file;
        r.result = reason;
        r.digest = c->digest;
        if (b->box && snprintf(parent, sizeof parent, "%s.end", box_run_id(b->box)) < (int) sizeof parent)
                r.parents[r.parent_count++] = parent;

        (void) ledger_append(l, &r, false, NULL, &ignored);
        (void) ledger_flush(l, 50, &ignored);
        ledger_close(l);
}

/* Written first, then renamed: a file named `bad` has its reason. A failure on the way leaves it `open` and
 * unlocked, which is as bad. */
static void write_bad(cordon_canary *c, const char *reason)
{
        char name[NAME_BYTES];
        (void) snprintf(name, sizeof name, "%s.bad.%s", c->digest, c->name + DIGEST + 6);
        if (fd_write_all(c->mine, reason, strlen(reason)) == 0)
                (void) fsync(c->mine);
        (void) renameat(c->dir, c->name, c->dir, name);
        (void) fsync(c->dir);
}

int cordon_canary_end(cordon_canary *c, cordon_box *b)
{
        char reason[REASON_MAX];
        struct tally t = { 0 };
        if (c->mine < 0)
                return 0;

        c->says[0] = '\0';
        if (!went_badly(c, b, reason)) {
                (void) unlinkat(c->dir, c->name, 0);
                fd_close(&c->mine);
                return 0;
        }

        write_bad(c, reason);
        fd_close(&c->mine);
        bool over = count_files(c, &t) < 0 || t.bad >= c->bound;
        if (over)
                tell_ledger(c, b, reason);

        (void) says(c, "%s %s: %s", c->file,
                    over ? "is not used any more until it changes" : "went badly once", reason);
        return 1;
}

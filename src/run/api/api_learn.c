/* SPDX-License-Identifier: MIT */
/* run/api/api_learn.c - cordon_learn(cx), cordon_tighten(cx): real boxes around the pure learner. No file of
 * the host is changed: `write` doors are held back as `edit` doors, and the overlays are discarded after each
 * run. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/str.h"
#include "policy/learn/learn.h"
#include "run/api/teacher.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RUNS = 3, SECONDS = 60 };

static enum learn_look kind_on_host(void *ctx, const char *path)
{
        struct stat st;
        (void) ctx;
        if (stat(path, &st) < 0)
                return LEARN_NOTHING;

        return S_ISDIR(st.st_mode)    ? LEARN_DIRECTORY
               : S_ISSOCK(st.st_mode) ? LEARN_SOCKET
               : S_ISREG(st.st_mode)  ? LEARN_FILE
                                      : LEARN_DEVICE;
}

/* A path that does not exist belongs to its nearest existing directory. */
static bool real_or_above(void *ctx, const char *path, char ret[LEARN_PATH_MAX])
{
        char part[LEARN_PATH_MAX], found[PATH_MAX];
        const struct teacher *t = ctx;
        if (t && teacher_other_name(t->at.home, path, ret, LEARN_PATH_MAX))
                return true;

        if ((size_t) snprintf(part, sizeof part, "%s", path) >= sizeof part)
                return false;

        while (!realpath(part, found)) {
                char *slash = strrchr(part, '/');
                if (!slash || slash == part)
                        return false;
                *slash = '\0';
        }

        return snprintf(ret, LEARN_PATH_MAX, "%s%s", found, path + strlen(part)) < LEARN_PATH_MAX;
}

static void keep_tail(struct teacher *t, const char *p, size_t n)
{
        if (n > sizeof t->tail) {
                p += n - sizeof t->tail;
                n = sizeof t->tail;
        }

        size_t over = t->tail_len + n > sizeof t->tail ? t->tail_len + n - sizeof t->tail : 0;
        memmove(t->tail, t->tail + over, t->tail_len - over);
        memcpy(t->tail + t->tail_len - over, p, n);
        t->tail_len += n - over;
}

static void note_printed(struct teacher *t, size_t stream, const void *data, size_t len)
{
        sha256_add(&t->printed[stream], data, len);
        learn_printed_add(&t->lines[stream], data, len);
}

static void on_output(void *ctx, int stream, const void *data, size_t len)
{
        struct teacher *t = ctx;
        note_printed(t, stream == 2, data, len);
        if (stream == 2)
                keep_tail(t, data, len);
}

/* ---- denials ---- */

static const struct {
        const char *code;
        enum effect_kind kind;
} kinds[] = {
        { "read", EFFECT_READ }, { "write", EFFECT_WRITE }, { "run", EFFECT_RUN }, { "sock", EFFECT_READ }
};

static bool in_program_directory(const char *path)
{
        static const char *const dirs[] = { "/usr/local/sbin/", "/usr/local/bin/", "/usr/sbin/",
                                            "/usr/bin/",        "/sbin/",          "/bin/" };
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
                size_t n = strlen(dirs[i]);
                if (strncmp(path, dirs[i], n) == 0 && path[n] && !strchr(path + n, '/'))
                        return true;
        }

        return false;
}

/* A shell looks a program up before it starts it: then the lookup was denied. */
static bool is_program(const char *path)
{
        struct stat st;
        return in_program_directory(path) && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
               (st.st_mode & 0111);
}

/* Our own look for the command, before it is the command. */
static bool is_our_search(const cordon_denial *d)
{
        static const char *const dirs[] = { "/usr/local", "/usr/local/sbin", "/usr/local/bin",
                                            "/usr/sbin",  "/usr/bin",        "/sbin",
                                            "/bin" };
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
                if (strcmp(d->program, "cordon-init") == 0 && strcmp(d->path, dirs[i]) == 0)
                        return true;

        return false;
}

/* Paths used below a directory that had to be opened whole. */
static void tell_used(struct learn *l, unsigned run, cordon_box *b, const char *work)
{
        cordon_effect f;
        size_t n = strlen(work);
        for (size_t i = 0; cordon_box_effect(b, i, &f); i++) {
                struct learn_access a = {
                        .kind = EFFECT_READ, .path = f.path, .program = f.program, .on_host = true
                };
                a.listed = kind_on_host(NULL, f.path) == LEARN_DIRECTORY;
                if (strcmp(f.code, "read") == 0 && strncmp(f.path, work, n) == 0 && f.path[n] == '/' &&
                    kind_on_host(NULL, f.path) != LEARN_NOTHING)
                        (void) learn_add(l, &a, run);
        }
}

/* With a net door a box has files of its own for these. */
static bool comes_with_net(const struct teacher *t, const char *path)
{
        return t->net.wanted && t->o->net != CORDON_LEARN_NET_DENY &&
               (strcmp(path, "/etc/hosts") == 0 || strcmp(path, "/etc/resolv.conf") == 0);
}

/* The kernel starts a script before lookups are watched: its interpreter is reported here. */
static void add_interpreter(struct learn *l, const char *script, const char *program, unsigned run)
{
        char name[256];
        if (!api_interpreter(script, name, sizeof name))
                return;

        struct learn_access by = {
                .kind = EFFECT_RUN, .path = name, .program = program, .on_host = access(name, X_OK) == 0
        };
        (void) learn_add(l, &by, run);
}

static void learn_denial(struct teacher *t, struct learn *l, unsigned run, const cordon_denial *d)
{
        enum { ALWAYS_LOOKED_FOR = 2 };
        struct learn_access a = { .kind = EFFECT_CALL,
                                  .path = d->what,
                                  .program = d->program,
                                  .internet = strcmp(d->code, "net") == 0 };
        if (d->minor == ALWAYS_LOOKED_FOR || is_our_search(d) || strcmp(d->layer, "egress") == 0 ||
            teacher_net_socket(t, d) || comes_with_net(t, d->path))
                return; /* teacher_net_tell() reports the broker's denials, in more words */

        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
                if (strcmp(d->code, kinds[i].code) == 0)
                        a = (struct learn_access){ .kind = kinds[i].kind,
                                                   .path = d->path,
                                                   .program = d->program,
                                                   .on_host = d->on_host == 1 };

        if (a.kind == EFFECT_READ && is_program(a.path))
                a.kind = EFFECT_RUN;

        (void) learn_add(l, &a, run);
        if (a.kind == EFFECT_RUN)
                add_interpreter(l, a.path, a.program, run);
}

/* ---- one run ---- */

static int load_draft(cordon_policy *p, const struct teacher *t, const char *text, cordon_error *e)
{
        char limit[32];
        p->hold_writes = true; /* each run starts from the same files */
        (void) snprintf(limit, sizeof limit, "time %us", t->o->seconds ? t->o->seconds : SECONDS);
        return cordon_policy_roots(p, t->at.work, t->at.home, e) < 0 ||
                               cordon_policy_add_text(p, t->o->name ? t->o->name : "draft", text,
                                                      strlen(text), e) < 0 ||
                               cordon_policy_add(p, "limit", limit, e) < 0
                       ? -1
                       : cordon_policy_check(p, e);
}

/* In a box /tmp is its own: lookups of the host's files there are seen only if every open is. */
static bool names_private_place(const char *const *argv)
{
        for (; *argv; argv++)
                if (strstr(*argv, "/tmp/") || strstr(*argv, "/dev/shm/"))
                        return true;
        return false;
}

static void configure_box(cordon_box *b, struct teacher *t)
{
        bool all = t->blind || names_private_place(t->o->argv);
        (void) cordon_box_set(b, CORDON_OBSERVE, all ? "all" : "denials");
        (void) cordon_box_set(b, CORDON_CWD_MADE, "1");
        (void) cordon_box_set(b, CORDON_SINGLE_THREAD, "1");
        teacher_net_configure(t, b);
        b->c.trial = true;
        b->dummies = &t->dummies;
        cordon_box_on_output(b, on_output, t);
        if (t->o->input >= 0 && lseek(t->o->input, 0, SEEK_SET) == 0)
                cordon_box_stdio(b, 0, t->o->input);
}

static void not_started(struct learn_outcome *ret, const cordon_error *e)
{
        (void) snprintf(ret->why, sizeof ret->why, "%s%s%s", e->what, e->hint[0] ? "; " : "", e->hint);
}

static void note_change(void *ctx, const void *data, size_t len) { note_printed(ctx, 0, data, len); }

/* Its changes behind edit doors count as its output does, and are then discarded. */
static void take_layer(struct teacher *t, const cordon_result *r)
{
        char dropped[64];
        size_t entries;
        cordon_error none;
        if (!r->work[0])
                return;

        const cordon_work_diff_options all = {
                .run = r->work, .verbose = 1, .out = note_change, .out_ctx = t
        };

        (void) cordon_work_diff(t->cx, &all, &entries, &none);
        (void) cordon_work_discard(t->cx, r->work, 0, NULL, NULL, dropped, &none);
}

static void tell_interpreter(const struct teacher *t, struct learn *l, unsigned run, const cordon_error *why)
{
        char found[PATH_MAX];
        const char *script = t->o->argv[0];
        if (why->code != ERR_EXEC || why->sys != ENOENT)
                return;

        bool on_path = !strchr(script, '/') && api_find_program(script, found, sizeof found);
        add_interpreter(l, on_path ? found : script, "", run);
}

/* If misses are not reported, only the files that the command line names are known. */
static void tell_named(const struct teacher *t, struct learn *l, unsigned run)
{
        char path[PATH_MAX];

        for (const char *const *word = t->o->argv + 1; t->unwatched && word[-1] && *word; word++) {
                struct learn_access a = { .kind = EFFECT_READ, .path = path, .program = "", .on_host = true };
                if (path_join(t->at.work, *word, path, sizeof path) && kind_on_host(NULL, path) == LEARN_FILE)
                        (void) learn_add(l, &a, run);
        }
}

/* -1: this host holds no box at all, so that another draft would not help. */
static int run_box(cordon_box *b, struct teacher *t, struct learn *l, unsigned run, struct learn_outcome *ret,
                   cordon_error *e)
{
        if (cordon_box_start(b, e) < 0) {
                not_started(ret, e);
                return e->code == ERR_HOST || e->code == ERR_WALL || e->code == ERR_MEMORY ? -1 : 0;
        }

        while (cordon_box_wait(b, -1) == 0)
                ;

        const cordon_result *r = cordon_box_result(b);
        ret->started = r->end != CORDON_FAILED;
        ret->status = cordon_result_status(r);
        if (r->error)
                not_started(ret, r->error);
        else if (r->end == CORDON_LIMIT)
                (void) snprintf(ret->why, sizeof ret->why, "the limit `%s` ended it", r->limit);

        take_layer(t, r);
        for (size_t i = 0; i < 2; i++) {
                sha256_end(&t->printed[i], ret->digest[i]);
                learn_printed_end(&t->lines[i]);
                ret->printed[i] = t->lines[i];
        }

        bool had_net = t->net.wanted;
        for (size_t i = 0; l && i < r->denial_count; i++)
                (void) teacher_net_socket(t, &r->denials[i]);

        if (t->net.wanted && !had_net)
                l = NULL; /* with a network it takes another path: its lookups without one do not count */

        for (size_t i = 0; l && i < r->denial_count; i++)
                learn_denial(t, l, run, &r->denials[i]);

        if (l && r->error)
                tell_interpreter(t, l, run, r->error);

        if (l)
                teacher_net_tell(t, l, run, b);
        else
                teacher_net_note(t, b);

        if (l && t->blind)
                tell_used(l, run, b, t->at.work);

        if (l)
                tell_named(t, l, run);

        ret->again = t->net.again;
        return 0;
}

static void tell_trying(void *ctx, const char *trying)
{
        const struct teacher *t = ctx;
        char shown[160];
        if (t->o->progress)
                t->o->progress(t->o->progress_ctx, str_inert(span_str(trying), shown, sizeof shown),
                               t->begun + 1, 0);
}

static int run_command(void *ctx, const char *policy, struct learn *l, unsigned run,
                       struct learn_outcome *ret, struct err *pe)
{
        struct teacher *t = ctx;
        cordon_error *e = (cordon_error *) (void *) pe;
        t->begun++;
        cordon_policy *p = cordon_policy_new(t->cx);
        cordon_box *b = p ? cordon_box_new(p) : NULL;
        int r = -1;
        AUTO_BUF(text);
        buf_puts(&text, policy);
        if (l)
                teacher_net_doors(t, &text);

        t->net.again = false;
        t->tail_len = 0;
        for (size_t i = 0; i < 2; i++) {
                sha256_init(&t->printed[i]);
                t->lines[i] = (struct learn_printed){ 0 };
        }

        if (!b || text.failed || cordon_box_command(b, t->o->argv) < 0)
                (void) err_set(pe, ERR_MEMORY, 0, "no memory");
        else if (load_draft(p, t, buf_str(&text), e) < 0) {
                not_started(ret, e);
                r = 0;
        } else {
                configure_box(b, t);
                r = run_box(b, t, l, run, ret, e);
        }

        cordon_box_free(b);
        cordon_policy_free(p);
        return r;
}

/* ---- the learner's view of this host ---- */

/* Can this build hold such a door? Asked of the planner, which knows. */
static bool policy_holds(const struct teacher *t, const char *line)
{
        static const char *const argv[] = { "true", NULL };
        cordon_error e = { 0 };
        cordon_policy *p = cordon_policy_new(t->cx);
        cordon_box *b = p ? cordon_box_new(p) : NULL;
        char *plan = NULL;
        if (b && cordon_policy_roots(p, t->at.work, t->at.home, &e) == 0 &&
            cordon_policy_add_text(p, "held", line, strlen(line), &e) == 0 &&
            cordon_box_command(b, argv) == 0)
                plan = cordon_box_plan(b, &e);

        bool ok = plan != NULL;
        cordon_free(plan);
        cordon_box_free(b);
        cordon_policy_free(p);
        return ok;
}

static void name_box(const char *program, char out[40])
{
        const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
        size_t n = 0;
        for (; *name && n < 39; name++)
                if ((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                    (*name >= '0' && *name <= '9') || *name == '-' || *name == '_')
                        out[n++] = *name;

        out[n] = '\0';
        if (n == 0)
                (void) snprintf(out, 40, "box");
}

static void command_line(const char *const *argv, struct buf *out)
{
        char inert[256];
        for (size_t i = 0; argv[i] && out->n < 400; i++)
                buf_printf(out, "%s%s", i ? " " : "", str_inert(span_str(argv[i]), inert, sizeof inert));
}

/* The program that a bare name stands for in a box. */
static const char *find_entry(const char *name, char path[PATH_MAX])
{
        char found[PATH_MAX];
        bool bare = !strchr(name, '/');
        return (!bare || api_find_program(name, found, sizeof found)) && realpath(bare ? found : name, path)
                       ? path
                       : name;
}

static bool in_private_place(const char *work)
{
        return strncmp(work, "/tmp/", 5) == 0 || strncmp(work, "/var/tmp/", 9) == 0 ||
               strncmp(work, "/dev/shm/", 9) == 0;
}

static int place_teacher(struct teacher *t, cordon_policy *p, cordon_error *e)
{
        if (!t->from_log && (!t->o->argv || !t->o->argv[0]))
                return err_set(to_err(e), ERR_USAGE, 0, "no command to run");

        if (cordon_policy_add(p, "use", "none", e) < 0 || cordon_policy_check(p, e) < 0)
                return -1;

        t->at = api_context(p);
        t->unwatched = access("/dev/fuse", R_OK | W_OK) < 0;
        t->blind = t->unwatched || in_private_place(t->at.work);
        t->net.holds = policy_holds(t, "net https://cordon.invalid/ GET\n");
        if (api_dummies_begin(&t->dummies, t->o->with, to_err(e)) < 0)
                return -1;

        return teacher_net_begin(t, e);
}

/* ---- the results ---- */

static char *text_of(struct buf *b)
{
        cordon_error e;
        return api_give(b, to_err(&e));
}

static void say_last(const struct teacher *t, const struct learn_outcome *last, cordon_learned *ret)
{
        AUTO_BUF(out);
        char inert[TEACHER_TAIL + 1];
        size_t n = 0;

        for (size_t i = 0; i < t->tail_len; i++)
                if (t->tail[i] == '\n' || ((unsigned char) t->tail[i] >= 32 && t->tail[i] != 127))
                        inert[n++] = t->tail[i];

        if (last->why[0])
                buf_printf(&out, "%s\n", last->why);
        else
                buf_printf(&out, "it ended with status %d\n", last->status);

        buf_add(&out, inert, n);
        ret->last = text_of(&out);
}

static void fill_result(cordon_learned *ret, const struct learn_result *r, const struct learn_runner *runner)
{
        AUTO_BUF(text);
        AUTO_BUF(closed);
        learn_print(&r->draft, false, &text);
        for (size_t i = 0; i < r->draft.n; i++)
                if (r->draft.v[i].closed)
                        buf_printf(&closed, "%s\n", r->draft.v[i].text);

        ret->passed = r->passed;
        ret->complete = r->complete;
        ret->runs_passed = r->runs_passed;
        ret->boxes = runner->boxes;
        ret->replayed = runner->boxes > 0;
        ret->doors = (unsigned) learn_doors(&r->draft);
        ret->policy = text_of(&text);
        ret->closed = text_of(&closed);
}

void cordon_learned_done(cordon_learned *l)
{
        free(l->policy);
        free(l->closed);
        free(l->refused);
        free(l->refused_json);
        free(l->last);
        *l = (cordon_learned){ 0 };
}

static int finish_result(cordon_learned *ret, cordon_error *e)
{
        if (ret->policy && ret->closed && ret->last && ret->refused && ret->refused_json)
                return 0;
        cordon_learned_done(ret);
        return err_set(to_err(e), ERR_MEMORY, 0, "no memory");
}

static void fill_refused(cordon_learned *ret, const struct learn *l)
{
        AUTO_BUF(text);
        AUTO_BUF(json);
        if (l) {
                learn_refused(l, false, &text);
                learn_refused(l, true, &json);
                ret->refused_net = learn_refused_for(l, REASON_NETWORK);
                ret->refused_dot = learn_refused_for(l, REASON_DOT_PATH);
        } else
                buf_puts(&json, "[]");

        ret->refused = text_of(&text);
        ret->refused_json = text_of(&json);
}

static int learn_with(struct teacher *t, cordon_learned *ret, cordon_error *e)
{
        char name[40], path[PATH_MAX];
        AUTO_BUF(command);
        name_box(t->o->argv[0], name);
        command_line(t->o->argv, &command);
        struct learn_context c = { .work = t->at.work,
                                   .home = t->at.home,
                                   .name = name,
                                   .command = buf_str(&command),
                                   .entry = find_entry(t->o->argv[0], path),
                                   .runs = t->o->runs ? t->o->runs : RUNS,
                                   .now = clock_wall_s(),
                                   .blind = t->blind,
                                   .gpu = t->o->gpu,
                                   .edits = policy_holds(t, "edit {work}\n"),
                                   .nets = t->net.holds && t->o->net != CORDON_LEARN_NET_DENY,
                                   .look = kind_on_host,
                                   .look_ctx = t,
                                   .secrets = teacher_secrets,
                                   .real = real_or_above,
                                   .holds_key = teacher_holds_key,
                                   .agreed = teacher_agreed,
                                   .place = t->net.places ? teacher_net_place : NULL,
                                   .place_ctx = t };
        struct learn_runner r = {
                .run = run_command, .tell = tell_trying, .ctx = t, .want = t->o->status, .budget = t->o->boxes
        };
        struct learn_result result = { 0 };
        struct learn *l = learn_new(&c);
        if (!l)
                return err_set(to_err(e), ERR_MEMORY, 0, "no memory");

        int bad = learn_widen(l, &r, &result, to_err(e));
        if (bad == 0) {
                ret->runs = c.runs;
                ret->unobserved = t->unwatched;
                fill_result(ret, &result, &r);
                ret->doors_before = ret->doors;
                for (size_t i = 0; i < result.draft.n; i++)
                        ret->doors_before += result.draft.v[i].closed;
                fill_refused(ret, l);
                say_last(t, &result.last, ret);
        }

        learn_draft_done(&result.draft);
        learn_free(l);
        return bad < 0 ? -1 : finish_result(ret, e);
}

/* Takes the draft of `result`. */
static int conclude_learning(struct teacher *t, int bad, struct learn_result *result,
                             const struct learn_runner *r, cordon_learned *ret, cordon_error *e)
{
        if (bad == 0) {
                fill_result(ret, result, r);
                fill_refused(ret, NULL);
                say_last(t, &result->last, ret);
        }

        learn_draft_done(&result->draft);
        return bad < 0 ? -1 : finish_result(ret, e);
}

static int tighten_with(struct teacher *t, cordon_learned *ret, cordon_error *e)
{
        struct learn_runner r = { .run = run_command,
                                  .tell = tell_trying,
                                  .spare = teacher_net_spare,
                                  .ctx = t,
                                  .want = t->o->status,
                                  .budget = t->o->boxes };
        struct learn_result result = { 0 };
        if (learn_split(span_of(t->o->policy, t->o->policy_len), &result.draft, to_err(e)) < 0) {
                learn_draft_done(&result.draft);
                return -1;
        }

        ret->doors_before = (unsigned) learn_doors(&result.draft);
        ret->runs = t->o->runs ? t->o->runs : RUNS;
        int bad = learn_tighten(&result.draft, &r, ret->runs, &result, to_err(e));
        for (size_t i = 0; i < result.draft.n; i++)
                result.complete &= !result.draft.v[i].keep;
        return conclude_learning(t, bad, &result, &r, ret, e);
}

static int tighten_by_log(struct teacher *t, cordon_learned *ret, cordon_error *e)
{
        struct learn_runner r = {
                .run = run_command, .tell = tell_trying, .ctx = t, .want = t->o->status, .budget = t->o->boxes
        };
        struct learn_result result = { .passed = true, .complete = true };
        ret->runs = t->o->runs ? t->o->runs : RUNS;
        bool replay = t->o->argv && t->o->argv[0];
        int bad = learn_split(span_of(t->o->policy, t->o->policy_len), &result.draft, to_err(e));
        ret->doors_before = bad < 0 ? 0 : (unsigned) learn_doors(&result.draft);
        if (bad == 0)
                bad = teacher_close_unused(t, &result.draft, ret, e);

        if (bad == 0 && replay)
                bad = learn_replay(&result.draft, &r, ret->runs, &result, to_err(e));

        return conclude_learning(t, bad, &result, &r, ret, e);
}

static int teach_policy(const struct cordon_context *cx, const cordon_learning *o, cordon_learned *ret,
                        cordon_error *e, int (*with)(struct teacher *, cordon_learned *, cordon_error *))
{
        struct teacher t = { .cx = cx, .o = o, .from_log = with == tighten_by_log };
        cordon_policy *p = cordon_policy_new(cx);
        *ret = (cordon_learned){ 0 };
        int r = p ? place_teacher(&t, p, e) : err_set(to_err(e), ERR_MEMORY, 0, "no memory");
        if (r == 0)
                r = with(&t, ret, e);

        teacher_net_done(&t);
        cordon_policy_free(p);
        return r;
}

int cordon_learn(const cordon_context *cx, const cordon_learning *o, cordon_learned *ret, cordon_error *e)
{
        return teach_policy(cx, o, ret, e, learn_with);
}

int cordon_tighten(const cordon_context *cx, const cordon_learning *o, cordon_learned *ret, cordon_error *e)
{
        return teach_policy(cx, o, ret, e, tighten_with);
}

int cordon_tighten_log(const cordon_context *cx, const cordon_learning *o, cordon_learned *ret,
                       cordon_error *e)
{
        return teach_policy(cx, o, ret, e, tighten_by_log);
}

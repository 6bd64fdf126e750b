/* SPDX-License-Identifier: MIT */
/* tests/unit/test_learn.c - learning on tables: the host is a list of paths, the command a list of needs, and
 * what runs it asks the real evaluator. tests/cli/t1005-learn.sh does the same with real programs. */
#include "policy/learn/learn.h"
#include "test_policy_common.h"

/* ---- a host, and a program ---- */

static const char *const directories[] = {
        "/",          "/w",         "/w/proj",      "/w/proj/data", "/w/proj/build",
        "/home",      "/home/u",    "/home/u/.aws", "/home/u/.ssh", "/etc",
        "/etc/app.d", "/home/u/db", "/srv/share"
};
static const char *const extra_files[] = { "/w/proj/.env" };
static bool has_dot_env;

static enum learn_look look(void *ctx, const char *path)
{
        (void) ctx;
        for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
                if (strcmp(directories[i], path) == 0)
                        return LEARN_DIRECTORY;
        for (size_t i = 0; has_dot_env && i < sizeof extra_files / sizeof *extra_files; i++)
                if (strcmp(extra_files[i], path) == 0)
                        return LEARN_FILE;
        return LEARN_NOTHING;
}

static struct learn_context context(unsigned runs)
{
        return (struct learn_context){ .work = "/w/proj",
                                       .home = "/home/u",
                                       .name = "job",
                                       .command = "job in.csv",
                                       .entry = "/usr/bin/job",
                                       .runs = runs,
                                       .now = 1790000000,
                                       .edits = true,
                                       .look = look };
}

enum { OPTIONAL = 1, ABSENT = 2, SOMETIMES = 4 };
struct need {
        const char *effect; /* "read /w/proj/in.csv" */
        unsigned flags;     /* OPTIONAL: goes on without; ABSENT: not on the host; SOMETIMES: in run 0 only */
};
struct world {
        const struct need *needs;
        size_t n;
        const char *last_policy_error;
        unsigned boxes;
};

static enum effect_kind kind_of(const char *effect)
{
        return strncmp(effect, "read ", 5) == 0    ? EFFECT_READ
               : strncmp(effect, "write ", 6) == 0 ? EFFECT_WRITE
               : strncmp(effect, "run ", 4) == 0   ? EFFECT_RUN
               : strncmp(effect, "net ", 4) == 0   ? EFFECT_NET
                                                   : EFFECT_CALL;
}

static void tell(struct learn *l, const struct need *n, unsigned run)
{
        struct learn_access a = { .kind = kind_of(n->effect),
                                  .path = strchr(n->effect, ' ') + 1,
                                  .program = "job",
                                  .agreed = true,
                                  .on_host = !(n->flags & ABSENT) && kind_of(n->effect) != EFFECT_CALL };
        char method[16] = "";
        if (a.kind == EFFECT_NET && sscanf(a.path, "%15s", method) == 1) {
                a.method = method;
                a.path = strchr(a.path, ' ') + 1;
        }
        if (l)
                (void) learn_add(l, &a, run);
}

/* Asks the real evaluator for each need in turn; the first that is refused and not optional ends it. */
static int fake_run(void *ctx, const char *policy, struct learn *l, unsigned run, struct learn_outcome *ret,
                    struct err *e)
{
        struct world *w = ctx;
        struct err why;
        w->boxes++;
        struct checked_policy *c = load_in("draft", span_str(policy), &fixed_context, &why);
        (void) e;
        if (!c) {
                (void) snprintf(ret->why, sizeof ret->why, "%s", why.what);
                printf("# draft does not load: %s\n# %s\n", why.what, policy);
                return 0;
        }
        ret->started = true;
        for (size_t i = 0; i < w->n && ret->status == 0; i++) {
                const struct need *n = &w->needs[i];
                struct effect f;
                if ((n->flags & SOMETIMES) && run != 0)
                        continue;
                bool call = kind_of(n->effect) == EFFECT_CALL;
                if (!call && policy_effect_parse(n->effect, &fixed_context, &f, &why) < 0) {
                        printf("# %s\n", why.what);
                        test_failures++;
                        continue;
                }
                bool ok = !call && policy_decide(c, &f).answer == ANSWER_ALLOW;
                if (!call)
                        policy_effect_done(&f);
                if (ok && !(n->flags & ABSENT)) {
                        ret->digest[0][i % 32] ^= n->flags & OPTIONAL ? 0 : 1;
                        continue;
                }
                tell(l, n, run);
                if (!(n->flags & OPTIONAL))
                        ret->status = 1;
        }
        policy_checked_free(c);
        return 0;
}

struct told {
        struct buf text;
        struct learn_result r;
        unsigned boxes;
        struct buf refused;
};

static struct told teach(const struct need *needs, size_t n, struct learn_context c)
{
        struct world w = { needs, n, NULL, 0 };
        struct learn_runner r = { .run = fake_run, .ctx = &w };
        struct learn *l = learn_new(&c);
        struct err e = { 0 };
        struct told t = { 0 };
        CHECK_INT(learn_widen(l, &r, &t.r, &e), 0);
        learn_print(&t.r.draft, false, &t.text);
        learn_refused(l, false, &t.refused);
        t.boxes = r.boxes;
        learn_free(l);
        return t;
}

static void told_done(struct told *t)
{
        learn_draft_done(&t->r.draft);
        buf_done(&t->text);
        buf_done(&t->refused);
}

static bool has_line(const struct told *t, const char *line)
{
        size_t n = strlen(line);
        for (const char *p = buf_str(&t->text); p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
                if (strncmp(p, line, n) == 0 && (p[n] == '\n' || p[n] == ' '))
                        return true;
        return false;
}

#define CHECK_LINE(t, line)                                                                                  \
        do {                                                                                                 \
                if (!has_line(&(t), line))                                                                   \
                        printf("# no line %s in:\n# %s\n", line, buf_str(&(t).text));                        \
                CHECK(has_line(&(t), line));                                                                 \
        } while (0)
#define COUNTOF(a) (sizeof(a) / sizeof *(a))

/* ---- learning ---- */

static void test_learn__finds_the_files_one_after_the_other(void)
{
        static const struct need needs[] = { { "read /w/proj/in.csv", 0 },
                                             { "read /etc/app.d/conf", 0 },
                                             { "run /usr/bin/sort", 0 },
                                             { "read /w/proj/data/x", 0 },
                                             { "read /etc/absent", OPTIONAL | ABSENT } };
        struct told t = teach(needs, COUNTOF(needs), context(3));
        CHECK(t.r.passed);
        CHECK_INT(t.r.runs_passed, 3);
        CHECK_LINE(t, "read {work}/in.csv");
        CHECK_LINE(t, "read /etc/app.d/conf");
        CHECK_LINE(t, "run sort");
        CHECK_LINE(t, "read {work}/data/x");
        CHECK(!strstr(buf_str(&t.text), "absent"));
        CHECK(strstr(buf_str(&t.text), "# seen 3/3"));
        CHECK_INT(learn_doors(&t.r.draft), 4);
        told_done(&t);
}

static void test_learn__what_is_not_needed_is_not_proposed(void)
{
        static const struct need needs[] = { { "read /etc/app.d/global", OPTIONAL },
                                             { "read /w/proj/in.csv", 0 },
                                             { "read /home/u/.config/app", OPTIONAL },
                                             { "run /usr/bin/less", OPTIONAL } };
        struct told t = teach(needs, COUNTOF(needs), context(1));
        CHECK(t.r.passed);
        CHECK_INT(learn_doors(&t.r.draft), 1);
        CHECK_LINE(t, "read {work}/in.csv");
        told_done(&t);
}

static void test_learn__three_files_are_a_directory(void)
{
        static const struct need needs[] = { { "read /w/proj/data/a", 0 },
                                             { "read /w/proj/data/b", 0 },
                                             { "read /w/proj/data/c", 0 },
                                             { "read /w/proj/data/d", 0 } };
        struct told t = teach(needs, COUNTOF(needs), context(1));
        CHECK_LINE(t, "read {work}/data");
        CHECK_INT(learn_doors(&t.r.draft), 1);
        told_done(&t);
}

static void test_learn__a_listed_directory_is_one_door(void)
{
        static const struct need needs[] = { { "read /w/proj/data", 0 }, { "read /w/proj/data/a", 0 } };
        struct told t = teach(needs, COUNTOF(needs), context(1));
        CHECK_LINE(t, "read {work}/data");
        CHECK_INT(learn_doors(&t.r.draft), 1);
        told_done(&t);
}

static void test_learn__a_directory_on_the_way_is_not_opened(void)
{
        static const struct need needs[] = { { "read /w/proj/data", OPTIONAL },
                                             { "read /w/proj/data/a", 0 } };
        struct told t = teach(needs, COUNTOF(needs), context(1));
        CHECK(t.r.passed);
        CHECK_LINE(t, "read {work}/data/a");
        CHECK_INT(learn_doors(&t.r.draft), 1);
        told_done(&t);
}

static void test_learn__never_the_whole_home_or_etc(void)
{
        static const struct need needs[] = { { "read /home/u/a", 0 }, { "read /home/u/b", 0 },
                                             { "read /home/u/c", 0 }, { "read /etc/a", 0 },
                                             { "read /etc/b", 0 },    { "read /etc/c", 0 } };
        struct told t = teach(needs, COUNTOF(needs), context(1));
        CHECK(t.r.passed);
        CHECK_INT(learn_doors(&t.r.draft), 6);
        CHECK(!has_line(&t, "read {home}"));
        CHECK(!has_line(&t, "read /etc"));
        told_done(&t);
}

static void test_learn__groups_stand_for_libraries(void)
{
        static const struct need needs[] = { { "run /usr/bin/python3.11", 0 },
                                             { "read /usr/lib/python3.11/os.py", 0 },
                                             { "read /usr/share/perl/5.36/strict.pm", 0 },
                                             { "read /w/proj/in.csv", 0 } };
        struct told t = teach(needs, COUNTOF(needs), context(1));
        CHECK(t.r.passed);
        CHECK_LINE(t, "use base/python3");
        CHECK_LINE(t, "read /usr/share/perl");
        CHECK_INT(learn_doors(&t.r.draft), 3);
        told_done(&t);
}

static void test_learn__the_command_itself_brings_its_group(void)
{
        struct learn_context c = context(1);
        static const struct need needs[] = { { "read /usr/lib/git-core/git-clone", 0 } };
        c.entry = "/usr/bin/git";
        struct told t = teach(needs, COUNTOF(needs), c);
        CHECK_LINE(t, "use base/git");
        CHECK_INT(t.r.rounds, 1); /* no round was lost on it */
        told_done(&t);
}

static void test_learn__a_compiler_is_base_build(void)
{
        static const struct need needs[] = { { "run /usr/bin/x86_64-linux-gnu-gcc-12", 0 },
                                             { "run /usr/libexec/gcc/x86_64-linux-gnu/12/cc1", 0 },
                                             { "run /usr/bin/sort", 0 },
                                             { "read /usr/include/stdio.h", 0 },
                                             { "read /w/proj/a.c", 0 },
                                             { "write /w/proj/build/a.o", 0 } };
        struct told t = teach(needs, COUNTOF(needs), context(1));
        CHECK(t.r.passed);
        CHECK_LINE(t, "use base/build");
        CHECK_LINE(t, "edit {work}/build");
        CHECK_LINE(t, "read {work}/a.c");
        CHECK_INT(learn_doors(&t.r.draft), 3);
        told_done(&t);
}

static void test_learn__writes_become_edit_of_their_directory(void)
{
        static const struct need needs[] = { { "write /w/proj/build/new", 0 },
                                             { "read /w/proj/build/old", 0 },
                                             { "write /w/proj/build/sub/deep", 0 } };
        struct told t = teach(needs, COUNTOF(needs), context(1));
        CHECK_LINE(t, "edit {work}/build");
        CHECK_INT(learn_doors(&t.r.draft), 1);
        told_done(&t);
}

static void test_learn__a_door_seen_once_closes_by_itself(void)
{
        static const struct need needs[] = { { "read /w/proj/in.csv", 0 },
                                             { "read /w/proj/data/x", SOMETIMES } };
        struct told t = teach(needs, COUNTOF(needs), context(3));
        CHECK(t.r.passed);
        CHECK_LINE(t, "read {work}/in.csv");
        CHECK_LINE(t, "read {work}/data/x until 2026-09-28");
        CHECK(strstr(buf_str(&t.text), "# seen 1/3"));
        told_done(&t);
}

static void test_learn__a_command_that_never_passes_is_not_offered(void)
{
        static const struct need needs[] = { { "read /home/u/.ssh/id_rsa", 0 } };
        struct told t = teach(needs, COUNTOF(needs), context(2));
        CHECK(!t.r.passed);
        CHECK_INT(t.r.runs_passed, 0);
        CHECK(strstr(buf_str(&t.refused), "keys: read /home/u/.ssh/id_rsa, by job"));
        told_done(&t);
}

static void test_learn__an_odd_name_is_quoted(void)
{
        static const struct need needs[] = { { "read \"/w/proj/my data\"", 0 } };
        struct learn_context c = context(1);
        struct learn *l = learn_new(&c);
        struct learn_access a = {
                .kind = EFFECT_READ, .path = "/w/proj/my data", .program = "x", .on_host = true
        };
        CHECK(learn_add(l, &a, 0));
        CHECK(!learn_add(l, &a, 0));
        CHECK(learn_add(l, &a, 1));
        struct learn_draft d = { 0 };
        struct buf out = { 0 };
        learn_draft(l, 1, &d);
        learn_print(&d, true, &out);
        CHECK(strstr(buf_str(&out), "read \"{work}/my data\"\n"));
        struct err e;
        struct checked_policy *p = load_in("d", span_str(buf_str(&out)), &fixed_context, &e);
        CHECK(p && ask(p, needs[0].effect).answer == ANSWER_ALLOW);
        policy_checked_free(p);
        buf_done(&out);
        learn_draft_done(&d);
        learn_free(l);
}

static void test_learn__a_name_cannot_become_a_line(void)
{
        static const char *const names[] = { "/w/proj/a\nread /etc",
                                             "/w/proj/a\"\nread /\n\"",
                                             "/w/proj/\x7f",
                                             "/w/proj/\xff\xfe",
                                             "/w/proj/.ssh/a\nrun any",
                                             "/w/proj/q\"uo\\te",
                                             "/w/proj/#x",
                                             "/w/proj/a?",
                                             "/w/proj/*" };
        struct learn_context c = context(1);
        struct learn *l = learn_new(&c);
        for (size_t i = 0; i < COUNTOF(names); i++) {
                struct learn_access a = { .kind = i == 2 ? EFFECT_RUN : EFFECT_READ,
                                          .path = names[i],
                                          .program = "x",
                                          .on_host = true };
                (void) learn_add(l, &a, 0);
        }
        struct learn_draft d = { 0 };
        struct buf out = { 0 };
        learn_draft(l, 1, &d);
        learn_print(&d, false, &out);
        struct err e;
        struct checked_policy *p = load_in("d", span_str(buf_str(&out)), &fixed_context, &e);
        if (!p)
                printf("# %s\n# %s\n", e.what, buf_str(&out));
        CHECK(p && ask(p, "read /etc/x").answer == ANSWER_DENY && ask(p, "run sh").answer == ANSWER_DENY);
        policy_checked_free(p);
        buf_done(&out);
        learn_draft_done(&d);
        learn_free(l);
}

static void test_learn__requests_fold_to_host_and_first_segment(void)
{
        struct learn_context c = context(1);
        c.nets = true;
        static const struct need needs[] = { { "net GET https://api.example/v1/users/7", 0 },
                                             { "net POST https://api.example/v1/users", 0 },
                                             { "net GET https://api.example/health", 0 },
                                             { "net GET http://169.254.169.254/latest", OPTIONAL } };
        struct learn *l = learn_new(&c);
        for (size_t i = 0; i < COUNTOF(needs); i++)
                tell(l, &needs[i], 0);
        struct learn_draft d = { 0 };
        struct told t = { 0 };
        learn_draft(l, 1, &d);
        learn_print(&d, true, &t.text);
        CHECK_LINE(t, "net https://api.example/v1/** GET POST");
        CHECK_LINE(t, "net https://api.example/health GET");
        CHECK_LINE(t, "expect deny net GET http://169.254.169.254/latest");
        CHECK(!strstr(buf_str(&t.text), "\nnet http://169.254"));
        learn_refused(l, false, &t.refused);
        CHECK(strstr(buf_str(&t.refused), "metadata: net GET http://169.254.169.254/latest"));
        told_done(&t);
        learn_draft_done(&d);
        learn_free(l);
}

/* ---- hostile samples: what they want is never proposed, and stands as a test of the policy ---- */

static void test_learn__hostile_samples_open_nothing(void)
{
        static const struct {
                const char *what;
                struct need needs[5];
        } samples[] = {
                { "ssh keys",
                  { { "read /home/u/.ssh/id_rsa", OPTIONAL }, { "read /home/u/.ssh", OPTIONAL } } },
                { "cloud keys",
                  { { "read /home/u/.aws/credentials", OPTIONAL }, { "read /root/.aws/config", OPTIONAL } } },
                { "shadow", { { "read /etc/shadow", OPTIONAL }, { "read /etc/sudoers", OPTIONAL } } },
                { "docker",
                  { { "write /var/run/docker.sock", OPTIONAL }, { "read /run/docker.sock", OPTIONAL } } },
                { "agent",
                  { { "read /run/user/1000/keyring/ssh", OPTIONAL },
                    { "write /run/user/1000/bus", OPTIONAL } } },
                { "cron", { { "write /etc/cron.d/x", OPTIONAL }, { "write /usr/bin/ls", OPTIONAL } } },
                { "kernel",
                  { { "read /proc/kcore", OPTIONAL },
                    { "write /sys/kernel/x", OPTIONAL },
                    { "call ptrace()", OPTIONAL } } },
                { "modules",
                  { { "call init_module()", OPTIONAL }, { "read /lib/modules/6.1/x.ko", OPTIONAL } } },
                { "history",
                  { { "read /home/u/.bash_history", OPTIONAL },
                    { "read /home/u/.mozilla/firefox/p", OPTIONAL } } },
                { "tokens",
                  { { "read /w/proj/.env", OPTIONAL },
                    { "read /home/u/.npmrc", OPTIONAL },
                    { "read /home/u/.netrc", OPTIONAL } } },
                { "mount",
                  { { "call mount()", OPTIONAL },
                    { "call bpf()", OPTIONAL },
                    { "write /boot/x", OPTIONAL } } },
        };
        for (size_t i = 0; i < COUNTOF(samples); i++) {
                struct need needs[8] = { { "read /w/proj/in.csv", 0 } };
                size_t n = 1;
                for (size_t k = 0; k < 5 && samples[i].needs[k].effect; k++)
                        needs[n++] = samples[i].needs[k];
                struct told t = teach(needs, n, context(2));
                if (!t.r.passed || learn_doors(&t.r.draft) != 1)
                        printf("# %s: %s\n", samples[i].what, buf_str(&t.text));
                CHECK(t.r.passed);
                CHECK_INT(learn_doors(&t.r.draft), 1);
                CHECK(t.refused.n > 0);
                told_done(&t);
        }
}

static void test_learn__what_was_refused_becomes_a_test(void)
{
        static const struct need needs[] = { { "read /home/u/.aws/credentials", OPTIONAL },
                                             { "read /w/proj/in.csv", 0 } };
        struct told t = teach(needs, COUNTOF(needs), context(1));
        CHECK_LINE(t, "expect deny read {home}/.aws/credentials");
        CHECK(strstr(buf_str(&t.text), "tried by job: tokens"));
        told_done(&t);
}

static void test_learn__a_directory_does_not_show_its_tokens(void)
{
        static const struct need needs[] = { { "read /w/proj/.env", OPTIONAL }, { "read /w/proj", 0 } };
        struct told t = teach(needs, COUNTOF(needs), context(1));
        CHECK(t.r.passed);
        CHECK_LINE(t, "read {work} except .env");
        CHECK_LINE(t, "expect deny read {work}/.env");
        told_done(&t);
        has_dot_env = true; /* and not when nobody asked for them */
        t = teach(needs + 1, 1, context(1));
        has_dot_env = false;
        CHECK_LINE(t, "read {work} except .env");
        told_done(&t);
}

static bool two_secrets(void *ctx, const char *dir, void (*each)(void *to, const char *below), void *to)
{
        (void) ctx;
        CHECK_STR(dir, "/w/proj");
        each(to, ".env");
        each(to, "a b/server.key");
        each(to, "\x01/id_rsa"); /* no line can name it */
        return true;
}

static void test_learn__a_directory_does_not_show_keys_that_nobody_asked_for(void)
{
        static const struct need needs[] = { { "read /w/proj/sub/.env", OPTIONAL }, { "read /w/proj", 0 } };
        struct learn_context c = context(1);
        c.secrets = two_secrets;
        struct told t = teach(needs, COUNTOF(needs), c);
        CHECK(t.r.passed);
        CHECK_LINE(t, "read {work} except sub/.env .env \"a b/server.key\"");
        told_done(&t);
}

static void test_learn__an_edit_door_is_not_opened_over_what_was_refused(void)
{
        static const struct need needs[] = { { "read /w/proj/.env", OPTIONAL }, { "write /w/proj/out", 0 } };
        struct told t = teach(needs, COUNTOF(needs), context(1));
        CHECK(!t.r.passed);
        CHECK(!has_line(&t, "edit {work}"));
        told_done(&t);
}

/* ---- tightening ---- */

static void tighten(const char *text, const struct need *needs, size_t n, unsigned budget, struct told *t)
{
        struct world w = { needs, n, NULL, 0 };
        struct learn_runner r = { .run = fake_run, .ctx = &w, .budget = budget };
        struct err e = { 0 };
        CHECK_INT(learn_split(span_str(text), &t->r.draft, &e), 0);
        CHECK_INT(learn_tighten(&t->r.draft, &r, 2, &t->r, &e), 0);
        learn_print(&t->r.draft, false, &t->text);
        t->boxes = r.boxes;
}

static void test_tighten__doors_that_are_not_used_close(void)
{
        static const struct need needs[] = { { "read /w/proj/in.csv", 0 }, { "run /usr/bin/sort", 0 } };
        struct told t = { 0 };
        tighten("# mine\nbox a\nuse base/loader\nread {work}/in.csv /srv/share /opt except x\nrun sort uniq "
                "awk\n"
                "env HOME2=x # why\nlimit time 5s\nexpect deny read /etc/shadow\n",
                needs, COUNTOF(needs), 0, &t);
        CHECK(t.r.passed && t.r.complete);
        CHECK_STR(buf_str(&t.text), "# mine\nbox a\nread {work}/in.csv except x\nrun sort\nlimit time 5s\n"
                                    "expect deny read /etc/shadow\n");
        CHECK_INT(learn_doors(&t.r.draft), 2);
        told_done(&t);
}

static void test_tighten__an_expected_door_stays(void)
{
        static const struct need needs[] = { { "read /w/proj/in.csv", 0 } };
        struct told t = { 0 };
        tighten("read {work}/in.csv\nread /srv/share\nread /opt\nexpect allow read /srv/share/x\n", needs,
                COUNTOF(needs), 0, &t);
        CHECK_LINE(t, "read /srv/share");
        CHECK(!has_line(&t, "read /opt"));
        told_done(&t);
}

static void test_tighten__the_budget_is_kept(void)
{
        static const struct need needs[] = { { "read /w/proj/a", 0 },
                                             { "read /w/proj/b", 0 },
                                             { "read /w/proj/c", 0 },
                                             { "read /w/proj/d", 0 } };
        struct told t = { 0 };
        tighten("read {work}/a {work}/b {work}/c {work}/d /1 /2 /3 /4 /5 /6 /7 /8\n", needs, COUNTOF(needs),
                5, &t);
        CHECK(t.r.passed && !t.r.complete);
        CHECK(t.boxes <= 5 + 2);
        told_done(&t);
}

static void test_tighten__a_command_that_fails_closes_nothing(void)
{
        static const struct need needs[] = { { "read /etc/shadow", 0 } };
        struct told t = { 0 };
        tighten("read {work}/a\nread /opt\n", needs, COUNTOF(needs), 0, &t);
        CHECK(!t.r.passed);
        CHECK_INT(learn_doors(&t.r.draft), 2);
        told_done(&t);
}

static void test_tighten__many_doors_take_few_runs(void)
{
        static const struct need needs[] = { { "read /w/proj/in.csv", 0 } };
        struct told t = { 0 };
        char text[4096] = "read {work}/in.csv\n";
        for (int i = 0; i < 100; i++)
                (void) snprintf(text + strlen(text), sizeof text - strlen(text), "read /opt/d%d\n", i);
        tighten(text, needs, COUNTOF(needs), 0, &t);
        CHECK_INT(learn_doors(&t.r.draft), 1);
        CHECK(t.boxes < 30);
        told_done(&t);
}

static void test_split__quotes_and_tails_stay(void)
{
        struct learn_draft d = { 0 };
        struct err e = { 0 };
        struct buf out = { 0 };
        CHECK_INT(
                learn_split(span_str("read \"/a b\" /c? except \"x y\" until 2030-01-01 # both\n\nuse none\n"
                                     "net https://a.example/ GET\nin x max 4M\nexpect deny run sh\n"),
                            &d, &e),
                0);
        learn_print(&d, false, &out);
        CHECK_INT(learn_doors(&d), 4);
        CHECK(strstr(buf_str(&out), "read \"/a b\" except \"x y\" until 2030-01-01 # both\n"));
        CHECK(strstr(buf_str(&out), "read /c? except \"x y\" until 2030-01-01\n"));
        CHECK(strstr(buf_str(&out), "\n\nuse none\n"));
        learn_draft_done(&d);
        buf_done(&out);
        CHECK_INT(learn_split(span_str(" {\"box\":\"a\"}"), &d, &e), -1);
}

/* ---- the network: what a hostile program says of it becomes no line ---- */

static struct learn_access request(const char *method, const char *url)
{
        return (struct learn_access){
                .kind = EFFECT_NET, .path = url, .method = method, .program = "job", .agreed = true
        };
}

static void test_learn__addresses_and_names_of_ones_own_are_never_learned(void)
{
        static const struct {
                const char *to, *why;
        } rows[] = {
                { "http://169.254.169.254/latest", "metadata" },
                { "169.254.1.1:80", "metadata" },
                { "100.100.100.200:80", "metadata" },
                { "http://metadata.google.internal/x", "metadata" },
                { "http://METADATA.google.internal/x", "metadata" },
                { "http://[fd00:ec2::254]/", "metadata" },
                { "[fe80::1]:80", "metadata" },
                { "127.0.0.1:8080", "private" },
                { "http://10.1.2.3/", "private" },
                { "172.16.0.1:22", "private" },
                { "172.31.255.1:22", "private" },
                { "192.168.1.1:80", "private" },
                { "100.64.0.1:80", "private" },
                { "198.18.0.1:80", "private" },
                { "0.0.0.0:80", "private" },
                { "224.0.0.1:80", "private" },
                { "[::1]:80", "private" },
                { "[fd12::1]:80", "private" },
                { "[::ffff:10.0.0.1]:80", "private" },
                { "[2002:7f00:1::1]:80", "private" },
                { "[64:ff9b::7f00:1]:80", "private" },
                { "localhost:80", "private" },
                { "http://a.localhost/", "private" },
                { "printer.local:631", "private" },
                { "intranet:80", "private" },
                { "http://db.corp.internal/", "private" },
                { "0123456789012345678901234567890123456789a.evil.example:443", "tunnel" },
                { "UDP to 11.22.33.44:53", "protocol" },
                { "https://a.example/x\ny", "odd-name" },
                { "https://a.example/**", "odd-name" },
                { "https://a.example/a#b", "odd-name" },
                { "https://a.example/\"", "odd-name" },
                { "https://", "odd-name" },
                { "172.32.0.1:80", NULL },
                { "100.128.0.1:80", NULL },
                { "[2a00:1111::44]:443", NULL },
                { "https://local.example.org/", NULL },
                { "https://notlocalhost.example/", NULL },
        };
        for (size_t i = 0; i < COUNTOF(rows); i++) {
                struct learn_access a = request("GET", rows[i].to);
                CHECK_STR(effect_reason_name(learn_is_sensitive(&a)), rows[i].why ? rows[i].why : "none");
        }
}

/* The doors of a draft from these accesses, without what is not about the network. */
static void net_draft(const struct learn_access *v, size_t n, struct learn_context c, struct buf *out,
                      struct buf *refused)
{
        struct learn *l = learn_new(&c);
        struct learn_draft d = { 0 };
        for (size_t i = 0; i < n; i++)
                (void) learn_add(l, &v[i], 0);
        learn_draft(l, 1, &d);
        for (size_t i = 0; i < d.n; i++)
                if (strncmp(d.v[i].text, "net ", 4) == 0)
                        buf_printf(out, "%s\n", d.v[i].text);
        learn_refused(l, false, refused);
        learn_draft_done(&d);
        learn_free(l);
}

static void test_learn__only_what_was_agreed_to_becomes_a_line(void)
{
        struct learn_context c = context(1);
        struct buf out = { 0 }, refused = { 0 };
        struct learn_access v[] = { request("GET", "https://a.example/x"),
                                    request("POST", "https://b.example/y"),
                                    request("GET", "https://a.example/x"),
                                    request("", "c.example"),
                                    request("", "d.example:7"),
                                    request("", "a.example") };
        v[1].agreed = false;
        c.nets = true;
        net_draft(v, COUNTOF(v), c, &out, &refused);
        CHECK_STR(buf_str(&out), "net https://a.example/x GET\nnet d.example:7\n");
        CHECK_STR(buf_str(&refused),
                  "  network: net POST https://b.example/y, by job\n  network: net c.example, by job\n");
        buf_done(&out);
        buf_done(&refused);
}

static void test_learn__many_names_below_one_parent_are_a_tunnel(void)
{
        struct learn_context c = context(1);
        struct buf out = { 0 }, refused = { 0 };
        static struct learn_access v[14];
        static char names[14][40];
        for (size_t i = 0; i < COUNTOF(v); i++) {
                (void) snprintf(names[i], sizeof names[i], "https://s%zu.evil.example/", i);
                v[i] = request("GET", names[i]);
        }
        c.nets = true;
        net_draft(v, COUNTOF(v), c, &out, &refused);
        CHECK_STR(buf_str(&out), "");
        CHECK(strstr(buf_str(&refused), "tunnel: net GET https://s0.evil.example/"));
        buf_done(&refused);
        net_draft(v, 5, c, &out, &refused);
        CHECK(strstr(buf_str(&out), "net https://s4.evil.example/ GET\n"));
        buf_done(&out);
        buf_done(&refused);
}

static bool in_place(void *ctx, const char *url, struct buf *ret)
{
        static const char front[] = "https://api.example/";
        (void) ctx;
        if (strncmp(url, front, strlen(front)) != 0)
                return false;
        buf_printf(ret, "@api/%s", url + strlen(front));
        return true;
}

static void test_learn__a_place_stands_for_its_host_and_a_credential_for_its_door(void)
{
        struct learn_context c = context(1);
        struct buf out = { 0 }, refused = { 0 };
        struct learn_access v[] = { request("GET", "https://api.example/v1/x"),
                                    request("GET", "https://api.example/v1/y"),
                                    request("GET", "https://other.example/v1/y") };
        c.nets = true;
        c.place = in_place;
        v[1].with = "gh";
        net_draft(v, COUNTOF(v), c, &out, &refused);
        CHECK_STR(buf_str(&out), "net @api/v1/** GET\nnet @api/v1/** GET with gh\n"
                                 "net https://other.example/v1/** GET\n");
        CHECK_STR(buf_str(&refused), "");
        buf_done(&out);
        buf_done(&refused);
}

static void test_learn__dummies_have_the_shape_and_nothing_else(void)
{
        static const uint8_t seed[32] = { 7 }, other[32] = { 8 };
        char a[LEARN_DUMMY_MAX], b[LEARN_DUMMY_MAX];
        learn_dummy("GITHUB_TOKEN", seed, 0, a);
        CHECK_INT(strncmp(a, "ghp_", 4), 0);
        CHECK_INT(strlen(a), 40);
        CHECK_INT(a[strspn(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")], 0);
        learn_dummy("GITHUB_TOKEN", seed, 1, b);
        CHECK_INT(strlen(b), 40);
        CHECK(strcmp(a, b) != 0);
        learn_dummy("GITHUB_TOKEN", other, 0, b);
        CHECK(strcmp(a, b) != 0);
        learn_dummy("GITHUB_TOKEN", seed, 0, b);
        CHECK_STR(a, b);
        learn_dummy("AWS_ACCESS_KEY_ID", seed, 0, a);
        CHECK_INT(strncmp(a, "AKIA", 4), 0);
        CHECK_INT(strlen(a), 20);
        learn_dummy("ANTHROPIC_API_KEY", seed, 0, a);
        CHECK_INT(strlen(a), 108);
        learn_dummy("something-else", seed, 0, a);
        CHECK_INT(strlen(a), 40);
}

/* ---- what past runs used ---- */

static const char *closed_by(const struct learn_evidence *ev, const char *text, struct buf *out)
{
        struct learn_draft d = { 0 };
        struct err e = { 0 };
        CHECK_INT(learn_split(span_str(text), &d, &e), 0);
        learn_close_unused(&d, ev);
        for (size_t i = 0; i < d.n; i++)
                if (d.v[i].closed)
                        buf_printf(out, "%s\n", d.v[i].text);
        learn_draft_done(&d);
        return buf_str(out);
}

static void test_tighten__what_no_past_run_used_closes(void)
{
        static const char policy[] =
                "box x\nuse base/python3\nread {work}/a {work}/b\nedit {work}/c\nrun sort\n"
                "env LANG=C\nnet a.example:443\nnet https://b.example/x GET\n"
                "net *.c.example:443\nnet @place/x\nsock /run/x\nin h max 4M\n";
        static const char *const lines[] = { "read /work/a" };
        static const char *const dests[] = { "b.example:443", "x.c.example:443" };
        struct learn_evidence ev = { .lines = lines,
                                     .line_count = 1,
                                     .dests = dests,
                                     .dest_count = 2,
                                     .runs = 3,
                                     .observed = 3,
                                     .need = 3,
                                     .at = { .work = "/work", .home = "/home/u", .default_system = true } };
        struct buf out = { 0 };
        CHECK_STR(closed_by(&ev, policy, &out),
                  "use base/python3\nread {work}/b\nedit {work}/c\nrun sort\nnet "
                  "a.example:443\n");
        buf_done(&out);
        ev.observed = 2; /* too few tell of files */
        CHECK_STR(closed_by(&ev, policy, &out), "net a.example:443\n");
        buf_done(&out);
        ev.runs = 2;
        CHECK_STR(closed_by(&ev, policy, &out), "");
        buf_done(&out);
}

static const struct test_case cases[] = {
        CASE(test_learn__addresses_and_names_of_ones_own_are_never_learned),
        CASE(test_learn__only_what_was_agreed_to_becomes_a_line),
        CASE(test_learn__many_names_below_one_parent_are_a_tunnel),
        CASE(test_learn__a_place_stands_for_its_host_and_a_credential_for_its_door),
        CASE(test_learn__dummies_have_the_shape_and_nothing_else),
        CASE(test_tighten__what_no_past_run_used_closes),
        CASE(test_learn__finds_the_files_one_after_the_other),
        CASE(test_learn__what_is_not_needed_is_not_proposed),
        CASE(test_learn__three_files_are_a_directory),
        CASE(test_learn__a_listed_directory_is_one_door),
        CASE(test_learn__a_directory_on_the_way_is_not_opened),
        CASE(test_learn__never_the_whole_home_or_etc),
        CASE(test_learn__groups_stand_for_libraries),
        CASE(test_learn__the_command_itself_brings_its_group),
        CASE(test_learn__a_compiler_is_base_build),
        CASE(test_learn__writes_become_edit_of_their_directory),
        CASE(test_learn__a_door_seen_once_closes_by_itself),
        CASE(test_learn__a_command_that_never_passes_is_not_offered),
        CASE(test_learn__an_odd_name_is_quoted),
        CASE(test_learn__a_name_cannot_become_a_line),
        CASE(test_learn__requests_fold_to_host_and_first_segment),
        CASE(test_learn__hostile_samples_open_nothing),
        CASE(test_learn__what_was_refused_becomes_a_test),
        CASE(test_learn__a_directory_does_not_show_its_tokens),
        CASE(test_learn__a_directory_does_not_show_keys_that_nobody_asked_for),
        CASE(test_learn__an_edit_door_is_not_opened_over_what_was_refused),
        CASE(test_tighten__doors_that_are_not_used_close),
        CASE(test_tighten__an_expected_door_stays),
        CASE(test_tighten__the_budget_is_kept),
        CASE(test_tighten__a_command_that_fails_closes_nothing),
        CASE(test_tighten__many_doors_take_few_runs),
        CASE(test_split__quotes_and_tails_stay),
};
TEST_MAIN(cases)

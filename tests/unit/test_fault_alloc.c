/* SPDX-License-Identifier: MIT */
/* Every allocation fails once, the first, the second and so on until all goes well: a policy is taken whole
 * or not at all, a view is whole or not there, a box is walled as without the fault or does not start. And
 * each time: a clear error, nothing held, no descriptor and no child left. */
#include "../context.h"
#include "base/json.h"
#include "cordon.h"
#include "fault_alloc.h"
#include "harness.h"
#include "ledger/ledger.h"
#include "policy/learn/learn.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS_MAX = 20000, TEXT_MAX = 1 << 20 };

/* What a scenario printed, and how it ended. */
struct told {
        bool failed;
        cordon_error error;
        size_t n;
        char text[TEXT_MAX];
};
static struct told want, got;

static void tell(struct told *t, const char *s, size_t n)
{
        if (t->n + n < sizeof t->text)
                memcpy(t->text + t->n, s, n), t->n += n;
        t->text[t->n] = '\0';
}

/* A text that the library gave; NULL is a failure. */
static bool tell_own(struct told *t, char *s)
{
        if (s)
                tell(t, s, strlen(s));
        t->failed |= !s;
        cordon_free(s);
        return !t->failed;
}

static int open_descriptors(void)
{
        int n = 0;
        DIR *d = opendir("/proc/self/fd");
        while (d && readdir(d))
                n++;
        (void) closedir(d);
        return n;
}

static void wrong(const char *name, long n, const char *what)
{
        printf("# %s, allocation %ld: %s (%s: %s)\n", name, n, what, cordon_error_name(got.error.code),
               got.error.what);
        test_failures++;
}

static void show_difference(void)
{
        size_t at = 0;
        while (at < got.n && at < want.n && got.text[at] == want.text[at])
                at++;
        printf("# from byte %zu on: <%.120s> instead of <%.120s>\n", at, got.text + at, want.text + at);
}

static void judge(const char *name, long n, long held, int descriptors)
{
        if (got.failed && (got.error.code == 0 || got.error.what[0] == '\0'))
                wrong(name, n, "failed without a word");
        if (got.failed && got.error.code != ERR_MEMORY && got.error.sys != ENOMEM &&
            !strstr(got.error.what, "memory"))
                wrong(name, n, "failed with another reason than memory");
        if (!got.failed && (got.n != want.n || memcmp(got.text, want.text, want.n) != 0))
                wrong(name, n, "went on, and what came out is not whole"), show_difference();
        if (alloc_held != held)
                wrong(name, n, "memory is still held");
        if (open_descriptors() != descriptors)
                wrong(name, n, "a descriptor is still open");
        if (waitpid(-1, NULL, WNOHANG | __WALL) != -1)
                wrong(name, n, "a child is left");
}

/* Returns how many allocations there are; the last round has no fault. */
static long every_allocation(const char *name, void (*scenario)(struct told *))
{
        want.failed = false;
        want.n = 0;
        alloc_fail_at = 0;
        scenario(&want);
        CHECK(!want.failed && want.n > 0);
        if (want.failed)
                printf("# %s does not run at all: %s\n", name, want.error.what);
        int descriptors = open_descriptors();
        long refused = 0, n = 1;
        for (; n < ROUNDS_MAX && test_failures < 20; n++) {
                long held = alloc_held;
                got.failed = false;
                got.n = 0;
                got.error = (cordon_error){ 0 };
                alloc_count = 0;
                alloc_fail_at = n;
                scenario(&got);
                bool over = alloc_count < n;
                alloc_fail_at = 0;
                judge(name, n, held, descriptors);
                refused += got.failed;
                if (over)
                        break;
        }
        printf("# %s: %ld allocations, %ld refused\n", name, n - 1, refused);
        CHECK(n > 1 && n < ROUNDS_MAX && refused > 0);
        return n - 1;
}

/* ---- policies ---- */

static const char policy_text[] = "box fault\n"
                                  "doc \"every kind of line\"\n"
                                  "use base/system\n"
                                  "read /etc/hosts /srv/on-no-host except doc\n"
                                  "write {work}/out\n"
                                  "run sh cat\n"
                                  "env LANG NAME=value\n"
                                  "net https://example.org/a/** GET\n"
                                  "net https://example.org/pay POST where n=int:1..5 \"c?=one:a b|d\" only\n"
                                  "sock /run/x.sock\n"
                                  "in input max 1M\n"
                                  "out output max 2M as text\n"
                                  "limit time 5s memory 64M\n"
                                  "expect deny read /root\n"
                                  "expect allow read /etc/hosts\n";

static cordon_policy *policy_of(const char *text, struct told *t)
{
        cordon_policy *p = cordon_policy_new(test_context());
        if (!p) /* the one call without room for a reason */
                (void) snprintf(t->error.what, sizeof t->error.what, "no memory"), t->error.code = ERR_MEMORY;
        if (p && cordon_policy_roots(p, "/work", "/home/x", &t->error) == 0 &&
            cordon_policy_add_text(p, "text", text, strlen(text), &t->error) == 0)
                return p;
        t->failed = true;
        cordon_policy_free(p);
        return NULL;
}

static void scenario_views(struct told *t)
{
        cordon_policy *p = policy_of(policy_text, t);
        if (!p)
                return;
        t->failed = cordon_policy_check(p, &t->error) < 0;
        for (int v = CORDON_VIEW_DOORS; !t->failed && v <= CORDON_VIEW_NOTES_JSON; v++)
                (void) tell_own(t, cordon_policy_view(p, (cordon_view) v, &t->error));
        cordon_policy_free(p);
}

static void scenario_why(struct told *t)
{
        static const char *const effects[] = { "read /etc/hosts",
                                               "read /srv/on-no-host/doc/x",
                                               "write /work/out/f",
                                               "run sh",
                                               "net GET https://example.org/a/b",
                                               "env LANG",
                                               "sock /run/x.sock",
                                               "net POST https://example.org/pay?n=6&c=x&d=y",
                                               "net POST https://example.org/pay?n=5&c=d" };
        cordon_policy *p = policy_of(policy_text, t);
        for (size_t i = 0; p && !t->failed && i < sizeof effects / sizeof *effects; i++) {
                int allowed = 0;
                (void) tell_own(t, cordon_policy_why(p, effects[i], i % 2, &allowed, &t->error));
                tell(t, allowed ? "+" : "-", 1);
        }
        cordon_policy_free(p);
}

static void scenario_diff(struct told *t)
{
        int order = 0;
        cordon_policy *a = policy_of(policy_text, t);
        cordon_policy *b = a ? policy_of("read /etc/hosts\nenv OTHER\nlimit time 9s\n", t) : NULL;
        if (a && b && tell_own(t, cordon_policy_diff(a, b, &order, &t->error)))
                tell(t, order == 3 ? "crossing" : "other", 5);
        cordon_policy_free(a);
        cordon_policy_free(b);
}

/* The JSON form, read back in, is the same policy. */
static void scenario_json_form(struct told *t)
{
        static char form[1 << 16];
        static bool made;
        if (!made) {
                cordon_policy *p = policy_of(policy_text, t);
                char *json = p ? cordon_policy_view(p, CORDON_VIEW_JSON, &t->error) : NULL;
                made = json && snprintf(form, sizeof form, "%s", json) < (int) sizeof form;
                cordon_free(json);
                cordon_policy_free(p);
        }
        cordon_policy *p = policy_of(form, t);
        if (p)
                (void) tell_own(t, cordon_policy_view(p, CORDON_VIEW_CANONICAL, &t->error));
        cordon_policy_free(p);
}

/* A text that did not fit into memory has left nothing in the policy: what comes next is judged without it.
 */
static void test_policy__is_taken_whole_or_not_at_all(void)
{
        cordon_error e = { 0 };
        for (long n = 1; n < ROUNDS_MAX; n++) {
                cordon_policy *p = cordon_policy_new(test_context());
                CHECK(cordon_policy_add(p, "read", "/etc/hosts", &e) == 0);
                char *before = cordon_policy_view(p, CORDON_VIEW_CANONICAL, &e);
                alloc_count = 0;
                alloc_fail_at = n;
                int bad = cordon_policy_add_text(p, "text", "read /usr except share\nenv LANG\nrun sh\n", 39,
                                                 &e);
                bool over = alloc_count < n;
                alloc_fail_at = 0;
                char *after = cordon_policy_view(p, CORDON_VIEW_CANONICAL, &e);
                CHECK(before && after);
                CHECK((strcmp(before, after) == 0) == (bad < 0));
                cordon_free(before);
                cordon_free(after);
                cordon_policy_free(p);
                if (over)
                        return;
        }
        CHECK(false);
}

/* ---- JSON ---- */

static void tell_json(struct told *t, const struct json *j)
{
        char line[64];
        for (; j; j = j->next) {
                (void) snprintf(line, sizeof line, "%d %s %zu;", (int) j->type, j->key ? j->key : "", j->len);
                tell(t, line, strlen(line));
                tell_json(t, j->child);
        }
}

static void scenario_json(struct told *t)
{
        static const char text[] =
                "{\"a\":[1,2,{\"b\":\"\\u00e9\"},null,true],\"c\":{\"d\":1.5e3,\"e\":\"\"},\"f\":[[[]]]}";
        struct err e = { 0 };
        struct json_doc *d = json_parse("text", span_str(text), &e);
        if (d)
                tell_json(t, json_root(d));
        t->failed = !d;
        memcpy(&t->error, &e, sizeof e);
        json_free(d);
}

/* ---- boxes ---- */

static char place[64];

static void hear(void *ctx, int stream, const void *data, size_t len)
{
        (void) stream;
        tell(ctx, data, len);
}

static const char *const script[] = {
        "/bin/sh", "-c",
        "exec 2>&1; ls door; cat door/file; ls door/hidden 2>&1; echo $PASSED $GIVEN; "
        "echo x >door/w 2>&1; cat /proc/self/status | grep -E "
        "'^(CapBnd|CapEff|NoNewPrivs|Seccomp):'; exit 7",
        NULL
};

static cordon_policy *box_policy(struct told *t)
{
        char line[256];
        (void) snprintf(
                line, sizeof line,
                "use base/system\nread %s/door except hidden\nenv PASSED GIVEN=given\nlimit time 9s\n",
                place);
        cordon_policy *p = policy_of(line, t);
        if (p && cordon_policy_roots(p, place, place, &t->error) < 0)
                t->failed = true;
        return p;
}

/* Which layers are up, and who keeps which limit; not the figures. */
static void tell_result(struct told *t, cordon_box *b)
{
        const cordon_result *r = cordon_box_result(b);
        char line[256];
        if (r->error) {
                t->failed = true;
                t->error = *r->error;
                return;
        }
        (void) snprintf(line, sizeof line, "end %d code %d wall %s attested %d groups %d limits <%s>\n",
                        (int) r->end, r->code, r->wall, r->attested, r->groups, r->limits_hit);
        tell(t, line, strlen(line));
        long kept = alloc_fail_at;
        alloc_fail_at = 0; /* looking at it is not what is tested */
        char *json = cordon_box_result_json(b);
        const char *layers = json ? strstr(json, "\"layers\"") : NULL,
                   *end = layers ? strchr(layers, ']') : NULL;
        if (end)
                tell(t, layers, (size_t) (end - layers));
        cordon_free(json);
        alloc_fail_at = kept;
}

static void no_memory(struct told *t)
{
        t->failed = true;
        t->error.code = ERR_MEMORY;
        (void) snprintf(t->error.what, sizeof t->error.what, "no memory");
}

static void scenario_box(struct told *t)
{
        cordon_policy *p = box_policy(t);
        cordon_box *b = p && !t->failed ? cordon_box_new(p) : NULL;
        if (p && !t->failed &&
            (!b || cordon_box_command(b, script) < 0 || cordon_box_set(b, CORDON_CWD, place) < 0))
                no_memory(t);
        if (b && !t->failed) {
                cordon_box_on_output(b, hear, t);
                t->failed = cordon_box_start(b, &t->error) < 0;
                while (!t->failed && cordon_box_wait(b, -1) == 0)
                        ;
                if (!t->failed)
                        tell_result(t, b);
        }
        cordon_box_free(b);
        cordon_policy_free(p);
}

static void scenario_plan(struct told *t)
{
        cordon_policy *p = box_policy(t);
        cordon_box *b = p && !t->failed ? cordon_box_new(p) : NULL;
        if (p && !t->failed && (!b || cordon_box_command(b, script) < 0))
                no_memory(t);
        if (b && !t->failed)
                (void) tell_own(t, cordon_box_plan(b, &t->error));
        cordon_box_free(b);
        cordon_policy_free(p);
}

static void put(const char *name, const char *text)
{
        char path[128];
        (void) snprintf(path, sizeof path, "%s/%s", place, name);
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t) strlen(text));
        (void) close(fd);
}

static void make_place(void)
{
        char path[128];
        (void) snprintf(place, sizeof place, "/tmp/cordon-test.XXXXXX");
        CHECK(mkdtemp(place) && chmod(place, 0755) == 0 && setenv("PASSED", "passed", 1) == 0);
        (void) snprintf(path, sizeof path, "%s/door", place);
        CHECK(mkdir(path, 0755) == 0);
        (void) snprintf(path, sizeof path, "%s/door/hidden", place);
        CHECK(mkdir(path, 0755) == 0);
        put("door/file", "content\n");
        put("door/hidden/secret", "secret\n");
}

static void remove_place(void)
{
        static const char *const names[] = { "door/hidden/secret", "door/hidden", "door/file", "door", "" };
        char path[128];
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                (void) snprintf(path, sizeof path, "%s/%s", place, names[i]);
                CHECK(remove(path) == 0);
        }
}

/* ---- a ledger ---- */

static void put_export(void *ctx, const char *text, size_t len) { tell(ctx, text, len); }

static int ledger_dir = -1;

static void make_ledger(void)
{
        struct err e;
        char path[128], id[LEDGER_ID_MAX];
        (void) snprintf(path, sizeof path, "%s/ledger", place);
        CHECK(mkdir(path, 0700) == 0);
        ledger_dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct ledger *l = ledger_open_at(ledger_dir, "run", "", &e);
        struct ledger_record start = ledger_record_of(LEDGER_START, LEDGER_BEGIN);
        start.name = "start";
        start.box = "box";
        CHECK(ledger_append(l, &start, false, id, &e) == 0);
        for (unsigned i = 0; i < 6; i++) {
                struct ledger_record r = ledger_record_of(LEDGER_NET, i % 2 ? LEDGER_OUTCOME : LEDGER_INTENT);
                char name[8];
                (void) snprintf(name, sizeof name, "%c%u", i % 2 ? 'r' : 'q', i / 2);
                r.name = name;
                r.target = "example.org:443";
                r.reach = LEDGER_REACH_PUBLIC;
                r.bytes = 10;
                r.parents[r.parent_count++] = id;
                CHECK(ledger_append(l, &r, false, id, &e) == 0);
        }
        CHECK(ledger_flush(l, 1000, &e) == 0);
        ledger_close(l);
}

static void remove_ledger(void)
{
        CHECK(unlinkat(ledger_dir, "segments/00000001.seg", 0) == 0);
        CHECK(unlinkat(ledger_dir, "segments", AT_REMOVEDIR) == 0 && unlinkat(ledger_dir, "head", 0) == 0);
        (void) close(ledger_dir);
        char path[128];
        (void) snprintf(path, sizeof path, "%s/ledger", place);
        CHECK(rmdir(path) == 0);
}

static void scenario_export(struct told *t)
{
        static const char *const formats[] = { "jsonl", "otlp", "ocsf", "prometheus" };
        const struct ledger_filter all = { 0 };
        struct err e = { 0 };
        struct ledger_log *l = ledger_log_open(ledger_dir, &e);
        t->failed = !l;
        for (size_t i = 0; !t->failed && i < sizeof formats / sizeof *formats; i++)
                t->failed = ledger_export(l, formats[i], &all, put_export, t, &e) < 0;
        memcpy(&t->error, &e, sizeof e);
        ledger_log_free(l);
}

static void scenario_reports(struct told *t)
{
        struct err e = { 0 };
        AUTO_BUF(out);
        struct ledger_log *l = ledger_log_open(ledger_dir, &e);
        t->failed = !l || ledger_show(l, "run", false, &out, &e) < 0 ||
                    ledger_html(l, "run", true, &out, &e) < 0 || ledger_postmortem(l, "run", &out, &e) < 0 ||
                    ledger_trace(l, "run.r2", LEDGER_BACK, false, &out, &e) < 0;
        if (l && !t->failed)
                ledger_reached(l, true, &out);
        if (!t->failed && out.failed) /* whoever gives it away looks at that */
                no_memory(t);
        else
                memcpy(&t->error, &e, sizeof e);
        if (!t->failed)
                tell(t, buf_str(&out), out.n);
        ledger_log_free(l);
}

/* A checkpoint of another ledger must be found to be one, or nothing is said at all. */
static void scenario_verify(struct told *t)
{
        static const char other[] = "origin\n3\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n"
                                    "\xe2\x80\x94 origin AAAA\n";
        struct err e = { 0 };
        bool ok = false;
        AUTO_BUF(out);
        t->failed = ledger_verify(test_context(), ledger_dir, other, false, &out, &ok, &e) < 0;
        CHECK(!ok);
        if (!t->failed && out.failed)
                no_memory(t);
        else
                memcpy(&t->error, &e, sizeof e);
        if (!t->failed)
                tell(t, buf_str(&out), out.n);
}

/* ---- the tests ---- */

static void test_ledger__what_comes_out_is_whole_or_an_error(void)
{
        make_place();
        make_ledger();
        CHECK(every_allocation("export", scenario_export) > 20);
        CHECK(every_allocation("reports", scenario_reports) > 10);
        CHECK(every_allocation("verify", scenario_verify) > 5);
        remove_ledger();
        remove_place();
}

static void test_views__are_whole_or_not_there(void)
{
        CHECK(every_allocation("views", scenario_views) > 100);
}
static void test_why__is_whole_or_not_there(void) { CHECK(every_allocation("why", scenario_why) > 50); }
static void test_diff__is_whole_or_not_there(void) { CHECK(every_allocation("diff", scenario_diff) > 50); }
static void test_json_form__is_the_same_policy_or_none(void)
{
        CHECK(every_allocation("json form", scenario_json_form) > 20);
}
static void test_json__is_whole_or_not_there(void) { CHECK(every_allocation("json", scenario_json) >= 3); }

static void test_box__is_walled_or_does_not_start(void)
{
        make_place();
        scenario_box(&want);
        if (want.failed && want.error.code == ERR_HOST) {
                remove_place();
                SKIP("no box starts here");
        }
        CHECK(strstr(want.text, "content") && strstr(want.text, "passed given") &&
              !strstr(want.text, "secret\n"));
        CHECK(every_allocation("box", scenario_box) > 50);
        CHECK(every_allocation("plan", scenario_plan) > 50);
        remove_place();
}

/* ---- learning ---- */

static enum learn_look look_nowhere(void *ctx, const char *path)
{
        (void) ctx;
        return strcmp(path, "/w/proj") == 0 ? LEARN_DIRECTORY : LEARN_NOTHING;
}

static void learn_scenario(struct told *t)
{
        static const struct learn_access seen[] = {
                { .kind = EFFECT_READ,
                  .path = "/w/proj/a",
                  .method = NULL,
                  .program = "x",
                  .on_host = true,
                  .agreed = true },
                { .kind = EFFECT_READ,
                  .path = "/w/proj/b",
                  .method = NULL,
                  .program = "x",
                  .on_host = true,
                  .agreed = true },
                { .kind = EFFECT_READ,
                  .path = "/w/proj/c",
                  .method = NULL,
                  .program = "x",
                  .on_host = true,
                  .agreed = true },
                { .kind = EFFECT_READ,
                  .path = "/w/proj/.env",
                  .method = NULL,
                  .program = "x",
                  .on_host = true,
                  .agreed = true },
                { .kind = EFFECT_READ,
                  .path = "/usr/share/perl/x",
                  .method = NULL,
                  .program = "",
                  .on_host = true,
                  .agreed = true },
                { .kind = EFFECT_RUN,
                  .path = "/usr/bin/sort",
                  .method = NULL,
                  .program = "",
                  .on_host = true,
                  .agreed = true },
                { .kind = EFFECT_WRITE,
                  .path = "/w/proj/d",
                  .method = NULL,
                  .program = "x",
                  .on_host = true,
                  .agreed = true },
                { .kind = EFFECT_READ,
                  .path = "/etc/a b",
                  .method = NULL,
                  .program = "x",
                  .on_host = true,
                  .agreed = true },
                { .kind = EFFECT_NET,
                  .path = "https://a.example/v/x",
                  .method = "GET",
                  .program = "x",
                  .on_host = true,
                  .agreed = true },
        };
        const struct learn_context c = { .work = "/w/proj",
                                         .home = "/home/u",
                                         .name = "x",
                                         .command = "x",
                                         .entry = "/usr/bin/python3",
                                         .runs = 1,
                                         .nets = true,
                                         .look = look_nowhere };
        struct learn *l = learn_new(&c);
        struct learn_draft d = { 0 };
        struct buf out = { 0 };
        if (l) {
                for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
                        (void) learn_add(l, &seen[i], 0);
                learn_draft(l, 1, &d);
                learn_print(&d, false, &out);
                learn_refused(l, true, &out);
        }
        if (!l || d.failed || out.failed)
                no_memory(t);
        else
                tell(t, out.p, out.n);
        buf_done(&out);
        learn_draft_done(&d);
        learn_free(l);
}

static void test_learn__a_draft_is_whole_or_not_there(void)
{
        (void) every_allocation("learn", learn_scenario);
}

static void advise_scenario(struct told *t)
{
        (void) tell_own(t, cordon_advise("resize an image", 1, &t->error));
}

static void test_advise__is_whole_or_not_there(void) { (void) every_allocation("advise", advise_scenario); }

static const struct test_case cases[] = {
        CASE(test_ledger__what_comes_out_is_whole_or_an_error),
        CASE(test_learn__a_draft_is_whole_or_not_there),
        CASE(test_advise__is_whole_or_not_there),
        CASE(test_json__is_whole_or_not_there),
        CASE(test_policy__is_taken_whole_or_not_at_all),
        CASE(test_views__are_whole_or_not_there),
        CASE(test_why__is_whole_or_not_there),
        CASE(test_diff__is_whole_or_not_there),
        CASE(test_json_form__is_the_same_policy_or_none),
        CASE(test_box__is_walled_or_does_not_start),
};
TEST_MAIN(cases)

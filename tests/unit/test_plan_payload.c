/* SPDX-License-Identifier: MIT */
/* What the payload starts with: arguments, variables, working directory, handles; and how a plan is shown. */
#include "test_plan_common.h"

#include <stdio.h>

static size_t length(const char **v)
{
        size_t n = 0;
        while (v[n])
                n++;
        return n;
}

/* "NAME=VALUE" stands in the environment, once. */
static bool has(const struct plan *p, const char *variable)
{
        size_t n = 0, k = strcspn(variable, "=") + 1;
        bool same = false;
        for (const char **v = p->order->envp; *v; v++)
                if (strncmp(*v, variable, k) == 0) {
                        n++;
                        same = strcmp(*v, variable) == 0;
                }
        if (n != 1 || !same)
                printf("# %s: found %zu times, %s\n", variable, n, same ? "the same" : "not the same");
        return n == 1 && same;
}

/* ---- the command ---- */

static void test_payload__arguments_are_copied_as_they_are(void)
{
        char word[] = "a b";
        const char *argv[] = { "cat", word, "", "--", NULL };
        SCENE(s);
        s.r.argv = argv;
        MUST_PLAN(s, "use none\n");
        word[0] = 'X'; /* the caller's memory is the caller's */
        CHECK_INT(length(s.p->order->argv), 4);
        CHECK_STR(s.p->order->argv[0], "cat");
        CHECK_STR(s.p->order->argv[1], "a b");
        CHECK_STR(s.p->order->argv[2], "");
        CHECK_STR(s.p->order->argv[3], "--");
}

static void test_payload__an_empty_command_is_refused(void)
{
        static const char *const none[] = { NULL }, *const empty[] = { "", "x", NULL };
        SCENE(a);
        a.r.argv = none;
        refused(&a, "use none\n", ERR_USAGE, "no command to run", NULL);
        SCENE(b);
        b.r.argv = empty;
        refused(&b, "use none\n", ERR_USAGE, "no command to run", NULL);
}

static void test_payload__more_arguments_than_the_cap_are_refused(void)
{
        static const char *argv[4098];
        for (size_t i = 0; i < 4097; i++)
                argv[i] = "x";
        SCENE(over);
        over.r.argv = argv;
        refused(&over, "use none\n", ERR_USAGE, "the command has 4097 arguments; 4096 is the most", NULL);
        argv[4096] = NULL;
        SCENE(most);
        most.r.argv = argv;
        MUST_PLAN(most, "use none\n");
        CHECK_INT(length(most.p->order->argv), 4096);
}

static void test_payload__a_bare_name_is_tried_in_each_directory_of_the_path(void)
{
        static const char *const argv[] = { "cat", NULL };
        static const char *const want[] = { "/usr/local/sbin/cat", "/usr/local/bin/cat", "/usr/sbin/cat",
                                            "/usr/bin/cat",        "/sbin/cat",          "/bin/cat" };
        SCENE(s);
        s.r.argv = argv;
        MUST_PLAN(s, "use none\nenv PATH=/elsewhere\n"); /* the box's own PATH is ours to choose */
        CHECK_INT(length(s.p->order->exec), COUNT(want));
        for (size_t i = 0; i < COUNT(want) && i < length(s.p->order->exec); i++)
                CHECK_STR(s.p->order->exec[i], want[i]);
}

static void test_payload__a_name_with_a_slash_is_one_path(void)
{
        static const char *const found[] = { "/w/proj/run", NULL }, *const lost[] = { "/no/such", NULL };
        SCENE(a);
        a.r.argv = found;
        MUST_PLAN(a, "use none\n");
        CHECK_INT(length(a.p->order->exec), 1);
        CHECK_STR(a.p->order->exec[0], "/w/proj/run");
        SCENE(b);
        b.r.argv = lost;
        MUST_PLAN(b, "use none\n");
        CHECK_INT(length(b.p->order->exec), 1);
        CHECK_STR(b.p->order->exec[0], "/no/such");
}

/* ---- variables ---- */

static void test_payload__the_environment_is_five_variables_and_nothing_of_the_callers(void)
{
        SCENE(s);
        (void) setenv("CORDON_TEST_LEAK", "1", 1);
        MUST_PLAN(s, "use none\n");
        CHECK_INT(length(s.p->order->envp), 5);
        CHECK(has(s.p, "PATH=" BOX_PATH));
        CHECK(has(s.p, "HOME=" BOX_HOME));
        CHECK(has(s.p, "LANG=C.UTF-8"));
        CHECK(has(s.p, "USER=box"));
        CHECK(has(s.p, "TERM=dumb"));
}

static void test_payload__env_doors_add_what_they_name(void)
{
        static const char *const passed[] = { "TOKEN_FILE=/x=y", "EMPTY=", NULL };
        SCENE(s);
        s.r.passed = passed;
        MUST_PLAN(s, "use none\nenv TOKEN_FILE EMPTY MODE=fast PATHS=z NOT_THERE\n");
        CHECK_INT(length(s.p->order->envp), 9);
        CHECK(has(s.p, "TOKEN_FILE=/x=y"));
        CHECK(has(s.p, "EMPTY="));
        CHECK(has(s.p, "MODE=fast"));
        CHECK(has(s.p, "PATHS=z")); /* and is not taken for PATH */
        CHECK(has(s.p, "PATH=" BOX_PATH));
}

static void test_payload__an_env_door_replaces_a_default(void)
{
        static const char *const passed[] = { "LANG=de_DE.UTF-8", "USER=me", NULL };
        SCENE(s);
        s.r.passed = passed;
        MUST_PLAN(s, "use none\nenv LANG USER PATH=/opt/bin HOME=/w TERM=vt100\n");
        CHECK_INT(length(s.p->order->envp), 5);
        CHECK(has(s.p, "LANG=de_DE.UTF-8"));
        CHECK(has(s.p, "USER=me"));
        CHECK(has(s.p, "PATH=/opt/bin"));
        CHECK(has(s.p, "HOME=/w"));
        CHECK(has(s.p, "TERM=vt100"));
}

static void test_payload__term_is_the_callers_only_on_a_terminal(void)
{
        SCENE(tty);
        tty.r.tty = true;
        tty.r.term = "xterm";
        MUST_PLAN(tty, "use none\n");
        CHECK(has(tty.p, "TERM=xterm"));
        SCENE(pipe);
        pipe.r.term = "xterm";
        MUST_PLAN(pipe, "use none\n");
        CHECK(has(pipe.p, "TERM=dumb"));
        SCENE(unset);
        unset.r.tty = true;
        MUST_PLAN(unset, "use none\n");
        CHECK(has(unset.p, "TERM=dumb"));
}

static void test_payload__the_process_wall_has_no_home(void)
{
        SCENE(s);
        s.r.wall = WALL_PROCESS;
        MUST_PLAN(s, "use none\n");
        CHECK(has(s.p, "HOME=/nonexistent"));
        CHECK_STR(s.p->order->cwd, "/");
}

/* ---- modules ---- */

static void module_scene(struct scene *s)
{
        static const char *const argv[] = { "/w/proj/run", "one", NULL };
        s->r.argv = argv;
        s->r.wall = WALL_WASM;
        s->r.engine = (struct plan_program){ .path = "/e", .real = "/libexec/e", .dev = 1, .ino = 3 };
}

static void test_payload__a_module_is_run_by_the_engine(void)
{
        static const char *const want[] = { "cordon-wasm", "--read", "/d", "--memory",
                                            "1048576",     "--fuel", "7",  BOX_MODULE,
                                            "/w/proj/run", "one",    NULL };
        SCENE(s);
        module_scene(&s);
        s.r.fuel = 7;
        MUST_PLAN(s, "wall wasm\nuse none\nread /d\nlimit memory 1M\n");
        for (size_t i = 0; want[i] && s.p->order->launch[i]; i++)
                CHECK_STR(s.p->order->launch[i], want[i]);
        CHECK_INT(length(s.p->order->launch), 10);
        CHECK_STR(s.p->order->argv[0], "/w/proj/run");
        CHECK_STR(s.p->order->exec[0], BOX_ENGINE);
}

/* Everything but name and arguments. */
static void test_payload__a_parked_box_has_its_module_loaded(void)
{
        static const char *const want[] = { "cordon-wasm", "--line", "3",        "--memory", "1048576",
                                            "--fuel",      "7",      BOX_MODULE, "module",   NULL };
        SCENE(s);
        module_scene(&s);
        s.r.fuel = 7;
        MUST_PLAN(s, "wall wasm\nuse none\nenv A=b\nlimit memory 1M cpu 5s\n");
        CHECK_INT(s.p->warm_count, 1);
        for (size_t i = 0; want[i] && s.p->warm->launch[i]; i++)
                CHECK_STR(s.p->warm->launch[i], want[i]);
        CHECK_INT(length(s.p->warm->launch), 9);
        CHECK_STR(s.p->warm->exec[0], BOX_ENGINE);
        CHECK_STR(s.p->warm->envp[0], "A=b");
        CHECK_INT(s.p->warm->limits.value[LIMIT_CPU], s.p->order->limits.value[LIMIT_CPU]);
}

static void test_payload__a_module_with_a_handle_is_not_parked(void)
{
        SCENE(s);
        module_scene(&s);
        MUST_PLAN(s, "wall wasm\nuse none\nin x\n");
        CHECK_INT(s.p->warm_count, 0);
        CHECK(s.p->warm_why);
}

static void test_payload__a_module_has_the_variables_of_the_policy(void)
{
        SCENE(s);
        module_scene(&s);
        MUST_PLAN(s, "wall wasm\nenv A=b\n");
        CHECK_INT(length(s.p->order->envp), 1);
        CHECK(has(s.p, "A=b"));
}

static void test_payload__a_module_sees_no_program_of_the_host(void)
{
        SCENE(s);
        module_scene(&s);
        MUST_PLAN(s, "wall wasm\nuse base/system\n");
        for (size_t i = 0; i < s.p->step_count; i++)
                if (s.p->steps[i].kind == STEP_BIND)
                        CHECK(strncmp(s.p->steps[i].path, "/.wasm/", 7) == 0);
}

static void test_payload__a_module_has_to_exist(void)
{
        SCENE(s);
        s.r.wall = WALL_WASM;
        CHECK(!scene_plan(&s, "wall wasm\n"));
        CHECK_INT(s.e.code, ERR_EXEC);
}

/* ---- handles ---- */

static void test_payload__handles_are_descriptors_from_three_on(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nin data max 1M as text\nin my-list\nout report max 2K as json\n");
        CHECK_INT(s.p->handle_count, 3);
        CHECK_INT(length(s.p->order->envp), 8);
        CHECK(has(s.p, "CORDON_IN_DATA=/dev/fd/3"));
        CHECK(has(s.p, "CORDON_IN_MY_LIST=/dev/fd/4"));
        CHECK(has(s.p, "CORDON_OUT_REPORT=/dev/fd/5"));
        static const struct plan_handle want[] = {
                { "data", false, 1 << 20, HANDLE_TEXT, false },
                { "my-list", false, 64 << 20, HANDLE_BINARY, false },
                { "report", true, 2048, HANDLE_JSON, false },
        };
        for (size_t i = 0; i < COUNT(want) && i < s.p->handle_count; i++) {
                CHECK_STR(s.p->handles[i].name, want[i].name);
                CHECK_INT(s.p->handles[i].out, want[i].out);
                CHECK_INT(s.p->handles[i].max, want[i].max);
                CHECK_INT(s.p->handles[i].type, want[i].type);
        }
}

static void test_payload__as_many_handles_as_the_cap_find_room(void)
{
        SCENE(s);
        AUTO_BUF(text);
        buf_puts(&text, "use none\n");
        for (int i = 0; i < 32; i++)
                buf_printf(&text, "in h%02d\n", i);
        MUST_PLAN(s, buf_str(&text));
        CHECK_INT(s.p->handle_count, 32);
        CHECK_INT(length(s.p->order->envp), 37);
        CHECK(has(s.p, "CORDON_IN_H31=/dev/fd/34"));
}

/* Two values for one name: which one a program sees is its C library's choice. */
static void test_payload__no_variable_stands_twice(void)
{
        static const char *const texts[] = {
                "use none\nin a-b\nin a_b\n",
                "use none\nin data\nin DATA\n",
                "use none\nin data\nenv CORDON_IN_DATA=/etc/passwd\n",
        };
        for (size_t i = 0; i < COUNT(texts); i++) {
                SCENE(s);
                if (!scene_plan(&s, texts[i]))
                        continue; /* refused: as good */
                for (const char **v = s.p->order->envp; *v; v++)
                        CHECK(has(s.p, *v));
        }
}

/* ---- the working directory ---- */

static void test_payload__an_empty_directory_can_stand_for_a_hidden_one(void)
{
        SCENE(s);
        s.r.cwd = "/w/proj";
        s.r.cwd_made = true;
        MUST_PLAN(s, "use none\n");
        CHECK_STR(s.p->order->cwd, "/w/proj");
        size_t n = 0;
        for (size_t i = 0; i < s.p->step_count; i++)
                n += s.p->steps[i].kind == STEP_FILE && strcmp(s.p->steps[i].path, "/w/proj/.cordon") == 0;
        CHECK_INT(n, 1);
        SCENE(shown); /* a door shows it already */
        shown.r.cwd = "/w/proj";
        shown.r.cwd_made = true;
        MUST_PLAN(shown, "use none\nread /w/proj\n");
        for (size_t i = 0; i < shown.p->step_count; i++)
                CHECK(strcmp(shown.p->steps[i].path, "/w/proj/.cordon") != 0);
}

static void cwd_is(const char *cwd, const char *asked, enum wall_kind wall, const char *want)
{
        SCENE(s);
        s.r.cwd = cwd;
        s.r.cwd_asked = asked;
        s.r.wall = wall;
        MUST_PLAN(s, "use base/loader\nread /w/proj /file\n");
        CHECK_STR(s.p->order->cwd, want);
}

static void test_payload__the_working_directory_is_the_asked_one(void)
{
        cwd_is("/w/proj", "/anywhere", WALL_NAMESPACE, "/anywhere");
        cwd_is("/w/proj", "/anywhere", WALL_PROCESS, "/anywhere");
}

static void test_payload__the_working_directory_is_the_callers_where_it_is_visible(void)
{
        cwd_is("/w/proj", NULL, WALL_NAMESPACE, "/w/proj");
        cwd_is("/w/proj/deep/er", NULL, WALL_NAMESPACE, "/w/proj/deep/er");
        cwd_is("/usr/lib64", NULL, WALL_NAMESPACE, "/usr/lib64"); /* a stock door shows it as well */
}

static void test_payload__the_working_directory_is_the_callers_where_it_leads_to_a_door(void)
{
        cwd_is("/w", NULL, WALL_NAMESPACE, "/w");
        cwd_is("/", NULL, WALL_NAMESPACE, "/");
        cwd_is("/usr", NULL, WALL_NAMESPACE, BOX_HOME); /* leads to stock doors only */
}

static void test_payload__else_the_working_directory_is_the_home_or_the_root(void)
{
        cwd_is("/nowhere", NULL, WALL_NAMESPACE, BOX_HOME);
        cwd_is("/w/project", NULL, WALL_NAMESPACE, BOX_HOME); /* beside, not below */
        cwd_is("/file", NULL, WALL_PROCESS, "/file");         /* leads to itself: what chdir() says is told */
        cwd_is("/nowhere", NULL, WALL_PROCESS, "/");
        SCENE(gone);
        gone.r.cwd = "/gone";
        MUST_PLAN(gone, "use none\nread /gone/x?\n");
        CHECK_STR(gone.p->order->cwd, BOX_HOME);
}

/* ---- the plan in words ---- */

static void test_print__every_step_rule_and_variable_has_a_line(void)
{
        static const char *const argv[] = { "cat", NULL };
        AUTO_BUF(out);
        SCENE(s);
        s.r.argv = argv;
        s.r.as_root = true;
        s.r.tty = true;
        MUST_PLAN(s, "box mine\nuse base/loader\nread /d? except sub\nwrite /e\nrun awk\nenv KEY=hidden\nin "
                     "data\n");
        plan_print(s.p, &out);
        CHECK(!out.failed);
        size_t lines = 0;
        for (const char *c = buf_str(&out); *c; c++)
                lines += *c == '\n';
        CHECK_INT(lines, 2 + s.p->step_count + s.p->rule_count + length(s.p->order->envp) + 1 +
                                 length(s.p->order->exec));
        for (size_t i = 0; i < s.p->step_count; i++) {
                char line[128];
                int n = snprintf(line, sizeof line, "\n%-8s %s", plan_step_name(s.p->steps[i].kind),
                                 s.p->steps[i].path);
                const char *at = strstr(buf_str(&out), line);
                while (at && at[n] != '\n' && at[n] != ' ')
                        at = strstr(at + 1, line);
                if (!at)
                        printf("# no line:%s\n", line);
                CHECK(at != NULL);
        }
        static const char *const want[] = {
                "box mine\nwall namespace\n",
                "\nbind     /d ro noexec idmap if-there\n",
                "\nbind     /e rw noexec idmap\n",
                "\nbind     /usr/bin/mawk ro exec idmap\n",
                "\nlink     /usr/bin/awk -> /usr/bin/mawk\n",
                "\nmask     /d/sub\n",
                "\nlandlock /d list, in it at the start: list read\n",
                "\nlandlock /e list read write\n",
                "\nlandlock /usr/bin/mawk read exec\n",
                "\nlandlock /dev/null read device\n",
                "\nenv      KEY\n",
                "\nenv      CORDON_IN_DATA\n",
                "\ncwd      " BOX_HOME "\n",
                "\nexec     /usr/bin/cat\n",
        };
        for (size_t i = 0; i < COUNT(want); i++) {
                if (!strstr(buf_str(&out), want[i]))
                        printf("# missing: %s\n", want[i]);
                CHECK(strstr(buf_str(&out), want[i]) != NULL);
        }
        CHECK(!strstr(buf_str(&out), "hidden")); /* a value may be a secret */
}

static void test_print__a_hostile_path_is_printed_inert(void)
{
        AUTO_BUF(out);
        SCENE(s);
        s.r.cwd_asked = "/a\x1b[2J\nbox other";
        MUST_PLAN(s, "use none\n");
        plan_print(s.p, &out);
        CHECK(!strchr(buf_str(&out), '\x1b'));
        CHECK(!strstr(buf_str(&out), "\nbox other"));
}

static void test_print__each_step_has_a_name_of_its_own(void)
{
        for (int i = 0; i < STEP_KIND__COUNT; i++) {
                CHECK(plan_step_name((enum step_kind) i) && plan_step_name((enum step_kind) i)[0]);
                for (int j = 0; j < i; j++)
                        CHECK(strcmp(plan_step_name((enum step_kind) i),
                                     plan_step_name((enum step_kind) j)) != 0);
        }
        CHECK_STR(plan_step_name(STEP_KIND__COUNT), "?");
        plan_free(NULL);
}

static const struct test_case cases[] = {
        CASE(test_payload__an_empty_directory_can_stand_for_a_hidden_one),
        CASE(test_payload__arguments_are_copied_as_they_are),
        CASE(test_payload__an_empty_command_is_refused),
        CASE(test_payload__more_arguments_than_the_cap_are_refused),
        CASE(test_payload__a_bare_name_is_tried_in_each_directory_of_the_path),
        CASE(test_payload__a_name_with_a_slash_is_one_path),
        CASE(test_payload__the_environment_is_five_variables_and_nothing_of_the_callers),
        CASE(test_payload__env_doors_add_what_they_name),
        CASE(test_payload__an_env_door_replaces_a_default),
        CASE(test_payload__term_is_the_callers_only_on_a_terminal),
        CASE(test_payload__the_process_wall_has_no_home),
        CASE(test_payload__a_module_is_run_by_the_engine),
        CASE(test_payload__a_parked_box_has_its_module_loaded),
        CASE(test_payload__a_module_with_a_handle_is_not_parked),
        CASE(test_payload__a_module_has_the_variables_of_the_policy),
        CASE(test_payload__a_module_sees_no_program_of_the_host),
        CASE(test_payload__a_module_has_to_exist),
        CASE(test_payload__handles_are_descriptors_from_three_on),
        CASE(test_payload__as_many_handles_as_the_cap_find_room),
        CASE(test_payload__no_variable_stands_twice),
        CASE(test_payload__the_working_directory_is_the_asked_one),
        CASE(test_payload__the_working_directory_is_the_callers_where_it_is_visible),
        CASE(test_payload__the_working_directory_is_the_callers_where_it_leads_to_a_door),
        CASE(test_payload__else_the_working_directory_is_the_home_or_the_root),
        CASE(test_print__every_step_rule_and_variable_has_a_line),
        CASE(test_print__a_hostile_path_is_printed_inert),
        CASE(test_print__each_step_has_a_name_of_its_own),
};
TEST_MAIN(cases)

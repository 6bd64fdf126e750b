/* SPDX-License-Identifier: MIT */
/* What the box will see, one sentence each: doors as binds, links, masks and Landlock rules. */
#include "test_plan_common.h"

#include <stdio.h>

#define RO_DIR STEP_IS_DIR
#define LOOK   (RIGHT_LIST | RIGHT_READ)
#define LOADER "/lib64/ld-linux-x86-64.so.2"

static bool under(const char *path, const char *root)
{
        size_t n = strlen(root);
        return strncmp(path, root, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* ---- doors become binds ---- */

static void test_view__every_door_becomes_a_bind_of_what_was_seen(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d /file\nwrite /e\n");
        CHECK_INT(count_steps(s.p, STEP_BIND), 3);
        CHECK_INT(bind_flags(s.p, "/d"), STEP_IS_DIR);
        CHECK_INT(bind_flags(s.p, "/file"), 0);
        CHECK_INT(bind_flags(s.p, "/e"), STEP_IS_DIR | STEP_WRITE);
        for (size_t i = 0; i < s.p->step_count; i++) {
                const struct plan_step *b = &s.p->steps[i];
                if (b->kind != STEP_BIND)
                        continue;
                struct plan_seen seen = fake_look(b->path);
                CHECK_STR(b->text, b->path);
                CHECK_INT(b->dev, seen.dev);
                CHECK_INT(b->ino, seen.ino);
        }
}

static void test_view__a_sock_door_becomes_a_bind(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nsock /s.sock\n");
        CHECK_INT(bind_flags(s.p, "/s.sock"), STEP_SOCK);
        CHECK_INT(s.p->sockets, PLAN_SOCKETS_FREE);
}

static void test_view__an_optional_door_that_is_there_stays_optional(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d?\n");
        CHECK_INT(bind_flags(s.p, "/d"), STEP_IS_DIR | STEP_OPTIONAL);
}

static void test_view__optional_doors_that_are_missing_vanish(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /gone?\nwrite /gone2?\nsock /gone3?\nrun gone4?\n");
        CHECK_INT(count_steps(s.p, STEP_BIND), 0);
        CHECK_INT(rights(s.p, "/gone"), -1);
        CHECK_INT(rights(s.p, "/gone2"), -1);
        CHECK(!s.p->writes_host);
}

static void test_view__parents_come_before_children(void)
{
        SCENE(s);
        /* Reading doors come first in a policy: here the child does. */
        MUST_PLAN(s, "use none\nwrite /d/sub/deep /d\nread /d/sub /d-e\nrun /d/file /d/sub/\n");
        CHECK_INT(count_steps(s.p, STEP_BIND), 5); /* /d, /d/sub to run in, /d/sub/deep, /d/file, /d-e */
        for (size_t i = 0; i < s.p->step_count; i++)
                for (size_t j = i + 1; j < s.p->step_count; j++)
                        if (s.p->steps[i].kind == STEP_BIND && s.p->steps[j].kind == STEP_BIND)
                                CHECK(!under(s.p->steps[i].path, s.p->steps[j].path));
}

static void test_view__the_built_in_steps_come_before_the_doors(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d\n");
        const struct plan_step *door = find_step(s.p, STEP_BIND, "/d");
        const struct plan_step *own[] = {
                find_step(s.p, STEP_SCRATCH, "/tmp"),     find_step(s.p, STEP_SCRATCH, BOX_HOME),
                find_step(s.p, STEP_DEVICE, "/dev/null"), find_step(s.p, STEP_PROC, "/proc"),
                find_step(s.p, STEP_FILE, "/etc/passwd"), find_step(s.p, STEP_FILE, "/etc/group"),
                find_step(s.p, STEP_LINK, "/dev/fd"),
        };
        for (size_t i = 0; i < COUNT(own); i++)
                CHECK(own[i] && door && own[i] < door);
        CHECK(!find_step(s.p, STEP_DEVPTS, "/dev/pts"));
        CHECK(!find_step(s.p, STEP_DEVICE, "/dev/tty"));
        CHECK_INT(find_step(s.p, STEP_SCRATCH, "/tmp")->flags, STEP_WRITE); /* and not executable */
        CHECK_INT(find_step(s.p, STEP_SCRATCH, BOX_HOME)->flags, STEP_WRITE);
}

static void test_view__a_terminal_brings_devpts(void)
{
        SCENE(s);
        s.r.tty = true;
        MUST_PLAN(s, "use none\n");
        CHECK(find_step(s.p, STEP_DEVPTS, "/dev/pts") != NULL);
        CHECK(find_step(s.p, STEP_DEVICE, "/dev/tty") != NULL);
        CHECK_INT(rights(s.p, "/dev/pts"), LOOK | RIGHT_DEVICE);
}

static void test_view__passwd_has_a_root_line_unless_the_box_is_root(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\n");
        CHECK_INT(s.p->uid, 1000);
        CHECK(strstr(find_step(s.p, STEP_FILE, "/etc/passwd")->text, "root:x:0:0:") != NULL);
        CHECK(strstr(find_step(s.p, STEP_FILE, "/etc/passwd")->text, "box:x:1000:1000:") != NULL);
        SCENE(r);
        r.r.root_inside = true;
        MUST_PLAN(r, "use none\n");
        CHECK_INT(r.p->uid, 0);
        CHECK(strstr(find_step(r.p, STEP_FILE, "/etc/passwd")->text, "root:") == NULL);
        CHECK(strstr(find_step(r.p, STEP_FILE, "/etc/passwd")->text, "box:x:0:0:") != NULL);
}

static void test_view__shared_memory_is_private_unless_a_door_lies_there(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d\n");
        CHECK_INT(find_step(s.p, STEP_SCRATCH, "/dev/shm")->flags, STEP_WRITE);
        CHECK_INT(rights(s.p, "/dev/shm"), LOOK | RIGHT_WRITE);
        SCENE(any);
        MUST_PLAN(any, "use base/system\n");
        CHECK_INT(find_step(any.p, STEP_SCRATCH, "/dev/shm")->flags, STEP_WRITE | STEP_EXEC);
        SCENE(at);
        MUST_PLAN(at, "use none\nread /dev/shm?\n");
        CHECK(!find_step(at.p, STEP_SCRATCH, "/dev/shm"));
}

static void test_view__var_tmp_is_a_link_unless_a_door_lies_there(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d\n");
        CHECK(find_step(s.p, STEP_LINK, "/var/tmp") != NULL);
        SCENE(at);
        MUST_PLAN(at, "use none\nread /var/tmp\n");
        CHECK(!find_step(at.p, STEP_LINK, "/var/tmp"));
        CHECK_INT(bind_flags(at.p, "/var/tmp"), RO_DIR);
        SCENE(below);
        MUST_PLAN(below, "use none\nread /var/tmp/x\n");
        CHECK(!find_step(below.p, STEP_LINK, "/var/tmp"));
        CHECK_INT(bind_flags(below.p, "/var/tmp/x"), RO_DIR);
}

/* ---- what may be executed ---- */

static void test_view__without_run_any_own_doors_are_not_executable(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d /file\nwrite /e\nrun cat\n");
        CHECK_INT(bind_flags(s.p, "/d"), RO_DIR);
        CHECK_INT(bind_flags(s.p, "/file"), 0);
        CHECK_INT(bind_flags(s.p, "/e"), RO_DIR | STEP_WRITE);
        CHECK_INT(bind_flags(s.p, "/usr/bin/cat"), STEP_EXEC);
        CHECK_INT(rights(s.p, "/d"), LOOK);
        CHECK_INT(rights(s.p, "/usr/bin/cat"), RIGHT_READ | RIGHT_EXEC);
}

static void test_view__stock_doors_sit_on_executable_mounts_but_have_no_execute_right(void)
{
        SCENE(s);
        MUST_PLAN(s, "use base/loader\n");
        CHECK_INT(bind_flags(s.p, "/usr/lib64"), RO_DIR | STEP_EXEC | STEP_OPTIONAL);
        CHECK_INT(rights(s.p, "/usr/lib64"), LOOK);
        CHECK_INT(rights(s.p, LOADER), RIGHT_READ | RIGHT_EXEC);
}

static void test_view__with_run_any_all_that_the_box_sees_is_executable(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d\nwrite /e\nrun any\n");
        CHECK_INT(bind_flags(s.p, "/d"), RO_DIR | STEP_EXEC);
        CHECK_INT(rights(s.p, "/d"), LOOK | RIGHT_EXEC);
        CHECK_INT(bind_flags(s.p, "/e"), RO_DIR | STEP_WRITE | STEP_EXEC);
        CHECK_INT(rights(s.p, "/e"), LOOK | RIGHT_WRITE | RIGHT_EXEC);
        CHECK_INT(rights(s.p, "/tmp"), LOOK | RIGHT_WRITE | RIGHT_EXEC);
        CHECK(s.p->run_any && find_step(s.p, STEP_SCRATCH, "/tmp")->flags & STEP_EXEC);
        SCENE(named);
        MUST_PLAN(named, "use none\nwrite /e\nrun awk\n");
        CHECK_INT(bind_flags(named.p, "/e"), RO_DIR | STEP_WRITE);
        CHECK_INT(rights(named.p, "/e"), LOOK | RIGHT_WRITE);
        CHECK_INT(rights(named.p, "/tmp"), LOOK | RIGHT_WRITE);
        CHECK(!named.p->run_any && !(find_step(named.p, STEP_SCRATCH, "/tmp")->flags & STEP_EXEC));
}

static void test_view__a_run_line_over_that_very_path_makes_a_write_door_executable(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nwrite /opt/tool\nwrite /e\nrun /opt/tool/\n");
        CHECK_INT(bind_flags(s.p, "/opt/tool"), RO_DIR | STEP_WRITE | STEP_EXEC);
        CHECK_INT(rights(s.p, "/opt/tool"), LOOK | RIGHT_WRITE | RIGHT_EXEC);
        CHECK_INT(bind_flags(s.p, "/e"), RO_DIR | STEP_WRITE);
        SCENE(f);
        MUST_PLAN(f, "use none\nwrite /file\nrun /file\n");
        CHECK_INT(bind_flags(f.p, "/file"), STEP_WRITE | STEP_EXEC);
}

static void test_view__a_run_line_inside_a_write_door_covers_its_own_path_only(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nwrite /d\nrun /d/file /d/sub/\n");
        CHECK_INT(bind_flags(s.p, "/d"), RO_DIR | STEP_WRITE);
        CHECK_INT(rights(s.p, "/d"), LOOK | RIGHT_WRITE);
        CHECK_INT(bind_flags(s.p, "/d/file"), STEP_WRITE | STEP_EXEC);
        CHECK_INT(bind_flags(s.p, "/d/sub"), RO_DIR | STEP_WRITE | STEP_EXEC);
}

static void test_view__a_run_line_of_a_directory_covers_all_below_it(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nwrite /d/sub/deep\nrun /d/\n");
        CHECK_INT(bind_flags(s.p, "/d/sub/deep"), RO_DIR | STEP_WRITE | STEP_EXEC);
        CHECK_INT(rights(s.p, "/d/sub/deep"), LOOK | RIGHT_WRITE | RIGHT_EXEC);
}

static void test_view__a_run_line_beside_a_write_door_does_not_make_it_executable(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nwrite /d-e /d\nrun /d/sub/\n");
        CHECK_INT(bind_flags(s.p, "/d-e"), RO_DIR | STEP_WRITE);
        CHECK_INT(bind_flags(s.p, "/d"), RO_DIR | STEP_WRITE);
}

static void test_view__a_listed_program_is_called_by_its_name(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nrun awk\n");
        CHECK_INT(bind_flags(s.p, "/usr/bin/mawk"), STEP_EXEC);
        const struct plan_step *l = find_step(s.p, STEP_LINK, "/usr/bin/awk");
        CHECK(l != NULL);
        CHECK_STR(l ? l->text : "", "/usr/bin/mawk");
        CHECK_INT(find_step(s.p, STEP_BIND, "/usr/bin/mawk")->ino, FAKE_PROGRAM_INO);
        CHECK_INT(rights(s.p, "/usr/bin/mawk"), RIGHT_READ | RIGHT_EXEC);
}

static void test_view__a_program_behind_an_executable_door_needs_no_mount(void)
{
        SCENE(s);
        MUST_PLAN(s, "use base/system\nrun any awk\n");
        CHECK_INT(bind_flags(s.p, "/usr"), RO_DIR | STEP_EXEC | STEP_OPTIONAL);
        CHECK_INT(bind_flags(s.p, "/usr/bin/mawk"), -1);
        CHECK(!find_step(s.p, STEP_LINK, "/usr/bin/awk"));
}

static void test_view__the_command_itself_may_start_without_a_line(void)
{
        static const char *const argv[] = { "cat", NULL };
        SCENE(s);
        s.r.argv = argv;
        MUST_PLAN(s, "use none\nread /usr\n");
        CHECK_INT(bind_flags(s.p, "/usr"), RO_DIR);
        CHECK_INT(bind_flags(s.p, "/usr/bin/cat"), STEP_EXEC);
        CHECK_INT(rights(s.p, "/usr/bin/cat"), RIGHT_READ | RIGHT_EXEC);
}

/* view.c's first rule has one exception, the `run` line; naming the command is none. */
static void test_view__a_command_in_a_write_door_is_not_both_writable_and_executable(void)
{
        static const char *const argv[] = { "/w/proj/run", NULL };
        SCENE(s);
        s.r.argv = argv;
        MUST_PLAN(s, "use none\nwrite /w/proj\n");
        CHECK(bind_flags(s.p, "/w/proj/run") != (STEP_WRITE | STEP_EXEC));
        SCENE(any);
        any.r.argv = argv;
        MUST_PLAN(any, "use none\nwrite /w/proj\nrun any\n");
        CHECK(bind_flags(any.p, "/w/proj/run") != (STEP_WRITE | STEP_EXEC));
}

/* ---- links ---- */

static void test_view__a_linked_door_becomes_a_link_when_its_end_is_visible(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /usr /bin\n");
        const struct plan_step *l = find_step(s.p, STEP_LINK, "/bin");
        CHECK(l != NULL);
        CHECK_STR(l ? l->text : "", "usr/bin");
        CHECK_INT(bind_flags(s.p, "/bin"), -1);
        CHECK_INT(rights(s.p, "/bin"), -1);
}

static void test_view__a_linked_door_is_a_bind_when_its_end_is_not_visible(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /bin /up /d\n");
        CHECK_INT(bind_flags(s.p, "/bin"), RO_DIR);
        CHECK(!find_step(s.p, STEP_LINK, "/bin"));
        CHECK_INT(bind_flags(s.p, "/up"), RO_DIR); /* .. in the target: not guessed */
        CHECK(!find_step(s.p, STEP_LINK, "/up"));
        SCENE(back);
        MUST_PLAN(back, "use none\nread /d /d/up\n"); /* leads to /e, whatever its letters begin with */
        CHECK(!find_step(back.p, STEP_LINK, "/d/up"));
}

static void test_view__a_linked_write_door_is_a_bind(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d\nwrite /to-d\n");
        CHECK_INT(bind_flags(s.p, "/to-d"), RO_DIR | STEP_WRITE);
        CHECK(!find_step(s.p, STEP_LINK, "/to-d"));
}

static void test_view__a_path_below_a_linked_door_goes_through_it(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /usr /lib64 " LOADER "\nwrite /lib64/own\n");
        CHECK(find_step(s.p, STEP_LINK, "/lib64") != NULL);
        CHECK_INT(bind_flags(s.p, LOADER), -1);
        CHECK_INT(bind_flags(s.p, "/usr" LOADER), -1); /* visible there already */
        CHECK(!find_step(s.p, STEP_LINK, LOADER));
        CHECK_INT(bind_flags(s.p, "/lib64/own"), -1);
        CHECK_INT(bind_flags(s.p, "/usr/lib64/own"), RO_DIR | STEP_WRITE);
        CHECK_INT(rights(s.p, "/usr/lib64/own"), LOOK | RIGHT_WRITE);
        const struct plan_step *b = find_step(s.p, STEP_BIND, "/usr/lib64/own");
        CHECK_STR(b ? b->text : "", "/lib64/own"); /* what it is on the host */
}

static void test_view__a_path_below_an_unlinked_door_stays_where_it_is(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread " LOADER "\n");
        CHECK_INT(bind_flags(s.p, LOADER), STEP_EXEC);
}

/* The wall makes links only on its own root: inside another door's mount the host's own link is there. */
static void test_view__a_link_inside_a_visible_door_adds_no_step(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /etc /usr /etc/localtime\n");
        CHECK_INT(bind_flags(s.p, "/etc"), RO_DIR);
        CHECK(!find_step(s.p, STEP_LINK, "/etc/localtime"));
}

/* ---- doors within doors ---- */

static void test_view__redundant_read_doors_add_no_mount(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d /d/sub /d/file /d/sub/deep\n");
        CHECK_INT(count_steps(s.p, STEP_BIND), 1);
        CHECK_INT(bind_flags(s.p, "/d"), RO_DIR);
        CHECK_INT(rights(s.p, "/d/sub"), -1);
}

static void test_view__a_read_door_that_shows_more_than_the_one_above_is_no_redundant_one(void)
{
        SCENE(exec);
        MUST_PLAN(exec, "use none\nread /d /d/sub\nrun /d/sub/\n");
        CHECK_INT(bind_flags(exec.p, "/d"), RO_DIR);
        CHECK_INT(bind_flags(exec.p, "/d/sub"), RO_DIR | STEP_EXEC);
        SCENE(except);
        MUST_PLAN(except, "use none\nread /d except sub/deep\nread /d/sub\n");
        CHECK_INT(bind_flags(except.p, "/d/sub"), RO_DIR);
}

static void test_view__a_read_door_inside_a_write_door_is_implied_by_it(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nwrite /d\nread /d/sub /d/file\n");
        CHECK_INT(count_steps(s.p, STEP_BIND), 1);
        CHECK_INT(bind_flags(s.p, "/d"), RO_DIR | STEP_WRITE);
}

static void test_view__a_write_door_inside_a_read_door_is_mounted_on_it(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d\nwrite /d/sub\n");
        CHECK_INT(bind_flags(s.p, "/d"), RO_DIR);
        CHECK_INT(bind_flags(s.p, "/d/sub"), RO_DIR | STEP_WRITE);
        CHECK_INT(rights(s.p, "/d"), LOOK);
        CHECK_INT(rights(s.p, "/d/sub"), LOOK | RIGHT_WRITE);
}

/* Two mounts on one path: which lies on top hangs on how qsort treats equals. */
static void test_view__no_path_is_mounted_twice(void)
{
        static const char *const texts[] = {
                "use none\nread /d\nwrite /d\n",
                "use none\nread /d except sub\nread /d except file\n",
                "use none\nrun cat\n",
        };
        static const char *const argv[] = { "cat", NULL };
        for (size_t i = 0; i < COUNT(texts); i++) {
                SCENE(s);
                s.r.argv = argv;
                MUST_PLAN(s, texts[i]);
                for (size_t j = 0; j < s.p->step_count; j++) {
                        const struct plan_step *b = &s.p->steps[j];
                        if (b->kind == STEP_BIND && find_step(s.p, STEP_BIND, b->path) != b) {
                                printf("# twice: %s\n", b->path);
                                CHECK(find_step(s.p, STEP_BIND, b->path) == b);
                        }
                }
        }
}

static void test_view__the_wider_of_two_doors_over_one_path_lies_on_top(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d\nwrite /d\n");
        int last = -1;
        for (size_t i = 0; i < s.p->step_count; i++)
                if (s.p->steps[i].kind == STEP_BIND && strcmp(s.p->steps[i].path, "/d") == 0)
                        last = (int) s.p->steps[i].flags;
        CHECK_INT(last, RO_DIR | STEP_WRITE);
        CHECK_INT(rights(s.p, "/d"), LOOK | RIGHT_WRITE);
}

static void test_view__except_becomes_a_mask_after_all_binds(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d except sub file\nread /e except x\nwrite /w/proj\n");
        CHECK_INT(count_steps(s.p, STEP_MASK), 3);
        CHECK(find_step(s.p, STEP_MASK, "/d/sub") != NULL);
        CHECK(find_step(s.p, STEP_MASK, "/d/file") != NULL);
        CHECK(find_step(s.p, STEP_MASK, "/e/x") != NULL);
        bool masking = false;
        for (size_t i = 0; i < s.p->step_count; i++) {
                masking = masking || s.p->steps[i].kind == STEP_MASK;
                CHECK_INT(masking, s.p->steps[i].kind == STEP_MASK);
        }
        CHECK(masking);
}

/* Else what somebody outside makes anew under a hidden name would have the door's rights. */
static void test_view__directories_that_lead_to_an_except_hand_their_rights_down(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d except sub/deep/x sub/gone/y\nread /e\n");
        static const char *const lead[] = { "/d", "/d/sub", "/d/sub/deep", "/d/sub/gone" };
        for (size_t i = 0; i < COUNT(lead); i++) {
                CHECK_INT(rights(s.p, lead[i]), RIGHT_LIST);
                CHECK_INT(entries(s.p, lead[i]), LOOK);
        }
        CHECK_INT(rights(s.p, "/e"), LOOK);
        CHECK_INT(entries(s.p, "/e"), 0);
        SCENE(shown);
        MUST_PLAN(shown, "use none\nread /d except sub\nread /d/sub\n");
        CHECK_INT(rights(shown.p, "/d"), LOOK);
}

/* The box's own /etc can be read, and with it all that is mounted below. */
static void test_view__rights_from_above_the_door_are_handed_down_too(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /etc/own except key\n");
        CHECK_INT(rights(s.p, "/etc"), RIGHT_LIST);
        CHECK_INT(entries(s.p, "/etc"), LOOK);
        CHECK_INT(rights(s.p, "/etc/own"), RIGHT_LIST);
        CHECK_INT(entries(s.p, "/etc/own"), LOOK);
}

/* A line shows again what another one excepts, unless it excepts that itself. */
static void test_view__what_every_line_excepts_is_hidden(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d except sub\nread /d except sub file\n");
        CHECK(find_step(s.p, STEP_MASK, "/d/sub") != NULL);
        CHECK(find_step(s.p, STEP_MASK, "/d/file") == NULL);
}

/* The read line has no mount of its own there, so the `run` line needs one. */
static void test_view__a_run_line_in_a_writable_place_holds_although_a_read_line_is_there_too(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nwrite /d\nread /d/sub\nrun /d/sub/\n");
        CHECK_INT(bind_flags(s.p, "/d/sub"), STEP_EXEC | STEP_WRITE | STEP_IS_DIR);
        CHECK_INT(bind_flags(s.p, "/d"), RO_DIR | STEP_WRITE);
}

static void test_view__a_run_line_shows_what_an_except_of_another_line_names(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d except file\nrun /d/file\n");
        CHECK_INT(count_steps(s.p, STEP_MASK), 0);
        CHECK_INT(bind_flags(s.p, "/d/file"), STEP_EXEC);
}

/* ---- refusals ---- */

static void test_view__a_door_inside_what_an_except_hides_is_refused(void)
{
        SCENE(read);
        refused(&read, "use none\nread /d except sub\nread /d/sub/deep\n", ERR_DOOR,
                "t:2:6: `except` hides /d/sub, but `read /d/sub/deep` opens a part of it",
                "except only what is not opened by another line");
        SCENE(gone);
        MUST_PLAN(gone, "use none\nread /d except sub\nread /d/sub/gone?\n");
        CHECK_INT(count_steps(gone.p, STEP_MASK), 1);
}

static void test_view__a_missing_door_is_told_with_its_place_and_a_line_to_type(void)
{
        SCENE(read);
        refused(&read, "use none\n  read /d /gone\n", ERR_DOOR, "t:2:11: /gone does not exist on this host",
                "use `read /gone?` if it may be missing");
        SCENE(write);
        refused(&write, "use none\nwrite /gone\n", ERR_DOOR, "t:2:7: /gone does not exist on this host",
                "its directory does not exist either: create it first, or use `write /gone?` if it may be "
                "missing");
        SCENE(sock);
        refused(&sock, "use none\nsock /gone\n", ERR_DOOR, "t:2:6: /gone does not exist on this host",
                "use `sock /gone?` if it may be missing");
        SCENE(run);
        refused(&run, "use none\nrun cat gone\n", ERR_DOOR, "t:2:9: program gone does not exist on this host",
                "use `run gone?` if it may be missing");
}

/* The line between the backquotes of a hint, as a policy: it must load, and open this path, optional. */
static void check_typed(const char *hint, const char *path)
{
        char text[512];
        const char *from = strchr(hint, '`');
        const char *to = from ? strrchr(from, '`') : NULL;
        CHECK(to && to > from + 1);
        if (!to || to == from)
                return;
        (void) snprintf(text, sizeof text, "use none\n%.*s\n", (int) (to - from - 1), from + 1);
        struct checked_policy *c = load(text);
        size_t n = 0;
        const struct door *d = c ? policy_doors(c, &n) : NULL;
        CHECK_INT(n, 1);
        if (n == 1) {
                CHECK_STR(d->path, path);
                CHECK(d->optional);
        }
        policy_checked_free(c);
}

static void test_view__the_hint_for_a_missing_door_can_be_typed_whatever_its_name(void)
{
        static const char *const lines[][2] = {
                { "read /plain", "/plain" },
                { "read \"/a b\"", "/a b" },
                { "write \"/a\\\"b\"", "/a\"b" },
                { "read \"/a\\\\b\"", "/a\\b" },
                { "sock \"/a#b\"", "/a#b" },
                { "run \"/opt/my tool\"", "/opt/my tool" },
                { "run \"/opt/my dir/\"", "/opt/my dir/" },
        };
        for (size_t i = 0; i < COUNT(lines); i++) {
                char text[128];
                SCENE(s);
                (void) snprintf(text, sizeof text, "use none\n%s\n", lines[i][0]);
                CHECK(!scene_plan(&s, text));
                CHECK_INT(s.e.code, ERR_DOOR);
                check_typed(s.e.hint, lines[i][1]);
        }
}

static void test_view__the_hint_can_be_typed_for_names_that_look_like_patterns(void)
{
        static const char *const lines[][2] = { { "read \"/a*b\"", "/a*b" }, { "read \"/a?\"", "/a?" } };
        for (size_t i = 0; i < COUNT(lines); i++) {
                char text[128];
                SCENE(s);
                (void) snprintf(text, sizeof text, "use none\n%s\n", lines[i][0]);
                CHECK(!scene_plan(&s, text));
                check_typed(s.e.hint, lines[i][1]);
        }
}

static void flag_refused(const char *word, const char *arg, const char *what)
{
        SCENE(s);
        s.r.wall = strcmp(word, "sock") == 0 ? WALL_PROCESS : WALL_NAMESPACE;
        struct policy *lines = policy_new();
        CHECK_INT(policy_add_flag(lines, "use", "none", &s.e), 0);
        CHECK_INT(policy_add_flag(lines, word, arg, &s.e), 0);
        CHECK(!scene_check(&s, lines));
        CHECK_STR(s.e.what, what);
        policy_free(lines);
}

static void test_view__a_refused_flag_is_told_by_its_name(void)
{
        flag_refused("read", "/gone", "--read: /gone does not exist on this host");
        flag_refused("run", "gone", "--run: program gone does not exist on this host");
        flag_refused("sock", "/s.sock", "--sock: the process wall does not support a `sock` door");
}

static void test_view__a_socket_in_a_read_or_write_door_is_refused(void)
{
        SCENE(s);
        refused(&s, "use none\nread /s.sock\n", ERR_DOOR, "t:2:6: /s.sock is neither a file nor a directory",
                "a Unix socket is opened with `sock /s.sock`");
        SCENE(w);
        refused(&w, "use none\nwrite /s.sock\n", ERR_DOOR, "t:2:7: /s.sock is neither a file nor a directory",
                "a Unix socket is opened with `sock /s.sock`");
}

static void test_view__a_device_or_pipe_is_refused(void)
{
        static const char *const words[] = { "read", "write", "sock" };
        for (size_t i = 0; i < COUNT(words); i++) {
                char text[64];
                SCENE(s);
                (void) snprintf(text, sizeof text, "use none\n%s /odd?\n", words[i]);
                CHECK(!scene_plan(&s, text));
                CHECK_INT(s.e.code, ERR_DOOR);
        }
}

static void test_view__what_is_no_socket_is_refused_in_a_sock_door(void)
{
        SCENE(s);
        CHECK(!scene_plan(&s, "use none\nsock /file\n"));
        CHECK_INT(s.e.code, ERR_DOOR);
        CHECK_INT(strncmp(s.e.what, "t:2:6: /file ", 13), 0);
        CHECK_STR(s.e.hint, "a file or directory is opened with `read /file`");
        SCENE(d);
        CHECK(!scene_plan(&d, "use none\nsock /d\n"));
        CHECK_INT(d.e.code, ERR_DOOR);
}

static void test_view__the_refusal_of_a_sock_door_does_not_deny_that_a_file_is_one(void)
{
        SCENE(s);
        CHECK(!scene_plan(&s, "use none\nsock /file\n"));
        CHECK(s.e.what[0] && !strstr(s.e.what, "neither a file"));
}

/* What a directory shows of the host's sockets is refused by who connects; without one there are none. */
static void test_view__sockets_are_served_beside_a_directory(void)
{
        static const struct {
                const char *text;
                enum plan_sockets sockets;
        } rows[] = {
                { "use none\n", PLAN_SOCKETS_NONE },
                { "use none\nread /d\n", PLAN_SOCKETS_NONE },
                { "use none\nsock /s.sock\n", PLAN_SOCKETS_FREE },
                { "use none\nread /file\nsock /s.sock\n", PLAN_SOCKETS_FREE },
                { "use none\nread /d\nsock /s.sock\n", PLAN_SOCKETS_SERVED },
                { "use none\nwrite /d\nsock /s.sock\n", PLAN_SOCKETS_SERVED },
                { "use base/strict\n", PLAN_SOCKETS_NONE },
                { "use none\nlocal unix\n", PLAN_SOCKETS_FREE },
                { "use none\nlocal unix\nread /gone?\n", PLAN_SOCKETS_FREE },
                { "use none\nlocal unix\nread /d\n", PLAN_SOCKETS_SERVED },
                { "use base/system\n", PLAN_SOCKETS_FREE },
                { "use base/system\nread /file\n", PLAN_SOCKETS_FREE },
                { "use base/system\nread /gone?\n", PLAN_SOCKETS_FREE },
                { "use base/system\nread /file /d\n", PLAN_SOCKETS_SERVED },
                { "use base/system\nread /usr\n", PLAN_SOCKETS_SERVED },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                SCENE(s);
                MUST_PLAN(s, rows[i].text);
                if (s.p->sockets != rows[i].sockets)
                        printf("# %s\n", rows[i].text);
                CHECK_INT(s.p->sockets, rows[i].sockets);
        }
}

static void test_view__local_is_for_the_namespace_wall(void)
{
        SCENE(s);
        MUST_PLAN(s, "use base/system\n");
        CHECK_INT(s.p->local, LOCAL_LOOPBACK | LOCAL_UNIX | LOCAL_PTY | LOCAL_PROC);
        CHECK(find_step(s.p, STEP_DEVPTS, "/dev/pts") && find_step(s.p, STEP_LINK, "/dev/ptmx"));
        SCENE(strict);
        MUST_PLAN(strict, "use base/strict\n");
        CHECK(strict.p->local == 0 && !find_step(strict.p, STEP_DEVPTS, "/dev/pts"));
        SCENE(process); /* a default is left out */
        process.r.wall = WALL_PROCESS;
        MUST_PLAN(process, "use base/system\n");
        CHECK_INT(process.p->local, 0);
        SCENE(stated); /* what is asked for is not */
        stated.r.wall = WALL_PROCESS;
        CHECK(!scene_plan(&stated, "use base/system\nlocal pty\n"));
        CHECK_INT(stated.e.code, ERR_HOST);
        CHECK(strstr(stated.e.what, "the process wall cannot give a box `local pty`") != NULL);
}

/* ---- /proc/cpuinfo and the like ---- */

static const struct host_machine machine = {
        .cpus = { 0x8c }, /* 2, 3 and 7 */
        .memory = 64ull << 30,
        .up_cs = 123456,
        .booted_s = 1700000000,
        .release = "6.1",
        .version = "#1 SMP",
        .cpuinfo = "processor\t: 0\nmodel name\t: A CPU\nSerial\t\t: 77\ncpu MHz\t\t: 800\n\nHardware\t: "
                   "board\n",
};

static const char *cover(const struct scene *s, const char *path)
{
        const struct plan_step *step = find_step(s->p, STEP_COVER, path);
        CHECK(step && step < find_step(s->p, STEP_PROC, "/proc"));
        return step ? step->text : "";
}

static void test_view__proc_shows_the_box_its_share(void)
{
        SCENE(s);
        s.r.machine = &machine;
        MUST_PLAN(s, "use base/system\nlimit memory 1G\n");
        const char *cpuinfo = cover(&s, "/proc/cpuinfo");
        CHECK(strstr(cpuinfo, "processor\t: 2\nmodel name\t: A CPU\n") == cpuinfo);
        CHECK(strstr(cpuinfo, "\nprocessor\t: 7\n") != NULL);
        CHECK(!strstr(cpuinfo, "Serial") && !strstr(cpuinfo, "MHz") && !strstr(cpuinfo, "board"));
        CHECK(strstr(cover(&s, "/proc/meminfo"), "MemTotal:        1048576 kB\n") != NULL);
        CHECK(strstr(cover(&s, "/proc/stat"), "\ncpu7 0 ") && !strstr(cover(&s, "/proc/stat"), "cpu4"));
        CHECK(strstr(cover(&s, "/proc/stat"), "\nbtime 1700000000\n") != NULL);
        CHECK_STR(cover(&s, "/proc/uptime"), "1234.56 0.00\n");
        CHECK_STR(cover(&s, "/proc/loadavg"), "0.00 0.00 0.00 1/1 1\n");
        CHECK_STR(cover(&s, "/proc/diskstats"), "");
        CHECK(strstr(cover(&s, "/proc/vmstat"), "pgpgin 0\n") != NULL);
        CHECK_STR(cover(&s, "/proc/version"), "Linux version 6.1 (box@box) #1 SMP\n");
        CHECK_STR(find_step(s.p, STEP_FILE, "/sys/devices/system/cpu/online")->text, "2-3,7\n");
        CHECK_STR(find_step(s.p, STEP_FILE, "/sys/devices/system/cpu/possible")->text, "0-7\n");
        CHECK(find_step(s.p, STEP_DIR, "/sys/devices/system/cpu/cpu7") != NULL);
        CHECK_INT(rights(s.p, "/sys/devices/system/cpu"), RIGHT_READ);
}

static void test_view__a_strict_box_is_not_told_of_the_machine(void)
{
        static const char *const policies[] = { "use base/strict\n", "use none\n" };
        for (size_t i = 0; i < COUNT(policies); i++) {
                SCENE(s);
                s.r.machine = &machine;
                MUST_PLAN(s, policies[i]);
                CHECK_INT(count_steps(s.p, STEP_COVER), 0);
                CHECK(!find_step(s.p, STEP_FILE, "/sys/devices/system/cpu/online"));
        }
}

static int pin_flags(const struct plan *p, const char *path)
{
        const struct plan_step *s = find_step(p, STEP_PIN, path);
        return s ? (int) s->flags : -1;
}

static void test_view__an_edit_door_is_a_layer_and_never_a_bind(void)
{
        SCENE(s);
        s.r.as_root = true;
        MUST_PLAN(s, "use none\nedit /d\n");
        const struct plan_step *edit = find_step(s.p, STEP_EDIT, "/d");
        CHECK(edit && edit->flags == (STEP_WRITE | STEP_IS_DIR | STEP_IDMAP));
        CHECK_INT(bind_flags(s.p, "/d"), -1);
        CHECK_INT(s.p->edits, 1);
        CHECK(s.p->writes_host);
        CHECK(!s.p->sockets);
        SCENE(two);
        MUST_PLAN(two, "use none\nedit /d\nedit /e /d/sub\nread /d/sub/deep\n");
        CHECK_INT(two.p->edits, 2); /* what lies in another's layer is a part of it */
        CHECK_INT(count_steps(two.p, STEP_EDIT), 2);
        CHECK(find_step(two.p, STEP_EDIT, "/e")->layer != find_step(two.p, STEP_EDIT, "/d")->layer);
        SCENE(both);
        MUST_PLAN(both, "use none\nedit /d\nwrite /d\n");
        CHECK_INT(both.p->edits, 0);
        CHECK(bind_flags(both.p, "/d") & STEP_WRITE);
        SCENE(inner);
        MUST_PLAN(inner, "use none\nwrite /d\nedit /d/sub\n");
        CHECK(find_step(inner.p, STEP_EDIT, "/d/sub") != NULL);
        SCENE(apart);
        MUST_PLAN(apart, "use none\nedit /d except sub\nedit /d/sub\n");
        CHECK_INT(apart.p->edits, 2);
}

static void test_view__what_an_edit_door_excepts_is_held_with_all_that_leads_to_it(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nedit /d except sub/deep/gone file\n");
        CHECK_INT(pin_flags(s.p, "/d/sub"), STEP_WRITE | STEP_IS_DIR);
        CHECK_INT(pin_flags(s.p, "/d/sub/deep"), STEP_WRITE | STEP_IS_DIR);
        CHECK_INT(pin_flags(s.p, "/d/sub/deep/gone"), STEP_GUARD);
        CHECK_INT(pin_flags(s.p, "/d/file"), STEP_GUARD);
        CHECK_INT(count_steps(s.p, STEP_PIN), 4);
        SCENE(more);
        MUST_PLAN(more, "use none\nedit /d except sub\nwrite /d/sub\n");
        CHECK_INT(count_steps(more.p, STEP_PIN), 0);
        CHECK(bind_flags(more.p, "/d/sub") & STEP_WRITE);
        SCENE(run);
        MUST_PLAN(run, "use none\nedit /d except file\nrun /d/file\n");
        CHECK_INT(pin_flags(run.p, "/d/file"), STEP_GUARD | STEP_EXEC);
        SCENE(below);
        MUST_PLAN(below, "use none\nedit /d except sub/deep\nwrite /d/sub\n");
        CHECK_INT(count_steps(below.p, STEP_PIN), 0);
        SCENE(every);
        MUST_PLAN(every, "use none\nedit /d except file\nedit /d except file sub\n");
        CHECK_INT(pin_flags(every.p, "/d/file"), STEP_GUARD);
        CHECK_INT(count_steps(every.p, STEP_PIN), 1);
}

static void test_view__a_program_in_an_edit_door_is_the_layers_own(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nedit /d\nrun /d/file\n");
        CHECK_INT(bind_flags(s.p, "/d/file"), -1); /* a bind would be the host's own file, writable */
        CHECK(pin_flags(s.p, "/d/file") & STEP_EXEC);
}

static void test_view__the_process_wall_has_no_edit_doors(void)
{
        SCENE(s);
        s.r.wall = WALL_PROCESS;
        CHECK(!scene_plan(&s, "use none\nedit /d\n"));
        CHECK_INT(s.e.code, ERR_HOST);
        CHECK(strstr(s.e.what, "the process wall does not support an `edit` door") != NULL);
}

static void test_view__walls_that_are_not_built_are_refused(void)
{
        static const enum wall_kind walls[] = { WALL_VM };
        for (size_t i = 0; i < COUNT(walls); i++) {
                SCENE(s);
                s.r.wall = walls[i];
                CHECK(!scene_plan(&s, "use none\n"));
                CHECK_INT(s.e.code, ERR_HOST);
                CHECK(strstr(s.e.what, "is not implemented") != NULL);
        }
}

/* ---- the process wall ---- */

static void test_view__the_process_wall_hands_rights_down_to_an_except(void)
{
        SCENE(s);
        s.r.wall = WALL_PROCESS;
        MUST_PLAN(s, "use none\nread /d except sub/deep\n");
        CHECK_INT(rights(s.p, "/d"), RIGHT_LIST); /* reading is each entry's own */
        CHECK_INT(rights(s.p, "/d/sub"), RIGHT_LIST);
        CHECK_INT((int) s.p->step_count, 1); /* nothing is mounted; this says what gets no right */
        CHECK(find_step(s.p, STEP_MASK, "/d/sub/deep") != NULL);
}

static void test_view__the_process_wall_hides_nothing_without_landlock(void)
{
        SCENE(s);
        s.r.wall = WALL_PROCESS;
        refused(&s, "use none\nread /d except sub/deep\nwall process without landlock\n", ERR_HOST,
                "t:2:6: the process wall enforces `except` by Landlock alone", "remove `without landlock`");
}

static void test_view__the_process_wall_refuses_sock(void)
{
        SCENE(sock);
        sock.r.wall = WALL_PROCESS;
        refused(&sock, "use none\nsock /s.sock\n", ERR_HOST,
                "t:2:6: the process wall does not support a `sock` door",
                "it needs the namespace wall: see `cordon doctor`");
}

static void test_view__the_process_wall_has_rules(void)
{
        SCENE(s);
        s.r.wall = WALL_PROCESS;
        MUST_PLAN(s, "use none\nread /d\nwrite /e\nrun cat\n");
        CHECK_INT(s.p->wall, WALL_PROCESS);
        CHECK_INT(rights(s.p, "/d"), LOOK);
        CHECK_INT(rights(s.p, "/e"), LOOK | RIGHT_WRITE);
        CHECK_INT(rights(s.p, "/usr/bin/cat"), RIGHT_READ | RIGHT_EXEC);
        CHECK_INT(rights(s.p, "/dev/null"), RIGHT_READ | RIGHT_DEVICE);
        /* Here these are the host's: a rule would show them. */
        static const char *const host[] = { "/", "/tmp", "/etc", "/proc", BOX_HOME };
        for (size_t i = 0; i < COUNT(host); i++)
                CHECK_INT(rights(s.p, host[i]), -1);
        CHECK(s.p->writes_host);
        SCENE(bare);
        bare.r.wall = WALL_PROCESS;
        MUST_PLAN(bare, "use none\nread /file\n");
        CHECK(!bare.p->sockets);
        CHECK(!bare.p->writes_host);
}

static void test_view__the_process_wall_has_no_steps(void)
{
        SCENE(s);
        s.r.wall = WALL_PROCESS;
        MUST_PLAN(s, "use none\nread /usr /bin\nwrite /e\nrun awk\n");
        CHECK_INT(s.p->step_count, 0);
}

/* Rules add up along the path, and no read-only mount lies between them here. */
static void test_view__no_rule_of_the_process_wall_lets_what_is_written_be_executed(void)
{
        SCENE(s);
        s.r.wall = WALL_PROCESS;
        MUST_PLAN(s, "use none\nwrite /w/proj\nread /w/proj/lib\nrun awk\n");
        for (size_t i = 0; i < s.p->rule_count; i++)
                for (size_t j = 0; j < s.p->rule_count; j++)
                        if ((s.p->rules[i].rights & RIGHT_WRITE) && (s.p->rules[j].rights & RIGHT_EXEC))
                                CHECK(!under(s.p->rules[j].path, s.p->rules[i].path));
        CHECK_INT(rights(s.p, "/w/proj"), LOOK | RIGHT_WRITE);
}

static const struct plan_rule *rule_of(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->rule_count; i++)
                if (strcmp(p->rules[i].path, path) == 0)
                        return &p->rules[i];
        return NULL;
}

static void test_view__nor_does_a_rule_above_what_is_written(void)
{
        static const char *const doors[] = {
                "use base/strict\nwrite /usr/share/zoneinfo\n",
                "use base/strict\nwrite /usr/share/zoneinfo\nread /usr/share\n"
        };
        for (size_t i = 0; i < COUNT(doors); i++) {
                SCENE(s);
                s.r.wall = WALL_PROCESS;
                MUST_PLAN(s, doors[i]);
                const struct plan_rule *top = rule_of(s.p, "/usr"), *way = rule_of(s.p, "/usr/share");
                CHECK(top && way);
                if (!top || !way)
                        continue;
                CHECK(!(top->rights & RIGHT_EXEC) && top->entries & RIGHT_EXEC); /* all else in it runs */
                CHECK(!(way->rights & RIGHT_EXEC) && way->entries & RIGHT_EXEC);
                CHECK_INT((top->rights | way->rights) & LOOK, LOOK);
                CHECK_INT(rights(s.p, "/usr/share/zoneinfo"), LOOK | RIGHT_WRITE);
        }
        SCENE(twice);
        twice.r.wall = WALL_PROCESS;
        MUST_PLAN(twice, "use base/strict\nwrite /usr/share\nwrite /usr/share/zoneinfo\n");
        const struct plan_rule *outer = rule_of(twice.p, "/usr/share");
        CHECK(outer && outer->rights == (LOOK | RIGHT_WRITE) && outer->entries == 0);
        SCENE(meant);
        meant.r.wall = WALL_PROCESS;
        MUST_PLAN(meant, "use none\nread /d\nwrite /d/sub/deep\nrun /d/\n");
        CHECK(rights(meant.p, "/d") & RIGHT_EXEC);
}

static void test_view__the_process_wall_runs_no_program_that_is_written_by_another_name(void)
{
        SCENE(s);
        s.r.wall = WALL_PROCESS;
        refused(&s, "use none\nwrite /usr\nrun cat\n", ERR_DOOR,
                "the program /usr/bin/cat lies behind a `write` door: the box could change it and run it "
                "again",
                "the process wall cannot pin it; add `run /usr/bin/cat` if that is meant");
}

/* ---- root, Landlock, the rest ---- */

static void test_view__root_maps_ids_on_own_doors_and_not_on_stock_ones(void)
{
        SCENE(s);
        s.r.as_root = true;
        MUST_PLAN(s, "use base/loader\nread /d\nwrite /e\nrun cat\n");
        CHECK_INT(bind_flags(s.p, "/d"), RO_DIR | STEP_IDMAP);
        CHECK_INT(bind_flags(s.p, "/e"), RO_DIR | STEP_WRITE | STEP_IDMAP);
        CHECK_INT(bind_flags(s.p, "/usr/bin/cat"), STEP_EXEC | STEP_IDMAP);
        CHECK_INT(bind_flags(s.p, "/usr/lib64"), RO_DIR | STEP_EXEC | STEP_OPTIONAL);
        SCENE(user);
        MUST_PLAN(user, "use base/loader\nread /d\nrun cat\n");
        for (size_t i = 0; i < user.p->step_count; i++)
                CHECK(!(user.p->steps[i].flags & STEP_IDMAP));
}

static void test_view__landlock_gives_each_door_its_rights_and_no_more(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d /file?\nwrite /e\nrun cat /opt/tool/\n");
        CHECK_INT(rights(s.p, "/d"), LOOK);
        CHECK_INT(rights(s.p, "/file"), LOOK);
        CHECK_INT(rights(s.p, "/e"), LOOK | RIGHT_WRITE);
        CHECK_INT(rights(s.p, "/usr/bin/cat"), RIGHT_READ | RIGHT_EXEC);
        CHECK_INT(rights(s.p, "/opt/tool"), LOOK | RIGHT_EXEC);
        CHECK_INT(rights(s.p, "/"), RIGHT_LIST);
        CHECK_INT(rights(s.p, "/etc"), RIGHT_READ);
        CHECK_INT(rights(s.p, "/proc"), RIGHT_READ);
        CHECK_INT(rights(s.p, "/tmp"), LOOK | RIGHT_WRITE);
        CHECK_INT(rights(s.p, BOX_HOME), LOOK | RIGHT_WRITE);
        CHECK_INT(rights(s.p, "/dev/null"), RIGHT_READ | RIGHT_DEVICE);
        CHECK_INT(rights(s.p, "/dev/pts"), -1);
        for (size_t i = 0; i < s.p->rule_count; i++)
                if (strcmp(s.p->rules[i].path, "/file") == 0 || strcmp(s.p->rules[i].path, "/d") == 0)
                        CHECK_INT(s.p->rules[i].optional, s.p->rules[i].path[1] == 'f');
}

static void test_view__loaders_are_executable_only_without_run_any(void)
{
        static const char *const loaders[] = { LOADER, "/lib/ld-linux-aarch64.so.1",
                                               "/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1" };
        SCENE(listed);
        SCENE(any);
        MUST_PLAN(listed, "use none\nrun cat\n");
        MUST_PLAN(any, "use none\nread /d\nrun any\n");
        for (size_t i = 0; i < COUNT(loaders); i++) {
                CHECK_INT(rights(listed.p, loaders[i]), RIGHT_READ | RIGHT_EXEC);
                CHECK_INT(rights(any.p, loaders[i]), -1);
        }
}

static void test_view__one_path_has_one_rule(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /file?\nwrite /d\nread /d\nrun /file\n");
        for (size_t i = 0; i < s.p->rule_count; i++)
                for (size_t j = i + 1; j < s.p->rule_count; j++)
                        CHECK(strcmp(s.p->rules[i].path, s.p->rules[j].path) != 0);
        CHECK_INT(rights(s.p, "/file"), LOOK | RIGHT_EXEC);
        for (size_t i = 0; i < s.p->rule_count; i++)
                if (strcmp(s.p->rules[i].path, "/file") == 0)
                        CHECK(!s.p->rules[i].optional); /* one line needs it */
}

static void test_view__writes_host_tells_of_a_write_door_that_is_there(void)
{
        SCENE(write);
        MUST_PLAN(write, "use none\nwrite /e\n");
        CHECK(write.p->writes_host);
        SCENE(read);
        MUST_PLAN(read, "use none\nread /d\nrun any\n");
        CHECK(!read.p->writes_host);
}

static void test_view__what_the_policy_gives_up_and_limits_reach_the_plan(void)
{
        SCENE(s);
        MUST_PLAN(s, "box mine\nuse none\nwall namespace without landlock\nlimit procs 7\n");
        CHECK_STR(s.p->box, "mine");
        CHECK_INT(s.p->without, WITHOUT_LANDLOCK);
        CHECK_INT(s.p->limits.value[LIMIT_PROCS], 7);
        CHECK_INT(s.p->wall, WALL_NAMESPACE);
        CHECK(!s.p->net);
}

static void test_view__many_doors_find_room(void)
{
        SCENE(s);
        AUTO_BUF(text);
        buf_puts(&text, "use base/system base/git base/python3 base/node base/build\nread /d except");
        for (int i = 0; i < 300; i++)
                buf_printf(&text, " x%d", i);
        buf_putc(&text, '\n');
        MUST_PLAN(s, buf_str(&text));
        CHECK_INT(count_steps(s.p, STEP_MASK), 300);
}

/* ---- single files that are copied ---- */

static const struct {
        const char *lines;
        int copies, binds;
} single_files[] = {
        { "write /c/one\n", 1, 0 },
        { "write /c/one /c/two\n", 2, 0 },
        { "write /tmp/one\n", 1, 0 },
        { "write /c/one\nread /d\n", 1, 1 },
        { "write /c/one\nread /c/two\n", 1, 1 },
        { "read /c\nwrite /c/one\n", 0, 2 }, /* its directory is shown */
        { "write /c\nwrite /c/one\n", 0, 2 },
        { "write /etc/one\n", 0, 1 },              /* files of the box's own lie beside it */
        { "write /file\n", 0, 1 },                 /* not the caller's own */
        { "write /c/one\nlimit disk 2K\n", 0, 1 }, /* no room for a copy */
};

static void test_view__a_single_file_is_copied_where_nothing_else_shows_its_directory(void)
{
        for (size_t i = 0; i < COUNT(single_files); i++) {
                SCENE(s);
                AUTO_BUF(text);
                buf_printf(&text, "use none\n%s", single_files[i].lines);
                MUST_PLAN(s, buf_str(&text));
                CHECK_INT(count_steps(s.p, STEP_COPY), single_files[i].copies);
                CHECK_INT(s.p->copies, single_files[i].copies);
                CHECK_INT(count_steps(s.p, STEP_BIND), single_files[i].binds);
                CHECK(s.p->writes_host);
        }
}

static void test_view__the_process_wall_copies_nothing(void)
{
        SCENE(s);
        s.r.wall = WALL_PROCESS;
        MUST_PLAN(s, "use none\nwrite /c/one\n");
        CHECK_INT(s.p->copies, 0);
        CHECK(rights(s.p, "/c/one") & RIGHT_WRITE);
}

static const char *link_at(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_LINK && strcmp(p->steps[i].path, path) == 0)
                        return p->steps[i].text;
        return "";
}

static void test_view__a_door_below_the_callers_home_is_found_in_the_boxs(void)
{
        SCENE(s);
        s.r.home = "/w";
        MUST_PLAN(s, "use none\nread /w/proj /d /w/gone?\nwrite /w/proj/lib\n");
        CHECK_STR(link_at(s.p, BOX_HOME "/proj"), "/w/proj");
        CHECK_STR(link_at(s.p, BOX_HOME "/proj/lib"), ""); /* in another door */
        CHECK_STR(link_at(s.p, BOX_HOME "/gone"), "");
        CHECK_STR(link_at(s.p, BOX_HOME "/d"), "");
        SCENE(all);
        all.r.home = "/";
        MUST_PLAN(all, "use none\nread /d\n");
        CHECK_STR(link_at(all.p, BOX_HOME "/d"), "");
        SCENE(itself);
        itself.r.home = "/w/proj";
        MUST_PLAN(itself, "use none\nread /w/proj\n");
        CHECK_STR(link_at(itself.p, BOX_HOME), "");
        CHECK_STR(link_at(itself.p, BOX_HOME "/"), "");
}

static const struct test_case cases[] = {
        CASE(test_view__every_door_becomes_a_bind_of_what_was_seen),
        CASE(test_view__a_sock_door_becomes_a_bind),
        CASE(test_view__an_optional_door_that_is_there_stays_optional),
        CASE(test_view__optional_doors_that_are_missing_vanish),
        CASE(test_view__parents_come_before_children),
        CASE(test_view__the_built_in_steps_come_before_the_doors),
        CASE(test_view__a_terminal_brings_devpts),
        CASE(test_view__passwd_has_a_root_line_unless_the_box_is_root),
        CASE(test_view__shared_memory_is_private_unless_a_door_lies_there),
        CASE(test_view__var_tmp_is_a_link_unless_a_door_lies_there),
        CASE(test_view__without_run_any_own_doors_are_not_executable),
        CASE(test_view__stock_doors_sit_on_executable_mounts_but_have_no_execute_right),
        CASE(test_view__with_run_any_all_that_the_box_sees_is_executable),
        CASE(test_view__a_run_line_over_that_very_path_makes_a_write_door_executable),
        CASE(test_view__a_run_line_inside_a_write_door_covers_its_own_path_only),
        CASE(test_view__a_run_line_of_a_directory_covers_all_below_it),
        CASE(test_view__a_run_line_beside_a_write_door_does_not_make_it_executable),
        CASE(test_view__a_listed_program_is_called_by_its_name),
        CASE(test_view__a_program_behind_an_executable_door_needs_no_mount),
        CASE(test_view__the_command_itself_may_start_without_a_line),
        CASE(test_view__a_command_in_a_write_door_is_not_both_writable_and_executable),
        CASE(test_view__a_linked_door_becomes_a_link_when_its_end_is_visible),
        CASE(test_view__a_linked_door_is_a_bind_when_its_end_is_not_visible),
        CASE(test_view__a_linked_write_door_is_a_bind),
        CASE(test_view__a_path_below_a_linked_door_goes_through_it),
        CASE(test_view__a_path_below_an_unlinked_door_stays_where_it_is),
        CASE(test_view__a_link_inside_a_visible_door_adds_no_step),
        CASE(test_view__redundant_read_doors_add_no_mount),
        CASE(test_view__a_read_door_that_shows_more_than_the_one_above_is_no_redundant_one),
        CASE(test_view__a_read_door_inside_a_write_door_is_implied_by_it),
        CASE(test_view__a_write_door_inside_a_read_door_is_mounted_on_it),
        CASE(test_view__no_path_is_mounted_twice),
        CASE(test_view__the_wider_of_two_doors_over_one_path_lies_on_top),
        CASE(test_view__except_becomes_a_mask_after_all_binds),
        CASE(test_view__directories_that_lead_to_an_except_hand_their_rights_down),
        CASE(test_view__rights_from_above_the_door_are_handed_down_too),
        CASE(test_view__what_every_line_excepts_is_hidden),
        CASE(test_view__a_run_line_in_a_writable_place_holds_although_a_read_line_is_there_too),
        CASE(test_view__a_run_line_shows_what_an_except_of_another_line_names),
        CASE(test_view__a_door_inside_what_an_except_hides_is_refused),
        CASE(test_view__a_missing_door_is_told_with_its_place_and_a_line_to_type),
        CASE(test_view__the_hint_for_a_missing_door_can_be_typed_whatever_its_name),
        CASE(test_view__the_hint_can_be_typed_for_names_that_look_like_patterns),
        CASE(test_view__a_refused_flag_is_told_by_its_name),
        CASE(test_view__a_socket_in_a_read_or_write_door_is_refused),
        CASE(test_view__a_device_or_pipe_is_refused),
        CASE(test_view__what_is_no_socket_is_refused_in_a_sock_door),
        CASE(test_view__the_refusal_of_a_sock_door_does_not_deny_that_a_file_is_one),
        CASE(test_view__sockets_are_served_beside_a_directory),
        CASE(test_view__local_is_for_the_namespace_wall),
        CASE(test_view__proc_shows_the_box_its_share),
        CASE(test_view__a_strict_box_is_not_told_of_the_machine),
        CASE(test_view__an_edit_door_is_a_layer_and_never_a_bind),
        CASE(test_view__what_an_edit_door_excepts_is_held_with_all_that_leads_to_it),
        CASE(test_view__a_program_in_an_edit_door_is_the_layers_own),
        CASE(test_view__the_process_wall_has_no_edit_doors),
        CASE(test_view__walls_that_are_not_built_are_refused),
        CASE(test_view__the_process_wall_hands_rights_down_to_an_except),
        CASE(test_view__the_process_wall_hides_nothing_without_landlock),
        CASE(test_view__the_process_wall_refuses_sock),
        CASE(test_view__the_process_wall_has_rules),
        CASE(test_view__the_process_wall_has_no_steps),
        CASE(test_view__no_rule_of_the_process_wall_lets_what_is_written_be_executed),
        CASE(test_view__nor_does_a_rule_above_what_is_written),
        CASE(test_view__the_process_wall_runs_no_program_that_is_written_by_another_name),
        CASE(test_view__root_maps_ids_on_own_doors_and_not_on_stock_ones),
        CASE(test_view__landlock_gives_each_door_its_rights_and_no_more),
        CASE(test_view__loaders_are_executable_only_without_run_any),
        CASE(test_view__one_path_has_one_rule),
        CASE(test_view__writes_host_tells_of_a_write_door_that_is_there),
        CASE(test_view__what_the_policy_gives_up_and_limits_reach_the_plan),
        CASE(test_view__many_doors_find_room),
        CASE(test_view__a_single_file_is_copied_where_nothing_else_shows_its_directory),
        CASE(test_view__the_process_wall_copies_nothing),
        CASE(test_view__a_door_below_the_callers_home_is_found_in_the_boxs),
};
TEST_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* tests/table/policy-lint.tbl: CODE<TAB>lines, or -<TAB>lines for a policy that no lint may touch. " ; "
 * separates the lines. Leaky rows must give that code (others may come with it); clean rows must give none at
 * all. */
#include "test_policy_common.h"

static void split_lines(char *s)
{
        for (char *p = s; (p = strstr(p, " ; "));)
                memcpy(p, "\n", 1), memmove(p + 1, p + 3, strlen(p + 3) + 1);
}

static bool has_code(const struct checked_policy *c, const char *code)
{
        size_t n;
        const struct policy_note *notes = policy_notes(c, &n);
        for (size_t i = 0; i < n; i++)
                if (strcmp(notes[i].code, code) == 0)
                        return notes[i].level == code[0] && notes[i].text[0] && notes[i].at.file;
        return false;
}

static void check_leaky(const char *code, const char *text)
{
        struct err e;
        struct checked_policy *c = load_in("t", span_str(text), &fixed_context, &e);
        bool found = code[0] == 'E' ? !c && strstr(e.what, code) : c && has_code(c, code);
        if (!found)
                printf("# %s is not given for: %s (%s)\n", code, text, c ? "loads" : e.what);
        CHECK(found);
        policy_checked_free(c);
}

static void check_clean(const char *text)
{
        struct err e;
        size_t n = 0;
        struct checked_policy *c = load_in("t", span_str(text), &fixed_context, &e);
        const struct policy_note *notes = c ? policy_notes(c, &n) : NULL;
        if (!c || n > 0)
                printf("# not clean: %s: %s\n", text, c ? notes[0].text : e.what);
        CHECK(c && n == 0);
        policy_checked_free(c);
}

static bool link_leads(void *ctx, const char *path, char *ret, size_t cap)
{
        (void) ctx;
        bool tool = strcmp(path, "/w/proj/tool") == 0;
        (void) snprintf(ret, cap, tool ? "/usr/bin/python3" : "/etc");
        return tool || strcmp(path, "/w/proj/link") == 0 || strcmp(path, "/w/proj/link/") == 0;
}

static void test_lint__a_link_out_of_the_workspace_is_flagged(void)
{
        static const struct {
                const char *lines;
                bool flagged;
        } rows[] = {
                { "read {work}/link\n", true },      { "edit {work}/link\n", true },
                { "write {work}/link\n", true },     { "read {work}/plain\n", false },
                { "read /elsewhere/link\n", false }, { "run {work}/link\n", true },
                { "run {work}/link/\n", true },      { "run {work}/tool\n", false },
                { "read {work}/tool\n", true },
        };
        struct policy_context c = fixed_context;
        c.leads_out = link_leads;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct err e;
                struct checked_policy *p = load_in("t", span_str(rows[i].lines), &c, &e);
                CHECK(p && has_code(p, "W131") == rows[i].flagged);
                policy_checked_free(p);
        }
        struct err e;
        struct checked_policy *p = load_in("t", span_str(rows[0].lines), &fixed_context, &e);
        CHECK(p && !has_code(p, "W131")); /* nobody was asked */
        policy_checked_free(p);
}

static bool is_others(enum door_kind kind, const char *path, char *ret, size_t cap)
{
        (void) snprintf(ret, cap, "7:8");
        return kind == DOOR_EDIT && strcmp(path, "/w/proj/theirs") == 0;
}

static bool has_rules(void *ctx, const char *path, char *ret, size_t cap)
{
        (void) ctx;
        (void) snprintf(ret, cap, "box.policy");
        return strcmp(path, "/w/proj/rules") == 0;
}

static void test_lint__a_door_to_write_ones_own_rules_is_flagged(void)
{
        static const struct {
                const char *lines;
                bool flagged;
        } rows[] = { { "write {work}/rules\n", true },
                     { "write {work}/out\n", false },
                     { "read {work}/rules\n", false },
                     { "edit {work}/rules\n", false } };
        struct policy_context c = fixed_context;
        c.rules_below = has_rules;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct err e;
                struct checked_policy *p = load_in("t", span_str(rows[i].lines), &c, &e);
                CHECK(p && has_code(p, "W140") == rows[i].flagged);
                policy_checked_free(p);
        }
}

static void test_lint__a_door_to_change_what_is_anothers_is_flagged(void)
{
        static const struct {
                const char *lines;
                bool flagged;
        } rows[] = { { "edit {work}/theirs\n", true },
                     { "edit {work}/ours\n", false },
                     { "read {work}/theirs\n", false },
                     { "write {work}/theirs\n", false } };
        struct policy_context c = fixed_context;
        c.foreign = is_others;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct err e;
                struct checked_policy *p = load_in("t", span_str(rows[i].lines), &c, &e);
                CHECK(p && has_code(p, "W138") == rows[i].flagged);
                policy_checked_free(p);
        }
}

static void test_lint__leaky_policies_are_flagged_and_clean_ones_are_not(void)
{
        char path[2048];
        size_t n, leaky = 0, clean = 0;
        char *text = read_file(test_data("table/policy-lint.tbl", path, sizeof path), &n);
        CHECK(text != NULL);
        for (char *at = text, *row; at && (row = strsep(&at, "\n"));) {
                char *code = strsep(&row, "\t");
                if (!row || *code == '#')
                        continue;
                split_lines(row);
                if (*code == '-') {
                        check_clean(row);
                        clean++;
                } else {
                        check_leaky(code, row);
                        leaky++;
                }
        }
        printf("# %zu leaky, %zu clean\n", leaky, clean);
        CHECK(leaky >= 40 && clean >= 40);
        free(text);
}

static void test_lint__flags_alone_need_no_expectation(void)
{
        struct err e;
        size_t n;
        struct policy *p = policy_new();
        CHECK_INT(policy_add_flag(p, "read", "/srv/data", &e), 0);
        struct checked_policy *c = policy_check(p, &fixed_context, &e);
        CHECK(c != NULL);
        (void) policy_notes(c, &n);
        CHECK_INT(n, 0);
        policy_checked_free(c);
        policy_free(p);
}

static const struct test_case cases[] = {
        CASE(test_lint__leaky_policies_are_flagged_and_clean_ones_are_not),
        CASE(test_lint__a_link_out_of_the_workspace_is_flagged),
        CASE(test_lint__a_door_to_change_what_is_anothers_is_flagged),
        CASE(test_lint__a_door_to_write_ones_own_rules_is_flagged),
        CASE(test_lint__flags_alone_need_no_expectation),
};
TEST_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* What a person reads about a policy. */
#include "base/json.h"
#include "test_policy_common.h"

static bool says(const char *policy, const char *sentence)
{
        AUTO_BUF(b);
        struct checked_policy *c = load(policy);
        if (!c)
                return false;
        policy_doors_text(c, NULL, true, &b);
        bool found = strstr(buf_str(&b), sentence) != NULL;
        if (!found)
                printf("# not found: %s\n# in\n%s\n", sentence, buf_str(&b));
        policy_checked_free(c);
        return found;
}

static void test_doors__the_worst_case_is_told_in_sentences(void)
{
        CHECK(says("use none\n",
                   "The worst a hostile guest could do:\n- It can read no file of this host.\n"));
        CHECK(says("use none\n", "Without a net door nothing can be sent anywhere."));
        CHECK(says("box a\n",
                   "It can read program files of this host (the stock doors above), and no file of yours."));
        CHECK(says("use none\nread /data\n", "It can read everything in /data."));
        CHECK(says(
                "use none\nedit /w/proj\n",
                "It can read, and change in a private overlay that you review before applying it, /w/proj."));
        CHECK(says("use none\nwrite /out\n",
                   "It can read, overwrite and delete, at once and for good, everything in /out."));
        CHECK(says("use none\nrun git\n", "It can start, with any arguments, git."));
        CHECK(says("use base/system\n", "It can start any program it can see, including programs it wrote."));
        CHECK(says("use base/strict\n", "It can run nothing that it wrote, unless a `run` line covers it."));
        CHECK(says("use none\nnet h.example:443\nlimit egress 5M\n",
                   "It can send all it can read to h.example:443, up to 5M in all."));
        CHECK(says("use none\nnet https://h.example/** GET ask\n",
                   "If a person approves each, it can send all it can read to https://h.example"));
        CHECK(says("use none\nnet https://h.example/** with k\n",
                   "It can act with the credential \"k\", but not learn it."));
        CHECK(says("use none\nsock /run/x\n", "the programs behind its sockets may send for it"));
        CHECK(says("use none\nenv TOKEN\n", "It can read the values of TOKEN."));
        CHECK(says("use none\nwall namespace without landlock cgroup\n", "gives up cgroups"));
        CHECK(says("use none\nlimit time 5s\n", "up to 5s of time"));
}

/* A rule of the project: no sentence promises more than a test holds. */
static void test_doors__stock_files_of_etc_are_one_line(void)
{
        AUTO_BUF(b);
        struct checked_policy *c = load("use base/system\nread /etc/x.conf\n");
        policy_doors_text(c, NULL, false, &b);
        CHECK(strstr(buf_str(&b), "files and directories in /etc that programs need (-v: which)\n"));
        CHECK(strstr(buf_str(&b), "read /etc/x.conf"));
        CHECK(!strstr(buf_str(&b), "/etc/fonts"));
        CHECK(says("use base/system\n", " /etc/fonts?"));
        policy_checked_free(c);
}

static void test_doors__no_text_of_ours_boasts(void)
{
        static const char *const never[] = { "secure", "safe", "unbreakable" };
        struct checked_policy *c =
                load("read /a\nedit /b\nwrite /c\nrun any\nenv A\nnet h.example:443\nsock /s\nin i\nout o\n");
        AUTO_BUF(b);
        policy_doors_text(c, NULL, true, &b);
        policy_show(c, &b);
        size_t n;
        const struct policy_word_help *w = policy_words(&n);
        for (size_t i = 0; i < n; i++)
                buf_printf(&b, "%s %s\n", w[i].synopsis, w[i].help);
        const struct policy_note *notes = policy_notes(c, &n);
        for (size_t i = 0; i < n; i++)
                buf_puts(&b, notes[i].text);
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
                CHECK(!strcasestr(buf_str(&b), never[i]));
        policy_checked_free(c);
}

static void test_doors__the_json_view_is_json(void)
{
        AUTO_BUF(b);
        struct err e;
        struct checked_policy *c = load("read \"/a \\\"b\"\nnet h.example:443\n");
        policy_doors_json(c, NULL, &b);
        struct json_doc *d = json_parse("view", buf_span(&b), &e);
        CHECK(d != NULL);
        const struct json *worst = d ? json_get(json_root(d), "worst") : NULL;
        CHECK(worst && worst->type == JSON_ARRAY && worst->child && worst->child->type == JSON_STRING);
        const struct json *digest = d ? json_get(json_root(d), "digest") : NULL;
        CHECK(digest && strcmp(digest->str, policy_digest(c)) == 0);
        json_free(d);
        policy_checked_free(c);
}

static void test_doors__hostile_names_are_inert(void)
{
        AUTO_BUF(b);
        struct checked_policy *c = load("use none\nread \"/a\tb\"\n");
        CHECK(c != NULL);
        policy_doors_text(c, NULL, true, &b);
        CHECK(strchr(buf_str(&b), '\t') == NULL);
        policy_checked_free(c);
}

static void test_cost__is_one_sentence_for_each_effect(void)
{
        static const char *const effects[] = { "read /a", "write /a", "run sh", "net GET https://h.example/",
                                               "env A",   "sock /s" };
        for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
                AUTO_BUF(b);
                struct effect f;
                struct err e;
                CHECK_INT(policy_effect_parse(effects[i], &fixed_context, &f, &e), 0);
                policy_line_cost(&f, &b);
                CHECK(strncmp(buf_str(&b), "A hostile guest could ", 22) == 0 && b.p[b.n - 1] == '.');
                policy_effect_done(&f);
        }
}

static void test_names__have_no_holes(void)
{
        for (int k = 0; k < DOOR_KIND__COUNT; k++)
                CHECK(policy_door_word((enum door_kind) k) != NULL);
        for (int k = 0; k < LIMIT_KEY__COUNT; k++)
                CHECK(policy_limit_name((enum limit_key) k) != NULL);
        for (int k = 0; k < WALL_KIND__COUNT; k++)
                CHECK(wall_name((enum wall_kind) k) != NULL);
        for (int k = 0; k <= REASON_DECIDED__LAST; k++)
                CHECK(effect_reason_name((enum effect_reason) k) != NULL);
}

static const struct test_case cases[] = {
        CASE(test_doors__the_worst_case_is_told_in_sentences),
        CASE(test_doors__stock_files_of_etc_are_one_line),
        CASE(test_doors__no_text_of_ours_boasts),
        CASE(test_doors__the_json_view_is_json),
        CASE(test_doors__hostile_names_are_inert),
        CASE(test_cost__is_one_sentence_for_each_effect),
        CASE(test_names__have_no_holes),
};
TEST_MAIN(cases)

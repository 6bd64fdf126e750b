/* SPDX-License-Identifier: MIT */
/* tests/unit/test_work_flags.c - names that the host executes or trusts, and names that only look like it. */
#include "harness.h"
#include "work/internal.h"

static const struct {
        const char *path;
        bool flagged;
} rows[] = {
        { ".git/hooks/pre-commit", true },
        { ".git/hooks", true },
        { "vendor/x/.git/hooks/update", true },
        { ".GIT/Hooks/pre-commit", true },
        { ".git/config", true },
        { ".git", true },
        { ".git/modules/x/config", true },
        { ".git/objects/ab/cdef", false },
        { ".git/refs/heads/main", false },
        { ".gitignore", false },
        { "sub/.gitattributes", true },
        { ".bashrc", true },
        { "notes.bashrc.txt", false },
        { ".github/workflows/a.yml", true },
        { ".github/ISSUE_TEMPLATE.md", false },
        { ".vscode/settings.json", true },
        { "Makefile", true },
        { "sub/makefile.am", true },
        { "src/make.c", false },
        { "CMakeLists.txt", true },
        { "build.rs", true },
        { "build.rst", false },
        { "setup.py", true },
        { "pyproject.toml", true },
        { ".npmrc", true },
        { "node_modules/.bin/tsc", true },
        { "CLAUDE.md", true },
        { ".mcp.json", true },
        { ".codex/config.toml", true },
        { ".env", true },
        { ".env.local", true },
        { "environment.c", false },
        { "src/main.c", false },
        { "README.md", false },
        { "job.cordon", true },
        { ".config/cordon/x", true },
        { "ops/box.places", true },
        { ".config/git/config", true },
        { "Gruntfile.js", true },
        { "web/vite.config.mjs", true },
        { "src/config.js", false },
        { "Cargo.toml", true },
        { "Cargo.lock", false },
        { "main.tf", true },
        { "mix.exs", true },
        { ".lvimrc", true },
        { ".Rprofile", true },
        { "WORKSPACE", true },
        { "workspaces.md", false },
        /* git, and what only looks like another name */
        { ".git/commondir", true },
        { ".git/rebase-merge/git-rebase-todo", true },
        { "sub.git/hooks/commit-msg", true },
        { "x/hooks/prepare-commit-msg", true },
        { ".git/HEAD", false },
        { ".git/index", false },
        { ".git/COMMIT_EDITMSG", false },
        { "GIT~1/config", true },
        { ".git /config", true },
        { ".git./hooks/x", true },
        { ".git::$INDEX_ALLOCATION/config", true },
        { ".git\\hooks\\pre-commit", true },
        { ".g\xe2\x80\x8cit/config", true }, /* U+200C */
        { ".\xef\xbb\xbfgit/config", true }, /* U+FEFF */
        { ".bas\xe2\x81\xa0hrc", true },     /* U+2060 */
        { "ma\xe2\x84\xaa"
          "efile",
          true },                   /* the sign for kelvin */
        { ".ba\xc5\xbfhrc", true }, /* a long s */
        { ".envrc...", true },
        { ".git\xff/config", false },
        { "...", false },
        { "a:b/c", false },
        { ".hg/hgrc", true },
        { ".jj/repo/config.toml", true },
        { ".hg/store/data", false },
        /* by tool */
        { "go.mod", true },
        { "go.sum", false },
        { ".bundle/config", true },
        { "requirements-dev.txt", true },
        { ".pylintrc", true },
        { "pytest.ini", true },
        { "src/__pycache__/a.cpython-311.pyc", true },
        { "pnpm-workspace.yaml", true },
        { ".pnp.cjs", true },
        { ".prettierrc", true },
        { ".lintstagedrc.json", true },
        { "lefthook.toml", true },
        { ".devcontainer.json", true },
        { ".nvim/init.lua", true },
        { ".ycm_extra_conf.py", true },
        { ".ghci", true },
        { ".pdbrc", true },
        { "tools/bazel", true },
        { "tools/bazel.md", false },
        { "app.gradle.kts", true },
        { "cdk.json", true },
        { "compose.override.yaml", true },
        { "kustomization.yaml", true },
        { ".mise/config.toml", true },
        { ".node-version", true },
        { "units/x.service", true },
        { "x.desktop", true },
        { "GOOSE.md", false },
        { ".goosehints", true },
        { ".junie/guidelines.md", true },
        { ".github/agents/a.agent.md", true },
        { "skills/x/SKILL.md", true },
        { "my.venv/bin/python", true },
        { "dunes.txt", false },
        { "src/service.c", false },
        { "docs/environment.md", false },
        { "lib/project.c", false },
        { "tests/test_tasks.py", false },
        { "package.json", false },
        { "tsconfig.json", false },
        { "Cargo.toml.orig", false },
};

static void test_names__are_flagged_as_the_table_says(void)
{
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                bool got = flags_by_name(rows[i].path) != 0;
                if (got != rows[i].flagged)
                        printf("# %s\n", rows[i].path);
                CHECK(got == rows[i].flagged);
        }
}

/* Each row of the table is found by its own name, in a directory, and in other letters; none stands twice. */
static void test_table__each_row_is_reached(void)
{
        for (size_t i = 0; i < trusted_count; i++) {
                const struct trusted *t = &trusted_names[i];
                char path[128] = "some/dir/", high[128];
                size_t n = strlen(path), length = strlen(t->pattern);
                for (const char *p = t->pattern; *p && n < sizeof path - 2; p++)
                        path[n++] = *p == '*' ? '7' : *p;
                path[n] = '\0';
                bool below = t->pattern[length - 1] == '/';
                (void) snprintf(path + n, sizeof path - n, "%s", below ? "file" : "");
                for (n = 0; n == 0 || path[n - 1]; n++) {
                        CHECK(!(t->pattern[0] >= 'A' && t->pattern[0] <= 'Z'));
                        high[n] = path[n] >= 'a' && path[n] <= 'z' ? (char) (path[n] - 'a' + 'A') : path[n];
                }
                if (!(flags_by_name(path) & 1u << t->flag))
                        printf("# %s\n", t->pattern);
                CHECK(flags_by_name(path) & 1u << t->flag);
                CHECK(flags_by_name(high) & 1u << t->flag);
                for (size_t k = 0; k < i; k++)
                        CHECK(strcmp(trusted_names[k].pattern, t->pattern) != 0);
        }
}

static void test_links__that_leave_the_tree(void)
{
        CHECK(flags_by_link("a", "/etc/passwd") != 0);
        CHECK(flags_by_link("a", "..") != 0);
        CHECK(flags_by_link("d/a", "../..") != 0);
        CHECK(flags_by_link("d/a", "x/../../../y") != 0);
        CHECK(flags_by_link("d/a", "../b") == 0);
        CHECK(flags_by_link("a", "./b/c") == 0);
        CHECK(flags_by_link("a", "b//../c") != 0); /* b may be a link to less deep a place */
        CHECK(flags_by_link("m", "a/b/c/s/../../x") != 0);
        CHECK(flags_by_link("d/e/a", "../../b/./c") == 0);
        CHECK(flags_by_link("d/a", "..b/c..") == 0);
}

static void test_nodes__new_executables_and_set_id(void)
{
        const struct node none = { 0 }, plain = { .kind = NODE_FILE, .mode = 0644 };
        const struct node run = { .kind = NODE_FILE, .mode = 0755 },
                          setid = { .kind = NODE_FILE, .mode = 04644 };
        const struct node fifo = { .kind = NODE_OTHER };
        CHECK(flags_by_node(&none, &plain) == 0);
        CHECK(flags_by_node(&none, &run) != 0);
        CHECK(flags_by_node(&plain, &run) != 0);
        CHECK(flags_by_node(&run, &run) == 0);
        CHECK(flags_by_node(&setid, &setid) != 0);
        CHECK((flags_by_node(&none, &fifo) & FLAG_NEVER) != 0);
}

static void test_content__install_scripts(void)
{
        CHECK(flags_by_content(span_str("{\"scripts\":{\"test\":\"x\"}}")) == 0);
        CHECK(flags_by_content(span_str("{\"scripts\":{\"postinstall\":\"x\"}}")) != 0);
        CHECK(flags_by_content(span_str("{\"scripts\":{\"post\\u0069nstall\":\"x\"}}")) != 0);
        CHECK(flags_by_content(span_str("{\"packageManager\":\"npm@1\"}")) != 0);
        CHECK(flags_by_content(span_str("{\"lint-staged\":{}}")) != 0);
        CHECK(flags_by_content(span_str("{\"name\":\"husky-dog\",\"dependencies\":{\"a\":\"1\"}}")) == 0);
        CHECK(flags_wants_content("a/package.json") && !flags_wants_content("a/package.jsonx"));
}

static void test_words__every_flag_has_some(void)
{
        unsigned bit;
        for (unsigned i = 0; i < flags_count(); i++) {
                CHECK(flags_row(i) && flags_row(i)[0]);
                CHECK(flags_words(1u << i, &bit)[0] && bit == 1u << i);
        }
}

static const struct test_case cases[] = {
        CASE(test_names__are_flagged_as_the_table_says),
        CASE(test_table__each_row_is_reached),
        CASE(test_links__that_leave_the_tree),
        CASE(test_nodes__new_executables_and_set_id),
        CASE(test_content__install_scripts),
        CASE(test_words__every_flag_has_some),
};
TEST_MAIN(cases)

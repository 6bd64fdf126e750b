/* SPDX-License-Identifier: MIT */
/* tests/unit/test_work_flags.c - names that the host executes or trusts, and names that only look like it. */
#include "files/work/internal.h"
#include "harness.h"

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
        { "Makefile", false },
        { "sub/makefile.am", false },
        { "src/make.c", false },
        { "CMakeLists.txt", false },
        { "build.rs", false },
        { "build.rst", false },
        { "setup.py", false },
        { "pyproject.toml", false },
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
        { "Gruntfile.js", false },
        { "web/vite.config.mjs", false },
        { "src/config.js", false },
        { "Cargo.toml", false },
        { "Cargo.lock", false },
        { "main.tf", false },
        { "mix.exs", false },
        { ".lvimrc", true },
        { ".Rprofile", true },
        { "WORKSPACE", false },
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
        { "Jen\xe2\x84\xaa"
          "insfile",
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
        { "go.mod", false },
        { "go.sum", false },
        { ".bundle/config", true },
        { "requirements-dev.txt", false },
        { ".pylintrc", false },
        { "pytest.ini", false },
        { "src/__pycache__/a.cpython-311.pyc", true },
        { "pnpm-workspace.yaml", false },
        { ".pnp.cjs", true },
        { ".prettierrc", false },
        { ".lintstagedrc.json", true },
        { "lefthook.toml", true },
        { ".devcontainer.json", true },
        { ".nvim/init.lua", true },
        { ".ycm_extra_conf.py", true },
        { ".ghci", true },
        { ".pdbrc", true },
        { "tools/bazel", true },
        { "tools/bazel.md", false },
        { "app.gradle.kts", false },
        { "cdk.json", false },
        { "compose.override.yaml", false },
        { "kustomization.yaml", false },
        { ".mise/config.toml", true },
        { ".node-version", false },
        { "units/x.service", false },
        { "x.desktop", false },
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

/* One pattern of a row is found by its own name, in a directory, and in other letters. */
static void check_pattern(const struct trusted *t, const char *pattern, size_t length)
{
        static const char above[] = "some/dir/";
        char path[128], high[128];
        size_t n = sizeof above - 1;

        memcpy(path, above, n);
        for (size_t i = 0; i < length; i++)
                path[n++] = pattern[i] == '*' ? '7' : pattern[i];
        path[n] = '\0';
        (void) snprintf(path + n, sizeof path - n, "%s", pattern[length - 1] == '/' ? "file" : "");
        for (n = 0; n == 0 || path[n - 1]; n++) {
                CHECK(!(path[n] >= 'A' && path[n] <= 'Z'));
                high[n] = path[n] >= 'a' && path[n] <= 'z' ? (char) (path[n] - 'a' + 'A') : path[n];
        }
        if (!(flags_by_name(path) & 1u << t->flag))
                printf("# %s\n", path);
        CHECK(flags_by_name(path) & 1u << t->flag);
        CHECK(flags_by_name(high) & 1u << t->flag);
        CHECK(flags_reason(path) != NULL);
}

static bool has_pattern(const struct trusted *t, const char *pattern, size_t length)
{
        for (const char *p = t->patterns; *p;) {
                const char *end = strchrnul(p, ' ');
                if ((size_t) (end - p) == length && memcmp(p, pattern, length) == 0)
                        return true;
                p = *end ? end + 1 : end;
        }
        return false;
}

/* Each row has a reason, each pattern is reached, and none stands in two rows. */
static void test_table__each_row_is_reached(void)
{
        size_t patterns = 0;
        for (size_t i = 0; i < trusted_count; i++) {
                const struct trusted *t = &trusted_names[i];
                CHECK(t->reason[0] && t->patterns[0]);
                CHECK(memchr(t->reason, 0, sizeof t->reason) && memchr(t->patterns, 0, sizeof t->patterns));
                for (const char *p = t->patterns; *p; patterns++) {
                        const char *end = strchrnul(p, ' ');
                        check_pattern(t, p, (size_t) (end - p));
                        for (size_t k = 0; k < i; k++)
                                CHECK(!has_pattern(&trusted_names[k], p, (size_t) (end - p)));
                        p = *end ? end + 1 : end;
                }
        }
        CHECK(patterns > 300);
}

/* What an ordinary change of a project touches: a flag on these would be up always. */
static void test_ordinary_changes__are_not_flagged(void)
{
        static const char *const paths[] = {
                "README.md",        "CHANGELOG.md",
                "LICENSE",          ".gitignore",
                "Makefile",         "CMakeLists.txt",
                "meson.build",      "configure.ac",
                "package.json",     "package-lock.json",
                "yarn.lock",        "pnpm-lock.yaml",
                "tsconfig.json",    "vite.config.ts",
                ".eslintrc.json",   ".prettierrc",
                "src/index.ts",     "pyproject.toml",
                "setup.py",         "setup.cfg",
                "requirements.txt", "tests/conftest.py",
                "tox.ini",          "uv.lock",
                "Cargo.toml",       "Cargo.lock",
                "build.rs",         "go.mod",
                "go.sum",           "pom.xml",
                "build.gradle",     "Gemfile",
                "Rakefile",         "composer.json",
                "Dockerfile",       "docker-compose.yml",
                ".dockerignore",    "main.tf",
                "deploy/x.service", ".editorconfig",
                ".python-version",  ".nvmrc",
                ".git/index",       ".git/HEAD",
                ".git/logs/HEAD",   ".git/refs/heads/main",
                ".git/ORIG_HEAD",   ".git/objects/ab/cd",
                "scripts/run.sh",   "compile_commands.json",
        };
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
                if (flags_by_name(paths[i]))
                        printf("# %s: %s\n", paths[i], flags_reason(paths[i]));
                CHECK(flags_by_name(paths[i]) == 0);
        }
}

static void test_folds__packages_builds_and_caches(void)
{
        CHECK(fold_length("node_modules", true) == 12 && fold_length("node_modules", false) == 0);
        CHECK(fold_length("a/node_modules/b/node_modules/c", false) == 14);
        CHECK(fold_length("src/a", false) == 0 && fold_length("rebuild/a", false) == 0);
        CHECK(fold_length("target/debug/x", false) == 6 && fold_length("x.egg-info/a", false) == 10);
        CHECK(fold_length(".git/objects/ab/cd", false) == 12 && fold_length(".git/hooks/x", false) == 0);
}

static void test_folds__sums_are_readable(void)
{
        static const struct {
                struct fold f;
                const char *text;
        } rows_of[] = {
                { { .files = 12252, .bytes = 88400000 }, "12,252 files, 88 MB" },
                { { .files = 1, .bytes = 0 }, "1 file, 0 bytes" },
                { { .files = 1002003, .bytes = 999600 }, "1,002,003 files, 1 MB" },
                { { .files = 21, .bytes = 1499 }, "21 files, 1 kB" },
        };
        for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++) {
                AUTO_BUF(out);
                fold_put(&out, &rows_of[i].f);
                CHECK(strcmp(buf_str(&out), rows_of[i].text) == 0);
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
                CHECK(flags_kind(i) && flags_of_kind(flags_kind(i)) == 1u << i);
                CHECK(flags_words(1u << i, &bit)[0] && bit == 1u << i);
        }
}

static const struct test_case cases[] = {
        CASE(test_names__are_flagged_as_the_table_says),
        CASE(test_table__each_row_is_reached),
        CASE(test_ordinary_changes__are_not_flagged),
        CASE(test_folds__packages_builds_and_caches),
        CASE(test_folds__sums_are_readable),
        CASE(test_links__that_leave_the_tree),
        CASE(test_nodes__new_executables_and_set_id),
        CASE(test_content__install_scripts),
        CASE(test_words__every_flag_has_some),
};
TEST_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* work/flags.c - what the host later executes or trusts: shown first, and applied only when asked for by
 * name. A list of names can never be complete: it is the second look, not the wall. Pure. */
#include "work/internal.h"

#include <ctype.h>
#include <string.h>

enum flag {
        FLAG_GIT_HOOK = 0,
        FLAG_GIT_CONFIG,
        FLAG_GIT_INSIDE,
        FLAG_SHELL_START,
        FLAG_CI,
        FLAG_EDITOR,
        FLAG_BUILD,
        FLAG_PACKAGE,
        FLAG_AGENT,
        FLAG_POLICY,
        FLAG_ENVIRONMENT,
        FLAG_SEARCH_PATH,
        FLAG_LINK_OUT,
        FLAG_SETID,
        FLAG_EXECUTABLE,
        FLAG_SPECIAL,
        FLAG__COUNT
};

static const char *const words[] = {
        [FLAG_GIT_HOOK] = "git runs it",
        [FLAG_GIT_CONFIG] = "git takes orders from it",
        [FLAG_GIT_INSIDE] = "inside a git directory",
        [FLAG_SHELL_START] = "a shell or login reads it at its start",
        [FLAG_CI] = "a build server runs it",
        [FLAG_EDITOR] = "an editor acts on it",
        [FLAG_BUILD] = "a build tool runs it",
        [FLAG_PACKAGE] = "a package manager runs what it says",
        [FLAG_AGENT] = "a coding agent obeys it",
        [FLAG_POLICY] = "a box gets its doors from it",
        [FLAG_ENVIRONMENT] = "sets variables of programs started here",
        [FLAG_SEARCH_PATH] = "found before the real program or library of that name",
        [FLAG_LINK_OUT] = "a link that leaves the tree",
        [FLAG_SETID] = "runs as its owner or group",
        [FLAG_EXECUTABLE] = "newly executable",
        [FLAG_SPECIAL] = "a socket, fifo or device: never applied",
};
_Static_assert(sizeof words / sizeof *words == FLAG__COUNT, "words for each flag");

const unsigned FLAG_NEVER = 1u << FLAG_SPECIAL;
const unsigned FLAG_LEAVES = 1u << FLAG_LINK_OUT;
unsigned flags_count(void) { return FLAG__COUNT; }
const char *flags_row(unsigned i) { return i < FLAG__COUNT ? words[i] : NULL; }

/* "*" stands for any run of bytes but a slash. A pattern with a slash matches the end of a path, part by
 * part; one that ends in a slash, everything below such a directory and the directory itself. Case does not
 * count: some filesystems do not tell it apart. */
static const struct {
        const char *pattern;
        enum flag flag;
} names[] = {
        { ".git/hooks/", FLAG_GIT_HOOK },
        { ".githooks/", FLAG_GIT_HOOK },
        { ".husky/", FLAG_GIT_HOOK },
        { "hooks/pre-*", FLAG_GIT_HOOK },
        { "hooks/post-*", FLAG_GIT_HOOK },
        { ".pre-commit-config.yaml", FLAG_GIT_HOOK },
        { ".pre-commit-config.yml", FLAG_GIT_HOOK },
        { "lefthook.yml", FLAG_GIT_HOOK },
        { ".git/config", FLAG_GIT_CONFIG },
        { ".git/config.worktree", FLAG_GIT_CONFIG },
        { ".git/info/", FLAG_GIT_CONFIG },
        { ".gitattributes", FLAG_GIT_CONFIG },
        { ".gitmodules", FLAG_GIT_CONFIG },
        { ".gitconfig", FLAG_GIT_CONFIG },
        { ".lfsconfig", FLAG_GIT_CONFIG },
        { ".config/git/", FLAG_GIT_CONFIG },
        { ".git", FLAG_GIT_CONFIG }, /* a file or link where a repository is looked for */
        { ".git/modules/", FLAG_GIT_INSIDE },
        { ".git/worktrees/", FLAG_GIT_INSIDE },
        { ".git/objects/info/alternates", FLAG_GIT_INSIDE },
        { ".bashrc", FLAG_SHELL_START },
        { ".bash_profile", FLAG_SHELL_START },
        { ".bash_login", FLAG_SHELL_START },
        { ".bash_logout", FLAG_SHELL_START },
        { ".bash_aliases", FLAG_SHELL_START },
        { ".profile", FLAG_SHELL_START },
        { ".zshrc", FLAG_SHELL_START },
        { ".zshenv", FLAG_SHELL_START },
        { ".zprofile", FLAG_SHELL_START },
        { ".zlogin", FLAG_SHELL_START },
        { ".zlogout", FLAG_SHELL_START },
        { ".kshrc", FLAG_SHELL_START },
        { ".cshrc", FLAG_SHELL_START },
        { ".tcshrc", FLAG_SHELL_START },
        { ".login", FLAG_SHELL_START },
        { ".config/fish/", FLAG_SHELL_START },
        { ".xprofile", FLAG_SHELL_START },
        { ".xinitrc", FLAG_SHELL_START },
        { ".xsessionrc", FLAG_SHELL_START },
        { ".pam_environment", FLAG_SHELL_START },
        { ".inputrc", FLAG_SHELL_START },
        { ".ssh/", FLAG_SHELL_START },
        { ".config/autostart/", FLAG_SHELL_START },
        { ".config/systemd/", FLAG_SHELL_START },
        { ".tmux.conf", FLAG_SHELL_START },
        { ".screenrc", FLAG_SHELL_START },
        { ".pythonrc*", FLAG_SHELL_START },
        { ".gdbinit", FLAG_SHELL_START },
        { ".lldbinit", FLAG_SHELL_START },
        { ".gnupg/", FLAG_SHELL_START },
        { ".config/environment.d/", FLAG_SHELL_START },
        { ".irbrc", FLAG_SHELL_START },
        { ".pryrc", FLAG_SHELL_START },
        { ".rprofile", FLAG_SHELL_START },
        { ".github/workflows/", FLAG_CI },
        { ".github/actions/", FLAG_CI },
        { ".github/dependabot.yml", FLAG_CI },
        { ".gitlab-ci.yml", FLAG_CI },
        { ".gitlab/", FLAG_CI },
        { ".gitea/workflows/", FLAG_CI },
        { ".forgejo/workflows/", FLAG_CI },
        { ".circleci/", FLAG_CI },
        { ".travis.yml", FLAG_CI },
        { ".drone.yml", FLAG_CI },
        { ".woodpecker*", FLAG_CI },
        { ".buildkite/", FLAG_CI },
        { ".builds/", FLAG_CI },
        { ".cirrus.yml", FLAG_CI },
        { "jenkinsfile*", FLAG_CI },
        { "azure-pipelines*.yml", FLAG_CI },
        { "bitbucket-pipelines.yml", FLAG_CI },
        { "appveyor.yml", FLAG_CI },
        { "codeowners", FLAG_CI },
        { ".vscode/", FLAG_EDITOR },
        { "*.code-workspace", FLAG_EDITOR },
        { ".idea/", FLAG_EDITOR },
        { ".zed/", FLAG_EDITOR },
        { ".fleet/", FLAG_EDITOR },
        { ".vimrc", FLAG_EDITOR },
        { ".exrc", FLAG_EDITOR },
        { ".nvimrc", FLAG_EDITOR },
        { ".nvim.lua", FLAG_EDITOR },
        { ".vim/", FLAG_EDITOR },
        { ".config/nvim/", FLAG_EDITOR },
        { ".dir-locals.el", FLAG_EDITOR },
        { ".emacs", FLAG_EDITOR },
        { ".emacs.d/", FLAG_EDITOR },
        { ".editorconfig", FLAG_EDITOR },
        { ".devcontainer/", FLAG_EDITOR },
        { "devcontainer.json", FLAG_EDITOR },
        { "*.sublime-project", FLAG_EDITOR },
        { ".lvimrc", FLAG_EDITOR },
        { ".local.vimrc", FLAG_EDITOR },
        { ".vs/", FLAG_EDITOR },
        { ".helix/", FLAG_EDITOR },
        { ".config/helix/", FLAG_EDITOR },
        { ".kateproject", FLAG_EDITOR },
        { "makefile*", FLAG_BUILD },
        { "gnumakefile", FLAG_BUILD },
        { "*.mk", FLAG_BUILD },
        { "*.mak", FLAG_BUILD },
        { "cmakelists.txt", FLAG_BUILD },
        { "*.cmake", FLAG_BUILD },
        { "cmakepresets.json", FLAG_BUILD },
        { "meson.build", FLAG_BUILD },
        { "build.ninja", FLAG_BUILD },
        { "justfile", FLAG_BUILD },
        { "taskfile.y*ml", FLAG_BUILD },
        { "configure", FLAG_BUILD },
        { "configure.ac", FLAG_BUILD },
        { "build.rs", FLAG_BUILD },
        { ".cargo/", FLAG_BUILD },
        { "rust-toolchain*", FLAG_BUILD },
        { "build.zig", FLAG_BUILD },
        { "build", FLAG_BUILD },
        { "build.bazel", FLAG_BUILD },
        { "workspace", FLAG_BUILD },
        { "workspace.bazel", FLAG_BUILD },
        { "module.bazel", FLAG_BUILD },
        { ".bazelrc", FLAG_BUILD },
        { "*.bzl", FLAG_BUILD },
        { "build.xml", FLAG_BUILD },
        { "pom.xml", FLAG_BUILD },
        { ".mvn/", FLAG_BUILD },
        { "mvnw", FLAG_BUILD },
        { "build.gradle*", FLAG_BUILD },
        { "settings.gradle*", FLAG_BUILD },
        { "gradle.properties", FLAG_BUILD },
        { "gradlew", FLAG_BUILD },
        { "gradle/wrapper/", FLAG_BUILD },
        { "build.sbt", FLAG_BUILD },
        { "rakefile", FLAG_BUILD },
        { "gemfile", FLAG_BUILD },
        { "*.gemspec", FLAG_BUILD },
        { "*.csproj", FLAG_BUILD },
        { "*.vcxproj", FLAG_BUILD },
        { "*.targets", FLAG_BUILD },
        { "*.props", FLAG_BUILD },
        { "sconstruct", FLAG_BUILD },
        { "wscript", FLAG_BUILD },
        { "dune", FLAG_BUILD },
        { "dockerfile*", FLAG_BUILD },
        { "containerfile*", FLAG_BUILD },
        { "docker-compose*", FLAG_BUILD },
        { "compose.y*ml", FLAG_BUILD },
        { "vagrantfile", FLAG_BUILD },
        { "flake.nix", FLAG_BUILD },
        { "default.nix", FLAG_BUILD },
        { "shell.nix", FLAG_BUILD },
        { "buck", FLAG_BUILD },
        { "mix.exs", FLAG_BUILD },
        { "rebar.config*", FLAG_BUILD },
        { "project.clj", FLAG_BUILD },
        { "deps.edn", FLAG_BUILD },
        { "*.cabal", FLAG_BUILD },
        { "stack.yaml", FLAG_BUILD },
        { "podfile", FLAG_BUILD },
        { "fastfile", FLAG_BUILD },
        { "project/*.sbt", FLAG_BUILD },
        { "*.tf", FLAG_BUILD },
        { "ansible.cfg", FLAG_BUILD },
        { "procfile", FLAG_BUILD },
        { "gruntfile.*", FLAG_BUILD },
        { "gulpfile.*", FLAG_BUILD },
        { "*.config.js", FLAG_BUILD },
        { "*.config.cjs", FLAG_BUILD },
        { "*.config.mjs", FLAG_BUILD },
        { "*.config.ts", FLAG_BUILD },
        { "karma.conf.*", FLAG_BUILD },
        { ".eslintrc*", FLAG_BUILD },
        { ".prettierrc.*", FLAG_BUILD },
        { ".mocharc.*", FLAG_BUILD },
        { ".babelrc*", FLAG_BUILD },
        { ".rspec", FLAG_BUILD },
        { "turbo.json", FLAG_BUILD },
        { "nx.json", FLAG_BUILD },
        { "setup.py", FLAG_PACKAGE },
        { "setup.cfg", FLAG_PACKAGE },
        { "pyproject.toml", FLAG_PACKAGE },
        { "conftest.py", FLAG_PACKAGE },
        { "tox.ini", FLAG_PACKAGE },
        { "noxfile.py", FLAG_PACKAGE },
        { "*.pth", FLAG_PACKAGE },
        { "sitecustomize.py", FLAG_PACKAGE },
        { "usercustomize.py", FLAG_PACKAGE },
        { "pip.conf", FLAG_PACKAGE },
        { "binding.gyp", FLAG_PACKAGE },
        { ".npmrc", FLAG_PACKAGE },
        { ".yarnrc*", FLAG_PACKAGE },
        { ".yarn/", FLAG_PACKAGE },
        { ".pnpmfile.cjs", FLAG_PACKAGE },
        { ".bunfig.toml", FLAG_PACKAGE },
        { "bunfig.toml", FLAG_PACKAGE },
        { "composer.json", FLAG_PACKAGE },
        { "package.swift", FLAG_PACKAGE },
        { "deno.json*", FLAG_PACKAGE },
        { "cargo.toml", FLAG_PACKAGE },
        { "nuget.config", FLAG_PACKAGE },
        { ".claude/", FLAG_AGENT },
        { "claude.md", FLAG_AGENT },
        { "claude.local.md", FLAG_AGENT },
        { "agents.md", FLAG_AGENT },
        { "gemini.md", FLAG_AGENT },
        { ".gemini/", FLAG_AGENT },
        { ".codex/", FLAG_AGENT },
        { ".cursor/", FLAG_AGENT },
        { ".cursorrules", FLAG_AGENT },
        { ".cursorignore", FLAG_AGENT },
        { ".windsurf/", FLAG_AGENT },
        { ".windsurfrules", FLAG_AGENT },
        { ".aider*", FLAG_AGENT },
        { ".continue/", FLAG_AGENT },
        { ".roo/", FLAG_AGENT },
        { ".clinerules*", FLAG_AGENT },
        { ".kiro/", FLAG_AGENT },
        { ".opencode/", FLAG_AGENT },
        { "opencode.json*", FLAG_AGENT },
        { ".mcp.json", FLAG_AGENT },
        { "mcp.json", FLAG_AGENT },
        { ".github/copilot-instructions.md", FLAG_AGENT },
        { ".github/instructions/", FLAG_AGENT },
        { ".github/prompts/", FLAG_AGENT },
        { "*.policy", FLAG_POLICY },
        { "*.places", FLAG_POLICY }, /* says where credentials go */
        { "*.cordon", FLAG_POLICY },
        { ".config/cordon/", FLAG_POLICY },
        { ".env", FLAG_ENVIRONMENT },
        { ".env.*", FLAG_ENVIRONMENT },
        { ".envrc", FLAG_ENVIRONMENT },
        { ".direnv/", FLAG_ENVIRONMENT },
        { ".tool-versions", FLAG_ENVIRONMENT },
        { ".mise.toml", FLAG_ENVIRONMENT },
        { "mise.toml", FLAG_ENVIRONMENT },
        { ".asdfrc", FLAG_ENVIRONMENT },
        { ".nvmrc", FLAG_ENVIRONMENT },
        { ".python-version", FLAG_ENVIRONMENT },
        { "node_modules/.bin/", FLAG_SEARCH_PATH },
        { ".venv/bin/", FLAG_SEARCH_PATH },
        { "venv/bin/", FLAG_SEARCH_PATH },
        { ".local/bin/", FLAG_SEARCH_PATH },
};

static bool glob(const char *p, const char *pe, const char *s, const char *se)
{
        while (p < pe && *p != '*') {
                if (s == se || *p != tolower((unsigned char) *s))
                        return false;
                p++;
                s++;
        }
        if (p == pe)
                return s == se;
        for (p++;; s++) {
                if (glob(p, pe, s, se))
                        return true;
                if (s == se)
                        return false;
        }
}

static const char *part_end(const char *s)
{
        const char *slash = strchr(s, '/');
        return slash ? slash : s + strlen(s);
}

/* Does the pattern match from this part of the path on? */
static bool matches_here(const char *pattern, const char *path)
{
        for (;;) {
                const char *pe = part_end(pattern), *se = part_end(path);
                if (!glob(pattern, pe, path, se))
                        return false;
                if (*pe == '\0')
                        return *se == '\0';
                if (pe[1] == '\0')
                        return true; /* "dir/": itself and all below */
                if (*se == '\0')
                        return false;
                pattern = pe + 1;
                path = se + 1;
        }
}

unsigned flags_by_name(const char *path)
{
        unsigned f = 0;
        for (const char *at = path;; at++) {
                char first = (char) tolower((unsigned char) *at);
                for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                        if ((names[i].pattern[0] == first || names[i].pattern[0] == '*') &&
                            matches_here(names[i].pattern, at))
                                f |= 1u << names[i].flag;
                at = part_end(at);
                if (*at == '\0')
                        return f;
        }
}

bool flags_wants_content(const char *path)
{
        const char *slash = strrchr(path, '/');
        return strcasecmp(slash ? slash + 1 : path, "package.json") == 0;
}

unsigned flags_by_content(struct span text)
{
        static const char *const scripts[] = { "install\"", "prepare\"", "prepublish",
                                               "prepack",   "postpack",  "\\u" };
        for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
                if (text.n > 0 && memmem(text.p, text.n, scripts[i], strlen(scripts[i])))
                        return 1u << FLAG_PACKAGE;
        return text.n >= 1 << 20 ? 1u << FLAG_PACKAGE : 0; /* more than we look at */
}

unsigned flags_by_node(const struct node *old, const struct node *now)
{
        unsigned f = 0;
        if (now->kind == NODE_OTHER)
                f |= 1u << FLAG_SPECIAL;
        if (now->kind == NODE_FILE && now->mode & 06000)
                f |= 1u << FLAG_SETID;
        if (now->kind == NODE_FILE && now->mode & 0111 && !(old->kind == NODE_FILE && old->mode & 0111))
                f |= 1u << FLAG_EXECUTABLE;
        return f;
}

/* From where the link stands, in directories that are none: does its target climb above the top? Absolute
 * ones always leave. What is called by name may be another link, to a place less deep, and what climbs behind
 * it climbs from there. */
unsigned flags_by_link(const char *path, const char *target)
{
        int depth = 0;
        bool named = false;
        if (target[0] == '/')
                return 1u << FLAG_LINK_OUT;
        for (const char *p = path; *p; p++)
                depth += *p == '/';
        for (const char *at = target; *at; at += strspn(at, "/")) {
                size_t n = strcspn(at, "/");
                if (n == 2 && at[0] == '.' && at[1] == '.')
                        depth--;
                else if (!(n == 1 && at[0] == '.'))
                        named = true;
                if (depth < 0 || (named && n == 2 && at[0] == '.' && at[1] == '.'))
                        return 1u << FLAG_LINK_OUT;
                at += n;
        }
        return 0;
}

const char *flags_words(unsigned flags, unsigned *ret_bit)
{
        for (unsigned i = 0; i < FLAG__COUNT; i++)
                if (flags & (1u << i)) {
                        *ret_bit = 1u << i;
                        return words[i];
                }
        *ret_bit = 0;
        return "";
}

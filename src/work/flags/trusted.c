/* SPDX-License-Identifier: MIT */
/* work/flags/trusted.c - the names by which the host's programs find what they execute or trust without being
 * asked. A row is here because its file acts by lying there: a program that a person runs anyway (git, a
 * shell, an editor, an agent, a build server) obeys it. Source code is not here, and neither are the files
 * that ordinary changes touch and that act only when somebody builds, tests or installs (Makefile,
 * package.json, pyproject.toml, Dockerfile ...): the diff shows those, and a flag that is always up is none.
 * A table: nothing else.
 *
 * A row is one reason and the patterns that it holds for, separated by spaces. "*" stands for any run of
 * bytes but a slash. A pattern with a slash matches the end of a path, part by part; one that ends in a
 * slash, everything below such a directory and the directory itself. All are lower case: see spelling.c. */
#include "work/internal.h"

const struct trusted trusted_names[] = {
        { FLAG_GIT_HOOK, "git runs it at commit, checkout, merge or push",
          ".git/hooks/ .githooks/ .git-hooks/ hooks/pre-* hooks/post-* hooks/prepare-* "
          "hooks/*-msg hooks/update hooks/fsmonitor-* hooks/reference-transaction "
          "hooks/push-to-checkout hooks/proc-receive hooks/sendemail-validate" },
        { FLAG_GIT_HOOK, "a git hook runs the commands that it lists",
          ".husky/ .huskyrc* .pre-commit-config.y*ml .pre-commit-hooks.y*ml lefthook.* "
          ".lefthook.* lefthook-local.* .lefthook-local.* .lefthook/ .lefthook-local/ "
          ".lintstagedrc* lint-staged.* .simple-git-hooks.* simple-git-hooks.* .overcommit.yml" },
        { FLAG_GIT_HOOK, "`exec` lines wait in it for --continue",
          ".git/rebase-merge/ .git/rebase-apply/ .git/sequencer/" },
        { FLAG_GIT_CONFIG, "names programs, filters and hooks that git runs",
          ".git/config .git/config.worktree .gitconfig .config/git/ .git/info/ .gitattributes "
          ".lfsconfig" },
        { FLAG_GIT_CONFIG, "git fetches and checks out what it names",
          ".gitmodules .git/remotes/ .git/branches/" },
        { FLAG_GIT_CONFIG, "makes git use another repository's hooks and configuration",
          ".git .git/commondir" },
        { FLAG_GIT_CONFIG, "a short name of such a file on FAT and NTFS",
          "git~* gitmod~* gitatt~* gi7d29~* gi7eba~* gi250a~*" },
        { FLAG_GIT_CONFIG, "says which credential git sends", ".git-credentials" },
        { FLAG_GIT_INSIDE, "hooks and configuration of another repository",
          ".git/modules/ .git/worktrees/ git~*/ .git/gitdir" },
        { FLAG_GIT_INSIDE, "git reads objects from where it says",
          ".git/objects/info/alternates .git/objects/info/http-alternates" },
        { FLAG_VCS, "hooks, aliases or another repository",
          ".hg/hgrc* .hg/sharedpath .hgrc .hgsub .jj/repo .jj/repo/config* .jjconfig.toml "
          ".config/jj/ .bzr/branch/branch.conf .subversion/ .sl/config*" },
        { FLAG_SHELL_START, "a shell runs it when it starts or ends",
          ".bashrc .bashrc.d/ .bash_profile .bash_login .bash_logout .bash_aliases .bash_env "
          ".bash_completion .profile .profile.d/ profile.d/ .shrc .kshrc .mkshrc .zshrc "
          ".zshrc.* .zshenv .zprofile .zlogin .zlogout .config/zsh/ .oh-my-zsh/ .cshrc .tcshrc "
          ".login .config/fish/ .config/nushell/ .config/elvish/ .xonshrc .config/xonsh/" },
        { FLAG_SHELL_START, "the login, the desktop or cron runs it",
          ".xprofile .xinitrc .xsession .xsessionrc .xserverrc .pam_environment "
          ".config/environment.d/ .config/autostart/ .config/systemd/ "
          ".local/share/applications/ .config/i3/ .config/sway/ .config/hypr/ launchagents/ "
          "launchdaemons/ crontab cron.d/ .forward .procmailrc" },
        { FLAG_SHELL_START, "a terminal or pager acts on it when it starts",
          ".tmux.conf .config/tmux/ .screenrc .wezterm.lua .config/wezterm/ .config/kitty/ "
          ".inputrc .lessfilter .lesskey .mailcap .nanorc" },
        { FLAG_SHELL_START, "a debugger runs it when it loads a program",
          ".gdbinit .gdbearlyinit *-gdb.py *-gdb.gdb .lldbinit .lldbinit-* .pdbrc .byebugrc "
          ".rdbgrc" },
        { FLAG_SHELL_START, "an interpreter runs it when it starts here",
          ".pythonrc* .ipython/ ipython_config.py .jupyter/ jupyter_*config.py .irbrc .pryrc "
          ".rprofile .renviron .rdata .ghci .ocamlinit .iex.exs .erlang .sbclrc .octaverc "
          "startup.jl .psqlrc .sqliterc .my.cnf" },
        { FLAG_SHELL_START, "says which hosts are trusted with which credential",
          ".ssh/ .gnupg/ .netrc .rhosts .shosts .aws/ .kube/ .docker/ .m2/ .curlrc .wgetrc" },
        { FLAG_SHELL_START, "the system trusts it where the door is /etc",
          "sudoers sudoers.d/ pam.d/ ld.so.preload ld.so.conf* udev/rules.d/" },
        { FLAG_CI, "a build server runs it with the project's secrets",
          ".github/workflows/ .github/actions/ .gitlab/ .gitlab-ci*.y*ml *.gitlab-ci.y*ml "
          ".gitea/workflows/ .gitea/actions/ .forgejo/workflows/ .forgejo/actions/ .circleci/ "
          ".woodpecker* .buildkite/ .builds/ .build.yml jenkinsfile* *.jenkinsfile .travis.y*ml "
          ".drone.* azure-pipelines*.y*ml .azure-pipelines/ .azuredevops/ .appveyor.y*ml "
          "appveyor.y*ml .cirrus.* bitbucket-pipelines.y*ml .semaphore/ .teamcity/ .tekton/ "
          "cloudbuild.y*ml buildspec*.y*ml" },
        { FLAG_CI, "says who must approve a change", "codeowners" },
        { FLAG_EDITOR, "tasks, debuggers and paths of programs that an editor runs",
          ".vscode/ *.code-workspace .idea/ .run/ *.iml .zed/ .fleet/ .vs/ .helix/ "
          ".config/helix/ .theia/ .vimspector.json .projections.json" },
        { FLAG_EDITOR, "an editor runs it when it starts or opens a file here",
          ".vimrc .gvimrc .exrc .nvimrc .nvim.* .nvim/ .vim/ .lvimrc .local.vimrc .config/nvim/ "
          ".emacs .emacs.el .emacs.d/ .dir-locals*.el .ycm_extra_conf.py .kakrc .kakoune/ "
          ".ctags.d/" },
        { FLAG_EDITOR, "an editor starts a container or machine by it",
          ".devcontainer/ devcontainer.json .devcontainer.json .gitpod.* .idx/ .replit "
          "devfile.y*ml .devfile.y*ml" },
        { FLAG_BUILD, "replaces the compiler, linker or runner of every build",
          ".cargo/ .mvn/ gradle/wrapper/ tools/bazel" },
        { FLAG_PACKAGE, "says where packages come from and what runs at install",
          ".npmrc .yarnrc* .yarn/ .pnpmfile.* .bunfig.toml bunfig.toml pip.conf .pip/ "
          ".config/pip/ .config/uv/ .condarc .pypirc nuget.config .bundle/ .gemrc" },
        { FLAG_PACKAGE, "an interpreter runs it before any program",
          "sitecustomize.py usercustomize.py *.pth .pnp.*" },
        { FLAG_AGENT, "instructions that an agent follows",
          "claude.md claude.local.md agents.md agent.md agents.override.md gemini.md qwen.md "
          "crush.md warp.md skill.md copilot-instructions.md *.instructions.md *.prompt.md "
          "*.chatmode.md *.agent.md .cursorrules .windsurfrules .clinerules* .roorules* "
          ".roomodes .goosehints .rules .augment-guidelines .github/instructions/ "
          ".github/prompts/ .github/agents/ .github/chatmodes/ .github/skills/" },
        { FLAG_AGENT, "hooks, permissions and tools of an agent",
          ".claude/ .codex/ .gemini/ .qwen/ .cursor/ .windsurf/ .aider* .continue/ .roo/ "
          ".cline/ .kilocode/ .kiro/ .opencode/ opencode.json* .crush/ .crush.json crush.json "
          ".goose/ .junie/ .augment/ .amazonq/ .amp/ .trae/ .factory/ .copilot/ .openhands/ "
          ".agents/ .agent/ .github/hooks/ .cursor*ignore .windsurfignore" },
        { FLAG_AGENT, "an agent starts the servers that it names",
          ".mcp.json mcp.json mcp_config.json .mcp/" },
        { FLAG_POLICY, "a box gets its doors from it", "*.policy *.cordon .config/cordon/" },
        { FLAG_POLICY, "says where credentials go", "*.places" },
        { FLAG_ENVIRONMENT, "loaded into the environment of programs started here", ".env .env.* .flaskenv" },
        { FLAG_ENVIRONMENT, "a shell runs it when it enters the directory",
          ".envrc .envrc.* .direnv/ .direnvrc .config/direnv/ .autoenv* mise.toml mise.*.toml "
          ".mise.toml .mise.*.toml .mise/ mise/config*.toml .config/mise*" },
        { FLAG_SEARCH_PATH, "programs are looked for in it first",
          "node_modules/.bin/ .local/bin/ env/bin/ *venv*/bin/ vendor/bin/ pyvenv.cfg" },
        { FLAG_SEARCH_PATH, "run instead of the source that the diff shows",
          "__pycache__/ *.pyc node_modules/.cache/ .local/lib/" },
};
const size_t trusted_count = sizeof trusted_names / sizeof *trusted_names;

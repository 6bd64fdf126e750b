#!/bin/sh
# shellcheck disable=SC2016,SC1091
# cordon agent: what a hostile run leaves in an agent's state to start code later does not reach the next run until a person accepts it; all
# else of the state persists. A table of agents, places and ways to write.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
[ -x "$CORDON_LIBEXEC/cordon-vault" ] || { skip "state of agents" "cordon-vault is not built here: it needs OpenSSL"; done_testing; }
for program in jq python3; do
        command -v $program >/dev/null || { skip "state of agents" "$program is not installed"; done_testing; }
done
elsewhere held
# shellcheck disable=SC2154
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
unset XDG_DATA_HOME ANTHROPIC_BASE_URL OPENAI_BASE_URL GOOGLE_GEMINI_BASE_URL
HOME=$D/home XDG_CONFIG_HOME=$D/home/.config ANTHROPIC_API_KEY=sk-ant-0123456789 OPENAI_API_KEY=sk-open-0123456789 GEMINI_API_KEY=AIza0123456789
export HOME XDG_CONFIG_HOME ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY
mkdir -p "$HOME" "$D/project" "$D/bin" && cd "$D/project" || exit 1
agents="aider claude cline codex crush gemini goose opencode pi qwen"
for name in $agents own-agent; do # an agent that does what its last argument says
        printf '#!/bin/sh\nfor last; do :; done\neval "$last"\n' >"$D/bin/$name" && chmod 755 "$D/bin/$name"
done
PATH=$D/bin:$PATH
state=$HOME/.local/share/cordon/agents
agent() { # NAME SCRIPT
        which=$1
        case $which in own-agent) which="-- own-agent" ;; esac
        shift
        # shellcheck disable=SC2086
        timeout 120 "$CORDON" agent $which "$@" </dev/null
}
agent claude true >"$T/out" 2>"$T/err"
if grep -q network "$T/err"; then
        skip "state of agents" "net doors do not work here: $(head -n 1 "$T/err")"
        done_testing
fi
is "an honest run has no word about its configuration" "$(agent claude 'echo "{\"theme\":\"dark\",\"model\":\"opus\"}" >~/.claude/settings.json; mkdir -p ~/.claude/projects/p ~/.claude/commands; echo "#!/bin/sh" >~/.claude/projects/p/x.sh; echo "{\"n\":2,\"projects\":{\"/p\":{\"history\":[1],\"mcpServers\":{}}}}" >~/.claude/.claude.json' 2>&1)" ""

# AGENT DATA PLACE...: a file that persists; files that are obeyed at a later start. A place that ends in / is a directory of them.
places() {
        cat <<'END'
claude .claude/history.jsonl .claude/CLAUDE.md .claude/statusline.sh .claude/.config.json .claude/commands/ .claude/agents/ .claude/skills/s/ .claude/hooks/ .claude/plugins/p/ .claude/output-styles/ .claude/keybindings.json
codex .codex/history.jsonl .codex/AGENTS.md .codex/AGENTS.override.md .codex/hooks.json .codex/.env .codex/config.toml .codex/work.config.toml .codex/prompts/ .codex/rules/ .codex/skills/s/ .codex/plugins/
gemini .gemini/installation_id .gemini/GEMINI.md .gemini/.env .gemini/trustedFolders.json .gemini/commands/ .gemini/extensions/e/ .gemini/skills/ .gemini/policies/ .gemini/hooks/ .gemini/history/h/.git/config .gemini/tmp/bin/rg .gemini/history/h/.git/hooks/
opencode .local/share/opencode/log.txt .config/opencode/AGENTS.md .config/opencode/plugin/ .config/opencode/plugins/ .config/opencode/agent/ .config/opencode/command/ .config/opencode/tool/ .config/opencode/package.json .local/share/opencode/bin/ .local/share/opencode/snapshot/s/config .config/opencode/node_modules/m/
cline .cline/log.txt .cline/data/settings/cline_mcp_settings.json .cline/rules/ .cline/hooks/ .cline/plugins/p/ .cline/skills/s/ .cline/cron/ .cline/start.sh
crush .local/share/crush/log.txt .config/crush/crush.json .config/crush/skills/ .config/crush/commands/ .local/share/crush/crush.json .local/share/crush/providers.json .local/share/crush/start.sh
goose .local/share/goose/log.txt .config/goose/config.yaml .config/goose/memory/ .config/goose/recipes/ .config/goose/.goosehints .local/share/goose/schedule.json .local/share/goose/scheduled_recipes/ .local/state/goose/lib/x.py
pi .pi/agent/log.txt .pi/agent/AGENTS.md .pi/agent/models.json .pi/agent/mcp.json .pi/agent/auth.json .pi/agent/extensions/ .pi/agent/skills/ .pi/agent/prompts/ .pi/agent/npm/node_modules/m/ .pi/agent/bin/
qwen .qwen/installation_id .qwen/QWEN.md .qwen/.env .qwen/commands/ .qwen/extensions/e/ .qwen/skills/ .qwen/tmp/bin/rg
aider .aider/installs.json .aider/oauth-keys.env .aider/start.sh
own-agent .local/share/own-agent/log.txt .config/own-agent/settings.yaml .config/own-agent/plugins/ .local/share/own-agent/start.sh .local/state/own-agent/lib/x.py
END
}
# The file of a place.
file_of() { case $1 in */) echo "${1}planted.js" ;; *) echo "$1" ;; esac; }
# The state directory that a path lies in, which a box cannot move.
base_of() { case $1 in .config/* | .pi/*) echo "$1" | cut -d/ -f1-2 ;; .local/*) echo "$1" | cut -d/ -f1-3 ;; *) echo "${1%%/*}" ;; esac; }
# WAY PATH: shell text that leaves PLANTED there.
way() {
        base=$(base_of "$2") dir=${2%/*}
        below=${2#"$base"/} first=${below%%/*} rest=${below#*/}
        case $1 in
        write) echo "mkdir -p ~/$dir; echo PLANTED >~/$2; chmod 755 ~/$2" ;;
        rename) echo "mkdir -p ~/$dir; echo PLANTED >~/$base/plain; chmod 755 ~/$base/plain; mv ~/$base/plain ~/$2" ;;
        link) echo "mkdir -p ~/$dir; echo PLANTED >~/$base/plain; ln -sf \"\$(readlink -f ~/$base/plain)\" ~/$2" ;;
        hard) echo "mkdir -p ~/$dir; echo PLANTED >~/$base/plain; chmod 755 ~/$base/plain; ln -f ~/$base/plain ~/$2" ;;
        closed) echo "mkdir -p ~/$dir; echo PLANTED >~/$2; grep PLANTED ~/$2; chmod 111 ~/$2; [ '$first' = '$below' ] || chmod 000 ~/$base/$first" ;;
        parent) [ "$first" = "$below" ] && way write "$2" || echo "mkdir -p ~/$base/data.d/$rest; rmdir ~/$base/data.d/$rest; rm -rf ~/$base/$first; echo PLANTED >~/$base/data.d/$rest; ln -s data.d ~/$base/$first" ;;
        esac
}
places | while read -r name data list; do
        for how in write rename link hard closed parent; do
                plant="" look=""
                for place in $list; do
                        file=$(file_of "$place")
                        plant="$plant
$(way $how "$file")"
                        look="$look
grep -s PLANTED ~/$file"
                done
                agent "$name" "$plant
echo data >~/$data; $look
exit 0" >"$T/first" 2>"$T/err"
                agent "$name" "cat ~/$data; $look
exit 0" >"$T/second" 2>"$T/err2"
                seen=$(grep -c PLANTED "$T/first") told=$(grep -c 'held back until' "$T/err")
                [ "$seen" -gt 0 ] && seen=some
                echo "$name|$how|$seen|$told|$(tr '\n' ' ' <"$T/second")"
        done
done >"$T/rows"
while IFS='|' read -r name how seen told second; do
        is "$name, $how: the run itself sees it, it is told, the next run has the data alone" "$seen $told $second" "some 1 data "
done <"$T/rows"
is "each agent was tried in each way" "$(wc -l <"$T/rows")" 66
is "nothing of it is on the host" "$(cd "$HOME" && ls -A)" ".config
.local"

# ---- members of settings: AGENT FILE BEFORE AFTER WANTED, as JSON ----
while IFS='|' read -r name file before after wanted; do
        rm -rf "${state:?}/$name" && "$CORDON" agent accept --discard "$name" 2>/dev/null
        agent "$name" "mkdir -p ~/${file%/*}; echo '$before' >~/$file" >"$T/out" 2>&1
        inner=${before#?}
        has "$name: $before persists" "$(agent "$name" "cat ~/$file" 2>&1 | tr -d '\n ')" "${inner%?}"
        agent "$name" "echo '$after' >~/$file" >"$T/out" 2>"$T/err"
        is "$name: $after" "$(grep -c 'held back until' "$T/err") $(agent "$name" "cat ~/$file" 2>/dev/null | jq -c .)" "1 $wanted"
done <<'END'
claude|.claude/settings.json|{"theme":"dark"}|{"theme":"light","hooks":{"Stop":[{"command":"x"}]}}|{"theme":"light"}
claude|.claude/settings.json|{"theme":"dark"}|{"theme":"light","apiKeyHelper":"x","env":{"NODE_OPTIONS":"x"},"anything":1}|{"theme":"light"}
claude|.claude/settings.json|{"theme":"dark"}|{"theme":"light","\u0068ooks":{"Stop":[1]}}|{"theme":"light"}
claude|.claude/settings.json|{"theme":"dark"}|{"theme":"light","hooks":1,"hooks":{}}|
claude|.claude/.claude.json|{"n":1}|{"n":2,"mcpServers":{"a":{"command":"x"}}}|{"n":2}
claude|.claude/.claude.json|{"n":1}|{"n":2,"projects":{"/a/b":{"h":[1],"mcpServers":{"a":1}},"/c":{"allowedTools":["Bash"]}}}|{"n":2,"projects":{"/a/b":{"h":[1]},"/c":{}}}
claude|.claude/.claude.json|{"n":1}|{"n":2,"__proto__":{"hooks":1}}|{"hasCompletedOnboarding":true}
gemini|.gemini/settings.json|{"ui":{"theme":"x"}}|{"ui":{},"mcpServers":{"a":{"command":"x"}},"tools":{"discoveryCommand":"x"}}|{"ui":{},"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}}}
opencode|.config/opencode/opencode.json|{"model":"m"}|{"model":"n","plugin":["x"],"mcp":{"a":{"command":["x"]}}}|{"model":"n"}
END

# ---- lines of a TOML file ----
agent codex 'printf "model = \"m\"\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n" >~/.codex/config.toml' >"$T/out" 2>"$T/err"
is "codex: that a project is trusted persists, without a word" "$(cat "$T/err"; agent codex 'grep -c trusted ~/.codex/config.toml' 2>&1)" 1
while IFS='|' read -r what text; do
        agent codex "printf '$text' >>~/.codex/config.toml" >"$T/out" 2>"$T/err"
        is "codex: $what is held" "$(grep -c 'config.toml; held back' "$T/err") $(agent codex 'grep -c "" ~/.codex/config.toml' 2>&1)" "1 3"
done <<'END'
a program to notify|notify = ["sh"]\n
a server|[mcp_servers.a]\ncommand = "x"\n
a value behind a trusted project|[projects."/q"]\ntrust_level = "trusted"\nx = "y"\n
a text of several lines|[tui]\ntheme = """\n[projects."/q"]\n"""\n
a list of tables|[[hooks.Stop]]\ncommand = "x"\n
END

# ---- accepting ----
"$CORDON" agent accept --discard claude && rm -rf "$state/claude"
agent claude 'mkdir -p ~/.claude/commands; printf "say\033[2Jhi\n" >~/.claude/commands/x.md; echo "{\"theme\":\"dark\",\"hooks\":{\"Stop\":[]},\"env\":{\"A\":\"b\"}}" >~/.claude/settings.json' >"$T/out" 2>"$T/err"
has "one line names what is held back, and what to type" "$(cat "$T/err")" 'the agent changed its own configuration: .claude/commands/x.md, .claude/settings.json: env; held back until `cordon agent accept claude`'
is "what waits is shown without a terminal, and inert" "$("$CORDON" agent accept --show claude | tr '\n' ';')" '.claude/commands/x.md;+ say\x1b[2Jhi;.claude/settings.json: env;+ {"A":"b"};'
is "and as JSON" "$("$CORDON" agent accept --json claude | jq -c 'map(.name)')" '[".claude/commands/x.md",".claude/settings.json: env"]'
is "without a terminal nothing is accepted" "$(status setsid "$CORDON" agent accept claude) $(grep -c 'at a terminal' "$T/err")" "125 1"
python3 "$here/helpers/answer_on_tty.py" n "$CORDON" agent accept claude >"$T/out" 2>&1
is "nor after a no" "$? $(agent claude 'ls ~/.claude/commands')" "125 "
status "$CORDON" run --read "$(dirname "$CORDON")" -- "$CORDON" agent accept claude >"$T/status"
is "a box has nothing to accept" "$(grep -c ^0 "$T/status") $("$CORDON" agent accept --json claude | jq length)" "0 2"
python3 "$here/helpers/answer_on_tty.py" y "$CORDON" agent accept claude >"$T/out" 2>&1
is "a person accepts at a terminal, and the next run has it" "$? $(agent claude 'cat ~/.claude/settings.json ~/.claude/commands/x.md | tr -d "\n\033 "' 2>&1)" '0 {"theme":"dark","hooks":{"Stop":[]},"env":{"A":"b"}}say[2Jhi'
is "then nothing waits" "$(status "$CORDON" agent accept claude)" 125
agent claude 'rm ~/.claude/commands/x.md; echo "{\"theme\":\"dark\"}" >~/.claude/settings.json' >"$T/out" 2>"$T/err"
is "what a run takes away is there again" "$(grep -c 'held back' "$T/err") $(agent claude 'cat ~/.claude/settings.json ~/.claude/commands/x.md | tr -d "\n\033 "' 2>&1)" '1 {"theme":"dark","env":{"A":"b"}}say[2Jhi'
is "what waits can be deleted" "$(status "$CORDON" agent accept --discard claude) $(status "$CORDON" agent accept claude)" "0 125"

# ---- a link of the person's own, into a repository of dotfiles ----
mkdir -p "$HOME/dotfiles/rules" && echo "be kind" >"$HOME/dotfiles/CLAUDE.md" && echo rule >"$HOME/dotfiles/rules/r.md" && echo other >"$HOME/other.txt"
ln -s "$HOME/dotfiles/CLAUDE.md" "$state/claude/.claude/CLAUDE.md"
ln -s ../../../../../../dotfiles/rules "$state/claude/.claude/rules"
is "a link is held back until it is accepted" "$(agent claude 'cat ~/.claude/CLAUDE.md ~/.claude/rules/r.md; cat '"$HOME"'/dotfiles/CLAUDE.md' 2>/dev/null)" ""
has "what it opens is shown" "$("$CORDON" agent accept --show claude)" "+ a link to $HOME/dotfiles/CLAUDE.md, which its runs may then read"
python3 "$here/helpers/answer_on_tty.py" y "$CORDON" agent accept claude >"$T/out" 2>&1
is "then it is followed, for reading" "$(agent claude 'cat ~/.claude/CLAUDE.md ~/.claude/rules/r.md; echo x >>~/.claude/CLAUDE.md || echo closed; cat '"$HOME"'/other.txt' 2>/dev/null)" "be kind
rule
closed"
agent claude "ln -sfn '$HOME/other.txt' ~/.claude/CLAUDE.md" >"$T/out" 2>&1
is "a run that turns it opens nothing" "$(agent claude "cat ~/.claude/CLAUDE.md '$HOME/other.txt'" 2>/dev/null)" "be kind"
"$CORDON" agent accept --discard claude

# ---- a cordon that is killed: the next start compares ----
agent claude 'mkdir -p ~/.claude/agents; echo PLANTED >~/.claude/agents/a.md; echo ready; sleep 60' >"$T/killed" 2>&1 &
running=$!
soon grep -q ready "$T/killed"
for p in $(pgrep -P $running) $running; do kill -9 "$p" 2>/dev/null; done
wait $running 2>/dev/null
is "after a crash the next start holds it back" "$(agent claude 'ls ~/.claude/agents' 2>"$T/err") $(grep -c 'agents/a.md; held back' "$T/err")" " 1"

# ---- more than can be compared ----
agent claude 'mkdir -p ~/.claude/plugins; head -c 9000000 /dev/zero >~/.claude/plugins/big; echo data >~/.claude/history.jsonl' >"$T/out" 2>"$T/err"
is "too much to compare: the agent begins anew with what was accepted, and nothing is lost" \
        "$(grep -c 'begins anew' "$T/err") $(agent claude 'ls ~/.claude/plugins/big ~/.claude/history.jsonl; cat ~/.claude/commands/x.md | tr -d "\033"' 2>/dev/null) $(cat "$state"/claude/aside.*/0/history.jsonl)" "1 say[2Jhi data"
done_testing

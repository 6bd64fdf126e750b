#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2086
# cordon agent: keys from where agents keep them, what is listed, what is refused, and a plan for each name.
. "$(dirname "$0")/lib.sh"
[ -x "$CORDON_LIBEXEC/cordon-vault" ] || { skip "keys of agents" "cordon-vault is not built here: it needs OpenSSL"; done_testing; }
command -v jq >/dev/null || { skip "keys of agents" "jq is not installed"; done_testing; }
elsewhere agents
# shellcheck disable=SC2154
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
unset ANTHROPIC_API_KEY ANTHROPIC_BASE_URL CLAUDE_CODE_OAUTH_TOKEN GEMINI_API_KEY GOOGLE_GEMINI_BASE_URL OPENAI_API_KEY OPENAI_BASE_URL OPENROUTER_API_KEY XDG_DATA_HOME
HOME=$D/home XDG_CONFIG_HOME=$D/home/.config
export HOME XDG_CONFIG_HOME
mkdir -p "$HOME" "$D/project" "$D/bin" && cd "$D/project" || exit 1
is "what is not installed is named, with the command that installs it" "$(status env PATH=/usr/bin:/bin "$CORDON" agent gemini) $(grep -c 'npm install -g @google/gemini-cli' "$T/err")" "125 1"
is "an unknown name, and what to type" "$(status "$CORDON" agent clyde) $(grep -c 'cordon agent -- clyde' "$T/err")" "125 1"
is "no name" "$(status "$CORDON" agent) $(grep -c 'cordon agent ls' "$T/err")" "125 1"
names="aider claude cline codex crush gemini goose opencode pi qwen"
for name in $names; do
        printf '#!/bin/sh\necho "$@"\n' >"$D/bin/$name" && chmod 755 "$D/bin/$name"
done
PATH=$D/bin:$PATH
is "the list has each of them, and no key" "$("$CORDON" agent ls --json | jq -r '[.[] | .agent + " " + (.keys | length | tostring)] | join(" ")')" "aider 0 claude 0 cline 0 codex 0 crush 0 gemini 0 goose 0 opencode 0 pi 0 qwen 0"
for name in $names other; do
        "$CORDON" doors -p "agent/$name" >"$T/out" 2>&1
        is "agent/$name loads" $? 0
        is "agent/$name says what becomes of the agent's own sandbox" "$("$CORDON" policy stock "agent/$name" | grep "^doc" | grep -c -i -e sandbox -e "any coding agent")" 1
done
for name in $names; do
        is "$name has a plan before it has a key" "$(status "$CORDON" agent --plan $name) $(grep -c "$D/home/.local/share/cordon/agents/$name" "$T/out" | sed 's/[1-9][0-9]*/some/')" "0 some"
done
is "a plan asks for no key" "$("$CORDON" vault ls | wc -l)" 0

# ---- keys ----
mkdir -p "$HOME/.codex" "$HOME/.gemini" "$HOME/.local/share/opencode"
echo '{"tokens":{"OPENAI_API_KEY":"wrong-place-0123456789"},"OPENAI_API_KEY":"sk-proj-OfCodexItself0123456789"}' >"$HOME/.codex/auth.json"
printf '# mine\nOTHER=x\nexport GEMINI_API_KEY="AIzaSyOfGeminiItself0123456789"\n' >"$HOME/.gemini/.env"
echo '{"anthropic":{"type":"oauth","access":"x"},"openrouter":{"type":"api","key":"sk-or-v1-OfOpencode0123456789"}}' >"$HOME/.local/share/opencode/auth.json"
is "the list names the files that keys would come from" "$("$CORDON" agent ls --json | jq -c '.[] | select(.agent == "opencode").keys')" \
        '{"openai":".codex/auth.json","gemini":".gemini/.env","openrouter":".local/share/opencode/auth.json"}'
is "codex: from its own configuration" "$(status "$CORDON" agent setup codex) $(grep -c 'stored the key of ~/.codex/auth.json' "$T/err")" "0 1"
is "gemini: the same" "$(status "$CORDON" agent setup gemini) $(grep -c 'stored the key of ~/.gemini/.env' "$T/err")" "0 1"
is "of several providers one has to be named" "$(status "$CORDON" agent setup opencode) $(grep -c 'anthropic, openai, gemini, openrouter' "$T/err")" "125 1"
is "opencode: the provider that was named" "$(status "$CORDON" agent setup opencode openrouter)" 0
is "a key of one provider is not taken for another's" "$(status "$CORDON" agent setup opencode anthropic) $("$CORDON" vault ls --json | jq -r '[.[].name] | join(" ")')" "125 gemini openai openrouter"
"$CORDON" agent setup claude </dev/null 2>"$T/err"
has "without a key it names the variable and the command" "$(cat "$T/err")" 'set ANTHROPIC_API_KEY and repeat it; or pipe the key in: `printf %s KEY | cordon agent setup claude anthropic`'
is "a second time it says so" "$(status "$CORDON" agent setup codex) $(grep -c 'cordon vault rotate openai' "$T/err")" "125 1"
printf sk-ant-api03-Piped0123456789 | "$CORDON" agent setup claude >"$T/out" 2>&1
is "or from a pipe" "$? $("$CORDON" vault ls --json | jq -r '.[] | select(.name == "anthropic") | [.env, .field, .for] | flatten | join(" ")')" "0 ANTHROPIC_API_KEY x-api-key https://api.anthropic.com/**"
"$CORDON" vault rm anthropic
CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-Token0123456789 "$CORDON" agent setup claude >"$T/out" 2>&1
is "a token of a subscription goes where it belongs" "$? $("$CORDON" vault ls --json | jq -r '.[] | select(.name == "anthropic") | [.env, .field] | join(" ")')" "0 CLAUDE_CODE_OAUTH_TOKEN Authorization"

# ---- logins: the access token until it ends, nothing that renews it ----
"$CORDON" vault rm anthropic openai
mkdir -p "$HOME/.claude"
login() { echo '{"claudeAiOauth":{"accessToken":"sk-ant-oat01-Login0123456789","refreshToken":"sk-ant-ort01-Refresh0123456789","expiresAt":'"$1"'000,"scopes":["user:inference"]}}' >"$HOME/.claude/.credentials.json"; }
# The agent in small prints what it has, and all that its box can read of the login.
printf '#!/bin/sh\necho "$CLAUDE_CODE_OAUTH_TOKEN"; cat %s/.claude/.credentials.json ~/.claude/.credentials.json; exit 0\n' "$HOME" >"$D/bin/claude"
login $(($(date +%s) + 7200))
is "claude: a login is used, until it ends" "$(status "$CORDON" agent claude) $("$CORDON" vault ls --json | jq -r '.[] | select(.name == "anthropic-login") | [.env, .field, .for, .expires > now + 3600, .expires < now + 7300] | flatten | map(tostring) | join(" ")')" \
        "0 CLAUDE_CODE_OAUTH_TOKEN Authorization https://api.anthropic.com/** true true"
has "claude: and the box has a placeholder" "$(cat "$T/out")" sk-ant-
login $(($(date +%s) + 10800))
is "claude: the next start takes the renewed one" "$(status "$CORDON" agent claude) $("$CORDON" vault ls --json | jq -r '.[] | select(.name == "anthropic-login") | .expires > now + 9000')" "0 true"
cat "$T/out" "$T/err" >"$T/all"
login $(($(date +%s) - 10))
is "claude: one that has ended is not, with what to do" "$(status "$CORDON" agent claude) $(grep -c -e 'has expired' -e 'claude setup-token' "$T/err")" "125 2"
echo '{"OPENAI_API_KEY":null,"tokens":{"access_token":"eyJLogin0123456789","refresh_token":"rt_0123456789"}}' >"$HOME/.codex/auth.json"
is "codex: a login of ChatGPT is not taken over, with what to do" "$(status "$CORDON" agent codex) $(grep -c -e 'renews itself' -e 'cordon agent hook codex' "$T/err")" "125 2"
cat "$T/err" >>"$T/all"
is "no token is printed, outside or inside" "$(grep -c 0123456789 "$T/all")" 0
is "no part of a key is printed" "$(cat "$T/out" "$T/err" | grep -c 0123456789)" 0
done_testing

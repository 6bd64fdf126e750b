# cordon agent hook: the hook goes into an agent's settings and out again, byte for byte; a call runs in one session's box, or not at all.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || { skip "hooks of agents" "jq is not installed"; done_testing; }
elsewhere hooks
# shellcheck disable=SC2154
trap 'code=$?; for s in $(sessions agent); do "$CORDON" session end "$s" >/dev/null 2>&1; done; remove "$T" "$D"; exit $code' EXIT
HOME=$D/home
export HOME
project="$D/it's mine"
mkdir -p "$HOME/.ssh" "$project" && echo "PRIVATE KEY Q9zz" >"$HOME/.ssh/id_ed25519" && cd "$project" || exit 1

# The sessions of this project: other tests may have some, too.
digest=$(printf %s "$(pwd -P)" | sha256sum | cut -c 1-8)
sessions() { "$CORDON" session ls --json 2>/dev/null | jq -r '.[].name | select(startswith("'"$1"'") and endswith("'"$digest"'"))'; }

# ---- in and out ----
is "an agent without such a hook is refused, with what to type" "$(status "$CORDON" agent hook aider) $(grep -c 'cordon agent aider' "$T/err")" "125 1"
# Claude's personal file of the project, which is not committed.
settings() { case $1 in claude) echo .claude/settings.local.json ;; codex) echo .codex/hooks.json ;; opencode) echo .opencode/plugins/cordon.js ;; *) echo ".$1/settings.json" ;; esac; }
# The command of the hook that is installed.
hook_of() { case $1 in opencode) sed -n 's/^const hook = //p' "$(settings opencode)" | jq -r . ;; *) jq -r '.hooks | .[][0].hooks[0].command' "$(settings "$1")" ;; esac; }
is "a wrong door is refused at once" "$(status "$CORDON" agent hook --net 'no such host:x' claude) $(find . | wc -l)" "125 1"
"$CORDON" agent hook --remove claude 2>"$T/err"
is "nothing to remove" "$? $(find . | wc -l)" "125 1"
for agent in 'claude:PreToolUse:Bash|Monitor' codex:PreToolUse:Bash gemini:BeforeTool:run_shell_command; do
        name=${agent%%:*} event=${agent#*:}
        event=${event%:*}
        file=$(settings "$name")
        "$CORDON" agent hook "$name" 2>"$T/err"
        is "$name: a new file has the hook" "$? $(jq -r ".hooks.${event}[0].matcher" "$file")" "0 ${agent##*:}"
        is "$name: a second time is refused" "$(status "$CORDON" agent hook "$name") $(jq ".hooks.$event | length" "$file")" "125 1"
        "$CORDON" agent hook "$name" --remove
        is "$name: it leaves nothing" "$? $(find . | wc -l)" "0 1"
        mkdir ".$name"
        i=0
        while IFS= read -r text; do
                i=$((i + 1))
                printf "$(printf %s "$text" | sed 's/%/%%/g; s/EVENT/'$event/)" >"$file" && chmod 640 "$file" && cp -p "$file" "$T/before"
                "$CORDON" agent hook --net example.org:443 "$name" 2>"$T/err"
                is "$name: settings $i have the hook, once, and all that they had" \
                        "$? $(jq "[.hooks.${event}[] | select(.hooks[0].command | tostring | contains(\"agent hook --call\"))] | length" "$file") $(jq -S "del(.hooks.${event}[0])" "$file" | jq -cS 'del(.hooks)')" \
                        "0 1 $(jq -cS 'del(.hooks)' "$T/before")"
                "$CORDON" agent hook --remove "$name"
                is "$name: and are as before, byte for byte" "$? $(cmp "$file" "$T/before" 2>&1) $(stat -c %a "$file")" "0  640"
        done <<'END'
{}
{ }\n
{"a": 1, "hooks x": {}}
{\n\t"\303\251": "\303\251",\n\t"hooks": {\n\t\t"PostToolUse": [ {"matcher": "x"} ]\n\t}\n}\n
{"hooks":{"EVENT":[{"matcher":"X","hooks":[{"type":"command","command":"true"}]}]},"z":[1,{"b":"}"}]}
{"hooks":{"EVENT":[]}}
{"text":"hooks","hooks":{},"last":null}
END
        for bad in '[]' '{"hooks":[]}' '{"a":1,' '{"hooks":{"'$event'":{}}}'; do
                printf %s "$bad" >"$file"
                is "$name: $bad is refused and stays" "$(status "$CORDON" agent hook "$name") $(cat "$file")" "125 $bad"
        done
        rm "$file" && ln -s "$HOME/elsewhere" "$file"
        is "$name: a symlink is not followed" "$(status "$CORDON" agent hook "$name") $(find "$HOME" -name elsewhere)" "125 "
        rm -r ".$name"
done

# ---- a plugin, which is a file of its own ----
"$CORDON" agent hook opencode 2>"$T/err"
is "opencode: a new plugin, and what does not load it" "$? $(find . -type f) $(grep -c -e --pure "$T/err")" "0 ./$(settings opencode) 1"
is "opencode: a second time is refused" "$(status "$CORDON" agent hook opencode)" 125
echo '// mine' >>"$(settings opencode)"
is "opencode: a changed plugin is not removed, nor replaced" "$(status "$CORDON" agent hook --remove opencode) $(status "$CORDON" agent hook opencode) $(tail -n 1 "$(settings opencode)")" "125 125 // mine"
rm "$(settings opencode)" && echo x >.opencode/mine && "$CORDON" agent hook opencode 2>"$T/err" && "$CORDON" agent hook --remove opencode
is "opencode: it leaves what else is there" "$? $(find .opencode | sort | tr '\n' ' ')" "0 .opencode .opencode/mine "
rm -r .opencode
has "codex: its own trust of hooks is named" "$("$CORDON" agent hook codex 2>&1)" "trust this folder and this hook"
"$CORDON" agent hook --remove codex

# ---- calls ----
# What opencode does with its plugin.
plugin() {
        command -v node >/dev/null || { skip "opencode: the plugin itself" "node is not installed"; return; }
        cat >"$T/load.mjs" <<'END'
const [, , file, tool, args] = process.argv
const change = { args: JSON.parse(args) }
try {
  await (await (await import(file)).Cordon({}))["tool.execute.before"]({ tool }, change)
  console.log(change.args.command)
} catch (e) {
  console.log("denied: " + e.message)
}
END
        cp "$(settings opencode)" "$T/plugin.mjs"
        is "opencode: the plugin changes the command" "$(sh -c "$(node "$T/load.mjs" "$T/plugin.mjs" bash '{"command":"cat made; echo \"it'"'"'s $((6*7))\""}')" 2>/dev/null)" "x
it's 42"
        is "opencode: and no other tool" "$(node "$T/load.mjs" "$T/plugin.mjs" read '{"command":"ls"}')" ls
        is "opencode: it denies what it does not understand" "$(node "$T/load.mjs" "$T/plugin.mjs" bash '{"command":["ls"]}')" "denied: cordon: the call has no command"
        sed -i 's/^const hook = .*/const hook = "exit 3"/' "$T/plugin.mjs"
        has "opencode: it denies without an answer" "$(node "$T/load.mjs" "$T/plugin.mjs" bash '{"command":"ls"}')" "denied: "
}
for name in claude codex gemini opencode; do
        "$CORDON" agent hook --env "AGENT=$name" "$name" 2>"$T/err" # other doors leave the project's own
        has "$name: where its changes are is said" "$(cat "$T/err")" "then cordon diff"
        hook=$(hook_of "$name")
        call() { jq -cn --arg c "$1" '{tool_name: "t", tool_input: {"a\u00e9": [1, "}"], command: $c, description: "d"}}' | sh -c "$hook" 2>"$T/err"; }
        call "cat $HOME/.ssh/id_ed25519; echo \"it's \$((6*7))\"; echo x >made; pwd" >"$T/answer"
        input=$(jq -c '.hookSpecificOutput.updatedInput // .hookSpecificOutput.tool_input // .tool_input' "$T/answer")
        is "$name: the rest of the call stays" "$(printf %s "$input" | jq -c 'del(.command)')" '{"aé":[1,"}"],"description":"d"}'
        out=$(sh -c "$(printf %s "$input" | jq -r .command)" 2>/dev/null)
        is "$name: it runs in the box, in this directory" "$out" "it's 42
$project"
        is "$name: and changes nothing outside" "$(find . -name made)" ""
        again=$(call 'cat made' | jq -r '.hookSpecificOutput.updatedInput // .hookSpecificOutput.tool_input // .tool_input | .command')
        is "$name: the next call is in the same box" "$(sh -c "$again" 2>/dev/null) $(sessions "agent-$name" | wc -l)" "x 1"
        for bad in '' '{' '{}' '{"tool_input":{"command":["ls"]}}' '{"tool_input":{"command":"a\u0000b"}}' '[]'; do
                printf %s "$bad" | sh -c "$hook" >"$T/answer" 2>&1
                is "$name: a call that is not understood is denied: $bad" "$(jq -r '.decision // .hookSpecificOutput.permissionDecision' "$T/answer")" deny
        done
        [ "$name" != opencode ] || plugin
        session=$(sessions "agent-$name")
        has "$name: the session outlives the hook, which is said" "$("$CORDON" agent hook --remove "$name" 2>&1)" "its session is still running: cordon session end $session"
done
"$CORDON" agent hook --read '{work}' claude 2>"$T/err"
is "a project that is only read has no changes" "$(grep -c 'cordon diff' "$T/err")" 0
"$CORDON" agent hook --remove claude 2>"$T/err"
"$CORDON" agent hook --read "$D/nosuch" claude 2>"$T/err"
hook=$(jq -r '.hooks | .[][0].hooks[0].command' .claude/settings.local.json)
for s in $(sessions agent); do "$CORDON" session end "$s" >/dev/null 2>&1; done
echo '{"tool_input":{"command":"ls"}}' | sh -c "$hook" >"$T/answer" 2>&1
is "without a session nothing runs, and the reason is given" "$(jq -r '.hookSpecificOutput.permissionDecision' "$T/answer") $(grep -c "$D/nosuch" "$T/answer")" "deny 1"
done_testing

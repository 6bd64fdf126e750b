#!/bin/sh
# Exit statuses, the result object, errors with hints, help for every verb.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

root() { "$@"; }
# field JSON FILTER
field() { printf '%s' "$1" | jq -r "$2" 2>&1; }
one_object() { printf '%s' "$1" | jq -s -e 'length == 1 and (.[0] | type) == "object"' >/dev/null 2>&1; }

for who in root as_user; do
        is "$who: a payload's own status 0 is cordon's" "$(status $who "$CORDON" run -- true)" 0
        is "$who: a payload's own status 7 is cordon's" "$(status $who "$CORDON" run -- sh -c 'exit 7')" 7
        is "$who: a payload's own status 255 is cordon's" "$(status $who "$CORDON" run -- sh -c 'exit 255')" 255
        is "$who: a payload killed by signal 9 gives 137" "$(status $who "$CORDON" run -- sh -c 'kill -9 $$')" 137
        is "$who: a payload killed by signal 15 gives 143" "$(status $who "$CORDON" run -- sh -c 'kill -15 $$')" 143
        is "$who: a payload killed by signal 11 gives 139" "$(status $who "$CORDON" run -- sh -c 'kill -11 $$')" 139
        is "$who: a limit that ends it gives 124" "$(status $who "$CORDON" run --time 200ms -- sleep 5)" 124
        has "$who: the limit is named on standard error" "$(cat err)" 'limit `time`'
        is "$who: a program that is not there gives 127" "$(status $who "$CORDON" run -- no-such-program)" 127
        has "$who: and an error" "$(cat err)" 'cordon: error:'
        has "$who: and a hint" "$(cat err)" 'cordon: hint:'
        is "$who: a path that is not there gives 127" "$(status $who "$CORDON" run -- /no/such/program)" 127
        is "$who: a file that cannot be executed gives 126" "$(status $who "$CORDON" run -- /usr/share/zoneinfo/UTC)" 126
        is "$who: a directory cannot be executed: 126" "$(status $who "$CORDON" run -- /usr/bin)" 126
        is "$who: an option that does not exist gives 125" "$(status $who "$CORDON" run --no-such-option -- true)" 125
        is "$who: a door that is not there gives 125" "$(status $who "$CORDON" run --read /no/such/door -- true)" 125
        has "$who: a failed start has an error" "$(cat err)" 'cordon: error:'
        has "$who: a failed start has a hint" "$(cat err)" 'cordon: hint:'
        is "$who: nothing to run gives 125" "$(status $who "$CORDON" run)" 125
        is "$who: nothing to run after -- gives 125" "$(status $who "$CORDON" run --)" 125

        # --- the result object ---
        json=$($who "$CORDON" run -q --status-fd 3 -- sh -c 'exit 3' 3>&1 >/dev/null 2>&1 </dev/null)
        ok "$who: --status-fd gives one JSON object" one_object "$json"
        is "$who: its end is exited" "$(field "$json" .end)" exited
        is "$who: its exit is the payload's" "$(field "$json" .exit)" 3
        is "$who: its signal is null" "$(field "$json" .signal)" null
        is "$who: its limit is null" "$(field "$json" .limit)" null
        is "$who: it was attested" "$(field "$json" .attested)" true
        is "$who: the wall is named" "$(field "$json" .wall)" namespace
        is "$who: no denial" "$(field "$json" '.denials|length')" 0
        is "$who: the policy digest has 64 hex digits" "$(field "$json" '.policy|test("^[0-9a-f]{64}$")')" true
        is "$who: there is a run id" "$(field "$json" '.run|length > 8')" true
        for layer in user mount pid net ipc uts capabilities no-new-privs seccomp landlock rlimit nested-user; do
                is "$who: the layer $layer is up" "$(field "$json" ".layers|index(\"$layer\") != null")" true
        done
        other=$($who "$CORDON" run -q --status-fd 3 -- true 3>&1 >/dev/null 2>&1 </dev/null)
        is "$who: the same doors have the same digest" "$(field "$other" .policy)" "$(field "$json" .policy)"
        ok "$who: each run has an id of its own" test "$(field "$other" .run)" != "$(field "$json" .run)"

        json=$($who "$CORDON" run -q --json -- sh -c 'kill -9 $$' 2>&1 >/dev/null </dev/null)
        ok "$who: --json gives one JSON object on standard error" one_object "$json"
        forge='printf "{\"end\":\"exited\",\"exit\":0}" >&2; exit 3'
        is "$who: what the box left on that line is not on it" "$($who "$CORDON" run -q --json -- sh -c "$forge" 2>&1 >/dev/null </dev/null | tail -n 1 | jq -c '[.end, .exit]')" '["exited",3]'
        is "$who: nor where both outputs are one" "$($who "$CORDON" run -q --json -- sh -c "$forge" 2>&1 </dev/null | tail -n 1 | jq -c '[.end, .exit]')" '["exited",3]'
        is "$who: words of ours begin a line of their own" "$($who "$CORDON" run --time 2s -- sh -c 'printf "all is well: " >&2; sleep 15' 2>&1 </dev/null | sed -n 2p | cut -c1-32)" 'cordon: limit `time` reached; ra'
        is "$who: a line that has its end gets no other" "$($who "$CORDON" run --time 2s -- sh -c 'echo well >&2; sleep 15' 2>&1 </dev/null | sed -n 2p | cut -c1-32)" 'cordon: limit `time` reached; ra'
        is "$who: and where nothing is said, no byte is added" "$($who "$CORDON" run -- printf open 2>&1 </dev/null | od -An -c | tr -d ' ')" open
        is "$who: its end is signaled" "$(field "$json" .end)" signaled
        is "$who: its signal is 9" "$(field "$json" .signal)" 9
        is "$who: its exit is null" "$(field "$json" .exit)" null

        json=$($who "$CORDON" run -q --json --time 200ms -- sleep 5 2>&1 >/dev/null </dev/null)
        is "$who: a limit's end is limit" "$(field "$json" .end)" limit
        is "$who: the limit is named" "$(field "$json" .limit)" time

        json=$($who "$CORDON" run -q --json -- unshare -U true 2>&1 >/dev/null </dev/null | tail -n 1)
        is "$who: a denial is in the object" "$(field "$json" '.denials|length > 0')" true
        is "$who: the denial names its layer" "$(field "$json" '[.denials[] | select(.code == "call")][0].layer')" seccomp
        has "$who: the denial names the call" "$(field "$json" '[.denials[] | select(.code == "call")][0].what')" unshare
        is "$who: the denial names the program" "$(field "$json" '[.denials[] | select(.code == "call")][0].program')" unshare
        is "$who: a denial counts" "$(field "$json" '[.denials[] | select(.code == "call")][0].count >= 1')" true

        # --- starts that fail ---
        status $who "$CORDON" run --status-fd 3 --read /no/such/door -- true 3>"$T/status" >/dev/null
        json=$(cat "$T/status")
        ok "$who: a failed start gives one JSON object too" one_object "$json"
        is "$who: its end is failed" "$(field "$json" .end)" failed
        has "$who: its error names the door" "$(field "$json" .error.what)" /no/such/door
        ok "$who: its error has a code" test "$(field "$json" '.error.code|length > 0')" = true
        has "$who: its error has the hint" "$(field "$json" .error.hint)" '?'
        status $who "$CORDON" run --status-fd 3 -- no-such-program 3>"$T/status" >/dev/null
        json=$(cat "$T/status")
        ok "$who: a missing program gives one JSON object" one_object "$json"
        is "$who: its end is not-started" "$(field "$json" .end)" not-started
        has "$who: its error names the program" "$(field "$json" .error.what)" no-such-program
done
# A door name with bytes that JSON must escape.
for odd in '/no/quote\"in/it' '/no/back\\slash' "$(printf '/no/tab\tin it')" '/no/é'; do
        printf 'read "%s"\n' "$odd" >odd.policy
        "$CORDON" run --status-fd 3 --json -p odd.policy -- true 3>status >/dev/null 2>err </dev/null
        ok "a failed start over $odd is one JSON object" one_object "$(cat status)"
        ok "a failed start over $odd is one JSON object on standard error" one_object "$(grep -v '^cordon:' err)"
        has "a failed start over $odd names it" "$(jq -r .error.what <status)" '/no/'
done
printf 'read "/no/such door"\n' >odd.policy
"$CORDON" run -p odd.policy -- true >/dev/null 2>err </dev/null
has "the line that a hint gives can be used as it is" "$(cat err)" 'read "/no/such door"?'
mkdir gone
is "a working directory that is gone is told with what helps" "$(cd gone && rmdir "$T/gone" && "$CORDON" run -- true 2>&1 | sed 's/.*hint: //' | tail -n 1)" \
        'go to another (`cd /`), or say which one {work} is: --work DIR'
mkdir gone
is "and it does" "$(cd gone && rmdir "$T/gone" && "$CORDON" run --work / -- echo ran 2>&1)" ran
"$CORDON" run -d --status-fd 3 -- nosuch 3>status >/dev/null 2>&1 </dev/null
is "a detached command that cannot be started ends as any other" "$?:$(jq -r '.end + " " + .error.code' <status)" "127:not-started exec"
printf 'raed /usr\n' >wrong.policy
"$CORDON" run --status-fd 3 -p wrong.policy -- true 3>status >/dev/null 2>&1 </dev/null
ok "a policy that does not load is one JSON object too" one_object "$(cat status)"
is "and its end is failed" "$(jq -r .end <status 2>&1)" failed
"$CORDON" run --status-fd 3 --no-such-option -- true 3>status >/dev/null 2>&1 </dev/null
ok "a usage error writes nothing that is not JSON" test "$(wc -c <status)" -eq 0 -o "$(jq -s 'length' <status 2>/dev/null)" = 1
"$CORDON" run --status-fd 3 --json -q -- true 3>status 2>err </dev/null
is "a result that cannot be written is told, also with -q" "$("$CORDON" run -q --status-fd 3 -- true 3>/dev/full 2>&1 </dev/null | head -n 1)" \
        "cordon: error: cannot write the result to descriptor 3: No space left on device"
is "and the run is none that went well" "$("$CORDON" run -q --status-fd 3 -- true 3>/dev/full 2>/dev/null </dev/null; echo $?)" 125
is "but a failure stays what it is" "$("$CORDON" run -q --status-fd 3 -- sh -c 'exit 3' 3>/dev/full 2>/dev/null </dev/null; echo $?)" 3
is "nor does one begin whose result has nowhere to go" "$("$CORDON" run -q --status-fd 3 -- echo RAN 3</dev/null 2>&1 </dev/null; echo $?)" "cordon: error: --status-fd 3 is not a descriptor that is open for writing
cordon: hint: see \`cordon help run\`
125"
# A pipe that does not wait and has no room yet: all of it comes, when there is room.
python3 - "$CORDON" >status <<'EOF'
import fcntl, os, subprocess, sys, time
r, w = os.pipe()
fcntl.fcntl(w, fcntl.F_SETPIPE_SZ, 4096)
os.set_blocking(w, False)
os.write(w, b" " * 4000)
p = subprocess.Popen([sys.argv[1], "run", "-q", "--status-fd", str(w), "--", "true"], pass_fds=[w], stdin=subprocess.DEVNULL)
os.close(w)
time.sleep(0.3)
while got := os.read(r, 4096):
    sys.stdout.buffer.write(got)
p.wait()
EOF
is "--status-fd waits for room in a pipe" "$(jq -r .end <status)" exited
"$CORDON" run --status-fd 3 --json -q -- true 3>status 2>err </dev/null
ok "--status-fd and --json say the same" test "$(jq -S . <status)" = "$(jq -S . <err)"
is "--status-fd that is not open is refused" "$(status "$CORDON" run --status-fd 77 -- true)" 125
is "--status-fd that is no number is refused" "$(status "$CORDON" run --status-fd 3x -- true)" 125
is "-q still gives the payload's status" "$(status "$CORDON" run -q -- sh -c 'exit 9')" 9
"$CORDON" run -q -- unshare -U true >/dev/null 2>err </dev/null
hasnt "-q tells of no denial" "$(cat err)" 'refused'
"$CORDON" run -- unshare -U true >/dev/null 2>err </dev/null
has "without -q a denial is told" "$(cat err)" 'blocked: '
"$CORDON" run -- true >out 2>err </dev/null
is "a good run says nothing" "$(cat out err)" ''

# --- words ---
# suggests NAME WANT ARGUMENT...
suggests() {
        name=$1 want=$2
        shift 2
        code=$(status "$CORDON" "$@")
        is "$name: 125" "$code" 125
        has "$name: an error" "$(cat err)" 'cordon: error:'
        has "$name: the nearest word" "$(grep 'cordon: hint:' err)" "$want"
}
suggests "an unknown verb" '`run`' rum -- true
suggests "an unknown verb with letters swapped" '`doctor`' dcotor
suggests "an unknown option" '--detach' run --detahc -- true
suggests "an unknown door word" '--read' run --raed . -- true
suggests "an unknown limit word" '--memory' run --memroy 1G -- true
suggests "an unknown option of another verb" '--json' ps --jsno
printf 'box x\nraed /usr\n' >wrong.policy
suggests "an unknown word in a policy file" 'read' check wrong.policy
suggests "an unknown limit in a policy" 'memory' run --limit 'memry 1G' -- true
suggests "an unknown wall" 'namespace' run --wall namespac -- true
suggests "an unknown word of policy" 'digest' policy digset base/system
suggests "an unknown verb in help" '`policy`' help polcy
suggests "the second word alone" '`ledger verify`' verify
suggests "a second word that is none" '`selftest bombs`' selftest bmobs
is "an option that lacks its argument gives 125" "$(status "$CORDON" run --read)" 125
is "an option with an argument it does not take gives 125" "$(status "$CORDON" run --tty=1 -- true)" 125
is "an option after -- is the payload's" "$(status "$CORDON" run -- sh -c 'exit 4' --help)" 4
is "an option after the command is the payload's" "$(status "$CORDON" run sh -c 'exit 5' --json)" 5

# --- help ---
verbs=$(verbs)
has "help lists run" "$verbs" run
for verb in $verbs; do
        verb=$(words "$verb")
        # shellcheck disable=SC2086
        out=$("$CORDON" $verb --help 2>&1)
        is "$verb --help ends with 0" $? 0
        has "$verb --help says how it is used" "$out" "usage: cordon $verb"
        is "help $verb says the same" "$(words "$verb" | xargs "$CORDON" help 2>&1)" "$out"
done
out=$("$CORDON" help -v run)
for word in read write run env sock in out limit wall use expect; do
        has "help -v run names the door --$word" "$(printf '%s\n' "$out" | grep -E "^ +--$word( |\$)")" "--$word"
done
has "run -h is help" "$("$CORDON" run -h 2>&1)" "usage: cordon run"
# asks ARGUMENT...: the help that is asked for behind values and words is that of the verb.
asks() {
        verb=$(words "$1") && shift
        # shellcheck disable=SC2086
        is "$verb $* is help" "$("$CORDON" $verb "$@" 2>&1)" "$("$CORDON" help $verb)"
}
asks run --read . --help
asks run -p nosuch -h
asks run -help
asks run -nh
asks learn -n 3 --help
asks check nosuch --help
asks log_show --help
asks vault_add NAME --help
asks policy_diff a --help
asks stop box -h
hasnt "behind a command it is the command's" "$("$CORDON" run sh --help 2>&1)" "usage: cordon"
hasnt "and behind the script's name the script's" "$("$CORDON" run --script nosuch --help 2>&1)" "usage: cordon"
hasnt "what stands behind -- asks for nothing" "$("$CORDON" diff -- --help 2>&1)" "usage: cordon"
hasnt "nor does the value of an option" "$("$CORDON" check --work --help 2>&1)" "usage: cordon"
is "no line of help ends in a blank" "$("$CORDON" version --help | grep -c ' $')" 0
# --- a word that is not taken is not left out ---
for extra in 'ps x y' 'version x' 'help run x' 'help --json' 'diff --list x' 'policy stock base/git x' 'log verify x'; do
        # shellcheck disable=SC2086
        is "$extra is refused" "$(status "$CORDON" $extra):$(head -c 15 err)" "125:cordon: error: "
done
has "an option in the place of the verb is told where it stands" "$("$CORDON" --json ps 2>&1)" 'hint: options follow the command'
has "run-script without a file names itself" "$("$CORDON" run --script 2>&1)" 'cordon run --script '
is "an attempt that there is not has not held" "$(status "$CORDON" selftest breakout --only 'no path leads to a file outsid')" 125
has "and the nearest is named" "$(cat err)" 'did you mean `no path leads to a file outside`?'
has "version prints the version" "$("$CORDON" version)" 'cordon 0'
is "and as JSON, with what it was built from" "$("$CORDON" version --json | jq -r '[.version, .abi, .machine, (.libc | test("^(musl|glibc)$")), (.compiler | length > 0)] | map(tostring) | join(" ")')" \
        "$("$CORDON" version | cut -d ' ' -f 2) 1 $(uname -m) true true"
for verbs in 'session ls:session list' 'approve list:approve ls' 'vault list:vault ls' 'image ls:image list' 'agent ls:agent list'; do
        # shellcheck disable=SC2086
        is "$verbs: both words list" "$(status "$CORDON" ${verbs%:*}) $(status "$CORDON" ${verbs#*:})" "0 0"
done
has "a word of a door in place of the command" "$("$CORDON" run --env A=b max 1 2>&1)" "quote the whole door"
is "--version says the same" "$("$CORDON" --version)" "$("$CORDON" version)"
is "cordon alone gives 125" "$(status "$CORDON")" 125
is "output that cannot be written is an error" "$("$CORDON" version >/dev/full 2>/dev/null; echo $?)" 125
has "an abbreviated option is told in full" "$("$CORDON" run --rea . -- true 2>&1)" 'did you mean --read?'
has "so is the beginning of one" "$("$CORDON" run --wri . -- true 2>&1)" 'did you mean --write?'
hasnt "what is near nothing gets no guess" "$("$CORDON" run --xyzzy . -- true 2>&1)" 'did you mean'
has "but where to look" "$("$CORDON" run --xyzzy . -- true 2>&1)" 'cordon help run'
# --- why a command that is there does not start ---
mkdir -p "$T/exec/dir" && cd "$T/exec" || exit 1
echo text >data && printf '#!/no/such/interpreter\n' >lost && printf '\177ELFnonsense' >broken && cp /bin/true prog && chmod 755 lost broken prog dir && chmod 644 data
why() { "$CORDON" run "$@" 2>&1 >/dev/null </dev/null; }
has "a file that is not executable is told so" "$(why --read . -- ./data)" 'hint: it is not executable'
has "a directory is told so" "$(why --read . -- ./dir)" 'hint: it is a directory'
if [ "$(readlink -f /lib)" = /usr/lib ] && "$CORDON" run -q --edit /usr/share -- true </dev/null 2>/dev/null; then
        has "that its libraries can be written is told" "$(why --use base/strict --edit /usr/lib -- true)" 'add `run /usr/lib/` to allow it'
        is "and what is told helps" "$(why -q --use base/strict --edit /usr/lib --run /usr/lib/ --run true -- true)" ''
        is "the command may start, also by its name, where the box could write it" "$("$CORDON" run -q --edit /usr/bin -- echo started 2>&1 </dev/null)" started
else
        skip "that its libraries can be written is told" "no edit door here, or /lib is no link to /usr/lib"
fi
has "a script whose interpreter is not there names it" "$(why --read . -- ./lost)" 'its interpreter /no/such/interpreter is not on this host'
printf '#!/usr/bin/env sh\n' >hidden && chmod 755 hidden
printf 'use none\n' >none
has "one whose interpreter is not visible names the line" "$(why -p none -- ./hidden)" 'add `run /usr/bin/env`'
if head -c 2 /usr/bin/ldd 2>/dev/null | grep -q '#!'; then
        has "also of one that was looked for" "$(why -p none -- ldd)" "its interpreter $(sed -n '1s/^#! *\([^ ]*\).*/\1/p' /usr/bin/ldd) is not visible in the box"
else
        skip "also of one that was looked for" "ldd is no script here"
fi
printf '#!/bin/sh\necho started\n' >shown && chmod 755 shown
is "a door that shows the command does not keep it from starting" "$("$CORDON" run -q --read ./shown --use base/loader --run ./shown --run /bin/sh -- ./shown 2>&1 </dev/null)" started
has "one to write it does, which is told" "$(why --use base/strict --write ./shown -- ./shown)" "add \`run $T/exec/shown\` to allow it"
has "a program without its loader is told so" "$(why -p none -- ./prog)" 'its loader or libraries are not'
has "what is no program is told so" "$(why -- ./broken)" 'not an executable for this machine'
"$CORDON" run -q --status-fd 3 --read . -- ./data 3>"$T/hinted" 2>/dev/null </dev/null
has "the JSON result has the same hint" "$(jq -r .error.hint <"$T/hinted")" 'it is not executable'
has "a missing door of an option is mended by an option" "$(why --read /no/such -- true)" 'use `--read /no/such?`'
has "a missing program of an option is mended by an option" "$(why --run nosuch -- true)" 'use `--run nosuch?`'
has "an option has no line" "$(why --use nosuch -- true)" 'error: --use: use nosuch: '
for words in "log prune --older" "apply some --to" "stop some -t" "diff some --color" "log -fn"; do
        # shellcheck disable=SC2086
        has "an option at the end takes no word before it for its value: $words" "$("$CORDON" $words 2>&1)" " requires an argument"
done
# -- ends the options and is no word, wherever it stands.
mkdir "$T/dashes" && printf 'box a\n' >"$T/dashes/-p.cordon" && cp "$T/dashes/-p.cordon" "$T/dashes/b.cordon"
dashes() { (cd "$T/dashes" && "$CORDON" "$@" 2>&1); }
is "-- behind a word of policy ends options" "$(dashes policy diff -- -p.cordon b.cordon)" equal
has "between two policies" "$(dashes check b.cordon -- -p.cordon)" "
-p.cordon: ok"
has "behind a verb of a vault" "$(dashes vault rm -- -x)" "no credential named -x"
is "the list by its other name" "$(dashes vault list --json)" "[]"
has "behind a question to the ledger" "$(dashes log show -- --json)" "--json"
has "behind the first word of an effect" "$(dashes why read -- -x)" "read -x"
has "before a record" "$(dashes log trace -- -x)" "record -x"
has "between bombs" "$(dashes selftest bombs cpu -- nonesuch)" 'no bomb `nonesuch`'
is "alone it is no policy" "$(status "$CORDON" check --)" 125
mkdir -p "$T/a bin" && printf '#!/bin/sh\necho own\n' >"$T/a bin/own-tool" && chmod 755 "$T/a bin/own-tool" && echo "use base/system" >"$T/path.policy"
has "with a policy file, a program of one's own PATH is told by its path" "$(PATH="relative:$T/none:$T/a bin:$PATH" why -p "$T/path.policy" -- own-tool)" "use the full path: '$T/a bin/own-tool'"
is "which shows it" "$("$CORDON" run -q -- "$T/a bin/own-tool")" own
is "a step has the number of the manual" "$("$CORDON" run -q --json -- nosuch 2>&1 | tail -n 1 | jq -r .error.step)" \
        "$(sed -n 's/.* \([0-9]*\) exec\.$/\1/p' "$CORDON_SOURCE/man/cordon-errors.7")"
is "a step that stops the start has one, too" "$("$CORDON" run -q --json --cwd /nosuch -- true 2>&1 | tail -n 1 | jq -r '.error.step > 0')" true
has "a missing policy file tells what one is" "$(why -p nosuch -- true)" 'cordon policy stock'
has "a limit that ended it names the option" "$(why --time 100ms -- sleep 5)" 'raise it with --time'
no_more='echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
if as_user unshare -Ur sh -c "$no_more" sh true 2>/dev/null; then
        told=$(as_user unshare -Ur sh -c "$no_more" sh "$CORDON" run --wall namespace -- true 2>&1)
        has "a host whose number of namespaces is used up is told so" "$told" 'sysctl -w user.max_user_namespaces='
        has "and the way around" "$told" '--wall process'
else
        skip "a host whose number of namespaces is used up is told so" "no user namespace can be made here"
        skip "and the way around" "no user namespace can be made here"
fi
done_testing

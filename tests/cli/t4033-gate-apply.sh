#!/bin/sh
# `edit DIR ask`: an apply of the overlay waits until a person approves exactly its entries.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
approver="python3 $here/helpers/approver.py"
D="$T/p"
door() { printf 'box held\nuse base/system\nedit %s%s\nrun any\n' "$D" "$1" >"$T/policy"; }
change() { # SCRIPT ARGUMENT...: a box on fresh files; $run is its overlay
        script=$1
        shift
        "$CORDON" run -q --no-stdin -p "$T/policy" --cwd "$D" --status-fd 5 "$@" -- sh -c "$script" 5>"$T/status" 2>"$T/err" || cat "$T/err"
        run=$(jq -r '.work.layer // ""' "$T/status")
        [ -n "$run" ] || { echo "Bail out! no overlay: $(cat "$T/err")"; exit 1; }
}
fresh() { rm -rf "$D" && mkdir "$D" && echo one >"$D/a"; }
begin() { # ARGUMENT...
        timeout 60 "$CORDON" apply "$@" >"$T/out" 2>"$T/err" </dev/null &
        WAITS=$!
}
end() { wait "$WAITS"; code=$?; }
answer() { $approver --run "$run" --wait 1 "$@"; }
states() { "$CORDON" ledger --kind gate 2>/dev/null | grep "$1" | sed 's/.*: //' | tr '\n' ' '; }

# ---- yes ----
door ' ask'
fresh
change 'echo two >a; printf "x\033[2Jy\n" >e; echo "#!/bin/sh" >tool; chmod 755 tool'
is "the box itself waits for nobody, and changes nothing" "$(cat "$D/a")" one
has "doors says who waits" "$("$CORDON" doors "$T/policy")" "\`cordon apply\` waits for \`cordon approve\`"
begin "$run"
answer view >"$T/shown"
text=$(jq -r .text "$T/shown")
has "each entry is shown, with mode, size and digest" "$text" "change $D/a, mode 0644, 4 bytes, $(echo two | sha256sum | cut -c 1-16)"
has "and the diff" "$text" "+two"
has "inert" "$text" 'x\x1b[2Jy'
hasnt "and nothing that is not applied" "$text" tool
is "the id is the digest of the envelope" "$(jq -cj .envelope "$T/shown" | sha256sum | cut -d ' ' -f 1)" "$(jq -r .item.id "$T/shown")"
has "which holds that of the entries" "$text" "digest $(jq -r .envelope.body "$T/shown")"
is "its kind, door and risk" "$(jq -r '[.envelope.kind, .item.door, .item.risk] | join(" ")' "$T/shown")" "apply edit $D ask normal"
is "without a terminal no yes is taken" "$(answer yes | jq -r .code)" no-terminal
is "nothing is applied meanwhile" "$(cat "$D/a")" one
is "at a terminal it is" "$($approver --tty --run "$run" yes | jq -r .state)" approved
end
is "then these bytes are applied" "$code $(cat "$D/a")" "0 two"
has "the command said that it waits, and how to answer" "$(cat "$T/err")" "waiting for approval (10m): apply 2 changes of the run $run; in another terminal: cordon approve $(jq -r .item.id "$T/shown" | cut -c 1-12)"
is "each state is recorded" "$(states "$run")" "pending approved consumed "

# ---- flagged entries: high risk ----
begin --include-flagged "$run"
answer view >"$T/shown"
has "the rest asks again, flagged entries first" "$(jq -r .text "$T/shown" | sed -n 2p)" "add $D/tool, mode 0755, 10 bytes"
is "as a high risk" "$(jq -r '.item.risk + " " + .envelope.method' "$T/shown")" "high apply-flagged"
is "so the digits must be typed" "$($approver --tty --run "$run" yes | jq -r .code)" challenge
is "typed, it is approved" "$($approver --tty --run "$run" yes challenge=typed | jq -r .state)" approved
end
ok "and applied" test -x "$D/tool"
"$CORDON" undo "$run" >/dev/null 2>&1
begin --include-flagged "$run"
is "after an undo it asks again" "$(answer no | jq -r .state)" denied
end
is "a no applies nothing" "$code $(test -e "$D/tool" && echo there)" "125 "
has "and says so" "$(cat "$T/err")" "nothing was applied: denied by a person"

# ---- nobody, and another effect ----
door ' ask within 1s'
fresh
change 'echo two >a'
begin --json "$run"
end
is "nobody there: expired, hence nothing is applied" "$code $(cat "$D/a") $(states "$run")" "125 one pending expired "
has "JSON has the reason as well" "$(jq -c . "$T/out")" "not approved in time"
ok "a patch changes nothing and asks nobody" "$CORDON" apply --as-patch "$T/patch" "$run"

door ' ask within 40s'
fresh
change 'echo two >a'
"$CORDON" run -q --no-stdin --edit "$D" --on "$run" --copy --keep -- true >/dev/null 2>&1
begin "$run"
answer view >/dev/null
is "two applies do not ask at once" "$("$CORDON" apply "$run" 2>&1 | grep -c 'socket for approvers')" 1
upper=$(find "$T" -path "*/work/$run/door-0/upper/a" 2>/dev/null)
chmod 600 "$upper"
$approver --tty --run "$run" yes >/dev/null
end
is "changed after it was shown: refused" "$code $(cat "$D/a")" "125 one"
has "with the reason" "$(cat "$T/err")" "are not those that were approved"
"$CORDON" discard --yes "$run" >/dev/null 2>&1

# ---- the question stays with the overlay ----
run=$("$CORDON" diff --list --json | jq -r '.[0].run')
begin "$run"
is "a copy asks as well" "$(answer no | jq -r .state)" denied
end
door ''
change 'echo three >b' --on "$run"
begin "$run"
is "and after a later run without \`ask\` on it" "$(answer view | jq -r .item.door)" "edit $D ask within 40s"
$approver --run "$run" no >/dev/null
end
mkdir "$T/copy" && cp -a "$D/." "$T/copy"
begin --to "$T/copy" "$run"
has "and into another directory, which is shown" "$(answer view | jq -r '.envelope.to + " " + .item.effect')" "$T/copy apply 2 changes"
$approver --run "$run" no >/dev/null
end
is "nothing got there" "$(cat "$T/copy/a")" one

# ---- by others ----
door ' ask by 1 of nogroup within 40s'
fresh
change 'echo two >a'
begin "$run"
is "by a group: not by the user" "$($approver --tty --run "$run" --wait 1 yes | jq -r .code)" not-approver
kill "$WAITS"
end
is "given up: nothing is applied" "$(cat "$D/a")" one
done_testing

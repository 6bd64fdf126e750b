# `cordon selftest cost`: every layer has a line, its cost was measured, and what it alone stops comes from the matrix and is said to.
. "$(dirname "$0")/lib.sh"
if ! command -v jq >/dev/null; then
        skip "what layers cost" "jq is not installed"
        done_testing
fi
layers="user mount pid net ipc uts cgroup-ns capabilities no-new-privs seccomp landlock rlimit cgroup nested-user memfd-noexec"
before=$(orphans)
for who in "" as_user; do
        $who "$CORDON" selftest cost -n 9 --json >"$T/json" 2>"$T/err"
        is "${who:-root}: it ends well" "$?:$(cat "$T/err")" "0:"
        is "${who:-root}: every layer has a row" "$(jq -r '.layers | map(.layer) | join(" ")' "$T/json")" "$layers"
        # What a box of ours says to have up can be raised alone, too. no-new-privs is one prctl: it may take less than a tick.
        up=$($who "$CORDON" run -q --status-fd 3 --wall namespace -- true 3>&1 | jq -r '.layers[]')
        for l in $up; do
                ok "${who:-root}: $l was raised and timed" jq -e --arg l "$l" '.layers[] | select(.layer == $l) | .raised and .start_us > 0' "$T/json"
        done
        ok "${who:-root}: what is not there has a reason" jq -e 'all(.layers[]; .raised or (.why | length > 0))' "$T/json"
        ok "${who:-root}: the filter has instructions, Landlock rules and the root steps" \
                jq -e 'all(.layers[] | select(.raised and (.layer == "seccomp" or .layer == "landlock" or .layer == "mount")); .units > 5)' "$T/json"
        ok "${who:-root}: the filter has a price per call" jq -e '.layers[] | select(.layer == "seccomp") | has("call_ns") and has("looked_at_ns")' "$T/json"
        ok "${who:-root}: seccomp alone stops many" jq -e '.layers[] | select(.layer == "seccomp") | .alone > 40 and .alone == (.probes | length)' "$T/json"
        ok "${who:-root}: what cannot be left out alone is not counted" jq -e 'all(.layers[] | select(.layer == "user" or .layer == "no-new-privs" or .layer == "cgroup"); has("alone") | not)' "$T/json"
done
if [ "$(id -u)" -eq 0 ] && "$CORDON" selftest cost -n 3 --json | jq -e '.layers[] | select(.layer == "cgroup") | .raised' >/dev/null; then
        "$CORDON" selftest cost -n 3 --json >"$T/json"
        ok "with control groups, namespaces are weighed" jq -e 'all(.layers[] | select(.layer == "net" or .layer == "mount"); .bytes >= 4096)' "$T/json"
        ok "and a prctl weighs nothing" jq -e '.layers[] | select(.layer == "no-new-privs") | .bytes < 4096' "$T/json"
else
        skip "layers are weighed" "no control group can be made here"
fi
# More doors, more steps: the policy's own plan is what is measured.
mkdir "$T/door"
few=$("$CORDON" selftest cost -n 1 --json | jq '.layers[] | select(.layer == "landlock") | .units')
more=$("$CORDON" selftest cost -n 1 --json --read "$T/door" | jq '.layers[] | select(.layer == "landlock") | .units')
ok "a door adds a rule ($few, $more)" test "$more" -gt "$few"
# Doors that open TLS up want roots, which nobody hands over here; and standard input is no file of the box.
echo input | "$CORDON" selftest cost -n 1 --json --net 'https://cordon.invalid/** GET' >"$T/json"
ok "a net door with requests can be measured" jq -e 'all(.layers[] | select(.layer == "mount" or .layer == "landlock"); .raised)' "$T/json"

text=$("$CORDON" selftest cost -n 3)
has "the text says what was measured" "$text" "Measured here, now"
has "and what was not" "$text" "From the knock-out matrix of"
has "layers that stop nothing alone are named" "$text" "Stop nothing alone: "
has "attempts can be named" "$("$CORDON" selftest cost -n 1 --probes)" "    io_uring cannot be set up"
"$CORDON" selftest cost -n 0 >/dev/null 2>"$T/err"
is "no rounds are refused" $? 125
"$CORDON" selftest cost nonsense >/dev/null 2>"$T/err"
is "a word is refused" $? 125
ok "no control group is left" none_left

# Killed in the middle, it leaves no process and no group.
for delay in 0.02 0.2 0.5 0.65; do
        "$CORDON" selftest cost -n 1000 >/dev/null 2>&1 &
        pid=$!
        sleep $delay
        kill -9 $pid
        wait $pid 2>/dev/null
done
"$CORDON" selftest cost -n 1 >/dev/null 2>&1 &
pid=$!
sleep 0.1
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
sleep 1
ended() { ! pgrep -f "$CORDON selftest cost"; }
soon ended
ok "killed, it leaves no control group" none_left
is "and no process" "$(pgrep -f "$CORDON selftest cost" || true)" ""
done_testing

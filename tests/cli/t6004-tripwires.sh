# Tripwires: simulated escapes are denied as ever, and with --trip they end the box, with an alarm and a record.
. "$(dirname "$0")/lib.sh"
elsewhere tripwires
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
echo text >"$D/file"
cd "$T" || exit 1
root() { "$@"; }
XDG_STATE_HOME=$T/state
export XDG_STATE_HOME
for who in root as_user; do
        mkdir -p "$T/$who.state" && chmod 777 "$T/$who.state"
        run() { $who env XDG_STATE_HOME="$T/$who.state" "$CORDON" run -q "$@" >out 2>err </dev/null; code=$?; }
        call() { run --use base/python3 --trip "$1" -- python3 -c "import ctypes, time; ctypes.CDLL(None).$2; time.sleep(9); print('survived')"; }
        for c in 'swapoff(b"/dev/sda1")' 'setns(0, 0)' 'acct(b"/tmp/x")' 'mount(b"a", b"/mnt", b"proc", 0, 0)'; do
                call calls "$c"
                is "$who: $c ends the box" "$code $(cat out)" "125 "
                has "$who: with an alarm" "$(cat err)" "tripwire:"
        done
        # Without /dev/fuse a lookup of what a box does not have is not seen.
        if $who test -w /dev/fuse; then
                run --trip secrets -- sh -c 'cat /etc/shadow /root/.ssh/id_rsa; sleep 9; echo survived'
                is "$who: a look at keys and passwords ends it" "$code $(cat out)" "125 "
                has "$who: the record says it" "$($who env XDG_STATE_HOME="$T/$who.state" "$CORDON" ledger --json | jq -r 'select(.kind == "end") | .more.error // empty' | tail -n 1)" "tripwire:"
                has "$who: and has what was tried" "$($who env XDG_STATE_HOME="$T/$who.state" "$CORDON" ledger --json | jq -r 'select(.phase == "denied") | .target' | tail -n 1)" "shadow"
                run --trip doors -- sh -c 'cat "$0"; sleep 9; echo survived' "$D/file"
                is "$who: an effect without a door ends it" "$code $(cat out)" "125 "
        else
                skip "$who: lookups that end the box" "/dev/fuse is not for this user"
        fi
        run --trip all -- sh -c 'ls / >/dev/null; echo survived'
        is "$who: ordinary work trips nothing" "$code $(cat out)" "0 survived"
        run -- sh -c 'cat /etc/shadow; echo survived'
        has "$who: without --trip the box goes on" "$(cat out)" survived
        run --stdout 'as text' --env CANARY_TOKEN=not-a-real-token-7341 -- sh -c 'echo $CANARY_TOKEN | base64; sleep 9; echo survived'
        is "$who: a canary that is printed ends the box, and does not leave" "$code $(cat out)" "125 "
        has "$who: with an alarm" "$(cat err)" "canary"
done
is "a word that is none" "$("$CORDON" run --trip cals -- true 2>&1 | grep -c 'takes calls')" 1
done_testing

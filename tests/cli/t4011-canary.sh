# A policy on trial: a share of the runs uses it, a bad one reaches no more of them than was said, and is left alone by
# itself; whatever is odd about the record means the usual policy.
. "$(dirname "$0")/lib.sh"
watched
mkdir "$T/state" "$T/seen" && chmod 700 "$T/state"
export CORDON_STATE="$T/state"
echo seen >"$T/seen/file"
cat >"$T/usual" <<END
use base/system
read $T/seen
read /var/lib
END
cp "$T/usual" "$T/good" && echo '# a comment' >>"$T/good"
printf 'use base/system\n' >"$T/narrow"
run() { timeout 60 "$CORDON" run -q -p "$T/usual" "$@" >"$T/out" 2>"$T/err"; status=$?; }
left() { find "$T/state/canary" -type f 2>/dev/null | wc -l; }

run --canary "$T/good" --canary-share 100% -- cat "$T/seen/file"
is "a good one serves" "$status $(cat "$T/out")" "0 seen"
is "and leaves nothing" "$(left)" 0
timeout 60 "$CORDON" run -p "$T/usual" --canary "$T/good" --canary-share 100 -- true 2>"$T/err"
has "it is said who tries" "$(cat "$T/err")" "this run tries $T/good"

run --canary "$T/narrow" --canary-share 100 -- sh -c 'test -d /var/lib; echo $?'
is "a bad one reaches this run" "$status $(cat "$T/out")" "0 1"
has "which says why it is left alone, also with -q" "$(cat "$T/err")" "$T/narrow is not used any more until it changes: it refused read /var/lib"
has "in terms of the usual policy" "$(cat "$T/err")" "which the usual policy permits"
is "the ledger has it" "$("$CORDON" ledger --json | jq -r 'select(.door == "canary") | .kind + " " + .target')" "limit $T/narrow"
for i in 1 2 3; do
        run --canary "$T/narrow" --canary-share 100 -- cat "$T/seen/file"
        is "no other run has it ($i)" "$status $(cat "$T/out")" "0 seen"
done
has "and each says so" "$(cat "$T/err")" "is not used any more until it changes: it refused"
printf 'read %s\nread /var/lib\n' "$T/seen" >>"$T/narrow"
run --canary "$T/narrow" --canary-share 100 -- cat "$T/seen/file"
is "changed, it is tried again" "$status $(cat "$T/out") $(cat "$T/err")" "0 seen "

# What else is bad: an end that is not good, a limit that is lower; a start that fails.
cp "$T/usual" "$T/ends" && echo '# ends' >>"$T/ends"
run --canary "$T/ends" --canary-share 100 -- sh -c 'exit 7'
is "the run's own status stays" $status 7
has "an end other than 0 counts" "$(cat "$T/err")" "a run with it ended with status 7"
(cat "$T/usual" && echo 'limit time 1s') >"$T/short"
run --canary "$T/short" --canary-share 100 -- sleep 20
has "a limit that is lower is named" "$(cat "$T/err")" "it reached the limit \`time\`, which the usual policy has higher"
(cat "$T/usual" && echo "read $T/not-there") >"$T/absent"
run --canary "$T/absent" --canary-share 100 -- true
has "a start that fails counts" "$(cat "$T/err")" "a run with it could not be started"
run --canary "$T/absent" --canary-share 100 -- true
is "the next one starts" $status 0
printf 'reed /\n' >"$T/broken"
run --canary "$T/broken" --canary-share 100 -- cat "$T/seen/file"
is "one that does not load reaches nobody" "$status $(cat "$T/out")" "0 seen"
has "and is told" "$(cat "$T/err")" "$T/broken is not tried"
run --canary "$T/no-such-file" --canary-share 100 -- cat "$T/seen/file"
is "nor does one that is not there" "$status $(cat "$T/out")" "0 seen"

# Doors of the command line are the same for both, and no door of the usual file is in the other.
printf 'use base/system\n' >"$T/flags"
run --canary "$T/flags" --canary-share 100 --read="$T/seen" --time 50s -- cat "$T/seen/file"
is "flags go with it" "$status $(cat "$T/out")" "0 seen"

# The share: 200 runs at 20 of 100, with a policy that refuses and a bound that is never reached.
printf 'use base/system\n# share\n' >"$T/share"
n=0
for i in $(seq 1 200); do
        timeout 60 "$CORDON" run --ledger off -q --observe off -p "$T/usual" --canary "$T/share" --canary-share 20 --canary-bound 1000 -- test -e "$T/seen/file" 2>/dev/null || n=$((n + 1))
done
ok "a fifth of 200 runs tried it: $n" test $n -ge 15 -a $n -le 70
is "and each is counted" "$(find "$T/state/canary" -name '*.bad.*' | wc -l)" $((n + 4))

# At once: of 12 runs side by side no more than the bound have it, whatever the share.
printf 'use base/system\n# at once\n' >"$T/once"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        (timeout 60 "$CORDON" run --ledger off -q -p "$T/usual" --canary "$T/once" --canary-share 100 --canary-bound 2 -- sh -c "sleep 0.2; test -e $T/seen/file" >/dev/null 2>&1; echo $? >"$T/once.$i") &
done
wait
is "of 12 at once 2 had it, as the bound says" "$(cat "$T"/once.* | grep -c -v '^0$')" 2

# Killed: a keeper that cannot tell counts as bad.
cp "$T/usual" "$T/killed" && echo '# killed' >>"$T/killed"
"$CORDON" run -q -p "$T/usual" --canary "$T/killed" --canary-share 100 -- sh -c "echo up; sleep 60" >"$T/up" 2>&1 &
keeper=$!
soon grep -q up "$T/up"
run --canary "$T/killed" --canary-share 100 -- true
is "while one tries it, the bound lets no other" "$(cat "$T/err")" ""
kill -9 $keeper
wait $keeper 2>/dev/null
counted() { run --canary "$T/killed" --canary-share 100 -- true; [ -s "$T/err" ]; }
soon counted
has "a killed keeper counts" "$(cat "$T/err")" "not used any more until it changes: its keeper was killed"
is "and the run goes on with the usual policy" $status 0

# In the background the keeper judges.
printf 'use base/system\n# detached\n' >"$T/detached"
"$CORDON" run -d -p "$T/usual" --canary "$T/detached" --canary-share 100 -- test -e /var/lib >/dev/null 2>&1
judged() { run --canary "$T/detached" --canary-share 100 -- true; grep -q "not used any more" "$T/err"; }
soon judged
has "a run in the background counts" "$(cat "$T/err")" "not used any more until it changes: it refused read"

# A record that is broken: the usual policy, and it is said.
chmod 755 "$T/state/canary"
run --canary "$T/good" --canary-share 100 -- cat "$T/seen/file"
is "others may enter the record: the usual policy" "$status $(cat "$T/out")" "0 seen"
has "and that is told" "$(cat "$T/err")" "$T/good is not tried: the state directory canary cannot be used"
rm -rf "$T/state/canary" && : >"$T/state/canary"
run --canary "$T/narrow" --canary-share 100 -- cat "$T/seen/file"
is "the record is a file: the usual policy" "$status $(cat "$T/out")" "0 seen"
has "and that is told, too" "$(cat "$T/err")" "is not tried"
rm "$T/state/canary" && mkdir -m 700 "$T/state/canary"
ln -s /dev/full "$T/state/canary/$(sha256sum <"$T/good" | cut -c1-64).open.0000000000000000"
run --canary "$T/good" --canary-share 100 -- cat "$T/seen/file"
has "an odd entry counts as bad" "$(cat "$T/err")" "not used any more"
is "and the run is the usual one" "$status $(cat "$T/out")" "0 seen"

for bad in 0 101 x 5x -1 ''; do
        run --canary "$T/good" --canary-share "$bad" -- true
        is "a share of '$bad' is refused" $status 125
done
run --canary "$T/good" --canary-bound 0 -- true
is "so is a bound of none" $status 125
timeout 60 "$CORDON" run --script --canary "$T/good" "$T/usual" 2>"$T/err"
has "run-script has none" "$(cat "$T/err")" "cannot be used with --script"
done_testing

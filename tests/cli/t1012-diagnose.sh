#!/bin/sh
# cordon doctor: boxes that are too broad, too narrow, both or neither, by real runs; and doors with an end.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
HELPERS=$(cd "$(dirname "$0")" && pwd)/helpers
watched
. "$(dirname "$0")/lib-home.sh"
mkdir "$HOME/.ssh"
echo one >in.txt && echo two >other.txt && echo key >"$HOME/.ssh/id_rsa" && ln -s "$HOME/.ssh/id_rsa" notes.txt && chmod -R a+rX "$D"
# box NAME LINES...: a policy of this name.
box() { name=$1; shift; { echo "box $name"; printf '%s\n' "$@"; } >"$T/$name"; }
# runs N NAME ARGUMENTS...: so many runs under it.
runs() { n=$1 name=$2; shift 2; while [ "$n" -gt 0 ]; do "$c" run -p "$T/$name" "$@" >/dev/null 2>&1 </dev/null; n=$((n - 1)); done; }
widened() { "$c" policy fit --json "$T/$1" | jq -c ".boxes[0].widened[] | select(.line | startswith(\"$2\")) | [.days, .runs, .days_used, .expired]"; }
verdict() { "$c" policy fit --json "$T/$1" | jq -r '.boxes[0].verdict'; }

# --- a door that closes while the other tests run ---
left=$((60 - $(date -u +%S | sed 's/^0//')))
[ "$left" -ge 20 ] || left=$((left + 60))
CLOSES=$(($(date +%s) + left))
box closing "use base/system" "read {work}/in.txt" "read {work}/other.txt until $(date -u -d "@$CLOSES" +%Y-%m-%dT%H:%MZ)"
runs 2 closing --observe all -- cat other.txt
"$c" log --json --box closing >"$T/closing.log"
FIRST=$(jq -r 'select(.kind == "start") | .run' "$T/closing.log" | head -n 1)
# Now, while it is open: how long the rest takes, a busy machine decides.
if command -v python3 >/dev/null; then
        ok "one run becomes five days older" python3 "$HELPERS/ledger_age.py" "$CORDON_STATE/ledger" 5 "$FIRST"
        is "days are counted, not runs" "$(widened closing "read $D/work/other.txt")" '[2,2,2,false]'
        is "and --since leaves the old one out" "$("$c" policy fit --json --since 3d "$T/closing" | jq -c '.boxes[0].runs')" 1
else
        skip "days are counted, not runs" "python3 is not installed"
fi

# --- verdicts, by real runs ---
is "without a ledger there are not enough runs" "$(CORDON_STATE=$T/none status "$c" policy fit base/system)" 2
has "and it is said how many there are" "$(cat "$T/out")" "needs 3 successful runs, there are 0"
box broad "use base/system" "read {work}/in.txt {work}/other.txt" "env FOO=bar"
is "1: nothing ran under it" "$(verdict broad)" "not enough runs"
runs 2 broad --observe all -- cat in.txt
is "2: two runs are not enough" "$(verdict broad)" "not enough runs"
runs 1 broad --observe all -- cat in.txt
is "3: a door that nobody used is too broad" "$(verdict broad)" "too broad"
is "and gives 1" "$(status "$c" policy fit "$T/broad")" 1
has "the door is named" "$(cat "$T/out")" "  read {work}/other.txt
"
hasnt "the one that was used is not" "$(cat "$T/out")" "  read {work}/in.txt
"
has "and what closes it" "$(cat "$T/out")" "cordon policy tighten --log -p $T/broad"
"$c" policy tighten -n 1 -p "$T/broad" -- cat in.txt >/dev/null 2>&1 </dev/null
is "runs in which doors were tried are not counted, under whatever policy" "$("$c" policy fit --json --box broad | jq -c '[.boxes[] | .runs]')" "[3]"
is "and are in the ledger as such" "$("$c" log --json --box broad --kind start | jq -s -c 'map(.more.trial) | [(map(select(. == null)) | length), (map(select(. == 1)) | length > 3)]')" "[3,true]"
is "its numbers" "$("$c" policy fit --json "$T/broad" | jq -c '.boxes[0] | [.runs, .failed, .observed, .doors, .used, .unused, .unknown, .not_judged, .unused_percent, .unused_doors]')" \
        '[3,0,3,4,2,1,0,1,33,["read {work}/other.txt"]]'
"$c" policy tighten --log -p "$T/broad" >"$T/broad2" 2>/dev/null
runs 3 broad2 --observe all -- cat in.txt
is "4: after tighten it fits" "$(verdict broad2):$(status "$c" policy fit "$T/broad2")" "fits:0"
runs 1 broad --observe all -- cat other.txt
is "5: one run that uses it, and it fits" "$(verdict broad)" fits
is "but not the newest one alone" "$("$c" policy fit --json --last 1 "$T/broad" | jq -c '.boxes[0] | [.verdict, .runs]')" '["not enough runs",1]'
box blind "use base/system" "read {work}/in.txt"
runs 4 blind -- cat in.txt
is "6: runs that nobody looked at tell nothing of files" "$(verdict blind)" "not enough runs"
has "and it is said what would" "$("$c" policy fit "$T/blind")" "need 3 successful runs with \`cordon run --observe all\`; there are 0"
box narrow "use base/system"
runs 2 narrow -- cat "$D/work/in.txt"
is "7: two refusals in two runs claim nothing yet" "$(verdict narrow)" "not enough runs"
runs 1 narrow -- cat "$D/work/in.txt"
is "8: what is refused in every failed run is too narrow" "$(verdict narrow)" "too narrow"
is "and gives 1" "$(status "$c" policy fit "$T/narrow")" 1
has "with the smallest line" "$(cat "$T/out")" "in 3 of 3 failed runs; permitted by: read $D/work/in.txt"
has "and the verbs that tell more" "$(cat "$T/out")" "cordon why -p $T/narrow EFFECT"
hasnt "the C library's habits are not refusals that matter" "$(cat "$T/out")" locale.alias
is "refusals are counted once a run" "$("$c" policy fit --json "$T/narrow" | jq -c '.boxes[0] | [.refusals_per_run, .failed, .failed_with_refusals, (.refusals | length), .refusals[0].failed_runs]')" "[1,3,3,1,3]"
{ cat "$T/narrow"; "$c" policy fit --json "$T/narrow" | jq -r '.boxes[0].refusals[] | select(.recurs) | .line'; } >"$T/narrow2"
runs 3 narrow2 --observe all -- cat "$D/work/in.txt"
is "9: with that line it fits" "$(verdict narrow2)" fits
box keys "use base/system"
runs 3 keys -- sh -c "cat $HOME/.ssh/id_rsa $D/work/notes.txt; exit 1"
is "10: a box that wants keys is not too narrow" "$(verdict keys)" "not enough runs"
is "no line is proposed, by no name of them" "$("$c" policy fit --json "$T/keys" | jq -c '.boxes[0] | [.refusals, (.never_proposed | map(.reason) | unique)]')" '[[],["keys"]]'
hasnt "nor in words" "$("$c" policy fit "$T/keys")" "permitted by"
box both "use base/system" "read {work}/other.txt"
runs 3 both --observe all -- true
runs 2 both -- cat "$D/work/in.txt"
is "11: unused and refused" "$(verdict both)" "too broad and too narrow"
box own "use base/system"
runs 3 own --observe all -- true
runs 3 own -- sh -c 'exit 3'
is "12: it fails for reasons of its own" "$(verdict own)" fits
has "which is told" "$("$c" policy fit "$T/own")" "3 failed runs without a recorded block"
is "what counts as passed can be said" "$("$c" policy fit --status 3 --json "$T/own" | jq -c '.boxes[0] | [.runs, .failed]')" "[6,3]"
box network "use base/strict"
if command -v python3 >/dev/null; then
        runs 3 network -- python3 -c 'import socket; socket.socket()'
        is "a network that is missing is too narrow" "$(verdict network)" "too narrow"
        has "and no destination is made up" "$("$c" policy fit "$T/network")" 'permitted by: a `net` door: `cordon learn` finds out where to'
else
        skip "a network that is missing is too narrow" "python3 is not installed"
fi
box small "use base/system" "limit time 200ms"
runs 3 small -- sleep 5
has "a limit that ends runs is too narrow" "$(verdict small):$("$c" policy fit --json "$T/small" | jq -r '.boxes[0].refusals[0].line')" "too narrow:limit time 400ms"

# --- by box, without the policy ---
is "a box is found by its name" "$("$c" policy fit --json --box both | jq -c '.boxes[] | [.box, .verdict, .doors, .unused, .unused_doors]')" '["both","too broad and too narrow",1,1,[]]'
has "its doors are counted, and it is said who names them" "$("$c" policy fit --box both)" "1 door; \`cordon policy fit POLICY\` names them"
is "without a question, every box" "$("$c" policy fit --all --json | jq -r '.boxes[].box' | sort -u | tr '\n' ' ')" "blind both broad closing keys narrow network own small "
is "and two policies of one box are two" "$("$c" policy fit --json --box broad | jq -c '.boxes | length')" 2
is "a name that nothing has gives 2" "$(status "$c" policy fit --box nobody)" 2
is "what is too old does not count" "$("$c" policy fit --json --since 2099-01-01 "$T/broad" | jq -c '.boxes[0].runs')" 0
"$c" policy show --json "$T/broad" >"$T/broad.json"
is "a policy in JSON is judged too" "$("$c" policy fit --json "$T/broad.json" | jq -r '.boxes[0] | .runs')" 4

# --- bad input ---
is "a policy that is not there" "$(status "$c" policy fit "$T/nothing")" 125
is "a policy that does not load" "$(echo 'raed /x' >"$T/bad"; status "$c" policy fit "$T/bad")" 125
has "is told why" "$(cat "$T/err")" raed
is "--last takes a number" "$(status "$c" policy fit --all --last none)" 125
is "--since takes a time" "$(status "$c" policy fit --all --since soon)" 125
is "two policies are one too many" "$(status "$c" policy fit "$T/broad" "$T/both")" 125
is "the manual has the thresholds" "$("$c" policy fit --all --json | jq -r '.thresholds | to_entries[] | "\(.key) \(.value)"' | while read -r k v; do
        grep -q "^\.It Li $k Cm $v\$" "${CORDON_SOURCE:-$(dirname "$0")/../..}/man/cordon-policy-fit.1" || echo "$k $v"; done)" ""

# --- doors with an end ---
while [ "$(date -u +%H%M)" = 2359 ]; do sleep 1; done # days are counted: all of it is to be on one
box ends "read {work}/in.txt until 2099-01-01" "run any until $(date -u -d '+36 hours' +%Y-%m-%dT%H:%MZ)" "use base/loader" "read /usr /bin /lib"
runs 2 ends --observe all -- cat in.txt
is "a door with an end: days open, runs, days used" "$(widened ends "read ")" '[1,2,1,false]'
is "run any: the days that are left" "$("$c" policy fit --json "$T/ends" | jq -c '.boxes[0].widened[] | select(.line == "run any") | [.days_left, .days_used]')" '[2,1]'
has "in words" "$("$c" policy fit "$T/ends")" "run any: open on 1 day so far, in 2 runs, used on 1; 2 days left, until 20"
has "doors tells it too" "$("$c" doors "$T/ends")" "run any: open on 1 day so far, in 2 runs, used on 1; 2 days left, until 20"
hasnt "and of other doors nothing" "$("$c" doors "$T/broad")" "Doors with an end"
while [ "$(date +%s)" -lt "$CLOSES" ]; do sleep 1; done
is "a door that has expired is named, with the days that it was open" "$("$c" policy fit --json "$T/closing" | jq -c '.boxes[0].widened[] | [.line, .expired, .days_left, .runs]')" "[\"read $D/work/other.txt\",true,0,2]"
has "in words" "$("$c" doors "$T/closing")" "it is closed, take the line out"
is "and it is" "$("$c" run -q -p "$T/closing" -- cat other.txt 2>/dev/null; echo $?)" 1
done_testing

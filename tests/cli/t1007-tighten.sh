#!/bin/sh
# The options of learn, and cordon policy tighten: doors that a command does not need are closed, and the run still passes.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
watched
. "$(dirname "$0")/lib-home.sh"
mkdir a b
echo one >in.txt && echo two >other.txt && echo x >a/x && chmod -R a+rX "$D"

# --- learn ---
is "learn prints the policy" "$(status "$c" learn -n 1 -- cat in.txt)" 0
has "it has the door" "$(cat "$T/out")" "read {work}/in.txt"
hasnt "and nothing the command printed" "$(cat "$T/out")" one
is "the policy runs the command" "$(cat "$T/out" >"$T/p" && "$c" run -q -p "$T/p" -- cat in.txt)" one
is "another file stays hidden" "$(status "$c" run -q -p "$T/p" -- cat other.txt)" 1
is "-o writes it" "$(status "$c" learn -n 1 -o "$T/new" -- cat in.txt):$(cat "$T/out")" "0:"
ok "there" cmp "$T/new" "$T/p"
is "-o does not overwrite" "$(status "$c" learn -n 1 -o "$T/new" -- cat in.txt)" 125
is "a command that fails gives 1" "$(status "$c" learn -n 1 -- false)" 1
is "and no policy" "$(cat "$T/out")" ""
is "--status says what passing is" "$(status "$c" learn -n 1 --status 1 -- grep nothing in.txt)" 0
has "and that is learned" "$(cat "$T/out")" "read {work}/in.txt"
is "--input is its input each time" "$(status "$c" learn -n 2 -i in.txt -- grep one)" 0
is "which is no door" "$(grep -c '^read' "$T/out")" 0
is "without input it has none" "$(status "$c" learn -n 1 -- grep one)" 1
is "--json is one object" "$(status "$c" learn -n 1 --json -- cat in.txt):$(jq -c '[.passed, .complete, .doors, .runs]' "$T/out")" "0:[true,true,1,1]"
is "--json of a failure too" "$(status "$c" learn -n 1 --json -- cat nothing):$(jq -c '.passed' "$T/out")" "1:false"
has "with what it said" "$(jq -r .last "$T/out")" "nothing"
is "a program that is not there" "$(status "$c" learn -n 1 -- nosuchprogram)" 1
is "no command gives 125" "$(status "$c" learn -n 1)" 125
for n in 0 65 x -1 ''; do is "-n $n gives 125" "$(status "$c" learn -n "$n" -- true)" 125; done
is "a run that does not end is ended" "$(status "$c" learn -n 1 --time 1s -- sleep 30)" 1
has "and it is said" "$(cat "$T/err")" 'the limit `time` ended it'
is "a door seen in one of the runs closes by itself" "$(status "$c" learn -n 2 -- sh -c 'cat in.txt; read -r x </proc/sys/kernel/random/uuid; :'):$(grep -c until "$T/out")" "0:0"
cat >flaky.sh <<'END'
# now and then it reads one more file
cat a/x >/dev/null
[ $(($(date +%s%N) / 100000 % 6)) -ne 0 ] || cat b/y >/dev/null
END
echo y >b/y
chmod a+r flaky.sh b/y
found=
for _ in $(seq 60); do # four in ten are as it is wanted
        "$c" learn -n 2 -- sh flaky.sh >"$T/out" 2>"$T/err" </dev/null || continue
        grep -q '^read {work}/b/y until 20' "$T/out" && grep -q 'seen 1/2' "$T/out" && found=yes && break
done
is "a door seen in one run of two gets until" "$found" yes
rm flaky.sh b/y
is "a door without which it complains is kept" "$(status "$c" learn -n 1 -- sh -c 'cat a/x >/dev/null; true'):$(grep -c '^run cat\|^read {work}/a/x' "$T/out")" "0:2"
is "a directory that is listed is a door" "$(status "$c" learn -n 1 -- ls a):$(grep '^read' "$T/out" | sed 's/ *#.*//')" "0:read {work}/a"
is "and one that is only on the way is not" "$(status "$c" learn -n 1 -- cat a/x):$(grep '^read' "$T/out" | sed 's/ *#.*//')" "0:read {work}/a/x"
is "the directory one is in, when it is listed" "$(status "$c" learn -n 1 -- ls):$(grep '^read' "$T/out" | sed 's/ *#.*//')" "0:read {work}"
# Output that differs each time has lines that do not: a door behind one of them is needed.
is "what a stable line needs is kept, beside one that changes" "$(status "$c" learn -n 1 -- sh -c 'cat /proc/sys/kernel/random/uuid; cat in.txt 2>/dev/null; true'):$(grep -c '^read {work}/in.txt' "$T/out")" 0:1
is "and what only the changing one needs is not compared" "$(printf 'use base/system\nread {work}/in.txt\nread {work}/other.txt\n' >"$T/odd"; "$c" policy tighten -p "$T/odd" -n 1 -- sh -c 'cat /proc/sys/kernel/random/uuid; cat in.txt; test -e other.txt; true' 2>/dev/null </dev/null | grep ^read)" "read {work}/in.txt"
printf '#!/bin/cat\ninner\n' >inner && chmod 755 inner
is "a script that the command starts needs its interpreter" "$(status "$c" learn -n 1 -- sh -c ./inner):$(grep -c '^run {work}/inner\|^run /bin/cat' "$T/out")" 0:2
rm inner
if [ "$(id -u)" -eq 0 ]; then
        is "an ordinary user learns too" "$(status as_user "$c" learn -n 1 -- cat in.txt):$(grep '^read' "$T/out" | sed 's/ *#.*//')" "0:read {work}/in.txt"
fi

mkdir "$T/w" && echo three >"$T/w/in.txt" && echo four >"$T/w/other.txt" && chmod -R a+rX "$T/w"
is "below /tmp, too, only what is used is opened" "$(cd "$T/w" && status "$c" learn -n 1 -- cat in.txt):$(grep '^read' "$T/out" | sed 's/ *#.*//')" "0:read {work}/in.txt"

# --- tighten ---
cat >"$T/wide" <<END
# my policy
box    wide
use    base/system
read   {work}/in.txt {work}/a {work}/b   # three
read   {work}/other.txt
env    LANG=C FOO=bar
limit  time 10s
expect deny read {home}/.ssh/id_rsa
END
is "tighten closes what is not used" "$(status "$c" policy tighten -p "$T/wide" -n 2 -- cat in.txt)" 0
is "and leaves the rest as it was" "$(cat "$T/out")" "# my policy
box    wide
read {work}/in.txt                       # three
limit  time 10s
expect deny read {home}/.ssh/id_rsa"
has "and tells what it closed" "$(cat "$T/err")" "not needed: read {work}/other.txt"
cp "$T/out" "$T/tight"
is "the run still passes" "$("$c" run -q -p "$T/tight" -- cat in.txt)" one
is "it is narrower" "$("$c" policy diff "$T/wide" "$T/tight" | tail -n 1)" narrower
is "tightening again changes nothing" "$(status "$c" policy tighten -p "$T/tight" -n 1 -- cat in.txt):$(cmp "$T/out" "$T/tight" && echo same)" "0:same"
is "doors equal those used" "$("$c" policy tighten -p "$T/wide" -n 1 --json -- cat in.txt 2>/dev/null </dev/null | jq -c '[.doors_before, .doors, .passed, .complete]')" "[7,1,true,true]"
printf 'use base/system\nread {work}/in.txt {work}/other.txt\nexpect allow read {work}/other.txt\n' >"$T/expects"
is "a door that the policy expects stays" "$("$c" policy tighten -p "$T/expects" -n 1 -- cat in.txt 2>/dev/null </dev/null | grep -c '^read')" 2
printf 'use base/system\nread {work}/in.txt {work}/other.txt\n' >"$T/two"
is "what changes the output stays" "$("$c" policy tighten -p "$T/two" -n 1 -- sh -c 'cat in.txt other.txt 2>/dev/null; true' 2>/dev/null </dev/null | grep -c '^read')" 2
is "a command that does not pass closes nothing" "$(status "$c" policy tighten -p "$T/wide" -- cat nothing):$(cat "$T/out")" "1:"
is "a stock policy can be tried" "$("$c" policy tighten -p base/python3 -n 1 --json -- true </dev/null 2>/dev/null | jq -c '[.passed, .doors]')" "[true,0]"
is "JSON has no lines to close" "$("$c" policy show --json "$T/wide" >"$T/wide.json"; status "$c" policy tighten -p "$T/wide.json" -- true)" 125
has "and it is said" "$(cat "$T/err")" "policy show"
is "no policy gives 125" "$(status "$c" policy tighten -- true)" 125
is "a policy that is not there gives 125" "$(status "$c" policy tighten -p "$T/none" -- true)" 125
is "a policy that does not load closes nothing" "$(echo 'raed /x' >"$T/bad"; status "$c" policy tighten -p "$T/bad" -- true)" 1
has "and it is said" "$(cat "$T/err")" raed
has "runs that were too few are no failure of the command" "$("$c" learn --max-runs 2 -- cat in.txt 2>&1 </dev/null)" "it takes more than 2 runs"
is "--max-runs bounds the runs" "$("$c" policy tighten -p "$T/wide" -n 1 --max-runs 4 --json -- cat in.txt </dev/null 2>/dev/null | jq -c '[.passed, .complete, .boxes <= 5]')" "[true,false,true]"
# Each trial starts from the same files: what one wrote through a write door is not there for the next.
if "$c" run -n -q --wall namespace --edit . -- true 2>/dev/null; then
        mkdir made
        printf 'use base/system\nread {work}/in.txt {work}/other.txt\nwrite {work}/made\n' >"$T/writes"
        build='test -e made/out || cp in.txt made/out'
        is "a write door that the first trial used is kept" "$("$c" policy tighten -p "$T/writes" -n 2 -- sh -c "$build" 2>/dev/null </dev/null | grep '^read\|^write' | tr '\n' ' ')" "read {work}/in.txt write {work}/made "
        is "nothing reached the host" "$(ls made)" ""
        rmdir made
else
        skip "write doors are held back in trials" "this host cannot hold edit doors"
fi
# --- tighten --log: from the record of past runs ---
cp "$T/wide" "$T/logged"
used() { "$c" run -q -p "$T/logged" "$@" -- cat in.txt >/dev/null 2>&1 </dev/null; }
is "where there is no ledger, that is an error" "$(status env CORDON_STATE="$T/nowhere" "$c" policy tighten --log -p "$T/logged"):$(head -n 1 "$T/err")" "125:cordon: error: $T/nowhere has no ledger yet"
is "without past runs nothing is closed" "$("$c" policy tighten --log -p "$T/logged" --json 2>/dev/null | jq -c '[.past_runs, .doors == .doors_before, .replayed]')" "[0,true,false]"
used && used && used
is "runs that were not observed in full tell nothing of files" "$("$c" policy tighten --log -p "$T/logged" --json 2>"$T/err" | jq -c '[.past_runs, .past_observed, .doors == .doors_before]')" "[3,0,true]"
has "and it is said what would" "$("$c" policy tighten --log -p "$T/logged" 2>&1 >/dev/null)" "3 runs with --observe all or more; there are 0"
used --observe all && used --observe all
is "two are fewer than three" "$("$c" policy tighten --log -p "$T/logged" --json | jq -c '[.past_observed, .doors == .doors_before]')" "[2,true]"
used --observe all
"$c" run -q --observe all -p "$T/logged" -- sh -c 'cat other.txt; exit 3' >/dev/null 2>&1 </dev/null
is "after three, what no run used is closed" "$(status "$c" policy tighten --log -p "$T/logged"):$(grep '^read\|^env' "$T/out" | sed 's/ *#.*//' | tr '\n' ' ')" "0:read {work}/in.txt env LANG=C env FOO=bar "
has "with what it rests on" "$(cat "$T/err")" "6 past runs under this policy, 3 of them observed in full"
has "and that it was not replayed" "$(cat "$T/err")" "not replayed"
has "and each line that goes" "$(cat "$T/err")" "not used: read {work}/other.txt"
cp "$T/out" "$T/tight2"
is "the run still passes" "$("$c" run -q -p "$T/tight2" -- cat in.txt)" one
is "what was used is what is open" "$("$c" run -q --observe all --status-fd 3 -p "$T/tight2" -- cat in.txt 3>&1 >/dev/null | jq -r '[.effects[].path | select(startswith("'"$D"'"))] | unique | join(" ")')" "$D/work/in.txt"
is "with a command it is replayed" "$("$c" policy tighten --log -p "$T/logged" --json -- cat in.txt </dev/null | jq -c '[.passed, .replayed, .boxes]')" "[true,true,3]"
is "a command that needs more is not offered it" "$(status "$c" policy tighten --log -p "$T/logged" -- cat other.txt):$(cat "$T/out")" "1:"
is "a run that failed does not count" "$("$c" policy tighten --log -p "$T/logged" --status 3 -n 1 --json | jq -c '[.past_runs, .past_observed]')" "[1,1]"
is "another policy has other runs" "$("$c" policy tighten --log -p "$T/two" --json | jq -c .past_runs)" 0
ln -s in.txt link.txt
printf 'read {work}/in.txt {work}/link.txt {work}/script\nrun {work}/script /bin/sh cat sort\n' >"$T/links"
printf '#!/bin/sh\ncat link.txt\n' >script && chmod 755 script
for _ in 1 2 3; do "$c" run -q --observe all -p "$T/links" -- ./script >/dev/null 2>&1 </dev/null; done
is "what a link leads to and what a script is run by count as used" "$("$c" policy tighten --log -p "$T/links" 2>/dev/null -- ./script </dev/null | grep -v '^use' | tr '\n' ' ')" "read {work}/in.txt read {work}/link.txt read {work}/script run {work}/script run /bin/sh run cat "
# What is gone from the record is not what no run did.
run=$("$c" run -q --observe all --status-fd 3 -p "$T/logged" -- cat in.txt 3>&1 >/dev/null </dev/null | jq -r .run)
sleep 1.1 # ages are counted in seconds
"$c" log prune --older 0s >/dev/null 2>&1
is "runs whose records were pruned tell nothing" "$("$c" policy tighten --log -p "$T/logged" --json 2>/dev/null | jq -c '[.past_runs, .doors == .doors_before]')" "[0,true]"
has "a run's report says so" "$("$c" log report "$run" --postmortem -)" "Payloads were pruned since: what stands here may not be all that happened."
hasnt "and concludes nothing from it" "$("$c" log report "$run" --postmortem -)" "Nothing was refused."
has "log show says so, too" "$("$c" log show "$run")" "pruned   payloads were"
is "diagnose does not count them" "$("$c" policy fit --json "$T/logged" | jq -c '[.boxes[].runs] | add // 0')" 0
rm -f link.txt script
# --- what is tried is said, box by box ---
"$c" learn -v -n 1 -- cat in.txt >/dev/null 2>"$T/said" </dev/null
has "learn says what it looks for" "$(cat "$T/said")" "box 1: run 1: what it looks for"
has "and without which door it tries" "$(cat "$T/said")" 'without `read {work}/in.txt`'
is "a line for each box" "$(grep -c '^cordon: box [0-9]*: ' "$T/said" | awk '{ print ($1 >= 5) }')" 1
is "without the option nothing of it is in a log" "$("$c" learn -n 1 -- cat in.txt 2>&1 >/dev/null </dev/null | grep -c ': box [0-9]*: ')" 0
is "nothing is left behind" "$(ls)" "$(printf 'a\nb\nin.txt\nother.txt')"
done_testing

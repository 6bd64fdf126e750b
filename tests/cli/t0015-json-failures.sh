#!/bin/sh
# A program that asks for JSON is told a failure as JSON, by every verb that has --json: one list with one object, or for run
# the object of a failed start. What is no option of the verb's own asks for nothing.
# shellcheck disable=SC2016,SC2034,SC2086
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
verbs=$(verbs)
has_json() { "$CORDON" help $1 | sed -n '/^Options:/,$p' | grep -q -- '--json'; }
shape='length == 1 and (.[0] | keys) == ["code","column","file","hint","level","line","text"] and .[0].level == "E"'
start='keys == ["end","error","version"] and .end == "failed" and (.error | keys) == ["code","errno","hint","step","what"]'
# fails NAME VERB ARGUMENT...: with 125, says it to people, and to programs in one line
fails() {
        name=$1 verb=$2 && shift
        is "$name: ends with 125" "$(status "$CORDON" "$@")" 125
        has "$name: people read why" "$(cat err)" "cordon: error: "
        case "$verb ${2-}" in
        run\ * | shell\ * | agent\ --* | session\ new | session\ run | session\ fork) # they print a result
                is "$name: and nothing is on standard output" "$(cat out)" ""
                is "$name: programs read the last line" "$(grep -c '^{' err) $(tail -n 1 err | jq "$start")" "1 true"
                ;;
        *) is "$name: programs read one line" "$(wc -l <out) $(jq "$shape" out)" "1 true" ;;
        esac
}
# says EXPRESSION: of the list that the last one gave
says() { jq -r ".[0] | $1" out; }

with=0
for v in $verbs; do
        v=$(words "$v")
        if has_json "$v"; then
                with=$((with + 1))
                fails "$v --json with a wrong option" $v --json --nonesuch
                fails "$v --json behind a wrong option" $v --nonesuch --json
                is "$v without --json: nothing for programs" "$("$CORDON" $v --nonesuch 2>err; grep '^[[{]' err)" ""
                is "$v: what follows -- asks for nothing" "$("$CORDON" $v --nonesuch -- --json 2>err; grep '^[[{]' err)" ""
        else
                is "$v, which has no --json" "$(status "$CORDON" $v --json) $(cat out)" "125 "
        fi
done
ok "most verbs have it" test "$with" -ge 20

# The reason, its kind and its hint are those that people read.
fails "doors: what is typed wrong" doors --json --read
is "doors: its parts" "$(says '[.code, .file, .line, .column, .text, .hint] | @csv')" '"usage","",0,0,"option --read requires an argument","see `cordon help doors`"'
printf 'box a\nraed /x\n' >bad.cordon
fails "doors: a policy that does not load" doors --json bad.cordon
says 'del(.hint)' >of-doors
fails "check: the same one" check --json bad.cordon
is "check and doors tell it alike" "$(says 'del(.hint)')" "$(cat of-doors)"
is "the line and the column are told" "$(says '[.code, .file, .line, .column] | @csv')" '"policy","bad.cordon",2,1'
fails "why: the first of two wrong ones" why --json --raed x --nonesuch read /x
has "why: is the one that is told" "$(says .text)" "--raed"
is "why: a word that is refused is no failure" "$(status "$CORDON" why --json read /root/x) $(jq -r .answer out)" "1 deny"
fails "check: a door that is typed" check --json --read '{nonesuch}/x'
is "check: stands in no file" "$(says .file)" policy
# A name that looks like a place in a file is none.
cp bad.cordon 'a:1:2: b'
fails "check: a file of such a name" check --json 'a:1:2: b'
is "check: its place is the one behind" "$(says '[.file, .line, .column] | @csv')" '"a:1:2: b",2,1'
fails "doors: the same one" doors --json 'a:1:2: b'
is "doors: its place" "$(says '[.file, .line, .column] | @csv')" '"a:1:2: b",2,1'
for v in check doors 'doors -p' 'policy diff base/system'; do
        fails "$v: one that is not there" $v 'c:1:2: d' --json
        is "$v: has no place in it" "$(says '[.file, .line, .text] | @csv')" '"c:1:2: d",0,"c:1:2: d: No such file or directory"'
done
fails "inspect: a box of such a name" ps --json 'a:1:2: b'
is "inspect: is in no file" "$(says '[.file, .line, .column, .text] | @csv')" '"",0,0,"no box named a:1:2: b"'

# Failures of another kind than a command line's.
fails "inspect" ps --json nonesuch
is "inspect: its kind" "$(says .code)" gone
fails "trace" log trace --json nonesuch
fails "log" log show --json nonesuch
fails "diff" diff --json nonesuch
fails "diagnose" policy fit --json /nonexistent.cordon
fails "tighten" policy tighten --json -p /nonexistent.cordon -- true
fails "learn" learn --json -o "$T" -- true
fails "advise" policy new --json 'fly to the moon'
fails "verify" log verify --json --checkpoint /nonexistent
fails "policy" policy diff --json /nonexistent bad.cordon
fails "vault" vault list --json more
fails "breakout" selftest breakout --json --only nonesuch
fails "bombs" selftest bombs --json nonesuch
fails "claims: what its attempts said" selftest claims --json --wall nonesuch
fails "ps: words that it does not take" ps --json more
mkdir open && chmod 777 open
CORDON_STATE=$T/open
fails "log: a state directory without a ledger" log --json
fails "diff: one that others may write" diff --list --json
CORDON_STATE=$T/state

# What has an object of its own says it there, once.
for v in apply undo discard; do
        is "$v: its own object" "$(status "$CORDON" $v --json nonesuch) $(wc -l <out) $(jq -s 'length == 1 and (.[0].error // .[0].layers[0].error).code == "gone"' out)" "125 1 true"
done

# run: where its result goes.
fails "run: nothing to run" run --json
fails "run: a bad value" run --json --observe nonesuch -- true
fails "run: a bad door" run --json --read '{nonesuch}/x' -- true
fails "run: two that do not go together" run -t -d --json -- true
fails "run-script: no file" run --script --json /nonexistent
is "run: its status descriptor, named behind what is wrong" "$("$CORDON" run --nonesuch --status-fd 3 -- true 3>&1 >/dev/null 2>&1 | jq "$start")" true
is "run: what the command is given asks for nothing" "$("$CORDON" run --nonesuch true --json 2>&1 | grep -c '^{')" 0
is "run: a command's own 125 is no failure" "$(status "$CORDON" run --json -- sh -c 'exit 125') $(grep -c '^{' err) $(tail -n 1 err | jq -r .end)" "125 1 exited"
done_testing

# tests/cli/lib-learn.sh - sourced by tests of `cordon learn` with real programs, after lib.sh:
#   stock NAME TOOL HAND COMMAND...   learns it with `input 0`, then runs FRESH other inputs; HAND is the policy that a
#                                     person would write
#   beside NAME COMMAND...            the same in the background, with files of its own; `merge NAME` takes its results
#   LEARN     further options of learn
#   RUNS      so many learning runs (2)
# shellcheck shell=sh
c=$CORDON
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin # as in a box: no shims
FRESH=${FRESH:-20}
OUT=/tmp/${D##*/} # what commands make outside, where a box has files of its own; two tests may run at once
export OUT
mkdir -p "$D/home/.ssh" "$D/home/.aws" "$D/work"
HOME=$D/home
export HOME PATH
LEARN='' RUNS=2
TOTAL=0 PASSED=0 PROGRAMS=0 SKIPPED=0

# doors FILE: every path, program, variable, destination and policy that a line opens.
doors() {
        awk '$1 ~ /^(read|edit|write|run|env|sock|use)$/ { if ($2 == "none") next; for (i = 2; i <= NF && $i !~ /^(#.*|except|until)$/; i++) n++ }
             $1 ~ /^(net|in|out)$/ { n++ } END { print n + 0 }' "$1"
}
# fresh N: an empty working directory with input N.
fresh() { rm -rf "$D/work" && mkdir "$D/work" && cd "$D/work" && input "$1" && chmod -R a+rX "$D/work" || exit 1; }
# agrees COMMAND...: one run inside, and what it prints is something, and what it prints outside.
agrees() {
        "$c" run -q -p "$T/$name.cordon" -- "$@" >"$T/inside" 2>"$T/inside.err" </dev/null 9>&- || return 1
        "$@" >"$T/outside" 2>/dev/null </dev/null 9>&- && [ -s "$T/outside" ] && cmp -s "$T/inside" "$T/outside"
}
stock() {
        name=$1 tool=$2 hand=$3
        shift 3
        if ! command -v "$tool" >/dev/null; then
                SKIPPED=$((SKIPPED + 1))
                skip "learn $name" "$tool is not installed"
                return
        fi
        fresh 0
        printf '%s\n' "$hand" >"$T/hand"
        # shellcheck disable=SC2086
        if ! "$c" learn -n "$RUNS" $LEARN -o "$T/$name.cordon" -- "$@" >"$T/out" 2>"$T/err" </dev/null; then
                fail "learn $name" "$(cat "$T/err")"
                return
        fi
        PROGRAMS=$((PROGRAMS + 1))
        pass "learn $name: $(tail -n 1 "$T/err" | sed 's/cordon: //')"
        has "$name: each line tells how often it was seen" "$(cat "$T/$name.cordon")" "$(grep -qE '^(read|run|use|edit|net) ' "$T/$name.cordon" && echo "# seen $RUNS/$RUNS")"
        # W125: the test's own server speaks http
        is "$name: it loads without a lint" "$("$c" check "$T/$name.cordon" 2>&1 | grep ': W' | grep -vc "W125\|W133")" 0
        got=$(doors "$T/$name.cordon") want=$(doors "$T/hand")
        if [ $((got * 10)) -le $((want * 13)) ]; then pass "$name: $got doors, $want by hand"; else fail "$name: $got doors, $want by hand" "$(cat "$T/$name.cordon")"; fi
        passed=0 i=1
        while [ "$i" -le "$FRESH" ]; do
                fresh "$i"
                agrees "$@" && passed=$((passed + 1))
                i=$((i + 1))
        done
        TOTAL=$((TOTAL + FRESH)) PASSED=$((PASSED + passed))
        if [ $((passed * 100)) -ge $((FRESH * 95)) ]; then pass "$name: $passed of $FRESH fresh runs pass and print the same"; else fail "$name: $passed of $FRESH fresh runs pass" "$(cat "$T/$name.cordon")" "$(cat "$T/inside.err")"; fi
        # the hand-made one is a fair measure: it passes, and none of its doors can be closed
        fresh 0
        # shellcheck disable=SC2086
        is "$name: no door of the hand-made one is superfluous" "$("$c" policy tighten -p "$T/hand" -n 1 $LEARN --json -- "$@" 2>"$T/err" </dev/null | jq -c '[.passed, .doors == .doors_before]' || cat "$T/err")" "[true,true]"
}
beside() {
        job=$1
        shift
        (
                T=$T/$job D=$D/$job N=0 FAILED=0
                mkdir -p "$T" "$D"
                "$@"
                echo "# $PROGRAMS $PASSED $TOTAL $SKIPPED"
        ) >"$T/$job.tap" 2>&1 &
        eval "PID_$job=\$!"
}
merge() {
        eval "wait \$PID_$1"
        while read -r word number rest; do
                case $word in
                ok) rest=${rest#- } && case $rest in *"# SKIP"*) skip "${rest%% # SKIP*}" "${rest##*# SKIP }" ;; *) pass "$rest" ;; esac ;;
                not) fail "${rest#* - }" "$(cat "$T/$1.tap")" ;;
                esac
        done <"$T/$1.tap"
        # shellcheck disable=SC2046
        set -- $(sed -n 's/^# \([0-9]* [0-9]* [0-9]* [0-9]*\)$/\1/p' "$T/$1.tap")
        PROGRAMS=$((PROGRAMS + ${1:-0})) PASSED=$((PASSED + ${2:-0})) TOTAL=$((TOTAL + ${3:-0})) SKIPPED=$((SKIPPED + ${4:-0}))
}
lines() { awk -v n="$1" -v seed="$2" 'BEGIN { srand(seed); for (i = 0; i < n; i++) print "k" int(rand() * 9) "," int(rand() * 1000) }'; }

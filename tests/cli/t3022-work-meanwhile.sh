#!/bin/sh
# Somebody writes into the tree while an apply is under way: the apply is killed at each of its steps, the person writes, and
# the next command finishes it or takes it back. Whatever that does, what the person wrote last is there, under its name.
. "$(dirname "$0")/lib-work.sh"
cp "$BUILD/tests/hooked" "$T/hooked" && chmod 755 "$T/hooked" || { fail "the program with hooks is built"; done_testing; }
CORDON_LEDGER=off
export CORDON_LEDGER
who=root
D=$T/root
# round NAME BOX WRITE FILE: BOX's changes are applied and cut at each step, then WRITE happens; FILE must hold what it wrote
round() {
        step=0 lost='' landed=0 back=0 odd='' code=137
        while [ $code -eq 137 ] && [ $step -lt 200 ]; do
                step=$((step + 1))
                rm -rf "$D/p" && mkdir -p "$D/p/dir" && echo old >"$D/p/a" && echo gone >"$D/p/d" && echo other >"$D/p/z" && echo other >"$D/p/y"
                edit "$2"
                CORDON_WORK_STEP=$step "$T/hooked" apply --include-flagged "$run" >/dev/null 2>&1
                code=$?
                [ $code -eq 137 ] || break
                (cd "$D/p" && eval "$3")
                cordon diff --list >"$T/said" || odd="$odd $step:$(head -n 1 "$T/said")"
                [ "$(cat "$D/p/$4" 2>&1)" = mine ] || lost="$lost $step:$(cat "$D/p/$4" 2>&1)"
                case $(cat "$D/p/z") in
                new) landed=$((landed + 1)) ;;
                other) back=$((back + 1)) ;;
                *) odd="$odd $step:z" ;;
                esac
                cordon discard "$run" >/dev/null
        done
        is "$1: at none of $step steps what was written is lost" "$lost" ""
        is "$1: the next command can always go on" "$odd" ""
        ok "$1: it was taken back, or it landed as a whole" test "$back" -gt 2 -a $((back + landed)) -eq $((step - 1))
        ok "$1: it ends when nobody cuts it" test $code -eq 0 -a $step -gt 8
}
edits='echo box >a; echo new >z'
round "a file that is longer now" "$edits" 'echo mine >a' a
round "one whose time was put back" "$edits" 'touch -r a ../time; echo mine >a; touch -r ../time a' a
round "one of the same size" 'echo box >d; echo new >z' 'echo mine >d' d
round "another file under the name" "$edits" 'echo mine >a.new; mv a.new a' a
round "a file that the box removed" 'rm d; echo new >z' 'echo mine >d' d
round "a file that the box made, too" 'echo box >n; echo new >z' 'rm -f n; echo mine >n' n
round "the same, and it has to be taken back" 'echo box >n; echo box >y; echo new >z' 'rm -f n; echo mine >n; echo theirs >y' n
round "a file that the box made, written into, and it has to be taken back" 'echo box >n; echo box >y; echo new >z' 'echo mine >n; echo theirs >y' n
round "one that the box changed, written into, and it has to be taken back" 'echo box >a; echo box >y; echo new >z' 'echo mine >a; echo theirs >y' a
round "a file in a directory that the box made" 'mkdir m; echo box >m/n; echo new >z' 'mkdir -p m; echo mine >m/other' m/other
round "such a directory, and it has to be taken back" 'mkdir m; echo box >m/n; echo box >y; echo new >z' 'mkdir -p m; echo mine >m/other; echo theirs >y' m/other
is "nothing is left of the journals in the tree" "$(find "$D" -name '.cordon*')" ""
done_testing

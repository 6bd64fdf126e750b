#!/bin/sh
# Directories that a box removed and made again, or renamed into place: after an apply that holds entries back, the layer
# holds exactly those; the next box on it sees the host with them; nothing that landed, and nothing of the host's own, is
# deleted later; undo restores. Held against the same edits outside. REMADE_SEEDS sets how many (8).
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
cp "$here/helpers/remade.py" "$here/helpers/tree.py" "$T/" && chmod 644 "$T"/*.py
root() { "$@"; }
# Names of one file may land apart when one of them is held back.
tree() { python3 "$T/tree.py" "$1" | sed 's/ group -\{0,1\}[0-9]* of [0-9]*//'; }
box() { # DIR SEED [OPTION...]: edits in a box, and the same outside
        dir=$1 with=$2
        shift 2
        $who "$CORDON" run -q --no-stdin --use base/python3 --read "$T/remade.py" --read "$T/tree.py" --edit "$dir/in" --status-fd 3 "$@" \
                -- sh -c 'python3 "$1/tree.py" "$2" && python3 "$1/remade.py" edit "$2" "$3" 6' sh "$T" "$dir/in" "$with" \
                >said 3>status 2>err || fail "$who $seed: the box ran" "$(cat err)"
        tree "$dir/out" >seen.want
        sed 's/ group -\{0,1\}[0-9]* of [0-9]*//; /^[0-9]* error/d; s/ [0-9]*:[0-9]*\( \|$\)/\1/' said >seen
        sed 's/ [0-9]*:[0-9]*\( \|$\)/\1/' seen.want >seen.out
        ok "$who $seed: the box sees what it should" diff seen.out seen
        $who python3 "$T/remade.py" edit "$dir/out" "$with" 6 >/dev/null
}
host() { $who python3 "$T/remade.py" host "$1/in" "$2" 2 "$1/out"; }

for who in root as_user; do
        mkdir -p "$T/$who" && { [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown 65533:65533 "$T/$who"; }
        seed=${REMADE_FROM:-0}
        while [ "$seed" -lt $((${REMADE_FROM:-0} + ${REMADE_SEEDS:-8})) ]; do
                seed=$((seed + 1))
                D=$T/$who/$seed
                $who mkdir -p "$D/in"
                $who python3 remade.py make "$D/in" $seed 0
                $who cp -a "$D/in" "$D/out"
                box "$D" $seed
                run=$(jq -r '.work.layer // empty' status)
                [ -n "$run" ] || { skip "$who $seed: nothing changed" "by chance"; continue; }
                tree "$D/in" >before
                $who "$CORDON" apply --json "$run" >partly 2>err
                jq -c '[.entries[] | select(.held) | .path] | sort' partly >held
                state=$(jq -r .state partly)
                if [ "$state" != applied ]; then
                        $who "$CORDON" diff --json "$run" >left.json 2>err || fail "$who $seed: diff" "$(cat err)"
                        jq -c '[.entries[].path] | sort' left.json >left
                        ok "$who $seed: what was held back is left, and nothing else" diff held left
                fi
                case $((seed % 4)):$state in
                0:* | *:applied)
                        ;;
                1:*)
                        tree "$D/in" >partial
                        $who "$CORDON" undo "$run" 2>err || [ "$(jq .applied partly)" = 0 ] || fail "$who $seed: undo" "$(cat err)"
                        tree "$D/in" >got
                        ok "$who $seed: undo of a part restores" diff before got
                        ;;
                2:*)
                        box "$D" ${seed}again --on "$run"
                        ;;
                3:*)
                        host "$D" $seed
                        box "$D" ${seed}again --on "$run"
                        ;;
                esac
                $who "$CORDON" diff "$run" >/dev/null 2>err || [ "$state" = applied ] || fail "$who $seed: diff" "$(cat err)"
                [ "$state" = applied ] || $who "$CORDON" apply --include-flagged "$run" >out 2>err || grep -q "nothing to apply" err ||
                        grep -q 'no overlay' err || fail "$who $seed: all of it lands" "$(cat err)"
                tree "$D/in" >got
                tree "$D/out" >want
                ok "$who $seed: the tree is what the edits outside made" diff want got
                [ $((seed % 4)) -ne 3 ] || continue
                n=0
                while [ $n -lt 3 ] && $who "$CORDON" undo "$run" 2>err; do n=$((n + 1)); done
                tree "$D/in" >got
                ok "$who $seed: undone whole, it is as before" diff before got
        done
done
done_testing

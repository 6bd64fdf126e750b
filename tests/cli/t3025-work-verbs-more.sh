#!/bin/sh
# discard without a name or of the rest, and verbs whose messages nobody reads.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
answer() { said=$(cd "$D/p" && $who python3 "$here/helpers/answer_on_tty.py" "$1" "$CORDON" discard); }

for who in root as_user; do
        D=$T/$who
        fresh 'echo a >a'
        edit 'echo b >>a; echo n >new'
        is "$who: discard without a name is refused" "$(cd "$D/p" && status $who "$CORDON" discard)" 125
        has "$who: it says what to do" "$(cat "$T/err")" "cordon discard $(short "$run"), or --yes"
        has "$who: and lists the layers" "$(cat "$T/err")" "waiting"
        has "$who: the layer is there" "$(cordon diff --list)" "$(short "$run")"
        is "$who: also with --json, one value" "$(cd "$D/p" && $who "$CORDON" discard --json 2>/dev/null | jq -s 'length')" 1
        has "$who: the layer is still there" "$(cordon diff --list)" "$(short "$run")"
        answer n
        has "$who: on a terminal it asks" "$said" "discard the overlay $(short "$run")?"
        has "$who: no is no" "$(cordon diff --list)" "$(short "$run")"
        answer ''
        has "$who: no answer is no" "$(cordon diff --list)" "$(short "$run")"
        answer y
        hasnt "$who: yes is yes" "$(cordon diff --list)" "$(short "$run")"
        edit 'echo c >>a'
        (cd "$D/p" && cordon discard --yes >/dev/null)
        hasnt "$who: --yes does not ask" "$(cordon diff --list)" "$(short "$run")"

        # Of many the newest ten.
        for _ in 1 2 3 4 5 6 7 8 9 10 11; do
                edit 'echo c >>a'
        done
        (cd "$D/p" && status $who "$CORDON" discard >/dev/null)
        is "$who: at most ten are listed" "$(grep -c waiting "$T/err") $(tail -n 1 "$T/err")" '10 ... `cordon diff --list` shows all'
        # shellcheck disable=SC2046
        cordon discard $(cordon diff --list --json | jq -r '.[].run') >/dev/null

        # What was applied in part can be taken back after the rest was discarded.
        fresh 'echo a >a; echo b >b; mkdir d; echo c >d/c'
        edit 'echo 2 >>a; echo 2 >>b; echo 2 >>d/c; mkdir n; echo n >n/f'
        cordon apply "$run" d >/dev/null && cordon apply "$run" a n/f >/dev/null
        is "$who: the rest is discarded" "$(cd "$D/p" && cordon discard --yes)" \
                "cordon: discarded the rest of overlay $(short "$run"); revert the applied part: cordon undo $(short "$run")"
        is "$who: and does not wait any more" "$(cordon diff --name-only "$run")$(cordon diff --list --json | jq -c '[.[] | select(.run == "'"$run"'") | .state, .entries]')" '["applied",0]'
        is "$who: undo takes back one apply" "$(cd "$D/p" && cordon undo >/dev/null && cat a d/c && ls)" "a
c
2
a
b
d"
        is "$who: and the other" "$(cordon undo "$run" >/dev/null && cat "$D/p/d/c")" c
        is "$who: the whole layer waits again" "$(cordon diff --name-only "$run" | tr '\n' ' ')" "a b d/c n n/f "
        cordon apply "$run" a >/dev/null && cordon discard "$run" >/dev/null
        is "$who: a second discard removes it" "$(cordon discard "$run") $(cordon diff --list | grep -c "$(short "$run")")" "cordon: discarded overlay $(short "$run") 0"

        fresh 'echo a >a'
        # More messages than a pipe holds, and nobody reads them.
        edit 'mkdir -p .git/hooks; cd .git/hooks; i=0; while [ $i -lt 2000 ]; do : >hook-$i; i=$((i + 1)); done; cd ../..; echo c >>a'
        (cd "$D/p" && $who "$CORDON" apply "$run" 2>&1 | head -n 1 >/dev/null)
        is "$who: apply | head applies" "$(tr '\n' ' ' <"$D/p/a")" "a c "
        (cd "$D/p" && { $who "$CORDON" undo "$run" 2>&1; echo $? >"$T/ended"; } | true)
        is "$who: undo | true takes it back" "$(tr '\n' ' ' <"$D/p/a") $(cat "$T/ended")" "a  0"
done
done_testing

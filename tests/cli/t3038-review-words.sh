#!/bin/sh
# Words of diff and apply: a first word that is no layer but a changed path is a path; what a message says to type, works.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
here_() { (cd "$D/p" && cordon "$@"); }

for who in root as_user; do
        D="$T/$who"

        # A first word that is no layer.
        fresh 'mkdir src; echo 1 >src/a.py; echo r >README; echo o >other'
        edit 'echo 2 >>src/a.py; echo r2 >>README; echo n >h'
        is "$who: a changed file is a path" "$(here_ diff --name-only README)" README
        is "$who: so are several" "$(here_ diff --name-only src h | tr '\n' ' ')" "h src/a.py "
        is "$who: one by its whole path" "$(here_ diff --name-only "$D/p/h")" h
        here_ apply src/a.py >out
        has "$who: apply takes one" "$(cat out) $(tail -n 1 "$D/p/src/a.py") $(ls "$D/p" | tr '\n' ' ')" "applied 1 entry; revert: cordon undo $(short "$run") 2 README other src "
        is "$who: a path that is not changed is none" "$(here_ apply other)" "cordon: error: no overlay other
cordon: hint: \`cordon diff --list\` shows the overlays, \`cordon diff --name-only\` the changed paths"
        has "$who: before -- it is the layer" "$(here_ diff --name-only README -- h)" "no overlay README"
        cordon discard "$run" >/dev/null
        cordon discard "$run" >/dev/null
        $who "$CORDON" run -q --name both --no-stdin --edit "$D/p" --cwd "$D/p" --status-fd 3 -- sh -c ': >both; : >1-2-3' 3>status 2>err
        is "$who: a box of that name is the layer, and a note says so" "$(here_ diff --name-only both)" \
                "cordon: note: both means the overlay $(jq -r .work.layer status); for the path use -- both
1-2-3
both"
        is "$who: behind -- it is the path" "$(here_ diff --name-only -- both)" both
        has "$who: what looks like an id is no path" "$(here_ apply 1-2-3; ls "$D/p")" "no overlay 1-2-3"
        run=$(jq -r .work.layer status)
        cordon discard "$run" >/dev/null
done
done_testing

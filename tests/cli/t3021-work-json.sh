#!/bin/sh
# apply, undo and discard for programs: one object on standard output with a stable shape, whatever became of it, and the exit status
# of a person.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
fresh() { rm -rf "$D" && mkdir -p "$D/p/src" && echo a >"$D/p/a" && echo b >"$D/p/b" && mine; }
# json WANTED-STATUS VERB...: one object, which $T/json then has
json() {
        want=$1 && shift
        $who "$CORDON" "$@" >json 2>err
        is "$who: $* ends with $want" $? "$want"
        is "$who: and says one object, on one line" "$(jq -s length json) $(wc -l <json)" "1 1"
}
q() { jq -c "$1" json; }

for who in root as_user; do
        D="$T/$who"
        fresh
        edit 'echo 2 >a; rm b; echo n >src/new; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit; : >"src/$(printf "\\377\\033[31m")"'
        json 0 apply --json "$run"
        is "$who: which run, of which box, behind which doors" "$(q '[.version, .run, .box, .doors[0].host, .to, .error]')" "[1,\"$run\",\"box\",\"$D/p\",null,null]"
        is "$who: what became of it and what the layer is now" "$(q '[.end, .state, .applied, .held, .conflicts]')" '["applied","waiting",4,3,0]'
        is "$who: what was done to each" "$(q '[.entries[] | select(.applied) | [.path, .change[]]] | sort')" "$(python3 -c 'import json; print(json.dumps([["a", "changed"], ["b", "deleted"], ["src/new", "added"], ["src/�\x1b[31m", "added"]], separators=(",", ":"), ensure_ascii=False).replace("\\u001b", "\\u001b"))')"
        is "$who: a name that is no UTF-8 in hex, and no control byte" "$(q '[.entries[] | .path_hex // empty]'; grep -c "$(printf '\033')" json)" '["7372632fff1b5b33316d"]
0'
        is "$who: what was held back, and why" "$(q '[.entries[] | select(.held) | [.path, .applied, .held, .flags[0]]] | .[2]')" '[".git/hooks/pre-commit",false,"git executes it","git executes it"]'
        hasnt "$who: a person hears no lists then" "$(cat err)" "held back: ."
        $who "$CORDON" diff --json "$run" >shown
        is "$who: diff has the same names for them" "$(jq -c '[.entries[] | {door, path, change, flags}]' shown)" "$(q '[.entries[] | select(.held) | {door, path, change, flags}]')"
        json 1 apply --json "$run"
        is "$who: all of it held back" "$(q '[.end, .state, .applied, .held]')" '["held back","waiting",0,3]'
        echo later >"$D/p/a"
        json 1 undo --json "$run"
        is "$who: an undo that is refused" "$(q '[.end, .state, .undone, .conflicts, (.entries[] | select(.conflict) | [.path, .undone, .conflict])]')" '["refused","waiting",0,1,["a",false,"changed since"]]'
        echo 2 >"$D/p/a"
        json 0 undo --json "$run"
        is "$who: one that is done" "$(q '[.end, .state, .undone, ([.entries[] | select(.undone) | [.path, .change[]]] | sort | .[0:3][])]')" '["taken back","waiting",4,["a","changed"],["b","deleted"],["src/new","added"]]'
        json 125 undo --json "$run"
        is "$who: a second one fails" "$(q '[.end, .state, .run, .error.code, .error.what]')" "[\"failed\",\"waiting\",\"$run\",\"gone\",\"nothing of the overlay $run has been applied\"]"
        echo meanwhile >"$D/p/a"
        tree "$D/p" >before
        json 1 apply --json --include-flagged "$run"
        tree "$D/p" >now
        is "$who: an apply that is refused" "$(q '[.end, .state, .applied, .conflicts, ([.entries[] | select(.applied)] | length), (.entries[] | select(.conflict) | [.path, .conflict])]')" '["refused","waiting",0,1,0,["a","changed since"]]'
        ok "$who: changed nothing" cmp before now
        rm "$D/p/a" && echo a >"$D/p/a" && mine
        json 0 apply --json --include-flagged "$run" b
        is "$who: of a named path only that is told" "$(q '[.entries[].path]')" '["b"]'
        json 0 apply --json --include-flagged "$run"
        is "$who: the rest, and then nothing waits" "$(q '[.end, .state, .held]')" '["applied","applied",0]'
        json 125 apply --json "$run"
        is "$who: again is an error, as an object" "$(q '[.end, .state, .error.code, (.error.hint | contains("undo"))]')" '["failed","applied","usage",true]'
        mkdir "$D/to" && echo a >"$D/to/a" && echo b >"$D/to/b" && mkdir "$D/to/src" && mine
        $who "$CORDON" undo "$run" 2>/dev/null && $who "$CORDON" undo "$run" 2>/dev/null
        json 0 apply --json --to "$D/to" "$run" a
        is "$who: --to says where" "$(q '[.to, .state]')" "[\"$D/to\",\"waiting\"]"
        json 125 apply --json nonesuch
        is "$who: no such layer" "$(q '[.run, .doors, .entries, .end, .state, .error.code]')" '[null,[],[],"failed",null,"gone"]'
        json 125 apply --json "$run" nothing-there
        is "$who: no such path" "$(q '[.run, .end, .entries]')" "[\"$run\",\"failed\",[]]"
        is "$who: not with a patch" "$($who "$CORDON" apply --json --as-patch - "$run" >/dev/null 2>&1; echo $?)" 125
        other=$(copied "$run")
        json 125 discard --json "$run" nonesuch "$other"
        is "$who: discard tells of each" "$(q '[.version, (.layers[] | [.run, .end, .state, .error.code])]')" "[1,[\"$run\",\"discarded\",\"applied\",null],[null,\"failed\",null,\"gone\"],[\"$other\",\"discarded\",\"gone\",null]]"
        json 125 discard --json
        is "$who: and without a word, of the newest" "$(q '[.layers[].end]')" '["failed"]'
        # A ledger that cannot be written: nothing is applied, and the object says so.
        fresh
        edit 'echo 2 >a'
        state=$(state_of $who)
        mv "$state/ledger" "$state/kept" && : >"$state/ledger" && { [ "$(id -u)" -ne 0 ] || chown --reference="$state/kept" "$state/ledger"; }
        json 125 apply --json "$run"
        is "$who: what fails before the first change leaves all as it was" "$(q '[.end, .state, .applied, ([.entries[] | .applied]), (.error.hint | contains("nothing was applied"))]'; cat "$D/p/a")" '["failed","waiting",0,[false],true]
a'
        rm "$state/ledger" && mv "$state/kept" "$state/ledger"
        $who "$CORDON" discard "$run" 2>/dev/null
done
done_testing

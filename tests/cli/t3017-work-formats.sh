#!/bin/sh
# Layers and journals as earlier versions wrote them (tests/golden/layer-*) are read, finished, taken back and undone by this one;
# what a later version wrote is refused with a sentence where it may mean something else, and kept where it is only more.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
golden=$CORDON_SOURCE/tests/golden
who=root D=$T/d run=4711-1a2b3c-effffffc00000001
if [ "$(id -u)" -ne 0 ]; then
        skip "layers of earlier versions" "needs root: the mark of a removed name is a device"
        done_testing
fi
layer=$CORDON_STATE/work/$run
# old FIXTURE STAGE: the layer anew, on a tree of its own
old() {
        rm -rf "$D" "$CORDON_STATE/work" && mkdir -p "$D" && mkdir -p "$layer" && chmod 700 "$CORDON_STATE" "$CORDON_STATE/work" "$layer" &&
                python3 "$here/helpers/golden.py" "$golden/$1" "$D/p" "$layer" "$2" && chmod 700 "$layer/door-0" && { [ ! -d "$layer/apply-1" ] || chmod 700 "$layer/apply-1"; }
}
now() { (cd "$D/p" && find . -type f | sort | while read -r f; do echo "$f:$(cat "$f")"; done | tr '\n' ' '; stat -c d:%a d); }
before='./a:one ./b:two ./d/x:x ./same:same d:755' after='./a:ONE ./d/x:x ./n:n ./same:same d:700'

for v in layer-0 layer-1; do
        old $v sealed
        is "$v: diff" "$(cordon diff --json "$run" | jq -r '.entries[] | "\(.path) \(.change | join(","))"' | tr '\n' ' ')" "a changed b deleted d mode n added "
        is "$v: nothing is in the way" "$(cordon diff --json "$run" | jq -r '[.entries[].conflict] | map(select(.)) | length')" 0
        has "$v: the list" "$(cordon diff --list)" "$(short $run)       waiting"
        cordon apply "$run" >out || fail "$v: apply" "$(cat out)"
        is "$v: apply" "$(now)" "$after"
        cordon undo "$run" >out || fail "$v: undo" "$(cat out)"
        is "$v: undo" "$(now)" "$before"
        copy=$(copied "$run")
        cordon apply "$copy" >out || fail "$v: apply of a copy" "$(cat out)"
        is "$v: a copy of it lands" "$(now)" "$after"
        old $v sealed && echo other >"$D/p/a"
        has "$v: what the host changed since is in the way" "$(cordon apply "$run")" "conflict: a: changed since"
        old $v sealed
        $who "$CORDON" run -q --no-stdin --on "$run" --edit "$D/p" --cwd "$D/p" -- sh -c 'cat a; echo more >>n' >out 2>&1
        is "$v: a run goes on in it" "$(cat out) $(cordon apply "$run" >/dev/null; now)" "ONE ./a:ONE ./d/x:x ./n:n more ./same:same d:700"

        # --- an apply of an earlier version that did not come to its end ---
        for stage in planned staged back; do
                old $v $stage
                cordon diff --name-only "$run" | grep -v "was interrupted; it is taken back now" >out
                is "$v, $stage: the next command takes it back" "$(now)" "$before"
                is "$v, $stage: and the layer is whole" "$(tr '\n' ' ' <out)" "a b d n "
                cordon apply "$run" >out || cat out
                is "$v, $stage: and lands" "$(now)" "$after"
        done
        for stage in committed halfway all; do
                old $v $stage
                cordon diff --list >out
                is "$v, $stage: the next command finishes it" "$(now)" "$after"
                cordon undo "$run" >out || fail "$v, $stage: undo" "$(cat out)"
                is "$v, $stage: and it can be undone" "$(now)" "$before"
        done
        old $v "done"
        has "$v: one that has landed is known as applied" "$(cordon diff --list)" "$(short $run)       applied"
        cordon undo "$run" >out || fail "$v: undo of an earlier apply" "$(cat out)"
        is "$v: and can be undone" "$(now)" "$before"
        old $v "done" && echo later >"$D/p/a"
        has "$v: but not over what somebody did since" "$(cordon undo "$run")" "conflict: a: changed since"
done

# --- what a later version wrote ---
sums() { (cd "$CORDON_STATE/work" && find . -type f | sort | xargs sha256sum); }
old layer-1 sealed && sed -i 's/^version=1/version=4/' "$layer/meta" && sums >want
for verb in diff apply undo discard; do
        has "$verb refuses a layer of a later format" "$(cordon $verb "$run")" "the overlay $run was written by a later cordon: its format is 4, and this one reads up to 3"
done
has "so does a run on it" "$(cordon run -q --no-stdin --on "$run" --edit "$D/p" -- true)" "was written by a later cordon"
has "the list shows it" "$(cordon diff --list)" "$(short $run)       later"
sums >got
ok "nothing of it was touched" cmp want got
is "nor of the tree" "$(now)" "$before"
old layer-1 planned && printf 'stir 1 2 3\0' >>"$layer/apply-1/journal" && sums >want
has "a journal with a step that is not known is refused" "$(cordon apply "$run")" "the journal apply-1 of the overlay $run cannot be read"
sums >got
ok "and nothing of it was touched" cmp want got
old layer-1 committed && sed -i 's/\x00op M/\x00op Z/' "$layer/apply-1/journal"
has "so is one with another kind of step" "$(cordon apply "$run")" "cannot be read"
is "the tree is as it was" "$(now)" "$before"
for kind in '' MM 'P2'; do
        old layer-1 committed && sed -i "s/\\x00op M/\\x00op $kind/" "$layer/apply-1/journal"
        has "so is one with the kind '$kind'" "$(cordon apply "$run")" "cannot be read"
        is "and the tree is as it was" "$(now)" "$before"
done
old layer-1 sealed && sed -i 's/\x00state=/\x00colour=blue\x00state=/' "$layer/meta" && printf 'shade=dark\0' >>"$layer/meta"
cordon apply "$run" >out || fail "fields that are not known: apply" "$(cat out)"
is "a layer with fields that are not known lands" "$(now)" "$after"
is "and they are kept" "$(tr '\0' '\n' <"$layer/meta" | grep -x -e state=applied -e colour=blue -e shade=dark | sort | tr '\n' ' ')" "colour=blue shade=dark state=applied "
cordon undo "$run" >out
copy=$(copied "$run")
is "a copy has them, too" "$(tr '\0' '\n' <"$CORDON_STATE/work/$copy/meta" | grep -c -x -e colour=blue -e shade=dark)" 2
old layer-1 committed && sed -i 's/$/ 7 more/' "$layer/apply-1/commit"
cordon diff --list >out
is "numbers more in a line of a journal's commit are left alone" "$(now)" "$after"
done_testing

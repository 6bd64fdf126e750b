#!/bin/sh
# What a second pair of eyes found in the workspace: repositories of any name, links inside the tree, modes after a kill, hard
# links over filesystems, marks of overlayfs in the tree below, closed tops.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
trap 'code=$?; umount -l "$T/other" 2>/dev/null; chmod -R u+rwX "$T" 2>/dev/null; rm -rf "$T"; exit $code' EXIT
trap 'exit 130' INT TERM
# fresh SETUP: $D/p made anew
fresh() {
        chmod -R u+rwX "$D" 2>/dev/null
        rm -rf "$D" && mkdir -p "$D/p" && (cd "$D/p" && eval "$1") && mine
}
flags_of() { cordon diff --json "$run" | jq -r --arg p "$1" '.entries[] | select(.path == $p) | .flags | join(", ")'; }

# A directory of any name is a repository to git, which then obeys its config: whoever stands in it and asks for the status runs it.
who=root D=$T/repository
fresh 'mkdir docs half; echo "ref: refs/heads/main" >half/HEAD; mkdir half/objects'
edit 'mkdir -p docs/x/objects docs/x/refs; echo "ref: refs/heads/main" >docs/x/HEAD; printf "[core]\n\tfsmonitor = touch /tmp/x\n" >docs/x/config; mkdir plain; echo c >plain/config; mkdir half/refs; echo ../docs/x >docs/commondir; mkdir .git; echo r >.git/HEAD; echo g >.gith'
for path in docs/x/HEAD docs/x/config docs/x/objects docs/x/refs half/refs; do
        is "$path makes a repository" "$(flags_of $path)" "inside a git directory"
done
for path in plain/config docs/commondir .git/HEAD; do
        is "$path makes none, or is known" "$(flags_of $path)" ""
done
cordon apply "$run" >out
has "an apply holds its config back" "$(cat out)" "held back: docs/x/config: inside a git directory"
ok "and it is not there" test ! -e "$D/p/docs/x/config"

# The place of an `except` is made in the layer, also where the directory that it lies in is closed to its own owner, and is closed
# for the box, too; at the start of a layer and when a run goes on in it.
who=as_user D=$T/closed
for mode in 555 500; do
        fresh 'mkdir sub shut; echo a >sub/a; chmod 555 shut; chmod '"$mode"' .'
        printf 'use base/system\nedit %s except guard shut/x/y\n' "$D/p" >p.policy
        printf 'use base/system\nedit %s except guard sub/g2 shut/x/z\n' "$D/p" >more.policy
        $who "$CORDON" run -q --keep --no-stdin -p p.policy --cwd "$D/p" --status-fd 3 -- sh -c 'echo n >sub/n; stat -c %a . shut; touch guard/x shut/x/y shut/n' 3>status >out 2>err
        run=$(jq -r '.work.layer // ""' status)
        is "top $mode: the box finds its directories as closed as they are" "$(tr '\n' ' ' <out)" "$mode 555 "
        $who "$CORDON" run -q --no-stdin -p more.policy --on "$run" --cwd "$D/p" -- sh -c 'echo m >sub/m; stat -c %a . shut; ls sub' >out 2>err
        is "top $mode: and a run that goes on, too" "$(tr '\n' ' ' <out)" "$mode 555 a g2 m n "
        is "top $mode: no place of an except is a change" "$(cordon diff --name-only "$run" | tr '\n' ' ')" "sub/m sub/n "
        cordon apply "$run" >out || fail "top $mode: apply" "$(cat out)"
        is "top $mode: what the box made lands" "$(cat "$D/p/sub/n" "$D/p/sub/m" | tr '\n' ' ')" "n m "
        is "top $mode: nothing else is changed" "$(stat -c %a "$D/p" "$D/p/shut" | tr '\n' ' ')$(ls "$D/p" "$D/p/shut" | tr '\n' ' ')" "$mode 555 $D/p: shut sub  $D/p/shut: "
done
done_testing

#!/bin/sh
# Trees that are made to confuse whoever reads them: patches of names that look like patches, marks of overlayfs that an earlier
# box left in the tree itself, layers that are in use.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
cp "$here/helpers/odd_names.py" "$T/odd.py" && chmod 644 "$T/odd.py"
inert() { sed 's/ [0-9]*:[0-9]* / X /'; }

for who in root as_user; do
        D=$T/$who
        # --- what git makes of the patch is what apply makes of the layer ---
        mkdir -p "$D/p" && (cd "$D/p" && python3 "$T/odd.py" make) && mine && cp -a "$D/p" "$D/git"
        $who "$CORDON" run -q --no-stdin --edit "$D/p" --cwd "$D/p" --read "$T/odd.py" --status-fd 3 -- python3 "$T/odd.py" change 3>status
        run=$(jq -r .work.layer status)
        $who "$CORDON" apply --include-flagged --as-patch - "$run" >odd.patch 2>err
        is "$who: odd names: the patch is written" "$(cat err)" ""
        is "$who: odd names: no byte of it is for a terminal" "$(tr -d '\n\t\r\040-\176\200-\377' <odd.patch | wc -c)" 0
        (cd "$D/git" && git init -q . && git -c safe.directory='*' apply --whitespace=nowarn "$T/odd.patch"; rm -rf .git) >gitlog 2>&1
        is "$who: odd names: git takes it" "$(cat gitlog)" ""
        cordon diff --json "$run" >json
        is "$who: odd names: --json has them as bytes" "$(jq -r '[.entries[] | select(.path_hex) | .path_hex] | sort | join(" ")' json)" "fffe626164 fffe6261642e6e6577"
        hasnt "$who: odd names: and no escape of a terminal" "$(cordon diff --no-pager "$run"; cordon diff --stat "$run"; cordon diff --name-only "$run"; cat json)" "$(printf '\033')"
        cordon apply --include-flagged "$run" >out || fail "$who: odd names: apply" "$(cat out)"
        tree "$D/p" | inert | grep -v "bin' " >now && tree "$D/git" | inert | grep -v "bin' " >want
        ok "$who: odd names: both make the same, but for binary files" diff want now
        cordon undo "$run" >out && (cd "$D" && rm -rf git && mkdir git && cd git && python3 "$T/odd.py" make)
        tree "$D/p" | inert >now && tree "$D/git" | inert >want
        ok "$who: odd names: undo restores all" diff want now
        cordon discard "$run" >/dev/null

        # --- marks that a box left in the host's tree, through a write door, for the next one with an edit door ---
        rm -rf "$D" && mkdir -p "$D/p/d" "$D/p/e" "$D/out" && echo canary >"$D/out/s" && echo l >"$D/p/d/l" && echo e >"$D/p/e/e" && mine
        marked=$($who "$CORDON" run -q --no-stdin --write "$D/p" --cwd "$D/p" -- python3 -c 'import os
def mark(f, n, v):
    try: os.setxattr(f, "user.overlay." + n, v); print("set")
    except OSError: pass
open("d/w", "w").close(); mark("d/w", "whiteout", b""); open("w", "w").close(); mark("w", "whiteout", b""); mark("d", "opaque", b"x"); mark(".", "opaque", b"x")
mark("e", "redirect", b"/../out"); mark("e", "opaque", b"y"); mark("d/l", "redirect", b"/../out/s"); mark("d/l", "metacopy", b"")' | grep -c set)
        if [ "$marked" -gt 0 ]; then
                out=$(cordon run -q --no-stdin --edit "$D/p" -- true; echo $?)
                has "$who: a mark by which the kernel hides files keeps the box from starting" "$out" "$D/p has an attribute by which files in it would be hidden from the box"
                is "$who: and leaves no layer" "${out##*
} $(cordon diff --list)" "125 "
                python3 -c 'import os, sys; os.removexattr(sys.argv[1], "user.overlay.opaque")' "$D/p"
                edit 'test -e w || echo made >w; rm -rf d; echo fine >fine'
                tree "$D/p" >before
                if [ -e "$D/p/w" ] && cordon diff --json "$run" | jq -e '.entries[] | select(.path == "w")' >/dev/null; then
                        has "$who: what a mark hid from a box is not replaced" "$(cordon apply "$run")" "conflict: w: a mark of overlayfs on it hid it from the box"
                        tree "$D/p" >now
                        ok "$who: nor is anything else, unless it is named" cmp before now
                        cordon apply "$run" fine >/dev/null
                        is "$who: and then it lands" "$(cat "$D/p/fine"; stat -c %s "$D/p/w")" "fine
0"
                        rm "$D/p/fine"
                else
                        skip "$who: what a mark hid from a box is not replaced" "this kernel knows no such mark"
                fi
                cordon discard "$run" >/dev/null
                edit 'cat d/l e/* ../out/s out/s d/../../out/s 2>/dev/null; ls e; echo more >>d/l; rm -r e; mkdir e; echo n >e/n' >seen
                hasnt "$who: marks in the tree below lead a box nowhere" "$(cat seen)" canary
                has "$who: what they stand on is still itself" "$(cat seen)" e
                cordon apply --include-flagged "$run" >out || fail "$who: marks below: apply" "$(cat out)"
                is "$who: and what the box did there lands" "$(cat "$D/p/e/"*) $(cat "$D/out/s")" "n canary"
                cordon discard "$run" >/dev/null
        else
                skip "$who: marks in the tree below lead a box nowhere" "this filesystem has no user attributes"
        fi

        # --- a layer in use ---
        rm -rf "$D" && mkdir -p "$D/p" && echo a >"$D/p/a" && mine && rm -f go && mkfifo -m 666 go && : >err
        $who "$CORDON" run -q --edit "$D/p" --cwd "$D/p" --status-fd 3 -- sh -c 'echo box >a; read -r line' 3>status 2>err <go &
        exec 8>go
        used() { cordon diff --list | grep -q running; }
        soon used
        run=$(cordon diff --list --json | jq -r '.[] | select(.state == "running") | .run')
        shows() { cordon diff "$run" 2>&1 | grep -q "changes so far"; }
        ok "$who: diff of a layer in use" soon shows
        for verb in apply undo discard "run -q --no-stdin --edit $D/p --copy --on" "run -q --no-stdin --edit $D/p --on"; do
                # shellcheck disable=SC2086
                set -- $verb
                words="$* $run"
                [ "$1" != run ] || words="$words -- true"
                # shellcheck disable=SC2086
                has "$who: $1 of a layer in use" "$(cordon $words)" "the overlay $run is in use"
        done
        exec 8>&-
        wait
        is "$who: and nothing happened to it" "$(cat "$D/p/a") $(cordon diff --name-only "$run")" "a a"
        cordon discard "$run" >/dev/null
done
done_testing

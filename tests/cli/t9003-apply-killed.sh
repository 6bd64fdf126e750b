#!/bin/sh
# An apply and an undo killed at every one of their steps: the next command leaves the tree as before or as after, never in
# between. A build with hooks ends itself at a numbered step. Then the same with the power cut: what the disk held at that
# moment is mounted, without what was still in memory.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
# Filesystems of this test go with it, also when it is stopped.
trap 'code=$?; umount -l "$T/m1" "$T/tmpfs" 2>/dev/null; remove "$T"; exit $code' EXIT
trap 'exit 130' INT TERM
cd "$here/../.." || exit 1
cp "$BUILD/tests/hooked" "$T/hooked" && chmod 755 "$T/hooked" || { fail "the program with hooks is built"; done_testing; }
is "the program that is released has no such hook" "$(grep -c CORDON_WORK_STEP "$CORDON")" 0
cd "$T" || exit 1
# With root's eyes for our own files, also for those that are closed to their owner.
seeing() { if [ "$(id -u)" -eq 0 ]; then "$@"; else unshare --user --map-root-user "$@"; fi; }
tree() { seeing python3 "$here/helpers/tree.py" "$1"; }
# fill DIR: a tree, and below it what a box does to it
fill() {
        mkdir -p "$1/gone/deep" "$1/kept" "$1/swap" "$1/mode"
        echo a >"$1/a" && echo b >"$1/gone/deep/b" && echo c >"$1/swap/c" && echo d >"$1/d" && ln -s a "$1/link" && echo m >"$1/m" && echo k >"$1/kept/k"
}
edits='echo A2 >a; rm -r gone; rm -r swap; echo now a file >swap; rm d; mkdir -p d/in; echo x >d/in/x; ln -sf b link; chmod 600 m; chmod 700 mode; mkdir new; echo n >new/n; ln new/n new/n2; ln kept/k new/k; ln kept/k kept/k2; echo o >kept/o; chmod 555 new'
# round NAME DIR VERB: kills at each step; $T/before and $T/after are the only trees allowed
round() {
        step=0 wrong=0 landed=0
        while :; do
                step=$((step + 1))
                CORDON_WORK_STEP=$step $who "$T/hooked" $3 >/dev/null 2>&1
                code=$?
                $who "$CORDON" diff --list >/dev/null 2>"$T/err" || { wrong=$((wrong + 1)); cat "$T/err" >>"$T/wrong"; }
                tree "$2" >"$T/now"
                if cmp -s "$T/now" "$T/$after"; then
                        landed=$((landed + 1))
                        $who "$CORDON" $4 >/dev/null 2>"$T/err" || { wrong=$((wrong + 1)); cat "$T/err" >>"$T/wrong"; }
                elif ! cmp -s "$T/now" "$T/$before"; then
                        wrong=$((wrong + 1))
                        { echo "step $step:"; diff "$T/$before" "$T/now"; } >>"$T/wrong"
                        break
                elif [ $landed -gt 0 ]; then # from one step on it is bound to be finished
                        wrong=$((wrong + 1))
                        echo "step $step: taken back" >>"$T/wrong"
                fi
                [ $code -eq 137 ] && [ $step -lt 2000 ] || break
        done
        is "$1: $step steps, each left the tree as before or as after" "$wrong $(cat "$T/wrong" 2>/dev/null)" "0 "
        ok "$1: the last one landed, and some before it" test "$landed" -gt 1
        ok "$1: there were many steps" test "$step" -gt 30
        is "$1: no debris in the tree" "$(seeing find "$2" -name '.cordon*')" ""
}
root() { "$@"; }
# scene DIR: makes $run, $T/before and $T/after
scene() {
        $who "$CORDON" run -q --no-stdin --edit "$1" --cwd "$1" --status-fd 3 -- sh -c "$edits" 3>status 2>err || cat err
        run=$(jq -r .work.layer status)
        tree "$1" >before
        $who "$CORDON" apply --include-flagged "$run" 2>/dev/null
        tree "$1" >after
        ok "$who: the apply changes something" test "$(diff before after | wc -l)" -gt 10
}
for who in root as_user; do
        D="$T/$who"
        mkdir -p "$D" && fill "$D"
        [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown -R 65533:65533 "$D"
        scene "$D"
        before=after after=before round "$who: undo" "$D" "undo $run" "apply --include-flagged $run"
        $who "$CORDON" undo "$run" 2>/dev/null
        before=before after=after round "$who: apply" "$D" "apply --include-flagged $run" "undo $run"
        # Whoever finished it, or took it back, told the ledger.
        log() { $who "$CORDON" ledger --json --run "$run" "$@"; }
        ok "$who: there were many intents" test "$(log --kind intent | wc -l)" -gt 30
        is "$who: and none of them stays without an outcome" "$(log --kind unknown)" ""
        ok "$who: some were taken back" test "$(log --kind outcome | jq -r 'select(.result == "taken back") | .id' | wc -l)" -gt 5
        ok "$who: some landed, with what lay there before" test "$(log --kind outcome | jq -r 'select(.result == "applied" and .more.before) | .id' | wc -l)" -gt 5
        ok "$who: an undo that was killed is a person's act all the same" test "$(log --kind human | wc -l)" -gt 5
        has "$who: and all of it holds" "$($who "$CORDON" ledger verify 2>&1)" "nothing that is sealed was changed, removed"
done

# Directories that the box closed to their own owner: to go on behind them, the next command opens and closes them again.
who=as_user D="$T/shut"
mkdir -p "$D/old/in" "$D/gone/in" && echo o >"$D/old/in/o" && echo g >"$D/gone/in/g" && chmod 755 "$D" && { [ "$(id -u)" -ne 0 ] || chown -R 65533:65533 "$D"; }
open_edits=$edits
edits='mkdir -p new/in/deep; echo n >new/in/n; echo m >new/m; echo x >new/in/deep/x; echo more >>old/in/o; mkdir old/added; rm -r gone; mkdir -p gone; echo b >gone/b; mkdir +first; echo f >+first/f
        chmod 0 +first; chmod 0 new/in/deep new/in new; chmod 300 old/in; chmod 100 old; chmod 500 gone; chmod 0 .'
scene "$D"
is "closed directories: the modes are those that the box gave" "$(seeing find "$D" -type d -printf '%P:%m ' | tr ' ' '\n' | LC_ALL=C sort | tr '\n' ' ')" "+first:0 :0 gone:500 new/in/deep:0 new/in:0 new:0 old/added:755 old/in:300 old:100 "
before=after after=before round "closed directories: undo" "$D" "undo $run" "apply --include-flagged $run"
$who "$CORDON" undo "$run" 2>/dev/null
before=before after=after round "closed directories: apply" "$D" "apply --include-flagged $run" "undo $run"
# The same when they are looked into for the first time, at the end of the run: the mode that the box gave them is not lost.
$who "$CORDON" undo "$run" 2>/dev/null
step=0 wrong='' code=137
while [ $code -eq 137 ] && [ $step -lt 100 ]; do
        step=$((step + 1))
        CORDON_WORK_STEP=$step $who "$T/hooked" run -q --no-stdin --edit "$D" --cwd "$D" --ledger off -- sh -c "$edits" 2>err
        code=$?
        CORDON_WORK_STEP=$(((step + 1) / 2)) $who "$T/hooked" diff --list >/dev/null 2>&1
        run=$(cd "$D" && $who "$CORDON" diff --json | jq -r .run)
        $who "$CORDON" apply --include-flagged --ledger off "$run" >err 2>&1 || wrong="$wrong step $step: $(cat err)"
        tree "$D" >now
        cmp -s after now || wrong="$wrong step $step: $(diff after now)"
        $who "$CORDON" undo "$run" >/dev/null 2>&1 && $who "$CORDON" discard "$run" 2>/dev/null
done
is "closed directories: the end of a run, killed at each of $step steps, loses no mode" "$wrong" ""
ok "closed directories: there were steps" test "$step" -gt 10
edits=$open_edits

# The state directory on another filesystem: slots lie in the tree for the time of the apply.
who=root
if [ "$(id -u)" -eq 0 ] && mkdir -p "$T/tmpfs" && mount -t tmpfs -o mode=700 none "$T/tmpfs" 2>/dev/null; then
        CORDON_STATE=$T/tmpfs/state
        D="$T/elsewhere"
        mkdir -p "$D" && fill "$D"
        scene "$D"
        $who "$CORDON" undo "$run" 2>/dev/null
        before=before after=after round "another filesystem: apply" "$D" "apply --include-flagged $run" "undo $run"
        umount -l "$T/tmpfs" # the ledger's sealer may still look at it
        CORDON_STATE=$T/state
else
        skip "another filesystem" "needs root, to mount one"
fi

# A filesystem without the flags of renameat2, as NFS and 9p, made by a filter: each rename is several steps, and each has its kill.
compile deny
case $(uname -m) in aarch64) renameat2=276 ;; *) renameat2=316 ;; esac
plain() { "$T/deny" "$renameat2=4:3:22" -- "$@"; }
who=plain D="$T/plain"
mkdir -p "$D" && fill "$D"
scene "$D"
has "without renameat2's flags: all of it is there" "$(cat "$D/a" "$D/swap" "$D/d/in/x")" "A2
now a file
x"
before=after after=before round "without renameat2's flags: undo" "$D" "undo $run" "apply --include-flagged $run"
plain "$CORDON" undo "$run" 2>/dev/null
before=before after=after round "without renameat2's flags: apply" "$D" "apply --include-flagged $run" "undo $run"
is "without renameat2's flags: nothing is left beside it" "$(find "$D" "$T/state/work" -name '*.aside' -o -name '*.cordon-*')" ""

# An apply that was killed, and whose directory is gone: stuck, until a person gives it up.
D="$T/moved" who=root
mkdir -p "$D" && fill "$D"
scene "$D"
"$CORDON" undo "$run" 2>/dev/null
CORDON_WORK_STEP=20 "$T/hooked" apply --include-flagged "$run" >/dev/null 2>&1
mv "$D" "$D.away"
has "an apply whose directory is gone is stuck" "$("$CORDON" diff --list | grep "$(short "$run")")" stuck
has "the message offers the way out" "$("$CORDON" apply "$run" 2>&1)" "cordon discard $run"
has "which is a state of its own" "$("$CORDON" discard --json "$run")" '"state":"kept"'
hasnt "the list has it no more" "$("$CORDON" diff --list 2>&1)" "$run"
ok "what was replaced is kept" test -f "$T/state/work/.kept-$run/apply-1/journal"

# Power cut: the image of the disk as it is at the moment of the kill, mounted again.
if [ "$(id -u)" -eq 0 ] && command -v mkfs.ext4 >/dev/null && truncate -s 24M disk && mkfs.ext4 -q -F disk && mkdir -p m1 m2 &&
        mount -o loop disk m1 2>/dev/null; then
        CORDON_STATE=$T/m1/state
        CORDON_LEDGER=off # its sealer would keep the filesystem busy
        export CORDON_LEDGER
        mkdir m1/p && fill "$T/m1/p"
        scene "$T/m1/p"
        $who "$CORDON" undo "$run" 2>/dev/null
        sync
        step=0 wrong=0 landed=0 code=137
        while [ $code -eq 137 ] && [ $step -lt 400 ]; do
                step=$((step + 1))
                CORDON_WORK_STEP=$step "$T/hooked" apply --include-flagged "$run" >/dev/null 2>cut.err
                code=$?
                # One moment of the disk: a copy during which the kernel wrote is none. A new file each time: a loop device
                # may still hold blocks of the old one.
                rm -f disk2
                until cp --sparse=always disk disk2 && cmp -s disk disk2; do :; done
                "$CORDON" diff --list >/dev/null 2>&1
                tree m1/p >now
                cmp -s now after && "$CORDON" undo "$run" 2>/dev/null
                sync -f m1
                # After the cut the door's path must be the one that the journal names.
                umount m1 && mount -o loop disk2 m1 || { wrong=$((wrong + 1)); break; }
                "$CORDON" diff --list >/dev/null 2>err || { wrong=$((wrong + 1)); cat err >>wrong.cut; }
                tree m1/p >now
                if cmp -s now after; then landed=$((landed + 1)); elif ! cmp -s now before; then
                        wrong=$((wrong + 1))
                        { echo "step $step"; diff before now; dmesg 2>/dev/null | grep EXT4-fs.error | tail -n 2; } >>wrong.cut 2>&1
                fi
                umount m1 && mount -o loop disk m1 || { wrong=$((wrong + 1)); break; }
        done
        umount m1
        [ $code -eq 0 ] || { wrong=$((wrong + 1)); cat cut.err >>wrong.cut; }
        is "power cut: $step steps, each disk came back as before or as after" "$wrong $(cat wrong.cut 2>/dev/null)" "0 "
        ok "power cut: some of them landed" test "$landed" -gt 0
else
        skip "power cut" "needs root, mkfs.ext4 and loop devices"
fi
done_testing

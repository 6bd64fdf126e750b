#!/bin/sh
# What a second pair of eyes found in the workspace: repositories of any name, links inside the tree, modes after a kill, hard
# links over filesystems, marks of overlayfs in the tree below, closed tops.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
trap 'code=$?; umount -l "$T/other" 2>/dev/null; chmod -R u+rwX "$T" 2>/dev/null; rm -rf "$T"; exit $code' EXIT
trap 'exit 130' INT TERM
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

# Whoever is killed while a file is looked at, scrubbed or stamped against its own mode leaves no other mode behind: neither in the
# layer nor in the tree. At every step of a diff, an apply and an undo.
cp "$BUILD/tests/hooked" "$T/hooked" && chmod 755 "$T/hooked" || fail "the program with hooks is built"
D=$T/modes
fresh 'echo o >old; echo s >single; chmod 640 old'
$who "$CORDON" run -q --no-stdin --edit "$D/p" --cwd "$D/p" --status-fd 3 -- sh -c 'echo z >zero; chmod 0 zero; echo w >wo; chmod 200 wo; echo r >ro; chmod 444 ro; echo n >>old; chmod 400 old; mkdir d; echo x >d/x; chmod 100 d/x; chmod 500 d' 3>status 2>err
run=$(jq -r '.work.layer // ""' status)
cordon diff --json "$run" >whole
tree "$D/p" >before
is "modes of files that nobody may read are those that the box gave" "$(jq -r '.entries[] | select(.path | test("zero|wo|ro|old|d/x")) | .path + " " + .new.mode' whole | tr '\n' ' ')" "d/x 0100 old 0400 ro 0444 wo 0200 zero 0000 "
step=0 code=137 wrong=
while [ $code -eq 137 ] && [ $step -lt 300 ]; do
        step=$((step + 1))
        CORDON_WORK_STEP=$step $who "$T/hooked" apply --include-flagged "$run" >/dev/null 2>&1
        code=$?
        $who "$CORDON" diff --json "$run" >now 2>/dev/null
        cmp -s now whole || cordon undo "$run" >undone || wrong="$wrong undo $step: $(cat undone)"
        $who "$CORDON" diff --json "$run" >now 2>/dev/null
        cmp -s now whole || wrong="$wrong layer at $step: $(diff whole now | head -3)"
        tree "$D/p" >now
        cmp -s now before || wrong="$wrong tree at $step: $(diff before now | head -3)"
        [ -z "$wrong" ] || break
done
is "an apply that is killed at any of its steps leaves every mode" "$wrong" ""
ok "there were many steps ($step)" test "$step" -gt 20
cordon apply --include-flagged "$run" >out || fail "apply" "$(cat out)"
is "they land with their modes" "$(cd "$D/p" && stat -c '%n %a' zero wo ro old d | tr '\n' ' ')" "zero 0 wo 200 ro 444 old 400 d 500 "
tree "$D/p" >after
step=0 code=137 wrong=
while [ $code -eq 137 ] && [ $step -lt 300 ]; do
        step=$((step + 1))
        CORDON_WORK_STEP=$step $who "$T/hooked" undo "$run" >/dev/null 2>&1
        code=$?
        $who "$CORDON" diff --json "$run" >now 2>/dev/null
        tree "$D/p" >tree
        cmp -s tree before || cmp -s tree after || { wrong="$step: $(diff after tree)"; break; }
        cmp -s tree after || { cmp -s now whole || { wrong="layer at $step: $(diff whole now)"; break; }; cordon apply --include-flagged "$run" >out || wrong=$(cat out); }
done
is "so does an undo" "$wrong" ""
cordon undo "$run" >/dev/null
$who "$CORDON" run -q --no-stdin --edit "$D/p" --cwd "$D/p" --on "$run" -- sh -c 'stat -c "%n %a" zero wo ro old d' >out 2>err
is "a run that goes on finds them as they were" "$(tr '\n' ' ' <out)" "zero 0 wo 200 ro 444 old 400 d 500 "
chmod 700 "$D/p" && cordon apply --include-flagged "$run" >/dev/null
$who sh -c "chmod 600 '$D/p/zero'; echo mine >>'$D/p/zero'; chmod 0 '$D/p/zero'"
has "what somebody wrote since into a file that cannot be read is not undone" "$(cordon undo "$run")" "conflict: zero: cannot be read"
# one file behind a door of its own
fresh 'echo s >single'
$who "$CORDON" run -q --keep --no-stdin --edit "$D/p/single" --status-fd 3 -- sh -c "echo t >>'$D/p/single'; chmod 0 '$D/p/single'" 3>status 2>err
run=$(jq -r '.work.layer // ""' status)
$who "$CORDON" run -q --no-stdin --edit "$D/p/single" --on "$run" -- stat -c %a "$D/p/single" >out 2>err
is "a single file, too" "$(cat out err)" 0
cordon apply "$run" >out || fail "single: apply" "$(cat out)"
is "and it lands so" "$(stat -c %a "$D/p/single")" 0

# Names of one file, with the state directory on another filesystem: undo makes them one file again.
mkdir other && mount -t tmpfs -o size=8m none other 2>/dev/null || skip "hard links over filesystems" "no tmpfs can be mounted here"
if mountpoint -q other; then
        who=root D=$T/other/links
        fresh 'echo a >a; ln a a2; ln a a3; echo b >b; mkdir d; ln b d/b2; echo c >c; ln c c2'
        tree "$D/p" >before
        edit 'echo more >>a; echo more >>a2; rm b; echo more >>c'
        cordon apply "$run" >out || fail "apply" "$(cat out)"
        is "an undo of names over filesystems says nothing" "$(cordon undo "$run" | grep note)" ""
        tree "$D/p" >after
        is "and all of them are one file again" "$(diff before after)" ""
        cordon apply "$run" >out || fail "apply again" "$(cat out)"
        echo changed >>"$D/p/c2"
        is "where the other name changed since, a copy comes back, and it is told" "$(cordon undo "$run" | grep note)" "note: c: had 2 names, and comes back as a file of its own"
        is "as it was" "$(cat "$D/p/c") $(stat -c %h "$D/p/c" "$D/p/b" "$D/p/a3" | tr '\n' ' ')$(find "$D/p" -name '.cordon*')" "c 1 2 3 "
        # and where there is no room for what comes back, nothing of it is left in the tree
        fresh 'head -c 300000 /dev/zero >large; echo a >a'
        edit 'echo small >large; echo b >>a'
        cordon apply "$run" >out || fail "apply of a large file" "$(cat out)"
        tree "$D/p" >after
        dd if=/dev/zero of="$T/other/fill" bs=64k count="$(($(df --output=avail -k "$T/other" | tail -n 1) / 64 - 1))" status=none
        has "an undo without room says so" "$(cordon undo "$run")" "bringing back what was replaced in $D/p: No space left on device"
        tree "$D/p" >now
        is "and leaves nothing" "$(diff after now)" ""
        rm "$T/other/fill"
        ok "with room it is taken back" cordon undo "$run"
        is "whole" "$(stat -c %s "$D/p/large") $(cat "$D/p/a")" "300000 a"
fi

# Whoever names a directory has not named what is flagged in it.
who=as_user D=$T/named
fresh 'echo a >a; mkdir s'
edit 'echo b >>a; echo x: >Jenkinsfile; mkdir -p s .github/workflows; echo y: >s/Jenkinsfile; echo c >s/c; echo w >.github/workflows/w.yml; mkfifo pipe'
landed() { (cd "$D/p" && find . -mindepth 1 ! -type d | sort | tr '\n' ' '); }
for name in . ./ "$D/p" "$D/p/"; do
        has "$name names nothing that is flagged" "$(cordon apply "$run" "$name")" "held back: s/Jenkinsfile: a build server runs it"
        is "$name: the rest lands" "$(landed)" "./a ./s/c "
        cordon undo "$run" >out || fail "undo" "$(cat out)"
done
cordon apply "$run" "$D/p/s" >out
is "a directory neither" "$(landed)" "./a ./s/c "
cordon apply "$run" s/Jenkinsfile .github/workflows/ >out || fail "by name" "$(cat out)"
is "but its own name does, and a directory that is flagged itself" "$(landed)" "./.github/workflows/w.yml ./a ./s/Jenkinsfile ./s/c "
cordon apply --include-flagged "$run" >out || fail "all of it" "$(cat out)"
is "all that is asked for lands, but a fifo never does" "$(landed)" "./.github/workflows/w.yml ./Jenkinsfile ./a ./s/Jenkinsfile ./s/c "
has "and is told" "$(cat out)" "held back: pipe: a socket, fifo or device: never applied"

# Nor in a directory whose entries are told in one line.
fresh 'echo a >a; mkdir build'
edit 'echo x >build/out; echo y: >build/Jenkinsfile; mkdir -p build/.git/hooks; echo z >build/.git/hooks/pre-commit'
for name in build build/ "$D/p/build"; do
        cordon apply "$run" "$name" >out
        is "$name names a directory, and nothing that is flagged in it" "$(landed)" "./a ./build/out "
        cordon undo "$run" >out || fail "undo" "$(cat out)"
done

# Applies into one tree take turns: one waits as long as somebody has the tree's lock.
who=root D=$T/turns
fresh 'echo a >a'
edit 'echo b >>a'
cordon apply "$run" >out && cordon undo "$run" >out
lock=$(find "$CORDON_STATE/locks" -name "apply-*-$(printf %x "$(stat -c %i "$D/p")")")
is "each tree has a lock of its own" "$(echo "$lock" | wc -l) $(test -f "$lock" && echo file)" "1 file"
flock "$lock" sh -c "timeout 1 '$CORDON' apply '$run' >/dev/null 2>&1; echo \$?" >code
is "an apply waits for it, and has not begun" "$(cat code) $(cat "$D/p/a")" "124 a"
ok "and goes on when it is free" cordon apply "$run"
flock "$lock" sh -c "timeout 1 '$CORDON' undo '$run' >/dev/null 2>&1; echo \$?" >code
is "so does an undo" "$(cat code) $(tr '\n' ' ' <"$D/p/a")" "124 a b "
# Two doors in one directory, and another between them: nobody waits for himself.
D=$T/order
fresh 'mkdir -p x/b; echo 1 >x/a; echo 2 >x/c; echo 3 >x/b/f'
$who "$CORDON" run -q --no-stdin --edit "$D/p/x/a" --edit "$D/p/x/b" --edit "$D/p/x/c" --status-fd 3 -- sh -c "cd '$D/p/x'; for f in a c b/f; do echo more >>\$f; done" 3>status 2>err
run=$(jq -r '.work.layer // ""' status)
ok "doors in one directory are applied together" timeout 20 "$CORDON" apply "$run"
is "each of them" "$(cat "$D/p/x/a" "$D/p/x/c" "$D/p/x/b/f" | tr '\n' ' ')" "1 more 2 more 3 more "
done_testing

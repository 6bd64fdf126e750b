#!/bin/sh
# edit doors from inside: everything can be changed, nothing reaches the host, and what an `except` names stays as it is,
# also when it does not exist and when its parents are moved or removed. As root and as an ordinary user, as uid 1000 and 0.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
tree() { find "$1" -printf '%P %y %m %u %s %T@ %l\n' | sort; find "$1" -type f -exec sha256sum {} + | sort; }
box() { $who "$CORDON" run $inside -q --no-stdin "$@" 2>&1; }
state() { state_of $who; }
layers() { find "$(state)/work" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l; }

cat >tries <<'TRIES'
echo x >>.git/config
echo x >.git/config
rm .git/config
mv .git/config .git/c2
echo x >n; mv n .git/config
ln -f a .git/config
ln -sf /etc/passwd .git/config
chmod 777 .git/config
truncate -s 0 .git/config
ln .git/config hard
mv .git g
rm -rf .git
mv .git g; mkdir .git; echo x >.git/config
mkdir x; mv -T x .git
rmdir .git/hooks
echo x >.git/hooks/pre-commit
mkdir .git/hooks/d
mv .git/hooks .git/h2
ln -s /tmp .git/hooks/l
echo x >.claude/settings.json
rm .claude/settings.json
mv .claude c
rm -r .claude
mv .claude c && ln -s /tmp .claude
ln -s x .claude/settings.json
echo x >.vscode/tasks.json
mv .vscode v; mkdir .vscode
rm -r src/deep
mv src s2
rm -rf src
echo x >src/deep/c
echo x >src/deep/new
touch src/deep/c
setfattr -n user.x -v y locked
echo x >locked
rm -f locked
unshare -Ur sh -c 'umount .git/config'
umount .git/config
mount -o remount,rw .git/config
cat </dev/null >/proc/self/root@/p/locked
TRIES

for who in root as_user; do
        D="$T/$who"
        mkdir -p "$D/p/.git/refs" "$D/p/src/deep" "$D/p/empty" "$D/other" "$D/w"
        echo one >"$D/p/a" && echo two >"$D/p/src/b" && echo three >"$D/p/src/deep/c" && echo single >"$D/single"
        echo '[core]' >"$D/p/.git/config" && ln -s ../outside "$D/p/way-out" && echo outside >"$D/outside" && echo keep >"$D/p/locked"
        printf '#!/bin/sh\necho ran\n' >"$D/p/tool" && chmod 755 "$D/p/tool" && mkfifo "$D/p/fifo"
        [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown -R 65533:65533 "$D"
        tree "$D" >before
        for inside in "" --root; do
                as="$who${inside:+ }$inside"
                out=$(box --edit "$D/p" -- sh -c "cd $D/p && echo x >a && cat a && echo n >new && mkdir d && mv src/b d/b && rm -r src && chmod 700 d && ln new hard && ls && ln -s a link && cat d/b && mkfifo ff")
                has "$as: a box may change what lies behind an edit door" "$out" two
                has "$as: and sees what it changed" "$out" hard
                hasnt "$as: nothing refused it" "$out" "enied"
                tree "$D" >now
                ok "$as: nothing of that reached the host" cmp before now
                has "$as: what leads out of the door leads nowhere" "$(box --edit "$D/p" -- cat "$D/p/way-out")" "No such file"
                is "$as: a file as a door" "$(box --edit "$D/single" -- sh -c "echo changed >$D/single; cat $D/single")" changed
                is "$as: and its neighbour is not there" "$(box --edit "$D/single" -- ls "$D")" single
                is "$as: what is synced there waits for no disk" "$(box --edit "$D/p" -- cat /proc/self/mountinfo | grep -c " $D/p .*volatile")" 1
                for door in "$D/p" "$D/single"; do
                        is "$as: its mount lends nothing: no device, no set-id program, nothing to run (${door##*/})" "$(box --use base/strict --edit "$door" -- cat /proc/self/mountinfo | awk -v at="$door" '$5 == at { print $6 }' | tr , '\n' | grep -c -x -e nodev -e nosuid -e noexec)" 3
                done
                is "$as: what was written runs by default" "$(box --edit "$D/p" -- sh -c "cp $D/p/tool $D/p/t2 && $D/p/t2" 2>&1)" ran
                is "$as: but not in a strict box" "$(box --use base/strict --edit "$D/p" -- sh -c "cp $D/p/tool $D/p/t2 && $D/p/t2" 2>&1 | grep -c '^ran')" 0
                is "$as: unless a run line names it" "$(box --use base/strict --edit "$D/p" --run "$D/p/" --run sh --run cp -- sh -c "cp $D/p/tool $D/p/t2 && $D/p/t2")" ran
                is "$as: also where it is a door in the door" "$(box --use base/strict --edit "$D/p" --edit "$D/p/tool" --run "$D/p/tool" --run sh -- sh -c "$D/p/tool")" ran
                is "$as: the command itself may lie in the door" "$(box --use base/strict --edit "$D/p" -- "$D/p/tool")" ran
                $who "$CORDON" run -q $inside --use base/strict --edit "$D/p" --status-fd 3 -- ln "$D/p/tool" "$D/p/second" 3>status
                has "$as: but not by two names, of which the box could write one" "$(box --use base/strict --edit "$D/p" --on "$(jq -r .work.layer <status)" -- "$D/p/tool")" "several names in the overlay"
                $who "$CORDON" discard "$(jq -r .work.layer <status)" >/dev/null 2>&1
                out=$(box --edit "$D/p" -- sh -c "echo evil >$D/p/tool; cp $D/p/a $D/p/tool; rm $D/p/tool" 2>&1)
                n=$(layers)
                box --edit "$D/p" -- true
                is "$as: a run that changed nothing leaves no layer" "$(layers)" "$n"
                box --edit "$D/p" -- /no/such/program >/dev/null
                is "$as: nor does a start that failed" "$(layers)" "$n"
                has "$as: the state directory is not seen" "$(box --edit "$D/p" -- ls "$(state)" || echo GONE)" GONE
                has "$as: a door over the state directory is refused or hides it" "$(box --edit "$T" -- sh -c "ls $(state)/work && echo SEEN")" "cordon"

                # --- except ---
                printf 'use base/system\nedit %s except .git/config .git/hooks .claude/settings.json .vscode src/deep locked\n' "$D/p" >p.policy
                out=$(box -p p.policy -- sh -c "cd $D/p; cat .git/config src/deep/c locked; echo x >a && cat a; echo y >src/b; cat src/b")
                has "$as: an except can be read" "$out" '[core]'
                has "$as: below it too" "$out" three
                has "$as: beside it all can be changed" "$out" y
                while read -r try; do
                        try=$(printf '%s' "$try" | sed "s|@|$D|")
                        never "$as: an except holds: $try" "$(box -p p.policy -- sh -c "echo BEGAN; cd $D/p && { $try; } && echo HAPPENED")" HAPPENED
                done <tries
                out=$(box -p p.policy -- sh -c "cd $D/p && echo mine >.claude/other && ls .claude && ls -d .vscode")
                has "$as: beside an except that does not exist there is room" "$out" other
                printf 'use base/system\nedit %s except way-out\n' "$D/p" >l.policy
                has "$as: an except that is a link is refused" "$(box -p l.policy -- true)" "symbolic link"

                # --- several, nested ---
                printf 'use base/system\nedit %s\nedit %s\nwrite %s\n' "$D/p" "$D/other" "$D/w" >m.policy
                is "$as: several doors" "$(box -p m.policy -- sh -c "echo 1 >$D/p/x; echo 2 >$D/other/y; cat $D/p/x $D/other/y" | tr '\n' ' ')" "1 2 "
                tree "$D" >now
                ok "$as: nothing reached the host" cmp before now
                printf 'use base/system\nedit %s\nwrite %s/src/deep\n' "$D/p" "$D/p" >m.policy
                box -p m.policy -- sh -c "echo real >$D/p/src/deep/real; echo held >$D/p/src/held"
                is "$as: a write door inside an edit door writes" "$(cat "$D/p/src/deep/real")" real
                ok "$as: beside it nothing does" test ! -e "$D/p/src/held"
                rm "$D/p/src/deep/real" && touch -r "$D/p/src/deep/c" "$D/p/src/deep"
                find "$D/p/src/deep" -printf '%P %y %m %u %s %l\n' >/dev/null
                tree "$D" >before
        done
        inside=
        is "$who: the disk limit ends a box that fills its layer" "$($who "$CORDON" run -q --no-stdin --disk 4M --edit "$D/p" --json -- sh -c "i=0; while [ \$i -lt 400 ]; do dd if=/dev/zero of=$D/p/big\$i bs=64K count=8 2>/dev/null; i=\$((i+1)); done; sleep 20" 2>&1 | jq -r .limit)" disk
        is "$who: so does one file" "$($who "$CORDON" run -q --no-stdin --disk 4M --edit "$D/p" --json -- sh -c "exec dd if=/dev/zero of=$D/p/big bs=1M count=64" 2>&1 | grep '^{' | jq -r .limit)" disk
        for closed in "400 c" "0 ."; do # the one its owner can list then, and not search
                is "$who: so do files in a directory that was closed meanwhile: $closed" "$($who "$CORDON" run -q --no-stdin --disk 4M --edit "$D/p" --json -- sh -c "cd $D/p && mkdir c && exec 3>c/3 4>c/4 5>c/5 6>c/6 && chmod $closed && for i in 3 4 5 6; do dd if=/dev/zero bs=1M count=3 >&\$i; done; sleep 20" 2>&1 | grep '^{' | jq -r .limit)" disk
        done
        is "$who: nobody sees when it is counted" "$($who "$CORDON" run -q --no-stdin --edit "$D/p" -- sh -c "cd $D/p && mkdir c && touch -a -d @1 c . && sleep 1 && stat -c %X c ." 2>&1 | tr '\n' ' ')" "1 1 "
        has "$who: the process wall says that it cannot" "$(box --wall process --edit "$D/p" -- true)" "process wall does not support an \`edit\` door"
        tree "$D" >now
        ok "$who: the host is as it was" cmp before now
done
# What belongs to somebody else cannot be changed in a layer: said before, because the program only sees an odd error.
if [ "$(id -u)" -eq 0 ]; then
        mkdir "$T/group" "$T/user" "$T/mine" && chown 65533:0 "$T/group" && chown 65533:65533 "$T/user" "$T/mine"
        note() { "$@" -- true 2>&1 | grep -c "note: .*W138: $T/.* belongs to"; }
        is "another group's directory in an edit door is told" "$(note as_user "$CORDON" run --edit "$T/group")" 1
        is "and not in a write door, where the host decides" "$(note as_user "$CORDON" run --write "$T/group")" 0
        is "nor one's own" "$(note as_user "$CORDON" run --edit "$T/mine")" 0
        is "nor with -q" "$(note as_user "$CORDON" run -q --edit "$T/group")" 0
        echo theirs >"$T/theirs" && chmod 644 "$T/theirs"
        is "that a copy of their file is mine is no change" "$(as_user "$CORDON" run -q --edit "$T/theirs" --json -- cat "$T/theirs" 2>&1 </dev/null | sed -n '$p' | jq -c .work)" '{"layer":null,"entries":0,"flagged":0,"sealed":true}'
        is "another user's is told to root" "$(note "$CORDON" run --edit "$T/user")" 1
        is "also in a write door" "$(note "$CORDON" run --write "$T/user")" 1
        has "check tells it too" "$("$CORDON" check --edit "$T/user" 2>&1)" "W138: $T/user belongs to 65533:65533"
fi
done_testing

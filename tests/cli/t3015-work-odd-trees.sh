#!/bin/sh
# Trees that are odd but not hostile: what a box did to them and what the same does outside are equal, and undo restores. Then
# what comes between: another apply, a full disk, a kill while it waits, a layer that is gone on with.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
trap 'code=$?; umount -l "$T/full" 2>/dev/null; chmod -R u+rwX "$T" 2>/dev/null; rm -rf "$T"; exit $code' EXIT
trap 'exit 130' INT TERM

state() { state_of $who; }
# same NAME SETUP SCRIPT: SETUP makes $D/p; SCRIPT in a box and applied equals SCRIPT outside
same() {
        chmod -R u+rwX "$D" 2>/dev/null
        rm -rf "$D" && mkdir -p "$D/p"
        (cd "$D/p" && eval "$2") || fail "$who: $1: is set up" ""
        mine
        cp -a "$D/p" "$D/out"
        (cd "$D/out" && $who sh -c "$3") >/dev/null 2>&1
        tree "$D/p" >before
        edit "$3"
        cordon diff --no-pager "$run" >out || fail "$who: $1: diff" "$(cat out)"
        cordon diff --json "$run" >json
        ok "$who: $1: diff --json is JSON" jq -e length json
        cordon apply --include-flagged "$run" >out || fail "$who: $1: apply" "$(cat out)"
        tree "$D/p" >now && tree "$D/out" >want
        ok "$who: $1: apply equals the same outside" diff want now
        cordon undo "$run" >out || fail "$who: $1: undo" "$(cat out)"
        tree "$D/p" >now
        ok "$who: $1: undo restores" diff before now
        cordon discard "$run" >out || fail "$who: $1: discard" "$(cat out)"
}

for who in root as_user; do
        D=$T/$who
        mkdir -p "$D"
        same "a thousand renames" 'for i in $(seq 1000); do echo $i >f$i; done' 'for i in $(seq 1000); do mv f$i g$i; done'
        same "a whole directory moves" 'mkdir -p a/b; for i in 1 2 3; do echo $i >a/b/$i; done; echo t >a/t' 'mv a z'
        same "two directories change places" 'mkdir a b; echo 1 >a/1; echo 2 >b/2' 'mv a t; mv b a; mv t b'
        same "a file becomes a directory and the other way" 'echo x >f; mkdir -p d/e; echo y >d/e/y' 'rm f; mkdir f; echo in >f/in; rm -r d; echo now >d'
        same "files that their owner may not write" 'echo x >a; echo y >b' 'chmod 444 a; echo more >>b; chmod 000 b'
        same "directories that their owner may not write into" 'mkdir k' 'mkdir -p ro/in; echo x >ro/x; echo y >ro/in/y; chmod 444 ro/in/y; chmod 555 ro/in ro; chmod 500 k'
        same "directories that their owner may not look into" 'mkdir o; echo x >o/x' 'mkdir -p d/e; echo x >d/x; echo "{}" >d/e/package.json; ln -s /x d/e/l; chmod 000 d/e; chmod 100 d; chmod 000 o'
        same "names that are no text" 'printf x >"$(printf "a\nb")"; printf y >"$(printf "\377\376bad")"' \
                'mv "$(printf "a\nb")" "$(printf "c\rd\033[31m")"; echo n >"$(printf "\342\200\256evil")"; echo z >>"$(printf "\377\376bad")"; echo >-rf; echo >"\"q\\"'
        same "a large hole and files of nothing" ': >empty; echo some >full; truncate -s 64M big' ': >full; echo x >>empty; : >new0; mv big huge; truncate -s 32M other; printf end | dd of=other bs=1 seek=30000000 conv=notrunc status=none'
        same "names of one file in several directories" 'mkdir a b' 'echo l >a/l; ln a/l b/l; ln a/l c; mkdir n; ln a/l n/l'

        # --- closed directories in a layer that is gone on with, and in a copy of it ---
        chmod -R u+rwX "$D" && rm -rf "$D" && mkdir -p "$D/p" && mine
        edit 'mkdir shut; echo 1 >shut/1; chmod 000 shut'
        copy=$(copied "$run")
        is "$who: a run that goes on finds a closed directory closed" "$($who "$CORDON" run -q --no-stdin --on "$run" --edit "$D/p" --cwd "$D/p" -- sh -c 'stat -c %a shut; chmod 700 shut; echo 2 >shut/2; chmod 000 shut')" 0
        for l in "$run" "$copy"; do
                cordon apply "$l" >out || cat out
                is "$who: it lands closed" "$(stat -c %a "$D/p/shut")" 0
                cordon undo "$l" >out || cat out
                is "$who: and is taken back" "$(ls "$D/p")" ""
                cordon discard "$l" >/dev/null
        done

        # --- two doors on two files of one directory ---
        rm -rf "$D" && mkdir -p "$D/p" && echo 1 >"$D/p/a" && echo 2 >"$D/p/b" && mine
        $who "$CORDON" run -q --no-stdin --edit "$D/p/a" --edit "$D/p/b" --status-fd 3 -- sh -c "echo x >$D/p/a; echo y >$D/p/b" 3>status
        run=$(jq -r .work.layer status)
        $who timeout 20 "$CORDON" apply "$run" 2>out || cat out
        is "$who: two files of one directory, each a door" "$(cat "$D/p/a" "$D/p/b" | tr '\n' ' ')" "x y "
        cordon undo "$run" >/dev/null
        is "$who: are taken back" "$(cat "$D/p/a" "$D/p/b" | tr '\n' ' ')" "1 2 "
        # --- what a kill before the journal leaves ---
        mkdir "$(state)/work/$run/apply-7" && : >"$(state)/work/$run/apply-7/base" && { [ $who = root ] || chown -R 65533:65533 "$(state)/work/$run"; }
        has "$who: an apply that was killed before it planned anything is nothing" "$(cordon apply "$run")" "applied 2 entries"
        # --- undo takes what was written again as it was ---
        $who cp "$D/p/a" "$D/p/a.tmp" && $who mv "$D/p/a.tmp" "$D/p/a"
        cordon undo "$run" >out
        is "$who: a file that was saved again as it was is taken back, too" "$(cat "$D/p/a") $(ls "$D/p" | tr '\n' ' ')" "1 a b "
        cordon discard "$run" >/dev/null

        # --- a door that is itself what the host trusts, or lies in it ---
        rm -rf "$D" && mkdir -p "$D/p/.git/hooks" "$D/p/.git/worktrees/w" "$D/p/.github/workflows" "$D/p/src/hooks" && echo >"$D/p/.git/config" && mine
        for door in .git:config .git:hooks/any .git/worktrees/w:commondir .github:workflows/ci.yml .git/hooks:any; do
                $who "$CORDON" run -q --no-stdin --edit "$D/p/${door%:*}" --status-fd 3 -- sh -c "echo x >>$D/p/${door%:*}/${door#*:}" 3>status
                run=$(jq -r .work.layer status)
                has "$who: ${door#*:} of the door ${door%:*} is flagged" "$(cordon apply "$run")" "held back: ${door#*:}"
                cordon discard "$run" >/dev/null
        done
        $who "$CORDON" run -q --no-stdin --edit "$D/p/.git/config" --status-fd 3 -- sh -c "echo x >>$D/p/.git/config" 3>status
        has "$who: so is a door on one such file" "$(cordon apply "$(jq -r .work.layer status)")" "held back: config"
        cordon discard "$(jq -r .work.layer status)" >/dev/null
        $who "$CORDON" run -q --no-stdin --edit "$D/p/src" --status-fd 3 -- sh -c "echo x >>$D/p/src/hooks/any; echo x >>$D/p/src/config" 3>status
        has "$who: the same names elsewhere are not" "$(cordon apply "$(jq -r .work.layer status)")" "applied 2 entries"
        cordon discard "$(jq -r .work.layer status)" >/dev/null

        # --- two applies into one tree at once: one lands, the other is told what is in its way ---
        rm -rf "$D" && mkdir -p "$D/p" && mine
        for k in 1 2; do
                edit "for i in \$(seq 100); do echo $k >f\$i; done"
                echo "$run" >run$k
        done
        for k in 1 2; do { cordon apply "$(cat run$k)" >out$k; echo $? >code$k; } & done
        wait
        is "$who: of two applies at once one lands" "$(cat code1 code2 | sort | tr '\n' ' ')" "0 1 "
        has "$who: the other is told" "$(cat out1 out2)" "conflict: f1: made since"
        is "$who: and nothing is mixed" "$(cat "$D/p"/* | sort | uniq -c | awk '{ print $1 }')" 100
        for k in 1 2; do cordon discard "$(cat run$k)" >/dev/null; done
done

# --- what is known of a layer cannot be written: it has landed all the same ---
who=as_user D=$T/unknown
fresh 'echo 1 >a'
edit 'echo A >a'
$who mkdir "$(state)/work/$run/base.new"
said=$(cordon apply "$run")
has "an apply that its layer cannot be told of lands" "$said" "applied 1 entry"
has "and says so" "$said" "note: everything has landed, but the overlay does not know it: "
is "it is there" "$(cat "$D/p/a")" A
$who rmdir "$(state)/work/$run/base.new"
has "and can be taken back" "$(cordon undo "$run")" "can be applied again"
is "it is as it was" "$(cat "$D/p/a")" 1
cordon discard "$run" >/dev/null

# --- a ledger that has no room for what became of an apply ---
who=as_user D=$T/late
fresh 'echo 1 >a; echo 2 >b; echo 3 >c'
edit 'echo A >a; echo B >b; echo C >c'
# Room for the intent, and not for three outcomes.
size=$(($(wc -c <"$(state)/ledger/segments/00000001.seg") + 500))
has "an apply lands whose outcome has no room" "$($who prlimit --fsize=$size "$CORDON" apply "$run" 2>&1 | cat)" "applied 3 entries"
is "its intent has none yet" "$(cordon ledger --json --run "$run" --kind unknown | wc -l)" 1
$who prlimit --fsize=$size "$CORDON" diff --list 2>&1 | cat >/dev/null
cordon diff --list >/dev/null
is "a command that finds room tells it, whoever tried before" "$(cordon ledger --json --run "$run" --kind unknown | grep -v '^cordon: note') $(cordon ledger --json --run "$run" --kind outcome | jq -r .result | grep -c applied)" " 3"
cordon undo "$run" >/dev/null
cordon discard "$run" >/dev/null

# --- a full disk, on either side ---
who=root D=$T/root
if [ "$(id -u)" -eq 0 ] && mkdir -p "$T/full" && mount -t tmpfs -o size=1m none "$T/full" 2>/dev/null; then
        rm -rf "$D" && mkdir -p "$D" && ln -s "$T/full" "$D/p" && echo old >"$T/full/a"
        $who "$CORDON" run -q --no-stdin --edit "$T/full" --cwd "$T/full" --status-fd 3 -- sh -c 'head -c 3000000 /dev/urandom >big; echo new >a' 3>status
        run=$(jq -r .work.layer status)
        has "a tree that is full" "$(cordon apply "$run")" "copying big: No space left on device"
        is "is as it was" "$(ls -A "$T/full") $(cat "$T/full/a")" "a old"
        has "what fits, lands" "$(cordon apply "$run" a)" "applied 1 entry"
        has "the ledger knows both" "$(cordon ledger --json --run "$run" --kind outcome | jq -r .result | sort -u | tr '\n' ' ')" "applied taken back"
        cordon discard "$run" >/dev/null
        umount -l "$T/full"
        mount -t tmpfs -o size=2m,mode=700 none "$T/full"
        rm -rf "$D" && mkdir -p "$D/p" && echo old >"$D/p/a" && head -c 1500000 /dev/urandom >"$D/p/big"
        tree "$D/p" >before
        CORDON_STATE=$T/full CORDON_LEDGER=off
        export CORDON_LEDGER
        edit 'rm big; echo new >a; head -c 900000 /dev/urandom >fresh'
        has "a state directory that is full" "$(cordon apply "$run")" "keeping what was replaced in $D/p: No space left on device"
        tree "$D/p" >now
        ok "leaves the tree as it was" diff before now
        has "and the layer waits" "$(cordon diff --stat "$run")" "3 entries"
        cordon discard "$run" >/dev/null
        # The same wherever the room ends: what is said of the tree is what it is, and nothing of ours lies in it.
        wrong='' kinds=''
        for room in 4 8 12 16 20 24 28 32 36 40; do
                fresh 'echo old >a; echo gone >b'
                tree "$D/p" >before
                edit 'echo new >a; rm b; echo fresh >c'
                (cd "$D" && cp -a p after && cd after && echo new >a && rm b && echo fresh >c)
                dd if=/dev/zero of="$T/full/filler" bs=1k 2>/dev/null
                truncate -s -${room}k "$T/full/filler"
                said=$(cordon apply "$run")
                tree "$D/p" >now && tree "$D/after" >after
                case $said in
                *finishes*) kind=either ;;
                *applied* | *landed*) kind=after ;;
                *) kind=before ;;
                esac
                [ $kind = either ] || cmp -s $kind now || wrong="$wrong $room: $said: $(diff $kind now)"
                rm "$T/full/filler"
                cordon diff --list >/dev/null || wrong="$wrong $room: $(cordon diff --list)"
                tree "$D/p" >now
                cmp -s before now || cmp -s after now || wrong="$wrong $room, later: $said: $(diff before now)"
                kinds="$kinds $kind"
                cordon discard "$run" >/dev/null || cordon undo "$run" >/dev/null
        done
        is "a state directory with little room: what is said of the tree is true, and nothing lies in it" "$wrong" ""
        has "some applies were taken back" "$kinds" before
        has "some landed" "$kinds" after
        umount -l "$T/full"
        CORDON_STATE=$T/state
        unset CORDON_LEDGER
else
        skip "a full disk" "needs root, to mount a small one"
fi
done_testing

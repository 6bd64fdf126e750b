#!/bin/sh
# What an apply lands exactly, and what it asks about: modes that open an entry to more users, setgid directories, FIFOs over
# filesystems, holes, directories called as a build file is, many renames of one size, a second name of a file that is
# written meanwhile, and a filesystem whose device number changed.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"

# tamper FIELDS: other numbers in what is written about the layer
tamper() {
        state=$CORDON_STATE
        [ $who = root ] || state=$T/state-user
        python3 -c '
import re, sys
text = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(re.sub(rb"\0(%s)=\d+(?=\0)" % sys.argv[2].encode(), rb"\0\1=4711", text))' "$state/work/$run/meta" "$1"
}

for who in root as_user; do
        D=$T/$who
        fresh 'umask 022; echo s >secret; chmod 600 secret; echo o >open; chmod 644 open; mkdir private plain; chmod 700 private; chmod 700 .'
        edit 'chmod 666 secret; chmod 600 open; chmod 755 private; chmod 777 .; echo x >>plain/x'
        has "$who: a mode that opens a file is flagged" "$(cordon diff --no-pager "$run")" "open to more users than before"
        cordon apply "$run" >out
        is "$who: and not applied unasked" "$(stat -c %a "$D/p/secret" "$D/p/private" "$D/p" "$D/p/open" | tr '\n' ' ')" "600 700 700 600 "
        cordon apply --include-flagged "$run" >out
        is "$who: asked for, it is" "$(stat -c %a "$D/p/secret" "$D/p/private" "$D/p" | tr '\n' ' ')" "666 755 777 "

        # A directory of a flagged file's name is not that file.
        fresh 'echo a >a'
        edit 'mkdir -p build/out .env; echo 1 >build/out/x; echo 2 >.env/y; mkdir sub; echo x >sub/.env'
        cordon apply "$run" >out
        is "$who: directories called build and .env land" "$(cat "$D/p/build/out/x" "$D/p/.env/y" | tr '\n' ' ')" "1 2 "
        is "$who: a file of that name is held back" "$([ -e "$D/p/sub/.env" ] || echo held)" held
        cordon discard "$run" >/dev/null

        # More renames of one size than were looked at.
        fresh 'mkdir old; i=1000; while [ $i -lt 2300 ]; do echo $i >old/$i; i=$((i + 1)); done'
        edit 'mkdir new; mv old/* new/'
        is "$who: all files that moved are shown as moved" "$(cordon diff --json "$run" | jq '[.entries[] | select(.change | index("renamed"))] | length')" 2600
        cordon discard "$run" >/dev/null

        # Holes: not read, and holes afterwards.
        fresh 'truncate -s 800M big; echo end >>big; truncate -s 700M kept'
        edit 'echo more >>big; truncate -s 600M fresh; echo x >>fresh; ln kept again; chmod 600 kept'
        cordon diff --no-pager --stat "$run" >out || fail "$who: diff of holes" "$(cat out)"
        cordon apply --include-flagged "$run" >out || fail "$who: apply of holes" "$(cat out)"
        is "$who: files with holes land" "$(tail -c 9 "$D/p/big" | tr '\n' ' ')$(stat -c %s "$D/p/fresh") $(($(stat -c %b "$D/p/fresh") < 1000))" "end more 629145602 1"
        cordon undo "$run" >out || fail "$who: undo of holes" "$(cat out)"
        is "$who: and are taken back" "$(stat -c %s "$D/p/big") $([ -e "$D/p/fresh" ] || echo gone)" "838860804 gone"
        cordon apply --include-flagged "$run" >out || fail "$who: apply of holes again" "$(cat out)"
        printf x | dd of="$D/p/big" bs=1 seek=400000000 conv=notrunc 2>/dev/null
        has "$who: one byte in a hole is a change" "$(cordon undo "$run")" "conflict: big: changed since"
        cordon discard "$run" >/dev/null
        if command -v strace >/dev/null; then
                fresh 'truncate -s 800M big'
                edit 'chmod 600 big; truncate -s 900M other'
                $who strace -f -e trace=read -o "$T/calls" "$CORDON" apply --include-flagged "$run" >out 2>&1
                is "$who: no hole is read" "$(($(grep -c ' = 131072\| = 65536' "$T/calls") < 100))" 1
        else
                skip "$who: no hole is read" "strace is not installed"
        fi

        # Another filesystem is another tree.
        fresh 'echo a >a'
        edit 'echo b >>a'
        tamper 'fsid|uuid'
        has "$who: another filesystem is refused" "$(cordon apply "$run")" "another directory than the one that the box saw"
        cordon discard "$run" >/dev/null
done

# setgid: what is made in a directory has its group.
who=root
if [ "$(id -u)" -eq 0 ]; then
        D=$T/group
        fresh 'mkdir shared; chmod 2775 shared'
        edit 'mkdir shared/more; echo x >shared/more/x; mkdir shared/more/deep'
        cordon apply "$run" >out || fail "setgid: apply" "$(cat out)"
        is "new directories keep their setgid bit" "$(stat -c %a "$D/p/shared/more" "$D/p/shared/more/deep" | tr '\n' ' ')" "2755 2755 "

        # FIFOs and sockets come back over the border of a filesystem.
        D=$T/border
        mkdir -p "$D/p"
        if mount -t tmpfs none "$D/p" 2>/dev/null; then
                (cd "$D/p" && mkdir d && mkfifo -m 640 d/pipe && echo x >d/x && mkfifo top)
                tree "$D/p" >before
                edit 'rm -r d top'
                cordon apply --include-flagged "$run" >out || fail "fifo: apply" "$(cat out)"
                is "a removed FIFO is gone" "$(find "$D/p" -type p | wc -l)" 0
                cordon undo "$run" >out || fail "fifo: undo" "$(cat out)"
                tree "$D/p" >after
                ok "undo brings FIFOs back over filesystems" diff before after
                cordon discard "$run" >/dev/null
                # The device number is another, the UUID is not.
                edit 'echo new >new'
                tamper fsid
                uuid=$(tr '\0' '\n' <"$CORDON_STATE/work/$run/meta" | sed -n 's/^uuid=//p')
                if [ "$uuid" = 0 ]; then
                        skip "a layer outlives another device number" "this kernel reports no UUID"
                else
                        cordon apply "$run" >out
                        is "a layer outlives another device number" "$(cat "$D/p/new" 2>&1)" new
                fi
                umount "$D/p"
        else
                skip "undo brings FIFOs back over filesystems" "no tmpfs can be mounted here"
        fi
else
        skip "new directories keep their setgid bit" "only root has such a tree here"
fi
done_testing

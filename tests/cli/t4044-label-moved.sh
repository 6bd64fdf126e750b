#!/bin/sh
# What a labelled run wrote behind a write door, or behind an edit door and was applied, bears the label itself: each way of writing,
# moved out of the door in each way, is read by the next box with it. What the run did not write has none.
# shellcheck disable=SC1091,SC2034,SC2086,SC2154,SC2016,SC2317
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-serve.sh"
elsewhere cordon-moved
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; remove "$T" "$D"; exit $code' EXIT
who=as_user rt=$T/rt
mkdir -m 700 "$rt" && mkdir "$D/w" && chmod 777 "$D/w"
if [ "$(id -u)" -eq 0 ]; then chown 65533:65533 "$rt"; fi
run label show >/dev/null
# The user whose files they are: for root no file is shut.
as() { as_user XDG_RUNTIME_DIR="$rt" sh -c "cd $D/w && umask 022 && $1"; }
as 'echo private >mine; mkdir out'
if ! as 'python3 -c "import os; os.setxattr(\"mine\", \"user.test\", b\"x\")"' 2>/dev/null; then
        skip "t4044-label-moved" "the files here keep no attributes"
        done_testing
fi
run label add "$D/w/mine" private:mine
door=$D/w/door
label_of_box() { run run -q --json --read "$1" -- true 2>&1 >/dev/null | tail -n 1 | jq -r '.labels // "none"'; }
anew() {
        as "chmod -R u+rwx door out 2>/dev/null; rm -rf door out; mkdir -p door/sub door/kept out; for f in old untouched sub/untouched kept/untouched; do echo host >door/\$f; done"
        sleep 0.05 # the kernel's clock of files has gone on
}

# ---- ways of writing: NAME|what is left below the door|a script in the box, in the door ----
ways() {
        cat <<'END'
a new file|f|cat ../mine >f
appended to|old|cat ../mine >>old
renamed over|old|cat ../mine >t && mv t old
renamed into a directory|sub/f|cat ../mine >t && mv t sub/f
moved from another directory|f|cat ../mine >sub/t && mv sub/t f
a hard link|f|cat ../mine >t && ln t f
by another hard link|old|ln old t && cat ../mine >>t
written as mapped memory|old|python3 -c 'import mmap; f = open("old", "r+b"); m = mmap.mmap(f.fileno(), 0); x = m[0]; m[0:4] = b"priv"'
removed and made again|old|rm old && cat ../mine >old
sparse|f|dd if=../mine of=f bs=1 seek=1000000 2>/dev/null
its size alone|old|truncate -s 7 old
with a time of long ago|f|cat ../mine >f && touch -d 2001-01-01 f
read-only|f|cat ../mine >f && chmod 444 f
shut|f|cat ../mine >f && chmod 0 f
in a shut directory|sub/new|mkdir sub/new && cat ../mine >sub/new/f && chmod 0 sub/new
in a read-only directory|sub/f|cat ../mine >sub/f && chmod 555 sub
a directory|new|mkdir -p new/deep && cat ../mine >new/deep/f
an empty directory|new|mkdir new
an entry of a directory|sub|echo >"sub/$(cat ../mine)"
far below|1/2/3/4/5/6/7/8/9/10|mkdir -p 1/2/3/4/5/6/7/8/9/10 && cat ../mine >1/2/3/4/5/6/7/8/9/10/f
with an odd name|odd/ nl\n|mkdir odd && cat ../mine >"odd/ nl\n"
by a process that outlives the command|f|(sleep 0.1; cat ../mine >f) & sleep 0.3
its attribute taken off|f|cat ../mine >f && setfattr -x user.cordon.label f 2>/dev/null; true
END
}
by() { # write|edit, and then applied
        run run -q --status-fd 4 --read "$D/w/mine" "--$1" "$door" -- sh -c "cd $door && $script" 4>"$T/status" 2>"$T/err" || echo "$way: $(cat "$T/err")"
        [ "$1" = write ] || run apply "$(jq -r .work.layer "$T/status")" >"$T/said" 2>&1 || echo "$way: $(cat "$T/said")"
}
for kind in write edit; do ways | sed "s/^/$kind|/"; done | while IFS='|' read -r kind way left script; do
        anew
        by "$kind"
        way="$way by $kind"
        as "chmod -R u+rwx door; mv 'door/$left' out/moved && mv door/untouched door/kept out"
        echo "$way: $(label_of_box "$D/w/out/moved"), in a directory $(label_of_box "$D/w/out")"
        as "rm -rf out/moved"
        echo "$way, beside it: $(label_of_box "$D/w/out")"
done >"$T/table"
is "each way of writing is seen in what is moved out" "$(grep -v -e ': private:mine, in a directory private:mine$' -e 'beside it: ' "$T/table")" ""
is "all of them were tried" "$(grep -c 'in a directory' "$T/table")" "$(($(ways | wc -l) * 2))"
is "what was not written has no label" "$(grep 'beside it: ' "$T/table" | grep -v ': none$')" ""

# ---- who writes ----
by_a_session() { run session new -q --name "s$$" --read "$D/w/mine" --write "$door" >/dev/null 2>&1; run session run "s$$" -- sh -c "$write" >/dev/null 2>&1; }
by_a_run_that_fails() { run run -q --read "$D/w/mine" --write "$door" -- sh -c "$write; exit 3" >/dev/null 2>&1; }
by_a_run_without_time() { run run -q --time 1s --read "$D/w/mine" --write "$door" -- sh -c "$write; sleep 60" >/dev/null 2>&1; }
by_a_killed_run() {
        as_user sh -c 'echo $$ >"$1"; shift; exec "$@"' sh "$T/d/pid" "$CORDON" run -q --read "$D/w/mine" --write "$door" -- \
                sh -c "$write; echo >$door/ready; sleep 60" >/dev/null 2>&1 </dev/null &
        soon test -e "$door/ready"
        kill -9 "$(cat "$T/d/pid")"
        wait $!
        soon sh -c "! flock -n -E 9 $T/state-user/labels/pending/* true; [ \$? -ne 9 ]"
}
by_the_process_wall() { run run -q --wall process --read "$D/w/mine" --write "$door" -- sh -c "$write" >/dev/null 2>&1; }
late() { # DIR OPTION...: a file in it gets the label while the run reads there
        sync=$1
        shift
        run run -q "$@" -- sh -c "echo >$door/ready; until [ -e $D/w/$sync/go ]; do sleep 0.05; done; cat $D/w/$sync/late >$door/f" >"$T/said" 2>&1 &
        soon test -e "$door/ready"
        as "cat mine >$sync/late"
        run label add "$D/w/$sync/late" private:mine
        as "touch $sync/go"
        wait $!
}
by_a_run_that_is_labelled_late() {
        as 'mkdir one; echo >one/late'
        late one --read "$D/w/one" --write "$door"
}
by_a_parked_box() { # which is labelled late, too; behind a door that had no label
        as 'mkdir two fresh; echo >two/late'
        door=$D/w/fresh
        printf 'use base/system\nrun any\nread %s\nwrite %s\n' "$D/w/two" "$door" >"$T/d/p"
        run serve pool add --size 1 -p "$T/d/p" >/dev/null 2>&1
        soon is_ready
        late two --pool require -p "$T/d/p"
        run serve pool rm --all >/dev/null 2>&1
        door=$D/w/door
        as 'mv fresh/f door/f'
}
is_ready() { [ "$(run serve pool stats --json 2>/dev/null | jq .parked)" -ge 1 ]; }
write="cat $D/w/mine >$door/f"
serve
for writer in by_a_session by_a_run_that_fails by_a_run_without_time by_a_killed_run by_the_process_wall by_a_run_that_is_labelled_late by_a_parked_box; do
        anew
        $writer
        [ "$writer" != by_a_killed_run ] || run label show >/dev/null # any command that looks at labels
        if [ "$writer" = by_the_process_wall ] && [ ! -e "$door/f" ]; then
                skip "$writer" "it cannot be raised here"
                continue
        fi
        as 'mv door/f door/kept out'
        is "$writer: what it wrote, and what it did not" "$(label_of_box "$D/w/out/f") $(label_of_box "$D/w/out/kept")" "private:mine none"
done
run session end "s$$" >/dev/null 2>&1
is "nothing is left to be stamped" "$(as_user ls "$T/state-user/labels/pending")" ""

# ---- ways of moving: NAME|LABEL|a script beside the door ----
moves() {
        cat <<'END'
mv|private:mine|mv door/f out/moved
cp with attributes|private:mine|cp --preserve=xattr door/f out/moved
cp -a of the directory|private:mine|cp -a door out/moved
mv of the directory|private:mine|mv door out/moved
a hard link|private:mine|ln door/f out/moved
a plain copy, which bears none|none|cp -r door/f out/moved
tar with attributes|private:mine|tar -C door --xattrs --xattrs-include='user.*' -cf t.tar f && mkdir out/moved && tar -C out/moved --xattrs --xattrs-include='user.*' -xf t.tar
END
}
moves | while IFS='|' read -r move want script; do
        anew
        run run -q --read "$D/w/mine" --write "$door" -- sh -c "$write" 2>/dev/null
        as "$script" || echo "$move failed"
        got="$(label_of_box "$D/w/out/moved")"
        [ "$got" = "$want" ] || echo "$move: $got"
        as "rm -f door/f t.tar"
done >"$T/table"
is "each way of moving keeps the label, as the manual says" "$(cat "$T/table")" ""

# ---- a label that is dropped, and what keeps none ----
anew
run run -q --read "$D/w/mine" --write "$door" -- sh -c "$write" 2>/dev/null
as "XDG_RUNTIME_DIR=$rt python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))' '$CORDON' label drop --reason 'I read it' $door private:mine" >"$T/said" 2>&1 </dev/null
as 'mv door/f out/f'
is "dropped from a directory, what it wrote there loses it" "$(label_of_box "$D/w/out")$(cat "$T/said")" none
if [ "$(id -u)" -eq 0 ]; then
        anew
        mkdir "$door/fs"
        unshare -m sh -c 'mount -t ramfs ramfs "$1" && chmod 777 "$1" && shift && exec setpriv --reuid 65533 --regid 65533 --clear-groups "$@"' sh \
                "$door/fs" env HOME=/nonexistent CORDON_STATE="$T/state-user" "$CORDON" run --json --read "$D/w/mine" --write "$door" -- \
                sh -c "echo BEGAN; cat $D/w/mine >$door/fs/f" >"$T/said" 2>"$T/err" </dev/null
        if grep -q BEGAN "$T/said"; then
                is "a file and its directory that keep no attributes are told" "$(tail -n 1 "$T/err" | jq -r '"\(.unstamped) \(.unstamped_file)"')" "2 $door/fs"
        else
                skip "a file that keeps no attribute is told" "nothing can be mounted here"
        fi
fi
done_testing

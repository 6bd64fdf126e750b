#!/bin/sh
# diff, apply and undo as users of git have them in their fingers: words in any order, pipes, pagers, renames, ten thousand files,
# several layers over one tree, git itself in the box. And what a layer carries beside content: the door's own mode, attributes,
# access lists, times; where a file came from; what a power cut took; how much it may hold; how much work it is.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
state() { state_of $who; }
layers() { find "$(state)/work" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l; }
fresh() { rm -rf "$D" && mkdir -p "$D/p/src" && printf 'one\ntwo\nthree\n' >"$D/p/a" && echo b >"$D/p/src/b" && mine; }

for who in root as_user; do
        D="$T/$who"
        # --- words in any order ---
        fresh
        edit 'echo 2 >>a; mv src/b src/c; echo new >n'
        is "$who: options stand behind the run too" "$(cordon diff "$run" --name-only | tr '\n' ' ')" "a n src/b src/c "
        is "$who: and behind paths" "$(cordon diff "$run" src --name-only | tr '\n' ' ')" "src/b src/c "
        is "$who: -- before paths, with a run" "$(cordon diff "$run" --name-only -- a)" a
        is "$who: and without one" "$(cordon diff --name-only -- a)" a
        is "$who: a value is not taken for a word" "$(cordon diff "$run" --color never --name-only a)" a
        is "$who: a path that names no change is an error" "$(cordon diff "$run" nothing >out; echo $?; head -n 1 out)" "125
cordon: error: the overlay $run changes nothing at nothing"
        is "$who: for apply as well" "$(cordon apply "$run" a nothing >out; echo $?)" 125
        is "$who: and nothing was applied" "$(cat "$D/p/a" | tr '\n' ' ')" "one two three "
        has "$who: a path where a run should stand is the path" "$(cordon diff src/b)" 'src/b: renamed to src/c'
        has "$who: --stat tells a rename once" "$(cordon diff --stat "$run")" "src/b => src/c | +0 -0 (renamed)"
        hasnt "$who: not twice" "$(cordon diff --stat "$run")" "src/b | "
        has "$who: the old name alone tells it too" "$(cordon diff --stat "$run" src/b)" "src/b => src/c | "
        # --- which layer is meant without a name ---
        mkdir "$D/other" "$D/other/sub" "$D/third" && mine
        $who "$CORDON" run -q --no-stdin --edit "$D/other" --cwd "$D/other" -- sh -c 'echo o >o' && sleep 0.01
        $who "$CORDON" run -q --no-stdin --edit "$D/p" --cwd "$D/p" -- sh -c 'echo later >l'
        is "$who: in a project its own layer is meant" "$(cd "$D/other" && cordon diff --name-only)" o
        is "$who: also further down in it" "$(cd "$D/other/sub" && cordon diff --name-only)" o
        is "$who: and behind a link" "$(ln -s other "$D/link"; cd "$D/link" && cordon diff --name-only)" o
        mkdir "$D/only" && mkdir "$D/only/part" && mine
        cordon diff --list >listed
        for verb in diff apply discard; do
                out=$(cd "$D" && cordon "$verb"; echo $?)
                has "$who: $verb above several projects takes none" "$out" "several projects below this directory have an overlay: "
                is "$who: lists them" "$(printf '%s\n' "$out" | grep -oE '\([^)]*/(p|other)\)' | sort | tr '\n' ' ')" "($D/other) ($D/p) ($D/p) "
                is "$who: and fails" "${out##*
}" 125
        done
        $who "$CORDON" run -q --no-stdin --edit "$D/only/part" --cwd "$D/only/part" -- sh -c 'echo x >x'
        is "$who: above one, that" "$(cd "$D/only" && cordon diff --name-only && cordon discard --yes >/dev/null)" x
        for verb in diff apply discard; do
                out=$(cd "$D/third" && cordon "$verb"; echo $?)
                has "$who: $verb elsewhere takes none of another project" "$out" "no changes of this directory to apply, but of these: "
                is "$who: $verb lists them all" "$(printf '%s\n' "$out" | grep -oE '\([^)]*/(p|other)\)' | sort | tr '\n' ' ')" "($D/other) ($D/p) ($D/p) "
                has "$who: $verb says how one is meant" "$out" "hint: name the one you mean"
                is "$who: $verb fails" "${out##*
}" 125
                mkdir "$D/gone" && mine
                is "$who: $verb in a directory that is gone takes none" "$(cd "$D/gone" && rmdir "$D/gone" && cordon "$verb" | grep -c 'no changes of this directory to apply')" 1
        done
        is "$who: and nothing was applied or thrown away" "$(cordon diff --list; ls "$D/other" "$D/p")" "$(cat listed; ls "$D/other" "$D/p")"
        ok "$who: not even in the files" test ! -e "$D/other/o" -a ! -e "$D/p/l"
        (cd "$D/other" && cordon apply >/dev/null && sleep 0.01)
        (cd "$D/p" && cordon apply >/dev/null)
        has "$who: undo elsewhere takes nothing back" "$(cd "$D/third" && cordon undo)" "no overlay of this directory was applied, but these were: "
        ok "$who: and both are there" test -e "$D/other/o" -a -e "$D/p/l"
        (cd "$D/other/sub" && cordon undo >/dev/null)
        ok "$who: undo in a project takes its own apply back" test ! -e "$D/other/o" -a -e "$D/p/l"
        (cd "$D/other" && cordon apply >/dev/null)
        has "$who: undo above both takes none back" "$(cd "$D" && cordon undo)" "several projects below this directory have an overlay: "
        ok "$who: and both are there still" test -e "$D/other/o" -a -e "$D/p/l"
        (cd "$D/other" && cordon undo >/dev/null; cd "$D/p" && cordon undo >/dev/null)
        ok "$who: until one is named by where it is" test ! -e "$D/other/o" -a ! -e "$D/p/l"
        has "$who: then there is none" "$(cd "$D" && cordon undo)" "no overlay has been applied"
        (cd "$D/other" && cordon discard --yes >/dev/null)
        is "$who: what is thrown away is of that project" "$(cd "$D" && cordon diff --name-only)" l
        (cd "$D" && cordon discard --yes >/dev/null)
        $who "$CORDON" run -q --no-stdin --name tidy --edit "$D/p" --cwd "$D/p" -- sh -c 'echo first >f' && sleep 0.01
        $who "$CORDON" run -q --no-stdin --name tidy --edit "$D/p" --cwd "$D/p" -- sh -c 'echo second >s'
        is "$who: a box's name is its newest layer" "$(cordon diff tidy --name-only)" s
        cordon apply tidy >/dev/null
        is "$who: also to apply and to undo" "$(cat "$D/p/s"; cordon undo tidy >/dev/null; ls "$D/p/s" 2>&1 | sed 's/.*: //')" "second
No such file or directory"
        cordon discard tidy >/dev/null
        is "$who: and when that is gone, the one before" "$(cordon diff tidy --name-only)" f
        cordon discard tidy >/dev/null
        # --- what cordon-doors(7) says of local clones, and of others' files ---
        if command -v git >/dev/null; then
                git init -q --bare "$D/p/up.git" && git clone -q "$D/p/up.git" "$D/made" 2>/dev/null && echo x >"$D/made/x" &&
                        git -C "$D/made" add x && git -C "$D/made" -c user.email=a@b -c user.name=n commit -qm one && git -C "$D/made" push -q origin HEAD
                mine
                clone() { $who "$CORDON" run -q --ledger off --no-stdin --cwd "$D/p" "$@" 2>&1; echo $?; }
                is "$who: a local clone behind one edit door, without hard links" "$(clone --edit "$D/p" -- git clone -q --no-hardlinks up.git copy)" 0
                mkdir -p "$D/p/out" && mine
                is "$who: and with them, behind two doors" "$(clone --read "$D/p/up.git" --edit "$D/p/out" -- git clone -q up.git out/copy)" 0
                cordon discard --yes >/dev/null && cordon discard --yes >/dev/null
                rm -rf "$D/made" "$D/p/up.git" "$D/p/out"
        else
                skip "$who: local clones" "git is not installed"
        fi
        if [ $who = root ] && [ "$(id -u)" -eq 0 ]; then
                echo theirs >"$D/p/theirs" && chown 65533:65533 "$D/p/theirs" && chmod 666 "$D/p/theirs"
                is "root: a file of another user is read and not changed" "$($who "$CORDON" run -q --no-stdin --edit "$D/p" -- sh -c "cat $D/p/theirs; echo x >>$D/p/theirs || echo refused" 2>/dev/null)" "theirs
refused"
                rm -f "$D/p/theirs"
        fi
        # --- pipes and pagers ---
        is "$who: into a pipe that closes nothing is said" "$( { cordon diff "$run" | head -n 1; } 2>&1 | wc -l)" 1
        if [ $who = root ] || [ "$(id -u)" -ne 0 ]; then
                has "$who: on a terminal, through the pager" "$(PAGER='sed s/^/paged:/' terminal env CORDON_STATE="$(state)" "$CORDON" diff "$run")" "paged:"
                has "$who: with colour" "$(TERM=xterm PAGER='cat -v' terminal env CORDON_STATE="$(state)" "$CORDON" diff "$run")" '^[[32m+2'
                hasnt "$who: but not with NO_COLOR" "$(TERM=xterm NO_COLOR=1 PAGER='cat -v' terminal env CORDON_STATE="$(state)" "$CORDON" diff "$run")" '^[[32m'
                hasnt "$who: nor on a terminal that has none" "$(TERM=dumb PAGER='cat -v' terminal env CORDON_STATE="$(state)" "$CORDON" diff "$run")" '^[[32m'
                hasnt "$who: nor on one that nobody named" "$(unset TERM; PAGER='cat -v' terminal env -u TERM CORDON_STATE="$(state)" "$CORDON" diff "$run")" '^[[32m'
                hasnt "$who: nor through it with --no-pager" "$(PAGER='sed s/^/paged:/' terminal env CORDON_STATE="$(state)" "$CORDON" diff --no-pager "$run")" "paged:"
                has "$who: a pager that is not there hides nothing" "$(PAGER=no-such-pager terminal env CORDON_STATE="$(state)" "$CORDON" diff --color never "$run")" "+2"
                has "$who: a pager that ends at once ends the show" "$(PAGER=true terminal env CORDON_STATE="$(state)" "$CORDON" diff "$run"; echo ended)" ended
        fi
        cordon discard "$run" >/dev/null

        # --- ten thousand files ---
        fresh
        tree "$D/p" >before
        edit 'mkdir d; cd d; i=0; while [ $i -lt 10000 ]; do echo $i >$i; i=$((i+1)); done'
        is "$who: ten thousand files are all shown" "$(cordon diff -v "$run" | grep -c ': added (file')" 10000
        is "$who: or summed up" "$(cordon diff "$run")" "d/ 10,000 files, 49 kB: added (name it, or -v, to see it)"
        has "$who: and counted" "$(cordon diff -v --stat "$run" | tail -n 1)" "10001 entries, 10000 lines added"
        has "$who: and land" "$(cordon apply "$run")" "applied 10001 entries"
        is "$who: all of them" "$(find "$D/p/d" -type f | wc -l)" 10000
        cordon undo "$run" >/dev/null
        tree "$D/p" >now
        ok "$who: and go again" cmp before now
        has "$who: a second undo says that there is nothing" "$(cordon undo "$run")" "nothing of the overlay $run has been applied"
        cordon discard "$run" >/dev/null

        # --- several layers over one tree ---
        fresh
        edit 'echo first >>a; echo x >one'
        first=$run
        edit 'echo second >src/b; echo y >two'
        second=$run
        edit 'echo third >>a'
        third=$run
        tree "$D/p" >before
        cordon apply "$first" >/dev/null
        has "$who: another layer over other files lands behind the first" "$(cordon apply "$second")" "applied 2 entries"
        has "$who: one over the same file is in the way" "$(cordon apply "$third")" "conflict: a: changed since"
        cordon undo "$first" >/dev/null
        is "$who: the first is taken back alone" "$(tail -n 1 "$D/p/a") $(cat "$D/p/src/b") $(ls "$D/p" | tr '\n' ' ')" "three second a src two "
        has "$who: then the other lands" "$(cordon apply "$third")" "applied 1 entry"
        cordon undo "$third" >/dev/null && cordon undo "$second" >/dev/null
        tree "$D/p" >now
        ok "$who: and all are taken back" cmp before now
        cordon discard "$first" "$second" "$third" >/dev/null

        # --- the door's own top, attributes, access lists, times ---
        fresh
        cp "$here/helpers/acl.py" "$D/p/acl.py" && mine
        edit 'chmod 750 .; mkdir n; echo x >n/f; touch -d "2002-02-02 02:02:02" n; python3 acl.py a 1000; python3 acl.py src/b 4242 && echo NAMED; python3 -c "import os; os.setxattr(\".\", \"user.mark\", b\"m\")"'
        hasnt "$who: no id outside the box gets into an access list" "$(cat err)" NAMED
        out=$(cordon diff "$run")
        has "$who: the mode of the door's own top is shown" "$out" ".: mode, attributes (040755 to 040750)"
        has "$who: and an access list" "$out" "a: mode, attributes"
        cordon apply --include-flagged "$run" >/dev/null
        is "$who: the mode lands" "$(stat -c %a "$D/p")" 750
        is "$who: the attribute lands" "$(python3 -c 'import os, sys; print(os.getxattr(sys.argv[1], "user.mark"))' "$D/p")" "b'm'"
        is "$who: the time of a new directory lands" "$(stat -c %Y "$D/p/n")" "$(date -d '2002-02-02 02:02:02' +%s)"
        has "$who: the access list lands" "$(python3 -c 'import os, sys; print(os.listxattr(sys.argv[1]))' "$D/p/a")" system.posix_acl_access
        cordon undo "$run" >/dev/null
        is "$who: undo takes mode and attribute back" "$(stat -c %a "$D/p") $(python3 -c 'import os, sys; print(os.listxattr(sys.argv[1]))' "$D/p")" "755 []"
        chmod 711 "$D/p"
        has "$who: a mode that the host changed since is in the way" "$(cordon apply --include-flagged "$run")" "conflict: .: changed its mode"
        chmod 755 "$D/p"
        cordon discard "$run" >/dev/null
        n=$(layers)
        rm -f go && mkfifo go && : >out
        $who "$CORDON" run -q --edit "$D/p" -- sh -c 'echo began; read -r line' <go >out &
        exec 8>go
        soon test -s out
        chmod 700 "$D/p"
        exec 8>&-
        wait $!
        is "$who: a mode that the host changed meanwhile is not the box's" "$(layers)" "$n"
        chmod 755 "$D/p"

        # --- where a file came from ---
        fresh
        printf 'x\n' >"$D/p/closed" && chmod 444 "$D/p/closed" && mine
        origin() { python3 -c 'import os, sys; print(os.getxattr(sys.argv[1], "user.cordon.origin").decode())' "$1" 2>/dev/null || echo none; }
        edit 'echo y >a; python3 -c "import os; os.setxattr(\"a\", \"user.cordon.origin\", b\"forged\")"; rm closed; echo z >closed; python3 -c "import os; os.setxattr(\"closed\", \"user.cordon.origin\", b\"forged\")"; chmod 444 closed; mkdir d'
        cordon apply "$run" >/dev/null
        is "$who: an applied file says which run it came from" "$(origin "$D/p/a" | sed 's/\..*//')" "$run"
        is "$who: also one that nobody may write, whatever the box wrote there" "$(origin "$D/p/closed" | sed 's/\..*//') $(stat -c %a "$D/p/closed")" "$run 444"
        is "$who: what was not applied says nothing" "$(origin "$D/p/src/b")" none
        cordon undo "$run" >/dev/null
        is "$who: after undo, neither" "$(origin "$D/p/a")" none
        hasnt "$who: and the diff is as it was" "$(cordon diff "$run")" attributes
        cordon apply --as-patch "$D/patch" "$run" >/dev/null
        has "$who: a patch says it too" "$(head -n 1 "$D/patch")" "$run"
        sum=$(sha256sum <"$D/patch" | cut -d ' ' -f 1)
        id=$(cordon ledger --json --kind file | jq -r "select(.digest == \"sha256:$sum\") | .id")
        has "$who: and its digest leads back to the box, wherever it is applied" "$(cordon ledger trace --back "$id" 2>&1)" "$run.end"
        cordon discard "$run" >/dev/null

        # The box may leave no room for our attribute; its own word about the origin does not stay.
        fresh
        edit 'python3 -c "
import os
open(\"full\", \"w\").close()
os.setxattr(\"full\", \"user.cordon.origin\", b\"z\")
n = 0
for size in (4000, 1000, 300, 100, 30, 10, 3, 1):
    while n < 200:
        try: os.setxattr(\"full\", \"user.f%d\" % n, b\"x\" * size)
        except OSError: break
        n += 1"'
        cordon apply "$run" >/dev/null
        case $(origin "$D/p/full") in none | "$run"*) pass "$who: a file full of attributes keeps no forged origin" ;; *) fail "$who: a file full of attributes keeps no forged origin" "$(origin "$D/p/full")" ;; esac
        cordon undo "$run" >/dev/null
        cordon discard "$run" >/dev/null

        # --- git in the box ---
        if command -v git >/dev/null; then
                fresh
                as() { $who env HOME="$D" GIT_CONFIG_NOSYSTEM=1 "$@"; }
                as git -C "$D/p" init -q && as git -C "$D/p" add -A && as git -C "$D/p" -c user.name=a -c user.email=a@b commit -qm one
                sleep 1.1 && as git -C "$D/p" status >/dev/null
                n=$(layers)
                has "$who: git status in a box" "$(cordon run -q --no-stdin --edit "$D/p" --cwd "$D/p" -- git status)" "nothing to commit"
                is "$who: reads no file again: its index is as it was" "$(layers)" "$n"
                edit 'echo more >>a; git -c user.name=a -c user.email=a@b commit -qam two; git mv src/b src/c; git -c user.name=a -c user.email=a@b commit -qm three'
                cordon apply --include-flagged "$run" >/dev/null
                is "$who: commits of a box land whole" "$(as git -C "$D/p" log --format=%s | tr '\n' ' ')$(as git --no-optional-locks -C "$D/p" status --porcelain)$(as git -C "$D/p" fsck 2>&1)" "three two one "
                cordon undo "$run" >out
                is "$who: and are taken back" "$(as git -C "$D/p" log --format=%s)$(as git --no-optional-locks -C "$D/p" status --porcelain)" one
                cordon discard "$run" >/dev/null
        else
                skip "$who: git in the box" "git is not installed"
        fi

        # --- what a power cut took ---
        fresh
        edit 'seq 100 >a; echo x >n'
        upper="$(state)/work/$run/door-0/upper"
        cp -a "$upper/a" kept && : >"$upper/a"
        tree "$D/p" >before
        has "$who: a file that the disk never got is in the way" "$(cordon apply "$run")" "conflict: a: the overlay does not hold what the box left"
        has "$who: also elsewhere" "$(mkdir to; [ $who = root ] || chown 65533 to; cordon apply --to "$T/to" "$run"; rm -r to)" "the overlay does not hold what the box left"
        cp -a kept "$upper/a"
        printf '9\n8\n' | dd of="$upper/a" conv=notrunc status=none
        is "$who: the size is what it was" "$(stat -c %s "$upper/a")" "$(stat -c %s kept)"
        has "$who: an older content of the same size is in the way, too" "$(cordon apply "$run")" "conflict: a: the overlay does not hold what the box left"
        has "$who: diff says so" "$(cordon diff "$run")" "the overlay does not hold what the box left"
        has "$who: no run goes on in it" "$(cordon run -q --no-stdin --on "$run" --edit "$D/p" -- true)" "a: the overlay does not hold what the box left"
        has "$who: and it is still there" "$(cordon diff --list)" "$(short "$run")"
        had=$(cordon diff --list --json | jq length)
        has "$who: nor in a copy of it" "$(cordon run -q --no-stdin --on "$run" --copy --edit "$D/p" -- true)" "a: the overlay does not hold what the box left"
        is "$who: of which nothing is left" "$(cordon diff --list --json | jq length)" "$had"
        cp -a kept "$upper/a"
        base="$(state)/work/$run/base"
        for how in 'truncate -s -1' 'truncate -s 0' 'truncate -s 20' 'rm'; do
                cp -a "$base" base && $how "$base"
                has "$who: a base that is not whole is not believed: $how" "$(cordon apply "$run")" "is incomplete"
                cp -a base "$base"
        done
        tree "$D/p" >now
        ok "$who: and nothing was touched" cmp before now
        has "$who: whole again, it lands" "$(cordon apply "$run")" "applied 2 entries"
        cordon discard "$run" >/dev/null
        edit 'python3 -c "import os; f = open(\"s\", \"w\"); f.write(\"x\"); f.flush(); os.fsync(f.fileno())" && sync && echo synced >t; echo FINE >&2'
        has "$who: a program may ask for the disk" "$(cat err)" FINE

        # --- how much it may hold ---
        fresh
        is "$who: a limit of entries goes with the disk's" "$($who "$CORDON" run -q --no-stdin --disk 16M --edit "$D/p" --json -- sh -c "cd $D/p; i=0; while [ \$i -lt 6000 ]; do : >\$i; i=\$((i+1)); done; sleep 20" 2>&1 | grep '^{' | jq -r .limit)" disk
        for l in $(cordon diff --list --json | jq -r '.[].run'); do cordon discard "$l" >/dev/null; done
done

# --- a state that is full, or cannot be written: told as that, and what waits in it is not denied ---
if [ "$(id -u)" -eq 0 ]; then
        mkdir small p2
        # shellcheck disable=SC2016
        unshare -m sh -c '
                export CORDON_STATE=$PWD/small CORDON_LEDGER=off
                mount -t tmpfs -o size=96k,mode=700 small small && dd if=/dev/zero of=small/fill bs=1k count=96 2>/dev/null
                "$CORDON" run -q --no-stdin --edit p2 -- true 2>full
                echo $? >codes
                rm small/fill
                "$CORDON" run -q --no-stdin --edit p2 -- sh -c "echo x >p2/f"
                mount -o remount,ro small
                for verb in "run -q --no-stdin --edit p2 -- true" diff apply "discard --yes"; do
                        "$CORDON" $verb >"said.${verb%% *}" 2>&1
                        echo $? >>codes
                done
                mount -o remount,rw small
                for meta in small/work/*/meta; do printf version=999 >"$meta"; done
                "$CORDON" diff >later 2>&1'
        is "full and read-only: who wants to write fails" "$(paste -s -d ' ' codes)" "125 125 0 125 125"
        has "full: it says what to do" "$(cat full)" "hint: make room"
        has "read-only: a run says where" "$(cat said.run)" "CORDON_STATE"
        has "read-only: what waits is shown" "$(cat said.diff)" "f: added"
        hasnt "read-only: apply does not deny that it waits" "$(cat said.apply)" "no overlay"
        has "read-only: it tells why" "$(cat said.apply)" "Read-only file system"
        has "read-only: so does discard" "$(cat said.discard)" "Read-only file system"
        has "a later cordon's layer is not denied either" "$(cat later)" "was written by a later cordon"
else
        skip "a state that is full or cannot be written" "only root may mount one here"
fi

# --- how much work it is: the change counts, not the tree ---
if strace -f -o "$T/probe" true 2>/dev/null && [ -s "$T/probe" ]; then
        for n in 100 20000; do
                mkdir "$T/t$n"
                seq -f "$T/t$n/%g" 1 $n | xargs touch
                "$CORDON" run -q --no-stdin --edit "$T/t$n" --cwd "$T/t$n" --status-fd 3 -- sh -c 'for i in 1 2 3 4 5; do echo x >$i; done; mkdir d; echo y >d/new; rm 7' 3>status
                run=$(jq -r .work.layer status)
                for verb in diff apply undo; do
                        strace -f -o trace "$CORDON" $verb "$run" >/dev/null 2>&1 </dev/null
                        sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' trace | grep -c -v -x -e futex -e poll >"$verb.$n"
                done
        done
        for verb in diff apply undo; do
                few=$(cat $verb.100) many=$(cat $verb.20000)
                ok "$verb makes as many calls over 20,000 unchanged files as over 100 ($many, $few)" test "$many" -gt 50 -a $((many - few)) -le 30
        done
else
        skip "diff, apply and undo over many unchanged files" "strace cannot trace here"
fi
# --- the newest run of the directory one is in: not of one that lies above, nor none because several lie below ---
mkdir -p "$D/nest/in/a" "$D/nest/in/b" && chmod -R a+rwX "$D/nest"
nested() { (cd "$1" && shift && CORDON_STATE=$T/nested "$CORDON" "$@"); }
nested "$D/nest/in" run -q --no-stdin --edit . -- sh -c 'echo o >o'
for sub in a b; do sleep 0.01 && nested "$D/nest/in" run -q --no-stdin --edit "$sub" -- sh -c "echo $sub >$sub/$sub"; done
is "the newest run of a directory, also behind a door below" "$(nested "$D/nest/in" diff --name-only)" b
sleep 0.01 && nested "$D/nest" run -q --no-stdin --edit . -- sh -c 'echo above >above'
is "a later run of the directory above is not meant" "$(nested "$D/nest/in" diff --name-only)" b
is "but there it is" "$(nested "$D/nest" diff --name-only)" above
done_testing

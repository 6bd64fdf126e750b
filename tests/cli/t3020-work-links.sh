#!/bin/sh
# Second names and repositories behind one edit door: ln, cp -l, git clone, git worktree add, git gc do what they do outside, and
# an apply of it equals doing it outside. And what a hostile box could make of a second name.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
fresh() {
        rm -rf "$D" && mkdir -p "$D/p/d" && echo z >"$D/p/z" && echo a >"$D/p/a" && ln "$D/p/a" "$D/p/a2" && echo e >"$D/p/d/e" && echo f >"$D/p/f"
        mine
}
# same NAME SCRIPT: in a box and applied, as outside
same() {
        fresh
        rm -rf "$D.out" && cp -a "$D/p" "$D.out"
        edit "$2"
        (cd "$D.out" && $who sh -c "$2") >/dev/null 2>&1
        tree "$D/p" >before
        cordon apply "$run" >out || cat out
        cordon undo "$run" >/dev/null
        tree "$D/p" >now
        ok "$who: $1: undo restores" cmp before now
        cordon apply "$run" >out || cat out
        cordon discard "$run" >/dev/null # what it keeps for undo is a name too
        tree "$D/p" >now
        tree "$D.out" >want
        ok "$who: $1: apply equals doing it outside" diff want now
}
inode() { stat -c %i "$1"; }
as() { $who env HOME="$D" GIT_CONFIG_NOSYSTEM=1 "$@"; }
repository() {
        fresh
        as git init -q "$D/p/up" && echo one >"$D/p/up/one" && mine && as git -C "$D/p/up" add one &&
                as git -C "$D/p/up" -c user.name=a -c user.email=a@b commit -qm one
}

for who in root as_user; do
        D="$T/$who"
        same "ln" 'ln z z2; ln z d/z3; ln d/e e'
        same "ln to one that has two names already" 'ln a a3'
        same "ln -f over another file" 'ln -f z f'
        same "ln, and both are changed" 'ln z z2; echo more >>z2'
        same "ln, and the first name goes" 'ln z z2; rm z'
        same "cp -l" 'cp -l z d/z4; cp -rl d dd'
        fresh
        edit 'ln z z2; cmp z z2 && echo more >>z2 && tail -n 1 z >&2'
        is "$who: in the box both names are one file" "$(cat err)" more

        # --- what is shown ---
        fresh
        edit 'ln z z2'
        has "$who: diff says whose second name it is" "$(cordon diff "$run")" "z2: added (file, 100644) (a second name of z)"
        is "$who: --json too" "$($who "$CORDON" diff --json "$run" | jq -r '.entries[] | .path + " " + .link')" "z2 z"
        cordon apply "$run" >/dev/null
        is "$who: the host's own file has both names" "$(inode "$D/p/z2")" "$(inode "$D/p/z")"
        is "$who: and is not said to come from the box" "$(python3 -c 'import os, sys; print(os.listxattr(sys.argv[1]))' "$D/p/z")" "[]"
        echo later >>"$D/p/z"
        has "$who: undo sees that it was changed by its other name" "$(cordon undo "$run")" "conflict: z2: changed since"
        cordon discard "$run" >/dev/null

        # --- one of two names is changed: the kernel cannot tell in place from replaced, so it is told ---
        fresh
        echo more >"$D/p/m" && ln "$D/p/m" "$D/m2" && echo both >"$D/p/b" && ln "$D/p/b" "$D/p/b2" && mine
        tree "$D/p" >before
        edit 'echo x >>a; chmod 600 m; rm d/e; ln -f z f; echo y >>b; ln -f b b2; ln z z2'
        has "$who: diff says that a file comes apart" "$(cordon diff "$run")" "a: changed (has 2 names on the host, and becomes a file of its own)"
        has "$who: also where the other name is outside, and only a mode changed" "$(cordon diff "$run")" "m: mode (100644 to 100600) (has 2 names on the host"
        is "$who: --json too, and not of others" "$($who "$CORDON" diff --json "$run" | jq -c '[.entries[] | select(.host_names) | [.path, .host_names]]')" '[["a",2],["m",2]]'
        is "$who: apply says it in JSON" "$($who "$CORDON" apply --json "$run" 2>/dev/null | jq -c '[.entries[] | select(.host_names) | .path]')" '["a","m"]'
        is "$who: the other name keeps what it has" "$(cat "$D/p/a2") $(stat -c %a "$D/m2")" "a 644"
        ok "$who: names that changed together stay together" test "$D/p/b" -ef "$D/p/b2"
        cordon undo "$run" >/dev/null
        ok "$who: undo makes them one file again" test "$D/p/a" -ef "$D/p/a2" -a "$D/p/m" -ef "$D/m2" -a "$D/p/b" -ef "$D/p/b2"
        tree "$D/p" >now
        ok "$who: undo restores all of it" cmp before now
        out=$(cordon apply "$run")
        has "$who: apply says it" "$out" "note: a: had 2 names, and is a file of its own now"
        hasnt "$who: and not of what stays together" "$out" "note: b"
        cordon undo "$run" >/dev/null && cordon discard "$run" >/dev/null

        # --- the host's file is another by now: what the box left lands, as a copy ---
        fresh
        edit 'ln z z2'
        rm "$D/p/z" && echo other >"$D/p/z" && mine
        cordon apply "$run" z2 >out
        is "$who: a file that changed since is not linked" "$(cat "$D/p/z2") $(cat "$D/p/z")" "z other"
        cordon discard "$run" >/dev/null
        fresh
        edit 'ln z z2'
        ln -sf /etc/passwd "$D/p/z"
        cordon apply "$run" z2 >out
        is "$who: nor is what a link in its place leads to" "$(cat "$D/p/z2")" z
        cordon discard "$run" >/dev/null
        fresh
        edit 'ln z z2'
        mkdir "$D/to" && echo z >"$D/to/z" && mine
        cordon apply --to "$D/to" "$run" >out
        is "$who: in another directory it is a file of its own" "$(cat "$D/to/z2") $(stat -c %h "$D/p/z" "$D/to/z" "$D/to/z2" | tr '\n' ' ')" "z 1 1 1 "
        cordon discard "$run" >/dev/null

        # --- a box that means ill ---
        fresh
        mkdir -p "$D/p/.git/hooks" "$D/q" && echo '#!/bin/sh' >"$D/p/.git/hooks/post-commit" && echo other >"$D/q/secret" && echo kept >"$D/p/kept" && mine
        edit 'ln .git/hooks/post-commit notes.txt'
        has "$who: a second name of what the host executes is held back" "$(cordon apply "$run"; ls "$D/p/notes.txt" 2>&1)" "held back: notes.txt"
        cordon discard "$run" >/dev/null
        is "$who: no link to a file of another door" "$($who "$CORDON" run -q --ledger off --no-stdin --edit "$D/p" --edit "$D/q" -- ln "$D/q/secret" "$D/p/mine" 2>&1 | sed 's/.*: //')" "Invalid cross-device link"
        is "$who: nor to one behind a read door" "$($who "$CORDON" run -q --ledger off --no-stdin --edit "$D/p" --read "$D/q" -- ln "$D/q/secret" "$D/p/mine" 2>&1 | sed 's/.*: //')" "Invalid cross-device link"
        echo "edit $D/p except kept" >policy
        is "$who: nor to what an except names" "$($who "$CORDON" run -q --ledger off --no-stdin -p policy -- ln "$D/p/kept" "$D/p/mine" 2>&1 | sed 's/.*: //')" "Invalid cross-device link"
        chmod 4755 "$D/p/z"
        edit 'ln z z2'
        cordon apply "$run" >out
        is "$who: no second name of a set-id file unasked" "$(stat -c %h "$D/p/z")" 1
        cordon discard "$run" >/dev/null

        # --- git ---
        command -v git >/dev/null || { skip "$who: repositories behind one edit door" "git is not installed"; continue; }
        repository
        edit 'git clone -q up copy && git clone -q "$PWD/up" copy2 && git clone -q --bare up bare.git && echo CLONED >&2'
        is "$who: git clone of a path, inside one edit door" "$(cat err)" CLONED
        cordon apply --include-flagged "$run" >out || cat out
        is "$who: the clone lands whole" "$(as git -C "$D/p/copy" fsck 2>&1; as git -C "$D/p/copy" log --format=%s; as git -C "$D/p/copy" status --porcelain; cat "$D/p/copy/one")" "one
one"
        is "$who: and knows where it came from as one made outside" "$(as git -C "$D/p/copy" config remote.origin.url)" "$D/p/up"
        as git clone -q "$D/p/up" "$D/p/outside"
        is "$who: it has what a clone outside has" "$(as git -C "$D/p/copy" for-each-ref)" "$(as git -C "$D/p/outside" for-each-ref)"
        cordon discard "$run" >/dev/null
        edit 'cd copy && git fetch -q && git push -q origin HEAD:refs/heads/other && echo PUSHED >&2'
        is "$who: fetch and push between them" "$(cat err)" PUSHED
        cordon discard "$run" >/dev/null
        repository
        edit 'cd up && git worktree add -q ../tree 2>/dev/null && git gc -q && echo DONE >&2'
        is "$who: git worktree add and git gc" "$(cat err)" DONE
        cordon apply --include-flagged "$run" >out || cat out
        is "$who: the second tree lands" "$(as git -C "$D/p/up" worktree list | wc -l; cat "$D/p/tree/one"; as git -C "$D/p/tree" status --porcelain)" "2
one"
        is "$who: the repository is whole, and packed" "$(as git -C "$D/p/up" fsck 2>&1; as git -C "$D/p/up" count-objects -v | grep -E '^(count|packs|garbage)' | tr '\n' ' ')" "count: 0 packs: 1 garbage: 0 "
        cordon discard "$run" >/dev/null
        # A changed file and its new name are one file after an apply: the name is told, and held back as the file is.
        rm -rf "$D" && mkdir -p "$D/p/pub" && printf 'all:\n' >"$D/p/Jenkinsfile" && echo x >"$D/p/plain" && mine
        edit 'ln Jenkinsfile pub/m; echo "# y" >>Jenkinsfile; ln plain pub/p; echo y >>plain; echo n >new; ln new pub/new'
        is "$who: the second name of a changed file is told" "$(cordon diff --json "$run" | jq -c '[.entries[] | select(.link) | [.path, .link, (.flags | length)]]')" \
                '[["pub/m","Jenkinsfile",1],["pub/p","plain",0]]'
        cordon apply "$run" >out 2>&1
        is "$who: and held back with it" "$(ls "$D/p/pub" | tr '\n' ' ')" "new p "
        cordon apply --include-flagged "$run" >out 2>&1 || cat out
        ok "$who: then they are one file" test "$D/p/Jenkinsfile" -ef "$D/p/pub/m"
        cordon discard "$run" >/dev/null
        # A path with a percent sign is not decoded; a box that lists its programs is left alone.
        repository
        mv "$D/p" "$D/p%41" && mkdir "$D/p" && mine
        is "$who: a door with a percent sign in its name" "$($who "$CORDON" run -q --ledger off --no-stdin --edit "$D/p%41" --cwd "$D/p%41" -- git clone -q up copy 2>&1; echo $?)" 0
        printf 'use base/loader\nrun env\nedit %s\n' "$D/p" >policy
        is "$who: where programs are listed, git is told nothing" "$($who "$CORDON" run -q --ledger off --no-stdin -p policy -- env 2>&1 | sed 's/=.*//' | sort | tr '\n' ' ')" "HOME LANG PATH TERM USER "
        for l in $(cordon diff --list --json | jq -r '.[].run'); do cordon discard "$l" >/dev/null; done
done
done_testing

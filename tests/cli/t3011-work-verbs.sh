#!/bin/sh
# diff, apply, undo, discard, fork, --keep and --on: what is shown, what lands, what is held back, and what a hostile tree
# cannot make the host's side do.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
fresh() { rm -rf "$D" && mkdir -p "$D/p/src" "$D/outside" && printf 'one\ntwo\nthree\n' >"$D/p/a" && echo b >"$D/p/src/b" && echo secret >"$D/outside/secret" && mine; }

for who in root as_user; do
        D="$T/$who"
        # --- diff ---
        fresh
        edit 'printf "one\n2\nthree\nfour\n" >a; echo new >n; rm src/b; mkdir e; ln -s a l; printf "\0\1bin" >bin; mv n moved'
        out=$(cordon diff "$run")
        has "$who: a changed line goes" "$out" "-two"
        has "$who: and comes" "$out" "+2"
        has "$who: with its hunk" "$out" "@@ -1,3 +1,4 @@"
        has "$who: an added file" "$out" "moved: added (file, 100644)"
        has "$who: a deleted one" "$out" "src/b: deleted"
        has "$who: an empty directory" "$out" "e: added (directory, 040755)"
        has "$who: a link" "$out" "l: added (link"
        has "$who: a binary file is summed up" "$out" "binary: 0 to 5 bytes"
        is "$who: the newest is taken without a name" "$(cordon diff)" "$out"
        is "$who: a beginning of the id is enough" "$(cordon diff "${run%?}")" "$out"
        is "$who: names only" "$(cordon diff --name-only "$run" | tr '\n' ' ')" "a bin e l moved src/b "
        has "$who: a line for each" "$(cordon diff --stat "$run")" "  a | +2 -1 (changed)"
        is "$who: JSON says the same" "$(cordon diff --json "$run" | jq -r '[.entries[].path] | join(" ")')" "a bin e l moved src/b"
        is "$who: only what is named" "$(cordon diff --name-only "$run" src)" "src/b"
        has "$who: colour when it is asked for" "$(cordon diff --color always "$run")" "$(printf '\033[32m+2')"
        hasnt "$who: none into a file" "$out" "$(printf '\033')"
        has "$who: the list has it" "$(cordon diff --list)" "$(short "$run")"
        has "$who: in JSON" "$(cordon diff --list --json | jq -r '.[].run')" "$run"
        has "$who: the run says what it left" "$($who "$CORDON" run --no-stdin --edit "$D/p" -- sh -c "echo x >$D/p/a" 2>&1)" "1 change in an overlay, 0 flagged: cordon diff"
        cordon discard --yes >/dev/null
        fresh
        printf 'some content\n' >"$D/p/old-name" && mine
        edit 'mv old-name new-name; chmod 755 a'
        out=$(cordon diff "$run")
        has "$who: a rename is told once" "$out" "new-name: renamed from old-name"
        hasnt "$who: and not as a deletion" "$out" "old-name: deleted"
        fresh
        printf 'some content\n' >"$D/p/old-name" && mine
        edit "rm old-name; printf 'SOME CONTENT\\n' >new-name; chmod 755 a"
        out=$(cordon diff "$run")
        hasnt "$who: another content of the same size is no rename" "$out" "renamed"
        has "$who: but a deletion" "$out" "old-name: deleted"
        has "$who: a mode" "$out" "(100644 to 100755)"
        # --- hostile text and names ---
        fresh
        edit 'printf "a\033]0;title\007b\342\200\256evil\n" >t; : >"$(printf "n\033[2J")"; : >"$(printf "two\nlines")"; : >"$(printf "\377\376")"'
        out=$(cordon diff --color never "$run"; cordon diff --stat "$run"; cordon diff --name-only "$run"; cordon diff --list)
        is "$who: no control byte reaches the terminal" "$(printf '%s' "$out" | tr -d '\n\t' | LC_ALL=C tr -d '\040-\176' | wc -c)" 0
        has "$who: bidi is spelled out" "$out" 'u{202e}'
        is "$who: JSON keeps the bytes of a name" "$(cordon diff --json "$run" | jq -r '.entries[] | select(.path_hex) | .path_hex')" fffe
        cordon apply --include-flagged "$run" >/dev/null
        ok "$who: such names land" test -e "$D/p/$(printf 'two\nlines')"
        ok "$who: and those that are not UTF-8" test -e "$D/p/$(printf '\377\376')"

        # --- flagged ---
        fresh
        mkdir -p "$D/p/.git" && echo '[core]' >"$D/p/.git/config" && mine
        edit 'mkdir .git/hooks .github .github/workflows .vscode .claude; echo x >.git/hooks/post-checkout; echo "[core] fsmonitor=./evil" >.git/config
                echo "* filter=x" >.gitattributes; echo x >.bashrc; echo x >.github/workflows/ci.yml; echo x >.vscode/tasks.json; echo x >Jenkinsfile; echo x >.env
                echo "{\"scripts\":{\"postinstall\":\"evil\"}}" >package.json; echo x >.claude/settings.json; ln -s ../outside out; ln -s /etc/passwd abs
                printf "#!/bin/sh\n" >tool; chmod 755 tool; mkfifo pipe; mkdir .husky; echo x >.husky/pre-push; echo plain >plain; echo x >.mcp.json; mkdir node_modules node_modules/.bin; ln -s ../x node_modules/.bin/git
                cp tool src/tool; echo x >src/new'
        out=$(cordon diff -v "$run")
        missing=$(for f in .git/hooks/post-checkout .git/config .gitattributes .bashrc .github/workflows/ci.yml .vscode/tasks.json Jenkinsfile .env package.json .claude/settings.json out abs tool pipe .husky/pre-push .mcp.json node_modules/.bin/git; do
                printf '%s\n' "$out" | grep -q "^! $f: " || echo "$f"; done)
        is "$who: what the host executes or trusts is flagged" "$missing" ""
        is "$who: first of all" "$(printf '%s\n' "$out" | head -n 1)" "Flagged; apply with --flagged KIND or --include-flagged:"
        hasnt "$who: plain text is not" "$out" "! plain"
        cordon apply "$run" src >/dev/null
        is "$who: a directory that is named brings nothing along that is flagged" "$(find "$D/p" -name new -o -name tool)" "$D/p/src/new"
        out=$(cordon apply "$run")
        ok "$who: apply lets the rest land" test -e "$D/p/plain"
        is "$who: and holds the flagged back" "$(find "$D/p" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | tr '\n' ' ')" ".git a plain src "
        has "$who: saying so" "$out" "held back: .git/hooks/post-checkout: git executes it"
        is "$who: git's configuration is the host's" "$(cat "$D/p/.git/config")" "[core]"
        cordon apply "$run" Jenkinsfile >/dev/null
        ok "$who: a named path lands" test -e "$D/p/Jenkinsfile"
        ok "$who: another does not" test ! -e "$D/p/.bashrc"
        cordon apply --include-flagged "$run" >/dev/null
        ok "$who: with --include-flagged all do" test -e "$D/p/.git/hooks/post-checkout"
        ok "$who: but never a fifo" test ! -e "$D/p/pipe"
        is "$who: a link lands as a link" "$(readlink "$D/p/abs")" /etc/passwd

        # --- conflicts ---
        fresh
        edit 'echo box >a; echo box >new; rm src/b; echo ok >fine'
        touch -d '2001-01-01' "$D/p/src/b"
        echo host >"$D/p/a" && mine
        tree "$D" >before
        out=$(cordon apply "$run")
        has "$who: what the host changed since is in the way" "$out" "conflict: a: changed since"
        hasnt "$who: a time alone is not" "$out" "src/b"
        tree "$D" >now
        ok "$who: and nothing at all was applied" cmp before now
        cordon apply "$run" fine >/dev/null
        is "$who: the rest by name" "$(cat "$D/p/fine")" ok
        echo host >"$D/p/new" && mine
        has "$who: a file made since is in the way" "$(cordon apply "$run" new)" "conflict: new: made since"
        rm "$D/p/a"
        has "$who: one removed since too" "$(cordon apply "$run" a)" "conflict: a: removed since"
        fresh
        mkdir "$D/p/d" && echo x >"$D/p/d/x" && mine
        edit 'rm -r d'
        echo later >"$D/p/d/later" && mine
        has "$who: a file made since in a directory that the box removed" "$(cordon apply "$run")" "conflict: d/later"
        ok "$who: is still there" test -e "$D/p/d/later"
        fresh
        rm -f go && mkfifo go && : >out
        $who "$CORDON" run -q --edit "$D/p" --cwd "$D/p" --status-fd 3 -- sh -c 'echo box >a; echo began; read -r line' 3>status <go >out &
        exec 8>go
        soon test -s out
        echo host >"$D/p/a"
        exec 8>&-
        wait
        run=$(jq -r .work.layer status)
        has "$who: a change while the box ran is in the way" "$(cordon apply "$run")" "conflict: a: changed while the box ran"

        # --- links on the host's side: planted by the box, or swapped in meanwhile ---
        fresh
        edit 'rm -r src; ln -s ../outside src; echo x >x'
        cordon apply --include-flagged "$run" >/dev/null
        edit 'rm src; mkdir src; echo pwned >src/secret'
        rm "$D/p/src" && ln -s ../outside "$D/p/src"
        cordon apply --include-flagged "$run" >/dev/null
        is "$who: apply never writes through a link" "$(cat "$D/outside/secret")" secret
        fresh
        edit 'echo pwned >src/secret'
        rm -r "$D/p/src" && ln -s ../outside "$D/p/src"
        cordon apply --include-flagged "$run" >/dev/null
        is "$who: nor through one that took a directory's place since" "$(cat "$D/outside/secret")" secret
        ok "$who: the link is still there" test -L "$D/p/src"
        fresh
        edit 'rm a; ln -s ../outside/secret a'
        cordon diff "$run" >out
        hasnt "$who: diff does not read through a link" "$(cat out)" "+secret"
        fresh
        edit 'echo x >new'
        mv "$D/p" "$D/p2" && $who mkdir "$D/p"
        has "$who: another directory in the door's place is refused" "$(cordon apply "$run")" "another directory"
        rmdir "$D/p" && ln -s p2 "$D/p"
        cordon apply "$run" >/dev/null
        ok "$who: the same one behind a link is the same" test -e "$D/p2/new"
        rm "$D/p" && mv "$D/p2" "$D/p"

        # --- two links, each of which stays inside when it is read as text, and together lead out ---
        fresh
        edit 'mkdir -p t a1/b/c; ln -s ../../../t a1/b/c/s; ln -s a1/b/c/s/../../x m; echo "read /" >job.cordon'
        has "$who: a link that climbs behind another link is flagged" "$(cordon diff "$run")" "! m: added; a link that leaves the tree"
        has "$who: so is a policy of a box" "$(cordon diff "$run")" "! job.cordon: added; a box gets its doors from it"
        cordon apply "$run" >/dev/null
        ok "$who: and neither lands by itself" test ! -L "$D/p/m" -a ! -e "$D/p/job.cordon" -a -L "$D/p/a1/b/c/s"
        cordon discard "$run" >/dev/null

        # --- links that stay inside as text, and lead out through what the host has in the tree ---
        fresh
        mkdir -p "$D/p/d/e" "$D/p/real" && ln -s ../outside "$D/p/out" && ln -s /etc "$D/p/abs" && ln -s real "$D/p/alias" && ln -s ../../outside "$D/p/d/up" &&
                ln -s nowhere/../../outside "$D/p/later" && ln -s r2 "$D/p/r1" && ln -s r1 "$D/p/r2" && ln -s / "$D/p/was" && mkdir "$D/p/was2" && mine
        edit 'ln -s out o1; ln -s out/secret o2; ln -s abs/passwd o3; ln -s ../out/secret d/o4; ln -s up/secret d/o5; ln -s later o6; ln -s r1 o7
                ln -s alias i1; ln -s alias/x i2; ln -s ../alias d/i3; ln -s e/nothing d/i4; ln -s a i5; ln -s d/e/ i6; ln -s ../../real/. d/e/i7; ln -s i8 real/i8x; ln -s ./a i9
                ln -s ../outside mine; ln -s mine/secret o8; rm was; mkdir was; ln -s was/x o9; rmdir was2; ln -s ../outside was2; ln -s was2/x o10; ln -s d/up/../x o11'
        cordon diff --json "$run" | jq -r '.entries[] | select(.new.kind == "link") | (if .flags == [] then "in " else "out " end) + .path' | sort | tr '\n' ' ' >out
        is "$who: they are flagged, and those that stay inside are not" "$(cat out)" \
                "in d/e/i7 in d/i3 in d/i4 in i1 in i2 in i5 in i6 in i9 in real/i8x out d/o4 out d/o5 out mine out o1 out o10 out o11 out o2 out o3 out o6 out o7 out o8 out o9 out was2 "
        has "$who: as what leaves the tree" "$(cordon diff "$run")" "! d/o5: added; a link that leaves the tree"
        cordon apply "$run" >/dev/null
        is "$who: and none of them lands by itself" "$(cd "$D/p" && find . -name 'o[0-9]*' -o -name mine)" ""
        cordon discard "$run" >/dev/null

        # --- --to, patch, undo ---
        fresh
        printf 'one\ntwo\n\tthree' >"$D/p/nonl" && printf '\0\1\2old' >"$D/p/bin" && : >"$D/p/empty" && ln -s a "$D/p/link" && mine
        cp -a "$D/p" "$D/copy" && cp -a "$D/p" "$D/git"
        edit 'printf "one\n2\n\tthree\n" >nonl; head -c 100000 /dev/zero | tr "\0" "\001" >bin; printf "\0" >>bin; echo x >empty; ln -sf b link; chmod 755 a; rm src/b; mkdir "sp ace"; echo y >"sp ace/q\"uote"; printf "\0" >newbin; ln -s target newlink; : >newempty; echo z >"$(printf "caf\303\251")"'
        has "$who: --to a directory that is not there says what it is for" "$(cordon apply --include-flagged --to "$D/nowhere" "$run")" "hint: --to takes a copy of the tree: \`cp -a $D/p $D/nowhere\` makes one"
        cp -a "$D/p" "$D/changed" && echo other >"$D/changed/nonl" && mine && tree "$D/changed" >want
        has "$who: --to a tree that holds something else there is told" "$(cordon apply --include-flagged --to "$D/changed" "$run")" "conflict: nonl: is something else there"
        tree "$D/changed" >got
        ok "$who: and left as it is" diff want got
        # A directory that took the door's name is not the one that was looked at, whatever lies in it.
        mv "$D/p" "$D/moved" && cp -a "$D/moved" "$D/p"
        has "$who: another directory in the door's place is told" "$(cordon apply --include-flagged "$run")" "is another directory than the one that the box saw"
        is "$who: and left as it is" "$(diff -r "$D/moved" "$D/p")" ""
        rm -rf "$D/p" && mv "$D/moved" "$D/p"
        cordon apply --include-flagged --to "$D/copy" "$run" >/dev/null
        cordon apply --include-flagged --as-patch "$D/patch" "$run"
        cordon apply --include-flagged "$run" >/dev/null
        tree "$D/p" >want
        tree "$D/copy" >got
        ok "$who: --to makes the same of a copy" diff want got
        (cd "$D/git" && git init -q . && git -c core.filemode=true apply --whitespace=nowarn "$D/patch") >gitlog 2>&1
        rm -rf "$D/git/.git"
        ok "$who: git takes the patch" test ! -s gitlog
        tree "$D/git" | sed 's/ 0:0/ X/; s/ 65533:65533/ X/' | grep -v "b'src' \|bin' " >got
        sed 's/ 0:0/ X/; s/ 65533:65533/ X/' want | grep -v "b'src' \|bin' " >w2
        ok "$who: and makes the same of it" diff w2 got
        is "$who: but for binary files, which are named in it" "$(grep '^# not in this patch: .*: binary files differ$' "$D/patch" | sort | cut -d : -f 2 | tr -d '\n')" " bin newbin"
        # One path of git's own, and git would refuse all of the patch.
        fresh
        (cd "$D/p" && git init -q .) && mine
        rm -rf "$D/git" && cp -a "$D/p" "$D/git"
        edit 'echo new >a; git -c user.name=n -c user.email=e@e add a; echo evil >.git/hooks/pre-commit; mkdir -p x/.GIT y "z/.git. "; echo n >x/.GIT/n; echo n >"z/.git. /n"; echo n >y/.gitx; ln -s a .gitmodules'
        cordon apply --as-patch "$D/patch2" "$run"
        (cd "$D/git" && git -c safe.directory='*' apply --whitespace=nowarn "$D/patch2") >gitlog 2>&1
        is "$who: git takes the patch of a box that used git" "$(cat gitlog "$D/git/a" "$D/git/y/.gitx")" "new
n"
        is "$who: and git's own files are named in it" "$(grep -c '^# not in this patch: .*: git takes none' "$D/patch2")" \
                "$(grep -cE '^# not in this patch: .*(\.git/|x/\.GIT|z/\.git\. |\.gitmodules)' "$D/patch2")"
        has "$who: each of them" "$(cat "$D/patch2")" "# not in this patch: .git/hooks/pre-commit: git takes none of its own files from a patch"
        ok "$who: and git runs no hook of the box" test ! -e "$D/git/.git/hooks/pre-commit"
        # --- a patch holds back what an apply holds back ---
        fresh
        printf 'all:\n' >"$D/p/Jenkinsfile" && mine
        cp -a "$D/p" "$D/git" && git init -q "$D/git"
        edit 'echo new >a; echo "	evil" >>Jenkinsfile; echo x >.bashrc; mkdir .husky; echo x >.husky/pre-push; rm src/b'
        cordon apply --as-patch "$D/patch3" "$run" >out
        is "$who: a patch with something in it is a success" $? 0
        has "$who: what is flagged is told as apply tells it" "$(cat out)" "held back: Jenkinsfile: a build server runs it"
        has "$who: with how to have it" "$(cat out)" "not applied: 4 flagged entries; to apply them: cordon apply --flagged git-hook --flagged startup --flagged ci $(short "$run")"
        is "$who: and named in the patch" "$(grep -c '^# not in this patch: \(Jenkinsfile\|.bashrc\|.husky\|.husky/pre-push\): ' "$D/patch3")" 4
        is "$who: git takes the rest" "$(git -c safe.directory='*' -C "$D/git" apply "$D/patch3" 2>&1; cat "$D/git/a" "$D/git/Jenkinsfile"; ls -A "$D/git" | tr '\n' ' ')" "new
all:
.git Jenkinsfile a "
        is "$who: what is named is in it, and nothing else" "$(cordon apply --as-patch - "$run" Jenkinsfile | grep '^+++')" "+++ b/Jenkinsfile"
        is "$who: and with --include-flagged all" "$(cordon apply --include-flagged --as-patch - "$run" | grep -c '^+++')" 5
        cordon apply --as-patch "$D/patch3" "$run" >out
        is "$who: a file that is there is not written over" "$? $(grep -c 'File exists' out)" "125 1"
        echo host >"$D/p/a" && mine
        cordon apply --as-patch "$D/patch4" "$run" >out
        is "$who: a patch has what is in conflict, too, and says so" "$? $(grep -c 'conflict: a: changed since' out) $(grep -c '^# conflict: a: changed since; from what the host has now' "$D/patch4")" "1 1 1"
        cp "$D/p/a" "$D/git/a"
        is "$who: it leads from what the host has to what the box left" "$(git -c safe.directory='*' -C "$D/git" apply --include a "$D/patch4" 2>&1; cat "$D/git/a")" new
        edit 'echo x >.bashrc'
        cordon apply --as-patch "$D/patch5" "$run" >out
        is "$who: where all is held back the status says so, as an apply's does" "$? $(cordon apply "$run" >/dev/null; echo $?)" "1 1"
        has "$who: neither --to nor --json goes with a patch" "$(cordon apply --to "$D/git" --as-patch - "$run"; cordon apply --json --as-patch - "$run")" "--as-patch cannot be combined with"
        fresh
        edit 'echo box >a; rm src/b; mkdir d; echo n >d/n'
        tree "$D/p" >before
        cordon apply "$run" >/dev/null
        has "$who: what has been applied is not applied again" "$(cordon apply "$run")" "already"
        echo later >"$D/p/d/later" && mine
        has "$who: undo sees later work" "$(cordon undo "$run")" "conflict: d: holds something new"
        rm "$D/p/d/later" && echo later >"$D/p/a" && mine
        has "$who: and a later change" "$(cordon undo "$run")" "conflict: a: changed since"
        echo box >"$D/p/a" && echo later >"$D/p/src/b" && mine
        has "$who: and what was removed and is there again" "$(cordon undo "$run")" "conflict: src/b: is there again"
        is "$who: which it leaves" "$(cat "$D/p/src/b")" later
        rm "$D/p/src/b"
        cordon undo "$run" >/dev/null
        tree "$D/p" >now
        ok "$who: else it restores" diff before now
        is "$who: and the layer waits again" "$(cordon diff --name-only "$run" | tr '\n' ' ')" "a d d/n src/b "
        cordon discard "$run" >/dev/null
        has "$who: discard removes it" "$(cordon diff "$run")" "no overlay"

        # --- keep, on, fork ---
        fresh
        $who "$CORDON" run -q --no-stdin --keep --edit "$D/p" --status-fd 3 -- true 3>status
        run=$(jq -r .work.layer status)
        $who "$CORDON" run -q --no-stdin --on "$run" --edit "$D/p" --cwd "$D/p" -- sh -c 'echo first >f; rm a'
        is "$who: a later run goes on in the layer" "$($who "$CORDON" run -q --no-stdin --on "$run" --edit "$D/p" --cwd "$D/p" -- sh -c 'cat f; ls; echo second >>f' | tr '\n' ' ')" "first f src "
        is "$who: diff shows both" "$(cordon diff --name-only "$run" | tr '\n' ' ')" "a f "
        other=$(copied "$run")
        $who "$CORDON" run -q --no-stdin --on "$other" --edit "$D/p" --cwd "$D/p" -- sh -c 'echo third >>f; test ! -e a && echo g >g'
        is "$who: a fork goes its own way" "$(cordon diff --name-only "$other" | tr '\n' ' ')" "a f g "
        is "$who: and the first stays" "$(cordon diff --name-only "$run" | tr '\n' ' ')" "a f "
        cordon apply "$other" >/dev/null
        is "$who: either can land" "$(cat "$D/p/f" | tr '\n' ' ')" "first second third "
        has "$who: then the other is in the way" "$(cordon apply "$run")" "conflict: f: made since"
        has "$who: an applied layer is not gone on with" "$($who "$CORDON" run --no-stdin --on "$other" --edit "$D/p" -- true 2>&1)" "has been applied"

        # --- a keeper that was killed ---
        fresh
        : >out
        $who "$CORDON" run -q --no-stdin --edit "$D/p" --cwd "$D/p" -- sh -c 'echo saved >a; echo began; sleep 60' >out &
        pid=$!
        soon grep -q began out
        has "$who: a layer in use is not applied" "$(cordon diff --list)" running
        for k in $(pgrep -P $pid) $pid; do [ "$(cat /proc/$k/comm 2>/dev/null)" = cordon ] && kill -9 "$k"; done 2>/dev/null
        wait 2>/dev/null
        saved() { cordon diff | grep -q '^+saved'; } # a layer is in use until the last of the box has ended
        soon saved
        has "$who: what a killed run had changed is found" "$(cordon diff)" "+saved"
done

# What reached the host is a record, with its content before and after, caused by the run.
# A layer is free the moment its run has ended: a child of the keeper that is not yet at its exec holds no lock.
mkdir "$T/recorded"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        echo old >"$T/recorded/file"
        "$CORDON" run -q --no-stdin --edit "$T/recorded" -- sh -c "echo new >$T/recorded/file" 2>out && (cd "$T/recorded" && "$CORDON" apply) >>out 2>&1 && continue
        echo "time $i: $(cat out)" >>"$T/held"
done
is "twelve times run and apply, one right behind the other" "$(cat "$T/held" 2>/dev/null)" ""
"$CORDON" ledger --json 2>/dev/null | jq -c 'select(.kind == "file" and .phase == "outcome" and (.target | endswith("recorded/file")))' | tail -n 1 >"$T/records"
is "an applied change is in the ledger" "$(jq -r '.digest + " " + .more.before' "$T/records")" \
        "sha256:$(echo new | sha256sum | cut -d ' ' -f 1) sha256:$(echo old | sha256sum | cut -d ' ' -f 1)"
has "with the run's end as its cause" "$(jq -r '.parents[0]' "$T/records")" .end
has "and the intent that came before it" "$(jq -r '.parents[1]' "$T/records")" .q
done_testing

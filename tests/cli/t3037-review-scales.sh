#!/bin/sh
# Review that scales: what is flagged and what is not, one line for directories that nobody reads entry by entry, approval by kind,
# everything but a path, and the host's side of a conflict.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
landed() { (cd "$D/p" && find . -mindepth 1 ! -type d | sort | tr '\n' ' '); }

for who in root as_user; do
        D="$T/$who"

        # An ordinary change of a project raises no flag: sources, build files, manifests, a commit.
        fresh 'mkdir -p src tests .git/objects/ab .git/refs/heads .git/logs; for f in Makefile package.json pyproject.toml Cargo.toml go.mod Dockerfile src/a.c; do echo 1 >$f; done'
        edit 'for f in Makefile package.json pyproject.toml Cargo.toml go.mod Dockerfile src/a.c; do echo 2 >>$f; done
                echo n >src/new.c; echo t >tests/conftest.py; echo r >requirements.txt; echo l >package-lock.json
                echo o >.git/objects/ab/cd; echo h >.git/HEAD; echo i >.git/index; echo m >.git/refs/heads/main; echo l >.git/logs/HEAD
                mkdir -p build target/debug; echo e >build/prog; chmod 755 build/prog; cp build/prog target/debug/app'
        is "$who: an ordinary change is not flagged" "$(cordon diff --json "$run" | jq -c '[.entries[] | select(.flags != []) | .path]')" "[]"
        cordon apply "$run" >out
        hasnt "$who: and nothing of it is held back" "$(cat out)" "held back"
        has "$who: a program that is new outside build directories is" \
                "$(edit 'echo x >tool; chmod 755 tool' && cordon diff "$run")" "! tool: added; new executable [executable]"
        cordon discard "$run" >/dev/null

        # Directories that nobody reads entry by entry: one line for what is flagged in them, one for all that is new.
        fresh 'echo a >a; mkdir -p lib'
        edit 'mkdir -p node_modules/.bin small/in .git/hooks; i=0; while [ $i -lt 40 ]; do mkdir node_modules/p$i; echo "{\"scripts\":{\"postinstall\":\"x\"}}" >node_modules/p$i/package.json
                ln -s ../p$i/x node_modules/.bin/b$i; head -c 3000 /dev/zero >node_modules/p$i/data; i=$((i + 1)); done
                echo one >small/in/f; echo h >.git/hooks/pre-commit; for h in a b c d e f g h; do echo h >.git/hooks/$h.sample; done; echo c >.git/config; echo x >>a; mkdir lib/many; i=0; while [ $i -lt 30 ]; do echo $i >lib/many/$i; i=$((i + 1)); done'
        cordon diff "$run" >shown
        is "$who: what is flagged in node_modules is one line" "$(grep -c '^! node_modules' shown) $(grep '^! node_modules' shown)" \
                "1 ! node_modules/: 81 entries; a package manager runs its commands [package]; can shadow a program or library of the same name [search-path]"
        is "$who: a new repository is, too" "$(grep '^! .git' shown)" "! .git/: 12 entries; git executes it [git-hook]; git reads its settings from it [git-config]"
        is "$who: a new directory is summed up" "$(grep '^node_modules' shown)" "node_modules/ 120 files, 121 kB: added (name it, or -v, to see it)"
        is "$who: also one of no known name, if it is large" "$(grep '^lib' shown)" "lib/many/ 30 files, 80 bytes: added (name it, or -v, to see it)"
        has "$who: a small one is shown" "$(cat shown)" "+one"
        cordon diff "$run" node_modules >named
        is "$who: by its name all of it is shown" "$(grep -c '^node_modules/p[0-9]*/data: added' named) $(grep -c '^! node_modules/' named)" "40 81"
        cordon diff "$run" node_modules/p7 >named
        is "$who: and of what lies in it" "$(grep -c '^node_modules/p' named) $(grep -c '^! ' named)" "3 1"
        cordon diff -v "$run" >all
        is "$who: with -v all of it" "$(grep -c '^node_modules/p[0-9]*/data: added' all) $(grep -c '^lib/many/[0-9]*: added' all)" "40 30"
        has "$who: and the reason of each flag" "$(cat all)" "! .git/hooks/pre-commit: added; git executes it [git-hook] (git runs it at commit, checkout, merge or push)"
        has "$who: --stat sums up" "$(cordon diff --stat "$run")" "! node_modules/ | 120 files, 121 kB (added)"
        has "$who: and says that it does" "$(cordon diff --stat "$run")" "2 directories are summed up"
        is "$who: programs get every entry" "$(cordon diff --json "$run" | jq '[.entries[] | select(.path | startswith("node_modules/"))] | length') $(cordon diff --name-only "$run" | grep -c '^node_modules/')" "161 161"
        is "$who: with the kinds of its flags" "$(cordon diff --json "$run" | jq -c '[.entries[] | select(.path == ".git/hooks/pre-commit" or .path == "a") | .kinds]')" '[["git-hook"],[]]'
        cordon apply "$run" >out
        is "$who: apply holds back in one line" "$(grep -c 'held back: node_modules' out) $(grep 'held back: node_modules' out)" \
                "1 held back: node_modules/: 162 entries, a new directory: a package manager runs its commands [package]; can shadow a program or library of the same name [search-path]"
        is "$who: none of it landed" "$(ls "$D/p" | tr '\n' ' ')" "a lib small "

        # Approval by kind, of what lies below a directory that is named or of all.
        cordon apply --flagged package "$run" node_modules/p1 node_modules/p2 >out || fail "$who: by kind" "$(cat out)"
        is "$who: a kind and a directory" "$(find "$D/p" -name package.json | sed "s|$D/p/||" | sort | tr '\n' ' ')" "node_modules/p1/package.json node_modules/p2/package.json "
        cordon apply --flagged package "$run" >out
        is "$who: a kind alone" "$(find "$D/p" -name package.json | wc -l) $(find "$D/p/node_modules" -type l | wc -l)" "40 0"
        cordon apply --flagged search-path --flagged git-hook "$run" >out
        is "$who: kinds are repeatable, and others stay" "$(find "$D/p/node_modules" -type l | wc -l) $([ -e "$D/p/.git/config" ] || echo held)" "40 held"
        has "$who: an unknown kind is an error that lists them" "$(cordon apply --flagged hooks "$run")" "hint: kinds are: git-hook git-config"
        cordon discard "$run" >/dev/null

        # A new directory that holds something flagged lands as a whole or not at all, and the line that is printed takes it.
        fresh 'echo a >a; mkdir old'
        edit 'mkdir -p v/bin v/lib old/sub; for p in python pip; do echo p >v/bin/$p; chmod 755 v/bin/$p; done; i=0; while [ $i -lt 12 ]; do echo $i >v/lib/$i.py; i=$((i + 1)); done
                echo b >>a; echo n >old/n; echo n >old/sub/n; mkfifo old/sub/pipe'
        cordon apply "$run" >out
        is "$who: the new directory is held back" "$(landed)$(ls "$D/p" | tr '\n' ' ')" "./a ./old/n ./old/sub/n a old "
        is "$who: in one line" "$(grep 'held back: v' out)" "held back: v/: 17 entries, a new directory: new executable [executable]"
        has "$who: with a line that takes it" "$(cat out)" "not applied: 18 flagged entries; to apply them: cordon apply --flagged executable $(short "$run")"
        cordon apply "$run" v >out
        is "$who: naming it holds it back still, with a line for it" "$(tail -n 1 out)" "cordon: not applied: 17 flagged entries; to apply them: cordon apply --flagged executable $(short "$run") v"
        cordon apply "$run" v/bin/pip >out || fail "$who: one of it" "$(cat out)"
        is "$who: one file by its own name lands with its directories" "$(landed)" "./a ./old/n ./old/sub/n ./v/bin/pip "
        cordon undo "$run" >out || fail "$who: undo" "$(cat out)"
        cordon apply "$run" v/lib >out || fail "$who: a part" "$(cat out)"
        is "$who: and a part in which nothing is flagged" "$(landed | wc -w) $(ls "$D/p/v")" "15 lib"
        cordon undo "$run" >out || fail "$who: undo" "$(cat out)"
        cordon apply --flagged executable "$run" v >out || fail "$who: the line" "$(cat out)"
        is "$who: the line takes all of it" "$(landed | wc -w) $(ls "$D/p/v" | tr '\n' ' ')" "17 bin lib "
        has "$who: one entry is it, and what never lands has no line" "$(cordon apply "$run")" "not applied: 1 flagged entry; cordon diff $(short "$run") shows it"
        cordon discard "$run" >/dev/null

        # An entry of two kinds needs both; a fifo never lands.
        fresh 'echo a >a'
        edit 'mkdir -p .git/hooks; ln -s /etc/passwd .envrc; mkfifo pipe'
        cordon apply --flagged environment --flagged special "$run" >out
        has "$who: one kind of two is not enough, and the missing one is named" "$(cat out)" "held back: .envrc: a link that leaves the tree [link]"
        has "$who: no kind brings a fifo" "$(cat out)" "held back: pipe: a socket, fifo or device: never applied"
        cordon apply --flagged environment --flagged link "$run" >out
        is "$who: with all of its kinds it lands" "$(readlink "$D/p/.envrc")" "/etc/passwd"
        cordon discard "$run" >/dev/null

        # All but a path.
        fresh 'mkdir -p d/in keep; echo 1 >d/in/x; echo 2 >d/y; echo a >a; echo k >keep/k'
        edit 'echo b >>a; echo n >n; mkdir -p new/sub; echo s >new/sub/s; echo t >new/t; rm -r d; echo kk >>keep/k'
        has "$who: a path that names no change is an error" "$(cordon apply --all-but nowhere "$run")" "changes nothing at nowhere"
        cordon apply --all-but new/sub --all-but d/in --all-but "$D/p/keep" "$run" >out || fail "$who: all but" "$(cat out)"
        is "$who: everything else lands" "$(landed)$(cat "$D/p/a" "$D/p/keep/k" | tr '\n' ' ')" "./a ./d/in/x ./keep/k ./n ./new/t a b k "
        has "$who: a directory does not go with what was left in it" "$(cat out)" "held back: d: something in it is left out"
        is "$who: the layer keeps what was left out" "$(cordon diff --name-only "$run" | tr '\n' ' ')" "d d/in d/in/x keep/k new/sub new/sub/s "
        cordon apply --all-but keep "$run" new keep >out || fail "$who: of named ones" "$(cat out)"
        is "$who: also of what is named" "$(landed)$(cat "$D/p/keep/k")" "./a ./d/in/x ./keep/k ./n ./new/sub/s ./new/t k"
        cordon apply "$run" >out || fail "$who: the rest" "$(cat out)"
        is "$who: and the rest later" "$(landed)" "./a ./keep/k ./n ./new/sub/s ./new/t "
        cordon undo "$run" >/dev/null && cordon undo "$run" >/dev/null && cordon undo "$run" >/dev/null
        is "$who: each of them can be taken back" "$(landed)$(cat "$D/p/a")" "./a ./d/in/x ./d/y ./keep/k a"
        cordon discard "$run" >/dev/null
        # The host's side of a conflict.
        fresh 'printf "1\n2\n3\n" >a; echo b >b; mkdir s; echo c >s/c; echo d >d'
        edit 'printf "1\nbox\n3\n" >a; echo x >>b; echo c2 >s/c; echo d2 >d'
        printf '1\nhost\n3\n' >"$D/p/a" && rm "$D/p/s/c" && mine
        cordon diff --theirs a "$run" >out
        is "$who: --theirs shows what the host has against what the box left" "$(cat out)" "a: changed since (- the box: file, 100644; + the host: file, 100644)
@@ -1,3 +1,3 @@
 1
-box
+host
 3"
        is "$who: diff marks it first" "$(cordon diff "$run" | sed -n '1,2p;/^a: /p')" "Conflicts: the host also changed these; --theirs PATH shows its side:
# a: changed since
a: changed (conflict: - is what the host has now, not what the box began with)"
        is "$who: a directory means what lies in it" "$(cordon diff --theirs s "$run" | head -n 1)" "s/c: removed since (- the box: file, 100644; + the host: nothing)"
        is "$who: and all of it what is in conflict" "$(cordon diff --theirs . "$run" | grep -c ' since (')" 2
        has "$who: what is in no conflict is said to be in none" "$(cordon diff --theirs b "$run")" "nothing is in conflict there"
        has "$who: a path that names no change is an error" "$(cordon diff --theirs nowhere "$run")" "changes nothing at nowhere"
        is "$who: it is text" "$(cordon diff --theirs a --json "$run" >/dev/null; echo $?)" 125
        cordon apply --all-but a --all-but s "$run" >out || fail "$who: without the conflicts" "$(cat out)"
        is "$who: what is in no conflict lands without the others" "$(cat "$D/p/b" "$D/p/d" | tr '\n' ' ')" "b x d2 "
        cordon discard "$run" >/dev/null
        # What goes as a whole is summed up as well.
        fresh 'mkdir -p dist; i=0; while [ $i -lt 25 ]; do echo $i >dist/$i; i=$((i + 1)); done'
        edit 'rm -r dist'
        is "$who: a large directory that is gone is one line" "$(cordon diff "$run")" "dist/ 25 files, 65 bytes: deleted (name it, or -v, to see it)"
        cordon discard "$run" >/dev/null
done
# Work that takes over a second shows how far it is, on a terminal, and leaves nothing there; a system call is delayed to make it so.
who=root D=$T/slow
if ! command -v script >/dev/null || ! strace -o /dev/null -e inject=fsync:delay_enter=1:when=1 true 2>/dev/null; then
        skip "progress on a terminal" "script or strace is not here"
        done_testing
fi
# slow COMMAND: on a terminal; $T/seen has what stood there
slow() { script -qec "strace -f -o /dev/null -e trace=$call -e inject=$call:delay_enter=400000:when=3..6 $* >/dev/null" "$T/seen" </dev/null >/dev/null 2>&1; }
fresh 'i=0; while [ $i -lt 30 ]; do echo $i >$i; i=$((i + 1)); done'
edit 'for f in *; do echo x >>$f; done'
for row in "openat2 diff --name-only $run" "openat2 apply $run" "openat2 undo $run"; do
        call=${row%% *}
        slow "$CORDON" "${row#* }"
        ok "${row#* } shows its progress" grep -q 'cordon: [a-z ]*: [0-9]' "$T/seen"
        is "and wipes it" "$(tr '\r' '\n' <"$T/seen" | grep -v '^Script' | grep . | tail -n 1 | grep -c 'cordon: [a-z ]*: [0-9]')" 0
done
strace -f -o /dev/null -e trace=openat2 -e inject=openat2:delay_enter=400000:when=3..6 "$CORDON" diff --stat "$run" >shown 2>err
is "without a terminal there is none" "$(cat err)" ""
cordon discard "$run" >/dev/null
mkdir "$T/empty" && cd "$T/empty" && TERM=xterm script -qec "$CORDON learn -n 2 -- sleep 0.7" "$T/seen" </dev/null >/dev/null 2>&1
ok "learn says how many boxes it has run" grep -q 'cordon: [a-z].*, box: [0-9]' "$T/seen"
done_testing

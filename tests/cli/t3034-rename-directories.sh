#!/bin/sh
# A directory behind an edit door is renamed, which overlayfs refuses with EXDEV: `git mv`, os.rename. It is done with the
# payload's rights, whole or not at all; what cannot be done stays EXDEV and is reported. Whoever is killed loses no file.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
cp "$here/helpers/renames.py" "$T/renames.py" && chmod 644 "$T/renames.py"
box() { $who env CORDON_LEDGER=off "$CORDON" run -q --wall namespace --read "$T/renames.py" --cwd "$D/p" "$@" </dev/null 2>&1; }
moves() { box --edit "$D/p" -- python3 "$T/renames.py" "$@"; }
layers() { $who "$CORDON" diff --list --json 2>/dev/null | jq -r '.[].run'; }
# The refusals of a run: code, reason and path.
told() {
        $who env CORDON_LEDGER=off "$CORDON" run --json --wall namespace --read "$T/renames.py" --cwd "$D/p" "$@" </dev/null 2>"$T/json" >"$T/out"
        cat "$T/out"
        jq -r '.denials[] | select(.code == "rename") | "\(.code) \(.reason) \(.path)"' "$T/json" "$T/out" 2>/dev/null
}
for who in root as_user; do
        D=$T/$who.moves
        mkdir -p "$D" && fresh 'mkdir -p d/sub/deep && for i in 1 2 3; do echo $i >d/f$i; echo x$i >d/sub/g$i; done; ln -s f1 d/link; touch -d @1000 d/sub; chmod 750 d/sub'
        setfattr -n user.test -v kept "$D/p/d/sub" 2>/dev/null && touch "$D/p/d/has-xattr"
        mine
        if ! box --edit "$D/p" -- true >/dev/null; then
                skip "$who: renames of directories" "no edit doors for this caller here"
                continue
        fi
        is "$who: a directory is renamed with all it has" "$(moves plain)" end
        hasnt "$who: the host's is as it was" "$(ls "$D/p")" e

        fresh 'mkdir forms && cd forms && for d in a b c d e g; do mkdir -p $d/sub && echo $d >$d/${d}1; done; mkdir empty full deep && echo x >full/x && echo f >file'
        is "$who: in all its forms, as the kernel does it" "$(moves forms)" end

        fresh 'for i in $(seq 0 11); do mkdir -p w$i/sub && for k in $(seq 40); do echo $k >w$i/f$k; done; echo old >w$i/sub/s1; done'
        is "$who: nothing that is written beside it is lost" "$(moves writer)" end

        fresh 'for i in $(seq 0 19); do mkdir -p swap/d$i && echo $i >swap/d$i/mark$i; done'
        mkdir -p "$D/q/d1" && echo outside >"$D/q/d1/mark1" && echo outside >"$D/q/file" && mine
        is "$who: a component that becomes a link leads nowhere" "$(box --edit "$D/p" --edit "$D/q" -- python3 "$T/renames.py" swaps "$D/q")" end

        fresh 'mkdir x1 x2 x3 && echo 1 >x1/only1 && echo 2 >x2/only2 && echo 3 >x3/only3'
        is "$who: renames against each other lose nothing" "$(moves others)" end

        # ---- what stays EXDEV ----
        fresh 'mkdir -p d/sub && echo s >d/sub/secret && echo a >d/a'
        printf 'use base/system\nread %s/renames.py\nedit %s/p except d/sub\n' "$T" "$D" >"$T/except" && chmod 644 "$T/except"
        is "$who: across an except" "$(told -p "$T/except" -- python3 "$T/renames.py" one d e)" "EBUSY
end"
        mkdir -p "$D/q" && mine
        is "$who: with another door in it" "$(told --edit "$D/p" --write "$D/p/d/sub" -- python3 "$T/renames.py" one d e)" "EXDEV
end
rename mounted $D/p/d"
        is "$who: into another door" "$(told --edit "$D/p" --edit "$D/q" -- python3 "$T/renames.py" one d "$D/q/d")" "EXDEV
end"
        is "$who: what is there is still there" "$(cat "$D/p/d/sub/secret" "$D/p/d/a")" "s
a"
        chmod 555 "$D/p/d/sub"
        [ "$who" = root ] && [ "$(id -u)" -eq 0 ] || is "$who: with a directory in it that cannot be written" \
                "$(told --edit "$D/p" -- python3 "$T/renames.py" one d e)" "EXDEV
end
rename not-owned $D/p/d"
        chmod 755 "$D/p/d/sub"
        fresh 'mkdir d && cd d && seq 5000 | split -l 1'
        is "$who: five thousand files are served" "$(told --edit "$D/p" -- python3 "$T/renames.py" one d e)" "done
end"
        touch "$D/p/d/more" && mine
        is "$who: more are not, and that is reported" "$(told --edit "$D/p" -- python3 "$T/renames.py" one d e)" "EXDEV
end
rename too-large $D/p/d"
        has "$who: in words" "$($who env CORDON_LEDGER=off "$CORDON" run --wall namespace --edit "$D/p" --cwd "$D/p" -- python3 -c 'import os; os.rename("d", "e")' 2>&1)" \
                "blocked: rename $D/p/d by python3 (EXDEV: directory too large to rename"
        is "$who: mv copies it" "$(box --edit "$D/p" -- sh -c 'mv d e && ls e | wc -l; ls')" "5001
e"

        # ---- git ----
        if command -v git >/dev/null; then
                fresh 'git init -q . && mkdir -p d/x && echo a >d/a && echo b >d/x/b && git add d && git -c user.name=A -c user.email=a@example.org commit -qm one'
                is "$who: git mv" "$(box --edit "$D/p" -- sh -c 'git mv d e && git status --porcelain')" "R  d/a -> e/a
R  d/x/b -> e/x/b"
        fi

        # ---- apply ----
        fresh 'mkdir -p d/sub && echo a >d/a && echo b >d/sub/b'
        edit 'mv -T d e'
        $who "$CORDON" apply "$run" >/dev/null 2>&1
        is "$who: it is applied" "$(cd "$D/p" && find . | sort | tr '\n' ' ')" ". ./e ./e/a ./e/sub ./e/sub/b "

        # ---- killed ----
        # In the middle, as soon as the staging directory is seen, or later: each file has a name, and no other is shown.
        fresh 'mkdir d && cd d && seq 3000 | split -l 1'
        for victim in keeper mover; do
                for run in $(layers); do $who "$CORDON" discard --yes "$run" >/dev/null 2>&1; done
                ($who env CORDON_LEDGER=off "$CORDON" run --json --wall namespace --edit "$D/p" --cwd "$D/p" -- \
                        python3 -c 'import os
try: os.rename("d", "e"); print("done")
except OSError as e: print(e.errno)' >"$T/out" 2>&1) &
                python3 - "$!" "$victim" <<'END'
import glob, os, signal, sys, time
top, victim = int(sys.argv[1]), sys.argv[2]
def below(pid):
    for t in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            for c in open(t).read().split():
                yield int(c)
                yield from below(int(c))
        except OSError:
            pass
def named(name):
    for p in below(top):
        try:
            if open(f"/proc/{p}/comm").read().strip() == name:
                return p
        except OSError:
            pass
for _ in range(20000):
    p = named("cordon-move")
    if p or not os.path.exists(f"/proc/{top}"):
        break
    time.sleep(0.001)
if p:
    if victim == "keeper":
        p = named("cordon")
    try:
        os.kill(p, signal.SIGKILL)
    except (OSError, TypeError):
        pass
END
                wait
                run=$(layers)
                seen=$(box --on "$run" --edit "$D/p" -- python3 -c '
import os
have = set()
for d in ("d", "e"):
    have |= set(os.listdir(d)) if os.path.isdir(d) else set()
print(len(have))')
                is "$who: and every file has a name" "$seen" 3000
        done
done
# Nobody hides a name from the diff: not by taking the one that a rename uses meanwhile.
mkdir "$T/named" && run=$("$CORDON" run -q --no-stdin --edit "$T/named" --cwd "$T/named" --status-fd 3 -- sh -c 'mkdir .cordon-moving.0123456789abcdef; echo x >.cordon-moving.0123456789abcdef/f' 3>&1 2>/dev/null | jq -r .work.layer)
has "a name like that of a rename in progress is shown" "$("$CORDON" diff --no-pager -v "$run" 2>&1)" .cordon-moving.0123456789abcdef/f
"$CORDON" discard --yes "$run" >/dev/null 2>&1
done_testing

#!/bin/sh
# The two lists of docs/attacks.md that concern a workspace, tried on an edit door and on the host's side of it: what a box leaves
# for the host to run or obey (C1 to C6), and paths, links, mounts and copies (F1 to F10). Each try must be refused or stay in
# the layer; a canary outside is as it was after each.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
edit() {
        $who "$CORDON" run -q --no-stdin --edit "$D/p" --cwd "$D/p" --status-fd 3 -- sh -c "$1" 3>status 2>err
        run=$(jq -r '.work.layer // ""' status)
}
cordon() { (cd "$D/p" && $who "$CORDON" "$@" 2>&1); }
fresh() {
        rm -rf "$D" && mkdir -p "$D/p/src" "$D/canary" && echo one >"$D/p/a" && echo b >"$D/p/src/b" && echo secret >"$D/canary/secret"
        mine
        tree "$D/canary" >canary
}
intact() { tree "$D/canary" >now; ok "$who: $1: the canary is as it was" cmp canary now; }

for who in root as_user; do
        D="$T/$who"
        as() { $who env HOME="$D" GIT_CONFIG_NOSYSTEM=1 "$@"; }

        # ---- C1: a protected file that does not exist yet ----
        fresh
        printf 'use base/system\nedit %s except .claude/settings.json .claude/hooks .codex\n' "$D/p" >p.policy
        for try in 'mkdir -p .claude && echo x >.claude/settings.json' 'echo x >.claude/hooks/start' 'mv .claude c; mkdir .claude; echo x >.claude/settings.json' 'ln -s /tmp .codex' 'rm -rf .codex && ln -s /tmp .codex' 'mkdir z; mv -T z .codex'; do
                never "$who: C1 in the box: $try" "$($who "$CORDON" run -q --no-stdin -p p.policy --cwd "$D/p" -- sh -c "echo BEGAN; { $try; } && echo HAPPENED" 2>&1)" HAPPENED
        done
        ok "$who: C1 nothing of it is on the host" test ! -e "$D/p/.claude" -a ! -e "$D/p/.codex"
        edit 'mkdir .claude; echo x >.claude/settings.json; echo plain >plain'
        cordon apply "$run" >/dev/null
        ok "$who: C1 without an except it is held back" test -e "$D/p/plain" -a ! -e "$D/p/.claude"

        # ---- C2: project files that are obeyed before anybody trusted them ----
        fresh
        $who "$CORDON" run --plan --edit "$D/p" --cwd "$D/p" -- true 2>&1 | grep -vi "git_\?config" >plan.before
        edit 'mkdir .cordon .config .git; for f in .env .envrc .cordon.policy cordon.policy policy .cordon/policy .cordon/config .config/cordon .mcp.json .cordonrc cordon.toml; do printf "use base/system\nwrite /\nrun any\nCORDON_STATE=/nowhere\n" >$f; done
                printf "[core]\n\tpager = touch %s/canary/pwned\n\tfsmonitor = touch %s/canary/pwned\n[alias]\n\tdiff = !touch %s/canary/pwned\n" '"$D $D $D"' >.git/config'
        cordon apply --include-flagged "$run" >/dev/null
        (cd "$D/p" && $who "$CORDON" run --plan --edit "$D/p" --cwd "$D/p" -- true) 2>&1 | grep -vi "git_\?config" >plan.after
        ok "$who: C2 a box is the same with such files in the directory" cmp plan.before plan.after
        edit 'echo more >>a'
        cordon diff "$run" >/dev/null && cordon apply "$run" >/dev/null && cordon undo "$run" >/dev/null
        intact "C2"

        # ---- C3: hooks and configuration that the host's git obeys ----
        if command -v git >/dev/null; then
                fresh
                as git -C "$D/p" init -q && as git -C "$D/p" add -A && as git -C "$D/p" -c user.name=a -c user.email=a@b commit -qm one
                edit 'h="#!/bin/sh
touch '"$D"'/canary/pwned"; mkdir -p .git/hooks .githooks; for k in pre-commit post-commit post-checkout pre-push fsmonitor-watchman; do echo "$h" >.git/hooks/$k; chmod 755 .git/hooks/$k; done
                        echo "$h" >evil; chmod 755 evil
                        printf "[core]\n\tfsmonitor = ./evil\n\thooksPath = .githooks\n\tsshCommand = ./evil\n\tpager = ./evil\n[diff]\n\texternal = ./evil\n[filter \"x\"]\n\tclean = ./evil\n\tsmudge = ./evil\n" >>.git/config
                        echo "* filter=x diff=x" >.gitattributes; mkdir -p .git/info; echo "* filter=x" >.git/info/attributes; echo changed >>a'
                cordon apply "$run" >/dev/null
                is "$who: C3 what was harmless landed" "$(tail -n 1 "$D/p/a")" changed
                for verb in 'status' 'diff' 'add a' '-c user.name=a -c user.email=a@b commit -qm two' 'checkout -q -b other' 'log'; do
                        # shellcheck disable=SC2086
                        as git -C "$D/p" $verb >/dev/null 2>&1
                done
                is "$who: C3 git of the host did its work" "$(as git -C "$D/p" log --format=%s | head -n 1)" two
                intact "C3 hooks, filters, monitors and pagers"
                edit 'mkdir .codex; echo x >.codex/config.toml'
                cordon apply --include-flagged "$run" >/dev/null
                edit 'rm -r .codex; ln -s ../canary .codex; echo new >.codex/new 2>/dev/null'
                has "$who: C3 a directory that became a link is flagged" "$(cordon diff "$run")" "! .codex: "
                cordon apply --include-flagged "$run" >/dev/null
                is "$who: C3 and lands as a link, if asked for" "$(readlink "$D/p/.codex")" ../canary
                edit 'echo x >src/n'
                cordon apply "$run" >/dev/null
                intact "C3 links in place of directories"
        else
                skip "$who: C3 hooks" "git is not installed"
        fi

        # ---- C4: search-path planting ----
        fresh
        edit 'for f in sh less more cat git sed cordon cordon-ledger cordon-vault cordon-egress libc.so.6 libcrypto.so.3; do printf "#!/bin/sh\ntouch '"$D"'/canary/pwned\n" >$f; chmod 755 $f; done; mkdir -p node_modules/.bin venv/bin; cp sh node_modules/.bin/git; cp sh venv/bin/python; echo x >a'
        cordon apply "$run" >/dev/null
        ok "$who: C4 programs are held back" test ! -e "$D/p/sh" -a ! -e "$D/p/node_modules/.bin/git" -a ! -e "$D/p/venv/bin/python"
        cordon apply --include-flagged "$run" >/dev/null
        edit 'echo y >>a'
        for verb in "diff $run" "diff --stat $run" "apply $run" "undo $run" "diff --list" "log verify" "discard $run"; do
                # shellcheck disable=SC2086
                cordon $verb >/dev/null
        done
        intact "C4 our own verbs, in a directory full of false programs"

        # ---- C5, C6: what no list names; commands in names ----
        fresh
        edit 'printf "#!/bin/sh\n" >".unheard-of-rc"; chmod 755 .unheard-of-rc; for n in "\$(touch '"$D"'/canary/pwned)" "a;touch pwned" "\`touch pwned\`" "|touch pwned" "&& touch pwned" "--include-flagged" "-x" "%s%n%n%s" "$(printf "n\ntouch pwned")" "'"'"'; touch pwned; '"'"'"; do mkdir -p "$(dirname "./$n")" && echo x >"./$n"; done'
        has "$who: C5 a program that no list names is flagged by its bits" "$(cordon diff "$run")" "! .unheard-of-rc: added; new executable"
        for form in "" --stat --name-only --json; do
                # shellcheck disable=SC2086
                PAGER="cat" cordon diff $form "$run" >/dev/null
        done
        cordon apply --as-patch "$D/patch" "$run" >/dev/null
        cordon apply "$run" >/dev/null
        ok "$who: C6 such names land as names" test -e "$D/p/a;touch pwned" -a -e "$D/p/--include-flagged"
        ok "$who: C6 and are no options: what is flagged is not there" test ! -e "$D/p/.unheard-of-rc"
        ok "$who: C6 nor commands" test ! -e "$D/p/pwned"
        has "$who: C6 a run is no path" "$(cordon diff '../../../etc'; cordon apply '..'; cordon discard '.'; cordon undo 'x/../..')" "no overlay"
        intact "C6"

        # ---- F1: a link is planted, a tool of the host writes through it ----
        fresh
        edit 'rm -r src; ln -s ../canary src; ln -s ../canary/secret direct; ln -s ../canary/new dangling; ln -s /etc abs'
        cordon apply --include-flagged "$run" >/dev/null
        edit 'rm src direct dangling; mkdir src; echo pwned >src/secret; echo pwned >direct; echo pwned >dangling'
        # The links stand again: as if the box had kept a hand on the tree.
        rm -rf "$D/p/src" "$D/p/direct" "$D/p/dangling" && ln -s ../canary "$D/p/src" && ln -s ../canary/secret "$D/p/direct" && ln -s ../canary/new "$D/p/dangling"
        cordon apply --include-flagged "$run" >/dev/null
        cordon undo "$run" >/dev/null
        intact "F1"

        # ---- F2: past a rule by a link; a look that fails is not taken as good ----
        fresh
        mkdir -p "$D/p/.git" && echo keep >"$D/p/.git/config" && mine
        printf 'use base/system\nedit %s except .git/config\n' "$D/p" >p.policy
        for try in 'ln -s .git g; echo x >g/config' 'ln -s .git/config c; echo x >c' 'ln .git/config hard && echo x >hard' 'cd .git && echo x >config' 'cd /proc/self/cwd/.git && echo x >config' 'echo x >/proc/self/root'"$D"'/p/.git/config' 'echo x >/proc/self/cwd/.git/config' 'exec 3<.git; echo x >/proc/self/fd/3/config' 'mv .git/config .git/x' 'ln -sfT /tmp .git' 'cp -a .git g2; rm -rf .git; mv g2 .git; echo x >.git/config'; do
                never "$who: F2 $try" "$($who "$CORDON" run -q --no-stdin -p p.policy --cwd "$D/p" -- sh -c "echo BEGAN; { $try; } && echo HAPPENED" 2>&1)" HAPPENED
        done
        is "$who: F2 the host's file is as it was" "$(cat "$D/p/.git/config")" keep
        # Should the wall have failed, and the layer hold a change of it: it is no change that is shown, or applied.
        $who "$CORDON" run -q --no-stdin -p p.policy --cwd "$D/p" --status-fd 3 -- sh -c 'echo more >a2; echo y >.git/other' 3>status 2>err
        run=$(jq -r '.work.layer // ""' status)
        upper=$(find "$T" -path "*/work/$run/door-0/upper" | head -n 1)
        ok "$who: F2 the layer is found" test -f "$upper/.git/other"
        echo planted >"$upper/.git/config" && chown --reference="$upper/.git/other" "$upper/.git/config"
        is "$who: F2 what is planted behind a rule is not shown" "$(cordon diff "$run" | sed -n 's/^\([^ ]*\): .*/\1/p' | sort | tr '\n' ' ')" ".git/other a2 "
        cordon apply --include-flagged "$run" >/dev/null
        is "$who: F2 nor applied" "$(cat "$D/p/.git/config" "$D/p/a2" "$D/p/.git/other" | tr '\n' ' ')" "keep more y "
        for way in 'rm -r "$D/p/src"' 'rm -r "$D/p/src"; ln -s src "$D/p/src"' 'rm -r "$D/p/src"; ln -s nowhere "$D/p/src"' 'rm -r "$D/p/src"; : >"$D/p/src"' 'rm -r "$D/p/src"; mkfifo "$D/p/src"'; do
                fresh
                edit 'echo x >>src/b'
                eval "$way" && mine
                is "$who: F2 the way is not there any more ($way): nothing is applied" "$(cordon apply "$run" >out 2>&1; echo $?)" 1
                intact "F2"
        done

        # ---- F1, F3: the host's copy of what a box holds, and copies onto what it does not ----
        fresh
        edit 'echo new >n; echo x >>src/b; rm a; ln -s ../canary/secret a'
        mkdir -p "$D/to/src" && echo b >"$D/to/src/b" && echo one >"$D/to/a" && ln -s ../canary/new "$D/to/n" && mine
        cordon apply --include-flagged --to "$D/to" "$run" >/dev/null
        rm "$D/to/n" && rm -r "$D/to/src" && ln -s ../canary "$D/to/src"
        cordon apply --include-flagged --to "$D/to" "$run" >/dev/null
        ln -s "$D/canary/patched" "$D/to/patch" && ln -s "$D/canary/secret" "$D/to/patch2"
        cordon apply --as-patch "$D/to/patch" "$run" >/dev/null
        cordon apply --as-patch "$D/to/patch2" "$run" >/dev/null
        hasnt "$who: F1 a patch holds no file behind a link" "$(cordon apply --as-patch - "$run")" "+secret"
        intact "F1 --to and --as-patch"
        fresh
        edit 'exec 9>>src/b; rm src/b; rmdir src; ln -s ../canary src; echo late >&9; echo x >src/late 2>/dev/null'
        cordon diff "$run" >/dev/null
        cordon apply --include-flagged "$run" >/dev/null
        intact "F3 a removed file that is still open"

        # ---- F4, F5, F7: mounts and nodes ----
        fresh
        printf 'use base/system\nedit %s except src\nread %s\n' "$D/p" "$D/canary" >p.policy
        for try in "mount -o remount,rw $D/p/src" "mount -o remount,rw,bind $D/p/src" "umount $D/p/src" "umount -l $D/p" "mount --bind /tmp $D/p/src" "mount -t overlay o -o lowerdir=$D/p,upperdir=/tmp,workdir=/tmp $D/p" "unshare -Urm umount -l $D/p/src" "unshare -Urm mount -t tmpfs t $D/p/src" "unshare -Ur pivot_root $D/p $D/p/src" "mknod $D/p/disk b 254 0" "mknod $D/p/mem c 1 1" "echo x >>$D/canary/secret" "mount -o remount,rw $D/canary" "nsenter -t 1 -m true"; do
                never "$who: F4 $try" "$($who "$CORDON" run -q --no-stdin -p p.policy --cwd "$D/p" -- sh -c "echo BEGAN; { $try; } && echo HAPPENED" 2>&1)" HAPPENED
        done
        never "$who: F4 as root of the box neither" "$($who "$CORDON" run --root -q --no-stdin -p p.policy --cwd "$D/p" -- sh -c "echo BEGAN; mount -o remount,rw $D/p/src && echo HAPPENED; umount $D/p/src && echo HAPPENED; mknod $D/p/disk b 254 0 && echo HAPPENED; chown 0:0 $D/p/a && chmod 4755 $D/p/a && echo HAPPENED" 2>&1)" HAPPENED
        intact "F4"
        # A mark of the kernel's, as the box would have to make it to hide or redirect what lies below.
        fresh
        edit 'mknod src/b2 c 0 0; python3 - <<"P"
import os
for n, v in (("user.overlay.opaque", b"y"), ("user.overlay.redirect", b"/../canary"), ("user.overlay.origin", b"x" * 20), ("user.overlay.metacopy", b""), ("trusted.overlay.redirect", b"/../canary"), ("security.capability", b"\1" * 20)):
    for at in (".", "src", "a"):
        try:
            os.setxattr(at, n, v)
        except OSError:
            pass
P
        echo x >src/n'
        is "$who: F5 marks that a box forges do not hide what lies below" "$(cordon diff --name-only "$run" | tr '\n' ' ')" "src/n "
        cordon apply --include-flagged "$run" >/dev/null
        is "$who: F5 and none of them lands" "$(python3 -c 'import os, sys; print([x for f in ("a", "src", "src/n", "src/b", ".") for x in os.listxattr(os.path.join(sys.argv[1], f)) if "overlay" in x or "capab" in x])' "$D/p")" "[]"
        ok "$who: F5 what was below is still there" test -f "$D/p/src/b"

        # ---- F6: links in the way of a copy that root makes; owners ----
        fresh
        echo single >"$D/single" && mine
        ln -s canary/secret "$D/link" && mine
        $who "$CORDON" run -q --no-stdin --edit "$D/link" -- sh -c "echo pwned >$D/link" >/dev/null 2>&1
        intact "F6 a file door that is a link"
        edit 'ln -s ../canary/secret mine; chown -h 0:0 mine; chown 12345 a; chmod 4755 a; chmod 2777 src; echo x >>src/b'
        cordon apply "$run" >/dev/null
        is "$who: F6 no owner and no set-id bit lands unasked" "$(stat -c '%u %a' "$D/p/a") $(stat -c %a "$D/p/src")" "$(stat -c %u "$D/p") 644 755"
        intact "F6 owners"
        state=$T/state-links-$who
        mkdir -m 700 "$state" "$D/elsewhere" && ln -s "$D/elsewhere" "$state/work" && { [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown -h 65533:65533 "$state" "$state/work" "$D/elsewhere"; }
        has "$who: F6 a state directory with a link in it is refused" "$($who env CORDON_STATE="$state" "$CORDON" run -q --no-stdin --edit "$D/p" -- true 2>&1)" "cordon: error"
        is "$who: F6 and nothing is made behind it" "$(find "$D/elsewhere" -mindepth 1)" ""

        # ---- F9: the parent of a protected path; files that come later ----
        fresh
        mkdir -p "$D/p/deep/er" && echo keep >"$D/p/deep/er/k" && mine
        printf 'use base/system\nedit %s except deep/er/k later/on\n' "$D/p" >p.policy
        for try in 'mv deep d && mkdir -p deep/er && echo x >deep/er/k' 'rm -rf deep' 'mv deep/er e2' 'rmdir deep/er' 'mv later l2' 'rm -rf later; mkdir later; echo x >later/on' 'mkdir -p later/on && echo x >later/on/x' 'ln -sfT /tmp later' 'mv deep/er/k deep/er/l' 'mkdir x && mv -T x later'; do
                never "$who: F9 $try" "$($who "$CORDON" run -q --no-stdin -p p.policy --cwd "$D/p" -- sh -c "echo BEGAN; { $try; } && echo HAPPENED" 2>&1)" HAPPENED
        done
        is "$who: F9 it is kept" "$(cat "$D/p/deep/er/k")" keep

        # ---- F10: programs that were copied, renamed, written; the loader; an interpreter ----
        fresh
        cp /bin/echo "$D/p/tool" && chmod 755 "$D/p/tool" && mine
        loader=$(find /lib64 /lib -name 'ld-linux-*.so.*' 2>/dev/null | head -n 1)
        for try in 'cp /bin/echo e; ./e RAN' 'mv tool t2; ./t2 RAN' 'cp tool t2; ./t2 RAN' 'ln tool t2; ./t2 RAN' "cp /bin/echo e; $loader ./e RAN" '{ echo "#!/bin/sh"; echo echo RAN; } >s; chmod 755 s; ./s' "/proc/self/root$D/p/tool RAN" '/proc/self/cwd/tool RAN' 'exec 3<tool; /proc/self/fd/3 RAN' 'cp /bin/echo /tmp/e; /tmp/e RAN'; do
                never "$who: F10 $try" "$($who "$CORDON" run -q --no-stdin --use base/strict --edit "$D/p" --cwd "$D/p" -- sh -c "echo BEGAN; $try" 2>/dev/null)" RAN
        done
        for l in $($who "$CORDON" diff --list --json 2>/dev/null | jq -r '.[].run'); do $who "$CORDON" discard "$l" >/dev/null 2>&1; done
done

# ---- F6: a file door that flips between a file and a link while boxes start, run and end: what was made of one never lands on the
# other. (Who may exchange names in that directory while an apply runs can write there anyway.) ----
if command -v python3 >/dev/null; then
        who=root D="$T/flip"
        mkdir -p "$D" && echo fine >"$D/file" && echo SECRET >"$D/secret" && ln -s secret "$D/link"
        python3 -c '
import ctypes, os, platform, sys, time
libc, nr = ctypes.CDLL(None), {"x86_64": 316, "aarch64": 276}[platform.machine()]
end = time.monotonic() + 60
while time.monotonic() < end and os.getppid() != 1:
    libc.syscall(nr, -100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)' "$D/file" "$D/link" &
        hammer=$!
        i=0 whole=0
        : >bad
        while [ $i -lt 60 ]; do
                i=$((i + 1))
                # A door that is a link when it is looked at shows, and changes, what it leads to; one that is a file, the file.
                out=$("$CORDON" run -q --no-stdin --edit "$D/file" -- sh -c "head -n 1 $D/file; echo box >>$D/file" 2>/dev/null)
                case $out in fine) whole=$((whole + 1)) ;; SECRET | "") ;; *) echo "$out" >>bad ;; esac
                kill -STOP $hammer # where it stands: as a file, or as a link
                (cd "$D" && "$CORDON" apply && : >"$T/landed"; "$CORDON" discard) >/dev/null 2>&1
                kill -CONT $hammer
        done
        kill $hammer
        wait $hammer 2>/dev/null
        is "F6 a door that flips is one thing or no start ($whole of $i were the file)" "$(cat bad)" ""
        ok "F6 some starts were whole" test $whole -gt 0
        ok "F6 and some applies landed" test -e "$T/landed"
        is "F6 neither file got what was made of the other" "$(head -qn 1 "$D/secret") $(find "$D" -type f ! -name secret -exec head -n 1 {} +)" "SECRET fine"
        is "F6 both are still there, and nothing else" "$(ls "$D" | wc -l)" 3
else
        skip "F6 a door that flips" "there is no python3"
fi

# ---- C5: who may open what the host makes later: an access list of a directory, for what is made in it ----
cat >acl.py <<'END'
import os, struct, sys
for d in sys.argv[1:]:
    os.setxattr(d, "system.posix_acl_default", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", t, 7, 0xffffffff) for t in (1, 4, 0x20)))
END
for who in root as_user; do
        D="$T/$who-acl" && rm -rf "$D" && mkdir -p "$D/p/sub" "$D/p/own" && mine
        if ! python3 acl.py "$D/p/own" 2>/dev/null; then
                skip "$who: C5 an access list is flagged" "this filesystem has none"
                continue
        fi
        run=$($who "$CORDON" run -q -n --edit "$D/p" --read "$T/acl.py" --status-fd 3 -- sh -c "mkdir '$D/p/own/new' '$D/p/sub/plain' '$D/p/made' && python3 '$T/acl.py' '$D/p' '$D/p/sub' '$D/p/made' && mkdir '$D/p/made/in'" 3>&1 >/dev/null 2>err | jq -r .work.layer)
        is "$who: C5 an access list is flagged, one that the host gave is not" "$($who "$CORDON" diff --stat "$run" 2>&1 | sed -n 's/^! \([^ ]*\) |.*/\1/p' | sort -u | tr '\n' ' ')" ". made sub "
        $who "$CORDON" apply "$run" >/dev/null 2>&1
        is "$who: C5 and held back" "$($who sh -c "umask 077; cd '$D/p' && touch top sub/low && stat -c %a top sub/low" | tr '\n' ' ')$(find "$D/p" -name made -o -name plain -o -name new | wc -l)" "600 600 2"
done

# ---- F1: the door to a single file leads elsewhere when its change is to land; what lies there has the same text ----
for who in root as_user; do
        D="$T/$who-single"
        for swap in 'mv d/sub d/old && ln -s ../elsewhere d/sub' 'rm d/sub/f && ln -s ../../elsewhere/f d/sub/f'; do
                rm -rf "$D" && mkdir -p "$D/d/sub" "$D/elsewhere" && echo one >"$D/d/sub/f" && echo one >"$D/elsewhere/f" && mine
                run=$(cd "$D" && $who "$CORDON" run -q -n --edit "$D/d/sub/f" --status-fd 3 -- sh -c "echo two >'$D/d/sub/f'" 3>&1 >/dev/null 2>err | jq -r .work.layer)
                (cd "$D" && $who "$CORDON" run -q -n --write "$D/d" --cwd "$D" -- sh -c "$swap" 2>err) || fail "$who: a second box can" "$(cat err)"
                has "$who: F1 a file's door that another box turned is not applied ($swap)" "$($who "$CORDON" apply "$run" 2>&1)" "leads elsewhere than when the box saw it"
                is "$who: F1 what it was turned to is as it was" "$(cat "$D/elsewhere/f")" one
                $who "$CORDON" discard "$run" >/dev/null 2>&1
        done
        rm -rf "$D" && mkdir -p "$D/d/sub" "$D/elsewhere" && echo one >"$D/d/sub/f" && echo one >"$D/elsewhere/f" && mine
        (cd "$D" && $who "$CORDON" run -q -n --write "$D/d" --edit "$D/d/sub/f" --cwd "$D" -- sh -c 'echo two >d/sub/f; mv d/sub d/old && ln -s ../elsewhere d/sub' 2>err)
        (cd "$D" && $who "$CORDON" apply >/dev/null 2>&1)
        is "$who: F1 nor by a second door of the same box" "$(cat "$D/elsewhere/f")" one
        rm -rf "$D" && mkdir -p "$D/d" && echo one >"$D/d/f" && mine
        run=$(cd "$D" && $who "$CORDON" run -q -n --edit "$D/d/f" --status-fd 3 -- sh -c "echo two >'$D/d/f'" 3>&1 >/dev/null 2>err | jq -r .work.layer)
        $who sh -c "cp '$D/d/f' '$D/d/g' && mv '$D/d/g' '$D/d/f'"
        $who "$CORDON" apply "$run" >/dev/null 2>&1
        is "$who: F1 one that was saved anew as it was still gets its change" "$(cat "$D/d/f")" two
done
done_testing

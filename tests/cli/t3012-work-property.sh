#!/bin/sh
# Random trees and random edits: applying what a box did equals doing the same outside, byte for byte; undo restores; and a
# patch says the same to git. WORK_SEEDS sets how many (5).
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
cp "$here/helpers/edits.py" "$here/helpers/tree.py" "$T/" && chmod 644 "$T"/*.py
root() { "$@"; }

tree() { python3 "$T/tree.py" "$1"; }
# What git knows of a tree: files, whether they can be executed, and links. A patch has no binary files: what is one in any of
# the other trees is left out.
cat >gits.py <<'END'
import hashlib, os, stat, sys
top = os.fsencode(sys.argv[1])
binary = set()
for other in map(os.fsencode, sys.argv[2:]):
    for base, dirs, files in os.walk(other):
        for p in (os.path.join(base, n) for n in files):
            if not os.path.islink(p) and os.path.isfile(p) and b"\0" in open(p, "rb").read():
                binary.add(p[len(other):])
for base, dirs, files in os.walk(top):
    dirs.sort()
    for n in sorted(dirs + files):
        p = os.path.join(base, n)
        s = os.lstat(p)
        if any(p[len(top):] == b or p[len(top):].startswith(b + b"/") for b in binary):
            continue
        if stat.S_ISLNK(s.st_mode):
            print(repr(p[len(top):]), "->", repr(os.readlink(p)))
        elif stat.S_ISREG(s.st_mode):
            print(repr(p[len(top):]), bool(s.st_mode & 0o100), hashlib.sha256(open(p, "rb").read()).hexdigest())
END
for who in root as_user; do
        mkdir -p "$T/$who" && { [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown 65533:65533 "$T/$who"; }
        seed=0
        while [ $seed -lt "${WORK_SEEDS:-5}" ]; do
                seed=$((seed + 1))
                D=$T/$who/$seed
                $who mkdir -p "$D/in" "$D/tmp"
                $who python3 edits.py make "$D/in" $seed 60 >/dev/null
                $who cp -a "$D/in" "$D/out"
                tree "$D/in" >before
                $who "$CORDON" run -q --no-stdin --use base/python3 --read "$T/edits.py" --edit "$D/in" --status-fd 3 -- \
                        python3 "$T/edits.py" edit "$D/in" $seed 60 >said.in 3>status 2>err || fail "$who $seed: the box ran" "$(cat err)"
                tree "$D/in" >now
                ok "$who $seed: while it ran nothing changed outside" cmp before now
                $who python3 edits.py edit "$D/out" $seed 60 >said.out
                ok "$who $seed: the box could do what can be done outside" cmp said.in said.out
                tree "$D/out" >want
                run=$(jq -r .work.layer status)
                $who "$CORDON" diff "$run" >/dev/null 2>err || fail "$who $seed: diff" "$(cat err)"
                if command -v git >/dev/null; then
                        cp -a "$D/in" "$D/git"
                        $who "$CORDON" apply --include-flagged --as-patch "$D/patch" "$run" 2>err || fail "$who $seed: a patch is made" "$(cat err)"
                        (cd "$D/git" && git apply --whitespace=nowarn ../patch) >err 2>&1 || fail "$who $seed: git takes the patch" "$(cat err)"
                        python3 gits.py "$D/out" "$D/in" "$D/out" >want.git
                        python3 gits.py "$D/git" "$D/in" "$D/out" >got.git
                        ok "$who $seed: what git makes of the patch is the same" diff want.git got.git
                else
                        skip "$who $seed: what git makes of the patch" "git is not installed"
                fi
                $who "$CORDON" apply --include-flagged "$run" 2>err || fail "$who $seed: apply" "$(cat err)"
                tree "$D/in" >got
                ok "$who $seed: apply equals the same edits outside" diff want got
                $who "$CORDON" undo "$run" 2>err || fail "$who $seed: undo" "$(cat err)"
                tree "$D/in" >got
                ok "$who $seed: undo restores" diff before got
                $who "$CORDON" apply --include-flagged "$run" 2>err || fail "$who $seed: apply again" "$(cat err)"
                tree "$D/in" >got
                ok "$who $seed: and the layer lands again" diff want got
        done
done
done_testing

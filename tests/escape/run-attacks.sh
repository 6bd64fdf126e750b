# docs/attacks.md names, for every known way of beating a sandbox, what tries it here: all of it exists. Then those attacks that
# come from outside a box, where no attempt of `cordon selftest breakout` can stand: a false /proc, a false /dev/null, a setuid bit,
# variables that ask for less wall, links in the way of the set-up, and a door that is exchanged all the time.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
if ! command -v jq >/dev/null; then
        skip "the attacks" "jq is not installed"
        done_testing
fi

# ---- the table ----
# Those of the other architecture stand in the tables of src/selftest/probe/ too, but not in this program.
{ "$CORDON" selftest breakout --list --json | jq -r '.[].probe'; sed -n 's/^ *ROW("\(\(i386\|x32\|AArch32\) calls are closed: [^"]*\)".*/\1/p' src/selftest/probe/try_abi.c; sed -n 's/.*"\(seen from outside: [^"]*\)".*/\1/p' src/selftest/canary.c; } >"$T/names"
# missing FILE: what a table names and nobody has; rows that name nothing
missing() {
        awk -F ' [|] ' 'NR == FNR { have[$0] = 1; next }
                /^\| [PCFNKRH0-9]/ { rows++; n = split($3, p, "; ")
                        for (i = 1; i <= n; i++) if (p[i] != "" && !(p[i] in have)) print "no attempt: " p[i]
                        m = split($4, t, ", "); for (i = 1; i <= m; i++) { gsub(/`/, "", t[i]); gsub(/ /, "", t[i]); if (t[i] != "") { if (system("test -f " t[i])) print "no test: " t[i] } }
                        if ($3 == "" && $4 == "") print "nobody tries: " $2 }
                END { if (rows < 106) print rows " rows" }' "$T/names" "$1"
}
is "everything that docs/attacks.md names exists" "$(missing docs/attacks.md)" ""
sed 's/pivot_root is closed/pivot_root is ajar/' docs/attacks.md >"$T/wrong.md"
is "an attempt that is not there is found" "$(missing "$T/wrong.md")" "no attempt: pivot_root is ajar"
sed 's/t2002-run-doors/t2002-run-windows/' docs/attacks.md >"$T/wrong.md"
has "a test that is not there is found" "$(missing "$T/wrong.md")" "no test: tests/cli/t2002-run-windows.sh"

# numbers FILE: those of the findings that its rows have, in order
numbers() {
        sed -n 's/^| H[0-9]* | [^|]*(\([0-9][0-9a-z, ]*\)) |.*/\1/p' "$1" | tr ',' '\n' | sed 's/ to / /' | while read -r from to; do seq "$from" "${to:-$from}"; done | sort -n | tr '\n' ' '
}
is "each finding from outside has its row" "$(numbers docs/attacks.md)" "$(seq 37 | tr '\n' ' ')40 "

# Two lists are complete, row by row, with a test each: what is left on the host, and paths and file trees.
lists() {
        for known in 2026-25725 2025-61260 2025-59536 2026-21852 2026-33068 2026-26268 2026-65093 2026-65083 2026-65086 2026-65091 \
                2026-39861 2026-25724 2026-50549 2026-103916 2026-77179 2026-46695 2026-24834 2026-47243 2026-1386 \
                'becomes a link' 'OpenShell PR 352' 'user namespace unmounts' 'chdir after pivot_root' 'parent of a protected path' \
                'files that match come later' '/proc/self/root, a copied program' 'file handles' 'io_uring around'; do
                grep '^| [CF][0-9]' "$1" | grep -F -e "$known" | grep -q '`tests/' || echo "no test: $known"
        done
}
is "every row of the two lists about files names its test" "$(lists docs/attacks.md)" ""
sed '/CVE-2026-77179/d; s/^| F8 \(.*\)`tests[^|]*|/| F8 \1 |/' docs/attacks.md >"$T/wrong.md"
is "a row that is not there, or names none, is found" "$(lists "$T/wrong.md" | tr '\n' ';')" "no test: 2026-77179;no test: chdir after pivot_root;"

# Lints are for people: no decision may rest on what one of them found, or did not.
is "no decision and no wall reads a lint" "$(grep -lE 'policy_note|lint_|n_notes' $(git ls-files "src/policy/decide/*.c" "src/wall/plan/*.c" "src/wall/*.c" "src/run/keeper/*.c"))" ""

# ---- a setuid bit, or capabilities, on the program ----
if [ "$(id -u)" -eq 0 ]; then
        cp "$CORDON" "$T/setuid" && chmod 4755 "$T/setuid"
        out=$(as_user "$T/setuid" run -- echo RAN 2>&1)
        is "a setuid program does nothing" "$?:$(printf '%s' "$out" | head -n 1)" "125:cordon: error: cordon's program file is setuid or setgid or has capabilities"
        as_user "$T/setuid" version >/dev/null 2>&1
        is "not even tell its version" $? 125
        is "root, for whom the bit changes nothing, is served" "$("$T/setuid" run -q -- echo RAN 2>&1)" RAN
else
        skip "a setuid program does nothing" "only root can make one"
fi

# ---- looking into the processes that raise and keep a box (CVE-2026-41163) ----
# What belongs to root in /proc although its user is none other than ours is closed to all of that user's other programs, and to
# a payload that got out of its namespaces.
id=$(as_user "$CORDON" run -d --time 60s --net closed.test:80 -- sleep 50)
keeper=$(as_user "$CORDON" ps --json "$id" | jq -r .keeper)
family() { for c in $(pgrep -P "$1"); do echo "$c"; family "$c"; done; }
if [ "$(id -u)" -eq 0 ]; then
        for _ in $(seq 100); do
                sleep 0.2
                for p in $(family "$keeper"); do
                        comm=$(cat "/proc/$p/comm" 2>/dev/null) && stat -c "$comm %u" "/proc/$p/environ" 2>/dev/null
                done | sort -u >"$T/owners"
                grep -q '^sleep ' "$T/owners" && grep -q resolver "$T/owners" && break
        done
        is "a payload belongs to its user" "$(grep '^sleep ' "$T/owners")" "sleep 65533"
        for comm in cordon-init cordon-egress cordon-resolver; do
                has "$comm is there" "$(cat "$T/owners")" "$comm "
        done
        is "all of ours are closed to programs of the same user" "$(grep '^cordon-' "$T/owners" | grep -v ' 0$')" ""
else
        skip "all of ours are closed to programs of the same user" "only root sees whose they are"
fi
as_user "$CORDON" stop -k "$id" >/dev/null 2>&1

# ---- variables ----
layers() { env "$@" "$CORDON" run -q --status-fd 3 -- true 3>&1 >/dev/null 2>&1 </dev/null | jq -c '[.wall, .attested, .layers]'; }
want=$(layers A=b)
has "a box has its layers" "$want" '"seccomp"'
for name in CORDON_KNOCKOUT CORDON_SABOTAGE CORDON_STEP CORDON_ALLOC CORDON_WALL CORDON_DISABLE CORDON_NO_SANDBOX LD_PRELOAD LD_LIBRARY_PATH MALLOC_CONF GLIBC_TUNABLES; do
        is "$name lowers no wall" "$(layers $name=seccomp,landlock,mount,1)" "$want"
done

# ---- a false /proc, a false /dev/null ----
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
        # In a mount namespace of its own; $1 is the trick.
        tricked() { unshare -m --propagation private sh -c "$1; exec \"\$0\" run -q --wall namespace -- echo RAN" "$CORDON" 2>&1 </dev/null; }
        out=$(tricked 'mount -t tmpfs none /proc')
        is "with a tmpfs as /proc nothing starts" "$?:$(printf '%s' "$out" | grep -c RAN)" 125:0
        echo canary >"$T/canary"
        out=$(tricked "mount --bind $T/canary /dev/null")
        is "with a file as /dev/null nothing starts" "$?:$(printf '%s' "$out" | grep -c '^RAN')" 125:0
        has "and it is said" "$out" "/dev/null of this host is not the device it should be"
        out=$(tricked "mount --bind /dev/zero /dev/urandom")
        is "with another device as /dev/urandom nothing starts" "$?:$(printf '%s' "$out" | grep -c '^RAN')" 125:0
        is "and the file is as it was" "$(cat "$T/canary")" canary
else
        skip "with a false /proc or /dev/null nothing starts" "only root can mount one"
fi

# ---- links in the way of the set-up ----
mkdir -p "$T/canaries/deep" "$T/tree/real" && echo same >"$T/canaries/deep/file"
for name in abs rel dots; do
        case $name in abs) to=$T/canaries ;; rel) to=../canaries ;; *) to=../tree/../canaries ;; esac
        ln -s "$to" "$T/tree/$name"
done
chmod -R a+rwX "$T/tree" "$T/canaries"
before=$(cd "$T/canaries" && find . -exec stat -c '%n %a %s %i' {} + | sort)
for who in "" as_user; do
        for name in abs rel dots; do
                for door in "--read $T/tree/$name/deep" "--read $T/tree/$name" "--write $T/tree/$name/new?" "--read $T/tree/$name/deep/file"; do
                        # shellcheck disable=SC2086
                        $who "$CORDON" run -q --write "$T/tree" $door -- true >/dev/null 2>&1 </dev/null
                done
        done
        is "${who:-root}: links below a writable door leave what they lead to as it was" "$(cd "$T/canaries" && find . -exec stat -c '%n %a %s %i' {} + | sort)" "$before"
done

# ---- a door that is exchanged all the time ----
if command -v python3 >/dev/null; then
        mkdir "$T/one" "$T/two"
        for d in one two; do for f in 1 2 3; do echo $d >"$T/$d/$f"; done; done
        chmod -R a+rX "$T/one" "$T/two"
        python3 -c '
import ctypes, os, platform, signal, sys, time
libc, nr = ctypes.CDLL(None), {"x86_64": 316, "aarch64": 276}[platform.machine()]
end = time.monotonic() + 120
while time.monotonic() < end and os.getppid() != 1:
    libc.syscall(nr, -100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)' "$T/one" "$T/two" &
        hammer=$!
        sleep 0.2
        for who in "" as_user; do
                n=0 whole=0 refused=0
                : >"$T/mixed"
                while [ $n -lt 60 ]; do
                        n=$((n + 1))
                        out=$($who "$CORDON" run -q --read "$T/one" -- sh -c "cat $T/one/1 $T/one/2; sleep 0.01; cat $T/one/3" 2>"$T/err" </dev/null)
                        case $?:$(echo "$out" | tr '\n' ' ') in
                        "0:one one one " | "0:two two two ") whole=$((whole + 1)) ;;
                        125:*) refused=$((refused + 1)); grep -q 'changed while the box was starting\|no such\|opening the door' "$T/err" || cat "$T/err" >>"$T/mixed" ;;
                        *) echo "$out" >>"$T/mixed" ;;
                        esac
                done
                is "${who:-root}: a door that is exchanged is one thing or no start ($whole whole, $refused refused)" "$(head -n 5 "$T/mixed")" ""
                ok "${who:-root}: some starts were whole" test $whole -gt 0
        done
        kill $hammer 2>/dev/null
        wait $hammer 2>/dev/null
else
        skip "a door that is exchanged is one thing or no start" "there is no python3"
fi
done_testing

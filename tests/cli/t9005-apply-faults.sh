#!/bin/sh
# An apply was killed in its middle, and of the command that should finish it one system call fails, each in turn (strace
# injects it): it says so, and the tree is as before or as after once the next command was there. Nothing is taken for not
# written because it could not be read.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib-work.sh"
if ! strace -f -o /dev/null true 2>/dev/null; then
        skip "an interrupted apply and a failing call" "strace is not installed, or may not trace here"
        done_testing
fi
cp "$BUILD/tests/hooked" "$T/hooked" && chmod 755 "$T/hooked" || { fail "the program with hooks is built"; done_testing; }
CORDON_LEDGER=off # its sealer would be waited for
export CORDON_LEDGER
who=root
D=$T/d
fresh 'echo a >a; echo b >b; mkdir gone mode; echo g >gone/g; echo c >c'
edit 'echo A2 >a; echo B2 >b; rm -r gone; echo C2 >c; mkdir new; echo n >new/n; chmod 700 mode'
tree "$D/p" >before
cordon apply "$run" >/dev/null
tree "$D/p" >after
cordon undo "$run" >/dev/null
ok "the apply changes something" test "$(diff before after | wc -l)" -gt 10
# Somewhere behind the commit: some of the names are exchanged, and others are not.
step=0 halfway=
while [ $step -lt 60 ] && [ -z "$halfway" ]; do
        step=$((step + 1))
        CORDON_WORK_STEP=$step "$T/hooked" apply "$run" >/dev/null 2>&1
        tree "$D/p" >now
        if ! cmp -s now before && ! cmp -s now after; then halfway=$step; fi
        cordon diff --stat "$run" >/dev/null
        tree "$D/p" >now
        cmp -s now before || cordon undo "$run" >/dev/null
done
ok "an apply can be killed in its middle" test -n "$halfway"
# The first uses of each: those of the journal are among them.
tried=0 failed=0 wrong=''
for fault in openat:EMFILE faccessat2:EIO read:EIO fstat:EIO newfstatat:EIO getdents64:EIO renameat2:EIO; do
        n=0
        while [ $n -lt 30 ]; do
                n=$((n + 1)) tried=$((tried + 1))
                CORDON_WORK_STEP=$halfway "$T/hooked" apply "$run" >/dev/null 2>&1
                timeout -k 1 60 strace -qq -o trace -e trace="${fault%:*}" -e inject="${fault%:*}:error=${fault#*:}:when=$n" "$CORDON" diff --stat "$run" >/dev/null 2>err
                code=$?
                cordon diff --stat "$run" >/dev/null 2>&1 || wrong="$wrong $fault $n: the next command fails;"
                tree "$D/p" >now
                cmp -s now after || cmp -s now before || { wrong="$wrong $fault $n: in between ($code, $(head -n 1 err));"; break 2; }
                case $code in
                0) ;;
                125) failed=$((failed + 1)) && grep -q '^cordon: error: ' err || wrong="$wrong $fault $n: without a word;" ;;
                *) wrong="$wrong $fault $n: code $code;" ;;
                esac
                cmp -s now before || cordon undo "$run" >/dev/null
                grep -q INJECTED trace || break
        done
done
is "none of $tried failing calls leaves the tree in between" "$wrong" ""
ok "and many of them were told" test $failed -gt 30
# The same while it is taken back: what is said to be done is.
tried=0 failed=0 wrong=''
n=0
while [ $n -lt 40 ]; do
        n=$((n + 1)) tried=$((tried + 1))
        cordon apply "$run" >/dev/null
        timeout -k 1 60 strace -qq -o trace -e trace="?open,openat" -e inject="?open,openat":error=EMFILE:when=$n "$CORDON" undo "$run" >/dev/null 2>err
        code=$?
        tree "$D/p" >now
        [ $code -ne 0 ] || cmp -s now before || wrong="$wrong $n: said to be taken back: $(diff before now);"
        [ $code -eq 0 ] || failed=$((failed + 1))
        cordon diff --stat "$run" >/dev/null
        tree "$D/p" >now
        cmp -s now after || cmp -s now before || { wrong="$wrong $n: in between ($code, $(head -n 1 err));"; break; }
        cmp -s now before || cordon undo "$run" >/dev/null
        grep -q INJECTED trace || break
done
is "none of $tried failing calls takes half of an apply back" "$wrong" ""
ok "and many of these were told, too" test $failed -gt 10
# What cannot be looked at is neither gone nor in use, and no older layer is taken for the newest.
edit 'echo newer >newer'
cd "$D/p" || exit 1
n=0 wrong=''
while [ $n -lt 40 ]; do
        n=$((n + 1))
        timeout -k 1 60 strace -qq -o "$T/trace" -e trace="?open,openat" -e inject="?open,openat":error=EMFILE:when=$n "$CORDON" diff --name-only >"$T/out" 2>"$T/err"
        case $?:$(cat "$T/out") in
        125:*) grep -q 'descriptors available\|open files' "$T/err" || wrong="$wrong $n: $(head -n 1 "$T/err");" ;;
        0:newer) ;;
        *) wrong="$wrong $n: $(cat "$T/out" "$T/err");" ;;
        esac
        grep -q INJECTED "$T/trace" || break
done
is "a layer that cannot be opened is no reason to take an older one" "$wrong" ""
done_testing

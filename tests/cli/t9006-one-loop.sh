#!/bin/sh
# Two hundred boxes from one loop in one thread: all results are right, one that takes long holds up nobody, nothing is left,
# also when the program that keeps them is killed.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$repo/build}" "${CC:=cc}"
root() { "$@"; }
cp -L "$BUILD/libcordon.so.1" "$T/" && chmod 755 "$T/libcordon.so.1"
ok "the program compiles without a warning" "$CC" -std=gnu11 -O2 -Wall -Wextra -Werror -I"$repo/include" -o "$T/one_loop" "$(dirname "$0")/helpers/one_loop.c" "$BUILD/libcordon.so"
before=$(orphans)
cases="mixed held cost"
if [ -x "$CORDON_LIBEXEC/cordon-vault" ] && [ -x "$CORDON_LIBEXEC/cordon-egress" ]; then
        cases="$cases locked"
        printf 'open sesame' >"$T/words" && chmod 644 "$T/words"
else
        skip "a vault that waits for its passphrase" "cordon-vault and cordon-egress are not built"
fi
for who in root as_user; do
        [ "$cases" = "${cases%locked}" ] || echo a-token-of-the-test | $who "$CORDON" vault add tok --env TOKEN --protect passphrase --passphrase-fd 9 9<"$T/words"
        for case in $cases; do
                $who env LD_LIBRARY_PATH="$T" timeout -k 5 240 "$T/one_loop" "$case" >"$T/said" 2>"$T/err" </dev/null
                code=$?
                while read -r line; do
                        case $line in
                        "ok "*) pass "$who: $case: ${line#ok }" ;;
                        "not ok "*) fail "$who: $case: ${line#not ok }" ;;
                        *) echo "$line ($who)" ;;
                        esac
                done <"$T/said"
                is "$who: $case: the program ends well" "$code $(cat "$T/err")" "0 "
        done

        # The program is killed: its boxes end with it, and their groups are removed.
        : >"$T/up" && chmod 666 "$T/up"
        # shellcheck disable=SC2016
        $who env LD_LIBRARY_PATH="$T" sh -c 'echo $$ >"$1"; exec "$2" until-killed' sh "$T/up" "$T/one_loop" >"$T/said" 2>&1 </dev/null &
        ok "$who: forty boxes are up" soon grep -q up "$T/said"
        keeper=$(cat "$T/up")
        cat "/proc/$keeper/task/$keeper/children" >"$T/children"
        ok "$who: with a process each" test "$(wc -w <"$T/children")" -ge 40
        kill -9 "$keeper"
        gone() { for p in $(cat "$T/children"); do ! kill -0 "$p" 2>/dev/null || return 1; done; }
        ok "$who: none of them outlives the program" soon gone
done
ok "no control group is left" none_left

# ---- the example ----
cp "$BUILD/examples/many-boxes" "$T/many-boxes" && chmod 755 "$T/many-boxes"
for i in $(seq 200); do echo "echo said $i; exit $((i % 5))"; done >"$T/commands"
for i in $(seq 200); do printf '%d: exited %d, %d bytes: said %d\n' "$i" $((i % 5)) $((6 + ${#i})) "$i"; done >"$T/want"
for who in root as_user; do
        $who env LD_LIBRARY_PATH="$T" timeout -k 5 240 "$T/many-boxes" 50 <"$T/commands" >"$T/out" 2>&1
        is "$who: many-boxes runs two hundred commands" "$? $(sort -n "$T/out" | diff - "$T/want" | head -n 3)" "0 "
done
done_testing

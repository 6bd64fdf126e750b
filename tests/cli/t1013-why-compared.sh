# What `cordon why` answers is what a box does: random doors, and random effects over them, asked and done. Links inside and
# outside of doors, programs that are there and are not, what every box has of its own, connections, variables.
# COMPARE_EFFECTS and COMPARE_SEED ask for more and for others: COMPARE_EFFECTS=20000 COMPARE_SEED=$RANDOM.
. "$(dirname "$0")/lib.sh"
elsewhere cordon-compare
B=$(mktemp -d "${D%/*}/cordon-compare-bin.XXXXXX") || exit 1
trap 'code=$?; remove "$T" "$D" "$D".* "$B"; exit $code' EXIT
chmod 777 "$D" && chmod 755 "$B"
if ! cc -static -O1 -s -I"$CORDON_SOURCE/include" -o "$B/compare" "$(dirname "$0")/helpers/compare.c" "$BUILD/libcordon.a" 2>"$T/log"; then
        fail "the helper builds" "$(cat "$T/log")"
        done_testing
fi
export COMPARE_PASSED=1 COMPARE_KEPT=1 CORDON_STATE="$T/state"
cd "$T" || exit 1
seed=${COMPARE_SEED:-21} effects=${COMPARE_EFFECTS:-4000}
"$B/compare" "$seed" "$effects" "$D" "$CORDON" >"$T/out" 2>"$T/err"
is "why and boxes agree about $effects effects (seed $seed)" "$(tail -n 1 "$T/out" | sed 's/.*: //')" "0 disagreements" "$(head -n 60 "$T/out" "$T/err")"
ok "nearly all policies started" test "$(sed -n 's/.* boxes, \([0-9]*\) more did not start.*/\1/p' "$T/out")" -le $((effects / 800))
done_testing

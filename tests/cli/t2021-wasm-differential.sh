# Modules that binaryen makes from random bytes, in our interpreter and in the engine of node: results, traps and calls of imports
# are the same. --denan, because the bits of a NaN may differ. For more: DIFFERENTIAL_ROUNDS=1000 DIFFERENTIAL_FROM=1000.
. "$(dirname "$0")/lib.sh"
: "${BUILD:=build}"
here=$(cd "$(dirname "$0")" && pwd)
features="--enable-sign-ext --enable-nontrapping-float-to-int --enable-bulk-memory --enable-mutable-globals --enable-simd --enable-multivalue"
for p in wasm-opt node python3; do
        command -v $p >/dev/null || { skip "random modules have the same results in node" "$p is not installed"; done_testing; }
done
differ='' uneven='' calls=0 i=${DIFFERENTIAL_FROM:-1}
end=$((i + ${DIFFERENTIAL_ROUNDS:-12}))
while [ "$i" -lt "$end" ]; do
        python3 -c 'import random, sys; r = random.Random(int(sys.argv[1])); sys.stdout.buffer.write(r.randbytes(r.randrange(500, 9000)))' "$i" >"$T/in"
        # shellcheck disable=SC2086
        wasm-opt "$T/in" -ttf --denan $features -o "$T/m.wasm" >/dev/null 2>&1 || { fail "a module is made of seed $i"; break; }
        "$BUILD/tests/unit/wasm_dump" "$T/m.wasm" >"$T/ours" 2>&1
        node "$here/helpers/wasm_dump.js" "$T/m.wasm" >"$T/theirs" 2>&1
        cmp -s "$T/ours" "$T/theirs" || differ="$differ $i"
        "$BUILD/tests/unit/wasm_dump" --exact "$T/m.wasm" >"$T/exact" 2>&1
        "$BUILD/tests/unit/wasm_dump" --compiler "$T/m.wasm" >"$T/compiled" 2>&1
        [ $? -eq 77 ] || cmp -s "$T/exact" "$T/compiled" || uneven="$uneven $i"
        calls=$((calls + $(grep -c '^call' "$T/ours")))
        i=$((i + 1))
done
is "random modules have the same results in node" "$differ" ""
is "the compiler gives what the interpreter gives: results, traps, fuel" "$uneven" ""
ok "they are called ($calls functions)" test "$calls" -gt 50
done_testing

# The core test suite of WebAssembly: every assertion about the binary format. The suite is not part of this repository:
# wasm-spec.tar.xz (WebAssembly/testsuite, converted with wast2json) is looked for in $TEST_SUITES and ../shared/suites.
. "$(dirname "$0")/lib.sh"
: "${BUILD:=build}"
suite=
for d in "${TEST_SUITES-}" "${CORDON_SOURCE:-$(dirname "$0")/../..}/../shared/suites"; do
        [ -n "$suite" ] || [ ! -r "$d/wasm-spec.tar.xz" ] || suite=$d/wasm-spec.tar.xz
done
if [ -z "$suite" ]; then
        skip "the interpreter passes the core test suite" "wasm-spec.tar.xz was not found: 52804 assertions not run"
        done_testing
fi
tar -xJf "$suite" -C "$T" || { fail "the suite is unpacked"; done_testing; }
"$BUILD/tests/unit/wasm_spec" "$T"/wasm-spec/*/*.json >"$T/result" 2>&1
is "the interpreter passes the core test suite" "$(tail -n 5 "$T/result")" "52804 passed, 0 failed, 1077 of the text format"
"$BUILD/tests/unit/wasm_spec" --compiler "$T"/wasm-spec/*/*.json >"$T/result" 2>&1
if [ $? -eq 77 ]; then
        skip "the compiler passes it too" "there is no compiler for this machine"
else
        is "the compiler passes it too" "$(tail -n 5 "$T/result")" "52804 passed, 0 failed, 1077 of the text format"
fi

# The check can fail: a wrong result, a trap that does not come, a module that is valid.
cd "$T/wasm-spec/i32" || exit 1
sed -e '0,/"expected": \[{"type": "i32", "value": "2"}\]/s//"expected": [{"type": "i32", "value": "3"}]/' \
        -e '0,/"type": "assert_return"/s//"type": "assert_trap"/' -e '0,/"type": "module"/s//"type": "assert_invalid"/' i32.json >wrong.json
"$BUILD/tests/unit/wasm_spec" i32.json >"$T/right" 2>&1
"$BUILD/tests/unit/wasm_spec" wrong.json >"$T/wrong" 2>&1
has "a file of it passes" "$(cat "$T/right")" ", 0 failed"
hasnt "a changed file does not" "$(tail -n 1 "$T/wrong")" ", 0 failed"
done_testing

#!/bin/sh
# Functions of a program for a module in a box: the calculator of the examples, and --entry and --fuel.
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$repo/build}"
case $BUILD in /*) ;; *) BUILD=$repo/$BUILD ;; esac
if ! command -v wat2wasm >/dev/null || [ ! -x "$BUILD/examples/calculator" ]; then
        skip "functions of the host" "wat2wasm (Debian: wabt) or the example is missing"
        done_testing
fi
cd "$T" || exit 1
make_module() { printf '%s\n' "$2" >"$1.wat" && wat2wasm -o "$1.wasm" "$1.wat" && chmod 644 "$1.wasm"; }
for p in square loop crash thief; do wat2wasm -o $p.wasm "$repo/examples/calculator/$p.wat"; done
calculator() { LD_LIBRARY_PATH=$BUILD "$BUILD/examples/calculator" "$@" 2>&1; }
is "a plugin calculates" "$(calculator 3 4 square.wasm)" "square.wasm: status 0, 3 calls: 25"
is "with 64 bits" "$(calculator 3000000000 -1 square.wasm)" "square.wasm: status 0, 3 calls: 9000000000000000001"
is "a loop is a result" "$(calculator 3 4 loop.wasm)" "loop.wasm: status 124, 0 calls: cordon-wasm: loop.wasm: trap: out of fuel"
is "a crash is a result" "$(calculator 3 4 crash.wasm)" "crash.wasm: status 134, 0 calls: cordon-wasm: crash.wasm: trap: out of bounds memory access"
has "an import that was not given is a result" "$(calculator 3 4 thief.wasm)" "thief.wasm: status 126, 0 calls: cordon-wasm: thief.wasm: "
has "and the next plugin runs" "$(calculator 3 4 crash.wasm loop.wasm square.wasm | tail -n 1)" "3 calls: 25"
has "a plugin that is not there" "$(calculator 3 4 none.wasm)" "none.wasm: not started: "
make_module other '(module (import "env" "add" (func (param i32 i32) (result i32))) (func (export "calculate") (param i64 i64) (result i64) (i64.const 1)))'
has "another type is no match" "$(calculator 3 4 other.wasm)" "status 126, 0 calls"
make_module many '(module (import "env" "add" (func $add (param i64 i64) (result i64)))
        (func (export "calculate") (param $n i64) (param $s i64) (result i64)
                (loop $l (local.set $s (call $add (local.get $s) (local.get $n)))
                        (local.set $n (i64.sub (local.get $n) (i64.const 1))) (br_if $l (i64.ne (local.get $n) (i64.const 0)))) (local.get $s)))'
is "many calls" "$(calculator 2000 0 many.wasm)" "many.wasm: status 0, 2000 calls: 2001000"
make_module sum '(module (func (export "sum") (param i32 i64) (result i64 f64) (i64.add (i64.extend_i32_s (local.get 0)) (local.get 1)) (f64.const 0.5))
        (func (export "spin") (loop $l (br $l))))'
run() { status "$CORDON" run -q "$@"; cat out; }
is "--entry calls a function and prints its results" "$(run --entry sum sum.wasm -5 47)" "$(printf '0\n42\n0.5')"
is "as many numbers as it takes" "$(run --entry sum sum.wasm 5)" 126
is "and of its types" "$(run --entry sum sum.wasm 5 x)" 126
is "that exists" "$(run --entry none sum.wasm)" 126
is "--fuel ends it" "$(run --fuel 1000 --entry spin sum.wasm)" 124
is "and it is the same amount each time" "$(run --fuel 8 --entry sum sum.wasm 1 1 | head -n 1) $(run --fuel 3 --entry sum sum.wasm 1 1 | head -n 1)" "0 124"
is "--fuel takes a number" "$(status "$CORDON" run --fuel much true.wasm)" 125
done_testing

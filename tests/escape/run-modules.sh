#!/bin/sh
# tests/escape/run-modules.sh - hostile WebAssembly modules behind the wasm wall: each ends as it must, and what lies beside its
# door is as it was. A status above 134 or a signal would be a fault of the engine.
# shellcheck disable=SC2016
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/lib.sh
if ! command -v wat2wasm >/dev/null; then
        skip "hostile modules" "wat2wasm is not installed (Debian: wabt)"
        done_testing
fi
calls=$(sed -n 's/^ *ROW(\([a-z_]*\), "\([il]*\):\(i*\)".*/\1:\2:\3/p' src/wall/wasm/wasi/wasi_rows.inc)
is "all calls are tried" "$(echo "$calls" | wc -l)" 46
mkdir "$T/door" "$T/door/sub" && echo secret >"$T/secret" && ln -s ../secret "$T/door/out" && ln -s "$T/secret" "$T/door/abs" && ln -s ../.. "$T/door/sub/up"
cd "$T/door" || exit 1
wasi='"wasi_snapshot_preview1"'

# module NAME TEXT: $T/NAME.wasm
module() {
        printf '%s\n' "$2" >"$T/$1.wat"
        wat2wasm --enable-all -o "$T/$1.wasm" "$T/$1.wat" 2>"$T/err" || fail "$1 is a module" "$(cat "$T/err")"
}
# ends NAME STATUS TEXT [OPTION...]: what becomes of it
ends() {
        name=$1 wanted=$2
        module m "$3"
        shift 3
        is "$name" "$(status timeout 30 "$CORDON" run -q --ledger off --wall wasm "$@" -- "$T/m.wasm")" "$wanted"
}
start() { echo "(module $1 (memory (export \"memory\") 1) (func (export \"_start\") $2))"; }

# Every call with every argument at an edge; proc_exit comes last.
every() {
        echo "$calls" | while IFS=: read -r name args results; do
                echo "(import $wasi \"$name\" (func \$$name (param $(echo "$args" | sed 's/i/i32 /g; s/l/i64 /g')) (result $(echo "$results" | sed 's/i/i32/'))))"
        done | sed 's/ (result )//; s/ (param )//'
}
all_with() {
        echo "$calls" | grep -v '^proc_exit\|^proc_raise\|^poll_oneoff' | while IFS=: read -r name args _; do
                echo "(drop (call \$$name $(echo "$args" | sed "s/i/(i32.const $1) /g; s/l/(i64.const $1) /g")))"
        done
        echo "(call \$proc_exit (i32.const 0))"
}
imports=$(every)
for edge in 0 1 3 4 65528 65535 65536 2147483647 -2147483648 -1; do
        ends "every call with $edge" 0 "$(start "$imports" "$(all_with $edge)")" --write .
        ends "every call with $edge, without doors" 0 "$(start "$imports" "$(all_with $edge)")"
done
for n in 0 1 1025 178956971 89478486 -1; do # the last three wrap when they are multiplied
        ends "poll_oneoff of $n" 0 "$(start "$imports" "(drop (call \$poll_oneoff (i32.const 65000) (i32.const 65000) (i32.const $n) (i32.const 65532))) (call \$proc_exit (i32.const 0))")"
        ends "fd_write of $n buffers" 0 "$(start "$imports" "(drop (call \$fd_write (i32.const 1) (i32.const 65000) (i32.const $n) (i32.const 65532)))")"
done

# Imports that nobody gave it.
for import in '"env" "system" (func (param i32) (result i32))' '"wasi_snapshot_preview1" "fd_write" (func (param i64))' '"wasi_snapshot_preview1" "path_exec" (func)' \
        '"env" "memory" (memory 1)' '"env" "table" (table 1 funcref)' '"env" "global" (global i32)'; do
        ends "import $import" 126 "(module (import $import) (func (export \"_start\")))"
done

# Outside of memory, tables and the stack.
ends "a load at the end" 134 "$(start '' '(drop (i32.load (i32.const 65533)))')"
ends "a load with the largest offset" 134 "$(start '' '(drop (i64.load offset=4294967295 (i32.const -1)))')"
ends "a store behind memory" 134 "$(start '' '(i64.store (i32.const -8) (i64.const 1))')"
ends "memory.fill behind memory" 134 "$(start '' '(memory.fill (i32.const 1) (i32.const 0) (i32.const -1))')"
ends "memory.copy behind memory" 134 "$(start '' '(memory.copy (i32.const 0) (i32.const -1) (i32.const 65536))')"
ends "call_indirect behind the table" 134 '(module (table 1 funcref) (func (export "_start") (call_indirect (i32.const -1))))'
ends "call_indirect of null" 134 '(module (table 1 funcref) (func (export "_start") (call_indirect (i32.const 0))))'
ends "call_indirect of another type" 134 '(module (table funcref (elem $f)) (func $f (param i64)) (func (export "_start") (call_indirect (i32.const 0))))'
ends "a data segment behind memory" 134 '(module (memory 1) (data (i32.const 65536) "x") (func (export "_start")))'
ends "a division by zero" 134 "$(start '' '(drop (i32.div_s (i32.const 1) (i32.const 0)))')"
ends "endless recursion" 134 '(module (func $f (export "_start") (call $f)))'
ends "endless recursion with large frames" 134 "(module (func \$f (export \"_start\") (local $(yes i64 | head -n 5000 | tr '\n' ' ')) (call \$f)))"
ends "endless recursion in the start function" 134 '(module (func $f (call $f)) (start $f) (func (export "_start")))'

# The same in both engines: what a frame, a base or a bound was before a call, and what a former call left.
both() {
        ends "$@"
        name=$1
        shift
        ends "$name, interpreted" "$@" --interpret
}
exit='(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))'
both "memory that a callee grew is there" 7 "(module $exit (memory 1 3) (func \$g (drop (memory.grow (i32.const 1))))
        (func (export \"_start\") (i32.store (i32.const 0) (i32.const 1)) (call \$g) (i32.store (i32.const 131068) (i32.const 7)) (call \$exit (i32.load (i32.const 131068)))))"
both "and nothing behind it" 134 "$(start '' '(drop (memory.grow (i32.const 1))) (i32.store8 (i32.const 131072) (i32.const 1))')"
both "a vector with the largest offset" 134 "$(start '' '(drop (v128.load offset=4294967295 (i32.const -1)))')"
both "a vector over the end" 134 "$(start '' '(v128.store (i32.const 65521) (v128.const i64x2 1 1))')"
both "a lane over the end" 134 "$(start '' '(drop (v128.load64_lane 1 (i32.const 65529) (v128.const i64x2 1 1)))')"
both "a table that grew has null in it" 134 '(module (table 1 funcref) (func (export "_start") (drop (table.grow 0 (ref.null func) (i32.const 9))) (call_indirect (i32.const 9))))'
both "table.copy that wraps" 134 '(module (table 4 funcref) (func (export "_start") (table.copy (i32.const 2) (i32.const -1) (i32.const 3))))'
both "table.init of a dropped segment" 134 '(module (table 4 funcref) (elem $e func 0) (func (export "_start") (elem.drop $e) (table.init $e (i32.const 0) (i32.const 0) (i32.const 1))))'
both "recursion between calls of the host" 134 "(module $imports (memory 1) (func \$f (export \"_start\") (drop (call \$fd_write (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 8))) (call \$f)))"
both "recursion with the most locals" 134 "(module (func \$f (export \"_start\") (local $(yes v128 | head -n 19999 | tr '\n' ' ')) (call \$f)))"
both "tail calls without end use no stack" 124 '(module (func $f (param i64 i64) (return_call $f (local.get 1) (local.get 0))) (func (export "_start") (call $f (i64.const 1) (i64.const 2))))' --fuel 1000000
both "a range that costs more than the fuel" 124 "$(start '' '(memory.fill (i32.const 0) (i32.const 1) (i32.const 65536))')" --fuel 1000
both "br_table of the largest index" 5 "(module $exit (func (export \"_start\") (block \$a (block \$b (br_table \$b \$b \$a (i32.const -1))) (call \$exit (i32.const 1))) (call \$exit (i32.const 5))))"
both "what a former call left is in no local" 0 "(module $exit (func \$c (result v128) (v128.and (i64x2.splat (i64.const -1)) (v128.and (i64x2.splat (i64.const -1)) (v128.and (i64x2.splat (i64.const -1)) (i64x2.splat (i64.const -1))))))
        (func \$d (param i32) (result v128) (local funcref v128) (local.get 2) (br_if 0 (local.get 0)) (i64x2.splat (i64.const 0)) (i64x2.add))
        (func (export \"_start\") (drop (call \$c)) (call \$exit (i32.wrap_i64 (i64x2.extract_lane 0 (call \$d (i32.const 0)))))))"

# More than it may have.
ends "more memory than the limit at once" 126 '(module (memory 65536) (func (export "_start")))' --limit 'memory 64M'
ends "memory.grow up to the limit, and a touch of all" 0 "$(start '' '(loop $l (if (i32.ne (memory.grow (i32.const 16)) (i32.const -1)) (then (br $l)))) (memory.fill (i32.const 0) (i32.const 1) (i32.mul (i32.sub (memory.size) (i32.const 32)) (i32.const 65536)))')" --limit 'memory 64M' --limit 'time 20s'
ends "a table of all entries" 126 '(module (table 4294967295 funcref) (func (export "_start")))'
ends "a loop" 124 "$(start '' '(loop $l (br $l))')" --limit 'time 300ms'
ends "a loop in the start function" 124 '(module (func $f (loop $l (br $l))) (start $f) (func (export "_start")))' --limit 'time 300ms'
ends "output without end" 124 "$(start "$imports" '(i32.store (i32.const 4) (i32.const 60000)) (loop $l (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (br $l))')" --limit 'output 1M' --limit 'time 20s'
opens='(loop $l (br_if $l (i32.eqz (call $path_open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 2) (i64.const 16384) (i64.const 0) (i32.const 0) (i32.const 64)))))'
ends "descriptors without end" 33 "(module $imports (memory 1) (data (i32.const 0) \".\") (func (export \"_start\") $opens
        (call \$proc_exit (call \$path_open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 2) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 64)))))" --read .

# Ways out of the door: the status is the errno of path_open, 63 EPERM, 44 ENOENT, 32 ELOOP ... and never 0.
reach() {
        ends "$1" "$3" "(module $imports (memory 1) (data (i32.const 0) \"$1\") (func (export \"_start\")
                (call \$proc_exit (call \$path_open (i32.const 3) (i32.const 1) (i32.const 0) (i32.const $2) (i32.const 0) (i64.const 66) (i64.const 0) (i32.const 0) (i32.const 512)))))" --write .
}
for path in ../secret sub/../../secret ./../secret sub//..//../secret /etc/passwd "$T/secret" out abs sub/up/secret ..; do
        reach "$path" ${#path} 63
done
reach 'out/' 4 63
reach '/proc/self/root' 15 63
is "what lies beside the door is as it was" "$(cat "$T/secret")" secret
# A module that no import reaches sees nothing: it can only end.
ends "a module without imports" 0 '(module (func (export "_start")))'
done_testing

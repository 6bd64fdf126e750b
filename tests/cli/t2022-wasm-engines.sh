#!/bin/sh
# cordon-wasm compiles a module or interprets it: the same happens, and a fault of the module's code is a trap.
. "$(dirname "$0")/lib.sh"
: "${BUILD:=build}"
engine=$(cd "$BUILD" && pwd)/src/wall/wasm/cordon-wasm
[ -x "$engine" ] || { skip "both engines run a module" "cordon-wasm is not built in $BUILD"; done_testing; }
cd "$T" || exit 1
head='\000asm\001\000\000\000\001\004\001\140\000\000\003\002\001\000'
start='\007\012\001\006_start\000\000'
# (module (func (export "_start"))), and one with (memory 1) and (drop (i32.load (i32.const -1)))
# shellcheck disable=SC2059
{
        printf "$head$start"'\012\004\001\002\000\013' >true.wasm
        printf "$head"'\005\003\001\000\001'"$start"'\012\012\001\010\000\101\177\050\002\000\032\013' >fault.wasm
}
for e in interpreter compiler; do
        ok "the $e runs a module" "$engine" --engine $e true.wasm true
        is "a fault is a trap of the $e" "$("$engine" --engine $e fault.wasm fault 2>&1; echo $?)" "cordon-wasm: fault: trap: out of bounds memory access
134"
done
# (module (func (export "add") (param i32 i32) (result i32) ...)), and "f" with the result of fd_filestat_get(1, 0)
printf '\000asm\001\000\000\000\001\007\001\140\002\177\177\001\177\003\002\001\000\007\007\001\003add\000\000\012\011\001\007\000\040\000\040\001\152\013' >add.wasm
printf '\000asm\001\000\000\000\001\013\002\140\002\177\177\001\177\140\000\001\177\002\052\001\026wasi_snapshot_preview1\017fd_filestat_get\000\000\003\002\001\001\005\003\001\000\001\007\016\002\006memory\002\000\001f\000\001\012\012\001\010\000\101\001\101\000\020\000\013' >stat.wasm
is "--entry prints a result without a door" "$("$engine" --entry add add.wasm add 6 7 2>&1; echo $?)" "13
0"
is "and a module can ask what its standard output is" "$("$engine" --entry f stat.wasm stat 2>&1; echo $?)" "0
0"
is "a result that cannot be printed is an error" "$("$engine" --entry add add.wasm add 6 7 2>&1 >/dev/full)" "cordon-wasm: add: standard output: No space left on device"
is "another engine is refused" "$("$engine" --engine fast true.wasm true 2>err; echo $?)" 125
if grep -q __asan_init "$engine"; then
        skip "without room for guards a module is interpreted" "a sanitizer needs that room itself"
else
        is "without room for guards a module is interpreted" "$(prlimit --as=4000000000 "$engine" true.wasm true 2>&1; echo $?)" 0
fi
done_testing

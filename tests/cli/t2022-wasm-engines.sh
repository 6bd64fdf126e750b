#!/bin/sh
# cordon-wasm compiles a module or interprets it: the same happens, and a fault of the module's code is a trap.
. "$(dirname "$0")/lib.sh"
: "${BUILD:=build}"
engine=$(cd "$BUILD" && pwd)/src/wasm/cordon-wasm
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
is "another engine is refused" "$("$engine" --engine fast true.wasm true 2>err; echo $?)" 125
if grep -q __asan_init "$engine"; then
        skip "without room for guards a module is interpreted" "a sanitizer needs that room itself"
else
        is "without room for guards a module is interpreted" "$(prlimit --as=4000000000 "$engine" true.wasm true 2>&1; echo $?)" 0
fi
done_testing

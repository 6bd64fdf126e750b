#!/bin/sh
# A module takes work of the engine in proportion to its size, and its limits hold before its first instruction too.
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
command -v python3 >/dev/null || { skip "heavy modules" "python3 is not installed"; done_testing; }
make_module() { python3 "$here/helpers/heavy_module.py" "$1" "$2" >"$1.wasm"; }
run() { "$CORDON" run -q --status-fd 3 --wall wasm "$@" 3>status >out 2>err </dev/null; }
get() { jq -r "$1" <status 2>&1; }

# --- each shape of 800 KB: it runs, or it is refused, well within five seconds of a processor ---
for shape in $(python3 "$here/helpers/heavy_module.py"); do
        make_module "$shape" 800000
        for engine in '' --interpret; do
                run --cpu 5s $engine -- "$T/$shape.wasm"
                code=$?
                ok "$shape${engine:+ $engine}: little work ($code, $(get .cpu_ms) ms, $(head -n 1 err))" \
                        test "$(get .limit)" = null -a \( $code -eq 0 -o $code -eq 126 \)
        done
        rm "$shape.wasm"
done

# --- the limits of the run: what is compiled in advance takes from them, and is not kept when they are used up ---
make_module loops 6000000
for limit in 'cpu 40ms' 'time 40ms'; do
        rm -rf "$T/state/code"
        run --limit "$limit" -- "$T/loops.wasm"
        is "$limit: compiling is ended by it" "$? $(get .limit)" "124 ${limit% *}"
        is "$limit: and leaves no code" "$(find "$T/state/code" -type f 2>/dev/null | wc -l)" 0
done
run --limit 'cpu 60s' -- "$T/loops.wasm"
is "with room it is compiled and runs" "$? $(get .limit)" "0 null"
done_testing

#!/bin/sh
# The wasm wall: a module sees the doors of its policy, its arguments and its variables, and nothing else.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$T" || exit 1
# (module (func (export "_start")))
printf '\000asm\001\000\000\000\001\004\001\140\000\000\003\002\001\000\007\012\001\006_start\000\000\012\004\001\002\000\013' >true.wasm
wasm() { "$CORDON" run -q --wall wasm "$@"; }
ok "the smallest module runs" wasm -- true.wasm
ok "a module is known by its first bytes" "$CORDON" run -q ./true.wasm
ok "and by a bare name that ends in .wasm" "$CORDON" run -q true.wasm
cp true.wasm true && chmod 755 true
is "but a file here is no program of PATH" "$("$CORDON" run -q --status-fd 3 -- true 3>&1 | sed -n 's/.*"wall":"\([a-z]*\)".*/\1/p')" namespace
is "a stated wall stays" "$(status "$CORDON" run -q --wall namespace -- ./true.wasm)" 126
echo 'const a: number = 1' >a.ts
is "a file that is no module does not run" "$(status wasm -- a.ts)" 126
has "and it is said what runs" "$(cat err)" "x.wasm, x.js or x.mjs"
printf '\000asm\001\000\000\000\377' >bad.wasm
is "an invalid module does not run" "$(status wasm -- bad.wasm)" 126
has "and it is said why" "$(cat err)" "bad.wasm: the module is not valid: byte "

# --- a module that needs what the engine has not: the first word names it ---
while read -r feature bytes; do
        # shellcheck disable=SC2059
        printf "\\000asm$bytes" >lacks.wasm
        is "$feature: does not run" "$(status wasm -- lacks.wasm)" 126
        has "$feature is named" "$(cat err)" "$feature"
        hasnt "$feature: it is not called invalid" "$(cat err)" "not valid"
done <<'EOF'
component \015\000\001\000
threads \001\000\000\000\005\004\001\003\001\001
threads \001\000\000\000\001\004\001\140\000\000\003\002\001\000\012\007\001\005\000\376\003\000\013
memory64 \001\000\000\000\005\003\001\004\001
exceptions \001\000\000\000\001\004\001\140\000\000\015\003\001\000\000
exceptions \001\000\000\000\001\004\001\140\000\000\003\002\001\000\012\010\001\006\000\037\100\000\013\013
garbage \001\000\000\000\001\003\001\137\000
memories \001\000\000\000\005\005\002\000\001\000\001
relaxed \001\000\000\000\001\004\001\140\000\000\003\002\001\000\012\007\001\005\000\375\200\002\013
EOF
# importing MODULE NAME: a module that imports this function, of type () -> (), and does nothing.
importing() {
        n=$((5 + ${#1} + ${#2}))
        # shellcheck disable=SC2059
        printf '\000asm\001\000\000\000\001\004\001\140\000\000\002'"$(printf '\\%03o' "$n")"'\001'"$(printf '\\%03o' "${#1}")$1$(printf '\\%03o' "${#2}")$2"'\000\000'
        printf '\003\002\001\000\007\012\001\006_start\000\001\012\004\001\002\000\013'
}
while read -r module name says; do
        importing "$module" "$name" >imports.wasm
        is "an import of $module.$name stops it" "$(status wasm -- imports.wasm)" 126
        has "$module.$name: with its name" "$(cat err)" "imports $module.$name"
        has "$module.$name: and what needs it" "$(cat err)" "$says"
done <<'EOF'
env emscripten_resize_heap Emscripten
env invoke_vi Emscripten
wbg __wbg_log wasm-bindgen
./x_bg.js __wbindgen_throw wasm-bindgen
gojs runtime.wasmExit GOOS=wasip1
wasi:cli/run@0.2.0 run component
wasi thread-spawn threads
env nothing-known wasi_snapshot_preview1
EOF
padding() { printf '\000\200\200\010\000' && head -c 131071 /dev/zero; } # a section of its own
kept() { find "$T/state-large/code" -type f 2>/dev/null | wc -l; }
(importing env emscripten_resize_heap && padding) >large.wasm
is "so they do of a large one" "$(CORDON_STATE=$T/state-large status wasm -- large.wasm)" 126
has "which is read" "$(cat err)" "Emscripten"
is "and not compiled" "$(kept)" 0
(cat true.wasm && padding) >large.wasm
is "one that can run" "$(CORDON_STATE=$T/state-large status wasm -- large.wasm)" 0
is "is compiled" "$(kept)" 1
printf '\000asm\001\000\000\000' >empty.wasm
is "a module without _start does not run" "$(status wasm -- empty.wasm)" 126
is "a module that does not exist stops the start" "$(status wasm -- nope.wasm)" 125
is "so does a program" "$(status wasm -- true.txt)" 125

# Doors that the wall cannot hold.
for door in "--run ls" "--net example.com:443" "--sock $T/s" "--listen 8080" "--local loopback"; do
        # shellcheck disable=SC2086
        is "$door stops the start" "$(status wasm $door -- true.wasm)" 125
        has "$door: and it is said why" "$(cat err)" "the wasm wall "
done
printf 'wall wasm\nuse base/system\nread %s\n' "$T" >p
ok "a policy file is the same as for other walls" "$CORDON" run -q -p p -- true.wasm
ok "it can be checked" "$CORDON" check p
hasnt "a stock policy opens nothing for a module" "$("$CORDON" run -p p --plan -- true.wasm)" "bind     /usr"

if ! clang --target=wasm32-wasi -O1 -o guest.wasm "$here/helpers/guest.c" 2>/dev/null; then
        skip "doors, variables and ends of a module" "clang has no wasm32-wasi: wasi-libc, libclang-rt-14-dev-wasm32, lld"
        done_testing
fi
guest() { status wasm "$@"; cat out err; }
mkdir in edit && echo secret >secret && echo first >in/a && echo second >in/b
is "arguments are the module's own" "$(guest -- guest.wasm args '' 'x y')" "$(printf '0\nguest.wasm\nargs\n\nx y')"
is "it has no variable" "$(PATH=$PATH guest -- guest.wasm env)" 0
is "but those of the policy" "$(guest --env A=b -- guest.wasm env)" "$(printf '0\nA=b')"
is "without a door it reads nothing" "$(guest -- guest.wasm cat "$T/secret" | head -n 1)" 1
is "a directory" "$(guest --read in -- guest.wasm cat "$T/in/a")" "$(printf '0\nfirst')"
is "by a relative path" "$(guest --read in -- guest.wasm cat in/a)" "$(printf '0\nfirst')"
is "it can be listed" "$(guest --read in -- guest.wasm ls in | sort)" "$(printf '0\na\nb')"
is "a file" "$(guest --read in/a -- guest.wasm cat in/a)" "$(printf '0\nfirst')"
is "and no other beside it" "$(guest --read in/a -- guest.wasm cat in/b | head -n 1)" 1
is "nor is it listed" "$(guest --read in/a -- guest.wasm ls in)" "$(printf '0\na')"
is "a read door is not written" "$(guest --read in -- guest.wasm put in/a x | head -n 1)" 1
is "nor are its names changed" "$(guest --read in -- guest.wasm rm in/a | head -n 1)" 1
is "a write door is" "$(guest --write in -- guest.wasm put in/c third)" 0
is "on the host" "$(cat in/c)" third
is "one file can be written" "$(guest --write in/c -- guest.wasm put in/c again)" 0
is "on the host too" "$(cat in/c)" again
is "an edit door is held back" "$(guest --edit edit -- guest.wasm put edit/new x | head -n 1)" 0
is "until it is reviewed" "$(ls edit)" ""
"$CORDON" discard --all >/dev/null 2>&1
is "the working directory is where paths begin" "$(guest --read . -- guest.wasm cat secret)" "$(printf '0\nsecret')"
for path in ../secret in/../../secret /etc/passwd "$T/secret" in/out in/abs; do
        ln -sf ../secret in/out && ln -sf "$T/secret" in/abs
        is "$path leads nowhere" "$(guest --write in -- guest.wasm cat "$path" | head -n 1)" 1
        is "$path is not written" "$(guest --write in -- guest.wasm put "$path" x | head -n 1)" 1
done
is "what was outside is as it was" "$(cat secret)" secret
echo input >given
is "handles" "$(guest --in i --out o --handle i=given --handle o=made -- guest.wasm copy CORDON_IN_I CORDON_OUT_O)" 0
is "of both directions" "$(cat made)" input
is "input by its name is a file of the host" "$(guest --read in -- guest.wasm cat /dev/stdin | head -n 1)" 1
is "its status is the module's" "$(guest -- guest.wasm exit 7)" 7
is "a trap has a status of its own" "$(guest -- guest.wasm trap)" "$(printf '134\ncordon-wasm: guest.wasm: trap: unreachable')"
is "so has a deep recursion" "$(guest -- guest.wasm recurse | head -n 1)" 134
is "memory stops at the limit" "$(guest --limit 'memory 64M' -- guest.wasm grow 4000 | tail -n 1 | sed 's/^[56][0-9]$/about/')" about
is "time too" "$(guest --limit 'time 300ms' -- guest.wasm spin | head -n 1)" 124
is "what a module looked for is reported" "$(status "$CORDON" run --wall wasm -- guest.wasm cat "$T/in/a")" 1
if [ "$(id -u)" -eq 0 ]; then
        chmod 755 . in
        is "an ordinary user" "$(as_user "$CORDON" run -q --wall wasm --read "$T/in" -- "$T/guest.wasm" cat "$T/in/a")" first
fi
done_testing

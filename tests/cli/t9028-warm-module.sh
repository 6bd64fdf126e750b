#!/bin/sh
# Parked boxes of the wasm wall: cordon-wasm waits in one with its module loaded, or with the engine of a script started, and
# the one run in it has the output, status, doors and limits of a cold one.
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-serve.sh"
here=$(cd "$(dirname "$0")" && pwd)
root() { "$@"; }
cd "$T/d" || exit 1
# (module (func (export "_start"))), and one whose function traps
good='\000asm\001\000\000\000\001\004\001\140\000\000\003\002\001\000\007\012\001\006_start\000\000\012\004\001\002\000\013'
trap='\000asm\001\000\000\000\001\004\001\140\000\000\003\002\001\000\007\012\001\006_start\000\000\012\005\001\003\000\000\013'
# shellcheck disable=SC2059
make() { printf "$1" >true.wasm && chmod 644 true.wasm; }
printf '\000asm\001\000\000\000\377' >bad.wasm
mkdir in && echo first >in/a
printf 'box w\nwall wasm\nread %s/in\nenv A=b\nlimit time 20s\n' "$T/d" >p
chmod 644 p bad.wasm in/a && chmod 755 in
clang --target=wasm32-wasi -O1 -o guest.wasm "$here/helpers/guest.c" 2>/dev/null && chmod 644 guest.wasm

is_ready() { [ "$(run serve pool stats --json 2>/dev/null | jq .parked)" -ge 1 ]; }
ready() { soon is_ready; }
warm() { run run --pool require -p p "$@"; }
cold() { run run --pool off -p p "$@"; }
ends() { "$@" >"$T/out" 2>"$T/err" && echo 0 || echo $?; cat "$T/out" "$T/err" | grep -v "^cordon: note: "; }
same() { # NAME COMMAND...
        what=$1 && shift
        ready
        is "$who: $what" "$(ends warm "$@")" "$(ends cold "$@")"
}

for who in root as_user; do
        rt=$T/rt.$who
        mkdir -m 700 "$rt" && { [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown 65533:65533 "$rt"; }
        make "$good"
        serve
        is "$who: boxes for any command are refused" "$(run serve pool add -p p 2>"$T/err"; echo $?)" 125
        has "$who: with the fix" "$(cat "$T/err")" "-- x.wasm"
        is "$who: a module that is not valid is not parked" "$(run serve pool add --size 1 -p p -- bad.wasm 2>"$T/err"; echo $?)" 125
        has "$who: and it is said why" "$(cat "$T/err")" "warming cordon-wasm: the module is not valid: byte "
        run serve pool rm --all >/dev/null

        ok "$who: a module" run serve pool add --size 1 -p p -- true.wasm
        ready
        is "$who: is loaded" "$(how -p p -- true.wasm)" "warm "
        ready
        is "$who: another fuel" "$(how -p p --fuel 1000 -- true.wasm)" "cold no box is parked for this plan; p differs in: the options of its interpreter or module"
        ready
        printf '%b' "$trap" >true.wasm
        is "$who: a module that was written to since" "$(ends warm -- true.wasm)" "134
cordon-wasm: true.wasm: trap: unreachable"
        ready
        cp true.wasm new && mv -f new true.wasm
        has "$who: or replaced" "$(how -p p -- true.wasm)" "cold no box is parked for this plan; p differs in: "
        run serve pool rm --all >/dev/null

        if [ -f guest.wasm ]; then
                run serve pool add --size 1 -p p -- guest.wasm >/dev/null
                same "arguments" -- guest.wasm args '' 'x y'
                same "the name that was typed" -- ./guest.wasm args
                same "more arguments than a packet holds" -- guest.wasm args "$(head -c 100000 /dev/zero | tr '\000' x)" "$(head -c 100000 /dev/zero | tr '\000' y)"
                same "variables" -- guest.wasm env
                same "a door" -- guest.wasm cat in/a
                same "and no other file" -- guest.wasm cat /etc/passwd
                run serve pool rm --all >/dev/null
        else
                skip "$who: arguments, variables and doors" "clang has no wasm32-wasi: wasi-libc, libclang-rt-14-dev-wasm32, lld"
        fi

        if [ -f "$CORDON_LIBEXEC/quickjs.wasm" ]; then
                echo 'console.log(process.argv, scriptArgs, process.env); console.error("e"); process.exitCode = 3' >x.js && chmod 644 x.js
                ok "$who: a script" run serve pool add --size 1 -p p -- x.js
                ready
                is "$who: has its engine" "$(how -p p -- x.js)" "warm "
                same "arguments, output and status" -- x.js a 'b c'
                ready
                is "$who: standard error with standard output" "$(warm -- x.js 2>&1 | grep -v "^cordon: note: " | tail -n 1)" e
                echo 'throw new Error(require("fs").readFileSync(0, "utf8"))' >x.js
                same "a script that was written to since" -- x.js
                ready
                is "$who: input" "$(echo text | $who env XDG_RUNTIME_DIR="$rt" timeout 60 "$CORDON" run --pool require -p p -- x.js 2>&1 | head -n 1)" "Uncaught Error: text"
                echo 'import { readFileSync } from "fs"; console.log(readFileSync("in/a", "utf8")); readFileSync("/etc/passwd")' >x.js
                same "modules and doors" -- x.js
                echo 'for (;;);' >x.js
                ready
                is "$who: the time limit" "$(warm --limit 'time 300ms' -- x.js >/dev/null 2>&1; echo $?)" 124
                echo 'console.log(Math.random())' >x.js
                is "$who: two runs have no state in common" "$(for i in 1 2; do ready; warm -- x.js; done | sort -u | wc -l)" 2
        else
                skip "$who: scripts" "quickjs.wasm is not there: tools/deps fetches it with npm"
        fi
        kill -TERM "$serve"
        ok "$who: all of it ends" soon gone "$serve"

        make "$good"
        serve --auto
        is "$who: with --auto, once" "$(how -p p --fuel 1000 -- true.wasm)" "cold no box is parked for this plan"
        is "$who: twice" "$(how -p p --fuel 1000 -- true.wasm)" "cold no box is parked for this plan"
        ok "$who: a plan that is seen twice" ready
        is "$who: is warm the third time" "$(how -p p --fuel 1000 -- true.wasm)" "warm "
        kill -TERM "$serve"
        ok "$who: all of that ends" soon gone "$serve"
done
done_testing

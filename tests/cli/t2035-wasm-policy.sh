#!/bin/sh
# The wasm wall in a policy: `without compiler`, what `why`, `doors` and `claims` answer about it, and which code a run had.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
export CORDON_STATE="$T/state"
# (module (func (export "_start"))), and the same with 70,000 bytes in a section that no engine reads
printf '\000asm\001\000\000\000\001\004\001\140\000\000\003\002\001\000\007\012\001\006_start\000\000\012\004\001\002\000\013' >small.wasm
{ cat small.wasm; printf '\000\363\242\004\001x'; head -c 70001 /dev/zero; } >large.wasm
chmod 644 ./*.wasm
mkdir seen beside && chmod 755 seen beside
printf 'box a\nwall wasm\nread %s/seen\n' "$T" >a.cordon
printf 'box a\nwall wasm without compiler\nread %s/seen\n' "$T" >b.cordon
code() { "$CORDON" run --json "$@" 2>&1 | sed -n 's/.*"code":"\([a-z]*\)".*/\1/p'; }

is "a module is compiled" "$(code -p a.cordon -- small.wasm)" new
is "or interpreted, by its policy" "$(code -p b.cordon -- small.wasm)" none
is "or by an option" "$(code --interpret -p a.cordon -- small.wasm)" none
is "a program has none" "$(code -- true)" ""
"$CORDON" run -q -p b.cordon -- large.wasm
is "what is interpreted leaves no code" "$(find "$CORDON_STATE/code" -type f 2>/dev/null | wc -l)" 0
case $(uname -m) in x86_64 | aarch64) "$CORDON" run -q -p a.cordon -- large.wasm
        is "the next run has the code that the first one kept" "$(code -p a.cordon -- large.wasm)" kept ;;
esac
is "and none if its policy says so" "$(code -p b.cordon -- large.wasm)" none

"$CORDON" policy show --json b.cordon >b.json
is "the line survives JSON" "$("$CORDON" policy show b.json | grep ^wall)" "wall wasm without compiler"
has "without the compiler is narrower" "$("$CORDON" policy diff a.cordon b.cordon)" "narrower"
has "with it, wider" "$("$CORDON" policy diff b.cordon a.cordon)" "wider"
hasnt "it gives up no layer" "$("$CORDON" check b.cordon 2>&1)" "gives up"
has "another wall has none" "$("$CORDON" run --wall 'namespace without compiler' -- true 2>&1)" "has no compiler"
has "doors: a module makes no system call" "$("$CORDON" doors b.cordon)" "makes no system call"

layer() { "$CORDON" why -p a.cordon "$@" | sed -n 's/^layer  //p'; }
has "why: WASI answers first" "$(layer read "$T/beside")" "wasi, then mount, landlock"
has "a read door" "$(layer write "$T/seen/x")" "EROFS"
has "no call leads to the network" "$(layer net example.org:443)" "no such call"
has "and no line would" "$("$CORDON" why -p a.cordon run /bin/sh)" "permit no line can"
claims=$("$CORDON" selftest claims --wall wasm 2>&1)
is "claims does not answer for a wall in which its attempts cannot start" $? 125
has "but says where its row is" "$claims" "selftest walls"
done_testing

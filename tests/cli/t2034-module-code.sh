#!/bin/sh
# A large module is compiled once: its code is kept in the state directory, made in a box in which the module does not run,
# and used for this module alone. Or it is interpreted.
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$repo/build}"
case $BUILD in /*) ;; *) BUILD=$repo/$BUILD ;; esac
cd "$T" || exit 1
export CORDON_STATE="$T/state"
kept() { find "$CORDON_STATE/code" -type f 2>/dev/null | wc -l; }
entry() { find "$CORDON_STATE/code" -type f; }
run() { "$CORDON" run -q --wall wasm "$@" 2>&1; echo "status $?"; }

# (module (func (export "f") (result i32) (i32.const N))) with 70,000 bytes in a section that no engine reads
module() { # N AS OCTAL
        printf '\000asm\001\000\000\000\001\005\001\140\000\001\177\003\002\001\000\007\005\001\001f\000\000'
        # shellcheck disable=SC2059
        printf "\\012\\006\\001\\004\\000\\101\\$1\\013"
        printf '\000\363\242\004\001x'
        head -c 70001 /dev/zero
}
module 007 >m.wasm
chmod 644 m.wasm
is "a module runs" "$(run --entry f -- m.wasm)" "7
status 0"
if [ "$(uname -m)" != x86_64 ] && [ "$(uname -m)" != aarch64 ]; then
        is "nothing is kept on a machine without a compiler" "$(kept)" 0
        done_testing
fi
is "its code is kept" "$(kept)" 1
is "no other user can read it" "$(stat -c %a "$CORDON_STATE/code")" 700
is "it runs again" "$(run --entry f -- m.wasm)" "7
status 0"
is "and is not compiled again" "$(kept)" 1

code=$(entry)
cp "$code" good
# The first page is the head, and the entry of C is at the beginning of the next: nothing there is an instruction.
head -c 65536 good >bad && head -c 65536 /dev/zero | tr '\000' '\377' >>bad
use() { cp "$1" "$code" && chmod "${2:-644}" "$code"; }
use bad
hasnt "the code that is kept is what runs" "$(run --entry f -- m.wasm)" "status 0"
is "--interpret uses none" "$(run --interpret --entry f -- m.wasm)" "7
status 0"
use bad 666
is "code that others could have written is not used" "$(run --entry f -- m.wasm)" "7
status 0"
rm -f "$code"
ln -s "$T/bad" "$code"
is "nor is a link" "$(run --entry f -- m.wasm)" "7
status 0"
rm -f "$code"
head -c 32 bad >other && printf 0000000000000000 >>other && tail -c +49 bad >>other
use other
is "code of other bytes is not used" "$(run --entry f -- m.wasm)" "7
status 0"
head -c 70000 good >other
use other
is "nor is a part of it" "$(run --entry f -- m.wasm)" "7
status 0"

use good
module 011 >m.wasm
is "a changed module runs as it is now" "$(run --entry f -- m.wasm)" "9
status 0"
is "and has code of its own" "$(kept)" 2
head -c 69000 m.wasm >broken.wasm && chmod 644 broken.wasm
has "a module that is not valid is refused" "$(run --entry f -- broken.wasm)" "status 126"
is "and nothing of it is kept" "$(kept)" 2
"$CORDON" run -q --interpret --wall wasm --entry f -- m.wasm >/dev/null 2>&1
is "--interpret keeps nothing" "$(kept)" 2
i=0
while [ $i -lt 70 ]; do
        : >"$CORDON_STATE/code/$i"
        i=$((i + 1))
done
touch -d 2000-01-01 "$CORDON_STATE"/code/??
module 013 >new.wasm && chmod 644 new.wasm
is "one more" "$(run --entry f -- new.wasm)" "11
status 0"
ok "the oldest of too many go ($(kept) left)" test "$(kept)" -le 64
done_testing

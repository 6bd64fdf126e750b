#!/bin/sh
# libcordon from outside: its header alone, its symbols, and a program of somebody else with threads and habits.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$repo/build}" "${CC:=cc}"
root() { "$@"; }

# ---- the header ----
cp "$repo/include/cordon.h" "$T/cordon.h"
printf '#include "cordon.h"\n#include "cordon.h"\nint main(void) { return cordon_version() == 0; }\n' >"$T/alone.c"
ok "the header compiles alone as pedantic C99" "$CC" -std=c99 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only "$T/alone.c"
ok "and as C17" "$CC" -std=c17 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only "$T/alone.c"
cxx=$(command -v g++ || command -v clang++)
if [ -n "$cxx" ]; then
        cp "$T/alone.c" "$T/alone.cc"
        ok "and as C++11" "$cxx" -std=c++11 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only "$T/alone.cc"
        ok "a C++ program links" "$cxx" -std=c++11 -o "$T/alone++" "$T/alone.cc" "$BUILD/libcordon.so"
else
        skip "and as C++11" "no C++ compiler"
        skip "a C++ program links" "no C++ compiler"
fi

# ---- the symbols ----
declared=$(sed -n 's/^CORDON_API.*[ *]\(cordon_[a-z_]*\)(.*/\1/p' "$repo/include/cordon.h" | sort)
ok "the header declares functions" test "$(printf '%s\n' "$declared" | wc -l)" -gt 30
is "the shared library exports what the header declares, no more, no less" "$(nm -D --defined-only "$BUILD/libcordon.so" | awk '{ print $3 }' | sed "s/@.*//; /^CORDON_/d" | sort)" "$declared"
is "so does the static one" "$(nm -g --defined-only "$BUILD/libcordon.a" | awk 'NF == 3 { print $3 }' | sort)" "$declared"
has "its soname carries the ABI of the header" "$(readelf -d "$BUILD/libcordon.so" | grep SONAME)" "libcordon.so.$(sed -n 's/^#define CORDON_ABI //p' "$repo/include/cordon.h")]"
is "it needs libc and nothing else" "$(readelf -d "$BUILD/libcordon.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v -e '^libc\.so' -e '^ld-linux' -e '^lib[a-z]*san')" ''
is "it has no writable and executable segment" "$(readelf -lW "$BUILD/libcordon.so" | grep -c RWE)" 0
# Names like ours in the caller: no clash.
printf '#include "cordon.h"\nint buf_add(void);\nint buf_add(void) { return 7; }\nint err_set(void);\nint err_set(void) { return 7; }\nint main(void) { return cordon_version()[0] == 0 || buf_add() != 7 || err_set() != 7; }\n' >"$T/clash.c"
ok "a program with names like ours links statically" "$CC" -o "$T/clash" "$T/clash.c" "$BUILD/libcordon.a"
ok "and runs" "$T/clash"

# ---- programs of somebody else ----
cp -L "$BUILD/libcordon.so.1" "$T/" && chmod 755 "$T/libcordon.so.1"
for program in library library_habits; do
        ok "$program compiles without a warning" "$CC" -std=gnu11 -O2 -Wall -Wextra -Werror -I"$repo/include" -o "$T/$program" "$(dirname "$0")/helpers/$program.c" "$BUILD/libcordon.so" -pthread
        for who in root as_user; do
                for case in $("$T/$program" 2>/dev/null || LD_LIBRARY_PATH=$T "$T/$program"); do
                        $who env LD_LIBRARY_PATH="$T" timeout -k 5 120 "$T/$program" "$case" >"$T/said" 2>"$T/err" </dev/null
                        code=$?
                        while read -r line; do
                                case $line in
                                "ok "*) pass "$who: $case: ${line#ok }" ;;
                                "not ok "*) fail "$who: $case: ${line#not ok }" ;;
                                "# "*) echo "$line ($who)" ;;
                                *) fail "$who: $case: said: $line" ;;
                                esac
                        done <"$T/said"
                        is "$who: $case: the program ends well" "$code $(cat "$T/err")" "0 "
                done
        done
done
done_testing

#!/bin/sh
# Sessions from a program that uses libcordon: many runs in one box, each with a result of its own.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$repo/build}" "${CC:=cc}"
root() { "$@"; }
cp -L "$BUILD/libcordon.so.1" "$T/" && chmod 755 "$T/libcordon.so.1"
ok "the program compiles without a warning" "$CC" -std=gnu11 -O2 -Wall -Wextra -Werror -I"$repo/include" -o "$T/session" "$(dirname "$0")/helpers/session.c" "$BUILD/libcordon.so" -pthread
before=$(orphans)
for who in root as_user; do
        $who env LD_LIBRARY_PATH="$T" timeout -k 5 120 "$T/session" >"$T/said" 2>"$T/err" </dev/null
        is "$who: the program ends well" "$? $(cat "$T/err")" "0 "
        retell "$who" "$T/said"
done
ok "nothing is left" none_left
done_testing

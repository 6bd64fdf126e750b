#!/bin/sh
# init is a program of its own: nothing of the caller's memory, variables or descriptors is in it or in what it starts, a copied
# cordon needs no other file, and a library without its program starts nothing.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$repo/build}" "${CC:=cc}"
root() { "$@"; }
cp -L "$BUILD/libcordon.so.1" "$T/" && chmod 755 "$T/libcordon.so.1"
mkdir "$T/own" && cp -L "$CORDON_LIBEXEC/cordon-init" "$T/own/" && chmod 755 "$T" "$T/own" "$T/own/cordon-init"
ok "the program compiles without a warning" "$CC" -std=gnu11 -O2 -Wall -Wextra -Werror -I"$repo/include" -o "$T/big" "$(dirname "$0")/helpers/big_caller.c" "$BUILD/libcordon.so"
family() { for c in $(cat "/proc/$1/task/$1/children"); do echo "$c"; family "$c"; done; }
ours() { for p in $(family "$1"); do grep -q '^cordon-init\|^cordon-janitor\|^cordon-observer\|^cordon-reaper\|^cordon-connect' "/proc/$p/comm" && echo "$p"; done; }
up() { family "$1" | while read -r p; do grep -qx cat "/proc/$p/comm" && echo "$p"; done | grep -q .; }

# ---- a library caller with 40 MB of a mark, a variable and a descriptor with it ----
mark=$(tr -dc a-z </dev/urandom | head -c 24)
echo "$mark" >"$T/mark" && chmod 644 "$T/mark"
for who in root as_user; do
        mkfifo "$T/go-$who" && chmod 666 "$T/go-$who"
        # shellcheck disable=SC2094
        $who env CORDON_LEDGER=off CORDON_LIBEXEC="$T/own" LD_LIBRARY_PATH="$T" OTHER="$mark" "$T/big" 40 "$mark" hold <"$T/go-$who" >/dev/null 2>"$T/err" 9<"$T/mark" &
        started=$!
        exec 8>"$T/go-$who"
        keeper=
        find_keeper() { for keeper in "$started" $(family "$started"); do grep -qx big "/proc/$keeper/comm" && return; done; return 1; }
        ok "$who: the caller runs" soon find_keeper
        ok "$who: a box of a big caller is up" soon up "$keeper"
        if [ "$(id -u)" -eq 0 ]; then
                set -- $(ours "$keeper")
                for p; do
                        name=$(cat "/proc/$p/comm")
                        [ "$name" = cordon-janitor ] || name=cordon-init
                        is "$who: $name runs under its own name" "$(tr '\0' ' ' <"/proc/$p/cmdline")" "$name "
                        is "$who: without a variable" "$(wc -c <"/proc/$p/environ")" 0
                        is "$who: from its own file" "$(readlink "/proc/$p/exe")" "$T/own/cordon-init"
                done
                python3 "$(dirname "$0")/helpers/memory_scan.py" "$T/mark" "$@" >"$T/found" 2>&1
                is "$who: the caller's memory is in none of ours ($(tail -n 2 "$T/found" | head -n 1))" "$(grep -v '^scanned\|^files' "$T/found")" ""
                python3 "$(dirname "$0")/helpers/memory_scan.py" "$T/mark" "$keeper" >"$T/found" 2>&1
                has "$who: the scan finds it where it is" "$(cat "$T/found")" memory
                small() { for p; do [ "$(awk '/^VmData/ { print $2 }' "/proc/$p/status")" -lt 8192 ] || return 1; done; }
                ok "$who: and none of ours is big" small "$@"
        else
                skip "$who: the caller's memory is in none of ours" "only root can look"
        fi
        exec 8>&-
        wait "$started"
        is "$who: and the box ends well" "$? $(cat "$T/err")" "0 "
done

# ---- which program that is ----
mkdir "$T/alone" "$T/empty" && cp "$CORDON" "$T/alone/cordon" && chmod 755 "$T/alone" "$T/alone/cordon" "$T/empty"
for who in root as_user; do
        is "$who: a copied cordon needs no other file" "$(CORDON_LIBEXEC=$T/empty $who "$T/alone/cordon" run -q -- echo RAN 2>&1 </dev/null)" RAN
        is "$who: one that may be run and not read neither" "$(chmod 711 "$T/alone/cordon"; CORDON_LIBEXEC=$T/empty $who "$T/alone/cordon" run -q -- echo RAN 2>&1 </dev/null)" RAN
        out=$($who env CORDON_LIBEXEC="$T/empty" LD_LIBRARY_PATH="$T" "$T/big" 1 x hold 2>&1 </dev/null)
        is "$who: a library without the program starts nothing" "$? $out" "1 the program cordon-init is not installed"
done
mkdir "$T/other" && cp /bin/true "$T/other/cordon-init" && chmod 755 "$T/other" "$T/other/cordon-init"
is "cordon takes itself where that is not of its version" "$(CORDON_LIBEXEC=$T/other "$CORDON" run -q -- echo RAN 2>&1 </dev/null)" RAN
out=$(CORDON_LIBEXEC="$T/other" LD_LIBRARY_PATH="$T" "$T/big" 1 x hold 2>&1 </dev/null)
is "another program in its place starts nothing, behind no wall" "$? $out" "1 cordon-init ended before there was a box"
out=$("$T/own/cordon-init" 2>&1 </dev/null)
is "by hand it does nothing" "$? $out" "1 cordon-init: started by cordon, not by hand"
out=$(bash -c 'exec -a cordon-init "$0" run -- echo RAN' "$CORDON" 2>&1 </dev/null)
is "nor does cordon under its name" "$? $out" "1 cordon-init: started by cordon, not by hand"
out=$(bash -c 'exec -a cordon-janitor "$0" run -- echo RAN' "$CORDON" 2>&1 </dev/null)
is "nor under the janitor's" "$? $out" "1 cordon-janitor: started by cordon, not by hand"
hasnt "it needs no loader" "$(readelf -lW "$CORDON_LIBEXEC/cordon-init")" 'Requesting program interpreter'

# ---- from inside ----
for who in root as_user; do
        is "$who: the box sees nothing of it" "$($who "$CORDON" run -q -- sh -c 'cat /proc/1/cmdline /proc/1/environ /proc/1/auxv /proc/1/maps; ls -l /proc/1/exe /proc/1/fd' 2>/dev/null </dev/null)" ""
done
# An account may have 200 keys: its boxes share a keyring. One that no other test is, where there is a choice.
someone() { if [ "$(id -u)" -eq 0 ]; then setpriv --reuid 64998 --regid 64998 --clear-groups "$@"; else "$@"; fi; }
keyrings() { someone grep -c ' cordon-boxes: ' /proc/keys; }
if [ -r /proc/keys ]; then
        mkfifo "$T/last" && chmod 666 "$T/last"
        someone env CORDON_LEDGER=off "$CORDON" run -q -- cat <"$T/last" >/dev/null 2>&1 &
        exec 8>"$T/last"
        one() { [ "$(keyrings)" -eq 1 ]; }
        ok "a box of an account has a keyring" soon one
        is "that of the next box, too" "$(someone env CORDON_LEDGER=off "$CORDON" run -q -- echo RAN 2>&1 </dev/null) $(keyrings)" "RAN 1"
        exec 8>&-
        wait $!
else
        skip "boxes of an account share a keyring" "this kernel lists no keys"
fi

# Many doors: a plan that is larger than what a socket holds.
: >"$T/doors" && i=0
while [ $i -lt 1500 ]; do
        mkdir -p "$T/many/a-directory-with-a-name-that-takes-some-room-in-a-plan-$i" && echo "read $T/many/a-directory-with-a-name-that-takes-some-room-in-a-plan-$i"
        i=$((i + 1))
done >"$T/doors"
chmod -R a+rX "$T/many" "$T/doors"
for who in root as_user; do
        is "$who: a plan of a thousand doors arrives whole" "$($who "$CORDON" run -q -p "$T/doors" --use base/system -- ls "$T/many" 2>&1 </dev/null | wc -l)" 1500
done
done_testing

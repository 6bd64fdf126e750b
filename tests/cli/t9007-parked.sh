#!/bin/sh
# Parked boxes by libcordon: a run in one behaves as in a new box; it is used only if policy and doors are as they were.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$repo/build}" "${CC:=cc}"
root() { "$@"; }
cp -L "$BUILD/libcordon.so.1" "$T/" && chmod 755 "$T/libcordon.so.1"
ok "the program compiles without a warning" "$CC" -std=gnu11 -O2 -Wall -Wextra -Werror -I"$repo/include" -o "$T/parked" "$(dirname "$0")/helpers/parked.c" "$BUILD/libcordon.so"
before=$(orphans)
parked() { $who env LD_LIBRARY_PATH="$T" timeout -k 5 60 "$T/parked" "$@" </dev/null >"$T/out" 2>"$T/err"; echo "$? $(grep -v '^denied read /etc/locale.alias' "$T/err" | tr '\n' ',') $(tr '\n' ',' <"$T/out")"; }
mkdir "$T/d" && chmod 777 "$T/d"
echo text >"$T/d/f" && chmod 644 "$T/d/f"
for who in root as_user; do
        is "$who: exit status and output" "$(parked -- sh -c 'echo out; exit 3')" "3 start parked, out,"
        is "$who: a signal" "$(parked -- sh -c 'kill -9 $$')" "137 start parked, "
        is "$who: no such program" "$(parked -- /nonexistent)" "127 start parked,parked: cannot start /nonexistent: No such file or directory, "
        is "$who: a directory as program" "$(parked -- /usr)" "126 start parked,parked: cannot start /usr: Permission denied, "
        is "$who: no such working directory" "$(parked cwd /nowhere -- true | cut -d, -f1)" "125 parked: entering the directory /nowhere: No such file or directory"
        is "$who: a refusal is reported" "$(parked -- sh -c '! cat /etc/shadow 2>/dev/null')" "$(parked cold 1 -- sh -c '! cat /etc/shadow 2>/dev/null' | sed 's/start cold/start parked/')"
        is "$who: the time counts from the order" "$(parked door 'limit time 400ms' wait 600 -- true)" "0 start parked, "
        is "$who: and is kept" "$(parked door 'limit time 200ms' -- sleep 5 | cut -d, -f1,2)" "124 start parked,limit time"
        is "$who: the output's limit is kept" "$(parked door 'limit output 1K' -- sh -c 'yes >/dev/stdout' | cut -d, -f1,2)" "124 start parked,limit output"
        is "$who: a terminal" "$(parked tty 1 -- sh -c 'tty; test -t 0 && echo is one' | tr -d '\r')" "0 start parked, /dev/pts/0,is one,"
        is "$who: handles" "$(parked door 'in a max 1M' door 'out b max 1M' handle "a=$T/d/f" handle "b=$T/d/got.$who" -- sh -c 'cat "$CORDON_IN_A" "$CORDON_IN_A" >"$CORDON_OUT_B"'; cat "$T/d/got.$who")" "0 start parked, 
text
text"
        is "$who: descriptors are those of a new box" "$(parked -- sh -c 'ls /proc/self/fd')" "$(parked cold 1 -- sh -c 'ls /proc/self/fd' | sed 's/start cold/start parked/')"
        is "$who: so are ids, limits, signals and capabilities" "$(parked -- sh -c 'ulimit -a; grep -E "^(Uid|Gid|Groups|Sig|Cap|NoNew|Seccomp:|TracerPid)" /proc/self/status')" \
                "$(parked cold 1 -- sh -c 'ulimit -a; grep -E "^(Uid|Gid|Groups|Sig|Cap|NoNew|Seccomp:|TracerPid)" /proc/self/status' | sed 's/start cold/start parked/')"
        is "$who: a thousand arguments" "$(parked -- sh -c 'echo $#' $(seq 1001))" "0 start parked, 1000,"
        is "$who: a hundred kilobytes in one" "$(parked -- sh -c 'echo ${#1}' sh "$(head -c 100000 /dev/zero | tr '\0' x)")" "0 start parked, 100000,"

        # The door's file is another one now: the box is thrown away.
        is "$who: a door as it was" "$(parked door "read $T/d/f" -- cat "$T/d/f")" "0 start parked, text,"
        cp "$T/d/f" "$T/d/g.$who" && [ "$who" = root ] || chown 65533 "$T/d/g.$who" 2>/dev/null
        is "$who: a door that was replaced" "$(parked door "read $T/d/g.$who" touch "$T/d/g.$who" -- cat "$T/d/g.$who" | cut -d: -f1)" "0 start cold"
        is "$who: an edit door says why not" "$(parked door "edit $T/d" -- true | cut -d, -f1)" "125 parked: this box cannot be parked: an \`edit\` door needs an overlay of its own run"
        is "$who: the process wall" "$(parked door 'wall process' -- sh -c 'echo out; exit 3')" "3 start parked, out,"
done
ok "no control group is left" none_left
done_testing

#!/bin/sh
# What fails in a box without a word of the kernel's is reported, with the line that permits it: the host's loopback, Unix
# sockets, memory files, terminals and libraries of a strict box. What did not fail is not.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
elsewhere refusals-quiet
trap 'code=$?; [ -z "${server:-}" ] || kill "$server" 2>/dev/null; remove "$T" "$D"; exit $code' EXIT
cd "$D" || exit 1
root() { "$@"; }
box() { $who env CORDON_LEDGER=off "$CORDON" run --wall namespace "$@" </dev/null 2>&1; }
python3 -c '
import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
open(sys.argv[1], "w").write(str(s.getsockname()[1]))
time.sleep(600)' "$T/port" &
server=$!
ok "a server of the host listens" soon test -s "$T/port"
port=$(cat "$T/port")
dial='import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))'
own='import socket, sys
s = socket.socket(); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen()
socket.create_connection(("127.0.0.1", int(sys.argv[1]))); sys.exit(1)'
closed='import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); to = s.getsockname(); s.close(); socket.create_connection(to)'
for who in root as_user; do
        for door in "" "--net example.org:443" "--read $D"; do
                # shellcheck disable=SC2086
                out=$(box $door -- python3 -c "$dial" "$port")
                has "$who $door: a server on the host's loopback is named" "$out" "blocked: connect to 127.0.0.1:$port by python3 (the box's localhost is not the host's"
                has "$who $door: with its line" "$out" "hint: --net 127.0.0.1:$port"
        done
        hasnt "$who: nothing is said where the box listens itself" "$(box -v -- python3 -c "$own" "$port")" "blocked: connect"
        hasnt "$who: or where the host has nothing either" "$(box -v -- python3 -c "$closed")" "blocked: connect"
        hasnt "$who: or with a door to it" "$(box -v --net "127.0.0.1:$port" -- python3 -c "$dial; sys.exit(1)" "$port")" "blocked: connect"

        strict() { box --use base/strict --use base/python3 --read "$D" -- python3 -c "$1"; }
        has "$who: a Unix socket" "$(strict 'import socket; socket.socket(socket.AF_UNIX)')" "blocked: socket(AF_UNIX, SOCK_STREAM) by python3 (no \`local\` line)
hint: --local unix"
        has "$who: a memory file that runs" "$(strict 'import os; os.memfd_create("x", 16)')" "blocked: memfd_create(MFD_EXEC) by python3 (no run door for this program)
hint: --run any"
        has "$who: a terminal" "$(strict 'import os; os.openpty()')" "hint: --local pty"
        is "$who: the lines help" "$(box -q --use base/strict --use base/python3 --local unix --local pty --run any -- python3 -c '
import os, socket
socket.socket(socket.AF_UNIX); os.memfd_create("x", 16); os.openpty(); print("done")')" "done"
        hasnt "$who: what libc looks for in passing is not reported" "$(strict 'import pwd; pwd.getpwnam("nobody-of-that-name")')" AF_UNIX
        if command -v cc >/dev/null; then
                echo 'int f(void) { return 1; }' >l.c && cc -shared -o lib.so l.c
                out=$(box --cwd "$D" --use base/strict --use base/python3 --read "$D" -- python3 -c 'import ctypes; ctypes.CDLL("./lib.so")')
                has "$who: a library that may not run is named" "$out" "blocked: run $D/lib.so by python3 (no run door for this program)
hint: --run $D/lib.so"
                is "$who: and runs with its line" "$(box -q --cwd "$D" --use base/strict --use base/python3 --read "$D" --run "$D/lib.so" -- python3 -c 'import ctypes; ctypes.CDLL("./lib.so"); print("ran")')" ran
        fi
        hasnt "$who: libraries that ran are not reported" "$(strict 'import ctypes, json, hashlib; raise SystemExit(1)')" "blocked: run"
        python3 -m venv --without-pip "$D/v" 2>/dev/null && hasnt "$who: nor the python of an environment that ran" \
                "$(box -v --read "$D" -- "$D/v/bin/python3" -c 'raise SystemExit(1)')" "blocked: run"
        echo text >"$D/in" && chmod 644 "$D/in"
        hasnt "$who: nor a handle as a missing file" "$(box -v --in data --handle data="$D/in" -- sh -c 'cat $CORDON_IN_DATA; false')" "/dev/fd"
done
done_testing

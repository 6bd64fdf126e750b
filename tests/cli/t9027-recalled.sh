#!/bin/sh
# A run whose request the resident remembers gets its box before its plan is made. Whatever moved since then, no run gets a box of an
# older plan: its client looks at every door itself.
# shellcheck disable=SC2016,SC2034,SC2154,SC2317,SC3045
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-serve.sh"
if ! "$CORDON" run -q --wall namespace -- true 2>/dev/null; then
        skip "remembered requests" "no namespace wall here"
        done_testing
fi
elsewhere recalled
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$T" "$D" "$D.was"; exit $code' EXIT
who="" rt=$T/rt
mkdir -m 700 "$rt"
are_ready() { [ "$(run pool stats --json 2>/dev/null | jq .parked)" = "$1" ]; }
recalled() { run pool stats --json | jq .recalled; }
# again NAME WANT COMMAND...: what a run prints, how it started, and how many were recalled
again() {
        name=$1 want=$2
        shift 2
        soon are_ready 2
        had=$(recalled)
        got=$($in env XDG_RUNTIME_DIR="$rt" timeout -k 5 60 "$CORDON" run --json -p "$D/p.cordon" -- "$@" 2>"$T/json" </dev/null)
        is "$name" "$got $(tail -n 1 "$T/json" | jq -r .start) $(($(recalled) - had))" "$want"
}
in=""
policy() { { printf 'box recalled\nuse base/system\n' && printf 'read %s\n' "$@"; } >"$D/p.cordon"; }
mkdir "$D/door" "$D/other" && echo one >"$D/door/file" && echo two >"$D/other/file"
policy "$D/door"
serve
run pool add --size 2 -p "$D/p.cordon" >/dev/null

again "the first run makes its plan" "one parked 0" cat "$D/door/file"
again "the second is recalled" "one parked 1" cat "$D/door/file"
again "and one with other arguments" "one parked 1" cat "$D/door/file" /dev/null
again "another program makes its plan" "box parked 0" id -un
soon are_ready 2
reports() { run run --pool "$1" -p "$D/p.cordon" -- cat "$D/other/file" /etc/shadow 2>&1; echo $?; }
had=$(recalled)
is "a recalled run reports what a cold one does" "$(reports require)" "$(reports off)"
is "it was recalled" "$(($(recalled) - had))" 1
again "what it leaves running ends with it" "left parked 0" sh -c 'sleep 2718281 & echo left'
again "also if it is recalled" "left parked 1" sh -c 'sleep 2718281 & echo left'
is "at its end" "$(grep -lz '^271828[1]$' /proc/[0-9]*/cmdline 2>/dev/null)" ""

mv "$D/door" "$D/was" && ln -s other "$D/door"
again "a door that became a link" "two cold 0" cat "$D/door/file"
rm "$D/door" && cp -r "$D/other" "$D/door"
again "a directory in its place" "two cold 0" cat "$D/door/file"
rm -r "$D/door"
again "a door that is gone" " null 0" cat "$D/door/file"
mv "$D/was" "$D/door"
again "the same one again" "one parked 1" cat "$D/door/file"
echo three >"$D/door/file"
again "what is behind a door may change" "three parked 1" cat "$D/door/file"
mv "$D" "$D.was" && ln -s "$D.was" "$D"
again "a link on the way to it" "three cold 0" cat "$D/door/file"
rm "$D" && mv "$D.was" "$D"

policy "$D/door" "$D/other"
again "a door more" "two cold 0" cat "$D/other/file"
policy "$D/other"
again "another door" "two cold 0" cat "$D/other/file"
policy "$D/door"
again "the policy as it was" "three parked 1" cat "$D/door/file"
printf 'limit memory 77M\n' >>"$D/p.cordon"
again "another limit" "three cold 0" cat "$D/door/file"
policy "$D/door"
got=$(umask 077; how -p "$D/p.cordon" -- cat "$D/door/file")
has "another umask" "$got" "cold "
if unshare -m true 2>/dev/null; then
        cat >"$T/mounted" <<S
#!/bin/sh
mount --bind "$D/other" "$D/door" && exec "\$@"
S
        chmod 755 "$T/mounted"
        in="unshare -m $T/mounted"
        again "a mount that only its client sees" "two cold 0" cat "$D/door/file"
        in=""
else
        skip "a mount that only its client sees" "no mount namespace of its own"
fi

# A process of the same user teaches the resident that a request belongs to a box with more doors. Its run is refused.
if command -v python3 >/dev/null; then
        cat >"$T/poison.py" <<'P'
import os, socket, struct, subprocess, sys
real, fake, wide, command = sys.argv[1], sys.argv[2], bytes.fromhex(sys.argv[3]), sys.argv[4:]
os.makedirs(fake + "/cordon", 0o700)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(fake + "/cordon/serve.sock")
s.listen(8)
run = subprocess.Popen(command, env=dict(os.environ, XDG_RUNTIME_DIR=fake), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
c, _ = s.accept()
ask = c.recv(4096)
assert struct.unpack("<II", ask[:8])[1] == 9, "it does not ask by its request"
request = ask[16:48]
s.close()
c.close()
run.wait()
r = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
r.connect(real + "/cordon/serve.sock")
head = lambda word, n, key: struct.pack("<IIII", 0x314C5043, word, 0, n) + key
for bad in (request[:31], request + b"x", b""):
    r.send(head(10, len(bad), wide) + bad)
r.send(head(10, 32, bytes(32)) + request)
r.send(head(10, 32, wide) + request)
r.send(head(4, 0, bytes(32)))
print("answers" if struct.unpack("<II", r.recv(4096)[:8])[1] == 67 else "no answer")
P
        run pool rm --all
        policy "$D/door" "$D/other"
        run pool add --size 2 -p "$D/p.cordon" >/dev/null
        soon are_ready 2
        wide=$(run pool ls --json | jq -r '.[0].key')
        policy "$D/door"
        is "a wrong request is taught" "$(timeout 60 python3 "$T/poison.py" "$rt" "$T/fake" "$wide" "$CORDON" run -p "$D/p.cordon" -- cat "$D/door/file")" "three
answers"
        out=$(run run -p "$D/p.cordon" -- cat "$D/door/file" 2>&1) && code=0 || code=$?
        is "a run that gets another plan's box fails" "$code" 125
        has "and says why" "$out" "a box of another plan"
        soon are_ready 2
        is "runs of that plan are not disturbed" "$(policy "$D/door" "$D/other"; how -p "$D/p.cordon" -- cat "$D/other/file")" "parked "
else
        skip "a request that was taught wrongly" "python3 is not installed"
fi
done_testing

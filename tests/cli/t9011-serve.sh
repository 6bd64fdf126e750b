#!/bin/sh
# `cordon serve` and `cordon serve pool`: a run in a parked box of the resident is as one in a new box, of an earlier run nothing is left
# in it, and whatever dies, moves or talks nonsense, no run gets a box that is not its own.
# shellcheck disable=SC2016,SC2034,SC2154,SC2317,SC3045
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-serve.sh"
root() { "$@"; }
before=$(orphans)
is_ready() { [ "$(run serve pool stats --json 2>/dev/null | jq .parked)" = "$1" ]; }
ready() { soon is_ready "$1"; }
# same NAME COMMAND...: output, messages and status, parked and cold
same() {
        name=$1
        shift
        out=$(run run --pool require "$@" 2>&1) && code=0 || code=$?
        ready "$size"
        cold=$(run run --pool off "$@" 2>&1) && cold_code=0 || cold_code=$?
        is "$who: $name" "$code $out" "$cold_code $cold"
}

for who in root as_user; do
        rt=$T/rt.$who size=3
        mkdir -m 700 "$rt" && { [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown 65533:65533 "$rt"; }
        is "$who: without a resident a run starts as ever" "$(how -- true)" "cold "
        hasnt "$who: and one that needs it fails" "$(run run --pool require -- true 2>&1 || echo failed)" "^failed$"
        has "$who: it says what is missing" "$(run run --pool require -- true 2>&1)" "cordon serve is not running"
        for words in "serve pool ls" "serve pool stats" "serve pool add" "serve pool rm --all"; do
                # shellcheck disable=SC2086
                is "$who: and so does $words" "$(run $words 2>&1)" "cordon: error: cordon serve is not running
cordon: hint: start it: cordon serve &"
        done
        serve
        has "$who: it says when it is ready" "$(cat "$T/said")" "ready (up to 32 parked boxes)"
        is "$who: the socket's directory is closed" "$(stat -c %a "$rt/cordon")" 700
        has "$who: a second resident refuses" "$(run serve 2>&1)" "already"
        is "$who: nothing is parked yet" "$(how -- true)" "cold no box is parked for this plan"
        has "$who: boxes are parked" "$(run serve pool add --size $size)" " of $size parked under "
        ok "$who: they are ready" ready $size
        is "$who: and used" "$(how -- true)" "parked "
        ok "$who: another is parked" ready $size
        is "$who: also by a program's path" "$(how -- "$(command -v env)")" "parked "
        ready $size
        is "$who: the list has them" "$(run serve pool ls --json | jq -r '.[0] | "\(.size) \(.ready) \(.hits)"')" "3 3 2"
        if [ -x "$BUILD/src/face/cli/cordon" ] && ! grep -qa __asan_init "$BUILD/src/face/cli/cordon"; then
                cp -L "$BUILD/src/face/cli/cordon" "$T/d/other" && chmod 755 "$T/d/other"
                is "$who: a caller with another C library gets one, too" "$(CORDON=$T/d/other; how -- true)" "parked "
                ready $size
        else
                skip "$who: a caller with another C library" "no such program here"
        fi

        run serve pool add --size 1 --read /etc/hosts --env WORD=secret >/dev/null
        has "$who: and the options that they were made from" "$(run serve pool ls)" "  --read /etc/hosts --env WORD"
        hasnt "$who: without values" "$(run serve pool ls --json)" secret
        run serve pool rm "$(run serve pool ls --json | jq -r '.[] | select(.size == 1) | .key')"

        same "exit status" -- sh -c 'echo out; echo err >&2; exit 7'
        same "a signal" -- sh -c 'kill -TERM $$'
        same "no such program" -- nosuchprogram
        same "a refusal" -- sh -c 'cat /etc/shadow; touch /usr/x'
        same "input, variables and directory" -- sh -c 'cat; env | sort; pwd; umask; ulimit -a; ls -la ~ /tmp /dev/shm'
        same "uptime moves on" -- sh -c 'cut -d. -f1 /proc/uptime | wc -c'
        is "$who: the time limit" "$(run run --pool require --limit 'time 300ms' -- sleep 20 2>/dev/null; echo $?)" 124
        ready $size

        # Of one run nothing is left for the next.
        run run --pool require -- sh -c 'for d in /tmp ~ /dev/shm /var/tmp /run; do echo MARK >$d/mark; done; touch /tmp/.mark; ipcmk -M 100; ipcmk -Q; ipcmk -S 1; sleep 300 &' >/dev/null 2>&1
        ready $size
        is "$who: nothing of a run is seen by the next" "$(run run --pool require -- sh -c 'cat /tmp/mark ~/mark /dev/shm/mark /var/tmp/mark /run/mark; ls -A /tmp /dev/shm; ipcs | grep -c 0x; ps ax -o args | grep -c "[s]leep 300"; ss -xl 2>/dev/null | grep -c mark' 2>/dev/null | tr '\n' ' ')" \
                "$(run run --pool off -- sh -c 'cat /tmp/mark ~/mark /dev/shm/mark /var/tmp/mark /run/mark; ls -A /tmp /dev/shm; ipcs | grep -c 0x; ps ax -o args | grep -c "[s]leep 300"; ss -xl 2>/dev/null | grep -c mark' 2>/dev/null | tr '\n' ' ')"
        ready $size

        # Another plan, another box: what differs between two runs does not find the parked one.
        echo one >"$T/d/file.$who" && chmod 666 "$T/d/file.$who"
        printf 'box b\nuse base/system\nread %s\n' "$T/d/file.$who" >"$T/d/p.$who"
        ok "$who: boxes of a policy" run serve pool add --no-wait --size 1 -p "$T/d/p.$who" -- cat
        ready $((size + 1))
        is "$who: are used" "$(how -p "$T/d/p.$who" -- cat "$T/d/file.$who")" "parked "
        ready $((size + 1))
        echo 'read /etc/hosts' >>"$T/d/p.$who"
        is "$who: not when the policy has changed" "$(how -p "$T/d/p.$who" -- cat "$T/d/file.$who")" "cold no box is parked for this plan; $T/d/p.$who differs in: only this run shows /etc/hosts"
        printf 'box b\nuse base/system\nread %s\n' "$T/d/file.$who" >"$T/d/p.$who"
        is "$who: but when it is as it was" "$(how -p "$T/d/p.$who" -- cat "$T/d/file.$who")" "parked "
        ready $((size + 1))
        rm "$T/d/file.$who" && echo two >"$T/d/file.$who" && chmod 666 "$T/d/file.$who"
        is "$who: not when the file behind a door is another" "$(how -p "$T/d/p.$who" -- cat "$T/d/file.$who")" "cold no box is parked for this plan; $T/d/p.$who differs in: another file or other rights at $T/d/file.$who"
        is "$who: and the run sees the new one" "$(run run -p "$T/d/p.$who" -- cat "$T/d/file.$who" 2>/dev/null)" two
        is "$who: not with another umask" "$(umask 077; how -- true)" "cold no box is parked for this plan; without options differs in: the umask"
        is "$who: not with other resource limits" "$(ulimit -s 4096; how -- true)" "cold this process is confined otherwise than cordon serve: resource limits"
        has "$who: not with another limit of the box" "$(how --memory 1G -- true)" "differs in: a limit of memory, procs, files or disk"
        ok "$who: a run without reports uses one that makes some" run run -q --pool require -- true
        ready $((size + 1))
        is "$who: --pool off" "$(how --pool off -- true)" "cold "
        is "$who: an edit door says why it is cold" "$(how --edit "$T/d" -- true)" "cold an \`edit\` door needs an overlay of its own run"
        ok "$who: those of one plan are removed" run serve pool rm "$(run serve pool ls --json | jq -r '.[] | select(.size == 1) | .key')"
        is "$who: and no other" "$(run serve pool ls --json | jq -r 'length')" 1
        has "$who: an unknown one is reported" "$(run serve pool rm 0123 2>&1)" "no boxes are parked"

        # A client that is killed takes its run with it, and nothing else.
        $who env XDG_RUNTIME_DIR="$rt" "$CORDON" run --pool require -- sleep 3333 </dev/null >/dev/null 2>&1 &
        client=$!
        is_up() { pgrep -f "^sleep 3333" >"$T/payload"; }
        ok "$who: a run" soon is_up
        payload=$(cat "$T/payload")
        victim=$(pgrep -f "cordon run --pool require -- sleep 3333" | tail -n 1)
        kill -9 "$victim"
        wait "$client" 2>/dev/null
        ok "$who: ends with its client" soon gone "$payload"
        no_runs() { [ "$(run serve pool stats --json | jq .running)" = 0 ]; }
        ok "$who: the resident has reaped it" soon no_runs
        ok "$who: and parked another" ready $size

        # Nonsense, floods, clients that say nothing.
        if command -v python3 >/dev/null; then
                $who env XDG_RUNTIME_DIR="$rt" timeout 60 python3 - "$rt/cordon/serve.sock" <<'P' >"$T/flood" 2>&1
import os, socket, struct, sys
def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    pid = struct.unpack("iii", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    try:
        proof = os.open(f"/proc/{pid}/fdinfo", os.O_RDONLY)  # host_peer_proof()
        socket.send_fds(s, [struct.pack("<IIII", 0x314C5043, 9, 0, 0) + bytes(32)], [proof])
        os.close(proof)
    except OSError:  # more are under way than this user may have
        pass
    return s
head = lambda word, arg, n, key=b"\0" * 32: struct.pack("<IIII", 0x314C5043, word, arg, n) + key
silent = [connect() for _ in range(100)]
for message in (b"x", b"\xff" * 4000, head(1, 0, 0)[:20], head(99, 0, 0), head(2, 3, 100) + os.urandom(100), head(2, 1000000, 4) + b"cblo", head(5, 0, 3) + b"zzz", head(1, 0, 999)):
    s = connect()
    s.send(message)
    null = os.open("/dev/null", os.O_RDONLY)
    try:
        socket.send_fds(s, [head(1, 0, 0)], [null] * 200)
    except OSError:
        pass
    s.close()
P
                is "$who: a flood goes by" "$(cat "$T/flood")" ""
                is "$who: and the resident serves" "$(how -- true)" "parked "
                ready $size
        else
                skip "$who: a flood" "python3 is not installed"
        fi
        is "$who: with hardly a descriptor a run still runs" "$(ulimit -n 90; run run -- echo here 2>/dev/null)" here
        ready $size

        # At rest nothing wakes up.
        switches() { for p in $serve $(pgrep -P "$serve"); do sed -n 's/^voluntary_ctxt_switches:\s*//p' "/proc/$p/status"; done | paste -s -d ' '; }
        rests() { first=$(switches); sleep 1; [ "$(switches)" = "$first" ]; }
        ok "$who: at rest the resident and its boxes sleep" soon rests

        # Its end: in order, and by force.
        kids=$(pgrep -P "$serve")
        kill -TERM "$serve"
        ok "$who: it ends" soon gone "$serve"
        ends() { for p in $kids; do gone "$p" || return 1; done; }
        ok "$who: its boxes with it" soon ends
        is "$who: a run starts cold" "$(how -- true)" "cold "
        has "$who: --idle wants a unit" "$(run serve --idle 600 2>&1)" "takes a time"
        serve --auto --idle 5m
        is "$who: once" "$(how -- true)" "cold no box is parked for this plan"
        is "$who: twice" "$(how -- true)" "cold no box is parked for this plan"
        ok "$who: a plan that is seen twice is parked" ready 2
        is "$who: and used" "$(how -- true)" "parked "
        kids=$(pgrep -P "$serve")
        kill -9 "$serve"
        ok "$who: killed, it leaves nothing" soon ends
        is "$who: and a run starts as ever" "$(how -- true)" "cold "
done
if [ "$(id -u)" -eq 0 ]; then
        who=root rt=$T/rt.root
        serve
        chmod 711 "$rt" "$rt/cordon" && chmod 666 "$rt/cordon/serve.sock"
        who=as_user
        has "another user's resident is not used" "$(run run --pool require -- true 2>&1)" "no parked box"
        who=root
        kill -TERM "$serve"
        soon gone "$serve"
else
        skip "another user's resident is not used" "only root has two users"
fi
ok "no control group is left" none_left
done_testing

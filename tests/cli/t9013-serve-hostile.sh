#!/bin/sh
# The resident and its clients when one of them misbehaves: a client that dies at each step of taking a box, talks nonsense to the box
# itself, is another user or sends descriptors; a resident with hardly a descriptor, or with a socket of a service manager; a port to
# listen at. After each of them it serves, and nothing is left.
# shellcheck disable=SC2016,SC2034,SC2154,SC2317,SC3045
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-serve.sh"
if ! command -v python3 >/dev/null; then
        skip "misbehaving clients" "python3 is not installed"
        done_testing
fi
if ! "$CORDON" run -q --wall namespace -- true 2>/dev/null; then
        skip "misbehaving clients" "no namespace wall here"
        done_testing
fi
root() { "$@"; }
before=$(orphans)
settled() { [ "$(run serve pool stats --json 2>/dev/null | jq -c '[.parked, .running, .starting]')" = "[$size,0,0]" ]; }
fds() { find "/proc/$serve/fd" -mindepth 1 2>/dev/null | wc -l; }
no_more_fds() { [ "$(fds)" -le "$had" ]; }

# client STEP: takes a box as `cordon run` does, and dies there. The key is that of the one shelf.
cat >"$T/client.py" <<'P'
import array, os, signal, socket, struct, sys
path, key, step = sys.argv[1], bytes.fromhex(sys.argv[2]), sys.argv[3]
def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(20)
    s.connect(path)
    if step != "stranger":
        pid = struct.unpack("iii", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        proof = os.open(f"/proc/{pid}/fdinfo", os.O_RDONLY)  # host_peer_proof()
        socket.send_fds(s, [struct.pack("<IIII", 0x314C5043, 9, 0, 0) + bytes(32)], [proof])
        os.close(proof)
    return s
def head(word, arg=0, n=0):
    return struct.pack("<IIII", 0x314C5043, word, arg, n) + key
def die():
    os.kill(os.getpid(), signal.SIGKILL)
def take(s):
    s.send(head(1))
    data, fds, flags, _ = socket.recv_fds(s, 4096, 100)
    return struct.unpack("<IIII", data[:16])[1], fds
s = connect()
if step == "connected":
    die()
if step == "asked":
    s.send(head(1))
    die()
if step == "half":
    s.send(head(1)[:20])
    die()
if step == "stranger":
    try:
        s.send(head(1))
        print("answer" if s.recv(100) else "none")
    except OSError:
        print("none")
    sys.exit()
if step == "descriptors":
    null = [os.open("/dev/null", os.O_RDONLY) for _ in range(100)]
    for _ in range(50):
        x = connect()
        socket.send_fds(x, [head(3)], null)
        x.recv(100000)
    sys.exit()
if step == "many":
    kept = []
    for _ in range(300):
        try:
            kept.append(connect())
            kept[-1].send(head(4))
        except OSError:
            pass
    sys.exit()
word, fds = take(s)
assert word == 64 and len(fds) >= 4, (word, len(fds))
if step == "given":
    die()
if step == "nonsense":  # to init, to the waiting payload and to the janitor
    for fd in fds:
        for junk in (b"", b"x", b"\xff" * 4000, head(1), struct.pack("<III", 1, 2 ** 31, 3) + b"\1" * 36):
            try:
                x = socket.socket(fileno=os.dup(fd))
                x.setblocking(False)
                socket.send_fds(x, [junk], [0, 1, 2])
            except OSError:
                pass
    die()
if step == "seal":  # the end of a run that had none, again and again
    for _ in range(100):
        s.send(head(6))
    die()
P
client() { $who env timeout -k 5 60 python3 "$T/client.py" "$rt/cordon/serve.sock" "$key" "$1" 2>&1; }

for who in root as_user; do
        rt=$T/rt.$who size=2
        mkdir -m 700 "$rt" && { [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown 65533:65533 "$rt"; }
        serve
        run serve pool add --size $size
        ok "$who: boxes are parked" soon settled
        run run --pool require -- true # the sealer of the ledger and all that is opened once
        ok "$who: again" soon settled
        key=$(run serve pool ls --json | jq -r '.[0].key')
        had=$(fds)
        for step in connected half asked given nonsense seal descriptors many; do
                said=$(client $step)
                is "$who: a client, $step: no complaint of its own" "$(echo "$said" | grep -v -x Killed)" ""
                ok "$who: a client, $step: the pool is whole again" soon settled
                ok "$who: a client, $step: no descriptor is left" soon no_more_fds
        done
        is "$who: and a run gets its box" "$(how -- true)" "parked "

        # A port is the run's, which opens it; the box behind it can be parked.
        port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
        run serve pool rm --all
        run serve pool add --size $size --listen "$port:80"
        ok "$who: boxes with a port are parked" soon settled
        run run --json --listen "$port:80" -- python3 -c 'import socket
s = socket.socket(); s.setsockopt(1, 2, 1); s.bind(("127.0.0.1", 80)); s.listen()
c = s.accept()[0]; c.sendall(b"hello from the box"); c.close()' >"$T/out" 2>"$T/err" &
        server=$!
        hears() { python3 -c 'import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
sys.exit(s.recv(100) != b"hello from the box")' "$port" 2>/dev/null; }
        ok "$who: a server in a parked box is reached" soon hears
        wait "$server"
        is "$who: it was parked" "$(tail -n 1 "$T/err" | jq -r .start)" parked
        kill -TERM "$serve"
        ok "$who: it ends" soon gone "$serve"

        # Hardly a descriptor: fewer boxes, and a run that finds none starts as ever.
        few() { (ulimit -n 90 && run "$@"); }
        serve_by sh -c 'ulimit -n 90; exec "$0" serve' "$CORDON"
        few serve pool add --size 30
        some() { [ "$(few serve pool stats --json | jq .parked)" -gt 0 ]; }
        ok "$who: with hardly a descriptor it parks some" soon some
        is "$who: and gives them" "$(few run --pool require -- echo here 2>/dev/null)" here
        is "$who: and runs that have more run" "$(run run -q -- echo here 2>/dev/null)" here
        kill -TERM "$serve"
        ok "$who: and it ends" soon gone "$serve"

        # The socket of a service manager: it exists before the resident, and after it.
        rm -rf "$rt/cordon" && $who mkdir -m 700 "$rt/cordon"
        serve_by python3 -c 'import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1]); s.listen()
fd = s.detach()
os.dup2(fd, 3) if fd != 3 else os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[2], sys.argv[2:])' "$rt/cordon/serve.sock" "$CORDON" serve --auto
        is "$who: a passed socket: once" "$(how -- true)" "cold no box is parked for this plan"
        is "$who: twice" "$(how -- true)" "cold no box is parked for this plan"
        ok "$who: then boxes are parked" soon settled
        is "$who: and used" "$(how -- true)" "parked "
        kill -TERM "$serve"
        ok "$who: its resident ends" soon gone "$serve"
        ok "$who: the socket stays" test -S "$rt/cordon/serve.sock"
        is "$who: and a run starts as ever" "$(run run -q -- echo here 2>/dev/null)" here
        LISTEN_PID=1 LISTEN_FDS=1 serve
        ok "$who: a socket that is meant for another process is not used" run serve pool stats
        kill -TERM "$serve"
        ok "$who: that one ends" soon gone "$serve"
done

if [ "$(id -u)" -eq 0 ]; then
        who=root rt=$T/rt.root size=1
        serve
        run serve pool add --size 1
        ok "a box of root" soon settled
        key=$(run serve pool ls --json | jq -r '.[0].key')
        chmod 711 "$rt" "$rt/cordon" && chmod 666 "$rt/cordon/serve.sock" && chmod 755 "$T"
        cp "$T/client.py" "$T/d/client.py" && chmod 644 "$T/d/client.py"
        is "another user gets no answer" "$(setpriv --reuid 65533 --regid 65533 --clear-groups timeout 60 python3 "$T/d/client.py" "$rt/cordon/serve.sock" "$key" stranger 2>&1)" none
        chmod 700 "$rt" "$rt/cordon"
        ok "and no box" settled
        kill -TERM "$serve"
        ok "the resident ends" soon gone "$serve"
else
        skip "another user gets no answer" "only root has two users"
fi
ok "no control group is left" none_left
done_testing

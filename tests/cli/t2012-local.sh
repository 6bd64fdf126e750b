#!/bin/sh
# `local`: what the processes of a box use among themselves, and that none of it leads to the host.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all "no python3"
cd "$T" || exit 1
chmod 755 "$T"

root() { "$@"; }
# The host's own: two listeners, an abstract name and a terminal.
cat >host.py <<'END'
import os, socket, sys, time
four = socket.socket(); four.bind(("127.0.0.1", 0)); four.listen()
abstract = socket.socket(socket.AF_UNIX); abstract.bind("\0cordon-local-%d" % os.getpid()); abstract.listen()
master, slave = os.openpty()
print(four.getsockname()[1], os.getpid(), os.ttyname(slave), flush=True)
while True: time.sleep(60)
END
python3 host.py >host &
HOST=$!
trap 'kill $HOST 2>/dev/null' EXIT
soon test -s host
read -r PORT PID TTY <host

cat >own.py <<'END'
import os, pty, socket, sys
def say(name, f):
    try: print(name, f())
    except Exception as e: print(name, type(e).__name__)
def talk(family, address):
    s = socket.socket(family); s.bind(address); s.listen()
    c = socket.socket(family); c.connect(s.getsockname()[:2]); c.send(b"x")
    return s.accept()[0].recv(1) == b"x"
def unix(address):
    s = socket.socket(socket.AF_UNIX); s.bind(address); s.listen()
    c = socket.socket(socket.AF_UNIX); c.connect(address)
    return True
def terminal():
    m, s = pty.openpty(); os.write(s, b"x"); return os.read(m, 1) == b"x"
def made():
    with open("/tmp/own", "w") as f: f.write("#!/bin/sh\nexit 7\n")
    os.chmod("/tmp/own", 0o755); return os.spawnl(os.P_WAIT, "/tmp/own", "own")
def memory():
    f = os.memfd_create("own", 0); os.write(f, open("/bin/true", "rb").read())
    return os.spawnl(os.P_WAIT, "/proc/self/fd/%d" % f, "true")
def flags():
    try: os.memfd_create("own", 0xffffffff)
    except OSError as e: return e.errno
say("loopback", lambda: talk(socket.AF_INET, ("127.0.0.1", 0)))
say("unix", lambda: unix("/tmp/sock"))
say("abstract", lambda: unix("\0own"))
say("pty", terminal)
say("made", made)
say("memfd", memory)
say("flags", flags)
END
cat >theirs.py <<'END'
import os, socket, sys
port, pid, tty = int(sys.argv[1]), sys.argv[2], sys.argv[3]
def reach(name, f):
    try: f(); print(name, "REACHED")
    except OSError as e: print(name, e.errno)
reach("localhost", lambda: socket.create_connection(("127.0.0.1", port), 5))
reach("abstract", lambda: socket.socket(socket.AF_UNIX).connect("\0cordon-local-" + pid))
reach("route", lambda: socket.create_connection(("192.0.2.1", 80), 5))
# Its own /dev/pts has other terminals by the same names: none of them is the host's.
reach("terminal", lambda: os.close(os.open(tty, os.O_RDWR | os.O_NOCTTY)))
reach("init", lambda: os.open("/proc/1/mem", os.O_RDONLY))
END

for who in root as_user; do
        box() { $who timeout 30 "$CORDON" run -q "$@" </dev/null 2>&1; }
        is "$who: the default box has all of it" "$(box --read own.py -- python3 own.py | grep -v '^unix\|^abstract')" "loopback True
pty True
made 7
memfd 0
flags 22"
        is "$who: without a directory of yours Unix sockets too" "$(box -- python3 -c "$(cat own.py)" | grep '^unix\|^abstract')" "unix True
abstract True"
        is "$who: the strict box has nothing of it" "$(box --use base/strict --read own.py -- python3 own.py | grep -v '^memfd')" "loopback OSError
unix OSError
abstract OSError
pty OSError
made 127
flags 22"
        never "$who: nor runs a memory file there" "$(box --use base/strict -- python3 -c "print('BEGAN'); $(cat own.py)")" "memfd 0"
        is "$who: nor has a box of named programs, but what it says" "$(box --use base/python3 --local 'loopback pty' --read own.py -- python3 own.py | head -n 4)" "loopback True
unix OSError
abstract OSError
pty True"
        out=$(box --read theirs.py -- python3 theirs.py "$PORT" "$PID" "$TTY")
        hasnt "$who: nothing of the host's is reached" "$out" REACHED
        has "$who: its localhost is another" "$out" "localhost 111"
        has "$who: beyond it there is no way" "$out" "route 101"
        has "$who: which is told" "$($who "$CORDON" run -v -n --read theirs.py -- python3 theirs.py "$PORT" "$PID" "$TTY" 2>&1)" \
                "blocked: connect to 192.0.2.1:80 by python3 (no net door)"
        has "$who: a name that cannot be looked up is told" "$($who "$CORDON" run -n -- python3 -c 'import socket; socket.getaddrinfo("host.example", 80)' 2>&1)" \
                "blocked: network by python3 (no net door)"
        if [ -e /proc/net/if_inet6 ]; then
                is "$who: IPv6 has its loopback" "$(box -- python3 -c 'import socket; s = socket.socket(socket.AF_INET6); s.bind(("::1", 0)); s.listen(); socket.create_connection(s.getsockname()[:2]); print("x")')" x
        else
                skip "$who: IPv6 has its loopback" "no IPv6 here"
        fi
        # Two boxes have two loopbacks.
        $who "$CORDON" run -q -- python3 -c 'import socket,time; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(60)' >other </dev/null 2>/dev/null &
        OTHER=$!
        soon test -s other
        is "$who: another box's is not reached" "$(box -- python3 -c 'import socket,sys; print(socket.socket().connect_ex(("127.0.0.1", int(sys.argv[1]))))' "$(cat other)")" 111
        kill $OTHER 2>/dev/null
        wait $OTHER 2>/dev/null
        rm -f other
        # --- trace ---
        trace='import ctypes, os, signal, sys; libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0: signal.pause()
def attach(pid): return 0 if libc.ptrace(16, pid, 0, 0) == 0 else ctypes.get_errno()
print(attach(child), attach(1) != 0, attach(os.getppid()) != 0, flush=True)
os.kill(child, 9)'
        is "$who: with --trace it traces its own, and not init" "$(box --trace -- python3 -c "$trace")" "0 True True"
        is "$who: and without it nobody" "$(box -- python3 -c "$trace")" "1 True True"
        has "$who: the line that permits it is told" "$($who "$CORDON" run -v -n -- python3 -c "$trace" 2>&1)" "hint: --local trace"
        # --- the process wall ---
        is "$who, process: nothing of it, and no host's" "$(box --wall process --read own.py -- python3 own.py | head -n 4)" "loopback OSError
unix OSError
abstract OSError
pty OSError"
        hasnt "$who, process: nothing of the host's is reached" "$(box --wall process --read theirs.py -- python3 theirs.py "$PORT" "$PID" "$TTY")" REACHED
        has "$who, process: what is asked for stops the start" "$(box --wall process --local loopback -- true; echo $?)" "the process wall cannot give a box \`local loopback\`"
done
has "doors prints it" "$("$CORDON" doors)" "local loopback"
hasnt "not of the strict box" "$("$CORDON" doors --use base/strict)" "local loopback"
has "nor of one that opens it for debuggers only" "$("$CORDON" doors --use base/strict --trace)" "local trace"
has "an unknown one is told" "$("$CORDON" run --local loopbck -- true 2>&1)" 'did you mean "loopback"?'
done_testing

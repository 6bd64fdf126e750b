#!/bin/sh
# A Landlock that is older than its scopes (before Linux 6.12): init sends the signals of a box, to processes of its payload and to no
# others. A program with hooks leaves the scopes out; docs/test-vm.md has it on such kernels.
# shellcheck disable=SC2016,SC2034
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
cp "$BUILD/tests/hooked" "$T/hooked" && chmod 755 "$T/hooked" || { fail "the program with hooks is built"; done_testing; }
cat >signals.py <<'END'
import fcntl, os, signal, subprocess, sys, threading, time
outside = int(sys.argv[1])
got = []
signal.signal(signal.SIGUSR1, lambda *a: got.append('usr1'))
signal.signal(signal.SIGTERM, lambda *a: got.append('term'))
def attempt(name, f):
    try:
        r = f()
        print(name, 'OK' if r is None else r, flush=True)
    except OSError as e:
        print(name, os.strerror(e.errno), flush=True)
def sleeper(**k): return subprocess.Popen(['sleep', '60'], **k)
def child(f):
    p = sleeper(); f(p); return p.wait()
attempt('itself', lambda: os.kill(os.getpid(), signal.SIGUSR1))
attempt('a child', lambda: child(lambda p: p.terminate()))
attempt('a group', lambda: (lambda p: (os.killpg(p.pid, 9), p.wait())[1])(sleeper(start_new_session=True)))
ps = [sleeper() for _ in range(3)]
attempt('its group', lambda: os.kill(0, signal.SIGTERM))
print('members', [p.wait() for p in ps], got)
attempt('all', lambda: child(lambda p: os.kill(-1, 9)))
thread = threading.Thread(target=lambda: time.sleep(1)); thread.start()
attempt('a thread', lambda: signal.pthread_kill(thread.ident, signal.SIGUSR1)); thread.join()
attempt('an abort', lambda: subprocess.run([sys.executable, '-c', 'import os; os.abort()']).returncode)
orphan = subprocess.run(['sh', '-c', 'sleep 60 >/dev/null 2>&1 & echo $!'], capture_output=True, text=True).stdout
attempt('an orphan', lambda: os.kill(int(orphan), 9))
print('got', got, flush=True)
for name, pid in ('outside', outside), ('init', os.getppid()), ('pid 1', 1), ('no process', 4194303):
    attempt(name, lambda: os.kill(pid, 0))
attempt('a group outside', lambda: os.killpg(outside, 0))
r, w = os.pipe()
attempt('an owner', lambda: fcntl.fcntl(r, fcntl.F_SETOWN, outside))
attempt('a pidfd', lambda: signal.pidfd_send_signal(os.pidfd_open(os.getpid()), 0))
END
chmod 644 signals.py
setsid sleep 120 &
outside=$!
root() { "$@"; }
for who in root as_user; do
        for wall in namespace process; do
                $who env CORDON_KNOCKOUT=scopes "$T/hooked" run -q --observe off --wall $wall --read "$T/signals.py" -- python3 "$T/signals.py" "$outside" >said 2>&1 </dev/null
                is "$who, $wall: signals among its own processes arrive" "$(sed '/^outside/,$d' said)" "itself OK
a child -15
a group -9
its group OK
members [-15, -15, -15] ['usr1', 'term']
all -9
a thread OK
an abort -6
an orphan OK
got ['usr1', 'term', 'usr1']"
                [ $wall = process ] && no='Operation not permitted' || no='No such process'
                is "$who, $wall: no other process gets one" "$(sed -n '/^outside/,$p' said)" "outside $no
init Operation not permitted
pid 1 Operation not permitted
no process No such process
a group outside No such process
an owner Operation not permitted
a pidfd Function not implemented"
        done
        # Their helpers are in the box's pid namespace: no number there may be one that a signal reaches.
        is "$who: in its pid namespace its own processes alone answer" "$($who env CORDON_KNOCKOUT=scopes "$T/hooked" run -q --wall namespace -- python3 -c '
import os, socket
try: socket.if_nameindex()
except OSError: pass
def answers(p):
    try: os.kill(p, 0); return True
    except OSError: return False
print([p for p in range(1, 5000) if p != os.getpid() and answers(p)])' 2>&1 </dev/null)" '[]'
done
ok "the process outside is as it was" kill -0 $outside
kill $outside
done_testing

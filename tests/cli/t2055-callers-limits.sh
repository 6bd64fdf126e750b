#!/bin/sh
# Whatever limits its caller has, a start works or says what is missing; and a box that writes nothing outside makes nobody
# wait for the disk.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
elsewhere limits
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
mkdir "$D/write" && chmod 777 "$D/write"
root() { "$@"; }
cat >limited.py <<'END'
# limited.py LIMIT VALUE SOFT|HARD COMMAND...: runs it with that limit, and prints how it ended.
import resource, subprocess, sys
which, value, command = getattr(resource, "RLIMIT_" + sys.argv[1]), int(sys.argv[2]), sys.argv[4:]
def set_it():
    resource.setrlimit(which, (value, value if sys.argv[3] == "HARD" else resource.getrlimit(which)[1]))
done = subprocess.run(command, preexec_fn=set_it, capture_output=True, text=True)
said = done.stderr.startswith("cordon: error: ")
print("works" if done.returncode == 0 else "says" if done.returncode == 125 and said else done.returncode)
END
for who in root as_user; do
        # Below some of these the kernel itself starts no program.
        for row in STACK=16384 STACK=65536 STACK=131072 STACK=262144 STACK=524288 NOFILE=5 NOFILE=8 NOFILE=12 NOFILE=16 NOFILE=24 \
                NOFILE=64 NPROC=1 AS=50000000 DATA=8000000 FSIZE=0 FSIZE=1 FSIZE=1024 CPU=1 CORE=0 MEMLOCK=0 RSS=0 SIGPENDING=0 MSGQUEUE=0; do
                for how in SOFT HARD; do
                        got=$($who python3 "$T/limited.py" ${row%=*} ${row#*=} $how "$CORDON" run -q --ledger off -- /bin/true 2>&1)
                        ok "$who: $row $how: it works or is said ($got)" test "$got" = works -o "$got" = says
                done
        done
        is "$who: a small stack that may grow is enough" "$($who python3 "$T/limited.py" STACK 131072 SOFT "$CORDON" run -q --ledger off -- /bin/true)" works
        is "$who: one that may not is said" "$($who python3 "$T/limited.py" STACK 131072 HARD "$CORDON" run -q --ledger off -- /bin/true)" says

        # --- sync ---
        cat >sync.py <<'END'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open("/usr/bin", os.O_RDONLY)
libc.sync()
print(libc.syncfs(fd), libc.syncfs(99), ctypes.get_errno())
END
        run() { $who "$CORDON" run -q --ledger off --read "$T/sync.py" "$@" -- python3 "$T/sync.py" 2>&1 </dev/null; }
        for wall in namespace process; do
                is "$who, $wall: a box that writes nothing outside flushes nothing" "$(run --wall $wall)" "0 0 0"
                is "$who, $wall: one with a read door neither" "$(run --wall $wall --read "$D")" "0 0 0"
                is "$who, $wall: one with a write door does" "$(run --wall $wall --write "$D/write")" "0 -1 9"
        done
        is "$who: one with an edit door does" "$(run --edit "$D/write")" "0 -1 9"
done

# --- what cannot be closed is said ---
claims=$("$CORDON" selftest claims 2>/dev/null)
for channel in /proc/self/pagemap smaps /proc/self/net 'sysinfo(2)'; do
        has "claims names $channel" "$claims" "$channel"
done
done_testing

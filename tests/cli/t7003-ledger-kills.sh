#!/bin/sh
# Keepers and sealers killed at random moments: the ledger verifies afterwards, and the next ones go on.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
L=$CORDON_STATE/ledger
if [ ! -x "$T/libexec/cordon-ledger" ]; then
        skip "sealers are killed" "cordon-ledger is not built: no libcrypto"
        done_testing
fi
sealer() { # the pid of this test's sealer
        for f in $(grep -lsa -F "$L" /proc/[0-9]*/cmdline); do
                p=${f#/proc/}
                p=${p%/cmdline}
                [ "$(cat "/proc/$p/comm" 2>/dev/null)" != cordon-ledger ] || echo "$p"
        done
}
od -An -v -N 120 -tu1 -w2 /dev/urandom >dice
killed=0 round=0 bad=
"$CORDON" run -q -- true </dev/null # there is a ledger, however early the first kill comes
while read -r delay who; do
        round=$((round + 1))
        "$CORDON" run -q --name "k$round" -- sh -c 'echo some; sleep 0.05' >/dev/null 2>&1 </dev/null &
        keeper=$!
        sleep "0.$(printf %03d $((delay * 200 / 255)))"
        if [ $((who % 3)) -eq 0 ]; then
                kill -9 $keeper 2>/dev/null
        else
                for p in $(sealer); do kill -9 "$p" 2>/dev/null && killed=$((killed + 1)); done
        fi
        wait $keeper 2>/dev/null
        out=$("$CORDON" ledger verify 2>&1) || bad="$bad round $round ($delay $who): $out"
done <dice
is "after each of 60 kills the ledger verifies" "$bad" ""
ok "sealers were among the killed" test "$killed" -gt 5
seals() { "$T/libexec/cordon-ledger" seal-once "$L" 2>seal.txt; }
soon seals
is "the next sealer goes on" "$(cat seal.txt)" ""
ok "and all is sealed" sh -c '"$1" log verify --json | jq -e ".ok and .records == .sealed"' - "$CORDON"

# ---- many at once ----
pids=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$CORDON" run -q --box many -- echo "$i" >/dev/null 2>&1 </dev/null &
        pids="$pids $!"
done
# shellcheck disable=SC2086
wait $pids
is "twenty boxes at once leave twenty starts" "$("$CORDON" ledger --json --box many --kind start | wc -l)" 20
is "and twenty ends" "$("$CORDON" ledger --json --box many --kind end | wc -l)" 20
ok "the ledger verifies" "$CORDON" ledger verify
# A writer that was stopped in the middle holds the lock: payloads go on, and the result tells.
python3 - "$L/head" >held 2>&1 <<'EOF' &
import fcntl, os, struct, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)) # F_OFD_SETLK
print("held", flush=True)
time.sleep(60)
EOF
holder=$!
soon grep -q -x held held
for _ in 1 2 3 4 5; do # the best of them: what others do to the machine is not ours
        began=$(date +%s%N)
        result=$("$CORDON" run -q --json -- sh -c 'seq 20000 | tail -n 1' 2>&1 </dev/null)
        took=$((($(date +%s%N) - began) / 1000000))
        [ $took -ge 2500 ] || break
done
has "a writer that stands still blocks no payload" "$result" 20000
has "and the result says that the run was not recorded" "$result" "another writer holds it"
ok "within its second of patience" test $took -lt 2500
kill $holder 2>/dev/null
wait $holder 2>/dev/null
ok "and the ledger verifies" "$CORDON" ledger verify
alone() { [ -z "$(sealer)" ]; }
soon alone
is "no sealer stays" "$(sealer)" ""
done_testing

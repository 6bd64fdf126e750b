# Write-ahead for the world: nothing with consequences leaves before its intent is durable, a ledger that cannot be written
# closes those doors alone, and after any kill what a server saw has its intent.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib-net.sh"
for program in cordon-vault cordon-ledger; do
        if [ ! -x "$CORDON_LIBEXEC/$program" ]; then
                skip "write-ahead" "$program is not built here: it needs OpenSSL"
                done_testing
        fi
done
secret=ghp_Q9zzSecretOfTheTestSuite0123456789
export XDG_CONFIG_HOME="$T/home"
mkdir -m 700 "$XDG_CONFIG_HOME"
printf %s "$secret" | "$CORDON" vault add gh --env GITHUB_TOKEN
python3 "$(dirname "$0")/helpers/seen_server.py" 127.0.0.1 8090 "$T/seen" >"$T/server" 2>&1 9>&- &
SERVER=$!
soon test -s "$T/server"
POST="http://127.0.0.1:8090/** POST with gh" GET="http://127.0.0.1:8090/** GET"
log() { "$CORDON" ledger "$@"; }
run_of() { log --json --box "$1" --kind start | tail -n 1 | jq -r .run; }
# The processes of this test alone, by what their command line or parent is.
writers() { for f in $(grep -lsa -F "$CORDON_STATE/ledger" /proc/[0-9]*/cmdline); do p=${f#/proc/} && p=${p%/cmdline} && cat "/proc/$p/cmdline" 2>/dev/null | tr '\0' ' ' | grep -q "^cordon-ledger $1 " && echo "$p"; done; }
child_of() { for p in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do [ "$(cat "/proc/$p/comm" 2>/dev/null)" = "$2" ] && echo "$p"; done; }

# ---- what is written, and in which order ----
box root --name order --net "$POST" --net "$GET" --net web.test:80 --net "http://web.test:8000/** GET" -- sh -c '
        curl -sS -m 10 -d hello "http://127.0.0.1:8090/first?key=value"
        curl -sS -m 10 http://127.0.0.1:8090/only-asked
        curl -sS -m 10 http://web.test/raw
        curl -sS -m 10 http://web.test:8000/asked'
is "the box ran" "$status $(tail -n 1 "$T/out")" "0 GET /asked 0"
run=$(run_of order)
of() { log --json --run "$run" | jq -r "$1"; }
is "a write has an intent, and an outcome with the intent as its parent" \
        "$(of 'select(.id | endswith(".q1")) | .phase + " " + .kind + " " + .target + " " + .stage') $(of 'select(.id | endswith(".r1")) | .phase + " " + .result + " " + (.parents | join(","))')" \
        "intent request POST http://127.0.0.1:8090/first live outcome answered 200 $run.q1"
is "the use of a credential is a record of its own, by name, and a cause of the intent" \
        "$(of 'select(.kind == "credential") | .phase + " " + .target + " " + .parents[0]') $(of 'select(.id | endswith(".q1")) | .parents | join(",")')" \
        "credential gh $run.start $run.start,$run.c1"
is "a connection that nobody looks into has one intent, beyond oneself" "$(of 'select(.phase == "intent" and .kind == "net") | .target + " " + .reach')" "web.test:80 named"
is "a question beyond oneself has one too" "$(of 'select(.phase == "intent") | .target' | tail -n 1)" "GET http://web.test:8000/asked"
is "an answer is a cause of what is asked next" "$(of 'select(.id | endswith(".q2")) | .parents | join(",")')" "$run.start,$run.r1"
is "a question to oneself has no intent, and is told at the end" "$(of 'select(.target == "127.0.0.1:8090") | .phase + " " + (.count | tostring)')" "outcome 1"
is "every intent has its outcome" "$(log --json --kind unknown)" ""
is "bytes each way are told" "$(of 'select(.id | endswith(".r1")) | (.more.sent > 100) and (.more.received == 41) and .bytes == .more.sent + .more.received')" true
hasnt "no query is written down" "$(log --json)" "key=value"
hasnt "no secret is in the ledger" "$(cat "$CORDON_STATE"/ledger/segments/*)" Q9zz
has "trace goes from the answer to the credential" "$("$CORDON" ledger trace "$run.r1" --back)" "$run.c1"
has "reached counts each effect once" "$(log reach)" "named        1"
ok "the ledger verifies" "$CORDON" ledger verify
is "no writer stays" "$(writers write)" ""

# ---- what only the policy knows: whom it reaches, what it touches ----
box root --name says --net "http://127.0.0.1:8090/pay/** GET reach public touches person money" --net "$GET" -- sh -c '
        curl -sS -m 10 http://127.0.0.1:8090/pay/now
        curl -sS -m 10 http://127.0.0.1:8090/plain'
run=$(run_of says)
is "a door that touches something has intents, also for a question to oneself" \
        "$(of 'select(.phase == "intent") | .target + " " + .reach + " " + (.touches | join(","))')" "GET http://127.0.0.1:8090/pay/now public money,person"
is "and outcomes that say so" "$(of 'select(.id | endswith(".r1")) | .reach + " " + (.touches | join(","))')" "public money,person"
has "reached tells both, the widest first" "$(log reach | sed -n 2p)" "GET http://127.0.0.1:8090/pay/now  touches money, person"
is "for programs too" "$(log reach --json | jq -c 'select(.reach == "public") | [.touches, .effects]')" '[["money","person"],1]'
has "it is told in the log" "$(log --run "$run")" "[reaches public] [touches money, person]"
is "what a door says is not believed against its address" "$(box root --name near --net "http://web.test:8000/** GET reach self" -- curl -sS -m 10 http://web.test:8000/near; log --json --run "$(run_of near)" | jq -r 'select(.phase == "intent") | .reach')" named
has "doors tells the worst of it" "$("$CORDON" doors --net "https://pay.example.com/** POST reach public touches person money")" "What it does at https://pay.example.com/** reaches the public and touches money, a person."

# ---- off, mock ----
before=$(log --json --kind intent | wc -l)
box root --ledger off --net "$POST" -- curl -sS -m 10 -d x http://127.0.0.1:8090/unrecorded
is "--ledger off: it goes, unrecorded" "$(cat "$T/out") $(log --json --kind intent | wc -l)" "ok $before"
box root --stage mock --net "$POST" -- curl -sS -m 10 -d x http://127.0.0.1:8090/mocked
is "the stage mock has no intents: nothing leaves" "$(log --json --kind intent | wc -l)" "$before"
echo '{"method":"GET","url":"http://web.test:8000/mocked","status":200,"headers":[],"body":"recorded"}' >"$T/answers"
box root --name mocked --stage mock --answers "$T/answers" --net "http://web.test:8000/** GET" -- curl -sS -m 10 http://web.test:8000/mocked
is "and a request that a record answered has reached nobody" \
        "$(cat "$T/out") $(log --json --run "$(run_of mocked)" --kind request | jq -r '.reach + " " + .stage')" "recorded self mock"

# ---- its walls ----
mkfifo "$T/looked"
"$CORDON" run -q --name walls --net "$POST" -- sh -c 'curl -sS -m 10 -d x http://127.0.0.1:8090/walls; read -r _' >/dev/null 2>&1 <"$T/looked" 9>&- &
keeper=$!
exec 8>"$T/looked" # it ends when it has been looked at
walled() { w=$(writers write); [ -n "$w" ] && grep -q '^Seccomp:[[:space:]]*2' "/proc/$w/status"; }
soon walled
# One that has just begun is not behind them yet; one that has nothing to do ends, and a run begins another.
sealed_in() {
        s=$(writers seal | head -n 1)
        [ -n "$s" ] || "$CORDON" run -q -- true </dev/null 8>&- 9>&-
        grep -q '^Seccomp:[[:space:]]*2' "/proc/$s/status"
}
soon sealed_in
is "the writer has a filter of calls and takes no privileges" "$(sed -n 's/^\(Seccomp\|NoNewPrivs\):[[:space:]]*/\1=/p' "/proc/$w/status" | sort | tr '\n' ' ')" "NoNewPrivs=1 Seccomp=2 "
is "so has the sealer" "$(sed -n 's/^\(Seccomp\|NoNewPrivs\):[[:space:]]*/\1=/p' "/proc/$s/status" | sort | tr '\n' ' ')" "NoNewPrivs=1 Seccomp=2 "
is "it holds the ledger, its line and nothing else" "$(for f in "/proc/$w"/fd/*; do readlink "$f"; done | grep -v -e '^/dev/null$' -e "^$CORDON_STATE/ledger" -e '^socket:' -e '^anon')" ""
exec 8>&-
wait $keeper

# ---- somebody stands in the way ----
# Takes the writers' lock and goes when a request was seen: a writer waits for two seconds, and a start may take longer.
: >"$T/seen"
python3 - "$CORDON_STATE/ledger/head" "$T/seen" >"$T/held" 2>&1 9>&- <<'END' &
import fcntl, os, struct, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)) # F_OFD_SETLK
print("held", flush=True)
end = time.time() + 60
while os.path.getsize(sys.argv[2]) == 0 and time.time() < end:
    time.sleep(0.02)
time.sleep(0.2)
print(time.time_ns(), flush=True)
END
holder=$!
soon grep -q held "$T/held"
box root --name waits --net "$POST" --net "$GET" -- sh -c 'curl -sS -m 20 -d x http://127.0.0.1:8090/waited & curl -sS -m 10 http://127.0.0.1:8090/quick; wait; date +%s%N'
wait $holder
is "a question without consequence does not wait for the ledger" "$(head -n 1 "$T/seen")" "GET /quick"
is "a write waits until its intent is durable, then goes" "$(tail -n 1 "$T/seen")" "POST /waited"
ok "and that took as long as somebody stood in the way" test "$(tail -n 1 "$T/out")" -gt "$(tail -n 1 "$T/held")"

# ---- a ledger that cannot be written closes those doors, with the reason; the others go on ----
unwritable() { # NAME REASON: as CORDON_STATE is now
        : >"$T/seen"
        box root --net "$POST" --net "$GET" --net web.test:80 -- sh -c '
                curl -sS -m 20 -w "%{http_code}\n" -d x http://127.0.0.1:8090/never
                curl -sS -m 10 http://127.0.0.1:8090/fine
                curl -sS -m 10 http://web.test/raw 2>&1 | sed "s/^/raw: /"'
        has "$1: the client is told" "$(head -n 2 "$T/out" | tr '\n' ' ')" "$2"
        has "$1: with 503" "$(cat "$T/out")" 503
        is "$1: nothing of it left" "$(cat "$T/seen")" "GET /fine"
        has "$1: a raw connection is cut" "$(cat "$T/out")" "raw: curl: ("
        has "$1: the run's result names it" "$(json '[.denials[].what] | join(" ")')" "POST http://127.0.0.1:8090/never (ledger cannot record it: $2"
}
quiet() { # the sealer has ended
        sealed() { [ -z "$(writers seal)" ]; }
        soon sealed
}
if [ "$CORDON_LAB" = root ]; then
        mkdir -m 700 "$T/small"
        mount -t tmpfs -o size=256k,mode=700 none "$T/small"
        keep=$CORDON_STATE CORDON_STATE=$T/small
        for part in "$keep"/*; do [ "${part##*/}" = ledger ] || [ "${part##*/}" = witness ] || cp -r "$part" "$T/small/"; done
        "$CORDON" run -q -- true </dev/null
        soon test -s "$T/small/ledger/checkpoints"
        dd if=/dev/zero of="$T/small/fill" bs=1k >/dev/null 2>&1
        # What is left of the last page of the file goes, too.
        size=0
        until [ "$size" = "$(stat -c %s "$T/small/ledger/segments/00000001.seg")" ]; do
                size=$(stat -c %s "$T/small/ledger/segments/00000001.seg")
                log >/dev/null
        done
        unwritable "a full disk" "the ledger cannot be written: "
        has "a full disk: by its name" "$(json '[.denials[].what] | join(" ")')" "No space left on device"
        # Room again, in the same run.
        : >"$T/seen" && : >"$T/out" && mkdir "$T/gate"
        { soon grep -q 503 "$T/out" && rm "$T/small/fill" && : >"$T/gate/room"; } 9>&- &
        box root --name room --net "$POST" --read "$T/gate" -- sh -c '
                curl -s -m 20 -o /dev/null -w "%{http_code} " -d x http://127.0.0.1:8090/full
                until [ -e "$1/room" ]; do sleep 0.1; done
                curl -s -m 20 -o /dev/null -w "%{http_code}" -d x http://127.0.0.1:8090/room' sh "$T/gate"
        is "room again: the door is open again" "$(cat "$T/out") $(cat "$T/seen")" "503 200 POST /room"
        ok "and the ledger verifies" "$CORDON" ledger verify
        quiet
        mount -o remount,ro "$T/small"
        unwritable "a read-only disk" "the ledger cannot be written: "
        quiet
        umount "$T/small"
        CORDON_STATE=$keep
else
        skip "a full disk, a read-only disk" "only root can make a small disk here"
fi
cp -r "$CORDON_STATE" "$T/damaged"
python3 - "$T/damaged/ledger/segments/00000001.seg" <<'END'
import os, sys
os.truncate(sys.argv[1], os.path.getsize(sys.argv[1]) - 300)
END
keep=$CORDON_STATE CORDON_STATE=$T/damaged
unwritable "a damaged ledger" "the ledger is damaged: "
CORDON_STATE=$keep
mv "$T/libexec/cordon-ledger" "$T/libexec/away"
unwritable "no writer" "the program cordon-ledger is not installed"
mv "$T/libexec/away" "$T/libexec/cordon-ledger"

# ---- the flush to the disk is what is waited for ----
flushed() { # INJECTION: what happens to the writer's flushes from now on; the box asks twice more
        : >"$T/seen" && rm -f "$T/go" && mkfifo "$T/go"
        "$CORDON" run -q --name flush --net "$POST" -- sh -c '
                curl -s -m 20 -o /dev/null -d x http://127.0.0.1:8090/starts
                read -r _
                curl -s -m 20 -w "%{http_code} %{time_starttransfer}\n" -d x http://127.0.0.1:8090/second
                sleep 1.5
                curl -s -m 20 -w "%{http_code}\n" -d x http://127.0.0.1:8090/third' >"$T/out" 2>/dev/null <"$T/go" 9>&- &
        keeper=$!
        exec 8>"$T/go"
        soon test -s "$T/seen"
        sleep 1.5 # what belongs to the first is flushed, too
        w=$(writers write | head -n 1)
        strace -p "$w" -o "$T/calls" -e trace=fdatasync -e "inject=fdatasync:$1" 2>/dev/null 8>&- 9>&- &
        soon grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$w/status"
        echo go >&8
        exec 8>&-
        wait $keeper
}
if command -v strace >/dev/null && [ "$CORDON_LAB" = root ] && strace -o /dev/null true 2>/dev/null; then
        flushed delay_enter=700000:when=1
        is "a disk that is slow to flush: all goes" "$(tr '\n' ' ' <"$T/seen")" "POST /starts POST /second POST /third "
        ok "but not before the flush" test "$(sed -n 's/^200 0*\([0-9]*\)\.\([0-9]\).*/\1\2/p' "$T/out")" -ge 7
        flushed error=EIO:syscall=getpid:when=1
        is "a flush that failed: nothing leaves, and the next flush is not believed either" "$(tr '\n' ' ' <"$T/seen")" "POST /starts "
        has "with the reason" "$(cat "$T/out")" "Input/output error"
        is "and the ledger says that it was kept inside" "$(log --json --box flush | jq -r 'select(.id | endswith(".r2")) | .result' | tail -n 1)" \
                "kept inside: its intent is not known to be durable"
else
        skip "the flush to the disk is what is waited for" "strace is missing, or may not look"
fi

# ---- many at once: a full line is no lost request ----
: >"$T/seen"
box root --name many --net "$POST" -- curl -sS -Z --parallel-max 200 -m 60 -o /dev/null -d x "http://127.0.0.1:8090/m[1-400]"
is "four hundred at once: each goes" "$status $(sort -u "$T/seen" | wc -l)" "0 400"
many=$(run_of many)
is "each with its intent and its outcome" "$(log --json --run "$many" --kind intent | wc -l) $(log --json --run "$many" | jq -r 'select(.kind == "request" and .phase == "outcome") | .result' | sort | uniq -c | tr -s ' ')" "400  400 answered 200"

# ---- a broker that lies can write down effects of its own run, and nothing else ----
mkdir -m 700 "$T/lies" "$T/lies/ledger"
python3 - "$T/libexec/cordon-ledger" "$T/lies/ledger" >"$T/answers" 2>&1 9>&- <<'END'
import os, random, socket, struct, subprocess, sys
random.seed(7)
ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
def before():
    os.dup2(its.fileno(), 3)
p = subprocess.Popen([sys.argv[1], 'write', sys.argv[2], 'liar', 'box'], preexec_fn=before, pass_fds=(3,))
its.close()
def ask(number, after=0, outcome=0, kind=4, reach=2, stage=1, target=b'POST http://x/', door=b'net x', credential=b'', result=b''):
    numbers = struct.pack('<III7BIQQ', number, after, 0, outcome, kind, reach, stage, 1, 0, 0, 0, 2**64 - 1, 2**63)
    texts = b''.join(struct.pack('<H', len(t)) + t for t in (target, door, credential, result, b'', b'\x1b[2Jprivate:', b'\x1b[31m' * 3))
    return struct.pack('<HHI', 3, 2, len(numbers + texts)) + numbers + texts
def any_text(most):
    return bytes(random.randrange(1, 256) for _ in range(random.randrange(most)))
ours.send(ask(1, credential=b'gh'))
print('first', ours.recv(4096)[12])
for bad in (ask(1), ask(0), ask(7, outcome=1), ask(1, outcome=1), ask(1, outcome=1), ask(3, kind=10), ask(4, kind=255), ask(5, reach=99), ask(6, stage=77)):
    ours.send(bad)
ours.send(ask(2, target=b'\x1b[2J"},\n{"id":"liar.start"}' + b'x' * 290, door=b'\xff' * 319, result=b'y' * 127, after=4000000000))
print('second', ours.recv(4096)[12])
for _ in range(2000):
    ours.send(ask(random.randrange(2**32), random.randrange(2**32), random.randrange(2), random.randrange(256), random.randrange(256), random.randrange(256),
        any_text(320), any_text(320), any_text(64), any_text(128)))
ours.settimeout(0)
ours.close()
print('ended', p.wait())
END
is "what it may say is answered" "$(tr '\n' ' ' <"$T/answers")" "first 1 second 1 ended 0 "
CORDON_STATE=$T/lies "$CORDON" ledger --json >"$T/lied"
is "every record is one of its run's effects" "$(jq -r 'select(.run == "liar") | .id' "$T/lied" | grep -v -x -E 'liar\.[qcr][0-9]+')" ""
is "an effect has one outcome" "$(jq -r .id "$T/lied" | sort | uniq -d)" ""
is "and the ledger verifies" "$(CORDON_STATE=$T/lies "$CORDON" ledger verify | tail -n 1)" "nothing that is sealed was changed, removed, reordered or added"

# ---- the first thing that a box does, where there is no ledger yet ----
: >"$T/seen"
got=
for i in 1 2 3 4 5 6 7 8 9 10; do
        got="$got$(CORDON_STATE=$T/fresh$i "$CORDON" run -q --net "http://127.0.0.1:8090/** POST" -- curl -s -m 20 -d x "http://127.0.0.1:8090/fresh$i" 2>&1 </dev/null 9>&-)"
done
is "a first request finds its ledger" "$got" "okokokokokokokokokok"

# ---- an ordinary user ----
as_user mkdir -m 700 "$T/state-user/home"
printf %s "$secret" | as_user env XDG_CONFIG_HOME="$T/state-user/home" "$CORDON" vault add gh --env GITHUB_TOKEN
keep=$XDG_CONFIG_HOME XDG_CONFIG_HOME=$T/state-user/home
box as_user --name mine --net "$POST" -- curl -sS -m 10 -d x http://127.0.0.1:8090/mine
XDG_CONFIG_HOME=$keep
is "an ordinary user: it goes" "$(cat "$T/out")" ok
is "an ordinary user: with its intent" "$(as_user "$CORDON" ledger --json --box mine --kind intent | jq -r .target)" "POST http://127.0.0.1:8090/mine"
ok "an ordinary user: and it is sealed" soon sh -c '"$@" log verify --json | jq -e ".ok and .sealed > 0"' - setpriv --reuid 65533 --regid 65533 --clear-groups env CORDON_STATE="$T/state-user" "$CORDON"

# ---- an apply ----
mkdir "$T/tree" && echo old >"$T/tree/file" && chmod 755 "$T/tree"
"$CORDON" run -q --no-stdin --edit "$T/tree" -- sh -c "echo new >$T/tree/file"
mv "$CORDON_STATE/ledger/segments" "$CORDON_STATE/ledger/hidden"
apply() { (cd "$T/tree" && exec "$CORDON" apply); }
said=$(apply 2>&1)
is "an apply whose intent cannot be written changes nothing" "$? $(cat "$T/tree/file")" "125 old"
has "says why" "$said" "the ledger is damaged"
has "and what to type" "$said" "--ledger off"
is "leaves nothing in the tree" "$(ls -A "$T/tree")" file
mv "$CORDON_STATE/ledger/hidden" "$CORDON_STATE/ledger/segments"
apply >/dev/null 2>&1
is "else it is applied" "$(cat "$T/tree/file")" new
is "after its intent" "$(log --json --kind file | jq -r 'select(.target | endswith("tree/file")) | .phase' | tail -n 2 | tr '\n' ' ')" "intent outcome "
# Killed anywhere, at first within twice the time that one took, then sooner after one that was done and later after one that
# was not, because a busy machine may have taken long for the one: a tree that changed has its intent.
"$CORDON" run -q --no-stdin --edit "$T/tree" -- sh -c "seq 30 | while read -r i; do echo first >$T/tree/f\$i; done"
began=$(date +%s%N)
apply >/dev/null 2>&1
span=$((($(date +%s%N) - began) / 500000))
od -An -v -N 25 -tu1 -w1 /dev/urandom >"$T/dice"
changed=0 round=0 bad=
while read -r delay; do
        round=$((round + 1))
        "$CORDON" run -q --no-stdin --edit "$T/tree" -- sh -c "seq 30 | while read -r i; do echo $round >$T/tree/f\$i; done"
        layer=$("$CORDON" diff --list --json | jq -r ".[0].run")
        "$CORDON" apply "$layer" >/dev/null 2>&1 &
        pid=$!
        ms=$((delay * span / 255))
        sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        if grep -q -x $round "$T/tree"/f* 2>/dev/null; then
                changed=$((changed + 1))
                [ "$(log --json --run "$layer" --kind intent | wc -l)" -ge 1 ] || bad="$bad $round"
                span=$((span * 3 / 4))
        else
                span=$((span * 3 / 2 + 1))
        fi
        "$CORDON" discard "$layer" >/dev/null 2>&1
done <"$T/dice"
is "applies killed at random: every tree that changed has its intent" "$bad" ""
is "and every intent its outcome, from the command that came next" "$(log --json --kind unknown | jq -r 'select(.kind == "file") | .id')" ""
ok "some were done, some were not ($changed of $round)" test "$changed" -gt 0 -a "$changed" -lt "$round"
is "--ledger off takes no other word" "$("$CORDON" apply --ledger maybe 2>&1 | head -n 1)" "cordon: error: --ledger takes on or off, not \`maybe\`"

# ---- kills: so long after a start, or after the first request of every second one, which may come later than any of these moments ----
# A server that takes its time: most kills meet a request that is under way.
python3 "$(dirname "$0")/helpers/seen_server.py" 127.0.0.1 8091 "$T/seen" 0.02 >"$T/slow" 2>&1 9>&- &
SLOW=$!
soon test -s "$T/slow"
asks() { grep -q "/k$round-" "$T/seen"; }
rounds=${CORDON_KILLS:-40}
od -An -v -N $((rounds * 3)) -tu1 -w3 /dev/urandom >"$T/dice"
: >"$T/seen"
mkdir "$T/kills"
round=0 hits=0
while read -r delay who more; do
        round=$((round + 1))
        "$CORDON" run -q --name "kill$round" --net "http://127.0.0.1:8091/** POST with gh" -- curl -s -m 5 -o /dev/null -d x "http://127.0.0.1:8091/k$round-[1-100]" >/dev/null 2>&1 </dev/null 9>&- &
        keeper=$!
        [ $((round % 2)) -eq 0 ] || soon asks
        sleep "0.$(printf %03d $((60 + delay * 440 / 255 + more % 7)))"
        case $((who % 4)) in
        0) target=$keeper ;;
        1) target=$(child_of $keeper cordon-egress | head -n 1) ;;
        2) target=$(writers write | head -n 1) ;;
        3) target=$(writers seal | head -n 1) ;;
        esac
        [ -z "$target" ] || { kill -9 "$target" 2>/dev/null && hits=$((hits + 1)); }
        [ $((who % 4)) -ne 3 ] || { sleep 0.1; kill -9 $keeper 2>/dev/null; }
        wait $keeper 2>/dev/null
done <"$T/dice"
written() { [ -z "$(writers write)" ]; }
soon written
sort -u "$T/seen" | sed 's|POST |POST http://127.0.0.1:8091|' >"$T/happened"
log --json --kind intent | jq -r .target | sort -u >"$T/intents"
ok "kills: $rounds rounds, of which $hits hit" test "$hits" -gt $((rounds / 5)) # the sealer is often not there
ok "servers saw requests in the meantime" test "$(wc -l <"$T/happened")" -gt "$rounds"
is "every request that a server saw has its intent" "$(comm -23 "$T/happened" "$T/intents")" ""
unknown=$(log --json --kind unknown | wc -l)
ok "an intent whose end nobody saw is unknown ($unknown of $(wc -l <"$T/intents"))" test "$unknown" -gt 0
has "verify counts them" "$("$CORDON" ledger verify)" "$unknown intent"
has "log says so" "$(log --kind unknown | tail -n 1)" "[outcome unknown]"
one=$(log --json --kind unknown | tail -n 1 | jq -r .id)
has "trace says so" "$("$CORDON" ledger trace "$one")" "[outcome unknown]"
has "show says so" "$(log show "${one%.*}")" "[outcome unknown]"
"$CORDON" ledger note --from operator "$one" "it had happened" >/dev/null
is "until somebody knows" "$(log --json --kind unknown | wc -l)" $((unknown - 1))
ok "the ledger verifies" "$CORDON" ledger verify
is "no writer stays" "$(writers write)" ""
kill $SERVER $SLOW
done_testing

#!/bin/sh
# The record is true: each way in which an effect that leaves may end, as bytes and as a request, under each face that runs
# it. One intent, one outcome, which says how it ended, with the bytes that crossed; whom it reached, and nobody else; and its
# causes. What is silenced is not recorded less.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib-net.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$T" || exit 1
[ -x "$CORDON_LIBEXEC/cordon-egress" ] || { skip "ways" "cordon-egress is not built here"; done_testing; }

# ---- the table: NAME DOOR COMMAND | end, bytes that left, bytes that came, reached ----
# end: done, cut, failed, refused (denied: no intent); bytes: 0 or some; reached: yes or no
cat >ways <<'W'
post-done       http://web.test:8000/**_POST curl -sS -m 20 -d hello http://web.test:8000/x      | done some some yes
post-closed     http://web.test:8001/**_POST curl -sS -m 20 -d hello http://web.test:8001/x      | failed 0 0 no
post-silent     http://dead.test:80/**_POST  curl -sS -m 1 -d hello http://dead.test/x           | cut 0 0 no
post-nowhere    http://none.test:80/**_POST  curl -sS -m 20 -d hello http://none.test/x          | failed 0 0 no
post-guarded    http://loop.test:80/**_POST  curl -sS -m 20 -d hello http://loop.test/x          | refused 0 0 no
post-reset      http://web.test:7002/**_POST curl -sS -m 20 -d hello http://web.test:7002/x      | failed some 0 yes
post-given-up   http://web.test:7003/**_POST curl -sS -m 1 -d hello http://web.test:7003/x       | cut some 0 yes
self-done       http://127.0.0.1:8080/**_GET curl -sS -m 20 http://127.0.0.1:8080/x               | done some some no
self-closed     http://127.0.0.1:8081/**_GET curl -sS -m 20 http://127.0.0.1:8081/x               | failed 0 0 no
self-partly     http://127.0.0.1:8080/**_GET curl -sS -m 20 http://127.0.0.1:8080/packed/gzip/early | failed some some no
post-partly     http://web.test:8000/**_POST curl -sS -m 20 -d hello http://web.test:8000/packed/gzip/early | failed some some yes
post-not-http   http://web.test:7004/**_POST curl -sS -m 20 -d hello http://web.test:7004/x      | failed some some yes
post-error      http://web.test:8000/**_POST curl -sS -m 20 -d hello http://web.test:8000/packed/gzip/error | done some some yes
get-done        http://web.test:8000/**_GET  curl -sS -m 20 http://web.test:8000/x               | done some some yes
get-closed      http://web.test:8001/**_GET  curl -sS -m 20 http://web.test:8001/x               | failed 0 0 no
get-partly      http://web.test:8000/**_GET  curl -sS -m 20 http://web.test:8000/packed/gzip/early | failed some some yes
bytes-done      web.test:7001                bytes web.test 7001 end                            | done some some yes
bytes-closed    web.test:7009                bytes web.test 7009 end                            | failed 0 0 no
bytes-silent    dead.test:80                 bytes dead.test 80 end                             | cut 0 0 no
bytes-reset     web.test:7002                bytes web.test 7002 end                            | cut some 0 yes
bytes-cut       web.test:7004                bytes web.test 7004 reset                          | cut some some yes
bytes-guarded   loop.test:80                 bytes loop.test 80 end                             | refused 0 0 no
W
cat >bytes.py <<'P'
import socket, struct, sys
host, port, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
try:
    s = socket.create_connection((host, port), timeout=1 if host == 'dead.test' else 20)
    s.sendall(b'hello')
    if how == 'reset':
        s.recv(1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    else:
        s.shutdown(socket.SHUT_WR)
        s.recv(100)
except OSError:
    pass
P
chmod 644 bytes.py
# told NAME: what the ledger has of the run NAME, as the table says it. What reaches nobody but ourselves has no intent.
told() {
        "$CORDON" ledger --json --box "$1" >"$T/records"
        jq -rs '
                map(select(.kind == "request" or .kind == "net")) as $r
                | ($r | map(select(.phase == "intent"))) as $intents
                | ($r | map(select(.phase == "outcome"))) as $outcomes
                | ($outcomes | length) as $n
                | if $n != 1 or (($intents | length) != 1 and $outcomes[0].reach != "self") then "intents \($intents | length) outcomes \($n)" else
                  $outcomes[0].more as $m | [$m.end // "done", (if $m.sent > 0 then "some" else "0" end), (if $m.received > 0 then "some" else "0" end)] | join(" ") end' "$T/records"
}
effects() { "$CORDON" ledger reach --json | jq -s 'map(.effects // 0) | add // 0'; }
# Sums of the result: a request that stayed has no bytes there, and none is there twice.
sums() { jq -r '[.net.destinations[]] | (map(.sent) | add) as $s | (map(.received) | add) as $r | (if $s > 0 then "some" else "0" end) + " " + (if $r > 0 then "some" else "0" end)' "$T/status"; }
"$CORDON" run -q -- true </dev/null 9>&-
while IFS='|' read -r left right; do
        # shellcheck disable=SC2086
        set -- $left
        name=$1 door=$(echo "$2" | tr _ ' ')
        shift 2
        [ "$1" != bytes ] || { shift; set -- python3 "$T/bytes.py" "$@"; }
        before=$(effects)
        "$CORDON" run -q --use base/python3 --read "$T/bytes.py" --status-fd 3 --name "$name" --net "$door" -- "$@" 3>"$T/status" >"$T/out" 2>"$T/err" </dev/null 9>&-
        got=$(told "$name")
        after=$(effects)
        # shellcheck disable=SC2086
        set -- $right
        is "$name" "$got $((after - before))" "$1 $2 $3 $(case $4 in yes) echo 1 ;; no) echo 0 ;; esac)"
        is "$name: the result has the same bytes" "$(sums)" "$2 $3"
        ids=$(jq -r 'select(.kind == "file" and .phase == "claim") | .id' "$T/records")
        is "$name: the file that was shown is a cause" "$(jq -rs --arg id "$ids" 'map(select((.kind == "request" or .kind == "net") and (.phase == "intent" or (.phase == "outcome" and .reach == "self")))) | map(.parents | index($id) != null) | all' "$T/records")" true
done <ways
ok "the ledger verifies" "$CORDON" ledger verify

# ---- a connection that was kept, and is gone when it has its next request: what is harmless goes again, once, as one effect ----
# NAME DOOR CURL-OPTIONS | what the server had | how the two ended
approver="python3 $here/helpers/approver.py"
while IFS='|' read -r left server ends; do
        # shellcheck disable=SC2086
        set -- $left
        name=$1 door=$(echo "$2" | tr _ ' ')
        shift 2
        before=$(effects)
        rm -f "$T/lab/lost.log"
        "$CORDON" run -q --time 60s --name "$name" --net "$door" -- curl -sS -m 20 "$@" http://web.test:7006/one http://web.test:7006/two >"$T/out" 2>"$T/err" </dev/null 9>&- &
        run=$!
        case $door in *ask) for _ in 1 2; do $approver --wait 1 --tty yes; done >"$T/said" 2>&1 ;; esac
        wait $run
        is "$name: what the server had" "$(tr '\n' ';' <"$T/lab/lost.log" 2>/dev/null)" "$(echo "$server" | sed 's/^ *//; s/ *$//')"
        "$CORDON" ledger --json --box "$name" --kind intent >"$T/intents"
        "$CORDON" ledger --json --box "$name" --kind outcome | jq -r 'select(.kind == "request") | .more.end // "done"' >"$T/outcomes"
        is "$name: one intent and one outcome each" "$(wc -l <"$T/intents") $(tr '\n' ' ' <"$T/outcomes")" "2 $(echo "$ends" | sed 's/^ *//') "
        is "$name: counted once" "$(($(effects) - before))" 2
done <<'W'
kept-get  http://web.test:7006/**_GET                    | GET /one;GET /two;GET /two;   | done done
kept-head http://web.test:7006/**_HEAD --head            | HEAD /one;HEAD /two;HEAD /two; | done done
kept-post http://web.test:7006/**_POST -d hello          | POST /one;POST /two;          | done failed
kept-ask  http://web.test:7006/**_GET_ask                | GET /one;GET /two;            | done failed
W

# ---- the causes of a request that left: files, a handle, standard input; before it, and not after it ----
echo in >h1 && for i in 1 2 3 4 5 6 7; do echo "$i" >"f$i"; done
set -- && for i in 1 2 3 4 5 6 7; do set -- "$@" --read "$T/f$i"; done
echo text | "$CORDON" run -q --name given "$@" --in doc --handle "doc=$T/h1" --net 'http://web.test:8000/** POST' -- sh -c 'curl -sS -m 20 -d x http://web.test:8000/one; cat >/dev/null; curl -sS -m 20 -d y http://web.test:8000/two' >/dev/null 9>&-
back() { "$CORDON" ledger trace "$("$CORDON" ledger --json --box "$1" --kind intent | jq -r --arg t "$2" 'select(.target | endswith($t)) | .id')" --back --json | jq -r '.[1:][].record | select(.kind != "exec") | (.door // .kind) + (if .door == "read" then " " + (.target | sub(".*/"; "")) else "" end)' | sort -u | tr '\n' ' '; }
is "files, a handle and standard input" "$(back given /two | sed 's/net [^ ]* POST //')" "handle in doc read f1 read f2 read f3 read f4 read f5 read f6 read f7 request start stdin "
echo text | "$CORDON" run -q --name pipe-a -- cat 9>&- | "$CORDON" run -q --name pipe-b --net 'http://web.test:8000/** POST' -- sh -c 'read x; curl -sS -m 20 -d "$x" http://web.test:8000/three' >/dev/null 9>&-
has "the run whose bytes it sends" "$("$CORDON" ledger trace "$("$CORDON" ledger --json --box pipe-b --kind intent | jq -r .id)" --back --json | jq -r '.[].record.box' | sort -u | tr '\n' ' ')" "pipe-a pipe-b"

# ---- a session: the run under way, and no other; its doors, and not the first of a stock policy ----
set -- && for i in 1 2 3 4 5 6 7; do set -- "$@" --read "$T/f$i"; done
if "$CORDON" session new "$@" --net 'http://web.test:8000/** POST' sess >/dev/null 2>"$T/err" 9>&-; then
        "$CORDON" session run -n sess -- true 9>&-
        "$CORDON" session run -n sess -- curl -sS -m 20 -d x http://web.test:8000/in >/dev/null 2>&1 9>&-
        "$CORDON" session run -n sess -- sh -c 'curl -sS -m 20 -d x http://web.test:8000/after; curl -sS -m 5 -d x http://web.test:81/not' >/dev/null 2>&1 9>&-
        "$CORDON" session end sess
        "$CORDON" ledger --json >"$T/records"
        made=$(jq -rs 'map(select(.phase == "intent" and (.target | endswith("/in"))))[0].id' "$T/records")
        "$CORDON" ledger trace "$made" --back --json | jq -r '.[].record | select(.kind == "start") | .kind + " " + .target' | sort >"$T/starts"
        is "a request of a session names the run that made it" "$(tr '\n' ' ' <"$T/starts")" "start curl start session "
        is "the doors of its runs are the caller's" "$(jq -rs '(map(select(.kind == "start" and .more["in-session"] == 1))[0].run) as $r | map(select(.run == $r and .kind == "file" and .phase == "claim") | .target | sub(".*/"; "")) | join(" ")' "$T/records")" "f1 f2 f3 f4 f5 f6 f7"
        denied=$(jq -rs 'map(select(.phase == "denied" and .kind == "net" and (.target | contains("web.test:81")))) | "\(length) \(map(select(.more["of-session"] == null)) | length)"' "$T/records")
        is "a refusal stands with the session and with its run, and is counted once" "$denied" "2 1"
else
        skip "a session" "$(cat "$T/err")"
fi

# ---- every face writes the same records: -q, --json, detached, parked ----
cat >job.sh <<'J'
cat >/dev/null
curl -sS -m 20 -d x http://web.test:8000/face
curl -sS -m 20 -d x http://web.test:8001/face
curl -sS -m 5 -d x http://web.test:82/face
cat /etc/shadow /root/.ssh/none
for i in 1 2 3 4 5 6 7 8 9; do cat "/none/$i"; done
echo said
J
doors="--read $T/job.sh --net http://web.test:8000/**_POST --net http://web.test:8001/**_POST"
records='select(.kind != "start" and .kind != "output" and .phase != "end") | [.kind, .phase, .target // "", .result // "", (.count // 1), .more.end // "", .more.reason // ""] | join("|")'
face() { # NAME OPTION...: as the records say it, without what differs from run to run
        name=$1
        shift
        # shellcheck disable=SC2086
        (IFS=' '; set -- "$@" --name "$name"; for d in --read "$T/job.sh" --net 'http://web.test:8000/** POST' --net 'http://web.test:8001/** POST'; do set -- "$@" "$d"; done; exec "$CORDON" run "$@" -- sh "$T/job.sh") >"$T/out" 2>"$T/err" </dev/null 9>&-
        soon ended "$name"
        "$CORDON" ledger --json --box "$name" | jq -r "$records" | sort
}
ended() { [ -n "$("$CORDON" ledger --json --box "$1" --kind end)" ]; }
face plain >plain.txt
ok "a run has many records" test "$(wc -l <plain.txt)" -gt 6
is "and of each kind" "$(cut -d '|' -f 1,2 plain.txt | sort -u | tr '\n' ' ')" "file|claim file|denied net|denied request|intent request|outcome "
for how in -q --json "-q --json" -d; do
        # shellcheck disable=SC2086
        face "as$(echo "$how" | tr -d ' ')" $how >other.txt
        is "$how: the same records" "$(diff plain.txt other.txt)" ""
done

# ---- a box that was parked, and a run over HTTP ----
who=root R=$T/resident
. "$here/helpers/serve.sh"
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; for p in $pids; do soon gone "$p"; done; exec 9>&-; wait $LAB 2>/dev/null; umount -l "$(readlink -f /etc/resolv.conf)" /etc/hosts /etc/nsswitch.conf 2>/dev/null; remove "$T"; exit $code' EXIT
export XDG_RUNTIME_DIR="$R"
mkdir -m 700 "$R"
configure
tenant acme
printf 'use base/system\nread %s\nnet http://web.test:8000/** POST\nnet http://web.test:8001/** POST\n' "$T/job.sh" >"$C/cordon/serve/tenants/acme/policies/face.cordon"
serve 9>&-
"$CORDON" serve pool add --size 1 --read "$T/job.sh" --net 'http://web.test:8000/** POST' --net 'http://web.test:8001/** POST' >"$T/pool" 2>&1 9>&-
is_ready() { [ "$("$CORDON" serve pool stats --json 2>/dev/null | jq .parked)" -ge 1 ]; }
if soon is_ready; then
        face asparked -q --pool require >other.txt
        is "a parked box: the same records" "$(diff plain.txt other.txt)" ""
else
        skip "a parked box" "none was parked here: $(cat "$T/pool")"
fi

# told_face NAME STATE: what face() tells, of another ledger
told_face() { CORDON_STATE=$2 "$CORDON" ledger --json --run "$1" | jq -r "$records" | sort; }
id=$(run "$(token acme)" "{\"argv\":[\"sh\",\"$T/job.sh\"],\"policy\":\"face\"}" | jq -r .run)
is "over HTTP: the same records" "$(told_face "$id" "$C/cordon/serve/tenants/acme/state" | diff plain.txt -)" ""
done_testing

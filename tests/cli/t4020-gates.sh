#!/bin/sh
# Doors with `ask`: a request waits until a person approves exactly it. The approver is helpers/approver.py, a second client of
# docs/approve-protocol.md; a person is a process with a terminal of its own.
. "$(dirname "$0")/lib-net.sh"
here=$(cd "$(dirname "$0")" && pwd)
approver="python3 $here/helpers/approver.py"
door='http://web.test/**'

# One request in the background, to be answered.
begin() { # DOOR COMMAND...
        gate=$1
        shift
        : >"$T/status"
        # shellcheck disable=SC2086
        (timeout 60 "$CORDON" run --time 40s --status-fd 5 --net "$gate" ${also:-} -- "$@" 5>"$T/status" >"$T/out" 2>"$T/err" </dev/null 9>&-; echo $? >"$T/code") &
        WAITS=$!
}
end() { wait "$WAITS"; code=$(cat "$T/code"); }
reason() { jq -r '[.denials[].reason] | map(select(startswith("gate"))) | unique | join(" ")' <"$T/status"; }
states() { "$CORDON" ledger --kind gate 2>/dev/null | grep "$(jq -r .run <"$T/status")" | sed 's/.*: //' | tr '\n' ' '; }

# ---- yes ----
begin "$door POST ask" curl -sS -d amount=5 http://web.test/echo?x=1
$approver --wait 1 view >"$T/shown"
is "what waits is shown with its body" "$(jq -r .text "$T/shown" | grep -c 'amount=5')" 1
is "the id is the digest of the envelope" "$(jq -cj .envelope "$T/shown" | sha256sum | cut -d ' ' -f 1)" "$(jq -r .item.id "$T/shown")"
hasnt "nothing has left" "$(lab_packets)" "tcp "
is "without a terminal no yes is taken" "$($approver yes | jq -r .code)" no-terminal
has "the run says at once that it waits, and how to answer" "$(cat "$T/err")" "waiting for approval (10m): POST http://web.test/echo?x=1; in another terminal: cordon approve $(jq -r .item.id "$T/shown" | cut -c 1-12)"
is "a list needs none" "$("$CORDON" approve --json | jq -r '.items[].effect' | grep -F web.test/echo | head -n 1)" "POST http://web.test/echo?x=1"
is "at a terminal it is" "$($approver --tty yes | jq -r .state)" approved
end
is "it goes on" "$code" 0
is "each state is recorded" "$(states)" "pending approved consumed "
is "and it was said once" "$(grep -c 'waiting for approval' "$T/err")" 1

# ---- no, expiry, withdrawal ----
lab_anew
begin "$door POST ask" curl -sS -o /dev/null -w '%{http_code}' -d a=1 http://web.test/echo
$approver --wait 1 no >"$T/no"
end
is "a no is an answer of the broker" "$(cat "$T/out")" 403
is "and the reason" "$(reason)" gate-denied
is "recorded" "$(states)" "pending denied "

also=-q
begin "$door POST ask within 1s" curl -sS -o /dev/null -d a=1 http://web.test/echo
end
hasnt "with -q the run does not say that it waits" "$(cat "$T/err")" "waits for"
also=
begin "$door POST ask within 1s" curl -sS -o /dev/null -w '%{http_code}' -d a=1 http://web.test/echo
end
is "nobody there: expired, hence denied" "$(cat "$T/out") $(reason)" "403 gate-expired"
has "the end says how to answer" "$(cat "$T/err")" "cordon approve"
is "expired is recorded" "$(states)" "pending expired "
is "after all of its time" "$("$CORDON" ledger --kind gate --json | jq -s '.[-2:] | (.[1].mono - .[0].mono) >= 1000000')" true

begin "$door POST ask" curl -sS -m 1 -d a=1 http://web.test/echo
end
is "given up by the box: withdrawn" "$(states)" "pending withdrawn "
hasnt "and nothing of all that left" "$(lab_packets)" "tcp "

# ---- once ----
begin "$door POST ask within 20s" sh -c 'curl -sS -o /dev/null -w "%{http_code} " -d a=1 http://web.test/echo; curl -sS -m 2 -o /dev/null -w "%{http_code}" -d a=1 http://web.test/echo'
$approver --wait 1 --tty yes >/dev/null
end
is "a yes is for one request, also if the next is the same" "$(cat "$T/out")" "200 000"

# ---- several ----
begin "$door POST ask vary body" sh -c 'for i in 1 2 3 4 5; do curl -sS -o /dev/null -w "%{http_code} " -d "a=$i" http://web.test/echo; done; curl -sS -m 2 -o /dev/null -w "%{http_code}" -d a=1 http://web.test/other'
$approver --wait 1 --tty yes uses=5 >/dev/null
end
is "five uses of a template take one decision, and another path is another effect" "$(cat "$T/out")" "200 200 200 200 200 000"

mkdir "$T/sync"
also="--read $T/sync"
begin "$door POST ask within 20s" sh -c "curl -sS -o /dev/null -w '%{http_code} ' -d a=1 http://web.test/echo; until [ -e $T/sync/go ]; do sleep 0.1; done; curl -sS -o /dev/null -w '%{http_code}' -d a=1 http://web.test/echo"
also=
is "a like effect was approved before: it is not new" "$($approver --wait 1 view | jq -r .new)" false
$approver --tty yes uses=5 >/dev/null
is "approvals for like effects are taken back" "$("$CORDON" approve revoke)" "revoked 1"
: >"$T/sync/go"
$approver --wait 1 no >/dev/null
end
is "and the next one asks" "$(cat "$T/out")" "200 403"
is "a reversal is counted" "$("$CORDON" approve stats --json | jq '.persons[0].reversals > 0')" true

begin "$door POST ask first" sh -c 'for i in 1 2 3; do curl -sS -o /dev/null -w "%{http_code} " -d "a=$i" "http://web.test/echo?$i"; done'
$approver --wait 1 --tty yes >/dev/null
end
is "ask first: one approval opens the door for the run" "$(cat "$T/out")" "200 200 200 "

# ---- bytes ----
begin "$door POST ask" sh -c 'head -c 70000 /dev/zero | tr "\0" a | curl -sS -o /dev/null -w "%{http_code}" --data-binary @- http://web.test/echo'
end
is "a body that cannot be shown whole is denied" "$(cat "$T/out") $(reason)" "403 gate-too-long"

begin "$door POST ask" curl -sS -o /dev/null --data-binary "$(printf 'a\033[2Jb\342\200\256c')" http://web.test/echo
text=$($approver --wait 1 view | jq -r .text)
$approver no >/dev/null
end
has "control and reordering characters are shown as text" "$text" 'a\x1b[2Jb\u{202e}c'

# ---- connections ----
begin 'web.test:80 ask' curl -sS -o /dev/null -w '%{http_code}' http://web.test/
is "a connection asks as well" "$($approver --wait 1 view | jq -r .envelope.kind)" connection
$approver --tty yes >/dev/null
end
is "and goes on" "$(cat "$T/out")" 200

# ---- mutations and replays over the socket ----
begin "$door POST ask" curl -sS -o /dev/null -w '%{http_code}' -d a=1 http://web.test/echo
id=$($approver --wait 1 list | jq -r '.items[0].id')
n=0
for other in "$(echo "$id" | tr 0-9a-f 1-9a-f0)" "$(echo "$id" | tr a-f A-F)" "${id}0" " $id" "" 0 "$(printf '%064d' 0)" null '{}' "$id "; do
        for how in yes=true yes=false yes=1 'yes="true"' uses=0 uses=101 for_s=0 for_s=3601 for_s=-1 challenge=x; do
                case $how in yes*) more=$how ;; *) more="yes=true $how" ;; esac
                n=$((n + 1))
                echo "answer id=\"$other\" $more" >>"$T/tries"
        done
done
$approver --tty flood "file=$T/tries" >"$T/flood"
is "100 kinds of other answers" "$n" 100
is "are all refused" "$(jq -r .ok "$T/flood" | sort | uniq -c | awk '{print $2}' | tr '\n' ' ')" "false "
is "and it still waits" "$($approver list | jq '.items | length')" 1
$approver --tty yes >/dev/null
is "answered, it is not answered again" "$($approver --tty answer "id=\"$id\"" yes=true | jq -r .code)" ""
end
is "it left once" "$(cat "$T/out")" 200

# ---- killed ----
lab_anew
begin "$door POST ask" curl -sS -o /dev/null -m 20 -w '%{http_code}' -d a=1 http://web.test/kill
$approver --wait 1 list >"$T/list"
run=$(jq -r '.items[0].run' <"$T/list")
kill -9 "$(pgrep -n -x cordon-egress)"
end
is "the broker killed while it waits: nothing left" "$(cat "$T/out")" 000
has "recorded" "$("$CORDON" ledger --kind gate | grep "$run")" withdrawn

begin "$door POST ask" curl -sS -o /dev/null -m 20 -d a=1 http://web.test/kill
$approver --wait 1 list >"$T/list"
keeper=$("$CORDON" ps --json | jq -r '.[0].keeper')
kill -9 "$keeper"
wait "$WAITS"
soon sh -c '! grep -q @cordon-gate/ /proc/net/unix'
is "the keeper killed: no socket is left" "$(grep -c @cordon-gate/ /proc/net/unix)" 0
has "and the record shows that it was never approved" "$("$CORDON" ledger --kind gate | tail -n 1)" ": pending"
hasnt "neither has left" "$(lab_packets)" "tcp "

# ---- figures ----
has "a kind that the ledger lacks names the one that is meant" "$("$CORDON" ledger --kind approval 2>&1)" 'approvals are of the kind `gate`'
has "stats say it in words" "$("$CORDON" approve stats)" "answered faster than one can read"
is "stats count them" "$("$CORDON" approve stats --json | jq '.persons[0].decisions > 5')" true
is "and what nobody answered" "$("$CORDON" approve stats --json | jq --arg d "net $door POST ask within 1s" -c '.gates[] | select(.door == $d) | [.asked, .approved, .unanswered]')" "[2,0,2]"
has "in words too" "$("$CORDON" approve stats)" "POST ask within 1s: asked 2 times, approved 0, unanswered 2, never denied"
for verb in list stats revoke; do
        is "a relative CORDON_STATE: approve $verb" "$(CORDON_STATE=rel status "$CORDON" approve $verb)" 125
        has "and why" "$(cat "$T/err")" "not an absolute path"
done
id=$("$CORDON" ledger --kind gate --json 2>/dev/null | grep '"approved"' | head -n 1 | jq -r .digest | sed s/sha256://)
ok "an incident is recorded" "$CORDON" approve incident "$id" "the wrong account"
is "and counts" "$("$CORDON" approve stats --json | jq '.persons[0].incidents > 0')" true
ok "the ledger still verifies" "$CORDON" ledger verify
done_testing

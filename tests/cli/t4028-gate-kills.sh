#!/bin/sh
# Broker, keeper and approver killed at each step of an approval: the effect happens at most once, and never without a yes.
# A stopped broker holds the moment between the yes and its use; a server that does not answer holds the use.
. "$(dirname "$0")/lib-net.sh"
here=$(cd "$(dirname "$0")" && pwd)
approver="python3 $here/helpers/approver.py"
python3 "$here/helpers/seen_server.py" 127.0.0.1 8091 "$T/seen" 300 >"$T/ready" 9>&- &
SERVER=$!
trap 'code=$?; kill -9 "$SERVER" 2>/dev/null; remove "$T"; exit $code' EXIT
seen() { grep -c . "$T/seen" 2>/dev/null || true; }

begin() { # one request in the background; it waits for its approval
        : >"$T/seen" && : >"$T/out"
        (timeout 120 "$CORDON" run --time 100s --net 'http://127.0.0.1:8091/pay POST ask' -- curl -sS -o /dev/null -w '%{http_code}' -d a=1 http://127.0.0.1:8091/pay >"$T/out" 2>"$T/err" </dev/null 9>&-) &
        WAITS=$!
        $approver --wait 1 list >"$T/list"
        run=$(jq -r '.items[0].run' <"$T/list")
        keeper=$("$CORDON" ps --json | jq -r --arg run "$run" '.[] | select(.run == $run) | .keeper')
        broker=$(pgrep -P "$keeper" -x cordon-egress | tr '\n' ' ')
}
states() { "$CORDON" ledger --kind gate 2>/dev/null | grep "$run" | sed 's/.*: //' | tr '\n' ' '; }
gone() { for p in $broker $keeper; do [ ! -e "/proc/$p/exe" ] || return 1; done; }
# The victim is ended; then what is left of the run ends by itself.
end_of() { # VICTIM
        # shellcheck disable=SC2086
        case $1 in broker) kill -9 $broker ;; keeper) kill -9 "$keeper" && kill -CONT $broker 2>/dev/null ;; esac
        wait "$WAITS"
        soon gone
}

ok "the server is there" soon grep -q ready "$T/ready"
for victim in broker keeper; do
        begin
        ok "there is a keeper and a broker" test -n "$keeper" -a -n "$broker"
        end_of $victim
        is "$victim killed while it waits: nothing left" "$(seen)" 0
        hasnt "$victim killed while it waits: never approved" "$(states)" approved

        begin
        # shellcheck disable=SC2086
        kill -STOP $broker
        is "a yes" "$($approver --tty yes | jq -r .state)" approved
        has "is recorded before it is used" "$(states)" "pending approved"
        is "and nothing has left" "$(seen)" 0
        end_of $victim
        ok "$victim killed between yes and use: once at most" test "$(seen)" -le $([ $victim = keeper ] && echo 1 || echo 0)
        hasnt "$victim killed between yes and use: nobody records a use" "$(states)" consumed

        begin
        $approver --tty yes >/dev/null
        soon grep -q POST "$T/seen"
        end_of $victim
        is "$victim killed in the use: once" "$(seen)" 1
        has "$victim killed in the use: it was approved" "$(states)" "pending approved"
        is "$victim killed in the use: nobody can answer any more" "$($approver --run "$run" list)" ""
done

begin
$approver hold >"$T/shown" 2>/dev/null &
holder=$!
soon grep -q envelope "$T/shown"
kill -9 "$holder"
is "an approver killed after it was shown the effect has not answered" "$($approver list | jq -r '.items[0].state') $(seen)" "pending 0"
# shellcheck disable=SC2086
kill -STOP $broker
is "another one may" "$($approver --tty yes | jq -r .state)" approved
is "the same answer again finds nothing" "$($approver --tty yes | jq -r .code) $(seen)" "nothing 0"
# shellcheck disable=SC2086
kill -CONT $broker
ok "approved, and the approver gone: it leaves" soon grep -q POST "$T/seen"
end_of broker
is "once" "$(seen)" 1

begin
is "the same request of a later run asks anew" "$(seen) $(jq '.items | length' "$T/list")" "0 1"
$approver no >/dev/null
wait "$WAITS"
is "and its no is a no" "$(cat "$T/out") $(seen)" "403 0"
ok "the ledger still verifies" "$CORDON" ledger verify
done_testing

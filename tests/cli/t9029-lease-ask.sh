#!/bin/sh
# `limit time T renew N ask`: a renewal waits until a person approves it; denied, or with nobody there, the lease ends as it would have.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
approver="python3 $here/helpers/approver.py"
before=$(orphans)
B=a$$
run() { timeout -k 5 60 "$CORDON" "$@"; }
there() { run ps "$B"; }
begin() { # BOX OPTION...
        run session renew "$@" >"$T/out" 2>"$T/err" </dev/null &
        WAITS=$!
}
end() { wait "$WAITS"; code=$?; }
answer() { $approver --run "$id" --wait 1 "$@"; }
renewed() { run ps --json "$B" | jq -r .renewed; }
states() { run log --run "$id" --kind gate --json | jq -r .result | paste -s -d ' '; }

run run -d --name "$B" --limit 'time 60s renew 3 ask' -- sleep 1000 >/dev/null
ok "it runs" soon there
id=$(run ps --json "$B" | jq -r .run)

# ---- yes ----
begin "$B"
answer view >"$T/shown"
text=$(jq -r .text "$T/shown")
has "a person sees the box, what is asked, what is used" "$text" "renew the time of the box $B: 1m more (renewal 1 of 3); used "
has "and the command" "$text" "run $id, which runs sleep 1000"
is "bound to its exact description" "$(jq -cj .envelope "$T/shown" | sha256sum | cut -d ' ' -f 1)" "$(jq -r .item.id "$T/shown")"
is "its kind, what, how much, and line" "$(jq -r '[.envelope.kind, .envelope.method, .envelope.place, .envelope.path, .item.door] | join(" ")' "$T/shown")" "limit renew time 1m limit renew 3 ask"
is "without a terminal no yes is taken" "$(answer yes | jq -r .code)" no-terminal
is "nothing is renewed meanwhile" "$(renewed)" 0
is "ps names what waits" "$(run ps --json "$B" | jq -r .renewal_held)" "$(jq -r .item.id "$T/shown")"
is "another id is refused" "$(answer yes id="$(printf %064d 0)" | jq -r .ok)" false
is "at a terminal it is approved" "$($approver --tty --run "$id" yes | jq -r .state)" approved
end
is "then it is renewed" "$code $(renewed)" "0 1"
has "and the command says so" "$(cat "$T/out")" "2 renewals after this"
has "which said how to answer" "$(cat "$T/err")" "$B: the renewal is waiting for approval; in another terminal: cordon approve $(jq -r .item.id "$T/shown" | cut -c 1-12)"
is "each state is recorded" "$(states)" "pending approved consumed"
is "and the renewal" "$(run log --run "$id" --kind limit --json | jq -r .result)" renewed

# ---- no ----
begin --json "$B"
is "a no" "$(answer no | jq -r .state)" denied
end
is "renews nothing" "$code $(renewed)" "125 1"
has "and says so" "$(cat "$T/err")" "$B: not renewed: denied by a person"

# ---- several approvals ----
begin "$B"
is "one for two" "$($approver --tty --run "$id" --wait 1 yes uses=2 | jq -r .state)" approved
end
is "the next one does not wait" "$(run session renew --json "$B" </dev/null | jq -c '[.renewed, .renewals]')" "[3,3]"
has "spent is spent" "$(run session renew "$B" 2>&1)" "its 3 renewals of time are spent"

# ---- the end comes first ----
run stop -k "$B"
run run -d --name "$B" --limit 'time 60s renew 1 ask' -- sleep 1000 >/dev/null
soon there
id=$(run ps --json "$B" | jq -r .run)
begin "$B"
answer view >/dev/null
run stop -k "$B"
end
is "a box that ends is not renewed" "$code" 125
has "with the reason" "$(cat "$T/err")" "it ended before anybody approved it"
is "nobody there: the lease ends the box" "$(status run run --json --time 2s --renew '1 ask' -- sh -c 'sleep 1000') $(tail -n 1 "$T/err" | jq -c '[.limit, .renewed, .renewals]')" '124 ["time",0,1]'

# ---- a command of a session, and the session ----
run session new "$B" --limit 'time 60s renew 1 ask' >/dev/null
session=$(run ps --json "$B" | jq -r .run)
run session run "$B" -n -- sleep 1000 2>/dev/null &
job=$!
inner() { run ps --json | jq -r --arg s "$session" '.[] | select(.in_session == $s) | .run'; }
started() { [ -n "$(inner)" ]; }
ok "a command of a session runs" soon started
for id in "$(inner)" "$session"; do
        begin "$id"
        is "a session asks too" "$($approver --tty --run "$id" --wait 1 yes | jq -r .state)" approved
        end
        is "and is renewed" "$code $(run ps --json "$id" | jq -r .renewed)" "0 1"
done
run session end "$B"
wait $job

# ---- on a terminal ----
said=$(terminal timeout -k 5 60 "$CORDON" session new "$B" --life 2h)
has "a person reads when a new session ends" "$said" "ends after 2h, or after an hour without a command"
has "and how it is used" "$said" "cordon session run $B -- COMMAND; when done: cordon session end $B"
run session end "$B"

# ---- policies ----
printf 'limit time 10m renew 3 ask\n' >"$T/a"
printf 'limit time 10m renew 3\n' >"$T/b"
is "it is shown" "$(run policy show "$T/a" | grep '^limit renew')" "limit renew 3 ask"
has "and told" "$(run doors -p "$T/a")" "for each renewal \`cordon session renew\` waits for \`cordon approve\`"
run policy show --json "$T/a" >"$T/a.json"
is "JSON says the same" "$(jq -r .limit.renew "$T/a.json") $(run policy show "$T/a.json" | grep '^limit renew')" "3 ask limit renew 3 ask"
has "without it is wider" "$(run policy diff "$T/a" "$T/b")" "+ limit renew without ask: wider"
has "with it is narrower" "$(run policy diff "$T/b" "$T/a")" "- limit renew with ask: narrower"
is "no other source takes it away" "$(run doors -p "$T/a" -p "$T/b" --renew 2 | grep -o 'renew 2 ask')" "renew 2 ask"
printf 'limit time 10m ask\n' >"$T/c"
has "it stands behind renew" "$(run check "$T/c" 2>&1)" "limit time 10m renew 3 ask"
for words in 'within 5m' 'by 2 of ops'; do
        printf 'limit time 10m renew 3 ask %s\n' "$words" >"$T/c"
        has "words that doors take behind ask are explained: $words" "$(run check "$T/c" 2>&1)" "takes no \`${words%% *}\`"
done
ok "nothing is left" none_left
done_testing

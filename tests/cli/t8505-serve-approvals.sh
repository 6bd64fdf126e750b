#!/bin/sh
# Approvals over `cordon serve --http`: what a run or an apply asks is shown exactly and inert, and answered by another person than the one
# who asked for it; nothing in a box reaches the interface.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "approvals over HTTP" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a b
person() { cordon serve token new --tenant "$1" --scopes "$2" --as "$3" ${4:+--groups "$4"} 2>/dev/null; }
runner=$(token a run,read,apply,files,approve) boss=$(person a approve,read boss-1) stranger=$(token b run,read,approve)
again=$(person a run,approve pat) same=$(person a approve pat) own=$(person a run,read,approve,approve-own solo)
one=$(person a approve one-x leads) two=$(person a approve two-x leads,ops) other=$(person a approve three-x ops) reader=$(token a read)
P=$C/cordon/serve/tenants/a/policies
policy() { $who sh -c 'cat >"$1"' sh "$P/$1.cordon"; }
printf 'use base/system\nread {work}\nrun echo ask\n' | policy start
printf 'use base/system\nread {work}\nrun echo ask within 1s\n' | policy short
printf 'use base/system\nread {work}\nrun echo ask by 2 of leads\n' | policy group
printf 'use base/system\nedit {work} ask\n' | policy edit
serve --http 127.0.0.1:0
port=$(sed -n 's,.*HTTP at http://.*:\([0-9]*\)/$,\1,p' "$T/said")
has "a person is a name" "$(cordon serve token new --tenant a --as 'x y' 2>&1)" "letters, digits"
has "tokens are listed with their persons" "$(cordon serve token ls)" "two-x of leads,ops"

# ask TOKEN POLICY [ARGUMENT]...: a run that goes on; $job is its name, $id what it asks
ask() {
        a_token=$1 a_policy=$2
        shift 2
        job=$(run "$a_token" "$(jq -n -c --arg p "$a_policy" '{argv:$ARGS.positional, policy:$p, wait:false}' --args -- "$@")" | jq -r .id)
        soon waits
}
waits() { id=$(http GET /v1/approvals "$boss" | jq -r --arg j "$job" '.approvals[] | select(.job == $j) | .id') && [ -n "$id" ]; }
show() { http GET "/v1/approvals/$id" "$1"; }
# answer TOKEN yes|no [MEMBERS]: prints the status and the state, or the code
answer() {
        http POST "/v1/approvals/$id" "$1" -H 'Content-Type: application/json' -d "{\"answer\":\"$2\",\"digest\":\"${digest:-$id}\"${3:+,$3}}" >"$T/body"
        echo "$(answered) $(jq -r '.state // (.type | ltrimstr("urn:cordon:error:"))' <"$T/body")"
}
door() { jq -r ".approvals[0].door" <"$T/list"; }
state() { http GET "/v1/runs/$job" "$runner" | jq -r '.end // .state'; }
is_over() { [ "$(http GET "/v1/runs/$job" "$runner" | jq -r .state)" = ended ]; }

# shown
evil=$(printf '\033[2J\342\200\256<script>x</script>')
ask "$runner" start echo "$evil"
http GET /v1/approvals "$runner" >"$T/list"
is "what waits is listed" "$(jq -r '.approvals[0] | [.state, .risk, .need, .door] | join(" ")' <"$T/list")" "pending normal 1 $(door)"
is "to its tenant" "$(http GET /v1/approvals "$stranger" | jq -c .approvals)" "[]"
http GET "/v1/approvals/$id" "$stranger" >/dev/null
is "and shown to no other" "$(answered)" 404
http GET "/v1/approvals/$id" "$reader" >/dev/null
is "nor without the scope" "$(answered)" 403
is "a yes comes after a look" "$(answer "$boss" yes)" "409 not-shown"
show "$boss" >"$T/shown"
has "the effect is inert" "$(jq -r .text <"$T/shown")" 'start echo \x1b[2J\u{202e}<script>'
is "the id is the digest of the envelope" "$(jq -cj .envelope <"$T/shown" | sha256sum | cut -d ' ' -f 1) $(jq -r .digest <"$T/shown")" "$id $id"
is "and names the tenant" "$(jq -r .envelope.tenant <"$T/shown")" a
is "it says why it asks" "$(jq -r '.why | [.door, .policy, .argv[0]] | join(",")' <"$T/shown")" "$(door),start,echo"
is "and what may be chosen" "$(jq -c .scopes <"$T/shown")" '{"uses_max":100,"for_s_max":3600}'

# who
show "$runner" >/dev/null
is "the token that asked does not approve" "$(answer "$runner" yes)" "403 not-approver"
is "nor does another tenant's" "$(answer "$stranger" yes)" "404 not-pending"
is "nor one without the scope" "$(answer "$reader" yes)" "403 scope"
is "nor without a digest" "$(digest=none answer "$boss" yes)" "409 other-effect"
is "of this effect" "$(digest=$(echo x | sha256sum | cut -c 1-64) answer "$boss" yes)" "409 other-effect"
is "a misspelled member is refused" "$(answer "$boss" yes '"use":3')" "422 usage"
is "a scope has bounds" "$(answer "$boss" yes '"uses":101') $(answer "$boss" yes '"for_s":3601')" "422 scope 422 scope"
is "nothing has started" "$(state)" running
is "another person approves" "$(answer "$boss" yes '"reason":"it prints"')" "200 approved"
ok "then it runs" soon is_over
has "exactly that" "$(http GET "/v1/runs/$job" "$runner" | jq -r .stdout)" '<script>x</script>'
is "once" "$(answer "$boss" yes)" "404 not-pending"
http GET "/v1/ledger?last=50&kind=gate" "$runner" | jq -c '[.records[] | select(.result == "approved")][-1]' >"$T/record"
is "the record names the person and the reason" "$(jq -r '[.. | .by? // empty] + [.. | .reason? // empty] | join(" ")' <"$T/record")" "boss-1 it prints"
ask "$again" start echo
show "$same" >/dev/null
is "two tokens of one person are one" "$(answer "$same" yes)" "403 not-approver"
is "a no is taken from another one" "$(answer "$boss" no)" "200 denied"
ok "and ends it" soon is_over
is "before the start" "$(state)" failed
ask "$own" start echo
show "$own" >/dev/null
is "a token that was made so approves its own" "$(answer "$own" yes)" "200 approved"
ok "and it runs" soon is_over

# two of a group
ask "$runner" group echo
for t in "$boss" "$other" "$one" "$two" "$own"; do show "$t" >/dev/null; done
is "only members of the group count" "$(answer "$boss" yes) $(answer "$other" yes) $(answer "$own" yes)" "403 not-approver 403 not-approver 403 not-approver"
is "the first" "$(answer "$one" yes)" "200 pending"
is "counts once" "$(answer "$one" yes)" "409 voted"
is "the second decides" "$(answer "$two" yes)" "200 approved"
ok "then it runs" soon is_over

# an apply
change=$(run "$runner" '{"argv":["sh","-c","echo x >new"],"policy":"edit"}' | jq -r .changes)
mkdir "$T/aside" # a request beside the others has a status of its own
(T=$T/aside; http POST "/v1/changes/$change/apply" "$runner" >"$T/applied") &
waits_apply() { id=$(http GET /v1/approvals "$boss" | jq -r '.approvals[0].id // ""') && [ -n "$id" ]; }
ok "an apply of \`edit DIR ask\` waits" soon waits_apply
has "with the diff" "$(show "$boss" | jq -r .text)" "+x"
show "$runner" >/dev/null
is "for another person" "$(answer "$runner" yes)" "403 not-approver"
is "nothing is applied meanwhile" "$(http GET /v1/files "$runner" | jq -c .entries)" "[]"
is "which approves it" "$(answer "$boss" yes)" "200 approved"
wait $!
is "then it is applied" "$(http GET /v1/files/new "$runner")" x
http POST "/v1/changes/$change/undo" "$runner" >/dev/null
(T=$T/aside; http POST "/v1/changes/$change/apply" "$runner" >"$T/applied") &
soon waits_apply
is "a no" "$(answer "$boss" no)" "200 denied"
wait $!
is "is an answer" "$(jq -r '.status, .type' <"$T/aside/applied" | xargs)" "403 urn:cordon:error:approval"

# a session
http POST /v1/sessions "$runner" -H 'Content-Type: application/json' -d '{"policy":"start"}' >"$T/body"
session=$(jq -r .id <"$T/body")
waits_session() { id=$(http GET /v1/approvals "$boss" | jq -r --arg s "$session" '.approvals[] | select(.session == $s) | .id') && [ -n "$id" ]; }
ok "a session asks as well" soon waits_session
show "$runner" >/dev/null
show "$boss" >/dev/null
is "not the person who began it" "$(answer "$runner" yes)" "403 not-approver"
is "but another" "$(answer "$boss" yes)" "200 approved"
is_up() { [ "$(http GET "/v1/sessions/$session" "$runner" | jq -r .state)" = up ]; }
ok "then it is up" soon is_up
http DELETE "/v1/sessions/$session" "$runner" >/dev/null

# time, events, withdrawal
(T=$T/aside; http GET /v1/approvals/events "$boss" -N >"$T/../events" 2>/dev/null; true) &
stream=$!
ask "$runner" start echo
told() { grep -q "$id" "$T/events"; }
ok "a stream has what is new" soon told
is "as an event" "$(sed -n 's/^event: //p' "$T/events" | head -n 1)" pending
http DELETE "/v1/runs/$job" "$runner" >/dev/null
gone_told() { grep -A 1 '^event: gone' "$T/events" | grep -q "$id"; }
ok "and what is withdrawn" soon gone_told
job=$(run "$runner" '{"argv":["echo"],"policy":"short","wait":false}' | jq -r .id)
ok "what nobody answers" soon is_over
is "is denied" "$(state)" failed
http DELETE "/v1/approvals/$id" "$boss" >/dev/null
is "there is nothing to take back" "$(answered)" 404

# from inside
printf 'use base/system\nread {work}\n' | policy inside
out=$(run "$runner" "$(jq -n -c --arg s "$S" --arg p "$port" '{argv:["sh","-c","curl -s -m 5 --unix-socket \($s) http://localhost/v1/approvals; echo $?; curl -s -m 5 http://127.0.0.1:\($p)/v1/health; echo $?; ls \($s); env | grep -c cordon_; cat /proc/net/unix | grep -c cordon-"],policy:"inside"}')" | jq -r .stdout | xargs)
is "nothing in a box reaches the interface, its token or the sockets of approvers" "$out" "7 7 0 0"
kill "$serve"
ok "it ends, streams or not" soon gone "$serve"
wait "$stream"
done_testing

#!/bin/sh
# Approvals over HTTP that stay: for a number of uses, for a time, taken back; and a high risk, for which the last digits of the id are typed.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib-net.sh"
here=$(cd "$(dirname "$0")" && pwd)
who=root
. "$here/helpers/serve.sh"
configure
tenant a
runner=$(token a run,read,apply) boss=$(cordon serve token new --tenant a --scopes approve,read --as boss 2>/dev/null)
P=$C/cordon/serve/tenants/a/policies
printf 'use base/system\nread {work}\nnet http://web.test/** POST ask\n' >"$P/post.cordon"
printf 'use base/system\nedit {work} ask\n' >"$P/edit.cordon"
serve
post='for i in "$@"; do curl -sS -o /dev/null -w "%{http_code} " -m 30 -d a=1 "http://web.test/$i"; done'
begin() { job=$(run "$runner" "$(jq -n -c --arg c "$post" '{argv:(["sh","-c",$c,"sh"] + $ARGS.positional), policy:"post", wait:false}' --args -- "$@")" | jq -r .id); }
waits() { id=$(http GET /v1/approvals "$boss" | jq -r --arg j "$job" '.approvals[] | select(.job == $j) | .id') && [ -n "$id" ] && [ "$id" != "${was:-}" ]; }
look() { http GET "/v1/approvals/$id" "$boss" >"$T/shown"; }
answer() {
        http POST "/v1/approvals/$id" "$boss" -H 'Content-Type: application/json' -d "{\"answer\":\"$1\",\"digest\":\"$id\"${2:+,$2}}" >"$T/body"
        echo "$(answered) $(jq -r '.state // (.type | ltrimstr("urn:cordon:error:"))' <"$T/body")"
}
over() { http GET "/v1/runs/$job" "$runner" >"$T/run" && [ "$(jq -r .state "$T/run")" = ended ]; }
grants() { http GET /v1/approvals "$boss" | jq -c '[.grants[] | [.uses // null, (.left_s != null)]]'; }

# uses
begin echo echo echo
soon waits
look
is "three uses are approved at once" "$(answer yes '"uses":3')" "200 approved"
ok "the run ends without a further question" soon over
is "and each was let through" "$(jq -r .stdout "$T/run")" "200 200 200 "
begin echo echo
was=$id
ok "the approval ended with its run" soon waits
look
is "one use" "$(answer yes '"uses":1')" "200 approved"
was=$id
ok "and the second asks again" soon waits
look
is "which is denied" "$(answer no)" "200 denied"
ok "that is its end" soon over
is "by the broker" "$(jq -r .stdout "$T/run")" "200 403 "

# a time, taken back
begin echo echo hold echo
was=$id
soon waits
look
template=$(jq -r .item.template "$T/shown")
[ "$template" != null ] || template=$(http GET /v1/approvals "$boss" | jq -r '.approvals[0].template')
is "for a time" "$(answer yes '"for_s":600')" "200 approved"
was=$id
ok "another path is another effect, which asks" soon waits
is "the approval is listed" "$(grants)" '[[null,true]]'
http DELETE "/v1/approvals/$template" "$runner" >/dev/null
is "it is taken back with the scope approve only" "$(answered) $(grants)" '403 [[null,true]]'
http DELETE "/v1/approvals/$template" "$boss" >"$T/body"
is "taken back" "$(answered) $(grants)" '200 []'
look
is "the other is denied" "$(answer no)" "200 denied"
was=$id
ok "and now the first asks again" soon waits
look
is "denied as well" "$(answer no)" "200 denied"
ok "to the end" soon over
is "what was let through" "$(jq -r .stdout "$T/run")" "200 200 403 403 "

# a high risk
change=$(run "$runner" '{"argv":["sh","-c","printf \"#!/bin/sh\\n\" >tool; chmod 755 tool"],"policy":"edit"}' | jq -r .changes)
mkdir "$T/aside"
(T=$T/aside; http POST "/v1/changes/$change/apply" "$runner" -H 'Content-Type: application/json' -d '{"flagged":true}' >"$T/applied") &
waits_apply() { id=$(http GET /v1/approvals "$boss" | jq -r '.approvals[0].id // ""') && [ -n "$id" ] && [ "$id" != "$was" ]; }
ok "an apply of flagged entries waits" soon waits_apply
is "as a high risk" "$(http GET /v1/approvals "$boss" | jq -r '.approvals[0].risk')" high
look
is "without the digits no yes is taken" "$(answer yes)" "422 challenge"
is "nor with others" "$(answer yes '"challenge":"zzzz"')" "422 challenge"
is "with the last 4 of the id it is" "$(answer yes "\"challenge\":\"$(printf %s "$id" | tail -c 4)\"")" "200 approved"
wait $!
ok "then it is applied" test -x "$C/cordon/serve/tenants/a/files/tool"
kill "$serve" && soon gone "$serve"
done_testing

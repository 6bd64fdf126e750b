#!/bin/sh
# `cordon serve --http` among hostile clients: malformed, slow and greedy ones, and thousands of calls with which one tenant tries to
# reach what belongs to another; bench/serve-fuzz makes a million.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "serve over HTTP" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a b c
all=run,read,files,apply,approve,vault,policy
a=$(token a $all) b=$(token b $all) c=$(token c $all)
for p in edit only-a; do
        $who sh -c 'printf "use base/system\nedit {work}\n" >"$1"' sh "$C/cordon/serve/tenants/a/policies/$p.cordon"
done
for t in a b; do
        $who sh -c 'echo "{\"rate\": 100000, \"runs\": 8, \"queue\": 64, \"sessions\": 4, \"weight\": 1}" >"$1"' sh "$C/cordon/serve/tenants/$t/tenant.json"
done
serve --runs 2
timeout "${SERVE_SECONDS:-300}" python3 "$here/helpers/serve_fuzz.py" "$S" "$a" "$b" "${SERVE_CALLS:-3000}" >"$T/fuzz" 2>&1 || echo "not ok the client broke off: $(tail -n 3 "$T/fuzz" | tr '\n' ' ')" >>"$T/fuzz"
retell hostile "$T/fuzz"

# budgets: one tenant is full, another is not; a rate is kept
$who sh -c 'echo "{\"runs\": 1, \"queue\": 2, \"rate\": 100000}" >"$1"' sh "$C/cordon/serve/tenants/b/tenant.json"
codes=$(for i in 1 2 3 4 5 6; do run "$b" '{"argv":["sleep","8560"],"wait":false}' >/dev/null; answered; echo; done | sort | uniq -c | xargs)
has "the queue of a tenant is bounded" "$codes" " 429"
run "$b" '{"argv":["true"],"wait":false}' -D "$T/head" >/dev/null
has "it is told when to come back" "$(cat "$T/head")" "Retry-After: "
is "another tenant is served meanwhile" "$(run "$c" '{"argv":["echo","served"]}' | jq -r .stdout)" served
$who sh -c 'echo "{\"runs\": 1, \"queue\": 2, \"rate\": 0}" >"$1"' sh "$C/cordon/serve/tenants/c/tenant.json"
http GET /v1/runs "$c" >/dev/null
is "a rate is kept, and a change of it counts at once" "$(answered)" 429

# a client that goes takes its run with it, unless the run has a key
$who sh -c 'echo "{\"runs\": 8, \"queue\": 9, \"rate\": 1000}" >"$1"' sh "$C/cordon/serve/tenants/a/tenant.json"
curl -sS --max-time 1 --unix-socket "$S" -H "Authorization: Bearer $a" -H 'Content-Type: application/json' -d '{"argv":["sleep","8561"]}' http://localhost/v1/runs >/dev/null 2>&1
cancelled() { [ "$(http GET /v1/runs "$a" | jq -r '[.runs[] | select(.argv[1] == "8561")][0].end')" = cancelled ]; }
ok "a client that goes takes its run with it" soon cancelled

# killed: nothing is left
before=$(orphans)
kill -9 "$serve"
ok "killed, it leaves no process" soon sh -c '! ps -eo args | grep -q "^sleep 856[01]$"'
ok "and no control group" none_left
serve --runs 2
is "and starts again" "$(run "$a" '{"argv":["echo","again"]}' | jq -r .stdout)" again
done_testing
